"""Options that several commands share: one ``Annotated`` type each, and groups of them that belong together.

A group is a dataclass whose fields are options. A command names the groups that it takes, :func:`taking`, or some
options of a group, :func:`only`, and reads their values from its context, :func:`given`; its signature holds what is
its own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, TypeVar

import typer
from typer.core import TyperCommand
from typer.main import get_params_convertors_ctx_param_name_from_function

from aui_tui.cli import complete
from aui_tui.cli.run import Run
from aui_tui.errors import BadValue, ConfigError
from aui_tui.model.methods import METHODS
from aui_tui.model.query import SORTS, Query
from aui_tui.model.vocabulary import CATEGORIES, STANCES, choose
from aui_tui.text import clean

if TYPE_CHECKING:
    from aui_tui.scan.policy import ScanPolicy


_common = partial(typer.Option, rich_help_panel="Everywhere")
DataDir = Annotated[str | None, _common("--data-dir", metavar="DIR", help="Folder of cards, cache and quota.")]
Config = Annotated[str | None, _common("--config", metavar="FILE", help="Settings file (TOML).")]
Source = Annotated[
    str | None, _common("--source", metavar="URL", help="Read a published index instead of this machine's.")
]
Quiet = Annotated[bool, _common("--quiet", "-q", help="No progress, errors only.")]
Debug = Annotated[bool, _common("--debug", help="Show the traceback of an unexpected error.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """Options of every command, before or after its name; the main help alone lists them."""

    data_dir: DataDir = None
    source: Source = None
    config_file: Config = None
    quiet: Quiet = False
    debug: Debug = False


COMMON: Final = tuple(field.name for field in fields(Common))

Host = Annotated[str, typer.Argument(metavar="HOST", help="A host that was scanned.", autocompletion=complete.hosts)]
Method = Annotated[
    str,
    typer.Option(
        "--method", metavar="v0.1|v0.2", help="Grade under this method.", autocompletion=complete.of(tuple(METHODS))
    ),
]


def words(allowed: Sequence[str], meaning: str) -> dict[str, Any]:
    """Return help and completion of an option that takes one of ``allowed``."""
    return {"help": f"{meaning}: {', '.join(allowed)}.", "autocompletion": complete.of(allowed)}


_filter = partial(typer.Option, rich_help_panel="Filters")
Category = Annotated[str, _filter("--category", metavar="NAME", **words(CATEGORIES, "Only hosts of this category"))]
Stance = Annotated[str, _filter("--stance", metavar="NAME", **words(STANCES, "Only hosts of this stance"))]
Line = Annotated[
    str, _filter("--query", metavar="TEXT", help="Words and terms: aui-tui help query.", autocompletion=complete.terms)
]
Sort = Annotated[
    str,
    _filter(
        "--sort",
        metavar="COLUMN",
        help=f"Order by this column: {', '.join(SORTS)}, or matrix.AGENT such as matrix.claude.",
        autocompletion=complete.sorts,
    ),
]
Reverse = Annotated[bool, _filter("--reverse", help="Reverse the order.")]
Limit = Annotated[int, _filter("--limit", metavar="N", min=0, help="At most N rows of each list; 0: all.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which hosts a command on the list is about, and their order."""

    category: Category = ""
    stance: Stance = ""
    line: Line = ""
    sort: Sort = "rank"
    reverse: Reverse = False
    limit: Limit = 0

    def query(self) -> Query:
        """Return the query that the options ask for. Raises BadValue."""
        return Query.of(
            category=self.category, stance=self.stance, line=self.line, sort=self.sort, descending=self.reverse
        )


Group = TypeVar("Group")


FIRST: Final = ("Arguments", "Options")
"""Sections of a help that stand before the others."""
NAMES_WIDTH: Final = 27
"""Cells of the first column of a help; a longer name has its text on the next line."""


class HelpSections:
    """The help of a command: one section for arguments, one for its own options, one for each group of options."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the sections to ``formatter``."""
        sections: dict[str, list[tuple[str, str]]] = {name: [] for name in FIRST}
        for option in ctx.command.get_params(ctx):
            record = option.get_help_record(ctx)
            if record is None:
                continue
            own = "Arguments" if option.param_type_name == "argument" else "Options"
            name, text = record
            limits = getattr(option.type, "_describe_range", str)()
            text = text.replace(limits, span(option)) if limits else text
            sections.setdefault(getattr(option, "rich_help_panel", None) or own, []).append((name, text))
        for title, rows in sections.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows, col_max=NAMES_WIDTH)
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands of a group, each with its first sentence; other commands have none."""
        rows = [(name, one.get_short_help_str(200)) for name, one in getattr(ctx.command, "commands", {}).items()]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


def span(option: Any) -> str:
    """Return the limits of a number: ``0 to 100``, ``0 or more``, empty for none."""
    low, high = getattr(option.type, "min", None), getattr(option.type, "max", None)
    if high is None:
        return "" if low is None else f"{low:g} or more"
    return f"{low:g} to {high}"


def value_words(option: Any) -> str:
    """Return what an option takes in words: ``a whole number from 0 to 100``, or how its help names it."""
    kind = option.type.name
    if not kind.startswith(("int", "float")):
        return str(option.metavar or option.name.upper())
    limits = span(option)
    what = "a whole number" if kind.startswith("int") else "a number"
    return f"{what}{', ' if limits.endswith('more') else ' from ' if limits else ''}{limits}"


class Part(NamedTuple):
    """Some options of a group, by the names of its fields."""

    group: type
    names: frozenset[str]


def only(group: type, *names: str) -> Part:
    """Return the options ``names`` of ``group``; the others keep their defaults."""
    return Part(group, frozenset(names))


def taking(*groups: type | Part) -> type[TyperCommand]:
    """Return the class of a command that takes the options of ``groups`` and of :class:`Common` beside its own."""
    shared = [option for group in (*groups, Common) for option in _options(group)]
    names = {option.name for option in shared}

    class Command(HelpSections, TyperCommand):
        def __init__(self, *args: Any, params: list[Any], **kwargs: Any) -> None:
            arguments = [one for one in params if one.param_type_name == "argument"]
            own = [one for one in params if one.param_type_name != "argument"]
            super().__init__(*args, params=[*arguments, *shared, *own], **kwargs)

        def collect_usage_pieces(self, ctx: Any) -> list[str]:
            """Return the words of the usage line, arguments as the help names them."""
            return [piece.removeprefix("{").removesuffix("}") for piece in super().collect_usage_pieces(ctx)]

        def invoke(self, ctx: Any) -> Any:
            """Run the command with its own options; those of groups stay in the context."""
            return ctx.invoke(self.callback, **{name: ctx.params[name] for name in ctx.params.keys() - names})

    return Command


def _options(group: type | Part) -> list[Any]:
    """Return the options that the fields of a group declare."""
    if isinstance(group, Part):
        return [option for option in _options(group.group) if option.name in group.names]
    return get_params_convertors_ctx_param_name_from_function(group)[0]


def given(context: typer.Context, group: type[Group]) -> Group:
    """Return the values that the command line gave to the options of ``group``; one that it does not take is unset."""
    known = (option.name for option in _options(group))
    return group(**{name: context.params[name] for name in known if name in context.params})


def example(line: str) -> str:
    """Return what closes the help of a command."""
    return f"Example: {line}"


def run_of(context: typer.Context, **settings: object) -> Run:
    """Return what a command works with, from the common options before and after its name and other ``settings``.

    Raises BadValue for any option with an empty value, and ConfigError.
    """
    flags: dict[str, object] = {}
    for one in (context.parent, context):
        if one is not None:
            refuse_empty(one)
            flags |= {name: one.params[name] for name in COMMON if one.params.get(name) not in (None, False)}
    return Run.of(flags | settings)


def refuse_empty(context: Any) -> None:
    """Raise BadValue for an option or argument with an empty value: a variable that is not set, most of the time."""
    for option in context.command.params:
        source = context.get_parameter_source(option.name or "")
        if source is None or source.name != "COMMANDLINE":
            continue
        value = context.params.get(option.name or "")
        values: Sequence[object] = value if isinstance(value, list | tuple) else (value,)
        if any(isinstance(one, str) and not one.strip() for one in values):
            if option.param_type_name == "argument":
                raise BadValue(f"An argument is empty: {context.command.name} takes {option.metavar}.")
            name = option.opts[0]
            raise BadValue(f"{name} is empty: it takes {option.metavar or 'a value'}. Give one, or leave {name} out.")


def one_of(**wanted: object) -> str:
    """Return the name of the one option that is given, such as ``--json``; empty for none. Raises BadValue for two."""
    named = [f"--{name.rstrip('_').replace('_', '-')}" for name, value in wanted.items() if value]
    if len(named) > 1:
        raise BadValue(f"Choose one of {' and '.join(named)}.")
    return named[0] if named else ""


UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


def seconds_of(name: str, text: str, allowed: str = "smhdw") -> float:
    """Return the duration ``text`` of the option ``name`` in seconds, such as ``7d``, ``12h`` or ``90s``.

    ``allowed``: the units. Raises BadValue.
    """
    found = re.fullmatch(r"\s*(\d{1,6})\s*([a-z])\s*", text.lower(), re.ASCII)
    if found is None or found[2] not in allowed:
        examples = [word for word in ("7d", "12h", "30m", "90s") if word[-1] in allowed]
        raise BadValue(f"{name} takes a number with a unit, such as {', '.join(examples)}, not {clean(text, 40)!r}.")
    return float(int(found[1]) * UNITS[found[2]])


def category_of(word: str) -> str:
    """Return the checked value of ``--category``; empty when none was named. Raises BadValue."""
    return choose("category", word, CATEGORIES) if word else ""


def method_of(word: str) -> str:
    """Return the checked value of ``--method``; empty when none was named. Raises BadValue."""
    return choose("method", word, tuple(METHODS)) if word else ""


REACH: Final = "How to reach the site"
_option = partial(typer.Option, rich_help_panel=REACH)

AllowPrivate = Annotated[bool, _option("--allow-private", help="Allow localhost, private addresses and any port.")]
ConnectTo = Annotated[
    list[str] | None,
    _option(
        "--connect-to",
        metavar="RULE",
        help="Connect elsewhere, as curl does: HOST:PORT:ADDR:PORT; an empty HOST or PORT matches any.",
    ),
]
Header = Annotated[
    list[str] | None, _option("--header", metavar="NAME: VALUE", help="Send this header field, to the site only.")
]
BasicAuth = Annotated[
    str | None, _option("--basic-auth-env", metavar="VARIABLE", help="Variable that holds user:password of the site.")
]
CaFile = Annotated[str | None, _option("--cacert", metavar="FILE", help="Trust the certificates in FILE too.")]
NoLimit = Annotated[
    bool,
    _option(
        "--no-limit",
        help="Scan hosts of your own without the limit of ten an hour; needs --allow-private or --connect-to.",
    ),
]
Insecure = Annotated[bool, _option("--insecure", help="Do not check certificates; the card says so.")]

LONGEST_PACE: Final = 60
Pace = Annotated[
    float,
    _option(
        "--pace",
        metavar="SECONDS",
        min=0,
        max=LONGEST_PACE,
        help="Send one request at a time, SECONDS apart, for hosts with strict limits; 0: no wait.",
        show_default=False,
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionOptions:
    """How a scan may reach its site, as the local user asks."""

    allow_private: AllowPrivate = False
    connect_to: ConnectTo = None
    header: Header = None
    basic_auth_env: BasicAuth = None
    cacert: CaFile = None
    insecure: Insecure = False
    no_limit: NoLimit = False

    def policy(self, pace: float = 0.0) -> ScanPolicy | None:
        """Return what the options allow, None when none was given. Raises BadValue or ConfigError."""
        if self.no_limit and not (self.allow_private or self.connect_to):
            raise BadValue("--no-limit is for hosts of your own; add --allow-private or --connect-to.")
        if pace != pace:  # NaN
            raise BadValue(f"--pace takes a number from 0 to {LONGEST_PACE}.")
        if not (pace or any(getattr(self, field.name) for field in fields(self))):
            return None
        from aui_tui.scan import policy

        return policy.ScanPolicy(
            allow_private=self.allow_private,
            keyboard=True,
            connect_to=tuple(policy.ConnectTo.parse(rule) for rule in self.connect_to or ()),
            headers=tuple(_field(text) for text in self.header or ()),
            basic_auth=_credentials(self.basic_auth_env) if self.basic_auth_env else None,
            cafile=_readable(self.cacert) if self.cacert else "",
            insecure=self.insecure,
            no_limit=self.no_limit,
            limits=policy.Limits(pace=pace),
        )


def _field(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon:
        raise BadValue("--header takes NAME: VALUE, with a colon.")
    return name.strip(), value.strip()


def _credentials(variable: str) -> tuple[str, str]:
    user, colon, password = os.environ.get(variable, "").partition(":")
    if not colon:
        raise ConfigError(f"--basic-auth-env: the variable {clean(variable, 60)} does not hold user:password.")
    return user, password


def _readable(path: str) -> str:
    import ssl

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=path)
    except ssl.SSLError:
        raise ConfigError(f"--cacert: {clean(path, 200)} has no certificates in PEM form.") from None
    except OSError as error:
        raise ConfigError(f"--cacert: cannot read {clean(path, 200)}: {error.strerror or error}.") from None
    return path

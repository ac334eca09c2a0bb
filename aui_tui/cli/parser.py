"""Parts of every command line: options that all commands take, the form of a help, one sentence on a mistake."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Container, Iterator, Sequence
from functools import cache, partial
from itertools import pairwise
from typing import Any, Final, TypeVar

import typer
from typer.core import TyperCommand, TyperOption

from aui_tui.cli.complete import COMPLETING
from aui_tui.cli.run import Run
from aui_tui.errors import BadValue, ConfigError
from aui_tui.model.vocabulary import nearest
from aui_tui.settings import DEFAULTS, IN_FILE, OPTIONS, SITE_KEYS
from aui_tui.text import clean

F = TypeVar("F", bound=Callable[..., Any])

EVERYWHERE: Final = "Everywhere"
SETTINGS_KEY: Final = "aui_tui.options"
"""Place in the context for the values of options that every command takes."""
NAMES_WIDTH: Final = 27
"""Cells of the first column of a help; a longer name has its text on the next line."""


class Usage(ConfigError):
    """The command line cannot be read: an unknown command or option, or one that is missing."""

    title = "Usage error"


def _keep(context: Any, option: Any, value: Any) -> None:
    if value is not None:
        context.meta.setdefault(SETTINGS_KEY, {})[option.name] = value


def _keep_settings(context: Any, _: Any, values: Sequence[str] | None) -> None:
    for text in values or ():
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or name not in DEFAULTS or name in IN_FILE:
            hint = (
                nearest(name, [setting for setting in DEFAULTS if setting not in IN_FILE])
                or "aui-tui config lists them."
            )
            raise BadValue(f"--set takes NAME=VALUE with the name of a setting, not {clean(text, 60)!r}; {hint}")
        context.meta.setdefault(SETTINGS_KEY, {})[name] = value


def run_for(context: typer.Context) -> Run:
    """Return what a command works with, from the options of every command, before and after its name.

    Raises ConfigError.
    """
    return Run.of(context.meta.get(SETTINGS_KEY, {}))


_option = partial(TyperOption, default=None, expose_value=False, callback=_keep, rich_help_panel=EVERYWHERE)


def _common(*, hidden: bool) -> Iterator[TyperOption]:
    """Yield the options of every command that the main help lists."""
    option = partial(_option, hidden=hidden)
    yield option(param_decls=["data_dir", "--data-dir"], metavar="DIR", help="Folder of cards, cache and quota.")
    about = "Read a published index instead of this machine's."
    yield option(param_decls=["source", "--source"], metavar="URL", help=about)
    yield option(param_decls=["config_file", "--config"], metavar="FILE", help="Settings file (TOML).")
    yield option(param_decls=["quiet", "--quiet", "-q"], is_flag=True, help="No progress, errors only.")


@cache
def _settings(taken: tuple[str, ...]) -> tuple[TyperOption, ...]:
    """Return ``--set``, and a hidden option for each of OPTIONS that no option in ``taken`` is called."""
    options = [
        _option(param_decls=["set", "--set"], multiple=True, hidden=True, metavar="NAME=VALUE", callback=_keep_settings)
    ]
    for name in OPTIONS:
        option = "--" + name.replace("_", "-")
        if option not in taken:
            switch = isinstance(DEFAULTS[name], bool)
            names = f"{option}/--no{option[1:]}" if switch else option
            options.append(_option(param_decls=[name, names], is_flag=switch, hidden=True, help="A setting."))
    return tuple(options)


class Parser:
    """What a command and the whole program read and explain in the same way."""

    params: list[Any]
    whole = False
    """Whether this is the whole program, whose help lists the options of every command."""

    def own(self, args: Sequence[str]) -> Sequence[str]:
        """Return the words of a line that are read here, not by a command."""
        return args

    def get_params(self, ctx: Any) -> list[Any]:
        """Return own options and arguments, then those of every command; the hidden ones are no part of a help."""
        own: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        own += _common(hidden=not self.whole and COMPLETING not in os.environ)
        return [*own, *_settings(tuple(name for option in own for name in option.opts))]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read a line. Raises Usage, and BadValue for an empty value."""
        valued = {name for param in self.get_params(ctx) if not getattr(param, "is_flag", False) for name in param.opts}
        refuse_empty(self.own(args), valued)
        try:
            rest: list[str] = super().parse_args(ctx, args)  # type: ignore[misc]
        except typer.TyperException as error:
            raise _usage(error, self, ctx) from None
        return rest

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options to a help, a section for each group of them."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for option in self.get_params(ctx):
            own = "Arguments" if option.param_type_name == "argument" else "Options"
            if record := option.get_help_record(ctx):
                sections.setdefault(getattr(option, "rich_help_panel", None) or own, []).append(record)
        for title, rows in sections.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows, col_max=NAMES_WIDTH)


class Command(Parser, TyperCommand):
    """A command."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the usage line, arguments as the help names them."""
        return [word.removeprefix("{").removesuffix("}") for word in super().collect_usage_pieces(ctx)]


class App(typer.Typer):
    """The commands of a module."""

    def __init__(self) -> None:
        super().__init__(rich_markup_mode=None)

    def command(self, name: str | None = None, *, epilog: str | None = None) -> Callable[[F], F]:  # type: ignore[override]
        """Return what makes a function the command ``name``; ``epilog`` is an example."""
        return super().command(name, cls=Command, epilog=epilog)


def refuse_empty(words: Sequence[str], valued: Container[str]) -> None:
    """Raise BadValue for an empty argument, or an empty value of an option: a variable that is not set, most times.

    ``valued``: the options that take a value.
    """
    for before, word in pairwise(["", *words]):
        name, equals, value = word.partition("=")
        if not (word.startswith("--") and equals):
            name, value = before if before in valued else "", word
        if not value.strip():
            raise BadValue(f"{clean(name, 60) or 'An argument'} is empty. Give it a value, or leave it out.")


def _usage(error: Any, command: Any, context: Any) -> Usage:
    """Return what the parser found wrong, what the option or argument is for, and where to read on."""
    message = " ".join(clean(error.format_message(), 400).split()).rstrip(".")
    message = re.sub("a valid int(eger)?( range)?", "a whole number", message)
    name = getattr(error, "option_name", "")
    parameter = getattr(error, "param", None)
    parameter = parameter or next(
        (param for param in command.get_params(context) if name in (*param.opts, *param.secondary_opts)), None
    )
    about = ""
    if parameter is not None:
        record = parameter.get_help_record(context) or (parameter.opts[0], parameter.help)
        about = " " + " ".join(": ".join(record).split())
    elif name.removeprefix("--").replace("-", "_") in (*SITE_KEYS, "header"):
        about = ' It is a setting of [sites."HOST"] in the settings file.'
    elif message.startswith("Got unexpected extra") and any("--query" in param.opts for param in command.params):
        about = " Words and terms go into --query, in quotes."
    return Usage(f"{message}.{about} See {context.command_path} --help.")

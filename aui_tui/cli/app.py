"""The typer application: every command, the dashboard when none is named, and how errors are reported."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from copy import copy
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from types import MappingProxyType
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from aui_tui.cli import complete, streams
from aui_tui.cli.options import COMMON, AllowPrivate, Config, ConnectTo, DataDir, Quiet, Source, keep, run_of
from aui_tui.cli.run import INTERRUPTED, print_version, reporting_errors
from aui_tui.errors import ConfigError
from aui_tui.text import clean

UPKEEP: Final = "Upkeep"
COMMANDS: Final = MappingProxyType(
    {
        "scan": ("scan", "Scan a site and print its report card."),
        "site": ("cards", "Print the stored report card of a host."),
        "index": ("index", "List every scanned host, or figures over them."),
        "diff": ("cards", "Show what changed between two report cards."),
        "plan": ("cards", "Show the fixes that reach a grade, or write their files."),
        "watch": ("watch", "Scan a site again and again, and show what changed."),
        "tasks": ("tasks", "Show each step of the tasks that were tried on a site."),
        "visits": ("visits", "Count the visits of AI agents in access logs."),
        "export": ("index", "Write the list or its cards: JSON, CSV, HTML, Parquet."),
        "badge": ("cards", "Write the grade of a host as an SVG badge."),
        "crawl": ("crawl", "Scan a list of hosts into the index."),
        "serve": ("serve", "Publish the index: an HTTP API, pages, tools for agents."),
        "mcp": ("serve", "Serve the index to a coding agent as MCP tools."),
        "web": ("serve", "Open the dashboard in a browser."),
        "key": ("upkeep", "Make or show the key that signs probes of your sites."),
        "regrade": ("cards", "Grade cards again under another method."),
        "demo": ("demo", "Scan a small web on this machine in the dashboard."),
        "help": ("about", "Read the documentation."),
        "import": ("upkeep", "Import records from files into the index."),
        "backup": ("upkeep", "Copy the index to a file."),
        "doctor": ("upkeep", "Check every kept card of the index."),
        "forget": ("upkeep", "Remove hosts from the index."),
        "cache": ("upkeep", "Show or clear the answers of the last 24 hours."),
        "schema": ("about", "Print the JSON Schema of a record."),
        "config": ("about", "Print every setting and where it came from."),
        "paths": ("about", "Print where the program keeps things."),
        "validate": ("upkeep", "Check records against the schema."),
    }
)
"""Every command in the order of the help: the module that holds it, and one line; those after ``help`` are for upkeep.

A command's module is loaded when that command is used: the list of commands needs none.
"""
VALUED: Final = frozenset({"--data-dir", "--source", "--config", "--open", "--connect-to"})
"""Options before a command that take the word after them."""


class Usage(ConfigError):
    """The command line cannot be read: an unknown command or option, or one that is missing."""

    title = "Usage error"


def _usage_pieces(command: Any, context: Any) -> list[str]:
    """Return the words of the usage line, arguments as the help names them."""
    arguments = (one.make_metavar(context) for one in command.params if one.param_type_name == "argument")
    return ["[OPTIONS]", *(word.removeprefix("{").removesuffix("}") for word in arguments)]


NAMES_WIDTH: Final = 27
"""Cells of the first column of a help; a longer name has its text on the next line."""


def write_options(command: Any, context: Any, formatter: Any) -> None:
    """Write the options of ``command`` to the help, a section for each group of them."""
    sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
    for option in command.get_params(context):
        record = option.get_help_record(context)
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


class Commands(TyperGroup):
    """The commands of the program."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options, then the commands."""
        write_options(self, ctx, formatter)
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write each command with its line, those for upkeep last."""
        names = list(COMMANDS)
        first = names.index("help") + 1
        for title, group in (("Commands", names[:first]), (UPKEEP, names[first:])):
            with formatter.section(title):
                formatter.write_dl([(name, COMMANDS[name][1]) for name in group])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that ``args`` begin with. Raises Usage for an unknown one."""
        if not ctx.resilient_parsing and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = " or ".join(get_close_matches(args[0], COMMANDS, cutoff=0.7))
            hint = f"; did you mean {near}?" if near else "."
            raise Usage(f"There is no command {clean(args[0], 60)!r}{hint} {streams.NAME} --help lists the commands.")
        return super().resolve_command(ctx, args)


def application(names: Sequence[str], words: Sequence[str] = ()) -> Any:
    """Return the Click group with the commands ``names``; only what they and ``words``, the line, need is loaded."""
    app = typer.Typer(
        name=streams.NAME,
        help="Can ChatGPT, Claude, Google's agent and Perplexity use a site?",
        epilog="Without a command: the dashboard. Exit codes: 0 done, 1 a gate failed, 2 usage, configuration or "
        "invalid host, 3 unreachable, never scanned or inconclusive, 4 rate limited, 130 interrupted. All else is "
        "a setting: aui-tui config lists them, and --NAME VALUE sets one for a single run.",
        cls=Commands,
        context_settings={"help_option_names": ["--help", "-h"]},
        rich_markup_mode=None,
    )
    app.callback(invoke_without_command=True)(_root)
    for module in dict.fromkeys(COMMANDS[name][0] for name in names):
        app.add_typer(import_module(f"aui_tui.cli.{module}").app)
    root: Any = typer.main.get_command(app)
    root.commands = {name: root.commands[name] for name in COMMANDS if name in root.commands}
    root.params = [one for one in root.params if one.name not in ("install_completion", "show_completion")]
    common = [copy(option) for option in root.params if option.name in COMMON]
    for option in common:
        option.hidden = complete.COMPLETING not in os.environ
        option.expose_value = False
        option.callback = keep
    for command in root.commands.values():
        command.params = [*command.params, *common]
    for command in (root, *root.commands.values()):
        command.params = [*command.params, *_settings_as_options(command, root, words)]
    for command in root.commands.values():
        command.format_options = partial(write_options, command)
        command.collect_usage_pieces = partial(_usage_pieces, command)
    return root


def _settings_as_options(command: Any, root: Any, words: Sequence[str]) -> list[Any]:
    """Return hidden options of ``command``: one for each setting in ``words`` that it has no option for.

    What stands in the settings file alone has none, and neither has a switch that is on by default.
    """
    from aui_tui.settings import FIELDS

    patterns = {option.name: option for option in root.params}
    taken = {name for option in command.params for name in option.opts}
    asked = {word.partition("=")[0] for word in words} - taken
    found = []
    for one in FIELDS:
        name, default = "--" + one.name.replace("_", "-"), one.default_factory()  # type: ignore[operator]
        if name not in asked or one.metadata["in_file"] or default is True:
            continue
        option = copy(patterns["quiet" if default is False else "source"])
        option.name, option.opts, option.help, option.metavar = one.name, [name], one.metadata["meaning"] + ".", None
        option.hidden, option.expose_value, option.callback = True, False, keep
        found.append(option)
    return found


def _needed(arguments: Sequence[str]) -> Sequence[str]:
    """Return the command that a command line names, all for a shell that completes; none for the dashboard."""
    if complete.COMPLETING in os.environ:
        return tuple(COMMANDS)
    words = iter(arguments)
    for word in words:
        if word in VALUED:
            next(words, None)
        elif word in COMMANDS:
            return (word,)
    return ()


def _version(asked: bool) -> None:
    if asked:
        print_version()
        raise typer.Exit


def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    host: Annotated[
        str, typer.Option("--open", metavar="HOST", help="Open the dashboard on this host's report card.")
    ] = "",
    allow_private: AllowPrivate = False,
    connect_to: ConnectTo = None,
    data_dir: DataDir = None,
    source: Source = None,
    config_file: Config = None,
    quiet: Quiet = False,
) -> int:
    """Can ChatGPT, Claude, Google's agent and Perplexity use a site?"""
    if context.invoked_subcommand is not None:
        if host or allow_private or connect_to:
            raise ConfigError(
                f"Options of the dashboard or of a scan have no effect before {context.invoked_subcommand}; "
                f"put them after it. See {streams.NAME} {context.invoked_subcommand} --help."
            )
        return 0
    from aui_tui.cli import home
    from aui_tui.cli.reach import policy_of

    run = run_of(context)
    return home.show(run, access=policy_of(run, allow_private=allow_private, connect_to=connect_to), host=host)


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; whatever goes wrong is reported in one sentence."""
    return reporting_errors(lambda: _run(list(arguments)), arguments)


def _run(arguments: list[str]) -> int:
    program = application(_needed(arguments), arguments)
    try:
        code = program(arguments, prog_name=streams.NAME, standalone_mode=False)
        streams.flush()
    except typer.Abort:
        return INTERRUPTED
    except SystemExit as error:
        if error.code == 1:
            raise streams.ClosedPipe from None
        return error.code if isinstance(error.code, int) else 0
    except Exception as error:  # Click's own have no class in common that can be imported without it
        if not hasattr(error, "format_message"):
            raise
        raise _usage(error, program, arguments) from None
    return code if isinstance(code, int) else 0


def _usage(error: Any, program: Any, arguments: Sequence[str]) -> Usage:
    """Return what the parser found wrong: what was given, what is allowed, and where to read on."""
    context = getattr(error, "ctx", None)
    needed = _needed(arguments)
    command = context.command if context is not None else program.commands[needed[0]] if len(needed) == 1 else program
    path = streams.NAME if command is program else f"{streams.NAME} {command.name}"
    sentence = _misuse(error, command, path)
    return Usage(f"{sentence} See {path} --help.")


def _misuse(error: Any, command: Any, path: str) -> str:
    """Return one sentence on a mistake that the parser found in the line of ``command``."""
    said = " ".join(error.format_message().split())
    option = str(getattr(error, "option_name", ""))
    match type(error).__name__:
        case "NoSuchOption":
            rare = {name for one in command.params if one.name not in COMMON and one.hidden for name in one.opts}
            near = " or ".join(name for name in error.possibilities or () if name not in rare)
            hint = _setting(option) or (f"; did you mean {near}?" if near else ".")
            return f"{path} has no option {clean(option, 60)}{hint}"
        case "BadOptionUsage":
            return _without_value(option, command)
        case "MissingParameter":
            wanted = error.param
            name = "" if wanted.param_type_name == "argument" else f"{wanted.opts[0]} "
            return f"{path} needs {name}{value_words(wanted)}: {_meaning(wanted)}"
        case "BadParameter":
            value = error.message.partition(" is not ")[0].strip("'")
            return f"{error.param.opts[0]} takes {value_words(error.param)}, not {clean(value, 40)!r}."
    if said.startswith("Got unexpected extra argument"):
        extra = clean(said.partition("(s) (")[2].removesuffix(")"), 60)
        taken = [value_words(one) for one in command.params if one.param_type_name == "argument"]
        allowed = f"{' '.join(taken)} and nothing more" if taken else "no argument"
        return f"{path} takes {allowed}; leave out {extra!r}."
    return said if said.endswith((".", "?")) else said + "."


def _setting(option: str) -> str:
    """Return the end of the sentence on an unknown option that is a setting; empty for another."""
    from aui_tui.settings import FIELDS, PREFIX, SITE_KEYS

    name = option.removeprefix("--").removeprefix("no-").replace("-", "_")
    known = {"header": "headers", "trust_proxy": "trusted_proxy"}.get(name, name)
    if any(field.name == known for field in FIELDS):
        return f"; it is the setting {known}: {PREFIX}{known.upper()}, or a line in the settings file."
    return f'; it is the setting {known} of [sites."HOST"] in the settings file.' if known in SITE_KEYS else ""


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


def _without_value(option: str, command: Any) -> str:
    """Return the sentence on an option that lacks its value, or on a switch that was given one."""
    known = next((one for one in command.params if option in (*one.opts, *one.secondary_opts)), None)
    if known is None or known.is_flag:
        return f"{option} takes no value; leave out what follows the =."
    return f"{option} needs a value, {value_words(known)}: {_meaning(known)}"


def _meaning(option: Any) -> str:
    """Return the help of an option or argument as the end of a sentence."""
    words = str(option.help)
    return words if words[1:2].isupper() else words[:1].lower() + words[1:]


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))

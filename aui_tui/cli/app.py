"""The typer application: every command, the dashboard when none is named, and how errors are reported."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from types import MappingProxyType
from typing import Annotated, Any, Final, Protocol

import typer
from typer.core import TyperGroup

from aui_tui.cli import complete, streams
from aui_tui.cli.options import (
    COMMON,
    AllowPrivate,
    Config,
    ConnectionOptions,
    ConnectTo,
    DataDir,
    Debug,
    HelpSections,
    NoLimit,
    Quiet,
    Source,
    run_of,
    value_words,
)
from aui_tui.cli.run import INTERRUPTED, reporting_errors
from aui_tui.errors import ConfigError
from aui_tui.text import clean

BOARD = "Dashboard"
COMMANDS: Final = MappingProxyType(
    {
        "scan": "scan",
        "site": "cards",
        "index": "index",
        "diff": "cards",
        "plan": "cards",
        "watch": "watch",
        "tasks": "tasks",
        "visits": "visits",
        "export": "index",
        "badge": "cards",
        "crawl": "crawl",
        "serve": "serve",
        "mcp": "serve",
        "web": "serve",
        "key": "upkeep",
        "demo": "demo",
        "regrade": "cards",
        "validate": "upkeep",
        "import": "upkeep",
        "backup": "upkeep",
        "doctor": "upkeep",
        "forget": "upkeep",
        "cache": "upkeep",
        "method": "about",
        "help": "about",
        "schema": "about",
        "config": "about",
        "paths": "about",
    }
)
"""Every command in the order of the help, and the module that holds it."""
THEMES: Final = ("colour-blind", "dusk", "dusk-256", "high-contrast", "paper", "terminal")
"""The packaged themes; their files are not read for a help."""
VALUED: Final = frozenset({"--data-dir", "--source", "--config", "--theme", "--open", "--connect-to"})
"""Options before a command that take the word after them."""


class Usage(ConfigError):
    """The command line cannot be read: an unknown command or option, or one that is missing."""

    title = "Usage error"


class Command(Protocol):
    """What runs one command line."""

    def __call__(self, args: Sequence[str], *, prog_name: str, standalone_mode: bool) -> Any:
        """Run it and return what the command returned."""


class Commands(HelpSections, TyperGroup):
    """The commands of the program."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that ``args`` begin with. Raises Usage for an unknown one."""
        if not ctx.resilient_parsing and args[0] not in self.commands and not args[0].startswith("-"):
            near = " or ".join(get_close_matches(args[0], COMMANDS, cutoff=0.7))
            hint = f"; did you mean {near}?" if near else "."
            raise Usage(f"There is no command {clean(args[0], 60)!r}{hint} {streams.NAME} --help lists the commands.")
        return super().resolve_command(ctx, args)


def application(arguments: Sequence[str]) -> Command:
    """Return the application for one command line; only what it needs is loaded."""
    app = typer.Typer(
        name=streams.NAME,
        help="How usable is a website by AI agents that act live for a person?",
        epilog="Without a command: the dashboard. Exit codes: 0 done, 1 a gate failed, 2 usage, configuration or "
        "invalid host, 3 unreachable, never scanned or inconclusive, 4 rate limited, 130 interrupted.",
        cls=Commands,
        context_settings={"help_option_names": ["--help", "-h"]},
        rich_markup_mode=None,
    )
    app.callback(invoke_without_command=True)(_root)
    complete.rejoin()
    needed = tuple(COMMANDS) if complete.COMPLETING in os.environ else _needed(arguments)
    for module in dict.fromkeys(COMMANDS[name] for name in needed):
        app.add_typer(import_module(f"aui_tui.cli.{module}").app)
    root: Any = typer.main.get_command(app)
    root.commands = {name: root.commands[name] for name in COMMANDS if name in root.commands}
    for command in root.commands.values():
        for option in command.params:
            if option.name in COMMON:
                option.hidden = complete.COMPLETING not in os.environ
    return root  # type: ignore[no-any-return]  # Typer says Any


def _needed(arguments: Sequence[str]) -> Sequence[str]:
    """Return the commands that a command line needs: the one it names, none for the dashboard, else all."""
    words = iter(arguments)
    for word in words:
        if word in VALUED:
            next(words, None)
        elif word in COMMANDS:
            return (word,)
        elif not word.startswith("-") or word in ("--help", "-h", "--"):
            return tuple(COMMANDS)
    return ()


def _version(asked: bool) -> None:
    if asked:
        from aui_tui import __version__

        streams.write_line(f"{streams.NAME} {__version__}")
        raise typer.Exit


def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    theme: Annotated[
        str | None,
        typer.Option(
            "--theme",
            metavar="NAME",
            help=f"Theme: {', '.join(THEMES)}, or one of your own.",
            rich_help_panel=BOARD,
            autocompletion=complete.themes,
        ),
    ] = None,
    ascii_only: Annotated[
        bool, typer.Option("--ascii", help="Draw with ASCII characters only.", rich_help_panel=BOARD)
    ] = False,
    no_mouse: Annotated[
        bool, typer.Option("--no-mouse", help="Leave the mouse to the terminal.", rich_help_panel=BOARD)
    ] = False,
    host: Annotated[
        str, typer.Option("--open", metavar="HOST", help="Open this host's report card first.", rich_help_panel=BOARD)
    ] = "",
    allow_private: AllowPrivate = False,
    connect_to: ConnectTo = None,
    no_limit: NoLimit = False,
    data_dir: DataDir = None,
    source: Source = None,
    config_file: Config = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> int:
    """How usable is a website by AI agents that act live for a person?"""
    if context.invoked_subcommand is not None:
        if theme or ascii_only or no_mouse or host or allow_private or connect_to or no_limit:
            raise ConfigError(
                f"Options of the dashboard or of a scan have no effect before {context.invoked_subcommand}; "
                f"put them after it. See {streams.NAME} {context.invoked_subcommand} --help."
            )
        return 0
    from aui_tui.cli import home

    run = run_of(context, theme=theme, ascii=ascii_only or None, mouse=False if no_mouse else None)
    access = ConnectionOptions(allow_private=allow_private, connect_to=connect_to, no_limit=no_limit).policy()
    return home.show(run, access=access, host=host)


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; whatever goes wrong is reported in one sentence."""
    return reporting_errors(lambda: _run(list(arguments)), arguments)


def _run(arguments: list[str]) -> int:
    program = application(arguments)
    gc.freeze()
    gc.enable()
    try:
        with complete.silent_script():
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
            near = " or ".join(error.possibilities or ())
            return f"{path} has no option {clean(option, 60)}{f'; did you mean {near}?' if near else '.'}"
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

"""The typer application: every command, the dashboard when none is named, and the last word on errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Annotated, Any, Final, Protocol

import typer

from aui_tui.cli import complete, streams
from aui_tui.cli.options import (
    COMMON,
    AllowPrivate,
    Config,
    ConnectionOptions,
    ConnectTo,
    DataDir,
    Debug,
    NoLimit,
    Quiet,
    Source,
    run_of,
)
from aui_tui.cli.run import INTERRUPTED, reporting_errors
from aui_tui.errors import ConfigError

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
VALUED: Final = frozenset({"--data-dir", "--source", "--config", "--theme", "--open", "--connect-to"})
"""Options before a command that take the word after them."""


class Usage(ConfigError):
    """The command line cannot be read: an unknown command or option, or one that is missing."""

    title = "Usage error"


class Command(Protocol):
    """What runs one command line."""

    def __call__(self, args: Sequence[str], *, prog_name: str, standalone_mode: bool) -> Any:
        """Run it and return what the command returned."""


def application(arguments: Sequence[str]) -> Command:
    """Return the application for one command line; only what it needs is loaded."""
    app = typer.Typer(
        name=streams.NAME,
        help="How usable is a website by AI agents that act live for a person?",
        epilog="Without a command: the dashboard. Exit codes: 0 done, 1 a gate failed, 2 usage, configuration or "
        "invalid host, 3 unreachable, never scanned or inconclusive, 4 rate limited, 130 interrupted.",
        context_settings={"help_option_names": ["--help", "-h"]},
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
    return root  # type: ignore[no-any-return]


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
        typer.Option("--theme", metavar="NAME", help="Theme.", rich_help_panel=BOARD, autocompletion=complete.themes),
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
    from aui_tui.cli import dashboard

    run = run_of(context, theme=theme, ascii=ascii_only or None, mouse=False if no_mouse else None)
    access = ConnectionOptions(allow_private=allow_private, connect_to=connect_to, no_limit=no_limit).policy()
    return dashboard.show(run, access=access, host=host)


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; whatever goes wrong is reported in one sentence."""
    return reporting_errors(lambda: _run(list(arguments)), arguments)


def _run(arguments: list[str]) -> int:
    try:
        with complete.silent_script():
            code = application(arguments)(arguments, prog_name=streams.NAME, standalone_mode=False)
        streams.flush()
    except typer.Abort:
        return INTERRUPTED
    except SystemExit as error:
        if error.code == 1:
            raise streams.ClosedPipe from None
        return error.code if isinstance(error.code, int) else 0
    except Exception as error:
        sentence = getattr(error, "format_message", None)
        if sentence is None:
            raise
        raise Usage(_usage(sentence(), error)) from None
    return code if isinstance(code, int) else 0


def _usage(sentence: str, error: Exception) -> str:
    context = getattr(error, "ctx", None)
    path = getattr(context, "command_path", streams.NAME)
    words = " ".join(sentence.split())
    return f"{words}{'' if words.endswith(('.', '?')) else '.'} See {path} --help."


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))

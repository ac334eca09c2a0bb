"""The typer application: every command, the dashboard when none is named, and the last word on errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Final

import typer

from aui_tui.cli import streams
from aui_tui.cli.command import COMMON, Config, DataDir, Debug, Quiet, Source, merged
from aui_tui.cli.reach import AllowPrivate, ConnectTo, access_of
from aui_tui.cli.run import INTERRUPTED, Run, told
from aui_tui.errors import ConfigError

BOARD = "Dashboard"
COMPLETING = "_AUI_TUI_COMPLETE"
"""Variable that is set while a shell asks for completions."""

COMMANDS: Final = (
    "scan",
    "site",
    "index",
    "diff",
    "plan",
    "watch",
    "export",
    "badge",
    "crawl",
    "serve",
    "demo",
    "regrade",
    "validate",
    "import",
    "backup",
    "doctor",
    "forget",
    "cache",
    "method",
    "schema",
    "config",
    "paths",
)
"""Every command in the order of the help; each lives in the module of its name."""
MODULES: Final = {"import": "importing"}
"""Modules of commands whose name is a word of Python."""
VALUED: Final = frozenset({"--data-dir", "--source", "--config", "--theme", "--open", "--connect-to"})
"""Options before a command that take the word after them."""


def application(arguments: Sequence[str]) -> typer.Typer:
    """Return the application for one command line; only what it needs is loaded."""
    app = typer.Typer(
        name=streams.NAME,
        help="How usable is a website by AI agents that act live for a person?",
        epilog="Without a command: the dashboard. Exit codes: 0 done, 1 a gate failed, 2 usage, configuration or "
        "invalid host, 3 unreachable, never scanned or inconclusive, 4 rate limited, 130 interrupted.",
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    app.callback(invoke_without_command=True)(_root)
    for name in COMMANDS if COMPLETING in os.environ else _needed(arguments):
        import_module(f"aui_tui.cli.{MODULES.get(name, name)}").add(app)
    return app


def _needed(arguments: Sequence[str]) -> Sequence[str]:
    """Return the commands that a command line needs: the one it names, none for the dashboard, else all."""
    words = iter(arguments)
    for word in words:
        if word in VALUED:
            next(words, None)
        elif word in COMMANDS:
            return (word,)
        elif not word.startswith("-") or word in ("--help", "-h", "--"):
            return COMMANDS
    return ()


def _version(asked: bool) -> None:
    if asked:
        from aui_tui import __version__

        streams.write_line(f"{streams.NAME} {__version__}")
        raise typer.Exit


def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
    theme: Annotated[str | None, typer.Option("--theme", metavar="NAME", help="Theme.", rich_help_panel=BOARD)] = None,
    ascii_only: Annotated[
        bool, typer.Option("--ascii", help="Draw with ASCII characters only.", rich_help_panel=BOARD)
    ] = False,
    no_mouse: Annotated[
        bool, typer.Option("--no-mouse", help="Leave the mouse to the terminal.", rich_help_panel=BOARD)
    ] = False,
    host: Annotated[
        str, typer.Option("--open", metavar="HOST", help="Begin with this host's card.", rich_help_panel=BOARD)
    ] = "",
    allow_private: AllowPrivate = False,
    connect_to: ConnectTo = None,
    data_dir: DataDir = None,
    source: Source = None,
    config_file: Config = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> int:
    """How usable is a website by AI agents that act live for a person?"""
    given = {"data_dir": data_dir, "source": source, "config_file": config_file, "quiet": quiet, "debug": debug}
    context.obj = merged(context, {name: given[name] for name in COMMON})
    if context.invoked_subcommand is not None:
        if theme or ascii_only or no_mouse or host or allow_private or connect_to:
            raise ConfigError(
                f"Options before {context.invoked_subcommand} that belong to the dashboard or to a scan have no effect "
                f"there; put them after it, see {streams.NAME} {context.invoked_subcommand} --help."
            )
        return 0
    from aui_tui.cli import dashboard

    flags = context.obj | {"theme": theme, "ascii": ascii_only or None, "mouse": False if no_mouse else None}
    access = access_of(allow_private=allow_private, connect_to=connect_to)
    return dashboard.show(Run.of(flags), access=access, host=host)


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; whatever goes wrong is told in one sentence."""
    return told(lambda: _run(list(arguments)), arguments)


def _run(arguments: list[str]) -> int:
    try:
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
        raise ConfigError(_usage(sentence(), error)) from None
    return code if isinstance(code, int) else 0


def _usage(sentence: str, error: Exception) -> str:
    context = getattr(error, "ctx", None)
    path = getattr(context, "command_path", streams.NAME)
    told = " ".join(sentence.split())
    return f"{told}{'' if told.endswith(('.', '?')) else '.'} See {path} --help."


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))

"""The typer application: every command, the dashboard when none is named, and how errors are reported."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from itertools import takewhile
from types import MappingProxyType
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from aui_tui.cli import streams
from aui_tui.cli.options import AllowPrivate, ConnectTo
from aui_tui.cli.parser import Parser, Usage, run_for
from aui_tui.cli.run import INTERRUPTED, print_version, reporting_errors
from aui_tui.errors import ConfigError
from aui_tui.model.vocabulary import nearest
from aui_tui.text import clean

COMMANDS: Final = MappingProxyType(
    {
        "scan": ("scan", "Scan a site and print its report card."),
        "site": ("cards", "Print the stored report card of a host."),
        "index": ("index", "List every scanned host, or figures over them."),
        "diff": ("cards", "Show what changed between two report cards."),
        "plan": ("cards", "Show the fixes that reach a grade, or write their files."),
        "watch": ("watch", "Scan a site again and again, and show what changed."),
        "tasks": ("tasks", "Show each step of the tasks that were tried on a site."),
        "reads": ("reads", "Print a page as readers of text get it."),
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


@cache
def command_of(name: str) -> Any:
    """Return the command ``name``; its module is loaded now."""
    return typer.main.get_group(import_module(f"aui_tui.cli.{COMMANDS[name][0]}").app).commands[name]


class Commands(Parser, TyperGroup):
    """The commands of the program."""

    whole = True

    def own(self, args: Sequence[str]) -> Sequence[str]:
        """Return the words before the command."""
        return list(takewhile(lambda word: word not in COMMANDS, args))

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, None for an unknown one."""
        return command_of(cmd_name) if cmd_name in COMMANDS else None

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options, then each command with its line, those for upkeep last."""
        super().format_options(ctx, formatter)
        names = list(COMMANDS)
        first = names.index("help") + 1
        for title, group in (("Commands", names[:first]), ("Upkeep", names[first:])):
            with formatter.section(title):
                formatter.write_dl([(name, COMMANDS[name][1]) for name in group])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that ``args`` begin with. Raises Usage for an unknown one."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            meant = nearest(args[0], COMMANDS, cutoff=0.7)
            hint = f"; {meant}" if meant else "."
            raise Usage(f"There is no command {clean(args[0], 60)!r}{hint} {streams.NAME} --help lists the commands.")
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name=streams.NAME,
    epilog="Without a command: the dashboard. Exit codes: 0 done, 1 a gate failed, 2 usage, configuration or "
    "invalid host, 3 unreachable, never scanned or inconclusive, 4 rate limited, 130 interrupted. Run aui-tui "
    "config for all settings; --set NAME=VALUE gives one for a single run.",
    cls=Commands,
    context_settings={"help_option_names": ["--help", "-h"]},
    rich_markup_mode=None,
)


def _version(requested: bool) -> None:
    if requested:
        print_version()
        raise typer.Exit


@app.callback(invoke_without_command=True)
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
) -> int:
    """Can ChatGPT, Claude, Google's agent and Perplexity use a site?"""
    if context.invoked_subcommand is not None:
        if host or allow_private or connect_to:
            raise ConfigError(
                f"Options of the dashboard or of a scan have no effect before {context.invoked_subcommand}; "
                f"put them after it. See {streams.NAME} {context.invoked_subcommand} --help."
            )
        return 0
    from aui_tui.cli.open_dashboard import show
    from aui_tui.cli.site_options import policy_of

    run = run_for(context)
    # settings on scans of this machine stop no reader
    scans_here = not run.settings.source or allow_private or connect_to
    access = policy_of(run, allow_private=allow_private, connect_to=connect_to) if scans_here else None
    return show(run, access=access, host=host)


def program() -> Any:
    """Return what reads a command line; the options that would install completion are no part of it."""
    root: Any = typer.main.get_command(app)
    root.params = [param for param in root.params if param.name not in ("install_completion", "show_completion")]
    return root


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; whatever goes wrong is reported in one sentence."""
    return reporting_errors(lambda: _run(list(arguments)), arguments)


def _run(arguments: list[str]) -> int:
    try:
        code = program()(arguments, prog_name=streams.NAME, standalone_mode=False)
        streams.flush()
    except typer.Abort:
        return INTERRUPTED
    except SystemExit as error:
        if error.code == 1:
            raise streams.ClosedPipe from None
        return error.code if isinstance(error.code, int) else 0
    return code if isinstance(code, int) else 0

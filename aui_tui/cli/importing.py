"""``import``: records from a file into the index."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from aui_tui.cli import streams, words
from aui_tui.cli.cards import STDIN
from aui_tui.cli.command import Run, command
from aui_tui.cli.output import emit
from aui_tui.cli.services import local_of, only_local
from aui_tui.cli.tally import counted
from aui_tui.errors import ConfigError
from aui_tui.service.intake import take
from aui_tui.text import clean

BROKEN = 1
"""Exit code when a record was passed over."""


def _opened(name: str, stack: ExitStack) -> BinaryIO:
    if name == STDIN:
        return streams.source()
    try:
        return stack.enter_context(Path(name).expanduser().open("rb"))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"Cannot read {clean(name, 200)}: {clean(reason, 200)}.") from None


def add(app: typer.Typer) -> None:
    """Add the command to ``app``."""

    @command(app, "import", example="curl -s https://index.example/api/index.json | aui-tui import -")
    def take_in(
        run: Run,
        file: Annotated[
            list[str], typer.Argument(metavar="FILE...", help="Cards, rows or indexes, JSON or NDJSON; - reads stdin.")
        ],
    ) -> int:
        """Take records from files into the index; a row never replaces a card, an older scan goes to the history."""
        only_local(run, "An import")
        code = 0
        with ExitStack() as stack:
            sources = [(name, _opened(name, stack)) for name in file]
            service = local_of(run)
            try:
                for name, source in sources:
                    with counted("Reading records", quiet=run.quiet) as told:
                        done = take(source, service.reports, told=told)
                    shown = clean(name, 200)
                    for problem in done.problems:
                        streams.say(f"{shown}: {clean(problem, 300)}")
                        code = BROKEN
                    emit([f"{shown}: {words.count(done.read, 'record')} read, {done.new:,} new or newer\n"], None)
            finally:
                run.wait(service.aclose())
        return code

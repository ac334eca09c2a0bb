"""``cache``: the answers of the last 24 hours; report cards are elsewhere and stay."""

from __future__ import annotations

from typing import Annotated

import typer

from aui_tui.cli import streams, words
from aui_tui.cli.command import Run, command
from aui_tui.cli.services import local, only_local
from aui_tui.records.vocabulary import choose

ACTIONS = ("show", "clear")


def add(app: typer.Typer) -> None:
    """Add the command to ``app``."""

    @command(app, "cache", example="aui-tui cache clear")
    def cache(
        run: Run, action: Annotated[str, typer.Argument(metavar="show|clear", help="What to do.")] = "show"
    ) -> None:
        """Show or clear the answers of the last 24 hours; no report card is lost."""
        only_local(run, "The cache")
        chosen = choose("action", action, ACTIONS)

        async def work() -> None:
            async with local(run) as service:
                if chosen == "clear":
                    streams.write_line(f"{words.count(service.cache.clear(), 'answer')} removed")
                else:
                    streams.write_line(words.count(len(service.cache), "answer"))

        run.wait(work())

"""``forget``: remove hosts from the index."""

from __future__ import annotations

from typing import Annotated

import typer

from aui_tui.cli import complete, streams, words
from aui_tui.cli.command import Run, command
from aui_tui.cli.output import emit
from aui_tui.cli.services import local, only_local
from aui_tui.errors import AuiError
from aui_tui.gates import worst
from aui_tui.text import clean


def add(app: typer.Typer) -> None:
    """Add the command to ``app``."""

    @command(app, "forget", example="aui-tui forget example.com")
    def forget(
        run: Run,
        host: Annotated[
            list[str], typer.Argument(metavar="HOST...", help="Hosts that were scanned.", autocompletion=complete.hosts)
        ],
    ) -> int:
        """Remove hosts from the index, with every kept scan."""
        only_local(run, "Forgetting")
        codes: list[int] = []

        async def work() -> None:
            async with local(run) as service:
                for name in host:
                    try:
                        removed = await service.forget(name)
                    except AuiError as error:
                        streams.say(str(error))
                        codes.append(error.exit_code)
                        continue
                    emit([f"{clean(name, 253)}: {words.count(removed, 'scan')} removed\n"], None)

        run.wait(work())
        return worst(codes)

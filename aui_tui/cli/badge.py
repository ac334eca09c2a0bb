"""``badge``: grade and score as a picture."""

from __future__ import annotations

import typer

from aui_tui.cli.choices import Host
from aui_tui.cli.command import Run, command
from aui_tui.cli.output import File, emit, path_of
from aui_tui.cli.services import dossier_of, opened
from aui_tui.records.card import ReportCard


def add(app: typer.Typer) -> None:
    """Add the command to ``app``."""

    @command(app, "badge", example="aui-tui badge example.com -o badge.svg")
    def badge(run: Run, host: Host, output: File = "") -> None:
        """Write the grade and score of a host as a self-contained SVG badge."""
        from aui_tui.export.badge import badge as drawn

        path = path_of(output)

        async def work() -> ReportCard:
            async with opened(run) as service:
                return (await dossier_of(service, host)).card

        emit([drawn(run.wait(work()))], path)

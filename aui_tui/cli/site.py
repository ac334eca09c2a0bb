"""``site``: the latest stored card of a host."""

from __future__ import annotations

from typing import Annotated

import typer

from aui_tui.cli import complete
from aui_tui.cli.command import Run, command
from aui_tui.cli.gating import Gating
from aui_tui.cli.output import CardForm, emit
from aui_tui.cli.services import opened
from aui_tui.gates import Outcome
from aui_tui.records.methods import METHODS
from aui_tui.records.view import Dossier
from aui_tui.records.vocabulary import choose


def add(app: typer.Typer) -> None:
    """Add the command to ``app``."""

    @command(app, "site", example="aui-tui site example.com --text")
    def site(
        run: Run,
        host: Annotated[
            str, typer.Argument(metavar="HOST", help="A host that was scanned.", autocompletion=complete.hosts)
        ],
        form: CardForm,
        gating: Gating,
        method: Annotated[
            str,
            typer.Option(
                "--method",
                metavar="v0.1|v0.2",
                help="Grade it under this one.",
                autocompletion=complete.of(tuple(METHODS)),
            ),
        ] = "",
        at: Annotated[str, typer.Option("--at", metavar="TIME", help="The kept scan of that time.")] = "",
    ) -> int:
        """Print the stored report card of a host, without scanning."""
        method = choose("method", method, tuple(METHODS)) if method else ""

        async def work() -> tuple[Dossier, Outcome]:
            async with opened(run) as service:
                dossier = await service.site(host, method=method, at=at)
                return dossier, await gating.judge(service, dossier.card)

        dossier, outcome = run.wait(work())
        card = dossier.card
        scans = len(dossier.history)
        notes = {card.host: f"scan {scans} of this host"} if scans > 1 else {}
        emit(form.chunks(run, [card], notes=notes, gates=gating.told([outcome])), form.path)
        return outcome.exit_code

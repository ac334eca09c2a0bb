"""``site``: the latest stored card of a host."""

from __future__ import annotations

from typing import Annotated

import typer

from aui_tui.cli import history
from aui_tui.cli.choices import Host, Method, method_of
from aui_tui.cli.command import Run, command
from aui_tui.cli.gating import Gating
from aui_tui.cli.output import CardForm, emit
from aui_tui.cli.services import opened
from aui_tui.gates import Outcome
from aui_tui.records.view import Dossier


def add(app: typer.Typer) -> None:
    """Add the command to ``app``."""

    @command(app, "site", example="aui-tui site example.com --text")
    def site(
        run: Run,
        host: Host,
        form: CardForm,
        gating: Gating,
        method: Method = "",
        at: Annotated[str, typer.Option("--at", metavar="TIME", help="The kept scan whose time begins so.")] = "",
    ) -> int:
        """Print the stored report card of a host, without scanning."""
        method = method_of(method)

        async def work() -> tuple[Dossier, Outcome]:
            async with opened(run) as service:
                dossier = await history.at(service, host, at or history.LAST, method=method)
                return dossier, await gating.judge(service, dossier.card, dossier)

        dossier, outcome = run.wait(work())
        card = dossier.card
        scans = len(dossier.history)
        notes = {card.host: f"scan {scans} of this host"} if scans > 1 else {}
        emit(form.chunks(run, [card], notes=notes, gates=gating.told([outcome])), form.path)
        return outcome.exit_code

"""``plan``: the cheapest fixes that reach a grade."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aui_tui.cli import complete, streams
from aui_tui.cli.choices import Host, Method, method_of
from aui_tui.cli.command import Run, command
from aui_tui.cli.output import emit
from aui_tui.cli.services import dossier_of, opened
from aui_tui.plan import WhatIf, as_json, lines, write_snippets
from aui_tui.plan import plan as planned
from aui_tui.records.methods import method as method_called
from aui_tui.records.view import Dossier
from aui_tui.records.vocabulary import GRADES

PARTLY = 1
"""Exit code when no set of fixes reaches the goal."""


def reckoner(dossier: Dossier) -> WhatIf | None:
    """Return what reckons a set of fixes exactly, from what was seen; None where that is not kept."""
    seen = dossier.observations
    if seen is None:
        return None
    from aui_tui.engine.fixes import what_if

    method = method_called(dossier.card.method)
    return lambda fixes: what_if(seen, fixes, method)


def add(app: typer.Typer) -> None:
    """Add the command to ``app``."""

    @command(app, "plan", example="aui-tui plan example.com --grade B --write fixes/")
    def plan(
        run: Run,
        host: Host,
        grade: Annotated[
            str,
            typer.Option(
                "--grade", metavar="A-F", help="The goal; default: the next one.", autocompletion=complete.of(GRADES)
            ),
        ] = "",
        score: Annotated[int | None, typer.Option("--score", metavar="N", help="The goal as a score.")] = None,
        method: Method = "",
        folder: Annotated[str, typer.Option("--write", metavar="DIR", help="Write each fix's snippet there.")] = "",
        force: Annotated[bool, typer.Option("--force", help="Replace snippets that are there.")] = False,
        json_out: Annotated[bool, typer.Option("--json", help="As a JSON object.")] = False,
    ) -> int:
        """Name the cheapest set of fixes that reaches a grade, and write their snippets on request."""
        method = method_of(method)

        async def work() -> Dossier:
            async with opened(run) as service:
                return await dossier_of(service, host, method=method)

        dossier = run.wait(work())
        found = planned(dossier.card, grade=grade, score=score, what_if=reckoner(dossier))
        written = write_snippets(found, Path(folder).expanduser(), force=force) if folder else []
        emit([as_json(found)] if json_out else (line + "\n" for line in lines(found)), None)
        for path in () if run.quiet else written:
            streams.say(f"wrote {path}")
        return 0 if found.reached else PARTLY

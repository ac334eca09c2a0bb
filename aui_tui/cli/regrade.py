"""``regrade``: stored or piped cards under the other method, without the network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from aui_tui.cli import cards, streams
from aui_tui.cli.choices import Method, method_of
from aui_tui.cli.command import Run, command
from aui_tui.cli.output import CardForm, emit
from aui_tui.cli.services import dossier_of, opened
from aui_tui.errors import AuiError
from aui_tui.gates import worst
from aui_tui.records.card import ReportCard
from aui_tui.regrade import regrade as graded_again


def add(app: typer.Typer) -> None:
    """Add the command to ``app``."""

    @command(app, "regrade", example="aui-tui export --cards -f ndjson | aui-tui regrade - --method v0.1 --json")
    def regrade(
        run: Run,
        what: Annotated[
            list[str], typer.Argument(metavar="HOST|FILE...", help="Stored hosts, or files of cards; - reads stdin.")
        ],
        form: CardForm,
        method: Method,
    ) -> int:
        """Grade cards again under a method, from what was seen then; nothing is stored."""
        method = method_of(method)
        found: list[ReportCard] = []
        codes: list[int] = []

        def of_file(name: str) -> None:
            for card in cards.read(name):
                try:
                    found.append(graded_again(card, method))
                except AuiError as error:
                    streams.say(str(error))
                    codes.append(error.exit_code)

        async def of_hosts(names: Sequence[str]) -> None:
            async with opened(run) as service:
                for name in names:
                    try:
                        found.append((await dossier_of(service, name, method=method)).card)
                    except AuiError as error:
                        streams.say(str(error))
                        codes.append(error.exit_code)

        hosts = [name for name in what if not cards.is_file(name)]
        for name in what:
            if cards.is_file(name):
                of_file(name)
        if hosts:
            run.wait(of_hosts(hosts))
        if found:
            emit(form.chunks(run, found, many=len(found) > 1), form.path)
        return worst(codes)

"""``diff``: what changed between two cards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from aui_tui.cli import cards, complete, history
from aui_tui.cli.command import Run, command
from aui_tui.cli.output import Deterministic, File, emit, path_of
from aui_tui.cli.services import opened
from aui_tui.diff import FORMATS, write
from aui_tui.errors import BadValue
from aui_tui.records.card import ReportCard
from aui_tui.records.diff import diff as difference
from aui_tui.records.methods import METHODS
from aui_tui.records.vocabulary import choose
from aui_tui.regrade import regrade
from aui_tui.service.protocol import Service

USAGE = "Give HOST, or HOST TIME TIME, or two of hosts and files."


def _one(name: str) -> ReportCard:
    found = cards.read(name)
    if len(found) != 1:
        raise BadValue(f"{name} holds {len(found)} cards; diff takes files of one.")
    return found[0]


async def _side(service: Service, name: str, method: str) -> ReportCard:
    return _one(name) if cards.is_file(name) else (await service.site(name, method=method)).card


async def _pair(service: Service, what: Sequence[str], method: str) -> tuple[ReportCard, ReportCard]:
    if len(what) == 1 and not cards.is_file(what[0]):
        dossier = await service.site(what[0], method=method)
        return history.before(dossier), dossier.card
    if len(what) == 3 and not cards.is_file(what[0]):
        host, first, second = what
        return await history.at(service, host, first, method=method), await history.at(
            service, host, second, method=method
        )
    if len(what) != 2:
        raise BadValue(USAGE)
    return await _side(service, what[0], method), await _side(service, what[1], method)


def add(app: typer.Typer) -> None:
    """Add the command to ``app``."""

    @command(app, "diff", example="aui-tui diff example.com 2026-11-01 last --format markdown")
    def diff(
        run: Run,
        what: Annotated[
            list[str],
            typer.Argument(metavar="HOST [TIME TIME] | A B", help="A host with two times, or two of hosts and files."),
        ],
        form: Annotated[str, typer.Option("--format", "-f", metavar="NAME", help="text, json or markdown.")] = "text",
        method: Annotated[
            str,
            typer.Option(
                "--method",
                metavar="v0.1|v0.2",
                help="Grade both under this one.",
                autocompletion=complete.of(tuple(METHODS)),
            ),
        ] = "",
        output: File = "",
        deterministic: Deterministic = False,
    ) -> None:
        """Say field by field what changed between two cards: a host's last two scans, or any two.

        TIME is the beginning of a kept scan's time, such as 2026-11-20, or first, or last.
        """
        form, path = choose("format", form, FORMATS), path_of(output)
        method = choose("method", method, tuple(METHODS)) if method else ""

        async def work() -> tuple[ReportCard, ReportCard]:
            if len(what) == 2 and all(cards.is_file(name) for name in what):
                return _one(what[0]), _one(what[1])
            async with opened(run) as service:
                return await _pair(service, what, method)

        pair = run.wait(work())
        if method:
            pair = (regrade(pair[0], method), regrade(pair[1], method))
        emit(write(difference(*pair), form, deterministic=deterministic), path)

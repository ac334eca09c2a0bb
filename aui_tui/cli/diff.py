"""``diff``: what changed between two cards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from aui_tui.changes import diff as difference
from aui_tui.cli import cards, complete, history
from aui_tui.cli.choices import Method, method_of
from aui_tui.cli.command import Run, command
from aui_tui.cli.output import Deterministic, File, emit, path_of
from aui_tui.cli.services import dossier_of, opened
from aui_tui.diff import FORMATS, write
from aui_tui.errors import BadValue, ConfigError
from aui_tui.records.card import ReportCard
from aui_tui.records.vocabulary import choose
from aui_tui.regrade import regrade
from aui_tui.service.protocol import Service

USAGE = "Give HOST, or HOST TIME TIME, or two of hosts and files."


def _one(name: str) -> ReportCard:
    found = cards.read(name)
    if len(found) != 1:
        raise BadValue(f"{name} holds {len(found)} cards; diff takes files of one.")
    return found[0]


async def _of_host(service: Service, host: str, times: Sequence[str], method: str) -> tuple[ReportCard, ReportCard]:
    if times:
        first, second = [(await history.at(service, host, when, method=method)).card for when in times]
        return first, second
    dossier = await dossier_of(service, host, method=method)
    return history.before(dossier), dossier.card


async def _side(service: Service, side: str | ReportCard, method: str) -> ReportCard:
    return side if isinstance(side, ReportCard) else (await dossier_of(service, side, method=method)).card


def add(app: typer.Typer) -> None:
    """Add the command to ``app``."""

    @command(app, "diff", example="aui-tui diff example.com 2026-11-01 last --format markdown")
    def diff(
        run: Run,
        what: Annotated[
            list[str],
            typer.Argument(metavar="HOST [TIME TIME] | A B", help="A host with two times, or two of hosts and files."),
        ],
        form: Annotated[
            str,
            typer.Option(
                "--format", "-f", metavar="NAME", help="text, json or markdown.", autocompletion=complete.of(FORMATS)
            ),
        ] = "text",
        method: Method = "",
        output: File = "",
        deterministic: Deterministic = False,
    ) -> None:
        """Say field by field what changed between two cards: a host's last two scans, or any two.

        TIME is the beginning of a kept scan's time, such as 2026-11-20, or first, or last.
        """
        form, path = choose("format", form, FORMATS), path_of(output)
        method = method_of(method)
        if len(what) not in (1, 2, 3) or (len(what) != 2 and cards.is_file(what[0])):
            raise BadValue(USAGE)
        if len(what) != 2 and run.settings.source:
            raise ConfigError("A published index tells of no earlier scan; give two of hosts and files.")
        sides = [_one(name) if cards.is_file(name) else name for name in what] if len(what) == 2 else []

        async def work() -> tuple[ReportCard, ReportCard]:
            match sides:
                case [ReportCard() as before, ReportCard() as after]:
                    return before, after
            async with opened(run) as service:
                match sides:
                    case [one, other]:
                        return await _side(service, one, method), await _side(service, other, method)
                return await _of_host(service, what[0], what[1:], method)

        pair = run.wait(work())
        if method:
            pair = (regrade(pair[0], method), regrade(pair[1], method))
        emit(write(difference(*pair), form, deterministic=deterministic), path)

"""``scan``: look at a site now, or take the answer of the last 24 hours."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Annotated

import typer

from aui_tui.cli import complete, streams, words
from aui_tui.cli.choices import Method, method_of
from aui_tui.cli.command import Run, command
from aui_tui.cli.gating import Gating
from aui_tui.cli.narrate import narrated
from aui_tui.cli.output import CardForm, emit
from aui_tui.cli.reach import Reach
from aui_tui.cli.services import opened
from aui_tui.cli.tape import Tape
from aui_tui.errors import AuiError, InvalidHost
from aui_tui.gates import Outcome, worst
from aui_tui.records.card import ReportCard
from aui_tui.records.view import ScanAnswer
from aui_tui.records.vocabulary import CATEGORIES, choose
from aui_tui.service.protocol import Service
from aui_tui.text import clean

if TYPE_CHECKING:
    from aui_tui.export.options import Refusal

Force = Annotated[bool, typer.Option("--force", help="Scan again; costs one of the ten an hour.")]
Category = Annotated[
    str,
    typer.Option("--category", metavar="NAME", help="File the site under it.", autocompletion=complete.of(CATEGORIES)),
]


def note_of(answer: ScanAnswer) -> str:
    """Return in words where an answer came from; empty for a scan made now."""
    if answer.source == "cache":
        return f"from the cache, {words.age(answer.age)} old (--force scans again)"
    return "shared with another caller's scan" if answer.source == "shared" else ""


def _admitted(url: str) -> bool:
    """Return whether ``--allow-private`` would admit ``url``."""
    from aui_tui.engine.target import parse

    try:
        parse(url, allow_private=True)
    except InvalidHost:
        return False
    return True


async def scan_one(
    run: Run, service: Service, url: str, *, force: bool = False, method: str = "", category: str = ""
) -> ScanAnswer:
    """Scan ``url`` with progress and tell its warnings. Raises AuiError."""
    try:
        with narrated(url, quiet=run.quiet) as progress:
            answer = await service.scan(url, force=force, method=method, category=category, progress=progress)
    except InvalidHost as error:
        if run.settings.source or not _admitted(url):
            raise
        raise InvalidHost(f"{error} If it is yours, --allow-private scans it.") from None
    for sentence in answer.warnings:
        streams.say(sentence)
    return answer


def refusal(url: str, error: AuiError) -> Refusal:
    """Return what is written for a host of several that gave no card."""
    from aui_tui.export.options import Refusal

    return Refusal(clean(url, 253), error.title, error.http_status, str(error))


@dataclass(slots=True)
class Batch:
    """What the scans of one command have brought so far."""

    cards: list[ReportCard] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)
    outcomes: list[Outcome] = field(default_factory=list)
    codes: list[int] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)

    def between(self, form: CardForm) -> list[str]:
        """Return what parts the next card from what was printed before."""
        return ["\n"] if (self.cards or self.refused) and not form.record else []

    def add(self, answer: ScanAnswer, outcome: Outcome) -> None:
        """Take in one finished scan and what the gates said of it."""
        card = answer.card
        self.cards.append(card)
        self.notes[card.host] = note_of(answer)
        self.outcomes.append(outcome)
        self.codes.append(outcome.exit_code)


def add(app: typer.Typer) -> None:
    """Add the command to ``app``."""

    @command(app, "scan", example="aui-tui scan example.com --fail-grade C")
    def scan(
        run: Run,
        form: CardForm,
        gating: Gating,
        reach: Reach,
        tape: Tape,
        url: Annotated[list[str] | None, typer.Argument(metavar="URL...", help="Hosts or http(s) addresses.")] = None,
        force: Force = False,
        method: Method = "",
        category: Category = "",
    ) -> int:
        """Scan a site as a browser and as AI agents, and print its report card."""
        method = method_of(method)
        category = choose("category", category, CATEGORIES) if category else ""
        asked = tape.asked(url or (), run.settings)
        batch = Batch()

        async def work() -> None:
            async with opened(run, reach.access) as service:
                for one in asked:
                    try:
                        if tape.replay:
                            answer = tape.answer(run.settings, method=method, category=category)
                        else:
                            answer = await scan_one(run, service, one, force=force, method=method, category=category)
                        tape.keep(answer)
                        outcome = await gating.judge(service, answer.card)
                    except AuiError as error:
                        streams.say(str(error))
                        batch.codes.append(error.exit_code)
                        if len(asked) > 1:
                            if form.streams:
                                emit(
                                    chain(batch.between(form), form.chunks(run, (), refused=[refusal(one, error)])),
                                    None,
                                )
                            batch.refused.append(refusal(one, error))
                        continue
                    if form.streams:
                        notes = {answer.card.host: note_of(answer)}
                        between = batch.between(form)
                        emit(chain(between, form.chunks(run, [answer.card], notes=notes)), None)
                    batch.add(answer, outcome)

        run.wait(work())
        if (batch.cards or batch.refused) and not form.streams:
            many = len(asked) > 1
            gates = gating.told(batch.outcomes)
            chunks = form.chunks(run, batch.cards, notes=batch.notes, gates=gates, many=many, refused=batch.refused)
            emit(chunks, form.path)
        return worst(batch.codes)

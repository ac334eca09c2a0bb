"""Options that make a card pass or fail: the gates of scripts and CI."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar, Final, Self

import typer

from aui_tui.cli import complete, streams
from aui_tui.cli.cards import read
from aui_tui.cli.command import Group
from aui_tui.errors import NeverScanned
from aui_tui.gates import Gates, Outcome, check
from aui_tui.records.card import ReportCard
from aui_tui.records.view import Dossier
from aui_tui.records.vocabulary import GRADES, SEVERITIES, STANCES
from aui_tui.service.protocol import Service
from aui_tui.text import clean

PANEL: Final = "Gates: exit 1 when one fails, 3 when it cannot be told"
_option = partial(typer.Option, rich_help_panel=PANEL)
LAST: Final = "last"

FailUnder = Annotated[int | None, _option("--fail-under", metavar="N", help="The score must reach N.")]
FailGrade = Annotated[
    str,
    _option("--fail-grade", metavar="A-F", help="The grade must reach this one.", autocompletion=complete.of(GRADES)),
]
RequireStance = Annotated[
    str, _option("--require-stance", metavar="NAME", help="At least this open.", autocompletion=complete.of(STANCES))
]
MustServe = Annotated[
    str, _option("--must-serve", metavar="A,B", help="These agents must get in.", autocompletion=complete.agents)
]
FailOn = Annotated[
    str,
    _option("--fail-on", metavar="critical|warn", help="No such finding.", autocompletion=complete.of(SEVERITIES[:2])),
]
NoRegress = Annotated[
    str, _option("--no-regress", metavar="FILE|last", help="Nothing worse than that card, or the scan before.")
]


@dataclass(frozen=True, slots=True)
class Gating(Group):
    """The gates of one command; ``baseline`` names a file of cards, or LAST, or nothing."""

    OPTIONS: ClassVar = {
        "fail_under": (FailUnder, None),
        "fail_grade": (FailGrade, ""),
        "require_stance": (RequireStance, ""),
        "must_serve": (MustServe, ""),
        "fail_on": (FailOn, ""),
        "no_regress": (NoRegress, ""),
    }
    gates: Gates
    baseline: str = ""
    cards: tuple[ReportCard, ...] = ()

    @classmethod
    def of(cls, **values: Any) -> Self:
        """Return the gates asked for. Raises BadValue, or ConfigError and RecordError for a bad baseline file."""
        baseline = values.pop("no_regress")
        gates = Gates.of(**values, no_regress=bool(baseline))
        cards = read(baseline) if baseline and baseline != LAST else ()
        return cls(gates, baseline, cards)

    async def judge(self, service: Service, card: ReportCard, known: Dossier | None = None) -> Outcome:
        """Return what the gates say of ``card``, having told each failure; ``known`` is what the service knows of it.

        Raises AuiError.
        """
        outcome = check(card, self.gates, await self._before(service, card, known))
        tell(outcome)
        return outcome

    def told(self, outcomes: Iterable[Outcome]) -> dict[str, Outcome]:
        """Return ``outcomes`` by host for a writer; nothing when no gate was asked for."""
        return {outcome.host: outcome for outcome in outcomes} if self.gates else {}

    async def _before(self, service: Service, card: ReportCard, known: Dossier | None) -> ReportCard | None:
        if self.baseline != LAST:
            return _same(self.cards, card)
        try:
            return (known or await service.site(card.host, method=card.method)).previous
        except NeverScanned:
            return None


def _same(cards: Sequence[ReportCard], card: ReportCard) -> ReportCard | None:
    """Return the card of the same host among ``cards``; a single one stands for any host."""
    found = [one for one in cards if one.host == card.host and one.method == card.method]
    found = found or [one for one in cards if one.host == card.host]
    return found[-1] if found else cards[0] if len(cards) == 1 else None


def tell(outcome: Outcome) -> None:
    """Say each failure on standard error, one line each."""
    for failure in outcome.failures:
        word = "cannot be told" if failure.inconclusive else "failed"
        streams.say(f"gate {failure.gate} {word}: {clean(outcome.host)}: {failure.message}")

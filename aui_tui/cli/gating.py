"""Options that make a card pass or fail: the gates of scripts and CI."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer
from msgspec.structs import replace

from aui_tui.cli import complete, sources, streams
from aui_tui.cli.options import given
from aui_tui.errors import BadValue, NeverScanned
from aui_tui.gates import Gates, Outcome, check
from aui_tui.records.card import ReportCard
from aui_tui.records.view import Dossier
from aui_tui.records.vocabulary import GRADES, SEVERITIES, STANCES, choose
from aui_tui.service.protocol import Service
from aui_tui.text import clean

PANEL: Final = "Gates: exit 1 when one fails, 3 when it is inconclusive"
_option = partial(typer.Option, rich_help_panel=PANEL)
LAST: Final = "last"
PASS, INCONCLUSIVE = "pass", "inconclusive"
"""Values of ``--first-run``."""

FailUnder = Annotated[int | None, _option("--fail-under", metavar="N", help="The score must reach N.")]
FailGrade = Annotated[
    str | None,
    _option(
        "--fail-grade", metavar="A|B|C|D|F", help="The grade must reach this one.", autocompletion=complete.of(GRADES)
    ),
]
RequireStance = Annotated[
    str | None,
    _option(
        "--require-stance",
        metavar="Open|Selective|Walled",
        help="The stance must be at least this open.",
        autocompletion=complete.of(STANCES),
    ),
]
MustServe = Annotated[
    str | None,
    _option(
        "--must-serve",
        metavar="NAME,NAME",
        help="These agents must get in: product, token or company.",
        autocompletion=complete.agents,
    ),
]
FailOn = Annotated[
    str | None,
    _option(
        "--fail-on",
        metavar="critical|warn",
        help="No finding of this severity or worse.",
        autocompletion=complete.of(SEVERITIES[:2]),
    ),
]
NoRegress = Annotated[
    str | None,
    _option(
        "--no-regress",
        metavar="FILE|last",
        help="Nothing may be worse than on the card in FILE, or in the scan before.",
    ),
]
FirstRun = Annotated[
    str,
    _option(
        "--first-run",
        metavar="pass|inconclusive",
        help="Result of --no-regress when there is no earlier card.",
        autocompletion=complete.of(("pass", "inconclusive")),
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOptions:
    """The gates of a command, as asked for."""

    fail_under: FailUnder = None
    fail_grade: FailGrade = None
    require_stance: RequireStance = None
    must_serve: MustServe = None
    fail_on: FailOn = None
    no_regress: NoRegress = None
    first_run: FirstRun = INCONCLUSIVE


@dataclass(frozen=True, slots=True)
class Gating:
    """The gates of one command; ``baseline`` names a file of cards, or LAST, or nothing.

    ``cards`` is what the file holds, ``first_run`` what counts when it holds no card of the host.
    """

    gates: Gates
    baseline: str = ""
    cards: tuple[ReportCard, ...] = ()
    first_run: str = INCONCLUSIVE

    @classmethod
    def of(cls, context: typer.Context) -> Gating:
        """Return the gates asked for. Raises BadValue, or ConfigError and RecordError for a bad baseline file."""
        asked = given(context, GateOptions)
        baseline = asked.no_regress or ""
        first_run = choose("value of --first-run", asked.first_run, (PASS, INCONCLUSIVE))
        if first_run == PASS and not baseline:
            raise BadValue("--first-run needs --no-regress; add --no-regress, or leave --first-run out.")
        gates = Gates.of(
            fail_under=asked.fail_under,
            fail_grade=asked.fail_grade,
            require_stance=asked.require_stance,
            must_serve=asked.must_serve,
            fail_on=asked.fail_on,
            no_regress=bool(baseline),
        )
        missing = first_run == PASS and baseline != sources.STDIN and not Path(baseline).expanduser().exists()
        cards = () if missing or baseline in ("", LAST) else sources.read(baseline)
        return cls(gates, baseline, cards, first_run)

    async def judge(self, service: Service, card: ReportCard, known: Dossier | None = None) -> Outcome:
        """Return what the gates say of ``card``, having reported each failure; ``known``: what the service knows.

        Raises AuiError.
        """
        before = await self._before(service, card, known) if self.gates.no_regress else None
        gates = self.gates
        if gates.no_regress and before is None and self.first_run == PASS and not card.unreachable:
            gates = replace(gates, no_regress=False)
            streams.say(f"gate no-regress passes: {clean(card.host)}: first run, no card to compare with.")
        outcome = check(card, gates, before)
        tell(outcome)
        return outcome

    def by_host(self, outcomes: Iterable[Outcome]) -> dict[str, Outcome]:
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
        word = "is inconclusive" if failure.inconclusive else "failed"
        streams.say(f"gate {failure.gate} {word}: {clean(outcome.host)}: {failure.message}")

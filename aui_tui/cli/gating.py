"""The gates of scripts and CI, on a card or on a log."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from aui_tui.cli import sources, streams
from aui_tui.cli.run import Run
from aui_tui.errors import BadValue, NeverScanned
from aui_tui.files import STDIN, user_path
from aui_tui.model.card import ReportCard
from aui_tui.model.registry import Agent, registry
from aui_tui.model.report import HostReport
from aui_tui.model.visits import Visitor, Visits
from aui_tui.report.gates import Failure, GateOutcome, Gates, check
from aui_tui.service.protocol import Service
from aui_tui.text import clean

OPTIONS: Final = ("fail_under", "fail_grade", "require_stance", "must_serve", "must_block", "fail_on")
LAST: Final = "last"
PASS, INCONCLUSIVE = "pass", "inconclusive"
"""Values of the setting ``first_run``."""


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
    def of(cls, run: Run, params: Mapping[str, Any]) -> Gating:
        """Return the gates among the options ``params``, with the cards of ``--no-regress``.

        Raises BadValue, and ConfigError and RecordError for a bad file.
        """
        requested = {name: params[name] for name in OPTIONS}
        gates = Gates.of(**requested, no_regress=params["no_regress"] is not None)
        baseline, first_run = params["no_regress"] or "", run.settings.first_run
        missing = first_run == PASS and baseline != STDIN and not user_path(baseline).exists()
        cards = () if missing or baseline in ("", LAST) else sources.read(baseline)
        return cls(gates, baseline, cards, first_run)

    async def judge(self, service: Service, report: HostReport) -> GateOutcome:
        """Return what the gates say of ``report``, having reported each failure. Raises AuiError."""
        card = report.card
        before = await self._before(service, report) if self.gates.no_regress else None
        gates = self.gates
        if gates.no_regress and before is None and self.first_run == PASS and not card.unreachable:
            gates = replace(gates, no_regress=False)
            streams.say(f"gate no-regress passes: {clean(card.host)}: first run, no card to compare with.")
        outcome = check(card, gates, before, report.observations, report.accepted)
        tell(outcome)
        return outcome

    async def _before(self, service: Service, report: HostReport) -> ReportCard | None:
        card = report.card
        if self.baseline != LAST:
            return _same(self.cards, card)
        if report.history:  # as the index gives it; a scan reads no earlier card
            return report.previous
        try:
            return (await service.site(card.host, method=card.method)).previous
        except NeverScanned:
            return None


def _same(cards: Sequence[ReportCard], card: ReportCard) -> ReportCard | None:
    """Return the card of the same host among ``cards``. Raises BadValue when every one is of another host."""
    matching = [candidate for candidate in cards if candidate.host == card.host]
    if cards and not matching:
        held = ", ".join(dict.fromkeys(candidate.host for candidate in cards[:5]))
        raise BadValue(f"--no-regress names cards of {clean(held, 200)}, not of {clean(card.host, 253)}.")
    matching = [candidate for candidate in matching if candidate.method == card.method] or matching
    return matching[-1] if matching else None


def tell(outcome: GateOutcome) -> None:
    """Say each failure on standard error, one line each."""
    for failure in outcome.failures:
        word = "is inconclusive" if failure.inconclusive else "failed"
        streams.say(f"gate {failure.gate} {word}: {clean(outcome.host)}: {failure.message}")


GATE = "fail-refused"


class Limit(NamedTuple):
    """At most ``share`` (0 to 1) of the requests of the clients ``tokens`` may be refused; ``name`` is as typed."""

    name: str
    tokens: tuple[str, ...]
    share: Fraction


def limits(texts: Iterable[str]) -> tuple[Limit, ...]:
    """Return the limits written as ``claude=1%``, several separated by commas. Raises BadValue."""
    return tuple(_limit(part) for text in texts for part in text.split(","))


def _limit(text: str) -> Limit:
    name, _, share = text.strip().rpartition("=")
    number = re.fullmatch(r"(\d{1,3}(?:\.\d{1,4})?)\s*%", share.strip())
    if not name or number is None or Fraction(number[1]) > 100:
        raise BadValue(f"--fail-refused takes NAME=PERCENT such as claude=1%, not {clean(text, 60)!r}.")
    return Limit(name.strip(), _tokens_of(name.strip()), Fraction(number[1]) / 100)


def _tokens_of(name: str) -> tuple[str, ...]:
    """Return the tokens of the clients that ``name`` means: a token, label, surface or company. Raises BadValue."""
    from aui_tui.visits.clients import clients

    client = clients().get(name.lower())
    if client is not None:
        return (client.token,)
    known_clients, tokens = registry(), dict[str, None]()
    for entry in known_clients.named(name):
        keys = (entry.key,) if isinstance(entry, Agent) else entry.agents
        tokens |= {clients()[agent.token.lower()].token: None for agent in known_clients.agents if agent.key in keys}
    if not tokens:
        allowed = tuple(dict.fromkeys(entry.token for entry in clients().values() if not entry.is_silent))
        raise BadValue(f"There is no client {clean(name, 60)!r}; known are {', '.join(allowed)}.", allowed=allowed)
    return tuple(tokens)


def refused_too_often(record: Visits, limits: Iterable[Limit]) -> GateOutcome:
    """Return which limits ``record`` breaks. No visits, or a log that cannot tell, is inconclusive, never a pass."""
    failures = (failure for limit in limits for failure in _judged(record, limit))
    return GateOutcome(host=record.host or record.log, failures=tuple(failures))


def _judged(record: Visits, limit: Limit) -> Iterator[Failure]:
    visitors = [visitor for token in limit.tokens if (visitor := record.visitor(token)) is not None]
    requests, refused, basis = _counted(visitors)

    def unclear(message: str) -> Failure:
        return Failure(gate=GATE, message=f"{limit.name}: {message}", inconclusive=True)

    if not visitors:
        yield unclear(f"no visits in the log ({record.period or 'no times'}).")
    elif not requests:
        yield unclear("none of its requests came from the published ranges, so nothing is known of the real agent.")
    elif refused > limit.share * requests:
        share = f"{100 * refused / requests:.3g} %, allowed are {float(100 * limit.share):.3g} %"
        message = f"{limit.name}: {refused:,} of {requests:,} {basis} were refused ({share})."
        yield Failure(gate=GATE, message=message, by=refused)
    elif record.kind == "origin":
        yield unclear("this is an origin's log, and what the edge refuses never reaches it: read the edge's log.")


def _counted(visitors: Iterable[Visitor]) -> tuple[int, int, str]:
    """Return requests, refused ones, and what they are: verified requests where addresses were checked."""
    rows = list(visitors)
    checked = [visitor for visitor in rows if visitor.addresses == "checked"]
    if checked:
        return (
            sum(visitor.verified for visitor in checked),
            sum(visitor.verified_refused for visitor in checked),
            "requests from the published ranges",
        )
    return (
        sum(visitor.requests for visitor in rows),
        sum(visitor.refused for visitor in rows),
        "requests under its name",
    )

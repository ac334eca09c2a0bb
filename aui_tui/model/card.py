"""The report card and its parts, how its score adds up, its time stamps, and the summary that the index lists.

Fields as in ``schemas/card.schema.json``. A time is ISO 8601 in UTC with milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Final
from urllib.parse import quote

import msgspec
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace

from aui_tui.model.observations import LIMIT_STATUS, REDIRECTS, Declared
from aui_tui.model.registry import Agent, registry
from aui_tui.model.summary import Grade, Host, Matrix, Percent, Points, SiteSummary, Stance
from aui_tui.model.surfaces import of_surfaces
from aui_tui.model.tasks import TaskRun
from aui_tui.model.times import Timestamp
from aui_tui.model.vocabulary import (
    AGENTS_TOTAL,
    CHALLENGED,
    CRAWLERS_TOTAL,
    INCONCLUSIVE,
    LIVE_TOTAL,
    REFUSED,
    SERVED,
    SEVERITIES,
    Count,
)

Agents = Annotated[int, Meta(ge=0, le=AGENTS_TOTAL)]
"""How many of the agents."""


class Evidence(msgspec.Struct, frozen=True):
    """One finding: ``t`` is critical, warn or good."""

    t: str
    text: str


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one check found: the ``id`` of a fixed sentence, the ``facts`` that fill it, and the sentence filled.

    ``severity`` and ``text`` are those of its line of evidence; ``fix`` is the recommendation key of its check, empty
    for what no fix is about. A line of another index has no ``id``. A check names ``id`` and ``facts`` alone.
    """

    id: str
    facts: dict[str, str] = {}
    severity: str = ""
    text: str = ""
    fix: str = ""


class Semantic(msgspec.Struct, frozen=True):
    """Counts of landmarks, labels and forms on the homepage."""

    main: Count
    nav: Count
    aria: Count
    forms: Count


class AgentAccess(msgspec.Struct, frozen=True):
    """What one live-probed agent got; status 0 means no response."""

    status: Count
    challenged: bool
    title: str

    @property
    def outcome(self) -> str:
        """``inconclusive``, ``challenged``, ``refused`` or ``served``, as far as the record alone shows it."""
        if self.status == 0:
            return INCONCLUSIVE
        if self.challenged:
            return CHALLENGED
        if 200 <= self.status <= 299:
            return SERVED
        return INCONCLUSIVE if self.status in REDIRECTS else REFUSED


class Recommendation(msgspec.Struct, frozen=True):
    """One fix and the points it would gain."""

    k: str
    pillar: str
    pts: Count
    title: str
    body: str
    code: str


class PageAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What one agent got at a page: the last status, 0 when none came, and the outcome."""

    status: Count
    outcome: str


class PageAccess(PageAnswer, frozen=True, kw_only=True):
    """Who gets a page besides the homepage: the browser, whose answer this is, and the agents; never scored."""

    path: str
    agents: dict[str, PageAnswer]


class ReportCard(msgspec.Struct, frozen=True, kw_only=True):
    """The full record, fields in the order of the schema; the three after them belong to v0.2.

    The schema names neither ``declared`` and ``pages``, which are there only when they were asked for, nor
    ``ledger``, which a card has that this program graded and which no record for others carries.
    """

    found: bool
    method: str
    host: Host
    input_host: str
    name: str
    category: str
    scanned_at: Timestamp
    vantage: str
    elapsed_ms: Count
    score: Percent
    grade: Grade
    stance: Stance
    pillars: Points
    pillar_max: Points
    evidence: tuple[Evidence, ...]
    matrix: Matrix
    files: tuple[str, ...]
    jsonld: Count
    semantic: Semantic
    noscript_shell: bool
    content_signal: bool
    wildcard_block: bool
    robots_status: Count
    robots_ua_rules: Count
    agents_disallowed: Agents
    agents_partial: Agents
    agents_total: Annotated[int, Meta(ge=AGENTS_TOTAL, le=AGENTS_TOTAL)]
    crawlers_blocked: Annotated[int, Meta(ge=0, le=CRAWLERS_TOTAL)]
    crawlers_total: Annotated[int, Meta(ge=CRAWLERS_TOTAL, le=CRAWLERS_TOTAL)]
    ua_policy: Annotated[dict[str, str], Meta(min_length=AGENTS_TOTAL, max_length=AGENTS_TOTAL)]
    crawler_policy: Annotated[dict[str, str], Meta(min_length=CRAWLERS_TOTAL, max_length=CRAWLERS_TOTAL)]
    live_served: Annotated[int, Meta(ge=0, le=LIVE_TOTAL)]
    live_total: Annotated[int, Meta(ge=LIVE_TOTAL, le=LIVE_TOTAL)]
    agent_access: Annotated[dict[str, AgentAccess], Meta(min_length=LIVE_TOTAL, max_length=LIVE_TOTAL)]
    human_status: Count
    human_title: str
    human_challenged: bool
    edge: str
    probe_dead: bool
    seed: bool
    url: str
    recommendations: tuple[Recommendation, ...]
    detail: Points | UnsetType = UNSET
    provisional: bool | UnsetType = UNSET
    task_runs: tuple[TaskRun, ...] | UnsetType = UNSET
    declared: Declared | UnsetType = UNSET
    pages: tuple[PageAccess, ...] | UnsetType = UNSET
    ledger: Ledger | UnsetType = UNSET

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The evidence, a finding a line, with ids and facts where this program graded the card."""
        finding_by_text = {} if self.ledger is UNSET else {finding.text: finding for finding in self.ledger.findings}
        return tuple(
            finding_by_text.get(line.text) or Finding("", severity=line.t, text=line.text) for line in self.evidence
        )

    def with_findings(self, findings: Iterable[Finding]) -> ReportCard:
        """Return the card with ``findings`` as its evidence, the most severe first."""
        weight = {word: place for place, word in enumerate(SEVERITIES)}
        ranked = tuple(sorted(findings, key=lambda finding: weight.get(finding.severity, 0)))
        ledger = UNSET if self.ledger is UNSET else replace(self.ledger, findings=ranked)
        return replace(
            self, evidence=tuple(Evidence(finding.severity, finding.text) for finding in ranked), ledger=ledger
        )

    @property
    def human(self) -> AgentAccess:
        """What the browser got."""
        return AgentAccess(self.human_status, self.human_challenged, self.human_title)

    @property
    def answers(self) -> Iterator[tuple[Agent, AgentAccess]]:
        """The live-probed agents with what they got; a foreign card counts by position."""
        return zip(registry().live, self.agent_access.values(), strict=False)

    @property
    def unreachable(self) -> bool:
        """No homepage probe got a page or a challenge, and no refusal says anything about agents.

        Follows from the record alone, so that a card of another index sorts into the right list.
        """
        failing = all(
            probe.outcome == INCONCLUSIVE or (probe.outcome == REFUSED and 500 <= probe.status <= 599)
            for probe in (self.human, *self.agent_access.values())
        )
        live = [word for surface, word in of_surfaces(self.matrix) if surface.live]
        return failing or (self.human.outcome in (INCONCLUSIVE, REFUSED) and set(live) == {"untested"})

    @property
    def robots_known(self) -> bool:
        """It is known what robots.txt says: it has rules, or an answer that means none (RFC 9309, 2.3.1).

        Not where nothing was measured of it, as behind a wall or a limit.
        """
        came = 200 <= self.robots_status <= 499 and self.robots_status != LIMIT_STATUS
        if self.ledger is UNSET:
            return came
        measured = any(entry.measured for entry in self.ledger.entries if entry.component == ROBOTS)
        return came and (measured or self._has_found(ROBOTS_CUT))

    @property
    def robots_whole(self) -> bool:
        """It is known what robots.txt does not say, too: it was read to its end."""
        return self.robots_known and not self._has_found(ROBOTS_CUT)

    def _has_found(self, name: str) -> bool:
        return self.ledger is not UNSET and any(finding.id == name for finding in self.ledger.findings)

    @property
    def top_evidence(self) -> str:
        """The text of the first evidence line; empty when there is none."""
        return self.evidence[0].text if self.evidence else ""

    def summary(self) -> SiteSummary:
        """Return the row that the index shows for this card."""
        return SiteSummary(**{field: getattr(self, field) for field in SiteSummary.__struct_fields__})


class Index(msgspec.Struct, frozen=True, kw_only=True):
    """The whole Index as one record (4.1)."""

    scanned_at: Timestamp
    ranked: tuple[SiteSummary, ...]
    unreachable: tuple[SiteSummary, ...]


class LedgerEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One component of the score, called by the key of its fix: points ``earned`` of ``possible``.

    ``pillar``: its wire key. ``reason``: why so many.
    ``measured`` is False when no probe was conclusive: then the component counts on neither side.
    ``fix`` is the recommendation key that would complete it, empty when nothing is left to gain; ``after`` is the score
    with that fix alone. ``asked``: the fix is to ask somebody else for it, so its points depend on them.
    """

    component: str
    pillar: str
    earned: int
    possible: int
    reason: str
    measured: bool = True
    fix: str = ""
    after: int = 0
    asked: bool = False


class Ledger(msgspec.Struct, frozen=True, kw_only=True):
    """All components of a score under one method, their sums, and what the sums became.

    ``raw`` is round half up of 100 x earned / possible; ``score`` is ``raw``, at most 59 when ``capped``; ``best`` is
    the score with all fixes. ``revision``: of the method.
    ``conclusive``: live-probed agents whose probe counts. ``findings``: the evidence.
    """

    method: str
    entries: tuple[LedgerEntry, ...]
    earned: int
    possible: int
    raw: int
    score: int
    capped: bool
    grade: str
    best: int = 0
    revision: int = 1
    conclusive: int = 0
    findings: tuple[Finding, ...] = ()

    @property
    def points(self) -> dict[str, int]:
        """Points earned per component."""
        return {entry.component: entry.earned for entry in self.entries}


QUOTE: Final = "quote"
"""Id of the finding that says which ids of requests to quote to a vendor: ``ids``, other ones in each scan."""
ROBOTS, ROBOTS_CUT = "robots", "robots-cut"
"""The component of robots.txt, and the id of the finding that it was not read to its end."""


def card_without_volatile(card: ReportCard) -> ReportCard:
    """Return ``card`` without what differs from scan to scan: ids of requests, and the time in its snippets.

    ``scanned_at`` and ``elapsed_ms`` stay.
    """
    volatile = {card.scanned_at: "(time)"}
    for finding in card.findings:
        if finding.id == QUOTE:
            volatile |= dict.fromkeys(finding.facts["ids"].split(", "), "(id)")
    fixes = []
    for fix in card.recommendations:
        code = fix.code
        for word in sorted(volatile, key=len, reverse=True):
            code = code.replace(word, volatile[word])
        fixes.append(replace(fix, code=code))
    without_quotes = card.with_findings(finding for finding in card.findings if finding.id != QUOTE)
    return replace(without_quotes, recommendations=tuple(fixes))


def site_url(base_url: str, host: str) -> str:
    """Return the address of the page of ``host`` on a service."""
    return f"{base_url}/site/{quote(host, safe=':')}"

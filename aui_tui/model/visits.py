"""The record of a site's own access logs, and its comparison with what the probes got. Pure.

A probe borrows an agent's name without its network address. The owner's log holds the real visits: this record keeps
their figures per agent, and nothing of any visitor, no address, query or user.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Final, Literal

import msgspec

from aui_tui.model.card import AgentAccess, Finding, ReportCard
from aui_tui.model.decoding import decode
from aui_tui.model.labels import OF_OUTCOME
from aui_tui.model.registry import Agent, registry
from aui_tui.model.times import Timestamp, age, epoch_ms
from aui_tui.model.verdicts import AWAY
from aui_tui.model.vocabulary import INCONCLUSIVE, SERVED, Count, has_edge
from aui_tui.text import count

TimestampOrEmpty = Annotated[str, msgspec.Meta(pattern=r"^$|^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")]
Kind = Literal["edge", "origin", "unknown"]
Addresses = Literal["checked", "not fetched", "none published", "off"]
"""Whether a client's addresses were compared with its vendor's list: yes; the list is not here; there is none;
the log does not show client addresses."""
Agreement = Literal["confirmed", "contradicted", "cannot tell", "no visits", ""]
"""Log and probe: they agree; they disagree; nothing follows; the agent did not come; it was not probed."""

CONFIRMED: Final = "confirmed"
CONTRADICTED: Final = "contradicted"
CANNOT_TELL: Final = "cannot tell"
NO_VISITS: Final = "no visits"

MOSTLY: Final = 0.9
"""Share of visits with one outcome from which an agent counts as served, or as refused."""
LONG_BEFORE: Final = 30 * 86400.0
"""Seconds between the last visit and the scan above which the log says nothing about the scan."""
RANGES_OLD: Final = 30 * 86400.0
"""Seconds after which a fetched list of ranges is called old wherever it is used."""
LIMIT: Final = "probe-limit"
"""How the line of a card begins that says what a probe cannot know."""
NOT_ASKED: Final = "not asked"


class PathCount(msgspec.Struct, frozen=True, kw_only=True):
    """Requests for one path; mail addresses and long tokens in it are masked."""

    path: str
    requests: Count


class Week(msgspec.Struct, frozen=True, kw_only=True):
    """The requests of one client in the week that began on ``monday`` (UTC).

    ``newly_missing``: paths that were not found (404, 410) in this week and in none before, ``missing_paths``: the
    first of them.
    """

    monday: Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d\d-\d\d$")]
    requests: Count
    refused: Count
    newly_missing: Count = 0
    missing_paths: tuple[str, ...] = ()


class Visitor(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one client; the two casings of a name are one client.

    ``first`` and ``last``: times of its first and last request; ``per_day``: requests by UTC day, ``weeks``: figures by
    week, in order. ``status``: requests
    by class (``2xx``). ``served``: answers 2xx or 304, without robots.txt, which many edges serve to everybody.
    ``refused``: answers 401, 402, 403, 405, 406, 429, 451 and 503. ``bytes``: as logged. ``median_seconds``: None when
    the log has no times. ``paths``, ``refused_paths`` and ``missing_paths`` (404, 410): the most frequent ones, exact
    unless ``paths_exact`` is false.
    ``markdown``: requests for paths ending in .md, or with text/markdown in Accept where that is logged.
    ``verified``: requests from the ranges that the vendor publishes, ``outside``: from elsewhere, ``unchecked``: the
    rest; ``verified_served`` and ``verified_refused`` split the verified ones. ``shared_with``: other clients of the
    same list, which verifies the operator and not the product.
    """

    token: str
    label: str
    kind: Literal["agent", "crawler", "other"]
    requests: Count
    first: Timestamp
    last: Timestamp
    per_day: dict[str, Count]
    weeks: tuple[Week, ...] = ()
    status: dict[str, Count]
    served: Count
    refused: Count
    bytes: Count
    median_seconds: float | None = None
    paths: tuple[PathCount, ...] = ()
    refused_paths: tuple[PathCount, ...] = ()
    missing_paths: tuple[PathCount, ...] = ()
    paths_exact: bool = True
    robots_txt: Count = 0
    llms_txt: Count = 0
    markdown: Count = 0
    addresses: Addresses = "not fetched"
    verified: Count = 0
    verified_served: Count = 0
    verified_refused: Count = 0
    outside: Count = 0
    unchecked: Count = 0
    shared_with: tuple[str, ...] = ()

    @property
    def refused_share(self) -> float:
        """Refused requests of all, 0 to 1."""
        return self.refused / self.requests if self.requests else 0.0

    @property
    def served_share(self) -> float:
        """Answers 2xx and 3xx of all, 0 to 1; with robots.txt, which ``served`` leaves out."""
        return (self.status.get("2xx", 0) + self.status.get("3xx", 0)) / self.requests if self.requests else 0.0

    @property
    def verified_share(self) -> float | None:
        """Verified requests of those that could be checked, 0 to 1; None when none could."""
        checked = self.verified + self.outside
        return self.verified / checked if checked else None


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of over an hour without any line."""

    first: Timestamp
    last: Timestamp


class RangeList(msgspec.Struct, frozen=True, kw_only=True):
    """A list of ranges that visits were compared with: its address, and when it was fetched."""

    url: str
    fetched_at: Timestamp


class Visits(msgspec.Struct, frozen=True, kw_only=True):
    """What the access logs of one site say. Aggregates only.

    ``host``: key of the site, empty when none was named. ``log`` is the name of the first file, ``files`` how many were
    read. ``kind``: whether the log is written where requests arrive (edge), behind another server (origin), or unknown;
    ``kind_reason`` says why. ``first`` and ``last``: the period, empty when no line has a time. ``lines``: all lines;
    ``examined``: those that were parsed, ``unparsable``: those of them that could not be; ``agent_lines``: those that
    name a client of the registry. ``sampled``: the first version multiplied by it. ``verification``: why addresses
    were not checked, empty when they were. ``silent``: robots.txt tokens that send no requests. ``notes``: sentences.
    """

    version: Literal[1] = 1
    host: str
    read_at: Timestamp
    log: str
    files: Count
    formats: tuple[str, ...]
    kind: Kind
    kind_reason: str
    first: TimestampOrEmpty
    last: TimestampOrEmpty
    lines: Count
    examined: Count
    unparsable: Count
    agent_lines: Count
    sampled: Count = 1
    verification: str = ""
    ranges: tuple[RangeList, ...] = ()
    gaps: tuple[Gap, ...] = ()
    silent: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    visitors: tuple[Visitor, ...] = ()

    @property
    def period(self) -> str:
        """The days of the log, such as ``2026-11-08 to 2026-11-21``; empty when no line has a time."""
        first, last = self.first[:10], self.last[:10]
        return first if first == last else f"{first} to {last}"

    def visitor(self, token: str) -> Visitor | None:
        """Return the figures of the client called ``token``, case ignored; None when it did not come."""
        folded = token.casefold()
        return next((visitor for visitor in self.visitors if visitor.token.casefold() == folded), None)


def decode_visits(data: bytes) -> Visits:
    """Return the record in ``data``, every text cleaned. Raises RecordError with one sentence."""
    return decode(data, Visits, "visits record", 500)


class Comparison(msgspec.Struct, frozen=True):
    """What log and probe say together about one live-probed agent.

    ``probe``: ``served``, ``refused``, ``challenged`` or ``inconclusive``. ``gets_in``: whether the real agent gets in
    as far as the log shows; None when it does not. ``sentence`` says how it is known.
    """

    agent: Agent
    probe: str
    together: Agreement
    gets_in: bool | None
    sentence: str


def compare(record: Visits, card: ReportCard) -> tuple[Comparison, ...]:
    """Return what ``record`` and ``card`` say together, per live-probed agent; verdict and score stay the probe's."""
    return tuple(_together(record, card, agent, access) for agent, access in card.answers)


def with_log_evidence(card: ReportCard, record: Visits) -> ReportCard:
    """Return ``card`` with the evidence that the visits add; verdict and score stay the probe's.

    For each agent that was turned away, one line says what the log shows. The line on the limit of the test goes when
    the log answers it for all of them.
    """
    turned_away = [comparison for comparison in compare(record, card) if comparison.probe in AWAY]
    answered = [comparison for comparison in turned_away if comparison.gets_in is not None]
    if not answered:
        return card
    remaining = [
        comparison for comparison in card.findings if len(answered) < len(turned_away) or comparison.id != LIMIT
    ]
    added = [
        Finding("visits", severity="good" if comparison.gets_in else "warn", text=f"Access log: {comparison.sentence}")
        for comparison in answered
    ]
    return card.with_findings((*added, *remaining))


def headline(record: Visits, card: ReportCard) -> str:
    """Return what the log says against the probes, in whole sentences; empty where it does not."""
    return " ".join(
        _against(comparison, visitor)
        for comparison in compare(record, card)
        if comparison.together == CONTRADICTED and (visitor := record.visitor(comparison.agent.token)) is not None
    )


def _against(comparison: Comparison, visitor: Visitor) -> str:
    if comparison.gets_in is None:
        refused = percent(visitor.refused_share)
        return f"Your log: {refused} of the requests in {comparison.agent.label}'s name were refused."
    number, word = (visitor.verified_served, "served") if comparison.gets_in else (visitor.verified_refused, "refused")
    return f"Your log: {number:,} of {visitor.verified:,} requests of the real {comparison.agent.label} were {word}."


def _together(record: Visits, card: ReportCard, agent: Agent, access: AgentAccess) -> Comparison:
    probe, visitor, name = access.outcome, record.visitor(agent.token), agent.label
    origin = record.kind == "origin" or (record.kind == "unknown" and has_edge(card.edge))

    def said(together: Agreement, gets_in: bool | None, sentence: str) -> Comparison:
        return Comparison(agent, probe, together, gets_in, sentence)

    if visitor is None or not visitor.requests:
        if origin and probe != SERVED:
            return said(
                CANNOT_TELL,
                None,
                f"No visit of {name} is in the log, and a request that the edge refuses never reaches an origin's log: "
                "read the edge's log.",
            )
        return said(NO_VISITS, None, f"No visit of {name} is in the log ({record.period}).")
    if age(visitor.last, epoch_ms(card.scanned_at) / 1000) > LONG_BEFORE:
        day = visitor.last[:10]
        return said(CANNOT_TELL, None, f"The last visit of {name} ({day}) is over 30 days older than the scan.")
    if visitor.verified:
        return said(*_verified(record, visitor, probe, origin=origin))
    return said(*_unverified(record, visitor, probe, origin=origin))


def _verified(record: Visits, visitor: Visitor, probe: str, *, origin: bool) -> tuple[Agreement, bool | None, str]:
    """Judge visits whose address is known."""
    name, period = visitor.label, record.period
    counted = visitor.verified_served + visitor.verified_refused
    if not counted:
        return CANNOT_TELL, None, f"The verified visits of {name} ({period}) were neither served a page nor refused."
    who = f"{name} came from the published ranges ({period})"
    if visitor.verified_served >= MOSTLY * counted:
        served = f"{visitor.verified_served:,} of {counted:,} verified visits were served"
        if probe == SERVED:
            return CONFIRMED, True, f"{who}: {served}, as the probe was."
        if probe == INCONCLUSIVE:
            return CANNOT_TELL, True, f"{who}: {served}; the probe had no clear answer."
        return (
            CONTRADICTED,
            True,
            f"{who}: {served}, while the probe was turned away. "
            f"The site checks addresses, and the real {name} gets in.",
        )
    if visitor.verified_refused >= MOSTLY * counted:
        refused = f"{visitor.verified_refused:,} of {counted:,} verified visits were refused"
        if probe == SERVED:
            return CONTRADICTED, False, f"{who}: {refused}, while the probe was served."
        return CONFIRMED if probe != INCONCLUSIVE else CANNOT_TELL, False, f"{who}: {refused}."
    behind = " behind the edge" if origin else ""
    return (
        CANNOT_TELL,
        None,
        f"{who}: {visitor.verified_served:,} of {counted:,} verified visits were served{behind}, the others refused.",
    )


def _unverified(record: Visits, visitor: Visitor, probe: str, *, origin: bool) -> tuple[Agreement, bool | None, str]:
    """Judge visits that carry the name from addresses that are not known to be the vendor's."""
    name = visitor.label
    who = f"{visitor.requests:,} requests under the name of {name} ({record.period})"
    shares = f"{percent(visitor.served_share)} served, {percent(visitor.refused_share)} refused"
    why = {
        "not fetched": "the vendor's ranges were not fetched (aui-tui visits --update-ranges)",
        "none published": "the vendor publishes no ranges",
        "off": record.verification.rstrip(".") or "addresses were not checked",
    }.get(visitor.addresses, "none came from the published ranges")
    why = f"{why[0].upper()}{why[1:]}."
    counted = visitor.served + visitor.refused
    if counted and visitor.served >= MOSTLY * counted and probe == SERVED and visitor.addresses != "checked":
        return CONFIRMED, True, f"{who}: {shares}, and the probe was served. {why}"
    if counted and visitor.refused >= MOSTLY * counted and probe in AWAY and not origin:
        return CONFIRMED, None, f"{who}: {shares}, and the probe was turned away. {why}"
    if counted and visitor.refused >= MOSTLY * counted and probe == SERVED:
        return CONTRADICTED, None, f"{who}: {shares}, while the probe was served. {why}"
    return CANNOT_TELL, None, f"{who}: {shares}. {why}"


class VisitRow(msgspec.Struct, frozen=True):
    """One row of a table of visits: a client; ``visitor``: its figures, None without a visit.

    ``probe``: what the probe got, in one word (``in``, ``refused``, ``challenged``, ``unclear``, ``not asked``).
    ``together``: the word for log and probe, ``crawler`` or ``other client`` for what is never probed. ``agrees``:
    False where they disagree, True where they agree, else None; ``sentence`` says how that is known.
    """

    token: str
    label: str
    kind: str
    visitor: Visitor | None
    probe: str = NOT_ASKED
    together: str = ""
    agrees: bool | None = None
    sentence: str = ""

    @property
    def requests(self) -> int:
        """The requests of the client."""
        return self.visitor.requests if self.visitor is not None else 0


def visit_rows(record: Visits, card: ReportCard | None = None) -> tuple[VisitRow, ...]:
    """Return the rows of a table: disagreements first, then the live-probed agents, other agents, crawlers, others.

    The four live-probed agents are always there, with or without visits.
    """
    comparison_of = {visitor.agent.token: visitor for visitor in compare(record, card)} if card is not None else {}
    rows = [
        _row(visitor.token, visitor.label, visitor.kind, visitor, comparison_of.get(visitor.token))
        for visitor in record.visitors
    ]
    tokens = {row.token for row in rows}
    live = registry().live
    rows += [
        _row(visitor.token, visitor.label, "agent", None, comparison_of.get(visitor.token))
        for visitor in live
        if visitor.token not in tokens
    ]
    order = {"agent": 1, "crawler": 2, "other": 3} | {agent.token: 0 for agent in live}

    def place(row: VisitRow) -> tuple[bool, int, int, str]:
        return row.agrees is not False, order.get(row.token, order[row.kind]), -row.requests, row.label

    return tuple(sorted(rows, key=place))


def _row(token: str, label: str, kind: str, visitor: Visitor | None, comparison: Comparison | None) -> VisitRow:
    if comparison is None:
        word = {"crawler": "crawler", "other": "other client"}.get(kind, "" if visitor else NO_VISITS)
        return VisitRow(token, label, kind, visitor, together=word)
    word = comparison.together
    if word == CONTRADICTED:
        word = {True: "really let in", False: "really turned away", None: "refused in the log"}[comparison.gets_in]
    agrees = {CONFIRMED: True, CONTRADICTED: False}.get(comparison.together)
    return VisitRow(token, label, kind, visitor, OF_OUTCOME[comparison.probe], word, agrees, comparison.sentence)


HEADER: Final = (
    "Agent",
    "Requests",
    "Served",
    "Refused",
    "Address ok",
    "Median",
    "robots.txt",
    "Markdown",
    "The probe",
    "Together",
)
TREND_HEADER: Final = ("Agent", "Week of", "Requests", "Refused", "New paths not found")


def trend(record: Visits) -> Iterator[tuple[str, Week]]:
    """Yield the weeks of each client with its label: clients as in the record, weeks in order."""
    for visitor in record.visitors:
        for week in visitor.weeks:
            yield visitor.label, week


def trend_cells(label: str, week: Week) -> tuple[str, ...]:
    """Return the cells of a week under TREND_HEADER."""
    further = week.newly_missing - len(week.missing_paths)
    paths = ", ".join((*week.missing_paths, *([f"{further:,} more"] if further > 0 else ())))
    return label, week.monday, f"{week.requests:,}", percent(week.refused / week.requests), paths


ADDRESS_NOTE: Final = (
    "Address ok: the share of requests from the ranges that the vendor publishes. Other addresses may be forged, or "
    "users' own machines."
)


def percent(share: float | None) -> str:
    """Return a share as ``99.8 %``; a dash for None. Only all is 100 %, only none is 0 %."""
    if share is None:
        return "–"
    shown = f"{100 * share:.1f}"
    if shown == "100.0" and share < 1:
        shown = "99.9"
    elif shown == "0.0" and share > 0:
        shown = "0.1"
    return f"{shown.removesuffix('.0')} %"


def seconds(value: float | None) -> str:
    """Return a time as ``0.21 s``; a dash for None."""
    return "–" if value is None else f"{value:.2f} s" if value >= 0.01 or not value else f"{value:.4f} s"


def cells(row: VisitRow) -> tuple[str, ...]:
    """Return the cells of a row under HEADER."""
    visitor = row.visitor
    if visitor is None or not visitor.requests:
        return (row.label, *("–",) * 7, row.probe, row.together)
    not_checked = "not checked" if visitor.addresses == "off" else visitor.addresses
    return (
        row.label,
        f"{visitor.requests:,}",
        percent(visitor.served_share),
        percent(visitor.refused_share),
        percent(visitor.verified_share) if visitor.addresses == "checked" else not_checked,
        seconds(visitor.median_seconds),
        f"{visitor.robots_txt:,}",
        f"{visitor.markdown:,}",
        row.probe,
        row.together,
    )


def heading(record: Visits) -> Iterator[str]:
    """Yield the sentences that stand above the figures: period, files, lines, and what the log is."""
    further = f" and {record.files - 1:,} more" if record.files > 1 else ""
    period = f"{record.period} (UTC), " if record.period else ""
    yield f"{period}{record.log}{further}, {', '.join(record.formats) or 'no lines'}."
    unclear = f", {record.unparsable:,} not understood" if record.unparsable else ""
    clients = f"{record.agent_lines:,} of them by known clients"
    yield f"{count(record.lines, 'line')}, {clients}; {record.examined:,} examined{unclear}."
    yield f"Kind of log: {record.kind}{f' ({record.kind_reason})' if record.kind_reason else ''}."
    if record.sampled > 1:
        yield f"Sampled: one of {record.sampled:,} requests was logged, and every count is multiplied by that."


def remarks(record: Visits) -> Iterator[str]:
    """Yield the sentences that stand below the figures."""
    if record.verification:
        yield f"Addresses were not checked. {record.verification}"
    elif record.ranges:
        oldest = min(range_list.fetched_at for range_list in record.ranges)
        old = ", over 30 days ago: --update-ranges fetches them again" if _is_old(oldest, record.read_at) else ""
        yield (
            f"{ADDRESS_NOTE} The ranges were fetched on {oldest[:10]}{old}; visits before that may have come from "
            "earlier ones."
        )
    yield from _about_clients(record)
    for gap in record.gaps[:5]:
        yield f"No line from {gap.first[:16].replace('T', ' ')} to {gap.last[:16].replace('T', ' ')} UTC."
    if len(record.gaps) > 5:
        yield f"{len(record.gaps) - 5:,} more pauses of over an hour."
    if record.silent:
        yield f"{', '.join(record.silent)}: names for robots.txt alone, which send no requests."
    yield from record.notes


def _is_old(fetched_at: str, read_at: str) -> bool:
    return age(fetched_at, epoch_ms(read_at) / 1000) > RANGES_OLD


def _about_clients(record: Visits) -> Iterator[str]:
    """Yield what limits the figures of single clients."""
    missing = [visitor.label for visitor in record.visitors if visitor.addresses == "not fetched"]
    if missing and not record.verification:
        yield f"Ranges not fetched: {', '.join(missing)}. aui-tui visits --update-ranges fetches them."
    for visitor in record.visitors:
        if visitor.shared_with and visitor.verified:
            yield f"{visitor.label}: its list serves {', '.join(visitor.shared_with)} too, so it verifies the operator."
    strangers = [f"{visitor.label} {visitor.outside:,}" for visitor in record.visitors if visitor.outside]
    if strangers:
        yield f"Requests from other addresses than the published ones: {', '.join(strangers)}."
    for visitor in record.visitors:
        if visitor.missing_paths:
            listed = ", ".join(f"{path.path} ({path.requests:,})" for path in visitor.missing_paths[:3])
            yield f"{visitor.label} did not find: {listed}."
    approximate = [visitor.label for visitor in record.visitors if not visitor.paths_exact]
    if approximate:
        yield f"Paths of {', '.join(approximate)}: too many to count each, so rare ones are missing."

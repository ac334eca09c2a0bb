"""What changed between two report cards of a host, field by field."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import UNSET

from aui_tui.checks import BY_FIX
from aui_tui.model import labels, points
from aui_tui.model.agents import said
from aui_tui.model.card import QUOTE, AgentAccess, Evidence, ReportCard
from aui_tui.model.codec import slots_of
from aui_tui.model.methods import METHODS, grade_of
from aui_tui.model.observations import INCONCLUSIVE, SERVED
from aui_tui.model.registry import registry
from aui_tui.model.vocabulary import POLICY_RANK, VERDICT_RANK

FINDINGS: Final = ("critical", "warn")
"""Evidence kinds that are findings; good lines are not."""

FACTS: Final = (
    ("live_served", "Agents served", 1, "wba"),
    ("agents_disallowed", "Agents disallowed by robots.txt", -1, "robots"),
    ("agents_partial", "Agents with path rules", -1, "robots"),
    ("wildcard_block", "Wildcard block in robots.txt", -1, "robots"),
    ("robots_status", "Status of robots.txt", 0, "robots"),
    ("robots_ua_rules", "User agents that robots.txt names", 0, ""),
    ("content_signal", "Content-Signal line", 1, "signal"),
    ("noscript_shell", "Empty without scripts", -1, "ssr"),
    ("semantic.main", "main landmarks", 1, "landmarks"),
    ("semantic.nav", "nav landmarks", 1, "landmarks"),
    ("semantic.aria", "ARIA labels", 1, "landmarks"),
    ("semantic.forms", "Forms", 0, "landmarks"),
    ("jsonld", "JSON-LD blocks", 1, "jsonld"),
    ("crawlers_blocked", "Crawlers blocked (not scored)", 0, ""),
    ("human_status", "Status for a browser", 0, ""),
    ("human_challenged", "Challenge for a browser", -1, ""),
    ("human_title", "Page title", 0, ""),
    ("edge", "Edge", 0, ""),
    ("category", "Category", 0, ""),
    ("name", "Name", 0, ""),
    ("vantage", "Vantage", 0, ""),
)
"""Plain fields: path, label, which way is better (1 more or true, -1 less or false, 0 neither), component."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One field that differs.

    ``field``: path in the record (``matrix.claude``). ``before``, ``after``: the values in words. ``direction``: 1
    better for agents, -1 worse, 0 neither. ``points`` moved in the pillar called ``pillar``, 0 when none or unknown.
    """

    field: str
    label: str
    before: str
    after: str
    direction: int = 0
    points: int = 0
    pillar: str = ""

    @property
    def shown(self) -> tuple[str, str]:
        """Both values as people read them; ``before`` and ``after`` of verdicts and policies are the record's words."""
        if self.field.startswith("matrix."):
            return said(self.before), said(self.after)
        if self.field.startswith(("ua_policy.", "crawler_policy.")):
            return labels.policy(self.before), labels.policy(self.after)
        return self.before, self.after

    def words(self) -> str:
        """Return the change as one line, such as ``Claude: refused -> in, +6 Access``."""
        moved = f", {self.points:+d} {self.pillar}" if self.points else ""
        return f"{self.label}: {' -> '.join(self.shown)}{moved}"


class Diff(msgspec.Struct, frozen=True, kw_only=True):
    """The difference of two cards; pairs are (before, after).

    ``changes`` are in the order of the record. ``new`` and ``resolved`` are the findings (critical, warn) that only
    the later or only the earlier card has. ``note`` is one sentence on what limits the comparison, or empty.
    """

    host: tuple[str, str]
    scanned_at: tuple[str, str]
    method: tuple[str, str]
    score: tuple[int, int]
    grade: tuple[str, str]
    stance: tuple[str, str]
    changes: tuple[Change, ...]
    new: tuple[Evidence, ...]
    resolved: tuple[Evidence, ...]
    note: str = ""

    @property
    def same(self) -> bool:
        """True when nothing that a card measures has changed."""
        pairs = (self.score, self.grade, self.stance, self.method)
        return not (self.changes or self.new or self.resolved) and all(old == now for old, now in pairs)

    def headline(self) -> str:
        """Return score, grade and stance as one line, such as ``score 59 -> 67, grade F -> D, Walled -> Open``."""
        score = "score {} -> {}".format(*self.score) if self.score[0] != self.score[1] else f"score {self.score[1]}"
        grade = "grade {} -> {}".format(*self.grade) if self.grade[0] != self.grade[1] else f"grade {self.grade[1]}"
        stance = "{} -> {}".format(*self.stance) if self.stance[0] != self.stance[1] else self.stance[1]
        return f"{score}, {grade}, {stance}"


def diff(before: ReportCard, after: ReportCard) -> Diff:
    """Return what changed from ``before`` to ``after``, two cards of one site or of two."""
    changes = [
        *_pillars(before, after),
        *_matrix(before, after),
        *_access(before, after),
        *_policies("ua_policy", before, after),
        *_policies("crawler_policy", before, after),
        *_facts(before, after),
        *_files(before, after),
    ]
    scores = points.comparable(before, after)
    partial = scores != (before.score, after.score)
    grades = (grade_of(scores[0]), grade_of(scores[1])) if partial else (before.grade, after.grade)
    return Diff(
        host=(before.host, after.host),
        scanned_at=(before.scanned_at, after.scanned_at),
        method=(before.method, after.method),
        score=scores,
        grade=grades,
        stance=(before.stance, after.stance),
        changes=tuple(_credited(changes, before, after)),
        new=_findings_only_in(after, before),
        resolved=_findings_only_in(before, after),
        note=_note(before, after),
    )


def _note(before: ReportCard, after: ReportCard) -> str:
    if before.method != after.method:
        return f"The cards are graded under different methods ({before.method}, {after.method}): scores do not compare."
    if before.host != after.host:
        return f"The cards are of different hosts: {before.host} and {after.host}."
    return points.uneven(before, after)


def _direction(rank: Mapping[str, int], before: str, after: str) -> int:
    if before not in rank or after not in rank:
        return 0
    return (rank[after] > rank[before]) - (rank[after] < rank[before])


def _pairs(field: str, before: ReportCard, after: ReportCard) -> Iterator[tuple[str, Any, Any]]:
    """Yield key, old and new value of a map: by key when both have the same keys, else by position."""
    old, now = getattr(before, field), getattr(after, field)
    if old.keys() == now.keys():
        yield from ((key, old[key], now[key]) for key in now)
    else:
        yield from ((key, was, value) for was, (key, value) in zip(old.values(), now.items(), strict=False))


def _pillars(before: ReportCard, after: ReportCard) -> Iterator[Change]:
    if before.method != after.method:
        return
    for key, now in after.pillars.items():
        old = before.pillars.get(key)
        if old != now:
            yield Change(
                field=f"pillars.{key}",
                label=labels.pillar(after.method, key),
                before=_word(old),
                after=_word(now),
                direction=(now > old) - (now < old) if now is not None and old is not None else 0,
            )


def _matrix(before: ReportCard, after: ReportCard) -> Iterator[Change]:
    for key, old, now in _pairs("matrix", before, after):
        if old != now:
            way = _direction(VERDICT_RANK, old, now)
            yield Change(field=f"matrix.{key}", label=labels.surface(key), before=old, after=now, direction=way)


def _access(before: ReportCard, after: ReportCard) -> Iterator[Change]:
    for key, old, now in _pairs("agent_access", before, after):
        was, is_now = labels.answer(old), labels.answer(now)
        if was != is_now:
            way = 0 if INCONCLUSIVE in (old.outcome, now.outcome) else _served(now) - _served(old)
            yield Change(field=f"agent_access.{key}", label=f"Answer to {key}", before=was, after=is_now, direction=way)


def _served(access: AgentAccess) -> bool:
    return access.outcome == SERVED


def _policies(field: str, before: ReportCard, after: ReportCard) -> Iterator[Change]:
    suffix = " in robots.txt" if field == "ua_policy" else " in robots.txt (crawler, not scored)"
    for key, old, now in _pairs(field, before, after):
        if old != now:
            way = _direction(POLICY_RANK, old, now) if field == "ua_policy" else 0
            yield Change(field=f"{field}.{key}", label=key + suffix, before=old, after=now, direction=way)


def _facts(before: ReportCard, after: ReportCard) -> Iterator[Change]:
    for field, label, better, _ in FACTS:
        old, now = _at(before, field), _at(after, field)
        if old != now:
            way = better * ((now > old) - (now < old)) if better else 0
            yield Change(field=field, label=label, before=_word(old), after=_word(now), direction=way)


def _files(before: ReportCard, after: ReportCard) -> Iterator[Change]:
    for name in sorted({*before.files, *after.files}):
        if (name in before.files) != (name in after.files):
            words = ("missing", "found") if name in after.files else ("found", "missing")
            way = 1 if name in after.files else -1
            yield Change(field="files", label=name, before=words[0], after=words[1], direction=way)


def _at(card: ReportCard, field: str) -> Any:
    value: Any = card
    for name in field.split("."):
        value = getattr(value, name)
    return value


def _word(value: object) -> str:
    if value is None:
        return "not scored"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value) if value != "" else "none"


def _findings_only_in(card: ReportCard, other: ReportCard) -> tuple[Evidence, ...]:
    left = Counter((item.t, item.text) for item in other.evidence)
    found = []
    for finding in card.findings:
        known = finding.severity, finding.text
        if left[known]:
            left[known] -= 1
        elif finding.severity in FINDINGS and finding.id != QUOTE:
            found.append(Evidence(*known))
    return tuple(found)


def _credited(changes: list[Change], before: ReportCard, after: ReportCard) -> Iterable[Change]:
    """Give each component's points to the change that moved them, or to a line of their own."""
    old, now = _earned(before), _earned(after)
    if before.method != after.method:
        return changes
    for component in now:
        moved = now[component] - old.get(component, now[component])
        if moved:
            pillar = METHODS[after.method].pillar(BY_FIX[component].pillar[after.method]).label
            _credit(changes, component, moved, pillar, after)
    return changes


def _earned(card: ReportCard) -> dict[str, int]:
    """Return the points per measured component that a check fills; none of a foreign card."""
    entries = () if card.ledger is UNSET else card.ledger.entries
    return {entry.component: entry.earned for entry in entries if entry.measured and entry.component in BY_FIX}


def _credit(changes: list[Change], component: str, moved: int, pillar: str, after: ReportCard) -> None:
    causes = _causes(changes, component, moved, after)
    if not causes:
        check, now = BY_FIX[component], _earned(after)
        full = check.points[after.method]
        changes.append(
            Change(
                field=f"recommendations.{check.fix}",
                label=check.label,
                before=f"{now[component] - moved} of {full} points",
                after=f"{now[component]} of {full} points",
                direction=1 if moved > 0 else -1,
                points=moved,
                pillar=pillar,
            )
        )
        return
    for position in causes:
        changes[position] = msgspec.structs.replace(changes[position], points=moved // len(causes), pillar=pillar)


def _causes(changes: list[Change], component: str, moved: int, after: ReportCard) -> list[int]:
    """Return the positions of the changes that share the points evenly; one, when they do not divide."""
    if component == "wba":
        surfaces = _answered(changes, after)
        if surfaces and moved % len(surfaces) == 0:
            return surfaces
    fields = {field for field, _, _, counts in FACTS if counts == component}
    sign = 1 if moved > 0 else -1
    hits = [i for i, c in enumerate(changes) if c.field in fields or (component == "llms" and c.label == "llms.txt")]
    fitting = [i for i in hits if changes[i].direction == sign]
    return (fitting or hits)[:1]


def _answered(changes: list[Change], after: ReportCard) -> list[int]:
    """Return the positions of the surfaces whose probe got another answer; none unless they cover all such probes."""
    keys = dict(zip(slots_of("agent_access"), after.agent_access, strict=False))
    answers = {change.field for change in changes if change.field.startswith("agent_access.") and change.direction}
    surfaces = [
        position
        for position, change in enumerate(changes)
        if change.field.startswith("matrix.") and f"agent_access.{keys.get(_live(change, after))}" in answers
    ]
    return surfaces if len(surfaces) == len(answers) else []


def _live(change: Change, after: ReportCard) -> str:
    """Return the slot of the live probe behind a matrix entry, by position."""
    position = list(after.matrix).index(change.field.removeprefix("matrix."))
    surfaces = registry().surfaces
    return surfaces[position].live if position < len(surfaces) else ""

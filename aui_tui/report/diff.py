"""Changes between two report cards, field by field, as text, as JSON, and as a comment on a pull request."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Any, Final

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from aui_tui.checks import BY_FIX
from aui_tui.checks.evidence import level
from aui_tui.model import labels, points
from aui_tui.model.agents import Outcome, outcome_of_each
from aui_tui.model.card import Evidence, Finding, ReportCard
from aui_tui.model.fates import RANK
from aui_tui.model.methods import METHODS, grade_of
from aui_tui.model.report import HostReport
from aui_tui.model.vocabulary import INCONCLUSIVE, NO_GRADE, POLICY_RANK, SERVED
from aui_tui.report.markdown import escape
from aui_tui.report.sections import Item, Section

FINDINGS: Final = ("critical", "warn")
"""Evidence kinds that are findings; good lines are not."""

FACTS: Final = (
    ("live_served", "Agents served", 1, "wba"),
    ("agents_disallowed", "Agents disallowed by robots.txt", -1, "robots"),
    ("agents_partial", "Agents with path rules", -1, "robots"),
    ("wildcard_block", "Wildcard block in robots.txt", -1, "robots"),
    ("robots_status", "Status of robots.txt", 0, "robots"),
    ("robots_ua_rules", "User agents that robots.txt names", 0, "robots"),
    ("content_signal", "Content-Signal line", 1, "signal"),
    ("noscript_shell", "Empty without scripts", -1, "ssr"),
    ("semantic.main", "main landmarks", 1, "landmarks"),
    ("semantic.nav", "nav landmarks", 1, "landmarks"),
    ("semantic.aria", "ARIA labels", 1, "landmarks"),
    ("semantic.forms", "Forms", 0, "landmarks"),
    ("jsonld", "JSON-LD blocks", 1, "jsonld"),
    ("crawlers_blocked", "Crawlers blocked (not scored)", 0, "robots"),
    ("human_status", "Status for a browser", 0, ""),
    ("human_challenged", "Challenge for a browser", -1, ""),
    ("human_title", "Page title", 0, "ssr"),
    ("edge", "Served by", 0, ""),
    ("category", "Category", 0, ""),
    ("name", "Name", 0, "ssr"),
    ("vantage", "Vantage", 0, ""),
)
"""Plain fields: path, label, which way is better (1 more or true, -1 less or false, 0 neither), component."""


CHANGED: Final = "Changed"
"""Title of the changes that are neither better nor worse."""
ANSWERS: Final = ("agent_access", "robots_status", "human_status")
"""Fields that every scan measures."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One field that differs.

    ``field``: path in the record (``matrix.claude``). ``before``, ``after``: the values in the words of the
    record; ``shown``: the same in the words of a card.
    ``direction``: 1 better for agents, -1 worse, 0 neither. ``points`` moved in the pillar called ``pillar``, 0 when
    none or unknown. ``component``: what a change of this field may have moved points of, empty for nothing.
    """

    field: str
    label: str
    before: str
    after: str
    direction: int = 0
    points: int = 0
    pillar: str = ""
    component: str = ""
    shown: tuple[str, str] | None = None

    @property
    def sides(self) -> tuple[str, str]:
        """The values before and after in words."""
        return self.shown or (self.before, self.after)

    def words(self) -> str:
        """Return the change as one line, such as ``Claude: refused → in, +6 Access``."""
        moved = f", {self.points:+d} {self.pillar}" if self.points else ""
        return f"{self.label}: {' → '.join(self.sides)}{moved}"


class Diff(msgspec.Struct, frozen=True, kw_only=True):
    """The difference of two cards, with the scores and grades that can be compared.

    ``changes`` are in the order of the record. ``new`` and ``resolved`` are the findings (critical, warn) that only
    the later or only the earlier card has. ``note`` says in sentences what limits the comparison, or is empty.
    """

    before: ReportCard
    after: ReportCard
    changes: tuple[Change, ...]
    new: tuple[Evidence, ...]
    resolved: tuple[Evidence, ...]
    note: str = ""

    @property
    def same(self) -> bool:
        """True when nothing that a card measures has changed."""
        standing = [(card.method, labels.result(card)) for card in (self.before, self.after)]
        return not (self.changes or self.new or self.resolved) and standing[0] == standing[1]

    def headline(self) -> str:
        """Return score, grade and stance as one line, such as ``score 59 → 67, grade F → D, Walled → Open``."""
        sides = [labels.result(card) for card in (self.before, self.after)]
        if self.before.unreachable or self.after.unreachable:
            return _moved(*sides)
        return ", ".join(map(_moved, *(side.split(", ") for side in sides)))

    def title(self) -> str:
        """Return the host, or both hosts."""
        return _moved(self.before.host, self.after.host)

    def sections(self, *, times: bool = True) -> list[Section]:
        """Return where the sites stand, the changes by which way they go, then the findings.

        Parts with nothing to say are left out. ``times``: with those of the two scans.
        """

        def going(way: int) -> list[str]:
            return [change.words() for change in self.changes if change.direction == way]

        def told(findings: Iterable[Evidence]) -> list[str]:
            return [f"{item.t}: {item.text}" for item in findings]

        parts = (
            ("Better", "good", going(1)),
            ("Worse", "critical", going(-1)),
            (CHANGED, "", going(0)),
            ("Resolved findings", "good", told(self.resolved)),
            ("New findings", "critical", told(self.new)),
        )
        moments = (labels.moment(card.scanned_at) for card in (self.before, self.after))
        remarks = (" → ".join(moments) if times else "", self.note, "Nothing has changed." if self.same else "")
        first = tuple(Item(text=text) for text in remarks if text)
        return [
            Section("diff", self.title(), self.headline(), first),
            *(
                Section("changes", title, items=tuple(Item(text=line, word=word) for line in lines))
                for title, word, lines in parts
                if lines
            ),
        ]


def _moved(old: str, now: str) -> str:
    """Return two texts as one: the same once, else without the word that both begin with."""
    return now if old == now else f"{old} → {now.removeprefix(old.partition(' ')[0] + ' ')}"


def diff(before: ReportCard, after: ReportCard) -> Diff:
    """Return what changed from ``before`` to ``after``, two cards of one site or of two.

    What one of the two scans did not measure is not compared.
    """
    unknown = points.unknown(before) | points.unknown(after)
    changes = [
        change
        for change in _fields(before, after, unknown)
        if change.sides[0] != change.sides[1]
        and (change.component not in unknown or change.field.partition(".")[0] in ANSWERS)
    ]
    note = points.uneven(before, after)
    if before.method != after.method:
        methods = f"{before.method}, {after.method}"
        note = f"The cards are graded under different methods ({methods}): scores do not compare."
    else:
        _credit(changes, before, after)
        note = note or _partly(before, after)
        if before.host != after.host:
            note = (
                f"The cards are of different hosts: {before.host} and {after.host}. {_partly(before, after)}".rstrip()
            )
    new, resolved = _findings_only_in(after, before), _findings_only_in(before, after)
    was, score = points.comparable(before, after)
    if (was, score) != (before.score, after.score):
        before = replace(before, score=was, grade=grade_of(was))
        after = replace(after, score=score, grade=grade_of(score))
    return Diff(before=before, after=after, changes=tuple(changes), new=new, resolved=resolved, note=note)


def _partly(before: ReportCard, after: ReportCard) -> str:
    """Return one sentence where one scan could measure fewer points; empty where both measured as many, or nothing."""
    measured = [points.totals(card)[1] for card in (before, after)]
    if before.unreachable or after.unreachable or measured[0] == measured[1] or points.uneven(before, after):
        return ""
    return f"The scores rest on {measured[0]} and on {measured[1]} measured points."


def of_last_scans(report: HostReport) -> tuple[Diff, str]:
    """Return what the last scan changed, and what to do where there is none to compare it with; else nothing."""
    host = report.card.host
    once = f"{host} was scanned once: scan it again (aui-tui scan {host}), then ask for changes."
    return diff(report.previous or report.card, report.card), "" if report.previous else once


def _ranked(rank: Mapping[str, int], before: str, after: str) -> int:
    comparable = before in rank and after in rank
    return (rank[after] > rank[before]) - (rank[after] < rank[before]) if comparable else 0


def _pairs(old: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield key, old and new value of a map: by key when both have the same keys, else by position."""
    was = [old[key] for key in now] if old.keys() == now.keys() else old.values()
    yield from ((key, earlier, later) for earlier, (key, later) in zip(was, now.items(), strict=False))


def _fields(before: ReportCard, after: ReportCard, unknown: frozenset[str]) -> Iterator[Change]:
    """Yield every field that both cards have, in the order of the record, changed or not.

    ``unknown``: components that were not measured in one of the scans.
    """
    unfair = {check.pillar[after.method] for fix, check in BY_FIX.items() if fix in unknown}
    for key, now in after.pillars.items() if before.method == after.method else ():
        if key not in unfair:
            yield _plain(f"pillars.{key}", labels.pillar(after.method, key), 1, before.pillars.get(key), now)
    for key, (old, was), (now, is_now) in _pairs(_assistants(before), _assistants(after)):
        yield Change(
            field=f"matrix.{key}",
            label=labels.name(key),
            before=old,
            after=now,
            direction=_ranked(RANK, was.verdict, is_now.verdict),
            component="wba" if is_now.probe else "",
            shown=(was.brief, is_now.brief),
        )
    for key, old, now in _pairs(before.agent_access, after.agent_access):
        unclear = INCONCLUSIVE in (old.outcome, now.outcome) or before.unreachable or after.unreachable
        yield Change(
            field=f"agent_access.{key}",
            label=f"Answer to {key}",
            before=labels.answer(old),
            after=labels.answer(now),
            direction=0 if unclear else (now.outcome == SERVED) - (old.outcome == SERVED),
        )
    for field, rank, suffix in (
        ("ua_policy", POLICY_RANK, " in robots.txt"),
        ("crawler_policy", {}, " in robots.txt (crawler, not scored)"),
    ):
        for key, old, now in () if "robots" in unknown else _pairs(getattr(before, field), getattr(after, field)):
            way, shown = _ranked(rank, old, now), (labels.policy(old), labels.policy(now))
            yield Change(field=f"{field}.{key}", label=key + suffix, before=old, after=now, direction=way, shown=shown)
    for field, label, better, component in FACTS:
        value = attrgetter(field)
        yield _plain(field, label, better, value(before), value(after), component)
    for name in sorted({*before.files, *after.files}):
        was, is_now = ("found" if name in card.files else "missing" for card in (before, after))
        yield Change(
            field="files",
            label=name,
            before=was,
            after=is_now,
            direction=1 if is_now == "found" else -1,
            component="llms" if name == "llms.txt" else "front-door",
        )


def _assistants(card: ReportCard) -> dict[str, tuple[str, Outcome]]:
    """Return the verdict of the record and the outcome of each assistant."""
    pairs = zip(card.matrix.items(), outcome_of_each(card), strict=False)
    return {key: (verdict, outcome) for (key, verdict), outcome in pairs}


def _plain(field: str, label: str, better: int, old: Any, now: Any, component: str = "") -> Change:
    """Return a change of a value; ``better``: which way is better, as in FACTS."""
    way = better * ((now > old) - (now < old)) if better and None not in (old, now) else 0
    return Change(field=field, label=label, before=_word(old), after=_word(now), direction=way, component=component)


def _word(value: object) -> str:
    if value is None:
        return "not scored"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value) if value != "" else "none"


def _findings_only_in(card: ReportCard, other_card: ReportCard) -> tuple[Evidence, ...]:
    """Return the findings of ``card`` that the scan of ``other_card`` would have found, and did not."""
    unknown = points.unknown(other_card) - (points.unknown(card) & {""})
    known = card.ledger is not UNSET and other_card.ledger is not UNSET
    left = Counter(_identity(finding, other_card.host, known) for finding in other_card.findings)
    only_here = []
    for finding in card.findings:
        identity = _identity(finding, card.host, known)
        if left[identity]:
            left[identity] -= 1
        elif level(finding) in FINDINGS and finding.fix not in unknown:
            only_here.append(Evidence(finding.severity, finding.text))
    return tuple(only_here)


_LINES: Final = re.compile(r"\blines? \d+(?:(?:, | and )\d+)*")


def _identity(finding: Finding, host: str, known: bool) -> tuple[str, frozenset[tuple[str, str]]]:
    """Return what makes a finding the same in two scans: its facts, on whichever host and line they were found.

    A foreign finding has only its text, by which both are told apart then; ``known``: both cards have facts.
    """
    by_facts = known and finding.id
    facts = finding.facts if by_facts else {"text": finding.text}
    places = ((name, _LINES.sub("line", fact.replace(host, ""))) for name, fact in facts.items())
    return finding.id if by_facts else finding.severity, frozenset(places)


def _credit(changes: list[Change], before: ReportCard, after: ReportCard) -> None:
    """Give each component's points to the change that moved them, or to a line of their own."""
    old, now = _earned(before), _earned(after)
    for component, earned in now.items():
        moved, check = earned - old.get(component, earned), BY_FIX[component]
        if not moved:
            continue
        pillar = METHODS[after.method].pillar(check.pillar[after.method]).label
        causes = _causes(changes, component, moved)
        for place in causes:
            changes[place] = replace(changes[place], points=moved // len(causes), pillar=pillar)
        if not causes:
            full = check.points[after.method]
            changes.append(
                Change(
                    field=f"recommendations.{check.fix}",
                    label=check.label,
                    before=f"{earned - moved} of {full} points",
                    after=f"{earned} of {full} points",
                    direction=1 if moved > 0 else -1,
                    points=moved,
                    pillar=pillar,
                )
            )


def _earned(card: ReportCard) -> dict[str, int]:
    """Return the points per measured component that a check fills; none of a foreign card."""
    entries = () if card.ledger is UNSET else card.ledger.entries
    return {entry.component: entry.earned for entry in entries if entry.measured and entry.component in BY_FIX}


def _causes(changes: list[Change], component: str, moved: int) -> list[int]:
    """Return the places of the changes that share the points of ``component`` evenly.

    Those are the assistants whose answers changed, where the points divide among them and no other answer changed; else
    one plain field.
    """
    places = [place for place, change in enumerate(changes) if change.component == component]
    answers = sum(change.field.startswith("agent_access.") and change.direction != 0 for change in changes)
    shared = [place for place in places if changes[place].field.startswith("matrix.") and changes[place].direction]
    if shared and len(shared) == answers and moved % len(shared) == 0:
        return shared
    plain = [place for place in places if not changes[place].field.startswith("matrix.")]
    return sorted(plain, key=lambda place: changes[place].direction * moved <= 0)[:1]


def markdown_lines(difference: Diff, *, deterministic: bool = False) -> Iterator[str]:
    """Yield a comment for a pull request; its first line is a mark by which a later run finds and replaces it."""
    yield "<!-- aui-tui diff -->"
    first, *parts = difference.sections(times=not deterministic)
    yield from (f"### Agent usability of {escape(first.title)}", "", f"**{escape(first.text)}**")
    for item in first.items:
        yield from ("", escape(item.text))
    for part in parts:
        folded = part.title == CHANGED
        yield from (
            "",
            f"<details><summary>{CHANGED}: {len(part.items)}</summary>" if folded else f"#### {part.title}",
            "",
        )
        yield from (f"- {escape(item.text)}" for item in part.items)
        yield from ("", "</details>") if folded else ()


def members(difference: Diff, *, deterministic: bool = False) -> dict[str, Any]:
    """Return the difference as the members of a JSON object."""
    names = ("host", "method", "score", "grade", "stance", *(() if deterministic else ("scanned_at",)))
    sides = {}
    for side, card in (("before", difference.before), ("after", difference.after)):
        sides[side] = {name: getattr(card, name) for name in names}
        if card.unreachable:
            sides[side] |= dict.fromkeys(("score", "grade", "stance"))
        elif card.grade == NO_GRADE:
            sides[side]["grade"] = None
    changes: list[dict[str, Any]] = msgspec.to_builtins(difference.changes)
    for change, shown in zip(difference.changes, changes, strict=True):
        del shown["component"], shown["shown"]
        shown |= {"direction": {1: "better", -1: "worse", 0: "neutral"}[change.direction], "text": change.words()}
    findings: dict[str, Any] = msgspec.to_builtins({"new": difference.new, "resolved": difference.resolved})
    return {**sides, "same": difference.same, "note": difference.note, "changes": changes, **findings}


FORMATS: Final[Mapping[str, Callable[..., Iterable[str]]]] = {
    "json": lambda difference, **how: [
        msgspec.json.format(msgspec.json.encode(members(difference, **how)), indent=2).decode()
    ],
    "markdown": markdown_lines,
}
"""How a difference is written, line by line; ``deterministic`` leaves out the times of the scans."""


def write(difference: Diff, form: str, *, deterministic: bool = False) -> Iterator[str]:
    """Yield ``difference`` in one of FORMATS, line by line."""
    return (line + "\n" for line in FORMATS[form](difference, deterministic=deterministic))

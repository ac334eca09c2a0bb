"""The summary columns of a card, what filters and orders read as small integers, and queries over them as SQL.

In conditions and orders every value is a bound parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple

import msgspec

from aui_tui.model.card import ReportCard, SiteSummary
from aui_tui.model.codec import names_of
from aui_tui.model.methods import METHODS
from aui_tui.model.observations import CHALLENGED, INCONCLUSIVE, REFUSED, SERVED, Observations
from aui_tui.model.query import ALL as ALL_OF
from aui_tui.model.query import CONTRADICTIONS, HAS, NEW, Query, Term
from aui_tui.model.registry import registry, surfaces
from aui_tui.model.vocabulary import CATEGORIES, FIXES, GRADES, STANCES, SURFACES_TOTAL, TURNED_AWAY, VERDICTS

BEST_VERDICT_FIRST: Final = ("allowed", "allowed-robots", "partial", "disallowed", "blocked", "walled")
"""The verdicts that say something; ``untested`` and an unknown word stand last in either direction."""
_TASK_PILLARS: Final = tuple({method.task_pillar.key for method in METHODS.values()})
OTHER: Final = 9
"""Code of a category that is not in the list (a foreign record)."""

CATEGORY: Final = MappingProxyType({word: code for code, word in enumerate(sorted(CATEGORIES))})
WORD: Final = MappingProxyType({code: word for word, code in CATEGORY.items()})
"""Codes in alphabetical order, so that ordering by code is ordering by word."""
CATEGORY_OF: Final = tuple(CATEGORY)
STANCE: Final = MappingProxyType({word: code for code, word in enumerate(STANCES)})
VERDICT: Final = MappingProxyType({word: code for code, word in enumerate(VERDICTS)})
GRADE: Final = MappingProxyType({word: code for code, word in enumerate(GRADES)})
METHOD: Final = MappingProxyType({word: code for code, word in enumerate(METHODS, start=1)})

VERDICT_WIDTH: Final = 3
VERDICT_UNKNOWN: Final = 7
HAS_AT: Final = VERDICT_WIDTH * SURFACES_TOTAL
FIX_AT: Final = HAS_AT + len(HAS)
CONTRADICTION_AT: Final = FIX_AT + len(FIXES)
GRADE_AT: Final = CONTRADICTION_AT + 1
METHOD_AT: Final = GRADE_AT + 3
SUMMARY_AT: Final = METHOD_AT + 2
TASKS_AT: Final = SUMMARY_AT + 1
DIRECTION_AT: Final = TASKS_AT + 1
"""One bit for each of CONTRADICTIONS; neither is set in a row that a program before them wrote."""


SHUT: Final = frozenset({REFUSED, CHALLENGED})


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """Answers to the terms ``has``, ``signal``, ``fix``, ``edge``, ``method`` and ``contradiction`` of one card.

    ``has``: members of ``query.HAS``; ``fixes``: members of ``vocabulary.FIXES``; ``edge``: the card's field.
    """

    has: frozenset[str]
    fixes: frozenset[str]
    edge: str
    method: str
    contradictions: frozenset[str]


def facts_of(card: ReportCard, observations: Observations | None = None) -> Facts:
    """Return the facts of ``card``; ``observations`` make ``contradictions`` exact where robots.txt names an agent."""
    holds = {
        "llms": "llms.txt" in card.files,
        "ai-plugin": "ai-plugin.json" in card.files,
        "jsonld": card.jsonld > 0,
        "main": card.semantic.main > 0,
        "nav": card.semantic.nav > 0,
        "forms": card.semantic.forms > 0,
        "signal": card.content_signal,
        "wildcard": card.wildcard_block,
        "shell": card.noscript_shell,
    }
    return Facts(
        has=frozenset(word for word, held in holds.items() if held),
        fixes=frozenset(item.k for item in card.recommendations),
        edge=card.edge,
        method=card.method,
        contradictions=contradictions(card, observations),
    )


def contradictions(card: ReportCard, observations: Observations | None = None) -> frozenset[str]:
    """Say how robots.txt and the edge disagree about a live-probed agent.

    ``out``: robots.txt leaves an agent every path and its probe was refused or challenged. ``in``: robots.txt shuts it
    out (own group, else ``*``; RFC 9309 2.2.1) and its probe was served.
    """
    policies, outcomes = _seen(observations) if observations is not None else _on_card(card)
    pairs = tuple(zip(policies, outcomes, strict=False))
    out = any(policy == "open" and outcome in SHUT for policy, outcome in pairs)
    let_in = any(policy == "blocked" and outcome == SERVED for policy, outcome in pairs)
    return frozenset(word for word, held in (("out", out), ("in", let_in)) if held)


def _seen(observations: Observations) -> tuple[list[str], list[str]]:
    live = registry().live
    wanted = {agent.token for agent in live}
    effective = {policy.token: policy.effective for policy in observations.robots.agents if policy.token in wanted}
    fallback = "unknown" if observations.robots.kind == "unknown" else "open"
    outcomes = {exchange.name: exchange.outcome for exchange in observations.live}
    return (
        [effective.get(agent.token, fallback) for agent in live],
        [outcomes.get(agent.key, INCONCLUSIVE) for agent in live],
    )


def _on_card(card: ReportCard) -> tuple[list[str], list[str]]:
    known = 200 <= card.robots_status <= 499
    words = list(card.ua_policy.values())[: len(names_of("agent_access"))]
    policies = ["unknown" if not known else _effective(word, card.wildcard_block) for word in words]
    return policies, [access.outcome for access in card.agent_access.values()]


def _effective(policy: str, wildcard_block: bool) -> str:
    if policy == "unlisted":
        return "blocked" if wildcard_block else "open"
    return policy


def has_tasks(summary: SiteSummary | ReportCard) -> bool:
    """Say whether tasks were run on the site: the pillar that they fill has points."""
    return not {None}.issuperset(map(summary.pillars.get, _TASK_PILLARS))


def verdicts(matrix: dict[str, str]) -> list[str]:
    """Return the verdicts of our surfaces in order; a matrix with other keys counts by position."""
    names = names_of("matrix")
    if tuple(matrix) == names:
        return list(matrix.values())
    values = [*matrix.values(), *("",) * len(names)]
    return [matrix.get(name, values[place]) for place, name in enumerate(names)]


def verdicts_in(bits: int) -> list[str]:
    """Return the verdicts of our surfaces that the summary ``bits`` hold; one of a later program is empty."""
    codes = (bits >> VERDICT_WIDTH * place & (1 << VERDICT_WIDTH) - 1 for place in range(len(names_of("matrix"))))
    return [VERDICTS[code] if code < len(VERDICTS) else "" for code in codes]


class Columns(msgspec.Struct, frozen=True, kw_only=True):
    """One card's summary columns. ``name``: case folded.

    ``bits`` packs, from bit 0: eight verdicts of three bits, the words of HAS, the fixes, the contradiction, the
    grade (three bits), the method (two bits), whether only a summary is known, whether tasks were run, and the
    directions of the contradiction.
    """

    name: str
    ranked: int
    category: int
    stance: int
    score: int
    bits: int
    edge: str


NOTHING: Final = Facts(has=frozenset(), fixes=frozenset(), edge="", method="", contradictions=frozenset())


def columns_of(card: ReportCard, observations: Observations | None = None) -> Columns:
    """Return the summary columns of ``card``."""
    facts = facts_of(card, observations)
    bits = _packed(card.matrix, card.grade, facts, has_tasks=has_tasks(card))
    return _columns(card, bits, facts.edge, ranked=not card.unreachable)


def columns_of_summary(summary: SiteSummary, method: str, *, ranked: bool) -> Columns:
    """Return the columns of a host of which only the summary and its ``method`` are known.

    Terms about a card find nothing there.
    """
    matrix = summary.matrix
    bits = _bits(tuple(matrix), tuple(matrix.values()), summary.grade, method, has_tasks=has_tasks(summary))
    return _columns(summary, bits | 1 << SUMMARY_AT, "", ranked=ranked)


def method_of(summary: SiteSummary) -> str:
    """Return the name of the method whose pillars a summary has, empty when it is not one of ours."""
    return _method_of(tuple(summary.pillars))


@lru_cache(maxsize=1024)
def _method_of(pillars: tuple[str, ...]) -> str:
    for method in METHODS.values():
        if {pillar.key for pillar in method.pillars} == set(pillars):
            return method.name
    return ""


@lru_cache(maxsize=65536)
def _bits(surfaces: tuple[str, ...], words: tuple[str, ...], grade: str, method: str, *, has_tasks: bool) -> int:
    """Return the packed column of a summary; in a long list most rows have it in common with others."""
    facts = msgspec.structs.replace(NOTHING, method=method)
    return _packed(dict(zip(surfaces, words, strict=True)), grade, facts, has_tasks=has_tasks)


def _packed(matrix: dict[str, str], grade: str, facts: Facts, *, has_tasks: bool) -> int:
    bits = 0
    for position, word in enumerate(verdicts(matrix)):
        bits |= VERDICT.get(word, VERDICT_UNKNOWN) << (VERDICT_WIDTH * position)
    for position, word in enumerate(HAS):
        bits |= (word in facts.has) << (HAS_AT + position)
    for position, key in enumerate(FIXES):
        bits |= (key in facts.fixes) << (FIX_AT + position)
    bits |= bool(facts.contradictions) << CONTRADICTION_AT
    for position, word in enumerate(CONTRADICTIONS):
        bits |= (word in facts.contradictions) << (DIRECTION_AT + position)
    bits |= GRADE.get(grade[:1], 7) << GRADE_AT
    bits |= METHOD.get(facts.method, 0) << METHOD_AT
    bits |= has_tasks << TASKS_AT
    return bits


def _columns(record: ReportCard | SiteSummary, bits: int, edge: str, *, ranked: bool) -> Columns:
    return Columns(
        name=record.name.casefold(),
        ranked=int(ranked),
        category=CATEGORY.get(record.category, OTHER),
        stance=STANCE[record.stance],
        score=record.score,
        bits=bits,
        edge=edge.casefold(),
    )


def search_text_of(host: str, name: str) -> str:
    """Return the text in which free text is looked for, from host and case-folded name; no match spans both."""
    return host if name in host else host + "\n" + name


Value = str | int | float | bytes | None


class Condition(NamedTuple):
    """An SQL expression over ``site`` and its bound values, in order."""

    sql: str
    values: tuple[Value, ...] = ()

    def __and__(self, other: Condition) -> Condition:
        if other.sql == "1":
            return self
        if self.sql == "1":
            return other
        return Condition(f"{self.sql} AND {other.sql}", self.values + other.values)


ALL: Final = Condition("1")


def conditions(query: Query, now: float) -> Condition:
    """Return what every row of ``query`` satisfies; ``now`` is in epoch seconds."""
    return category(query.category) & stance(query.stance) & terms(query, now)


def category(word: str) -> Condition:
    """Return the condition of the category filter; ``ALL`` for an empty word."""
    return Condition("category = ?", (CATEGORY.get(word, OTHER),)) if word else ALL


def stance(word: str) -> Condition:
    """Return the condition of the stance filter; ``ALL`` for an empty word."""
    return Condition("stance = ?", (STANCE[word],)) if word else ALL


def terms(query: Query, now: float) -> Condition:
    """Return the conditions of the query line alone."""
    found = ALL
    for term in query.terms:
        found &= of_term(term, now)
    return found


def of_term(term: Term, now: float) -> Condition:
    """Return the condition of one term, its negation included."""
    plain = _compound(term, now) if term.parts else _WRITERS[term.field](term, now)
    return Condition(f"NOT ({plain.sql})", plain.values) if term.negated else Condition(f"({plain.sql})", plain.values)


def _compound(term: Term, now: float) -> Condition:
    parts = [of_term(part, now) for part in term.parts]
    joined = (" AND " if term.field == ALL_OF else " OR ").join(part.sql for part in parts)
    return Condition(joined, tuple(value for part in parts for value in part.values))


def _contradiction(term: Term, now: float) -> Condition:
    """Return the condition of one direction, or of either.

    Rows without directions, which a program before them wrote, are judged by the verdicts of the live agents.
    """
    if not term.value:
        return _bit(CONTRADICTION_AT)
    shut = TURNED_AWAY if term.value == "out" else ("disallowed",)
    places = [place for place, surface in enumerate(surfaces()) if surface.live]
    verdicts = [_verdict(place, word) for place in places for word in shut]
    known = _bit(DIRECTION_AT + CONTRADICTIONS.index(term.value))
    contradiction, directions = 1 << CONTRADICTION_AT, 3 << DIRECTION_AT
    return Condition(
        f"{known.sql} OR (bits & ? = ? AND ({' OR '.join(one.sql for one in verdicts)}))",
        (
            *known.values,
            contradiction | directions,
            contradiction,
            *(value for one in verdicts for value in one.values),
        ),
    )


def _verdict(place: int, word: str) -> Condition:
    return _field(VERDICT_WIDTH * place, VERDICT_WIDTH, VERDICT[word])


def _bit(position: int, *, wanted: bool = True) -> Condition:
    mask = 1 << position
    return Condition("bits & ? = ?", (mask, mask if wanted else 0))


def _field(position: int, width: int, value: int) -> Condition:
    return Condition("bits & ? = ?", (((1 << width) - 1) << position, value << position))


def _change(term: Term, now: float) -> Condition:
    if term.value == NEW:
        return Condition("change IS NULL")
    return Condition(f"ifnull(change {_COMPARE[term.op]} ?, 0)", (term.number,))


def _method(term: Term, now: float) -> Condition:
    code = METHOD.get(term.value)
    return _field(METHOD_AT, 2, code) if code is not None else Condition("0")


TRIGRAM: Final = 3
"""Shortest text in characters that the trigram index can find."""


def phrase(text: str) -> str:
    """Return ``text`` as one FTS5 string (FTS5 3.1): a substring for the trigram tokenizer."""
    return '"' + text.replace('"', '""') + '"'


_COMPARE: Final = MappingProxyType({"=": "=", "<": "<", "<=": "<=", ">": ">", ">=": ">="})
_WRITERS: Final[MappingProxyType[str, Callable[[Term, float], Condition]]] = MappingProxyType(
    {
        "stance": lambda term, now: stance(term.value),
        "category": lambda term, now: category(term.value),
        "agent": lambda term, now: _verdict(names_of("matrix").index(term.key), term.value),
        "edge": lambda term, now: Condition("edge IN (SELECT id FROM edge WHERE instr(text, ?))", (term.value,)),
        "score": lambda term, now: Condition(f"score {_COMPARE[term.op]} ?", (term.number,)),
        "grade": lambda term, now: _field(GRADE_AT, 3, GRADE[term.value]),
        "has": lambda term, now: _bit(HAS_AT + HAS.index(term.value)),
        "signal": lambda term, now: _bit(HAS_AT + HAS.index("signal"), wanted=term.value == "yes"),
        "change": _change,
        "fresh": lambda term, now: Condition(f"max(? - at, 0) {_COMPARE[term.op]} ?", (now * 1000, term.number * 1000)),
        "method": _method,
        "fix": lambda term, now: _bit(FIX_AT + FIXES.index(term.value)),
        "contradiction": _contradiction,
        "tasks": lambda term, now: _bit(TASKS_AT, wanted=term.value == "yes"),
        "text": lambda term, now: Condition("instr(host, ?) OR instr(name, ?)", (term.value, term.value)),
    }
)


def order(query: Query) -> str:
    """Return the ORDER BY expression of ``query``.

    Natural directions: ``rank`` and ``score`` highest score first; ``change`` greatest gain first; ``grade`` A first;
    ``stance`` Open first; ``host``, ``name`` and ``category`` alphabetical (names without regard to case); ``age``
    newest first; a matrix column best verdict first. Ties: higher score, then host. ``descending`` is the exact
    reverse, but rows without a change, or of whose verdict nothing is known, stay last.
    """
    keys = [*_KEYS[query.sort], ("score", True), ("host", False)] if query.sort in _KEYS else _matrix(query.sort)
    if query.sort == "host":
        keys = [("host", False)]
    written = [f"{sql}{' DESC' if down != query.descending else ''}" for sql, down in keys]
    if query.sort == "change":
        written.insert(0, "change IS NULL")
    elif query.sort not in _KEYS:
        written.insert(0, f"{keys[0][0]} = {len(BEST_VERDICT_FIRST)}")
    return ", ".join(written)


_KEYS: Final[MappingProxyType[str, Sequence[tuple[str, bool]]]] = MappingProxyType(
    {
        "rank": (),
        "score": (),
        "change": (("change", True),),
        "grade": ((f"bits >> {GRADE_AT} & 7", False),),
        "stance": (("stance", False),),
        "host": (),
        "name": (("name", False),),
        "category": (("category", False),),
        "age": (("at", True),),
    }
)


def _matrix(sort: str) -> list[tuple[str, bool]]:
    place = VERDICT_WIDTH * names_of("matrix").index(sort.removeprefix("matrix."))
    cases = " ".join(f"WHEN {VERDICT[word]} THEN {n}" for n, word in enumerate(BEST_VERDICT_FIRST))
    return [
        (f"CASE bits >> {place} & 7 {cases} ELSE {len(BEST_VERDICT_FIRST)} END", False),
        ("score", True),
        ("host", False),
    ]


def views() -> dict[str, str]:
    """Return the SQL of each view by name: the index with plain columns, for programs that only read.

    They are short, since the schema with them must stay within the file's first page: ``upkeep.salvage`` gives a
    damaged file the first page of a new one.
    """
    fixes = ",".join(f"({FIX_AT + place},'{key}')" for place, key in enumerate(FIXES))
    agents = ",".join(f"({VERDICT_WIDTH * place},'{surface.slug}')" for place, surface in enumerate(surfaces()))
    return {
        "hosts": "SELECT host, CASE ranked WHEN 1 THEN 'ranked' ELSE 'unreachable' END AS list, "
        f"{_word(CATEGORY_OF, 'category')} AS category, CASE WHEN ranked THEN score END AS score, "
        f"{_word(GRADES, f'bits>>{GRADE_AT}&7', 'ranked')} AS grade, {_word(STANCES, 'stance', 'ranked')} AS stance, "
        f"{_word(tuple(METHOD), f'(bits>>{METHOD_AT}&3)-1')} AS method, {_time('at')} AS scanned_at, change, scans "
        "FROM site",
        "history": f"SELECT host, {_time('scan.at')} AS scanned_at, CASE WHEN NOT unreachable THEN scan.score END AS "
        f"score, CASE WHEN NOT unreachable THEN grade END AS grade, "
        f"{_word(STANCES, 'scan.stance', 'NOT unreachable')} AS stance, method FROM scan JOIN site ON site.id=site",
        "agents": f"SELECT host, column2 AS agent, {_word(VERDICTS, f'bits>>column1&{VERDICT_UNKNOWN}')} AS verdict "
        f"FROM site, (VALUES {agents})",
        "fixes": f"SELECT host, column2 AS fix FROM site, (VALUES {fixes}) WHERE bits>>column1&1",
    }


def _time(at: str) -> str:
    """Return the SQL of milliseconds since the epoch as ISO 8601."""
    return f"strftime('%Y-%m-%dT%H:%M:%fZ',{at}/1e3,'unixepoch')"


def _word(words: Sequence[str], code: str, when: str = "1") -> str:
    """Return the SQL of the word whose place in ``words`` is ``code``; NULL for another place, or unless ``when``.

    JSON functions would be shorter, but SQLite refuses them in the views of a file that it does not trust.
    """
    cases = " ".join(f"WHEN {place} THEN '{word}'" for place, word in enumerate(words))
    return f"CASE CASE WHEN {when} THEN {code} END {cases} END"

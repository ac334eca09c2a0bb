"""Who gets in: what robots.txt says, what the site answered and what follows, one table for every screen.

The verdicts are those of the card's matrix; this module only says them in one set of words and finds their reasons.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import msgspec

from aui_tui.model import labels
from aui_tui.model.card import AgentAccess, Recommendation, ReportCard
from aui_tui.model.observations import (
    BROWSER,
    CHALLENGED,
    FILE_PROBES,
    INCONCLUSIVE,
    REFUSED,
    SERVED,
    Exchange,
    Observations,
    RobotsPolicy,
)
from aui_tui.model.registry import Agent, Crawler, Surface, registry, surfaces

IN, PART, OUT, WALL, TOLD, UNCLEAR, UNTESTED = (
    "in",
    "part",
    "refused",
    "challenged",
    "told no",
    "unclear",
    "not tested",
)
WORST_FIRST: Final = (OUT, WALL, TOLD, UNCLEAR, PART, IN, UNTESTED)
SHUT: Final = frozenset({OUT, WALL, TOLD})
"""Words for an assistant that does not get the page."""
WORDS: Final = MappingProxyType(
    {
        "allowed": IN,
        "allowed-robots": IN,
        "partial": PART,
        "blocked": OUT,
        "walled": WALL,
        "disallowed": TOLD,
        "untested": UNCLEAR,
    }
)
"""The word on the screen for each verdict of the records."""
OF_OUTCOME: Final = MappingProxyType({SERVED: IN, REFUSED: OUT, CHALLENGED: WALL, INCONCLUSIVE: UNCLEAR})
SAYS: Final = MappingProxyType({"open": "yes", "partial": "part", "blocked": "no", "unknown": "?"})
"""What robots.txt says, by the effective policy."""
_OF_ROBOTS: Final = MappingProxyType({"yes": IN, "part": PART, "no": TOLD, "?": UNCLEAR})
ALL: Final = "all"


class AgentRow(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the table, read from left to right: robots.txt says, the site answers, so it is.

    ``key``: slot of the registry, or ``browser``. ``robots``: ``yes``, ``part``, ``no`` or ``?``; empty for a browser.
    ``line`` and ``rule``: the deciding line of robots.txt, 0 and empty when there is none. ``outcome``: what the probe
    got, empty when it was not asked; ``exchange`` in full where it is kept. ``verdict``: a word of WORST_FIRST.
    ``disagree``: robots.txt and the answer contradict one another.
    """

    key: str
    label: str
    token: str = ""
    robots: str = ""
    line: int = 0
    rule: str = ""
    status: int = 0
    outcome: str = ""
    exchange: Exchange | None = None
    verdict: str = UNTESTED
    disagree: bool = False

    @property
    def asked(self) -> bool:
        """Whether a probe went out under this name."""
        return bool(self.outcome)


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """Assistants with the same outcome: the word, their matrix keys and short names, why, and the slot to look at."""

    verdict: str
    keys: tuple[str, ...]
    names: tuple[str, ...]
    reason: str
    disagree: bool = False
    probe: str = ""

    @property
    def gets_in(self) -> str:
        """``no``, ``part``, ``yes``, or a dash where nothing is known."""
        if self.verdict in SHUT:
            return "no"
        return {PART: "part", IN: "yes"}.get(self.verdict, "–")


def word_of(verdict: str, source: str = "") -> str:
    """Return the word for a verdict of the records; an unknown word is unclear.

    ``source`` of its surface tells unclear from not tested.
    """
    return UNTESTED if verdict == "untested" and source == "none" else WORDS.get(verdict, UNCLEAR)


def gets_in(verdict: str) -> bool | None:
    """Whether a verdict of the records lets an assistant in, in part at least; None where nothing is known."""
    word = word_of(verdict)
    return None if word == UNCLEAR else word not in SHUT


def agent_rows(card: ReportCard, seen: Observations | None = None) -> tuple[AgentRow, ...]:
    """Return the browser, the live-probed agents and the others, in the order of the registry."""
    known = registry()
    robots = _robots(card, seen)
    verdicts = _live_verdicts(card) | _walled(card)
    answers = dict(zip((agent.key for agent in known.live), card.agent_access.values(), strict=False))
    rows = [_browser(card, seen)]
    for agent in known.agents:
        row = _by_robots(agent, robots)
        access = answers.get(agent.key)
        outcome = access.outcome if access is not None else ""
        rows.append(
            msgspec.structs.replace(
                row,
                status=access.status if access is not None else 0,
                outcome=outcome,
                exchange=seen.exchange(agent.key) if seen is not None and access is not None else None,
                verdict=verdicts.get(agent.key) or row.verdict,
                disagree=_disagree(row.robots, outcome),
            )
        )
    return tuple(rows)


def crawler_rows(card: ReportCard, seen: Observations | None = None) -> tuple[AgentRow, ...]:
    """Return the crawlers, which are never asked and never scored: what robots.txt says is all there is."""
    robots = _robots(card, seen)
    return tuple(_by_robots(crawler, robots) for crawler in registry().crawlers)


def _by_robots(entry: Agent | Crawler, robots: Mapping[str, RobotsPolicy]) -> AgentRow:
    """Return the line of ``entry`` as far as robots.txt goes."""
    policy = robots.get(entry.token) or RobotsPolicy(token=entry.token, effective="unknown")
    says = SAYS.get(policy.effective, "?")
    return AgentRow(
        key=entry.key,
        label=entry.label,
        token=entry.token,
        robots=says,
        line=policy.line,
        rule=policy.rule,
        verdict=_OF_ROBOTS[says],
    )


def _browser(card: ReportCard, seen: Observations | None) -> AgentRow:
    outcome = AgentAccess(card.human_status, card.human_challenged, "").outcome
    return AgentRow(
        key=BROWSER,
        label="a browser",
        status=card.human_status,
        outcome=outcome,
        exchange=seen.browser if seen is not None else None,
        verdict=OF_OUTCOME[outcome],
    )


def _live_verdicts(card: ReportCard) -> dict[str, str]:
    """Return the word of each live-probed agent by slot; the matrix counts by position."""
    return {
        surface.live: word_of(verdict)
        for surface, verdict in zip(registry().surfaces, card.matrix.values(), strict=False)
        if surface.live
    }


def _walled(card: ReportCard) -> dict[str, str]:
    """Return the word of the agents that nobody asked on a site that tested everyone who was asked.

    Those of a surface that the card calls walled are challenged; what the others would get is not known.
    """
    pairs = tuple(zip(registry().surfaces, card.matrix.values(), strict=False))
    walled = {
        key for surface, word in pairs if word == "walled" and surface.source == "robots" for key in surface.agents
    }
    if not walled:
        return {}
    live = {surface.live for surface, _ in pairs if surface.live}
    return {agent.key: WALL if agent.key in walled else UNCLEAR for agent in registry().agents if agent.key not in live}


def _robots(card: ReportCard, seen: Observations | None) -> Mapping[str, RobotsPolicy]:
    """Return what robots.txt says of each token: exactly where the scan is kept, else as far as the card shows it."""
    entries: tuple[Agent | Crawler, ...] = (*registry().agents, *registry().crawlers)
    tokens = [entry.token for entry in entries]
    if seen is not None:
        return dict(zip(tokens, seen.robots.policies(tokens), strict=True))
    known = 200 <= card.robots_status <= 499
    words = {**card.ua_policy, **card.crawler_policy}
    return {
        token: RobotsPolicy(token=token, effective=_effective(words.get(token, ""), card) if known else "unknown")
        for token in tokens
    }


def _effective(policy: str, card: ReportCard) -> str:
    if policy in ("blocked", "partial"):
        return policy
    return "blocked" if policy == "unlisted" and card.wildcard_block else "open"


def _disagree(says: str, outcome: str) -> bool:
    return (says == "yes" and outcome in (REFUSED, CHALLENGED)) or (says == "no" and outcome == SERVED)


# Assistants with the same outcome


def outcomes(card: ReportCard, seen: Observations | None = None) -> tuple[Outcome, ...]:
    """Return the eight assistants of the matrix, those with the same outcome folded into one, worst first."""
    rows = {row.key: row for row in agent_rows(card, seen)}
    found: dict[tuple[str, str, bool], list[tuple[str, str, str]]] = {}
    for surface, (key, verdict) in zip(registry().surfaces, card.matrix.items(), strict=False):
        word = word_of(verdict, surface.source)
        row = rows.get(surface.live)
        reason, disagree = _reason(word, surface, row, rows, card)
        found.setdefault((word, reason, disagree), []).append((key, surface.short, surface.live))
    every = [
        Outcome(
            verdict=word,
            keys=tuple(key for key, _, _ in members),
            names=tuple(name for _, name, _ in members),
            reason=reason,
            disagree=disagree,
            probe=next((live for _, _, live in members if live), ""),
        )
        for (word, reason, disagree), members in found.items()
    ]
    return tuple(sorted(every, key=lambda one: (WORST_FIRST.index(one.verdict), not one.probe)))


def _reason(
    word: str, surface: Surface, row: AgentRow | None, rows: Mapping[str, AgentRow], card: ReportCard
) -> tuple[str, bool]:
    if card.unreachable and word != UNTESTED:
        return "nobody got an answer, so nothing is known", False
    if surface.source == "none":
        return _driven(word, card), False
    if row is None:
        return _unasked(word, [rows[key] for key in surface.agents if key in rows], card), False
    return _asked(word, row), row.disagree


def _driven(word: str, card: ReportCard) -> str:
    """Return why an assistant with a browser of its own has its outcome: by the run of the tasks, if there was one."""
    if not card.task_runs:
        return "the browser was challenged" if word == WALL else "only a task run can tell"
    return {
        IN: "the task run got the page",
        PART: "the task run got the page; robots.txt closes some pages",
        OUT: "the browser of the task run was refused",
        WALL: "the browser of the task run was challenged",
        TOLD: "robots.txt told the task run to stay out",
    }.get(word, "the task run got no clear answer")


def _asked(word: str, row: AgentRow) -> str:
    code = f" ({row.status})" if row.status else ""
    if word == WALL:
        wall = row.exchange.challenge if row.exchange is not None else None
        return f"{wall.vendor}'s test for humans{code}" if wall is not None else f"a test for humans{code}"
    if word == OUT:
        return f"refused{code}"
    if word == TOLD:
        served = f", yet served{code}" if row.outcome == SERVED else ""
        return f"robots.txt says stay out{_at(row)}{served}"
    if word == UNCLEAR:
        return f"asked; {_unclear(row)}"
    closed = _closed([row])
    return f"served{code}; {closed}" if word == PART and closed else f"served{code}"


def _unclear(row: AgentRow) -> str:
    detail = row.exchange.detail if row.exchange is not None else ""
    if row.status:
        return f"the answer ({row.status}) proves nothing"
    return detail or "no answer came"


def _unasked(word: str, rows: Sequence[AgentRow], card: ReportCard) -> str:
    if word == WALL:
        return f"not asked; all {_number(card.live_total)} asked were challenged"
    if word == TOLD:
        return f"not asked; robots.txt says stay out{_at(rows[0]) if rows else ''}"
    if word == PART:
        return f"not asked; robots.txt closes {_paths(rows) or 'some pages'}"
    if word == IN:
        return "not asked; robots.txt says yes"
    return "not asked; robots.txt could not be read"


def _number(count: int) -> str:
    return {2: "two", 3: "three", 4: "four"}.get(count, str(count))


def _at(row: AgentRow) -> str:
    return f" (line {row.line})" if row.line else ""


def _closed(rows: Iterable[AgentRow]) -> str:
    paths = _paths(rows)
    return f"{paths} is closed" if paths else "robots.txt closes some pages"


def _paths(rows: Iterable[AgentRow]) -> str:
    """Return the first path that robots.txt closes to one of ``rows``, empty when it is not known."""
    for row in rows:
        name, _, path = row.rule.partition(":")
        if name.strip().lower() == "disallow" and path.strip():
            return path.strip()
    return ""


# In one sentence


def sentence(card: ReportCard, seen: Observations | None = None) -> str:
    """Return who gets in and who does not, in one sentence for somebody who has never seen the product."""
    if card.unreachable:
        return "No usable answer, to a browser or to anyone. Not graded."
    found = [one for one in outcomes(card, seen) if one.verdict != UNTESTED]
    shut = [one for one in found if one.verdict in SHUT]
    unclear = [name for one in found if one.verdict == UNCLEAR for name in one.names]
    if not shut:
        return _nobody_out(found, unclear)
    if len(shut) == len(found):
        return f"AI assistants are shut out; a browser {_browser_fate(card)}."
    others = "every other assistant gets in" if not unclear else "the others get in or are unclear"
    return f"{_fate(shut)}; {others}."


def _nobody_out(found: Iterable[Outcome], unclear: Sequence[str]) -> str:
    if unclear:
        return f"Unclear for {and_list(unclear)}; nobody is known to be turned away."
    closed = any(one.verdict == PART for one in found)
    return "Every assistant gets in" + ("; robots.txt closes some pages." if closed else ", to every page.")


def _browser_fate(card: ReportCard) -> str:
    return "gets in" if 200 <= card.human_status <= 299 and not card.human_challenged else "does not either"


def _fate(shut: Sequence[Outcome]) -> str:
    by_word: dict[str, list[str]] = {}
    for one in shut:
        by_word.setdefault(one.verdict, []).extend(one.names)
    parts = []
    for word, names in by_word.items():
        verb = "is" if len(names) == 1 else "are"
        text = {OUT: "refused", WALL: "challenged", TOLD: "told to stay out"}[word]
        parts.append(f"{and_list(names)} {verb} {text}")
    return ", ".join(parts)


def and_list(names: Sequence[str]) -> str:
    """Return names as words: ``Claude``, ``Claude and Gemini``, ``ChatGPT, Claude and Gemini``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""


def turned_away(matrix: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """Return the worst word of a matrix and the short names of all that do not get in.

    Where nobody is turned away: ``unclear`` and those of whom nothing is known, else ``in`` and none.
    """
    found = [
        (WORDS.get(verdict, ""), surface.short)
        for surface, verdict in zip(surfaces(), matrix.values(), strict=False)
        if WORDS.get(verdict, "") in SHUT and surface.source != "none"
    ]
    if not found:
        pairs = zip(surfaces(), matrix.values(), strict=False)
        unclear = [surface.short for surface, verdict in pairs if verdict == "untested" and surface.source == "live"]
        return (UNCLEAR, tuple(unclear)) if unclear else (IN, ())
    words = [word for word, _ in found]
    return min(words, key=WORST_FIRST.index), tuple(name for _, name in found)


def by_harm(card: ReportCard) -> tuple[Recommendation, ...]:
    """Return the fixes of a card, those that let assistants in first, then by points."""
    opens = set()
    if card.live_served < len(card.agent_access):
        opens.add("wba")
    if card.agents_disallowed:
        opens.add("robots")
    return tuple(sorted(card.recommendations, key=lambda fix: (fix.k not in opens, -fix.pts)))


def probe_of(key: str) -> str:
    """Return the probe that stands for a matrix key, an agent or a probe itself; empty when there is none."""
    known = registry()
    surface = known.surface(key)
    if surface is not None:
        return surface.live
    agent = known.agent(key)
    if agent is not None:
        return agent.key if agent.live_probe else ""
    return key if key in (BROWSER, *FILE_PROBES) else ""


def label_of(key: str) -> str:
    """Return the name of a probe, an agent or a matrix key."""
    known = registry().surface(key)
    return known.short if known is not None else labels.probe(key)

"""Access by agent: what robots.txt says, what the site answered and what follows, one table for every screen.

The verdicts are those of the card's matrix; this module only says them in one set of words and finds their reasons.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import msgspec

from aui_tui.model import labels
from aui_tui.model.card import AgentAccess, ReportCard, of_surfaces
from aui_tui.model.methods import MOST_AGENTS
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
from aui_tui.model.points import conclusive
from aui_tui.model.registry import Agent, Client, Surface, registry, surface_called, surfaces
from aui_tui.model.verdicts import AWAY, LESS
from aui_tui.model.vocabulary import LIVE_TOTAL, UNANSWERED
from aui_tui.text import joined

IN, PART, TOLD_NO, UNCLEAR, UNTESTED = "in", "part", "told no", "unclear", "not tested"
"""The words that the outcomes of the record do not have."""
WORST_FIRST: Final = (REFUSED, CHALLENGED, TOLD_NO, UNCLEAR, PART, IN, UNTESTED)
SHUT: Final = frozenset({REFUSED, CHALLENGED, TOLD_NO})
"""Words for an assistant that does not get the page."""
RANK: Final = MappingProxyType({IN: 2, PART: 1} | dict.fromkeys(SHUT, 0))
"""How well a word serves an assistant; where nothing is known there is no rank."""
WORDS: Final = MappingProxyType(
    {
        "allowed": IN,
        "allowed-robots": IN,
        "partial": PART,
        "blocked": REFUSED,
        UNANSWERED: REFUSED,
        "walled": CHALLENGED,
        "disallowed": TOLD_NO,
        "untested": UNCLEAR,
    }
)
"""The word on the screen for each verdict of the records."""
SAYS: Final = MappingProxyType({"open": "yes", "partial": "part", "blocked": "no", "unknown": "?"})
"""What robots.txt says, by the effective policy."""
SAID: Final = MappingProxyType(
    {"yes": "says yes", "part": "closes some pages", "no": "says stay out", "?": "could not be read"}
)
"""The same as the end of a sentence."""
_OF_ROBOTS: Final = MappingProxyType({"yes": IN, "part": PART, "no": TOLD_NO, "?": UNCLEAR})
DROPPED: Final = "no answer, while a browser is served"
SOME_TOLD: Final = "not asked; robots.txt tells some of its agents to stay out"


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
    """Assistants with the same outcome: the word, their matrix keys and short names, why, and the slot to look at.

    ``source``: how they are judged, ``live``, ``robots`` or ``none`` (by a run of the tasks). ``asked``: somebody asked
    the site under their names, or with a browser as theirs. ``rules``: the site has a robots.txt.
    """

    verdict: str
    keys: tuple[str, ...]
    names: tuple[str, ...]
    reason: str
    disagree: bool = False
    probe: str = ""
    source: str = ""
    asked: bool = False
    rules: bool = True

    @property
    def brief(self) -> str:
        """The verdict where no reason stands beside it: of an assistant that nobody asked, how it was found."""
        unasked = self.verdict == UNTESTED or (self.verdict == IN and self.source == "robots")
        return self.reason if unasked else self.verdict

    @property
    def why(self) -> str:
        """The reason, and that robots.txt says otherwise."""
        if not self.disagree or self.verdict == TOLD_NO:
            return self.reason
        whom = _them(self.names)
        return (
            f"{self.reason}, though {f'robots.txt lets {whom} in' if self.rules else f'no robots.txt keeps {whom} out'}"
        )


def word_of(verdict: str, source: str = "", outcome: str = "") -> str:
    """Return the word for a verdict of the records; an unknown word is unclear.

    ``source`` of its surface tells unclear from not tested. ``outcome`` of its probe tells a refusal of everybody from
    a challenge: the record says ``walled`` of both.
    """
    if verdict == "untested" and source == "none":
        return UNTESTED
    return REFUSED if verdict == "walled" and outcome == REFUSED else WORDS.get(verdict, UNCLEAR)


def gets_in(verdict: str) -> bool | None:
    """Whether a verdict of the records lets an assistant in, in part at least; None where nothing is known."""
    word = word_of(verdict)
    return None if word == UNCLEAR else word not in SHUT


def agent_rows(card: ReportCard, seen: Observations | None = None) -> tuple[AgentRow, ...]:
    """Return the browser, the live-probed agents and the others, in the order of the registry."""
    return (_browser(card, seen), *_rows(card, seen, registry().agents))


def _rows(card: ReportCard, seen: Observations | None, agents: Sequence[Agent]) -> Iterator[AgentRow]:
    robots = _robots(card, seen, agents)
    answers = {agent.key: access for agent, access in card.answers}
    if card.unreachable:
        words = {agent.key: UNCLEAR for agent in agents}
    else:
        words = _live_verdicts(verdicts(card, seen), answers) | _walled(card)
    for agent in agents:
        row = _by_robots(agent, robots)
        access = answers.get(agent.key)
        verdict = words.get(agent.key) or row.verdict
        outcome = {UNCLEAR: INCONCLUSIVE, REFUSED: REFUSED}.get(verdict, access.outcome) if access is not None else ""
        yield msgspec.structs.replace(
            row,
            status=access.status if access is not None else 0,
            outcome=outcome,
            exchange=seen.exchange(agent.key) if seen is not None and access is not None else None,
            verdict=verdict,
            disagree=_disagree(row.robots, outcome),
        )


def verdicts(card: ReportCard, seen: Observations | None = None) -> dict[str, str]:
    """Return the matrix of ``card`` as the index keeps it.

    UNANSWERED is an agent that got no answer again and again while a browser was served; the record says untested.
    """
    if card.unreachable:
        return card.matrix
    every = conclusive(card) == LIVE_TOTAL
    dropped = {
        agent.key
        for agent, access in card.answers
        if access.status == 0 and (seen.exchange(agent.key).dropped if seen is not None else every)
    }
    pairs = zip(surfaces(), card.matrix.items(), strict=False)
    untested = (key for surface, (key, verdict) in pairs if surface.live in dropped and verdict == "untested")
    return card.matrix | dict.fromkeys(untested, UNANSWERED)


def crawler_rows(card: ReportCard, seen: Observations | None = None) -> tuple[AgentRow, ...]:
    """Return the crawlers, which are never asked and never scored: what robots.txt says is all there is."""
    crawlers = registry().crawlers
    robots = _robots(card, seen, crawlers)
    return tuple(_by_robots(crawler, robots) for crawler in crawlers)


def contradictions(card: ReportCard, seen: Observations | None = None) -> frozenset[str]:
    """Say how robots.txt and the site disagree about a live-probed agent.

    ``out``: robots.txt leaves an agent every path and its probe was refused or challenged. ``in``: robots.txt shuts it
    out (own group, else ``*``; RFC 9309 2.2.1) and its probe was served.
    """
    rows = _rows(card, seen, registry().live)
    return frozenset("out" if row.robots == "yes" else "in" for row in rows if row.disagree)


def _by_robots(entry: Client, robots: Mapping[str, RobotsPolicy]) -> AgentRow:
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
    outcome = card.human.outcome
    return AgentRow(
        key=BROWSER,
        label="a browser",
        status=card.human_status,
        outcome=outcome,
        exchange=seen.browser if seen is not None else None,
        verdict=labels.OF_OUTCOME[outcome],
    )


def _live_verdicts(matrix: Mapping[str, str], answers: Mapping[str, AgentAccess]) -> dict[str, str]:
    """Return the word of each live-probed agent by slot; the matrix counts by position."""
    return {
        surface.live: word_of(verdict, surface.source, answers[surface.live].outcome if surface.live in answers else "")
        for surface, verdict in of_surfaces(matrix)
        if surface.live
    }


def _walled(card: ReportCard) -> dict[str, str]:
    """Return the word of the agents that nobody asked on a site that tested everyone who was asked.

    Those of a surface that the card calls walled are challenged; what the others would get is not known.
    """
    pairs = tuple(of_surfaces(card.matrix))
    walled = {
        key for surface, word in pairs if word == "walled" and surface.source == "robots" for key in surface.agents
    }
    if not walled:
        return {}
    live = {surface.live for surface, _ in pairs if surface.live}
    return {
        agent.key: CHALLENGED if agent.key in walled else UNCLEAR
        for agent in registry().agents
        if agent.key not in live
    }


def _robots(card: ReportCard, seen: Observations | None, entries: Sequence[Client]) -> Mapping[str, RobotsPolicy]:
    """Return what robots.txt says of each token: exactly where the scan is kept, else as far as the card shows it."""
    tokens = [entry.token for entry in entries]
    if seen is not None:
        return dict(zip(tokens, seen.told(entries), strict=True))
    words = {**card.ua_policy, **card.crawler_policy}
    return {
        token: RobotsPolicy(
            token=token, effective=_effective(words.get(token, ""), card) if card.robots_known else "unknown"
        )
        for token in tokens
    }


def _effective(policy: str, card: ReportCard) -> str:
    if policy in ("blocked", "partial"):
        return policy
    return "blocked" if policy == "unlisted" and card.wildcard_block else "open"


def _disagree(says: str, outcome: str) -> bool:
    return (says == "yes" and outcome in AWAY) or (says == "no" and outcome == SERVED)


# Assistants with the same outcome


def outcomes(card: ReportCard, seen: Observations | None = None) -> tuple[Outcome, ...]:
    """Return the eight assistants of the matrix, those with the same outcome folded into one, worst first."""
    found: dict[tuple[str, str, bool], Outcome] = {}
    for one in each(card, seen):
        kind = one.verdict, one.reason, one.disagree
        if same := found.get(kind):
            one = msgspec.structs.replace(
                same, keys=same.keys + one.keys, names=same.names + one.names, probe=same.probe or one.probe
            )
        found[kind] = one
    return tuple(sorted(found.values(), key=lambda one: (WORST_FIRST.index(one.verdict), not one.probe)))


def each(card: ReportCard, seen: Observations | None = None) -> Iterator[Outcome]:
    """Yield what every assistant of the matrix gets, one by one in the order of the matrix."""
    rows = {row.key: row for row in agent_rows(card, seen)}
    rules = seen.robots.kind == "rules" if seen is not None else card.robots_status <= 299
    for surface, (key, verdict) in zip(surfaces(), card.matrix.items(), strict=False):
        row = rows.get(surface.live)
        word = row.verdict if row is not None else word_of(verdict, surface.source)
        word = UNCLEAR if card.unreachable and word != UNTESTED else word
        reason, disagree = _reason(word, surface, row, rows, card)
        yield Outcome(
            verdict=word,
            keys=(key,),
            names=(surface.label,),
            reason=reason,
            disagree=disagree,
            probe=surface.live,
            source=surface.source,
            asked=surface.source == "live" or (surface.source == "none" and bool(card.task_runs) and word != UNTESTED),
            rules=rules,
        )


def _reason(
    word: str, surface: Surface, row: AgentRow | None, rows: Mapping[str, AgentRow], card: ReportCard
) -> tuple[str, bool]:
    if card.unreachable and word != UNTESTED:
        return "nobody got a usable answer, so nothing is known", False
    if surface.source == "none":
        return _driven(word, card), False
    if row is None:
        return _unasked(word, [rows[key] for key in surface.agents if key in rows], card), False
    return _asked(word, row, browser_served=rows[BROWSER].outcome == SERVED), row.disagree


def _driven(word: str, card: ReportCard) -> str:
    """Return why an assistant with a browser of its own has its outcome: by the run of the tasks, if there was one."""
    if not card.task_runs:
        return "a browser is challenged" if word == CHALLENGED else "needs a browser (--tasks)"
    return {
        IN: "the task run got the page",
        PART: "the task run got the page; robots.txt closes some pages",
        REFUSED: "the browser of the task run was refused",
        CHALLENGED: "the browser of the task run was challenged",
        TOLD_NO: "robots.txt told the task run to stay out",
    }.get(word, "the task run got no clear answer")


def _asked(word: str, row: AgentRow, *, browser_served: bool) -> str:
    code = f" ({row.status})" if row.status else ""
    if word == CHALLENGED:
        wall = row.exchange.challenge if row.exchange is not None else None
        if row.exchange is not None and row.exchange.another_page:
            return f"{'another' if row.exchange.readable else 'an empty'} page{code}"
        return f"{labels.challenge_page(wall.vendor if wall is not None else '')}{code}"
    if word == REFUSED and not row.status:
        return DROPPED
    if word == REFUSED:
        return f"refused{code}{'' if browser_served else ', as a browser is'}"
    if word == TOLD_NO:
        served = f", yet served{code}" if row.outcome == SERVED else ""
        return f"robots.txt says stay out{_at(row)}{served}"
    if word == UNCLEAR:
        return f"asked; {_unclear(row)}"
    closed = _closed([row])
    return f"served{code}; {closed}" if word == PART and closed else f"served{code}"


def _unclear(row: AgentRow) -> str:
    detail = row.exchange.detail if row.exchange is not None else ""
    if row.exchange is not None and row.exchange.compared:
        less = row.exchange.compared == LESS
        return f"{'much less to read than people get' if less else 'no page to compare with its own'} ({row.status})"
    if row.status:
        return f"the answer ({row.status}) proves nothing"
    return detail or "no answer came"


def _unasked(word: str, rows: Sequence[AgentRow], card: ReportCard) -> str:
    if word == CHALLENGED:
        return f"not asked; all {_number(card.live_total)} asked were challenged"
    if word == TOLD_NO:
        return f"not asked; robots.txt says stay out{_at(rows[0]) if rows else ''}"
    if word == PART:
        told = any(row.verdict == TOLD_NO for row in rows)
        return SOME_TOLD if told else f"not asked; robots.txt closes {_paths(rows) or 'some pages'}"
    if word == IN:
        return "not asked; allowed by robots.txt"
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
    """Return who gets in and who does not, in one sentence for somebody who has never seen the product.

    It is made of the outcomes alone, and says of nobody that they get in who was not asked.
    """
    if card.unreachable:
        return _nobody_answered(card)
    found = [one for one in outcomes(card, seen) if one.verdict != UNTESTED]
    asked = [one for one in found if one.asked]
    clauses = [*_turned_away(found, card), *_told_no(found, card), *_unclear_or_in(asked)]
    if any(one.verdict == PART and one.reason != SOME_TOLD for one in found):
        clauses.append("robots.txt closes some pages")
    words = "; ".join(clauses) or "nothing is known of any assistant"
    return (words if words.startswith("robots.txt") else words[:1].upper() + words[1:]) + "."


def _nobody_answered(card: ReportCard) -> str:
    codes = {card.human_status, *(access.status for access in card.agent_access.values())}
    if len(codes) == 1 and card.human_status >= 400:
        return f"A browser and every agent that was asked get {card.human_status}. Not graded."
    return "No usable answer, to a browser or to anyone. Not graded."


def _names(found: Iterable[Outcome], *words: str) -> tuple[str, ...]:
    return tuple(name for one in found if not words or one.verdict in words for name in one.names)


def _turned_away(found: Sequence[Outcome], card: ReportCard) -> Iterator[str]:
    """Yield whom the site turns away, and what a browser gets where nobody who was asked gets in."""
    asked = [one for one in found if one.asked and one.reason != DROPPED]
    away = {
        word: _names((one for one in found if one.source != "robots" and one.reason != DROPPED), word)
        for word in (REFUSED, CHALLENGED)
    }
    if asked and all(one.verdict in AWAY for one in asked):
        words = " or ".join(word for word in away if away[word])
        yield f"all {_number(len(_names(asked)))} assistants that were asked are {words}{_browser_fate(card)}"
    elif any(away.values()):
        yield ", ".join(f"{joined(names)} {_are(names)} {word}" for word, names in away.items() if names)


def _browser_fate(card: ReportCard) -> str:
    if card.human_status == 0:
        return "; a browser gets no answer"
    return "; a browser gets in" if card.human.outcome == SERVED else ", as a browser is"


def _told_no(found: Sequence[Outcome], card: ReportCard) -> Iterator[str]:
    """Yield whom robots.txt tells to stay out, and whom the site serves all the same."""
    names, served = _names(found, TOLD_NO), _names((one for one in found if one.disagree), TOLD_NO)
    anyway = f"the site serves {_them(served) if served == names else joined(served)} anyway" if served else ""
    number, total = card.agents_disallowed, card.agents_total
    if number == total:
        yield f"robots.txt tells all {total} agents to stay out"
        yield from ["the site serves those that were asked anyway"] if served else []
    elif number >= MOST_AGENTS or (number and not names):
        among = f", among them {joined(names)}" if names else ""
        yield f"robots.txt tells {number} of {total} agents to stay out{among}"
        yield from [anyway] if served else []
    elif names:
        yield f"robots.txt tells {joined(names)} to stay out" + (f", {anyway}" if served else "")


def _them(names: Sequence[str]) -> str:
    return "it" if len(names) == 1 else "them"


def _unclear_or_in(asked: Sequence[Outcome]) -> Iterator[str]:
    unclear, inside = _names(asked, UNCLEAR), _names(asked, IN, PART)
    silent = _names(one for one in asked if one.reason == DROPPED)
    if silent and silent == _names(asked):
        yield "no assistant that was asked gets an answer; a browser gets in"
    elif silent:
        yield f"{joined(silent)} get{'s' if len(silent) == 1 else ''} no answer, a browser does"
    if unclear:
        yield f"{joined(unclear)} {_are(unclear)} unclear"
    if inside and len(inside) == len(_names(asked)):
        yield "every assistant that was asked gets in"
    elif inside:
        yield f"{joined(inside)} get{'s' if len(inside) == 1 else ''} in"


def _are(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def counts(rows: Iterable[AgentRow]) -> str:
    """Return how many agents there are of each verdict: of those asked, then by robots.txt of the others."""
    agents = [row for row in rows if row.key != BROWSER]
    parts = []
    for asked in (True, False):
        found = Counter(row.verdict for row in agents if row.asked is asked)
        words = ", ".join(f"{found[word]} {word}" for word in WORST_FIRST if found[word])
        parts += [f"{'' if asked else 'not asked: '}{words}"] if words else []
    return " · ".join(parts)


def turned_away(matrix: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """Return the worst word of a matrix and the short names of all that do not get in.

    Where nobody is turned away: ``unclear`` and those of whom nothing is known, else ``in`` and none.
    """
    pairs = [(WORDS.get(verdict), one) for one, verdict in of_surfaces(matrix)]
    away = {one.label: word for word, one in pairs if word in SHUT and one.source != "none"}
    if away:
        return min(away.values(), key=WORST_FIRST.index), tuple(away)
    unclear = tuple(one.label for word, one in pairs if word == UNCLEAR and one.source == "live")
    return (UNCLEAR, unclear) if unclear else (IN, ())


def opens(card: ReportCard, fix: str) -> bool:
    """Return whether ``fix`` lets in agents that are turned away, or told to stay out of the whole site."""
    return fix == "wba" or (fix == "robots" and card.agents_disallowed > 0)


def probe_of(key: str) -> str:
    """Return the probe that stands for a matrix key, an agent or a probe itself; empty when there is none."""
    known = registry()
    surface = surface_called(key)
    if surface is not None:
        return surface.live
    agent = known.agent(key)
    if agent is not None:
        return agent.key if agent.live_probe else ""
    return key if key in (BROWSER, *FILE_PROBES) else ""

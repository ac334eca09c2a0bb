"""Access by agent: what robots.txt says, what the site answered and what follows, one table for every screen.

The verdicts are those of the card's matrix; this module only says them in one set of words and finds their reasons.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

import msgspec

from aui_tui.model import labels
from aui_tui.model.card import AgentAccess, ReportCard
from aui_tui.model.fates import IN, NOT_ASKED, PART, TOLD_NO, UNCLEAR, WORST_FIRST, word_of
from aui_tui.model.observations import BROWSER, FILE_PROBES, Exchange, Observations, OpenDoor, RobotsPolicy
from aui_tui.model.open_agents import CHECKS_ROBOTS, clients, table
from aui_tui.model.points import conclusive, task_points
from aui_tui.model.registry import Agent, Client, registry
from aui_tui.model.surfaces import SURFACES, of_surfaces, surface_called
from aui_tui.model.verdicts import AWAY, LESS
from aui_tui.model.vocabulary import CHALLENGED, INCONCLUSIVE, LIVE_TOTAL, REFUSED, SERVED

NO_RULES: Final = "no rules"
"""What a robots.txt says that is not there, or is a page of HTML: nobody is kept out, and nobody is let in by it."""
POLICY_WORDS: Final = MappingProxyType({"open": "yes", "partial": "part", "blocked": "no", "unknown": "?"})
"""The cell for what robots.txt says, by effective policy (``AgentRow.robots``)."""
POLICY_PHRASES: Final = MappingProxyType(
    {
        "yes": "says yes",
        NO_RULES: "has no rules",
        "part": "closes some pages",
        "no": "says stay out",
        "?": "could not be read",
    }
)
"""The same as the end of a sentence about robots.txt, by the word of that cell."""
ROBOTS: Final = "robots.txt"
DROPPED: Final = "no answer, while a browser is served"


class AgentRow(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the table, read from left to right: robots.txt says, the site answers, so it is.

    ``key``: slot of the registry, or ``browser``. ``robots``: a word of POLICY_PHRASES; empty for a browser.
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
    verdict: str = NOT_ASKED
    disagree: bool = False

    @property
    def asked(self) -> bool:
        """Whether a probe went out under this name."""
        return bool(self.outcome)


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """Assistants with the same outcome: the word, their matrix keys and short names, why, and the slot to look at.

    ``source``: how they are judged, ``live``, ``robots`` or ``none`` (by a run of the tasks). ``asked``: somebody asked
    the site under their names, or with a browser as theirs. ``file``: the robots.txt that holds, empty where there is
    none.
    """

    verdict: str
    keys: tuple[str, ...]
    names: tuple[str, ...]
    reason: str
    disagree: bool = False
    probe: str = ""
    source: str = ""
    asked: bool = False
    file: str = ROBOTS

    @property
    def brief(self) -> str:
        """The verdict for a place without a reason; ``not asked`` alone says nothing, so its reason follows there."""
        return f"{self.verdict}; {self.reason}" if self.verdict == NOT_ASKED else self.verdict

    @property
    def why(self) -> str:
        """The reason, and that robots.txt says otherwise."""
        if not self.disagree or self.verdict == TOLD_NO:
            return self.reason
        whom = "it" if len(self.names) == 1 else "them"
        return (
            f"{self.reason}, though {f'{self.file} lets {whom} in' if self.file else f'no {ROBOTS} keeps {whom} out'}"
        )


def agent_rows(card: ReportCard, observations: Observations | None = None) -> tuple[AgentRow, ...]:
    """Return the browser, the live-probed agents and the others, in the order of the registry."""
    return (_browser_row(card, observations), *_rows(card, observations, registry().agents))


def _rows(card: ReportCard, observations: Observations | None, agents: Sequence[Agent]) -> Iterator[AgentRow]:
    robots = _policies(card, observations, registry().agents)
    answers = {agent.key: access for agent, access in card.answers}
    rules = _has_rules(card, observations)
    words = _live_words(card, observations, answers, robots)
    for agent in agents:
        row = _row_from_robots(agent, robots, rules=rules)
        access = answers.get(agent.key)
        verdict = words.get(agent.key) or row.verdict
        outcome = {UNCLEAR: INCONCLUSIVE, REFUSED: REFUSED}.get(verdict, access.outcome) if access is not None else ""
        yield msgspec.structs.replace(
            row,
            status=access.status if access is not None else 0,
            outcome=outcome,
            exchange=observations.exchange(agent.key) if observations is not None and access is not None else None,
            verdict=verdict,
            disagree=_disagree(row.robots, outcome),
        )


def crawler_rows(card: ReportCard, observations: Observations | None = None) -> tuple[AgentRow, ...]:
    """Return the crawlers, which are never asked and never scored: what robots.txt says is all there is."""
    crawlers = registry().crawlers
    robots = _policies(card, observations, crawlers)
    rules = _has_rules(card, observations)
    return tuple(_row_from_robots(crawler, robots, rules=rules) for crawler in crawlers)


def contradictions(card: ReportCard, observations: Observations | None = None) -> frozenset[str]:
    """Say how robots.txt and the site disagree about a live-probed agent.

    ``out``: robots.txt lets an agent fetch the homepage and its probe was refused or challenged. ``in``: robots.txt
    shuts it out (own group, else ``*``; RFC 9309 2.2.1) and its probe was served.
    """
    return directions(outcome_of_each(card, observations))


def directions(assistants: Iterable[Outcome]) -> frozenset[str]:
    """Return how robots.txt and the site disagree about ``assistants``; see :func:`contradictions`."""
    return frozenset("in" if assistant.verdict == TOLD_NO else "out" for assistant in assistants if assistant.disagree)


def _row_from_robots(entry: Client, robots: Mapping[str, RobotsPolicy], *, rules: bool) -> AgentRow:
    """Return the row of ``entry`` from robots.txt alone, without what a probe got; ``rules``: whether it has rules."""
    policy = robots.get(entry.token) or RobotsPolicy(token=entry.token, effective="unknown")
    says = POLICY_WORDS.get(policy.effective, "?")
    says = NO_RULES if says == "yes" and not rules else says
    return AgentRow(
        key=entry.key,
        label=entry.label,
        token=entry.token,
        robots=says,
        line=policy.line,
        rule=policy.rule,
        verdict=TOLD_NO if says == "no" else NOT_ASKED,
    )


def _browser_row(card: ReportCard, observations: Observations | None) -> AgentRow:
    outcome = card.human.outcome
    return AgentRow(
        key=BROWSER,
        label="a browser",
        status=card.human_status,
        outcome=outcome,
        exchange=observations.browser if observations is not None else None,
        verdict=labels.OF_OUTCOME[outcome],
    )


def _live_words(
    card: ReportCard,
    observations: Observations | None,
    answers: Mapping[str, AgentAccess],
    robots: Mapping[str, RobotsPolicy],
) -> dict[str, str]:
    """Return the word of each live-probed agent by slot."""
    if card.unreachable:
        return dict.fromkeys(answers, UNCLEAR)
    dropped, open_to_some = _dropped(card, observations), any(policy.effective == "open" for policy in robots.values())
    words = {}
    for surface, verdict in of_surfaces(card.matrix):
        if not surface.live:
            continue
        word = word_of(verdict, surface.source, answers[surface.live].outcome if surface.live in answers else "")
        agent = registry().agent(surface.live)
        own = robots[agent.token].policy if agent is not None else ""
        if word == UNCLEAR and surface.live in dropped:
            word = REFUSED
        elif verdict == "partial" and own == "partial" and open_to_some:
            word = PART
        words[surface.live] = word
    return words


def _dropped(card: ReportCard, observations: Observations | None) -> set[str]:
    """Return the agents that got no answer again and again while a browser was served; the record says untested."""
    every = conclusive(card) == LIVE_TOTAL
    return {
        agent.key
        for agent, access in card.answers
        if access.status == 0 and (observations.exchange(agent.key).dropped if observations is not None else every)
    }


def _policies(
    card: ReportCard, observations: Observations | None, entries: Sequence[Client]
) -> Mapping[str, RobotsPolicy]:
    """Return what robots.txt says of each token: exactly where the scan is kept, else as far as the card shows it."""
    tokens = [entry.token for entry in entries]
    if observations is not None:
        return dict(zip(tokens, observations.told(entries), strict=True))
    words = {**card.ua_policy, **card.crawler_policy}
    effects: dict[str, str] = {}
    if card.robots_known:
        unlisted = _policy_of_unlisted(card)
        unlisted = "unknown" if unlisted == "open" and not card.robots_whole else unlisted
        effects = {"blocked": "blocked", "partial": "partial", "unlisted": unlisted}
    of_unnamed = "open" if card.robots_known else "unknown"
    named = ((token, words.get(token, "")) for token in tokens)
    return {
        token: RobotsPolicy(token=token, policy=word, effective=effects.get(word, of_unnamed)) for token, word in named
    }


def _policy_of_unlisted(card: ReportCard) -> str:
    """Return the effective policy for agents without a group of their own, as far as the card shows it."""
    if card.wildcard_block:
        return "blocked"
    unnamed = {agent.key for agent in registry().agents if card.ua_policy.get(agent.token) == "unlisted"}
    closed = (surface for surface, verdict in of_surfaces(card.matrix) if verdict == "partial")
    return (
        "partial"
        if any(unnamed.issuperset(closed_surface.agents or (closed_surface.live,)) for closed_surface in closed)
        else "open"
    )


def robots_file(card: ReportCard, observations: Observations | None) -> str:
    """Return the name of the robots.txt in sentences: with its host, where that is not the card's."""
    host = card.host
    if observations is not None and observations.served_from:
        host = urlsplit(observations.site_origin).netloc
    return ROBOTS if host == card.host else f"{host}/{ROBOTS}"


def _has_rules(card: ReportCard, observations: Observations | None) -> bool:
    """Return whether the site has a robots.txt with rules, as far as the card tells without the scan."""
    return observations.robots.kind == "rules" if observations is not None else card.robots_status <= 299


def _disagree(says: str, outcome: str) -> bool:
    return (says in ("yes", NO_RULES, "part") and outcome in AWAY) or (says == "no" and outcome == SERVED)


# Fetch tools of open agents


def open_readers(door: OpenDoor) -> dict[str, str]:
    """Return what each tool of ``open_agents.toml`` that was asked for gets, in a word of FATES, by its key."""
    words: dict[str, str] = {}
    for name, reading in door.readings.items():
        tools = clients()[name].tools if name in clients() else ()
        words |= dict.fromkeys(tools, labels.OF_OUTCOME[reading.outcome])
    asking = (tool.key for tool in table().tool if tool.robots == CHECKS_ROBOTS and door.told_no)
    return words | {key: TOLD_NO for key in asking if words.get(key) in (IN, UNCLEAR)}


# Assistants with the same outcome


def outcomes(card: ReportCard, observations: Observations | None = None) -> tuple[Outcome, ...]:
    """Return the eight assistants of the matrix, those with the same outcome folded into one, worst first."""
    outcome_by_kind: dict[tuple[str, str, bool], Outcome] = {}
    for outcome in outcome_of_each(card, observations):
        kind = outcome.verdict, outcome.reason, outcome.disagree
        if same := outcome_by_kind.get(kind):
            outcome = msgspec.structs.replace(
                same, keys=same.keys + outcome.keys, names=same.names + outcome.names, probe=same.probe or outcome.probe
            )
        outcome_by_kind[kind] = outcome
    return tuple(
        sorted(outcome_by_kind.values(), key=lambda outcome: (WORST_FIRST.index(outcome.verdict), not outcome.probe))
    )


def outcome_of_each(card: ReportCard, observations: Observations | None = None) -> Iterator[Outcome]:
    """Yield the outcome of each assistant in the order of the matrix, none folded."""
    rows = {row.key: row for row in agent_rows(card, observations)}
    file = robots_file(card, observations)
    rules = _has_rules(card, observations)
    for surface, (key, verdict) in zip(SURFACES, card.matrix.items(), strict=False):
        if surface.source == "live" and surface.live in rows:
            row = rows[surface.live]
            word, disagree = row.verdict, row.disagree
            reason = _reason_of_probed(word, row, file, browser_served=rows[BROWSER].outcome == SERVED)
        elif surface.source == "none":
            word, reason, disagree = *_from_task_run(verdict, card, observations, file), False
        else:
            told_no = word_of(verdict, surface.source) == TOLD_NO
            word, reason, disagree = *_from_robots([rows[key] for key in surface.agents], file, told=told_no), False
        if card.unreachable and word != NOT_ASKED:
            word, reason, disagree = UNCLEAR, "nobody got a usable answer", False
        yield Outcome(
            verdict=word,
            keys=(key,),
            names=(surface.label,),
            reason=reason,
            disagree=disagree,
            probe=surface.live,
            source=surface.source,
            asked=surface.source == "live" or (surface.source == "none" and word != NOT_ASKED),
            file=file if rules else "",
        )


def _from_task_run(verdict: str, card: ReportCard, observations: Observations | None, file: str) -> tuple[str, str]:
    """Return the word and the reason of an assistant with a browser of its own: by the run of the tasks, if any.

    Where robots.txt or the wall of today is newer than the run and shuts it out, that counts.
    """
    word = word_of(verdict, "none", ran=bool(card.task_runs) or task_points(card) is not None)
    if word == NOT_ASKED:
        return word, "a browser is challenged" if card.human.outcome == CHALLENGED else "needs a browser (--tasks)"
    run = observations.tasks if observations is not None else None
    when = f" of {run.ran_at[:10]}" if run is not None else ""
    if word == IN and (run is None or run.ran_at < card.scanned_at):
        if card.wildcard_block:
            return TOLD_NO, f"{file} says stay out now; an earlier task run{when} got the page"
        if card.human.outcome in AWAY:
            return UNCLEAR, f"a browser is {card.human.outcome} now; an earlier task run{when} got the page"
    closed = f"; {file} closes some pages" if verdict == "partial" else ""
    return word, {
        IN: f"the task run got the page{closed}",
        REFUSED: "the browser of the task run was refused",
        CHALLENGED: "the browser of the task run was challenged",
        TOLD_NO: f"{file} told the task run to stay out",
    }.get(word, "the task run got no clear answer")


def _reason_of_probed(word: str, row: AgentRow, file: str, *, browser_served: bool) -> str:
    """Return why a live-probed agent has ``word``; ``file``: the name of the robots.txt."""
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
        return f"{file} says stay out{_line_note(row)}{served}"
    if word == UNCLEAR:
        return f"asked; {_reason_of_unclear(row)}"
    if row.robots != "part":
        return f"served{code}"
    alone = " to it" if word == PART else ""
    return f"served{code}; {file} closes {_first_closed_path([row]) or 'some pages'}{alone}"


def _reason_of_unclear(row: AgentRow) -> str:
    detail = row.exchange.detail if row.exchange is not None else ""
    if row.exchange is not None and row.exchange.compared:
        less = row.exchange.compared == LESS
        return f"{'much less to read than people get' if less else 'no page to compare with its own'} ({row.status})"
    if row.status:
        return f"the answer ({row.status}) proves nothing"
    return detail or "no answer came"


def _from_robots(rows: Sequence[AgentRow], file: str, *, told: bool) -> tuple[str, str]:
    """Return the word and the reason of an assistant that robots.txt alone speaks of, from the ``rows`` of its names.

    ``told``: the record says that all of them are told to stay out.
    """
    out = [row for row in rows if row.robots == "no"]
    if told or (out and len(out) == len(rows)):
        return TOLD_NO, f"not asked; {file} says stay out{_line_note(out[0]) if out else ''}"
    if out:
        return NOT_ASKED, f"{file} tells some of its agents to stay out"
    says = {row.robots for row in rows}
    if "?" in says:
        return NOT_ASKED, f"{file} could not be read"
    if "part" in says:
        return NOT_ASKED, f"{file} closes {_first_closed_path(rows) or 'some pages'}"
    return NOT_ASKED, f"{file} {POLICY_PHRASES[NO_RULES if NO_RULES in says else 'yes']}"


def _line_note(row: AgentRow) -> str:
    return f" (line {row.line})" if row.line else ""


def _first_closed_path(rows: Iterable[AgentRow]) -> str:
    """Return the first path that robots.txt closes to one of ``rows``, empty when it is not known."""
    for row in rows:
        name, _, path = row.rule.partition(":")
        if name.strip().lower() == "disallow" and path.strip():
            return path.strip()
    return ""


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

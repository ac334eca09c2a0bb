"""The second look at refusals: who is asked again, alone, beside which controls, and when a refusal counts. Pure.

A site may turn clients away by name, for a time (a limit on requests, which holds for everybody or which agents share),
at random, or altogether. So those who were turned away are asked again in rounds: each alone after a quiet, and right
after them clients that were served, the controls. What explains the refusals so far is a row of ``PHASES``. A refusal
counts when all controls are served round after round; the browser's own is judged in the same way, with an agent as its
control.

Where the limit answers alike, a client has a longer quiet before its request than the shortest after which a control
was served, so that a limit that goes by time alone cannot treat the two differently. Nor may the turn decide: behind a
balancer with a broken server among its own, a client and its control that are asked in turn meet the same two servers
each time. Where anything hints at it, the control is asked more often from round to round.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from email.utils import parsedate_to_datetime
from itertools import chain, islice
from types import MappingProxyType
from typing import Final, NamedTuple

from aui_tui.model.observations import BROWSER, BUSY, FILE_PROBES, LIMIT_STATUS, UNFOLLOWED
from aui_tui.model.verdicts import AWAY
from aui_tui.model.vocabulary import CHALLENGED, REFUSED, SERVED
from aui_tui.scan.policy import Limits

ROUNDS: Final = 2
"""Rounds with served controls until a refusal counts where nothing else explains it."""


class Phase(NamedTuple):
    """How the rounds go under one explanation of the refusals; ``docs/architecture.md`` says when, and what follows.

    ``together``: all who wait are asked in a round, else one. ``apart``: each request of a round has the quiet that
    comes before the round. ``rounds``: rounds with served controls until a refusal counts. ``growth``: how many times
    longer the next quiet is.
    """

    together: bool
    apart: bool
    rounds: int
    growth: int


OPEN, MAY_SHARE, SHARED, LIMITED = "open", "may share", "shared", "limited"
PHASES: Final = MappingProxyType(
    {
        OPEN: Phase(together=True, apart=False, rounds=ROUNDS, growth=1),
        MAY_SHARE: Phase(together=False, apart=False, rounds=3, growth=4),
        SHARED: Phase(together=False, apart=False, rounds=3, growth=2),
        LIMITED: Phase(together=True, apart=True, rounds=3, growth=2),
    }
)
"""The explanations: nothing hints at a limit; agents may share one; they do; it holds for everybody. An answer that the
limit gives to nobody (403 where it says 429) counts as if nothing limited."""
CHANCE_ROUNDS: Final = 4
"""Rounds until something counts that a site may answer by chance: a 5xx that is not a challenge, or another page than
the browser's (an A/B test). At 30 % random 502 an accusation is then under 0.2 % of scans."""
UNEVEN_ROUNDS: Final = 3
"""The same where the site may go by which of its servers answers."""
CONFIRMED: Final = 1
"""Rounds for an agent that is turned away like one whose refusal counts."""
SLOW: Final = 2.0
"""Seconds after which an answer, or its lack, is no limit's."""
MOST_FURTHER_CONTROLS: Final = 2
"""Further controls in a round, so that a client and its control do not meet the servers of a site in step."""
LONGER: Final = 1.5
"""The quiet before the next round where a limit is possible, in units of what the controls had."""
OUTLAST: Final = 13
"""The quiet in pauses after which a limit of 5 requests a minute has let the next one through."""
CLOSED_PAUSES: Final = (1, 3)
"""Pauses before the browser is asked again where everybody is turned away, and nothing hints at a limit."""
LIMIT_PAUSES: Final = (1, 4, 16)
"""The same where something does."""
LEAST: Final = 1.0
"""Seconds that a request has at least, however late it is in the scan."""
BREAKS: Final = frozenset({"timeout", "protocol", "connect", "tls"})
"""Errors that a site may bring about to turn a client away."""
WELL_KNOWN: Final = ("ai-plugin", "ucp", "mcp")
"""The files that lie below ``/.well-known/``."""


class ProbeAnswer(NamedTuple):
    """One answer to a probe: the facts by which the retry policy decides.

    ``retry_after``, ``elapsed``, ``at``: seconds; ``at`` is the time at which the answer had come. ``another``: it is
    a page, but another one than the browser's. ``cached``: it comes from a cache and says nothing of the client that
    asked now; ``fresh``: seconds until the cache asks the server again, infinite where it does not say.
    """

    outcome: str
    status: int
    error: str = ""
    retry_after: float = 0.0
    elapsed: float = 0.0
    at: float = 0.0
    another: bool = False
    cached: bool = False
    fresh: float = 0.0

    @property
    def kind(self) -> tuple[str, int]:
        """What tells two answers apart."""
        return self.outcome, self.status

    @property
    def failing(self) -> bool:
        """A 5xx that is not a challenge."""
        return self.outcome == REFUSED and 500 <= self.status <= 599

    @property
    def broken(self) -> bool:
        """Silence, or a connection that was refused, dropped or closed."""
        return self.status == 0 and self.error in BREAKS

    @property
    def by_limit(self) -> bool:
        """What a limit on requests answers with: 429, 5xx or nothing."""
        return self.broken or self.failing or (self.outcome == REFUSED and self.status == LIMIT_STATUS)

    @property
    def may_hide_a_file(self) -> bool:
        """The file may be there: what answered was a limit, a wall or a rule."""
        return self.by_limit or self.status == 403 or self.outcome == CHALLENGED

    @property
    def asks_to_wait(self) -> bool:
        """What a limit on requests says that it is: 429, 503 or Retry-After; it does not hold its clients for long."""
        return (
            self.elapsed < SLOW
            and self.outcome == REFUSED
            and (self.status in (LIMIT_STATUS, BUSY) or self.retry_after > 0)
        )

    @property
    def turned_away(self) -> bool:
        """Not served, in a way that the site chose or may have chosen."""
        return self.outcome in AWAY or self.broken or self.error in UNFOLLOWED


class Ask(NamedTuple):
    """Ask ``name`` alone, after ``pause`` seconds of quiet and within ``limit`` seconds; ``why`` says what for."""

    name: str
    pause: float
    limit: float
    why: str


Steps = Generator[tuple[Ask, ...], tuple[ProbeAnswer, ...], None]
"""Yields whom to ask, several side by side; takes what came back, in the same order."""


_HIT: Final = re.compile(r"\bhit\b", re.IGNORECASE)
_MAX_AGE: Final = re.compile(r"\b(s-maxage|max-age)\s*=\s*\"?(\d{1,9})", re.IGNORECASE)


def cached_for(fields: Mapping[str, str]) -> float | None:
    """Return for how many seconds more a cache answers as it did, by the ``fields`` of an answer that one kept.

    None where none did: no Age, and no field that says hit (RFC 9111 5.1, RFC 9211). Infinite where none says.
    """
    age = fields.get("age", "").strip()
    hit = any(_HIT.search(fields.get(name, "")) for name in ("cache-status", "x-cache", "cf-cache-status"))
    if not (hit or (age.isdigit() and int(age) > 0)):
        return None
    ages = {name.lower(): float(value) for name, value in _MAX_AGE.findall(fields.get("cache-control", ""))}
    longest = ages.get("s-maxage", ages.get("max-age", math.inf))
    return max(0.0, longest - (int(age[:9]) if age.isdigit() else 0))


def retry_after(value: str) -> float:
    """Return the seconds that a Retry-After field asks for, 0 when it has none (RFC 9110 10.2.3)."""
    if re.fullmatch(r"\d{1,9}", value.strip()):
        return float(value)
    try:
        due = parsedate_to_datetime(value.strip())
    except (ValueError, OverflowError):
        return 0.0
    return max(0.0, due.timestamp() - time.time())


class History:
    """Every answer of a scan by the name of its probe, and what the answers say of the site. Pure.

    ``first``: the answers before anybody was asked again; ``latest``: the last one of each probe. ``agents``: in the
    order of their probes.
    """

    def __init__(self, first: Mapping[str, ProbeAnswer]) -> None:
        self.first = dict(first)
        self.files = [name for name in FILE_PROBES if name in first]
        self.agents = [name for name in first if name not in (BROWSER, *FILE_PROBES)]
        self.latest: dict[str, ProbeAnswer] = {}
        self.answers: dict[str, list[ProbeAnswer]] = {name: [] for name in first}
        self._served: set[str] = set()
        self._away: set[str] = set()
        for name, answer in first.items():
            self.add(name, answer)

    def add(self, name: str, answer: ProbeAnswer) -> None:
        """Keep one more answer."""
        self.latest[name] = answer
        self.answers[name].append(answer)
        if answer.outcome == SERVED:
            self._served.add(name)
        if answer.turned_away:
            self._away.add(name)

    @property
    def silent(self) -> bool:
        """No probe got an answer at first."""
        return all(answer.status == 0 for answer in self.first.values())

    def was_served(self, name: str) -> bool:
        """Return whether ``name`` got the page at least once."""
        return name in self._served

    @property
    def served(self) -> bool:
        """The browser got the page at least once."""
        return self.was_served(BROWSER)

    @property
    def somebody(self) -> bool:
        """The browser or an agent got the page at least once."""
        return any(map(self.was_served, (BROWSER, *self.agents)))

    @property
    def random(self) -> bool:
        """A client that got a 5xx was served at another time; a 503 alone is what limits answer with."""
        return any(
            any(answer.failing and answer.status != BUSY for answer in self.answers[name]) and self.was_served(name)
            for name in (BROWSER, *self.agents)
        )

    @property
    def uneven(self) -> bool:
        """The site may not go by who asks, but by which of its servers answers.

        Some agents were served and some were not, a client was turned away at one time and served at another, or files
        were turned away as well.
        """
        away, served = self._away, self._served
        mixed = not away.isdisjoint(self.agents) and not served.isdisjoint(self.agents)
        if mixed or not away.isdisjoint(served):
            return True
        files = self.open_files()
        return len(files) > len(self.hidden_well_known(files))

    @property
    def all_limited(self) -> bool:
        """Everybody was turned away at first in a way that a limit on requests may explain.

        Somebody got a 429; or some files, robots.txt aside, got what the homepage answers, and others did not, so that
        it was not the page that decided.
        """
        every = chain.from_iterable(self.answers.values())
        if any(answer.status == LIMIT_STATUS and answer.outcome != CHALLENGED for answer in every):
            return True
        pages = {self.first[name].kind for name in (BROWSER, *self.agents)}
        files = [name for name in self.files if name != "robots"]
        alike = [name for name in files if self.first[name].kind in pages]
        limits = any(self.first[name].by_limit or self.first[name].status == 403 for name in alike)
        return limits and alike != files and alike != list(WELL_KNOWN)

    @property
    def let_through(self) -> bool:
        """A client that was asked to wait was served at another time: a limit was at work."""
        asked_to_wait = [
            name for name, answers in self.answers.items() if any(answer.asks_to_wait for answer in answers)
        ]
        return any(map(self.was_served, asked_to_wait))

    def unlike_limit(self, name: str) -> bool:
        """Return whether ``name`` gets what the limit gives to nobody: the answer of another rule.

        A limit answers with 429, 5xx and silence, and with what the browser got, or a client that got something else
        besides.
        """
        kinds = {
            client: {answer.kind for answer in answers if not answer.by_limit}
            for client, answers in self.answers.items()
        }
        own = kinds.pop(name)
        limits = (
            kinds_of_client
            for client, kinds_of_client in kinds.items()
            if client == BROWSER or len(kinds_of_client) > 1
        )
        last = next((answer for answer in reversed(self.answers[name]) if not answer.by_limit), None)
        return (
            last is not None
            and last.turned_away
            and not last.another
            and len(own) == 1
            and own.isdisjoint(chain.from_iterable(limits))
        )

    def alike(self, one: str, other: str) -> bool:
        """Return whether two clients are turned away alike and were never served."""
        first, second = self.latest[one], self.latest[other]
        same = first.turned_away and first.kind == second.kind and first.another == second.another
        same = same and first.error == second.error
        return same and not (self.was_served(one) or self.was_served(other))

    def steady(self, name: str) -> bool:
        """Return whether ``name`` got the same each time it was asked."""
        return len({answer.kind for answer in self.answers[name]}) == 1

    def still_away(self, name: str) -> bool:
        """Return whether ``name`` is turned away by its latest answer; a file by what a limit or a rule may answer."""
        answer = self.latest[name]
        return answer.turned_away and (name not in FILE_PROBES or name in self.open_files())

    def open_files(self) -> list[str]:
        """Return the files that may be there although they were not served."""
        return [name for name in self.files if self.latest[name].may_hide_a_file]

    def hidden_well_known(self, files: Sequence[str]) -> list[str]:
        """Return which of ``files`` one stands for: all below ``/.well-known/``, where they alone got a 403.

        A server that hides names with a dot answers like that.
        """
        alike = [name for name in files if self.latest[name].status == 403]
        return alike if alike == list(WELL_KNOWN) else []


class Retry:
    """The second look at one scan: ``first`` has the answer to each probe of it, by name.

    Drive :meth:`steps`; then ``limited`` names the probes that the site's limits left without a verdict (a homepage is
    inconclusive, a file not measured), ``controls`` counts for each client the controlled rounds that turned it away,
    and ``history`` has the answers. ``deadline``: the time at which the last request may begin.
    """

    def __init__(self, first: Mapping[str, ProbeAnswer], limits: Limits, now: float, deadline: float) -> None:
        self.limited: set[str] = set()
        self.controls: dict[str, int] = {}
        self.history = History(first)
        self._latest = self.history.latest
        self._limits = limits
        self._now = self._began = now
        self._deadline = deadline
        self._explanation = OPEN
        self._outlasted = False
        self._wait = self._quiet = max(limits.pause, 2 * limits.pace)
        self._served_at = dict.fromkeys(_budgets(self.history.agents[0]), now)

    @property
    def limits_everybody(self) -> bool:
        """The browser was turned away too when it was asked alone."""
        return self._explanation == LIMITED

    @property
    def shared(self) -> bool:
        """An agent met a limit that the browser did not."""
        return self._explanation == SHARED

    @property
    def limits(self) -> bool:
        """A limit on requests was at work."""
        return self.limits_everybody or self.shared or self.history.let_through

    @property
    def deliberate(self) -> bool:
        """The browser was served, and neither a limit nor chance explains who was not."""
        return self.history.served and not (self.history.random or self.limits_everybody or self.shared)

    @property
    def unsettled(self) -> bool:
        """The time was up before a deliberate refusal of an agent had been seen often enough to count."""
        return self.deliberate and not self.limited.isdisjoint(self.history.agents)

    def steps(self) -> Steps:
        """Yield whom to ask next, and take what came back."""
        if self.history.silent:
            return
        if not self.history.somebody:
            yield from self._everybody(self._latest[BROWSER])
        elif self._latest[BROWSER].turned_away:
            yield from self._rounds([BROWSER], "the browser was turned away")
        agents = [name for name in self.history.agents if self._never_served(name)]
        if self.history.served or self._proven(BROWSER):
            yield from self._rounds(agents, "it was turned away")
        elif not self.history.somebody and self._latest[BROWSER].outcome == CHALLENGED:
            for name in agents:
                yield from self._ask(name, self._gap, "it was turned away")
        files = self.history.open_files()
        if self.history.served:
            yield from self._files(files)
        self._conclude(agents, files)

    def _everybody(self, browser: ProbeAnswer) -> Steps:
        """Ask the browser again where everybody was turned away, until it is served or that is steady.

        Where everybody got one answer that no limit gives, such as 404, it is steady at once.
        """
        pages = {self._latest[name].kind for name in (BROWSER, *self.history.agents)}
        plain = browser.outcome == REFUSED and not browser.by_limit and browser.status != 403
        if not browser.turned_away or (plain and len(pages) == 1):
            return
        limit = self.history.all_limited
        for number, pause in enumerate(LIMIT_PAUSES if limit else CLOSED_PAUSES):
            quiet = max(pause * self._quiet, self._asked_for([BROWSER]) if limit or not number else 0.0)
            if not (yield from self._ask(BROWSER, quiet, "everybody was turned away")):
                return
            if not self._latest[BROWSER].turned_away or self._latest[BROWSER].error == "timeout":
                return
            self._explanation = LIMITED if limit else OPEN

    def _files(self, files: Sequence[str]) -> Steps:
        """Ask for ``files`` again; where one stands for others, for these only when its refusal does not count.

        Within half of the time: what is known of agents does not wait longer for them.
        """
        self._deadline = min(self._deadline, self._began + self._limits.budget / 2)
        why = "the file was not served"
        first, *others = self.history.hidden_well_known(files) or [""]
        yield from self._rounds([name for name in files if name not in others], why)
        if others and self._proven(first):
            self.controls.update(dict.fromkeys(others, self.controls[first]))
        else:
            yield from self._rounds(others, why)

    def _rounds(self, names: Sequence[str], why: str) -> Steps:
        """Ask ``names`` in rounds, each with its controls, until every one is served or its refusal counts."""
        waiting = list(names)
        self._wait = self._quiet
        pause = max(self._quiet, self._asked_for(names))
        least = math.inf
        while waiting:
            phase = PHASES[self._phase(waiting)]
            group = self._turn(waiting) if phase.together else waiting[:1]
            others = [name for name in waiting if name not in group]
            if self.shared and all(map(self._by_other_rule, group)):
                pause = self._quiet
            apart = self._wait if phase.apart else 0.0
            served_at = self._served_at["agents"]
            for number, batch in enumerate(self._batches(group)):
                between = max(self._gap, apart, self._asked_for(batch))
                if not (yield from self._ask_together(batch, between if number else pause, why)):
                    return
            left = [name for name in group if self.history.still_away(name)]
            panel = self._controls_of(left) if left else []
            limit = max(map(self._time_limit, left), default=0.0)
            served = bool(panel)
            before = dict(self._served_at)
            for name in panel:
                between = max(self._limits.pace, apart, self._asked_for([name]) if apart else 0.0)
                if not (yield from self._ask(name, between, "as the control", limit=limit)):
                    return
                served = served and self._serves(name)
                if name == panel[-1] and not served:
                    break
            if served:
                least = min(least, max(self._now - before[budget] for name in panel for budget in _budgets(name)))
                pause = self._count_round(left, panel, pause, least)
            elif left:
                pause = self._slow_down(waiting, panel)
                why = "a client that was served before was turned away too, so requests are limited"
            elif self._explanation == OPEN:
                pause = max(self._quiet, self._asked_for(others))
            elif self.shared:
                pause = min(self._served_at["agents"] - served_at, OUTLAST * self._quiet)
            left = [name for name in left if not (self._proven(name) or self._in_vain(name))]
            waiting = left + others if phase.together else others + left

    def _turn(self, waiting: Sequence[str]) -> list[str]:
        """Return whom of ``waiting`` to ask: who stands for others, and those when its refusal is about to count."""
        if self._explanation != OPEN:
            return list(waiting)
        return [name for name in waiting if self._lacks(self._representative(name)) <= 1 or self._stands_alone(name)]

    def _batches(self, names: Sequence[str]) -> list[list[str]]:
        """Return ``names`` as they are asked: one by one, and those side by side who wait long for no answer or one.

        A limit says no at once: silence is none.
        """
        slow = [name for name in names if self._explanation == OPEN and self._slow(name)]
        return [*([slow] if slow else []), *([name] for name in names if name not in slow)]

    def _slow(self, name: str) -> bool:
        return self._latest[name].elapsed >= SLOW

    def _representative(self, name: str) -> str:
        """Return who stands for ``name``: of the agents that are turned away alike the one that was asked most.

        Nobody does where a limit is at work, or may be, as where somebody is served; nor for those side by side.
        """
        if self._explanation != OPEN or name not in self.history.agents or self.history.uneven or self._slow(name):
            return name
        alike = self._alike(name)
        return max(alike or [name], key=lambda agent: (self.controls.get(agent, 0), -self.history.agents.index(agent)))

    def _alike(self, name: str) -> list[str]:
        """Return the agents that are turned away as ``name`` is."""
        return [agent for agent in self.history.agents if self.history.alike(name, agent)]

    def _stands_alone(self, name: str) -> bool:
        """Return whether nobody stands for ``name``."""
        return self._representative(name) == name

    def _lacks(self, name: str) -> int:
        """Return how many rounds more ``name`` must be turned away in until its refusal counts."""
        return self._rounds_needed(name) - self.controls.get(name, 0)

    def _in_vain(self, name: str) -> bool:
        """Return whether nothing comes of asking ``name``: a cache answers for longer than may be waited."""
        return self._cached(name) > self._limits.retry_after and self.controls.get(name, 0) >= ROUNDS

    def _phase(self, names: Sequence[str]) -> str:
        """Return which explanation holds for ``names``."""
        agents = self.history.agents
        may_share = (
            self._explanation == OPEN
            and not self._outlasted
            and set(names) <= set(agents)
            and any(self._latest[name].asks_to_wait for name in names)
            and not any(map(self.history.was_served, agents))
        )
        return MAY_SHARE if may_share else self._explanation

    def _controls_of(self, names: Sequence[str]) -> list[str]:
        """Return the controls of ``names`` in their order: an agent and the browser; both were served, at least once.

        An agent is none where the browser meets the limit too, where ``names`` did not meet the agents' own, or before
        that can have let an agent through again.
        """
        panel = [BROWSER] if BROWSER not in names and self.history.served else []
        early = self._now - self._served_at["agents"] < OUTLAST * self._quiet
        if not (
            names[0] in FILE_PROBES
            or (self.limits_everybody and panel)
            or (self.shared and (early or all(map(self._by_other_rule, names))))
        ):
            served = (name for name in self.history.agents if name not in names and self.history.was_served(name))
            panel = [*islice(served, 1), *panel]
        in_step = self.history.uneven and not (self.limits_everybody and all(map(self._by_other_rule, names)))
        further = max(self.controls.get(name, 0) for name in names) if in_step else 0
        return panel + panel[-1:] * min(further, MOST_FURTHER_CONTROLS)

    def _by_other_rule(self, name: str) -> bool:
        """Return whether the latest answer to ``name`` is one that the limit gives to nobody."""
        return not self._latest[name].by_limit and self.history.unlike_limit(name)

    def _count_round(self, left: Sequence[str], panel: Sequence[str], pause: float, quiet: float) -> float:
        """Count a round whose controls were served, for those who were ``left``; return the next pause.

        ``quiet``: the shortest after which controls were served. Where agents share a limit, or may, the browser alone
        is no control.
        """
        phase = self._phase(left)
        other_rule = all(map(self._by_other_rule, left))
        alone = phase in (MAY_SHARE, SHARED) and not other_rule and panel[0] == BROWSER
        enough = max(OUTLAST * self._quiet, self._asked_for(left))
        if alone and (phase == SHARED or pause < enough):
            self._wait = min(PHASES[phase].growth * self._wait, enough)
            left_to_outlast = enough - (self._now - self._served_at["agents"])
            return min(self._wait, left_to_outlast) if phase == SHARED and left_to_outlast > 0 else self._wait
        for name in left:
            self.controls[name] = self.controls.get(name, 0) + 1
        if alone:
            self._outlasted, self._wait = True, self._quiet
            return self._wait
        if phase == OPEN:
            return self._quiet
        return self._wait if other_rule else max(self._wait, LONGER * quiet)

    def _slow_down(self, waiting: Sequence[str], panel: Sequence[str]) -> float:
        """Return the pause after a round that turned a control away too.

        What was counted no longer counts, except for clients whose answer the limit gives to nobody.
        """
        browser_is_served = BROWSER not in waiting and self.history.served and self._serves(BROWSER)
        self._explanation = SHARED if browser_is_served and not self.limits_everybody else LIMITED
        for name in waiting:
            if not self.history.unlike_limit(name):
                self.controls.pop(name, None)
        self._wait = PHASES[self._explanation].growth * self._wait
        return max(self._wait, self._asked_for((*panel, *waiting)))

    def _rounds_needed(self, name: str) -> int:
        """Return in how many controlled rounds ``name`` must be turned away until its refusal counts.

        One confirms what the one that stands for it was proven to meet. Those side by side share their refusals: as
        many in all as if one stood for them.
        """
        if not self._stands_alone(name):
            return CONFIRMED
        by_chance = self._latest[name].failing or self._latest[name].another
        if by_chance and (name not in FILE_PROBES or name == "robots"):
            needed = CHANCE_ROUNDS
        elif self._explanation == OPEN and self.history.uneven:
            needed = UNEVEN_ROUNDS
        else:
            needed = PHASES[OPEN if self._by_other_rule(name) else self._explanation].rounds
        others = len(self._alike(name)) - 1 if self._explanation == OPEN and self._slow(name) else 0
        return max(ROUNDS, math.ceil((needed + others) / (1 + others))) if others > 0 else needed

    def _proven(self, name: str) -> bool:
        away = (answer for answer in self.history.answers[name] if answer.turned_away)
        first = self._representative(name)
        return (
            self._lacks(name) <= 0
            and not all(answer.cached for answer in away)
            and (first == name or self._proven(first))
        )

    def _serves(self, name: str) -> bool:
        return self._latest[name].outcome == SERVED

    def _never_served(self, name: str) -> bool:
        return self._latest[name].turned_away and not self.history.was_served(name)

    @property
    def _gap(self) -> float:
        """The quiet within a round where nothing is limited."""
        return max(self._limits.pace, self._quiet / 4)

    def _time_limit(self, name: str) -> float:
        """Return the seconds that ``name`` has: of a client that got no answer before, a few times the browser's."""
        if self._latest[name].error != "timeout":
            return self._limits.probe
        came = [answer.elapsed for answer in self.history.answers[BROWSER] if not answer.error]
        return max(self._limits.again, min(self._limits.probe, 3 * min(came, default=0.0)))

    def _asked_for(self, names: Iterable[str]) -> float:
        """Return what is left of the quiet that ``names`` were asked for, by Retry-After or a cache's age.

        A longer one is in vain.
        """
        waits = [(max(self._latest[name].retry_after, self._cached(name)), self._latest[name].at) for name in names]
        return max((wait - (self._now - at) for wait, at in waits if wait <= self._limits.retry_after), default=0.0)

    def _cached(self, name: str) -> float:
        """Return for how long a cache answers for ``name`` as it did, 0 once the site itself turned it away."""
        away = [answer for answer in self.history.answers[name] if answer.turned_away]
        return away[-1].fresh if away and all(answer.cached for answer in away) else 0.0

    def _ask(
        self, name: str, pause: float, why: str, *, limit: float | None = None
    ) -> Generator[tuple[Ask, ...], tuple[ProbeAnswer, ...], bool]:
        """Ask ``name`` and keep the answer; False when the time is up."""
        return (yield from self._ask_together([name], pause, why, limit=limit))

    def _ask_together(
        self, names: Sequence[str], pause: float, why: str, *, limit: float | None = None
    ) -> Generator[tuple[Ask, ...], tuple[ProbeAnswer, ...], bool]:
        """Do the same for ``names`` side by side."""
        if self._now + pause > self._deadline:
            return False
        answers = yield tuple(Ask(name, pause, limit or self._time_limit(name), why) for name in names)
        for name, answer in zip(names, answers, strict=True):
            self._now = max(self._now, answer.at)
            self.history.add(name, answer)
            if answer.outcome == SERVED:
                self._served_at |= dict.fromkeys(_budgets(name), answer.at)
        return True

    def _conclude(self, agents: Sequence[str], files: Sequence[str]) -> None:
        """Put down who is left without a verdict, and whose refusal counts."""
        self.limited = {*self._undecided_pages(agents), *self._undecided_files(files)}
        self.controls = {
            name: count
            for name, count in self.controls.items()
            if name not in FILE_PROBES and self._latest[name].turned_away and self._proven(name)
        }

    def _undecided_pages(self, agents: Sequence[str]) -> list[str]:
        """Return the homepage probes without a verdict.

        Where nobody was ever served, a limit leaves everybody without one, and without a limit each client that did
        not get the same every time. Else a refusal must be proven, the browser's too.
        """
        away = [name for name in (BROWSER, *agents) if self._never_served(name)]
        if self.history.somebody:
            return [name for name in away if not self._proven(name)]
        if self.history.all_limited:
            return away
        return [name for name in away if name != BROWSER and not self.history.steady(name)]

    def _undecided_files(self, files: Sequence[str]) -> list[str]:
        """Return the files that may be there although they were not served.

        What is proven is a 403, and for robots.txt whatever it answers but 429.
        """

        def proven(name: str) -> bool:
            status = self._latest[name].status
            if self._latest[name].outcome == CHALLENGED:
                return False
            return self._proven(name) and (status == 403 or (name == "robots" and status != LIMIT_STATUS))

        return [name for name in files if self.history.still_away(name) and not proven(name)]


def _budgets(name: str) -> tuple[str, ...]:
    """Return which limits a request of ``name`` may count for: everybody's, and that of the agents."""
    return ("everybody",) if name == BROWSER or name in FILE_PROBES else ("everybody", "agents")

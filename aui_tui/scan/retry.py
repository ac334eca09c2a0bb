"""When a refusal counts: who is asked again, alone, and which served clients are its controls. Pure.

A site may turn clients away by name, for a time (a limit on requests, which holds for everybody or which agents share),
at random, or altogether. So a client that was turned away is asked again alone, after a growing quiet, and right after
it those who were served: the browser, and one agent. The refusal counts when all of these controls are served round
after round. The browser itself is judged in the same way, with an agent as its control.

When a control is turned away too, a limit is at work: the quiet doubles, or lasts as long as Retry-After says, and what
was counted no longer counts, but for an answer that the limit gives to nobody (403 where it says 429). Where the limit
answers alike, the client has a longer quiet before its request than the control had in the round before, and one round
more, so that a limit that goes by time alone cannot treat the two differently. Where only agents were turned away by
429, 503 or Retry-After, they may share a limit: one of them is asked in a round until a quiet of ``OUTLAST`` pauses
brought no page either.

Nor may the turn decide: behind a balancer with a broken server among its own, a client and its control that are asked
in turn meet the same two servers every time. Where anything hints at it, the control is asked more often from round to
round.
"""

from __future__ import annotations

import re
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import Final, NamedTuple

from aui_tui.model.observations import BROWSER, CHALLENGED, FILE_PROBES, REFUSED, SERVED, UNFOLLOWED
from aui_tui.scan.policy import Limits

ROUNDS: Final = 2
"""Controlled rounds in which a client must be turned away until its refusal counts."""
TIGHT_ROUNDS: Final = 3
"""The same for what the site's limit answers everybody with: a burst that it lets through may mislead two rounds."""
FAILING_ROUNDS: Final = 4
"""The same for what a site may answer by chance: a 5xx that is not a challenge, or another page than the browser's (an
A/B test). At 30 % random 502 an accusation is then under 0.2 % of scans."""
UNEVEN_ROUNDS: Final = 3
"""The same where the site may go by which of its servers answers."""
MOST_MORE: Final = 2
"""Further controls in a round, so that a client and its control do not meet the servers of a site in step."""
LONGEST_STRETCH: Final = 8
"""The longest quiet between two controlled rounds, in pauses."""
TIGHT_STRETCH: Final = 1.5
"""How much longer than the control's quiet the client's is, where the site is known to limit requests."""
OUTLAST: Final = 13
"""The quiet in pauses after which a limit of 5 requests a minute has let the next one through."""
CLOSED_PAUSES: Final = (1, 3)
"""Pauses before the browser is asked again where everybody is turned away, and nothing hints at a limit."""
LIMIT_PAUSES: Final = (1, 4, 16)
"""The same where everybody gets 429."""
LEAST: Final = 1.0
"""Seconds that a request has at least, however late it is in the scan."""
BREAKS: Final = frozenset({"timeout", "protocol", "connect", "tls"})
"""Errors that a site may bring about to turn a client away."""
WELL_KNOWN: Final = ("ai-plugin", "ucp", "mcp")
"""The files that lie below ``/.well-known/``."""
LIMIT_STATUS: Final = 429
BUSY: Final = 503


class Seen(NamedTuple):
    """One answer, as far as the policy goes by it.

    ``retry_after``, ``elapsed``, ``at``: seconds; ``at`` is the time at which the answer had come. ``another``: it is
    a page, but another one than the browser's.
    """

    outcome: str
    status: int
    error: str = ""
    retry_after: float = 0.0
    elapsed: float = 0.0
    at: float = 0.0
    another: bool = False

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
    def asks_to_wait(self) -> bool:
        """What a limit on requests says that it is: 429, 503 or Retry-After."""
        return self.outcome == REFUSED and (self.status in (LIMIT_STATUS, BUSY) or self.retry_after > 0)

    @property
    def turned_away(self) -> bool:
        """Not served, in a way that the site chose or may have chosen."""
        return self.outcome in (REFUSED, CHALLENGED) or self.broken or self.error in UNFOLLOWED


class Ask(NamedTuple):
    """Ask ``name`` alone, after ``pause`` seconds of quiet and within ``limit`` seconds; ``why`` says what for."""

    name: str
    pause: float
    limit: float
    why: str


Steps = Generator[Ask, Seen, None]


def retry_after(value: str, now: float | None = None) -> float:
    """Return the seconds that a Retry-After field asks for, 0 when it has none (RFC 9110 10.2.3).

    ``now``: seconds since the epoch, by default the time.
    """
    if re.fullmatch(r"\d{1,9}", value.strip()):
        return float(value)
    try:
        due = parsedate_to_datetime(value.strip())
    except (ValueError, OverflowError):
        return 0.0
    return max(0.0, due.timestamp() - (time.time() if now is None else now))


class History:
    """Every answer of a scan by the name of its probe, and what the answers say of the site. Pure.

    ``first``: the answers before anybody was asked again; ``latest``: the last one of each probe.
    """

    def __init__(self, first: Mapping[str, Seen]) -> None:
        self.first = dict(first)
        self.files = [name for name in FILE_PROBES if name in first]
        self.latest = dict(first)
        self.answers = {name: [seen] for name, seen in first.items()}

    def add(self, name: str, seen: Seen) -> None:
        """Keep one more answer."""
        self.latest[name] = seen
        self.answers[name].append(seen)

    @property
    def agents(self) -> list[str]:
        """The agents, in the order of their probes."""
        return [name for name in self.first if name not in (BROWSER, *FILE_PROBES)]

    @property
    def silent(self) -> bool:
        """No probe got an answer at first."""
        return all(seen.status == 0 for seen in self.first.values())

    def was_served(self, name: str) -> bool:
        """Return whether ``name`` got the page at least once."""
        return any(seen.outcome == SERVED for seen in self.answers[name])

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
            any(seen.failing and seen.status != BUSY for seen in self.answers[name]) and self.was_served(name)
            for name in (BROWSER, *self.agents)
        )

    @property
    def uneven(self) -> bool:
        """The site may not go by who asks, but by which of its servers answers.

        A client was turned away at one time and served at another, or files were turned away as well.
        """
        files = self.open_files()
        return len(files) > len(self.hidden_well_known(files)) or any(
            self.was_served(name) and any(seen.turned_away for seen in answers)
            for name, answers in self.answers.items()
        )

    @property
    def all_limited(self) -> bool:
        """Everybody was turned away at first in a way that a limit on requests may explain.

        Somebody got a 429; or some files, robots.txt aside, got what the homepage answers, and others did not, so that
        it was not the page that decided.
        """
        if any(seen.status == LIMIT_STATUS for answers in self.answers.values() for seen in answers):
            return True
        pages = {self.first[name].kind for name in (BROWSER, *self.agents)}
        files = [name for name in self.files if name != "robots"]
        alike = [name for name in files if self.first[name].kind in pages]
        limits = any(self.first[name].by_limit or self.first[name].status == 403 for name in alike)
        return limits and alike != files and alike != list(WELL_KNOWN)

    def unlike_limit(self, name: str) -> bool:
        """Return whether ``name`` gets what the limit gives to nobody: the answer of another rule.

        The limit's answers are those that the browser got, and those of clients that got something else besides. Of
        the answers to ``name`` the last one counts that is not by its kind an answer of limits.
        """
        seen = next((seen for seen in reversed(self.answers[name]) if not seen.by_limit), None)
        if seen is None or seen.another or not seen.turned_away:
            return False
        return not any(
            other.kind == seen.kind
            for client, answers in self.answers.items()
            if client != name and (client == BROWSER or any(not a.by_limit and a.kind != seen.kind for a in answers))
            for other in answers
        ) and not any(not own.by_limit and own.kind != seen.kind for own in self.answers[name])

    def steady(self, name: str) -> bool:
        """Return whether ``name`` got the same each time it was asked."""
        return len({seen.kind for seen in self.answers[name]}) == 1

    def still_away(self, name: str) -> bool:
        """Return whether ``name`` is turned away by its latest answer; a file by what a limit or a rule may answer."""
        seen = self.latest[name]
        return seen.turned_away and (name not in FILE_PROBES or seen.by_limit or seen.status == 403)

    def open_files(self) -> list[str]:
        """Return the files that may be there although they were not served."""
        return [name for name in self.files if self.latest[name].by_limit or self.latest[name].status == 403]

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
    ``limits_everybody`` says that the site turned the browser away too when it was asked alone, ``shared`` that an
    agent met a limit which the browser did not, and ``history`` has the answers. ``deadline``: the time at which the
    last request may begin.
    """

    def __init__(self, first: Mapping[str, Seen], limits: Limits, now: float, deadline: float) -> None:
        self.limited: set[str] = set()
        self.controls: dict[str, int] = {}
        self.limits_everybody = self.shared = False
        self.history = History(first)
        self._latest = self.history.latest
        self._limits = limits
        self._now = now
        self._deadline = deadline
        self._quiet = max(limits.pause, 2 * limits.pace)
        self._served_at: dict[str, float] = {}
        self._served_before: dict[str, float] = {}
        self._steady_pace = self._just_before = self._outlasted = False
        self._refill = 0.0
        self._asked: list[str] = []
        self._wait = self._quiet
        self._pages = (BROWSER, *self.history.agents)
        for name in self._pages:
            if self._serves(name):
                self._served_at |= dict.fromkeys(_budgets(name), now)

    def steps(self) -> Steps:
        """Yield whom to ask next, and take what came back."""
        if self.history.silent:
            return
        if not self.history.somebody:
            yield from self._everybody()
        elif self._latest[BROWSER].turned_away:
            yield from self._clients([BROWSER], "the browser was turned away")
        agents = [name for name in self.history.agents if self._is_away(name)]
        if self.history.served or self._proven(BROWSER):
            yield from self._clients(agents, "it was turned away")
        elif not self.history.somebody and self._latest[BROWSER].outcome == CHALLENGED:
            for name in agents:
                yield from self._ask(name, self._gap(name), "it was turned away")
        files = self.history.open_files()
        if self.history.served:
            yield from self._files(files)
        self._conclude(agents, files)

    def _serves(self, name: str) -> bool:
        return self._latest[name].outcome == SERVED

    def _is_away(self, name: str) -> bool:
        return self._latest[name].turned_away and not self.history.was_served(name)

    @property
    def _limit_at_work(self) -> bool:
        return self.limits_everybody or self.shared

    def _everybody(self) -> Steps:
        """Ask the browser again where everybody was turned away, until it is served or that is steady.

        Where everybody got one answer that no limit gives, such as 404, it is steady at once.
        """
        browser = self._latest[BROWSER]
        plain = browser.outcome == REFUSED and not browser.by_limit and browser.status != 403
        if not browser.turned_away or (plain and len({self._latest[name].kind for name in self._pages}) == 1):
            return
        mixed = self.history.all_limited
        all_429 = all(seen.status == LIMIT_STATUS for seen in self.history.first.values())
        growth = 4 if browser.status == 403 else 2
        pauses = LIMIT_PAUSES if all_429 else [growth**n for n in range(9)] if mixed else CLOSED_PAUSES
        for number, pause in enumerate(pauses):
            asked = self._asked_for((self._latest[BROWSER],)) if number == 0 and mixed else 0.0
            if not (yield from self._ask(BROWSER, max(pause * self._quiet, asked), "everybody was turned away")):
                return
            if not self._latest[BROWSER].turned_away:
                return
            self.limits_everybody = mixed

    def _files(self, files: Sequence[str]) -> Steps:
        """Ask for ``files`` again; where one stands for others, for these only when its refusal does not count."""
        why = "the file was not served"
        first, *others = self.history.hidden_well_known(files) or [""]
        yield from self._clients([name for name in files if name not in others], why)
        if others and self._proven(first):
            self.controls.update(dict.fromkeys(others, self.controls[first]))
        else:
            yield from self._clients(others, why)

    def _clients(self, names: Sequence[str], why: str) -> Steps:
        """Ask ``names`` in rounds, each with its controls, until every one is served or its refusal counts."""
        waiting = list(names)
        self._wait = self._quiet
        pause = max(self._quiet, self._asked_for(self._latest[name] for name in waiting))
        while waiting:
            group = self._affordable(waiting, pause)
            if self.shared and self._latest[group[0]].turned_away and self._other_rule(group):
                pause = self._quiet
            left = yield from self._round(group, pause, why)
            if left is None:
                return
            if left and self._asked and all(map(self._serves, self._asked)):
                pause = self._count_round(group, left, pause)
            elif left:
                pause = self._slow_down(waiting, left, pause)
                why = "a client that was served before was turned away too, so requests are limited"
            again = [name for name in group if name in left and not self._proven(name)]
            others = [name for name in waiting if name not in group]
            waiting = others + again if self._one_by_one(waiting) else again + others

    def _panel(self, names: Sequence[str]) -> list[str]:
        """Return the controls of ``names``: an agent and, last, the browser; both were served, at least once.

        An agent does not serve as a control where the browser meets the same limit, where its own limit is not what
        ``names`` met, or before that limit can have let it through again.
        """
        panel = [BROWSER] if BROWSER not in names and self.history.served else []
        if names[0] in FILE_PROBES or (panel and self.limits_everybody):
            return panel
        if self._limit_at_work:
            quiet = self._now - self._served_at.get("agents", self._now)
            if (panel and self._other_rule(names)) or quiet < max(self._refill, OUTLAST * self._quiet):
                return panel
        peers = [name for name in self.history.agents if name not in names and self.history.was_served(name)]
        return sorted(peers, key=lambda name: not self.history.steady(name))[:1] + panel

    def _other_rule(self, names: Sequence[str]) -> bool:
        """Return whether all of ``names`` got an answer that no limit gives and that does not say when to come."""
        return all(
            not self._latest[name].by_limit
            and not (self._latest[name].asks_to_wait and self._may_share([name]))
            and self.history.unlike_limit(name)
            for name in names
        )

    def _one_by_one(self, names: Sequence[str]) -> bool:
        """Return whether agents share a limit, or may: then one of them is asked in a round."""
        if names[0] in FILE_PROBES or self.limits_everybody:
            return False
        return self.shared or (self._may_share(names) and not self._outlasted)

    def _may_share(self, names: Sequence[str]) -> bool:
        """Return whether ``names`` may have met a limit that agents share, and no agent can be their control."""
        return (
            BROWSER not in names
            and any(self._latest[name].asks_to_wait for name in names)
            and not any(map(self.history.was_served, self.history.agents))
        )

    def _count_round(self, group: Sequence[str], left: Sequence[str], pause: float) -> float:
        """Count a round whose controls were served, for all who were turned away in it; return the next pause.

        Where only a part of the group was turned away, its order may have decided: such a round counts for nobody. A
        limit that agents share, or may share, is no longer an explanation after a quiet in which it would have let
        one request through.
        """
        asked = self._asked_for(self._latest[name] for name in left)
        if self._one_by_one(left) and not self._other_rule(left):
            controlled = len(self._asked) > 1
            enough = max(OUTLAST * self._quiet, asked)
            self._outlasted |= pause >= enough and not self.shared
            if not controlled and not self._outlasted:
                self._wait = min(max(2 * self._wait, asked), enough)
                if self._may_share(left):
                    self._count(left)
                return self._wait
        if len(left) == len(group):
            self._count(left)
        self._wait = self._wait if self._limit_at_work else self._quiet
        return max(self._wait, self._stretch(left))

    def _count(self, names: Iterable[str]) -> None:
        for name in names:
            if not (self._latest[name].by_limit and self.history.unlike_limit(name)):
                self.controls[name] = self.controls.get(name, 0) + 1

    def _slow_down(self, waiting: Sequence[str], left: Sequence[str], pause: float) -> float:
        """Return the pause after a round that turned a control away too.

        What was counted no longer counts, except for clients whose answer the limit gives to nobody.
        """
        everybody = BROWSER in left or not self.history.served or not self._serves(BROWSER)
        self.limits_everybody |= everybody
        self.shared = not self.limits_everybody
        for name in waiting:
            if not self.history.unlike_limit(name):
                self.controls.pop(name, None)
        asked = self._asked_for(self._latest[name] for name in (*self._asked, *left))
        self._wait *= 1 if asked > pause else 2  # a site that says when to come is taken at its word first
        return max(self._wait, asked)

    def _affordable(self, waiting: Sequence[str], pause: float) -> list[str]:
        """Return whom to ask in the next round: where requests are limited, as many as the time is enough for."""
        if self._one_by_one(waiting):
            return list(waiting[:1])
        if not self.limits_everybody:
            return list(waiting)
        if not self._serves(BROWSER) and pause <= self._wait and self.history.unlike_limit(waiting[0]):
            return list(waiting[:1])
        rounds = self._needed(waiting[0]) - self.controls.get(waiting[0], 0)
        left = (self._deadline - self._now - pause) / max(rounds, 1)
        return list(waiting[: max(1, int(left / self._wait) - 1)])

    def _round(self, group: Sequence[str], pause: float, why: str) -> Generator[Ask, Seen, list[str] | None]:
        """Ask every one of ``group`` and, when one was turned away, the controls; return who was, None out of time."""
        apart = self._wait if self.limits_everybody else 0.0
        for number, name in enumerate(group):
            quiet = self._now - self._served_at.get("agents", self._now)
            if not (yield from self._ask(name, max(self._gap(name), apart if number else pause), why)):
                return None
            if self.shared and name in self.history.agents and self._serves(name):
                self._refill = min(self._refill or quiet + pause, quiet + pause)
        left = [name for name in group if self.history.still_away(name)]
        controlled, self._just_before = self._just_before, False
        if controlled and not any(self._latest[name].by_limit for name in left):
            return left
        if left and not (yield from self._control(left, max(self._limits.pace, apart))):
            return None
        return left

    def _control(self, left: Sequence[str], pause: float) -> Generator[Ask, Seen, bool]:
        """Ask the controls of ``left``; False out of time.

        Where requests are limited and an answer is of another rule, the browser is asked once more with no longer quiet
        than the agents had. When it is served again, their refusals do not come from a limit that the last of a round
        escapes, and it is the control of the next round too, which follows at once.
        """
        limit = max(self._limit(name) for name in left)
        panel = self._asked = self._panel(left)
        for name in panel:
            if not (yield from self._ask(name, pause, "as the control", limit=limit, last=True)):
                return False
        if not (yield from self._out_of_step(left, panel)):
            return False
        control = self._latest[BROWSER]
        if self._steady_pace or not self.limits_everybody or BROWSER not in panel or not self._serves(BROWSER):
            return True
        if any(map(self.history.unlike_limit, left)) and (
            yield from self._ask(BROWSER, pause, "as the control, once more")
        ):
            self._steady_pace = self._just_before = self._serves(BROWSER)
            self._latest[BROWSER] = control
        return True

    def _out_of_step(self, left: Sequence[str], panel: Sequence[str]) -> Generator[Ask, Seen, bool]:
        """Ask the last control of ``left`` more often from round to round where the site is uneven.

        Return False out of time. Behind a balancer that gives requests to its servers in turn, a client and its
        control that are always asked in turn would meet the same two servers each time, and one of these may be broken.
        """
        if not panel or not self.history.uneven or self._steady_pace or self.shared:
            return True
        counted = max(self.controls.get(name, 0) for name in left)
        before, apart = dict(self._served_before), max(self._limits.pace, self._wait if self.limits_everybody else 0.0)
        for _ in range(min(counted, 1 if self.limits_everybody else MOST_MORE)):
            if self._serves(panel[-1]) and not (yield from self._ask(panel[-1], apart, "as the control, again")):
                return False
        self._served_before = before  # the quiet of the control is that before its first request
        return True

    def _stretch(self, left: Sequence[str]) -> float:
        """Return the quiet that the controls had before they were served, which the next client gets too."""
        budgets = {budget for name in self._asked for budget in _budgets(name)}
        quiet = max((self._now - self._served_before.get(budget, self._now) for budget in budgets), default=0.0)
        if self._limit_at_work:
            return 0.0 if all(map(self.history.unlike_limit, left)) else TIGHT_STRETCH * quiet
        if max(self.controls.get(name, 0) for name in left) > 1:
            return 0.0
        return min(quiet, LONGEST_STRETCH * self._quiet)

    def _needed(self, name: str) -> int:
        """Return in how many controlled rounds ``name`` must be turned away until its refusal counts."""
        by_chance = self._latest[name].failing or self._latest[name].another
        if by_chance and (name not in FILE_PROBES or name == "robots"):
            return FAILING_ROUNDS
        if self.shared and self.history.unlike_limit(name) and self._is_proven_of_another(name):
            return 1
        if self.history.uneven and not self._limit_at_work:
            return UNEVEN_ROUNDS
        if not self._limit_at_work or ((self._steady_pace or self.shared) and self.history.unlike_limit(name)):
            return ROUNDS
        return TIGHT_ROUNDS

    def _is_proven_of_another(self, name: str) -> bool:
        """Return whether the answer to ``name`` is one that counts for another agent, where both share a limit."""
        return any(
            self.controls.get(other, 0) >= ROUNDS and self._latest[other].kind == self._latest[name].kind
            for other in self.history.agents
            if other != name
        )

    def _proven(self, name: str) -> bool:
        enough = self.controls.get(name, 0) >= self._needed(name)
        return enough and (self._outlasted or name in FILE_PROBES or not self._may_share([name]))

    def _gap(self, name: str) -> float:
        """Return the quiet before ``name`` within a round: as long as it may keep us waiting, where it did."""
        waits = self._limit(name) if self._latest[name].error == "timeout" else self._latest[name].elapsed
        return max(self._limits.pace, self._quiet / 4, min(waits, self._limits.probe))

    def _limit(self, name: str) -> float:
        """Return the seconds that ``name`` has: of a client that got no answer before, a few times the browser's."""
        if self._latest[name].error != "timeout":
            return self._limits.probe
        return min(self._limits.probe, max(self._limits.again, 3 * self.history.first[BROWSER].elapsed))

    def _asked_for(self, answers: Iterable[Seen]) -> float:
        return min(self._limits.retry_after, max((seen.retry_after for seen in answers), default=0.0))

    def _ask(
        self, name: str, pause: float, why: str, *, limit: float | None = None, last: bool = False
    ) -> Generator[Ask, Seen, bool]:
        """Ask ``name`` and keep the answer; False when the time is up. ``last``: a control may come a little later."""
        left = self._deadline - self._now
        whole = last or self.controls.get(name, 0) > 0  # a shorter quiet than the control had would prove nothing
        if left < (pause - self._quiet if whole else min(pause, self._quiet)):
            return False
        seen = yield Ask(name, pause if whole else min(pause, left), limit or self._limit(name), why)
        self._now = seen.at
        self.history.add(name, seen)
        if seen.outcome == SERVED:
            for budget in _budgets(name):
                self._served_before[budget] = self._served_at.get(budget, seen.at)
                self._served_at[budget] = seen.at
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
        away = [name for name in (BROWSER, *agents) if self._is_away(name)]
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
            return self._proven(name) and (status == 403 or (name == "robots" and status != LIMIT_STATUS))

        return [name for name in files if self.history.still_away(name) and not proven(name)]


def _budgets(name: str) -> tuple[str, ...]:
    """Return which limits a request of ``name`` may count for: everybody's, and that of the agents."""
    return ("everybody",) if name == BROWSER or name in FILE_PROBES else ("everybody", "agents")

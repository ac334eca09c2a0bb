"""When a refusal counts: who is asked again, alone, with the browser as the control. Pure.

A site that limits everybody turns agents away as well, and so does one that fails at random. So a client that was
turned away is asked again alone, and then the browser as the control; the refusal counts when the browser is served,
round after round. When the browser is turned away too, the site limits everybody: the quiet before the next request
doubles, or lasts as long as the site's Retry-After says. From then on it is also the quiet between two requests, and a
refusal counts in one of two ways. An answer that the limit gives to nobody (403 where it says 429) comes from another
rule, so controls served round after round are enough. Where the limit answers alike, the client has a longer quiet
before its request than the control had in the round before, and one round more, so that a limit that goes by time
alone cannot treat the two differently (method.md).

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

from aui_tui.model.observations import BROWSER, CHALLENGED, FILE_PROBES, REFUSED, SERVED
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
    def turned_away(self) -> bool:
        """Not served, in a way that the site chose or may have chosen."""
        return self.outcome in (REFUSED, CHALLENGED) or self.broken


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
    except ValueError:
        return 0.0
    return max(0.0, due.timestamp() - (time.time() if now is None else now))


class History:
    """Every answer of a scan by the name of its probe, and what the answers say of the site. Pure.

    ``first``: the answers before anybody was asked again; ``latest``: the last one of each probe.
    """

    def __init__(self, first: Mapping[str, Seen]) -> None:
        self.first = dict(first)
        self.latest = dict(first)
        self._all = {name: [seen] for name, seen in first.items()}

    def add(self, name: str, seen: Seen) -> None:
        """Keep one more answer."""
        self.latest[name] = seen
        self._all[name].append(seen)

    @property
    def pages(self) -> list[Seen]:
        """The latest answers to the homepage."""
        return [seen for name, seen in self.latest.items() if name not in FILE_PROBES]

    @property
    def silent(self) -> bool:
        """No probe got an answer at first."""
        return all(seen.status == 0 for seen in self.first.values())

    @property
    def alike(self) -> bool:
        """Every homepage probe got one refusal that no limit answers with, such as 404."""
        page = self.pages[0]
        plain = page.outcome == REFUSED and not page.by_limit and page.status != 403
        return plain and len({(seen.outcome, seen.status) for seen in self.pages}) == 1

    @property
    def served(self) -> bool:
        """The browser got the page at least once."""
        return any(seen.outcome == SERVED for seen in self._all[BROWSER])

    @property
    def hopeless(self) -> bool:
        """No probe of the scan was served or met a plain 404 at first: the site is down, or shut for everybody."""
        return all(
            seen.status == 0
            or (seen.turned_away and (seen.by_limit or seen.status == 403 or seen.outcome == CHALLENGED))
            for seen in self.first.values()
        )

    @property
    def down(self) -> bool:
        """The site fails for everybody: never a page, and a 5xx or nothing at last."""
        return not self.served and self.hopeless and all(seen.failing or seen.status == 0 for seen in self.pages)

    @property
    def shut(self) -> bool:
        """The site turns everybody away, and nothing hints at a limit on requests."""
        return not self.served and not self._limit_at_work()

    @property
    def random(self) -> bool:
        """A client that got a 5xx was served at another time; a 503 alone is what limits answer with."""
        return any(
            any(seen.failing and seen.status != BUSY for seen in answers)
            and any(seen.outcome == SERVED for seen in answers)
            for answers in self._of_pages()
        )

    @property
    def uneven(self) -> bool:
        """The site may not go by who asks, but by which of its servers answers.

        A client was turned away at one time and served at another, or files were turned away as well.
        """
        files = self.open_files()
        return len(files) > len(self.kept_back(files)) or any(
            any(seen.turned_away for seen in answers) and any(seen.outcome == SERVED for seen in answers)
            for answers in self._all.values()
        )

    def may_be_limit(self, seen: Seen) -> bool:
        """Return whether ``seen`` may come from a limit; a 403 or a challenge where some get it and others do not."""
        if seen.outcome == CHALLENGED or (seen.outcome == REFUSED and seen.status == 403):
            if any(other.outcome == SERVED for answers in self._of_pages() for other in answers):
                return True
            return seen.outcome == REFUSED and any(self.first[name].status == 403 for name in FILE_PROBES)
        return seen.by_limit

    def unlike_limit(self, name: str) -> bool:
        """Return whether ``name`` gets what the limit gives to nobody: the answer of another rule.

        The limit's answers are those that the browser got, and those of clients that got something else besides. Of
        the answers to ``name`` the last one counts that is not by its kind an answer of limits.
        """
        seen = next((seen for seen in reversed(self._all[name]) if not seen.by_limit), None)
        if seen is None or seen.another or not seen.turned_away:
            return False
        kind = (seen.outcome, seen.status)
        return not any(
            (other.outcome, other.status) == kind
            for client, answers in self._all.items()
            if client == BROWSER or any(not a.by_limit and (a.outcome, a.status) != kind for a in answers)
            for other in answers
        )

    def steady(self, name: str) -> bool:
        """Return whether ``name`` got the same each time it was asked."""
        return len({(seen.outcome, seen.status) for seen in self._all[name]}) == 1

    def still_away(self, name: str) -> bool:
        """Return whether ``name`` is turned away by its latest answer; a file by what a limit or a rule may answer."""
        seen = self.latest[name]
        return seen.turned_away and (name not in FILE_PROBES or seen.by_limit or seen.status == 403)

    def open_files(self) -> list[str]:
        """Return the files that may be there although they were not served."""
        return [name for name in FILE_PROBES if self.latest[name].by_limit or self.latest[name].status == 403]

    def kept_back(self, files: Sequence[str]) -> list[str]:
        """Return which of ``files`` one stands for: all below ``/.well-known/``, where they alone got a 403.

        A server that hides names with a dot answers like that.
        """
        alike = [name for name in files if self.latest[name].status == 403]
        return alike if alike == [name for name in FILE_PROBES if name in WELL_KNOWN] else []

    def _of_pages(self) -> list[list[Seen]]:
        return [answers for name, answers in self._all.items() if name not in FILE_PROBES]

    def _limit_at_work(self) -> bool:
        """Whether the browser, which was never served, may have met a limit on requests."""
        return (
            self.may_be_limit(self.latest[BROWSER])
            or any(seen.by_limit for seen in self._all[BROWSER])
            or any(seen.status == LIMIT_STATUS for answers in self._all.values() for seen in answers)
        )


class Recheck:
    """The second look at one scan: ``first`` has the answer to each probe of it, by name.

    Drive :meth:`steps`; then ``limited`` names the probes that the site's limits left without a verdict (a homepage is
    inconclusive, a file not measured), ``controls`` counts for each client the controlled rounds that turned it away,
    ``tight`` says that the site turned the browser away too when it was asked alone, and ``history`` has the answers.
    ``deadline``: the time at which the last request may begin.
    """

    def __init__(self, first: Mapping[str, Seen], limits: Limits, now: float, deadline: float) -> None:
        self.limited: set[str] = set()
        self.controls: dict[str, int] = {}
        self.tight = False
        self.history = History(first)
        self._latest = self.history.latest
        self._limits = limits
        self._now = now
        self._deadline = deadline
        self._quiet = max(limits.pause, 2 * limits.pace)
        self._served_at = now if self._serves(BROWSER) else None
        self._served_before: float | None = None
        self._steady_pace = self._just_before = False
        self._wait = self._quiet

    def steps(self) -> Steps:
        """Yield whom to ask next, and take what came back."""
        if self.history.silent or self.history.alike:
            return
        yield from self._browser()
        agents = [
            name for name, seen in self._latest.items() if name not in (BROWSER, *FILE_PROBES) and seen.turned_away
        ]
        if self._serves(BROWSER):
            yield from self._clients(agents, "it was turned away")
        else:
            for name in agents:
                yield from self._ask(name, self._gap(name), "it was turned away")
        files = self.history.open_files()
        if self.history.served:
            yield from self._files(files)
        self._conclude(agents, files)

    def _serves(self, name: str) -> bool:
        return self._latest[name].outcome == SERVED

    def _browser(self) -> Steps:
        """Ask the browser, where it was turned away, until it is served or that is hopeless."""
        pause = self._quiet
        for number in range(self._tries()):
            seen = self._latest[BROWSER]
            if not seen.turned_away:
                return
            hopeless = self.history.hopeless
            why = "the site turned everybody away" if hopeless else "the browser was turned away"
            asked = self._asked_for((seen,)) if number == 0 else 0.0
            if not (yield from self._ask(BROWSER, max(pause, asked), why)):
                return
            self.tight = self._latest[BROWSER].turned_away
            pause *= 4 if hopeless or seen.status == 403 else 2

    def _tries(self) -> int:
        """Return how often to ask the browser again: often where a limit lets others in, else once."""
        seen = self._latest[BROWSER]
        if not seen.turned_away:
            return 0
        if not self.history.may_be_limit(seen):
            return 3 if seen.status == 403 and seen.outcome == REFUSED else 1
        if self.history.hopeless:
            return 2 if seen.failing or seen.broken else 3
        others = any(other.turned_away for name, other in self.history.first.items() if name != BROWSER)
        return 100 if others else 4

    def _files(self, files: Sequence[str]) -> Steps:
        """Ask for ``files`` again; where one stands for others, for these only when its refusal does not count."""
        why = "the file was not served"
        first, *others = self.history.kept_back(files) or [""]
        yield from self._clients([name for name in files if name not in others], why)
        if others and self._proven(first):
            self.controls.update(dict.fromkeys(others, self.controls[first]))
        else:
            yield from self._clients(others, why)

    def _clients(self, names: Sequence[str], why: str) -> Steps:
        """Ask ``names`` in rounds, each with one control, until every one is served or its refusal counts."""
        waiting = list(names)
        self._wait = self._quiet
        pause = max(self._quiet, self._asked_for(self._latest[name] for name in waiting))
        while waiting:
            group = self._affordable(waiting, pause)
            left = yield from self._round(group, pause, why)
            if left is None:
                return
            if left and self._serves(BROWSER):
                pause = self._count_round(group, left)
            elif left:
                pause = self._slow_down(waiting, pause)
                why = "the site turned the browser away too, so it limits everybody"
            again = [name for name in group if name in left and not self._proven(name)]
            waiting = again + [name for name in waiting if name not in group]

    def _count_round(self, group: Sequence[str], left: Sequence[str]) -> float:
        """Count a round whose control was served, for all who were turned away in it; return the next pause.

        Where only a part of the group was turned away, its order may have decided: such a round counts for nobody.
        """
        for name in left if len(left) == len(group) else ():
            if not (self._latest[name].by_limit and self.history.unlike_limit(name)):
                self.controls[name] = self.controls.get(name, 0) + 1
        self._wait = self._wait if self.tight else self._quiet
        return max(self._wait, self._stretch(left))

    def _slow_down(self, waiting: Sequence[str], pause: float) -> float:
        """Return the pause after a round that turned the control away too.

        What was counted no longer counts, except for clients whose answer the limit gives to nobody.
        """
        self.tight = True
        for name in waiting:
            if not self.history.unlike_limit(name):
                self.controls.pop(name, None)
        asked = self._asked_for((self._latest[BROWSER],))
        self._wait *= 1 if asked > pause else 2  # a site that says when to come is taken at its word first
        return max(self._wait, asked)

    def _affordable(self, waiting: Sequence[str], pause: float) -> list[str]:
        """Return whom to ask in the next round: where requests are limited, as many as the time is enough for."""
        if not self.tight:
            return list(waiting)
        if not self._serves(BROWSER) and pause <= self._wait and self.history.unlike_limit(waiting[0]):
            return list(waiting[:1])
        rounds = self._needed(waiting[0]) - self.controls.get(waiting[0], 0)
        left = (self._deadline - self._now - pause) / max(rounds, 1)
        return list(waiting[: max(1, int(left / self._wait) - 1)])

    def _round(self, group: Sequence[str], pause: float, why: str) -> Generator[Ask, Seen, list[str] | None]:
        """Ask every one of ``group`` and, when one was turned away, the browser; return who was, None out of time."""
        apart = self._wait if self.tight else 0.0
        for number, name in enumerate(group):
            if not (yield from self._ask(name, max(self._gap(name), apart if number else pause), why)):
                return None
        left = [name for name in group if self.history.still_away(name)]
        controlled, self._just_before = self._just_before, False
        if controlled and not any(self._latest[name].by_limit for name in left):
            return left
        if left and not (yield from self._control(left, max(self._limits.pace, apart))):
            return None
        return left

    def _control(self, left: Sequence[str], pause: float) -> Generator[Ask, Seen, bool]:
        """Ask the browser as the control of ``left``; False out of time.

        Where requests are limited and an answer is of another rule, the browser is asked once more with no longer quiet
        than the agents had. When it is served again, their refusals do not come from a limit that the last of a round
        escapes, and it is the control of the next round too, which follows at once.
        """
        limit = max(self._limit(name) for name in left)
        if not (yield from self._ask(BROWSER, pause, "as the control", limit=limit, last=True)):
            return False
        if not (yield from self._out_of_step(left)):
            return False
        control = self._latest[BROWSER]
        if self._steady_pace or not self.tight or not self._serves(BROWSER):
            return True
        if any(map(self.history.unlike_limit, left)) and (
            yield from self._ask(BROWSER, pause, "as the control, once more")
        ):
            self._steady_pace = self._just_before = self._serves(BROWSER)
            self._latest[BROWSER] = control
        return True

    def _out_of_step(self, left: Sequence[str]) -> Generator[Ask, Seen, bool]:
        """Ask the control of ``left`` more often from round to round where the site is uneven; False out of time.

        Behind a balancer that gives requests to its servers in turn, a client and its control that are always asked in
        turn would meet the same two servers each time, and one of these may be broken.
        """
        if not self.history.uneven or self._steady_pace:
            return True
        counted = max(self.controls.get(name, 0) for name in left)
        before, apart = self._served_before, max(self._limits.pace, self._wait if self.tight else 0.0)
        for _ in range(min(counted, 1 if self.tight else MOST_MORE)):
            if self._serves(BROWSER) and not (yield from self._ask(BROWSER, apart, "as the control, again")):
                return False
        self._served_before = before  # the quiet of the control is that before its first request
        return True

    def _stretch(self, left: Sequence[str]) -> float:
        """Return the quiet that the control had before it was served, which the next client gets too."""
        quiet = self._now - (self._now if self._served_before is None else self._served_before)
        if self.tight:
            return 0.0 if all(map(self.history.unlike_limit, left)) else TIGHT_STRETCH * quiet
        if max(self.controls.get(name, 0) for name in left) > 1:
            return 0.0
        return min(quiet, LONGEST_STRETCH * self._quiet)

    def _needed(self, name: str) -> int:
        """Return in how many controlled rounds ``name`` must be turned away until its refusal counts."""
        by_chance = self._latest[name].failing or self._latest[name].another
        if by_chance and (name not in FILE_PROBES or name == "robots"):
            return FAILING_ROUNDS
        if self.history.uneven and not self.tight:
            return UNEVEN_ROUNDS
        if not self.tight or name in FILE_PROBES or (self._steady_pace and self.history.unlike_limit(name)):
            return ROUNDS
        return TIGHT_ROUNDS

    def _proven(self, name: str) -> bool:
        return self.controls.get(name, 0) >= self._needed(name)

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
            self._served_before, self._served_at = self._served_at, seen.at
        return True

    def _conclude(self, agents: Sequence[str], files: Sequence[str]) -> None:
        """Put down who is left without a verdict, and whose refusal counts."""
        undecided = self._undecided_pages(agents)
        self.limited = {*undecided, *self._undecided_files(files, browser=BROWSER in undecided)}
        self.controls = {
            name: count
            for name, count in self.controls.items()
            if name not in FILE_PROBES and self._latest[name].turned_away and self._proven(name)
        }

    def _undecided_pages(self, agents: Sequence[str]) -> list[str]:
        """Return the homepage probes without a verdict.

        A site that is down for everybody has its verdict. One that is shut for everybody has it from each client that
        got the same answer every time. Else a refusal must be proven, and a browser that was never served must have
        failed by itself: 5xx other than 503, with no agent turned away.
        """
        away = [name for name in agents if self._latest[name].turned_away]
        if self.history.down:
            return []
        if self.history.shut:
            return [name for name in away if not self.history.steady(name)]
        browser = self._latest[BROWSER]
        by_itself = browser.failing and browser.status != BUSY and not agents
        limited = browser.turned_away and not self.history.served and not by_itself
        return [name for name in away if not self._proven(name)] + [BROWSER] * limited

    def _undecided_files(self, files: Sequence[str], *, browser: bool) -> list[str]:
        """Return the files that may be there although they were not served; ``browser``: it has no verdict either.

        What is proven is a 403, and for robots.txt whatever it answers but 429. Where the browser was never served and
        still has its verdict, a file that was not served shares it, unless its answer was 429.
        """

        def may_be_there(name: str) -> bool:
            status = self._latest[name].status
            if self._proven(name) and (status == 403 or (name == "robots" and status != LIMIT_STATUS)):
                return False
            return self.history.served or browser or status == LIMIT_STATUS

        return [name for name in files if self.history.still_away(name) and may_be_there(name)]

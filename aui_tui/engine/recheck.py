"""When a refusal counts, and what the site goes by: who is asked again, alone, with the browser as control. Pure.

A site that limits everybody turns agents away as well, and so does one that fails at random. So a client that was
turned away is asked again alone, and then the browser as the control; the refusal counts when the browser is served,
round after round. When the browser is turned away too, the site limits everybody: the quiet before the next request
doubles, or lasts as long as the site's Retry-After says. From then on it is also the quiet between two requests, and a
refusal counts in one of two ways. An answer that the limit gives to nobody (403 where it says 429) comes from another
rule, so controls served round after round are enough. Where the limit answers alike, the client has a longer quiet
before its request than the control had in the round before, and one round more, so that a limit that goes by time
alone cannot treat the two differently (method.md).

The cause of a refusal is the agent's name, another header field, or the HTTP version. One agent stands for those
turned away alike. Its name with the browser's fields and the browser's name with its fields say whether the name or
the rest decides; then the fields that could decide are restored by halves.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import Final, NamedTuple

from aui_tui.engine import probes
from aui_tui.engine.policy import Limits
from aui_tui.engine.probes import Fields, Profile
from aui_tui.records.observations import BROWSER, CHALLENGED, FILE_PROBES, REFUSED, SERVED, Cause

ROUNDS: Final = 2
"""Controlled rounds in which a client must be turned away until its refusal counts."""
TIGHT_ROUNDS: Final = 3
"""The same for what the site's limit on requests answers everybody with: a burst that it spares may mislead two."""
FAILING_ROUNDS: Final = 4
"""The same for what a site may answer by chance: a 5xx that is not a challenge, or another page than the browser's (an
A/B test). At 30 % random 502 an accusation is then under 0.2 % of scans."""
LONGEST_STRETCH: Final = 8
"""The longest quiet between two controlled rounds, in pauses."""
TIGHT_STRETCH: Final = 1.5
"""How much longer than the control's quiet the client's is, where the site is known to limit requests."""
BREAKS: Final = frozenset({"timeout", "protocol", "connect", "tls"})
"""Errors that a site may bring about to turn a client away."""
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


class Recheck:
    """The second look at one scan: ``first`` has the answer to each probe of it, by name.

    Drive :meth:`steps`; then ``limited`` names the probes that the site's limits left without a verdict (a homepage is
    inconclusive, a file not measured), ``controls`` counts for each client the controlled rounds that turned it away,
    and ``random`` says that the site fails at random. ``deadline``: the time at which the last request may begin.
    """

    def __init__(self, first: Mapping[str, Seen], limits: Limits, now: float, deadline: float) -> None:
        self.limited: set[str] = set()
        self.controls: dict[str, int] = {}
        self._first = dict(first)
        self._latest = dict(first)
        self._history: dict[str, list[Seen]] = {name: [seen] for name, seen in first.items()}
        self._limits = limits
        self._now = now
        self._deadline = deadline
        self._quiet = max(limits.pause, 2 * limits.pace)
        self._served_at = now if self._serves(BROWSER) else None
        self._served_before: float | None = None
        self._tight = False
        self._steady_pace = self._just_before = False
        self._wait = self._quiet

    @property
    def random(self) -> bool:
        """A client that got a 5xx was served at another time; a 503 alone is what limits answer with."""
        return any(
            any(seen.failing and seen.status != BUSY for seen in answers)
            and any(seen.outcome == SERVED for seen in answers)
            for name, answers in self._history.items()
            if name not in FILE_PROBES
        )

    @property
    def served(self) -> bool:
        """The browser got the page at least once."""
        return any(seen.outcome == SERVED for seen in self._history[BROWSER])

    @property
    def tight(self) -> bool:
        """The site turned the browser away too when it was asked alone."""
        return self._tight

    def steps(self) -> Steps:
        """Yield whom to ask next, and take what came back."""
        if all(seen.status == 0 for seen in self._first.values()) or self._alike():
            return
        agents = [name for name in self._first if name not in (BROWSER, *FILE_PROBES)]
        yield from self._browser()
        open_agents = [name for name in agents if self._latest[name].turned_away]
        if self._serves(BROWSER):
            yield from self._clients(open_agents, "it was turned away")
        else:
            yield from self._each_once(open_agents)
        files = self._open_files()
        if self.served:
            yield from self._clients(files, "the file was not served")
        self._conclude(open_agents, files)

    def _alike(self) -> bool:
        """Whether every homepage probe got one refusal that no limit answers with, such as 404."""
        pages = self._pages()
        plain = pages[0].outcome == REFUSED and not pages[0].by_limit and pages[0].status != 403
        return plain and len({(seen.outcome, seen.status) for seen in pages}) == 1

    def _serves(self, name: str) -> bool:
        return self._latest[name].outcome == SERVED

    def _open_files(self) -> list[str]:
        """Return the files that may be there although they were not served; a 403 only where a limit may be at work.

        A server that keeps names with a dot to itself answers 403 to all below ``/.well-known/`` alike.
        """
        hidden = {name: self._first[name].status for name in ("ai-plugin", "ucp", "mcp")}
        others = [seen.status for name, seen in self._first.items() if name not in hidden]
        doubtful = 403 in others or (403 in hidden.values() and len(set(hidden.values())) > 1)
        return [
            name
            for name in FILE_PROBES
            if self._latest[name].by_limit or (doubtful and self._latest[name].status == 403)
        ]

    def _browser(self) -> Steps:
        """Ask the browser, where it was turned away, until it is served or that is hopeless."""
        pause = self._quiet
        for number in range(self._tries()):
            seen = self._latest[BROWSER]
            if not seen.turned_away:
                return
            why = "the site turned everybody away" if self._hopeless() else "the browser was turned away"
            asked = self._asked_for((seen,)) if number == 0 else 0.0
            if not (yield from self._ask(BROWSER, max(pause, asked), why)):
                return
            self._tight = self._latest[BROWSER].turned_away
            pause *= 4 if self._hopeless() or seen.status == 403 else 2

    def _tries(self) -> int:
        """Return how often to ask the browser again: often where a limit lets others in, once where a wall stands."""
        seen = self._latest[BROWSER]
        if not seen.turned_away:
            return 0
        if not self._may_be_limit(seen):
            return 3 if seen.status == 403 and seen.outcome == REFUSED else 1
        if self._hopeless():
            return 2 if seen.failing or seen.broken else 3
        others = any(other.turned_away for name, other in self._first.items() if name != BROWSER)
        return 100 if others else 4

    def _hopeless(self) -> bool:
        """Whether no probe of the scan was served or met a plain 404: the site is down, or shut for everybody."""
        return all(
            seen.status == 0
            or (seen.turned_away and (seen.by_limit or seen.status == 403 or seen.outcome == CHALLENGED))
            for seen in self._first.values()
        )

    def _may_be_limit(self, seen: Seen) -> bool:
        """Whether ``seen`` may come from a limit; a 403 or a challenge where some get it and others do not."""
        if seen.outcome == CHALLENGED or (seen.outcome == REFUSED and seen.status == 403):
            pages = [answers for name, answers in self._history.items() if name not in FILE_PROBES]
            if any(other.outcome == SERVED for answers in pages for other in answers):
                return True
            return seen.outcome == REFUSED and any(self._first[name].status == 403 for name in FILE_PROBES)
        return seen.by_limit

    def _each_once(self, names: Sequence[str]) -> Steps:
        for name in names:
            yield from self._ask(name, self._gap(name), "it was turned away")

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
            if left and not self._serves(BROWSER):
                self._tight = True
                for name in waiting:
                    if not self._unlike_limit(name):
                        self.controls.pop(name, None)
                asked = self._asked_for((self._latest[BROWSER],))
                self._wait *= 1 if asked > pause else 2  # a site that says when to come is taken at its word first
                pause = max(self._wait, asked)
                why = "the site turned the browser away too, so it limits everybody"
            elif left:
                for name in left if len(left) == len(group) else ():
                    if not (self._latest[name].by_limit and self._unlike_limit(name)):
                        self.controls[name] = self.controls.get(name, 0) + 1
                self._wait = self._wait if self._tight else self._quiet
                pause = max(self._wait, self._stretch(left))
            done = {name for name in group if name not in left or self.controls.get(name, 0) >= self._needed(name)}
            rest = [name for name in waiting if name not in group]
            waiting = [name for name in group if name not in done] + rest

    def _affordable(self, waiting: Sequence[str], pause: float) -> list[str]:
        """Return whom to ask in the next round: where requests are limited, as many as the time is enough for."""
        if not self._tight:
            return list(waiting)
        if not self._serves(BROWSER) and pause <= self._wait and self._unlike_limit(waiting[0]):
            return list(waiting[:1])
        rounds = self._needed(waiting[0]) - self.controls.get(waiting[0], 0)
        left = (self._deadline - self._now - pause) / max(rounds, 1)
        return list(waiting[: max(1, int(left / self._wait) - 1)])

    def _round(self, group: Sequence[str], pause: float, why: str) -> Generator[Ask, Seen, list[str] | None]:
        """Ask every one of ``group`` and, when one was turned away, the browser; return who was, None out of time."""
        apart = self._wait if self._tight else 0.0
        for number, name in enumerate(group):
            if not (yield from self._ask(name, max(self._gap(name), apart if number else pause), why)):
                return None
        left = [name for name in group if self._still(name)]
        before, self._just_before = self._just_before, False
        if not left or (before and not any(self._latest[name].by_limit for name in left)):
            return left
        limit, pause = max(self._limit(name) for name in left), max(self._limits.pace, apart)
        if not (yield from self._ask(BROWSER, pause, "as the control", limit=limit, last=True)):
            return None
        if self._tight and self._serves(BROWSER) and any(map(self._unlike_limit, left)) and not self._steady_pace:
            yield from self._keeps_pace(pause)
        return left

    def _keeps_pace(self, pause: float) -> Steps:
        """Ask the browser once more, with no longer quiet than the agents had, where requests are limited.

        When it is served, their refusals do not come from a limit that the last of a round escapes, and it is the
        control of the next round too, which follows at once.
        """
        served = self._latest[BROWSER]
        if (yield from self._ask(BROWSER, pause, "as the control, once more")):
            self._steady_pace = self._just_before = self._serves(BROWSER)
            self._latest[BROWSER] = served

    def _unlike_limit(self, name: str) -> bool:
        """Whether ``name`` gets, the limit's own answers aside, what the limit gives to nobody: another rule's answer.

        The limit's answers are those that the browser got, and those of clients that got something else besides.
        """
        seen = next((seen for seen in reversed(self._history[name]) if not seen.by_limit), None)
        if seen is None or seen.another or not seen.turned_away:
            return False
        kind = (seen.outcome, seen.status)
        return not any(
            (other.outcome, other.status) == kind
            for client, answers in self._history.items()
            if client == BROWSER or any(not a.by_limit and (a.outcome, a.status) != kind for a in answers)
            for other in answers
        )

    def _still(self, name: str) -> bool:
        seen = self._latest[name]
        return seen.turned_away and (name not in FILE_PROBES or seen.by_limit or seen.status == 403)

    def _stretch(self, left: Sequence[str]) -> float:
        """Return the quiet that the control had before it was served, which the next client gets too."""
        quiet = self._now - (self._now if self._served_before is None else self._served_before)
        if self._tight:
            return 0.0 if all(map(self._unlike_limit, left)) else TIGHT_STRETCH * quiet
        if max(self.controls.get(name, 0) for name in left) > 1:
            return 0.0
        return min(quiet, LONGEST_STRETCH * self._quiet)

    def _needed(self, name: str) -> int:
        by_chance = self._latest[name].failing or self._latest[name].another
        if by_chance and (name not in FILE_PROBES or name == "robots"):
            return FAILING_ROUNDS
        if not self._tight or name in FILE_PROBES or (self._steady_pace and self._unlike_limit(name)):
            return ROUNDS
        return TIGHT_ROUNDS

    def _gap(self, name: str) -> float:
        """Return the quiet before ``name`` within a round: as long as it may keep us waiting, where it did."""
        waits = self._limit(name) if self._latest[name].error == "timeout" else self._latest[name].elapsed
        return max(self._limits.pace, self._quiet / 4, min(waits, self._limits.probe))

    def _limit(self, name: str) -> float:
        """Return the seconds that ``name`` has: of a client that got no answer before, a few times the browser's."""
        if self._latest[name].error != "timeout":
            return self._limits.probe
        return min(self._limits.probe, max(self._limits.again, 3 * self._first[BROWSER].elapsed))

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
        self._latest[name] = seen
        self._history[name].append(seen)
        if seen.outcome == SERVED:
            self._served_before, self._served_at = self._served_at, seen.at
        return True

    def _conclude(self, agents: Sequence[str], files: Sequence[str]) -> None:
        """Put down who is left without a verdict."""
        lasting = self._latest[BROWSER]
        if not self.served and (self._hopeless_failure() or not self._limit_at_work()):
            undecided = [name for name in agents if self._latest[name].turned_away and not self._steady(name)]
            undecided = [] if self._hopeless_failure() else undecided
        else:
            undecided = [name for name in agents if self._latest[name].turned_away]
            undecided = [name for name in undecided if self.controls.get(name, 0) < self._needed(name)]
            if lasting.turned_away and not self.served and (agents or not lasting.failing or lasting.status == BUSY):
                undecided.append(BROWSER)
        for name in files:
            if not self._still(name):
                continue
            counted = self.controls.get(name, 0) >= self._needed(name)
            stays = counted and (self._latest[name].status == 403 or (name == "robots" and not self._is_429(name)))
            if not stays and (self.served or self._is_429(name) or BROWSER in undecided):
                undecided.append(name)
        self.limited = set(undecided)
        self.controls = {name: count for name, count in self.controls.items() if self._counts(name, count)}

    def _limit_at_work(self) -> bool:
        """Whether the browser, which was never served, may have met a limit on requests."""
        answers = [seen for found in self._history.values() for seen in found]
        return (
            self._may_be_limit(self._latest[BROWSER])
            or any(seen.by_limit for seen in self._history[BROWSER])
            or any(seen.status == LIMIT_STATUS for seen in answers)
        )

    def _steady(self, name: str) -> bool:
        """Whether ``name`` got the same each time it was asked."""
        return len({(seen.outcome, seen.status) for seen in self._history[name]}) == 1

    def _hopeless_failure(self) -> bool:
        return self._hopeless() and all(seen.failing or seen.status == 0 for seen in self._pages())

    def _pages(self) -> list[Seen]:
        return [seen for name, seen in self._latest.items() if name not in FILE_PROBES]

    def _is_429(self, name: str) -> bool:
        return self._latest[name].status == LIMIT_STATUS

    def _counts(self, name: str, count: int) -> bool:
        return name not in FILE_PROBES and count >= self._needed(name) and self._latest[name].turned_away


NAME: Final = "user-agent"
VERSION: Final = "HTTP version"
GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "Accept-Language": ("accept-language",),
    "Sec-Fetch": ("sec-fetch-site", "sec-fetch-mode", "sec-fetch-user", "sec-fetch-dest"),
    VERSION: (),
    "Accept": ("accept",),
    "sec-ch-ua": ("sec-ch-ua", "sec-ch-ua-mobile", "sec-ch-ua-platform"),
    "Upgrade-Insecure-Requests": ("upgrade-insecure-requests",),
    "Accept-Encoding": ("accept-encoding",),
    "priority": ("priority",),
}
"""Header fields that filters go by together, the likeliest first."""


class Trial(NamedTuple):
    """One request to be sent alone: ``profile``, and in words what it is."""

    profile: Profile
    what: str


Trials = Generator[Trial, bool, Cause]


def representative(turned_away: Collection[str], http2: bool) -> str:
    """Return who of the agents ``turned_away`` alike differs least from the browser, which spoke ``http2`` or not."""
    return min(turned_away, key=lambda name: (len(_different(name, http2)), name))


def trials(name: str, alike: Collection[str], served: Collection[str], http2: bool, most: int) -> Trials:
    """Yield at most ``most`` trials for the agent ``name`` and take whether each was served; return the cause.

    ``alike``: the agents that it stands for, ``served``: those that got the homepage.
    """
    agent, browser = probes.profile(name), probes.profile(BROWSER)
    agents = tuple(sorted(alike))
    by_name = not (yield Trial(_named(browser, agent), "the agent's name with a browser's fields"))
    by_fields = not (yield Trial(_named(agent, browser), "a browser's name with the agent's fields"))
    if by_name or not by_fields:
        found = "either" if by_name and by_fields else "name" if by_name else "together"
        return Cause(agents=agents, by=found)
    left = [group for group in _different(name, http2) if _fits(group, name, alike, served, http2)]
    left = candidates = left or _different(name, http2)
    for _ in range(most - 2):
        half = left[: max(1, len(left) // 2)]
        what = f"a browser's name with the agent's fields but {' and '.join(half)} of a browser"
        served_now = yield Trial(_restored(_named(agent, browser), browser, half), what)
        left = half if served_now else left[len(half) :]
        if served_now and len(half) == 1:
            return Cause(agents=agents, by="field", fields=tuple(half))
        if not left:
            break
    return Cause(agents=agents, by="fields", fields=tuple(left or candidates))


def _different(name: str, http2: bool) -> list[str]:
    """Return the groups in which what the agent ``name`` sends differs from what the browser sends."""
    return [group for group in GROUPS if _value(group, name, http2) != _value(group, BROWSER, http2)]


def _value(group: str, name: str, http2: bool) -> Fields | bool:
    profile = probes.profile(name)
    if group == VERSION:
        return http2 and profile.http2
    if group == "priority" and not (http2 and profile.http2):
        return ()
    return tuple((field, value) for field, value in profile.fields if field.lower() in GROUPS[group])


def _fits(group: str, name: str, alike: Collection[str], served: Collection[str], http2: bool) -> bool:
    """Return whether ``group`` could decide: nobody who sends it as ``name`` does was served."""
    own = _value(group, name, http2)
    return all(_value(group, other, http2) != own for other in served) and all(
        _value(group, other, http2) != _value(group, BROWSER, http2) for other in alike
    )


def _named(profile: Profile, other: Profile) -> Profile:
    """Return ``profile`` under the User-Agent of ``other``."""
    agent = next(value for field, value in other.fields if field.lower() == NAME)
    fields = tuple((field, agent if field.lower() == NAME else value) for field, value in profile.fields)
    return profile._replace(fields=fields)


def _restored(profile: Profile, browser: Profile, groups: Collection[str]) -> Profile:
    """Return ``profile`` with the fields of ``groups`` as the browser sends them, in the browser's order."""
    names = {name for group in groups for name in GROUPS[group]}
    own = {field.lower(): (field, value) for field, value in profile.fields}
    restored = {field.lower(): (field, value) for field, value in browser.fields if field.lower() in names}
    merged = own | restored
    order = [field.lower() for field, _ in browser.fields]
    fields = sorted(merged, key=lambda field: order.index(field) if field in order else len(order))
    return Profile(tuple(merged[field] for field in fields), profile.http2 or VERSION in groups)

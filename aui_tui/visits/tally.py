"""The figures of each client, in bounded memory, and adding them up."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Final
from urllib.parse import unquote

from aui_tui.model.observations import GONE
from aui_tui.model.registry import Client
from aui_tui.model.times import stamp
from aui_tui.model.visits import Addresses, Gap, PathCount, Visitor, Week
from aui_tui.text import clean
from aui_tui.visits.clients import label_of, without_addresses
from aui_tui.visits.lines import LogLine

PATH_LIMIT: Final = 20_000
"""Different paths of one client up to which its counts are exact; then the rarer half is dropped, and that is said."""
MOST_PENDING: Final = 5_000
PATHS_SHOWN: Final = 10
PATHS_OF_WEEK: Final = 5
MONDAY: Final = 4
"""The first Monday of 1970, as a number of days since the epoch."""
PATH_LENGTH: Final = 200
REFUSALS: Final = frozenset({401, 402, 403, 405, 406, 429, 451, 503})
HOUR: Final = 3600
MOST_HOURS: Final = 100_000
MOST_GAPS: Final = 100

LONGEST_TARGET: Final = 2_000
"""Characters of a request target that are looked at; what is kept of it is far shorter."""

_MASKS: Final = (
    (re.compile(r"(?<![^/\s@])[^/\s@]++@[^/\s@]+\.[^/\s@]+"), "{mail}"),
    (re.compile(r"eyJ[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]*)*"), "{token}"),
    (re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"), "{id}"),
    (re.compile(r"(?<!\d)\d(?:[\W_]?\d){12,18}(?!\d)"), "{number}"),
)
"""What is masked in a part of a path: mail addresses, JSON Web Tokens, UUIDs, card numbers."""
_RUN: Final = re.compile(r"[A-Za-z0-9_~+=-]{20,}")
_NUMBER: Final = re.compile(r"\d{9,}")
MOST_ENCODED: Final = 4
"""Times that a path is percent-decoded in the search for what must be masked."""


def path_of(target: str) -> str:
    """Return the path of a request target as it may be kept.

    Without scheme, host, query, parameters and fragment; mail and IP addresses, long numbers and tokens masked; at
    most PATH_LENGTH characters, cleaned.
    """
    return _path_of(target[:LONGEST_TARGET].partition("?")[0])


@lru_cache(maxsize=1 << 15)
def _path_of(target: str) -> str:
    if "://" in target[:12]:
        target = "/" + target.partition("://")[2].partition("/")[2]
    path = shown = re.split(r"[?#]|;[A-Za-z0-9_.-]+=", target, maxsplit=1)[0]
    for _ in range(MOST_ENCODED):
        if "%" not in shown or (decoded := unquote(shown)) == shown:
            break
        shown = decoded
    if len(shown) >= 9 or "@" in shown or ":" in shown or shown.count(".") > 2:
        shown = shown.partition("?")[0]
        masked = "/".join(_masked(part) for part in shown.split("/"))
        path = masked if masked != shown else path
    return clean(path, PATH_LENGTH) or "/"


def _masked(part: str) -> str:
    part = without_addresses(part, "{address}")
    for pattern, mark in _MASKS:
        part = pattern.sub(mark, part)
    part = _RUN.sub(lambda match: "{token}" if _is_token(match[0]) else match[0], part)
    return _NUMBER.sub("{number}", part)


def _is_token(text: str) -> bool:
    """Say whether a long run of letters and digits is made by a machine: digits and letters mixed within its words."""
    return any(
        len(word) >= 16 and any(c.isdigit() for c in word) and any(c.isalpha() for c in word)
        for word in re.split(r"[_~+=-]", text)
    ) or (sum(c.isdigit() for c in text) >= 5 and sum(c.isupper() for c in text) >= 3)


class Paths:
    """Counts of paths: exact up to PATH_LIMIT different ones."""

    __slots__ = ("counts", "exact")

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.exact = True

    def add(self, path: str, number: int = 1) -> None:
        """Count ``path``."""
        self.counts[path] += number
        if len(self.counts) > PATH_LIMIT:
            self.exact = False
            self.counts = Counter(dict(self.counts.most_common(PATH_LIMIT // 2)))

    def top(self) -> tuple[PathCount, ...]:
        """Return the most frequent paths, equal ones by name."""
        best = sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))[:PATHS_SHOWN]
        return tuple(PathCount(path=path, requests=number) for path, number in best)


@dataclass(slots=True)
class ClientFigures:
    """The figures of one client; see ``aui_tui.model.visits.Visitor``.

    ``pending`` holds visits that are not in the figures yet, by path, status, whether the address is published, whether
    Markdown was asked for, and day: most visits differ in nothing else, and one step counts them.
    """

    first: int = sys.maxsize
    last: int = 0
    sums: Counter[str] = field(default_factory=Counter)
    """The figures that are sums, by their name in the record."""
    days: Counter[int] = field(default_factory=Counter)
    status: Counter[int] = field(default_factory=Counter)
    times: Counter[int] = field(default_factory=Counter)
    paths: Paths = field(default_factory=Paths)
    refused_paths: Paths = field(default_factory=Paths)
    missing_paths: Paths = field(default_factory=Paths)
    weeks: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Requests and refusals by week, counted from the first Monday of 1970."""
    missing_since: dict[str, int] = field(default_factory=dict)
    """The first week of each path that was not found, of the first PATH_LIMIT paths."""
    pending: dict[tuple[str, int, bool | None, bool, int], int] = field(default_factory=dict)

    def add(self, entry: LogLine, *, inside: bool | None) -> None:
        """Count one visit; ``inside`` says whether its address is published, None when that is not known."""
        moment = entry.moment
        if moment > self.last:
            self.last = moment
        if moment < self.first:
            self.first = moment
        self.sums["bytes"] += entry.size
        if entry.seconds is not None and 0 <= entry.seconds < 1e6:
            self.times[bucket(entry.seconds)] += 1
        markdown = entry.accept is not None and "text/markdown" in entry.accept.lower()
        key = path_of(entry.target), entry.status, inside, markdown, moment // 86400
        self.pending[key] = self.pending.get(key, 0) + 1
        if len(self.pending) > MOST_PENDING:
            self.flush()

    def flush(self) -> None:
        """Add the visits that are only counted by what they have in common to the figures."""
        for (path, status, inside, asked_markdown, day), number in self.pending.items():
            refused = status in REFUSALS
            robots = path == "/robots.txt"
            served = not robots and (200 <= status < 300 or status == 304)
            self.days[day] += number
            week = (day - MONDAY) // 7
            requests, refusals = self.weeks.get(week, (0, 0))
            self.weeks[week] = requests + number, refusals + refused * number
            self.status[min(status // 100, 6)] += number
            self.paths.add(path, number)
            if refused:
                self.refused_paths.add(path, number)
            elif status in GONE:
                self.missing_paths.add(path, number)
                if path in self.missing_since or len(self.missing_since) < PATH_LIMIT:
                    self.missing_since[path] = min(week, self.missing_since.get(path, week))
            for name, holds in (
                ("requests", True),
                ("served", served),
                ("refused", refused),
                ("robots_txt", robots),
                ("llms_txt", path == "/llms.txt"),
                ("markdown", asked_markdown or path.endswith(".md")),
                ("verified", inside),
                ("outside", inside is False),
                ("verified_served", inside and served),
                ("verified_refused", inside and refused),
            ):
                if holds:
                    self.sums[name] += number
        self.pending.clear()

    def visitor(self, client: Client, addresses: Addresses, shared_with: Sequence[str]) -> Visitor:
        """Return the record."""
        self.flush()
        checked = addresses == "checked"
        sums = {name: self.sums[name] for name in _SUMS + (_VERIFIED if checked else ())}
        return Visitor(
            token=client.token,
            label=label_of(client),
            kind=client.group,
            first=stamp(self.first),
            last=stamp(self.last),
            per_day={stamp(day * 86400)[:10]: number for day, number in sorted(self.days.items())},
            weeks=tuple(self._by_week()),
            status=_by_class(self.status),
            median_seconds=median(self.times),
            paths=self.paths.top(),
            refused_paths=self.refused_paths.top(),
            missing_paths=self.missing_paths.top(),
            paths_exact=self.paths.exact and self.refused_paths.exact and self.missing_paths.exact,
            addresses=addresses,
            unchecked=sums["requests"] - sums.get("verified", 0) - sums.get("outside", 0),
            shared_with=tuple(shared_with),
            **sums,
        )

    def _by_week(self) -> Iterator[Week]:
        """Yield the figures of each week with requests, in order."""
        for week, (requests, refused) in sorted(self.weeks.items()):
            missing = [path for path, since in self.missing_since.items() if since == week]
            yield Week(
                monday=stamp((7 * week + MONDAY) * 86400)[:10],
                requests=requests,
                refused=refused,
                newly_missing=len(missing),
                missing_paths=tuple(sorted(missing)[:PATHS_OF_WEEK]),
            )


def _by_class(status: Counter[int]) -> dict[str, int]:
    """Return the requests by class of status (``2xx``); what HTTP does not know is ``other``."""
    counts: Counter[str] = Counter()
    for group, number in sorted(status.items()):
        counts[f"{group}xx" if 1 <= group <= 5 else "other"] += number
    return dict(counts)


_SUMS: Final = ("requests", "served", "refused", "bytes", "robots_txt", "llms_txt", "markdown")
_VERIFIED: Final = ("verified", "verified_served", "verified_refused", "outside")


def bucket(seconds: float) -> int:
    """Return the bucket of a time in 10^-4 s: four digits of it are kept."""
    units = round(seconds * 10_000)
    step = int(10 ** max(len(str(units)) - 4, 0))
    return round(units / step) * step


def median(times: Counter[int]) -> float | None:
    """Return the median of bucketed times in seconds, the mean of the two middle ones; None of no times."""
    if not times:
        return None
    values = sorted(times)
    up_to = list(accumulate(times[value] for value in values))
    middle = (values[bisect_right(up_to, at)] for at in ((up_to[-1] - 1) // 2, up_to[-1] // 2))
    return sum(middle) / 2 / 10_000


class Spans:
    """The times that a log covers, by hour: the first and the last moment of each."""

    def __init__(self) -> None:
        self._hours: dict[int, tuple[int, int]] = {}

    def add(self, moment: int) -> None:
        """Add a moment; beyond MOST_HOURS those of a new hour are left out."""
        hour = moment // HOUR
        first, last = self._hours.get(hour, (moment, moment))
        if hour in self._hours or len(self._hours) < MOST_HOURS:
            self._hours[hour] = min(first, moment), max(last, moment)

    def read(self, lines: Sequence[bytes], moment: Callable[[bytes], int | None]) -> None:
        """Add the times of ``lines``, which are in order or nearly so; few of them are parsed."""
        first, last = moment(lines[0]), moment(lines[-1])
        if len(lines) > 2 and (first is None or last is None or abs(last - first) > HOUR):
            middle = len(lines) // 2
            self.read(lines[: middle + 1], moment)
            self.read(lines[middle:], moment)
            return
        for time in (first, last):
            if time is not None:
                self.add(time)

    @property
    def ends(self) -> tuple[int, ...]:
        """The first and the last moment; empty where no line has a time."""
        return (self._hours[min(self._hours)][0], self._hours[max(self._hours)][1]) if self._hours else ()

    def gaps(self) -> Iterator[Gap]:
        """Yield the pauses of over an hour, the longest MOST_GAPS of them, in order."""
        pairs = pairwise(span for _, span in sorted(self._hours.items()))
        pauses = [(before[1], after[0]) for before, after in pairs if after[0] - before[1] > HOUR]
        for first, last in sorted(sorted(pauses, key=lambda pause: pause[0] - pause[1])[:MOST_GAPS]):
            yield Gap(first=stamp(first), last=stamp(last))

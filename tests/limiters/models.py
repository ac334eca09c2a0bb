"""Limits on requests as models of time: what each admits depends on when it is asked, and never on who asks."""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol


class Limiter(Protocol):
    """``admit`` says whether a request at ``now`` (seconds) is let through; ``leave`` that one has ended."""

    def admit(self, now: float) -> bool: ...

    def leave(self) -> None: ...


@dataclass
class LeakyBucket:
    """nginx ``limit_req``: ``count`` requests per ``window`` and a burst of ``burst``; refused ones do not count."""

    count: int
    window: float
    burst: int = 0
    excess: float = 0.0
    last: float = -math.inf

    def admit(self, now: float) -> bool:
        excess = max(0.0, self.excess - (now - self.last) * self.count / self.window) + 1
        if excess > self.burst + 1:
            return False
        self.excess, self.last = excess, now
        return True

    def leave(self) -> None: ...


@dataclass
class FixedWindow:
    """``count`` requests in each window of ``window`` seconds that begins at a multiple of it (express-rate-limit)."""

    count: int
    window: float
    offset: float = 0.0
    number: float = -1
    used: int = 0

    def admit(self, now: float) -> bool:
        number = (now + self.offset) // self.window
        if number != self.number:
            self.number, self.used = number, 0
        self.used += 1
        return self.used <= self.count

    def leave(self) -> None: ...


@dataclass
class SlidingWindow:
    """``count`` requests in the last ``window`` seconds; ``strict``: refused ones count too (HAProxy, mod_evasive)."""

    count: int
    window: float
    strict: bool = False
    seen: deque[float] = field(default_factory=deque)

    def admit(self, now: float) -> bool:
        while self.seen and self.seen[0] <= now - self.window:
            self.seen.popleft()
        free = len(self.seen) < self.count
        if free or self.strict:
            self.seen.append(now)
        return free

    def leave(self) -> None: ...


@dataclass
class Concurrent:
    """``count`` requests at a time (nginx ``limit_conn``)."""

    count: int
    now: int = 0

    def admit(self, now: float) -> bool:
        if self.now >= self.count:
            return False
        self.now += 1
        return True

    def leave(self) -> None:
        self.now -= 1


@dataclass
class Ban:
    """``inner``, and after ``strikes`` refusals nothing for ``length`` seconds (fail2ban, mod_evasive).

    ``strict``: each request during the ban makes it begin again.
    """

    inner: Limiter
    strikes: int
    length: float
    strict: bool = False
    refused: int = 0
    until: float = -math.inf

    def admit(self, now: float) -> bool:
        if now < self.until:
            self.until = now + self.length if self.strict else self.until
            return False
        if self.inner.admit(now):
            return True
        self.refused += 1
        if self.refused >= self.strikes:
            self.refused, self.until = 0, now + self.length
        return False

    def leave(self) -> None:
        self.inner.leave()


LIMITERS: dict[str, Callable[[int, float, float], Limiter]] = {
    "leaky bucket": lambda count, window, offset: LeakyBucket(count, window),
    "leaky bucket with a burst": lambda count, window, offset: LeakyBucket(count, window, 3),
    "fixed window": FixedWindow,
    "sliding window": lambda count, window, offset: SlidingWindow(count, window),
    "sliding window, refused requests counted": lambda count, window, offset: SlidingWindow(count, window, strict=True),
    "concurrent requests": lambda count, window, offset: Concurrent(count),
}
"""Makers of limits from a count, a window in seconds and the time since the window began."""
ANSWERS = ("403", "429", "429 with Retry-After", "503", "drop")
"""How a limit says no."""
COUNTS = (3, 5, 10, 20)
WINDOWS = (1.0, 5.0, 15.0, 60.0)


def any_limiter(chance: random.Random) -> Limiter:
    """Return a limit of any kind and measure, three in ten with a ban."""
    count = chance.choice((1, 1, 2, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20))
    window = math.exp(chance.uniform(math.log(0.5), math.log(90)))
    makers: tuple[Callable[[], Limiter], ...] = (
        lambda: LeakyBucket(count, window, chance.randrange(12)),
        lambda: FixedWindow(count, window, chance.uniform(0, window)),
        lambda: SlidingWindow(count, window, strict=chance.random() < 0.5),
        lambda: Concurrent(min(count, 8)),
    )
    found = chance.choice(makers)()
    if chance.random() < 0.3:
        return Ban(found, chance.choice((1, 2, 3, 5, 10)), chance.choice((2, 5, 10, 20, 30, 60)), chance.random() < 0.5)
    return found

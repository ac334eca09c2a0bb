"""One line of an access log, and the values that lines hold in any format."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, NamedTuple

from aui_tui.addresses import address_of

EARLIEST: Final = datetime(1990, 1, 1, tzinfo=UTC).timestamp()
LATEST: Final = datetime(2100, 1, 1, tzinfo=UTC).timestamp()


class LogLine(NamedTuple):
    """One parsed line. ``address`` is the peer as logged, ``agent`` the User-Agent as sent.

    ``moment``: whole seconds since the epoch. ``forwarded``: the X-Forwarded-For of the request, or the field that the
    user named instead; empty where it is not logged, as ``host``, the virtual host. ``seconds``, ``accept``: None where
    they are not logged. ``request``: a name of the request that all of its lines have; empty where it has one line.
    """

    agent: bytes
    address: str
    moment: int
    target: str
    status: int
    size: int
    seconds: float | None = None
    accept: str | None = None
    forwarded: str = ""
    host: str = ""
    request: str = ""


_MONTHS: Final = {name: n for n, name in enumerate(b"Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), 1)}
_ESCAPE: Final = re.compile(rb'\\(?:x([0-9A-Fa-f]{2})|(["\\])|([ntrvbf]))')
_LETTERS: Final = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"v": b"\v", b"b": b"\b", b"f": b"\f"}


def unescaped(text: bytes) -> bytes:
    r"""Return ``text`` without the escapes of nginx (``\x22``) and Apache (``\"``, ``\\``, ``\n``, ``\xff``)."""
    if b"\\" not in text:
        return text
    return _ESCAPE.sub(lambda m: bytes([int(m[1], 16)]) if m[1] else m[2] or _LETTERS[m[3]], text)


_DAY: Final = re.compile(rb"(\d\d)/([A-Z][a-z]{2})/(\d{4}) ([+-])(\d\d)(\d\d)")
_MINUTES: Final = {b":%02d:%02d:" % divmod(minute, 60): 60 * minute for minute in range(24 * 60)}
_SECONDS: Final = {b"%02d" % second: second for second in range(61)}


@lru_cache(maxsize=1 << 12)
def _day(date: bytes, zone: bytes) -> int:
    """Return the epoch seconds at which ``22/Nov/2026`` begins in the zone `` +0100``. Raises ValueError."""
    match = _DAY.fullmatch(date + zone)
    if match is None:
        raise ValueError(date)
    offset = (3600 * int(match[5]) + 60 * int(match[6])) * (-1 if match[4] == b"-" else 1)
    begin = datetime(int(match[3]), _MONTHS.get(match[2], 0), int(match[1]), tzinfo=UTC).timestamp()
    return checked_time(begin - offset)


def clf_time(text: bytes) -> int:
    """Return the epoch seconds of ``22/Nov/2026:04:54:30 +0000``. Raises ValueError."""
    try:
        return _day(text[:11], text[20:]) + _MINUTES[text[11:18]] + _SECONDS[text[18:20]]
    except KeyError:
        raise ValueError(text) from None


_EPOCH_UNITS: Final = (1, 1e3, 1e6, 1e9)


def any_time(value: object) -> int:
    """Return the epoch seconds of a number (in s, ms, µs or ns), an ISO 8601 time or one of a common log.

    Caddy's ``wall`` times (``2026/11/22 04:54:30``) have no zone and are taken as UTC. Raises ValueError, TypeError.
    """
    if isinstance(value, str):
        text = value.strip("[] ")
        if text[2:3] == "/":
            return clf_time(text[:26].encode())
        if text[4:5] == "/":
            text = text.replace("/", "-")
        if "T" in text or "-" in text[1:]:
            moment = datetime.fromisoformat(text)
            return checked_time((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
        value = float(text)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    return checked_time(next((value / unit for unit in _EPOCH_UNITS if value / unit < LATEST), math.inf))


def checked_time(moment: float) -> int:
    """Return ``moment`` in whole seconds. Raises ValueError for a time before 1990 or after 2099."""
    if not EARLIEST <= moment < LATEST:
        raise ValueError(moment)
    return int(moment)


def target_of(request: bytes) -> str:
    """Return the request target of a request line; the whole of it when it is not of HTTP."""
    words = request.split(b" ")
    if len(words) > 2 and words[-1].startswith(b"HTTP/"):
        words = [words[0], b" ".join(words[1:-1])]
    return (words[1] if len(words) > 1 else words[0]).decode("utf-8", "replace")


def whole_number(text: bytes) -> int:
    """Return a count of a log; ``-`` is 0. Raises ValueError."""
    if text in (b"-", b""):
        return 0
    if not text.isdigit():
        raise ValueError(text)
    return int(text[:18])


_UNITS: Final = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ns": 1e-9}
_DURATION: Final = re.compile(r"(?:\d+(?:\.\d+)?(?:h|ms|m|s|us|µs|μs|ns))+")
_DURATION_PART: Final = re.compile(r"(\d+(?:\.\d+)?)(h|ms|m|s|us|µs|μs|ns)")


def duration(value: object, unit: float) -> float | None:
    """Return the seconds of a number of ``unit`` seconds each, or of a text such as ``1m2.5s``; None for others."""
    if isinstance(value, str) and len(value) < 40 and _DURATION.fullmatch(value):
        return sum(float(number) * _UNITS[name] for number, name in _DURATION_PART.findall(value))
    try:
        return float(value) * unit  # type: ignore[arg-type]  # float says what it takes
    except (TypeError, ValueError):
        return None


def address_list(text: bytes) -> str:
    """Return ``text`` when it is a list of addresses as X-Forwarded-For holds it, else nothing.

    Its last entry is what the nearest proxy wrote, an address; what stands before it can be anything.
    """
    listed = text.decode("ascii", "replace")
    return listed if address_of(listed.rpartition(",")[2]) is not None else ""


def address_column(rows: Iterable[Sequence[bytes]]) -> int | None:
    """Return the place at which most of ``rows`` have a list of addresses; None when none has one."""
    places = Counter(at for row in rows for at, text in enumerate(row) if address_list(text))
    return places.most_common(1)[0][0] if places else None

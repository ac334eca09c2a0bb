"""Ages, times and changes in words."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

_UNITS: Final = ((7 * 86400, "w"), (86400, "d"), (3600, "h"), (60, "m"))
_LONG: Final = {"w": "weeks", "d": "days", "h": "h", "m": "min"}
WEEKS_FROM: Final = 60 * 86400
"""Ages under this many seconds are given in days, older ones in weeks."""


def instant(stamp: str) -> float:
    """Return an ISO 8601 time as epoch seconds, 0.0 when it is none."""
    try:
        moment = datetime.fromisoformat(stamp)
    except ValueError:
        return 0.0
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def age(stamp: str, now: float) -> str:
    """Return how long ago ``stamp`` was, in two to four characters: ``now``, ``5m``, ``2h``, ``12d``, ``9w``."""
    return span(now - instant(stamp)) if stamp else ""


def span(seconds: float) -> str:
    """Return a length of time in two to four characters."""
    if seconds < 60:
        return "now"
    for size, letter in _UNITS:
        if seconds >= size and not (letter == "w" and seconds < WEEKS_FROM):
            return str(int(seconds // size)) + letter
    return "now"


def ago(stamp: str, now: float) -> str:
    """Return how long ago ``stamp`` was, for a sentence: ``just now``, ``3 h ago``, ``12 days ago``."""
    short = age(stamp, now)
    if short in ("", "now"):
        return "just now"
    number, letter = short[:-1], short[-1]
    unit = _LONG[letter]
    return " ".join((number, unit.removesuffix("s") if number == "1" else unit, "ago"))


def day(stamp: str, now: float) -> str:
    """Return the day of ``stamp``: ``11-12`` in the year of ``now``, else ``2025-11-12``."""
    return stamp[5:10] if stamp[:4] == datetime.fromtimestamp(now, UTC).strftime("%Y") else stamp[:10]


def clock(stamp: str) -> str:
    """Return the hour and minute of a UTC time, ``10:00Z``."""
    return stamp[11:16] + "Z" if len(stamp) >= 16 else stamp


def local_time(moment: float) -> str:
    """Return hour and minute of epoch seconds in the time zone of the user: ``10:42``."""
    return datetime.fromtimestamp(moment).astimezone().strftime("%H:%M")


def signed(number: int | None) -> str:
    """Return ``+8``, ``-2``, or nothing for no change and for no earlier scan."""
    return format(number, "+d") if number else ""


def byte_size(size: int) -> str:
    """Return a number of bytes in at most seven characters: ``162 B``, ``14 kB``, ``1.2 MB``."""
    if size < 1000:
        return str(size) + " B"
    if size < 999_500:
        return format(size / 1000, ".0f") + " kB"
    return format(size / 1_000_000, ".1f") + " MB"


def seconds(milliseconds: int) -> str:
    """Return a duration in seconds with two decimals, ``0.12 s``; from ten seconds on with one."""
    value = milliseconds / 1000
    return format(value, ".1f" if value >= 9.995 else ".2f") + " s"

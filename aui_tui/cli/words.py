"""Names and figures as a person reads them."""

from __future__ import annotations

from datetime import UTC, datetime


def seconds_since(scanned_at: str, now: datetime | None = None) -> float:
    """Return the seconds since a record's time, never negative; 0 for a text that is no time."""
    try:
        then = datetime.fromisoformat(scanned_at)
    except ValueError:
        return 0.0
    return max(((now or datetime.now(UTC)) - then).total_seconds(), 0.0)


def age(seconds: float) -> str:
    """Return a duration in one unit, such as ``40s``, ``5m``, ``2h`` or ``12d``."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{int(seconds // size)}{unit}"
    return f"{int(seconds)}s"


def clock(epoch: float) -> str:
    """Return a moment as the local time of day, such as ``10:42``."""
    return datetime.fromtimestamp(epoch).astimezone().strftime("%H:%M")


def count(number: int, noun: str) -> str:
    """Return a number with its noun, such as ``1 scan`` or ``7 scans``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"

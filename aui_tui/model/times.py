"""The times of records: ISO 8601 in UTC with milliseconds, and seconds since the epoch."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

from msgspec import Meta

Timestamp = Annotated[str, Meta(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UTC_EPOCH = _EPOCH.replace(tzinfo=None)
"""The same without a zone: ``stamp`` is called for every row of a list, and a zone takes it twice as long."""
_EARLIEST, _LATEST = -62135596800.0, 253402300799.0


def stamp(epoch: float) -> str:
    """Return ``epoch`` seconds as a record writes them, such as ``2026-07-25T10:00:00.000Z``.

    A time outside the years 1 to 9999 becomes the nearest one inside.
    """
    since = timedelta(milliseconds=round(min(max(epoch, _EARLIEST), _LATEST) * 1000))
    return (_UTC_EPOCH + since).isoformat(timespec="milliseconds") + "Z"


def epoch_ms(scanned_at: str) -> int:
    """Return a record's time as whole milliseconds since the epoch; 0 for a text that is not such a time."""
    try:
        moment = datetime.fromisoformat(scanned_at)
    except ValueError:
        return 0
    since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1000 + since.microseconds // 1000


def age(scanned_at: str, now: float) -> float:
    """Return the seconds from ``scanned_at`` to ``now`` (epoch seconds); never negative."""
    return max(now - epoch_ms(scanned_at) / 1000, 0.0)

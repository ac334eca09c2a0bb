"""How many scans are left."""

from __future__ import annotations

import msgspec


class Quota(msgspec.Struct, frozen=True, kw_only=True):
    """Scans ``left`` of the hourly ``limit``.

    ``next_slot``: epoch seconds at which the next one frees, 0 when all are free.
    """

    left: int
    limit: int
    next_slot: float = 0.0

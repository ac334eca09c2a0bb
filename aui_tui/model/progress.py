"""What a scan reports while it is under way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

PROBE_SECONDS: Final = 12.0
"""Seconds that one probe has in all, redirects included."""


class ProbeEvent(msgspec.Struct, frozen=True, kw_only=True):
    """A probe changed its state.

    ``name``: ``cache`` or the name of an ``Exchange`` (``browser``, ``agent_01``, ``robots``, ...).
    ``state``: ``started``, ``retrying`` (asked again, alone, after ``wait`` seconds; ``note`` says why) or ``done``.
    ``status``: HTTP status, 0 when none. ``outcome``: ``served``, ``challenged``, ``refused`` or ``inconclusive`` of a
    homepage probe; ``found``, ``absent`` or ``inconclusive`` of a file; ``hit`` or ``miss`` of the cache; empty before
    ``done``. ``note``: a few clean words.
    """

    name: str
    state: str
    status: int = 0
    elapsed_ms: int = 0
    outcome: str = ""
    note: str = ""
    wait: float = 0.0


Progress = Callable[[ProbeEvent], None]


def no_progress(event: ProbeEvent) -> None:
    """Report nothing: the progress of a scan that nobody watches."""

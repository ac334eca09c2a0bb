"""Kept scans of a host by the time a person writes."""

from __future__ import annotations

from typing import Final

from aui_tui.cli.services import dossier_of
from aui_tui.errors import BadValue, Unavailable
from aui_tui.records.card import ReportCard
from aui_tui.records.view import Dossier
from aui_tui.service.protocol import Service
from aui_tui.text import clean

FIRST, LAST = "first", "last"
SHOWN: Final = 5
"""Times named when none fits."""


async def at(service: Service, host: str, when: str, *, method: str = "") -> Dossier:
    """Return the latest kept scan of ``host`` whose time begins with ``when``, or its ``first`` or ``last`` one.

    Raises NeverScanned, and BadValue naming the kept times when none fits.
    """
    latest = await dossier_of(service, host, method=method)
    times = [point.scanned_at for point in latest.history] or [latest.card.scanned_at]
    if when.casefold() == LAST:
        return latest
    if when.casefold() == FIRST:
        chosen = times[0]
    else:
        wanted = when.strip().upper().replace(" ", "T")
        fitting = [time for time in times if wanted and time.startswith(wanted)]
        if not fitting:
            named = ", ".join(reversed(times[-SHOWN:]))
            more = f" and {len(times) - SHOWN} more" if len(times) > SHOWN else ""
            raise BadValue(f"No kept scan of {clean(host, 80)} begins with {clean(when, 40)!r}; kept: {named}{more}.")
        chosen = fitting[-1]
    return latest if chosen == latest.card.scanned_at else await dossier_of(service, host, method=method, at=chosen)


def before(dossier: Dossier) -> ReportCard:
    """Return the card of the scan before. Raises Unavailable when this is the first kept one."""
    if dossier.previous is None:
        raise Unavailable(f"{dossier.card.host} was scanned once, so there is nothing to compare with.")
    return dossier.previous

"""Where a command takes its cards from: files of records, and the kept scans of a host."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from aui_tui.cli import streams
from aui_tui.cli.services import dossier_of
from aui_tui.errors import BadValue, ConfigError, RecordError, Unavailable
from aui_tui.records.card import ReportCard
from aui_tui.records.codec import MAX_BYTES, decode_card
from aui_tui.records.view import Dossier
from aui_tui.service.protocol import Service
from aui_tui.text import clean

STDIN: Final = "-"


def is_file(name: str) -> bool:
    """Return whether ``name`` means a file of cards rather than a host: ``-``, a JSON file, or one that is there."""
    return name == STDIN or name.endswith((".json", ".ndjson")) or ("\0" not in name and Path(name).is_file())


def read_bytes(name: str) -> bytes:
    """Return what the file ``name`` holds, ``-`` for standard input. Raises ConfigError."""
    try:
        if name == STDIN:
            return streams.source().read(MAX_BYTES + 1)
        with Path(name).expanduser().open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"Cannot read {clean(name, 200)}: {clean(reason, 200)}.") from None


def read(name: str) -> tuple[ReportCard, ...]:
    """Return the cards in the file ``name``. Raises ConfigError, or RecordError naming the record at fault."""
    data = read_bytes(name)
    texts = _texts(data)
    cards = []
    for number, text in enumerate(texts, 1):
        try:
            cards.append(decode_card(text))
        except RecordError as error:
            where = f"{clean(name, 200)}, record {number}" if len(texts) > 1 else clean(name, 200)
            raise RecordError(f"{where}: {error}") from None
    if not cards:
        raise RecordError(f"{clean(name, 200)} holds no report card.")
    return tuple(cards)


def _texts(data: bytes) -> list[bytes]:
    """Part ``data`` into the texts of single records; what cannot be parted stays whole and fails later."""
    try:
        whole = json.loads(data)
    except (ValueError, RecursionError):
        lines = [line for line in data.splitlines() if line.strip()]
        return (
            lines
            if len(lines) > 1 and lines[0].lstrip().startswith(b"{") and lines[0].rstrip().endswith(b"}")
            else [data]
        )
    return [json.dumps(item).encode() for item in whole] if isinstance(whole, list) else [data]


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

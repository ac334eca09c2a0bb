"""Taking records from a file into the index."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import BinaryIO, Final

import msgspec

from aui_tui.engine.target import parse
from aui_tui.errors import InvalidHost, RecordError
from aui_tui.store.imports import Incoming, read
from aui_tui.store.reports import Reports
from aui_tui.store.writer import Packed

BATCH: Final = 500
OnProgress = Callable[[int], None]
"""Hears how many records were read."""


class Intake(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a file: records ``read``, those that are ``new`` or newer in the index, and the ``problems``.

    ``problems`` are sentences that begin with the place in the file; the records they are about were passed over.
    """

    read: int
    new: int
    problems: tuple[str, ...]


def take(stream: BinaryIO, reports: Reports, *, progress: OnProgress | None = None, limit: int = 1000) -> Intake:
    """Put every record of ``stream`` into ``reports``; at most ``limit`` problems are kept as sentences.

    A record that is older than what is known goes to the history; a summary never replaces a card. Raises Unavailable
    when the index cannot be written: what was taken before stays.
    """
    done = new = 0
    problems: list[str] = []
    source = read(stream)
    while batch := list(islice(source, BATCH)):
        packed = []
        for record in batch:
            try:
                packed.append(_packed(record))
            except (InvalidHost, RecordError) as error:
                if len(problems) < limit:
                    problems.append(f"{record.place}: {error}")
        new += reports.put_packed(packed)
        done += len(batch)
        if progress is not None:
            progress(done)
    return Intake(read=done, new=new, problems=tuple(problems))


def _packed(record: Incoming) -> Packed:
    """Return a record ready to be written. Raises RecordError for a broken one, InvalidHost for a host that is none."""
    if record.error:
        raise RecordError(record.error)
    if record.summary is not None:
        summary = msgspec.structs.replace(record.summary, host=_host(record.summary.host))
        return Packed.of_summary(summary, ranked=record.ranked)
    assert record.card is not None
    card = msgspec.structs.replace(record.card, host=_host(record.card.host))
    seen = record.observations
    if seen is not None and _host(seen.host) != card.host:
        raise RecordError(f"The observations are of {seen.host}, the card is of {card.host}.")
    return Packed.of(card, None if seen is None else msgspec.structs.replace(seen, host=card.host))


def _host(text: str) -> str:
    return parse(text, allow_private=True).site

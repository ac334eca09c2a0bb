"""What a shell may complete: words of a closed list, and hosts of the index."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Final

from aui_tui.errors import AuiError

MOST_HOSTS: Final = 50

Completer = Callable[[str], list[str]]


def of(allowed: Sequence[str]) -> Completer:
    """Return a completer of ``allowed``, case ignored, and of the last part of a comma list."""

    def complete(incomplete: str) -> list[str]:
        earlier, comma, last = incomplete.rpartition(",")
        return [earlier + comma + word for word in allowed if word.casefold().startswith(last.casefold())]

    return complete


def agents(incomplete: str) -> list[str]:
    """Return the matrix surfaces that can be tested, as :func:`of` does."""
    from aui_tui.records.registry import registry

    return of([surface.slug for surface in registry().surfaces if surface.source != "none"])(incomplete)


def hosts(incomplete: str) -> list[str]:
    """Return hosts of the index in force that begin with ``incomplete``; none when it cannot be read."""
    from aui_tui.records.query import Query
    from aui_tui.settings import load
    from aui_tui.store.reports import Reports

    try:
        index = load({}, os.environ).data_dir / "index.db"
        if not index.is_file():
            return []
        reports = Reports(index)
        try:
            view = reports.index(Query.of(line=f'"{incomplete}"' if incomplete else "", sort="host"))
            found = [row.summary.host for window in (view.ranked, view.unreachable) for row in window[0:MOST_HOSTS]]
        finally:
            reports.close()
    except AuiError:
        return []
    return [host for host in found if host.startswith(incomplete.lower())]

"""Records as plain dictionaries, in the field order of the specification."""

from __future__ import annotations

from typing import Any

import msgspec

from aui_tui.export.options import VOLATILE, Options
from aui_tui.records.card import ReportCard
from aui_tui.records.codec import keyed
from aui_tui.records.view import Row


def plain_card(card: ReportCard, options: Options) -> dict[str, Any]:
    """Return the fields of ``card``; deterministic output leaves out what changes from run to run."""
    return _plain(card, options)


def plain_row(row: Row, options: Options) -> dict[str, Any]:
    """Return the fields of the row's summary (specification 2.1)."""
    return _plain(row.summary, options)


def with_extras(row: Row, listed: str, options: Options) -> dict[str, Any]:
    """Return the fields of the row's summary and ROW_EXTRAS; ``listed`` is the list that it stands in."""
    return plain_row(row, options) | {
        "list": listed,
        "rank": row.rank or None,
        "change": row.change,
        "scans": row.scans,
        "method": row.method,
        "edge": row.edge,
        "best_fix": row.best_fix,
        "best_points": row.best_points,
    }


def _plain(record: msgspec.Struct, options: Options) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(keyed(record, options.keys))
    if options.deterministic:
        for name in VOLATILE:
            fields.pop(name, None)
    return fields

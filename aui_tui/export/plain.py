"""Records as plain dictionaries, in the field order of the specification."""

from __future__ import annotations

from typing import Any

import msgspec

from aui_tui.export.fields import LIST
from aui_tui.export.options import VOLATILE, Options
from aui_tui.records.card import ReportCard
from aui_tui.records.codec import keyed
from aui_tui.records.registry import Agent, Crawler, registry
from aui_tui.records.view import Row


def plain_card(card: ReportCard, options: Options) -> dict[str, Any]:
    """Return the fields of ``card``; deterministic output leaves out what changes from run to run."""
    return _plain(card, options)


def listed_card(card: ReportCard, options: Options) -> dict[str, Any]:
    """Return the fields of ``card``, and in which list of the index it stands."""
    return plain_card(card, options) | {LIST: "unreachable" if card.unreachable else "ranked"}


def distinct(value: Any) -> Any:
    """Return ``value`` with keys that differ in more than case, at every depth.

    Two agents and two pairs of crawlers are casings of one name (specification 2.2). Data frames and databases that
    ignore case (DuckDB, SQL) refuse such records, so the second of a pair is written by its slot, ``agent_13``.
    """
    if not isinstance(value, dict):
        return value
    found: dict[str, Any] = {}
    seen: set[str] = set()
    for key, item in value.items():
        name = _slot_of(key) if key.casefold() in seen else key
        seen.add(name.casefold())
        found[name] = distinct(item)
    return found


def _slot_of(token: str) -> str:
    entries: tuple[Agent | Crawler, ...] = (*registry().agents, *registry().crawlers)
    return next((entry.key for entry in entries if entry.token == token), token + "_2")


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

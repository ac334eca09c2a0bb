"""The answers of an index in a form that can be kept.

``tests/data/index`` holds an index of two thousand varied hosts and the answers to two thousand questions, which the
last program before an index had plain columns (schema version 3) wrote with these functions. They are never made again:
what comes after reads that file and gives those answers.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import msgspec

from aui_tui.index.reports import Reports
from aui_tui.model.query import Query
from aui_tui.model.view import IndexView, Window
from tests.benchmarks import samples

NOW = float(samples.START)
SHOWN = 25
"""Hosts of a list that an answer names; a digest stands for the whole."""


def answer(reports: Reports, question: dict[str, Any]) -> Any:
    """Return the answer to one of ``questions`` as JSON has it."""
    query = Query.of(**question["query"])
    if question["ask"] == "list":
        return listed(reports.index(query))
    if question["ask"] == "overview":
        return plain(reports.overview(query))
    if question["ask"] == "moves":
        return plain(reports.moves(query, question["since"], 8))
    if question["ask"] == "weeks":
        return plain(reports.weeks(query))
    return reports.position(question["host"], query)


def listed(view: IndexView) -> dict[str, Any]:
    """Return both lists of a view, in order, and what stands behind its filters."""
    return {
        "ranked": shortened(view.ranked),
        "unreachable": shortened(view.unreachable),
        "scanned_at": view.scanned_at,
        "facets": plain(view.facets),
    }


def shortened(window: Window) -> list[Any]:
    """Return how many hosts a list has, the first of them, and a digest of all."""
    hosts = [row.summary.host for row in window[0 : len(window)]]
    return [len(window), hosts[:SHOWN], hashlib.sha256("\n".join(hosts).encode()).hexdigest()[:16]]


def plain(record: Any) -> Any:
    """Return a record as JSON has it."""
    return json.loads(msgspec.json.encode(record))


def host_of(reports: Reports, host: str) -> dict[str, Any]:
    """Return what lists, histories and logs say of a host."""
    record, row = reports.visits(host), plain(reports.row(host))
    for name in ("disagree", "unanswered"):  # the earlier program had no such fields
        row.pop(name)
    return {
        "row": row,
        "history": plain(reports.history(host)),
        "visits": None if record is None else record.visitors[0].requests,
    }

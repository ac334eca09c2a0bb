"""Many hosts: a list is read, each host scanned once, every result written to the index as it comes."""

from __future__ import annotations

from aui_tui.service.crawl.crawl import Counts, Crawl, Done
from aui_tui.service.crawl.listing import BadRow, Row, chunks, count_lines, groups, read, starter_rows
from aui_tui.service.crawl.pool import Pool, Terms, Workers

__all__ = [
    "BadRow",
    "Counts",
    "Crawl",
    "Done",
    "Pool",
    "Row",
    "Terms",
    "Workers",
    "chunks",
    "count_lines",
    "groups",
    "read",
    "starter_rows",
]

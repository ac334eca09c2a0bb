"""Many hosts: a list is read, each host scanned once, every result written to the index as it comes."""

from __future__ import annotations

from aui_tui.service.crawl.crawl import Counts, Crawl, Done
from aui_tui.service.crawl.listing import BadRow, ListedHost, count_lines, groups, read_file, starter_rows
from aui_tui.service.crawl.work import CrawlSettings, Here, Job, JobResult, Workers

__all__ = [
    "BadRow",
    "Counts",
    "Crawl",
    "CrawlSettings",
    "Done",
    "Here",
    "Job",
    "JobResult",
    "ListedHost",
    "Workers",
    "count_lines",
    "groups",
    "read_file",
    "starter_rows",
]

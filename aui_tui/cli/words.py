"""Names and figures as a person reads them."""

from __future__ import annotations

from datetime import UTC, datetime

from aui_tui.records.registry import registry

PROBES = {
    "cache": "cache",
    "browser": "browser",
    "robots": "robots.txt",
    "llms": "llms.txt",
    "ai-plugin": "ai-plugin.json",
    "ucp": "UCP profile",
    "mcp": "MCP card",
}
"""Names of the probes that are no agents."""


def agent(name: str) -> str:
    """Return the label of an agent; a foreign name as it is."""
    known = registry().agent(name)
    return known.label if known else name


def probe(name: str) -> str:
    """Return what a probe is called."""
    return PROBES.get(name) or agent(name)


def seconds_since(scanned_at: str, now: datetime | None = None) -> float:
    """Return the seconds since a record's time, never negative; 0 for a text that is no time."""
    try:
        then = datetime.fromisoformat(scanned_at)
    except ValueError:
        return 0.0
    return max(((now or datetime.now(UTC)) - then).total_seconds(), 0.0)


def age(seconds: float) -> str:
    """Return a duration in one unit, such as ``40s``, ``5m``, ``2h`` or ``12d``."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{int(seconds // size)}{unit}"
    return f"{int(seconds)}s"


def clock(epoch: float) -> str:
    """Return a moment as the local time of day, such as ``10:42``."""
    return datetime.fromtimestamp(epoch).astimezone().strftime("%H:%M")


def count(number: int, noun: str) -> str:
    """Return a number with its noun, such as ``1 scan`` or ``7 scans``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"

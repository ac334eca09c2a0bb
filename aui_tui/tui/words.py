"""Ages, times, sizes and quotas in words, and the terms that the line above the keys explains."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from aui_tui.model import labels, times
from aui_tui.text import count

if TYPE_CHECKING:
    from aui_tui.model.quota import Quota


def age(stamp: str, now: float) -> str:
    """Return how long ago ``stamp`` was, in two to four characters: ``now``, ``5m``, ``2h``, ``12d``, ``9w``."""
    old = times.age(stamp, now) if stamp else 0
    return labels.span(old) if old >= 60 else "now" if stamp else ""


def day(stamp: str, now: float) -> str:
    """Return the day of ``stamp``: ``11-12`` in the year of ``now``, else ``2025-11-12``."""
    return stamp[5:10] if stamp[:4] == datetime.fromtimestamp(now, UTC).strftime("%Y") else stamp[:10]


def clock(stamp: str) -> str:
    """Return the hour and minute of a UTC time, ``10:00Z``."""
    return stamp[11:16] + "Z" if len(stamp) >= 16 else stamp


def local_time(moment: float) -> str:
    """Return hour and minute of epoch seconds in the time zone of the user: ``10:42``."""
    return datetime.fromtimestamp(moment).astimezone().strftime("%H:%M")


def signed(number: int | None) -> str:
    """Return ``+8``, ``-2``, or nothing for no change and for no earlier scan."""
    return format(number, "+d") if number else ""


NO_TASKS: Final = "Tasks run in a browser on this machine, for its own index alone."


def with_keys(words: str, *, tasks: bool = True) -> str:
    """Return words of a report with the key of the dashboard in the place of the option of the command line.

    Where no ``tasks`` can be tried, as on another index, nothing asks for them.
    """
    if not tasks:
        words = words.replace(": try the tasks (--tasks)", "").replace(" (--tasks)", "")
    return words.replace("--tasks", "key a")


def quota_words(quota: Quota | None, *, full: bool) -> str:
    """Return the scans left: ``7 scans left`` and, where there is room, when the next is free."""
    if quota is None:
        return ""
    words = f"{count(quota.left, 'scan')} left"
    late = quota.next_slot and (full or quota.left == 0)
    return f"{words} · next at {local_time(quota.next_slot)}" if late else words


# Terms, explained at the foot


TERMS: Final = {
    "rank": "The place among all hosts.",
    "score": "Share of the points measured; * marks one where some were not.",
    "change": "Points since the scan before.",
    "grade": "A from 90 on, B 80, C 70, D 60.",
    "by": "What turned it away: robots.txt, a CDN, the site.",
    "in": "Gets the page; path rules that hold for everybody leave it in.",
    "gets in": "Gets the page, whole or in part.",
    "out": "Refused, challenged, or told by robots.txt to stay out.",
    "part": "Gets the page; robots.txt closes other pages to this name alone.",
    "refused": "An error came back for this name, and the page for a browser.",
    "challenged": "A challenge page (a test for humans), or another page, came back.",
    "told no": "robots.txt tells this name to stay out.",
    "unclear": "It was asked, but no answer proves anything.",
    "not asked": "No scan asks under this name; robots.txt or a task run speaks of it.",
    "MCP card or shop manifest": "A file of services for agents (MCP, UCP).",
    "agents let in": "Web Bot Auth: proof of who asks, by signature.",
    "Content-Signal": "A line of robots.txt on what the content may be used for.",
    "Works": "What assistants get done here, half of the score; only a task run tells.",
    "llms.txt": "A short guide to the site for language models.",
    "JSON-LD": "Facts about the page, written for machines.",
    "landmarks": "Named parts of a page, such as main and nav: a map for software.",
    "served by": "The server that answers, its sites, and those that turn agents away.",
    "provisional": "Not all points were measured: without tasks, half of them.",
    "readable": "Whether the text of the page is there before any script has run.",
    "robots.txt": "The file that says which programs may fetch which pages (RFC 9309).",
    "reads": "What readers of text get from the page; not scored.",
    "evidence": "The findings, worst first; d shows the changes since the scan before.",
    "changes": "What differs from an earlier scan; D chooses which, d turns back.",
    "log": "Every request of the scan; enter shows what was sent and what came back.",
    "tasks": "An agent's browser tries to read, follow, search, contact, fill, offer.",
    "visits": "The site's own access log says what the real agents got.",
    "overview": "Every figure opens the list of its hosts.",
    "stance": "Open: agents get in. Selective: some do. Walled: they are shut out.",
    "scores": "Hosts per ten points and per grade; half of a score needs the tasks.",
    "lacking": "Checks that most hosts fail; each has a fix that can be copied.",
    "movers": "Hosts whose score changed most; d chooses since when.",
    "disagree": "robots.txt says yes and the site says no, or the other way round.",
    "ledger": "How the score came about, point by point.",
}
"""One sentence per term, short enough to stand whole beside it in 80 cells."""

"""What a running scan tells on standard error: a live checklist on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from aui_tui.cli import streams
from aui_tui.records import labels
from aui_tui.records.progress import ProbeEvent, Progress
from aui_tui.text import clean

if TYPE_CHECKING:
    from rich.text import Text

MARKS: Final = MappingProxyType(
    {
        "served": ("✓", "green"),
        "found": ("✓", "green"),
        "hit": ("✓", "green"),
        "challenged": ("✗", "red"),
        "refused": ("✗", "red"),
        "inconclusive": ("?", "yellow"),
    }
)
"""Symbol and colour of an outcome."""
QUIET_OUTCOME: Final = ("·", "dim")
LIMIT: Final = 12
"""Seconds a probe may take (specification 8)."""


def outcome_words(event: ProbeEvent) -> str:
    """Return what became of a finished probe, such as ``403 challenged, cloudflare``."""
    parts = [str(event.status)] if event.status else []
    parts += [event.outcome] if event.outcome else []
    return " ".join(parts) + (f", {event.note}" if event.note else "")


@contextmanager
def narrated(host: str, *, quiet: bool) -> Iterator[Progress | None]:
    """Yield the callback that tells the progress of a scan of ``host``; None when ``quiet``."""
    host = clean(host, 253)
    if quiet or sys.stderr is None:
        yield None
    elif sys.stderr.isatty():
        with _live(host) as tell:
            yield tell
    else:
        yield _plain(host)


def _plain(host: str) -> Progress:
    def tell(event: ProbeEvent) -> None:
        if event.state == "done":
            took = f" {event.elapsed_ms / 1000:.2f} s" if event.elapsed_ms else ""
            streams.say(f"{host}: {labels.probe(event.name)}: {outcome_words(event)}{took}")
        elif event.state == "retrying" and not event.note:
            streams.say(f"{host}: {labels.probe(event.name)}: once more, alone")
        elif event.state == "retrying" and event.name == "browser":
            streams.say(f"{host}: once more {event.note}")

    return tell


class _Checklist:
    """The probes of one scan in the order in which they began."""

    def __init__(self, host: str) -> None:
        self.host = host
        self.began: dict[str, float] = {}
        self.events: dict[str, ProbeEvent] = {}

    def tell(self, event: ProbeEvent) -> None:
        if event.state != "done" or event.name not in self.began:
            self.began[event.name] = time.monotonic()
        self.events[event.name] = event

    def __rich__(self) -> Text:
        from rich.text import Text

        text = Text(f"scan  {self.host}\n", no_wrap=True, overflow="ellipsis")
        for name, event in self.events.items():
            mark, style = MARKS.get(event.outcome, QUIET_OUTCOME) if event.state == "done" else ("…", "cyan")
            text.append(f"  {mark} ", style)
            text.append(f"{labels.probe(name):<15}")
            if event.state == "done":
                took = f"  {event.elapsed_ms / 1000:.2f} s" if event.elapsed_ms else ""
                text.append(f"{outcome_words(event)}{took}\n")
            else:
                waited = time.monotonic() - self.began[name]
                again = "once more, " if event.state == "retrying" else ""
                text.append(f"{again}{waited:.1f}/{LIMIT} s\n", "dim")
        return text


@contextmanager
def _live(host: str) -> Iterator[Progress]:
    from rich.console import Console
    from rich.live import Live

    checklist = _Checklist(host)
    console = Console(stderr=True, highlight=False)
    with Live(checklist, console=console, refresh_per_second=10, transient=True):
        yield checklist.tell

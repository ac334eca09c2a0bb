"""What a crawl tells: a bar or plain lines on standard error, every result on standard output, a summary at the end."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from aui_tui.cli import streams, words

if TYPE_CHECKING:
    from rich.text import Text

    from aui_tui.crawl import Counts, Crawl, Done

EVERY: Final = 5.0
"""Seconds between the lines of progress where there is no terminal."""
WINDOW: Final = 30.0
"""Seconds over which the rate is taken."""
BAR: Final = 30


class Narration:
    """Hears what became of each row. ``total``: rows of the list, None when nobody knows.

    ``refused`` counts hosts that turned out to be none to scan.
    """

    def __init__(self, total: int | None, *, quiet: bool, as_json: bool, ascii_only: bool = False) -> None:
        self.crawl: Crawl | None = None
        self.refused = 0
        self._total = total
        self._quiet = quiet
        self._as_json = as_json
        self._ascii = ascii_only
        self._began = time.monotonic()
        self._marks: list[tuple[float, int]] = [(self._began, 0)]
        self.plain = False
        self._last = self._began

    @property
    def counts(self) -> Counts | None:
        """The counts of the crawl, None before it begins."""
        return self.crawl.counts if self.crawl is not None else None

    def tell(self, done: Done) -> None:
        """Take in what became of one row."""
        if done.kind == "bad":
            shown = f" ({done.row.text})" if done.row.text else ""  # type: ignore[union-attr]
            streams.say(f"line {done.row.line}: {done.row.reason}{shown}")  # type: ignore[union-attr]
        elif done.kind == "failed" and done.result is not None:
            self.refused += done.result.status == 400
            streams.say(f"line {done.row.line}: {done.result.error}")
        if self._as_json and done.kind != "fresh":
            streams.put_line(record_of(done))
        if self.plain and time.monotonic() - self._last >= EVERY:
            self._last = time.monotonic()
            streams.say(self.line())

    def rate(self) -> float:
        """Return the hosts per second of the last WINDOW seconds."""
        counts, now = self.counts, time.monotonic()
        worked = counts.worked if counts is not None else 0
        if now - self._marks[-1][0] > 0.5:
            self._marks.append((now, worked))
        while len(self._marks) > 2 and now - self._marks[1][0] > WINDOW:
            del self._marks[0]
        then, before = self._marks[0]
        return (worked - before) / max(now - then, 0.001)

    def line(self) -> str:
        """Return the progress in one line."""
        counts, rate = self.counts, self.rate()
        dealt = counts.total if counts is not None else 0
        whole = f" of {self._total:,}" if self._total is not None else ""
        parts = [f"{dealt:,}{whole} rows", f"{rate:.1f} hosts/s"]
        if self._total is not None and rate > 0 and dealt < self._total:
            parts.append(f"about {words.age((self._total - dealt) / rate)} left")
        if self.crawl is not None:
            parts.append(f"{self.crawl.in_flight} in flight")
        if counts is not None:
            named = (("unreachable", counts.unreachable), ("failed", counts.failed), ("bad rows", counts.bad))
            parts += [f"{number:,} {name}" for name, number in named if number]
        return ", ".join(parts)

    def summary(self) -> str:
        """Return the end of the story in one sentence."""
        counts = self.counts
        if counts is None:
            return ""
        seconds = time.monotonic() - self._began
        parts = [
            f"{words.count(counts.worked, 'host')} scanned in {seconds:.1f} s",
            f"{counts.worked / max(seconds, 0.001):.1f}/s",
            f"{counts.unreachable:,} unreachable",
            f"{counts.fresh:,} skipped with a recent card",
            f"{counts.failed:,} failed",
            words.count(counts.bad, "bad row"),
        ]
        if counts.unsaved:
            parts.append(f"{counts.unsaved:,} not saved")
        return ", ".join(parts) + "."

    def __rich__(self) -> Text:
        from rich.text import Text

        counts = self.counts
        full, empty = "#." if self._ascii else "█░"
        text = Text("crawl ", no_wrap=True, overflow="crop" if self._ascii else "ellipsis")
        if self._total:
            filled = min(BAR, (counts.total if counts is not None else 0) * BAR // self._total)
            text.append(full * filled, "green").append(empty * (BAR - filled), "dim").append(" ")
        return text.append(self.line())


@contextmanager
def narrating(total: int | None, *, quiet: bool, as_json: bool, ascii_only: bool = False) -> Iterator[Narration]:
    """Yield the narration of a crawl; the summary comes at its end, interrupted or not."""
    narration = Narration(total, quiet=quiet, as_json=as_json, ascii_only=ascii_only)
    try:
        if quiet or sys.stderr is None:
            yield narration
        elif sys.stderr.isatty():
            with _live(narration):
                yield narration
        else:
            narration.plain = True
            yield narration
    finally:
        if not quiet and narration.counts is not None:
            streams.say(narration.summary())


@contextmanager
def _live(narration: Narration) -> Iterator[None]:
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True, highlight=False)
    with Live(narration, console=console, refresh_per_second=4, transient=True, redirect_stdout=False):
        yield


def record_of(done: Done) -> bytes:
    """Return the line of JSON for one row: the card, else an object with line, host, title, status and detail."""
    import msgspec

    result = done.result
    if result is not None and result.card:
        return result.card
    if result is not None:
        told = {"host": done.row.site, "title": result.title, "status": result.status, "detail": result.error}  # type: ignore[union-attr]
    else:
        told = {"host": done.row.text, "title": "Bad row", "status": 400, "detail": done.row.reason}  # type: ignore[union-attr]
    return msgspec.json.encode({"found": False, "line": done.row.line} | told)

"""The running scans: a checklist for the newest, one line for each of the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from textual.strip import Strip
from textual.timer import Timer

from aui_tui.records import labels
from aui_tui.tui import glyphs
from aui_tui.tui.draw import Line, Piece, line, pad, spread
from aui_tui.tui.scans import Scan
from aui_tui.tui.widgets.lines import Painted

TICK: Final = 0.2
"""Seconds between two drawings while a probe waits."""
COLUMN: Final = 38
"""Cells of one column of the checklist."""


class ScanPanel(Painted):
    """Hidden while no scan runs."""

    DEFAULT_CSS = """
    ScanPanel { height: auto; display: none; }
    """

    def __init__(self, clock: Callable[[], float], *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._clock = clock
        self._scans: tuple[Scan, ...] = ()
        self._timer: Timer | None = None
        self._compact = False

    def on_mount(self) -> None:
        """Count the limit only while something runs."""
        self._timer = self.set_interval(TICK, self.refresh, pause=True)

    def show(self, scans: tuple[Scan, ...], *, compact: bool) -> None:
        """Show the running ones of ``scans``, the newest in full unless ``compact``."""
        running = tuple(scan for scan in scans if scan.running)
        before = self._height(), bool(self._scans)
        self._scans, self._compact = running, compact
        self.display = bool(running)
        if self._timer is not None:
            if running:
                self._timer.resume()
            else:
                self._timer.pause()
        self.refresh(layout=(self._height(), bool(running)) != before)

    def _height(self) -> int:
        if not self._scans:
            return 0
        return len(self._scans) if self._compact else len(self._scans) + self._rows(self._scans[-1])

    def _rows(self, scan: Scan) -> int:
        width = self.app.size.width
        columns = max(width // COLUMN, 1)
        return -(-len(scan.probes) // columns)

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        """Return the lines that are needed."""
        return self._height()

    def render_line(self, y: int) -> Strip:
        """Draw one line of the panel."""
        width, now = self.size.width, self._clock()
        lines = self._lines(width, now)
        return self.strip(lines[y] if y < len(lines) else (), width)

    def _lines(self, width: int, now: float) -> list[Line]:
        out = [
            strip_line(scan, width, now, detail=self._compact or scan is not self._scans[-1]) for scan in self._scans
        ]
        if self._scans and not self._compact:
            out += checklist(self._scans[-1], width, now)
        return out


def strip_line(scan: Scan, width: int, now: float, *, detail: bool) -> Line:
    """Return a scan in one line: host, the probes as signs where ``detail`` asks for them, how far it is."""
    left = line(" ", ("scan", "accent"), " ", (scan.url, "strong"), "  ")
    right = line(
        (" ".join((str(scan.finished) + "/" + str(len(scan.probes)), "probes", glyphs.DOT, "esc cancels ")), "muted")
    )
    if not detail:
        return spread(left, right, width)
    parts: list[Piece] = [*left]
    for probe in scan.probes:
        sign, role = (glyphs.DOT, "muted")
        if probe.state == "done":
            sign, role = glyphs.OUTCOME.get(probe.outcome, glyphs.DOT), glyphs.role_of(probe.outcome)
        elif probe.state:
            sign, role = glyphs.WAIT, "accent"
        parts += [Piece(labels.probe(probe.name) + " ", "muted"), Piece(sign + "  ", role)]
    return spread(parts, right, width)


def checklist(scan: Scan, width: int, now: float) -> list[Line]:
    """Return one cell per probe, in as many columns as fit, filled downwards."""
    columns = max(width // COLUMN, 1)
    rows = -(-len(scan.probes) // columns)
    room = width // columns
    out: list[Line] = []
    for row in range(rows):
        parts: list[Piece] = []
        for probe in scan.probes[row::rows]:
            parts.extend(pad((Piece("  "), *probe.line(now)), room))
        out.append(tuple(parts))
    return out

"""The running scans, over the line about the selected row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from textual.content import Content
from textual.widgets import Static

from aui_tui.tui.scan_panel import Scan, checklist, strip

TICK: Final = 0.2
"""Seconds between two drawings while a probe waits."""
LOW: Final = 20
"""Rows of a terminal below which a scan takes one row."""


class ScanPanel(Static):
    """The running scans, the newest in full where there is room; hidden while none runs."""

    DEFAULT_CSS = """
    ScanPanel { background: $surface; height: auto; display: none; text-wrap: nowrap; }
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__(id="scans", markup=False)
        self._clock = clock
        self._scans: list[Scan] = []

    def on_mount(self) -> None:
        self._ticks = self.set_interval(TICK, self._write, pause=True)
        self.watch(self.app, "scans", self._follow)

    def _follow(self, scans: list[Scan]) -> None:
        self._scans = [scan for scan in scans if scan.running]
        self.display = bool(self._scans)
        (self._ticks.resume if self._scans else self._ticks.pause)()
        self._write()

    def _write(self) -> None:
        """Draw them; the time counts while a probe waits."""
        width, compact = self.app.size.width, self.app.size.height < LOW
        rows = [strip(scan, width, detail=compact or scan is not self._scans[-1]) for scan in self._scans]
        if self._scans and not compact:
            rows += checklist(self._scans[-1], width, self._clock())
        self.update(Content("\n").join(rows))

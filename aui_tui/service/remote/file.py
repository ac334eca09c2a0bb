"""An index in a file, or on standard input: imported into a temporary index of ours, and read there."""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from aui_tui.errors import AuiError, BadValue, ConfigError, NeverScanned, Unavailable
from aui_tui.model.observations import Progress
from aui_tui.model.options import ORDINARY, ScanOptions
from aui_tui.model.points import Standing
from aui_tui.model.tasks import TaskProgress, TaskReport
from aui_tui.model.view import HostReport
from aui_tui.service.importer import read
from aui_tui.service.local import LocalService
from aui_tui.service.remote.imported import ImportedIndex, ImportedService
from aui_tui.service.threads import abandonable
from aui_tui.text import clean

STDIN: Final = "-"


class Opened(NamedTuple):
    """The file as a list, and the cards in it."""

    rows: ImportedIndex
    cards: LocalService


class FileService(ImportedService):
    """The index in ``source``, a path or ``-`` for standard input; it is read once, at the first question."""

    can_scan = False

    def __init__(self, source: str) -> None:
        self._source = source
        self.label = "standard input" if source == STDIN else clean(Path(source).name, 60)
        self._folder = ""
        self._read: Opened | None = None
        self._reading = asyncio.Lock()

    async def imported(self) -> ImportedIndex:
        """Return the index. Raises ConfigError or RecordError for what cannot be read."""
        return (await self._opened()).rows

    async def site(self, host: str, *, method: str = "", at: str = "") -> HostReport:
        """Return the card of ``host``. Raises NeverScanned; Unavailable when the file lists the host without a card."""
        opened = (await self._opened()).cards
        try:
            return await opened.site(host, method=method, at=at)
        except NeverScanned:
            with suppress(NeverScanned):
                if not at and opened.reports.row(host.strip().lower()):
                    name = clean(host.strip().lower(), 100)
                    raise Unavailable(f"{self.label} lists {name} but holds no report cards.") from None
                times = tuple(point.scanned_at for point in (await opened.site(host)).history)
                raise BadValue(f"{self.label} holds no such scan of {clean(host, 100)}.", allowed=times) from None
            raise

    async def transcript(self, host: str) -> TaskReport | None:
        """Return the last run of the tasks on ``host``, where the file has what was seen. Raises NeverScanned."""
        return await (await self._opened()).cards.transcript(host)

    async def what_if(self, host: str, fixes: frozenset[str], *, method: str = "", at: str = "") -> Standing:
        """Return where ``host`` would stand with ``fixes`` carried out."""
        return await (await self._opened()).cards.what_if(host, fixes, method=method, at=at)

    async def scan(
        self,
        url: str,
        options: ScanOptions = ORDINARY,
        *,
        progress: Progress | None = None,
        live: TaskProgress | None = None,
    ) -> HostReport:
        """Raise Unavailable: a file scans nothing."""
        raise Unavailable(f"{self.label} is a file of results; it cannot scan.")

    async def aclose(self) -> None:
        """Remove the temporary index."""
        read, self._read = self._read, None
        if read is not None:
            await read.cards.aclose()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    async def _opened(self) -> Opened:
        async with self._reading:
            if self._read is None:
                if not self._folder:
                    self._folder = tempfile.mkdtemp(prefix="aui-tui-")
                self._read = await abandonable(self._import)
            return self._read

    def _import(self) -> Opened:
        service = LocalService(Path(self._folder), base_url="")
        try:
            if self._source == STDIN:
                return Opened(ImportedIndex(read(sys.stdin.buffer), service.reports), service)
            with Path(self._source).open("rb") as file:
                return Opened(ImportedIndex(read(file), service.reports), service)
        except OSError as error:
            raise ConfigError(f"Cannot read {clean(self._source, 200)}: {error.strerror or error}.") from None
        except AuiError as error:
            raise type(error)(f"{self.label}: {error}") from None

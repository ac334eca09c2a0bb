"""An index in a file, or on standard input."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

from aui_tui.errors import AuiError, BadValue, ConfigError, NeverScanned, Unavailable
from aui_tui.files import STDIN, reading
from aui_tui.model.points import Standing
from aui_tui.model.view import HostReport
from aui_tui.service.importer import read
from aui_tui.service.remote.imported import Imported, ImportedService
from aui_tui.text import clean
from aui_tui.threads import abandonable


class FileService(ImportedService):
    """The index in ``source``, a path or ``-`` for standard input; it is read once, at the first question."""

    can_scan = False

    def __init__(self, source: str) -> None:
        self._source = source
        self.label = "standard input" if source == STDIN else clean(Path(source).name, 60)
        self._imported: Imported | None = None
        self._reading = asyncio.Lock()

    async def imported(self) -> Imported:
        """Return the index. Raises ConfigError or RecordError for what cannot be read."""
        async with self._reading:
            if self._imported is None:
                self._imported = await abandonable(self._import)
            return self._imported

    async def site(self, host: str, *, method: str = "", at: str = "") -> HostReport:
        """Return the card of ``host``. Raises NeverScanned; Unavailable when the file lists the host without a card."""
        here = (await self.imported()).here
        try:
            return await here.site(host, method=method, at=at)
        except NeverScanned:
            with suppress(NeverScanned):
                if not at and here.reports.row(host.strip().lower()):
                    name = clean(host.strip().lower(), 100)
                    raise Unavailable(f"{self.label} lists {name} but holds no report cards.") from None
                times = tuple(point.scanned_at for point in (await here.site(host)).history)
                raise BadValue(f"{self.label} holds no such scan of {clean(host, 100)}.", allowed=times) from None
            raise

    async def what_if(self, host: str, fixes: frozenset[str], *, method: str = "", at: str = "") -> Standing:
        """Return where ``host`` would stand with ``fixes`` carried out."""
        return await (await self.imported()).here.what_if(host, fixes, method=method, at=at)

    async def aclose(self) -> None:
        """Close the temporary index."""
        if self._imported is not None:
            await self._imported.here.aclose()

    def _import(self) -> Imported:
        try:
            with reading(self._source) as file:
                return Imported(read(file))
        except ConfigError:
            raise
        except AuiError as error:
            raise type(error)(f"{self.label}: {error}") from None

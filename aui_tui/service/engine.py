"""The engine as the local service calls it: loaded at the first scan, closed with the service."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Protocol

from aui_tui.engine.access import Access
from aui_tui.engine.target import Target
from aui_tui.records.observations import Observations
from aui_tui.records.progress import Progress

if TYPE_CHECKING:
    from aui_tui.engine.parser_pool import Analyser

PRESTART_AFTER: Final = 0.05
"""Seconds into the first scan at which a worker is started, so that a large page does not wait for it."""


class Observer(Protocol):
    """Scans one site."""

    async def observe(self, target: Target, *, access: Access, progress: Progress | None) -> Observations:
        """Return what was seen. Raises InvalidHost when the name leads to a network that must not be dialled."""
        ...

    async def aclose(self) -> None:
        """End what the scans have started."""
        ...


class Scanner:
    """The packaged engine. ``workers``: processes that analyse large pages, at most; ``clock`` gives epoch seconds."""

    def __init__(self, workers: int = 1, *, clock: Callable[[], float] = time.time) -> None:
        self._workers = workers
        self._clock = clock
        self._analyser: Analyser | None = None

    async def observe(self, target: Target, *, access: Access, progress: Progress | None) -> Observations:
        """Return what ``target`` answers (see ``engine.scan.observe``)."""
        from aui_tui.engine.network import save_tls_memory
        from aui_tui.engine.parser_pool import Analyser
        from aui_tui.engine.scan import observe

        if self._analyser is None:
            save_tls_memory()
            self._analyser = Analyser(self._workers)
            asyncio.get_running_loop().call_later(PRESTART_AFTER, self._analyser.prestart)
        return await observe(target, analyser=self._analyser, access=access, progress=progress, clock=self._clock)

    async def aclose(self) -> None:
        """End the worker processes."""
        analyser, self._analyser = self._analyser, None
        if analyser is not None:
            await analyser.aclose()

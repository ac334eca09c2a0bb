"""The engine as the local service calls it: loaded at the first scan, closed with the service."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Protocol

from aui_tui.engine.policy import ScanPolicy
from aui_tui.engine.target import Target
from aui_tui.records.observations import Observations
from aui_tui.records.progress import Progress

if TYPE_CHECKING:
    from aui_tui.engine.parser_pool import Parser

PRESTART_AFTER: Final = 0.05
"""Seconds into the first scan at which a worker is started, so that a large page does not wait for it."""


class Observer(Protocol):
    """Scans one site."""

    async def observe(self, target: Target, *, access: ScanPolicy, progress: Progress | None) -> Observations:
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
        self._parser: Parser | None = None

    async def observe(self, target: Target, *, access: ScanPolicy, progress: Progress | None) -> Observations:
        """Return what ``target`` answers (see ``engine.scan.observe``)."""
        if self._parser is None:
            await asyncio.to_thread(_load, access)
        from aui_tui.engine.network import save_tls_memory
        from aui_tui.engine.parser_pool import Parser
        from aui_tui.engine.scan import observe

        if self._parser is None:
            save_tls_memory()
            self._parser = Parser(self._workers)
            asyncio.get_running_loop().call_later(PRESTART_AFTER, self._parser.prestart)
        return await observe(target, parser=self._parser, access=access, progress=progress, clock=self._clock)

    async def aclose(self) -> None:
        """End the worker processes."""
        parser, self._parser = self._parser, None
        if parser is not None:
            await parser.aclose()


def _load(access: ScanPolicy) -> None:
    """Import what the first scan needs; the event loop goes on meanwhile."""
    from aui_tui.engine.network import load

    load(access)

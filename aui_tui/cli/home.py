"""The dashboard when no command is named: on the index, with offers while that is empty: known sites, the demo.

Imports no parser: the dashboard has to be there at once.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import msgspec

from aui_tui.cli import streams
from aui_tui.cli.dashboard import LEFT_FOR_DEMO, Filling, open_on
from aui_tui.cli.run import Run
from aui_tui.cli.sources import service_of
from aui_tui.errors import ConfigError
from aui_tui.model.registry import starter
from aui_tui.process import command

if TYPE_CHECKING:
    from aui_tui.scan.policy import ScanPolicy

ASKED: Final = ("example.com", "wikipedia.org", "iana.org")
"""Names that resolve wherever there is a network."""
LOOKUP: Final = 3.0
"""Seconds for one of them."""
LONGEST_LINE: Final = 16 << 20
"""Bytes of the longest line of results that is read from a crawl in a process of its own."""


def show(run: Run, *, access: ScanPolicy | None = None, host: str = "") -> int:
    """Open the dashboard, on the card of ``host`` when one is named, and return its exit code.

    Raises ConfigError without a terminal, and as ``service_of``.
    """
    if not streams.interactive():
        raise ConfigError(f"{streams.NO_SCREEN}; use `aui-tui index --json` for the list, or `aui-tui --help`.")
    while True:
        chosen: list[str] = []
        service = service_of(run, access)
        offers: dict[str, Any] = {"starter": known_sites(run), "open_source": chosen.append} if service.is_local else {}
        status = open_on(run, service, host=host, **offers)
        if chosen:
            settings = msgspec.structs.replace(run.settings, source=chosen[-1])
            run, access, host = replace(run, settings=settings), None, ""
            continue
        if status != LEFT_FOR_DEMO:
            return status
        from aui_tui.cli.demo import play

        return play(run)


async def network_problem() -> str:
    """Return that this machine has no network, empty when it has: asked once, before many sites are called dead."""
    loop = asyncio.get_running_loop()
    for host in ASKED:
        try:
            async with asyncio.timeout(LOOKUP):
                await loop.getaddrinfo(host, 443)
        except (OSError, TimeoutError):
            continue
        return ""
    return "This machine has no network: no name resolves. Nothing was scanned; choose it again once there is one."


def known_sites(run: Run) -> Filling:
    """Return the scans of the packaged list of known sites, which begin only when the user asks.

    They run in a process of their own, so that the dashboard stays quick; cancelling ends that in order.
    """

    async def scans(on_card: Callable[[object], None]) -> None:
        words = ["crawl", "--starter", "--data-dir", str(run.settings.data_dir), "--json", "--quiet"]
        if run.settings.origins["config_file"] == "--config":
            words += ["--config", str(run.settings.config_file)]
        crawl = await asyncio.create_subprocess_exec(
            *command("aui_tui.__main__", *words),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=LONGEST_LINE,
            process_group=0 if os.name == "posix" else None,
        )
        assert crawl.stdout is not None
        try:
            async for line in crawl.stdout:
                on_card(line)
            await crawl.wait()
        finally:
            if crawl.returncode is None:
                crawl.terminate()
                await crawl.wait()

    return Filling("known sites", len(starter()), scans, network_problem)

"""The dashboard when no command is named: on the index, with two offers while that is empty: known sites, the demo.

Imports no parser: the dashboard has to be there at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from aui_tui.cli import streams
from aui_tui.cli.dashboard import LEFT_FOR_DEMO, Stream, local_index, open_on
from aui_tui.cli.run import Run
from aui_tui.cli.sources import service_of
from aui_tui.errors import ConfigError
from aui_tui.model.registry import Starter

if TYPE_CHECKING:
    from aui_tui.scan.policy import ScanPolicy
    from aui_tui.service.local import LocalService


def show(run: Run, *, access: ScanPolicy | None = None, host: str = "") -> int:
    """Open the dashboard, on the card of ``host`` when one is named, and return its exit code.

    Raises ConfigError without a terminal, and as ``service_of``.
    """
    if not streams.interactive():
        raise ConfigError(f"{streams.NO_SCREEN}; use `aui-tui index --json` for the list, or `aui-tui --help`.")
    service = service_of(run, access)
    local = local_index(service)
    status = open_on(run, service, host=host, starter=known_sites(run, local) if local is not None else None)
    if status == LEFT_FOR_DEMO:
        from aui_tui.cli.demo import play

        return play(run)
    return status


def known_sites(run: Run, service: LocalService) -> Stream:
    """Return the scans of the packaged list of known sites, which begin only when the user asks."""

    async def scans(on_card: Callable[[object], None]) -> None:
        from aui_tui.cli.crawl import into

        words = ["crawl", "--starter", "--data-dir", str(run.settings.data_dir)]
        if run.settings.origins["config_file"] == "--config":
            words += ["--config", str(run.settings.config_file)]
        await into(words, on_card)

    return ("known sites", Starter(), scans)

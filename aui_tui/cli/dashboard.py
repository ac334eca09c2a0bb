"""The dashboard, when no command is named: the only door to ``aui_tui.tui``."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from aui_tui.cli import streams
from aui_tui.cli.run import UNEXPECTED, Run
from aui_tui.cli.services import service_of
from aui_tui.errors import ConfigError
from aui_tui.service.protocol import Service

if TYPE_CHECKING:
    from aui_tui.engine.policy import ScanPolicy

CRASHED: Final = 1
Stream = tuple[str, int, Callable[[Callable[[object], None]], Awaitable[None]]]
"""What fills the index while it is looked at: a name, the number of scans, and what makes them."""


VALUED: Final = {"--data-dir": "data_dir", "--source": "source", "--config": "config_file", "--theme": "theme"}
SWITCHES: Final[dict[str, tuple[str, Any]]] = {
    "--ascii": ("ascii", True),
    "--no-mouse": ("mouse", False),
    "--quiet": ("quiet", True),
}


def plain(arguments: Sequence[str]) -> dict[str, Any] | None:
    """Return the flags of a command line that asks for the dashboard and nothing that needs a parser, else None."""
    flags: dict[str, Any] = {}
    words = iter(arguments)
    for word in words:
        name, value = SWITCHES.get(word) or (VALUED.get(word, ""), next(words, None) if word in VALUED else None)
        if not name or value is None or name in flags:
            return None
        flags[name] = value
    return flags


def show(run: Run, *, access: ScanPolicy | None = None, host: str = "") -> int:
    """Open the dashboard, on the card of ``host`` when one is named, and return its exit code.

    Raises ConfigError without a terminal, and as ``service_of``.
    """
    if not streams.interactive():
        raise ConfigError(f"{streams.NO_SCREEN}; use `aui-tui index --json` for the list, or `aui-tui --help`.")
    return open_on(run, service_of(run, access), host=host)


def open_on(run: Run, service: Service, *, host: str = "", feed: Stream | None = None) -> int:
    """Run the dashboard on ``service``, close both, and return the exit code; ``feed`` fills the index meanwhile.

    Raises ConfigError.
    """
    settings = run.settings
    try:
        from aui_tui.cli.exporter import FileExporter
        from aui_tui.tui.app import run as run_app
        from aui_tui.tui.context import Feed

        status = run_app(
            service,
            theme=settings.theme,
            ascii=settings.ascii,
            mouse=settings.mouse,
            start_host=host,
            keymap=settings.keys,
            theme_folders=(settings.theme_dir,),
            exporter=FileExporter(service),
            feed=Feed(*feed) if feed is not None else None,
        )
    finally:
        asyncio.run(service.aclose())
    return UNEXPECTED if status == CRASHED else status

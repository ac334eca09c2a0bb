"""Somebody else's index: published over HTTP, or in a file."""

from __future__ import annotations

from pathlib import Path

from aui_tui.errors import ConfigError
from aui_tui.files import STDIN
from aui_tui.service.protocol import Service
from aui_tui.text import clean


def open_source(source: str, *, folder: Path | None = None) -> Service:
    """Return the service of ``source``: an http(s) address, a path, or ``-`` for standard input.

    ``folder`` keeps copies of what a published index answers, so that it can be asked about again and shown offline;
    it is made when first needed. Raises ConfigError for what is neither an address nor a file.
    """
    if "://" in source:
        from aui_tui.service.remote.client import RemoteService

        return RemoteService(source, folder=folder)
    from aui_tui.service.remote.file import FileService

    if source != STDIN and not Path(source).exists():
        raise ConfigError(
            f"The source {clean(source, 100)!r} is neither a file nor an address such as https://index.example."
        )
    return FileService(source)

"""Somebody else's index, published over HTTP or in a file: read, imported into a temporary index, and asked there."""

from __future__ import annotations

from pathlib import Path

from aui_tui.errors import ConfigError
from aui_tui.files import STDIN
from aui_tui.service.protocol import Service
from aui_tui.text import clean


def open_source(source: str) -> Service:
    """Return the service of ``source``: an http(s) address, a path, or ``-`` for standard input.

    Raises ConfigError for what is neither an address nor a file.
    """
    if "://" in source:
        from aui_tui.service.remote.published import PublishedIndex

        return PublishedIndex(source)
    from aui_tui.service.remote.imported import IndexFile

    if source != STDIN and not Path(source).exists():
        raise ConfigError(
            f"The source {clean(source, 100)!r} is neither a file nor an address such as https://index.example."
        )
    return IndexFile(source)

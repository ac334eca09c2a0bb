"""The pages that the last scan of a host got, one file for each host: what readers make of them is asked later.

A page is kept as far as MOST, compressed: about 20 KB for a homepage of 100 KB. The next scan replaces it.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from aui_tui.files import replace
from aui_tui.model.decoding import from_msgpack
from aui_tui.model.reads import KeptPage

MOST: Final = 256 << 10
"""Bytes kept of a page."""
INFLATED: Final = 4 * MOST


def _file(folder: Path, host: str) -> Path:
    import hashlib  # a first frame stores no page

    return folder / f"{hashlib.sha256(host.encode()).hexdigest()[:32]}.z"


def keep(folder: Path, host: str, pages: Sequence[KeptPage]) -> None:
    """Keep ``pages`` of ``host`` instead of earlier ones. Raises OSError, ConfigError."""
    if not pages:
        drop(folder, host)
        return
    folder.mkdir(mode=0o700, exist_ok=True)
    cut = [
        msgspec.structs.replace(page, body=page.body[:MOST], cut=page.cut or len(page.body) > MOST) for page in pages
    ]
    replace(_file(folder, host), [zlib.compress(msgspec.msgpack.encode(cut), 6)])


def kept(folder: Path, host: str) -> tuple[KeptPage, ...]:
    """Return the pages of ``host``; empty where none are kept, or they cannot be read."""
    with suppress(OSError, zlib.error, msgspec.MsgspecError, ValueError):
        machine = zlib.decompressobj()
        data = machine.decompress(_file(folder, host).read_bytes(), INFLATED)
        if machine.eof:
            return tuple(from_msgpack(data, list[KeptPage]))
    return ()


def drop(folder: Path, host: str) -> None:
    """Forget the pages of ``host``."""
    with suppress(OSError):
        _file(folder, host).unlink()

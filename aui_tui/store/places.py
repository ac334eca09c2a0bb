"""Where things lie inside the data folder."""

from __future__ import annotations

from pathlib import Path

import msgspec


class Places(msgspec.Struct, frozen=True):
    """The parts of a data folder.

    ``index``: report cards and history, durable. ``scans``: the 24 h cache, may be cleared at any time.
    ``limits``: the scans of the last hour and who scans what now.
    """

    folder: Path
    index: Path
    scans: Path
    limits: Path


def places(folder: Path) -> Places:
    """Return the parts of the data folder ``folder``."""
    return Places(folder=folder, index=folder / "index.db", scans=folder / "scan-cache", limits=folder / "limits")

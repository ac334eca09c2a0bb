"""A database that another program holds."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path


@contextmanager
def locked(path: Path, *, reading: bool = False) -> Iterator[None]:
    """Hold the database at ``path`` against writing, or against ``reading`` too."""
    with closing(sqlite3.connect(path, isolation_level=None)) as holder:
        if reading:
            holder.execute("PRAGMA locking_mode = EXCLUSIVE")
        holder.execute("BEGIN EXCLUSIVE" if reading else "BEGIN IMMEDIATE")
        yield
        holder.execute("ROLLBACK")

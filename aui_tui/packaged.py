"""Files that come with the package, by their path in it: ``checks/edges.toml``."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec

T = TypeVar("T")


def read_table(path: str, kind: type[T]) -> T:
    """Return the TOML file at ``path`` as ``kind``."""
    return msgspec.toml.decode(read_text(path), type=kind)


def read_text(path: str) -> str:
    """Return the text at ``path``."""
    return (Path(__file__).parent / path).read_text(encoding="utf-8")

"""The packaged list of known sites (``starter.csv``)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

import msgspec

from aui_tui.packaged import read_text


class Known(msgspec.Struct, frozen=True):
    """What the starter list says of a host; ``seed`` is true for its members."""

    name: str = ""
    category: str = ""
    seed: bool = False


@cache
def starter() -> Mapping[str, Known]:
    """Return the packaged list by host, in its order."""
    lines = (line.split(",") for line in read_text("model/starter.csv").splitlines())
    return MappingProxyType({host: Known(name, category, True) for host, name, category in lines})

"""The starter list: well-known public hosts with display name and category. Facts only, no opinion and no ranking."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import NamedTuple


class Known(NamedTuple):
    """What the starter list says of a host; ``seed`` is true for its members."""

    name: str = ""
    category: str = ""
    seed: bool = False


@cache
def starter() -> Mapping[str, Known]:
    """Return the packaged list by host, in its order."""
    import csv
    from importlib.resources import files

    lines = files("aui_tui.records").joinpath("starter.csv").read_text(encoding="utf-8").splitlines()
    return MappingProxyType({host: Known(name, category, True) for host, name, category in csv.reader(lines)})


class Starter(Mapping[str, Known]):
    """The starter list as a mapping that is read when it is first asked."""

    def __getitem__(self, host: str) -> Known:
        return starter()[host]

    def __iter__(self) -> Iterator[str]:
        return iter(starter())

    def __len__(self) -> int:
        return len(starter())

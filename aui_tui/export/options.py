"""How a record is written out, whatever the format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from aui_tui.export.fields import Path
from aui_tui.gates import Outcome
from aui_tui.records.codec import Keys
from aui_tui.records.visits import Visits

VOLATILE: Final = ("scanned_at", "elapsed_ms")
"""Fields that change from run to run of the same site: deterministic output leaves them out, and steadies the rest."""


class Refusal(NamedTuple):
    """A host that was asked for with others and gave no card: ``status`` is that of the service (specification 7)."""

    host: str
    title: str
    status: int
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """``keys``: product names or slots. ``paths``: the chosen fields, empty for all. ``deterministic``: no VOLATILE.

    ``many``: several cards are written as a list even when there is one. ``gates``: what the gates said, per host.
    ``refused``: hosts without a card, written after the cards. ``title``: what the document is about, in words.
    ``locate``: the file of the repository for a path on the site, empty where none is known.
    ``visits``: what access logs said, per host.
    """

    keys: Keys = "names"
    paths: tuple[Path, ...] = ()
    deterministic: bool = False
    many: bool = False
    gates: Mapping[str, Outcome] = field(default_factory=dict)
    refused: Sequence[Refusal] = ()
    title: str = ""
    locate: Callable[[str], str] = lambda path: ""
    visits: Mapping[str, Visits] = field(default_factory=dict)

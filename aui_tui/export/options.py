"""How a record is written out, whatever the format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from aui_tui.export.fields import Path
from aui_tui.gates import Outcome
from aui_tui.records.codec import Keys

VOLATILE: Final = ("scanned_at", "elapsed_ms")
"""Fields that change from run to run of the same site: deterministic output leaves them out, and steadies the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """``keys``: product names or slots. ``paths``: the chosen fields, empty for all. ``deterministic``: no VOLATILE.

    ``many``: several cards are written as a list even when there is one. ``gates``: what the gates said, per host.
    ``title``: what the document is about, in words.
    """

    keys: Keys = "names"
    paths: tuple[Path, ...] = ()
    deterministic: bool = False
    many: bool = False
    gates: Mapping[str, Outcome] = field(default_factory=dict)
    title: str = ""

"""Signs of the dashboard beside those of ``model.signs``: of bars, curves and cursors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from aui_tui.model.signs import sign

DISAGREE: Final = sign("disagree").sign
ALIKE: Final = f"{DISAGREE} differs  = alike"
CRITICAL: Final = sign("critical").sign
WARN: Final = sign("warn").sign
SPARK: Final = "▁▂▃▄▅▆▇█"
FILLINGS: Final = {
    "Open": "█", "Selective": "▓", "Walled": "░",
    "in": "█", "part": "▓", "refused": "▒", "challenged": "#", "told no": "⊘", "unclear": "?",
    "not asked": " ",
}  # fmt: skip
"""Fillings of the parts of a bar by their words, which differ without colours too."""
EARNED: Final = (("━", "bar"), ("─", "rest"), ("┄", "muted"))
"""Filling and role of what is earned of a whole, of what lacks, and of what was not measured."""
FULL: Final = "█"
REST: Final = "░"
CURSOR: Final = "▸"
MARK: Final = "▪"
RISING: Final = sign("rose").sign
FALLING: Final = sign("fell").sign


def bar(value: float, maximum: float, size: int) -> tuple[str, str]:
    """Return the full and the empty part of a bar of ``size`` cells; a value over zero fills at least one cell."""
    if maximum <= 0 or size <= 0:
        return "", REST * max(size, 0)
    share = min(max(value / maximum, 0.0), 1.0)
    full = round(share * size)
    if 0 < share < 1:
        full = min(max(full, 1), size - 1) if size > 1 else full
    return FULL * full, REST * (size - full)


def spark(values: Sequence[int]) -> str:
    """Return one column per value of 100."""
    top = len(SPARK) - 1
    return "".join(SPARK[min(max(value * top // 100, 0), top)] for value in values)

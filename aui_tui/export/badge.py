"""A badge: one self-contained SVG picture with grade and score."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final
from xml.sax.saxutils import escape

from aui_tui.records.card import ReportCard
from aui_tui.text import cells, clean

LABEL: Final = "agent usability"
COLOURS: Final = MappingProxyType({"A": "#14692f", "B": "#3d6a12", "C": "#7a5200", "D": "#94400a", "F": "#a3161d"})
"""Ground per grade; white text on each has a contrast of at least 5 to 1."""
UNKNOWN: Final = "#565d66"
CELL: Final = 6.5
"""Width of a character in pixels at font size 11."""
PAD: Final = 12


def badge(card: ReportCard) -> str:
    """Return the badge of ``card`` as SVG; an unreachable host has no grade and says so."""
    if card.unreachable:
        return svg(LABEL, "unreachable", UNKNOWN)
    return svg(LABEL, f"{card.grade} {card.score}", COLOURS.get(card.grade[:1], UNKNOWN))


def svg(label: str, message: str, colour: str) -> str:
    """Return a badge of two fields, sized to its words."""
    label, message = clean(label, 40), clean(message, 40)
    left, right = (PAD + round(CELL * cells(words)) for words in (label, message))
    name = escape(f"{label}: {message}", {'"': "&quot;"})
    font = "Verdana,Geneva,DejaVu Sans,sans-serif"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" aria-label="{name}">\n'
        f"<title>{name}</title>\n"
        f'<rect width="{left}" height="20" fill="#333a42"/>\n'
        f'<rect x="{left}" width="{right}" height="20" fill="{colour}"/>\n'
        f'<g fill="#ffffff" text-anchor="middle" font-family="{font}" font-size="11">\n'
        f'<text x="{left / 2:g}" y="14" textLength="{left - PAD}">{escape(label)}</text>\n'
        f'<text x="{left + right / 2:g}" y="14" textLength="{right - PAD}">{escape(message)}</text>\n'
        "</g>\n</svg>\n"
    )

"""Small pictures in SVG: the badge of a host, the mark of a grade, the scores of a host over time."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Final
from xml.sax.saxutils import escape

from aui_tui.records.card import ReportCard
from aui_tui.records.times import epoch_ms
from aui_tui.records.view import HistoryPoint
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


SHAPES: Final = MappingProxyType(
    {
        "A": '<circle cx="24" cy="24" r="22"/>',
        "B": '<rect x="4" y="4" width="40" height="40" rx="10"/>',
        "C": '<polygon points="24,1 45,12.5 45,35.5 24,47 3,35.5 3,12.5"/>',
        "D": '<polygon points="24,0 48,24 24,48 0,24"/>',
        "F": '<polygon points="15,2 33,2 46,15 46,33 33,46 15,46 2,33 2,15"/>',
    }
)
"""Outline per grade, so that colour never stands alone: circle, square, hexagon, diamond, octagon."""


def mark(grade: str, size: int) -> str:
    """Return the letter of a grade on its shape and colour as an SVG of ``size`` pixels, for inside a page."""
    letter = grade[:1]
    shape = SHAPES.get(letter, SHAPES["B"])
    name = escape(clean(letter, 1) or "none", {'"': "&quot;"})
    return (
        f'<svg class="mark" viewBox="0 0 48 48" width="{size}" height="{size}" role="img" aria-label="Grade {name}">'
        f'<g fill="{COLOURS.get(letter, UNKNOWN)}">{shape}</g><text x="24" y="32" text-anchor="middle" font-size="24" '
        f'font-weight="700" fill="#ffffff">{name}</text></svg>'
    )


WIDE, HIGH, LEFT, TOP, RIGHT = 640, 180, 34, 12, 14
"""Pixels of the chart, and of its margins; the foot has room for the days."""
FOOT: Final = 24


def chart(points: Sequence[HistoryPoint]) -> str:
    """Return the scores of the kept scans over time as an SVG for inside a page; empty for fewer than two scores.

    A scan without an answer leaves a gap in the line; one that was stopped before its end is left out.
    """
    points = [point for point in points if not point.incomplete]
    scored = [point for point in points if not point.unreachable]
    if len(scored) < 2:
        return ""
    times = [epoch_ms(point.scanned_at) for point in points]
    first, span = times[0], max(times[-1] - times[0], 1)
    width, height = WIDE - LEFT - RIGHT, HIGH - TOP - FOOT

    def place(at: int, score: int) -> tuple[float, float]:
        return LEFT + width * (at - first) / span, TOP + height * (100 - score) / 100

    lines: list[list[str]] = [[]]
    dots = []
    for point, at in zip(points, times, strict=True):
        if point.unreachable:
            lines.append([])
            continue
        x, y = place(at, point.score)
        lines[-1].append(f"{x:.1f},{y:.1f}")
        told = escape(f"{point.scanned_at[:10]}: {point.score} {point.grade}")
        dots.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"><title>{told}</title></circle>')
    grid = [(score, TOP + height * (100 - score) / 100) for score in (0, 50, 100)]
    rules = "".join(f'<line x1="{LEFT}" x2="{WIDE - RIGHT}" y1="{y:g}" y2="{y:g}"/>' for _, y in grid)
    sizes = "".join(f'<text x="{LEFT - 6}" y="{y + 4:g}" text-anchor="end">{score}</text>' for score, y in grid)
    days = (
        f'<text x="{LEFT}" y="{HIGH - 6}">{escape(points[0].scanned_at[:10])}</text>'
        f'<text x="{WIDE - RIGHT}" y="{HIGH - 6}" text-anchor="end">{escape(points[-1].scanned_at[:10])}</text>'
    )
    name = escape(
        f"Scores of {len(scored)} scans: {scored[0].score} on {scored[0].scanned_at[:10]}, "
        f"{scored[-1].score} on {scored[-1].scanned_at[:10]}",
        {'"': "&quot;"},
    )
    drawn = "".join(f'<polyline points="{" ".join(line)}"/>' for line in lines if len(line) > 1)
    return (
        f'<svg class="chart" viewBox="0 0 {WIDE} {HIGH}" role="img" aria-label="{name}"><g class="grid">{rules}</g>'
        f'<g class="words">{sizes}{days}</g><g class="line" fill="none">{drawn}</g><g class="dots">{"".join(dots)}</g>'
        "</svg>"
    )

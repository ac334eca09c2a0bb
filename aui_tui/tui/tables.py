"""Sections as rows: tables laid out to a width, with bars, and with counts that can be chosen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from aui_tui.model.signs import sign
from aui_tui.report.sections import Item, Layout, Section, bar_cells, layout
from aui_tui.text import cells, fit
from aui_tui.tui import glyphs
from aui_tui.tui.rows import ListEntry, Part, entry, hang, marked, text

MARGIN: Final = 3
"""Cells for the cursor and the sign of a row; where no row has a sign the cursor needs two."""
BARS: Final = range(12, 41)
"""Cells of a bar in a row."""
ROOMY: Final = 60
"""Cells of a table in which columns yield to a bar."""


def table(section: Section, size: int) -> list[ListEntry]:
    """Return the items of a section: a heading, then sign, cells, bar and sentences of each.

    All can be chosen; where counts open lists, these only. Sentences that have no room beside the cells go below.
    """
    margin = MARGIN if any(item.word for item in section.items) else 2
    opening = any(item.opens for item in section.items)
    drawn = any(item.bar for item in section.items)
    form = layout(section, size - margin - (BARS.start + 2 if drawn and size >= ROOMY else 0))
    bar = min(size - margin - form.used - 2, BARS.stop - 1) if drawn else 0
    bar = bar if bar in BARS else 0
    out: list[ListEntry] = []
    if section.columns:
        heads = [fit(section.columns[n], width, right=n in section.numbers) for n, width in form.columns]
        extra = section.columns[len(heads) :][:1] if form.beside else ()
        heads = [heads[0], " " * bar, *heads[1:]] if bar else heads
        out.append(entry((" " * margin + "  ".join((*heads, *extra)), "header")))
    for place, item in enumerate(section.items):
        row = _row(item, section, form, size, margin, bar)
        out.append(row if opening else replace(row, key=item.key or f"{section.name} {place}"))
    return out


def _row(item: Item, section: Section, form: Layout, size: int, margin: int, bar: int) -> ListEntry:
    """Return one row; ``bar``: cells of its bar, behind the first cell."""
    parts: list[Part] = [" ", marked(item.word), " "] if item.word else [" " * margin]
    columns = form.columns[:1] if len(item.cells) == 1 else form.columns
    beside = bool(item.text) and (form.beside or len(columns) < len(form.columns))
    for place, width in columns:
        cell = item.cells[place] if place < len(item.cells) else ""
        figure, last = place in section.numbers, place == columns[-1][0] and not beside
        shown = cell if last and not figure and cells(cell) <= width else fit(cell, width, right=figure)
        tone = sign(item.word_of(place)).tone if item.word_of(place) else ""
        role = tone if place and tone != "muted" else ""
        opens = item.opens[place] if place < len(item.opens) else ""
        parts.append((shown, role, opens or (item.key if item.opens and not place else "")))
        parts.append("" if last else "  ")
        if not place and bar and item.bar:
            parts += [*drawn_bar(item.bar, section.bars, bar), "  "]
    row = entry(*parts)
    if not item.text:
        return row
    if beside:
        return replace(row, content=hang(row.content, item.text, size, "muted" if columns else ""))
    return replace(row, content=text(row.content, "\n", hang(" " * margin, item.text, size, "muted")))


def drawn_bar(bar: Sequence[float], words: Sequence[str], size: int) -> list[Part]:
    """Return the parts of a bar in ``size`` cells, each with the filling and the tone of its word."""
    sizes = bar_cells(bar, size)
    if not words:
        return [(filling * n, role) for n, (filling, role) in zip(sizes, glyphs.EARNED, strict=False)]
    parts: list[Part] = [(glyphs.FILLINGS[word] * n, sign(word).tone) for n, word in zip(sizes, words, strict=True)]
    return [*parts, " " * (size - sum(sizes))]


def folded(items: Iterable[Item], unfolded: frozenset[str]) -> list[Item]:
    """Return the items, those alike beside their first cell as one with their number, unless their key is unfolded."""
    groups: dict[tuple[str, ...], list[Item]] = {}
    for item in items:
        groups.setdefault((item.word, item.text, *item.cells[1:]), []).append(item)
    out: list[Item] = []
    for members in groups.values():
        first = members[0]
        if len(members) < 3 or first.key in unfolded:
            out += members
        else:
            out.append(first._replace(cells=(f"{len(members)} agents", *first.cells[1:]), key=f"+{first.key}"))
    return out

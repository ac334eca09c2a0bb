"""In which order rows stand and what is counted of them, in plain Python: what the SQL of an index is held to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

from aui_tui.index.lists import BEST_FIRST
from aui_tui.model.agents import gets_in
from aui_tui.model.card import epoch_ms
from aui_tui.model.codec import names_of
from aui_tui.model.listing import Row
from aui_tui.model.overview import decades
from aui_tui.model.query import Query
from aui_tui.model.surfaces import SURFACES
from aui_tui.model.vocabulary import CATEGORIES, GRADES, STANCES


def word(row: Row, slug: str) -> str:
    """Return what the assistant ``slug`` gets; empty for no assistant."""
    names = names_of("matrix")
    return row.verdicts[names.index(slug)] if slug in names else ""


_CATEGORIES: Final = tuple(sorted(CATEGORIES))


def ordered(rows: Iterable[Row], query: Query) -> list[Row]:
    """Return ``rows`` in the order that ``lists.order_of`` describes."""
    lists: tuple[list[Row], list[Row]] = [], []
    for row in rows:
        lists[_unknown(row, query.sort)].append(row)
    return [
        row for part in lists for row in sorted(part, key=lambda row: _key(row, query.sort), reverse=query.descending)
    ]


def _unknown(row: Row, sort: str) -> bool:
    if sort == "change":
        return row.change is None
    slug = sort.removeprefix("matrix.")
    return slug != sort and word(row, slug) not in BEST_FIRST


def _rank(row: Row) -> tuple[int, str]:
    return -row.summary.score, row.summary.host


def _key(row: Row, sort: str) -> tuple[Any, ...]:
    summary = row.summary
    match sort:
        case "rank" | "score":
            return _rank(row)
        case "change":
            return -(row.change or 0), *_rank(row)
        case "host":
            return (summary.host,)
        case "name":
            return summary.name.casefold(), *_rank(row)
        case "category":
            return _place(_CATEGORIES, summary.category), *_rank(row)
        case "grade":
            return _place(GRADES, summary.grade[:1]), *_rank(row)
        case "stance":
            return _place(STANCES, summary.stance), *_rank(row)
        case "age":
            return -epoch_ms(summary.scanned_at), *_rank(row)
        case _:
            return _place(BEST_FIRST, word(row, sort.removeprefix("matrix."))), *_rank(row)


def _place(words: tuple[str, ...], word: str) -> int:
    return words.index(word) if word in words else len(words)


def counted(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the fields of an overview that follow from the rows of a list alone."""
    scores = [0] * 101
    verdicts: dict[str, Counter[str]] = {surface.slug: Counter() for surface in SURFACES}
    shut: dict[str, dict[str, tuple[int, int]]] = {slug: dict.fromkeys(CATEGORIES, (0, 0)) for slug in verdicts}
    for row in rows:
        scores[row.summary.score] += 1
        for surface, fate in zip(SURFACES, row.verdicts, strict=True):
            slug = surface.slug
            verdicts[slug][fate] += 1
            inside = gets_in(fate, surface.source)
            if inside is not None and row.summary.category in shut[slug]:
                out, known = shut[slug][row.summary.category]
                shut[slug][row.summary.category] = (out + (not inside), known + 1)
    edges = Counter(row.edge for row in rows)

    def refuses(row: Row) -> bool:
        return any(fate in ("refused", "challenged") for fate in row.verdicts)

    return {
        "verdicts": {slug: dict(found) for slug, found in verdicts.items()},
        "scores": decades(scores),
        "edges": dict(edges.most_common(24)),
        "refusing": dict(Counter(row.edge for row in rows if refuses(row))),
        "shut": shut,
        "risen": sum((row.change or 0) > 0 for row in rows),
        "fallen": sum((row.change or 0) < 0 for row in rows),
    }

"""The row of a host in the table ``site``: its columns, and how it is read as a line of a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

import msgspec

from aui_tui.model.fates import UNCLEAR
from aui_tui.model.listing import Row
from aui_tui.model.summary import Points, SiteSummary
from aui_tui.model.surfaces import SLUGS
from aui_tui.model.vocabulary import FATES, NO_GRADE

COLUMNS: Final = (
    *("host", "name", "folded", "ranked", "category", "stance", "score", "grade", "method", "at", "tasks", "edge"),
    *("server", "has", "fixes", "contradictions", "crawlers", *SLUGS, "words", "measured", "matrix", "pillars"),
    *("top_evidence", "url", "best_fix", "best_points", "live"),
)
"""The columns that one scan fills; ``change`` and ``scans`` follow from all that are kept."""
WORD_OF: Final = {letter: word for word, letter in FATES.items()}
LINE: Final = (
    "json_array(host, name, category, score, grade, stance, json(pillars), "
    f"CASE matrix WHEN '' THEN json_array({', '.join(SLUGS)}) ELSE json(matrix) END, "
    "CASE typeof(at) WHEN 'integer' THEN strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000.0, 'unixepoch') END, "
    "top_evidence, url, ranked, change, scans, method, edge, best_fix, best_points, json(live), contradictions <> '', "
    "words, measured)"
)
"""A :class:`Line`: SQLite puts it together in half the time that Python takes for as many columns."""


class Line(msgspec.Struct, frozen=True, array_like=True):
    """What lists read of a host; of a ``matrix`` with our keys the words alone. A value of another type is refused."""

    host: str
    name: str
    category: str
    score: Annotated[int, msgspec.Meta(ge=0, le=100)]
    grade: str
    stance: str
    pillars: Points
    matrix: tuple[str, ...] | dict[str, str]
    at: str
    top_evidence: str
    url: str
    ranked: int
    change: int | None
    scans: int
    method: str
    edge: str
    best_fix: str
    best_points: int
    live: tuple[int, ...]
    disagree: int
    words: str
    measured: int


def row_of(line: Line, ranks: Sequence[int]) -> Row:
    """Return the line of a list; ``ranks`` gives the rank of each score."""
    matrix = line.matrix if isinstance(line.matrix, dict) else dict(zip(SLUGS, line.matrix, strict=False))
    summary = SiteSummary(
        host=line.host,
        name=line.name,
        category=line.category,
        score=line.score,
        grade=line.grade,
        stance=line.stance,
        pillars=line.pillars,
        matrix=matrix,
        scanned_at=line.at,
        top_evidence=line.top_evidence,
        url=line.url,
    )
    return Row(
        summary=summary,
        rank=ranks[line.score] if line.ranked and line.grade != NO_GRADE else 0,
        change=line.change,
        scans=line.scans,
        method=line.method,
        edge=line.edge,
        best_fix=line.best_fix,
        best_points=line.best_points,
        live=line.live,
        disagree=bool(line.disagree),
        words=tuple(WORD_OF.get(letter, UNCLEAR) for letter in line.words),
        measured=line.measured,
    )


def search_text(host: str, folded: str) -> str:
    """Return the text in which free text is looked for, from host and case-folded name; no match spans both."""
    return host if folded in host else f"{host}\n{folded}"

"""The index as a table for people and as one streamed JSON record for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from aui_tui.cli import words
from aui_tui.cli.paint import TINTS, Paint
from aui_tui.records import labels
from aui_tui.records.codec import Keys, encode_summary
from aui_tui.records.view import IndexView, Row, rows
from aui_tui.text import fit

WIDTHS: Final = {"#": 5, "Score": 5, "Δ": 4, "Gr": 2, "Stance": 11, "Host": 0, "Category": 15, "Age": 4}
"""Columns in their order and their widths in cells; the host takes what is left."""
RIGHT: Final = frozenset({"#", "Score", "Δ"})
DROPPED: Final = ("Age", "Category", "Δ", "#")
"""Columns that a narrow terminal does without, the first to go first; never the stance."""
LEAST_HOST: Final = 18


def json_parts(view: IndexView, *, keys: Keys = "names", limit: int = 0) -> Iterator[bytes]:
    """Yield the Index record (specification 4.1) piece by piece, a row on each line, without holding it all."""
    yield b'{"scanned_at":"' + view.scanned_at.encode() + b'"'
    for name, window in ((b"ranked", view.ranked), (b"unreachable", view.unreachable)):
        yield b',"' + name + b'":['
        between = b"\n"
        for row in rows(window, limit):
            yield between + encode_summary(row.summary, keys)
            between = b",\n"
        yield b"]"
    yield b"}\n"


def table(view: IndexView, paint: Paint, *, limit: int = 0) -> Iterator[str]:
    """Yield the ranked list, the unreachable hosts, and a closing line with the counts."""
    total = len(view.ranked) + len(view.unreachable)
    widths = widths_for(paint.width)
    if len(view.ranked):
        head = _line({name: name for name in widths}, widths)
        yield paint.heading(head.replace("Δ", "+") if paint.ascii else head)
        for row in rows(view.ranked, limit):
            yield _ranked(row, paint, widths)
    if len(view.unreachable):
        yield from [""] if len(view.ranked) else []
        yield paint.heading("Unreachable")
        for row in rows(view.unreachable, limit):
            summary = row.summary
            yield from paint.hanging(f"  {fit(summary.host, widths['Host'])} ", summary.top_evidence)
    yield from [""] if total else []
    asked = view.query.words()
    yield from paint.hanging(
        "",
        f"Ranked {len(view.ranked):,}, unreachable {len(view.unreachable):,}{' (' + asked + ')' if asked else ''}; "
        f"newest card {labels.moment(view.scanned_at)}"
        if total
        else "No cards" + (f" {asked}." if asked else " yet; begin with: aui-tui scan HOST"),
    )


def widths_for(width: int) -> dict[str, int]:
    """Return the columns that fit into ``width`` cells, and their widths."""
    kept = dict(WIDTHS)
    for name in (*DROPPED, ""):
        host = width - sum(kept.values()) - len(kept) + 1
        if host >= LEAST_HOST or not name:
            break
        del kept[name]
    return kept | {"Host": max(host, 8)}


def _line(texts: Mapping[str, str], widths: Mapping[str, int]) -> str:
    return " ".join(fit(texts[name], width, right=name in RIGHT) for name, width in widths.items()).rstrip()


def _ranked(row: Row, paint: Paint, widths: Mapping[str, int]) -> str:
    summary = row.summary
    stance = f"{paint.glyph(summary.stance)} {summary.stance}"
    texts = {
        "#": str(row.rank or ""),
        "Score": str(summary.score),
        "Δ": f"{row.change:+d}" if row.change else "",
        "Gr": summary.grade,
        "Stance": stance,
        "Host": summary.host,
        "Category": summary.category,
        "Age": words.age(words.seconds_since(summary.scanned_at)),
    }
    shown = fit(stance, widths["Stance"])
    return _line(texts, widths).replace(shown, paint.style(shown, TINTS.get(summary.stance, "")), 1)

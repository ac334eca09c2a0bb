"""For a browser: HTML in one file (no script, no request, light and dark), and small pictures in SVG.

The pictures are the badge of a host, the mark of a grade, and the scores of a host over time. All text of the site is
escaped.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from html import escape
from itertools import chain
from types import MappingProxyType
from typing import Final

from aui_tui.model import labels
from aui_tui.model.card import ReportCard
from aui_tui.model.listing import Row
from aui_tui.model.report import HistoryPoint
from aui_tui.model.signs import sign
from aui_tui.model.times import epoch_ms
from aui_tui.model.vocabulary import NO_GRADE
from aui_tui.packaged import read_text
from aui_tui.report.formats import HEADER, ExportOptions, HostResult, Listing, reasons, row_texts
from aui_tui.report.sections import Item, Section, documents
from aui_tui.text import cells, clean

TITLE: Final = "Agentic Usability Index"
WIDE: Final = frozenset({"Finding", "Host", "Value", "Why", "What happened", "robots.txt says"})
"""Columns of long text, which may break anywhere."""
TONES: Final = MappingProxyType({"open": "good", "selective": "warn", "walled": "critical"})
"""The class of a stance; other tones are classes of their own."""


def html_cards(results: Iterable[HostResult], options: ExportOptions) -> Iterator[str]:
    """Yield one document with an article a report."""
    source = documents(results, options)
    first = next(source, None)
    yield from _head(f"{first[0].title}: {TITLE}" if first is not None else TITLE)
    for number, parts in enumerate(chain([first] if first is not None else [], source)):
        yield f"<article>\n<h1>{_link(labels.origin(parts[0].title), parts[0].title)}</h1>\n"
        yield from card_parts(parts, prefix=f"{number}-" if number else "")
        yield "</article>\n"
    yield "</main>\n</body>\n</html>\n"


def card_parts(
    parts: Sequence[Section], *, prefix: str = "", more: Callable[[str], str] = lambda name: ""
) -> Iterator[str]:
    """Yield ``parts`` as HTML: grade, sentence, pillars and next step, then each part as a table or a list.

    ``prefix``: what ids begin with, where a document has several cards. ``more``: the address of the whole record of
    a part, empty for none.
    """
    head, *rest = parts
    fixes = f"#{prefix}fix-1" if any(part.name == "fixes" for part in rest) else ""
    whose = f"{head.title} ({prefix[:-1]})" if prefix else head.title
    yield from _verdict(head, next((part for part in rest if part.name == "points"), None), fixes, whose)
    for part in rest:
        if part.name == "points":
            continue
        name, link = f"{prefix}{part.name}", more(part.name)
        record = f' <a href="{escape(link)}">All of it as JSON</a>.' if link else ""
        if part.name == "fixes":
            yield from _heading(part, name, record)
            fixed = enumerate(part.items, 1)
            yield from (_fix(item, f"{prefix}fix-{number}", whose) for number, item in fixed)
        else:
            yield from section_html(part, name, whose=f", {whose}", record=record)


def section_html(
    part: Section, name: str, *, whose: str = "", record: str = "", address: Callable[[str], str] = lambda terms: ""
) -> Iterator[str]:
    """Yield ``part`` as HTML under a heading with the id ``name``: a table where there are columns, else a list.

    ``whose``: what makes the names of tables unique in the document. ``record``: HTML behind the leading text.
    ``address``: where the hosts of a query are listed, empty for nowhere.
    """
    yield from _heading(part, name, record)
    if part.columns:
        rows = (_cells(item, len(part.columns), address) for item in part.items)
        yield from _table(f'aria-label="{_text(part.title + whose)}"', part.columns, rows, part.numbers)
        remarks = "".join(f"<li>{_text(text)}</li>\n" for text in part.remarks)
        yield f"<ul>\n{remarks}</ul>\n" if remarks else ""
    elif part.items:
        yield f'<ul class="evidence">\n{"".join(map(_line, part.items))}</ul>\n'


def _heading(part: Section, name: str, record: str) -> Iterator[str]:
    yield f'<h2 id="{name}">{_text(part.title)}</h2>\n'
    yield f"<p>{_marked(part.word)} {_text(part.text)}{record}</p>\n" if part.text else ""


def _verdict(head: Section, points: Section | None, fixes: str, whose: str) -> Iterator[str]:
    """Yield what is seen at the first glance."""
    items = {item.key: item for item in head.items}
    score = items.get("score")
    if "site" in items:
        yield f'<p class="dim">{_text(items["site"].text)}</p>\n'
    yield f'<section class="verdict" aria-label="Verdict on {_text(whose)}">\n'
    if score is not None:
        yield f"{mark(score.about, 76)}\n" if score.title else ""
        figure = f"{_text(score.title)} <small>of 100</small>" if score.title else "–"
        yield f'<dl class="figures">\n<div><dt>Score</dt><dd>{figure}</dd></div>\n'
        yield f'<div><dt>Stance</dt><dd class="stance">{_marked(head.word)}</dd></div>\n</dl>\n'
    yield f'<div class="words">\n<p class="headline">{_text(head.text)}</p>\n'
    if points is not None:
        yield f'<ul class="bars">\n{"".join(map(_bar, points.items))}</ul>\n'
    if "next" in items:
        step, _, gains = items["next"].text.partition(": ")
        name = f'<a href="{fixes}">{_text(step)}</a>' if fixes and gains else _text(step)
        gains = f' <span class="dim">{_text(gains)}</span>' if gains else ""
        yield f'<p class="next"><strong>Next:</strong> {name}{gains}</p>\n'
    yield from (
        f'<p class="dim">{item.label}: {_text(item.text)}.</p>\n'
        for item in head.items
        if item.key in ("score", "scanned")
    )
    yield "</div>\n</section>\n"


def _bar(item: Item) -> str:
    """Return a pillar with its bar: earned, lacking, and dotted what was not measured."""
    total = sum(item.bar) or 1
    earned, end = (100 * sum(item.bar[: n + 1]) / total for n in range(2))
    drawn = (
        f'<svg class="bar" viewBox="0 0 100 8" width="160" height="8" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="got" width="{earned:g}" height="8"/><rect class="rest" x="{earned:g}" width="{end - earned:g}" '
        f'height="8"/><line x1="{end:g}" x2="100" y1="4" y2="4"/></svg>'
    )
    return f"<li><span>{_text(item.label)}</span> {drawn} <span>{_text(item.cells[1])}</span></li>\n"


def tone(word: str) -> str:
    """Return the class of a word by its tone."""
    name = sign(word).tone
    return TONES.get(name, name) or "dim"


def _marked(word: str) -> str:
    """Return ``word`` after its sign, in the colour of its tone; nothing for no word."""
    return f'<span class="{tone(word)}">{sign(word).sign} {_text(word)}</span>' if word else ""


def _line(item: Item) -> str:
    label = f"<strong>{_text(', '.join(filter(None, item.cells)))}</strong>: " if item.cells else ""
    return f"<li>{_marked(item.word)} {label}{_text(item.text)}</li>\n"


def _cells(item: Item, width: int, address: Callable[[str], str]) -> list[str]:
    """Return a row of ``width`` columns: a cell that is the row's word in its colour, a count that opens as a link."""
    texts = enumerate(zip(item.row(width), [*map(address, item.opens), *[""] * width], strict=False))
    return [_cell(text, item.word_of(place), link) for place, (text, link) in texts]


def _cell(text: str, word: str, link: str) -> str:
    if link:
        return f'<a href="{escape(link)}">{_text(text)}</a>'
    return (
        _marked(word) if text == word else f'<span class="{tone(word)}">{_text(text)}</span>' if word else _text(text)
    )


def _fix(item: Item, name: str, host: str) -> str:
    code = escape(clean(item.code, block=True).rstrip())
    shown = (
        f'<pre tabindex="0" role="region" aria-label="Example: {_text(item.label)}, {_text(host)}">'
        f"<code>{code}</code></pre>\n"
        if code
        else ""
    )
    facts = " · ".join(cell for cell in item.cells[1:] if cell)
    return (
        f'<div class="fix">\n<h3 id="{name}">{_text(item.label)}</h3>\n'
        f'<p class="dim">{_text(facts)}</p>\n<p>{_text(item.text)}</p>\n{shown}</div>\n'
    )


def html_listing(listing: Listing, options: ExportOptions) -> Iterator[str]:
    """Yield one document with the ranked and the unreachable hosts."""
    title = f"{TITLE}: {listing.title}" if listing.title else TITLE
    yield from _head(title)
    yield f"<h1>{_text(title)}</h1>\n"
    times = not options.deterministic
    if times:
        yield f'<p class="dim">As of {_time(listing.scanned_at)}.</p>\n'
    columns = (*HEADER, "Scanned") if times else HEADER
    yield from _table(
        'aria-label="Scored hosts"', columns, (_row(row, times) for row in listing.ranked), numbers=(0, 1)
    )
    unreachable = reasons(listing.unreachable)
    if unreachable is not None:
        yield "<h2>Unreachable</h2>\n"
        rows = ((_text(host), _text(reason)) for host, reason in unreachable)
        yield from _table('aria-label="Hosts that could not be measured"', ("Host", "Finding"), rows)
    yield "</main>\n</body>\n</html>\n"


@cache
def style_sheet() -> str:
    """Return the style sheet of a file and of the pages."""
    return read_text("report/page.css").strip()


def _head(title: str) -> Iterator[str]:
    style = "\n" + style_sheet() + "\n"
    digest = b64encode(hashlib.sha256(style.encode()).digest()).decode()
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield f"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{digest}'\">\n"
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
    yield f"<title>{_text(title)}</title>\n<style>{style}</style>\n</head>\n"
    yield '<body>\n<main class="wrap">\n'


def _row(row: Row, times: bool) -> list[str]:
    cells = [_text(text) for text in row_texts(row)]
    cells[HEADER.index("Host")] = _link(labels.origin(row.summary.host), row.summary.host)
    return [*cells, _time(row.summary.scanned_at)] if times else cells


def _table(
    label: str, header: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = ()
) -> Iterator[str]:
    """Yield a table; ``label``: the attribute that names it, ``rows``: cells of HTML.

    On a phone the cells of a row stand below one another, except where figures alone follow its name.
    """
    stack = ' class="stack"' if len(numbers) < len(header) - 1 else ""
    kinds = ["wide" if name in WIDE else "number" if place in numbers else "" for place, name in enumerate(header)]
    classes = [f' class="{kind}"' if kind else "" for kind in kinds]
    yield f'<div class="scroll" role="region" {label} tabindex="0">\n<table{stack}>\n<thead><tr>'
    yield "".join(f'<th scope="col"{kind}>{_text(name)}</th>' for name, kind in zip(header, classes, strict=True))
    yield "</tr></thead>\n<tbody>\n"
    for first, *others in rows:
        cells = zip(others, header[1:], classes[1:], strict=True)
        drawn = "".join(f'<td data-label="{_text(name)}"{kind}>{cell}</td>' for cell, name, kind in cells)
        yield f'<tr><th scope="row"{classes[0]}>{first}</th>{drawn}</tr>\n'
    yield "</tbody>\n</table>\n</div>\n"


def _time(scanned_at: str) -> str:
    return f'<time datetime="{escape(scanned_at)}">{_text(labels.moment(scanned_at))}</time>'


def _link(address: str, text: str) -> str:
    if not address:
        return _text(text)
    return f'<a href="{escape(address)}" rel="noreferrer nofollow">{_text(text)}</a>'


def _text(text: str) -> str:
    return escape(clean(text))


LABEL: Final = "agent usability"
COLOURS: Final = MappingProxyType({"A": "#14692f", "B": "#3d6a12", "C": "#7a5200", "D": "#94400a", "F": "#a3161d"})
"""Ground per grade; white text on each has a contrast of at least 5 to 1."""
UNKNOWN: Final = "#565d66"
CELL: Final = 6.5
"""Width of a character in pixels at font size 11."""
PAD: Final = 12


def badge(card: ReportCard) -> str:
    """Return the badge of ``card`` as SVG; one without a grade says so."""
    if card.unreachable:
        return svg(LABEL, "unreachable", UNKNOWN)
    if card.grade == NO_GRADE:
        return svg(LABEL, labels.grade(card.grade), UNKNOWN)
    return svg(LABEL, f"{card.grade} {card.score}", COLOURS.get(card.grade[:1], UNKNOWN))


def svg(label: str, message: str, colour: str) -> str:
    """Return a badge of two fields, sized to its words."""
    label, message = clean(label, 40), clean(message, 40)
    left, right = (PAD + round(CELL * cells(words)) for words in (label, message))
    name = escape(f"{label}: {message}")
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
    shown, name = (letter, f"Grade {letter}") if letter in COLOURS else (NO_GRADE, "No grade")
    return (
        f'<svg class="mark" viewBox="0 0 48 48" width="{size}" height="{size}" role="img" aria-label="{name}">'
        f'<g fill="{COLOURS.get(letter, UNKNOWN)}">{shape}</g><text x="24" y="32" text-anchor="middle" font-size="24" '
        f'font-weight="700" fill="#ffffff">{shown}</text></svg>'
    )


WIDTH, HEIGHT, LEFT, TOP, RIGHT = 640, 180, 34, 12, 14
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
    width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - FOOT

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
        label = escape(f"{point.scanned_at[:10]}: {point.score} {point.grade}")
        dots.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"><title>{label}</title></circle>')
    grid = [(score, TOP + height * (100 - score) / 100) for score in (0, 50, 100)]
    rules = "".join(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:g}" y2="{y:g}"/>' for _, y in grid)
    sizes = "".join(f'<text x="{LEFT - 6}" y="{y + 4:g}" text-anchor="end">{score}</text>' for score, y in grid)
    days = (
        f'<text x="{LEFT}" y="{HEIGHT - 6}">{escape(points[0].scanned_at[:10])}</text>'
        f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 6}" text-anchor="end">{escape(points[-1].scanned_at[:10])}</text>'
    )
    name = escape(
        f"Scores of {len(scored)} scans: {scored[0].score} on {scored[0].scanned_at[:10]}, "
        f"{scored[-1].score} on {scored[-1].scanned_at[:10]}"
    )
    drawn = "".join(f'<polyline points="{" ".join(line)}"/>' for line in lines if len(line) > 1)
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{name}"><g class="grid">{rules}</g>'
        f'<g class="words">{sizes}{days}</g><g class="line" fill="none">{drawn}</g><g class="dots">{"".join(dots)}</g>'
        "</svg>"
    )

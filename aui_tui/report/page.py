"""For a browser: HTML in one file (no script, no request, light and dark), and small pictures in SVG.

The pictures are the badge of a host, the mark of a grade, and the scores of a host over time. All text of the site is
escaped.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from types import MappingProxyType
from typing import Final

from aui_tui.model import labels, visits
from aui_tui.model.card import ReportCard, epoch_ms
from aui_tui.model.labels import SIGNS
from aui_tui.model.points import gain, gain_of_all
from aui_tui.model.view import HistoryPoint, Row
from aui_tui.model.vocabulary import VERDICT_RANK
from aui_tui.report.options import HEADER, Listing, Options, reasons, row_texts
from aui_tui.text import cells, clean

TITLE: Final = "Agentic Usability Index"
WIDE: Final = frozenset({"Finding", "Host", "Value"})
"""Columns of long text, which may break anywhere."""
VERDICT_KIND: Final = MappingProxyType(
    {verdict: ("critical", "warn", "good")[rank] for verdict, rank in VERDICT_RANK.items()}
)
"""Colour of a verdict; the word is always beside it."""


def html_cards(cards: Iterable[ReportCard], options: Options) -> Iterator[str]:
    """Yield one document with an article a card."""
    first = True
    for card in cards:
        if first:
            yield from _head(f"{card.host}: {TITLE}")
        first = False
        yield from _article(card, options)
    if first:
        yield from _head(TITLE)
    for refused in options.refused:
        yield f"<article>\n<h1>{_text(refused.host)}</h1>\n"
        yield f'<p class="figure">Not scanned</p>\n<p>{_text(refused.detail)}</p>\n</article>\n'
    yield "</main>\n</body>\n</html>\n"


def html_listing(listing: Listing, options: Options) -> Iterator[str]:
    """Yield one document with the ranked and the unreachable hosts."""
    title = f"{TITLE}: {listing.title}" if listing.title else TITLE
    yield from _head(title)
    yield f"<h1>{_text(title)}</h1>\n"
    times = not options.deterministic
    if times:
        yield f'<p class="soft">As of {_time(listing.scanned_at)}.</p>\n'
    columns = (*HEADER, "Scanned") if times else HEADER
    yield from _table("Ranked hosts", columns, (_row(row, times) for row in listing.ranked), numbers=(0, 1))
    unreachable = reasons(listing.unreachable)
    if unreachable is not None:
        yield "<h2>Unreachable</h2>\n"
        rows = ((_text(host), _text(reason)) for host, reason in unreachable)
        yield from _table("Hosts that could not be measured", ("Host", "Finding"), rows)
    yield "</main>\n</body>\n</html>\n"


@cache
def _style() -> str:
    return files("aui_tui.report").joinpath("page.css").read_text(encoding="utf-8").strip()


def _head(title: str) -> Iterator[str]:
    style = "\n" + _style() + "\n"
    digest = b64encode(hashlib.sha256(style.encode()).digest()).decode()
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield f"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{digest}'\">\n"
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
    yield f"<title>{_text(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n"


def _article(card: ReportCard, options: Options) -> Iterator[str]:
    yield f"<article>\n<h1>{_link(labels.origin(card.host), card.host)}</h1>\n"
    if card.unreachable:
        yield '<p class="figure">Unreachable</p>\n<p>Nothing was measured, so there is no score.</p>\n'
    else:
        yield f'<p class="figure">{card.score}/100 · grade {_text(card.grade)} · {_text(card.stance)}</p>\n'
        yield f'<p class="soft">Method {_text(labels.method(card))}</p>\n'
    said = [_text(card.name), _text(card.category)]
    if not options.deterministic:
        said.append(f"scanned {_time(card.scanned_at)} from {_text(card.vantage)}")
    yield f'<p class="soft">{" · ".join(said)}</p>\n'
    if not card.unreachable:
        yield from _points(card)
        yield from _agents(card)
    yield from _gates(card, options)
    yield from _findings(card)
    if card.host in options.visits:
        yield from _visits(options.visits[card.host], card)
    if not card.unreachable:
        yield from _facts(card)
        yield from _fixes(card)
    yield "</article>\n"


def _points(card: ReportCard) -> Iterator[str]:
    yield "<h2>Points</h2>\n"
    rows = ((_text(label), points) for label, points in labels.pillars(card))
    yield from _table("Points per pillar", ("Pillar", "Points"), rows, numbers=(1,))


def _agents(card: ReportCard) -> Iterator[str]:
    yield "<h2>Agents</h2>\n"
    answers = labels.answers(card)
    rows = (
        (_text(labels.surface(key)), _verdict(word), _text(answers.get(key, ""))) for key, word in card.matrix.items()
    )
    yield from _table("Verdict per agent", ("Agent", "Verdict", "Answer to the probe"), rows)
    for title, policies in (("agents", card.ua_policy), ("crawlers (not scored)", card.crawler_policy)):
        named = [(_text(name), _text(policy)) for name, policy in policies.items() if policy != "unlisted"]
        yield f"<p>robots.txt names {len(named)} of {len(policies)} tested {title}.</p>\n"
        if named:
            yield from _table(f"robots.txt on tested {title}", ("Name", "Policy"), named)


def _verdict(word: str) -> str:
    kind = VERDICT_KIND.get(word, "soft")
    return f'<span class="{kind}">{_text(word)}</span>'


def _gates(card: ReportCard, options: Options) -> Iterator[str]:
    outcome = options.gates.get(card.host)
    if outcome is None:
        return
    yield "<h2>Gates</h2>\n<ul>\n"
    for failure in outcome.failures:
        yield f'<li><span class="critical">{failure.sign} {_text(failure.gate)}</span>: {_text(failure.message)}</li>\n'
    if not outcome.failures:
        yield '<li><span class="good">✓ All gates passed.</span></li>\n'
    yield "</ul>\n"


def _findings(card: ReportCard) -> Iterator[str]:
    if not card.evidence:
        return
    yield "<h2>Findings</h2>\n<ul>\n"
    for item in card.evidence:
        kind = item.t if item.t in SIGNS else "soft"
        yield f'<li><span class="{kind}">{SIGNS.get(item.t, "·")} {_text(item.t)}</span>: {_text(item.text)}</li>\n'
    yield "</ul>\n"


def _visits(record: visits.Visits, card: ReportCard) -> Iterator[str]:
    yield "<h2>Visits in the access log</h2>\n"
    yield f"<p>{_text(' '.join(visits.heading(record)))}</p>\n"
    rows = visits.visit_rows(record, card)
    body = ([_text(text) for text in visits.cells(row)] for row in rows)
    yield from _table("Visits per client", visits.HEADER, body, numbers=range(1, 8))
    said = [row.sentence for row in rows if row.sentence and row.agrees is not None]
    if said:
        yield "<ul>\n" + "".join(f"<li>{_text(text)}</li>\n" for text in said) + "</ul>\n"
    yield "".join(f"<p>{_text(text)}</p>\n" for text in visits.remarks(record))


def _facts(card: ReportCard) -> Iterator[str]:
    yield "<h2>Facts</h2>\n"
    seen = card.semantic
    rows = (
        ("Page title", card.human_title or "none"),
        ("Answer to a browser", f"{card.human_status}{' challenge' if card.human_challenged else ''}"),
        ("Edge", card.edge or "unknown"),
        ("robots.txt", f"status {card.robots_status}, {card.robots_ua_rules} user agents named"),
        ("Content-Signal", "yes" if card.content_signal else "no"),
        ("Readable without scripts", "no" if card.noscript_shell else "yes"),
        ("Landmarks and forms", f"main {seen.main}, nav {seen.nav}, ARIA labels {seen.aria}, forms {seen.forms}"),
        ("JSON-LD blocks", str(card.jsonld)),
        ("Files for agents", ", ".join(card.files) or "none"),
    )
    yield from _table("What was seen", ("Fact", "Value"), ((_text(name), _text(value)) for name, value in rows))


def _fixes(card: ReportCard) -> Iterator[str]:
    if card.recommendations:
        yield f"<h2>Fixes, all together {_text(gain_of_all(card))}</h2>\n"
    for fix in card.recommendations:
        yield f"<h3>{_text(fix.title)}</h3>\n<p>{_text(fix.pillar)}: {_text(gain(card, fix.k))}</p>\n"
        yield f"<p>{_text(fix.body)}</p>\n"
        if fix.code.strip():
            yield f'<pre tabindex="0"><code>{escape(clean(fix.code, block=True).rstrip())}</code></pre>\n'


def _row(row: Row, times: bool) -> list[str]:
    cells = [_text(text) for text in row_texts(row)]
    cells[HEADER.index("Host")] = _link(labels.origin(row.summary.host), row.summary.host)
    return [*cells, _time(row.summary.scanned_at)] if times else cells


def _table(
    caption: str, header: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = ()
) -> Iterator[str]:
    kinds = ["" if name not in WIDE else ' class="wide"' for name in header]
    for position in numbers:
        kinds[position] = ' class="number"'
    yield f'<div class="scroll" tabindex="0"><table>\n<caption>{caption}</caption>\n<thead><tr>'
    yield "".join(f'<th scope="col"{kind}>{name}</th>' for name, kind in zip(header, kinds, strict=True))
    yield "</tr></thead>\n<tbody>\n"
    for row in rows:
        yield f"<tr>{''.join(f'<td{kind}>{cell}</td>' for cell, kind in zip(row, kinds, strict=True))}</tr>\n"
    yield "</tbody>\n</table></div>\n"


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
    """Return the badge of ``card`` as SVG; an unreachable host has no grade and says so."""
    if card.unreachable:
        return svg(LABEL, "unreachable", UNKNOWN)
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
    name = escape(clean(letter, 1) or "none")
    return (
        f'<svg class="mark" viewBox="0 0 48 48" width="{size}" height="{size}" role="img" aria-label="Grade {name}">'
        f'<g fill="{COLOURS.get(letter, UNKNOWN)}">{shape}</g><text x="24" y="32" text-anchor="middle" font-size="24" '
        f'font-weight="700" fill="#ffffff">{name}</text></svg>'
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

"""HTML in one file: no script, no request, light and dark, all text of the site escaped."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from types import MappingProxyType
from typing import Final

from aui_tui.export.options import Listing, Options
from aui_tui.export.visits import visits_html
from aui_tui.records import labels
from aui_tui.records.card import ReportCard
from aui_tui.records.labels import SIGNS
from aui_tui.records.points import gain, gain_of_all
from aui_tui.records.view import Row
from aui_tui.text import clean

TITLE: Final = "Agentic Usability Index"
WIDE: Final = frozenset({"Finding", "Host", "Value"})
"""Columns of long text, which may break anywhere."""
VERDICT_KIND: Final = MappingProxyType(
    {
        "allowed": "good",
        "allowed-robots": "good",
        "partial": "warn",
        "blocked": "critical",
        "disallowed": "critical",
        "walled": "critical",
    }
)
"""Colour of a verdict; the word always stands with it."""


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
    columns = ["#", "Score", "Grade", "Stance", "Host", "Category", "Finding"]
    if not options.deterministic:
        yield f'<p class="soft">As of {_time(listing.scanned_at)}.</p>\n'
        columns.append("Scanned")
    yield from _table("Ranked hosts", columns, (_row(row, options) for row in listing.ranked), numbers=(0, 1))
    unreachable = iter(listing.unreachable)
    first = next(unreachable, None)
    if first is not None:
        yield "<h2>Unreachable</h2>\n"
        yield from _table("Hosts that could not be measured", ("Host", "Finding"), _reasons(first, unreachable))
    yield "</main>\n</body>\n</html>\n"


@cache
def _style() -> str:
    return files("aui_tui.export").joinpath("page.css").read_text(encoding="utf-8").strip()


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
        provisional = ", provisional" if card.provisional is True else ""
        yield f'<p class="figure">{card.score}/100 · grade {_text(card.grade)} · {_text(card.stance)}</p>\n'
        yield f'<p class="soft">Method {_text(card.method)}{provisional}</p>\n'
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
        yield from visits_html(options.visits[card.host], card)
    if not card.unreachable:
        yield from _facts(card)
        yield from _fixes(card)
    yield "</article>\n"


def _points(card: ReportCard) -> Iterator[str]:
    yield "<h2>Points</h2>\n"
    rows = (
        (
            _text(labels.pillar(card.method, key)),
            labels.points(value, card.pillar_max.get(key)),
        )
        for key, value in card.pillars.items()
    )
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
        sign = "?" if failure.inconclusive else SIGNS["critical"]
        yield f'<li><span class="critical">{sign} {_text(failure.gate)}</span>: {_text(failure.message)}</li>\n'
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


def _row(row: Row, options: Options) -> list[str]:
    summary = row.summary
    cells = [
        str(row.rank or ""),
        str(summary.score),
        _text(summary.grade),
        _text(summary.stance),
        _link(labels.origin(summary.host), summary.host),
        _text(summary.category),
        _text(summary.top_evidence),
    ]
    return cells if options.deterministic else [*cells, _time(summary.scanned_at)]


def _reasons(first: Row, rest: Iterator[Row]) -> Iterator[tuple[str, str]]:
    yield _text(first.summary.host), _text(first.summary.top_evidence)
    for row in rest:
        yield _text(row.summary.host), _text(row.summary.top_evidence)


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

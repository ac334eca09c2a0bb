"""Markdown (GitHub's) for notes, issues and pull requests; nothing of the site becomes markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from types import MappingProxyType
from typing import Final

from aui_tui.model import labels, visits
from aui_tui.model.card import ReportCard
from aui_tui.model.labels import SIGNS
from aui_tui.model.points import gain, gain_of_all
from aui_tui.model.view import Row
from aui_tui.report.options import HEADER, Listing, Options, reasons, row_texts
from aui_tui.text import clean

FENCES: Final = MappingProxyType(
    {"front-door": "json", "llms": "markdown", "jsonld": "html", "landmarks": "html", "ssr": "html"}
)
"""Language of a snippet per fix; the others are plain text."""

_SPECIAL: Final = re.compile(r"[\\`*_\[\]<|~$]")
_COMMAND: Final = re.compile(r"((?:curl (?:[\w-]+ )*)?https?://[^\s`|]*[^\s`|.,;:)])")
_BREAK: Final = "<!-- -->"
"""Keeps two characters apart without a trace in the rendered page."""


def escape(text: str) -> str:
    """Return ``text`` as Markdown that shows exactly it: no markup, link, mention, reference or HTML comes of it."""
    return _escaped(clean(text)).strip()


def with_code(text: str) -> str:
    """Return ``text`` as :func:`escape` does, but commands of curl and addresses as code, to be copied as they are."""
    parts = _COMMAND.split(clean(text))
    return "".join(f"`{part}`" if number % 2 else _escaped(part) for number, part in enumerate(parts)).strip()


def _escaped(text: str) -> str:
    text = _SPECIAL.sub(r"\\\g<0>", text.replace("&", "&amp;"))
    text = text.replace("://", r":\//").replace("www.", r"www\.")
    text = re.sub(r"@(?=\w)", "@" + _BREAK, text)
    text = re.sub(r"#(?=\w)", "#" + _BREAK, text)
    return re.sub(r"^(\s*)([#+=>-]|\d+(?=[.)]))", _escape_start, text)


def _escape_start(found: re.Match[str]) -> str:
    if found[2].isdigit():
        return f"{found[1]}{found[2]}{_BREAK}"
    return f"{found[1]}\\{found[2]}"


def fenced(code: str, language: str = "") -> str:
    """Return ``code`` as a fenced block that it cannot close."""
    code = clean(code, block=True)
    longest = max((len(run) for run in re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{code.rstrip()}\n{fence}\n"


def table(header: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = ()) -> Iterator[str]:
    """Yield the lines of a table of escaped cells; the columns ``right`` are aligned to the right."""
    yield f"| {' | '.join(header)} |\n"
    yield f"| {' | '.join('---:' if n in right else '---' for n in range(len(header)))} |\n"
    for cells in rows:
        yield f"| {' | '.join(cell or ' ' for cell in cells)} |\n"


def markdown_cards(cards: Iterable[ReportCard], options: Options) -> Iterator[str]:
    """Yield one section a card."""
    between = ""
    for card in cards:
        yield f"{between}# {escape(card.host)}\n\n"
        between = "\n"
        yield from _head(card, options)
        if not card.unreachable:
            yield from _points(card)
            yield from _agents(card)
        yield from _gates(card, options)
        yield from _findings(card)
        if card.host in options.visits:
            yield "\n"
            yield from visits_markdown(options.visits[card.host], card, level=2)
        if not card.unreachable:
            yield from _fixes(card)
    for refused in options.refused:
        yield f"{between}# {escape(refused.host)}\n\n**Not scanned**: {escape(refused.detail)}\n"
        between = "\n"


def _head(card: ReportCard, options: Options) -> Iterator[str]:
    if card.unreachable:
        yield "**Unreachable**: nothing was measured, so there is no score.\n\n"
    else:
        yield f"**{card.score}/100, grade {escape(card.grade)}, {card.stance}**"
        yield f" (method {escape(labels.method(card))})\n\n"
    said = [escape(card.name), escape(card.category)]
    if not options.deterministic:
        said.append(f"scanned {labels.moment(card.scanned_at)} from {escape(card.vantage)}")
    yield " · ".join(said) + "\n"


def _points(card: ReportCard) -> Iterator[str]:
    yield "\n## Points\n\n"
    rows = ((escape(label), points) for label, points in labels.pillars(card))
    yield from table(("Pillar", "Points"), rows, right=(1,))


def _agents(card: ReportCard) -> Iterator[str]:
    yield "\n## Agents\n\n"
    answers = labels.answers(card)
    rows = ((escape(labels.surface(key)), escape(word), answers.get(key, "")) for key, word in card.matrix.items())
    yield from table(("Agent", "Verdict", "Answer"), rows)
    yield f"\nrobots.txt disallows {card.agents_disallowed} of {card.agents_total} tested agents"
    yield f" and restricts {card.agents_partial}; it blocks {card.crawlers_blocked} of {card.crawlers_total} crawlers"
    yield " (not scored).\n"


def _gates(card: ReportCard, options: Options) -> Iterator[str]:
    outcome = options.gates.get(card.host)
    if outcome is None:
        return
    yield "\n## Gates\n\n"
    for failure in outcome.failures:
        yield f"- {failure.sign} **{failure.gate}**: {escape(failure.message)}\n"
    if not outcome.failures:
        yield f"- {SIGNS['good']} All gates passed.\n"


def _findings(card: ReportCard) -> Iterator[str]:
    if card.evidence:
        yield "\n## Findings\n\n"
    for item in card.evidence:
        yield f"- {SIGNS.get(item.t, '·')} **{escape(item.t)}**: {escape(item.text)}\n"


def _fixes(card: ReportCard) -> Iterator[str]:
    if card.recommendations:
        yield f"\n## Fixes, all together {gain_of_all(card)}\n"
    for fix in card.recommendations:
        yield f"\n### {escape(fix.title)}\n\n{escape(fix.pillar)}: {gain(card, fix.k)}. {escape(fix.body)}\n"
        if fix.code.strip():
            yield "\n" + fenced(fix.code, FENCES.get(fix.k, "text"))


def markdown_listing(listing: Listing, options: Options) -> Iterator[str]:
    """Yield the ranked and the unreachable hosts as two tables."""
    yield f"# Agentic Usability Index{': ' + escape(listing.title) if listing.title else ''}\n\n"
    times = not options.deterministic
    if times:
        yield f"As of {labels.moment(listing.scanned_at)}.\n\n"
    header = (*HEADER, "Scanned") if times else HEADER
    yield from table(header, (_row(row, times) for row in listing.ranked), right=(0, 1))
    unreachable = reasons(listing.unreachable)
    if unreachable is not None:
        yield "\n## Unreachable\n\n"
        yield from table(("Host", "Finding"), ((escape(host), escape(reason)) for host, reason in unreachable))


def _row(row: Row, times: bool) -> list[str]:
    texts = [escape(text) for text in row_texts(row)]
    return [*texts, labels.moment(row.summary.scanned_at)] if times else texts


def visits_markdown(record: visits.Visits, card: ReportCard | None = None, *, level: int = 1) -> Iterator[str]:
    """Yield a section for notes and pull requests."""
    title = f"Visits of agents to {escape(record.host)}" if record.host and level == 1 else "Visits of agents"
    yield f"{'#' * level} {title}\n\n"
    yield "\n".join(escape(text) for text in visits.heading(record)) + "\n\n"
    rows = visits.visit_rows(record, card)
    yield from table(visits.HEADER, ([escape(text) for text in visits.cells(row)] for row in rows), right=range(1, 8))
    for row in rows:
        if row.sentence and row.agrees is not None:
            yield f"\n- {escape(row.sentence)}"
    yield "\n"
    for text in visits.remarks(record):
        yield f"\n{escape(text)}\n"

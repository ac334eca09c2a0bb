"""Markdown (GitHub's) for notes, issues and pull requests; nothing of the site becomes markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from aui_tui.checks import BY_FIX
from aui_tui.model import labels
from aui_tui.model.listing import Row
from aui_tui.model.signs import sign
from aui_tui.report.formats import HEADER, ExportOptions, HostResult, Listing, reasons, row_texts
from aui_tui.report.sections import BLOCKS, Item, Section, documents
from aui_tui.text import clean

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
    return re.sub(r"^(\s*)([#+=>-]|\d+(?=[.)](?:\s|$)))", _escape_start, text)


def _escape_start(match: re.Match[str]) -> str:
    if match[2].isdigit():
        return f"{match[1]}{match[2]}{_BREAK}"
    return f"{match[1]}\\{match[2]}"


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


def markdown_cards(results: Iterable[HostResult], options: ExportOptions) -> Iterator[str]:
    """Yield the sections of each report."""
    between = ""
    for parts in documents(results, options):
        yield between
        yield from section_lines(parts)
        between = "\n"


def section_lines(parts: Iterable[Section]) -> Iterator[str]:
    """Yield ``parts``: the first under a heading of its own level; a table where there are columns, else a list."""
    for number, part in enumerate(parts):
        yield f"{'##' if number else '#'} {escape(part.title)}\n\n"
        if part.text:
            lead = f"**{sign(part.word).sign} {escape(part.word)}** " if part.word else ""
            yield f"{lead}{with_code(part.text)}\n\n"
        if part.name in BLOCKS:
            for place, item in enumerate(part.items, 1):
                yield from _block(item, f"{place}. " if part.name == "steps" else "")
        elif part.columns:
            yield from table(part.columns, (_row(item, len(part.columns)) for item in part.items), part.numbers)
            yield from (f"\n- {escape(text)}" for text in part.remarks)
            yield "\n"
        elif part.items:
            yield "".join(f"- {_lead(item)}{escape(item.text)}\n" for item in part.items) + "\n"


def _lead(item: Item) -> str:
    mark = f"{sign(item.word).sign} **{escape(item.word)}** " if item.word else ""
    return mark + (f"{escape(', '.join(filter(None, item.cells)))}: " if item.cells else "")


def _row(item: Item, width: int) -> list[str]:
    """Return the cells of a table of ``width`` columns, the row's sign before the cell that is its word."""
    return [f"{sign(text).sign} {escape(text)}" if text == item.word else with_code(text) for text in item.row(width)]


def _block(item: Item, lead: str) -> Iterator[str]:
    facts = ", ".join(cell for cell in item.cells[1:] if cell)
    yield f"### {lead}{escape(item.label)}\n\n"
    if facts or item.text:
        yield f"{escape(facts)}. {with_code(item.text)}\n\n"
    if item.code.strip():
        yield fenced(item.code, BY_FIX[item.key].language if item.key in BY_FIX else "text") + "\n"


def markdown_listing(listing: Listing, options: ExportOptions) -> Iterator[str]:
    """Yield the ranked and the unreachable hosts as two tables."""
    yield f"# Agentic Usability Index{': ' + escape(listing.title) if listing.title else ''}\n\n"
    times = not options.deterministic
    if times:
        yield f"As of {labels.moment(listing.scanned_at)}.\n\n"
    header = (*HEADER, "Scanned") if times else HEADER
    yield from table(header, (_listed(row, times) for row in listing.ranked), right=(0, 1))
    unreachable = reasons(listing.unreachable)
    if unreachable is not None:
        yield "\n## Unreachable\n\n"
        yield from table(("Host", "Finding"), ((escape(host), escape(reason)) for host, reason in unreachable))


def _listed(row: Row, times: bool) -> list[str]:
    texts = [escape(text) for text in row_texts(row)]
    return [*texts, labels.moment(row.summary.scanned_at)] if times else texts

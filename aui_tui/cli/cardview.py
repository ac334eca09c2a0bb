"""Reports as text: the answer in one screen and all of it on request, for a terminal or as plain sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from aui_tui.cli.terminal import Paint
from aui_tui.model import labels
from aui_tui.model.report import HostReport
from aui_tui.model.signs import GRADES
from aui_tui.model.vocabulary import STANCES
from aui_tui.report.sections import BLOCKS, Item, Layout, Section, bar_cells, layout, sections
from aui_tui.text import cells, count, fit, wrap

LABEL: Final = 9
"""Cells of the names in the answer."""
HEIGHT: Final = 24
"""Lines of the answer at most, on paper of 80 cells."""
MOST: Final = 4
"""Outcomes that the answer shows; more are counted."""
SENTENCE: Final = 5
LINES: Final = 3
"""Lines of the reason of an outcome at most."""
FIRST: Final = 20
"""Cells of the column of assistants at least."""
BAR: Final = 18
SHORTEST: Final = 8
"""Cells of the longest bar, and of the shortest that share a line."""


def lines(
    report: HostReport, paint: Paint, *, note: str = "", details: bool = False, now: float | None = None
) -> Iterator[str]:
    """Yield the answer of ``report``: one sentence, who gets in, score, next step, worst findings, in HEIGHT lines.

    ``details`` brings the rest; what was asked for by name, declarations and other pages, always follows. ``note``
    says where the report came from, such as ``from the cache``.
    """
    parts = {part.name: part for part in sections(report, now=now)}
    head = parts.pop("verdict")
    answer = list(_answer(head, parts.pop("points", None), parts.pop("assistants"), paint))
    closing = list(paint.hanging("", f"Scanned {_item(head, 'scanned')}{', ' + note if note else ''}."))
    if not details:
        closing = [*paint.hanging("", _more(report)), *closing]
        answer += _worst(parts.get("findings"), paint, HEIGHT - len(answer) - len(closing) - 1)
    yield from (*answer, "", *closing)
    for part in [
        section for section in parts.values() if details or section.name in ("declared", "pages", "open-agents")
    ]:
        yield ""
        yield from section_lines(part, paint)


def exchanges(report: HostReport) -> Iterator[str]:
    """Yield each request under an agent's name and its answer beside the browser's; nothing where they are not kept."""
    from aui_tui.report.exchanges import as_text, comparable_probes, compared

    observations = report.observations
    if observations is None:
        return
    live = {exchange.name for exchange in observations.live}
    for name in comparable_probes(observations):
        if name in live:
            yield from ("", *as_text(compared(report.card, observations, name)).rstrip("\n").split("\n"))


def _more(report: HostReport) -> str:
    plan = f"aui-tui plan {report.card.host} shows the changes; " if report.card.recommendations else ""
    return f"{'' if report.card.unreachable else plan}--details shows the rest."


def _item(head: Section, key: str) -> str:
    return next((item.text for item in head.items if item.key == key), "")


def _answer(head: Section, points: Section | None, who: Section, paint: Paint) -> Iterator[str]:
    """Yield host, score, sentence, pillars, assistants and next step, in the order of the dashboard's card."""
    title = fit(paint.plain(head.title), min(cells(paint.plain(head.title)), paint.width))
    score = next(item for item in head.items if item.key == "score")
    figure = labels.score(int(score.title), score.about) if score.title else ""
    room = paint.width - cells(title) - cells(figure) - 4
    shown = "  " + paint.style(figure, GRADES.get(score.about, "")) if figure and room > 0 else ""
    yield paint.heading(title) + shown + (f"  {fit(paint.plain(_item(head, 'site')), room).rstrip()}" * (room > 8))
    lead = f"{paint.glyph(head.word)} {head.word}  "
    for number, line in enumerate(wrap(paint.plain(head.text), paint.width - cells(lead))[:SENTENCE]):
        yield (paint.marked(head.word) + "  " if not number else " " * cells(lead)) + line
    if points is not None:
        yield from _bars(points, paint)
    yield ""
    yield from _table(who._replace(items=who.items[:MOST]), paint, limit=LINES)
    if len(who.items) > MOST:
        yield f"  {count(len(who.items) - MOST, 'more outcome')}"
    yield ""
    yield from paint.hanging(fit("Score", LABEL), score.text)
    yield from paint.hanging(fit("Next", LABEL), _item(head, "next"))


def _bars(points: Section, paint: Paint) -> Iterator[str]:
    """Yield the pillars with their bars on one line, or on one line each where they have no room."""
    name = max(cells(item.label) for item in points.items)
    words = sum(cells(" ".join(item.cells)) + 4 for item in points.items)
    size = min((paint.width - words) // len(points.items), BAR)
    together = size >= SHORTEST
    size = size if together else min(BAR, paint.width - name - max(cells(item.cells[1]) for item in points.items) - 2)
    parts = []
    for item in points.items:
        drawn = zip("━─┄", bar_cells(item.bar, max(size, 0)), ("accent", "dim", "dim"), strict=True)
        bar = "".join(paint.style(paint.plain(sign * n), tone) for sign, n, tone in drawn if n)
        parts.append(f"{item.label if together else fit(item.label, name)} {bar} {item.cells[1]}")
    yield from ["   ".join(parts)] if together else parts


def _worst(section: Section | None, paint: Paint, room: int) -> list[str]:
    """Return the problems in one line each, as many as there is ``room`` for, and how many more; one alone whole."""
    bad = [item for item in section.items if item.word != "good"] if section is not None else []
    if len(bad) == 1 and len(full := list(_line(bad[0], paint))) < room:
        return ["", *full]
    shown = bad if len(bad) < room else bad[: max(room - 2, 0)]
    rows = [_headed(item, paint) for item in shown]
    rest = [f"  {count(len(bad) - len(shown), 'more problem')}"] if len(bad) > len(shown) else []
    return ["", *rows, *rest] if rows else []


def _headed(item: Item, paint: Paint) -> str:
    """Return the short form of a finding, what it is about at the right where there is room."""
    title = fit(paint.plain(item.title), min(cells(paint.plain(item.title)), paint.width - 2))
    room = paint.width - 2 - cells(title) - cells(item.about)
    about = " " * room + paint.style(item.about, "dim") if item.about and room > 0 else ""
    return paint.style(f"{paint.glyph(item.word)} ", item.tone) + title + about


def section_lines(part: Section, paint: Paint) -> Iterator[str]:
    """Yield one section for a terminal: a table where it has columns, else a list."""
    yield paint.heading(paint.plain(part.title))
    if part.text:
        yield from paint.hanging(f"{paint.glyph(part.word)} {part.word} " if part.word else "  ", part.text)
    if part.name in BLOCKS:
        for place, item in enumerate(part.items, 1):
            yield from _block(item, paint, f"{place}. " if part.name == "steps" else "  ")
    elif part.columns and part.name != "facts":
        yield from _table(part, paint)
    else:
        for item in part.items:
            yield from _line(item, paint)


def in_order(parts: Iterable[Section], paint: Paint, *, text: bool) -> Iterator[str]:
    """Yield sections line by line, as :func:`section_lines` with a line between or, for ``text``, as sentences."""
    for number, part in enumerate(parts):
        lines = section_sentences(part) if text else section_lines(part, paint)
        yield from ["\n"] if number and not text else []
        yield from (f"{line}\n" for line in lines)


def _block(item: Item, paint: Paint, lead: str) -> Iterator[str]:
    yield from paint.hanging(lead, ": ".join(filter(None, (item.label, ", ".join(filter(None, item.cells[1:]))))))
    yield from paint.hanging("    ", item.text)


def _line(item: Item, paint: Paint) -> Iterator[str]:
    lead = f"{paint.glyph(item.word)} " if item.word else "  "
    if item.cells:
        label = f"  {paint.plain(', '.join(filter(None, item.cells)))} "
        yield from paint.hanging(label + " " * (15 - cells(label)), item.text)
    else:
        yield from paint.hanging(lead, item.text, style=item.tone)


def _table(part: Section, paint: Paint, *, limit: int = 0) -> Iterator[str]:
    """Yield rows under one another, as many columns as there is room for; ``limit``: lines of a text at most."""
    shown = part._replace(items=tuple(_printable(item, paint) for item in part.items))
    form = layout(shown, paint.width - 2, heads=not limit)
    if limit:
        form = _roomier(form, shown, paint.width - 2, limit)
    else:
        heads = [fit(part.columns[n], width, right=n in part.numbers) for n, width in form.columns]
        extra = part.columns[len(form.columns) :][:1] if form.beside else ()
        yield paint.style(f"  {'  '.join((*heads, *extra))}".rstrip(), "dim")
    for item in shown.items:
        yield from _row(item, form, shown.numbers, paint, limit)


def _roomier(form: Layout, part: Section, size: int, limit: int) -> Layout:
    """Return ``form`` with a first column so narrow, if need be, that no text beside takes more than ``limit`` lines.

    No word of a text is broken either.
    """
    (place, width), *others = form.columns
    used = sum(cells_of + 2 for _, cells_of in others)
    texts = [item.text for item in part.items]

    def cramped(room: int) -> bool:
        words = (cells(word) for text in texts for word in text.split())
        return room < max(words, default=0) or any(len(wrap(text, room)) > limit for text in texts)

    while form.beside and width > FIRST and cramped(max(size - used - width - 2, 1)):
        width -= 1
    return form._replace(columns=[(place, width), *others])


def _printable(item: Item, paint: Paint) -> Item:
    return item._replace(cells=tuple(map(paint.plain, item.cells)), text=paint.plain(item.text))


def _row(item: Item, form: Layout, numbers: Sequence[int], paint: Paint, limit: int) -> Iterator[str]:
    """Yield one row in as many lines as it takes."""
    lead = f"{paint.glyph(item.word)} " if item.word else "  "
    alone = len(item.cells) == 1 < len(form.columns)
    cells_of = item.row(max(n for n, _ in form.columns) + 1) if not alone else [item.label]
    columns = [(wrap(cells_of[n], width), width, n in numbers) for n, width in form.columns if n < len(cells_of)]
    room = paint.width - 2 - sum(width + 2 for _, width, _ in columns)
    beside = form.beside or alone
    text = wrap(item.text, max(room, 10)) if beside else []
    if limit and len(text) > limit:
        text = [*text[: limit - 1], fit(" ".join(text[limit - 1 :]), room).rstrip()]
    for row in range(max(len(text), *(len(lines) for lines, _, _ in columns))):
        shown = [fit(lines[row] if row < len(lines) else "", width, right=right) for lines, width, right in columns]
        line = "  ".join((*shown, text[row] if row < len(text) else "")).rstrip()
        yield (paint.style(lead, item.tone) if not row else "  ") + line
    if item.text and not beside:
        yield from paint.hanging("    ", item.text)


def sentences(report: HostReport, *, note: str = "") -> Iterator[str]:
    """Yield all of ``report`` as plain sentences: no signs, no columns, every line complete in itself."""
    head, *rest = sections(report)
    yield f"Report card of {head.title}."
    yield f"{head.word[:1].upper()}{head.word[1:]}. {head.text}"
    for item in head.items:
        suffix = f", {note}" if note and item.key == "scanned" else ""
        yield _spoken(f"{item.label}: {item.text.rstrip('.')}{suffix}.")
    for part in rest:
        yield from section_sentences(part)


def section_sentences(part: Section) -> Iterator[str]:
    """Yield one section as plain sentences, each item with what it is about."""
    if part.text:
        yield _spoken(f"{part.title}: {_ended(part.text)}")
    names = part.columns if len(part.columns) > 1 else ()
    for number, item in enumerate(part.items, 1):
        yield _spoken(f"{_named(part, item, names, number)}{_ended(item.text)}")


def _spoken(text: str) -> str:
    """Return ``text`` with words or commas for the signs that stand in it."""
    return text.replace("→", "->").replace(" · ", ", ")


def _named(part: Section, item: Item, names: Sequence[str], number: int) -> str:
    if part.name == "findings":
        return f"Finding {number} of {len(part.items)}, {item.word}: "
    if part.name in BLOCKS:
        kind = "Fix" if part.name == "fixes" else "Step"
        return f"{kind} {number} of {len(part.items)}: {', '.join(filter(None, item.cells))}. "
    if len(item.cells) == len(names) > 1:
        shown = [
            _told(name, cell, figure=place in part.numbers)
            for place, (name, cell) in enumerate(zip(names, item.cells, strict=True))
            if place and cell not in ("", "–")
        ]
        return f"{names[0]} {item.label}: {', '.join(shown)}.{' ' if item.text else ''}"
    shown = [cell for cell in item.cells if cell and not item.text.startswith(cell)]
    return f"{', '.join(shown)}{': ' if item.text else '.'}" if shown else f"{part.title}: "


def _told(name: str, cell: str, *, figure: bool) -> str:
    """Return a cell as a part of a sentence: ``18/25 points``, ``14 %``, ``the site answers 200``, ``not asked``."""
    if name == "Share" or cell.startswith("not "):
        return f"tasks {cell}" if name == "Points" else cell
    label = name if name in STANCES else name[:1].lower() + name[1:]
    if not figure or " " in name:
        return f"{label} {cell}"
    number, comma, rest = cell.partition(", ")  # 8/12, 13 not measured
    return f"{number} {label.removesuffix('s') if number == '1' else label}{comma}{rest}"


def _ended(text: str) -> str:
    return f"{text}." if text and text[-1] not in ".!?" else text

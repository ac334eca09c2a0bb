"""Two or more hosts side by side: what differs first, what is alike folded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from shlex import quote
from typing import ClassVar, Final, NamedTuple

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content

from aui_tui.model import agents, labels
from aui_tui.model.card import ReportCard
from aui_tui.model.labels import ago
from aui_tui.model.registry import registry
from aui_tui.model.signs import sign
from aui_tui.model.view import HostReport
from aui_tui.report import sections
from aui_tui.text import count, fit, joined
from aui_tui.tui import glyphs
from aui_tui.tui.bindings import COMPARE
from aui_tui.tui.context import attempt, start
from aui_tui.tui.dashboard import DashboardScreen
from aui_tui.tui.rows import ListEntry, blank, in_full, paragraph, rule, spread, term, text
from aui_tui.tui.screens.windows import ReadScreen
from aui_tui.tui.widgets.listing import RowList


class Value(NamedTuple):
    """What one card says in a line, and its tone."""

    text: str
    tone: str = ""


class ComparedLine(NamedTuple):
    """One line: its name and what each card says."""

    name: str
    values: tuple[Value, ...]

    @property
    def differs(self) -> bool:
        """Whether the cards disagree."""
        return len({value.text for value in self.values}) > 1


class CompareScreen(DashboardScreen[None]):
    """Reads the cards of ``hosts`` one after another and shows those that are there."""

    BINDINGS: ClassVar[list[BindingType]] = [*COMPARE]
    AUTO_FOCUS = "RowList"

    def __init__(self, hosts: tuple[str, ...]) -> None:
        super().__init__()
        self._hosts = hosts
        self._cards: dict[str, ReportCard] = {}
        self._every = False

    def inside(self) -> ComposeResult:
        yield RowList(id="figures", classes="pane")

    def on_mount(self) -> None:
        self.watch(self.app, "aged", self._aged, init=False)
        start(self, "compare", self._read)

    async def _read(self) -> None:
        for host in self._hosts:
            report, problem = await attempt(self.context.service.site(host))
            if report is None:
                self.app.notice(problem, "error")
            else:
                self._cards[host] = report.card
                self._draw(top=True)

    def _aged(self, _count: int) -> None:
        self._draw()

    @property
    def cards(self) -> list[ReportCard]:
        """The cards that were read, in order."""
        return [self._cards[host] for host in self._hosts if host in self._cards]

    def _draw(self, *, top: bool = False) -> None:
        cards, now, every = self.cards, self.context.clock(), self._every
        block = self.query_one(RowList)
        block.border_title = Content(joined([card.host for card in cards]))
        block.border_subtitle = Content(LEGEND)
        block.show(lambda size: compare(cards, size, now, every=every), top=top)
        self.draw_lines()

    def title_line(self, size: int) -> Content:
        rows = lines(self.cards, self.context.clock())
        left = text((" Compare", "title"), f"  {count(len(self._hosts), 'site')}")
        words = f"{sum(row.differs for row in rows)} of {len(rows)} lines differ "
        return spread(left, text((words, "muted")), size)

    def foot_line(self, size: int) -> Content:
        key = self.query_one(RowList).key
        found = next((row for row in lines(self.cards, self.context.clock()) if row.name == key), None)
        words = " · ".join(value.text for value in found.values) if found is not None else ""
        return term(key or "disagree", size, words or "What the sites do not have in common; a shows all lines.")

    def on_row_list_chosen(self, message: RowList.Chosen) -> None:
        """Show what each site says in full."""
        found = next((row for row in lines(self.cards, self.context.clock()) if row.name == message.key), None)
        if found is not None:
            said = [(card.host, value.text) for card, value in zip(self.cards, found.values, strict=True)]
            self.app.push_screen(ReadScreen(found.name, partial(in_full, said)))

    def action_every(self) -> None:
        self._every = not self._every
        self._draw()

    def action_copy(self) -> None:
        self.app.copy(self.query_one(RowList).row_text, "the row")

    def command(self) -> str:
        first, *others = map(quote, self._hosts)
        return "; ".join(f"aui-tui diff {first} {other}" for other in others)


TO_DO: Final = Value("to do", "warn")
LABEL: Final = 20
BAR: Final = 16
"""Cells of a bar of points."""
POINTS: Final = re.compile(r"(\d+)/(\d+)")
LEGEND: Final = f"{glyphs.DISAGREE} differs  {glyphs.ALIKE} alike"


def compare(cards: Sequence[ReportCard], size: int, now: float, *, every: bool = False) -> list[ListEntry]:
    """Return the cards side by side in ``size`` cells, what differs first; ``every``: also line by line what is not."""
    if not cards:
        return []
    label = LABEL if size >= 70 else 13
    room = max((size - label - 4) // len(cards) - 1, 8)
    found = lines(cards, now)
    differ, alike = [row for row in found if row.differs], [row for row in found if not row.differs]
    out = [paragraph(sentence(cards), size, "strong"), blank()]
    heads = "".join(fit(card.host, room) + " " for card in cards)
    out.append(ListEntry(text(" " * (label + 4), (heads, "title"))))
    out += [_row(row, glyphs.DISAGREE, label, room) for row in differ]
    more = "a folds them" if every else "a shows them"
    out += [blank(), rule(f"{glyphs.ALIKE} alike: {count(len(alike), 'line')}", more, size)]
    if every:
        return [*out, *(_row(row, glyphs.ALIKE, label, room) for row in alike)]
    names: dict[Value, list[str]] = {}
    for row in alike:
        names.setdefault(row.values[0], []).append(row.name)
    said = (_said(", ".join(names[value]), value) for value in names if value.text != glyphs.DASH)
    return [*out, paragraph(" · ".join(said), size, "muted")]


def _said(names: str, value: Value) -> str:
    """Return what all cards say in some lines: ``Claude, Amazon ✓ in``, of fixes ``to do: Add an /llms.txt file``."""
    return f"{value.text}: {names}" if value == TO_DO else f"{names} {value.text}"


def _row(row: ComparedLine, mark: str, label: int, room: int) -> ListEntry:
    cells = ((fit(_with_bar(value.text, room), room) + " ", value.tone) for value in row.values)
    role = "accent" if mark == glyphs.DISAGREE else "muted"
    return ListEntry(text("  ", (f"{mark} ", role), fit(row.name, label - 1) + " ", *cells), row.name)


def _with_bar(words: str, room: int) -> str:
    """Return points such as ``18/25`` with a bar of them, everything else as it is."""
    points = POINTS.fullmatch(words)
    if not points or room < 12:
        return words
    full, rest = glyphs.bar(int(points[1]), int(points[2]), min(room - 6, BAR))
    return f"{words:<5} {full}{rest}"


def sentence(cards: Sequence[ReportCard]) -> str:
    """Return in one sentence who is turned away by all of the sites, and by which of them alone."""
    out = {card.host: set(agents.turned_away(agents.verdicts(card))[1]) for card in cards if not card.unreachable}
    if not out:
        return "None of them could be reached."
    order = [surface.label for surface in registry().surfaces]
    every = set.intersection(*out.values()) if len(out) > 1 else set[str]()
    parts = [f"All turn {joined(sorted(every, key=order.index))} away"] if every else []
    for host, names in out.items():
        own = sorted(names - every, key=order.index)
        if own:
            parts.append(f"{host} turns {joined(own)} away")
    words = "; ".join(parts) or "No assistant is turned away by any of them"
    return f"{words}."


def lines(cards: Sequence[ReportCard], now: float) -> list[ComparedLine]:
    """Return every line of a comparison: who gets in, points, facts, fixes."""
    said = [dict(_lines(card, now)) for card in cards]
    fixes = {fix.title for card in cards for fix in card.recommendations}
    nothing = Value(f"{sign('good').sign} nothing to do", "good")
    return [
        ComparedLine(
            name, tuple(one.get(name, nothing if name in fixes else Value(glyphs.DASH, "muted")) for one in said)
        )
        for name in dict.fromkeys(name for one in said for name in one)
    ]


def _lines(card: ReportCard, now: float) -> Iterator[tuple[str, Value]]:
    """Yield what one card says, by the name of the line."""
    report, word = HostReport(card=card), "unreachable" if card.unreachable else card.stance
    points = sections.points(report)
    yield "Score", Value(glyphs.DASH if card.unreachable else labels.score(card.score, card.grade), "strong")
    yield "Stance", Value(word, sign(word).tone)
    words = {key: one.verdict for one in agents.outcomes(card) for key in one.keys}
    for slug, verdict in card.matrix.items() if not card.unreachable else ():
        found = words.get(slug) or agents.word_of(verdict)
        yield labels.name(slug), Value(f"{sign(found).sign} {found}", sign(found).tone)
    yield from ((item.label, Value(item.cells[1])) for item in (points.items if points is not None else ()))
    yield "Category", Value(card.category)
    yield "Method", Value(card.method)
    facts = (item for item in sections.facts(report).items if item.label not in ("Title", "Limit"))
    yield from ((item.label, Value(item.text)) for item in facts)
    yield "Scanned", Value(ago(card.scanned_at, now))
    yield from ((fix.title, TO_DO) for fix in card.recommendations)

"""Two or more hosts side by side: what differs first, what is alike folded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from shlex import quote
from typing import ClassVar, Final, NamedTuple

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content

from aui_tui.model import agents, labels
from aui_tui.model.card import ReportCard
from aui_tui.model.labels import ago
from aui_tui.model.registry import registry, surfaces
from aui_tui.model.signs import sign
from aui_tui.text import count, fit
from aui_tui.tui import glyphs
from aui_tui.tui.bindings import COMPARE
from aui_tui.tui.cardrows import term
from aui_tui.tui.context import attempt, start
from aui_tui.tui.dashboard import Page
from aui_tui.tui.rows import Entry, blank, paragraph, spread, text, title
from aui_tui.tui.widgets.bars import Bar, KeyBar
from aui_tui.tui.widgets.listing import Listing
from aui_tui.tui.words import TERMS


class Value(NamedTuple):
    """What one card says in a line, and its tone."""

    text: str
    tone: str = ""


class Compared(NamedTuple):
    """One line: its name and what each card says. ``key``: what it stands for."""

    name: str
    values: tuple[Value, ...]
    key: str = ""

    @property
    def differs(self) -> bool:
        """Whether the cards disagree."""
        return len({value.text for value in self.values}) > 1


class CompareScreen(Page[None]):
    """Reads the cards of ``hosts`` one after another and shows those that are there."""

    BINDINGS: ClassVar[list[BindingType]] = [*COMPARE]
    AUTO_FOCUS = "Listing"

    def __init__(self, hosts: tuple[str, ...]) -> None:
        super().__init__()
        self._hosts = hosts
        self._cards: dict[str, ReportCard] = {}
        self._every = False

    def compose(self) -> ComposeResult:
        yield Bar(self._title, id="title")
        yield Listing(id="figures", classes="pane")
        yield Bar(self._foot, id="foot")
        yield KeyBar()

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
                self.call_later(self._draw)

    def _aged(self, _count: int) -> None:
        self._draw()

    @property
    def cards(self) -> list[ReportCard]:
        """The cards that were read, in order."""
        return [self._cards[host] for host in self._hosts if host in self._cards]

    def _draw(self) -> None:
        cards, now, every = self.cards, self.context.clock(), self._every
        block = self.query_one(Listing)
        block.border_title = Content(agents.and_list([card.host for card in cards]))
        block.border_subtitle = Content(LEGEND)
        block.show(lambda size: compare(cards, size, now, every=every))
        for bar in self.query(Bar):
            bar.refresh()

    def _title(self, size: int) -> Content:
        rows = list(lines(self.cards, self.context.clock()))
        left = text((" Compare", "title"), f"  {count(len(self._hosts), 'site')}")
        words = f"{sum(row.differs for row in rows)} of {len(rows)} lines differ "
        return spread(left, text((words, "muted")), size)

    def _foot(self, size: int) -> Content:
        key = self.query_one(Listing).key
        name = key if key in TERMS else "disagree"
        return term(name, size, "" if key in TERMS else "What the sites do not have in common; a shows all lines.")

    def on_listing_moved(self) -> None:
        self.query_one("#foot", Bar).refresh()

    def action_every(self) -> None:
        self._every = not self._every
        self._draw()

    def action_copy(self) -> None:
        self.app.copy(self.query_one(Listing).row_text, "the row")

    def command(self) -> str:
        first, *others = map(quote, self._hosts)
        return "; ".join(f"aui-tui diff {first} {other}" for other in others)


LABEL: Final = 20
LEGEND: Final = f"{glyphs.DISAGREE} differs  {glyphs.ALIKE} alike"


def compare(cards: Sequence[ReportCard], size: int, now: float, *, every: bool = False) -> list[Entry]:
    """Return the cards side by side in ``size`` cells, what differs first; ``every``: also line by line what is not."""
    if not cards:
        return []
    label = LABEL if size >= 70 else 13
    room = max((size - label - 4) // len(cards) - 1, 8)
    found = list(lines(cards, now))
    differ, alike = [row for row in found if row.differs], [row for row in found if not row.differs]
    out = [paragraph(sentence(cards), size, "strong"), blank()]
    heads = "".join(fit(card.host, room) + " " for card in cards)
    out.append(Entry(text(" " * (label + 4), (heads, "title"))))
    out += [_row(row, glyphs.DISAGREE, label, room) for row in differ]
    more = "a folds them" if every else "a shows them"
    out += [blank(), title(f"{glyphs.ALIKE} alike: {count(len(alike), 'line')}", more)]
    if every:
        return [*out, *(_row(row, glyphs.ALIKE, label, room) for row in alike)]
    said = " · ".join(f"{row.name} {row.values[0].text}" for row in alike if row.values[0].text != glyphs.DASH)
    return [*out, paragraph(said, size, "muted")]


def _row(row: Compared, mark: str, label: int, room: int) -> Entry:
    cells = ((fit(value.text, room) + " ", value.tone) for value in row.values)
    role = "accent" if mark == glyphs.DISAGREE else "muted"
    return Entry(text("  ", (f"{mark} ", role), fit(row.name, label - 1) + " ", *cells), row.key or row.name)


def sentence(cards: Sequence[ReportCard]) -> str:
    """Return in one sentence who is turned away by all of the sites, and by which of them alone."""
    out = {card.host: set(agents.turned_away(card.matrix)[1]) for card in cards if not card.unreachable}
    if not out:
        return "None of them could be reached."
    order = [surface.short for surface in surfaces()]
    every = set.intersection(*out.values()) if len(out) > 1 else set[str]()
    parts = [f"all turn {agents.and_list(sorted(every, key=order.index))} away"] if every else []
    for host, names in out.items():
        own = sorted(names - every, key=order.index)
        if own:
            parts.append(f"{host} turns {agents.and_list(own)} away")
    words = "; ".join(parts) or "no assistant is turned away by any of them"
    return f"{words[0].upper()}{words[1:]}."


def lines(cards: Sequence[ReportCard], now: float) -> Iterator[Compared]:
    """Yield every line of a comparison: who gets in, points, facts, fixes."""

    def row(name: str, read: Callable[[ReportCard], Value], key: str = "") -> Compared:
        return Compared(name, tuple(read(card) for card in cards), key)

    for name, read in HEAD:
        yield row(name, read)
    for slug in dict.fromkeys(slug for card in cards for slug in card.matrix):
        yield row(labels.surface(slug, short=True), lambda card, slug=slug: _verdict(card, slug))  # type: ignore[misc]
    for key in dict.fromkeys(key for card in cards for key in card.pillars):
        yield row(labels.pillar(cards[0].method, key), lambda card, key=key: _pillar(card, key))  # type: ignore[misc]
    for name, read in FACTS:
        yield row(name, read)
    yield row("Scanned", lambda card: Value(ago(card.scanned_at, now)))
    for key, fix in {fix.k: fix.title for card in cards for fix in card.recommendations}.items():
        yield row(fix, lambda card, key=key: _fix(card, key))  # type: ignore[misc]


def _verdict(card: ReportCard, slug: str) -> Value:
    found = card.matrix.get(slug)
    if found is None or card.unreachable:
        return Value(glyphs.DASH, "muted")
    surface = registry().surface(slug)
    word = agents.word_of(found, surface.source if surface is not None else "")
    return Value(f"{sign(word).sign} {word}", sign(word).tone)


def _pillar(card: ReportCard, key: str) -> Value:
    value = card.pillars.get(key)
    if value is None or card.unreachable:
        return Value("not measured", "muted")
    most = card.pillar_max.get(key)
    return Value(f"{value:g}/{most or 0:g}")


def _fix(card: ReportCard, key: str) -> Value:
    there = any(fix.k == key for fix in card.recommendations)
    return Value("to do", "warn") if there else Value(f"{sign('good').sign} nothing to do", "good")


HEAD: Final[tuple[tuple[str, Callable[[ReportCard], Value]], ...]] = (
    ("Score", lambda card: Value(glyphs.DASH if card.unreachable else f"{card.score} {card.grade}", "strong")),
    ("Stance", lambda card: Value("unreachable" if card.unreachable else card.stance, sign(card.stance).tone)),
)
FACTS: Final[tuple[tuple[str, Callable[[ReportCard], Value]], ...]] = (
    ("Category", lambda card: Value(card.category)),
    ("Method", lambda card: Value(card.method)),
    ("Browser", lambda card: Value(str(card.human_status or "no answer"))),
    ("robots.txt", lambda card: Value(str(card.robots_status or "no answer"))),
    ("Agents told no", lambda card: Value(str(card.agents_disallowed))),
    ("Crawlers told no", lambda card: Value(str(card.crawlers_blocked))),
    ("Content-Signal", lambda card: Value("stated" if card.content_signal else "none")),
    ("Readable", lambda card: Value("not without scripts" if card.noscript_shell else "without scripts")),
    ("JSON-LD", lambda card: Value(str(card.jsonld or "none"))),
    ("Files", lambda card: Value(", ".join(card.files) or "none")),
    ("Served by", lambda card: Value(card.edge or "none recognised")),
)

"""Two or more hosts side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from shlex import quote
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen

from aui_tui.model import labels
from aui_tui.model.agents import word_of
from aui_tui.model.card import ReportCard
from aui_tui.model.registry import registry
from aui_tui.text import fit
from aui_tui.tui import glyphs, messages
from aui_tui.tui.bindings import COMPARE
from aui_tui.tui.context import Context, attempt, start
from aui_tui.tui.draw import BLANK, Line, Piece, line
from aui_tui.tui.panes.verdict import pillar_label, share_of, stance
from aui_tui.tui.widgets.bars import Bar, KeyBar
from aui_tui.tui.widgets.lines import TextPane
from aui_tui.tui.words import ago


class CompareScreen(Screen[None]):
    """Reads the cards of ``hosts`` one after another and shows those that are there."""

    BINDINGS: ClassVar[list[BindingType]] = [*COMPARE]
    AUTO_FOCUS = "TextPane"

    def __init__(self, context: Context, hosts: tuple[str, ...]) -> None:
        super().__init__()
        self.context = context
        self._hosts = hosts
        self._cards: dict[str, ReportCard] = {}

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        yield Bar(self._title, id="title")
        yield TextPane(id="figures")
        yield KeyBar(id="keys")

    def on_mount(self) -> None:
        """Ask for the cards."""
        self.watch(self.app, "aged", self._aged, init=False)
        start(self, "compare", self._read)

    async def _read(self) -> None:
        for host in self._hosts:
            dossier, problem = await attempt(self.context.service.site(host))
            self.post_message(messages.OtherReady(dossier) if dossier else messages.Notification(problem, "error"))

    def on_other_ready(self, message: messages.OtherReady) -> None:
        """Add a card."""
        self._cards[message.dossier.card.host] = message.dossier.card
        self._draw()

    def _aged(self, _count: int) -> None:
        self._draw()

    def _draw(self) -> None:
        cards = [self._cards[host] for host in self._hosts if host in self._cards]
        now = self.context.clock()
        self.query_one(TextPane).show(lambda size: compare(cards, size, now))

    def _title(self, _size: int) -> Line:
        return line(" ", ("Compare", "title"), "  ", (" · ".join(self._hosts), "muted"))

    def command(self) -> str:
        """Return the shell command that prints the same: the first host against each of the others."""
        first, *others = map(quote, self._hosts)
        return "; ".join(f"aui-tui diff {first} {other}" for other in others)


LABEL: Final = 20
Reader = Callable[[ReportCard], Piece]


def compare(cards: Sequence[ReportCard], size: int, now: float) -> list[Line]:
    """Return the cards side by side in ``size`` cells."""
    label = LABEL if size >= 70 else 15 if size >= 60 else 12
    room = max((size - label - 2) // max(len(cards), 1) - 1, 8)

    def row(name: str, read: Reader) -> Line:
        cells = [read(card) for card in cards]
        differ = len({cell.text for cell in cells}) > 1
        lead = Piece(glyphs.MARK + " " if differ else "  ", "accent")
        columns = [cell._replace(text=fit(cell.text, room) + " ") for cell in cells]
        return (lead, Piece(fit(name, label - 1) + " ", "" if differ else "muted"), *columns)

    out = [row("", lambda card: Piece(card.host, "title"))]
    out += [row(name, read) for name, read in _HEAD]
    out.append(row("Scanned", lambda card: Piece(ago(card.scanned_at, now))))
    out += _section("Pillars", [row(pillar_label(key), _pillar(key)) for key in _once(cards, lambda c: c.pillars)])
    out += _section(
        "Who gets in", [row(labels.surface(key, short=True), _verdict(key)) for key in _once(cards, lambda c: c.matrix)]
    )
    out += _section("Facts", [row(name, read) for name, read in _FACTS])
    out += _section("Fixes", [row(key, _fix(key)) for key in _once(cards, _fix_keys)])
    return [*out, BLANK, line((f"{glyphs.MARK} differs", "muted"))]


def _section(title: str, rows: list[Line]) -> list[Line]:
    return [BLANK, line((title, "title")), *rows] if rows else []


def _once(cards: Sequence[ReportCard], keys: Callable[[ReportCard], Iterable[str]]) -> list[str]:
    return list(dict.fromkeys(key for card in cards for key in keys(card)))


def _fix_keys(card: ReportCard) -> list[str]:
    return [fix.k for fix in card.recommendations]


def _score(card: ReportCard) -> Piece:
    return Piece(glyphs.DASH, "muted") if card.unreachable else Piece(f"{card.score}/100", "strong")


def _grade(card: ReportCard) -> Piece:
    return Piece(glyphs.DASH, "muted") if card.unreachable else Piece(card.grade, glyphs.role_of(card.grade[:1]))


def _stance(card: ReportCard) -> Piece:
    return Piece("unreachable", "warn") if card.unreachable else stance(card.stance)


def _pillar(key: str) -> Reader:
    def read(card: ReportCard) -> Piece:
        if key not in card.pillars:
            return Piece(glyphs.DASH, "muted")
        value = card.pillars[key]
        if value is None:
            return Piece("unmeasured", "muted")
        return Piece(share_of(value, card.pillar_max.get(key)))

    return read


def _verdict(key: str) -> Reader:
    def read(card: ReportCard) -> Piece:
        found = card.matrix.get(key)
        if found is None:
            return Piece(glyphs.DASH, "muted")
        surface = registry().surface(key)
        word = word_of(found, surface.source if surface is not None else "")
        return Piece(f"{glyphs.VERDICT[word]} {word}", glyphs.role_of(word))

    return read


def _fix(key: str) -> Reader:
    def read(card: ReportCard) -> Piece:
        points = next((fix.pts for fix in card.recommendations if fix.k == key), None)
        done = Piece(f"{glyphs.SEVERITY['good']} nothing to do", "good")
        return done if points is None else Piece(f"+{points}", "warn")

    return read


_HEAD: Final[tuple[tuple[str, Reader], ...]] = (
    ("Score", _score),
    ("Grade", _grade),
    ("Stance", _stance),
    ("Method", lambda card: Piece(card.method)),
    ("Category", lambda card: Piece(card.category)),
)
_FACTS: Final[tuple[tuple[str, Reader], ...]] = (
    ("Agents served", lambda card: Piece(f"{card.live_served}/{card.live_total}")),
    ("Agents disallowed", lambda card: Piece(str(card.agents_disallowed))),
    ("Crawlers blocked", lambda card: Piece(str(card.crawlers_blocked))),
    ("Browser", lambda card: Piece(str(card.human_status or "none"))),
    ("robots.txt", lambda card: Piece(str(card.robots_status or "none"))),
    ("Content-Signal", lambda card: Piece("yes" if card.content_signal else "no")),
    ("Readable", lambda card: Piece("no" if card.noscript_shell else "yes")),
    ("JSON-LD", lambda card: Piece(str(card.jsonld))),
    ("Files", lambda card: Piece(", ".join(card.files) or "none")),
    ("Edge", lambda card: Piece(card.edge or "none recognised")),
)

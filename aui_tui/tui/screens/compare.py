"""Two or more hosts side by side."""

from __future__ import annotations

from shlex import quote
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen

from aui_tui.records.card import ReportCard
from aui_tui.tui import messages
from aui_tui.tui.bindings import COMPARE
from aui_tui.tui.context import Context, attempt, start
from aui_tui.tui.draw import Line, line
from aui_tui.tui.panes.compare import compare
from aui_tui.tui.widgets.bars import Bar, KeyBar
from aui_tui.tui.widgets.lines import TextPane


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

    def action_back(self) -> None:
        """Go back to the list."""
        self.dismiss(None)

    def command(self) -> str:
        """Return the shell command that prints the same: the first host against each of the others."""
        first, *others = map(quote, self._hosts)
        return "; ".join(f"aui-tui diff {first} {other}" for other in others)

"""How a score comes about, in words, under either method."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from aui_tui.records.explain import sections
from aui_tui.records.methods import METHODS
from aui_tui.text import fit
from aui_tui.tui.bindings import CLOSE, METHOD
from aui_tui.tui.draw import BLANK, Line, Piece, hang, line, paragraph
from aui_tui.tui.widgets.textpane import TextPane

NAME = 16


class MethodScreen(ModalScreen[None]):
    """Shows the explanation of ``method``; a key turns to the other one."""

    BINDINGS: ClassVar[list[BindingType]] = [*METHOD, *CLOSE]

    def __init__(self, method: str) -> None:
        super().__init__()
        self._method = method

    def compose(self) -> ComposeResult:
        """Lay the text into a window."""
        with Vertical(classes="window") as window:
            window.border_title = Content("Method")
            window.border_subtitle = Content("m other method · esc closes")
            yield TextPane(self.lines)

    def lines(self, size: int) -> list[Line]:
        """Return the explanation laid out to ``size`` cells."""
        out: list[Line] = []
        for section in sections(self._method):
            out.append(line((section.title, "title")))
            for text in section.paragraphs:
                out += paragraph(text, size)
            for name, words in section.rows:
                out += hang((Piece(fit(name, NAME) + " ", "accent"),), words, size)
            out.append(BLANK)
        return [*out, line(("In the shell: ", "muted"), ("aui-tui method " + self._method, "code"))]

    def action_method(self) -> None:
        """Turn to the other method."""
        names = tuple(METHODS)
        self._method = names[(names.index(self._method) + 1) % len(names)]
        self.query_one(TextPane).show(self.lines, top=True)

    def action_close(self) -> None:
        """Go back."""
        self.dismiss(None)

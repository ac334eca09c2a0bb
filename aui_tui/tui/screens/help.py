"""The keys that work where the person is, made from the live bindings, and the command that prints the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from aui_tui.text import fit
from aui_tui.tui.bindings import CLOSE
from aui_tui.tui.draw import BLANK, Line, Piece, hang, line, paragraph
from aui_tui.tui.widgets.textpane import TextPane

KEYS = 14


class HelpScreen(ModalScreen[None]):
    """Shows ``entries`` under their headings; ``command`` is a shell command, or empty."""

    BINDINGS: ClassVar[list[BindingType]] = [*CLOSE]

    def __init__(self, sections: Sequence[tuple[str, Sequence[tuple[str, str]]]], command: str, note: str = "") -> None:
        super().__init__()
        self._sections = sections
        self._command = command
        self._note = note

    def compose(self) -> ComposeResult:
        """Lay the text into a window."""
        with Vertical(classes="window") as window:
            window.border_title = Content("Help")
            window.border_subtitle = Content("esc closes")
            yield TextPane(self.lines)

    def lines(self, size: int) -> list[Line]:
        """Return the text laid out to ``size`` cells."""
        out: list[Line] = []
        if self._note:
            out += [*paragraph(self._note, size), BLANK]
        if self._command:
            out += [
                line(("In the shell, the same:", "muted")),
                *hang((Piece("  "),), self._command, size, "code"),
                BLANK,
            ]
        for title, entries in self._sections:
            out.append(line((title, "title")))
            for keys, words in entries:
                out += hang((Piece(fit(keys, KEYS) + " ", "key"),), words, size)
            out.append(BLANK)
        return out[:-1]

    def action_close(self) -> None:
        """Go back."""
        self.dismiss(None)

"""A small window that asks for an address to scan."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from aui_tui.tui.bindings import CHOOSE


class AskScreen(ModalScreen[str | None]):
    """Answers with what was typed, None when the person leaves."""

    BINDINGS: ClassVar[list[BindingType]] = [*CHOOSE]

    def __init__(self, title: str, hint: str, value: str = "", placeholder: str = "") -> None:
        super().__init__()
        self._title = title
        self._hint = hint
        self._value = value
        self._placeholder = placeholder

    def compose(self) -> ComposeResult:
        """Lay input and hint into a window."""
        with Vertical(classes="window") as window:
            window.border_title = Content(self._title)
            yield Input(self._value, placeholder=self._placeholder, compact=True, max_length=2000)
            yield Static(self._hint, markup=False, classes="hint")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer with the text, or stay while there is none."""
        if event.value.strip():
            self.dismiss(event.value.strip())

    def action_close(self) -> None:
        """Leave without an answer."""
        self.dismiss(None)

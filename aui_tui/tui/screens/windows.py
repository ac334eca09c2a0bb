"""Small windows over a screen: to type a line, to choose from a list, to read."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen, ScreenResultType
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from aui_tui.text import fit
from aui_tui.tui.bindings import CLOSE, bindings
from aui_tui.tui.context import Choices
from aui_tui.tui.rows import Build
from aui_tui.tui.widgets.listing import RowList


class Dialog(ModalScreen[ScreenResultType]):
    """A frame around what ``inside`` yields, with a title above and its keys below."""

    BINDINGS = bindings(CLOSE)
    DEFAULT_CSS = """
    .window { width: 76; max-width: 96%; height: auto; max-height: 90%; background: $surface; border: round $primary;
      border-title-color: $primary; padding: 0 1; }
    ChooseScreen .window, ColumnsScreen .window { width: 46; }
    ChooseScreen.-roomy .window { width: 96; }
    HelpScreen.-wide .window { width: 80%; max-width: 120; }
    .window RowList, .window RowList > .option-list--option-highlighted { background: $surface; }
    .window RowList { height: auto; max-height: 100%; }
    .window Input { border: none; height: 1; background: $panel; padding: 0 1; }
    .window OptionList, .window OptionList:focus { border: none; background: $surface; height: auto; max-height: 16;
      padding: 0; }
    .window .option-list--option-disabled { color: $role-muted; }
    .window Static { height: auto; }
    """
    SCOPED_CSS = False

    def __init__(self, title: str, keys: str = "") -> None:
        super().__init__()
        self._title = title
        self._keys = keys

    def compose(self) -> ComposeResult:
        with Vertical(classes="window") as window:
            window.border_title = Content(self._title)
            window.border_subtitle = Content(self._keys)
            yield from self.inside()

    def inside(self) -> ComposeResult:
        """Yield the widgets."""
        raise NotImplementedError

    def action_close(self) -> None:
        self.dismiss(None)


class AskScreen(Dialog[str | None]):
    """Answers with what was typed, None when the user leaves."""

    def __init__(
        self,
        title: str,
        hint: str,
        value: str = "",
        placeholder: str = "",
        *,
        problem: str = "",
        doubt: Callable[[str], str] | None = None,
    ) -> None:
        """``problem``: what was wrong with ``value``, shown in the place of the hint.

        ``doubt`` returns a warning about a text, empty for none; the same text entered a second time is accepted.
        """
        super().__init__(title)
        self._hint = hint
        self._value = value
        self._placeholder = placeholder
        self._problem = problem
        self._doubt = doubt
        self._doubted = ""

    def inside(self) -> ComposeResult:
        yield Input(self._value, placeholder=self._placeholder, compact=True, max_length=2000, select_on_focus=False)
        classes = "hint error" if self._problem else "hint"
        yield Static(self._problem or self._hint, markup=False, classes=classes)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer with the text; stay open when it is empty, or to show a doubt for the first time."""
        text, hint = event.value.strip(), self.query_one(".hint", Static)
        doubt = self._doubt(text) if self._doubt is not None and text and text != self._doubted else ""
        if doubt:
            self._doubted = text
            hint.update(Content(doubt))
            hint.add_class("error")
        elif text:
            self.dismiss(text)
        else:
            words = f"Nothing was typed. {self._hint}"
            hint.update(Content(words))


class ChooseScreen(Dialog[str | None]):
    """Answers with the chosen value, None when the user leaves without choosing.

    ``question`` stands above the choices, ``hint`` below; ``try_out`` is given each value that the cursor comes to.
    """

    def __init__(
        self,
        title: str,
        choices: Choices,
        current: str = "",
        *,
        question: str = "",
        hint: str = "",
        wide: bool = False,
        try_out: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__(title)
        self.values = [*choices]
        self._options_shown = choices.values()
        self.set_class(wide, "-roomy")
        self._current = current
        self._question = question
        self._hint = hint
        self._try_out = try_out

    def inside(self) -> ComposeResult:
        if self._question:
            yield Static(self._question, markup=False)
        yield OptionList(*map(_option, self._options_shown), markup=False)
        if self._hint:
            yield Static(self._hint, markup=False, classes="hint")

    def on_mount(self) -> None:
        index = self.values.index(self._current) if self._current in self.values else 0
        self.query_one(OptionList).highlighted = index

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if self._try_out is not None:
            self._try_out(self.values[event.option_index])

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self.values[event.option_index])


def _option(choice: str | tuple[str, str]) -> Option:
    """Return one line of the list: its text, and at its right end a figure or word; with ``0`` it cannot be chosen."""
    words, note = choice if isinstance(choice, tuple) else (choice, "")
    return Option(Content(fit(words, 28) + note.rjust(10) if note else words), disabled=note == "0")


class ReadScreen(Dialog[None]):
    """Shows rows of text, which ``build`` makes for a width."""

    def __init__(self, title: str, build: Build, keys: str = "esc closes") -> None:
        super().__init__(title, keys)
        self._build_text = build

    def inside(self) -> ComposeResult:
        yield RowList(self._build_text)

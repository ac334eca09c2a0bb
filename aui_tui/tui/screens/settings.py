"""Windows of what is remembered: the settings, every key with its id, columns, saved lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Final

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from aui_tui.text import fit
from aui_tui.tui import glyphs
from aui_tui.tui.bindings import CHOOSE, CHOOSE_MANY, TABLES, VIEWS, written
from aui_tui.tui.columns import every_column
from aui_tui.tui.context import Context
from aui_tui.tui.preferences import SETTINGS
from aui_tui.tui.screens.windows import Choice, ChooseScreen

NAME: Final = 18
ROW: Final = 70
"""Cells of a line of the window."""
UNBINDABLE: Final = frozenset({"escape", "enter", "ctrl+c"})
"""Keys that leave and choose everywhere."""


class SettingsScreen(ChooseScreen):
    """Answers with the setting to change."""

    def __init__(self, context: Context, theme: str) -> None:
        kept = context.preferences
        yes = {True: "yes", False: "no"}
        notes = [
            theme,
            yes[kept.ascii],
            yes[kept.mouse],
            str(len(kept.columns)) if kept.columns else "usual",
            str(len(kept.keys)) + " own" if kept.keys else "usual",
            str(len(kept.views)),
        ]
        choices = [Choice(name, words, note) for (name, words), note in zip(SETTINGS.items(), notes, strict=True)]
        super().__init__("Settings", choices)
        self._path = kept.path if kept.write is not None else ""

    def on_mount(self) -> None:
        """Say where they are remembered."""
        super().on_mount()
        where = "Remembered in " + self._path if self._path else "Nothing is remembered here."
        self.query_one(".window").mount(Static(where, markup=False, classes="hint"))


class KeyListScreen(ModalScreen[str | None]):
    """Shows every id with its keys and what it does; answers with the id to give another key."""

    BINDINGS: ClassVar[list[BindingType]] = [*CHOOSE]

    def __init__(self, own: Mapping[str, str]) -> None:
        super().__init__()
        self._own = own
        self._entries = keys_by_id(own)
        self._shown = list(self._entries)

    def compose(self) -> ComposeResult:
        """Lay the list into a window, a line to search it above."""
        with Vertical(classes="window") as window:
            window.border_title = Content("Keys")
            window.border_subtitle = Content("type to search · enter gives another key · esc closes")
            yield Input(placeholder="an id, a key or a word", compact=True, max_length=60)
            yield OptionList(markup=False)

    def on_mount(self) -> None:
        """Show all."""
        self._fill("")

    def _fill(self, words: str) -> None:
        listed = self.query_one(OptionList)
        listed.clear_options()
        wanted = words.lower()
        self._shown = [name for name, row in self._entries.items() if wanted in (name + " " + row).lower()]
        for name in self._shown:
            sign = "▪ " if name in self._own else "  "
            listed.add_option(Option(Content(fit(sign + fit(name, NAME) + " " + self._entries[name], ROW))))
        listed.highlighted = 0 if self._shown else None

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search as the user types."""
        self._fill(event.value.strip())

    def on_input_submitted(self) -> None:
        """Choose the line under the cursor."""
        here = self.query_one(OptionList).highlighted
        if here is not None:
            self.dismiss(self._shown[here])

    def on_key(self, event: events.Key) -> None:
        """Move the cursor from the line of input."""
        listed = self.query_one(OptionList)
        if event.key in ("up", "down") and not listed.has_focus:
            event.stop()
            (listed.action_cursor_up if event.key == "up" else listed.action_cursor_down)()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Choose a line that was clicked."""
        self.dismiss(self._shown[event.option_index])

    def action_close(self) -> None:
        """Leave."""
        self.dismiss(None)


def keys_by_id(own: Mapping[str, str]) -> dict[str, str]:
    """Return keys, place and meaning of every id in one line."""
    found: dict[str, tuple[str, list[str], str]] = {}
    for place, table in TABLES.items():
        for binding in table:
            name = binding.id or ""
            keys = " ".join(written(key) for key in own.get(name, binding.key).split(","))
            places = found.setdefault(name, (keys, [], binding.tooltip or binding.description))[1]
            if place not in places:
                places.append(place)
    return {
        name: fit(keys, 12) + " " + fit(", ".join(places), 14) + " " + words
        for name, (keys, places, words) in found.items()
    }


class KeyQuestion(ModalScreen[str | None]):
    """Answers with the key that is pressed, an empty text for the usual one; ``problem`` says what is wrong with it."""

    def __init__(self, name: str, problem: Callable[[str], str]) -> None:
        super().__init__()
        self._asked = name
        self._problem = problem

    def compose(self) -> ComposeResult:
        """Lay question and answer into a window."""
        with Vertical(classes="window") as window:
            window.border_title = Content("New key for " + self._asked)
            yield Static("Press the key. esc leaves, backspace brings the usual one back.", markup=False)
            yield Static("", markup=False, classes="hint", id="problem")

    def on_key(self, event: events.Key) -> None:
        """Take the key, or say which action has it."""
        event.stop()
        event.prevent_default()
        if event.key == "escape":
            self.dismiss(None)
        elif event.key == "backspace":
            self.dismiss("")
        else:
            reserved = "enter opens and chooses everywhere." if event.key in UNBINDABLE else ""
            problem = reserved or self._problem(event.key)
            if problem:
                self.query_one("#problem", Static).update(Content(problem))
                self.query_one("#problem").add_class("error")
            else:
                self.dismiss(event.key)


class ColumnsScreen(ModalScreen[tuple[str, ...] | None]):
    """Answers with the keys of the columns that are marked, in their order; none for the usual ones."""

    BINDINGS: ClassVar[list[BindingType]] = [*CHOOSE_MANY]

    def __init__(self, chosen: Sequence[str]) -> None:
        super().__init__()
        self._columns = every_column()
        self._marked = set(chosen)

    def compose(self) -> ComposeResult:
        """Lay the columns into a window."""
        with Vertical(classes="window") as window:
            window.border_title = Content("Columns")
            window.border_subtitle = Content("space marks · enter shows them")
            window.styles.width = 46
            yield OptionList(*(Option(self._prompt(number)) for number in range(len(self._columns))), markup=False)
            yield Static("None marked: the usual ones, as far as they fit.", markup=False, classes="hint")

    def _prompt(self, number: int) -> Content:
        column = self._columns[number]
        mark = glyphs.MARK if column.key in self._marked else " "
        return Content(mark + " " + fit(column.label or column.key, 18) + column.key)

    def action_mark(self) -> None:
        """Mark the column under the cursor, or no longer, and go on to the next."""
        listed = self.query_one(OptionList)
        here = listed.highlighted
        if here is not None:
            self._marked ^= {self._columns[here].key}
            listed.replace_option_prompt_at_index(here, self._prompt(here))
            listed.highlighted = min(here + 1, len(self._columns) - 1)

    def action_accept(self) -> None:
        """Answer."""
        self.dismiss(tuple(column.key for column in self._columns if column.key in self._marked))

    def action_close(self) -> None:
        """Leave without an answer."""
        self.dismiss(None)


class ViewsScreen(ModalScreen[str | None]):
    """Answers with the name of a saved list, a new name, or ``-`` and the name of one to forget."""

    BINDINGS: ClassVar[list[BindingType]] = [*VIEWS]

    def __init__(self, views: Mapping[str, Mapping[str, str]]) -> None:
        super().__init__()
        self._views = views
        self._shown = list(views)

    def compose(self) -> ComposeResult:
        """Lay a line for a name and the saved lists into a window."""
        with Vertical(classes="window") as window:
            window.border_title = Content("Saved lists")
            window.border_subtitle = Content("enter shows it, or saves this list under a new name")
            yield Input(placeholder="a name", compact=True, max_length=60)
            yield OptionList(markup=False)

    def on_mount(self) -> None:
        """Show all, the newest first."""
        self._fill("")

    def _fill(self, words: str) -> None:
        listed = self.query_one(OptionList)
        listed.clear_options()
        self._shown = [name for name in self._views if words.lower() in name.lower()]
        for name in self._shown:
            view = self._views[name]
            facts = " · ".join(
                part for part in (view.get("query", ""), view.get("sort", ""), view.get("show", "")) if part
            )
            listed.add_option(Option(Content(fit(name, 24) + "  " + fit(facts, 44))))
        listed.highlighted = 0 if self._shown else None

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show the names that have what is typed."""
        self._fill(event.value.strip())

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer with the typed name; without one, with the list under the cursor."""
        typed = event.value.strip()
        here = self.query_one(OptionList).highlighted
        if typed:
            self.dismiss(typed.lstrip("-") or None)
        elif here is not None:
            self.dismiss(self._shown[here])

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Answer with the list that was clicked."""
        self.dismiss(self._shown[event.option_index])

    def action_move(self, step: int) -> None:
        """Move the cursor from the line of input."""
        listed = self.query_one(OptionList)
        (listed.action_cursor_up if step < 0 else listed.action_cursor_down)()

    def action_forget(self) -> None:
        """Forget the list under the cursor."""
        here = self.query_one(OptionList).highlighted
        if here is not None:
            self.dismiss("-" + self._shown[here])

    def action_close(self) -> None:
        """Leave."""
        self.dismiss(None)

"""Windows of what is remembered: the settings, every key with its id, columns, saved lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from aui_tui.text import fit
from aui_tui.tui import glyphs
from aui_tui.tui.bindings import CHOOSE_MANY, SEARCH, SETTINGS, TABLES, VIEWS, written
from aui_tui.tui.columns import every_column
from aui_tui.tui.context import SETTINGS as NAMES
from aui_tui.tui.context import Context
from aui_tui.tui.rows import Entry, blank, paragraph, text
from aui_tui.tui.screens.windows import Choice, ChooseScreen, ReadScreen, Window

NAME: Final = 18


class SettingsScreen(ChooseScreen):
    """Answers with the setting to change, the one under the cursor or the one with the digit that is pressed."""

    BINDINGS: ClassVar[list[BindingType]] = [*SETTINGS]

    def __init__(self, context: Context, theme: str) -> None:
        kept = context.preferences
        yes = {True: "yes", False: "no"}
        notes = [
            theme,
            yes[kept.ascii],
            yes[kept.mouse],
            f"{len(kept.columns)}" if kept.columns else "usual",
            f"{len(kept.keys)} own" if kept.keys else "usual",
            f"{len(kept.views)}",
        ]
        named = zip(NAMES.items(), notes, strict=True)
        choices = [Choice(name, f"{n} {words}", note) for n, ((name, words), note) in enumerate(named, 1)]
        super().__init__("Settings", choices)
        self._path = kept.path if kept.write is not None else ""

    def on_mount(self) -> None:
        """Say where they are remembered."""
        super().on_mount()
        where = f"Remembered in {self._path}" if self._path else "Nothing is remembered here."
        self.query_one(".window").mount(Static(where, markup=False, classes="hint"))

    def action_take(self, number: int) -> None:
        """Change the setting of that number, from 1 on."""
        self.dismiss(self.choices[number - 1].value)


class SearchScreen(Window[str | None]):
    """A list of names with a line of input above that narrows it; answers with the name under the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [*SEARCH]

    def __init__(self, title: str, keys: str, placeholder: str) -> None:
        super().__init__(title, keys)
        self._placeholder = placeholder
        self._shown: list[str] = []

    def inside(self) -> ComposeResult:
        """Yield line and list."""
        yield Input(placeholder=self._placeholder, compact=True, max_length=60)
        yield OptionList(markup=False)

    def rows(self, words: str) -> dict[str, str]:
        """Return the names that have ``words`` in lower case, each with its line."""
        raise NotImplementedError

    def on_mount(self) -> None:
        """Show all."""
        self._fill("")

    def _fill(self, words: str) -> None:
        listed, rows = self.query_one(OptionList), self.rows(words.lower())
        listed.clear_options()
        listed.add_options(Option(Content(row)) for row in rows.values())
        self._shown = list(rows)
        listed.highlighted = 0 if rows else None

    @property
    def here(self) -> str | None:
        """The name under the cursor, None in an empty list."""
        place = self.query_one(OptionList).highlighted
        return None if place is None else self._shown[place]

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search as the user types."""
        self._fill(event.value.strip())

    def answer(self, typed: str) -> str | None:
        """Return what enter answers with: the name under the cursor."""
        return self.here

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer, if there is an answer."""
        found = self.answer(event.value.strip())
        if found:
            self.dismiss(found)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Answer with the name that was clicked."""
        self.dismiss(self._shown[event.option_index])

    def action_move(self, step: int) -> None:
        """Move the cursor from the line of input."""
        listed = self.query_one(OptionList)
        (listed.action_cursor_up if step < 0 else listed.action_cursor_down)()


def keys_window(own: Mapping[str, str], path: str) -> ReadScreen:
    """Return a window with every key, the name that the settings file gives it, and what it does."""
    entries = keys_by_id(own)
    where = f'To change one, write its name under [keys] in {path}, such as scan = "n".' if path else ""

    def rows(size: int) -> list[Entry]:
        named = ((glyphs.MARK if name in own else " ", name, row) for name, row in entries)
        keys = [Entry(text(fit(f"{mark} {fit(name, NAME)} {row}", size))) for mark, name, row in named]
        return [paragraph(where, size, "muted"), blank(), *keys]

    return ReadScreen("Keys", rows)


def keys_by_id(own: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return keys, place and meaning of every id in one line."""
    found: dict[str, tuple[str, list[str], str]] = {}
    for place, table in TABLES.items():
        for binding in table:
            name = binding.id or ""
            keys = " ".join(written(key) for key in own.get(name, binding.key).split(","))
            places = found.setdefault(name, (keys, [], binding.tooltip or binding.description))[1]
            if place not in places:
                places.append(place)
    return [
        (name, f"{fit(keys, 12)} {fit(', '.join(places), 14)} {words}") for name, (keys, places, words) in found.items()
    ]


class ColumnsScreen(Window[tuple[str, ...] | None]):
    """Answers with the keys of the columns that are marked, in their order; none for the usual ones."""

    BINDINGS: ClassVar[list[BindingType]] = [*CHOOSE_MANY]

    def __init__(self, chosen: Sequence[str]) -> None:
        super().__init__("Columns", "space marks · enter shows them")
        self._columns = every_column()
        self._marked = set(chosen)

    def inside(self) -> ComposeResult:
        """Yield the columns."""
        yield OptionList(*(Option(self._prompt(number)) for number in range(len(self._columns))), markup=False)
        yield Static("Nothing ticked: chosen by width.", markup=False, classes="hint")

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


class ViewsScreen(SearchScreen):
    """Answers with the name of a saved list, a new name, or ``-`` and the name of one to forget."""

    BINDINGS: ClassVar[list[BindingType]] = [*VIEWS]

    def __init__(self, views: Mapping[str, Mapping[str, str]]) -> None:
        super().__init__("Saved lists", "enter shows it, or saves this list under a new name", "a name")
        self._views = views

    def rows(self, words: str) -> dict[str, str]:
        """Return the names that have the words, the newest first."""
        return {
            name: fit(name, 24) + "  " + fit(" · ".join(filter(None, map(view.get, ("query", "sort", "show")))), 44)
            for name, view in self._views.items()
            if words in name.lower()
        }

    def answer(self, typed: str) -> str | None:
        """Return the typed name; without one, the list under the cursor."""
        return typed.lstrip("-") if typed else self.here

    def action_forget(self) -> None:
        """Forget the list under the cursor."""
        if self.here is not None:
            self.dismiss(f"-{self.here}")

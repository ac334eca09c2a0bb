"""Windows of what is remembered: the settings, every key with its id, columns, saved lists, and what was done."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final, cast

from textual.app import ComposeResult, SuspendNotSupported
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from aui_tui.errors import AuiError
from aui_tui.text import fit
from aui_tui.tui import glyphs
from aui_tui.tui.bindings import CHOOSE_MANY, SETTINGS, TABLES, VIEWS, bindings, written
from aui_tui.tui.columns import every_column
from aui_tui.tui.context import sentence
from aui_tui.tui.dashboard import Dashboard
from aui_tui.tui.rows import ListEntry, blank, entry, hang, paragraph, title
from aui_tui.tui.screens.help import HelpScreen, MethodScreen
from aui_tui.tui.screens.windows import ChooseScreen, Dialog, ReadScreen
from aui_tui.tui.state import CardState, ListState, list_of
from aui_tui.tui.widgets.listing import RowList

NAME: Final = 18
NOWHERE: Final = "Nothing is remembered here."


class SettingsScreen(ReadScreen):
    """Every setting with its value, its place and its meaning; those with a window of their own open it."""

    BINDINGS = bindings(SETTINGS)
    DEFAULT_CSS = "SettingsScreen .window { width: 116; } SettingsScreen .window RowList:focus { max-height: 100%; }"

    def __init__(self, app: Dashboard) -> None:
        self._path, self._settings = app.context.preferences.path, app.context.preferences.settings()
        super().__init__("Settings", self._rows, "enter changes it · e edits the file · esc closes")

    def _rows(self, size: int) -> list[ListEntry]:
        out = [paragraph(f"Remembered in {self._path}" if self._path else NOWHERE, size, "muted")]
        for name, setting in self._settings.items():
            where = "file" if setting.origin == self._path else setting.origin
            words = f"{setting.words or '(none)'} ({where}): {setting.meaning}"
            role = "" if where == "default" else "strong"
            out.append(entry(hang(f"{fit(name, NAME)} ", words, size, role), key=name))
        return out

    def on_row_list_chosen(self, message: RowList.Chosen) -> None:
        if message.key:
            self.dismiss()
            change_setting(cast("Dashboard", self.app), message.key)

    def action_edit(self) -> None:
        self.dismiss()
        edit_settings(cast("Dashboard", self.app))


def show_settings(app: Dashboard) -> None:
    """Show every setting, or where the file is wrong."""
    try:
        app.push_screen(SettingsScreen(app))
    except AuiError as error:
        app.notice(sentence(error), "error")


def change_setting(app: Dashboard, name: str) -> None:
    """Open the window of the setting called ``name``, else the settings file in the user's editor."""
    own_windows = {"theme": show_themes, "columns": show_columns, "keys": show_keys, "views": show_views}
    own_windows.get(name, edit_settings)(app)


def edit_settings(app: Dashboard) -> None:
    """Open the settings file in the user's editor, and say when it is not right afterwards."""
    preferences, editor = app.context.preferences, os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    if not preferences.path or not editor:
        words = (
            f"The variable EDITOR names no editor; the settings are in {preferences.path}."
            if preferences.path
            else NOWHERE
        )
        app.notice(words, "warning")
        return
    try:
        Path(preferences.path).parent.mkdir(parents=True, exist_ok=True)
        with app.suspend():
            subprocess.run([*shlex.split(editor), preferences.path], check=False)  # noqa: S603 (the user's own editor)
    except SuspendNotSupported:
        app.notice(f"An editor needs a terminal; the settings are in {preferences.path}.", "warning")
    except (OSError, ValueError) as error:
        app.notice(f"The editor {editor} cannot be started: {error}.", "error")
    else:
        try:
            preferences.settings()
        except AuiError as error:
            app.notice(sentence(error), "error")
        else:
            app.notice(f"What {preferences.path} says holds from the next start.")


def show_themes(app: Dashboard) -> None:
    """Choose a theme; the screen shows each as you go."""
    choices = {name: name for name in sorted(app.available_themes)}
    app.push_screen(ChooseScreen("Theme", choices, app.theme, try_out=partial(setattr, app, "theme")), app.choose_theme)


def show_keys(app: Dashboard) -> None:
    """Show every key, the name that the settings file gives it, and what it does."""
    own, path = app.context.preferences.keys, app.context.preferences.path
    where = f'To change one, write its name under [keys] in {path}, such as scan = "n".' if path else ""

    def rows(size: int) -> list[ListEntry]:
        out = [paragraph(where, size, "muted")]
        for place, table in TABLES.items():
            out += [blank(), title(place.capitalize())]
            for row in table:
                keys = " ".join(written(key) for key in own.get(row.id, row.key).split(","))
                mark = glyphs.MARK if row.id in own else " "
                out.append(paragraph(row.tooltip, size, head=f"{mark} {fit(row.id, NAME)} {fit(keys, 12)} "))
        return out

    app.push_screen(ReadScreen("Keys", rows))


class ColumnsScreen(Dialog[tuple[str, ...] | None]):
    """Answers with the keys of the columns that are marked, in their order; none for the usual ones."""

    BINDINGS = bindings(CHOOSE_MANY)

    def __init__(self, chosen: Sequence[str]) -> None:
        super().__init__("Columns", "space marks · enter shows them")
        self._columns = every_column()
        self._marked = set(chosen)

    def inside(self) -> ComposeResult:
        yield OptionList(*(Option(self._prompt(number)) for number in range(len(self._columns))), markup=False)
        yield Static("Nothing ticked: chosen by width.", markup=False, classes="hint")

    def _prompt(self, number: int) -> Content:
        column = self._columns[number]
        mark = glyphs.MARK if column.key in self._marked else " "
        return Content(mark + " " + fit(column.label or column.key, 18) + column.key)

    def action_mark(self) -> None:
        listed = self.query_one(OptionList)
        index = listed.highlighted
        if index is not None:
            self._marked ^= {self._columns[index].key}
            listed.replace_option_prompt_at_index(index, self._prompt(index))
            listed.highlighted = min(index + 1, len(self._columns) - 1)

    def action_accept(self) -> None:
        self.dismiss(tuple(column.key for column in self._columns if column.key in self._marked))


def show_columns(app: Dashboard) -> None:
    """Choose the columns of the list."""

    def choose(chosen: tuple[str, ...] | None) -> None:
        if chosen is not None:
            app.context.preferences.columns = chosen
            app.stored += 1
            shown = ", ".join(chosen) or "chosen by width"
            app.remember("columns", value=list(chosen) or None, what=f"Columns: {shown}.")

    app.push_screen(ColumnsScreen(app.context.preferences.columns), choose)


class ViewsScreen(ChooseScreen):
    """Answers with the name of a saved list, ``+`` to save the one on show, or ``-`` and the name of one to forget."""

    BINDINGS = bindings(VIEWS)

    def action_forget(self) -> None:
        place = self.query_one(OptionList).highlighted
        if place is not None and self.values[place] != "+":
            self.dismiss(f"-{self.values[place]}")


def show_views(app: Dashboard) -> None:
    """Show a saved list, or save this one."""
    views = app.context.preferences.views
    if not views:
        choose_view(app, "+")
        return
    descriptions = {
        name: " · ".join(filter(None, map(view.get, ("query", "sort", "show")))) for name, view in views.items()
    }
    choices = {name: f"{fit(name, 24)}  {what}" for name, what in descriptions.items()}
    choices["+"] = "Save this list under a name …"
    window = ViewsScreen("Saved lists", choices, hint="enter shows it · del forgets it", wide=True)
    app.push_screen(window, lambda name: choose_view(app, name))


def choose_view(app: Dashboard, name: str | None) -> None:
    """Show the list called ``name``, ask for a name for the one on show (``+``), or forget one (``-`` and its name)."""
    if not name:
        return
    views = app.context.preferences.views
    if name.startswith("-") and name[1:] in views:
        del views[name[1:]]
        app.remember("views", name[1:], value=None, what=f"List {name[1:]} forgotten.")
    elif name in views:
        try:
            state = list_of(views[name])
        except AuiError as error:
            app.notice(sentence(error), "error")
        else:
            app.show_list(state)
    elif isinstance(getattr(app.screen, "state", None), ListState):
        words = "A name keeps the list on show; V and enter bring it back."
        app.ask("Saved lists", words, partial(save_view, app), example="a name")
    else:
        app.notice("Only a list can be saved; esc goes back to it.", "warning")


def save_view(app: Dashboard, name: str) -> None:
    """Save the list on show under ``name``, in the place of another of that name."""
    state, name = getattr(app.screen, "state", None), name.lstrip("+-").strip()[:60]
    if name and isinstance(state, ListState):
        preferences = app.context.preferences
        preferences.views = {name: state.saved(), **{k: v for k, v in preferences.views.items() if k != name}}
        app.remember("views", name, value=state.saved(), what=f"List {name} saved.")


def show_log(app: Dashboard) -> None:
    """Show what was done here; the chosen command line is copied."""
    if not app.actions:
        app.notice("Nothing was done yet. Scans, exports, lists and cards are kept here with their commands.")
        return
    choices = {done.command: f"{done.at}  {done.command}" for done in reversed(app.actions)}
    title = "Actions: enter copies the command line"
    app.choose(title, choices, lambda command: app.copy(command, "the command line"), wide=True)


def show_method(app: Dashboard) -> None:
    """Explain the method of the card on show, else the usual one."""
    state = getattr(app.screen, "state", None)
    report = state.report if isinstance(state, CardState) else None
    app.push_screen(MethodScreen(report.card.method if report is not None else ""))


WINDOWS: Final[dict[str, Callable[[Dashboard], object]]] = {
    "help": lambda app: app.push_screen(HelpScreen(app.screen)),
    "method": show_method,
    "settings": show_settings,
    "theme": show_themes,
    "columns": show_columns,
    "views": show_views,
    "log": show_log,
}
"""What opens each window that a key asks for by name."""

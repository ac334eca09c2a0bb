"""Everything that opens over the index, imported when it is first opened: the first paint waits for none of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from textual.screen import Screen

from aui_tui.records.methods import DEFAULT_METHOD, METHODS
from aui_tui.records.query import Query
from aui_tui.records.view import Facets, ScanAnswer, Window
from aui_tui.tui.context import Context
from aui_tui.tui.scans import Scan

if TYPE_CHECKING:
    from aui_tui.tui.columns import Column
    from aui_tui.tui.screens.card import CardScreen
    from aui_tui.tui.screens.compare import CompareScreen
    from aui_tui.tui.screens.overview import OverviewScreen
    from aui_tui.tui.screens.windows import (
        AddressScreen,
        AskScreen,
        ChooseScreen,
        HelpScreen,
        MethodScreen,
        ThemeScreen,
    )


DEMO: Final = -1
"""Result of an application that was left for the demo."""
COMPARED: Final = 5
"""Hosts that are compared at most."""


def card(context: Context, host: str, window: Window | None = None, index: int = 0, filters: str = "") -> CardScreen:
    """Return the report card of ``host``, opened from place ``index`` of ``window`` when there is one."""
    from aui_tui.tui.screens.card import CardScreen

    return CardScreen(context, host, window, index, filters)


def compare(context: Context, hosts: Sequence[str]) -> CompareScreen:
    """Return the first few of ``hosts`` side by side."""
    from aui_tui.tui.screens.compare import CompareScreen

    return CompareScreen(context, tuple(hosts[:COMPARED]))


def overview(context: Context, query: Query) -> OverviewScreen:
    """Return the figures over ``query``."""
    from aui_tui.tui.screens.overview import OverviewScreen

    return OverviewScreen(context, query)


def ask(title: str, hint: str, value: str = "", placeholder: str = "") -> AskScreen:
    """Return a window that asks for a line of text."""
    from aui_tui.tui.screens.windows import AskScreen

    return AskScreen(title, hint, value, placeholder)


def ask_address(text: str = "", problem: str = "") -> AddressScreen:
    """Return a window that asks for an address to scan."""
    from aui_tui.tui.screens.windows import AddressScreen

    return AddressScreen(text, problem)


def confirm(title: str, yes: str, no: str) -> ChooseScreen:
    """Return a window that answers ``yes`` or an empty string."""
    from aui_tui.tui.screens.windows import Choice, ChooseScreen

    return ChooseScreen(title, [Choice("yes", yes), Choice("", no)])


def settings(context: Context, theme: str) -> Screen[str | None]:
    """Return a window with the settings."""
    from aui_tui.tui.screens.settings import SettingsScreen

    return SettingsScreen(context, theme)


def columns(chosen: Sequence[str]) -> Screen[tuple[str, ...] | None]:
    """Return a window with every column of the list."""
    from aui_tui.tui.screens.settings import ColumnsScreen

    return ColumnsScreen(chosen)


def views(saved: Mapping[str, Mapping[str, str]]) -> Screen[str | None]:
    """Return a window with the saved lists."""
    from aui_tui.tui.screens.settings import ViewsScreen

    return ViewsScreen(saved)


def key_list(own: Mapping[str, str]) -> Screen[str | None]:
    """Return a window with every key and its id."""
    from aui_tui.tui.screens.settings import KeyListScreen

    return KeyListScreen(own)


def key_question(name: str, problem: Callable[[str], str]) -> Screen[str | None]:
    """Return a window that asks for another key of ``name``."""
    from aui_tui.tui.screens.settings import KeyQuestion

    return KeyQuestion(name, problem)


def histogram(context: Context, query: Query, column: Column) -> Screen[Query | None]:
    """Return a window that counts the values of ``column``."""
    from aui_tui.tui.screens.histogram import HistogramScreen

    return HistogramScreen(context, query, column)


def categories(facets: Facets, current: str) -> ChooseScreen:
    """Return a window with the categories and the hosts that each would give."""
    from aui_tui.tui.screens.windows import ChooseScreen, category_choices

    return ChooseScreen("Category", category_choices(facets), current)


def help_for(screen: Screen[Any]) -> HelpScreen:
    """Return the keys that work on ``screen``, what it shows, and the command that prints the same."""
    from aui_tui.tui.screens.windows import HelpScreen, help_sections, note_of

    command = getattr(screen, "command", None)
    pane = getattr(getattr(screen, "state", None), "pane", 0)
    shell = command() if callable(command) else ""
    return HelpScreen(help_sections(screen), shell, note_of(type(screen).__name__, pane))


def method(name: str) -> MethodScreen:
    """Return the explanation of a method; of the usual one for a name that is unknown."""
    from aui_tui.tui.screens.windows import MethodScreen

    return MethodScreen(name if name in METHODS else DEFAULT_METHOD)


def theme_list(names: Sequence[str], current: str) -> ThemeScreen:
    """Return a window with the themes."""
    from aui_tui.tui.screens.windows import ThemeScreen

    return ThemeScreen(list(names), current)


def keys(keymap: Mapping[str, str]) -> dict[str, str]:
    """Return the user's own keys, checked. Raises ConfigError."""
    if not keymap:
        return {}
    from aui_tui.tui.bindings import checked

    return checked(keymap)


def ended_words(scan: Scan, answer: ScanAnswer | None, error: str) -> tuple[str, str]:
    """Return the state in which a scan ended and one sentence on it."""
    from aui_tui.tui.screens import windows as texts

    return texts.ended_words(scan, answer, error)

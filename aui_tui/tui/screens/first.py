"""The first screen of an empty index: an address to type at once, and the other ways to a first list."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property, partial
from typing import Final

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from aui_tui.model.quota import Quota
from aui_tui.model.report import HostReport
from aui_tui.text import fit, web_address
from aui_tui.tui.bindings import ADDRESS, FIRST, bindings
from aui_tui.tui.context import DEMO, attempt, start
from aui_tui.tui.dashboard import DashboardScreen
from aui_tui.tui.rows import term, text
from aui_tui.tui.widgets.bars import Bar

QUESTION: Final = "Can AI assistants get into your site?"
PROMISE: Final = "Two seconds, about ten requests for public pages. No form is sent."
EXAMPLES: Final = "example.com, localhost:8000, 10.0.0.7, https://staging.shop.example"


KEYS: Final = (
    ("enter", "Scan"),
    ("↑↓", "Choose"),
    ("ctrl+p", "Commands"),
    ("esc, then ,", "Settings"),
    ("?", "Help"),
    ("q", "Quit"),
)


def keys_line() -> Content:
    """Return the keys that work here."""
    return text(" ", *(part for key, words in KEYS for part in ((key, "key"), f" {words}  ")))


class AddressInput(Input):
    """An address to scan."""

    BINDINGS = bindings(ADDRESS)

    def action_away(self, step: int) -> None:
        if self.screen.query(OptionList):
            self.screen.query_one(OptionList).focus()


class FirstScreen(DashboardScreen[None]):
    """Lies over an empty list until something fills it."""

    BINDINGS = bindings(FIRST)
    SCANS = True
    AUTO_FOCUS = "AddressInput"
    DEFAULT_CSS = """
    #first { height: 1fr; padding: 2 3; }
    #first #question { text-style: bold; padding: 0 2; height: auto; }
    #first .hint { padding: 0 2; height: auto; }
    #first Input { border: round $primary; height: 3; margin: 1 0 0 0; padding: 0 1; background: $background; }
    #first #doors { border: none; background: $background; height: auto; margin: 1 0 0 0; padding: 0 2; }
    .-tiny #first { padding: 0 1; }
    """
    SCOPED_CSS = False

    @cached_property
    def _doors(self) -> list[tuple[str, str, Callable[[], object]]]:
        """The other ways to a first list: name, words and what opens it."""
        starter = self.context.starter
        if starter is None:
            return []
        demo, sites = "32 small sites on this machine, 15 s, no network", "6 minutes, in the background"
        return [
            ("The demo", demo, partial(self.app.exit, DEMO)),
            ("Known sites", f"{starter.total} public sites, {sites}", partial(self.app.fill_from, starter)),
            ("Another index", "one that somebody publishes: its address", self._ask_source),
        ]

    def compose(self) -> ComposeResult:
        yield Bar(lambda _size: text(" ", ("AUI", "title"), "  Agentic Usability Index"), id="title")
        with Vertical(id="first"):
            yield Static(QUESTION, markup=False, id="question")
            yield Static(PROMISE, markup=False, classes="hint")
            field = AddressInput(id="address", max_length=2000, select_on_focus=False)
            field.border_title = Content("Its address")
            field.border_subtitle = Content("enter scans")
            yield field
            yield Static(" ", markup=False, classes="hint", id="about")
            named = (Option(Content(fit(name, 18) + words)) for name, words, _ in self._doors)
            yield OptionList(*named, markup=False, id="doors")
        yield Bar(self._foot, id="foot")
        yield Bar(lambda _size: keys_line(), id="keys")

    def on_mount(self) -> None:
        self.watch(self.app, "quota", self._quota)
        self.watch(self.app, "fed", self._fed, init=False)
        self.query_one("#doors").display = bool(self._doors)

    def _fed(self, count: int) -> None:
        """Make room for the list that is being filled."""
        if count >= 0 and self.is_current:
            self.dismiss()

    def _quota(self, _quota: Quota | None) -> None:
        self._follow(self.query_one(AddressInput).value)

    def _follow(self, address: str) -> None:
        """Say what scanning ``address`` would be: a host of this machine, or one of the scans of the hour."""
        start(self, "about", self._ask, address.strip())

    async def _ask(self, address: str) -> None:
        service, quota = self.context.service, self.app.quota
        own = (await attempt(service.owns(address)))[0] if address else False
        cost = f"uses 1 of {quota.left}" if quota is not None else "uses 1"
        if own:
            self._say(f"{address} is on this machine: no option needed, it uses no scan.")
        else:
            self._say(f"Asked over https unless you write http://; {cost}." if address else " ")

    def _say(self, words: str, *, problem: bool = False) -> None:
        about = self.query_one("#about", Static)
        about.update(Content(words))
        about.set_class(problem, "error")

    def _foot(self, _size: int) -> Content:
        return term("address", EXAMPLES)

    def scanned(self, report: HostReport) -> None:
        """Make room for the card."""
        from aui_tui.tui.screens.card import open_card

        self.dismiss()
        open_card(self.app.screen_stack[0], report.card.host, report=report)

    def refuse(self, url: str, problem: str) -> None:
        """Say what was wrong with the address, which stays to be corrected."""
        self._say(problem, problem=True)
        self.query_one(AddressInput).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        self._follow(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.value.strip():
            self.app.scan(event.value.strip())
        else:
            self.refuse("", "Type an address first, such as example.com or localhost:8000.")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self._doors[event.option_index][2]()

    def _ask_source(self, address: str = "", problem: str = "") -> None:
        hint = "The address of an index that somebody publishes, or a file that was exported."
        example = "https://index.example"
        self.app.ask("Another index", hint, self._open_source, value=address, example=example, problem=problem)

    def _open_source(self, address: str) -> None:
        exists = web_address(address) if "://" in address else os.path.exists(address)  # noqa: PTH110  # a Path raises
        if exists:
            self.app.exit(address)
        else:
            self._ask_source(address, "This is neither a file nor an address such as https://index.example.")

    def action_away(self) -> None:
        field = self.query_one(AddressInput)
        if field.has_focus:
            if self._doors:
                self.query_one("#doors").focus()
            else:
                field.blur()
        else:
            field.focus()

    def action_back(self) -> None:
        if self.app.running:
            self.app.stop_scan(self.app.running[-1])
        else:
            self.action_away()

    def command(self) -> str:
        return "aui-tui scan " + (self.query_one(AddressInput).value.strip() or "example.com")

"""The command palette: keys of the screen, hosts, views, themes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from aui_tui.errors import BadValue
from aui_tui.model.query import Query
from aui_tui.model.registry import registry
from aui_tui.tui import messages
from aui_tui.tui.context import SETTINGS, Context, attempt
from aui_tui.tui.preferences import PreferringApp
from aui_tui.tui.rows import paragraph
from aui_tui.tui.screens.windows import ReadScreen
from aui_tui.tui.state import CardState
from aui_tui.tui.themes import ThemeChoice, ThemedApp
from aui_tui.tui.words import TERMS

HOSTS: Final = 12
"""Hosts that one search shows."""


class View(NamedTuple):
    """A list worth a name: what it answers, and its query."""

    title: str
    line: str = ""
    stance: str = ""
    sort: str = "rank"
    matrix: bool = False
    descending: bool = False


def views() -> tuple[View, ...]:
    """Return the named views, one per matrix surface among them."""
    blocks = tuple(
        View(f"Who shuts out {surface.label}?", sort=f"matrix.{surface.slug}", matrix=True, descending=True)
        for surface in registry().surfaces
        if surface.source != "none"
    )
    return (
        View("All hosts"),
        View("Open hosts", stance="Open"),
        View("Selective hosts", stance="Selective"),
        View("Walled hosts", stance="Walled"),
        View("robots.txt says yes, the site says no", line="contradiction:out"),
        View("robots.txt says no, the site says yes", line="contradiction:in"),
        View("Scanned within a week", line="fresh:<7d"),
        View("Not scanned for a month", line="fresh:>30d"),
        View("Failing grades", line="grade:f"),
        View("Fallen since the last scan", sort="change", descending=True),
        *blocks,
    )


def _shown(title: str, words: str) -> Content:
    """Return two lines of plain text; nothing in them is parsed. No colour: one could not be read under the cursor."""
    return Content.assemble(title, "\n", (f"  {words}", "not bold"))


class _Commands(Provider):
    """Commands by title: a subclass lists them, this finds them."""

    def commands(self) -> list[tuple[str, str, Callable[[], object]]]:
        """Return title, help and what to do."""
        raise NotImplementedError

    async def discover(self) -> Hits:
        """Show everything while nothing is typed."""
        for title, words, run in self.commands():
            yield DiscoveryHit(_shown(title, words), run, title)

    async def search(self, query: str) -> Hits:
        """Show what matches."""
        matcher = self.matcher(query)
        for title, words, run in self.commands():
            score = matcher.match(title)
            if score > 0:
                yield Hit(score, _shown(title, words), run, title)


class KeyCommands(_Commands):
    """Everything that has a key on the screen under the palette."""

    def commands(self) -> list[tuple[str, str, Callable[[], object]]]:
        """Return the live bindings that have a name."""
        found: dict[str, tuple[str, str, Callable[[], object]]] = {}
        for active in self.screen.active_bindings.values():
            binding = active.binding
            if binding.id is None or not active.enabled or binding.id in SKIPPED:
                continue
            words = f"{self.app.get_key_display(binding)}   {binding.tooltip}"
            run = partial(self.app.run_action, binding.action, active.node)
            found.setdefault(binding.id, (binding.description, words, run))
        return list(found.values())


SKIPPED: Final = frozenset({"up", "down", "page-up", "page-down", "top", "bottom", "palette"})


class ViewCommands(_Commands):
    """Lists with a name."""

    def commands(self) -> list[tuple[str, str, Callable[[], object]]]:
        """Return the named views."""
        return [(view.title, "view", partial(self._show, view)) for view in views()]

    def _show(self, view: View) -> None:
        query = Query.of(line=view.line, stance=view.stance, sort=view.sort, descending=view.descending)
        self.app.post_message(messages.ViewRequested(query, matrix=view.matrix))


class SettingCommands(_Commands):
    """The settings and the saved lists."""

    def commands(self) -> list[tuple[str, str, Callable[[], object]]]:
        """Return one command per setting, and one per saved list."""
        app = self.app
        if not isinstance(app, PreferringApp):
            return []
        found: list[tuple[str, str, Callable[[], object]]] = [
            (f"Setting {words}", "settings", partial(app.change_setting, name)) for name, words in SETTINGS.items()
        ]
        if isinstance(getattr(self.screen, "state", None), CardState):
            found.append(("Read an access log", "what the real agents got, beside this card", app.ask_visits))
        views = app.context.preferences.views
        return found + [(f"List {name}", "saved list", partial(app.choose_view, name)) for name in views]


class TermCommands(_Commands):
    """The words that the screens use, each with its meaning."""

    def commands(self) -> list[tuple[str, str, Callable[[], object]]]:
        """Return one command per word."""
        return [(name, f"what it means: {words}", partial(self._explain, name, words)) for name, words in TERMS.items()]

    async def search(self, query: str) -> Hits:
        """Show what matches by its word or its meaning, after everything else."""
        matcher = self.matcher(query)
        for title, words, run in self.commands():
            score = max(matcher.match(title), matcher.match(words) / 2) / 2
            if score > 0:
                yield Hit(score, _shown(title, words), run, title)

    async def discover(self) -> Hits:
        """Show none while nothing is typed."""
        for _ in ():
            yield DiscoveryHit("", partial(bool))

    def _explain(self, name: str, words: str) -> None:
        self.app.push_screen(ReadScreen(name, lambda size: [paragraph(words, size)]))


class ThemeCommands(_Commands):
    """The themes."""

    def commands(self) -> list[tuple[str, str, Callable[[], object]]]:
        """Return one command per theme."""
        app = self.app
        if not isinstance(app, ThemedApp):
            return []
        return [(f"Theme {name}", "theme", ThemeChoice(app, name)) for name in app.every_theme()]


class HostCommands(Provider):
    """Hosts whose name has what is typed, best first."""

    async def search(self, query: str) -> Hits:
        """Ask the service."""
        context: Context | None = getattr(self.app, "context", None)
        words = query.replace('"', " ").strip()
        if context is None or not words:
            return
        try:
            asked = Query.of(line=f'"{words}"')
        except BadValue:
            return
        view, _ = await attempt(context.service.index(asked))
        if view is None:
            return
        rows = [*view.ranked[:HOSTS], *view.unreachable[:HOSTS]][:HOSTS]
        for place, row in enumerate(rows):
            summary = row.summary
            facts = f"{summary.score} {summary.grade} {summary.stance}" if row.rank else "unreachable"
            open_card = partial(self.app.post_message, messages.CardRequested(row, -1))
            yield Hit(0.9 - place / 1000, _shown(summary.host, facts), open_card, summary.host)

"""The command palette: keys of the screen, settings, views, hosts, themes, and the words that screens use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from typing import Final, NamedTuple, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from aui_tui.errors import AuiError, BadValue
from aui_tui.model import labels
from aui_tui.model.listing import Row
from aui_tui.model.query import Query
from aui_tui.tui.bindings import live
from aui_tui.tui.context import SettingShown, attempt
from aui_tui.tui.dashboard import Dashboard
from aui_tui.tui.rows import paragraph
from aui_tui.tui.screens.card import open_card
from aui_tui.tui.screens.settings import change_setting, choose_view
from aui_tui.tui.screens.windows import ReadScreen
from aui_tui.tui.state import CardState
from aui_tui.tui.words import TERMS

HOSTS: Final = 12
"""Hosts that one search shows."""
SKIPPED: Final = frozenset(
    {"up", "down", "page-up", "page-down", "top", "bottom", "palette"}
    | {f"{kind}-{side}" for kind in ("column", "figure") for side in ("left", "right")}
)
"""Keys that are no commands."""


class PaletteCommand(NamedTuple):
    """A title, what it means, and what to do."""

    title: str
    words: str
    run: Callable[[], object]


class Palette(Provider):
    """Finds commands by title, words by their meaning too, and hosts by a part of their name."""

    @cached_property
    def _settings(self) -> Mapping[str, SettingShown]:
        try:
            return cast("Dashboard", self.app).context.preferences.settings()
        except AuiError:
            return {}

    def commands(self) -> Iterator[PaletteCommand]:
        """Yield everything that is shown while nothing is typed."""
        app, screen = cast("Dashboard", self.app), self.screen
        for action in live(screen):
            if action.binding.id not in SKIPPED:
                words = f"{app.get_key_display(action.binding)}   {action.binding.tooltip}"
                yield PaletteCommand(
                    action.binding.description, words, partial(app.run_action, action.binding.action, action.node)
                )
        for name, setting in self._settings.items():
            yield PaletteCommand(f"Setting {name}", setting.meaning, partial(change_setting, app, name))
        state = getattr(screen, "state", None)
        if isinstance(state, CardState):
            words = "what the real agents got, beside this card"
            yield PaletteCommand("Read an access log", words, partial(app.ask_visits, state.host))
        for name in app.context.preferences.views:
            yield PaletteCommand(f"List {name}", "saved list", partial(choose_view, app, name))
        for name in sorted(app.available_themes):
            yield PaletteCommand(f"Theme {name}", "theme", partial(app.choose_theme, name))

    async def discover(self) -> Hits:
        """Show everything while nothing is typed."""
        for command in self.commands():
            yield DiscoveryHit(_shown(command.title, command.words), command.run, command.title)

    async def search(self, query: str) -> Hits:
        """Show what matches: words that screens use after everything else, as letters in any sentence match."""
        matcher = self.matcher(query)
        for command in self.commands():
            score = matcher.match(command.title)
            if score > 0:
                yield Hit(score, _shown(command.title, command.words), command.run, command.title)
        for name, words in TERMS.items():
            score = max(matcher.match(name), matcher.match(words) / 2) / 1000
            if score > 0:
                yield Hit(score, _shown(name, f"what it means: {words}"), partial(self._explain, name, words), name)
        for place, command in enumerate(await self._hosts(query)):
            yield Hit(0.9 - place / 1000, _shown(command.title, command.words), command.run, command.title)

    def _explain(self, name: str, words: str) -> None:
        self.app.push_screen(ReadScreen(name, lambda size: [paragraph(words, size)]))

    async def _hosts(self, query: str) -> list[PaletteCommand]:
        """Return the hosts whose name has what is typed, best first."""
        app, words = cast("Dashboard", self.app), query.replace('"', " ").strip()
        try:
            parsed = Query.of(line=f'"{words}"')
        except BadValue:
            return []
        view, _ = await attempt(app.context.service.index(parsed)) if words else (None, "")
        rows = [*view.ranked[:HOSTS], *view.unreachable[:HOSTS]][:HOSTS] if view is not None else []
        return [
            PaletteCommand(
                row.summary.host,
                _standing(row),
                partial(open_card, self.screen, row.summary.host),
            )
            for row in rows
        ]


def _standing(row: Row) -> str:
    """Return score, grade and stance of a host."""
    summary = row.summary
    return f"{labels.score(summary.score, summary.grade)} {summary.stance}" if not row.unreachable else "unreachable"


def _shown(title: str, words: str) -> Content:
    """Return two lines of plain text; nothing in them is parsed. No colour: one could not be read under the cursor."""
    return Content.assemble(title, "\n", (f"  {words}", "not bold"))

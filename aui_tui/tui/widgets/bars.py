"""Lines across the screen: text that may be clicked, the keys that work now."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate, starmap

from textual import events
from textual.content import Content
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Input

from aui_tui.text import cells
from aui_tui.tui.bindings import Live, live
from aui_tui.tui.rows import Part, text

Layout = Callable[[int], Content]


def acting(content: Content, action: str) -> Content:
    """Return the content with an action that a click on it runs."""
    return content.stylize(Style.from_meta({"@click": action}))


class Bar(Widget):
    """One row made by a function of the width."""

    DEFAULT_CSS = """
    Bar { height: 1; width: 1fr; text-wrap: nowrap; text-overflow: ellipsis; link-style: none; link-style-hover: none;
      link-color: $foreground; link-background-hover: $background 0%; link-color-hover: $foreground; }
    """

    def __init__(self, layout: Layout, *, id: str | None = None) -> None:  # noqa: A002  # Textual's
        super().__init__(id=id)
        self.auto_links = False
        self._layout = layout

    def render(self) -> Content:
        return self._layout(self.size.width)


def _taken(action: Live, key: str) -> int:
    """Return the cells of a key, its word and the gap behind them."""
    return cells(key) + 1 + cells(action.binding.description) + 2


class KeyBar(Bar):
    """Keys of the screen and its focused widget, the most useful first; help always stays at the end."""

    def __init__(self) -> None:
        super().__init__(self._keys, id="keys")
        self._shown: list[tuple[int, Live]] = []
        """The keys on show, each after the cell at which it ends."""

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, lambda _screen: self.refresh())

    def _live(self) -> list[Live]:
        """Return the keys to show, enter first; while a text line has the focus, only its own keys."""
        typing = isinstance(self.screen.focused, Input)
        far = (self.screen, self.app) if typing else ()
        actions = (action for action in live(self.screen) if action.binding.show and action.node not in far)
        return sorted(actions, key=lambda action: "enter" not in action.keys)

    def _keys(self, size: int) -> Content:
        """Return as many keys as fit, help last; help is left out where only it has no room."""
        keys = [(action, self.app.get_key_display(action.binding)) for action in self._live()]
        end = [keys.pop()] if keys and keys[-1][0].binding.id == "help" else []
        room, last = size + 1, sum(starmap(_taken, end))
        ends = list(accumulate(starmap(_taken, keys)))
        if ends and ends[-1] <= room < ends[-1] + last:
            end, last = [], 0
        shown = [*(action for action, place in zip(keys, ends, strict=True) if place <= room - last), *end]
        ends = list(accumulate(starmap(_taken, shown)))
        self._shown = [(place, action) for place, (action, _) in zip(ends, shown, strict=True)]
        parts: list[Part] = [" "]
        for action, key in shown:
            parts += [(key, "key"), f" {action.binding.description}", "  "]
        return text(*parts[: max(len(parts) - 1, 1)])

    async def on_click(self, event: events.Click) -> None:
        """Do what the key under the mouse does."""
        action = next((action for end, action in self._shown if event.x < end), None)
        if action is not None:
            await self.app.run_action(action.binding.action, action.node)

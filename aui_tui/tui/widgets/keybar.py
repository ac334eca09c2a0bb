"""The last line: the keys that work now, made from the live bindings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from textual import events
from textual.binding import Binding
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widgets import Input

from aui_tui.tui.bindings import TABLES
from aui_tui.tui.draw import Line, Piece, line, width
from aui_tui.tui.widgets.bar import Bar

_ORDER: Final = {(b.id, b.tooltip): n for n, b in enumerate(b for table in TABLES.values() for b in table)}


class KeyBar(Bar):
    """Keys of the screen and its focused widget, the most useful first; help always stays at the end."""

    def on_mount(self) -> None:
        """Follow the bindings of the screen."""
        self.screen.bindings_updated_signal.subscribe(self, self._changed)

    def _changed(self, _screen: Screen[object]) -> None:
        self.refresh()

    def live(self) -> Iterator[tuple[str, Binding, DOMNode]]:
        """Yield key, binding and owner of every enabled action once, in the order of the tables."""
        seen: set[str] = set()
        focused = self.screen.focused
        actives = [
            a for a in self.screen.active_bindings.values() if not isinstance(focused, Input) or a.node is focused
        ]
        for active in sorted(actives, key=lambda a: _ORDER.get((a.binding.id, a.binding.tooltip), len(_ORDER))):
            binding = active.binding
            if not binding.show or not active.enabled or binding.action in seen:
                continue
            seen.add(binding.action)
            yield self.app.get_key_display(binding), binding, active.node

    def pieces(self, size: int) -> Line:
        """Return as many keys as fit, the key of help last."""
        entries = list(self.live())
        last = [entry for entry in entries if entry[1].id == "help"]
        end = _entry(last[0]) if last else ()
        room = size - 1 - width(end)
        out: list[Piece] = [Piece(" ")]
        for entry in entries:
            if entry in last:
                continue
            parts = (*_entry(entry), Piece("  "))
            room -= width(parts)
            if room < 0:
                break
            out.extend(parts)
        return (*out, *end)

    async def on_click(self, event: events.Click) -> None:
        """Run the clicked key's action where it is bound."""
        piece = self.piece_at(event.x)
        if piece is None or not piece.action:
            return
        event.stop()
        for _, binding, node in self.live():
            if binding.action == piece.action:
                await self.app.run_action(binding.action, node)
                return


def _entry(entry: tuple[str, Binding, DOMNode]) -> Line:
    name, binding, _ = entry
    return line(Piece(name, "key", binding.action), Piece(" " + binding.description, "", binding.action))

"""Lines across the screen: pieces that may be clicked, the keys that work now, the find line, the running scans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar, Final

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.dom import DOMNode
from textual.message import Message
from textual.screen import Screen
from textual.strip import Strip
from textual.timer import Timer
from textual.widgets import Input

from aui_tui.text import cells, count
from aui_tui.tui.bindings import FIND, TABLES
from aui_tui.tui.draw import Line, Piece, line, width
from aui_tui.tui.messages import DataMessage
from aui_tui.tui.scans import COLUMN, Scan, checklist, strip_line
from aui_tui.tui.widgets.lines import Lines, Painted

Layout = Callable[[int], Line]


class Bar(Painted):
    """One line made by a function of the width. A click runs the action of the piece under it."""

    DEFAULT_CSS = """
    Bar { height: 1; width: 1fr; }
    """

    def __init__(self, layout: Layout = lambda _width: (), *, id: str | None = None) -> None:  # noqa: A002  # Textual's
        super().__init__(id=id)
        self._layout = layout
        self._shown: Line = ()

    def pieces(self, width: int) -> Iterable[Piece]:
        """Return what to draw in ``width`` cells."""
        return self._layout(width)

    def render_line(self, y: int) -> Strip:
        """Draw line ``y``; only the first has text."""
        width = self.size.width
        if y:
            return Strip.blank(width, self.rich_style)
        self._shown = tuple(self.pieces(width))
        return self.strip(self._shown, width)

    def piece_at(self, x: int) -> Piece | None:
        """Return the piece drawn at column ``x``."""
        for piece in self._shown:
            x -= cells(piece.text)
            if x < 0:
                return piece
        return None

    async def on_click(self, event: events.Click) -> None:
        """Run the action of the piece under the pointer."""
        piece = self.piece_at(event.x)
        if piece is not None and piece.action:
            event.stop()
            await self.run_action(piece.action)


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


class FindLine(Input):
    """An input of one line without a frame."""

    BINDINGS: ClassVar[list[BindingType]] = [*FIND]

    class Stepped(DataMessage):
        """Another line found is wanted."""

        step: int

    class Left(Message):
        """The user leaves the line."""

    def action_step(self, step: int) -> None:
        """Ask for another line found."""
        self.post_message(self.Stepped(step))

    def action_leave(self) -> None:
        """Leave the line."""
        self.post_message(self.Left())


class FindBar(Horizontal):
    """Shown while something is sought; the pane marks it and goes from line to line."""

    def __init__(self) -> None:
        super().__init__(id="find")
        self._pane: Lines | None = None
        self._found = 0
        self._place = 0

    def compose(self) -> ComposeResult:
        """Lay out the line and the count."""
        yield FindLine(placeholder="find in this pane", compact=True, max_length=100, select_on_focus=False)
        yield Bar(self._count)

    def _count(self, _size: int) -> Line:
        if not self.query_one(FindLine).value:
            return ()
        if not self._found:
            return line(("nothing found", "warn"))
        words = f"{self._place + 1} of {count(self._found, 'line')}" if self._found > 1 else "1 line"
        return line((words, "muted"))

    def open(self, pane: Lines) -> None:
        """Seek in ``pane``."""
        self.close()
        self._pane = pane
        self.add_class("-open")
        self.query_one(FindLine).focus()

    def close(self) -> None:
        """Seek no longer; the marks go."""
        if self._pane is not None:
            self._pane.find("")
            self._pane = None
            self.query_one(FindLine).value = ""
            self.remove_class("-open")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Find as the user types."""
        event.stop()
        self._place, self._found = self._pane.find(event.value) if self._pane is not None else (0, 0)
        self.query_one(Bar).refresh()

    def on_find_line_stepped(self, message: FindLine.Stepped) -> None:
        """Go to the next line found, or to the one before."""
        if self._pane is not None and self._found:
            self._place = (self._place + message.step) % self._found
            self._pane.find_next(self._place)
            self.query_one(Bar).refresh()

    def on_find_line_left(self) -> None:
        """Go back to the pane."""
        pane = self._pane
        self.close()
        if pane is not None:
            pane.focus()


TICK: Final = 0.2
"""Seconds between two drawings while a probe waits."""


class ScanPanel(Painted):
    """Hidden while no scan runs."""

    DEFAULT_CSS = """
    ScanPanel { height: auto; display: none; }
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__(id="scans")
        self._clock = clock
        self._scans: tuple[Scan, ...] = ()
        self._timer: Timer | None = None
        self._compact = False

    def on_mount(self) -> None:
        """Count the limit only while something runs."""
        self._timer = self.set_interval(TICK, self.refresh, pause=True)

    def show(self, scans: tuple[Scan, ...], *, compact: bool) -> None:
        """Show the running ones of ``scans``, the newest in full unless ``compact``."""
        running = tuple(scan for scan in scans if scan.running)
        before = self._height(), bool(self._scans)
        self._scans, self._compact = running, compact
        self.display = bool(running)
        if self._timer is not None:
            if running:
                self._timer.resume()
            else:
                self._timer.pause()
        self.refresh(layout=(self._height(), bool(running)) != before)

    def _height(self) -> int:
        if not self._scans:
            return 0
        columns = max(self.app.size.width // COLUMN, 1)
        return len(self._scans) + (0 if self._compact else -(-len(self._scans[-1].probes) // columns))

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        """Return the lines that are needed."""
        return self._height()

    def render_line(self, y: int) -> Strip:
        """Draw one line of the panel."""
        width, now = self.size.width, self._clock()
        lines = self._lines(width, now)
        return self.strip(lines[y] if y < len(lines) else (), width)

    def _lines(self, width: int, now: float) -> list[Line]:
        out = [strip_line(scan, width, detail=self._compact or scan is not self._scans[-1]) for scan in self._scans]
        if self._scans and not self._compact:
            out += checklist(self._scans[-1], width, now)
        return out

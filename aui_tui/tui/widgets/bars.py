"""Lines across the screen: text that may be clicked, the keys that work now, the find line, the running scans."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Final, cast

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Input, Static

from aui_tui.text import count
from aui_tui.tui.bindings import FIND, Live, live
from aui_tui.tui.rows import text
from aui_tui.tui.scans import Scan, checklist, strip
from aui_tui.tui.widgets.listing import RowList

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


class KeyBar(Bar):
    """Keys of the screen and its focused widget, the most useful first; help always stays at the end."""

    def __init__(self) -> None:
        super().__init__(self._keys, id="keys")

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, lambda _screen: self.refresh())

    def _live(self) -> list[Live]:
        """Return what has a place here, enter first; while a line is typed into, only its own keys."""
        focused = self.screen.focused
        typing = isinstance(focused, Input)
        found = (one for one in live(self.screen) if one.binding.show and (not typing or one.node is focused))
        return sorted(found, key=lambda one: "enter" not in one.keys)

    def _keys(self, size: int) -> Content:
        """Return as many keys as fit, the key of help last; where it alone has no room, it leaves."""
        found = self._live()
        names = [acting(self._words(one), f"run('{one.binding.id}')") for one in found]
        end = [names.pop()] if found and found[-1].binding.id == "help" else []
        if _row(names).cell_length <= size < _row([*names, *end]).cell_length:
            end = []
        while names and _row([*names, *end]).cell_length > size:
            names.pop()
        return _row([*names, *end])

    def _words(self, one: Live) -> Content:
        return text((self.app.get_key_display(one.binding), "key"), f" {one.binding.description}")

    async def action_run(self, name: str) -> None:
        one = next((one for one in self._live() if one.binding.id == name), None)
        if one is not None:
            await self.app.run_action(one.binding.action, one.node)


def _row(names: Sequence[Content]) -> Content:
    return text(" ", Content("  ").join(names))


class FindLine(Input):
    """What is sought in a pane."""

    BINDINGS: ClassVar[list[BindingType]] = [*FIND]

    def action_step(self, step: int) -> None:
        cast("FindBar", self.parent).step(step)

    def action_leave(self) -> None:
        cast("FindBar", self.parent).leave()


class FindBar(Horizontal):
    """Seeks words in a listing and says how many rows have them; hidden while nothing is sought."""

    DEFAULT_CSS = """
    FindBar { height: 1; display: none; background: $panel; }
    FindBar.-open { display: block; }
    FindBar Bar { background: $panel; }
    FindLine { width: 30; height: 1; border: none; padding: 0 1; background: $surface; color: $foreground; }
    FindLine:focus { background-tint: $foreground 0%; }
    .-tiny FindLine { width: 22; }
    """
    SCOPED_CSS = False

    def __init__(self) -> None:
        super().__init__()
        self._pane: RowList | None = None
        self._found: list[int] = []
        self._place = 0

    def compose(self) -> ComposeResult:
        yield FindLine(placeholder="find in this pane", compact=True, max_length=100, select_on_focus=False)
        yield Bar(self._count)

    def _count(self, _size: int) -> Content:
        if not self.query_one(FindLine).value:
            return Content("")
        if not self._found:
            return text(("nothing found", "warn"))
        many = len(self._found)
        words = f"{self._place + 1} of {count(many, 'line')}" if many > 1 else "1 line"
        return text((words, "muted"))

    def open(self, pane: RowList) -> None:
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
        self._found = self._pane.find(event.value) if self._pane is not None else []
        self._place = 0
        self.step(0)

    def step(self, step: int) -> None:
        """Go to the next row found (1) or the one before (-1)."""
        if self._pane is not None and self._found:
            self._place = (self._place + step) % len(self._found)
            self._pane.scroll_to_row(self._found[self._place])
        self.query_one(Bar).refresh()

    def leave(self) -> None:
        """Go back to the pane."""
        pane = self._pane
        self.close()
        if pane is not None:
            pane.focus()


TICK: Final = 0.2
"""Seconds between two drawings while a probe waits."""
LOW: Final = 20
"""Rows of a terminal below which a scan takes one row."""


class ScanPanel(Static):
    """The running scans, the newest in full where there is room; hidden while none runs."""

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__(id="scans", markup=False)
        self._clock = clock
        self._scans: list[Scan] = []

    def on_mount(self) -> None:
        self._ticks = self.set_interval(TICK, self._write, pause=True)
        self.watch(self.app, "scans", self._follow)

    def _follow(self, scans: list[Scan]) -> None:
        self._scans = [scan for scan in scans if scan.running]
        self.display = bool(self._scans)
        (self._ticks.resume if self._scans else self._ticks.pause)()
        self._write()

    def _write(self) -> None:
        """Draw them; the time counts while a probe waits."""
        width, compact = self.app.size.width, self.app.size.height < LOW
        rows = [strip(scan, width, detail=compact or scan is not self._scans[-1]) for scan in self._scans]
        if self._scans and not compact:
            rows += checklist(self._scans[-1], width, self._clock())
        self.update(Content("\n").join(rows))

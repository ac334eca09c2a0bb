"""The exchange: what the browser and an agent asked and got, side by side; the evidence under every verdict."""

from __future__ import annotations

from itertools import groupby
from shlex import quote
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.screen import Screen

from aui_tui.model import labels
from aui_tui.model.agents import label_of, probe_of
from aui_tui.model.exchanges import Compared, FieldRow, as_text, compared, curl, names, status_line
from aui_tui.model.observations import BROWSER, Exchange, Observations
from aui_tui.model.view import HostReport
from aui_tui.text import cells, fit
from aui_tui.tui import glyphs, messages
from aui_tui.tui.bindings import EXCHANGE
from aui_tui.tui.context import ExportJob, file_name
from aui_tui.tui.draw import BLANK, Line, Piece, acting, cut, hang, line, paragraph, spread
from aui_tui.tui.panes.agents import unasked
from aui_tui.tui.screens.windows import ReadScreen
from aui_tui.tui.widgets.bars import Bar, FindBar, KeyBar
from aui_tui.tui.widgets.lines import FigureList
from aui_tui.tui.words import term

SIDES: Final = ("both", "left", "right", "text")
EXPLAINED: Final = {
    "request": "The first line of what was asked.",
    "User-Agent": "The name that asked; most sites that refuse agents decide by it.",
    "status": "First line of the answer: 2xx served, 403 refused, 429 asked too often.",
    "hops": "Redirects that were followed before this answer.",
    "size, time": "Bytes of the body as kept; seconds from asking to the last byte.",
    "Server": "The program that answered, as it names itself.",
    "Set-Cookie": "Values of cookies are hidden here and in every file.",
    "title": "The title of the page that came back.",
    "text": "The words that can be read without running any script.",
    "wall": "What makes this answer a test for humans.",
    "reference": "Quote this id to the vendor: with it they find this very request.",
}
"""What some rows mean."""


class ExchangeScreen(Screen[None]):
    """Shows the exchange called ``name`` of one scan beside the browser's."""

    BINDINGS: ClassVar[list[BindingType]] = [*EXCHANGE]
    AUTO_FOCUS = "FigureList"

    def __init__(self, host: str, seen: Observations, name: str) -> None:
        super().__init__()
        self._host = host
        self._seen = seen
        self._known = names(seen)
        self._side = 2 if name == BROWSER else 0
        self._exchange = name if name in self._known else self._known[0] if self._known else BROWSER

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        yield Bar(self._title, id="title")
        yield Bar(self._tabs, id="tabs-of-sides")
        yield FigureList(id="exchange", classes="pane -alone")
        yield FindBar()
        yield Bar(self._foot, id="foot")
        yield KeyBar(id="keys")

    def on_mount(self) -> None:
        """Draw the exchange."""
        self._draw()

    @property
    def found(self) -> Compared:
        """The two sides."""
        return compared(self._seen, self._exchange)

    def _draw(self) -> None:
        found, side = self.found, SIDES[self._side]
        block = self.query_one("#exchange", FigureList)
        if side == "both":
            block.show(lambda size: side_by_side(found, size), top=True)
        elif side == "text":
            block.show(lambda size: text(found, size), top=True)
        else:
            one = found.left if side == "left" else found.right
            block.show(lambda size: raw(one, size), top=True)
        block.border_subtitle = Content(glyphs.DISAGREE + " differs   = alike")
        for bar in self.query(Bar):
            bar.refresh()
        self.call_after_refresh(self.on_figure_list_moved)

    def _title(self, size: int) -> Line:
        label = labels.probe(self._exchange)
        place = self._known.index(self._exchange) + 1 if self._exchange in self._known else 0
        right = f"{place} of {len(self._known)} · n/p next, previous "
        return spread(line(" ", (self._host, "title"), " › ", (label, "strong")), line((right, "muted")), size)

    def _tabs(self, size: int) -> Line:
        found = self.found
        words = ("Compared", f"{found.left_label} raw", f"{found.right_label} raw", "Text")
        out = [Piece(" ")]
        for number, word in enumerate(words):
            shown = number == self._side
            text = f"[{word}] " if shown else f" {word}  "
            out.append(Piece(text, "title" if shown else "", f"screen.side({number})"))
        counts = f"{glyphs.DISAGREE} {found.differing} differ, {found.alike} are alike "
        return spread(out, line((counts, "muted")), size)

    def _foot(self, size: int) -> Line:
        block = self.query_one("#exchange", FigureList)
        here = block.here
        if here is None or SIDES[self._side] != "both":
            return term("exchange", size, "Kept without bodies, values of cookies and passwords.")
        row = self.found.rows[int(here.action.split("(")[1].rstrip(")"))]
        return term(row.name, size, EXPLAINED.get(row.name, row.note or "enter shows both values in full."))

    def on_figure_list_moved(self) -> None:
        """Let the foot follow the cursor."""
        self.query_one("#foot", Bar).refresh()

    # Keys

    def action_turn(self, step: int) -> None:
        """Turn to the next side."""
        self.action_side((self._side + step) % len(SIDES))

    def action_side(self, number: int) -> None:
        """Show both sides, one of them raw, or the text."""
        self.query_one(FindBar).close()
        self._side = number
        self._draw()

    def action_walk(self, step: int) -> None:
        """Go to the next or the previous exchange."""
        if self._known:
            place = self._known.index(self._exchange)
            self._exchange = self._known[(place + step) % len(self._known)]
            self._draw()

    def action_whole(self, number: int) -> None:
        """Show both values of a row in full."""
        found = self.found
        row = found.rows[number]
        self.app.push_screen(ReadScreen(row.name, lambda size: whole(row, found, size)))

    def action_copy(self, what: str) -> None:
        """Copy the request as a curl command, or both sides as text."""
        curled = (curl(self.found.right), "the request as curl")
        self.post_message(messages.CopyRequested(*curled if what == "curl" else (as_text(self.found), "both sides")))

    def action_export(self) -> None:
        """Write both sides to a file."""
        path = file_name(f"{self._host}-{labels.probe(self._exchange)}", "txt")
        self.post_message(messages.ExportRequested(ExportJob("snippet", path, text=as_text(self.found))))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Writing needs a writer."""
        return getattr(self.app, "context").exporter is not None if action == "export" else True  # noqa: B009  # of AuiApp

    def action_find(self) -> None:
        """Find words in what is shown."""
        self.query_one(FindBar).open(self.query_one("#exchange", FigureList))

    def command(self) -> str:
        """Return the shell command that prints the same."""
        return f"aui-tui site {quote(self._host)} --details"


NAME: Final = 16
LONG_NAME: Final = 28
"""Cells of a field's name, at most and where there is room for both sides beside it."""
ROOMY: Final = 110
"""Width from which there is."""
ONE_SIDE: Final = 70
"""Width below which the agent's side stands alone."""
TITLES: Final = {"asked": "asked", "answered": "answered", "page": "the page"}
SIGNS: Final = {True: glyphs.DISAGREE, False: glyphs.ALIKE, None: " "}
TEXT_ROLES: Final = {"=": "muted", "-": "", "+": "strong"}


def side_by_side(found: Compared, size: int) -> list[Line]:
    """Return all parts laid out to ``size`` cells, what differs first and what is alike muted below it."""
    both = size >= ONE_SIDE and found.left is not found.right
    name = NAME if size < ROOMY else min(max((cells(row.name) + 1 for row in found.rows), default=NAME), LONG_NAME)
    out: list[Line] = []
    for part, rows in groupby(enumerate(found.rows), key=lambda pair: pair[1].part):
        out += [BLANK] if out else []
        out.append(_heading(TITLES[part], found, size, name, both=both))
        out += [_row(row, number, size, name, both=both) for number, row in rows]
    if any(one.side != "=" for one in found.text):
        out += [BLANK, cut(line(("the page, as text", "title"), ("   - browser only   + agent only", "muted")), size)]
        for one in found.text:
            if one.side != "=":
                out += hang((Piece(one.side + " ", "accent"),), one.text, size, TEXT_ROLES[one.side])
    return [*out, BLANK, line(("ask it yourself", "title")), *paragraph(curl(found.right), size, "code")]


def _heading(title: str, found: Compared, size: int, name: int, *, both: bool) -> Line:
    left = f"{fit(found.left_label, _room(size, name))}   " if both else ""
    return cut(line((fit(title, name + 2), "title"), (f"{left}{found.right_label}", "muted")), size)


def _room(size: int, name: int) -> int:
    return max((size - name - 5) // 2, 8)


def _row(row: FieldRow, number: int, size: int, wide: int, *, both: bool) -> Line:
    role = "muted" if row.differs is False else ""
    value = "code" if row.note == "the id to quote" else role
    name = f"  {fit(row.name, wide - 1)} "
    left = f"{fit(row.left, _room(size, wide) - 1)}  " if both else ""
    sign = (f"{SIGNS[row.differs]} ", "accent" if row.differs else "muted")
    note = f"   {row.note}" if row.note else ""
    pieces = line((name, "muted"), (left, value), sign, (row.right, value), (note, "muted"))
    return acting(cut(pieces, size), f"screen.whole({number})")


def raw(one: Exchange, size: int) -> list[Line]:
    """Return one side as it went over the line, as far as it is kept."""
    sent = (Piece("> ", "muted"),)
    out: list[Line] = [(*sent, Piece(f"GET {one.url}", "strong"))]
    out += [row for name, value in one.request for row in hang(sent, f"{name}: {value}", size)]
    if not one.request:
        out.append(line(("  the fields of this request were not kept; the next scan keeps them", "muted")))
    out.append(BLANK)
    came = (Piece("< ", "muted"),)
    for hop in one.hops:
        out += hang(came, f"{hop.status} {glyphs.ARROW} {hop.location}", size)
    out.append((*came, Piece(f"{one.http_version} {status_line(one)}".strip(), "strong")))
    out += [row for name, value in one.headers for row in hang(came, f"{name}: {value}", size)]
    return [cut(row, size) for row in out]


def text(found: Compared, size: int) -> list[Line]:
    """Return the readable text of both sides: what both have, what only one has."""
    if not found.text:
        return [line(("No text is kept of this answer; the next scan keeps it.", "muted"))]
    out: list[Line] = []
    for one in found.text:
        sign = "  " if one.side == "=" else one.side + " "
        out += hang((Piece(sign, "accent"),), one.text, size, TEXT_ROLES[one.side])
    return out


def whole(row: FieldRow, found: Compared, size: int) -> list[Line]:
    """Return both values of a row in full."""
    out: list[Line] = []
    for label, value in ((found.left_label, row.left), (found.right_label, row.right)):
        out += [line((label, "title")), *paragraph(value, size), BLANK]
    return [*out, *([line((row.note, "muted"))] if row.note else [])]


def opened(dossier: HostReport, name: str) -> Screen[None]:
    """Return what the browser and the probe or assistant ``name`` asked and got, or why that is not known."""
    seen = dossier.observations
    probe = probe_of(name)
    if seen is None:
        return ReadScreen(
            labels.probe(name), lambda size: paragraph("This source keeps no exchanges. s scans the host here.", size)
        )
    if not probe or seen.exchange(probe).name not in {one.name for one in seen.exchanges}:
        return ReadScreen(label_of(name), lambda size: unasked(dossier, name, size))
    return ExchangeScreen(dossier.card.host, seen, probe)

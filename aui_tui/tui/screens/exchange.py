"""The exchange: what the browser and an agent got and asked, side by side; the evidence under every verdict."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from shlex import quote
from typing import Final, NamedTuple

from textual.app import ComposeResult
from textual.content import Content
from textual.screen import Screen

from aui_tui.model import labels
from aui_tui.model.agents import probe_of
from aui_tui.model.observations import BROWSER, Exchange, Observations
from aui_tui.model.report import HostReport
from aui_tui.report.exchanges import (
    QUOTE_NOTE,
    ComparedExchanges,
    FieldRow,
    as_text,
    comparable_probes,
    compared,
    curl,
    status_line,
)
from aui_tui.text import cells, count, fit
from aui_tui.tui import glyphs
from aui_tui.tui.bindings import EXCHANGE, bindings
from aui_tui.tui.cardrows import unasked
from aui_tui.tui.dashboard import DashboardScreen
from aui_tui.tui.export import ExportJob, file_name
from aui_tui.tui.rows import Build, ListEntry, blank, entry, in_full, paragraph, rule, spread, term, text
from aui_tui.tui.screens.windows import ReadScreen
from aui_tui.tui.widgets.bars import Bar, acting
from aui_tui.tui.widgets.find import FindBar
from aui_tui.tui.widgets.listing import RowList

EXPLAINED: Final = {
    "request": "The first line of what was asked.",
    "User-Agent": "The name that asked; most sites that refuse agents decide by it.",
    "status": "First line of the answer: 2xx served, 403 refused, 429 asked too often.",
    "hops": "Redirects that were followed before this answer.",
    "size, time": "Bytes of the body as kept; seconds from asking to the last byte.",
    "Server": "The program that answered, as it names itself.",
    "Set-Cookie": "Values of cookies are hidden here and in every file.",
    "title": "The title of the page that came back.",
    "page": "The words that can be read without running any script.",
    "swapped": "A browser's name with the agent's fields, and the other way round.",
    "robots.txt": "What robots.txt says to this name, by its line; ≠ contradicts it.",
    "wall": "What makes this answer a challenge page, a test for humans.",
    "reference": "Quote this id to the vendor: with it they find this very request.",
}
"""What some rows mean."""


class Side(NamedTuple):
    """A way to show the exchange: the name of its tab, title and legend of its frame, and its rows."""

    tab: str
    title: str
    legend: str
    rows: Build


class ExchangeScreen(DashboardScreen[None]):
    """Shows the exchange called ``name`` of one scan beside the browser's."""

    BINDINGS = bindings(EXCHANGE)
    AUTO_FOCUS = "RowList"

    def __init__(self, report: HostReport, observations: Observations, name: str) -> None:
        super().__init__()
        self._report = report
        self._observations = observations
        self._names = comparable_probes(observations)
        self._side = 0 if self._names else 1
        self._exchange = name if name in self._names else self._names[0] if self._names else BROWSER
        self.comparison = compared(report.card, observations, self._exchange)

    def inside(self) -> ComposeResult:
        yield Bar(self._tabs, id="tabs-of-sides")
        yield RowList(opens="Whole value", id="exchange", classes="pane -alone")
        yield FindBar()

    def on_mount(self) -> None:
        self._draw()

    @property
    def _sides(self) -> tuple[Side, ...]:
        """Both sides, each alone, and their text."""
        comparison, left, right = self.comparison, self.comparison.left_label, self.comparison.right_label
        both_labels = f"{left} · {right}"
        asks = self.context.curl(curl(comparison.right))
        return (
            Side(
                "Compared",
                f"the answer: {both_labels}",
                glyphs.ALIKE,
                partial(side_by_side, comparison, asks),
            ),
            Side(f"{left.replace('browser', 'Browser')} raw", left, RAW_LEGEND, partial(raw, comparison.left)),
            Side(f"{right} raw", right, RAW_LEGEND, partial(raw, comparison.right)),
            Side("Text", both_labels, "- on the left alone  + on the right alone", partial(page_text, comparison)),
        )

    def _draw(self) -> None:
        side, block = self._sides[self._side], self.focused_list
        block.show(side.rows, top=True)
        block.border_title = Content(side.title)
        block.border_subtitle = Content(side.legend)
        self.draw_lines()

    def title_line(self, size: int) -> Content:
        place = self._names.index(self._exchange) + 1 if self._exchange in self._names else 0
        left = text((f" {self._report.card.host}", "title"), " › ", (labels.name(self._exchange), "strong"))
        return spread(left, text((f"{place} of {len(self._names)} · n/p agent or file ", "muted")), size)

    def _tabs(self, size: int) -> Content:
        comparison = self.comparison
        tabs = (side.tab for side in self._sides)
        shown = [(f" [{tab}]", "title") if n == self._side else (f"  {tab} ", "") for n, tab in enumerate(tabs)]
        parts = [acting(text(part), f"screen.side({number})") for number, part in enumerate(shown)]
        return spread(
            text(*parts), text((f"{comparison.differing} differ, {comparison.alike} are alike ", "muted")), size
        )

    def foot_line(self, size: int) -> Content:
        row = self._row()
        if row is None:
            return term("exchange", "Kept without bodies, values of cookies and passwords.")
        return term(row.name, EXPLAINED.get(row.name, row.note or "enter shows both values in full."))

    def _row(self) -> FieldRow | None:
        key = self.focused_list.key
        return next((row for row in self.comparison.rows if _key(row) == key), None)

    def on_row_list_chosen(self, message: RowList.Chosen) -> None:
        comparison, row = self.comparison, self._row()
        if message.key in MORE:
            rows = [field_row for field_row in comparison.rows if _place(field_row) == message.key]
            window = ReadScreen(
                f"Fields {MORE[message.key]}", lambda size: [_field(field_row, size, 24) for field_row in rows]
            )
            self.app.push_screen(window)
        elif row is not None:
            self.app.push_screen(ReadScreen(row.name, lambda size: whole(row, comparison, size)))

    # Keys

    def action_turn(self, step: int) -> None:
        self.action_side((self._side + step) % len(self._sides))

    def action_side(self, number: int) -> None:
        self.query_one(FindBar).close()
        self._side = number
        self._draw()

    def action_walk(self, step: int) -> None:
        if self._names:
            self._exchange = self._names[(self._names.index(self._exchange) + step) % len(self._names)]
            self.comparison = compared(self._report.card, self._observations, self._exchange)
            self._draw()

    def action_copy(self, what: str) -> None:
        if what == "curl":
            self.app.copy(self.context.curl(curl(self.comparison.right)), "the request as curl")
        else:
            self.app.copy(as_text(self.comparison), "both sides")

    def action_export(self) -> None:
        path = file_name(f"{self._report.card.host}-{labels.name(self._exchange)}", "txt")
        job = ExportJob("snippet", path, host=self._report.card.host, text=as_text(self.comparison))
        self.app.export(job)

    def action_find(self) -> None:
        self.query_one(FindBar).open(self.focused_list)

    def command(self) -> str:
        return f"aui-tui site {quote(self._report.card.host)} --details"


RAW_LEGEND: Final = "> asked  < answered"
NAME: Final = 14
ONE_SIDE: Final = 66
"""Width below which the agent's side stands alone."""
SIGNS: Final = {True: glyphs.DISAGREE, False: "=", None: " "}
TEXT_ROLES: Final = {"=": "muted", "-": "", "+": "strong"}
NOT_SENT: Final = frozenset({"", "not sent", "–"})
WORD: Final = re.compile(r"[\w./+@-]+")
SHOWN_FIRST: Final = ("status", "hops", "page", "title", "wall", "reference")
"""What of an answer always has a row, in this order; then the ids to quote, and the server."""
SERVER: Final = "Server"
MORE: Final = {"more answered": "of the answer", "more asked": "sent by one side only"}
"""Rows that are only counted, by the key of the row that lists them."""


def side_by_side(comparison: ComparedExchanges, asks: str, size: int) -> list[ListEntry]:
    """Return the answer, its cause, the request, and a command that asks the same; what differs first in each."""
    parts: dict[str, list[FieldRow]] = {"answer": [], "why": [], "asked": [], **{key: [] for key in MORE}}
    for row in comparison.rows:
        parts[_place(row)].append(row)
    order = (*SHOWN_FIRST, *(row.name for row in comparison.rows if row.note == QUOTE_NOTE), SERVER)
    parts["answer"].sort(key=lambda row: order.index(row.name))
    parts["asked"].sort(key=lambda row: row.differs is False)
    shown = (*parts["answer"], *parts["why"], *parts["asked"])
    longest = max((cells(row.name) + 1 for row in shown), default=NAME)
    name = max(NAME, min(longest, 28 if size >= 110 else 16))
    fields = {part: [_field(row, size, name) for row in rows] for part, rows in parts.items()}
    for key in MORE:
        if fields[key]:
            words = f"  {count(len(fields[key]), 'more field')} {_of(key, comparison, parts[key])}"
            fields[key] = [entry(words, ("   enter lists them", "muted"), key=key)]
    return [
        *fields["answer"],
        *fields["more answered"],
        rule(f"why: it goes by {comparison.goes_by}" if comparison.goes_by else "why", "", size),
        *fields["why"],
        rule("asked", "", size),
        *fields["asked"],
        *fields["more asked"],
        rule("ask it yourself", "y copies it", size),
        paragraph(asks, size, "code", "  "),
    ]


def _of(key: str, comparison: ComparedExchanges, rows: Sequence[FieldRow]) -> str:
    """Return what the counted fields are: fields of the answer, or fields that only one side sent."""
    silent = {(row.left in NOT_SENT, row.right in NOT_SENT) for row in rows}
    if key == "more answered" or len(silent) > 1:
        return MORE[key]
    return f"sent by {comparison.right_label if silent == {(True, False)} else f'the {comparison.left_label}'} only"


def _place(row: FieldRow) -> str:
    """Return the part of the comparison for a row; rows that seldom matter are only counted."""
    if row.part == "why" or row.name == "User-Agent":
        return "why"
    if row.part == "asked":
        return "more asked" if _one_sided(row) else "asked"
    shown = row.part == "page" or row.note == QUOTE_NOTE or row.name in (*SHOWN_FIRST, SERVER)
    return "answer" if shown and (row.name != "hops" or row.differs) else "more answered"


def _one_sided(row: FieldRow) -> bool:
    return row.part == "asked" and row.name != "User-Agent" and (row.left in NOT_SENT) is not (row.right in NOT_SENT)


def _key(row: FieldRow) -> str:
    return f"{row.part} {row.name}"


def _field(row: FieldRow, size: int, name: int) -> ListEntry:
    two_sided = size >= ONE_SIDE
    room = max((size - name - 8) // 2, 8)
    left, right = around_difference(row.left, row.right, room) if row.name == "User-Agent" else (row.left, row.right)
    role = "code" if row.note == QUOTE_NOTE else "muted" if row.differs is False else ""
    sign = (f"{SIGNS[row.differs]} ", "accent" if row.differs else "muted")
    shown = (fit(left, room) + "  ", role) if two_sided else ""
    note = (f"   {row.note}" if row.note else "", "muted")
    return entry(f"  {fit(row.name, name)} ", shown, sign, (right, role), note, key=_key(row))


def around_difference(left: str, right: str, room: int) -> tuple[str, str]:
    """Return two texts, those too long for ``room`` from the first word on that the other one does not have."""
    if max(len(left), len(right)) <= room:
        return left, right
    return _own_part(left, right), _own_part(right, left)


def _own_part(text: str, other: str) -> str:
    words = set(WORD.findall(other))
    start = next((word.start() for word in WORD.finditer(text) if word[0] not in words), 0)
    return f"…{text[start:]}" if start else text


def raw(exchange: Exchange, size: int) -> list[ListEntry]:
    """Return one side as it went over the line, as far as it is kept."""
    sent, came = ("> ", "muted"), ("< ", "muted")
    out = [paragraph(f"GET {exchange.url}", size, "strong", sent)]
    out += [paragraph(f"{name}: {value}", size, head=sent) for name, value in exchange.request]
    if not exchange.request:
        out.append(paragraph("The fields of this request were not kept; the next scan keeps them.", size, "muted"))
    out.append(blank())
    out += [paragraph(f"{hop.status} → {hop.location}", size, head=came) for hop in exchange.hops]
    out.append(paragraph(f"{exchange.http_version} {status_line(exchange)}".strip(), size, "strong", came))
    return out + [paragraph(f"{name}: {value}", size, head=came) for name, value in exchange.headers]


def page_text(comparison: ComparedExchanges, size: int) -> list[ListEntry]:
    """Return the readable text of both sides: what both have, what only one has."""
    if not comparison.text:
        return [paragraph("No text is kept of this answer; the next scan keeps it.", size, "muted")]
    signs = {"=": "  ", "-": "- ", "+": "+ "}
    return [paragraph(line.text, size, TEXT_ROLES[line.side], (signs[line.side], "accent")) for line in comparison.text]


def whole(row: FieldRow, comparison: ComparedExchanges, size: int) -> list[ListEntry]:
    """Return both values of a row in full."""
    entries = in_full(((comparison.left_label, row.left), (comparison.right_label, row.right)), size)
    return [*entries, blank(), paragraph(row.note, size, "muted")] if row.note else entries


def opened(report: HostReport, name: str) -> Screen[None]:
    """Return what the browser and the probe or assistant ``name`` asked and got, or why that is not known."""
    observations, probe = report.observations, probe_of(name)
    if (
        observations is None
        or not probe
        or observations.exchange(probe).name not in {exchange.name for exchange in observations.exchanges}
    ):
        return ReadScreen(labels.name(name), lambda size: unasked(report, name, size))
    return ExchangeScreen(report, observations, probe)

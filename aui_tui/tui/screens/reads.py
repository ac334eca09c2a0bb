"""A page as readers of text get it, at full size: facts marked, a rule where a reader cuts, two readings compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import unified_diff
from functools import partial
from shlex import quote
from typing import Final

from textual.app import ComposeResult
from textual.content import Content

from aui_tui.model.open_agents import table
from aui_tui.model.reads import KINDS, Reading
from aui_tui.report.reads import cut_letters
from aui_tui.text import count, wrap
from aui_tui.tui.bindings import READS, bindings
from aui_tui.tui.context import attempt, start
from aui_tui.tui.dashboard import DashboardScreen
from aui_tui.tui.rows import ListEntry, blank, entry, paragraph, rule, spread, term, text
from aui_tui.tui.widgets.bars import Bar, acting
from aui_tui.tui.widgets.find import FindBar
from aui_tui.tui.widgets.listing import RowList

BROWSER: Final = "browser"
TABS: Final = (*KINDS, "facts")
LINES: Final = 3000
"""Lines of a reading that are shown; the command prints the rest."""
ROLES: Final = {"-": "critical", "+": "good", "@": "muted"}


class ReadsScreen(DashboardScreen[None]):
    """Shows the readings of the kept page of ``host``."""

    BINDINGS = bindings(READS)
    AUTO_FOCUS = "RowList"

    def __init__(self, host: str, commands: Sequence[str] = ()) -> None:
        """``commands``: pieces of hidden text that speak to agents."""
        super().__init__()
        self._host = host
        self._commands = commands
        self._tab = 0
        self._readings: dict[str, Reading] = {}
        self._problem = ""
        self._compared = 0

    def inside(self) -> ComposeResult:
        yield Bar(self._tabs, id="tabs-of-readings")
        yield RowList(opens="Whole row", id="reading", classes="pane -alone")
        yield FindBar()

    def on_mount(self) -> None:
        self._draw()
        start(self, "reads", self._read)

    async def _read(self) -> None:
        """Ask for each reading, all words first: they need no library."""
        for kind in ("words", "article", "page"):
            reading, self._problem = await attempt(self.context.service.reading(self._host, kind))
            if reading is None:
                break
            self._readings[kind] = reading
            self._draw()
        browser, _ = await attempt(self.context.service.reading(self._host, "words", client=BROWSER))
        if browser is not None and browser.text != self._readings["words"].text:
            self._readings[BROWSER] = browser
        self._draw()

    # What is drawn

    @property
    def _pairs(self) -> list[tuple[str, str]]:
        """The pairs that can be compared: what the browser got and agents, then kinds."""
        pairs = ((BROWSER, "words"), ("words", "article"), ("page", "article"))
        return [pair for pair in pairs if all(self._readings.get(kind, Reading(kind="")).text for kind in pair)]

    def _draw(self) -> None:
        block, pair = self.focused_list, self._pair()
        block.show(partial(self._rows, pair), top=True)
        block.border_title = Content(f"{pair[0]} → {pair[1]}" if pair else TABS[self._tab])
        self.draw_lines()

    def _pair(self) -> tuple[str, str] | None:
        return self._pairs[self._compared - 1] if 0 < self._compared <= len(self._pairs) else None

    def _rows(self, pair: tuple[str, str] | None, size: int) -> list[ListEntry]:
        if self._problem:
            return [paragraph(self._problem, size)]
        if pair is not None:
            return list(difference(self._readings[pair[0]], self._readings[pair[1]], size))
        if TABS[self._tab] == "facts":
            return list(facts([self._readings[kind] for kind in KINDS if kind in self._readings], size))
        reading = self._readings.get(TABS[self._tab])
        return [entry(("Reading …", "muted"))] if reading is None else list(lines(reading, size, self._commands))

    def title_line(self, size: int) -> Content:
        reading = self._readings.get(TABS[self._tab])
        amount = count(len(reading.text.split()), "word") if reading is not None and reading.text else ""
        left = text((f" {self._host}", "title"), " › ", ("Reads", "strong"))
        return spread(left, text((f"{amount} ", "muted")), size)

    def _tabs(self, size: int) -> Content:
        shown = [(f" [{tab}]", "title") if n == self._tab else (f"  {tab} ", "") for n, tab in enumerate(TABS)]
        tabs = text(*(acting(text(part), f"screen.side({number})") for number, part in enumerate(shown)))
        note = "the site's words, never followed " if size >= 80 else ""
        return spread(tabs, text((note, "muted")), size)

    def foot_line(self, size: int) -> Content:
        return term("Reads", "As open readers get it; the readers of assistants were not tested.")

    # Keys

    def action_turn(self, step: int) -> None:
        self.action_side((self._tab + step) % len(TABS))

    def action_side(self, number: int) -> None:
        self.query_one(FindBar).close()
        self._tab, self._compared = number, 0
        self._draw()

    def action_compare(self) -> None:
        self._compared = (self._compared + 1) % (len(self._pairs) + 1)
        if not self._pairs:
            self.app.notice("There is one reading alone: the extra “reads” makes the others.")
        self._draw()

    def action_copy(self, _what: str) -> None:
        reading = self._readings.get(TABS[self._tab]) or self._readings.get("words")
        if reading is not None:
            self.app.copy(reading.text, f"the page as {reading.kind}")

    def action_find(self) -> None:
        self.query_one(FindBar).open(self.focused_list)

    def command(self) -> str:
        kind = TABS[self._tab]
        return f"aui-tui reads {quote(self._host)} {'--facts' if kind == 'facts' else f'--as {kind}'}"


def lines(reading: Reading, size: int, commands: Sequence[str] = ()) -> Iterator[ListEntry]:
    """Yield a reading line by line, each fact marked where it begins, and a rule where readers cut.

    A line of hidden text that speaks to agents is marked.
    """
    if not reading.text:
        yield paragraph(f"No {reading.kind}: {reading.problem}.", size)
        return
    cuts = [place for place in cut_letters() if place < len(reading.text)]
    places = {fact.at: fact.value for fact in reading.facts if fact.at >= 0}
    at = 0
    for number, line in enumerate(reading.text.split("\n")):
        if number == LINES:
            yield paragraph("The rest is printed by the command at the right of the foot.", size, "muted")
            return
        start_of_line, speaks = at, any(command in line for command in commands)
        for row in wrap(line, max(size - len("! hidden: ") * speaks, 8)):
            while cuts and at >= cuts[0]:
                yield _cut(cuts.pop(0), size)
            content = Content(row)
            for place in (place for place in places if at <= place < at + len(row)):
                begin = place - at
                content = content.stylize("reverse", begin, min(begin + len(places[place]), len(row)))
            yield entry(("! hidden: ", "critical"), content) if speaks else ListEntry(content)
            at += len(row) + 1
        at = start_of_line + len(line) + 1


def _cut(place: int, size: int) -> ListEntry:
    names = ", ".join(tool.key for tool in table().tool if tool.cut == place)
    return rule(f"{place:,} letters", f"{names} cuts here", size)


def difference(left: Reading, right: Reading, size: int) -> Iterator[ListEntry]:
    """Yield the lines that two readings do not share."""
    left_lines, right_lines = (reading.text.split("\n")[:LINES] for reading in (left, right))
    changed = [
        line
        for line in unified_diff(left_lines, right_lines, lineterm="", n=0)
        if not line.startswith(("---", "+++", "@@"))
    ]
    yield entry((f"- in {left.kind} alone   + in {right.kind} alone", "muted"))
    if not changed:
        yield paragraph("Both say the same.", size)
    for line in changed:
        yield paragraph(line[1:], size, ROLES.get(line[0], ""), (f"{line[0]} ", ROLES.get(line[0], "")))


def facts(readings: Sequence[Reading], size: int) -> Iterator[ListEntry]:
    """Yield each fact and the letter at which each reading has it."""
    all_facts = next((reading.facts for reading in readings if reading.facts), ())
    if not all_facts:
        yield paragraph("No facts were found: no name, price, availability, phone, mail, address, hours or date.", size)
    for number, fact in enumerate(all_facts):
        yield entry((f"{fact.kind} ", "muted"), (fact.value, "strong"), (f"  in {', '.join(fact.where)}", "muted"))
        for reading in readings:
            at = reading.facts[number].at if reading.text else -1
            words = f"at letter {at + 1:,}" if at >= 0 else "lost" if reading.text else reading.problem
            yield entry(f"   {reading.kind:<8}", (words, "" if at >= 0 else "warn"))
        yield blank()

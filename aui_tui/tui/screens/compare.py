"""Two or more hosts side by side: what differs first, what is alike folded."""

from __future__ import annotations

from functools import partial
from shlex import quote

from textual.app import ComposeResult
from textual.content import Content

from aui_tui.model.report import HostReport
from aui_tui.model.surfaces import SURFACES
from aui_tui.report.comparison import comparison
from aui_tui.report.sections import Item, Section
from aui_tui.text import count, joined
from aui_tui.tui import glyphs
from aui_tui.tui.bindings import COMPARE, bindings
from aui_tui.tui.context import attempt, start
from aui_tui.tui.dashboard import DashboardScreen
from aui_tui.tui.export import ExportJob
from aui_tui.tui.rows import ListEntry, in_full, paragraph, rule, spread, term, text
from aui_tui.tui.screens.exchange import opened
from aui_tui.tui.screens.windows import ReadScreen
from aui_tui.tui.tables import table
from aui_tui.tui.widgets.listing import RowList
from aui_tui.tui.words import TERMS


class CompareScreen(DashboardScreen[None]):
    """Reads the cards of ``hosts`` one after another and shows those that are there."""

    BINDINGS = bindings(COMPARE)
    AUTO_FOCUS = "RowList"

    def __init__(self, hosts: tuple[str, ...]) -> None:
        super().__init__()
        self._hosts = hosts
        self.reports: list[HostReport] = []
        """What was read, in order."""
        self._parts = comparison((), now=0.0)
        self._every = False

    def inside(self) -> ComposeResult:
        yield RowList(opens="Evidence", id="figures", classes="pane")

    def on_mount(self) -> None:
        self.watch(self.app, "aged", lambda: self._draw(), init=False)
        start(self, "compare", self._read)

    async def _read(self) -> None:
        for host in self._hosts:
            report, problem = await attempt(self.context.service.site(host))
            if report is None:
                self.app.notice(problem, "error")
            else:
                self.reports.append(report)
                self._draw(top=True)

    def _draw(self, *, top: bool = False) -> None:
        parts = self._parts = comparison(self.reports, now=self.context.clock())
        block, every = self.focused_list, self._every
        block.border_title = Content(joined(report.card.host for report in self.reports))
        block.border_subtitle = Content(glyphs.ALIKE)
        block.show(lambda size: compare(*parts, size, every=every), top=top)
        self.draw_lines()

    def title_line(self, size: int) -> Content:
        left = text((" Compare", "title"), f"  {count(len(self._hosts), 'site')}")
        return spread(left, text((f"{self._parts[0].title} ", "muted")), size)

    def _here(self) -> tuple[Item | None, int]:
        """Return the line under the cursor, and the place of the site there."""
        place, _, name = self.focused_list.key.partition(" ")
        items = (item for part in self._parts for item in part.items)
        return next((item for item in items if item.label == name), None), int(place or 0)

    def foot_line(self, size: int) -> Content:
        item, place = self._here()
        if item is None:
            return term("disagree", "What the sites do not have in common; a shows all lines.")
        word = item.words[place + 1]
        if word in TERMS:
            _, _, note = item.cells[place + 1].partition(" (")
            return term(word, f"{TERMS[word][:-1]} ({note}." if note else "")
        return term(item.label, " · ".join(item.cells[1:]))

    def on_row_list_chosen(self) -> None:
        """Open the exchange behind a verdict; for any other line show the full value of each site."""
        item, place = self._here()
        slug = next((surface.slug for surface in SURFACES if item is not None and surface.label == item.label), "")
        if slug:
            self.app.push_screen(opened(self.reports[place], slug))
        elif item is not None:
            values = zip(self._parts[0].columns[1:], item.cells[1:], strict=True)
            self.app.push_screen(ReadScreen(item.label, partial(in_full, [*values])))

    def action_site(self, step: int) -> None:
        self.focused_list.action_side(step)

    def action_export(self) -> None:
        self.app.export(ExportJob("list", "compared.json", hosts=self._hosts))

    def action_browse(self) -> None:
        if self.reports:
            self.app.browse(self.reports[self._here()[1]].card.host)

    def action_every(self) -> None:
        self._every = not self._every
        self._draw()

    def command(self) -> str:
        first, *hosts = map(quote, self._hosts)
        return "; ".join(f"aui-tui diff {first} {host}" for host in hosts)


def compare(differs: Section, alike: Section, size: int, *, every: bool = False) -> list[ListEntry]:
    """Return the sites side by side in ``size`` cells, what differs first; ``every``: also line by line what does not.

    Each cell can be chosen, by the place of its site and the name of its line.
    """
    return [
        paragraph(differs.text, size, "strong"),
        rule(f"{glyphs.DISAGREE} what differs", "", size),
        *table(with_keys(differs), size),
        rule(f"= {alike.title}", "a folds them" if every else "a shows them", size),
        *(table(with_keys(alike), size) if every else [paragraph(alike.text, size, "muted")]),
    ]


def with_keys(section: Section) -> Section:
    """Return a comparison with a key for each cell."""
    places = range(len(section.columns) - 1)
    items = (item._replace(key="", opens=("", *(f"{n} {item.label}" for n in places))) for item in section.items)
    return section._replace(items=tuple(items))

"""Windows to read: the keys and the documentation, and how a score comes about."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from textual.screen import Screen

from aui_tui import docs
from aui_tui.checks.scoring import sections
from aui_tui.model import query_line
from aui_tui.model.methods import DEFAULT_METHOD, METHODS
from aui_tui.text import fit
from aui_tui.tui.bindings import HELP, METHOD, bindings, live
from aui_tui.tui.dashboard import DashboardScreen
from aui_tui.tui.rows import ListEntry, blank, entry, paragraph, title
from aui_tui.tui.screens.windows import ChooseScreen, ReadScreen
from aui_tui.tui.widgets.listing import RowList

NAME: Final = 16
KEYS: Final = 14


def named(name: str, words: str, size: int, width: int = NAME, role: str = "accent") -> ListEntry:
    """Return a name and the words on it, hanging beside it."""
    return paragraph(words, size, head=(fit(name, width) + " ", role))


def prose(pieces: Sequence[docs.Block], size: int) -> list[ListEntry]:
    """Return a page of the documentation laid out to ``size`` cells."""
    out: list[ListEntry] = []
    before = ""
    for kind, words, name in pieces:
        if before and not before == kind in ("item", "row"):
            out.append(blank())
        before = kind
        if kind in ("title", "heading"):
            out.append(title(words))
        elif kind == "code":
            out += [entry((part, "code")) for row in words.split("\n") for part in _parts(row, size)]
        elif kind == "row":
            out.append(named(name, words, size))
        elif kind == "item":
            out.append(paragraph(words, size, head="- "))
        else:
            out.append(paragraph(words, size))
    return out


def _parts(row: str, size: int) -> list[str]:
    """Return a line of code in pieces of ``size`` cells: nothing of it may be cut off."""
    return [row[start : start + size] for start in range(0, len(row), max(size, 1))] or [" "]


class HelpScreen(ReadScreen):
    """Shows the keys that work on ``screen``, what it shows, and the command that prints the same."""

    BINDINGS = bindings(HELP)

    def __init__(self, screen: Screen[Any]) -> None:
        super().__init__("Help", self.rows, "t topics · esc closes")
        self._command = screen.context.shell(screen.command()) if isinstance(screen, DashboardScreen) else ""
        self._sections = help_sections(screen)
        self._note = note_of(type(screen).__name__, getattr(getattr(screen, "state", None), "pane", 0))

    def rows(self, size: int) -> list[ListEntry]:
        """Return the text laid out to ``size`` cells."""
        out = [paragraph(self._note, size), blank()] if self._note else []
        if self._command:
            shell = paragraph(self._command, size, "code", "  ")
            out += [entry(("In the shell, the same:", "muted")), shell, blank()]
        for heading, entries in self._sections:
            out.append(title(heading))
            out += [named(keys, words, size, KEYS, "key") for keys, words in entries]
            out.append(blank())
        return out[:-1]

    def action_topics(self) -> None:
        choices = {name: docs.title(name) for name in docs.TOPICS}
        self.app.push_screen(ChooseScreen("Documentation", choices), self._read)

    def _read(self, topic: str | None) -> None:
        if topic:
            pieces = tuple(docs.blocks(docs.read(topic)))
            self.app.push_screen(ReadScreen(f"aui-tui help {topic}", partial(prose, pieces)))


class MethodScreen(ReadScreen):
    """Shows the explanation of ``method``, of the usual one for a name that is unknown; a key turns to the other."""

    BINDINGS = bindings(METHOD)

    def __init__(self, method: str) -> None:
        super().__init__("Method", self.rows, "M other method · esc closes")
        self._method = method if method in METHODS else DEFAULT_METHOD

    def rows(self, size: int) -> list[ListEntry]:
        """Return the explanation laid out to ``size`` cells."""
        out: list[ListEntry] = []
        for section in sections(self._method):
            out.append(title(section.title))
            out += [paragraph(words, size) for words in section.paragraphs]
            out += [named(name, words, size) for name, words in section.rows]
            out.append(blank())
        return [*out, entry(("In the shell: ", "muted"), (f"aui-tui --set method={self._method} help method", "code"))]

    def action_method(self) -> None:
        names = tuple(METHODS)
        self._method = names[(names.index(self._method) + 1) % len(names)]
        self.query_one(RowList).show(self.rows, top=True)


def help_sections(screen: Screen[Any]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the keys that work on a screen, by the place where they do, and the terms of a query."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for action in live(screen):
        keys = " ".join(dict.fromkeys(action.keys))
        groups.setdefault(action.place, []).append((keys, action.binding.tooltip))
    terms = [(query_line.TITLE, [*query_line.terms(), *query_line.JOINING])] if "index" in groups else []
    return [*((place.capitalize(), keys) for place, keys in groups.items()), *terms]


NOTES: Final = {
    ("IndexScreen", 0): "The hosts that were scanned, best first. ◉ Open: agents get in. ◐ Selective: some do, or "
    "robots.txt keeps some out. ◌ Walled: they are shut out. Δ is the change of the score since the scan before; * "
    "marks a score without tasks. The focus is in the list; / takes it to the query line, where tab takes a choice, "
    "and enter or esc brings it back. ← and → go from column to column.",
    (
        "CardScreen",
        0,
    ): "tab goes through the parts in this order: Summary, Agents, Evidence, Fixes, Reads, Log, "
    "Tasks, Visits, and back to Summary; a digit goes straight to one.",
    (
        "CardScreen",
        1,
    ): "Grade and score, who gets in, the points of each pillar, the next step. ✓ in, ~ in part, ✗ refused while a "
    "browser is served, # challenged by a test for humans, ⊘ told no by robots.txt, ? unclear, · not asked. l shows "
    "how the score came about.",
    ("CardScreen", 2): "What robots.txt says to each agent and by which line, what the site answered, and what "
    "follows; ≠ marks a contradiction. Four agents are probed live; C adds the crawlers, which are shown but not "
    "scored. enter shows the exchange.",
    ("CardScreen", 3): "The findings, worst first: ✗ critical, ! warning, ✓ good; then notes, which are no problems. "
    "The whole text of the row under the cursor stands above the keys. d turns to what changed.",
    ("CardScreen", 4): "What would gain points, the fix that lets most assistants in first: score before and after, "
    "and how long it takes. enter opens its steps, space supposes a fix done, and the border says where the "
    "score would stand. y copies the snippet, x writes it to a file.",
    ("CardScreen", 5): "What readers of text get from the page, and what the scan read of the site; not scored.",
    ("CardScreen", 6): "Every request of the scan: its answer, and how long it took. A probe has 12 s in all. enter "
    "shows what was sent and what came back.",
    ("CardScreen", 7): "What an assistant gets done here in a browser: read, follow, search, contact, fill in a form "
    "(never sent), find an offer. Done earns all points, half where a mouse is needed; it is half of the score. a "
    "runs the tasks.",
    ("CardScreen", 8): "What the site's own access log says: requests of each real agent, how many were served, how "
    "many came from the operator's addresses, beside what the probe got. ≠ marks where they disagree. ctrl+p "
    "reads a log.",
    ("ExchangeScreen", 0): "What was sent and what came back, the browser at the left, the agent at the right; ≠ marks "
    "what differs. tab goes from both sides to the browser alone, the agent alone, and the text; y copies a command "
    "that asks the same.",
    ("OverviewScreen", 0): "Figures over the list you came from. Choose a count with the arrow keys, or an assistant, "
    "a pane with its digit; enter shows its hosts. + gives one pane the whole screen, d chooses the day from which "
    "changes are counted. tab goes from pane to pane.",
    ("CompareScreen", 0): "The marked hosts side by side; ≠ stands where they differ.",
}
"""What a screen, or a pane of the report card, shows, and in which order its parts get the focus."""


def note_of(screen: str, pane: int) -> str:
    """Return the note on a screen and its pane; empty where there is none."""
    return " ".join(NOTES[key] for key in dict.fromkeys(((screen, pane), (screen, 0))) if key in NOTES)

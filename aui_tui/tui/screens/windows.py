"""Small windows over a screen: to type a line, to choose from a list, to read help or the method."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Final, NamedTuple, TypeVar

from textual.app import ComposeResult
from textual.binding import ActiveBinding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen, Screen, ScreenResultType
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from aui_tui import docs
from aui_tui.checks.ledger import sections
from aui_tui.model import query
from aui_tui.model.methods import DEFAULT_METHOD, METHODS
from aui_tui.model.view import Facets, HistoryPoint
from aui_tui.model.vocabulary import CATEGORIES
from aui_tui.text import fit
from aui_tui.tui import messages
from aui_tui.tui.bindings import CHOOSE, CLOSE, HELP, METHOD, TABLES, written
from aui_tui.tui.rows import Build, Entry, blank, hang, paragraph, text, title
from aui_tui.tui.widgets.listing import Listing
from aui_tui.tui.words import ago, day


class Window(ModalScreen[ScreenResultType]):
    """A frame around what ``inside`` yields, with a title above and its keys below."""

    def __init__(self, title: str, keys: str = "") -> None:
        super().__init__()
        self._title = title
        self._keys = keys

    def compose(self) -> ComposeResult:
        """Lay the widgets into the frame."""
        with Vertical(classes="window") as window:
            window.border_title = Content(self._title)
            window.border_subtitle = Content(self._keys)
            yield from self.inside()

    def inside(self) -> ComposeResult:
        """Yield the widgets."""
        raise NotImplementedError

    def action_close(self) -> None:
        """Leave without an answer."""
        self.dismiss(None)


class AskScreen(Window[str | None]):
    """Answers with what was typed, None when the user leaves."""

    BINDINGS: ClassVar[list[BindingType]] = [*CHOOSE]

    def __init__(
        self,
        title: str,
        hint: str,
        value: str = "",
        placeholder: str = "",
        *,
        doubt: Callable[[str], str] | None = None,
    ) -> None:
        """``doubt`` returns what speaks against a text; entered a second time it is taken all the same."""
        super().__init__(title)
        self._hint = hint
        self._value = value
        self._placeholder = placeholder
        self._doubt = doubt
        self._doubted = ""

    def inside(self) -> ComposeResult:
        """Yield input and hint."""
        yield Input(self._value, placeholder=self._placeholder, compact=True, max_length=2000, select_on_focus=False)
        yield Static(self._hint, markup=False, classes="hint")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer with the text, or stay while there is none or a doubt was not heard."""
        text = event.value.strip()
        doubt = self._doubt(text) if self._doubt is not None and text and text != self._doubted else ""
        if doubt:
            self._doubted = text
            self.query_one(".hint", Static).update(Content(doubt))
            self.query_one(".hint").add_class("error")
        elif text:
            self.dismiss(text)
        else:
            words = f"Nothing was typed. {self._hint}"
            self.query_one(".hint", Static).update(Content(words))


class AddressScreen(AskScreen):
    """Asks for an address to scan; what was typed before stays when it could not be used."""

    HINT: Final = "A host or an http(s) address. enter scans and opens its card, esc leaves."

    def __init__(self, text: str = "", problem: str = "") -> None:
        super().__init__("Scan an address", problem or self.HINT, text, "example.com, localhost:8000")
        self._problem = problem

    def on_mount(self) -> None:
        """Say what was wrong with the text before."""
        self.query_one(".hint").set_class(bool(self._problem), "error")


class Choice(NamedTuple):
    """One line: its value, its text, and a figure or word at its right end; a ``dim`` one has nothing behind it."""

    value: str
    text: str
    note: str = ""
    dim: bool = False


class ChooseScreen(Window[str | None]):
    """Answers with the chosen value, None when the user leaves without choosing."""

    BINDINGS: ClassVar[list[BindingType]] = [*CHOOSE]

    def __init__(self, title: str, choices: Sequence[Choice], current: str = "", *, wide: bool = False) -> None:
        super().__init__(title)
        self.choices = choices
        self.set_class(wide, "-roomy")
        self._current = current
        self._lit = 0

    def inside(self) -> ComposeResult:
        """Yield the list."""
        yield OptionList(*(Option(_prompt(choice, lit=False)) for choice in self.choices), markup=False)

    def on_mount(self) -> None:
        """Stand on the value that holds now."""
        values = [choice.value for choice in self.choices]
        self.query_one(OptionList).highlighted = values.index(self._current) if self._current in values else 0

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Draw a dimmed choice under the cursor as any other: grey could not be read there."""
        for index in {self._lit, event.option_index}:
            if self.choices[index].dim:
                prompt = _prompt(self.choices[index], lit=index == event.option_index)
                event.option_list.replace_option_prompt_at_index(index, prompt)
        self._lit = event.option_index

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Answer with the chosen value."""
        self.dismiss(self.choices[event.option_index].value)


def _prompt(choice: Choice, *, lit: bool) -> Content:
    text = Content(fit(choice.text, 28) + choice.note.rjust(10) if choice.note else choice.text)
    return text.stylize("$role-muted") if choice.dim and not lit else text


def history_choices(points: Sequence[HistoryPoint], now: float) -> list[Choice]:
    """Return one choice per kept scan: its day and age, its score and grade."""
    return [
        Choice(
            point.scanned_at,
            f"{day(point.scanned_at, now)} {point.scanned_at[11:16]}   {ago(point.scanned_at, now)}",
            "stopped" if point.incomplete else "no answer" if point.unreachable else f"{point.score} {point.grade}",
        )
        for point in points
    ]


def categories(facets: Facets, current: str) -> ChooseScreen:
    """Return a window with all categories and the hosts that each would give, one without any dimmed."""
    found = facets.category
    every = Choice("", "All categories", format(sum(found.values()), ","))
    named = (Choice(name, name, format(found.get(name, 0), ","), dim=not found.get(name)) for name in CATEGORIES)
    return ChooseScreen("Category", [every, *named], current)


class ConfirmScreen(ChooseScreen):
    """Answers ``yes`` or an empty string to a question."""

    def __init__(self, question: str, yes: str, no: str) -> None:
        super().__init__("", [Choice("yes", yes), Choice("", no)])
        self._question = question

    def inside(self) -> ComposeResult:
        """Yield question and answers."""
        yield Static(self._question, markup=False)
        yield from super().inside()


def confirm(question: str, yes: str, no: str) -> ConfirmScreen:
    """Return a window that answers ``yes`` or an empty string."""
    return ConfirmScreen(question, yes, no)


class ThemeScreen(ChooseScreen):
    """Answers with the chosen theme."""

    def __init__(self, names: list[str], current: str) -> None:
        super().__init__("Theme", [Choice(name, name) for name in names], current)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Have the theme under the cursor shown."""
        self.app.post_message(messages.ThemeHighlighted(self.choices[event.option_index].value))


def prose(pieces: Sequence[docs.Block], size: int) -> list[Entry]:
    """Return a page of the documentation laid out to ``size`` cells."""
    out: list[Entry] = []
    before = ""
    for kind, words, name in pieces:
        if before and not before == kind in ("item", "row"):
            out.append(blank())
        before = kind
        if kind in ("title", "heading"):
            out.append(title(words))
        elif kind == "code":
            out += [Entry(text((part, "code"))) for row in words.split("\n") for part in _parts(row, size)]
        elif kind in ("row", "item"):
            out.append(
                Entry(hang(text((fit(name, NAME) + " ", "accent")) if kind == "row" else text("- "), words, size))
            )
        else:
            out.append(paragraph(words, size))
    return out


def _parts(row: str, size: int) -> list[str]:
    """Return a line of code in pieces of ``size`` cells: nothing of it may be cut off."""
    return [row[start : start + size] for start in range(0, len(row), max(size, 1))] or [" "]


NAME = 16


class ReadScreen(Window[None]):
    """Shows rows of text."""

    BINDINGS: ClassVar[list[BindingType]] = [*CLOSE]

    def __init__(self, title: str, build: Build, keys: str = "esc closes") -> None:
        super().__init__(title, keys)
        self._build_text = build

    def inside(self) -> ComposeResult:
        """Yield the text."""
        yield Listing(self._build_text)


KEYS = 14


class HelpScreen(ReadScreen):
    """Shows the keys that work on ``screen``, what it shows, and the command that prints the same."""

    BINDINGS: ClassVar[list[BindingType]] = [*HELP]

    def __init__(self, screen: Screen[Any]) -> None:
        super().__init__("Help", self.rows, "t topics · esc closes")
        command = getattr(screen, "command", None)
        self._command = command() if callable(command) else ""
        self._sections = help_sections(screen)
        self._note = note_of(type(screen).__name__, getattr(getattr(screen, "state", None), "pane", 0))

    def rows(self, size: int) -> list[Entry]:
        """Return the text laid out to ``size`` cells."""
        out = [paragraph(self._note, size), blank()] if self._note else []
        if self._command:
            shell = Entry(hang(text("  "), self._command, size, "code"))
            out += [Entry(text(("In the shell, the same:", "muted"))), shell, blank()]
        for heading, entries in self._sections:
            out.append(title(heading))
            out += [Entry(hang(text((fit(keys, KEYS) + " ", "key")), words, size)) for keys, words in entries]
            out.append(blank())
        return out[:-1]

    def action_topics(self) -> None:
        """Choose a topic of the documentation."""
        choices = [Choice(name, docs.title(name)) for name in docs.TOPICS]
        self.app.push_screen(ChooseScreen("Documentation", choices), self._read)

    def _read(self, topic: str | None) -> None:
        if topic:
            pieces = tuple(docs.blocks(docs.read(topic)))
            self.app.push_screen(ReadScreen(f"aui-tui help {topic}", partial(prose, pieces)))


class MethodScreen(ReadScreen):
    """Shows the explanation of ``method``, of the usual one for a name that is unknown; a key turns to the other."""

    BINDINGS: ClassVar[list[BindingType]] = [*METHOD]

    def __init__(self, method: str) -> None:
        super().__init__("Method", self.rows, "M other method · esc closes")
        self._method = method if method in METHODS else DEFAULT_METHOD

    def rows(self, size: int) -> list[Entry]:
        """Return the explanation laid out to ``size`` cells."""
        out: list[Entry] = []
        for section in sections(self._method):
            out.append(title(section.title))
            out += [paragraph(words, size) for words in section.paragraphs]
            out += [Entry(hang(text((fit(name, NAME) + " ", "accent")), words, size)) for name, words in section.rows]
            out.append(blank())
        return [*out, Entry(text(("In the shell: ", "muted"), (f"aui-tui method {self._method}", "code")))]

    def action_method(self) -> None:
        """Turn to the other method."""
        names = tuple(METHODS)
        self._method = names[(names.index(self._method) + 1) % len(names)]
        self.query_one(Listing).show(self.rows, top=True)


T = TypeVar("T")
Sections = list[tuple[str, list[tuple[str, str]]]]


def help_sections(screen: Screen[Any]) -> Sections:
    """Return the keys that work on a screen, by table, from its live bindings."""
    found: dict[str, dict[str, tuple[list[str], str]]] = {}
    for active in screen.active_bindings.values():
        binding = active.binding
        if not active.enabled or binding.id is None:
            continue
        table = _table_of(active)
        keys, _ = found.setdefault(table, {}).setdefault(binding.id, ([], binding.tooltip or binding.description))
        display = written(binding.key)
        if display not in keys:
            keys.append(display)
    tables: Sections = [
        (table.capitalize(), [(" ".join(keys), words) for keys, words in _in_order(table, found[table])])
        for table in TABLES
        if table in found
    ]
    line: Sections = [(query.TITLE, [*query.TERMS, *query.JOINING])] if "index" in found else []
    return [*tables, *line]


def _in_order(table: str, found: Mapping[str, T]) -> list[T]:
    """Return what was found under the ids of a table, in its order."""
    return [found[name] for name in dict.fromkeys(b.id or "" for b in TABLES[table]) if name in found]


def _table_of(active: ActiveBinding) -> str:
    """Return the table that a live binding comes from: one that its widget or screen is made with."""
    own = [binding for kind in type(active.node).__mro__ for binding in vars(kind).get("BINDINGS", ())]
    key = active.binding.id, active.binding.action
    return next(
        (name for name, table in TABLES.items() if table[0] in own and any((b.id, b.action) == key for b in table)), ""
    )


NOTES: Final = {
    ("IndexScreen", 0): "The hosts that were scanned, best first. ◉ Open: agents get in. ◍ Selective: some do, or "
    "robots.txt keeps some out. ◌ Walled: they are shut out. Δ is the change of the score since the scan before; * "
    "marks a score without tasks.",
    ("CardScreen", 1): "Who gets in, and what the homepage offers to agents. ✓ in, ~ in part, ✗ refused while a "
    "browser is served, # a test for humans, ⊘ told no by robots.txt, ? unclear, · not tested. l shows how the score "
    "came about.",
    (
        "CardScreen",
        2,
    ): "What robots.txt says to each agent and by which line, what the site answered, and what follows; "
    "≠ marks a contradiction. Four agents are probed live; C adds the crawlers, which are shown but not scored. enter "
    "shows the exchange.",
    ("CardScreen", 3): "The findings, worst first: ✗ critical, ! warning, ✓ good. d turns to what changed.",
    ("CardScreen", 4): "What would gain points, the fix that lets most assistants in first: points, score before and "
    "after, and how long it takes. space supposes a fix done, and the border says where the score would stand. y "
    "copies the snippet, x writes it to a file.",
    ("CardScreen", 5): "Every request of the scan: its answer, and how long it took. A probe has 12 s in all. enter "
    "shows what was sent and what came back.",
    ("CardScreen", 6): "What an assistant gets done here in a browser: read, follow, search, contact, fill in a form "
    "(never sent), find an offer. Done earns all points, half where a mouse is needed; it is half of the score. a "
    "runs the tasks.",
    ("CardScreen", 7): "What the site's own access log says: requests of each real agent, how many were served, how "
    "many came from the operator's addresses, beside what the probe got. ≠ marks where they disagree. ctrl+p "
    "reads a log.",
    ("ExchangeScreen", 0): "What was sent and what came back, the browser at the left, the agent at the right; ≠ marks "
    "what differs. tab turns to one side alone, y copies a command that asks the same.",
    ("OverviewScreen", 0): "Figures over the list you came from. Choose any figure, bar or column with the arrow keys, "
    "a pane with its digit; enter shows its hosts. + gives one pane the whole screen, d chooses the day from which "
    "changes are counted.",
    ("CompareScreen", 0): "The marked hosts side by side; ≠ stands where they differ.",
}
"""What a screen, or a pane of the report card, shows."""


ORDER: Final = {
    "IndexScreen": "The focus is in the list; / takes it to the query line, where tab takes a choice, and enter or esc "
    "brings it back. ← and → go from column to column.",
    "CardScreen": "tab goes through the parts in this order: Summary, Agents, Evidence, Fixes, Log, Tasks, Visits, and "
    "back to Summary; a digit goes straight to one.",
    "OverviewScreen": "tab goes from figure to figure as one reads, pane by pane; a digit goes straight to a pane.",
    "ExchangeScreen": "tab goes from both sides to the browser alone, the agent alone, and the text.",
}
"""In which order the parts of a screen get the focus."""


def note_of(screen: str, pane: int) -> str:
    """Return what a screen or its pane shows, and the order of its parts; empty for one without."""
    return " ".join(part for part in (NOTES.get((screen, pane), ""), ORDER.get(screen, "")) if part)

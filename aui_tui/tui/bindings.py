"""Every key of the dashboard, as tables; its id is its name in the user's ``[keys]``, which is checked here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Final

import msgspec
from textual.binding import Binding, BindingType
from textual.dom import DOMNode
from textual.keys import Keys
from textual.screen import Screen

from aui_tui.errors import ConfigError
from aui_tui.model.vocabulary import nearest
from aui_tui.text import clean
from aui_tui.tui.words import NO_TASKS


class Key(msgspec.Struct, frozen=True):
    """A key: its fields are those of a ``Binding``, and what it needs, names of NEEDS, the first to be missed first."""

    key: str
    action: str
    description: str
    id: str
    tooltip: str
    show: bool
    key_display: str | None
    priority: bool
    needs: tuple[str, ...]


ANSWER: Final = "answer"
"""What a key needs that acts on the last answer of the source: typed ahead of that answer it waits for it."""
NEEDS: Final = {
    ANSWER: "",
    "scans": "This index is read only: nothing can be scanned from here.",
    "own": NO_TASKS,
    "writer": "Nothing can be written here.",
    "host": "This list has no hosts.",
    "wide": "The preview needs a screen of 110 columns.",
    "card": "There is no card of this host yet.",
    "agents": "C adds the crawlers in the pane of agents: 2 goes there.",
    "answers": "Nobody got a usable answer, so nothing is said of the crawlers either.",
    "fixes": "space supposes a fix done in the pane of fixes: 4 goes there.",
    "panes": "A pane has the whole screen already, as long as it is narrower than 110 columns.",
    "list": "This card was not opened from a list: there is no next site.",
}
"""What a key may need to act, and what is said where that is missing."""


def _key(
    key: str,
    action: str,
    name: str,
    about: str,
    foot: str = "",
    *,
    title: str = "",
    display: str = "",
    first: bool = False,
    needs: str = "",
) -> Key:
    """Return a key; it has a place in the line of keys where it has a word for the ``foot``.

    ``title``: its name in the palette, where that is neither the word nor the id. ``first``: it acts before the widget
    with the focus sees it. ``needs``: names of NEEDS.
    """
    words = foot or title or name.replace("-", " ").capitalize()
    return Key(key, action, words, name, about, bool(foot), display or None, first, tuple(needs.split()))


TABLES: Final[dict[str, tuple[Key, ...]]] = {}
"""Every table by the place where it works. Keys of ``everywhere`` work in all others too."""


def _table(place: str, *keys: Key) -> str:
    """Add the keys of ``place`` to TABLES and return its name."""
    TABLES[place] = keys
    return place


def bindings(place: str) -> list[BindingType]:
    """Return the keys of ``place`` as Textual wants them, with the place as the group of each."""
    group = Binding.Group(place)
    fields = [name for name in Key.__struct_fields__ if name != "needs"]
    return [Binding(**{name: getattr(key, name) for name in fields}, group=group) for key in TABLES[place]]


def _name_of(action: str) -> str:
    return action.partition("(")[0]


@cache
def _needs(place: str) -> Mapping[str, tuple[str, ...]]:
    """Return what each action of ``place`` needs, by its name."""
    return {_name_of(key.action): key.needs for key in TABLES.get(place, ())}


def needs(table: Iterable[BindingType], action: str) -> tuple[str, ...]:
    """Return what ``action``, with arguments or without, needs in the place of ``table``."""
    groups = (binding.group for binding in table if isinstance(binding, Binding))
    place = next((group.description for group in groups if group is not None), "")
    return _needs(place).get(_name_of(action), ())


def _moves(step: str, noun: str) -> tuple[Key, ...]:
    """Return the keys that move through a list; ``noun``: what its lines are called."""
    return (
        _key("up,k", f"{step}(-1)", "up", f"One {noun} up", needs="answer"),
        _key("down,j", f"{step}(1)", "down", f"One {noun} down", needs="answer"),
        _key("pageup", "page(-1)", "page-up", "One page up", needs="answer"),
        _key("pagedown", "page(1)", "page-down", "One page down", needs="answer"),
        _key("home,g", "jump(0)", "top", f"First {noun}", needs="answer"),
        _key("end,G", "jump(-1)", "bottom", f"Last {noun}", needs="answer"),
    )


TABLE: Final = _table(
    "list",
    _key("enter", "open", "open", "Open the report card of the host under the cursor", "Open", needs="answer"),
    *_moves("move", "row"),
    _key("left", "column(-1)", "column-left", "Column at the left"),
    _key("right", "column(1)", "column-right", "Column at the right"),
)

INDEX: Final = _table(
    "index",

    _key("slash", "search", "search", "Filter as you type: text and terms such as stance:walled", "Query"),
    _key("1", "stance('Open')", "stance-open", "Only Open hosts, or all again", "Stance", display="1-3"),
    _key("2", "stance('Selective')", "stance-selective", "Only Selective hosts, or all"),
    _key("3", "stance('Walled')", "stance-walled", "Only Walled hosts, or all again"),
    _key("0", "stance('')", "stance-all", "Hosts of every stance"),
    _key("c", "category", "category", "Choose a category, each with its number of hosts", "Category", needs="answer"),
    _key("t", "turn", "sort-turn", "Order by the column under the cursor, or turn it round", "Sort", display="←→ t"),
    _key("less_than_sign", "sort(-1)", "sort-left", "Sort by the column to the left"),
    _key("greater_than_sign", "sort(1)", "sort-right", "Sort by the column to the right"),
    _key("F", "count", "count", "Overview, where the values of the column are counted", "Count", needs="host"),
    _key("space", "mark", "mark", "Mark the host, to compare, scan or write several", "Mark", needs="host answer"),
    _key("equals_sign", "compare", "compare", "The marked hosts side by side", "Compare", needs="answer"),
    _key("S", "ask_scan", "scan-address", "Type an address and scan it", "Other address", needs="scans"),
    _key("V", "app.window('views')", "views", "Show a saved list, or save this one", "Lists"),
    _key("v", "overview", "overview", "Who gets in, scores, stances per category, what sites lack most", "Overview",
         needs="answer"),
    _key("x", "export", "export", "Write the list, or the marked hosts of it, to a file", "Write",
         needs="writer answer"),
    _key("s", "scan(False)", "scan", "Scan the host under the cursor; the answer may be up to 24 h old", "Scan",
         needs="scans answer"),
    _key("f", "scan(True)", "scan-force", "Ask the site again, whatever answer is kept; costs one", "Ask again",
         needs="scans answer"),
    _key("m", "matrix", "matrix", "Who gets in, one column per assistant; t sorts by one", "Matrix"),
    _key("u", "other_list", "other-list", "Switch between the two lists", "Unreachable", needs="answer"),
    _key("y", "copy('host')", "copy", "Copy the host name", "Copy", needs="host answer"),
    _key("Y", "copy('row')", "copy-more", "Copy the row, values parted by tabs", title="Copy row", needs="host answer"),
    _key("a", "tasks", "tasks", "Run the tasks on the host in a browser", needs="host own"),
    _key("C", "app.window('columns')", "columns", "Choose the columns of the list"),
    _key("o", "browse", "browse", "Open the site itself; over ssh its address is copied", title="Site",
         needs="host answer"),
    _key("J", "scroll_preview(3)", "preview-down", "Scroll the preview down", needs="wide"),
    _key("K", "scroll_preview(-3)", "preview-up", "Scroll the preview up", needs="wide"),
    _key("plus", "preview", "zoom", "Show or hide the preview", title="Preview", needs="wide"),
    _key("r", "reload", "reload", "Read the list again; cursor and filters stay"),
    _key("escape,backspace", "back", "back", "Stop the scan, else clear the search, else the filters", display="esc"),
)  # fmt: skip

OVERVIEW: Final = _table(
    "overview",

    *(_key(str(n), f"pane({n})", f"figures-{n}", "To the pane with that digit",
           "Pane" * (n == 1), display="1-6" * (n == 1)) for n in range(1, 7)),
    _key("plus", "zoom", "zoom", "Give the whole screen to one pane, or back"),
    _key("tab", "turn(1)", "figures-next", "Next pane", needs="answer"),
    _key("shift+tab", "turn(-1)", "figures-previous", "Previous pane", needs="answer"),
    _key("y", "copy('row')", "copy", "Copy the row under the cursor", needs="answer"),
    _key("d", "since", "figures-since", "Choose the day from which changes are counted", "Since"),
    _key("escape,backspace,v", "dismiss", "overview-back", "Back to the list", "Back", display="esc"),
)  # fmt: skip

COMPARE: Final = _table(
    "comparison",

    _key("right", "site(1)", "figure-right", "To the site at the right", "Site", display="←→", first=True,
         needs="answer"),
    _key("left", "site(-1)", "figure-left", "To the site at the left", first=True, needs="answer"),
    _key("a", "every", "compare-all", "Show the lines that are alike too, or fold them", "All lines"),
    _key("y", "copy('row')", "copy", "Copy the row under the cursor", "Copy", needs="answer"),
    _key("x", "export", "export", "Write the hosts to a file", "Write", needs="writer answer"),
    _key("o", "browse", "browse", "Open the site itself; over ssh its address is copied", "Site", needs="answer"),
    _key("escape,backspace,equals_sign", "dismiss", "compare-back", "Back to the list", "Back", display="esc"),
)  # fmt: skip

QUERY: Final = _table(
    "search",
    _key("escape", "leave(False)", "query-cancel", "Leave the query as it was before", "Cancel", display="esc"),
    _key("enter", "leave(True)", "query-keep", "Keep the query and go to the list", "List"),
    _key("down", "step(1)", "query-next", "Next choice of the drop-down", "Choose", display="↑↓"),
    _key("up", "step(-1)", "query-previous", "Choice before"),
    _key("tab", "complete", "query-complete", "Take the choice under the cursor", "Take"),
)

FIND: Final = _table(
    "find",
    _key("down", "step(1)", "find-next", "Next line found", "Next", display="enter", first=True),
    _key("escape", "leave", "find-close", "Back to the pane; the marks go", "Close", display="esc"),
    _key("up", "step(-1)", "find-previous", "Line found before", "Previous", first=True),
)

CARD: Final = _table(
    "report card",

    _key("1", "pane(1)", "pane-1", "Who gets in, and the next step", "Pane", display="1-8"),
    _key("2", "pane(2)", "pane-2", "Agents and crawlers", title="Agents"),
    _key("3", "pane(3)", "pane-3", "Evidence, or what changed", title="Evidence"),
    _key("4", "pane(4)", "pane-4", "Fixes and their snippets", title="Fixes"),
    _key("5", "pane(5)", "pane-5", "What readers of text get, and the site", title="Reads"),
    _key("6", "pane(6)", "pane-6", "Every request of the last scan", title="Log"),
    _key("7", "pane(7)", "pane-7", "What an assistant could get done", title="Tasks"),
    _key("8", "pane(8)", "pane-8", "What access logs say of real agents", title="Visits"),
    _key("C", "crawlers", "columns", "Add the crawlers to the agents, or leave them out", title="Crawlers",
         needs="card agents answers"),
    _key("space", "tick", "what-if", "Suppose the chosen fix done, and see the score", needs="card fixes answer"),
    _key("tab", "next_pane(1)", "pane-next", "Next pane"),
    _key("shift+tab", "next_pane(-1)", "pane-previous", "Previous pane"),
    _key("slash", "find", "find", "Find words in this pane", needs="card"),
    _key("n", "walk(1)", "next", "Next host of the list", "Site", display="n/p", needs="list"),
    _key("p", "walk(-1)", "previous", "Previous host of the list", needs="list"),
    _key("s", "scan(False)", "scan", "Scan this host; the answer may be up to 24 h old", "Scan", needs="scans answer"),
    _key("a", "tasks", "tasks", "Run the tasks on this host in a browser on this machine", "Tasks", needs="own"),
    _key("y", "copy('fix')", "copy", "Copy the snippet of the chosen fix", "Copy", needs="card answer"),
    _key("x", "export", "export", "Write the card, or the chosen snippet, to a file", "Write",
         needs="card writer answer"),
    _key("d", "changes", "changes", "What changed since the scan before, or the evidence again", "Changes",
         needs="card"),
    _key("l", "ledger", "ledger", "How the score came about, point by point", "Ledger", needs="card"),
    _key("f", "scan(True)", "scan-force", "Ask the site again, whatever answer is kept; costs one", "Ask again",
         needs="scans answer"),
    _key("plus", "zoom", "zoom", "Give the whole screen to one pane, or back", "Zoom", needs="card panes"),
    _key("o", "browse", "browse", "Open the site itself; over ssh its address is copied", title="Site", needs="answer"),
    _key("M", "method", "method", "Grade the same observations under the other method", "Other method",
         needs="card answer"),
    _key("D", "history('compare')", "changes-since", "Compare with an earlier scan", needs="card answer"),
    _key("h", "history('show')", "history", "Show an earlier scan", needs="card answer"),
    _key("Y", "copy('card')", "copy-more", "Copy the whole card as JSON", title="Copy card", needs="card answer"),
    _key("r", "reads", "reads", "The page as readers of text get it, at full size", "Reads", needs="card"),
    _key("R", "reload", "reload", "Read the card again"),
    _key("escape,backspace", "back", "back", "Stop the scan of this host, else back to the list", display="esc"),
)  # fmt: skip

EXCHANGE: Final = _table(
    "exchange",

    _key("tab", "turn(1)", "side-next", "Both sides, one side raw, the text", "Side", first=True),
    _key("shift+tab", "turn(-1)", "side-previous", "Side before", first=True),
    _key("n", "walk(1)", "next", "Next agent or file", "Agent", display="n/p"),
    _key("p", "walk(-1)", "previous", "Previous agent or file"),
    _key("y", "copy('curl')", "copy", "Copy a command that asks the same, without secrets", "Copy curl",
         needs="answer"),
    _key("Y", "copy('both')", "copy-more", "Copy both sides as text", "All", needs="answer"),
    _key("x", "export", "export", "Write both sides to a file", "Write", needs="writer answer"),
    _key("escape,backspace", "dismiss", "exchange-back", "Back to the card", "Back", display="esc"),
    _key("slash", "find", "find", "Find words in what is shown"),
)  # fmt: skip

READS: Final = _table(
    "reads",

    _key("tab", "turn(1)", "side-next", "Next reading: article, page, words, facts", "Reading", first=True),
    _key("shift+tab", "turn(-1)", "side-previous", "Reading before", first=True),
    _key("d", "compare", "reads-compare", "Compare two readings, or the browser's page and the agents'", "Compare"),
    _key("y", "copy('reading')", "copy", "Copy the reading", "Copy", needs="answer"),
    _key("slash", "find", "find", "Find words in what is shown"),
    _key("escape,backspace,r", "dismiss", "reads-back", "Back to the card", "Back", display="esc"),
)  # fmt: skip

LINES: Final = _table(
    "pane",
    *_moves("step", "line, fix or figure"),
    _key("enter", "select", "figure", "Show what is behind the row or figure under the cursor", "Open", needs="answer"),
    _key("left", "side(-1)", "figure-left", "Figure at the left", needs="answer"),
    _key("right", "side(1)", "figure-right", "Figure at the right", needs="answer"),
)

CLOSE: Final = _table(
    "window",
    _key("escape,question_mark,q", "close", "close", "Close", "Close", display="esc"),
)

HELP: Final = _table(
    "help",
    _key("t", "topics", "help-topics", "Read the documentation, topic by topic", "Topics"),
)

METHOD: Final = _table(
    "method",
    _key("M,m", "method", "method-other", "Turn to the other method", "Other method"),
)

ADDRESS: Final = _table(
    "address",
    _key("down,tab", "away(1)", "address-down", "The other ways to a first list", "Choose", display="↑↓"),
)

FIRST: Final = _table(
    "first screen",
    _key("escape", "back", "first-back", "Leave the line: then other keys work", "Leave the line", display="esc"),
    _key("up,shift+tab", "away", "first-up", "Back to the address", first=True),
    _key("slash,u", "dismiss", "first-list", "Go to the list, empty as it is"),
)

CHOOSE_MANY: Final = _table(
    "columns",
    _key("enter", "accept", "columns-accept", "Show", "Show", first=True),
    _key("space", "mark", "columns-mark", "Mark", "Mark", first=True),
)

SETTINGS: Final = _table(
    "settings",
    _key("e", "edit", "settings-edit", "Open the settings file in your editor", "Edit the file"),
)

VIEWS: Final = _table(
    "saved lists",
    _key("delete,ctrl+d", "forget", "views-forget", "Forget the list under the cursor", "Forget", first=True),
)


APP: Final = _table(
    "everywhere",
    _key(
        "question_mark", "window('help')", "help", "Keys that work here, and the command that prints the same", "Help"
    ),
    _key("ctrl+p", "command_palette", "palette", "Find a command, a host, a list or a theme"),
    _key("e", "window('method')", "explain", "How a score comes about, in words", title="Method"),
    _key("T", "window('theme')", "themes", "Choose a theme; the screen shows each as you go"),
    _key("comma", "window('settings')", "settings", "Every setting, its value, its place; the file"),
    _key("L", "window('log')", "actions", "What was done here; enter copies its command line"),
    _key("ctrl+z", "suspend_process", "suspend", "Back to the shell; fg comes back here"),
    _key("q,ctrl+q", "quit", "quit", "Leave the dashboard", display="q"),
)

KEY_WORDS: Final = {
    "escape": "esc",
    "question_mark": "?",
    "slash": "/",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "plus": "+",
    "comma": ",",
    "minus": "-",
    "equals_sign": "=",
    "backspace": "bksp",
    "pageup": "pgup",
    "pagedown": "pgdn",
}
"""How keys are written on the screen, where it is not by their name."""


def written(key: str) -> str:
    """Return how a key is written on the screen."""
    return KEY_WORDS.get(key, key)


class Live(msgspec.Struct, frozen=True):
    """An action that works now: its place in TABLES, its binding, all its keys, and the node that it is bound to."""

    place: str
    binding: Binding
    keys: list[str]
    node: DOMNode


def live(screen: Screen[Any]) -> list[Live]:
    """Return the actions that work on ``screen``, in the order of TABLES: for its foot, its help and the palette."""
    actions: dict[tuple[str, str], Live] = {}
    for active in screen.active_bindings.values():
        binding = active.binding
        if active.enabled and binding.group is not None and binding.id is not None:
            place = binding.group.description
            name = getattr(active.node, "opens", "") if binding.id == "figure" else ""  # a list names enter by its rows
            named = replace(binding, description=name) if name else binding
            action = actions.setdefault((place, binding.id), Live(place, named, [], active.node))
            action.keys.append(written(binding.key))
    places = {place for place, _ in actions}
    order = ((place, key.id) for place in TABLES if place in places for key in TABLES[place])
    return [actions[name] for name in dict.fromkeys(order) if name in actions]


MODAL: Final = frozenset({"window", "search", "find", "address", "columns", "settings", "saved lists"})
"""Places where the keys of everywhere do not work."""
MODIFIERS: Final = frozenset({"ctrl", "shift", "alt", "super"})


def checked(keymap: Mapping[str, str]) -> dict[str, str]:
    """Return ``keymap`` with its keys in Textual's spelling.

    Raises ConfigError with one sentence for every problem: an unknown id or key with the nearest name, and two
    actions on one key in one place.
    """
    if not keymap:
        return {}
    known = dict.fromkeys(key.id for table in TABLES.values() for key in table)
    problems: list[str] = []
    out: dict[str, str] = {}
    for name, keys in keymap.items():
        if name not in known:
            problems.append(f"unknown action {clean(name, 40)!r}{_near(name, known)}")
            continue
        spelled = [_spell(key.strip()) for key in keys.split(",")]
        for key, spelling in zip(keys.split(","), spelled, strict=True):
            if not spelling:
                problems.append(f"{name}: unknown key {clean(key.strip(), 40)!r}{_near(key.strip(), _names())}")
        if all(spelled):
            out[name] = ",".join(spelled)
    if not problems:
        problems = _clashes(out)
    if problems:
        raise ConfigError(f"The keys cannot be used: {'; '.join(problems)}.")
    return out


def _near(word: str, words: Iterable[str]) -> str:
    near = nearest(word, words)
    return f", {near}" if near else ""


def _spell(key: str) -> str:
    """Return a key in Textual's spelling, empty for one that no terminal sends."""
    *modifiers, last = key.split("+") if len(key) > 1 and not key.endswith("++") else [key]
    if any(modifier not in MODIFIERS for modifier in modifiers) or len(set(modifiers)) < len(modifiers):
        return ""
    if len(last) == 1 and last.isprintable():
        last = last if modifiers else _name(last)
    elif last not in _names():
        return ""
    return "+".join((*modifiers, last))


@cache
def _names() -> frozenset[str]:
    """Return the names of all keys."""
    symbols = {_name(chr(code)) for code in range(33, 127) if chr(code) != ","}
    return frozenset({"comma", *symbols, *(key.value for key in Keys if not {"<", "+"} & set(key.value))})


def _name(char: str) -> str:
    """Return Textual's name of the key that types ``char``."""
    return next(iter(Binding.make_bindings([(char, "")]))).key


def _clashes(changes: Mapping[str, str]) -> list[str]:
    # Textual's own check (BindingsMap.apply_keymap, 8.2.8) lets a changed key take one that another action has by
    # default, and says nothing.
    problems: list[str] = []
    for place, table in TABLES.items():
        if place == "everywhere":
            continue
        owners: dict[str, str] = {}
        for row in (*table, *(() if place in MODAL else TABLES["everywhere"])):
            for key in changes.get(row.id, row.key).split(","):
                owner = owners.setdefault(key, row.id)
                if owner != row.id and (row.id in changes or owner in changes):
                    problems.append(f"{key} is both {owner} and {row.id} in the {place}")
    return list(dict.fromkeys(problems))

"""Every key of the dashboard, as tables; its id is its name in the user's ``[keys]``, which is checked here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any, Final, NamedTuple

from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import Keys
from textual.screen import Screen

from aui_tui.errors import ConfigError
from aui_tui.model.vocabulary import nearest
from aui_tui.text import clean

Key = partial[Binding]


def _key(
    key: str,
    action: str,
    name: str,
    description: str,
    more: str = "",
    *,
    show: bool = True,
    display: str = "",
    first: bool = False,
) -> Key:
    """Return a key without its group; ``first``: it acts before the widget with the focus sees it."""
    about, shown = more or description, display or None
    keys = partial(Binding, key, action, description, id=name, tooltip=about)
    return partial(keys, show=show, key_display=shown, priority=first)


TABLES: Final[dict[str, tuple[Binding, ...]]] = {}
"""Every table by the place where it works. Keys of ``everywhere`` work in all others too."""


def _table(place: str, *keys: Key) -> tuple[Binding, ...]:
    """Return the keys of ``place``, which is the group of each."""
    group = Binding.Group(place)
    TABLES[place] = tuple(key(group=group) for key in keys)
    return TABLES[place]


def _moves(step: str, one: str) -> tuple[Key, ...]:
    """Return the keys that move through a list; ``one``: what its lines are called."""
    return (
        _key("up,k", f"{step}(-1)", "up", "Up", f"One {one} up", show=False),
        _key("down,j", f"{step}(1)", "down", "Down", f"One {one} down", show=False),
        _key("pageup", "page(-1)", "page-up", "Page up", "One page up", show=False),
        _key("pagedown", "page(1)", "page-down", "Page down", "One page down", show=False),
        _key("home,g", "jump(0)", "top", "First", f"First {one}", show=False),
        _key("end,G", "jump(-1)", "bottom", "Last", f"Last {one}", show=False),
    )


TABLE: Final = _table(
    "list",
    _key("enter", "open", "open", "Open", "Open the report card of the host under the cursor"),
    *_moves("move", "row"),
    _key("left", "column(-1)", "column-left", "Column left", "Column at the left", show=False),
    _key("right", "column(1)", "column-right", "Column right", "Column at the right", show=False),
)

INDEX: Final = _table(
    "index",

    _key("slash", "search", "search", "Query", "Filter as you type: text and terms such as stance:walled"),
    _key("1", "stance('Open')", "stance-open", "Stance", "Only Open hosts, or all again", display="1-3"),
    _key("2", "stance('Selective')", "stance-selective", "Selective", "Only Selective hosts, or all", show=False),
    _key("3", "stance('Walled')", "stance-walled", "Walled", "Only Walled hosts, or all again", show=False),
    _key("0", "stance('')", "stance-all", "All stances", "Hosts of every stance", show=False),
    *(_key(str(n), f"surface({n})", f"surface-{n}", "Assistant", "Sort by the assistant with that digit",
           show=n == 1, display="1-8" if n == 1 else "") for n in range(1, 9)),
    _key("c", "category", "category", "Category", "Choose a category, each with its number of hosts"),
    _key("t", "turn", "sort-turn", "Sort", "Order by the column under the cursor, or turn the order round",
         display="←→ t"),
    _key("less_than_sign", "sort(-1)", "sort-left", "Sort left", "Sort by the column to the left", show=False),
    _key("greater_than_sign", "sort(1)", "sort-right", "Sort right", "Sort by the column to the right", show=False),
    _key("F", "histogram", "histogram", "Count", "Count the values of a column; enter filters by one"),
    _key("space", "mark", "mark", "Mark", "Mark the host, to compare, scan or write several"),
    _key("equals_sign", "compare", "compare", "Compare", "The marked hosts side by side"),
    _key("V", "app.window('views')", "views", "Lists", "Show a saved list, or save this one"),
    _key("v", "overview", "overview", "Overview", "Who gets in, scores, stances per category, what sites lack most"),
    _key("x", "export", "export", "Write", "Write the list, or the marked hosts of it, to a file"),
    _key("s", "scan(False)", "scan", "Scan", "Scan the host under the cursor; the answer may be up to 24 h old"),
    _key("f", "scan(True)", "scan-force", "Ask again", "Ask the site again, whatever answer is kept; costs one"),
    _key("m", "matrix", "matrix", "Matrix", "Who gets in, one column per assistant; then 1 to 8 sort by one"),
    _key("u", "other_list", "other-list", "Unreachable", "Switch between the two lists"),
    _key("y", "copy('host')", "copy", "Copy", "Copy the host name"),
    _key("Y", "copy('row')", "copy-more", "Copy row", "Copy the row, values parted by tabs", show=False),
    _key("a", "tasks", "tasks", "Tasks", "Run the tasks on the host in a browser", show=False),
    _key("C", "app.window('columns')", "columns", "Columns", "Choose the columns of the list", show=False),

    _key("S", "ask_scan", "scan-address", "Scan address", "Type an address and scan it", show=False),
    _key("o", "browse", "browse", "Site", "Open the site itself; over ssh its address is copied", show=False),
    _key("J", "scroll_preview(3)", "preview-down", "Preview down", "Scroll the preview down", show=False),
    _key("K", "scroll_preview(-3)", "preview-up", "Preview up", "Scroll the preview up", show=False),
    _key("plus", "preview", "zoom", "Preview", "Show or hide the preview", show=False),
    _key("r", "reload", "reload", "Reload", "Read the list again; cursor and filters stay", show=False),
    _key("escape,backspace", "back", "back", "Back", "Stop the scan, else clear the search, else the filters",
         show=False, display="esc"),
)  # fmt: skip

OVERVIEW: Final = _table(
    "overview",

    *(_key(str(n), f"pane({n})", f"figures-{n}", "Pane", "To the pane with that digit",
           show=n == 1, display="1-6" if n == 1 else "") for n in range(1, 7)),
    _key("plus", "zoom", "zoom", "Zoom", "Give the whole screen to one pane, or back", show=False),
    _key("tab", "turn(1)", "figures-next", "Next pane", show=False),
    _key("shift+tab", "turn(-1)", "figures-previous", "Previous pane", show=False),
    _key("y", "copy", "copy", "Copy", "Copy the row under the cursor", show=False),
    _key("d", "since", "figures-since", "Since", "Choose the day from which changes are counted"),
    _key("escape,backspace,v", "dismiss", "overview-back", "Back", "Back to the list", display="esc"),
)  # fmt: skip

COMPARE: Final = _table(
    "comparison",

    _key("right", "site(1)", "figure-right", "Site", "To the site at the right", display="←→", first=True),
    _key("left", "site(-1)", "figure-left", "Left", "To the site at the left", show=False, first=True),
    _key("a", "every", "compare-all", "All lines", "Show the lines that are alike too, or fold them"),
    _key("y", "copy", "copy", "Copy", "Copy the row under the cursor"),
    _key("x", "export", "export", "Write", "Write the hosts to a file"),
    _key("o", "browse", "browse", "Site", "Open the site itself; over ssh its address is copied"),
    _key("escape,backspace,equals_sign", "dismiss", "compare-back", "Back", "Back to the list", display="esc"),
)  # fmt: skip

QUERY: Final = _table(
    "search",
    _key("escape", "leave(False)", "query-cancel", "Cancel", "Leave the query as it was before", display="esc"),
    _key("enter", "leave(True)", "query-keep", "List", "Keep the query and go to the list"),
    _key("down", "step(1)", "query-next", "Choose", "Next choice of the drop-down", display="↑↓"),
    _key("up", "step(-1)", "query-previous", "Choice before", "Choice before", show=False),
    _key("tab", "complete", "query-complete", "Take", "Take the choice under the cursor"),
)

FIND: Final = _table(
    "find",
    _key("escape", "leave", "find-close", "Close", "Back to the pane; the marks go", display="esc"),
    _key("enter,down", "step(1)", "find-next", "Next", "Next line found", display="enter"),
    _key("up", "step(-1)", "find-previous", "Previous", "Line found before"),
)

CARD: Final = _table(
    "report card",

    _key("1", "pane(1)", "pane-1", "Pane", "Summary, or the ledger", display="1-7"),
    _key("2", "pane(2)", "pane-2", "Agents", "Agents and crawlers", show=False),
    _key("3", "pane(3)", "pane-3", "Evidence", "Evidence, or what changed", show=False),
    _key("4", "pane(4)", "pane-4", "Fixes", "Fixes and their snippets", show=False),
    _key("5", "pane(5)", "pane-5", "Log", "Every request of the last scan", show=False),
    _key("6", "pane(6)", "pane-6", "Tasks", "What an assistant could get done", show=False),
    _key("7", "pane(7)", "pane-7", "Visits", "What access logs say of real agents", show=False),
    _key("C", "crawlers", "columns", "Crawlers", "Add the crawlers to the agents, or leave them out", show=False),
    _key("space", "tick", "what-if", "What if", "Suppose the chosen fix done, and see the score", show=False),
    _key("tab", "next_pane(1)", "pane-next", "Next pane", show=False),
    _key("shift+tab", "next_pane(-1)", "pane-previous", "Previous pane", show=False),
    _key("slash", "find", "find", "Find", "Find words in this pane", show=False),
    _key("n", "walk(1)", "next", "Site", "Next host of the list", display="n/p"),
    _key("p", "walk(-1)", "previous", "Previous", "Previous host of the list", show=False),
    _key("s", "scan(False)", "scan", "Scan", "Scan this host; the answer may be up to 24 h old"),
    _key("a", "tasks", "tasks", "Tasks", "Run the tasks on this host in a browser on this machine"),
    _key("y", "copy('fix')", "copy", "Copy", "Copy the snippet of the chosen fix"),
    _key("x", "export", "export", "Write", "Write the card, or the chosen snippet, to a file"),
    _key("d", "changes", "changes", "Changes", "What changed since the scan before, or the evidence again"),
    _key("l", "ledger", "ledger", "Ledger", "How the score came about, point by point"),
    _key("f", "scan(True)", "scan-force", "Ask again", "Ask the site again, whatever answer is kept; costs one"),
    _key("plus", "zoom", "zoom", "Zoom", "Give the whole screen to one pane, or back"),
    _key("o", "browse", "browse", "Site", "Open the site itself; over ssh its address is copied", show=False),
    _key("M", "method", "method", "Other method", "Grade the same observations under the other method"),
    _key("D", "history('compare')", "changes-since", "Changes since", "Compare with an earlier scan", show=False),
    _key("h", "history('show')", "history", "History", "Show an earlier scan", show=False),
    _key("Y", "copy('card')", "copy-more", "Copy card", "Copy the whole card as JSON", show=False),
    _key("r", "reload", "reload", "Reload", "Read the card again", show=False),
    _key("escape,backspace", "back", "back", "Back", "Stop the scan of this host, else back to the list",
         show=False, display="esc"),
)  # fmt: skip

EXCHANGE: Final = _table(
    "exchange",

    _key("tab", "turn(1)", "side-next", "Side", "Both sides, one side raw, the text", first=True),
    _key("shift+tab", "turn(-1)", "side-previous", "Side before", show=False, first=True),
    _key("n", "walk(1)", "next", "Agent", "Next agent or file", display="n/p"),
    _key("p", "walk(-1)", "previous", "Previous", "Previous agent or file", show=False),
    _key("y", "copy('curl')", "copy", "Copy curl", "Copy a command that asks the same, without secrets"),
    _key("Y", "copy('both')", "copy-more", "All", "Copy both sides as text"),
    _key("x", "export", "export", "Write", "Write both sides to a file"),
    _key("escape,backspace", "dismiss", "exchange-back", "Back", "Back to the card", display="esc"),
    _key("slash", "find", "find", "Find", "Find words in what is shown", show=False),
)  # fmt: skip


LINES: Final = _table(
    "pane",
    *_moves("step", "line, fix or figure"),
    _key("enter", "select", "figure", "Open", "Show what is behind the row or figure under the cursor"),
    _key("left", "side(-1)", "figure-left", "Left", "Figure at the left", show=False),
    _key("right", "side(1)", "figure-right", "Right", "Figure at the right", show=False),
)

CLOSE: Final = _table(
    "window",
    _key("escape,question_mark,q", "close", "close", "Close", display="esc"),
)

HELP: Final = _table(
    "help",
    _key("t", "topics", "help-topics", "Topics", "Read the documentation, topic by topic"),
)

METHOD: Final = _table(
    "method",
    _key("M,m", "method", "method-other", "Other method", "Turn to the other method"),
)

ADDRESS: Final = _table(
    "address",
    _key("down,tab", "away(1)", "address-down", "Choose", "The other ways to a first list", display="↑↓"),
)

FIRST: Final = _table(
    "first screen",
    _key("escape", "back", "first-back", "Leave the line", "Leave the line: then other keys work", display="esc"),
    _key("up,shift+tab", "away", "first-up", "Up", "Back to the address", show=False, first=True),
    _key("slash,u", "dismiss", "first-list", "List", "Go to the list, empty as it is", show=False),
)

CHOOSE_MANY: Final = _table(
    "columns",
    _key("enter", "accept", "columns-accept", "Show", first=True),
    _key("space", "mark", "columns-mark", "Mark", first=True),
)

VIEWS: Final = _table(
    "saved lists",
    _key("delete,ctrl+d", "forget", "views-forget", "Forget", "Forget the list under the cursor", first=True),
)


APP: Final = _table(
    "everywhere",
    _key(
        "question_mark", "window('help')", "help", "Help", "Keys that work here, and the command that prints the same"
    ),
    _key("ctrl+p", "command_palette", "palette", "Commands", "Find a command, a host, a list or a theme", show=False),
    _key("e", "window('method')", "explain", "Method", "How a score comes about, in words", show=False),
    _key("T", "window('theme')", "themes", "Themes", "Choose a theme; the screen shows each as you go", show=False),
    _key(
        "comma",
        "window('settings')",
        "settings",
        "Settings",
        "Theme, columns, keys, saved lists, their file",
        show=False,
    ),
    _key("L", "window('log')", "actions", "Actions", "What was done here; enter copies its command line", show=False),
    _key("ctrl+z", "suspend_process", "suspend", "Suspend", "Back to the shell; fg comes back here", show=False),
    _key("q,ctrl+q", "quit", "quit", "Quit", "Leave the dashboard", show=False, display="q"),
)

ON_ANSWER: Final = frozenset(
    (
        *("open", "up", "down", "page-up", "page-down", "top", "bottom", "mark", "compare", "category", "overview"),
        "other-list",
        *("figure", "figure-left", "figure-right", "figures-next", "figures-previous"),
        *("what-if", "method", "history", "changes-since"),
        *("scan", "scan-force", "export", "copy", "copy-more", "browse"),
    )
)
"""Ids of the keys that act on what the source last answered: typed ahead of that answer they wait for it."""

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


class Live(NamedTuple):
    """An action that works now: its place in TABLES, its binding, all its keys, and the node that it is bound to."""

    place: str
    binding: Binding
    keys: list[str]
    node: DOMNode


def live(screen: Screen[Any]) -> list[Live]:
    """Return the actions that work on ``screen``, in the order of TABLES: for its foot, its help and the palette."""
    found: dict[tuple[str, str], Live] = {}
    for active in screen.active_bindings.values():
        binding = active.binding
        if active.enabled and binding.group is not None and binding.id is not None:
            place = binding.group.description
            name = getattr(active.node, "opens", "") if binding.id == "figure" else ""  # a list names enter by its rows
            named = replace(binding, description=name) if name else binding
            known = found.setdefault((place, binding.id), Live(place, named, [], active.node))
            known.keys.append(written(binding.key))
    order = [(place, binding.id) for place, table in TABLES.items() for binding in table]
    return [found[name] for name in dict.fromkeys(order) if name in found]


MODAL: Final = frozenset({"window", "search", "find", "address", "columns", "saved lists"})
"""Places where the keys of everywhere do not work."""
MODIFIERS: Final = frozenset({"ctrl", "shift", "alt", "super"})


def checked(keymap: Mapping[str, str]) -> dict[str, str]:
    """Return ``keymap`` with its keys in Textual's spelling.

    Raises ConfigError with one sentence for every problem: an unknown id or key with the nearest name, and two
    actions on one key in one place.
    """
    known = {binding.id: binding for table in TABLES.values() for binding in table}
    problems: list[str] = []
    out: dict[str, str] = {}
    for name, keys in keymap.items():
        if name not in known:
            problems.append(f"unknown action {clean(name, 40)!r}{_near(name, filter(None, known))}")
            continue
        spelled = [_spell(key.strip()) for key in keys.split(",")]
        for key, found in zip(keys.split(","), spelled, strict=True):
            if not found:
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
    problems: list[str] = []
    for place, table in TABLES.items():
        if place == "everywhere":
            continue
        seen: dict[str, str] = {}
        for binding in (*table, *(() if place in MODAL else APP)):
            name = binding.id or ""
            for key in changes.get(name, binding.key).split(","):
                other = seen.setdefault(key, name)
                if other != name and (name in changes or other in changes):
                    problems.append(f"{key} is both {other} and {name} in the {place}")
    return list(dict.fromkeys(problems))

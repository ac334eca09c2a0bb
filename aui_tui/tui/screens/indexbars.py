"""The lines around the list: title with the state of the source, filter chips, detail of the row."""

from __future__ import annotations

from collections.abc import Sequence

from aui_tui.records.agents import turned_away
from aui_tui.records.registry import surfaces
from aui_tui.records.view import IndexView, Quota, Row
from aui_tui.records.vocabulary import STANCES
from aui_tui.text import cells, count
from aui_tui.tui import glyphs
from aui_tui.tui.draw import BLANK, Line, Piece, cut, line, pad, spread, width
from aui_tui.tui.panes.foot import TERMS, term
from aui_tui.tui.state import ListState
from aui_tui.tui.words import clock, local_time

SHORT_STANCE = {"Open": "Open", "Selective": "Sel", "Walled": "Wall"}


def quota_words(quota: Quota | None, *, full: bool) -> str:
    """Return the scans left: ``scans 7/10`` and, where there is room, when the next slot frees."""
    if quota is None:
        return ""
    words = "scans " + str(quota.left) + "/" + str(quota.limit)
    if quota.next_slot and (full or quota.left == 0):
        words += " · next slot " + local_time(quota.next_slot)
    return words


def title_line(state: ListState, label: str, quota: Quota | None, size: int) -> Line:
    """Return the first line: counts of both lists at the left, source, age and quota at the right."""
    view = state.view
    if view is None:
        return spread(line(" ", ("AUI", "title"), "  reading the index …"), line((label, "muted"), " "), size)
    ranked, unreachable = (
        "…" if view.counting else format(len(window), ",") for window in (view.ranked, view.unreachable)
    )
    counts = [
        Piece("Ranked " + ranked, "" if state.unreachable else "strong", "screen.list('ranked')"),
        Piece(" · ", "muted"),
        Piece(
            "Unreachable " + unreachable,
            "strong" if state.unreachable else "",
            "screen.list('unreachable')",
        ),
    ]
    name = "AUI  Agentic Usability Index" if size >= 110 else "AUI"
    left = (Piece(" "), Piece(name, "title"), Piece("  "), *counts)
    facts = [label, "index " + clock(view.scanned_at), quota_words(quota, full=False)]
    if size >= 110:
        facts = [label, "index " + view.scanned_at[:10] + " " + clock(view.scanned_at), quota_words(quota, full=True)]
    if view.notice:
        facts.insert(0, view.notice)
    facts = [fact for fact in facts if fact]
    while len(facts) > 1 and len(" · ".join(facts)) > size - width(left) - 3:
        facts.pop(0)
    return spread(left, line((" · ".join(facts), "muted"), " "), size)


def feed_line(name: str, done: int, total: int, size: int) -> Line:
    """Return how far the scans are that fill the index."""
    words = " ".join((name + ":", str(done), "of", str(total), "scans"))
    full, rest = glyphs.bar(done, total, max(min(size - cells(words) - 40, 30), 4))
    left = line(" ", ("AUI", "title"), "  ", (words, "strong"), "  ", (full, "bar"), (rest, "rest"))
    return spread(left, line(("esc stops, what has come is kept", "muted"), " "), size)


def chips_line(state: ListState, size: int) -> Line:
    """Return the filters with the rows each would give under the others; zero is greyed, never hidden."""
    view = state.view
    if view is None:
        return BLANK
    short, bare = tuple(SHORT_STANCE[s] for s in STANCES), ("",) * len(STANCES)
    forms = [(STANCES, "Category: ", "  "), (short, "Category: ", " "), (short, "", " "), (bare, "", " ")]
    lines = [_chips(state, view, *form) for form in forms]
    return next((chips for chips in lines if width(chips) <= size), cut(lines[-1], size))


def _chips(state: ListState, view: IndexView, names: Sequence[str], lead: str, gap: str) -> Line:
    chosen = state.query.category
    category = " ".join((lead + (chosen or "all"), glyphs.FALLING))
    parts = [Piece(" " + category + " ", "chip" if chosen else "", "screen.category"), Piece(" ")]
    for number, (stance, name) in enumerate(zip(STANCES, names, strict=True), 1):
        found = view.facets.stance.get(stance, 0)
        hosts = "…" if view.counting else format(found, ",")
        words = " ".join(word for word in (glyphs.STANCE[stance], name, hosts) if word)
        role = "chip" if state.query.stance == stance else glyphs.role_of(stance) if found else "muted"
        action = "screen.stance('" + stance + "')"
        parts += [Piece(str(number), "key", action), Piece(" " + words, role, action), Piece(gap)]
    return tuple(parts[:-1])


def legend_line(size: int) -> Line:
    """Return the eight surfaces of the matrix by their number."""
    parts: list[Piece] = [Piece(" ")]
    for number, surface in enumerate(surfaces(), 1):
        action = "screen.surface(" + str(number) + ")"
        parts += [Piece(str(number), "key", action), Piece(" " + surface.short + "  ", "", action)]
    return cut(parts, size)


def row_foot(row: Row | None, size: int) -> Line:
    """Return what is most to be known of a row: its worst word in bold, and its first finding."""
    if row is None:
        return BLANK
    if not row.rank:
        return term("unreachable", size, row.summary.top_evidence)
    word, _ = turned_away(row.summary.matrix)
    return term(word, size, row.summary.top_evidence or TERMS[word])


def command_line(command: str, size: int) -> Line:
    """Return the shell command that prints the list."""
    return cut(line(" ", ("this list: ", "muted"), (command, "code")), size)


def marks_line(marks: frozenset[str], size: int) -> Line:
    """Return how many hosts are marked, and what can be done with them."""
    words = count(len(marks), "host") + " marked" if size >= 60 else format(len(marks), ",")
    left = line(" ", (glyphs.MARK + " " + words, "accent"), "  ")
    right = line(
        ("=", "key"), " compare  ", ("s", "key"), " scan  ", ("x", "key"), " export  ", ("esc", "key"), " clear "
    )
    return spread(left, right, size)


def _doors(known: int, demo: bool) -> list[Line]:
    """Return the ways to a first list, one key each; ``known``: sites of the packaged list."""
    doors = [
        line(
            Piece(" S ", "key", "screen.ask_scan"),
            Piece(" scan an address, such as example.com", "", "screen.ask_scan"),
        )
    ]
    if known:
        words = " scan " + count(known, "well-known site") + " in the background"
        doors.append(line(Piece(" W ", "key", "screen.starter"), Piece(words, "", "screen.starter")))
    if demo:
        doors.append(
            line(
                Piece(" D ", "key", "screen.demo"),
                Piece(" open the demo: a small web on this machine", "", "screen.demo"),
            )
        )
    return doors


def empty_lines(
    state: ListState, can_scan: bool, size: int, *, feeding: bool = False, doors: tuple[int, bool] = (0, False)
) -> list[Line]:
    """Return what stands in a list without rows: an invitation, or how to get rows back.

    ``doors``: hosts of the packaged list, 0 where it cannot be scanned, and whether the demo can be opened.
    """
    if state.filtered:
        rows = [
            line(("No host matches: ", "muted"), (state.query.words(), "strong")),
            BLANK,
            line(("esc", "key"), " clears the search, then the filters."),
        ]
    elif state.unreachable:
        rows = [line("Every host that was scanned could be reached."), BLANK, line(("u", "key"), " shows them.")]
    elif state.view is not None and len(state.view.unreachable):
        gone = count(len(state.view.unreachable), "host was", "hosts were")
        rows = [
            line((gone + " scanned, and none could be reached.", "strong")),
            BLANK,
            line(("u", "key"), " shows why.  ", ("S", "key"), " scans another address."),
        ]
    elif feeding:
        rows = [line(("The first sites are being asked …", "muted"))]
    elif can_scan:
        rows = [
            line(("No host has been scanned yet.", "strong")),
            BLANK,
            line("How usable is a website by AI agents? Choose:"),
            BLANK,
            *_doors(*doors),
            BLANK,
            line(("In the shell: ", "muted"), ("aui-tui scan example.com", "code")),
        ]
        block = max(width(row) for row in rows[4:-2])
        rows[4:-2] = [pad(row, block) for row in rows[4:-2]]
    else:
        rows = [line(("This index has no hosts.", "strong"))]
    return [(Piece(" " * max((size - width(row)) // 2, 1)), *row) if row else BLANK for row in rows]

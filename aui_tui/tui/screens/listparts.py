"""The lines around the list: title with the state of the source, filter chips, detail of the row, and the preview."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from textual.content import Content

from aui_tui.model.fates import turned_away
from aui_tui.model.signs import sign
from aui_tui.model.surfaces import SURFACES
from aui_tui.model.vocabulary import CATEGORIES, STANCES
from aui_tui.text import count
from aui_tui.tui import glyphs
from aui_tui.tui.rows import bar, edges, fitting, spread, term, text
from aui_tui.tui.widgets.bars import acting
from aui_tui.tui.words import TERMS, clock, quota_words

if TYPE_CHECKING:
    from aui_tui.model.listing import IndexView, Row
    from aui_tui.model.quota import Quota
    from aui_tui.tui.columns import Column
    from aui_tui.tui.state import ListState

SHORT_STANCES: Final = ("Open", "Sel", "Wall")


def title_line(state: ListState, label: str, quota: Quota | None, size: int) -> Content:
    """Return the first line: the counts of both lists; whose index it is if not ours, its newest scan, and quota."""
    view = state.view
    if view is None:
        return spread(text((" AUI", "title"), "  reading the index …"), text((f"{label} ", "muted")), size)
    if view.query != state.query:
        words = f"searching {count(state.total, 'site')} …" if state.total else "searching …"
        return spread(text((" AUI", "title"), f"  {words}"), text((f"{label} ", "muted")), size)
    ranked, unreachable = ("…" if view.counting else format(len(rows), ",") for rows in (view.ranked, view.unreachable))
    of = f" of {state.total:,}" if state.filtered and state.total else ""
    sites = "site" if (of or ranked) in (" of 1", "1") else "sites"
    wide, roles = size >= 110, ("", "strong") if state.mode == "unreachable" else ("strong", "")
    left = text(
        (" AUI", "title"),
        "  ",
        acting(text((f"{ranked}{of} {sites}", roles[0])), "screen.list('ranked')"),
        (" · ", "muted"),
        acting(text((f"{unreachable} unreachable", roles[1])), "screen.list('unreachable')"),
    )
    at = f"{view.scanned_at[:10]} {clock(view.scanned_at)}" if wide else clock(view.scanned_at)
    newest = f"newest {at}" if len(view.ranked) or len(view.unreachable) else ""
    facts = (label, newest, quota_words(quota, full=wide))
    return edges(left, Content(""), facts, size)


def feed_line(name: str, done: int, total: int, size: int) -> Content:
    """Return how far the scans are that fill the index."""
    left = text((" AUI", "title"), "  ", (f"{name}: {done} of {total} scans", "strong"), "  ")
    note = " and keeps the results" if size >= 72 else ""
    right = text((f"  esc stops{note} ", "muted"))
    return spread(
        text(left, bar(done, total, max(min(size - left.cell_length - right.cell_length, 30), 4))), right, size
    )


def chips_line(state: ListState, size: int) -> Content:
    """Return the filters with the rows each would give under the others; zero is greyed, never hidden."""
    view = state.view
    if view is None:
        return Content("")
    short, bare = SHORT_STANCES, ("",) * len(STANCES)
    forms = ((STANCES, "Category: ", "   "), (short, "Category: ", " "), (short, "", " "), (bare, "", " "))
    return fitting(size, (_chips(state, view, *form) for form in forms))


def _chips(state: ListState, view: IndexView, names: Sequence[str], lead: str, gap: str) -> Content:
    chosen, narrowed = state.only("category", CATEGORIES), state.only("stance", STANCES)
    parts: list[Content] = []
    for number, (stance, name) in enumerate(zip(STANCES, names, strict=True), 1):
        total = view.facets.stance.get(stance, 0)
        hosts = "…" if view.counting else format(total, ",")
        label = " ".join(word for word in (sign(stance).sign, name, hosts) if word)
        role = "found" if narrowed == stance else sign(stance).tone if total else "muted"
        parts.append(acting(text((str(number), "key"), (f" {label}", role)), f"screen.stance('{stance}')"))
        parts.append(Content(gap))
    words = text(("c", "key"), (f" {lead}{chosen or 'all'}", "found" if chosen else ""))
    return text(*parts, acting(words, "screen.category"), " ")


def column_foot(column: Column, size: int, command: str = "") -> Content:
    """Return what a column says and what can be done with it; at the right the shell command that prints the list."""
    keys = "t sorts by it, F counts it." if column.sort else "F counts it."
    words = TERMS.get(column.label.lower()) or TERMS.get(column.key, "")
    right = text("  ", (command, "code"), " ") if command else Content("")
    forms = (term(column.label, form.strip()) for form in (f"{words} {keys}", words))
    return spread(fitting(size - right.cell_length, forms), right, size)


def legend_lines(size: int) -> list[Content]:
    """Return the eight surfaces of the matrix by their number, in one line, or in two where one has no room."""
    named = [
        acting(text((str(number), "key"), f" {surface.label}  "), f"screen.surface({number})")
        for number, surface in enumerate(SURFACES, 1)
    ]
    line = text(" ", *named)
    if line.cell_length <= size:
        return [line]
    half = max(len(named) // 2, 1)
    return [text(" ", *part) for part in (named[:half], named[half:])]


def row_foot(row: Row | None, size: int) -> Content:
    """Return the most important facts of a row: its worst verdict in bold, then its first finding or its meaning."""
    if row is None:
        return Content("")
    if row.unreachable:
        return term("unreachable", row.reason)
    word, _ = turned_away(row.verdicts)
    return fitting(size, (term(word, words) for words in (row.summary.top_evidence, "")))


def marks_line(marks: frozenset[str], size: int) -> Content:
    """Return how many hosts are marked, and what can be done with them."""
    words = f"{count(len(marks), 'host')} marked" if size >= 60 else f"{len(marks):,}"
    keys = (("=", "compare"), ("s", "scan"), ("x", "write"), ("esc", "clear"))
    right = text(*(part for key, name in keys for part in ((key, "key"), f" {name}  ")))
    return spread(text((f" {glyphs.MARK} {words}", "accent"), "  "), right, size)


def hint_for(line: str) -> str:
    """Return which term would match a plain word that is no part of any name; empty for one that stands for none."""
    word = line.strip().lower()
    slug = next((surface.slug for surface in SURFACES if word in (surface.slug, surface.label.lower())), "")
    term = f"agent:{slug}=out finds who turns it away" if slug else ""
    if word in (stance.lower() for stance in STANCES):
        term = f"stance:{word} finds them"
    elif word in (category.lower() for category in CATEGORIES):
        term = f"category:{word if ' ' not in word else chr(34) + word + chr(34)} finds them"
    return f"No host is named {word}. {term}." if term else ""


def nothing(state: ListState) -> str:
    """Return that no host matches the filters: ``No Walled host in Retail matches "cafe".``"""
    query = state.query
    kind = "unreachable " * (state.mode == "unreachable") + f"{query.stance} " * bool(query.stance)
    where = f" in {query.category}" if query.category else ""
    return f'No {kind}host{where} matches "{query.line}".' if query.line else f"There is no {kind}host{where}."


def empty_text(state: ListState, can_scan: bool, *, feeding: bool) -> Content:
    """Return what stands in a list without rows: how to get rows back, or how to get the first."""
    if state.filtered:
        words = text((hint_for(state.query.line) or nothing(state), "strong"))
        return text(words, "\n\n", ("esc", "key"), " clears the query, then the filters.")
    if state.mode == "unreachable":
        return text("Every host that was scanned could be reached.\n\n", ("u", "key"), " shows them.")
    if feeding:
        return text(("The first sites are being asked …", "muted"))
    if state.view is not None and len(state.view.unreachable):
        unreachable = count(len(state.view.unreachable), "host was", "hosts were")
        keys = (("u", "key"), " shows why.  ", ("S", "key"), " scans another address.")
        return text((f"{unreachable} scanned, and none could be reached.\n\n", "strong"), *keys)
    if not can_scan:
        return text(("This index has no hosts.", "strong"))
    doors = (("S", "key"), " scans an address.  ", ("In the shell: ", "muted"), ("aui-tui scan example.com", "code"))
    return text(("No host has been scanned yet.\n\n", "strong"), *doors)

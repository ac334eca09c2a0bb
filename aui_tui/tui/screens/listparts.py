"""What stands around the list: title with the state of the source, filter chips, detail of the row, and the preview."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from textual.content import Content

from aui_tui.model.agents import by_harm, turned_away
from aui_tui.model.registry import surfaces
from aui_tui.model.view import HostReport, IndexView, Quota, Row
from aui_tui.model.vocabulary import STANCES
from aui_tui.text import ELLIPSIS, count, fit
from aui_tui.tui import glyphs, messages
from aui_tui.tui.columns import verdict_of
from aui_tui.tui.context import Context, attempt, start
from aui_tui.tui.draw import BLANK, Line, Piece, acting, cut, hang, line, pad, paragraph, plain, spread, width
from aui_tui.tui.panes.verdict import findings, headline, history_line, maxima, pillar_lines, strip
from aui_tui.tui.state import ListState
from aui_tui.tui.widgets.lines import Lines, nothing
from aui_tui.tui.words import ago, clock, quota_words, signed, term

SHORT_STANCE = {"Open": "Open", "Selective": "Sel", "Walled": "Wall"}


def title_line(state: ListState, label: str, quota: Quota | None, size: int) -> Line:
    """Return the first line: counts of both lists at the left, source, age and quota at the right."""
    view = state.view
    if view is None:
        return spread(line(" ", ("AUI", "title"), "  reading the index …"), line((label, "muted"), " "), size)
    ranked, unreachable = (
        "…" if view.counting else format(len(window), ",") for window in (view.ranked, view.unreachable)
    )
    wide, roles = size >= 110, ("", "strong") if state.unreachable else ("strong", "")
    left = line(
        " ",
        ("AUI  Agentic Usability Index" if wide else "AUI", "title"),
        "  ",
        Piece(f"Ranked {ranked}", roles[0], "screen.list('ranked')"),
        (" · ", "muted"),
        Piece(f"Unreachable {unreachable}", roles[1], "screen.list('unreachable')"),
    )
    at = f"{view.scanned_at[:10]} {clock(view.scanned_at)}" if wide else clock(view.scanned_at)
    facts = [fact for fact in (view.notice, label, f"index {at}", quota_words(quota, full=wide)) if fact]
    while len(facts) > 1 and len(" · ".join(facts)) > size - width(left) - 3:
        facts.pop(0)
    return spread(left, line((" · ".join(facts), "muted"), " "), size)


def feed_line(name: str, done: int, total: int, size: int) -> Line:
    """Return how far the scans are that fill the index."""
    words = f"{name}: {done} of {total} scans"
    left = line(" ", ("AUI", "title"), "  ", (words, "strong"), "  ")
    kept = ", what has come is kept" if size >= 72 else ""
    right = line("  ", (f"esc stops{kept}", "muted"), " ")
    full, rest = glyphs.bar(done, total, max(min(size - width((*left, *right)), 30), 4))
    return spread((*left, *line((full, "bar"), (rest, "rest"))), right, size)


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
    category = f" {lead}{chosen or 'all'} {glyphs.FALLING} "
    parts = [Piece(category, "chip" if chosen else "", "screen.category"), Piece(" ")]
    for number, (stance, name) in enumerate(zip(STANCES, names, strict=True), 1):
        found = view.facets.stance.get(stance, 0)
        hosts = "…" if view.counting else format(found, ",")
        words = " ".join(word for word in (glyphs.STANCE[stance], name, hosts) if word)
        role = "chip" if state.query.stance == stance else glyphs.role_of(stance) if found else "muted"
        parts += acting(line((str(number), "key"), (f" {words}", role)), f"screen.stance('{stance}')")
        parts.append(Piece(gap))
    return tuple(parts[:-1])


def legend_lines(size: int) -> list[Line]:
    """Return the eight surfaces of the matrix by their number, in one line, or in two where one has no room."""
    named = [
        acting(line((str(number), "key"), f" {surface.short}  "), f"screen.surface({number})")
        for number, surface in enumerate(surfaces(), 1)
    ]
    whole = line(" ", *(piece for pieces in named for piece in pieces))
    if width(whole) <= size:
        return [whole]
    half = max(len(named) // 2, 1)
    return [
        cut(line(" ", *(piece for pieces in part for piece in pieces)), size) for part in (named[:half], named[half:])
    ]


def row_foot(row: Row | None, size: int) -> Line:
    """Return what is most to be known of a row: its worst word in bold, and its first finding or what it means."""
    if row is None:
        return BLANK
    if not row.rank:
        return term("unreachable", size, row.summary.top_evidence)
    word, _ = turned_away(row.summary.matrix)
    found = term(word, size, row.summary.top_evidence)
    return found if row.summary.top_evidence and not plain(found).endswith(ELLIPSIS) else term(word, size)


def command_line(command: str, size: int) -> Line:
    """Return the shell command that prints the list."""
    return cut(line(" ", ("this list: ", "muted"), (command, "code")), size)


def marks_line(marks: frozenset[str], size: int) -> Line:
    """Return how many hosts are marked, and what can be done with them."""
    words = f"{count(len(marks), 'host')} marked" if size >= 60 else f"{len(marks):,}"
    left = line(" ", (f"{glyphs.MARK} {words}", "accent"), "  ")
    right = line(
        ("=", "key"), " compare  ", ("s", "key"), " scan  ", ("x", "key"), " export  ", ("esc", "key"), " clear "
    )
    return spread(left, right, size)


def _doors(known: int, demo: bool) -> list[Line]:
    """Return the ways to a first list, one key each; ``known``: sites of the packaged list."""
    doors = [("S", "scan an address, such as example.com", "ask_scan")]
    if known:
        doors.append(("W", f"scan {count(known, 'well-known site')} in the background", "starter"))
    if demo:
        doors.append(("D", "open the demo: a small web on this machine", "demo"))
    return [acting(line((f" {key} ", "key"), f" {words}"), f"screen.{action}") for key, words, action in doors]


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
    elif feeding:
        rows = [line(("The first sites are being asked …", "muted"))]
    elif state.view is not None and len(state.view.unreachable):
        gone = count(len(state.view.unreachable), "host was", "hosts were")
        rows = [
            line((gone + " scanned, and none could be reached.", "strong")),
            BLANK,
            line(("u", "key"), " shows why.  ", ("S", "key"), " scans another address."),
        ]
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


# The preview

REST: Final = 0.15
"""Seconds that the cursor rests on a row before its whole card is read."""


class PreviewPane(Lines):
    """Draws a row at once, and everything known of its host when the cursor rests."""

    def __init__(self, context: Context) -> None:
        super().__init__(id="preview")
        self.can_focus = False
        self.border_title = Content("Preview")
        self.border_subtitle = Content("J K scroll · + hides")
        self._given = context
        self._row: Row | None = None
        self._dossier: HostReport | None = None

    def follow(self, row: Row | None) -> None:
        """Show another row, None for an empty list."""
        same = row is not None and self._row == row
        self._row = row
        if not self.display:
            return
        if not same:
            self._draw(None)
        if row is not None:
            start(self, "preview", self._rest, row.summary.host)

    def on_show(self) -> None:
        """Catch up with the cursor after being hidden."""
        self.follow(self._row)

    async def _rest(self, host: str) -> None:
        await asyncio.sleep(REST)
        dossier, _ = await attempt(self._given.service.site(host))
        if dossier is not None:
            self.post_message(messages.ReportReady(dossier))

    def on_report_ready(self, message: messages.ReportReady) -> None:
        """Fill in what was read, when the cursor is still there."""
        message.stop()
        if self._row is not None and self._row.summary.host == message.dossier.card.host:
            self._draw(message.dossier)

    def age(self) -> None:
        """Draw the ages of this moment."""
        self._draw(self._dossier, top=False)

    def _draw(self, dossier: HostReport | None, *, top: bool = True) -> None:
        self._dossier = dossier
        self.border_title = Content(self._row.summary.host if self._row is not None else "Preview")
        row, now = self._row, self._given.clock()
        self.show((lambda size: preview(row, dossier, size, now)) if row is not None else nothing, top=top)


LABEL: Final = 9


def preview(row: Row, dossier: HostReport | None, size: int, now: float) -> list[Line]:
    """Return the pane laid out to ``size`` cells; ``dossier`` is None until it has been read."""
    summary = row.summary
    facts = [summary.name if summary.name != summary.host else "", summary.category, ago(summary.scanned_at, now)]
    out: list[Line] = [cut(_head(row), size), cut(line((" · ".join(fact for fact in facts if fact), "muted")), size)]
    out.append(BLANK)
    if row.rank == 0:
        return [*out, *paragraph(summary.top_evidence, size, "warn")]
    if dossier is None:
        out += _verdicts(row, size)
    else:
        out += [cut(kept, size) for kept in _trimmed(strip(dossier, size + 1))]
    out += [BLANK, *pillar_lines(summary.pillars, maxima(summary.pillars), size)]
    if dossier is not None:
        out += [cut((Piece(fit("History", LABEL + 1)), *history_line(dossier.history, now, 16)), size)]
    found = hang((Piece(f"{glyphs.DOT} ", "muted"),), summary.top_evidence, size)
    if dossier is not None:
        found = findings(dossier.card.evidence, size)
    return [*out, BLANK, *_fixes(row, dossier, size), BLANK, *found]


def _trimmed(lines: list[Line]) -> list[Line]:
    """Return lines without the cell that a cursor would need."""
    return [(row[0]._replace(text=row[0].text[1:], action=""), *row[1:]) if row else row for row in lines]


def _head(row: Row) -> Line:
    summary = row.summary
    head = headline(summary.score, summary.grade, summary.stance, unreachable=row.rank == 0)
    change = signed(row.change)
    if not change or row.rank == 0:
        return head
    return (*head, Piece("  "), Piece(change, "good" if change.startswith("+") else "critical"))


def _verdicts(row: Row, size: int) -> list[Line]:
    """Return one line per surface, from the row alone."""
    out: list[Line] = []
    for surface in surfaces():
        word = verdict_of(row, surface.slug)
        mark = (f"{glyphs.VERDICT.get(word, glyphs.UNKNOWN)} ", glyphs.role_of(word))
        out.append(cut(line(mark, f"{fit(surface.short, 16)} ", (word, "muted")), size))
    return out


def _fixes(row: Row, dossier: HostReport | None, size: int) -> list[Line]:
    fixes = by_harm(dossier.card)[:4] if dossier is not None else ()
    if not fixes and not row.best_fix:
        return [line(("Nothing left to fix.", "good"))]
    if not fixes:
        return [cut(line(("Next  ", "muted"), row.best_fix, (f" +{row.best_points}", "good")), size)]
    return [
        cut(line(("Next  " if place == 0 else "      ", "muted"), fix.title, (f" +{fix.pts}", "good")), size)
        for place, fix in enumerate(fixes)
    ]

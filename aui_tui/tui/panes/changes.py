"""Pane 3, turned: what changed since an earlier scan."""

from __future__ import annotations

from aui_tui.records.card import ReportCard
from aui_tui.records.diff import Change, Diff, diff
from aui_tui.text import fit
from aui_tui.tui import glyphs
from aui_tui.tui.draw import BLANK, Line, Piece, hang, line, paragraph
from aui_tui.tui.words import ago, day

LABEL = 22


def changes(before: ReportCard | None, after: ReportCard, size: int, now: float) -> list[Line]:
    """Return the pane laid out to ``size`` cells."""
    if before is None:
        words = "There is no earlier scan of this host to compare with. Press s to scan it again."
        return paragraph(words, size, "muted")
    found = diff(before, after)
    head = line(
        ("Since ", "muted"), (day(before.scanned_at, now), "strong"), (", " + ago(before.scanned_at, now), "muted")
    )
    out: list[Line] = [head]
    if found.note:
        out += paragraph(found.note, size, "warn")
    out.append(BLANK)
    if found.same:
        return [*out, line(("Nothing that is measured has changed.", "good"))]
    out += _headline(found)
    label = min(LABEL, max(size // 3, 10))
    for change in found.changes:
        out += _change(change, label, size)
    for title, items, role in (("New findings", found.new, "critical"), ("Resolved", found.resolved, "good")):
        if items:
            out += [BLANK, line((title, "title"))]
            for item in items:
                head = (Piece(glyphs.SEVERITY.get(item.t, glyphs.UNKNOWN) + " ", role),)
                out += hang(head, item.text, size)
    return out


def _headline(found: Diff) -> list[Line]:
    out: list[Line] = []
    pairs = (
        ("Score", tuple(str(value) for value in found.score)),
        ("Grade", found.grade),
        ("Stance", found.stance),
        ("Method", found.method),
    )
    for name, (was, now) in pairs:
        if was != now:
            out.append(line((fit(name, 8), "strong"), was, (" " + glyphs.ARROW + " ", "muted"), (now, "strong")))
    return [*out, BLANK] if out else out


def _change(change: Change, label: int, size: int) -> list[Line]:
    role = {1: "good", -1: "critical"}.get(change.direction, "")
    sign = {1: glyphs.RISING, -1: glyphs.FALLING}.get(change.direction, glyphs.DOT)
    words = " ".join((change.before, glyphs.ARROW, change.after))
    if change.points:
        words += " ".join(("  ", format(change.points, "+d"), change.pillar))
    return hang((Piece(sign + " ", role), Piece(fit(change.label, label) + " ")), words, size, role)

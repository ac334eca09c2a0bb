"""The answer of a report card, above every pane: one sentence, who gets in and why, the score, the next step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from aui_tui.records import agents
from aui_tui.records.agents import Outcome
from aui_tui.records.card import ReportCard
from aui_tui.records.methods import WALLED_CEILING
from aui_tui.records.points import totals
from aui_tui.records.view import Dossier
from aui_tui.text import cells, fit, wrap
from aui_tui.tui import glyphs
from aui_tui.tui.draw import BLANK, Line, Piece, beside, cut, line, width
from aui_tui.tui.panes.common import number, pillar_label, stance
from aui_tui.tui.state import CardState
from aui_tui.tui.words import day

MOST: Final = 4
"""Outcomes that the strip shows; more are counted."""
WIDE: Final = 110
BAR: Final = 30
NAMES: Final = 28
"""Cells of the folded names; longer lists of names go on in the next line."""
SHORT: Final = 16
"""Rows of a terminal below which sentence, strip and next step stand alone."""


def head(state: CardState, size: int, height: int) -> list[Line]:
    """Return the block laid out to ``size`` cells of a terminal ``height`` rows high."""
    dossier = state.dossier
    if dossier is None:
        return []
    answer = [sentence_line(dossier), *([] if height < SHORT else [BLANK]), *strip(dossier, _strip_width(size))]
    if size >= WIDE:
        return beside(answer, _wide_score(state, dossier, size - _strip_width(size) - 2), _strip_width(size), 2)
    room = size - 2
    score = [] if height < SHORT else [BLANK, *_score(dossier, room)]
    return [cut(row, size) for row in (*answer, *score, *_next(state, dossier, room))]


def _strip_width(size: int) -> int:
    return size if size < WIDE else max(size * 11 // 20, 76)


def sentence_line(dossier: Dossier) -> Line:
    """Return stance and sentence."""
    card = dossier.card
    words = agents.sentence(card, dossier.observations)
    mark = Piece(glyphs.DASH + " Unreachable", "warn") if card.unreachable else stance(card.stance)
    return (Piece(" "), mark, Piece("  "), Piece(words, "strong"))


def strip(dossier: Dossier, size: int) -> list[Line]:
    """Return one row per outcome, worst first."""
    found = agents.outcomes(dossier.card, dossier.observations)
    longest = max((cells(", ".join(one.names)) for one in found), default=0)
    reason = max((cells(one.reason) + (20 if one.disagree else 0) for one in found), default=0)
    least = NAMES if size >= 70 else 16
    names = max(min(longest, max(size - reason - 12, least), size - 30), 12)
    out: list[Line] = []
    for one in found[:MOST]:
        out += _outcome(one, names, size)
    if len(found) > MOST:
        more = len(found) - MOST
        out.append(line(" ", ("+" + str(more) + (" more outcome" if more == 1 else " more outcomes"), "muted")))
    return out


def _outcome(one: Outcome, names: int, size: int) -> list[Line]:
    role = glyphs.role_of(one.verdict)
    action = "screen.exchange('" + (one.probe or one.keys[0]) + "')"
    reason: Line = (Piece(one.reason, "muted", action),)
    if one.disagree and one.verdict != agents.TOLD:
        reason = (*reason, Piece("  " + glyphs.DISAGREE, "accent", action), Piece(" robots.txt yes", "muted", action))
    elif one.disagree:
        reason = (*reason, Piece("  " + glyphs.DISAGREE, "accent", action))
    listed = wrap(", ".join(one.names), names)
    room = size - names - 11
    mark = glyphs.VERDICT[one.verdict] + " " + fit(one.gets_in, 5)
    rows: list[Line] = []
    for place, part in enumerate(listed):
        lead = (
            (Piece(" ", "", action), Piece(mark + " ", role, action)) if place == 0 else (Piece(" " * 9, "", action),)
        )
        tail = cut(reason, room) if place == 0 else BLANK
        rows.append((*lead, Piece(fit(part, names) + "  ", "", action), *tail))
    return rows


def _sums(card: ReportCard) -> Line:
    """Return ``30 of 50 → 60/100*  D``."""
    if card.unreachable:
        return line((glyphs.DASH, "muted"))
    got, possible = totals(card)
    star = glyphs.PROVISIONAL if card.provisional is True else ""
    return line(
        (" ".join((number(got), "of", number(possible))), "strong"),
        (" " + glyphs.ARROW + " ", "muted"),
        (str(card.score) + "/100", "strong"),
        (star + "  ", "muted"),
        (card.grade, glyphs.role_of(card.grade[:1])),
    )


def _note(card: ReportCard) -> str:
    """Return what holds the score down, or what is not in it."""
    got, possible = totals(card)
    if card.stance == "Walled" and possible and round(100 * got / possible) > WALLED_CEILING:
        return "at most " + str(WALLED_CEILING) + " while Walled"
    return glyphs.PROVISIONAL + " no tasks yet" if card.provisional is True else ""


def _score(dossier: Dossier, size: int) -> list[Line]:
    card = dossier.card
    lead = (Piece(" Score   ", "muted"), *_sums(card))
    if card.unreachable:
        graded = [point for point in dossier.history if not point.unreachable]
        if graded:
            last = graded[-1]
            words = "   last graded " + str(last.score) + " " + last.grade + " on " + last.scanned_at[:10]
            lead = (*lead, Piece(words + " (h shows it)", "muted"))
        return [lead]
    note = _note(card)
    room = size - width(lead) - cells(note) - 6
    bar = min(BAR, room)
    if bar >= 8:
        full, rest = glyphs.bar(card.score, 100, bar)
        lead = (*lead, Piece("   "), Piece(full, "bar"), Piece(rest, "rest"))
    return [(*lead, Piece("  " + note, "muted")), _pillars(card)]


def _pillars(card: ReportCard) -> Line:
    out: list[Piece] = [Piece("         ")]
    for key, value in sorted(card.pillars.items(), key=lambda item: item[1] is None):
        words = "not measured" if value is None else number(value) + "/" + number(card.pillar_max.get(key))
        out += [Piece(pillar_label(key) + " "), Piece(words, "muted" if value is None else "strong"), Piece("   ")]
    return tuple(out)


def _next(state: CardState, dossier: Dossier, size: int) -> list[Line]:
    """Return the one thing to do now."""
    card = dossier.card
    lead = Piece(" Next    ", "muted")
    if card.unreachable:
        return [(lead, Piece("Check the address; "), Piece("s", "key"), Piece(" asks again."))]
    if not state.fixes:
        return [(lead, Piece("Nothing left to fix. aui-tui tasks measures the other half."))]
    fix = state.fixes[0]
    reached = state.standings.get(fix.k)
    gain: Line = ()
    if reached is not None:
        gain = line("  ", (" ".join((str(card.score), glyphs.ARROW, str(reached.score))), "good"))
    from aui_tui.engine.checks import BY_FIX  # the first frame of the list does without

    takes = BY_FIX[fix.k].takes if fix.k in BY_FIX else ""
    tail = (*gain, Piece("   " + takes if takes else "", "muted"))
    if size >= 64:
        tail = (*tail, Piece("   "), Piece("y", "key"), Piece(" copies it"))
    return [(lead, *cut((Piece(fix.title, "strong"),), size - 9 - width(tail)), *tail)]


def _wide_score(state: CardState, dossier: Dossier, size: int) -> list[Line]:
    card = dossier.card
    out: list[Line] = [(Piece("Score    ", "muted"), *_sums(card), Piece("  " + _note(card), "muted"))]
    if card.unreachable:
        out += [row[1:] if row else row for row in _score(dossier, size)[1:]]
    else:
        parts = _parts(dossier)
        for key, value in sorted(card.pillars.items(), key=lambda item: item[1] is None):
            out.append(_pillar(key, value, card.pillar_max.get(key), parts.get(key, ()), size))
    while len(out) < 5:
        out.append(BLANK)
    return [*out, *(_first_trimmed(row) for row in _next(state, dossier, size))]


def _first_trimmed(row: Line) -> Line:
    return (row[0]._replace(text=row[0].text[1:]), *row[1:])


def _pillar(key: str, value: float | None, most: float | None, parts: Sequence[str], size: int) -> Line:
    name = Piece(fit(pillar_label(key), 9))
    if value is None:
        return (name, Piece("not measured: no task was run."))
    full, rest = glyphs.bar(value, most or 0, 20)
    out: Line = (name, Piece(full, "bar"), Piece(rest, "rest"), Piece(" " + number(value) + "/" + number(most)))
    for part in parts:
        if width(out) + cells(part) + 2 > size:
            break
        out = (*out, Piece("  " + part, "muted"))
    return out


def _parts(dossier: Dossier) -> dict[str, list[str]]:
    """Return per pillar the components that lost most, such as ``door 9/12``."""
    if dossier.ledger is None:
        return {}
    found: dict[str, list[tuple[float, str]]] = {}
    for entry in dossier.ledger.entries:
        if entry.measured and entry.earned < entry.possible:
            words = entry.component + " " + number(entry.earned) + "/" + number(entry.possible)
            found.setdefault(entry.pillar, []).append((entry.earned - entry.possible, words))
    return {pillar: [words for _, words in sorted(items)] for pillar, items in found.items()}


def since(dossier: Dossier, now: float) -> str:
    """Return the change of the score since the scan before, empty for none."""
    before = dossier.previous
    if before is None or before.score == dossier.card.score:
        return ""
    return format(dossier.card.score - before.score, "+d") + " since " + day(before.scanned_at, now)

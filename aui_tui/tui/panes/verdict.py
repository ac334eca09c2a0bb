"""The answer of a report card: one sentence, who gets in and why, the score and how it came about, the next step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Final

from aui_tui.model import agents
from aui_tui.model.agents import Outcome
from aui_tui.model.card import Entry, Evidence, Ledger, Points, ReportCard
from aui_tui.model.labels import fix as fix_label
from aui_tui.model.methods import METHODS, WALLED_CEILING
from aui_tui.model.points import percent, totals
from aui_tui.model.view import HistoryPoint, HostReport, comparable_scores
from aui_tui.text import cells, count, fit, wrap
from aui_tui.tui import glyphs
from aui_tui.tui.draw import BLANK, Line, Piece, acting, beside, cut, hang, line, paragraph, width
from aui_tui.tui.state import CardState
from aui_tui.tui.words import day

MOST: Final = 4
"""Outcomes that the strip shows; more are counted."""
WIDE: Final = 110
BAR: Final = 30
NAMES: Final = 24
"""Cells of the folded names; longer lists of names go on in the next line."""
SHORT: Final = 16
"""Rows of a terminal below which sentence, strip and next step stand alone."""


def head(state: CardState, size: int, height: int, *, short: bool = False) -> list[Line]:
    """Return the block laid out to ``size`` cells of a terminal ``height`` rows high; ``short``: its first line."""
    dossier = state.dossier
    if dossier is None:
        return []
    if short:
        return [cut(sentence(dossier), size)]
    tight, left, room = height < SHORT, _strip_width(size), size - 2
    answer = [*sentence_lines(dossier, left), *([] if tight else [BLANK]), *strip(dossier, left, tight=tight)]
    if size >= WIDE:
        return beside(answer, _wide_score(state, dossier, size - left - 2), left, 2)
    following = _next(state, dossier, room)
    if tight:
        return [cut(row, size) for row in (*answer, *following)]
    return [cut(row, size) for row in (*answer, BLANK, *_score(dossier, room), *following)]


def _strip_width(size: int) -> int:
    return size if size < WIDE else max(size * 11 // 20, 76)


def sentence(dossier: HostReport) -> Line:
    """Return stance and sentence in one line."""
    card = dossier.card
    mark = Piece(glyphs.DASH + " Unreachable", "warn") if card.unreachable else stance(card.stance)
    return (Piece(" "), mark, Piece("  "), Piece(agents.sentence(card, dossier.observations), "strong"))


def sentence_lines(dossier: HostReport, size: int) -> list[Line]:
    """Return stance and sentence, wrapped to ``size`` cells."""
    *lead, words = sentence(dossier)
    return hang(lead, words.text, size, words.role)


def strip(dossier: HostReport, size: int, *, tight: bool = False) -> list[Line]:
    """Return one row per outcome, worst first; ``tight``: a reason that does not fit beside the names is cut."""
    found = agents.outcomes(dossier.card, dossier.observations)
    longest = max((cells(", ".join(one.names)) for one in found), default=0)
    reason = max((cells(one.reason) + (20 if one.disagree else 0) for one in found), default=0)
    least = NAMES if size >= 70 else 16
    names = max(min(longest, max(size - reason - 12, least), size - 30), 12)
    out: list[Line] = []
    for one in found[:MOST]:
        out += _outcome(one, names, size, tight=tight)
    if len(found) > MOST:
        out.append(line(" ", (f"+{count(len(found) - MOST, 'more outcome')}", "muted")))
    return out


def _outcome(one: Outcome, names: int, size: int, *, tight: bool) -> list[Line]:
    role = glyphs.role_of(one.verdict)
    listed = wrap(", ".join(one.names), names)
    room = size - names - 11
    tails = [cut((Piece(one.reason, "muted"),), room)] if tight else _reasons(one, room)
    lead = line(" ", (f"{glyphs.VERDICT[one.verdict]} {fit(one.gets_in, 5)} ", role))
    rows: list[Line] = []
    for part, tail in zip_longest(listed, tails):
        row = (*lead, Piece(fit(part or "", names) + "  "), *(tail or BLANK))
        rows.append(acting(row, f"screen.exchange('{one.probe or one.keys[0]}')"))
        lead = line(" " * 9)
    return rows


def _reasons(one: Outcome, room: int) -> list[Line]:
    """Return why, in lines of ``room`` cells, and that robots.txt says otherwise."""
    rows = paragraph(one.reason, max(room, 8), "muted")
    if one.disagree:
        words = " robots.txt yes" if one.verdict != agents.TOLD else ""
        mark = line((glyphs.DISAGREE, "accent"), (words, "muted"))
        if width((*rows[-1], *mark)) + 2 <= room:
            rows[-1] = (*rows[-1], Piece("  "), *mark)
        elif words:
            rows.append(cut(mark, room))
    return rows


def _sums(card: ReportCard) -> Line:
    """Return ``30 of 50 → 60/100*  D``."""
    if card.unreachable:
        return line((glyphs.DASH, "muted"))
    got, possible = totals(card)
    star = glyphs.PROVISIONAL if card.provisional is True else ""
    return line(
        (f"{got} of {possible}", "strong"),
        (f" {glyphs.ARROW} ", "muted"),
        (f"{card.score}/100", "strong"),
        (f"{star}  ", "muted"),
        (card.grade, glyphs.role_of(card.grade[:1])),
    )


def _note(card: ReportCard) -> str:
    """Return what holds the score down, or what is not in it."""
    got, possible = totals(card)
    if card.stance == "Walled" and percent(got, possible) > WALLED_CEILING:
        return f"at most {WALLED_CEILING} while Walled"
    return f"{glyphs.PROVISIONAL} no tasks yet" if card.provisional is True else ""


def _score(dossier: HostReport, size: int) -> list[Line]:
    card = dossier.card
    lead = (Piece(" Score   ", "muted"), *_sums(card))
    if card.unreachable:
        graded = [point for point in dossier.history if not point.unreachable]
        if graded:
            last = graded[-1]
            words = f"   last graded {last.score} {last.grade} on {last.scanned_at[:10]} (h shows it)"
            lead = (*lead, Piece(words, "muted"))
        return [lead]
    note = _note(card)
    room = size - width(lead) - cells(note) - 6
    bar = min(BAR, room)
    if bar >= 8:
        full, rest = glyphs.bar(card.score, 100, bar)
        lead = (*lead, Piece("   "), Piece(full, "bar"), Piece(rest, "rest"))
    whole = _pillars(card, "not measured")
    return [(*lead, Piece("  " + note, "muted")), whole if width(whole) <= size else _pillars(card, glyphs.DASH)]


def _pillars(card: ReportCard, unmeasured: str) -> Line:
    out: list[Piece] = [Piece(" " * 9)]
    for key, value in sorted(card.pillars.items(), key=lambda item: item[1] is None):
        words = (unmeasured, "muted") if value is None else (share_of(value, card.pillar_max.get(key)), "strong")
        out += line(f"{pillar_label(key)} ", words, "   ")
    return tuple(out[:-1])


def _next(state: CardState, dossier: HostReport, size: int) -> list[Line]:
    """Return the one thing to do now."""
    card = dossier.card
    lead = Piece(" Next    ", "muted")
    if card.unreachable:
        return [(lead, Piece("Check the address; "), Piece("s", "key"), Piece(" asks again."))]
    if not state.fixes:
        done = (lead, Piece("Nothing left to fix."))
        return [(*done, Piece(" a", "key"), Piece(" tries the tasks."))] if card.provisional is True else [done]
    fix = state.fixes[0]
    reached = state.standings.get(fix.k)
    gain: Line = ()
    if reached is not None:
        gain = line("  ", (f"{card.score} {glyphs.ARROW} {reached.score}", "good"))
    from aui_tui.checks import BY_FIX  # the first frame of the list does without

    takes = BY_FIX[fix.k].takes if fix.k in BY_FIX else ""
    tail = (*gain, Piece("   " + takes if takes else "", "muted"))
    if size >= 64:
        tail = (*tail, Piece("   "), Piece("y", "key"), Piece(" copies it"))
    room = size - 9
    rows = wrap(fix.title, room)
    if cells(rows[-1]) + width(tail) > room and width(gain) < width(tail):
        tail = gain if cells(rows[-1]) + width(gain) <= room else tail
    first = hang((lead,), fix.title, size, "strong")
    if cells(rows[-1]) + width(tail) <= room:
        return [*first[:-1], (*first[-1], *tail)]
    return [*first, (Piece(" " * 7), *tail)]


def _wide_score(state: CardState, dossier: HostReport, size: int) -> list[Line]:
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
    return [*out, *(_outdented(row) for row in _next(state, dossier, size))]


def _outdented(row: Line) -> Line:
    """Return a row whose label begins at the edge, its text in the column where it was."""
    return (row[0]._replace(text=row[0].text[1:] + " "), *row[1:])


def _pillar(key: str, value: float | None, most: float | None, parts: Sequence[str], size: int) -> Line:
    name = Piece(fit(pillar_label(key), 9))
    if value is None:
        return (name, Piece("not measured: no task was run."))
    full, rest = glyphs.bar(value, most or 0, 20)
    out: Line = (name, Piece(full, "bar"), Piece(rest, "rest"), Piece(f" {share_of(value, most)}"))
    for part in parts:
        if width(out) + cells(part) + 2 > size:
            break
        out = (*out, Piece("  " + part, "muted"))
    return out


def _parts(dossier: HostReport) -> dict[str, list[str]]:
    """Return per pillar the components that lost most, such as ``door 9/12``."""
    if dossier.ledger is None:
        return {}
    found: dict[str, list[tuple[float, str]]] = {}
    for entry in dossier.ledger.entries:
        if entry.measured and entry.earned < entry.possible:
            words = f"{fix_label(entry.component)} {entry.earned}/{entry.possible}"
            found.setdefault(entry.pillar, []).append((entry.earned - entry.possible, words))
    return {pillar: [words for _, words in sorted(items)] for pillar, items in found.items()}


# Pieces that several panes share

NAME_WIDTH = 10
"""Cells of a pillar's name."""


def pillar_label(key: str) -> str:
    """Return the label of a pillar under either method; an unknown key as it came."""
    for method in METHODS.values():
        for pillar in method.pillars:
            if pillar.key == key:
                return pillar.label
    return key


def maxima(pillars: Points) -> Points:
    """Return the full points of each pillar of a summary, from the method that has exactly these pillars."""
    for method in METHODS.values():
        if {pillar.key for pillar in method.pillars} == set(pillars):
            return {pillar.key: pillar.maximum for pillar in method.pillars}
    return dict.fromkeys(pillars)


def share_of(value: float, most: float | None) -> str:
    """Return points as they came: ``18/25``, without the most where that is not known ``18/``."""
    return f"{value}/{'' if most is None else most}"


def pillar_lines(pillars: Points, most: Points, size: int) -> list[Line]:
    """Return one bar per pillar in ``size`` cells; a pillar that is null reads ``not measured``."""
    room = min(max(size - NAME_WIDTH - 8, 4), 24)
    out: list[Line] = []
    for key, value in pillars.items():
        name, top = fit(pillar_label(key), NAME_WIDTH), most.get(key)
        if value is None:
            out.append(line(name, ("not measured", "muted")))
        elif top is None:
            out.append(line(name, (str(value), "strong")))
        else:
            full, rest = glyphs.bar(value, top, room)
            out.append(line(name, (full, "bar"), (rest, "rest"), share_of(value, top).rjust(6)))
    return out


def stance(word: str) -> Piece:
    """Return a stance as sign and word."""
    return Piece(f"{glyphs.STANCE.get(word, glyphs.UNKNOWN)} {word}", glyphs.role_of(word))


def headline(score: int, grade: str, stance_word: str, *, unreachable: bool = False) -> Line:
    """Return score, grade and stance; of an unreachable host, that nothing was measured."""
    if unreachable:
        return line((glyphs.DASH, "muted"), "  ", ("unreachable, not graded", "warn"))
    letter = (grade, glyphs.role_of(grade[:1]))
    return line((str(score), "strong"), ("/100", "muted"), "  ", letter, "  ", stance(stance_word))


def history_line(history: Sequence[HistoryPoint], now: float, room: int) -> Line:
    """Return the scores of the kept scans as a sparkline with words."""
    if not history:
        return line(("no history kept", "muted"))
    shown = history[-room:]
    words = count(len(history), "scan")
    if len(history) > 1:
        words += f" since {day(history[0].scanned_at, now)}"
    return line((glyphs.spark(comparable_scores(shown)), "bar"), " ", (words, "muted"))


def findings(items: Iterable[Evidence], size: int, word: int = 0, *, role: str = "") -> list[Line]:
    """Return findings, each after its sign and its kind in ``word`` cells, in ``role`` or that of their kind."""
    out: list[Line] = []
    for item in items:
        sign = f"{glyphs.SEVERITY.get(item.t, glyphs.UNKNOWN)} {fit(item.t, word)}"
        out += hang((Piece(sign, role or glyphs.role_of(item.t)),), item.text, size)
    return out


# How the score came about

COMPONENT: Final = 14
EARNED: Final = 6


def ledger(dossier: HostReport, size: int) -> list[Line]:
    """Return the pane laid out to ``size`` cells; a source without a ledger says so."""
    card = dossier.card
    kept = dossier.ledger
    if kept is None:
        words = "This source does not say how the points came about; the card has only their sums."
        return [*paragraph(words, size, "muted"), BLANK, *pillar_lines(card.pillars, card.pillar_max, size)]
    out: list[Line] = []
    pillar = ""
    for entry in kept.entries:
        if entry.pillar != pillar:
            pillar = entry.pillar
            out += [BLANK] if out else []
            out.append(line((pillar_label(pillar), "title")))
        out += _entry(entry, size)
    return [*out, BLANK, *_ledger_sums(kept, size)]


def _entry(entry: Entry, size: int) -> list[Line]:
    figures = (f"{entry.earned}/{entry.possible}" if entry.measured else "not").rjust(EARNED)
    full = entry.earned >= entry.possible
    role = "muted" if not entry.measured else "good" if full else "critical" if entry.earned == 0 else "warn"
    head = (Piece(fit(fix_label(entry.component), COMPONENT)), Piece(figures + "  ", role))
    words = entry.reason if entry.measured else "not measured: " + entry.reason
    return hang(head, words, size)


def _ledger_sums(kept: Ledger, size: int) -> list[Line]:
    sums = f"{kept.earned} of {kept.possible} points {glyphs.ARROW} {kept.raw}/100"
    out = [line(("Sum ", "strong"), sums, "  grade ", (kept.grade, glyphs.role_of(kept.grade[:1])))]
    if kept.capped:
        out += paragraph(f"A walled site scores at most {WALLED_CEILING}: so {kept.score}.", size, "warn")
    return out

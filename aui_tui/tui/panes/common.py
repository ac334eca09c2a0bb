"""Pieces that several panes share: pillars as bars, verdicts with their words, the headline of a score."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aui_tui.records import labels
from aui_tui.records.card import Points
from aui_tui.records.methods import METHODS
from aui_tui.records.view import HistoryPoint, comparable_scores
from aui_tui.text import count, fit
from aui_tui.tui import glyphs
from aui_tui.tui.draw import Line, Piece, line
from aui_tui.tui.words import day

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


def number(value: float | None) -> str:
    """Return points as they came."""
    return "" if value is None else str(value)


def pillar_lines(pillars: Points, most: Points, size: int) -> list[Line]:
    """Return one bar per pillar in ``size`` cells; a pillar that is null reads ``not scored``."""
    room = min(max(size - NAME_WIDTH - 8, 4), 24)
    out: list[Line] = []
    for key, value in pillars.items():
        name = Piece(fit(pillar_label(key), NAME_WIDTH))
        top = most.get(key)
        if value is None:
            out.append((name, Piece("not scored", "muted")))
            continue
        if top is None:
            out.append((name, Piece(number(value), "strong")))
            continue
        full, rest = glyphs.bar(value, top, room)
        figures = (number(value) + "/" + number(top)).rjust(6)
        out.append((name, Piece(full, "bar"), Piece(rest, "rest"), Piece(figures)))
    return out


def verdict(word: str) -> tuple[Piece, Piece]:
    """Return the sign and the word of a verdict."""
    role = glyphs.role_of(word)
    return Piece(glyphs.VERDICT.get(word, glyphs.UNKNOWN) + " ", role), Piece(word, role)


def matrix_lines(matrix: dict[str, str], size: int) -> list[Line]:
    """Return one line per surface: its label, then sign and word."""
    room = min(max(size - 17, 8), 24)
    return [(Piece(fit(labels.surface(key), room) + " "), *verdict(word)) for key, word in matrix.items()]


def matrix_strip(matrix: dict[str, str]) -> Line:
    """Return the signs of all surfaces in order."""
    return tuple(
        Piece(glyphs.VERDICT.get(word, glyphs.UNKNOWN) + " ", glyphs.role_of(word)) for word in matrix.values()
    )


def stance(word: str) -> Piece:
    """Return a stance as sign and word."""
    return Piece(glyphs.STANCE.get(word, glyphs.UNKNOWN) + " " + word, glyphs.role_of(word))


def headline(score: int, grade: str, stance_word: str, unreachable: bool = False, *, short: bool = False) -> Line:
    """Return score, grade and stance; of an unreachable host, that nothing was measured."""
    if unreachable:
        return line((glyphs.DASH, "muted"), "  ", ("unreachable, not graded", "warn"))
    gap, of = (" ", "") if short else ("  ", "/100")
    letter = (grade, glyphs.role_of(grade[:1]))
    return line((str(score), "strong"), (of, "muted"), gap, letter, gap, stance(stance_word))


def history_line(history: Sequence[HistoryPoint], now: float, room: int) -> Line:
    """Return the scores of the kept scans as a sparkline with words."""
    if not history:
        return line(("no history kept", "muted"))
    shown = history[-room:]
    words = count(len(history), "scan")
    if len(history) > 1:
        words = words + " since " + day(history[0].scanned_at, now)
    return line((glyphs.spark(comparable_scores(shown)), "bar"), " ", (words, "muted"))


def status_words(status: int) -> str:
    """Return an HTTP status, or ``none`` for no answer."""
    return str(status) if status else "none"


def live_piece(status: int, challenged: bool) -> Piece:
    """Return what a live-probed agent got, as sign and status."""
    if challenged:
        return Piece(glyphs.OUTCOME["challenged"] + " " + status_words(status), "critical")
    if status == 0:
        return Piece(glyphs.OUTCOME["inconclusive"] + " none", "warn")
    if 200 <= status <= 299:
        return Piece(glyphs.OUTCOME["served"] + " " + str(status), "good")
    return Piece(glyphs.OUTCOME["refused"] + " " + str(status), "critical")


def joined(lines: Iterable[Line], gap: str = "  ") -> Line:
    """Return several lines as one."""
    out: list[Piece] = []
    for part in lines:
        if out:
            out.append(Piece(gap))
        out.extend(part)
    return tuple(out)

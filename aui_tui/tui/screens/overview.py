"""Figures over a list: grades, stances per category, the most frequent failing checks."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar, Final

from msgspec.structs import replace as with_fields
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen

from aui_tui.engine.checks import BY_FIX
from aui_tui.records.agents import word_of
from aui_tui.records.query import Query, parse
from aui_tui.records.registry import Surface, surfaces
from aui_tui.records.view import Overview
from aui_tui.records.vocabulary import FIXES, STANCES
from aui_tui.text import fit
from aui_tui.tui import glyphs, messages
from aui_tui.tui.bindings import OVERVIEW
from aui_tui.tui.context import Context, attempt, start
from aui_tui.tui.draw import BLANK, Line, Piece, beside, cut, line
from aui_tui.tui.state import ListState
from aui_tui.tui.widgets.bars import Bar, KeyBar
from aui_tui.tui.widgets.lines import FigureList
from aui_tui.tui.words import count


class OverviewScreen(Screen[Query | None]):
    """Answers with a narrower query when a figure was chosen, else None."""

    BINDINGS: ClassVar[list[BindingType]] = [*OVERVIEW]
    AUTO_FOCUS = "FigureList"

    def __init__(self, context: Context, query: Query) -> None:
        super().__init__()
        self.context = context
        self._asked = query
        self._figures: Overview | None = None

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        yield Bar(self._title, id="title")
        yield FigureList(id="figures")
        yield KeyBar(id="keys")

    def on_mount(self) -> None:
        """Ask for the figures."""
        start(self, "overview", self._read)

    async def _read(self) -> None:
        figures, problem = await attempt(self.context.service.overview(self._asked))
        self.post_message(messages.OverviewReady(figures) if figures else messages.Notification(problem, "error"))

    def on_overview_ready(self, message: messages.OverviewReady) -> None:
        """Draw the figures."""
        figures = self._figures = message.overview
        self.query_one(FigureList).show(lambda size: overview(figures, size), top=True)
        self.query_one("#title", Bar).refresh()

    def _title(self, _size: int) -> Line:
        words = self._asked.words()
        hosts = count(self._figures.hosts, "host") if self._figures is not None else "reading …"
        return line(" ", ("Overview", "title"), "  ", (hosts, "strong"), ("  " + words if words else "", "muted"))

    def action_choose_figure(self, kind: str, value: str) -> None:
        """Go back to the list, narrowed to the chosen figure."""
        query = self._asked
        if kind == "category":
            query = with_fields(query, category=value)
        elif kind == "stance":
            query = with_fields(query, stance=value)
        else:
            text = " ".join((query.line, kind + ":" + value if value else kind)).strip()
            query = with_fields(query, line=text, terms=parse(text))
        self.dismiss(query)

    def action_back(self) -> None:
        """Go back to the list as it was."""
        self.dismiss(None)

    def command(self) -> str:
        """Return the shell command that prints these figures."""
        plain = with_fields(self._asked, sort="rank", descending=False)
        return ListState(query=plain).command() + " --overview"


NAME: Final = 15
FIGURE: Final = 9
TWO_COLUMNS: Final = 96


FATES: Final = (("in", "█"), ("part", "▓"), ("refused", "▒"), ("challenged", "#"), ("told no", "░"), ("unclear", "·"))
"""The parts of an assistant's bar, told apart by their filling; what nobody tested is empty."""


def overview(figures: Overview, size: int) -> list[Line]:
    """Return the figures laid out to ``size`` cells."""
    if not figures.hosts:
        return [BLANK, line(("  No host matches, so there is nothing to count.", "muted"))]
    first = [*_assistants(figures, size), BLANK] if figures.verdicts else []
    if size < TWO_COLUMNS:
        rest = [*_grades(figures, size), BLANK, *_stances(figures, size), BLANK, *_failing(figures, size)]
        tail = [BLANK, *_edges(figures, size)] if figures.edges else []
        return [*first, *rest, *tail, BLANK, *_movers(figures)]
    half = size // 2 - 1
    left = [*_grades(figures, half), BLANK, *_scores(figures), BLANK, *_failing(figures, half)]
    right = [*_stances(figures, half), BLANK, *_edges(figures, half), BLANK, *_movers(figures)]
    return [*first, *beside(left, right, half, 2)]


def _assistants(figures: Overview, size: int) -> list[Line]:
    """Return one line per assistant: a bar of what it gets, the share that lets it in, and who is out."""
    legend = "  ".join(" ".join((fill, word)) for word, fill in FATES)
    words = size >= TWO_COLUMNS
    room = max(size - 18 - (70 if words else 24), 10)
    heads = "gets in      in   part  refused  challenged  told no  not asked" if words else "gets in     out"
    out = [cut(line((" Who gets in", "title"), "  ", (legend, "muted")), size)]
    out.append(cut(line((" " * (18 + room) + heads, "header")), size))
    for surface in surfaces():
        found = Counter[str]()
        for verdict, number in figures.verdicts.get(surface.slug, {}).items():
            found[word_of(verdict, surface.source)] += number
        out.append(_assistant(surface, found, room, words=words))
    return out


def _assistant(surface: Surface, found: Counter[str], room: int, *, words: bool) -> Line:
    name = Piece(" " + fit(surface.short, 16) + " ", "", _of_agent(surface, "in"))
    known = sum(number for word, number in found.items() if word not in ("not tested", "unclear"))
    whole = sum(found.values())
    pieces = [name]
    if not known:
        return (name, Piece(fit("only task runs can tell", room), "muted"), Piece(glyphs.DASH.rjust(7), "muted"))
    used = 0
    for word, fill in FATES:
        cells_of = found[word] * room // whole
        cells_of = max(cells_of, 1) if found[word] and used < room else cells_of
        cells_of = min(cells_of, room - used)
        used += cells_of
        pieces.append(Piece(fill * cells_of, glyphs.role_of(word), _of_agent(surface, word)))
    pieces.append(Piece(" " * (room - used)))
    inside = found["in"] + found["part"]
    share = glyphs.DASH if surface.source == "none" and not inside else _percent(inside, known)
    pieces.append(Piece(share.rjust(7), "good", _of_agent(surface, "gets-in")))
    if not words:
        out = sum(found[word] for word in ("refused", "challenged", "told no"))
        pieces.append(Piece(format(out, ",").rjust(8), "critical" if out else "muted", _of_agent(surface, "out")))
        return tuple(pieces)
    for word, cells_of in (("in", 8), ("part", 7), ("refused", 9), ("challenged", 12), ("told no", 9)):
        role = glyphs.role_of(word) if found[word] else "muted"
        pieces.append(Piece(format(found[word], ",").rjust(cells_of), role, _of_agent(surface, word)))
    asked = "robots.txt only" if surface.source == "robots" else format(found["unclear"], ",").rjust(11)
    pieces.append(Piece("  " + asked.lstrip() if surface.source == "robots" else asked, "muted"))
    return tuple(pieces)


def _of_agent(surface: Surface, word: str) -> str:
    plain = "allowed" if surface.source == "live" else "allowed-robots"
    fate = {"told no": "disallowed", "in": plain, "gets-in": "in"}.get(word, word)
    return "screen.choose_figure('agent', '" + surface.slug + "=" + fate + "')"


def _scores(figures: Overview) -> list[Line]:
    """Return the hosts per ten points as columns, four rows high."""
    if not figures.scores:
        return []
    most = max(*figures.scores, 1)
    out: list[Line] = [line((" Scores", "title"), ("  hosts per ten points", "muted"))]
    for row in (3, 2, 1, 0):
        pieces = [Piece("  ")]
        for place, number in enumerate(figures.scores):
            eighths = number * 32 // most - 8 * row
            eighths = max(eighths, 1) if number and row == 0 else eighths
            column = glyphs.SPARK[min(eighths, 8) - 1] * 3 if eighths > 0 else "   "
            pieces.append(Piece(column + " ", "bar", _decade(place)))
        out.append(tuple(pieces))
    labels = "".join(str(10 * place).ljust(4) for place in range(10))
    return [*out, line(("  " + labels, "muted"))]


def _decade(place: int) -> str:
    high = 100 if place == 9 else 10 * place + 9
    return "screen.choose_figure('score', '" + str(10 * place) + ".." + str(high) + "')"


def _edges(figures: Overview, size: int) -> list[Line]:
    out = [line((" Served by", "title"))]
    for name, number in list(figures.edges.items())[:8]:
        plain = name and "'" not in name and '"' not in name
        action = "screen.choose_figure('edge', '" + name.split(" ")[0] + "')" if plain else ""
        out.append(_row(name or "none recognised", number, figures.hosts, size, "bar", action))
    return out


def _movers(figures: Overview) -> list[Line]:
    same = figures.hosts - figures.risen - figures.fallen
    out: list[Line] = [line((" Since the scan before", "title"))]
    words = (
        Piece("  " + glyphs.RISING + " up " + format(figures.risen, ","), "good"),
        Piece("   " + glyphs.FALLING + " down " + format(figures.fallen, ","), "critical"),
        Piece("   same or new " + format(same, ","), "muted"),
    )
    out.append(words)
    if figures.contradictions:
        action = "screen.choose_figure('contradiction', '')"
        text = "  " + glyphs.DISAGREE + " robots.txt and site disagree on " + format(figures.contradictions, ",")
        out.append((Piece(text, "accent", action),))
    if figures.unreachable:
        out.append(line(("  " + format(figures.unreachable, ",") + " unreachable", "muted")))
    return out


def _percent(part: int, whole: int) -> str:
    share = 100 * part / whole if whole else 0.0
    return "<1 %" if 0 < share < 1 else format(share, ".0f") + " %"


def _row(name: str, part: int, whole: int, size: int, role: str, action: str = "", width: int = NAME) -> Line:
    room = max(min(size - width - FIGURE - 9, 40), 6)
    full, rest = glyphs.bar(part, whole, room)
    return (
        Piece(" " + fit(name, width - 1) + " ", "" if part else "muted", action),
        Piece(full, role, action),
        Piece(rest, "rest", action),
        Piece(format(part, ",").rjust(FIGURE), "" if part else "muted", action),
        Piece(_percent(part, whole).rjust(6), "muted", action),
    )


def _grades(figures: Overview, size: int) -> list[Line]:
    out = [line((" Grades", "title"))]
    for grade, number in figures.grades.items():
        action = "screen.choose_figure('grade', '" + grade.lower() + "')" if grade in "ABCDF" else ""
        out.append(_row(grade, number, figures.hosts, size, glyphs.role_of(grade[:1]), action))
    return out


def _failing(figures: Overview, size: int) -> list[Line]:
    out = [line((" Commonest failing checks", "title"))]
    width = 32 if size >= 60 else 12
    for key, number in sorted(figures.failing.items(), key=lambda item: (-item[1], item[0])):
        name = BY_FIX[key].lacking if width > NAME and key in BY_FIX else key
        action = "screen.choose_figure('fix', '" + key + "')" if key in FIXES else ""
        out.append(_row(name, number, figures.hosts, size, "bar", action, width))
    return out if len(out) > 1 else [*out, line(("  none", "muted"))]


def _stances(figures: Overview, size: int) -> list[Line]:
    legend = [Piece(" Stances per category", "title"), Piece("  ")]
    for stance in STANCES:
        action = "screen.choose_figure('stance', '" + stance + "')"
        legend.append(Piece(" " + glyphs.STANCE[stance] + " " + stance + " ", glyphs.role_of(stance), action))
    out: list[Line] = [tuple(legend)]
    room = max(min(size - NAME - 27, 40), 6)
    for category, shares in figures.stances.items():
        whole = sum(shares.values())
        action = "screen.choose_figure('category', '" + category + "')" if "'" not in category else ""
        pieces = [Piece(" " + fit(category, NAME), "" if whole else "muted")]
        pieces += _stacked(shares, whole, room)
        for stance in STANCES:
            text = glyphs.STANCE[stance] + format(shares.get(stance, 0), ",")
            pieces.append(Piece(text.rjust(7), glyphs.role_of(stance) if whole else "muted"))
        out.append(tuple(piece._replace(action=action) for piece in pieces))
    return out


def _stacked(shares: dict[str, int], whole: int, room: int) -> list[Piece]:
    """Return one bar whose parts are drawn with the signs of the stances, so that colour is not alone."""
    if not whole:
        return [Piece(glyphs.REST * room, "rest")]
    ends = [0]
    for stance in STANCES:
        ends.append(ends[-1] + shares.get(stance, 0))
    places = [end * room // whole for end in ends]
    return [
        Piece(glyphs.STACK[stance] * (places[number + 1] - places[number]), glyphs.role_of(stance))
        for number, stance in enumerate(STANCES)
    ]

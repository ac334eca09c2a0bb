"""The panes of the overview: who gets in, scores, stances, servers, what sites lack, what changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import Final

from msgspec.structs import replace as with_fields

from aui_tui.checks import BY_FIX
from aui_tui.model.agents import SHUT, word_of
from aui_tui.model.query import CONTRADICTIONS, Query, parse
from aui_tui.model.registry import Surface, surfaces
from aui_tui.model.view import Move, Moves, Overview
from aui_tui.model.vocabulary import FIXES, STANCES
from aui_tui.text import fit
from aui_tui.tui import glyphs
from aui_tui.tui.draw import BLANK, Line, Piece, beside, cut, line, pad, width
from aui_tui.tui.state import Changes
from aui_tui.tui.words import FIX_TERMS

NAME: Final = 15
FIGURE: Final = 9
TWO_COLUMNS: Final = 96
THREE_COLUMNS: Final = 126
STACKED: Final = 180
"""Width from which two panes stand one over the other beside the scores, where the height allows it."""
LEAST: Final = 6
"""Lines inside a pane of a wide screen, at least."""
BINS: Final = 5
"""Lines of the columns of scores where the height is not given."""
FOOT: Final = {
    "agent": "in",
    "stance": "stance",
    "category": "stance",
    "score": "scores",
    "grade": "scores",
    "edge": "served by",
    "fix": "lacking",
    "host": "movers",
    "contradiction": "disagree",
    "disagree": "disagree",
    "turned away": "served by",
}
"""The term that explains a figure, by its kind."""


FATES: Final = (("in", "█"), ("part", "▓"), ("refused", "▒"), ("challenged", "#"), ("told no", "░"), ("unclear", "·"))
"""The parts of an assistant's bar, distinguished by their filling; what nobody tested is empty."""


def overview(figures: Overview, changes: Changes, size: int, height: int, *, only: int = 0) -> list[Line]:
    """Return the figures laid out to ``size`` cells and, where they all fit, to exactly ``height`` lines.

    ``only``: number of the one pane that has the whole screen, 0 for all of them.
    """
    if not figures.hosts:
        return [BLANK, line(("  No host matches, so there is nothing to count.", "muted"))]
    if only:
        return _pane(only, figures, changes, size, max(height - 2, LEAST))
    first = _pane(1, figures, changes, size) if figures.verdicts else []
    if size < TWO_COLUMNS:
        return [*first, *(row for number in range(2, 7) for row in _pane(number, figures, changes, size))]
    left, half = height - len(first), size // 2
    if size >= STACKED and left >= 2 * (len(figures.stances) + len(figures.failing) + 4):
        return [*first, *_stacked_panes(figures, changes, size, left)]
    upper = max(left - left // 2 - 2, len(figures.stances), LEAST)
    lower = max(left - upper - 4, LEAST)
    scores = _pane(2, figures, changes, half, upper)
    middle = beside(scores, _pane(3, figures, changes, size - half, upper), half, 0)
    return [*first, *middle, *_lower(figures, changes, size, lower)]


def _stacked_panes(figures: Overview, changes: Changes, size: int, height: int) -> list[Line]:
    """Return panes 2 to 6 for a large screen: stances over what sites lack, servers beside what changed."""
    half, upper = size // 2, height // 2 - 2
    stances = len(figures.stances)
    right = _pane(3, figures, changes, size - half, stances) + _pane(
        5, figures, changes, size - half, upper - stances - 2
    )
    middle = beside(_pane(2, figures, changes, half, upper), right, half, 0)
    lower = height - upper - 4
    served = _pane(4, figures, changes, half, lower)
    return [*middle, *beside(served, _pane(6, figures, changes, size - half, lower), half, 0)]


def _pane(number: int, figures: Overview, changes: Changes, size: int, height: int = 0) -> list[Line]:
    """Return a pane in its frame, ``height`` lines high inside; 0: as high as it needs."""
    inner = size - 2
    match number:
        case 1:
            return _box("1 Who gets in", _assistants(figures, changes.moves, inner), size, height, legend=_legend(size))
        case 2:
            return _box("2 Scores", _scores(figures, inner, height - 1 if height else BINS), size, height)
        case 3:
            return _box("3 Stances", _stances(figures, inner), size, height, legend=_stance_legend())
        case 4:
            return _box("4 Served by", _edges(figures, inner), size, height, legend=_edge_legend(figures))
        case 5:
            return _box("5 What sites lack most", _failing(figures, inner), size, height)
        case _:
            return _box(
                f"6 Since {changes.since or 'each scan before'}", _movers(figures, changes, inner, height), size, height
            )


def _lower(figures: Overview, changes: Changes, size: int, rows: int) -> list[Line]:
    """Return panes 4 to 6, side by side where there is room for three."""
    three = size >= THREE_COLUMNS
    each = size // 3 if three else size // 2
    last = size - 2 * each if three else size
    edges, lacking = (_pane(number, figures, changes, each, rows) for number in (4, 5))
    movers = _pane(6, figures, changes, last, rows)
    pair = beside(edges, lacking, each, 0)
    return beside(pair, movers, 2 * each, 0) if three else [*pair, *movers]


def _box(title: str, rows: Sequence[Line], size: int, height: int = 0, *, legend: Line = ()) -> list[Line]:
    """Return a frame of ``size`` cells around ``rows``; of more than ``height`` the rest is counted below."""
    inner = size - 2
    shown = list(rows[:height] if height else rows)
    more = len(rows) - len(shown)
    shown += [BLANK] * (height - len(shown))
    name = Piece(" " + title + " ", "title")
    ends = width((name, *legend)) + 3
    head = (name, Piece("─" * (size - ends - 1), "rest"), *legend) if legend and ends + 2 <= size else (name,)
    head = cut(head, size - 3)
    top = (Piece("╭─", "rest"), *head, Piece("─" * (size - 3 - width(head)) + "╮", "rest"))
    foot = f" ↓ {more:,} more " if more > 0 else ""
    bottom = line(("╰─" + foot + "─" * (inner - 1 - len(foot)) + "╯", "rest"))
    side = Piece("│", "rest")
    return [top, *((side, *pad(row, inner), side) for row in shown), bottom]


def _legend(size: int) -> Line:
    words = "  ".join(f"{fill} {word}" for word, fill in FATES)
    return line((f" {words} ", "muted")) if size >= TWO_COLUMNS else ()


def _stance_legend() -> Line:
    marks = ((f" {glyphs.STANCE[word]} {word} ", glyphs.role_of(word), narrow_to("stance", word)) for word in STANCES)
    return (Piece(" "), *(Piece(*mark) for mark in marks))


def _assistants(figures: Overview, moves: Moves, size: int) -> list[Line]:
    """Return one line per assistant: a bar of what it gets, the share that lets it in, who is out, what changed."""
    words = size >= TWO_COLUMNS - 2
    more = _columns(figures, moves, size)
    heads = "gets in      in   part  refused  challenged  told no          unclear" if words else "gets in     out"
    heads += "".join(head for head, _ in more)
    room = max(size - 19 - len(heads), 10)
    legend = "" if words else "█ in ▓ part ▒ refused # challenged ░ told no"
    lead = fit(" " + legend, 18 + room) if legend and room > 26 else " " * (18 + room)
    out = [cut(line((lead, "muted"), (heads, "header")), size)]
    for surface in surfaces():
        cells = (cell(surface) for _, cell in more)
        out.append(cut((*_assistant(surface, fates_of(figures, surface), room, words=words), *cells), size))
    return out


def fates_of(figures: Overview, surface: Surface) -> Counter[str]:
    """Return how many hosts give an assistant each fate."""
    found = Counter[str]()
    for verdict, number in figures.verdicts.get(surface.slug, {}).items():
        found[word_of(verdict, surface.source)] += number
    return found


DELTA_FROM: Final = 60
"""Cells from which the change of an assistant has a column."""
OUT_FROM: Final = 124
"""Cells from which the hosts have a column that turn an assistant away against their robots.txt."""
WORST: Final = 25
"""Cells of the category that shuts an assistant out most often, with its share."""
ENOUGH: Final = 5
"""Hosts of a category below which its share says little."""


def _columns(figures: Overview, moves: Moves, size: int) -> list[tuple[str, Callable[[Surface], Piece]]]:
    """Return what fits beside the fates of an assistant: each heading, and the cell below it."""
    wide, against = size >= STACKED - 2, bool(figures.contradictions)
    delta = ("    Δ in", lambda surface: _turned(surface, moves))
    if not wide:
        out = ("   ≠ out", lambda surface: _disagree(surface, figures, 0, 8))
        return [*([out] if against and size >= OUT_FROM else []), *([delta] if size >= DELTA_FROM else [])]
    columns = [
        (against, "   yes, yet out", lambda surface: _disagree(surface, figures, 0, 15)),
        (against, "  no, yet in", lambda surface: _disagree(surface, figures, 1, 12)),
        (True, *delta),
        (bool(moves.weeks), "       12 weeks", lambda surface: _weeks(surface, moves)),
        (bool(figures.shut), "  most often shut out by", lambda surface: _worst(surface, figures)),
    ]
    return [(head, cell) for known, head, cell in columns if known]


def _disagree(surface: Surface, figures: Overview, way: int, room: int) -> Piece:
    """Return how many hosts turn an assistant away against their robots.txt, or let it in against that (``way`` 1)."""
    if surface.slug not in figures.disagree:
        return Piece(glyphs.DASH.rjust(room), "muted")
    number = figures.disagree[surface.slug][way]
    action = narrow_to("disagree", f"{CONTRADICTIONS[way]} {surface.slug}")
    return Piece(f"{number:,}".rjust(room), "accent" if number else "muted", action)


def _weeks(surface: Surface, moves: Moves) -> Piece:
    """Return the share of hosts that let an assistant in at the end of each week, the last one now."""
    shares = moves.weeks.get(surface.slug, ())
    if surface.source == "none" or max(shares, default=-1) < 0:
        return Piece(glyphs.DASH.rjust(15), "muted")
    return Piece("   " + "".join(glyphs.spark([share]) if share >= 0 else " " for share in shares), "bar")


def _turned(surface: Surface, moves: Moves) -> Piece:
    """Return how many more hosts let an assistant in than before."""
    if surface.slug not in moves.agents or surface.source == "none":
        return Piece(glyphs.DASH.rjust(8), "muted")
    let_in, shut_out = moves.agents[surface.slug]
    change = let_in - shut_out
    role = "good" if change > 0 else "critical" if change < 0 else "muted"
    return Piece((format(change, "+,d") if change else "0").rjust(8), role)


def _worst(surface: Surface, figures: Overview) -> Piece:
    """Return the category that shuts an assistant out most often."""
    shares = {
        category: (out / known, out)
        for category, (out, known) in figures.shut.get(surface.slug, {}).items()
        if out and known >= ENOUGH
    }
    if not shares:
        return Piece("  " + glyphs.DASH, "muted")
    name = max(shares, key=shares.__getitem__)
    return Piece(f"  {fit(name, WORST - 8)}{_percent(round(1000 * shares[name][0]), 1000):>6}")


def _assistant(surface: Surface, found: Counter[str], room: int, *, words: bool) -> Line:
    name = Piece(" " + fit(surface.short, 16) + " ", "", of_agent(surface, "in"))
    known = sum(number for word, number in found.items() if word not in ("not tested", "unclear"))
    if not known:
        rest = glyphs.DASH.rjust(7) + " " * (FATES_ROOM if words else 8)
        said = "only task runs can tell" if room > 22 else "only by task runs"
        return (name, Piece(fit(said, room), "muted"), Piece(rest, "muted"))
    inside = found["in"] + found["part"]
    share = glyphs.DASH if surface.source == "none" and not inside else _percent(inside, known)
    gets_in = Piece(share.rjust(7), "good", of_agent(surface, "gets-in"))
    figures = _fates(surface, found) if words else [_turned_away(surface, found)]
    return (name, *_filled(surface, found, room), gets_in, *figures)


FATES_ROOM: Final = 62
"""Cells of the hosts of each fate, side by side."""


def _filled(surface: Surface, found: Counter[str], room: int) -> list[Piece]:
    """Return the bar of an assistant in ``room`` cells; what is there has one cell at least."""
    whole, used = found.total(), 0
    pieces: list[Piece] = []
    for word, fill in FATES:
        share = found[word] * room // whole
        share = min(max(share, 1) if found[word] else share, room - used)
        used += share
        pieces.append(Piece(fill * share, glyphs.role_of(word), of_agent(surface, word)))
    return [*pieces, Piece(" " * (room - used))]


def _turned_away(surface: Surface, found: Counter[str]) -> Piece:
    out = sum(found[word] for word in SHUT)
    return Piece(format(out, ",").rjust(8), "critical" if out else "muted", of_agent(surface, "out"))


def _fates(surface: Surface, found: Counter[str]) -> list[Piece]:
    pieces = []
    for word, room in (("in", 8), ("part", 7), ("refused", 9), ("challenged", 12), ("told no", 9)):
        role = glyphs.role_of(word) if found[word] else "muted"
        pieces.append(Piece(format(found[word], ",").rjust(room), role, of_agent(surface, word)))
    unclear = "robots.txt only" if surface.source == "robots" else format(found["unclear"], ",")
    return [*pieces, Piece(unclear.rjust(17), "muted")]


FATE_TERMS: Final = {"in": "allowed,allowed-robots", "gets-in": "in", "told no": "disallowed", "not tested": "untested"}
"""What a query calls an outcome, where that is another word."""


def of_agent(surface: Surface, word: str) -> str:
    """Return the action that narrows the list to hosts of which the assistant gets ``word``."""
    return narrow_to("agent", f"{surface.slug}={FATE_TERMS.get(word, word)}")


def narrow_to(kind: str, value: str) -> str:
    """Return the action that narrows the list to a figure, empty for a value that no action can hold."""
    plain = "'" not in value and '"' not in value
    return f"screen.choose_figure('{kind}', '{value}')" if plain else ""


def _scores(figures: Overview, size: int, rows: int) -> list[Line]:
    """Return the hosts per ten points as columns ``rows`` lines high, and the grades beside them."""
    grades = _grades(figures)
    column = max(min((size - GRADES - 3) // 10, 8), 3)
    bins = figures.scores or (0,) * 10
    most = max(*bins, 1)
    out: list[Line] = []
    for row in range(rows - 1, -1, -1):
        pieces = [Piece("  ")]
        for place, number in enumerate(bins):
            eighths = number * 8 * rows // most - 8 * row
            eighths = max(eighths, 1) if number and row == 0 else eighths
            filled = glyphs.SPARK[min(eighths, 8) - 1] * (column - 1) if eighths > 0 else " " * (column - 1)
            pieces.append(Piece(filled + " ", "bar", narrow_to("score", decade(place))))
        out.append(tuple(pieces))
    labels = "".join(str(10 * place).ljust(column) for place in range(10))
    chart = [*out, line(("  " + labels, "muted"))]
    return beside(chart, grades, 3 + 10 * column, 0) if size >= 33 + GRADES else [*chart, *grades]


GRADES: Final = 18
"""Cells of a grade with its hosts and their share."""


def _grades(figures: Overview) -> list[Line]:
    out: list[Line] = []
    for grade, number in figures.grades.items():
        action = narrow_to("grade", grade.lower()) if grade in "ABCDF" else ""
        share = Piece(f"{number:8,}{_percent(number, figures.hosts):>6}", "" if number else "muted", action)
        out.append((Piece(f" {grade}", glyphs.role_of(grade[:1]), action), share))
    return out


def decade(place: int) -> str:
    """Return the scores of a column as a query writes them: ``90..100``."""
    return f"{10 * place}..{100 if place == 9 else 10 * place + 9}"


def _edges(figures: Overview, size: int) -> list[Line]:
    """Return for each server its sites as a bar, how many of them turn an assistant away, and their share."""
    out: list[Line] = []
    name_width = max(NAME, min(size - 32, 26))
    room = max(min(size - name_width - 22, 40), 6)
    for name, number in figures.edges.items():
        action, turned = narrow_to("edge", name.split(" ")[0]) if name else "", figures.refusing.get(name, 0)
        shut = narrow_to("turned away", name.split(" ")[0]) if name and turned else ""
        full, rest = glyphs.bar(number, figures.hosts, room)
        out.append(
            (
                Piece(f" {fit(name or 'none recognised', name_width - 1)} ", "", action),
                *(Piece(full, "bar", action), Piece(rest, "rest", action), Piece(f"{number:7,}", "", action)),
                Piece(f"{turned:7,}{_percent(turned, number):>6}", "critical" if turned else "muted", shut),
            )
        )
    return out or [line((" nothing recognised", "muted"))]


ROOMY: Final = 16
"""Lines from which the last pane names every assistant that changed, else the one that changed most."""


def _edge_legend(figures: Overview) -> Line:
    return line((" sites, turned away ", "muted")) if figures.edges else ()


def _movers(figures: Overview, changes: Changes, size: int, height: int) -> list[Line]:
    """Return how many hosts rose and fell, what contradicts itself, and the hosts that moved most."""
    found = changes.moves
    out = [
        line(
            (f" {glyphs.RISING} up {found.risen:,}", "good"),
            (f"  {glyphs.FALLING} down {found.fallen:,}", "critical"),
            (f"  {'no change' if changes.since else 'same or new'} {found.same:,}", "muted"),
        )
    ]
    if found.unknown:
        out.append(line((f" {found.unknown:,} without a scan from before", "muted")))
    if figures.contradictions:
        text = f" {glyphs.DISAGREE} robots.txt and site disagree on {figures.contradictions:,}"
        out.append((Piece(text, "accent", narrow_to("contradiction", "")),))
    changed = [surface for surface in surfaces() if any(found.agents.get(surface.slug, ()))]
    changed.sort(key=lambda surface: -sum(found.agents[surface.slug]))
    for surface in changed if height >= ROOMY else changed[:1]:
        let_in, shut_out = found.agents[surface.slug]
        said = f"{let_in:,} let in, {shut_out:,} turned away"
        out.append(line(f" {surface.short:<14} {let_in - shut_out:+,d}", (f"  {said}", "muted")))
    if size >= TWO_COLUMNS - 6 and found.up and found.down:
        half = size // 2
        up, down = ([_mover(move, half - 1) for move in moves] for moves in (found.up, found.down))
        return [*out, *beside(up, down, half, 0)]
    return [*out, *(_mover(move, size) for move in (*found.up, *found.down))]


def _mover(move: Move, size: int) -> Line:
    host, change = move.host, move.after - move.before
    sign, role = (glyphs.RISING, "good") if change > 0 else (glyphs.FALLING, "critical")
    action = narrow_to("host", host)
    scores = f"{move.before} {glyphs.ARROW} {move.after}".rjust(10)
    lead = f" {sign}{change:+4d}  "
    room = max(size - len(lead) - 11, 8)
    return (Piece(lead, role, action), Piece(fit(host, room), "", action), Piece(scores, "muted", action))


def _percent(part: int, whole: int) -> str:
    share = 100 * part / whole if whole else 0.0
    return "<1 %" if 0 < share < 1 else f"{share:.0f} %"


def bar_row(name: str, part: int, whole: int, size: int, action: str, width: int) -> Line:
    """Return one value: its name in ``width`` cells, its share as a bar, its number and its share in percent."""
    room = max(min(size - width - FIGURE - 9, 40), 6)
    full, rest = glyphs.bar(part, whole, room)
    return (
        Piece(" " + fit(name, width - 1) + " ", "" if part else "muted", action),
        Piece(full, "bar", action),
        Piece(rest, "rest", action),
        Piece(format(part, ",").rjust(FIGURE), "" if part else "muted", action),
        Piece(_percent(part, whole).rjust(6), "muted", action),
    )


def _failing(figures: Overview, size: int) -> list[Line]:
    out: list[Line] = []
    name_width = 44 if size >= 90 else 32 if size >= 60 else NAME
    for key, number in sorted(figures.failing.items(), key=lambda item: (-item[1], item[0])):
        name = BY_FIX[key].lacking if name_width >= 32 and key in BY_FIX else FIX_TERMS.get(key, key)
        action = narrow_to("fix", key) if key in FIXES else ""
        out.append(bar_row(name, number, figures.hosts, size, action, name_width))
    return out or [line((" nothing", "muted"))]


def _stances(figures: Overview, size: int) -> list[Line]:
    out: list[Line] = []
    room = max(min(size - NAME - 27, 40), 6)
    for category, shares in figures.stances.items():
        whole = sum(shares.values())
        action = narrow_to("category", category)
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
    ends = accumulate((shares.get(stance, 0) for stance in STANCES), initial=0)
    places = [end * room // whole for end in ends]
    return [
        Piece(glyphs.STACK[stance] * (end - begin), glyphs.role_of(stance))
        for stance, (begin, end) in zip(STANCES, pairwise(places), strict=True)
    ]


def narrowed(query: Query, kind: str, value: str) -> Query:
    """Return ``query`` narrowed to a figure."""
    if kind == "category":
        return with_fields(query, category=value)
    if kind == "stance":
        return with_fields(query, stance=value)
    if kind == "host":
        return with_fields(query, line=f'"{value}"', terms=parse(f'"{value}"'))
    if kind == "turned away":
        kind = "edge"
        value = f"{value} agent:any=refused,challenged"
    if kind == "disagree":
        way, slug = value.split(" ")
        verdicts = "refused,challenged" if way == "out" else "disallowed"
        kind, value = "contradiction", f"{way} agent:{slug}={verdicts}"
    text = f"{query.line} {f'{kind}:{value}' if value else kind}".strip()
    return with_fields(query, line=text, terms=parse(text))

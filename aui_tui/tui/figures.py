"""The panes of the overview as rows of figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from aui_tui.checks import BY_FIX, label
from aui_tui.model.agents import NOT_ASKED, SHUT, UNCLEAR, share_in
from aui_tui.model.labels import percent
from aui_tui.model.overview import Move, Moves, Overview
from aui_tui.model.query import CONTRADICTIONS, Query, parse
from aui_tui.model.registry import Surface, surfaces
from aui_tui.model.signs import sign
from aui_tui.model.vocabulary import FIXES, STANCES
from aui_tui.text import fit
from aui_tui.tui import glyphs
from aui_tui.tui.rows import ListEntry, Part, entry, paragraph
from aui_tui.tui.state import Changes

NAMES: Final = ("", "Who gets in", "Scores", "Stances", "Served by", "What sites lack most", "Since")
PANES: Final = len(NAMES) - 1
FOOT: Final = {
    "agent": "in",
    "who": "in",
    "stance": "stance",
    "category": "stance",
    "score": "scores",
    "grade": "scores",
    "edge": "served by",
    "turned": "served by",
    "fix": "lacking",
    "host": "movers",
    "contradiction": "disagree",
    "disagree": "disagree",
}
"""The term that explains a figure, by its kind."""
FATES: Final = (("in", "█"), ("part", "▓"), ("refused", "▒"), ("challenged", "#"), ("told no", "⊘"), ("unclear", "?"))
"""The parts of an assistant's bar by their filling, the sign of each word in ASCII; what nobody tested is empty."""
FATE_TERMS: Final = {"gets in": "in", "told no": "told-no", "not asked": "not-asked"}
"""What a query calls an outcome, where that is another word."""
FATES_BY_TERM: Final = {term: fate for fate, term in FATE_TERMS.items()}
ENOUGH: Final = 5
"""Hosts of a category below which its share says little."""


def figure(kind: str, value: str) -> str:
    """Return the key of a figure: its kind and value, as ``narrowed`` takes them."""
    return f"{kind} {value}".strip()


def of_agent(surface: Surface, word: str) -> str:
    """Return the figure of the hosts of which the assistant gets ``word``."""
    if word == "in":  # without those who get it in part
        return figure("agent", f"{surface.slug}=in -agent:{surface.slug}=part")
    return figure("agent", f"{surface.slug}={FATE_TERMS.get(word, word)}")


def narrowed(query: Query, kind: str, value: str) -> Query:
    """Return ``query`` narrowed to a figure."""
    if kind in ("category", "stance"):
        return replace(query, **{kind: value})
    if kind == "host":
        kind, value = "", f'"{value}"'
    elif kind == "turned":
        kind, value = "edge", f"{value} agent:any=refused,challenged"
    elif kind == "disagree":
        way, slug = value.split(" ")
        kind, value = "contradiction", f"{way} agent:{slug}={'refused,challenged' if way == 'out' else 'told-no'}"
    term = f"{kind}:{value}" if kind and value else kind or value
    line = f"{query.line} {term}".strip()
    return replace(query, line=line, terms=parse(line))


def fates_of(figures: Overview, surface: Surface) -> Counter[str]:
    """Return how many hosts give an assistant each fate."""
    return Counter(figures.verdicts.get(surface.slug, {}))


def choices(figures: Overview, surface: Surface) -> dict[str, tuple[str, str]]:
    """Return the figures that an assistant opens: what it gets and how many hosts, none of zero hosts."""
    found = fates_of(figures, surface)
    found["gets in"] = found["in"] + found["part"]
    shown = {"gets in": "Gets in", "refused": "Is refused", "challenged": "Is challenged", "told no": "Is told no",
             "unclear": "Unclear"}  # fmt: skip
    return {of_agent(surface, word): (words, format(found[word], ",")) for word, words in shown.items() if found[word]}


def decade(place: int) -> str:
    """Return the scores of a column as a query writes them: ``90..100``."""
    return f"{10 * place}..{100 if place == 9 else 10 * place + 9}"


def pane(number: int, figures: Overview, changes: Changes, size: int) -> list[ListEntry]:
    """Return pane ``number`` in ``size`` cells."""
    if not figures.hosts:
        return [paragraph("No host matches, so there is nothing to count.", size, "muted")]
    if number == 1:
        return assistants(figures, changes.moves, size)
    if number == PANES:
        return movers(figures, changes, size)
    return {2: scores, 3: stances, 4: servers, 5: lacking}[number](figures, size)


def legend(number: int, size: int) -> str:
    """Return what the marks of a pane mean, for its border."""
    if number == 1:
        words = "  ".join(f"{fill} {word}" for word, fill in FATES)
        return words if len(words) < size - 20 else "█ in ▓ part ▒ refused # challenged ⊘ no"
    if number == 3:
        return "  ".join(f"{glyphs.STACK[word]} {word}" for word in STANCES)
    return {4: "sites, turned away"}.get(number, "")


def bar_row(name: str, part: int, whole: int, size: int, key: str, width: int) -> ListEntry:
    """Return one value: its name in ``width`` cells, a bar where there is room, number and percent."""
    room = max(min(size - width - 20, 40), 4 if size > width + 20 else 0)
    shown = (fit(name, width) + " ", "" if part else "muted", key)
    return entry(" ", shown, _bar(part, whole, room), f"{part:9,}", (percent(part, whole).rjust(6), "muted"))


def _bar(part: int, whole: int, room: int) -> tuple[str, str]:
    return glyphs.bar(part, whole, room)[0].ljust(room), "bar"


# The panes


COUNTED: Final = ("in", "part", "refused", "challenged", "told no", "unclear")
"""Outcomes that have a column of their own where there is room."""
Cell = tuple[str, str, str, str]
"""A heading, the words below it, their tone, and the key of the figure; empty for none."""


def assistants(figures: Overview, moves: Moves, size: int) -> list[ListEntry]:
    """Return one row per assistant: a bar of what it gets, the share that lets it in, who is out, what changed."""
    found = {surface: list(_cells(figures, moves, surface, size)) for surface in surfaces()}
    heads = "gets in" + "".join(cell[0] for cell in next(iter(found.values())))
    room = max(min(size - 21 - len(heads), 60), 8)
    out = [entry((" " * (18 + room) + heads, "header"))]
    for surface, cells in found.items():
        fates, name = fates_of(figures, surface), fit(surface.label, 15) + " "
        if not any(number for word, number in fates.items() if word not in (NOT_ASKED, UNCLEAR)):
            words = {"live": "no answer proves anything", "none": "only task runs can tell"}.get(surface.source)
            out.append(entry(f" {name}", (words or "not asked: robots.txt alone speaks of it", "muted")))
            continue
        got, known = share_in(fates, surface)
        share = ("–".rjust(8), "muted", "")
        if known:
            share = percent(got, known).rjust(8), "good", of_agent(surface, "gets in")
        parts = ((part, sign(word).tone, of_agent(surface, word) if word else "") for word, part in _parts(fates, room))
        columns = ((words, tone, key) for _, words, tone, key in cells)
        out.append(entry(" ", (name, "", figure("who", surface.slug)), *parts, share, *columns))
    return out


def _cells(figures: Overview, moves: Moves, surface: Surface, size: int) -> Iterator[Cell]:
    """Yield the columns that fit behind the share of an assistant."""
    fates, slug, wide = fates_of(figures, surface), surface.slug, size >= 150
    if size >= 100:
        yield from (_number(word, fates[word], sign(word).tone, of_agent(surface, word)) for word in COUNTED)
    else:
        yield _number("out", sum(fates[word] for word in SHUT), "critical", of_agent(surface, "out"))
    if figures.contradictions and size >= 124:
        for way, head in enumerate(("yes, yet out", "no, yet in") if wide else ("≠ out",)):
            counted = figures.disagree.get(slug)
            key = figure("disagree", f"{CONTRADICTIONS[way]} {slug}")
            yield _number(head, counted[way] if counted else None, "accent", key)
    if size >= 60:
        let_in, shut_out = moves.agents.get(slug, (0, 0)) if known_by(surface) else (0, 0)
        change = let_in - shut_out
        told = slug in moves.agents and known_by(surface)
        tone = "good" if change > 0 else "critical" if change < 0 else "muted"
        yield "    Δ in", (format(change, "+,d" if change else "d") if told else "–").rjust(8), tone, ""
    if wide and moves.weeks:
        shares = moves.weeks.get(slug, ()) if known_by(surface) else ()
        known = max(shares, default=-1) >= 0
        curve = "".join(glyphs.spark([share]) if share >= 0 else " " for share in shares) if known else "–"
        yield "       12 weeks", curve.rjust(15), "bar" if known else "muted", ""
    if wide and figures.shut:
        counted_by = figures.shut.get(slug, {}).items()
        shut = {name: out / asked for name, (out, asked) in counted_by if out and asked >= ENOUGH}
        worst = max(shut, key=shut.__getitem__, default="")
        words = f"{fit(worst, 17)}{percent(round(1000 * shut[worst]), 1000):>6}" if worst else "–"
        yield "  most often shut out by", f"  {words}", "" if worst else "muted", ""


def known_by(surface: Surface) -> bool:
    """Whether scans tell what an assistant gets: of one with a browser of its own only a run of the tasks does."""
    return surface.source != "none"


def _number(head: str, number: int | None, tone: str, key: str) -> Cell:
    """Return a column of hosts; only a number over zero opens a list, None is not known."""
    width = max(len(head) + 2, 8)
    words = "–" if number is None else f"{number:,}"
    return head.rjust(width), words.rjust(width), tone if number else "muted", key if number else ""


def _parts(found: Counter[str], room: int) -> list[tuple[str, str]]:
    """Return the parts of a bar of ``room`` cells; what is there has one cell at least."""
    whole, used = found.total(), 0
    out: list[tuple[str, str]] = []
    for word, fill in FATES:
        share = found[word] * room // whole
        share = min(max(share, 1) if found[word] else share, room - used)
        used += share
        out.append((word, fill * share))
    return [*((word, part) for word, part in out if part), ("", " " * (room - used))]


def scores(figures: Overview, size: int) -> list[ListEntry]:
    """Return the hosts per grade, then per ten points, the most first."""
    out = []
    for grade, number in figures.grades.items():
        key = figure("grade", grade.lower()) if grade in "ABCDF" and number else ""
        out.append(bar_row(f"grade {grade}", number, figures.hosts, size, key, 9))
    without = figures.hosts - sum(figures.grades.values())
    if figures.grades and without:
        out.append(bar_row("no grade", without, figures.hosts, size, "", 9))
    for place, number in reversed(list(enumerate(figures.scores))):
        key = figure("score", decade(place)) if number else ""
        out.append(bar_row(decade(place).replace("..", "-"), number, figures.hosts, size, key, 9))
    return out


def stances(figures: Overview, size: int) -> list[ListEntry]:
    """Return one row per category: a bar of its stances, and how many hosts have each."""
    out = []
    room = max(min(size - 42, 40), 4)
    for category, shares in figures.stances.items():
        whole = sum(shares.values())
        key = figure("category", category) if whole else ""
        bar: list[Part] = []
        hosts = used = 0
        for stance in STANCES:
            hosts += shares.get(stance, 0)
            end = hosts * room // whole if whole else 0
            bar.append((glyphs.STACK[stance] * (end - used), sign(stance).tone))
            used = end
        counts = (
            (f"  {sign(stance).sign}{shares.get(stance, 0):5,}", sign(stance).tone if whole else "muted")
            for stance in STANCES
        )
        name = (fit(category, 14) + " ", "" if whole else "muted", key)
        out.append(entry(" ", name, *bar, " " * (room - used), *counts))
    return out


def served_by(name: str, kind: str = "edge") -> str:
    """Return the figure of the sites that a server answers for and no other: many stand behind a CDN."""
    return figure(kind, f'="{name.lower()}"') if name else ""


def servers(figures: Overview, size: int) -> list[ListEntry]:
    """Return for each server its sites as a bar, how many of them turn an assistant away, and their share."""
    out = []
    width = max(min(size - 32, 26), min(size - 22, 15))
    room = max(min(size - width - 24, 40), 4 if size > width + 25 else 0)
    for name, number in figures.edges.items():
        turned = figures.refusing.get(name, 0)
        shown = (fit(name or "none recognised", width) + " ", "", served_by(name))
        key = served_by(name, "turned") if turned else ""
        away = (f"{turned:7,}{percent(turned, number):>6}", "critical" if turned else "muted", key)
        out.append(entry(" ", shown, _bar(number, figures.hosts, room), f"{number:7,}", away))
    return out or [paragraph("No server of these sites is known.", size, "muted")]


def lacking(figures: Overview, size: int) -> list[ListEntry]:
    """Return how many hosts fail each check that has a fix."""
    out = []
    width = 44 if size >= 90 else 32 if size >= 60 else 26 if size >= 46 else 15
    for key, number in sorted(figures.failing.items(), key=lambda item: (-item[1], item[0])):
        name = BY_FIX[key].lacking if width >= 32 and key in BY_FIX else label(key)
        out.append(bar_row(name, number, figures.hosts, size, figure("fix", key) if key in FIXES else "", width))
    return out or [paragraph("No check is known to fail.", size, "muted")]


def movers(figures: Overview, changes: Changes, size: int) -> list[ListEntry]:
    """Return how many hosts rose and fell, what contradicts itself, and the hosts that moved most."""
    found = changes.moves
    up, down = f" {glyphs.RISING} up {found.risen:,}", f"  {glyphs.FALLING} down {found.fallen:,}"
    same = "no change" if changes.since or found.unknown else "same or new"
    out = [entry((up, "good"), (down, "critical"), (f"  {same} {found.same:,}", "muted"))]
    if found.unknown:
        out.append(entry((f" {found.unknown:,} without a scan from before", "muted")))
    if figures.contradictions:
        words = f"{glyphs.DISAGREE} robots.txt and site disagree on {figures.contradictions:,}"
        out.append(entry(" ", (words, "accent", "contradiction")))
    changed = [surface for surface in surfaces() if any(found.agents.get(surface.slug, ()))]
    for surface in sorted(changed, key=lambda one: -sum(found.agents[one.slug])):
        let_in, shut_out = found.agents[surface.slug]
        name, said = f"{surface.label:<13}{let_in - shut_out:+,d} ", f"{let_in:,} let in, {shut_out:,} turned away"
        said = said if len(name + said) <= size else f"{let_in:,} in, {shut_out:,} out"
        out.append(entry(f" {name}", (said, "muted")))
    return out + [_mover(move, size) for move in (*found.up, *found.down)]


def _mover(move: Move, size: int) -> ListEntry:
    change = move.after - move.before
    mark, role = (glyphs.RISING, "good") if change > 0 else (glyphs.FALLING, "critical")
    room = max(size - 21, 8)
    host = (fit(move.host, room), "", figure("host", move.host))
    scores = (f"{move.before} → {move.after}".rjust(10), "muted")
    return entry((f" {mark}{change:+4d}  ", role), host, scores)

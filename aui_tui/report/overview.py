"""Figures over a list of hosts as sections: each count carries the query of the hosts that it counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from aui_tui.checks import BY_FIX
from aui_tui.model import labels
from aui_tui.model.fates import IN, NOT_ASKED, PART, SHUT, TOLD_NO, UNCLEAR, share_in
from aui_tui.model.overview import Move, Moves, Overview
from aui_tui.model.surfaces import SURFACES, Surface
from aui_tui.model.vocabulary import CHALLENGED, FATES, FIXES, REFUSED, STANCES
from aui_tui.report.sections import Item, Section
from aui_tui.text import count

BAR: Final = (IN, PART, REFUSED, CHALLENGED, TOLD_NO, UNCLEAR, NOT_ASKED)
"""The parts of an assistant's bar."""
COUNTED: Final = ("Out", "Refused", "Challenged", "Told no", "Unclear", "Part", "Yes but out", "No but in")
"""Columns of what keeps an assistant out; the last two: robots.txt says yes, or no, and the site does otherwise."""
NOT_COMPARED: Final = "No scan to compare with"
NOTHING_KNOWN: Final = {
    "live": "no answer proves anything",
    "none": "only task runs can tell",
    "robots": "not asked: robots.txt alone speaks of it",
}
"""Why no host is known to let an assistant in or to keep it out, by how it is judged."""


def overview(figures: Overview, changes: Moves | None = None) -> Iterator[Section]:
    """Yield who gets in, grades, scores, stances, servers, failing checks, as far as the source counts them.

    ``changes``: also what changed, and the trend of each assistant where ``changes`` has weeks.
    """
    if not figures.hosts:
        yield Section("hosts", "No scored host matches, so there is nothing to count.")
        return
    moved = "None has a scan to compare with."
    if figures.compared:
        of = f", of {figures.compared:,} with one" if figures.compared < figures.hosts else ""
        moved = f"{figures.risen:,} rose and {figures.fallen:,} fell since the scan before{of}."
    yield Section("hosts", f"{count(figures.hosts, 'scored host')}, {figures.unreachable:,} unreachable", moved)
    yield from _assistants(figures, changes or Moves())
    thin = figures.hosts - sum(figures.grades.values())
    grades = [(grade, number, f"grade:{grade.lower()}") for grade, number in figures.grades.items()]
    yield from _shares("grades", "Grades", "Grade", [*grades, *([("no grade", thin, "")] if thin else [])], figures)
    scores = [(decade(place), number, f"score:{decade(place)}") for place, number in enumerate(figures.scores)]
    yield from _shares("scores", "Scores", "Score", reversed(scores), figures)
    yield from _stances(figures)
    problems = [
        (BY_FIX[key].lacking if key in BY_FIX else key, number, f"fix:{key}" if key in FIXES else "")
        for key, number in figures.failing.items()
    ]
    if figures.contradictions:
        problems.append(("robots.txt and site disagree", figures.contradictions, "contradiction"))
    problems.sort(key=lambda row: (-row[1], row[0]))
    yield from _shares("failing", "What sites lack", "Problem", problems, figures)
    yield from _servers(figures)
    if changes is not None:
        yield from _changes(changes)


def decade(place: int) -> str:
    """Return the scores of a place in ``Overview.scores`` as a query writes them: ``90..100``."""
    return f"{10 * place}..{100 if place == 9 else 10 * place + 9}"


def _table(
    name: str, title: str, items: Iterable[Item], columns: tuple[str, ...], bars: tuple[str, ...] = ()
) -> Iterator[Section]:
    """Yield a section of items with figures behind their names, none without items."""
    rows = tuple(items)
    if rows:
        yield Section(name, title, items=rows, columns=columns, figures=columns[1:], bars=bars)


def _cells(first: str, *counts: tuple[int, str]) -> Item:
    """Return a row of ``counts`` with their queries; a count of none opens nothing."""
    cells = first, *(f"{number:,}" for number, _ in counts)
    return Item(cells, opens=("", *(query if number else "" for number, query in counts)))


def _shares(
    name: str, title: str, heading: str, rows: Iterable[tuple[str, int, str]], figures: Overview
) -> Iterator[Section]:
    """Yield a section of values, each with its hosts and its share of all hosts."""
    yield from _table(name, title, (_share(*row, figures.hosts) for row in rows), (heading, "Hosts", "Share"))


def _share(value: str, number: int, query: str, total: int) -> Item:
    row = _cells(value, (number, query))
    return row._replace(cells=(*row.cells, labels.percent(number, total)), bar=(number, total - number))


def _assistants(figures: Overview, changes: Moves) -> Iterator[Section]:
    columns = ("Assistant", "Gets in", "Share", *COUNTED, *(["In 12 weeks"] if changes.weeks else ()))
    items = (_assistant(figures, changes, surface) for surface in SURFACES if surface.slug in figures.verdicts)
    return _table("assistants", "Who gets in", items, columns, bars=BAR)


def _assistant(figures: Overview, changes: Moves, surface: Surface) -> Item:
    hosts, slug = figures.verdicts[surface.slug], surface.slug
    if not any(number for word, number in hosts.items() if word not in (NOT_ASKED, UNCLEAR)):
        return Item((surface.label,), text=NOTHING_KNOWN[surface.source], key=slug)
    let_in, decided = share_in(hosts, surface)
    told_yes, told_no = figures.disagree.get(slug, (0, 0))
    counts = {
        "Out": (sum(hosts.get(word, 0) for word in SHUT), f"agent:{slug}=out"),
        **{
            word.capitalize(): (hosts.get(word, 0), f"agent:{slug}={word.replace(' ', '-')}")
            for word in FATES
            if word not in (IN, NOT_ASKED)
        },
        "Yes but out": (told_yes, f"contradiction:out agent:{slug}=refused,challenged"),
        "No but in": (told_no, f"contradiction:in agent:{slug}=told-no"),
    }
    row = _cells(surface.label, (let_in, f"agent:{slug}=in"), *(counts[name] for name in COUNTED))
    inside = (row.cells[1], labels.percent(let_in, decided)) if decided else ("–", "–")
    cells = row.label, *inside, *row.cells[2:], *([_trend(figures, changes, surface)] if changes.weeks else ())
    bar = tuple(float(hosts.get(word, 0)) for word in BAR)
    return row._replace(cells=cells, opens=(*row.opens[:2], "", *row.opens[2:]), key=slug, bar=bar)


def _trend(figures: Overview, changes: Moves, surface: Surface) -> str:
    """Return by how many points of percent the share that lets an assistant in has changed, of two weeks at least."""
    shares = [share for share in changes.weeks.get(surface.slug, ()) if share >= 0]
    if len(shares) < 2 or surface.source == "none":
        return "–"
    return f"{shares[-1] - shares[0]:+d}" if shares[-1] != shares[0] else "0"


def _stances(figures: Overview) -> Iterator[Section]:
    items = (
        _cells(
            category,
            *((shares.get(word, 0), f'category:"{category}" stance:{word.lower()}') for word in STANCES),
            (sum(shares.values()), f'category:"{category}"'),
        )._replace(bar=tuple(float(shares.get(word, 0)) for word in STANCES))
        for category, shares in figures.stances.items()
        if sum(shares.values())
    )
    return _table("stances", "Stances", items, ("Category", *STANCES, "Hosts"), bars=STANCES)


def _servers(figures: Overview) -> Iterator[Section]:
    items = []
    for name, number in figures.edges.items():
        turning = figures.refusing.get(name, 0)
        query = f'edge:="{name.lower()}"' if name and '"' not in name else ""  # a query cannot hold a quote
        away = f"{query} agent:any=refused,challenged" if query else ""
        row = _cells(name or "none recognised", (number, query), (turning, away))
        cells = *row.cells, labels.percent(turning, number), labels.percent(number, figures.hosts)
        items.append(row._replace(cells=cells, bar=(number, figures.hosts - number)))
    return _table("edges", "Served by", items, ("CDN or server", "Hosts", "Turn away", "Of them", "Share"))


def _changes(changes: Moves) -> Iterator[Section]:
    """Yield how many hosts changed, for whom, and the hosts that changed most."""
    counts = {
        "Score rose": (changes.risen, ""),
        "Score fell": (changes.fallen, ""),
        "No change": (changes.same, ""),
        NOT_COMPARED: (changes.unknown, ""),
    }
    items = (_cells(name, pair) for name, pair in counts.items() if pair[0] or name != NOT_COMPARED)
    yield from _table("changes", "Changes", items, ("Change", "Hosts"))
    turned = (
        _cells(surface.label, *((number, "") for number in changes.agents[surface.slug]))
        for surface in sorted(SURFACES, key=lambda surface: -sum(changes.agents.get(surface.slug, ())))
        if any(changes.agents.get(surface.slug, ()))
    )
    yield from _table(
        "turned", "Whom hosts let in or keep out now", turned, ("Assistant", "Let in now", "Kept out now")
    )
    movers = (_mover(move) for move in (*changes.up, *changes.down))
    yield from _table("movers", "Scores that changed most", movers, ("Host", "Change", "Now", "Before"))


def _mover(move: Move) -> Item:
    change = move.after - move.before
    cells = (move.host, f"{change:+d}", str(move.after), str(move.before))
    return Item(cells, "rose" if change > 0 else "fell", opens=(f'host:="{move.host}"',))

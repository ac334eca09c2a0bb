"""Figures over a list of hosts as sections."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from aui_tui.checks import BY_FIX
from aui_tui.model import labels
from aui_tui.model.agents import share_in
from aui_tui.model.overview import Overview
from aui_tui.model.registry import surfaces
from aui_tui.model.vocabulary import FATES, STANCES
from aui_tui.report.sections import Item, Section
from aui_tui.text import count


def overview(figures: Overview) -> Iterator[Section]:
    """Yield who gets in, grades, stances per category, failing checks and edges, as far as the source counts them."""
    if not figures.hosts:
        yield Section("hosts", "No ranked host matches, so there is nothing to count.")
        return
    moved = f"{figures.risen:,} rose and {figures.fallen:,} fell since the scan before."
    yield Section("hosts", f"{count(figures.hosts, 'ranked host')}, {figures.unreachable:,} unreachable", moved)
    yield from _parts("assistants", "Who gets in", ("Assistant", "Gets in", "Hosts"), _assistants(figures))
    thin = figures.hosts - sum(figures.grades.values())
    grades = [*figures.grades.items(), *([("no grade", thin)] if thin else [])]
    yield from _parts("grades", "Grades", ("Grade", "Hosts", "Share"), _shares(grades, figures.hosts))
    stances = (
        Item((category, *(f"{shares.get(word, 0):,}" for word in STANCES)))
        for category, shares in figures.stances.items()
        if sum(shares.values())
    )
    yield from _parts("stances", "Stances per category", ("Category", *STANCES), stances)
    failing = sorted(figures.failing.items(), key=lambda item: (-item[1], item[0]))
    named = ((BY_FIX[key].lacking if key in BY_FIX else key, number) for key, number in failing)
    yield from _parts("failing", "What sites lack", ("Problem", "Hosts", "Share"), _shares(named, figures.hosts))
    edges = ((name or "none recognised", number) for name, number in figures.edges.items())
    yield from _parts("edges", "Served by", ("CDN or server", "Hosts", "Share"), _shares(edges, figures.hosts))


def _parts(name: str, title: str, columns: tuple[str, ...], items: Iterable[Item]) -> Iterator[Section]:
    found = tuple(items)
    if found:
        yield Section(name, title, items=found, columns=columns)


def _shares(figures: Iterable[tuple[str, int]], whole: int) -> Iterator[Item]:
    return (Item((name, f"{number:,}", labels.percent(number, whole))) for name, number in figures)


def _assistants(figures: Overview) -> Iterator[Item]:
    for surface in surfaces():
        counts = figures.verdicts.get(surface.slug, {})
        if counts:
            got, known = share_in(counts, surface)
            words = ", ".join(f"{counts[word]:,} {word}" for word in FATES if counts.get(word))
            yield Item((surface.label, labels.percent(got, known) if known else "–"), text=words)

"""Two or more hosts side by side as sections: what differs, and what is alike."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from aui_tui.model import agents, fates, labels
from aui_tui.model.labels import ago
from aui_tui.model.points import unknown
from aui_tui.model.report import HostReport
from aui_tui.model.signs import sign
from aui_tui.model.surfaces import SURFACES
from aui_tui.report import sections
from aui_tui.report.sections import Item, Section
from aui_tui.text import count, joined

TO_DO: Final = "to do"
UNSEEN: Final = "not measured"
NOTHING: Final = "–"
"""What stands for a fact that a card does not have."""


class Fact(NamedTuple):
    """What one card says in a line: text, and the word of its tone. ``note``: where it comes from, never compared."""

    text: str
    word: str = ""
    note: str = ""

    @property
    def in_full(self) -> str:
        """The text with its note."""
        return f"{self.text} ({self.note})" if self.note else self.text


def comparison(reports: Sequence[HostReport], *, now: float) -> tuple[Section, Section]:
    """Return the lines in which ``reports`` differ, led by who is turned away by which, and those that are alike.

    Key: the name of the line. A line has a cell for each report. ``now`` (epoch seconds): ages are told from it.
    """
    facts_of = [dict(_facts(report, now)) for report in reports]
    fixes = {fix.title: fix.k for report in reports for fix in report.card.recommendations}
    names = dict.fromkeys(name for facts in facts_of for name in facts)
    lost = [unknown(report.card) for report in reports]

    def missing(name: str, unseen: Container[str]) -> Fact:
        if name not in fixes:
            return Fact(NOTHING)
        return Fact(UNSEEN) if fixes[name] in unseen else Fact(f"{sign('good').sign} nothing to do", "good")

    rows = {
        name: [facts.get(name) or missing(name, unseen) for facts, unseen in zip(facts_of, lost, strict=True)]
        for name in names
    }
    differing = {name for name, row in rows.items() if len({fact.text for fact in row}) > 1}
    columns = ("Fact", *(report.card.host for report in reports))
    items = {name: _line(name, row, "disagree" if name in differing else "agree") for name, row in rows.items()}
    alike = tuple(item for name, item in items.items() if name not in differing)
    return (
        Section(
            "differs",
            f"{len(differing)} of {len(rows)} lines differ",
            sentence(reports),
            tuple(item for name, item in items.items() if name in differing),
            columns,
        ),
        Section("alike", f"{count(len(alike), 'line')} alike", _folded(rows, differing), alike, columns),
    )


def _line(name: str, row: Sequence[Fact], word: str) -> Item:
    return Item((name, *(fact.in_full for fact in row)), word, key=name, words=("", *(fact.word for fact in row)))


def _folded(rows: Mapping[str, Sequence[Fact]], differing: set[str]) -> str:
    """Return what all cards say in a sentence: ``Claude, Amazon: in · to do: Add an /llms.txt file.``"""
    names: dict[str, list[str]] = {}
    for name, row in rows.items():
        if name not in differing and row[0].text != NOTHING:
            names.setdefault(row[0].text, []).append(name)
    parts = (
        f"{text}: {', '.join(lines)}" if text == TO_DO else f"{', '.join(lines)}: {text}"
        for text, lines in names.items()
    )
    return " · ".join(parts)


def sentence(reports: Sequence[HostReport]) -> str:
    """Return in one sentence who is turned away by all of the sites, and by which of them alone."""
    out = {report.card.host: _turned_away(report) for report in reports if not report.card.unreachable}
    if not out:
        return "None of them gave a usable answer."
    first, *further = out.values()
    every = [name for name in first if further and all(name in names_there for names_there in further)]
    all_of = "Both" if len(out) == 2 else "All"
    parts = [f"{all_of} turn {_away(every, *out.values())}"] if every else []
    for host, names in out.items():
        own = [name for name in names if name not in every]
        if own:
            parts.append(f"{host} {'also ' if every else ''}turns {_away(own, names)}")
    words = "; ".join(parts) or "No assistant is turned away by any of them"
    return f"{words}."


def _turned_away(report: HostReport) -> dict[str, str]:
    """Return the assistants that a site turns away, and how."""
    every = agents.outcome_of_each(report.card, report.observations)
    return {name: outcome.verdict for outcome in every if outcome.verdict in fates.SHUT for name in outcome.names}


def _away(names: Sequence[str], *sites: Mapping[str, str]) -> str:
    """Return that assistants are turned away, and where nothing else does it that robots.txt does."""
    by_robots = all(words[name] == fates.TOLD_NO for words in sites for name in names)
    return f"{joined(names)} away{' by robots.txt' if by_robots else ''}"


def _facts(report: HostReport, now: float) -> Iterator[tuple[str, Fact]]:
    """Yield what one report says, by the name of the line: who gets in, points, facts, fixes."""
    card, word = report.card, "unreachable" if report.card.unreachable else report.card.stance
    points = sections.points(report)
    rows = agents.agent_rows(card, report.observations)
    every = agents.outcome_of_each(card, report.observations) if not card.unreachable else ()
    for surface, outcome in zip(SURFACES, every, strict=False):
        by = (row for row in rows if row.line and row.verdict == outcome.verdict in (fates.TOLD_NO, fates.PART))
        row = next((row for row in by if row.key in (surface.live, *surface.agents)), None)
        note = f"line {row.line}, “{row.rule}”" if row is not None else ""
        yield surface.label, Fact(f"{sign(outcome.verdict).sign} {outcome.verdict}", outcome.verdict, note)
    yield from ((item.label, Fact(item.cells[1])) for item in (points.items if points is not None else ()))
    yield "Category", Fact(card.category)
    yield "Method", Fact(card.method)
    facts = (item for item in sections.facts(report).items if item.label not in ("Title", "Limit"))
    yield from ((item.label, Fact(item.text)) for item in facts)
    yield "Stance", Fact(word, word)
    yield "Score", Fact(NOTHING if card.unreachable else labels.score(card.score, card.grade))
    yield "Scanned", Fact(ago(card.scanned_at, now))
    yield from ((fix.title, Fact(TO_DO, "warn")) for fix in card.recommendations)

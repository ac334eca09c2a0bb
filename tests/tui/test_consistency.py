"""Every sentence and figure about a site agrees: stance, strip, columns, next step, counts and their lists."""

from __future__ import annotations

import asyncio
import random
from itertools import product
from typing import Any

import pytest
from msgspec.structs import replace

from aui_tui.checks.scoring import grade_card
from aui_tui.model import agents, fates
from aui_tui.model.card import ReportCard
from aui_tui.model.listing import Row
from aui_tui.model.overview import Overview
from aui_tui.model.points import Standing, gain, score_after
from aui_tui.model.query import Query
from aui_tui.model.registry import registry
from aui_tui.model.report import HostReport
from aui_tui.model.surfaces import SURFACES
from aui_tui.model.vocabulary import CHALLENGED, NO_GRADE, REFUSED, VERDICTS
from aui_tui.report import sections
from aui_tui.report.comparison import comparison
from aui_tui.report.overview import overview
from aui_tui.tui import cardrows
from aui_tui.tui.columns import Column, cell, verdict_of
from aui_tui.tui.scan_panel import Scan, ended_words
from aui_tui.tui.state import CardState
from aui_tui.tui.tables import table
from aui_tui.tui.widgets.preview import preview
from tests.scan.situations import bad_certificate, dead, dropped, half_open, silent, wall_for_all

from .cards import NOW, make_card
from .service import CardService

OUT, BY = Column("out", "Gets in", 12), Column("by", "by", 12)


def answer_of(state: CardState) -> str:
    return " ".join(" ".join(entry.content.plain.split()) for entry in cardrows.answer(state, 100))


def shuffled(number: int) -> ReportCard:
    """Return a card whose assistants have any verdicts."""
    card, chance = make_card(number), random.Random(number)
    if card.unreachable:
        return card
    matrix = {surface.slug: "untested" if surface.source == "none" else chance.choice(VERDICTS) for surface in SURFACES}
    return replace(card, matrix=matrix)


@pytest.mark.parametrize("number", range(0, 500, 10))
def test_strip_columns_and_preview_say_the_same(number: int) -> None:
    cards = make_card(number), shuffled(number + 3), shuffled(number + 7)
    view = asyncio.run(CardService(cards).index(Query()))
    rows = {row.summary.host: row for row in (*view.ranked[:], *view.unreachable[:])}
    for card in cards:
        report = HostReport(card=card)
        state = CardState(card.host).with_report(report)
        row = rows[card.host]
        shown = {key: item.word for item in sections.assistants(report).items for key in _keys(report, item.key)}
        if not card.unreachable:
            assert {key: verdict_of(row, key) for key in shown} == shown
        word, names = fates.turned_away(row.verdicts)
        shut = [surface.label for surface in SURFACES if shown.get(surface.slug) in fates.SHUT]
        if not card.unreachable and word not in (fates.UNCLEAR, fates.IN):
            assert sorted(names) == sorted(shut)
            said = cell(OUT, row, 0.0).text.split(maxsplit=1)[1]
            assert said in {*shut, "nobody"} if len(shut) == 1 else said in {f"{len(shut)} out", "nobody"}
            assert cell(BY, row, 0.0).text
        if not shut and not card.unreachable:
            assert not cell(BY, row, 0.0).text
        sentence = cardrows.sentence(report)
        in_preview = " ".join(" ".join(entry.content.plain for entry in preview(row, report, 60, 0.0)).split())
        assert sentence in in_preview
        strip = answer_of(state)
        assert all(surface.label in strip for surface in SURFACES if surface.slug in card.matrix)
        if sentence.startswith("Every assistant gets in"):
            assert not shut
        fixes = [fix.k for fix in state.fixes]
        if fixes and not card.unreachable:
            assert gain(card, fixes[0]) in answer_of(state)
            assert state.fixes[0].title.split()[0] in answer_of(state)


def _keys(report: HostReport, first: str) -> tuple[str, ...]:
    return next(one.keys for one in agents.outcomes(report.card, report.observations) if first in one.keys)


def test_each_count_of_the_overview_is_the_length_of_the_list_that_it_opens() -> None:
    async def compared() -> set[str]:
        opened = set()
        service = CardService([shuffled(number) for number in range(120)])
        figures = await service.overview(Query())
        for part in overview(figures, await service.moves(Query(), "", 20)):
            for item in part.items:
                for terms, count in zip(item.opens, item.cells, strict=False):
                    if terms and part.name != "movers":
                        rows = len((await service.index(Query().narrowed(terms))).ranked)
                        assert format(rows, ",") == count, terms
                        opened.add(part.name)
        return opened

    parts = asyncio.run(compared())
    assert parts == {"assistants", "grades", "scores", "stances", "failing", "edges"}


def test_the_first_check_asks_as_an_assistant_that_is_turned_away() -> None:
    for number in range(60):
        card = make_card(number)
        report = HostReport(card=card)
        state = CardState(card.host).with_report(report)
        refused = [one for one in agents.outcomes(card) if one.verdict in (REFUSED, CHALLENGED) and one.probe]
        if refused and not card.unreachable and state.fixes:
            assert state.fixes[0].k in ("wba", "robots"), card.host
    assert NOW


def test_the_overview_leaves_to_task_runs_only_who_drives_a_browser() -> None:
    verdicts = {one.slug: {"unclear" if one.live else "not asked": 2} for one in SURFACES}
    (who,) = [part for part in overview(of_hosts(2, verdicts=verdicts)) if part.name == "assistants"]
    reasons = {item.label: item.text for item in who.items}
    assert reasons == {
        one.label: "only task runs can tell"
        if one.source == "none"
        else "no answer proves anything"
        if one.live
        else "not asked: robots.txt alone speaks of it"
        for one in SURFACES
    }


def of_hosts(hosts: int, **figures: Any) -> Overview:
    return (
        Overview(grades={}, stances={}, failing={}, hosts=hosts) if not figures else replace(of_hosts(hosts), **figures)
    )


def test_a_narrow_table_yields_its_bar_and_the_last_figures_and_no_first_one() -> None:
    failing, edges = {"llms": 921, "landmarks": 608}, {"cloudflare nginx": 113, "": 92}
    verdicts = {one.slug: {"in": 900, "refused": 61, "unclear": 1} for one in SURFACES}
    figures = of_hosts(962, failing=failing, edges=edges, refusing={"": 92}, scores=(96,) * 10, verdicts=verdicts)
    for size, part in product(range(33, 141), overview(figures)):
        for row, item in zip(table(part, size)[bool(part.columns) :], part.items, strict=True):
            words = row.content.plain
            assert row.content.cell_length <= size, (size, words)
            assert item.cells[1] in words, (size, words)
            assert bool(row.stops) is any(item.opens), words


def test_a_card_without_a_grade_says_so_wherever_its_letter_would_stand() -> None:
    card = replace(make_card(3), grade=NO_GRADE)
    state = CardState(card.host).with_report(HostReport(card=card))
    assert cardrows.grade(state.report)[0] == "-"
    assert cardrows.basis(state.report).startswith("no grade")
    done = replace(state, done=frozenset({state.fixes[0].k}), reached=Standing(82, "B", card.stance))
    assert cardrows.what_if(done).plain.strip().startswith("→ 82 B")
    walled = CardState("shop.example").with_report(HostReport(card=grade_card(wall_for_all())))
    done = replace(walled, done=frozenset({"wba"}), reached=Standing(82, "B", "Open"))
    assert cardrows.what_if(done).plain.strip().startswith("→ +12 points"), "the page is behind the wall"
    differs, _ = comparison([HostReport(card=one) for one in (card, make_card(4))], now=NOW.timestamp())
    assert [item.cells[1] for item in differs.items if item.label == "Score"] == [f"{card.score} no grade"]
    before = preview(Row(summary=card.summary(), rank=1), None, 44, NOW.timestamp())
    assert f"{card.score} no grade" in before[0].content.plain
    assert "no grade" in ended_words(Scan(card.host, answer=HostReport(card=card)), "")[1]
    kept = HostReport(card=card, source="cache", age=250)
    assert "Answer of 4 min ago. f asks the site again." in ended_words(Scan(card.host, answer=kept), "")[1]
    figures = of_hosts(5, grades={"A": 1, "B": 1}, scores=(0,) * 9 + (5,))
    (grades,) = [part for part in overview(figures) if part.name == "grades"]
    (row,) = [row for row in table(grades, 80) if "no grade" in row.content.plain]
    assert " 3 " in row.content.plain
    assert not row.key


def test_what_if_promises_nothing_that_somebody_else_decides() -> None:
    card = grade_card(replace(half_open(), edge="shopify"))
    state = CardState(card.host).with_report(HostReport(card=card))
    done = replace(state, done=frozenset({"wba"}), reached=Standing(score_after(card, "wba") or 0, "D", "Open"))
    assert cardrows.what_if(done).plain.endswith(" if granted")
    assert cardrows.what_if_foot(done) == f"what if 1 fix: {gain(card, 'wba')}"


@pytest.mark.parametrize("number", range(0, 120, 7))
def test_a_card_names_keys_and_no_options_of_the_command_line(number: int) -> None:
    for card in (make_card(number), replace(make_card(number), recommendations=())):
        report = HostReport(card=card)
        state = CardState(card.host).with_report(report)
        for shown in (state, replace(state, tasks=False)):
            said = answer_of(shown)
            assert "--" not in said
            assert shown.tasks or "a tries" not in said
            assert not shown.tasks or card.unreachable or "a tries" in said


def test_the_end_of_a_scan_without_an_answer_names_the_host_once() -> None:
    for seen in (dead(), bad_certificate()):
        card = grade_card(seen)
        words = ended_words(Scan(card.host, answer=HostReport(card=card)), "")[1]
        assert words == card.top_evidence
        assert words.startswith(card.host)


def test_a_comparison_has_the_verdicts_of_the_card() -> None:
    seen = dropped()
    unsure = registry().live[0].key  # with an agent of which nothing is known, the card alone says less than the scan
    seen = replace(seen, exchanges=tuple(silent(one.name) if one.name == unsure else one for one in seen.exchanges))
    report = HostReport(card=grade_card(seen), observations=seen)
    said = {item.label: item.cells[1][2:] for part in comparison([report], now=NOW.timestamp()) for item in part.items}
    words = {name: one.verdict for one in agents.outcomes(report.card, seen) for name in one.names}
    assert REFUSED in words.values()
    assert {name: said[name] for name in words} == words

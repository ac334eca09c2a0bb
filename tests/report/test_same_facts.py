"""Facts that once had two forms: half measured points, the newest answer, rules for everybody, counts and rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace

from aui_tui.checks.scoring import grade_card
from aui_tui.index.store import Store
from aui_tui.model.agents import contradictions, outcome_of_each
from aui_tui.model.fates import IN, PART
from aui_tui.model.listing import Row
from aui_tui.model.observations import Observations
from aui_tui.model.points import totals
from aui_tui.model.query import Query
from aui_tui.model.query_line import VERDICT_WORDS
from aui_tui.model.registry import registry
from aui_tui.model.report import HostReport
from aui_tui.model.surfaces import SURFACES
from aui_tui.model.tasks import TaskReport, TaskResult
from aui_tui.report.overview import overview
from aui_tui.report.sections import sections
from tests.scan import situations
from tests.scan.situations import probe, rules, site

CLAUDE: Final = registry().live[1]
ENDED: Final = ("done", "absent", "done", "absent", "inconclusive", "inconclusive")
TASKS: Final = ("follow", "contact", "search", "offer", "read", "form")


def tried(seen: Observations, ran_at: str, door: str = "allowed") -> Observations:
    """Two of six tasks done, two without a result, two not offered."""
    results = tuple(
        TaskResult(task=task, outcome=outcome, note="As it was.") for task, outcome in zip(TASKS, ENDED, strict=True)
    )
    return replace(seen, tasks=TaskReport(ran_at=ran_at, origin=situations.ORIGIN, results=results, door=door))


def refused(name: str, status: int = 403) -> Callable[[str], object]:
    return lambda slot: probe(slot, status) if slot == name else probe(slot)


PATHS: Final = rules(wildcard=("partial", 2, "Disallow: /account/"))
TIME: Final = "2026-11-20T10:00:00.000Z"
SITES: Final[dict[str, Callable[[], Observations]]] = {
    "open": situations.open_rich,
    "half measured": lambda: tried(situations.open_rich(), TIME),
    "yes and no": lambda: site(agents=refused(CLAUDE.key), robots=PATHS),  # type: ignore[arg-type]
    "paths for everybody": lambda: site(robots=PATHS),
    "paths for one": lambda: site(robots=rules({CLAUDE.token: ("partial", 2, "Disallow: /account/")})),
    "two times": lambda: tried(site(robots=rules(wildcard=("blocked", 2, "Disallow: /"))), "2026-11-13T10:00:00.000Z"),
    "wall for agents": situations.wall_for_agents,
    "wall for all": situations.wall_for_all,
    "no answer": situations.dropped,
    "told no": situations.robots_all,
    "limited": situations.limited,
    "robots.txt down": situations.robots_down,
}


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[HostReport, Row]]]:
    """Each site as a report, and as the row of an index that holds all of them."""
    store = Store(tmp_path_factory.mktemp("facts") / "index.db")
    kept = {}
    for number, (name, make) in enumerate(SITES.items()):
        seen = replace(make(), host=f"s{number}.example")
        card = grade_card(seen)
        store.put(card, seen)
        kept[name] = HostReport(card=card, observations=seen)
    rows = {row.summary.host: row for row in store.index(Query()).ranked[:]}
    yield {name: (report, rows[report.card.host]) for name, report in kept.items()}
    store.close()


def words_of(report: HostReport) -> dict[str, str]:
    found = outcome_of_each(report.card, report.observations)
    return {surface.slug: one.verdict for surface, one in zip(SURFACES, found, strict=True)}


def test_the_overview_and_every_query_count_the_rows_that_they_open(
    reports: dict[str, tuple[HostReport, Row]], tmp_path: Path
) -> None:
    store = Store(tmp_path / "index.db")
    for report, _ in reports.values():
        store.put(report.card, report.observations)
    words = [words_of(report) for report, _ in reports.values()]
    figures = store.overview(Query())
    for surface in SURFACES:
        here = [one[surface.slug] for one in words]
        assert figures.verdicts[surface.slug] == {word: here.count(word) for word in {*here}}
        for term, wanted in VERDICT_WORDS.items():
            rows = store.index(Query.of(line=f"agent:{surface.slug}={term}")).ranked
            assert len(rows) == sum(word in wanted for word in here), (surface.slug, term)
    (who,) = [part for part in overview(figures) if part.name == "assistants"]
    shares = {item.label: item.cells[1] for item in who.items}
    assert shares["Amazon"] == shares["Meta AI"] == "–", "0 of 0 where nobody asked"
    says_yes = re.compile(r"robots\.txt (says yes|lets)")
    critical = {
        report.card.host
        for report, _ in reports.values()
        for one in report.card.findings
        if one.severity == "critical" and says_yes.search(one.text)
    }
    found = {row.summary.host for row in store.index(Query.of(line="contradiction:out")).ranked[:]}
    assert reports["yes and no"][0].card.host in critical <= found
    assert figures.contradictions == sum(row.disagree for _, row in reports.values())
    assert all(
        row.disagree == bool(contradictions(report.card, report.observations)) for report, row in reports.values()
    )
    store.close()


def headline(report: HostReport) -> str:
    return sections(report)[0].text


def test_half_measured_is_no_hundred(reports: dict[str, tuple[HostReport, Row]]) -> None:
    report, row = reports["half measured"]
    parts = {part.name: part for part in sections(report)}
    works = next(item for item in parts["points"].items if item.label == "Works")
    assert works.cells[1] == "20/20, 30 not measured"
    assert parts["tasks"].text.startswith("20 of 20 points measured, 30 not")
    assert (report.card.pillars["works"], totals(report.card)[1], row.measured) == (20, 70, 70)


def test_the_newest_answer_leads_and_the_older_one_has_its_date(reports: dict[str, tuple[HostReport, Row]]) -> None:
    report, _ = reports["two times"]
    assert "get in" not in headline(report).replace("anyway", "")
    driven = next(one for one in outcome_of_each(report.card, report.observations) if one.source == "none")
    assert driven.reason == "robots.txt says stay out now; an earlier task run of 2026-11-13 got the page"
    assert driven.verdict == "told no"


def test_path_rules_for_everybody_leave_an_agent_in(reports: dict[str, tuple[HostReport, Row]]) -> None:
    (report, _), (alone, _) = reports["paths for everybody"], reports["paths for one"]
    assert report.card.matrix["claude"] == alone.card.matrix["claude"] == "partial"
    assert (words_of(report)["claude"], words_of(alone)["claude"]) == (IN, PART)
    assert headline(report) == "Every assistant that was asked gets in."
    assert headline(alone).endswith("; robots.txt closes some pages to Claude alone.")
    for given in (report, alone):
        without = HostReport(card=given.card)
        assert words_of(without) == words_of(given), "the card alone says the same"


@pytest.mark.parametrize(
    ("site_name", "says"),
    [("told no", "no"), ("paths for everybody", "part"), ("paths for one", "yes")],
)
def test_a_crawler_is_told_the_same_words_as_an_agent(
    reports: dict[str, tuple[HostReport, Row]], site_name: str, says: str
) -> None:
    report, _ = reports[site_name]
    parts = {part.name: part for part in sections(report)}
    crawler = next(item for item in parts["crawlers"].items if item.key == "GPTBot")
    assert crawler.cells[2].partition(" (line")[0] == says
    assert crawler.cells[3] == ("block" if says == "no" else "allow")
    assert says in {item.cells[1].partition(" (line")[0] for item in parts["agents"].items}

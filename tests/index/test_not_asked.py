"""Each field of the query line beside hosts of which its fact was never measured: unknown is not no."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import pytest
from msgspec.structs import replace

from aui_tui.index.packed import Packed
from aui_tui.index.store import Store
from aui_tui.model.observations import BROWSER, Observations, PageFacts, RobotsFacts
from aui_tui.model.query import Query
from aui_tui.model.query_line import fields
from aui_tui.model.tasks import TaskReport, TaskResult
from tests.scan import situations
from tests.scan.situations import CLOUDFLARE, graded, probe, rules, site

DAY: Final = "2026-11-20T10:00:00.000Z"


def robots_walled() -> Observations:
    """The homepage is served; a challenge page came in the place of robots.txt."""
    seen = site(robots=RobotsFacts(kind="unknown"))
    walled = (probe("robots", 403, challenge=CLOUDFLARE) if one.name == "robots" else one for one in seen.exchanges)
    return replace(seen, exchanges=tuple(walled))


def robots_refused() -> Observations:
    """robots.txt was refused again when it was asked for alone."""
    seen = site(robots=RobotsFacts(kind="unknown"))
    refused = (probe("robots", 403, limited=True) if one.name == "robots" else one for one in seen.exchanges)
    return replace(seen, exchanges=tuple(refused))


def closed() -> Observations:
    """403 for everybody, whatever is asked for."""
    seen = site(probe(BROWSER, 403), lambda slot: probe(slot, 403), robots=RobotsFacts(kind="none"), page=PageFacts())
    return replace(seen, exchanges=tuple(replace(one, status=403) for one in seen.exchanges))


def robots_broken() -> Observations:
    """A robots.txt came that could not be analysed."""
    return site(robots=RobotsFacts(kind="unknown", problem="it took too long"))


def robots_cut() -> Observations:
    """The beginning of a robots.txt that names one crawler and one agent."""
    return site(robots=rules({"Claude-User": ("blocked", 2, "Disallow: /")}, crawlers=["CCBot"], cut=True))


def few_tasks() -> Observations:
    """Tasks were run, and too few of them had a clear result to count."""
    results = [TaskResult(task=task, outcome="inconclusive", note="As it was.") for task in ("follow", "search")]
    return replace(situations.plain(), tasks=TaskReport(ran_at=DAY, origin=situations.ORIGIN, results=tuple(results)))


def page_broken() -> Observations:
    """A homepage that could not be analysed; the counts are all zero."""
    return site(page=PageFacts(problem="it is empty"))


HOSTS: Final[dict[str, Callable[[], Observations]]] = {
    "read": situations.plain,
    "open": situations.open_rich,
    "dead": situations.dead,
    "down": situations.down,
    "wall": situations.wall_for_all,
    "thin": situations.thin,
    "robots-down": situations.robots_down,
    "robots-limited": situations.limited,
    "robots-walled": robots_walled,
    "robots-refused": robots_refused,
    "closed": closed,
    "robots-broken": robots_broken,
    "robots-cut": robots_cut,
    "page-broken": page_broken,
    "few-tasks": few_tasks,
}
ROBOTS_READ: Final = "few-tasks open page-broken read wall"
"""Those whose robots.txt was read to its end, or answered that there is none."""
SCORED: Final = (
    "few-tasks open page-broken read robots-broken robots-cut robots-down robots-limited robots-refused robots-walled "
    "summary thin wall"
)
EVERY: Final = f"closed dead down {SCORED}"
LINES: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "stance": (("stance:open,selective,walled", SCORED),),
    "category": (("category:uncategorized", EVERY),),
    "agent": (
        ("agent:claude=out", "robots-cut wall"),
        ("agent:claude=unclear", "robots-limited"),
        ("agent:gemini=not-asked", ""),
        ("agent:amazon=out", ""),
    ),
    "crawler": (
        ("crawler:gptbot=unlisted", ROBOTS_READ),
        ("crawler:ccbot=unlisted", ROBOTS_READ),
        ("crawler:ccbot", "robots-cut"),
        ("-crawler:ccbot", EVERY.replace("robots-cut ", "")),
    ),
    "open": (("open:any=out", ""), ("open:any=in", "")),
    "host": (("host:rob", "robots-broken robots-cut robots-down robots-limited robots-refused robots-walled"),),
    "edge": (("edge:nginx", "few-tasks read thin"), ("edge:cloudflare", "wall")),
    "server": (("server:nginx", ""),),
    "score": (("score:>=0", SCORED), ("score:0", "")),
    "grade": (("grade:a..f", SCORED.replace(" thin", "")),),
    "change": (("change:same", ""), ("change:up,down", ""), ("change:new", EVERY)),
    "fresh": (("fresh:<=52w", EVERY),),
    "has": (
        ("has:llms", "open"),
        ("has:shell", ""),
        ("has:wildcard", ""),
        ("has:main", "open robots-limited"),
    ),
    "signal": (("signal:no", ROBOTS_READ.replace("open ", "")), ("signal:yes", "open")),
    "fix": (
        ("fix:signal", "few-tasks page-broken read robots-down wall"),
        ("fix:robots", "robots-cut robots-down"),
        ("fix:jsonld", "few-tasks read robots-broken robots-cut robots-down robots-refused robots-walled"),
        (
            "fix:llms",
            "few-tasks page-broken read robots-broken robots-cut robots-down robots-refused robots-walled wall",
        ),
    ),
    "tasks": (("tasks:no", EVERY.replace("few-tasks ", "")), ("tasks:yes", "few-tasks")),
    "method": (("method:v0.2", EVERY),),
    "contradiction": (("contradiction", "robots-cut wall"),),
}
"""For every field terms, and the hosts that each chooses; ``summary`` is a row of another index."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    made = Store(tmp_path_factory.mktemp("index") / "index.db")
    for name, make in HOSTS.items():
        made.put(*graded(f"{name}.example", make(), DAY))
    other, _ = graded("summary.example", situations.plain(), DAY)
    made.put_packed([Packed.of_summary(other.summary(), ranked=True)])
    yield made
    made.close()


def chosen(store: Store, line: str) -> set[str]:
    view = store.index(Query.of(line=line))
    return {row.summary.host.removesuffix(".example") for row in (*view.ranked[:], *view.unreachable[:])}


def test_the_table_has_every_field() -> None:
    assert set(LINES) == set(fields())


@pytest.mark.parametrize(("line", "hosts"), [pair for pairs in LINES.values() for pair in pairs])
def test_a_term_chooses_no_host_of_which_its_fact_is_not_known(store: Store, line: str, hosts: str) -> None:
    assert chosen(store, line) == set(hosts.split())


def test_new_is_a_host_without_a_scan_before(store: Store) -> None:
    """One with a scan before that does not compare is neither new nor as before."""
    again, seen = graded("again.example", situations.down(), "2026-11-19T10:00:00.000Z")
    store.put(again, seen)
    now, seen = graded("again.example", situations.plain(), DAY)
    store.put(now, seen)
    assert "again" not in chosen(store, "change:new")
    assert "again" not in chosen(store, "change:same")
    store.forget("again.example")

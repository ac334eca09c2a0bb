"""One contract, kept by the local index, by a remote one over the API over it, and by a file of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import msgspec
import pytest
import pytest_asyncio
from msgspec.structs import replace

from aui_tui.errors import BadValue, InvalidHost, NeverScanned, RateLimited, Unavailable
from aui_tui.model import codec
from aui_tui.model.card import ReportCard
from aui_tui.model.listing import IndexView, Row
from aui_tui.model.observations import Observations
from aui_tui.model.options import ScanOptions
from aui_tui.model.progress import Progress
from aui_tui.model.query import Query
from aui_tui.model.times import stamp
from aui_tui.scan.policy import ScanPolicy
from aui_tui.scan.target import Target
from aui_tui.service.local import LocalService
from aui_tui.service.protocol import Service
from aui_tui.service.publication import Publication
from aui_tui.service.remote import open_source
from tests.cards import DEAD, SAMPLES
from tests.scan import situations
from tests.service.serving import serving
from tests.stored_service import many

CARDS = (*SAMPLES, DEAD, *many(24))
KINDS = ("local", "remote", "index file", "cards file")
SUMMARIES_ONLY = ("remote", "index file")
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("index")

    async def fill() -> None:
        publication = Publication(folder)
        publication.store.put_many((card, None) for card in CARDS)
        await publication.aclose()

    asyncio.run(fill())
    return folder


@pytest.fixture(params=KINDS, scope="module")
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def service(kind: str, filled: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    """One of each kind, which every test reads."""
    if kind == "local":
        async with aclosing(Publication(filled)) as local:
            yield local
    elif kind == "remote":
        with serving(Publication(filled)) as running:
            async with aclosing(open_source(running.base_url)) as remote:
                yield remote
    else:
        path = tmp_path_factory.mktemp("export") / "export"
        path.write_bytes(await _exported(kind, filled))
        yield open_source(str(path))


async def _exported(kind: str, filled: Path) -> bytes:
    if kind == "cards file":
        return b"\n".join(codec.encode_card(card) for card in CARDS)
    view = await expected(filled, Query())
    rows = [tuple(row.summary for row in window[:]) for window in (view.ranked, view.unreachable)]
    return msgspec.json.encode({"scanned_at": view.scanned_at, "ranked": rows[0], "unreachable": rows[1]})


def plain(rows: list[Row]) -> list[tuple[int, object]]:
    """Return what every source knows of its rows: rank and summary, without the address of the page."""
    return [(row.rank, msgspec.structs.replace(row.summary, url="")) for row in rows]


VIEWS: dict[Query, IndexView] = {}


async def expected(filled: Path, query: Query) -> IndexView:
    if query not in VIEWS:
        async with aclosing(Publication(filled)) as local:
            view = await local.index(query)
            rows = {"ranked": list(view.ranked[:]), "unreachable": list(view.unreachable[:])}
            VIEWS[query] = msgspec.structs.replace(view, **rows)
    return VIEWS[query]


QUERIES = [
    {},
    {"category": "Retail"},
    {"stance": "walled"},
    {"category": "travel", "stance": "open"},
    {"line": "h0001"},
    {"line": "score:<20"},
    {"line": "-score:<20 grade:f"},
    {"line": "agent:claude=walled stance:selective"},
    {"line": "nothing-like-this"},
    *({"sort": name} for name in ("score", "grade", "stance", "host", "name", "category", "age", "matrix.claude")),
    {"sort": "host", "descending": True},
    {"stance": "Open", "sort": "name", "descending": True},
]


@pytest.mark.parametrize("filters", QUERIES, ids=str)
async def test_lists_facets_and_figures_are_the_same(
    service: Service, filled: Path, filters: dict[str, object]
) -> None:
    query = Query.of(**filters)  # type: ignore[arg-type]
    view, wanted = await service.index(query), await expected(filled, query)
    assert plain(list(view.ranked[:])) == plain(list(wanted.ranked[:]))
    assert plain(list(view.unreachable[:])) == plain(list(wanted.unreachable[:]))
    assert len(view.ranked) == len(wanted.ranked)
    assert view.facets == wanted.facets
    assert view.scanned_at == wanted.scanned_at
    assert view.query == query
    assert view.notice == ""
    for place, row in enumerate(view.ranked[:]):
        assert view.ranked.find(row.summary.host) == place


@pytest.mark.parametrize("filters", [{}, {"stance": "Open"}, {"line": "score:>50"}], ids=str)
async def test_overviews_are_the_same(service: Service, kind: str, filled: Path, filters: dict[str, object]) -> None:
    query = Query.of(**filters)  # type: ignore[arg-type]
    async with aclosing(Publication(filled)) as local:
        wanted = await local.overview(query)
    found = await service.overview(query)
    if kind in SUMMARIES_ONLY:
        wanted = msgspec.structs.replace(wanted, failing={}, edges={}, contradictions=0, disagree={}, refusing={})
    assert found == wanted


async def test_windows_are_read_in_slices(service: Service) -> None:
    view = await service.index(Query())
    rows = list(view.ranked[:])
    assert [*view.ranked[:5], *view.ranked[5:11], *view.ranked[11:]] == rows
    assert list(view.ranked[1000:2000]) == []
    assert view.ranked.find("unknown.example") == -1


@pytest.mark.parametrize("card", [*SAMPLES, DEAD], ids=lambda card: card.host)
async def test_cards_are_whole(service: Service, kind: str, card: ReportCard) -> None:
    if kind == "index file":
        with pytest.raises(Unavailable, match="holds no report cards"):
            await service.site(card.host)
        return
    report = await service.site(card.host)
    ledger = card.ledger if kind == "local" else msgspec.UNSET
    assert msgspec.structs.replace(report.card, url="") == msgspec.structs.replace(card, url="", ledger=ledger)
    assert report.history[-1].scanned_at == card.scanned_at
    assert report.history[-1].unreachable == card.unreachable
    assert report.notice == ""


async def test_a_host_never_scanned_is_reported_as_that(service: Service) -> None:
    with pytest.raises(NeverScanned, match=r"^unknown\.example has never been scanned\.$"):
        await service.site("unknown.example")


async def test_terms_about_cards_are_answered_or_refused_with_a_sentence(service: Service, kind: str) -> None:
    for line in ("has:llms", "signal:no", "fix:llms", "edge:wall", "method:v0.1", "contradiction"):
        query = Query.of(line=line)
        if kind in SUMMARIES_ONLY:
            with pytest.raises(BadValue, match="summaries only"):
                await service.index(query)
        else:
            assert (await service.index(query)).query == query


async def test_another_method_than_the_published_one_is_refused(service: Service, kind: str) -> None:
    if kind == "index file":
        return
    with pytest.raises(BadValue) as error:
        await service.site(SAMPLES[1].host, method="v0.1")
    assert error.value.allowed == ("v0.2",)


async def test_label_says_where_the_index_lies(service: Service, kind: str) -> None:
    assert service.can_scan == (kind in ("local", "remote"))
    assert service.label


REMOTE = ScanPolicy(remote=True)
"""As `serve` lets its visitors scan."""


class Observed:
    """Sees every site alike, at once."""

    def __init__(self) -> None:
        self.scans = 0

    async def observe(
        self, target: Target, *, access: ScanPolicy, progress: Progress, keep: object = None
    ) -> Observations:
        self.scans += 1
        return replace(
            situations.plain(),
            host=target.site,
            input_host=target.input_host,
            origin=str(target.origin),
            scanned_at=stamp(time.time()),
        )


@pytest_asyncio.fixture(params=["local", "remote"], loop_scope="module")
async def scanning(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Service, Observed]]:
    observed = Observed()
    monkeypatch.setattr("aui_tui.service.scans.Scanner.observe", observed.observe)
    publication = Publication(tmp_path / "data")
    if request.param == "local":
        async with aclosing(publication):
            yield publication, observed
    else:
        with serving(publication) as running:
            async with aclosing(open_source(running.base_url)) as remote:
                yield remote, observed


async def test_scans_are_new_cached_or_forced_and_counted(scanning: tuple[Service, Observed]) -> None:
    service, observed = scanning
    first = await service.scan("https://shop.com/path?x=1")
    assert (first.source, first.card.host, first.card.stance, observed.scans) == ("scan", "shop.com", "Open", 1)
    again = await service.scan("https://shop.com")
    assert (again.source, again.card, observed.scans) == ("cache", first.card, 1)
    assert 0 <= again.age < 60
    await asyncio.sleep(0.01)
    forced = await service.scan("https://shop.com", ScanOptions(force=True))
    assert (forced.source, observed.scans) == ("scan", 2)
    assert forced.card.scanned_at > first.card.scanned_at
    quota = await service.quota()
    assert quota is not None
    assert (quota.left, quota.limit) == (8, 10)
    assert [row.summary.host for row in (await service.index(Query())).ranked[:]] == ["shop.com"]
    assert (await service.site("shop.com")).card == forced.card


async def test_the_eleventh_scan_is_refused_with_its_time(scanning: tuple[Service, Observed]) -> None:
    service, observed = scanning
    for number in range(10):
        await service.scan(f"h{number}.com")
    with pytest.raises(RateLimited) as refused:
        await service.scan("one-more.com")
    assert 3500 < refused.value.retry_after <= 3600
    assert abs(refused.value.reset_at - time.time() - refused.value.retry_after) < 5
    assert "limit of 10 scans an hour" in str(refused.value)
    assert (await service.scan("h3.com")).source == "cache"
    assert observed.scans == 10
    quota = await service.quota()
    assert quota is not None
    assert quota.left == 0


INVALID = "", "no host", "a\\b.com", "http://u:p@a.com", "ftp://a.com", "127.0.0.1", "localhost", "a.com:8080", "0x7f.1"


async def test_invalid_hosts_are_refused_in_the_same_words(scanning: tuple[Service, Observed], tmp_path: Path) -> None:
    service, observed = scanning
    async with aclosing(LocalService(tmp_path / "other", access=REMOTE)) as local:
        for url in INVALID:
            with pytest.raises(InvalidHost) as reported:
                await service.scan(url)
            with pytest.raises(InvalidHost) as wanted:
                await local.scan(url)
            assert str(reported.value) == str(wanted.value), url
    assert observed.scans == 0
    quota = await service.quota()
    assert quota is None or quota.left == 10

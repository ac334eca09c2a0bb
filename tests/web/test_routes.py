"""The three endpoints as the specification and method.md have them (4, 7, 8)."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from email.utils import parsedate_to_datetime

import httpx
import msgspec
import pytest

from aui_tui.errors import Unavailable
from aui_tui.model import codec
from aui_tui.model.vocabulary import CATEGORIES, STANCES
from aui_tui.web import routes
from tests.cards import DEAD, RICH_OPEN, WALLED, decode_index, published
from tests.service.serving import Running, serving
from tests.stored_service import StoredService, many


@pytest.fixture(scope="module")
def site() -> Iterator[Running]:
    """A server for tests that change nothing."""
    with serving(StoredService()) as running:
        yield running


@pytest.fixture
def fresh() -> Iterator[Running]:
    """A server of the test's own."""
    with serving(StoredService()) as running:
        yield running


def test_index_lists_both_lists_with_the_urls_of_this_service(site: Running) -> None:
    answer = site.get("/api/index.json")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    index = decode_index(answer.content)
    assert [row.host for row in index.ranked] == [RICH_OPEN.host, WALLED.host]
    assert [row.host for row in index.unreachable] == [DEAD.host]
    assert index.ranked[0].url == f"{site.base_url}/site/{RICH_OPEN.host}"
    assert list(json.loads(answer.content)) == ["scanned_at", "ranked", "unreachable"]


@pytest.mark.parametrize(
    ("query", "hosts"),
    [
        ("?stance=walled", [WALLED.host]),
        ("?category=RETAIL", [RICH_OPEN.host]),
        ("?category=Retail&stance=Walled", []),
        ("?nonsense=1", [RICH_OPEN.host, WALLED.host]),
    ],
)
def test_filters_apply_case_ignored_and_unknown_parameters_do_not(site: Running, query: str, hosts: list[str]) -> None:
    assert [row["host"] for row in site.get("/api/index.json" + query).json()["ranked"]] == hosts


@pytest.mark.parametrize(
    ("query", "allowed"),
    [
        ("?stance=Shut", list(STANCES)),
        ("?category=Cars", list(CATEGORIES)),
        ("?stance=", None),
        ("?stance=Open&stance=Open", None),
    ],
)
def test_filter_outside_its_list_names_the_allowed_values(site: Running, query: str, allowed: list[str] | None) -> None:
    answer = site.get("/api/index.json" + query)
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["status"] == 400
    assert problem["title"] == "Bad value"
    assert problem.get("allowed") == allowed
    assert "found" not in problem


@pytest.mark.ci
def test_long_index_is_streamed_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "WHOLE", 500)
    with serving(StoredService(many(600))) as running:
        answer = running.get("/api/index.json", timeout=30)
        assert answer.headers.get("content-length") is None
        assert len(decode_index(answer.content).ranked) == 600
        again = running.get("/api/index.json", headers={"If-None-Match": answer.headers["etag"]})
        assert again.status_code == 304
        head = running.request("HEAD", "/api/index.json")
        assert head.status_code == 200
        assert head.content == b""
        assert "content-length" not in head.headers


def test_an_index_may_be_asked_for_in_pages() -> None:
    with serving(StoredService(many(25)), base_url="https://index.example") as running:
        whole = running.get("/api/index.json")
        assert "link" not in whole.headers
        found: list[str] = []
        path = "/api/index.json?limit=4"
        while path:
            answer = running.get(path)
            found += [row["host"] for row in answer.json()["ranked"]]
            link = answer.headers.get("link", "")
            assert bool(link) == (len(found) < 25)
            path = re.sub(r'^<https://index\.example(\S+)>; rel="next"$', r"\1", link)
        assert found == [row["host"] for row in whole.json()["ranked"]]
        filtered = running.get("/api/index.json?limit=1&stance=open").headers["link"]
        assert "stance=Open" in filtered
        for wrong in (
            "limit=-1",
            "limit=x",
            "limit=",
            "limit=1e3",
            "limit=99999999999999",
            "offset=%D9%A1",
            "limit=1&limit=2",
        ):
            refused = running.get(f"/api/index.json?{wrong}")
            assert (refused.status_code, refused.json()["type"].endswith("#bad-value")) == (400, True)


def test_a_long_index_is_made_once_for_all_who_ask() -> None:
    service = StoredService(many(1000))
    with serving(service) as running, ThreadPoolExecutor(16) as pool:
        before = len(service.calls)
        bodies = set(pool.map(lambda _: running.get("/api/index.json").content, range(32)))
        assert len(bodies) == 1
        assert len(json.loads(bodies.pop())["ranked"]) == 1000
        assert [name for name, _ in service.calls[before:]].count("index") == 1


def test_site_is_the_full_card(site: Running) -> None:
    answer = site.get(f"/api/site/{RICH_OPEN.host}.json")
    expected = msgspec.structs.replace(published(RICH_OPEN), url=f"{site.base_url}/site/{RICH_OPEN.host}")
    assert codec.decode_card(answer.content) == expected


@pytest.mark.parametrize("host", ["unknown.example", "a%20b", "%00", "..%2f..%2fetc%2fpasswd", "x" * 300])
def test_site_never_scanned_is_404_with_found_false(site: Running, host: str) -> None:
    answer = site.get(f"/api/site/{host}.json")
    assert answer.status_code == 404
    problem = answer.json()
    assert problem["found"] is False
    assert problem["status"] == 404
    assert problem["type"] == f"{site.base_url}/problems#host-never-scanned"


def test_a_site_without_a_name_is_404_in_a_whole_sentence(site: Running) -> None:
    answer = site.get("/api/site/.json")
    assert (answer.status_code, answer.json()["detail"]) == (404, "No host is named, so there is no card.")


def test_cards_of_hosts_with_a_port_have_an_address() -> None:
    host = "127.0.0.1:8080"
    card = msgspec.structs.replace(WALLED, host=host)
    with serving(StoredService([card])) as running:
        row = running.get("/api/index.json").json()["ranked"][0]
        path = row["url"].removeprefix(running.base_url)
        assert running.get("/api" + path + ".json").json()["host"] == host
        assert running.get(path).status_code == 200


def test_scan_tells_the_scans_left_and_where_the_card_comes_from(fresh: Running) -> None:
    first = fresh.get("/api/scan", params={"url": "new.example"})
    assert first.status_code == 200
    assert codec.decode_card(first.content).host == "new.example"
    assert first.headers["ratelimit-policy"] == '"scan";q=10;w=3600'
    assert first.headers["ratelimit"].startswith('"scan";r=9;t=')
    assert first.headers["cache-status"] == "aui-tui; fwd=miss; stored"
    assert first.headers["cache-control"] == "no-store"
    cached = fresh.get("/api/scan", params={"url": "new.example"})
    assert cached.headers["cache-status"] == "aui-tui; hit"
    assert cached.headers["ratelimit"].startswith('"scan";r=9;')
    forced = fresh.get("/api/scan", params={"url": "new.example", "force": "true"})
    assert forced.headers["ratelimit"].startswith('"scan";r=8;')
    assert forced.headers["cache-status"] == "aui-tui; fwd=request; stored"


@pytest.mark.ci
def test_eleventh_scan_of_the_hour_is_refused_and_cached_answers_are_not(fresh: Running) -> None:
    for number in range(10):
        assert fresh.get("/api/scan", params={"url": f"s{number}.example"}).status_code == 200
    refused = fresh.get("/api/scan", params={"url": "one-more.example"})
    assert refused.status_code == 429
    assert refused.headers["retry-after"] == "90"
    assert refused.headers["ratelimit"].startswith('"scan";r=0;')
    problem = refused.json()
    assert problem["retry_after"] == 90
    assert problem["reset_at"].endswith("Z")
    assert problem["title"] == "Rate limited"
    assert fresh.get("/api/scan", params={"url": "s3.example"}).status_code == 200
    assert fresh.get("/api/scan", params={"url": "not a host"}).status_code == 400
    assert fresh.get("/api/site/never.example.json").status_code == 404
    assert fresh.get("/api/site/s3.example.json").status_code == 200
    assert fresh.get("/api/index.json").status_code == 200


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("", "url is missing"),
        ("?url=", "is not a host name"),
        ("?url=a.example&url=b.example", "2 times"),
        ("?url=a.example&force=maybe", "true or false"),
        ("?url=a.example&force=", "true or false"),
        ("?url=no%20host", "is not a host name"),
        ("?url=%00%1b%5b2J", "is not a host name"),
        ("?" + "&".join(f"p{n}=1" for n in range(200)), "more than 100 parameters"),
    ],
)
def test_scan_refuses_what_is_no_host(site: Running, query: str, words: str) -> None:
    answer = site.get("/api/scan" + query)
    assert answer.status_code == 400
    assert words in answer.json()["detail"]
    assert "\x1b" not in answer.text


@pytest.mark.ci
def test_unchanged_index_and_card_are_304(site: Running) -> None:
    for path in ("/api/index.json", "/api/index.json?stance=Open", f"/api/site/{WALLED.host}.json", "/openapi.json"):
        first = site.get(path)
        assert first.headers["cache-control"]
        assert "accept-encoding" in first.headers["vary"].lower()
        for known in (first.headers["etag"], f'"other", {first.headers["etag"]}', "*"):
            again = site.get(path, headers={"If-None-Match": known})
            assert again.status_code == 304
            assert again.content == b""
            assert again.headers["etag"] == first.headers["etag"]
        assert site.get(path, headers={"If-None-Match": '"other"'}).status_code == 200


def test_last_modified_is_the_last_change_and_answers_if_modified_since(site: Running) -> None:
    first = site.get("/api/index.json")
    assert parsedate_to_datetime(first.headers["last-modified"]).isoformat() == "2026-11-20T10:00:00+00:00"
    for path in (f"/api/site/{WALLED.host}.json", f"/site/{WALLED.host}"):
        assert site.get(path).headers["last-modified"] == first.headers["last-modified"]
    known = {"If-Modified-Since": first.headers["last-modified"]}
    assert site.get("/api/index.json", headers=known).status_code == 304
    for wrong in ("nonsense", "Mon, 01 Jan 2026 99999999999999999999:00:00 GMT"):
        assert site.get("/api/index.json", headers={"If-Modified-Since": wrong}).status_code == 200
    both = {**known, "If-None-Match": '"other"'}
    assert site.get("/api/index.json", headers=both).status_code == 200


def test_a_new_card_changes_the_index_and_its_tag(fresh: Running) -> None:
    before = fresh.get("/api/index.json")
    fresh.get("/api/scan", params={"url": "fresh.example"})
    assert isinstance(fresh.service, StoredService)
    fresh.service.store.put(msgspec.structs.replace(WALLED, host="put.example"))
    after = fresh.get("/api/index.json", headers={"If-None-Match": before.headers["etag"]})
    assert after.status_code == 200
    assert "put.example" in after.text


def test_gzip_is_made_only_where_it_is_accepted(site: Running) -> None:
    plain = site.get("/api/index.json", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    refused = site.get("/api/index.json", headers={"Accept-Encoding": "gzip;q=0, *"})
    assert "content-encoding" not in refused.headers
    with httpx.stream(
        "GET", site.base_url + "/api/index.json", headers={"Accept-Encoding": "br, gzip"}, verify=False
    ) as packed:
        assert packed.headers["content-encoding"] == "gzip"
        raw = b"".join(packed.iter_raw())
    assert gzip.decompress(raw) == plain.content
    assert packed.headers["etag"] == plain.headers["etag"]


@pytest.mark.parametrize(
    "path", ["/api/index.json", f"/api/site/{WALLED.host}.json", "/openapi.json", "/", "/robots.txt"]
)
def test_head_has_the_fields_of_get_and_no_body(site: Running, path: str) -> None:
    get = site.get(path, headers={"Accept-Encoding": "identity"})
    head = site.request("HEAD", path, headers={"Accept-Encoding": "identity"})
    assert head.status_code == get.status_code == 200
    assert head.content == b""
    ignored = {"date", "connection"}
    assert {k: v for k, v in head.headers.items() if k not in ignored} == {
        k: v for k, v in get.headers.items() if k not in ignored
    }


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "TRACE", "OPTIONS"])
@pytest.mark.parametrize("path", ["/api/index.json", f"/api/site/{WALLED.host}.json", "/api/scan?url=a.example"])
def test_other_methods_are_405_with_allow(site: Running, method: str, path: str) -> None:
    answer = site.request(method, path)
    assert answer.status_code == 405
    assert set(answer.headers["allow"].replace(" ", "").split(",")) == {"GET", "HEAD"}
    assert answer.json()["status"] == 405


def test_unknown_address_is_404_as_problem_details_or_as_a_page(site: Running) -> None:
    problem = site.get("/api/nothing")
    assert problem.status_code == 404
    assert problem.json()["found"] is False
    page = site.get("/nothing", headers={"Accept": "text/html"})
    assert page.status_code == 404
    assert page.headers["content-type"].startswith("text/html")


@pytest.mark.parametrize(
    "path", ["/api/index.json", f"/api/site/{WALLED.host}.json", "/api/scan?url=a.example", "/healthz"]
)
def test_a_failing_store_is_503_and_tells_no_path(path: str) -> None:
    service = StoredService()
    fault = Unavailable("The index /home/me/.data/index.db is locked by 10.1.2.3.")
    service.faults = dict.fromkeys(("index", "site", "scan", "stamp"), fault)
    with serving(service) as running:
        answer = running.get(path)
        assert answer.status_code == 503
        assert "/home" not in answer.text
        assert "10.1.2.3" not in answer.text
        assert answer.headers["retry-after"]


def test_a_fault_of_the_service_is_a_500_that_tells_nothing() -> None:
    service = StoredService()
    service.faults["site"] = ValueError("secret /home/me")
    with serving(service) as running:
        answer = running.get(f"/api/site/{WALLED.host}.json")
        assert answer.status_code == 500
        assert answer.json()["title"] == "Internal error"
        assert "secret" not in answer.text
        assert running.get("/healthz").status_code == 200


def test_service_is_closed_when_the_server_stops() -> None:
    service = StoredService()
    with serving(service):
        assert not service.closed
    assert service.closed

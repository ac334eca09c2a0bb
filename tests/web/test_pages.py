"""The pages for people: the same content as the JSON, safe, and usable without scripts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from urllib.parse import urljoin

import msgspec
import pytest
from selectolax.lexbor import LexborHTMLParser

from aui_tui.checks.scoring import grade_card
from aui_tui.errors import Unavailable
from aui_tui.model.card import Evidence, Recommendation, ReportCard
from aui_tui.model.labels import percent
from aui_tui.model.methods import grade_of
from aui_tui.model.surfaces import SURFACES
from tests.cards import DEAD, RICH_OPEN, WALLED
from tests.scan import situations
from tests.service.serving import Running, serving
from tests.stored_service import StoredService, many

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&{{7*7}}"
EVIL = msgspec.structs.replace(
    WALLED,
    host="evil.example",
    name=HOSTILE,
    human_title=HOSTILE,
    edge=HOSTILE,
    evidence=(Evidence("critical", HOSTILE),),
    recommendations=(Recommendation("llms", "Built", 3, HOSTILE, HOSTILE, HOSTILE),),
    matrix={HOSTILE + str(n): "walled" for n in range(8)},
)


@pytest.fixture(scope="module")
def site() -> Iterator[Running]:
    with serving(StoredService((RICH_OPEN, WALLED, DEAD, EVIL, *many(230)))) as running:
        yield running


def page(site: Running, path: str) -> LexborHTMLParser:
    answer = site.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    return LexborHTMLParser(answer.text)


def test_index_page_lists_what_the_json_lists(site: Running) -> None:
    text = page(site, "/").body.text()
    index = site.get("/api/index.json").json()
    for row in index["ranked"][:10]:
        assert row["host"] in text
        assert row["stance"] in text
    assert RICH_OPEN.name in page(site, "/?q=shop").body.text()
    assert DEAD.host in text
    assert "234 ranked" not in text
    assert f"{len(index['ranked'])} scored sites, page 1 of {-(-len(index['ranked']) // 10)}" in text


def test_points_and_fixes_are_named_for_people_not_by_keys_of_the_record(site: Running) -> None:
    tree = page(site, f"/site/{WALLED.host}")
    rows = [[cell.text() for cell in row.css("th, td")][1:3] for row in tree.css("#ledger + p + div tbody tr")]
    assert rows[:3] == [["agents let in", "0/12"], ["robots.txt", "9/9"], ["Content-Signal", "0/4"]]
    assert "(wba)" not in tree.body.text()


def test_a_site_of_which_too_little_could_be_measured_has_no_letter_and_says_why() -> None:
    thin = grade_card(situations.thin())
    with serving(StoredService((thin,))) as running:
        for path in ("/", f"/site/{thin.host}"):
            (found,) = page(running, path).css("svg.mark")
            assert (found.attributes["aria-label"], found.text().strip()) == ("No grade", "–")
        shown = page(running, f"/site/{thin.host}")
        feed = running.get("/feed.atom").text
        records = [
            running.get("/api/index.json").json()["ranked"][0],
            running.get(f"/api/site/{thin.host}.json").json(),
        ]
    assert {record["grade"] for record in records} == {grade_of(thin.score)}, "the shape of a record demands a letter"
    assert "less than half could be measured" in shown.css_first(".verdict").text()
    assert shown.css_first("title").text().startswith(f"{thin.host}: no grade, {thin.score} of 100")
    assert f"<title>{thin.host}: no grade, {thin.score} of 100, {thin.stance}</title>" in feed
    assert "reviewRating" not in json.loads(shown.css_first('script[type="application/ld+json"]').text())


def test_the_first_page_says_who_gets_in_and_a_search_lists_sites_alone(site: Running) -> None:
    tree = page(site, "/")
    ranked = list(site.get("/api/index.json").json()["ranked"])
    place = [surface.slug for surface in SURFACES].index("claude")
    claude = [word for row in ranked if (word := list(row["matrix"].values())[place]) != "untested"]
    inside = percent(sum(word in ("allowed", "partial", "allowed-robots") for word in claude), len(claude))
    rows = {row.css_first("th").text(): row.text() for row in tree.css("section.assistants tbody tr")}
    assert inside in rows["Claude"]
    by_category = sum(int(cell.text()) for cell in tree.css("section.stances tbody td"))
    assert by_category == len(ranked)
    assert len(tree.css("table.sites tbody tr")) <= 10 + 5
    about = {node.attributes["property"]: node.attributes["content"] for node in tree.css("meta[property^='og:']")}
    assert about["og:title"] == tree.css_first("title").text()
    assert set(about) == {"og:site_name", "og:type", "og:title", "og:description"}
    assert tree.css("a[href='/help/method']")
    assert not page(site, "/?q=shop").css("section.assistants")
    assert RICH_OPEN.host in (
        page(site, f"/site/{RICH_OPEN.host}").css_first("meta[property='og:description']").html or ""
    )


@pytest.mark.parametrize(
    ("cards", "words"),
    [
        ((), ["No scored site yet"]),
        (many(1_200), ["1,200 scored hosts, 0 unreachable.", "1,200 scored sites, page 1 of 120"]),
        ((msgspec.structs.replace(RICH_OPEN, matrix=dict.fromkeys(RICH_OPEN.matrix, "partial")),), ["6 of 6 let in"]),
    ],
    ids=["no site yet", "large numbers", "kept from some paths is let in"],
)
def test_the_first_page_says_how_many_there_are(cards: Sequence[ReportCard], words: list[str]) -> None:
    with serving(StoredService(cards)) as running:
        text = page(running, "/").body.text()
    for sentence in words:
        assert sentence in text


def test_pages_follow_each_other_and_the_last_has_no_next(site: Running) -> None:
    seen: list[str] = []
    path: str | None = "/"
    while path is not None:
        tree = page(site, path)
        seen += [node.text() for node in tree.css("table.sites tbody th a")]
        following = tree.css_first("a[rel=next]")
        path = following.attributes["href"] if following is not None else None
        assert len(seen) < 1000
    ranked = [row["host"] for row in site.get("/api/index.json").json()["ranked"]]
    assert [host for host in seen if host != DEAD.host] == ranked


@pytest.mark.parametrize(
    ("query", "hosts"),
    [
        ("?stance=open&category=retail", {RICH_OPEN.host}),
        ("?q=shop", {RICH_OPEN.host}),
        ("?category=&stance=&q=&sort=rank&page=", None),
        ("?q=nothing-like-this", set()),
        ("?page=0", None),
        ("?page=-3", None),
        ("?page=99999999999999999999999", None),
    ],
)
def test_filters_are_a_plain_form(site: Running, query: str, hosts: set[str] | None) -> None:
    tree = page(site, "/" + query)
    listed = {node.text() for node in tree.css("tbody th a")}
    if hosts is not None:
        assert listed >= hosts
        assert (RICH_OPEN.host in listed) == (RICH_OPEN.host in hosts)
    form = tree.css_first("form.filters")
    assert form.attributes["method"] == "get"
    names = {node.attributes["name"] for node in form.css("input, select")}
    assert names == {"q", "category", "stance", "sort"}


def test_filters_that_cannot_be_understood_are_reported_and_nothing_breaks(site: Running) -> None:
    for query in ("?stance=Shut", "?q=score:%3Cx", '?q="open', "?sort=nonsense", "?stance=Open&stance=Open"):
        answer = site.get("/" + query, headers={"Accept": "text/html"})
        assert answer.status_code == 400
        assert LexborHTMLParser(answer.text).css_first("[role=alert]").text()


def test_links_of_facets_keep_the_other_filters(site: Running) -> None:
    tree = page(site, "/?category=Retail&q=h000")
    link = next(node for node in tree.css(".facets a") if node.text().startswith("Walled"))
    assert link.attributes["href"] == "/?q=h000&category=Retail&stance=Walled"


def test_site_page_has_the_whole_card(site: Running) -> None:
    tree = page(site, f"/site/{RICH_OPEN.host}")
    text = tree.body.text()
    for evidence in RICH_OPEN.evidence:
        assert evidence.text in text
    for fix in RICH_OPEN.recommendations:
        assert fix.title in text
        assert fix.body in text
    for value in (
        RICH_OPEN.human_title,
        RICH_OPEN.edge,
        RICH_OPEN.category,
        *RICH_OPEN.crawler_policy,
        *RICH_OPEN.files,
    ):
        assert value in text
    assert tree.css_first("link[rel=canonical]").attributes["href"] == f"{site.base_url}/site/{RICH_OPEN.host}"


def test_an_unreachable_site_shows_a_dash_and_no_grade(site: Running) -> None:
    figures = page(site, f"/site/{DEAD.host}").css_first("dl.figures").text(separator=" ")
    assert figures.split() == ["Score", "–", "Stance", "–", "unreachable"]


def test_never_scanned_is_a_page_that_offers_a_scan(site: Running) -> None:
    answer = site.get("/site/unknown.example")
    assert answer.status_code == 404
    tree = LexborHTMLParser(answer.text)
    assert "has never been scanned" in tree.body.text()
    assert tree.css_first("form.scan input[name=url]").attributes["value"] == "unknown.example"


@pytest.mark.parametrize(
    "path",
    ["/", "/?q=evil", "/site/evil.example", "/site/%3Cscript%3Ealert(1)%3C%2Fscript%3E", "/?q=%3Cscript%3Ealert(1)"],
)
def test_nothing_untrusted_becomes_markup_or_script(site: Running, path: str) -> None:
    answer = site.get(path)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    tree = LexborHTMLParser(answer.text)
    assert not tree.css("img, iframe, [onerror], [onclick], [style]")
    assert all(node.attributes.get("type") == "application/ld+json" for node in tree.css("script"))
    for node in tree.css("script"):
        json.loads(node.text())


@pytest.mark.ci
def test_every_link_of_the_pages_leads_somewhere(site: Running) -> None:
    tried = set()
    for start in ("/", f"/site/{RICH_OPEN.host}", "/problems", "/help", "/help/scanning", "/site/unknown.example"):
        tree = LexborHTMLParser(site.get(start).text)
        for node in tree.css("a[href], link[href]"):
            target = urljoin(site.base_url + start, node.attributes["href"] or "").partition("#")[0]
            same = target == site.base_url + start
            if same or not target.startswith(site.base_url) or target in tried or "/site/h0" in target:
                continue
            tried.add(target)
            assert site.get(target.removeprefix(site.base_url)).status_code == 200, target
    assert len(tried) > 15


def test_form_scans_and_leads_to_the_card() -> None:
    with serving(StoredService()) as running:
        own = {"Origin": running.base_url}
        answer = running.request("POST", "/scan", data={"url": "new.example"}, headers=own)
        assert answer.status_code == 303
        assert answer.headers["location"] == "/site/new.example"
        assert running.get("/site/new.example").status_code == 200
        bad = running.request("POST", "/scan", data={"url": "no host"}, headers={**own, "Accept": "text/html"})
        assert bad.status_code == 400
        assert "is not a host name" in bad.text


def test_pages_live_under_the_path_of_the_base_url() -> None:
    with serving(StoredService(), base_url="https://host.example/usability") as running:
        tree = LexborHTMLParser(running.get("/").text)
        links = [node.attributes["href"] for node in tree.css("a[href^='/'], link[href^='/']")]
        assert links
        assert all(link.startswith("/usability/") for link in links)
        assert (
            running.get("/api/index.json").json()["ranked"][0]["url"].startswith("https://host.example/usability/site/")
        )


def test_the_form_takes_names_in_any_script_and_refuses_what_it_cannot_read() -> None:
    service = StoredService()
    with serving(service) as running:
        own = {"Origin": running.base_url}
        running.request("POST", "/scan", data={"url": "bücher.example"}, headers=own)
        assert [asked[1] for name, asked in service.calls if name == "scan"] == ["bücher.example"]  # type: ignore[index]
        many = {f"field{number}": "1" for number in range(101)} | {"url": "a.example"}
        assert running.request("POST", "/scan", data=many, headers=own).status_code == 400
        twice = running.request("POST", "/scan", content="url=a.example&url=b.example", headers=own)
        assert twice.status_code == 400


def test_the_first_page_is_made_before_the_first_visitor_comes_or_as_soon_as_the_index_can_be_read() -> None:
    service = StoredService(many(20))
    with serving(service) as running:
        made = [name for name, _ in service.calls].count("index")
        assert made
        assert running.get("/").status_code == 200
        assert [name for name, _ in service.calls].count("index") == made
    for fault, status in ((Unavailable("The index is locked."), 503), (RuntimeError("a fault of ours"), 500)):
        service = StoredService()
        service.faults["index"] = fault
        with serving(service) as running:
            assert running.get("/").status_code == status
            assert running.get("/healthz").status_code == 200
            service.faults.clear()
            assert running.get("/").status_code == 200

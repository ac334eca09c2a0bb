"""What other programs fetch from a published index: CSV, Atom, badges, the catalogue; and the chart."""

from __future__ import annotations

import csv
import io
import json
import xml.etree.ElementTree as ET
from collections.abc import Iterator

import msgspec
import pytest
from selectolax.lexbor import LexborHTMLParser

from aui_tui.model.card import Evidence
from aui_tui.model.points import by_harm
from aui_tui.model.report import HistoryPoint
from aui_tui.model.vocabulary import GRADES
from aui_tui.report.page import SHAPES, chart, mark
from aui_tui.web import routes
from tests.cards import DEAD, RICH_OPEN, WALLED
from tests.service.serving import Running, serving
from tests.stored_service import StoredService, many

FORMULA = msgspec.structs.replace(
    WALLED, host="evil.example", name="=cmd|' /C calc'!A0", evidence=(Evidence("warn", "<b>&]]></b>"),), score=1
)
ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture(scope="module")
def site() -> Iterator[Running]:
    with serving(StoredService((RICH_OPEN, WALLED, DEAD, FORMULA, *many(60)))) as running:
        yield running


def test_csv_has_the_rows_of_the_json_and_no_formula(site: Running) -> None:
    answer = site.get("/index.csv")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert "index.csv" in answer.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    index = site.get("/api/index.json").json()
    assert [row["host"] for row in rows] == [row["host"] for row in (*index["ranked"], *index["unreachable"])]
    assert rows[0]["url"] == index["ranked"][0]["url"]
    evil = next(row for row in rows if row["host"] == FORMULA.host)
    assert not evil["name"].startswith("=")
    walled = list(csv.DictReader(io.StringIO(site.get("/index.csv?stance=Walled").text)))
    assert {row["stance"] for row in walled if row["list"] == "ranked"} == {"Walled"}
    assert site.get("/index.csv?stance=Shut").status_code == 400
    head = site.request("HEAD", "/index.csv")
    assert (head.content, head.headers.get("content-length")) == (b"", None)


def test_feed_is_atom_with_the_newest_scans_first(site: Running) -> None:
    answer = site.get("/feed.atom")
    assert answer.headers["content-type"] == "application/atom+xml; charset=utf-8"
    feed = ET.fromstring(answer.content)
    assert feed.tag == f"{ATOM}feed"
    for name in ("id", "title", "updated", "author"):
        assert feed.find(ATOM + name) is not None
    entries = feed.findall(f"{ATOM}entry")
    assert len(entries) == routes.ENTRIES
    times = [entry.findtext(f"{ATOM}updated") or "" for entry in entries]
    assert times == sorted(times, reverse=True)
    assert len({entry.findtext(f"{ATOM}id") for entry in entries}) == len(entries)
    for entry in entries[:3]:
        link = entry.find(f"{ATOM}link")
        assert link is not None
        assert site.get(link.attrib["href"].removeprefix(site.base_url)).status_code == 200
    again = site.get("/feed.atom", headers={"If-None-Match": answer.headers["etag"]})
    assert again.status_code == 304


def test_badge_of_a_host_and_of_none(site: Running) -> None:
    answer = site.get(f"/badge/{RICH_OPEN.host}.svg")
    assert answer.headers["content-type"] == "image/svg+xml"
    assert f"{RICH_OPEN.grade} {RICH_OPEN.score}" in ET.fromstring(answer.content).attrib["aria-label"]
    assert site.get("/badge/unknown.example.svg").status_code == 404
    assert site.get("/badge/%3Cscript%3E.svg").status_code == 404


def test_catalogue_leads_to_descriptions_that_exist(site: Running) -> None:
    answer = site.get("/.well-known/api-catalog")
    assert answer.headers["content-type"].startswith("application/linkset+json")
    assert "rfc9727" in answer.headers["content-type"]
    entries = json.loads(answer.content)["linkset"]
    assert {entry["anchor"] for entry in entries} == {f"{site.base_url}/api/index.json", f"{site.base_url}/mcp"}
    for entry in entries:
        for relation in ("service-desc", "service-doc", "status"):
            for link in entry.get(relation, ()):
                found = site.get(link["href"].removeprefix(site.base_url))
                assert found.status_code == 200
                assert found.headers["content-type"].startswith(link["type"])
    assert 'rel="api-catalog"' in site.get("/").headers["link"]
    head = site.request("HEAD", "/.well-known/api-catalog")
    assert head.headers["link"] == f'<{site.base_url}/.well-known/api-catalog>; rel="api-catalog"'
    assert head.headers["content-type"] == answer.headers["content-type"]
    assert not head.content


def test_the_card_says_its_headline_once_and_the_next_step(site: Running) -> None:
    text = LexborHTMLParser(site.get(f"/site/{WALLED.host}").text).body.text()
    assert text.count(WALLED.evidence[0].text) == 1
    assert f"Next: {by_harm(WALLED)[0].title}" in " ".join(text.split())


def point(day: int, score: int, *, dead: bool = False) -> HistoryPoint:
    return HistoryPoint(
        scanned_at=f"2026-11-{day:02}T08:00:00.000Z", score=score, grade="F", stance="Walled", unreachable=dead
    )


def test_chart_has_a_dot_a_scan_and_a_gap_where_there_was_no_answer() -> None:
    assert chart([point(1, 50)]) == ""
    assert chart([point(1, 50), point(2, 0, dead=True)]) == ""
    stopped = msgspec.structs.replace(point(2, 0), incomplete=True)
    assert chart([point(1, 50), stopped]) == ""
    drawn = ET.fromstring(chart([point(1, 50), point(2, 60), point(3, 0, dead=True), point(4, 100), point(9, 0)]))
    assert len(list(drawn.iter("circle"))) == 4
    lines = [node.attrib["points"].split() for node in drawn.iter("polyline")]
    assert [len(line) for line in lines] == [2, 2]
    heights = [float(place.partition(",")[2]) for line in lines for place in line]
    assert heights[0] > heights[1] > heights[2]
    assert heights[3] == max(heights)
    assert drawn.attrib["aria-label"] == "Scores of 4 scans: 50 on 2026-11-01, 0 on 2026-11-09"


def test_every_grade_has_a_shape_of_its_own() -> None:
    assert set(SHAPES) == set(GRADES)
    assert len(set(SHAPES.values())) == len(GRADES)
    for grade in (*GRADES, "", "<script>"):
        assert ET.fromstring(mark(grade, 28)).attrib["role"] == "img"

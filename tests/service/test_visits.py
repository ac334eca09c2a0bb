"""Visits through every service: the local index, its publication, and a remote one over HTTP."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from aui_tui.errors import InvalidHost, RecordError
from aui_tui.service.local import LocalService
from aui_tui.service.protocol import ReadsLogs
from aui_tui.service.publication import LocalPublication
from aui_tui.service.remote import open_source
from tests.cards import WALLED
from tests.service.serving import serving
from tests.visits.records import verified, visits

RECORD = visits(verified("Claude-User", 1202, 2))
LINE = '198.51.100.7 - - [19/Nov/2026:04:54:30 +0000] "GET / HTTP/1.1" 200 512 "-" "Claude-User/1.0"\n'


async def test_visits_are_kept_and_published(tmp_path: Path) -> None:
    local = LocalService(tmp_path / "data")
    local.reports.put(WALLED)
    await local.keep_visits(RECORD)
    assert await local.visits("https://tickets.example/") == RECORD
    assert await local.visits("other.example") is None
    await local.aclose()
    with serving(LocalPublication(folder=tmp_path / "data")()) as running:
        remote = open_source(running.base_url, folder=tmp_path / "copies")
        assert await remote.visits("tickets.example") == RECORD
        assert await remote.visits("other.example") is None
        await remote.aclose()
        page = running.get("/site/tickets.example").text
        assert '<h2 id="visits">Visits in the access log</h2>' in page
        assert "1,204" in page
        evidence = running.get("/api/site/tickets.example.json").json()["evidence"]
        assert any(line["text"].startswith("Access log: Claude came from the published ranges") for line in evidence)
        answer = running.get("/api/visits/other.example.json")
        assert (answer.status_code, answer.json()["found"]) == (404, False)


async def test_figures_that_are_not_to_be_published_are_in_no_answer(tmp_path: Path) -> None:
    local = LocalService(tmp_path / "data")
    local.reports.put(WALLED)
    await local.keep_visits(RECORD)
    await local.aclose()
    with serving(LocalPublication(folder=tmp_path / "data", with_visits=False)()) as running:
        remote = open_source(running.base_url, folder=tmp_path / "copies")
        assert await remote.visits("tickets.example") is None
        await remote.aclose()
        assert running.get("/api/visits/tickets.example.json").status_code == 404
        for path in ("/site/tickets.example", "/api/site/tickets.example.json"):
            answer = running.get(path)
            assert answer.status_code == 200
            assert "1,204" not in answer.text
            assert "Access log" not in answer.text


async def test_the_description_names_visits_and_a_real_answer_fits_it(tmp_path: Path) -> None:
    local = LocalService(tmp_path / "data")
    await local.keep_visits(RECORD)
    await local.aclose()
    with serving(LocalPublication(folder=tmp_path / "data")()) as running:
        description = running.get("/openapi.json").json()
        answer = running.get("/api/visits/tickets.example.json").json()
    operation = description["paths"]["/api/visits/{host}.json"]["get"]
    reference = operation["responses"]["200"]["content"]["application/json"]["schema"]
    assert operation["operationId"] == "getVisits"
    Draft202012Validator({**reference, "components": description["components"]}).validate(answer)


async def test_logs_are_read_where_the_service_can_and_nowhere_else(tmp_path: Path) -> None:
    local = LocalService(tmp_path / "data")
    heard: list[tuple[int, int]] = []
    log = tmp_path / "access.log"
    log.write_text(LINE * 3000)
    assert isinstance(local, ReadsLogs)
    record = await local.read_logs("https://Shop.example/", [str(log)], progress=lambda *done: heard.append(done))
    assert (record.host, record.lines, record.agent_lines) == ("shop.example", 3000, 3000)
    assert await local.visits("shop.example") == record
    assert heard[-1] == (log.stat().st_size,) * 2
    log.write_bytes(bytes(1000))
    with pytest.raises(RecordError):
        await local.read_logs("shop.example", [str(log)])
    with pytest.raises(InvalidHost):
        await local.read_logs("no host", [str(log)])
    assert await local.visits("shop.example") == record
    await local.aclose()
    publication = LocalPublication(folder=tmp_path / "data")()
    assert not isinstance(publication, ReadsLogs)
    await publication.aclose()
    remote = open_source("http://127.0.0.1:9", folder=tmp_path / "copies")
    assert not isinstance(remote, ReadsLogs)
    await remote.aclose()


async def test_reading_that_is_cancelled_keeps_what_was_kept(tmp_path: Path) -> None:
    local = LocalService(tmp_path / "data")
    (tmp_path / "access.log").write_text(LINE * 20_000)
    begun, loop = asyncio.Event(), asyncio.get_running_loop()
    await local.keep_visits(RECORD)
    reading = asyncio.ensure_future(
        local.read_logs(
            RECORD.host,
            [str(tmp_path / "access.log")],
            progress=lambda *_: (loop.call_soon_threadsafe(begun.set), time.sleep(0.05)),
        )
    )
    await begun.wait()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert await local.visits(RECORD.host) == RECORD
    await local.aclose()


async def test_a_file_of_results_has_no_visits(tmp_path: Path) -> None:
    path = tmp_path / "cards.json"
    path.write_bytes(b"[]")
    assert await open_source(str(path)).visits("tickets.example") is None

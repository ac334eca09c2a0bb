"""Visits through every service: the local index, its publication, and a remote one over HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from aui_tui.service.local import LocalService
from aui_tui.service.publication import Publication
from aui_tui.service.remote import open_source
from tests.cards import WALLED
from tests.service.serving import serving
from tests.visits.records import verified, visits

RECORD = visits(verified("Claude-User", 1202, 2))


async def test_visits_are_kept_and_published(tmp_path: Path) -> None:
    local = LocalService(tmp_path / "data")
    local.store.put(WALLED)
    await local.keep_visits(RECORD)
    assert await local.visits("https://tickets.example/") == RECORD
    assert await local.visits("other.example") is None
    await local.aclose()
    with serving(Publication(tmp_path / "data")) as running:
        remote = open_source(running.base_url)
        assert await remote.visits("tickets.example") == RECORD
        assert await remote.visits("other.example") is None
        await remote.aclose()
        description, found = running.get("/openapi.json").json(), running.get("/api/visits/tickets.example.json").json()
        shape = {"$ref": "#/components/schemas/Visits", "components": description["components"]}
        Draft202012Validator(shape).validate(found)
        page = running.get("/site/tickets.example").text
        assert '<h2 id="visits">Visits in the access log</h2>' in page
        assert "1,204" in page
        evidence = running.get("/api/site/tickets.example.json").json()["evidence"]
        assert any(line["text"].startswith("Access log: Claude came from the published ranges") for line in evidence)
        answer = running.get("/api/visits/other.example.json")
        assert (answer.status_code, answer.json()["found"]) == (404, False)


@pytest.mark.ci
async def test_figures_that_are_not_to_be_published_are_in_no_answer(tmp_path: Path) -> None:
    local = LocalService(tmp_path / "data")
    local.store.put(WALLED)
    await local.keep_visits(RECORD)
    await local.aclose()
    with serving(Publication(tmp_path / "data", with_visits=False)) as running:
        remote = open_source(running.base_url)
        assert await remote.visits("tickets.example") is None
        await remote.aclose()
        assert running.get("/api/visits/tickets.example.json").status_code == 404
        for path in ("/site/tickets.example", "/api/site/tickets.example.json"):
            answer = running.get(path)
            assert answer.status_code == 200
            assert "1,204" not in answer.text
            assert "Access log" not in answer.text


async def test_a_file_of_results_has_no_visits(tmp_path: Path) -> None:
    path = tmp_path / "cards.json"
    path.write_bytes(b"[]")
    assert await open_source(str(path)).visits("tickets.example") is None

"""The interface description fits the answers: by schemathesis against the running server, and by hand."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest

from tests.cards import RICH_OPEN, SAMPLES
from tests.service.serving import Running, serving
from tests.stored_service import StoredService
from tests.visits.records import verified, visits


@pytest.fixture(scope="module")
def site() -> Iterator[Running]:
    service = StoredService()
    service.store.put_visits(visits(verified("Claude-User", 12, 0)))
    with serving(service) as running:
        yield running


CONFIGURATION = """
warnings = false

[checks.positive_data_acceptance]
expected-statuses = ["2xx", "3xx", "400", "404", "429"]
"""
"""No schema can say which strings are hosts, so a 400 for a string is within the description; no host
has a run of the tasks here, so a 404 each time is no reason for a warning."""


@pytest.mark.slow
def test_schemathesis_finds_no_failure(site: Running, tmp_path: Path) -> None:
    (tmp_path / "st.toml").write_text(CONFIGURATION)
    tool = [sys.executable, "-m", "schemathesis.cli", "--config-file", "st.toml"]
    options = ["--no-color", "--max-examples", "60", "--request-timeout", "10"]
    done = subprocess.run(
        [*tool, "run", site.base_url + "/openapi.json", *options],
        cwd=tmp_path,
        env={**os.environ, "NO_PROXY": "*", "SCHEMATHESIS_HOOKS": ""},
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "No issues found" in done.stdout, done.stdout[-3000:]


def test_description_has_the_version_and_the_operations_of_the_specification(site: Running) -> None:
    document = site.get("/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    assert document["info"]["version"] == "0.1.0"
    operations = {method["operationId"] for path in document["paths"].values() for method in path.values()}
    assert operations == {"getIndex", "getSite", "scanSite", "getTasks", "getVisits"}
    assert document["servers"] == [{"url": site.base_url}]


@pytest.mark.parametrize("card", SAMPLES, ids=lambda card: card.method)
def test_cards_of_both_methods_fit_the_described_schema(site: Running, card: object) -> None:
    document = site.get("/openapi.json").json()
    shape = {"$ref": "#/components/schemas/ReportCard", "components": document["components"]}
    answer = site.get(f"/api/site/{card.host}.json").json()  # type: ignore[attr-defined]
    jsonschema.Draft202012Validator(shape).validate(answer)
    broken = {**answer, "stance": "Shut"}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(shape).validate(broken)
    assert answer["url"].startswith(site.base_url)


def test_every_described_path_exists(site: Running) -> None:
    for path in site.get("/openapi.json").json()["paths"]:
        answer = site.get(path.replace("{host}", RICH_OPEN.host))
        assert answer.status_code in (200, 400) or answer.json()["found"] is False

"""Tasks in a service: transcripts are published as they were kept and never run for a client; who may open what."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest

from aui_tui.checks.scoring import grade_card
from aui_tui.errors import BadValue
from aui_tui.model.tasks import TASKS, Step, TaskReport, TaskResult, decode_report
from aui_tui.scan.policy import ConnectTo, ScanPolicy
from aui_tui.scan.target import parse
from aui_tui.service import scans, tasks
from aui_tui.service.local import LocalService
from aui_tui.service.publication import Publication
from aui_tui.service.remote import open_source
from tests.scan.situations import open_rich
from tests.service.serving import serving

STEP = Step(verb="found", role="searchbox", name="Find a room", url="https://a.example/", outline=("searchbox",))
REPORT = TaskReport(
    ran_at="2026-11-20T10:00:00.000Z",
    origin="https://a.example",
    browser="Chromium 140",
    door="allowed",
    results=tuple(TaskResult(task=task.key, outcome="done", note="It worked.", steps=(STEP,)) for task in TASKS),
)


ELSEWHERE = ConnectTo.parse("staging.example:443:127.0.0.1:8443")
"""A rule that is about another host than the one that is asked for."""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with one host that has a run of the tasks and one that has none."""
    service = LocalService(tmp_path / "data")
    seen = open_rich().with_tasks(REPORT, None)
    service.store.put(grade_card(seen), seen)
    return tmp_path / "data"


async def test_a_transcript_is_published_as_it_was_kept(data: Path, tmp_path: Path) -> None:
    from aui_tui.web.toolset import Tools

    host = open_rich().host
    with serving(Publication(data)) as running:
        answer = running.get(f"/api/tasks/{host}.json")
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
        assert decode_report(answer.content) == REPORT
        document = running.get("/openapi.json").json()
        shape = {"$ref": "#/components/schemas/TaskReport", "components": document["components"]}
        jsonschema.Draft202012Validator(shape).validate(answer.json())
        broken = answer.json()
        broken["results"][0]["outcome"] = "perhaps"
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.Draft202012Validator(shape).validate(broken)
        again = running.get(f"/api/tasks/{host}.json", headers={"If-None-Match": answer.headers["etag"]})
        assert again.status_code == 304
        remote = open_source(running.base_url)
        assert await remote.transcript(host) == REPORT
        assert await Tools(remote).tasks(host) == answer.json(), "an agent reads it from a source too"
        await remote.aclose()


@pytest.mark.parametrize("name", ["never.example", "not a host", "a.example/..%2f"])
async def test_a_host_without_a_run_is_not_found(data: Path, name: str) -> None:
    with serving(Publication(data)) as running:
        answer = running.get(f"/api/tasks/{name}.json")
        assert (answer.status_code, answer.json()["found"]) == (404, False)
        assert answer.headers["content-type"] == "application/problem+json"
        assert running.request("POST", f"/api/tasks/{open_rich().host}.json").status_code == 405


async def test_as_root_a_browser_without_its_sandbox_opens_hosts_of_ones_own_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "available", lambda: "")
    monkeypatch.setattr(tasks, "is_root", lambda: True)

    def check(*, own: bool, **allowed: Any) -> None:
        tasks.TaskRuns.check(ScanPolicy(**allowed), act=False, own=own)

    with pytest.raises(BadValue, match=r"As root a browser has no sandbox.*AUI_TUI_ROOT_BROWSER=1"):
        check(own=False)
    with pytest.raises(BadValue, match="As root"):
        check(own=False, connect_to=(ELSEWHERE,))
    check(own=True)
    check(own=False, root_browser=True)
    monkeypatch.setattr(tasks, "is_root", lambda: False)
    check(own=False)


async def test_as_root_no_real_browser_is_asked_for_hosts_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scans, "is_root", lambda: True)
    scanner, other = scans.Scanner(), parse("203.0.113.5", allow_private=True)
    assert await scanner._browser(other, ScanPolicy(keyboard=True)) is None
    assert await scanner._browser(other, ScanPolicy(keyboard=True, connect_to=(ELSEWHERE,))) is None
    assert await scanner._browser(other, ScanPolicy(keyboard=True, root_browser=True)) is not None
    assert await scanner._browser(other, ScanPolicy(keyboard=True, control="chromium")) is not None
    assert await scanner._browser(parse("127.0.0.1", allow_private=True), ScanPolicy(keyboard=True)) is not None
    await scanner.aclose()

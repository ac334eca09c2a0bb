"""The commands around the tasks: run, transcript, pictures, and what is said without a browser."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from aui_tui.cli.app import run
from aui_tui.errors import BadValue, NoBrowser
from aui_tui.model.options import ScanOptions
from aui_tui.model.points import of_pillar
from aui_tui.model.tasks import TaskEvent, decode_report
from aui_tui.scan.policy import ConnectTo, ScanPolicy
from aui_tui.service.local import LocalService
from aui_tui.tasks import browser as browsers
from tests.tasks.running import HOST, serving
from tests.tasks.shop import Shop

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(300)]


@asynccontextmanager
async def shop_service(folder: Path, shop: Shop) -> AsyncIterator[LocalService]:
    """A service that reaches ``shop``; nothing listens for https."""
    async with serving(shop) as port:
        rules = (ConnectTo.parse(f"{HOST}:80:127.0.0.1:{port}"), ConnectTo.parse(f"{HOST}:443:127.0.0.1:1"))
        service = LocalService(folder, access=ScanPolicy(connect_to=rules))
        try:
            yield service
        finally:
            await service.aclose()


def needs_browser() -> None:
    missing = browsers.available()
    if missing:
        pytest.skip(f"needs {missing}")


async def test_a_run_is_kept_shown_published_and_forgotten(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    needs_browser()
    data, out = tmp_path / "data", tmp_path / "out"
    events: list[TaskEvent] = []
    async with shop_service(data, Shop(faults=frozenset({"search-unnamed"}))) as service:
        answer = await service.scan(f"http://{HOST}", ScanOptions(tasks=True, act=True), live=events.append)
        started = next(event for event in events if event.state == "browser")
        assert ("without its sandbox" in started.note) == (os.geteuid() == 0)
        assert answer.card.pillars["works"] == 40
        assert answer.card.provisional is False
        assert answer.observations is not None
        report = answer.observations.tasks
        assert report is not None
        assert report.acted
        assert (await service.site(HOST)).card == answer.card
        assert (await service.transcript(HOST)) == report
        ended = len(events)
        again = await service.scan(f"http://{HOST}", ScanOptions(tasks=True), live=events.append)
        assert (again.source, again.card, len(events)) == ("cache", answer.card, ended)
        assert {"read", "search", "form", "offer"} <= set(await service.pictures(HOST))
    assert decode_report(msgspec.json.encode(report)) == report
    assert {event.state for event in events} == {"browser", "started", "step", "ended"}

    def command(*words: str) -> tuple[int, str, str]:
        code = run([*words, "--data-dir", str(data)])
        captured = capfdbinary.readouterr()
        return code, captured.out.decode(), captured.err.decode()

    code, text, _ = await asyncio.to_thread(command, "tasks", HOST)
    assert code == 0
    assert f"{HOST}: Works: 40 of 50 points measured" in text
    assert "To change: Add a <label> or an aria-label: an agent finds fields by name." in " ".join(text.split())
    code, text, _ = await asyncio.to_thread(command, "tasks", HOST, "--text")
    assert code == 0
    assert "Search: blocked, 0/10 points. " in text
    assert "Search, to change: Add a <label> or an aria-label" in text
    assert not set("✓✗~→") & set(text)
    _, text, _ = await asyncio.to_thread(command, "tasks", HOST, "--json")
    assert json.loads(text)["results"][2]["reason"] == "search-unnamed"
    _, _, said = await asyncio.to_thread(command, "tasks", HOST, "--write", str(out))
    assert "Wrote transcript.txt, transcript.json and 6 pictures" in said
    assert (out / "search.png").read_bytes().startswith(b"\x89PNG")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        shared, elsewhere = tmp_path / "shared", tmp_path / "elsewhere"
        shared.mkdir()
        shared.chmod(0o1777)
        (shared / "search.png").symlink_to(elsewhere)
        os.lchown(shared / "search.png", 65534, 65534)
        await asyncio.to_thread(command, "tasks", HOST, "--write", str(shared))
        assert not (shared / "search.png").is_symlink()  # replaced, never followed
        assert not elsewhere.exists()
    await asyncio.to_thread(command, "forget", HOST)
    code, _, said = await asyncio.to_thread(command, "tasks", HOST)
    assert code == 3
    assert not list((data / "pictures").iterdir())


async def test_a_crawl_tries_the_tasks_on_hosts_without_a_run(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    needs_browser()
    hosts = tmp_path / "hosts.csv"
    hosts.write_text(f"http://{HOST}\n")
    shop = Shop(faults=frozenset({"no-form"}))
    async with serving(shop) as port:
        words = ["crawl", str(hosts), "--tasks", "--connect-to", f"{HOST}:80:127.0.0.1:{port}"]
        words += ["--data-dir", str(tmp_path / "data")]
        assert await asyncio.to_thread(run, words) == 0
        told = capfdbinary.readouterr().err.decode()
        asked = len(shop.log)
        assert await asyncio.to_thread(run, words) == 0
    assert f"{HOST}: form: not offered" in told
    assert len(shop.log) == asked
    service = LocalService(tmp_path / "data")
    card = (await service.site(HOST)).card
    assert card.pillars["works"] == 45
    assert of_pillar(card, "works") == (45, 45)  # a form that is not offered is not measured
    assert {"read", "search"} <= set(await service.pictures(HOST))
    await service.aclose()


async def test_the_path_of_the_address_starts_the_tasks_there(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    needs_browser()
    shop = Shop()

    def scanned(path: str) -> tuple[int, str]:
        words = ["scan", f"http://{HOST}{path}", "--tasks", "--connect-to", f"{HOST}:80:127.0.0.1:{port}"]
        words += ["--connect-to", f"{HOST}:443:127.0.0.1:1", "--data-dir", str(tmp_path)]
        code = run(words)
        captured = capfdbinary.readouterr()
        return code, captured.err.decode()

    async with serving(shop) as port:
        code, said = await asyncio.to_thread(scanned, "/nowhere")
        assert code == 2
        sentence = f"/nowhere of {HOST} is no page: it answers with status 404. Tasks start on a page."
        assert sentence in " ".join(said.split())
        assert not [word for word in ("Traceback", "read: ") if word in said]
        code, said = await asyncio.to_thread(scanned, "/contact")
    assert code == 0, said
    service = LocalService(tmp_path)
    report = await service.transcript(HOST)
    await service.aclose()
    read = next(result for result in report.results if result.task == "read")
    assert read.outcome == "done"
    assert read.steps[0].verb == "opened"
    assert read.steps[0].url == f"http://{HOST}/contact"


async def test_acting_is_for_hosts_of_ones_own(tmp_path: Path) -> None:
    needs_browser()
    service = LocalService(tmp_path, access=ScanPolicy())
    with pytest.raises(BadValue, match="hosts of your own"):
        await service.scan("example.com", ScanOptions(tasks=True, act=True))
    await service.aclose()


async def test_without_a_browser_what_installs_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browsers, "find", lambda: None)
    monkeypatch.setattr(browsers, "_own_browsers", lambda: False)
    service = LocalService(tmp_path)
    with pytest.raises(NoBrowser) as caught:
        await service.scan("example.com", ScanOptions(tasks=True))
    await service.aclose()
    assert str(caught.value) == "Tasks need a browser; run: python -m playwright install chromium"
    both = str(NoBrowser("the extra “browser” and a browser"))
    assert "pip install -e '.[browser]' in a checkout" in both
    assert both.endswith("Then run: python -m playwright install chromium")
    assert caught.value.exit_code == 2


async def test_a_browser_that_does_not_start_leaves_the_card_of_the_probes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    needs_browser()
    broken = tmp_path / "chromium"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    monkeypatch.setattr(browsers, "find", lambda: broken)
    async with serving(Shop()) as port:
        words = ["scan", f"http://{HOST}", "--tasks", "--connect-to", f"{HOST}:80:127.0.0.1:{port}"]
        words += ["--connect-to", f"{HOST}:443:127.0.0.1:1", "--data-dir", str(tmp_path / "data")]
        code = await asyncio.to_thread(run, words)
    told = capfdbinary.readouterr()
    assert code == 0
    assert HOST in told.out.decode()
    said = " ".join(told.err.decode().split())
    assert "No tasks were run. The browser" in said
    assert not [
        word for word in ("Traceback", "playwright", "BrowserType", "launch") if word in said + told.out.decode()
    ]

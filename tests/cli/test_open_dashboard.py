"""What the dashboard exports: lists, marked hosts, cards and snippets, never over a file that is there."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from aui_tui.cli.open_dashboard import export, read_log
from aui_tui.cli.run import Run
from aui_tui.errors import AuiError, BadValue, ConfigError, NeverScanned
from aui_tui.model.query import Query
from aui_tui.service.local import LocalService
from aui_tui.tui.export import Exporter, ExportJob, Kind, hint
from tests.cli.runner import here
from tests.cli.stored import fill


@asynccontextmanager
async def exporter(home: Path) -> AsyncIterator[Exporter]:
    fill(home)
    run = Run.of({"data_dir": home / "data", "json_keys": "slots"})
    service = LocalService(home / "data")
    try:
        yield partial(export, run, service)
    finally:
        await service.aclose()


async def test_lists_marked_hosts_cards_and_snippets(tmp_path: Path) -> None:
    async with exporter(tmp_path) as write:
        job = ExportJob("list", str(tmp_path / "walled.json"), query=Query.of(stance="Walled"))
        assert await write(job) == f"Wrote 1 host to walled.json in {tmp_path}."
        rows = json.loads((tmp_path / "walled.json").read_bytes())
        assert [row["host"] for row in rows["ranked"]] == ["tickets.example"]
        assert rows["unreachable"] == []
        assert "matrix_key_1" in rows["ranked"][0]["matrix"]
        await write(ExportJob("list", str(tmp_path / "gone.csv"), unreachable=True))
        assert "gone.example" in (tmp_path / "gone.csv").read_text(encoding="utf-8")
        await write(ExportJob("list", str(tmp_path / "two.ndjson"), hosts=("shop.example", "gone.example")))
        lines = (tmp_path / "two.ndjson").read_text(encoding="utf-8").splitlines()
        assert [json.loads(line)["host"] for line in lines] == ["shop.example", "gone.example"]
        await write(ExportJob("card", str(tmp_path / "card.md"), host="shop.example"))
        assert "shop.example" in (tmp_path / "card.md").read_text(encoding="utf-8")
        await write(ExportJob("snippet", str(tmp_path / "llms.txt"), text="# Shop\n\n"))
        assert (tmp_path / "llms.txt").read_text(encoding="utf-8") == "# Shop\n"


@pytest.mark.parametrize(
    ("job", "kind", "words"),
    [
        (ExportJob("list", "list.pdf"), BadValue, r"\.json, \.ndjson, \.jsonl, \.csv"),
        (ExportJob("card", "card", host="shop.example"), BadValue, r"\.sarif"),
        (ExportJob("card", "card.json", host="none.example"), NeverScanned, "never been scanned"),
        (ExportJob("snippet", " "), ConfigError, "Name a file to write"),
        (ExportJob("snippet", "taken.txt", text="new"), BadValue, "already there"),
    ],
)
async def test_what_cannot_be_written_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, job: ExportJob, kind: type[AuiError], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken.txt").write_text("old", encoding="utf-8")
    async with exporter(tmp_path) as write:
        with pytest.raises(kind, match=words):
            await write(job)
    assert (tmp_path / "taken.txt").read_text(encoding="utf-8") == "old"


@pytest.mark.parametrize("kind", ["list", "card"])
async def test_every_ending_that_the_window_names_is_written(tmp_path: Path, kind: Kind) -> None:
    endings = re.findall(r"\.[a-z]+\b", hint(kind).partition(" enter ")[0])
    endings.remove(".svg")  # a picture of the screen, which the screen writes
    assert len(endings) > 4
    async with exporter(tmp_path) as write:
        for ending in endings:
            await write(ExportJob(kind, str(tmp_path / f"out{ending}"), host="tickets.example"))
            assert (tmp_path / f"out{ending}").stat().st_size


async def test_a_log_is_read_as_the_settings_of_logs_say(tmp_path: Path) -> None:
    fill(tmp_path)
    line = '{} - - [19/Nov/2026:04:54:30 +0000] "GET / HTTP/1.1" 200 512 "-" "Claude-User/1.0"\n'
    (tmp_path / "access.log").write_text(line.format("198.51.100.7") * 3)
    run = Run.of({"data_dir": tmp_path / "data", "log_kind": "edge"})
    async with aclosing(LocalService(tmp_path / "data")) as service:
        said = await read_log(run, service, "shop.example", str(tmp_path / "access.log"))
        kept = await service.visits("shop.example")
    assert said.startswith("Read 3 lines")
    assert kept is not None
    assert (kept.kind, kept.kind_reason) == ("edge", "as you said")


@pytest.mark.parametrize(("options", "keeps"), [((), False), (("--allow-private",), True)])
def test_settings_on_scans_of_this_machine_keep_nobody_from_another_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], keeps: bool
) -> None:
    given: list[object] = []

    def show(_run: Run, *, access: object, host: str) -> int:
        given.append(access)
        return 0

    monkeypatch.setattr("aui_tui.cli.open_dashboard.show", show)
    settings = {"AUI_TUI_VIA": "http://127.0.0.1:9", "AUI_TUI_PACE": "2"}
    assert here(tmp_path, "--source", "https://index.example", *options, env=settings).code == 0
    assert here(tmp_path, *options, env=settings).code == 0
    assert [access is not None for access in given] == [keeps, True]

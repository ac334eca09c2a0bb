"""``scan --declared``: shown as text and JSON, kept for ``site``, absent without the option."""

from __future__ import annotations

import asyncio
import json
import signal
from importlib.resources import files
from pathlib import Path

import jsonschema

from aui_tui import docs
from aui_tui.scan.declaration_rules import rows
from aui_tui.scan.declared import MAX_REQUESTS
from tests.cli.runner import Result, command, environment, here
from tests.faults.site import Asked, Site, good
from tests.faults.test_declared import PATH, REFUSAL, everything, serving, turning_away

SCHEMA = json.loads(files("aui_tui.model").joinpath("schemas/card.schema.json").read_text(encoding="utf-8"))
CARD = jsonschema.Draft202012Validator(SCHEMA)


ASK = {"AUI_TUI_DECLARED": "1"}


async def run(home: Path, *arguments: str, env: dict[str, str] | None = None) -> Result:
    return await asyncio.to_thread(lambda: here(home, *arguments, env=env))


async def test_a_site_that_declares_and_turns_an_agent_away(tmp_path: Path) -> None:
    async with Site(default=turning_away(serving(everything()), PATH, REFUSAL)) as site:
        url = f"http://127.0.0.1:{site.port}"
        plain = await run(tmp_path, "scan", url, "--allow-private", "--json")
        asked = len(site.asked)
        shown = await run(tmp_path, "scan", url, "--allow-private", "--details", "--cached", env=ASK)
        cached = len(site.asked) - asked
        again = await run(tmp_path, "scan", url, "--allow-private", "--json", "--cached", env=ASK)
        assert len(site.asked) == asked + cached, "a scan of the last 24 hours is used again"
        without = await run(tmp_path, "scan", url, "--allow-private", "--json", "--cached")
        kept = await run(tmp_path, "site", url, "--text")
        listed = await run(tmp_path, "export", "--cards", "-f", "csv")
    assert (plain.code, shown.code, again.code, without.code, kept.code) == (0, 0, 0, 0, 0)
    assert 0 < cached <= MAX_REQUESTS
    assert (
        "Declared for agents, not scored\n✗ A2A agent card: /.well-known/agent-card.json (Shop agent); declared,"
        in (shown.out)
    )
    assert "Declared for agents, not scored: API catalog: /.well-known/api-catalog" in kept.out
    first, second = json.loads(plain.out), json.loads(again.out)
    found = second.pop("declared")
    assert first == second == json.loads(without.out)
    assert {entry["key"]: entry.get("agent", "") for entry in found["entries"]}["a2a"] == "refused"
    CARD.validate(second | {"declared": found})
    assert "declared" not in listed.out.splitlines()[0]


async def test_a_site_that_is_not_reached_is_not_asked(tmp_path: Path) -> None:
    async with Site() as site:
        url = f"http://127.0.0.1:{site.port}"
    result = await run(tmp_path, "--quiet", "scan", url, "--allow-private", env=ASK)
    assert result.code == 3
    assert "was not asked what it declares" in result.err


async def test_ctrl_c_while_it_asks_keeps_the_scan(tmp_path: Path) -> None:
    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked.path == PATH:
            await asyncio.sleep(60)
        await good(asked, writer)

    async with Site(default=behave) as site:
        url = f"http://127.0.0.1:{site.port}"
        process = await asyncio.create_subprocess_exec(
            *command("scan", url, "--allow-private"),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=environment(tmp_path, ASK),
        )
        while not any(asked.path == PATH for asked in site.asked):
            await asyncio.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = await process.communicate()
    assert (process.returncode, out) == (130, b"")
    assert b"Traceback" not in err
    kept = await run(tmp_path, "site", url, "--json")
    assert kept.code == 0
    assert "declared" not in json.loads(kept.out)


def test_the_page_of_the_topic_has_every_row() -> None:
    text = docs.read("declared")
    for row in rows():
        assert f"## {row.name}\n" in text
        assert row.source in text
        assert all(f"`{place}`" in text for place in row.places)

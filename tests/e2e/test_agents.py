"""Coding agents: the tools over standard input and output with real clients, and the skill followed literally."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from aui_tui import docs
from tests.cards import RICH_OPEN, WALLED
from tests.cli.runner import Result, aui, command, environment, here, start
from tests.cli.stored import CARDS, SEEN, fill
from tests.loopback import files_of, listening

READING = {"index", "site", "plan", "diff", "tasks", "reads", "visits"}
INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"


@contextlib.asynccontextmanager
async def client(home: Path, *options: str) -> Any:
    """Yield the official client, connected to ``aui-tui mcp``."""
    from mcp.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    program, *words = command("mcp", *options)
    parameters = StdioServerParameters(command=program, args=words, env=environment(home), cwd=str(home))
    async with Client(stdio_client(parameters)) as connected:
        yield connected


@pytest.mark.slow
async def test_the_official_client_reads_and_cannot_scan(tmp_path: Path) -> None:
    await asyncio.to_thread(fill, tmp_path, CARDS, SEEN)
    planned = await asyncio.to_thread(aui, tmp_path, "plan", "seen.example", "--grade", "A", "--json")
    async with client(tmp_path) as tools:
        listed = {tool.name: tool for tool in (await tools.list_tools()).tools}
        assert set(listed) == READING
        assert all(tool.description and tool.annotations.read_only_hint for tool in listed.values())
        found = (await tools.call_tool("index", {"stance": "Walled"})).structured_content
        assert [row["host"] for row in found["ranked"]] == [WALLED.host]
        card = (await tools.call_tool("site", {"host": RICH_OPEN.host})).structured_content
        assert card["score"] == RICH_OPEN.score
        plan = (await tools.call_tool("plan", {"host": "seen.example", "grade": "A"})).structured_content
        assert plan == json.loads(planned.out)
        diff = (await tools.call_tool("diff", {"host": WALLED.host})).structured_content
        assert diff["after"]["score"] == WALLED.score
        first = (await tools.call_tool("diff", {"host": RICH_OPEN.host})).structured_content
        assert (first["same"], first["changes"], first["new"]) == (True, [], [])
        assert first["note"].endswith(f"scan it again (aui-tui scan {RICH_OPEN.host}), then ask for changes.")
        for name, arguments, words in (
            ("tasks", {"host": WALLED.host}, "No run of the tasks"),
            ("visits", {"host": WALLED.host}, "No access log"),
            ("reads", {"host": WALLED.host}, "No page of"),
            ("reads", {"host": WALLED.host, "reader": "smolagent"}, "did you mean smolagents?"),
            ("site", {"host": "unknown.example"}, "never been scanned"),
            ("plan", {"host": WALLED.host, "public_url": "file:///etc"}, "public_url"),
        ):
            refused = await tools.call_tool(name, arguments)
            assert refused.is_error
            assert words in refused.content[0].text


@pytest.mark.ci
async def test_allow_scan_offers_the_scan_and_says_why_one_fails(tmp_path: Path) -> None:
    public = tmp_path / "public"
    public.mkdir()
    (public / "index.html").write_text("<!DOCTYPE html><title>Shop</title><main><h1>Shop</h1><p>Words.</p></main>")
    with listening(files_of(public)) as server:
        async with client(tmp_path, "--allow-scan", "--allow-private") as tools:
            listed = {tool.name: tool for tool in (await tools.list_tools()).tools}
            assert set(listed) == {*READING, "scan"}
            assert listed["scan"].annotations.read_only_hint is False
            card = (await tools.call_tool("scan", {"url": f"http://localhost:{server.server_port}"})).structured_content
            assert card["host"].endswith(f"localhost:{server.server_port}")
            assert (await tools.call_tool("scan", {"url": "no host"})).is_error
        async with client(tmp_path, "--allow-scan") as tools:
            refused = await tools.call_tool("scan", {"url": f"localhost:{server.server_port}"})
            assert refused.is_error
            assert "--allow-private" in refused.content[0].text


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_it_ends_with_its_input_and_by_ctrl_c(tmp_path: Path) -> None:
    import signal

    ended = subprocess.run(command("mcp"), cwd=tmp_path, env=environment(tmp_path), input="", text=True, timeout=60,
                           capture_output=True, check=False)  # fmt: skip
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    with start(tmp_path, "mcp", stdin=subprocess.PIPE) as running:
        running.stdin.write(json.dumps(hello) + "\n")
        running.stdin.flush()
        assert json.loads(running.stdout.readline())["result"]["serverInfo"]["name"] == "aui-tui"
        running.send_signal(signal.SIGINT)
        assert running.wait(60) == 130
        assert running.stderr.read() == ""


def test_a_setting_on_how_to_reach_sites_is_no_option_that_a_scan_needs(tmp_path: Path) -> None:
    done = aui(tmp_path, "mcp", env={"AUI_TUI_PACE": "1"})
    assert (done.code, done.out, done.err) == (0, "", "")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("npx") is None, reason="needs npx (Debian: apt-get install npm)")
def test_the_inspector_lists_and_calls_the_tools(tmp_path: Path) -> None:
    fill(tmp_path)
    env = environment(tmp_path, {"npm_config_cache": str(Path.home() / ".npm"), "npm_config_yes": "true"})

    def inspect(*words: str) -> Any:
        given = [word for name in ("PYTHONPATH", "AUI_TUI_HOME") for word in ("-e", f"{name}={env[name]}")]
        line = ["npx", "--yes", INSPECTOR, "--cli", *given, *command("mcp"), *words]
        done = subprocess.run(line, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=170, check=False)
        if done.returncode and "npm error" in done.stderr:
            pytest.skip("the Inspector cannot be installed from npm here")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    assert {tool["name"] for tool in inspect("--method", "tools/list")["tools"]} == READING
    words = ("--method", "tools/call", "--tool-name", "site", "--tool-arg", f"host={WALLED.host}")
    assert inspect(*words)["structuredContent"]["stance"] == "Walled"


BARE = """<!DOCTYPE html>
<html lang="en"><head><title>Oak and Thread</title></head>
<body class="shop"><p>%s</p></body></html>
"""


class Agent:
    """Follows the skill to the letter: its commands as written, and for each file what its table says."""

    def __init__(self, home: Path, root: Path, site: str) -> None:
        self.home, self.root, self.site = home, root, site
        text = docs.read("skill")
        self.lines = [line.strip() for line in text.splitlines() if line.startswith("    aui-tui")]
        self.rules = dict(re.findall(r"^\| `([a-z-]+)` \| (.+?) \|$", text, flags=re.MULTILINE))
        self.shown: list[str] = []

    def run(self, line: str) -> Result:
        """Run a command of the skill; its data goes to the file that it names."""
        program, _, target = line.replace("SITE", self.site).partition(" > ")
        done = here(self.home, *shlex.split(program)[1:])
        if target:
            (self.home / target).write_text(done.out)
        return done

    def read(self, name: str) -> Any:
        return json.loads((self.home / name).read_text())

    def apply(self, file: dict[str, Any]) -> None:
        """Do with a file of the plan what the skill says."""
        assert file["action"] in self.rules
        path = self.root / (file["target"].lstrip("/") or "index.html")
        if file["action"] == "write":
            path.parent.mkdir(exist_ok=True)
            path.write_text(file["content"])
        elif file["action"] == "insert":
            tag = file["anchor"].rstrip(">") + r"[^>]*>"
            page = path.read_text()
            found = re.search(tag, page)
            assert found
            place = found.start() if file["position"] == "before" else found.end()
            path.write_text(page[:place] + file["content"] + page[place:])
        else:
            self.shown.append(file["place"])


@pytest.mark.ci
def test_an_agent_that_follows_the_skill_reaches_the_promised_score(tmp_path: Path) -> None:
    root = tmp_path / "public"
    root.mkdir()
    (root / "index.html").write_text(BARE % ("Furniture and linen, made to order behind the shop. " * 12))
    (root / "robots.txt").write_text("User-agent: *\nDisallow:\n\nUser-agent: Claude-User\nDisallow: /\n")
    with listening(files_of(root)) as server:
        agent = Agent(tmp_path, root, f"http://localhost:{server.server_port}")
        scan, plan, again, diff = agent.lines
        assert agent.run(scan).code == 0
        assert agent.run(plan).code in (0, 1)
        planned = agent.read("plan.json")
        assert planned["score_after"] > agent.read("before.json")["score"]
        for file in planned["files"]:
            agent.apply(file)
        done = agent.run(again)
        assert done.code == 0, done.err
        after = agent.read("after.json")
        assert (after["score"], after["grade"], after["stance"]) == tuple(
            planned[f"{name}_after"] for name in ("score", "grade", "stance")
        )
        assert (after["score"], [fix["k"] for fix in after["recommendations"]]) == (80, ["front-door"])
        changed = agent.run(diff)
        assert changed.code == 0
        assert "Claude" in changed.out
        assert planned["scan_again"] == f"aui-tui scan {agent.site} --force"
    for step in planned["steps"]:
        assert step["check"]
        assert set(step["files"]) <= {file["path"] for file in planned["files"]}
    assert not {file["path"] for file in planned["files"]} - {p for step in planned["steps"] for p in step["files"]}


def test_the_skill_has_what_agents_look_for_and_names_what_exists() -> None:
    text = docs.read("skill")
    front = text.partition("---\n")[2].partition("\n---\n")[0]
    fields = dict(line.split(": ", 1) for line in front.splitlines())
    assert fields["name"] == "aui-tui"
    assert 50 < len(fields["description"]) <= 1024
    assert set(re.findall(r"^\| `([a-z-]+)` \|", text, flags=re.MULTILINE)) == {
        "write",
        "insert",
        "configure",
        "by-hand",
    }

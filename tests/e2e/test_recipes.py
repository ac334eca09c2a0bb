"""The recipes for CI in the documentation are valid and do what they say, run as they are written."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from ruamel.yaml import YAML

from aui_tui import docs
from tests.e2e.workshop import OPEN, PYTHON, SHUT, check_schema, shop, tool, with_tools
from tests.loopback import free_port
from tests.service.waiting import eventually

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="the recipes are for a POSIX shell")]

SECTION = docs.read("ci")
GITHUB, GITLAB, PRE_COMMIT = (block.partition("```")[0] for block in SECTION.split("```yaml\n")[1:4])


class Runner:
    """A CI server's machine: a checkout with a built site in ``public``, and ``aui-tui`` on the path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        tool(folder, "python", PYTHON)
        self.env = with_tools(folder)
        self.env["GITHUB_STEP_SUMMARY"] = str(folder / "summary.md")
        shop(folder)

    def robots(self, text: str) -> None:
        (self.folder / "public" / "robots.txt").write_text(text)

    def run(self, *lines: str) -> subprocess.CompletedProcess[str]:
        """Run ``lines`` in one shell that stops at the first failure, and end what it left running."""
        script = "\n".join(lines).replace("8000", str(self.port))
        words = (self.folder / "out").open("w+"), (self.folder / "err").open("w+")
        with words[0] as out, words[1] as err:
            shell = subprocess.Popen(
                ["bash", "-e", "-o", "pipefail", "-c", script],
                cwd=self.folder,
                env=self.env,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
            try:
                code = shell.wait(timeout=120)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(shell.pid, signal.SIGTERM)
                eventually(self.is_quiet)
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(script, code, out.read(), err.read())

    def is_quiet(self) -> bool:
        """Whether nothing listens any more on the port of the site."""
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) != 0


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(tmp_path)


def parsed(text: str) -> Any:
    return YAML(typ="safe").load(text)


READY_MADE = SECTION.split("```yaml\n")[4].partition("```")[0]


@pytest.mark.parametrize(
    ("text", "schema"),
    [(GITHUB, "github-workflows"), (READY_MADE, "github-workflows"), (GITLAB, "gitlab-ci")],
)
def test_a_recipe_follows_the_schema_of_its_server(text: str, schema: str, tmp_path: Path) -> None:
    check_schema(schema, text, tmp_path)


@pytest.mark.parametrize(("robots", "code"), [(OPEN, 0), (SHUT, 1)])
def test_the_github_job_fails_where_an_agent_is_kept_out(runner: Runner, robots: str, code: int) -> None:
    runner.robots(robots)
    install, scan, summary = (step for step in parsed(GITHUB)["jobs"]["agents"]["steps"] if "run" in step)
    assert "pip install" in install["run"]
    done = runner.run(scan["run"])
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    (run,) = json.loads((runner.folder / "agents.sarif").read_text())["runs"]
    assert run["properties"]["stance"] == ("Open" if code == 0 else "Walled")
    assert runner.run(summary["run"]).returncode == 0
    assert (runner.folder / "summary.md").read_text().startswith("# localhost:")


@pytest.mark.parametrize(("robots", "code"), [(OPEN, 0), (SHUT, 1)])
def test_the_gitlab_job_fails_where_an_agent_is_kept_out(runner: Runner, robots: str, code: int) -> None:
    runner.robots(robots)
    job = parsed(GITLAB)["agents"]
    done = runner.run(*job["script"])
    assert done.returncode == code, done.stderr
    (suite,) = ElementTree.parse(runner.folder / job["artifacts"]["reports"]["junit"]).getroot()
    gates = {
        case.get("name"): len(case) for case in suite.findall("testcase") if "gates" in (case.get("classname") or "")
    }
    assert gates == ({"all": 0} if code == 0 else {"fail-grade": 1})


def test_the_same_machine_twice_and_then_a_worse_site(runner: Runner) -> None:
    """A second run neither passes by an old answer nor fails by the limit."""
    scan = next(step["run"] for step in parsed(GITHUB)["jobs"]["agents"]["steps"] if "scan" in step.get("run", ""))
    assert scan.splitlines()[-1].split(" -o ")[0] in parsed(GITLAB)["agents"]["script"][-1]
    for _ in range(2):
        done = runner.run(scan)
        assert done.returncode == 0, done.stderr
    runner.robots(SHUT)
    assert runner.run(scan).returncode == 1


def test_hold_a_line(runner: Runner) -> None:
    """The lines of the section on gates, on a machine that knows nothing, twice, and then on a worse site."""
    text = SECTION.partition("\n## ")[0]
    server = f"python -m http.server 8000 --directory public & {GITLAB_WAIT}"
    lines = [line.strip() for line in text.splitlines() if line.startswith("    aui-tui scan ")]
    mine = [line.replace("https://shop.example", "http://localhost:8000") for line in lines]
    assert len(mine) == 2
    for _ in range(2):
        done = runner.run(server, *mine)
        assert done.returncode == 0, done.stderr
    runner.robots("User-agent: Claude-User\nDisallow: /\n")
    done = runner.run(server, mine[1])
    assert done.returncode == 1
    assert "Claude: went from in to told no." in done.stderr


@pytest.mark.parametrize(("first", "code"), [("", 3), ("AUI_TUI_FIRST_RUN=pass ", 0)])
def test_no_regress_on_an_empty_machine(runner: Runner, first: str, code: int) -> None:
    server = f"python -m http.server 8000 --directory public & {GITLAB_WAIT}"
    scan = f"{first}aui-tui scan http://localhost:8000 --no-regress last"
    assert runner.run(server, scan).returncode == code
    assert runner.run(server, scan).returncode == 0


def test_the_pre_commit_hook_fails_once_an_agent_is_kept_out(runner: Runner) -> None:
    ((hook,),) = (entry["hooks"] for entry in parsed(PRE_COMMIT)["repos"])
    made = SECTION.partition("written once by `")[2].partition("`")[0]
    server = f"python -m http.server 8000 --directory public & {GITLAB_WAIT}"
    assert runner.run(server, made).returncode == 0
    assert runner.run(server, hook["entry"]).returncode == 0
    runner.robots("User-agent: Claude-User\nDisallow: /\n")
    done = runner.run(server, hook["entry"])
    assert done.returncode == 1
    assert "Claude: went from in to told no." in done.stderr


GITLAB_WAIT = next(line for line in parsed(GITLAB)["agents"]["script"] if line.startswith("curl"))

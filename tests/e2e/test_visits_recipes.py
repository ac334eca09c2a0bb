"""The recipes on visits in the documentation are valid and do what they say, run as they are written."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from aui_tui import docs
from tests.e2e.workshop import with_tools

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the recipes are for a POSIX shell")

SECTION = docs.read("visits")
GITHUB = SECTION.partition("```yaml\n")[2].partition("```")[0]
CRON = SECTION.partition("```crontab\n")[2].partition("```")[0].strip()
LINE = '198.51.100.7 - - [19/Nov/2026:04:54:30 +0000] "GET / HTTP/1.1" {} 512 "-" "{}/1.0"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    return tmp_path


def run(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    env = with_tools(folder) | {"GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
    done = subprocess.run(["sh", "-ec", command], cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    return done


def log(path: Path, refused: int, *agents: str) -> None:
    path.write_text(
        "".join(LINE.format(200, agent) * (100 - refused) + LINE.format(403, agent) * refused for agent in agents)
    )


@pytest.mark.ci
def test_the_github_job_fails_on_refusals_and_never_passes_on_doubt(folder: Path) -> None:
    job = YAML(typ="safe").load(GITHUB)["jobs"]["visits"]
    command = job["steps"][-1]["run"]
    log(folder / "logs" / "edge.log", 1, "Claude-User", "ChatGPT-User")
    done = run(folder, command)
    assert done.returncode == 0, done.stderr
    assert "| Claude | 100 |" in (folder / "summary.md").read_text()
    log(folder / "logs" / "edge.log", 5, "Claude-User", "ChatGPT-User")
    assert run(folder, command).returncode == 1
    log(folder / "logs" / "edge.log", 0, "Claude-User")
    done = run(folder, command)
    assert done.returncode == 3
    assert "chatgpt: no visits in the log" in done.stderr


@pytest.mark.ci
def test_the_cron_line_is_silent_until_the_gate_fails(folder: Path) -> None:
    fields, command = CRON.split(None, 5)[:5], CRON.split(None, 5)[5]
    assert fields == ["15", "6", "*", "*", "*"]
    path = folder / "access.log.1"
    command = command.replace("/var/log/nginx/access.log.1", shlex.quote(str(path)))
    log(path, 0, "Claude-User")
    done = run(folder, command)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    log(path, 50, "Claude-User")
    done = run(folder, command)
    assert done.returncode == 1
    assert (
        "gate fail-refused failed: shop.example: claude: 50 of 100 requests under its name were refused" in done.stderr
    )

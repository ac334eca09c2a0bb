"""What pipelines use: the GitHub Action, the pre-commit hooks, the GitLab component, the release workflow, the wheel.

The steps are taken from the files and run by bash in an environment that has nothing but the wheel.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.etree import ElementTree

import pytest
from ruamel.yaml import YAML

import aui_tui
from aui_tui import docs
from tests.cli.runner import ROOT, environment, here
from tests.e2e.workshop import OPEN, SHUT, check_schema, shop, sources, tool, wheel_of, with_tools
from tests.loopback import files_of, listening

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the steps are for a POSIX shell")

FORGE = ROOT / ".github"
ACTION = YAML(typ="safe").load(FORGE / "actions" / "aui-tui" / "action.yml")
RELEASE = YAML(typ="safe").load(FORGE / "workflows" / "release.yml")
PLACE = re.compile(r"\$\{\{ *(.+?) *\}\}")


def checkout(folder: Path) -> Path:
    """Return a copy of the sources in ``folder``, committed as a repository of its own."""
    sources(folder)
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "sources")
    return folder


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=Test", "-c", "user.email=test@example.com")
    done = subprocess.run(["git", *who, *words], cwd=folder, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.strip()


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``wheel/*.whl`` and ``venv``: an environment that has pip and nothing else."""
    folder = tmp_path_factory.mktemp("clean")
    wheel_of(checkout(folder / "source"), folder / "wheel")
    subprocess.run(
        [sys.executable, "-m", "uv", "venv", "--quiet", "--seed", "--python", sys.executable, str(folder / "venv")],
        check=True,
    )
    return folder


class Job:
    """A job on a forge's machine that uses the action: its steps run in order, as the forge runs them."""

    def __init__(self, clean: Path, home: Path, inputs: Mapping[str, str]) -> None:
        self.home, self.temp = home, home / "temp"
        self.temp.mkdir(exist_ok=True)
        self.inputs = {name: str(one.get("default", "")) for name, one in ACTION["inputs"].items()} | dict(inputs)
        self.env = {
            "PATH": f"{home / 'tools'}:{clean / 'venv' / 'bin'}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(home),
            "AUI_TUI_HOME": str(home / "data"),
            "RUNNER_TEMP": str(self.temp),
            "GITHUB_OUTPUT": str(home / "output"),
            "GITHUB_STEP_SUMMARY": str(home / "summary.md"),
            **{name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_", "SSL_"))},
        }
        self.contexts = {
            "github.action_path": str(FORGE / "actions" / "aui-tui"),
            "github.token": "t",
            "github.repository": "a/b",
            "github.workflow": "ci",
            "github.event.repository.default_branch": "main",
            "runner.temp": str(self.temp),
        }
        self.error = ""

    @property
    def outputs(self) -> dict[str, str]:
        """What the step ``scan`` gave."""
        path = self.home / "output"
        lines = path.read_text().splitlines() if path.exists() else []
        return dict(line.split("=", 1) for line in lines)

    def value(self, name: str) -> str:
        """Return what an expression stands for."""
        kind, _, key = name.partition(".")
        if kind == "inputs":
            return self.inputs[key]
        if kind == "steps":
            return self.outputs.get(key.removeprefix("scan.outputs."), "")
        return self.contexts[name]

    def holds(self, condition: str) -> bool:
        """Whether a condition of the kinds that the action uses holds."""
        for part in condition.split("&&"):
            if part.strip() == "always()":
                continue
            found = re.fullmatch(r"\s*([\w.-]+) (==|!=) '(.*)'\s*", part)
            assert found, part
            if (self.value(found[1]) == found[3]) != (found[2] == "=="):
                return False
        return True

    def run(self) -> int:
        """Run every step that has a line for the shell; return the job's exit code."""
        code = 0
        for step in ACTION["runs"]["steps"]:
            condition = str(step.get("if", ""))
            if "run" not in step or not self.holds(condition or "always()") or (code and "always()" not in condition):
                continue
            words = {name: PLACE.sub(lambda m: self.value(m[1]), text) for name, text in step["env"].items()}
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
                cwd=self.home, env={**self.env, **words}, capture_output=True, text=True, timeout=170, check=False,
            )  # fmt: skip
            self.error += done.stderr
            code = code or done.returncode
        return code


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A built site and its address."""
    public = shop(tmp_path)
    with listening(files_of(public)) as server:
        yield public, f"http://localhost:{server.server_port}"


@pytest.mark.ci
def test_what_pipelines_run_is_named_exactly() -> None:
    """Of others' code a commit or a version, never a name that its owner can move."""
    for file in [*FORGE.glob("**/*.yml")]:
        text = file.read_text()
        for used in re.findall(r"uses: (\S+)", text):
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", used), f"{file.name}: {used}"
        for words in re.findall(r"pip install ((?:--quiet )?[a-z].*)", text):
            assert all("==" in word for word in words.removeprefix("--quiet ").split()), f"{file.name}: {words}"
    (backend,) = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    assert "==" in backend


@pytest.mark.ci
def test_the_action_follows_its_schema_and_puts_nothing_into_a_shell_line(tmp_path: Path) -> None:
    check_schema("github-actions", (FORGE / "actions" / "aui-tui" / "action.yml").read_text(), tmp_path)
    for step in (*ACTION["runs"]["steps"], *(s for job in RELEASE["jobs"].values() for s in job["steps"])):
        assert "${{" not in step.get("run", "")
    given = YAML(typ="safe").load(docs.read("ci").split("```yaml\n")[4].partition("```")[0])
    assert set(given["jobs"]["agents"]["steps"][-1]["with"]) <= set(ACTION["inputs"])
    used = set(re.findall(r"inputs\.([\w-]+)", (FORGE / "actions" / "aui-tui" / "action.yml").read_text()))
    assert used == set(ACTION["inputs"])


@pytest.mark.slow
def test_the_action_in_a_clean_environment(clean: Path, tmp_path: Path, site: tuple[Path, str]) -> None:
    public, url = site
    (wheel,) = (clean / "wheel").glob("*.whl")
    given = {"install": str(wheel), "url": url, "fail-grade": "C", "must-serve": "claude,chatgpt", "sarif": "true"}
    job = Job(clean, tmp_path, given)
    assert job.run() == 0, job.error
    assert (job.outputs["grade"], job.outputs["stance"], job.outputs["exit-code"]) == ("C", "Open", "0")
    assert (tmp_path / "summary.md").read_text().startswith("# ")
    (found,) = json.loads((job.temp / "aui-tui.sarif").read_text())["runs"]
    assert found["properties"]["stance"] == "Open"
    good = Path(job.outputs["card"]).read_text()

    (tmp_path / "agents.json").write_text(good)
    (public / "robots.txt").write_text("User-agent: Claude-User\nDisallow: /\n")
    worse = Job(clean, tmp_path, {**given, "must-serve": "", "fail-grade": "", "baseline": "agents.json"})
    assert worse.run() == 1
    assert "Claude: went from in to told no." in worse.error

    # the forge's own client stands for a forge here: it hands over the artifact of the run it names
    shutil.copy(tmp_path / "agents.json", tmp_path / "aui-tui-card.json")
    tool(
        tmp_path,
        "gh",
        f"""case "$1 $2" in
  "run list") case "$*" in *"--branch main --event push "*) echo 42 ;; esac ;;  # a fork's branch may be called main too
  "run download") [ "$3" = 42 ] && mkdir -p "${{9}}" && cp {tmp_path}/aui-tui-card.json "${{9}}/" ;;
esac
""",
    )
    kept = Job(clean, tmp_path, {**given, "must-serve": "", "fail-grade": "", "baseline": "artifact"})
    assert kept.run() == 1, kept.error
    shutil.rmtree(kept.temp)
    tool(tmp_path, "gh", "")
    first = Job(clean, tmp_path, {**given, "must-serve": "", "fail-grade": "", "baseline": "artifact"})
    assert first.run() == 0, first.error

    hostile = Job(clean, tmp_path, {**given, "url": '"; touch pwned; $(touch pwned) `touch pwned` --help'})
    assert hostile.run() == 2
    assert not (tmp_path / "pwned").exists()


@pytest.mark.slow
def test_the_hooks_by_pre_commit(tmp_path: Path, site: tuple[Path, str]) -> None:
    """``pre-commit`` installs the hooks from a clone and runs them."""
    public, url = site
    hooks, mine = checkout(tmp_path / "hooks"), tmp_path / "mine"
    mine.mkdir()
    git(mine, "init", "--quiet")
    (mine / ".pre-commit-config.yaml").write_text(
        f"""repos:
- repo: {hooks}
  rev: {git(hooks, "rev-parse", "HEAD")}
  hooks:
  - id: aui-tui
    args: [--fail-grade, C, {url}]
  - id: aui-tui-cards
"""
    )
    (mine / "agents.json").write_text("{}")
    git(mine, "add", "--all")
    env = environment(tmp_path, {"PRE_COMMIT_HOME": str(tmp_path / "cache")})
    env.pop("PYTHONPATH")

    def run(hook: str) -> subprocess.CompletedProcess[str]:
        words = ("-m", "pre_commit", "run", hook, "--all-files", "--hook-stage", "pre-push", "--verbose")
        return subprocess.run(
            [sys.executable, *words], cwd=mine, env=env, capture_output=True, text=True, timeout=175, check=False
        )

    done = run("aui-tui")
    assert done.returncode == 0, done.stdout
    (public / "robots.txt").write_text(SHUT)
    done = run("aui-tui")
    assert done.returncode == 1
    assert "gate fail-grade failed" in done.stdout
    done = run("aui-tui-cards")
    assert done.returncode == 1
    assert "agents.json" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("robots", "code"), [(OPEN, 0), (SHUT, 1)])
def test_the_gitlab_component(tmp_path: Path, site: tuple[Path, str], robots: str, code: int) -> None:
    public, url = site
    (public / "robots.txt").write_text(robots)
    text = (FORGE / "gitlab" / "aui-tui.yml").read_text()
    head, job = (part for part in text.split("\n---\n"))
    inputs = YAML(typ="safe").load(head)["spec"]["inputs"]
    assert "$[[" not in head
    values = {name: str((one or {}).get("default", "")) for name, one in inputs.items()} | {"url": url}
    filled = re.sub(r"\$\[\[ inputs\.([\w-]+) \]\]", lambda m: json.dumps(values[m[1]]), job)
    check_schema("gitlab-ci", filled, tmp_path)
    made = YAML(typ="safe").load(filled)["aui-tui"]
    env = with_tools(tmp_path) | made["variables"]
    script = "\n".join(made["script"])
    assert "[[" not in script
    done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", script], cwd=tmp_path, env=env, capture_output=True,
                          text=True, timeout=170, check=False)  # fmt: skip
    assert done.returncode == code, done.stderr
    (suite,) = ElementTree.parse(tmp_path / made["artifacts"]["reports"]["junit"]).getroot()
    assert suite.get("name")


@pytest.mark.ci
def test_the_release_publishes_only_what_the_tag_says(tmp_path: Path) -> None:
    check_schema("github-workflows", (FORGE / "workflows" / "release.yml").read_text(), tmp_path)
    assert RELEASE["jobs"]["publish"]["permissions"] == {"id-token": "write"}
    check = next(step for step in RELEASE["jobs"]["build"]["steps"] if "tag" in step.get("name", ""))
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "python").symlink_to(sys.executable)

    def run(tag: str, folder: Path) -> int:
        env = {"PATH": f"{tmp_path / 'tools'}:/usr/bin:/bin", "TAG": tag}
        return subprocess.run(["bash", "-e", "-c", check["run"]], cwd=folder, env=env, timeout=60).returncode

    assert run(f"v{aui_tui.__version__}", ROOT) == 0
    assert run("v99.0", ROOT) == 1
    (tmp_path / "aui_tui").mkdir()
    (tmp_path / "aui_tui" / "__init__.py").write_text('__version__ = "99.0"\n')
    shutil.copy(ROOT / "CHANGELOG.md", tmp_path)
    assert run("v99.0", tmp_path) == 1


def test_the_version_stands_in_one_place() -> None:
    number = re.compile(rf"(?<![\d.]){re.escape(aui_tui.__version__)}(?![\d.])")
    places = [
        path.relative_to(ROOT).as_posix()
        for path in (*ROOT.glob("aui_tui/**/*.py"), ROOT / "pyproject.toml", *FORGE.rglob("*.yml"))
        if number.search(path.read_text(encoding="utf-8"))
    ]
    assert places == ["aui_tui/__init__.py"]


def test_the_container_copies_what_is_there_and_installs_extras_that_exist() -> None:
    text = (FORGE / "container" / "Dockerfile").read_text()
    copied = [word for line in re.findall(r"^COPY (?!--)(.+)$", text, re.MULTILINE) for word in line.split()[:-1]]
    assert copied
    assert all((ROOT / word).exists() for word in copied)
    extras = re.search(r"'\.\[([\w,]+)\]'", text)
    assert extras
    declared = (ROOT / "pyproject.toml").read_text()
    assert all(f"\n{extra} = [" in declared for extra in extras[1].split(","))
    assert re.search(r"^USER (?!root)", text, re.MULTILINE)


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("docker") is None
    or subprocess.run(["docker", "info"], capture_output=True, timeout=30, check=False).returncode != 0,
    reason="needs a running Docker daemon",
)
def test_the_container_runs(tmp_path: Path) -> None:
    build = ("docker", "build", "--quiet", "--file", str(FORGE / "container" / "Dockerfile"), "--tag", "aui-tui-test")
    subprocess.run([*build, str(ROOT)], check=True, timeout=170)
    done = subprocess.run(
        ["docker", "run", "--rm", "aui-tui-test", "--version"], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split()[-1] == aui_tui.__version__


SHARE = ROOT / "aui_tui" / "docs" / "share"


@pytest.mark.parametrize(
    ("shell", "name"),
    [
        ("bash", "bash-completion/completions/aui-tui"),
        ("zsh", "zsh/site-functions/_aui-tui"),
        ("fish", "fish/vendor_completions.d/aui-tui.fish"),
    ],
)
def test_the_packaged_completions_are_what_the_program_writes(tmp_path: Path, shell: str, name: str) -> None:
    script = here(tmp_path, env={"_AUI_TUI_COMPLETE": f"source_{shell}"}).out
    assert (SHARE / name).read_text(encoding="utf-8").strip() == script.strip()


@pytest.mark.slow
def test_the_wheel_installs_the_completions(clean: Path, tmp_path: Path) -> None:
    (wheel,) = (clean / "wheel").glob("*.whl")
    words = ["-m", "pip", "install", "--quiet", "--no-deps", "--ignore-installed", "--prefix"]
    subprocess.run([clean / "venv" / "bin" / "python", *words, str(tmp_path), str(wheel)], check=True, timeout=60)
    for path in SHARE.rglob("*"):
        assert (tmp_path / "share" / path.relative_to(SHARE)).exists()
    bash = f"source {tmp_path}/share/bash-completion/completions/aui-tui; complete -p aui-tui"
    done = subprocess.run(["bash", "-c", bash], capture_output=True, text=True, timeout=60, check=True)
    assert "_aui_tui_completion" in done.stdout

"""The wheel as its users get it: small, the same from the same source, and run without an installation."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import aui_tui
from tests.cli.runner import ROOT
from tests.e2e.workshop import sources, wheel_of

pytestmark = pytest.mark.slow


def run(*module: str, cwd: Path | None = None) -> str:
    done = subprocess.run([sys.executable, "-m", *module], capture_output=True, text=True, timeout=170, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    return wheel_of(sources(folder / "source"), folder)


def test_the_wheel_is_small_and_whole(wheel: Path) -> None:
    assert wheel.stat().st_size < 1_000_000
    names = set(zipfile.ZipFile(wheel).namelist())
    packaged = {path.relative_to(ROOT).as_posix() for path in (ROOT / "aui_tui").rglob("*") if path.is_file()}
    assert {name for name in packaged if "__pycache__" not in name} <= names
    assert {f"aui_tui/themes/{path.name}" for path in (ROOT / "themes").glob("*.toml")} <= names


def test_the_same_source_gives_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    again = wheel_of(sources(tmp_path / "source"), tmp_path)
    assert hashlib.sha256(again.read_bytes()).digest() == hashlib.sha256(wheel.read_bytes()).digest()


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs the repository")
def test_the_source_distribution_is_the_repository_so_that_its_tests_pass(tmp_path: Path) -> None:
    subprocess.run(["git", "clone", "--quiet", "--depth=1", ROOT.as_uri(), str(tmp_path / "clone")], check=True)
    run("uv", "build", "--quiet", "--sdist", "--out-dir", str(tmp_path), str(tmp_path / "clone"))
    (file,) = tmp_path.glob("*.tar.gz")
    kept = subprocess.run(["git", "ls-files", "-z"], cwd=tmp_path / "clone", capture_output=True, text=True, check=True)
    with tarfile.open(file) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert names - {"PKG-INFO"} == {name for name in kept.stdout.split("\0") if name}


@pytest.mark.parametrize("runner", ["uvx", "pipx"])
def test_it_runs_without_being_installed(wheel: Path, tmp_path: Path, runner: str) -> None:
    command = {
        "uvx": ("uv", "tool", "run", "--quiet", "--python", sys.executable, "--from", str(wheel)),
        "pipx": ("pipx", "run", "--quiet", "--python", sys.executable, "--spec", str(wheel)),
    }[runner]
    assert run(*command, "aui-tui", "--version", cwd=tmp_path).split()[-1] == aui_tui.__version__
    assert "oneOf" in json.loads(run(*command, "aui-tui", "schema", "card", cwd=tmp_path))

"""What recipes and documented lines are tried with: a small shop to serve, and a folder of programs on the path."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from tests.cli.runner import ROOT, environment

PAGE = """<!DOCTYPE html><html lang="en"><head><title>Shop</title>
<script type="application/ld+json">{"@context": "https://schema.org", "@type": "OnlineStore"}</script></head>
<body><nav aria-label="Main"><a href="/">Home</a></nav><main><h1>Shop</h1><p>%s</p></main></body></html>"""
OPEN = "User-agent: *\nContent-Signal: search=yes, ai-input=yes, ai-train=no\nDisallow:\n"
SHUT = "User-agent: *\nDisallow: /\n"
PYTHON = f'exec {shlex.quote(sys.executable)} "$@"\n'
PROGRAM = f'exec {shlex.quote(sys.executable)} -m aui_tui "$@"\n'


SOURCES = ("aui_tui", "themes", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", ".pre-commit-hooks.yaml")


def sources(folder: Path) -> Path:
    """Copy what the package is built from to ``folder``, and return that."""
    folder.mkdir(parents=True)
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(ROOT / name, folder)
    return folder


def wheel_of(source: Path, folder: Path) -> Path:
    """Build the wheel of ``source`` into ``folder``, and return it."""
    words = ("-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(source))
    subprocess.run([sys.executable, *words], check=True, timeout=170)
    (wheel,) = folder.glob("*.whl")
    return wheel


def check_schema(name: str, text: str, folder: Path) -> None:
    """Fail unless the YAML ``text`` follows the published schema of its forge."""
    (folder / "file.yml").write_text(text)
    words = ("-m", "check_jsonschema", "--builtin-schema", f"vendor.{name}", str(folder / "file.yml"))
    subprocess.run([sys.executable, *words], check=True, timeout=60, capture_output=True)


def shop(folder: Path) -> Path:
    """Build a shop that every agent may use in ``folder/public``, and return that folder."""
    public = folder / "public"
    public.mkdir()
    (public / "index.html").write_text(PAGE % ("A page that reads without scripts. " * 20))
    (public / "robots.txt").write_text(OPEN)
    return public


def tool(folder: Path, name: str, script: str) -> None:
    """Put the shell ``script`` as program ``name`` into ``folder/tools``."""
    path = folder / "tools" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}")
    path.chmod(0o755)


def with_tools(folder: Path) -> dict[str, str]:
    """Return the environment of a shell that finds the programs of ``folder/tools``, ``aui-tui`` among them."""
    if not (folder / "tools" / "aui-tui").exists():
        tool(folder, "aui-tui", PROGRAM)
    return environment(folder, {"PATH": f"{folder / 'tools'}:{os.environ['PATH']}"})

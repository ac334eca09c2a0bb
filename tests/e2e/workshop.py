"""What recipes and documented lines are tried with: a small shop to serve, and a folder of programs on the path."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from tests.cli.runner import environment

PAGE = """<!DOCTYPE html><html lang="en"><head><title>Shop</title>
<script type="application/ld+json">{"@context": "https://schema.org", "@type": "OnlineStore"}</script></head>
<body><nav aria-label="Main"><a href="/">Home</a></nav><main><h1>Shop</h1><p>%s</p></main></body></html>"""
OPEN = "User-agent: *\nContent-Signal: search=yes, ai-input=yes, ai-train=no\nDisallow:\n"
SHUT = "User-agent: *\nDisallow: /\n"
PYTHON = f'exec {shlex.quote(sys.executable)} "$@"\n'
PROGRAM = f'exec {shlex.quote(sys.executable)} -m aui_tui "$@"\n'


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

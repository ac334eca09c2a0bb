"""``paths``: every place the program reads or writes."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from aui_tui.cli import streams
from aui_tui.cli.command import Run, command
from aui_tui.settings import Settings
from aui_tui.store.folder import places as store_places


def places(settings: Settings) -> dict[str, str]:
    """Return every place by name; none of them needs to exist."""
    inside = store_places(settings.data_dir)
    return {
        "data": str(inside.folder),
        "index": str(inside.index),
        "cache": str(inside.scans),
        "limits": str(inside.limits),
        "sources": str(inside.folder / "sources"),
        "settings": str(settings.config_file),
        "themes": str(settings.theme_dir),
    }


def add(app: typer.Typer) -> None:
    """Add the command to ``app``."""

    @command(app, "paths", example="aui-tui paths --json")
    def paths(run: Run, as_json: Annotated[bool, typer.Option("--json", help="As a JSON object.")] = False) -> None:
        """Print every place where the program keeps or looks for something."""
        found = places(run.settings)
        if as_json:
            streams.write_line(json.dumps(found, ensure_ascii=False, indent=2))
            return
        width = max(map(len, found))
        for name, place in found.items():
            streams.write_line(f"{name:<{width}}  {place}")

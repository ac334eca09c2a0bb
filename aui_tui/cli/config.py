"""``config``: every setting, its value, and where it came from."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from aui_tui.cli import streams
from aui_tui.cli.command import Run, command
from aui_tui.settings import FIELDS, KEYS, Settings


def table(settings: Settings) -> dict[str, dict[str, object]]:
    """Return value, origin and meaning of every setting by name."""
    rows: dict[str, dict[str, object]] = {
        "data_dir": {
            "value": str(settings.data_dir),
            "origin": settings.origins["data_dir"],
            "meaning": "folder of cards, cache and quota",
        },
        "config_file": {
            "value": str(settings.config_file),
            "origin": settings.origins["config_file"],
            "meaning": "the settings file",
        },
    }
    for field in (*FIELDS, KEYS):
        value = getattr(settings, field.name)
        rows[field.name] = {
            "value": dict(value) if field is KEYS else value,
            "origin": settings.origins[field.name],
            "meaning": field.meaning,
        }
    return rows


def add(app: typer.Typer) -> None:
    """Add the command to ``app``."""

    @command(app, "config", example="aui-tui config --json")
    def config(run: Run, as_json: Annotated[bool, typer.Option("--json", help="As a JSON object.")] = False) -> None:
        """Print every setting, its value, and where it came from."""
        rows = table(run.settings)
        if as_json:
            streams.write_line(json.dumps(rows, ensure_ascii=False, indent=2))
            return
        width = max(map(len, rows))
        for name, row in rows.items():
            value = row["value"] if isinstance(row["value"], str) else json.dumps(row["value"])
            streams.write_line(f"{name:<{width}} = {value or '(none)'}")
            streams.write_line(f"{'':<{width}}   {row['meaning']}; from {row['origin']}")

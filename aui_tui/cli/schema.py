"""``schema``: the JSON Schemas of the records."""

from __future__ import annotations

from importlib.resources import files
from typing import Annotated, Final

import typer

from aui_tui.cli import complete, streams
from aui_tui.cli.command import Run, command
from aui_tui.records.vocabulary import choose

RECORDS: Final = ("card", "index", "summary")


def add(app: typer.Typer) -> None:
    """Add the command to ``app``."""

    @command(app, "schema", example="aui-tui schema card > card.schema.json")
    def schema(
        run: Run,
        record: Annotated[str, typer.Argument(help="card, index or summary.", autocompletion=complete.of(RECORDS))],
    ) -> None:
        """Print the JSON Schema of a record."""
        name = choose("record", record, RECORDS)
        streams.write(files("aui_tui.records").joinpath("schemas", f"{name}.schema.json").read_bytes())

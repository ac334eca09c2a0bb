"""``validate``: whether a file holds records that follow the specification, and where not."""

from __future__ import annotations

from typing import Annotated

import typer

from aui_tui.cli.cards import read_bytes
from aui_tui.cli.command import Run, command
from aui_tui.cli.output import emit
from aui_tui.text import clean
from aui_tui.validate import validate as validated

INVALID = 1
"""Exit code when a record breaks the specification."""


def add(app: typer.Typer) -> None:
    """Add the command to ``app``."""

    @command(app, "validate", example="aui-tui scan example.com --json | aui-tui validate -")
    def validate(
        run: Run,
        file: Annotated[list[str], typer.Argument(metavar="FILE...", help="JSON or NDJSON; - reads stdin.")],
        kind: Annotated[
            str, typer.Option("--as", metavar="card|index|summary", help="What it must be; default: by its fields.")
        ] = "",
    ) -> int:
        """Check records against the schema and say where and why they break it. Exit code 1 when one does."""
        code = 0
        for name in file:
            verdict = validated(read_bytes(name), kind)
            shown = clean(name, 200)
            if not verdict.valid:
                code = INVALID
            told = verdict.problems or (f"valid, {verdict.records:,} {verdict.kind}",)
            emit((f"{shown}: {sentence}\n" for sentence in told), None)
        return code

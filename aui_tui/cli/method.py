"""``method``: how a score comes about, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from aui_tui.cli import streams
from aui_tui.cli.command import Run, command
from aui_tui.cli.paint import Paint
from aui_tui.engine.explain import sections
from aui_tui.text import cells, fit


def lines(method: str, paint: Paint) -> Iterator[str]:
    """Yield the explanation of ``method``. Raises BadValue."""
    for number, section in enumerate(sections(method)):
        if number:
            yield ""
        yield paint.heading(section.title)
        for paragraph in section.paragraphs:
            yield from paint.hanging("  ", paragraph)
        width = max((cells(name) for name, _ in section.rows), default=0) + 2
        for name, meaning in section.rows:
            yield from paint.hanging(f"  {fit(name, width)}", meaning)


def add(app: typer.Typer) -> None:
    """Add the command to ``app``."""

    @command(app, "method", example="aui-tui method v0.1")
    def method(
        run: Run, name: Annotated[str, typer.Argument(metavar="[v0.1|v0.2]", help="Default: the one in force.")] = ""
    ) -> None:
        """Explain how verdicts, stance, points and grades come about."""
        for line in lines(name or run.settings.method, Paint.for_output(ascii_only=run.settings.ascii)):
            streams.write_line(line)

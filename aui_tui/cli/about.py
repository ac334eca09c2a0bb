"""Commands that explain the program: ``help``, ``schema``, ``config``, ``paths``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Annotated, Final

import msgspec
import typer

from aui_tui import docs
from aui_tui.cli import complete, options, streams
from aui_tui.cli.output import report
from aui_tui.cli.parser import App, run_for
from aui_tui.cli.terminal import Paint
from aui_tui.docs import TOPICS
from aui_tui.index.folder import places as store_places
from aui_tui.model.vocabulary import choose
from aui_tui.packaged import read_text
from aui_tui.settings import Settings, table

app = App()


@app.command("help", epilog="Example: aui-tui help query")
def help_on(
    context: typer.Context,
    topic: Annotated[
        str,
        typer.Argument(
            metavar="[TOPIC]",
            help=f"One of {', '.join(TOPICS)}; without: the list.",
            autocompletion=complete.of(tuple(TOPICS)),
        ),
    ] = "",
    as_json: options.Json = False,
) -> None:
    """Read the documentation: a topic, or the list of topics. In a file or a pipe it is Markdown."""
    run = run_for(context)
    paint = Paint.for_output(ascii_only=run.settings.ascii)
    if not topic:
        width = max(map(len, TOPICS)) + 2
        listed = (f"aui-tui help {name:<{width}}{about}" for name, about in TOPICS.items())
        report(as_json, {"topics": dict(TOPICS)}, listed)
        return
    text = docs.read(topic, method=run.settings.method)
    report(as_json, {"topic": topic.casefold(), "markdown": text}, _shown(text, paint))


def _shown(text: str, paint: Paint) -> Iterator[str]:
    """Yield Markdown as it is for a file or a pipe, and laid out for a terminal."""
    if sys.stdout is None or not sys.stdout.isatty() or paint.ascii:
        yield text.rstrip("\n")
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console(width=paint.width, no_color=not paint.colour)
    with console.capture() as laid_out:
        console.print(Markdown(docs.body(text), hyperlinks=False))
    yield laid_out.get().rstrip("\n")


RECORDS: Final = ("card", "index", "summary", "visits")


@app.command("schema", epilog="Example: aui-tui schema card > card.schema.json")
def schema(
    context: typer.Context,
    record: Annotated[
        str, typer.Argument(metavar="RECORD", help=f"One of {', '.join(RECORDS)}.", autocompletion=complete.of(RECORDS))
    ],
) -> None:
    """Print the JSON Schema of a record."""
    run_for(context)
    name = choose("record", record, RECORDS)
    streams.write(read_text(f"model/schemas/{name}.schema.json").encode())


@app.command("config", epilog="Example: aui-tui config --json")
def config(context: typer.Context, as_json: options.Json = False) -> None:
    """Print every setting, its value, and where it came from."""
    run = run_for(context)
    rows = table(run.settings)
    report(as_json, rows, _settings_lines(rows))


def _settings_lines(rows: Mapping[str, Mapping[str, object]]) -> Iterator[str]:
    width = max(map(len, rows))
    for name, row in rows.items():
        value = row["value"] if isinstance(row["value"], str) else json.dumps(row["value"])
        yield f"{name:<{width}} = {value or '(none)'}"
        yield f"{'':<{width}}   {row['meaning']}; from {row['origin']}"


def places(settings: Settings) -> dict[str, str]:
    """Return every place by name; none of them needs to exist."""
    paths = msgspec.structs.asdict(store_places(settings.data_dir))
    paths |= {"key": settings.data_dir / "signing-key.json"}
    paths |= {"settings": settings.config_file, "themes": settings.theme_dir}
    return {name: str(place) for name, place in paths.items()}


@app.command("paths", epilog="Example: aui-tui paths --json")
def paths(context: typer.Context, as_json: options.Json = False) -> None:
    """Print every place where the program keeps or looks for something."""
    run = run_for(context)
    listed = places(run.settings)
    width = max(map(len, listed))
    report(as_json, listed, (f"{name:<{width}}  {place}" for name, place in listed.items()))

"""Commands that explain the program: ``help``, the man page, ``method``, ``schema``, ``config``, ``paths``."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from aui_tui import docs
from aui_tui.checks.ledger import Section, sections
from aui_tui.cli import complete, streams
from aui_tui.cli.options import example, run_of, taking
from aui_tui.cli.output import Report, emit, report
from aui_tui.cli.run import Run
from aui_tui.cli.streams import Paint
from aui_tui.docs import TOPICS
from aui_tui.index.folder import places as store_places
from aui_tui.model.vocabulary import choose
from aui_tui.settings import FIELDS, IN_FILE, Settings
from aui_tui.text import cells, fit

app = typer.Typer()


def lines(page: Sequence[Section], paint: Paint) -> Iterator[str]:
    """Yield a page of explanation."""
    for number, section in enumerate(page):
        if number:
            yield ""
        yield paint.heading(section.title)
        for paragraph in section.paragraphs:
            yield from paint.hanging("  ", paragraph)
        width = max((cells(name) for name, _ in section.rows), default=0) + 2
        for name, meaning in section.rows:
            yield from paint.hanging(f"  {fit(name, width)}", meaning)


def show(run: Run, page: Sequence[Section], *, as_json: bool) -> None:
    """Print a page of explanation."""
    found = [{"title": one.title, "paragraphs": list(one.paragraphs), "rows": list(one.rows)} for one in page]
    report(as_json, {"sections": found}, lines(page, Paint.for_output(ascii_only=run.settings.ascii)))


@app.command("method", cls=taking(), epilog=example("aui-tui method v0.1"))
def method(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="[v0.1|v0.2]", help="Default: the method of the settings.")] = "",
    as_json: Report = False,
) -> None:
    """Explain how verdicts, stance, points and grades are decided."""
    run = run_of(context)
    show(run, sections(name or run.settings.method), as_json=as_json)


@app.command("help", cls=taking(), epilog=example("aui-tui help query"))
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
    man: Annotated[bool, typer.Option("--man", help="Print the man page (roff).")] = False,
    as_json: Report = False,
) -> None:
    """Read the documentation: a topic, or the list of topics. Into a file or pipe it goes as Markdown."""
    run = run_of(context)
    paint = Paint.for_output(ascii_only=run.settings.ascii)
    if man:
        from aui_tui.cli.app import application

        emit((line + "\n" for line in man_page(application(["--help"]))), None)
        return
    if not topic:
        width = max(map(len, TOPICS)) + 2
        listed = (f"aui-tui help {name:<{width}}{about}" for name, about in TOPICS.items())
        report(as_json, {"topics": dict(TOPICS)}, listed)
        return
    text = docs.read(topic, method=run.settings.method)
    report(as_json, {"topic": topic.casefold(), "markdown": text}, _shown(text, paint))


NAME: Final = 24
"""Cells of the first column of a table."""


def _shown(text: str, paint: Paint) -> Iterator[str]:
    """Yield Markdown as it is for a file or a pipe, and laid out for a terminal."""
    if not sys.stdout.isatty() or paint.ascii:
        yield text.rstrip("\n")
        return
    before = ""
    for block in docs.blocks(text):
        if before and not before == block.kind in ("item", "row"):
            yield ""
        before = block.kind
        if block.kind in ("title", "heading"):
            yield paint.heading(block.text)
        elif block.kind == "code":
            yield from (paint.style(f"    {line}", "key") for line in block.text.split("\n"))
        elif block.kind == "row":
            if cells(block.name) > NAME:
                yield f"  {block.name}"
            name = "" if cells(block.name) > NAME else block.name
            yield from paint.hanging(f"  {fit(name, NAME)}  ", block.text)
        else:
            yield from paint.hanging("  - " if block.kind == "item" else "  ", block.text)


RECORDS: Final = ("card", "index", "summary", "visits")


@app.command("schema", cls=taking(), epilog=example("aui-tui schema card > card.schema.json"))
def schema(
    context: typer.Context,
    record: Annotated[
        str, typer.Argument(metavar="RECORD", help=f"One of {', '.join(RECORDS)}.", autocompletion=complete.of(RECORDS))
    ],
) -> None:
    """Print the JSON Schema of a record."""
    run_of(context)
    name = choose("record", record, RECORDS)
    streams.write(files("aui_tui.model").joinpath("schemas", f"{name}.schema.json").read_bytes())


def table(settings: Settings) -> dict[str, dict[str, object]]:
    """Return value, origin and meaning of every setting by name."""
    meanings = {"data_dir": "folder of cards, cache and quota", "config_file": "the settings file"}
    meanings |= {field.name: field.meaning for field in (*FIELDS, *IN_FILE)}
    return {
        name: {"value": _plain(getattr(settings, name)), "origin": settings.origins[name], "meaning": meaning}
        for name, meaning in meanings.items()
    }


def _plain(value: Any) -> Any:
    """Return a setting as JSON has it."""
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, Path):
        return str(value)
    return list(value) if isinstance(value, tuple) else value


@app.command("config", cls=taking(), epilog=example("aui-tui config --json"))
def config(context: typer.Context, as_json: Report = False) -> None:
    """Print every setting, its value, and where it came from."""
    run = run_of(context)
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
    inside = store_places(settings.data_dir)
    return {
        "data": str(inside.folder),
        "index": str(inside.index),
        "cache": str(inside.scans),
        "limits": str(inside.limits),
        "sources": str(inside.folder / "sources"),
        "ranges": str(inside.folder / "ranges"),
        "key": str(inside.folder / "signing-key.json"),
        "settings": str(settings.config_file),
        "themes": str(settings.theme_dir),
    }


@app.command("paths", cls=taking(), epilog=example("aui-tui paths --json"))
def paths(context: typer.Context, as_json: Report = False) -> None:
    """Print every place where the program keeps or looks for something."""
    run = run_of(context)
    found = places(run.settings)
    width = max(map(len, found))
    report(as_json, found, (f"{name:<{width}}  {place}" for name, place in found.items()))


EXIT: Final = (
    ("0", "done"),
    ("1", "a gate failed, a list had bad rows, or the doctor found something wrong"),
    ("2", "usage, configuration, or no valid host"),
    ("3", "unreachable, never scanned, or inconclusive"),
    ("4", "rate limited"),
    ("130", "interrupted"),
)


def man_page(command: Any) -> Iterator[str]:
    """Yield the lines of the man page (roff, man macros) of the whole program; ``command`` is its Click group."""
    yield r'.TH AUI\-TUI 1 "" "aui\-tui" "User Commands"'
    yield from _man_section("NAME", r"aui\-tui \- how usable is a website by AI agents that act live for a person")
    yield ".SH SYNOPSIS"
    yield from (r".B aui\-tui", r"[\fIOPTIONS\fR] [\fICOMMAND\fR [\fIARGS\fR]...]")
    yield from _man_section("DESCRIPTION", _roff(command.help), "Without a command it opens the dashboard.")
    yield ".SH COMMANDS"
    for name, one in command.commands.items():
        yield from _man_entry(rf"\fB{_roff(name)}\fR", (one.help or "").partition("\n\n")[0])
    yield r"\fBaui\-tui\fR \fICOMMAND\fR \fB\-\-help\fR shows the options of a command."
    yield ".SH OPTIONS"
    for option in command.params:
        names = ", ".join(rf"\fB{_roff(name)}\fR" for name in option.opts)
        value = rf" \fI{_roff(option.metavar)}\fR" if option.metavar and not option.is_flag else ""
        yield from _man_entry(names + value, option.help or "")
    yield ".SH EXIT STATUS"
    for code, meaning in EXIT:
        yield from _man_entry(rf"\fB{code}\fR", meaning)
    yield ".SH ENVIRONMENT"
    yield from _man_entry(r"\fBAUI_TUI_HOME\fR", "Folder of cards, cache and quota.")
    yield from _man_entry(r"\fBAUI_TUI_\fR\fISETTING\fR", "Any setting that aui-tui config lists, in capitals.")
    yield from _man_entry(r"\fBNO_COLOR\fR", "No colour in the output of commands.")
    yield ".SH FILES"
    yield r"\fBaui\-tui paths\fR prints every place where the program keeps or looks for something."
    yield ".SH SEE ALSO"
    topics = ", ".join(docs.TOPICS)
    yield _roff(f"aui-tui help TOPIC, where TOPIC is one of {topics}.")


def _man_section(title: str, *paragraphs: str) -> Iterator[str]:
    yield f".SH {title}"
    for number, paragraph in enumerate(paragraphs):
        if number:
            yield ".PP"
        yield paragraph


def _man_entry(name: str, meaning: str) -> Iterator[str]:
    yield ".TP"
    yield name
    yield _roff(meaning)
    yield ".PP"


def _roff(text: str) -> str:
    """Return ``text`` so that roff shows exactly it, on one line."""
    plain = " ".join(text.split()).replace("\\", r"\e").replace("-", r"\-")
    return re.sub(r"^([.'])", r"\\&\1", plain)

"""``reads``: a page as readers of text get it, as Markdown on standard output."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import typer

from aui_tui.cli import complete, options, streams
from aui_tui.cli.output import report
from aui_tui.cli.parser import App, run_for
from aui_tui.cli.run import Run
from aui_tui.cli.sources import opened
from aui_tui.errors import BadValue, MissingExtra, Unavailable, missing
from aui_tui.files import STDIN, user_path
from aui_tui.files import reading as opened_file
from aui_tui.model.open_agents import OpenAgent, reader_called, words_of_readers
from aui_tui.model.reads import KINDS, LIBRARIES, MEANS, Reading
from aui_tui.model.vocabulary import choose
from aui_tui.report import reads as wording
from aui_tui.text import clean, count, fit

app = App()
CLIENTS: Final = ("browser", "agent")
"""Whose page may be read; by default the agents', else the browser's."""
MAX_FILE_BYTES: Final = 4 << 20
"""Bytes of the largest file that is read as a page."""
MakeReading = Callable[[str], Awaitable[Reading]]
"""Takes a kind (``article``, ``page``, ``words``), returns that reading of the page."""


@app.command("reads", epilog="Example: aui-tui reads shop.example --as page")
def reads(
    context: typer.Context,
    host: Annotated[
        str,
        typer.Argument(
            metavar="HOST|FILE",
            help="A host that was scanned, or a file of HTML (- for standard input).",
            autocompletion=complete.hosts,
        ),
    ],
    kind: Annotated[
        str,
        typer.Option(
            "--as",
            metavar="WORD",
            help="article, page, words, or an open reader such as smolagents; then @browser for the page of a browser.",
            autocompletion=complete.of(words_of_readers()),
        ),
    ] = "",
    facts: Annotated[bool, typer.Option("--facts", help="Print each fact and the letter at which it is read.")] = False,
    as_json: options.Json = False,
) -> int:
    """Print what a reader of text gets from a page: Markdown, to be piped.

    Without --as it is the article, or all words where the extra “reads” is not installed.
    """
    run = run_for(context)
    kind, at, client = kind.partition("@")
    if at:
        client = choose("client", client, CLIENTS)
    name, tool = reader_called(kind) if kind else (_default_kind(), None)
    if not facts:
        _require_library(name)

    async def work() -> int:
        async with _reader(run, host, client) as read:
            if facts:
                readings = [await read(kind) for kind in KINDS]
                _require_text(host, readings[-1])
                report(
                    as_json, {"host": host, "facts": [_without_text(reading) for reading in readings]}, _table(readings)
                )
                return 0
            reading = await read(name)
            _require_text(host, reading)
            shown = reading.text[: tool.cut] if tool is not None and tool.cut else reading.text
            if not run.quiet:
                streams.say(_about(reading, shown, tool))
            record = {
                "host": host,
                "kind": name,
                "as": tool.key if tool else name,
                "cut": len(shown) < len(reading.text),
            }
            report(as_json, record | {"text": shown, "facts": _without_text(reading).get("facts", [])}, [shown])
            return 0

    return asyncio.run(work())


def _default_kind() -> str:
    """Return ``article``, or ``words`` where the library for articles is not installed."""
    return "words" if missing(LIBRARIES["article"]) else "article"


def _require_library(kind: str) -> None:
    """Raise MissingExtra where the library of ``kind`` is not installed."""
    if kind in LIBRARIES and missing(LIBRARIES[kind]):
        raise MissingExtra(f"The reading “{kind}”, which {LIBRARIES[kind]} makes,", "reads")


def _require_text(host: str, reading: Reading) -> None:
    """Raise Unavailable where the reading has no text because of a problem; ``host`` is for the sentence."""
    if reading.problem and not reading.text:
        raise Unavailable(f"{clean(host, 200)} has nothing to read as {reading.kind}: {reading.problem}.")


def _reader(run: Run, host: str, client: str) -> AbstractAsyncContextManager[MakeReading]:
    """Open the file or the host that was named; ``client``: whose page of a host to read.

    A word with a slash is a file, though none may have that name: the sentence then says so.

    Raises BadValue, ConfigError, NoPage.
    """
    path = user_path(host) if host != STDIN else None
    if path is None or path.is_file() or "/" in host.removeprefix("http://").removeprefix("https://").rstrip("/"):
        if client:
            raise BadValue(f"@{client} is for a host: a file is one page, whoever got it.")
        return _of_file(host, path)
    return _of_host(run, host, client)


@asynccontextmanager
async def _of_host(run: Run, host: str, client: str) -> Any:
    async with opened(run) as service:

        async def read(kind: str) -> Reading:
            return await service.reading(host, kind, client=client)

        yield read


@asynccontextmanager
async def _of_file(name: str, path: Path | None) -> Any:
    from aui_tui.scan.parser_process import ParserProcess

    shown = clean(name, 200)
    with opened_file(name) as file:
        body = file.read(MAX_FILE_BYTES + 1)
    if len(body) > MAX_FILE_BYTES:
        raise BadValue(f"{shown} is larger than {MAX_FILE_BYTES >> 20} MiB, so it is not read as a page.")
    async with ParserProcess() as parser:
        reads = await parser.reads(body)
        if reads.problem.startswith("it is "):
            raise BadValue(f"{shown} is not a page: {reads.problem}; give a file of HTML.")

        async def read(kind: str) -> Reading:
            return await parser.reading(kind, body)

        yield read


def _about(reading: Reading, shown: str, tool: OpenAgent | None) -> str:
    """Return one sentence: which tool and library made the reading, and how long ``shown``, its printed part, is."""
    made = f"{tool.key} {tool.version} reads {reading.kind}" if tool is not None else reading.kind
    made += f" ({MEANS[reading.kind]})"
    by = f", by {LIBRARIES[reading.kind]}" if reading.kind in LIBRARIES else ""
    cut = f", cut from {count(len(reading.text), 'letter')}" if len(shown) < len(reading.text) else ""
    return f"{made}{by}: {count(len(shown.split()), 'word')}, {count(len(shown), 'letter')}{cut}."


def _table(readings: list[Reading]) -> Iterator[str]:
    """Yield the facts as a table, and why a reading is missing."""
    rows = [wording.HEADER, *wording.fact_rows(readings)]
    widths = [min(max(len(row[at]) for row in rows), 40) for at in range(len(wording.HEADER))]
    for row in rows:
        yield "  ".join(fit(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip()
    if len(rows) == 1:
        yield "No facts were found: no name, price, availability, phone, mail, address, hours or date."
    for reading in readings:
        if reading.problem:
            yield f"{reading.kind}: {reading.problem}."


def _without_text(reading: Reading) -> dict[str, Any]:
    """Return the members of ``reading`` for JSON, the text left empty."""
    members: dict[str, Any] = msgspec.to_builtins(msgspec.structs.replace(reading, text=""))
    return members

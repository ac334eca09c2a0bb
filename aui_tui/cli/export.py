"""``export``: the filtered list, or the cards behind it, in one of the formats."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Annotated

import typer

from aui_tui.cli import streams, words
from aui_tui.cli.options import (
    Category,
    Config,
    DataDir,
    Debug,
    Limit,
    Line,
    Quiet,
    Reverse,
    Sort,
    Source,
    Stance,
    example,
    run_of,
)
from aui_tui.cli.output import Deterministic, Fields, File, FormatName, Json, KeyNames, emit, keys_of, path_of
from aui_tui.cli.services import service_of
from aui_tui.errors import BadValue, NeverScanned
from aui_tui.export.formats import write_cards, write_listing
from aui_tui.export.listing import Listing
from aui_tui.records.card import ReportCard
from aui_tui.records.query import Query
from aui_tui.records.view import IndexView, rows
from aui_tui.service.protocol import Service

app = typer.Typer()


class Cards:
    """The cards behind the rows of a list, each read when it is asked for; ``missing`` counts rows without one."""

    def __init__(self, runner: asyncio.Runner, service: Service, view: IndexView, limit: int) -> None:
        self._runner, self._service, self._view, self._limit = runner, service, view, limit
        self.missing = 0

    def __iter__(self) -> Iterator[ReportCard]:
        for window in (self._view.ranked, self._view.unreachable):
            for row in rows(window, self._limit):
                try:
                    yield self._runner.run(self._service.site(row.summary.host)).card
                except NeverScanned:
                    self.missing += 1


@app.command("export", epilog=example("aui-tui export --stance Walled --format csv -o walled.csv"))
def export(
    context: typer.Context,
    category: Category = "",
    stance: Stance = "",
    line: Line = "",
    sort: Sort = "rank",
    reverse: Reverse = False,
    limit: Limit = 0,
    cards: Annotated[bool, typer.Option("--cards", help="Whole report cards instead of rows.")] = False,
    as_json: Json = False,
    format_name: FormatName = "",
    output: File = "",
    fields: Fields = "",
    deterministic: Deterministic = False,
    keys: KeyNames = "names",
    data_dir: DataDir = None,
    source: Source = None,
    config_file: Config = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> int:
    """Write the list, or the cards behind it, as JSON, NDJSON, CSV, Markdown or HTML."""
    run = run_of(context)
    if as_json and format_name:
        raise BadValue("Choose one of --json and --format.")
    format_name = format_name or "json"
    chosen_keys, path = keys_of(keys), path_of(output)
    query = Query.of(category=category, stance=stance, line=line, sort=sort, descending=reverse)
    with asyncio.Runner() as runner:
        service = service_of(run)
        try:
            view = runner.run(service.index(query))
            if view.notice:
                streams.say(view.notice)
            whole = Cards(runner, service, view, limit)
            if cards:
                chunks = write_cards(
                    format_name, whole, fields=fields, keys=chosen_keys, deterministic=deterministic, many=True
                )
            else:
                listing = Listing.of_view(view, limit)
                chunks = write_listing(
                    format_name, listing, fields=fields, keys=chosen_keys, deterministic=deterministic
                )
            emit(chunks, path)
            if whole.missing:
                streams.say(f"{words.count(whole.missing, 'host')} left out: only their summaries are known.")
                return NeverScanned.exit_code
            return 0
        finally:
            runner.run(service.aclose())

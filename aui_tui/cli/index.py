"""``index``: every card, ranked, filtered, as a table or as the record."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import msgspec
import typer

from aui_tui.cli import complete, indexview, streams
from aui_tui.cli.command import Run, command
from aui_tui.cli.output import Json, KeyNames, keys_of
from aui_tui.cli.paint import Paint
from aui_tui.cli.services import opened
from aui_tui.records.query import SORTS, Query
from aui_tui.records.vocabulary import CATEGORIES, STANCES
from aui_tui.service.protocol import Service

FILTERS = "Filters"
_option = partial(typer.Option, rich_help_panel=FILTERS)

Category = Annotated[
    str, _option("--category", metavar="NAME", help="Only these.", autocompletion=complete.of(CATEGORIES))
]
Stance = Annotated[
    str,
    _option(
        "--stance", metavar="NAME", help="Only Open, Selective or Walled ones.", autocompletion=complete.of(STANCES)
    ),
]
Line = Annotated[str, _option("--query", metavar="TEXT", help="Words and terms, as in the dashboard's search.")]
Sort = Annotated[
    str, _option("--sort", metavar="COLUMN", help="Order by this column.", autocompletion=complete.of(SORTS))
]
Reverse = Annotated[bool, _option("--reverse", help="Turn the order round.")]
Limit = Annotated[int, _option("--limit", metavar="N", min=0, help="At most N of each list.")]
Figures = Annotated[
    bool, typer.Option("--overview", help="Print figures: grades, stances per category, failing checks.")
]


def add(app: typer.Typer) -> None:
    """Add the command to ``app``."""

    @command(app, "index", example="aui-tui index --category Retail --stance Walled --json")
    def index(
        run: Run,
        category: Category = "",
        stance: Stance = "",
        line: Line = "",
        sort: Sort = "rank",
        reverse: Reverse = False,
        limit: Limit = 0,
        overview: Figures = False,
        as_json: Json = False,
        keys: KeyNames = "names",
    ) -> None:
        """List every scanned host by score, and the unreachable ones."""
        chosen_keys = keys_of(keys)
        query = Query.of(category=category, stance=stance, line=line, sort=sort, descending=reverse)

        async def work() -> None:
            async with opened(run) as service:
                if overview:
                    await _overview(run, service, query, as_json=as_json)
                    return
                view = await service.index(query)
                if view.notice:
                    streams.say(view.notice)
                if as_json:
                    for part in indexview.json_parts(view, keys=chosen_keys, limit=limit):
                        streams.write(part)
                else:
                    paint = Paint.for_output(ascii_only=run.settings.ascii)
                    for row in indexview.table(view, paint, limit=limit):
                        streams.write_line(row)

        run.wait(work())


async def _overview(run: Run, service: Service, query: Query, *, as_json: bool) -> None:
    found = await service.overview(query)
    if as_json:
        streams.write(msgspec.json.encode(found) + b"\n")
        return
    from aui_tui.cli import figures

    for line in figures.lines(found, Paint.for_output(ascii_only=run.settings.ascii)):
        streams.write_line(line)

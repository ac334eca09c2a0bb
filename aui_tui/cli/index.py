"""Commands on the list: ``index`` prints it, or figures over it; ``export`` writes it, or the cards behind it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final

import msgspec
import typer

from aui_tui.cli import complete, options, streams
from aui_tui.cli.output import emit, format_for, keys_of, path_of
from aui_tui.cli.parser import App, run_for
from aui_tui.cli.run import Run
from aui_tui.cli.sources import opened, service_of
from aui_tui.cli.terminal import Paint
from aui_tui.errors import BadValue, NeverScanned
from aui_tui.model import labels
from aui_tui.model.card import ReportCard
from aui_tui.model.codec import encode_index
from aui_tui.model.fates import turned_away
from aui_tui.model.listing import IndexView, Row, rows
from aui_tui.model.query import Query
from aui_tui.model.signs import sign
from aui_tui.model.times import age
from aui_tui.report.export import write_cards, write_listing
from aui_tui.report.formats import CARD_FORMATS, LIST_FORMATS, PARQUET, Listing
from aui_tui.service.protocol import Service
from aui_tui.text import count, fit

app = App()

WIDTHS: Final = {"#": 5, "Score": 5, "Δ": 4, "Gr": 2, "Stance": 11, "Host": 0, "Category": 15, "Age": 4}
"""Columns in their order and their widths in cells; the host takes what is left."""
RIGHT: Final = frozenset({"#", "Score", "Δ"})
DROPPED: Final = ("Age", "Category", "Δ", "#")
"""Columns that a narrow terminal leaves out, in this order; never the stance."""
LEAST_HOST: Final = 18


def table(view: IndexView, paint: Paint, *, limit: int = 0) -> Iterator[str]:
    """Yield the ranked list, the unreachable hosts, and a closing line with the counts."""
    total = len(view.ranked) + len(view.unreachable)
    widths = widths_for(paint.width)
    if len(view.ranked):
        head = _line({name: name for name in widths}, widths)
        yield paint.heading(head.replace("Δ", "+") if paint.ascii else head)
        for row in rows(view.ranked, limit):
            yield paint.plain(_ranked(row, paint, widths))
    if len(view.unreachable):
        yield from [""] if len(view.ranked) else []
        yield paint.heading("Unreachable")
        for row in rows(view.unreachable, limit):
            yield paint.plain(fit(f"  {fit(row.summary.host, widths['Host'])} {row.reason}", paint.width)).rstrip()
    yield from [""] if total else []
    filters = view.query.words()
    yield from paint.hanging(
        "",
        f"Scored {len(view.ranked):,}, unreachable {len(view.unreachable):,}{' (' + filters + ')' if filters else ''}; "
        f"newest card of all {labels.moment(view.scanned_at)}"
        if total
        else "No cards" + (f" {filters}." if filters else " yet; begin with: aui-tui scan HOST"),
    )


def list_sentences(view: IndexView, *, limit: int = 0) -> Iterator[str]:
    """Yield the lists as plain sentences, one host each, for a screen reader."""
    ranked, unreachable = len(view.ranked), len(view.unreachable)
    filters = view.query.words()
    yield f"{count(ranked, 'scored host')} and {unreachable:,} unreachable{', ' + filters if filters else ''}."
    for row in rows(view.ranked, limit):
        summary = row.summary
        moved = f", {abs(row.change)} {'up' if row.change > 0 else 'down'} since the scan before" if row.change else ""
        word, names = turned_away(row.verdicts)
        out = f"{', '.join(names)}: {word}" if names else "every assistant that was asked gets in"
        place = f"{row.rank}." if row.rank else "No rank:"
        yield (
            f"{place} {summary.host}: {labels.standing(summary.score, summary.grade, summary.stance)}{moved}. "
            f"{out[:1].upper()}{out[1:]}. {summary.category}. Scanned {labels.ago(summary.scanned_at, time.time())}."
        )
    for row in rows(view.unreachable, limit):
        yield f"Unreachable: {row.summary.host}. {row.reason}"


def widths_for(width: int) -> dict[str, int]:
    """Return the columns that fit into ``width`` cells, and their widths."""
    widths = dict(WIDTHS)
    for name in (*DROPPED, ""):
        host = width - sum(widths.values()) - len(widths) + 1
        if host >= LEAST_HOST or not name:
            break
        del widths[name]
    return widths | {"Host": max(host, 8)}


def _line(texts: Mapping[str, str], widths: Mapping[str, int]) -> str:
    return " ".join(fit(texts[name], width, right=name in RIGHT) for name, width in widths.items()).rstrip()


def _ranked(row: Row, paint: Paint, widths: Mapping[str, int]) -> str:
    summary = row.summary
    stance = f"{paint.glyph(summary.stance)} {summary.stance}"
    texts = {
        "#": str(row.rank or ""),
        "Score": str(summary.score),
        "Δ": f"{row.change:+d}" if row.change else "",
        "Gr": summary.grade,
        "Stance": stance,
        "Host": summary.host,
        "Category": summary.category,
        "Age": labels.span(age(summary.scanned_at, time.time())),
    }
    shown = fit(stance, widths["Stance"])
    return _line(texts, widths).replace(shown, paint.style(shown, sign(summary.stance).tone), 1)


def query_of(category: str, stance: str, line: str, sort: str = "rank") -> Query:
    """Return the query that the filters ask for; ``-COLUMN`` reverses the order. Raises BadValue."""
    return Query.of(
        category=category, stance=stance, line=line, sort=sort.removeprefix("-"), descending=sort.startswith("-")
    )


@app.command("index", epilog="Example: aui-tui index --category Retail --stance Walled --json")
def index(
    context: typer.Context,
    category: options.Category = "",
    stance: options.Stance = "",
    line: options.Line = "",
    sort: options.Sort = "rank",
    limit: options.Limit = 0,
    overview: Annotated[
        bool, typer.Option("--overview", help="Print figures: grades, stances per category, failing checks.")
    ] = False,
    as_json: options.Json = False,
    text: options.Text = False,
) -> None:
    """List every scanned host by score, and the unreachable ones."""
    run = run_for(context)
    options.one_of(text=text, json=as_json)
    linear = text or (run.settings.text and not as_json)
    query = query_of(category, stance, line, sort)

    async def work() -> None:
        async with opened(run) as service:
            if overview:
                await _overview(run, service, query, as_json=as_json, linear=linear)
                return
            view = await service.index(query)
            if view.notice:
                streams.say(view.notice)
            if as_json:
                for part in encode_index(view, keys_of(run), limit=limit):
                    streams.write(part)
            elif linear:
                for sentence in list_sentences(view, limit=limit):
                    streams.write_line(sentence)
            else:
                paint = Paint.for_output(ascii_only=run.settings.ascii)
                for row in table(view, paint, limit=limit):
                    streams.write_line(row)

    run.wait(work())


async def _overview(run: Run, service: Service, query: Query, *, as_json: bool, linear: bool) -> None:
    figures = await service.overview(query)
    if as_json:
        streams.write_line(msgspec.json.encode(figures))
        return
    from aui_tui.cli.cardview import in_order
    from aui_tui.report.overview import overview

    paint = Paint.for_output(ascii_only=run.settings.ascii)
    for line in in_order(overview(figures), paint, text=linear):
        streams.write(line)


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


ExportFormat = Annotated[
    str,
    typer.Option(
        "--format",
        "-f",
        metavar="NAME",
        rich_help_panel=options.OUTPUT,
        help=f"Print as: {', '.join(LIST_FORMATS)}; with --cards also "
        f"{', '.join(name for name in CARD_FORMATS if name not in LIST_FORMATS)}.",
        autocompletion=complete.of(CARD_FORMATS),
    ),
]


@app.command("export", epilog="Example: aui-tui export --stance Walled -o walled.csv")
def export(
    context: typer.Context,
    category: options.Category = "",
    stance: options.Stance = "",
    line: options.Line = "",
    sort: options.Sort = "rank",
    limit: options.Limit = 0,
    cards: Annotated[bool, typer.Option("--cards", help="Write whole report cards instead of rows.")] = False,
    as_json: options.Json = False,
    format_name: ExportFormat = "",
    output: options.File = "",
    fields: options.Fields = "",
) -> int:
    """Write the list, or with --cards the cards behind it: JSON, CSV, Markdown, HTML, Parquet and more."""
    from aui_tui.report.data import write_parquet

    run = run_for(context)
    options.one_of(json=as_json, format=format_name)
    path = path_of(output)
    formats = (*(CARD_FORMATS if cards else LIST_FORMATS), PARQUET)
    chosen = format_for(path, "json" if as_json else format_name, formats) or "json"
    if chosen == PARQUET and (path is None or fields):
        raise BadValue("Parquet is written into a file, whole: --output FILE.parquet, without --fields.")
    form: dict[str, Any] = {"fields": fields, "keys": keys_of(run), "deterministic": run.settings.deterministic}
    query = query_of(category, stance, line, sort)
    with asyncio.Runner() as runner:
        service = service_of(run)
        try:
            view = runner.run(service.index(query))
            if view.notice:
                streams.say(view.notice)
            entries = Cards(runner, service, view, limit)
            if chosen == PARQUET and path is not None:
                write_parquet(entries, path)
            elif cards:
                emit(write_cards(chosen, entries, many=True, **form), path)
            else:
                emit(write_listing(chosen, Listing.of_view(view, limit), **form), path)
            if entries.missing:
                streams.say(f"{count(entries.missing, 'host')} left out: only their summaries are known.")
                return NeverScanned.exit_code
            return 0
        finally:
            runner.run(service.aclose())

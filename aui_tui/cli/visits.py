"""``visits``: what access logs say of agents, beside what the probes got."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import msgspec
import typer

from aui_tui.cli import complete, gating, options, streams
from aui_tui.cli.output import emit, format_for, path_of
from aui_tui.cli.parser import App, run_for
from aui_tui.cli.progress import bar
from aui_tui.cli.run import Run
from aui_tui.cli.site_options import policy_of
from aui_tui.cli.sources import local, only_local
from aui_tui.cli.terminal import Paint
from aui_tui.errors import BadValue, ConfigError, NeverScanned, NoVisits, Unavailable
from aui_tui.index.folder import places
from aui_tui.model.card import ReportCard
from aui_tui.model.visits import Visits
from aui_tui.text import clean, joined

if TYPE_CHECKING:
    from aui_tui.report.sections import Section
    from aui_tui.scan.policy import ScanPolicy
    from aui_tui.visits.counting import LogOptions
    from aui_tui.visits.ranges import RangeBook, Updated

app = App()

GATES: Final = "Gate (exit code 1 when it fails, 3 when the log cannot tell)"
FORMS: Final = ("json", "csv", "markdown")
SERVERS: Final = ("nginx", "cloudflare")
"""Forms of an allow-list; their table is not loaded for a help."""
FORM_WORDS: Final = {
    "help": f"Print as {', '.join(FORMS)}; or print the fetched ranges as an allow-list: {', '.join(SERVERS)}.",
    "autocompletion": complete.of((*FORMS, *SERVERS)),
}
SAVE_EVERY: Final = 10.0
"""Seconds between two times at which a followed log's figures are kept."""
MIB: Final = 1 << 20
Printed = Callable[[Visits, ReportCard | None], Iterator[str]]
"""Makes what is printed of a record, and of the host's card where there is one."""

Logs = Annotated[
    list[str] | None,
    typer.Argument(metavar="LOG...", help="Files, patterns such as 'access.log*', or - for standard input."),
]
HostOption = Annotated[
    str,
    typer.Option(
        "--host", metavar="HOST", help="Keep the figures beside this host's card.", autocompletion=complete.hosts
    ),
]
Follow = Annotated[bool, typer.Option("--follow", "-F", help="Go on reading as the files grow, until ctrl+c.")]
UpdateRanges = Annotated[
    bool, typer.Option("--update-ranges", help="Fetch the address ranges that vendors publish first.")
]
FailRefused = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-refused",
        metavar="NAME=PERCENT",
        help="Largest share of an agent's requests that may be refused: claude=1%.",
        rich_help_panel=GATES,
    ),
]


@app.command("visits", epilog="Example: aui-tui visits '/var/log/nginx/access.log*' --host example.com")
def visits(
    context: typer.Context,
    logs: Logs = None,
    host: HostOption = "",
    follow: Follow = False,
    update_ranges: UpdateRanges = False,
    allow_private: options.AllowPrivate = False,
    connect_to: options.ConnectTo = None,
    as_json: options.Json = False,
    ranges: Annotated[str, typer.Option("--ranges", metavar="NAME", hidden=True, help="The same as --format.")] = "",
    log_format: Annotated[
        str,
        typer.Option(
            "--log-format",
            metavar="LINE",
            help='The fields of a line: \'{client} {time} "{request}" {status} {bytes} "{referer}" "{agent}"\'.',
        ),
    ] = "",
    trend: Annotated[bool, typer.Option("--trend", help="Print figures by week, with new paths not found.")] = False,
    form_name: Annotated[str, typer.Option("--format", "-f", metavar="NAME", **FORM_WORDS)] = "",
    output: options.File = "",
    fail_refused: FailRefused = None,
) -> int:
    """Count the visits of AI agents in access logs, and compare them with the probes.

    Only figures are kept, beside the host's card: no address, no query, no user. Without LOG, it prints what was kept.

    Settings (aui-tui config): log_kind, client_field, trusted_proxy.
    """
    run = run_for(context)
    only_local(run, "Reading logs")
    from aui_tui.visits.ranges import RangeBook, allow_list

    limits = gating.limits(fail_refused or ())
    options.one_of(json=as_json, format=form_name, ranges=ranges)
    path = path_of(output)
    form = "json" if as_json else format_for(path, ranges or form_name, (*FORMS, *SERVERS))
    reading = reading_of(run, host, log_format)
    book = RangeBook(places(run.settings.data_dir).ranges)
    if update_ranges:
        failed = _update(run, book, policy_of(run, allow_private=allow_private, connect_to=connect_to))
        if not (logs or host or form in SERVERS):
            return 3 if failed else 0
    if form in SERVERS:
        if logs or host:
            raise BadValue(f"--format {form} prints an allow-list and reads no log: leave LOG and --host out.")
        emit([allow_list(book, form)], path)
        return 0
    if not logs and not host:
        raise BadValue("Name the access logs to read, or --host to print what was kept of a host.")
    if follow and not logs:
        raise BadValue("--follow needs the access logs to follow.")
    printed = partial(_trend if trend else _figures, run, form=form, path=path)
    if follow:
        record = _follow(run, logs or [], reading, book, printed, path, form)
    else:
        figures = _read(run, logs, reading, book) if logs else None
        figures, card = _beside_card(run, host, figures) if host else (figures, None)
        if figures is None:
            raise NoVisits(clean(host, 253))
        record = figures
        emit(printed(record, card), path)
    if not limits:
        return 0
    outcome = gating.refused_too_often(record, limits)
    gating.tell(outcome)
    return outcome.exit_code


def reading_of(run: Run, host: str, template: str = "") -> LogOptions:
    """Return how to read the logs of ``host`` (empty: of any). Raises BadValue, InvalidHost."""
    from aui_tui.scan.target import site_of
    from aui_tui.visits.counting import LogOptions

    settings = run.settings
    return LogOptions(
        kind=settings.log_kind or None,  # type: ignore[arg-type]  # one of its words
        host=site_of(host) if host else "",
        trusted=settings.trusted_proxy,
        client_field=settings.client_field,
        template=template,
    )


def _update(run: Run, book: RangeBook, access: ScanPolicy | None) -> int:
    """Fetch the published ranges, tell how that went, and return how many lists failed."""

    def reported(done: Updated) -> None:
        if done.state == "failed":
            streams.say(f"{done.url}: not fetched, {done.detail}.")

    counts = Counter(done.state for done in run.wait(book.update(access, tell=reported)))
    if not run.quiet:
        streams.say(
            f"Published ranges: {counts['fetched']} lists fetched, {counts['unchanged']} unchanged, "
            f"{counts['failed']} failed."
        )
    return counts["failed"]


def _beside_card(run: Run, host: str, record: Visits | None) -> tuple[Visits | None, ReportCard | None]:
    """Keep ``record`` where there is one; return what is kept of ``host``, and its card, None where there is none."""

    async def work() -> tuple[Visits | None, ReportCard | None]:
        async with local(run) as service:
            try:
                visits = await service.visits(host) if record is None else await service.keep_visits(record)
            except Unavailable as error:
                if record is None:
                    raise
                streams.say(f"These figures are not saved. {error}")
                visits = record
            try:
                return visits, (await service.site(host)).card
            except NeverScanned:
                return visits, None

    return run.wait(work())


def _read(run: Run, names: list[str], options: LogOptions, book: RangeBook) -> Visits:
    """Return the figures of the logs, and print the lines that were not understood."""
    from aui_tui.visits import logs
    from aui_tui.visits.reader import files_of

    files = files_of(names)
    ranges, fetched = book.ranges()
    with bar("Reading, MiB", quiet=run.quiet) as tell:
        figures = logs.count(files, options, ranges, progress=lambda done, of: tell(done // MIB, of // MIB))
    if book.broken:
        lists = joined(book.broken, 3)
        streams.say(f"The kept ranges of {lists} cannot be read and count as not fetched: --update-ranges.")
    for line in figures.quotes if not run.quiet else ():
        streams.say(f"not understood: {line}")
    return logs.record(figures, files, options, fetched)


def _follow(
    run: Run,
    names: list[str],
    options: LogOptions,
    book: RangeBook,
    printed: Printed,
    path: Path | None,
    form: str,
) -> Visits:
    """Print the figures as the logs grow, until ctrl+c; what was counted is kept from time to time and at the end.

    On a terminal a table is drawn again in its place.
    """
    from aui_tui.visits import logs
    from aui_tui.visits.reader import files_of

    files = files_of(names)
    ranges, fetched = book.ranges()
    record: Visits | None = None
    card: ReportCard | None = None
    saved, drawn = -SAVE_EVERY, 0

    def keep(record: Visits) -> tuple[Visits, ReportCard | None]:
        visits, card = _beside_card(run, options.host, record) if options.host else (None, None)
        return visits or record, card

    def wait() -> bool:
        time.sleep(logs.POLL)
        return True

    try:
        for figures in logs.follow(files, options, ranges, wait=wait):
            record = logs.record(figures, files, options, fetched)
            if time.monotonic() - saved >= SAVE_EVERY:
                (record, card), saved = keep(record), time.monotonic()
            chunks = list(printed(record, card))
            if not form and path is None and drawn and sys.stdout.isatty():
                streams.write(f"\x1b[{drawn}A\x1b[J")
            emit(chunks, path)
            drawn = sum(chunk.count("\n") for chunk in chunks)
    finally:
        if record is not None:
            record, _ = keep(record)
    if record is None:
        raise ConfigError("The logs ended before a line came.")
    return record


def _figures(run: Run, record: Visits, card: ReportCard | None, *, form: str, path: Path | None) -> Iterator[str]:
    """Return the figures of ``record``, beside ``card`` where there is one, in a form of FORMS."""
    from aui_tui.report.sections import visits_section

    if form == "csv":
        from aui_tui.report.data import visits_csv

        return visits_csv(record, card)
    return _shown(run, record, visits_section(record, card), form, path)


def _trend(run: Run, record: Visits, _: ReportCard | None, *, form: str, path: Path | None) -> Iterator[str]:
    """Return the figures of ``record`` by week, in a form of FORMS."""
    from aui_tui.report.sections import trend_section

    if form == "csv":
        from aui_tui.report.data import trend_csv

        return trend_csv(record)
    return _shown(run, record, trend_section(record), form, path)


def _shown(run: Run, record: Visits, section: Section, form: str, path: Path | None) -> Iterator[str]:
    from aui_tui.cli.cardview import in_order

    if form == "json":
        return iter([msgspec.json.encode(record).decode() + "\n"])
    if form == "markdown":
        from aui_tui.report import markdown

        return markdown.section_lines([section])
    paint = Paint.for_output(ascii_only=run.settings.ascii) if path is None else Paint()
    return in_order([section], paint, text=run.settings.text)

"""``crawl``: fill or refresh the index of this machine from a list of hosts."""

from __future__ import annotations

import asyncio
import math
import os
import re
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Annotated, Final

import typer

from aui_tui.cli import output, streams
from aui_tui.cli.options import (
    AllowPrivate,
    CaFile,
    ConnectionOptions,
    ConnectTo,
    Insecure,
    Method,
    Pace,
    example,
    method_of,
    run_of,
    taking,
)
from aui_tui.cli.run import Run
from aui_tui.cli.sources import local, only_local
from aui_tui.cli.streams import age
from aui_tui.errors import AuiError, BadValue, ConfigError
from aui_tui.text import clean, count

if TYPE_CHECKING:
    from rich.text import Text

    from aui_tui.crawl import BadRow, Counts, Crawl, Done, Row, Terms, Workers
    from aui_tui.engine.policy import ScanPolicy
    from aui_tui.service.local import LocalService

app = typer.Typer()


EVERY: Final = 5.0
"""Seconds between the lines of progress where there is no terminal."""
WINDOW: Final = 30.0
"""Seconds over which the rate is taken."""
BAR: Final = 30


class Narration:
    """Hears what became of each row. ``total``: rows of the list, None when nobody knows.

    ``refused`` counts hosts that turned out to be none to scan. ``sites``: those that have a card, kept when
    ``collecting``.
    """

    def __init__(self, total: int | None, *, quiet: bool, as_json: bool, ascii_only: bool = False) -> None:
        self.crawl: Crawl | None = None
        self.refused = 0
        self.collecting = False
        self.sites: list[str] = []
        self._total = total
        self._quiet = quiet
        self._as_json = as_json
        self._ascii = ascii_only
        self._began = time.monotonic()
        self._marks: list[tuple[float, int]] = [(self._began, 0)]
        self.plain = False
        self._last = self._began

    @property
    def counts(self) -> Counts | None:
        """The counts of the crawl, None before it begins."""
        return self.crawl.counts if self.crawl is not None else None

    def tell(self, done: Done) -> None:
        """Take in what became of one row."""
        if self.collecting and done.kind not in ("bad", "failed"):
            self.sites.append(done.row.site)  # type: ignore[union-attr]
        if done.kind == "bad":
            shown = f" ({done.row.text})" if done.row.text else ""  # type: ignore[union-attr]
            streams.say(f"line {done.row.line}: {done.row.reason}{shown}")  # type: ignore[union-attr]
        elif done.kind == "failed" and done.result is not None:
            self.refused += done.result.status == 400
            streams.say(f"line {done.row.line}: {done.result.error}")
        if self._as_json and done.kind != "fresh":
            streams.put_line(record_of(done))
        if self.plain and time.monotonic() - self._last >= EVERY:
            self._last = time.monotonic()
            streams.say(self.line())

    def rate(self) -> float:
        """Return the hosts per second of the last WINDOW seconds."""
        counts, now = self.counts, time.monotonic()
        worked = counts.worked if counts is not None else 0
        if now - self._marks[-1][0] > 0.5:
            self._marks.append((now, worked))
        while len(self._marks) > 2 and now - self._marks[1][0] > WINDOW:
            del self._marks[0]
        then, before = self._marks[0]
        return (worked - before) / max(now - then, 0.001)

    def line(self) -> str:
        """Return the progress in one line."""
        counts, rate = self.counts, self.rate()
        dealt = counts.total if counts is not None else 0
        whole = f" of {self._total:,}" if self._total is not None else ""
        parts = [f"{dealt:,}{whole} rows", f"{rate:.1f} hosts/s"]
        if self._total is not None and rate > 0 and dealt < self._total:
            parts.append(f"about {age((self._total - dealt) / rate)} left")
        if self.crawl is not None:
            parts.append(f"{self.crawl.in_flight} in flight")
        if counts is not None:
            named = (("unreachable", counts.unreachable), ("failed", counts.failed), ("bad rows", counts.bad))
            parts += [f"{number:,} {name}" for name, number in named if number]
        return ", ".join(parts)

    def summary(self) -> str:
        """Return the end of the story in one sentence."""
        counts = self.counts
        if counts is None:
            return ""
        seconds = time.monotonic() - self._began
        parts = [
            f"{count(counts.worked, 'host')} scanned in {seconds:.1f} s",
            f"{counts.worked / max(seconds, 0.001):.1f}/s",
            f"{counts.unreachable:,} unreachable",
            f"{counts.fresh:,} skipped with a recent card",
            f"{counts.failed:,} failed",
            count(counts.bad, "bad row"),
        ]
        if counts.unsaved:
            parts.append(f"{counts.unsaved:,} not saved")
        return ", ".join(parts) + "."

    def __rich__(self) -> Text:
        from rich.text import Text

        counts = self.counts
        full, empty = "#." if self._ascii else "█░"
        text = Text("crawl ", no_wrap=True, overflow="crop" if self._ascii else "ellipsis")
        if self._total:
            filled = min(BAR, (counts.total if counts is not None else 0) * BAR // self._total)
            text.append(full * filled, "green").append(empty * (BAR - filled), "dim").append(" ")
        return text.append(self.line())


@contextmanager
def narrating(total: int | None, *, quiet: bool, as_json: bool, ascii_only: bool = False) -> Iterator[Narration]:
    """Yield the narration of a crawl; the summary comes at its end, interrupted or not."""
    narration = Narration(total, quiet=quiet, as_json=as_json, ascii_only=ascii_only)
    try:
        if quiet or sys.stderr is None:
            yield narration
        elif sys.stderr.isatty():
            with _live(narration):
                yield narration
        else:
            narration.plain = True
            yield narration
    finally:
        if not quiet and narration.counts is not None:
            streams.say(narration.summary())


@contextmanager
def _live(narration: Narration) -> Iterator[None]:
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True, highlight=False)
    with Live(narration, console=console, refresh_per_second=4, transient=True, redirect_stdout=False):
        yield


def record_of(done: Done) -> bytes:
    """Return the line of JSON for one row: the card, else an object with line, host, title, status and detail."""
    import msgspec

    result = done.result
    if result is not None and result.card:
        return result.card
    if result is not None:
        told = {"host": done.row.site, "title": result.title, "status": result.status, "detail": result.error}  # type: ignore[union-attr]
    else:
        told = {"host": done.row.text, "title": "Bad row", "status": 400, "detail": done.row.reason}  # type: ignore[union-attr]
    return msgspec.json.encode({"found": False, "line": done.row.line} | told)


BAD_ROWS: Final = 1
"""Exit code of a crawl that passed over bad rows."""
MOST_PROCESSES: Final = 64
IN_FLIGHT: Final = 100
FAST_IN_FLIGHT: Final = 300
"""A client that asks for more in the same time needs more hosts that it can wait for."""
UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


def seconds_of(name: str, text: str) -> float:
    """Return a duration such as ``7d``, ``12h`` or ``90s`` in seconds. Raises BadValue."""
    found = re.fullmatch(r"(\d{1,6})([smhdw])", text.strip().lower())
    if found is None:
        raise BadValue(f"{name} takes a number and a unit such as 7d, 12h, 30m or 90s, not {clean(text, 40)!r}.")
    return float(int(found[1]) * UNITS[found[2]])


@app.command("crawl", cls=taking(), epilog=example("aui-tui crawl hosts.csv --older-than 7d"))
def crawl(
    context: typer.Context,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Lines or CSV of host, name, category; - is standard input.")
    ] = "",
    starter: Annotated[bool, typer.Option("--starter", help="Take the packaged list of known hosts.")] = False,
    older_than: Annotated[
        str, typer.Option("--older-than", metavar="AGE", help="Skip hosts with a card younger than this.")
    ] = "7d",
    resume: Annotated[
        bool, typer.Option("--resume/--no-resume", help="Go by the cards that are kept, or scan every host.")
    ] = True,
    concurrency: Annotated[
        int | None,
        typer.Option(
            "--concurrency",
            min=1,
            max=10_000,
            show_default=f"{IN_FLIGHT}; with --fast {FAST_IN_FLIGHT}",
            help="Hosts in flight at most; a cluster takes what it can.",
        ),
    ] = None,
    max_per_second: Annotated[
        float, typer.Option("--max-per-second", min=0, help="Hosts begun per second at most; 0: no limit.")
    ] = 0,
    processes: Annotated[
        int, typer.Option("--processes", min=0, max=MOST_PROCESSES, help="Scanning processes; 0: one per core.")
    ] = 0,
    dask: Annotated[
        str, typer.Option("--dask", metavar="ADDRESS", help="Scan on this Dask cluster, such as tcp://head:8786.")
    ] = "",
    fast: Annotated[
        bool, typer.Option("--fast", help="Ask by the extra fast, an HTTP client in Rust; for large crawls.")
    ] = False,
    tasks: Annotated[
        bool,
        typer.Option(
            "--tasks", help="Try the tasks in a browser on every host without a run, after the scans; one per core."
        ),
    ] = False,
    dashboard: Annotated[
        bool, typer.Option("--dashboard", help="Show the index in the dashboard while it fills.")
    ] = False,
    method: Method = "",
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print every result, one line of JSON each.", rich_help_panel=output.OUTPUT),
    ] = False,
    keys: output.KeyNames = "names",
    allow_private: AllowPrivate = False,
    connect_to: ConnectTo = None,
    cacert: CaFile = None,
    insecure: Insecure = False,
    pace: Pace = 0.0,
) -> int:
    """Scan a list of hosts into the index; started again, it goes on where it ended.

    Costs none of the ten scans an hour.
    """
    run = run_of(context)
    only_local(run, "A crawl")
    if bool(file) == starter:
        raise BadValue("Name one list: a FILE, - for standard input, or --starter.")
    if file == "-":
        streams.source()
    if math.isnan(max_per_second):
        raise BadValue("--max-per-second takes a number of hosts; 0 is no limit.")
    if fast:
        _check_fast(dask)
    if tasks:
        _check_tasks(as_json=as_json)
    age = seconds_of("--older-than", older_than) if resume else 0.0
    method = method_of(method) or run.settings.method
    in_flight = concurrency or (FAST_IN_FLIGHT if fast else IN_FLIGHT)
    chosen_keys = output.keys_of(keys)
    access = ConnectionOptions(
        allow_private=allow_private, connect_to=connect_to, cacert=cacert, insecure=insecure
    ).policy(pace)

    from aui_tui.crawl import Crawl, Terms, chunks, count_lines, groups, read, starter_rows
    from aui_tui.records.registry import Starter

    total = len(Starter()) if starter else count_lines(file)
    if dashboard:
        return _watched(run, access, file, total, age=age, as_json=as_json, tasks=tasks)

    async def work() -> int:
        async with local(run, access) as service:
            terms = Terms.of(
                service.access,
                method=method,
                base_url=run.settings.base_url,
                keys=chosen_keys if as_json else None,
                fast=fast,
            )

            def rows(pause: Callable[[], None]) -> Iterable[Row | BadRow]:
                return starter_rows() if starter else read(chunks(file, pause), service.access.target)

            plain = run.settings.ascii
            with narrating(total, quiet=run.quiet, as_json=as_json, ascii_only=plain) as narration:
                narration.collecting = tasks
                async with _workers(terms, in_flight, processes, dask) as (workers, places):
                    narration.crawl = crawl = Crawl(
                        service,
                        workers,
                        concurrency=places,
                        older_than=age,
                        rate=max_per_second,
                        on_result=narration.tell,
                        notice=streams.say,
                    )
                    counts = await crawl.run(groups(rows))
            if tasks:
                await _try_tasks(service, narration.sites, quiet=run.quiet)
        return BAD_ROWS if counts.bad or narration.refused else 0

    return run.wait(work())


def _watched(
    run: Run, access: ScanPolicy | None, file: str, total: int | None, *, age: float, as_json: bool, tasks: bool
) -> int:
    """Crawl while the dashboard shows the index; leaving it ends the crawl. Return the exit code of the dashboard."""
    from aui_tui.cli import dashboard
    from aui_tui.cli.sources import local_of
    from aui_tui.crawl import chunks, read, starter_rows

    if as_json or tasks or file == "-":
        raise BadValue("--dashboard goes with a list in a file, or --starter, and without --json and --tasks.")
    if not streams.interactive():
        raise ConfigError(f"{streams.NO_SCREEN}; leave --dashboard out.")
    service = local_of(run, access)

    def rows() -> Iterable[Row | BadRow]:
        return read(chunks(file, lambda: None), service.access.target) if file else starter_rows()

    async def scans(on_card: Callable[[object], None]) -> None:
        await into(run, service, rows, on_card, older_than=age)

    return dashboard.open_on(run, service, feed=("crawl", total or 0, scans))


async def into(
    run: Run,
    service: LocalService,
    rows: Callable[[], Iterable[Row | BadRow]],
    on_result: Callable[[object], None],
    *,
    older_than: float = 7 * 86_400.0,
) -> None:
    """Scan ``rows`` into the index of ``service`` without a word; ``on_result`` is called for each on this loop."""
    from aui_tui.crawl import Crawl, Terms, groups

    loop = asyncio.get_running_loop()

    def tell(done: Done) -> None:
        loop.call_soon_threadsafe(on_result, done)

    terms = Terms.of(service.access, method=run.settings.method, base_url=run.settings.base_url, keys=None, fast=False)
    async with _workers(terms, IN_FLIGHT, 0, "") as (workers, places):
        crawl = Crawl(
            service,
            workers,
            concurrency=places,
            older_than=older_than,
            on_result=tell,
        )
        await crawl.run(groups(lambda pause: rows()))


def _check_tasks(*, as_json: bool) -> None:
    """Raise NoBrowser without a browser, BadValue beside ``--json``, whose lines are printed before the tasks."""
    from aui_tui.service.tasks import TaskRuns

    if as_json:
        raise BadValue("--json prints each card when it is scanned, before its tasks: leave --json or --tasks out.")
    TaskRuns.check(act=False, own=False)


async def _try_tasks(service: LocalService, hosts: Iterable[str], *, quiet: bool) -> None:
    """Run the tasks on the hosts of the list that have no run yet, as many at a time as there are cores."""
    from aui_tui.cli.tasks import narrator
    from aui_tui.service.tasks import AT_ONCE

    waiting = asyncio.Semaphore(AT_ONCE)

    async def one(host: str) -> None:
        async with waiting:
            try:
                if await service.transcript(host) is None:
                    await service.run_tasks_again(host, live=narrator(host, quiet=quiet))
            except AuiError as error:
                streams.say(f"{host}: {error}")

    await asyncio.gather(*(one(host) for host in hosts))


def _check_fast(dask: str) -> None:
    """Raise BadValue or ConfigError when the extra ``fast`` cannot be used."""
    from aui_tui.engine.network import installed

    if dask:
        raise BadValue("--fast is for scanning processes on this machine; leave out either --fast or --dask.")
    if not installed():
        raise ConfigError("--fast needs the extra: pip install 'aui-tui[fast]'.")


@asynccontextmanager
async def _workers(terms: Terms, concurrency: int, processes: int, dask: str) -> AsyncIterator[tuple[Workers, int]]:
    """Yield who scans, and how many hosts may be in flight."""
    if dask:
        from aui_tui.crawl.cluster import Cluster

        async with Cluster(dask, terms) as cluster:
            yield cluster, cluster.capacity
    else:
        from aui_tui.crawl import Pool

        async with Pool(terms, processes or os.cpu_count() or 1) as pool:
            if pool.capacity < concurrency:
                streams.say(f"At most {pool.capacity} hosts in flight: the system allows no more open files.")
            yield pool, min(concurrency, pool.capacity)

"""``crawl``: fill or refresh the index of this machine from a list of hosts."""

from __future__ import annotations

import asyncio
import math
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

import typer

from aui_tui.cli import options, streams
from aui_tui.cli.output import keys_of
from aui_tui.cli.reach import policy_of
from aui_tui.cli.run import Run
from aui_tui.cli.sources import local, only_local
from aui_tui.errors import AuiError, BadValue, ConfigError
from aui_tui.model import labels
from aui_tui.process import command
from aui_tui.text import count

if TYPE_CHECKING:
    from rich.text import Text

    from aui_tui.model.codec import Keys
    from aui_tui.scan.policy import ScanPolicy
    from aui_tui.service.crawl import BadRow, Counts, Crawl, CrawlSettings, Done, Row, Workers
    from aui_tui.service.local import LocalService

app = typer.Typer()


EVERY: Final = 5.0
"""Seconds between the lines of progress where there is no terminal."""
WINDOW: Final = 30.0
"""Seconds over which the rate is taken."""
BAR: Final = 30
LONGEST_LINE: Final = 16 << 20
"""Bytes of the longest line of results that is read from a crawl in a process of its own."""


class Narration:
    """Counts the outcome of each row. ``total``: rows of the list, None when unknown.

    ``refused`` counts hosts that must not be scanned. ``sites``: those that have a card, kept when
    ``collecting``.
    """

    def __init__(self, total: int | None, *, quiet: bool, as_json: bool, ascii_only: bool = False) -> None:
        from aui_tui.service.crawl import Counts

        self.crawl: Crawl | None = None
        self.counts = Counts()
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

    def begin(self, crawl: Crawl) -> None:
        """Take the counts from ``crawl``."""
        self.crawl, self.counts = crawl, crawl.counts

    def tell(self, done: Done) -> None:
        """Count the outcome of one row."""
        from aui_tui.service.crawl import BadRow

        row = done.row
        if isinstance(row, BadRow):
            streams.say(f"line {row.line}: {row.reason}{f' ({row.text})' if row.text else ''}")
        elif done.kind != "failed":
            self.sites += [row.site] if self.collecting else []
        elif done.result is not None:
            self.refused += done.result.status == 400
            streams.say(f"line {row.line}: {done.result.error}")
        if self._as_json and done.kind != "fresh":
            streams.put_line(record_of(done))
        if self.plain and time.monotonic() - self._last >= EVERY:
            self._last = time.monotonic()
            streams.say(self.line())

    def rate(self) -> float:
        """Return the hosts per second of the last WINDOW seconds."""
        worked, now = self.counts.worked, time.monotonic()
        if now - self._marks[-1][0] > 0.5:
            self._marks.append((now, worked))
        while len(self._marks) > 2 and now - self._marks[1][0] > WINDOW:
            del self._marks[0]
        then, before = self._marks[0]
        return (worked - before) / max(now - then, 0.001)

    def line(self) -> str:
        """Return the progress in one line."""
        counts, rate = self.counts, self.rate()
        dealt = counts.total
        whole = f" of {self._total:,}" if self._total is not None else ""
        parts = [f"{dealt:,}{whole} rows", f"{rate:.1f} hosts/s"]
        if self._total is not None and rate > 0 and dealt < self._total:
            parts.append(f"about {labels.span((self._total - dealt) / rate)} left")
        if self.crawl is not None:
            parts.append(f"{self.crawl.in_flight} in flight")
        named = (("unreachable", counts.unreachable), ("failed", counts.failed), ("bad rows", counts.bad))
        parts += [f"{number:,} {name}" for name, number in named if number]
        return ", ".join(parts)

    def summary(self) -> str:
        """Return the summary in one sentence."""
        counts = self.counts
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

        full, empty = "#." if self._ascii else "█░"
        text = Text("crawl ", no_wrap=True, overflow="crop" if self._ascii else "ellipsis")
        if self._total:
            filled = min(BAR, self.counts.total * BAR // self._total)
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
    except ConfigError:
        quiet = quiet or not narration.counts.total  # nothing to sum up
        raise
    finally:
        if not quiet and narration.crawl is not None:
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

    from aui_tui.service.crawl import BadRow

    row, result = done.row, done.result
    if result is not None and result.card:
        return result.card
    if isinstance(row, BadRow):
        reported = {"host": row.text, "title": "Bad row", "status": 400, "detail": row.reason}
    else:
        assert result is not None  # only rows with an outcome have a line
        reported = {"host": row.site, "title": result.title, "status": result.status, "detail": result.error}
    return msgspec.json.encode({"found": False, "line": done.row.line} | reported)


BAD_ROWS: Final = 1
"""Exit code of a crawl that passed over bad rows."""
MOST_PROCESSES: Final = 64
IN_FLIGHT: Final = 100
SPEED: Final = "How fast, and on what"


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """How fast a crawl goes, and what scans: this process, several of this machine, or a cluster."""

    concurrency: int = IN_FLIGHT
    max_per_second: float = 0.0
    workers: int = 1
    scheduler: str = ""

    def check(self) -> None:
        """Raise BadValue for a rate that is not a number, and for two answers to what scans."""
        if math.isnan(self.max_per_second):
            raise BadValue("--max-per-second takes a number of hosts; 0 is no limit.")
        if self.scheduler and self.workers > 1:
            raise BadValue("--scheduler names a cluster with workers of its own; leave out --workers or --scheduler.")


@dataclass(frozen=True, slots=True)
class HostList:
    """The list that a crawl goes through: ``file``, ``-`` for standard input, or empty for the packaged one."""

    file: str

    def total(self) -> int | None:
        """Return how many rows there are; None when unknown."""
        from aui_tui.model.registry import Starter
        from aui_tui.service.crawl import count_lines

        return count_lines(self.file) if self.file else len(Starter())

    def rows(self, access: ScanPolicy, pause: Callable[[], None] = lambda: None) -> Iterable[Row | BadRow]:
        """Return the rows; ``pause`` is called between two chunks of a file."""
        from aui_tui.service.crawl import chunks, read, starter_rows

        return read(chunks(self.file, pause), access.target) if self.file else starter_rows()


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlRequest:
    """What a crawl is to do. ``keys``: those of the records to print, None to print none."""

    hosts: HostList
    method: str
    older_than: float = 7 * 86_400.0
    keys: Keys | None = None
    tasks: bool = False
    speed: Speed = Speed()


@app.command("crawl", epilog="Example: aui-tui crawl hosts.csv --older-than 7d")
def crawl(
    context: typer.Context,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Lines or CSV of host, name, category; - is standard input.")
    ] = "",
    starter: Annotated[bool, typer.Option("--starter", help="Take the packaged list of known hosts.")] = False,
    older_than: Annotated[
        str, typer.Option("--older-than", metavar="AGE", help="Skip hosts with a card younger than this.")
    ] = "7d",
    force: options.Force = False,
    tasks: options.Tasks = False,
    dashboard: Annotated[
        bool, typer.Option("--dashboard", help="Show the index in the dashboard while it fills.")
    ] = False,
    method: options.Method = "",
    allow_private: options.AllowPrivate = False,
    connect_to: options.ConnectTo = None,
    concurrency: Annotated[
        int,
        typer.Option(
            "--concurrency",
            metavar="N",
            min=1,
            max=10_000,
            help="Hosts scanned at a time; with --workers or --scheduler the cluster sets its own number.",
            rich_help_panel=SPEED,
        ),
    ] = IN_FLIGHT,
    max_per_second: Annotated[
        float,
        typer.Option(
            "--max-per-second",
            metavar="N",
            min=0,
            help="Hosts started per second, at most; 0: no limit.",
            rich_help_panel=SPEED,
        ),
    ] = 0,
    workers: Annotated[
        int,
        typer.Option(
            "--workers",
            metavar="N",
            min=1,
            max=MOST_PROCESSES,
            help="Scanning processes; more than 1 need Dask.",
            rich_help_panel=SPEED,
        ),
    ] = 1,
    scheduler: Annotated[
        str,
        typer.Option(
            "--scheduler",
            metavar="ADDRESS",
            help="Scan on this Dask cluster, such as tcp://head:8786.",
            rich_help_panel=SPEED,
        ),
    ] = "",
    as_json: options.Json = False,
) -> int:
    """Scan a list of hosts into the index; started again, it continues where it stopped.

    A crawl costs none of the ten scans an hour.
    """
    run = options.run_of(context)
    only_local(run, "A crawl")
    method = options.method_of(method) or run.settings.method
    if bool(file) == starter:
        raise BadValue("Name one list: a FILE, - for standard input, or --starter.")
    if file == "-":
        streams.source()
    speed = Speed(concurrency=concurrency, max_per_second=max_per_second, workers=workers, scheduler=scheduler)
    speed.check()
    if tasks:
        _check_tasks(as_json=as_json)
    request = CrawlRequest(
        hosts=HostList(file),
        method=method,
        older_than=0.0 if force else options.seconds_of("--older-than", older_than),
        keys=keys_of(run) if as_json else None,
        tasks=tasks,
        speed=speed,
    )
    access = policy_of(run, allow_private=allow_private, connect_to=connect_to)
    total = request.hosts.total()
    return _watched(run, access, request, total) if dashboard else run.wait(_narrated(run, access, request, total))


async def _narrated(run: Run, access: ScanPolicy | None, request: CrawlRequest, total: int | None) -> int:
    """Crawl with progress on standard error; return the exit code."""
    as_json, plain = request.keys is not None, run.settings.ascii
    async with local(run, access) as service:
        with narrating(total, quiet=run.quiet, as_json=as_json, ascii_only=plain) as narration:
            narration.collecting = request.tasks
            counts = await _scan_all(run, service, request, narration.tell, begun=narration.begin)
        if request.tasks:
            await _try_tasks(service, narration.sites, quiet=run.quiet)
    return BAD_ROWS if counts.bad or narration.refused else 0


async def _scan_all(
    run: Run,
    service: LocalService,
    request: CrawlRequest,
    on_result: Callable[[Done], None],
    *,
    notice: Callable[[str], None] = streams.say,
    begun: Callable[[Crawl], None] = lambda crawl: None,
) -> Counts:
    """Scan the hosts of ``request`` into the index of ``service``; ``begun`` is called with the crawl under way."""
    from aui_tui.service.crawl import Crawl, CrawlSettings, groups

    speed = request.speed
    settings = CrawlSettings.of(service.access, base_url=run.settings.base_url, keys=request.keys)
    async with _workers(settings, speed, notice) as (workers, places):
        crawl = Crawl(
            service,
            workers,
            method=request.method,
            concurrency=places,
            older_than=request.older_than,
            rate=speed.max_per_second,
            on_result=on_result,
            notice=notice,
        )
        begun(crawl)
        return await crawl.run(groups(lambda pause: request.hosts.rows(service.access, pause)))


def _watched(run: Run, access: ScanPolicy | None, request: CrawlRequest, total: int | None) -> int:
    """Crawl while the dashboard shows the index; leaving it ends the crawl. Return the exit code of the dashboard."""
    from aui_tui.cli import dashboard
    from aui_tui.cli.sources import local_of

    if request.keys is not None or request.tasks or request.hosts.file == "-":
        raise BadValue("--dashboard needs a list in a file or --starter, and cannot be used with --json or --tasks.")
    if not streams.interactive():
        raise ConfigError(f"{streams.NO_SCREEN}; leave --dashboard out.")
    words = [word for word in sys.argv[1:] if word != "--dashboard"]

    async def scans(on_card: Callable[[object], None]) -> None:
        await into(words, on_card)

    return dashboard.open_on(run, local_of(run, access), feed=("crawl", range(total or 0), scans))


async def into(words: Sequence[str], on_result: Callable[[object], None]) -> None:
    """Run the crawl that the command line ``words`` asks for in a process of its own; cancelling ends it in order.

    ``on_result`` is called for each line of its results. A dashboard beside it stays as quick as ever.
    """
    crawl = await asyncio.create_subprocess_exec(
        *command("aui_tui.__main__", *words, "--json", "--quiet"),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=LONGEST_LINE,
        process_group=0 if os.name == "posix" else None,
    )
    assert crawl.stdout is not None
    try:
        async for line in crawl.stdout:
            on_result(line)
        await crawl.wait()
    finally:
        if crawl.returncode is None:
            crawl.terminate()
            await crawl.wait()


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


@asynccontextmanager
async def _workers(
    settings: CrawlSettings, speed: Speed, notice: Callable[[str], None]
) -> AsyncIterator[tuple[Workers, int]]:
    """Yield who scans, and how many hosts may be in flight."""
    if speed.scheduler or speed.workers > 1:
        from aui_tui.service.crawl.cluster import Cluster

        async with Cluster(settings, address=speed.scheduler, processes=speed.workers) as cluster:
            yield cluster, cluster.capacity
    else:
        from aui_tui.service.crawl import Here

        async with Here(settings) as here:
            if here.capacity < speed.concurrency:
                notice(f"At most {count(here.capacity, 'host')} in flight: the system allows no more open files.")
            yield here, min(speed.concurrency, here.capacity)

"""``crawl``: fill or refresh the index of this machine from a list of hosts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Annotated, Final

import typer

from aui_tui.cli import options, streams
from aui_tui.cli.output import keys_of
from aui_tui.cli.parser import App, run_for
from aui_tui.cli.progress import drawn_live
from aui_tui.cli.run import Run
from aui_tui.cli.site_options import policy_of
from aui_tui.cli.sources import local, only_local
from aui_tui.errors import AuiError, BadValue, ConfigError
from aui_tui.model import labels
from aui_tui.text import count

if TYPE_CHECKING:
    from aui_tui.scan.policy import ScanPolicy
    from aui_tui.service.crawl.crawl import Crawl, Done
    from aui_tui.service.crawl.listing import BadRow, ListedHost
    from aui_tui.service.crawl.work import CrawlSettings, Workers
    from aui_tui.service.local import LocalService

app = App()

EVERY: Final = 5.0
"""Seconds between the lines of progress where there is no terminal."""
BAD_ROWS: Final = 1
"""Exit code of a crawl that passed over bad rows."""
MOST_PROCESSES: Final = 64


class Narration:
    """Reports the outcome of each row of ``crawl``; ``total``: rows of the list, None when unknown.

    ``refused`` counts hosts that must not be scanned; ``sites`` are those that have a card.
    """

    def __init__(self, total: int | None, *, as_json: bool) -> None:
        self.crawl: Crawl | None = None
        self.refused = 0
        self.sites: list[str] = []
        self._total, self._as_json = total, as_json
        self._began = self._last = time.monotonic()
        self._lines = self._told_of_unknown = False

    def tell(self, done: Done) -> None:
        """Report the outcome of one row."""
        from aui_tui.service.crawl.listing import BadRow

        row = done.row
        if isinstance(row, BadRow):
            streams.say(f"line {row.line}: {row.reason}{f' ({row.text})' if row.text else ''}")
        else:
            if done.kind != "failed":
                self.sites.append(row.site)
            if row.unknown and not self._told_of_unknown:
                self._told_of_unknown = True
                streams.say(f"line {row.line}: {row.unknown} is no category; such hosts are scanned without one.")
        if done.result is not None and done.result.error:
            self.refused += done.result.status == 400
            streams.say(f"line {row.line}: {done.result.error}")
        if self._as_json and done.kind != "fresh":
            streams.put_line(record_of(done))
        if self._lines and time.monotonic() - self._last >= EVERY:
            self._last = time.monotonic()
            streams.say(self.line())

    def line(self) -> str:
        """Return the progress in one line."""
        assert self.crawl is not None
        counts = self.crawl.counts
        rate = counts.worked / max(time.monotonic() - self._began, 0.001)
        of = f" of {self._total:,}" if self._total is not None else ""
        parts = [f"{counts.total:,}{of} rows", f"{rate:.1f} hosts/s"]
        if self._total is not None and rate > 0 and counts.total < self._total:
            parts.append(f"about {labels.span((self._total - counts.total) / rate)} left")
        parts.append(f"{self.crawl.in_flight} in flight")
        named = (("unreachable", counts.unreachable), ("failed", counts.failed), ("bad rows", counts.bad))
        return ", ".join([*parts, *(f"{number:,} {name}" for name, number in named if number)])

    def summary(self) -> str:
        """Return the summary in one sentence."""
        assert self.crawl is not None
        counts, seconds = self.crawl.counts, time.monotonic() - self._began
        parts = [
            f"{count(counts.worked, 'host')} scanned in {seconds:.1f} s",
            f"{counts.worked / max(seconds, 0.001):.1f}/s",
            f"{counts.unreachable:,} unreachable",
            f"{counts.fresh:,} skipped with a recent card",
            f"{counts.failed:,} failed",
            count(counts.bad, "bad row"),
            *([f"{counts.unsaved:,} not saved"] if counts.unsaved else []),
        ]
        return ", ".join(parts) + "."

    @contextmanager
    def shown(self, crawl: Crawl, *, quiet: bool) -> Iterator[None]:
        """Show the progress of ``crawl`` while the block runs, and its summary at the end, interrupted or not."""
        self.crawl = crawl
        try:
            with drawn_live(self.line, quiet=quiet, per_second=4) as is_drawn:
                self._lines = not (is_drawn or quiet)
                yield
        except ConfigError:
            quiet = quiet or not crawl.counts.total  # nothing to sum up
            raise
        finally:
            if not quiet:
                streams.say(self.summary())


def record_of(done: Done) -> bytes:
    """Return the line of JSON for one row: the card, else an object with line, host, title, status and detail."""
    import msgspec

    from aui_tui.service.crawl.listing import BadRow

    row, result = done.row, done.result
    if result is not None and result.card:
        return result.card
    if isinstance(row, BadRow):
        reported = {"host": row.text, "title": "Bad row", "status": 400, "detail": row.reason}
    else:
        assert result is not None  # only rows with an outcome have a line
        reported = {"host": row.site, "title": result.title, "status": result.status, "detail": result.error}
    return msgspec.json.encode({"found": False, "line": done.row.line} | reported)


@app.command("crawl", epilog="Example: aui-tui crawl hosts.csv")
def crawl(
    context: typer.Context,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Lines or CSV of host, name, category; - is standard input.")
    ] = "",
    starter: Annotated[bool, typer.Option("--starter", help="Take the packaged list of known hosts.")] = False,
    force: options.Force = False,
    tasks: options.Tasks = False,
    method: options.Method = "",
    allow_private: options.AllowPrivate = False,
    connect_to: options.ConnectTo = None,
    workers: Annotated[
        int,
        typer.Option(
            "--workers",
            metavar="N",
            min=1,
            max=MOST_PROCESSES,
            help="Scanning processes; more than 1 need Dask.",
        ),
    ] = 1,
    as_json: options.Json = False,
) -> int:
    """Scan a list of hosts into the index; started again, it continues where it stopped.

    Hosts with a card of the last 7 days are skipped. A crawl costs none of the ten scans an hour.

    Settings (aui-tui config): older_than, concurrency, max_per_second, reads, scheduler.
    """
    run = run_for(context)
    settings = run.settings
    only_local(run, "A crawl")
    method = method or settings.method
    if bool(file) == starter:
        raise BadValue("Name one list: a FILE, - for standard input, or --starter.")
    if file == "-":
        streams.source()
    if settings.scheduler and workers > 1:
        raise BadValue("The setting scheduler names a cluster with workers of its own; leave out --workers.")
    if tasks:
        _check_tasks(as_json=as_json)
    age = 0.0 if force else options.seconds_of("older_than", settings.older_than)
    access = policy_of(run, allow_private=allow_private, connect_to=connect_to)
    narration = Narration(_total(file), as_json=as_json)

    async def work() -> int:
        from aui_tui.service.crawl.crawl import Crawl
        from aui_tui.service.crawl.listing import groups
        from aui_tui.service.crawl.work import CrawlSettings

        async with local(run, access) as service:
            keys = keys_of(run) if as_json else None
            scan = CrawlSettings.of(service.access, base_url=settings.base_url, keys=keys, reads=settings.reads)
            async with _workers(run, scan, workers) as (scanning, places):
                crawl = Crawl(
                    service,
                    scanning,
                    method=method,
                    concurrency=places,
                    older_than=age,
                    rate=settings.max_per_second,
                    on_result=narration.tell,
                    notice=streams.say,
                )
                with narration.shown(crawl, quiet=run.quiet):
                    counts = await crawl.run(groups(_rows(file, service.access)))
            if tasks:
                await _try_tasks(service, narration.sites, quiet=run.quiet)
        return BAD_ROWS if counts.bad or narration.refused else 0

    return run.wait(work())


def _total(file: str) -> int | None:
    """Return how many rows the list ``file`` has, the packaged one for no name; None when unknown."""
    from aui_tui.model.starter import starter
    from aui_tui.service.crawl.listing import count_lines

    return count_lines(file) if file else len(starter())


def _rows(file: str, access: ScanPolicy) -> Iterable[ListedHost | BadRow]:
    """Return the rows of the list ``file``, of the packaged one for no name."""
    from aui_tui.service.crawl.listing import read_file, starter_rows

    return read_file(file, access.target) if file else starter_rows()


def _check_tasks(*, as_json: bool) -> None:
    """Raise NoBrowser without a browser, BadValue beside ``--json``, whose lines are printed before the tasks."""
    from aui_tui.service.tasks import TaskRuns

    if as_json:
        raise BadValue("--json prints each card when it is scanned, before its tasks: leave --json or --tasks out.")
    TaskRuns.require_browser()


async def _try_tasks(service: LocalService, hosts: Iterable[str], *, quiet: bool) -> None:
    """Run the tasks on the hosts of the list that have no run yet, as many at a time as there are cores."""
    from aui_tui.cli.progress import task_steps
    from aui_tui.service.tasks import AT_ONCE

    waiting = asyncio.Semaphore(AT_ONCE)

    async def one(host: str) -> None:
        async with waiting:
            try:
                if await service.transcript(host) is None:
                    await service.run_tasks_again(host, live=task_steps(host, quiet=quiet))
            except AuiError as error:
                streams.say(f"{host}: {error}")

    await asyncio.gather(*(one(host) for host in hosts))


@asynccontextmanager
async def _workers(run: Run, scan: CrawlSettings, processes: int) -> AsyncIterator[tuple[Workers, int]]:
    """Yield who scans, and how many hosts may be in flight."""
    settings = run.settings
    if settings.scheduler or processes > 1:
        from aui_tui.service.crawl.cluster import Cluster

        async with Cluster(scan, address=settings.scheduler, processes=processes) as cluster:
            yield cluster, cluster.capacity
    else:
        from aui_tui.service.crawl.work import Here

        async with Here(scan) as local:
            if local.capacity < settings.concurrency:
                streams.say(f"At most {count(local.capacity, 'host')} in flight: the system allows no more open files.")
            yield local, min(settings.concurrency, local.capacity)

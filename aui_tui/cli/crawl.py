"""``crawl``: fill or refresh the index of this machine from a list of hosts."""

from __future__ import annotations

import math
import os
import re
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Final

import typer

from aui_tui.cli import output, streams
from aui_tui.cli.choices import Method, method_of
from aui_tui.cli.command import Run, command
from aui_tui.cli.crawlview import narrating
from aui_tui.cli.reach import AllowPrivate, CaFile, ConnectTo, Insecure, access_of
from aui_tui.cli.services import local, only_local
from aui_tui.errors import BadValue, ConfigError
from aui_tui.text import clean

if TYPE_CHECKING:
    from aui_tui.crawl import BadRow, Row, Terms
    from aui_tui.crawl.pool import Workers

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


def add(app: typer.Typer) -> None:
    """Add the command to ``app``."""

    @command(app, "crawl", example="aui-tui crawl hosts.csv --older-than 7d")
    def crawl(
        run: Run,
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
    ) -> int:
        """Scan a list of hosts into the index; started again, it goes on where it ended.

        Costs none of the ten scans an hour.
        """
        only_local(run, "A crawl")
        if bool(file) == starter:
            raise BadValue("Name one list: a FILE, - for standard input, or --starter.")
        if file == "-":
            streams.source()
        if math.isnan(max_per_second):
            raise BadValue("--max-per-second takes a number of hosts; 0 is no limit.")
        if fast:
            _check_fast(dask)
        age = seconds_of("--older-than", older_than) if resume else 0.0
        method = method_of(method) or run.settings.method
        in_flight = concurrency or (FAST_IN_FLIGHT if fast else IN_FLIGHT)
        chosen_keys = output.keys_of(keys)
        access = access_of(allow_private=allow_private, connect_to=connect_to, cacert=cacert, insecure=insecure)

        from aui_tui.crawl import Crawl, Terms, read, starter_rows
        from aui_tui.crawl.source import chunks, count_lines, groups
        from aui_tui.records.starter import Starter

        total = len(Starter()) if starter else count_lines(file)

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
            return BAD_ROWS if counts.bad or narration.refused else 0

        return run.wait(work())


def _check_fast(dask: str) -> None:
    """Raise BadValue or ConfigError when the extra ``fast`` cannot be used."""
    from aui_tui.engine.network.swift import installed

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
                streams.say(f"{pool.capacity} hosts in flight at most: the system allows no more open files.")
            yield pool, min(concurrency, pool.capacity)

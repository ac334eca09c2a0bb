"""Analyses in worker processes: results, limits, kills and clean ends."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import IO

import msgspec
import psutil
import pytest

from aui_tui.errors import Unavailable
from aui_tui.model.observations import PageFacts
from aui_tui.scan import page, parser_process
from aui_tui.scan.page import PageReading
from aui_tui.scan.parser_process import ParserProcess
from tests.faults.lab import responsive

BIG = b"<title>Big</title><main>" + b"<p>words and words</p>" * 4_000
TAGS = b"<title>Tags</title>" + b"<p>x" * 10_000
SLOW = b"<title>Slow</title>" + b"".join(b"<b a=%d>" % i for i in range(900)) + b"<p>x" * 250_000


async def test_large_pages_are_read_in_a_worker() -> None:
    async with ParserProcess() as parser:
        assert parser.pid is None
        assert await parser.page(b"<title>Small</title>") == page.read(b"<title>Small</title>")
        assert parser.pid is None
        assert await parser.page(BIG) == page.read(BIG)
        assert parser.pid is not None
    assert parser.pid is None


async def test_a_page_that_takes_too_long_gives_zeros_and_the_next_one_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser_process, "LIMIT", 0.2)
    async with ParserProcess() as parser:
        facts = (await parser.page(SLOW)).facts
        assert "over 0.2 s" in facts.problem
        assert facts.title == "Slow"
        assert facts.readable == 0
        monkeypatch.setattr(parser_process, "LIMIT", 60.0)  # on a busy machine any page may take longer
        assert (await parser.page(BIG)).facts.problem == ""


async def test_a_killed_worker_is_replaced() -> None:
    async with ParserProcess() as parser:
        await parser.page(BIG)
        os.kill(pid_of(parser), signal.SIGKILL)
        assert (await parser.page(BIG)).facts.problem == ""


@pytest.fixture
def job_sent(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set when a job, which has time, was handed to the worker."""
    sent, send = threading.Event(), parser_process._send

    def told(stream: IO[bytes] | None, value: object) -> None:
        send(stream, value)
        sent.set()

    monkeypatch.setattr(parser_process, "_send", told)
    monkeypatch.setattr(parser_process, "LIMIT", 60)
    return sent


async def stopped_in_a_job(parser: ParserProcess, sent: threading.Event) -> asyncio.Task[PageReading]:
    """Return a job that the worker of ``parser`` was given and does not begin."""
    await parser.page(BIG)
    sent.clear()
    os.kill(pid_of(parser), signal.SIGSTOP)
    job = asyncio.create_task(parser.page(TAGS))
    assert await asyncio.to_thread(sent.wait, 60)
    return job


async def test_time_in_which_the_machine_does_something_else_is_not_the_pages(
    monkeypatch: pytest.MonkeyPatch, job_sent: threading.Event
) -> None:
    async with ParserProcess() as parser:
        monkeypatch.setattr(parser_process, "LIMIT", 1.0)
        job = await stopped_in_a_job(parser, job_sent)
        await asyncio.sleep(1.5)
        os.kill(pid_of(parser), signal.SIGCONT)
        assert (await job).facts.problem == ""


def read(parser: ParserProcess, site: str, body: bytes) -> asyncio.Task[tuple[PageFacts, float]]:
    """Read a page of a site; the seconds are those for which it waited for a worker."""

    async def work() -> tuple[PageFacts, float]:
        waited = parser_process.waiting(site)
        return (await parser.page(body)).facts, waited.seconds

    return asyncio.create_task(work())


async def test_only_sites_whose_pages_overrun_wait_for_one_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser_process, "_cores", lambda: 2)
    monkeypatch.setattr(parser_process, "LIMIT", 0.2)
    async with ParserProcess() as parser:
        assert "over 0.2 s" in (await read(parser, "slow.example", SLOW))[0].problem
        monkeypatch.setattr(parser_process, "LIMIT", 60.0)
        await asyncio.gather(read(parser, "a.example", BIG), read(parser, "slow.example", BIG))
        slow = psutil.Process(pid_of_slow(parser))
        slow.suspend()
        waiting = [read(parser, "slow.example", BIG) for _ in range(3)]
        for _ in range(3):
            assert (await read(parser, "honest.example", BIG))[0].problem == ""
        assert not any(job.done() for job in waiting)
        slow.resume()
        done = await asyncio.gather(*waiting)
        assert [facts.problem for facts, _ in done] == [""] * 3
        assert max(seconds for _, seconds in done) > 0
        assert len(parser.pids) <= 3


async def test_a_wait_is_bounded_and_says_nothing_of_the_site(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser_process, "_cores", lambda: 1)
    monkeypatch.setattr(parser_process, "LIMIT", 60.0)
    async with ParserProcess() as parser:
        await parser.page(BIG)
        worker = psutil.Process(pid_of(parser))
        worker.suspend()
        first = read(parser, "a.example", BIG)
        await asyncio.sleep(0.1)
        monkeypatch.setattr(parser_process, "PATIENCE", 0.2)
        with pytest.raises(Unavailable, match="too busy"):
            await read(parser, "b.example", BIG)
        worker.resume()
        assert (await first)[0].problem == ""


def pid_of_slow(parser: ParserProcess) -> int:
    return parser.pids[-1]


async def test_a_worker_killed_in_a_job_gives_zeros(job_sent: threading.Event) -> None:
    async with ParserProcess() as parser:
        job = await stopped_in_a_job(parser, job_sent)
        os.kill(pid_of(parser), signal.SIGKILL)
        assert (await job).facts.problem == "the parser crashed"
        assert (await parser.page(BIG)).facts.problem == ""


async def test_closing_ends_a_job_under_way(job_sent: threading.Event) -> None:
    parser = ParserProcess()
    job = await stopped_in_a_job(parser, job_sent)
    await parser.aclose()
    assert (await asyncio.wait_for(job, 60)).facts.problem
    assert parser.pid is None


async def test_robots_through_the_worker() -> None:
    body = b"User-agent: *\nDisallow: /\n" + b"# padding\n" * 10_000
    async with ParserProcess() as parser:
        assert (await parser.robots(body, 200)).wildcard_block
        assert (await parser.robots(b"", 503)).kind == "unknown"


async def test_prestart_brings_a_worker_up() -> None:
    async with ParserProcess() as parser:
        parser.prestart()
        parser.prestart()
        async with asyncio.timeout(60):
            while parser.pid is None:
                await asyncio.sleep(0.01)
        assert (await parser.page(BIG)).facts.problem == ""
        assert parser.pid is not None


def test_threads_that_need_a_worker_at_once_get_the_same_one() -> None:
    worker = parser_process._Worker()
    job = parser_process.ParseJob("page", BIG, "text/html", 200, parser_process.LIMIT)
    try:
        with ThreadPoolExecutor(4) as pool:
            starts = [pool.submit(worker.start) for _ in range(4)]
            assert len({start.result().pid for start in starts}) == 1
        assert worker.do(job) == msgspec.msgpack.encode(page.read(BIG, "text/html"))
    finally:
        worker.close()


async def test_a_closed_parser_says_so() -> None:
    parser = ParserProcess()
    await parser.aclose()
    await parser.aclose()
    assert (await parser.page(BIG)).facts.problem == "the parser is closed"
    assert (await parser.robots(b"User-agent: *\n" * 9_000, 200)).kind == "unknown"


async def test_no_worker_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    async with ParserProcess() as parser:
        facts = (await parser.page(BIG)).facts
    assert facts.problem == "no worker process could be started: FileNotFoundError"
    assert facts.title == "Big"


def test_one_parser_serves_several_event_loops() -> None:
    parser = ParserProcess()
    for _ in range(2):
        assert asyncio.run(parser.page(BIG)).facts.problem == ""
    pids = [pid_of(parser)]
    del parser
    gc.collect()
    wait_until_gone(pids)


@pytest.mark.parametrize("ending", ["", "os.kill(os.getpid(), 9)", "os._exit(3)", "raise SystemExit(4)"])
def test_no_worker_outlives_the_program(ending: str) -> None:
    program = f"""
import asyncio, os
from aui_tui.scan.parser_process import ParserProcess
from tests.faults.lab import responsive
parser = ParserProcess()
asyncio.run(parser.page(b"<p>words</p>" * 9_000))
print(parser.pid, flush=True)
{ending}
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert ended.stderr == ""
    wait_until_gone([int(pid) for pid in ended.stdout.split()])


async def test_the_event_loop_stays_free() -> None:
    """A page that takes a parser some tenths of a second of processor time takes one turn of the loop less than one."""
    async with ParserProcess() as parser:
        await parser.page(BIG)
        async with responsive() as turns:
            await parser.page(SLOW)
        assert len(turns) > 10
        assert turns[-1] < 0.1


def pid_of(parser: ParserProcess) -> int:
    assert parser.pid is not None
    return parser.pid


def wait_until_gone(pids: Iterable[int]) -> None:
    """Wait at most a minute for processes to end; one that only waits to be reaped has ended."""
    deadline = time.monotonic() + 60
    for pid in pids:
        while running(pid):
            assert time.monotonic() < deadline, f"process {pid} is still there"
            time.sleep(0.02)


def running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False

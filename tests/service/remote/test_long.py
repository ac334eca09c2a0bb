"""Long answers of a published index: honest ones load, hostile ones cost neither memory nor patience."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from typing import Final

import msgspec
import pytest

from aui_tui.model.query import Query
from aui_tui.service.remote.published import PublishedIndex
from tests.cards import INDEX, RICH_OPEN, encode_index
from tests.cli.runner import command, environment
from tests.loopback import QuietHandler, listening
from tests.service.remote.reader import JSON, remote
from tests.service.remote.scripted import Said, Source
from tests.service.waiting import eventually

MIB: Final = 1 << 20
ROW: Final = msgspec.json.encode(RICH_OPEN.summary())
HEAD: Final = b'{"scanned_at":"2026-01-01T00:00:00.000Z","ranked":['
ON_LINUX: Final = pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read from /proc")
MEASURE: Final = """
import asyncio, os, sys
from aui_tui.errors import AuiError
from aui_tui.model.query import Query
from aui_tui.service.remote import published

published.READ_SECONDS = 120.0

async def read(url):
    service = published.PublishedIndex(url)
    try:
        view = await service.index(Query())
        return f"{len(view.ranked)} rows {view.notice}"
    except AuiError as error:
        return str(error)
    finally:
        await service.aclose()

def peak():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM"))

for url in sys.stdin:
    if not os.fork():
        before = peak()
        said = asyncio.run(read(url.strip()))
        print(said, peak() - before, sep="\\n", flush=True)
        os._exit(0)
    os.wait()
"""


@contextlib.contextmanager
def sending(pieces: Iterator[bytes], coding: str = "") -> Iterator[str]:
    """Answer the first request with ``pieces``; give the address."""

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            if coding:
                self.send_header("Content-Encoding", coding)
            self.end_headers()
            with contextlib.suppress(OSError):
                for piece in pieces:
                    self.wfile.write(piece)

    with listening(Handler) as server:
        yield f"http://127.0.0.1:{server.server_port}"


Ask = Callable[..., tuple[str, int]]


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    """What a client says of the pieces of an answer, and by how many MiB it grew: a process, forked for each answer."""
    words, pipe = [sys.executable, "-c", MEASURE], subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True) as client:

        def asked(pieces: Iterator[bytes], coding: str = "") -> tuple[str, int]:
            with sending(pieces, coding) as url:
                print(url, file=client.stdin, flush=True)
                return client.stdout.readline(), int(client.stdout.readline())

        yield asked
        client.stdin.close()


def packed(pieces: Iterator[bytes]) -> Iterator[bytes]:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    for piece in pieces:
        yield packer.compress(piece)
    yield packer.flush()


def listed(element: bytes, size: int) -> Iterator[bytes]:
    """Yield an index of about ``size`` bytes whose elements are ``element``."""
    burst = b",".join([element] * max(1, MIB // (len(element) + 1)))
    yield HEAD + burst
    for _ in range(size // len(burst)):
        yield b"," + burst
    yield b"]}"


HOSTILE: Final[dict[str, tuple[Callable[[int], Iterator[bytes]], str, str]]] = {
    "gzip of zeros": (lambda size: packed(repeat(bytes(MIB), 40 * size // MIB)), "gzip", "more than 64 MiB"),
    "gzip of empty rows": (lambda size: packed(listed(b"{}", 40 * size)), "gzip", "more than 64 MiB"),
    "numbers": (lambda size: listed(b"0", size), "", "too many values"),
    "empty rows": (lambda size: listed(b"{}", size), "", "too many values"),
    "rows of nothing": (lambda size: listed(b'{"a":"bcdefgh"}', size), "", "Most of its rows are broken"),
    "rows of numbers": (lambda size: listed(b"[" + b"0," * 90_000 + b"0]", size), "", "too many values"),
    "one row": (lambda size: chain([HEAD, b'{"host":"'], repeat(b"x" * MIB, size // MIB), [b'"}]}']), "", "lacks"),
    "deep": (lambda size: chain([HEAD], repeat(b"[" * MIB, size // MIB)), "", "nested too deep"),
    "no JSON": (lambda size: chain([HEAD], repeat(b"nonsense" * (MIB // 8), size // MIB)), "", "not JSON"),
    "spaces": (lambda size: repeat(b" " * MIB, size // MIB), "", "not JSON"),
    "other members": (lambda size: chain([b'{"a":"'], repeat(b"x" * MIB, size // MIB)), "", "not JSON"),
    "cut off": (lambda size: chain([HEAD + ROW], repeat((b"," + ROW) * 2000, 4), [b",{"]), "", "not JSON"),
    "too long": (lambda size: listed(ROW, 3 * size), "", "more than 64 MiB"),
}


@ON_LINUX
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_index_costs_little_and_is_refused_in_a_sentence(ask: Ask, name: str) -> None:
    made, coding, words = HOSTILE[name]
    said, grown = ask(made(29 * MIB), coding)
    assert words in said
    assert grown < 250, grown


def rows(count: int) -> Iterator[bytes]:
    """Yield an index of ``count`` sound rows of different hosts."""
    before, after = ROW.split(f'"{RICH_OPEN.host}"'.encode(), 1)
    yield HEAD
    for number in range(0, count, 1000):
        burst = b",".join(before + b'"h%07d.example"' % n + after for n in range(number, min(number + 1000, count)))
        yield (b"," if number else b"") + burst
    yield b'],"unreachable":[]}'


@pytest.mark.ci
@ON_LINUX
def test_long_honest_indexes_load_plain_and_packed(ask: Ask) -> None:
    assert ask(rows(12_000))[0].strip() == "12000 rows"
    assert ask(packed(rows(12_000)), "gzip")[0].strip() == "12000 rows"


@pytest.mark.ci
async def test_rows_are_read_in_any_form(source: Source) -> None:
    """With and without faults, in any key order and layout, with members that nobody knows."""
    raw = json.loads(encode_index(INDEX))
    sound = [row["host"] for row in raw["ranked"]]
    raw["ranked"] += [
        {"host": "broken.example"},
        {**raw["ranked"][0], "host": "B.example", "name": 'Bücher \\" [{},{'},
        5,
    ]
    for members in (raw, dict(reversed(raw.items())), {"extra": [{"a": "]"}, {}], **raw}, {**raw, "scanned_at": None}):
        for indent in (None, 2):
            data = json.dumps(members, indent=indent, ensure_ascii=indent is None).encode()
            source.say["/api/index.json"] = Said(body=data, fields=JSON)
            service = remote(source)
            view = await service.index(Query.of(sort="host"))
            found = {row.summary.host: row.summary for row in view.ranked[:]}
            assert set(found) == {*sound, "b.example"}
            assert found["b.example"].name == 'Bücher \\" [{},{'
            assert [found[host] for host in sound] == [row for row in INDEX.ranked if row.host in sound]
            assert len(view.unreachable) == len(INDEX.unreachable)
            assert view.scanned_at == INDEX.scanned_at
            assert "2 broken rows were left out" in view.notice
            await service.aclose()


async def test_the_first_row_of_a_host_counts(source: Source, service: PublishedIndex) -> None:
    raw = json.loads(encode_index(INDEX))
    raw["ranked"] += [{**raw["ranked"][0], "score": 1}] * 2
    source.say["/api/index.json"] = Said(body=json.dumps(raw).encode(), fields=JSON)
    view = await service.index(Query())
    assert len(view.ranked) == len(INDEX.ranked)


def hears(pid: int, number: signal.Signals) -> bool:
    """Whether the process ``pid`` has a handler for a signal by now; only Linux tells."""
    status = Path(f"/proc/{pid}/status")
    caught = re.search(r"^SigCgt:\s*(\w+)$", status.read_text() if status.exists() else "", re.MULTILINE)
    return caught is None or bool(int(caught[1], 16) >> (number - 1) & 1)


@pytest.mark.parametrize("source", ["pipe", "-"], ids=["a pipe that nobody writes to", "standard input"])
def test_a_source_that_stays_silent_hears_the_signal_to_end(tmp_path: Path, source: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    words, signals = command("index", "--source", source), (signal.SIGTERM, signal.SIGINT)
    running = [
        subprocess.Popen(words, cwd=tmp_path, env=environment(tmp_path), stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in signals
    ]
    for process in running:
        eventually(partial(hears, process.pid, signal.SIGTERM), 90)
    with pytest.raises(subprocess.TimeoutExpired):
        running[0].wait(1)
    for process, number in zip(running, signals, strict=True):
        assert process.poll() is None
        process.send_signal(number)
        assert process.wait(60) in (128 + number, 130)
        assert b"Fatal" not in process.communicate()[1]

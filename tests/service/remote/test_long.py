"""Long answers of a published index: honest ones load, hostile ones cost neither memory nor patience."""

from __future__ import annotations

import contextlib
import json
import resource
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from io import BytesIO
from itertools import chain, repeat
from typing import Final

import msgspec
import pytest

from aui_tui.errors import Unavailable
from aui_tui.index.lists import Listing
from aui_tui.model import codec
from aui_tui.model.query import Query
from aui_tui.service.remote.file import read_index
from tests.cards import INDEX, RICH_OPEN
from tests.loopback import QuietHandler, listening

MIB: Final = 1 << 20
ROW: Final = msgspec.json.encode(RICH_OPEN.summary())
HEAD: Final = b'{"scanned_at":"2026-01-01T00:00:00.000Z","ranked":['
ON_LINUX: Final = pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read from /proc")
MEASURE: Final = """
import asyncio, sys
from aui_tui.errors import AuiError
from aui_tui.model.query import Query
from aui_tui.service.remote import client

async def main():
    client.READ_SECONDS = float(sys.argv[2])
    service = client.RemoteService(sys.argv[1])
    try:
        view = await service.index(Query())
        print(len(view.ranked), "rows", view.notice)
    except AuiError as error:
        print(error)
    await service.aclose()

def peak():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM"))

before = peak()
asyncio.run(main())
print(peak() - before)
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


def asked(
    pieces: Iterator[bytes], coding: str = "", patience: float = 30.0, disk: int = resource.RLIM_INFINITY
) -> tuple[str, int, float]:
    """Return what a client of its own process says of ``pieces``, by how many MiB it grew, and its seconds.

    ``disk``: bytes of the largest file that it may write.
    """
    began = time.monotonic()
    with sending(pieces, coding) as url:
        done = subprocess.run(
            [sys.executable, "-c", MEASURE, url, str(patience)],
            capture_output=True,
            text=True,
            timeout=350,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (disk, disk)),
        )
    assert done.returncode == 0, done.stderr
    said, grown = done.stdout.splitlines()
    return said, int(grown), time.monotonic() - began


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
    "gzip of zeros": (lambda size: packed(repeat(bytes(MIB), size // MIB)), "gzip", "400 times its size"),
    "gzip of spaces": (lambda size: packed(repeat(b" " * MIB, size // MIB)), "gzip", "400 times its size"),
    "gzip of empty rows": (lambda size: packed(listed(b"{}", size)), "gzip", "400 times its size"),
    "numbers": (lambda size: listed(b"0", size), "", "rows are broken"),
    "empty rows": (lambda size: listed(b"{}", size), "", "rows are broken"),
    "empty lists": (lambda size: listed(b"[]", size), "", "rows are broken"),
    "one row": (lambda size: chain([HEAD, b'{"host":"'], repeat(b"x" * MIB, size // MIB)), "", "longer than 256 KiB"),
    "deep": (lambda size: chain([HEAD], repeat(b"[" * MIB, size // MIB)), "", "nested too deep"),
    "no JSON": (lambda size: chain([HEAD], repeat(b"nonsense" * (MIB // 8), size // MIB)), "", "not JSON"),
    "spaces": (lambda size: repeat(b" " * MIB, size // MIB), "", "not a JSON object"),
    "other members": (lambda size: chain([b'{"a":"'], repeat(b"x" * MIB, size // MIB)), "", "longer than"),
    "cut off": (lambda size: chain([HEAD + ROW], repeat((b"," + ROW) * 2000, 4), [b",{"]), "", "breaks off"),
}


@ON_LINUX
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_index_costs_little_and_is_refused_in_a_sentence(name: str) -> None:
    made, coding, words = HOSTILE[name]
    said, grown, seconds = asked(made(48 * MIB), coding)
    print(f"{name}: {said} {grown} MiB {seconds:.1f} s")
    assert words in said
    assert grown < 48


@ON_LINUX
@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_however_long_it_is(name: str) -> None:
    made, coding, _ = HOSTILE[name]
    said, grown, seconds = asked(made(600 * MIB), coding)
    print(f"{name}: {said} {grown} MiB {seconds:.1f} s")
    assert said.endswith(".")
    assert grown < 300


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
def test_long_honest_indexes_load_plain_and_packed() -> None:
    assert asked(rows(12_000))[0].strip() == "12000 rows"
    assert asked(packed(rows(12_000)), "gzip")[0].strip() == "12000 rows"


@ON_LINUX
def test_a_full_disk_is_said_in_a_sentence() -> None:
    assert "temporary file" in asked(rows(12_000), disk=4096)[0]
    listing = Listing()
    listing._db.execute("PRAGMA max_page_count = 40")
    for number in range(2000):
        listing.add(msgspec.structs.replace(RICH_OPEN.summary(), host=f"h{number}.example"), ranked=True)
    with pytest.raises(Unavailable, match="cannot be kept in a temporary file: database or disk is full"):
        listing.finish()


@ON_LINUX
@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_million_honest_rows_load() -> None:
    said, grown, seconds = asked(iter(list(packed(rows(1_000_000)))), "gzip", patience=300)
    print(f"{said} {grown} MiB {seconds:.1f} s")
    assert said.strip() == "1000000 rows"
    assert grown < 300


@pytest.mark.ci
def test_rows_are_read_in_any_form() -> None:
    """With and without faults, in any key order and layout, with members that nobody knows, more or fewer at a time."""
    raw = json.loads(codec.encode_index(INDEX))
    sound = [row["host"] for row in raw["ranked"]]
    raw["ranked"] += [
        {"host": "broken.example"},
        {**raw["ranked"][0], "host": "B.example", "name": 'Bücher \\" [{},{'},
        5,
    ]
    raw["ranked"] *= 1 + 2 * MIB // len(json.dumps(raw["ranked"]))
    for number, row in enumerate(raw["ranked"]):
        if isinstance(row, dict) and number >= len(sound) + 3:
            row = raw["ranked"][number] = {**row, "host": f"h{number}.example"}
    for members in (raw, dict(reversed(raw.items())), {"extra": [{"a": "]"}, {}], **raw}, {**raw, "scanned_at": None}):
        for indent in (None, 2):
            data = json.dumps(members, indent=indent, ensure_ascii=indent is None).encode()
            reading = read_index(BytesIO(data))
            rows = reading.found.view(Query.of(sort="host"), now=0.0).ranked[:]
            assert len(rows) == len(raw["ranked"]) * 3 // 5
            found = {row.summary.host: row.summary for row in rows}
            assert found["b.example"].name == 'Bücher \\" [{},{'
            assert [found[host] for host in sound] == [row for row in INDEX.ranked if row.host in sound]
            assert len(reading.found.view(Query(), now=0.0).unreachable) == len(INDEX.unreachable)
            assert reading.found.scanned_at == INDEX.scanned_at
            assert f"{len(raw['ranked']) * 2 // 5} broken rows were left out" in reading.problem


def test_the_first_row_of_a_host_counts() -> None:
    raw = json.loads(codec.encode_index(INDEX))
    raw["ranked"] += [{**raw["ranked"][0], "score": 1}] * 2
    reading = read_index(BytesIO(json.dumps(raw).encode()))
    assert len(reading.found.view(Query(), now=0.0).ranked) == len(INDEX.ranked)
    assert reading.problem == "2 rows of hosts that are listed already were left out."

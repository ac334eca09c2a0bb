"""What the streams change of asyncio, and when."""

from __future__ import annotations

import asyncio
import errno
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator

import httpcore
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aui_tui.scan.network import NetworkError
from aui_tui.scan.network.readers import (
    FRAMES_PER_TURN,
    FREE_PIECES,
    MAX_FRAME_BYTES,
    MAX_INTERIM,
    FrameReader,
    HeadReader,
)
from aui_tui.scan.network.replies import Flooded, answer_failure
from aui_tui.scan.network.streams import connect, exclusive_turn, paced
from tests.faults.h2_floods import DATA, HEADERS, PING, SETTINGS, frame
from tests.faults.site import Site

SCRIPT = """
from asyncio import sslproto
usual = sslproto.SSLProtocol.max_size
import aui_tui.service.crawl.crawl, aui_tui.service.scans
from aui_tui.scan.network import save_tls_memory
print(sslproto.SSLProtocol.max_size == usual)
save_tls_memory()
print(sslproto.SSLProtocol.max_size < usual)
"""


def test_asyncio_is_changed_by_the_program_alone_and_not_by_an_import() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["True", "True"]


HINT = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
FINAL = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"


def pieces(data: bytes, sizes: list[int]) -> Iterator[bytes]:
    """Yield ``data`` in pieces of ``sizes`` in turn."""
    number = 0
    while data:
        size = max(1, sizes[number % len(sizes)])
        yield data[:size]
        data, number = data[size:], number + 1


def read_heads(reader: HeadReader, data: bytes, sizes: list[int]) -> bytes:
    return b"".join(map(reader.take, pieces(data, sizes)))


def read_frames(reader: FrameReader, data: bytes, sizes: list[int]) -> bytes:
    """Return what may be parsed of ``data``; an error of the reader comes out after what came before it."""
    passed = b""
    for piece in pieces(data, sizes):
        reader.received(piece)
        while ready := reader.next():
            passed += ready
    return passed


@given(st.integers(0, MAX_INTERIM), st.lists(st.integers(1, 90), min_size=1, max_size=6))
def test_interim_responses_up_to_the_limit_pass(count: int, sizes: list[int]) -> None:
    reader = HeadReader()
    for _ in range(2):
        reader.expect_head()
        answer = HINT * count + FINAL + HINT * 50
        assert read_heads(reader, answer, sizes) == answer


@given(st.lists(st.integers(1, 90), min_size=1, max_size=6))
def test_one_interim_response_more_is_refused(sizes: list[int]) -> None:
    reader = HeadReader()
    reader.expect_head()
    with pytest.raises(Flooded, match="more than 20 interim responses"):
        read_heads(reader, HINT * (MAX_INTERIM + 1) + FINAL, sizes)


@given(st.lists(st.integers(400, 40_000), min_size=1, max_size=6))
def test_honest_frames_pass_unchanged(sizes: list[int]) -> None:
    page = [frame(DATA, bytes(MAX_FRAME_BYTES), stream=1), frame(DATA, bytes(80), stream=1), frame(PING, bytes(8))]
    data = frame(SETTINGS) + frame(HEADERS, b"\x88", flags=4, stream=1) + b"".join(page) * 3
    assert read_frames(FrameReader(), data, sizes) == data


@pytest.mark.parametrize("size", [1, 8, 9, 10, 64, 5000])
@pytest.mark.parametrize("before", [0, 3])
def test_a_long_frame_is_refused_by_its_header_and_what_came_before_passes(size: int, before: int) -> None:
    good = frame(DATA, bytes(100), stream=1) * before
    bad = frame(DATA, length=MAX_FRAME_BYTES + 1)
    reader = FrameReader()
    assert read_frames(reader, good + bad[:8], [size]) == good
    reader.received(bad[8:] + bytes(50))
    with pytest.raises(Flooded, match="16,385 bytes"):
        reader.next()
    whole = FrameReader()
    whole.received(good + bad + bytes(50))
    if before:
        assert whole.next() == good
    with pytest.raises(Flooded, match="16,385 bytes"):
        whole.next()


def test_few_frames_are_parsed_at_a_time() -> None:
    reader = FrameReader()
    reader.received(frame(PING, bytes(8)) * 100)
    assert len(reader.next()) == FRAMES_PER_TURN * len(frame(PING, bytes(8)))


def test_frames_without_content_are_refused_by_number() -> None:
    with pytest.raises(Flooded, match="without content"):
        read_frames(FrameReader(), frame(PING, bytes(8)) * (FREE_PIECES + 1), [4096])


def test_a_head_that_takes_long_to_parse_is_heavy_once() -> None:
    reader = HeadReader()
    reader.expect_head()
    big = b"HTTP/1.1 200 OK\r\n" + b"".join(b"x%d: 1\r\n" % number for number in range(4000))
    reader.take(big)
    assert not reader.heavy
    reader.take(b"\r\n")
    assert reader.heavy
    reader.take(b"body")
    assert not reader.heavy


async def test_only_one_gets_a_turn_of_the_loop() -> None:
    turns: list[int] = []
    turn = 0

    async def count() -> None:
        nonlocal turn
        while len(turns) < 5:
            turn += 1
            await asyncio.sleep(0)

    async def work() -> None:
        await exclusive_turn()
        turns.append(turn)

    await asyncio.gather(count(), *(work() for _ in range(5)))
    assert len(set(turns)) == 5


async def chunks(sizes: list[int]) -> AsyncGenerator[bytes, None]:
    for size in sizes:
        yield bytes(size)


@pytest.mark.parametrize("sizes", [[1] * FREE_PIECES, [100] * 20_000, [65536] * 16])
async def test_honest_chunks_pass(sizes: list[int]) -> None:
    assert [len(chunk) async for chunk in paced(chunks(sizes))] == sizes


async def test_tiny_chunks_without_end_are_refused() -> None:
    with pytest.raises(NetworkError, match="pieces of a few bytes"):
        _ = [chunk async for chunk in paced(chunks([10] * 2000))]


async def test_a_connection_that_the_system_gives_up_brings_no_answer() -> None:
    async with Site() as site:
        stream = await connect("127.0.0.1", site.port)
        stream._receiver.connection_lost(TimeoutError(errno.ETIMEDOUT, "Connection timed out"))
        for one in (stream.read(1), stream.write(b"x")):
            with pytest.raises(httpcore.NetworkError) as caught:
                await one
            assert answer_failure(caught.value).detail == "the server closed the connection without an answer"
        stream.abort()

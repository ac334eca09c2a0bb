"""What a browser reads on the wire is read: broken header lines, connections that end early, redirects to anywhere."""

from __future__ import annotations

import asyncio

import pytest

from aui_tui.model.observations import BROWSER, SERVED
from aui_tui.scan.network.readers import FrameReader, HeadReader, tidy_head
from aui_tui.scan.parser_process import ParserProcess
from tests.faults.lab import scan
from tests.faults.site import HOMEPAGES, PAGE, TITLE, Asked, Site, answer

SIZE = f"Content-Length: {len(PAGE)}\r\n".encode()
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
ODD = {
    "a warning of PHP": OK + b"<b>Warning</b>: session_start() in /srv/x.php on line 3\r\n" + SIZE,
    "a line without a colon": OK + b"nothing at all\r\n" + SIZE,
    "blanks around a name": OK + b"X-Made : by hand\r\n  \r\nX-Other:\ttab\r\n" + SIZE,
    "an empty name": OK + b": value\r\n" + SIZE,
    "a control character": OK + b"X-Note: a\x01b\x00c\r\n" + SIZE,
    "a name with a bracket": OK + b"X[0]: 1\r\n" + SIZE,
    "Transfer-Encoding identity": OK + b"Transfer-Encoding: identity\r\n" + SIZE,
    "a length that is no number": OK + b"Content-Length: unknown\r\nConnection: close\r\n",
    "a blank first line": b"\r\n" + OK + SIZE,
    "lines that end with LF": (OK + SIZE).replace(b"\r\n", b"\n"),
    "an unknown coding": OK + b"Content-Encoding: utf-8\r\n" + SIZE,
    "no reason": b"HTTP/1.1 200\r\nContent-Type: text/html\r\n" + SIZE,
}


@pytest.mark.ci
@pytest.mark.parametrize("oddity", ODD)
async def test_a_head_that_browsers_read_is_read(oddity: str, parser: ParserProcess) -> None:
    async def serve(asked: Asked, writer: asyncio.StreamWriter) -> None:
        end = b"\n" if "LF" in oddity else b"\r\n"
        writer.write(ODD[oddity] + end + PAGE)
        await writer.drain()
        if b"close" in ODD[oddity]:
            writer.close()

    async with Site(faults=dict.fromkeys(HOMEPAGES, serve)) as site:
        observed = await scan(site, parser)
    assert [(probe.outcome, probe.title) for probe in observed.homepages] == [(SERVED, TITLE)] * 5
    assert not any(probe.attempts for probe in observed.homepages)


def test_a_head_is_tidied_and_its_body_is_not() -> None:
    cleaner = HeadReader()
    cleaner.asked()
    sent = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nA : 1\r\n\r\nbad line\r\n\r\n: x"
    assert b"".join(cleaner.take(sent[at : at + 1]) for at in range(len(sent))) == (
        b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nA: 1\r\n\r\nbad line\r\n\r\n: x"
    )
    assert cleaner.take(b"") == b""
    assert tidy_head(b"HTTP/1.1 200 OK\nA: 1\n folded\n\n") == b"HTTP/1.1 200 OK\r\nA: 1 folded\r\n\r\n"
    two = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"
    assert tidy_head(two) == b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def test_an_answer_of_another_kind_passes_as_it_came() -> None:
    cleaner = HeadReader()
    cleaner.asked()
    assert cleaner.take(b"SSH-2.0-OpenSSH_9.9\r\n") == b""
    assert cleaner.take(b"") == b"SSH-2.0-OpenSSH_9.9\r\n"


def frame(kind: int, stream: int, body: bytes = b"") -> bytes:
    return len(body).to_bytes(3, "big") + bytes([kind, 0]) + stream.to_bytes(4, "big") + body


def test_streams_that_a_goaway_covers_are_finished_and_the_others_reset() -> None:
    connection = FrameReader()
    connection.sent(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0) + frame(1, 1, b"x") + frame(1, 3, b"y"))
    goaway = frame(7, 0, (1).to_bytes(4, "big") + bytes(4))
    data = frame(1, 1, b"head") + goaway + frame(0, 1, b"body")
    got = b"".join(fed(connection, data[at : at + 1]) for at in range(len(data)))
    reset = frame(3, 3, (7).to_bytes(4, "big"))
    assert sorted([frame(1, 1, b"head"), frame(0, 1, b"body"), reset]) == sorted(
        [got[: len(frame(1, 1, b"head"))], frame(0, 1, b"body") if frame(0, 1, b"body") in got else b"", reset]
    )
    assert reset in got
    assert goaway not in got
    error = frame(7, 0, (1).to_bytes(4, "big") + (1).to_bytes(4, "big"))
    assert fed(FrameReader(), error) == error


def fed(frames: FrameReader, data: bytes) -> bytes:
    frames.received(data)
    return frames.next()


async def test_a_redirect_is_followed_twenty_times(parser: ParserProcess) -> None:
    async def serve(asked: Asked, writer: asyncio.StreamWriter) -> None:
        number = int(asked.path.strip("/") or 0)
        step = f"Location: /{number + 1}\r\n".encode()
        writer.write(answer(PAGE) if number == 20 else answer(b"", "302 Found", extra=step))
        await writer.drain()

    async with Site(faults={BROWSER: serve}) as site:
        observed = await scan(site, parser)
    assert (observed.browser.outcome, len(observed.browser.hops)) == (SERVED, 20)

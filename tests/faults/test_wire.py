"""What the readers of the wire change before it is parsed: broken header lines, and connections that end early."""

from __future__ import annotations

from aui_tui.scan.network.readers import NOT_COVERED, FrameReader, HeadReader, tidy_head


def test_a_head_is_tidied_and_its_body_is_not() -> None:
    cleaner = HeadReader()
    cleaner.expect_head()
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
    cleaner.expect_head()
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
    reset = frame(3, 3, NOT_COVERED.to_bytes(4, "big"))
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

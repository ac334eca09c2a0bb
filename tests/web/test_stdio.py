"""``aui-tui mcp``: each line of a client is answered, whatever it holds."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.runner import Running, start

pytestmark = pytest.mark.ci
PARSE_ERROR, INVALID_REQUEST = -32700, -32600


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    home = tmp_path_factory.mktemp("home")
    with start(home, "mcp", stdin=subprocess.PIPE, errors="surrogateescape") as running:
        yield running
        running.stdin.close()
        assert running.wait(60) == 0


def ask(server: Running, line: bytes) -> dict[str, Any]:
    """The next answer after ``line``."""
    server.stdin.write(line.decode("utf-8", "surrogateescape") + "\n")
    server.stdin.flush()
    answer = json.loads(server.stdout.readline())
    assert isinstance(answer, dict)
    return answer


PING = b'{"jsonrpc":"2.0","id":%d,"method":"ping"}'


def call(argument: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"site","arguments":{"host":%s}}}' % argument


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (call(b'"\\ud800"'), PARSE_ERROR),
        (call(b"9" * 5000), PARSE_ERROR),
        (call(b"[" * 5000 + b"]" * 5000), PARSE_ERROR),
        (b"\xff\xfe", PARSE_ERROR),
        (b"no json", PARSE_ERROR),
        (call(b'"' + b"x" * (5 << 20) + b'"'), PARSE_ERROR),
        (b"[]", INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', INVALID_REQUEST),
        (b"NaN", INVALID_REQUEST),
    ],
    ids=["surrogate", "digits", "nesting", "utf-8", "words", "long", "batch", "id", "nan"],
)
def test_a_line_that_is_no_message_is_answered_and_the_next_one_too(server: Running, line: bytes, code: int) -> None:
    answer = ask(server, line)
    assert answer["id"] is None
    assert answer["error"]["code"] == code
    assert 0 < len(answer["error"]["message"]) < 300
    assert ask(server, PING % 7)["id"] == 7


def test_a_line_without_an_end_is_not_kept(tmp_path: Path) -> None:
    with start(tmp_path, "mcp", stdin=subprocess.PIPE) as running:
        ask(running, PING % 1)
        before = peak(running.pid)
        for _ in range(100):
            running.stdin.write("x" * (1 << 20))
        running.stdin.write("\n")
        running.stdin.flush()
        assert json.loads(running.stdout.readline())["error"]["code"] == PARSE_ERROR
        assert peak(running.pid) - before < 40_000
        running.stdin.close()
        assert running.wait(60) == 0


def peak(pid: int) -> int:
    """The most memory that a process had, in KiB."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        pytest.skip("needs /proc")
    return int(next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM")))

"""Browser and agent side by side: what differs, what is quoted, what is never shown."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from aui_tui.errors import BadValue
from aui_tui.model.exchanges import as_text, compared, curl, encode_exchanges, names
from aui_tui.model.observations import Challenge, Exchange
from tests.scan.situations import plain

BROWSER = Exchange(
    name="browser",
    url="https://shop.example/",
    status=200,
    headers=(("server", "nginx"), ("content-type", "text/html"), ("date", "Sun"), ("x-request-id", "aaa")),
    title="Shop",
    bytes=14_210,
    elapsed_ms=510,
    http_version="HTTP/1.1",
    request=(("User-Agent", "Mozilla/5.0"), ("Accept", "text/html"), ("X-Preview", "…")),
    text="Second Season. Coats at half price.",
)
AGENT = Exchange(
    name="agent_02",
    url="https://shop.example/",
    status=403,
    headers=(("server", "nginx"), ("content-type", "text/html"), ("date", "Mon"), ("cf-ray", "8f1c")),
    title="403 Forbidden",
    bytes=162,
    elapsed_ms=10,
    http_version="HTTP/1.1",
    challenge=Challenge(vendor="cloudflare", signal="Just a moment...", tier="A", reference="8f1c02d4"),
    request=(("User-Agent", "Claude-User/1.0; it's"), ("Accept", "*/*"), ("Cookie", "…")),
    text="Second Season. Forbidden.",
)
ROBOTS = Exchange(name="robots", url="https://shop.example/robots.txt", status=200)
SEEN = replace(plain(), exchanges=(BROWSER, AGENT, ROBOTS))


def test_rows_say_what_differs_what_one_side_sent_and_which_id_to_quote() -> None:
    rows = {row.name: row for row in compared(SEEN, "agent_02").rows}
    differs = {"status": True, "User-Agent": True, "title": True, "Server": False, "Date": None, "size, time": None}
    assert {name: rows[name].differs for name in differs} == differs
    assert (rows["Cookie"].left, rows["Cookie"].right) == ("not sent", "…")
    assert (rows["X-Request-Id"].left, rows["X-Request-Id"].right) == ("aaa", "–")
    assert rows["reference"].right == "8f1c02d4"
    assert rows["reference"].note == rows["Cf-Ray"].note == "the id to quote"


def test_text_is_held_against_text_sentence_by_sentence() -> None:
    lines = [(one.side, one.text) for one in compared(SEEN, "agent_02").text]
    assert lines == [("=", "Second Season."), ("-", "Coats at half price."), ("+", "Forbidden.")]


def test_curl_asks_the_same_without_secrets_and_survives_a_shell() -> None:
    words = shlex.split(curl(AGENT))
    assert words[:2] == ["curl", "-sS"]
    assert "User-Agent: Claude-User/1.0; it's" in words
    assert words[-1] == "https://shop.example/"
    assert "Cookie" not in curl(AGENT)
    assert "X-Preview" not in curl(BROWSER)


def test_an_old_record_without_requests_still_gives_a_command() -> None:
    assert "Claude-User" in curl(Exchange(name="agent_02", url="https://shop.example/", status=403))


def test_a_file_stands_alone() -> None:
    found = compared(SEEN, "robots")
    assert found.left is found.right
    assert found.differing == 0
    assert names(SEEN) == ("agent_02", "robots")


def test_an_unknown_exchange_is_refused_with_those_that_are_there() -> None:
    with pytest.raises(BadValue, match="browser, agent_02, robots"):
        compared(SEEN, "nobody")


def test_text_and_json_hold_both_sides() -> None:
    text = as_text(compared(SEEN, "agent_02"))
    assert "403 Forbidden" in text
    assert "200 OK" in text
    rows = json.loads(encode_exchanges(SEEN))
    assert [row["name"] for row in rows] == ["browser", "agent_02", "robots"]
    assert rows[1]["curl"].startswith("curl ")


NASTY = (
    "https://shop.example/$(touch owned)",
    "https://shop.example/`touch owned`",
    "https://shop.example/'; touch owned; '",
    "https://shop.example/!!&touch owned|touch owned>owned",
    "https://shop.example/a\\\n touch owned",
)


@pytest.mark.parametrize("shell", ["sh", "bash", "zsh"])
@pytest.mark.parametrize("url", NASTY)
def test_a_copied_command_runs_nothing_of_the_sites_own(tmp_path: Path, shell: str, url: str) -> None:
    """Pasted into a shell, which has another ``curl``: it gets the words as they are, and nothing else runs."""
    if shutil.which(shell) is None:
        pytest.skip(f"needs {shell}")
    tool = tmp_path / "curl"
    tool.write_text('#!/bin/sh\nprintf "%s\\0" "$@"\n')
    tool.chmod(0o755)
    one = Exchange(name="agent_02", url=url, status=403, request=(("User-Agent", f"x {url}"),))
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    done = subprocess.run([shell], input=curl(one) + "\n", env=env, cwd=tmp_path, capture_output=True, text=True)
    words = done.stdout.split("\0")
    assert words[-2] == url
    assert f"User-Agent: x {url}" in words
    assert [path.name for path in tmp_path.iterdir()] == ["curl"]

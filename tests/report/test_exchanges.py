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

from aui_tui.checks.scoring import grade_card
from aui_tui.errors import BadValue
from aui_tui.model.methods import DEFAULT_METHOD
from aui_tui.model.observations import Attempt, Cause, CauseKind, Challenge, Exchange
from aui_tui.report.exchanges import as_text, comparable_probes, compared, curl, encode_exchanges
from tests.scan.situations import open_rich, plain, probe

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
CARD = grade_card(plain(), DEFAULT_METHOD)


def test_rows_say_what_differs_what_one_side_sent_and_which_id_to_quote() -> None:
    rows = {row.name: row for row in compared(CARD, SEEN, "agent_02").rows}
    differs = {"status": True, "User-Agent": True, "title": True, "Server": False, "Date": None, "size, time": None}
    assert {name: rows[name].differs for name in differs} == differs
    assert (rows["Cookie"].left, rows["Cookie"].right) == ("not sent", "…")
    assert (rows["X-Request-Id"].left, rows["X-Request-Id"].right) == ("aaa", "–")
    assert rows["reference"].right == "8f1c02d4"
    assert rows["reference"].note == rows["Cf-Ray"].note == "quote this"


@pytest.mark.parametrize(
    ("by", "goes_by", "browser", "agent"),
    [
        ("name", "the name", "served", "refused"),
        ("field", "Accept and sec-ch-ua", "refused", "served"),
        ("fields", "other fields than the name", "refused", "served"),
        ("together", "the name together with other fields", "served", "served"),
        ("either", "the name, and by other fields", "refused", "refused"),
    ],
)
def test_why_says_what_decides_and_how_swapped_names_fared(
    by: CauseKind, goes_by: str, browser: str, agent: str
) -> None:
    """What was asked under each name with the other's fields follows from the cause."""
    refused = replace(AGENT, challenge=None)
    cause = Cause(agents=("agent_02",), by=by, fields=("Accept", "sec-ch-ua") if by == "field" else ())
    seen = replace(SEEN, exchanges=(BROWSER, refused, ROBOTS), cause=cause)
    found = compared(CARD, seen, "agent_02")
    assert found.goes_by == goes_by
    swapped = next(row for row in found.rows if row.name == "swapped")
    assert (swapped.left, swapped.right) == (f"Claude's fields: {browser}", f"browser's fields: {agent}")
    assert swapped.differs is (browser != agent)
    assert f"why: it goes by {goes_by}\n" in as_text(found)


def test_why_says_what_robots_txt_says_and_where_the_answer_contradicts_it() -> None:
    rich = open_rich()
    refused = (probe(one.name, 403) if one.name == "agent_02" else one for one in rich.exchanges)
    seen = replace(rich, exchanges=tuple(refused))
    rows = {row.name: row for row in compared(grade_card(seen, DEFAULT_METHOD), seen, "agent_02").rows}
    assert (rows["robots.txt"].right, rows["robots.txt"].differs) == ("says yes  line 3: Allow: /", True)
    assert not any(row.part == "why" for row in compared(CARD, SEEN, "robots").rows)


@pytest.mark.parametrize(
    ("before", "words"),
    [
        ((), ""),
        ((403,), "both times"),
        ((403, 403, 403), "all 4 times"),
        ((503, 403), "asked again; before it was 503, 403"),
    ],
)
def test_what_was_asked_again_says_how_often_the_answer_was_the_same(before: tuple[int, ...], words: str) -> None:
    again = replace(AGENT, attempts=tuple(Attempt(status=status, outcome="refused") for status in before))
    found = compared(CARD, replace(SEEN, exchanges=(BROWSER, again, ROBOTS)), "agent_02")
    assert next(row.note for row in found.rows if row.name == "status") == words


def test_text_is_held_against_text_sentence_by_sentence() -> None:
    lines = [(one.side, one.text) for one in compared(CARD, SEEN, "agent_02").text]
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
    found = compared(CARD, SEEN, "robots")
    assert found.left is found.right
    assert found.differing == 0
    assert comparable_probes(SEEN) == ("agent_02", "robots")


def test_an_unknown_exchange_is_refused_with_those_that_are_there() -> None:
    with pytest.raises(BadValue, match="browser, agent_02, robots"):
        compared(CARD, SEEN, "nobody")


def test_text_and_json_hold_both_sides() -> None:
    text = as_text(compared(CARD, SEEN, "agent_02"))
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

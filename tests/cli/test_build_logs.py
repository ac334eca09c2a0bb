"""What a site says in a build log: no build system finds a command in it, and data means what it meant."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aui_tui.text import BreakMarks
from tests.cli.runner import here
from tests.loopback import QuietHandler, listening

COMMANDS = (
    "##vso[task.setvariable variable=x]y",
    "##[add-matcher]a.json",
    "::error file=a,line=1::no",
    "##teamcity[buildStop comment='x']",
    "section_start:1:x",
)
LIVE = re.compile(r"##[a-z]*\[|section_(start|end):|^\s*::[a-z]", re.IGNORECASE | re.MULTILINE)
"""What the runners of Azure Pipelines, GitHub Actions, TeamCity and GitLab look for."""
ROBOTS = "\n".join(f"{words}\nDisalow: {words}\nUser-agent: {words}" for words in COMMANDS)
PAGE = f"<title>{' '.join(COMMANDS)}</title><h1>{' '.join(COMMANDS)}</h1><p>{'words ' * 80}</p>"


class Site(QuietHandler):
    def do_GET(self) -> None:
        if self.path == "/":
            self.reply(200, PAGE.encode())
        elif self.path == "/robots.txt":
            self.reply(200, ROBOTS.encode(), "text/plain")
        else:
            self.reply(404, b"")


@pytest.fixture(scope="module")
def scanned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str, str]]:
    home = tmp_path_factory.mktemp("home")
    with listening(Site) as server:
        host = f"127.0.0.1:{server.server_address[1]}"
        done = here(home, "scan", f"http://{host}", "--details")
        assert done.code == 0, done.err
        yield home, host, done.out + done.err


@pytest.mark.ci
def test_a_scan_in_a_build_log_writes_no_command(scanned: tuple[Path, str, str]) -> None:
    assert "vso[task" in scanned[2]
    assert not LIVE.findall(scanned[2])


@pytest.mark.parametrize("form", ["text", "markdown", "html", "csv", "json", "ndjson", "sarif", "junit"])
@pytest.mark.ci
def test_no_form_on_standard_output_holds_a_command(scanned: tuple[Path, str, str], form: str) -> None:
    home, host, _ = scanned
    chosen = ("--text",) if form == "text" else ("--format", form)
    done = here(home, "site", f"http://{host}", *chosen)
    assert not LIVE.findall(done.out)


@pytest.mark.ci
def test_json_says_what_it_says_in_a_file(scanned: tuple[Path, str, str]) -> None:
    home, host, _ = scanned
    piped = here(home, "site", f"http://{host}", "--format", "json").out
    here(home, "site", f"http://{host}", "--format", "json", "--output", "card.json")
    kept = (home / "card.json").read_text()
    assert LIVE.search(kept)
    assert json.loads(piped) == json.loads(kept)


@pytest.mark.parametrize("words", COMMANDS)
def test_an_error_that_repeats_a_command_is_harmless_too(tmp_path: Path, words: str) -> None:
    done = here(tmp_path, "index", words)
    assert done.code == 2
    assert not LIVE.findall(done.out + done.err)


PIECES = st.sampled_from(
    (*COMMANDS, "::", "##", "[", "#", "vso[", "\n", " ", "error::", "section_", "start:", "word", "é")
)


def broken(pieces: list[bytes]) -> str:
    marks = BreakMarks()
    return (b"".join(map(marks.take, pieces)) + marks.rest()).decode()


@given(st.lists(PIECES, max_size=20), st.integers(1, 9))
def test_however_output_is_cut_into_pieces_no_command_comes_out(words: list[str], size: int) -> None:
    whole = "".join(words).encode()
    text = broken([whole[at : at + size] for at in range(0, len(whole), size)])
    assert not LIVE.findall(text)
    assert text.replace(" ", "") == whole.decode().replace(" ", "")


@given(st.lists(PIECES, max_size=20), st.integers(1, 9))
def test_json_and_markup_keep_their_meaning(words: list[str], size: int) -> None:
    text = "".join(words)
    for whole, read in (
        (json.dumps([text]), json.loads),
        (f"<p>{text}</p>", unescape),
    ):
        data = whole.encode()
        out = broken([data[at : at + size] for at in range(0, len(data), size)])
        assert not LIVE.findall(out)
        assert read(out) == read(whole)

"""``aui-tui visits``: figures of a log, kept beside the card, in every form, with gates and clear errors."""

from __future__ import annotations

import csv
import json
import resource
from io import StringIO
from pathlib import Path

import pytest

from aui_tui.cli import gating
from tests.cards import WALLED
from tests.cli.runner import here, start
from tests.cli.stored import fill
from tests.visits.records import visitor, visits

LINE = '{address} - - [{day}/Nov/2026:04:54:30 +0000] "GET {path} HTTP/1.1" {status} 512 "-" "{agent}"\n'
CLAUDE = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Claude-User/1.0; +Claude-User@anthropic.com)"


def line(status: int = 200, agent: str = CLAUDE, path: str = "/", address: str = "198.51.100.7", day: int = 19) -> str:
    return LINE.format(status=status, agent=agent, path=path, address=address, day=day)


def log(home: Path, *lines: str, name: str = "access.log") -> str:
    path = home / name
    path.write_text("".join(lines))
    return str(path)


@pytest.fixture
def served(tmp_path: Path) -> str:
    return log(tmp_path, *[line()] * 99, line(403), *[line(agent="curl/8")] * 10)


def test_figures_as_a_record(tmp_path: Path, served: str) -> None:
    done = here(tmp_path, "visits", served, "--json")
    assert done.code == 0, done.err
    record = json.loads(done.out)
    assert (record["lines"], record["agent_lines"], record["log"]) == (110, 100, "access.log")
    claude = record["visitors"][0]
    assert (claude["token"], claude["requests"], claude["refused"]) == ("Claude-User", 100, 1)
    assert claude["addresses"] == "not fetched"


@pytest.mark.parametrize(
    ("limit", "kind", "code"),
    [
        ("claude=1%", "", 0),
        ("Claude-User=0.5 %", "", 1),
        ("anthropic=0.5%", "", 1),
        ("claude=1%,chatgpt=1%", "", 3),
        ("claude=1%", "origin", 3),
        ("claude=0.5%", "origin", 1),
        ("claude=1", "", 2),
        ("nobody=1%", "", 2),
    ],
)
def test_the_gate_never_passes_on_doubt(tmp_path: Path, served: str, limit: str, kind: str, code: int) -> None:
    done = here(tmp_path, "visits", served, "--fail-refused", limit, env={"AUI_TUI_LOG_KIND": kind})
    assert done.code == code, done.err


@pytest.mark.parametrize("percent", [7, 28, 29, 55, 56, 57, 58])
def test_a_share_that_is_just_allowed_passes(percent: int) -> None:
    record = visits(visitor("Claude-User", served=100 - percent, refused=percent))
    assert gating.refused_too_often(record, gating.limits([f"claude={percent}%"])).exit_code == 0
    assert gating.refused_too_often(record, gating.limits([f"claude={percent - 1}.99%"])).exit_code == 1


@pytest.mark.ci
def test_figures_are_kept_beside_the_card_and_forgotten_with_it(tmp_path: Path, served: str) -> None:
    fill(tmp_path, (WALLED,))
    assert here(tmp_path, "visits", "--host", "tickets.example").code == 3
    done = here(tmp_path, "visits", served, "--host", "https://tickets.example/")
    assert done.code == 0, done.err
    assert "Visits in the access log" in done.out
    kept = here(tmp_path, "visits", "--host", "tickets.example", "--json")
    assert json.loads(kept.out)["agent_lines"] == 100
    card = here(tmp_path, "site", "tickets.example", "--details")
    assert "Visits in the access log" in card.out
    text = here(tmp_path, "site", "tickets.example", "--text").out
    assert "Visits in the access log: 2026-11-19 (UTC), access.log, combined." in text
    page = here(tmp_path, "site", "tickets.example", "--format", "html").out
    assert ">Visits in the access log</h2>" in page
    assert "198.51.100" not in (tmp_path / "data" / "index.db").read_bytes().decode("latin-1")
    assert here(tmp_path, "forget", "tickets.example").code == 0
    assert here(tmp_path, "visits", "--host", "tickets.example").code == 3


@pytest.mark.ci
def test_figures_that_cannot_be_kept_are_printed_and_said_not_to_be_saved(tmp_path: Path, served: str) -> None:
    fill(tmp_path, (WALLED,))

    def no_more_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    with start(tmp_path, "visits", served, "--host", WALLED.host, "--json", preexec_fn=no_more_room) as process:
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert json.loads(out)["agent_lines"] == 100
    assert "These figures are not saved. Nothing can be saved" in err


def test_plain_sentences(tmp_path: Path, served: str) -> None:
    done = here(tmp_path, "visits", served, env={"AUI_TUI_TEXT": "yes"})
    assert "Agent Claude: 100 requests, 99 % served, 1 % refused, " in done.out
    assert "together ." not in done.out


def test_csv_and_markdown(tmp_path: Path, served: str) -> None:
    rows = list(csv.DictReader(StringIO(here(tmp_path, "visits", served, "--format", "csv").out)))
    claude = next(row for row in rows if row["token"] == "Claude-User")
    assert (claude["requests"], claude["refused"], claude["refused_share"]) == ("100", "1", "0.01")
    assert "| Claude | 100 |" in here(tmp_path, "visits", served, "--format", "markdown").out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "Name the access logs"),
        (("nowhere.log",), "Cannot read nowhere.log: No such file or directory."),
        (("nowhere*.log",), "No file matches nowhere*.log."),
        (("",), "An argument is empty."),
        (("--format", "iis"), "nginx, cloudflare"),
        (("{log}", "--log-format", "{client} {time}"), "--log-format lacks {status}, {agent}: it needs"),
        (
            ("{log}", "--log-format", "{client} {when}"),
            "has no field {when}: its fields are client, time,",
        ),
        (
            ("{log}", "--log-format", '{client} {time} "{path}" {status} {-} "{agent}" {agent}'),
            "names the field {agent} twice",
        ),
        (("--format", "nginx"), "No address ranges were fetched yet"),
        (("--format", "nginx", "-o", "agents.geo"), "No address ranges were fetched yet"),
        (("{log}", "--format", "nginx"), "reads no log"),
        (("{log}", "--json", "--format", "csv"), "Choose one of --json and --format"),
        (("--follow", "--host", "tickets.example"), "--follow needs the access logs"),
        (("{log}", "--host", "no host"), "no host"),
    ],
)
def test_bad_input_is_one_sentence(tmp_path: Path, served: str, arguments: tuple[str, ...], words: str) -> None:
    done = here(tmp_path, "visits", *(served if word == "{log}" else word for word in arguments))
    assert (done.code, done.out) == (2, "")
    assert words in done.sentence


def test_what_is_not_a_log_says_what_was_expected(tmp_path: Path) -> None:
    done = here(tmp_path, "visits", log(tmp_path, *["not a line of a log\n"] * 20, name="notes.txt"))
    assert done.code == 2
    assert "notes.txt: its first lines are in no known format; expected are combined, JSON or W3C" in done.err
    mixed = here(tmp_path, "visits", log(tmp_path, *[line()] * 3, *["nonsense\n"] * 20))
    assert mixed.code == 2
    assert "20 of its first 23 lines could not be understood; expected were lines such as" in mixed.err


def test_lines_not_understood_are_quoted_without_what_tells_of_a_visitor(tmp_path: Path) -> None:
    bad = '203.0.113.9 - joe@mail.example [bad] "GET /a?token=s3cret HTTP/1.1" \x1b[2J\n'
    done = here(tmp_path, "visits", log(tmp_path, *[line()] * 10, bad))
    assert done.code == 0
    assert "not understood: 999.9.999.9 - aaa@aaaa.aaaaaaa [aaa]" in done.err
    for secret in ("203.0.113.9", "joe", "s3cret", "\x1b"):
        assert secret not in done.err
    assert "s3cret" not in done.out


@pytest.mark.ci
def test_a_log_of_other_sites_says_so(tmp_path: Path) -> None:
    path = log(tmp_path, *["other.example:443 " + line()] * 5)
    done = here(tmp_path, "visits", path, "--host", "tickets.example")
    assert done.code == 2
    assert "No line of an agent is of tickets.example: the log names other.example." in done.err
    assert here(tmp_path, "visits", path, "--host", "www.other.example").code == 0

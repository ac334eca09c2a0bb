"""``crawl`` as a person runs it: lists, results, summary, exit codes, ctrl+c, kill -9, a full disk."""

from __future__ import annotations

import fcntl
import json
import os
import random
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from tests.cli.runner import aui, command, environment, here, python, read_terminal, start
from tests.service.crawl.serving import Served, served


@pytest.fixture(scope="module")
def web() -> Iterator[Served]:
    with served() as found:
        yield found


@pytest.fixture(scope="module")
def slow_web() -> Iterator[Served]:
    with served(0.1) as found:
        yield found


def listed(home: Path, *lines: str, name: str = "list.csv") -> str:
    (home / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return name


def hosts(count: int, prefix: str = "h") -> list[str]:
    return [f"http://{prefix}{number}.test" for number in range(count)]


def in_index(home: Path) -> list[str]:
    """Return the hosts of the index; every one has a card that can be read."""
    index = json.loads(here(home, "index", "--json").out)
    return [row["host"] for row in (*index["ranked"], *index["unreachable"])]


@pytest.mark.ci
def test_list_with_every_kind_of_bad_row(tmp_path: Path, web: Served) -> None:
    rows = ["host,name,category", "http://a1.test/page?x=1,Shop,retail", "", "http://a1.test", "bad host"]
    rows += ["http://a2.test,,Shoes", "x" * 10_000_000, "http://a3.test"]
    (tmp_path / "list.csv").write_bytes(b"\xef\xbb\xbf" + "\r\n".join(rows).encode() + b"\r\n\xff\xfe\x00\x01")
    done = aui(tmp_path, "crawl", "list.csv", *web.options, "--json")
    assert done.code == 1, done.err
    found = [json.loads(line) for line in done.out.splitlines()]
    assert {card["host"]: card["category"] for card in found if card["found"]} == {
        "a1.test": "Retail",
        "a2.test": "Uncategorized",
        "a3.test": "Uncategorized",
    }
    assert sorted(reported["line"] for reported in found if not reported["found"]) == [4, 5, 7, 9]
    for line in (4, 5, 6, 7, 9):
        assert f"aui-tui: line {line}: " in done.err
    assert "3 hosts scanned" in done.err
    assert "4 bad rows" in done.err
    assert sorted(in_index(tmp_path)) == ["a1.test", "a2.test", "a3.test"]


@pytest.mark.ci
def test_pages_are_read_when_that_is_asked_for(tmp_path: Path, web: Served) -> None:
    for name, more in (("plain", ()), ("read", ("--reads",))):
        done = aui(tmp_path, "crawl", "-", *web.options, "--quiet", *more, stdin=f"http://{name}.test")
        assert done.code == 0, done.err
    assert "Reads, not scored" not in here(tmp_path, "site", "plain.test", "--details").out
    shown = here(tmp_path, "site", "read.test", "--details").out
    assert "Reads, not scored" in shown
    assert "The page as ChatGPT got it: " in " ".join(shown.split())


@pytest.mark.ci
def test_standard_input_and_quiet(tmp_path: Path, web: Served) -> None:
    done = aui(tmp_path, "crawl", "-", *web.options, "--quiet", stdin="\n".join(hosts(3, "b")))
    assert (done.code, done.out, done.err) == (0, "", "")
    assert sorted(in_index(tmp_path)) == ["b0.test", "b1.test", "b2.test"]


@pytest.mark.ci
def test_lines_of_a_slow_pipe_are_scanned_as_they_come(tmp_path: Path, web: Served) -> None:
    with start(tmp_path, "crawl", "-", *web.options, "--json", stdin=subprocess.PIPE) as process:
        for url in hosts(2, "c"):
            process.stdin.write(url + "\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["host"] == url.removeprefix("http://")
        process.stdin.close()
        assert process.wait(60) == 0


@pytest.mark.slow
def test_several_processes_bring_the_same_results(tmp_path: Path, web: Served) -> None:
    pytest.importorskip("distributed")
    stdin = "\n".join(hosts(30, "d"))
    done = aui(tmp_path, "crawl", "-", *web.options, "--workers", "2", "--json", stdin=stdin)
    assert done.code == 0, done.err
    again = aui(tmp_path, "crawl", "-", *web.options, "--workers", "1", "--json", "--force", stdin=stdin)
    found, usual = (
        {(c["host"], c["score"], c["stance"]) for c in map(json.loads, one.out.splitlines())} for one in (done, again)
    )
    assert len(found) == 30
    assert found == usual


WITHOUT_DASK = """\
import sys
sys.modules["distributed"] = None
from aui_tui.__main__ import run
sys.exit(run(["crawl", "--starter", *sys.argv[1:]]))
"""


def test_without_the_extra_dask_one_sentence_says_how_to_get_it(tmp_path: Path) -> None:
    done = python(tmp_path, WITHOUT_DASK, "--workers", "2")
    assert done.code == 2
    assert done.sentence.endswith(
        "--workers needs the extra “dask”; install aui-tui again with it: pip install -e '.[dask]' in a checkout, "
        "pip install 'FILE.whl[dask]' from a wheel."
    )


def test_failed_hosts_are_results_too(tmp_path: Path) -> None:
    name = listed(tmp_path, "http://gone.test")
    done = aui(tmp_path, "crawl", name, "--connect-to", ":80:127.0.0.1:1", "--json")
    assert done.code == 0
    assert json.loads(done.out)["score"] == 0
    assert "1 unreachable" in done.err


@pytest.mark.ci
def test_few_open_files_mean_fewer_hosts_in_flight_and_no_wrong_card(tmp_path: Path, web: Served) -> None:
    def few_files() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60))

    name = listed(tmp_path, *hosts(40, "j"))
    with start(tmp_path, "crawl", name, *web.options, "--json", preexec_fn=few_files) as process:
        out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert re.search(r"At most [1-3] hosts? in flight", err)
    assert "40 hosts scanned" in err
    cards = [json.loads(line) for line in out.splitlines()]
    assert [card["live_served"] for card in cards] == [4] * 40


@pytest.mark.ci
def test_interrupt_keeps_every_finished_card(tmp_path: Path, slow_web: Served) -> None:
    name = listed(tmp_path, *hosts(400, "d"))
    with start(tmp_path, "crawl", name, *slow_web.options, "--json", env={"AUI_TUI_CONCURRENCY": "4"}) as process:
        first = [process.stdout.readline() for _ in range(6)]
        process.send_signal(signal.SIGINT)
        out, err = process.stdout.read(), process.stderr.read()
    assert process.returncode == 130
    finished = {json.loads(line)["host"] for line in (*first, *out.splitlines())}
    assert 6 <= len(finished) < 400
    assert set(in_index(tmp_path)) == finished
    assert f"{len(finished)} hosts scanned" in err
    assert "Traceback" not in err


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("kills", "count", "prefix"), [(2, 40, "e"), (50, 800, "f")])
def test_a_crawl_that_is_killed_again_and_again_loses_and_skips_nothing(
    tmp_path: Path, slow_web: Served, kills: int, count: int, prefix: str
) -> None:
    home = tmp_path
    name = listed(home, *hosts(count, prefix))
    options = [name, *slow_web.options, "--json"]
    dice = random.Random(kills)
    assert in_index(home) == []
    reported: list[str] = []
    for _ in range(kills):
        with start(home, "crawl", *options, env={"AUI_TUI_CONCURRENCY": "6"}, start_new_session=True) as process:
            time.sleep(dice.uniform(0.3, 2.0))
            process.kill()
            reported += [
                json.loads(line)["host"] for line in process.stdout.read().splitlines(True) if line[-1] == "\n"
            ]
            process.wait(60)
        with (
            sqlite3.connect(home / "data" / "index.db")
            if (home / "data" / "index.db").exists()
            else sqlite3.connect(":memory:") as db
        ):
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert len(reported) == len(set(reported))
    assert set(reported) <= set(in_index(home))
    last = aui(home, "crawl", *options, timeout=300)
    assert last.code == 0, last.err
    reported += [json.loads(line)["host"] for line in last.out.splitlines()]
    assert sorted(in_index(home)) == sorted(url.removeprefix("http://") for url in hosts(count, prefix))
    for host in dice.sample(in_index(home), 5):
        assert aui(home, "site", host, "--json").code == 0


@pytest.mark.slow
def test_full_disk_ends_the_crawl_with_the_reason_and_what_is_kept_can_be_read(tmp_path: Path, web: Served) -> None:
    aui(tmp_path, "crawl", listed(tmp_path, *hosts(3, "g")), *web.options, "-q")

    def no_more_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))

    name = listed(tmp_path, *hosts(80, "i"), name="more.csv")
    with start(tmp_path, "crawl", name, *web.options, "--json", preexec_fn=no_more_room) as process:
        out, err = process.communicate(timeout=120)
    assert process.returncode == 3, err
    assert "could not be written" in err
    assert "not saved" in err
    assert "Traceback" not in err
    kept = in_index(tmp_path)
    assert {"g0.test", "g1.test", "g2.test"} <= set(kept)
    assert len(out.splitlines()) >= len(kept) - 3
    again = aui(tmp_path, "crawl", name, *web.options, "-q", timeout=120)
    assert again.code == 0, again.err
    assert len(in_index(tmp_path)) == 83


def scanned_once(web: Served, cards: list[str], prefix: str) -> None:
    """Fail unless each of the 60 hosts of ``prefix`` is reported once and was scanned once."""
    reported = sorted(json.loads(line)["host"] for line in cards)
    assert reported == sorted(url.removeprefix("http://") for url in hosts(60, prefix))
    asked = {host: count for host, count in web.homepages().items() if host.startswith(prefix)}
    assert set(asked.values()) == {5}


@pytest.mark.slow
def test_two_crawls_at_once(tmp_path: Path, slow_web: Served) -> None:
    name = listed(tmp_path, *hosts(60, "k"))
    outputs = [tmp_path / "first", tmp_path / "second"]
    processes = []
    for output in outputs:
        with output.open("w") as file:
            arguments = command("crawl", name, *slow_web.options, "--json")
            processes.append(subprocess.Popen(arguments, cwd=tmp_path, env=environment(tmp_path), stdout=file))
    assert [process.wait(120) for process in processes] == [0, 0]
    scanned_once(slow_web, [line for output in outputs for line in output.read_text().splitlines()], "k")


@pytest.mark.slow
def test_crawl_whose_reader_pauses_keeps_its_hosts_to_itself(tmp_path: Path, slow_web: Served) -> None:
    options = [listed(tmp_path, *hosts(60, "p")), *slow_web.options, "--json"]
    with start(tmp_path, "crawl", *options) as paused:
        other = aui(tmp_path, "crawl", *options, timeout=120)
        assert other.code == 0, other.err
        assert len(in_index(tmp_path)) == 60
        out, err = paused.communicate(timeout=60)
    assert paused.returncode == 0, err
    scanned_once(slow_web, [*out.splitlines(), *other.out.splitlines()], "p")


def unread(pipe: IO[str]) -> int:
    """Return the bytes that lie in ``pipe``."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


@pytest.mark.slow
def test_interrupt_is_heard_while_the_reader_pauses(tmp_path: Path, slow_web: Served) -> None:
    with start(tmp_path, "crawl", listed(tmp_path, *hosts(400, "q")), *slow_web.options, "--json") as process:
        process.stdout.readline()
        waiting, before = 0, -1
        while waiting == 0 or waiting != before:
            time.sleep(0.5)
            before, waiting = waiting, unread(process.stdout)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert "Traceback" not in process.stderr.read()
    assert in_index(tmp_path)


@pytest.mark.pty
def test_progress_on_a_terminal(tmp_path: Path, slow_web: Served) -> None:
    ours, theirs = os.openpty()
    name = listed(tmp_path, *hosts(60, "l"))
    with start(
        tmp_path,
        "crawl",
        name,
        *slow_web.options,
        env={"TERM": "xterm-256color", "COLUMNS": "120", "AUI_TUI_CONCURRENCY": "5"},
        stderr=theirs,
    ) as process:
        os.close(theirs)
        text = read_terminal(ours).decode()
        assert process.wait(60) == 0
    assert "of 60 rows" in text
    assert "hosts/s" in text
    assert "left" in text
    assert "60 hosts scanned" in text
    assert text.isascii()

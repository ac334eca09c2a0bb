"""The whole line: a URL on the command line, a real server, a stored card, the index."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

from aui_tui.demo.web import DemoRule
from tests.cli.runner import Result, aui, here, read_terminal, read_until, start
from tests.e2e.conftest import DEAD, GUARDED, RICH, Options

Serve = Callable[..., Options]


def validator(home: Path, record: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads(here(home, "schema", record).out))


def record(done: Result) -> Any:
    assert done.out.endswith("\n")
    assert done.out.count("\n") == 1
    return json.loads(done.out)


@pytest.mark.ci
@pytest.mark.parametrize("keys", ["names", "slots"])
@pytest.mark.parametrize("method", ["v0.1", "v0.2"])
def test_a_scan_prints_a_valid_record(tmp_path: Path, serve: Serve, method: str, keys: str) -> None:
    rules = serve(RICH)
    done = here(
        tmp_path, "scan", "http://rich.test", *rules, "--json", "--method", method, env={"AUI_TUI_JSON_KEYS": keys}
    )
    assert done.code == 0, done.err
    card = record(done)
    assert not list(validator(tmp_path, "card").iter_errors(card))
    assert (card["method"], card["host"], card["input_host"]) == (method, "rich.test", "rich.test")
    assert (card["score"], card["grade"], card["stance"]) == (100, "A", "Open")
    assert card["files"] == ["llms.txt"]
    assert ("agent_01" in card["ua_policy"]) == (keys == "slots")


@pytest.mark.ci
def test_what_was_scanned_is_kept_listed_and_shown(tmp_path: Path, serve: Serve) -> None:
    rules = serve(RICH, DEAD)
    scanned = record(aui(tmp_path, "scan", "rich.test", *rules, "--json", "--category", "retail"))
    dead = aui(tmp_path, "scan", "dead.test", *rules, "--json")
    assert dead.code == 3
    assert record(dead)["score"] == 0
    shown = record(aui(tmp_path, "site", "rich.test", "--json"))
    assert shown == scanned
    assert record(here(tmp_path, "site", "rich.test", "--json", "--method", "v0.1"))["method"] == "v0.1"
    assert shown["category"] == "Retail"
    listed = aui(tmp_path, "index", "--json")
    index = json.loads(listed.out)
    assert not list(validator(tmp_path, "index").iter_errors(index))
    assert [row["host"] for row in index["ranked"]] == ["rich.test"]
    assert [row["host"] for row in index["unreachable"]] == ["dead.test"]
    assert not json.loads(aui(tmp_path, "index", "--json", "--stance", "selective").out)["ranked"]
    assert json.loads(aui(tmp_path, "index", "--json", "--category", "RETAIL").out)["ranked"]
    table = aui(tmp_path, "index").out
    assert "rich.test" in table
    assert "dead.test" in table
    assert max(map(len, table.splitlines())) <= 80


@pytest.mark.ci
def test_agents_shut_out_is_the_first_thing_said(tmp_path: Path, serve: Serve) -> None:
    card = record(here(tmp_path, "scan", "http://guarded.test", *serve(GUARDED), "--json"))
    first = card["evidence"][0]
    assert first["t"] == "critical"
    assert "AI agents are shut out" in first["text"]
    assert "a browser gets the homepage" in first["text"]
    live = [card["matrix"][key] for key in ("chatgpt", "claude", "gemini", "perplexity")]
    assert set(live) <= {"blocked", "walled"}
    assert (card["stance"], card["live_served"], card["human_status"]) == ("Walled", 0, 200)
    assert card["score"] <= 59


@pytest.mark.ci
def test_readable_card_and_progress(tmp_path: Path, serve: Serve) -> None:
    rules = serve(GUARDED)
    done = here(tmp_path, "scan", "guarded.test", *rules)
    assert "Walled" in done.out
    assert "challenged" in done.out
    assert "\x1b" not in done.out
    assert max(map(len, done.out.splitlines())) <= 80
    for probe in ("browser: 200 served", "Claude: 403 challenged", "robots.txt: 200 found", "once more"):
        assert probe in done.err
    again = here(tmp_path, "scan", "guarded.test", *rules, "--quiet", "--cached")
    assert again.err == ""
    assert "from the cache" in " ".join(again.out.split())
    text = here(tmp_path, "site", "guarded.test", "--text").out
    assert "Claude, Google agent, Perplexity, challenged: a Cloudflare challenge page (403)" in text
    assert not set("·✓✗◌█░│→") & set(text), [line for line in text.splitlines() if not line.isascii()]


@pytest.mark.ci
@pytest.mark.parametrize(
    ("form", "words"),
    [
        (("--json",), '"found":false,"host":"ftp://x","title":"Invalid host","status":400'),
        ((), "\n\nftp://x\n✗ Not scanned: “ftp://x” uses the scheme ftp"),
        (("-o", "all.xml"), '<error message="“ftp://x” uses the scheme ftp'),
        (("-o", "all.csv"), '"false","","ftp://x","ftp://x"'),
    ],
    ids=str,
)
def test_a_host_of_several_that_is_refused_is_in_the_answer(
    tmp_path: Path, serve: Serve, form: tuple[str, ...], words: str
) -> None:
    done = here(tmp_path, "scan", "rich.test", "ftp://x", "dead.test", *serve(RICH, DEAD), *form, "-q")
    assert done.code == 3, "the worst of the three"
    said = (tmp_path / form[1]).read_text() if "-o" in form else done.out
    assert "rich.test" in said
    assert words in said
    assert "only http and https" in done.sentence


@pytest.mark.ci
def test_only_refused_hosts_still_make_a_document(tmp_path: Path) -> None:
    done = here(tmp_path, "scan", "ftp://x", "a b", "-o", "scan.xml", "-q")
    assert done.code == 2
    assert (tmp_path / "scan.xml").read_text(encoding="utf-8").count("<testsuite ") == 2


@pytest.mark.ci
def test_a_name_that_does_not_resolve_is_a_stored_unreachable_card(tmp_path: Path) -> None:
    rule = ["--connect-to", "nowhere.test:80:no-such-host.invalid:80"]
    done = here(tmp_path, "scan", "http://nowhere.test", *rule, "-q")
    assert done.code == 3
    assert "does not resolve" in " ".join(done.out.split())
    stored = here(tmp_path, "site", "nowhere.test", "--json")
    assert (stored.code, json.loads(stored.out)["host"]) == (3, "nowhere.test")


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ('headers = "X"', "sites (one of its entries), headers: must be a table of names and values, not text."),
        ('headers = { "User-Agent" = "me" }', "belongs to the probe"),
        ('basic_auth_env = "NOT_SET"', "does not hold user:password"),
        ("colour = 1", "sites (one of its entries): unknown name `colour`."),
        ("public_ulr = 'x'", "reached: headers, basic_auth_env, public_url"),
    ],
)
def test_bad_settings_of_a_site_name_what_is_allowed(tmp_path: Path, setting: str, words: str) -> None:
    (tmp_path / "own.toml").write_text(f'[sites."example.com"]\n{setting}\n')
    done = here(tmp_path, "scan", "https://example.com/", "--config", "own.toml")
    assert (done.code, done.out) == (2, "")
    assert words in done.sentence


@pytest.mark.ci
def test_eleventh_scan_of_the_hour_is_refused_and_a_kept_card_or_an_own_host_still_served(
    tmp_path: Path, serve: Serve
) -> None:
    hosts = [f"http://shop{number}.test" for number in range(11)]
    rules = [word for host in hosts for word in ("--connect-to", f"{host[7:]}:80:no-such-host.invalid:80")]
    ten = here(tmp_path, "scan", *hosts[:10], *rules, "--json", "-q")
    assert (ten.code, ten.err, len(ten.out.splitlines())) == (3, "", 10)
    eleventh = here(tmp_path, "scan", hosts[10], *rules, "--json", "-q")
    assert (eleventh.code, eleventh.out) == (4, "")
    assert "limit of 10 scans an hour" in eleventh.sentence
    assert re.search(r"the next one is free in (59|60) min", eleventh.sentence)
    forced = here(tmp_path, "scan", hosts[0], *rules, "--force", "-q")
    assert forced.code == 4
    cached = here(tmp_path, "scan", hosts[0], *rules, "--json", "-q")
    assert cached.code == 3
    assert record(cached)["host"] == "shop0.test"
    own = here(tmp_path, "scan", "http://rich.test", *serve(RICH), "--json", "-q")
    assert own.code == 0
    assert record(own)["host"] == "rich.test"
    assert here(tmp_path, "scan", "ftp://x").code == 2


@pytest.mark.ci
def test_damaged_index_is_set_aside_and_a_new_one_begun(tmp_path: Path, serve: Serve) -> None:
    rules = serve(RICH)
    assert here(tmp_path, "scan", "rich.test", *rules, "-q").code == 0
    index = tmp_path / "data" / "index.db"
    for extra in tmp_path.glob("data/index.db-*"):
        extra.unlink()
    index.write_bytes(b"this is no database" * 4000)
    done = here(tmp_path, "doctor")
    assert "hosts     0" in done.out
    assert "set aside" in done.out
    assert "set aside" in done.sentence
    [kept] = (tmp_path / "data").glob("index.damaged-*.db")
    assert kept.read_bytes().startswith(b"this is no database")
    assert str(kept.name) in done.sentence
    assert here(tmp_path, "scan", "rich.test", *rules, "-q", "--force").code == 0


@pytest.mark.ci
def test_a_reader_that_leaves_does_not_let_a_gate_pass(tmp_path: Path, serve: Serve) -> None:
    rules = serve(GUARDED, DEAD)
    scan = ["scan", "http://dead.test", "http://guarded.test", *rules, "-q", "--fail-grade", "C", "--json"]
    broken = tmp_path / "broken.json"
    broken.write_text("{}")
    for arguments, code in (
        (scan, 1),
        (["site", "guarded.test", "--fail-grade", "C"], 1),
        (["validate", str(broken)], 1),
    ):
        with start(tmp_path, *arguments) as process:
            process.stdout.close()
            assert "Traceback" not in process.stderr.read()
            assert process.wait(60) == code


HANGING = msgspec.structs.replace(RICH, host="slow.test", rule=(DemoRule(to="everybody", action="hang"),))


@pytest.mark.ci
def test_interrupt_ends_a_scan_at_once_and_keeps_nothing(tmp_path: Path, serve: Serve) -> None:
    with start(tmp_path, "scan", "http://slow.test", *serve(HANGING), "--json") as process:
        read_until(process.stderr, "robots.txt")
        process.send_signal(signal.SIGINT)
        out, err = process.stdout.read(), process.stderr.read()
        assert process.wait(60) == 130
        assert out == ""
        assert "Traceback" not in err
    assert here(tmp_path, "site", "slow.test").code == 3


def test_interrupt_after_the_page_of_the_browser_keeps_what_was_seen_marked_incomplete(
    tmp_path: Path, serve: Serve
) -> None:
    hanging = msgspec.structs.replace(RICH, host="half.test", rule=(DemoRule(to="agents", action="hang"),))
    with start(tmp_path, "scan", "http://half.test", *serve(hanging)) as process:
        read_until(process.stderr, "browser: 200")
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    kept = here(tmp_path, "site", "half.test", "--json")
    assert kept.code == 0
    assert "This scan was stopped before its end" in kept.out
    closing = " ".join(here(tmp_path, "site", "half.test").out.split("Scanned")[-1].split())
    assert closing.endswith("stopped before its end.")


@pytest.mark.pty
def test_live_checklist_on_a_terminal(tmp_path: Path, serve: Serve) -> None:
    ours, theirs = pty.openpty()
    with start(
        tmp_path,
        "scan",
        "http://guarded.test",
        *serve(GUARDED),
        "--json",
        env={"TERM": "xterm-256color"},
        stderr=theirs,
    ) as process:
        os.close(theirs)
        seen = read_terminal(ours)
        card = json.loads(process.stdout.read())
        assert process.wait(60) == 0
    assert card["host"] == "guarded.test"
    for words in ("browser", "Claude", "robots.txt", "200 served", "403 challenged"):
        assert words.encode() in seen


@pytest.mark.pty
def test_a_probe_that_waits_shows_its_time_and_its_limit(tmp_path: Path, serve: Serve) -> None:
    hanging = msgspec.structs.replace(RICH, host="half.test", rule=(DemoRule(to="agents", action="hang"),))
    ours, theirs = pty.openpty()
    with start(
        tmp_path,
        "scan",
        "http://half.test",
        *serve(hanging),
        "--json",
        env={"TERM": "xterm-256color"},
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        seen = b""
        while b"/12 s" not in seen:
            seen += os.read(ours, 4096)
        process.kill()
    os.close(ours)
    assert b"Claude" in seen

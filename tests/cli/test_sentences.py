"""What cannot be done is one sentence on standard error, nothing on standard output, and the exit code of its kind."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from aui_tui.model.codec import encode_card
from aui_tui.report.formats import FORMATS
from tests.cards import WALLED
from tests.cli.runner import here
from tests.cli.stored import EARLIER, SEEN, fill

USAGE = [
    ("bogus", "There is no command 'bogus'. aui-tui --help lists"),
    ("paths --bogus", "aui-tui paths --help"),
    ("schema", "RECORD: One of card, index, summary, visits."),
    ("schema cards", "Unknown record 'cards'"),
    ("--data-dir", "--data-dir"),
    ("index --data-dir /dev/null/x", "/dev/null/x cannot be used: Not a directory; name another one by --data-dir DIR"),
    ("index --query colour:red", "Unknown query term"),
    ("index --sort weight", "rank, score"),
    ("cache shred", "show, clear"),
    ("help scaning", "did you mean scanning? Allowed are: scanning, dashboard"),
    ("validate none.json", "Cannot read none.json"),
    ("import none.json", "Cannot read none.json"),
    ("regrade none.recording", "Cannot read none.recording"),
    ("regrade noise.recording", "not a recording"),
    ("regrade list.json", "holds no report card"),
    ("regrade - --method v0.1", "Not JSON"),
    ("backup none/copy.db", "the folder does not exist"),
    ("diff tickets.example 2025 last", "kept: 2026-11-20"),
    ("diff a b c d", "HOST TIME TIME"),
    ("diff old.json", "HOST TIME TIME"),
    ("diff old.json new.json -f yaml", "text, json, markdown"),
    ("diff none.json new.json", "Cannot read none.json"),
    ("plan tickets.example --grade Z", "A, B, C, D, F"),
    ("plan tickets.example --grade 200", "A, B, C, D, F"),
    (f"plan tickets.example --grade {'9' * 5000}", "A, B, C, D, F"),
    ("site shop.example -f pdf", "junit, sarif"),
    ("site shop.example -f html --fields host", "Fields cannot be chosen for html"),
    ("site shop.example -f json --json", "--json and --format"),
    ("site shop.example --json --text", "--json and --text"),
    ("site shop.example --fields host", "--fields needs --format"),
    ("site shop.example --fail-under 120", "0<=x<=100"),
    ("site shop.example --fail-grade Z", "A, B, C, D, F"),
    ("site shop.example --must-serve nobody", "Claude"),
    ("site shop.example --must-serve chatgpt,", "The agent is empty"),
    ("site shop.example --no-regress none.json", "Cannot read none.json"),
    ("export -f junit", "json, ndjson, csv, markdown, html"),
    ("export -f parquet", "Parquet is written into a file, whole"),
    ("export -f parquet -o x --fields host", "without --fields"),
    ("scan 10.0.0.7", "--allow-private"),
    ("scan 0x7f.1", "number"),
    ("scan 'exam\x1b[31mple.com'", "control"),
    (
        f"scan shop.example {' '.join(f'--page /{number}' for number in range(11))}",
        "--page takes 10 pages at most, not 11.",
    ),
    ("scan shop.example --connect-to nonsense", "HOST:PORT:ADDRESS:PORT"),
    ("scan shop.example -o none/card.json", "the folder does not exist"),
    ("scan shop.example -o old.json/card.json", "the folder is a file"),
    ("scan shop.example -o .", "it is a folder"),
    ("scan a.com b.com -o one.recording", "name one host"),
    (
        "scan shop.example -o card.doc",
        f"use {', '.join(ending for one in FORMATS.values() for ending in one.endings.split())}.",
    ),
    ("AUI_TUI_CACERT=none.pem scan shop.example", "cannot read none.pem"),
    ("AUI_TUI_CACERT=old.json scan shop.example", "no certificates in PEM"),
    ("AUI_TUI_PACE=-1 scan shop.example", "one at a time, 0 to 60"),
    ("AUI_TUI_PACE=60.5 scan shop.example", "one at a time, 0 to 60"),
    ("AUI_TUI_PACE=nan scan shop.example", "one at a time, 0 to 60"),
    ("AUI_TUI_PACE=soon scan shop.example", "one at a time, 0 to 60"),
    ("demo", "aui-tui demo --headless"),
    ("crawl", "Name one list"),
    ("crawl x.csv --starter", "Name one list"),
    ("crawl .", "Cannot read ."),
    ("crawl missing.csv", "aui-tui: Cannot read missing.csv: No such file or directory."),
    ("crawl - --method v9", "v0.1, v0.2"),
    (
        "AUI_TUI_CONCURRENCY=0 crawl - --workers 2",
        "hosts that a crawl scans at a time, 1 to 10000",
    ),
    (
        "AUI_TUI_MAX_PER_SECOND=nan crawl -",
        "AUI_TUI_MAX_PER_SECOND: must be a number >= 0",
    ),
    ("AUI_TUI_OLDER_THAN=soon crawl -", "older_than takes a number with a unit, such as 7d, 12h"),
    ("AUI_TUI_SCHEDULER=tcp://127.0.0.1:9 crawl - --workers 2", "a cluster with workers of its own"),
    ("watch shop.example", "watch needs --every or --path"),
    ("watch shop.example --every soon", "such as 12h, 30m, 90s"),
    ("index --limit many", "'many' is not a whole number. --limit N: At most N rows"),
    ("watch example.com --every 1m", "the shortest interval is 6m"),
    ("watch shop.example --path none", "no folder or file none"),
    ("watch 10.0.0.7 --every 6m", "--allow-private"),
    ("mcp --allow-private", "--allow-scan"),
    ("web --host 0.0.0.0 --port 0", "AUI_TUI_BASE_URL"),
    ("AUI_TUI_BASE_URL=ftp://x/y web", "must be an address"),
    ("serve --host 'no such host'", "Cannot listen on no such host"),
    (f"serve --host {'x' * 300}", "xxx… port 8600: no host can have that name."),
    (f"crawl {'x' * 300}", "xxx…: File name too long."),
    (f"visits {'x' * 300}", "xxx…"),
    ("AUI_TUI_BASE_URL=index.example serve --port 0", "AUI_TUI_BASE_URL must be an address"),
    ("AUI_TUI_TRUSTED_PROXY=everybody serve --port 0", "A trusted proxy must be"),
    ("AUI_TUI_CORS=app.example serve --port 0", "A CORS origin must be"),
    ("AUI_TUI_ALLOW_ORIGIN=app.example serve --port 0", "An admitted origin must be like https://app.example,"),
    ("AUI_TUI_ALLOW_ORIGIN=* serve --port 0", "An admitted origin must be like"),
]
ON_A_SOURCE = [
    ("serve", "works on the index of this machine"),
    ("doctor", "not on --source"),
    ("demo --headless", "--source"),
    ("forget x.example", "not on --source"),
    ("cache", "not on --source"),
    ("diff tickets.example", "no earlier scan"),
    ("diff tickets.example 2026-11-12 last", "no earlier scan"),
    ("scan shop.example --page /a", "cannot be used with --source"),
    ("AUI_TUI_VIA=http://127.0.0.1:9 scan shop.example", "settings on how to reach a site cannot be used"),
    ("AUI_TUI_DECLARED=1 scan shop.example", "The setting declared cannot be used with --source"),
]
NO_CARD = [
    ("diff none.example", "never been scanned"),
    ("plan gone.example", "comes without what was seen"),
    ("regrade none.example --method v0.1", "never been scanned"),
    ("forget none.example", "never been scanned"),
    ("badge none.example", "never been scanned"),
]
SENTENCES = [
    *((2, line, words) for line, words in USAGE),
    *((2, f"{line} --source https://index.example", words) for line, words in ON_A_SOURCE),
    *((3, line, words) for line, words in NO_CARD),
]
"""Exit code, the line that a user types (settings first), and what the sentence must say."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an index, two cards as files, and two files that hold no card."""
    folder = tmp_path_factory.mktemp("home")
    fill(folder, scans=SEEN)
    (folder / "old.json").write_bytes(encode_card(EARLIER))
    (folder / "new.json").write_bytes(encode_card(WALLED))
    (folder / "noise.recording").write_bytes(b'{"recording": "\\u001b[2J"}')
    (folder / "list.json").write_text("[]")
    return folder


@pytest.mark.parametrize(("code", "line", "words"), SENTENCES, ids=[line[:70] for _, line, _ in SENTENCES])
def test_what_cannot_be_done_is_one_sentence(home: Path, code: int, line: str, words: str) -> None:
    arguments, settings = shlex.split(line), {}
    while arguments[0].startswith("AUI_TUI_"):
        name, _, settings[name] = arguments.pop(0).partition("=")
    done = here(home, *arguments, env=settings, stdin="nonsense")
    assert (done.code, done.out) == (code, "")
    assert words in done.sentence
    assert "\x1b" not in done.sentence

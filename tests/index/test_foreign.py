"""A file that somebody else made, and a disk without room: one sentence, soon, and nothing lost."""

from __future__ import annotations

import resource
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

import pytest

from aui_tui.errors import ConfigError, NeverScanned, Unavailable
from aui_tui.index import database
from aui_tui.index.store import Store
from aui_tui.model.codec import encode_card
from aui_tui.model.query import Query
from aui_tui.model.times import stamp
from tests.cli.runner import ROOT, here
from tests.index.clock import NOW
from tests.index.scans import DAY, scan

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS id, 'h' AS host FROM n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """An index with three hosts, in the data folder of a home."""
    (tmp_path / "data").mkdir(mode=0o700)
    path = tmp_path / "data" / "index.db"
    store = Store(path)
    store.put_many([scan(f"{name}.example") for name in ("a", "b", "c")])
    store.close()
    return path


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA writable_schema = 1")
        for sql in statements:
            db.execute(sql)
        db.commit()


@pytest.mark.parametrize(
    "statements",
    [
        ("PRAGMA user_version = -3",),
        ("PRAGMA application_id = 7",),
        ("PRAGMA user_version = 0",),
        ("DROP TABLE site", f"CREATE VIEW site AS {ENDLESS}"),
        ("DROP TABLE scan", f"CREATE VIEW scan AS {ENDLESS}"),
        ("DROP TABLE meta", "CREATE TABLE meta (changes INTEGER, more AS (changes * 2))"),
        ("DROP TABLE visits", "CREATE VIRTUAL TABLE visits USING fts5 (host, at, record)"),
        ("CREATE TRIGGER mine AFTER INSERT ON site BEGIN DELETE FROM scan; END",),
        ("DROP TABLE scan",),
    ],
    ids=str,
)
def test_a_file_that_is_no_index_is_said_in_a_sentence(file: Path, statements: tuple[str, ...]) -> None:
    change(file, *statements)
    began = time.monotonic()
    with pytest.raises(ConfigError, match="is not an index of this program") as caught:
        Store(file)
    assert "\n" not in str(caught.value)
    assert time.monotonic() - began < database.LONGEST
    with closing(sqlite3.connect(file)) as db:
        assert db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0] > 3
    done = here(file.parent.parent, "index")
    assert (done.code, done.out) == (2, "")
    assert "is not an index of this program" in done.err
    assert "Traceback" not in done.err


def test_what_the_user_added_stays_and_is_not_read(file: Path) -> None:
    change(
        file, "CREATE TABLE mine (x)", "CREATE INDEX my_index ON site (category)", f"CREATE VIEW endless AS {ENDLESS}"
    )
    store = Store(file)
    assert len(store.index(Query()).ranked) == 3
    store.close()


@pytest.mark.parametrize("value", ["'abc'", "x'ff00ff'", "0.5"])
def test_values_of_another_kind_are_left_out_and_break_nothing(file: Path, value: str) -> None:
    with closing(sqlite3.connect(file)) as db:
        places = [(table, row[1]) for table in ("site", "scan") for row in db.execute(f"PRAGMA table_info({table})")]
    whole = file.read_bytes()
    for table, column in places:
        file.write_bytes(whole)
        with closing(sqlite3.connect(file)) as db, suppress(sqlite3.IntegrityError):
            db.execute(f"UPDATE {table} SET {column} = {value} WHERE id = 1")
            db.commit()
        store = Store(file)
        for row in (found := store.index(Query())).ranked[0 : len(found.ranked)]:
            assert type(row.summary.score) is type(row.scans) is type(row.best_points) is int
            assert row.change is None or type(row.change) is int
        for ask in (store.overview, store.weeks, partial(store.moves, since="", most=5)):
            with suppress(Unavailable):
                ask(Query())
        assert all(type(point.score) is int for point in store.history("a.example"))
        shown = [found.scanned_at, *(row.summary.scanned_at for row in found.ranked[0:3])]
        shown += [point.scanned_at for point in store.history("a.example")]
        assert {at[:4] for at in shown} == {stamp(NOW)[:4]}, (table, column)
        for days, dead in ((-2, False), (2, True), (1, True)):
            with suppress(Unavailable):
                store.put(*scan("a.example", NOW + days * DAY, dead=dead))
        with suppress(Unavailable, NeverScanned):
            store.forget("a.example")
        store.close()


def test_a_database_of_another_program_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE mine (x)")
    before = path.read_bytes()
    with pytest.raises(ConfigError, match="is not an index"):
        Store(path)
    assert path.read_bytes() == before or sqlite3.connect(path).execute("SELECT * FROM mine").fetchall() == []


def test_a_row_of_many_megabytes_is_refused_before_it_is_read(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    change(
        file,
        f"UPDATE scan SET card = zeroblob({database.LARGEST + 1}) WHERE site = 1",
        f"UPDATE site SET top_evidence = CAST(zeroblob({database.LARGEST + 1}) AS TEXT) WHERE id = 2",
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    store = Store(file)
    with pytest.raises(Unavailable, match="too big"):
        store.get("a.example")
    with pytest.raises(Unavailable, match="too big"):
        list(store.index(Query()).ranked[0:50])
    assert store.get("c.example")
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < database.LARGEST
    store.close()


LARGE_KEY = """
import resource, sys
from pathlib import Path
from aui_tui.errors import Unavailable
from aui_tui.index import database
from aui_tui.index.store import Store
from aui_tui.model.query import Query
database.MEMORY = 32 << 20
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
store = Store(Path(sys.argv[1]))
try:
    print(len(store.index(Query()).ranked[0:50]))
except Unavailable as error:
    print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_a_key_of_many_megabytes_is_never_loaded(file: Path) -> None:
    planting = "import sqlite3, sys; sqlite3.connect(sys.argv[1], isolation_level=None).execute(sys.argv[2])"
    sql = "UPDATE site SET host = zeroblob(60 << 20) WHERE id = 1"
    subprocess.run([sys.executable, "-c", planting, str(file), sql], check=True)
    done = subprocess.run(
        [sys.executable, "-c", LARGE_KEY, str(file)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    sentence, grown = done.stdout.splitlines()
    assert sentence == "The index index.db could not be read: it takes too much memory."
    assert int(grown) < 48 * 1024


def test_a_question_without_an_end_is_given_up(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "STEPS", 1000)
    store = Store(file)
    with pytest.raises(Unavailable, match="interrupted"), store.database.reading(seconds=0.2) as db:
        db.execute(ENDLESS + " WHERE x < 0").fetchall()
    assert len(store.index(Query()).ranked) == 3
    store.close()


FULL = """
import resource, signal, sys
from pathlib import Path
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
from aui_tui.index.store import Store
from aui_tui.errors import Unavailable
from aui_tui.model.query import Query
from aui_tui.model.codec import decode_card
store = Store(Path(sys.argv[1]))
print(len(store.index(Query.of(line="example")).ranked), store.get("b.example").card.host)
try:
    store.put(decode_card(sys.stdin.buffer.read()), None)
except Unavailable as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a limit on the size of files stands for a full disk")
def test_while_the_disk_is_full_the_index_is_read(file: Path) -> None:
    """No file may grow: neither the log nor the file beside it that tells where things are in the log."""
    done = subprocess.run(
        [sys.executable, "-B", "-c", FULL, str(file)],
        input=encode_card(scan("d.example")[0]).decode(),
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=120,
        check=False,
    )
    lines = done.stdout.splitlines()
    assert lines[:1] == ["3 b.example"], done.stderr
    assert "Nothing can be saved" in lines[1]
    assert done.returncode == 0
    store = Store(file)
    assert store.put(*scan("d.example"))
    assert len(store.index(Query()).ranked) == 4
    store.close()


BEGUN = """
import resource, signal, sys
from pathlib import Path
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
from aui_tui.index.store import Store
from aui_tui.errors import Unavailable
from aui_tui.model.codec import decode_card
card = decode_card(sys.stdin.buffer.read())
for _ in range(2):
    try:
        Store(Path(sys.argv[1])).put(card, None)
    except Unavailable as error:
        print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a limit on the size of files stands for a full disk")
@pytest.mark.parametrize("room", [0, 4096, 40_960])
def test_an_index_that_a_full_disk_cut_off_at_its_beginning_is_begun_again(tmp_path: Path, room: int) -> None:
    path = tmp_path / "index.db"
    words = [sys.executable, "-B", "-c", BEGUN, str(path), str(room)]  # a cut .pyc would stay
    card = encode_card(scan("d.example")[0]).decode()
    done = subprocess.run(words, input=card, capture_output=True, text=True, cwd=ROOT, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 2
    with closing(Store(path)) as store:
        assert store.put(*scan("d.example"))
        assert store.warnings == ()

"""Cards, history and what becomes of the file: real SQLite in a real folder."""

from __future__ import annotations

import sqlite3
import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aui_tui.checks.scoring import Labels, grade_card
from aui_tui.errors import ConfigError, NeverScanned, Unavailable
from aui_tui.index import figures
from aui_tui.index import store as store_module
from aui_tui.index.lists import TALLIES
from aui_tui.index.packed import columns_of
from aui_tui.index.rows import COLUMNS
from aui_tui.index.schema import VERSION
from aui_tui.index.store import Store
from aui_tui.index.upkeep import examine
from aui_tui.model.card import ReportCard
from aui_tui.model.methods import REVISION
from aui_tui.model.observations import Observations
from aui_tui.model.query import Query
from aui_tui.model.report import HostReport
from aui_tui.model.times import epoch_ms, stamp
from tests.cards import SAMPLES, cards
from tests.index.clock import NOW, Clock
from tests.index.locked import locked
from tests.index.scans import DAY, scan
from tests.strategies import observations


def hosts(store: Store, line: str = "") -> list[str]:
    return [row.summary.host for row in store.index(Query.of(line=line)).ranked[:]]


def consistent(store: Store) -> None:
    """Every row says what its card says, and every derived table what the rows say."""
    assert examine(store).problems == ()
    with store.database.reading() as db:
        kept = {row[0]: row for row in db.execute(f"SELECT {', '.join(COLUMNS)} FROM site")}
        for tally, columns in TALLIES.items():
            named = ", ".join(sorted(columns))
            counted = db.execute(f"SELECT {named}, count(*) FROM site GROUP BY {named} ORDER BY {named}").fetchall()
            assert db.execute(f"SELECT {named}, hosts FROM {tally} ORDER BY {named}").fetchall() == counted
    for host in kept:
        assert dict(zip(COLUMNS, kept[host], strict=True)) == columns_of(
            store.get(host).card, store.get(host).observations
        )
        for text in (host, store.row(host).summary.name):
            if text.strip() and '"' not in text:
                view = store.index(Query.of(line=f'"{text}"'))
                assert host in {row.summary.host for window in (view.ranked, view.unreachable) for row in window[:]}


def test_file_is_private(store: Store, tmp_path: Path) -> None:
    store.put(*scan())
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}


def test_card_and_observations_come_back(store: Store) -> None:
    card, found = scan()
    assert store.put(card, found)
    assert store.get("shop.example") == HostReport(card=card, observations=found)
    assert store.get("shop.example", card.scanned_at) == HostReport(card=card, observations=found)
    with pytest.raises(NeverScanned, match=r"other\.example has never been scanned"):
        store.get("other.example")
    with pytest.raises(NeverScanned):
        store.get("shop.example", stamp(NOW - 1))


@pytest.mark.ci
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(observations())
def test_any_observations_come_back(store: Store, found: Observations) -> None:
    card = grade_card(found)
    store.put(card, found)
    assert store.get(found.host) == HostReport(card=card, observations=found)


@pytest.mark.parametrize("text", ["User-agent: *\nDisallow:\n", "# a line\n" * 6000])
def test_a_robots_txt_comes_back_with_its_lines(store: Store, text: str) -> None:
    card, found = scan()
    found = msgspec.structs.replace(found, robots=msgspec.structs.replace(found.robots, text=text))
    store.put(card, found)
    assert store.get("shop.example") == HostReport(card=card, observations=found)


def test_scan_of_the_same_moment_replaces_itself(store: Store) -> None:
    card, found = scan()
    store.put(card, found)
    store.put(msgspec.structs.replace(card, name="Renamed"), found)
    assert store.get("shop.example").card.name == "Renamed"
    assert len(store.history("shop.example")) == 1
    assert hosts(store, "renamed") == ["shop.example"]
    consistent(store)


def test_change_is_against_the_scan_before(store: Store) -> None:
    first, second = scan(at=NOW - DAY)[0], scan(llms=True)[0]
    assert second.score > first.score
    store.put(*scan(at=NOW - DAY))
    assert store.row("shop.example").change is None
    store.put(*scan(llms=True))
    row = store.row("shop.example")
    assert (row.change, row.scans, row.summary.scanned_at) == (second.score - first.score, 2, stamp(NOW))
    before = scan(at=NOW - DAY)
    assert store.previous("shop.example", stamp(NOW)) == HostReport(card=before[0], observations=before[1])
    assert store.previous("shop.example", stamp(NOW - DAY)) is None


def test_a_damaged_line_is_left_out_of_its_page(store: Store) -> None:
    store.put_many([scan(f"{number}.example") for number in range(5)])
    view = store.index(Query())
    with store.database.writing() as db:
        db.execute("UPDATE site SET pillars = '{' WHERE host = '1.example'")
        db.execute("UPDATE site SET live = '' WHERE host = '2.example'")
        db.execute("UPDATE site SET matrix = '[1' WHERE host = '3.example'")
    assert [row.summary.host for row in view.ranked[:]] == ["0.example", "4.example"]


def test_an_overview_of_many_like_hosts_needs_no_value_of_their_size(store: Store) -> None:
    store.put_many([scan(f"{number:03}.example") for number in range(300)])
    with store.database.reading() as db:
        was = db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 20_000)
        try:
            assert figures.overview(db, Query()).hosts == 300
        finally:
            db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, was)


def test_change_needs_the_same_method_and_two_answers(store: Store) -> None:
    card, found = scan(at=NOW - DAY)
    store.put(grade_card(found, "v0.1"), found)
    store.put(*scan())
    assert store.row("shop.example").change is None
    store.put(*scan("gone.example", NOW - DAY, status=503))
    store.put(*scan("gone.example"))
    assert store.row("gone.example").change is None
    assert card.score != grade_card(found, "v0.1").score


def test_older_scan_goes_to_the_history_alone(store: Store) -> None:
    store.put(*scan(llms=True))
    assert not store.put(*scan(at=NOW - DAY))
    row = store.row("shop.example")
    assert (row.summary.scanned_at, row.scans) == (stamp(NOW), 2)
    assert row.change == scan(llms=True)[0].score - scan()[0].score
    assert [point.scanned_at for point in store.history("shop.example")] == [stamp(NOW - DAY), stamp(NOW)]


def test_scan_without_any_answer_leaves_the_good_card_for_a_day(store: Store, clock: Clock) -> None:
    clock.now += 4 * DAY
    assert store.put(*scan("unknown.example", dead=True))
    assert [row.summary.host for row in store.index(Query()).unreachable[:]] == ["unknown.example"]
    store.forget("unknown.example")
    store.put(*scan(at=NOW))
    assert not store.put(*scan(at=NOW + 3600, dead=True))
    assert hosts(store) == ["shop.example"]
    assert store.get("shop.example").card.scanned_at == stamp(NOW)
    assert [point.unreachable for point in store.history("shop.example")] == [False, True]
    assert not store.put(*scan(at=NOW + 3600 + DAY - 1, dead=True))
    assert store.put(*scan(at=NOW + 3600 + DAY, dead=True))
    assert hosts(store) == []
    assert [row.summary.host for row in store.index(Query()).unreachable[:]] == ["shop.example"]
    consistent(store)
    assert store.put(*scan(at=NOW + 3 * DAY))
    assert hosts(store) == ["shop.example"]
    assert store.row("shop.example").change == 0
    consistent(store)


def test_a_scan_from_the_future_stands_back_once_there_is_another(store: Store, clock: Clock) -> None:
    assert store.put(*scan(at=NOW + 400 * DAY))
    store.put(*scan("other.example"))
    assert store.put(*scan(llms=True))
    row = store.row("shop.example")
    assert (row.summary.scanned_at, row.change) == (stamp(NOW), None)
    assert not store.put(*scan(at=NOW + 401 * DAY))
    assert store.row("shop.example").summary.scanned_at == stamp(NOW)
    store.put(*scan("ahead.example", at=NOW + DAY))
    view = store.index(Query.of(sort="age"))
    assert view.scanned_at == stamp(NOW)
    assert [row.summary.host for row in view.ranked[:]][-1] == "ahead.example"
    assert store.recent(["shop.example"])["shop.example"].at == NOW
    clock.now = NOW - 3 * 365 * DAY  # a machine that starts in the past
    assert store.put(*scan(at=clock.now, llms=True))
    clock.now = NOW + 60
    assert store.put(*scan(at=clock.now))
    assert store.row("shop.example").summary.scanned_at == stamp(NOW + 60)
    assert stamp(NOW) in {point.scanned_at for point in store.history("shop.example")}
    consistent(store)


def test_the_card_of_a_host_comes_from_its_usual_route(store: Store) -> None:
    assert store.put(*scan(at=NOW - 3 * DAY, status=503), aside=1)
    assert store.put(*scan(at=NOW - 2 * DAY))
    for number, aside in enumerate((1, 2, 1)):
        assert not store.put(*scan(at=NOW - number * 60, status=404, llms=True), aside=aside)
    assert store.get("shop.example").card.scanned_at == stamp(NOW - 2 * DAY)
    assert store.get("shop.example", stamp(NOW)).card.human_status == 404
    assert (store.row("shop.example").scans, len(store.history("shop.example"))) == (1, 1)
    assert store.put(*scan(at=NOW + 60, llms=True))
    before = store.previous("shop.example", stamp(NOW + 60))
    assert before is not None
    assert before.card.scanned_at == stamp(NOW - 2 * DAY)
    assert store.row("shop.example").change == scan(llms=True)[0].score - scan()[0].score
    assert store.moves(Query(), "", 5).risen == 1
    consistent(store)


def test_answer_that_is_only_an_error_replaces_the_good_card(store: Store) -> None:
    store.put(*scan())
    assert store.put(*scan(at=NOW + 60, status=503))
    assert hosts(store) == []


def test_history_is_thinned_to_a_scan_a_week_after_thirty_days(store: Store) -> None:
    made = [NOW - 100 * DAY + number * DAY / 2 for number in range(200)]
    for moment in made:
        store.put(*scan(at=moment))
    kept = [epoch_ms(point.scanned_at) / 1000 for point in store.history("shop.example")]
    recent = [moment for moment in made if moment >= NOW - 30 * DAY]
    old = [moment for moment in made if moment < NOW - 30 * DAY]
    weeks: dict[int, float] = {int(moment // (7 * DAY)): moment for moment in old}
    assert kept == sorted(weeks.values()) + recent
    assert store.row("shop.example").scans == len(kept)
    for moment in kept:
        assert store.get("shop.example", stamp(moment)).card.scanned_at == stamp(moment)


def test_forgotten_host_leaves_nothing(store: Store) -> None:
    store.put(*scan())
    store.put(*scan(at=NOW - DAY))
    store.put(*scan("other.example"))
    assert store.forget("shop.example") == 2
    assert hosts(store) == hosts(store, "example") == ["other.example"]
    assert store.history("shop.example") == ()
    with pytest.raises(NeverScanned):
        store.forget("shop.example")
    consistent(store)


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(
    st.lists(st.tuples(cards(), st.sampled_from(("a", "b", "c")), st.integers(-60, 0)), max_size=10),
    st.lists(st.sampled_from(("a", "b", "c")), max_size=2),
)
def test_derived_tables_always_agree(
    tmp_path_factory: pytest.TempPathFactory, puts: list[tuple[ReportCard, str, int]], forgotten: list[str]
) -> None:
    store = Store(tmp_path_factory.mktemp("index") / "index.db")
    try:
        latest: dict[str, ReportCard] = {}
        for card, host, day in puts:
            card = msgspec.structs.replace(card, host=f"{host}.example", scanned_at=stamp(NOW + day * DAY))
            store.put(card)
            if card.host not in latest or latest[card.host].scanned_at <= card.scanned_at:
                latest[card.host] = card
        for host in forgotten:
            if latest.pop(f"{host}.example", None):
                store.forget(f"{host}.example")
        consistent(store)
        assert {host: store.get(host).card for host in latest} == latest
    finally:
        store.close()


def test_lists_are_kept_until_something_changes(store: Store) -> None:
    store.put(*scan())
    kept = store.index(Query()).ranked
    assert [len(kept), len(store.index(Query()).ranked)] == [1, 1]
    store.put(*scan("other.example"))
    assert len(store.index(Query()).ranked) == 2
    other = Store(store.path)
    other.put(*scan("third.example"))
    other.close()
    assert len(store.index(Query()).ranked) == 3


def test_scans_that_an_earlier_revision_graded_are_graded_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def grade(card: ReportCard, seen: Observations) -> ReportCard:
        graded.append((card.host, card.scanned_at))
        return grade_card(seen, labels=Labels(category=card.category))

    graded: list[tuple[str, str]] = []
    monkeypatch.setattr(store_module, "REGRADED", 2)
    scans = [scan(f"{name}.example", at=NOW - days * DAY) for name in ("a", "b", "c") for days in (2, 1)]
    store.put_many((msgspec.structs.replace(card, score=1, grade="F"), seen) for card, seen in scans)
    store.put(*scan("new.example"))
    store.put(SAMPLES[0])
    assert store.row("a.example").summary.score == 1
    assert store.regrade(grade, seconds=60.0) == (0, 0), "this program graded them"
    monkeypatch.setattr(store_module, "REVISION", REVISION + 1)
    assert store.regrade(grade, seconds=0.0) == (0, len(scans) + 2)
    assert graded == []
    first = store.first_page(Query())
    assert first is not None
    assert first.counting
    assert len(first.ranked) == len(store.index(Query()).ranked)
    other = Store(store.path)
    assert other.regrade(grade, seconds=60.0) == (len(scans) + 2, 0)
    other.close()
    assert sorted(graded) == sorted((card.host, card.scanned_at) for card, _ in (*scans, scan("new.example")))
    for card, seen in scans:
        assert store.get(card.host, card.scanned_at) == HostReport(card=card, observations=seen)
        assert store.row(card.host).summary.score == card.score
        assert [point.score for point in store.history(card.host)] == [card.score] * 2
    assert store.get(SAMPLES[0].host).card == SAMPLES[0]
    consistent(store)
    before = store.stamp()
    store.regrade(grade, seconds=60.0)
    assert (len(graded), store.stamp()) == (len(scans) + 1, before)
    first = store.first_page(Query())
    assert first is not None
    assert not first.counting


def test_window_outlives_a_change(store: Store) -> None:
    for number in range(5):
        store.put(*scan(f"{number}.example"))
    ranked = store.index(Query()).ranked
    store.forget("2.example")
    assert [row.summary.host for row in ranked[0:5]] == ["0.example", "1.example", "3.example", "4.example"]
    listed = store.index(Query.of(sort="name")).ranked
    store.forget("3.example")
    assert [row.summary.host for row in listed[0:5]] == ["0.example", "1.example", "4.example"]


def test_empty_index_has_the_time_of_asking(store: Store) -> None:
    view = store.index(Query())
    assert (len(view.ranked), len(view.unreachable), view.scanned_at) == (0, 0, stamp(NOW))
    assert list(view.ranked[0:50]) == []
    assert store.overview(Query()).hosts == 0


@pytest.mark.parametrize("kind", ["card", "observations", "row", "inflated"])
def test_damaged_record_is_absent_not_a_crash(store: Store, kind: str) -> None:
    store.put(*scan())
    store.put(*scan("other.example"))
    with store.database.writing() as db:
        if kind == "row":
            db.execute("UPDATE site SET pillars = '{broken' WHERE id = 1")
        elif kind == "inflated":
            db.execute("UPDATE scan SET card = zeroblob(100) WHERE site = 1")
        else:
            db.execute(f"UPDATE scan SET {kind} = substr({kind}, 1, 60) || x'00ff00' WHERE site = 1")
    if kind == "row":
        assert hosts(store) == ["other.example"]
    elif kind == "observations":
        assert store.get("shop.example") == HostReport(card=scan()[0], observations=None)
    else:
        with pytest.raises(NeverScanned):
            store.get("shop.example")
        assert hosts(store) == ["other.example", "shop.example"]


@pytest.mark.parametrize("damage", ["head", "middle", "truncated", "text", "zero"])
def test_damaged_file_is_set_aside_and_begun_anew(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "index.db"
    store = Store(path)
    store.put_many(scan(f"{number}.example") for number in range(400))
    store.close()
    data = bytearray(path.read_bytes())
    if damage == "head":
        data[:100] = b"x" * 16 + bytes(84)
    elif damage == "middle":
        for page in range(1, len(data) // 8192):
            data[page * 8192 : page * 8192 + 200] = b"\xff" * 200
    elif damage == "truncated":
        del data[8192 * 3 + 100 :]
    elif damage == "text":
        data = bytearray(b"this is no database\n" * 1000)
    else:
        data = bytearray()
    path.write_bytes(data)
    store = Store(path)
    try:
        for _ in range(3):
            with suppress(Unavailable, NeverScanned):
                store.put(*scan("new.example"))
                assert "new.example" in hosts(store)
                store.get("new.example")
                store.get("7.example")
        assert hosts(store) == ["new.example"]
    finally:
        store.close()
    aside = list(tmp_path.glob("index.damaged-*.db"))
    if damage == "zero":
        assert not aside
        assert store.warnings == ()
    else:
        assert len(aside) == 1
        assert aside[0].stat().st_size >= len(data)
        assert aside[0].name in store.warnings[0]


def put_in_the_end(store: Store, host: str) -> None:
    """Put a scan as a crawl does: again after the file was begun anew."""
    for _ in range(3):
        with suppress(Unavailable):
            store.put(*scan(host))
            return
    raise AssertionError(store.warnings)


def damage() -> sqlite3.DatabaseError:
    """Return what SQLite raises at a damaged page."""
    found = sqlite3.DatabaseError("database disk image is malformed")
    found.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return found


def test_file_that_another_process_has_begun_anew_is_not_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    first, second, third = (Store(path) for _ in range(3))
    first.put(*scan("old.example"))
    assert hosts(second) == hosts(third) == ["old.example"]
    assert "set aside" in str(first.database._explained(damage(), "read"))
    put_in_the_end(first, "a.example")
    assert "could not be read" in str(second.database._explained(damage(), "read"))
    put_in_the_end(second, "b.example")
    put_in_the_end(third, "c.example")
    for store in (first, second, third):
        assert hosts(store) == ["a.example", "b.example", "c.example"]
        store.close()
    assert len(list(tmp_path.glob("index.damaged-*.db"))) == 1
    last = Store(path)
    assert hosts(last) == ["a.example", "b.example", "c.example"]
    last.close()


def test_damage_that_an_earlier_reader_finds_is_not_that_of_the_new_file(store: Store) -> None:
    store.put(*scan("old.example"))

    def meanwhile() -> None:
        store.database._explained(damage(), "read")
        put_in_the_end(store, "new.example")

    def read() -> None:
        with store.database.reading(), ThreadPoolExecutor(1) as thread:
            thread.submit(meanwhile).result()
            raise damage()

    with pytest.raises(Unavailable, match="malformed"):
        read()
    assert hosts(store) == ["new.example"]
    assert len(list(store.path.parent.glob("index.damaged-*.db"))) == 1


@pytest.mark.parametrize("replaced", [False, True], ids=["removed", "replaced"])
def test_file_that_is_taken_away_is_reported_once_and_the_new_one_used(tmp_path: Path, replaced: bool) -> None:
    path = tmp_path / "index.db"
    other = Store(tmp_path / "other.db")
    other.put(*scan("there.example"))
    other.close()
    store = Store(path)
    store.put(*scan("old.example"))
    for suffix in ("", "-wal", "-shm"):
        Path(f"{path}{suffix}").unlink()
    if replaced:
        (tmp_path / "other.db").rename(path)
    with pytest.raises(Unavailable, match="removed or replaced while it was in use"):
        store.put(*scan("new.example"))
    store.put(*scan("new.example"))
    wanted = ["new.example", "there.example"] if replaced else ["new.example"]
    assert hosts(store) == wanted
    store.close()
    assert list(tmp_path.glob("*damaged*")) == []
    again = Store(path)
    assert hosts(again) == wanted
    again.close()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for nobody who has locked an index."""
    monkeypatch.setattr("aui_tui.index.database.BUSY", 0.05)


@pytest.mark.usefixtures("impatient")
def test_locked_file_is_said_at_once_and_used_later(tmp_path: Path) -> None:
    with closing(Store(tmp_path / "index.db")) as store:
        store.put(*scan())
    with locked(tmp_path / "index.db", reading=True):
        store = Store(tmp_path / "index.db")
        for use in (lambda: store.put(*scan("other.example")), lambda: store.index(Query()), lambda: store.get("a")):
            with pytest.raises(Unavailable, match=r"index\.db .*(locked|busy)"):
                use()
    store.put(*scan("other.example"))
    assert hosts(store) == ["other.example", "shop.example"]
    store.close()


@pytest.mark.usefixtures("impatient")
def test_reading_does_not_wait_for_a_writer(tmp_path: Path) -> None:
    with closing(Store(tmp_path / "index.db")) as store:
        store.put(*scan())
        with locked(store.path):
            assert hosts(store) == ["shop.example"]
            with pytest.raises(Unavailable, match="locked"):
                store.put(*scan("other.example"))
        assert store.put(*scan("other.example"))


@pytest.mark.parametrize("version", [VERSION + 1, 10])
def test_a_file_of_another_version_is_refused_and_left_as_it_is(tmp_path: Path, version: int) -> None:
    path = tmp_path / "index.db"
    Store(path).close()
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {version}")
    before = path.read_bytes()
    with pytest.raises(ConfigError) as refused:
        Store(path)
    assert f"another version of this program (schema {version}, not {VERSION})" in str(refused.value)
    assert "aui-tui export --cards -o cards.ndjson" in str(refused.value)
    assert "aui-tui import cards.ndjson" in str(refused.value)
    assert [file.name for file in tmp_path.iterdir()] == ["index.db"]
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "planted",
    [
        "site SET stance = 'Odd'",
        "site SET category = 'Odd', grade = 'Z', score = 1000",
        "site SET fixes = ',odd,', contradictions = ',odd,', claude = 'odd'",
        "scan SET stance = 7, grade = 'Z', score = -5",
        "tally SET score = 1000, stance = 'Odd'",
    ],
)
def test_words_that_nobody_knows_end_no_question(store: Store, planted: str) -> None:
    store.put(*scan())
    store.put(*scan(at=NOW - DAY))
    store.put(*scan("other.example"))
    with store.database.writing() as db:
        db.execute(f"UPDATE {planted} WHERE rowid = 1" if "tally" not in planted else f"UPDATE {planted}")
    for query in (Query(), Query.of(stance="Open"), Query.of(line="score:>5 -contradiction"), Query.of(sort="age")):
        view = store.index(query)
        assert len(view.ranked[:]) <= 2
        store.overview(query)
        store.moves(query, "", 5)
        store.weeks(query)
    for host in ("shop.example", "other.example"):
        with suppress(NeverScanned):
            store.row(host)
        store.history(host)
        store.get(host)
    assert examine(store).hosts == 2

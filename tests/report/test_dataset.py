"""The data set, read by the programs of those who would use it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aui_tui.checks.scoring import Labels, grade_card
from aui_tui.index.blobs import decode_observations
from aui_tui.model.codec import decode_card
from aui_tui.model.visits import Visits
from aui_tui.report.data import tables
from aui_tui.service.local import LocalService
from tests.cli.runner import aui, here
from tests.index.test_reports import NOW, scan
from tests.visits.records import verified, visits

HOUR = 3600.0


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with three hosts, one scanned twice and with visits, another named to mislead a spreadsheet."""
    folder = tmp_path_factory.mktemp("home")
    local = LocalService(folder / "data")
    card, seen = scan("shop.example", at=NOW - HOUR)
    local.reports.put(card, seen)
    local.reports.put(*scan("shop.example", llms=True))
    local.reports.put(*scan("blog.example"))
    card, seen = scan("evil.example")
    named = Labels(name="=HYPERLINK(1)", category=card.category, base_url=card.url.partition("/site/")[0])
    local.reports.put(grade_card(seen, labels=named), seen)
    record: Visits = visits(verified("Claude-User", 40, 2), host="shop.example")
    local.reports.put_visits(record)
    local.reports.close()
    return folder


@pytest.fixture(scope="module")
def package(home: Path) -> Path:
    done = aui(home, "export", "--package", str(home / "set"), "--license", "CC-BY-4.0")
    assert done.code == 0, done.err
    return home / "set"


@pytest.fixture(scope="module")
def parquet(home: Path) -> Path:
    pytest.importorskip("pyarrow", reason="needs pyarrow (extra data)")
    done = aui(home, "export", "--format", "parquet", "-o", str(home / "cards.parquet"))
    assert done.code == 0, done.err
    return home / "cards.parquet"


@pytest.mark.ci
def test_the_package_is_valid_and_says_what_its_columns_mean(package: Path) -> None:
    frictionless = pytest.importorskip("frictionless", reason="needs frictionless")
    report = frictionless.validate(str(package / "datapackage.json"))
    assert report.valid, report.flatten(["type", "note"])
    descriptor = json.loads((package / "datapackage.json").read_text())
    assert descriptor["licenses"] == [{"name": "CC-BY-4.0"}]
    assert descriptor["methods"] == ["v0.2"]
    found = {one["name"]: one for one in descriptor["resources"]}
    for name, table in tables().items():
        assert [field["name"] for field in found[name]["schema"]["fields"]] == list(table.columns)
        assert all(field["description"] for field in found[name]["schema"]["fields"])


def test_a_wrong_value_in_a_table_is_found_by_the_descriptor(package: Path, tmp_path: Path) -> None:
    frictionless = pytest.importorskip("frictionless", reason="needs frictionless")
    for file in package.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    text = (tmp_path / "cards.csv").read_text()
    (tmp_path / "cards.csv").write_text(text.replace(",ranked,", ",ranked,", 1).replace(",true,", ",perhaps,", 1))
    assert not frictionless.validate(str(tmp_path / "datapackage.json")).valid


def test_every_kept_scan_is_there_and_graded_again_gives_the_same_card(package: Path) -> None:
    scans = [json.loads(line) for line in (package / "scans.ndjson").read_bytes().splitlines()]
    assert sorted(one["card"]["host"] for one in scans) == ["blog.example", "evil.example", *["shop.example"] * 2]
    for one in scans:
        card = decode_card(json.dumps(one["card"]).encode())
        seen = decode_observations(json.dumps(one["observations"]).encode())
        base = card.url.partition("/site/")[0]
        labels = Labels(name=card.name, category=card.category, seed=card.seed, base_url=base)
        again = grade_card(seen, card.method, labels=labels)
        assert (again.score, again.pillars, again.matrix) == (card.score, card.pillars, card.matrix)
        assert again == card


def test_the_command_grades_the_scans_of_a_package_again(package: Path, tmp_path: Path) -> None:
    name = str(package / "scans.ndjson")
    cards = [json.loads(line)["card"] for line in (package / "scans.ndjson").read_bytes().splitlines()]
    for method in ("v0.1", "v0.2"):
        done = here(tmp_path, "regrade", name, "--method", method, "--json")
        assert done.code == 0, done.err
        again = [json.loads(line) for line in done.out.splitlines()]
        assert [(one["host"], one["method"]) for one in again] == [(card["host"], method) for card in cards]
        assert [one for one, card in zip(again, cards, strict=True) if card["method"] == method] == [
            card for card in cards if card["method"] == method
        ]


def test_the_tables_agree_with_each_other(package: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="needs duckdb")
    cards, checks, visited = (f"read_csv('{package / name}.csv')" for name in tables())
    ask = duckdb.sql
    assert ask(f"SELECT count(*), count(*) FILTER (latest) FROM {cards}").fetchall() == [(4, 3)]
    points = f"""
        SELECT count(*) FROM (
            SELECT host, scanned_at, sum(earned) AS earned, sum(possible) AS possible FROM {checks}
            WHERE measured GROUP BY ALL
        ) JOIN {cards} USING (host, scanned_at) WHERE abs(score - 100.0 * earned / possible) <= 0.5 OR stance = 'Walled'
    """
    assert ask(points).fetchall() == [(4,)]
    assert ask(f"SELECT token, requests, refused, verified FROM {visited}").fetchall() == [("Claude-User", 42, 2, 42)]
    assert ask(f"SELECT name FROM {cards} WHERE host = 'evil.example'").fetchall() == [("'=HYPERLINK(1)",)]


@pytest.mark.ci
def test_parquet_is_read_with_its_types(parquet: Path) -> None:
    from pyarrow.parquet import read_table

    table = read_table(parquet)
    assert table.column_names == list(tables()["cards"].columns)
    assert str(table.schema.field("scanned_at").type) == "timestamp[ms, tz=UTC]"
    assert table.schema.field("score").metadata[b"description"] == b"Score, 0 to 100"
    rows = {row["host"]: row for row in table.to_pylist()}
    assert set(rows) == {"shop.example", "blog.example", "evil.example"}
    assert rows["evil.example"]["name"] == "=HYPERLINK(1)"
    duckdb = pytest.importorskip("duckdb", reason="needs duckdb")
    found = duckdb.sql(f"SELECT count(*), min(typeof(latest)) FROM '{parquet}'").fetchall()
    assert found == [(3, "BOOLEAN")]


@pytest.mark.slow
def test_pandas_and_polars_read_the_same(parquet: Path, package: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    polars = pytest.importorskip("polars", reason="needs polars")
    assert sorted(pandas.read_parquet(parquet)["host"]) == sorted(polars.read_parquet(parquet)["host"])
    for name in tables():
        left, right = pandas.read_csv(package / f"{name}.csv"), polars.read_csv(package / f"{name}.csv")
        assert left.shape == right.shape
        assert list(left.columns) == right.columns


@pytest.mark.ci
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--format", "parquet"), "A Parquet file is not text: name it by --output FILE."),
        (
            ("--format", "parquet", "-o", "x", "--fields", "host"),
            "--fields cannot be used with --format parquet; leave --fields out.",
        ),
        (("--package", "set", "--json"), "--json cannot be used with --package; leave --json out."),
        (("--package", "{home}"), "is already there; name a new folder."),
        (("--license", "CC0-1.0"), "--license needs --package; add --package DIR."),
    ],
)
def test_what_does_not_go_together_is_one_sentence(home: Path, arguments: tuple[str, ...], words: str) -> None:
    done = aui(home, "export", *(word.format(home=home) for word in arguments))
    assert done.code == 2
    assert words in done.sentence


@pytest.mark.ci
def test_a_package_that_fails_leaves_nothing(home: Path, tmp_path: Path) -> None:
    tmp_path.joinpath("file").write_text("")
    done = aui(home, "export", "--package", str(tmp_path / "file" / "set"))
    assert (done.code, list(tmp_path.iterdir())) == (2, [tmp_path / "file"])
    assert "Cannot write" in done.sentence

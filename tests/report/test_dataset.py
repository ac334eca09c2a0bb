"""The data set, read by the programs of those who would use it."""

from __future__ import annotations

from pathlib import Path

import pytest

from aui_tui.checks.scoring import Labels, grade_card
from aui_tui.model.visits import Visits
from aui_tui.report.data import card_columns
from aui_tui.service.local import LocalService
from tests.cli.runner import here
from tests.index.clock import NOW
from tests.index.scans import scan
from tests.visits.records import verified, visits

HOUR = 3600.0


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with three hosts, one scanned twice and with visits, another named to mislead a spreadsheet."""
    folder = tmp_path_factory.mktemp("home")
    local = LocalService(folder / "data")
    card, seen = scan("shop.example", at=NOW - HOUR)
    local.store.put(card, seen)
    local.store.put(*scan("shop.example", llms=True))
    local.store.put(*scan("blog.example"))
    card, seen = scan("evil.example")
    named = Labels(name="=HYPERLINK(1)", category=card.category, base_url=card.url.partition("/site/")[0])
    local.store.put(grade_card(seen, labels=named), seen)
    record: Visits = visits(verified("Claude-User", 40, 2), host="shop.example")
    local.store.put_visits(record)
    local.store.close()
    return folder


@pytest.fixture(scope="module")
def parquet(home: Path) -> Path:
    pytest.importorskip("pyarrow", reason="needs pyarrow (extra data)")
    done = here(home, "export", "--format", "parquet", "-o", str(home / "cards.parquet"))
    assert done.code == 0, done.err
    return home / "cards.parquet"


@pytest.mark.ci
def test_parquet_is_read_with_its_types(parquet: Path) -> None:
    from pyarrow.parquet import read_table

    table = read_table(parquet)
    assert table.column_names == list(card_columns())
    assert str(table.schema.field("scanned_at").type) == "timestamp[ms, tz=UTC]"
    assert table.schema.field("score").metadata[b"description"] == b"Score, 0 to 100"
    rows = {row["host"]: row for row in table.to_pylist()}
    assert set(rows) == {"shop.example", "blog.example", "evil.example"}
    assert rows["evil.example"]["name"] == "=HYPERLINK(1)"
    duckdb = pytest.importorskip("duckdb", reason="needs duckdb")
    found = duckdb.sql(f"SELECT count(*), min(typeof(latest)) FROM '{parquet}'").fetchall()
    assert found == [(3, "BOOLEAN")]


@pytest.mark.slow
def test_pandas_and_polars_read_the_same(parquet: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    polars = pytest.importorskip("polars", reason="needs polars")
    assert sorted(pandas.read_parquet(parquet)["host"]) == sorted(polars.read_parquet(parquet)["host"])

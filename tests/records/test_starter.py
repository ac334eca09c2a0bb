"""The packaged starter list."""

from __future__ import annotations

from collections import Counter

from aui_tui.engine.target import parse
from aui_tui.records.starter import Known, Starter, starter
from aui_tui.records.vocabulary import CATEGORIES
from aui_tui.text import clean


def test_at_least_150_hosts_over_every_category() -> None:
    assert len(starter()) >= 150
    assert set(Counter(known.category for known in starter().values())) == set(CATEGORIES)
    assert min(Counter(known.category for known in starter().values()).values()) >= 10


def test_every_host_is_written_as_its_card_is_kept() -> None:
    for host, known in starter().items():
        assert parse(host).site == host
        assert known.seed
        assert known.name == clean(known.name).strip() != ""


def test_the_mapping_reads_the_list() -> None:
    listed = Starter()
    assert listed.get("github.com", Known()) == Known("GitHub", "Developer", True)
    assert listed.get("github.test", Known()) == Known()
    assert dict(listed) == dict(starter())
    assert len(listed) == len(starter())

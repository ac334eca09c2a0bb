"""Labels follow the registry and the tables; foreign and future words stay as they are."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from aui_tui.model import labels
from aui_tui.model.card import AgentAccess
from tests.cards import WALLED


def test_keys_are_shown_by_the_names_that_people_know() -> None:
    assert labels.name("amazon") == "Amazon"
    assert labels.name("matrix_key_3") == "Claude"
    assert labels.name("theirs") == "theirs"
    assert labels.pillar("v0.1", "access") == "Access"
    assert labels.pillar("v0.3", "works") == "Works"
    assert labels.points(replace(WALLED, pillars={"works": None}, task_runs=()), "works") == "not tried"
    assert labels.points(replace(WALLED, pillars={"access": 4.5}, pillar_max={"access": 10.0}), "access") == "4.5/10"


def test_an_answer_is_its_status() -> None:
    assert [labels.answer(one) for one in WALLED.agent_access.values()][1:3] == ["403 challenge", "no answer"]
    assert labels.answer(AgentAccess(200, False, "x")) == "200"


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("shop.example", "https://shop.example"),
        ("http://plain.example:8080", "http://plain.example:8080"),
        ("localhost:8000", ""),
        ("[::1]:8000", ""),
        ("192.0.2.1", "https://192.0.2.1"),
        ("javascript:alert(1)", ""),
        ("shop.example/path", ""),
        ("user@shop.example", ""),
        ("", ""),
    ],
)
def test_a_host_is_shown_with_its_origin(host: str, origin: str) -> None:
    assert labels.origin(host) == origin


def test_a_time_is_shown_to_the_minute_in_utc() -> None:
    assert labels.moment("2026-11-20T10:00:00.250Z") == "2026-11-20 10:00 UTC"


def test_a_result_from_this_minute_is_from_just_now_and_an_older_one_of_its_age() -> None:
    assert [labels.dated(passed) for passed in (0, 59, 60, 3 * 3600)] == [
        "from just now",
        "from just now",
        "of 1 min ago",
        "of 3 h ago",
    ]

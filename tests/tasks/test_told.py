"""What a reader is told of a run: one set of words, what to change and where, and nothing from a part of a run."""

from __future__ import annotations

import json

import msgspec

from aui_tui.model.signs import SIGNS
from aui_tui.model.tasks import (
    BLOCKED,
    DONE,
    INCONCLUSIVE,
    NEEDS_ACT,
    STOPPED,
    TaskReport,
    TaskResult,
    pillar_points,
    runs_of,
    sent_words,
)
from aui_tui.tasks.pointing import lack


def report(*results: TaskResult, writes: int = 0, withheld: int = 0, loading: int = 0) -> TaskReport:
    return TaskReport(ran_at="", origin="", results=results, writes=writes, withheld=withheld, loading=loading)


def test_what_a_mouse_alone_operates_lacks_a_name_or_a_role() -> None:
    for tag in ("<button class=p></button>", '<a class="p" href="/x">', '<i role="button">'):
        assert lack(tag) == "has no name"
    for tag in ("<div class=button>", "<a name=x>", '<span title="role">'):
        assert lack(tag) == "is not a control"


READ = TaskResult(task="read", outcome=DONE, note="Read.")
FOLLOW = TaskResult(task="follow", outcome=DONE, note="Followed.")
FORM = TaskResult(
    task="form", outcome=BLOCKED, note="No name.", reason="form-nameless", change="Name it.", url="https://a.example/f"
)


def test_a_blocked_task_says_what_to_change_and_where_in_the_record() -> None:
    read, form = json.loads(msgspec.json.encode(runs_of(report(READ, FORM))))
    assert (form["reason"], form["change"], form["address"]) == ("form-nameless", "Name it.", "https://a.example/f")
    assert not {"reason", "change", "address"} & set(read)


def test_one_set_of_words() -> None:
    half = msgspec.structs.replace(FORM, half=True)
    act = TaskResult(task="search", outcome=NEEDS_ACT, note="Sends.")
    unclear = TaskResult(task="offer", outcome=INCONCLUSIVE, note="Unclear.")
    told = [run.word for run in runs_of(report(READ, FORM, half, act, unclear))]
    assert told == ["done", "blocked", "partly", "needs --act", "inconclusive"]
    assert set(told) <= SIGNS.keys()


def test_a_run_that_was_stopped_fills_no_pillar() -> None:
    stopped = TaskResult(task="search", outcome=INCONCLUSIVE, note="Stopped.", reason=STOPPED)
    assert pillar_points(runs_of(report(READ, FOLLOW)), 50) == (25, 25)
    assert pillar_points(runs_of(report(READ, FOLLOW, stopped)), 50) is None


def test_what_was_sent_is_read_from_the_log() -> None:
    assert sent_words(report()) == "nothing was sent"
    assert sent_words(report(withheld=2)) == "nothing was sent, 2 requests held back"
    assert sent_words(report(writes=1)) == "1 request sent data"
    assert sent_words(report(loading=5)) == (
        "5 requests of the pages' own loading sent data; nothing of yours was sent"
    )

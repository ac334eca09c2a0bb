"""The query line as it is typed: what is searched for, what is wrong, what may come next."""

from __future__ import annotations

import pytest

from aui_tui.model.query_line import parse
from aui_tui.tui.typed import choices, read_line


@pytest.mark.parametrize(
    ("text", "good", "wrong", "open_end"),
    [
        ("shop stance:walled", "shop stance:walled", [], False),
        ("stance:wal", "", ["stance:wal"], True),
        ("category:retail stance:wal", "category:retail", ["stance:wal"], True),
        ("score:<40x", "", ["score:<40x"], False),
        ("grade:z agent:cluade shop", "shop", ["grade:z", "agent:cluade"], False),
        ("stanse:walled shop", "shop", ["stanse:walled"], False),
        ("shop OR", "shop", [], True),
        ("agent:claude=", "", ["agent:claude="], True),
    ],
)
def test_good_words_are_searched_and_wrong_ones_named(text: str, good: str, wrong: list[str], open_end: bool) -> None:
    found = read_line(text)
    assert found.good == good
    assert [text[start:end] for start, end in found.spans] == wrong
    assert bool(found.problem) is bool(wrong or open_end)
    assert found.open_end is open_end
    parse(found.good)


@pytest.mark.parametrize(
    "text",
    ["sta", "stance:", "grade:", "agent:cl", "agent:claude", "agent:any", "agent:claude=", "shop -has:", "fresh:"],
)
def test_every_choice_can_be_gone_on_with(text: str) -> None:
    found = choices(text)
    assert found
    for choice in found:
        assert choice.line.startswith(text[: len(text) - len(text.split()[-1])])
        if not choice.line.endswith((":", "=")):
            parse(choice.line)


def test_a_finished_line_offers_nothing_more() -> None:
    assert choices("stance:walled") == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("agent:cluade", "Unknown agent 'cluade'; did you mean claude? Allowed are: "),
        ("agent:claude=challanged", "did you mean challenged?"),
        ("stanse:walled", "did you mean stance:?"),
        ("grade:z", "There is no grade z."),
    ],
)
def test_the_nearest_word_is_named_first(text: str, words: str) -> None:
    assert words in read_line(text).problem

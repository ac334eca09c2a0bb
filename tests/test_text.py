from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aui_tui.text import JOINERS, cells, clean, fit, wrap

FORBIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=200)


@given(ANY_TEXT)
def test_nothing_forbidden_is_left_but_joiners_between_others(text: str) -> None:
    shown = clean(text)
    assert not {unicodedata.category(c) for c in shown if c not in JOINERS} & FORBIDDEN
    assert (shown[:1] or " ") not in JOINERS
    assert (shown[-1:] or " ") not in JOINERS


@given(ANY_TEXT, st.booleans())
def test_a_second_pass_changes_nothing(text: str, block: bool) -> None:
    once = clean(text, block=block)
    assert clean(once, block=block) == once


@given(ANY_TEXT, st.integers(0, 50))
def test_the_limit_holds(text: str, limit: int) -> None:
    assert len(clean(text, limit)) <= limit


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("Plain title", "Plain title"),
        ("a\tb\r\nc", "a b  c"),
        ("\x1b]52;c;AAAA\x07", "\ufffd]52;c;AAAA\ufffd"),
        ("\x9b2J", "\ufffd2J"),
        ("safe\u202eevil", "safe\ufffdevil"),
        ("zero\u200bwidth", "zero\ufffdwidth"),
        ("\ud800", "\ufffd"),
        ("e\u0301\u0302\u0303\u0304", "e\u0301\u0302"),
        ("soft\u00adhyphen", "softhyphen"),
        ("日本語 Grüße", "日本語 Grüße"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("API\u200cها", "API\u200cها"),
        ("\u0915\u094d\u200d\u0937", "\u0915\u094d\u200d\u0937"),
        ("\u09b0\u200d\u09cd\u09af", "\u09b0\u200d\u09cd\u09af"),
        ("👩\u200d💻", "👩\u200d💻"),
        ("❤\ufe0f\u200d🔥", "❤\ufe0f\u200d🔥"),
        ("🧑🏽\u200d🚀", "🧑🏽\u200d🚀"),
        ("a\u200d\u200db", "a\ufffd\ufffdb"),
        ("\u200cمی", "\ufffdمی"),
        ("می\u200c", "می\ufffd"),
        ("می \u200cخواهم", "می \ufffdخواهم"),
        ("1\u200c2", "1\ufffd2"),
        ("a\u0301\u0302\u200d\u0303", "a\u0301\u0302\ufffd"),
    ],
)
def test_what_could_harm_a_terminal_is_shown_as_a_mark(raw: str, shown: str) -> None:
    assert clean(raw) == shown


def test_a_cut_leaves_no_joiner_at_the_end() -> None:
    assert clean("می\u200cخواهم", 4) == "می…"


def test_a_block_keeps_its_lines() -> None:
    assert clean("a\r\nb\rc\n\x1bd", block=True) == "a\nb\nc\n\ufffdd"


def test_a_very_long_text_is_cut_before_it_is_read() -> None:
    assert clean("x" * 10_000_000, 200) == "x" * 199 + "…"


@given(ANY_TEXT, st.integers(0, 40), st.booleans())
def test_fit_gives_exactly_the_cells_asked_for(text: str, width: int, right: bool) -> None:
    assert cells(fit(clean(text), width, right=right)) == width


@given(ANY_TEXT.map(clean))
def test_wrapping_loses_no_word(text: str) -> None:
    lines = wrap(text, 20)
    assert all(cells(line) <= 20 for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())

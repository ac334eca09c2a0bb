"""Readers of untrusted input keep their promises whatever comes: see the function of each in ``targets``."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.targets import SUBJECTS


@pytest.mark.parametrize("name", SUBJECTS)
@given(drawn=st.data())
def test_no_input_breaks_a_promise(name: str, drawn: st.DataObject) -> None:
    subject = SUBJECTS[name]
    piece = st.one_of(st.sampled_from(subject.words or (b"",)), st.binary(max_size=8))
    seed = drawn.draw(st.sampled_from(subject.seeds))
    start, end = sorted(drawn.draw(st.tuples(*[st.integers(0, len(seed))] * 2)))
    changed = b"".join(drawn.draw(st.lists(piece, max_size=8)))
    subject.run(seed[:start] + changed + seed[end:])


@pytest.mark.parametrize("name", SUBJECTS)
def test_the_inputs_that_others_are_made_of_break_none(name: str) -> None:
    for seed in SUBJECTS[name].seeds:
        SUBJECTS[name].run(seed)

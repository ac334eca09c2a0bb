"""Byte for byte, each format writes what it wrote when somebody last looked at it."""

from __future__ import annotations

import pytest

from tests.report.documents import GOLDEN, documents

DOCUMENTS = documents()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_is_what_it_was(name: str) -> None:
    assert DOCUMENTS[name].encode() == (GOLDEN / name).read_bytes()


def test_no_golden_file_is_left_over() -> None:
    assert {entry.name for entry in GOLDEN.iterdir()} == set(DOCUMENTS)

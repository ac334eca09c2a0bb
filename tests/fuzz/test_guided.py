"""The guided fuzzer finds what is hidden behind several conditions, and nothing in the targets' first inputs."""

from __future__ import annotations

import random

import pytest

from aui_tui.scan import agent_files
from tests.fuzz.guided import Fuzzer
from tests.fuzz.targets import SUBJECTS


@pytest.mark.parametrize("name", SUBJECTS)
def test_a_short_run_breaks_nothing(name: str) -> None:
    subject = SUBJECTS[name]
    fuzzer = Fuzzer(subject.run, subject.seeds, subject.words, random.Random(7))
    assert fuzzer.run(runs=150) == []
    assert fuzzer.corpus
    assert len(fuzzer.seen) > 20


@pytest.mark.ci
def test_it_finds_a_planted_fault() -> None:
    def planted(data: bytes) -> None:
        if agent_files.check("llms", data, "text/plain", 200).found:
            raise ZeroDivisionError("found")

    fuzzer = Fuzzer(planted, (b"x",), (b"# ", b"word"), random.Random(1))
    findings = fuzzer.run(runs=5_000)
    assert [finding.error for finding in findings] == ["ZeroDivisionError: found"]
    with pytest.raises(ZeroDivisionError):
        planted(findings[0].data)

"""Findings that the owner accepts: by id and host, with a reason, until a day; shown as such, and in no gate."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.cli.runner import Result, here
from tests.cli.stored import SEEN, fill
from tests.index.clock import Clock

CARD = SEEN[0][0]
HOST = CARD.host
NIGHT = datetime(2028, 2, 29, 23, 59, 59, tzinfo=UTC)
TODAY = NIGHT.date()
FINDING = next(one for one in CARD.findings if one.severity == "critical")


def asked(home: Path, until: str, *arguments: str) -> Result:
    (home / "c.toml").write_text(
        f'[accept."{HOST}"]\n{FINDING.id} = {{ reason = "the vendor knows", until = {until} }}\n', encoding="utf-8"
    )
    return here(home, "site", HOST, "--config", "c.toml", *arguments)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock(NIGHT.timestamp())
    monkeypatch.setattr("time.time", clock)
    return clock


@pytest.fixture
def home(tmp_path: Path, clock: Clock) -> Path:
    fill(tmp_path, scans=SEEN)
    return tmp_path


def test_an_accepted_finding_is_shown_as_accepted_and_fails_no_gate(home: Path) -> None:
    others = [one for one in CARD.findings if one.severity == "critical" and one.id != FINDING.id]
    plain = here(home, "site", HOST, "--fail-on", "critical")
    assert plain.code == 1
    done = asked(home, str(TODAY), "--fail-on", "critical", "--details")
    assert FINDING.text not in done.err
    assert others or done.code != 1
    assert f"Accepted until {TODAY}: the vendor knows" in " ".join(done.out.split())
    for form in ("markdown", "html"):
        assert "the vendor knows" in asked(home, str(TODAY), "--format", form).out
    log = json.loads(asked(home, str(TODAY), "--format", "sarif").out)
    [suppressed] = [one for one in log["runs"][0]["results"] if "suppressions" in one]
    assert suppressed["ruleId"] == f"finding/{FINDING.id}"


def test_it_is_so_in_junit(home: Path) -> None:
    done = asked(home, str(TODAY), "--format", "junit")
    assert f"Accepted until {TODAY}: the vendor knows" in done.out
    assert f"critical: {FINDING.text[:20]}" not in done.out


def test_it_is_back_when_its_day_has_passed(home: Path, clock: Clock) -> None:
    assert "the vendor knows" in asked(home, str(TODAY), "--details").out
    clock.now += 1
    done = asked(home, str(TODAY), "--fail-on", "critical", "--details")
    assert done.code == 1
    assert "the vendor knows" not in done.out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f'[accept."{HOST}"]\nshut-outt = {{ reason = "x", until = 2030-01-01 }}', "unknown finding 'shut-outt'"),
        (f'[accept."{HOST}"]\n{FINDING.id} = {{ reason = "x" }}', "until"),
        (f'[accept."{HOST}"]\n{FINDING.id} = {{ reason = "", until = 2030-01-01 }}', "reason"),
        (f'[accept."{HOST}"]\n{FINDING.id} = {{ reason = "x", until = "soon" }}', "until"),
        ("accept = 3", "accept"),
    ],
)
def test_a_mistake_is_told_in_one_sentence(home: Path, text: str, said: str) -> None:
    (home / "c.toml").write_text(text, encoding="utf-8")
    done = here(home, "site", HOST, "--config", "c.toml")
    assert done.code == 2
    assert said in done.sentence

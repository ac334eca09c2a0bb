"""Log and probe beside each other: what they say together, and never more than that."""

from __future__ import annotations

import inspect
import json
from importlib.resources import files
from typing import Any

import jsonschema
import msgspec
import pytest

from aui_tui.errors import RecordError
from aui_tui.model.card import AgentAccess, Finding, Ledger, ReportCard
from aui_tui.model.visits import (
    Comparison,
    Visits,
    cells,
    compare,
    decode_visits,
    headline,
    visit_rows,
    with_log_evidence,
)
from tests.cards import WALLED
from tests.visits.records import verified, visitor, visits

CLAUDE = "Claude-User"


def probed(status: int = 403, *, challenged: bool = False, edge: str = "nginx") -> ReportCard:
    """A card whose probe of Claude got ``status``, the others the page."""
    access = dict.fromkeys(WALLED.agent_access, AgentAccess(200, False, "Home"))
    access[CLAUDE] = AgentAccess(status, challenged, "")
    return msgspec.structs.replace(WALLED, agent_access=access, edge=edge)


def claude(record: Visits, card: ReportCard) -> Comparison:
    return next(one for one in compare(record, card) if one.agent.token == CLAUDE)


@pytest.mark.parametrize(
    ("found", "kind", "card", "together", "gets_in"),
    [
        (verified(CLAUDE, 1202, 2), "unknown", probed(), "contradicted", True),
        (verified(CLAUDE, 1202, 2), "origin", probed(), "contradicted", True),
        (verified(CLAUDE, 1202, 2), "edge", probed(403, challenged=True), "contradicted", True),
        (verified(CLAUDE, 1202, 2), "edge", probed(200), "confirmed", True),
        (verified(CLAUDE, 2, 1202), "edge", probed(), "confirmed", False),
        (verified(CLAUDE, 2, 1202), "edge", probed(200), "contradicted", False),
        (verified(CLAUDE, 50, 50), "edge", probed(), "cannot tell", None),
        (verified(CLAUDE, 50, 0), "edge", probed(0), "cannot tell", True),
        (verified(CLAUDE, 0, 0), "edge", probed(), "no visits", None),
        (visitor(CLAUDE, 40, 0), "edge", probed(), "cannot tell", None),
        (visitor(CLAUDE, 40, 0), "edge", probed(200), "confirmed", True),
        (visitor(CLAUDE, 0, 40), "edge", probed(), "confirmed", None),
        (visitor(CLAUDE, 0, 40), "origin", probed(), "cannot tell", None),
        (visitor(CLAUDE, 40, 0, addresses="checked", outside=40), "edge", probed(200), "cannot tell", None),
        (visitor(CLAUDE, 0, 0), "edge", probed(), "no visits", None),
        (None, "edge", probed(), "no visits", None),
        (None, "origin", probed(), "cannot tell", None),
        (None, "unknown", probed(edge="cloudflare"), "cannot tell", None),
        (None, "origin", probed(200), "no visits", None),
    ],
)
def test_log_and_probe_together(found: Any, kind: str, card: ReportCard, together: str, gets_in: bool | None) -> None:
    said = claude(visits(*([found] if found else []), kind=kind), card)
    assert (said.together, said.gets_in) == (together, gets_in), said.sentence
    assert said.sentence.endswith(".")
    assert "spoof" not in said.sentence


def test_the_headline_gains_what_the_log_says_against_the_probe() -> None:
    against = headline(visits(visitor(CLAUDE, 9, 91)), probed(200))
    assert against == "Your log: 91 % of the requests in Claude's name were refused."
    assert headline(visits(verified(CLAUDE, 95, 5)), probed()) == (
        "Your log: 95 of 100 requests of the real Claude were served."
    )
    for agreed in (visitor(CLAUDE, 0, 40), verified(CLAUDE, 2, 98), visitor(CLAUDE, 20, 20)):
        assert headline(visits(agreed), probed()) == ""


def test_a_sentence_has_the_figures_of_its_row() -> None:
    found = visitor(CLAUDE, 508, 26, status={"2xx": 600, "3xx": 86, "4xx": 40}, requests=726)
    (row, *_) = [row for row in visit_rows(visits(found), probed(200)) if row.token == CLAUDE]
    assert f"726 requests under the name of Claude ({visits(found).period}): 94.5 % served" in row.sentence
    assert cells(row)[2] == "94.5 %"


def test_a_log_that_ends_long_before_the_scan_tells_nothing() -> None:
    old = msgspec.structs.replace(verified(CLAUDE, 1202, 2), last="2026-10-01T00:00:00.000Z")
    assert claude(visits(old), probed()).together == "cannot tell"


def test_rows_begin_with_disagreements_and_always_name_the_probed_agents() -> None:
    record = visits(
        visitor("GPTBot", 7925, 0), verified("ChatGPT-User", 3308, 2), verified(CLAUDE, 1202, 2), visitor("Devin", 3, 0)
    )
    rows = visit_rows(record, probed())
    assert [row.token for row in rows] == [
        CLAUDE,
        "ChatGPT-User",
        "Google-Agent",
        "Perplexity-User",
        "Devin",
        "GPTBot",
    ]
    first = rows[0]
    assert (first.probe, first.together, first.agrees) == ("refused", "really let in", False)
    assert cells(first)[1:5] == ("1,204", "99.8 %", "0.2 %", "100 %")
    assert (rows[1].probe, rows[1].together, rows[1].agrees) == ("in", "confirmed", True)
    assert cells(rows[2]) == ("Google agent", *("–",) * 7, "in", "no visits")
    assert (rows[5].probe, rows[5].together) == ("not asked", "crawler")


def test_rows_without_a_card_say_nothing_of_probes() -> None:
    rows = visit_rows(visits(verified(CLAUDE, 10, 0)))
    assert {row.probe for row in rows} == {"not asked"}
    assert [row.agrees for row in rows] == [None] * 4


def test_a_record_survives_json_and_is_cleaned() -> None:
    record = visits(verified(CLAUDE, 10, 0), notes=("a\x1b[2Jb",))
    kept = decode_visits(msgspec.json.encode(record))
    assert kept.visitors == record.visitors
    assert "\x1b" not in kept.notes[0]


@pytest.mark.parametrize("data", [b"", b"[]", b'{"version": 2}', b"\xff", b"[" * 100_000])
def test_a_broken_record_is_one_sentence(data: bytes) -> None:
    with pytest.raises(RecordError, match=r"^(Broken|The) visits record\b.*\.$"):
        decode_visits(data)


def test_the_schema_is_that_of_the_record() -> None:
    file = files("aui_tui.model").joinpath("schemas", "visits.schema.json").read_bytes()
    (reference,), components = msgspec.json.schema_components((Visits,), ref_template="#/$defs/{name}")
    for component in components.values():  # Python 3.13 is the first to take the indentation from docstrings
        component["description"] = inspect.cleandoc(component["description"])
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What the access logs of a site say of agents",
        **reference,
        "$defs": components,
    }
    assert file == msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"
    jsonschema.Draft202012Validator(json.loads(file)).validate(
        json.loads(msgspec.json.encode(visits(verified(CLAUDE, 9, 1))))
    )


def graded(card: ReportCard) -> ReportCard:
    """Return ``card`` as one that this program graded."""
    book = Ledger(method=card.method, entries=(), earned=0, possible=0, raw=0, score=0, capped=False, grade="F")
    return msgspec.structs.replace(card, ledger=book)


def test_the_card_says_that_the_agent_gets_in_and_how_that_is_known() -> None:
    """An edge that verifies addresses: the probe is refused, verified visits are served."""
    limit = Finding("probe-limit", severity="warn", text="A probe borrows an agent's name.")
    lines = (
        Finding("x", severity="critical", text="Claude is refused."),
        limit,
        Finding("y", severity="good", text="x"),
    )
    card = graded(probed()).with_findings(lines)
    said = with_log_evidence(card, visits(verified(CLAUDE, 1202, 2)))
    assert [line.t for line in said.evidence] == ["critical", "good", "good"]
    assert said.evidence[1].text.startswith("Access log: Claude came from the published ranges (2026-11-08 to")
    assert "1,202 of 1,204 verified visits were served, while the probe was turned away." in said.evidence[1].text
    assert "the real Claude gets in." in said.evidence[1].text
    assert (said.score, said.stance, said.matrix) == (card.score, card.stance, card.matrix)
    assert with_log_evidence(card, visits(visitor(CLAUDE, 40))) == card
    assert with_log_evidence(card, visits()) == card


def test_the_limit_stays_while_one_agent_is_unanswered() -> None:
    access = dict.fromkeys(WALLED.agent_access, AgentAccess(403, False, ""))
    limit = Finding("probe-limit", severity="warn", text="A probe borrows an agent's name.")
    card = graded(msgspec.structs.replace(WALLED, agent_access=access)).with_findings([limit])
    said = with_log_evidence(card, visits(verified(CLAUDE, 2, 1202)))
    assert [line.text[:10] for line in said.evidence] == ["Access log", "A probe bo"]
    assert "2026-11-08" in said.evidence[0].text

"""The cards that other tests use follow the published schemas and the arithmetic of their method."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given, settings
from jsonschema import Draft202012Validator

from aui_tui.model.card import ReportCard
from aui_tui.model.codec import encode_card
from aui_tui.model.methods import METHODS, grade_of
from tests.cards import DEAD, INDEX, RICH_OPEN, SAMPLES, WALLED, cards, encode_index


def validator(name: str) -> Draft202012Validator:
    schema: dict[str, Any] = json.loads(files("aui_tui.model").joinpath(f"schemas/{name}.schema.json").read_bytes())
    return Draft202012Validator(schema)


CARD, WHOLE = validator("card"), validator("index")


@pytest.mark.parametrize("card", [*SAMPLES, DEAD], ids=lambda card: card.host)
def test_fixed_cards_follow_the_schema(card: ReportCard) -> None:
    CARD.validate(json.loads(encode_card(card)))


def test_the_fixed_index_follows_the_schema() -> None:
    WHOLE.validate(json.loads(encode_index(INDEX)))


def test_the_fixed_cards_are_what_they_say() -> None:
    assert (RICH_OPEN.score, RICH_OPEN.grade, RICH_OPEN.stance) == (87, "B", "Open")
    assert (WALLED.score, WALLED.grade, WALLED.stance) == (42, "F", "Walled")
    assert DEAD.unreachable
    assert not WALLED.unreachable


@pytest.mark.ci
@settings(max_examples=20)
@given(cards())
def test_random_cards_follow_the_schema_and_add_up(card: ReportCard) -> None:
    CARD.validate(json.loads(encode_card(card)))
    earned = sum(points or 0 for points in card.pillars.values())
    scored = sum(pillar.maximum for pillar in METHODS[card.method].pillars if not pillar.by_tasks)
    assert earned + sum(item.pts for item in card.recommendations) == scored
    assert card.grade == grade_of(card.score)

"""The tables of keys: every key has a name and, in its place, one action."""

from __future__ import annotations

from aui_tui.tui.bindings import NEEDS, TABLES, bindings, needs


def test_every_binding_has_a_name_and_one_action_per_key_and_place() -> None:
    for place, table in TABLES.items():
        keys = [key for binding in table for key in binding.key.split(",")]
        digits = [key for key in keys if key.isdigit()]
        others = [key for key in keys if not key.isdigit()]
        assert all(binding.id for binding in table), place
        assert len(set(others)) == len(others), place
        assert place == "index" or len(set(digits)) == len(digits), place
    assert {
        need for place, table in TABLES.items() for key in table for need in needs(bindings(place), key.action)
    } == NEEDS.keys()
    allowed = {"ctrl+d", "ctrl+p", "ctrl+q", "ctrl+z"}
    used = {key for table in TABLES.values() for binding in table for key in binding.key.split(",")}
    assert {key for key in used if key.startswith("ctrl+")} <= allowed

"""Kind checks of agent-facing files."""

from __future__ import annotations

import json

import pytest

from aui_tui.engine import exchanges


def test_llms() -> None:
    assert exchanges.check_llms(b"\xef\xbb\xbf\n# Shop\n\n> Sells.\n", "text/plain", 200).found
    assert not exchanges.check_llms(b"<!DOCTYPE html><h1># Shop</h1>", "text/plain", 200).found
    assert not exchanges.check_llms(b"# Shop", "text/html; charset=utf-8", 200).found
    assert not exchanges.check_llms(b"## Shop\n# Later", "text/plain", 200).found
    assert not exchanges.check_llms(b"# Shop", "text/plain", 200, path_unchanged=False).found
    assert exchanges.check_llms(b"# Shop", "text/plain", 404) == exchanges.FileCheck(False)


def test_ai_plugin() -> None:
    good = {"schema_version": "v1", "name_for_model": "shop", "api": {}}
    assert exchanges.check_ai_plugin(json.dumps(good).encode(), "application/json", 200).found
    finding = exchanges.check_ai_plugin(b'{"schema_version":"v1"}', "application/json", 200)
    assert finding.note == "/.well-known/ai-plugin.json has no name_for_model and no api"
    for body in (b"", b"[]", b"<html>", b"{", b"[" * 100_000, b'{"a": NaN}'):
        finding = exchanges.check_ai_plugin(body, "application/json", 200)
        assert not finding.found
        assert finding.note


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ({"ucp": {"version": "2026-01-11", "services": {}}}, True),
        ({"ucp": {"version": "1.0", "services": {}}}, False),
        ({"ucp": {"version": "2026-01-11", "services": []}}, False),
        ({"ucp": []}, False),
        ({}, False),
    ],
)
def test_ucp(data: object, found: bool) -> None:
    assert exchanges.check_ucp(json.dumps(data).encode(), "application/json", 200).found is found


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ({"name": "x", "version": "1"}, True),
        ({"name": "x", "remotes": []}, True),
        ({"name": "x"}, False),
        ({"serverInfo": {}}, True),
        ({"servers": []}, True),
        ({"mcpServers": {}}, True),
        ({"version": "1"}, False),
    ],
)
def test_mcp(data: object, found: bool) -> None:
    assert exchanges.check_mcp(json.dumps(data).encode(), "application/json", 200).found is found

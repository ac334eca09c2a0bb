"""What the section says of facts, held against tools that people run, on forty pages: ``pytest -m open_readers``.

Needs the extra ``readers``. Each tool fetches each page from loopback, with its defaults.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import ModuleType
from typing import Any

import pytest

from aui_tui.model.reads import Fact
from aui_tui.reads.facts import find
from aui_tui.reads.reading import read, reading
from tests.cli.runner import ROOT
from tests.reads.pages import PAGES

TOOLS = {
    "trafilatura": ("trafilatura", "article", True),
    "smolagents": ("smolagents", "page", True),
    "haystack": ("haystack", "article", True),
    "markitdown": ("markitdown", "page", False),
    "newspaper": ("newspaper", "article", False),
    "langchain": ("langchain_community", "words", False),
}
"""The module of each tool, its kind of reading, and whether it uses that kind's own library."""


def tools() -> ModuleType:
    spec = importlib.util.spec_from_file_location("open_readers", ROOT / "findings" / "open_readers.py")
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def served() -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            body = PAGES.get(self.path.strip("/"), b"")
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def given(facts: tuple[Fact, ...], text: str) -> set[tuple[str, str]]:
    return {(fact.kind, fact.value) for fact in facts if find(fact.kind, fact.value, text) >= 0}


def test_there_are_forty_pages_and_each_has_its_own_text() -> None:
    assert len(PAGES) == len(set(PAGES.values())) == 40
    assert all(not read(body).problem for body in PAGES.values())
    alone = [fact for body in PAGES.values() for fact in read(body).facts if fact.alone]
    assert len(alone) > 20


@pytest.mark.open_readers
@pytest.mark.timeout(600)
@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_gives_and_loses_the_facts_that_the_section_says(tool: str) -> None:
    module, kind, same = TOOLS[tool]
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed: the extra “readers” has it")
    fetch = getattr(tools(), tool)
    facts = lost = 0
    with served() as base:
        for name, body in PAGES.items():
            try:
                text = fetch(f"{base}/{name}") or ""
            except Exception:  # a tool may give nothing of a page
                text = ""
            seen = read(body)
            made = reading(kind, body)
            got = given(seen.facts, text)
            claimed = {(fact.kind, fact.value) for fact in made.facts if fact.at >= 0}
            facts, lost = facts + len(seen.facts), lost + len(seen.facts) - len(got)
            if same:
                assert got == claimed, name
            everything = given(seen.facts, reading("words", body).text)
            labels = {(fact.kind, fact.value) for fact in seen.facts if {"alt", "aria-label"} & set(fact.where)}
            assert got <= everything | labels, name
            dropped = {(fact.kind, fact.value) for fact in seen.facts if fact.alone} - labels
            assert not got & dropped, name
    print(f"{tool}: {facts} facts on {len(PAGES)} pages, {facts - lost} given, {lost} lost")
    assert lost < facts

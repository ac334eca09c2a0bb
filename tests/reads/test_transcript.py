"""The transcripts in README and documentation are what the command prints."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from aui_tui.demo.web import small_web
from aui_tui.index import pages
from aui_tui.index.folder import places, prepare
from aui_tui.model.options import ScanOptions
from aui_tui.model.reads import KeptPage
from aui_tui.packaged import read_text
from tests.cli.runner import ROOT, aui, environment, here

FLAGS: Final = re.MULTILINE | re.DOTALL


@pytest.mark.ci
async def test_the_transcript_is_what_is_printed() -> None:
    block = re.search(r"(?:^    .*\n)+", read_text("docs/reads.md").partition("A shop of the demo")[2], re.MULTILINE)
    assert block is not None
    commands = re.split(r"^    \$ aui-tui ", block[0], flags=re.MULTILINE)[1:]
    assert len(commands) == 2
    with small_web(tasks=True, base_url="http://127.0.0.1", method="v0.2") as (service, _):
        await service.scan("http://quay.demo.test", ScanOptions(force=True))
        folder = service.places.index.parent
        await service.aclose()
        for shown in commands:
            line, *printed = [one.removeprefix("    ") for one in shown.rstrip("\n").split("\n")]
            done = aui(folder, *line.split(), "--data-dir", str(folder))
            assert [*done.err.splitlines(), *done.out.rstrip("\n").split("\n")] == printed


BOOKS = """<!doctype html><html lang=en><head><title>Harbour Books</title><script type="application/ld+json">
{"@type": "Product", "offers": {"price": "77.31", "availability": "https://schema.org/InStock"}}</script></head><body>
<nav><a href=/>Start</a> <a href=/books>Books</a></nav><main><h1>Harbour Books by the quay</h1>
<p>We sell second-hand books by the quay, and everybody who walks along the harbour is welcome to look through the
shelves for as long as the rain lasts.</p><p>The shop has stood here since 1987 and keeps about forty thousand volumes
of travel, history, poetry and the sea, most of them in good condition.</p>
<p>Maps cost € 29.50 each. Call +49 40 123456 or write to books@harbour.example; all of them are in stock today.</p>
<p>Whoever buys three pays € 19.99 for the last one, and may fetch them at the counter without any charge.</p>
</main></body></html>"""


@pytest.mark.ci
def test_the_lines_in_the_readme_are_what_is_printed(tmp_path: Path) -> None:
    block = re.search(
        r"^\$ aui-tui reads shop\.example --facts\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), FLAGS
    )
    assert block is not None
    folder = places(prepare(Path(environment(tmp_path)["AUI_TUI_HOME"]))).pages
    pages.keep(folder, "shop.example", [KeptPage("agent_01", "text/html; charset=utf-8", BOOKS.encode())])
    assert here(tmp_path, "reads", "shop.example", "--facts").out == block[1]

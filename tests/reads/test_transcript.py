"""The transcript in the documentation is what the command prints of the demo's shop."""

from __future__ import annotations

import re

import pytest

from aui_tui.demo.web import small_web
from aui_tui.model.options import ScanOptions
from aui_tui.packaged import read_text
from tests.cli.runner import aui


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

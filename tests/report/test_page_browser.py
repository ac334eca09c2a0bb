"""The HTML page in a real browser: no fault that axe-core finds, no request, no sideways scrolling of the page."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from msgspec.structs import replace

from aui_tui.model.card import Evidence
from aui_tui.model.report import HostReport
from aui_tui.report.export import write_cards, write_listing
from aui_tui.report.formats import HostResult
from aui_tui.report.gates import Gates, check
from tests.cards import DEAD, INDEX, RICH_OPEN, WALLED, listing_of
from tests.service.browser import BROWSER, MISSING, Browser, browser

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason=MISSING),
]

LONG = replace(
    RICH_OPEN, name="長い名前 " * 30, human_title="x" * 500, edge="word " * 60, evidence=(Evidence("warn", "y" * 2000),)
)
PAGES = {
    "cards": "".join(
        write_cards(
            "html",
            [
                RICH_OPEN,
                HostResult(
                    HostReport(card=WALLED), outcome=check(WALLED, Gates.of(fail_under=60, must_serve="gemini"))
                ),
                DEAD,
                LONG,
            ],
        )
    ),
    "index": "".join(write_listing("html", listing_of(INDEX, "Walled"))),
    "long index": "".join(
        write_listing(
            "html", listing_of(replace(INDEX, ranked=(replace(LONG.summary(), host="a-" * 100 + "b.example"),)))
        )
    ),
}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 360)])
@pytest.mark.parametrize("page", PAGES)
def test_a_page_fits_and_asks_for_nothing_in_either_scheme_at_any_width(
    chromium: Browser, tmp_path: Path, page: str, scheme: str, width: int
) -> None:
    chromium.appearance(scheme, width)
    path = tmp_path / "page.html"
    path.write_text(PAGES[page], encoding="utf-8")
    chromium.messages()
    chromium.open(path.as_uri())
    assert chromium.messages() == []
    assert chromium.run("return performance.getEntriesByType('resource').length") == 0
    assert chromium.run("return getComputedStyle(document.body).marginTop") == "0px"
    assert chromium.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    ground = chromium.run("return getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", ground))) < 3 * 128) == (scheme == "dark")
    named = os.environ.get("AXE_CORE")
    source = Path(named) if named else files("axe_core_python").joinpath("axe.min.js")
    chromium.run(source.read_text(encoding="utf-8"))
    faults = chromium.wait_for(
        "const done = arguments[0];"
        "axe.run(document, {resultTypes: ['violations']}).then(found => done(found.violations.map("
        "one => one.id + ': ' + one.nodes[0].html.slice(0, 160))), error => done(['' + error]));"
    )
    assert faults == []
    if "AUI_PICTURES" in os.environ:
        chromium.picture(Path(os.environ["AUI_PICTURES"]) / f"page-{page.replace(' ', '-')}-{scheme}-{width}.png")

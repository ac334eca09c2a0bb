"""The pages in a real browser: no accessibility fault that axe-core finds, in both colour schemes and widths."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import msgspec
import pytest

from aui_tui.model.card import Evidence
from tests.cards import DEAD, RICH_OPEN, WALLED
from tests.lighthouse import lighthouse
from tests.service.browser import BROWSER, MISSING, Browser, browser
from tests.service.serving import Running, serving
from tests.service.waiting import eventually
from tests.stored_service import StoredService, many

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason=MISSING),
]

LONG = msgspec.structs.replace(
    RICH_OPEN,
    host="a-very-long-host-name-that-goes-on-and-on." * 4 + "example",
    name="長い名前のサイト " * 12,
    evidence=(Evidence("critical", "word " * 120), Evidence("warn", "x" * 400)),
    score=50,
)
PAGES = {
    "index": "/",
    "filtered": "/?stance=Walled&q=h000&category=Retail",
    "second page": "/?page=2",
    "complaint": "/?q=score:nonsense",
    "open card": f"/site/{RICH_OPEN.host}",
    "walled card": f"/site/{WALLED.host}",
    "unreachable card": f"/site/{DEAD.host}",
    "long card": f"/site/{LONG.host}",
    "never scanned": "/site/unknown.example",
    "nothing here": "/nothing",
    "error types": "/problems",
    "topics": "/help",
    "topic with a table": "/help/programs",
    "topic with long code": "/help/ci",
}
LOOKS = [
    *((page, scheme, width) for page in PAGES for scheme, width in (("light", 1280), ("dark", 360))),
    *((page, scheme, width) for page in ("index", "walled card") for scheme, width in (("dark", 1280), ("light", 360))),
]


@pytest.fixture(scope="module")
def site() -> Iterator[Running]:
    with serving(StoredService((RICH_OPEN, WALLED, DEAD, LONG, *many(9)))) as running:
        yield running


@pytest.fixture(scope="module")
def long_site() -> Iterator[Running]:
    """A server whose index has a second, short page."""
    with serving(StoredService(many(109))) as running:
        yield running


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture(scope="module")
def axe() -> str:
    """The text of axe-core: of the test dependency, or a newer one that AXE_CORE names."""
    named = os.environ.get("AXE_CORE")
    source = Path(named) if named else files("axe_core_python").joinpath("axe.min.js")
    return source.read_text(encoding="utf-8")


def faults(chromium: Browser, axe: str) -> list[str]:
    """Return what axe-core finds on the open page."""
    chromium.run(axe)
    found = chromium.wait_for(
        "const done = arguments[0];"
        "axe.run(document, {resultTypes: ['violations']}).then(found => done(found.violations.map("
        "one => one.id + ': ' + one.nodes.slice(0, 3).map(node => node.html.slice(0, 160) + ' ' + node.failureSummary)"
        ".join(' | '))), error => done(['' + error]));"
    )
    assert isinstance(found, list)
    return found


def test_a_fault_would_be_found(site: Running, chromium: Browser, axe: str) -> None:
    chromium.appearance("light", 1280)
    chromium.open(site.base_url + "/problems")
    chromium.run(
        "document.querySelector('main p').innerHTML = '<img src=x><input><span style=\"color:#aaa\">pale</span>';"
    )
    assert {fault.partition(":")[0] for fault in faults(chromium, axe)} >= {"image-alt", "label"}


@pytest.mark.parametrize(("page", "scheme", "width"), LOOKS)
def test_page_has_no_accessibility_fault(
    site: Running, long_site: Running, chromium: Browser, axe: str, page: str, scheme: str, width: int
) -> None:
    chromium.appearance(scheme, width)
    chromium.open((long_site if page == "second page" else site).base_url + PAGES[page])
    chromium.run("for (const one of document.querySelectorAll('details')) one.open = true;")
    dark = chromium.run("return matchMedia('(prefers-color-scheme: dark)').matches")
    assert dark == (scheme == "dark")
    assert faults(chromium, axe) == []
    wide = chromium.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0
    if "AUI_PICTURES" in os.environ:
        folder = Path(os.environ["AUI_PICTURES"])
        chromium.run("for (const one of document.querySelectorAll('details')) one.open = false;")
        chromium.picture(folder / f"{page.replace(' ', '-')}-{scheme}-{width}.png")


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
@pytest.mark.parametrize("card", ["open card", "walled card", "unreachable card"])
def test_verdict_and_next_step_stand_in_the_first_screen(
    site: Running, chromium: Browser, card: str, width: int, height: int
) -> None:
    chromium.appearance("light", width, height)
    chromium.open(site.base_url + PAGES[card])
    bottom = chromium.run("return document.querySelector('.verdict').getBoundingClientRect().bottom")
    assert bottom <= height


def test_rows_are_stacked_on_a_phone(site: Running, chromium: Browser) -> None:
    for page in ("index", "open card", "walled card"):
        chromium.appearance("light", 390, 844)
        chromium.open(site.base_url + PAGES[page])
        wide = chromium.run(
            "return [...document.querySelectorAll('.scroll')]"
            ".filter(one => one.scrollWidth > one.clientWidth + 1).length"
        )
        assert wide == 0, page
        labels = "return getComputedStyle(document.querySelector('td[data-label]'), '::before').content"
        assert chromium.run(labels).strip('"').endswith(": ") == (page != "index"), page


@pytest.mark.parametrize(("rows", "least"), [(".overview", 6), ("[aria-labelledby=lost]", 1)])
def test_no_row_of_a_table_is_taller_than_two_lines_on_a_phone(
    site: Running, chromium: Browser, rows: str, least: int
) -> None:
    chromium.appearance("light", 390, 844)
    chromium.open(site.base_url + "/")
    found = f"[...document.querySelectorAll('{rows} tbody tr')]"
    heights = chromium.run(f"return {found}.map(row => row.getBoundingClientRect().height)")
    assert len(heights) >= least
    assert max(heights) < 60


@pytest.mark.skipif(shutil.which("npx") is None, reason="needs npx (Debian: apt-get install npm)")
@pytest.mark.parametrize("page", ["index", "walled card", "topic with a table"])
def test_lighthouse_finds_nothing_for_people_and_agents(site: Running, page: str, tmp_path: Path) -> None:
    found = lighthouse(
        site.base_url + PAGES[page],
        tmp_path,
        "--only-categories=accessibility,best-practices,seo,agentic-browsing",
    )
    faults = [one["id"] for one in found["audits"].values() if one["score"] is not None and one["score"] < 1]
    assert {name: one["score"] for name, one in found["categories"].items()} == dict.fromkeys(
        ("accessibility", "best-practices", "seo", "agentic-browsing"), 1
    ), faults


def test_pages_break_no_rule_of_their_own_policy(site: Running, chromium: Browser) -> None:
    chromium.messages()
    for page in ("index", "open card", "error types"):
        chromium.open(site.base_url + PAGES[page])
        assert chromium.run("return getComputedStyle(document.body).margin") == "0px"
        assert chromium.messages() == []


def test_the_filter_form_works_by_keyboard_and_without_scripts(site: Running, chromium: Browser) -> None:
    chromium.appearance("light", 1280)
    chromium.open(site.base_url + "/")
    chromium.run("document.getElementById('q').focus()")
    chromium.write("shop")
    eventually(lambda: "q=shop" in chromium.run("return location.href"))
    hosts = chromium.run("return [...document.querySelectorAll('tbody th a')].map(one => one.textContent)")
    assert hosts == [RICH_OPEN.host]
    assert chromium.run("return document.scripts.length") == 1
    assert chromium.run("return document.scripts[0].type") == "application/ld+json"

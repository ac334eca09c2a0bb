"""What is tried on a page is tried once for all tasks, and a page is opened again only where that changed it."""

from __future__ import annotations

import pytest

from aui_tui.tasks import run
from aui_tui.tasks.browser import Browser
from aui_tui.tasks.pointing import pointable
from aui_tui.tasks.proxy import Allowance
from aui_tui.tasks.run import run_tasks
from tests.tasks.pages import PROSE, Answer, Site, hosted, html
from tests.tasks.running import HOST, leading_to, opened, seen_at

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(120)]

SPOTS = "".join(f"<span style='cursor:pointer'>Lantern {kind}</span> " for kind in ("red", "green", "blue"))
START = html(f"<main><h1>Lanterns by the water</h1><p>{PROSE * 3}</p><p>{SPOTS}</p></main>", "Lanterns")
CHANGES = {
    "display": "said.style.display = 'none'",
    "visibility": "said.style.visibility = 'hidden'",
    "a text": "said.firstChild.data = 'Hello again'",
    "what a style sheet writes": "sheet.sheet.insertRule('h1::after { content: \"12 €\" }')",
    "a name": "pressed.setAttribute('aria-label', 'Order')",
    "a control that is enabled": "pressed.disabled = false",
    "a value": "field.value = 'typed'",
    "a shadow root": "host.shadowRoot.innerHTML = '<p>Inside, again</p>'",
    "the address": "history.pushState(0, '', '#there')",
}
"""What a page may show in another way, and a script that does so."""


@pytest.fixture(autouse=True)
def _in_one_tab(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the tasks one after the other: those that run at the same time open the homepage in a tab of their own."""
    monkeypatch.setattr(run, "CORES", 1)


async def loads(browser: Browser, pages: dict[str, Answer], path: str) -> int:
    """Run all tasks on a site, and return how often what is at ``path`` was asked for."""
    site = Site(pages)
    async with hosted(site) as port:
        limits = Allowance(host=60.0, task=30.0, settle=5.0)
        await run_tasks(seen_at(f"http://{HOST}"), browser, access=leading_to(port), allowance=limits)
    return site.log.count(("GET", path))


async def test_a_page_that_no_trial_changes_is_opened_once(browser: Browser) -> None:
    assert await loads(browser, {"/": START}, "/") == 1


async def test_a_homepage_behind_a_redirect_is_not_opened_again(browser: Browser) -> None:
    pages: dict[str, Answer] = {"/": (302, {"location": "/start"}, b""), "/start": START}
    assert await loads(browser, pages, "/start") == 1


async def test_a_glimpse_tells_what_an_outline_tells(browser: Browser) -> None:
    body = (
        "<main><h1>Rooms</h1><p id=said>Hello there</p><button id=pressed disabled>Book</button>"
        "<input id=field aria-label=Name><div id=host></div></main><style id=sheet></style>"
        "<script>host.attachShadow({mode: 'open'}).innerHTML = '<p>Inside</p>'</script>"
    )
    async with hosted(Site({"/": html(body)})) as port, opened(browser, port) as page:
        for change, script in CHANGES.items():
            before = await page.view(0)
            assert await page.view(0) is before, change
            await page.tab.evaluate(script)
            assert await page.view(0) is not before, change


async def test_a_file_of_data_is_no_page(browser: Browser) -> None:
    links = '<li><a href="/rooms.json?all=1">Rooms as data</a><li><a href="/pier">Pier flat</a>'
    home = html(f"<main><h1>Rooms by the water</h1><p>{PROSE * 3}</p><ul>{links}</ul></main>")
    data = 200, {"content-type": "application/json"}, b'["Pier flat"]'
    pier = html(f"<main><h1>Pier flat</h1><p>{PROSE * 3}</p></main>", "Pier flat")
    pages: dict[str, Answer] = {"/": home, "/pier": pier, "/rooms.json": data}
    assert await loads(browser, pages, "/rooms.json?all=1") == 0


async def test_a_press_that_draws_nothing_leaves_the_page_at_rest(browser: Browser) -> None:
    site = Site({"/": html("<main><h1>Rooms</h1><button>Nothing</button></main>")})
    async with hosted(site) as port, opened(browser, port) as page:
        assert await page.click(page.outline.of("button")[0])
        await page.look()
        assert page.ready


async def test_dots_that_move_for_ever_keep_no_page_from_its_rest(browser: Browser) -> None:
    dots = (
        "<p id=dots></p><script>const move = () => { dots.textContent += '.'; setTimeout(move, 500) }; move()</script>"
    )
    site = Site({"/": html(f"<main><h1>Rooms</h1><p>{PROSE * 3}</p>{dots}</main>")})
    async with hosted(site) as port, opened(browser, port) as page:
        await page.tab.reload()
        # the second of these timers is due then, and the page has changed in a text alone
        rest = "new Promise(done => setTimeout(() => done(window[Symbol.for('rest')]()), 800))"
        assert await page.tab.evaluate(rest) >= 0


async def test_a_finger_taps_what_does_not_hear_the_mouse(browser: Browser) -> None:
    body = "<main><h1>Rooms</h1><p><span id=s>Call</span> <b id=b></b></p></main>"
    heard = "<script>s.addEventListener('touchend', () => b.textContent = '020 7946 0958', { passive: true })</script>"
    async with hosted(Site({"/": html(body + heard)})) as port, opened(browser, port) as page:
        spots = await pointable(page, "offer", "(?!)")
        shown = await page.clicked([spot.tag.startswith("<span") for spot in spots].index(True))
        assert shown is not None
        assert "020 7946 0958" in shown.text()


async def test_tasks_side_by_side_press_the_controls_of_a_page_once(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "CORES", 2)
    pressed = "<script>document.querySelector('button').onclick = () => fetch('/pressed')</script>"
    home = html(f"<main><h1>Rooms</h1><p>{PROSE * 3}</p><button>More of it</button></main>{pressed}")
    site = Site({"/": home})
    async with hosted(site) as port:
        ran = await run_tasks(seen_at(f"http://{HOST}"), browser, access=leading_to(port))
    assert ran.report.withheld == 1
    assert not browser.contexts


async def test_a_mouse_is_pointed_at_what_listens_in_roots_and_frames(browser: Browser) -> None:
    roots = "".join(
        f"<div id={mode}-part></div><script>{{const root = document.getElementById('{mode}-part')"
        f".attachShadow({{mode: '{mode}'}}); root.innerHTML = '<div class=go>In {mode}</div>'; "
        "root.firstChild.onmousedown = () => 1}</script>"
        for mode in ("open", "closed")
    )
    frame = "<iframe srcdoc='<div id=go>In a frame</div><script>go.onmousedown=()=>1</script>'></iframe>"
    site = Site({"/": html(f"<main><h1>Rooms</h1>{roots}{frame}</main>")})
    async with hosted(site) as port, opened(browser, port) as page:
        await page.know_closed_roots()
        tags = [spot.tag for spot in await pointable(page, "offer", "(?!)")]
        for said in ("In open", "In closed", "In a frame"):
            assert any(said in tag for tag in tags), said
        assert await page.inspect("reacts", "In a frame")

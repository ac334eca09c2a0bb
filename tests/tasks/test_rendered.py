"""Rendered against sent: the evidence names exactly what only scripts bring, over nineteen ways to build a page."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import pytest

from aui_tui.checks.scoring import grade_card
from aui_tui.model.tasks import Rendered
from aui_tui.scan.declared import look
from aui_tui.scan.parser_process import ParserProcess
from aui_tui.scan.scan import observe
from aui_tui.tasks.browser import Browser
from aui_tui.tasks.run import run_tasks, weigh
from tests.scan.situations import open_rich
from tests.tasks.pages import PROSE, Page, Site, hosted, html
from tests.tasks.running import HOST, leading_to, others_slow, seen_at

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(300)]

TEXT = f"<p>{PROSE * 4}</p>"
ROOMS = "<h1>Rooms by the water</h1>" + TEXT
LIST = "<h2>Pier flat</h2><p>49.00 €</p><h2>Net loft</h2><p>$ 61</p>"
HEADS, PRICES = ("Pier flat", "Net loft"), ("49.00 €", "$ 61")


def later(target: str, markup: str, wait: int = 200) -> str:
    """A script that fills the element ``target``."""
    return f"<script>setTimeout(()=>{{{target}.innerHTML={json.dumps(markup)}}},{wait})</script>"


@dataclass(frozen=True)
class Case:
    """A page, and what of it only scripts bring."""

    body: str
    headings: tuple[str, ...] = ()
    prices: tuple[str, ...] = ()
    shell: bool = False
    extra: dict[str, Page] | None = None


CASES = {
    "server-rendered": Case(ROOMS + LIST),
    "hydrated alike": Case(f"<div id=app>{ROOMS + LIST}</div>" + later("app", ROOMS + LIST)),
    "hydrated with new whitespace": Case(
        f"<div id=app>{ROOMS}<p>49.00&nbsp;€</p></div>" + later("app", ROOMS + "<p>49.00 €</p>")
    ),
    "client-only": Case(
        "<div id=app></div>" + later("app", ROOMS + LIST), ("Rooms by the water", *HEADS), PRICES, shell=True
    ),
    "client-only from data": Case(
        "<div id=app></div><script>fetch('/data').then(r=>r.text()).then(t=>app.innerHTML=t)</script>",
        ("Rooms by the water", *HEADS),
        PRICES,
        shell=True,
        extra={"/data": (200, {"content-type": "text/plain; charset=utf-8"}, (ROOMS + LIST).encode())},
    ),
    "partly client-only list": Case(ROOMS + "<div id=app></div>" + later("app", LIST), HEADS, PRICES),
    "client-only prices": Case(
        ROOMS + "<h2>Pier flat</h2><p id=app></p><p id=loft></p>" + later("app", "49.00 €") + later("loft", "$ 61"),
        (),
        PRICES,
    ),
    "one price of two": Case(ROOMS + "<p>49.00 €</p><p id=app></p>" + later("app", "$ 61"), (), ("$ 61",)),
    "price split over elements": Case(
        ROOMS + "<p id=app></p>" + later("app", "<b>49.00</b> <i>€</i>"), (), ("49.00 €",)
    ),
    "a heading of its own role": Case(
        ROOMS + "<div id=app></div>" + later("app", "<div role=heading aria-level=2>Pier flat</div>"), ("Pier flat",)
    ),
    "data in a script is not text": Case(
        ROOMS + "<script>const rooms=[{name:'Pier flat',price:'49.00 €'}]</script><div id=app></div>"
        "<script>app.innerHTML=`<h2>${rooms[0].name}</h2><p>${rooms[0].price}</p>`</script>",
        ("Pier flat",),
        ("49.00 €",),
    ),
    "text in noscript is not for those with scripts": Case(
        ROOMS + "<noscript><h2>Pier flat</h2></noscript><div id=app></div>" + later("app", "<h2>Pier flat</h2>"),
        ("Pier flat",),
    ),
    "a template": Case(
        ROOMS + "<template id=t><h2>Pier flat</h2></template><div id=app></div>"
        "<script>app.append(t.content.cloneNode(true))</script>",
        ("Pier flat",),
    ),
    "a shadow root": Case(
        ROOMS + "<div id=app></div><script>app.attachShadow({mode:'open'}).innerHTML="
        "'<h2>Pier flat</h2><p>49.00 €</p>'</script>",
        ("Pier flat",),
        ("49.00 €",),
    ),
    "hidden until a script shows it": Case(
        ROOMS + "<section id=app hidden><h2>Pier flat</h2></section><script>app.hidden=false</script>", ("Pier flat",)
    ),
    "hidden by style, in the HTML all the same": Case(
        ROOMS + "<section id=app style='display:none'><h2>Pier flat</h2><p>49.00 €</p></section>"
        "<script>app.style.display='block'</script>"
    ),
    "a lazy list": Case(
        ROOMS + "<div id=app></div><script>new IntersectionObserver(e=>e[0].isIntersecting&&(app.innerHTML="
        f"{json.dumps(LIST)})).observe(app)</script>",
        HEADS,
        PRICES,
    ),
    "a consent wall": Case(
        "<div id=wall role=dialog aria-label=Cookies style='position:fixed;inset:0;background:white'>"
        "<p>We use cookies.</p>"
        "<button onclick='wall.remove();app.innerHTML=list'>Reject all</button></div>"
        f"{ROOMS}<div id=app></div><script>const list={json.dumps(LIST)}</script>",
        HEADS,
        PRICES,
    ),
    "capitals and line breaks": Case(
        f"<div id=app>{ROOMS}<h2>pier\n flat</h2></div>" + later("app", ROOMS + "<h2>Pier flat</h2>")
    ),
}
QUICK = ("server-rendered", "client-only", "client-only prices")


@pytest.mark.parametrize("name", others_slow(CASES, QUICK))
async def test_only_what_scripts_bring_is_named(browser: Browser, name: str) -> None:
    case = CASES[name]
    site = Site({"/": html(f"<main>{case.body}</main>"), **(case.extra or {})})
    async with hosted(site) as port:
        ran = await run_tasks(seen_at(f"http://{HOST}"), browser, access=leading_to(port), tasks=("read",))
    found = ran.rendered
    assert found is not None
    assert (found.headings, found.prices) == (case.headings, case.prices)
    assert (found.share == 0) == (not case.headings and not case.prices)
    card = grade_card(open_rich().with_tasks(ran.report, found))
    assert card.noscript_shell is case.shell
    said = next(line.text for line in card.evidence if "scripts" in line.text and "readable text" in line.text)
    for text in (*HEADS, *PRICES, "Rooms by the water"):
        assert (f"“{text}”" in said) == (text in (*case.headings, *case.prices))


async def test_the_share_counts_letters_of_words_that_were_not_sent() -> None:
    found = weigh({"text": "one two two", "headings": []}, {"text": "One two", "headings": []})
    assert found == Rendered(readable=11, sent=7, share=33, text="one two two")
    assert weigh({"text": "", "headings": []}, {"text": "", "headings": []}).share == 0


TOOLS = """<form toolname=find_rooms tooldescription="Find rooms" action=/rooms>
<input name=q aria-label=Words><button>Find</button></form><script src=/tools.js></script>"""
REGISTERS = """document.modelContext.registerTool({name: "book_room", description: "Book a room",
  inputSchema: {type: "object", properties: {}}, execute: async () => ({content: []})})"""


@pytest.mark.parametrize(
    ("body", "scheme_is_safe", "tools", "where", "detail"),
    [
        (TOOLS, True, ("book_room", "find_rooms"), "the homepage in a browser", "book_room, find_rooms"),
        (ROOMS, True, (), "", ""),
        (TOOLS, False, None, "the homepage", "find_rooms"),
        ("<script>document.modelContext.registerTool</script>" + ROOMS, True, (), "", ""),
        (
            "<script>if (0) document.modelContext.registerTool({})</script>" + ROOMS,
            True,
            (),
            "the homepage",
            "registered by a script; a browser saw none",
        ),
    ],
    ids=["by a form and by a file", "none", "plain HTTP", "only named", "never called"],
)
async def test_tools_are_those_that_a_page_has_registered_in_the_browser(
    browser: Browser,
    parser: ParserProcess,
    body: str,
    scheme_is_safe: bool,
    tools: tuple[str, ...] | None,
    where: str,
    detail: str,
) -> None:
    script = (200, {"content-type": "text/javascript"}, REGISTERS.encode())
    site = Site({"/": html(f"<main>{body}</main>"), "/tools.js": script})
    async with hosted(site) as port:
        origin = f"http://127.0.0.1:{port}" if scheme_is_safe else f"http://{HOST}"
        access = replace(leading_to(port), allow_private=True)
        ran = await run_tasks(seen_at(origin), browser, access=access, tasks=("read",))
        assert ran.rendered is not None
        assert sorted(ran.rendered.tools or ()) == sorted(tools or ())
        assert (ran.rendered.tools is None) == (tools is None)
        seen = await observe(access.target(origin), parser=parser, access=access)
        seen = seen.with_tasks(ran.report, ran.rendered)
        declared = await look(seen, access=access)
    entry = next(entry for entry in declared.entries if entry.key == "webmcp")
    assert (entry.where, entry.detail) == (where, detail)

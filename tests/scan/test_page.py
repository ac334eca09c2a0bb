"""Page facts, and when a 200 is another page than the browser's."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from aui_tui.model.observations import READABLE_ENOUGH, Exchange
from aui_tui.model.verdicts import BLOCKED
from aui_tui.scan import page, page_text
from aui_tui.scan.comparison import NOTHING, Page, PageComparison, compare
from aui_tui.scan.exchanges import exchange
from aui_tui.scan.page_text import PageText
from aui_tui.scan.parser_process import ParserProcess
from aui_tui.scan.policy import Limits
from aui_tui.scan.probes import Answer, Url
from aui_tui.scan.target import Origin


@pytest.mark.parametrize(
    ("html", "main", "nav"),
    [
        ("<main>x</main><nav>y</nav>", 1, 1),
        ("<div role=main>x</div><div role='foo NAVIGATION'>y</div>", 1, 1),
        ("<main hidden>x</main><main>y</main>", 1, 0),
        ("<div aria-hidden=true><nav>x</nav></div>", 0, 0),
        ("<nav role=presentation>x</nav>", 0, 0),
        ("<nav role=none aria-label=x>x</nav><main role=none tabindex=-1>y</main>", 1, 1),
        ("<div style='display: none'><nav>x</nav></div>", 0, 0),
        ("<div hidden=until-found><nav>x</nav></div><div inert><nav>y</nav></div>", 0, 0),
        ("<main hidden=until-found>x<nav>y</nav></main>", 1, 0),
        ("<main style='display:none;display:bogus'>x</main><nav hidden style='display:bogus'>y</nav>", 0, 0),
        ("<main style='visibility:hidden;visibility:bogus'>x</main><nav style='display:none!bogus'>y</nav>", 0, 1),
        ("<main style='display:none;display:'>x</main><nav style='display:none;display:none flow'>y</nav>", 0, 0),
        (
            "<main style='display:none;display:block flow'>x</main><nav style='display:none;display:var(--x)'>y</nav>",
            1,
            1,
        ),
        ("<nav role=nonsense>x</nav>", 0, 1),
        ("<template><main>x</main></template><!-- <nav></nav> -->", 0, 0),
        ("<nav style='visibility:hidden'>x</nav><main style='visibility: collapse'>y</main>", 0, 0),
        ("<div style='visibility:hidden'><nav style='visibility:visible'>x</nav><main>y</main></div>", 0, 1),
        ("<div style='display:none'><nav style='visibility:visible;display:block'>x</nav></div>", 0, 0),
        ("<dialog><main>x</main></dialog><dialog open><nav>y</nav></dialog>", 0, 1),
        ("<dialog style='display:block'><main>x</main></dialog><div popover><nav>y</nav></div>", 1, 0),
        ("<main hidden style='display:flex'>x</main>", 1, 0),
        ("<main style='--x:display:none'>x</main><nav style='content:\"display:none\"'>y</nav>", 1, 1),
        ("<main style='background:url(a;display:none)'>x</main><nav style='/*display:none*/'>y</nav>", 1, 1),
        ("<main style='display:none;display:block'>x</main><nav style='display:none!important'>y", 1, 0),
        ("<main style='display:none!important;display:block'>x</main><nav>y", 0, 1),
        ("<details><summary>m</summary><nav>x</nav></details><details open><main>y</main></details>", 1, 0),
        ("<details><summary><nav>x</nav></summary><main>y</main></details>", 0, 1),
        ("<details open><summary>m</summary><details><p><main>x</main></details></details><nav>y</nav>", 0, 1),
        ("<main style='display : NONE'>x</main><nav style='display:none nonsense'>y</nav>", 0, 1),
    ],
)
def test_landmarks_are_counted_where_they_are_shown(html: str, main: int, nav: int) -> None:
    semantic = page.read(html.encode()).facts.semantic
    assert (semantic.main, semantic.nav) == (main, nav)


@pytest.mark.parametrize(
    ("html", "forms", "unlabelled"),
    [
        ("<form><label for=q>Q</label><input id=q></form>", 1, 0),
        ("<form><input id=q></form><label for=q>Q</label>", 1, 0),
        ("<form><label>N <input></label><input aria-label=u><input title=t><input type=submit></form>", 1, 0),
        ("<form><input placeholder=x></form><form><input type=hidden></form>", 2, 0),
        ("<form><input placeholder=' '></form><form><input title=''></form>", 2, 2),
        ("<form><label for=q> </label><input id=q></form>", 1, 1),
        ("<form><label for=q><img alt=Query></label><input id=q></form>", 1, 0),
        ("<form><label><select><option>One</select></label></form>", 1, 1),
        ("<form><input aria-labelledby='gone also'></form>", 1, 1),
        ("<form><input aria-labelledby='gone n'></form><b id=n>Name</b>", 1, 0),
        ("<form><input aria-labelledby=n></form><b id=n><i></i></b>", 1, 1),
        ("<form><label for=q><i hidden>Q</i></label><input id=q></form>", 1, 1),
        ("<form><label for=q><i aria-hidden=true>Q</i></label><input id=q></form>", 1, 1),
        ("<form><label for=q><i style='display:none'>Q</i> or A</label><input id=q></form>", 1, 0),
        ("<form><label><b hidden>N</b><input></label></form>", 1, 1),
        ("<form><input aria-labelledby=n></form><b id=n hidden><i hidden>Name</i></b>", 1, 0),
        ("<form><input aria-labelledby=n></form><p hidden><b id=n>Name</b></p>", 1, 0),
        ("<form><input aria-labelledby=n></form><b id=n><i hidden>Name</i></b>", 1, 1),
        ("<form id=f></form><input form=f>", 1, 1),
        ("<form><div hidden><input></div></form>", 1, 0),
        ("<input>", 0, 0),
        ("<form><noscript><input></noscript><input title=q></form><noscript><form><input></form></noscript>", 2, 0),
    ],
)
def test_forms_are_counted_and_those_with_an_unlabelled_control(html: str, forms: int, unlabelled: int) -> None:
    facts = page.read(html.encode()).facts
    assert (facts.semantic.forms, facts.forms_unlabelled) == (forms, unlabelled)


EMPTY_ELEMENTS = b"""<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head>
<title>T</title><meta charset="utf-8"/><script src="a.js?x=1>2" async="async"/>
<script type="application/ld+json">{"@type": "Shop", "html": "<b/>"}</script></head>
<body><div hidden="hidden"/><main><br/><p>Text</p><textarea aria-label="a"/><nav/></main></body></html>"""


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        ("application/xhtml+xml; charset=utf-8", (1, 0, 1, 1, 1)),
        ("text/xml", (1, 0, 1, 1, 1)),
        ("text/html", (0, 0, 0, 0, 1)),
    ],
)
def test_an_element_that_closes_itself_is_empty_in_xhtml_alone(kind: str, found: tuple[int, ...]) -> None:
    facts = page.read(EMPTY_ELEMENTS, kind).facts
    landmarks = facts.semantic
    assert (facts.jsonld, facts.jsonld_broken, landmarks.main, landmarks.nav, landmarks.aria) == found


def test_json_ld_blocks_are_counted_and_those_that_are_broken() -> None:
    block = b"<script type=application/ld+json>%s</script>"
    odd = b"<script type=' Application/LD+JSON ; charset=utf-8'>{}</script>"
    hidden = b"<!-- " + block % b"{}" + b" --><template>" + block % b"{}" + b"</template>"
    facts = page.read(odd + block % b"{nope" + block % (b"[" * 100_000) + hidden).facts
    assert (facts.jsonld, facts.jsonld_broken) == (3, 2)


PAGES = Path(__file__).parents[1] / "data" / "pages"
"""Short pages as generators and servers write them: ``whole`` ones, and the empty mounts of ``shell``s."""
VITE = {
    "preact": ("Vite + Preact", "app", "main.jsx"),
    "qwik": ("Vite + Qwik", "app", "main.jsx"),
    "react": ("Vite + React", "root", "main.jsx"),
    "solid": ("Vite + Solid", "root", "index.jsx"),
    "svelte": ("Vite + Svelte", "app", "main.js"),
    "vue": ("Vite + Vue", "app", "main.js"),
}
"""Title, mount and script of Vite's other templates, which else write what ``shell/vite.html`` holds."""


def short_pages() -> dict[str, str]:
    """Return the pages by folder and name."""
    found = {f"{path.parent.name}/{path.stem}": path.read_text("utf-8") for path in sorted(PAGES.glob("*/*.html"))}
    for name, (title, mount, script) in VITE.items():
        written = found["shell/vite"].replace("Vite + JS", title).replace('id="app"', f'id="{mount}"')
        found[f"shell/vite-{name}"] = written.replace("main.js", script)
    return found


SHORT = short_pages()


@pytest.mark.parametrize("name", SHORT)
def test_a_short_page_with_something_to_read_or_act_on_is_not_a_shell(name: str) -> None:
    facts = page.read(SHORT[name].encode()).facts
    assert facts.scripts > 0
    assert facts.readable < READABLE_ENOUGH
    assert facts.noscript_shell is name.startswith("shell/")


@pytest.mark.parametrize(
    ("html", "shell"),
    [
        ("<h2>Shop</h2>", False),
        ("<h2><i>Sh</i>op</h2>", False),
        ("<h2> <img src=a alt=''></h2>", True),
        ("<div role=heading>Shop</div>", False),
        ("<h1 hidden>Shop</h1><div style='display:none'><h1>Shop</h1></div>", True),
        ("<noscript><h1>Scripts</h1><form><input></form></noscript><template><h1>x</h1></template>", True),
        ("<input type=hidden>", True),
        ("<input>", False),
        ("<button></button>", False),
        ("<select></select>", False),
        ("<img src=a alt=Logo>", True),
        ("<img src=a alt=Logo><img src=b alt=Shop>", False),
        ("<h1>Loading...</h1>", True),
        ("<h1>Please wait</h1>", True),
        ("<img src=a><img src=b alt=' '>", True),
        ("<a href=/a>A</a>", True),
        ("<a href=/a>A</a><a href=/b></a><a name=c>C</a>", True),
        ("<a href=/a><b>A</b></a><p><a href=/b>B</a>", False),
        ("<a href=/a>A<b>B</b></a>", True),
    ],
)
def test_what_makes_a_short_page_more_than_a_shell(html: str, shell: bool) -> None:
    assert page.read(f"<script src=a.js></script><div>{html}</div>".encode()).facts.noscript_shell is shell


def test_a_page_with_text_that_a_style_hides_for_now_is_no_shell() -> None:
    hidden = b"<h1>Pin</h1>" + b"<p>A word about it. " * 20
    assert not page.read(
        b"<script src=a.js></script><div style='visibility:hidden'>%s</div>" % hidden
    ).facts.noscript_shell
    assert page.read(
        b"<script src=a.js></script><div style='visibility:hidden'><h1>Pin</h1></div>"
    ).facts.noscript_shell


def test_a_page_that_needs_scripts_to_say_anything_is_a_shell() -> None:
    shell = page.read(
        b"<title>App</title><div id=root></div><noscript>"
        + b"Please run it. " * 10
        + b"</noscript><script src=a.js></script>"
    ).facts
    assert shell.noscript_shell
    instead = page.read(
        b"<div id=root></div><noscript><nav aria-label=x>x</nav>"
        + b"Read this. " * 50
        + b"</noscript><script src=a.js></script>"
    ).facts
    seen = instead.semantic
    assert (instead.noscript_shell, instead.readable, seen.nav, seen.aria) == (False, 551, 0, 1)
    assert not page.read(b"<p>" + b"Read me. " * 40 + b"<script src=a.js></script>").facts.noscript_shell
    assert not page.read(b"<p>short").facts.noscript_shell


@pytest.mark.parametrize(
    "body",
    [
        b"<div>" * 2_000,
        b"<a " + b" ".join(b"a%d" % i for i in range(501)) + b">",
    ],
)
def test_pathological_bodies_are_not_parsed(body: bytes) -> None:
    facts = page.read(b"<title>T</title><main>" + body).facts
    assert facts.problem
    assert facts.title == "T"
    assert facts.semantic.main == 0


def test_a_long_attribute_value_costs_no_facts() -> None:
    image = b"<img alt='' src='data:image/png;base64," + b"iVBORw0KGgo/+A==" * 5_000 + b"'>"
    facts = page.read(b"<title>T</title><main><h1>Shop</h1>" + image + b"<nav>x</nav><script src=a></script>").facts
    assert (facts.problem, facts.title, facts.semantic.main, facts.semantic.nav) == ("", "T", 1, 1)
    assert not facts.noscript_shell


@pytest.mark.parametrize(
    "label", ["zlib_codec", "hex", "idna", "undefined", "rot13", "nonsense", "", "utf-7", "punycode"]
)
def test_only_web_charsets(label: str) -> None:
    body = "<title>Ä ü</title>".encode() + b"\xff"
    assert page.read(body, f"text/html; charset={label}").facts.title == "Ä ü"
    assert page.unread(body, f"text/html; charset={label}", "").facts.title == "Ä ü"


def test_a_page_is_decoded_as_its_header_mark_or_meta_says() -> None:
    assert page.read("<title>né</title>".encode("latin-1"), "text/html; charset=ISO-8859-1").facts.title == "né"
    assert page.read("<meta charset=koi8-r><title>мир</title>".encode("koi8-r")).facts.title == "мир"
    assert page.read("\ufeff<title>é</title>".encode("utf-16"), "text/html; charset=ascii").facts.title == "é"
    assert page.read("<title>é</title>".encode("utf-16le"), "text/html; charset=utf-16le").facts.title == "é"
    assert page.read("\ufeff<title>é</title>".encode(), "text/html").facts.title == "é"
    assert (
        page.read(b"<title>Caf\xe9</title>", "text/html; charset=utf-8").facts.title == "Caf\N{REPLACEMENT CHARACTER}"
    )


@pytest.mark.parametrize(
    ("mount", "count", "shell"),
    [("app", 199, True), ("app", 200, False), ("page", 0, True), ("page", 19, True), ("page", 20, False)],
)
def test_a_shell_has_under_200_readable_characters_and_under_20_without_the_root_of_an_app(
    mount: str, count: int, shell: bool
) -> None:
    start = f"<title>not counted</title><script src=a.js></script><div id={mount}></div><p>"
    facts = page.read(start.encode() + b"x" * count).facts
    assert (facts.readable, facts.noscript_shell) == (count, shell)


def test_declarative_shadow_dom_is_text() -> None:
    inside = b"<template shadowrootmode='open'><main><h1>Shop</h1>" + b"Read me. " * 40 + b"</main></template>"
    facts = page.read(b"<my-page>" + inside + b"</my-page><script src=a.js></script>").facts
    assert (facts.noscript_shell, facts.semantic.main, facts.readable > 200) == (False, 1, True)
    assert page.read(inside.replace(b" shadowrootmode='open'", b"") + b"<p>x<script></script>").facts.readable == 1


@pytest.mark.parametrize(
    ("body", "kind", "problem"),
    [
        (b"", "text/html", "it is empty"),
        (b'{"a": 1}', "application/json", "it is application/json, not a page"),
        (b"hello", "text/plain; charset=utf-8", "it is text/plain, not a page"),
        (b"hello", "", "it is plain text, not a page"),
        (b"<frameset><frame src=a></frameset>", "text/html", "it is made of frames"),
        (b"<html><body><iframe src=a></iframe></body></html>", "text/html", "it has nothing to read"),
    ],
)
def test_what_is_not_a_page_is_not_measured(body: bytes, kind: str, problem: str) -> None:
    assert page.read(body, kind).facts.problem == problem


def test_data_blocks_are_no_scripts() -> None:
    assert not page.read(
        b"<script type=application/ld+json>{}</script><script type=application/json>{}</script>"
    ).facts.scripts
    assert page.read(b"<script type=module>1</script><script type='4b-text/javascript'>1</script>").facts.scripts == 2


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (b"<title>Shop</title>", "Shop"),
        (b"<title>Caf\xe9</title>", "Café"),
        (b"<title>Caf&eacute;</title>", "Café"),
        (b"<title>\x1b$B0l\x1b(B</title>", "一"),
        (b"<title></title><svg><title>x</title></svg>", ""),
        (b"<!-- <title>no</title> --><title>yes</title>", "yes"),
    ],
)
def test_a_title_at_the_start_is_that_of_the_whole_page(start: bytes, expected: str) -> None:
    label = b"iso-2022-jp" if b"\x1b" in start else b"windows-1252"
    body = start + b"<p>" + b"words " * 2000 + b"<meta charset=" + label + b">"
    assert page.unread(body, "", "").facts.title == expected


BAKERY = """
fresh bread every morning rolls cakes coffee shop opens seven market street order online delivery wedding birthday
sourdough rye spelt butter croissant family bakers since team jobs contact map parking
"""
WORDS = BAKERY.split()


def prose(seed: int, count: int = 300, words: list[str] = WORDS) -> str:
    return " ".join(random.Random(seed).choices(words, k=count))


def html(text: str, title: str = "Bakery") -> bytes:
    return f"<html><title>{title}</title><script>var x</script><main><h1>{title}</h1><p>{text}</p></main>".encode()


HOME = html(prose(1))
SHELL = b"<title>App</title><div id=root></div><script src=/a.js></script>"
FRAGMENT = prose(1, 20)


def seen(body: bytes, kind: str = "text/html") -> PageText:
    return page.read(body, kind).text


async def is_another(body: bytes, home: bytes, kind: str = "text/html") -> bool:
    """Return whether an agent's page is marked as another one than the browser's."""
    async with ParserProcess() as parser:
        comparison = PageComparison(parser)
        got = [answered("browser", home), answered("agent_01", body, kind)]
        for one in got:
            await comparison.take(*one)
        return comparison.mark(got[1][0]).another_page


def answered(name: str, body: bytes, kind: str = "text/html") -> tuple[Exchange, Answer]:
    url = Url(Origin("https", "shop.com", 443), "/")
    answer = Answer(name, url, status=200, headers=[("content-type", kind)], body=body)
    return exchange(answer, Limits()), answer


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", "text/html"),
        (b"", ""),
        (b"   \n", "text/plain"),
        (b"<html><body></body></html>", "text/html"),
        (b"<meta http-equiv=refresh content='0;url=/blocked'>", "text/html"),
        (SHELL, "text/html"),
        (b"<h1>Access denied</h1><p>Your request looks automated.", "text/html"),
        (b"Go away, robot.", "text/plain"),
        (b'{"error":"blocked by our policy"}', "application/json"),
        ("<p>Доступ к сайту закрыт для роботов</p>".encode(), "text/html; charset=utf-8"),
        ("<p>このページは表示できません</p>".encode(), "text/html; charset=utf-8"),
        (b"<title>Log in</title><form>Fresh bread for members<input type=password></form>", "text/html"),
    ],
)
async def test_nothing_to_read_or_far_less_and_other_text_is_another_page(body: bytes, kind: str) -> None:
    assert await is_another(body, HOME, kind)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (HOME, "text/html"),
        (html(prose(2)), "text/html"),
        (html(prose(1) + " Welcome back, friend of the house"), "text/html"),
        (html(FRAGMENT), "text/html"),
        (b"# Bakery\n\n" + FRAGMENT.encode() + b"\n\n- [order online](/order)\n", "text/markdown"),
        (
            html(
                " ".join(
                    ["täglich", "frisches", "Brot", "Brötchen", "Kuchen", "und", "Kaffee", "in", "der", "Marktstraße"]
                    * 25
                )
            ),
            "text/html",
        ),
        (f"# Bakery\n\n{FRAGMENT}\n\n".encode() + b"- [x](https://qqq.example/rrr/sss?ttt)\n" * 9, "text/markdown"),
    ],
)
async def test_a_version_of_the_page_is_not_another_one(body: bytes, kind: str) -> None:
    assert not await is_another(body, HOME, kind)


async def test_a_shell_beside_a_shell_is_not_another_page_and_an_empty_answer_is() -> None:
    assert not await is_another(SHELL, SHELL.replace(b"></div>", b">Loading</div>"))
    assert await is_another(b"", SHELL)
    assert not await is_another(b"", b" ")


async def test_text_without_spaces_is_compared_by_pairs_of_characters() -> None:
    japanese = "毎朝焼きたてのパンをお届けします。注文はオンラインで。" * 8
    light = "毎朝焼きたてのパンをお届けします。"
    assert not await is_another(html(light), html(japanese * 3))
    assert page_text.share(seen(html("全く別の文章です", "別")), seen(html(japanese))) < page_text.HALF


def test_a_site_that_differs_from_itself_does_not_agree() -> None:
    home, other = seen(HOME), seen(html(prose(3, words=[word[::-1] for word in WORDS])))
    assert page_text.agree([home, home])
    assert page_text.agree([home, seen(html(prose(9))), seen(html(prose(4, 260) + " advertisement buy now"))])
    assert page_text.agree([seen(SHELL), seen(SHELL)])
    assert page_text.agree([seen(b""), seen(b"")])
    assert not page_text.agree([home, other])
    assert not page_text.agree([home, seen(html(FRAGMENT))])
    assert not page_text.agree([home, home, seen(b"<div>" * 3_000)])


@pytest.mark.parametrize(
    ("title", "path", "text", "blocks"),
    [
        ("Blocked", "/", "Sorry.", True),
        ("Shop", "/blocked", "We are sorry for the trouble.", True),
        ("Shop", "/access-denied?id=7", "We are sorry for the trouble.", True),
        ("Shop", "/", "Access denied. Call us when you think that this is wrong.", True),
        ("One moment", "/", "Please verify you are human.", True),
        ("Shop", "/", "Unusual traffic from your network was noticed.", True),
        ("Queue-it", "/", "One moment.", True),
        ("Shop", "/q", "You are now in line. When it is your turn, you have ten minutes for our bread.", True),
        ("Waiting Room powered by Cloudflare", "/", "Thank you for your patience.", True),
        ("Shop", "/", "Zugriff verweigert. Rufen Sie uns an.", True),
        ("Shop", "/", "Accès refusé", True),
        ("Shop", "/", "Acceso denegado", True),
        ("Shop", "/", "Доступ запрещён.", True),
        ("Shop", "/", "アクセスが拒否されました。", True),
        ("Shop", "/", "您的访问被拒绝。", True),
        ("Shop", "/", "Zugang zum Garten. Die Brücke ist gesperrt.", False),
        ("Shop", "/", "Our surgery is round the corner: please take a seat in the room.", False),
        ("Shop", "/en/", "We repair robots and automate warehouses.", False),
        ("Shop", "/", FRAGMENT * 2 + " Bots are not allowed.", False),
        ("Blocked drains", "/", "Plumbing and pipes. " * 120, False),
    ],
)
def test_a_short_page_that_says_that_it_blocks(title: str, path: str, text: str, blocks: bool) -> None:
    small = seen(html("Our bread, our rolls, our cakes and our coffee are on sale in the market street."))
    body = f"<title>{title}</title><p>{text}</p>".encode()
    found = Page(seen(body), body, title=title, path=path)
    assert (compare(Page(small, b"", title="Bakery"), found) == BLOCKED) is blocks
    if len(text) > NOTHING:
        beside = Page(small, b"", title="Blocked, denied, captcha: verify you")
        assert compare(beside, found) != BLOCKED


async def test_text_is_taken_in_a_worker_where_a_page_may_hold_the_loop() -> None:
    large = html(prose(1, 20_000))
    async with ParserProcess() as parser:
        assert await parser.page(HOME, "text/html") == page.read(HOME, "text/html")
        assert parser.pid is None
        assert await parser.page(large, "text/html") == page.read(large, "text/html")
        assert parser.pid is not None
    assert "closed" in (await parser.page(large, "text/html")).facts.problem


def test_the_facts_of_a_text_are_bounded() -> None:
    found = page_text.of_text(" ".join(f"{chr(97 + n % 26)}{n // 26:x}".translate(DIGITS) for n in range(60_000)))
    assert len(found.words) == page_text.MAX_WORDS
    assert len(found.start) <= page_text.START


DIGITS = {ord(str(digit)): letter for digit, letter in enumerate("qrstuvwxyz")}


def test_however_many_refer_to_an_element_it_is_looked_at_once() -> None:
    silent = b"".join(b"<div id=a%d>%s</div>" % (number, b"<b></b>" * 200) for number in range(8))
    body = silent + b"<p role=region aria-labelledby='a0 a1 a2 a3 a4 a5 a6 a7'>" * 2000

    def took(body: bytes) -> float:
        started = time.process_time()
        assert page.read(body).facts.semantic.aria == 0
        return time.process_time() - started

    assert took(body) < 10 * took(body.replace(b"aria-labelledby", b"data-labelledby"))


@pytest.mark.parametrize(
    ("label", "says"),
    [
        ("<p id=n><b></b><i></i></p>", False),
        ("<p id=n><b><i></i>x</b></p>", True),
        ("<p id=n><input value=x></p>", False),
        ("<p id=n><img alt=x></p>", True),
        ("<p id=n>" + "<b></b>" * 300 + "x</p>", True),
        ("<div><p id=m> </p><div id=n><p id=o></p></div></div>", False),
    ],
)
def test_a_reference_names_by_what_its_element_says(label: str, says: bool) -> None:
    twice = "<p role=region aria-labelledby='o n'>" * 2
    assert page.read(f"<title>t</title>{label}{twice}words".encode()).facts.semantic.aria == (2 if says else 0)

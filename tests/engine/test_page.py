"""Page facts."""

from __future__ import annotations

from pathlib import Path

import pytest

from aui_tui.engine import charset, markup, page


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
        ("<div hidden=until-found><nav>x</nav></div><div inert><nav>y</nav></div>", 0, 1),
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
        ("<main style='display:none;display:block'>x</main><nav style='display:none!important;display:block'>y", 1, 0),
        ("<main style='d\\69 splay : NONE'>x</main><nav style='display:none nonsense'>y</nav>", 0, 1),
    ],
)
def test_landmarks(html: str, main: int, nav: int) -> None:
    semantic = page.read(html.encode()).semantic
    assert (semantic.main, semantic.nav) == (main, nav)


@pytest.mark.parametrize(
    ("html", "forms", "unlabelled"),
    [
        ("<form><label for=q>Q</label><input id=q></form>", 1, 0),
        ("<form><input id=q></form><label for=q>Q</label>", 1, 0),
        ("<form><label>N <input></label><input aria-label=u><input title=t><input type=submit></form>", 1, 0),
        ("<form><input placeholder=x></form><form><input type=hidden></form>", 2, 1),
        ("<form id=f></form><input form=f>", 1, 1),
        ("<form><div hidden><input></div></form>", 1, 0),
        ("<input>", 0, 0),
    ],
)
def test_forms(html: str, forms: int, unlabelled: int) -> None:
    facts = page.read(html.encode())
    assert (facts.semantic.forms, facts.forms_unlabelled) == (forms, unlabelled)


def test_structured_data() -> None:
    block = b"<script type=application/ld+json>%s</script>"
    odd = b"<script type=' Application/LD+JSON ; charset=utf-8'>{}</script>"
    hidden = b"<!-- " + block % b"{}" + b" --><template>" + block % b"{}" + b"</template>"
    facts = page.read(odd + block % b"{nope" + block % (b"[" * 100_000) + hidden)
    assert (facts.jsonld, facts.jsonld_broken) == (3, 2)


PAGES = Path(__file__).parents[1] / "data" / "pages"
"""Short pages as generators and servers write them: ``whole`` ones, and the empty mounts of ``shell``s."""


@pytest.mark.parametrize("path", sorted(PAGES.glob("*/*.html")), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_short_page_with_something_to_read_or_act_on_is_not_a_shell(path: Path) -> None:
    facts = page.read(path.read_bytes())
    assert facts.scripts > 0
    assert facts.readable < markup.READABLE_ENOUGH
    assert facts.noscript_shell is (path.parent.name == "shell")


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
        ("<img src=a alt=Logo>", False),
        ("<img src=a><img src=b alt=' '>", True),
        ("<a href=/a>A</a>", True),
        ("<a href=/a>A</a><a href=/b></a><a name=c>C</a>", True),
        ("<a href=/a><b>A</b></a><p><a href=/b>B</a>", False),
        ("<a href=/a>A<b>B</b></a>", True),
    ],
)
def test_what_makes_a_short_page_more_than_a_shell(html: str, shell: bool) -> None:
    assert page.read(f"<script src=a.js></script><div>{html}</div>".encode()).noscript_shell is shell


def test_shell() -> None:
    shell = page.read(
        b"<title>App</title><div id=root></div><noscript>"
        + b"Please run it. " * 50
        + b"</noscript><script src=a.js></script>"
    )
    assert shell.noscript_shell
    assert not page.read(b"<p>" + b"Read me. " * 40 + b"<script src=a.js></script>").noscript_shell
    assert not page.read(b"<p>short").noscript_shell


@pytest.mark.parametrize(
    "body",
    [
        b"<div>" * 2_000,
        b"<a " + b" ".join(b"a%d" % i for i in range(501)) + b">",
    ],
)
def test_pathological_bodies_are_not_parsed(body: bytes) -> None:
    facts = page.read(b"<title>T</title><main>" + body)
    assert facts.problem
    assert facts.title == "T"
    assert facts.semantic.main == 0


def test_a_long_attribute_value_costs_no_facts() -> None:
    image = b"<img alt='' src='data:image/png;base64," + b"iVBORw0KGgo/+A==" * 5_000 + b"'>"
    facts = page.read(b"<title>T</title><main><h1>Shop</h1>" + image + b"<nav>x</nav><script src=a></script>")
    assert (facts.problem, facts.title, facts.semantic.main, facts.semantic.nav) == ("", "T", 1, 1)
    assert not facts.noscript_shell


@pytest.mark.parametrize(
    "label", ["zlib_codec", "hex", "idna", "undefined", "rot13", "nonsense", "", "utf-7", "punycode"]
)
def test_only_web_charsets(label: str) -> None:
    body = "<title>Ä ü</title>".encode() + b"\xff"
    assert page.read(body, f"text/html; charset={label}").title == "Ä ü"
    assert page.title(body, f"text/html; charset={label}") == "Ä ü"


def test_declared_charsets() -> None:
    assert page.read("<title>né</title>".encode("latin-1"), "text/html; charset=ISO-8859-1").title == "né"
    assert page.read("<meta charset=koi8-r><title>мир</title>".encode("koi8-r")).title == "мир"
    assert page.read("\ufeff<title>é</title>".encode("utf-16"), "text/html; charset=ascii").title == "é"


@pytest.mark.parametrize(("count", "shell"), [(199, True), (200, False)])
def test_under_200_readable_characters(count: int, shell: bool) -> None:
    facts = page.read(b"<title>not counted</title><script src=a.js></script><p>" + b"x" * count)
    assert (facts.readable, facts.noscript_shell) == (count, shell)


def test_data_blocks_are_no_scripts() -> None:
    assert not page.read(
        b"<script type=application/ld+json>{}</script><script type=application/json>{}</script>"
    ).scripts
    assert page.read(b"<script type=module>1</script><script type='4b-text/javascript'>1</script>").scripts == 2


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
    assert page.title(body) == markup.title(charset.decode(body).encode()) == expected

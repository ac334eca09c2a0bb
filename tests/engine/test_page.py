"""Page facts."""

from __future__ import annotations

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
        b"<a title='" + b"x" * 70_000 + b"'>",
    ],
)
def test_pathological_bodies_are_not_parsed(body: bytes) -> None:
    facts = page.read(b"<title>T</title><main>" + body)
    assert facts.problem
    assert facts.title == "T"
    assert facts.semantic.main == 0


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

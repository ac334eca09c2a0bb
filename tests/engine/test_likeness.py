"""When a 200 is another page than the browser's, and when it is only a version of it."""

from __future__ import annotations

import random

import pytest

from aui_tui.engine import page
from aui_tui.engine.page import PageText
from aui_tui.engine.parser_pool import Parser

WORDS = [
    "fresh",
    "bread",
    "every",
    "morning",
    "rolls",
    "cakes",
    "coffee",
    "shop",
    "opens",
    "seven",
    "market",
    "street",
    "order",
    "online",
    "delivery",
    "wedding",
    "birthday",
    "sourdough",
    "rye",
    "spelt",
    "butter",
    "croissant",
    "family",
    "bakers",
    "since",
    "team",
    "jobs",
    "contact",
    "map",
    "parking",
]


def prose(seed: int, count: int = 300, words: list[str] = WORDS) -> str:
    return " ".join(random.Random(seed).choices(words, k=count))


def html(text: str, title: str = "Bakery") -> bytes:
    return f"<html><title>{title}</title><script>var x</script><main><h1>{title}</h1><p>{text}</p></main>".encode()


HOME = html(prose(1))
SHELL = b"<title>App</title><div id=root></div><script src=/a.js></script>"
FRAGMENT = prose(1, 20)


def seen(body: bytes, kind: str = "text/html") -> PageText:
    return page.text(body, kind)


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
    ],
)
def test_nothing_to_read_or_far_less_and_other_text_is_another_page(body: bytes, kind: str) -> None:
    assert page.is_another(seen(body, kind), seen(HOME))


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
        (b"%PDF-1.7", "application/pdf"),
        (b"<div>" * 3_000, "text/html"),
    ],
)
def test_a_version_of_the_page_is_not_another_one(body: bytes, kind: str) -> None:
    assert not page.is_another(seen(body, kind), seen(HOME))


def test_a_shell_beside_a_shell_is_not_another_page_and_an_empty_answer_is() -> None:
    assert not page.is_another(seen(SHELL), seen(SHELL.replace(b"></div>", b">Loading</div>")))
    assert page.is_another(seen(b""), seen(SHELL))
    assert not page.is_another(seen(b""), seen(b""))


def test_text_without_spaces_is_compared_by_pairs_of_characters() -> None:
    japanese = "毎朝焼きたてのパンをお届けします。注文はオンラインで。" * 8
    light = "毎朝焼きたてのパンをお届けします。"
    assert not page.is_another(seen(html(light)), seen(html(japanese * 3)))
    assert page.share(seen(html("全く別の文章です", "別")), seen(html(japanese))) < page.HALF


def test_a_site_that_differs_from_itself_does_not_agree() -> None:
    home, other = seen(HOME), seen(html(prose(3, words=[word[::-1] for word in WORDS])))
    assert page.agree([home, home])
    assert page.agree([home, seen(html(prose(9))), seen(html(prose(4, 260) + " advertisement buy now"))])
    assert page.agree([seen(SHELL), seen(SHELL)])
    assert page.agree([seen(b""), seen(b"")])
    assert not page.agree([home, other])
    assert not page.agree([home, seen(html(FRAGMENT))])
    assert not page.agree([home, home, seen(b"<div>" * 3_000)])


@pytest.mark.parametrize(
    ("title", "path", "text", "blocks"),
    [
        ("Blocked", "/", "Sorry.", True),
        ("Shop", "/blocked", "We are sorry for the trouble.", True),
        ("Shop", "/access-denied?id=7", "We are sorry for the trouble.", True),
        ("Shop", "/", "Access denied. Call us when you think that this is wrong.", True),
        ("One moment", "/", "Please verify you are human.", True),
        ("Shop", "/", "Unusual traffic from your network was noticed.", True),
        ("Shop", "/en/", "We repair robots and automate warehouses.", False),
        ("Shop", "/", FRAGMENT * 2 + " Bots are not allowed.", False),
        ("Blocked drains", "/", "Plumbing and pipes. " * 120, False),
    ],
)
def test_a_short_page_that_says_that_it_blocks(title: str, path: str, text: str, blocks: bool) -> None:
    small = seen(html("Our bread, our rolls, our cakes and our coffee are on sale in the market street."))
    found = seen(f"<title>{title}</title><p>{text}</p>".encode())
    assert page.says_blocked(found, small, (title, path), ("Bakery", "/")) is blocks
    assert not page.says_blocked(found, small, (title, path), ("Blocked, denied, captcha: verify you", "/"))


def test_much_less_text() -> None:
    assert page.much_less(seen(html(FRAGMENT)), seen(HOME))
    assert not page.much_less(seen(html(prose(1, 200))), seen(HOME))


async def test_text_is_taken_in_a_worker_where_a_page_may_hold_the_loop() -> None:
    large = html(prose(1, 20_000))
    async with Parser() as parser:
        assert await parser.text(HOME, "text/html") == page.text(HOME, "text/html")
        assert parser.pids() == ()
        assert await parser.text(large, "text/html") == page.text(large, "text/html")
        assert len(parser.pids()) == 1
    assert "closed" in (await parser.text(large, "text/html")).problem


def test_the_facts_of_a_text_are_bounded() -> None:
    found = page.of_text(" ".join(f"{chr(97 + n % 26)}{n // 26:x}".translate(DIGITS) for n in range(60_000)))
    assert len(found.words) == page.MAX_WORDS
    assert len(found.start) <= page.START


DIGITS = {ord(str(digit)): letter for digit, letter in enumerate("qrstuvwxyz")}

"""Cookies within one chain of redirects."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aui_tui.engine.cookies import MAX_COOKIES, MAX_HEADER, CookieJar
from aui_tui.engine.target import Origin

HOME = Origin("https", "www.shop.com", 443)


def jar(*values: str, origin: Origin = HOME, path: str = "/") -> CookieJar:
    found = CookieJar()
    found.take(origin, path, [("set-cookie", value) for value in values])
    return found


@pytest.mark.parametrize(
    ("value", "origin", "path", "sent"),
    [
        ("a=1", HOME, "/", "a=1"),
        ("a=1", HOME, "/deep/er?x", "a=1"),
        ("a=1", Origin("https", "shop.com", 443), "/", ""),
        ("a=1; Domain=shop.com", Origin("https", "shop.com", 443), "/", "a=1"),
        ("a=1; domain=.SHOP.com", Origin("https", "cdn.shop.com", 443), "/", "a=1"),
        ("a=1; Domain=other.com", HOME, "/", ""),
        ("a=1; Domain=com", HOME, "/", ""),
        ("a=1; Domain=op.com", HOME, "/", ""),
        ("a=1; Secure", Origin("http", "www.shop.com", 80), "/", ""),
        ("a=1; Secure", HOME, "/", "a=1"),
        ("a=1; Path=/x", HOME, "/", ""),
        ("a=1; Path=/x", HOME, "/x", "a=1"),
        ("a=1; Path=/x", HOME, "/x/y", "a=1"),
        ("a=1; Path=/x", HOME, "/xy", ""),
        ("a=1; Max-Age=0", HOME, "/", ""),
        ("a=", HOME, "/", "a="),
        ("=1", HOME, "/", ""),
        ("a", HOME, "/", ""),
        ("a=1\r\nHost: evil", HOME, "/", ""),
        ("a=é", HOME, "/", ""),
        ("a=" + "v" * 5000, HOME, "/", ""),
    ],
)
def test_what_is_sent_back(value: str, origin: Origin, path: str, sent: str) -> None:
    assert jar(value).header(origin, path) == sent


def test_a_later_value_replaces_and_max_age_0_deletes() -> None:
    found = jar("a=1", "b=2", "a=3")
    assert found.header(HOME, "/") == "a=3; b=2"
    found.take(HOME, "/", [("set-cookie", "a=x; max-age=0"), ("server", "a=9")])
    assert found.header(HOME, "/") == "b=2"


def test_a_flood_is_bounded() -> None:
    found = jar(*(f"c{number}={'v' * 400}" for number in range(1200)))
    sent = found.header(HOME, "/")
    assert len(sent) <= MAX_HEADER
    assert sent.count("=") <= MAX_COOKIES


@given(st.lists(st.text(max_size=60), max_size=8), st.text(max_size=10))
def test_whatever_is_set_the_header_is_plain(values: list[str], path: str) -> None:
    sent = jar(*values, path=f"/{path}").header(HOME, f"/{path}")
    assert sent.isascii()
    assert all(char.isprintable() for char in sent)

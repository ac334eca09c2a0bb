"""Where a redirect leads (RFC 3986 5.4) and which are not followed."""

from __future__ import annotations

import pytest

from aui_tui.engine.access import PUBLIC, Access
from aui_tui.engine.redirects import Unfollowed, Url, follow
from aui_tui.engine.target import Origin

BASE = Url(Origin("https", "shop.com", 443), "/a/b?c")


@pytest.mark.parametrize(
    ("location", "reached"),
    [
        ("https://www.shop.com/", "https://www.shop.com/"),
        ("https://www.shop.com", "https://www.shop.com/"),
        ("HTTP://WWW.Shop.com:80/x", "http://www.shop.com/x"),
        ("//cdn.shop.com/x", "https://cdn.shop.com/x"),
        ("/x?y=1#part", "https://shop.com/x?y=1"),
        ("x", "https://shop.com/a/x"),
        ("../x", "https://shop.com/x"),
        ("?d", "https://shop.com/a/b?d"),
        ("https://shop.com?d", "https://shop.com/?d"),
        (" /x ", "https://shop.com/x"),
        ("/with space", "https://shop.com/with%20space"),
        ("/ünï?ä=ö", "https://shop.com/%C3%BCn%C3%AF?%C3%A4=%C3%B6"),
        ("/%41%zz", "https://shop.com/%41%zz"),
        ("https://bücher.de/", "https://xn--bcher-kva.de/"),
        ("https://shop.com./", "https://shop.com/"),
        ("https://[2606:4700::1]/", "https://[2606:4700::1]/"),
        ("https://shop.com:80/", "https://shop.com:80/"),
    ],
)
def test_followed(location: str, reached: str) -> None:
    assert str(follow(BASE, location, PUBLIC)) == reached


@pytest.mark.parametrize(
    ("location", "kind"),
    [
        ("", "redirect-target"),
        ("   ", "redirect-target"),
        ("https://", "redirect-target"),
        ("http:///x", "redirect-target"),
        ("https://a.com\\x", "redirect-target"),
        ("https://a.com/\x00", "redirect-target"),
        ("https://a..com/", "redirect-target"),
        ("https://a.com:x/", "redirect-target"),
        ("https://u@a.com/", "redirect-target"),
        ("https://" + "a" * 9000 + ".com/", "redirect-target"),
        ("https://0x7f.1/", "redirect-target"),
        ("ftp://a.com/", "redirect-scheme"),
        ("data:text/html,x", "redirect-scheme"),
        ("about:blank", "redirect-scheme"),
        ("intent://a.com", "redirect-scheme"),
        ("http://localhost/", "redirect-address"),
        ("http://192.168.0.1/", "redirect-address"),
        ("http://[::ffff:10.0.0.1]/", "redirect-address"),
        ("http://printer.local/", "redirect-address"),
        ("https://a.com:8443/", "redirect-address"),
    ],
)
def test_not_followed(location: str, kind: str) -> None:
    with pytest.raises(Unfollowed) as caught:
        follow(BASE, location, PUBLIC)
    assert caught.value.kind == kind
    assert caught.value.detail.startswith("it redirects")


def test_the_private_switch_lets_redirects_lead_anywhere() -> None:
    assert str(follow(BASE, "http://localhost:8080/x", Access(allow_private=True))) == "http://localhost:8080/x"

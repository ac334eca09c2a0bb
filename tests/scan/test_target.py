"""What may be scanned: names, addresses, ports, the sentence for every refused form, and which addresses are public."""

from __future__ import annotations

from ipaddress import IPv4Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aui_tui.errors import InvalidHost
from aui_tui.scan.target import Origin, is_public, parse
from aui_tui.text import clean

REFUSED = {
    "No host": ["", "   ", "\t\r\n"],
    "has no host": ["http://", "https:///path", "http://#", "?q", ".", "https://?x"],
    "user name": ["http://user@x.com/", "http://u:p@x.com", "a@b.com", "http://@x.com", "http://x.com:80@y.com/"],
    "backslash": ["x.com\\@evil.example", "http://x.com\\path", "\\\\x.com"],
    "space": ["exa mple.com", "http://x.com/a b", "x\u3000y.com", "x.com\u00a0"],
    "control or invisible": [
        *("x\x00.com", "x.com\x7f", "x\t.com", "x\r\nHost: y.com", "ex\u00adample.com", "x\u202e.com"),
    ],
    "only http and https": ["ftp://x.com", "file:///etc/passwd", "gopher://x.com", "jar:http://x.com!/", "mailto:a.b"],
    "complete address": ["http:x.com", "https:/x.com"],
    "bad port": ["x.com:0", "x.com:65536", "x.com:80a", "x.com:", "x.com:-1", "x.com:99999999", "x.com:٨٠"],
    "is a number": [
        *("http://2130706433/", "127.1", "0", "0x7f000001", "0x7f.1", "0177.0.0.1", "1.2.3.09", "256.256.256.256"),
        *("1.2.3.4.5", "foo.1.2.3.4", "foo.0x4", "foo.0x", "192.168.257.", "127。0。0。1", "8。8。8。8"),
        *("\uff11\uff12\uff17.0.0.1", "①②⑦.⓪.⓪.①", "①.①.①.①"),
    ],
    "outside the public Internet": [
        *("127.0.0.1", "10.0.0.1", "169.254.169.254", "[::1]", "[::ffff:7f00:1]", "[fe80::1]"),
    ],
    "IPv6": ["[::1", "[x]", "[]", "[1.2.3.4]", "[fe80::1%eth0]", "[::1]x", "http://[::%31]"],
    "without a dot": ["localhost", "LOCALHOST", "ｌｏｃａｌｈｏｓｔ", "ip6-loopback", "com", "http://f:80/c"],
    "special-use": ["a.localhost", "localhost.localdomain", "x.local", "db.internal", "x.onion", "x.test", "x.example"],
    "not a host name": [
        *("a..com", ".x.com", "-a.com", "a-.com", "a,b.com", "$(id).com", '"x".com', "a_b.com", "%61.com", "y.."),
        "ü=.com",
    ],
    "UTS 46": [
        *("xn--a.com", "xn--.com", "\ufffd.com", "a\u200db.com", "\u0301a.com", "1א.com"),
        "\U0001f469\u200d\U0001f4bb.com",
    ],
    "303 characters": ["x" * 299 + ".com"],
    "characters long": ["x.com/" + "y" * 3000],
}


@pytest.mark.parametrize(("words", "text"), [(words, text) for words, texts in REFUSED.items() for text in texts])
def test_a_refused_host_gets_one_clean_sentence(words: str, text: str) -> None:
    with pytest.raises(InvalidHost) as caught:
        parse(text)
    sentence = str(caught.value)
    assert words in sentence
    assert sentence.endswith(".")
    assert sentence == clean(sentence, 400)


@pytest.mark.parametrize("text", ["http://me:s3cret@x.com/", "me:s3cret@x.com", "ftp://me:s3 cret@x.com"])
def test_no_message_repeats_a_password(text: str) -> None:
    with pytest.raises(InvalidHost, match=r"“(\w+://)?…@x\.com/?”") as caught:
        parse(text)
    assert "cret" not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["my_app.localhost", "http://my_app.localhost:3000", "my_app.internal", "a_b.c_d.test", "my_app:8000"]
)
def test_a_name_of_a_private_network_may_have_underscores(text: str) -> None:
    assert parse(text, allow_private=True).host in text


@pytest.mark.parametrize(
    "text", ["a_b.com", "a_b.local_host", "0x7f.1", "127.1", "http://u@localhost", "ftp://localhost", "x.com:0"]
)
def test_the_private_switch_permits_no_malformed_host(text: str) -> None:
    with pytest.raises(InvalidHost):
        parse(text, allow_private=True)


@pytest.mark.parametrize(
    ("text", "host", "site", "origins"),
    [
        ("Example.COM.", "example.com", "example.com", ["https://example.com", "http://example.com"]),
        ("https://example.com/a?b#c", "example.com", "example.com", ["https://example.com"]),
        ("http://example.com:80", "example.com", "example.com", ["http://example.com"]),
        ("example.com:80", "example.com", "example.com", ["http://example.com"]),
        ("example.com:443", "example.com", "example.com", ["https://example.com"]),
        ("bücher.de", "xn--bcher-kva.de", "xn--bcher-kva.de", None),
        ("BU\u0308CHER.de", "xn--bcher-kva.de", "xn--bcher-kva.de", None),
        ("例え。jp", "xn--r8jz45g.jp", "xn--r8jz45g.jp", None),
        ("r3---sn-4g.example.com", "r3---sn-4g.example.com", "r3---sn-4g.example.com", None),
        ("x--y.example.com", "x--y.example.com", "x--y.example.com", None),
        ("8.8.8.8", "8.8.8.8", "8.8.8.8", None),
        ("[2606:4700:0::1]", "2606:4700::1", "[2606:4700::1]", None),
        ("  example.com\n", "example.com", "example.com", None),
    ],
)
def test_a_public_host_gives_site_and_origins_to_try(
    text: str, host: str, site: str, origins: list[str] | None
) -> None:
    target = parse(text)
    assert (target.host, target.site) == (host, site)
    if origins is not None:
        assert [str(origin) for origin in target.origins] == origins


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("ΟΔΟΣ-1.gr", "xn---1-k9b7bby.gr"),
        ("οδος.gr", "xn--pxavbm.gr"),
        ("ΟΔΟΣ.gr", "xn--pxavbq.gr"),
        ("STRASSE.de", "strasse.de"),
        ("straße.de", "xn--strae-oqa.de"),
        ("ＥＸＡＭＰＬＥ．ｃｏｍ", "example.com"),
        ("ⓔⓧ.ⓒⓞⓜ", "ex.com"),
        ("ﬁ.com", "fi.com"),
        ("☕.shop.com", "xn--53h.shop.com"),
        ("❤\ufe0f.com", "xn--qei.com"),
        ("xn--ls8h.la", "xn--ls8h.la"),
        ("नामहि\u0928\u094d\u200d.com", "xn--l2bar8bxai3h913t.com"),
        ("نامه\u200cای.com", "xn--mgba3gch31f060k.com"),
        ("אב1.com", "xn--1-zhcd.com"),
        ("my_shop.shop.com", "my_shop.shop.com"),
        ("_a.b_.shop.co.uk", "_a.b_.shop.co.uk"),
        ("例え。jp。", "xn--r8jz45g.jp"),
    ],
)
def test_names_are_mapped_as_uts_46_has_it(text: str, host: str) -> None:
    assert parse(text).host == host
    assert parse(f"https://{text}/x").host == host
    assert parse(host).host == host


@pytest.mark.parametrize(
    ("text", "site", "first"),
    [
        ("localhost", "localhost", "https://localhost"),
        ("localhost:8080", "localhost:8080", "https://localhost:8080"),
        ("http://127.0.0.1:5000/", "127.0.0.1:5000", "http://127.0.0.1:5000"),
        ("http://[::1]:5000/", "[::1]:5000", "http://[::1]:5000"),
        ("staging.test", "staging.test", "https://staging.test"),
        ("https://example.com:8443", "example.com:8443", "https://example.com:8443"),
    ],
)
def test_the_private_switch_permits_private_hosts_and_any_port(text: str, site: str, first: str) -> None:
    target = parse(text, allow_private=True)
    assert (target.site, str(target.origin)) == (site, first)
    with pytest.raises(InvalidHost):
        parse(text)


def test_the_input_is_kept_as_typed_and_clean() -> None:
    assert parse("HTTPS://Bücher.De:443/x").input_host == "Bücher.De:443"


def test_an_authority_names_a_port_only_where_it_is_not_the_default() -> None:
    assert Origin("https", "2606::1", 443).authority == "[2606::1]"
    assert Origin("http", "x.com", 443).authority == "x.com:443"


CLOSED = """
0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255 127.0.0.1 127.255.255.255 169.254.0.0
169.254.169.254 172.16.0.0 172.31.255.255 192.0.0.0 192.0.0.255 192.0.2.1 192.88.99.1 192.168.0.0 192.168.255.255
198.18.0.0 198.19.255.255 198.51.100.7 203.0.113.255 224.0.0.1 239.255.255.255 240.0.0.0 255.255.255.255
:: ::1 ::7f00:1 ::ffff:10.0.0.1 ::ffff:100.64.0.1 ::ffff:0:127.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b:1::808:808 100::1
2001::1 2001:2::1 2001:10::1 2001:20::1 2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff 2001:db8::1 2002:7f00:1:: 2002:a00:1::1
3fff::1 3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff 4000::1 5f00::1 fc00::1 fdff::1 fe80::1 febf::1 fec0::1 ff02::1
ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
"""
OPEN = """
1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1 169.253.255.255 169.255.0.0
172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.3.0 192.88.98.255 192.167.255.255 192.169.0.0 198.17.255.255
198.20.0.0 203.0.112.255 203.0.114.0 223.255.255.255 2000::1 2001:200::1 2001:db7:ffff::1 2001:db9::1 2400:cb00::1
2606:4700:4700::1111 3ffe:ffff::1 3fff:1000::1 64:ff9b::808:808 ::ffff:8.8.8.8
"""
NO_ADDRESS = ["", "localhost", "127.1", "0x7f.0.0.1", "2130706433", "01.1.1.1", "1.1.1.1 ", "1.1.1.1\n", "fe80::1%eth0"]


@pytest.mark.parametrize("address", CLOSED.split())
def test_special_purpose_addresses_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", OPEN.split())
def test_neighbours_of_special_ranges_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("text", NO_ADDRESS)
def test_other_notations_are_not_public(text: str) -> None:
    assert not is_public(text)


@given(st.integers(0, 2**32 - 1))
def test_an_embedded_address_is_judged_as_the_embedded_one(number: int) -> None:
    plain = str(IPv4Address(number))
    high, low = divmod(number, 65536)
    for form in (
        f"::ffff:{plain}",
        f"::{plain}",
        f"64:ff9b::{plain}",
        f"2002:{high:x}:{low:x}::1",
        f"::ffff:0:{plain}",
    ):
        assert is_public(form) == is_public(plain)

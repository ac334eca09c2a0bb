"""What the local user allows, and what a rule or a header field may say."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from aui_tui.errors import BadValue, ConfigError, InvalidHost
from aui_tui.scan.policy import KEYBOARD, PUBLIC, SAME_ANSWER, ConnectTo, OwnSite, ScanPolicy, Via
from aui_tui.scan.target import Origin, parse


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("shop.test:80:127.0.0.1:8080", ConnectTo("shop.test", 80, "127.0.0.1", 8080)),
        ("Shop.TEST:443:[::1]:8443", ConnectTo("shop.test", 443, "::1", 8443)),
        ("::127.0.0.1:8080", ConnectTo("", None, "127.0.0.1", 8080)),
        ("bücher.de::localhost:", ConnectTo("xn--bcher-kva.de", None, "localhost", None)),
        (":443::8443", ConnectTo("", 443, "", 8443)),
        ("[2606:4700::1]:443:127.0.0.1:1", ConnectTo("2606:4700::1", 443, "127.0.0.1", 1)),
    ],
)
def test_a_rule_reads_as_curls(text: str, rule: ConnectTo) -> None:
    assert ConnectTo.parse(text) == rule


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "a:1:b",
        "a:1:b:2:c",
        "a:x:b:2",
        "a:0:b:2",
        "a:1:b:65536",
        "::1:80:127.0.0.1:80",
        "a:1:b:2\n",
        f"a:{'9' * 5000}:b:2",
    ],
    ids=lambda text: text[:20],
)
def test_a_broken_rule_gets_one_sentence(text: str) -> None:
    with pytest.raises(BadValue, match="HOST:PORT:ADDRESS:PORT"):
        ConnectTo.parse(text)


@pytest.mark.parametrize("text", ["a b:1:c:2", "$(x):1:b:2", "a:1:0x7f.1:2"])
def test_a_rule_with_a_malformed_host_is_refused(text: str) -> None:
    with pytest.raises(InvalidHost):
        ConnectTo.parse(text)


def test_the_first_rule_that_fits_counts() -> None:
    access = ScanPolicy(connect_to=(ConnectTo("a.com", 80, "127.0.0.1", 1), ConnectTo("", 80, "127.0.0.1", 2)))
    assert access.rule_for("a.com", 80) == ConnectTo("a.com", 80, "127.0.0.1", 1)
    assert access.rule_for("b.com", 80) == ConnectTo("", 80, "127.0.0.1", 2)
    assert access.rule_for("a.com", 443) is None


def test_a_rule_permits_its_own_host_and_nothing_else() -> None:
    access = ScanPolicy(connect_to=(ConnectTo("shop.test", None, "127.0.0.1", 1),))
    assert access.target("http://shop.test:8080").site == "shop.test:8080"
    for url in ("other.test", "localhost", "http://example.com:8080", "shop.test:0"):
        with pytest.raises(InvalidHost):
            access.target(url)
    with pytest.raises(InvalidHost):
        PUBLIC.target("shop.test")


def test_a_redirect_may_lead_to_the_public_web_alone() -> None:
    PUBLIC.check(Origin("https", "example.com", 443))
    for origin in (Origin("http", "10.0.0.1", 80), Origin("http", "example.com", 8080), Origin("http", "x.local", 80)):
        with pytest.raises(InvalidHost):
            PUBLIC.check(origin)
        ScanPolicy(allow_private=True).check(origin)
    KEYBOARD.check(Origin("http", "example.com", 8080))
    for origin in (Origin("http", "10.0.0.1", 8080), Origin("http", "x.local", 80)):
        with pytest.raises(InvalidHost):
            KEYBOARD.check(origin)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("X Y", "1"),
        ("", "1"),
        ("X", "a\r\nHost: evil"),
        ("X", "é"),
        ("Host", "evil"),
        ("user-agent", "me"),
        ("Sec-CH-UA", "x"),
        ("Accept", "*/*"),
        ("Connection", "close"),
        ("Transfer-Encoding", "chunked"),
    ],
)
def test_a_field_that_is_no_field_or_belongs_to_the_probe_is_refused(name: str, value: str) -> None:
    with pytest.raises(BadValue):
        ScanPolicy(headers=((name, value),))


def test_what_was_relaxed_is_named() -> None:
    assert PUBLIC.relaxed == ()
    access = ScanPolicy(allow_private=True, insecure=True, connect_to=(ConnectTo("", None, "127.0.0.1", 1),))
    assert access.relaxed == ("insecure", "private", "connect-to")
    assert ScanPolicy(basic_auth=("me", "word")).relaxed == ("credentials",)
    assert ScanPolicy(headers=(("X-Key", "abcdef"),)).relaxed == ("credentials",)


def test_secrets_are_known_and_not_shown() -> None:
    access = ScanPolicy(headers=(("X-Key", "abcdef"),), basic_auth=("user", "päss:word"))
    assert access.private_fields()[-1] == ("Authorization", "Basic dXNlcjpww6Rzczp3b3Jk")
    assert {"abcdef", "päss:word", "dXNlcjpww6Rzczp3b3Jk"} <= set(access.secrets)
    assert not any(secret in repr(access) for secret in access.secrets)


@pytest.mark.parametrize(
    ("access", "url", "own"),
    [
        (ScanPolicy(allow_private=True), "localhost:8000", True),
        (ScanPolicy(allow_private=True), "http://127.0.0.1", True),
        (ScanPolicy(allow_private=True), "[::1]:8000", True),
        (ScanPolicy(allow_private=True), "shop.internal", True),
        (ScanPolicy(allow_private=True), "nas", True),
        (ScanPolicy(allow_private=True), "staging.example.com", True),
        (ScanPolicy(allow_private=True), "mixed.example.com", False),
        (ScanPolicy(allow_private=True), "www.example.com", False),
        (ScanPolicy(allow_private=True), "www.example.com:8443", False),
        (ScanPolicy(allow_private=True), "gone.example.com", False),
        (ScanPolicy(allow_private=True), "8.8.8.8", False),
        (ScanPolicy(), "staging.example.com", False),
        (ScanPolicy(connect_to=(ConnectTo("shop.com", None, "10.0.0.7", 8443),)), "shop.com", True),
        (ScanPolicy(connect_to=(ConnectTo("shop.com", 443, "10.0.0.7", 8443),)), "https://shop.com", True),
        (ScanPolicy(connect_to=(ConnectTo("shop.com", 443, "10.0.0.7", 8443),)), "shop.com", False),
        (ScanPolicy(connect_to=(ConnectTo("shop.com", None, "", 8443),)), "shop.com", False),
        (ScanPolicy(connect_to=(ConnectTo("shop.com", None, "10.0.0.7", 8443),)), "other.com", False),
        (ScanPolicy(allow_private=True, remote=True), "staging.example.com", False),
    ],
)
async def test_a_host_of_the_users_own_is_private_or_under_a_rule(access: ScanPolicy, url: str, own: bool) -> None:
    names = {
        "staging.example.com": ["10.1.2.3", "fd00::7"],
        "mixed.example.com": ["10.1.2.3", "8.8.8.8"],
        "www.example.com": ["8.8.8.8"],
    }

    async def resolver(host: str) -> list[str]:
        if host not in names:
            raise OSError("no such name")
        return names[host]

    target = access.target(url) if not access.remote else ScanPolicy(allow_private=True).target(url)
    assert await access.owns(target, resolver) is own


def test_the_fields_of_a_site_are_sent_to_it_alone_and_for_the_person_at_the_keyboard(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("STAGING", "anna:word")
    own = {"staging.example.com": OwnSite({"X-Key": "abcdef"}, "STAGING")}
    access = ScanPolicy(keyboard=True, sites=own)
    staging, other = access.target("https://staging.example.com"), access.target("https://shop.example.com")
    sent = access.toward(staging)
    assert (sent.headers, sent.basic_auth) == ((("X-Key", "abcdef"),), ("anna", "word"))
    strangers = (ScanPolicy(sites=own), replace(access, remote=True))
    for kept in (access.toward(other), *(policy.toward(staging) for policy in strangers)):
        assert (kept.headers, kept.basic_auth) == ((), None)
    monkeypatch.delenv("STAGING")
    with pytest.raises(ConfigError, match="STAGING does not hold user:password"):
        access.toward(staging)


def test_no_two_ways_to_a_site_share_the_name_of_an_answer() -> None:
    """Every setting of a policy but those of SAME_ANSWER is part of the name."""
    plain, rule = ScanPolicy(keyboard=True), ConnectTo("x.com", 443, "127.0.0.1", 1)
    texts = ["x.com", "http://x.com", "https://x.com", "x.com:81", "http://x.com:81", "www.x.com"]
    names = [plain.key(parse(text, allow_private=True)).name for text in texts]
    given: dict[str, object] = {"connect_to": (rule,), "via": Via("http", "127.0.0.1", 3128), "pages": ("/cart",)}
    for name in (one.name for one in fields(ScanPolicy) if one.name not in SAME_ANSWER):
        value = getattr(plain, name)
        changed: Any = given[name] if name in given else {bool: value is False, int: 3, str: "words"}[type(value)]
        names.append(replace(plain, **{name: changed}).key(parse("x.com")).name)
    assert len(set(names)) == len(names)
    assert names[0] == "x.com"
    assert replace(plain, headers=(("X-Key", "1"),)).key(parse("x.com")).name == ""


HTTP, BOTH = ((ConnectTo("x.com", 80, "127.0.0.1", 1),), (ConnectTo("x.com", None, "127.0.0.1", 1),))


@pytest.mark.parametrize(
    ("text", "rules", "here", "visitor"),
    [
        ("x.com", (), 0, 0),
        ("https://x.com", (), 0, 0),
        ("http://x.com", (), 1, 2),
        ("x.com:80", (), 1, 2),
        ("x.com", BOTH, 1, 0),
        ("http://x.com", BOTH, 1, 2),
        ("http://x.com", HTTP, 1, 0),
        ("http://other.com", HTTP, 1, 2),
    ],
)
def test_only_the_usual_route_makes_the_card_of_a_site(
    text: str, rules: tuple[ConnectTo, ...], here: int, visitor: int
) -> None:
    assert ScanPolicy(keyboard=True, connect_to=rules).key(parse(text)).aside == here
    assert ScanPolicy(remote=True, connect_to=rules).key(parse(text)).aside == visitor

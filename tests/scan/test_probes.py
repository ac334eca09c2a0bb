"""Where a redirect leads (WHATWG URL, 4.4) and which are not followed; cookies; large bodies side by side."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

import pytest

from aui_tui.model.observations import BROWSER
from aui_tui.scan.network import BodyLimiter, HttpClient, Network, Reply
from aui_tui.scan.policy import PUBLIC, ConnectTo, ScanPolicy
from aui_tui.scan.probes import (
    MAX_COOKIE_HEADER_BYTES,
    MAX_COOKIES,
    SMALL_BODY_BYTES,
    CookieJar,
    ProbePlan,
    Unfollowed,
    Url,
    probe,
    redirect_target,
)
from aui_tui.scan.target import Origin

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
        ("///x.com/y", "https://x.com/y"),
        ("/\\x.com\\y", "https://x.com/y"),
        ("https:///x.com", "https://x.com/"),
        ("http:x.com/y", "http://x.com/y"),
        ("https:x", "https://shop.com/a/x"),
        ("https:/x", "https://shop.com/x"),
        ("https://x.com:/", "https://x.com/"),
        ("https://%65x.com/", "https://ex.com/"),
        ("https://ΟΔΟΣ-1.gr/", "https://xn---1-k9b7bby.gr/"),
        ("?", "https://shop.com/a/b?"),
        ("#part", "https://shop.com/a/b?c"),
        (".", "https://shop.com/a/"),
        ("..", "https://shop.com/"),
        ("a/../../../b", "https://shop.com/b"),
        ("/x/%2e%2E/./y", "https://shop.com/y"),
        ("/x/%2E", "https://shop.com/x/"),
        ("/x//../y", "https://shop.com/x/y"),
        ("/x/..%2fy", "https://shop.com/x/..%2fy"),
        ("/x\\..\\y?a\\b", "https://shop.com/y?a\\b"),
        ('/"<>^`{|}?"<>\'^`{|}', "https://shop.com/%22%3C%3E%5E%60%7B|%7D?%22%3C%3E%27^`{|}"),
    ],
)
def test_a_redirect_to_a_public_place_is_followed(location: str, reached: str) -> None:
    assert str(redirect_target(BASE, location, PUBLIC)) == reached


@pytest.mark.parametrize(
    ("location", "kind"),
    [
        ("", "redirect-target"),
        ("   ", "redirect-target"),
        ("https://", "redirect-target"),
        ("https://a.com%2fx/", "redirect-target"),
        ("https://a.com%40x/", "redirect-target"),
        ("https://%00a.com/", "redirect-target"),
        ("https://%ff.com/", "redirect-target"),
        ("https://a.com /x", "redirect-target"),
        ("https://a.com/\x00", "redirect-target"),
        ("https://a..com/", "redirect-target"),
        ("https://a.com:x/", "redirect-target"),
        ("https://u@a.com/", "redirect-target"),
        ("https://a.com\\@b.com/", "redirect-target"),
        ("https://" + "a" * 9000 + ".com/", "redirect-target"),
        ("https://0x7f.1/", "redirect-target"),
        ("http://[::1", "redirect-target"),
        ("http://a.com:99999/", "redirect-target"),
        ("http://2130706433/", "redirect-target"),
        ("ftp://a.com/", "redirect-scheme"),
        ("file:///etc/passwd", "redirect-scheme"),
        ("gopher://example.com/", "redirect-scheme"),
        ("javascript:alert(1)", "redirect-scheme"),
        ("data:text/html,x", "redirect-scheme"),
        ("about:blank", "redirect-scheme"),
        ("intent://a.com", "redirect-scheme"),
        ("http://localhost/", "redirect-address"),
        ("http:///x", "redirect-address"),
        ("////localhost/x", "redirect-address"),
        ("/\\127.0.0.1/x", "redirect-address"),
        ("//%6c%6fcalhost/x", "redirect-address"),
        ("//１２７.0.0.1/x", "redirect-target"),
        ("http://192.168.0.1/", "redirect-address"),
        ("http://169.254.169.254/latest/", "redirect-address"),
        ("http://[::1]/", "redirect-address"),
        ("http://[::ffff:10.0.0.1]/", "redirect-address"),
        ("http://printer.local/", "redirect-address"),
        ("https://a.com:8443/", "redirect-address"),
    ],
)
def test_a_redirect_that_leads_elsewhere_is_not_followed(location: str, kind: str) -> None:
    with pytest.raises(Unfollowed) as caught:
        redirect_target(BASE, location, PUBLIC)
    assert caught.value.kind == kind
    assert caught.value.detail.startswith("it redirects")


def test_the_private_switch_lets_redirects_lead_anywhere() -> None:
    assert (
        str(redirect_target(BASE, "http://localhost:8080/x", ScanPolicy(allow_private=True)))
        == "http://localhost:8080/x"
    )


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
    assert len(sent) <= MAX_COOKIE_HEADER_BYTES
    assert sent.count("=") <= MAX_COOKIES


class Pieces:
    """Answers each request with as many pieces as are asked for; ``taken`` are the paths of those that were read."""

    def __init__(self, size: int) -> None:
        self.large_bodies = BodyLimiter()
        self.taken: list[str] = []
        self._size = size

    @asynccontextmanager
    async def get(self, origin: Origin, path: str, *_: object) -> AsyncIterator[Reply]:
        async def chunks() -> AsyncGenerator[bytes, None]:
            for _ in range(3):
                self.taken.append(path[1:])
                yield b"x" * self._size
                await asyncio.sleep(0)

        yield Reply(200, [], "HTTP/1.1", chunks())


@pytest.mark.parametrize(("size", "order"), [(SMALL_BODY_BYTES + 1, "abcaabbcc"), (SMALL_BODY_BYTES // 3, "abcabcabc")])
async def test_of_large_bodies_one_is_read_at_a_time(size: int, order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aui_tui.scan.network.client.PATIENCE", 30.0)
    pieces = Pieces(size)
    async with asyncio.TaskGroup() as group:
        for name in "abc":
            plan = ProbePlan(name, Url(HOME, f"/{name}"), (), 4 * SMALL_BODY_BYTES)
            group.create_task(probe(cast("HttpClient", pieces), plan, PUBLIC))
    assert "".join(pieces.taken) == order


async def test_a_probe_without_an_answer_says_how_long_it_waited() -> None:
    async def wait(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await closing.wait()
        writer.close()

    closing = asyncio.Event()
    server = await asyncio.start_server(wait, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    access = ScanPolicy(connect_to=(ConnectTo("", None, "127.0.0.1", port),))
    plan = ProbePlan(BROWSER, Url(Origin("http", "shop.com", 80), "/"), (("User-Agent", "x"),), 1000)
    async with Network(access) as network, network.client() as client:
        answer = await probe(client, plan, access, limit=0.2)
    closing.set()
    server.close()
    assert (answer.error, answer.detail) == ("timeout", "no answer within 0.2 s")

"""A function of bytes for each reader of untrusted input, with inputs to begin from and the words of its grammar."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import brotli

from aui_tui.errors import InvalidHost, RecordError
from aui_tui.model import codec, observations
from aui_tui.model.registry import registry
from aui_tui.scan import agent_files, charset, markup, page, robots, target, walls
from aui_tui.text import clean
from tests.cards import SAMPLES
from tests.fuzz import network_targets as network
from tests.model.test_recording import EXAMPLE

Target = Callable[[bytes], None]

STATUSES = (0, 200, 202, 301, 401, 402, 403, 404, 429, 500, 503, 999)


@dataclass(frozen=True)
class Subject:
    """A target with its first inputs and the words that its grammar knows."""

    run: Target
    seeds: tuple[bytes, ...]
    words: tuple[bytes, ...] = ()


def read_target(data: bytes) -> None:
    """A target, or InvalidHost in one clean sentence."""
    text = data.decode("utf-8", "replace")
    for allow_private in (False, True):
        try:
            found = target.parse(text, allow_private=allow_private)
        except InvalidHost as error:
            check_sentence(error)
        else:
            assert found.host.isascii()
            assert len(found.host) <= target.MAX_HOST


def read_robots(data: bytes) -> None:
    """Facts that hang together, and an answer to every question."""
    status = STATUSES[data[0] % len(STATUSES)] if data else 200
    facts = robots.facts(data[1:], status, registry(), "text/plain")
    for policy in (*facts.agents, *facts.crawlers):
        assert (policy.line == 0) is (policy.rule == "")
        assert policy.rule == clean(policy.rule)
    parsed = robots.parse(data)
    path = "/" + data[-40:].decode("utf-8", "replace")
    for token in ("GPTBot", "*", path):
        assert parsed.allows(token, path) in (True, False)
        blocked = parsed.policy(token) == "blocked"
        assert not (blocked and not parsed.groups)


def read_page(data: bytes) -> None:
    """Facts without a problem; titles that are clean."""
    facts = page.read(data)
    assert facts.jsonld_broken <= facts.jsonld
    assert facts.forms_unlabelled <= facts.semantic.forms
    assert facts.title == clean(facts.title)
    assert page.title(data) == clean(page.title(data))


def read_markup(data: bytes) -> None:
    """Tags in order, within the input."""
    at = 0
    for name, _, start, end, after in markup.tags(data):
        assert name
        assert at <= start < end <= after <= len(data)
        at = after
    assert 0 <= markup.readable(data) <= 200


def read_charset(data: bytes) -> None:
    """Text that can be written out."""
    head, _, body = data.partition(b"\n")
    charset.decode(body, head.decode("latin-1")).encode("utf-8", "replace")


def read_walls(data: bytes) -> None:
    """A verdict whose reference is sanitised."""
    status = STATUSES[data[0] % len(STATUSES)] if data else 200
    found = walls.recognise(status, headers_of(data), data, data[:60].decode("latin-1"))
    if found is not None:
        assert len(found.reference) <= 64
        assert all(char.isascii() and (char.isalnum() or char in " ._:-") for char in found.reference)


def read_headers(data: bytes) -> None:
    """Edge names from the table, each once."""
    names = walls.edge(headers_of(data)).split()
    assert len(names) == len(set(names))
    assert set(names) <= {known.name for known in walls.table().edge}
    walls.terms(402, headers_of(data))


def read_files(data: bytes) -> None:
    """A finding, with a note only when the file does not count."""
    for name in ("llms", "ai-plugin", "ucp", "mcp"):
        finding = agent_files.check(name, data, "text/plain", 200)
        assert not (finding.found and finding.note)


def read_codec(data: bytes) -> None:
    """A card that survives a round trip, or RecordError in one sentence."""
    try:
        card = codec.decode_card(data)
    except RecordError as error:
        check_sentence(error)
    else:
        assert codec.decode_card(codec.encode_card(card)) == card


def check_sentence(error: Exception) -> None:
    """An error is one clean sentence."""
    assert str(error)
    assert str(error) == clean(str(error))


def headers_of(data: bytes) -> dict[str, str]:
    """Read ``name: value`` lines as headers."""
    lines = (line.partition(b":") for line in data[:600].split(b"\n"))
    return {name.decode("latin-1").strip(): value.decode("latin-1").strip() for name, _, value in lines}


_MARKUP = tuple(
    piece.encode()
    for piece in (
        *(
            "<main>",
            "<nav role=none>",
            "<form>",
            "<input>",
            "<label for=a>",
            "<script>",
            "</script>",
            "<svg>",
            "<!--",
            "-->",
        ),
        *(
            "<template>",
            "<noscript>",
            "<title>",
            "</title>",
            "<script type=application/ld+json>",
            "<meta charset=",
            "&#x",
        ),
        *(' aria-label="', " hidden", "<table>", "<select>", "<a href='", "</", "<!", "<?", "]]>", "og:site_name"),
    )
)
_ROBOTS = (
    b"User-agent: ",
    b"Disallow: /",
    b"Allow: /",
    b"*",
    b"$",
    b"%2F",
    b"\r\n",
    b"GPTBot",
    b"Content-Signal: ",
    b"#",
)
_WALL_WORDS = tuple(
    words.encode()
    for signal in walls.table().signal
    for words in (*signal.code, *signal.text, signal.title, signal.header, signal.url)
    if words
)
_EDGE_WORDS = tuple(words.encode() for known in walls.table().edge for words in (*known.server, *known.header))

SUBJECTS: dict[str, Subject] = {
    "target": Subject(
        read_target,
        (b"https://example.com:443/x", b"[::1]:80", b"0x7f.1", "bücher.example".encode()),
        (b"://", b"@", b"xn--", b"[::ffff:", b"0x", b".", b":", b"\\", b"%", "。".encode(), b"localhost", b"//"),
    ),
    "robots": Subject(read_robots, (b"\1User-agent: GPTBot\nDisallow: /a*b$\nAllow: /\n",), _ROBOTS),
    "page": Subject(read_page, (b"<title>x</title><main><form><label>a<input></label></form>",), _MARKUP),
    "markup": Subject(read_markup, (b"<a b='>'>x</a><script></script><!-- -->",), _MARKUP),
    "charset": Subject(
        read_charset,
        (b"text/html; charset=koi8-r\n<meta charset=utf-16>",),
        (*_MARKUP, b"charset=", b"http-equiv=content-type"),
    ),
    "walls": Subject(
        read_walls, (b"\6server: cloudflare\n\n<title>Just a moment...</title>Ray ID: 1",), (*_WALL_WORDS, *_MARKUP)
    ),
    "headers": Subject(read_headers, (b"Server: nginx/1\nVia: 1.1 varnish",), _EDGE_WORDS),
    "files": Subject(
        read_files,
        (b"# Shop", b'{"ucp":{"version":"2026-01-01","services":{}}}', b'{"name":"x","version":"1"}'),
        (b"# ", b"```", b'"ucp"', b"{", b"[", b'"serverInfo"', b"<html", b"NaN", b"1e999"),
    ),
    "codec": Subject(
        read_codec,
        tuple(codec.encode_card(card) for card in SAMPLES),
        (b"null", b"1e999", b"NaN", b"[]", b"{}", b'"v0.1"', b"\\ud800", b"-1", b"\x00"),
    ),
    "redirect": Subject(
        network.read_location,
        (b"https://www.shop.com/x?y#z", b"../up", b"//other.com", b"http://127.0.0.1/", b"?q"),
        (b"://", b"//", b"..", b"@", b"[::1]", b":80", b":8080", b"javascript:", b"%", b"#", b"?", b"\\", b"localhost"),
    ),
    "coding": Subject(
        network.read_coding,
        (
            b"gzip\n" + gzip.compress(b"body"),
            b"deflate\n" + zlib.compress(b"body"),
            b"br\n" + brotli.compress(b"body"),
            b"gzip, gzip\n" + gzip.compress(gzip.compress(b"body")),
        ),
        (b"gzip", b"deflate", b"br", b"identity", b", ", b"\x1f\x8b", b"\x78\x9c"),
    ),
    "cookie": Subject(
        network.read_cookie,
        (b"x\na=1; Path=/; Domain=shop.com\nb=2; Secure\nc=3; Max-Age=0",),
        (b"=", b"; ", b"Path=/", b"Domain=", b"shop.com", b"Secure", b"Max-Age=0", b"\n"),
    ),
    "recording": Subject(
        network.read_recording,
        (observations.encode_recording(EXAMPLE),),
        (b"null", b"-1", b'"browser"', b'"status": ', b"[]", b"{}", b"999999999999", b"\\u001b", b'"timeout"'),
    ),
}

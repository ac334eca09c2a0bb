"""A function of bytes for each reader of untrusted input, with inputs to begin from and the words of its grammar."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import brotli

try:
    from compression import zstd
except ImportError:
    from backports import zstd

from aui_tui.errors import InvalidHost, RecordError
from aui_tui.model import codec, observations
from aui_tui.model.observations import READABLE_ENOUGH, UNFOLLOWED
from aui_tui.model.registry import registry
from aui_tui.scan import agent_files, charset, decode, markup, page, probes, robots, target, walls
from aui_tui.scan.policy import PUBLIC
from aui_tui.scan.probes import MAX_COOKIE_HEADER_BYTES, CookieJar, Unfollowed, Url
from aui_tui.scan.target import WEB_PORTS, Origin
from aui_tui.text import clean
from tests.cards import SAMPLES
from tests.model.test_recording import EXAMPLE

Target = Callable[[bytes], None]

HOME = Url(Origin("https", "shop.com", 443), "/a/b?c")
ROOM = 5000
STATUSES = (0, 200, 202, 301, 401, 402, 403, 404, 429, 500, 503, 999)


@dataclass(frozen=True)
class Subject:
    """A target with its first inputs and the words that its grammar knows."""

    run: Target
    seeds: tuple[bytes, ...]
    words: tuple[bytes, ...] = ()


def status_of(data: bytes) -> int:
    """Take the status of an answer from its first byte."""
    return STATUSES[data[0] % len(STATUSES)] if data else 200


def read_target(data: bytes) -> None:
    """A target in its one spelling, or InvalidHost in one clean sentence."""
    text = data.decode("utf-8", "replace")
    for private in (False, True):
        try:
            found = target.parse(text, allow_private=private)
        except InvalidHost as error:
            check_sentence(error)
            continue
        assert found.host.isascii()
        assert found.host == found.host.lower()
        assert len(found.host) <= target.MAX_HOST
        again = target.parse(f"{found.scheme or 'https'}://{found.site}", allow_private=private)
        assert (again.site, again.origins[0]) == (found.site, found.origins[0])


def read_robots(data: bytes) -> None:
    """Facts that hang together, and an answer to every question."""
    body = data[1:]
    facts = robots.facts(body, status_of(data), registry(), "text/plain")
    assert (len(facts.agents), len(facts.crawlers)) == (len(registry().agents), len(registry().crawlers))
    for policy in (*facts.agents, *facts.crawlers):
        assert 0 <= policy.line <= len(body.splitlines())
        assert (policy.line == 0) is (policy.rule == "")
        assert (policy.spelling == "") is (policy.policy == "unlisted")
        assert policy.effective in ({"unknown"} if facts.kind == "unknown" else {"open", "partial", "blocked"})
        assert policy.rule == clean(policy.rule)
    parsed = robots.parse(data)
    path = "/" + data[-40:].decode("utf-8", "replace")
    for token in ("GPTBot", "*", path):
        assert parsed.allows(token, path) in (True, False)
        assert parsed.allows(token, "https://h" + path) in (True, False)
        assert parsed.policy(token) in ("unlisted", "blocked", "partial", "allowed")
        assert not (parsed.policy(token) == "blocked" and not parsed.groups)


def read_page(data: bytes) -> None:
    """Facts that hang together, with a problem only where it is no page; titles that are short and clean."""
    facts = page.read(data).facts
    assert facts.problem in ("", "it is empty", "it has nothing to read") or facts.problem.endswith(", not a page")
    assert 0 <= facts.jsonld_broken <= facts.jsonld
    assert 0 <= facts.forms_unlabelled <= facts.semantic.forms
    assert not facts.noscript_shell or (facts.readable < READABLE_ENOUGH and facts.scripts > 0)
    for text in (facts.title, facts.site_name, facts.description, page.unread(data, "", "").facts.title):
        assert text == clean(text)
        assert len(text) <= markup.TITLE_LIMIT


def read_markup(data: bytes) -> None:
    """Tags in order, within the input; a short input costs no parser too much."""
    assert markup.parser_risk(data) == ""
    markup.title(data)
    at = 0
    for name, _, start, end, after in markup.tags(data):
        assert name
        assert at <= start < end <= after <= len(data)
        at = after
    assert 0 <= markup.readable(data) <= READABLE_ENOUGH


def read_charset(data: bytes) -> None:
    """Text that can be written out."""
    head, _, body = data.partition(b"\n")
    charset.decode(body, head.decode("latin-1")).encode("utf-8", "replace")


def read_walls(data: bytes) -> None:
    """A verdict, not beside terms of payment, whose reference is sanitised."""
    status, headers = status_of(data), headers_of(data)
    found = walls.recognise(status, headers, data, data[:60].decode("latin-1"))
    if found is not None:
        assert not walls.terms(status, headers)
        assert len(found.reference) <= 64
        assert all(char.isascii() and (char.isalnum() or char in " ._:-") for char in found.reference)


def read_headers(data: bytes) -> None:
    """Edge names from the table, each once, whatever the case of a field's name."""
    headers = headers_of(data)
    names = walls.edge(headers).split()
    assert len(names) == len(set(names))
    assert set(names) <= {known.name for known in walls.table().edge}
    assert walls.edge({name.upper(): value for name, value in headers.items()}) is not None
    walls.terms(402, headers)


def read_files(data: bytes) -> None:
    """A file counts where it has status 200 and its own path, and then there is nothing to note."""
    for name in ("llms", "ai-plugin", "ucp", "mcp"):
        for status, unchanged in ((200, True), (200, False), (404, True), (0, True)):
            finding = agent_files.check(name, data, "text/plain", status, unchanged)
            assert not (finding.found and (finding.note or status != 200 or not unchanged))


def read_codec(data: bytes) -> None:
    """A card that survives a round trip, or RecordError in one sentence."""
    try:
        card = codec.decode_card(data)
    except RecordError as error:
        check_sentence(error)
    else:
        assert codec.decode_card(codec.encode_card(card)) == card


def read_location(data: bytes) -> None:
    """An address on the public web in plain ASCII, or a word and a clean sentence that say why not."""
    try:
        found = probes.redirect_target(HOME, data.decode("utf-8", "replace"), PUBLIC)
    except Unfollowed as error:
        refusal = error
    else:
        check_public(found)
        return
    assert refusal.kind in UNFOLLOWED
    assert refusal.detail == clean(refusal.detail)


def check_public(found: Url) -> None:
    """An address on the public web, in plain ASCII."""
    assert found.origin.port in WEB_PORTS
    assert target.parse_address(found.origin.host) is None or target.is_public(found.origin.host)
    assert str(found).isascii()
    assert found.path.startswith("/")
    assert not any(char in found.path for char in "\r\n\t #")


def read_coding(data: bytes) -> None:
    """At most the room that there is, however the bytes are cut."""
    header, _, body = data.partition(b"\n")
    chain = decode.decoders(header.decode("latin-1"))
    if chain is None:
        return
    out = b""
    with suppress(decode.DecodeError):
        for start in range(0, len(body), 7):
            out += decode.decode(chain, body[start : start + 7], ROOM - len(out))
    assert len(out) <= ROOM


def read_cookie(data: bytes) -> None:
    """A Cookie header that is one plain line."""
    jar = CookieJar()
    path, *values = data.decode("utf-8", "replace").split("\n")
    jar.take(HOME.origin, f"/{path}", [("set-cookie", value) for value in values])
    for host in ("shop.com", "www.shop.com", "other.com"):
        sent = jar.header(Origin("http", host, 80), f"/{path}")
        assert sent.isascii()
        assert all(char.isprintable() for char in sent)
        assert len(sent) <= MAX_COOKIE_HEADER_BYTES


def read_recording(data: bytes) -> None:
    """Observations that survive a round trip, or RecordError in one sentence."""
    try:
        found = observations.decode_recording(data)
    except RecordError as error:
        check_sentence(error)
    else:
        assert observations.decode_recording(observations.encode_recording(found)) == found


def check_sentence(error: Exception) -> None:
    """An error is one clean sentence."""
    assert str(error)
    assert str(error) == clean(str(error))


def headers_of(data: bytes) -> dict[str, str]:
    """Read ``name: value`` lines as headers."""
    lines = (line.partition(b":") for line in data[:600].split(b"\n"))
    return {name.decode("latin-1").strip(): value.decode("latin-1").strip() for name, _, value in lines}


_TAGS = """
<main> </main> <nav> </nav> <div> </div> <p> <b> <form> </form> <input> <label> </label> <svg> </svg> <title> </title>
<script> </script> <template> <noscript> <table> </table> <select> <!-- --> </ <! <? ]]> charset=utf-16
&amp; &#0; &#x {} \0 \x1b[2J \ufeff é og:site_name words
"""
_MARKUP = tuple(
    piece.encode()
    for piece in (
        *_TAGS.split(),
        *("<nav role=none>", "<div hidden>", "<label for=a>", "<a aria-labelledby=' '>", ' aria-label="', "<a href='"),
        *("<script type=application/ld+json>", "<meta property=og:site_name content=x>", "<meta charset=", " hidden"),
    )
)
_ROBOTS = (
    *(b"User-agent: ", b"user-AGENT :", b"Disallow: /", b"Allow: /", b"Content-Signal: ", b"Sitemap: ", b"GPTBot"),
    *(b"*", b"$", b"#", b"%2F", b"\r\n", b"\r", b"\n", b"\t:\t", b"ChatGPT-User/1.0", b"/*a$"),
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
        (
            b"://",
            b"@",
            b"xn--",
            b"[::ffff:",
            b"0x",
            b".",
            b":",
            b"\\",
            b"%",
            "。①ß\u200d".encode(),
            b"localhost",
            b"//",
        ),
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
        read_location,
        (b"https://www.shop.com/x?y#z", b"../up", b"//other.com", b"http://127.0.0.1/", b"?q"),
        (b"://", b"//", b"..", b"@", b"[::1]", b":80", b":8080", b"javascript:", b"%", b"#", b"?", b"\\", b"localhost"),
    ),
    "coding": Subject(
        read_coding,
        (
            b"gzip\n" + gzip.compress(b"body"),
            b"deflate\n" + zlib.compress(b"body"),
            b"br\n" + brotli.compress(b"body"),
            b"gzip, gzip\n" + gzip.compress(gzip.compress(b"body")),
            b"zstd\n" + zstd.compress(b"body"),
        ),
        (b"gzip", b"deflate", b"br", b"identity", b", ", b"\x1f\x8b", b"\x78\x9c"),
    ),
    "cookie": Subject(
        read_cookie,
        (b"x\na=1; Path=/; Domain=shop.com\nb=2; Secure\nc=3; Max-Age=0",),
        (b"=", b"; ", b"Path=/", b"Domain=", b"shop.com", b"Secure", b"Max-Age=0", b"\n"),
    ),
    "recording": Subject(
        read_recording,
        (observations.encode_recording(EXAMPLE),),
        (b"null", b"-1", b'"browser"', b'"status": ', b"[]", b"{}", b"999999999999", b"\\u001b", b'"timeout"'),
    ),
}

"""Block and challenge pages, machine-readable terms, and the names of edges and servers.

The signals are data (``walls.toml``); this module only knows how tiers decide. Substring and header tests alone, on
the title and the first 40 KiB of the body: code apart from text, so that a page about walls is not taken for one.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache, cached_property, lru_cache
from typing import Final, NamedTuple

import msgspec

from aui_tui.model.observations import Challenge, joined_fields
from aui_tui.packaged import read_table
from aui_tui.scan import charset, markup

REFERENCE_LIMIT: Final = 64

_TAG: Final = re.compile(r"<[a-zA-Z/!][^>]*+>?+")
_REFERENCE: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 ._:-")


class Signal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One row of ``walls.toml``: it matches when each test that it has matches."""

    vendor: str
    tier: str
    header: str = ""
    title: str = ""
    code: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    url: str = ""
    refusing: bool = False

    @property
    def beside_body(self) -> bool:
        """It needs more than strings of the body, which any long page may quote."""
        return bool(self.header or self.title or self.url)

    def words(self) -> str:
        """The signal for a person, as it is written in the table."""
        parts = []
        if self.header:
            parts.append(f"header {self.header}")
        if self.title:
            parts.append(f"title {self.title}")
        parts += (*self.code, *self.text)
        if self.url:
            parts.append(f"address {self.url}")
        return " with ".join(parts)


class Captcha(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One row of ``walls.toml``: the widget of a captcha, known by one string of each kind and none of ``without``."""

    vendor: str
    script: tuple[str, ...]
    widget: tuple[str, ...]
    without: tuple[str, ...] = ()


class Reference(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a vendor writes the id to quote: a header, or the text ``after`` which it stands."""

    vendor: str
    header: str = ""
    after: str = ""


class Edge(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A name, and the headers and beginnings of Server by which it is known."""

    name: str
    server: tuple[str, ...] = ()
    header: tuple[str, ...] = ()


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole of ``walls.toml``."""

    refusing: frozenset[int]
    bare: int
    short: int
    nothing: int
    head: int
    signal: tuple[Signal, ...]
    captcha: tuple[Captcha, ...]
    reference: tuple[Reference, ...]
    edge: tuple[Edge, ...]


@cache
def table() -> Table:
    """Return the packaged signals, read once."""
    return read_table("scan/walls.toml", Table)


@cache
def _strongest_first() -> tuple[Signal, ...]:
    return tuple(sorted(table().signal, key=lambda signal: signal.tier))


def challenged(status: int, headers: Mapping[str, str], body: bytes) -> bool:
    """Tell whether an answer is a block page or a challenge."""
    return recognise(status, headers, body) is not None


def recognise(status: int, headers: Mapping[str, str], body: bytes, url: str = "") -> Challenge | None:
    """Return the block or challenge page that an answer is, or None.

    ``headers`` in any case, duplicates joined with commas; ``url``: the final address. Tier A decides alone, by the
    body only with a refusing status or on a short page; tier B with a refusing status or on a bare page; so does a
    captcha. Without a refusing status the body decides only on a page without the root of an app and without controls
    of its own, and its text only where it has no landmarks either; tier C only on one with nothing to read. Terms (402
    with a price) are not a challenge.
    """
    if terms(status, headers, body):
        return None
    fields = _fold(headers)
    page = _Page(status, body, fields.get("content-type", ""))
    url = url.lower()
    for signal in page.head.signals:
        if not _matches(signal, page, fields, url):
            continue
        limit = {"A": table().short, "B": table().bare}.get(signal.tier, table().nothing)
        alone = signal.tier == "A" and signal.beside_body
        bare = page.is_bare and (signal.code or not page.parts.parts)
        if alone or (page.refusing and signal.tier != "C") or (bare and page.under(limit)):
            return _challenge(signal, fields, page.head.text)
    return _captcha(page)


def marked(status: int, headers: Mapping[str, str], body: bytes, url: str = "") -> bool:
    """Tell whether an answer has the marks of a wall, however long its page is, so that nothing may lead on from it."""
    fields = _fold(headers)
    page = _Page(status, body, fields.get("content-type", ""))
    strong = (signal for signal in page.head.signals if signal.tier != "C")
    has_signal = any(_matches(signal, page, fields, url.lower()) for signal in strong)
    return has_signal or recognise(status, headers, body, url) is not None


def terms(status: int, headers: Mapping[str, str], body: bytes = b"") -> bool:
    """Tell whether an answer is a 402 that names its price to machines.

    Pay per crawl, x402 (a field, or the JSON body of its first version), L402 and the Payment scheme of HTTP.
    """
    if status != 402:
        return False
    fields = _fold(headers)
    if any(name in fields for name in ("crawler-price", "crawler-error", "payment-required")):
        return True
    schemes = {word.split(" ")[0] for word in fields.get("www-authenticate", "").lower().split(", ")}
    if not schemes.isdisjoint(("payment", "l402", "lsat")):
        return True
    try:
        price = msgspec.json.decode(body[: 1 << 16]) if b"x402Version" in body[: 1 << 16] else None
    except (ValueError, RecursionError):
        return False
    return isinstance(price, dict) and isinstance(price.get("accepts"), list)


def x402(value: str) -> bool:
    """Tell whether a PAYMENT-REQUIRED field, perhaps cut short, is base64 of JSON with x402Version."""
    try:
        return b'"x402Version"' in base64.b64decode(value[: len(value) // 4 * 4], validate=True)
    except (binascii.Error, ValueError):
        return False


def edge(headers: Mapping[str, str]) -> str:
    """Return the names of edges and servers in lower case, CDN first, then server, each once."""
    fields = _fold(headers)
    server = fields.get("server", "").lower().strip()
    beginnings, tests = _edge_tests()
    numbers = {number for number, name in beginnings if server.startswith(name) and _is_whole(name, server)}
    for name in ("", *fields):
        numbers.update(number for number, test in tests.get(name, ()) if _has(fields, test))
    return " ".join(table().edge[number].name for number in sorted(numbers))


@cache
def _edge_tests() -> tuple[list[tuple[int, str]], dict[str, list[tuple[int, str]]]]:
    """Return the beginnings of Server, and the other tests by their field, empty for many; each with its edge's number.

    Few fields are tested, and most answers have none of them.
    """
    beginnings: list[tuple[int, str]] = []
    tests: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for number, entry in enumerate(table().edge):
        beginnings += [(number, name.lower()) for name in entry.server]
        for test in entry.header:
            name, _, starred = _test(test)
            tests["" if starred else name].append((number, test))
    return beginnings, dict(tests)


class _Head(NamedTuple):
    """The head of a body: its text, and what of the table its title and strings allow, the strongest signals first."""

    text: str
    signals: tuple[Signal, ...]
    captchas: tuple[Captcha, ...]


@lru_cache(maxsize=128)
def _head(body: bytes, content_type: str) -> _Head:
    """Return the head of a body. Many sites give every identity the same one, within half a second."""
    text = charset.decode(body, content_type)
    folded = _fold_code(text)
    title = _fold_text(markup.title(text.encode("utf-8", "replace")))
    signals = (
        signal
        for signal in _strongest_first()
        if (not signal.title or _is_title(title, _fold_text(signal.title)))
        and all(_fold_code(words) in folded for words in (*signal.code, *signal.text))
    )
    captchas = (captcha for captcha in table().captcha if any(_fold_code(words) in folded for words in captcha.script))
    return _Head(text, tuple(signals), tuple(captchas))


class _Page:
    """An answer as the signals see it; what takes a pass over the body is found when it is asked for."""

    def __init__(self, status: int, body: bytes, content_type: str) -> None:
        self._body = body
        self._content_type = content_type
        self.status = status
        self.refusing = status in table().refusing
        self.html = not content_type or "html" in content_type.lower()
        self.head = _head(body[: table().head], content_type)

    @cached_property
    def parts(self) -> markup.Parts:
        """Code and text of the head."""
        return markup.parts(self.head.text.encode("utf-8", "replace"))

    @cached_property
    def code(self) -> str:
        """Code of the head, folded."""
        return _fold_code(self.parts.code.decode("utf-8", "replace"))

    @cached_property
    def text(self) -> str:
        """Text of the head in lower case."""
        return self.parts.text.decode("utf-8", "replace").lower()

    def holds(self, code: Sequence[str], text: Sequence[str]) -> bool:
        """Tell whether the strings of a signal, which are all in the head, stand where they must."""
        if self.refusing:
            return True
        return (
            self.html
            and all(_fold_code(words) in self.code for words in code)
            and all(words.lower() in self.text for words in text)
        )

    @cached_property
    def readable(self) -> int:
        """Readable characters of the whole body, counted up to the largest limit."""
        text = self.head.text
        if len(self._body) > table().head:
            text = charset.decode(self._body, self._content_type)
        return markup.readable(text.encode("utf-8", "replace"), table().short)

    @property
    def is_bare(self) -> bool:
        """It has no root of an app, and no control of its own."""
        return not self.parts.root and self.parts.controls == 0

    def under(self, limit: int) -> bool:
        """Tell whether fewer than ``limit`` characters can be read."""
        return self.readable < limit


def _matches(signal: Signal, page: _Page, fields: dict[str, str], url: str) -> bool:
    """Tell whether a signal that the head of ``page`` allows matches in all that it needs."""
    return not (
        (signal.refusing and not page.refusing)
        or (signal.header and not _has(fields, signal.header))
        or (signal.url and signal.url.lower() not in url)
        or ((signal.code or signal.text) and not page.holds(signal.code, signal.text))
    )


def _is_title(title: str, pattern: str) -> bool:
    start, star, end = pattern.partition("*")
    if not star:
        return title == pattern
    return len(title) >= len(start) + len(end) and title.startswith(start) and title.endswith(end)


def _captcha(page: _Page) -> Challenge | None:
    """Return the captcha that is all a page has: hardly any text, and no other control."""
    if not page.html or not (page.refusing or 200 <= page.status <= 299):
        return None
    for captcha in page.head.captchas:
        if _shows(captcha, page):
            name = f"a captcha and nothing else ({captcha.vendor})"
            return Challenge(vendor=captcha.vendor, signal=name, tier="B")
    return None


def _shows(captcha: Captcha, page: _Page) -> bool:
    """Tell whether the widget is all of a page; with nothing to read, its script is enough."""
    widget = any(_fold_code(words) in page.code for words in captcha.widget)
    return (
        page.is_bare
        and not page.parts.parts
        and page.under(table().bare if widget else table().nothing)
        and any(_fold_code(words) in page.code for words in captcha.script)
        and not any(_fold_code(words) in page.code for words in captcha.without)
    )


def _has(fields: dict[str, str], test: str) -> bool:
    name, words, starred = _test(test)
    if starred:
        return any(field.startswith(name) for field in fields)
    value = fields.get(name)
    return value is not None and (not words or words in value.lower())


@lru_cache(maxsize=256)  # the tests of the table
def _test(text: str) -> tuple[str, str, bool]:
    """Return name and words of a test of a field, in lower case, and whether more may follow the name."""
    name, _, words = text.lower().partition(":")
    return name.removesuffix("*"), words.strip(), name.endswith("*")


def _is_whole(name: str, server: str) -> bool:
    """Tell whether the ``name`` at the beginning of a Server field does not go on."""
    return not (name[-1].isalpha() and server[len(name) : len(name) + 1].isalpha())


def _challenge(signal: Signal, fields: dict[str, str], text: str) -> Challenge:
    return Challenge(
        vendor=signal.vendor, signal=signal.words(), tier=signal.tier, reference=_reference(signal.vendor, fields, text)
    )


def _reference(vendor: str, fields: dict[str, str], text: str) -> str:
    for place in table().reference:
        if place.vendor != vendor:
            continue
        reference = fields.get(place.header, "").split(",")[0] if place.header else _after(place.after, text)
        reference = "".join(char for char in reference.strip() if char in _REFERENCE).strip()[:REFERENCE_LIMIT]
        if reference:
            return reference
    return ""


def _after(mark: str, text: str) -> str:
    """Return the word that follows ``mark`` in a page; tags and punctuation between them are passed over."""
    plain = markup.unescape(text)
    at = plain.lower().find(mark.lower())
    rest = _TAG.sub(" ", plain[at + len(mark) : at + len(mark) + 400]) if at >= 0 else ""
    words = "".join(char if char in _REFERENCE else " " for char in rest).split()
    return next((word.strip(".:") for word in words if any(map(str.isalnum, word))), "")


def _fold(headers: Mapping[str, str]) -> dict[str, str]:
    return joined_fields((str(name).lower(), str(value)) for name, value in headers.items())


@lru_cache(maxsize=512)  # titles of the table above all
def _fold_text(text: str) -> str:
    return " ".join(text.split()).lower()


def _fold_code(code: str) -> str:
    """Return code in lower case without quotation marks, which differ from writer to writer."""
    return code.lower().replace('"', "").replace("'", "")

"""Block and challenge pages, machine-readable terms, and the names of edges and servers.

The signals are data (``walls.toml``); this module only knows how tiers decide. Substring and header tests alone, on
the title and the first 40 KiB of the body.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

import msgspec

from aui_tui.engine import charset, markup
from aui_tui.records.observations import Challenge

REFERENCE_LIMIT: Final = 64

_REFERENCE: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 ._:-")


class Signal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One row of ``walls.toml``: it matches when each test that it has matches."""

    vendor: str
    tier: str
    header: str = ""
    title: str = ""
    in_title: str = ""
    body: tuple[str, ...] = ()
    url: str = ""
    not_2xx: bool = False

    def words(self) -> str:
        """The signal for a person, as it is written in the table."""
        parts = []
        if self.header:
            parts.append(f"header {self.header}")
        if self.title:
            parts.append(f"title {self.title}")
        if self.in_title:
            parts.append(f"title with {self.in_title}")
        parts += self.body
        if self.url:
            parts.append(f"address {self.url}")
        return " with ".join(parts)


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
    head: int
    signal: tuple[Signal, ...]
    reference: tuple[Reference, ...]
    edge: tuple[Edge, ...]


@cache
def table() -> Table:
    """Return the packaged signals, read once."""
    data: dict[str, Any] = tomllib.loads(files("aui_tui.engine").joinpath("walls.toml").read_text(encoding="utf-8"))
    return msgspec.convert(data, Table)


def challenged(status: int, headers: Mapping[str, str], body: bytes) -> bool:
    """Tell whether an answer is a block page or a challenge."""
    return recognise(status, headers, body) is not None


def recognise(
    status: int, headers: Mapping[str, str], body: bytes, url: str = "", title: str | None = None
) -> Challenge | None:
    """Return the block or challenge page that an answer is, or None.

    ``headers`` in any case, duplicates joined with commas; ``url``: the final address; ``title``: that of the page
    where it is known already. Tier A decides alone; tier B with a refusing status, or on a page of fewer than 200
    readable characters. Terms (402 with a price) are no challenge.
    """
    if terms(status, headers):
        return None
    signals = table()
    fields = _fold(headers)
    content_type = fields.get("content-type", "")
    head = _head(body[: signals.head], content_type)
    known = head.title if title is None else _fold_text(title)
    address = url.lower()
    weak: Signal | None = None
    for signal in signals.signal:
        if (signal.tier == "B" and weak is not None) or not _matches(
            signal, status, fields, known, head.words, address
        ):
            continue
        if signal.tier == "A":
            return _challenge(signal, fields, head.text)
        weak = signal
    if weak is None:
        return None
    if status in signals.refusing or _bare(body, content_type, head.text, signals):
        return _challenge(weak, fields, head.text)
    return None


def terms(status: int, headers: Mapping[str, str]) -> bool:
    """Tell whether an answer is a 402 that names its price to machines (pay per crawl, x402)."""
    if status != 402:
        return False
    fields = _fold(headers)
    return any(name in fields for name in ("crawler-price", "crawler-error", "payment-required"))


def edge(headers: Mapping[str, str]) -> str:
    """Return the names of edges and servers in lower case, CDN first, then server, each once."""
    fields = _fold(headers)
    server = fields.get("server", "").lower().strip()
    return " ".join(
        known.name
        for known in table().edge
        if any(_begins(server, name.lower()) for name in known.server)
        or any(_has(fields, test) for test in known.header)
    )


class _Head(NamedTuple):
    """The head of a body: its text, its title folded, and those words of the signals that stand in it."""

    text: str
    title: str
    words: frozenset[str]


@lru_cache(maxsize=128)
def _head(body: bytes, content_type: str) -> _Head:
    """Return the head of a body. Many sites give every identity the same one, within half a second."""
    text = charset.decode(body, content_type)
    lowered = text.lower()
    title = _fold_text(markup.title(text.encode("utf-8", "replace")))
    return _Head(text, title, frozenset(words for words in _sought() if words.lower() in lowered))


@cache
def _sought() -> frozenset[str]:
    return frozenset(words for signal in table().signal for words in signal.body)


def _matches(signal: Signal, status: int, fields: dict[str, str], title: str, words: frozenset[str], url: str) -> bool:
    return not (
        (signal.not_2xx and 200 <= status <= 299)
        or (signal.header and not _has(fields, signal.header))
        or (signal.title and title != _fold_text(signal.title))
        or (signal.in_title and _fold_text(signal.in_title) not in title)
        or (signal.url and signal.url.lower() not in url)
        or not words.issuperset(signal.body)
    )


def _has(fields: dict[str, str], test: str) -> bool:
    name, colon, words = test.partition(":")
    if name.endswith("*"):
        return any(field.startswith(name[:-1].lower()) for field in fields)
    value = fields.get(name.lower())
    return value is not None and (not colon or words.strip().lower() in value.lower())


def _begins(server: str, name: str) -> bool:
    return server.startswith(name) and not (name[-1].isalpha() and server[len(name) : len(name) + 1].isalpha())


def _bare(body: bytes, content_type: str, text: str, signals: Table) -> bool:
    if len(body) > signals.head:
        text = charset.decode(body, content_type)
    return markup.readable(text.encode("utf-8", "replace"), signals.bare) < signals.bare


def _challenge(signal: Signal, fields: dict[str, str], text: str) -> Challenge:
    return Challenge(
        vendor=signal.vendor, signal=signal.words(), tier=signal.tier, reference=_reference(signal.vendor, fields, text)
    )


def _reference(vendor: str, fields: dict[str, str], text: str) -> str:
    for place in table().reference:
        if place.vendor != vendor:
            continue
        found = fields.get(place.header, "").split(",")[0] if place.header else _after(place.after, text)
        found = "".join(char for char in found.strip() if char in _REFERENCE).strip()[:REFERENCE_LIMIT]
        if found:
            return found
    return ""


def _after(mark: str, text: str) -> str:
    """Return the word that follows ``mark`` in a page; tags and punctuation between them are passed over."""
    plain = markup.unescape(text)
    at = plain.lower().find(mark.lower())
    if at < 0:
        return ""
    rest = plain[at + len(mark) : at + len(mark) + 400]
    shown: list[str] = []
    while rest:
        before, opening, after = rest.partition("<")
        shown.append(before)
        if opening and (after[:1].isalpha() or after[:1] in ("/", "!")):
            shown.append(" ")
            rest = after.partition(">")[2]
        else:
            rest = after
    words = "".join(char if char in _REFERENCE else " " for char in "".join(shown)).split()
    return next((word.strip(".:") for word in words if any(map(str.isalnum, word))), "")


def _fold(headers: Mapping[str, str]) -> dict[str, str]:
    fields: dict[str, str] = {}
    for name, value in headers.items():
        key = str(name).lower()
        fields[key] = f"{fields[key]}, {value}" if key in fields else str(value)
    return fields


def _fold_text(text: str) -> str:
    return " ".join(text.split()).lower()

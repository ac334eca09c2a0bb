"""The character encoding of a page, and its text.

HTML Standard 13.2.3.2: byte order mark, then the charset of Content-Type, then the meta prescan of the first 1,024
bytes, then (as a parser that meets a later meta element would change its mind) the first meta element outside
scripts and styles. Only the labels of the Encoding Standard (section 4.2) count; anything else, ``replacement`` and
``x-user-defined`` included, is UTF-8 with replacement.
"""

from __future__ import annotations

import re
from pathlib import Path
from types import MappingProxyType
from typing import Final

from aui_tui.scan import markup

_LINES: Final = Path(__file__).with_name("charsets.txt").read_text(encoding="ascii").splitlines()
_rows = [line.split() for line in _LINES if not line.startswith("#")]

ENCODING: Final = MappingProxyType({label: row[0] for row in _rows for label in row[2:]})
"""Label to name of the encoding, both in lower case."""
CODEC: Final = MappingProxyType({row[0]: row[1] for row in _rows})
"""Name of the encoding to the Python codec that decodes it."""


HTML_TYPES: Final = ("text/html", "application/xhtml+xml")
FEED: Final = re.compile(rb"<(?:rss|feed|rdf:RDF)[\s>]")
"""The root of a feed."""
PRESCAN: Final = 1024
LATE_PRESCAN: Final = 1 << 16
LATE_TAGS: Final = 2_000
DEFAULT: Final = "utf-8"

_CONTENT: Final = re.compile(
    rb"""charset[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)"|'([^']*)'|([^\t\n\f\r ;"']+))""", re.IGNORECASE
)
"""A charset in the content of a meta element (HTML Standard 2.5.1)."""
_BOMS: Final = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16be"), (b"\xff\xfe", "utf-16le"))


def decode(body: bytes, content_type: str = "") -> str:
    """Return the text of ``body``; what cannot be decoded becomes U+FFFD. Never raises."""
    mark = next((bom for bom, _ in _BOMS if body.startswith(bom)), b"")
    return body[len(mark) :].decode(CODEC[decide(body, content_type)], "replace")


def to_utf8(body: bytes, content_type: str = "") -> bytes:
    """Return ``body`` in UTF-8, as the passes of ``markup`` want it. Never raises."""
    return decode(body, content_type).encode("utf-8", "replace")


def decide(body: bytes, content_type: str = "") -> str:
    """Return the name of the encoding (a key of ``CODEC``) in which ``body`` is read."""
    for bom, encoding in _BOMS:
        if body.startswith(bom):
            return encoding
    return from_content_type(content_type) or from_meta(body) or DEFAULT


def in_meta_alone(body: bytes, content_type: str = "") -> str:
    """Return the encoding of a page that a meta element alone names and that matters; else an empty string."""
    marked = any(body.startswith(bom) for bom, _ in _BOMS)
    if body.isascii() or marked or from_content_type(content_type):
        return ""
    return from_meta(body)


def lookup(label: str) -> str:
    """Return the encoding of a label (Encoding Standard 4.2), or an empty string when there is none."""
    return ENCODING.get(label.strip("\t\n\f\r ").lower(), "")


def media_type(content_type: str) -> str:
    """Return the media type of a Content-Type, in lower case and without parameters."""
    return content_type.partition(";")[0].strip().lower()


def from_content_type(value: str) -> str:
    """Return the encoding that the charset parameter of a Content-Type value names, or an empty string."""
    for parameter in value.split(";")[1:]:
        name, equals, label = parameter.partition("=")
        if equals and name.strip().lower() == "charset":
            return lookup(label.strip().strip("\"'"))
    return ""


def from_meta(body: bytes) -> str:
    """Return the encoding that the first meta element declares that names one, or an empty string."""
    if b"charset" not in body[:LATE_PRESCAN].lower():
        return ""
    return _prescan(body[:PRESCAN], frozenset()) or _prescan(body[:LATE_PRESCAN], markup.RAW)


def _prescan(head: bytes, raw: frozenset[bytes]) -> str:
    for name, closing, start, end, _ in markup.tags(head, LATE_TAGS, raw=raw):
        if name == b"meta" and not closing:
            encoding = _declared(head[start + len(b"<meta") : end].removesuffix(b">"))
            if encoding:
                return encoding
    return ""


def _declared(tag: bytes) -> str:
    """Return the encoding in the attributes of a meta element (HTML Standard 13.2.3.2)."""
    attributes = markup.attributes(tag)
    if b"charset" in attributes:
        encoding = lookup(attributes[b"charset"].decode("latin-1"))
    elif attributes.get(b"http-equiv", b"").lower() == b"content-type":
        match = _CONTENT.search(attributes.get(b"content", b""))
        encoding = lookup((match[1] or match[2] or match[3] or b"").decode("latin-1")) if match else ""
    else:
        return ""
    return "utf-8" if encoding.startswith("utf-16") else encoding

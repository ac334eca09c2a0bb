"""Which character encoding a page is in, and its text.

HTML Standard 13.2.3.2: byte order mark, then the charset of Content-Type, then the meta prescan of the first 1,024
bytes, then (as a parser that meets a later meta element would change its mind) the first meta element outside
scripts and styles. Only the labels of the Encoding Standard (section 4.2) count; anything else, ``replacement`` and
``x-user-defined`` included, is UTF-8 with replacement.
"""

from __future__ import annotations

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


PRESCAN: Final = 1024
LATE_PRESCAN: Final = 1 << 16
LATE_TAGS: Final = 2_000
DEFAULT: Final = "utf-8"

_SPACE: Final = b"\t\n\f\r "
_BOMS: Final = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16be"), (b"\xff\xfe", "utf-16le"))


def decode(body: bytes, content_type: str = "") -> str:
    """Return the text of ``body``; what cannot be decoded becomes U+FFFD. Never raises."""
    for bom, encoding in _BOMS:
        if body.startswith(bom):
            return body[len(bom) :].decode(CODEC[encoding], "replace")
    return body.decode(CODEC[decide(body, content_type)], "replace")


def decide(body: bytes, content_type: str = "") -> str:
    """Return the name of the encoding (a key of ``CODEC``) in which ``body`` is read."""
    for bom, encoding in _BOMS:
        if body.startswith(bom):
            return encoding
    return from_content_type(content_type) or from_meta(body) or DEFAULT


def lookup(label: str) -> str:
    """Return the encoding of a label (Encoding Standard 4.2), or an empty string when there is none."""
    return ENCODING.get(label.strip("\t\n\f\r ").lower(), "")


def from_content_type(value: str) -> str:
    """Return the encoding that the charset parameter of a Content-Type value names, or an empty string."""
    for parameter in value.split(";")[1:]:
        name, equals, label = parameter.partition("=")
        if equals and name.strip().lower() == "charset":
            return lookup(label.strip().strip("\"'"))
    return ""


def from_meta(body: bytes) -> str:
    """Return the encoding that a meta element declares, or an empty string."""
    return _prescan(body[:PRESCAN]) or _late(body[:LATE_PRESCAN])


def _late(head: bytes) -> str:
    """Return what the first meta element outside scripts and comments declares that a parser would come to."""
    if b"charset" not in head.lower():
        return ""
    for name, closing, start, end, _ in markup.tags(head, LATE_TAGS):
        if name == b"meta" and not closing:
            encoding, _ = _meta(head[:end], start + 5)
            if encoding:
                return encoding
    return ""


def _prescan(head: bytes) -> str:
    """Prescan a byte stream to determine its encoding (HTML Standard 13.2.3.2).

    The branches are the standard's own steps, in its order.
    """
    at, size = 0, len(head)
    lowered = head.lower()
    while True:
        at = head.find(b"<", at)
        if at < 0:
            return ""
        if head.startswith(b"<!--", at):
            end = head.find(b"-->", at + 2)
            if end < 0:
                return ""
            at = end + 3
        elif lowered.startswith(b"<meta", at) and head[at + 5 : at + 6] in (b"\t", b"\n", b"\f", b"\r", b" ", b"/"):
            encoding, at = _meta(head, at + 5)
            if encoding:
                return encoding
        elif head[at + 1 : at + 2].isalpha() or (head.startswith(b"/", at + 1) and head[at + 2 : at + 3].isalpha()):
            while at < size and head[at] not in b"\t\n\f\r >":
                at += 1
            while True:
                attribute, at = _attribute(head, at)
                if attribute is None:
                    break
        elif head[at + 1 : at + 2] in (b"!", b"/", b"?"):
            at = head.find(b">", at)
            if at < 0:
                return ""
        else:
            at += 1


def _meta(head: bytes, at: int) -> tuple[str, int]:
    seen: set[bytes] = set()
    pragma = False
    need: bool | None = None
    encoding = ""
    while True:
        attribute, at = _attribute(head, at)
        if attribute is None:
            break
        name, value = attribute
        if name in seen:
            continue
        seen.add(name)
        if name == b"http-equiv":
            pragma = value == b"content-type"
        elif name == b"content" and not encoding:
            found = _from_content(value)
            if found:
                encoding, need = found, True
        elif name == b"charset":
            encoding, need = lookup(value.decode("latin-1")), False
    if need is None or (need and not pragma) or not encoding:
        return "", at
    return ("utf-8" if encoding.startswith("utf-16") else encoding), at


def _from_content(value: bytes) -> str:
    """Extract a character encoding from a meta element (HTML Standard 2.5.1)."""
    at = 0
    while True:
        at = value.find(b"charset", at)
        if at < 0:
            return ""
        at += 7
        rest = value[at:].lstrip(_SPACE)
        if rest.startswith(b"="):
            break
    rest = rest[1:].lstrip(_SPACE)
    quote = rest[:1]
    if quote in (b'"', b"'"):
        end = rest.find(quote, 1)
        return lookup(rest[1:end].decode("latin-1")) if end > 0 else ""
    words = rest.replace(b";", b" ").split(None, 1)
    return lookup(words[0].decode("latin-1")) if words and not rest.startswith(b";") else ""


def _attribute(head: bytes, at: int) -> tuple[tuple[bytes, bytes] | None, int]:
    """Get an attribute (HTML Standard 13.2.3.2): lower-cased name and value, or None at the end of the tag.

    The branches are the standard's own steps, in its order.
    """
    size = len(head)
    while at < size and head[at] in b"\t\n\f\r /":
        at += 1
    if at >= size:
        return None, size
    if head[at] == 0x3E:
        return None, at + 1
    start = at
    while at < size and not (head[at] == 0x3D and at > start) and head[at] not in b"\t\n\f\r />":
        at += 1
    name = head[start:at].lower()
    while at < size and head[at] in _SPACE:
        at += 1
    if at >= size or head[at] != 0x3D:
        return (name, b"") if at < size else None, at
    at += 1
    while at < size and head[at] in _SPACE:
        at += 1
    if at >= size:
        return None, size
    if head[at] in b"\"'":
        end = head.find(head[at : at + 1], at + 1)
        if end < 0:
            return None, size
        return (name, head[at + 1 : end].lower()), end + 1
    start = at
    while at < size and head[at] not in b"\t\n\f\r >":
        at += 1
    return ((name, head[start:at].lower()), at) if at < size else (None, size)

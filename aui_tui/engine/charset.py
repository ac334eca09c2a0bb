"""Which character encoding a page is in, and its text.

HTML Standard 13.2.3.2: byte order mark, then the charset of Content-Type, then the meta prescan of the first 1,024
bytes, then (as a parser that meets a later meta element would change its mind) the first meta element outside
scripts and styles. Only the labels of the Encoding Standard (section 4.2) count; anything else, ``replacement`` and
``x-user-defined`` included, is UTF-8 with replacement.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from aui_tui.engine import markup

_TABLE: Final = """
utf-8         utf-8            unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8
ibm866        cp866            866 cp866 csibm866 ibm866
iso-8859-2    iso8859-2        csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2
iso-8859-3    iso8859-3        csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3
iso-8859-4    iso8859-4        csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4
iso-8859-5    iso8859-5        csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 \
iso_8859-5:1988
iso-8859-6    iso8859-6        arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 \
iso-8859-6-e iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987
iso-8859-7    iso8859-7        csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 \
iso88597 iso_8859-7 iso_8859-7:1987 sun_eu_greek
iso-8859-8    iso8859-8        csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 \
iso88598 iso_8859-8 iso_8859-8:1988 visual
iso-8859-8-i  iso8859-8        csiso88598i iso-8859-8-i logical
iso-8859-10   iso8859-10       csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6
iso-8859-13   iso8859-13       iso-8859-13 iso8859-13 iso885913
iso-8859-14   iso8859-14       iso-8859-14 iso8859-14 iso885914
iso-8859-15   iso8859-15       csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9
iso-8859-16   iso8859-16       iso-8859-16
koi8-r        koi8-r           cskoi8r koi koi8 koi8-r koi8_r
koi8-u        koi8-u           koi8-ru koi8-u
macintosh     mac-roman        csmacintosh mac macintosh x-mac-roman
windows-874   cp874            dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874
windows-1250  cp1250           cp1250 windows-1250 x-cp1250
windows-1251  cp1251           cp1251 windows-1251 x-cp1251
windows-1252  cp1252           ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 \
iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252
windows-1253  cp1253           cp1253 windows-1253 x-cp1253
windows-1254  cp1254           cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 \
iso_8859-9:1989 l5 latin5 windows-1254 x-cp1254
windows-1255  cp1255           cp1255 windows-1255 x-cp1255
windows-1256  cp1256           cp1256 windows-1256 x-cp1256
windows-1257  cp1257           cp1257 windows-1257 x-cp1257
windows-1258  cp1258           cp1258 windows-1258 x-cp1258
x-mac-cyrillic mac-cyrillic    x-mac-cyrillic x-mac-ukrainian
gbk           gb18030          chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk
gb18030       gb18030          gb18030
big5          big5hkscs        big5 big5-hkscs cn-big5 csbig5 x-x-big5
euc-jp        euc-jp           cseucpkdfmtjapanese euc-jp x-euc-jp
iso-2022-jp   iso2022-jp       csiso2022jp iso-2022-jp
shift_jis     cp932            csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis
euc-kr        cp949            cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 \
ksc_5601 windows-949
utf-16be      utf-16-be        unicodefffe utf-16be
utf-16le      utf-16-le        csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le
"""

_rows = [row.split() for row in _TABLE.strip().splitlines()]

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

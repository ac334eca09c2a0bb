"""The one gate for untrusted text, and cell widths. Standard library only.

Titles, headers, robots.txt lines, remote records and error texts pass :func:`clean` once, where a record is
made or read; every screen and every writer may then trust the model.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from ipaddress import ip_address, ip_network
from pathlib import PurePath
from typing import Final
from urllib.parse import SplitResult, urlsplit

REPLACEMENT: Final = "\ufffd"
ELLIPSIS: Final = "…"
MAX_MARKS: Final = 2
"""Combining marks kept after one base character; more would climb over the neighbouring lines."""

JOINERS: Final = "\u200c\u200d"
"""Zero width (non-)joiner: spelling in Persian, Hindi and many more, and what makes one emoji of several."""
_FORBIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_MARK_CATEGORIES: Final = frozenset({"Mn", "Me", "Mc"})
_SOFT_HYPHEN: Final = 0xAD
_FIRST_EMOJI: Final = "\u2190"
"""The first symbol that emoji are made of: an arrow."""


class _Table(dict[int, str]):
    """A translation table that classifies each code point once, on first sight."""

    def __init__(self, keep: frozenset[str]) -> None:
        super().__init__()
        self._keep = keep

    def __missing__(self, code: int) -> str:
        char = chr(code)
        category = unicodedata.category(char)
        if char in self._keep:
            value = char
        elif char in "\t\n\r":
            value = " "
        elif code == _SOFT_HYPHEN:
            value = ""
        elif category in _FORBIDDEN_CATEGORIES:
            value = REPLACEMENT
        else:
            value = " " if category == "Zs" else char
        self[code] = value
        return value


_LINE: Final = _Table(frozenset(JOINERS))
_BLOCK: Final = _Table(frozenset("\n" + JOINERS))


def without_log_in(address: str) -> str:
    """Return what was given as an address without a user name and password, for a message: none repeats them."""
    return re.sub(r"(^|//)[^/?#]*@", r"\1…@", address)


def clean(text: str | BaseException | PurePath, limit: int | None = None, *, block: bool = False) -> str:
    """Return ``text``, an error or a path as a text, with nothing in it that could steer a terminal or break a layout.

    Control characters (C0, DEL, C1), lone surrogates, format characters (bidi controls, zero-width characters,
    tags), private and unassigned code points become U+FFFD; tabs and line breaks become a space, but with
    ``block=True`` line feeds stay and CR LF becomes LF. U+200C and U+200D stay between letters or emoji. At most two
    combining marks stay on one base.

    ``limit`` is the largest length in characters of the result; longer text ends with an ellipsis.
    The result is unchanged by a second pass.
    """
    text = str(text)
    if limit is not None and len(text) > 4 * limit + 64:
        text = text[: 4 * limit + 64]
        cut = True
    else:
        cut = False
    if block and "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not (text.isascii() and text.isprintable()):
        text = _limit_marks(text.translate(_BLOCK if block else _LINE))
        if any(joiner in text for joiner in JOINERS):
            text = re.sub(f"[{JOINERS}]", _between, text)
    if limit is not None and (cut or len(text) > limit):
        text = text[: max(limit - 1, 0)].rstrip(" " + JOINERS) + ELLIPSIS if limit > 0 else ""
    return text


_MARKS: Final = (
    rb"(?i)(?:\A|(?<=[\r\n]))(?P<indent>[ \t]*+):(?=:[a-z])|\#(?=\#[a-z]*\[)|(?<=section)_(?=(?:start|end):)"
    rb"|(?<=travis)_(?=(?:fold|time):)"
)
"""The first character of what build systems read as a command in the output of a job.

GitHub Actions reads ``::NAME`` at the start of a line and ``##[NAME`` anywhere, Azure Pipelines ``##vso[`` and ``##[``,
TeamCity ``##teamcity[``, GitLab ``section_start:`` and Travis ``travis_fold:``.
"""
_LONGEST: Final = 16
"""Octets of the longest such mark: the end of one piece of output that may be continued by the next."""


class BreakMarks:
    """Breaks marks of build systems in output that comes in pieces.

    JSON and markup, which the first character tells, say the same after parsing as before: the character is written as
    ``\\u0023`` or ``&#35;``. In other text a space follows it.
    """

    def __init__(self) -> None:
        self._form = b""
        self._held = b""
        self._line_began = True

    def take(self, data: bytes) -> bytes:
        """Return the part of the held-back bytes and ``data`` that can be written now."""
        self._form = self._form or data.lstrip()[:1]
        start = b"" if self._line_began else b"-"
        pending = re.sub(_MARKS, self._broken, start + self._held + data)[len(start) :]
        end = max(len(pending) - _LONGEST, pending.rfind(b"\n") + 1)
        self._held = pending[end:]
        if end:
            last = re.split(rb"[\r\n]", pending[:end])
            self._line_began = (self._line_began or len(last) > 1) and not last[-1].strip(b" \t")
        return pending[:end]

    def rest(self) -> bytes:
        """Return what is still held back."""
        held, self._held = self._held, b""
        self._line_began = self._line_began and not held.strip(b" \t")
        return held

    def _broken(self, mark: re.Match[bytes]) -> bytes:
        text = mark[0]
        indent, character = text[:-1], text[-1]
        if self._form in (b"{", b"["):
            return indent + b"\\u%04x" % character
        return indent + (b"&#%d;" % character if self._form == b"<" else b"%c " % character)


def break_marks(line: str) -> str:
    """Return a whole line in which no build system finds a command."""
    marks = BreakMarks()
    return (marks.take(line.encode("utf-8", "replace")) + marks.rest()).decode()


def tidy(text: str, limit: int) -> str:
    """Return ``text`` on one line, clean, with single blanks; only its beginning is looked at."""
    return clean(" ".join(text[: 16 * limit].split()), limit)


def _between(joiner: re.Match[str]) -> str:
    """Return a joiner that stands between letters or emoji, a mark in place of any other."""
    text, place = joiner.string, joiner.start()
    neighbours = text[max(place - 1, 0) : place], text[place + 1 : place + 2]
    return joiner[0] if all(map(_joins, neighbours)) else REPLACEMENT


def _joins(char: str) -> bool:
    """Tell whether ``char`` is a letter, a mark on one, or a part of an emoji."""
    category = unicodedata.category(char) if char else ""
    emoji = category in ("So", "Sk", "Sm") and char >= _FIRST_EMOJI and char != REPLACEMENT
    return category.startswith("L") or category in _MARK_CATEGORIES or emoji


def _limit_marks(text: str) -> str:
    if text.isascii():
        return text
    mark_characters = {char for char in set(text) if unicodedata.category(char) in _MARK_CATEGORIES}
    if not mark_characters:
        return text
    out: list[str] = []
    marks = 0
    for char in text:
        if char in mark_characters:
            marks += 1
            if marks > MAX_MARKS:
                continue
        elif char not in JOINERS:
            marks = 0
        out.append(char)
    return "".join(out)


def cells(text: str) -> int:
    """Return the number of terminal cells that cleaned ``text`` takes (UAX 11: wide and full-width count two)."""
    if text.isascii():
        return len(text)
    width = 0
    for char in text:
        if unicodedata.category(char) in ("Mn", "Me", "Cf"):
            continue
        width += 2 if unicodedata.east_asian_width(char) in "WF" else 1
    return width


def fit(text: str, width: int, *, right: bool = False) -> str:
    """Return cleaned ``text`` cut or padded to exactly ``width`` cells; a cut ends with an ellipsis."""
    size = cells(text)
    if size > width:
        chars: list[str] = []
        room = width - 1
        for char in text:
            room -= cells(char)
            if room < 0:
                break
            chars.append(char)
        text = "".join(chars) + ELLIPSIS if width > 0 else ""
        size = cells(text)
    pad = " " * (width - size)
    return pad + text if right else text + pad


def wrap(text: str, size: int) -> list[str]:
    """Return ``text`` as lines of at most ``size`` cells, broken at blanks where there are any."""
    size = max(size, 1)
    lines: list[str] = []
    for paragraph in text.split("\n"):
        lines.extend(_wrap(paragraph, size))
    return lines or [""]


def _wrap(paragraph: str, size: int) -> Iterator[str]:
    current = ""
    room = size
    for word in paragraph.split(" "):
        need = cells(word)
        if current and need + 1 > room:
            yield current
            current, room = "", size
        if current:
            current += " " + word
            room -= need + 1
            continue
        while need > size:
            head = _head(word, size)
            yield head
            word = word[len(head) :]
            need = cells(word)
        current, room = word, size - need
    yield current


def _head(word: str, size: int) -> str:
    room = size
    for place, char in enumerate(word):
        room -= cells(char)
        if room < 0:
            return word[: max(place, 1)]
    return word


def count(number: int, singular: str, plural: str = "") -> str:
    """Return the number with its noun: ``1 scan``, ``7 scans``, ``1,248 hosts``."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def joined(items: Iterable[str], limit: int = 0) -> str:
    """Return ``a, b and c``, each once; past ``limit`` (0: none) the rest is counted."""
    words = list(dict.fromkeys(items))
    if 0 < limit < len(words):
        words = [*words[: limit - 1], f"{len(words) - limit + 1} more"]
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def path_of(parts: SplitResult) -> str:
    """Return path and query of an address as a request has them."""
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


LOOPBACK: Final = (ip_network("127.0.0.0/8"), ip_network("::1"))
"""Addresses of this machine; releases of Python disagree on those of IPv4 that are written as IPv6."""


@lru_cache(maxsize=1024)  # asked for each request, and a name costs an exception
def is_loopback(host: str) -> bool:
    """Return whether ``host``, a name or an address, is this machine by itself (RFC 6761, 6.3; RFC 1122; RFC 4291)."""
    try:
        address = ip_address(host)
        return any(address in network for network in LOOPBACK) and "%" not in host
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def web_address(text: str) -> str | None:
    """Return an http or https address with its host in lower case and no slash at its end; None for what is none.

    One that names a user, a query or a fragment is none.
    """
    text = text.strip()
    try:
        parts = urlsplit(text)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    strange = "@" in parts.netloc or " " in text or not (text.isascii() and text.isprintable())
    if not valid or strange or parts.query or parts.fragment:
        return None
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}"

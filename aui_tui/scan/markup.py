"""Linear passes over HTML without a tree: title, text, inline styles, declarations, bodies that overload a parser.

The tokens follow HTML Standard 13.2.5 closely enough to see what a parser sees on ordinary pages; every pass looks
at each octet a bounded number of times, whatever the page does. Input is UTF-8.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterator
from itertools import islice
from operator import itemgetter
from typing import Final, NamedTuple, TypeAlias

from aui_tui.model.observations import READABLE_ENOUGH
from aui_tui.text import tidy

MAX_ATTRIBUTES: Final = 500
MAX_DEPTH: Final = 1000
TITLE_LIMIT: Final = 300
"""Characters kept of a title."""
TAG_BUDGET: Final = 5_000
"""Tags and comments that a pass on the event loop looks at before it gives up."""
_ANGLES: Final = 100_000
_HEAD: Final = 1 << 17
"""Octets that such a pass keeps of a page with more than ``_ANGLES`` angle brackets."""

_REST: Final = rb"""(?:[^=>]++|=[\t\n\f\r ]*+(?:"[^"]*+"|'[^']*+'|(?!["'])))*+>"""
"""What follows the name of a tag up to its end, quoted attribute values passed over."""
_OPENING: Final = re.compile(rb"<(?:(/?)([a-z][^\t\n\f\r />]*+)(" + _REST + rb")?+|(!--)|[!?/])")
_COMMENT_END: Final = re.compile(rb"--!?>")
_COMMENT: Final = re.compile(rb"<!--(?:-?>|.*?(?:--!?>|\Z))|<[!?/][^>]*+>?+", re.DOTALL)
"""Comments, and what a parser takes for one: a doctype, a processing instruction."""
RAW: Final = frozenset((b"script", b"style", b"textarea", b"title", b"xmp", b"iframe", b"noembed", b"noframes"))
_VOID: Final = frozenset(b"area base br col embed hr img input link meta source track wbr param keygen".split())
_SELF_CLOSING: Final = frozenset(b"p li dt dd tr td th thead tbody tfoot option optgroup rp rt colgroup".split())
_FLAT: Final = _VOID | _SELF_CLOSING
_MERGED: Final = frozenset((b"html", b"body"))
"""A second tag of these adds its attributes to the first (HTML Standard 13.2.6.4.7)."""
_TAG_END: Final = (
    rb"""(?:[\t\n\f\r ]++[a-z][a-z0-9:_-]*+(?:=(?:"[^"]*+"|'[^']*+'|[^\t\n\f\r "'`=<>]++))?+){0,100}+[\t\n\f\r ]*+/?>"""
)
"""What follows the name of a tag that every parser reads alike, with at most 100 attributes."""
_FLAT_TAG: Final = rb"<(?:/?(?:" + b"|".join(sorted(_FLAT, reverse=True)) + rb")" + _TAG_END
_LEAF: Final = rb"(?!" + b"|".join(sorted(RAW | _MERGED)) + rb")([a-z][a-z0-9-]*+)" + _TAG_END + rb"[^<]*+</\1>)"
_HARMLESS: Final = re.compile(rb"(?:[^<]*+" + _FLAT_TAG + rb"|" + _LEAF + rb")*+")
"""Text, tags that nest nothing, and elements that hold nothing but text: no load for a parser, however many."""
_HIDDEN: Final = frozenset((b"noscript", b"template"))

_ROOTS: Final = """
root app __next __nuxt __app ___gatsby svelte app-root react-root app-mount q-app main-app application
"""
APP_ROOTS: Final = frozenset(_ROOTS.split())
"""Ids of the elements that client-side frameworks fill; so are custom elements."""
APP_MARKS: Final = frozenset(("data-reactroot", "ng-app", "ng-version", "data-v-app", "data-server-rendered"))
"""Attributes of the same."""
_ID: Final = re.compile(rb"[\s\"'/]id\s*+=\s*+[\"']?+([a-z0-9_-]++)", re.IGNORECASE)
_SHADOW: Final = re.compile(rb"<template(?=[^<>]{0,1000}\sshadowrootmode\b)", re.IGNORECASE)
_FILLED_IN: Final = frozenset((b"input", b"select", b"textarea"))
_OWN: Final = frozenset((b"article", b"nav", b"main"))
"""Parts that a page has besides a captcha when the captcha is not all of it."""
_NOT_FILLED_IN: Final = frozenset((b"hidden", b"submit", b"image", b"reset", b"button"))
_CSS_COMMENT: Final = re.compile(r"/\*.*?\*/", re.DOTALL)
_KIND: Final = re.compile(rb"[\s\"'/]type\s*+=\s*+[\"']?+([a-z]++)", re.IGNORECASE)


Tag: TypeAlias = tuple[bytes, bool, int, int, int]
"""A tag: its name in lower case, whether it is an end tag, where it begins and ends, and where markup may go on.

The last two differ for elements whose text is not markup, such as scripts. A nameless tag says that the budget is
spent.
"""


def tags(
    page: bytes, budget: int | None = None, *, raw: frozenset[bytes] = RAW, passing: re.Pattern[bytes] | None = None
) -> Iterator[Tag]:
    """Yield the tags of ``page`` in order, comments passed over; at most ``budget`` of both.

    A tag that the end of the input cuts off ends there. ``raw``: elements whose text is not markup. ``passing``: whole
    tags that are passed over, in lower case.
    """
    lowered = page.lower()
    size = len(page)
    at = 0
    while True:
        if passing is not None and (passed := passing.match(lowered, at)):
            at = passed.end()
        opening = _OPENING.search(lowered, at)
        if opening is None:
            return
        start = opening.start()
        if budget is not None:
            budget -= 1
            if budget < 0:
                yield b"", False, start, start, start
                return
        slash, name, rest, comment = opening.groups()
        if name is not None:
            end = opening.end() if rest else size
            at = _raw_end(lowered, name, end) if name in raw and not slash else end
            yield name, bool(slash), start, end, at
        elif comment is not None:
            ending = _COMMENT_END.search(page, start + 2)
            if ending is None:
                return
            at = ending.end()
        else:
            at = page.find(b">", start + 2) + 1
            if at == 0:
                return
        if at >= size:
            return


def parser_risk(page: bytes, passing: re.Pattern[bytes] | None = _HARMLESS) -> str:
    """Return why ``page`` must not be given to a parser, in words, or an empty string.

    A tag with over 500 attributes, or nesting over 1,000, takes parsers time that grows with the square. A long value
    of one attribute, such as a data: URL, does not. ``passing``: as in ``tags``, with an end tag for what is begun.
    """
    stack: list[bytes] = []
    opened: dict[bytes, int] = {}
    merged = 0
    for name, closing, start, end, _ in tags(page, passing=passing):
        if end - start > 2 * MAX_ATTRIBUTES and _count_attributes(page[start:end], name) > MAX_ATTRIBUTES:
            return f"a tag has more than {MAX_ATTRIBUTES} attributes"
        if name in _MERGED:
            merged += _count_attributes(page[start:end], name)
            if merged > MAX_ATTRIBUTES:
                return f"an element has more than {MAX_ATTRIBUTES} attributes"
        if name in _FLAT:
            continue
        if not closing:
            stack.append(name)
            opened[name] = opened.get(name, 0) + 1
            if passing is not None and len(stack) == MAX_DEPTH:
                return parser_risk(page, None)  # what is passed over may be one too many
            if len(stack) > MAX_DEPTH:
                return f"elements are nested more than {MAX_DEPTH:,} deep"
        elif opened.get(name, 0):
            last = b""
            while last != name:
                last = stack.pop()
                opened[last] -= 1
    return ""


def title(page: bytes) -> str:
    """Return the text of the first title element outside SVG, white space collapsed and cleaned, or an empty string."""
    drawing = 0
    page = _beginning_of_tag_flood(page)
    for name, closing, _, end, after in tags(page, TAG_BUDGET):
        if name == b"svg":
            drawing = max(drawing + (-1 if closing else 1), 0)
        elif name == b"title" and not closing and not drawing:
            return tidy(unescape(page[end : min(after, end + 4000)].decode("utf-8", "replace")), TITLE_LIMIT)
    return ""


_REFRESH: Final = re.compile(
    r"\s*(\d{1,9})[\d.]*\s*(?:[;,\s]\s*(?:url\s*=\s*)?([\"']?)(.{0,8192}))?", re.IGNORECASE | re.DOTALL
)
_AT_ONCE: Final = 5
"""Seconds within which a page that sends its reader elsewhere is passed over like a redirect."""


def refresh(page: bytes, field: str = "") -> str:
    """Return where the Refresh ``field`` or a meta element of ``page`` leads within seconds; empty where it stays."""
    return _refresh_target(field) or next(filter(None, map(_refresh_target, _refresh_values(page))), "")


def _refresh_target(value: str) -> str:
    """Return the address in the value of a refresh (HTML Standard, shared declarative refresh steps)."""
    match = _REFRESH.match(value)
    if match is None or int(match[1]) > _AT_ONCE:
        return ""
    quote, address = match[2] or "", match[3] or ""
    return (address.partition(quote)[0] if quote else address).strip()


def _refresh_values(page: bytes) -> Iterator[str]:
    """Yield the values of the meta elements that refresh the page; for clients without scripts alone is for nobody."""
    page = page[:_HEAD]
    if b"refresh" not in page.lower():
        return
    hidden = 0
    for name, closing, start, end, _ in tags(page, TAG_BUDGET):
        if name in _HIDDEN:
            hidden = max(hidden + (-1 if closing else 1), 0)
        elif name == b"meta" and not hidden:
            inside = attributes(page[start + len(b"<meta") : end].removesuffix(b">"))
            if _value(inside, b"http-equiv").lower() == "refresh":
                yield _value(inside, b"content")


def unescape(text: str) -> str:
    """Resolve character references; a text with an endless number in one stays as it is."""
    try:
        return html.unescape(text) if "&" in text else text
    except ValueError:
        return text


def readable(page: bytes, enough: int = READABLE_ENOUGH) -> int:
    """Count readable characters outside script, style, noscript, template and title; stop at ``enough``.

    White space counts as one character between words. A page of more tags than the budget counts as enough.
    """
    total = 0
    for words in _visible_words(page):
        if words is None or total > enough:
            return enough
        total += sum(map(len, words)) + len(words)
    return min(max(total - 1, 0), enough)


def text(page: bytes, limit: int) -> str:
    """Return the first ``limit`` readable characters outside script, style, noscript, template and title.

    White space is collapsed; a page of more tags than the budget is read up to it.
    """
    parts: list[str] = []
    length = 0
    for words in _visible_words(page):
        parts += words or ()
        length += sum(map(len, words or ())) + len(words or ())
        if length > limit:
            break
    return " ".join(parts)[:limit]


def _visible_words(page: bytes) -> Iterator[list[str] | None]:
    """Yield the words between the tags, as far as they are shown; None when the budget of tags is spent."""
    page = _beginning_of_tag_flood(page)
    at = hidden = 0
    for name, closing, start, _, after in tags(page, TAG_BUDGET):
        if not hidden:
            yield _words(page[at:start])
        if not name:
            yield None
            return
        at = after
        if name in _HIDDEN:
            hidden = max(hidden + (-1 if closing else 1), 0)
    if not hidden:
        yield _words(page[at:])


class Parts(NamedTuple):
    """A page taken apart: ``code`` is its tags and scripts, ``text`` the rest.

    ``controls``: elements for a person to fill in or to press; ``parts``: those to read as a whole; ``root``:
    it has the element that an app fills.
    Link elements and policies are not part of the code: they name hosts that are merely allowed. The title, which has
    tests of its own, is not part of the text. Widgets keep their answer in a text area that is not counted.
    """

    code: bytes
    text: bytes
    controls: int
    root: bool
    parts: int


def open_shadow_roots(page: bytes) -> bytes:
    """Return ``page`` with the templates of declarative shadow DOM as plain elements: a browser shows them."""
    return _SHADOW.sub(b"<div", page) if b"shadowrootmode" in page else page


def close_empty(page: bytes) -> bytes:
    """Return an XML page with an end tag for each ``<script/>`` or ``<div/>``: a parser of HTML reads on in those."""
    pieces: list[bytes] = []
    at = 0
    for name, closing, _, end, _ in tags(page, raw=frozenset()):
        if not closing and page.endswith(b"/>", at, end) and name not in _VOID:
            pieces += page[at:end], b"</" + name + b">"
            at = end
    return b"".join((*pieces, page[at:]))


def parts(page: bytes) -> Parts:
    """Take ``page`` apart, as far as the budget of tags goes."""
    code: list[bytes] = []
    text: list[bytes] = []
    controls = own = at = 0
    root = False
    for name, closing, start, end, after in tags(page, TAG_BUDGET):
        text.append(page[at:start])
        at = after
        tag = page[start:end]
        controls += name == b"button" and not closing
        own += name in _OWN and not closing
        root = root or (not closing and _is_root(name, tag))
        if name == b"link" or (name == b"meta" and b"content-security-policy" in tag.lower()):
            continue
        code.append(tag)
        if name in (b"script", b"style"):
            code.append(page[end:after])
        elif name != b"title":
            text.append(page[end:after])
        if name in _FILLED_IN and not closing:
            kind = _KIND.search(tag)
            controls += not (kind and kind[1].lower() in _NOT_FILLED_IN) and b"-response" not in tag
    text.append(page[at:])
    return Parts(b"\n".join(code), b" ".join(text), controls, root, own)


def _is_root(name: bytes, tag: bytes) -> bool:
    match = _ID.search(tag)
    return (match is not None and match[1].decode() in APP_ROOTS) or any(mark.encode() in tag for mark in APP_MARKS)


def _words(octets: bytes) -> list[str]:
    """Return the words of what stands between two tags, comments left out."""
    visible = _COMMENT.sub(b" ", octets) if b"<" in octets else octets
    return unescape(visible.strip()[:20_000].decode("utf-8", "replace")).split()


def letters(text: str) -> int:
    """Count the characters of the words of ``text``, with one for the gap after each."""
    return letters_of(text.split())


def letters_of(words: Collection[str]) -> int:
    """Count the characters of ``words``, with one for the gap after each."""
    return len("".join(words)) + len(words)


def _beginning_of_tag_flood(page: bytes) -> bytes:
    return page[:_HEAD] if len(page) > _HEAD and page.count(b"<") > _ANGLES else page


def _raw_end(lowered: bytes, name: bytes, at: int) -> int:
    """Return where the end tag of a raw text element begins, or the end of the input."""
    mark = b"</" + name
    while True:
        at = lowered.find(mark, at)
        if at < 0:
            return len(lowered)
        after = at + len(mark)
        if lowered[after : after + 1] in (b"", b"\t", b"\n", b"\f", b"\r", b" ", b"/", b">"):
            return at
        at = after


_ATTRIBUTE: Final = re.compile(
    rb"""([^\t\n\f\r />][^\t\n\f\r />=]*+)"""
    rb"""(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:"([^"]*+)"?+|'([^']*+)'?+|([^\t\n\f\r >]*+)))?+"""
)


def attributes(inside: bytes) -> dict[bytes, bytes]:
    """Return the attributes in what follows the name of a tag: names in lower case, the first of each counts."""
    attributes_by_name: dict[bytes, bytes] = {}
    for name, *values in _ATTRIBUTE.findall(inside):
        attributes_by_name.setdefault(name.lower(), b"".join(values))
    return attributes_by_name


_EVERYWHERE: Final = frozenset(("inherit", "initial", "unset", "revert", "revert-layer"))
_DISPLAYS: Final = """
none contents block inline run-in flow flow-root table flex grid ruby math list-item inline-block inline-table
inline-flex inline-grid table-row-group table-header-group table-footer-group table-row table-cell table-column-group
table-column table-caption
"""
_HIDING: Final = {
    "display": _EVERYWHERE.union(_DISPLAYS.split()),
    "visibility": _EVERYWHERE.union(("visible", "hidden", "collapse")),
}
"""The properties that hide an element, with their keywords."""


def styles(attribute: str) -> dict[str, str]:
    """Return what a style attribute declares of display and visibility, in lower case.

    Of several values the last valid one counts, ``!important`` ones first (CSS Cascade 6.1; CSS Syntax 9.3: an invalid
    declaration is ignored). A value with ``var()`` is valid, whatever it comes to.
    """
    declarations: list[tuple[bool, str, str]] = []
    for declaration in _CSS_COMMENT.sub("", attribute.lower()).split(";"):
        name, _, rest = declaration.partition(":")
        keywords = _HIDING.get(name.strip())
        if keywords is None:
            continue
        value, mark, important = (part.strip() for part in rest.partition("!"))
        words = value.split()
        valid = bool(words) and keywords.issuperset(words) and ("none" not in words or len(words) == 1)
        if (valid or "var(" in value) and important == ("important" if mark else ""):
            declarations.append((bool(mark), name.strip(), value))
    declarations.sort(key=itemgetter(0))
    return {name: value for _, name, value in declarations}


def _count_attributes(tag: bytes, name: bytes) -> int:
    """Count the attributes of a tag, repeated ones each time, up to one more than a tag may have."""
    matches = _ATTRIBUTE.finditer(tag, 1 + len(name), len(tag) - tag.endswith(b">"))
    return sum(1 for _ in islice(matches, MAX_ATTRIBUTES + 1))


def _value(inside: dict[bytes, bytes], name: bytes) -> str:
    return unescape(inside.get(name, b"").decode("utf-8", "replace")).strip()


DECLARING_TAGS: Final = 20_000
"""Tags of a homepage that are looked at for declarations."""

_LINK: Final = re.compile(r"<([^<>]{1,2000})>([^<]{0,2000})")
_PARAMETER: Final = re.compile(r";\s*(rel|type)\s*=\s*(?:\"([^\"]*)\"|([^\s;,\"]+))", re.IGNORECASE)
_REGISTERS: Final = re.compile(
    rb"(?:\b(navigator)\s{0,20}\??\.\s{0,20})?\bmodelContext\s{0,20}\??\.\s{0,20}(registerTool|(provideContext))\s{0,20}\("
)
"""A call that registers WebMCP tools. The specification has ``document.modelContext.registerTool``; outdated are
``provideContext`` (until March 2026, webmcp pull request 132) and ``navigator`` (until June)."""


Link = tuple[str, str, str]
"""Relations, type and target of a link."""


def header_links(value: str) -> Iterator[Link]:
    """Yield relations, type and target of each link in a Link field (RFC 8288)."""
    for match in _LINK.finditer(value):
        parameters = {name.lower(): quoted or bare for name, quoted, bare in _PARAMETER.findall(match[2])}
        yield parameters.get("rel", "").lower(), parameters.get("type", "").lower(), match[1]


class Declares(NamedTuple):
    """What the HTML of a page declares for agents.

    ``tools``: names of WebMCP tools, as written there; ``registers``: a script registers some; ``outdated``: the name
    of the call where it is none of the current specification.
    """

    links: tuple[Link, ...] = ()
    tools: tuple[str, ...] = ()
    registers: bool = False
    outdated: str = ""


def declares(page: bytes) -> Declares:
    """Return what ``page`` declares; a page of very many tags is read as far as the budget goes."""
    links: list[Link] = []
    tools: list[str] = []
    calls: dict[str, None] = {}
    for name, closing, start, end, after in tags(page, DECLARING_TAGS):
        if closing:
            continue
        if name in (b"link", b"form"):
            inside = attributes(page[start + 1 + len(name) : min(end, start + 10_000)].removesuffix(b">"))
            rel, kind, href, tool = (_value(inside, key) for key in (b"rel", b"type", b"href", b"toolname"))
            if name == b"link":
                links.append((rel.lower(), kind.lower(), href))
            elif tool:
                tools.append(tool)
        elif name == b"script":
            for match in _REGISTERS.finditer(page, end, after):
                calls["provideContext" if match[3] else "navigator.modelContext" if match[1] else ""] = None
    outdated = next(iter(calls), "") if "" not in calls else ""
    return Declares(tuple(links), tuple(tools), bool(calls), outdated)

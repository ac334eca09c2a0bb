"""All text of a page, and which of it a person sees. One walk over one tree (lexbor).

Hidden is what the HTML itself hides: the attribute ``hidden``, closed dialogs and popovers, a style attribute, and
rules of the page's own style elements for one class or id. Style sheets elsewhere are not fetched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Final

from selectolax.lexbor import LexborNode

from aui_tui.model.reads import ALT, HIDDEN, LABEL, NOSCRIPT, TEXT
from aui_tui.scan import markup
from aui_tui.scan.page import parse
from aui_tui.text import clean

UNREAD: Final = frozenset(("script", "style", "template", "iframe", "noframes", "noembed", "svg", "math"))
_BLOCK_WORDS: Final = """
address article aside blockquote body br caption dd details dialog div dl dt fieldset figcaption figure footer form h1
h2 h3 h4 h5 h6 head header hr html li main nav ol option p pre section summary table tbody tfoot thead title tr ul
"""
BLOCKS: Final = frozenset(_BLOCK_WORDS.split())
CELLS: Final = frozenset(("td", "th"))
_SEPARATORS: Final = dict.fromkeys(BLOCKS, "\n") | dict.fromkeys(CELLS, " ")
"""What stands before and after the text of an element."""
_SPEAKING: Final = UNREAD | CELLS | {"table", "noscript", "dialog", "html", "meta", "img", "time", "link"}
"""Elements that say something by their name or by attributes of their own."""
_TELLING: Final = frozenset(("style", "popover", "hidden", "itemprop", "aria-label"))
"""Attributes that say something on every element."""
_BRACE: Final = re.compile(r"[{}]")
_SELECTOR: Final = re.compile(r"[a-z0-9]{0,20}([.#])([\w-]{1,100})")
_HIDES: Final = re.compile(
    r"(?:^|;)\s{0,20}(?:display\s{0,9}:\s{0,9}none|visibility\s{0,9}:\s{0,9}hidden)", re.IGNORECASE
)
_SPACES: Final = "\t\r\f\v\u00a0"
STYLES: Final = 1 << 17
"""Characters of style elements that are looked at."""


class PageText:
    """The text of a page, piece by piece, and what else of it bears words.

    ``runs``: pieces that stand together at one place, ``text``, ``hidden text`` or ``noscript``. ``labels``:
    alternative texts and ``aria-label``. ``marked``: microdata as property and value. ``metas``: by property or name.
    ``data``: the blocks of JSON-LD. ``linked``: targets of links. ``times``: values of ``datetime``.
    """

    def __init__(self) -> None:
        self.runs: list[tuple[str, list[str]]] = []
        self.labels: list[tuple[str, str]] = []
        self.marked: list[tuple[str, str]] = []
        self.metas: list[tuple[str, str]] = []
        self.data: list[str] = []
        self.linked: list[str] = []
        self.times: list[str] = []
        self.pictures = self.silent = self.tables = 0
        self.twin = self.language = ""
        self._cells = 0
        self._concealed: frozenset[str] = frozenset()

    def text(self) -> str:
        """Return all text, a line for each block."""
        joined = "".join(chain.from_iterable(pieces for _, pieces in self.runs))
        for space in _SPACES:
            joined = joined.replace(space, " ")
        while "  " in joined:  # no expression: those take ten times as long on ordinary text
            joined = joined.replace("  ", " ")
        return "\n".join([clean(line) for line in map(str.strip, joined.split("\n")) if line])

    def letters(self, place: str) -> int:
        """Return the letters of the pieces at ``place``, gaps between words counted as one."""
        pieces = chain.from_iterable(pieces for where, pieces in self.runs if where == place)
        return max(markup.letters(" ".join(pieces)) - 1, 0)

    def run(self, root: LexborNode) -> None:
        """Walk over the tree of ``root``."""
        node: LexborNode | None = root
        place, at, pieces = TEXT, "", list[str]()
        above: list[tuple[LexborNode, str, str]] = []
        while node is not None:
            child, piece, below, tag = None, "", place, ""
            if node.is_text_node:
                piece = (node.text_content or "").replace("\n", " ")
            elif node.is_element_node:
                tag, attributes = node.tag or "", node.attributes
                piece = _SEPARATORS.get(tag, "")
                if tag in _SPEAKING or self._concealed or not _TELLING.isdisjoint(attributes):
                    below = self._element(node, tag, attributes, place)
                if tag == "a" and attributes.get("href"):
                    self.linked.append(attributes["href"] or "")
                child = node.child if below else None
            if piece:
                if place != at:
                    at, pieces = place, []
                    self.runs.append((at, pieces))
                pieces.append(piece)
            if child is not None:
                above.append((node, tag, place))
                node, place = child, below
                continue
            while node is not None:
                following = None if node is root else node.next
                if following is not None:
                    node = following
                    break
                if not above:
                    return
                node, tag, place = above.pop()
                self.tables += tag == "table" and self._cells > 1
                piece = _SEPARATORS.get(tag, "")
                if piece:
                    if place != at:
                        at, pieces = place, []
                        self.runs.append((at, pieces))
                    pieces.append(piece)
                if node is root:
                    return

    def conceal(self, css: str) -> None:
        """Take the classes and ids that the style elements hide."""
        self._concealed = frozenset(name for rule in _rules(css[:STYLES]) for name in _concealed(*rule))

    def _element(self, node: LexborNode, tag: str, attributes: dict[str, str | None], place: str) -> str:
        """Take one element; return the place of its children, empty where they are no text."""
        if tag == "script" and (attributes.get("type") or "").strip().lower() == "application/ld+json":
            self.data.append(_inner(node))
        if tag in UNREAD:
            return ""
        self._cells = 0 if tag == "table" else self._cells + (tag in CELLS)
        below = NOSCRIPT if tag == "noscript" else place
        if not attributes:
            return HIDDEN if tag == "dialog" else below
        if place != HIDDEN and self._hides(tag, attributes):
            below = HIDDEN
        self._words(node, tag, attributes)
        return below

    def _hides(self, tag: str, attributes: dict[str, str | None]) -> bool:
        style = attributes.get("style")
        if style:
            declared = markup.styles(style)
            if declared.get("display") == "none" or declared.get("visibility") in ("hidden", "collapse"):
                return True
            if "display" in declared:
                return False
        if tag == "dialog" and "open" not in attributes:
            return True
        if "popover" in attributes:
            return True
        if "hidden" in attributes and (attributes["hidden"] or "").lower() != "until-found":
            return True
        if not self._concealed:
            return False
        names = [f".{name}" for name in (attributes.get("class") or "").split()]
        return not self._concealed.isdisjoint([*names, f"#{attributes.get('id') or ''}"])

    def _words(self, node: LexborNode, tag: str, attributes: dict[str, str | None]) -> None:
        """Take what attributes say."""
        prop = attributes.get("itemprop")
        if prop:
            keys = (
                ("content", "datetime", "href", "src") if tag in ("meta", "time", "link", "a", "img") else ("content",)
            )
            value = next((attributes[key] for key in keys if attributes.get(key)), None)
            self.marked.append((prop, value or _inner(node)))
        if tag == "html":
            self.language = (attributes.get("lang") or "").lower()
        elif tag == "meta":
            name = attributes.get("property") or attributes.get("name")
            if name and attributes.get("content"):
                self.metas.append((name.strip().lower(), attributes["content"] or ""))
        elif tag == "img":
            self.pictures += 1
            alt = attributes.get("alt")
            decorative = alt == "" or (attributes.get("role") or "") in ("none", "presentation")
            self.silent += not decorative and not (alt or "").strip()
            if alt:
                self.labels.append((ALT, alt))
        elif tag == "time" and attributes.get("datetime"):
            self.times.append(attributes["datetime"] or "")
        elif tag == "link" and (attributes.get("type") or "").lower() == "text/markdown":
            self.twin = self.twin or (attributes.get("href") or "")
        if attributes.get("aria-label"):
            self.labels.append((LABEL, attributes["aria-label"] or ""))


def _rules(css: str) -> Iterator[tuple[str, str]]:
    """Yield selectors and declarations of the rules outside of at-rules, in time linear in ``css``."""
    parts = css.split("/*")
    css = " ".join((parts[0], *(part.partition("*/")[2] for part in parts[1:])))
    depth = start = body = 0
    selectors = ""
    for brace in _BRACE.finditer(css):
        if brace[0] == "{":
            if depth == 0:
                selectors, body = css[start : brace.start()].strip(), brace.end()
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                start = brace.end()
                if not selectors.startswith("@"):
                    yield selectors, css[body : brace.start()]


def _concealed(selectors: str, declarations: str) -> Iterator[str]:
    """Yield the classes and ids that a rule hides by themselves."""
    if _HIDES.search(declarations):
        for selector in selectors.split(","):
            match = _SELECTOR.fullmatch(selector.strip())
            if match:
                yield match[1] + match[2]


def page_text(body: bytes, content_type: str = "") -> PageText | str:
    """Return the text of an HTML page, or why it was not read. Never raises."""
    root = parse(body, content_type)
    if isinstance(root, str):
        return root
    text = PageText()
    text.conceal("\n".join(_inner(node) for node in root.css("style")))
    text.run(root)
    return text


def _inner(node: LexborNode) -> str:
    return node.text(deep=True) or ""

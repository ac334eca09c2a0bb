"""Whether a page with little to read is a shell that scripts fill: a second walk over its tree, for such pages. Pure.

An empty root of an app decides: what stands around it (a logo, legal links, a cookie banner) is no content, unless it
is as long as a page. Without a root, a frame, a video or pictures are content that this scan cannot read, unless the
page has the scripts of an app.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from selectolax.lexbor import LexborNode

from aui_tui.model.observations import READABLE_ENOUGH
from aui_tui.scan import markup
from aui_tui.scan.page_text import WORD

_PLACEHOLDER_WORDS: Final = """
loading please wait initializing starting chargement cargando carregando laden caricamento загрузка 加载中 読み込み中
"""
PLACEHOLDERS: Final = frozenset(_PLACEHOLDER_WORDS.split())
"""Words of a placeholder: a heading of nothing else is nothing to read."""
MOST: Final = 4_000
"""Readable characters from which on a page is none: no cookie banner is longer."""
_NOTHING: Final = 20
"""Readable characters of a root that is not empty."""
UNREAD: Final = frozenset(("script", "style", "noscript", "template", "head", "title"))
_EMBEDDED: Final = frozenset(("iframe", "video", "picture", "canvas", "object", "embed", "audio"))
_PICTURES: Final = 3
"""Images that are content; fewer may be a logo."""
CONTROLS: Final = frozenset(("input", "select", "textarea"))
_NO_CONTROL: Final = frozenset(("hidden", "submit", "reset", "button", "image", "checkbox", "radio"))
_NO_ROOT: Final = frozenset(("html", "body"))
_APP_ELEMENT: Final = re.compile(r"(?:^|-)(?:app|root|shell)(?:-|$)")
_BANNER: Final = re.compile(
    r"cookie|consent|gdpr|ccpa|onetrust|didomi|usercentrics|truste|privacy-(?:banner|notice)", re.IGNORECASE
)
_ANALYTICS: Final = re.compile(
    r"googletagmanager|google-analytics|gtag\(|gtm\.js|analytics|fbq\(|connect\.facebook|hotjar|matomo|_paq|plausible"
    r"|clarity\.ms|segment\.(?:com|io)|snap\.licdn|cloudflareinsights|umami|datalayer|adsbygoogle|doubleclick"
    r"|cookiebot|onetrust|usercentrics|newrelic|sentry",
    re.IGNORECASE,
)
"""Scripts that count visitors, show advertisements or ask for consent: they bring no content."""
_APP_SOURCE: Final = re.compile(
    r"(?:^|[/._-])(?:app|main|bundle|index|runtime|vendors?|chunk|polyfills|webpack|client|entry|_next|_nuxt|_app)"
    r"(?:[/._-]|$)",
    re.IGNORECASE,
)
_APP_CODE: Final = re.compile(
    r"createRoot|createApp|hydrate|__NEXT|__NUXT|webpack|\.render\(|\.mount\(|createElement|innerHTML|insertAdjacent"
    r"|document\.write|customElements|\bimport\b|\bfetch\("
)
_CODE: Final = 20_000
"""Characters of a script in which its kind is looked for."""


class Outline(NamedTuple):
    """What there is of content on a page: ``outside`` and ``inside`` the roots of its app, in readable characters.

    ``roots``: how many it has. ``controls``: fields to fill in that stand outside. ``embedded``: it shows something
    that is no text. ``app``: it has scripts of an app; ``scripts``: any that may bring content.
    """

    roots: int = 0
    inside: int = 0
    outside: int = 0
    controls: int = 0
    embedded: bool = False
    app: bool = False
    scripts: bool = False

    @property
    def is_empty_app(self) -> bool:
        """The root of an app is empty, and what stands around it is less than a page."""
        empty = self.roots > 0 and self.inside < _NOTHING
        return empty and self.scripts and self.outside < READABLE_ENOUGH and self.controls == 0

    @property
    def is_unreadable(self) -> bool:
        """What the page shows is no text, or nothing can bring any."""
        if self.roots or self.inside + self.outside >= _NOTHING or self.controls:
            return False
        return not self.app if self.embedded else not self.scripts


def outline(tree: LexborNode, streamed: frozenset[str]) -> Outline:
    """Return what there is of content in ``tree``; ``streamed``: ids of hidden elements that a script shows at once."""
    inside: list[str] = []
    outside: list[str] = []
    counts: dict[str, int] = {"roots": 0, "controls": 0, "embedded": 0, "app": 0, "scripts": 0}
    waiting: list[tuple[LexborNode, bool]] = [(tree, False)]
    while waiting:
        node, rooted = waiting.pop()
        if node.is_text_node:
            (inside if rooted else outside).append(node.text_content or "")
            continue
        tag = node.tag or ""
        attributes = node.attributes if node.is_element_node else {}
        if tag == "script":
            _count_script(node, attributes, counts)
        name = attributes.get("id") or ""
        if tag in UNREAD and tag != "head":
            continue
        if tag not in _NO_ROOT and _is_banner(attributes):
            continue
        if name not in streamed and _is_hidden(attributes):
            continue
        if not rooted and tag not in _NO_ROOT and _is_root(tag, name, attributes):
            counts["roots"] += 1
            rooted = True
        rooted = rooted or name in streamed
        counts["embedded"] += _PICTURES if tag in _EMBEDDED else tag == "img"
        if tag in CONTROLS and (attributes.get("type") or "").lower() not in _NO_CONTROL:
            counts["controls"] += not rooted
            if rooted:
                inside.append("x" * _NOTHING)
        child = node.child
        while child is not None:
            waiting.append((child, rooted))
            child = child.next
    return Outline(
        counts["roots"],
        _letters(inside),
        _letters(outside),
        counts["controls"],
        counts["embedded"] >= _PICTURES,
        counts["app"] > 0,
        counts["scripts"] > 0,
    )


def _letters(texts: list[str]) -> int:
    """Count the readable characters of ``texts``; those of placeholders are none."""
    return sum(markup.letters(text) for text in texts if not PLACEHOLDERS.issuperset(WORD.findall(text.lower())))


def _is_root(tag: str, name: str, attributes: dict[str, str | None]) -> bool:
    marked = name in markup.APP_ROOTS or not markup.APP_MARKS.isdisjoint(attributes)
    return marked or ("-" in tag and _APP_ELEMENT.search(tag) is not None)


def _is_banner(attributes: dict[str, str | None]) -> bool:
    """Tell whether an element asks for consent, by its id, its classes or its label."""
    words = (attributes.get(name) for name in ("id", "class", "aria-label", "data-nosnippet"))
    return any(word and _BANNER.search(word) for word in words)


def _is_hidden(attributes: dict[str, str | None]) -> bool:
    style = attributes.get("style")
    return "hidden" in attributes or bool(style and markup.styles(style).get("display") == "none")


def _count_script(node: LexborNode, attributes: dict[str, str | None], counts: dict[str, int]) -> None:
    kind = (attributes.get("type") or "").partition(";")[0].strip().lower()
    if kind and kind != "module" and not any(word in kind for word in ("javascript", "ecmascript", "babel", "jsx")):
        return
    source = attributes.get("src") or ""
    code = "" if source else (node.text() or "")[:_CODE]
    if _ANALYTICS.search(source or code):
        return
    counts["scripts"] += bool(source or code.strip())
    counts["app"] += kind == "module" or bool(_APP_SOURCE.search(source) or _APP_CODE.search(code))

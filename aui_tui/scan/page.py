"""The facts of a page for an agent. Pure.

Landmarks by HTML-AAM and ARIA, labels, structured data as JSON-LD script blocks, text without scripts: one walk over
one tree (lexbor).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import msgspec
from selectolax.lexbor import LexborHTMLParser, LexborNode

from aui_tui.model import directives
from aui_tui.model.observations import READABLE_ENOUGH, Landmarks, PageFacts
from aui_tui.model.reads import Reads
from aui_tui.scan import agent_files, charset, markup
from aui_tui.scan.charset import FEED, HTML_TYPES, media_type
from aui_tui.scan.page_text import WORD, PageText, of_text
from aui_tui.scan.shell import CONTROLS, MOST, PLACEHOLDERS, UNREAD, outline
from aui_tui.text import tidy

_BEGINNING: Final = 1 << 12
"""Octets of an answer without a type in which tags make it HTML."""
_XML_TYPES: Final = ("application/xhtml+xml", "text/xml", "application/xml")
_MARKUP_TYPES: Final = (*HTML_TYPES, *_XML_TYPES)
_TEXT_TYPES: Final = ("json", "xml", "markdown", "javascript")
_MARKUP: Final = re.compile(rb"<[!a-zA-Z]")
_FRONT_MATTER: Final = re.compile(r"\A\s*---[ \t]*\n.{0,20000}?\n---[ \t]*(?:\n|\Z)", re.DOTALL)
"""What a Markdown file says of itself before its text."""
_TAG: Final = re.compile(r"<!\[CDATA\[|\]\]>|<[^<>]{0,2000}>")
_ADDRESS: Final = re.compile(r"\]\([^()\s]{0,2000}+\)|https?://[^\s<>\"')]{0,2000}+", re.IGNORECASE)
"""Addresses in a plain text or Markdown, which are not for reading."""
_UNPARSED: Final = 50_000
"""Characters read of a text that no parser may read."""
LINKS_ENOUGH: Final = 2
"""Links with text, and pictures, that make a short page more than a shell: a table of contents."""
NOTHING: Final = 20
"""Readable characters below which a page with scripts is a shell even without the root of an app."""

_ROLE_WORDS: Final = """
alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox
complementary contentinfo definition deletion dialog directory document emphasis feed figure form generic grid gridcell
group heading img image insertion link list listbox listitem log main mark marquee math menu menubar menuitem
menuitemcheckbox menuitemradio meter navigation none note option paragraph presentation progressbar radio radiogroup
region row rowgroup rowheader scrollbar search searchbox separator slider spinbutton status strong subscript suggestion
superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip tree treegrid treeitem
"""
ROLES: Final = frozenset(_ROLE_WORDS.split())
"""Roles of WAI-ARIA 1.3 that may be written; of several tokens the first one recognised counts."""

_IMPLICIT: Final = {"main": "main", "nav": "navigation"}
_NO_LABEL: Final = frozenset(("hidden", "submit", "reset", "button", "image"))
_DRAWING: Final = frozenset(("svg", "math"))
_HEADINGS: Final = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_HEADING: Final = -1
_OFFERS: Final = _HEADINGS | CONTROLS | {"a", "img", "button"}
"""Elements that may make a short page more than a shell."""
_TEMPLATE: Final = frozenset(("nav", "footer"))
"""Elements that the pages of a site share, and those that turn a reader away with them."""
_CHANGING: Final = UNREAD | _DRAWING | _TEMPLATE | {"label"}
_PLAIN_WORDS: Final = """
html body div span p br hr ul ol li dl dt dd table thead tbody tfoot tr td th b i u s em strong small sub sup pre code
blockquote section article aside header figure figcaption picture source time path use g
"""
_PLAIN: Final = frozenset(_PLAIN_WORDS.split())
"""Elements that say nothing by their name."""
_OFFERING: Final = _OFFERS - CONTROLS
"""Elements that say nothing more by their name once the page is known to be more than a shell."""
_TELLING: Final = markup.APP_MARKS.union(
    ("id", "itemtype", "typeof", "style", "inert", "hidden", "popover", "contenteditable"),
    ("role", "aria-hidden", "aria-label", "aria-labelledby"),
)
"""Attributes that say something on every element."""
_DOCUMENT: Final = frozenset(("meta", "script", "template", "title"))
_SCRIPT_WORDS: Final = ("javascript", "ecmascript", "module", "babel", "jsx", "jscript")


class PageReading(msgspec.Struct, frozen=True, array_like=True):
    """What an answer to a request for a page says: its ``facts`` as a homepage, its ``text`` to compare with others.

    ``reads``: what readers of text get from it, where that was asked for.
    """

    facts: PageFacts
    text: PageText
    reads: Reads | None = None


def read(body: bytes, content_type: str = "") -> PageReading:
    """Return what any answer to a request for a page says. Never raises; ``problem`` says why one is no page.

    ``content_type`` is the value of the Content-Type header. The text is that of HTML without scripts, styles, noscript
    and templates; of other text, such as Markdown, everything. The time is linear in the body except for what the
    parser does with tag soup, so that untrusted pages are read in a process that can be killed.
    """
    kind = media_type(content_type)
    tagged = _MARKUP.search(body[:_BEGINNING]) is not None
    if not body.strip():
        return PageReading(PageFacts(problem="it is empty"), _plain_text(body, content_type))
    if kind not in _MARKUP_TYPES and (kind or not tagged):
        sent = f"it is HTML sent as {kind}, which a browser shows as source"
        problem = sent if tagged and agent_files.is_page(body) else f"it is {kind or 'plain text'}, not a page"
        text = _plain_text(body, content_type)
        return PageReading(PageFacts(readable=text.readable, problem=problem), text)
    if kind in HTML_TYPES and not tagged and body.lstrip().startswith((b"# ", b"---\n")):
        text = _plain_text(body, content_type)
        return PageReading(PageFacts(readable=text.readable, problem=f"it is Markdown sent as {kind}"), text)
    root = parse(body, content_type)
    if isinstance(root, str):
        return unread(body, content_type, root)
    walk = _Walk()
    walk.run(root)
    text = walk.text()
    facts = msgspec.structs.replace(walk.facts(text.readable), meta_charset=charset.in_meta_alone(body, content_type))
    feed = kind not in HTML_TYPES and FEED.search(body[:_BEGINNING])
    return PageReading(facts, _plain_text(body, content_type) if feed else text)


def unread(body: bytes, content_type: str, problem: str) -> PageReading:
    """Return what can be told without a parser of an answer that has a ``problem`` for one. Safe on hostile input."""
    html = charset.to_utf8(body, content_type)
    text = PageText(acts=True, problem=problem)
    if _is_text(media_type(content_type)):
        text = of_text(markup.text(html, _UNPARSED), acts=True)
    return PageReading(PageFacts(title=markup.title(html), problem=problem), text)


def _is_text(kind: str) -> bool:
    return not kind or kind.startswith("text/") or kind.endswith(_TEXT_TYPES)


def _plain_text(body: bytes, content_type: str) -> PageText:
    kind = media_type(content_type)
    if not _is_text(kind):
        return PageText(acts=True, problem=f"it is not text but {kind}")
    text = charset.decode(body, content_type)
    return of_text(_TAG.sub(" ", text) if kind.endswith("xml") else _ADDRESS.sub(" ", _FRONT_MATTER.sub("", text)))


@lru_cache(maxsize=1)
def parse(body: bytes, content_type: str = "") -> LexborNode | str:
    """Return the root of the tree of a page, or why there is none. Kept for those who read the same page next."""
    html = charset.to_utf8(body, content_type)
    if media_type(content_type) in _XML_TYPES:
        html = markup.close_empty(html)
    problem = markup.parser_risk(html)
    if problem:
        return problem
    try:
        return LexborHTMLParser(markup.open_shadow_roots(html)).root or "it has nothing to read"
    except (ValueError, RuntimeError, MemoryError):
        return "the parser failed"


@dataclass(slots=True)
class _Context:
    """What an element passes on to its descendants.

    ``folded``: it is shown itself, and what is in it is not, but for a summary: a closed ``details`` or what is hidden
    until it is found (HTML 15.3.1). ``template``: it is navigation or the foot of the page.
    """

    gone: bool = False
    invisible: bool = False
    unread: bool = False
    fallback: bool = False
    label: LexborNode | None = None
    drawing: bool = False
    form: int = -1
    holder: int = 0
    folded: bool = False
    template: bool = False

    def within(
        self, tag: str, node: LexborNode, gone: bool, invisible: bool, folded: bool, form: int, holder: int
    ) -> _Context:
        """Return the context of the children of ``node``, a ``tag``; this one where nothing changes."""
        same = gone is self.gone and invisible is self.invisible and form == self.form and holder == self.holder
        if same and folded is self.folded and tag not in _CHANGING:
            return self
        return _Context(
            gone,
            invisible,
            self.unread or tag in UNREAD,
            (tag == "noscript" and not self.unread) or (self.fallback and tag not in UNREAD),
            node if tag == "label" else self.label,
            self.drawing or tag in _DRAWING,
            form,
            holder,
            folded,
            self.template or tag in _TEMPLATE,
        )


class _Walk:
    """One walk over the tree, counting as it goes."""

    def __init__(self) -> None:
        self.title: str | None = None
        self.site_name = self.description = ""
        self.jsonld = self.broken = self.scripts = 0
        self.main = self.nav = self.aria = self.forms = 0
        self.offers = self.headed = False
        self.links = 0
        self.linked: set[int] = set()
        self.root = self.frames = False
        self.own: list[str] = []
        self.template: list[str] = []  # what is in navigation and footer
        self.hidden: list[str] = []
        self.fallback: list[str] = []
        self.form_ids: dict[str, int] = {}
        self.ids: dict[str, LexborNode] = {}
        self.words, self.hidden_words = _Words(), _Words(hidden=True)
        self.hidden_ids: set[int] = set()  # elements with an id that are not shown
        self.label_for: dict[str, list[LexborNode]] = {}
        self.named: list[str] = []
        self.unlabelled: list[tuple[int, dict[str, str | None], LexborNode]] = []
        self.tree: LexborNode | None = None
        self.typed = self.microdata = self.rdfa = 0
        self.directives: dict[str, None] = {}
        self.boundaries: set[str] = set()  # where React puts what it streams later
        self.streamed: set[str] = set()  # elements that hold it until a script puts it there

    def run(self, root: LexborNode) -> None:
        node: LexborNode | None = root
        self.tree = root
        context = _Context()
        above: list[tuple[LexborNode | None, _Context]] = []
        while node is not None:
            child: LexborNode | None = None
            below: _Context | None = None
            if node.is_text_node:
                text = node.text_content or ""
                if not context.unread:
                    (self.template if context.template else self.own).append(text)
                    if context.gone or context.invisible or context.folded:
                        self.hidden.append(text)
                    if context.holder and not self.offers and text.strip():
                        self.held(context.holder, text)
                elif context.fallback:
                    self.fallback.append(text)
            elif node.is_element_node:
                tag, attributes = node.tag or "", node.attributes
                plain = tag in _PLAIN or (self.offers and tag in _OFFERING)
                if plain and not context.folded and _TELLING.isdisjoint(attributes):
                    below = context  # as it would come out below: most elements of a page are so
                else:
                    below = self.element(node, tag, attributes, context)
                child = None if below is None else node.child
            following = None if node is root else node.next
            if child is not None and below is not None:
                above.append((following, context))
                node, context = child, below
            else:
                node = following
            while node is None and above:
                node, context = above.pop()

    def element(
        self, node: LexborNode, tag: str, attributes: dict[str, str | None], context: _Context
    ) -> _Context | None:
        """Count one element; return the context of its children, or None when they count for nothing."""
        if attributes:
            name = attributes.get("id")
            if name:
                self.ids.setdefault(name, node)
                self.root = self.root or name in markup.APP_ROOTS
            self.root = self.root or not markup.APP_MARKS.isdisjoint(attributes)
            self.microdata += "itemtype" in attributes and "itemscope" in attributes
            self.rdfa += "typeof" in attributes
        self.root = self.root or "-" in tag
        self.frames = self.frames or tag == "frameset"
        offering = tag in _OFFERS and not self.offers
        if tag in _DOCUMENT and not self.document(node, tag, attributes, context.drawing):
            return None
        gone, invisible, role = context.gone or (context.folded and tag != "summary"), context.invisible, ""
        if attributes or tag == "dialog":
            if not ("hidden" in attributes and self.is_streamed(attributes.get("id") or "")):
                gone, invisible = _hidden(tag, attributes, gone, invisible)
            role = _role(attributes)
            if _filled(attributes, "aria-label"):
                self.aria += 1
            elif _filled(attributes, "aria-labelledby"):
                self.named.append(attributes["aria-labelledby"] or "")
        hidden = gone or invisible
        if hidden and attributes.get("id"):
            self.hidden_ids.add(node.mem_id)
        holder = context.holder
        if (offering or role == "heading") and not (hidden or context.unread):
            holder = self.offer(tag, role, attributes, holder)
        if not hidden and not context.unread:
            self.landmark(tag, role)
        form = self.form_part(node, tag, attributes, context, hidden or context.unread)
        folded = (tag == "details" and "open" not in attributes) or _until_found(attributes)
        return context.within(tag, node, gone, invisible, folded, form, holder)

    def document(self, node: LexborNode, tag: str, attributes: dict[str, str | None], drawing: bool) -> bool:
        """Read a title, a script or the name of the site; return whether the element's children count."""
        if tag == "script":
            self.script(node, attributes.get("type") or "")
            return drawing
        if tag == "template":
            if attributes.get("id"):
                self.boundaries.add(attributes["id"] or "")
            return drawing
        if tag == "title" and not drawing and self.title is None:
            self.title = tidy(_text(node), markup.TITLE_LIMIT)
        elif tag == "meta":
            self.meta(attributes)
        return True

    def landmark(self, tag: str, role: str) -> None:
        """Count a main part or a navigation."""
        role = role or _IMPLICIT.get(tag, "")
        if role:
            self.main += role == "main"
            self.nav += role == "navigation"

    def form_part(
        self, node: LexborNode, tag: str, attributes: dict[str, str | None], context: _Context, hidden: bool
    ) -> int:
        """Count a form, a label or a control; return the number of the form that the element's children are in."""
        if tag == "form":
            number = self.forms
            self.forms += 1
            if attributes.get("id"):
                self.form_ids.setdefault(attributes["id"] or "", number)
            return number
        if tag == "label":
            if not hidden:
                self.label_for.setdefault(attributes.get("for") or "", []).append(node)
        elif not hidden and (tag in CONTROLS or ("contenteditable" in attributes and _is_editable(attributes))):
            self.control(node, tag, attributes, context)
        return context.form

    def offer(self, tag: str, role: str, attributes: dict[str, str | None], holder: int) -> int:
        """Note what a reader finds on a page however short; return the holder of the text in it.

        A holder is 0, ``_HEADING`` or the number of a link: its text decides whether it is something to read.
        """
        if self.offers:
            return holder
        if role == "heading" or tag in _HEADINGS:
            return _HEADING
        if tag == "img":
            if _filled(attributes, "alt"):
                self.links += 1
                self.held(self.links, "")
        elif tag != "a":
            self.offers = (attributes.get("type") or "").strip().lower() != "hidden"
        elif "href" in attributes and holder == 0:
            self.links += 1
            return self.links
        return holder

    def held(self, holder: int, text: str) -> None:
        """Note ``text`` in a heading or a link, or a picture: one alone may be a logo, and a heading a placeholder."""
        if holder == _HEADING:
            self.headed = self.headed or not PLACEHOLDERS.issuperset(WORD.findall(text.lower()))
            return
        self.linked.add(holder)
        self.offers = len(self.linked) >= LINKS_ENOUGH

    def script(self, node: LexborNode, kind: str) -> None:
        kind = media_type(kind)
        if kind == "application/ld+json":
            data = _parsed(_text(node))
            self.jsonld += 1
            self.broken += data is None
            self.typed += _names_type(data)
        elif not kind or any(word in kind for word in _SCRIPT_WORDS):
            self.scripts += 1

    def meta(self, attributes: dict[str, str | None]) -> None:
        name = (attributes.get("property") or attributes.get("name") or "").strip().lower()
        content = attributes.get("content") or ""
        if name == "og:site_name" and not self.site_name:
            self.site_name = tidy(content, 100)
        elif name == "description" or (name == "og:description" and not self.description):
            self.description = tidy(content, 200)
        directive = directives.of_meta(name, content)
        if directive and len(self.directives) < directives.MOST:
            self.directives[f"{tidy(name, 40)}: {directive}"] = None

    def control(self, node: LexborNode, tag: str, attributes: dict[str, str | None], context: _Context) -> None:
        if tag == "input" and (attributes.get("type") or "").strip().lower() in _NO_LABEL:
            return
        if any(_filled(attributes, name) for name in ("aria-label", "title", "placeholder")):
            return
        if context.label is None or tag not in CONTROLS or not self.words.says(context.label):
            self.unlabelled.append((context.form, attributes, node))

    def is_streamed(self, name: str) -> bool:
        """Tell whether a hidden element called ``name`` is what React streams: its script shows it at its boundary.

        ``<template id="B:0">`` marks the boundary of ``<div hidden id="S:0">``, ``P:`` one within another.
        """
        boundaries = f"B:{name[2:]}", f"P:{name[2:]}"
        streamed = name.startswith("S:") and not self.boundaries.isdisjoint(boundaries)
        if streamed:
            self.streamed.add(name)
        return streamed

    def is_labelled(self, attributes: dict[str, str | None], node: LexborNode) -> bool:
        """Tell whether a control has a name by reference (HTML-AAM 5.1): elements that are there and say something.

        A label for an id belongs to the first element that has it.
        """
        name = attributes.get("id")
        first = bool(name) and node.tag in CONTROLS and self.ids[name or ""].mem_id == node.mem_id
        labels = self.label_for.get(name, ()) if name and first else ()
        return self.refers(attributes.get("aria-labelledby") or "") or any(map(self.words.says, labels))

    def refers(self, names: str) -> bool:
        """Tell whether one of the elements called ``names`` says something; of a hidden one its hidden text counts."""
        elements = (self.ids[name] for name in names.split() if name in self.ids)
        return any(
            (self.hidden_words if element.mem_id in self.hidden_ids else self.words).says(element)
            for element in elements
        )

    def is_hollow(self, shown: int) -> bool:
        """Tell whether ``shown`` characters are hardly anything: a heading is something, in the root of an app if it
        says more than a greeting.
        """
        if self.root:
            return shown < (NOTHING if self.headed else READABLE_ENOUGH)
        return shown < NOTHING and not self.headed

    def text(self) -> PageText:
        """Return what there is to read, outside navigation and footer as a part of it."""
        acts = self.scripts > 0 or self.offers or self.headed or self.links > 0
        return of_text(" ".join(self.own), " ".join(self.template), acts=acts)

    def facts(self, readable: int) -> PageFacts:
        """Return the facts of the page, of which ``readable`` characters are read without the text for no scripts."""
        bare = {
            self.form_ids.get(attributes["form"] or "", -1) if attributes.get("form") else form
            for form, attributes, node in self.unlabelled
            if not self.is_labelled(attributes, node)
        }
        bare.discard(-1)
        aria = self.aria + sum(map(self.refers, self.named))
        instead = markup.letters(" ".join(self.fallback))
        instead = instead if instead > READABLE_ENOUGH else 0
        readable = readable + instead if readable else max(instead - 1, 0)
        shown = readable - markup.letters(" ".join(self.hidden))
        problem = ""
        if self.frames or (readable == 0 and self.scripts == 0 and not (self.offers or self.headed or self.links)):
            problem = "it is made of frames" if self.frames else "it has nothing to read"
        shell = self.scripts > 0 and not self.offers and readable < READABLE_ENOUGH and self.is_hollow(shown)
        if self.tree is not None and self.scripts and not problem and instead == 0 and readable < MOST:
            content = outline(self.tree, frozenset(self.streamed))
            shell = shell or content.is_empty_app
            if shell and content.is_unreadable:
                shell = False
                problem = "what it shows is no text" if content.embedded else "it has nothing to read"
        return PageFacts(
            title=self.title or "",
            site_name=self.site_name,
            description=self.description,
            jsonld=self.jsonld,
            jsonld_broken=self.broken,
            semantic=Landmarks(main=self.main, nav=self.nav, aria=aria, forms=self.forms),
            forms_unlabelled=len(bare),
            readable=readable,
            scripts=self.scripts,
            noscript_shell=shell,
            jsonld_typed=self.typed,
            microdata=self.microdata,
            rdfa=self.rdfa,
            directives=tuple(self.directives),
            problem=problem,
        )


def _text(node: LexborNode) -> str:
    parts: list[str] = []
    child = node.child
    while child is not None:
        parts.append(child.text_content or "")
        child = child.next
    return "".join(parts)


def _filled(attributes: dict[str, str | None], name: str) -> bool:
    return bool((attributes.get(name) or "").strip())


class _Words:
    """Which elements have a text or a name of their own; each is looked at once, however many refer to it.

    ``hidden``: what is hidden within an element counts too, as where the element itself is hidden and referred to
    (accname-1.2, 4.3.2, step 2A).
    """

    def __init__(self, *, hidden: bool = False) -> None:
        self._known: dict[int, bool] = {}
        self._hidden = hidden

    def says(self, element: LexborNode) -> bool:
        """Tell whether ``element`` has a text or a name of its own, its controls apart."""
        known = self._known.get(element.mem_id)
        if known is not None:
            return known
        waiting, silent = [element], [element.mem_id]
        while waiting:
            node = waiting.pop()
            if node.is_text_node and (node.text_content or "").strip():
                break
            if not node.is_element_node or (node.tag in CONTROLS | {"script", "style"} and node is not element):
                continue
            known = self._known.get(node.mem_id)
            if not self._hidden and node is not element and _hidden(node.tag or "", node.attributes, False, False)[0]:
                continue
            if known is None:
                known = any(_filled(node.attributes, name) for name in ("aria-label", "alt", "title"))
                silent.append(node.mem_id)
            elif not known:
                continue
            if known:
                break
            child = node.child
            while child is not None:
                waiting.append(child)
                child = child.next
        else:
            self._known.update(dict.fromkeys(silent, False))
            return False
        self._known.update(dict.fromkeys(silent, False))
        above: LexborNode | None = node
        while above is not None and above.mem_id != element.mem_id:
            self._known[above.mem_id] = True
            above = above.parent
        self._known[element.mem_id] = True
        return True


def _role(attributes: dict[str, str | None]) -> str:
    for word in (attributes.get("role") or "").lower().split():
        if word in ROLES:
            presentational = word in ("none", "presentation")
            return "" if presentational and _exposed(attributes) else word
    return ""


def _exposed(attributes: dict[str, str | None]) -> bool:
    """Tell whether an element keeps its meaning whatever its role says (WAI-ARIA, presentational role conflicts)."""
    return "tabindex" in attributes or any(name.startswith("aria-") for name in attributes)


def _hidden(tag: str, attributes: dict[str, str | None], gone: bool, invisible: bool) -> tuple[bool, bool]:
    """Tell whether an element is out of the accessibility tree: with everything in it, and until it turns visible.

    ``gone``, ``invisible``: whether what it is in is so.
    HTML-AAM 3.1, ARIA 7.1, HTML 15.3.1 (closed dialogs and popovers); a display of the style attribute wins over those.
    """
    style = attributes.get("style")
    declared = markup.styles(style) if style else {}
    gone = gone or "inert" in attributes or (attributes.get("aria-hidden") or "").strip().lower() == "true"
    display = declared.get("display", "")
    if display:
        gone = gone or display == "none"
    elif "popover" in attributes or (tag == "dialog" and "open" not in attributes):
        gone = True
    elif "hidden" in attributes:
        gone = gone or not _until_found(attributes)
    visibility = declared.get("visibility", "inherit")
    if visibility in ("hidden", "collapse"):
        return gone, True
    return gone, invisible and visibility not in ("visible", "initial")


def _until_found(attributes: dict[str, str | None]) -> bool:
    return (attributes.get("hidden") or "").lower() == "until-found"


def _is_editable(attributes: dict[str, str | None]) -> bool:
    """Tell whether the value of contenteditable makes an element a text field (HTML 6.8.1)."""
    return (attributes["contenteditable"] or "").strip().lower() in ("", "true", "plaintext-only")


def _parsed(text: str) -> dict[str, object] | list[object] | None:
    """Return the JSON object or array of a JSON-LD block (JSON-LD 1.1, section 9); None for anything else."""
    try:
        data = msgspec.json.decode(text)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, (dict, list)) else None


_TYPE_NODES: Final = 5_000
"""Values of one block that are looked at for a type."""


def _names_type(data: object) -> bool:
    """Tell whether a JSON-LD document says of something what it is: ``@type``, or ``type`` in schema.org's context."""
    waiting = [data]
    aliased = isinstance(data, dict) and "schema.org" in str(data.get("@context", ""))
    names = ("@type", "type") if aliased else ("@type",)
    for _ in range(_TYPE_NODES):
        if not waiting:
            return False
        value = waiting.pop()
        if isinstance(value, dict):
            kinds = [value.get(name) for name in names]
            if any(kind and isinstance(kind, (str, list)) for kind in kinds):
                return True
            waiting += [part for name, part in value.items() if name != "@context"]
        elif isinstance(value, list):
            waiting += value
    return False

"""The outline of a page that Playwright makes from the DOM for agents: roles, names, states and addresses. Pure.

An outline is indented text, one node per line: ``- link "Rooms" [ref=e4]``, ``- text: and more``, ``- /url: /x``.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urljoin

from aui_tui.tasks.vocabulary import undrawn
from aui_tui.text import clean, tidy

ACTIONABLE: Final = frozenset(
    {"link", "button", "textbox", "searchbox", "combobox", "checkbox", "radio", "switch", "menuitem", "tab", "listbox"}
    | {"spinbutton", "slider", "option", "menuitemcheckbox", "menuitemradio", "treeitem"}
)
"""Roles that an agent operates."""
FIELDS: Final = frozenset({"textbox", "searchbox", "combobox", "checkbox", "radio", "switch", "listbox", "spinbutton"})
ENTRIES: Final = frozenset({"textbox", "searchbox", "combobox", "spinbutton"})
"""Roles that take typed text."""
GROUPS: Final = frozenset({"listitem", "article", "row"})
AROUND: Final = frozenset({"navigation", "banner", "contentinfo", "complementary", "search", "dialog", "alertdialog"})
"""Regions around the content of a page."""
DIALOGS: Final = frozenset({"dialog", "alertdialog"})
UNSAID: Final = frozenset({"textbox", "searchbox", "combobox", "option", "spinbutton", "slider"})
"""Roles whose text is a value, not part of what the page says."""
EXCERPT: Final = 9
"""Lines of an outline around a control."""
TEXT: Final = "text"
NAME: Final = 300
"""Characters kept of a name."""
SHORT: Final = 40
"""Characters of a text that may name a control."""

_GLYPHS: Final = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]+")
_LINE: Final = re.compile(r"^( *)- (.*)$")
_HEAD: Final = re.compile(
    r'([a-zA-Z][\w-]*)(?: ("(?:[^"\\]|\\.)*"|/(?:[^/\\]|\\.)*/))?((?: \[[^\]]*\])*)(?::(?: (.*))?)?'
)
_STATE: Final = re.compile(r"\[([\w-]+)(?:=([^\]]*))?\]")


@dataclass(frozen=True, slots=True)
class Node:
    """One node. ``ref`` finds its element again; ``path`` are the roles above it; ``group`` numbers the nearest list
    item, article or row (0: none); ``url`` is absolute; ``text`` is what the node itself says.
    """

    role: str
    name: str = ""
    ref: str = ""
    url: str = ""
    text: str = ""
    path: tuple[str, ...] = ()
    group: int = 0
    depth: int = 0
    disabled: bool = False
    pointer: bool = False
    hidden: bool = False
    """``aria-hidden``: it and what it holds are not in the accessibility tree."""

    @property
    def framed(self) -> bool:
        """It lies in a frame."""
        return "iframe" in self.path


NOTHING: Final = Node("")
"""Stands where no element is meant."""


@dataclass(frozen=True, slots=True)
class Outline:
    """The nodes of a page in document order, its address and title, and once it has settled its JSON-LD as one text.

    ``dom_only``: what the outline has and the browser's accessibility tree has not; ``tree_only``: the other way round.
    """

    nodes: tuple[Node, ...] = ()
    url: str = ""
    title: str = ""
    jsonld: str = ""
    dom_only: tuple[Node, ...] = ()
    tree_only: tuple[Node, ...] = ()

    def of(self, *roles: str) -> list[Node]:
        """Return the nodes with one of ``roles``."""
        return [node for node in self.nodes if node.role in roles]

    def entries(self) -> list[Node]:
        """Return what takes typed text: no list to choose from, which has its options in it."""
        pairs = zip(self.nodes, (*self.nodes[1:], NOTHING), strict=False)
        return [
            node
            for node, inner in pairs
            if node.role in ENTRIES
            and not (node.role == "combobox" and inner.role == "option" and inner.depth > node.depth)
        ]

    def pressable(self) -> list[Node]:
        """Return what is pressed: buttons, links, tabs, and what folds (``summary``), a generic node with a name."""
        folds = (node for node in self.of("generic") if node.name)
        return [*self.of("button", "link", "tab", "menuitem"), *folds]

    def text(self, group: int = 0) -> str:
        """Return the text in reading order, of one group only when it is named; names of images are part of it."""
        after = (*self.nodes[1:], None)
        texts = (
            node.text or ("" if following is not None and following.depth > node.depth else _said(node))
            for node, following in zip(self.nodes, after, strict=False)
            if (not group or node.group == group) and node.role not in UNSAID
        )
        text = " ".join(part for part in texts if part)
        named = (node.name for node in self.nodes if node.role in FIELDS and (not group or node.group == group))
        return " ".join([text, *(name for name in named if name and name not in text)]).strip()

    def main(self) -> list[Node]:
        """Return the nodes of the main region; where it says nothing, those outside navigation, banner and the like."""
        inside = [node for node in self.nodes if "main" in node.path]
        says = any(node.name or node.text for node in inside)  # one that is inert is empty in the tree
        return [node for node in (inside if says else self.nodes) if not AROUND & set(node.path)]

    def mark(self) -> tuple[str, ...]:
        """Return what must stay the same for a page to count as settled: structure and names, not running text."""
        return tuple(f"{node.role} {node.name} {node.url}" for node in self.nodes if node.role != TEXT)

    def headings(self) -> list[str]:
        """Return the headings that have a name."""
        return [node.name for node in self.nodes if node.role == "heading" and node.name]

    def excerpt(self, node: Node | None) -> tuple[str, ...]:
        """Return the lines of the outline around ``node``, or its beginning."""
        place = next((at for at, line in enumerate(self.nodes) if node is not None and line.ref == node.ref), 0)
        begin = max(0, min(place - EXCERPT // 2, len(self.nodes) - EXCERPT))
        return tuple(_line(line) for line in self.nodes[begin : begin + EXCERPT])


def parse(snapshot: str, url: str = "", title: str = "") -> Outline:
    """Return the outline written as ``snapshot``, with addresses made absolute against ``url``. Never raises."""
    nodes: list[Node] = []
    stack: list[tuple[int, int]] = []  # indentation of an open node, its place in `found`
    groups = 0
    for line in snapshot.splitlines():
        split = _LINE.match(line)
        if split is None:
            continue
        indent = len(split[1])
        while stack and stack[-1][0] >= indent:
            stack.pop()
        above = nodes[stack[-1][1]] if stack else None
        body = _unquoted_key(split[2])
        if body.startswith("/url:"):
            if above is not None:
                nodes[stack[-1][1]] = replace(above, url=_absolute(url, _value(body[5:])))
            continue
        if body.startswith("/"):
            continue
        node = _node(body, above)
        if node.role in GROUPS:
            groups += 1
            node = replace(node, group=groups)
        stack.append((indent, len(nodes)))
        nodes.append(node)
    return Outline(tuple(_named(nodes)), url, clean(title, NAME))


def _node(body: str, above: Node | None) -> Node:
    head = None if body.startswith("text:") else _HEAD.fullmatch(body)
    role, name, states, text = head.groups("") if head is not None else (TEXT, "", "", body.removeprefix("text:"))
    state = dict(_STATE.findall(states))
    return Node(
        role,
        name=tidy(spoken(_value(name) if name.startswith('"') else name), NAME),
        ref=state.get("ref", ""),
        text=clean(spoken(_value(text)), 4000),
        path=(*above.path, above.role) if above is not None else (),
        group=above.group if above is not None else 0,
        depth=above.depth + 1 if above is not None else 0,
        disabled="disabled" in state,
        pointer=state.get("cursor") == "pointer",
        hidden="aria-hidden" in state,
    )


def _named(nodes: list[Node]) -> list[Node]:
    """Give headings and list items without a printed name the words of what they hold: an outline omits repeats."""
    out = []
    for place, node in enumerate(nodes):
        if node.role in ("heading", "link", "button", "option", "cell") and not node.name:
            words = [node.text]
            for inner in nodes[place + 1 :]:
                if inner.depth <= node.depth:
                    break
                words.append(inner.text or inner.name)
            node = replace(node, name=tidy(" ".join(words), NAME))
        out.append(node)
    return out


def _said(node: Node) -> str:
    """Return what a node without children says by its name."""
    return node.name if node.role in ("img", "heading", "link", "button", "cell") else ""


def _line(node: Node) -> str:
    name = f" “{clean(node.name, 80)}”" if node.name else ""
    text = f" {clean(node.text, 80)}" if node.text else ""
    return f"{'  ' * min(node.depth, 8)}{node.role}{name}{text}{' (disabled)' if node.disabled else ''}"


def spoken(text: str) -> str:
    """Return ``text`` without code points of private use: glyphs of icon fonts, which say nothing.

    A price in such letters leaves a mark.
    """
    return _GLYPHS.sub("", undrawn(text)).strip() if _GLYPHS.search(text) else text.strip()


def _absolute(base: str, url: str) -> str:
    try:
        return clean(urljoin(base, url.strip()), 2000)
    except ValueError:
        return ""


def _unquoted_key(body: str) -> str:
    """Return a line whose key is in single quotes, as YAML writes keys with special characters, without them."""
    if not body.startswith("'"):
        return body
    end = 1
    while (end := body.find("'", end)) >= 0:
        if body[end : end + 2] != "''":
            return body[1:end].replace("''", "'") + body[end + 1 :]
        end += 2
    return body


def _value(text: str) -> str:
    """Return a YAML scalar: plain, in single or in double quotes."""
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] == '"':
        try:
            return str(json.loads(text))
        except ValueError:
            return text[1:-1]
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    return text

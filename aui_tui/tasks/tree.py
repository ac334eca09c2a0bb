"""The accessibility tree of a page: what exists and how it is named, and where the outline says otherwise. Pure.

The outline is made from the DOM and serves to act; agents read the one or the other. ``aria-hidden`` and ``inert`` take
elements out of the tree alone, a closed shadow root takes them out of the DOM alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Any, Final

from aui_tui.tasks.outline import ACTIONABLE, FIELDS, GROUPS, NAME, TEXT, Node, Outline, spoken
from aui_tui.text import clean, tidy

ROLES: Final = {
    "StaticText": TEXT,
    "image": "img",
    "Iframe": "iframe",
    "Date": "textbox",
    "DateTime": "textbox",
    "InputTime": "textbox",
    "ColorWell": "textbox",
    "TextFieldWithComboBox": "combobox",
    "ComboBoxMenuButton": "combobox",
    "ComboBoxSelect": "combobox",
    "PopUpButton": "combobox",
    "ListBoxOption": "option",
    "MenuListOption": "option",
    "ToggleButton": "button",
}
"""What Chromium calls its roles, where that is not what ARIA calls them."""
LEAVES: Final = frozenset({"textbox", "searchbox", "spinbutton", "slider", "Video", "Audio", "PluginObject", "math"})
"""Roles whose inside is the browser's own, or a value."""
DRAWN: Final = frozenset({"InlineTextBox", "ListMarker", "LineBreak"})
COMPARED: Final = (ACTIONABLE | {"heading"}) - {"option"}
"""Roles that both are asked for; options of a list that is shut are the one's alone."""
MOST: Final = 4000
"""Nodes of a page that are compared."""
CAPTIONED: Final = "figure"
"""A role whose caption the outline has as its name alone, also where it is not displayed."""
OWN: Final = "n"
"""A reference to a node that the tree alone has begins so, and goes on with its number in the DOM."""
ALIKE: Final = 0.5
"""Share of the words of a text that must stand in the tree for the text to do."""
_LETTERS: Final = re.compile(r"[\W_]+")

Frame = tuple[int, Sequence[Mapping[str, Any]]]
"""The node in the DOM that owns a frame, 0 for the page itself, and the nodes of its tree."""


def read_tree(frames: Sequence[Frame]) -> tuple[Node, ...]:
    """Return the nodes of the trees of a page and its ``frames``, in document order. Never raises."""
    by_owner = {owner: {str(node["nodeId"]): node for node in nodes} for owner, nodes in frames}
    firsts = {owner: str(nodes[0]["nodeId"]) for owner, nodes in frames if nodes}
    nodes_read: list[Node] = []
    groups = 0
    waiting: list[tuple[int, str, Node]] = [(0, firsts[0], Node(""))] if 0 in firsts else []
    while waiting and len(nodes_read) < 4 * MOST:
        owner, key, above = waiting.pop()
        node = by_owner[owner].pop(key, None)  # each once: a tree that is no tree ends too
        if node is None:
            continue
        kind, number = _value(node, "role"), int(node.get("backendDOMNodeId") or 0)
        if kind in DRAWN:
            continue
        shown = above
        if not node.get("ignored") and kind not in ("RootWebArea", "none", ""):
            shown = _node(node, kind, number, above)
            if shown.role in GROUPS:
                groups += 1
                shown = replace(shown, group=groups)
            nodes_read.append(shown)
        if ROLES.get(kind, kind) in LEAVES:
            continue
        waiting += [(owner, str(child), shown) for child in reversed(node.get("childIds") or ())]
        if kind == "Iframe" and number in firsts and number != owner:
            waiting.append((number, firsts[number], shown))
    return tuple(nodes_read)


def _node(node: Mapping[str, Any], kind: str, number: int, above: Node) -> Node:
    states = {entry["name"]: (entry.get("value") or {}).get("value") for entry in node.get("properties") or ()}
    role, name = ROLES.get(kind, kind), spoken(_value(node, "name"))
    return Node(
        role,
        name="" if role == TEXT else tidy(name, NAME),
        ref=f"{OWN}{number}",
        url=clean(str(states.get("url") or ""), 2000),
        text=clean(" ".join(name.split()), 4000) if role == TEXT else "",
        path=(*above.path, above.role) if above.role else (),
        group=above.group,
        depth=above.depth + 1,
        disabled=bool(states.get("disabled")),
    )


def closed_roots(document: Mapping[str, Any]) -> list[int]:
    """Return the numbers in the DOM of the closed shadow roots of a ``document``, as ``DOM.getDocument`` gives it.

    Those of frames are left out.
    """
    roots: list[int] = []
    waiting = [document]
    while waiting:
        node = waiting.pop()
        waiting += reversed([*node.get("shadowRoots", ()), *node.get("children", ())])
        if node.get("shadowRootType") == "closed":
            roots.append(int(node["backendNodeId"]))
    return roots


def _value(node: Mapping[str, Any], key: str) -> str:
    return str((node.get(key) or {}).get("value") or "")


def letters(text: str) -> str:
    """Return the letters and digits of ``text`` alone: the two put blanks between parts of a name differently."""
    return _LETTERS.sub("", text.casefold())


def by_tree(outline: Outline, tree: Sequence[Node]) -> Outline:
    """Return ``outline`` as ``tree`` has it: what that lacks is left out and named in ``dom_only``.

    Names are those of the tree. What the tree alone has is put where it stands, and named in ``tree_only``.
    """
    theirs = [at for at, node in enumerate(tree) if node.role in COMPARED][:MOST]
    ours = [at for at, node in enumerate(outline.nodes) if node.role in COMPARED][:MOST]
    pairs = dict(_pairs(outline.nodes, ours, tree, theirs))
    text, words = letters(" ".join(node.text or node.name for node in tree)), _words(tree)
    left_out: list[Node] = []
    nodes_kept: dict[int, Node] = {}
    hidden_depth = -1
    beyond = set(ours) - set(pairs)
    for at, node in enumerate(outline.nodes):
        if 0 <= hidden_depth < node.depth:
            left_out.append(node)
            continue
        hidden_depth = node.depth if node.hidden else -1
        if node.hidden or at in beyond:
            left_out.append(node)
        elif at in pairs:
            nodes_kept[at] = replace(node, name=tree[pairs[at]].name)
        elif node.role == CAPTIONED and letters(node.name) in text:
            nodes_kept[at] = replace(node, text=node.name)
        elif node.text and not _stands(node.text, text, words):
            left_out.append(replace(node, text=""))
            nodes_kept[at] = replace(node, text="")
        else:
            nodes_kept[at] = node
    places = {theirs_at: at for at, theirs_at in pairs.items()}
    had = letters(" ".join(node.text or node.name for node in outline.nodes))
    nodes, added = _put(nodes_kept, tree, places, {at for at in theirs if at not in places}, had)
    return replace(outline, nodes=nodes, dom_only=tuple(left_out), tree_only=added)


def _pairs(
    ours: Sequence[Node], mine: Sequence[int], theirs: Sequence[Node], places: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Yield which node of the outline is which of the tree: the same role and name in the same order, or nearly so."""

    def key(node: Node) -> tuple[str, str]:
        return node.role, letters(node.name)

    left, right = [key(ours[at]) for at in mine], [key(theirs[at]) for at in places]
    for tag, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from zip(mine[a:b], places[c:d], strict=True)
        elif tag == "replace":
            free = list(range(c, d))
            for place in range(a, b):
                match = next((at for at in free if _same(left[place], right[at])), None)
                if match is not None:
                    free.remove(match)
                    yield mine[place], places[match]


def _same(ours: tuple[str, str], theirs: tuple[str, str]) -> bool:
    """Say whether two nodes between the same neighbours are one: by name, or by role where a name is in the other."""
    (role, name), (other_role, other_name) = ours, theirs
    return (name == other_name and bool(name)) or (role == other_role and (name in other_name or other_name in name))


def _words(nodes: Sequence[Node]) -> set[str]:
    return {letters(word) for node in nodes for word in f"{node.text} {node.name}".split()}


def _stands(text: str, whole_text: str, words: set[str]) -> bool:
    every = [letters(word) for word in text.split()]
    return letters(text) in whole_text or sum(word in words for word in every) > ALIKE * len(every)


def _put(
    ours: Mapping[int, Node], tree: Sequence[Node], places: Mapping[int, int], lone: set[int], had: str
) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """Return the nodes ``ours`` with those that the tree alone has after what precedes them there, and these."""
    after: dict[int, list[Node]] = {}
    added: list[Node] = []
    last = -1
    for at, node in enumerate(tree):
        last = places.get(at, last)
        fresh = node.role == TEXT and node.text and letters(node.text) not in had
        if at in lone or (fresh and not ACTIONABLE & set(node.path)):
            # groups of the tree are numbered from below, so that they are not taken for those of the outline
            added.append(replace(node, group=-node.group))
            after.setdefault(last, []).append(added[-1])
    if not added:
        return tuple(ours.values()), ()
    every = list(after.get(-1, ()))
    for at, node in ours.items():
        every.append(node)
        every += after.get(at, ())
    # what precedes them may itself be gone
    every += [node for at, nodes in after.items() if at >= 0 and at not in ours for node in nodes]
    return tuple(every), tuple(added)


def unlike(outline: Outline) -> tuple[list[Node], list[Node]]:
    """Return the links, controls and headings that the DOM alone has, and those that the tree alone has.

    Decoration is left out: what has no name, or says what stands in both.
    """
    shared = [node for node in outline.nodes if node not in outline.tree_only]
    names = {letters(node.name) for node in shared} | {letters(node.text) for node in shared}
    urls = {node.url for node in shared if node.url}

    def matters(node: Node) -> bool:
        text = letters(node.name)
        if not text:  # a field that is hidden has no name in the outline either
            return node.role in FIELDS
        return node.role in COMPARED and text not in names and node.url not in urls

    return [node for node in outline.dom_only if matters(node)], [node for node in outline.tree_only if matters(node)]

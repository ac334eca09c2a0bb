"""What a search gives: the links and options that came with it, beside what a nonsense word gives. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from aui_tui.tasks.outline import Node, Outline

HITS: Final = frozenset({"link", "option", "treeitem"})
"""Roles of what a search gives."""

Hit = tuple[str, str]
"""Name and address of a link or option."""


@dataclass
class SearchResult:
    """How asking the site for a word ended: ``outline`` is the page then, ``before`` the one before.

    ``box``: the field. ``form``: what its form would do. ``hits``: the results. ``why``: the reason why what was typed
    was not sent. ``failed``: an answer that the page asked for did not come. ``held``: it asked to send something, and
    that was held back. ``likely``: nothing but the shape of its form says that it searches.
    """

    query: str
    box: Node
    form: Mapping[str, Any]
    outline: Outline
    before: Outline
    hits: set[Hit] = field(default_factory=set)
    why: str = ""
    failed: bool = False
    held: bool = False
    likely: bool = False

    @property
    def moved(self) -> bool:
        """It led to another page, or gave results."""
        return self.outline.url != self.before.url or bool(self.hits)

    @property
    def reacted(self) -> bool:
        """Anything on the page changed."""
        now, then = self.outline, self.before
        return self.moved or now.mark() != then.mark() or now.text() != then.text()


def _hits(nodes: Iterable[Node]) -> Counter[Hit]:
    return Counter((node.name, node.url) for node in nodes if node.role in HITS and node.name)


def appeared(outline: Outline, before: Outline) -> Counter[Hit]:
    """Return the links and options that came with a search, with how often.

    On another page those of its main region; on the same page those that are more than before.
    """
    if outline.url != before.url:
        return _hits(outline.main())
    return _hits(outline.nodes) - _hits(before.nodes)


def vanished(outline: Outline, before: Outline) -> bool:
    """Say whether links or options of the page went away, as where a list is filtered."""
    return outline.url == before.url and bool(_hits(before.nodes) - _hits(outline.nodes))


def results(outline: Outline, query: str, before: Outline) -> set[Hit]:
    """Return what came with a search and mentions ``query`` by name, address or list item.

    Where nothing came but links or options went away, those that stayed and mention it: a list was filtered.
    """
    fresh = appeared(outline, before)
    if not fresh and vanished(outline, before):
        fresh = _hits(outline.main())
    hay = query.casefold()
    hits = set()
    for node in outline.nodes:
        texts = (node.name, node.url, outline.text(node.group) if node.group else "")
        if fresh[node.name, node.url] and node.role in HITS and any(hay in text.casefold() for text in texts):
            hits.add((node.name, node.url))
    return hits


def _without(hits: Iterable[Hit], query: str) -> set[Hit]:
    """Return ``hits`` with the word that was asked for taken out, so that pages for two words can be compared."""
    hay = query.casefold()
    return {(name.casefold().replace(hay, ""), url.casefold().replace(hay, "")) for name, url in hits}


def given_by_the_word(attempt: SearchResult, control: SearchResult, nonsense: str) -> set[Hit]:
    """Return the results of ``attempt`` that the search for ``nonsense`` (``control``) does not give."""
    noise = set(appeared(control.outline, control.before))
    if vanished(attempt.outline, attempt.before):
        noise |= set(_hits(control.outline.main()))
    also = _without(noise, nonsense)
    return {hit for hit in attempt.hits - noise if not _without({hit}, attempt.query) & also}

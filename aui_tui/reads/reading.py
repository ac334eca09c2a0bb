"""A page as its readers get it: the figures and facts, and its text as article, page or words."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.util import find_spec
from typing import Final

from msgspec.structs import replace

from aui_tui.errors import again_with
from aui_tui.model.reads import FIRM, HIDDEN, LIBRARIES, NOSCRIPT, TEXT, Fact, Reading, Reads, Twin
from aui_tui.reads.facts import facts, find
from aui_tui.reads.text import PageText, page_text
from aui_tui.scan import charset, markup
from aui_tui.scan.charset import media_type
from aui_tui.text import clean, tidy

BEGINS: Final = 400
"""Letters kept of the beginning of a text."""
PIECES: Final = 5
"""Pieces of hidden text that are kept."""
PIECE: Final = 200
"""Letters kept of each."""
TOO_LONG: Final = 1 << 20
"""Letters of a reading at most."""
_PAGES: Final = re.compile(r"<[!a-z]", re.IGNORECASE)
_ESCAPED: Final = re.compile(r"\\([^\w\s])")
"""A sign that Markdown takes as it is."""
_COMMANDS: Final = re.compile(
    r"\b(?:(?:ignore|disregard|forget) (?:all |any |the |your )?(?:previous|prior|earlier|above) instructions"
    r"|(?:ai|llm) (?:agents?|assistants?|models?|crawlers?)\b|language models?\b|you are an? (?:ai|assistant|agent)"
    r"|system prompt|as an ai\b|chatgpt|claude|gemini|perplexity)",
    re.IGNORECASE,
)
"""Words by which hidden text speaks to agents."""


def is_markup(body: bytes, content_type: str = "") -> bool:
    """Return whether a body is HTML, by its type, else by its beginning."""
    kind = media_type(content_type)
    if kind:
        return kind in charset.HTML_TYPES or kind.endswith("xml")
    return bool(_PAGES.search(body[:4096].decode("latin-1"))) and b"\0" not in body[:4096]


def read(body: bytes, content_type: str = "") -> Reads:
    """Return the figures and facts of a page. Never raises; ``problem`` says why it was not read."""
    if not is_markup(body, content_type):
        kind = media_type(content_type)
        return Reads(html=len(body), problem=f"it is {kind or 'not HTML'}")
    page = page_text(body, content_type)
    if isinstance(page, str):
        return Reads(html=len(body), problem=page)
    text = page.text()
    hidden = [tidy(piece, PIECE) for piece in _hidden(page)]
    return Reads(
        html=len(body),
        letters=len(text),
        words=len(text.split()),
        seen=page.letters(TEXT),
        hidden=page.letters(HIDDEN),
        noscript=page.letters(NOSCRIPT),
        pictures=page.pictures,
        silent=page.silent,
        tables=page.tables,
        facts=facts(page, text),
        begins=clean(text[:BEGINS], block=True),
        hidden_text=tuple(hidden[:PIECES]),
        commands=tuple(piece for piece in hidden if _COMMANDS.search(piece))[:PIECES],
        twin=clean(page.twin, 300),
    )


def twin(page: bytes, content_type: str, markdown: bytes, markdown_type: str) -> Twin:
    """Return how the firm facts of a page and of its version in Markdown differ. Never raises."""
    parsed = page_text(page, content_type)
    if isinstance(parsed, str):
        return Twin(url="", by="", problem=parsed)
    text = clean(_ESCAPED.sub(r"\1", charset.decode(markdown, markdown_type)[:TOO_LONG]), block=True)
    markdown_page = PageText()
    markdown_page.runs.append((TEXT, [text]))
    stated = parsed.text()
    firm = [fact for fact in facts(parsed, stated) if fact.kind in FIRM]
    named = {(fact.kind, fact.value) for fact in firm}
    added = (
        fact for fact in facts(markdown_page, text) if fact.kind in FIRM and find(fact.kind, fact.value, stated) < 0
    )
    return Twin(
        url="",
        by="",
        letters=len(text),
        lost=tuple(fact for fact in firm if fact.at >= 0 and find(fact.kind, fact.value, text) < 0),
        added=tuple(fact for fact in added if (fact.kind, fact.value) not in named),
    )


def _hidden(page: PageText) -> list[str]:
    """Return the hidden text in pieces, one for each run of it."""
    pieces = ("".join(run).strip() for place, run in page.runs if place == HIDDEN)
    return [piece for piece in pieces if piece]


def reading(kind: str, body: bytes, content_type: str = "") -> Reading:
    """Return the text of a page as ``kind`` of reader gives it, as Markdown. Never raises.

    The libraries decide what is in an article and how a page is written; where one is missing, that is the problem.
    """
    if not is_markup(body, content_type):
        return Reading(kind=kind, problem="it is not HTML")
    html = charset.decode(body, content_type)
    risk = markup.parser_risk(html.encode("utf-8", "replace"))
    if risk:
        return Reading(kind=kind, problem=risk)
    library = LIBRARIES.get(kind, "")
    if library and find_spec(library) is None:
        return Reading(kind=kind, problem=f"{library} is not installed; {again_with('reads')}")
    try:
        text = _MADE[kind](html)
    except RecursionError:
        return Reading(kind=kind, problem=f"it nests too deep for {library}")
    except Exception as error:  # a library's fault is not the page's
        return Reading(kind=kind, problem=f"{library} failed: {type(error).__name__}")
    text = clean(text[:TOO_LONG], block=True).strip()
    page_facts = tuple(replace(fact, at=find(fact.kind, fact.value, text)) for fact in _facts(body, content_type))
    lacking = f"{library} finds no {kind} in it" if library else "there is no text in it"
    return Reading(kind=kind, text=text, problem="" if text else lacking, facts=page_facts)


@lru_cache(maxsize=1)
def _facts(body: bytes, content_type: str) -> tuple[Fact, ...]:
    """Return the facts of a page, kept while its kinds of readings are made one after another."""
    return read(body, content_type).facts


def _article(html: str) -> str:
    from trafilatura import extract

    return extract(html, output_format="markdown", include_tables=True) or ""


def _page(html: str) -> str:
    from markdownify import markdownify

    return re.sub(r"\n{3,}", "\n\n", markdownify(html)).strip()


def _words(html: str) -> str:
    page = page_text(html.encode("utf-8", "replace"), "text/html; charset=utf-8")
    return "" if isinstance(page, str) else page.text()


def _html(html: str) -> str:
    return html


_MADE: Final = {"article": _article, "page": _page, "words": _words, "html": _html}

"""The comparison of each page with the browser's.

A block page may come with status 200. What gives it away is the browser's page beside it, by its readable text, never
its length: it has nothing to read, or hardly any text of which most is not in that page. An answer that is the
browser's octet for octet is not read at all. One that looks like another page is marked, so that the agent is asked
again with the browser as the control; at the end the mark stays only where the browser's answers agree with each other,
and where no agent that was marked got the browser's page when it was asked again: a site that serves two pages by
chance proves nothing, and less text that the browser's page holds is a light version.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from msgspec.structs import replace

from aui_tui.model.observations import ANOTHER_PAGE, READABLE_ENOUGH, SERVED, Challenge, Exchange
from aui_tui.scan import markup, page_text
from aui_tui.scan.charset import media_type, to_utf8
from aui_tui.scan.exchanges import is_text
from aui_tui.scan.page_text import PageText
from aui_tui.scan.parser_process import ParserProcess
from aui_tui.scan.probes import Answer
from aui_tui.text import clean

_BEGINNING: Final = 1 << 16
"""Octets of a body in which links to countries and the language are looked for."""
_FOR_AGENTS: Final = ("text/markdown", "application/json")
"""A page in one of these formats was made for agents, whatever it says (unless it says that it blocks)."""
_FEW_WORDS: Final = 0.2
"""Share of the words of a page below which it has little in common with the browser's."""
_ALMOST_NOTHING: Final = 20
"""Readable characters below which a body that broke off is no page, and the browser's no text to compare with."""
_COUNTRIES: Final = 3
"""Links to languages or countries that make a page a chooser of them."""
_COUNTRY_LINK: Final = re.compile(
    rb"""<a\s[^>]{0,200}?href=["']?(?:https?://(?:[a-z]{2}\.[^/"'\s>]{1,100}|[^/"'\s>]{1,100}\.[a-z]{2})/?["'\s>]"""
    rb"""|(?:https?://[^/"'\s>]{1,100})?/[a-z]{2}(?:[-_][a-z]{2})?(?:/|["'\s>]))""",
    re.IGNORECASE,
)
_PASSWORD: Final = re.compile(rb"""<input\s[^>]{0,400}?type=["']?password\b""", re.IGNORECASE)
_LANGUAGE: Final = re.compile(rb"""<html\s[^>]{0,400}?lang=["']?([a-z]{2})""", re.IGNORECASE)
_QUOTED: Final = 60
"""Characters quoted of a page without a title."""
_TEXT_OF_PROBLEM: Final = 50_000
"""Readable characters that are taken of a page which no parser may build a tree of."""


class PageComparison:
    """The browser's answers of one scan, and what each agent was served beside them."""

    def __init__(self, reader: ParserProcess) -> None:
        self._reader = reader
        self._first: Answer | None = None
        self._title = ""
        self._texts: list[PageText] = []
        self._bodies: dict[bytes, PageText] = {}
        self._marked: dict[str, PageText] = {}
        self._varies = False

    def take(self, found: Exchange, answer: Answer) -> None:
        """Take the browser's page when it is served; only the first counts."""
        if self._first is None and _is_page(found, answer):
            self._first, self._title = answer, found.title

    async def control(self, found: Exchange, answer: Answer) -> None:
        """Take what the browser got when it was asked again, where an agent is marked."""
        if self._marked and _is_page(found, answer):
            self._texts.append(await self._read(answer))

    async def mark(self, found: Exchange, answer: Answer) -> Exchange:
        """Return ``found``, marked as challenged when ``answer`` looks like another page than the browser's."""
        before = self._marked.pop(found.name, None)
        first = self._first
        if first is None or found.outcome != SERVED:
            return found
        marked = await self._compared(found, answer, first)
        self._varies = self._varies or (before is not None and marked.challenge is None)
        return marked

    async def _compared(self, found: Exchange, answer: Answer, first: Answer) -> Exchange:
        if answer.body == first.body:
            return found
        browser, text = await self._of_browser(first), await self._read(answer)
        if not self._is_other(found, answer, first, (browser, text)):
            return replace(found, readable=text.readable) if page_text.much_less(text, browser) else found
        self._marked[found.name] = text
        signal = _signal(found.title, text, browser)
        challenge = Challenge(vendor=ANOTHER_PAGE, signal=signal, tier="")
        return replace(found, readable=text.readable, challenge=challenge)

    async def serves(self, found: Exchange, answer: Answer) -> bool:
        """Tell whether a request that looks for the cause of a refusal was served the browser's page; marks nobody."""
        if found.outcome != SERVED:
            return False
        first = self._first
        if first is None or answer.body == first.body:
            return True
        texts = await self._of_browser(first), await self._read(answer)
        return not self._is_other(found, answer, first, texts)

    def _is_other(self, found: Exchange, answer: Answer, first: Answer, texts: tuple[PageText, PageText]) -> bool:
        """Tell whether an answer is another page than the browser's ``first``; ``texts``: that of both.

        It says that it blocks, has nothing to read, asks for a password instead, or has another title and other words:
        either far fewer, or as many in the same language. A page made for agents, one rendered for them where the
        browser got hardly any text, or a chooser of countries, is a difference and no refusal.
        """
        browser, text = texts
        paths = [urlsplit(str(url)).path for url in (answer.url, first.url)]
        if page_text.says_blocked(text, browser, (found.title, paths[0]), (self._title, paths[1])):
            return True
        if text.readable == 0 or (answer.cut and text.readable < _ALMOST_NOTHING):
            like_shell = text.acts and not text.problem and browser.readable < READABLE_ENOUGH
            return not (browser.nothing or like_shell)
        kind = media_type(answer.content_type)
        enough = text.readable >= READABLE_ENOUGH
        if kind in _FOR_AGENTS or (enough and (kind == "text/plain" or browser.readable < _ALMOST_NOTHING)):
            return False
        far_fewer = text.readable * page_text.MUCH_LESS < browser.readable
        if far_fewer and _PASSWORD.search(answer.body) and not _PASSWORD.search(first.body):
            return True
        if (found.title and found.title == self._title) or page_text.share(text, browser) >= _FEW_WORDS:
            return False
        if len(set(_COUNTRY_LINK.findall(answer.body[:_BEGINNING]))) >= _COUNTRIES:
            return False
        spoken = [_LANGUAGE.search(body[:_BEGINNING]) for body in (answer.body, first.body)]
        same_language = all(spoken) and len({match[1].lower() for match in spoken if match}) == 1
        return same_language or far_fewer

    async def _of_browser(self, first: Answer) -> PageText:
        if not self._texts:
            self._texts.append(await self._read(first))
        return self._texts[0]

    def settle(self, done: Mapping[str, Exchange]) -> dict[str, Exchange]:
        """Return those of ``done`` whose mark does not hold: the browser differs from itself, or got that page too."""
        agree = not self._varies and len(self._texts) > 1 and page_text.agree(self._texts)
        return {
            name: replace(done[name], challenge=None, controls=0, limited=False, attempts=())
            for name, text in self._marked.items()
            if not (agree and all(page_text.share(text, other) < page_text.HALF for other in self._texts))
        }

    async def _read(self, answer: Answer) -> PageText:
        known = self._bodies.get(answer.body)
        if known is None:
            known = await self._reader.text(answer.body, answer.content_type)
            if known.problem and is_text(answer):
                html = to_utf8(answer.body, answer.content_type)
                text = await asyncio.to_thread(markup.text, html, _TEXT_OF_PROBLEM)
                known = page_text.of_text(text, acts=True)
            self._bodies[answer.body] = known
        return known


def _is_page(found: Exchange, answer: Answer) -> bool:
    """Whether the browser was served a page, or what came of it."""
    return found.outcome == SERVED and bool(answer.body)


def _signal(title: str, text: PageText, browser: PageText) -> str:
    if text.readable == 0:
        return "nothing to read"
    start = "" if title else f"“{clean(text.start, _QUOTED)}”, "
    return f"{start}{text.readable:,} readable characters where the browser’s page has {browser.readable:,}"

"""The browser's page as the yardstick for what agents were served: which of them got another page.

A healthy site pays nothing: an answer that is the browser's, or has its title, its address and about its length, is not
read at all. One that looks like another page is marked, so that the agent is asked again with the browser as the
control; at the end the mark stays only where the browser's answers agree with each other, and where no agent that was
marked got the browser's page when it was asked again: a site that serves two pages by chance proves nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol
from urllib.parse import urlsplit

from msgspec.structs import replace

from aui_tui.engine import likeness
from aui_tui.engine.likeness import PageText
from aui_tui.engine.probes import Answer
from aui_tui.records.observations import ANOTHER_PAGE, SERVED, Challenge, Exchange
from aui_tui.text import clean

_ABOUT: Final = 2
"""A body of at least one part in so many of the browser's has about its length."""
_FOR_AGENTS: Final = "text/markdown"
"""A page in this format was made for agents, whatever it says (unless it says that it blocks)."""
_QUOTED: Final = 60
"""Characters quoted of a page without a title."""
_ENOUGH: Final = 1 << 16
"""Octets of a browser's page that broke off which are enough of it to compare with."""


class Reader(Protocol):
    """Reads hostile text without ever holding up the event loop."""

    async def text(self, body: bytes, content_type: str) -> PageText:
        """Return what there is to read in an answer."""
        ...


class Yardstick:
    """The browser's answers of one scan, and what each agent was served beside them."""

    def __init__(self, reader: Reader) -> None:
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
        if first is None or found.outcome != SERVED or answer.cut:
            return found
        marked = await self._compared(found, answer, first)
        self._varies = self._varies or (before is not None and marked.challenge is None)
        return marked

    async def _compared(self, found: Exchange, answer: Answer, first: Answer) -> Exchange:
        if self._alike(found, answer, first):
            return found
        if not self._texts:
            self._texts.append(await self._read(first))
        browser = self._texts[0]
        text = await self._read(answer)
        paths = [urlsplit(str(url)).path for url in (answer.url, first.url)]
        blocks = likeness.says_blocked(text, browser, (found.title, paths[0]), (self._title, paths[1]))
        made_for_agents = answer.content_type.lower().startswith(_FOR_AGENTS) and text.readable > 0
        if not blocks and (made_for_agents or not likeness.is_another(text, browser)):
            return replace(found, readable=text.readable) if likeness.much_less(text, browser) else found
        self._marked[found.name] = text
        signal = _signal(found.title, text, browser)
        challenge = Challenge(vendor=ANOTHER_PAGE, signal=signal, tier="")
        return replace(found, readable=text.readable, challenge=challenge)

    def settle(self, done: Mapping[str, Exchange]) -> dict[str, Exchange]:
        """Return those of ``done`` whose mark does not hold: the browser differs from itself, or got that page too."""
        agree = not self._varies and len(self._texts) > 1 and likeness.agree(self._texts)
        return {
            name: replace(done[name], challenge=None, controls=0, limited=False, attempts=())
            for name, text in self._marked.items()
            if not (agree and all(likeness.share(text, other) < likeness.HALF for other in self._texts))
        }

    def _alike(self, found: Exchange, answer: Answer, first: Answer) -> bool:
        if answer.body == first.body:
            return True
        same = found.title == self._title and bool(found.title) and answer.url == first.url
        return same and len(answer.body) * _ABOUT >= len(first.body)

    async def _read(self, answer: Answer) -> PageText:
        known = self._bodies.get(answer.body)
        if known is None:
            known = self._bodies[answer.body] = await self._reader.text(answer.body, answer.content_type)
        return known


def _is_page(found: Exchange, answer: Answer) -> bool:
    """Whether the browser was served a page, and enough of it came."""
    return found.outcome == SERVED and (not answer.cut or len(answer.body) >= _ENOUGH)


def _signal(title: str, text: PageText, browser: PageText) -> str:
    if text.readable == 0:
        return "nothing to read"
    start = "" if title else f"“{clean(text.start, _QUOTED)}”, "
    return f"{start}{text.readable:,} readable characters where the browser’s page has {browser.readable:,}"

"""The records of raw answers, cleaned and recognised, and the comparison of each page with the browser's. Pure.

The browser's page is the yardstick, and its readable text, never its length, is compared. An answer that is the
browser's octet for octet is not read at all. One that looks like another page is marked, so that the agent is asked
again with the browser as the control; at the end the mark stays only where the browser's answers agree with each other,
and where no agent that was marked got the browser's page when it was asked again: a site that serves two pages by
chance proves nothing.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlsplit

import msgspec
from msgspec.structs import replace

from aui_tui.model.observations import (
    ANOTHER_PAGE,
    SERVED,
    Attempt,
    Challenge,
    Declaration,
    Exchange,
    SignedProbe,
)
from aui_tui.scan import markup, page, walls
from aui_tui.scan.agent_files import media_type
from aui_tui.scan.page import PageText
from aui_tui.scan.parser_pool import ParserPool
from aui_tui.scan.policy import Limits
from aui_tui.scan.probes import HIDDEN, MAX_URL, Answer
from aui_tui.text import clean

MAX_TITLE: Final = 300
MAX_VALUE: Final = 512
"""Characters of a header value that are recorded."""
MAX_REQUEST: Final = 40
"""Fields of a request that are recorded."""
MAX_TEXT: Final = 1500
"""Characters of a page's readable text that are recorded."""
_BEGINNING: Final = 1 << 16
"""Octets of a body in which links to countries and the language are looked for."""
_OWN_FIELDS: Final = """
host input_host origin scanned_at ran_at at vantage limits http_version error outcome vendor tier result served token
policy effective kind agents by fields key state agent browser door robots task reason change verb mark
"""
OWN_FIELDS: Final = frozenset(_OWN_FIELDS.split())
"""Fields of the observation types with the product's own words or the user's; every other text may come from a site."""
OWN_NAMES: Final = (Exchange, SignedProbe, Declaration)
"""Types whose ``name`` is the product's own word."""

T = TypeVar("T")


def exchange(answer: Answer, limits: Limits, *, judged: bool) -> Exchange:
    """Return the record of ``answer``; with ``judged`` walls, terms and the title are looked for in it."""
    readable = judged and answer.status != 0 and not answer.error
    headers = answer.mapping()
    return Exchange(
        name=answer.name,
        url=clean(str(answer.url), MAX_URL),
        status=answer.status,
        headers=tuple(_response_field(name, value) for name, value in answer.headers[: limits.kept]),
        title=clean(page.title(answer.body, answer.content_type), MAX_TITLE) if readable else "",
        error=answer.error,
        detail=clean(answer.detail, 400),
        elapsed_ms=answer.elapsed_ms,
        bytes=len(answer.body),
        cut=answer.cut,
        http_version=answer.http_version,
        hops=tuple(answer.hops),
        challenge=walls.recognise(answer.status, headers, answer.body, str(answer.url)) if readable else None,
        terms=readable and walls.terms(answer.status, headers, answer.body),
        request=tuple(_field(name, value) for name, value in answer.request[:MAX_REQUEST]),
        text=clean(markup.text(answer.body, MAX_TEXT), MAX_TEXT) if readable and _is_text(answer) else "",
    )


def _is_text(answer: Answer) -> bool:
    kind = media_type(answer.content_type)
    return not kind or kind.startswith("text/") or kind.endswith(("xml", "json"))


def shared_text(found: Sequence[Exchange]) -> tuple[Exchange, ...]:
    """Return ``found``, the browser first, with the text of a page kept once where a probe got the browser's."""
    browser = found[0].text if found else ""
    return tuple(
        msgspec.structs.replace(one, text="", same_text=True) if number and one.text and one.text == browser else one
        for number, one in enumerate(found)
    )


def with_attempt(first: Exchange, second: Exchange) -> Exchange:
    """Return ``second`` with the answer that it stands for, ``first``, listed in ``attempts``."""
    attempt = Attempt(
        status=first.status, outcome=first.outcome, elapsed_ms=first.elapsed_ms, challenge=first.challenge
    )
    return msgspec.structs.replace(second, attempts=(*first.attempts, *second.attempts, attempt))


def redact(record: T, secrets: Sequence[str]) -> T:
    """Return ``record`` with every secret hidden in the texts that come from a site, however the site echoed it.

    Case is ignored: a host name in a URL is lower case whatever was echoed.
    """
    if not secrets:
        return record
    forms = {
        form
        for secret in secrets
        for text in (secret, escape(secret))
        for form in (text, quote(text, safe=""), quote(text), clean(text), text.rstrip("="))
        if form
    }
    ordered = "|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True))
    found: T = _redacted(record, re.compile(ordered, re.IGNORECASE))
    return found


def _redacted(value: Any, forms: re.Pattern[str], *, own: bool = False) -> Any:
    """Return ``value`` with ``forms`` hidden; ``own`` texts are the product's words and stay as they are."""
    if isinstance(value, str):
        return value if own else forms.sub(HIDDEN, value)
    if isinstance(value, tuple):
        return tuple(_redacted(item, forms, own=own) for item in value)
    if isinstance(value, msgspec.Struct):
        kept = OWN_FIELDS | {"name"} if isinstance(value, OWN_NAMES) else OWN_FIELDS
        parts = {name: getattr(value, name) for name in value.__struct_fields__}
        return replace(value, **{name: _redacted(part, forms, own=name in kept) for name, part in parts.items()})
    return value


def _response_field(name: str, value: str) -> tuple[str, str]:
    if name == "set-cookie":
        value = value.partition("=")[0] + "=" + HIDDEN
    return _field(name, value)


def _field(name: str, value: str) -> tuple[str, str]:
    """Return a header field, fit to be kept."""
    return clean(name, 100), clean(value, MAX_VALUE)


_FOR_AGENTS: Final = ("text/markdown", "application/json")
"""A page in one of these formats was made for agents, whatever it says (unless it says that it blocks)."""
_FEW_WORDS: Final = 0.2
"""Share of the words of a page below which it has little in common with the browser's."""
_ALMOST_NOTHING: Final = 20
"""Readable characters below which a body that broke off is no page."""
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

    def __init__(self, reader: ParserPool) -> None:
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
            return replace(found, readable=text.readable) if page.much_less(text, browser) else found
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
        either far fewer, or as many in the same language. A page made for agents, or a chooser of countries, is a
        difference and no refusal.
        """
        browser, text = texts
        paths = [urlsplit(str(url)).path for url in (answer.url, first.url)]
        if page.says_blocked(text, browser, (found.title, paths[0]), (self._title, paths[1])):
            return True
        if text.readable == 0 or (answer.cut and text.readable < _ALMOST_NOTHING):
            like_shell = text.acts and not text.problem and browser.readable < markup.READABLE_ENOUGH
            return not (browser.nothing or like_shell)
        kind = media_type(answer.content_type)
        if kind in _FOR_AGENTS or (kind == "text/plain" and text.readable >= markup.READABLE_ENOUGH):
            return False
        far_fewer = text.readable * page.MUCH_LESS < browser.readable
        if far_fewer and _PASSWORD.search(answer.body) and not _PASSWORD.search(first.body):
            return True
        if (found.title and found.title == self._title) or page.share(text, browser) >= _FEW_WORDS:
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
        agree = not self._varies and len(self._texts) > 1 and page.agree(self._texts)
        return {
            name: replace(done[name], challenge=None, controls=0, limited=False, attempts=())
            for name, text in self._marked.items()
            if not (agree and all(page.share(text, other) < page.HALF for other in self._texts))
        }

    async def _read(self, answer: Answer) -> PageText:
        known = self._bodies.get(answer.body)
        if known is None:
            known = await self._reader.text(answer.body, answer.content_type)
            if known.problem and _is_text(answer):
                text = await asyncio.to_thread(markup.text, answer.body, _TEXT_OF_PROBLEM)
                known = page.of_text(text, acts=True)
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

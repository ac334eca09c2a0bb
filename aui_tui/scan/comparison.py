"""The comparison of a page with the one that people get: one reference, one comparison, one outcome.

A block page may come with status 200, and an agent may get more than a browser. Both show in the readable text beside
the *reference*, the page that people get (``REFERENCES`` says whose it is); ``compare`` gives one outcome of ``ROWS``,
and ``model.verdicts.COMPARED`` says what follows. Where nobody has a page that people get, nobody is praised. A page
that is not the reference is asked for again, and what turns away or is less holds only where the browser's answers
agree with each other, and no client that had it got the reference when it was asked again: a site that serves two pages
by chance proves nothing.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from aui_tui.model.observations import ANOTHER_PAGE, BROWSER, READABLE_ENOUGH, Challenge, Exchange
from aui_tui.model.verdicts import (
    ALONE,
    BLOCKED,
    COMPARED,
    ERROR,
    FORMAT,
    LESS,
    MORE,
    NEGOTIATED,
    REAL,
    SAME,
)
from aui_tui.model.vocabulary import CHALLENGED, SERVED
from aui_tui.scan import page_text
from aui_tui.scan.charset import FEED, media_type
from aui_tui.scan.page import PageReading
from aui_tui.scan.page_text import PageText
from aui_tui.scan.parser_process import ParserProcess
from aui_tui.scan.probes import Answer
from aui_tui.text import clean

FAR: Final = 5
"""How many times less text is far less."""
CLEARLY: Final = 2
"""How many times more text is more."""
_FEW_WORDS: Final = 0.2
"""Share of the words of a page below which it has hardly anything of the reference."""
SHORT: Final = 2000
"""Readable characters below which a page is taken at its word when it says that it blocks or is not there."""
NOTHING: Final = 20
"""Readable characters of its own below which a page has nothing to read."""
_BEGINNING: Final = 1 << 16
"""Octets of a body in which choices, forms and the language are looked for."""
_CHOICES: Final = 2
"""Languages or countries to choose from that make a page a chooser."""
_PER_CHOICE: Final = 30
"""Readable characters of a chooser for each of its choices, unless it says that it is one."""
_CODE: Final = rb"[a-z]{2}(?:[-_][a-z]{2})?"
_CHOICE: Final = re.compile(
    rb"""<(?:a|option|button|input)\s[^>]{0,300}?(?:(?:hreflang|lang|value)=["']?"""
    + _CODE
    + rb"""["'\s>]|href=["']?(?:https?://(?:[a-z]{2}\.[^/"'\s>]{1,100}|[^/"'\s>]{1,100}\.[a-z]{2})/?["'\s>]"""
    rb"""|(?:https?://[^/"'\s>]{1,100})?/?(?:index[-_.])?"""
    + _CODE
    + rb"""(?:/|\.html?|["'\s>])|[^"'\s>]{0,200}[?&](?:lang|language|locale|country|region|hl|l)="""
    + _CODE
    + rb"""["'&\s>]))""",
    re.IGNORECASE,
)
"""Something to choose a language or a country by."""
_PASSWORD: Final = re.compile(rb"""<input\s[^>]{0,400}?type=["']?password\b""", re.IGNORECASE)
_FORM: Final = re.compile(rb"<(?:form|input|button|select|dialog)[\s>]", re.IGNORECASE)
_LANGUAGE: Final = re.compile(rb"""<html\s[^>]{0,400}?lang=["']?([a-z]{2})""", re.IGNORECASE)
_FORMATS: Final = {"text/markdown": "Markdown", "text/x-markdown": "Markdown", "text/plain": "plain text"}
_QUOTED: Final = 60
"""Characters quoted of a page without a title."""


class Page:
    """One answer as the comparison sees it: its ``text``, title and path, and what its octets say when it is asked."""

    def __init__(self, text: PageText, body: bytes, content_type: str = "", title: str = "", path: str = "/") -> None:
        self.text = text
        self.body = body
        self.title = title
        self.path = path
        self.kind = media_type(content_type)
        self._start = body[:_BEGINNING]

    @cached_property
    def format(self) -> str:
        """What it is, where it is no HTML: ``Markdown``, ``JSON``, ``a feed`` or ``plain text``."""
        if self.json is not None or self.kind.endswith("json"):
            return "JSON"
        if "rss" in self.kind or "atom" in self.kind or ("xml" in self.kind and FEED.search(self._start[:4096])):
            return "a feed"
        return _FORMATS.get(self.kind, "")

    @cached_property
    def json(self) -> Any:
        """The object or list of JSON that it is, whatever its type; None for none."""
        if self.body.lstrip()[:1] not in (b"{", b"["):
            return None
        try:
            value = json.loads(self.body)
        except (ValueError, RecursionError):
            return None
        return value if isinstance(value, (dict, list)) else None

    @cached_property
    def fails(self) -> bool:
        """It is JSON that says of itself that it failed."""
        if self.kind.endswith("problem+json"):
            return True
        members = self.json if isinstance(self.json, dict) else {}
        folded = {str(key).lower(): value for key, value in members.items()}
        codes = (folded.get(key) for key in ("status", "statuscode", "code"))
        return (
            any(folded.get(key) is False for key in ("ok", "success"))
            or any(folded.get(key) for key in ("error", "errors"))
            or any(isinstance(code, int) and 400 <= code <= 599 for code in codes)
            or str(folded.get("status", "")).lower() in ("error", "fail", "failed")
        )

    @cached_property
    def language(self) -> str:
        """The language of its text, else the one that it claims; empty where neither is known."""
        claimed = _LANGUAGE.search(self._start)
        return self.text.language or (claimed[1].decode().lower() if claimed else "")

    @cached_property
    def choices(self) -> int:
        """How many languages or countries it lets its reader choose from."""
        return len({match.lower() for match in _CHOICE.findall(self._start)})

    @cached_property
    def has_form(self) -> bool:
        """It has something to fill in or to press."""
        return _FORM.search(self._start) is not None

    @cached_property
    def asks_for_password(self) -> bool:
        """It has a field for a password."""
        return _PASSWORD.search(self._start) is not None

    @cached_property
    def said(self) -> frozenset[str]:
        """The kinds of ``words.toml`` that its title, its path or its first words say."""
        return frozenset(page_text.kinds_said(self.title, self.path, self.text.start))

    def says(self, *kinds: str) -> bool:
        """Tell whether it says one of ``kinds``."""
        return not self.said.isdisjoint(kinds)

    def shares(self, other: Page) -> float:
        """Return which share of its words is in ``other``, the name that both carry in their titles left out."""
        name = page_text.name_hashes([self.title]) & page_text.name_hashes([other.title])
        own = self.text.words - name
        return len(own & other.text.words) / len(own) if own else 0.0


# Each rule: does it hold for the answer to be judged, beside the page that people get?


def _same_octets(answer: Page, reference: Page) -> bool:
    return answer.body == reference.body


def _says(answer: Page, reference: Page, *kinds: str) -> bool:
    """Tell whether a short answer of other words says one of ``kinds``, which the reference does not."""
    if answer.text.problem or answer.text.own >= SHORT or answer.shares(reference) >= page_text.HALF:
        return False
    return answer.says(*kinds) and not reference.says(*kinds)


def _says_blocked(answer: Page, reference: Page) -> bool:
    return _says(answer, reference, page_text.BLOCKED, page_text.SUSPECTED)


def _has_nothing(answer: Page, reference: Page) -> bool:
    """Tell whether there is nothing to read in an answer, and its reference is neither so short nor a like shell."""
    if answer.text.own >= NOTHING and not (answer.text.problem and answer.text.readable == 0):
        return False
    like_shell = answer.text.acts and not answer.text.problem and reference.text.own < READABLE_ENOUGH
    short = answer.text.own > 0 and reference.text.own < NOTHING
    return not (reference.text.nothing or like_shell or short)


def _far_less(answer: Page, reference: Page) -> bool:
    return answer.text.own * FAR < reference.text.own


def _wants_password(answer: Page, reference: Page) -> bool:
    return _far_less(answer, reference) and answer.asks_for_password and not reference.asks_for_password


def _says_error(answer: Page, reference: Page) -> bool:
    return (answer.fails and not reference.fails) or _says(answer, reference, page_text.ERROR)


def _other_format(answer: Page, reference: Page) -> bool:
    """Tell whether it has readable content in another format; a line of plain text may be anything, a gate is none."""
    if not answer.format or answer.format == reference.format or _gate(answer, reference):
        return False
    return answer.format != "plain text" or answer.text.own >= READABLE_ENOUGH


def _is_chooser(answer: Page, reference: Page) -> bool:
    if answer.choices < _CHOICES or answer.choices <= reference.choices / CLEARLY:
        return False
    return answer.text.own <= _PER_CHOICE * answer.choices or answer.says(page_text.GATE)


def _other_language(answer: Page, reference: Page) -> bool:
    differs = bool(answer.language and reference.language) and answer.language != reference.language
    return differs and not _far_less(answer, reference)


def _has_more(answer: Page, reference: Page) -> bool:
    if answer.text.own < READABLE_ENOUGH or answer.text.own <= reference.text.own:
        return False
    return answer.text.own >= CLEARLY * reference.text.own or _gate(reference, answer)


def _shares_most(answer: Page, reference: Page) -> bool:
    return answer.shares(reference) >= page_text.HALF


def _has_less(answer: Page, reference: Page) -> bool:
    if reference.text.own < NOTHING:
        return False
    hardly = answer.shares(reference) < _FEW_WORDS
    return _far_less(answer, reference) or (hardly and CLEARLY * answer.text.own < reference.text.own)


def _in_its_place(answer: Page, reference: Page) -> bool:
    """Tell whether it is another page altogether: as long, in one language, with another title and other words."""
    if answer.title == reference.title or answer.shares(reference) >= _FEW_WORDS or not answer.text.words:
        return False
    in_one_language = answer.language == reference.language != ""
    return in_one_language and reference.text.own >= READABLE_ENOUGH and not reference.says(page_text.GATE)


def _anything_else(answer: Page, reference: Page) -> bool:
    return True


class Row(NamedTuple):
    """One row of the comparison: its ``outcome``, and the rule by which an answer has it."""

    outcome: str
    holds: Callable[[Page, Page], bool]


ROWS: Final = (
    Row(SAME, _same_octets),
    Row(BLOCKED, _says_blocked),
    Row(NEGOTIATED, _is_chooser),
    Row(BLOCKED, _has_nothing),
    Row(BLOCKED, _wants_password),
    Row(ERROR, _says_error),
    Row(FORMAT, _other_format),
    Row(NEGOTIATED, _other_language),
    Row(MORE, _has_more),
    Row(SAME, _shares_most),
    Row(LESS, _has_less),
    Row(ERROR, _in_its_place),
    Row(SAME, _anything_else),
)
"""The outcome of a comparison: first match."""


def compare(reference: Page | None, answer: Page) -> str:
    """Return how ``answer`` stands to the page that people get, an outcome of ``COMPARED``.

    Without a ``reference`` it is BLOCKED where it says so or has nothing to read, else ALONE.
    """
    if reference is None:
        return BLOCKED if _denies(answer) else ALONE
    return next(row.outcome for row in ROWS if row.holds(answer, reference))


def _denies(answer: Page) -> bool:
    """Tell whether a page shows by itself, beside no other, that it is none."""
    text = answer.text
    return text.own < NOTHING or (text.own < SHORT and not text.problem and answer.says(page_text.BLOCKED))


def _is_page(page: Page) -> bool:
    """Tell whether a page shows by itself that it is one: a denial in a language that is not known is short."""
    return page.text.own >= READABLE_ENOUGH and not (_denies(page) or page.says(page_text.ERROR) or page.fails)


def _gate(page: Page, other: Page) -> bool:
    """Tell whether ``page`` stands before what ``other`` has: it has less, and a form or a choice is what it is for."""
    if other.text.own < READABLE_ENOUGH or other.text.own <= page.text.own or page.shares(other) >= page_text.HALF:
        return False
    clearly = CLEARLY * page.text.own <= other.text.own
    return page.says(page_text.GATE) or (clearly and (page.has_form or page.choices >= _CHOICES))


# Whose page people get.


def _agreeing(pages: Mapping[str, Page]) -> str:
    """Return the first agent whose page another one has too; empty where no two agree on a page with enough to read."""
    agents = {name: page for name, page in pages.items() if name not in (BROWSER, REAL) and _is_page(page)}
    for name, page in agents.items():
        if any(page_text.agree([page.text, other.text]) for key, other in agents.items() if key != name):
            return name
    return ""


def _browsers(pages: Mapping[str, Page]) -> str:
    """Return the browser, unless its page denies, or is a gate before a page that agents agree on."""
    page, agreed = pages.get(BROWSER), _agreeing(pages)
    if page is None or (page.text.own >= NOTHING and _denies(page)):
        return ""
    return "" if agreed and _gate(page, pages[agreed]) else BROWSER


def _real(pages: Mapping[str, Page]) -> str:
    page = pages.get(REAL)
    return REAL if page is not None and not _denies(page) else ""


REFERENCES: Final[tuple[tuple[str, Callable[[Mapping[str, Page]], str]], ...]] = (
    ("the browser", _browsers),
    ("a real browser", _real),
    ("two agents", _agreeing),
)
"""Who is the reference: the first that has a page. With none of them there is no reference."""


def reference_of(pages: Mapping[str, Page]) -> str:
    """Return whose of the ``pages``, by client, people get; empty where that is not known."""
    return next(filter(None, (find(pages) for _, find in REFERENCES)), "")


class PageComparison:
    """The pages of one scan: whose is the reference, and what each agent was served beside it.

    ``reads``: each page is also read as readers of text do.
    """

    def __init__(self, parser: ParserProcess, *, reads: bool = False) -> None:
        self._parser = parser
        self._reads = reads
        self._pages: dict[str, Page] = {}
        self._reading: defaultdict[tuple[bytes, str], asyncio.Lock] = defaultdict(asyncio.Lock)
        self._read: dict[tuple[bytes, str], PageReading] = {}
        self._known: dict[tuple[bytes, str, str], Page] = {}  # by body, content type and path
        self._again: list[PageText] = []  # what the browser got when it was asked again
        self._marked: dict[str, Page] = {}
        self._varies = False
        self.reference = ""

    async def take(self, exchange: Exchange, answer: Answer, name: str = "") -> None:
        """Take the page of a client that was served one, of browsers the first; ``name``: if it is not its probe's."""
        name = name or exchange.name
        if exchange.outcome != SERVED or (name in (BROWSER, REAL) and name in self._pages):
            return
        self._pages[name] = await self._page(exchange, answer)
        self.reference = reference_of(self._pages)

    @property
    def lacks_reference(self) -> bool:
        """Somebody was served a page, and it is not known what people get."""
        return bool(self._pages) and not self.reference

    async def control(self, exchange: Exchange, answer: Answer) -> None:
        """Take what the browser got when it was asked again, where an agent is marked."""
        if self._marked and exchange.outcome == SERVED and answer.body:
            self._again.append((await self._page(exchange, answer)).text)

    def mark(self, exchange: Exchange) -> Exchange:
        """Return ``exchange``, an answer to an agent that was taken, as challenged where its page does not serve it."""
        before, page = self._marked.pop(exchange.name, None), self._pages.get(exchange.name)
        if page is None or exchange.outcome != SERVED:
            return exchange
        outcome = self._compared(page)
        if outcome == ALONE or COMPARED[outcome] == SERVED:
            self._varies = self._varies or (before is not None and outcome != ALONE)
            return exchange
        self._marked[exchange.name] = page
        return replace(exchange, challenge=self._challenge(page), readable=page.text.readable)

    async def serves(self, exchange: Exchange, answer: Answer) -> bool:
        """Tell whether a request that looks for the cause of a refusal was served the page; marks nobody."""
        if exchange.outcome != SERVED:
            return False
        return COMPARED[self._compared(await self._page(exchange, answer))] == SERVED

    def settle(self, done: Mapping[str, Exchange], agents: Iterable[str], negotiated: Iterable[str]) -> list[Exchange]:
        """Return the answers to ``agents`` as they stand at the end, with the outcome of their comparison.

        A mark does not hold where the browser differs from itself or got that page too. ``negotiated``: agents whose
        page is another one for what they accept.
        """
        settled = []
        for name in agents:
            exchange, page = done[name], self._pages.get(name)
            if page is None or not (exchange.outcome == SERVED or exchange.another_page):
                continue
            outcome = self._compared(page)
            if not self.reference:
                outcome = ALONE
            elif name in self._marked and COMPARED[outcome] != SERVED:
                proven = self._proves(page)
                if name in negotiated and outcome != BLOCKED and not (page.fails or page.says(page_text.ERROR)):
                    outcome = NEGOTIATED
                elif proven is None and exchange.limited:
                    continue  # the time was too short
                elif not proven:
                    outcome = LESS if proven is None else SAME
            settled.append(self._with_outcome(exchange, page, outcome))
        return settled

    def _with_outcome(self, exchange: Exchange, page: Page, outcome: str) -> Exchange:
        """Return ``exchange`` with the ``outcome`` of its comparison; what was only marked is no refusal any more."""
        readable = page.text.readable if COMPARED[outcome] != SERVED or self._is_less(page) else None
        compared = "" if outcome == SAME else outcome
        if COMPARED[outcome] == CHALLENGED:
            return replace(exchange, compared=compared, readable=readable, challenge=self._challenge(page))
        if exchange.another_page:
            attempts = exchange.attempts if COMPARED[outcome] != SERVED else ()
            exchange = replace(exchange, challenge=None, controls=0, limited=False, attempts=attempts)
        return replace(exchange, compared=compared, readable=readable)

    def _proves(self, page: Page) -> bool | None:
        """Tell whether a marked ``page`` is always another than people get; None: the browser was asked only once."""
        if self.reference == BROWSER and not (self._again or self._varies):
            return None
        texts = [self._pages[self.reference].text, *(self._again if self.reference == BROWSER else ())]
        nothing = page.text.own < NOTHING  # the site's name alone is a word of every page of it
        others = nothing or all(page_text.share(page.text, text) < page_text.HALF for text in texts)
        return others and not self._varies and page_text.agree(texts)

    def _compared(self, page: Page) -> str:
        """Return how ``page`` stands to the reference; a gate that a browser gets too is what people get at first."""
        browser = self._pages.get(BROWSER)
        if browser is not None and self.reference not in ("", BROWSER) and page_text.agree([page.text, browser.text]):
            return SAME
        return compare(self._pages.get(self.reference), page)

    def _is_less(self, page: Page) -> bool:
        reference = self._pages.get(self.reference)
        if reference is None or page.text.problem or reference.text.problem:
            return False
        return page.text.readable * CLEARLY < reference.text.readable

    async def read(self, answer: Answer) -> PageReading:
        """Return what an answer says; a page that several clients get is read once."""
        key = answer.body, answer.content_type
        async with self._reading[key]:  # clients that get it at the same time wait for one reading
            if key not in self._read:
                self._read[key] = await self._parser.page(*key, reads=self._reads)
        return self._read[key]

    async def _page(self, exchange: Exchange, answer: Answer) -> Page:
        text = (await self.read(answer)).text
        key = answer.body, answer.content_type, answer.url.path
        if key not in self._known:
            path = answer.url.path.partition("?")[0]
            self._known[key] = Page(text, answer.body, answer.content_type, exchange.title, path)
        return self._known[key]

    def _challenge(self, page: Page) -> Challenge:
        """Return what gives a page away that is not the one that people get."""
        start = "" if page.title else f"“{clean(page.text.start, _QUOTED)}”, "
        reference = self._pages.get(self.reference)
        whose = "the browser’s page" if self.reference in (BROWSER, REAL) else "the page of other agents"
        comparison = "" if reference is None else f" where {whose} has {reference.text.readable:,}"
        readable = f"{start}{page.text.readable:,} readable characters{comparison}"
        signal = readable if page.text.readable else "nothing to read"
        return Challenge(vendor=ANOTHER_PAGE, signal=signal, tier="")

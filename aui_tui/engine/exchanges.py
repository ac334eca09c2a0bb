"""From a raw answer to the recorded exchange: what was served, recognised and cleaned. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, TypeVar
from urllib.parse import quote

import msgspec

from aui_tui.engine import markup, page, walls
from aui_tui.engine.policy import Limits
from aui_tui.engine.probes import HIDDEN, MAX_URL, Answer
from aui_tui.records.decoding import convert
from aui_tui.records.observations import Attempt, Exchange
from aui_tui.text import clean

MAX_TITLE: Final = 300
MAX_VALUE: Final = 512
"""Characters of a header value that are recorded."""
MAX_REQUEST: Final = 40
"""Fields of a request that are recorded."""
MAX_TEXT: Final = 1500
"""Characters of a page's readable text that are recorded."""
_BEGINNING: Final = 1 << 16
"""Octets of a body that are looked at first for its text."""
_HIDDEN: Final = HIDDEN
_FOREIGN: Final = frozenset(
    {"headers", "request", "text", "url", "location", "title", "site_name", "detail", "signal", "reference"}
    | {"rule", "spelling", "notes"}
)
"""Fields of the observation types whose texts come from a site."""

T = TypeVar("T", bound=msgspec.Struct)


def exchange(answer: Answer, limits: Limits, *, judged: bool) -> Exchange:
    """Return the record of ``answer``; with ``judged`` walls, terms and the title are looked for in it."""
    readable = judged and answer.status != 0 and not answer.error
    headers = answer.mapping()
    return Exchange(
        name=answer.name,
        url=clean(str(answer.url), MAX_URL),
        status=answer.status,
        headers=tuple(_kept(name, value) for name, value in answer.headers[: limits.kept]),
        title=clean(page.title(answer.body, answer.content_type), MAX_TITLE) if readable else "",
        error=answer.error,
        detail=clean(answer.detail, 400),
        elapsed_ms=answer.elapsed_ms,
        bytes=len(answer.body),
        cut=answer.cut,
        http_version=answer.http_version,
        hops=tuple(answer.hops),
        challenge=walls.recognise(answer.status, headers, answer.body, str(answer.url)) if readable else None,
        terms=readable and walls.terms(answer.status, headers),
        request=tuple(_cleaned(name, value) for name, value in answer.request[:MAX_REQUEST]),
        text=_text(answer.body) if readable and _is_text(answer) else "",
    )


def _text(body: bytes) -> str:
    """Return the readable text of ``body`` as it is recorded; most bodies begin with enough of it."""
    found = _text_of(body[:_BEGINNING])
    return found if len(found) == MAX_TEXT or len(body) <= _BEGINNING else _text_of.__wrapped__(body)


@lru_cache(maxsize=64)
def _text_of(body: bytes) -> str:
    """Return the readable text of ``body``. Many sites give every identity the same one, within half a second."""
    return clean(markup.text(body, MAX_TEXT), MAX_TEXT)


def _is_text(answer: Answer) -> bool:
    kind = answer.content_type.partition(";")[0].strip().lower()
    return not kind or kind.startswith("text/") or kind.endswith(("xml", "json"))


def shared_text(found: Sequence[Exchange]) -> tuple[Exchange, ...]:
    """Return ``found``, the browser first, with the text of a page kept once where a probe got the browser's."""
    browser = found[0].text if found else ""
    return tuple(
        msgspec.structs.replace(one, text="", same_text=True) if number and one.text and one.text == browser else one
        for number, one in enumerate(found)
    )


def replaced(first: Exchange, second: Exchange) -> Exchange:
    """Return ``second`` with the answer that it stands for, ``first``, listed in ``attempts``."""
    attempt = Attempt(
        status=first.status, outcome=first.outcome, elapsed_ms=first.elapsed_ms, challenge=first.challenge
    )
    return msgspec.structs.replace(second, attempts=(*first.attempts, *second.attempts, attempt))


def without(record: T, secrets: Sequence[str]) -> T:
    """Return ``record`` with every secret hidden in the texts that come from a site, however the site echoed it.

    Case is ignored: a host name in a URL is lower case whatever was echoed.
    """
    if not secrets:
        return record
    forms = {
        form for secret in secrets for form in (secret, quote(secret, safe=""), quote(secret), clean(secret)) if form
    }
    ordered = "|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True))
    pattern = re.compile(ordered, re.IGNORECASE)
    return convert(_hidden(msgspec.to_builtins(record), pattern, own=True), type(record))


def _hidden(value: Any, forms: re.Pattern[str], *, own: bool) -> Any:
    """Return ``value`` with ``forms`` hidden; ``own`` texts are the product's words and stay as they are."""
    if isinstance(value, dict):
        return {key: _hidden(item, forms, own=own and key not in _FOREIGN) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_hidden(item, forms, own=own) for item in value]
    return forms.sub(_HIDDEN, value) if isinstance(value, str) and not own else value


def _kept(name: str, value: str) -> tuple[str, str]:
    if name == "set-cookie":
        value = value.partition("=")[0] + "=" + _HIDDEN
    return _cleaned(name, value)


def _cleaned(name: str, value: str) -> tuple[str, str]:
    """Return a header field, fit to be kept."""
    short = len(name) + len(value) <= MAX_VALUE
    return _field(name, value) if short else _field.__wrapped__(name, value)


@lru_cache(maxsize=1024)
def _field(name: str, value: str) -> tuple[str, str]:
    """Return a header field, fit to be kept; the answers of one site have most of theirs in common."""
    return clean(name, 100), clean(value, MAX_VALUE)

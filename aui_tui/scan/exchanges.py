"""The records of raw answers: cleaned, with walls recognised in them, and without the user's secrets. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from html import escape
from typing import Any, Final, TypeVar
from urllib.parse import quote

import msgspec
from msgspec.structs import replace

from aui_tui.model.observations import (
    FILE_PROBES,
    HIDDEN,
    Attempt,
    Challenge,
    Declaration,
    Exchange,
    SignedProbe,
)
from aui_tui.scan import agent_files, markup, walls
from aui_tui.scan.charset import media_type, to_utf8
from aui_tui.scan.policy import Limits
from aui_tui.scan.probes import MAX_URL, Answer
from aui_tui.text import clean

MAX_VALUE: Final = 512
"""Characters of a header value that are recorded."""
MAX_REQUEST: Final = 40
"""Fields of a request that are recorded."""
MAX_TEXT: Final = 1500
"""Characters of a page's readable text that are recorded."""
_OWN_FIELDS: Final = """
host input_host origin scanned_at ran_at at vantage limits http_version error outcome vendor tier result served token
policy effective kind agents by fields key state agent browser door robots task reason change verb mark
"""
OWN_FIELDS: Final = frozenset(_OWN_FIELDS.split())
"""Fields of the observation types with the product's own words or the user's; every other text may come from a site."""
OWN_NAMES: Final = (Exchange, SignedProbe, Declaration)
"""Types whose ``name`` is the product's own word."""

T = TypeVar("T")


def exchange(answer: Answer, limits: Limits) -> Exchange:
    """Return the record of ``answer``, with its title and the wall or the terms that it is."""
    readable = answer.status != 0 and not answer.error
    headers = answer.mapping()
    title, text = shown(answer.body, answer.content_type) if readable else ("", "")
    return Exchange(
        name=answer.name,
        url=clean(str(answer.url), MAX_URL),
        status=answer.status,
        headers=tuple(_response_field(name, value) for name, value in answer.headers[: limits.kept]),
        title=title,
        error=answer.error,
        detail=clean(answer.detail, 400),
        elapsed_ms=answer.elapsed_ms,
        bytes=len(answer.body),
        cut=answer.cut,
        http_version=answer.http_version,
        hops=tuple(answer.hops),
        challenge=wall(answer) if readable else None,
        terms=readable and walls.terms(answer.status, headers, answer.body),
        request=tuple(_field(name, value) for name, value in answer.request[:MAX_REQUEST]),
        text=text if is_text(answer) else "",
    )


@lru_cache(maxsize=16)
def shown(body: bytes, content_type: str) -> tuple[str, str]:
    """Return title and first text of a body. Most sites give every identity the same one, within half a second."""
    html = to_utf8(body, content_type)
    return markup.title(html), clean(markup.text(html, MAX_TEXT), MAX_TEXT)


def wall(answer: Answer) -> Challenge | None:
    """Return the block page or challenge that ``answer`` is; of a file that is no page only its fields say so."""
    page = answer.name not in FILE_PROBES or not 200 <= answer.status <= 299 or agent_files.is_page(answer.body)
    return walls.recognise(answer.status, answer.mapping(), answer.body if page else b"", str(answer.url))


def is_text(answer: Answer) -> bool:
    """Return whether an answer is of a type that is text."""
    kind = media_type(answer.content_type)
    return not kind or kind.startswith("text/") or kind.endswith(("xml", "json"))


def shared_text(exchanges: Sequence[Exchange]) -> tuple[Exchange, ...]:
    """Return ``exchanges``, the browser first, with the text of a page kept once where a probe got the browser's."""
    browser = exchanges[0].text if exchanges else ""
    return tuple(
        replace(exchange, text="", same_text=True)
        if number and exchange.text and exchange.text == browser
        else exchange
        for number, exchange in enumerate(exchanges)
    )


def with_attempt(first: Exchange, second: Exchange) -> Exchange:
    """Return ``second`` with the answer that it stands for, ``first``, listed in ``attempts``."""
    attempt = Attempt(
        status=first.status, outcome=first.outcome, elapsed_ms=first.elapsed_ms, challenge=first.challenge
    )
    return replace(second, attempts=(*first.attempts, *second.attempts, attempt))


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
    redacted: T = _redacted(record, re.compile(ordered, re.IGNORECASE))
    return redacted


def _redacted(value: Any, forms: re.Pattern[str], *, own: bool = False) -> Any:
    """Return ``value`` with ``forms`` hidden; ``own`` texts are the product's words and stay as they are."""
    if isinstance(value, str):
        return value if own else forms.sub(HIDDEN, value)
    if isinstance(value, tuple):
        return tuple(_redacted(item, forms, own=own) for item in value)
    if isinstance(value, msgspec.Struct):
        own_fields = OWN_FIELDS | {"name"} if isinstance(value, OWN_NAMES) else OWN_FIELDS
        parts = {name: getattr(value, name) for name in value.__struct_fields__}
        return replace(value, **{name: _redacted(part, forms, own=name in own_fields) for name, part in parts.items()})
    return value


def _response_field(name: str, value: str) -> tuple[str, str]:
    if name == "set-cookie":
        value = value.partition("=")[0] + "=" + HIDDEN
    return _field(name, value)


def _field(name: str, value: str) -> tuple[str, str]:
    """Return a header field, fit to be kept."""
    return clean(name, 100), clean(value, MAX_VALUE)

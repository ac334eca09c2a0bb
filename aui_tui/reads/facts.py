"""The facts of a page: what JSON-LD, microdata, meta elements and text say, and where a text has a fact."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

import msgspec

from aui_tui.model.reads import ALT, HIDDEN, JSON_LD, LABEL, META, MICRODATA, NOSCRIPT, TEXT, Fact
from aui_tui.reads.text import PageText
from aui_tui.text import tidy

MOST: Final = 40
"""Facts kept of a page."""
EACH: Final = 8
"""Facts kept of one kind."""
NODES: Final = 3000
"""Values of JSON-LD that are looked at."""
LONGEST: Final = 160

NAMES: Final = {
    "name": "name", "headline": "name", "price": "price", "lowprice": "price", "highprice": "price",
    "availability": "availability", "telephone": "phone", "email": "mail", "streetaddress": "address",
    "opens": "hours", "closes": "hours", "openinghours": "hours", "startdate": "date", "datepublished": "date",
    "enddate": "date", "validfrom": "date",
}  # fmt: skip
"""Properties of schema.org, in lower case, and the kind of fact that they state."""
METAS: Final = {
    "og:title": "name", "og:site_name": "name", "product:price:amount": "price", "og:price:amount": "price",
    "product:availability": "availability", "og:availability": "availability",
    "business:contact_data:phone_number": "phone", "business:contact_data:email": "mail",
    "business:contact_data:street_address": "address", "article:published_time": "date",
}  # fmt: skip
_UNNAMED: Final = frozenset(("listitem", "breadcrumblist", "searchaction", "readaction", "imageobject", "website"))
"""Types whose name is not what the page is about."""
_SYMBOLS, _CODES = "$€£¥₹₽₺", ("USD", "EUR", "GBP", "CHF", "JPY", "SEK", "NOK", "DKK", "PLN", "CZK")
_SYMBOL, _CODE, _BLANK = f"[{_SYMBOLS}]", f"(?:{'|'.join(_CODES)})", r"[ \u00a0]"
_SIGN: Final = rf"(?:{_SYMBOL}|US\$|R\$|{_CODE}\b|kr\b|zł|Kč)"
_SIGNS_BEFORE: Final = (
    *(f"{sign}{blank}" for sign in (_SYMBOL, "zł", "Kč") for blank in ("", _BLANK)),
    *(f"{sign}{_BLANK}" for sign in (_CODE, "kr")),
)
"""How what stands before an amount ends where it has a sign, each of one length."""
_LONGEST_SIGN: Final = len("US$ ")
_ENDS_IN_SIGN: Final = re.compile(rf"{_SIGN}{_BLANK}?\Z", re.IGNORECASE)
_AMOUNT: Final = r"\d{1,3}(?:[.,\u00a0\u202f' ]\d{3}){0,3}(?:[.,]\d{1,2})?(?!\d)|\d{1,7}(?:[.,]\d{1,2})?(?!\d)"
_PRICE: Final = re.compile(rf"{_SIGN}[ \u00a0]?(?:{_AMOUNT})|(?<![\d.,])(?:{_AMOUNT})[ \u00a0]?{_SIGN}(?![ \u00a0]?\d)")
_MARK: Final = re.compile(
    "|".join([*map(re.escape, (*_SYMBOLS, "US$", "R$", "zł", "Kč")), *(rf"{code}\b" for code in ("kr", *_CODES))])
)
"""What _SIGN matches; each choice begins with its letter, which a search looks for at once."""
_AT, _PLUS = re.compile("@"), re.compile(r"\+")
_MAIL: Final = re.compile(r"[\w.+-]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{2,63}){1,4}", re.IGNORECASE)
_PHONE: Final = re.compile(r"\+\d[\d ()./\u00a0-]{7,20}\d")
LONGEST_PREFIX: Final = 16
"""Letters of a phone number before its last eight digits."""
_NUMBER_BEGINS: Final = re.compile(r"[+(]?\d[\d ()./\u00a0\u2011-]*\Z")
"""The beginning of a phone number, at the end of what stands before its last digits."""
_DIGITS: Final = re.compile(r"\D+")
_DATE: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_CLOCK: Final = re.compile(r"\b([01]?\d|2[0-3]):([0-5]\d)")
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_AVAILABLE: Final = {
    "instock": r"in stock|available|auf lager|lieferbar|verfügbar|disponible|en stock|disponibile|в наличии",
    "outofstock": r"out of stock|sold out|unavailable|ausverkauft|épuisé|agotado|esaurito|нет в наличии",
    "preorder": r"pre-?order|vorbestell|précommande",
    "soldout": r"sold out|ausverkauft|épuisé|agotado",
}
"""Words by which a text says the availabilities of schema.org."""


def facts(page: PageText, text: str) -> tuple[Fact, ...]:
    """Return the facts of ``page``, whose whole text is ``text``; structured ones first, each value once per kind."""
    places_of: dict[tuple[str, str], list[str]] = {}
    for kind, value, place in _stated(page, text):
        value = _value(kind, value)
        if value:
            places = places_of.setdefault((kind, value), [])
            if place not in places:
                places.append(place)
    written = {place for place, _ in page.runs}
    shares = {place: _joined(page, place) for place in (TEXT, HIDDEN, NOSCRIPT) if place in written}
    shares |= {place: "\n".join(label for where, label in page.labels if where == place) for place in (ALT, LABEL)}
    out: list[Fact] = []
    for (kind, value), places in places_of.items():
        if len(out) == MOST or sum(fact.kind == kind for fact in out) == EACH:
            continue
        if places == [TEXT] and any(fact.kind == kind and find(kind, fact.value, value) >= 0 for fact in out):
            continue  # the same in other signs
        spoken = [place for place, share in shares.items() if share and find(kind, value, share) >= 0]
        where = (*(place for place in places if place != TEXT), *spoken)
        out.append(Fact(kind=kind, value=value, where=where, at=find(kind, value, text)))
    return tuple(out)


def _joined(page: PageText, place: str) -> str:
    joined = "".join(["".join(pieces) if where == place else "\n" for where, pieces in page.runs])
    return " ".join(joined.split())


def find(kind: str, value: str, text: str) -> int:
    """Return the letter of ``text`` at which it states ``value``, however written; -1 where it does not."""
    if kind == "phone":
        return _find_digits(_DIGITS.sub("", value)[-8:], text)
    if kind == "price":
        return _find_price(value, text)
    pattern = _pattern(kind, value)
    match = re.search(pattern, text, re.IGNORECASE) if pattern else None
    return match.start() if match else -1


def _find_digits(digits: str, text: str) -> int:
    if len(digits) < 6:
        return -1
    pattern = r"[ ()./\u00a0\u2011-]{0,3}".join(digits)
    match = re.search(pattern, text)
    if match is None:
        return -1
    before = _NUMBER_BEGINS.search(text, max(0, match.start() - LONGEST_PREFIX), match.start())
    return before.start() if before else match.start()


def _pattern(kind: str, value: str) -> str:
    """Return a pattern of the ways in which a text writes ``value``."""
    if kind == "availability":
        return _AVAILABLE.get(value.lower(), "")
    if kind == "date":
        return _date_pattern(value)
    if kind == "hours":
        return "|".join(_clock(int(hour), minute) for hour, minute in _CLOCK.findall(value)[:1]) or re.escape(value)
    words = r"\s+".join(map(re.escape, value.split()))
    if value[:1].isascii() and value[:1].isalnum():
        words = rf"{value[0]}(?<![A-Za-z0-9]{value[0]}){words[1:]}"  # a letter first: it is tried everywhere
    return words + ("(?![A-Za-z0-9])" if value[-1:].isascii() and value[-1:].isalnum() else "")


def _find_price(value: str, text: str) -> int:
    """Return the letter at which ``text`` has a price, the sign before it included; -1 where it has none.

    The expression begins with digits and looks back from behind them: one that begins with a choice of signs is tried
    at every letter, and takes 20 times as long.
    """
    whole, _, cents = value.partition(".")
    first, *groups = _thousands(whole)
    rest = "".join(rf"[.,'\u00a0\u202f ]?{group}" for group in groups)
    alone = rf"(?<![\d.,]{first}){rest}"
    if cents.strip("0"):
        match = re.search(rf"{first}{alone}[.,]{cents[:2].rstrip('0')}0?(?!\d)", text)
        return match.start() if match else -1
    signed = "|".join(rf"(?<={sign}{first})" for sign in _SIGNS_BEFORE)
    after = rf"[.,](?:00|-|–)(?!\d)|{_BLANK}?{_SIGN}"
    match = re.search(rf"{first}(?:({signed}){rest}(?![\d.,]\d)|{alone}(?:{after}))", text, re.IGNORECASE)
    if match is None or match[1] is None:
        return match.start() if match else -1
    sign = _ENDS_IN_SIGN.search(text, max(match.start() - _LONGEST_SIGN, 0), match.start())
    return sign.start() if sign else match.start()


def _thousands(whole: str) -> list[str]:
    first = len(whole) % 3 or 3
    return [whole[:first], *(whole[at : at + 3] for at in range(first, len(whole), 3))]


def _date_pattern(value: str) -> str:
    match = _DATE.match(value)
    if match is None:
        return re.escape(value)
    year, month, day = match[1], int(match[2]), int(match[3])
    if not 1 <= month <= 12:
        return re.escape(match[0])
    name = rf"{_MONTHS[month - 1]}[a-z]*\.?"
    numbers = rf"0?{day}[./-]0?{month}[./-](?:{year}|{year[2:]})|0?{month}/0?{day}/(?:{year}|{year[2:]})"
    return rf"{match[0]}|0?{day}(?:st|nd|rd|th|\.)? {name},? {year}|{name} 0?{day}(?:st|nd|rd|th)?,? {year}|{numbers}"


def _clock(hour: int, minute: str) -> str:
    half = f"{hour % 12 or 12}"
    sharp = rf"(?::{minute})?" if minute == "00" else f":{minute}"
    return rf"(?<!\d)0?{hour}[:.h]{minute}(?!\d)|(?<!\d){half}{sharp} ?{'am' if hour < 12 else 'pm'}"


def _value(kind: str, value: str) -> str:
    """Return ``value`` in one form: a price as ``1299.00``, an availability by its word."""
    value = tidy(value, LONGEST)
    if kind == "price":
        return amount(value)
    if kind == "availability":
        return re.split(r"[/#]", value)[-1].replace(" ", "")
    if kind == "mail":
        return value.removeprefix("mailto:").partition("?")[0].lower()
    if kind == "phone":
        return value.removeprefix("tel:")
    return value


def amount(text: str) -> str:
    """Return the number in ``text`` with a point before its cents and no other sign; empty for none."""
    match = re.search(r"\d[\d.,'\u00a0\u202f ]*", text)
    if match is None:
        return ""
    digits = re.sub(r"['\u00a0\u202f ]", "", match[0]).rstrip(".,")
    parts = re.split(r"[.,]", digits)
    cents = parts.pop() if len(parts) > 1 and len(parts[-1]) in (1, 2) else ""
    whole = "".join(parts).lstrip("0") or "0"
    return (f"{whole}.{cents}" if cents else whole) if len(whole) <= 12 else ""


def _stated(page: PageText, text: str) -> Iterator[tuple[str, str, str]]:
    """Yield kind, value and place of all that is stated."""
    for block in page.data:
        try:
            data = msgspec.json.decode(block)
        except (ValueError, RecursionError):
            continue
        for kind, value in _in_json(data):
            yield kind, value, JSON_LD
    for name, value in page.marked:
        for word in name.split():
            if word.lower() in NAMES:
                yield NAMES[word.lower()], value, MICRODATA
    for name, value in page.metas:
        if name in METAS:
            yield METAS[name], value, META
    for link in page.linked:
        for scheme, kind in (("mailto:", "mail"), ("tel:", "phone")):
            if link.lower().startswith(scheme):
                yield kind, link[len(scheme) :], TEXT
    for kind, mark, pattern in (("price", _MARK, _PRICE), ("mail", _AT, _MAIL), ("phone", _PLUS, _PHONE)):
        for value in islice(_in_text(text, mark, pattern), EACH):
            yield kind, value, TEXT


def _in_text(text: str, mark: re.Pattern[str], pattern: re.Pattern[str]) -> Iterator[str]:
    """Yield what matches ``pattern`` in the lines that have a ``mark``; to look for it everywhere takes much longer."""
    end = 0
    while (mark_match := mark.search(text, end)) is not None:
        start = text.rfind("\n", end, mark_match.start()) + 1 or end
        line_end = text.find("\n", mark_match.end())
        end = len(text) if line_end < 0 else line_end
        for match in pattern.finditer(text, start, end):
            yield match[0]
        if line_end < 0:
            return


def _in_json(data: Any) -> Iterator[tuple[str, str]]:
    """Yield kind and value of the properties in a JSON-LD block, in their order."""
    waiting: list[tuple[Any, str, bool]] = [(data, "", True)]
    for _ in range(NODES):
        if not waiting:
            return
        value, key, named = waiting.pop()
        if isinstance(value, dict):
            types = value.get("@type", "")
            kinds = {str(schema_type).lower() for schema_type in (types if isinstance(types, list) else [types])}
            waiting += [(value[name], name.lower(), _UNNAMED.isdisjoint(kinds)) for name in reversed(value)]
        elif isinstance(value, list):
            waiting += [(item, key, named) for item in reversed(value)]
        elif isinstance(value, (str, int, float)) and not isinstance(value, bool):
            kind = NAMES.get(key, "")
            if kind and (kind != "name" or named):
                yield kind, f"{value:g}" if isinstance(value, float) and value == int(value) else str(value)

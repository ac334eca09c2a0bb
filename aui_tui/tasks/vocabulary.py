"""Words that decide: names in many languages, prices, addresses and telephone numbers. Pure; the lists are data."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from aui_tui.packaged import read_table

_BOUND: Final = r"(?:^|\b|(?<=\W))(?:"
_JOINED: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@cache
def _table() -> dict[str, Any]:
    return read_table("tasks/names.toml", dict[str, Any])


def _names(*keys: str) -> re.Pattern[str]:
    """Return the pattern of lists; where letters join without blanks between words, a word may stand anywhere."""
    every = [word for key in keys for word in _table()[key]]
    bound = [word for word in every if not _JOINED.search(word)]
    joined = [word for word in every if _JOINED.search(word)]
    return re.compile("|".join([_BOUND + "|".join(bound) + ")", *joined]), re.IGNORECASE)


SEARCH: Final = _names("search")
SEEK: Final = _names("search", "seek")
"""What a field is named that one searches with."""
CONTACT: Final = _names("contact")
WHERE: Final = _names("where")
ABOUT: Final = _names("about")
PEOPLE: Final = _names("people")
ADD: Final = _names("add", "book")
BUY: Final = _names("add")
BOOK: Final = _names("book")
"""What keeps a place, a time or a thing, and puts nothing into a cart."""
TAKE: Final = _names("add", "book", "trial")
ENTER: Final = _names("enter")
TAKES: Final = _names("add", "book", "trial", "enter")
"""What takes an offer in one way or another."""
SELLS: Final = _names("add", "book", "trial", "enter", "shop")
"""What says that something is to be had."""
_CHOOSE: Final = _names("choose")
ASIDE: Final = _names("aside")
TAKEN: Final = _names("taken", "kept")
HOLDS: Final = _names("holds")
"""What stands before the name of a thing among those that are taken."""
KEPT: Final = _names("kept")
"""What a page says once a place, a seat or a time is kept for one person."""
TAKE_LAST: Final = re.compile("(?:" + "|".join(_table()["take_last"]) + ")$", re.IGNORECASE)
CART: Final = _names("cart")
CHOSEN_FIRST: Final = _names("chosen_first")
"""What a page asks for where something was to be chosen first."""
OWN: Final = _names("own")
"""What a heading says of a list that is the reader's own."""
UNDOES: Final = _names("never")
"""What is not tried, even where nothing can leave."""
NEVER: Final = _names("never", "buys")
"""What is not followed, nor pressed where something could leave."""
GENERIC: Final = re.compile("^(?:" + "|".join(_table()["generic"]) + ")", re.IGNORECASE)
MAIL: Final = _names("mail")
MENU: Final = _names("menu")
MISSING: Final = _names("missing")
INVITE: Final = _names("invite")
NEXT: Final = _names("next")
PUZZLE: Final = _names("puzzle")
PROOF: Final = _names("puzzle", "letters")
"""What asks for proof of a person right after a press, or before a field."""
REVEAL: Final = _names("reveal")
BID: Final = _names("bid")
SHOP: Final = _names("shop")
TRAP: Final = _names("trap")
REJECT: Final = _names("reject")
CLOSE: Final = _names("close")
ACCEPT: Final = _names("accept")
DISMISS: Final = (REJECT, CLOSE, ACCEPT)
OTHERS: Final = (SEARCH, MENU, CONTACT, GENERIC, CART, *DISMISS)
"""Names of controls that choose nothing and buy nothing."""
CONSENT: Final = _names("consent")
COMMITS: Final = _names("commits")
SEARCH_MARKS: Final = "|".join(_table()["search_marks"])
"""A pattern for the markup of a search."""
SAYS_SEARCH: Final = f"{SEARCH.pattern}|{SEARCH_MARKS}"
SAYS_WAY: Final = "|".join(_table()["way_marks"])
SAYS_CONTACT: Final = "|".join([CONTACT.pattern, REVEAL.pattern, *_table()["contact_marks"], SAYS_WAY])
COUNTS: Final = _names("counts")
"""What says that digits count something, or tell a time or a code."""
_CALL: Final = r"tel|phone|fon|call|ring|rufen|appelez|llám|chiama|bel\b|zadzwoń|telefon|téléphone|teléfono|電話|电话"
SAYS_NUMBER: Final = f"{SAYS_CONTACT}|{_CALL}"
"""A pattern for what stands before a number to call, in a text or in markup."""
OTHER_ICON: Final = re.compile("|".join(_table()["other_icons"]), re.IGNORECASE)
"""What markup calls an icon beside a thing that does not take it."""
SAYS_PRICE: Final = "|".join(_table()["price_marks"])
"""Patterns for what stands in a text or in its markup."""
STOP: Final = frozenset(_table()["stop"])
_ITSELF: Final = frozenset(_table()["itself"])

_CURRENCY: Final = (
    r"(?:[€$£¥￥﷼₹₩₽₺₴₪฿₫₱₦₡₲]|\b(?:EUR|USD|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK|HUF|RON|BGN|TRY|BRL|MXN|AUD|CAD|NZD|"
    r"SGD|HKD|ZAR|AED|SAR|KRW|THB)\b|R\$|\bkr\.?(?!\w)|zł|Kč|\bFt\b|\blei\b|\b(?:Rs|Rp|RM|TL)(?![^\W\d_])\.?|"
    r"元|円|원|руб|\bгрн|\bлв\b|\bевро\b|(?<!\w)(?:ر\.س|د\.إ|ج\.م)\.?|تومان|ریال|ريال|\beuros?\b|\bdollars?\b|\bpounds?\b)"
)
_AMOUNT: Final = r"(?:\d{1,3}(?:[.,'’\s\u00a0\u202f]\d{3})+|\d{1,9})(?:[.,٫]\d{1,2}(?!\d)|[.,][-–—]{1,2})?"
PRICE: Final = re.compile(rf"{_CURRENCY}\s?{_AMOUNT}|{_AMOUNT}\s?{_CURRENCY}|\b\d{{1,6}}:-")
"""An amount beside a currency sign or an ISO 4217 code."""
_GLYPH: Final = "[\ue000-\uf8ff]"
_DRAWN: Final = rf"[\d.,]*(?:{_GLYPH}[.,\d]*{_GLYPH}|\d[.,]?{_GLYPH})(?:[\d.,]|{_GLYPH})*"
_DRAWN_PRICE: Final = re.compile(rf"({_CURRENCY}\s?){_DRAWN}|{_DRAWN}(\s?{_CURRENCY})")
_UNREAD: Final = "\ufffd"
UNREAD_PRICE: Final = re.compile(rf"{_CURRENCY}\s?{_UNREAD}|{_UNREAD}\s?{_CURRENCY}")
"""A mark for an amount beside a currency: its digits are no text."""
_ROLL: Final = re.compile(
    r"(?<!\d)(?:0\s?1\s?2\s?3\s?4\s?5\s?6\s?7\s?8\s?9(?:\s?0(?!\s?1))?|9\s?8\s?7\s?6\s?5\s?4\s?3\s?2\s?1\s?0(?:\s?9(?!\s?8))?)"
)
_ROLLED: Final = re.compile(rf"{_UNREAD}(?:[\s.,]*{_UNREAD})*")


def undrawn(text: str) -> str:
    """Return ``text`` with a mark for each amount in letters of private use, which the page's font draws as digits."""
    return _DRAWN_PRICE.sub(lambda match: f"{match[1] or ''}{_UNREAD}{match[2] or ''}", text)


def unrolled(text: str) -> str:
    """Return ``text`` with a mark for each run of columns of all ten digits: what they show is told by their place."""
    return _ROLLED.sub(_UNREAD, _ROLL.sub(_UNREAD, text))


EMAIL: Final = re.compile(
    r"[\w.+-]{1,64}(?:@|\s?[\[(](?:at|ät)[\])]\s?)[\w-]{1,63}(?:(?:\.|\s?[\[(](?:dot|punkt)[\])]\s?)[\w-]{1,63}){1,5}|"
    r"[\w.+-]{1,64} at [\w-]{1,63}(?: dot [\w-]{1,63}){1,5}",
    re.IGNORECASE,
)
PHONE: Final = re.compile(
    # a national number after a word and a colon: groups of nine digits and more that begin with 0
    r"(?:\bdial\b|:)\s?(?=0(?:[ -]?\d){8,11}(?![\d-]))0\d{1,5}(?:[ -]\d{2,6}){1,4}|"
    r"(?:\+|\b00)\d[\d\s().\-/]{7,17}\d|"
    rf"(?:{_CALL})[^\d]{{0,16}}\(?\d[\d\s().\-/]{{5,16}}\d",
    re.IGNORECASE,
)
_NATIONAL: Final = r"0[1-9]\d{1,3}(?: ?[/-] ?| )\d{2,8}(?:[ -]\d{2,8}){0,3}|0[1-9](?:[ .]\d\d){4}|0[1-9] \d{3,4} \d{4}"
BARE_NUMBER: Final = re.compile(
    # of 9 to 12 digits, none in the form of a date or a count
    rf"\W*?(?=(?:\D*\d){{9,12}}\D*$)({_NATIONAL}|"
    r"[5-9]\d\d \d{3} \d{3}|\(0?\d{2,4}\) ?\d{2,8}(?:[ -]\d{2,8}){0,3}|\d{3}[ .-]\d{3}[ .-]\d{4})\W*"
)
"""A whole text that is a telephone number in groups, with nothing that says so."""
_LAST_NUMBER: Final = re.compile(
    # a line break is nothing in the outline of the DOM
    rf"(?:^|(?<=[^\W\d_] )|(?<=[^\W\d_A-Z])|(?<=[^\W\d_][,)] )|(?<=[|·–] ))(?=(?:\D*\d){{9,12}}\D*$)({_NATIONAL})\W*$"
)
_REGISTER: Final = _names("registers")


def bare_number(text: str, *, asked: bool = False) -> str:
    """Return the national telephone number in groups that a text is or ends with; empty without one.

    None after what says that it is a number of a register, an account or a thing. ``asked``: a number was asked for, so
    that a whole text counts in forms of other numbers too.
    """
    match = (BARE_NUMBER.fullmatch(text) if asked else None) or _LAST_NUMBER.search(text)
    return match[1] if match is not None and not _REGISTER.search(text) else ""


def way_in(text: str) -> str:
    """Return the e-mail address or the telephone number that the lines of a text say; empty without one."""
    match = EMAIL.search(text) or PHONE.search(text)
    bare = (bare_number(line, asked=True) for line in text.splitlines())
    return match[0].strip() if match is not None else next(filter(None, bare), "")


POSTAL: Final = re.compile(
    r"\b(?!(?:19|20)\d\d )\d{1,5}[a-z]?,? (?:[A-Z\d][\w.'’-]* ){1,4}"
    r"(?i:street|st\.?|road|rd\.?|avenue|ave\.?|lane|square|drive|way|quay)\b|"
    r"\b[A-ZÄÖÜ][\wäöüß.' -]{2,40}(?i:straße|strasse|str\.|weg|platz|gasse|allee) \d{1,4}[a-z]?\b|"
    r"\b(?i:rue|avenue|boulevard|place|via|piazza|calle|plaza|rua|avenida) [\w'’ .-]{3,40},? \d{1,5}\b|"
    r"\b\d{1,4},? (?i:rue|avenue|boulevard|place) [\w'’ .-]{3,40}\b|〒\d{3}-\d{4}|"
    r"\b(?:Am|An der|Auf der|Im|In der|Zum|Zur) [A-ZÄÖÜ][\w-]{2,30} \d{1,4}[a-z]?, \d{4,5}\b|"
    r"\b[A-Z]\w{2,30}(?:straat|laan|plein|kade|gracht|gatan|vägen|gata|veien|vej|gade|katu|tie) \d{1,4}[a-z]?\b|"
    r"\b(?:ul|al|pl)\. [A-ZŁŚŻŹĆ][\w .-]{2,40} \d{1,4}\b|"
    r"\b(?:ул|улица|проспект|пр-т|пер|вул)\.? [А-ЯЁЇІЄ][\w .-]{2,40},? (?:д\. ?)?\d{1,4}|"
    r"[\u3400-\u9fff]{1,20}[路街道]\d{1,5}[号號]|[\u3400-\u9fff]{1,20}\d{1,3}(?:丁目|番地)|"
    r"\b(?i:p\.? ?o\.? box|postfach|apartado(?: de correos)?|boîte postale) \d{2,6}\b",
)
"""A street with its number, in the forms of the most used languages."""
_RUN: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
_WORD: Final = re.compile(r"[^\W_]{3,}")


def words(text: str) -> set[str]:
    """Return the words that carry meaning, case and accents folded; Chinese, Japanese and Korean by letter pairs."""
    plain = unicodedata.normalize("NFC", text.casefold())
    pairs = {run[at : at + 2] for run in _RUN.findall(plain) for at in range(len(run) - 1)}
    return {word for word in _WORD.findall(_unaccented(plain)) if word not in STOP and not _RUN.search(word)} | pairs


def gets(name: str, about: str) -> bool:
    """Say whether a control of this ``name`` beside the price of what a text is ``about`` gets that.

    A verb of getting says it, or one of choosing with no other thing beside it: “Choose Basic”, not “Choose a size”.
    """
    if ASIDE.search(name):
        return False
    rest = _CHOOSE.sub(" ", name)
    chosen = rest != name and not any(map(str.isdigit, rest)) and words(rest) <= words(about) | _ITSELF
    return chosen or ENTER.search(name) is not None


def _whole(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


_ACTS: Final = _whole(_table()["acts"])
_BOOKS: Final = _whole(_table()["books"])
_BOOKED: Final = _whole((*_table()["books"], *_table()["booked"]))
_ORDERS: Final = _whole(_table()["orders"])
_ORDERED: Final = _whole((*_table()["orders"], *_table()["ordered"]))
_LANGUAGE: Final = 2
"""Letters of a part of an address that names a language."""
_JOINED_ACTS: Final = _whole(word for word in _table()["acts"] if not word.isascii())
_TOGETHER: Final = [(_whole([one]), _whole([other])) for one, other in _table()["acts_together"]]
_TOOLS: Final = re.compile("|".join(_table()["tools"]), re.IGNORECASE)
_SORTING: Final = _whole(_table()["sorting"])
_PARTS: Final = re.compile(r"[a-z]+(?=[A-Z])|[A-Z]?[^\W\d_A-Z]+|[A-Z]+|[^\W\d_]+")
_STATIC: Final = re.compile(r"\.(?:m?js|css|map|png|jpe?g|gif|svg|webp|avif|ico|woff2?|ttf|mp4|webm)$", re.IGNORECASE)
PROSE: Final = 3
"""Words of a part of an address; more of them are a title, such as ``how-to-delete-a-file``."""


class _Address(NamedTuple):
    """The words of each part of the path of an address, and of each of its parameters. ``bare``: it has no parameter.

    Nor a number, which tells what is asked for.
    """

    segments: list[list[str]]
    parameters: list[list[str]]
    bare: bool

    def asks(self, asked: re.Pattern[str], beside: re.Pattern[str]) -> bool:
        """Say whether this is the page of a form to book or order on, as ``/pedir-cita``.

        It says what is ``asked`` for and what may stand ``beside`` that, and names no thing.
        """
        named = [words for words in self.segments if words and not _names_a_language(words)]
        fits = self.bare and len(named) == 1
        return fits and any(map(asked.fullmatch, named[0])) and all(map(beside.fullmatch, named[0]))


def _names_a_language(words: list[str]) -> bool:
    return len(words) == 1 and len(words[0]) == _LANGUAGE and words[0].isascii()


def acts(url: str) -> bool:
    """Say whether an address looks as if asking for it did something: added, bought, deleted or logged out."""
    address = _address(url)
    if address is None:
        return True
    parts = [*address.segments, *address.parameters]
    if address.asks(_BOOKS, _BOOKED):
        return False
    if any(map(_act, parts)):
        return True
    every = [word for words in parts for word in words]
    return any(
        any(first.fullmatch(word) for word in every) and any(second.fullmatch(word) for word in every)
        for first, second in _TOGETHER
    )


def opens(url: str) -> bool:
    """Say whether a link to an address may be followed: it does not act, or is that of a page to order on.

    Such a page shows what it takes orders for. What a press asks for is held to ``acts`` all the same.
    """
    address = _address(url)
    return not acts(url) or (address is not None and address.asks(_ORDERS, _ORDERED))


def is_tool(url: str) -> bool:
    """Say whether an address is that of a tool of a wiki, which offers nothing and asks visitors for nothing."""
    return _TOOLS.search(unquote(url)) is not None


def _address(url: str) -> _Address | None:
    """Return the parts of ``url``, none of those of a file that never acts; None where it is no address."""
    try:
        parts = urlsplit(url)
        path, pairs = unquote(parts.path), parse_qsl(parts.query, keep_blank_values=True)
    except ValueError:
        return None
    if _STATIC.search(path):
        return _Address([], [], bare=False)
    parameters = [_tokens(key) + _tokens(value) for key, value in pairs if not _SORTING.fullmatch(key.casefold())]
    bare = not pairs and not any(map(str.isdigit, path))
    return _Address([_tokens(segment) for segment in path.split("/")], parameters, bare)


def _tokens(text: str) -> list[str]:
    return [fold(word) for word in _PARTS.findall(unicodedata.normalize("NFC", text))]


def _act(words: list[str]) -> bool:
    """Say whether a part of an address begins or ends with a word that acts; without blanks it may stand anywhere."""
    if any(_JOINED.search(word) and _JOINED_ACTS.search(word) for word in words):
        return True
    return 0 < len(words) <= PROSE and any(_ACTS.fullmatch(word) for word in (words[0], words[-1]))


def fold(text: str) -> str:
    """Return ``text`` without case and accents; letters that are made of others stay apart."""
    if _JOINED.search(text):
        return unicodedata.normalize("NFC", text.casefold())
    return _unaccented(text.casefold())


def _unaccented(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


def price_key(text: str) -> str:
    """Return a price in a form that does not depend on spaces."""
    return "".join(text.split()).casefold()

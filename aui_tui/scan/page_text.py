"""The readable text of an answer, and how much of it two answers share. Pure."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from aui_tui.scan.markup import letters

MUCH_LESS: Final = 5
"""A page with less than one fifth of the browser's text has much less."""
HALF: Final = 0.5
"""Share of the words of a page that must be in another one for it to be a version of that."""
LESS: Final = 2
"""A page with less than one half of the browser's text is reported."""
SHORT: Final = 2000
"""Readable characters below which a page that says that it blocks is taken at its word."""
MAX_WORDS: Final = 20_000
"""Distinct words kept of a page."""
START: Final = 160
"""Characters kept of the beginning of a text."""

WORD: Final = re.compile(r"[^\W\d_]+")
_UNSPACED: Final = re.compile(r"[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]+")
"""Scripts that put no spaces between words: pairs of their characters stand for words."""
_BLOCKING: Final = re.compile(
    r"\b(?:blocked|denied|forbidden|not allowed|unauthori[sz]ed|captcha|unusual (?:traffic|activity)|suspicious"
    r"|automated (?:access|queries|requests|traffic|tools?)|not an? (?:ro)?bot|bots?(?: is| are)? (?:not|detected)"
    r"|are you (?:an? )?(?:human|(?:ro)?bot)|(?:that )?you are (?:an? )?(?:human|(?:ro)?bot)|verify(?:ing)? you"
    r"|(?:virtual|online|prioriti[sz]ation) waiting room|waiting room powered by|queue it"
    r"|you a?re (?:now )?in (?:line|(?:the |a )?queue)"
    r"|request (?:was |has been )?rejected|page not found|404 (?:error|not found)|error 404"
    r"|(?:zugriff|zugang) (?:verweigert|gesperrt)|accès (?:refusé|interdit|bloqué)|acceso (?:denegado|bloqueado)"
    r"|accesso (?:negato|bloccato)|acesso (?:negado|bloqueado)|toegang (?:geweigerd|geblokkeerd)|odmowa dostępu"
    r"|dostęp (?:zabroniony|zablokowany)|доступ (?:запрещ[её]н|заблокирован|ограничен)"
    r"|erişim (?:engellendi|reddedildi))\b"
    r"|アクセス(?:が|は)?(?:拒否|禁止|制限)|访问(?:被拒绝|被禁止|受限)|(?:拒绝|禁止)访问|접근이 (?:거부|차단)"
)
"""How a page says that it blocks, that its reader must wait in line, or that it is not there, in its title, its path
or its first words; that it blocks, in the languages of most pages."""


class PageText(msgspec.Struct, frozen=True, array_like=True):
    """What there is to read in one answer.

    ``readable``: characters outside scripts and styles; ``words``: hashes of its distinct words; ``start``: how the
    text begins; ``acts``: it has scripts, pictures or controls. ``problem``: why it was not read, or empty.
    """

    readable: int = 0
    words: frozenset[int] = frozenset()
    start: str = ""
    acts: bool = False
    problem: str = ""

    @property
    def nothing(self) -> bool:
        """An answer without any content."""
        return self.readable == 0 and not self.acts and not self.problem


def of_text(text: str, *, acts: bool = False) -> PageText:
    """Return the facts of a readable ``text``; the time is linear in it."""
    words: set[int] = set()
    for word in _words(text):
        words.add(zlib.crc32(word.encode("utf-8", "surrogatepass")))
        if len(words) >= MAX_WORDS:
            break
    start = " ".join(text[: 16 * START].split())[:START]
    return PageText(max(letters(text) - 1, 0), frozenset(words), start, acts)


def share(page: PageText, other: PageText) -> float:
    """Return which share of the words of ``page`` is in ``other``, from 0 to 1; 0 for a page without words."""
    return len(page.words & other.words) / len(page.words) if page.words else 0.0


def agree(pages: Sequence[PageText]) -> bool:
    """Tell whether several answers to one client are the same page, as far as their words show."""
    first, *others = pages
    return not first.problem and all(_agree(first, other) for other in others)


def says_blocked(page: PageText, browser: PageText, words: Iterable[str], browser_words: Iterable[str]) -> bool:
    """Tell whether a short ``page`` with other text than the ``browser``'s says that it blocks, and that one does not.

    ``words``, ``browser_words``: title and path of each, looked at beside the beginning of its text.
    """
    if page.problem or browser.problem or page.readable >= SHORT or share(page, browser) >= HALF:
        return False
    return _blocks((*words, page.start)) and not _blocks((*browser_words, browser.start))


def much_less(page: PageText, browser: PageText) -> bool:
    """Tell whether ``page`` has so much less text that its owner may want to know."""
    return not page.problem and not browser.problem and page.readable * LESS < browser.readable


def _blocks(texts: Iterable[str]) -> bool:
    return any(_BLOCKING.search(re.sub(r"[\W_]+", " ", text.lower())) for text in texts)


def _agree(one: PageText, other: PageText) -> bool:
    less, more = sorted((one, other), key=lambda page: page.readable)
    if other.problem or less.readable * LESS < more.readable:
        return False
    return share(less, more) >= HALF or not (less.words or more.words)


def _words(text: str) -> Iterator[str]:
    for found in WORD.finditer(text.casefold()):
        word = found.group()
        if word.isascii() or not _UNSPACED.search(word):
            if len(word) > 1:
                yield word
            continue
        for run in _UNSPACED.findall(word):
            yield from (run[at : at + 2] for at in range(max(len(run) - 1, 1)))

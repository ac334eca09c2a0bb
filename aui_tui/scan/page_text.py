"""The readable text of an answer, how much of it two answers share, and what it says of itself. Pure."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cache
from typing import Final

import msgspec

from aui_tui.packaged import read_table
from aui_tui.scan.markup import letters, letters_of

HALF: Final = 0.5
"""Share of the words of a page that must be in another one for it to be a version of that."""
MAX_WORDS: Final = 20_000
"""Distinct words kept of a page."""
START: Final = 160
"""Characters kept of the beginning of a text."""
_FEW: Final = 3
"""Distinct function words by which a language is known."""

WORD: Final = re.compile(r"[^\W\d_]+")
_UNSPACED: Final = re.compile(r"[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]+")
"""Scripts that put no spaces between words: pairs of their characters stand for words."""
_SCRIPTS: Final = {
    "ja": re.compile("[\u3040-\u30ff]"),
    "zh": re.compile("[\u3400-\u9fff]"),
    "ko": re.compile("[\uac00-\ud7af]"),
    "ar": re.compile("[\u0600-\u06ff]"),
    "he": re.compile("[\u0590-\u05ff]"),
    "el": re.compile("[\u0370-\u03ff]"),
    "th": re.compile("[\u0e00-\u0e7f]"),
    "hi": re.compile("[\u0900-\u097f]"),
}
"""Languages that are known by their script, the first that a text has."""
BLOCKED, SUSPECTED, ERROR, GATE = "blocked", "suspected", "error", "gate"
"""What a page may say of itself: the tables of ``words.toml``."""


class PageText(msgspec.Struct, frozen=True, array_like=True):
    """What there is to read in one answer.

    ``readable``: characters outside scripts and styles; ``own``: those of them outside navigation and footer, as
    everything below. ``words``: hashes of the distinct words, function words left out; ``start``: how the text begins;
    ``language``: ISO 639-1, empty where it is not known. ``acts``: it has scripts, pictures or controls. ``problem``:
    why it was not read, or empty.
    """

    readable: int = 0
    words: frozenset[int] = frozenset()
    start: str = ""
    acts: bool = False
    problem: str = ""
    own: int = 0
    language: str = ""

    @property
    def nothing(self) -> bool:
        """An answer without any content."""
        return self.readable == 0 and not self.acts and not self.problem


def of_text(own: str, template: str = "", *, acts: bool = False) -> PageText:
    """Return the facts of a text: ``own`` and, in navigation and footer, ``template``. The time is linear in it."""
    cut = own.split()
    in_own = letters_of(cut)
    distinct = dict.fromkeys(_words(cut))
    function = distinct.keys() & _function_words().keys()
    words = [word for word in distinct if word not in function][:MAX_WORDS]
    start = " ".join(own[: 16 * START].split())[:START]
    readable = max(in_own + letters(template) - 1, 0)
    return PageText(readable, _hashes(words), start, acts, "", max(in_own - 1, 0), _language(function, start))


def share(page: PageText, other: PageText) -> float:
    """Return which share of the words of ``page`` is in ``other``, from 0 to 1; 0 for a page without words."""
    return len(page.words & other.words) / len(page.words) if page.words else 0.0


def agree(pages: Sequence[PageText]) -> bool:
    """Tell whether several answers are the same page, as far as their words show."""
    first, *others = pages
    return not first.problem and all(_agree(first, page) for page in others)


def kinds_said(*texts: str) -> Iterator[str]:
    """Yield the kinds of words.toml of which one of ``texts``, such as a title and how a page begins, has words."""
    plain = [*map(_plain, texts)]
    for kind in (BLOCKED, SUSPECTED, ERROR, GATE):
        if any(pattern.search(text) for text in plain for pattern in _patterns(kind)):
            yield kind


def is_only(line: str, *kinds: str) -> bool:
    """Tell whether a line is words of ``kinds``, hardly anything before them and no name of its own."""
    plain = _plain(line)
    matches = (pattern.search(plain) for kind in kinds for pattern in _patterns(kind))
    return any(match and match.start() <= _BEFORE and len(match[0]) >= _OF_LINE * len(plain) for match in matches)


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text.lower()).strip()


_BEFORE: Final = 6
"""Characters that may stand before such words: a status, a sigh."""
_OF_LINE: Final = 0.4
"""Part of the line that they are at least; a site may be named after an error."""


class _Words(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole of ``words.toml``: by language, function words with blanks between them, and expressions."""

    function: dict[str, str]
    blocked: dict[str, tuple[str, ...]]
    suspected: dict[str, tuple[str, ...]]
    error: dict[str, tuple[str, ...]]
    gate: dict[str, tuple[str, ...]]


@cache
def _table() -> _Words:
    return read_table("scan/words.toml", _Words)


@cache
def _patterns(kind: str) -> tuple[re.Pattern[str], ...]:
    """Return what words of ``kind`` match: as whole words, but in scripts without blanks."""
    unspaced: list[str] = []
    spaced: list[str] = []
    for language, expressions in getattr(_table(), kind).items():
        (unspaced if language in _SCRIPTS else spaced).extend(expressions)
    patterns = [rf"\b(?:{'|'.join(spaced)})\b"] if spaced else []
    return tuple(re.compile(pattern) for pattern in (*patterns, "|".join(unspaced)) if pattern)


@cache
def _function_words() -> dict[str, tuple[str, ...]]:
    """Return each function word with the languages that have it."""
    languages: dict[str, tuple[str, ...]] = {}
    for language, words in _table().function.items():
        for word in words.split():
            languages[word] = (*languages.get(word, ()), language)
    return languages


def _language(function: Set[str], start: str) -> str:
    """Return the language that most of the words ``function`` of a text are of, clearly; or that of its script."""
    for language, script in _SCRIPTS.items():
        if script.search(start):
            return language
    spoken = Counter(language for word in function for language in _function_words()[word])
    (first, most), (_, next_most) = [*spoken.most_common(2), ("", 0), ("", 0)][:2]
    return first if most >= _FEW and 2 * most >= 3 * next_most else ""


def _agree(left: PageText, right: PageText) -> bool:
    shorter, longer = sorted((left, right), key=lambda page: page.readable)
    if right.problem or 2 * shorter.readable < longer.readable:
        return False
    return share(shorter, longer) >= HALF or not (shorter.words or longer.words)


def _words(cut: Iterable[str]) -> list[str]:
    """Return the words of a text ``cut`` at its blanks, in the order in which each comes first; few are there twice."""
    once = " ".join(dict.fromkeys(cut)).casefold()  # most of a page repeats, and the expression is slow
    words = WORD.findall(once)
    if _UNSPACED.search(once) is None:
        return [word for word in words if len(word) > 1]
    return [part for word in words for part in _parts(word)]


def _parts(word: str) -> Iterator[str]:
    """Yield a word, or the pairs of its characters in scripts without blanks."""
    runs = _UNSPACED.findall(word)
    for run in runs:
        yield from (run[at : at + 2] for at in range(max(len(run) - 1, 1)))
    if not runs and len(word) > 1:
        yield word


def name_hashes(texts: Iterable[str]) -> frozenset[int]:
    """Return the hashes of the words of ``texts``, such as the names of a site, as a page has them."""
    return _hashes(word for text in texts for word in _words(text.split()))


def _hashes(words: Iterable[str]) -> frozenset[int]:
    return frozenset(map(zlib.crc32, " ".join(words).encode("utf-8", "surrogatepass").split()))

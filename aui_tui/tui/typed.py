"""What of a typed query line can be searched for, which words are wrong, and how the last one may go on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from aui_tui.errors import BadValue
from aui_tui.model.query_line import OPERATORS, fields, parse
from aui_tui.text import clean

WORD: Final = r'(?:"[^"]*"?|[^\s"])+'


class QueryReading(msgspec.Struct, frozen=True):
    """``good``: the line without its wrong words. ``spans``: where those are. ``problem``: what is wrong, or empty.

    ``open_end``: only the last word is wrong, and it may become a term while it is typed on.
    """

    good: str
    spans: tuple[tuple[int, int], ...] = ()
    problem: str = ""
    open_end: bool = False


def read_line(text: str) -> QueryReading:
    """Return what of ``text`` can be searched for."""
    fault = _problem(text)
    if not fault:
        return QueryReading(text)
    words = list(re.finditer(WORD, text))
    problems = {match.span(): _problem(match[0]) for match in words if match[0].upper() not in OPERATORS}
    bad = tuple(span for span, problem in problems.items() if problem)
    good = [match[0] for match in words if match.span() not in bad]
    line = " ".join(good)
    if _problem(line):
        line = " ".join(word for word in good if word.upper() not in OPERATORS)
    return QueryReading(line, bad, problems[bad[0]] if bad else fault, _unfinished(text, bad))


def _unfinished(text: str, bad: Sequence[tuple[int, int]]) -> bool:
    """Whether only the last word is wrong, and it may become a term while it is typed on."""
    if not bad:
        return text.split()[-1].upper() in OPERATORS
    return len(bad) == 1 and bad[0][1] == len(text) and bool(choices(text))


def _problem(line: str) -> str:
    """Return why ``line`` cannot be searched for, empty when it can."""
    try:
        parse(line)
    except BadValue as error:
        return clean(str(error), 300)
    return ""


class Completion(msgspec.Struct, frozen=True):
    """One way to go on: the whole line with it, its own words, and what it means."""

    line: str
    text: str
    meaning: str = ""


def choices(text: str) -> tuple[Completion, ...]:
    """Return how the last word of ``text`` may go on: names of terms, then their values."""
    start = max((match.start() for match in re.finditer(WORD, text) if match.end() == len(text)), default=len(text))
    head, word = text[:start], text[start:]
    body = word.lstrip("-(")
    sign = word[: len(word) - len(body)]
    name, colon, value = body.lower().partition(":")
    field = fields().get(name)
    if not colon:
        offered = [
            (f"{option}:", f"{option}:", term.about) for option, term in fields().items() if option.startswith(name)
        ]
    elif field is None:
        offered = []
    else:
        tail = "=" if field.then else ""
        who, equals, fate = value.partition("=")
        named = equals or value == "any" or any(value == option.lower() for option, _ in field.values)
        fates = field.then if named else ()
        offered = [
            (f"{name}:{who}={option}", option, "") for option in fates if option.startswith(fate) and option != fate
        ]
        offered += [
            (f"{name}:{option}{tail}", option, meaning)
            for option, meaning in ((value.lower(), meaning) for value, meaning in field.values)
            if option.strip('"').startswith(value.strip('"')) and option != value
        ]
    return tuple(Completion(head + sign + line, words, meaning) for line, words, meaning in offered)

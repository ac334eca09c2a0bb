"""The query line as it is typed: which words are good, which are wrong, what may come next. Pure."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from aui_tui.errors import BadValue
from aui_tui.records.query import CONTRADICTIONS, FIELDS, HAS, OPERATORS, parse
from aui_tui.records.registry import surfaces
from aui_tui.records.vocabulary import CATEGORIES, FIXES, GRADES, STANCES
from aui_tui.text import clean

WORD: Final = re.compile(r'(?:"[^"]*"?|[^\s"])+')
SHOWN: Final = 8
"""Choices that a drop-down shows."""
FATES: Final = ("in", "out", "part", "refused", "challenged", "unclear")
"""Words for what an agent gets, in the order in which they are offered."""
MEANINGS: Final = {
    "stance": "Open, Selective, Walled",
    "category": "kind of site",
    "agent": "what an assistant gets",
    "edge": "CDN or server",
    "score": "points of 100",
    "grade": "A to F",
    "has": "what the site has",
    "signal": "Content-Signal stated",
    "fresh": "age of the scan",
    "method": "way of scoring",
    "fix": "what is still to do",
    "tasks": "tasks were run",
    "contradiction": "robots.txt and site disagree",
}
"""What each term is about, in a few words."""


class Reading(NamedTuple):
    """``good``: the line without its wrong words. ``spans``: where those are. ``problem``: what is wrong, or empty.

    ``open_end``: only the last word is wrong, and it may become a term while it is typed on.
    """

    good: str
    spans: tuple[tuple[int, int], ...] = ()
    problem: str = ""
    open_end: bool = False


class Choice(NamedTuple):
    """One way to go on: the whole line with it, its own words, and what it means."""

    line: str
    text: str
    meaning: str = ""


def read_line(text: str) -> Reading:
    """Return what of ``text`` can be searched for."""
    try:
        parse(text)
    except BadValue as error:
        whole = clean(str(error), 300)
    else:
        return Reading(text)
    bad: list[tuple[int, int]] = []
    problem = ""
    good: list[str] = []
    for found in WORD.finditer(text):
        word = found[0]
        if word.upper() in OPERATORS:
            good.append(word)
            continue
        try:
            parse(word)
        except BadValue as error:
            bad.append(found.span())
            problem = problem or clean(str(error), 300)
        else:
            good.append(word)
    line = " ".join(good)
    try:
        parse(line)
    except BadValue:
        line = " ".join(word for word in good if word.upper() not in OPERATORS)
    last = bool(bad) and len(bad) == 1 and bad[0][1] == len(text)
    open_end = (last and bool(choices(text))) or (not bad and text.split()[-1].upper() in OPERATORS)
    return Reading(line, tuple(bad), problem or whole, open_end)


def values_of(field: str) -> tuple[tuple[str, str], ...]:
    """Return the values that a term may take with what each means; empty for one with free words."""
    every = tuple((surface.slug, surface.label) for surface in surfaces() if surface.source != "none")
    found: dict[str, tuple[tuple[str, str], ...]] = {
        "stance": tuple(
            (word.lower(), meaning)
            for word, meaning in zip(STANCES, ("agents get in", "some do", "shut out"), strict=True)
        ),
        "category": tuple((_quoted(word.lower()), "") for word in CATEGORIES),
        "agent": every,
        "grade": tuple((word.lower(), "") for word in GRADES),
        "has": tuple((word, "") for word in HAS),
        "signal": (("yes", ""), ("no", "")),
        "tasks": (("yes", ""), ("no", "")),
        "fresh": (("<7d", "within a week"), ("<24h", "within a day"), (">30d", "older than a month")),
        "score": (("<40", ""), (">=70", ""), ("40..60", "")),
        "method": (("v0.2", ""), ("v0.1", "")),
        "fix": tuple((word, "") for word in FIXES),
        "contradiction": tuple(
            zip(CONTRADICTIONS, ("robots yes, site no", "robots no, site yes"), strict=True),
        ),
    }
    return found.get(field, ())


def _quoted(word: str) -> str:
    return '"' + word + '"' if " " in word else word


def choices(text: str) -> tuple[Choice, ...]:
    """Return how the last word of ``text`` may go on: names of terms, then their values."""
    start = max((found.start() for found in WORD.finditer(text) if found.end() == len(text)), default=len(text))
    head, word = text[:start], text[start:]
    sign, body = ("-", word[1:]) if word.startswith("-") else ("", word)
    name, colon, value = body.partition(":")
    name = name.lower()
    if not colon:
        names = [field for field in FIELDS if field.startswith(name) and (name or not text.strip())]
        if text.strip() and not name:
            names = list(FIELDS)
        return tuple(Choice(head + sign + field + ":", field + ":", MEANINGS.get(field, "")) for field in names)
    if name == "agent" and "=" in value:
        agent, _, fate = value.partition("=")
        return tuple(
            Choice(head + sign + name + ":" + agent + "=" + word, word)
            for word in FATES
            if word.startswith(fate.lower())
        )
    known = [pair for pair in values_of(name) if pair[0].strip('"').startswith(value.lower().strip('"'))]
    tail = "=" if name == "agent" else ""
    return tuple(
        Choice(head + sign + name + ":" + word + tail, word, meaning)
        for word, meaning in known
        if word != value.lower()
    )

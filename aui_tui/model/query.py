"""What an index is asked for: filters, the query line with its page of help, and the order of rows.

The query line is free text plus terms, all of which must hold::

    stance:walled category:travel agent:claude=blocked edge:akamai score:40..60 grade:<c
    has:llms signal:no change:down fresh:<7d contradiction:out

``OR`` joins the terms on either side of it and binds them closer than a space does; a comma does the same between
values of one term (``grade:a,b``). ``NOT`` or a leading ``-`` turns a term round; ``"double quotes"`` keep a value with
spaces together and make an operator a word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from types import MappingProxyType
from typing import Final, NamedTuple

import msgspec

from aui_tui.errors import BadValue
from aui_tui.model.registry import registry
from aui_tui.model.vocabulary import CATEGORIES, FIXES, GRADES, STANCES, VERDICTS, choose
from aui_tui.text import clean

SORTS: Final = ("rank", "score", "change", "grade", "stance", "host", "name", "category", "age")
"""Columns a list can be ordered by; ``matrix.<slug>`` orders by the verdict of one surface."""

FIELDS: Final = MappingProxyType(
    {
        "stance": "stance:walled",
        "category": "category:travel",
        "agent": "agent:claude=blocked",
        "edge": "edge:akamai",
        "score": "score:40..60",
        "grade": "grade:<c",
        "has": "has:llms",
        "signal": "signal:no",
        "change": "change:down",
        "fresh": "fresh:<7d",
        "method": "method:v0.2",
        "fix": "fix:llms",
        "tasks": "tasks:yes",
        "contradiction": "contradiction:out",
    }
)
"""Every term's name and an example of it."""

HAS: Final = ("llms", "ai-plugin", "jsonld", "main", "nav", "forms", "signal", "wildcard", "shell")
AGES: Final = MappingProxyType({"m": 60, "h": 3600, "d": 86400, "w": 604800})
CONTRADICTIONS: Final = ("out", "in")
"""``out``: robots.txt lets a live-probed agent in and the site turns it away; ``in``: the reverse."""
VERDICT_WORDS: Final = MappingProxyType(
    {
        "in": ("allowed", "allowed-robots", "partial"),
        "out": ("blocked", "walled", "disallowed"),
        "part": ("partial",),
        "refused": ("blocked",),
        "challenged": ("walled",),
        "unclear": ("untested",),
    }
)
"""Words for one verdict or several beside the verdicts themselves."""
OPERATORS: Final = ("OR", "AND", "NOT")
ANY, ALL = "any", "all"
"""Fields of a compound term."""
CHANGES: Final = MappingProxyType({"up": ">0", "down": "<0", "same": "=0"})
"""Words for a comparison of the score with that of the scan before."""
NEW: Final = "new"
"""The word for a host without a scan before."""
_CHANGE = re.compile(r"^(<=|>=|<|>|=)?([+-]?\d{1,3})$")
_COMPARE = re.compile(r"^(<=|>=|<|>|=)?(\d{1,9})([mhdw]?)$")
_WORDS = re.compile(r'(?:"[^"]*"|[^\s"])+|"')


class Term(msgspec.Struct, frozen=True, kw_only=True):
    """One condition: ``field`` (a key of FIELDS or ``text``), ``op`` (``=``, ``<``, ``<=``, ``>``, ``>=``), ``value``.

    ``key`` is the surface slug of an ``agent`` term; ``number`` the value of a comparison (``fresh``: seconds,
    ``change``: points, unless its ``value`` is NEW);
    ``negated`` turns the condition round. A compound term has the field ANY or ALL: one of its ``parts`` must hold, or
    each of them.
    """

    field: str
    value: str
    op: str = "="
    key: str = ""
    number: int = 0
    negated: bool = False
    parts: tuple[Term, ...] = ()


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """An index request: every filter must hold; filters apply to both lists (specification 4.1).

    ``line`` is the query line as typed, ``terms`` what it means (see :func:`parse`). An empty string means no
    filter. ``sort`` is one of SORTS or ``matrix.<slug>``; ``descending`` reverses its natural direction.
    """

    category: str = ""
    stance: str = ""
    line: str = ""
    terms: tuple[Term, ...] = ()
    sort: str = "rank"
    descending: bool = False

    @classmethod
    def of(
        cls, *, category: str = "", stance: str = "", line: str = "", sort: str = "rank", descending: bool = False
    ) -> Query:
        """Return a checked query. Raises BadValue naming what was wrong and what is allowed."""
        return cls(
            category=choose("category", category, CATEGORIES) if category else "",
            stance=choose("stance", stance, STANCES) if stance else "",
            line=clean(line, 500),
            terms=parse(line),
            sort=_sort(sort),
            descending=descending,
        )

    def words(self) -> str:
        """Return the filters in words for a title, such as ``Walled in Retail matching "shop"``; may be empty."""
        parts = [self.stance] if self.stance else []
        if self.category:
            parts.append("in " + self.category)
        if self.line:
            parts.append('matching "' + self.line + '"')
        return " ".join(parts)


def _sort(name: str) -> str:
    head, dot, word = name.partition(".")
    found = registry().surfaces_of(word) if dot and head.casefold() == "matrix" else ()
    if len(found) == 1:
        return "matrix." + found[0].slug
    slugs = tuple("matrix." + surface.slug for surface in registry().surfaces)
    return choose("sort column", name or "rank", (*SORTS, *slugs))


def leaves(terms: Sequence[Term]) -> Iterator[Term]:
    """Yield every plain term in ``terms``, those inside compound ones too."""
    for term in terms:
        if term.parts:
            yield from leaves(term.parts)
        else:
            yield term


class _Word(NamedTuple):
    """A word of the line without its quotes; ``quoted`` says whether it began with one."""

    text: str
    quoted: bool

    @property
    def operator(self) -> str:
        """The operator that the word is, else empty."""
        upper = self.text.upper()
        return upper if upper in OPERATORS and not self.quoted else ""


def parse(line: str) -> tuple[Term, ...]:
    """Return the terms of a query line. Raises BadValue with one sentence that names the term at fault."""
    groups: list[list[Term]] = []
    joining = negated = False
    before = ""
    for word in _split(line):
        operator = word.operator
        if operator == "NOT":
            negated = not negated
        elif operator:
            if not groups or before in OPERATORS:
                raise BadValue(f"{operator} needs a term before it; to search for the word, write it in quotes.")
            joining = operator == "OR"
        else:
            term = _term(word)
            term = msgspec.structs.replace(term, negated=not term.negated) if negated else term
            if joining:
                groups[-1].append(term)
            else:
                groups.append([term])
            joining = negated = False
        before = operator
    if before:
        raise BadValue(f"{before} needs a term after it; to search for the word, write it in quotes.")
    return tuple(_joined(ANY, group) for group in groups)


def _joined(field: str, terms: Sequence[Term], value: str = "") -> Term:
    unique = tuple(dict.fromkeys(terms))
    return unique[0] if len(unique) == 1 else Term(field=field, value=value, parts=unique)


def _split(line: str) -> list[_Word]:
    found = []
    for word in _WORDS.findall(clean(line, 500)):
        if word == '"' or word.count('"') % 2:
            raise BadValue('The query has a double quote (") that is not closed.')
        found.append(_Word(word.replace('"', ""), word.startswith('"')))
    return [word for word in found if word.text]


def _term(word: _Word) -> Term:
    negated = word.text.startswith("-") and len(word.text) > 1 and not word.quoted
    body = word.text[1:] if negated else word.text
    found = _positive(body, clean(word.text, 60))
    return msgspec.structs.replace(found, negated=True) if negated else found


def _names_a_field(name: str, value: str) -> bool:
    """Tell whether ``name:value`` is meant as a term; a host with a port, or an address, is a text."""
    if name in FIELDS:
        return True
    if name.isalpha():
        return not value.isdigit()
    return name.replace(".", "").replace("_", "").isalpha() and value[:1].isalpha()


def _positive(body: str, shown: str) -> Term:
    name, colon, value = body.partition(":")
    name = name.casefold()
    if body.casefold() == "contradiction":
        return Term(field="contradiction", value="")
    if not colon or not _names_a_field(name, value):
        return Term(field="text", value=body.casefold())
    if name not in FIELDS:
        near = get_close_matches(name, FIELDS, n=1)
        hint = f"did you mean {near[0]}:?" if near else f"allowed are: {', '.join(FIELDS)}."
        raise BadValue(f"Unknown query term {name}: in {shown!r}; {hint}", allowed=tuple(FIELDS))
    parts = value.split(",") if name != "agent" else [value]
    if not all(part.strip() for part in parts):
        raise BadValue(f"The query term {name}: needs a value, for example {FIELDS[name]}.")
    return _joined(ANY, [_READERS[name](part) for part in parts])


def _chosen(field: str, what: str, allowed: Sequence[str]) -> Callable[[str], Term]:
    return lambda value: Term(field=field, value=choose(what, value, allowed))


def _folded(field: str) -> Callable[[str], Term]:
    return lambda value: Term(field=field, value=value.casefold())


def _category(value: str) -> Term:
    wanted = value.casefold()
    hits = [word for word in CATEGORIES if word.casefold().startswith(wanted)]
    return Term(field="category", value=hits[0] if hits else choose("category", value, CATEGORIES))


def _agent(value: str) -> Term:
    names, _, words = value.partition("=")
    slugs = [slug for name in names.split(",") for slug in _slugs(name)]
    if not words:
        raise BadValue(f"agent:{slugs[0]} needs a verdict, for example agent:{slugs[0]}=blocked.", allowed=VERDICTS)
    verdicts = [verdict for word in words.split(",") for verdict in _verdicts(word)]
    return _joined(ANY, [Term(field="agent", key=slug, value=verdict) for slug in slugs for verdict in verdicts])


def _slugs(name: str) -> tuple[str, ...]:
    """Return the matrix surfaces that a name of the registry means, all of them for ``any``."""
    known = registry().surfaces
    found = known if name.casefold() == ANY else registry().surfaces_of(name)
    return tuple(s.slug for s in found) or (choose("agent", name, (*(s.slug for s in known), ANY)),)


def _verdicts(word: str) -> tuple[str, ...]:
    return VERDICT_WORDS.get(word.casefold()) or (choose("verdict", word, (*VERDICTS, *VERDICT_WORDS)),)


def _grade(value: str) -> Term:
    low, dots, high = value.partition("..")
    found = re.match(r"<=|>=|<|>|=", value)
    if dots:
        ends = sorted(GRADES.index(_letter(end, value)) for end in (low or GRADES[0], high or GRADES[-1]))
        grades = GRADES[ends[0] : ends[1] + 1]
    elif found is None or found[0] == "=":
        grades = (_letter(value.removeprefix("="), value),)
    else:
        place = GRADES.index(_letter(value[found.end() :], value))
        grades = GRADES[place:] if found[0].startswith("<") else GRADES[: place + 1]
        grades = grades if found[0].endswith("=") else tuple(word for word in grades if word != GRADES[place])
    if not grades:
        raise BadValue(f"No grade is {clean(value, 40)}. Grades are A to F, best first: grade:f, grade:<c, grade:a..b.")
    return _joined(ANY, [Term(field="grade", value=word) for word in grades])


def _letter(text: str, shown: str) -> str:
    if text.strip().upper() not in GRADES:
        raise BadValue(
            f"There is no grade {clean(text, 40) or clean(shown, 40)}. Grades are A, B, C, D, F: grade:f, grade:<c.",
            allowed=GRADES,
        )
    return text.strip().upper()


def _range(field: str, value: str, one: Callable[[str], Term]) -> Term:
    """Return the term of ``LOW..HIGH``, both ends included and either left out, or of a single value."""
    low, dots, high = value.partition("..")
    if not dots:
        return one(value)
    if not low and not high:
        raise BadValue(f"The query term {field}: needs a value, for example {FIELDS[field]}.")
    ends = [one(">=" + low) if low else None, one("<=" + high) if high else None]
    found = [end for end in ends if end is not None]
    if len(found) == 2 and found[0].number > found[1].number:
        raise BadValue(f"The range {field}:{clean(value, 40)} is empty: write the smaller value first.")
    return _joined(ALL, found, value)


def _score(value: str) -> Term:
    def one(text: str) -> Term:
        found = _COMPARE.match(text)
        if found is None or found[3]:
            shown = clean(value, 40)
            raise BadValue(f"score: takes a number such as score:<40 or a range such as score:40..60, not {shown!r}.")
        return Term(field="score", value=text, op=found[1] or "=", number=int(found[2]))

    return _range("score", value, one)


def _fresh(value: str) -> Term:
    def one(text: str) -> Term:
        found = _COMPARE.match(text)
        if found is None or not found[3]:
            shown = clean(value, 40)
            raise BadValue(f"fresh: takes an age such as fresh:<7d or fresh:1d..7d (m, h, d or w), not {shown!r}.")
        return Term(field="fresh", value=text, op=found[1] or "<=", number=int(found[2]) * AGES[found[3]])

    return _range("fresh", value, one)


def _change(value: str) -> Term:
    def one(text: str) -> Term:
        word = text.casefold()
        found = _CHANGE.match(CHANGES.get(word, word))
        if found is None:
            shown = clean(value, 40)
            words = ", ".join((*CHANGES, NEW))
            raise BadValue(f"change: takes {words} or points such as change:<-5 or change:1..10, not {shown!r}.")
        return Term(field="change", value=text, op=found[1] or "=", number=int(found[2]))

    return Term(field="change", value=NEW) if value.casefold() == NEW else _range("change", value, one)


_READERS: Final[MappingProxyType[str, Callable[[str], Term]]] = MappingProxyType(
    {
        "stance": _chosen("stance", "stance", STANCES),
        "category": _category,
        "agent": _agent,
        "edge": _folded("edge"),
        "score": _score,
        "grade": _grade,
        "has": _chosen("has", "has: word", HAS),
        "signal": _chosen("signal", "signal: word", ("yes", "no")),
        "tasks": _chosen("tasks", "tasks: word", ("yes", "no")),
        "change": _change,
        "fresh": _fresh,
        "method": _folded("method"),
        "fix": _chosen("fix", "fix", FIXES),
        "contradiction": _chosen("contradiction", "contradiction", CONTRADICTIONS),
    }
)


TITLE: Final = "The query line"
INTRODUCTION: Final = (
    "Words and terms choose hosts; all of them must hold. The same line works in the dashboard (/), in "
    "aui-tui index --query, aui-tui export --query, and on the pages and for the agents of aui-tui serve.",
    "Upper and lower case are alike. A term that does not exist is an error, never an empty list.",
)
TERMS: Final = (
    ("shop", "host or name holds this text"),
    ("stance:walled", "open, selective or walled"),
    ("category:travel", 'a category, or its beginning: category:"social & media", category:soc'),
    ("agent:claude=blocked", "verdict of an agent: product, token or company, or any"),
    ("", "verdicts: allowed, allowed-robots, partial, blocked, disallowed, walled, untested"),
    ("", "or: in, part, out, refused, challenged, unclear"),
    ("edge:akamai", "a CDN or server that answered"),
    ("score:<40", "a score: score:60, score:>=70, score:40..60"),
    ("grade:<c", "a grade: grade:f, grade:a,b, grade:b..d; lower means worse"),
    ("change:down", "score against the scan before: up, down, same, new, or points: change:<-5, change:1..10"),
    ("fresh:<7d", "age of the last scan in m, h, d or w: fresh:>30d, fresh:1d..1w"),
    ("has:llms", "llms, ai-plugin, jsonld, main, nav, forms, signal, wildcard, shell"),
    ("signal:no", "whether robots.txt has a Content-Signal line: yes or no"),
    ("fix:llms", "a fix is still to be made: wba, front-door, llms, jsonld, landmarks, ssr, signal, robots"),
    ("tasks:yes", "whether tasks were run: yes or no"),
    ("method:v0.2", "scoring method of the card"),
    ("contradiction:out", "robots.txt lets an agent in and the site turns it away"),
    ("contradiction:in", "robots.txt shuts an agent out and the site serves it"),
    ("contradiction", "either of the two"),
)
"""A term and its meaning; an empty name goes on with the term above."""
JOINING: Final = (
    ("a b", "both must hold"),
    ("a OR b", "one must hold; OR joins its neighbours first: x a OR b means x and (a or b)"),
    ("grade:a,b", "one of several values of a term"),
    ("NOT a, -a", "must not hold"),
    ('"two words"', "a value with spaces; quotes also make or, and, not words to look for"),
)
EXAMPLES: Final = (
    ("contradiction:out stance:walled", "invited by robots.txt, shut out by the edge"),
    ("category:retail agent:claude,chatgpt=out", "shops that turn Claude or ChatGPT away"),
    ("grade:a,b OR score:65..69 -tasks:yes", "good or nearly, without a run of the tasks"),
)

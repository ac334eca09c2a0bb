"""The query line: the fields of its language, how it is read, and its page of help.

The line is free text plus terms, all of which must hold::

    stance:walled category:travel agent:claude=blocked edge:akamai score:40..60 grade:<c
    has:llms signal:no change:down fresh:<7d contradiction:out crawler:gptbot=blocked

``OR`` joins the terms on either side of it and binds them closer than a space does; a comma does the same between
values of one term (``grade:a,b``). ``NOT`` or a leading ``-`` turns a term round; parentheses hold terms together;
``"double quotes"`` keep a value with spaces together; what begins with one is a text, never an operator or a term.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Final

import msgspec

from aui_tui.errors import BadValue
from aui_tui.model.methods import METHODS
from aui_tui.model.open_agents import table, tool_called
from aui_tui.model.registry import fold, names_of, registry
from aui_tui.model.surfaces import SLUGS, SURFACES
from aui_tui.model.terms import Term, all_of, any_of, opposite
from aui_tui.model.vocabulary import (
    CATEGORIES,
    CRAWLER_POLICIES,
    FATES,
    FIXES,
    GRADES,
    ROBOTS_READ,
    STANCES,
    UNITS,
    VERDICTS,
    choose,
    nearest,
)
from aui_tui.text import clean

HAS: Final = ("llms", "ai-plugin", "jsonld", "main", "nav", "forms", "signal", "wildcard", "shell")
CONTRADICTIONS: Final = ("out", "in")
"""``out``: robots.txt lets a live-probed agent in and the site turns it away; ``in``: the reverse."""
VERDICT_WORDS: Final = MappingProxyType(
    {
        "in": ("in", "part"),
        "out": ("refused", "challenged", "told no"),
        **{word.replace(" ", "-"): (word,) for word in FATES if word != "in"},
    }
)
"""What an assistant gets, as the screens say it: words of FATES by what a query calls them."""
CHANGES: Final = MappingProxyType({"up": ">0", "down": "<0", "same": "=0"})
"""Words for a comparison of the score with that of the scan before."""
NEW: Final = "new"
"""The word for a host without a scan before."""
ANY: Final = "any"
NOT_ASKED: Final = "not asked"
FIELD_OF_COLUMN: Final = MappingProxyType({"age": "fresh", "name": "host", "rank": "score"})
"""The field to suggest for a column of the list that is no field itself."""
OPERATORS: Final = ("OR", "AND", "NOT")
MAX_DEPTH: Final = 20
"""The most parentheses inside one another."""


TermParser = Callable[[str], Term]
"""Makes the condition for one value of a field. Raises BadValue."""


def _one_of(what: str, column: str, allowed: Sequence[str]) -> TermParser:
    """Return the parser of a field whose column holds one of ``allowed``; ``what`` names it in an error."""
    return lambda value: Term(f"{column} = ?", (choose(what, value, allowed),))


def _list_holds(what: str, column: str, allowed: Sequence[str], also: str = "") -> TermParser:
    """Return the parser of a field whose column lists words between commas; ``also``: SQL before the condition."""
    return lambda value: Term(f"{also}instr({column}, ?) > 0", (f",{choose(what, value, allowed)},",))


TRIGRAM: Final = 3
"""Shortest text in characters that the index of text can find."""


def _by_text(term: Term, text: str) -> Term:
    """Return ``term`` with the hosts that have ``text`` in host or name by the index of text."""
    if len(text) < TRIGRAM:
        return term
    phrase = '"' + text.replace('"', '""') + '"'  # one FTS5 string: a substring for trigrams
    among = "SELECT rowid FROM site_text WHERE site_text MATCH ?"
    return msgspec.structs.replace(term, among=among, among_values=(phrase,))


def _host(value: str) -> Term:
    return _by_text(_contains("host")(value), value.removeprefix("=").casefold())


def _contains(column: str) -> TermParser:
    """Return the parser of a field whose column contains the text, case folded; ``=text``: is exactly the text."""

    def read(value: str) -> Term:
        if value.startswith("="):
            return Term(f"{column} = ?", (value[1:].casefold(),))
        if "*" in value:
            right = value.replace("*", "") or "the text without it"
            raise BadValue(f"{value!r} has a *, and a text is found anywhere without one: write {right}.")
        return Term(f"instr({column}, ?) > 0", (value.casefold(),))

    return read


def _yes_or_no(what: str, sql: str, known: str = "") -> TermParser:
    """Return the parser of a field with the values yes and no; ``sql`` is the condition for yes.

    ``known``: SQL before that for no, which holds where it is known.
    """
    return lambda value: Term(sql if choose(what, value, ("yes", "no")) == "yes" else f"{known}NOT ({sql})")


def _number_or_range(
    name: str, sql: str, pattern: str, takes: str, *, usual: str = "=", indexed: str = ""
) -> TermParser:
    """Return the parser of a field that takes a number after a comparison, or ``LOW..HIGH``, both ends included.

    One end of a range may be left out. ``sql`` has braces in the place of the comparison; ``pattern`` matches the
    number and its unit; ``takes`` says in an error what is allowed; ``usual``: the comparison when none is written.
    ``indexed``: SQL that gives ids by an index, for a number above zero, with the comparison turned round.
    """
    shape = rf"^(<=|>=|<|>|=)?{pattern}$"

    def read(value: str) -> Term:
        low, dots, high = value.partition("..")
        if dots and not low and not high:
            raise BadValue(f"The query term {name}: needs a value, for example {fields()[name].example}.")
        texts = [f">={low}"] * bool(low) + [f"<={high}"] * bool(high) if dots else [value]
        ends = []
        for text in texts:
            match = re.match(shape, text)
            if match is None:
                raise BadValue(f"{name}: takes {takes}, not {clean(value, 40)!r}.")
            unit = match[3] if match.re.groups > 2 else ""
            ends.append((match[1] or usual, int(match[2]) * UNITS.get(unit, 1)))
        if len(ends) == 2 and ends[0][1] > ends[1][1]:
            raise BadValue(f"The range {name}:{clean(value, 40)} is empty: write the smaller value first.")
        term = Term(" AND ".join(sql.format(sign) for sign, _ in ends), tuple(number for _, number in ends))
        sign, number = ends[-1]
        if not indexed or not number:
            return term
        return msgspec.structs.replace(term, among=indexed.format(sign.translate(TURNED)), among_values=(number,))

    return read


TURNED: Final = str.maketrans("<>", "><")


def _category(value: str) -> Term:
    hits = [word for word in CATEGORIES if word.casefold().startswith(value.casefold())]
    return Term("category = ?", (hits[0] if hits else choose("category", value, CATEGORIES),))


def _agent(value: str) -> Term:
    names, _, words = value.partition("=")
    slugs = tuple(dict.fromkeys(slug for name in names.split(",") for slug in _surface_slugs(name)))
    if not words:
        raise BadValue(
            f"agent:{slugs[0]} needs a verdict, for example agent:{slugs[0]}=out.", allowed=tuple(VERDICT_WORDS)
        )
    verdicts, fates = set[str](), set[str]()
    for word in words.split(","):
        fates_meant = VERDICT_WORDS.get(word.strip().casefold().replace(" ", "-"), ())
        fates.update(FATES[fate] for fate in fates_meant)
        verdicts.update(() if fates_meant else [choose("verdict", word, (*VERDICT_WORDS, *VERDICTS))])
    return any_of(term for slug in slugs for term in _outcome_terms(slug, sorted(verdicts), sorted(fates)))


def _outcome_terms(slug: str, verdicts: Sequence[str], fates: Sequence[str]) -> Iterator[Term]:
    """Yield conditions: an assistant has one of the ``verdicts``, or one of the ``fates``, letters of ``words``."""
    place = 1 + SLUGS.index(slug)
    for column, values in ((slug, verdicts), (f"substr(words, {place}, 1)", fates)):
        if values:
            yield Term(f"ranked AND {column} IN ({', '.join('?' * len(values))})", tuple(values))


def _surface_slugs(name: str) -> tuple[str, ...]:
    """Return the slugs of the surfaces that a product, token or company names; all for ``any``. Raises BadValue."""
    matching = SURFACES if name.casefold() == ANY else registry().surfaces_of(name)
    return tuple(s.slug for s in matching) or (choose("agent", name, (*SLUGS, ANY)),)


_READ_ROBOTS: Final = f"instr(crawlers, ',{ROBOTS_READ},') > 0 AND "
"""SQL before a condition that robots.txt lacks something: it was read to its end."""


def _crawler(value: str) -> Term:
    """``gptbot`` (robots.txt has a group of its name), ``gptbot=blocked`` or ``gptbot,ccbot=blocked,partial``."""
    names, equals, words = value.partition("=")
    policies = (
        [choose("policy", word, CRAWLER_POLICIES) for word in words.split(",")] if equals else CRAWLER_POLICIES[1:]
    )
    tokens = [_crawler_token(name) for name in names.split(",")]
    return any_of(_policy_term(token, policy) for token in tokens for policy in policies)


def _crawler_token(name: str) -> str:
    tokens = [crawler.token for crawler in registry().crawlers if fold(name) in names_of(crawler)]
    return tokens[0] if tokens else choose("crawler", name, tuple(crawler.token for crawler in registry().crawlers))


def _policy_term(token: str, policy: str) -> Term:
    if policy == "unlisted":
        return Term(f"{_READ_ROBOTS}instr(crawlers, ?) = 0", (f",{token}=",))
    return Term("instr(crawlers, ?) > 0", (f",{token}={policy},",))


def _open_reader(value: str) -> Term:
    names, _, words = value.partition("=")
    keys = (
        [tool.key for tool in table().tool] if names.casefold() == ANY else [tool_called(n) for n in names.split(",")]
    )
    if not words:
        raise BadValue(f"open:{names} needs a verdict, for example open:{names}=out.", allowed=tuple(VERDICT_WORDS))
    fates = dict.fromkeys(
        fate for word in words.split(",") for fate in VERDICT_WORDS[choose("verdict", word, tuple(VERDICT_WORDS))]
    )
    return any_of(_open_reader_term(key, fate) for key in keys for fate in fates)


def _open_reader_term(key: str, fate: str) -> Term:
    """Return the condition that the fetch tool ``key`` got ``fate``; a tool that was not asked has no entry."""
    if fate == NOT_ASKED:
        return Term("instr(crawlers, ?) = 0", (f",open.{key}=",))
    return Term("instr(crawlers, ?) > 0", (f",open.{key}={fate},",))


def _grade(value: str) -> Term:
    low, dots, high = value.partition("..")
    match = re.match(r"<=|>=|<|>|=", value)
    if dots:
        ends = sorted(GRADES.index(_grade_letter(end, value)) for end in (low or GRADES[0], high or GRADES[-1]))
        grades = GRADES[ends[0] : ends[1] + 1]
    elif match is None or match[0] == "=":
        grades = (_grade_letter(value.removeprefix("="), value),)
    else:
        place = GRADES.index(_grade_letter(value[match.end() :], value))
        grades = GRADES[place:] if match[0].startswith("<") else GRADES[: place + 1]
        grades = grades if match[0].endswith("=") else tuple(word for word in grades if word != GRADES[place])
    if not grades:
        raise BadValue(f"No grade is {clean(value, 40)}. Grades are A to F, best first: grade:f, grade:<c, grade:a..b.")
    return Term(f"ranked AND substr(grade, 1, 1) IN ({', '.join('?' * len(grades))})", grades)


def _grade_letter(text: str, shown: str) -> str:
    if text.strip().upper() not in GRADES:
        raise BadValue(
            f"There is no grade {clean(text, 40) or clean(shown, 40)}. Grades are A, B, C, D, F: grade:f, grade:<c.",
            allowed=GRADES,
        )
    return text.strip().upper()


def _change(value: str) -> Term:
    word = value.casefold()
    return Term("change IS NULL AND scans = 1") if word == NEW else _points(CHANGES.get(word, word))


_points = _number_or_range(
    "change",
    "ifnull(change {} ?, 0)",
    r"([+-]?\d{1,3})",
    f"{', '.join((*CHANGES, NEW))} or points such as change:<-5 or change:1..10",
)


class Field(msgspec.Struct, frozen=True):
    """A field of the query line.

    ``about``: what it is about in a few words. ``help``: an example and its meaning, then further lines. ``read``
    reads one value. ``values``: those to choose from, each with its meaning; examples where any word may follow.
    ``then``: what may follow a value after an equals sign.
    ``of_card``: only a whole card answers it, the row of an index does not. ``commas``: values are told apart by them.
    ``alone``: the condition of the name without a value.
    """

    about: str
    help: tuple[tuple[str, str], ...]
    read: TermParser
    values: tuple[tuple[str, str], ...] = ()
    then: tuple[str, ...] = ()
    of_card: bool = False
    commas: bool = True
    alone: str = ""

    @property
    def example(self) -> str:
        """A term with this field."""
        return self.help[0][0]


def _values_only(words: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return ``words`` as values without a meaning beside them; one with a space is put in quotes."""
    return tuple((f'"{word}"' if " " in word else word, "") for word in words)


CRAWLERS: Final = ("GPTBot", "ClaudeBot", "PerplexityBot", "Google-Extended", "CCBot", "Bytespider")
_KINDS: Final = ("agents get in", "some do", "shut out")


@cache
def fields() -> Mapping[str, Field]:
    """Return the fields by name, made on first use: a first frame shows none.

    A new field is a row here, and a column in ``index/schema.sql`` where no column has its answer.
    """
    return MappingProxyType(
        {
            "stance": Field(
                "Open, Selective, Walled",
                (("stance:walled", "open, selective or walled"),),
                _one_of("stance", "ranked AND stance", STANCES),
                tuple(zip(STANCES, _KINDS, strict=True)),
            ),
            "category": Field(
                "kind of site",
                (("category:travel", 'a category, or its beginning: category:"social & media", category:soc'),),
                _category,
                _values_only(CATEGORIES),
            ),
            "agent": Field(
                "what an assistant gets",
                (
                    ("agent:claude=out", "what an assistant gets, by product, token or company; or any"),
                    ("", ", ".join(VERDICT_WORDS)),
                    ("", f"or a verdict of the records: {', '.join(VERDICTS)}"),
                ),
                _agent,
                tuple((surface.slug, surface.label) for surface in SURFACES if surface.source != "none"),
                tuple(VERDICT_WORDS),
                commas=False,
            ),
            "crawler": Field(
                "what robots.txt says to a crawler",
                (
                    (
                        "crawler:gptbot",
                        "robots.txt names a crawler: crawler:gptbot=blocked, =partial, =allowed, =unlisted",
                    ),
                ),
                _crawler,
                _values_only(CRAWLERS),
                CRAWLER_POLICIES,
                of_card=True,
                commas=False,
            ),
            "open": Field(
                "what a fetch tool of an open agent gets",
                (("open:langchain=out", "what it gets (scan --open-agents); or any. Verdicts as for agent:"),),
                _open_reader,
                tuple((tool.key, "") for tool in table().tool),
                tuple(VERDICT_WORDS),
                of_card=True,
                commas=False,
            ),
            "host": Field("host name", (("host:shop", "the host, not the name, holds this text"),), _host),
            "edge": Field(
                "CDN or server",
                (("edge:akamai", "a CDN or server that answered"), ("edge:=nginx", "this one and no other")),
                _contains("lower(edge)"),
                of_card=True,
            ),
            "server": Field(
                "Server field of the answer",
                (("server:nginx", "what the site says in its Server field"),),
                _contains("server"),
                of_card=True,
            ),
            "score": Field(
                "points of 100",
                (("score:40..60", "a score: score:60, score:<40, score:>=70"),),
                _number_or_range(
                    "score",
                    "ranked AND score {} ?",
                    r"(\d{1,9})",
                    "a number such as score:<40 or a range such as score:40..60",
                ),
                _values_only(("<40", ">=70", "40..60")),
            ),
            "grade": Field(
                "A to F",
                (("grade:<c", "a grade: grade:f, grade:a,b, grade:b..d; lower means worse"),),
                _grade,
                _values_only(GRADES),
            ),
            "change": Field(
                "score against the scan before",
                (
                    (
                        "change:down",
                        "score against the scan before: up, down, same, new, or points: change:<-5, change:1..10",
                    ),
                ),
                _change,
                (("up", "risen"), ("down", "fallen"), ("same", "as before"), (NEW, "no scan before")),
                of_card=True,
            ),
            "fresh": Field(
                "age of the scan",
                (("fresh:<7d", "age of the last scan in m, h, d or w: fresh:>30d, fresh:1d..1w"),),
                _number_or_range(
                    "fresh",
                    "max(now_ms() - at, 0) {} ? * 1000",
                    r"(\d{1,9})([mhdw])",
                    "an age such as fresh:<7d or fresh:1d..7d (m, h, d or w)",
                    usual="<=",
                    indexed="SELECT id FROM site WHERE at {} now_ms() - ? * 1000",
                ),
                (("<7d", "within a week"), ("<24h", "within a day"), (">30d", "older than a month")),
            ),
            "has": Field(
                "what the site has",
                (("has:llms", ", ".join(HAS)),),
                _list_holds("has: word", "has", HAS),
                _values_only(HAS),
                of_card=True,
            ),
            "signal": Field(
                "Content-Signal stated",
                (("signal:no", "whether robots.txt has a Content-Signal line: yes, or no where it was read"),),
                _yes_or_no("signal: word", "instr(has, ',signal,') > 0", _READ_ROBOTS),
                _values_only(("yes", "no")),
                of_card=True,
            ),
            "fix": Field(
                "what is still to do",
                (("fix:llms", f"a fix is still to be made: {', '.join(FIXES)}"),),
                _list_holds("fix", "fixes", FIXES),
                _values_only(FIXES),
                of_card=True,
            ),
            "tasks": Field(
                "tasks were run",
                (("tasks:yes", "whether tasks were run: yes or no"),),
                _yes_or_no("tasks: word", "tasks"),
                _values_only(("yes", "no")),
            ),
            "method": Field(
                "way of scoring",
                (("method:v0.2", "scoring method of the card"),),
                _one_of("method", "method", tuple(METHODS)),
                _values_only(reversed(METHODS)),
                of_card=True,
            ),
            "contradiction": Field(
                "robots.txt and site disagree",
                (
                    ("contradiction:out", "robots.txt lets an agent in and the site turns it away"),
                    ("contradiction:in", "robots.txt shuts an agent out and the site serves it"),
                    ("contradiction", "either of the two"),
                ),
                _list_holds("contradiction", "contradictions", CONTRADICTIONS, "ranked AND "),
                tuple(zip(CONTRADICTIONS, ("robots yes, site no", "robots no, site yes"), strict=True)),
                of_card=True,
                alone="ranked AND contradictions <> ''",
            ),
        }
    )


_WORDS: Final = r'-?\(|\)|(?:"[^"]*"|[^\s"()])+|"'


class _Word(msgspec.Struct, frozen=True):
    """A word of the line without its quotes; ``quoted`` says whether it had some at its beginning."""

    text: str
    quoted: bool

    @property
    def operator(self) -> str:
        """The operator that the word is, else empty."""
        upper = self.text.upper()
        return upper if upper in OPERATORS and not self.quoted else ""


def parse(line: str) -> tuple[Term, ...]:
    """Return the terms of a query line. Raises BadValue with one sentence that names the term at fault."""
    words = deque[_Word]()
    for word in re.findall(_WORDS, clean(line, 500)):
        if word.count('"') % 2:
            raise BadValue('The query has a double quote (") that is not closed.')
        if word.replace('"', ""):
            words.append(_Word(word.replace('"', ""), word.startswith('"')))
    return _sequence(words, 0)


def _sequence(words: deque[_Word], depth: int) -> tuple[Term, ...]:
    """Take terms from the front of ``words`` up to their end, or to the parenthesis that closes this one."""
    groups: list[list[Term]] = []
    joining = negated = False
    before = ""
    while words and (words[0].text != ")" or words[0].quoted):
        word = words.popleft()
        operator = word.operator
        if operator == "NOT":
            negated = not negated
        elif operator:
            if not groups or before in OPERATORS:
                raise BadValue(f"{operator} needs a term before it; to search for the word, write it in quotes.")
            joining = operator == "OR"
        else:
            opens = word.text in ("(", "-(") and not word.quoted
            term = _parenthesised(words, depth + 1) if opens else _term(word)
            term = opposite(term) if negated != (word.text == "-(" and opens) else term
            if joining:
                groups[-1].append(term)
            else:
                groups.append([term])
            joining = negated = False
        before = operator
    if before:
        raise BadValue(f"{before} needs a term after it; to search for the word, write it in quotes.")
    if words and not depth:
        raise BadValue("The query closes a parenthesis that is not open; to search for one, write it in quotes.")
    return tuple(any_of(group) for group in groups)


def _parenthesised(words: deque[_Word], depth: int) -> Term:
    """Take the terms in parentheses and the closing one from the front of ``words``; return them as one condition."""
    if depth > MAX_DEPTH:
        raise BadValue(f"The query has more than {MAX_DEPTH} parentheses inside one another.")
    terms = _sequence(words, depth)
    if not words:
        raise BadValue("The query has a parenthesis that is not closed; to search for one, write it in quotes.")
    words.popleft()
    if not terms:
        raise BadValue("The parentheses hold no term; to search for them, write them in quotes.")
    return all_of(terms)


def _term(word: _Word) -> Term:
    negated = word.text.startswith("-") and len(word.text) > 1 and not word.quoted
    body = word.text[1:] if negated else word.text
    term = _unnegated(body, clean(word.text, 60), literal=word.quoted)
    return opposite(term) if negated else term


def _unnegated(body: str, shown: str, *, literal: bool) -> Term:
    """Return the condition of a word without its minus; ``literal``: it is a text, ``shown``: the word for an error."""
    name, colon, value = body.partition(":")
    name = name.casefold()
    field = None if literal else fields().get(name)
    if field is not None and field.alone and not colon:
        return Term(field.alone, (), frozenset({name}))
    if literal or not colon or not _names_a_field(name, value):
        if not literal:
            _refuse_other_languages(body, shown)
        text = body.casefold()
        term = Term("(instr(host, ?) > 0 OR instr(folded, ?) > 0)", (text, text), frozenset({"text"}))
        return _by_text(term, text)
    if field is None:
        raise BadValue(f"Unknown query term {name}: in {shown!r}; {_hint(name, value)}", allowed=tuple(fields()))
    parts = value.split(",") if field.commas else [value]
    if not all(part.strip() for part in parts):
        raise BadValue(f"The query term {name}: needs a value, for example {field.example}.")
    return msgspec.structs.replace(any_of(field.read(part) for part in parts), fields=frozenset({name}))


def _names_a_field(name: str, value: str) -> bool:
    """Tell whether ``name:value`` is meant as a term; a host with a port, or an address, is a text."""
    if name.isalpha():
        return name != "localhost"
    return name.replace(".", "").replace("_", "").isalpha() and value[:1].isalpha()


def _hint(name: str, value: str) -> str:
    """Return a suggestion for a field that does not exist."""
    if meant := _term_for_name(name, value):
        return f"write {meant}."
    return nearest(FIELD_OF_COLUMN.get(name, name), fields(), mark=":") or f"allowed are: {', '.join(fields())}."


def _term_for_name(name: str, value: str) -> str:
    """Return the term ``agent:name=…`` or ``crawler:name=…``, empty where neither has this ``name``."""
    if registry().surfaces_of(name):
        return f"agent:{name}={value or 'out'}"
    crawler = any(fold(name) in names_of(entry) for entry in registry().crawlers)
    return f"crawler:{name}={value or 'blocked'}" if crawler else ""


_COMPARISON: Final = r"^([\w .-]+?)(!=|<>|==|<=|>=|=|<|>)(.*)$"
_SIGN: Final = r"[=<>|*]|&&|^[!+~]"


def _refuse_other_languages(body: str, shown: str) -> None:
    """Raise BadValue for a word in the form of a term of another query language, naming the form of this one."""
    if not re.search(_SIGN, body):
        return
    right = _correction(body)
    raise BadValue(f"{shown!r} is not a term; {right}to search for this text, write it in double quotes.")


def _correction(body: str) -> str:
    """Return what to write instead of ``body``, empty where there is no suggestion."""
    bare = body.lstrip("!+~")
    match = re.match(_COMPARISON, bare)
    name, sign, value = match.groups() if match else ("", "", "")
    name = FIELD_OF_COLUMN.get(name.casefold(), name)
    minus = "-" if body.startswith("!") or sign in ("!=", "<>") else ""
    if name.casefold() in fields():
        return f"write {minus}{name.casefold()}:{sign if sign[0] in '<>' and sign != '<>' else ''}{value}; "
    if match and (meant := _term_for_name(name, value)):
        return f"write {minus}{meant}; "
    if (bare != body and bare.partition(":")[0].casefold() in fields()) or minus:
        return f"write {minus}{bare}; "
    if "|" in body:
        return "write OR between two terms; "
    if "&&" in body:
        return "terms with a space between them must all hold; "
    if "*" in body:
        return f"a text is found anywhere in host and name: write {body.replace('*', ' ').strip() or 'nothing'}; "
    return ""


TITLE: Final = "The query line"
INTRODUCTION: Final = (
    "Words and terms choose hosts; all of them must hold. The same line works in the dashboard (/), in "
    "aui-tui index --query, aui-tui export --query, and on the pages and for the agents of aui-tui serve.",
    "Upper and lower case are alike. A term that does not exist is an error, never an empty list.",
)


def terms() -> tuple[tuple[str, str], ...]:
    """Return the terms and their meanings; an empty name goes on with the term above."""
    return ("shop", "host or name holds this text"), *(row for field in fields().values() for row in field.help)


JOINING: Final = (
    ("a b", "both must hold"),
    ("a OR b", "one must hold; OR joins its neighbours first: x a OR b means x and (a or b)"),
    ("grade:a,b", "one of several values of a term"),
    ("NOT a, -a", "does not hold, or is not known"),
    ("a OR (b c)", "parentheses hold terms together; -(a b) turns all of them round"),
    ('"two words"', "a value with spaces; what begins with a quote is a text: or, and, not, a:b, score>50"),
)
EXAMPLES: Final = (
    ("contradiction:out stance:walled", "invited by robots.txt, shut out by the site"),
    ("category:retail agent:claude,chatgpt=out", "shops that turn Claude or ChatGPT away"),
    ("grade:a,b OR score:65..69 -tasks:yes", "good or nearly, without a run of the tasks"),
)

"""Sets of hosts as bitmaps, and the hosts that a query selects: intersections and counts take microseconds.

Bit n of a set is the host with id n. A set is kept in chunks of 32,768 ids: up to SPARSE members as 16-bit offsets,
more as 4,096 octets, both little-endian.
"""

from __future__ import annotations

import operator
import re
import sqlite3
import sys
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache, reduce
from operator import and_, or_
from types import MappingProxyType
from typing import Final

import msgspec

from aui_tui.index import columns
from aui_tui.model.agents import gets_in
from aui_tui.model.codec import names_of
from aui_tui.model.query import ALL, CONTRADICTIONS, HAS, Query, Term
from aui_tui.model.registry import surfaces
from aui_tui.model.view import Facets, Overview, decades
from aui_tui.model.vocabulary import CATEGORIES, FIXES, GRADES, STANCES, SURFACES_TOTAL, TURNED_AWAY, VERDICTS

BITS: Final = 15
CHUNK: Final = 1 << BITS
"""Ids per chunk."""
OCTETS: Final = CHUNK // 8
SPARSE: Final = 128
_OCCUPIED: Final = re.compile(rb"[^\0]")
_POSITIONS: Final = tuple(tuple(bit for bit in range(8) if octet >> bit & 1) for octet in range(256))


class Changes:
    """Additions to and removals from sets, gathered so that each chunk is written once.

    An id may be added to a set or removed from it any number of times; the last word counts.
    """

    def __init__(self) -> None:
        self._chunks: defaultdict[tuple[int, int], list[int]] = defaultdict(list)

    def add(self, tags: Iterable[int], member: int) -> None:
        """Put the id ``member`` into the sets ``tags``."""
        chunk, offset = member >> BITS, member & CHUNK - 1
        for tag in tags:
            self._chunks[tag, chunk].append(offset)

    def discard(self, tags: Iterable[int], member: int) -> None:
        """Take the id ``member`` out of the sets ``tags``."""
        chunk, offset = member >> BITS, ~(member & CHUNK - 1)
        for tag in tags:
            self._chunks[tag, chunk].append(offset)

    def write(self, db: sqlite3.Connection) -> None:
        """Apply everything gathered, inside the caller's transaction."""
        kept, gone = [], []
        for key in sorted(self._chunks):
            row = db.execute("SELECT bits FROM bitmap WHERE tag = ? AND chunk = ?", key).fetchone()
            octets = _octets(row[0]) if row else bytearray(OCTETS)
            for offset in self._chunks[key]:
                if offset >= 0:
                    octets[offset >> 3] |= 1 << (offset & 7)
                else:
                    octets[~offset >> 3] &= ~(1 << (~offset & 7))
            packed = _packed(octets)
            if packed:
                kept.append((*key, packed))
            else:
                gone.append(key)
        db.executemany("INSERT OR REPLACE INTO bitmap (tag, chunk, bits) VALUES (?, ?, ?)", kept)
        db.executemany("DELETE FROM bitmap WHERE tag = ? AND chunk = ?", gone)
        self._chunks.clear()


def write_chunk(db: sqlite3.Connection, chunk: int, groups: Iterable[tuple[Iterable[int], Iterable[int]]]) -> None:
    """Write a chunk that no set has yet; a group is some tags and the ids that are members of all of them."""
    found: defaultdict[int, int] = defaultdict(int)
    for tags, ids in groups:
        octets = bytearray(OCTETS)
        for member in ids:
            octets[(member & CHUNK - 1) >> 3] |= 1 << (member & 7)
        bits = int.from_bytes(octets, "little")
        for tag in tags:
            found[tag] |= bits
    kept = ((tag, chunk, _packed(bits.to_bytes(OCTETS, "little"))) for tag, bits in found.items())
    db.executemany("INSERT INTO bitmap (tag, chunk, bits) VALUES (?, ?, ?)", kept)


def load(db: sqlite3.Connection, tag: int) -> int:
    """Return the set ``tag``."""
    rows = db.execute("SELECT chunk, bits FROM bitmap WHERE tag = ? ORDER BY chunk", (tag,)).fetchall()
    if not rows:
        return 0
    octets = bytearray((rows[-1][0] + 1) * OCTETS)
    for chunk, bits in rows:
        start = chunk * OCTETS
        if len(bits) == OCTETS:
            octets[start : start + OCTETS] = bits
        else:
            for offset in _offsets(bits):
                octets[start + (offset >> 3)] |= 1 << (offset & 7)
    return int.from_bytes(octets, "little")


def of(members: Iterable[int]) -> int:
    """Return the set of some ids."""
    found = array("q", members)
    if not found:
        return 0
    octets = bytearray((max(found) >> 3) + 1)
    for member in found:
        octets[member >> 3] |= 1 << (member & 7)
    return int.from_bytes(octets, "little")


def members(found: int) -> Iterator[int]:
    """Yield the ids in a set, in order."""
    octets = found.to_bytes((found.bit_length() + 7) // 8, "little")
    for match in _OCCUPIED.finditer(octets):
        base = match.start() << 3
        for bit in _POSITIONS[octets[match.start()]]:
            yield base + bit


def _octets(bits: bytes) -> bytearray:
    if len(bits) == OCTETS:
        return bytearray(bits)
    octets = bytearray(OCTETS)
    for offset in _offsets(bits):
        octets[offset >> 3] |= 1 << (offset & 7)
    return octets


def _offsets(bits: bytes) -> array[int]:
    offsets = array("H", bits[: len(bits) & ~1])
    if sys.byteorder == "big":
        offsets.byteswap()
    return array("H", (offset & CHUNK - 1 for offset in offsets))


def _packed(octets: bytes | bytearray) -> bytes:
    found = int.from_bytes(octets, "little")
    if found.bit_count() > SPARSE:
        return bytes(octets)
    offsets = array("H", members(found))
    if sys.byteorder == "big":
        offsets.byteswap()
    return offsets.tobytes()


RANKED: Final = 0
"""``RANKED + 1`` are the hosts of the ranked list, ``RANKED`` the unreachable ones."""
CATEGORY: Final = 10
STANCE: Final = 20
GRADE: Final = 30
METHOD: Final = 40
CONTRADICTION: Final = 50
TASKS: Final = 51
HAS_WORD: Final = 60
FIX: Final = 80
VERDICT: Final = 100
SCORE: Final = 200
EDGE: Final = 1 << 20
"""First number of each kind; a code or position is added."""

_COMPARE: Final = MappingProxyType(
    {"=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
)


def tags_of(ranked: int, category: int, stance: int, score: int, bits: int, edge: int) -> frozenset[int]:
    """Return the sets of a host with these summary columns; ``edge`` is its row in the table of that name."""
    return tags_of_bits(bits) | {RANKED + ranked, CATEGORY + category, STANCE + stance, SCORE + score, EDGE + edge}


@lru_cache(maxsize=8192)
def tags_of_bits(bits: int) -> frozenset[int]:
    """Return the sets of a host that follow from the packed column ``bits``."""
    found = {GRADE + (bits >> columns.GRADE_AT & 7), METHOD + (bits >> columns.METHOD_AT & 3)}
    found |= {VERDICT + 8 * n + (bits >> columns.VERDICT_WIDTH * n & 7) for n in range(SURFACES_TOTAL)}
    found |= {HAS_WORD + n for n in range(len(HAS)) if bits >> columns.HAS_AT + n & 1}
    found |= {FIX + n for n in range(len(FIXES)) if bits >> columns.FIX_AT + n & 1}
    if bits >> columns.CONTRADICTION_AT & 1:
        found.add(CONTRADICTION)
    if bits >> columns.TASKS_AT & 1:
        found.add(TASKS)
    return frozenset(found)


def sets_of(term: Term) -> tuple[int, ...] | None:
    """Return the sets of which one must hold for ``term``, its negation aside; None when no set has the answer.

    ``edge``, ``fresh`` and free text have no sets of their own numbers.
    """
    match term.field:
        case "stance":
            return (STANCE + columns.STANCE[term.value],)
        case "category":
            return (CATEGORY + columns.CATEGORY[term.value],)
        case "agent":
            place = names_of("matrix").index(term.key)
            return (VERDICT + 8 * place + columns.VERDICT[term.value],)
        case "score":
            compare = _COMPARE[term.op]
            return tuple(SCORE + score for score in range(101) if compare(score, term.number))
        case "grade":
            return (GRADE + columns.GRADE[term.value],)
        case "has":
            return (HAS_WORD + HAS.index(term.value),)
        case "signal" if term.value == "yes":
            return (HAS_WORD + HAS.index("signal"),)
        case "method":
            return (METHOD + columns.METHOD[term.value],) if term.value in columns.METHOD else ()
        case "fix":
            return (FIX + FIXES.index(term.value),)
        case "contradiction" if not term.value:
            return (CONTRADICTION,)
        case "tasks" if term.value == "yes":
            return (TASKS,)
        case _:
            return None


EDGES: Final = 24
"""Edges that an overview counts at most."""


class Selection:
    """The hosts of ``query`` at ``now`` (epoch seconds), read from ``db`` inside one transaction.

    ``sets`` are tagged sets of the same state of the index; those that are read are added to it. ``trigrams``: there
    is an index of text.
    """

    def __init__(
        self,
        db: sqlite3.Connection,
        query: Query,
        now: float,
        sets: dict[int, int] | None = None,
        *,
        trigrams: bool = True,
    ) -> None:
        self._trigrams = trigrams
        self._db = db
        self._now = now
        self._query = query
        self._sets: dict[int, int] = {} if sets is None else sets
        self.everything = self.tagged(RANKED) | self.tagged(RANKED + 1)
        self.terms = reduce(and_, (self._of(term) for term in query.terms), self.everything)
        """Hosts that satisfy the query line, in both lists and under any filter."""

    def tagged(self, tag: int) -> int:
        """Return the set of a tag."""
        found = self._sets.get(tag)
        if found is None:
            found = self._sets[tag] = load(self._db, tag)
        return found

    def chosen(self, ranked: int) -> int:
        """Return the hosts of one list under all filters."""
        return self.terms & self.tagged(RANKED + ranked) & self._category() & self._stance()

    def facets(self) -> Facets:
        """Return how many ranked hosts each choice would give under the other filters."""
        ranked = self.terms & self.tagged(RANKED + 1)
        by_stance, by_category = ranked & self._category(), ranked & self._stance()
        return Facets(
            stance={word: self._share(by_stance, STANCE + columns.STANCE[word]) for word in STANCES},
            category={word: self._share(by_category, CATEGORY + columns.CATEGORY[word]) for word in CATEGORIES},
        )

    def overview(self) -> Overview:
        """Return figures over the ranked hosts under all filters."""
        found = self.chosen(1)
        edges, refusing = self._edge_sets(found), self._refusing()
        stances = {}
        for category in CATEGORIES:
            inside = found & self.tagged(CATEGORY + columns.CATEGORY[category])
            stances[category] = {word: self._share(inside, STANCE + columns.STANCE[word]) for word in STANCES}
        return Overview(
            grades={word: self._share(found, GRADE + columns.GRADE[word]) for word in GRADES},
            stances=stances,
            failing={key: self._share(found, FIX + place) for place, key in enumerate(FIXES)},
            hosts=found.bit_count(),
            verdicts=self._verdicts(found),
            scores=decades(self.per_score(found)),
            edges={text: hosts.bit_count() for text, hosts in edges.items()},
            refusing={text: number for text, hosts in edges.items() if (number := (hosts & refusing).bit_count())},
            contradictions=self._share(found, CONTRADICTION),
            risen=self._changed(found, ">"),
            fallen=self._changed(found, "<"),
            unreachable=self.chosen(0).bit_count(),
            shut=self._shut(found),
            disagree=self._disagree(found),
        )

    def _disagree(self, found: int) -> dict[str, tuple[int, int]]:
        """Return the hosts that ``contradiction:out agent:NAME=refused,challenged`` and its opposite list."""
        out, let_in = (found & self._of(Term(field="contradiction", value=word)) for word in CONTRADICTIONS)

        return {
            surface.slug: (
                (out & self._having(place, *TURNED_AWAY)).bit_count(),
                (let_in & self._having(place, "disallowed")).bit_count(),
            )
            for place, surface in enumerate(surfaces())
            if surface.live
        }

    def _having(self, place: int, *verdicts: str) -> int:
        """Return the hosts with one of ``verdicts`` for the surface at ``place`` of the matrix."""
        return reduce(or_, (self.tagged(VERDICT + 8 * place + columns.VERDICT[word]) for word in verdicts))

    def _refusing(self) -> int:
        """Return the hosts that refuse or challenge somebody."""
        return reduce(or_, (self._having(place, *TURNED_AWAY) for place in range(len(surfaces()))))

    def _shut(self, found: int) -> dict[str, dict[str, tuple[int, int]]]:
        """Return by surface and category how many hosts keep it out, and how many say whether they do."""
        kinds = {word: found & self.tagged(CATEGORY + columns.CATEGORY[word]) for word in CATEGORIES}
        out: dict[str, dict[str, tuple[int, int]]] = {}
        for place, slug in enumerate(names_of("matrix")):
            sets = {word: self.tagged(VERDICT + 8 * place + code) for code, word in enumerate(VERDICTS)}
            shut = reduce(or_, (hosts for word, hosts in sets.items() if gets_in(word) is False), 0)
            says = reduce(or_, (hosts for word, hosts in sets.items() if gets_in(word) is not None), 0)
            out[slug] = {word: ((kind & shut).bit_count(), (kind & says).bit_count()) for word, kind in kinds.items()}
        return out

    def _verdicts(self, found: int) -> dict[str, dict[str, int]]:
        """Return the hosts per verdict of each surface of the matrix."""
        return {
            slug: {
                word: count
                for code, word in enumerate(VERDICTS)
                if (count := self._share(found, VERDICT + 8 * place + code))
            }
            for place, slug in enumerate(names_of("matrix"))
        }

    def _edge_sets(self, found: int) -> dict[str, int]:
        """Return the most frequent edges of the index and their hosts among ``found``; an empty name means none."""
        rows = self._db.execute(
            "SELECT edge.id, text FROM edge JOIN site ON site.edge = edge.id GROUP BY edge.id "
            "ORDER BY count(*) DESC LIMIT ?",
            (EDGES,),
        ).fetchall()
        sets = [(text, found & self.tagged(EDGE + identity)) for identity, text in rows]
        return dict(sorted(((text, hosts) for text, hosts in sets if hosts), key=lambda item: -item[1].bit_count()))

    def _changed(self, found: int, way: str) -> int:
        rows = self._db.execute(f"SELECT id FROM site NOT INDEXED WHERE change {way} 0")
        return (of(row[0] for row in rows) & found).bit_count()

    def per_score(self, found: int) -> list[int]:
        """Return how many members of ``found`` have each score from 0 to 100."""
        return [self._share(found, SCORE + score) for score in range(101)]

    def _share(self, found: int, tag: int) -> int:
        return (found & self.tagged(tag)).bit_count()

    def _category(self) -> int:
        word = self._query.category
        return self.tagged(CATEGORY + columns.CATEGORY[word]) if word else self.everything

    def _stance(self) -> int:
        word = self._query.stance
        return self.tagged(STANCE + columns.STANCE[word]) if word else self.everything

    def _of(self, term: Term) -> int:
        if term.parts:
            whole = reduce(and_ if term.field == ALL else or_, map(self._of, term.parts))
            return self.everything & ~whole if term.negated else whole
        if term.field == "signal" and term.value == "no":
            term = msgspec.structs.replace(term, value="yes", negated=not term.negated)
        wanted = self._edges(term.value) if term.field == "edge" else sets_of(term)
        if wanted is None:
            found = self._asked(msgspec.structs.replace(term, negated=False))
        else:
            found = reduce(or_, map(self.tagged, wanted), 0)
        return self.everything & ~found if term.negated else self.everything & found

    def _edges(self, text: str) -> tuple[int, ...]:
        rows = self._db.execute("SELECT id FROM edge WHERE instr(text, ?)", (text,))
        return tuple(EDGE + row[0] for row in rows)

    def _asked(self, term: Term) -> int:
        """Return the hosts of a term that only SQL can answer."""
        if self._trigrams and term.field == "text" and len(term.value) >= columns.TRIGRAM:
            rows = self._db.execute(
                "SELECT rowid FROM site_text WHERE site_text MATCH ?", (columns.phrase(term.value),)
            )
        else:
            condition = columns.of_term(term, self._now)
            rows = self._db.execute(f"SELECT id FROM site WHERE {condition.sql}", condition.values)
        return of(row[0] for row in rows)

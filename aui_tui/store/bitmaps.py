"""Sets of hosts as bitmaps: bit n of a set is the host with id n; intersections and counts take microseconds.

A set is kept in chunks of 32,768 ids: up to SPARSE members as 16-bit offsets, more as 4,096 octets, both little-endian.
"""

from __future__ import annotations

import re
import sqlite3
import sys
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

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

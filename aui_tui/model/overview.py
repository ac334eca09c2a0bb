"""Figures over the hosts of a query, and how their scores have moved."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """Figures over the rows of a query: hosts per grade, per category and stance, and per failing check (fix key).

    What a source does not count keeps its default. ``verdicts``: hosts per word of FATES of each matrix surface, by
    slug.
    ``scores``: hosts per ten points, the last of 90 to 100. ``edges``: hosts per value of the card's ``edge``, the
    most frequent ones. ``risen`` and ``fallen``: hosts whose score changed since the scan before, of the ``compared``,
    which have one that compares. ``unreachable``: hosts of the other list.
    ``shut``: by slug and category, the hosts that keep a surface out, and all that say.
    ``disagree``: by slug of a live-probed surface, the hosts whose robots.txt lets agents in and that turn it away, and
    those whose robots.txt keeps it out and that serve agents. ``refusing``: hosts per value of ``edges`` that refuse or
    challenge an assistant.
    """

    grades: dict[str, int]
    stances: dict[str, dict[str, int]]
    failing: dict[str, int]
    hosts: int
    verdicts: dict[str, dict[str, int]] = {}
    scores: tuple[int, ...] = ()
    edges: dict[str, int] = {}
    contradictions: int = 0
    risen: int = 0
    fallen: int = 0
    compared: int = 0
    unreachable: int = 0
    shut: dict[str, dict[str, tuple[int, int]]] = {}
    disagree: dict[str, tuple[int, int]] = {}
    refusing: dict[str, int] = {}


class Move(msgspec.Struct, frozen=True):
    """A host whose score changed: what it was, and what it is. Where only one scan ran the tasks, both without."""

    host: str
    before: int
    after: int


class Moves(msgspec.Struct, frozen=True, kw_only=True):
    """How many hosts rose, fell and stayed, and those that rose and fell most.

    ``unknown``: hosts without an earlier scan under the same method, or without an answer in one of the two.
    ``agents``: for each matrix surface, by slug, how many hosts let it in that kept it out before, and the other way
    round; empty where a source did not count that. ``weeks``: by slug, the percentage of hosts that let it in at the
    end of each of the last 12 weeks, -1 where none was known; empty where a source did not count that.
    """

    risen: int = 0
    fallen: int = 0
    same: int = 0
    unknown: int = 0
    up: tuple[Move, ...] = ()
    down: tuple[Move, ...] = ()
    agents: dict[str, tuple[int, int]] = {}
    weeks: dict[str, tuple[int, ...]] = {}


def decades(per_score: Sequence[int]) -> tuple[int, ...]:
    """Return hosts per ten points from hosts per score (0 to 100); the last ten holds 100 too."""
    return tuple(sum(per_score[low : 101 if low == 90 else low + 10]) for low in range(0, 100, 10))

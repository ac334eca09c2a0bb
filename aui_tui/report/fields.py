"""The fields of cards and rows by name, as in ``host,matrix.claude,evidence.text``, and how they are taken out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, Final

from aui_tui.errors import BadValue
from aui_tui.model.card import AgentAccess, Evidence, Recommendation, ReportCard, Semantic
from aui_tui.model.codec import names_of
from aui_tui.model.methods import METHODS
from aui_tui.model.summary import SiteSummary
from aui_tui.model.vocabulary import nearest
from aui_tui.text import clean

FieldPath = tuple[str, ...]
"""The names from the record down to a field: ``("matrix", "claude")``."""

Tree = Mapping[str, "Tree"]
"""The fields of a record by name; a field without parts has an empty tree."""

LEAF: Final[Tree] = MappingProxyType({})
LISTS: Final = frozenset({"evidence", "recommendations"})
"""Fields that hold a list of parts: a chosen part is taken from each."""

LIST: Final = "list"
"""Field of the tabular formats, csv and ndjson: ``ranked``, or ``unreachable`` for a host without a score."""
ROW_EXTRAS: Final = (LIST, "rank", "change", "scans", "method", "edge", "best_fix", "best_points")
"""What a row of an index knows beyond its schema; written when asked for."""

FINDING_EXTRAS: Final = ("id", "fix", "facts")
"""What a line of evidence knows beyond its schema; written when fields are chosen."""


@cache
def card_tree() -> Tree:
    """Return the fields of a report card, then LIST."""
    parts: dict[str, Tree] = {
        "evidence": _leaves((*Evidence.__struct_fields__, *FINDING_EXTRAS)),
        "semantic": _leaves(Semantic.__struct_fields__),
        "recommendations": _leaves(Recommendation.__struct_fields__),
        "pillars": _pillars(),
        "pillar_max": _pillars(),
        "detail": _leaves(("robots", "door", "signal", "surface", "protocols")),
        "agent_access": {name: _leaves(AgentAccess.__struct_fields__) for name in names_of("agent_access")},
        **{field: _leaves(names_of(field)) for field in ("matrix", "ua_policy", "crawler_policy")},
    }
    named = (name for name in ReportCard.__struct_fields__ if name not in ("declared", "pages", "ledger"))
    return {name: parts.get(name, LEAF) for name in (*named, LIST)}


@cache
def row_tree() -> Tree:
    """Return the fields of an index row, then ROW_EXTRAS."""
    parts = {"pillars": _pillars(), "matrix": _leaves(names_of("matrix"))}
    return {name: parts.get(name, LEAF) for name in (*SiteSummary.__struct_fields__, *ROW_EXTRAS)}


def _leaves(names: Sequence[str]) -> Tree:
    return dict.fromkeys(names, LEAF)


def _pillars() -> Tree:
    return _leaves([pillar.key for method in METHODS.values() for pillar in method.pillars])


def select(text: str, tree: Tree) -> tuple[FieldPath, ...]:
    """Return the fields named in ``text``, separated by commas, in that order and each once.

    Case is ignored. Raises BadValue naming the unknown field, the nearest
    one and, in ``allowed``, all that are known.
    """
    words = [word.strip() for word in text.split(",") if word.strip()]
    if text and not words:
        raise BadValue("The list of fields is empty; for example host,score,matrix.claude.")
    return tuple(dict.fromkeys(_path(word, tree) for word in words))


def _path(word: str, tree: Tree) -> FieldPath:
    path: FieldPath = ()
    for part in word.split("."):
        name_by_folded = {name.casefold(): name for name in reversed(list(tree))}
        name = part if part in tree else name_by_folded.get(part.casefold())
        if name is None:
            raise _unknown(word, tree, path)
        path, tree = (*path, name), tree[name]
    return path


def _unknown(word: str, tree: Tree, above: FieldPath) -> BadValue:
    shown = clean(word, 60)
    if not tree:
        return BadValue(f"Unknown field {shown!r}: {'.'.join(above)} has no parts.")
    names = [".".join((*above, name)) for name in tree]
    hint = nearest(word, names, cutoff=0.5) or f"allowed are: {', '.join(names)}."
    return BadValue(f"Unknown field {shown!r}; {hint}", allowed=tuple(names))


def project(record: Mapping[str, Any], paths: Sequence[FieldPath]) -> dict[str, Any]:
    """Return the fields ``paths`` of a plain record, nested as they were, in that order; None for one it lacks."""
    projected: dict[str, Any] = {}
    for name in dict.fromkeys(path[0] for path in paths):
        below, value = [path[1:] for path in paths if path[0] == name], record.get(name)
        if not all(below) or value is None:
            projected[name] = value
        elif isinstance(value, list | tuple):
            projected[name] = [project(item, below) for item in value]
        else:
            projected[name] = project(value, below)
    return projected


def columns(paths: Sequence[FieldPath], tree: Tree) -> tuple[FieldPath, ...]:
    """Return the single-valued fields below ``paths``, lists whole."""
    paths_below: dict[FieldPath, None] = {}
    for path in paths:
        below = tree
        for name in path:
            below = below[name]
        paths_below |= dict.fromkeys(_below(path, below))
    return tuple(paths_below)


def _below(path: FieldPath, tree: Tree) -> list[FieldPath]:
    if not tree or path[-1] in LISTS:
        return [path]
    return [leaf for name, below in tree.items() for leaf in _below((*path, name), below)]


def value_at(record: Mapping[str, Any], path: FieldPath) -> Any:
    """Return what lies at ``path`` in a plain record, None when it is not there; a list of values below a list."""
    value: Any = record
    for place, name in enumerate(path):
        if value is None:
            return None
        if not isinstance(value, dict):
            return [value_at(item, path[place:]) for item in value]
        value = value.get(name)
    return value

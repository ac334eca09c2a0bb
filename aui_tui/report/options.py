"""What a writer is given, whatever its format: how to write, hosts without a card, rows of an index, and chosen fields.

Fields are named as in ``host,matrix.claude,evidence.text``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from itertools import chain
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from aui_tui.errors import BadValue
from aui_tui.model.card import (
    AgentAccess,
    Evidence,
    Recommendation,
    ReportCard,
    Semantic,
    SiteSummary,
)
from aui_tui.model.codec import MAPS, Keys, names_of, slots_of
from aui_tui.model.methods import METHODS
from aui_tui.model.registry import Agent, Crawler, Surface, fold, registry
from aui_tui.model.registry import names_of as registry_names
from aui_tui.model.view import HostReport, IndexView, Row, rows
from aui_tui.report.gates import Outcome
from aui_tui.report.sections import Section, sections
from aui_tui.text import clean

VOLATILE: Final = ("scanned_at", "elapsed_ms")
"""Fields that change from run to run of the same site: deterministic output leaves them out."""


class Refusal(NamedTuple):
    """A host that was asked for with others and gave no card: ``status`` is that of the service (specification 7)."""

    host: str
    title: str
    status: int
    detail: str


def not_scanned(refused: Refusal) -> list[Section]:
    """Return the sections that stand for a host without a card."""
    return [Section("verdict", refused.host, f"Not scanned. {refused.detail}")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """``keys``: product names or slots. ``paths``: the chosen fields, empty for all. ``deterministic``: no VOLATILE.

    ``many``: several cards are written as a list even when there is one. ``gates``: what the gates said, per host.
    ``refused``: hosts without a card, written after the cards. ``locate``: the file of the repository for a path on the
    site, empty where none is known.
    """

    keys: Keys = "names"
    paths: tuple[Path, ...] = ()
    deterministic: bool = False
    many: bool = False
    gates: Mapping[str, Outcome] = field(default_factory=dict)
    refused: Sequence[Refusal] = ()
    locate: Callable[[str], str] = lambda path: ""

    def sections(self, report: HostReport) -> list[Section]:
        """Return the sections of ``report`` with its gates; deterministic ones name no time."""
        first, *rest = sections(report, gates=self.gates.get(report.card.host))
        if self.deterministic:
            first = first._replace(items=tuple(item for item in first.items if item.key != "scanned"))
        return [first, *rest]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The two lists of an index (specification 4.1), read once; ``title`` says in words what was asked for."""

    scanned_at: str
    ranked: Iterable[Row]
    unreachable: Iterable[Row]
    title: str = ""

    @classmethod
    def of_view(cls, view: IndexView, limit: int = 0) -> Listing:
        """Return the answer of a service, at most ``limit`` rows of each list (0: all), read page by page."""
        return cls(
            scanned_at=view.scanned_at,
            ranked=rows(view.ranked, limit),
            unreachable=rows(view.unreachable, limit),
            title=view.query.words(),
        )


HEADER: Final = ("#", "Score", "Grade", "Stance", "Host", "Category", "Finding")
"""Columns of the ranked hosts in a document; ``Scanned`` follows where the output may differ from run to run."""


def row_texts(row: Row) -> list[str]:
    """Return the texts of a ranked host under HEADER."""
    seen = row.summary
    figures = [str(row.rank or ""), str(seen.score), seen.grade, seen.stance]
    return [*figures, seen.host, seen.category, seen.top_evidence]


def reasons(unreachable: Iterable[Row]) -> Iterator[tuple[str, str]] | None:
    """Return host and finding of each unreachable host; None when there is none."""
    seen = iter(unreachable)
    first = next(seen, None)
    if first is None:
        return None
    return ((row.summary.host, row.summary.top_evidence) for row in chain([first], seen))


Path = tuple[str, ...]
"""The names from the record down to a field: ``("matrix", "claude")``."""

Tree = Mapping[str, "Tree"]
"""The fields of a record by name; a field without parts has an empty tree."""

LEAF: Final[Tree] = MappingProxyType({})
LISTS: Final = frozenset({"evidence", "recommendations"})
"""Fields that hold a list of parts: a chosen part is taken from each."""

LIST: Final = "list"
"""Field of the tabular formats, csv and ndjson: ``ranked``, or ``unreachable`` for a host without a score."""
ROW_EXTRAS: Final = ("list", "rank", "change", "scans", "method", "edge", "best_fix", "best_points")
"""What a row of an index knows beyond the specification; written when asked for."""


@cache
def card_tree() -> Tree:
    """Return the fields of a report card (specification 2.2), then LIST."""
    parts: dict[str, Tree] = {
        "evidence": _leaves(Evidence.__struct_fields__),
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
    """Return the fields of an index row (specification 2.1), then ROW_EXTRAS."""
    parts = {"pillars": _pillars(), "matrix": _leaves(names_of("matrix"))}
    return {name: parts.get(name, LEAF) for name in (*SiteSummary.__struct_fields__, *ROW_EXTRAS)}


def _leaves(names: Sequence[str]) -> Tree:
    return dict.fromkeys(names, LEAF)


def _pillars() -> Tree:
    return _leaves([pillar.key for method in METHODS.values() for pillar in method.pillars])


def select(text: str, tree: Tree) -> tuple[Path, ...]:
    """Return the fields named in ``text``, separated by commas, in that order and each once.

    Case is ignored; an entry of a map may be named by any name of the registry.
    Raises BadValue naming the unknown field, the nearest one and, in ``allowed``, all that are known.
    """
    found: dict[Path, None] = {}
    for word in text.split(","):
        if word.strip():
            found[_path(word.strip(), tree)] = None
    if text.strip(", ") == "" and text:
        raise BadValue("The list of fields is empty; for example host,score,matrix.claude.")
    return tuple(found)


def _path(word: str, tree: Tree) -> Path:
    path: list[str] = []
    rest = word
    while rest:
        head, dot, after = rest.partition(".")
        name = _match(head, tree, path[-1] if path else "")
        if name is None:
            raise _unknown(word, head, tree, path)
        path.append(name)
        tree = tree[name]
        rest = after
        if dot and not rest:
            raise _unknown(word, "", tree, path)
    return tuple(path)


def _match(word: str, tree: Tree, field: str) -> str | None:
    if word in tree:
        return word
    wanted = word.casefold()
    for name in tree:
        if wanted == name.casefold() or fold(word) in _aliases(field, name):
            return name
    return None


@cache
def _aliases(field: str, name: str) -> frozenset[str]:
    if field not in MAPS:
        return frozenset()
    slot = slots_of(field)[names_of(field).index(name)]
    known = registry()
    entries: Sequence[Surface | Agent | Crawler] = (*known.surfaces, *known.agents, *known.crawlers)
    entry = next(entry for entry in entries if entry.key == slot)
    also = [agent for agent in known.live if isinstance(entry, Surface) and agent.key == entry.live]
    return frozenset(name for one in (entry, *also) for name in registry_names(one))


def _unknown(word: str, part: str, tree: Tree, above: Sequence[str]) -> BadValue:
    shown = clean(word, 60)
    if not tree:
        return BadValue(f"Unknown field {shown!r}: {'.'.join(above)} has no parts.")
    names = list(tree)
    near = get_close_matches(part.casefold(), [name.casefold() for name in names], n=1, cutoff=0.5)
    nearest = next((name for name in names if near and name.casefold() == near[0]), "")
    prefix = ".".join(above) + "." if above else ""
    hint = f"did you mean {prefix}{nearest}?" if nearest else f"allowed are: {prefix}{(', ' + prefix).join(names)}."
    return BadValue(f"Unknown field {shown!r}; {hint}", allowed=tuple(prefix + name for name in names))


def child(field: str, values: Mapping[str, Any], name: str) -> tuple[str, Any]:
    """Return key and value of the entry ``name`` of the map ``field``; in a foreign map its position counts.

    An entry that is not there has the value None.
    """
    if name in values or field not in MAPS:
        return name, values.get(name)
    position = names_of(field).index(name)
    keys = list(values)
    return (keys[position], values[keys[position]]) if position < len(keys) else (name, None)


def project(record: Mapping[str, Any], paths: Sequence[Path]) -> dict[str, Any]:
    """Return the chosen fields of a plain record, nested as they were, in the order in which they were chosen."""
    tree: dict[str, Any] = {}
    for path in paths:
        here = tree
        for name in path:
            here = here.setdefault(name, {})
        here[""] = True
    return _pruned("", record, tree)


def _pruned(field: str, values: Mapping[str, Any], tree: Mapping[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, below in tree.items():
        if not name:
            continue
        key, value = child(field, values, name)
        if below.get("") or value is None:
            out[key] = value
        elif isinstance(value, list | tuple):
            out[key] = [_pruned(name, item, below) for item in value]
        else:
            out[key] = _pruned(name, value, below)
    return out


def columns(paths: Sequence[Path], tree: Tree) -> list[Path]:
    """Return the single-valued fields below ``paths`` (below the whole record when empty), lists whole."""
    found: dict[Path, None] = {}
    for path in paths or [(name,) for name in tree]:
        below = tree
        for name in path:
            below = below[name]
        for leaf in _below(path, below):
            found[leaf] = None
    return list(found)


def _below(path: Path, tree: Tree) -> list[Path]:
    if not tree or path[-1] in LISTS:
        return [path]
    return [leaf for name, below in tree.items() for leaf in _below((*path, name), below)]


def value_at(record: Mapping[str, Any], path: Path) -> Any:
    """Return what lies at ``path`` in a plain record, None when it is not there; a list of values below a list."""
    if len(path) == 1:
        return record.get(path[0])
    here: Any = record
    field = ""
    for depth, name in enumerate(path):
        if isinstance(here, dict):
            here = here[name] if name in here else child(field, here, name)[1]
        elif isinstance(here, list | tuple):
            return [value_at(item, path[depth:]) for item in here]
        else:
            return None
        field = name
    return here

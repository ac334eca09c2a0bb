"""Records to bytes and back: JSON with the fields of the schemas, in their order.

Reading is strict about what makes a record broken (a missing or mistyped field, a number out of range, a map of the
wrong size) and tolerant about what makes it foreign: other key names, unknown extra fields, future words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from types import MappingProxyType
from typing import Any, Final, Literal, TypeVar

import msgspec
from msgspec import UNSET

from aui_tui.errors import RecordError
from aui_tui.model.card import Ledger, PageAccess, ReportCard, site_url
from aui_tui.model.decoding import cleaned, convert, parse, sentence
from aui_tui.model.listing import IndexView, pages
from aui_tui.model.methods import METHODS, grade_of
from aui_tui.model.observations import Declared
from aui_tui.model.points import UNREACHABLE, letter
from aui_tui.model.registry import registry
from aui_tui.model.summary import SiteSummary
from aui_tui.model.surfaces import SLUGS
from aui_tui.model.tasks import TaskRun
from aui_tui.model.vocabulary import (
    AGENTS_TOTAL,
    CRAWLERS_TOTAL,
    LIVE_TOTAL,
    NO_GRADE,
    SURFACES_TOTAL,
)

Keys = Literal["names", "slots"]
T = TypeVar("T", bound=ReportCard | SiteSummary)

TEXT_LIMITS: Final = MappingProxyType(
    {"body": (4000, True), "code": (20_000, True), "text": (2000, False), "top_evidence": (2000, False)}
)
"""Fields whose text may be longer than SHORT."""
SHORT: Final = 500
BY_TASKS: Final = frozenset(method.task_pillar.key for method in METHODS.values())

MAPS: Final = {
    "matrix": ("matrix_key_", 1, SURFACES_TOTAL),
    "ua_policy": ("agent_", 2, AGENTS_TOTAL),
    "crawler_policy": ("crawler_", 2, CRAWLERS_TOTAL),
    "agent_access": ("agent_", 2, LIVE_TOTAL),
}
"""The maps whose keys are product names: slot prefix, digits, number of entries."""


@cache
def names_of(field: str) -> tuple[str, ...]:
    """Return our literal keys of a map (``matrix``, ``ua_policy``, ``crawler_policy``, ``agent_access``) in order."""
    if field == "matrix":
        return SLUGS
    known = registry()
    if field == "crawler_policy":
        return tuple(crawler.token for crawler in known.crawlers)
    agents = known.live if field == "agent_access" else known.agents
    return tuple(agent.token for agent in agents)


@cache
def slots_of(field: str) -> tuple[str, ...]:
    """Return the positional keys of a map, such as ``agent_01`` or ``matrix_key_1``, in order."""
    prefix, digits, count = MAPS[field]
    return tuple(f"{prefix}{number:0{digits}d}" for number in range(1, count + 1))


def encode_card(card: ReportCard, keys: Keys = "names", *, own: bool = False, base_url: str = "") -> bytes:
    """Return ``card`` as JSON; ``keys="slots"`` writes positional keys instead of names; ``base_url`` as for ``keyed``.

    A file of our ``own`` has the ledger too, which the schema does not name, and has names.
    """
    return msgspec.json.encode(lettered(card) if own else keyed(card, keys, base_url))


def encode_summary(summary: SiteSummary, keys: Keys = "names", *, base_url: str = "") -> bytes:
    """Return one row of the Index as JSON; ``base_url`` as for ``keyed``."""
    return msgspec.json.encode(keyed(summary, keys, base_url))


def encode_index(
    view: IndexView, keys: Keys = "names", *, base_url: str = "", start: int = 0, limit: int = 0
) -> Iterator[bytes]:
    """Yield the Index as JSON page by page, a row on each line, without holding it all.

    At most ``limit`` rows of each list (0: all) from ``start`` on; ``base_url`` as for :func:`keyed`.
    """
    yield b'{"scanned_at":' + msgspec.json.encode(view.scanned_at)
    for name, window in ((b"ranked", view.ranked), (b"unreachable", view.unreachable)):
        yield b',"' + name + b'":['
        between = b"\n"
        for page in pages(window, limit, start):
            yield between + b",\n".join(encode_summary(row.summary, keys, base_url=base_url) for row in page)
            between = b",\n"
        yield b"]"
    yield b"}\n"


def decode_card(data: bytes) -> ReportCard:
    """Return the report card in ``data``. Raises RecordError with one sentence that names the field at fault."""
    return card_from(parse(data, "report card"))


def card_from(raw: Any) -> ReportCard:
    """Return a report card from its JSON members. Raises as :func:`decode_card`."""
    card = _record(raw, ReportCard, "report card")
    if not card.found:
        raise RecordError("Broken report card: found is false, so there is no card.")
    if set(card.pillars) != set(card.pillar_max):
        raise RecordError("Broken report card: pillars and pillar_max do not name the same pillars.")
    return msgspec.structs.replace(card, grade=letter(card))


def summary_from(raw: Any) -> SiteSummary:
    """Return an index row from its JSON members. Raises as :func:`decode_card`."""
    return _record(raw, SiteSummary, "index row")


def keyed(record: T, keys: Keys = "names", base_url: str = "") -> T:
    """Return ``record`` for others: its maps under names or under slots (a foreign map keeps its names), no ledger.

    ``base_url``: where its ``url`` is to begin; empty leaves it.
    """
    if isinstance(record, ReportCard) and record.ledger is not UNSET:
        record = msgspec.structs.replace(record, ledger=UNSET)
    if base_url:
        record = msgspec.structs.replace(record, url=site_url(base_url, record.host))
    record = lettered(record)
    if keys == "names":
        return record
    changes: dict[str, Any] = {}
    for field in MAPS:
        values = getattr(record, field, None)
        if isinstance(values, dict):
            changes[field] = dict(zip(slots_of(field), values.values(), strict=False))
    declared = getattr(record, "declared", None)
    if isinstance(declared, Declared) and (agent := registry().agent(declared.agent)) is not None:
        changes["declared"] = msgspec.structs.replace(declared, agent=agent.key)
    pages = getattr(record, "pages", None)
    if isinstance(pages, tuple):
        slots = slots_of("agent_access")
        renamed = (dict(zip(slots, page.agents.values(), strict=False)) for page in pages)
        changes["pages"] = tuple(
            msgspec.structs.replace(page, agents=agents) for page, agents in zip(pages, renamed, strict=True)
        )
    return msgspec.structs.replace(record, **changes)


def lettered(record: T) -> T:
    """Return ``record`` with a letter, which its shape demands, also where too little was measured for a grade."""
    if record.grade == NO_GRADE:
        return msgspec.structs.replace(record, grade=grade_of(record.score))
    return record


def _record(raw: Any, kind: type[T], what: str) -> T:
    if not isinstance(raw, dict):
        raise RecordError(f"The {what} is not a JSON object.")
    try:
        return convert(_tidied(raw, kind), kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise RecordError(f"Broken {what}: {sentence(error)}.") from None


def _tidied(raw: dict[str, Any], kind: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the fields of the schema, cleaned, under our names and in our order."""
    raw = _whole(raw)
    fields = cleaned({name: raw[name] for name in kind.__struct_fields__ if name in raw}, SHORT, TEXT_LIMITS)
    if isinstance(fields.get("scanned_at"), str):
        fields["scanned_at"] = instant(fields["scanned_at"])
    for field in MAPS:
        if isinstance(fields.get(field), dict):
            fields[field] = _ordered(field, fields[field])
    return _ours(fields)


def _whole(raw: dict[str, Any]) -> dict[str, Any]:
    """Give the row of a table for an unreachable host the values that the shape of a record demands."""
    if raw.get("list") != "unreachable" or raw.get("score") is not None:
        return raw
    filled = raw | msgspec.structs.asdict(UNREACHABLE)
    for field, value in (("matrix", "untested"), ("pillars", 0), ("detail", 0)):
        if isinstance(values := raw.get(field), dict):
            filled[field] = {key: value if old is None and key not in BY_TASKS else old for key, old in values.items()}
    return filled


def _ours(cleaned: dict[str, Any]) -> dict[str, Any]:
    """Drop ``declared``, ``pages``, ``ledger`` and elements of ``task_runs`` that are not ours: others put there what
    they like.
    """
    runs = cleaned.get("task_runs")
    if isinstance(runs, list):
        cleaned = cleaned | {"task_runs": [run for run in runs if _is_a(TaskRun, run)]}
    kinds = {"declared": Declared, "pages": tuple[PageAccess, ...], "ledger": Ledger}
    foreign = {name for name, kind in kinds.items() if not _is_a(kind, cleaned.get(name))}
    return {name: value for name, value in cleaned.items() if name not in foreign}


def _is_a(kind: Any, value: Any) -> bool:
    try:
        convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True


_INSTANT: Final = r"(?a)(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(?:Z|\+00:00)"


def instant(value: str) -> str:
    """Return a UTC time with its milliseconds; empty for anything else."""
    match = re.fullmatch(_INSTANT, value)
    try:
        datetime.fromisoformat(match[1] if match else "")
    except ValueError:
        return ""
    return f"{match[1]}.{(match[2] or '')[:3]:0<3}Z" if match else ""


def _ordered(field: str, values: dict[str, Any]) -> dict[str, Any]:
    """Rename slots to names and put known names in order; a foreign map keeps its keys and its order."""
    names, slots = names_of(field), slots_of(field)
    if len(values) != len(names):
        return values
    key_of = {name: key for name, slot in zip(names, slots, strict=True) for key in (slot, name) if key in values}
    return {name: values[key_of[name]] for name in names} if len(key_of) == len(names) else values

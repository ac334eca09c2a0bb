"""Recordings: what one scan saw, as a file, to be replayed without the network or sent with a report.

A recording is JSON: ``{"recording": 1, "name": ..., "category": ..., "seed": ..., "observations": {...}}``.
Reading trusts nothing: sizes, words and numbers are checked, every text passes ``clean`` again, and what is broken is
refused with one sentence that names the field.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from aui_tui.errors import RecordError
from aui_tui.records.decoding import convert, from_json
from aui_tui.records.observations import (
    BROWSER,
    CAUSES,
    CHALLENGED,
    ERRORS,
    FILE_PROBES,
    INCONCLUSIVE,
    REFUSED,
    SERVED,
    Exchange,
    Observations,
    RobotsPolicy,
)
from aui_tui.records.registry import registry
from aui_tui.records.vocabulary import CATEGORIES
from aui_tui.text import clean

VERSION: Final = 1
MAX_BYTES: Final = 16 << 20
"""A recording larger than this is refused; a real one has some tens of kilobytes."""
MAX_TEXT: Final = 4000
MAX_NAME: Final = 200
"""Longest text and longest display name kept, in characters."""
MAX_FILE: Final = 1 << 20
"""Longest file that is kept whole, such as robots.txt, in characters."""

_HOST: Final = re.compile(r"[a-z0-9.:\[\]-]{1,300}")
_ORIGIN: Final = re.compile(r"https?://[a-z0-9.:\[\]-]{1,300}")
_STAMP: Final = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z")
_POLICIES: Final = ("unlisted", "blocked", "partial", "allowed")
_EFFECTIVE: Final = ("open", "partial", "blocked", "unknown")
_KINDS: Final = ("rules", "none", "unknown", "html")
_OUTCOMES: Final = (INCONCLUSIVE, CHALLENGED, REFUSED, SERVED)
_LARGEST: Final = 2**31


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """One scan: what was seen, and what the card says of the site that no scan can see."""

    observations: Observations
    name: str = ""
    category: str = "Uncategorized"
    seed: bool = False


class _Envelope(msgspec.Struct, kw_only=True):
    recording: int
    name: str = ""
    category: str = "Uncategorized"
    seed: bool = False
    observations: msgspec.Raw


def encode(found: Recording) -> bytes:
    """Return ``found`` as JSON, indented, with a final line feed."""
    envelope = {"recording": VERSION} | msgspec.to_builtins(found)
    return msgspec.json.format(msgspec.json.encode(envelope), indent=1) + b"\n"


def decode(data: bytes) -> Recording:
    """Return what a recording holds. Raises RecordError."""
    if len(data) > MAX_BYTES:
        raise RecordError(f"The recording is larger than {MAX_BYTES >> 20} MiB.")
    try:
        envelope = from_json(data, _Envelope)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise RecordError("The file is not a recording of a scan.") from error
    if envelope.recording != VERSION:
        raise RecordError(f"The recording has version {envelope.recording}; this program reads version {VERSION}.")
    try:
        plain = _washed(msgspec.json.decode(envelope.observations))
        found = convert(plain, Observations)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise RecordError(f"The recording is broken: {clean(str(error), 200)}.") from error
    _check(found)
    _one_of(CATEGORIES, envelope.category, "category")
    return Recording(
        observations=found, name=clean(envelope.name, MAX_NAME), category=envelope.category, seed=envelope.seed
    )


def _file(value: Any) -> Any:
    """Return the text of a file that is kept whole, with its lines."""
    return clean(value, MAX_FILE, block=True) if isinstance(value, str) else _washed(value)


def _washed(value: Any) -> Any:
    """Return ``value`` with every text clean and every number within reach."""
    match value:
        case str():
            return clean(value, MAX_TEXT)
        case dict():
            return {key: _file(item) if key == "text" else _washed(item) for key, item in value.items()}
        case list():
            return [_washed(item) for item in value]
        case int() if not 0 <= value < _LARGEST:
            raise ValueError(f"the number {str(value)[:20]} is out of range")
    return value


def _check(found: Observations) -> None:
    names = (BROWSER, *(agent.key for agent in registry().live), *FILE_PROBES)
    if tuple(exchange.name for exchange in found.exchanges) != names:
        raise RecordError(f"The recording is broken: exchanges must be {', '.join(names)} in this order.")
    _match(_HOST, found.host, "host")
    _match(_ORIGIN, found.origin, "origin")
    _match(_STAMP, found.scanned_at, "scanned_at")
    _one_of(_KINDS, found.robots.kind, "robots.kind")
    for exchange in found.exchanges:
        _check_exchange(exchange)
    if found.cause is not None:
        _one_of(CAUSES, found.cause.by, "cause.by")
        for name in found.cause.agents:
            _one_of(names[1:5], name, "cause.agents")
    for field, tokens in (("agents", registry().agents), ("crawlers", registry().crawlers)):
        policies: tuple[RobotsPolicy, ...] = getattr(found.robots, field)
        if policies and len(policies) != len(tokens):
            raise RecordError(f"The recording is broken: robots.{field} must have {len(tokens)} entries.")
        for policy in policies:
            _one_of(_POLICIES, policy.policy, f"robots.{field}.policy")
            _one_of(_EFFECTIVE, policy.effective, f"robots.{field}.effective")


def _check_exchange(exchange: Exchange) -> None:
    where = f"exchanges.{exchange.name}"
    _one_of(("", *ERRORS), exchange.error, f"{where}.error")
    for status in (exchange.status, *(attempt.status for attempt in exchange.attempts)):
        if not (status == 0 or 200 <= status <= 999):
            raise RecordError(f"The recording is broken: {where}.status is {status}, which no exchange ends with.")
    for attempt in exchange.attempts:
        _one_of(_OUTCOMES, attempt.outcome, f"{where}.attempts.outcome")


def _match(pattern: re.Pattern[str], value: str, field: str) -> None:
    if not pattern.fullmatch(value):
        raise RecordError(f"The recording is broken: {field} is “{clean(value, 60)}”.")


def _one_of(words: tuple[str, ...], value: str, field: str) -> None:
    if value not in words:
        known = ", ".join(word for word in words if word)
        raise RecordError(f"The recording is broken: {field} is “{clean(value, 60)}”; known are {known}.")

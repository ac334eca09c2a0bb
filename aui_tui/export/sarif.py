"""SARIF 2.1.0 (OASIS): a run a host; findings are warnings and errors, open advice is a note."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import quote

import msgspec

from aui_tui import __version__
from aui_tui.export.options import Options, Refusal
from aui_tui.records.card import ReportCard
from aui_tui.records.standing import gain
from aui_tui.records.steady import steady_text
from aui_tui.text import clean

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

RULES: Final = MappingProxyType(
    {
        "critical": ("error", "A finding that shuts agents out", ""),
        "warn": ("warning", "A finding that hinders agents", ""),
        "gate": ("error", "A condition asked for on the command line is not met", ""),
        "wba": ("note", "Verify agents by HTTP Message Signatures (RFC 9421) instead of blocking them", ""),
        "front-door": ("note", "Publish a commerce manifest or an MCP server card", "/.well-known"),
        "llms": ("note", "Publish an llms.txt file", "/llms.txt"),
        "jsonld": ("note", "Put schema.org JSON-LD on the homepage", ""),
        "landmarks": ("note", "Mark up landmarks and label forms", ""),
        "ssr": ("note", "Serve readable content without scripts", ""),
        "signal": ("note", "State a Content-Signal in robots.txt", "/robots.txt"),
        "robots": ("note", "Let user-directed agents in by robots.txt", "/robots.txt"),
    }
)
"""Rules by id: level, description, and the path on the site that it is about."""


def sarif_cards(cards: Iterable[ReportCard], options: Options) -> Iterator[str]:
    """Yield one log with a run a card, and a host without a card."""
    yield f'{{\n  "$schema": "{SCHEMA}",\n  "version": "2.1.0",\n  "runs": ['
    separator = "\n    "
    for run in chain((_run(card, options) for card in cards), map(_failed_run, options.refused)):
        text = msgspec.json.format(msgspec.json.encode(run), indent=2).decode()
        yield separator + text.replace("\n", "\n    ")
        separator = ",\n    "
    yield "\n  ]\n}\n" if separator.startswith(",") else "]\n}\n"


def _run(card: ReportCard, options: Options) -> dict[str, Any]:
    reached = not card.unreachable
    invocation: dict[str, Any] = {"executionSuccessful": reached}
    if not options.deterministic:
        invocation["startTimeUtc"] = card.scanned_at
    if not reached:
        invocation |= _told(clean(card.top_evidence) or "Nothing was measured.")
    figures = {"score": card.score, "grade": card.grade, "stance": card.stance} if reached else {}
    results = list(_results(card, options))
    return _run_of(card.host, invocation, results) | {
        "properties": {"host": clean(card.host), "method": clean(card.method), **figures}
    }


def _failed_run(refused: Refusal) -> dict[str, Any]:
    invocation = {"executionSuccessful": False} | _told(clean(refused.detail))
    return _run_of(refused.host, invocation, []) | {"properties": {"host": clean(refused.host)}}


def _told(words: str) -> dict[str, Any]:
    return {"toolExecutionNotifications": [{"level": "error", "message": {"text": words}}]}


def _run_of(host: str, invocation: dict[str, Any], results: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "tool": {"driver": {"name": "aui-tui", "semanticVersion": __version__, "rules": _rules()}},
        "automationDetails": {"id": f"aui-tui/{clean(host)}/"},
        "invocations": [invocation],
        "results": results,
        "columnKind": "unicodeCodePoints",
    }


def _rules() -> list[dict[str, Any]]:
    return [
        {"id": key, "shortDescription": {"text": text + "."}, "defaultConfiguration": {"level": level}}
        for key, (level, text, _) in RULES.items()
    ]


def _results(card: ReportCard, options: Options) -> Iterator[dict[str, Any]]:
    for item in card.evidence:
        if item.t in ("critical", "warn"):
            yield _result(card, item.t, item.text, item.text)
    outcome = options.gates.get(card.host)
    for failure in outcome.failures if outcome else ():
        about: dict[str, Any] = {"inconclusive": failure.inconclusive}
        yield _result(card, "gate", f"{failure.gate}: {failure.message}", failure.gate + failure.message, about)
    for fix in () if card.unreachable else card.recommendations:
        if fix.k in RULES:
            about = {"points": fix.pts, "pillar": clean(fix.pillar), "snippet": clean(fix.code, block=True)}
            yield _result(card, fix.k, f"{fix.title} ({fix.pillar}: {gain(card, fix.k)}). {fix.body}", "", about)


def _result(
    card: ReportCard, rule: str, text: str, identity: str, about: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return a result; the same ``identity`` on the same host is the same finding in another run."""
    level, _, path = RULES[rule]
    text = clean(text)
    location = {
        "logicalLocations": [{"fullyQualifiedName": clean(card.host), "kind": "resource"}],
        "physicalLocation": {"artifactLocation": {"uri": _place(card.host) + path}, "region": {"startLine": 1}},
    }
    result: dict[str, Any] = {
        "ruleId": rule,
        "ruleIndex": list(RULES).index(rule),
        "level": level,
        "message": {"text": text or rule},
        "locations": [location],
        "partialFingerprints": {"auiTui/v1": _fingerprint(card.host, rule, identity)},
    }
    return result | ({"properties": about} if about else {})


def _place(host: str) -> str:
    """Return ``host`` as the first segment of a relative reference (RFC 3986, 4.2).

    Code scanning takes no result without a file, and refuses a whole log whose files have the scheme of a web address.
    """
    return quote(host, safe="", errors="replace") or "site"


def _fingerprint(host: str, rule: str, identity: str) -> str:
    """Return what stays the same of a finding when only its figures change."""
    stable = "\n".join((host, rule, re.sub(r"\d+", "0", steady_text(identity))))
    return hashlib.sha256(stable.encode("utf-8", "replace")).hexdigest()[:32]

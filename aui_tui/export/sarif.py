"""SARIF 2.1.0 (OASIS): a run a host; findings are warnings and errors, open advice is a note."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Final
from urllib.parse import quote

import msgspec

from aui_tui import __version__
from aui_tui.export.options import Options, Refusal
from aui_tui.export.problems import Problem, Rule, problems
from aui_tui.records.card import ReportCard
from aui_tui.text import clean

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


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
    found = tuple(problems(card, options))
    return _run_of(card, card.host, invocation, found, options) | {
        "properties": {"host": clean(card.host), "method": clean(card.method), **figures}
    }


def _failed_run(refused: Refusal) -> dict[str, Any]:
    invocation = {"executionSuccessful": False} | _told(clean(refused.detail))
    return _run_of(None, refused.host, invocation, (), Options()) | {"properties": {"host": clean(refused.host)}}


def _told(words: str) -> dict[str, Any]:
    return {"toolExecutionNotifications": [{"level": "error", "message": {"text": words}}]}


def _run_of(
    card: ReportCard | None, host: str, invocation: dict[str, Any], found: Sequence[Problem], options: Options
) -> dict[str, Any]:
    rules = list(dict.fromkeys(problem.rule for problem in found))
    return {
        "tool": {"driver": {"name": "aui-tui", "semanticVersion": __version__, "rules": [_rule(one) for one in rules]}},
        "automationDetails": {"id": f"aui-tui/{clean(host)}/"},
        "invocations": [invocation],
        "results": [_result(card, problem, rules.index(problem.rule), options) for problem in found if card],
        "columnKind": "unicodeCodePoints",
    }


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.text},
        "help": {"text": rule.help},
        "helpUri": rule.uri,
        "defaultConfiguration": {"level": rule.level},
    }


def _result(card: ReportCard, found: Problem, index: int, options: Options) -> dict[str, Any]:
    place = options.locate(found.path) or _place(card.host) + found.path
    location = {
        "logicalLocations": [{"fullyQualifiedName": clean(card.host), "kind": "resource"}],
        "physicalLocation": {"artifactLocation": {"uri": place}, "region": {"startLine": 1}},
    }
    message = {"text": found.text}
    if found.code:
        message = {"text": f"{found.text}\n\n{found.code}", "markdown": f"{found.text}\n\n{_fenced(found.code)}"}
    result: dict[str, Any] = {
        "ruleId": found.rule.id,
        "ruleIndex": index,
        "level": found.rule.level,
        "message": message,
        "locations": [location],
        "partialFingerprints": {"auiTui/v1": found.fingerprint},
    }
    return result | ({"properties": found.about} if found.about else {})


def _fenced(code: str) -> str:
    """Return ``code`` as a block of Markdown, its fence longer than any row of backticks inside."""
    longest = max((len(row) for row in re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{code.rstrip()}\n{fence}"


def _place(host: str) -> str:
    """Return ``host`` as the first segment of a relative reference (RFC 3986, 4.2).

    Code scanning takes no result without a file, and refuses a whole log whose files have the scheme of a web address.
    """
    return quote(host, safe="", errors="replace") or "site"

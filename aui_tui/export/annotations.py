"""Annotations that GitHub and GitLab show beside a change: workflow commands, and a code quality report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import MappingProxyType
from typing import Any, Final

import msgspec

from aui_tui.export.options import Options
from aui_tui.export.problems import Problem, problems
from aui_tui.records.card import ReportCard

SEVERITIES: Final = MappingProxyType({"error": "major", "warning": "minor", "note": "info"})
"""Levels as GitLab calls them."""
COMMANDS: Final = MappingProxyType({"error": "error", "warning": "warning", "note": "notice"})
"""Levels as GitHub calls them."""
ANY_FILE: Final = "README.md"
"""What GitLab is given where no file of the repository fits: its report takes no problem without one."""


def github_cards(cards: Iterable[ReportCard], options: Options) -> Iterator[str]:
    """Yield a workflow command a problem, such as ``::error title=...::...``; no text can begin another."""
    for card in cards:
        for found in problems(card, options):
            place = options.locate(found.path)
            fields = {"file": place, "line": "1" if place else "", "title": f"{card.host}: {found.rule.id}"}
            written = ",".join(f"{name}={_property(value)}" for name, value in fields.items() if value)
            yield f"::{COMMANDS[found.rule.level]} {written}::{_data(_whole(found))}\n"
    for refused in options.refused:
        yield f"::error title={_property(refused.host)}::{_data(refused.detail)}\n"


def gitlab_cards(cards: Iterable[ReportCard], options: Options) -> Iterator[str]:
    """Yield one code quality report: a JSON array with an entry a problem."""
    found: list[dict[str, Any]] = []
    for card in cards:
        found += [
            {
                "description": f"{card.host}: {_whole(one)}",
                "check_name": one.rule.id,
                "fingerprint": one.fingerprint,
                "severity": SEVERITIES[one.rule.level],
                "location": {"path": options.locate(one.path) or ANY_FILE, "lines": {"begin": 1}},
            }
            for one in problems(card, options)
        ]
    yield msgspec.json.format(msgspec.json.encode(found), indent=2).decode() + "\n"


def _whole(found: Problem) -> str:
    return f"{found.text}\n{found.code}" if found.code else found.text


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

"""What stays the same of a record when the same site is scanned again: no time, no id of a single request."""

from __future__ import annotations

import re
from typing import Final

from msgspec.structs import replace

from aui_tui.records.card import ReportCard, SiteSummary

_QUOTED: Final = re.compile(r"; the [^;]{1,60} to quote (?:is|are) (.+?)\.?$")
"""The ids of requests to quote to a vendor, at the end of an evidence text."""


def steady_text(text: str) -> str:
    """Return an evidence text without the ids of the requests that it quotes."""
    return _QUOTED.sub(".", text)


def steady_card(card: ReportCard) -> ReportCard:
    """Return ``card`` with its evidence and snippets steady; ``scanned_at`` and ``elapsed_ms`` stay."""
    found = (_QUOTED.search(item.text) for item in card.evidence)
    quoted = {word for match in found if match for word in re.split(r", | and ", match[1])}
    ids = "|".join(map(re.escape, sorted(quoted, key=len, reverse=True)))
    named = re.compile(rf"^(- .* )(?:{ids})$", re.MULTILINE) if ids else None

    def steady(code: str) -> str:
        code = code.replace(card.scanned_at, "(time)")
        return named.sub(r"\1(id)", code) if named else code

    return replace(
        card,
        evidence=tuple(replace(item, text=steady_text(item.text)) for item in card.evidence),
        recommendations=tuple(replace(fix, code=steady(fix.code)) for fix in card.recommendations),
    )


def steady_summary(summary: SiteSummary) -> SiteSummary:
    """Return ``summary`` with its evidence steady."""
    return replace(summary, top_evidence=steady_text(summary.top_evidence))

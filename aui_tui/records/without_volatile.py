"""What stays the same of a record when the same site is scanned again: no time, no id of a single request."""

from __future__ import annotations

import re
from typing import Final

from msgspec.structs import replace

from aui_tui.records.card import ReportCard, SiteSummary

_QUOTED: Final = re.compile(r"; the [^;]{1,60} to quote (?:is|are) (.+?)\.?$")
"""The ids of requests to quote to a vendor, at the end of an evidence text."""


def text_without_volatile(text: str) -> str:
    """Return an evidence text without the ids of the requests that it quotes."""
    return _QUOTED.sub(".", text)


def card_without_volatile(card: ReportCard) -> ReportCard:
    """Return ``card`` with its evidence and snippets without volatile parts; ``scanned_at`` and ``elapsed_ms`` stay."""
    found = (_QUOTED.search(item.text) for item in card.evidence)
    quoted = {word for match in found if match for word in re.split(r", | and ", match[1])}
    ids = "|".join(map(re.escape, sorted(quoted, key=len, reverse=True)))
    named = re.compile(rf"^(- .* )(?:{ids})$", re.MULTILINE) if ids else None

    def of(code: str) -> str:
        code = code.replace(card.scanned_at, "(time)")
        return named.sub(r"\1(id)", code) if named else code

    return replace(
        card,
        evidence=tuple(replace(item, text=text_without_volatile(item.text)) for item in card.evidence),
        recommendations=tuple(replace(fix, code=of(fix.code)) for fix in card.recommendations),
    )


def summary_without_volatile(summary: SiteSummary) -> SiteSummary:
    """Return ``summary`` with its evidence without volatile parts."""
    return replace(summary, top_evidence=text_without_volatile(summary.top_evidence))

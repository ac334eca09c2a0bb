"""The documents of the fixed cards in every format; ``python -m tests.report.documents`` writes the golden files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from unittest import mock

from aui_tui.model.report import HostReport
from aui_tui.report import ci
from aui_tui.report.export import write_cards, write_listing
from aui_tui.report.formats import FORMATS, HostResult
from aui_tui.report.gates import Gates, check
from aui_tui.report.page import badge
from tests.cards import DEAD, INDEX, RICH_OPEN, WALLED, listing_of

GOLDEN = Path(__file__).parent / "golden"
CARDS = {"open": RICH_OPEN, "walled": WALLED, "dead": DEAD}
GATES = Gates.of(fail_under=60, require_stance="Open", must_serve="claude,gemini")


def without_head(parts: Iterable[str]) -> str:
    """Return a document; an HTML page without its head and style sheet, for which test_page.py answers."""
    text = "".join(parts)
    return text.partition('<main class="wrap">\n')[2] if text.startswith("<!DOCTYPE html>") else text


def documents() -> dict[str, str]:
    """Return every golden file's name and text."""
    found = {}
    with mock.patch.object(ci, "__version__", "0.0.0"):
        for name, entry in FORMATS.items():
            for kind, card in CARDS.items():
                outcome = check(card, GATES) if kind == "walled" else None
                result = HostResult(HostReport(card=card), outcome=outcome)
                found[f"{kind}{entry.endings.split()[0]}"] = without_head(write_cards(name, [result]))
            if entry.listing:
                found[f"index{entry.endings.split()[0]}"] = without_head(
                    write_listing(name, listing_of(INDEX, "Retail & Tickets"))
                )
    for kind, card in CARDS.items():
        found[f"{kind}.svg"] = badge(card)
    return found


def main() -> None:
    """Write the golden files; look at the difference before committing it."""
    GOLDEN.mkdir(exist_ok=True)
    for name, text in documents().items():
        (GOLDEN / name).write_text(text, encoding="utf-8", newline="")


if __name__ == "__main__":
    main()

"""The five panes of a report card by number."""

from __future__ import annotations

from typing import Final

from aui_tui.records.view import Dossier
from aui_tui.tui.cardstate import CardState
from aui_tui.tui.draw import Line
from aui_tui.tui.panes.absent import absent
from aui_tui.tui.panes.agents import agents
from aui_tui.tui.panes.changes import changes
from aui_tui.tui.panes.evidence import counts, evidence
from aui_tui.tui.panes.fixes import fixes
from aui_tui.tui.panes.ledger import ledger
from aui_tui.tui.panes.scanlog import scan_lines, scan_log
from aui_tui.tui.panes.summary import summary
from aui_tui.tui.scans import Scan

SUMMARY, AGENTS, EVIDENCE, FIXES, SCAN_LOG = NUMBERS = (1, 2, 3, 4, 5)
NAMES: Final = {SUMMARY: "Summary", AGENTS: "Agents", EVIDENCE: "Evidence", FIXES: "Fixes", SCAN_LOG: "Scan log"}


def short_title(number: int, state: CardState) -> str:
    """Return digit and name of a pane."""
    turned = {SUMMARY: ("Ledger", state.ledger), EVIDENCE: ("Changes", state.changes)}.get(number, ("", False))
    return " ".join((str(number), turned[0] if turned[1] else NAMES[number]))


def title(number: int, state: CardState) -> str:
    """Return digit and name of a pane, and how much is in it."""
    name = short_title(number, state)
    if state.dossier is None:
        return name
    return " ".join((name, _amount(number, state, state.dossier))).strip()


def _amount(number: int, state: CardState, dossier: Dossier) -> str:
    card = dossier.card
    if number == AGENTS:
        return str(card.agents_total)
    if number == EVIDENCE and not state.changes:
        return counts(dossier)
    return str(len(card.recommendations) or "") if number == FIXES else ""


def lines(number: int, state: CardState, scan: Scan | None, now: float, size: int, can_scan: bool = True) -> list[Line]:
    """Return what pane ``number`` says, laid out to ``size`` cells; without a card, why there is none."""
    dossier = state.dossier
    if number == SCAN_LOG and scan is not None:
        return scan_lines(scan, size, now)
    if dossier is None:
        return absent(state.host, state.problem, size, can_scan) if number == SUMMARY and state.problem else []
    if number == SUMMARY:
        return ledger(dossier, size) if state.ledger else summary(dossier, size, now)
    if number == AGENTS:
        return agents(dossier, size)
    if number == EVIDENCE:
        return changes(state.before, dossier.card, size, now) if state.changes else evidence(dossier, size)
    if number == FIXES:
        return fixes(dossier, size, state.chosen, state.done)
    return scan_log(dossier, size)

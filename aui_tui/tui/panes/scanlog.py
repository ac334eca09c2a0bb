"""Pane 5: every probe of the running or the last scan."""

from __future__ import annotations

from aui_tui.records import labels
from aui_tui.records.observations import Exchange
from aui_tui.records.view import Dossier
from aui_tui.text import fit
from aui_tui.tui import glyphs
from aui_tui.tui.draw import BLANK, Line, Piece, cut, hang, line
from aui_tui.tui.scans import Scan
from aui_tui.tui.words import clock, seconds

NAME = 14


def scan_log(dossier: Dossier, size: int) -> list[Line]:
    """Return the kept exchanges of a scan laid out to ``size`` cells."""
    card = dossier.card
    head = [
        cut(
            line(
                (card.scanned_at[:10] + " " + clock(card.scanned_at), "muted"),
                "  ",
                (seconds(card.elapsed_ms) + " in all, from " + card.vantage, "muted"),
            ),
            size,
        )
    ]
    seen = dossier.observations
    if seen is None:
        return [*head, BLANK, *hang((), "This source keeps no probes. Press s to scan the host from here.", size)]
    out: list[Line] = [*head]
    for exchange in seen.exchanges:
        out.extend(_exchange(exchange, size))
    for warning in (*seen.warnings, *seen.files.notes):
        out.extend(hang((Piece("! ", "warn"),), warning, size))
    return out


def scan_lines(scan: Scan, size: int, now: float) -> list[Line]:
    """Return a scan of this session laid out to ``size`` cells."""
    out: list[Line] = [cut(line((scan.url, "strong")), size)]
    out += [cut(probe.line(now), size) for probe in scan.probes]
    total = " ".join((str(scan.finished), "of", str(len(scan.probes)), "probes"))
    tail = scan.words or total + " " + glyphs.DOT + " esc cancels"
    return [*out, BLANK, *hang((), tail, size, "muted")]


def _exchange(exchange: Exchange, size: int) -> list[Line]:
    is_file = exchange.name in ("robots", "llms", "ai-plugin", "ucp", "mcp")
    outcome = exchange.outcome
    quiet = is_file and outcome in ("refused", "inconclusive") and exchange.status in (404, 410)
    sign, role = (glyphs.DOT, "muted") if quiet else (glyphs.OUTCOME[outcome], glyphs.role_of(outcome))
    status = str(exchange.status) if exchange.status else "none"
    out: list[Line] = [
        cut(
            line(
                (sign + " ", role),
                fit(labels.probe(exchange.name), NAME) + " ",
                (status.rjust(4), role),
                (seconds(exchange.elapsed_ms).rjust(9), "muted"),
                ("  " + _notes(exchange), "muted"),
            ),
            size,
        )
    ]
    if exchange.detail:
        out += hang((Piece("    "),), exchange.detail, size, "muted")
    if exchange.challenge is not None:
        found = exchange.challenge
        words = [found.vendor, "challenge:", found.signal]
        if found.reference:
            words += ["reference", found.reference]
        out += hang((Piece("    "),), " ".join(words), size, "warn")
    return out


def _notes(exchange: Exchange) -> str:
    parts = []
    if exchange.attempts:
        parts.append("asked twice")
    if exchange.hops:
        parts.append(" ".join((str(len(exchange.hops)), "redirect" if len(exchange.hops) == 1 else "redirects")))
    if exchange.cut:
        parts.append("body cut")
    return ", ".join(parts)

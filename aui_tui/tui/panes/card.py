"""The panes of a report card by number."""

from __future__ import annotations

from collections import Counter
from shlex import quote
from typing import Final

from aui_tui.changes import Change, Diff, diff
from aui_tui.records import labels
from aui_tui.records.card import Recommendation, ReportCard
from aui_tui.records.ledger import Entry, Ledger
from aui_tui.records.methods import WALLED_CEILING
from aui_tui.records.observations import Exchange
from aui_tui.records.standing import gain
from aui_tui.records.view import Dossier
from aui_tui.text import fit
from aui_tui.tui import glyphs
from aui_tui.tui.draw import BLANK, Line, Piece, cut, hang, line, paragraph, width
from aui_tui.tui.panes.agents import agents
from aui_tui.tui.panes.common import pillar_label, pillar_lines
from aui_tui.tui.panes.summary import summary
from aui_tui.tui.scans import Scan
from aui_tui.tui.state import CardState
from aui_tui.tui.words import ago, clock, day, seconds


def absent(host: str, problem: str, size: int, can_scan: bool) -> list[Line]:
    """Return the pane laid out to ``size`` cells."""
    out: list[Line] = [*paragraph("There is no report card of " + host + ".", size, "strong"), BLANK]
    out += [*paragraph(problem, size, "warn"), BLANK]
    if can_scan:
        out.append(line(("s", "key"), " scans it now"))
    out += [line(("r", "key"), " looks again"), line(("esc", "key"), " goes back to the list")]
    if can_scan:
        out += [BLANK, line(("In the shell:", "muted")), *paragraph("aui-tui scan " + quote(host), size, "code")]
    return out


WORDS_FROM = 56
"""From this width on, the kind stands beside its sign."""


def evidence(dossier: Dossier, size: int) -> list[Line]:
    """Return the pane laid out to ``size`` cells."""
    out: list[Line] = []
    word = 9 if size >= WORDS_FROM else 0
    for item in dossier.card.evidence:
        role = glyphs.role_of(item.t)
        head = (
            Piece(glyphs.SEVERITY.get(item.t, glyphs.UNKNOWN) + " ", role),
            Piece(fit(item.t, word) if word else "", role),
        )
        out.extend(hang(head, item.text, size))
    return out or [line(("The card carries no evidence.", "muted"))]


def counts(dossier: Dossier) -> str:
    """Return the number of findings of each kind with its sign: ``2✗ 2! 3✓``."""
    found = Counter(item.t for item in dossier.card.evidence)
    return " ".join(str(found[kind]) + sign for kind, sign in glyphs.SEVERITY.items() if found[kind])


KEY = 10
PILLAR = 9


def fixes(dossier: Dossier, size: int, chosen: int, done: frozenset[str] = frozenset()) -> list[Line]:
    """Return the pane laid out to ``size`` cells: fix number ``chosen`` explained, those in ``done`` ticked."""
    items = dossier.card.recommendations
    if dossier.card.unreachable:
        return paragraph("Nothing was measured, so there is nothing to fix yet.", size, "muted")
    if not items:
        return paragraph("Nothing left to fix: every point that can be measured is earned.", size, "good")
    out = [_row(fix, number == chosen, fix.k in done, size, number) for number, fix in enumerate(items)]
    fix = items[min(max(chosen, 0), len(items) - 1)]
    out += [BLANK, *paragraph(gain(dossier.card, fix.k), size, "good"), *paragraph(fix.body, size), BLANK]
    out += [cut((Piece("  "), Piece(row, "code")), size) for row in fix.code.split("\n")]
    return out


def _row(fix: Recommendation, chosen: bool, ticked: bool, size: int, number: int) -> Line:
    role = "cursor" if chosen else ""
    action = "choose_fix(" + str(number) + ")"
    parts = (
        Piece((glyphs.CURSOR if chosen else " ") + " ", "accent", action),
        Piece(glyphs.SEVERITY["good"] + " " if ticked else "  ", "good", action),
        Piece(("+" + str(fix.pts)).rjust(3) + " ", role or "good", action),
        Piece(fit(fix.pillar, PILLAR) + " ", role or "muted", action),
        Piece(fit(fix.k, KEY) + " ", role or "accent", action),
        Piece(fix.title, role, action),
    )
    kept = cut(parts, size)
    return (*kept, Piece(" " * (size - width(kept)), role, action))


def file_of(fix: Recommendation) -> str:
    """Return what the snippet of a fix is called when it is copied."""
    names = {"llms": "/llms.txt", "robots": "/robots.txt", "signal": "/robots.txt", "front-door": "/.well-known"}
    return " ".join((names.get(fix.k, fix.k), "snippet"))


COMPONENT = 11
FIGURES = 6


def ledger(dossier: Dossier, size: int) -> list[Line]:
    """Return the pane laid out to ``size`` cells; a source that keeps no ledger is told to be one."""
    card = dossier.card
    kept = dossier.ledger
    if kept is None:
        words = "This source does not say how the points came about; the card has only their sums."
        return [*paragraph(words, size, "muted"), BLANK, *pillar_lines(card.pillars, card.pillar_max, size)]
    out: list[Line] = []
    pillar = ""
    for entry in kept.entries:
        if entry.pillar != pillar:
            pillar = entry.pillar
            out += [BLANK] if out else []
            out.append(line((pillar_label(pillar), "title")))
        out += _entry(entry, size)
    return [*out, BLANK, *_sums(kept, size)]


def _entry(entry: Entry, size: int) -> list[Line]:
    figures = (str(entry.earned) + "/" + str(entry.possible)).rjust(FIGURES) if entry.measured else "not".rjust(FIGURES)
    full = entry.earned >= entry.possible
    role = "muted" if not entry.measured else "good" if full else "critical" if entry.earned == 0 else "warn"
    head = (Piece(fit(entry.component, COMPONENT)), Piece(figures + "  ", role))
    words = entry.reason if entry.measured else "not measured: " + entry.reason
    return hang(head, words, size)


def _sums(kept: Ledger, size: int) -> list[Line]:
    sums = " ".join((str(kept.earned), "of", str(kept.possible), "points", glyphs.ARROW, str(kept.raw) + "/100"))
    out = [line(("Sum ", "strong"), sums, "  grade ", (kept.grade, glyphs.role_of(kept.grade[:1])))]
    if kept.capped:
        words = " ".join(("A walled site scores at most", str(WALLED_CEILING) + ":", "so", str(kept.score) + "."))
        out += paragraph(words, size, "warn")
    return out


LABEL = 22


def changes(before: ReportCard | None, after: ReportCard, size: int, now: float) -> list[Line]:
    """Return the pane laid out to ``size`` cells."""
    if before is None:
        words = "There is no earlier scan of this host to compare with. Press s to scan it again."
        return paragraph(words, size, "muted")
    found = diff(before, after)
    head = line(
        ("Since ", "muted"), (day(before.scanned_at, now), "strong"), (", " + ago(before.scanned_at, now), "muted")
    )
    out: list[Line] = [head]
    if found.note:
        out += paragraph(found.note, size, "warn")
    out.append(BLANK)
    if found.same:
        return [*out, line(("Nothing that is measured has changed.", "good"))]
    out += _headline(found)
    label = min(LABEL, max(size // 3, 10))
    for change in found.changes:
        out += _change(change, label, size)
    for title, items, role in (("New findings", found.new, "critical"), ("Resolved", found.resolved, "good")):
        if items:
            out += [BLANK, line((title, "title"))]
            for item in items:
                head = (Piece(glyphs.SEVERITY.get(item.t, glyphs.UNKNOWN) + " ", role),)
                out += hang(head, item.text, size)
    return out


def _headline(found: Diff) -> list[Line]:
    out: list[Line] = []
    pairs = (
        ("Score", tuple(str(value) for value in found.score)),
        ("Grade", found.grade),
        ("Stance", found.stance),
        ("Method", found.method),
    )
    for name, (was, now) in pairs:
        if was != now:
            out.append(line((fit(name, 8), "strong"), was, (" " + glyphs.ARROW + " ", "muted"), (now, "strong")))
    return [*out, BLANK] if out else out


def _change(change: Change, label: int, size: int) -> list[Line]:
    role = {1: "good", -1: "critical"}.get(change.direction, "")
    sign = {1: glyphs.RISING, -1: glyphs.FALLING}.get(change.direction, glyphs.DOT)
    words = " ".join((change.before, glyphs.ARROW, change.after))
    if change.points:
        words += " ".join(("  ", format(change.points, "+d"), change.pillar))
    return hang((Piece(sign + " ", role), Piece(fit(change.label, label) + " ")), words, size, role)


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

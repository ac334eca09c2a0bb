"""The panes of a report card by number."""

from __future__ import annotations

from collections import Counter
from shlex import quote
from typing import Final

from aui_tui.changes import Change, Diff, diff
from aui_tui.engine.checks import BY_FIX
from aui_tui.records import labels
from aui_tui.records.card import Entry, Ledger, Recommendation, ReportCard
from aui_tui.records.methods import WALLED_CEILING
from aui_tui.records.observations import INCONCLUSIVE, Exchange
from aui_tui.records.points import gain
from aui_tui.records.view import Dossier
from aui_tui.text import count, fit
from aui_tui.tui import glyphs
from aui_tui.tui.draw import BLANK, Line, Piece, beside, cut, hang, line, paragraph, width
from aui_tui.tui.panes import agents
from aui_tui.tui.panes.common import history_line, pillar_label, pillar_lines
from aui_tui.tui.scans import Scan, TaskRun
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


def fixes(state: CardState, size: int) -> list[Line]:
    """Return the fixes, those that let assistants in first, with what each gains; the chosen one explained."""
    dossier, items = state.dossier, state.fixes
    if dossier is None or dossier.card.unreachable:
        return paragraph("Nothing was measured, so there is nothing to fix yet.", size, "muted")
    if not items:
        return paragraph("Nothing left to fix: every point that can be measured is earned.", size, "good")
    out = [_fix_row(state, number, size) for number in range(len(items))]
    fix = items[min(max(state.chosen, 0), len(items) - 1)]
    out += [BLANK, *paragraph(gain(dossier.card, fix.k), size, "good"), *paragraph(fix.body, size), BLANK]
    out += [cut((Piece("  "), Piece(row, "code")), size) for row in fix.code.split("\n")]
    return out


EFFORT_FROM: Final = 46
"""Width from which a fix says how long it takes, at first in place of its points."""
POINTS_FROM: Final = 60


def _fix_row(state: CardState, number: int, size: int) -> Line:
    fix = state.fixes[number]
    chosen, ticked = number == state.chosen, fix.k in state.done
    role = "cursor" if chosen else ""
    action = "choose_fix(" + str(number) + ")"
    card = state.dossier.card if state.dossier is not None else None
    reached = state.standings.get(fix.k)
    gain = ("+" + str(fix.pts)).rjust(3)
    if reached is not None and card is not None:
        score = " ".join((str(card.score), glyphs.ARROW, str(reached.score)))
        gain = score.rjust(9) if EFFORT_FROM <= size < POINTS_FROM else gain + "  " + score.rjust(9)
    if size >= EFFORT_FROM and fix.k in BY_FIX:
        gain = gain + "  " + BY_FIX[fix.k].takes.ljust(7)
    lead = (
        Piece((glyphs.CURSOR if chosen else " ") + " ", "accent", action),
        Piece(glyphs.SEVERITY["good"] + " " if ticked else "", "good", action),
    )
    room = size - width(lead) - len(gain) - 1
    title = Piece(fit(fix.title, room) + " ", role, action)
    return (*lead, title, Piece(gain, role or "good", action))


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
    action = "screen.exchange('" + exchange.name + "')"
    out: list[Line] = [
        cut(
            line(
                Piece("  " + sign + " ", role, action),
                Piece(fit(labels.probe(exchange.name), NAME) + " ", "", action),
                Piece(status.rjust(4), role, action),
                Piece(seconds(exchange.elapsed_ms).rjust(9), "muted", action),
                Piece("  " + _notes(exchange), "muted", action),
            ),
            size,
        )
    ]
    if exchange.detail:
        out += hang((Piece("    "),), exchange.detail, size, "muted")
    if exchange.challenge is not None:
        found = exchange.challenge
        words = [found.vendor, "challenge:", found.signal]
        if exchange.another_page:
            words = ["another page than the browser’s:", found.signal]
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


def site_facts(dossier: Dossier, size: int, now: float) -> list[Line]:
    """Return what the site is made of, in two columns where there is room."""
    card = dossier.card
    left, right = _left_facts(card), _right_facts(dossier, now)
    why: list[Line] = []
    if card.unreachable:
        words = card.top_evidence or "The host could not be reached."
        why = [*paragraph(words, size, "warn"), *paragraph("Nothing was measured, so there is no score.", size), BLANK]
        left, right = left[:3], right[-1:]
    if size < TWO_COLUMNS:
        rows = [row for name, text in (*left, *right) for row in hang((Piece(fit(name, 16), "muted"),), text, size)]
    else:
        half = size // 2
        columns = [
            [cut((Piece(fit(name, room), "muted"), Piece(text)), half - 1) for name, text in column]
            for column, room in ((left, FACT), (right, 16))
        ]
        rows = beside(columns[0], columns[1], half, 0)
    limit = [] if why else [BLANK, *hang((Piece(fit("Limit", FACT), "muted"),), LIMIT, size, "muted")]
    return [*why, *rows, *limit]


LIMIT: Final = (
    "A probe borrows an agent's name, not its address: a site that checks addresses may refuse the probe and serve "
    "the real agent (7 Visits)."
)
FACT: Final = 11
"""Cells of a fact's name."""
TWO_COLUMNS: Final = 68


def _left_facts(card: ReportCard) -> list[tuple[str, str]]:
    rules = " ".join(("rules for", count(card.robots_ua_rules, "name"))) if card.robots_ua_rules else "no rules"
    closed = ", closed to all others" if card.wildcard_block else ""
    return [
        ("Robots.txt", " ".join((str(card.robots_status or "no answer"), " " + rules)) + closed),
        ("Browser", _browser(card)),
        ("Served by", card.edge or "none recognised"),
        ("Title", card.human_title or "none"),
        ("Scripts", "nothing readable without them" if card.noscript_shell else "readable without them"),
        ("Crawlers", " ".join((str(card.crawlers_blocked), "of", str(card.crawlers_total), "told no"))),
    ]


def _browser(card: ReportCard) -> str:
    status = str(card.human_status) if card.human_status else "no answer in 12 s"
    return status + ", challenged" if card.human_challenged else status


def _right_facts(dossier: Dossier, now: float) -> list[tuple[str, str]]:
    card, parts = dossier.card, dossier.card.semantic
    labelled = ""
    if dossier.observations is not None and parts.forms:
        good = parts.forms - min(dossier.observations.page.forms_unlabelled, parts.forms)
        labelled = " · forms " + str(good) + " of " + str(parts.forms)
    history = "".join(piece.text for piece in history_line(dossier.history, now, 12))
    return [
        ("Content-Signal", "stated" if card.content_signal else "none"),
        ("JSON-LD", count(card.jsonld, "block") if card.jsonld else "none"),
        ("Landmarks", " ".join(("main", str(parts.main), "· nav", str(parts.nav)))),
        ("Labels", str(parts.aria) + labelled),
        ("Files", ", ".join(card.files) or "none of llms, ucp, mcp"),
        ("History", history),
    ]


SUMMARY, AGENTS, EVIDENCE, FIXES, SCAN_LOG, TASKS, VISITS = NUMBERS = (1, 2, 3, 4, 5, 6, 7)
NAMES: Final = {
    SUMMARY: "Summary",
    AGENTS: "Agents",
    EVIDENCE: "Evidence",
    FIXES: "Fixes",
    SCAN_LOG: "Log",
    TASKS: "Tasks",
    VISITS: "Visits",
}


def short_title(number: int, state: CardState) -> str:
    """Return digit and name of a pane."""
    turned = {SUMMARY: ("Ledger", state.ledger), EVIDENCE: ("Changes", state.changes)}.get(number, ("", False))
    return " ".join((str(number), turned[0] if turned[1] else NAMES[number]))


def amount(number: int, state: CardState) -> str:
    """Return how much is in a pane, in a few signs: ``2✗`` findings, ``4`` fixes; a dash for nothing."""
    card = state.dossier.card if state.dossier is not None else None
    if card is None:
        return ""
    if number == EVIDENCE and not state.changes:
        worst = sum(item.t == "critical" for item in card.evidence)
        return str(worst) + glyphs.CRITICAL if worst else ""
    if number == FIXES:
        return str(len(card.recommendations) or "")
    if number == TASKS:
        return "" if card.task_runs else glyphs.DASH
    if number == VISITS:
        return "" if state.dossier is not None and state.dossier.visits is not None else glyphs.DASH
    return ""


def title(number: int, state: CardState) -> str:
    """Return digit and name of a pane, and what is in it, for its border."""
    name, dossier = short_title(number, state), state.dossier
    if dossier is None:
        return name
    if number == SUMMARY and not state.ledger:
        return "What the site is made of"
    if number == AGENTS:
        return name + " " + glyphs.DASH + " " + agents.counts(dossier)
    if number == EVIDENCE and not state.changes:
        return " ".join((name, counts(dossier)))
    if number == FIXES and state.fixes:
        return name + "  worst harm first"
    more = ""
    if number == SCAN_LOG:
        more = log_words(dossier)
    elif number == TASKS:
        more = agents.tasks_title(dossier)
    elif number == VISITS:
        more = agents.visits_title(dossier.visits)
    return " ".join((name, glyphs.DASH, more)) if more else name


def subtitle(number: int, state: CardState, size: int) -> str:
    """Return what a pane's border says below: its keys, or the legend of its marks."""
    if state.dossier is None:
        return ""
    if number == AGENTS:
        return agents.legend(size)
    if number == SCAN_LOG:
        return "enter shows the exchange"
    if number == VISITS and state.dossier.visits is not None:
        return glyphs.DISAGREE + " log and probe disagree  " + glyphs.ALIKE + " they agree"
    return ""


def log_words(dossier: Dossier) -> str:
    """Return the log in one line: ``10 questions in 1.66 s: 5 served, 4 not found``."""
    card, seen = dossier.card, dossier.observations
    if seen is None:
        return "not kept by this source"
    found = Counter(
        "not found" if one.status in (404, 410) else "no answer" if one.outcome == INCONCLUSIVE else one.outcome
        for one in seen.exchanges
    )
    parts = ", ".join(" ".join((str(number), word)) for word, number in found.most_common())
    return "".join((count(len(seen.exchanges), "question"), " in ", seconds(card.elapsed_ms), ": ", parts))


def lines(
    number: int,
    state: CardState,
    scan: Scan | None,
    now: float,
    size: int,
    can_scan: bool = True,
    run: TaskRun | None = None,
) -> list[Line]:
    """Return what pane ``number`` says, laid out to ``size`` cells; without a card, why there is none.

    ``scan`` and ``run``: the newest scan and run of the tasks of this session.
    """
    dossier = state.dossier
    if number == SCAN_LOG and scan is not None and (scan.running or scan.state != "done"):
        return scan_lines(scan, size, now)
    if dossier is None:
        return absent(state.host, state.problem, size, can_scan) if number == SUMMARY and state.problem else []
    if number == SUMMARY:
        return ledger(dossier, size) if state.ledger else site_facts(dossier, size, now)
    if number == AGENTS:
        return agents.agent_table(dossier, size, crawlers=state.crawlers)
    if number == EVIDENCE:
        return changes(state.before, dossier.card, size, now) if state.changes else evidence(dossier, size)
    if number == FIXES:
        return fixes(state, size)
    if number == TASKS:
        return run.lines(size) if run is not None and run.running else agents.tasks(dossier, size)
    if number == VISITS:
        return agents.visits(dossier.visits, dossier, size)
    return scan_log(dossier, size)

"""The panes of a report card by number, and the lines around them: headline, names of the panes, foot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from shlex import quote
from typing import Final, NamedTuple

from aui_tui.checks import BY_FIX
from aui_tui.model import labels
from aui_tui.model.agents import outcomes
from aui_tui.model.card import Recommendation, ReportCard
from aui_tui.model.methods import WALLED_CEILING
from aui_tui.model.observations import INCONCLUSIVE
from aui_tui.model.points import comparable, gain
from aui_tui.model.view import HostReport, Quota
from aui_tui.report.changes import Change, Diff, diff
from aui_tui.text import cells, count, fit
from aui_tui.tui import glyphs
from aui_tui.tui.draw import BLANK, Line, Piece, acting, beside, cut, hang, line, paragraph, plain, spread, width
from aui_tui.tui.panes import agents
from aui_tui.tui.panes.verdict import findings, history_line, ledger, stance
from aui_tui.tui.scans import Scan, TaskRun, scan_lines, scan_log
from aui_tui.tui.state import CardState
from aui_tui.tui.words import FIX_TERMS, ago, day, quota_words, seconds, signed, term


def absent(host: str, problem: str, size: int, can_scan: bool) -> list[Line]:
    """Return the pane laid out to ``size`` cells."""
    out: list[Line] = [*paragraph(f"There is no report card of {host}.", size, "strong"), BLANK]
    out += [*paragraph(problem, size, "warn"), BLANK]
    if can_scan:
        out.append(line(("s", "key"), " scans it now"))
    out += [line(("r", "key"), " looks again"), line(("esc", "key"), " goes back to the list")]
    if can_scan:
        out += [BLANK, line(("In the shell:", "muted")), *paragraph("aui-tui scan " + quote(host), size, "code")]
    return out


WORDS_FROM = 56
"""From this width on, the kind stands beside its sign."""


def evidence(dossier: HostReport, size: int) -> list[Line]:
    """Return the pane laid out to ``size`` cells."""
    out = findings(dossier.card.evidence, size, 9 if size >= WORDS_FROM else 0)
    return out or [line(("The card carries no evidence.", "muted"))]


def counts(dossier: HostReport) -> str:
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
    out += [
        BLANK,
        *paragraph(gain(dossier.card, fix.k), size, "good"),
        *paragraph(fix.body, size),
        BLANK,
    ]
    out += [cut((Piece("  "), Piece(row, "code")), size) for row in fix.code.split("\n")]
    return out


EFFORT_FROM: Final = 46
"""Width from which a fix says how long it takes, at first in place of its points."""
POINTS_FROM: Final = 60


def _fix_row(state: CardState, number: int, size: int) -> Line:
    fix = state.fixes[number]
    chosen, ticked = number == state.chosen, fix.k in state.done
    role = "cursor" if chosen else ""
    card = state.dossier.card if state.dossier is not None else None
    reached = state.standings.get(fix.k)
    gain = f"+{fix.pts}".rjust(3)
    if reached is not None and card is not None:
        score = f"{card.score} {glyphs.ARROW} {reached.score}".rjust(9)
        gain = score if EFFORT_FROM <= size < POINTS_FROM else f"{gain}  {score}"
    if size >= EFFORT_FROM and fix.k in BY_FIX:
        gain = f"{gain}  {BY_FIX[fix.k].takes:7}"
    cursor, tick = glyphs.CURSOR if chosen else " ", f"{glyphs.SEVERITY['good']} " if ticked else ""
    lead = line((f"{cursor} ", "accent"), (tick, "good"))
    room = size - width(lead) - len(gain) - 1
    row = (*lead, *line((f"{fit(fix.title, room)} ", role), (gain, role or "good")))
    return acting(row, f"screen.choose_fix({number})")


def file_of(fix: Recommendation) -> str:
    """Return what the snippet of a fix is called when it is copied."""
    names = {"llms": "/llms.txt", "robots": "/robots.txt", "signal": "/robots.txt", "front-door": "/.well-known"}
    return f"{names.get(fix.k, fix.k)} snippet"


LABEL: Final = 22


def changes(before: ReportCard | None, after: ReportCard, size: int, now: float) -> list[Line]:
    """Return the pane laid out to ``size`` cells."""
    if before is None:
        words = "There is no earlier scan of this host to compare with. Press s to scan it again."
        return paragraph(words, size, "muted")
    found = diff(before, after)
    since, passed = day(before.scanned_at, now), ago(before.scanned_at, now)
    out = [line(("Since ", "muted"), (since, "strong"), (f", {passed}", "muted"))]
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
            out += [BLANK, line((title, "title")), *findings(items, size, role=role)]
    return out


def _headline(found: Diff) -> list[Line]:
    pairs = {"Score": found.score, "Grade": found.grade, "Stance": found.stance, "Method": found.method}
    out = [
        line((fit(name, 8), "strong"), str(was), (f" {glyphs.ARROW} ", "muted"), (str(now), "strong"))
        for name, (was, now) in pairs.items()
        if was != now
    ]
    return [*out, BLANK] if out else out


def _change(change: Change, label: int, size: int) -> list[Line]:
    role = {1: "good", -1: "critical"}.get(change.direction, "")
    sign = {1: glyphs.RISING, -1: glyphs.FALLING}.get(change.direction, glyphs.DOT)
    words = f"{change.before} {glyphs.ARROW} {change.after}"
    if change.points:
        words += f"   {change.points:+d} {change.pillar}"
    return hang(line((f"{sign} ", role), f"{fit(change.label, label)} "), words, size, role)


def site_facts(dossier: HostReport, size: int, now: float) -> list[Line]:
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
    return [*why, *rows, *_declared(card, size), *limit]


def _declared(card: ReportCard, size: int) -> list[Line]:
    """Return what the site declares for agents, where that was asked for."""
    if not card.declared:
        return []
    return hang((Piece(fit("Declared", FACT), "muted"),), labels.declared_names(card.declared), size)


LIMIT: Final = (
    "A probe borrows an agent's name, not its address: a site that checks addresses may refuse the probe and serve "
    "the real agent (7 Visits)."
)
FACT: Final = 11
"""Cells of a fact's name."""
TWO_COLUMNS: Final = 68


def _left_facts(card: ReportCard) -> list[tuple[str, str]]:
    rules = f"rules for {count(card.robots_ua_rules, 'name')}" if card.robots_ua_rules else "no rules"
    closed = ", closed to all others" if card.wildcard_block else ""
    return [
        ("Robots.txt", f"{card.robots_status or 'no answer'}  {rules}{closed}"),
        ("Browser", f"{card.human_status or 'no answer in 12 s'}{', challenged' if card.human_challenged else ''}"),
        ("Served by", card.edge or "none recognised"),
        ("Title", card.human_title or "none"),
        ("Scripts", "nothing readable without them" if card.noscript_shell else "readable without them"),
        ("Crawlers", f"{card.crawlers_blocked} of {card.crawlers_total} told no"),
    ]


def _right_facts(dossier: HostReport, now: float) -> list[tuple[str, str]]:
    card, parts = dossier.card, dossier.card.semantic
    labelled = ""
    if dossier.observations is not None and parts.forms:
        good = parts.forms - min(dossier.observations.page.forms_unlabelled, parts.forms)
        labelled = f" · forms {good} of {parts.forms}"
    return [
        ("Content-Signal", "stated" if card.content_signal else "none"),
        ("JSON-LD", count(card.jsonld, "block") if card.jsonld else "none"),
        ("Landmarks", f"main {parts.main} · nav {parts.nav}"),
        ("Labels", f"{parts.aria}{labelled}"),
        ("Files", ", ".join(card.files) or "none of llms, ucp, mcp"),
        ("History", plain(history_line(dossier.history, now, 12))),
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
    return f"{number} {turned[0] if turned[1] else NAMES[number]}"


def amount(number: int, state: CardState) -> str:
    """Return how much is in a pane, in a few signs: ``2✗`` findings, ``4`` fixes; a dash for nothing."""
    card = state.dossier.card if state.dossier is not None else None
    if card is None:
        return ""
    if number == EVIDENCE and not state.changes:
        worst = sum(item.t == "critical" for item in card.evidence)
        return f"{worst}{glyphs.CRITICAL}" if worst else ""
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
        return f"{name} {glyphs.DASH} {agents.counts(dossier)}"
    if number == EVIDENCE and not state.changes:
        return f"{name} {counts(dossier)}"
    if number == FIXES and state.fixes:
        return f"{name}  worst harm first"
    more = ""
    if number == SCAN_LOG:
        more = log_words(dossier)
    elif number == TASKS:
        more = agents.tasks_title(dossier)
    elif number == VISITS:
        more = agents.visits_title(dossier.visits)
    return f"{name} {glyphs.DASH} {more}" if more else name


def subtitle(number: int, state: CardState, size: int) -> str:
    """Return what a pane's border says below: its keys, or the legend of its marks."""
    if state.dossier is None:
        return ""
    if number == AGENTS:
        return agents.legend(size)
    if number == SCAN_LOG:
        return "enter shows the exchange"
    if number == VISITS and state.dossier.visits is not None:
        return f"{glyphs.DISAGREE} log and probe disagree  {glyphs.ALIKE} they agree"
    return ""


def log_words(dossier: HostReport) -> str:
    """Return the log in one line: ``10 questions in 1.66 s: 5 served, 4 not found``."""
    card, seen = dossier.card, dossier.observations
    if seen is None:
        return "not kept by this source"
    found = Counter(
        "not found" if one.status in (404, 410) else "no answer" if one.outcome == INCONCLUSIVE else one.outcome
        for one in seen.exchanges
    )
    parts = ", ".join(f"{number} {word}" for word, number in found.most_common())
    return f"{count(len(seen.exchanges), 'question')} in {seconds(card.elapsed_ms)}: {parts}"


def lines(
    number: int,
    state: CardState,
    scan: Scan | None,
    now: float,
    size: int,
    can_scan: bool = True,
    run: TaskRun | None = None,
    *,
    alone: bool = False,
) -> list[Line]:
    """Return what pane ``number`` says, laid out to ``size`` cells; without a card, why there is none.

    ``scan`` and ``run``: the newest scan and run of the tasks of this session. ``alone``: no other pane is beside it.
    """
    if number == SCAN_LOG and scan is not None and (scan.running or scan.state != "done"):
        return scan_lines(scan, size, now)
    if number == TASKS and run is not None and run.running:
        return run.lines(size)
    if state.dossier is None:
        return absent(state.host, state.problem, size, can_scan) if number == SUMMARY and state.problem else []
    dossier = state.dossier
    panes: dict[int, Callable[[], list[Line]]] = {
        SUMMARY: lambda: ledger(dossier, size) if state.ledger else site_facts(dossier, size, now),
        AGENTS: lambda: agents.agent_table(dossier, size, crawlers=state.crawlers),
        EVIDENCE: lambda: changes(state.before, dossier.card, size, now) if state.changes else evidence(dossier, size),
        FIXES: lambda: fixes(state, size),
        SCAN_LOG: lambda: scan_log(dossier, size),
        TASKS: lambda: agents.tasks(dossier, size, alone=alone),
        VISITS: lambda: agents.visits(dossier.visits, dossier, size, alone=alone),
    }
    return panes[number]()


# The lines around the panes

WIDE: Final = 110
"""Cells from which on a line holds the rest."""
SHORTEST: Final = 16
"""Cells that are left of a name at least."""


class Place(NamedTuple):
    """Where a host stands in its list: place from 1, hosts in the list, the list's filters in words."""

    number: int
    total: int
    filters: str

    def words(self, *, full: bool) -> str:
        """Return ``4 of 212 Walled in Retail``, or without the filters."""
        return f"{self.number:,} of {self.total:,} {self.filters if full else ''}".strip()


def headline_of(state: CardState, place: Place | None, quota: Quota | None, rank: int, now: float, size: int) -> Line:
    """Return the host at the left; place in the list, age and quota at the right as far as they fit."""
    dossier = state.dossier
    if dossier is None:
        words = ("no report card", "warn") if state.problem else ("reading …", "")
        return _fitted(line((state.host, "title")), line("  ", words), [quota_words(quota, full=False)], size)
    card = dossier.card
    wide = size >= WIDE
    facts = [
        place.words(full=wide) if place is not None and place.total > 1 else "",
        f"scan of {day(card.scanned_at, now)}" if state.at else f"scanned {ago(card.scanned_at, now)}",
        quota_words(quota, full=size >= 140),
    ]
    name = line((card.host, "title"))
    rest = what_if_words(state, rank, wide=wide)
    change = change_words(dossier, now)
    if change and wide:
        rest += line("  ", (change, "good" if change.startswith("+") else "critical"))
    if state.method:
        rest += line("  ", (card.method, "muted"))
    more = " · ".join(("", *([card.name] if card.name != card.host else []), card.category))
    if width((*name, *rest)) + cells(more) + cells(" · ".join(fact for fact in facts if fact)) + 4 <= size:
        name = (*name, Piece(more))
    return _fitted(name, rest, facts, size)


def _fitted(name: Line, rest: Line, facts: Iterable[str], size: int) -> Line:
    """Return the name and what is said of it, and facts at the right end, the last of them the most important.

    When not all fit, facts go first, then the end of the name.
    """
    kept = [fact for fact in facts if fact]
    while len(kept) > 1 and cells(" · ".join(kept)) + 3 > size - 1 - width((*name, *rest)):
        kept.pop(-2)
    right = line("  ", (" · ".join(kept), "muted"), " ")
    room = size - 1 - width((*rest, *right))
    if room < min(width(name), SHORTEST):
        right, room = BLANK, size - 1 - width(rest)
    return spread((Piece(" "), *cut(name, max(room, SHORTEST)), *rest), right, size)


def what_if_words(state: CardState, rank: int, *, wide: bool) -> Line:
    """Return score, grade, a changed stance and the rank that the marked fixes would give; nothing without any."""
    if not state.done or state.dossier is None:
        return ()
    lead, reached = (f"  {glyphs.ARROW} ", "accent"), state.reached
    if reached is None:
        return line(lead, (glyphs.WAIT, "muted"))
    out = line(lead, (str(reached.score), "strong"), " ", (reached.grade, glyphs.role_of(reached.grade[:1])))
    if reached.stance != state.dossier.card.stance:
        known = stance(reached.stance)
        out += line(" ", known if wide else known._replace(text=known.text[:1]))
    if rank:
        out += line((f" rank {rank:,}", "accent"))
    return out


def what_if_foot(state: CardState) -> str:
    """Return the keys of the pane of fixes, and what the marked ones would change."""
    if not state.done or state.dossier is None:
        return "space what if · y copies the snippet" if state.fixes else ""
    words = f"what if {count(len(state.done), 'fix', 'fixes')}"
    if state.reached is not None:
        words += f": {state.dossier.card.score} {glyphs.ARROW} {state.reached.score}"
        if state.reached.stance == "Walled" and state.reached.score == WALLED_CEILING:
            words += ", no more while Walled"
    return words


def change_words(dossier: HostReport, now: float) -> str:
    """Return the change of the score since the scan before: ``+8 since 11-12``; empty for none."""
    if dossier.previous is None:
        return ""
    before, now_is = comparable(dossier.previous, dossier.card)
    change = signed(now_is - before)
    return f"{change} since {day(dossier.previous.scanned_at, now)}" if change else ""


def tabs_line(state: CardState, size: int) -> Line:
    """Return the names of the panes with their digits and what is in them, the shown one in brackets."""
    fitting = (out for out in (_tabs(state, room) for room in ("full", "names")) if width(out) <= size)
    return next(fitting, None) or cut(_tabs(state, "digits"), size)


def _tabs(state: CardState, room: str) -> Line:
    out: list[Piece] = []
    for number in NUMBERS:
        shown = number == state.pane
        inside = amount(number, state) if room == "full" else ""
        name = short_title(number, state) if room != "digits" or shown else str(number)
        text = f"{name} {inside}".strip()
        action = f"screen.pane({number})"
        out.append(Piece(f" [{text}]", "title", action) if shown else Piece(f" {text} ", "", action))
    return tuple(out)


PANE_TERMS: Final = ("", "provisional", "in", "evidence", "front door", "log", "tasks", "visits")


def card_foot(state: CardState, action: str, size: int) -> Line:
    """Return the sentence on what is under the cursor of the card; ``action`` is that of the chosen line."""
    if state.dossier is None:
        return cut(line(" ", state.problem), size)
    if state.pane == 4 and state.fix is not None:
        return term(FIX_TERMS.get(state.fix.k, state.fix.k), size)
    if state.pane == SUMMARY and state.ledger:
        return term("ledger", size)
    if state.pane == EVIDENCE and state.changes:
        return term("changes", size)
    key = action.partition("'")[2].partition("'")[0]
    word = _word(state, key)
    return term(word or PANE_TERMS[state.pane], size)


def _word(state: CardState, key: str) -> str:
    """Return the verdict on the line with the key ``key`` of pane 1 or 2, empty elsewhere."""
    dossier = state.dossier
    if dossier is None or not key:
        return ""
    if state.pane == 1:
        found = outcomes(dossier.card, dossier.observations)
        return next((one.verdict for one in found if key in (one.probe, *one.keys)), "")
    if state.pane == 2:
        return next((row.verdict for row in agents.every_row(dossier) if row.key == key), "")
    return ""

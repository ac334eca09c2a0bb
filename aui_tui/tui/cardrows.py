"""A report card as rows: the answer above, the seven panes, and the lines around them. Words come from the sections."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from shlex import quote
from typing import Final

from msgspec.structs import replace
from textual.content import Content

from aui_tui.checks import BY_FIX
from aui_tui.model import agents, fates, labels
from aui_tui.model.card import Recommendation, ReportCard
from aui_tui.model.labels import ago
from aui_tui.model.methods import DEFAULT_METHOD, METHODS, WALLED_CEILING
from aui_tui.model.points import GRANTED, asked_for, comparable, foresees, gain, gain_of, totals, unmeasured
from aui_tui.model.quota import Quota
from aui_tui.model.report import HistoryPoint, HostReport, comparable_scores
from aui_tui.model.signs import GRADES
from aui_tui.model.surfaces import SURFACES, surface_called
from aui_tui.model.tasks import TASKS, TaskResult, task_label
from aui_tui.model.vocabulary import INCONCLUSIVE, NO_GRADE, SEVERITIES
from aui_tui.report import sections
from aui_tui.report.sections import Item
from aui_tui.text import cells, count, fit, wrap
from aui_tui.tui import glyphs
from aui_tui.tui.rows import (
    ListEntry,
    Part,
    blank,
    edges,
    entry,
    fitting,
    marked,
    paragraph,
    spread,
    term,
    text,
    title,
)
from aui_tui.tui.scan_panel import scan_log, unseen
from aui_tui.tui.state import CardState
from aui_tui.tui.tables import drawn_bar, folded, table
from aui_tui.tui.widgets.bars import acting
from aui_tui.tui.words import NO_TASKS, day, quota_words, signed, with_keys

SUMMARY, AGENTS, EVIDENCE, FIXES, READS, SCAN_LOG, TASK_RUN, VISITS = NUMBERS = (1, 2, 3, 4, 5, 6, 7, 8)
NAMES: Final = ("", "Summary", "Agents", "Evidence", "Fixes", "Reads", "Log", "Tasks", "Visits")
IN_TURN: Final = (READS, SCAN_LOG, TASK_RUN, VISITS)
"""Panes that share one place of a wide screen."""
BAR: Final = 24
"""Cells of the longest bar of a pillar."""
NEXT: Final = "next"
"""Key of the row with the next step."""
GOOD: Final = "+good"
"""Key of the row that stands for all good findings."""


# The answer


def stance(card: ReportCard) -> Content:
    """Return sign and word of the stance."""
    word = "unreachable" if card.unreachable else card.stance
    sign, tone = marked(word)
    return text((f"{sign} {word.capitalize()}", tone))


def brief(state: CardState, size: int) -> Content:
    """Return the answer in one row, above a pane that has the screen."""
    report = state.report
    return text(" ", stance(report.card), "  ", (sentence(report), "strong")) if report is not None else Content("")


def sentence(report: HostReport) -> str:
    """Return who gets in, in one sentence."""
    return sections.verdict(report).text


def grade(report: HostReport | None) -> tuple[str, str, str]:
    """Return grade and score for large figures, and the tone of the grade; ``-`` for one that is withheld."""
    if report is None or report.card.unreachable:
        return "-", "", "muted"
    card = report.card
    return "-" if card.grade == NO_GRADE else card.grade, str(card.score), GRADES.get(card.grade[:1], "muted")


def basis(report: HostReport | None) -> str:
    """Return what a score is made of, below it: points earned of those measured."""
    if report is None or report.card.unreachable:
        return "no score"
    earned, possible = totals(report.card)
    if report.card.grade == NO_GRADE:
        return f"no grade: {earned}/{possible}"
    return f"{earned} of {possible}{'*' * bool(unmeasured(report.card))}"


def answer(state: CardState, size: int, margin: str = " ", *, brief: bool = False) -> list[ListEntry]:
    """Return who gets in, the pillars, the assistants and the next step; the same rows while a card is read.

    ``margin``: room for the cursor. ``brief``: no pillars.
    """
    report = state.report
    room = size - len(margin)
    if report is None:
        names = [Item((surface.label, ""), "absent") for surface in SURFACES]
        bars = [] if brief else _rows_of([text(fit(name, 8), ("┄" * 8, "muted")) for name in PILLARS], room, margin)
        return [
            entry(margin, ("reading …", "muted")),
            *bars,
            _chips(names, room, margin),
            entry(margin, ("Next", "muted")),
        ]
    lead = text(margin, stance(report.card), "  ")
    if size < 40:
        out = [entry(lead), paragraph(sentence(report), size, "strong", margin)]
    else:
        out = [paragraph(sentence(report), size, "strong", lead)]
    if not brief:
        drawn = _pillars(state, report, room)
        out += _rows_of([acting(bar, "screen.ledger") if margin else bar for bar in drawn], room, margin)
    out.append(_chips(sections.chips(report).items, room, margin))
    return [*out, _next(state, report, size, margin)]


PILLARS: Final = tuple(pillar.label for pillar in METHODS[DEFAULT_METHOD].pillars)


def _pillars(state: CardState, report: HostReport, size: int) -> Iterator[Content]:
    """Yield each pillar with a bar: what is earned, lacks, and was not measured."""
    card = report.card
    points = sections.points(report)
    if points is None:
        last = next((point for point in reversed(report.history) if not point.unreachable), None)
        graded = labels.score(last.score, last.grade) if last else ""
        words = f"last graded {graded} on {last.scanned_at[:10]} (h shows it)" if last else "not measured"
        yield text((words, "muted"))
        return
    names = max(cells(item.label) for item in points.items)
    each = min(max((size - 4) // len(points.items) - names - 9, 8), BAR)
    for item in points.items:
        words = with_keys(item.cells[1], tasks=state.tasks)
        if card.pillars[item.key] is None:
            words += ", a tries it" if state.tasks and not card.task_runs else ""
            yield text(f"{item.label} ", ("┄" * 6, "muted"), (f" {words}", "muted"))
        else:
            yield text(f"{item.label} ", *drawn_bar(item.bar, points.bars, each), f" {words}")


def _rows_of(parts: list[Content], size: int, margin: str) -> list[ListEntry]:
    """Return ``parts`` on one row, or where they have no room, on one row each."""
    together = Content("   ").join(parts)
    shown = [together] if together.cell_length <= size else parts
    return [entry(margin, row) for row in shown]


def _chips(items: Sequence[Item], size: int, margin: str) -> ListEntry:
    """Return the assistants side by side, in as many lines as they take; each can be chosen."""
    parts: list[Part] = [margin]
    used = 0
    for item in items:
        sign, tone = marked(item.word)
        words = " ".join(filter(None, item.cells))
        wide = cells(words) + 2
        if used and used + 3 + wide > size:
            parts.append("\n" + margin)
            used = 0
        elif used:
            parts.append("   ")
            used += 3
        parts.append(
            (f"{sign} {words}", tone if item.word in fates.SHUT or item.word == fates.UNCLEAR else "", item.key)
        )
        used += wide
    return entry(*parts)


def _next(state: CardState, report: HostReport, size: int, margin: str) -> ListEntry:
    """Return the next step with what it gains and takes, as long as there is room for that."""
    step = next(item for item in sections.verdict(report).items if item.key == "next")
    words, fix = with_keys(step.text, tasks=state.tasks), state.fixes[0] if step.code and state.fixes else None
    if fix is None:
        return replace(paragraph(words, size, "", text(margin, ("Next  ", "muted"))), key=NEXT)
    gains = gain(report.card, fix.k)
    takes = BY_FIX[fix.k].takes if fix.k in BY_FIX else ""
    lead = text(margin, ("Next  ", "muted"))
    room = size - lead.cell_length
    for form in (f"   {gains}   {takes}", f"  {gains}", ""):
        if cells(fix.title + form) <= room:
            return entry(lead, (fix.title, "strong"), (form, "good"), key=NEXT)
    return replace(paragraph(f"{fix.title}: {gains}", size, "strong", lead), key=NEXT)


def opening(number: int, state: CardState) -> str:
    """Return the key under which the cursor begins: the first that is turned away, of the assistants (0) or agents."""
    report = state.report
    if report is None or number not in (0, AGENTS):
        return ""
    section = sections.chips(report) if number == 0 else sections.every_agent(report)
    shut = [item for item in section.items if item.word in fates.SHUT] if section is not None else []
    return min(shut, key=lambda item: fates.WORST_FIRST.index(item.word)).key if shut else ""


# The panes


def rows(number: int, state: CardState, report: HostReport, size: int, now: float) -> list[ListEntry]:
    """Return what pane ``number`` says of ``report``, that of ``state``, in ``size`` cells."""
    match number:
        case 1:
            return ledger(report, size)
        case 2:
            return agent_rows(state, report, size)
        case 3:
            return changes(state.before, report, size, now) if state.changes else evidence(state, report, size)
        case 4:
            return fixes(state, report, size)
        case 5:
            return reads(report, size, now)
        case 6:
            return scan_log(report, size)
        case 7:
            return tasks(state, report, size, now)
        case _:
            return visits(report, size)


def absent(host: str, problem: str, size: int, can_scan: bool) -> list[ListEntry]:
    """Return why there is no card, and what can be done."""
    keys = [("s", "scans it now")] if can_scan else []
    keys += [("R", "looks again"), ("esc", "goes back to the list")]
    out = [paragraph(f"There is no report card of {host}.", size, "strong"), blank()]
    out += [paragraph(problem, size, "warn"), blank()]
    out += [entry((key, "key"), f" {words}") for key, words in keys]
    shell = [blank(), entry(("In the shell:", "muted")), paragraph(f"aui-tui scan {quote(host)}", size, "code")]
    return [*out, *(shell if can_scan else [])]


def facts(report: HostReport, size: int, now: float) -> list[ListEntry]:
    """Return what the scan saw of the site."""
    section = sections.facts(report)
    candidates = (sections.declared(report), sections.pages(report), sections.open_agents(report))
    parts = [part for part in candidates if part is not None]
    items = (*section.items, Item(("History",), text=history(report.history, now)))
    out = table(section._replace(items=items, columns=()), size)
    if report.card.unreachable:
        out = [paragraph(report.card.top_evidence or "The host could not be reached.", size, "warn"), blank(), *out]
    return out + [
        line for part in parts for line in (blank(), title(part.title), *_lead(part, size), *table(part, size))
    ]


def _lead(part: sections.Section, size: int) -> list[ListEntry]:
    return [paragraph(part.text, size)] if part.text else []


def reads(report: HostReport, size: int, now: float) -> list[ListEntry]:
    """Return what readers of text get from the page, then what the scan saw of the site."""
    section = sections.reads(report)
    site_facts = facts(report, size, now)
    if section is None:
        return site_facts
    lead = [paragraph(section.text, size), blank()] if section.text else []
    return [*lead, *table(section, size), blank(), title("The site"), *site_facts]


def history(points: tuple[HistoryPoint, ...], now: float, room: int = 12) -> str:
    """Return the scores of the kept scans as a curve with words."""
    if not points:
        return "none kept"
    since = f" since {day(points[0].scanned_at, now)}" if len(points) > 1 else ""
    return f"{glyphs.spark(comparable_scores(points[-room:]))} {count(len(points), 'scan')}{since}"


def ledger(report: HostReport, size: int) -> list[ListEntry]:
    """Return how the score came about; a source without a ledger says so."""
    book = sections.ledger(report)
    if book is None:
        words = "This source does not say how the points came about; the card has only their sums."
        points = sections.points(report)
        return [paragraph(words, size, "muted"), blank(), *(table(points, size) if points is not None else [])]
    items = tuple(item._replace(text="") for item in book.items)  # the line above the keys has the reason
    return [
        *table(book._replace(items=items, columns=book.columns[:-1]), size),
        blank(),
        paragraph(book.text, size, "strong"),
    ]


def agent_rows(state: CardState, report: HostReport, size: int) -> list[ListEntry]:
    """Return each agent, those alike folded; crawlers below them where they were asked for."""
    section = sections.every_agent(report)
    if section is None:
        return [paragraph("Nobody got a usable answer, so nothing is known of agents.", size, "muted")]
    odd = {row.key for row in agents.agent_rows(report.card, report.observations) if row.disagree}
    first, *others = (_with_sign(item) if item.key in odd else item for item in section.items)
    others.sort(key=lambda item: (item.word == fates.NOT_ASKED, fates.WORST_FIRST.index(item.word)))
    out = table(section._replace(items=(first, *folded(others, state.unfolded))), size)
    if state.crawlers:
        items = tuple(sections.agent_item(row) for row in agents.crawler_rows(report.card, report.observations))
        rest = table(section._replace(items=items), size)[1:]
        out += [blank(), title("Crawlers, for training and search", "shown, not scored"), *rest]
    return out


def _with_sign(item: Item) -> Item:
    """Return an agent whose robots.txt and answer contradict, with the sign of that."""
    cells = list(item.cells)
    cells[-1] = f"{cells[-1].partition(' ≠')[0]} {glyphs.DISAGREE}"
    return item._replace(cells=tuple(cells), words=(*[""] * (len(cells) - 1), item.word))


def evidence(state: CardState, report: HostReport, size: int) -> list[ListEntry]:
    """Return the findings in one row each, worst first, the good ones folded into one; then the notes."""
    section, notes = sections.findings(report), sections.notes(report)
    items = list(section.items) if section is not None else []
    good = [item for item in items if item.word == "good"]
    fold = len(good) > 1 and GOOD not in state.unfolded
    out = [_finding(item, place, size) for place, item in enumerate(items) if not (fold and item.word == "good")]
    if fold:
        sign, tone = marked("good")
        out.append(entry(" ", (sign, tone), f" {len(good)} things are right", key=GOOD))
    if notes is not None:
        out += [blank(), title("Notes", "no problems")]
        out += [_finding(item, place, size) for place, item in enumerate(notes.items, len(items))]
    return out or [paragraph("The card carries no evidence.", size, "muted")]


def _finding(item: Item, place: int, size: int) -> ListEntry:
    sign, tone = marked(item.word)
    lead = text(" ", (sign, tone), f" {item.title}")
    about = text((item.about, "muted")) if lead.cell_length + cells(item.about) + 1 <= size else Content("")
    return entry(spread(lead, about, size), key=f"finding {place}")


def finding_text(report: HostReport, key: str) -> str:
    """Return the whole text of the finding or note whose row has ``key``."""
    items = [item for part in (sections.findings(report), sections.notes(report)) if part for item in part.items]
    kind, _, place = key.partition(" ")
    if key == GOOD:
        return "; ".join(item.title for item in items if item.word == "good") + "."
    return items[int(place)].text if kind == "finding" and int(place) < len(items) else ""


def fixes(state: CardState, report: HostReport, size: int) -> list[ListEntry]:
    """Return the fixes, those that let assistants in first, with what each gains; then the steps of the chosen one."""
    items = state.fixes
    if report.card.unreachable:
        return [paragraph("Nothing was measured, so there is nothing to fix yet.", size, "muted")]
    if not items:
        return [paragraph("Nothing left to fix: every point that can be measured is earned.", size, "good")]
    out = []
    for place, fix in enumerate(items, 1):
        gains = gain(report.card, fix.k)
        takes = f"  {BY_FIX[fix.k].takes:7}" if size >= 46 and fix.k in BY_FIX else ""
        number = (f"{marked('good')[0]} ", "good") if fix.k in state.done else (f"{place} ", "muted")
        out.append(
            entry(
                spread(text(" ", number, fix.title), text((f" {gains:>9}", "good"), (takes, "muted")), size),
                key=f"fix {fix.k}",
            )
        )
    return [*out, blank(), *steps(state.fix or items[0], size)]


def steps(fix: Recommendation, size: int) -> list[ListEntry]:
    """Return a fix as numbered steps, the snippet first; last, why."""
    section = sections.steps(fix)
    out: list[ListEntry] = []
    for number, item in enumerate(section.items, 1):
        out.append(paragraph(item.label + ":" * bool(item.code), size, head=(f"{number} ", "accent")))
        if item.code:
            out += [entry("  ", (row or " ", "code")) for row in item.code.split("\n")]
    return [*out, *([blank(), paragraph(section.text, size, "muted")] if section.text else [])]


TRY_TASKS: Final = "a tries six tasks in a browser on this machine; it reads and searches, and sends no form."


def tasks(state: CardState, report: HostReport, size: int, now: float) -> list[ListEntry]:
    """Return the tasks with their outcomes and points, then what was done where one got stuck."""
    section = sections.tasks(report, now=now)
    if section is None:
        words = f"Not run. {TRY_TASKS if state.tasks else NO_TASKS}"
        rows = [entry("  ", fit(task.label, 26), (f"{task.weight:2} points", "muted")) for task in TASKS]
        return [paragraph(words, size, "muted"), blank(), *rows]
    run = report.observations.tasks if report.observations is not None else None
    out = table(section, size)
    for result in run.results if run is not None else ():
        if result.change or any(step.mark == "stuck" for step in result.steps):
            out += [blank(), *_steps(result, size)]
    return out


def _steps(result: TaskResult, size: int) -> list[ListEntry]:
    out = [title(task_label(result.task), "step by step")]
    for number, step in enumerate(result.steps, 1):
        sign, tone = marked({"part": "partly"}.get(step.mark, step.mark))
        named = f" “{step.name}”" if step.name else ""
        lead = text(f"{number:2} ", (f"{sign} ", tone), fit(step.verb, 9))
        words = " ".join(part for part in (step.role + named, step.note) if part.strip())
        out.append(paragraph(words, size, head=lead))
    return out + ([paragraph(result.change, size, head=("To change: ", "accent"))] if result.change else [])


NO_VISITS: Final = "No access log read. ctrl+p, “Read an access log”, shows what real agents got; only counts are kept."


def visits(report: HostReport, size: int) -> list[ListEntry]:
    """Return what the logs say per agent beside what the probe got, disagreements first."""
    section = sections.visitors(report)
    if section is None:
        return [paragraph(NO_VISITS, size, "muted")]
    return [*table(section, size), blank(), paragraph(section.text, size, "muted")]


def changes(before: ReportCard | None, report: HostReport, size: int, now: float) -> list[ListEntry]:
    """Return what differs from an earlier scan."""
    from aui_tui.report.diff import diff

    if before is None:
        hint = " s scans it again." if report.observations is not None else ""
        return [paragraph(f"No earlier scan of this host is known here.{hint}", size, "muted")]
    since = (day(before.scanned_at, now), "strong")
    out = [entry(("Since ", "muted"), since, (f", {ago(before.scanned_at, now)}", "muted"))]
    first, *parts = diff(before, report.card).sections(times=False)
    out += [paragraph(words, size) for words in (first.text, *(item.text for item in first.items))]
    for part in parts:
        out += [blank(), title(part.title), *table(part, size)]
    return out


# Why an agent fares as it does


def every_agent(report: HostReport) -> tuple[agents.AgentRow, ...]:
    """Return the rows of the agents and of the crawlers."""
    card, observations = report.card, report.observations
    return (*agents.agent_rows(card, observations), *agents.crawler_rows(card, observations))


def why(report: HostReport, key: str) -> str:
    """Return why the agent ``key`` fares as it does, in whole sentences."""
    if key.startswith("+"):
        return f"{why(report, key[1:])} Rows that are alike are folded into one; enter unfolds them."
    row = next((row for row in every_agent(report) if row.key == key), None)
    return " ".join(_sentences(row)) if row is not None else ""


def unasked(report: HostReport, key: str, size: int) -> list[ListEntry]:
    """Return what is known of an assistant, agent or crawler without an exchange: its lines of robots.txt."""
    surface = surface_called(key)
    keys = surface.agents if surface is not None else (key,)
    words = "It was not asked: four agents are asked under their names, the others by robots.txt."
    if report.observations is None:
        words = unseen(report.card.host)
    if surface is not None and surface.source == "none":
        words = "It drives a browser like a person's, so only a task run can tell what it gets."
    out = [paragraph(words, size)]
    for row in every_agent(report):
        if row.key in keys:
            out += [blank(), title(row.label, row.token), paragraph(" ".join(_sentences(row)), size)]
    return out


def _sentences(row: agents.AgentRow) -> Iterator[str]:
    if row.robots:
        by = f" in line {row.line}: “{row.rule}”" if row.line else ""
        yield f"robots.txt {agents.POLICY_PHRASES[row.robots]}{by}."
    if not row.asked:
        yield "This name was not sent: only four agents are asked."
    elif row.outcome == "served":
        yield "The site serves the page to this name" + (", against its own robots.txt." if row.disagree else ".")
    elif row.outcome == INCONCLUSIVE:
        detail = row.exchange.detail if row.exchange is not None else ""
        yield f"No answer of the site proves anything{f': {detail}' if detail else ''}."
    elif not row.status:
        yield "The site leaves this name without an answer, while it serves a browser."
    else:
        another_page = row.exchange is not None and row.exchange.another_page
        kind = "another page" if another_page else "a challenge page" if row.outcome == "challenged" else "an error"
        yield f"The site answers this name with {kind} ({row.status})."
        if row.disagree:
            no_rules = row.robots == agents.NO_RULES
            contradicts = "The two contradict: robots.txt lets in what the site turns away."
            yield "No robots.txt keeps it out." if no_rules else contradicts


# The lines around the panes


def name_of(number: int, state: CardState) -> str:
    """Return what a pane is called, by what it shows."""
    return "Changes" if number == EVIDENCE and state.changes else NAMES[number]


def amount(number: int, state: CardState) -> str:
    """Return how much is in a pane, in a few signs: ``2✗`` findings, ``4`` fixes; a dash for nothing."""
    report = state.report
    if report is None:
        return ""
    worst = _by_severity(report)["critical"]
    return {
        EVIDENCE: f"{worst}{glyphs.CRITICAL}" if worst and not state.changes else "",
        FIXES: str(len(report.card.recommendations) or ""),
        TASK_RUN: "" if report.card.task_runs else "–",
        VISITS: "" if report.visits is not None else "–",
    }.get(number, "")


def pane_title(number: int, state: CardState, now: float) -> str:
    """Return the title of a pane for its border: digit, name and a summary."""
    shown, report = name_of(number, state), state.report
    name = f"{number} {shown}" if number != SUMMARY else "How the score came about"
    if report is None:
        return name
    if shown == "Evidence":
        counts = _by_severity(report)
        return "   ".join((name, *(f"{n} {marked(kind)[0]}" for kind in SEVERITIES if (n := counts[kind]))))
    if number == FIXES and state.fixes:
        return f"{name}  worst harm first"
    detail = log_words(report) if number == SCAN_LOG else ""
    if number in (AGENTS, TASK_RUN):
        section = sections.every_agent(report) if number == AGENTS else sections.tasks(report, now=now)
        detail = section.text.rstrip(".") if section is not None else ""
    return f"{name} – {detail}" if detail else name


def _by_severity(report: HostReport) -> Counter[str]:
    """Return how many findings there are of each severity; notes are none."""
    section = sections.findings(report)
    return Counter(item.word for item in section.items) if section is not None else Counter()


LEGEND: Final = ("disagree", "in", "part", "refused", "challenged", "told no", "unclear", "not asked")


def pane_foot(number: int, state: CardState, size: int) -> str:
    """Return what a pane's border says below: its keys, or the legend of its marks."""
    if state.report is None:
        return ""
    if number == AGENTS:
        parts = [f"{marked(word)[0]} {word}" for word in LEGEND]
        while parts and cells("  ".join(parts)) > size:
            parts.pop()
        return "  ".join(parts)
    if number == FIXES:
        return what_if_foot(state)
    return "enter shows the exchange" if number == SCAN_LOG else ""


def log_words(report: HostReport) -> str:
    """Return the log in one line: ``10 questions in 1.66 s: 5 served, 4 not found``."""
    observations = report.observations
    if observations is None:
        return "not kept by this source"
    outcomes = Counter(
        "not found"
        if exchange.status in (404, 410)
        else "no answer"
        if exchange.outcome == INCONCLUSIVE
        else exchange.outcome
        for exchange in observations.exchanges
    )
    parts = ", ".join(f"{number} {word}" for word, number in outcomes.most_common())
    return f"{count(len(observations.exchanges), 'question')} in {labels.seconds(report.card.elapsed_ms)}: {parts}"


WIDE: Final = 110
"""Cells from which on a line holds the rest."""


def headline(state: CardState, place: str, quota: Quota | None, now: float, size: int) -> Content:
    """Return the host at the left; ``place`` in the list, age and quota at the right as far as they fit."""
    report, wide = state.report, size >= WIDE
    if report is None:
        words = ("no report card", "warn") if state.problem else ("reading …", "")
        left, facts = text(" ", (state.host, "title")), [quota_words(quota, full=False)]
        return edges(left, text("  ", words), facts, size)
    card = report.card
    facts = [place, "" if state.at else f"scanned {ago(card.scanned_at, now)}", quota_words(quota, full=size >= 140)]
    score = "" if wide or card.unreachable else f"  {labels.score(card.score, card.grade)}"
    rest = text((score, "strong"), what_if(state))
    change = change_words(report, now)
    if change and wide:
        rest = text(rest, "  ", (change, "good" if change.startswith("+") else "critical"))
    if state.at:
        rest = text(rest, "  ", (f"scan of {day(card.scanned_at, now)}, not the latest", "warn"))
    if state.method:
        rest = text(rest, "  ", (card.method, "muted"))
    name = text(" ", (card.host, "title"))
    suffix = " · ".join(("", *([card.name] if card.name != card.host else []), card.category))
    shown = " · ".join(fact for fact in facts if fact)
    if name.cell_length + rest.cell_length + cells(suffix) + cells(shown) + 4 <= size:
        name = text(name, suffix)
    return edges(name, rest, facts, size)


def what_if(state: CardState) -> Content:
    """Return score, grade and a changed stance that the marked fixes would give; nothing without any."""
    report, reached = state.report, state.reached
    if not state.done or report is None:
        return Content("")
    if reached is None:
        return text(("  → …", "muted"))
    after = labels.score(reached.score, reached.grade)
    out = text(
        ("  → ", "accent"), (after if foresees(report.card) else gain_of(report.card, state.done, None), "strong")
    )
    if reached.stance != report.card.stance:
        sign, tone = marked(reached.stance)
        out = text(out, (f" {sign} {reached.stance}", tone))
    return text(out, f" {GRANTED}") if state.done & asked_for(report.card) else out


def what_if_foot(state: CardState) -> str:
    """Return the keys of the pane of fixes, and what the marked ones would change."""
    if not state.done or state.report is None:
        return "space what if · y copies the change" if state.fixes else ""
    words = f"what if {count(len(state.done), 'fix', 'fixes')}"
    if state.reached is not None:
        words += f": {gain_of(state.report.card, state.done, state.reached.score)}"
        if state.reached.stance == "Walled" and state.reached.score == WALLED_CEILING:
            words += ", no more while Walled"
    return words


def change_words(report: HostReport, now: float) -> str:
    """Return the change of the score since the scan before: ``+8 since 11-12``; empty for none."""
    if report.previous is None:
        return ""
    before, now_is = comparable(report.previous, report.card)
    change = signed(now_is - before)
    return f"{change} since {day(report.previous.scanned_at, now)}" if change else ""


def tabs(state: CardState, size: int) -> Content:
    """Return the names of the panes with their digits and what is in them, the shown one in brackets."""
    return fitting(size, (_tabs(state, room) for room in ("full", "names", "digits")))


def _tabs(state: CardState, room: str) -> Content:
    out: list[Content] = []
    for number in NUMBERS:
        shown = number == state.pane
        inside = amount(number, state) if room == "full" else ""
        name = name_of(number, state) if room != "digits" or shown else ""
        words = " ".join(filter(None, (str(number), name, inside)))
        out.append(acting(text((f" [{words}]", "title") if shown else f" {words} "), f"screen.pane({number})"))
    return text(*out)


def foot(state: CardState, key: str, size: int) -> Content:
    """Return the whole text of the row with ``key``, which is under the cursor, in two lines; else what the pane is."""
    report = state.report
    if report is None:
        return text(" ", state.problem)
    words = _whole(state, report, key)
    if not words:
        return term("ledger" if state.pane == SUMMARY else name_of(state.pane, state).lower())
    first, *rest = wrap(words, max(size - 2, 8))
    return text(" ", first, *(["\n ", fit(" ".join(rest), size - 2).rstrip()] if rest else []))


def _whole(state: CardState, report: HostReport, key: str) -> str:
    if state.pane == FIXES:
        return sections.steps(state.fix).text if state.fix is not None else ""
    if state.pane == EVIDENCE and not state.changes:
        return finding_text(report, key)
    if state.pane == AGENTS:
        return why(report, key)
    if state.pane == SUMMARY:
        book = sections.ledger(report) if state.ledger else sections.chips(report)
        shown = next((item.text for item in book.items if item.key == key), "") if book is not None else ""
        about = surface_called(key)
        probe = why(report, about.live) if about is not None and about.live else ""
        return with_keys(" ".join(filter(None, (shown, probe))), tasks=state.tasks)
    return ""

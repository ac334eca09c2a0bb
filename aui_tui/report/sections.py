"""A report as rows of words, made once: commands, documents, pages and panes only lay them out.

``sections(report)`` gives the parts in NAMES, in that order, each of them only where there is something to say.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from msgspec import UNSET

from aui_tui.checks import BY_FIX, label
from aui_tui.checks.evidence import NOTE, level, subject, title
from aui_tui.model import agents, fates, labels, visits
from aui_tui.model.card import Finding, Recommendation, ReportCard
from aui_tui.model.fates import UNCLEAR
from aui_tui.model.methods import WALLED_CEILING, method
from aui_tui.model.points import by_harm, gain, of_pillar, percent, totals, unknown, unmeasured
from aui_tui.model.registry import registry
from aui_tui.model.report import HostReport
from aui_tui.model.signs import sign
from aui_tui.model.tasks import WHOLE
from aui_tui.model.times import age
from aui_tui.model.vocabulary import NO_GRADE
from aui_tui.report import reads as readers
from aui_tui.report.formats import ExportOptions, HostResult, Refusal
from aui_tui.report.gates import GateOutcome
from aui_tui.report.words import agent_counts, declarations, page_access, who_gets_in
from aui_tui.text import cells, clean, count


class Item(NamedTuple):
    """One row. ``cells``: short texts under the section's columns, the first says what the row is about.

    ``word``: a word of the table of signs, which gives the row its sign and tone; empty for none. ``text``: sentences,
    of any length. ``key``: what the row stands for, to be opened or counted: a matrix key, a component, the id of a
    finding, the key of a fix, a task. ``code``: lines to copy. ``title``: the text in at most 40 cells, ``about``: what
    of the site it is about; of findings, and of the score: the figure and its letter. ``bar``: parts of a whole, those
    of the section's ``bars``. ``opens``: for each cell the terms of a query, which lists the hosts that it counts.
    ``words``: for each cell the word that gives it its tone; else a cell that is the row's word has it.
    """

    cells: tuple[str, ...] = ()
    word: str = ""
    text: str = ""
    key: str = ""
    code: str = ""
    title: str = ""
    about: str = ""
    bar: tuple[float, ...] = ()
    opens: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The first cell."""
        return self.cells[0] if self.cells else ""

    def row(self, width: int) -> list[str]:
        """Return the texts under ``width`` columns."""
        texts = [*self.cells, self.text] if len(self.cells) < width else [*self.cells]
        return (texts + [""] * width)[:width]

    def word_of(self, place: int) -> str:
        """Return the word of the cell at ``place``, empty for one that is only text."""
        if self.words:
            return self.words[place] if place < len(self.words) else ""
        return self.word if place < len(self.cells) and self.cells[place] == self.word else ""

    @property
    def tone(self) -> str:
        """The tone of the row's word: ``good``, ``warn``, ``critical``, ``muted``, ``accent``, a stance, or empty."""
        return sign(self.word).tone if self.word else ""


class Section(NamedTuple):
    """One part of a report. ``name``: one of NAMES. ``text``: sentences that lead, ``word``: their sign.

    ``columns``: headings of the items' cells and of their text, as many as there are; empty for a plain list.
    ``figures``: those of them that hold figures alone, the first ones say the most. ``bars``: the words of the
    parts of the items' bars, empty for what is earned, what lacks, and what was not measured.
    """

    name: str
    title: str
    text: str = ""
    items: tuple[Item, ...] = ()
    columns: tuple[str, ...] = ()
    word: str = ""
    figures: tuple[str, ...] = ()
    bars: tuple[str, ...] = ()

    @property
    def numbers(self) -> tuple[int, ...]:
        """The places of the columns of figures."""
        return tuple(n for n, name in enumerate(self.columns) if name in self.figures)

    def only(self, columns: Iterable[str]) -> Section:
        """Return the section with its first column and, of the others, ``columns`` alone."""
        places = [n for n, name in enumerate(self.columns) if not n or name in columns]
        items = tuple(
            item._replace(
                cells=tuple(item.cells[n] for n in places if n < len(item.cells)),
                opens=tuple(item.opens[n] for n in places if n < len(item.opens)),
            )
            for item in self.items
        )
        return self._replace(items=items, columns=tuple(self.columns[n] for n in places))

    @property
    def remarks(self) -> list[str]:
        """The texts of the items for which the table has no column, each with what it is about."""
        return [
            f"{item.label}: {item.text}" for item in self.items if item.text and len(item.cells) == len(self.columns)
        ]


POINTS: Final = ("Points",)
NAMES: Final = (
    "verdict", "gates", "points", "assistants", "findings", "notes", "fixes", "facts", "agents", "crawlers", "ledger",
    "tasks", "visits", "declared", "pages", "open-agents", "reads",
)  # fmt: skip
"""The sections in their order. ``gates`` only where gates were asked for."""
BLOCKS: Final = frozenset({"fixes", "steps"})
"""Sections whose items are told one by one: what each is, its cells, its text and the lines to copy."""
LIMIT: Final = (
    "A probe borrows an agent's name, not its address: a site that checks addresses may refuse the probe and serve the "
    "real agent."
)


def sections(report: HostReport, *, gates: GateOutcome | None = None, now: float | None = None) -> list[Section]:
    """Return what ``report`` says, part by part in the order of NAMES; parts with nothing to say are left out.

    A report with a card alone gives the same words as far as they go. ``now`` (epoch seconds): ages are told from it;
    without it times are told as dates, so that the same report always gives the same words.
    """
    parts = (
        verdict(report, now=now),
        gate_results(gates) if gates is not None else None,
        points(report),
        assistants(report),
        findings(report),
        notes(report),
        fixes(report),
        facts(report),
        every_agent(report),
        crawlers(report),
        ledger(report),
        tasks(report, now=now),
        visitors(report),
        declared(report),
        pages(report),
        open_agents(report),
        reads(report),
    )
    return [part for part in parts if part is not None]


def bar_cells(bar: Sequence[float], size: int) -> list[int]:
    """Return how many of ``size`` cells each part of a ``bar`` takes; what is there takes one at least."""
    total, out = sum(bar), list[int]()
    for place, part in enumerate(bar):
        end = round(size * sum(bar[: place + 1]) / total) if total else 0
        later = sum(number > 0 for number in bar[place + 1 :])
        out.append(max(min(end, size - later) - sum(out), 1) if part > 0 and size > sum(out) else 0)
    return out


BESIDE: Final = 24
"""Cells that the texts of a table need to stand beside its columns; with fewer they go below."""
NARROWEST: Final = 8
"""Cells that a column of words keeps at least."""


class Layout(NamedTuple):
    """How a table fits a width. ``columns``: place and cells of each column that has room, two cells apart.

    ``beside``: the items' texts stand at the right of them.
    """

    columns: list[tuple[int, int]]
    beside: bool

    @property
    def used(self) -> int:
        """The cells of the columns with the gaps behind them."""
        return sum(width + 2 for _, width in self.columns)


def layout(section: Section, size: int, *, heads: bool = True) -> Layout:
    """Return how the items of ``section`` fit ``size`` cells; ``heads``: under the names of the columns.

    Columns of figures yield from the last one on, then the widest column, then the one before the last two.
    """
    texts = any(item.text for item in section.items)
    count = max((len(item.cells) for item in section.items), default=0)
    names = [*(section.columns if heads else ()), *[""] * count]
    natural = [
        max(cells(text) for text in (names[n], *(item.cells[n] for item in section.items if n < len(item.cells))))
        for n in range(count)
    ]
    fitted_beside = _fitted(section, natural, size - BESIDE)
    if texts and fitted_beside.used <= size - BESIDE and len(fitted_beside.columns) == count:
        return fitted_beside
    return _fitted(section, natural, size)._replace(beside=not count)


def _fitted(section: Section, natural: Sequence[int], size: int) -> Layout:
    widths = dict(enumerate(natural))
    figures = [n for n in section.numbers if n < len(natural)]
    while sum(width + 2 for width in widths.values()) > size and len(widths) > 2:
        words = [n for n in widths if n not in figures and widths[n] > NARROWEST]
        if figures and figures[-1] > 1:
            del widths[figures.pop()]
        elif words:
            widths[max(words, key=widths.__getitem__)] -= 1
        else:
            del widths[list(widths)[max(len(widths) - 3, 1)]]
    while sum(width + 2 for width in widths.values()) > size and max(widths.values()) > NARROWEST:
        widths[max(widths, key=widths.__getitem__)] -= 1
    return Layout(list(widths.items()), beside=True)


def documents(results: Iterable[HostResult], options: ExportOptions) -> Iterator[list[Section]]:
    """Yield the sections of each report with its gates, and of a host without one why there is none."""
    for result in results:
        if isinstance(result.answer, Refusal):
            yield [Section("verdict", result.answer.host, f"Not scanned. {result.answer.detail}")]
            continue
        first, *rest = sections(result.answer, gates=result.outcome)
        if options.deterministic:
            first = first._replace(items=tuple(item for item in first.items if item.key != "scanned"))
        yield [first, *rest]


def verdict(report: HostReport, *, now: float | None = None) -> Section:
    """Return the stance with one plain sentence, then the score, the next step, and when the site was asked.

    Items by key: ``score``, ``next`` (its ``code`` is the change to copy), ``scanned``, ``site`` (name and category).
    """
    card = report.card
    figure = ("", "") if card.unreachable else (str(card.score), card.grade)
    items = [Item(("Score",), "", score_words(card, task_age(report, now)), "score", "", *figure), _next(card)]
    place = [*([card.name] if card.name != card.host else []), card.category]
    took = card.elapsed_ms / 1000
    ended = when(card.scanned_at, None if now is None else now - took)
    scanned = f"{ended} in {took:.1f} s from {card.vantage}, method {card.method}"
    scanned += ", stopped before its end" if any(finding.id == "incomplete" for finding in card.findings) else ""
    items += [Item(("Scanned",), text=scanned, key="scanned"), Item(("Site",), text=" · ".join(place), key="site")]
    word = "unreachable" if card.unreachable else card.stance
    words = who_gets_in(card, report.observations)
    against = visits.headline(report.visits, card) if report.visits is not None else ""
    return Section("verdict", card.host, f"{words} {against}".rstrip(), tuple(items), word=word)


def score_words(card: ReportCard, tried: str = "") -> str:
    """Return the score and how it came about, such as ``40 of 50 points measured → 80, grade B; 50 not
    measured, tasks not tried``."""
    if card.unreachable:
        return "– (nothing was measured)"
    (earned, measured), lost = totals(card), unmeasured(card)
    thin = ": less than half could be measured" if card.grade == NO_GRADE else ""
    words = (
        f"{earned} of {measured} points{' measured' if lost else ''} → {card.score}, {labels.grade(card.grade)}{thin}"
    )
    if card.stance == "Walled" and percent(earned, measured) > WALLED_CEILING:
        words += f"; at most {WALLED_CEILING} while Walled"
    words += f"; {lost} not measured" if lost else ""
    if card.provisional is True:
        return f"{words}, tasks {labels.tasks(card)}" if lost else f"{words}; tasks {labels.tasks(card)}"
    return f"{words}; tasks {tried}" if tried else words


def task_age(report: HostReport, now: float | None) -> str:
    """Return when the tasks were tried (``of 3 h ago``), where that was not with this scan; else nothing."""
    run = report.observations.tasks if report.observations is not None else None
    if run is None or run.ran_at >= report.card.scanned_at:
        return ""
    return f"of {labels.moment(run.ran_at)}" if now is None else labels.dated(age(run.ran_at, now))


def when(stamp: str, now: float | None) -> str:
    """Return a time as an age (``3 h ago``) where ``now`` is given, else as a date with hour and minute."""
    return labels.moment(stamp) if now is None else labels.ago(stamp, now)


def _next(card: ReportCard) -> Item:
    if card.unreachable:
        step = next(
            (finding.facts["step"] for finding in card.findings if "step" in finding.facts),
            "Check the address, then scan again",
        )
        return Item(("Next",), text=f"{step}.", key="next")
    fixes = by_harm(card)
    if not fixes:
        hint = ": try the tasks (--tasks)." if card.provisional is True and not card.task_runs else "."
        return Item(("Next",), text=f"Nothing left to fix{hint}", key="next")
    fix = fixes[0]
    takes = f", {BY_FIX[fix.k].takes}" if fix.k in BY_FIX else ""
    return Item(("Next",), text=f"{fix.title}: {gain(card, fix.k)}{takes}", key="next", code=fix.code)


def assistants(report: HostReport) -> Section:
    """Return the assistants, those with the same outcome in one row, worst first. Key: the first matrix key."""
    items = tuple(
        Item((", ".join(outcome.names), outcome.verdict), outcome.verdict, outcome.why, outcome.keys[0])
        for outcome in agents.outcomes(report.card, report.observations)
    )
    return Section("assistants", "Who gets in", items=items, columns=("Assistants", "Verdict", "Why"))


def chips(report: HostReport) -> Section:
    """Return the assistants one by one, those that were asked first: name, and the status of a refusal; why.

    Key: the matrix key.
    """
    card = report.card
    answers = {agent.key: access for agent, access in card.answers}
    items = []
    for outcome in agents.outcome_of_each(card, report.observations):
        access = answers.get(outcome.probe)
        code = str(access.status) if access is not None and access.status >= 300 else ""
        items.append(
            Item((outcome.names[0], code), outcome.verdict, f"{outcome.names[0]}: {outcome.why}.", outcome.keys[0])
        )
    items.sort(key=lambda item: item.word == fates.NOT_ASKED)
    return Section("chips", "Who gets in", items=tuple(items))


def points(report: HostReport) -> Section | None:
    """Return the points of each pillar, those that were measured first. Key: the pillar's."""
    card = report.card
    if card.unreachable:
        return None
    items = []
    for key in sorted(card.pillars, key=lambda key: card.pillars[key] is None):
        (earned, measured), most = of_pillar(card, key) or (0.0, 0.0), card.pillar_max[key] or 0
        bar = earned, measured - earned, max(most - measured, 0)
        items.append(Item((labels.pillar(card.method, key), labels.points(card, key)), key=key, bar=bar))
    return Section("points", "Points", items=tuple(items), columns=("Pillar", "Points"), figures=POINTS)


def findings(report: HostReport) -> Section | None:
    """Return the evidence, worst first. Key: the id of the finding, empty for one that only its text is known of."""
    items = tuple(_finding(report, line, level(line)) for line in report.card.findings if level(line) != NOTE)
    return Section("findings", f"Evidence, {count(len(items), 'finding')}", items=items) if items else None


def notes(report: HostReport) -> Section | None:
    """Return what the scan says of itself or beside the score: no problems. Key: the id of the finding."""
    items = tuple(_finding(report, line, NOTE) for line in report.card.findings if level(line) == NOTE)
    return Section("notes", "Notes", items=items) if items else None


def _finding(report: HostReport, finding: Finding, word: str) -> Item:
    short, about = title(finding), subject(finding)
    acceptance = report.accepted.get(finding.id)
    if acceptance is None:
        return Item(word=word, text=finding.text, key=finding.id, title=short, about=about)
    text = f"{finding.text} {acceptance.words}"
    return Item(word="accepted", text=text, key=finding.id, title=clean(f"Accepted: {short}", 40), about=about)


def fixes(report: HostReport) -> Section | None:
    """Return the fixes, those that let agents in first: title, score before and after, time, pillar; body and change.

    Key: the fix's.
    """
    card = report.card
    failed = [run for run in card.task_runs or () if run.change]
    if card.unreachable or not (card.recommendations or failed):
        return None
    items = tuple(
        Item(
            (fix.title, gain(card, fix.k), BY_FIX[fix.k].takes if fix.k in BY_FIX else "", fix.pillar),
            text=fix.body,
            key=fix.k,
            code=fix.code,
        )
        for fix in by_harm(card)
    ) + tuple(
        Item(
            (f"{run.label}, tried in a browser", "", "", "Works"),
            text=f"{run.note} {run.change}" + (f" Stopped at {run.address}" if run.address else ""),
            key=run.task,
        )
        for run in failed
    )
    return Section("fixes", f"Fixes, together {gain(card)}", items=items, columns=("Fix", "Score", "Takes", "Pillar"))


def steps(fix: Recommendation) -> Section:
    """Return a fix as steps: what to put where (``code``), how to load it, how to check it; ``text``: why."""
    check = BY_FIX.get(fix.k)
    why, _, proof = fix.body.rpartition("Check: ")
    why, _, before = (why or proof).partition("Before the reload: ")
    loads = f"Try the settings with {before.strip().rstrip('.')}, then reload the server." if before else ""
    items = [Item((check.puts if check is not None else "Put this into the site",), key="put", code=fix.code)]
    if check is not None:
        items.append(Item((loads or check.loads,), key="load"))
    if why and proof:
        items.append(Item((f"Check it: {proof}",), key="check"))
    return Section("how", fix.title, why.strip(), tuple(items))


def facts(report: HostReport) -> Section:
    """Return what the scan saw of the site, label and text."""
    items = tuple(Item((label,), text=text) for label, text in _facts(report.card))
    return Section("facts", "What the scan saw", items=items, columns=("Fact", "Value"))


def _facts(card: ReportCard) -> Iterator[tuple[str, str]]:
    human = str(card.human_status) if card.human_status else "no answer"
    yield "Browser", human + (", a challenge page" if card.human_challenged else "")
    if card.human_title:
        yield "Title", card.human_title
    unseen = unknown(card)
    part = "" if card.robots_whole else " in the part that was read"
    if not card.robots_status:
        yield "robots.txt", "no answer"
    elif card.unreachable:
        yield "robots.txt", str(card.robots_status)
    elif not card.robots_known:
        yield "robots.txt", f"{card.robots_status}, so its rules are not known"
    elif card.robots_status > OK:
        yield "robots.txt", f"{card.robots_status}, so there are no rules"
    else:
        closed = ", closed to all others" if card.wildcard_block else ""
        yield "robots.txt", f"{card.robots_status}, names {count(card.robots_ua_rules, 'user agent')}{part}{closed}"
    if card.unreachable:
        return
    if card.robots_known:
        some = f" and closes some pages to {card.agents_partial}" if card.agents_partial else ""
        told = f"robots.txt tells {card.agents_disallowed} of {card.agents_total} to stay out{part}"
        yield "Agents", f"{told}{some}"
        yield "Crawlers", f"{card.crawlers_blocked} of {card.crawlers_total} told no by name{part}; shown, not scored"
        lacking = "not measured" if "signal" in unseen else "no Content-Signal"
        yield "Signal", "Content-Signal stated" if card.content_signal else lacking
    yield "Page", _page(card, unseen)
    yield "Files", _files(card, unseen)
    yield "Served by", card.edge or "none recognised"
    if card.live_served < card.live_total:
        yield "Limit", LIMIT


def _page(card: ReportCard, unseen: Container[str]) -> str:
    """Return what the homepage holds. A wall that came in its place says nothing of it."""
    tags = card.semantic
    landmarks = f"{tags.main} main, {tags.nav} nav, {count(tags.aria, 'aria label')}, {count(tags.forms, 'form')}"
    parts = {"JSON-LD": count(card.jsonld, "JSON-LD block"), "landmarks": landmarks}
    lost = [name for key, name in (("jsonld", "JSON-LD"), ("landmarks", "landmarks")) if key in unseen]
    seen = ", ".join(words for name, words in parts.items() if name not in lost)
    shell = "nothing readable without scripts" if card.noscript_shell and seen else ""
    return "; ".join(filter(None, (seen, shell, f"not measured: {', '.join(lost)}" if lost else "")))


def _files(card: ReportCard, unseen: Container[str]) -> str:
    """Return the files of offers that were found, else those that were not."""
    sought = {"llms": "llms.txt", "front-door": "UCP, MCP"}
    lacking = ", ".join(names for key, names in sought.items() if key not in unseen)
    lost = ", ".join(names for key, names in sought.items() if key in unseen)
    found = ", ".join(card.files) or (lacking and f"none of {lacking}")
    return "; ".join(filter(None, (found, lost and f"not measured: {lost}")))


def every_agent(report: HostReport) -> Section | None:
    """Return each agent: what robots.txt says, what the site answers, and so. Key: its slot, or ``browser``."""
    if report.card.unreachable:
        return None
    rows = agents.agent_rows(report.card, report.observations)
    items = tuple(agent_item(row) for row in rows)
    columns = ("Agent", "robots.txt says", "The site answers", "Verdict")
    return Section("agents", "Agents by name", agent_counts(rows), items, columns)


def agent_item(row: agents.AgentRow) -> Item:
    """Return one agent or crawler: what robots.txt says, what the site answers, and so."""
    answer = (
        (str(row.status or "nothing") + (", challenged" if row.outcome == "challenged" else "")) if row.asked else "–"
    )
    return Item((row.label, _robots_says(row), answer, row.verdict), row.verdict, key=row.key)


def _robots_says(row: agents.AgentRow) -> str:
    """Return what robots.txt says of an agent or a crawler, with the line that says it."""
    rule = f" (line {row.line}: {clean(row.rule, 60)})" if row.line else ""
    return f"{row.robots}{rule}" if row.robots else "–"


OK: Final = 299
"""The last status of an answer that brings a file."""
TODAY: Final = MappingProxyType({"no": "block", "?": "not known"})
"""What a site does about a crawler by what robots.txt says; it lets in all others."""


def crawlers(report: HostReport) -> Section | None:
    """Return what the site does today about each crawler, and how a gate asks for it. Key: the crawler's token.

    No crawler is asked: robots.txt alone speaks.
    """
    card = report.card
    if card.unreachable or not card.robots_known:
        return None
    rows = agents.crawler_rows(card, report.observations)
    items = tuple(
        Item(
            (row.token, crawler.purpose, _robots_says(row), TODAY.get(row.robots, "allow")),
            key=row.token,
        )
        for crawler, row in zip(registry().crawlers, rows, strict=True)
    )
    text = "robots.txt alone decides: no crawler is asked. --must-serve and --must-block take these names and purposes."
    return Section("crawlers", "Allow or block", text, items, ("Crawler", "For", "robots.txt says", "Today"))


def ledger(report: HostReport) -> Section | None:
    """Return how the score came about, component by component. Key: the component's."""
    book = report.card.ledger
    if book is UNSET or report.card.unreachable:
        return None
    graded = method(book.method)
    items = tuple(
        Item(
            (
                graded.pillar(entry.pillar).label,
                label(entry.component),
                f"{entry.earned}/{entry.possible}" if entry.measured else "not measured",
            ),
            "unclear"
            if not entry.measured
            else "good"
            if entry.earned >= entry.possible
            else "warn"
            if entry.earned
            else "critical",
            entry.reason,
            entry.component,
        )
        for entry in book.entries
    )
    lost = unmeasured(report.card)
    total = f"{book.earned} of {book.possible} points{' measured' if lost else ''} → {book.raw}" + (
        f", {book.score} while Walled" if book.capped else ""
    )
    return Section(
        "ledger",
        "How the score came about",
        f"{total}, {labels.grade(report.card.grade)}{f'; {lost} not measured' if lost else ''}.",
        items,
        ("Pillar", "Component", "Points", "Why"),
        figures=POINTS,
    )


def tasks(report: HostReport, *, now: float | None = None) -> Section | None:
    """Return the tasks that were tried: outcome, points, what happened. Key: the task's."""
    card = report.card
    runs = card.task_runs or ()
    if not runs:
        return None
    items = []
    for run in runs:
        change = f" To change: {run.change}" if run.change else ""
        where = f" Stopped at {run.address}" if change and run.address else ""
        items.append(Item((run.label, run.word, run.share), run.word, run.note + change + where, run.task))
    earned, possible = sum(run.points for run in runs), sum(run.possible for run in runs)
    old, lost = task_age(report, now), max(0, WHOLE - possible)
    lead = f"{earned} of {possible} points measured" + (f", {lost} not" if lost else "")
    lead += "; too few tasks count for the score" if card.provisional is True else ""
    lead += f"; tasks {old}" if old else ""
    columns = ("Task", "Outcome", "Points", "What happened")
    return Section("tasks", "Tasks", lead + ".", tuple(items), columns, figures=POINTS)


def visitors(report: HostReport) -> Section | None:
    """Return what access logs say of each client, beside what the probe got. Key: its robots.txt token."""
    return visits_section(report.visits, report.card) if report.visits is not None else None


def visits_section(record: visits.Visits, card: ReportCard | None = None) -> Section:
    """Return the visits of ``record``; what log and probe say together only beside ``card``."""
    words = {True: "agree", False: "disagree", None: ""}
    items = tuple(
        Item(visits.cells(row), words[row.agrees], _visited(row), row.token) for row in visits.visit_rows(record, card)
    )
    lead = " ".join((*visits.heading(record), *visits.remarks(record)))
    title = (
        "Visits in the access log"
        if card is not None
        else f"Visits of agents{' to ' + record.host if record.host else ''}"
    )
    return Section("visits", title, lead, items, visits.HEADER, figures=visits.HEADER[1:8])


def trend_section(record: visits.Visits) -> Section:
    """Return the figures of ``record`` by week. Key: agent and Monday."""
    items = tuple(
        Item(visits.trend_cells(label, week), "", "", f"{label} {week.monday}") for label, week in visits.trend(record)
    )
    return Section("trend", "Visits by week", " ".join(visits.heading(record)), items, visits.TREND_HEADER)


def _visited(row: visits.VisitRow) -> str:
    visitor = row.visitor
    words = [row.sentence] if row.agrees is not None else []
    for lead, paths in (
        (("Most requested", visitor.paths[:5]), ("Refused", visitor.refused_paths[:3])) if visitor else ()
    ):
        if paths:
            words.append(f"{lead}: {', '.join(f'{path.path} {path.requests:,}' for path in paths)}.")
    return " ".join(words)


def declared(report: HostReport) -> Section | None:
    """Return what the site declares for agents, where that was asked for; not scored."""
    declared = report.card.declared
    if not declared:
        return None
    items = tuple(Item(word=word, text=text) for word, text in declarations(declared))
    return Section("declared", "Declared for agents, not scored", items=items)


def pages(report: HostReport) -> Section | None:
    """Return who gets the other pages that were asked for; not scored. Key: the path."""
    asked = report.card.pages
    if not asked:
        return None
    items = tuple(Item((page.path,), word, text, key=page.path) for page in asked for word, text in [page_access(page)])
    parts: dict[str, list[str]] = {}
    for item in items:
        parts.setdefault(labels.part_of_site(item.key), []).append(item.word)
    told = [f"{part}: {words.count('in')} of {count(len(words), 'page')} open to all" for part, words in parts.items()]
    text = f"{'; '.join(told)}." if len(items) > 1 else ""
    return Section("pages", "Pages, not scored", text, items)


def open_agents(report: HostReport) -> Section | None:
    """Return which fetch tools of open agents get in, where they were asked for; not scored. Key: the tools."""
    door = report.observations.open_door if report.observations is not None else None
    if door is None:
        return None
    items = tuple(Item((tools, word), word, why, tools) for tools, word, why in readers.door_rows(door))
    columns = ("Open readers", "Verdict", "Why")
    return Section("open-agents", "Open agents, not scored", readers.door_lead(door), items, columns)


def reads(report: HostReport) -> Section | None:
    """Return what readers of text get from the page; not scored. Key: the id of a row."""
    observations = report.observations
    read = observations.reads if observations is not None else None
    if observations is None or read is None:
        return None
    items = tuple(Item((row.label,), row.word, row.text, row.key) for row in readers.rows(read))
    return Section("reads", "Reads, not scored", readers.lead(read, observations.page), items)


def gate_results(outcome: GateOutcome) -> Section:
    """Return the gates that did not pass, or that all did. Key: the gate's option."""
    items = tuple(
        Item(
            (failure.gate, "inconclusive" if failure.inconclusive else "failed"),
            UNCLEAR if failure.inconclusive else "failed",
            failure.message,
            failure.gate,
        )
        for failure in outcome.failures
    )
    if items:
        return Section("gates", "Gates", items=items, columns=("Gate", "Result", "Why"), word="failed")
    return Section("gates", "Gates", "All gates passed.", word="passed")

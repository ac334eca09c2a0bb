"""Panes 2, 6 and 7: what agents get here, by the probes, by a task run and by the site's own access log."""

from __future__ import annotations

from collections import Counter
from types import MappingProxyType
from typing import Final, NamedTuple

from aui_tui.model import agents
from aui_tui.model import tasks as names
from aui_tui.model.agents import AgentRow
from aui_tui.model.registry import registry
from aui_tui.model.tasks import TASK, TASKS, TaskReport, TaskResult, TaskRun
from aui_tui.model.view import HostReport
from aui_tui.model.visits import VisitRow, Visits, visit_rows
from aui_tui.text import cells, count, fit
from aui_tui.tui import glyphs
from aui_tui.tui.draw import BLANK, Line, Piece, acting, cut, hang, line, paragraph
from aui_tui.tui.words import byte_size, seconds

SIZES_FROM: Final = 64
"""Width from which size and time of an answer are shown."""
RULES_FROM: Final = 96
"""Width from which the deciding line is shown with its text."""
NAMES_FROM: Final = 118
"""Width from which the name that was sent is shown."""
CAUSES_FROM: Final = 132
"""Width from which it is shown what a refusal goes by and, where a log was read, the real visits."""
GOES_BY: Final = MappingProxyType(
    {"name": "the name", "field": "one field", "fields": "fields", "together": "name, fields", "either": "either"}
)
"""What a refusal goes by, by the word of the records."""
LEGEND: Final = ("in", "part", "refused", "challenged", "told no", "unclear", "not tested")


class _Widths(NamedTuple):
    name: int
    sent: int
    says: int
    answer: int
    by: int = 0
    visits: int = 0


def _widths(rows: tuple[AgentRow, ...], size: int, *, visits: bool) -> _Widths:
    if size >= CAUSES_FROM:
        more = 12 if visits else 0
        return _Widths(size - 2 - 17 - 30 - 24 - 2 - 14 - 14 - more, 17, 30, 24, 14, more)
    sent = 22 if size >= NAMES_FROM else 0
    says = 38 if size >= RULES_FROM else 16
    answer = 24 if size >= SIZES_FROM else 7
    longest = max((cells(row.label) for row in rows), default=8)
    rest = size - 2 - sent - says - answer - 2 - 14
    return _Widths(max(min(longest + 1, rest), 8), sent, says, answer)


def agent_table(dossier: HostReport, size: int, *, crawlers: bool = False) -> list[Line]:
    """Return the table laid out to ``size`` cells; ``crawlers`` adds those that are never scored."""
    rows = agents.agent_rows(dossier.card, dossier.observations)
    others = agents.crawler_rows(dossier.card, dossier.observations) if crawlers else ()
    wide = _widths((*rows, *others), size, visits=dossier.visits is not None)
    beside = _Beside.of(dossier)
    asked = [row for row in rows if row.asked]
    unasked = [row for row in rows if not row.asked]
    asked.sort(key=lambda row: (row.key != "browser", agents.WORST_FIRST.index(row.verdict)))
    out = [_heading(wide, size)]
    out += [_row(row, wide, size, beside) for row in (*asked, *unasked)]
    if others:
        out += [BLANK, cut(line(("  Crawlers, for training and search; shown, not scored", "title")), size)]
        out += [_row(row, wide, size, beside) for row in others]
    return out


class _Beside(NamedTuple):
    """What stands beside the verdicts: by slot what a refusal goes by, by token the real visits."""

    causes: dict[str, str]
    visits: dict[str, VisitRow]

    @classmethod
    def of(cls, dossier: HostReport) -> _Beside:
        cause = dossier.observations.cause if dossier.observations is not None else None
        causes = dict.fromkeys(cause.agents, GOES_BY.get(cause.by, cause.by)) if cause is not None else {}
        rows = visit_rows(dossier.visits, dossier.card) if dossier.visits is not None else ()
        return cls(causes, {row.token: row for row in rows})

    def pieces(self, row: AgentRow, wide: _Widths) -> Line:
        """Return the columns of a row, empty where there is no room."""
        by = Piece(fit(self.causes.get(row.key, glyphs.DASH), wide.by), "muted")
        found = self.visits.get(row.token)
        if found is None or not found.requests:
            return (by, Piece(fit("no visits", wide.visits), "muted"))
        sign = {True: glyphs.ALIKE, False: glyphs.DISAGREE, None: " "}[found.agrees]
        words = fit(f"{found.requests:,} {sign}", wide.visits)
        return (by, Piece(words, "accent" if found.agrees is False else ""))


def _heading(wide: _Widths, size: int) -> Line:
    parts = (
        ("  Agent", wide.name + 2),
        ("name sent", wide.sent),
        ("robots.txt says", wide.says + 2),
        ("the site answers" if wide.answer > 16 else "site", wide.answer),
        ("goes by", wide.by),
        ("visits", wide.visits),
        ("so it is", len("so it is")),
    )
    return cut(line(("".join(fit(name, room) for name, room in parts), "header")), size)


def _row(row: AgentRow, wide: _Widths, size: int, beside: _Beside) -> Line:
    pieces = (
        *line("  ", f"{fit(row.label, wide.name - 1)} "),
        Piece(fit(fit(row.token or glyphs.DASH, wide.sent - 1), wide.sent), "muted"),
        *_says(row, wide.says),
        Piece(f"{glyphs.DISAGREE if row.disagree else ' '} ", "accent"),
        *_answer(row, wide.answer),
        *beside.pieces(row, wide),
        Piece(f"{glyphs.VERDICT[row.verdict]} {row.verdict}", glyphs.role_of(row.verdict)),
    )
    return acting(cut(pieces, size), f"screen.exchange('{row.key}')")


def _says(row: AgentRow, room: int) -> Line:
    if not row.robots:
        return line((fit(glyphs.DASH, room), "muted"))
    word = fit(f"{glyphs.SAYS[row.robots]} {row.robots}", 7)
    rule = (f"{row.line} {row.rule}" if room > 20 else f"line {row.line}") if row.line else ""
    return line((word, glyphs.role_of(row.robots)), (fit(fit(rule, room - 8), room - 7), "muted"))


def _answer(row: AgentRow, room: int) -> Line:
    if not row.asked:
        text = f"{glyphs.VERDICT[agents.UNTESTED]} {'not asked' if room > 10 else glyphs.DASH}"
        return line((fit(text, room), "muted"))
    text, role = f"{glyphs.OUTCOME[row.outcome]} {row.status or 'none'}", glyphs.role_of(row.outcome)
    got = row.exchange
    if got is None or room < 20:
        return line((fit(text, room), role))
    figures = f"{byte_size(got.bytes):>8}{seconds(got.elapsed_ms):>8}"
    return line((fit(text, 7), role), (fit(figures, room - 7), "muted"))


def counts(dossier: HostReport) -> str:
    """Return how many agents there are of each verdict that is not plain, and how many were not asked."""
    rows = agents.agent_rows(dossier.card, dossier.observations)[1:]
    found = Counter(row.verdict for row in rows)
    words = [f"{found[word]} {word}" for word in agents.WORST_FIRST if found[word] and word != agents.UNTESTED]
    return " · ".join((*words, f"{sum(not row.asked for row in rows)} not asked"))


def legend(size: int) -> str:
    """Return the marks with their words, as many as fit; the first never stands beside its word in the table."""
    parts = [f"{glyphs.DISAGREE} disagree", *(f"{glyphs.VERDICT[word]} {word}" for word in LEGEND)]
    while parts and cells("  ".join(parts)) > size:
        parts.pop()
    return "  ".join(parts)


def every_row(dossier: HostReport) -> tuple[AgentRow, ...]:
    """Return the rows of the agents and of the crawlers."""
    given = dossier.card, dossier.observations
    return (*agents.agent_rows(*given), *agents.crawler_rows(*given))


def why(dossier: HostReport, key: str, size: int) -> list[Line]:
    """Return why the agent ``key`` fares as it does, in whole sentences."""
    row = next((row for row in every_row(dossier) if row.key == key), None)
    return paragraph(" ".join(_sentences(row)), size) if row is not None else []


def unasked(dossier: HostReport, key: str, size: int) -> list[Line]:
    """Return what is known of an assistant, agent or crawler that no probe stands for: its lines of robots.txt."""
    surface = registry().surface(key)
    wanted = surface.agents if surface is not None else (key,)
    out = paragraph("It was not asked: four agents are asked under their names, the others by robots.txt.", size)
    if surface is not None and surface.source == "none":
        out = paragraph("It drives a browser like a person's, so only a task run can tell what it gets.", size)
    for row in every_row(dossier):
        if row.key in wanted:
            out += [BLANK, cut(line((row.label, "title"), "  ", (row.token, "muted")), size)]
            out += paragraph(" ".join(_sentences(row)), size)
    return out


def _sentences(row: AgentRow) -> list[str]:
    out = []
    if row.robots:
        said = {"yes": "says yes", "part": "closes some pages", "no": "says stay out", "?": "could not be read"}
        by = f" in line {row.line}: “{row.rule}”" if row.line else ""
        out.append(f"robots.txt {said[row.robots]}{by}.")
    if not row.asked:
        out.append("This name was not sent: only four agents are asked.")
    elif row.outcome == "served":
        out.append("The site serves the page to this name" + (", against its own robots.txt." if row.disagree else "."))
    elif row.outcome == "inconclusive":
        detail = row.exchange.detail if row.exchange is not None else ""
        out.append(f"No answer of the site proves anything{f': {detail}' if detail else ''}.")
    else:
        kind = "a test for humans" if row.outcome == "challenged" else "an error"
        out.append(f"The site answers this name with {kind} ({row.status or 'none'}).")
        if row.disagree:
            out.append("The two contradict: robots.txt lets in what the site turns away.")
    return out


NO_TASKS: Final = "Not run. a tries six tasks in a browser on this machine; it reads and searches, and sends no form."
NO_VISITS: Final = "No access log read. :visits FILE reads one and shows what real agents got."
ABOUT_VISITS: Final = (
    "FILE is an access log that this site wrote, of nginx, Apache, Caddy, HAProxy, IIS or a CDN, also compressed.",
    "Agents are counted by name, and their addresses are held against the ranges that the operators publish.",
    "Only counts are kept: no addresses and no queries of visitors.",
)
MARKS: Final = {
    names.DONE: ("✓ done", "good"),
    "half": ("~ half", "warn"),
    names.BLOCKED: ("✗ stuck", "critical"),
    names.ABSENT: ("· none offered", "muted"),
    names.INCONCLUSIVE: ("? unclear", "warn"),
}
STEPS: Final = {"done": ("✓", "good"), "part": ("~", "warn"), "stuck": ("✗", "critical")}
DAYS: Final = 14
WIDE: Final = 100


def tasks(dossier: HostReport, size: int, *, alone: bool = False) -> list[Line]:
    """Return the tasks with their outcomes and points, then what was done step by step where one got stuck.

    ``alone``: the pane has the whole screen, so that it says more where nothing was run.
    """
    runs = dossier.card.task_runs or ()
    if not runs:
        known = [line("  ", fit(task.label, 26), (f"{task.weight:2} points", "muted")) for task in TASKS]
        return [*paragraph(NO_TASKS, size, "muted"), *([BLANK, *known] if alone else [])]
    report = dossier.observations.tasks if dossier.observations is not None else None
    results = {result.task: result for result in report.results} if report is not None else {}
    words = size - 2 - 24 - 15 - 8 > 12
    head = "  " + fit("Task", 24) + fit("outcome", 15) + "points  " + ("what happened" if words else "")
    out = [cut(line((head, "header")), size)]
    out += [cut(_task(run, results.get(run.task), words=words), size) for run in runs]
    for result in results.values():
        if result.outcome == names.BLOCKED:
            out += [BLANK, *_steps(result, size)]
    return out


def _task(run: TaskRun, result: TaskResult | None, *, words: bool) -> Line:
    """Return one task: its name, outcome, points and, where ``words`` fit, what happened."""
    half = result is not None and result.half and run.outcome == names.BLOCKED
    mark, role = MARKS.get("half" if half else run.outcome, (glyphs.UNKNOWN + " " + run.outcome, ""))
    points = f"{run.points}/{run.possible}" if run.possible else glyphs.DASH
    label = TASK[run.task].label if run.task in TASK else run.task
    return (
        Piece("  " + fit(label, 23) + " "),
        Piece(fit(mark, 15), role),
        Piece(points.rjust(6) + "  "),
        Piece(run.note if words else "", "muted"),
    )


def _steps(result: TaskResult, size: int) -> list[Line]:
    label = TASK[result.task].label if result.task in TASK else result.task
    out: list[Line] = [line((label + ", step by step", "title"))]
    for number, step in enumerate(result.steps, 1):
        sign, role = STEPS.get(step.mark, (glyphs.DOT, "muted"))
        lead = (Piece(str(number).rjust(2) + " "), Piece(sign + " ", role), Piece(fit(step.verb, 9)))
        named = f" “{step.name}”" if step.name else ""
        out += hang(lead, " ".join(part for part in (step.role + named, step.note) if part.strip()), size)
    if result.change:
        out += hang((Piece("To change: ", "accent"),), result.change, size)
    return out


def tasks_title(dossier: HostReport) -> str:
    """Return the points of the run for the border; empty without one."""
    runs = dossier.card.task_runs or ()
    if not runs:
        return ""
    got, possible = sum(run.points for run in runs), sum(run.possible for run in runs)
    report: TaskReport | None = dossier.observations.tasks if dossier.observations is not None else None
    spent = ", " + seconds(sum(result.elapsed_ms for result in report.results)) if report is not None else ""
    return f"{got} of {possible} points{spent}"


def visits(record: Visits | None, dossier: HostReport, size: int, *, alone: bool = False) -> list[Line]:
    """Return what the logs say per agent beside what the probe got, disagreements first; ``alone`` as for tasks."""
    if record is None:
        more = [row for text in ABOUT_VISITS for row in paragraph(text, size, "muted")]
        return [*paragraph(NO_VISITS, size, "muted"), *([BLANK, *more] if alone else [])]
    rows = visit_rows(record, dossier.card)
    days = DAYS + 2 if size >= WIDE else 0
    name = min(max((cells(row.label) for row in rows), default=8), 22) + 2
    heads = [fit("Agent", name), "  visits"]
    heads += [fit("  " + str(DAYS) + " days", days)] if days else []
    heads += ["  served", "  refused", "  address", "  the probe said", "together"]
    out = [cut(line(("  " + "".join(heads), "header")), size)]
    out += [cut(_visit(row, name, days), size) for row in rows]
    for row in rows:
        if row.agrees is False:
            out += [BLANK, *hang((Piece(glyphs.DISAGREE + " ", "accent"),), row.sentence, size)]
    out += [BLANK, *paragraph("No addresses and no queries of visitors are kept.", size, "muted")]
    return out


def _visit(row: VisitRow, name: int, days: int) -> Line:
    sign, role = (" ", "muted")
    if row.agrees is not None:
        sign, role = (glyphs.ALIKE, "good") if row.agrees else (glyphs.DISAGREE, "accent")
    pieces = [Piece("  " + fit(row.label, name)), Piece(format(row.requests, ",").rjust(8))]
    if days:
        shown = row.days[-DAYS:]
        curve = glyphs.spark(shown, 0, max((*shown, 1))) if row.requests else ""
        pieces.append(Piece(fit("  " + curve, days), "bar"))
    for share, room in ((row.served, 8), (row.refused if row.requests else None, 9), (row.address_ok, 9)):
        pieces.append(Piece(percent(share).rjust(room), "muted" if share is None else ""))
    probe = "  " + fit(row.probe, 13)
    pieces += [Piece(probe, glyphs.role_of(row.probe)), Piece(" " + sign + " ", role), Piece(row.together)]
    return tuple(pieces)


def percent(share: float | None) -> str:
    """Return a share of 1 in percent, a dash for none."""
    if share is None:
        return glyphs.DASH
    return format(100 * share, ".1f" if 0 < share < 1 else ".0f") + " %"


def visits_title(record: Visits | None) -> str:
    """Return period and size of the log for the border."""
    if record is None:
        return ""
    return " · ".join(part for part in (record.period, record.log, count(record.lines, "line")) if part)

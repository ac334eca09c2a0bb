"""Panes 6 and 7: what an assistant got done here, and what real agents got by the site's own log."""

from __future__ import annotations

from typing import Final

from aui_tui.records import tasks as names
from aui_tui.records.tasks import TASK, TaskReport, TaskResult
from aui_tui.records.view import Dossier
from aui_tui.records.visits import VisitRow, Visits, visit_rows
from aui_tui.text import cells, fit
from aui_tui.tui import glyphs
from aui_tui.tui.draw import BLANK, Line, Piece, cut, hang, line, paragraph
from aui_tui.tui.words import count, seconds

NO_TASKS: Final = (
    "Not run. aui-tui tasks opens the site as an agent would and tries to read, follow, search, contact, fill, offer."
)
NO_VISITS: Final = "No access log read. aui-tui visits LOG shows what real agents got."
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


def tasks(dossier: Dossier, size: int) -> list[Line]:
    """Return the tasks with their outcomes and points, then what was done step by step where one got stuck."""
    runs = dossier.card.task_runs or ()
    if not runs:
        return paragraph(NO_TASKS, size, "muted")
    report = dossier.observations.tasks if dossier.observations is not None else None
    results = {result.task: result for result in report.results} if report is not None else {}
    note = size - 2 - 24 - 15 - 8
    head = "  " + fit("Task", 24) + fit("outcome", 15) + "points  " + ("what happened" if note > 12 else "")
    out = [cut(line((head, "header")), size)]
    for run in runs:
        half = run.task in results and results[run.task].half and run.outcome == names.BLOCKED
        mark, role = MARKS.get("half" if half else run.outcome, (glyphs.UNKNOWN + " " + run.outcome, ""))
        points = "/".join((str(run.points), str(run.possible))) if run.possible else glyphs.DASH
        label = TASK[run.task].label if run.task in TASK else run.task
        row = [Piece("  " + fit(label, 23) + " "), Piece(fit(mark, 15), role), Piece(points.rjust(6) + "  ")]
        out.append(cut((*row, Piece(run.note if note > 12 else "", "muted")), size))
    stuck = [result for result in results.values() if result.outcome == names.BLOCKED]
    for result in stuck:
        out += [BLANK, *_steps(result, size)]
    return out


def _steps(result: TaskResult, size: int) -> list[Line]:
    label = TASK[result.task].label if result.task in TASK else result.task
    out: list[Line] = [line((label + ", step by step", "title"))]
    for number, step in enumerate(result.steps, 1):
        sign, role = STEPS.get(step.mark, (glyphs.DOT, "muted"))
        lead = (Piece(str(number).rjust(2) + " "), Piece(sign + " ", role), Piece(fit(step.verb, 9)))
        named = " “" + step.name + "”" if step.name else ""
        out += hang(lead, " ".join(part for part in (step.role + named, step.note) if part.strip()), size)
    if result.change:
        out += hang((Piece("To change: ", "accent"),), result.change, size)
    return out


def tasks_title(dossier: Dossier) -> str:
    """Return the points of the run for the border; empty without one."""
    runs = dossier.card.task_runs or ()
    if not runs:
        return ""
    got, possible = sum(run.points for run in runs), sum(run.possible for run in runs)
    report: TaskReport | None = dossier.observations.tasks if dossier.observations is not None else None
    spent = ", " + seconds(sum(result.elapsed_ms for result in report.results)) if report is not None else ""
    return " ".join((str(got), "of", str(possible), "points")) + spent


def visits(record: Visits | None, dossier: Dossier, size: int) -> list[Line]:
    """Return what the logs say per agent beside what the probe got, disagreements first."""
    if record is None:
        return paragraph(NO_VISITS, size, "muted")
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

"""A run of the tasks on a card: its points, and what an agent in a browser could and could not do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aui_tui.engine.checks.base import Finding, critical, good, warn
from aui_tui.engine.wording import clause, counted, joined, quoted
from aui_tui.records.ledger import Entry
from aui_tui.records.methods import Pillar
from aui_tui.records.observations import Observations
from aui_tui.records.tasks import BLOCKED, DONE, INCONCLUSIVE, TASK, Rendered, pillar_points, runs_of

NAMED: Final = 12
"""Headings and prices that a sentence names before it counts the rest."""


TASKS: Final = "tasks"
"""The component of the ledger that a run of the tasks fills."""
SENTENCES: Final = (
    critical("task-read", "<<task>>, tried in a browser: <<note>>."),
    warn("task-blocked", "<<task>>, tried in a browser: <<note>>."),
    warn("task-unclear", "<<task>>, tried in a browser, was not decided: <<note>>."),
    warn(
        "rendered-scripts",
        "<<share>> % of the readable text exists only after scripts run<<which>>: an agent that runs none does not see"
        " it.",
    ),
    good("tasks-done", "An agent in a browser completed <<count>>: <<tasks>>."),
    good("rendered-same", "All readable text is in the HTML as sent: scripts add nothing to <<readable>>."),
)


def entries(observations: Observations, pillar: Pillar) -> Iterator[Entry]:
    """Yield the entry of the tasks in the ledger when enough of them count."""
    runs = runs_of(observations.tasks)
    points = pillar_points(runs, pillar.maximum)
    if points is None or observations.unreachable:
        return
    counting = [run for run in runs if run.possible]
    done = sum(run.outcome == DONE for run in counting)
    yield Entry(
        component=TASKS,
        pillar=pillar.key,
        earned=points,
        possible=pillar.maximum,
        reason=f"An agent in a browser completed {done} of {counted(len(counting), 'task')}.",
    )


def findings(observations: Observations) -> Iterator[Finding]:
    """Yield what the run of the tasks found; nothing without a run."""
    if observations.page.rendered is not None:
        yield _rendered(observations.page.rendered)
    results = observations.tasks.results if observations.tasks is not None else ()
    for result in results:
        facts = {"task": TASK[result.task].label, "note": clause(result.note)}
        if result.outcome == BLOCKED:
            yield Finding("task-read" if result.task == "read" else "task-blocked", facts)
        elif result.outcome == INCONCLUSIVE:
            yield Finding("task-unclear", facts)
    done = [TASK[result.task].label for result in results if result.outcome == DONE]
    if done:
        yield Finding("tasks-done", {"count": counted(len(done), "task"), "tasks": joined(done, len(TASK))})


def _rendered(page: Rendered) -> Finding:
    if not page.share:
        return Finding("rendered-same", {"readable": counted(page.readable, "readable character")})
    named = [f"the {word} {joined(map(quoted, found), NAMED)}" for word, found in _named(page) if found]
    which = f", among it {' and '.join(named)}" if named else ""
    return Finding("rendered-scripts", {"share": str(page.share), "which": which})


def _named(page: Rendered) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield "heading" if len(page.headings) == 1 else "headings", page.headings
    yield "price" if len(page.prices) == 1 else "prices", page.prices

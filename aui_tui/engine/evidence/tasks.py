"""Findings of a run of the tasks: what an agent in a browser could do, and what only scripts bring to the page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aui_tui.engine.evidence.finding import Finding
from aui_tui.engine.wording import clause, counted, joined, quoted
from aui_tui.records.observations import Observations
from aui_tui.records.tasks import BLOCKED, DONE, INCONCLUSIVE, TASK, Rendered

NAMED: Final = 12
"""Headings and prices that a sentence names before it counts the rest."""


def tasks(observations: Observations) -> Iterator[Finding]:
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

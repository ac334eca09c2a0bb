"""Work beside the screen: every worker is started here, and none may end the application."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Final, ParamSpec, TypeVar

from textual.app import App
from textual.dom import DOMNode
from textual.worker import Worker

P = ParamSpec("P")
T = TypeVar("T")

READING: Final = frozenset({"list", "card", "other", "overview", "compare"})
"""Groups of the workers that bring what a screen shows."""


def start(
    node: DOMNode, group: str, job: Callable[P, Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs
) -> Worker[T]:
    """Run ``job`` for ``node``; what the same node still runs in ``group`` is cancelled first."""
    return _run(node, group, True, partial(job, *args, **kwargs))


def start_beside(
    node: DOMNode, group: str, job: Callable[P, Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs
) -> Worker[T]:
    """Run ``job`` for ``node`` beside what it runs already."""
    return _run(node, group, False, partial(job, *args, **kwargs))


def _run(node: DOMNode, group: str, exclusive: bool, call: Any) -> Worker[Any]:
    return node.run_worker(call, group=group, exclusive=exclusive, exit_on_error=False)


def reading(app: App[Any], node: DOMNode) -> bool:
    """Whether what ``node`` shows is still on its way from the source."""
    return any(worker.node is node and worker.group in READING and not worker.is_finished for worker in app.workers)

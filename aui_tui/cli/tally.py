"""Progress of a job that counts: a bar on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Told = Callable[..., None]
"""Hears how much is done, and of how much where that is known."""


@contextmanager
def counted(what: str, *, quiet: bool) -> Iterator[Told]:
    """Yield the callback that shows the progress of ``what``."""
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield lambda done, total=None: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(30), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True, highlight=False), transient=True) as progress:
        task = progress.add_task(what, total=None)

        def tell(done: int, total: int | None = None) -> None:
            progress.update(task, completed=done, total=total)

        yield tell

"""The engine measured against collections of cases that lie outside this tree: ``python -m tests.scorecard FOLDER``.

Each area is a function from the folder to rows; add one to ``AREAS`` in ``__main__``. Nothing from the folder is copied
here, and the ordinary tests hold the same rules on cases of their own.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One bar: the area, what is asked, today's figure, whether it is met, and what missed it."""

    area: str
    bar: str
    figure: str
    met: bool
    missed: tuple[str, ...] = ()


def share(area: str, bar: str, total: int, missed: list[str], at_least: int | None = None) -> Row:
    """Return the row of ``total`` cases of which ``missed`` failed; met from ``at_least`` right ones (all, if None)."""
    right = total - len(missed)
    wanted = total if at_least is None else at_least
    return Row(area, bar, f"{right} of {total}", right >= wanted and total > 0, tuple(missed))

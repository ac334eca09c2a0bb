"""What the report-card screen shows, as frozen data, and how each key changes it."""

from __future__ import annotations

from shlex import quote

import msgspec
from msgspec.structs import replace

from aui_tui.records.card import Recommendation, ReportCard
from aui_tui.records.methods import METHODS, WALLED_CEILING, grade_of
from aui_tui.records.points import percent, totals
from aui_tui.records.view import Dossier

WALL_FIXES = frozenset({"wba", "robots"})
"""The fixes that take the ceiling of a walled site away, together."""


class CardState(msgspec.Struct, frozen=True):
    """``method`` and ``at``: what was asked for, empty for the stored grading of the newest scan.

    ``chosen``: number of the chosen fix; ``done``: keys of the fixes supposed to be done. ``ledger``: pane 1 shows
    how the score came about. ``changes``: pane 3 shows what changed since ``against``, else since the scan before.
    """

    host: str
    method: str = ""
    at: str = ""
    dossier: Dossier | None = None
    pane: int = 1
    chosen: int = 0
    done: frozenset[str] = frozenset()
    ledger: bool = False
    changes: bool = False
    against: ReportCard | None = None

    def to_host(self, host: str) -> CardState:
        """Return the state for another host; panes and method stay."""
        return CardState(host, method=self.method, pane=self.pane, ledger=self.ledger, changes=self.changes)

    def with_dossier(self, dossier: Dossier) -> CardState:
        """Return the state with what was read; marks of fixes that are no longer there go."""
        fixes = dossier.card.recommendations
        known = frozenset(fix.k for fix in fixes)
        chosen = min(self.chosen, max(len(fixes) - 1, 0))
        return replace(self, dossier=dossier, chosen=chosen, done=self.done & known)

    @property
    def fixes(self) -> tuple[Recommendation, ...]:
        """The fixes of the card."""
        return self.dossier.card.recommendations if self.dossier is not None else ()

    @property
    def fix(self) -> Recommendation | None:
        """The chosen fix, None when there is none."""
        return self.fixes[self.chosen] if self.chosen < len(self.fixes) else None

    @property
    def before(self) -> ReportCard | None:
        """The card that the changes are counted from."""
        return self.against or (self.dossier.previous if self.dossier is not None else None)

    def choosing(self, number: int) -> CardState:
        """Return the state with fix ``number`` chosen, or the nearest there is."""
        return replace(self, chosen=max(0, min(number, len(self.fixes) - 1)))

    def ticked(self) -> CardState:
        """Return the state with the chosen fix supposed to be done, or no longer."""
        fix = self.fix
        return self if fix is None else replace(self, done=self.done ^ {fix.k})

    def other_method(self) -> str:
        """Return the method after the one that is shown."""
        names = tuple(METHODS)
        shown = self.dossier.card.method if self.dossier is not None else self.method
        return names[(names.index(shown) + 1) % len(names)] if shown in names else names[-1]

    def what_if(self) -> tuple[int, str] | None:
        """Return score and grade with the marked fixes done, None when none is marked."""
        return what_if(self.dossier.card, self.done) if self.dossier is not None and self.done else None

    def command(self) -> str:
        """Return the shell command that prints this card."""
        parts = ["aui-tui", "site", quote(self.host)]
        if self.method:
            parts += ["--method", self.method]
        return " ".join(parts)


def what_if(card: ReportCard, done: frozenset[str]) -> tuple[int, str]:
    """Return score and grade of ``card`` with the fixes called ``done`` made: arithmetic on their points.

    The ceiling of a walled site stays until every fix that concerns the wall is among them.
    """
    gained = sum(fix.pts for fix in card.recommendations if fix.k in done)
    earned, possible = totals(card)
    score = percent(earned + gained, possible)
    standing = {fix.k for fix in card.recommendations} & WALL_FIXES - done
    if card.stance == "Walled" and standing:
        score = min(score, WALLED_CEILING)
    return score, grade_of(score)

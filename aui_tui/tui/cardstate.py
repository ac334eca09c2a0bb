"""What the report-card screen shows, as frozen data, and how each key changes it."""

from __future__ import annotations

from shlex import quote
from typing import Final

import msgspec
from msgspec.structs import replace

from aui_tui.records.card import Recommendation, ReportCard
from aui_tui.records.methods import METHODS
from aui_tui.records.standing import Standing
from aui_tui.records.view import Dossier, HistoryPoint

CHANGES: Final = 3
"""Number of the pane that may show what changed."""


class CardState(msgspec.Struct, frozen=True):
    """``method`` and ``at``: what was asked for, empty for the stored grading of the newest scan.

    ``dossier`` is None before it is read, and of a host without a card; then ``problem`` says why. ``chosen``: number
    of the chosen fix. ``done``: keys of the fixes supposed to be done; ``reached``: where the site would stand with
    them, None while that is not known. ``history``: all kept scans, also while an earlier one is shown. ``ledger``:
    pane 1 shows how the score came about. ``changes``: pane 3 shows what changed since ``against``, else since the
    scan before.
    """

    host: str
    method: str = ""
    at: str = ""
    dossier: Dossier | None = None
    problem: str = ""
    pane: int = 1
    chosen: int = 0
    done: frozenset[str] = frozenset()
    reached: Standing | None = None
    history: tuple[HistoryPoint, ...] = ()
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
        whole = not self.at or len(dossier.history) > len(self.history)
        history = dossier.history if whole else self.history
        return replace(
            self, dossier=dossier, history=history, problem="", chosen=chosen, done=self.done & known, reached=None
        )

    def without_card(self, problem: str) -> CardState:
        """Return the state of a host that has no card to show, and why."""
        return replace(self, dossier=None, problem=problem, done=frozenset(), reached=None)

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
        return self if fix is None else replace(self, done=self.done ^ {fix.k}, reached=None)

    def other_method(self) -> str:
        """Return the method after the one that is shown."""
        names = tuple(METHODS)
        shown = self.dossier.card.method if self.dossier is not None else self.method
        return names[(names.index(shown) + 1) % len(names)] if shown in names else names[-1]

    def command(self) -> str:
        """Return the shell command that prints this card, or what changed where that is shown."""
        if self.changes and self.pane == CHANGES and self.before is not None:
            times = [self.before.scanned_at, self.at or "last"] if self.against is not None or self.at else []
            parts = ["aui-tui", "diff", quote(self.host), *times]
        else:
            parts = ["aui-tui", "site", quote(self.host), *(["--at", self.at] if self.at else [])]
        return " ".join([*parts, *(["--method", self.method] if self.method else [])])

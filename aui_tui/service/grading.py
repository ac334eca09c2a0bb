"""Grading by a service: a new scan, a kept one under another method, and all that is known of a host."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from aui_tui.errors import BadValue
from aui_tui.model.methods import REVISION
from aui_tui.model.starter import Known, starter
from aui_tui.model.vocabulary import UNCATEGORIZED

if TYPE_CHECKING:
    from aui_tui.index.store import Store
    from aui_tui.model.card import ReportCard
    from aui_tui.model.observations import Observations
    from aui_tui.model.report import HostReport


def known_as(host: str, name: str, category: str, earlier: str) -> Known:
    """Return name, category and seed of a new scan of ``host``.

    The user's words come first, then the category of an ``earlier`` scan, then the starter list.
    """
    listed = starter().get(host, Known())
    chosen = category or (earlier if earlier != UNCATEGORIZED else "")
    return Known(name or listed.name, chosen or listed.category or earlier or UNCATEGORIZED, listed.seed)


class Grading(msgspec.Struct, frozen=True):
    """How a service grades: its usual ``method``, and where the ``url`` of its cards begins.

    ``with_visits``: whether the visits in access logs stand beside the card.
    """

    method: str
    base_url: str
    with_visits: bool = True

    def under(self, card: ReportCard, observations: Observations | None, method: str) -> ReportCard:
        """Return ``card`` under ``method``, one of an earlier revision of it graded again.

        Raises BadValue when it was kept without observations for another.
        """
        current = card.ledger is not UNSET and card.ledger.revision == REVISION
        if observations is None:
            return only_under(card, method)
        return card if current and card.method == method else self.again(card, observations, method)

    def again(self, card: ReportCard, observations: Observations, method: str = "") -> ReportCard:
        """Return ``observations`` graded again under what ``card`` calls its site; without ``method`` the usual one."""
        from aui_tui.checks.scoring import Labels, grade_card

        labels = Labels(name=card.name, category=card.category, seed=card.seed, base_url=self.base_url)
        return grade_card(observations, method or self.method, labels=labels)

    def report(self, store: Store, host: str, *, method: str = "", at: str = "") -> HostReport:
        """Return what is stored of ``host``; without ``method`` under the usual one, as far as that is possible.

        Raises NeverScanned, or BadValue for a method it was not kept for.
        """
        from aui_tui.model.visits import with_log_evidence

        scan = store.get(host, at)
        applied = method or (self.method if scan.observations is not None else scan.card.method)
        card = self.under(scan.card, scan.observations, applied)
        before = store.previous(host, card.scanned_at)
        previous = None
        if before is not None:
            comparable = before.observations is not None or before.card.method == applied
            previous = self.under(before.card, before.observations, applied) if comparable else before.card
        history = tuple(point for point in store.history(host) if point.scanned_at <= card.scanned_at)
        visits = store.visits(host) if self.with_visits and not at else None
        card = card if visits is None else with_log_evidence(card, visits)
        return replace(scan, card=card, previous=previous, history=history, visits=visits)


def only_under(card: ReportCard, method: str) -> ReportCard:
    """Return ``card``, which comes without what was seen. Raises BadValue when it is graded under another method."""
    if card.method != method:
        raise BadValue(
            f"The card of {card.host} comes without what was seen, so it exists under {card.method} only."
            " Scan it again.",
            allowed=(card.method,),
        )
    return card

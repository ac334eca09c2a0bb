"""The states of the list and of the report card, as frozen data, and how each key changes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from shlex import quote
from typing import TYPE_CHECKING, Any, Final, get_args

import msgspec
from msgspec.structs import replace

from aui_tui.errors import BadValue
from aui_tui.model.methods import METHODS
from aui_tui.model.query import Query
from aui_tui.tui.columns import Mode

if TYPE_CHECKING:
    from aui_tui.model.card import Recommendation, ReportCard
    from aui_tui.model.listing import IndexView, Window
    from aui_tui.model.overview import Moves
    from aui_tui.model.points import Standing
    from aui_tui.model.report import HistoryPoint, HostReport
    from aui_tui.model.terms import Term


class ListState(msgspec.Struct, frozen=True):
    """The query, which of its lists is shown (``mode``), the marked hosts, and the last answer.

    ``total``: ranked hosts of the index without any filter, 0 while that is not known.
    ``unused``: the columns that take no room.
    """

    query: Query = msgspec.field(default_factory=Query)
    mode: Mode = "ranked"
    marks: frozenset[str] = frozenset()
    view: IndexView | None = None
    total: int = 0
    unused: frozenset[str] = frozenset()

    def answered(self, view: IndexView) -> ListState:
        """Return the state with an answer; only the whole list says which columns have nothing in them."""
        if view.counting or self.filtered:
            return replace(self, view=view)
        return replace(self, view=view, unused=view.unused, total=len(view.ranked))

    @property
    def window(self) -> Window | None:
        """The list that is shown, None before the first answer."""
        if self.view is None:
            return None
        return self.view.unreachable if self.mode == "unreachable" else self.view.ranked

    @property
    def filtered(self) -> bool:
        """Whether any filter holds rows back."""
        return bool(self.query.stance or self.query.category or self.query.terms)

    def only(self, field: str, values: Iterable[str]) -> str:
        """Return the value of ``field`` that the list is filtered by, with a key or in the query; empty for none."""
        chosen, typed = getattr(self.query, field), self.query.terms
        return chosen or next((value for value in values if typed and _term(field, value) in typed), "")

    def asking(self, **changes: Any) -> ListState:
        """Return the state with fields of its query changed."""
        return replace(self, query=replace(self.query, **changes))

    def with_line(self, text: str) -> ListState:
        """Return the state with another query line. Raises BadValue naming the term at fault."""
        return replace(self, query=self.query.with_line(text))

    def sorted_by(self, key: str) -> ListState:
        """Return the state sorted by ``key``; the same key again turns the order round.

        A surface of the matrix begins with the hosts that shut it out.
        """
        if key == self.query.sort:
            return self.turned()
        return self.asking(sort=key, descending=key.startswith("matrix."))

    def turned(self) -> ListState:
        """Return the state with its order turned round."""
        return self.asking(descending=not self.query.descending)

    def cleared(self) -> ListState | None:
        """Return the state without its search, else without its filters, else without marks; None when all are off."""
        if self.query.line:
            return self.with_line("")
        if self.query.stance or self.query.category:
            return self.asking(stance="", category="")
        return replace(self, marks=frozenset()) if self.marks else None

    def saved(self) -> dict[str, str]:
        """Return the list as it is remembered: a query line, and what differs from the usual list."""
        query = self.query
        values = {
            "query": query.line,
            "stance": query.stance,
            "category": query.category,
            "sort": query.sort if query.sort != "rank" else "",
            "order": "reverse" if query.descending else "",
            "show": self.mode if self.mode != "ranked" else "",
        }
        return {name: text for name, text in values.items() if text}

    def command(self) -> str:
        """Return the shell command that prints this list."""
        return " ".join(("aui-tui index", *query_options(self.query)))


def query_options(query: Query) -> list[str]:
    """Return the options with which ``aui-tui index`` asks ``query``."""
    values = {"category": query.category, "stance": query.stance, "query": query.line}
    options = [f"--{name} {quote(text)}" for name, text in values.items() if text]
    if query.sort != "rank" or query.descending:
        options.append(f"--sort {'-' if query.descending else ''}{quote(query.sort)}")
    return options


@cache
def _term(field: str, value: str) -> Term:
    from aui_tui.model.query_line import parse

    return parse(f'{field}:"{value}"')[0]


def list_of(view: Mapping[str, str]) -> ListState:
    """Return the state of a saved list. Raises BadValue for a filter or a column that is not valid."""
    query = Query.of(
        line=view.get("query", ""),
        stance=view.get("stance", ""),
        category=view.get("category", ""),
        sort=view.get("sort", "rank"),
        descending=view.get("order", "") == "reverse",
    )
    return ListState(query, next((mode for mode in get_args(Mode) if mode == view.get("show")), "ranked"))


def list_left(left: Mapping[str, str]) -> tuple[ListState, str]:
    """Return the list as it was left and the host under its cursor; the usual list for words of another version."""
    try:
        return list_of(left), left.get("host", "")
    except BadValue:
        return ListState(), ""


class Changes(msgspec.Struct, frozen=True):
    """What changed since a day (``2026-11-15``), for an empty one since the scan before of each host."""

    since: str
    moves: Moves


CHANGES: Final = 3
"""Number of the pane that may show what changed."""


class CardState(msgspec.Struct, frozen=True):
    """``method`` and ``at``: what was asked for, empty for the stored grading of the newest scan.

    ``report`` is None before it is read, and of a host without a card; then ``problem`` says why. ``turn``: which of
    the panes that share a place of a wide screen is there. ``chosen``: number of the chosen fix. ``done``: keys of the
    fixes supposed to be done; ``reached``: where the site would stand with them, None while that is not known.
    ``history``: all kept scans, also while an earlier one is shown. ``ledger``: the cursor of pane 1 is in how the
    score came about. ``changes``: pane 3 shows what changed since ``against``, else since the scan before.
    ``crawlers``: pane 2 lists them too. ``unfolded``: keys of folded rows that are shown one by one. ``tasks``: they
    can be tried.
    """

    host: str
    method: str = ""
    at: str = ""
    report: HostReport | None = None
    problem: str = ""
    pane: int = 1
    turn: int = 5
    chosen: int = 0
    done: frozenset[str] = frozenset()
    reached: Standing | None = None
    history: tuple[HistoryPoint, ...] = ()
    ledger: bool = False
    changes: bool = False
    against: ReportCard | None = None
    crawlers: bool = False
    tasks: bool = True
    unfolded: frozenset[str] = frozenset()

    def to_host(self, host: str) -> CardState:
        """Return the state for another host; panes and method stay."""
        state = CardState(
            host, method=self.method, pane=self.pane, turn=self.turn, ledger=self.ledger, changes=self.changes
        )
        return replace(state, tasks=self.tasks)

    def with_report(self, report: HostReport) -> CardState:
        """Return the state with ``report``; marks of fixes that the card no longer has are dropped."""
        fixes = report.card.recommendations
        keys = frozenset(fix.k for fix in fixes)
        chosen = min(self.chosen, max(len(fixes) - 1, 0))
        complete = not self.at or len(report.history) > len(self.history)
        history = report.history if complete else self.history
        return replace(
            self,
            report=report,
            history=history,
            problem="",
            chosen=chosen,
            done=self.done & keys,
            reached=None,
        )

    @property
    def fixes(self) -> tuple[Recommendation, ...]:
        """The fixes of the card, those that let assistants in first."""
        from aui_tui.model.points import by_harm

        return by_harm(self.report.card) if self.report is not None else ()

    @property
    def fix(self) -> Recommendation | None:
        """The chosen fix, None when there is none."""
        return self.fixes[self.chosen] if self.chosen < len(self.fixes) else None

    @property
    def before(self) -> ReportCard | None:
        """The card that the changes are counted from."""
        return self.against or (self.report.previous if self.report is not None else None)

    def ticked(self) -> CardState:
        """Return the state with the chosen fix supposed to be done, or no longer."""
        fix = self.fix
        return self if fix is None else replace(self, done=self.done ^ {fix.k}, reached=None)

    def other_method(self) -> str:
        """Return the method after the one that is shown."""
        names = tuple(METHODS)
        shown = self.report.card.method if self.report is not None else self.method
        return names[(names.index(shown) + 1) % len(names)] if shown in names else names[-1]

    def command(self) -> str:
        """Return the shell command that prints this card, or what changed where that is shown."""
        if self.changes and self.pane == CHANGES and self.before is not None:
            times = [self.before.scanned_at, self.at or "last"] if self.against is not None or self.at else []
            parts = ["aui-tui", "diff", quote(self.host), *times]
        else:
            parts = ["aui-tui", "site", quote(self.host), *([self.at] if self.at else [])]
        return " ".join([*parts, *(["--method", self.method] if self.method else [])])

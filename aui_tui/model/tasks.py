"""Tasks that an agent tried in a browser: the table of tasks, the transcript of a run, and what it earns. Pure.

A run is kept with what the scan saw (``Observations.tasks``). The card carries one :class:`TaskRun` per task.
Every string of a transcript has passed ``text.clean``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import MappingProxyType
from typing import Final

import msgspec

from aui_tui.model.decoding import decode
from aui_tui.model.methods import V02, round_half_up
from aui_tui.text import count

DONE, BLOCKED, ABSENT, INCONCLUSIVE, NEEDS_ACT = "done", "blocked", "absent", "inconclusive", "needs --act"
OUTCOMES: Final = (DONE, BLOCKED, ABSENT, INCONCLUSIVE, NEEDS_ACT)
STOPPED: Final = "stopped"
"""Reason of a task that a cancelled run did not end."""
LEAST: Final = 2
"""Fewer tasks than this that count leave the pillar unmeasured."""

LONGEST: Final = 2000
"""Characters kept of a text of a transcript that comes from elsewhere."""

ALLOWED, WALLED, REFUSED, CLOSED, UNKNOWN = "allowed", "walled", "blocked", "closed", ""
"""Words of ``TaskReport.door``."""


class Task(msgspec.Struct, frozen=True):
    """One task: its key on the wire, its points out of 50, and what it is called."""

    key: str
    weight: int
    label: str


TASKS: Final = (
    Task("read", 15, "Read the homepage"),
    Task("follow", 10, "Follow a link"),
    Task("search", 10, "Search"),
    Task("contact", 5, "Find a contact"),
    Task("form", 5, "Fill a form (not sent)"),
    Task("offer", 5, "Find an offer"),
)
"""The tasks in the order in which they run, but for the form, which comes last."""
TASK: Final = MappingProxyType({task.key: task for task in TASKS})
WHOLE: Final = sum(task.weight for task in TASKS)
WORDS: Final = MappingProxyType({DONE: DONE, BLOCKED: BLOCKED, ABSENT: "not offered", NEEDS_ACT: NEEDS_ACT})
"""What people read for an outcome; any other is inconclusive."""


def task_label(task: str) -> str:
    """Return what a task is called; one of another index as it is."""
    return TASK[task].label if task in TASK else task


class TaskRun(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An element of ``task_runs`` on a card.

    ``outcome`` is one of OUTCOMES. ``points`` of ``possible``; both are 0 for an outcome that does not count.
    ``steps`` is their number. ``note`` is one sentence. ``reason`` is its key, ``change`` what a developer would
    change, ``address`` where the task stopped; all three are left out where they are empty.
    """

    task: str
    outcome: str
    points: int
    possible: int
    steps: int
    elapsed_ms: int
    note: str
    reason: str = ""
    change: str = ""
    address: str = ""

    @property
    def label(self) -> str:
        """What the task is called."""
        return task_label(self.task)

    @property
    def word(self) -> str:
        """The outcome as people read it; a blocked task with points is done in part."""
        return "partly" if self.outcome == BLOCKED and self.points else WORDS.get(self.outcome, INCONCLUSIVE)

    @property
    def share(self) -> str:
        """The points such as ``5/10``, a dash where the task does not count."""
        return f"{self.points}/{self.possible}" if self.possible else "–"


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base of what a scan keeps: absent fields of a stored record read as their defaults."""


class Step(Record, frozen=True):
    """One thing that the agent did, and the element it was done to.

    ``mark``: ``done``, ``part`` or ``stuck``. ``verb``: one word in the past tense (``found``, ``typed``, ``pressed``).
    ``role`` and ``name`` are those of the accessibility tree, empty where no element was involved. ``url``: the page.
    ``outline``: lines of the accessibility tree on which the decision was made.
    """

    verb: str
    mark: str = "done"
    role: str = ""
    name: str = ""
    note: str = ""
    url: str = ""
    elapsed_ms: int = 0
    outline: tuple[str, ...] = ()


class TaskResult(Record, frozen=True):
    """How one task ended.

    ``half``: a named candidate was found and operated, so a blocked task earns half. ``reason``: key of the sentence
    in ``note``. ``change``: what a developer would change, empty when there is nothing to change. ``url``, ``role``,
    ``name`` and ``snippet`` (HTML) are those of the element at fault, as far as there is one.
    """

    task: str
    outcome: str
    note: str
    half: bool = False
    reason: str = ""
    change: str = ""
    url: str = ""
    role: str = ""
    name: str = ""
    snippet: str = ""
    steps: tuple[Step, ...] = ()
    elapsed_ms: int = 0


class TreeDifference(Record, frozen=True):
    """Links, controls and headings of the homepage that agents of one kind alone see, decoration left out.

    ``dom_only``: how many are left out of the accessibility tree, ``tree_only``: how many of the DOM, of ``total``.
    ``cause``: what hides them, such as ``aria-hidden``. ``names``: some of theirs.
    """

    total: int
    dom_only: int = 0
    tree_only: int = 0
    cause: str = ""
    names: tuple[str, ...] = ()


class TaskReport(Record, frozen=True):
    """One run of the tasks on one site, with its transcript.

    ``door``: how the browser was received: ALLOWED, WALLED (a challenge), REFUSED, CLOSED (robots.txt lets ``*`` open
    no page) or UNKNOWN. ``status``: of the homepage document, 0 when there was none. ``robots``: what robots.txt leaves
    ``*``: ``open``, ``partial``, ``blocked`` or ``unknown``. ``acted``: "add to cart" might be pressed (``--act``).
    ``stopped``: the run was cancelled before its end. ``writes``: requests that sent data after a press or an input.
    ``loading``: those, and frames of WebSockets, that pages sent by themselves while they loaded, before that.
    ``withheld``: requests that the fence ended. ``tree``: where what agents read differs by more than decoration.
    """

    ran_at: str
    origin: str
    results: tuple[TaskResult, ...] = ()
    browser: str = ""
    door: str = UNKNOWN
    status: int = 0
    robots: str = "open"
    acted: bool = False
    stopped: bool = False
    elapsed_ms: int = 0
    requests: int = 0
    bytes: int = 0
    writes: int = 0
    withheld: int = 0
    loading: int = 0
    tree: TreeDifference | None = None


class Rendered(Record, frozen=True):
    """What the homepage holds once its scripts have run, against the HTML that was sent.

    ``readable`` and ``sent``: readable characters of either. ``share``: percentage of the rendered readable text that
    only scripts bring. ``headings`` and ``prices``: those that only scripts bring, in the order of the page.
    ``text``: the beginning of the rendered text. ``tools``: names of the WebMCP tools that the page has registered;
    None where the browser cannot tell, as on plain HTTP.
    """

    readable: int = 0
    sent: int = 0
    share: int = 0
    headings: tuple[str, ...] = ()
    prices: tuple[str, ...] = ()
    text: str = ""
    tools: tuple[str, ...] | None = None


class TaskEvent(msgspec.Struct, frozen=True, kw_only=True):
    """What a run reports while it is under way.

    ``state``: ``started`` (a task begins), ``step`` (``step`` was made), ``ended`` (``result`` is known) or ``browser``
    (the browser has started; ``note`` names it). ``elapsed_ms`` counts from the beginning of the run.
    """

    state: str
    task: str = ""
    step: Step | None = None
    result: TaskResult | None = None
    note: str = ""
    elapsed_ms: int = 0
    requests: int = 0
    bytes: int = 0


TaskProgress = Callable[[TaskEvent], None]


def decode_report(data: bytes) -> TaskReport:
    """Return the run in ``data``, its texts cleaned. Raises RecordError."""
    return decode(data, TaskReport, "transcript", LONGEST)


def points_of(result: TaskResult) -> tuple[int, int]:
    """Return the points earned and possible; (0, 0) when the outcome does not count."""
    if result.outcome not in (DONE, BLOCKED):
        return 0, 0
    weight = TASK[result.task].weight
    if result.outcome == DONE:
        return weight, weight
    return (round_half_up(weight, 2) if result.half else 0), weight


def run_of(result: TaskResult) -> TaskRun:
    """Return what the card says of ``result``."""
    points, possible = points_of(result)
    return TaskRun(
        task=result.task,
        outcome=result.outcome,
        points=points,
        possible=possible,
        steps=len(result.steps),
        elapsed_ms=result.elapsed_ms,
        note=result.note,
        reason=result.reason,
        change=result.change,
        address=result.url,
    )


def runs_of(report: TaskReport | None) -> tuple[TaskRun, ...]:
    """Return the ``task_runs`` of a card; empty without a run."""
    return () if report is None else tuple(run_of(result) for result in report.results)


def pillar_points(runs: Iterable[TaskRun], maximum: int) -> tuple[int, int] | None:
    """Return the points that tasks earned and those that they measured, of the ``maximum`` of all tasks.

    None when fewer than two count, or the run was stopped before its end.
    """
    every = list(runs)
    counting = [run for run in every if run.possible > 0]
    if len(counting) < LEAST or any(run.reason == STOPPED for run in every):
        return None
    earned, measured = sum(run.points for run in counting), sum(run.possible for run in counting)
    return round_half_up(maximum * earned, WHOLE), round_half_up(maximum * measured, WHOLE)


def sent_words(report: TaskReport) -> str:
    """Return what left the browser, by the log of the fence."""
    sent = "nothing was sent" if not report.writes else f"{count(report.writes, 'request')} sent data"
    if report.loading:
        after = f"{count(report.writes, 'request')} after a press did" if report.writes else "nothing of yours was sent"
        sent = f"{count(report.loading, 'request')} of the pages' own loading sent data; {after}"
    pressed = ", “add to cart” was pressed once" if report.acted else ""
    held = f", {count(report.withheld, 'request')} held back" if report.withheld else ""
    return sent + pressed + held


def summary(report: TaskReport) -> str:
    """Return the sum in words, such as ``Works: 35 of 40 points measured, 10 not``."""
    runs = runs_of(report)
    earned, possible = sum(run.points for run in runs), sum(run.possible for run in runs)
    maximum = V02.task_pillar.maximum
    total = pillar_points(runs, maximum)
    if total is None:
        return f"{earned} of {possible} points; too few tasks count to fill Works"
    rest = f", {maximum - possible} not" if possible < maximum else ""
    return f"Works: {earned} of {possible} points measured{rest}"

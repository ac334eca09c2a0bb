"""Progress of long work on standard error: a bar, a scan's probes, a task's steps."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from aui_tui.cli import streams
from aui_tui.model import labels
from aui_tui.model.observations import ANOTHER_PAGE
from aui_tui.model.progress import PROBE_SECONDS, ProbeEvent, Progress, no_progress
from aui_tui.model.signs import sign
from aui_tui.model.tasks import Step, TaskEvent, TaskProgress, run_of
from aui_tui.text import clean

if TYPE_CHECKING:
    from rich.text import Text

COLOURS: Final = MappingProxyType({"good": "green", "critical": "red", "warn": "yellow"})
"""Rich's colours of the tones of the table of signs."""
OnProgress = Callable[..., None]
"""Called with how much is done, and of how much where that is known."""


def watched(*, quiet: bool) -> bool:
    """Return whether somebody sees what is drawn: standard error is a terminal."""
    return not quiet and sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def bar(what: str, *, quiet: bool) -> Iterator[OnProgress]:
    """Yield the callback that shows the progress of ``what`` as a bar."""
    if not watched(quiet=quiet):
        yield lambda done, total=None: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(30), MofNCompleteColumn(), TimeElapsedColumn())
    with Bars(*columns, console=Console(stderr=True, highlight=False), transient=True) as bars:
        task = bars.add_task(what, total=None)
        yield lambda done, total=None: bars.update(task, completed=done, total=total)


@contextmanager
def drawn_live(text: Callable[[], Text | str], *, quiet: bool, per_second: int = 10) -> Iterator[bool]:
    """Draw ``text`` again and again while the block runs; yield whether somebody sees it."""
    if not watched(quiet=quiet):
        yield False
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    def drawn() -> Text:
        shown = text()
        return Text(shown, no_wrap=True, overflow="crop") if isinstance(shown, str) else shown

    console = Console(stderr=True, highlight=False)
    with Live(
        get_renderable=drawn, console=console, refresh_per_second=per_second, transient=True, redirect_stdout=False
    ):
        yield True


@contextmanager
def probes(host: str, *, quiet: bool) -> Iterator[Progress]:
    """Yield the callback that reports the probes of a scan of ``host``; nothing when ``quiet``."""
    checklist = _Checklist(clean(host, 253))
    with drawn_live(checklist.text, quiet=quiet) as is_drawn:
        yield checklist.tell if is_drawn else probe_lines(host, quiet=quiet)


def probe_lines(host: str, *, quiet: bool) -> Progress:
    """Return what reports each probe of a scan of ``host`` on a line of its own; nothing when ``quiet``."""
    if quiet or sys.stderr is None:
        return no_progress
    host = clean(host, 253)

    def tell(event: ProbeEvent) -> None:
        name = labels.name(event.name)
        if event.name == "cache":
            words = "asking the site" if event.outcome == "miss" else "kept from an earlier scan; --force asks again"
            streams.say(f"{host}: {words}")
        elif event.state == "done":
            streams.say(f"{host}: {name}: {_outcome(event)}")
        elif event.state == "retrying" and not event.note.startswith("at "):
            when = f" in {event.wait:.0f} s" if event.wait >= 1 else ""
            streams.say(f"{host}: {name}: once more, alone{when}{f' ({event.note})' if event.note else ''}")
        elif event.state == "retrying" and event.name == "browser":
            streams.say(f"{host}: once more {event.note}")

    return tell


def _outcome(event: ProbeEvent) -> str:
    """Return the outcome of a finished probe, such as ``403 challenged, cloudflare 0.21 s``."""
    took = f" {labels.seconds(event.elapsed_ms)}" if event.elapsed_ms else ""
    if event.note == ANOTHER_PAGE:
        return f"{event.status} another page than the browser's{took}"
    words = " ".join(filter(None, [str(event.status or ""), event.outcome]))
    return words + (f", {event.note}" if event.note else "") + took


class _Checklist:
    """The probes of one scan in the order in which they began."""

    def __init__(self, host: str) -> None:
        self.host = host
        self.began: dict[str, float] = {}
        self.events: dict[str, ProbeEvent] = {}

    def tell(self, event: ProbeEvent) -> None:
        if event.state != "done" or event.name not in self.began:
            self.began[event.name] = time.monotonic()
        self.events[event.name] = event

    def text(self) -> Text:
        from rich.text import Text

        text = Text(f"scan  {self.host}\n", no_wrap=True, overflow="ellipsis")
        for name, event in self.events.items():
            done = sign(event.outcome)
            waited = time.monotonic() - self.began[name] - event.wait
            if event.state == "done":
                text.append(f"  {done.sign} ", COLOURS.get(done.tone, "dim"))
                shown, style = _outcome(event), ""
            else:
                text.append("  … ", "cyan")
                prefix = "once more, " if event.state == "retrying" else ""
                shown, style = f"{prefix}{waited:.1f}/{PROBE_SECONDS:.0f} s", "dim"
                if waited < 0:
                    shown = f"once more in {-waited:.0f} s: {event.note}"
            text.append(f"{labels.name(name):<14} ").append(f"{shown}\n", style)
        return text


def task_steps(host: str, *, quiet: bool) -> TaskProgress | None:
    """Return what reports each step of a run of the tasks on standard error; None when ``quiet``."""
    if quiet or sys.stderr is None:
        return None
    name = clean(host, 253)

    def tell(event: TaskEvent) -> None:
        if event.state == "browser":
            streams.say(f"{name}: {event.note}; after a press nothing but GET and HEAD leaves, and a search its word")
        elif event.state == "step" and event.step is not None:
            streams.say(f"{name}: {event.task}: {step_words(event.step)}")
        elif event.state == "ended" and event.result is not None:
            run = run_of(event.result)
            streams.say(f"{name}: {event.task}: {run.word} {run.share}: {run.note}")

    return tell


def step_words(step: Step) -> str:
    """Return a step as ``typed searchbox “Find a room”: “Pier Street”``."""
    name = f" “{step.name}”" if step.name else ""
    what = f"{step.verb}{' ' + step.role if step.role else ''}{name}"
    return f"{what}: {step.note}" if step.note else what

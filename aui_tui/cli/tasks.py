"""``tasks``: what an agent in a browser did on a site, step by step; and the progress of a run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import msgspec
import typer

from aui_tui.cli import options, streams
from aui_tui.cli.sources import opened
from aui_tui.cli.streams import Paint
from aui_tui.errors import AuiError, BadValue, ConfigError
from aui_tui.model.tasks import (
    TASK,
    Step,
    TaskEvent,
    TaskProgress,
    TaskReport,
    TaskResult,
    mark_of,
    rows,
    sent_words,
    summary,
)
from aui_tui.model.tasks import run_of as task_run
from aui_tui.service.protocol import KeepsTranscripts
from aui_tui.text import cells, clean, fit

app = typer.Typer()

SIGNS: Final = {
    "done": "✓",
    "half": "~",
    "part": "~",
    "stuck": "✗",
    "absent": "·",
    "unclear": "?",
    "act": "!",
    "waiting": "…",
}
ASCII: Final = {
    "done": "+",
    "half": "~",
    "part": "~",
    "stuck": "x",
    "absent": "-",
    "unclear": "?",
    "act": "!",
    "waiting": ".",
}
TINTS: Final = {"done": "good", "half": "warn", "part": "warn", "stuck": "bad", "unclear": "warn", "act": "warn"}
LABEL: Final = 24


class NotRun(AuiError):
    """The site was scanned, but no tasks were run on it."""

    exit_code = 3
    http_status = 404
    title = "No tasks"


def narrator(host: str, *, quiet: bool) -> TaskProgress | None:
    """Return what reports each step of a run on standard error; None when ``quiet``."""
    if quiet or sys.stderr is None:
        return None
    name = clean(host, 253)

    def tell(event: TaskEvent) -> None:
        if event.state == "browser":
            streams.say(f"{name}: {event.note}; after a press nothing but GET and HEAD leaves, and a search its word")
        elif event.state == "step" and event.step is not None:
            streams.say(f"{name}: {event.task}: {step_words(event.step)}")
        elif event.state == "ended" and event.result is not None:
            word = rows(TaskReport(ran_at="", origin="", results=(event.result,)))
            row = next(one for one in word if one.key == event.task)
            streams.say(f"{name}: {event.task}: {row.outcome} {row.points}: {row.note}")

    return tell


def step_words(step: Step) -> str:
    """Return a step as ``typed searchbox “Find a room”: “Pier Street”``."""
    name = f" “{step.name}”" if step.name else ""
    what = f"{step.verb}{' ' + step.role if step.role else ''}{name}"
    return f"{what}: {step.note}" if step.note else what


def report_lines(host: str, report: TaskReport, paint: Paint) -> Iterator[str]:
    """Yield the transcript of ``report`` as text."""
    signs = ASCII if paint.ascii else SIGNS
    yield paint.style(f"{host}: {summary(report)}", "bold")
    seconds = report.elapsed_ms / 1000
    yield f"{report.browser} at {report.ran_at}, {seconds:.0f} s, {report.requests} requests, {sent_words(report)}"
    if report.stopped:
        yield "The run was stopped before its end."
    yield ""
    for row in rows(report):
        label = row.label + " " * max(0, LABEL - cells(row.label))
        sign = paint.style(signs[row.mark], TINTS.get(row.mark, "dim"))
        first = f"{sign} {label} {row.outcome:<13}{row.points:>6}  "
        yield from paint.hanging(first, row.note) if row.note else (first.rstrip(),)
    for result in report.results:
        yield ""
        yield from _result_lines(result, signs, paint)


def _result_lines(result: TaskResult, signs: dict[str, str], paint: Paint) -> Iterator[str]:
    yield paint.style(TASK[result.task].label, "bold")
    if not result.steps:
        yield f"  {signs[mark_of(task_run(result))]} {result.note}"
    for number, step in enumerate(result.steps, start=1):
        mark = paint.style(signs[step.mark], TINTS.get(step.mark, "dim"))
        yield f"  {number:>2} {mark} {fit(step_words(step), 100).rstrip()}"
        if step.mark != "done":
            yield from (paint.style(f"         {line}", "dim") for line in step.outline)
    if result.change:
        yield from paint.hanging("  To change: ", result.change, style="key")
    if result.snippet and result.change:
        yield f"  {result.snippet}  on {result.url}"


@app.command("tasks", epilog="Example: aui-tui tasks example.com --write transcript")
def tasks(
    context: typer.Context,
    host: options.Host,
    write: Annotated[
        str, typer.Option("--write", metavar="DIR", help="Write the transcript and one picture per task into DIR.")
    ] = "",
    as_json: options.Json = False,
) -> None:
    """Show the kept transcript of a run of the tasks (scan HOST --tasks): each step, and what to change."""
    run = options.run_of(context)
    if "\0" in write:
        raise BadValue("--write must be the path of a folder.")

    async def work() -> tuple[TaskReport, dict[str, bytes]]:
        async with opened(run) as service:
            report = await service.transcript(host) if isinstance(service, KeepsTranscripts) else None
            if report is None:
                how = f"{streams.NAME} scan {clean(host, 253)} --tasks"
                raise NotRun(f"No tasks were run on {clean(host, 253)}, or no transcript is kept. To run them: {how}")
            pictures = getattr(service, "pictures", None)
            return report, await pictures(host) if write and pictures is not None else {}

    report, images = run.wait(work())
    name = clean(host, 253)
    if write:
        _write(Path(write).expanduser(), name, report, images)
    elif as_json:
        streams.write(msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n")
    else:
        for line in report_lines(name, report, Paint.for_output()):
            streams.write_line(line)


def _write(folder: Path, host: str, report: TaskReport, images: dict[str, bytes]) -> None:
    """Write the transcript as text and JSON, and the pictures. Raises ConfigError."""
    plain = Paint(colour=False, ascii=False, width=100)
    text = "\n".join(report_lines(host, report, plain)) + "\n"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "transcript.txt").write_text(text, encoding="utf-8")
        (folder / "transcript.json").write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=2))
        for task, image in images.items():
            (folder / f"{task}.png").write_bytes(image)
    except OSError as error:
        raise ConfigError(f"--write: {clean(str(folder), 200)} cannot be written: {error.strerror or error}.") from None
    pictures = f"{len(images)} picture{'' if len(images) == 1 else 's'}"
    streams.say(f"Wrote transcript.txt, transcript.json and {pictures} to {clean(str(folder), 200)}.")

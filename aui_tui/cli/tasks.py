"""``tasks``: what an agent in a browser did on a site, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import msgspec
import typer

from aui_tui.cli import options, streams
from aui_tui.cli.parser import App, run_for
from aui_tui.cli.progress import step_words
from aui_tui.cli.sources import opened
from aui_tui.cli.terminal import Paint
from aui_tui.errors import BadValue, NoTasks
from aui_tui.files import create, user_path
from aui_tui.model.signs import sign
from aui_tui.model.tasks import TaskReport, TaskResult, run_of, runs_of, sent_words, summary, task_label
from aui_tui.text import clean, count, fit

app = App()


def report_lines(host: str, report: TaskReport, paint: Paint) -> Iterator[str]:
    """Yield the transcript of ``report`` as text."""
    yield paint.heading(paint.plain(f"{host}: {summary(report)}"))
    seconds = report.elapsed_ms / 1000
    yield f"{report.browser} at {report.ran_at}, {seconds:.0f} s, {report.requests} requests, {sent_words(report)}"
    if report.stopped:
        yield "The run was stopped before its end."
    yield ""
    for run in runs_of(report):
        first = f"{_sign(run.word, paint)} {fit(run.label, 24)} {run.word:<13}{run.share:>6}  "
        yield from paint.hanging(first, run.note) if run.note else (first.rstrip(),)
    for result in report.results:
        yield ""
        yield from _result_lines(result, paint)


def report_sentences(host: str, report: TaskReport) -> Iterator[str]:
    """Yield the transcript of ``report`` as plain sentences: no signs, no columns."""
    yield f"{host}: {summary(report).replace('→', '->')}. {report.requests} requests, {sent_words(report)}."
    if report.stopped:
        yield "The run was stopped before its end."
    for run in runs_of(report):
        points = f", {run.share} points" if run.possible else ""
        yield f"{run.label}: {run.word}{points}. {run.note}".rstrip()
    for result in report.results:
        label = task_label(result.task)
        for number, step in enumerate(result.steps, start=1):
            yield f"{label}, step {number}, {step.mark}: {step_words(step)}."
        if result.change:
            yield f"{label}, to change: {result.change}"


def _sign(word: str, paint: Paint) -> str:
    return paint.style(paint.glyph(word), sign(word).tone)


def _result_lines(result: TaskResult, paint: Paint) -> Iterator[str]:
    yield paint.heading(task_label(result.task))
    if not result.steps:
        yield f"  {_sign(run_of(result).word, paint)} {result.note}"
    for number, step in enumerate(result.steps, start=1):
        yield f"  {number:>2} {_sign(step.mark, paint)} {fit(step_words(step), 100).rstrip()}"
        if step.mark != "done":
            yield from (paint.style(f"         {line}", "dim") for line in step.outline)
    if result.change:
        yield from paint.hanging("  To change: ", result.change, style="accent")
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
    run = run_for(context)
    if "\0" in write:
        raise BadValue("--write must be the path of a folder.")
    name = clean(host, 253)

    async def work() -> tuple[TaskReport, dict[str, bytes]]:
        async with opened(run) as service:
            report = await service.transcript(host)
            if report is None:
                raise NoTasks(name)
            return report, await service.pictures(host) if write else {}

    report, images = run.wait(work())
    record = msgspec.json.format(msgspec.json.encode(report), indent=2)
    if write:
        text = "\n".join(report_lines(name, report, Paint(width=100))) + "\n"
        files = {"transcript.txt": text.encode(), "transcript.json": record}
        for file, data in (files | {f"{task}.png": image for task, image in images.items()}).items():
            create(user_path(write) / file, [data], force=True)
        pictures = count(len(images), "picture")
        streams.say(f"Wrote transcript.txt, transcript.json and {pictures} to {clean(write, 200)}.")
    elif as_json:
        streams.write_line(record)
    else:
        paint = Paint.for_output(ascii_only=run.settings.ascii)
        for line in report_sentences(name, report) if run.settings.text else report_lines(name, report, paint):
            streams.write_line(paint.plain(line))

"""``demo``: a small web on this machine, scanned for real, in the dashboard or as the index record."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from aui_tui.cli import streams
from aui_tui.cli.index import json_parts
from aui_tui.cli.parser import App, run_for
from aui_tui.cli.progress import task_steps
from aui_tui.cli.run import Run
from aui_tui.cli.sources import only_local
from aui_tui.errors import ConfigError
from aui_tui.model import labels
from aui_tui.model.card import ReportCard
from aui_tui.model.query import Query
from aui_tui.model.tasks import TaskEvent

app = App()


@app.command("demo", epilog="Example: aui-tui demo")
def demo(
    context: typer.Context,
    headless: Annotated[
        bool, typer.Option("--headless", help="Print the index as JSON instead of opening the dashboard.")
    ] = False,
    tasks: Annotated[
        bool, typer.Option("--tasks", help="Serve four shops too and try the tasks on them, about a minute.")
    ] = False,
) -> int:
    """Serve a small web on this machine, scan it for real, and open the dashboard on it.

    Nothing outside this machine is contacted, and nothing is kept: the cards lie in a temporary folder.
    """
    run = run_for(context)
    only_local(run, "The demo")
    if not headless and not streams.interactive():
        raise ConfigError(f"{streams.NO_SCREEN}; use `aui-tui demo --headless`.")
    return play(run, headless=headless, tasks=tasks)


def play(run: Run, *, headless: bool = False, tasks: bool = False) -> int:
    """Serve the small web and open the dashboard on it, or print the index when ``headless``; return the exit code."""
    from aui_tui.demo.web import DemoWeb, fill, rounds, service_of, shops, sites, try_tasks

    settings = run.settings
    if tasks:
        from aui_tui.service.tasks import TaskRuns

        TaskRuns.require_browser()
    with (
        tempfile.TemporaryDirectory(prefix="aui-tui-demo-") as name,
        DemoWeb((*sites(), *shops()) if tasks else sites()) as web,
    ):
        service = service_of(web, Path(name), base_url=settings.base_url, method=settings.method)

        async def scans(on_card: Callable[[ReportCard], None], *, told: bool = False) -> None:
            await fill(service, web, on_card)
            if tasks:
                await try_tasks(service, web, _say_step if told else _say_nothing)

        async def print_index() -> None:
            try:
                await scans(_say_nothing if run.quiet else _say_score, told=not run.quiet)
                for part in json_parts(await service.index(Query())):
                    streams.write(part)
                streams.flush()
            finally:
                await service.aclose()

        if headless:
            run.wait(print_index())
            return 0
        from aui_tui.cli.dashboard import open_on
        from aui_tui.service.protocol import Feed

        return open_on(
            run, service, query=Query.of(sort="rank", descending=True), feed=Feed("demo", rounds(web), scans)
        )


def _say_nothing(*_: object) -> None:
    """Take in what is shown elsewhere."""


def _say_step(host: str, event: TaskEvent) -> None:
    if tell := task_steps(host, quiet=False):
        tell(event)


def _say_score(card: ReportCard) -> None:
    score = "unreachable" if card.unreachable else f"{card.score}, {labels.grade(card.grade)}, {card.stance}"
    streams.say(f"{card.host}: {score}")

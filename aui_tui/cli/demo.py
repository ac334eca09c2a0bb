"""``demo``: a small web on this machine, scanned for real, in the dashboard or as the index record."""

from __future__ import annotations

from typing import Annotated

import typer

from aui_tui.cli import streams
from aui_tui.cli.parser import App, run_for
from aui_tui.cli.progress import task_steps
from aui_tui.cli.sources import only_local
from aui_tui.cli.terminal import no_screen
from aui_tui.errors import ConfigError
from aui_tui.model import labels
from aui_tui.model.card import ReportCard
from aui_tui.model.codec import encode_index
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
    if not headless and (why := no_screen()):
        raise ConfigError(f"{why}; use `aui-tui demo --headless`.")
    if tasks:
        from aui_tui.service.tasks import TaskRuns

        TaskRuns.require_browser()
    if not headless:
        from aui_tui.cli.open_dashboard import show_demo

        return show_demo(run, tasks=tasks)
    from aui_tui.demo.web import fill, small_web

    async def print_index() -> None:
        try:
            callbacks = (lambda card: None, None) if run.quiet else (_say_score, _say_step)
            await fill(service, web, *callbacks)
            for part in encode_index(await service.index(Query())):
                streams.write(part)
            streams.flush()
        finally:
            await service.aclose()

    with small_web(tasks=tasks, base_url=run.settings.base_url, method=run.settings.method) as (service, web):
        run.wait(print_index())
    return 0


def _say_step(host: str, event: TaskEvent) -> None:
    if tell := task_steps(host, quiet=False):
        tell(event)


def _say_score(card: ReportCard) -> None:
    streams.say(f"{card.host}: {labels.result(card)}")

"""Commands that keep the index of this machine sound: ``import``, ``doctor``, ``backup``, ``forget`` and others."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from aui_tui.cli import complete, streams, words
from aui_tui.cli.cardfiles import STDIN, read_bytes
from aui_tui.cli.options import Config, DataDir, Debug, Quiet, Source, example, run_of
from aui_tui.cli.output import Report, report
from aui_tui.cli.run import Run, fail
from aui_tui.cli.services import local, local_of, only_local
from aui_tui.errors import AuiError, ConfigError
from aui_tui.gates import worst
from aui_tui.records.vocabulary import choose
from aui_tui.service.importer import take
from aui_tui.store.folder import damaged
from aui_tui.store.reports import Reports
from aui_tui.text import clean
from aui_tui.validate import validate as validated

app = typer.Typer()


OnProgress = Callable[..., None]
"""Hears how much is done, and of how much where that is known."""


@contextmanager
def counted(what: str, *, quiet: bool) -> Iterator[OnProgress]:
    """Yield the callback that shows the progress of ``what``."""
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield lambda done, total=None: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(30), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True, highlight=False), transient=True) as progress:
        task = progress.add_task(what, total=None)

        def tell(done: int, total: int | None = None) -> None:
            progress.update(task, completed=done, total=total)

        yield tell


INVALID = 1
"""Exit code when a record breaks the specification."""


@app.command("validate", epilog=example("aui-tui scan example.com --json | aui-tui validate -"))
def validate(
    context: typer.Context,
    file: Annotated[list[str], typer.Argument(metavar="FILE...", help="JSON or NDJSON; - reads stdin.")],
    kind: Annotated[
        str, typer.Option("--as", metavar="card|index|summary", help="What it must be; default: by its fields.")
    ] = "",
    as_json: Report = False,
    data_dir: DataDir = None,
    source: Source = None,
    config_file: Config = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> int:
    """Check records against the schema and say where and why they break it. Exit code 1 when one does."""
    run_of(context)
    code = 0
    for name in file:
        verdict = validated(read_bytes(name), kind)
        shown = clean(name, 200)
        if not verdict.valid:
            code = INVALID
        problems = [{"path": problem.path, "why": problem.why} for problem in verdict.problems]
        found = {"file": shown, "valid": verdict.valid, "kind": verdict.kind, "records": verdict.records}
        said = verdict.problems or (f"valid, {verdict.records:,} {verdict.kind}",)
        report(as_json, found | {"problems": problems}, (f"{shown}: {sentence}" for sentence in said))
    return code


BROKEN = 1
"""Exit code when a record was passed over."""


def _opened(name: str, stack: ExitStack) -> BinaryIO:
    if name == STDIN:
        return streams.source()
    try:
        return stack.enter_context(Path(name).expanduser().open("rb"))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"Cannot read {clean(name, 200)}: {clean(reason, 200)}.") from None


@app.command("import", epilog=example("curl -s https://index.example/api/index.json | aui-tui import -"))
def take_in(
    context: typer.Context,
    file: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="Cards, rows or indexes, JSON or NDJSON; - reads stdin.")
    ],
    as_json: Report = False,
    data_dir: DataDir = None,
    source: Source = None,
    config_file: Config = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> int:
    """Take records from files into the index; a row never replaces a card, an older scan goes to the history."""
    run = run_of(context)
    only_local(run, "An import")
    code = 0
    with ExitStack() as stack:
        sources = [(name, _opened(name, stack)) for name in file]
        service = local_of(run)
        try:
            for name, stream in sources:
                with counted("Reading records", quiet=run.quiet) as progress:
                    done = take(stream, service.reports, progress=progress)
                shown = clean(name, 200)
                for problem in done.problems:
                    streams.say(f"{shown}: {clean(problem, 300)}")
                    code = BROKEN
                problems = [clean(problem, 300) for problem in done.problems]
                found = {"file": shown, "read": done.read, "new": done.new, "problems": problems}
                report(as_json, found, [f"{shown}: {words.count(done.read, 'record')} read, {done.new:,} new or newer"])
        finally:
            run.wait(service.aclose())
    return code


@app.command("backup", epilog=example("aui-tui backup index-2026-11-20.db"))
def backup(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The copy; it can be used as index.db.")],
    force: Annotated[bool, typer.Option("--force", help="Replace FILE when it is there.")] = False,
    as_json: Report = False,
    data_dir: DataDir = None,
    source: Source = None,
    config_file: Config = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Copy the index to a file, also while scans and crawls go on."""
    run = run_of(context)
    only_local(run, "A backup")
    from aui_tui.store.backup import backup as copied

    service = local_of(run)
    try:
        with counted("Copying", quiet=run.quiet) as progress:
            size = copied(service.reports, Path(file).expanduser(), overwrite=force, progress=progress)
        if as_json:
            report(as_json, {"file": clean(file, 4096), "bytes": size}, ())
        else:
            streams.say(f"wrote {clean(file, 200)}, {size / 1e6:.1f} MB")
    finally:
        run.wait(service.aclose())


UNSOUND = 1
"""Exit code when something is wrong and was not repaired."""


@app.command("doctor", epilog=example("aui-tui doctor --repair"))
def doctor(
    context: typer.Context,
    repair: Annotated[bool, typer.Option("--repair", help="Remove what cannot be read, rebuild the rest.")] = False,
    salvage: Annotated[
        bool, typer.Option("--salvage", help="Bring back what damaged files that were set aside still hold.")
    ] = False,
    as_json: Report = False,
    data_dir: DataDir = None,
    source: Source = None,
    config_file: Config = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> int:
    """Check every kept card of this machine's index; exit code 1 when something is wrong."""
    run = run_of(context)
    only_local(run, "The doctor")
    service = local_of(run)
    try:
        if salvage:
            _salvage(run, service.reports)
        if repair:
            _repair(run, service.reports)
        return _examine(run, service.reports, as_json=as_json)
    finally:
        run.wait(service.aclose())


def _examine(run: Run, reports: Reports, *, as_json: bool) -> int:
    from aui_tui.store.upkeep import examine

    with counted("Reading every card", quiet=run.quiet) as progress:
        health = examine(reports, progress=progress)
    lines = [
        f"index     {reports.path}",
        f"size      {health.bytes / 1e6:.1f} MB",
        f"hosts     {health.hosts:,}",
        f"scans     {health.scans:,}",
        *(f"set aside {path} (--salvage brings back what it holds)" for path in damaged(reports.path.parent)),
        *(f"problem   {clean(problem, 300)}" for problem in health.problems),
        "sound" if not health.problems else "not sound; --repair repairs it",
    ]
    found = {
        "index": str(reports.path),
        "bytes": health.bytes,
        "hosts": health.hosts,
        "scans": health.scans,
        "set_aside": [str(path) for path in damaged(reports.path.parent)],
        "problems": [clean(problem, 300) for problem in health.problems],
        "sound": not health.problems,
    }
    report(as_json, found, lines)
    return UNSOUND if health.problems else 0


def _repair(run: Run, reports: Reports) -> None:
    from aui_tui.store.upkeep import repair

    with counted("Repairing", quiet=run.quiet) as progress:
        done = repair(reports, progress=progress)
    streams.say(
        f"repaired: removed {words.count(done.scans_removed, 'scan')} and {words.count(done.hosts_removed, 'host')}, "
        f"and what was seen in {words.count(done.observations_removed, 'scan')}"
    )


def _salvage(run: Run, reports: Reports) -> None:
    from aui_tui.store.backup import salvage

    for path in damaged(reports.path.parent):
        with counted("Salvaging", quiet=run.quiet) as progress:
            done = salvage(path, reports, progress=progress)
        streams.say(f"salvaged from {path.name}: {words.count(done.kept, 'scan')} kept, {done.lost:,} lost")


@app.command("forget", epilog=example("aui-tui forget example.com"))
def forget(
    context: typer.Context,
    host: Annotated[
        list[str], typer.Argument(metavar="HOST...", help="Hosts that were scanned.", autocompletion=complete.hosts)
    ],
    as_json: Report = False,
    data_dir: DataDir = None,
    source: Source = None,
    config_file: Config = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> int:
    """Remove hosts from the index, with every kept scan."""
    run = run_of(context)
    only_local(run, "Forgetting")
    codes: list[int] = []

    async def work() -> None:
        async with local(run) as service:
            for name in host:
                try:
                    removed = await service.forget(name)
                except AuiError as error:
                    codes.append(fail(error))
                    continue
                shown = clean(name, 253)
                line = f"{shown}: {words.count(removed, 'scan')} removed"
                report(as_json, {"host": shown, "removed": removed}, [line])

    run.wait(work())
    return worst(codes)


ACTIONS = ("show", "clear")


@app.command("cache", epilog=example("aui-tui cache clear"))
def cache(
    context: typer.Context,
    action: Annotated[str, typer.Argument(metavar="show|clear", help="What to do.")] = "show",
    as_json: Report = False,
    data_dir: DataDir = None,
    source: Source = None,
    config_file: Config = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Show or clear the answers of the last 24 hours; no report card is lost."""
    run = run_of(context)
    only_local(run, "The cache")
    chosen = choose("action", action, ACTIONS)

    async def work() -> None:
        async with local(run) as service:
            if chosen == "clear":
                removed = service.cache.clear()
                report(as_json, {"removed": removed}, [f"{words.count(removed, 'answer')} removed"])
            else:
                held = len(service.cache)
                report(as_json, {"answers": held}, [words.count(held, "answer")])

    run.wait(work())

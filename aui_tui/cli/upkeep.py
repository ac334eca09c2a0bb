"""Commands on what this machine keeps: ``import``, ``doctor``, ``backup``, ``forget``, ``cache``, ``key`` and more."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Annotated

import typer

from aui_tui.cli import complete, options, streams
from aui_tui.cli.output import report
from aui_tui.cli.parser import App, run_for
from aui_tui.cli.progress import bar
from aui_tui.cli.run import Run, fail
from aui_tui.cli.sources import local, local_of, only_local, read_bytes, reading
from aui_tui.errors import AuiError, RecordError
from aui_tui.files import user_path
from aui_tui.index.folder import damaged
from aui_tui.index.store import Store
from aui_tui.model.vocabulary import choose
from aui_tui.report.gates import worst
from aui_tui.service.importer import WHOLE, read, take_records
from aui_tui.text import clean, count
from aui_tui.validate import validate as validated

app = App()


@contextmanager
def _opened_index(run: Run) -> Iterator[Store]:
    """Open the index of this machine while the block runs. Raises ConfigError, Unavailable."""
    service = local_of(run)
    try:
        yield service.store
    finally:
        run.wait(service.aclose())


WRONG = 1
TAKEN = "Cards, rows and indexes are taken, as JSON or one record a line."
"""Exit code when a record breaks its schema or was passed over, or a kept card is damaged."""


@app.command("validate", epilog="Example: aui-tui scan example.com --json | aui-tui validate -")
def validate(
    context: typer.Context,
    file: Annotated[list[str], typer.Argument(metavar="FILE...", help="JSON or NDJSON; - reads stdin.")],
    as_json: options.Json = False,
) -> int:
    """Check records against the schema and say where and why they break it. Exit code 1 when one does."""
    run_for(context)
    code = 0
    for name in file:
        verdict = validated(read_bytes(name))
        shown = clean(name, 200)
        if not verdict.valid:
            code = WRONG
        problems = [{"path": problem.path, "why": problem.why} for problem in verdict.problems]
        record = {"file": shown, "valid": verdict.valid, "kind": verdict.kind, "records": verdict.records}
        sentences = verdict.problems or (f"valid, {verdict.records:,} {verdict.kind}",)
        report(as_json, record | {"problems": problems}, (f"{shown}: {sentence}" for sentence in sentences))
    return code


@app.command("import", epilog="Example: curl -s https://index.example/api/index.json | aui-tui import -")
def import_records(
    context: typer.Context,
    file: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="Cards, rows or indexes, JSON or NDJSON; - reads stdin.")
    ],
    as_json: options.Json = False,
) -> int:
    """Import records from files into the index; a row never replaces a card, an older scan goes to the history."""
    run = run_for(context)
    only_local(run, "An import")
    code = 0
    with ExitStack() as stack:
        sources = [(name, stack.enter_context(reading(name))) for name in file]
        store = stack.enter_context(_opened_index(run))
        for name, stream in sources:
            with bar("Reading records", quiet=run.quiet) as progress:
                done = take_records(read(stream), store, progress=progress)
            shown = clean(name, 200)
            if not done.read and done.problems and done.problems[0].startswith(f"{WHOLE}: "):
                why = clean(done.problems[0].removeprefix(f"{WHOLE}: "), 300)
                code = worst((code, fail(RecordError(f"{shown}: {why} {TAKEN}"))))
                continue
            for problem in done.problems:
                streams.say(f"{shown}: {clean(problem, 300)}")
                code = worst((code, WRONG))
            problems = [clean(problem, 300) for problem in done.problems]
            record = {"file": shown, "read": done.read, "new": done.new, "problems": problems}
            report(as_json, record, [f"{shown}: {count(done.read, 'record')} read, {done.new:,} new or newer"])
    return code


@app.command("backup", epilog="Example: aui-tui backup index-2026-11-20.db")
def backup(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The copy; it can be used as index.db.")],
    replace: options.Replace = False,
    as_json: options.Json = False,
) -> None:
    """Copy the index to a file, also while scans and crawls go on."""
    run = run_for(context)
    only_local(run, "A backup")
    from aui_tui.index.upkeep import backup as copied

    with _opened_index(run) as store:
        with bar("Copying", quiet=run.quiet) as progress:
            size = copied(store, user_path(file), overwrite=replace, progress=progress)
        if as_json:
            report(as_json, {"file": clean(file, 4096), "bytes": size}, ())
        else:
            streams.say(f"wrote {clean(file, 200)}, {size / 1e6:.1f} MB")


@app.command("doctor", epilog="Example: aui-tui doctor")
def doctor(context: typer.Context, as_json: options.Json = False) -> int:
    """Check every kept card of this machine's index; exit code 1 when something is wrong."""
    run = run_for(context)
    only_local(run, "The doctor")
    from aui_tui.index.upkeep import examine

    with _opened_index(run) as store, bar("Reading every card", quiet=run.quiet) as progress:
        health = examine(store, progress=progress)
    aside = [str(path) for path in damaged(store.path.parent)]
    problems = [clean(problem, 300) for problem in health.problems]
    lines = [
        f"index     {store.path}",
        f"size      {health.bytes / 1e6:.1f} MB",
        f"hosts     {health.hosts:,}",
        f"scans     {health.scans:,}",
        *(f"set aside {path}" for path in aside),
        *(f"problem   {problem}" for problem in problems),
        "sound" if not problems else "damaged; put a backup in the place of index.db, or scan the hosts again",
    ]
    record = {"index": str(store.path), "bytes": health.bytes, "hosts": health.hosts, "scans": health.scans}
    report(as_json, record | {"set_aside": aside, "problems": problems, "sound": not problems}, lines)
    return WRONG if problems else 0


@app.command("forget", epilog="Example: aui-tui forget example.com")
def forget(
    context: typer.Context,
    host: Annotated[
        list[str], typer.Argument(metavar="HOST...", help="Hosts that were scanned.", autocompletion=complete.hosts)
    ],
    as_json: options.Json = False,
) -> int:
    """Remove hosts from the index, with every kept scan."""
    run = run_for(context)
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
                line = f"{shown}: {count(removed, 'scan')} removed"
                report(as_json, {"host": shown, "removed": removed}, [line])

    run.wait(work())
    return worst(codes)


@app.command("cache", epilog="Example: aui-tui cache clear")
def cache(
    context: typer.Context,
    action: Annotated[
        str, typer.Argument(metavar="show|clear", help="What to do.", autocompletion=complete.of(ACTIONS))
    ] = "show",
    as_json: options.Json = False,
) -> None:
    """Show or clear the answers of the last 24 hours; no report card is lost."""
    run = run_for(context)
    only_local(run, "The cache")
    chosen = choose("action", action, ACTIONS)

    async def work() -> None:
        async with local(run) as service:
            if chosen == "clear":
                removed = service.recent_scans.clear()
                report(as_json, {"removed": removed}, [f"{count(removed, 'answer')} removed"])
            else:
                held = len(service.recent_scans)
                report(as_json, {"answers": held}, [count(held, "answer")])

    run.wait(work())


ACTIONS = ("show", "clear")
KEY_ACTIONS = ("new", "show", "directory")


@app.command("key", epilog="Example: aui-tui key new")
def key(
    context: typer.Context,
    action: Annotated[
        str, typer.Argument(metavar="new|show|directory", help="What to do.", autocompletion=complete.of(KEY_ACTIONS))
    ],
    replace: options.Replace = False,
) -> None:
    """Make or show the key that signs probes of your own sites: the setting sign.

    new makes an Ed25519 key in the data folder; show prints its public part and its thumbprint, the keyid of
    signatures; directory prints the JSON to publish at /.well-known/http-message-signatures-directory, which serve
    publishes by itself. The private part is never printed.
    """
    run = run_for(context)
    chosen = choose("action", action, KEY_ACTIONS)
    from aui_tui.scan import signing

    folder = run.settings.data_dir
    if chosen == "new":
        made = signing.new_key(folder, replace=replace)
        streams.say(f"Made a key in {folder / signing.NAME}; only you can read it.")
        streams.write_line(made.thumbprint)
        return
    signing_key = signing.read_key(folder)
    if chosen == "show":
        streams.write_line(json.dumps(signing_key.public, indent=2))
    else:
        streams.write_line(signing.directory(signing_key))

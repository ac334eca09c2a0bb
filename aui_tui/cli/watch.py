"""``watch``: scan again on a key, on an interval, or when files change, and show what changed."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Final

import typer

from aui_tui.cli import options, streams
from aui_tui.cli.cardview import section_lines
from aui_tui.cli.options import seconds_of
from aui_tui.cli.output import keys_of
from aui_tui.cli.parser import App, run_for
from aui_tui.cli.run import fail
from aui_tui.cli.scan import scan_one
from aui_tui.cli.site_options import policy_of
from aui_tui.cli.sources import opened
from aui_tui.cli.terminal import Paint
from aui_tui.errors import AuiError, BadValue, ConfigError
from aui_tui.files import user_path
from aui_tui.model import labels
from aui_tui.model.card import ReportCard
from aui_tui.model.codec import encode_card
from aui_tui.model.options import ScanOptions
from aui_tui.model.vocabulary import UNITS
from aui_tui.report.diff import diff
from aui_tui.service.protocol import Service
from aui_tui.text import clean

app = App()


TICK: Final = 0.25
"""Seconds between looks at the keys and the files."""
LOOK: Final = 1.0
"""Seconds between looks at the files at least."""
QUIT_KEYS: Final = "qQ"


@contextmanager
def reading_keys(pressed: list[str]) -> Iterator[bool]:
    """Read single keys from the terminal into ``pressed`` while the block runs; yield whether that is possible."""
    try:
        import termios
        import tty
    except ImportError:
        yield False
        return
    try:
        descriptor = sys.stdin.fileno()
        before = termios.tcgetattr(descriptor)
    except (AttributeError, OSError, ValueError, termios.error):
        yield False
        return
    loop = asyncio.get_running_loop()
    tty.setcbreak(descriptor)
    loop.add_reader(descriptor, lambda: pressed.extend(os.read(descriptor, 64).decode("ascii", "ignore")))
    try:
        yield True
    finally:
        loop.remove_reader(descriptor)
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


@app.command("watch", epilog="Example: aui-tui watch localhost:8000 --path public/")
def watch(
    context: typer.Context,
    url: Annotated[str, typer.Argument(metavar="URL", help="Host name or http(s) address.")],
    every: Annotated[str, typer.Option("--every", metavar="TIME", help="Scan at this interval, such as 6m.")] = "",
    folder: Annotated[str, typer.Option("--path", metavar="DIR", help="Scan when files under it change.")] = "",
    method: options.Method = "",
    allow_private: options.AllowPrivate = False,
    connect_to: options.ConnectTo = None,
    as_json: options.Json = False,
) -> int:
    """Scan a site again and again, and show what changed. Any key scans at once; q quits.

    Each scan costs one of the ten an hour; those of a host of this machine cost none.
    """
    run = run_for(context)
    access = policy_of(run, allow_private=allow_private, connect_to=connect_to)
    scan_options = ScanOptions(force=True, method=method)
    paint = Paint.for_output(ascii_only=run.settings.ascii)
    seconds = interval(every) if every else 0.0
    path = user_path(folder) if folder else None
    before = snapshot(path) if path else {}

    async def work(before: Snapshot) -> int:
        keys: list[str] = []
        card: ReportCard | None = None
        why, code = "first scan", 0
        async with opened(run, access) as service:
            if every:
                await _check_quota(service, url, seconds)
            with reading_keys(keys) as able:
                if not (able or every or path):
                    raise BadValue("Without a terminal, watch needs --every or --path to know when to scan.")
                while why:
                    began = time.monotonic()
                    try:
                        new_card = (await scan_one(run, service, url, scan_options)).card
                    except AuiError as error:
                        if card is None:
                            raise
                        code = fail(error)
                    else:
                        record = [encode_card(new_card, keys_of(run)).decode()]
                        for line in record if as_json else lines(why, card, new_card, paint):
                            streams.write_line(line)
                        streams.flush()
                        card, code = new_card, 3 if new_card.unreachable else 0
                    why, before = await reason(keys, began, seconds, path, before)
        return code

    return run.wait(work(before))


async def _check_quota(service: Service, url: str, seconds: float) -> None:
    """Raise BadValue when a scan every ``seconds`` is more than the service allows in an hour, and InvalidHost."""
    quota = await service.quota()
    problem = too_often(seconds, quota.limit) if quota else ""
    if problem and not await service.owns(url):
        raise BadValue(problem)


async def reason(
    keys: list[str], began: float, every: float, path: Path | None, before: Snapshot
) -> tuple[str, Snapshot]:
    """Wait for a key, a change of the files under ``path``, or ``every`` seconds; return why to scan, and the files.

    ``began``: when the last scan did. ``every``: 0 for no interval. ``before``: the files as they were then.

    The reason is empty for a key that quits. Files count as changed once two looks at them are alike.
    """
    latest, looked = before, time.monotonic()
    while True:
        await asyncio.sleep(TICK)
        pressed = [keys.pop() for _ in range(len(keys))]
        if pressed:
            return "" if any(key in QUIT_KEYS for key in pressed) else "asked for", before
        now = time.monotonic()
        if path and now - looked >= LOOK:
            files, looked = await asyncio.to_thread(snapshot, path), now
            if files == latest and files != before:
                return f"{describe(changed(before, files))} changed", files
            latest = files
        if every and now - began >= every:
            return f"every {words(every)}", before


def lines(why: str, before: ReportCard | None, card: ReportCard, paint: Paint) -> Iterator[str]:
    """Yield what a scan found: the first one its result, a later one what changed."""
    yield f"{time.strftime('%H:%M:%S')}  {why}"
    if before is None:
        yield f"{card.host}: {labels.result(card)}"
        yield card.top_evidence
    else:
        for part in diff(before, card).sections(times=False):
            yield from section_lines(part, paint)
    yield ""


SKIPPED: Final = frozenset({"node_modules", "__pycache__", "venv"})
"""Folders that are never looked into, besides hidden ones."""
MAX_FILES: Final = 50_000
HOUR: Final = 3600

Snapshot = dict[str, tuple[int, int]]
"""Time of change in nanoseconds and size in bytes per file, by its path under the folder."""


def interval(text: str) -> float:
    """Return the seconds that ``90s``, ``6m`` or ``2h`` mean; a bare number is seconds. Raises BadValue."""
    seconds = seconds_of("--every", f"{text}s" if text.strip().isdecimal() else text, "smh")
    if not seconds:
        raise BadValue("--every takes a time above zero, such as 6m.")
    return seconds


def too_often(seconds: float, limit: int) -> str:
    """Return in a sentence that a scan every ``seconds`` is more than ``limit`` an hour (0: no limit); empty if not."""
    if not limit or seconds * limit >= HOUR:
        return ""
    return f"At most {limit} scans an hour are allowed, so the shortest interval is {words(-(-HOUR // limit))}."


def words(seconds: float) -> str:
    """Return a duration such as ``90s``, ``6m`` or ``2h``."""
    rounded = round(seconds)
    unit = next((unit for unit in "hm" if rounded and rounded % UNITS[unit] == 0), "s")
    return f"{rounded // UNITS[unit]}{unit}"


def snapshot(folder: Path) -> Snapshot:
    """Return what lies under ``folder``, or that one file; links are not followed.

    Raises ConfigError when it is not there, cannot be read, or holds more than MAX_FILES files.
    """
    shown = clean(folder, 200)
    entries: Snapshot = {}
    try:
        if not folder.exists():
            raise ConfigError(f"There is no folder or file {shown} to watch.")
        below, files = (folder.parent, iter([folder])) if folder.is_file() else (folder, _files(folder))
        for path in files:
            with suppress(FileNotFoundError):  # it has gone meanwhile
                status = path.lstat()
                entries[path.relative_to(below).as_posix()] = status.st_mtime_ns, status.st_size
            if len(entries) > MAX_FILES:
                raise ConfigError(f"{shown} holds more than {MAX_FILES} files; watch a smaller folder.")
    except OSError as error:
        raise ConfigError(f"Cannot watch {clean(str(error.filename), 200)}: {error.strerror}.") from None
    return entries


def _files(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder, onerror=_refuse):
        folders[:] = sorted(name for name in folders if name not in SKIPPED and not name.startswith("."))
        yield from (Path(root, name) for name in sorted(names) if not name.startswith("."))


def _refuse(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error


def changed(before: Snapshot, after: Snapshot) -> list[str]:
    """Return the paths that were added, removed or written between two snapshots, in order."""
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))


def describe(paths: list[str]) -> str:
    """Return changed paths in a few words, such as ``robots.txt and 2 more files``."""
    first, rest = clean(paths[0], 60), len(paths) - 1
    return f"{first} and {rest} more file{'s' if rest > 1 else ''}" if rest else first

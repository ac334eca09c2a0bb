"""``watch``: scan again on a key, on an interval, or when files change, and show what changed."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final

import typer

from aui_tui.cli import options, streams
from aui_tui.cli.options import UNITS, seconds_of
from aui_tui.cli.reach import policy_of
from aui_tui.cli.run import Run, fail
from aui_tui.cli.scan import scan_one
from aui_tui.cli.sources import counts, opened, own_host
from aui_tui.errors import AuiError, BadValue, ConfigError
from aui_tui.model.card import ReportCard
from aui_tui.model.codec import encode_card
from aui_tui.model.options import ScanOptions
from aui_tui.report.changes import diff
from aui_tui.report.diff import text_lines
from aui_tui.service.protocol import Service
from aui_tui.text import clean

app = typer.Typer()


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
    count: Annotated[int, typer.Option("--count", metavar="N", min=0, help="Stop after N scans.")] = 0,
    method: options.Method = "",
    allow_private: options.AllowPrivate = False,
    connect_to: options.ConnectTo = None,
    as_json: options.Json = False,
) -> int:
    """Scan a site again and again, and show what changed. Any key scans at once; q quits.

    Each scan costs one of the ten an hour; with the setting no_limit, those of a host of your own cost none.
    """
    run = options.run_of(context)
    access = policy_of(run, url, allow_private=allow_private, connect_to=connect_to)
    asked = ScanOptions(force=True, method=options.method_of(method))
    seconds = interval(every, 0) if every else 0.0
    path = Path(folder).expanduser() if folder else None
    if path is not None:
        snapshot(path)

    async def work() -> int:
        keys: list[str] = []
        async with opened(run, access) as service:
            counted = await counts(service, url)
            quota = await service.quota() if counted else None
            if every and quota is not None:
                await _check_interval(every, quota.limit, service, url)
            with reading_keys(keys) as able:
                if not (able or every or path):
                    raise BadValue("Without a terminal, watch needs --every or --path to know when to scan.")
                session = _Session(run, service, url, asked, as_json=as_json)
                return await _loop(session, keys, Trigger(every=seconds), path, count)

    return run.wait(work())


async def _check_interval(every: str, limit: int, service: Service, url: str) -> None:
    """Raise BadValue when ``every`` asks for more scans an hour than ``limit``, and InvalidHost."""
    try:
        interval(every, limit)
    except BadValue as error:
        own = await own_host(service, url)
        hint = " This is a host of your own: the setting no_limit scans it as often as you like." if own else ""
        raise BadValue(f"{error}{hint}") from None


async def _loop(session: _Session, keys: list[str], trigger: Trigger, path: Path | None, count: int) -> int:
    seen = await asyncio.to_thread(snapshot, path) if path else None
    why, looked, scans = "first scan", time.monotonic(), 0
    while True:
        if why:
            trigger.started(time.monotonic(), seen)
            await session.scan(why)
            scans += 1
            if scans == count:
                return session.code
        await asyncio.sleep(TICK)
        pressed = keys.copy()
        keys.clear()
        if any(key in QUIT_KEYS for key in pressed):
            return session.code
        now = time.monotonic()
        if path and now - looked >= LOOK:
            looked, seen = now, await asyncio.to_thread(snapshot, path)
        why = trigger.ask(time.monotonic(), seen, key=bool(pressed))


class _Session:
    """The scans of one watch, each compared with the one before."""

    def __init__(self, run: Run, service: Service, url: str, asked: ScanOptions, *, as_json: bool) -> None:
        self._run, self._service, self._url = run, service, url
        self._asked, self._as_json = asked, as_json
        self._card: ReportCard | None = None
        self.code = 0

    async def scan(self, why: str) -> None:
        """Scan once and print what changed; after the first one, an error is reported and the watch goes on."""
        try:
            answer = await scan_one(self._run, self._service, self._url, self._asked)
        except AuiError as error:
            if self._card is None:
                raise
            self.code = fail(error)
            return
        before, self._card = self._card, answer.card
        self.code = 3 if answer.card.unreachable else 0
        for line in self._lines(why, before, answer.card):
            streams.write_line(line)
        streams.flush()

    def _lines(self, why: str, before: ReportCard | None, card: ReportCard) -> Iterator[str]:
        if self._as_json:
            yield encode_card(card).decode()
            return
        yield f"{time.strftime('%H:%M:%S')}  {why}"
        if before is None:
            state = "unreachable" if card.unreachable else f"score {card.score}, grade {card.grade}, {card.stance}"
            yield f"{card.host}: {state}"
            yield card.top_evidence
        else:
            yield from text_lines(diff(before, card), deterministic=True)
        yield ""


SKIPPED: Final = frozenset({"node_modules", "__pycache__", "venv"})
"""Folders that are never looked into, besides hidden ones."""
MAX_FILES: Final = 50_000
HOUR: Final = 3600
SETTLE: Final = 0.5
"""Seconds without a further change after which files count as written."""

Snapshot = dict[str, tuple[int, int]]
"""Time of change in nanoseconds and size in bytes per file, by its path under the folder."""


def interval(text: str, limit: int = 0) -> float:
    """Return the seconds that ``90s``, ``6m`` or ``2h`` mean; a bare number is seconds.

    ``limit`` is the number of scans an hour that the source allows, 0 when it sets none.
    Raises BadValue when ``text`` is not such a time, or shorter than the limit allows.
    """
    seconds = seconds_of("--every", f"{text}s" if text.strip().isdecimal() else text, "smh")
    if not seconds:
        raise BadValue("--every takes a time above zero, such as 6m.")
    if limit and seconds * limit < HOUR:
        least = -(-HOUR // limit)
        raise BadValue(f"At most {limit} scans an hour are allowed, so the shortest interval is {words(least)}.")
    return seconds


def words(seconds: float) -> str:
    """Return a duration such as ``90s``, ``6m`` or ``2h``."""
    whole = round(seconds)
    for unit in ("h", "m"):
        if whole % UNITS[unit] == 0 and whole:
            return f"{whole // UNITS[unit]}{unit}"
    return f"{whole}s"


def snapshot(folder: Path) -> Snapshot:
    """Return what lies under ``folder``, or that one file; links are not followed.

    Raises ConfigError when it is not there or holds more than MAX_FILES files.
    """
    if folder.is_file():
        return dict(_entry(folder.parent, folder))
    if not folder.is_dir():
        raise ConfigError(f"There is no folder or file {clean(str(folder), 200)} to watch.")
    found: Snapshot = {}
    for path in _files(folder):
        found.update(_entry(folder, path))
        if len(found) > MAX_FILES:
            raise ConfigError(f"{clean(str(folder), 200)} holds more than {MAX_FILES} files; watch a smaller folder.")
    return found


def _files(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in SKIPPED and not name.startswith("."))
        yield from (Path(root, name) for name in sorted(names) if not name.startswith("."))


def _entry(folder: Path, path: Path) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the path's line of a snapshot; none when it has gone meanwhile."""
    try:
        seen = path.lstat()
    except OSError:
        return
    yield path.relative_to(folder).as_posix(), (seen.st_mtime_ns, seen.st_size)


def changed(before: Snapshot, after: Snapshot) -> list[str]:
    """Return the paths that were added, removed or written between two snapshots, in order."""
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))


def describe(paths: list[str]) -> str:
    """Return changed paths in a few words, such as ``robots.txt and 2 more files``."""
    first, rest = clean(paths[0], 60), len(paths) - 1
    return f"{first} and {rest} more file{'s' if rest > 1 else ''}" if rest else first


@dataclass(slots=True)
class Trigger:
    """Decides when a scan is due. Times are seconds of a clock that never goes back.

    ``every``: seconds between scans, 0 for no interval. Tell it of each scan by :meth:`started`.
    """

    every: float = 0.0
    settle: float = SETTLE
    _due: float = field(default=float("inf"), init=False)
    _seen: Snapshot | None = field(default=None, init=False)
    _latest: Snapshot | None = field(default=None, init=False)
    _moved: float = field(default=0.0, init=False)

    def started(self, now: float, seen: Snapshot | None = None) -> None:
        """Note that a scan starts at ``now`` of files as ``seen``: what changes from here on is new."""
        self._due = now + self.every if self.every else float("inf")
        self._seen = self._latest = seen

    def ask(self, now: float, seen: Snapshot | None = None, *, key: bool = False) -> str:
        """Return why a scan is due at ``now``, in a few words; empty when none is.

        A change of files counts once they have not changed for ``settle`` seconds.
        """
        if key:
            return "asked for"
        if seen is not None:
            if self._latest is None:
                self._seen = seen
            if seen != self._latest:
                self._latest, self._moved = seen, now
            paths = changed(self._seen or {}, seen)
            if paths and now - self._moved >= self.settle:
                return describe(paths) + " changed"
        return f"every {words(self.every)}" if now >= self._due else ""

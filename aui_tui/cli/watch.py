"""``watch``: scan again on a key, on an interval, or when files change, and show what moved."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer

from aui_tui.changes import diff
from aui_tui.cli import streams
from aui_tui.cli.options import Config, DataDir, Debug, Method, Quiet, Source, example, method_of, run_of
from aui_tui.cli.output import Json
from aui_tui.cli.reach import AllowPrivate, BasicAuth, CaFile, ConnectTo, Header, Insecure, NoLimit, reach_of
from aui_tui.cli.run import Run, fail
from aui_tui.cli.scan import Category, not_own, scan_one
from aui_tui.cli.services import counts, opened, own_host
from aui_tui.diff import text_lines
from aui_tui.errors import AuiError, BadValue
from aui_tui.records.card import ReportCard
from aui_tui.records.codec import encode_card
from aui_tui.service.protocol import Service
from aui_tui.watch import Trigger, interval, snapshot

app = typer.Typer()


TICK: Final = 0.25
"""Seconds between looks at the keys and the files."""
LOOK: Final = 1.0
"""Seconds between looks at the files at least."""
QUIT_KEYS: Final = "qQ"


class Keys:
    """The keys pressed since the last look."""

    def __init__(self) -> None:
        self._pressed: list[str] = []

    def press(self, text: str) -> None:
        """Note keys."""
        self._pressed.extend(text)

    def take(self) -> list[str]:
        """Return and forget the keys pressed."""
        found, self._pressed = self._pressed, []
        return found


@contextmanager
def reading_keys(keys: Keys) -> Iterator[bool]:
    """Read single keys from the terminal into ``keys`` while the block runs; yield whether that is possible."""
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
    loop.add_reader(descriptor, lambda: keys.press(os.read(descriptor, 64).decode("ascii", "ignore")))
    try:
        yield True
    finally:
        loop.remove_reader(descriptor)
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


@app.command("watch", epilog=example("aui-tui watch http://localhost:8000 --allow-private --no-limit --path public/"))
def watch(
    context: typer.Context,
    url: Annotated[str, typer.Argument(metavar="URL", help="Host name or http(s) address.")],
    allow_private: AllowPrivate = False,
    connect_to: ConnectTo = None,
    header: Header = None,
    basic_auth_env: BasicAuth = None,
    cacert: CaFile = None,
    insecure: Insecure = False,
    no_limit: NoLimit = False,
    every: Annotated[str, typer.Option("--every", metavar="6m", help="Scan on this interval.")] = "",
    folder: Annotated[str, typer.Option("--path", metavar="DIR", help="Scan when files under it change.")] = "",
    count: Annotated[int, typer.Option("--count", metavar="N", min=0, help="Leave after N scans.")] = 0,
    method: Method = "",
    category: Category = "",
    as_json: Json = False,
    data_dir: DataDir = None,
    source: Source = None,
    config_file: Config = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> int:
    """Scan a site again and again, and show what moved. A key scans at once; q leaves.

    Each scan costs one of the ten an hour; --no-limit scans a host of your own all day.
    """
    run = run_of(context)
    access = reach_of(context)
    method = method_of(method)
    seconds = interval(every, 0) if every else 0.0
    path = Path(folder).expanduser() if folder else None
    if path is not None:
        snapshot(path)

    async def work() -> int:
        keys = Keys()
        async with opened(run, access) as service:
            counted = await counts(service, url)
            if counted and access is not None and access.no_limit:
                raise not_own(url)
            quota = await service.quota() if counted else None
            if every and quota is not None:
                await _check_interval(every, quota.limit, service, url)
            with reading_keys(keys) as able:
                if not (able or every or path):
                    raise BadValue("Without a terminal, watch needs --every or --path to know when to scan.")
                session = _Session(run, service, url, method, category, as_json)
                return await _loop(session, keys, Trigger(every=seconds), path, count)

    return run.wait(work())


async def _check_interval(every: str, limit: int, service: Service, url: str) -> None:
    """Raise BadValue when ``every`` asks for more scans an hour than ``limit``, and InvalidHost."""
    try:
        interval(every, limit)
    except BadValue as error:
        own = await own_host(service, url)
        hint = " This is a host of your own: --no-limit scans it as often as you like." if own else ""
        raise BadValue(f"{error}{hint}") from None


async def _loop(session: _Session, keys: Keys, trigger: Trigger, path: Path | None, count: int) -> int:
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
        pressed = keys.take()
        if any(key in QUIT_KEYS for key in pressed):
            return session.code
        now = time.monotonic()
        if path and now - looked >= LOOK:
            looked, seen = now, await asyncio.to_thread(snapshot, path)
        why = trigger.ask(time.monotonic(), seen, key=bool(pressed))


class _Session:
    """The scans of one watch, each compared with the one before."""

    def __init__(self, run: Run, service: Service, url: str, method: str, category: str, as_json: bool) -> None:
        self._run, self._service, self._url = run, service, url
        self._method, self._category, self._as_json = method, category, as_json
        self._card: ReportCard | None = None
        self.code = 0

    async def scan(self, why: str) -> None:
        """Scan once and print what moved; after the first one, an error is told and the watch goes on."""
        try:
            answer = await scan_one(
                self._run, self._service, self._url, force=True, method=self._method, category=self._category
            )
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

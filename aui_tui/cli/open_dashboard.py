"""The dashboard, and the only door to ``aui_tui.tui``: how it opens, what fills it, what it writes and remembers.

Imports no parser: the dashboard has to be there at once.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Final

import msgspec

from aui_tui.cli.run import UNEXPECTED, Run
from aui_tui.cli.sources import service_of
from aui_tui.cli.terminal import no_screen
from aui_tui.errors import AuiError, ConfigError
from aui_tui.files import create, replace, user_path
from aui_tui.index.folder import places
from aui_tui.model.listing import Row, rows
from aui_tui.model.query import Query
from aui_tui.model.starter import starter as known
from aui_tui.process import command
from aui_tui.service.local import LocalService
from aui_tui.service.protocol import Feed, Service
from aui_tui.text import clean, count
from aui_tui.tui.state import ListState, list_left

if TYPE_CHECKING:
    from aui_tui.scan.policy import ScanPolicy
    from aui_tui.tui.context import Preferences
    from aui_tui.tui.export import ExportJob

CRASHED: Final = 1
FRAMES: Final = "240"
"""Drawings in a second at most: an answer that comes just after one waits a quarter as long as with Textual's 60."""
NETWORK_TEST_HOSTS: Final = ("example.com", "wikipedia.org", "iana.org")
"""Names that resolve wherever there is a network: when none does, this machine has no network."""
LOOKUP_SECONDS: Final = 3.0
"""Seconds to wait for one of these names."""
LONGEST_LINE: Final = 16 << 20
"""Bytes of the longest line of results that is read from a crawl in a process of its own."""


def show(run: Run, *, access: ScanPolicy | None = None, host: str = "") -> int:
    """Open the dashboard, on the card of ``host`` when one is named, and return its exit code.

    Raises ConfigError without a terminal, and as ``service_of``.
    """
    if why := no_screen():
        raise ConfigError(f"{why}; use `aui-tui index --json` for the list, or `aui-tui --help`.")
    while True:
        service = service_of(run, access)
        status = open_on(run, service, host=host, starter=known_sites(run) if service.is_local else None, access=access)
        from aui_tui.tui.context import DEMO  # with the dashboard, which is loaded while the index is being read

        if isinstance(status, int):
            return show_demo(run) if status == DEMO else status
        origins = {**run.settings.origins, "source": "--source"}
        settings = msgspec.structs.replace(run.settings, source=status, origins=origins)
        run, access, host = msgspec.structs.replace(run, settings=settings), None, ""


def show_demo(run: Run, *, tasks: bool = False) -> int:
    """Serve the small web and open the dashboard on it, with ``tasks`` those too; return its exit code."""
    from aui_tui.demo.web import fill, rounds, small_web

    settings, worst_first = run.settings, Query.of(sort="rank", descending=True)
    with small_web(tasks=tasks, base_url=settings.base_url, method=settings.method) as (service, web):
        feed = Feed("demo", rounds(web), partial(fill, service, web))
        return int(open_on(run, service, query=worst_first, feed=feed))  # nothing there leads to another index


def open_on(
    run: Run,
    service: Service,
    *,
    host: str = "",
    query: Query | None = None,
    feed: Feed | None = None,
    starter: Feed | None = None,
    access: ScanPolicy | None = None,
) -> int | str:
    """Run the dashboard on ``service``, close both, and return its status: an exit code, or how it was left.

    ``query``: the list to begin with. ``feed`` fills the index meanwhile. With a ``starter`` an empty index offers
    that, the demo, and another index, whose address is then returned. Raises ConfigError.
    """
    settings = run.settings
    os.environ.setdefault("TEXTUAL_FPS", FRAMES)
    local = isinstance(service, LocalService)
    left = _list_left(places(settings.data_dir).dashboard) if local and query is None else {}
    state, cursor_host = list_left(left) if query is None else (ListState(query=query), "")
    if not (host or cursor_host):
        service.read_ahead(state.query)
    try:
        from aui_tui.tui.app import run as run_app
        from aui_tui.tui.context import Context

        named = (
            (settings.origins[name], str(getattr(settings, name))) for name in ("config_file", "data_dir", "source")
        )
        context = Context(
            service,
            reach=_reach(access),
            options="".join(f"{option} {quote(value)} " for option, value in named if option.startswith("--")),
            exporter=partial(export, run, service),
            feed=feed,
            starter=starter,
            preferences=_preferences(run, service, left),
        )
        status = run_app(
            context,
            theme=settings.theme,
            ascii=settings.ascii or not speaks_unicode(),
            mouse=settings.mouse,
            query=query,
            start_host=host,
            theme_folders=(settings.theme_dir,),
        )
    finally:
        asyncio.run(service.aclose())
    return UNEXPECTED if status == CRASHED else status


def _reach(access: ScanPolicy | None) -> str:
    """Return the options on how to reach a site, as they were typed, each with a blank behind it."""
    if access is None:
        return ""
    private = ["--allow-private "] if access.allow_private else []
    return "".join((*(f"--connect-to {quote(rule.written)} " for rule in access.connect_to), *private))


def speaks_unicode() -> bool:
    """Whether the terminal, on whose standard error is drawn, takes UTF-8: other signs would come as escapes."""
    return (getattr(sys.stderr, "encoding", None) or "utf-8").lower().replace("_", "-") in ("utf-8", "utf8")


async def export(run: Run, service: Service, job: ExportJob) -> str:
    """Write ``job`` to a file that is not there yet and return one sentence on it. Raises AuiError."""
    from aui_tui.cli.output import keys_of
    from aui_tui.report.export import write_cards, write_listing
    from aui_tui.report.formats import CARD_FORMATS, LIST_FORMATS, Listing, format_of

    path, hosts, written = _file_of(job.path), set(job.hosts), 0
    form: dict[str, Any] = {"keys": keys_of(run), "deterministic": run.settings.deterministic}

    def chosen(listed: Iterator[Row]) -> Iterator[Row]:
        nonlocal written
        for row in listed:
            if not hosts or row.summary.host in hosts:
                written += 1
                yield row

    if job.kind in ("snippet", "picture"):
        chunks: Iterable[str] = [job.text.rstrip("\n") + "\n"]
    elif job.kind == "card":
        report = await service.site(job.host, method=job.method, at=job.at)
        chunks = write_cards(format_of(path, CARD_FORMATS), [report], **form)
    else:
        view = await service.index(job.query)
        listing = Listing(
            scanned_at=view.scanned_at,
            ranked=chosen(rows(view.ranked)) if hosts or not job.unreachable else (),
            unreachable=chosen(rows(view.unreachable)) if hosts or job.unreachable else (),
            title="marked hosts" if hosts else view.query.words(),
        )
        chunks = write_listing(format_of(path, LIST_FORMATS), listing, **form)
    await asyncio.to_thread(create, path, chunks, force=job.replace)
    what = {
        "list": count(written, "host"),
        "card": f"the card of {job.host}",
        "snippet": "the change",
        "picture": "the screen",
    }[job.kind]
    return f"Wrote {what} to {clean(path.name, 100)} in {clean(str(path.resolve().parent), 200)}."


def _file_of(text: str) -> Path:
    """Return the file that the user named. Raises ConfigError when it cannot be one."""
    if not text.strip() or "\0" in text:
        raise ConfigError("Name a file to write.")
    return user_path(text.strip())


def _preferences(run: Run, service: Service, left: dict[str, str]) -> Preferences:
    """Return what the user chose before, and what remembers the next choice: the settings file."""
    from aui_tui.settings import again, remember, table
    from aui_tui.tui.context import Preferences, SettingShown

    settings = run.settings
    file = str(settings.config_file)
    local = isinstance(service, LocalService)

    def shown() -> dict[str, SettingShown]:
        return {
            name: SettingShown(row["value"], str(row["origin"]), str(row["meaning"]))
            for name, row in table(again(settings)).items()
        }

    return Preferences(
        columns=settings.columns,
        keys=dict(settings.keys),
        views={name: {str(key): text for key, text in view.items()} for name, view in settings.views.items()},
        ascii=settings.ascii,
        path=file,
        settings=shown,
        write=partial(remember, settings.config_file),
        read_log=partial(read_log, run, service) if isinstance(service, LocalService) else None,
        left=left,
        leave=partial(_leave_list, places(settings.data_dir).dashboard) if local else None,
    )


def _list_left(path: Path) -> dict[str, str]:
    """Return the list as it was left; the usual one where nothing, or nothing that can be read, is kept of it."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, str])
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return {}


def _leave_list(path: Path, left: Mapping[str, str]) -> None:
    """Keep the list for the next start, where the folder can be written to."""
    with suppress(AuiError):
        replace(path, [msgspec.json.encode(left)])


async def read_log(run: Run, service: LocalService, host: str, path: str) -> str:
    """Read the access log at ``path``, keep its figures beside the card of ``host``, and return one sentence on it.

    Raises AuiError.
    """
    from aui_tui.cli.visits import reading_of
    from aui_tui.visits import logs

    options, ranges = reading_of(run, host), places(run.settings.data_dir).ranges
    visits = await service.keep_visits(await asyncio.to_thread(logs.read, [path], options, ranges))
    return f"Read {count(visits.lines, 'line')} of {clean(path, 200)}; {visits.agent_lines:,} by known agents."


async def network_problem() -> str:
    """Return that this machine has no network, empty when it has: asked once, before many sites are called dead."""
    loop = asyncio.get_running_loop()
    for host in NETWORK_TEST_HOSTS:
        try:
            async with asyncio.timeout(LOOKUP_SECONDS):
                await loop.getaddrinfo(host, 443)
        except (OSError, TimeoutError):
            continue
        return ""
    return "This machine has no network: no name resolves. Nothing was scanned; choose it again once there is one."


def known_sites(run: Run) -> Feed:
    """Return the scans of the packaged list of known sites, which begin only when the user asks.

    They run in a process of their own, so that the dashboard stays quick; cancelling ends that in order.
    """

    async def scans(on_card: Callable[[object], None]) -> None:
        words = ["crawl", "--starter", "--json", "--quiet", *run.settings.options]
        crawl = await asyncio.create_subprocess_exec(
            *command("aui_tui.__main__", *words),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=LONGEST_LINE,
            process_group=0 if os.name == "posix" else None,
        )
        assert crawl.stdout is not None
        try:
            async for line in crawl.stdout:
                on_card(line)
            await crawl.wait()
        finally:
            if crawl.returncode is None:
                crawl.terminate()
                await crawl.wait()

    return Feed("known sites", len(known()), scans, network_problem)

"""Reading all logs of a site: files in turn or shared among processes, growing files, and the record of it all."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from io import BufferedReader
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final

from aui_tui.errors import BadValue, RecordError
from aui_tui.model.card import stamp
from aui_tui.model.visits import Addresses, Kind, RangeList, Visitor, Visits
from aui_tui.process import spawning
from aui_tui.text import clean
from aui_tui.visits.clients import Ranges, clients, range_lists
from aui_tui.visits.counting import Count, Options, Reading
from aui_tui.visits.ranges import RangeBook
from aui_tui.visits.reader import BLOCK, STDIN, Places, Tail, Unpacked, blocks, files_of, is_plain, open_log
from aui_tui.visits.tally import Row

PART: Final = 16 << 20
"""Bytes of a plain file that a process reads at a time: progress is shown after each, and ctrl+c waits for one."""
LARGE: Final = 32 << 20
"""Bytes of all files together from which several processes read."""
POLL: Final = 0.25
"""Seconds between two looks at growing files."""
MOST: Final = 0.9
"""Share of the agents' lines from which something holds for the whole log."""
EDGES: Final = ("edge", "origin", "unknown")

Progress = Callable[[int, int], None]
"""Called with how many bytes are done, and of how many."""
Part = tuple[str, int, int]
"""A file, and the bytes of it from and to which it is read; to 0 means to its end."""


def read(logs: Sequence[str], host: str, ranges: Path) -> Visits:
    """Return what ``logs`` (files, patterns, standard input) say of the site ``host``; formats are detected.

    ``ranges``: folder of the published ranges. Raises BadValue, ConfigError, RecordError.
    """
    files, options = files_of(logs), Options(host=host)
    networks, fetched = RangeBook(ranges).ranges()
    return record(count(files, options, networks), files, options, fetched)


def count(
    files: Sequence[str],
    options: Options,
    ranges: Mapping[str, Ranges],
    *,
    jobs: int = 0,
    progress: Progress | None = None,
) -> Count:
    """Return the figures of ``files``, read by ``jobs`` processes (0: as many as there are cores).

    ``progress`` is called on this thread. Raises RecordError when a file is not a log of a known format, ConfigError
    when one cannot be read.
    """
    sizes = {name: 0 if name == STDIN else Path(name).stat().st_size for name in files}
    total, jobs = sum(sizes.values()), jobs or os.cpu_count() or 1
    tell = progress or (lambda done, of: None)
    if total < LARGE or jobs == 1:
        reading, done = Reading(options, ranges), 0
        for name in files:
            _read(reading, (name, 0, 0), _beyond(done, total, tell))
            done += sizes[name]
        return reading.count
    parts = [part for name in files for part in _parts(name, sizes[name], options)]
    return _shared(parts, options, ranges, jobs, lambda done: tell(done, total))


def _beyond(done: int, total: int, tell: Progress) -> Callable[[int], None]:
    """Return a callback for one file, before which ``done`` bytes were read."""
    return lambda at: tell(min(done + at, total), total)


def _parts(name: str, size: int, options: Options) -> Iterator[Part]:
    """Yield the parts of a file: one, unless it is long, plain, and may be read from any line."""
    if size <= PART or not is_plain(name):
        yield name, 0, 0
        return
    with Path(name).open("rb") as file:
        whole = Reading(options, {}).begin(name, file.read(BLOCK)).whole
    if whole:
        yield name, 0, 0
        return
    for start in range(0, size, PART):
        yield name, start, min(start + PART, size)


def _shared(
    parts: Sequence[Part], options: Options, ranges: Mapping[str, Ranges], jobs: int, tell: Callable[[int], None]
) -> Count:
    whole, done = Count(), 0
    context = spawning()
    pool = ProcessPoolExecutor(min(jobs, len(parts)), context, initializer=_prepare, initargs=(options, ranges))
    try:
        pending = {pool.submit(_read_part, part): part for part in parts}
        for future in as_completed(pending):
            whole.join(future.result())
            name, start, end = pending[future]
            done += (end - start) if end else Path(name).stat().st_size if name != STDIN else 0
            tell(done)
    finally:
        pool.shutdown(cancel_futures=True)
    return whole


_prepared: tuple[Options, Mapping[str, Ranges]] | None = None


def _prepare(options: Options, ranges: Mapping[str, Ranges]) -> None:
    """Make a process ready: ctrl+c is the parent's to handle, and without a parent there is nothing to do."""
    global _prepared
    _prepared = (options, ranges)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_leave_with, args=(parent,), daemon=True).start()


def _leave_with(parent: BaseProcess) -> None:
    """End this process as soon as its parent is gone."""
    parent.join()
    os._exit(1)


def _read_part(part: Part) -> Count:
    assert _prepared is not None
    reading = Reading(*_prepared)
    _read(reading, part, lambda _at: None)
    return reading.count


def _read(reading: Reading, part: Part, tell: Callable[[int], None]) -> None:
    """Count one part of one file. A part begins with the first line that starts in it."""
    name, start, end = part
    stream = open_log(name)
    try:
        if end:
            assert isinstance(stream, BufferedReader), "only a plain file has parts"
            head = stream.read(BLOCK)
            if start:
                stream.seek(start - 1)
                stream.readline()
            else:
                stream.seek(0)
            at = stream.tell()
            if at >= end:
                return
            reading.begin(name, head, from_start=start == 0)
            found = blocks(stream, end - at)
        else:
            found = blocks(stream)
        done, begun = 0, bool(end)
        for block in found:
            if not begun:
                reading.begin(name, block)
                begun = True
            reading.read(block)
            done += len(block)
            tell(done)
        if begun:
            reading.end(name)
        if isinstance(stream, Unpacked) and stream.cut_off:
            shown = clean(Path(name).name, 100)
            reading.count.notes[f"{shown} is cut off in its packed data: what comes before that was counted."] = None
    finally:
        if name != STDIN:
            stream.close()


def follow(
    files: Sequence[str], options: Options, ranges: Mapping[str, Ranges], *, wait: Callable[[], bool]
) -> Iterator[Count]:
    """Yield the figures after each change, while ``files`` grow.

    All of each file is counted first. ``wait`` pauses between two looks and returns False to end. Raises as ``count``.
    """
    places: Places = {}
    tails = [(name, Tail(name, places), Reading(options, ranges)) for name in files]
    begun: set[str] = set()
    try:
        while True:
            changed = False
            for name, tail, reading in tails:
                while block := tail.read():
                    if name not in begun:
                        reading.begin(name, block)
                        begun.add(name)
                    reading.read(block)
                    changed = True
            if changed:
                whole = Count()
                for _, _, reading in tails:
                    reading.settle()
                    whole.join(reading.count)
                yield whole
            if all(tail.ended for _, tail, _ in tails) or not wait():
                return
    finally:
        for _, tail, _ in tails:
            tail.close()


def record(whole: Count, files: Sequence[str], options: Options, fetched: Mapping[str, RangeList]) -> Visits:
    """Return the record of what was counted. ``fetched``: the lists of ranges that visits were compared with.

    Raises RecordError when more than half of the examined lines could not be parsed, or when the log names other
    sites alone.
    """
    _check(whole, options)
    kind, reason = _kind(whole, options)
    off = _off(whole, options)
    first, last = _period(whole)
    rows = sorted(whole.rows.items(), key=lambda item: (-item[1].requests, item[0].token))
    used = {client.ip_ranges for client in whole.rows}
    return Visits(
        host=options.host,
        read_at=stamp(time.time()),
        log=clean(Path(files[0]).name, 100) if files[0] != STDIN else "standard input",
        files=len(files),
        formats=tuple(whole.formats),
        kind=kind,
        kind_reason=reason,
        first=first,
        last=last,
        lines=whole.lines,
        examined=whole.examined,
        unparsable=whole.unparsable,
        agent_lines=whole.agent_lines,
        verification=off,
        ranges=tuple(found for url, found in fetched.items() if url in used),
        gaps=tuple(whole.spans.gaps()),
        silent=tuple(dict.fromkeys(c.token for c in clients().values() if c.silent and c not in whole.rows)),
        notes=tuple(whole.notes),
        visitors=tuple(_visitor(client.token, row, off, fetched) for client, row in rows),
    )


def _check(whole: Count, options: Options) -> None:
    """Raise RecordError where most lines could not be parsed, BadValue where the log is of other sites."""
    if 2 * whole.unparsable > whole.examined:
        raise RecordError(
            f"{whole.unparsable:,} of {whole.examined:,} examined lines could not be understood; expected are "
            "combined, JSON or W3C lines."
        )
    if whole.hosts and not whole.agent_lines:
        named = ", ".join(host for host, _ in whole.hosts.most_common(3))
        raise BadValue(f"No line of an agent is of {clean(options.host, 100)}: the log names {named}.")


def _period(whole: Count) -> tuple[str, str]:
    """Return the times of the first and the last line; empty where no line has one."""
    merged = whole.spans.merged()
    begins = [row.first for row in whole.rows.values()] + [span[0] for span in merged]
    ends = [row.last for row in whole.rows.values()] + [span[1] for span in merged]
    return (stamp(min(begins)), stamp(max(ends))) if begins else ("", "")


def _visitor(token: str, row: Row, off: str, fetched: Mapping[str, RangeList]) -> Visitor:
    client = clients()[token.lower()]
    state: Addresses = "checked" if client.ip_ranges in fetched else "not fetched"
    if not client.ip_ranges:
        state = "none published"
    elif off:
        state = "off"
    same = range_lists().get(client.ip_ranges, ())
    return row.visitor(client, state, [other.token for other in same if other != client])


def _kind(whole: Count, options: Options) -> tuple[Kind, str]:
    """Return where the log was written, and why that is assumed."""
    if options.kind is not None:
        return options.kind, "as you said"
    cdn, share = _most(_cdns(whole.peers), whole.peers)
    if share >= MOST:
        return "origin", f"its requests come from addresses of {cdn}"
    kinds = set(whole.formats.values())
    if kinds == {"edge"}:
        return "edge", f"such logs ({', '.join(whole.formats)}) are written at the edge"
    if options.trusted:
        return "origin", "proxies stand before the server that wrote it"
    return "unknown", "the log does not tell; the setting log_kind says it"


def _cdns(seen: Iterable[str]) -> set[str]:
    return {place for place in seen if place not in ("", "private", "masked")}


def _most(places: set[str], seen: Mapping[str, int]) -> tuple[str, float]:
    """Return the most frequent of ``places``, and the share of all of them in the agents' lines."""
    total = sum(seen.values())
    if not total or not places:
        return "", 0.0
    return max(places, key=lambda name: seen.get(name, 0)), sum(seen.get(name, 0) for name in places) / total


def _off(whole: Count, options: Options) -> str:
    """Return why addresses cannot be compared with published ranges; empty when they can."""
    name, share = _most({"private", *_cdns(whole.sources)}, whole.sources)
    if share > MOST:
        whose = "private addresses" if name == "private" else f"addresses of {name}"
        return (
            f"Over 90 % of the agents' lines come from {whose}, which hide the client: name the proxies by "
            "trusted_proxy and let the server log X-Forwarded-For."
        )
    without = _most({"masked"}, whole.sources)[1] > MOST
    if without and options.client_field:
        return f"Over 90 % of the agents' lines have no address in the field {clean(options.client_field, 60)}."
    if without and options.trusted:
        return "Over 90 % of the agents' lines have no address in X-Forwarded-For."
    if without:
        return "The addresses in the log are masked, so they cannot be compared with published ranges."
    return ""

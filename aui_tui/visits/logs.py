"""Reading all logs of a site: files in turn, growing files, and the record of it all."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from aui_tui.errors import BadValue, ConfigError, RecordError
from aui_tui.files import STDIN
from aui_tui.model.times import stamp
from aui_tui.model.visits import Addresses, Kind, RangeList, Visitor, Visits
from aui_tui.text import clean
from aui_tui.visits.clients import Ranges, clients, range_lists
from aui_tui.visits.counting import Count, LineCounter, LogOptions
from aui_tui.visits.ranges import RangeBook
from aui_tui.visits.reader import Log, files_of, identity
from aui_tui.visits.tally import ClientFigures

POLL: Final = 0.25
"""Seconds between two looks at growing files."""
MOST: Final = 0.9
"""Share of the agents' lines from which something holds for the whole log."""

Progress = Callable[[int, int], None]
"""Called with how many bytes are done, and of how many."""


def read(logs: Sequence[str], options: LogOptions, ranges: Path) -> Visits:
    """Return what ``logs`` (files, patterns, standard input) say; formats are detected.

    ``ranges``: folder of the published ranges. Raises BadValue, ConfigError, RecordError.
    """
    files = files_of(logs)
    networks, fetched = RangeBook(ranges).ranges()
    return record(count(files, options, networks), files, options, fetched)


def count(
    files: Sequence[str], options: LogOptions, ranges: Mapping[str, Ranges], *, progress: Progress | None = None
) -> Count:
    """Return the figures of ``files``.

    Raises RecordError when a file is not a log of a known format, ConfigError when one cannot be read.
    """
    figures, done = Count(), 0
    sizes = {name: 0 if name == STDIN else Path(name).stat().st_size for name in files}
    for name in files:
        log, reading, at = Log(name), LineCounter(name, figures, options, ranges), 0
        try:
            while block := log.read():
                reading.read(block)
                at += len(block)
                if progress is not None:
                    progress(min(done + at, sum(sizes.values())), sum(sizes.values()))
            reading.end()
        finally:
            log.close()
        if log.cut_off:
            shown = clean(Path(name).name, 100)
            figures.notes[f"{shown} is cut off in its packed data: what comes before that was counted."] = None
        done += sizes[name]
    return figures


def follow(
    files: Sequence[str], options: LogOptions, ranges: Mapping[str, Ranges], *, wait: Callable[[], bool]
) -> Iterator[Count]:
    """Yield the figures after each change, while ``files`` grow, through rotation (a new file) and truncation.

    All of each file is counted first. ``wait`` pauses between two looks and returns False to end. Raises as ``count``.
    """
    figures = Count()
    open_logs: dict[tuple[int, int] | str, tuple[Log, LineCounter]] = {}
    while True:
        named = {identity(name): name for name in files}
        for key in named.keys() - open_logs.keys() if open_logs else named:
            with suppress(*(ConfigError,) if open_logs else ()):  # a name that rotation has not filled again yet
                open_logs[key] = Log(named[key], growing=True), LineCounter(named[key], figures, options, ranges)
        changed = False
        for key, (log, reading) in list(open_logs.items()):
            while block := log.read():
                reading.read(block)
                changed = True
            if key not in named and log.left():
                del open_logs[key]
                if block := log.close():
                    reading.read(block)
                    changed = True
        if changed:
            yield figures
        if all(log.ended for log, _ in open_logs.values()) or not wait():
            return


def record(figures: Count, files: Sequence[str], options: LogOptions, fetched: Mapping[str, RangeList]) -> Visits:
    """Return the record of ``figures``. ``fetched``: the lists of ranges that visits were compared with.

    Raises RecordError when more than half of the examined lines could not be parsed, or when the log names other
    sites alone.
    """
    _check(figures, options)
    kind, reason = _kind(figures, options)
    off = _off(figures, options)
    first, last = _period(figures)
    visitors = (_visitor(token, row, off, fetched) for token, row in figures.rows.items())
    used = {clients()[token.lower()].ip_ranges for token in figures.rows}
    return Visits(
        host=options.host,
        read_at=stamp(time.time()),
        log=clean(Path(files[0]).name, 100) if files[0] != STDIN else "standard input",
        files=len(files),
        formats=tuple(figures.formats),
        kind=kind,
        kind_reason=reason,
        first=first,
        last=last,
        lines=figures.lines,
        examined=figures.examined,
        unparsable=figures.unparsable,
        agent_lines=figures.agent_lines,
        verification=off,
        ranges=tuple(range_list for url, range_list in fetched.items() if url in used),
        gaps=tuple(figures.spans.gaps()),
        silent=tuple(dict.fromkeys(c.token for c in clients().values() if c.is_silent and c.token not in figures.rows)),
        notes=tuple(figures.notes),
        visitors=tuple(sorted(visitors, key=lambda visitor: (-visitor.requests, visitor.token))),
    )


def _check(figures: Count, options: LogOptions) -> None:
    """Raise RecordError where most lines could not be parsed, BadValue where the log is of other sites."""
    if 2 * figures.unparsable > figures.examined:
        raise RecordError(
            f"{figures.unparsable:,} of {figures.examined:,} examined lines could not be understood; expected are "
            "combined, JSON or W3C lines."
        )
    if figures.hosts and not figures.agent_lines:
        named = ", ".join(host for host, _ in figures.hosts.most_common(3))
        raise BadValue(f"No line of an agent is of {clean(options.host, 100)}: the log names {named}.")


def _period(figures: Count) -> tuple[str, str]:
    """Return the times of the first and the last line; empty where no line has one."""
    rows = figures.rows.values()
    moments = [*figures.spans.ends, *(row.first for row in rows), *(row.last for row in rows)]
    return (stamp(min(moments)), stamp(max(moments))) if moments else ("", "")


def _visitor(token: str, row: ClientFigures, off: str, fetched: Mapping[str, RangeList]) -> Visitor:
    client = clients()[token.lower()]
    state: Addresses = "checked" if client.ip_ranges in fetched else "not fetched"
    if not client.ip_ranges:
        state = "none published"
    elif off:
        state = "off"
    same = range_lists().get(client.ip_ranges, ())
    return row.visitor(client, state, [user.token for user in same if user != client])


def _kind(figures: Count, options: LogOptions) -> tuple[Kind, str]:
    """Return where the log was written, and why that is assumed."""
    if options.kind is not None:
        return options.kind, "as you said"
    peers = figures.of_place(0)
    cdn, share = _most(_cdns(peers), peers)
    if share >= MOST:
        return "origin", f"its requests come from addresses of {cdn}"
    kinds = set(figures.formats.values())
    if kinds == {"edge"}:
        return "edge", f"such logs ({', '.join(figures.formats)}) are written at the edge"
    if options.trusted:
        return "origin", "proxies stand before the server that wrote it"
    return "unknown", "the log does not tell; the setting log_kind says it"


def _cdns(names: Iterable[str]) -> set[str]:
    return {place for place in names if place not in ("", "private", "masked")}


def _most(places: set[str], counts: Mapping[str, int]) -> tuple[str, float]:
    """Return the most frequent of ``places``, and the share of all of them in the agents' lines."""
    total = sum(counts.values())
    if not total or not places:
        return "", 0.0
    return max(places, key=lambda name: counts.get(name, 0)), sum(counts.get(name, 0) for name in places) / total


def _off(figures: Count, options: LogOptions) -> str:
    """Return why addresses cannot be compared with published ranges; empty when they can."""
    sources = figures.of_place(1)
    name, share = _most({"private", *_cdns(sources)}, sources)
    if share > MOST:
        whose = "private addresses" if name == "private" else f"addresses of {name}"
        return (
            f"Over 90 % of the agents' lines come from {whose}, which hide the client: name the proxies by "
            "trusted_proxy and let the server log X-Forwarded-For."
        )
    without = _most({"masked"}, sources)[1] > MOST
    if without and options.client_field:
        return f"Over 90 % of the agents' lines have no address in the field {clean(options.client_field, 60)}."
    if without and options.trusted:
        return "Over 90 % of the agents' lines have no address in X-Forwarded-For."
    if without:
        return "The addresses in the log are masked or missing, so they cannot be compared with published ranges."
    return ""

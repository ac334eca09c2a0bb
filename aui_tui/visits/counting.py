"""Counting the visits of one log: who came, when, for what, and what it got."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from aui_tui.errors import BadValue, RecordError
from aui_tui.model.visits import Kind
from aui_tui.text import clean
from aui_tui.visits.clients import (
    LONGEST_KEPT,
    TABLE_LIMIT,
    Client,
    Names,
    Proxies,
    Ranges,
    address_of,
    place,
)
from aui_tui.visits.formats import Clf, JsonLines, detect
from aui_tui.visits.lines import DOUBT, Format, Found, Visit, client_keys
from aui_tui.visits.tally import HOUR, Row, Spans

HEAD: Final = 1000
"""Lines at the beginning of each file that are all parsed, to see whether the format is right."""
QUOTED: Final = 3
"""Lines that could not be parsed and are quoted."""
QUOTE_LENGTH: Final = 160
OTHER_TRIES: Final = 20_000
"""Lines that are tried in another format although none of them was in it."""
MOST_HOSTS: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How logs are read.

    ``kind`` and ``host`` are what the user says of the log, empty when not. ``trusted``: networks of the proxies that
    stand before the server; ``client_field``: where they write the client's address, X-Forwarded-For when empty.
    Making one raises BadValue for what is not a network, not a field, or a field that no proxy vouches for.
    """

    kind: Kind | None = None
    host: str = ""
    trusted: tuple[str, ...] = ()
    client_field: str = ""

    def __post_init__(self) -> None:
        self.proxies()
        if self.client_field:
            client_keys(self.client_field)
            if not self.trusted:
                raise BadValue(
                    "client_field needs trusted_proxy: any client can send such a field, so it counts only "
                    "where your proxy wrote it."
                )

    def proxies(self) -> Proxies:
        """Return the proxies. Raises BadValue."""
        return Proxies(self.trusted)

    def prepared(self, form: Format) -> Format:
        """Return ``form`` as it reads the client's address."""
        if self.client_field:
            form.name_client(client_keys(self.client_field))
        return form


@dataclass(slots=True)
class Count:
    """What was counted; two of them can be joined.

    ``rows`` by token in lower case. ``peers`` and ``sources``: agents' lines by the place of the peer and of the client
    (see ``clients.place``). ``quotes``: lines that could not be parsed, without what tells of a visitor.
    ``hosts``: agents' lines of other virtual hosts than the one asked for.
    """

    rows: dict[Client, Row] = field(default_factory=dict)
    lines: int = 0
    examined: int = 0
    unparsable: int = 0
    agent_lines: int = 0
    peers: Counter[str] = field(default_factory=Counter)
    sources: Counter[str] = field(default_factory=Counter)
    hosts: Counter[str] = field(default_factory=Counter)
    spans: Spans = field(default_factory=Spans)
    formats: dict[str, Kind] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    quotes: list[str] = field(default_factory=list)

    def join(self, other: Count) -> None:
        """Add what ``other`` counted."""
        for client, row in other.rows.items():
            self.rows.setdefault(client, Row()).join(row)
        for name in ("lines", "examined", "unparsable", "agent_lines"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("peers", "sources", "hosts", "formats", "notes"):
            getattr(self, name).update(getattr(other, name))
        self.spans.join(other.spans)
        self.quotes = (self.quotes + other.quotes)[:QUOTED]


class _Placed(NamedTuple):
    """Where ``peer`` and client (``source``) of a line are, see ``clients.place``.

    ``inside``: whether the client's address is published by its vendor; None when that is not known.
    """

    peer: str
    source: str
    inside: bool | None


class _Answers(dict[bytes, bool]):
    """Whether a cut-out User-Agent calls for parsing its line: asked once per text, emptied when full."""

    def __init__(self, names: Names, form: Format) -> None:
        super().__init__()
        self._names, self._plain = names, form.plain

    def __missing__(self, cut: bytes) -> bool:
        bare = cut.rstrip(b"\r\n").removesuffix(b'"')
        doubtful = bare in (b"", DOUBT) or b"\\" in bare or b'"' in bare
        answer = doubtful or self._names.client(self._plain(bare)) is not None
        if len(cut) <= LONGEST_KEPT:
            if len(self) >= TABLE_LIMIT:
                self.clear()
            self[cut] = answer
        return answer


class Reading:
    """Counts the lines of one log after another into ``count``. ``ranges``: published ranges by their address."""

    def __init__(self, options: Options, ranges: Mapping[str, Ranges]) -> None:
        self.count = Count()
        self._options = options
        self._proxies = options.proxies()
        self._ranges = ranges
        self._names = Names()
        self._places: dict[tuple[str, str, str], _Placed] = {}
        self._host = _plain_host(options.host)
        self._form: Format = Clf()
        self._others: tuple[Format, ...] = ()
        self._others_failed = 0
        self._answers = _Answers(self._names, self._form)
        self._head = 0
        self._head_lines = self._head_broken = 0

    def begin(self, name: str, head: bytes, *, from_start: bool = True) -> Format:
        """Take the format from ``head``, the first block of the file ``name``, and return it.

        ``from_start``: reading begins at the first line, so that the first HEAD lines are all parsed. Raises
        RecordError when no format fits.
        """
        lines = [line for line in head.splitlines(keepends=True)[:HEAD] if line.strip()]
        form = detect(lines) or (None if lines else Clf())
        if form is None:
            raise RecordError(
                f"{clean(name, 100)}: its first lines are in no known format; expected are combined, JSON or W3C lines."
            )
        self._others = tuple(self._options.prepared(other) for other in (JsonLines(), Clf()))
        self._options.prepared(form).learn(lines)
        self._form = form
        self._answers = _Answers(self._names, form)
        self._head = HEAD if from_start else 0
        self._head_lines = self._head_broken = 0
        self.count.formats[form.name] = form.kind
        return form

    def read(self, block: bytes) -> None:
        """Count the lines of ``block``, which holds whole lines of the log begun last."""
        whole = block
        if self._head:
            lines = iter(block.splitlines(keepends=True)) if b"\r" not in block else _lines(block)
            for line in islice(lines, self._head):
                self._head -= 1
                self._examine(line, head=True)
            block = b"".join(lines)
        if block:
            self._read_wanted(block)
        self._cover(whole)

    def _read_wanted(self, block: bytes) -> None:
        """Count the lines of ``block``, and parse those that may name a client."""
        parse, client_of = self._form.parse, self._names.client
        self.count.lines += block.count(b"\n")
        for line in self._form.wanted(block, self._answers):
            found = parse(line)
            if found is None:
                self.count.lines -= 1
                self._examine(line)
                continue
            self.count.examined += 1
            client = client_of(found[0])
            if client is not None:
                self._visit(client, found[1])

    def end(self, name: str) -> None:
        """Judge the log ``name``. Raises RecordError when more than half of its first lines could not be parsed."""
        self.settle()
        broken, lines = self._head_broken, self._head_lines
        if lines and 2 * broken > lines:
            raise RecordError(
                f"{clean(name, 100)}: {broken:,} of its first {lines:,} lines could not be understood; expected were "
                f"{self._form.expected}."
            )

    def settle(self) -> None:
        """Make the figures ready to be shown, with what such a log cannot show."""
        for row in self.count.rows.values():
            row.flush()
        for note in self._form.notes:
            self.count.notes[note] = None

    def _examine(self, line: bytes, *, head: bool = False) -> None:
        if not self._form.is_line(line):
            return
        self.count.lines += 1
        self.count.examined += 1
        found = self._form.parse(line) or self._otherwise(line)
        if head:
            self._head_lines += 1
            self._head_broken += found is None
        if found is None:
            self.count.unparsable += 1
            if len(self.count.quotes) < QUOTED:
                self.count.quotes.append(quote(line))
            return
        client = self._names.client(found[0])
        if client is not None:
            self._visit(client, found[1])

    def _otherwise(self, line: bytes) -> Found | None:
        """Return what a line of another format in the same file says: a server's format may be changed at any time."""
        if self._others_failed > OTHER_TRIES:
            return None
        found = next((found for form in self._others if (found := form.parse(line)) is not None), None)
        self._others_failed += 1 if found is None else -self._others_failed
        return found

    def _visit(self, client: Client, visit: Visit) -> None:
        count = self.count
        if self._host and visit.host and _plain_host(visit.host) != self._host:
            if len(count.hosts) < MOST_HOSTS:
                count.hosts[clean(_plain_host(visit.host), 100)] += 1
            return
        count.agent_lines += 1
        peer, forwarded = visit.address, visit.forwarded if self._proxies else ""
        known = self._places.get((client.ip_ranges, peer, forwarded))
        if known is None:
            known = self._placed(client, peer, forwarded)
        count.peers[known.peer] += 1
        count.sources[known.source] += 1
        row = count.rows.get(client)
        if row is None:
            row = count.rows[client] = Row()
        row.add(visit, inside=known.inside)

    def _placed(self, client: Client, peer: str, forwarded: str) -> _Placed:
        """Return what the addresses of a line mean, and remember it."""
        address = self._proxies.client(peer, forwarded) if self._proxies else peer
        ranges, parsed = self._ranges.get(client.ip_ranges), address_of(address)
        inside = None if ranges is None or parsed is None else ranges.holds(parsed)
        if len(self._places) >= TABLE_LIMIT:
            self._places.clear()
        found = self._places[client.ip_ranges, peer, forwarded] = _Placed(place(peer), place(address), inside)
        return found

    def _cover(self, block: bytes) -> None:
        """Note the times that ``block`` covers; all of its lines are looked at only when it covers over an hour."""
        first = self._moment(block[: block.find(b"\n") + 1])
        last = self._moment(block[block.rfind(b"\n", 0, -1) + 1 :])
        if first is not None and last is not None and abs(last - first) <= HOUR:
            self.count.spans.add(min(first, last), max(first, last))
        else:
            self.count.spans.read(block.splitlines(keepends=True), self._moment)

    def _moment(self, line: bytes) -> int | None:
        found = self._form.parse(line)
        return None if found is None else found[1].moment


def _lines(block: bytes) -> Iterator[bytes]:
    """Yield the lines of ``block``, which end with a line feed alone or after a carriage return."""
    start = 0
    while start < len(block):
        end = block.find(b"\n", start) + 1 or len(block)
        yield block[start:end]
        start = end


def _plain_host(text: str) -> str:
    """Return a host name in lower case without scheme, port and leading ``www.``."""
    try:
        name = urlsplit(text if "//" in text else f"//{text}").hostname or ""
    except ValueError:
        name = text
    return name.rstrip(".").removeprefix("www.")


_SHAPE: Final = (
    (re.compile(r"[^\W\d_]"), "a"),
    (re.compile(r"\d"), "9"),
    (re.compile(r"([a9])\1{7,}"), r"\1\1\1…"),
)


def quote(line: bytes) -> str:
    """Return the shape of a line, which tells nothing of a visitor: ``a`` for each letter, ``9`` for each digit."""
    shown = line[: 4 * QUOTE_LENGTH].rstrip(b"\r\n").decode("utf-8", "replace")
    for pattern, mark in _SHAPE:
        shown = pattern.sub(mark, shown)
    return clean(shown, QUOTE_LENGTH)

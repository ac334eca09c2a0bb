"""Counting the visits of one log: who came, when, for what, and what it got."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from itertools import islice
from typing import Final
from urllib.parse import urlsplit

from aui_tui.addresses import address_of
from aui_tui.errors import BadValue, RecordError
from aui_tui.files import STDIN
from aui_tui.model.registry import Client
from aui_tui.model.visits import Kind
from aui_tui.text import clean
from aui_tui.visits.clients import Answers, Names, Ranges, place
from aui_tui.visits.formats import DOUBT, LogFormat, Template, client_keys, detect, unknown
from aui_tui.visits.lines import LogLine
from aui_tui.visits.tally import HOUR, ClientFigures, Spans

HEAD: Final = 1000
"""Lines at the beginning of each file that are all parsed, to see whether the format is right."""
QUOTED: Final = 3
"""Lines that could not be parsed and are quoted."""
QUOTE_LENGTH: Final = 160
MOST_HOSTS: Final = 100
MOST_REQUESTS: Final = 10_000
LONGEST_ID: Final = 100
NAMELESS: Final = (
    "The log has no User-Agent, so no client can be recognised: let the server log it, as the combined format does."
)


@dataclass(frozen=True, kw_only=True)
class LogOptions:
    """How logs are read.

    ``kind`` and ``host`` are what the user says of the log, empty when not. ``trusted``: networks of the proxies that
    stand before the server; ``client_field``: where they write the client's address, X-Forwarded-For when empty.
    ``template``: the fields of a line, empty to detect the format. Making one raises BadValue for what is not a
    network, not a field, not a template, or a field that no proxy vouches for.
    """

    kind: Kind | None = None
    host: str = ""
    trusted: tuple[str, ...] = ()
    client_field: str = ""
    template: str = ""

    def __post_init__(self) -> None:
        if self.template:
            Template(self.template)
        if self.client_field and self.keys and not self.trusted:
            raise BadValue(
                "client_field needs trusted_proxy: any client can send such a field, so it counts only "
                "where your proxy wrote it."
            )
        _ = self.proxies

    @cached_property
    def proxies(self) -> Ranges:
        """The networks of ``trusted``. Raises BadValue."""
        for text in self.trusted:
            try:
                Ranges([text])
            except ValueError:
                raise BadValue(f"trusted_proxy takes a network such as 10.0.0.0/8, not {clean(text, 60)!r}.") from None
        return Ranges(self.trusted)

    def client(self, peer: str, forwarded: str) -> str:
        """Return the client's address; empty where the log does not tell it.

        It is the rightmost address of X-Forwarded-For outside ``trusted``: everything left of it can be forged.
        """
        if not self._is_proxy(peer):
            return peer
        entry = ""
        for entry in reversed([part.strip() for part in forwarded.split(",")]):
            if address_of(entry) is None:
                return ""
            if not self._is_proxy(entry):
                return entry
        return entry

    def _is_proxy(self, text: str) -> bool:
        address = address_of(text)
        return address is not None and self.proxies.holds(address)

    @property
    def keys(self) -> tuple[str, ...]:
        """The names that logs give to ``client_field``. Raises BadValue."""
        return client_keys(self.client_field) if self.client_field else ()


@dataclass(slots=True)
class Count:
    """What was counted.

    ``rows``: by token. ``places``: agents' lines by the places of the peer and of the client (see ``clients.place``).
    ``quotes``: lines that could not be parsed, without what tells of a visitor. ``hosts``: agents' lines of other
    virtual hosts than the one asked for.
    """

    rows: dict[str, ClientFigures] = field(default_factory=dict)
    lines: int = 0
    examined: int = 0
    unparsable: int = 0
    agent_lines: int = 0
    places: Counter[tuple[str, str]] = field(default_factory=Counter)
    hosts: Counter[str] = field(default_factory=Counter)
    spans: Spans = field(default_factory=Spans)
    formats: dict[str, Kind] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    quotes: list[str] = field(default_factory=list)

    def of_place(self, which: int) -> Counter[str]:
        """Return the agents' lines by the place of the peer (0) or of the client (1)."""
        counts: Counter[str] = Counter()
        for places, number in self.places.items():
            counts[places[which]] += number
        return counts


class LineCounter:
    """Counts the lines of one log, whose blocks come in order, into ``count``.

    ``name`` stands in errors; ``ranges``: published ranges by their address.
    """

    def __init__(self, name: str, count: Count, options: LogOptions, ranges: Mapping[str, Ranges]) -> None:
        self._name = "standard input" if name == STDIN else clean(name, 100)
        self._count = count
        self._options = options
        self._ranges = ranges
        self._names = Names()
        self._places = Answers(self._placed)
        self._host = _plain_host(options.host)
        self._form: LogFormat | None = None
        self._worth: Mapping[bytes, bool] = {}
        """Whether a cut-out User-Agent calls for parsing its line."""
        self._head_lines = self._head_broken = 0
        self._requests: dict[str, None] = {}
        """The last requests that may have further lines."""

    def read(self, block: bytes) -> None:
        """Count the lines of ``block``. Raises RecordError when the first one is in no known format."""
        lines = BytesIO(block)
        form = self._form
        if form is None:
            form = self._begin(block)
        for line in islice(lines, HEAD - self._head_lines):
            self._head_lines += 1
            self._head_broken += self._examine(form, line)
        self._count.lines += block.count(b"\n", lines.tell())
        cut, worth, client_of = form.cut, self._worth, self._names.client
        for line in lines:
            if not worth[cut(line)]:
                continue
            entry = form.parse(line)
            if entry is None:
                self._count.lines -= 1
                self._examine(form, line)
                continue
            self._count.examined += 1
            client = client_of(entry.agent)
            if client is not None:
                self._visit(client, entry)
        self._cover(form, block)
        if form.nameless:
            self._count.notes[NAMELESS] = None

    def _begin(self, head: bytes) -> LogFormat:
        """Return the format of the log by its first block. Raises RecordError when none fits."""
        lines = [line for line in head.splitlines(keepends=True)[:HEAD] if line.strip()]
        form = detect(lines, self._options.keys, self._options.template)
        if form is None:
            raise RecordError(f"{self._name}: {unknown(lines)}.")
        form.learn(lines)

        def worth(cut: bytes) -> bool:
            return cut in (b"", DOUBT) or b"\\" in cut or self._names.client(form.plain(cut)) is not None

        self._form, self._worth = form, Answers(worth)
        self._count.formats[form.name] = form.kind
        return form

    def end(self) -> None:
        """Judge the log. Raises RecordError when more than half of its first lines are not understood."""
        if self._form is not None and 2 * self._head_broken > self._head_lines:
            raise RecordError(
                f"{self._name}: {self._head_broken:,} of its first {self._head_lines:,} lines could not be "
                f"understood; expected were {self._form.expected}."
            )

    def _examine(self, form: LogFormat, line: bytes) -> bool:
        """Count one line that may not be of the format; say whether it was not understood."""
        if not form.is_line(line):
            return False
        self._count.lines += 1
        self._count.examined += 1
        entry = form.parse(line)
        if entry is None:
            self._count.unparsable += 1
            if len(self._count.quotes) < QUOTED:
                self._count.quotes.append(quote(line))
            return True
        client = self._names.client(entry.agent)
        if client is not None:
            self._visit(client, entry)
        return False

    def _visit(self, client: Client, entry: LogLine) -> None:
        count = self._count
        if self._host and entry.host and _plain_host(entry.host) != self._host:
            if len(count.hosts) < MOST_HOSTS:
                count.hosts[clean(_plain_host(entry.host), 100)] += 1
            return
        if entry.request:
            name = entry.request[:LONGEST_ID]
            if name in self._requests:
                return
            self._requests[name] = None
            if len(self._requests) > MOST_REQUESTS:
                del self._requests[next(iter(self._requests))]
        count.agent_lines += 1
        places, inside = self._places[client.ip_ranges, entry.address, entry.forwarded if self._options.trusted else ""]
        count.places[places] += 1
        row = count.rows.get(client.token)
        if row is None:
            row = count.rows[client.token] = ClientFigures()
        row.add(entry, inside=inside)

    def _placed(self, where: tuple[str, str, str]) -> tuple[tuple[str, str], bool | None]:
        """Return the places of peer and client, and whether the vendor publishes the client's address; None: not known.

        ``where``: the address of the vendor's list, the peer, and X-Forwarded-For.
        """
        published, peer, forwarded = where
        address = self._options.client(peer, forwarded)
        ranges, parsed = self._ranges.get(published), address_of(address)
        inside = None if ranges is None or parsed is None else ranges.holds(parsed)
        return (place(peer), place(address)), inside

    def _cover(self, form: LogFormat, block: bytes) -> None:
        """Note the times that ``block`` covers; all of its lines are looked at only when it covers over an hour."""

        def moment(line: bytes) -> int | None:
            entry = form.parse(line)
            return None if entry is None else entry.moment

        spans = self._count.spans
        first, last = moment(block[: block.find(b"\n") + 1]), moment(block[block.rfind(b"\n", 0, -1) + 1 :])
        if first is not None and last is not None and abs(last - first) <= HOUR:
            spans.add(first)
            spans.add(last)
        else:
            spans.read(block.splitlines(keepends=True), moment)


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

"""The formats of access logs: how a line is recognised, searched quickly for its User-Agent, and parsed.

The cost of a log lies in the lines that are of no interest. Each format therefore cuts the User-Agent out of a line
by a cheap rule; only lines whose User-Agent names a client, or where the rule is in doubt, are parsed.
Lines are bytes as the server wrote them; what is parsed is plain: escapes are undone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from io import BytesIO
from typing import Any, Final
from urllib.parse import unquote_to_bytes

import msgspec

from aui_tui.visits.lines import (
    DOUBT,
    NO_AGENT,
    Format,
    Found,
    Interesting,
    Visit,
    address_column,
    address_list,
    any_time,
    clf_time,
    duration,
    is_address,
    names,
    target_of,
    unescaped,
    whole_number,
)

# ---------------------------------------------------------------- common and combined

_TEXT: Final = rb'"((?:[^"\\]++|\\.)*+)"'
_CLF: Final = re.compile(
    rb'(\S*) (\S+) ([^"]*?)\[([^\]"]{26})\] ' + _TEXT + rb" (\d{3}|-) (\d+|-)"
    rb"(?: " + _TEXT + rb" " + _TEXT + rb'((?: .*)?)|(?: [^"]*)?)',
    re.DOTALL,
)
_REQUEST_TIME: Final = re.compile(rb'(?:^|[ "=])(\d{1,6}\.\d{3})(?=$|[ "])|(?:^| )(\d{1,8})ms(?=$| )')
_ENDS: Final = (b"\n", b"\r\n", b"")
_FURTHER: Final = re.compile(_TEXT, re.DOTALL)


class Clf(Format):
    """Common and combined (Apache, nginx, Traefik), with a virtual host first and further fields at the end."""

    name = "combined"
    expected = 'lines such as 192.0.2.1 - - [22/Nov/2026:04:54:30 +0000] "GET / HTTP/1.1" 200 512 "-" "User-Agent"'

    def __init__(self) -> None:
        self._without = False
        self._forwarded: int | None = None

    def cut(self, line: bytes) -> bytes:
        """Return the third quoted field."""
        parts = line.split(b'"', 6)
        return parts[5] if len(parts) > 6 and parts[4] == b" " and b"\\" not in line else DOUBT

    def wanted(self, block: bytes, interesting: Interesting) -> Iterable[bytes]:
        """Yield the lines that call for parsing; where the User-Agent ends the lines it stands behind the last gap."""
        first = block[: block.find(b"\n") + 1]
        if first.count(b'"') == 6 and first.endswith(b'"\n'):
            return [line for line in BytesIO(block) if len(pair := line.split(b'" "')) != 2 or interesting[pair[1]]]
        return super().wanted(block, interesting)

    def learn(self, lines: Sequence[bytes]) -> None:
        """Notice the common format, which has no User-Agent, and which further field is X-Forwarded-For."""
        found = [m for m in (_CLF.fullmatch(line.rstrip(b"\r\n")) for line in lines) if m]
        self._without = bool(found) and all(m[9] is None for m in found)
        self._forwarded = address_column(_further(m[10] or b"") for m in found)

    @property
    def notes(self) -> tuple[str, ...]:
        """Say that the common format has no User-Agent."""
        if not self._without:
            return ()
        return ("The log has no User-Agent (common format), so no client can be recognised: log the combined format.",)

    def parse(self, line: bytes) -> Found | None:
        """Return what ``line`` says; the plain case is read without a pattern."""
        quick = _quick_clf(line)
        if quick is not None:
            return quick
        found = _CLF.fullmatch(line.rstrip(b"\r\n"))
        if found is None:
            return None
        first, second, _, stamp, request, status, size, _, agent, rest = found.groups(b"")
        behind_host = is_address(second) or (not first and second != b"-")
        host = first if behind_host else second if b"." in second else b""
        try:
            visit = Visit(
                (second if behind_host else first).decode("ascii", "replace"),
                clf_time(stamp),
                target_of(unescaped(request)),
                whole_number(status),
                whole_number(size),
                _time_taken(rest),
                None,
                self._forwarded_in(rest),
                host.decode("ascii", "replace"),
            )
        except ValueError:
            return None
        return unescaped(agent), visit

    def _forwarded_in(self, rest: bytes) -> str:
        """Return X-Forwarded-For among the further fields: the column that was learned, else the first that fits."""
        further = _further(rest)
        if self._forwarded is not None:
            further = further[self._forwarded : self._forwarded + 1]
        return next((text for text in map(address_list, further) if text), "")


def _quick_clf(line: bytes) -> Found | None:
    """Return what a line without escapes, user and further fields says; None for any other."""
    parts = line.split(b'"', 7)
    if len(parts) != 7 or parts[4] != b" " or parts[6] not in _ENDS or b"\\" in line:
        return None
    address, _, stamp = parts[0].partition(b" - - [")
    answer = parts[2].split(b" ")
    if len(stamp) != 28 or len(answer) != 4 or not (answer[1].isdigit() and answer[2].isdigit()) or b" " in address:
        return None
    try:
        moment = clf_time(stamp[:26])
    except ValueError:
        return None
    status, size = int(answer[1]), int(answer[2][:18])
    return parts[5], Visit(address.decode("ascii", "replace"), moment, target_of(parts[1]), status, size)


def _time_taken(rest: bytes) -> float | None:
    """Return the seconds among further fields: nginx writes ``0.123``, Traefik ``5ms``."""
    found = _REQUEST_TIME.search(rest)
    if found is None:
        return None
    return float(found[1]) if found[1] else int(found[2]) / 1000


def _further(rest: bytes) -> list[bytes]:
    """Return the quoted fields behind the User-Agent."""
    return [unescaped(text) for text in _FURTHER.findall(rest)]


# ---------------------------------------------------------------- JSON lines


class JsonLines(Format):
    """One JSON object a line (Caddy, nginx, Traefik, Cloudflare Logpush, others by their key names)."""

    name = "json"
    expected = "one JSON object a line, with keys such as remote_addr, time, request, status and user_agent"

    def __init__(self) -> None:
        self._marker = b""
        self._asked = False
        self._client: tuple[str, ...] = ()

    def name_client(self, keys: tuple[str, ...]) -> None:
        """Take ``forwarded`` from the key or the request's header of one of these names."""
        self._client = keys

    def learn(self, lines: Sequence[bytes]) -> None:
        """Find how the User-Agent is written, and whether the log is Cloudflare's."""
        self._asked = True
        for line in lines:
            if b'"EdgeStartTimestamp"' in line:
                self.name, self.kind = "cloudflare", "edge"
            elif b'"DownstreamStatus"' in line:
                self.name = "traefik"
        *usual, last = names()["json"]["agent"]
        self._marker = _marker(usual, lines) or _marker([last], lines)

    @property
    def notes(self) -> tuple[str, ...]:
        """Say that no User-Agent is logged."""
        if self._marker or not self._asked:
            return ()
        return ("The log has no User-Agent, so no client can be recognised: let the server log that field.",)

    def cut(self, line: bytes) -> bytes:
        """Return the string after the key of the User-Agent."""
        at = line.find(self._marker) if self._marker else -1
        if at < 0:
            return DOUBT
        at += len(self._marker)
        text = line[at : line.find(b'"', at)]
        return DOUBT if b"\\" in text else text

    def parse(self, line: bytes) -> Found | None:
        """Return what ``line`` says; invalid UTF-8 is replaced."""
        try:
            record = msgspec.json.decode(line.decode("utf-8", "replace"))
            return _json_visit(_flat(record, self._client), self._client) if isinstance(record, dict) else None
        except (ValueError, TypeError, RecursionError, OverflowError):
            return None


def _marker(keys: Sequence[str], lines: Sequence[bytes]) -> bytes:
    """Return how the first of ``keys`` that a line has is written, up to its text; empty when none is there."""
    wanted = b"|".join(re.escape(key.encode()) for key in keys)
    pattern = re.compile(rb'"(?:' + wanted + rb')"\s*:\s*\[?\s*"', re.IGNORECASE)
    return next((found[0] for line in lines if (found := pattern.search(line))), b"")


def _flat(record: dict[str, Any], client: Sequence[str]) -> dict[str, Any]:
    """Return the values of ``record`` and of the objects in it that hold fields of the log, by key in lower case.

    Names and values that a client chooses, such as those of a query, may stand in other objects. Of the request's own
    header fields only those count that are asked for: ``client`` names the one with the client's address.
    """
    table = names()["json"]
    flat: dict[str, Any] = {}
    headers: dict[str, Any] = {}
    todo = [record]
    for part in todo:
        for key, value in part.items():
            name = key.lower()
            if not isinstance(value, dict):
                flat.setdefault(name, value)
            elif name in table["headers"]:
                headers |= {field.lower(): item for field, item in value.items()}
            elif name in table["containers"] and part is record:
                todo.append(value)
    for name in ("user-agent", "accept", "x-forwarded-for", *client):
        if name in headers:
            flat.setdefault(name, headers[name])
    return flat


def _json_fields(flat: Mapping[str, Any], client: Sequence[str]) -> dict[str, Any]:
    """Return the values of a line by the names of ``formats.toml``, None where a field is not logged."""
    table = names()["json"]
    if client:
        peers = [key for key in table["address"] if key not in client]
        table = {**table, "forwarded": list(client), "address": peers}
    return {field: _plain(next((flat[key] for key in table[field] if key in flat), None)) for field in table["fields"]}


def _json_visit(flat: Mapping[str, Any], client: Sequence[str]) -> Found | None:
    got = _json_fields(flat, client)
    if got["time"] is None or got["status"] is None:
        return None
    target = str(got["target"] or "")
    if " " in target:
        target = target_of(target.encode("utf-8", "replace"))
    visit = Visit(
        str(got["address"] or ""),
        any_time(got["time"]),
        target,
        whole_number(str(got["status"]).encode()),
        whole_number(str(got["size"] or 0).encode()),
        _json_seconds(flat),
        None if got["accept"] is None else str(got["accept"]),
        str(got["forwarded"] or ""),
        str(got["host"] or ""),
    )
    return str(got["agent"] or "").encode("utf-8", "replace"), visit


def _json_seconds(flat: Mapping[str, Any]) -> float | None:
    table = names()["json"]
    for key, unit in table["seconds"].items():
        if flat.get(key) not in (None, ""):
            nanoseconds = key in table["nanoseconds"]["keys"] and table["nanoseconds"]["beside"] in flat
            return duration(flat[key], 1e-9 if nanoseconds else unit)
    return None


def _plain(value: object) -> object:
    """Return the first value of a list, else the value."""
    return value[0] if isinstance(value, list) and value else None if isinstance(value, list) else value


# ---------------------------------------------------------------- W3C extended


class W3c(Format):
    """W3C extended log file format (IIS, CloudFront); a ``#Fields`` line may come again and change the columns."""

    name = "w3c"
    expected = "a #Fields: line with date, time, c-ip, cs-uri-stem, sc-status and cs(User-Agent), then a line a request"
    whole = True

    def __init__(self) -> None:
        self._at: dict[str, int] = {}
        self._agent = -1
        self._forwarded: Sequence[str] = names()["w3c"]["forwarded"]

    def name_client(self, keys: tuple[str, ...]) -> None:
        """Take ``forwarded`` from the column of one of these names."""
        self._forwarded = keys

    def learn(self, lines: Sequence[bytes]) -> None:
        """Notice CloudFront, which writes its log at the edge."""
        if any(b"x-edge-location" in line for line in lines[:10]):
            self.name, self.kind = "cloudfront", "edge"

    @property
    def notes(self) -> tuple[str, ...]:
        """Say that no User-Agent is logged."""
        if not self._at or self._agent >= 0:
            return ()
        return ("The log has no cs(User-Agent) field, so no client can be recognised: let the server log it.",)

    def is_line(self, line: bytes) -> bool:
        """Directives are not lines; ``#Fields`` takes effect."""
        if not line.startswith(b"#"):
            return bool(line.strip())
        if line.startswith(b"#Fields:"):
            fields = line[8:].decode("utf-8", "replace").lower().split()
            self._at = {name: place for place, name in enumerate(fields)}
            self._agent = self._at.get(names()["w3c"]["agent"][0], -1)
        return False

    def cut(self, line: bytes) -> bytes:
        """Return the column of the User-Agent."""
        if line[:1] == b"#" or self._agent < 0:
            return NO_AGENT if line[:1] != b"#" and self._at else DOUBT
        parts = line.split(b"\t" if b"\t" in line else b" ", self._agent + 1)
        return parts[self._agent].rstrip(b"\r\n") if self._agent < len(parts) else DOUBT

    def plain(self, cut: bytes) -> bytes:
        """Return the User-Agent as sent."""
        return _w3c_agent(cut)

    def wanted(self, block: bytes, interesting: Interesting) -> Iterable[bytes]:
        """Yield lines one by one: a ``#Fields`` line takes effect before the next line is cut."""
        for line in BytesIO(block):
            if interesting[self.cut(line)]:
                yield line

    def parse(self, line: bytes) -> Found | None:
        """Return what ``line`` says under the ``#Fields`` in force."""
        if not self._at:
            return None
        parts = line.rstrip(b"\r\n").decode("utf-8", "replace").split("\t" if b"\t" in line else " ")
        if len(parts) != len(self._at):
            return None
        table = names()["w3c"]

        def get(*wanted: str) -> str:
            return next((parts[self._at[name]] for name in wanted if name in self._at), "-")

        try:
            taken = get("time-taken")
            unit = 1.0 if "x-edge-location" in self._at else 0.001
            accept, forwarded, host = get(*table["accept"]), get(*self._forwarded), get(*table["host"])
            visit = Visit(
                get(*table["address"]),
                any_time(f"{get('date')}T{get('time')}+00:00"),
                get(*table["target"]),
                int(get(*table["status"])),
                whole_number(get(*table["size"]).encode()),
                None if taken == "-" else float(taken) * unit,
                None if accept == "-" else _w3c_agent(accept.encode()).decode("utf-8", "replace"),
                "" if forwarded == "-" else unquote_to_bytes(forwarded.replace("+", " ")).decode("utf-8", "replace"),
                "" if host == "-" else host,
            )
        except ValueError:
            return None
        return _w3c_agent(get(*table["agent"]).encode()), visit


def _w3c_agent(text: bytes) -> bytes:
    """Return a User-Agent as sent: IIS writes + for a space, CloudFront percent-encodes, once or twice."""
    text = text.replace(b"+", b" ") if b"%20" not in text and b"%2520" not in text else text
    if b"%" in text:
        text = unquote_to_bytes(text)
    return unquote_to_bytes(text) if b"%" in text else text


# ---------------------------------------------------------------- choosing

FORMATS: Final[tuple[Callable[[], Format], ...]] = (JsonLines, W3c, Clf)
"""Every format, in the order in which they are tried."""
SAMPLE: Final = 200
"""Lines by which a format is recognised."""


def detect(lines: Sequence[bytes]) -> Format | None:
    """Return the format that most of ``lines`` fit, ready to read on; None when none fits a single line.

    Directives alone are a W3C log of a time without requests.
    """
    best: Format | None = None
    most = 0
    for made in (form() for form in FORMATS):
        fitting = sum(made.is_line(line) and made.parse(line) is not None for line in lines[:SAMPLE])
        if fitting > most:
            best, most = made, fitting
    if best is None and lines and all(line.startswith(b"#") for line in lines):
        return W3c()
    return best

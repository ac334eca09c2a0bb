"""The formats of access logs: how a line is recognised, searched quickly for its User-Agent, and parsed.

The cost of a log lies in the lines that are of no interest. Each format therefore cuts the User-Agent out of a line
by a cheap rule; only lines whose User-Agent names a client, or where the rule is in doubt, are parsed.
Lines are bytes as the server wrote them; what is parsed is plain: escapes are undone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final
from urllib.parse import unquote_to_bytes

import msgspec

from aui_tui.addresses import address_of
from aui_tui.errors import BadValue
from aui_tui.model.visits import Kind
from aui_tui.packaged import read_table
from aui_tui.text import clean
from aui_tui.visits.lines import (
    LogLine,
    address_column,
    address_list,
    any_time,
    clf_time,
    duration,
    target_of,
    unescaped,
    whole_number,
)

DOUBT: Final = b"?"
"""What a cut gives where the cheap rule cannot be trusted: the line is parsed."""
NO_AGENT: Final = b"-"


@cache
def names() -> Mapping[str, Any]:
    """Return the packaged ``formats.toml``."""
    return read_table("visits/formats.toml", dict[str, Any])


_FIELD: Final = re.compile(r"[$%]?\{?(?:http_)?([a-z0-9_-]+)\}?i?|cs\(([a-z0-9_-]+)\)")


def client_keys(text: str) -> tuple[str, ...]:
    """Return the names in lower case that logs give to the field ``text``, where a proxy writes the client's address.

    ``X-Real-IP``, ``$http_x_real_ip`` and ``cs(X-Real-IP)`` are the same. Raises BadValue for what is not a name.
    """
    found = _FIELD.fullmatch(text.strip().lower())
    if found is None or len(text) > 100:
        raise BadValue(
            f"client_field takes the name of a field, such as X-Real-IP or $http_x_real_ip, not {clean(text, 60)!r}."
        )
    name = found[1] or found[2]
    dashed, joined = name.replace("_", "-"), name.replace("-", "_")
    return tuple(dict.fromkeys((name, dashed, joined, f"http_{joined}", f"request_{dashed}", f"cs({dashed})")))


class LogFormat:
    """A format of lines. ``name`` stands in the record, ``expected`` describes a line in words.

    ``kind`` is where such logs are written. ``nameless``: the log has no User-Agent, as ``learn`` has seen.
    ``client``: the fields that hold the client's address, as a proxy wrote it; empty for X-Forwarded-For.
    """

    name: str
    expected: str
    kind: Kind = "unknown"
    nameless: bool = False

    def __init__(self, client: Sequence[str] = ()) -> None:
        self.client = client

    def cut(self, line: bytes) -> bytes:
        """Return the User-Agent of ``line`` as it is written there, or DOUBT."""
        raise NotImplementedError

    def parse(self, line: bytes) -> LogLine | None:
        """Return what ``line`` says, None when it is not of this format."""
        raise NotImplementedError

    def plain(self, cut: bytes) -> bytes:
        """Return a cut-out User-Agent without the escapes of the format, as far as a look at its words needs it."""
        return cut

    def is_line(self, line: bytes) -> bool:
        """Say whether ``line`` counts as one: no directive and not empty."""
        return bool(line.strip())

    def learn(self, lines: Sequence[bytes]) -> None:
        """Take from the first lines of a file what the cut needs to know."""

    def fields(self, record: Mapping[str, Any]) -> LogLine | None:
        """Return what a line says whose fields have names (``formats.toml``); None without time or status.

        Raises ValueError, TypeError, OverflowError.
        """

        def get(field: str) -> Any:
            """Return the value of a field, the first of a list; None where it is not logged."""
            keys = self.client if self.client and field == "forwarded" else names()[field]
            own = self.client if field == "address" else ()
            value = next((record[key] for key in keys if key in record and key not in own), None)
            return next(iter(value), None) if isinstance(value, list) else value

        moment, status = get("time"), get("status")
        if moment is None or status is None:
            return None
        target, accept = str(get("target") or ""), get("accept")
        return LogLine(
            str(get("agent") or "").encode("utf-8", "replace"),
            str(get("address") or ""),
            any_time(moment),
            target_of(target.encode("utf-8", "replace")) if " " in target else target,
            whole_number(str(status).encode()),
            whole_number(str(get("size") or 0).encode()),
            _seconds(record),
            None if accept is None else str(accept),
            str(get("forwarded") or ""),
            str(get("host") or ""),
        )


def _seconds(record: Mapping[str, Any]) -> float | None:
    """Return the time to answer; None where it is not logged."""
    for known in names()["seconds"]:
        value = record.get(known["name"])
        if value not in (None, "") and known.get("beside", known["name"]) in record:
            return duration(value, known["unit"])
    return None


_TEXT: Final = rb'"((?:[^"\\]++|\\.)*+)"'
_PLAIN: Final = re.compile(
    rb'([^ "]*) - - \[([^\]"]{26})\] "[^ "\\]+ ([^ "\\]+) HTTP/[^ "\\]*" (\d{3}) (\d{1,18}) "[^"\\]*" "([^"\\]*)"\r?\n?'
)
"""A line without escapes, user and further fields, as nearly all of a log are."""
_CLF: Final = re.compile(
    rb'(\S*) (\S+) ([^"]*?)\[([^\]"]{26})\] ' + _TEXT + rb" (\d{3}|-) (\d+|-)"
    rb"(?: " + _TEXT + rb" " + _TEXT + rb'((?: .*)?)|(?: [^"]*)?)',
    re.DOTALL,
)
_REQUEST_TIME: Final = re.compile(rb'(?:^|[ "=])(\d{1,6}\.\d{3})(?=$|[ "])|(?:^| )(\d{1,8})ms(?=$| )')
_FURTHER: Final = re.compile(_TEXT, re.DOTALL)


class Clf(LogFormat):
    """Common and combined (Apache, nginx, Traefik), with a virtual host first and further fields at the end.

    The client's address stands in the further field that holds addresses, whatever ``client`` names.
    """

    name = "combined"
    expected = 'lines such as 192.0.2.1 - - [22/Nov/2026:04:54:30 +0000] "GET / HTTP/1.1" 200 512 "-" "User-Agent"'
    _forwarded: int | None = None
    _bare: bool = False
    """Nothing stands behind the User-Agent."""

    def cut(self, line: bytes) -> bytes:
        """Return the third quoted field; what ends the line may still stand behind it."""
        if self._bare:
            pair = line.split(b'" "')
            return pair[1] if len(pair) == 2 else DOUBT
        parts = line.split(b'"', 6)
        return parts[5] if len(parts) > 6 and parts[4] == b" " and b"\\" not in line else DOUBT

    def learn(self, lines: Sequence[bytes]) -> None:
        """Notice the common format, which has no User-Agent, and which further field is X-Forwarded-For."""
        found = [m for m in (_CLF.fullmatch(line.rstrip(b"\r\n")) for line in lines) if m]
        self.nameless = bool(found) and all(m[9] is None for m in found)
        self._bare = bool(found) and all(m[10] == b"" for m in found)
        self._forwarded = address_column(_further(m[10] or b"") for m in found)

    def parse(self, line: bytes) -> LogLine | None:
        """Return what ``line`` says."""
        try:
            if plain := _PLAIN.fullmatch(line):
                address, stamp, target, status, size, agent = plain.groups()
                shown = target.decode("utf-8", "replace")
                return LogLine(
                    agent, address.decode("ascii", "replace"), clf_time(stamp), shown, int(status), int(size)
                )
            found = _CLF.fullmatch(line.rstrip(b"\r\n"))
            if found is None:
                return None
            first, second, _, stamp, request, status, size, _, agent, rest = found.groups(b"")
            behind_host = address_of(second.decode("ascii", "replace")) is not None or (not first and second != b"-")
            host = first if behind_host else second if b"." in second else b""
            return LogLine(
                unescaped(agent),
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

    def _forwarded_in(self, rest: bytes) -> str:
        """Return X-Forwarded-For among the further fields: the column that was learned, else the first that fits."""
        further = _further(rest)
        if self._forwarded is not None:
            further = further[self._forwarded : self._forwarded + 1]
        return next((text for text in map(address_list, further) if text), "")


def _time_taken(rest: bytes) -> float | None:
    """Return the seconds among further fields: nginx writes ``0.123``, Traefik ``5ms``."""
    found = _REQUEST_TIME.search(rest)
    if found is None:
        return None
    return float(found[1]) if found[1] else int(found[2]) / 1000


def _further(rest: bytes) -> list[bytes]:
    """Return the quoted fields behind the User-Agent."""
    return [unescaped(text) for text in _FURTHER.findall(rest)]


class JsonLines(LogFormat):
    """One JSON object a line (Caddy, nginx, Traefik, Cloudflare Logpush, others by their key names)."""

    name = "json"
    expected = "one JSON object a line, with keys such as remote_addr, time, request, status and user_agent"
    _marker: bytes = b""

    def learn(self, lines: Sequence[bytes]) -> None:
        """Find how the User-Agent is written, and whether the log is Cloudflare's or Traefik's."""
        for line in lines:
            if b'"EdgeStartTimestamp"' in line:
                self.name, self.kind = "cloudflare", "edge"
            elif b'"DownstreamStatus"' in line:
                self.name = "traefik"
        *usual, last = names()["agent"]
        self._marker = _marker(usual, lines) or _marker([last], lines)
        self.nameless = not self._marker

    def cut(self, line: bytes) -> bytes:
        """Return the string after the key of the User-Agent."""
        at = line.find(self._marker) if self._marker else -1
        if at < 0:
            return DOUBT
        at += len(self._marker)
        text = line[at : line.find(b'"', at)]
        return DOUBT if b"\\" in text else text

    def parse(self, line: bytes) -> LogLine | None:
        """Return what ``line`` says; invalid UTF-8 is replaced."""
        try:
            record = msgspec.json.decode(line.decode("utf-8", "replace"))
            return self.fields(_flat(record, self.client)) if isinstance(record, dict) else None
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
    table = names()
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


class W3c(LogFormat):
    """W3C extended log file format (IIS, CloudFront); a ``#Fields`` line may come again and change the columns."""

    name = "w3c"
    expected = "a #Fields: line with date, time, c-ip, cs-uri-stem, sc-status and cs(User-Agent), then a line a request"

    def __init__(self, client: Sequence[str] = ()) -> None:
        super().__init__(client)
        self._columns: list[str] = []
        self._agent = -1
        self._encoded = {*names()["agent"], *names()["accept"], *names()["forwarded"], *client}

    def learn(self, lines: Sequence[bytes]) -> None:
        """Notice CloudFront, which writes its log at the edge."""
        if any(b"x-edge-location" in line for line in lines[:10]):
            self.name, self.kind = "cloudfront", "edge"

    def is_line(self, line: bytes) -> bool:
        """Directives are not lines; ``#Fields`` takes effect."""
        if not line.startswith(b"#"):
            return bool(line.strip())
        if line.startswith(b"#Fields:"):
            self._columns = line[8:].decode("utf-8", "replace").lower().split()
            self._agent = self._columns.index("cs(user-agent)") if "cs(user-agent)" in self._columns else -1
            self.nameless = self._agent < 0
        return False

    def cut(self, line: bytes) -> bytes:
        """Return the column of the User-Agent."""
        if line[:1] == b"#" or self._agent < 0:
            return NO_AGENT if line[:1] != b"#" and self._columns else DOUBT
        parts = line.split(b"\t" if b"\t" in line else b" ", self._agent + 1)
        return parts[self._agent].rstrip(b"\r\n") if self._agent < len(parts) else DOUBT

    def plain(self, cut: bytes) -> bytes:
        """Return a User-Agent as sent: IIS writes + for a space, CloudFront percent-encodes, once or twice."""
        text = cut.replace(b"+", b" ") if b"%20" not in cut and b"%2520" not in cut else cut
        if b"%" in text:
            text = unquote_to_bytes(text)
        return unquote_to_bytes(text) if b"%" in text else text

    def parse(self, line: bytes) -> LogLine | None:
        """Return what ``line`` says under the ``#Fields`` in force."""
        parts = line.rstrip(b"\r\n").split(b"\t" if b"\t" in line else b" ")
        if len(parts) != len(self._columns):
            return None
        pairs = ((name, part) for name, part in zip(self._columns, parts, strict=True) if part != b"-")
        record = {
            name: (self.plain(part) if name in self._encoded else part).decode("utf-8", "replace")
            for name, part in pairs
        }
        try:
            return self.fields({**record, "time": f"{record.get('date')}T{record.get('time')}+00:00"})
        except ValueError:
            return None


FORMATS: Final[tuple[Callable[[Sequence[str]], LogFormat], ...]] = (JsonLines, W3c, Clf)
"""Every format, in the order in which they are tried."""
SAMPLE: Final = 200
"""Lines by which a format is recognised."""


def detect(lines: Sequence[bytes], client: Sequence[str] = ()) -> LogFormat | None:
    """Return the format that most of ``lines`` fit, ready to read on; None when none fits a single line.

    Directives alone are a W3C log of a time without requests, and no lines at all one of any format.
    """
    best: LogFormat | None = None
    most = 0
    for made in (form(client) for form in FORMATS):
        fitting = sum(made.is_line(line) and made.parse(line) is not None for line in lines[:SAMPLE])
        if fitting > most:
            best, most = made, fitting
    if best is None and all(line.startswith(b"#") for line in lines):
        return W3c(client) if lines else Clf(client)
    return best

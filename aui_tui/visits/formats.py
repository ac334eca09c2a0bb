"""The formats of access logs: how a line is recognised, searched quickly for its User-Agent, and parsed.

The cost of a log lies in the lines that are of no interest. Each format therefore cuts the User-Agent out of a line
by a cheap rule; only lines whose User-Agent names a client, or where the rule is in doubt, are parsed.
Lines are bytes as the server wrote them; what is parsed is plain: escapes are undone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
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
    match = _FIELD.fullmatch(text.strip().lower())
    if match is None or len(text) > 100:
        raise BadValue(
            f"client_field takes the name of a field, such as X-Real-IP or $http_x_real_ip, not {clean(text, 60)!r}."
        )
    name = match[1] or match[2]
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
        """Return a cut-out User-Agent without the escapes of the format, as far as its words need that."""
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
    for field in names()["seconds"]:
        value = record.get(field["name"])
        if value not in (None, "") and field.get("beside", field["name"]) in record:
            return duration(value, field["unit"])
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
        matches = [match for match in (_CLF.fullmatch(line.rstrip(b"\r\n")) for line in lines) if match]
        self.nameless = bool(matches) and all(match[9] is None for match in matches)
        self._bare = bool(matches) and all(match[10] == b"" for match in matches)
        self._forwarded = address_column(_further(match[10] or b"") for match in matches)

    def parse(self, line: bytes) -> LogLine | None:
        """Return what ``line`` says."""
        try:
            if plain := _PLAIN.fullmatch(line):
                address, stamp, target, status, size, agent = plain.groups()
                shown = target.decode("utf-8", "replace")
                return LogLine(
                    agent, address.decode("ascii", "replace"), clf_time(stamp), shown, int(status), int(size)
                )
            match = _CLF.fullmatch(line.rstrip(b"\r\n"))
            if match is None:
                return None
            first, second, user, stamp, request, status, size, _, agent, rest = match.groups(b"")
            addresses = [address_of(part.decode("ascii", "replace")) for part in (first, second, *user.split())]
            if first.endswith(b":") or (any(addresses[2:]) and not any(addresses[:2])):
                return None  # what stands before the address is no part of this format
            behind_host = addresses[1] is not None or (not first and second != b"-")
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
    match = _REQUEST_TIME.search(rest)
    if match is None:
        return None
    return float(match[1]) if match[1] else int(match[2]) / 1000


def _further(rest: bytes) -> list[bytes]:
    """Return the quoted fields behind the User-Agent."""
    return [unescaped(text) for text in _FURTHER.findall(rest)]


class JsonLines(LogFormat):
    """One JSON object a line (Caddy, nginx, Traefik, Cloudflare Logpush, others by their key names)."""

    name = "json"
    expected = "one JSON object a line, with keys such as remote_addr, time, request, status and user_agent"
    _marker: bytes = b""

    def learn(self, lines: Sequence[bytes]) -> None:
        """Find how the User-Agent is written, and whose log it is."""
        for product in names()["product"]:
            keys = [f'"{key}"'.encode() for key in product["keys"]]
            if any(all(key in line for key in keys) for line in lines):
                self.name, self.kind = product["name"], product.get("kind", self.kind)
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
            entry = self.fields(_flat(record, self.client)) if isinstance(record, dict) else None
            several = entry is not None and self.name == "vercel"  # each message of a function is a line
            return entry._replace(request=str(record.get("requestId") or "")) if entry and several else entry
        except (ValueError, TypeError, RecursionError, OverflowError):
            return None


def _marker(keys: Sequence[str], lines: Sequence[bytes]) -> bytes:
    """Return how the first of ``keys`` that a line has is written, up to its text; empty when none is there."""
    names = b"|".join(re.escape(key.encode()) for key in keys)
    pattern = re.compile(rb'"(?:' + names + rb')"\s*:\s*\[?\s*"', re.IGNORECASE)
    return next((match[0] for line in lines if (match := pattern.search(line))), b"")


def _flat(record: dict[str, Any], client: Sequence[str]) -> dict[str, Any]:
    """Return the values of ``record`` and of the objects in it that hold fields of the log, by key in lower case.

    Names and values that a client chooses, such as those of a query, may stand in other objects. Of the request's own
    header fields only those count that are asked for: ``client`` names the one with the client's address.
    """
    table = names()
    flat: dict[str, Any] = {}
    headers: dict[str, Any] = {}
    request = next((value for key, value in record.items() if key.lower() in table["first"]), None)
    todo = [*([request] if isinstance(request, dict) else ()), record]
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


FIELDS: Final[Mapping[str, str]] = {
    "client": r"[^\s\"]*",
    "time": r"\d\d/[A-Z][a-z]{2}/\d{4}:[\d:]{8} [+-]\d{4}|\d{4}[-/]\d\d[-/]\d\d[T ][\d:.,]{8,18}(?: ?[+-]\d\d:?\d\d|Z)?"
    r"|\d{10,19}(?:\.\d{1,9})?",
    "request": "",
    "method": "",
    "path": "",
    "status": r"\d{3}|-",
    "bytes": r"\d{1,18}|-",
    "seconds": r"[\d.]{1,20}|-",
    "agent": "",
    "referer": "",
    "host": "",
    "scheme": "",
    "user": "",
    "forwarded": "",
    "accept": "",
    "-": "",
}
"""The fields of a template with the pattern of their values; empty: up to what follows. ``{-}`` is anything."""
_NEEDED: Final = ("client", "time", "status", "agent")
_FIELD_NAME: Final = re.compile(r"\{([^{}]*)\}")
_LONGEST_TEMPLATE: Final = 1000


class Template(LogFormat):
    """Lines with fields at fixed places: ``{client} {time} "{request}" {status} {bytes} "{referer}" "{agent}"``.

    Further fields may stand behind the last one. Making one raises BadValue for a ``template`` that cannot be read.
    """

    name = "template"

    def __init__(self, template: str, name: str = "template", client: Sequence[str] = ()) -> None:
        super().__init__(client)
        self.name, self.expected = name, f"lines such as {clean(template, 200)}"
        *literals, end = _FIELD_NAME.split(template)
        before, fields = literals[::2], literals[1::2]
        _check_template(template, fields)
        self._fields = [field for field in fields if field != "-"]
        pattern = "".join(
            re.escape(literal) + _group(field, (*before, end)[at + 1], quoted=literal.endswith('"'))
            for at, (literal, field) in enumerate(zip(before, fields, strict=True))
        )
        self._pattern = re.compile((pattern + re.escape(end)).encode() + rb"(?:\s.*)?", re.DOTALL)
        at = fields.index("agent")
        quotes = "".join(before[: at + 1]).count('"')
        self._quote = quotes if before[at].endswith('"') and quotes % 2 else None
        """How many quotation marks stand before the User-Agent; None where it stands in none."""

    def cut(self, line: bytes) -> bytes:
        """Return what stands between the quotation marks of the User-Agent."""
        if self._quote is None or b"\\" in line:
            return DOUBT
        parts = line.split(b'"', self._quote + 1)
        return parts[self._quote] if len(parts) > self._quote + 1 else DOUBT

    def parse(self, line: bytes) -> LogLine | None:
        """Return what ``line`` says."""
        match = self._pattern.fullmatch(line.rstrip(b"\r\n"))
        if match is None:
            return None
        value = {name: unescaped(text) for name, text in zip(self._fields, match.groups(), strict=True)}
        text = {name: "" if raw == b"-" else raw.decode("utf-8", "replace") for name, raw in value.items()}
        try:
            return LogLine(
                value["agent"],
                text["client"],
                any_time(text["time"].replace(",", ".")),
                target_of(value["request"]) if "request" in value else text["path"],
                whole_number(value["status"]),
                whole_number(value.get("bytes", b"")),
                duration(text["seconds"], 1.0) if text.get("seconds") else None,
                text.get("accept"),
                text.get("forwarded", ""),
                text.get("host", ""),
            )
        except ValueError:
            return None


def _check_template(template: str, fields: Sequence[str]) -> None:
    """Raise BadValue with one sentence for a template that cannot be read."""
    named = [field for field in fields if field != "-"]
    unknown = next((field for field in named if field not in FIELDS), None)
    twice = next((field for field in named if named.count(field) > 1), None)
    missing = [field for field in _NEEDED if field not in named]
    if unknown is not None:
        allowed = ", ".join(FIELDS)
        raise BadValue(f"--log-format has no field {{{clean(unknown, 60)}}}: its fields are {allowed}.")
    if len(template) > _LONGEST_TEMPLATE or re.search(r"\}\{", template):
        raise BadValue("--log-format takes at most 1,000 characters, with something between two fields.")
    if twice is not None:
        raise BadValue(f"--log-format names the field {{{twice}}} twice: a field to be skipped is {{-}}.")
    if missing or not {"request", "path"} & set(named):
        lacking = ", ".join(f"{{{field}}}" for field in missing) or "{request} or {path}"
        raise BadValue(
            f"--log-format lacks {lacking}: it needs {{client}}, {{time}}, {{status}}, {{agent}}, and {{request}} or "
            "{path}."
        )


def _group(field: str, following: str, *, quoted: bool) -> str:
    """Return the pattern of a field, up to the text ``following`` it in the template."""
    if quoted and following.startswith('"'):
        value = r'(?:[^"\\]++|\\.)*+'
    else:
        value = FIELDS[field] or (rf"[^\s{re.escape(following[0])}]*" if following else r"\S*")
    return f"(?:{value})" if field == "-" else f"({value})"


class Prefixed(LogFormat):
    """Lines of an ``inner`` format behind what a collector of logs writes before each of them."""

    def __init__(self, inner: LogFormat, name: str, strip: Callable[[bytes], bytes | None]) -> None:
        super().__init__(inner.client)
        self._inner, self._prefix, self._strip = inner, name, strip
        self.expected = f"{inner.expected}, each behind a prefix of {name}"
        self._update()

    def _update(self) -> None:
        self.name = f"{self._inner.name} in {self._prefix}"
        self.kind, self.nameless = self._inner.kind, self._inner.nameless

    def cut(self, line: bytes) -> bytes:
        """Return the cut of the rest of ``line``."""
        stripped = self._strip(line)
        return DOUBT if stripped is None else self._inner.cut(stripped)

    def parse(self, line: bytes) -> LogLine | None:
        """Return what the rest of ``line`` says; None without the prefix."""
        stripped = self._strip(line)
        return None if stripped is None else self._inner.parse(stripped)

    def plain(self, cut: bytes) -> bytes:
        """Return a User-Agent without the escapes of the inner format."""
        return self._inner.plain(cut)

    def is_line(self, line: bytes) -> bool:
        """Say whether the rest of ``line`` counts as one."""
        stripped = self._strip(line)
        return bool(line.strip()) if stripped is None else self._inner.is_line(stripped)

    def learn(self, lines: Sequence[bytes]) -> None:
        """Let the inner format learn from the rests of ``lines``."""
        self._inner.learn([rest for rest in map(self._strip, lines) if rest is not None])
        self._update()


@cache
def _prefixes() -> tuple[tuple[str, Callable[[bytes], bytes | None]], ...]:
    """Return what takes a prefix off a line, None where it has none, with the name of the prefix."""

    def behind(pattern: re.Pattern[bytes]) -> Callable[[bytes], bytes | None]:
        return lambda line: line[match.end() :] if (match := pattern.match(line)) else None

    listed = ((row["name"], behind(re.compile(row["pattern"].encode()))) for row in names()["prefix"])
    return (("docker", _of_docker), *listed)


def _of_docker(line: bytes) -> bytes | None:
    """Return the line in a line of Docker's driver ``json-file``."""
    if not line.startswith(b'{"log":"'):
        return None
    try:
        record = msgspec.json.decode(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return str(record["log"]).encode("utf-8", "replace") if isinstance(record.get("log"), str) else None


def _formats(client: Sequence[str]) -> Iterator[LogFormat]:
    """Yield every format, in the order in which they are tried."""
    yield JsonLines(client)
    yield W3c(client)
    for row in names()["pattern"]:
        yield Template(row["line"], row["name"], client)
    yield Clf(client)


SAMPLE: Final = 200
"""Lines by which a format is recognised."""
_MOST_PREFIXES: Final = 3


def detect(
    lines: Sequence[bytes], client: Sequence[str] = (), template: str = "", depth: int = _MOST_PREFIXES
) -> LogFormat | None:
    """Return the format that most of ``lines`` fit, ready to read on; None when none fits a single line.

    Directives alone are a W3C log of a time without requests, and no lines at all one of any format. ``template``: the
    form of the lines, as the user says. Up to ``depth`` prefixes may stand before each line.
    """
    sample = lines[:SAMPLE]
    for name, strip in _prefixes() if depth else ():
        rests = [rest for rest in map(strip, sample) if rest is not None]
        if 2 * len(rests) > len(sample) and (inner := detect(rests, client, template, depth - 1)):
            return Prefixed(inner, name, strip)
    best: LogFormat | None = None
    most = 0
    for made in [Template(template, client=client)] if template else _formats(client):
        fitting = sum(made.is_line(line) and made.parse(line) is not None for line in sample)
        if fitting > most:
            best, most = made, fitting
    if best is None and not template and all(line.startswith(b"#") for line in lines):
        return W3c(client) if lines else Clf(client)
    return best


def unknown(lines: Sequence[bytes]) -> str:
    """Return the error message for ``lines`` in no known format."""
    text = next((line.strip() for line in lines if line.strip()), b"")
    if text.startswith(b"["):
        return "it is a JSON array; write one object a line (jq -c '.[]' does)"
    if text.startswith(b"{"):
        absent = [f"{field} ({', '.join(names()[field])})" for field in ("time", "status") if not _has_key(field, text)]
        if absent:
            return f"its JSON has no key for {' and '.join(absent)}; these names were looked for"
    return (
        "its first lines are in no known format; expected are combined, JSON or W3C lines, or name the fields by "
        "--log-format"
    )


def _has_key(field: str, line: bytes) -> bool:
    try:
        record = msgspec.json.decode(line.decode("utf-8", "replace"))
        return any(key in _flat(record, ()) for key in names()[field])
    except (ValueError, TypeError, RecursionError, AttributeError):
        return False

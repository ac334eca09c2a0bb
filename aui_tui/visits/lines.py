"""One line of an access log: what a format must say about it, the values that lines hold in any format, and the formats
that the user describes, as an nginx ``log_format`` or an Apache ``LogFormat`` string.
"""

from __future__ import annotations

import ipaddress
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone
from functools import cache, lru_cache
from importlib.resources import files
from io import BytesIO
from typing import Any, Final, NamedTuple

import msgspec

from aui_tui.errors import BadValue, MissingExtra
from aui_tui.model.visits import Kind
from aui_tui.text import clean

DOUBT: Final = b"?"
"""What a cut gives where the cheap rule cannot be trusted: the line is parsed."""
NO_AGENT: Final = b"-"
EARLIEST: Final = datetime(1990, 1, 1, tzinfo=UTC).timestamp()
LATEST: Final = datetime(2100, 1, 1, tzinfo=UTC).timestamp()


class Visit(NamedTuple):
    """One parsed line. ``address`` is the peer as logged.

    ``forwarded``: the X-Forwarded-For of the request, or the field that the user named instead; empty where it is not
    logged.

    ``moment``: whole seconds since the epoch. ``seconds``, ``accept``: None where they are not logged. ``host``: the
    virtual host, empty where it is not logged.
    """

    address: str
    moment: int
    target: str
    status: int
    size: int
    seconds: float | None = None
    accept: str | None = None
    forwarded: str = ""
    host: str = ""


_FIELD: Final = re.compile(
    r"\$(?:http_)?([a-z0-9_]+)|\$\{(?:http_)?([a-z0-9_]+)\}|%\{([a-z0-9_-]+)\}i|cs\(([a-z0-9_-]+)\)|([a-z0-9_-]+)"
)


class ClientField(NamedTuple):
    """The field in which a trusted proxy writes the client's address.

    ``shown`` is as the user wrote it, ``keys`` are the names that logs give to it, in lower case.
    """

    shown: str
    keys: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> ClientField:
        """Return the field called ``X-Real-IP``, ``$http_x_real_ip``, ``%{X-Real-IP}i`` or ``cs(X-Real-IP)``.

        Raises BadValue for anything else.
        """
        found = _FIELD.fullmatch(text.strip().lower())
        if found is None or len(text) > 100:
            raise BadValue(
                "--client-field takes the name of a field, such as X-Real-IP or $http_x_real_ip, "
                f"not {clean(text, 60)!r}."
            )
        name = next(part for part in found.groups() if part is not None)
        dashed, joined = name.replace("_", "-"), name.replace("-", "_")
        keys = (name, dashed, joined, f"http_{joined}", f"request_{dashed}", f"cs({dashed})")
        return cls(text.strip(), tuple(dict.fromkeys(keys)))


Found = tuple[bytes, Visit]
"""The User-Agent as sent, and the rest of the line."""
Interesting = Mapping[bytes, bool]
"""Whether a cut-out User-Agent, with what may still stand behind it, calls for parsing its line."""


class Format:
    """A format of lines. ``name`` is what ``--format`` takes, ``expected`` describes a line in words.

    ``kind`` is where such logs are written. ``whole``: a file must be read from its beginning. ``notes``: what such a
    log cannot show.
    """

    name: str = ""
    expected: str = ""
    kind: Kind = "unknown"
    whole: bool = False

    def cut(self, line: bytes) -> bytes:
        """Return the User-Agent of ``line`` as it is written there, or DOUBT."""
        raise NotImplementedError

    def parse(self, line: bytes) -> Found | None:
        """Return what ``line`` says, None when it is not of this format."""
        raise NotImplementedError

    def plain(self, cut: bytes) -> bytes:
        """Return a cut-out User-Agent without the escapes of the format, as far as a look at its words needs it."""
        return cut

    def wanted(self, block: bytes, interesting: Interesting) -> Iterable[bytes]:
        """Yield the lines of ``block`` that call for parsing."""
        cut = self.cut
        return [line for line in BytesIO(block) if interesting[cut(line)]]

    def is_line(self, line: bytes) -> bool:
        """Say whether ``line`` counts as one: no directive and not empty."""
        return bool(line.strip())

    def name_client(self, field: ClientField) -> None:
        """Take ``forwarded`` from ``field``. Raises BadValue when the fields of this format have no names."""
        raise BadValue(
            f"The fields of the {self.name} format have no names, so --client-field cannot find "
            f"{field.shown}: describe the lines by --log-format."
        )

    def learn(self, lines: Sequence[bytes]) -> None:
        """Take from the first lines of a file what the cut needs to know."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what such a log cannot show, after ``learn``."""
        return ()


@cache
def names() -> Mapping[str, Any]:
    """Return the packaged ``formats.toml``."""
    return tomllib.loads(files("aui_tui.visits").joinpath("formats.toml").read_text(encoding="utf-8"))


# ---------------------------------------------------------------- values

MONTHS: Final = {name: n for n, name in enumerate(b"Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), 1)}
_ESCAPE: Final = re.compile(rb'\\(?:x([0-9A-Fa-f]{2})|(["\\])|([ntrvbf]))')
_LETTERS: Final = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"v": b"\v", b"b": b"\b", b"f": b"\f"}


def unescaped(text: bytes) -> bytes:
    r"""Return ``text`` without the escapes of nginx (``\x22``) and Apache (``\"``, ``\\``, ``\n``, ``\xff``)."""
    if b"\\" not in text:
        return text
    return _ESCAPE.sub(lambda m: bytes([int(m[1], 16)]) if m[1] else m[2] or _LETTERS[m[3]], text)


_DAY: Final = re.compile(rb"(\d\d)/([A-Z][a-z]{2})/(\d{4}) ([+-])(\d\d)(\d\d)")
_MINUTES: Final = {b":%02d:%02d:" % divmod(minute, 60): 60 * minute for minute in range(24 * 60)}
_SECONDS: Final = {b"%02d" % second: second for second in range(61)}


@lru_cache(maxsize=1 << 12)
def _day(date: bytes, zone: bytes) -> int:
    """Return the epoch seconds at which ``22/Nov/2026`` begins in the zone `` +0100``. Raises ValueError."""
    found = _DAY.fullmatch(date + zone)
    if found is None:
        raise ValueError(date)
    offset = timedelta(hours=int(found[5]), minutes=int(found[6])) * (-1 if found[4] == b"-" else 1)
    return checked_time(
        datetime(int(found[3]), MONTHS.get(found[2], 0), int(found[1]), tzinfo=timezone(offset)).timestamp()
    )


def clf_time(text: bytes) -> int:
    """Return the epoch seconds of ``22/Nov/2026:04:54:30 +0000``. Raises ValueError."""
    try:
        return _day(text[:11], text[20:]) + _MINUTES[text[11:18]] + _SECONDS[text[18:20]]
    except KeyError:
        raise ValueError(text) from None


def any_time(value: object) -> int:
    """Return the epoch seconds of a number (in s, ms, µs or ns), an ISO 8601 time or one of a common log.

    Caddy's ``wall`` times (``2026/11/22 04:54:30``) have no zone and are taken as UTC. Raises ValueError, TypeError.
    """
    if isinstance(value, str):
        text = value.strip("[] ")
        if text[2:3] == "/":
            return clf_time(text[:26].encode())
        if text[4:5] == "/":
            text = text.replace("/", "-")
        if "T" in text or "-" in text[1:]:
            moment = datetime.fromisoformat(text)
            return checked_time((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
        value = float(text)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    while value > 1e11:
        value /= 1000
    return checked_time(value)


def checked_time(moment: float) -> int:
    """Return ``moment`` in whole seconds. Raises ValueError for a time before 1990 or after 2099."""
    if not EARLIEST <= moment < LATEST:
        raise ValueError(moment)
    return int(moment)


def target_of(request: bytes) -> str:
    """Return the request target of a request line; the whole of it when it is not of HTTP."""
    words = request.split(b" ")
    if len(words) == 3 and words[2].startswith(b"HTTP/"):
        return words[1].decode("utf-8", "replace")
    if len(words) > 3 and words[-1].startswith(b"HTTP/"):
        words = [words[0], b" ".join(words[1:-1])]
    return (words[1] if len(words) > 1 else words[0]).decode("utf-8", "replace")


def whole_number(text: bytes) -> int:
    """Return a count of a log; ``-`` is 0. Raises ValueError."""
    if text in (b"-", b""):
        return 0
    if not text.isdigit():
        raise ValueError(text)
    return int(text[:18])


@lru_cache(maxsize=1 << 12)
def is_address(text: bytes) -> bool:
    """Say whether ``text`` is an IP address."""
    try:
        ipaddress.ip_address(text.decode("ascii", "replace").partition("%")[0])
    except ValueError:
        return False
    return True


_UNITS: Final = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ns": 1e-9}
_DURATION: Final = re.compile(r"(?:\d+(?:\.\d+)?(?:h|ms|m|s|us|µs|μs|ns))+")
_DURATION_PART: Final = re.compile(r"(\d+(?:\.\d+)?)(h|ms|m|s|us|µs|μs|ns)")


def duration(value: object, unit: float) -> float | None:
    """Return the seconds of a number of ``unit`` seconds each, or of a text such as ``1m2.5s``; None for others."""
    if isinstance(value, str) and len(value) < 40 and _DURATION.fullmatch(value):
        return sum(float(number) * _UNITS[name] for number, name in _DURATION_PART.findall(value))
    try:
        return float(value) * unit  # type: ignore[arg-type]  # float says what it takes
    except (TypeError, ValueError):
        return None


def address_list(text: bytes) -> str:
    """Return ``text`` when it is a list of addresses as X-Forwarded-For holds it, else nothing.

    Its last entry is what the nearest proxy wrote, an address; what stands before it can be anything.
    """
    last = text.rpartition(b",")[2].strip().decode("ascii", "replace")
    is_list = any(is_address(found.encode("ascii", "replace")) for found in (last, without_port(last)))
    return text.decode("ascii", "replace") if is_list else ""


def address_column(rows: Iterable[Sequence[bytes]]) -> int | None:
    """Return the place at which most of ``rows`` have a list of addresses; None when none has one."""
    seen = Counter(at for row in rows for at, text in enumerate(row) if address_list(text))
    return seen.most_common(1)[0][0] if seen else None


def without_port(text: str) -> str:
    """Return an address without its port: ``192.0.2.1:80``, ``[2001:db8::1]:80`` or ``2001:db8::1:80`` (AWS)."""
    if text.startswith("["):
        return text[1:].partition("]")[0]
    head, colon, _ = text.rpartition(":")
    return head if colon and (head.count(":") != 0 or head.count(".") == 3) else text


_VARIABLE: Final = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_PIECE: Final = re.compile(r"""'([^']*)'|"((?:[^"\\]|\\.)*)\"""")
_QUOTED: Final = rb'(?:[^"\\]++|\\.)*+'
_DATE: Final = rb"\d\d/[A-Za-z]{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}"


def of_string(text: str) -> Format:
    """Return the format that ``text`` describes. Raises BadValue with one sentence when it cannot be used."""
    text = _pasted(text.strip())
    if "$" in text:
        return NginxString(text)
    if "%" in text:
        return ApacheString(text)
    raise BadValue(
        "--log-format takes an nginx string with variables such as $remote_addr, or an Apache string with directives "
        "such as %h."
    )


def _pasted(text: str) -> str:
    """Return the string inside a whole ``log_format name '...' '...';`` or ``LogFormat "..." name`` of a file."""
    if not text.lower().startswith(("log_format", "logformat")):
        return text
    pieces = [m[1] if m[1] is not None else m[2].replace('\\"', '"') for m in _PIECE.finditer(text)]
    return "".join(pieces) or text


class _Described(Format):
    """What both kinds have in common: the User-Agent is cut out by the number of quotation marks before it."""

    def __init__(self, text: str, before: str) -> None:
        self.text = text
        self.expected = f"lines of the format {clean(text, 120)}"
        self._quotes = before.count('"') if before.endswith('"') else 0

    def cut(self, line: bytes) -> bytes:
        """Return the quoted field of the User-Agent; DOUBT where it is not quoted."""
        if not self._quotes:
            return line
        parts = line.split(b'"', self._quotes + 1)
        return parts[self._quotes] if len(parts) > self._quotes + 1 and b"\\" not in line else DOUBT


class NginxString(_Described):
    """A ``log_format`` string of nginx."""

    name = "nginx"

    def __init__(self, text: str) -> None:
        pieces = _VARIABLE.split(text)
        literals, variables = pieces[::3], [a or b for a, b in zip(pieces[1::3], pieces[2::3], strict=True)]
        known: Mapping[str, str] = names()["nginx"]
        self._variables = variables
        self._fields = [known.get(name, "") for name in variables]
        missing = [name for name in ("agent", "status", "time") if name not in self._fields]
        if missing:
            wanted = {"agent": "$http_user_agent", "status": "$status", "time": "$time_local"}
            raise BadValue(f"The log format has no {' and no '.join(wanted[name] for name in missing)}.")
        self._json = text.startswith("{")
        pattern = re.escape(literals[0].encode())
        for at, variable in enumerate(variables):
            value = _value(variable, literals[at], literals[at + 1], last=at + 1 == len(variables))
            pattern += b"(" + value + b")" + re.escape(literals[at + 1].encode())
        self._pattern = re.compile(pattern, re.DOTALL)
        at = self._fields.index("agent")
        super().__init__(text, "".join(literals[: at + 1]))

    def name_client(self, field: ClientField) -> None:
        """Take ``forwarded`` from the variable ``field``. Raises BadValue when the format does not have it."""
        at = next((place for place, name in enumerate(self._variables) if name in field.keys), None)
        if at is None:
            raise BadValue(f"The log format has no {field.shown}, which --client-field names.")
        self._fields = ["" if name == "forwarded" else name for name in self._fields]
        self._fields[at] = "forwarded"

    def parse(self, line: bytes) -> Found | None:
        """Return what ``line`` says."""
        found = self._pattern.fullmatch(line.rstrip(b"\r\n"))
        if found is None:
            return None
        got: dict[str, bytes] = {}
        for name, value in zip(self._fields, found.groups(b""), strict=True):
            got.setdefault(name, self._unescaped(value))
        try:
            seconds = got.get("seconds", b"-")
            forwarded = got.get("forwarded", b"-")
            visit = Visit(
                got.get("address", got.get("peer", b"")).decode("ascii", "replace"),
                any_time(got["time"].decode("ascii", "replace")),
                target_of(got["request"]) if "request" in got else got.get("target", b"").decode("utf-8", "replace"),
                whole_number(got["status"]),
                whole_number(got.get("size", b"-")),
                None if seconds in (b"-", b"") else float(seconds),
                got["accept"].decode("utf-8", "replace") if "accept" in got else None,
                "" if forwarded == b"-" else forwarded.decode("ascii", "replace"),
                got.get("host", b"").decode("ascii", "replace"),
            )
        except (ValueError, TypeError):
            return None
        return got["agent"], visit

    def _unescaped(self, value: bytes) -> bytes:
        if not self._json:
            return unescaped(value)
        if b"\\" in value:
            try:
                return str(msgspec.json.decode(f'"{value.decode("utf-8", "replace")}"')).encode("utf-8", "replace")
            except ValueError:
                return value
        return value


def _value(variable: str, before: str, after: str, *, last: bool) -> bytes:
    """Return the pattern of a variable's value between two literals. Raises BadValue where its end cannot be seen."""
    if before.endswith('"') and after.startswith('"'):
        return _QUOTED
    if variable == "time_local":
        return _DATE
    if last and not after:
        return rb".*"
    if not after:
        raise BadValue(f"In the log format nothing separates ${variable} from the variable after it.")
    if after[0] == " " and variable == "http_user_agent":
        raise BadValue("A User-Agent holds spaces: put quotation marks around $http_user_agent in the log format.")
    stop = re.escape(after[0].encode())
    if after[0] != " ":
        return rb"[^" + stop + rb"]*+"
    words = rb"[^ ]*+(?:, [^ ]++)*+"
    return rb"(?:\S+ \S+ HTTP/[\d.]+|" + words + rb")" if variable == "request" else words


_APACHE_TIME: Final = re.compile(r"%[<>]?(?:\{[^}]*\})?t")


class ApacheString(_Described):
    """A ``LogFormat`` string of Apache, read by the library apachelogs (extra ``logs``).

    A time without a zone is taken as UTC.
    """

    name = "apache"

    def __init__(self, text: str) -> None:
        try:
            from apachelogs import LogParser
        except ImportError:
            raise MissingExtra("An Apache format string", "logs") from None
        try:
            self._parser = LogParser(text)
        except ValueError as error:
            raise BadValue(f"The Apache log format cannot be used: {clean(str(error), 120)}.") from None
        lower = text.lower()
        if "%{user-agent}i" not in lower or not _APACHE_TIME.search(text) or not re.search(r"%[<>]?s", text):
            raise BadValue("The Apache log format needs %{User-Agent}i, %t and %>s.")
        super().__init__(text, text[: lower.index("%{user-agent}i")].replace('\\"', '"'))
        self._forwarded: tuple[str, ...] = ("x-forwarded-for",)

    def name_client(self, field: ClientField) -> None:
        """Take ``forwarded`` from the request's header ``field``. Raises BadValue when the format does not log it."""
        if not any(f"%{{{name}}}i" in self.text.lower() for name in field.keys):
            raise BadValue(f"The log format has no {field.shown}, which --client-field names.")
        self._forwarded = field.keys

    def parse(self, line: bytes) -> Found | None:
        """Return what ``line`` says."""
        try:
            entry = self._parser.parse(line.rstrip(b"\r\n").decode("latin-1"))
        except ValueError:
            return None
        got: dict[str, Any] = entry.directives
        headers = {str(name).lower(): value for name, value in (getattr(entry, "headers_in", None) or {}).items()}
        request = getattr(entry, "request_line", None) or getattr(entry, "request_uri", None) or ""
        status = getattr(entry, "final_status", None) or getattr(entry, "status", None) or 0
        try:
            time: datetime = entry.request_time
            moment = any_time((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp())
        except (ValueError, AttributeError):
            return None
        visit = Visit(
            _first(got, "%a", "%h", "%{c}a"),
            moment,
            target_of(request.encode("latin-1", "replace")),
            int(status),
            int(_first(got, "%B", "%b", "%O") or 0),
            _apache_seconds(got),
            _text(headers.get("accept")),
            _first(headers, *self._forwarded),
            _first(got, "%v", "%V"),
        )
        return (headers.get("user-agent") or "").encode("latin-1", "replace"), visit


def _first(values: Mapping[str, Any], *names: str) -> str:
    """Return the first value that is there and not empty; empty for none."""
    return next((str(values[name]) for name in names if values.get(name) not in (None, "")), "")


def _apache_seconds(got: Mapping[str, Any]) -> float | None:
    for name, unit in (("%D", 1e-6), ("%{us}T", 1e-6), ("%{ms}T", 1e-3), ("%T", 1.0), ("%{s}T", 1.0)):
        if got.get(name) is not None:
            return float(got[name]) * unit
    return None


def _text(value: object) -> str | None:
    return None if value is None else str(value)

"""One line of an access log: what a format must say about it, and the values that lines hold in any format."""

from __future__ import annotations

import ipaddress
import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone
from functools import cache, lru_cache
from importlib.resources import files
from io import BytesIO
from typing import Any, Final, NamedTuple

from aui_tui.errors import BadValue
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


Found = tuple[bytes, Visit]
"""The User-Agent as sent, and the rest of the line."""
Interesting = Mapping[bytes, bool]
"""Whether a cut-out User-Agent, with what may still stand behind it, calls for parsing its line."""


class Format:
    """A format of lines. ``name`` stands in the record, ``expected`` describes a line in words.

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

    def name_client(self, keys: tuple[str, ...]) -> None:
        """Take ``forwarded`` from the first of the fields ``keys`` that a line has.

        A format whose fields have no names takes the one behind the User-Agent that holds addresses.
        """

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


_EPOCH_UNITS: Final = (1, 1e3, 1e6, 1e9)


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
    return checked_time(next((value / unit for unit in _EPOCH_UNITS if value / unit < LATEST), math.inf))


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

"""Formats that the user describes, as an nginx ``log_format`` or an Apache ``LogFormat`` string."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from aui_tui.errors import BadValue, ConfigError
from aui_tui.text import clean
from aui_tui.visits.lines import (
    DOUBT,
    ClientField,
    Format,
    Found,
    Visit,
    any_time,
    names,
    target_of,
    unescaped,
    whole_number,
)

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


class ApacheString(_Described):
    """A ``LogFormat`` string of Apache, read by the library apachelogs (extra ``logs``)."""

    name = "apache"

    def __init__(self, text: str) -> None:
        try:
            from apachelogs import LogParser
        except ImportError:
            raise ConfigError("Apache format strings need the extra “logs”: pip install 'aui-tui[logs]'.") from None
        try:
            self._parser = LogParser(text)
        except ValueError as error:
            raise BadValue(f"The Apache log format cannot be used: {clean(str(error), 120)}.") from None
        lower = text.lower()
        missing = [name for name in ("%{user-agent}i", "%t") if name not in lower]
        if missing or not re.search(r"%[<>]?s", text):
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
        size = next((got[name] for name in ("%B", "%b", "%O") if got.get(name) is not None), 0)
        address = next((got[name] for name in ("%a", "%h", "%{c}a") if got.get(name)), "")
        try:
            moment = any_time(entry.request_time.timestamp())
        except (ValueError, AttributeError):
            return None
        visit = Visit(
            str(address),
            moment,
            target_of(request.encode("latin-1", "replace")),
            int(status),
            int(size),
            _apache_seconds(got),
            _text(headers.get("accept")),
            next((str(headers[name]) for name in self._forwarded if headers.get(name)), ""),
            str(got.get("%v") or got.get("%V") or ""),
        )
        return (headers.get("user-agent") or "").encode("latin-1", "replace"), visit


def _apache_seconds(got: Mapping[str, Any]) -> float | None:
    for name, unit in (("%D", 1e-6), ("%{us}T", 1e-6), ("%{ms}T", 1e-3), ("%T", 1.0), ("%{s}T", 1.0)):
        if got.get(name) is not None:
            return float(got[name]) * unit
    return None


def _text(value: object) -> str | None:
    return None if value is None else str(value)

"""Publishing an index over HTTP, the extra ``serve``: how it is started, what the operator decides.

Limits that are not the operator's to raise stand here too.
"""

from __future__ import annotations

import ipaddress
import socket
import sys
from importlib.util import find_spec
from typing import Final
from urllib.parse import urlsplit

import msgspec

from aui_tui.errors import ConfigError
from aui_tui.text import clean, web_address

NAME: Final = "Agentic usability index"
SUMMARY: Final = "How usable websites are by AI agents that act live for a person: scores, grades, evidence and fixes."
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

MAX_TARGET: Final = 4096
"""Longest request target (path and query) in bytes; above it 414."""
MAX_FIELDS: Final = 100
"""Most header fields of a request; above it 431."""
MAX_HEAD: Final = 16 * 1024
"""Most bytes of all header fields of a request; above it 431."""
MAX_BODY: Final = 64 * 1024
"""Most bytes of a request body (only ``/mcp`` and the scan form take one); above it 413."""
MAX_CONNECTIONS: Final = 1000
"""Connections and requests one worker serves at once; above it 503."""
SEND_SECONDS: Final = 10.0
"""A connection must send a whole request within this time."""
STALL_SECONDS: Final = 30.0
"""A peer that takes nothing of a waiting answer for this time is cut off."""
REQUEST_SECONDS: Final = 120.0
"""An answer is made within this time, or not at all; how long a peer may take it is bounded by STALL_SECONDS."""
SHUTDOWN_SECONDS: Final = 60
"""Running scans have this long to finish after a request to stop."""


class ApiConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of the HTTP API.

    ``base_url``: address under which people reach the service, no trailing slash, empty for the one that is bound; it
    names the records' ``url`` and the accepted Host. ``trusted_proxies``: networks whose X-Forwarded-For counts.
    ``cors``: origins whose pages may read the API, ``*`` for any. ``allow_origin``: origins whose pages may read it and
    start scans.
    """

    base_url: str
    trusted_proxies: tuple[Network, ...] = ()
    cors: tuple[str, ...] = ()
    allow_origin: tuple[str, ...] = ()

    @property
    def host(self) -> str:
        """Host of ``base_url``, lower case, without port and brackets."""
        return urlsplit(self.base_url).hostname or ""

    @property
    def root(self) -> str:
        """Path of ``base_url`` without a trailing slash; links of the pages start with it."""
        return urlsplit(self.base_url).path

    @property
    def origin(self) -> str:
        """Origin of our own pages, as users know it."""
        return origin_of(self.base_url) or ""

    @property
    def readers(self) -> tuple[str, ...]:
        """Origins whose pages may read the API."""
        return (*self.cors, *self.allow_origin)


def checked_config(
    base_url: str,
    *,
    trusted_proxies: tuple[str, ...] = (),
    cors: tuple[str, ...] = (),
    allow_origin: tuple[str, ...] = (),
) -> ApiConfig:
    """Return the checked settings. Raises ConfigError with one sentence that names the setting at fault."""
    return ApiConfig(
        base_url=base_url,
        trusted_proxies=tuple(_network(text) for text in trusted_proxies),
        cors=tuple("*" if text == "*" else _origin(text, "A CORS origin must be like {}, or *") for text in cors),
        allow_origin=tuple(_origin(text, "An admitted origin must be like {}") for text in allow_origin),
    )


def _network(text: str) -> Network:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        raise ConfigError(
            f"A trusted proxy must be an address or a network such as 10.0.0.0/8, not {clean(text, 60)!r}."
        ) from None


def _origin(text: str, problem: str) -> str:
    address = web_address(text)
    origin = origin_of(address) if address is not None and address.count("/") == 2 else None
    if origin is None:
        raise ConfigError(f"{problem.format('https://app.example')}, not {clean(text, 60)!r}.")
    return origin


def origin_of(url: str) -> str | None:
    """Return the origin of an http or https address as a browser writes it (RFC 6454 6.2); None when it has none."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not host or not host.isascii():
        return None
    name = f"[{host}]" if ":" in host else host
    default = 443 if parts.scheme == "https" else 80
    return f"{parts.scheme}://{name}" if port in (None, default) else f"{parts.scheme}://{name}:{port}"


def serves_tools() -> bool:
    """Say whether the tool server can run here: the ``mcp`` library is installed."""
    return find_spec("mcp") is not None


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket. Raises ConfigError when the address cannot be bound."""
    if not host.strip():
        raise ConfigError("The address to listen on is empty; name one, such as 127.0.0.1, or 0.0.0.0 for every one.")
    listener: socket.socket | None = None
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, place = addresses[0]
        listener = socket.socket(family, kind, protocol)
        if sys.platform != "win32":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
        listener.listen(512)
        listener.set_inheritable(True)
    except (OSError, OverflowError, UnicodeError) as error:  # a name may be too long for a look-up
        if listener is not None:
            listener.close()
        raise ConfigError(f"Cannot listen on {clean(host, 80)} port {port}: {_reason(error)}.") from None
    return listener


def address_of(listener: socket.socket) -> str:
    """Return the address under which a listening socket is reached, such as http://127.0.0.1:8000.

    One that listens everywhere is reached by the name of this machine: a link to 127.0.0.1 leads others to themselves.
    """
    host, port = listener.getsockname()[:2]
    name = socket.gethostname().lower() if host in ("0.0.0.0", "::") else host  # noqa: S104 - compared, not bound
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def _reason(error: Exception) -> str:
    if isinstance(error, UnicodeError):  # its words differ from Python to Python
        return "no host can have that name"
    return clean((getattr(error, "strerror", None) or str(error)).rstrip("."), 120).lower()

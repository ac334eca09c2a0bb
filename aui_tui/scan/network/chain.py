"""The intermediate certificate that a server leaves out, taken from where its own certificate says (RFC 5280 4.2.2.1).

Browsers do the same. Nothing is sent to the site meanwhile. What was fetched is trusted by nobody: only a chain that
ends in a root known here is accepted, and a certificate that OpenSSL might take for a root is no intermediate.
"""

from __future__ import annotations

import asyncio
import re
import ssl
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, Final

import httpcore

from aui_tui.errors import InvalidHost
from aui_tui.scan import target
from aui_tui.scan.network.replies import NetworkError
from aui_tui.scan.network.routes import Routes
from aui_tui.scan.policy import ScanPolicy
from aui_tui.scan.target import Origin

MAX_SIZE: Final = 1 << 16
"""Bytes of a certificate."""
_ISSUER_AT: Final = re.compile(
    rb"\x06\x08\x2b\x06\x01\x05\x05\x07\x30\x02\x86(?:([\x00-\x7f])|\x81(.)|\x82(..))", re.DOTALL
)
"""In DER: the object identifier id-ad-caIssuers, and the length of the URI that follows."""
_HTTP: Final = re.compile(r"http://([^/?#@\\]+)(/[\x21-\x7e]*)", re.IGNORECASE)

Download = Callable[[Origin, str, int], Awaitable[bytes]]
"""Returns what an origin has at a path, if it has at most so many bytes. Raises NetworkError."""


class Chains:
    """The missing intermediates of one scan, each looked for once; ``completed``: the hosts that needed theirs."""

    def __init__(self, access: ScanPolicy, routes: Routes, download: Download) -> None:
        self._access = access
        self._routes = routes
        self._download = download
        self._found: dict[tuple[str, int], asyncio.Task[bytes]] = {}
        self.completed: set[str] = set()

    def close(self) -> None:
        """End what is under way."""
        for task in self._found.values():
            task.cancel()

    async def intermediate(self, host: str, port: int) -> bytes:
        """Return the certificate that the server leaves out, as DER; empty where it cannot be had."""
        if (host, port) not in self._found:
            self._found[host, port] = asyncio.create_task(self._look(host, port))
        return await asyncio.shield(self._found[host, port])

    async def _look(self, host: str, port: int) -> bytes:
        with suppress(TimeoutError, NetworkError, httpcore.ConnectError, OSError):
            async with asyncio.timeout(self._access.limits.connect):
                for address in issuer_addresses(await self._leaf(host, port)):
                    certificate = await self._fetch(address)
                    if certificate and is_intermediate(certificate):
                        return certificate
        return b""

    async def _leaf(self, host: str, port: int) -> bytes:
        """Return the certificate that the server shows, not verified, over a connection that carries nothing else."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        stream = await self._routes.connect(host, port)
        try:
            await stream.start_tls(context, server_hostname=host)
            return stream.certificate
        finally:
            stream.abort()

    async def _fetch(self, address: str) -> bytes:
        match = _HTTP.fullmatch(address)
        if match is None:
            return b""
        try:
            origin = target.parse(f"http://{match[1]}", allow_private=True).origin
            self._access.check(origin)
        except InvalidHost:
            return b""
        return await self._download(origin, match[2], MAX_SIZE)


def issuer_addresses(certificate: bytes) -> Iterator[str]:
    """Yield at most two addresses at which a ``certificate`` in DER says that its issuer's can be had."""
    for match in islice(_ISSUER_AT.finditer(certificate), 2):
        size = int.from_bytes(match[1] or match[2] or match[3], "big")
        yield certificate[match.end() : match.end() + size].decode("latin-1")


def is_intermediate(certificate: bytes) -> bool:
    """Return whether ``certificate`` in DER is one of an authority, valid now, that needs an issuer of its own.

    OpenSSL takes one for a root whose subject is its issuer, compared without case and blanks.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(cadata=certificate)
        authorities: list[dict[str, Any]] = context.get_ca_certs()
        if context.cert_store_stats()["x509"] != 1 or len(authorities) != 1:
            return False
        authority = authorities[0]
        began, ends = (ssl.cert_time_to_seconds(authority[name]) for name in ("notBefore", "notAfter"))
    except (ValueError, OSError, KeyError):
        return False
    return began <= time.time() <= ends and _folded(authority["subject"]) != _folded(authority["issuer"])


def _folded(name: tuple[tuple[tuple[str, str], ...], ...]) -> list[tuple[str, str]]:
    return sorted((kind, "".join(value.split()).lower()) for part in name for kind, value in part)

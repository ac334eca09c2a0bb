"""The extra ``fast``: pyreqwest, an HTTP client in Rust, for crawls along the same checked routes.

A client of that library takes the addresses that it may dial when it is built, and building one costs CPU time; so
hosts that are scanned at about the same time share a ``ClientBatch``, one client for each identity. It gets only a GET
of a plain path, with the fields of the client that it speaks for. A request that it brings to no status line goes again
by the ordinary client, whose words are the ones that are reported. One difference stays: a server that speaks TLS
but not HTTP/2 gets ``Host`` last and ``priority``, since the library learns the version after the fields are given.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import AsyncExitStack, suppress
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from aui_tui.scan.network.streams import FINAL_STATUSES, HTTP2_ONLY, Field, NetworkError, Reply
from aui_tui.scan.policy import ScanPolicy
from aui_tui.scan.target import Origin

if TYPE_CHECKING:
    from pyreqwest.client import Client as RustClient
    from pyreqwest.response import Response

MOST: Final = 64
"""Hosts that share one batch at most."""
WINDOW: Final = 0.5
"""Seconds for which a batch waits for further hosts; a tenth of them while no other batch is at work."""
MEMORY: Final = 256 << 20
"""Bytes by which this process may grow while a batch is at work."""
_WATCH: Final = 0.1
"""Seconds between looks at the memory."""
_GRACE: Final = 1.0
"""Seconds that a request may outlive its probe: the library finishes what was cancelled before its status came."""
_PLAIN_PATH: Final = re.compile(r"/[A-Za-z0-9/._~-]*")
"""Paths that a URL parser leaves as they are, dot segments apart."""
_CERTIFICATE: Final = re.compile(rb"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)
_PAGE: Final = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 0
_VERSIONS: Final = {"HTTP/2.0": "HTTP/2"}


def installed() -> bool:
    """Return whether the extra is there."""
    return find_spec("pyreqwest") is not None


def resident() -> int:
    """Return the bytes of memory that this process has in use, 0 where the system does not say (outside Linux)."""
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[1]) * _PAGE
    except (OSError, IndexError, ValueError):
        return 0


class ClientBatch:
    """Clients, one for each identity, and the address and port to dial for each host that they serve."""

    def __init__(self, identities: Sequence[bool]) -> None:
        self.identities = identities
        self.dialled: dict[str, tuple[str, int]] = {}
        self.full = asyncio.Event()
        self.ready = asyncio.Event()
        self.clients: Sequence[RustClient] = ()
        self.users = 0

    def origin_clients(self, origin: Origin) -> list[OriginClient]:
        """Return each identity's way to ``origin``; none when no client could be built."""
        return [
            OriginClient(client, origin, http2) for client, http2 in zip(self.clients, self.identities, strict=False)
        ]

    async def close(self) -> None:
        """Drop every connection."""
        clients, self.clients = self.clients, ()
        for client in clients:
            await client.close()


class PyreqwestTransport:
    """Makes up batches of clients under ``access``, on one event loop; an async context manager.

    ``identities``: for each client of a batch, whether it offers HTTP/2. ``most`` and ``window``: hosts that share a
    batch, and seconds for which it waits for them.
    """

    def __init__(
        self, access: ScanPolicy, identities: Sequence[bool], *, most: int = MOST, window: float = WINDOW
    ) -> None:
        self._access = access
        self._identities = identities
        self._most = most
        self._window = window
        self._joining: ClientBatch | None = None
        self._crews = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> PyreqwestTransport:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._joining is not None:
            self._joining.full.set()
        while tasks := tuple(self._tasks):
            await asyncio.gather(*tasks)
            self._tasks.difference_update(tasks)

    @staticmethod
    def serves(host: str) -> bool:
        """Return whether ``host`` is a name that the library dials as given, and not an address that it rewrites."""
        from pyreqwest.http import Url

        try:
            return Url(f"https://{host}/").domain == host
        except ValueError:
            return False

    async def join(self, host: str, address: str, port: int) -> ClientBatch:
        """Return a batch that dials ``address`` and ``port`` for ``host``; it is to be given back by :meth:`leave`."""
        batch = self._joining
        if batch is None or batch.dialled.get(host, (address, port)) != (address, port):
            batch = self._joining = ClientBatch(self._identities)
            self._start(self._man(batch))
        batch.dialled[host] = (address, port)
        batch.users += 1
        if len(batch.dialled) >= self._most:
            self._joining = None
            batch.full.set()
        try:
            await batch.ready.wait()
        except asyncio.CancelledError:
            self.leave(batch)
            raise
        return batch

    def leave(self, batch: ClientBatch) -> None:
        """Give ``batch`` back; its connections end with its last user."""
        batch.users -= 1
        if batch.users == 0 and batch.ready.is_set():
            self._start(self._dismiss(batch))

    async def _man(self, batch: ClientBatch) -> None:
        window = self._window if self._crews else self._window / 10
        self._crews += 1
        with suppress(TimeoutError):
            async with asyncio.timeout(window):
                await batch.full.wait()
        if self._joining is batch:
            self._joining = None
        with suppress(Exception):  # a batch without clients: everything is asked the ordinary way
            batch.clients = await asyncio.to_thread(self._build, batch.dialled)
        batch.ready.set()
        if batch.users == 0:
            await self._dismiss(batch)
        elif batch.clients:
            await self._watch(batch)

    async def _watch(self, batch: ClientBatch) -> None:
        """Drop the connections of a batch that fills the memory: the library keeps every interim response of HTTP/2.

        What was asked on them is asked the ordinary way.
        """
        limit = resident() + MEMORY
        while batch.clients:
            await asyncio.sleep(_WATCH)
            if resident() > limit:
                await batch.close()

    async def _dismiss(self, batch: ClientBatch) -> None:
        self._crews -= 1
        await batch.close()

    def _build(self, dialled: dict[str, tuple[str, int]]) -> Sequence[RustClient]:
        cafile = self._access.cafile
        trusted = _CERTIFICATE.findall(Path(cafile).read_bytes()) if cafile else []
        return [self._client(dialled, trusted, http2) for http2 in self._identities]

    def _client(self, dialled: dict[str, tuple[str, int]], trusted: Sequence[bytes], http2: bool) -> RustClient:
        from pyreqwest.client import ClientBuilder

        builder = ClientBuilder().http2(http2).follow_redirects(False).no_proxy().referer(False)
        builder = builder.gzip(False).brotli(False).zstd(False).deflate(False)
        limits = self._access.limits
        builder = builder.connect_timeout(timedelta(seconds=limits.connect))
        builder = builder.timeout(timedelta(seconds=limits.probe + _GRACE))
        builder = builder.danger_accept_invalid_certs(self._access.insecure)
        for certificate in trusted:
            builder = builder.add_root_certificate_pem(certificate)
        for host, (address, port) in dialled.items():
            builder = builder.resolve(host, address, port)
        return builder.build()

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class OriginClient:
    """One identity's way through a batch to one origin."""

    def __init__(self, client: RustClient, origin: Origin, http2: bool = True) -> None:
        self.http2 = http2
        self._client = client
        self._origin = origin

    async def get(self, stack: AsyncExitStack, origin: Origin, path: str, fields: Sequence[Field]) -> Reply | None:
        """Send GET ``path``; the answer lasts as long as ``stack``. None: it is to be asked the ordinary way."""
        if origin != self._origin or not _is_plain(path):
            return None
        headers = [(name.decode("ascii"), value.decode("ascii")) for name, value in fields]
        if not any(name.lower() == "accept" for name, _ in headers):
            return None  # the library would add one
        if origin.scheme == "http" or not self.http2:
            headers = [("Host", origin.authority), *(field for field in headers if field[0].encode() not in HTTP2_ONLY)]
        request = self._client.get(f"{origin.scheme}://{origin.authority}{path}").headers(headers)
        request = request.streamed_read_buffer_limit(0)  # so that the status comes before the body
        try:
            async with AsyncExitStack() as own:
                response = await own.enter_async_context(request.build_streamed())
                answered = [(name.encode("ascii"), value.encode()) for name, value in response.headers.items()]
                if response.status < FINAL_STATUSES[0]:
                    return None
                await stack.enter_async_context(own.pop_all())
        except Exception:  # the ordinary client meets it too and reports it
            return None
        version = _VERSIONS.get(response.version, response.version)
        return Reply(response.status, answered, version, _chunks(response))


def _is_plain(path: str) -> bool:
    return _PLAIN_PATH.fullmatch(path) is not None and not {".", ".."} & set(path.split("/"))


async def _chunks(response: Response) -> AsyncGenerator[bytes, None]:
    reader = response.body_reader
    try:
        while (chunk := await reader.read_chunk()) is not None:
            yield bytes(chunk)
    except Exception as error:  # whatever the library raises for a broken body
        raise NetworkError("protocol", "the answer broke off") from error

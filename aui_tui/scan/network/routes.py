"""The connections of a scan: names looked up once, every address checked, the checked one dialled.

``getaddrinfo`` has no time limit and cannot be cancelled, so each look-up has a thread, which keeps its place until it
ends; there are more places than a crawl meets dead names. Threads are daemons: none keeps the process from ending.
"""

from __future__ import annotations

import asyncio
import errno
import re
import socket
from collections.abc import Callable, Sequence
from itertools import chain, zip_longest
from typing import Final, TypeVar
from weakref import WeakKeyDictionary

import httpcore

from aui_tui.errors import Unavailable
from aui_tui.scan import target
from aui_tui.scan.network import streams
from aui_tui.scan.network.replies import NetworkError
from aui_tui.scan.policy import ScanPolicy, Via
from aui_tui.threads import abandonable

LOOKUPS: Final = 320
"""Look-ups that run at a time."""

T = TypeVar("T")
Lookup = Callable[[str], Sequence[str]]


def system_lookup(host: str) -> tuple[str, ...]:
    """Return the addresses of ``host`` in the system's order (RFC 6724), each once. Raises OSError; may block."""
    entries = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in entries))


class SystemResolver:
    """Look-ups for one event loop, each in a thread of its own; at most LOOKUPS run at a time."""

    def __init__(self, lookup: Lookup = system_lookup) -> None:
        self._lookup = lookup
        self._places = asyncio.Semaphore(LOOKUPS)

    async def __call__(self, host: str) -> Sequence[str]:
        """Return the addresses of ``host``. Raises OSError (``socket.gaierror`` when there is no such name)."""
        await self._places.acquire()
        answer = abandonable(lambda: self._lookup(host))
        answer.add_done_callback(self._ended)
        try:
            return await asyncio.shield(answer)
        except UnicodeError as error:
            raise OSError(str(error)) from None

    def _ended(self, answer: asyncio.Future[Sequence[str]]) -> None:
        self._places.release()
        _consume(answer)


_resolvers: WeakKeyDictionary[asyncio.AbstractEventLoop, SystemResolver] = WeakKeyDictionary()


def system_resolver() -> SystemResolver:
    """Return the running event loop's resolver, shared by all its scans."""
    loop = asyncio.get_running_loop()
    return _resolvers.get(loop) or _resolvers.setdefault(loop, SystemResolver())


STAGGER: Final = 0.25
"""Seconds before the next address is tried beside one that has not answered (RFC 8305 5)."""
NO_ROOM: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
"""What the system says when it is out of open files or memory."""
LOOPBACK: Final = ("127.0.0.1", "::1")
"""Where every name under localhost leads, whatever a name server says (RFC 6761 6.3)."""
_MAX_PROXY_HEAD: Final = 8192
"""Bytes of a proxy's answer."""
MAX_ADDRESSES: Final = 8
"""Checked addresses of one name that are tried."""


class Routes:
    """What all clients of a scan share: its look-ups, and its knowledge of ports that do not answer."""

    def __init__(self, access: ScanPolicy) -> None:
        self._access = access
        self._names: dict[str, asyncio.Future[tuple[str, ...]]] = {}
        self._dead: dict[tuple[str, int], NetworkError] = {}

    def close(self) -> None:
        """Drop the look-ups that nobody waits for."""
        for pending in self._names.values():
            pending.cancel()

    async def connect(self, host: str, port: int) -> streams.Stream:
        """Return a connection to a checked address of ``host``.

        Raises NetworkError, and Unavailable when this machine cannot open one: that says nothing about the host.
        """
        try:
            if (host, port) in self._dead:
                raise self._dead[host, port]
            if self._access.via is not None and self._access.rule_for(host, port) is None:
                return await self._through(self._access.via, host, port)
            addresses, to_port = await self.resolve(host, port)
            return await self._dial(addresses, to_port)
        except NetworkError as error:
            if error.silent:
                self._dead[host, port] = error
            raise

    async def _through(self, via: Via, host: str, port: int) -> streams.Stream:
        """Return a tunnel to ``host`` by way of a proxy, which looks the name up. Raises NetworkError."""
        if target.parse_address(host) is not None and not self._access.may_dial(host):
            raise NetworkError("address", f"{host} is an address outside the public Internet")
        try:
            stream = await self._dial(await self._addresses(via.host), via.port)
        except NetworkError as error:
            raise NetworkError("connect", f"the proxy {via.host}:{via.port} cannot be reached") from error
        try:
            async with asyncio.timeout(self._access.limits.connect):
                await (_socks5 if via.scheme == "socks5" else _connect)(stream, host, port)
        except (TimeoutError, httpcore.NetworkError, ValueError, EOFError) as error:
            stream.abort()
            raise NetworkError("connect", f"the proxy {via.host}:{via.port} does not lead to {host}") from error
        return stream

    async def resolve(self, host: str, port: int) -> tuple[Sequence[str], int]:
        """Return the addresses and the port to dial for ``host``; one bad address refuses the name.

        Raises NetworkError of kind ``dns`` or ``address``.
        """
        rule = self._access.rule_for(host, port)
        if rule is not None and rule.to_host:
            return await self._addresses(rule.to_host), rule.to_port or port
        addresses = await self._addresses(host)
        if not all(self._access.may_dial(address) for address in addresses):
            if self._access.remote:  # a stranger learns nothing of the names of this network
                raise NetworkError("dns", f"the name {host} does not resolve")
            raise NetworkError("address", f"{host} leads to an address outside the public Internet")
        return addresses, (rule.to_port if rule is not None else None) or port

    async def _addresses(self, host: str) -> tuple[str, ...]:
        if target.parse_address(host) is not None:
            return (host,)
        if host.endswith(".localhost") and self._access.resolver is None:
            return LOOPBACK
        pending = self._names.get(host)
        if pending is None:
            pending = self._names[host] = asyncio.ensure_future(self._look_up(host))
            pending.add_done_callback(_consume)
        return await asyncio.shield(pending)

    async def _look_up(self, host: str) -> tuple[str, ...]:
        limit = self._access.limits.lookup
        resolver = self._access.resolver or system_resolver()
        try:
            async with asyncio.timeout(limit):
                addresses = tuple(await resolver(host))
        except TimeoutError as error:
            raise NetworkError("dns", f"the name servers gave no answer for {host} within {limit:g} s") from error
        except OSError as error:
            if isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN:
                raise NetworkError("dns", f"the name servers could not be asked for {host}") from error
            raise NetworkError("dns", f"the name {host} does not resolve") from error
        if not addresses:
            raise NetworkError("dns", f"the name {host} does not resolve")
        return addresses

    async def _dial(self, addresses: Sequence[str], port: int) -> streams.Stream:
        """Return the first connection that is made."""
        limit = self._access.limits.connect
        running: set[asyncio.Task[streams.Stream]] = set()
        try:
            async with asyncio.timeout(limit):
                return await _race(_interleave(addresses)[:MAX_ADDRESSES], port, running)
        except TimeoutError as error:
            raise NetworkError("connect", f"no connection to port {port} within {limit:g} s", silent=True) from error
        except OSError as error:
            what = "refuses connections" if _refused(error) else "cannot be reached"
            raise NetworkError("connect", f"port {port} {what}", silent=True) from error
        finally:
            for task in running:
                task.add_done_callback(_abort)
                task.cancel()


async def _connect(stream: streams.Stream, host: str, port: int) -> None:
    """Ask an HTTP proxy for a tunnel. Raises ValueError, EOFError."""
    name = f"[{host}]" if ":" in host else host
    await stream.write(f"CONNECT {name}:{port} HTTP/1.1\r\nHost: {name}:{port}\r\n\r\n".encode("ascii"))
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += await _exactly(stream, 1)
        if len(head) > _MAX_PROXY_HEAD:
            raise ValueError(head)
    if not re.match(rb"HTTP/1\.[01] 2\d\d", head):
        raise ValueError(head)


async def _socks5(stream: streams.Stream, host: str, port: int) -> None:
    """Ask a SOCKS proxy for a tunnel, by name (RFC 1928 4). Raises ValueError, EOFError."""
    await stream.write(b"\x05\x01\x00")
    if await _exactly(stream, 2) != b"\x05\x00":
        raise ValueError(host)
    name = host.encode("ascii")
    await stream.write(b"\x05\x01\x00\x03" + bytes([len(name)]) + name + port.to_bytes(2, "big"))
    _, reply, _, kind = await _exactly(stream, 4)
    if reply:
        raise ValueError(host)
    size = {1: 4, 4: 16}.get(kind) or (await _exactly(stream, 1))[0]
    await _exactly(stream, size + 2)


async def _exactly(stream: streams.Stream, size: int) -> bytes:
    """Return the next ``size`` bytes. Raises EOFError."""
    data = b""
    while len(data) < size:
        piece = await stream.read(size - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data


async def _race(waiting: list[str], port: int, running: set[asyncio.Task[streams.Stream]]) -> streams.Stream:
    """Return the first connection that is made; a further address joins in every STAGGER seconds (RFC 8305).

    ``running`` holds the attempts that are under way. Raises OSError: ConnectionRefusedError when an address refused.
    """
    if len(waiting) == 1:
        return await streams.connect(waiting[0], port)
    refused = False
    while waiting or running:
        if waiting:
            running.add(asyncio.create_task(streams.connect(waiting.pop(0), port)))
        done, _ = await asyncio.wait(running, timeout=STAGGER if waiting else None, return_when=asyncio.FIRST_COMPLETED)
        running -= done
        stood = [task.result() for task in done if task.exception() is None]
        for late in stood[1:]:
            late.abort()
        if stood:
            return stood[0]
        for task in done:
            refused = _refused(task.exception()) or refused
    raise ConnectionRefusedError if refused else OSError("no address can be reached")


def _refused(error: BaseException | None) -> bool:
    """Say whether a connection was refused. Raises Unavailable where this machine had no room for one."""
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        raise Unavailable(f"This machine has no room for another connection: {error.strerror}.")
    return isinstance(error, ConnectionRefusedError)


def _interleave(addresses: Sequence[str]) -> list[str]:
    """Return ``addresses`` with the address families taking turns, the first one's leading (RFC 8305 4)."""
    first = ":" in addresses[0]
    same = [address for address in addresses if (":" in address) == first]
    different = [address for address in addresses if (":" in address) != first]
    return [address for address in chain.from_iterable(zip_longest(same, different)) if address is not None]


def _consume(future: asyncio.Future[T]) -> None:
    if not future.cancelled():
        future.exception()


def _abort(task: asyncio.Task[streams.Stream]) -> None:
    if not task.cancelled() and task.exception() is None:
        task.result().abort()

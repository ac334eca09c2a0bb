"""A web site on loopback whose every byte a test decides, recording what it was asked."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Self

from aui_tui.model.observations import BROWSER, FILE_PROBES
from aui_tui.model.registry import registry
from aui_tui.scan.policy import ConnectTo, Limits, ScanPolicy
from aui_tui.scan.scan import NOBODYS_TEXT
from aui_tui.scan.target import Target, parse

AGENTS = tuple(agent.key for agent in registry().live)
HOMEPAGES = (BROWSER, *AGENTS)
PLACES = (*HOMEPAGES, *FILE_PROBES)

_FILES = {
    "/robots.txt": "robots",
    "/llms.txt": "llms",
    "/.well-known/ai-plugin.json": "ai-plugin",
    "/.well-known/ucp": "ucp",
    "/.well-known/mcp.json": "mcp",
    "/.well-known/mcp/server-card.json": "mcp",
    "/.well-known/ai-catalog.json": "mcp",
    NOBODYS_TEXT: "nobody",
}
QUICK = Limits(probe=6.0, connect=6.0, lookup=1.0, pause=0.02, again=0.3, budget=15.0, whole=25.0)
"""Limits under which a fault shows soon, and a healthy answer comes in time on a busy machine."""
BRIEF = replace(QUICK, probe=2.5, connect=2.5, budget=4.0, whole=10.0)
"""The same for a site that keeps silent: its scan takes all the time that it has."""

TITLE = "A plain shop"
PAGE = f"""<!doctype html><html lang=en><head><meta charset=utf-8><title>{TITLE}</title>
<script type="application/ld+json">{{"@context":"https://schema.org","@type":"Store","name":"Shop"}}</script></head>
<body><nav aria-label=Main><a href=/>Home</a></nav><main><h1>Shop</h1><p>{"Words that can be read. " * 20}</p></main>
</body></html>""".encode()
GOOD = {
    "/": ("text/html; charset=utf-8", PAGE),
    "/robots.txt": ("text/plain", b"User-agent: *\nDisallow: /cart\nContent-Signal: search=yes, ai-input=yes\n"),
    "/llms.txt": ("text/markdown", b"# Shop\n\n> What it sells.\n"),
    "/.well-known/ai-plugin.json": (
        "application/json",
        b'{"schema_version":"v1","name_for_model":"s","api":{"type":"openapi","url":"https://shop.test/openapi.json"}}',
    ),
    "/.well-known/ucp": (
        "application/json",
        b'{"ucp":{"version":"2026-01-11","services":{"dev.ucp.shopping":{"version":"2026-01-11"}}}}',
    ),
    "/.well-known/mcp.json": (
        "application/json",
        b'{"name":"shop","version":"1.0","remotes":[{"type":"streamable-http","url":"https://shop.test/mcp"}]}',
    ),
}


@dataclass(frozen=True)
class Asked:
    """One request as received: ``fields`` in the order in which they came, ``place`` the probe that sent it."""

    connection: int
    line: str
    fields: tuple[tuple[str, str], ...]

    @property
    def path(self) -> str:
        return self.line.split(" ")[1]

    def field(self, name: str) -> str:
        return next((value for key, value in self.fields if key.lower() == name), "")

    @property
    def place(self) -> str:
        if self.path in _FILES:
            return _FILES[self.path]
        agent = self.field("user-agent")
        return next((found.key for found in registry().live if found.user_agent == agent), BROWSER)


Behaviour = Callable[[Asked, asyncio.StreamWriter], Awaitable[None]]


def answer(body: bytes, status: str = "200 OK", content_type: str = "text/html", extra: bytes = b"") -> bytes:
    """Return a whole HTTP/1.1 answer."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n".encode()
    return head + extra + b"\r\n" + body


async def good(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """Answer as a healthy site does, with each file in place."""
    if asked.path in GOOD:
        content_type, body = GOOD[asked.path]
        writer.write(answer(body, content_type=content_type))
    else:
        writer.write(answer(b"nothing here", "404 Not Found"))
    await writer.drain()


class LoopbackSite:
    """What sites share: how a scan reaches them by name, and that server and tasks end with the block."""

    host: str
    port: int
    _server: asyncio.Server
    _tasks: set[asyncio.Task[None]]

    @property
    def is_secure(self) -> bool:
        """Whether it stands at port 443."""
        return True

    @property
    def url(self) -> str:
        return f"{'https' if self.is_secure else 'http'}://{self.host}"

    @property
    def target(self) -> Target:
        return parse(self.url, allow_private=True)

    def access(self, limits: Limits = QUICK, **more: object) -> ScanPolicy:
        """Return an access whose every connection to ``host`` ends here."""
        rule = ConnectTo(self.host, 443 if self.is_secure else 80, "127.0.0.1", self.port)
        rules = (rule, *more.pop("connect_to", ()))  # type: ignore[misc]
        return ScanPolicy(connect_to=rules, limits=limits, **more)  # type: ignore[arg-type]

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@dataclass
class Site(LoopbackSite):
    """An async context manager: ``faults`` replace the healthy answer per place, ``greeting`` comes before any request.

    ``asked`` and ``opened`` record requests and connections; ``host`` is the name under which ``access`` reaches it;
    ``tls_port`` makes it stand at port 443 without TLS.
    """

    faults: Mapping[str, Behaviour] = field(default_factory=dict)
    default: Behaviour = good
    greeting: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]] | None = None
    tls: ssl.SSLContext | None = None
    tls_port: bool = False
    host: str = "shop.test"
    asked: list[Asked] = field(default_factory=list)
    opened: int = 0
    port: int = 0

    async def __aenter__(self) -> Self:
        self._tasks: set[asyncio.Task[None]] = set()
        self._streams: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, ssl=self.tls, backlog=512)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    @property
    def tasks(self) -> set[asyncio.Task[None]]:
        """The server's own tasks."""
        return set(self._tasks)

    @property
    def is_secure(self) -> bool:
        return self.tls is not None or self.tls_port

    def places(self) -> list[str]:
        """Return the probes that asked, in order."""
        return [asked.place for asked in self.asked]

    @property
    def open_now(self) -> int:
        """Connections that the client has not ended."""
        # a reader that still holds a request is not ``at_eof`` although its peer has gone
        return sum(not (reader._eof or writer.is_closing()) for reader, writer in self._streams)  # type: ignore[attr-defined]

    def forget(self) -> None:
        """Forget what was asked, and the connections that have ended."""
        self.asked.clear()
        self._streams = [pair for pair in self._streams if not pair[1].transport.is_closing()]

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.opened += 1
        self._streams.append((reader, writer))
        number = self.opened
        try:
            if self.greeting is not None:
                await self.greeting(reader, writer)
                return
            while not writer.is_closing():
                asked = parse_head(number, await reader.readuntil(b"\r\n\r\n"))
                self.asked.append(asked)
                await self.faults.get(asked.place, self.default)(asked, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()


def parse_head(connection: int, head: bytes) -> Asked:
    line, *rest = head.decode("latin-1").split("\r\n")
    fields = tuple((name, value.strip()) for name, _, value in (text.partition(":") for text in rest if text))
    return Asked(connection, line, fields)

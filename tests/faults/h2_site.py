"""A web site that speaks HTTP/2 over TLS, healthy or broken per path."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions

from tests.faults.site import GOOD, Asked, LoopbackSite, parse_head
from tests.faults.site import good as good_http11

Turn = Callable[["Talk"], Awaitable[None]]


@dataclass
class Talk:
    """One request on one stream, and the means to answer it."""

    asked: Asked
    stream: int
    connection: h2.connection.H2Connection
    writer: asyncio.StreamWriter

    async def head(self, status: str, content_type: str = "text/html", end: bool = False) -> None:
        fields = [(":status", status), ("content-type", content_type), ("server", "nginx")]
        self.connection.send_headers(self.stream, fields, end_stream=end)
        await self.flush()

    async def body(self, data: bytes, end: bool = True) -> None:
        while data:
            room = min(
                self.connection.local_flow_control_window(self.stream), self.connection.max_outbound_frame_size, 65536
            )
            if room <= 0:
                await asyncio.sleep(0.005)
                continue
            self.connection.send_data(self.stream, data[:room])
            data = data[room:]
            await self.flush()
        if end:
            self.connection.end_stream(self.stream)
            await self.flush()

    async def flush(self) -> None:
        self.writer.write(self.connection.data_to_send())
        await self.writer.drain()


async def good(talk: Talk) -> None:
    """Answer as a healthy site."""
    found = GOOD.get(talk.asked.path)
    await talk.head("200" if found else "404", found[0] if found else "text/plain")
    await talk.body(found[1] if found else b"nothing here")


async def silence(talk: Talk) -> None:
    """Never answer."""
    await asyncio.sleep(60)


async def reset(talk: Talk) -> None:
    """Refuse the stream."""
    talk.connection.reset_stream(talk.stream, h2.errors.ErrorCodes.REFUSED_STREAM)
    await talk.flush()


async def reset_in_body(talk: Talk) -> None:
    """Send the page and break off."""
    await talk.head("200")
    await talk.body(GOOD["/"][1], end=False)
    talk.connection.reset_stream(talk.stream, h2.errors.ErrorCodes.INTERNAL_ERROR)
    await talk.flush()


async def goaway(talk: Talk) -> None:
    """Give the connection up without an answer."""
    talk.connection.close_connection()
    await talk.flush()
    talk.writer.close()


async def endless(talk: Talk) -> None:
    """Send a page that never ends."""
    await talk.head("200")
    await talk.body(GOOD["/"][1], end=False)
    while True:
        await talk.body(b"x" * 65536, end=False)


async def garbage(talk: Talk) -> None:
    """Send bytes that are no frames."""
    talk.writer.write(b"HTTP/1.1 200 OK\r\n\r\nnot frames at all, in no way whatever" * 20)
    await talk.writer.drain()


async def bad_frame_in_body(talk: Talk) -> None:
    """Send the page and then a DATA frame on stream 0, an error of the whole connection (RFC 9113 6.1)."""
    await talk.head("200")
    await talk.body(GOOD["/"][1], end=False)
    await asyncio.sleep(0.2)
    talk.writer.write(b"\x00\x00\x01\x00\x00\x00\x00\x00\x00x")
    await talk.writer.drain()


def odd_status(status: str) -> Turn:
    """Return a turn that answers with ``status``."""

    async def turn(talk: Talk) -> None:
        talk.connection.config.validate_outbound_headers = False
        talk.connection.config.normalize_outbound_headers = False
        talk.connection.send_headers(talk.stream, [(":status", status), ("content-type", "text/html")], end_stream=True)
        await talk.flush()

    return turn


async def broken_block(talk: Talk) -> None:
    """Send a HEADERS frame whose block HPACK cannot read."""
    block = b"\xff" * 40
    talk.writer.write(len(block).to_bytes(3, "big") + b"\x01\x05" + talk.stream.to_bytes(4, "big") + block)
    await talk.writer.drain()


@dataclass
class H2Site(LoopbackSite):
    """An async context manager like ``Site``."""

    tls: ssl.SSLContext
    faults: Mapping[str, Turn] = field(default_factory=dict)
    http11: Callable[[int, Asked, asyncio.StreamWriter], Awaitable[None]] | None = None
    host: str = "shop.test"
    asked: list[Asked] = field(default_factory=list)
    opened: int = 0
    port: int = 0

    async def __aenter__(self) -> H2Site:
        self.tls.set_alpn_protocols(["h2", "http/1.1"])
        self._tasks: set[asyncio.Task[None]] = set()
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, ssl=self.tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._keep(asyncio.get_running_loop().create_task(self._serve(reader, writer)))

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.opened += 1
        number = self.opened
        if writer.get_extra_info("ssl_object").selected_alpn_protocol() != "h2":
            await self._serve_http11(number, reader, writer)
            return
        connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        connection.initiate_connection()
        writer.write(connection.data_to_send())
        with contextlib.suppress(OSError, h2.exceptions.ProtocolError):
            while data := await reader.read(65536):
                for event in connection.receive_data(data):
                    if isinstance(event, h2.events.RequestReceived):
                        self._start(number, event, connection, writer)
                    elif isinstance(event, h2.events.DataReceived):
                        connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                writer.write(connection.data_to_send())
                await writer.drain()
        writer.close()

    async def _serve_http11(self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer a client that asks for HTTP/1.1: as a healthy site, or not at all where a fault is planted."""
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while True:
                asked = parse_head(number, await reader.readuntil(b"\r\n\r\n"))
                self.asked.append(asked)
                if self.http11 is not None:
                    await self.http11(number, asked, writer)
                    continue
                if asked.place in self.faults:
                    break
                await good_http11(asked, writer)
        writer.close()

    def _start(
        self,
        number: int,
        event: h2.events.RequestReceived,
        connection: h2.connection.H2Connection,
        writer: asyncio.StreamWriter,
    ) -> None:
        fields = tuple((str(name), str(value)) for name, value in event.headers)
        asked = Asked(number, f"GET {dict(fields)[':path']} HTTP/2", fields)
        self.asked.append(asked)
        turn = self.faults.get(asked.place, good)
        talk = Talk(asked, event.stream_id, connection, writer)
        self._keep(asyncio.get_running_loop().create_task(self._answer(turn, talk)))

    async def _answer(self, turn: Turn, talk: Talk) -> None:
        with contextlib.suppress(OSError, h2.exceptions.ProtocolError):
            await turn(talk)

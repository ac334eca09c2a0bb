"""A source on loopback that answers as a test tells it to, and remembers what it was asked."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from tests.loopback import QuietHandler, listening


@dataclass
class Said:
    """One answer. ``raw``: bytes written as they are instead, then the connection is closed."""

    status: int = 200
    body: bytes = b""
    fields: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    pause: float = 0.0


@dataclass
class Source:
    """The server: ``say`` maps a path without its query to an answer, or to a function of the request's fields."""

    port: int = 0
    say: dict[str, Said | Callable[[Mapping[str, str]], Said]] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    stop: Callable[[], None] = lambda: None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]


@contextlib.contextmanager
def scripted() -> Iterator[Source]:
    """Run a source on a free port of the loopback interface."""
    source = Source()
    ended = threading.Event()

    class Handler(QuietHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            fields = {name.lower(): value for name, value in self.headers.items()}
            source.asked.append((self.path, fields))
            said = source.say.get(self.path.partition("?")[0], Said(404, b"nothing here"))
            answer = said(fields) if callable(said) else said
            ended.wait(answer.pause)
            if ended.is_set():
                self.close_connection = True
                return
            if answer.raw is not None:
                self.wfile.write(answer.raw)
                self.close_connection = True
                return
            self.send_response(answer.status)
            for name, value in answer.fields.items():
                self.send_header(name, value)
            if answer.status != 304:
                self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            if answer.status != 304:
                self.wfile.write(answer.body)

    with listening(Handler) as server:

        def stop() -> None:
            ended.set()
            server.shutdown()
            server.server_close()

        source.port, source.stop = server.server_port, stop
        try:
            yield source
        finally:
            ended.set()

"""Small web servers on loopback, each in a thread of the test that needs it."""

from __future__ import annotations

import functools
import random
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


class QuietHandler(BaseHTTPRequestHandler):
    """Answers requests without a log."""

    server: Any

    def reply(self, status: int, body: bytes, content_type: str = "text/html") -> None:
        """Send a whole answer."""
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class QuietFiles(SimpleHTTPRequestHandler):
    """Serves the files of a folder without a log."""

    server: Any

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def files_of(folder: Path, handler: type[QuietFiles] = QuietFiles) -> Callable[..., BaseHTTPRequestHandler]:
    """Return the handler of a server of ``folder``."""
    return functools.partial(handler, directory=str(folder))


class _Server(ThreadingHTTPServer):
    request_queue_size = 256


@contextmanager
def listening(handler: Callable[..., BaseHTTPRequestHandler], tls: ssl.SSLContext | None = None) -> Iterator[Any]:
    """Serve with ``handler``, over TLS where ``tls`` says how; the server carries whatever its handler reads there."""
    server = _Server(("127.0.0.1", 0), handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def free_port() -> int:
    """Return a port that nobody listens at, and that the system gives to nobody who asks for any.

    It gives those above 32767: one of them may be taken again, also by a connection that goes out, before the program
    that is meant to listen there has started.
    """
    chance = random.SystemRandom()  # each process that runs tests draws its own, whatever the seed of the others
    while True:
        port = chance.randrange(20_000, 32_768)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port

"""The HTTP API on a real socket, in a thread of the test process."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx

from aui_tui import web
from aui_tui.service.protocol import Service
from aui_tui.web import app
from tests.service.waiting import eventually

PATIENCE = 60
"""Seconds after which an answer that does not come fails the test."""


@dataclass
class Running:
    """A server in a thread: its address, its service, and how to stop it."""

    base_url: str
    port: int
    service: Service
    server: app.Server
    thread: threading.Thread

    def stop(self) -> None:
        """Ask the server to stop and wait until it has."""
        self.server.should_exit = True
        self.thread.join(30)
        assert not self.thread.is_alive()

    def get(self, path: str, **options: Any) -> httpx.Response:
        """Return the answer to a GET of ``path``."""
        return self.request("GET", path, **options)

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Return the answer to any request."""
        return httpx.request(method, self.base_url + path, **{"trust_env": False, "timeout": PATIENCE, **options})


@contextlib.contextmanager
def serving(
    service: Service,
    *,
    base_url: str = "",
    trusted_proxies: tuple[str, ...] = (),
    cors: tuple[str, ...] = (),
    allow_origin: tuple[str, ...] = (),
) -> Iterator[Running]:
    """Serve ``service`` on a free port of the loopback interface."""
    listener = web.listen("127.0.0.1", 0)
    address = web.address_of(listener)
    config = web.checked_config(
        base_url or address, trusted_proxies=trusted_proxies, cors=cors, allow_origin=allow_origin
    )
    running = app.Server(app.uvicorn_config(lambda: app.build(lambda: service, config)))
    logging.getLogger("aui_tui.access").setLevel(logging.WARNING)  # it writes when a test may have ended already
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    eventually(lambda: running.started or not thread.is_alive(), 60)
    assert thread.is_alive()
    made = Running(address, listener.getsockname()[1], service, running, thread)
    try:
        yield made
    finally:
        made.stop()

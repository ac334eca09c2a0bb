"""The HTTP API on a real socket, in a thread of the test process."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from unittest.mock import AsyncMock, patch

import httpx
import jinja2

from aui_tui import web
from aui_tui.service.protocol import Service
from aui_tui.web import app
from aui_tui.web.log import LOGGING, output
from tests.service.waiting import eventually

PATIENCE = 60
"""Seconds after which an answer that does not come fails the test."""


class Compiled(jinja2.BytecodeCache):
    """The templates that a server of this process compiled, for those after it."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def load_bytecode(self, bucket: jinja2.bccache.Bucket) -> None:
        if bucket.key in self._kept:
            bucket.bytecode_from_string(self._kept[bucket.key])

    def dump_bytecode(self, bucket: jinja2.bccache.Bucket) -> None:
        self._kept[bucket.key] = bucket.bytecode_to_string()


ENVIRONMENT = functools.partial(jinja2.Environment, bytecode_cache=Compiled())


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
        self.thread.join(60)
        assert not self.thread.is_alive()

    def get(self, path: str, **options: Any) -> httpx.Response:
        """Return the answer to a GET of ``path``."""
        return self.request("GET", path, **options)

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Return the answer to any request."""
        options = {"trust_env": False, "timeout": PATIENCE, **options}
        return httpx.request(method, self.base_url + path, verify=False, **options)  # plain HTTP needs no roots


@contextlib.contextmanager
def serving(
    service: Service,
    *,
    base_url: str = "",
    trusted_proxies: tuple[str, ...] = (),
    cors: tuple[str, ...] = (),
    allow_origin: tuple[str, ...] = (),
    logged: bool = False,
) -> Iterator[Running]:
    """Serve ``service`` on a free port of the loopback interface.

    The first scan loads the engine, not the start: most who call this scan nothing. What is not ``logged`` is written
    nowhere: a thread writes the log, and would do so between two tests.
    """
    listener = web.listen("127.0.0.1", 0)
    address = web.address_of(listener)
    config = web.checked_config(
        base_url or address, trusted_proxies=trusted_proxies, cors=cors, allow_origin=allow_origin
    )
    handlers = LOGGING["handlers"] if logged else {"stderr": {"class": "logging.NullHandler"}}
    with patch.dict(LOGGING, handlers=handlers):
        running = app.Server(app.uvicorn_config(lambda: app.build(lambda: service, config)))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]}, daemon=True)
    compiled = patch.object(jinja2, "Environment", ENVIRONMENT)
    with compiled, patch.object(service, "prepare", AsyncMock()):
        thread.start()
        eventually(lambda: running.started or not thread.is_alive(), 60)
    assert thread.is_alive()
    made = Running(address, listener.getsockname()[1], service, running, thread)
    try:
        yield made
    finally:
        made.stop()
        if logged:
            output.flush(PATIENCE)

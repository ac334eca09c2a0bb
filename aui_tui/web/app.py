"""The application and its server: routes, layers, the MCP server at ``/mcp``, sockets, workers, an orderly stop."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gc
import ipaddress
import logging
import logging.config
import multiprocessing
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import FrameType
from typing import Final

import uvicorn
from msgspec.structs import replace
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.supervisors import Multiprocess

from aui_tui import web
from aui_tui.errors import AuiError
from aui_tui.service.protocol import Service
from aui_tui.web import ApiConfig, address_of, listen, problems, serves_tools
from aui_tui.web.guard import Connection, GuardMiddleware
from aui_tui.web.log import LOGGING
from aui_tui.web.pages import Pages
from aui_tui.web.problems import HttpProblem
from aui_tui.web.requests import is_cross_site
from aui_tui.web.routes import Endpoints

EXPOSED: Final = ("ETag", "Last-Modified", "RateLimit", "RateLimit-Policy", "Retry-After", "Cache-Status")
"""Response fields that a page of a configured origin may read."""


def create_app(service: Service, config: ApiConfig) -> ASGIApp:
    """Return the HTTP API and the web pages over ``service``, which is closed when the application stops."""
    endpoints = Endpoints(service, config)
    pages = Pages(endpoints)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await service.prepare()
        await pages.prepare()
        yield
        await service.aclose()

    async def refuse(request: Request, error: Exception) -> Response:
        problem = problem_of(request, error)
        return pages.problem(problem) if wants_page(request) else problems.response(problem, config.base_url)

    routes = [*endpoints.routes(), *pages.routes()]
    if serves_tools():
        routes.append(Route("/mcp", ToolServer(service, config)))
    app = Starlette(
        routes=routes,
        lifespan=lifespan,
        exception_handlers=dict.fromkeys((HttpProblem, AuiError, HTTPException, Exception), refuse),
    )
    app.router.redirect_slashes = False
    endpoints.cache.app = app
    layered: ASGIApp = endpoints.cache
    if config.readers:
        layered = CORSMiddleware(
            layered, allow_origins=config.readers, allow_methods=("GET", "HEAD"), expose_headers=EXPOSED, max_age=3600
        )
    return GuardMiddleware(layered, config)


def problem_of(request: Request, error: Exception) -> HttpProblem:
    """Return what ``request`` is answered after ``error``."""
    if isinstance(error, HttpProblem):
        return error
    if isinstance(error, AuiError):
        return problems.of(error)
    if not isinstance(error, HTTPException):
        return HttpProblem("internal-error")
    if error.status_code == 405:
        return problems.not_allowed(request.method, (error.headers or {}).get("Allow", "GET"))
    return HttpProblem("not-found")


def wants_page(request: Request) -> bool:
    """Say whether an error is shown as a page for people rather than as problem details."""
    return "text/html" in request.headers.get("accept", "") and not request.url.path.startswith(("/api/", "/mcp"))


class ToolServer:
    """ASGI application at ``/mcp``, without sessions, so that any worker may answer any request."""

    def __init__(self, service: Service, config: ApiConfig) -> None:
        self._service = service
        self._config = config
        self._answer: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request; one made by another origin's page is refused, as the protocol asks.

        Without sessions there is nothing to listen to, so GET is refused too (streamable HTTP allows a 405).
        """
        if scope["method"] != "POST":
            raise problems.not_allowed(scope["method"], "POST")
        if is_cross_site(Request(scope), self._config):
            raise problems.cross_site(self._config.base_url)
        if self._answer is None:
            self._answer = await asyncio.to_thread(self._build)
        await self._answer(scope, receive, send)

    def _build(self) -> ASGIApp:
        """Load the ``mcp`` library, which takes most of a second, and return the application over it."""
        from aui_tui.web.toolset import build

        return build(self._service, self._config)


ServiceFactory = Callable[[], Service]
COLLECT_AFTER: Final = 2000
"""New objects after which garbage is looked for: a closed connection is a cycle (of asyncio), and commands start with
so high a number that 30 MB of them would wait."""

log = logging.getLogger("aui_tui.serve")


INTERRUPTED: Final = 128 + signal.SIGINT
"""Exit code of a server that ctrl+c ended."""


class Server(uvicorn.Server):
    """A server that remembers what asked it to stop."""

    interrupted = False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Take note of a signal to stop; a second SIGINT stops at once."""
        if not self.should_exit:
            log.info("Stopping; running scans finish first.")
        self.interrupted |= sig == signal.SIGINT
        super().handle_exit(sig, frame)


class Supervisor(Multiprocess):
    """The parent of several workers."""

    interrupted = False

    def handle_int(self) -> None:
        """Stop every worker."""
        self.interrupted = True
        super().handle_int()


def serve(factory: ServiceFactory, config: ApiConfig, *, host: str, port: int, workers: int) -> int:
    """Serve until SIGINT (exit code 130) or SIGTERM (0); return the exit code.

    ``factory`` makes the service of one worker process; with several workers it must be picklable (a function of a
    module, or a partial of one). Port 0 takes any free one; the real address is written to standard error.
    A ``config`` without a ``base_url`` gets the address that is bound. Raises ConfigError where none can be.
    """
    listener = listen(host, port)
    with contextlib.closing(listener):
        address = address_of(listener)
        named = bool(config.base_url)
        config = config if named else replace(config, base_url=address)
        logging.config.dictConfig(LOGGING)
        if not named and not ipaddress.ip_address(listener.getsockname()[0].partition("%")[0]).is_loopback:
            log.warning(
                "Others can reach this service, but its links say %s; give its public address by AUI_TUI_BASE_URL.",
                address,
            )
        log.info("Serving on %s%s", address, "" if address == config.base_url else f" as {config.base_url}")
        app = functools.partial(build, factory, config)
        server_config = uvicorn_config(app, workers)
        running: Server | Supervisor
        if workers == 1:
            running = Server(server_config)
            signal.signal(signal.SIGTERM, signal.default_int_handler)  # uvicorn raises what stopped it at its end
            try:
                running.run(sockets=[listener])
            except KeyboardInterrupt:
                if not running.should_exit:
                    raise
        else:
            running = Supervisor(server_config, [listener])
            running.run()
    log.info("Stopped.")
    return INTERRUPTED if running.interrupted else 0


def build(factory: ServiceFactory, config: ApiConfig) -> ASGIApp:
    """Return the application of one worker process."""
    gc.set_threshold(COLLECT_AFTER)
    _follow_parent()
    try:
        return create_app(factory(), config)
    except AuiError as error:
        log.error("%s", error)
        sys.exit(uvicorn.config.STARTUP_FAILURE)


def _follow_parent() -> None:
    """In a worker process: stop in order when the parent dies without having said so."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def follow() -> None:
        parent.join()
        signal.raise_signal(signal.SIGTERM)

    threading.Thread(target=follow, name="aui-parent", daemon=True).start()


def uvicorn_config(app: Callable[[], ASGIApp], workers: int = 1) -> uvicorn.Config:
    """Return the settings of the HTTP server: our limits, no trust in proxies, no log of its own.

    The event loop is asyncio's own whatever is installed: the engine's sockets and the limits are tested on it.
    """
    return uvicorn.Config(
        app,
        factory=True,
        loop="asyncio",
        http=Connection,
        ws="none",
        lifespan="on",
        log_config=LOGGING,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        workers=workers,
        backlog=512,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=web.SHUTDOWN_SECONDS,
    )

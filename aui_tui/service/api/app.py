"""The ASGI application: routes, error answers, the layers around them, and the MCP server at ``/mcp``.

The ``mcp`` library takes most of a second to import, so it is loaded with the first request to ``/mcp``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from aui_tui.errors import AuiError
from aui_tui.service.api import discovery, problems
from aui_tui.service.api.config import ApiConfig
from aui_tui.service.api.feeds import Feeds
from aui_tui.service.api.guard import GuardMiddleware, TooLarge
from aui_tui.service.api.pages import Pages
from aui_tui.service.api.problems import Problem
from aui_tui.service.api.requests import is_cross_site
from aui_tui.service.api.routes import Endpoints
from aui_tui.service.protocol import Published

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager


EXPOSED: Final = ("ETag", "Last-Modified", "RateLimit", "RateLimit-Policy", "Retry-After", "Cache-Status")
"""Response fields that a page of a configured origin may read."""

Handler = Callable[[Request], Awaitable[Response]]


def create_app(service: Published, config: ApiConfig) -> ASGIApp:
    """Return the HTTP API and the web pages over ``service``, which is closed when the application stops."""
    endpoints = Endpoints(service, config)
    pages = Pages(endpoints)
    tools = ToolServer(service, config) if discovery.serves_tools() else None

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        if tools is not None:
            await tools.aclose()
        await service.aclose()

    async def refuse(request: Request, problem: Problem) -> Response:
        if wants_page(request):
            return pages.problem(request, problem)
        return problems.response(problem, config.base_url)

    async def on_error(request: Request, error: Exception) -> Response:
        return await refuse(request, problems.of(error) if isinstance(error, AuiError) else problems.internal())

    async def on_http_error(request: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException) and error.status_code == 405:
            allowed = (error.headers or {}).get("Allow", "GET")
            return await refuse(request, problems.not_allowed(request.method, allowed))
        return await refuse(request, problems.not_found())

    async def on_too_large(request: Request, error: Exception) -> Response:
        return await refuse(request, problems.too_large(413, str(error)))

    routes = [
        get("/api/index.json", endpoints.index),
        get("/api/site/{host:path}.json", endpoints.site),
        get("/api/visits/{host:path}.json", endpoints.visits),
        get("/api/tasks/{host:path}.json", endpoints.tasks),
        get("/api/scan", endpoints.scan),
        get("/openapi.json", endpoints.openapi),
        get("/healthz", endpoints.health),
        get("/robots.txt", endpoints.robots),
        get("/.well-known/http-message-signatures-directory", endpoints.signature_directory),
        get("/llms.txt", endpoints.llms),
        *Feeds(endpoints).routes(),
        *pages.routes(),
    ]
    if tools is not None:
        routes += [get("/.well-known/mcp.json", endpoints.card), Route("/mcp", tools)]
    app = Starlette(
        routes=routes,
        lifespan=lifespan,
        exception_handlers={
            AuiError: on_error,
            TooLarge: on_too_large,
            HTTPException: on_http_error,
            Exception: on_error,
        },
    )
    app.router.redirect_slashes = False
    layered: ASGIApp = app
    if config.readers:
        layered = CORSMiddleware(
            app, allow_origins=config.readers, allow_methods=("GET", "HEAD"), expose_headers=EXPOSED, max_age=3600
        )
    return GuardMiddleware(layered, config)


def get(path: str, handler: Handler) -> Route:
    """Return a route for GET and HEAD."""
    return Route(path, handler, methods=["GET"])


def wants_page(request: Request) -> bool:
    """Say whether an error is shown as a page for people rather than as problem details."""
    path = request.url.path
    if path.startswith(("/api/", "/.well-known/", "/mcp", "/badge/")):
        return False
    if path.endswith((".json", ".txt", ".csv", ".atom", ".xml")):
        return False
    return "text/html" in request.headers.get("accept", "")


class ToolServer:
    """ASGI application at ``/mcp``: stateless, so that any worker may answer any request."""

    def __init__(self, service: Published, config: ApiConfig) -> None:
        self._service = service
        self._config = config
        self._ready: asyncio.Future[StreamableHTTPSessionManager] | None = None
        self._stop = asyncio.Event()
        self._runner: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request; one made by another origin's page is refused, as the protocol asks.

        Without sessions there is nothing to listen to, so GET is refused too (streamable HTTP allows a 405).
        """
        if scope["method"] != "POST":
            problem = problems.not_allowed(scope["method"], "POST")
            await problems.response(problem, self._config.base_url)(scope, receive, send)
            return
        if is_cross_site(Request(scope), self._config):
            problem = problems.cross_site(self._config.base_url)
            await problems.response(problem, self._config.base_url)(scope, receive, send)
            return
        if self._ready is None:
            self._ready = asyncio.get_running_loop().create_future()
            self._runner = asyncio.create_task(self._run(self._ready))
        manager = await asyncio.shield(self._ready)
        await manager.handle_request(scope, receive, send)

    async def aclose(self) -> None:
        """Stop the tool server."""
        self._stop.set()
        if self._runner is not None:
            await self._runner

    async def _run(self, ready: asyncio.Future[StreamableHTTPSessionManager]) -> None:
        try:
            manager = await asyncio.to_thread(_build, self._service, self._config)
            async with manager.run():
                ready.set_result(manager)
                await self._stop.wait()
        except Exception as error:
            if ready.done():
                raise
            ready.set_exception(error)


def _build(service: Published, config: ApiConfig) -> StreamableHTTPSessionManager:
    from aui_tui.service.api.toolset import build

    return build(service, config)

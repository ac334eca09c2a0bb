"""The ASGI application: routes, error answers, and the layers around them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from aui_tui.errors import AuiError
from aui_tui.service.api import discovery, problems
from aui_tui.service.api.config import ApiConfig
from aui_tui.service.api.guard import GuardMiddleware, TooLarge
from aui_tui.service.api.pages import Pages
from aui_tui.service.api.problems import Problem
from aui_tui.service.api.routes import Endpoints
from aui_tui.service.api.tools import ToolServer
from aui_tui.service.protocol import Published

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

    async def tell(request: Request, problem: Problem) -> Response:
        if wants_page(request):
            return pages.problem(request, problem)
        return problems.response(problem, config.base_url)

    async def on_error(request: Request, error: Exception) -> Response:
        return await tell(request, problems.of(error) if isinstance(error, AuiError) else problems.internal())

    async def on_http_error(request: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException) and error.status_code == 405:
            return await tell(request, problems.not_allowed(request.method, (error.headers or {}).get("Allow", "GET")))
        return await tell(request, problems.not_found())

    async def on_too_large(request: Request, error: Exception) -> Response:
        return await tell(request, problems.too_large(413, str(error)))

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
    if path.startswith(("/api/", "/.well-known/", "/mcp")) or path.endswith((".json", ".txt")):
        return False
    return "text/html" in request.headers.get("accept", "")

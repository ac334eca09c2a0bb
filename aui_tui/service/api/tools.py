"""The service as MCP tools (``/mcp``, streamable HTTP), by the official ``mcp`` library.

The library takes most of a second to import, so it is loaded with the first request to ``/mcp``.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from aui_tui.service.api import problems
from aui_tui.service.api.config import ApiConfig
from aui_tui.service.api.provenance import is_cross_site
from aui_tui.service.protocol import Published

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager


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

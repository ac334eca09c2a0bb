"""The tools ``index``, ``site`` and ``scan`` for MCP clients; importing this module loads the ``mcp`` library."""

from __future__ import annotations

import logging
from typing import Any, Final

import msgspec
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import CallToolResult, TextContent, ToolAnnotations

from aui_tui import __version__
from aui_tui.errors import AuiError, BadValue
from aui_tui.records.card import ReportCard
from aui_tui.records.query import Query
from aui_tui.service.api import bodies, discovery, problems
from aui_tui.service.api.config import MAX_BODY, ApiConfig
from aui_tui.service.protocol import Published

LARGEST_PAGE: Final = 100
"""Most rows of one answer of the tool ``index``."""
READING: Final = ToolAnnotations(read_only_hint=True, open_world_hint=False)
SCANNING: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=True
)


def build(service: Published, config: ApiConfig) -> StreamableHTTPSessionManager:
    """Return the session manager of an MCP server: the tools ``index`` and ``site``, and ``scan`` where clients may."""
    server = MCPServer(
        "aui-tui",
        title=discovery.NAME,
        description=discovery.SUMMARY,
        version=__version__,
        website_url=config.base_url + "/",
        log_level="ERROR",
        subscriptions=False,
    )
    base = config.base_url

    def refused(error: AuiError) -> ToolError:
        return ToolError(problems.of(error).detail)

    async def index(
        category: str = "", stance: str = "", query: str = "", limit: int = 25, offset: int = 0
    ) -> CallToolResult:
        """List graded hosts, best first, and then hosts that could not be reached.

        category and stance filter exactly; query is free text or terms such as "score:<40 agent:claude=out",
        "grade:a,b OR contradiction:out". limit is 1 to 100 rows of each list. next_offset is the offset of the next
        page, null on the last one; total_ranked and total_unreachable count all rows.
        """
        try:
            if not 1 <= limit <= LARGEST_PAGE:
                raise BadValue(f"limit must be from 1 to {LARGEST_PAGE}, not {limit}; read on with offset.")
            if offset < 0:
                raise BadValue(f"offset must be 0 or more, not {offset}.")
            view = await service.index(Query.of(category=category, stance=stance, line=query))
            ranked = view.ranked[offset : offset + limit]
            unreachable = view.unreachable[offset : offset + limit]
        except AuiError as error:
            raise refused(error) from None
        end = offset + limit
        further = end if end < max(len(view.ranked), len(view.unreachable)) else None
        found = {
            "scanned_at": view.scanned_at,
            "total_ranked": len(view.ranked),
            "total_unreachable": len(view.unreachable),
            "next_offset": further,
            "ranked": [bodies.summary_members(row.summary, base) for row in ranked],
            "unreachable": [bodies.summary_members(row.summary, base) for row in unreachable],
        }
        lines = [f"{len(view.ranked)} ranked, {len(view.unreachable)} unreachable; next_offset {further}"]
        lines += [
            f"{row.rank}. {row.summary.host} {row.summary.score} {row.summary.grade} {row.summary.stance}"
            for row in ranked
        ]
        lines += [f"unreachable: {row.summary.host}" for row in unreachable]
        return CallToolResult(content=[TextContent(type="text", text="\n".join(lines))], structured_content=found)

    async def site(host: str) -> CallToolResult:
        """Read the latest stored report card of one host: score, verdict per agent, evidence and fixes."""
        try:
            dossier = await service.site(host)
        except AuiError as error:
            raise refused(error) from None
        return _card(dossier.card, base)

    async def scan(url: str, ctx: Context[Any, Any], force: bool = False) -> CallToolResult:
        """Scan a public website now and return its report card; answered from a cache for 24 hours unless forced.

        A client may have 10 new scans in an hour.
        """
        request: Any = ctx.request_context.request
        try:
            found = await service.for_client(request.scope["client_id"]).scan(url, force=force)
        except AuiError as error:
            raise refused(error) from None
        return _card(found.card, base)

    offered = ((index, READING), (site, READING), *(((scan, SCANNING),) if service.can_scan else ()))
    for function, hints in offered:
        server.add_tool(function, annotations=hints)
    server.streamable_http_app(
        stateless_http=True,
        json_response=True,
        max_request_body_size=MAX_BODY,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    logging.getLogger("mcp").setLevel(logging.ERROR)
    return server.session_manager


def _card(card: ReportCard, base: str) -> CallToolResult:
    """Return a card as structured content, and in the text what matters most of it: it is long, and is sent once."""
    members: dict[str, Any] = msgspec.json.decode(bodies.card_bytes(card, base))
    lines = [f"{card.host}: score {card.score}, grade {card.grade}, {card.stance}; scanned {card.scanned_at}"]
    lines += [f"{found.t}: {found.text}" for found in card.evidence]
    lines += [f"fix {fix.k} (+{fix.pts} points): {fix.title}" for fix in card.recommendations]
    return CallToolResult(content=[TextContent(type="text", text="\n".join(lines))], structured_content=members)

"""An HTTP/1.1 server for one site of the demo: persistent connections, GET and HEAD, and the site's manners."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import time
from collections import deque
from collections.abc import Mapping
from email.utils import formatdate
from html import escape
from http import HTTPStatus
from string import Template
from typing import Final, NamedTuple

from aui_tui.demo.sites import AGENTS, BROWSER, EVERYBODY, Rule, Site, answers, template
from aui_tui.records.registry import registry

HEAD_LIMIT: Final = 32 * 1024
IDLE: Final = 30.0
"""Seconds a connection may stay without a request."""

WELL_KNOWN: Final = {
    "/llms.txt": ("llms", "llms.txt", "text/plain"),
    "/.well-known/ai-plugin.json": ("ai-plugin", "ai-plugin.json", "application/json"),
    "/.well-known/ucp": ("ucp", "ucp.json", "application/json"),
    "/.well-known/mcp.json": ("mcp", "mcp.json", "application/json"),
    "/.well-known/mcp/server-card.json": ("mcp-card", "mcp.json", "application/json"),
}
"""Path of each agent-facing file: its name in ``Site.files``, its template, its type."""

HTML: Final = "text/html"


class Request(NamedTuple):
    """One request: method, path without query, and header fields with names in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]

    @property
    def agent(self) -> str:
        """The token of the live-probed agent that the User-Agent names, empty for anybody else."""
        named = self.headers.get("user-agent", "")
        return next((agent.token for agent in registry().live if agent.token in named), "")


class Response(NamedTuple):
    """An answer before it is framed."""

    status: int
    headers: dict[str, str]
    body: bytes


class SiteServer:
    """Serves one site on a loopback port; ``site`` may be exchanged between requests."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self._recent: dict[Rule, deque[float]] = {}
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def start(self) -> int:
        """Start to listen and return the port."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=HEAD_LIMIT)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def stop(self) -> None:
        """Close the port and every connection."""
        if self._server is not None:
            self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            with contextlib.suppress(OSError, EOFError, TimeoutError, asyncio.LimitOverrunError, ValueError):
                while await self._exchange(reader, writer):
                    pass
        finally:
            self._connections.discard(task)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        async with asyncio.timeout(IDLE):
            request = _parse(await reader.readuntil(b"\r\n\r\n"))
        rule = self._matching(request)
        if rule is not None and rule.action == "hang":
            await reader.read()
            return False
        response = _canned(rule.answer) if rule is not None else self.answer(request)
        keep = request.headers.get("connection", "").lower() != "close"
        writer.write(_framed(request, response, keep=keep))
        await writer.drain()
        return keep

    def _matching(self, request: Request) -> Rule | None:
        for rule in self.site.rule:
            plain = request.path not in WELL_KNOWN and request.path != "/robots.txt"
            if (rule.everywhere or plain) and _concerns(rule, request.agent) and not self._passes(rule):
                return rule
        return None

    def _passes(self, rule: Rule) -> bool:
        """Whether one more request stays within the rule's allowance of the last second."""
        recent = self._recent.setdefault(rule, deque())
        now = time.monotonic()
        while recent and now - recent[0] >= 0.9:
            recent.popleft()
        if len(recent) >= rule.per_second:
            return False
        recent.append(now)
        return True

    def answer(self, request: Request) -> Response:
        """Return what the site itself answers, walls apart."""
        site = self.site
        if request.method not in ("GET", "HEAD"):
            return self._page(HTTPStatus.METHOD_NOT_ALLOWED, "missing")
        host = request.headers.get("host", "").partition(":")[0]
        if site.canonical and host != site.canonical:
            return Response(301, {**site.headers, "location": f"http://{site.canonical}{request.path}"}, b"")
        if request.path in site.moved:
            return Response(301, {**site.headers, "location": site.moved[request.path]}, b"")
        if request.path == "/robots.txt" and site.robots != "page":
            if site.robots.isdigit():
                return self._page(int(site.robots), "missing")
            return Response(200, {**site.headers, "content-type": "text/plain"}, site.robots.lstrip().encode())
        name, source, kind = WELL_KNOWN.get(request.path, ("", "", ""))
        if name in site.files:
            return Response(200, {**site.headers, "content-type": kind}, self._filled(source).encode())
        if request.path == "/" or site.catch_all:
            return self._page(HTTPStatus.OK, site.page)
        return self._page(HTTPStatus.NOT_FOUND, "missing")

    def _page(self, status: int, page: str) -> Response:
        site = self.site
        body = self._filled(f"{page}.html").encode(site.charset, "xmlcharrefreplace")
        return Response(int(status), {**site.headers, "content-type": f"{HTML}; charset={site.charset}"}, body)

    def _filled(self, name: str) -> str:
        site = self.site
        return Template(template(name)).safe_substitute(
            name=escape(site.name),
            json_name=json.dumps(site.name)[1:-1],
            host=site.host,
            tagline=escape(site.tagline),
            items="\n".join(f"<li>{escape(item)}</li>" for item in site.items),
        )


def _concerns(rule: Rule, agent: str) -> bool:
    if rule.to == EVERYBODY:
        return True
    if rule.to == BROWSER:
        return not agent
    return bool(agent) if rule.to == AGENTS else rule.to == agent


def _parse(head: bytes) -> Request:
    line, *fields = head.decode("latin-1").split("\r\n")
    method, target, _ = line.split(" ", 2)
    pairs = (field.partition(":") for field in fields if field)
    return Request(method, target.partition("?")[0], {name.lower(): value.strip() for name, _, value in pairs})


def _canned(name: str) -> Response:
    answer = answers()[name]
    return Response(answer.status, {"content-type": HTML, **answer.headers}, answer.body.strip().encode())


def _framed(request: Request, response: Response, *, keep: bool) -> bytes:
    headers = dict(response.headers)
    body = response.body
    if body and len(body) > 256 and "gzip" in request.headers.get("accept-encoding", ""):
        body = gzip.compress(body, 6)
        headers |= {"content-encoding": "gzip", "vary": "accept-encoding"}
    headers |= {"date": formatdate(usegmt=True), "content-length": str(len(body))}
    headers["connection"] = "keep-alive" if keep else "close"
    reason = HTTPStatus(response.status).phrase
    lines = [f"HTTP/1.1 {response.status} {reason}", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(lines).encode("latin-1") + (b"" if request.method == "HEAD" else body)

"""Commands that serve: the index over HTTP (``serve``), tools for coding agents (``mcp``), the dashboard (``web``)."""

from __future__ import annotations

import ipaddress
import shlex
import socket
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Final
from urllib.parse import urlsplit

import typer

from aui_tui.cli import streams
from aui_tui.cli.options import ConnectionOptions, example, given, only, run_of, taking
from aui_tui.cli.sources import only_local, opened
from aui_tui.errors import BadValue, ConfigError, MissingExtra
from aui_tui.text import clean

if TYPE_CHECKING:
    from aiohttp.web import Application, Request, StreamResponse

app = typer.Typer()


PORT: Final = 8600
MAX_WORKERS: Final = 64
Address = Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")]
Port = Annotated[
    int, typer.Option("--port", metavar="N", min=0, max=65535, help="Port to listen on; 0 takes a free one.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """Where the index is served, by how many processes, and to the pages of which sites."""

    host: Address = "127.0.0.1"
    port: Port = PORT
    base_url: Annotated[
        str | None, typer.Option("--base-url", metavar="URL", help="Public address of the service; names every record.")
    ] = None
    workers: Annotated[
        int, typer.Option("--workers", metavar="N", min=1, max=MAX_WORKERS, help="Server processes.")
    ] = 1
    trust_proxy: Annotated[
        list[str] | None,
        typer.Option("--trust-proxy", metavar="NETWORK", help="Proxy whose X-Forwarded-For names the client."),
    ] = None
    cors: Annotated[
        list[str] | None, typer.Option("--cors", metavar="ORIGIN", help="Origin whose pages may read the API.")
    ] = None
    allow_origin: Annotated[
        list[str] | None,
        typer.Option("--allow-origin", metavar="ORIGIN", help="Origin whose pages may also start scans."),
    ] = None


@app.command(
    "serve",
    cls=taking(Listening, only(ConnectionOptions, "connect_to", "cacert")),
    epilog=example("aui-tui serve --port 8600 --base-url https://index.example"),
)
def serve(
    context: typer.Context,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Publish what is stored; visitors scan nothing.")
    ] = False,
    visits: Annotated[
        bool, typer.Option("--visits/--no-visits", help="Publish the figures of your access logs.")
    ] = True,
) -> int:
    """Publish the index: JSON endpoints, pages for people, and tools for agents, until ctrl+c.

    Clients scan public hosts on ports 80 and 443 only, ten times an hour each; with --read-only they scan nothing.
    """
    run = run_of(context)
    only_local(run, "Serving")
    from aui_tui.model.registry import Starter
    from aui_tui.scan import signing
    from aui_tui.scan.policy import PUBLIC
    from aui_tui.web import check_installed

    check_installed()
    from aui_tui.service.publication import LocalPublication
    from aui_tui.web.app import serve as publish

    settings, listening = run.settings, given(context, Listening)
    if (settings.data_dir / signing.NAME).exists():
        signing.read_key(settings.data_dir)
    base_url = listening.base_url
    if base_url is None and settings.origins["base_url"] != "default":
        base_url = settings.base_url
    publication = LocalPublication(
        folder=settings.data_dir,
        base_url=base_url or settings.base_url,
        method=settings.method,
        access=given(context, ConnectionOptions).policy() or PUBLIC,
        known=Starter(),
        read_only=read_only,
        with_visits=visits,
    )
    first = publication()
    warnings = first.warnings
    run.wait(first.aclose())
    for sentence in warnings:
        streams.say(sentence)
    return publish(
        publication,
        host=listening.host,
        port=listening.port,
        base_url=base_url,
        workers=listening.workers,
        trusted_proxies=tuple(listening.trust_proxy or ()),
        cors=tuple(listening.cors or ()),
        allow_origin=tuple(listening.allow_origin or ()),
    )


@app.command(
    "mcp",
    cls=taking(only(ConnectionOptions, "allow_private", "connect_to", "cacert", "no_limit")),
    epilog=example("aui-tui mcp --allow-scan --allow-private"),
)
def mcp(
    context: typer.Context,
    allow_scan: Annotated[bool, typer.Option("--allow-scan", help="Offer the tool scan too.")] = False,
) -> None:
    """Serve the index to a coding agent as MCP tools over standard input and output, until it closes them.

    The tools read: index, site, plan, diff, tasks, visits. --allow-scan adds scan.
    """
    run = run_of(context)
    access = given(context, ConnectionOptions).policy()
    if access is not None and not allow_scan:
        raise BadValue("Options on how to reach a site need --allow-scan; add --allow-scan, or leave them out.")
    if find_spec("mcp") is None:
        raise MissingExtra("aui-tui mcp", "mcp")
    from aui_tui.scan.policy import PUBLIC

    scanning = access if run.settings.source else replace(access or PUBLIC, keyboard=False)

    async def work() -> None:
        from aui_tui.web.toolset import run_stdio

        async with opened(run, scanning) as service:
            await run_stdio(service, allow_scan=allow_scan)

    run.wait(work())


WEB_PORT: Final = 8601
MOST: Final = 8
"""Dashboards at a time; each is a process."""
POLICY: Final = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "font-src 'self' data:; connect-src 'self' {socket}; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
"""What the page may load: nothing from elsewhere, in no frame of another page."""


@app.command("web", cls=taking(), epilog=example("aui-tui web --port 8601"))
def web(
    context: typer.Context,
    host: Address = "127.0.0.1",
    port: Port = WEB_PORT,
    base_url: Annotated[
        str, typer.Option("--base-url", metavar="URL", help="Address that browsers use, behind a proxy.")
    ] = "",
    expose: Annotated[
        bool, typer.Option("--expose", help="Listen on an address that other machines reach, without a password.")
    ] = False,
) -> int:
    """Open the dashboard in a browser, until ctrl+c. Each tab runs a dashboard of its own on this machine."""
    run = run_of(context)
    if find_spec("textual_serve") is None:
        raise MissingExtra("aui-tui web", "web")
    local = _is_loopback(host)
    if not local and not expose:
        raise BadValue(
            f"--host {clean(host, 60)} is an address that other machines reach, and whoever opens the page scans and "
            "writes files as you do. Use 127.0.0.1, or add --expose."
        )
    listener = _listen(host, port)
    names, url = _names(host, listener.getsockname()[1], base_url)
    if not local:
        streams.say("Warning: other machines reach this dashboard without a password, and act as you do.")
    settings = run.settings
    words = [sys.executable, "-m", "aui_tui", "--data-dir", str(settings.data_dir)]
    if settings.origins["source"] == "--source":
        words += ["--source", settings.source]
    if settings.origins["config_file"] == "--config":
        words += ["--config", str(settings.config_file)]
    from aiohttp.web import run_app

    streams.say(f"The dashboard is at {url}/ until ctrl+c.")
    run_app(_application(shlex.join(words), url, names), sock=listener, print=None, access_log=None)
    return 0


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens. Raises ConfigError."""
    try:
        family, kind, number, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, number)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen()
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"Cannot listen on {clean(host, 60)} port {port}: {clean(reason, 120)}.") from None
    return listener


def _names(host: str, port: int, base_url: str) -> tuple[frozenset[str], str]:
    """Return the values of Host that are answered, and the address of the page. Raises BadValue."""
    own = f"[{host}]" if ":" in host else host
    names = {f"{own}:{port}"}
    if _is_loopback(host):
        names |= {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}
    if not base_url:
        if host in ("0.0.0.0", "::"):  # noqa: S104 - compared, not bound
            raise BadValue(f"--host {host} means every address; name the one that browsers use with --base-url.")
        return frozenset(names), f"http://{own}:{port}"
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.path not in ("", "/") or parts.query:
        raise BadValue("--base-url takes http:// or https:// with a host and no path.")
    return frozenset(names | {parts.netloc.lower()}), f"{parts.scheme}://{parts.netloc}"


def _application(command: str, url: str, names: frozenset[str]) -> Awaitable[Application]:
    """Return textual-serve's application for ``command`` behind checks of Host and Origin."""
    from aiohttp.web import HTTPForbidden, HTTPServiceUnavailable, middleware
    from textual_serve.server import Server

    origins = {f"{scheme}://{name}" for scheme in ("http", "https") for name in names}
    policy = POLICY.format(socket=url.replace("http", "ws", 1))
    open_now = 0

    async def guard(request: Request, handler: Callable[[Request], Awaitable[StreamResponse]]) -> StreamResponse:
        """Answer requests for this dashboard by its own pages alone: no other site's page, no rebound name."""
        nonlocal open_now
        origin = request.headers.get("Origin")
        if request.host.lower() not in names or (origin is not None and origin.lower() not in origins):
            raise HTTPForbidden(text="Only the dashboard's own page may use this address.")
        if request.path != "/ws":
            answer = await handler(request)
            answer.headers["Content-Security-Policy"] = policy
            answer.headers["X-Content-Type-Options"] = "nosniff"
            return answer
        if origin is None:
            raise HTTPForbidden(text="A WebSocket needs an Origin.")
        if open_now >= MOST:
            raise HTTPServiceUnavailable(text=f"{MOST} dashboards are open; close one.")
        open_now += 1
        try:
            return await handler(request)
        finally:
            open_now -= 1

    async def prepared() -> Application:
        made = await Server(command, public_url=url, title=streams.NAME)._make_app()
        made.on_startup.clear()  # the library's banner
        made.middlewares.append(middleware(guard))
        return made

    return prepared()

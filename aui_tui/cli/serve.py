"""``serve`` and ``mcp``: the index over HTTP, and as tools for a coding agent over standard input and output."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated, Final

import typer

from aui_tui.cli import streams
from aui_tui.cli.options import (
    AllowPrivate,
    CaFile,
    ConnectionOptions,
    ConnectTo,
    NoLimit,
    example,
    run_of,
    taking,
)
from aui_tui.cli.sources import only_local, opened
from aui_tui.errors import BadValue, ConfigError

app = typer.Typer()


PORT: Final = 8600
MAX_WORKERS: Final = 64


@app.command("serve", cls=taking(), epilog=example("aui-tui serve --port 8600 --base-url https://index.example"))
def serve(
    context: typer.Context,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0 takes a free one.")
    ] = PORT,
    base_url: Annotated[
        str | None,
        typer.Option("--base-url", metavar="URL", help="Public address of the service; names every record."),
    ] = None,
    workers: Annotated[int, typer.Option("--workers", min=1, max=MAX_WORKERS, help="Processes.")] = 1,
    trust_proxy: Annotated[
        list[str] | None,
        typer.Option("--trust-proxy", metavar="NETWORK", help="Proxy whose X-Forwarded-For names the client."),
    ] = None,
    cors: Annotated[
        list[str] | None, typer.Option("--cors", metavar="ORIGIN", help="Origin whose pages may read the API.")
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option("--allow-origin", metavar="ORIGIN", help="Origin whose pages may also start scans."),
    ] = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Publish what is stored; visitors scan nothing.")
    ] = False,
    visits: Annotated[
        bool,
        typer.Option("--visits/--no-visits", help="Publish the figures of your access logs."),
    ] = True,
    connect_to: ConnectTo = None,
    cacert: CaFile = None,
) -> int:
    """Publish the index: JSON endpoints, pages for people, and tools for agents, until ctrl+c.

    Clients scan public hosts on ports 80 and 443 only, ten times an hour each; with --read-only they scan nothing.
    """
    run = run_of(context)
    only_local(run, "Serving")
    from aui_tui.engine import signing
    from aui_tui.engine.policy import PUBLIC
    from aui_tui.records.registry import Starter
    from aui_tui.service.api import run as publish
    from aui_tui.service.publication import LocalPublication

    settings = run.settings
    if (settings.data_dir / signing.NAME).exists():
        signing.read_key(settings.data_dir)
    if base_url is None and settings.origins["base_url"] != "default":
        base_url = settings.base_url
    publication = LocalPublication(
        folder=settings.data_dir,
        base_url=base_url or settings.base_url,
        method=settings.method,
        access=ConnectionOptions(connect_to=connect_to, cacert=cacert).policy() or PUBLIC,
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
        host=host,
        port=port,
        base_url=base_url,
        workers=workers,
        trusted_proxies=tuple(trust_proxy or ()),
        cors=tuple(cors or ()),
        allow_origin=tuple(allow_origin or ()),
    )


@app.command("mcp", cls=taking(), epilog=example("aui-tui mcp --allow-scan --allow-private"))
def mcp(
    context: typer.Context,
    allow_scan: Annotated[bool, typer.Option("--allow-scan", help="Offer the tool scan too.")] = False,
    allow_private: AllowPrivate = False,
    connect_to: ConnectTo = None,
    cacert: CaFile = None,
    no_limit: NoLimit = False,
) -> None:
    """Serve the index to a coding agent as MCP tools over standard input and output, until it closes them.

    The tools read: index, site, plan, diff, tasks, visits. --allow-scan adds scan.
    """
    run = run_of(context)
    options = ConnectionOptions(allow_private=allow_private, connect_to=connect_to, cacert=cacert, no_limit=no_limit)
    access = options.policy()
    if access is not None and not allow_scan:
        raise BadValue("Options on how to reach a site go with --allow-scan.")
    if find_spec("mcp") is None:
        raise ConfigError("The tools need the library mcp; install it with: pip install 'aui-tui[mcp]'.")

    async def work() -> None:
        from aui_tui.service.api.toolset import run_stdio

        async with opened(run, access) as service:
            await run_stdio(service, allow_scan=allow_scan)

    run.wait(work())

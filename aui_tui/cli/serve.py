"""Commands that serve: the index over HTTP (``serve``), tools for coding agents (``mcp``), the dashboard (``web``)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Annotated, Final

import typer

from aui_tui.cli import streams
from aui_tui.cli.options import ConnectionOptions, example, given, only, run_of, taking
from aui_tui.cli.sources import only_local, opened
from aui_tui.errors import BadValue, MissingExtra

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


@app.command("web", cls=taking(), epilog=example("aui-tui web --port 8601"))
def web(
    context: typer.Context,
    host: Address = "127.0.0.1",
    port: Port = WEB_PORT,
    base_url: Annotated[
        str, typer.Option("--base-url", metavar="URL", help="Address that browsers use, behind a proxy.")
    ] = "",
) -> int:
    """Open the dashboard in a browser, until ctrl+c. Each tab runs a dashboard of its own on this machine.

    The address that is printed holds a token: whoever has it acts as you do.
    """
    run = run_of(context)
    if find_spec("textual_serve") is None:
        raise MissingExtra("aui-tui web", "web")
    from aui_tui.web import dashboard

    settings = run.settings
    options = ["--data-dir", str(settings.data_dir)]
    if settings.origins["source"] == "--source":
        options += ["--source", settings.source]
    if settings.origins["config_file"] == "--config":
        options += ["--config", str(settings.config_file)]
    dashboard.serve(options, host=host, port=port, base_url=base_url, title=streams.NAME, say=streams.say)
    return 0

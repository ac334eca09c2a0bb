"""Commands that serve: the index over HTTP (``serve``), tools for coding agents (``mcp``), the dashboard (``web``)."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from typing import Annotated, Final

import typer

from aui_tui.cli import options, streams
from aui_tui.cli.reach import policy_of
from aui_tui.cli.sources import only_local, opened
from aui_tui.errors import BadValue, MissingExtra

app = typer.Typer()


PORT: Final = 8600
MAX_WORKERS: Final = 64
Address = Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")]
Port = Annotated[
    int, typer.Option("--port", metavar="N", min=0, max=65535, help="Port to listen on; 0 takes a free one.")
]


BaseUrl = Annotated[
    str | None, typer.Option("--base-url", metavar="URL", help="Address by which others reach it, behind a proxy.")
]


@app.command("serve", epilog="Example: aui-tui serve --port 8600 --base-url https://index.example")
def serve(
    context: typer.Context,
    host: Address = "127.0.0.1",
    port: Port = PORT,
    base_url: BaseUrl = None,
    workers: Annotated[
        int, typer.Option("--workers", metavar="N", min=1, max=MAX_WORKERS, help="Server processes.")
    ] = 1,
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
    connect_to: options.ConnectTo = None,
) -> int:
    """Publish the index: JSON endpoints, pages for people, and tools for agents, until ctrl+c.

    Clients scan public hosts on ports 80 and 443 only, ten times an hour each. Settings: read_only,
    publish_visits.
    """
    run = options.run_of(context)
    only_local(run, "Serving")
    from aui_tui.model.registry import starter
    from aui_tui.scan import signing
    from aui_tui.scan.policy import PUBLIC
    from aui_tui.web import check_installed

    check_installed()
    from aui_tui.service.publication import LocalPublication
    from aui_tui.web.app import serve as publish

    settings = run.settings
    if (settings.data_dir / signing.NAME).exists():
        signing.read_key(settings.data_dir)
    if base_url is None and settings.origins["base_url"] != "default":
        base_url = settings.base_url
    publication = LocalPublication(
        folder=settings.data_dir,
        base_url=base_url or settings.base_url,
        method=settings.method,
        access=policy_of(run, connect_to=connect_to) or PUBLIC,
        known=starter(),
        read_only=settings.read_only,
        with_visits=settings.publish_visits,
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


@app.command("mcp", epilog="Example: aui-tui mcp --allow-scan --allow-private")
def mcp(
    context: typer.Context,
    allow_scan: Annotated[bool, typer.Option("--allow-scan", help="Offer the tool scan too.")] = False,
    allow_private: options.AllowPrivate = False,
    connect_to: options.ConnectTo = None,
) -> None:
    """Serve the index to a coding agent as MCP tools over standard input and output, until it closes them.

    The tools read: index, site, plan, diff, tasks, visits. --allow-scan adds scan.
    """
    run = options.run_of(context)
    access = policy_of(run, allow_private=allow_private, connect_to=connect_to)
    if (allow_private or connect_to) and not allow_scan:
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


@app.command("web", epilog="Example: aui-tui web --port 8601")
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
    run = options.run_of(context)
    if find_spec("textual_serve") is None:
        raise MissingExtra("aui-tui web", "web")
    from aui_tui.web import dashboard

    settings = run.settings
    words = ["--data-dir", str(settings.data_dir)]
    if settings.origins["source"] == "--source":
        words += ["--source", settings.source]
    if settings.origins["config_file"] == "--config":
        words += ["--config", str(settings.config_file)]
    dashboard.serve(words, host=host, port=port, base_url=base_url, title=streams.NAME, say=streams.say)
    return 0

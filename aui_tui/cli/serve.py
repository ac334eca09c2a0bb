"""Commands that serve: the index over HTTP (``serve``), tools for coding agents (``mcp``), the dashboard (``web``)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Annotated, Final

import typer

from aui_tui.cli import options, streams
from aui_tui.cli.parser import App, run_for
from aui_tui.cli.site_options import policy_of
from aui_tui.cli.sources import accepted, only_local, opened
from aui_tui.errors import BadValue, require

app = App()


PORT: Final = 8600
MAX_WORKERS: Final = 64
Address = Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")]
Port = Annotated[
    int, typer.Option("--port", metavar="N", min=0, max=65535, help="Port to listen on; 0 takes a free one.")
]


@app.command("serve", epilog="Example: aui-tui serve --port 8600")
def serve(
    context: typer.Context,
    host: Address = "127.0.0.1",
    port: Port = PORT,
    workers: Annotated[
        int, typer.Option("--workers", metavar="N", min=1, max=MAX_WORKERS, help="Server processes.")
    ] = 1,
    connect_to: options.ConnectTo = None,
) -> int:
    """Publish the index: JSON endpoints, pages for people, and tools for agents, until ctrl+c.

    Clients scan public hosts on ports 80 and 443 only, ten times an hour each.

    Settings (aui-tui config): base_url and trusted_proxy behind a proxy, cors, allow_origin, read_only, publish_visits.
    """
    run = run_for(context)
    only_local(run, "Serving")
    require("Serving", "serve", "starlette", "uvicorn", "jinja2")
    from aui_tui.scan import signing
    from aui_tui.scan.policy import PUBLIC
    from aui_tui.service.publication import Publication
    from aui_tui.web import checked_config
    from aui_tui.web.app import serve as publish

    settings = run.settings
    if (settings.data_dir / signing.NAME).exists():
        signing.read_key(settings.data_dir)
    config = checked_config(
        settings.base_url if settings.origins["base_url"] != "default" else "",
        trusted_proxies=settings.trusted_proxy,
        cors=settings.cors,
        allow_origin=settings.allow_origin,
    )
    publication = partial(
        Publication,
        settings.data_dir,
        base_url=settings.base_url,
        method=settings.method,
        access=policy_of(run, connect_to=connect_to) or PUBLIC,
        read_only=settings.read_only,
        with_visits=settings.publish_visits,
        accept=accepted(settings),
    )
    first = publication()
    warnings = first.warnings
    run.wait(first.aclose())
    for sentence in warnings:
        streams.say(sentence)
    return publish(publication, config, host=host, port=port, workers=workers)


@app.command("mcp", epilog="Example: aui-tui mcp --allow-scan --allow-private")
def mcp(
    context: typer.Context,
    allow_scan: Annotated[bool, typer.Option("--allow-scan", help="Offer the tool scan too.")] = False,
    allow_private: options.AllowPrivate = False,
    connect_to: options.ConnectTo = None,
) -> None:
    """Serve the index to a coding agent as MCP tools over standard input and output, until it closes them.

    The tools only read what is stored (aui-tui help agents names them). --allow-scan adds scan.
    """
    run = run_for(context)
    access = policy_of(run, allow_private=allow_private, connect_to=connect_to)
    if (allow_private or connect_to) and not allow_scan:
        raise BadValue("Options on how to reach a site need --allow-scan; add --allow-scan, or leave them out.")
    require("aui-tui mcp", "mcp", "mcp")
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
) -> int:
    """Open the dashboard in a browser, until ctrl+c. Each tab runs a dashboard of its own on this machine.

    The address that is printed holds a token: whoever has it acts as you do. Behind a proxy: the setting base_url.
    """
    run = run_for(context)
    require("aui-tui web", "web", "textual_serve")
    from aui_tui.web import terminal

    settings = run.settings
    base_url = settings.base_url if settings.origins["base_url"] != "default" else ""
    terminal.serve(settings.options, host=host, port=port, base_url=base_url, title=streams.NAME, say=streams.say)
    return 0

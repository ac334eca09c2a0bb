"""Publishing an index over HTTP (specification 4): the extra ``serve``."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Final

from aui_tui.errors import MissingExtra
from aui_tui.service.protocol import Published

NEEDED: Final = ("starlette", "uvicorn", "jinja2")
"""Packages of the extra ``serve`` without which nothing can be served."""


def run(
    service_factory: Callable[[], Published],
    host: str = "127.0.0.1",
    port: int = 8600,
    base_url: str | None = None,
    workers: int = 1,
    trusted_proxies: tuple[str, ...] = (),
    cors: tuple[str, ...] = (),
    allow_origin: tuple[str, ...] = (),
) -> int:
    """Serve until SIGINT (exit code 130) or SIGTERM (0); return the exit code.

    ``service_factory`` makes the service of one worker process; with several workers it must be picklable (a function
    of a module, or a partial of one). Port 0 takes any free one; the real address is written to standard error.
    ``base_url`` is the public address (default: the bound one). ``trusted_proxies``: networks whose X-Forwarded-For
    names the client. ``cors``: origins whose pages may read the API; ``allow_origin``: and start scans.

    Raises ConfigError: the extra is not installed, the address cannot be bound, or a setting is malformed.
    """
    if any(find_spec(name) is None for name in NEEDED):
        raise MissingExtra("Serving", "serve")
    from aui_tui.service.api.server import serve

    return serve(
        service_factory,
        host=host,
        port=port,
        base_url=base_url,
        workers=workers,
        trusted_proxies=trusted_proxies,
        cors=cors,
        allow_origin=allow_origin,
    )

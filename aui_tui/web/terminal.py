"""The dashboard in a browser: textual-serve behind a secret address and checks of Host and Origin."""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from aui_tui.errors import BadValue
from aui_tui.process import command
from aui_tui.text import is_loopback
from aui_tui.web import listen

if TYPE_CHECKING:
    from aiohttp.web import Application, Request, StreamResponse

MOST: Final = 8
"""Dashboards at a time; each is a process."""
LARGEST: Final = 1000
"""Columns or rows of a terminal that a browser may ask for."""
POLICY: Final = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "font-src 'self' data:; connect-src 'self' {socket}; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
"""What the page may load: nothing from elsewhere, in no frame of another page."""
FOCUS: Final = """<script>
  new MutationObserver((_, seen) => {
    const keys = document.querySelector(".xterm-helper-textarea");
    if (keys) { keys.focus(); seen.disconnect(); }
  }).observe(document.body, {childList: true, subtree: true});
</script></body>"""
"""Ends the page: keys go to the dashboard without a click."""


def serve(
    options: Sequence[str], *, host: str, port: int, base_url: str, title: str, say: Callable[[str], None]
) -> None:
    """Serve dashboards started with ``options`` of the command line until ctrl+c; ``say`` gets the address.

    The address holds a token: any process of this machine can reach the port, and the dashboard acts as its user does.
    Raises BadValue and ConfigError.
    """
    from aiohttp.web import run_app

    with closing(listen(host, port)) as listener:
        names, url = _names(host, listener.getsockname()[1], base_url)
        if not is_loopback(host) and not url.startswith("https:"):
            say(
                "Warning: this address is not encrypted; whoever reads along on the network gets the token and acts as "
                "you."
            )
        token = secrets.token_urlsafe(24)
        words = shlex.join(command("aui_tui.__main__", *options))
        say(f"The dashboard is at {url}/{token}/ until ctrl+c.")
        run_app(_application(words, url, token, names, title), sock=listener, print=None, access_log=None)


def _names(host: str, port: int, base_url: str) -> tuple[frozenset[str], str]:
    """Return the values of Host that are answered, and the address of the page. Raises BadValue."""
    own = f"[{host}]" if ":" in host else host
    names = {f"{own}:{port}"}
    if is_loopback(host):
        names |= {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}
    if not base_url:
        if host in ("0.0.0.0", "::"):  # noqa: S104 - compared, not bound
            raise BadValue(f"--host {host} means every address; name the one that browsers use by AUI_TUI_BASE_URL.")
        return frozenset(names), f"http://{own}:{port}"
    if base_url.count("/") > 2:
        raise BadValue("base_url must be http:// or https:// with a host and no path.")
    return frozenset(names | {urlsplit(base_url).netloc}), base_url


def _application(words: str, url: str, token: str, names: frozenset[str], title: str) -> Awaitable[Application]:
    """Return textual-serve's application for the command ``words``, all of it under ``/token/``."""
    from aiohttp.web import Application, HTTPForbidden, HTTPServiceUnavailable, Response, middleware
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
        if not request.path.endswith("/ws"):
            answer = await handler(request)
            if isinstance(answer, Response) and answer.content_type == "text/html" and answer.text:
                answer.text = answer.text.replace("</body>", FOCUS)
            answer.headers["Content-Security-Policy"] = policy
            answer.headers["X-Content-Type-Options"] = "nosniff"
            answer.headers["Referrer-Policy"] = "no-referrer"
            return answer
        if origin is None:
            raise HTTPForbidden(text="A WebSocket needs an Origin.")
        for name in ("width", "height"):
            size = request.query.get(name, "80")
            if not (size.isascii() and size.isdecimal() and 0 < len(size) < 5 and 0 < int(size) <= LARGEST):
                raise HTTPForbidden(text=f"{name} must be from 1 to {LARGEST}.")
        if open_now >= MOST:
            raise HTTPServiceUnavailable(text=f"{MOST} dashboards are open; close one.")
        open_now += 1
        try:
            return await handler(request)
        finally:
            open_now -= 1

    async def prepared() -> Application:
        made = await Server(words, public_url=url, title=title)._make_app()
        made.on_startup.clear()  # the library's banner
        outer = Application(middlewares=[middleware(guard)])
        outer.add_subapp(f"/{token}", made)
        return outer

    return prepared()

"""The small web of the demo: sites as data (``sites.toml``, ``shops.toml``, ``answers.toml``), scanned as any other.

One server on loopback, to which the names of all of them lead, answers for all.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import socket
import socketserver
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from html import escape
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from string import Template
from typing import Final, Self

import msgspec
from msgspec import UNSET, UnsetType

from aui_tui.demo.shop import HTML, Request, Response, Shop, template
from aui_tui.errors import Unavailable
from aui_tui.model.card import ReportCard
from aui_tui.model.options import ScanOptions
from aui_tui.model.registry import registry
from aui_tui.model.tasks import TaskEvent
from aui_tui.packaged import read_table
from aui_tui.scan.policy import ConnectTo, Limits, ScanPolicy
from aui_tui.service.local import LocalService

BODY_LIMIT: Final = 1024 * 1024
IDLE: Final = 30.0
"""Seconds a connection may stay without a request, or without an answer where none comes."""
HELD: Final = 0.4
"""Seconds after which the small web closes a connection that it never answers: nobody has to wait for long."""

WELL_KNOWN: Final = {
    "/llms.txt": ("llms", "llms.txt", "text/plain"),
    "/.well-known/ai-plugin.json": ("ai-plugin", "ai-plugin.json", "application/json"),
    "/.well-known/ucp": ("ucp", "ucp.json", "application/json"),
    "/.well-known/mcp.json": ("mcp", "mcp.json", "application/json"),
    "/.well-known/mcp/server-card.json": ("mcp-card", "mcp.json", "application/json"),
}
"""Path of each agent-facing file: its name in ``Site.files``, its template, its type."""


EVERYBODY, BROWSER, AGENTS = "everybody", "browser", "agents"


class CannedAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A canned answer of a wall, a limiter or a broken server."""

    status: int
    body: str
    headers: dict[str, str] = {}


class DemoRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who gets something else than the page.

    ``to``: ``everybody``, ``browser``, ``agents`` or the token of one agent. ``answer``: a key of ``answers.toml``;
    ``action``: ``hang`` (nothing comes, and the connection is closed in the end). ``everywhere``: robots.txt and the
    agent-facing files too. ``per_second``: that many requests of each second pass first.
    """

    to: str
    answer: str = ""
    action: str = ""
    everywhere: bool = False
    per_second: int = 0


class EarlierState(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was different at a site at the scan before."""

    page: str | UnsetType = UNSET
    robots: str | UnsetType = UNSET
    files: tuple[str, ...] | UnsetType = UNSET
    rule: tuple[DemoRule, ...] | UnsetType = UNSET


class DemoSite(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One site: what ``sites.toml`` explains at its head."""

    host: str
    name: str
    category: str
    page: str
    tagline: str = ""
    items: tuple[str, ...] = ()
    robots: str = "404"
    files: tuple[str, ...] = ()
    headers: dict[str, str] = {}
    moved: dict[str, str] = {}
    canonical: str = ""
    charset: str = "utf-8"
    catch_all: bool = False
    mode: str = "serve"
    shop: tuple[str, ...] = ()
    rule: tuple[DemoRule, ...] = ()
    before: EarlierState | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Every host name the site answers under."""
        return (self.host, self.canonical) if self.canonical else (self.host,)

    def earlier(self) -> DemoSite:
        """Return the site as it was at the scan before; itself when nothing changed."""
        if self.before is None:
            return self
        changes = {
            name: value for name in EarlierState.__struct_fields__ if (value := getattr(self.before, name)) is not UNSET
        }
        return msgspec.structs.replace(self, **changes)


@cache
def sites() -> tuple[DemoSite, ...]:
    """Return every site of the demo, in the order of the table."""
    return read_table("demo/sites.toml", dict[str, tuple[DemoSite, ...]])["site"]


@cache
def shops() -> tuple[DemoSite, ...]:
    """Return the shops of ``demo --tasks``; ``Site.shop`` names FAULTS of ``demo.shop``."""
    return read_table("demo/shops.toml", dict[str, tuple[DemoSite, ...]])["site"]


@cache
def answers() -> dict[str, CannedAnswer]:
    """Return the canned answers by name."""
    return read_table("demo/answers.toml", dict[str, CannedAnswer])


Respond = Callable[[Request], Response | None]
"""Returns the answer to a request; None: nothing comes, and the connection is closed in the end."""


class LoopbackServer(socketserver.ThreadingTCPServer):
    """HTTP/1.1 on a loopback port while the ``with`` block runs, on threads of its own."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, respond: Respond, held: float = IDLE) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.respond, self.held = respond, held
        self.port: int = self.server_address[1]

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, args=(0.05,), name="demo web", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    def handle_error(self, request: object, client_address: object) -> None:
        """Do nothing: a client that sends nonsense or goes away is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = IDLE
    wbufsize = -1  # head and body in one piece
    server: LoopbackServer

    def _exchange(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        length = min(int(headers.get("content-length", "0") or 0), BODY_LIMIT)
        request = Request(self.command, self.path, headers, self.rfile.read(length) if length else b"")
        response = self.server.respond(request)
        if response is None:
            self.close_connection = True
            self.connection.settimeout(self.server.held)
            self.rfile.read(1)
        else:
            self._send(response, request)

    def _send(self, response: Response, request: Request) -> None:
        body, headers = response.body, dict(response.headers)
        if len(body) > 256 and "gzip" in request.headers.get("accept-encoding", ""):
            body = gzip.compress(body, 6)
            headers |= {"content-encoding": "gzip", "vary": "accept-encoding"}
        headers |= {"date": self.date_time_string(), "content-length": str(len(body))}
        headers["connection"] = "close" if self.close_connection else "keep-alive"
        self.send_response_only(response.status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if request.method != "HEAD":
            self.wfile.write(body)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _exchange  # noqa: N815 - http.server's

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Close the connection of a request that is none."""
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's
        """Write no log."""


class Behaviour:
    """One site as it behaves; ``site`` may be exchanged between requests."""

    def __init__(self, site: DemoSite, clock: Callable[[], float] = time.monotonic) -> None:
        self.site = site
        self._clock = clock
        self._recent: dict[DemoRule, list[float]] = {}
        self._lock = threading.Lock()

    def respond(self, request: Request) -> Response | None:
        """Return the answer of the wall that ``request`` meets, else of the site."""
        rule = self._matching(request)
        if rule is None:
            return self.answer(request)
        return None if rule.action == "hang" else _canned(rule.answer)

    def _matching(self, request: Request) -> DemoRule | None:
        for rule in self.site.rule:
            is_page = not request.path.startswith(("/robots.txt", "/llms.txt", "/.well-known/"))
            if (rule.everywhere or is_page) and _concerns(rule, _agent_of(request)) and not self._passes(rule):
                return rule
        return None

    def _passes(self, rule: DemoRule) -> bool:
        """Whether one more request stays within the rule's allowance of the last second."""
        with self._lock:
            now = self._clock()
            recent = self._recent[rule] = [at for at in self._recent.get(rule, ()) if now - at < 0.9]
            if len(recent) < rule.per_second:
                recent.append(now)
                return True
            return False

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


def _concerns(rule: DemoRule, agent: str) -> bool:
    if rule.to == EVERYBODY:
        return True
    if rule.to == BROWSER:
        return not agent
    return bool(agent) if rule.to == AGENTS else rule.to == agent


def _agent_of(request: Request) -> str:
    """Return the token of the live-probed agent that the User-Agent names, empty for anybody else."""
    named = request.headers.get("user-agent", "")
    return next((agent.token for agent in registry().live if agent.token in named), "")


def _canned(name: str) -> Response:
    answer = answers()[name]
    return Response(answer.status, {"content-type": HTML, **answer.headers}, answer.body.strip().encode())


class DemoWeb:
    """Serves ``served`` (the demo's sites) on one port while the ``with`` block runs; the Host field tells them apart.

    Raises Unavailable when the loopback interface cannot be listened on.
    """

    def __init__(self, served: Sequence[DemoSite] | None = None) -> None:
        self.sites = tuple(sites() if served is None else served)
        self._behaviours = {site.host: Behaviour(site) for site in self.sites if site.mode == "serve"}
        self._answers: dict[str, Respond] = {}
        for site in self.sites:
            if site.mode == "shop":
                self._answers[site.host] = Shop(name=site.name, faults=frozenset(site.shop)).answer
            elif site.mode == "serve":
                self._answers |= dict.fromkeys(site.names, self._behaviours[site.host].respond)
        self._opened = contextlib.ExitStack()

    def __enter__(self) -> Self:
        try:
            server = self._opened.enter_context(LoopbackServer(self._respond, HELD))
            held = self._opened.enter_context(socket.socket())
            held.bind(("127.0.0.1", 0))  # nothing listens there, so connections to it are refused
        except OSError as error:
            self._opened.close()
            raise Unavailable(f"The demo cannot listen on 127.0.0.1: {error.strerror or error}.") from None
        self._refused: int = held.getsockname()[1]
        self.ports = {site.host: self._refused if site.mode == "closed" else server.port for site in self.sites}
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def _respond(self, request: Request) -> Response | None:
        host = request.headers.get("host", "").partition(":")[0].lower()
        if host not in self._answers:
            return Response(HTTPStatus.MISDIRECTED_REQUEST, {"content-type": "text/plain"}, b"No such site.")
        return self._answers[host](request)

    @property
    def connect_to(self) -> tuple[str, ...]:
        """The rules (``HOST:PORT:ADDRESS:PORT``) that lead every name of the small web to its server.

        Nothing listens for https there, as on a host that has only http.
        """
        return tuple(
            rule
            for site in self.sites
            for name in site.names
            for rule in (f"{name}:80:127.0.0.1:{self.ports[site.host]}", f"{name}:443:127.0.0.1:{self._refused}")
        )

    def show(self, site: DemoSite) -> None:
        """Serve ``site`` from now on under its host."""
        self._behaviours[site.host].site = site


class DemoPolicy(ScanPolicy):
    """Leads scans to the small web; its names exist nowhere else, so no real site is passed over."""

    @property
    def relaxed(self) -> tuple[str, ...]:
        """Nothing that a card would have to mention."""
        return ()


LIMITS: Final = Limits(probe=2.5, pause=0.3, again=0.5, retry_after=0.5)
"""The small web answers in milliseconds, so those who got no answer need not be waited for or asked again for long."""
AT_ONCE: Final = 6
"""Sites that are scanned at a time: few, so that the first cards come soon and no answer waits for the others."""


def rounds(web: DemoWeb) -> int:
    """Return how many scans :func:`fill` makes."""
    return len(web.sites) + sum(site.before is not None for site in web.sites)


def service_of(web: DemoWeb, folder: Path, *, base_url: str, method: str) -> LocalService:
    """Return a service over ``folder`` whose scans reach the small web. Raises ConfigError."""
    rules = tuple(ConnectTo.parse(rule) for rule in web.connect_to)
    access = DemoPolicy(connect_to=rules, limits=LIMITS)
    return LocalService(folder, base_url=base_url, method=method, access=access)


@contextlib.contextmanager
def small_web(*, tasks: bool, base_url: str, method: str) -> Iterator[tuple[LocalService, DemoWeb]]:
    """Serve the sites, for ``tasks`` the shops too, while the block runs; the service keeps cards as long.

    The caller closes the service. Raises ConfigError, Unavailable.
    """
    with (
        tempfile.TemporaryDirectory(prefix="aui-tui-demo-") as name,
        DemoWeb((*sites(), *shops()) if tasks else sites()) as web,
    ):
        yield service_of(web, Path(name), base_url=base_url, method=method), web


async def fill(
    service: LocalService,
    web: DemoWeb,
    on_card: Callable[[ReportCard], None],
    live: Callable[[str, TaskEvent], None] | None = None,
) -> None:
    """Scan every site as it is now, one that has changed as it was before first; then run the tasks on the shops.

    ``on_card`` is called with the card of every finished scan, ``live`` with each step of each host. Raises NoBrowser
    where there are shops.
    """

    async def scan(site: DemoSite) -> None:
        options = ScanOptions(force=True, category=site.category, name=site.name)
        on_card((await service.scan(f"http://{site.host}", options)).card)

    places = asyncio.Semaphore(AT_ONCE)

    async def both(site: DemoSite) -> None:
        async with places:
            if site.before is not None:
                web.show(site.earlier())
                await scan(site)
                web.show(site)
            await scan(site)

    async with asyncio.TaskGroup() as group:
        for site in web.sites:
            group.create_task(both(site))
    for site in web.sites:
        if site.mode == "shop":
            await service.scan(
                f"http://{site.host}",
                ScanOptions(tasks=True),
                live=partial(live, site.host) if live is not None else None,
            )

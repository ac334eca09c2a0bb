"""The three endpoints, and what other programs fetch beside them.

That is the index as CSV and Atom, badges, and the small files and catalogues under well-known addresses.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final, TypeVar
from urllib.parse import urlencode

import msgspec
from starlette.concurrency import iterate_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from aui_tui.errors import AuiError, NeverScanned
from aui_tui.model.card import Index, ReportCard, site_url
from aui_tui.model.codec import encode_card, encode_index
from aui_tui.model.listing import Row
from aui_tui.model.methods import METHODS
from aui_tui.model.options import ScanOptions
from aui_tui.model.query import Query
from aui_tui.model.report import HostReport
from aui_tui.model.tasks import OUTCOMES, TaskReport
from aui_tui.model.visits import Visits
from aui_tui.model.vocabulary import CATEGORIES, FIXES, SEVERITIES, STANCES, VERDICTS
from aui_tui.report.data import csv_listing
from aui_tui.report.formats import ExportOptions, Listing
from aui_tui.report.page import badge
from aui_tui.service.protocol import Service
from aui_tui.text import clean
from aui_tui.web import ApiConfig, problems, serves_tools
from aui_tui.web.answers import NOTHING, Key, Representation, ResponseCache, is_current, tag, validators
from aui_tui.web.problems import HttpProblem
from aui_tui.web.rendering import environment
from aui_tui.web.requests import Parameters, is_cross_site

JSON: Final = "application/json"
DIRECTORY: Final = "application/http-message-signatures-directory+json"
TEXT: Final = "text/plain; charset=utf-8"
ATOM: Final = "application/atom+xml; charset=utf-8"
CSV: Final = "text/csv; charset=utf-8"
LINKSET: Final = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'
FILES: Final = (
    ("/robots.txt", "robots.txt", TEXT),
    ("/llms.txt", "llms.txt", TEXT),
    ("/.well-known/api-catalog", "api-catalog.json", LINKSET),
    ("/.well-known/mcp.json", "mcp.json", JSON),
)
"""What the service says of itself: path, template, media type."""
STATIC_CACHE: Final = "public, max-age=3600"
WHOLE: Final = 110_000
"""An index of at most this many rows is made once and kept, packed too; a longer one is streamed each time."""
STREAMS: Final = 4
"""Longer indexes, or lists as CSV, streamed at once by one worker; further ones wait."""
LARGEST_PAGE: Final = 100_000
"""Rows that may be asked for at a time."""
ENTRIES: Final = 50
"""Entries of the feed: the newest scans."""
CHUNK: Final = 64 * 1024
Chunk = TypeVar("Chunk", bytes, str)


def fixed(body: bytes, media_type: str, fields: Mapping[str, str] = NOTHING) -> Representation:
    """Return an answer that never changes."""
    return Representation(body, media_type, cache=STATIC_CACHE, fields=fields)


def fixed_route(path: str, made: Representation) -> Route:
    """Return the route that answers every request with ``made``."""
    return Route(path, made, methods=["GET"])


async def _in_turn(places: asyncio.Semaphore, chunks: AsyncIterator[Chunk]) -> AsyncIterator[Chunk]:
    """Yield ``chunks`` once one of ``places`` is free."""
    async with places:
        async for chunk in chunks:
            yield chunk


def _without_length(media_type: str, fields: Mapping[str, str]) -> Response:
    """Return the answer to HEAD for a body whose length is not known (RFC 9110, section 8.6)."""
    head = Response(media_type=media_type, headers=fields)
    del head.headers["content-length"]
    return head


class Endpoints:
    """The API over one service: every public method that takes a request is one route."""

    def __init__(self, service: Service, config: ApiConfig) -> None:
        self.service = service
        self.config = config
        self.environment = environment(config, scans=service.can_scan)
        self.cache = ResponseCache(Response(), service.stamp)
        self._streams = asyncio.Semaphore(STREAMS)

    def routes(self) -> list[Route]:
        """Return the routes; RFC 9727, section 2, asks for the Link field of the catalogue in answers to HEAD."""
        base = self.config.base_url
        link = {"Link": f'<{base}/.well-known/api-catalog>; rel="api-catalog"'}
        documents = [
            fixed_route(path, fixed(self.render(template), kind, link if kind == LINKSET else NOTHING))
            for path, template, kind in FILES
            if template != "mcp.json" or serves_tools()
        ]
        return [
            *documents,
            Route("/api/index.json", self.index),
            Route("/api/site/{host:path}.json", self.site),
            Route("/api/visits/{host:path}.json", self.visits),
            Route("/api/tasks/{host:path}.json", self.tasks),
            Route("/api/scan", self.scan),
            fixed_route("/openapi.json", fixed(description(base), JSON)),
            Route("/healthz", self.health),
            Route("/.well-known/http-message-signatures-directory", self.signature_directory),
            Route("/index.csv", self.csv),
            Route("/feed.atom", self.atom),
            Route("/badge/{host:path}.svg", self.badge),
        ]

    def render(self, template: str, **values: Any) -> bytes:
        """Return ``template`` filled with ``values``."""
        return self.environment.get_template(template).render(**values).encode("utf-8", "replace")

    async def kept(
        self,
        request: Request,
        key: Key,
        media_type: str,
        make: Callable[[], Awaitable[bytes]],
        fields: Mapping[str, str] = NOTHING,
    ) -> ASGIApp:
        """Return what ``make`` gives, made once for each state of the index."""

        async def made(stamp: str) -> Representation:
            modified = await self._modified()
            return Representation(await make(), media_type, modified=modified, fields=fields)

        return await self.cache.kept(request.scope, key, made)

    async def _modified(self) -> datetime | None:
        """Return when what is published last changed, to be asked before it is read; None: not known."""
        at = await self.service.changed()
        return None if at is None else datetime.fromtimestamp(at, UTC)

    async def index(self, request: Request) -> ASGIApp:
        """GET /api/index.json (4.1), whole or ``limit`` rows of each list from ``offset`` on."""
        parameters = Parameters(request.scope["query_string"])
        query = Query.of(category=parameters.word("category"), stance=parameters.word("stance"))
        limit, offset = parameters.number("limit", LARGEST_PAGE), parameters.number("offset", 1 << 31)
        key = ("index", query.category, query.stance, str(limit), str(offset))

        async def made(stamp: str) -> ASGIApp:
            modified = await self._modified()
            view = await self.service.index(query)
            longer = max(len(view.ranked), len(view.unreachable))
            parts = encode_index(view, base_url=self.config.base_url, start=offset, limit=limit)
            if longer > WHOLE and not limit:
                return self._stream(request, iterate_in_threadpool(parts), tag(stamp, *key) if stamp else "", modified)
            following = self._page(query, limit, offset + limit) if limit and offset + limit < longer else ""
            fields = {"Link": f'<{following}>; rel="next"'} if following else NOTHING
            body = await asyncio.to_thread(b"".join, parts)
            if offset and offset >= longer:  # any number is beyond the end
                return Response(body, media_type=JSON, headers={"Cache-Control": "no-cache"})
            return Representation(body, JSON, modified=modified, fields=fields)

        return await self.cache.kept(request.scope, key, made)

    def _page(self, query: Query, limit: int, offset: int) -> str:
        fields = {"limit": limit, "offset": offset, "category": query.category, "stance": query.stance}
        values = {name: value for name, value in fields.items() if value}
        return f"{self.config.base_url}/api/index.json?{urlencode(values)}"

    def _stream(self, request: Request, chunks: AsyncIterator[bytes], etag: str, modified: datetime | None) -> Response:
        fields = validators(etag, modified)
        if is_current(dict(request.scope["headers"]), etag, modified):
            return Response(status_code=304, headers=fields)
        if request.method == "HEAD":
            return _without_length(JSON, fields)
        return StreamingResponse(_in_turn(self._streams, chunks), media_type=JSON, headers=fields)

    async def site(self, request: Request) -> ASGIApp:
        """GET /api/site/<host>.json (4.2)."""
        host: str = request.path_params["host"]

        async def made() -> bytes:
            return encode_card((await self.service.site(host)).card, base_url=self.config.base_url)

        return await self.kept(request, ("site", host), JSON, made)

    async def visits(self, request: Request) -> ASGIApp:
        """GET /api/visits/<host>.json: what the operator's access logs say of the host; 404 when none was read."""
        record = await self.service.visits(request.path_params["host"])
        if record is None:
            raise HttpProblem("not-found")
        return Representation(msgspec.json.encode(record), JSON)

    async def tasks(self, request: Request) -> ASGIApp:
        """GET /api/tasks/<host>.json: the transcript of the last run of the tasks; 404 when none is kept."""
        run = await self.service.transcript(request.path_params["host"])
        if run is None:
            raise HttpProblem("not-found")
        return Representation(msgspec.json.encode(run), JSON)

    async def scan(self, request: Request) -> ASGIApp:
        """GET /api/scan?url=&force= (4.3); HEAD answers from what is kept, and starts and costs nothing."""
        parameters = Parameters(request.scope["query_string"])
        url = parameters.needed("url", "example.com")
        force = parameters.flag("force")
        try:
            report = await self.card_of(request, url, force=force)
            if report is None:
                raise problems.cross_site(self.config.base_url)
        except AuiError as error:
            refused = problems.of(error)
            refusal = problems.response(refused, self.config.base_url)
            if refused.status == 429:
                refusal.headers.update(await self._quota_fields(request))
            return refusal
        made = Representation(encode_card(report.card, base_url=self.config.base_url), JSON, cache="no-store")
        fields = await self._quota_fields(request) | {"Cache-Status": cache_status(report, force=force)}
        return partial(made, fields=fields)

    async def card_of(self, request: Request, url: str, *, force: bool = False) -> HostReport | None:
        """Return the card of ``url``, scanned when ``request`` may cause that, else from the cache or None.

        Another site's page causes nothing, and HEAD neither. Raises as ``Service.scan``; NeverScanned for HEAD.
        """
        foreign = is_cross_site(request, self.config)
        if not foreign and request.method != "HEAD":
            return await self.service.scan(url, ScanOptions(force=force, client=request.scope["client_id"]))
        report = await self.service.cached(url)
        if report is None and not foreign:
            raise NeverScanned(clean(url, 100))
        return None if foreign and force else report

    async def _quota_fields(self, request: Request) -> dict[str, str]:
        """Return the header fields that say how many scans the client has left."""
        return problems.quota_fields(await self.service.quota(request.scope["client_id"]), time.time())

    async def signature_directory(self, request: Request) -> Response:
        """GET /.well-known/http-message-signatures-directory: the key that signs the operator's probes.

        It is signed for the address in the settings, never for a name that a request gives.
        """
        directory = await self.service.signature_directory(self.config.base_url + request.scope["path"])
        if directory is None:
            raise HttpProblem("not-found")
        body, fields = directory
        return Response(body, media_type=DIRECTORY, headers={**fields, "Cache-Control": "public, max-age=300"})

    async def health(self, request: Request) -> Response:
        """GET /healthz: 200 when the store answers, 503 when it does not."""
        await self.service.stamp()
        return Response(b'{"status":"ok"}', media_type=JSON, headers={"Cache-Control": "no-store"})

    async def csv(self, request: Request) -> Response:
        """GET /index.csv: every row as CSV, under the same filters as the JSON."""
        parameters = Parameters(request.scope["query_string"])
        query = Query.of(category=parameters.word("category"), stance=parameters.word("stance"))
        listing = Listing.of_view(await self.service.index(query))
        named = replace(
            listing, ranked=map(self._named, listing.ranked), unreachable=map(self._named, listing.unreachable)
        )
        fields = {"Content-Disposition": 'attachment; filename="index.csv"', "Cache-Control": "no-cache"}
        if request.method == "HEAD":
            return _without_length(CSV, fields)
        chunks = _in_turn(self._streams, iterate_in_threadpool(_gathered(csv_listing(named, ExportOptions()))))
        return StreamingResponse(chunks, media_type=CSV, headers=fields)

    def _named(self, row: Row) -> Row:
        url = site_url(self.config.base_url, row.summary.host)
        return msgspec.structs.replace(row, summary=msgspec.structs.replace(row.summary, url=url))

    async def atom(self, request: Request) -> ASGIApp:
        """GET /feed.atom: the newest scans (RFC 4287)."""

        async def made() -> bytes:
            view = await self.service.index(Query.of(sort="age"))
            sites = [row.summary for row in view.ranked[:ENTRIES]]
            return self.render("feed.atom", updated=view.scanned_at, sites=sites)

        return await self.kept(request, ("feed",), ATOM, made)

    async def badge(self, request: Request) -> ASGIApp:
        """GET /badge/<host>.svg: grade and score of one host as a picture."""
        host: str = request.path_params["host"]

        async def made() -> bytes:
            return badge((await self.service.site(host)).card).encode("utf-8", "replace")

        return await self.kept(request, ("badge", host), "image/svg+xml", made)


def cache_status(report: HostReport, *, force: bool) -> str:
    """Return a Cache-Status field (RFC 9211) that says where a card comes from."""
    if report.source == "cache":
        return "aui-tui; hit"
    status = f"aui-tui; fwd={'request' if force else 'miss'}; stored"
    return status + "; collapsed" if report.source == "shared" else status


def _gathered(lines: Iterator[str]) -> Iterator[str]:
    """Yield lines in chunks worth sending."""
    held: list[str] = []
    size = 0
    for line in lines:
        held.append(line)
        size += len(line)
        if size >= CHUNK:
            yield "".join(held)
            held, size = [], 0
    yield "".join(held)


_WORDS: Final = MappingProxyType(
    {
        "stance": STANCES,
        "category": CATEGORIES,
        "method": tuple(METHODS),
        "t": SEVERITIES,
        "outcome": OUTCOMES,
        "k": FIXES,
    }
)
"""Closed word lists of the schemas by property."""


def description(base_url: str) -> bytes:
    """Return the OpenAPI 3.1 document of the service at ``base_url``: the packaged one, with the record types."""
    document = msgspec.json.decode(files("aui_tui.web").joinpath("static", "openapi.json").read_bytes())
    document["servers"] = [{"url": base_url}]
    document["components"]["schemas"] = _schemas()
    return msgspec.json.format(msgspec.json.encode(document), indent=1)


@cache
def _schemas() -> Mapping[str, Any]:
    """Return the JSON Schema of each record type by its name."""
    _, schemas = msgspec.json.schema_components(
        (Index, ReportCard, TaskReport, Visits, problems.ProblemDetails),
        schema_hook=lambda kind: {"description": "Any JSON value"},
        ref_template="#/components/schemas/{name}",
    )
    for schema in schemas.values():
        for name, about in schema.get("properties", {}).items():
            if name in _WORDS and about.get("type") == "string":
                about["enum"] = list(_WORDS[name])
            elif name == "matrix":
                about["additionalProperties"] = {"type": "string", "enum": list(VERDICTS)}
    return schemas

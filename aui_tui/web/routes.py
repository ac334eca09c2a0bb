"""The three endpoints (specification 4), and what other programs fetch beside them.

That is the index as CSV and Atom, badges, sitemaps, and the small files and catalogues under well-known addresses.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final, TypeVar
from urllib.parse import urlencode
from xml.sax.saxutils import escape

import msgspec
from starlette.concurrency import iterate_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from aui_tui import docs
from aui_tui.errors import AuiError, InvalidHost, NeverScanned
from aui_tui.model.options import ScanOptions
from aui_tui.model.query import Query
from aui_tui.model.tasks import encode_report
from aui_tui.model.view import HostReport, Row
from aui_tui.model.visits import encode_visits
from aui_tui.report.data import csv_listing
from aui_tui.report.options import Listing, Options
from aui_tui.report.page import badge
from aui_tui.service.protocol import Published, Service
from aui_tui.web import ApiConfig, discovery, messages, problems
from aui_tui.web.messages import (
    Parameters,
    Representation,
    Shelf,
    answer,
    is_cross_site,
    not_modified,
    tag,
    unchanged,
    validators,
)

JSON: Final = "application/json"
DIRECTORY: Final = "application/http-message-signatures-directory+json"
TEXT: Final = "text/plain; charset=utf-8"
WHOLE: Final = 110_000
"""An index of at most this many rows is made once and kept, packed too; a longer one is streamed each time."""
STREAMS: Final = 4
"""Longer indexes streamed at once by one worker; further ones wait."""
LARGEST_PAGE: Final = 100_000
"""Rows that may be asked for at a time."""
STATIC_CACHE: Final = "public, max-age=3600"
Chunk = TypeVar("Chunk", bytes, str)


def fixed(made: Representation, fields: Mapping[str, str] | None = None) -> Callable[[Request], Awaitable[Response]]:
    """Return the endpoint that answers every request with ``made`` and the header ``fields``."""

    async def respond(request: Request) -> Response:
        return await answer(request, made, cache=STATIC_CACHE, headers=fields)

    return respond


async def _in_turn(places: asyncio.Semaphore, chunks: AsyncIterator[Chunk]) -> AsyncIterator[Chunk]:
    """Yield ``chunks`` once one of ``places`` is free."""
    async with places:
        async for chunk in chunks:
            yield chunk


def _without_length(fields: Mapping[str, str]) -> Response:
    """Return the answer to HEAD for a body whose length is not known."""
    head = Response(media_type=JSON, headers=fields)
    del head.headers["content-length"]
    return head


class Endpoints:
    """The API over one service: every method is one route."""

    def __init__(self, service: Published, config: ApiConfig) -> None:
        self.service = service
        self.config = config
        self.shelf = Shelf()
        self._making = asyncio.Lock()
        self._streams = asyncio.Semaphore(STREAMS)

    def routes(self) -> list[Route]:
        """Return the routes."""
        base = self.config.base_url
        return [
            Route("/api/index.json", self.index),
            Route("/api/site/{host:path}.json", self.site),
            Route("/api/visits/{host:path}.json", self.visits),
            Route("/api/tasks/{host:path}.json", self.tasks),
            Route("/api/scan", self.scan),
            Route("/openapi.json", fixed(Representation(discovery.document(base), JSON))),
            Route("/healthz", self.health),
            Route("/robots.txt", fixed(Representation(discovery.robots(base), TEXT))),
            Route("/.well-known/http-message-signatures-directory", self.signature_directory),
            Route("/llms.txt", fixed(Representation(discovery.llms(base), TEXT))),
        ]

    async def modified(self) -> datetime | None:
        """Return when what is published last changed, to be asked before it is read; None: not known."""
        at = await self.service.changed()
        return None if at is None else datetime.fromtimestamp(at, UTC)

    async def index(self, request: Request) -> Response:
        """GET /api/index.json (4.1), whole or ``limit`` rows of each list from ``offset`` on."""
        parameters = Parameters(request.scope["query_string"])
        query = Query.of(category=parameters.word("category"), stance=parameters.word("stance"))
        limit, offset = parameters.number("limit", LARGEST_PAGE), parameters.number("offset", 1 << 31)
        stamp = await self.service.stamp()
        key = ("index", query.category, query.stance, str(limit), str(offset))
        made = self.shelf.get(key, stamp)
        if made is None:
            async with self._making:
                made = self.shelf.get(key, stamp)
                if made is None:
                    modified = await self.modified()
                    view = await self.service.index(query)
                    chunks = messages.index_chunks(view, self.config.base_url, offset, limit)
                    if messages.size(view) > WHOLE and not limit:
                        return await self._stream(request, chunks, tag(stamp, *key) if stamp else "", modified)
                    made = Representation(await messages.joined(chunks), JSON, modified=modified)
                    made.more = bool(limit) and offset + limit < max(len(view.ranked), len(view.unreachable))
                    if messages.size(view):
                        self.shelf.put(key, stamp, made)
        fields = {"limit": str(limit), "offset": str(offset + limit)}
        for name, value in (("category", query.category), ("stance", query.stance)):
            fields |= {name: value} if value else {}
        following = f'<{self.config.base_url}/api/index.json?{urlencode(fields)}>; rel="next"'
        return await answer(request, made, headers={"Link": following} if made.more else None)

    async def _stream(
        self, request: Request, chunks: AsyncIterator[bytes], etag: str, modified: datetime | None
    ) -> Response:
        if unchanged(request, etag, modified):
            return not_modified(etag, modified)
        fields = validators(etag, modified)
        if request.method == "HEAD":
            return _without_length(fields)
        return StreamingResponse(_in_turn(self._streams, chunks), media_type=JSON, headers=fields)

    async def kept(
        self, request: Request, key: tuple[str, ...], media_type: str, make: Callable[[], Awaitable[bytes]]
    ) -> Response:
        """Return what ``make`` gives, made once for each state of the index."""
        stamp = await self.service.stamp()
        found = self.shelf.get(key, stamp)
        if found is None:
            modified = await self.modified()
            found = Representation(await make(), media_type, modified=modified)
            self.shelf.put(key, stamp, found)
        return await answer(request, found)

    async def report(self, host: str) -> HostReport:
        """Return what is stored of ``host``. Raises NeverScanned, of what cannot be a host too."""
        try:
            return await self.service.site(host)
        except InvalidHost:
            raise NeverScanned(host) from None

    async def site(self, request: Request) -> Response:
        """GET /api/site/<host>.json (4.2)."""
        host: str = request.path_params["host"]

        async def made() -> bytes:
            return messages.card_bytes((await self.report(host)).card, self.config.base_url)

        return await self.kept(request, ("site", host), JSON, made)

    async def visits(self, request: Request) -> Response:
        """GET /api/visits/<host>.json: what the operator's access logs say of the host; 404 when none was read."""
        host: str = request.path_params["host"]
        record = await self.service.visits(host)
        if record is None:
            return problems.response(problems.not_found(), self.config.base_url)
        return await answer(request, Representation(encode_visits(record), JSON))

    async def tasks(self, request: Request) -> Response:
        """GET /api/tasks/<host>.json: the transcript of the last run of the tasks; 404 when none is kept."""
        host: str = request.path_params["host"]
        seen = (await self.report(host)).observations
        if seen is None or seen.tasks is None:
            return problems.response(problems.not_found(), self.config.base_url)
        return await answer(request, Representation(encode_report(seen.tasks), JSON))

    async def scan(self, request: Request) -> Response:
        """GET /api/scan?url=&force= (4.3)."""
        parameters = Parameters(request.scope["query_string"])
        url = parameters.needed("url", "example.com")
        force = parameters.flag("force")
        service = self.service.for_client(request.scope["client_id"])
        try:
            found = await self.card_of(request, url, force=force)
            if found is None and request.method == "HEAD":
                return await self._unscanned(service, force=force)
            if found is None:
                return problems.response(problems.cross_site(self.config.base_url), self.config.base_url)
        except AuiError as error:
            problem = problems.of(error)
            refusal = problems.response(problem, self.config.base_url)
            if problem.status == 429:
                refusal.headers.update(problems.quota_fields(await service.quota(), time.time()))
            return refusal
        made = Representation(messages.card_bytes(found.card, self.config.base_url), JSON)
        fields = problems.quota_fields(await service.quota(), time.time())
        fields["Cache-Status"] = cache_status(found, force=force)
        return await answer(request, made, cache="no-store", headers=fields)

    async def card_of(self, request: Request, url: str, *, force: bool = False) -> HostReport | None:
        """Return the card of ``url``, scanned when ``request`` may cause that, else from the cache or None.

        HEAD causes nothing, and neither does another site's page. Raises as ``Service.scan``.
        """
        service = self.service.for_client(request.scope["client_id"])
        if request.method != "HEAD" and not is_cross_site(request, self.config):
            return await service.scan(url, ScanOptions(force=force))
        found = await service.cached(url)
        return None if force else found

    async def _unscanned(self, service: Service, *, force: bool) -> Response:
        """Return what HEAD says about a card that only a scan would bring: no length, no validators."""
        fields = problems.quota_fields(await service.quota(), time.time())
        fields |= {"Cache-Status": f"aui-tui; fwd={'request' if force else 'miss'}", "Cache-Control": "no-store"}
        return _without_length(fields)

    async def signature_directory(self, request: Request) -> Response:
        """GET /.well-known/http-message-signatures-directory: the key that signs the operator's probes.

        It is signed for the address in the settings, never for a name that a request gives.
        """
        found = await self.service.signature_directory(self.config.base_url + request.scope["path"])
        if found is None:
            return problems.response(problems.not_found(), self.config.base_url)
        body, fields = found
        return Response(body, media_type=DIRECTORY, headers={**fields, "Cache-Control": "public, max-age=300"})

    async def health(self, request: Request) -> Response:
        """GET /healthz: 200 when the store answers, 503 when it does not."""
        await self.service.stamp()
        return Response(b'{"status":"ok"}', media_type=JSON, headers={"Cache-Control": "no-store"})


def cache_status(found: HostReport, *, force: bool) -> str:
    """Return a Cache-Status field (RFC 9211) that says where a card comes from."""
    if found.source == "cache":
        return "aui-tui; hit"
    status = f"aui-tui; fwd={'request' if force else 'miss'}; stored"
    return status + "; collapsed" if found.source == "shared" else status


XML: Final = "application/xml; charset=utf-8"
ATOM: Final = "application/atom+xml; charset=utf-8"
LINKSET: Final = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'
ENTRIES: Final = 50
"""Entries of the feed: the newest scans."""
PART: Final = 10_000
"""Hosts of one sitemap; a longer index has several."""
CSV_STREAMS: Final = 2
"""Lists written as CSV at once by one worker; further ones wait."""
CHUNK: Final = 64 * 1024


class Feeds:
    """The routes over the same service as the endpoints."""

    def __init__(self, endpoints: Endpoints) -> None:
        self._endpoints = endpoints
        self._base = endpoints.config.base_url
        self._streams = asyncio.Semaphore(CSV_STREAMS)

    def routes(self) -> list[Route]:
        """Return the routes; RFC 9727, section 2, asks for the Link field of the catalogue in answers to HEAD."""
        link = {"Link": f'<{self._base}/.well-known/api-catalog>; rel="api-catalog"'}
        return [
            Route("/index.csv", self.csv),
            Route("/feed.atom", self.atom),
            Route("/badge/{host:path}.svg", self.badge),
            Route("/sitemap.xml", self.sitemap),
            Route("/sitemap-{number:int}.xml", self.sitemap_part),
            Route("/.well-known/api-catalog", fixed(Representation(discovery.catalogue(self._base), LINKSET), link)),
        ]

    async def csv(self, request: Request) -> Response:
        """GET /index.csv: every row as CSV, under the same filters as the JSON."""
        parameters = Parameters(request.scope["query_string"])
        query = Query.of(category=parameters.word("category"), stance=parameters.word("stance"))
        listing = Listing.of_view(await self._endpoints.service.index(query))
        named = replace(
            listing, ranked=map(self._named, listing.ranked), unreachable=map(self._named, listing.unreachable)
        )
        fields = {"Content-Disposition": 'attachment; filename="index.csv"', "Cache-Control": "no-cache"}
        if request.method == "HEAD":
            return Response(media_type="text/csv; charset=utf-8", headers=fields)
        chunks = _in_turn(self._streams, iterate_in_threadpool(_gathered(csv_listing(named, Options()))))
        return StreamingResponse(chunks, media_type="text/csv; charset=utf-8", headers=fields)

    def _named(self, row: Row) -> Row:
        url = messages.site_url(self._base, row.summary.host)
        return msgspec.structs.replace(row, summary=msgspec.structs.replace(row.summary, url=url))

    async def atom(self, request: Request) -> Response:
        """GET /feed.atom: the newest scans (RFC 4287)."""

        async def made() -> bytes:
            view = await self._endpoints.service.index(Query.of(sort="age"))
            return _utf8(_feed(self._base, view.scanned_at, view.ranked[:ENTRIES]))

        return await self._endpoints.kept(request, ("feed",), ATOM, made)

    async def badge(self, request: Request) -> Response:
        """GET /badge/<host>.svg: grade and score of one host as a picture."""
        host: str = request.path_params["host"]

        async def made() -> bytes:
            return _utf8([badge((await self._endpoints.report(host)).card)])

        return await self._endpoints.kept(request, ("badge", host), "image/svg+xml", made)

    async def sitemap(self, request: Request) -> Response:
        """GET /sitemap.xml: every page; of a long index a list of sitemaps (sitemaps.org)."""

        async def made() -> bytes:
            ranked = (await self._endpoints.service.index(Query())).ranked
            if len(ranked) <= PART:
                return _utf8(_urls(self._base, ranked[:], first=True))
            parts = range(1, -(-len(ranked) // PART) + 1)
            listed = "".join(f"<sitemap><loc>{self._base}/sitemap-{number}.xml</loc></sitemap>\n" for number in parts)
            return _utf8([f"{_HEAD}<sitemapindex {_SITEMAPS}>\n{listed}</sitemapindex>\n"])

        return await self._endpoints.kept(request, ("sitemap",), XML, made)

    async def sitemap_part(self, request: Request) -> Response:
        """GET /sitemap-<n>.xml: a part of a long index, from 1."""
        number: int = request.path_params["number"]
        ranked = (await self._endpoints.service.index(Query())).ranked
        if not 1 <= number <= max(1, -(-len(ranked) // PART)):
            return problems.response(problems.not_found(), self._base)

        async def made() -> bytes:
            return _utf8(_urls(self._base, ranked[(number - 1) * PART : number * PART], first=number == 1))

        return await self._endpoints.kept(request, ("sitemap", str(number)), XML, made)


_HEAD: Final = '<?xml version="1.0" encoding="utf-8"?>\n'
_SITEMAPS: Final = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def _utf8(lines: Iterable[str]) -> bytes:
    return "".join(lines).encode("utf-8", "replace")


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


def _feed(base: str, updated: str, rows: Any) -> Iterator[str]:
    yield f'{_HEAD}<feed xmlns="http://www.w3.org/2005/Atom">\n<title>{escape(discovery.NAME)}</title>\n'
    yield f"<id>{escape(base)}/</id>\n<updated>{escape(updated)}</updated>\n"
    yield f'<link rel="self" type="application/atom+xml" href="{escape(base)}/feed.atom"/>\n'
    yield f'<link rel="alternate" type="text/html" href="{escape(base)}/"/>\n'
    yield f"<author><name>{escape(discovery.NAME)}</name></author>\n"
    for row in rows:
        site = row.summary
        url = escape(messages.site_url(base, site.host))
        yield f"<entry>\n<title>{escape(f'{site.host}: {site.grade}, {site.score} of 100, {site.stance}')}</title>\n"
        yield f'<id>{url}#{escape(site.scanned_at)}</id>\n<link rel="alternate" type="text/html" href="{url}"/>\n'
        yield f"<updated>{escape(site.scanned_at)}</updated>\n"
        yield f"<summary>{escape(site.top_evidence)}</summary>\n</entry>\n"
    yield "</feed>\n"


def _urls(base: str, rows: Any, *, first: bool) -> Iterator[str]:
    yield f"{_HEAD}<urlset {_SITEMAPS}>\n"
    if first:
        for path in ("/", "/help", *(f"/help/{topic}" for topic in docs.TOPICS), "/problems"):
            yield f"<url><loc>{escape(base + path)}</loc></url>\n"
    for row in rows:
        url, day = messages.site_url(base, row.summary.host), row.summary.scanned_at[:10]
        yield f"<url><loc>{escape(url)}</loc><lastmod>{escape(day)}</lastmod></url>\n"
    yield "</urlset>\n"

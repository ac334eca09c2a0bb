"""The index in the forms that other programs fetch: CSV, Atom, badges, sitemaps, and the catalogue of interfaces."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any, Final
from xml.sax.saxutils import escape

import msgspec
from starlette.concurrency import iterate_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from aui_tui import docs
from aui_tui.errors import InvalidHost, NeverScanned
from aui_tui.export.data import csv_listing
from aui_tui.export.options import Listing, Options
from aui_tui.export.page import badge
from aui_tui.records.query import Query
from aui_tui.records.view import Row
from aui_tui.service.api import answers, discovery, problems
from aui_tui.service.api.answers import Representation, answer
from aui_tui.service.api.requests import Parameters
from aui_tui.service.api.routes import STATIC_CACHE, Endpoints

XML: Final = "application/xml; charset=utf-8"
ATOM: Final = "application/atom+xml; charset=utf-8"
LINKSET: Final = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'
ENTRIES: Final = 50
"""Entries of the feed: the newest scans."""
PART: Final = 10_000
"""Hosts of one sitemap; a longer index has several."""
STREAMS: Final = 2
"""Lists written as CSV at once by one worker; further ones wait."""
CHUNK: Final = 64 * 1024


class Feeds:
    """The routes over the same service as the endpoints."""

    def __init__(self, endpoints: Endpoints) -> None:
        self._endpoints = endpoints
        self._base = endpoints.config.base_url
        self._streams = asyncio.Semaphore(STREAMS)
        self._catalogue = Representation(discovery.catalogue(self._base), LINKSET)

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route("/index.csv", self.csv, methods=["GET"]),
            Route("/feed.atom", self.atom, methods=["GET"]),
            Route("/badge/{host:path}.svg", self.badge, methods=["GET"]),
            Route("/sitemap.xml", self.sitemap, methods=["GET"]),
            Route("/sitemap-{number:int}.xml", self.sitemap_part, methods=["GET"]),
            Route("/.well-known/api-catalog", self.catalogue, methods=["GET"]),
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
        chunks = self._taking_turns(_gathered(csv_listing(named, Options())))
        return StreamingResponse(chunks, media_type="text/csv; charset=utf-8", headers=fields)

    def _named(self, row: Row) -> Row:
        url = answers.site_url(self._base, row.summary.host)
        return msgspec.structs.replace(row, summary=msgspec.structs.replace(row.summary, url=url))

    async def _taking_turns(self, chunks: Iterator[str]) -> AsyncIterator[str]:
        async with self._streams:
            async for chunk in iterate_in_threadpool(chunks):
                yield chunk

    async def atom(self, request: Request) -> Response:
        """GET /feed.atom: the newest scans (RFC 4287)."""

        async def made() -> str:
            view = await self._endpoints.service.index(Query.of(sort="age"))
            return "".join(_feed(self._base, view.scanned_at, view.ranked[:ENTRIES]))

        return await self._kept(request, ("feed",), ATOM, made)

    async def badge(self, request: Request) -> Response:
        """GET /badge/<host>.svg: grade and score of one host as a picture."""
        host: str = request.path_params["host"]

        async def made() -> str:
            try:
                return badge((await self._endpoints.service.site(host)).card)
            except InvalidHost:
                raise NeverScanned(host) from None

        return await self._kept(request, ("badge", host), "image/svg+xml", made)

    async def sitemap(self, request: Request) -> Response:
        """GET /sitemap.xml: every page; of a long index a list of sitemaps (sitemaps.org)."""

        async def made() -> str:
            ranked = (await self._endpoints.service.index(Query())).ranked
            if len(ranked) <= PART:
                return "".join(_urls(self._base, ranked[:], first=True))
            parts = range(1, -(-len(ranked) // PART) + 1)
            listed = "".join(f"<sitemap><loc>{self._base}/sitemap-{number}.xml</loc></sitemap>\n" for number in parts)
            return f"{_HEAD}<sitemapindex {_SITEMAPS}>\n{listed}</sitemapindex>\n"

        return await self._kept(request, ("sitemap",), XML, made)

    async def sitemap_part(self, request: Request) -> Response:
        """GET /sitemap-<n>.xml: a part of a long index, from 1."""
        number: int = request.path_params["number"]
        ranked = (await self._endpoints.service.index(Query())).ranked
        if not 1 <= number <= max(1, -(-len(ranked) // PART)):
            return problems.response(problems.not_found(), self._base)

        async def made() -> str:
            return "".join(_urls(self._base, ranked[(number - 1) * PART : number * PART], first=number == 1))

        return await self._kept(request, ("sitemap", str(number)), XML, made)

    async def catalogue(self, request: Request) -> Response:
        """GET /.well-known/api-catalog (RFC 9727)."""
        return await answer(request, self._catalogue, cache=STATIC_CACHE)

    async def _kept(self, request: Request, key: tuple[str, ...], media_type: str, make: Any) -> Response:
        """Return what ``make`` gives, made once for each state of the index."""
        stamp = await self._endpoints.service.stamp()
        found = self._endpoints.shelf.get(key, stamp)
        if found is None:
            modified = await self._endpoints.modified()
            text: str = await make()
            found = Representation(text.encode("utf-8", "replace"), media_type, modified=modified)
            self._endpoints.shelf.put(key, stamp, found)
        return await answer(request, found)


_HEAD: Final = '<?xml version="1.0" encoding="utf-8"?>\n'
_SITEMAPS: Final = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


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
        url = escape(answers.site_url(base, site.host))
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
        url, day = answers.site_url(base, row.summary.host), row.summary.scanned_at[:10]
        yield f"<url><loc>{escape(url)}</loc><lastmod>{escape(day)}</lastmod></url>\n"
    yield "</urlset>\n"

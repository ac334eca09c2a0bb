"""The three endpoints (specification 4), and the small files beside them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from aui_tui.errors import AuiError, InvalidHost, NeverScanned
from aui_tui.records.query import Query
from aui_tui.records.tasks import encode_report
from aui_tui.records.view import IndexView, ScanAnswer
from aui_tui.records.visits import encode_visits
from aui_tui.service.api import answers, discovery, problems
from aui_tui.service.api.answers import (
    Representation,
    Shelf,
    answer,
    not_modified,
    tag,
    unchanged,
    validators,
    wants_gzip,
)
from aui_tui.service.api.config import ApiConfig
from aui_tui.service.api.requests import Parameters, is_cross_site
from aui_tui.service.protocol import Published, Service

JSON: Final = "application/json"
DIRECTORY: Final = "application/http-message-signatures-directory+json"
TEXT: Final = "text/plain; charset=utf-8"
WHOLE: Final = 5000
"""An index of at most this many rows is made whole and kept; a longer one is streamed each time."""
STREAMS: Final = 4
"""Long indexes streamed at once by one worker; further ones wait."""
STATIC_CACHE: Final = "public, max-age=3600"


class Endpoints:
    """The API over one service: every method is one route."""

    def __init__(self, service: Published, config: ApiConfig) -> None:
        self.service = service
        self.config = config
        self.shelf = Shelf()
        self._making = asyncio.Lock()
        self._streams = asyncio.Semaphore(STREAMS)
        base = config.base_url
        self._openapi = Representation(discovery.document(base), "application/json")
        self._robots = Representation(discovery.robots(base), TEXT)
        self._llms = Representation(discovery.llms(base), TEXT)
        self._card = Representation(discovery.card(base), JSON)

    async def modified(self) -> datetime | None:
        """Return when what is published last changed, to be asked before it is read; None: not known."""
        at = await self.service.changed()
        return None if at is None else datetime.fromtimestamp(at, UTC)

    async def index(self, request: Request) -> Response:
        """GET /api/index.json (4.1)."""
        parameters = Parameters(request.scope["query_string"])
        query = Query.of(category=parameters.word("category"), stance=parameters.word("stance"))
        stamp = await self.service.stamp()
        key = ("index", query.category, query.stance)
        made = self.shelf.get(key, stamp)
        if made is None:
            async with self._making:
                made = self.shelf.get(key, stamp)
                if made is None:
                    modified = await self.modified()
                    view = await self.service.index(query)
                    if answers.size(view) > WHOLE:
                        etag = tag(stamp, *key, self.config.base_url) if stamp else ""
                        return await self._stream(request, view, etag, modified)
                    made = await self._whole(view, modified)
                    if answers.size(view):
                        self.shelf.put(key, stamp, made)
        return await answer(request, made)

    async def _whole(self, view: IndexView, modified: datetime | None) -> Representation:
        body = await answers.joined(answers.index_chunks(view, self.config.base_url))
        return Representation(body, JSON, modified=modified)

    async def _stream(self, request: Request, view: IndexView, etag: str, modified: datetime | None) -> Response:
        if unchanged(request, etag, modified):
            return not_modified(etag, modified)
        fields = validators(etag, modified)
        if request.method == "HEAD":
            head = Response(media_type=JSON, headers=fields)
            del head.headers["content-length"]
            return head
        chunks = self._taking_turns(answers.index_chunks(view, self.config.base_url))
        if wants_gzip(request):
            fields["Content-Encoding"] = "gzip"
            chunks = answers.packed(chunks)
        return StreamingResponse(chunks, media_type=JSON, headers=fields)

    async def _taking_turns(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        async with self._streams:
            async for chunk in chunks:
                yield chunk

    async def site(self, request: Request) -> Response:
        """GET /api/site/<host>.json (4.2)."""
        host: str = request.path_params["host"]
        stamp = await self.service.stamp()
        key = ("site", host)
        made = self.shelf.get(key, stamp)
        if made is None:
            modified = await self.modified()
            try:
                dossier = await self.service.site(host)
            except InvalidHost:
                raise NeverScanned(host) from None
            made = Representation(answers.card_bytes(dossier.card, self.config.base_url), JSON, modified=modified)
            self.shelf.put(key, stamp, made)
        return await answer(request, made)

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
        try:
            seen = (await self.service.site(host)).observations
        except InvalidHost:
            raise NeverScanned(host) from None
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
        made = Representation(answers.card_bytes(found.card, self.config.base_url), JSON)
        fields = problems.quota_fields(await service.quota(), time.time())
        fields["Cache-Status"] = cache_status(found, force=force)
        return await answer(request, made, cache="no-store", headers=fields)

    async def card_of(self, request: Request, url: str, *, force: bool = False) -> ScanAnswer | None:
        """Return the card of ``url``, scanned when ``request`` may cause that, else from the cache or None.

        HEAD causes nothing, and neither does another site's page. Raises as ``Service.scan``.
        """
        service = self.service.for_client(request.scope["client_id"])
        if request.method != "HEAD" and not is_cross_site(request, self.config):
            return await service.scan(url, force=force)
        found = await service.cached(url)
        return None if force else found

    async def _unscanned(self, service: Service, *, force: bool) -> Response:
        """Return what HEAD says about a card that only a scan would bring: no length, no validators."""
        fields = problems.quota_fields(await service.quota(), time.time())
        fields |= {"Cache-Status": f"aui-tui; fwd={'request' if force else 'miss'}", "Cache-Control": "no-store"}
        head = Response(media_type=JSON, headers=fields)
        del head.headers["content-length"]
        return head

    async def signature_directory(self, request: Request) -> Response:
        """GET /.well-known/http-message-signatures-directory: the key that signs the operator's probes."""
        host = request.headers.get("host", "localhost")
        found = await self.service.signature_directory(f"{request.url.scheme}://{host}{request.url.path}")
        if found is None:
            return problems.response(problems.not_found(), self.config.base_url)
        body, fields = found
        return Response(body, media_type=DIRECTORY, headers={**fields, "Cache-Control": "public, max-age=300"})

    async def openapi(self, request: Request) -> Response:
        """GET /openapi.json."""
        return await answer(request, self._openapi, cache=STATIC_CACHE)

    async def robots(self, request: Request) -> Response:
        """GET /robots.txt."""
        return await answer(request, self._robots, cache=STATIC_CACHE)

    async def llms(self, request: Request) -> Response:
        """GET /llms.txt."""
        return await answer(request, self._llms, cache=STATIC_CACHE)

    async def card(self, request: Request) -> Response:
        """GET /.well-known/mcp.json."""
        return await answer(request, self._card, cache=STATIC_CACHE)

    async def health(self, request: Request) -> Response:
        """GET /healthz: 200 when the store answers, 503 when it does not."""
        await self.service.stamp()
        return Response(b'{"status":"ok"}', media_type=JSON, headers={"Cache-Control": "no-store"})


def cache_status(found: ScanAnswer, *, force: bool) -> str:
    """Return a Cache-Status field (RFC 9211) that says where a card comes from."""
    if found.source == "cache":
        return "aui-tui; hit"
    status = f"aui-tui; fwd={'request' if force else 'miss'}; stored"
    return status + "; collapsed" if found.source == "shared" else status

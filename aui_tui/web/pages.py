"""Web pages for people: the index and the report card, readable without scripts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from importlib.resources import files
from typing import Any, Final
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from aui_tui import docs
from aui_tui.errors import AuiError, BadValue, NeverScanned
from aui_tui.model.card import site_url
from aui_tui.model.listing import IndexView
from aui_tui.model.overview import Moves
from aui_tui.model.query import Query
from aui_tui.model.vocabulary import CATEGORIES, STANCES
from aui_tui.report.overview import overview
from aui_tui.report.page import style_sheet
from aui_tui.report.sections import Section
from aui_tui.web import problems
from aui_tui.web.answers import NOTHING, Representation
from aui_tui.web.problems import KINDS, HttpProblem
from aui_tui.web.rendering import listed_at, markdown_html, query_fields
from aui_tui.web.requests import Parameters
from aui_tui.web.routes import Endpoints, fixed, fixed_route

HTML: Final = "text/html; charset=utf-8"
ROWS: Final = 10
"""Rows of one page of the index."""
OVERVIEW_SECONDS: Final = 60.0
"""Seconds for which the overview is shown before it is counted again: it may take half a second."""
SHOWN: Final = {
    "assistants": ("Gets in", "Share", "In 12 weeks", "Yes but out"),
    "stances": STANCES,
    "edges": ("Hosts", "Turn away", "Of them"),
}
"""The sections of the overview on the first page, and the columns of each."""
SERVERS: Final = 6
"""Servers that the first page names."""
UNREACHABLE_ROWS: Final = 5
"""Unreachable hosts shown below the first page; the rest is in the JSON and behind the filters."""
SORTS: Final = {"rank": "Rank", "host": "Host", "name": "Name", "age": "Last scan", "category": "Category"}
POLICY: Final = (
    "default-src 'none'; connect-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
SECURITY: Final = {"Content-Security-Policy": POLICY}


class Pages:
    """The pages over the same service as the endpoints."""

    def __init__(self, endpoints: Endpoints) -> None:
        self._endpoints = endpoints
        self._service = endpoints.service
        self._config = endpoints.config
        self._counted: tuple[float, list[Section]] | None = None
        self._counting = asyncio.Lock()
        self._fields = SECURITY | {"Link": f'<{self._config.root}/.well-known/api-catalog>; rel="api-catalog"'}

    def routes(self) -> list[Route]:
        """Return the routes of the pages."""
        static = files("aui_tui.web").joinpath("static")
        topics = self._endpoints.render("topics.html", topics=docs.TOPICS)
        kinds = self._endpoints.render("problems.html", kinds=KINDS)
        return [
            Route("/", self.index),
            Route("/site/{host:path}", self.site),
            Route("/scan", self.scan, methods=["POST"]),
            fixed_route("/help", fixed(topics, HTML, self._fields)),
            Route("/help/{topic}", self.topic),
            fixed_route("/problems", fixed(kinds, HTML, self._fields)),
            fixed_route("/style.css", fixed(style_sheet().encode(), "text/css; charset=utf-8")),
            fixed_route("/icon.svg", fixed(static.joinpath("icon.svg").read_bytes(), "image/svg+xml")),
        ]

    async def prepare(self) -> None:
        """Compile the templates and make the first page: else the first visitors wait for both at once."""
        environment = self._endpoints.environment
        for name in environment.list_templates(extensions=("html", "atom")):
            await asyncio.to_thread(environment.get_template, name)
        with suppress(Exception):  # the first visitor meets and reads it; the other addresses answer
            await self.index(
                Request({"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": []})
            )

    async def index(self, request: Request) -> ASGIApp:
        """GET /: the index with its filters; what cannot be understood is explained above the unfiltered list."""
        parameters = Parameters(request.scope["query_string"])
        fields = {name: (parameters.one(name) or "").strip() for name in ("category", "stance", "q", "sort", "page")}
        complaint = ""
        try:
            query = Query.of(
                category=fields["category"], stance=fields["stance"], line=fields["q"], sort=fields["sort"] or "rank"
            )
        except BadValue as error:
            complaint, query = str(error), Query()

        async def made() -> bytes:
            view = await self._service.index(query)
            first = not (complaint or any(fields.values()))
            figures = await self._overview() if first and len(view.ranked) else []
            return self._endpoints.render("index.html", figures=figures, **self._listed(view, query, fields, complaint))

        if complaint:
            return self._plain(await made(), 400)
        if query.line:
            return Representation(await made(), HTML, fields=self._fields)
        key = ("page", query.category, query.stance, query.sort, fields["page"])
        return await self._endpoints.kept(request, key, HTML, made, self._fields)

    def _listed(self, view: IndexView, query: Query, fields: dict[str, str], complaint: str) -> dict[str, Any]:
        total = len(view.ranked)
        pages = max(1, -(-total // ROWS))
        number = min(pages, max(1, int(fields["page"]))) if fields["page"].isdecimal() else 1
        chosen = {name: value for name, value in query_fields(query).items() if value}
        return {
            "view": view,
            "query": query,
            "complaint": complaint,
            "line": fields["q"],
            "rows": view.ranked[(number - 1) * ROWS : number * ROWS],
            "lost": view.unreachable[:UNREACHABLE_ROWS] if number == 1 else (),
            "total": total,
            "total_lost": len(view.unreachable),
            "page": number,
            "pages": pages,
            "categories": CATEGORIES,
            "stances": STANCES,
            "sorts": SORTS,
            "link": lambda **changes: listed_at(self._config.root, {**chosen, **changes}),
            "data": urlencode({k: v for k, v in chosen.items() if k in ("category", "stance")}),
        }

    async def _overview(self) -> list[Section]:
        """Return the figures of the first page: how many sites there are, who gets in, stances and servers."""
        async with self._counting:
            if self._counted is None or time.monotonic() - self._counted[0] > OVERVIEW_SECONDS:
                figures = await self._service.overview(Query())
                changes = Moves(weeks=await self._service.weeks(Query()))
                self._counted = time.monotonic(), first_page(overview(figures, changes))
            return self._counted[1]

    async def site(self, request: Request) -> ASGIApp:
        """GET /site/<host>: the report card of one host."""
        host: str = request.path_params["host"]

        async def made() -> bytes:
            report = await self._service.site(host)
            return self._endpoints.render("site.html", card=report.card, report=report)

        try:
            return await self._endpoints.kept(request, ("card page", host), HTML, made, self._fields)
        except AuiError as error:
            status = 404 if error.http_status < 500 else 503
            body = self._endpoints.render("absent.html", host=host, error=problems.of(error).detail, status=status)
            return self._plain(body, status)

    async def scan(self, request: Request) -> Response:
        """POST /scan: scan the host of the form, then show its card."""
        form = Parameters(await request.body())
        report = await self._endpoints.card_of(request, form.one("url") or "")
        if report is None:
            raise problems.cross_site(self._config.base_url)
        try:
            await self._service.site(report.card.host)
        except NeverScanned:
            raise HttpProblem("not-found", " ".join(report.warnings)) from None
        return RedirectResponse(site_url(self._config.root, report.card.host), status_code=303)

    async def topic(self, request: Request) -> ASGIApp:
        """GET /help/<topic>: one page of the documentation."""
        name: str = request.path_params["topic"]
        if name not in docs.TOPICS:
            raise HttpProblem("not-found")
        text = markdown_html(docs.read(name), self._config.root)
        body = self._endpoints.render("topic.html", heading=docs.title(name), about=docs.TOPICS[name], text=text)
        return fixed(body, HTML, self._fields)

    def problem(self, problem: HttpProblem) -> Response:
        """Return an error as a page."""
        return self._plain(self._endpoints.render("problem.html", problem=problem), problem.status, problem.headers)

    def _plain(self, body: bytes, status: int, fields: Mapping[str, str] = NOTHING) -> Response:
        headers = {"Cache-Control": "no-store", **self._fields, **fields}
        return Response(body, status_code=status, media_type=HTML, headers=headers)


def first_page(sections: Iterable[Section]) -> list[Section]:
    """Return of an overview what the first page shows: the rows in which something is known, as far as it has room."""
    parts = {part.name: part for part in sections}
    shown = [parts[name].only(columns) for name, columns in SHOWN.items() if name in parts]
    filled = [part._replace(items=tuple(item for item in part.items if item.row(2)[1][:1].isdigit())) for part in shown]
    return [
        parts["hosts"],
        *(
            part._replace(items=part.items[: SERVERS if part.name == "edges" else None])
            for part in filled
            if part.items
        ),
    ]

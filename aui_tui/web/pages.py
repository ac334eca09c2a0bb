"""Web pages for people: the index and the report card, readable without scripts."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping, Sequence
from importlib.resources import files
from itertools import count
from typing import Any, Final
from urllib.parse import parse_qs, quote, urlencode

import jinja2
import msgspec
from markdown_it import MarkdownIt
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from aui_tui import docs
from aui_tui.errors import AuiError, BadValue
from aui_tui.model import labels, visits
from aui_tui.model.agents import gets_in
from aui_tui.model.card import ReportCard
from aui_tui.model.points import gain
from aui_tui.model.query import Query
from aui_tui.model.tasks import rows as task_rows
from aui_tui.model.view import IndexView, Overview
from aui_tui.model.vocabulary import CATEGORIES, STANCES, VERDICT_RANK
from aui_tui.report import page as pictures
from aui_tui.service.protocol import HasMoves
from aui_tui.web import discovery, messages, problems
from aui_tui.web.messages import Parameters, Representation, answer
from aui_tui.web.problems import KINDS, Problem
from aui_tui.web.routes import STATIC_CACHE, Endpoints, fixed

HTML: Final = "text/html; charset=utf-8"
ROWS: Final = 10
"""Rows of one page of the index."""
OVERVIEW_SECONDS: Final = 60.0
"""Seconds for which the overview is shown before it is counted again: it may take half a second."""
SERVERS: Final = 6
"""Servers that the overview names."""
UNREACHABLE_ROWS: Final = 5
"""Unreachable hosts shown below the first page; the rest is in the JSON and behind the filters."""
SORTS: Final = {"rank": "Rank", "host": "Host", "name": "Name", "age": "Last scan", "category": "Category"}
POLICY: Final = (
    "default-src 'none'; connect-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
SECURITY: Final = {"Content-Security-Policy": POLICY}
MARKS: Final = {
    "allowed": "✓",
    "allowed-robots": "✓",
    "partial": "◐",
    "blocked": "✗",
    "disallowed": "✗",
    "walled": "▦",
    "untested": "·",
}
"""A sign beside the word of each verdict; the word is always beside it."""


class Pages:
    """The pages over the same service as the endpoints."""

    def __init__(self, endpoints: Endpoints) -> None:
        self._endpoints = endpoints
        self._counted: tuple[float, dict[str, Any]] | None = None
        self._counting = asyncio.Lock()
        self._config = endpoints.config
        self._fields = SECURITY | {"Link": f'<{self._config.root}/.well-known/api-catalog>; rel="api-catalog"'}
        self._environment = _environment()
        self._environment.globals.update(
            root=self._config.root,
            base=self._config.base_url,
            title=discovery.NAME,
            tools=discovery.serves_tools(),
            scans=endpoints.service.can_scan,
            site_path=lambda host: messages.site_url(self._config.root, host),
            site_url=lambda host: messages.site_url(self._config.base_url, host),
            data_path=lambda host: messages.record_url(self._config.root, "site", host),
            visits_path=lambda host: messages.record_url(self._config.root, "visits", host),
            tasks_path=lambda host: messages.record_url(self._config.root, "tasks", host),
            badge_path=lambda host: messages.badge_url(self._config.root, host),
            badge_url=lambda host: messages.badge_url(self._config.base_url, host),
        )

    def routes(self) -> list[Route]:
        """Return the routes of the pages."""
        static = files("aui_tui.web").joinpath("static")
        style = Representation(static.joinpath("style.css").read_bytes(), "text/css; charset=utf-8")
        icon = Representation(static.joinpath("icon.svg").read_bytes(), "image/svg+xml")
        return [
            Route("/", self.index),
            Route("/site/{host:path}", self.site),
            Route("/scan", self.scan, methods=["POST"]),
            Route("/help", self.topics),
            Route("/help/{topic}", self.topic),
            Route("/problems", self.problems),
            Route("/style.css", fixed(style)),
            Route("/icon.svg", fixed(icon)),
        ]

    async def index(self, request: Request) -> Response:
        """GET /: the index with its filters; what cannot be understood is explained above the unfiltered list."""
        asked = Parameters(request.scope["query_string"])
        fields = {name: (asked.one(name) or "").strip() for name in ("category", "stance", "q", "sort", "page")}
        complaint = ""
        try:
            query = Query.of(
                category=fields["category"], stance=fields["stance"], line=fields["q"], sort=fields["sort"] or "rank"
            )
        except BadValue as error:
            complaint, query = str(error), Query()
        stamp = "" if query.line or complaint else await self._endpoints.service.stamp()
        key = ("page", query.category, query.stance, query.sort, fields["page"])
        made = self._endpoints.shelf.get(key, stamp)
        if made is None:
            view = await self._endpoints.service.index(query)
            first = not (complaint or any(fields.values()))
            overview = await self._overview() if first and len(view.ranked) else {}
            made = self._page("index.html", overview=overview, **self._listed(view, query, fields, complaint))
            self._endpoints.shelf.put(key, stamp, made)
        return await answer(request, made, headers=self._fields, status=400 if complaint else 200)

    def _listed(self, view: IndexView, query: Query, fields: dict[str, str], complaint: str) -> dict[str, Any]:
        total = len(view.ranked)
        pages = max(1, -(-total // ROWS))
        number = min(pages, max(1, int(fields["page"]))) if fields["page"].isdecimal() else 1
        kept = {name: value for name, value in _fields(query).items() if value}
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
            "link": lambda **changes: _link(self._config.root, kept, changes),
            "data": urlencode({k: v for k, v in kept.items() if k in ("category", "stance")}),
            "linked": linked_script(discovery.linked_data(self._config.base_url)),
        }

    async def _overview(self) -> dict[str, Any]:
        """Return who gets in over all sites, by assistant, category and server."""
        async with self._counting:
            if self._counted is None or time.monotonic() - self._counted[0] > OVERVIEW_SECONDS:
                service = self._endpoints.service
                found = await service.overview(Query())
                weeks = await service.weeks(Query()) if isinstance(service, HasMoves) else {}
                self._counted = time.monotonic(), _overview_rows(found, weeks)
            return self._counted[1]

    async def site(self, request: Request) -> Response:
        """GET /site/<host>: the report card of one host."""
        host: str = request.path_params["host"]
        service = self._endpoints.service
        stamp = await service.stamp()
        key = ("card page", host)
        made = self._endpoints.shelf.get(key, stamp)
        if made is None:
            modified = await self._endpoints.modified()
            try:
                report = await service.site(host)
            except AuiError as error:
                status = 404 if error.http_status < 500 else 503
                page = self._page("absent.html", host=host, error=problems.of(error).detail, status=status)
                return await answer(request, page, cache="no-store", headers=self._fields, status=status)
            card = report.card
            linked = linked_script(_review(card, self._config.base_url))
            made = self._page("site.html", card=card, report=report, linked=linked)
            made.modified = modified
            self._endpoints.shelf.put(key, stamp, made)
        return await answer(request, made, headers=self._fields)

    async def scan(self, request: Request) -> Response:
        """POST /scan: scan the host of the form, then show its card."""
        form = parse_qs((await request.body()).decode("latin-1"), max_num_fields=10)
        url = (form.get("url") or [""])[0].encode("latin-1", "replace").decode("utf-8", "replace")
        found = await self._endpoints.card_of(request, url)
        if found is None:
            return self.problem(request, problems.cross_site(self._config.base_url))
        if found.observations is not None and found.observations.unresolved:
            detail = f"The name {found.card.host} does not resolve, so no card is kept."
            return self.problem(request, problems.not_found(detail))
        return RedirectResponse(messages.site_url(self._config.root, found.card.host), status_code=303)

    async def topics(self, request: Request) -> Response:
        """GET /help: the topics of the documentation."""
        return await answer(
            request, self._page("topics.html", topics=docs.TOPICS), cache=STATIC_CACHE, headers=SECURITY
        )

    async def topic(self, request: Request) -> Response:
        """GET /help/<topic>: one page of the documentation."""
        name: str = request.path_params["topic"]
        if name not in docs.TOPICS:
            return self.problem(request, problems.not_found())
        text = markdown_html(docs.read(name), self._config.root)
        made = self._page("topic.html", heading=docs.title(name), about=docs.TOPICS[name], text=text)
        return await answer(request, made, cache=STATIC_CACHE, headers=self._fields)

    async def problems(self, request: Request) -> Response:
        """GET /problems: what each problem type means."""
        return await answer(request, self._page("problems.html", kinds=KINDS), cache=STATIC_CACHE, headers=self._fields)

    def problem(self, request: Request, problem: Problem) -> Response:
        """Return an error as a page."""
        made = self._page("problem.html", problem=problem)
        headers = {"Cache-Control": "no-store", **self._fields, **problem.headers}
        return Response(made.body, status_code=problem.status, media_type=HTML, headers=headers)

    def _page(self, template: str, **values: Any) -> Representation:
        text = self._environment.get_template(template).render(**values)
        return Representation(text.encode("utf-8", "replace"), HTML)


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("aui_tui.web"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        auto_reload=False,
    )
    environment.filters["surface"] = labels.surface
    environment.filters["agent"] = labels.agent
    environment.filters["mark"] = lambda verdict: MARKS.get(verdict, "?")
    environment.filters["minute"] = lambda text: text[:16].replace("T", " ")
    environment.filters["origin"] = lambda host: host if "://" in host else f"https://{quote(host, safe='.:-[]')}/"
    environment.globals["served"] = lambda matrix: sum(VERDICT_RANK.get(v, 0) > 0 for v in matrix.values())
    environment.globals.update(
        gain=gain,
        grade_mark=lambda grade, size: Markup(pictures.mark(grade, size)),  # noqa: S704 - its words are escaped
        history_chart=lambda points: Markup(pictures.chart(tuple(points))),  # noqa: S704 - its words are escaped
        task_rows=task_rows,
        visits_rows=visits.visit_rows,
        visits_cells=visits.cells,
        visits_header=visits.HEADER,
        visits_heading=visits.heading,
        visits_remarks=visits.remarks,
    )
    environment.globals["tested"] = lambda matrix: sum(v != "untested" for v in matrix.values())
    return environment


def markdown_html(text: str, root: str) -> str:
    """Return a page of the documentation as HTML; raw HTML in it is shown as text, links to files lead to topics."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(docs.body(text))
    for token in tokens:
        for part in token.children or ():
            target = str(part.attrGet("href") or "")
            if part.type == "link_open" and target.endswith(".md"):
                part.attrSet("href", f"{root}/help/{target.removesuffix('.md').casefold()}")
    made = str(parser.renderer.render(tokens, parser.options, {}))
    numbers = count(1)
    made = re.sub("<pre>", lambda _: f'<pre tabindex="0" role="region" aria-label="Example {next(numbers)}">', made)
    return made.replace("<table>", '<div class="scroll" tabindex="0"><table>').replace("</table>", "</table></div>")


def _overview_rows(found: Overview, weeks: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    """Return the rows of the overview: percentages of the sites of which it is known."""
    agents = []
    for slug, verdicts in found.verdicts.items():
        known = {verdict: hosts for verdict, hosts in verdicts.items() if gets_in(verdict) is not None}
        if total := sum(known.values()):
            share = round(100 * sum(hosts for verdict, hosts in known.items() if gets_in(verdict)) / total)
            before = next((week for week in weeks.get(slug, ()) if week >= 0), None)
            denied, refused = found.disagree.get(slug, (0, 0))
            agents.append(
                {
                    "slug": slug,
                    "share": share,
                    "change": None if before is None else share - before,
                    "told_yes": denied,
                    "told_no": refused,
                }
            )
    categories = [
        {"name": name, "hosts": sum(stances.values()), "stances": stances}
        for name, stances in found.stances.items()
        if sum(stances.values())
    ]
    servers = [
        {"name": name, "hosts": hosts, "refusing": found.refusing.get(name, 0)}
        for name, hosts in found.edges.items()
        if name
    ]
    return {"hosts": found.hosts, "agents": agents, "categories": categories, "servers": servers[:SERVERS]}


def _fields(query: Query) -> dict[str, str]:
    return {
        "q": query.line,
        "category": query.category,
        "stance": query.stance,
        "sort": "" if query.sort == "rank" else query.sort,
    }


def _link(root: str, kept: dict[str, str], changes: dict[str, object]) -> str:
    fields = {name: str(value) for name, value in {**kept, **changes}.items() if value}
    return f"{root}/?{urlencode(fields)}" if fields else f"{root}/"


def linked_script(members: dict[str, Any]) -> str:
    """Return JSON-LD that can stand inside a script element: no character in it can end the element."""
    text = msgspec.json.encode(members).decode()
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _review(card: ReportCard, base_url: str) -> dict[str, Any]:
    host, rated = card.host, {"@type": "Rating", "ratingValue": card.score, "bestRating": 100, "worstRating": 0}
    return {
        "@context": "https://schema.org",
        "@type": "Review",
        "name": f"Agentic usability of {host}",
        "url": messages.site_url(base_url, host),
        "datePublished": card.scanned_at,
        "author": {"@type": "Organization", "name": discovery.NAME, "url": f"{base_url}/"},
        "itemReviewed": {"@type": "WebSite", "name": host, "url": host if "://" in host else f"https://{host}/"},
    } | ({} if card.unreachable else {"reviewRating": rated})

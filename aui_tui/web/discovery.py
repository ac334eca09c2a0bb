"""What the service says of itself: robots.txt, llms.txt, the card of its tool server, and ``/openapi.json``.

The interface description is made from the record types themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any, Final

import msgspec

from aui_tui import __version__
from aui_tui.model.card import Index, ReportCard
from aui_tui.model.methods import METHODS
from aui_tui.model.tasks import OUTCOMES, TaskReport
from aui_tui.model.visits import Visits
from aui_tui.model.vocabulary import CATEGORIES, FIXES, SEVERITIES, STANCES, VERDICTS
from aui_tui.web import problems

NAME: Final = "Agentic usability index"
SUMMARY: Final = "How usable websites are by AI agents that act live for a person: scores, grades, evidence and fixes."

_LLMS: Final = """\
# {name}

> {summary} Each host is fetched as a browser and as four identified agents; the difference decides.

Records are JSON over plain GET, no key needed. A scan is answered from a cache for 24 hours; a client may have 10 new
scans in an hour. Errors are RFC 9457 problem details.

## API

- [Index]({base}/api/index.json): every host, ranked and unreachable; filters `category` and `stance`
- Report card: `{base}/api/site/<host>.json`, the latest card of one host
- Live scan: `{base}/api/scan?url=<host>`, a new card; `force=true` skips the cache
- [Index as CSV]({base}/index.csv), [newest scans as Atom]({base}/feed.atom), a badge: `{base}/badge/<host>.svg`
- [Catalogue of the interfaces]({base}/.well-known/api-catalog), RFC 9727
- [OpenAPI description]({base}/openapi.json): all parameters, records and errors
{tools}
## Pages

- [Documentation]({base}/help): the method, the query language, gates for CI and more
- [Index for people]({base}/): the same list with filters, and a form to scan a host
- [Problem types]({base}/problems): what each error means
"""
_TOOLS: Final = """\
- MCP tool server: `{base}/mcp`, tools `index`, `site` and `scan` over streamable HTTP
- [Card of the tool server]({base}/.well-known/mcp.json)
"""

_ROBOTS: Final = """\
User-agent: *
Content-Signal: search=yes, ai-input=yes
Allow: /

Sitemap: {base}/sitemap.xml
"""


@cache
def serves_tools() -> bool:
    """Say whether the tool server can run here: the ``mcp`` library is installed."""
    return find_spec("mcp") is not None


def robots(base_url: str) -> bytes:
    """Return robots.txt: everybody may read everything, and answers may use it."""
    return _ROBOTS.format(base=base_url).encode()


def llms(base_url: str) -> bytes:
    """Return llms.txt: the service in one page for an agent."""
    tools = _TOOLS.format(base=base_url) if serves_tools() else ""
    return _LLMS.format(name=NAME, summary=SUMMARY, base=base_url, tools=tools).encode()


def catalogue(base_url: str) -> bytes:
    """Return the catalogue of the interfaces for ``/.well-known/api-catalog`` (RFC 9727, a linkset of RFC 9264)."""
    entries: list[dict[str, Any]] = [
        {
            "anchor": f"{base_url}/api/index.json",
            "service-desc": [{"href": f"{base_url}/openapi.json", "type": "application/json"}],
            "service-doc": [{"href": f"{base_url}/help/serving", "type": "text/html"}],
            "status": [{"href": f"{base_url}/healthz", "type": "application/json"}],
        }
    ]
    if serves_tools():
        entries.append(
            {
                "anchor": f"{base_url}/mcp",
                "service-desc": [{"href": f"{base_url}/.well-known/mcp.json", "type": "application/json"}],
                "service-doc": [{"href": f"{base_url}/help/agents", "type": "text/html"}],
            }
        )
    return msgspec.json.encode({"linkset": entries})


def card(base_url: str) -> bytes:
    """Return the card of the tool server for ``/.well-known/mcp.json``."""
    members: dict[str, Any] = {
        "name": "aui-tui",
        "title": NAME,
        "description": SUMMARY,
        "version": __version__,
        "remotes": [{"type": "streamable-http", "url": f"{base_url}/mcp"}],
    }
    return msgspec.json.encode(members)


def linked_data(base_url: str) -> dict[str, Any]:
    """Return schema.org JSON-LD for the index page: the site, its search, and the data set with its download."""
    return {
        "@context": "https://schema.org",
        "@graph": [
            {
                "@type": "WebSite",
                "name": NAME,
                "description": SUMMARY,
                "url": f"{base_url}/",
                "potentialAction": {
                    "@type": "SearchAction",
                    "target": {"@type": "EntryPoint", "urlTemplate": f"{base_url}/?q={{query}}"},
                    "query-input": "required name=query",
                },
            },
            {
                "@type": "Dataset",
                "name": NAME,
                "description": SUMMARY,
                "url": f"{base_url}/",
                "distribution": {
                    "@type": "DataDownload",
                    "encodingFormat": "application/json",
                    "contentUrl": f"{base_url}/api/index.json",
                },
            },
        ],
    }


REF: Final = "#/components/schemas/{name}"

_WORDS: Final = MappingProxyType(
    {
        ("*", "stance"): STANCES,
        ("*", "category"): CATEGORIES,
        ("ReportCard", "method"): tuple(METHODS),
        ("Evidence", "t"): SEVERITIES,
        ("TaskResult", "outcome"): OUTCOMES,
        ("Recommendation", "k"): FIXES,
    }
)
"""Closed word lists of the specification by schema (``*`` is any) and property."""


class ProblemDetails(msgspec.Struct, kw_only=True):
    """RFC 9457 problem details with the members that this service adds."""

    type: str
    title: str
    status: int
    detail: str
    found: bool | msgspec.UnsetType = msgspec.UNSET
    allowed: list[str] | msgspec.UnsetType = msgspec.UNSET
    retry_after: int | msgspec.UnsetType = msgspec.UNSET
    reset_at: str | msgspec.UnsetType = msgspec.UNSET


def document(base_url: str) -> bytes:
    """Return the OpenAPI 3.1 document of the service at ``base_url``."""
    return msgspec.json.format(msgspec.json.encode(_document(base_url)), indent=1)


def _document(base_url: str) -> dict[str, Any]:
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Agentic Usability Index Service",
            "version": __version__,
            "summary": "How usable websites are by AI agents that act live for a person.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": base_url}],
        "paths": {
            "/api/index.json": {
                "get": _operation(
                    "getIndex",
                    "The Index: ranked and unreachable hosts",
                    _current("Index", "Both lists") | _errors(("400", "A filter has a value outside its list")),
                    description=f"{IGNORED} With limit, the field Link (rel=next) leads to the rows after these.",
                    parameters=[
                        _query("category", _one_of(CATEGORIES), "Only hosts of this category; case ignored."),
                        _query("stance", _one_of(STANCES), "Only hosts of this stance; case ignored."),
                        _query("limit", {"type": "integer", "minimum": 0}, "Rows of each list at most; 0: all."),
                        _query("offset", {"type": "integer", "minimum": 0}, "Rows of each list that are left out."),
                    ],
                )
            },
            "/api/site/{host}.json": {
                "get": _operation(
                    "getSite",
                    "The latest stored report card of one host",
                    _current("ReportCard", "The card") | _errors(("404", "The host was never scanned")),
                )
            },
            "/api/tasks/{host}.json": {
                "get": _operation(
                    "getTasks",
                    "What an agent in a browser got done on one host, step by step",
                    _current("TaskReport", "The transcript")
                    | _errors(("404", "The host was never scanned, or no tasks were run on it")),
                    description="The transcript of the last run of the tasks: each step with role and name of its "
                    "element, how each task ended and why, and what to change. This service never runs tasks for its "
                    "clients.",
                )
            },
            "/api/visits/{host}.json": {
                "get": _operation(
                    "getVisits",
                    "The visits of agents to one host, counted in the operator's access logs",
                    {"200": _record("Visits", "The visits as they were last read")}
                    | _errors(("404", "No access log of the host was read, or its visits are not published")),
                    description="Sums only: no address, no query, no user. The operator may choose not to publish "
                    "them.",
                )
            },
            "/api/scan": {"get": _scan()},
        },
        "components": {"schemas": _schemas(), "headers": _headers()},
    }


HOST: Final = {
    "name": "host",
    "in": "path",
    "required": True,
    "schema": {"type": "string", "minLength": 1},
    "description": "Host name.",
    "example": "example.com",
}
IGNORED: Final = "Query parameters that are not listed here are ignored; a listed one with a wrong value is an error."


def _operation(
    name: str,
    summary: str,
    responses: dict[str, Any],
    *,
    description: str = "",
    parameters: Sequence[dict[str, Any]] = (HOST,),
) -> dict[str, Any]:
    about = {"operationId": name, "summary": summary} | ({"description": description} if description else {})
    return {**about, "parameters": list(parameters), "responses": responses}


def _scan() -> dict[str, Any]:
    limited = _errors(("429", "The client has used its 10 scans of the hour"))
    limited["429"]["headers"] = {name: {"$ref": f"#/components/headers/{name}"} for name in _headers()}
    found = _record("ReportCard", "A card at most 24 hours old, or a new one")
    found["headers"] = {name: {"$ref": f"#/components/headers/{name}"} for name in ("RateLimit", "RateLimit-Policy")}
    return _operation(
        "scanSite",
        "Scan a host live, or answer from the cache of 24 hours",
        {"200": found}
        | _errors(("400", "The host is invalid"), ("403", "Another site's page asked for a scan"))
        | limited,
        description=IGNORED,
        parameters=[
            _query("url", {"type": "string", "minLength": 1}, "Host name or http(s) address.", required=True)
            | {"example": "example.com"},
            _query("force", {"type": "boolean", "default": False}, "Skip the cache; costs one scan of the hour."),
        ],
    )


def _one_of(words: Sequence[str]) -> dict[str, Any]:
    return {"type": "string", "enum": list(words)}


def _query(name: str, schema: dict[str, Any], description: str, *, required: bool = False) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": required, "schema": schema, "description": description}


def _record(schema: str, description: str) -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": REF.format(name=schema)}}}
    return {"description": description, "content": content}


def _current(schema: str, description: str) -> dict[str, Any]:
    """Return the answers with a record that has validators, to a client with and without a copy."""
    fields = {"ETag": {"schema": {"type": "string"}}, "Last-Modified": {"schema": {"type": "string"}}}
    return {
        "200": _record(schema, description) | {"headers": fields},
        "304": {"description": "The client's copy is current"},
    }


def _errors(*errors: tuple[str, str]) -> dict[str, Any]:
    content = {problems.MEDIA_TYPE: {"schema": {"$ref": REF.format(name="ProblemDetails")}}}
    common = (("503", "The service cannot answer now"), ("default", "Any other problem"))
    return {status: {"description": description, "content": content} for status, description in (*errors, *common)}


def _headers() -> dict[str, Any]:
    text = {"type": "string"}
    return {
        "Retry-After": {"description": "Seconds until the next scan is free", "schema": {"type": "integer"}},
        "RateLimit-Policy": {"description": "Scans in a window of seconds", "schema": text},
        "RateLimit": {"description": "Scans left, and seconds until the next one frees", "schema": text},
    }


def _schemas() -> dict[str, Any]:
    _, schemas = msgspec.json.schema_components(
        (Index, ReportCard, TaskReport, Visits, ProblemDetails), schema_hook=_anything, ref_template=REF
    )
    for name, schema in schemas.items():
        for field, property_ in schema.get("properties", {}).items():
            words = _WORDS.get((name, field)) or _WORDS.get(("*", field))
            if words:
                property_["enum"] = list(words)
            elif field == "matrix":
                property_["additionalProperties"] = {"type": "string", "enum": list(VERDICTS)}
    return schemas


def _anything(kind: type) -> dict[str, Any]:
    """Return the schema of a type that holds any JSON value."""
    if kind is object:
        return {"description": "Any JSON value"}
    raise NotImplementedError

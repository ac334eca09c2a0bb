"""Body and snippet of each fix, made for one site. A snippet can be pasted as it is and earns the points promised."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from types import MappingProxyType
from typing import Final

from aui_tui.engine.advice.access import robots, wba
from aui_tui.engine.advice.site import Site, script_json
from aui_tui.engine.advice.texts import texts
from aui_tui.engine.evidence.page import missing_landmarks
from aui_tui.engine.points import ai_input_refused
from aui_tui.engine.wording import counted, fill, joined, sentence, status
from aui_tui.records.observations import SERVED

COMMERCE: Final = frozenset({"Travel", "Grocery & food", "Retail", "Tickets"})
"""Categories whose front door is a commerce manifest; the others get an MCP server card."""
UCP_VERSION: Final = "2026-04-08"
MCP_SCHEMA: Final = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"
SIGNAL_PAIR: Final = re.compile(r"([a-z][a-z-]*)\s*=\s*([a-z]+)")
ABSENT: Final = frozenset({404, 410})
PAGE_FIXES: Final = frozenset({"ssr", "landmarks", "jsonld"})
"""Fixes that go by what the browser probe got."""

Written = tuple[str, str]


def write(fix: str, site: Site) -> Written:
    """Return body and snippet of ``fix`` for ``site``."""
    body, code = _WRITERS[fix](site)
    if fix in PAGE_FIXES and site.judgement.browser != SERVED:
        body = f"{body} {texts().body['unseen']}"
    return body.strip(), code.strip("\n")


def _text(key: str, site: Site, **facts: str) -> str:
    return fill(texts().body[key], site.facts() | facts)


def _code(key: str, site: Site) -> str:
    return fill(texts().code[key], site.facts())


def _front_door(site: Site) -> Written:
    found = site.observations.files.ai_plugin
    legacy = " The ai-plugin.json of this site belongs to a programme that has ended; no current agent reads it."
    shop = site.category in COMMERCE
    body = _text("front-door-ucp" if shop else "front-door-mcp", site, legacy=legacy if found else "")
    return body, script_json(_ucp(site) if shop else _mcp_card(site))


def _ucp(site: Site) -> object:
    """Return a commerce profile with one service over REST and the checkout capability (ucp.dev)."""
    schemas = f"https://ucp.dev/{UCP_VERSION}"
    service = {
        "version": UCP_VERSION,
        "spec": f"{schemas}/specification/overview",
        "transport": "rest",
        "endpoint": f"{site.origin}/ucp/v1",
        "schema": f"{schemas}/services/shopping/rest.openapi.json",
    }
    checkout = {
        "version": UCP_VERSION,
        "spec": f"{schemas}/specification/checkout",
        "schema": f"{schemas}/schemas/shopping/checkout.json",
    }
    return {
        "ucp": {
            "version": UCP_VERSION,
            "services": {"dev.ucp.shopping": [service]},
            "capabilities": {"dev.ucp.shopping.checkout": [checkout]},
        }
    }


def _mcp_card(site: Site) -> object:
    """Return an MCP server card (SEP-2127) with one remote."""
    return {
        "$schema": MCP_SCHEMA,
        "name": f"{'.'.join(reversed(site.hostname.split('.')))}/mcp",
        "title": site.title,
        "description": site.about,
        "version": "1.0.0",
        "remotes": [{"type": "streamable-http", "url": f"{site.origin}/mcp"}],
    }


def _llms(site: Site) -> Written:
    code = site.observations.exchange("llms").status
    note = next((note for note in site.observations.files.notes if "llms" in note), "")
    found = sentence(note) if note else f"/llms.txt answers {status(code)}." if code in ABSENT else "There is none yet."
    return _text("llms", site, found=found), _code("llms", site)


def _jsonld(site: Site) -> Written:
    kind = texts().kind.get(site.category, "Organization")
    url = f"{site.origin}/"
    owner = {"@type": kind, "@id": f"{url}#owner", "name": site.title, "url": url}
    page = {
        "@type": "WebSite",
        "@id": f"{url}#site",
        "name": site.title,
        "url": url,
        "description": site.about,
        "publisher": {"@id": f"{url}#owner"},
    }
    graph = script_json({"@context": "https://schema.org", "@graph": [page, owner]})
    return _text("jsonld", site), f'<script type="application/ld+json">\n{graph}\n</script>'


def _landmarks(site: Site) -> Written:
    page = site.observations.page
    lacking = missing_landmarks(page)
    forms = counted(page.forms_unlabelled, "form has", "forms have")
    parts = [f"The homepage lacks {joined(lacking)}."] if lacking else []
    parts += [f"{forms} a control without a label."] if page.forms_unlabelled else []
    seen, name = page.semantic, html.escape(site.title)
    lines: list[str] = []
    if not (seen.nav and seen.aria):
        lines += ["<header>", '  <nav aria-label="Main">', '    <a href="/">Home</a>', "  </nav>", "</header>"]
    if not seen.main or page.forms_unlabelled:
        lines += ['<main id="content">', f"  <h1>{name}</h1>"]
        if page.forms_unlabelled:
            lines += ['  <form action="/search" role="search">', f'    <label for="q">Search {name}</label>']
            lines += ['    <input id="q" name="q" type="search">', '    <button type="submit">Search</button>']
            lines += ["  </form>"]
        lines += ["</main>"]
    lines += ["<footer>", '  <a href="/contact">Contact</a>', "</footer>"]
    return _text("landmarks", site, missing=" ".join(parts)), "\n".join(lines)


def _ssr(site: Site) -> Written:
    readable = counted(site.observations.page.readable, "readable character")
    return _text("ssr", site, readable=readable), _code("ssr", site)


def _signal(site: Site) -> Written:
    robots = site.observations.robots
    if not ai_input_refused(robots.signal):
        where = "Publish a robots.txt with" if robots.kind in ("none", "html") else "Give User-agent: * in robots.txt"
        return _text("signal", site, where=where), _code("signal", site)
    pairs = dict(SIGNAL_PAIR.findall(robots.signal.lower())) | {"ai-input": "yes"}
    value = ", ".join(f"{key}={answer}" for key, answer in pairs.items())
    return _text("signal-no-input", site, line=str(robots.signal_line)), f"Content-Signal: {value}"


_WRITERS: Final[MappingProxyType[str, Callable[[Site], Written]]] = MappingProxyType(
    {
        "wba": wba,
        "front-door": _front_door,
        "llms": _llms,
        "jsonld": _jsonld,
        "landmarks": _landmarks,
        "ssr": _ssr,
        "signal": _signal,
        "robots": robots,
    }
)

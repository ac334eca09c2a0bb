"""The front door for agents: a commerce manifest (UCP) or an MCP server card under /.well-known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from msgspec.structs import replace

from aui_tui.checks.base import Advice, Check, Earned, Piece, Site, is_withheld, script_json, sentence_list
from aui_tui.checks.judge import Judgement
from aui_tui.checks.wording import sentence
from aui_tui.model.card import Finding
from aui_tui.model.observations import PLACEHOLDER, Observations

COMMERCE = frozenset({"Travel", "Grocery & food", "Retail", "Tickets"})
"""Categories whose front door is a commerce manifest; the others get an MCP server card."""
UCP_VERSION = "2026-04-08"
MCP_SCHEMA = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"
MCP_PATH = "/.well-known/mcp.json"
SENTENCES: Final = sentence_list(
    """
    warn protocol-note: A file of offers does not count
        <<note>>
    warn plugin-only: Only the legacy ai-plugin.json
        Only the legacy ai-plugin.json was found, and no current agent reads it.
    warn protocols-none: No MCP card or shop manifest
        No MCP server card (/.well-known/mcp.json) and no shopping manifest (/.well-known/ucp): agents must click
        through pages as a person does. Add one only if you have such a server or shop.
    warn mcp-silent: The MCP server does not answer
        The MCP server card at <<path>> earns its points, but <<said>>: an agent that follows it gets nowhere.
    good ucp: A shop manifest
        A commerce manifest for agents is at /.well-known/ucp.
    good mcp: An MCP server card
        An MCP server card is at <<path>>.
    """
)


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
        "description": f"{PLACEHOLDER} by what the tools of the server do",
        "version": "1.0.0",
        "remotes": [{"type": "streamable-http", "url": f"{site.origin}/mcp"}],
    }


class FrontDoor(Check):
    fix = "front-door"
    label = "MCP or shop"
    subject = "offers"
    puts = "Publish this as /.well-known/mcp.json, as application/json"
    loads = "Upload the file, and purge it from the CDN where there is one."
    earns = "a UCP profile or an MCP server card: all; only an old ai-plugin.json: {part}"
    part = {"v0.1": 5, "v0.2": 3}
    lacking = "no UCP profile or MCP card"
    title = "Publish a front door for agents"
    effort = 6
    takes = "days"
    proof = "curl -sSi {origin}/.well-known/mcp.json (or /ucp) answers 200 with JSON."
    points = {"v0.1": 15, "v0.2": 10}
    pillar = {"v0.1": "protocols", "v0.2": "built"}
    read_on = "https://modelcontextprotocol.io/"
    path = "/.well-known"
    language = "json"
    sentences = SENTENCES
    names_site = True
    detail = "protocols"

    def measure(self, judgement: Judgement, method: str) -> Earned:
        observations = judgement.observations
        files = observations.files
        if files.ucp:
            return Earned(self.points[method], "A commerce manifest was found at /.well-known/ucp.")
        if files.mcp:
            return Earned(self.points[method], "An MCP server card was found under /.well-known.")
        unknown = Earned.unmeasured(observations, "The UCP manifest or the MCP server card", "ucp", "mcp")
        if unknown is not None:
            return unknown
        if files.ai_plugin:
            return Earned(self.part[method], "Only the legacy ai-plugin.json was found.")
        return Earned(0, "Neither a UCP manifest nor an MCP server card was found.")

    def findings(self, judgement: Judgement) -> Iterator[Finding]:
        observations = judgement.observations
        facts = observations.files
        for note in facts.notes:
            if note.strip() and "llms" not in note:
                yield Finding("protocol-note", {"note": sentence(note)})
        if facts.ucp:
            yield Finding("ucp")
        if facts.mcp:
            yield Finding("mcp", {"path": urlsplit(observations.exchange("mcp").url).path or MCP_PATH})
        for one in observations.declared.tried if observations.declared is not None else ():
            if one.broken and facts.mcp and one.where == urlsplit(observations.exchange("mcp").url).path:
                yield Finding("mcp-silent", {"path": one.where, "said": one.said})
        asked = [observations.exchange(name) for name in ("ucp", "mcp")]
        unmeasured = any(probe.unmeasured or is_withheld(probe) for probe in asked)
        if not facts.ucp and not facts.mcp and not unmeasured:
            yield Finding("plugin-only" if facts.ai_plugin else "protocols-none")

    def fixed(self, observations: Observations) -> Observations:
        return replace(observations, files=replace(observations.files, ucp=True))

    def advise(self, site: Site) -> Advice:
        if site.category in COMMERCE:
            body = (
                "Only if your shop has such services: publish a commerce manifest (UCP) at"
                f" {site.origin}/.well-known/ucp, as application/json: a shopping agent"
                " reads there which services it may call instead of clicking through pages. Put it online"
                " together with the endpoint that it names; an MCP server card at /.well-known/mcp.json earns the same"
                " points."
            )
            path, code = ".well-known/ucp", script_json(_ucp(site))
        else:
            body = (
                "Only if you have an MCP server: publish its card at"
                f" {site.origin}/.well-known/mcp.json, as application/json: an agent reads"
                " there which server offers this site's functions as tools. Put it online together with the server that"
                " it names; for a shop, a commerce manifest at /.well-known/ucp earns the same points."
            )
            path, code = ".well-known/mcp.json", script_json(_mcp_card(site))
        if site.observations.files.ai_plugin:
            body += " The ai-plugin.json of this site belongs to a programme that has ended; no current agent reads it."
        return Advice(body, code, lambda: (Piece(path, f"{site.origin}/{path}, as application/json", code),))


CHECK = FrontDoor()

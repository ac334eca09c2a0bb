"""The front door for agents: a commerce manifest (UCP) or an MCP server card under /.well-known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from msgspec.structs import replace

from aui_tui.checks.check import (
    Advice,
    Check,
    Earned,
    Piece,
    closed,
    file_name,
    noted,
    opened,
    opening,
    sentence_list,
    unseen,
)
from aui_tui.checks.judge import Judgement
from aui_tui.checks.site import Site, script_json
from aui_tui.checks.wording import sentence
from aui_tui.model.card import Finding
from aui_tui.model.observations import CATALOGUE, FILE_PATHS, PLACEHOLDER, Observations
from aui_tui.text import joined

COMMERCE = frozenset({"Travel", "Grocery & food", "Retail", "Tickets"})
"""Categories whose front door is a commerce manifest; the others get an MCP server card."""
UCP_VERSION = "2026-04-08"
MCP_SCHEMA = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"
SENTENCES: Final = sentence_list(
    """
    warn protocol-note: <<path>> does not count / <<name>> does not count / A file of offers does not count
        <<note>>
    warn protocol-unwritten: A file of offers has words of a plan
        <<file>> still says “<<words>>”, as a plan wrote it: put your own words there.
    warn note plugin-only: Only the legacy ai-plugin.json
        Only the legacy <<file>> was found, and no current agent reads it.
    warn note protocol-unseen: <<file>> is not measured / <<path>> is not measured / <<name>> is not measured
        <<file>> <<why>>. Nobody knows whether it exists.
    warn protocol-closed: <<path>> is closed to agents / <<name>> is closed to agents
        <<file>> is closed to agents: <<agent>> gets <<what>> where a browser gets the file. So it earns nothing.
    warn note protocols-none: No MCP card or shop manifest
        <<host>> has no MCP server card (/.well-known/mcp.json), no catalogue that names one
        (/.well-known/ai-catalog.json) and no shopping manifest (/.well-known/ucp) with anything in it: agents must
        click through pages as a person does. Add one only if you have such a server or shop.
    warn mcp-silent: The MCP server does not answer
        The MCP server card at <<file>> earns its points, but <<said>>: an agent that follows it gets nowhere.
    good ucp: A shop manifest
        A commerce manifest for agents is at <<file>>.
    good mcp: An MCP server card
        An MCP server card is at <<file>>.
    good mcp-catalog: An MCP server in a catalogue
        The catalogue at <<file>> names an MCP server, which counts like a card.
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


def _open(observations: Observations, name: str) -> bool:
    """Tell whether the file of the probe ``name`` was found, and agents get it."""
    return getattr(observations.files, name.replace("-", "_")) and not closed(observations, name.replace("_", "-"))


class FrontDoor(Check):
    fix = "front-door"
    label = "MCP card or shop manifest"
    subject = "offers"
    puts = "Publish this as /.well-known/mcp.json, as application/json"
    loads = "Upload the file, and purge it from the CDN where there is one."
    earns = "a UCP profile, an MCP server card or a catalogue that names one: all; only an old ai-plugin.json: {part}"
    part = {"v0.1": 5, "v0.2": 3}
    lacking = "no MCP card or shop manifest"
    title = "Publish an MCP card or shop manifest"
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
        ucp, mcp, plugin = (file_name(observations, name) for name in ("ucp", "mcp", "ai-plugin"))
        if _open(observations, "ucp"):
            return Earned(self.points[method], f"A commerce manifest was found at {ucp}.")
        if _open(observations, "mcp"):
            what = "A catalogue with an MCP server" if mcp.endswith(CATALOGUE) else "An MCP server card"
            return Earned(self.points[method], f"{what} was found at {mcp}.")
        shut = [file_name(observations, name) for name in ("ucp", "mcp") if closed(observations, name)]
        if shut:
            return Earned(0, f"{joined(shut)} {'is' if len(shut) == 1 else 'are'} closed to agents.")
        unknown = Earned.unmeasured(observations, "The UCP manifest or the MCP server card", "ucp", "mcp")
        if unknown is not None:
            return unknown
        if _open(observations, "ai_plugin"):
            return Earned(self.part[method], f"Only the legacy {plugin} was found.")
        return Earned(0, f"Neither a UCP manifest ({ucp}) nor an MCP server card ({mcp}) was found, nor a catalogue.")

    def findings(self, judgement: Judgement) -> Iterator[Finding]:
        observations = judgement.observations
        facts = observations.files
        for note in facts.notes:
            if note.strip() and "llms" not in note:
                words = noted(observations, note)
                yield Finding("protocol-note", {"note": sentence(words), "file": words.partition(" ")[0]})
        for path in facts.unwritten:
            if path != FILE_PATHS["llms"]:
                yield Finding("protocol-unwritten", {"file": noted(observations, path), "words": PLACEHOLDER})
        for name in ("ucp", "mcp", "ai-plugin"):
            if closed(observations, name):
                yield Finding("protocol-closed", closed(observations, name))
        for name in ("ucp", "mcp"):
            file, probe = {"file": file_name(observations, name)}, observations.exchange(name)
            if _open(observations, name):
                yield Finding("mcp-catalog" if file["file"].endswith(CATALOGUE) else name, file)
            elif unseen(observations, name) and (probe.challenge or not probe.unmeasured) and not getattr(facts, name):
                yield Finding("protocol-unseen", file | {"why": unseen(observations, name)})
        for attempt in observations.declared.tried if observations.declared is not None else ():
            if attempt.broken and facts.mcp and attempt.where == urlsplit(observations.exchange("mcp").url).path:
                yield Finding("mcp-silent", {"file": file_name(observations, "mcp"), "said": attempt.said})
        if facts.ucp or facts.mcp or any(unseen(observations, name) for name in ("ucp", "mcp")):
            return
        if _open(observations, "ai_plugin"):
            yield Finding("plugin-only", {"file": file_name(observations, "ai-plugin")})
        else:
            yield Finding("protocols-none", {"host": urlsplit(observations.site_origin).netloc})

    def fixed(self, observations: Observations) -> Observations:
        return opened(replace(observations, files=replace(observations.files, ucp=True)), "ucp")

    def advise(self, site: Site) -> Advice:
        shut = opening(site, "ucp", "mcp")
        if shut is not None:
            return shut
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
                f" it names. A catalogue at {CATALOGUE} that names an MCP server earns the same points;"
                " for a shop, so does a commerce manifest at /.well-known/ucp."
            )
            path, code = ".well-known/mcp.json", script_json(_mcp_card(site))
        if site.observations.files.ai_plugin:
            body += " The ai-plugin.json of this site belongs to a programme that has ended; no current agent reads it."
        return Advice(body, code, lambda: (Piece(path, f"{site.origin}/{path}, as application/json", code),))


CHECK = FrontDoor()

"""The fix of the door: what would be seen with every agent let in, and advice for what turns them away."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from aui_tui.checks.check import Advice, Piece
from aui_tui.checks.judge import Probed
from aui_tui.checks.site import Site, edges
from aui_tui.checks.wording import NAMED, answer, answers, fill
from aui_tui.model import labels
from aui_tui.model.observations import BROWSER, Cause, Exchange, Observations
from aui_tui.model.registry import Agent, registry
from aui_tui.model.verdicts import AWAY
from aui_tui.model.vocabulary import SERVED
from aui_tui.text import joined

REQUEST: Final = "server/change-request.txt"
"""What there is where the owner can install nothing."""
JQ_RANGES: Final = "[.. | objects | .ipv4Prefix, .ipv6Prefix | strings]"
"""jq program for the address lists that the operators publish."""
SERVERS: Final = MappingProxyType({"microsoft-iis": "iis"})
"""Names of servers in recipes where the field Server begins otherwise."""


def let_everybody_in(observations: Observations) -> Observations:
    """Return what would be seen with every agent let in; a probe without a verdict stays so."""
    if observations.unreachable:
        return observations
    names = {BROWSER, *(key for key, reading in observations.readings.items() if reading.outcome in AWAY)}
    let_in = tuple(
        _let_in(exchange) if exchange.name in names and exchange.turned_away else exchange
        for exchange in observations.exchanges
    )
    page = observations.page
    if observations.browser.outcome != SERVED and not page.seen_by:
        page = replace(page, problem=page.problem or "it has not been seen yet")
    return replace(observations, exchanges=let_in, page=page, cause=None, arms=())


def _let_in(exchange: Exchange) -> Exchange:
    return replace(
        exchange, status=200, challenge=None, terms=False, error="", detail="", attempts=(), controls=0, signed=None
    )


def fields(names: Iterable[str]) -> str:
    """Return header fields, and the HTTP version, in words."""
    return joined((edges().field.get(name, f"the header field {name}") for name in names), NAMED)


def _rule(cause: Cause | None) -> str:
    """Return what is known of the rule that turns agents away, as a sentence for the one who changes it."""
    if cause is None:
        return ""
    agents = joined(agent.short for agent in registry().live if agent.key in cause.agents)
    return fill(edges().rule[cause.by], {"agents": agents, "field": fields(cause.fields)})


def is_fault(cause: Cause | None, probes: Sequence[Exchange]) -> bool:
    """Return whether the site's program fails for ``probes`` for want of a header field: no rule turns them away."""
    return cause is not None and cause.by == "field" and all(probe.failing for probe in probes)


MISSING: Final = MappingProxyType(
    {"HTTP version": ("--http1.1", ""), "Accept": ("-H 'Accept:'", "-H 'Accept: text/html'")}
)
"""How curl leaves out what a program wants, and how it sends that; other fields it sends only when it is told to."""


def _fault_advice(site: Site, cause: Cause, away: Sequence[Probed]) -> Advice:
    """Return the fix for a program that fails where a header field is missing, with requests that show it."""
    field, origin = cause.fields[0], site.origin
    without, sent = MISSING.get(field, ("", f"-H '{field}: en'" if field == "Accept-Language" else f"-H '{field}: ?1'"))
    show = "curl -sS -o /dev/null -w '%{http_code}\\n'"
    agents = joined(agent.short for agent, _ in away)
    body = (
        f"{agents} {'gets' if len(away) == 1 else 'get'} {answers([probe for _, probe in away])} on"
        f" {site.observations.host} because they do not send {fields(cause.fields)} as a browser does: the program that"
        " makes the page fails without it. This is no rule of a firewall. Give the value a default in the code (a"
        " language, a type), look at the error log for the line that fails, and add a test without the field."
    )
    code = f"# fails today, and must answer 200\n{show} {without} {origin}/\n# answers 200\n{show} {sent} {origin}/"
    code = code.replace("  ", " ")
    return Advice(body, code, lambda: (Piece("program/without-field.sh", "the shell of whoever keeps the code", code),))


def door_advice(site: Site) -> Advice:
    """Return body and snippet for the wall, edge or program that turned the agents away."""
    away = site.judgement.turned_away
    if away and (cause := site.observations.cause) is not None and is_fault(cause, [probe for _, probe in away]):
        return _fault_advice(site, cause, away)
    recipe = edges().for_wba([*_refusers(probe for _, probe in away), *site.edges])
    facts = site.facts() | _refusal(site, away)
    who, host = f"{facts['agents']} {'gets' if len(away) == 1 else 'get'}", site.observations.host
    step = fill(recipe.step, facts)
    if away and all(probe.asks_for_payment for _, probe in away):
        body = (
            f"{who} 402 Payment Required with machine-readable terms on {host}: an agent with a wallet may enter, most"
            " have none. Keep the price for training crawlers, verify agents that act for a person by HTTP Message"
            f" Signatures (RFC 9421, Web Bot Auth) or published address ranges, and serve them free. {step}"
        )
    else:
        cause = site.observations.cause
        step = " ".join(filter(None, (_rule(cause), step)))
        by_name = cause is None or not cause.by.startswith("field")
        let_in = "let it in, and keep refusing clients that only borrow its name" if by_name else "and let it in"
        body = (
            f"{who} {facts['what']} on {host}{facts['contrast']}. An agent that acts for a person brings a"
            " customer: recognise it by its HTTP Message Signature (RFC 9421, Web Bot Auth) or by the address ranges"
            f" that its operator publishes, {let_in}. {step}"
        )
    request = edges().wba["request"].part
    parts = (*recipe.part, *request) if recipe.asks else recipe.part or request
    pieces = tuple(
        Piece(f"server/{part.file}", fill(part.place, facts), fill(part.text, facts).strip("\n")) for part in parts
    )
    if recipe.check:
        body += f" Before the reload: {recipe.check}."
    code = pieces[0].text if len(pieces) == 1 else "\n\n".join(f"# {piece.place}\n{piece.text}" for piece in pieces)
    return Advice(body.strip(), code, lambda: pieces)


def _refusers(probes: Iterable[Exchange]) -> Iterator[str]:
    """Yield the names of the servers that sent the refusals, by what each says of itself or always does."""
    for probe in probes:
        if probe.challenge is not None and not probe.another_page:
            yield probe.challenge.vendor
            continue
        server = re.split(r"[/ ]", probe.fields.get("server", "").lower())[0]
        if server:
            yield SERVERS.get(server, server)
        elif "date" not in probe.fields and probe.fields.get("cache-control") == "no-cache":
            yield "haproxy"


def _refusal(site: Site, away: Sequence[Probed]) -> dict[str, str]:
    """Return the placeholders of a recipe that say who was turned away, how, and who is to be let in."""
    browser = site.observations.browser
    served = browser.outcome == SERVED
    agents = [agent for agent, _ in away]
    lines = [f"- {agent.token}: {answer(probe)}{_reference(probe)}" for agent, probe in away]
    rule = _rule(site.observations.cause)
    return {
        "agents": joined(agent.short for agent in agents),
        "what": answers([probe for _, probe in away]),
        "contrast": f" while a browser gets the homepage ({browser.status})" if served else "",
        "browser": f"a browser {f'got {labels.status(browser.status)}' if browser.status else 'got no answer'}",
        "scanned_at": site.observations.scanned_at,
        "seen": "\n".join((*lines, rule) if rule else lines),
        "directories": _listing(registry().agents, "signature_directory"),
        "ranges": _listing(agents, "ip_ranges"),
        "agent_pattern": "|".join(re.escape(agent.token).replace("\\-", "-") for agent in agents),
        **_published_ranges([agent for agent in agents if agent.ip_ranges]),
        **_tester(site.tester_address),
    }


def _published_ranges(agents: Sequence[Agent]) -> dict[str, str]:
    """Return the placeholders for the address lists that the operators of ``agents`` publish."""
    return {
        "range_comments": "\n".join(f"# {agent.token}: {agent.ip_ranges}" for agent in agents),
        "range_urls": " ".join(dict.fromkeys(agent.ip_ranges for agent in agents)),
        "vercel_rules": "\n".join(map(_vercel_rule, agents)),
    }


def _tester(address: str) -> dict[str, str]:
    """Return the placeholders for the one ``address`` from which the scan is repeated."""
    version, bits = ("IPV6", 128) if ":" in address else ("IPV4", 32)
    return {"tester_pattern": re.escape(address), "tester_version": version, "tester_network": f"{address}/{bits}"}


def _reference(probe: Exchange) -> str:
    if probe.challenge is None or not probe.challenge.reference:
        return ""
    return f", {labels.vendor(probe.challenge.vendor).reference} {probe.challenge.reference}"


def _listing(agents: Iterable[Agent], field: str) -> str:
    rows = (f"   - {agent.short} ({agent.token}): {getattr(agent, field)}" for agent in agents if getattr(agent, field))
    return "\n".join(rows) or "   - none is published"


def _vercel_rule(agent: Agent) -> str:
    """Return the shell commands that let one agent in from its published ranges."""
    named = json.dumps({"type": "user_agent", "op": "sub", "value": agent.token})
    return (
        f"ranges=$(curl -fsS {agent.ip_ranges} | jq -c '{JQ_RANGES}')\n"
        f"vercel firewall rules add 'Verified {agent.token}' --action bypass --yes \\\n"
        f"  --condition '{named}' \\\n"
        '  --condition "{\\"type\\":\\"ip_address\\",\\"op\\":\\"inc\\",\\"value\\":$ranges}"'
    )

"""Body and snippet of the two fixes that open the door: verified agents at the edge, and robots.txt."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Final

from aui_tui.engine.advice.site import Site
from aui_tui.engine.advice.texts import edges, texts
from aui_tui.engine.evidence.robots import by_line, fetched
from aui_tui.engine.judge import asks_for_payment
from aui_tui.engine.wording import answer, answers, at_lines, fill, joined, label, out_of, quoted, status, vendor
from aui_tui.records.observations import SERVED, Exchange, RobotsPolicy
from aui_tui.records.registry import Agent, registry
from aui_tui.records.vocabulary import AGENTS_TOTAL

TOKEN: Final = re.compile(r"[A-Za-z_-]+")
JQ_RANGES: Final = "[.. | objects | .ipv4Prefix, .ipv6Prefix | strings]"
"""jq program for the address lists that the operators publish."""


def wba(site: Site) -> tuple[str, str]:
    """Return body and snippet of the fix that verifies agents, for the wall or edge that turned them away."""
    away = site.turned_away
    recipe = edges().for_wba(site.edges)
    facts = site.facts() | _refusal(site, away)
    facts["step"] = fill(recipe.step, facts)
    payment = bool(away) and all(asks_for_payment(probe) for _, probe in away)
    body = fill(texts().body["wba-payment" if payment else "wba"], facts)
    return body, fill(recipe.code or edges().wba["request"].code, facts).strip("\n")


def _refusal(site: Site, away: Sequence[tuple[Agent, Exchange]]) -> dict[str, str]:
    browser = site.observations.browser
    served = browser.outcome == SERVED
    agents = [agent for agent, _ in away]
    return {
        "agents": joined(label(agent) for agent in agents),
        "get": "gets" if len(agents) == 1 else "get",
        "what": answers([probe for _, probe in away]),
        "contrast": f" while a browser gets the homepage ({browser.status})" if served else "",
        "browser": f"a browser {f'got {status(browser.status)}' if browser.status else 'got no answer'}",
        "scanned_at": site.observations.scanned_at,
        "seen": "\n".join(f"- {agent.token}: {answer(probe)}{_reference(probe)}" for agent, probe in away),
        "directories": _listing(registry().agents, "signature_directory"),
        "ranges": _listing(agents, "ip_ranges"),
        "range_urls": " ".join(dict.fromkeys(agent.ip_ranges for agent in agents if agent.ip_ranges)),
        "agent_pattern": "|".join(re.escape(agent.token).replace("\\-", "-") for agent in agents),
        "vercel_rules": "\n".join(_vercel_rule(agent) for agent in agents if agent.ip_ranges),
    }


def _reference(probe: Exchange) -> str:
    if probe.challenge is None or not probe.challenge.reference:
        return ""
    return f", {vendor(probe.challenge.vendor).reference} {probe.challenge.reference}"


def _listing(agents: Iterable[Agent], field: str) -> str:
    rows = (
        f"   - {label(agent)} ({agent.token}): {getattr(agent, field)}" for agent in agents if getattr(agent, field)
    )
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


def robots(site: Site) -> tuple[str, str]:
    """Return body and snippet of the fix that opens robots.txt, with the spelling and the lines found there."""
    facts = site.facts()
    facts["step"] = edges().for_robots(site.edges).step
    if site.observations.robots.kind == "unknown":
        facts["fetched"] = fetched(site.observations.exchange("robots"))
        return fill(texts().body["robots-unknown"], facts), texts().code["robots-unknown"]
    blocked = [policy for policy in site.judgement.agents if policy.effective == "blocked"]
    partial = [policy for policy in site.judgement.agents if policy.policy == "partial"]
    facts |= {"rules": _rules(blocked, partial), "remedy": _remedy(blocked, partial)}
    names = dict.fromkeys(_spelling(policy) for policy in (*blocked, *partial))
    group = {name.lower(): name for name in reversed(names)}
    rows = [f"User-agent: {name}" for name in reversed(group.values())]
    return fill(texts().body["robots"], facts), "\n".join([*rows, "Allow: /"])


def _spelling(policy: RobotsPolicy) -> str:
    """Return the name as the site writes it where that is a product token (RFC 9309, 2.2.1), else the agent's own."""
    return policy.spelling if TOKEN.fullmatch(policy.spelling) else policy.token


def _rules(blocked: Sequence[RobotsPolicy], partial: Sequence[RobotsPolicy]) -> str:
    default = [policy for policy in blocked if policy.policy == "unlisted"]
    named = [policy for policy in blocked if policy.policy != "unlisted"]
    found = []
    if default:
        found.append(
            f"Line {default[0].line} of robots.txt ({quoted(default[0].rule)} for User-agent: *) keeps out"
            f" {out_of(len(default), AGENTS_TOTAL)} tested agents."
        )
    if named:
        found.append(f"robots.txt disallows {by_line(named, rules=True)}.")
    if partial:
        found.append(f"It keeps {by_line(partial, rules=True)} from some paths.")
    return " ".join(found)


def _remedy(blocked: Sequence[RobotsPolicy], partial: Sequence[RobotsPolicy]) -> str:
    own = [policy for policy in (*blocked, *partial) if policy.policy != "unlisted"]
    default = len(own) < len(blocked) + len(partial)
    found = []
    if own:
        where = at_lines(policy.line for policy in own)
        found.append(f"Put the group below in the place of the groups that hold these rules{where}.")
    if default:
        found.append("The group below also covers the others." if own else "Add the group below.")
        found.append("An agent with a group of its own no longer reads User-agent: *; repeat the path rules you keep.")
    return " ".join(found)

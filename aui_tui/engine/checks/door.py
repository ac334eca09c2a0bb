"""The door: does an agent get the homepage that a browser gets, and if not, what stands in the way."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

from msgspec.structs import replace

from aui_tui.engine.checks.base import Advice, CardPoints, Check, Earned, Finding, Piece, critical, good, warn
from aui_tui.engine.checks.site import Site, edges
from aui_tui.engine.judge import Judgement, asks_for_payment, is_turned_away, live_exchanges
from aui_tui.engine.wording import (
    answer,
    answers,
    at_lines,
    clause,
    counted,
    fill,
    joined,
    label,
    name_of,
    no_answer,
    quoted,
    silence,
    status,
    vendor,
)
from aui_tui.records import points
from aui_tui.records.observations import (
    BROWSER,
    CHALLENGED,
    FILE_PROBES,
    INCONCLUSIVE,
    REFUSED,
    SERVED,
    UNFOLLOWED,
    Exchange,
    Observations,
)
from aui_tui.records.points import round_half_up
from aui_tui.records.registry import Agent, registry
from aui_tui.records.vocabulary import LIVE_TOTAL

POINTS = {"v0.1": 24, "v0.2": 12}
JQ_RANGES: Final = "[.. | objects | .ipv4Prefix, .ipv6Prefix | strings]"
"""jq program for the address lists that the operators publish."""
SERVERS: Final = MappingProxyType({"microsoft-iis": "iis"})
"""Names of servers in recipes where the field Server begins otherwise."""
PROOF: Final = " (asked again alone, with a browser served right before and after)"
"""How it is known that a refusal is for the agent."""
SENTENCES = (
    critical(
        "shut-out",
        "AI agents are shut out: a browser gets the homepage (<<browser>>), <<agents>> get <<what>><<proof>>.",
    ),
    critical(
        "everybody-challenged",
        "Everybody meets a wall: even the browser probe gets <<what>>, which a person can pass and an agent"
        " cannot, and no agent gets the homepage.",
    ),
    critical(
        "everybody-refused",
        "Everybody is refused: the browser probe gets <<what>> and no agent gets the homepage.",
    ),
    critical(
        "edge-says-no",
        "robots.txt says yes, the edge says no: <<permission>> <<agents>>, yet <<pronoun>> turned away at the"
        " door: <<what>>.",
    ),
    critical(
        "agent-challenged",
        "<<agent>> gets a challenge page of <<vendor>> (status <<status>>, sign: <<signal>>)<<reference>>.",
    ),
    critical("agent-refused", "<<agent>> is refused with status <<status>> while a browser gets the homepage."),
    critical(
        "agent-refused-too",
        "<<agent>> is refused with status <<status>>, and the browser probe does not get the homepage either.",
    ),
    critical(
        "agent-payment-blind",
        "<<agent>> is refused with status 402 Payment Required without machine-readable terms, so no agent can"
        " tell what to pay or how.",
    ),
    critical(
        "agent-dropped",
        "<<agents>> <<get>> <<what>> while a browser gets the homepage: to an agent that is worse than a refusal,"
        " since nothing says why.",
    ),
    critical("tls", "TLS fails before any page is asked for: a browser warns its user there, and an agent stops."),
    warn("agent-payment", "<<agents>> asked to pay: status 402 Payment Required with machine-readable terms."),
    warn(
        "probe-limit",
        "Limit of this test: a probe borrows an agent's name without its address or signature, so a site that"
        " verifies agents may refuse the probe and still serve the agent.",
    ),
    warn(
        "asked-again",
        "<<agents>> got the same answer when asked again, alone and after a pause, so this is no limit on bursts.",
    ),
    warn(
        "controlled",
        "<<agents>> got the same when asked again alone, <<times>> times, with a browser served right before and after:"
        " this is not a limit on the number of requests.",
    ),
    warn(
        "second-answer",
        "<<agent>> got <<first>> at first and <<second>> when asked again, alone and after a pause; the second"
        " answer counts.",
    ),
    warn(
        "limited",
        "The site limits everybody: asked alone, the browser was turned away too. So nothing is held against <<agents>>"
        " (<<what>>); a scan with --force --pace 10, one request every 10 s, may bring a verdict.",
    ),
    warn(
        "files-limited",
        "Not measured: <<files>>. The site answered <<what>>, again when asked alone, so <<they>> for nothing; a scan"
        " with --force --pace 10, one request every 10 s, may bring <<them>>.",
    ),
    warn(
        "random",
        "The site fails at random: <<failed>> of <<asked>> requests for the homepage got a 5xx, from clients that were"
        " served at another time.",
    ),
    warn(
        "edge-says-yes",
        "robots.txt says no, the edge says yes: <<agents>>, yet the homepage is served all the same, so only"
        " agents that obey robots.txt stay away.",
    ),
    warn(
        "browser-challenged",
        "The browser probe gets <<what>> while <<agents>> the homepage, so the page facts below are those of the"
        " challenge.",
    ),
    warn("browser-refused", "The browser probe gets <<what>> while <<agents>> the homepage."),
    warn("browser-silent", "The browser probe is inconclusive: <<reason>>."),
    warn(
        "door-silent",
        "A browser gets the homepage (<<browser>>) and none of the <<total>> probed agents gets an answer: that"
        " proves nothing and is not scored, but a site that holds agents back looks just like this.",
    ),
    warn("door-unmeasured", "No agent got a usable answer, so access is not scored."),
    warn("agent-silent", "<<agents>> inconclusive and <<counts>> for nothing: <<reason>>."),
    warn("redirect", "A redirect was not followed for <<who>>: <<reason>> (last status <<status>>)."),
    good("served", "<<agents>> the homepage, as a browser does."),
)

Probed = tuple[Agent, Exchange]


def _measure(observations: Observations, judgement: Judgement, method: str) -> Earned:
    if judgement.conclusive == 0:
        return Earned(None, f"None of the {LIVE_TOTAL} probed agents got an answer, so the door was not measured.")
    named: dict[str, list[str]] = {}
    for agent in registry().live:
        named.setdefault(judgement.outcomes[agent.key], []).append(label(agent))
    dropped = {label(agent) for agent in registry().live if observations.exchange(agent.key).dropped}
    served = named.get(SERVED, [])
    silent = [name for name in named.get(INCONCLUSIVE, []) if name not in dropped]
    who = f" ({joined(served)})" if served else ""
    counts = "counts" if len(silent) == 1 else "count"
    tail = f"; {joined(silent)} got no usable answer and {counts} for nothing" if silent else ""
    agents = counted(judgement.conclusive, "agent")
    held = " with an answer, or dropped again and again," if dropped else " with an answer"
    return Earned(
        round_half_up(POINTS[method] * judgement.served, judgement.conclusive),
        f"{judgement.served} of {agents}{held} got the homepage{who}{tail}.",
    )


def _convert(known: CardPoints, to: str) -> int:
    return round_half_up(POINTS[to] * known.card.live_served, points.conclusive(known.card))


def _findings(observations: Observations, judgement: Judgement) -> Iterator[Finding]:
    """Yield what browser and agents got."""
    probed = list(zip(registry().live, live_exchanges(observations), strict=True))
    yield from _whole(observations.browser, probed, judgement)
    for agent, probe in probed:
        yield from _turned_away(agent, probe, judgement)
    asked = [label(agent) for agent, probe in probed if asks_for_payment(probe)]
    if asked:
        yield Finding("agent-payment", {"agents": _subject(asked, len(probed), "is", "are")})
    if not (judgement.shut_out and all(probe.dropped for _, probe in probed)):
        yield from _dropped(probed)
    if any(is_turned_away(probe) for _, probe in probed):
        yield Finding("probe-limit")
    yield from _asked_again(probed)
    yield from _limited(observations)
    yield from _inconclusive(observations.browser, probed)
    if judgement.conclusive == 0 and judgement.browser == SERVED:
        yield Finding("door-silent", {"browser": str(observations.browser.status), "total": str(len(probed))})
    elif judgement.conclusive == 0:
        yield Finding("door-unmeasured")
    served = [label(agent) for agent, probe in probed if probe.outcome == SERVED]
    if served:
        yield Finding("served", {"agents": _subject(served, len(probed), "gets", "get")})
    yield from _contradictions(observations, judgement)


def _whole(browser: Exchange, probed: Sequence[Probed], judgement: Judgement) -> Iterator[Finding]:
    """Yield the one sentence that says how browser and agents are treated, where there is one."""
    turned_away = [probe for _, probe in probed if is_turned_away(probe)]
    served = [label(agent) for agent, probe in probed if probe.outcome == SERVED]
    if judgement.shut_out and not all(asks_for_payment(probe) for probe in turned_away):
        whole = len(turned_away) == len(probed)
        agents = f"all {len(probed)} probed agents" if whole else f"the {len(turned_away)} agents with an answer"
        agents = "the one agent with an answer" if len(turned_away) == 1 else agents
        proof = PROOF if all(probe.controls for probe in turned_away) else ""
        yield Finding(
            "shut-out", {"browser": str(browser.status), "agents": agents, "what": answers(turned_away), "proof": proof}
        )
    elif browser.outcome == CHALLENGED and not served:
        yield Finding("everybody-challenged", {"what": answer(browser)})
    elif browser.outcome == REFUSED and turned_away and not served:
        yield Finding("everybody-refused", {"what": answer(browser)})
    elif browser.outcome in (CHALLENGED, REFUSED) and served:
        kind = "browser-challenged" if browser.outcome == CHALLENGED else "browser-refused"
        agents = _subject(served, len(probed), "gets", "get")
        yield Finding(kind, {"what": answer(browser), "agents": agents[:1].lower() + agents[1:]})


def _turned_away(agent: Agent, probe: Exchange, judgement: Judgement) -> Iterator[Finding]:
    who = f"{label(agent)} ({agent.token})"
    if probe.outcome == CHALLENGED and probe.challenge is not None:
        wall = vendor(probe.challenge.vendor)
        reference = probe.challenge.reference
        yield Finding(
            "agent-challenged",
            {
                "agent": who,
                "vendor": wall.name,
                "status": str(probe.status),
                "signal": quoted(probe.challenge.signal),
                "reference": f"; the {wall.reference} to quote is {clause(reference)}" if reference else "",
            },
        )
    elif probe.outcome == REFUSED and probe.status == 402 and not probe.terms:
        yield Finding("agent-payment-blind", {"agent": who})
    elif probe.outcome == REFUSED and not asks_for_payment(probe):
        kind = "agent-refused" if judgement.browser == SERVED else "agent-refused-too"
        yield Finding(kind, {"agent": who, "status": status(probe.status)})


def _asked_again(probed: Sequence[Probed]) -> Iterator[Finding]:
    """Yield what the agents got that were asked again, alone."""
    same: list[str] = []
    controlled: dict[int, list[str]] = {}
    for agent, probe in probed:
        if probe.controls:
            controlled.setdefault(probe.controls, []).append(label(agent))
            continue
        for first in () if probe.limited else probe.attempts[:1]:
            if (first.status, first.outcome) == (probe.status, probe.outcome):
                same.append(label(agent))
                continue
            before = f"a challenge page ({first.status})" if first.outcome == CHALLENGED else _first(first.status)
            now = {SERVED: f"the homepage ({probe.status})", INCONCLUSIVE: silence(probe)}.get(
                probe.outcome, answer(probe)
            )
            yield Finding("second-answer", {"agent": label(agent), "first": before, "second": now})
    for times, who in controlled.items():
        yield Finding("controlled", {"agents": joined(who), "times": str(times)})
    if same:
        yield Finding("asked-again", {"agents": joined(same)})


def _first(code: int) -> str:
    return status(code) if code else "no answer"


def _dropped(probed: Sequence[Probed]) -> Iterator[Finding]:
    """Yield who is dropped, those of one kind together."""
    kinds: dict[str, list[str]] = {}
    for agent, probe in probed:
        if probe.dropped:
            kinds.setdefault(no_answer(probe), []).append(label(agent))
    for what, who in kinds.items():
        yield Finding("agent-dropped", {"agents": joined(who), "get": "gets" if len(who) == 1 else "get", "what": what})


def _limited(observations: Observations) -> Iterator[Finding]:
    """Yield what the site's limits on requests, and its failures at random, left without a verdict."""
    limited = [probe for probe in observations.homepages if probe.limited]
    if limited:
        names = {agent.key: label(agent) for agent in registry().live} | {BROWSER: "the browser"}
        agents = joined(names[probe.name] for probe in limited)
        yield Finding("limited", {"agents": agents, "what": answers(limited)})
    lost = [probe for probe in observations.exchanges if probe.limited and probe.name in FILE_PROBES]
    if lost:
        one = len(lost) == 1
        facts = {"files": joined(urlsplit(probe.url).path for probe in lost), "what": answers(lost)}
        they = {"they": "it counts" if one else "they count", "them": "it" if one else "them"}
        yield Finding("files-limited", facts | they)
    if observations.random:
        codes = [
            code for probe in observations.homepages for code in (probe.status, *(a.status for a in probe.attempts))
        ]
        failed = sum(500 <= code <= 599 for code in codes)
        yield Finding("random", {"failed": str(failed), "asked": str(len(codes))})


def _inconclusive(browser: Exchange, probed: Sequence[Probed]) -> Iterator[Finding]:
    """Yield the probes that prove nothing, those of one reason together."""
    stopped: dict[tuple[str, int], list[str]] = {}
    if browser.error in UNFOLLOWED:
        stopped[silence(browser), browser.status] = ["the browser"]
    elif browser.outcome == INCONCLUSIVE and not browser.limited:
        yield Finding("browser-silent", {"reason": silence(browser)})
    silent: dict[str, list[str]] = {}
    for agent, probe in probed:
        if probe.error in UNFOLLOWED:
            stopped.setdefault((silence(probe), probe.status), []).append(label(agent))
        elif probe.outcome == INCONCLUSIVE and not probe.limited and not probe.dropped:
            silent.setdefault(silence(probe), []).append(label(agent))
    for (reason, code), who in stopped.items():
        yield Finding("redirect", {"who": joined(who), "reason": reason, "status": str(code)})
    for reason, who in silent.items():
        agents, counts = (f"{who[0]} is", "counts") if len(who) == 1 else (f"{joined(who)} are", "count")
        yield Finding("agent-silent", {"agents": agents, "counts": counts, "reason": reason})
    if browser.error == "tls" or any(probe.error == "tls" for _, probe in probed):
        yield Finding("tls")


def _subject(labels: Sequence[str], total: int, one: str, many: str) -> str:
    """Return who does something, with the verb: ``All 4 probed agents get``, ``ChatGPT gets``."""
    if len(labels) == total:
        return f"All {total} probed agents {many}"
    return f"{joined(labels)} {one if len(labels) == 1 else many}"


def _contradictions(observations: Observations, judgement: Judgement) -> Iterator[Finding]:
    """Yield where robots.txt and the door give a live-probed agent different answers."""
    policies = {policy.token: policy for policy in judgement.agents}
    probed = [
        (agent, probe, policies[agent.token])
        for agent, probe in zip(registry().live, live_exchanges(observations), strict=True)
    ]
    invited = [
        (agent, probe)
        for agent, probe, policy in probed
        if judgement.browser == SERVED
        and is_turned_away(probe)
        and not asks_for_payment(probe)
        and policy.effective in ("open", "partial")
    ]
    if invited:
        there = observations.robots.kind == "rules"
        facts = {
            "permission": "it lets in" if there else "there are no rules, so it lets in",
            "agents": joined(label(agent) for agent, _ in invited),
            "pronoun": "it is" if len(invited) == 1 else "they are",
            "what": answers([probe for _, probe in invited]),
        }
        yield Finding("edge-says-no", facts)
    unheeded = [policy for _, probe, policy in probed if probe.outcome == SERVED and policy.effective == "blocked"]
    if unheeded:
        verb = "is" if len(unheeded) == 1 else "are"
        where = at_lines(policy.line for policy in unheeded)
        yield Finding("edge-says-yes", {"agents": f"{joined(map(name_of, unheeded))} {verb} disallowed{where}"})


def _fixed(observations: Observations) -> Observations:
    """Return what would be seen with every agent let in; a probe without a verdict stays so."""
    if observations.unreachable:
        return observations
    return replace(observations, exchanges=tuple(_let_in(exchange) for exchange in observations.exchanges))


def _let_in(exchange: Exchange) -> Exchange:
    homepage = exchange.name == BROWSER or exchange.name.startswith("agent_")
    if not homepage or not is_turned_away(exchange):
        return exchange
    return replace(exchange, status=200, challenge=None, terms=False, error="", detail="", attempts=(), controls=0)


def _advise(site: Site) -> Advice:
    """Return body and snippet for the wall or edge that turned the agents away."""
    away = site.turned_away
    recipe = edges().for_wba([*_refusers(probe for _, probe in away), *site.edges])
    facts = site.facts() | _refusal(site, away)
    who, host = f"{facts['agents']} {facts['get']}", site.observations.host
    step = fill(recipe.step, facts)
    if away and all(asks_for_payment(probe) for _, probe in away):
        body = (
            f"{who} 402 Payment Required with machine-readable terms on {host}: an agent with a wallet may enter, most"
            " have none. Keep the price for training crawlers, verify agents that act for a person by HTTP Message"
            f" Signatures (RFC 9421, Web Bot Auth) or published address ranges, and serve them free. {step}"
        )
    else:
        body = (
            f"{who} {facts['what']} on {host}{facts['contrast']}. An agent that acts for a person is a customer at the"
            " door: recognise it by its HTTP Message Signature (RFC 9421, Web Bot Auth) or by the address ranges that"
            f" its operator publishes, let it in, and keep refusing whoever only borrows its name. {step}"
        )
    parts = recipe.part or edges().wba["request"].part
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
        if probe.challenge is not None:
            yield probe.challenge.vendor
            continue
        fields = dict(probe.headers)
        server = re.split(r"[/ ]", fields.get("server", "").lower())[0]
        if server:
            yield SERVERS.get(server, server)
        elif "date" not in fields and fields.get("cache-control") == "no-cache":
            yield "haproxy"


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
        "range_comments": "\n".join(f"# {agent.token}: {agent.ip_ranges}" for agent in agents if agent.ip_ranges),
        "tester_pattern": re.escape(site.testers),
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


CHECK = Check(
    component="door",
    fix="wba",
    label="Agents served",
    earns="the share of conclusive agent probes that were served the homepage",
    lacking="an agent is refused or challenged",
    title="Verify agents instead of blocking them",
    effort=7,
    file="server/agents.txt",
    proof="curl -sSI -A ChatGPT-User {origin}/ answers 200 from an address that the rule knows. The points show here"
    " when the rule knows the address that you scan from: its line for the tester, which you remove afterwards.",
    points=POINTS,
    pillar={"v0.1": "access", "v0.2": "welcome"},
    measure=_measure,
    findings=_findings,
    fixed=_fixed,
    advise=_advise,
    sentences=SENTENCES,
    detail="door",
    judged=True,
    convert=_convert,
)

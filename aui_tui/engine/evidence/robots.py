"""Findings in robots.txt: who is kept out and by which line, and where it contradicts the door."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from aui_tui.engine.evidence.finding import Finding
from aui_tui.engine.judge import Judgement, asks_for_payment, live_exchanges
from aui_tui.engine.points import ai_input_refused
from aui_tui.engine.wording import answers, at_lines, counted, joined, label, out_of, quoted, silence, status
from aui_tui.records.observations import CHALLENGED, INCONCLUSIVE, REFUSED, SERVED, Exchange, Observations, RobotsPolicy
from aui_tui.records.registry import registry
from aui_tui.records.vocabulary import AGENTS_TOTAL, CRAWLERS_TOTAL

WITHHELD = frozenset({401, 403, 429, 451})
"""Statuses that RFC 9309 reads as no rules although the site may mean a no."""


def robots(observations: Observations, judgement: Judgement) -> Iterator[Finding]:
    """Yield what robots.txt says to the tested agents and crawlers."""
    yield from _file(observations)
    if observations.robots.kind == "rules":
        yield from _blocked(judgement)
        yield from _partial(judgement)
        yield from _named(judgement)
        yield from _crawlers(judgement)
    if observations.robots.kind in ("rules", "html") and judgement.disallowed == 0:
        yield Finding("robots-open", {"total": str(AGENTS_TOTAL)})
    yield from _contradictions(observations, judgement)
    yield from _signal(observations)


def _file(observations: Observations) -> Iterator[Finding]:
    facts, probe = observations.robots, observations.exchange("robots")
    if facts.kind == "unknown":
        yield Finding("robots-unknown", {"what": fetched(probe)})
    elif facts.kind == "html":
        yield Finding("robots-html", {"status": str(probe.status)})
    elif facts.kind == "none":
        kind = "robots-withheld" if probe.status in WITHHELD else "robots-none"
        yield Finding(kind, {"status": status(probe.status)})
    if facts.cut:
        yield Finding("robots-cut")


def _blocked(judgement: Judgement) -> Iterator[Finding]:
    blocked = [policy for policy in judgement.agents if policy.effective == "blocked"]
    default = [policy for policy in blocked if policy.policy == "unlisted"]
    named = [policy for policy in blocked if policy.policy != "unlisted"]
    if default:
        first = default[0]
        facts = {"line": str(first.line), "rule": quoted(first.rule)}
        yield Finding("robots-wildcard", facts | {"count": out_of(len(default), AGENTS_TOTAL)})
    if named:
        facts = {"count": out_of(len(named), AGENTS_TOTAL), "agents": by_line(named)}
        yield Finding("robots-blocked", facts)


def _partial(judgement: Judgement) -> Iterator[Finding]:
    named = [policy for policy in judgement.agents if policy.policy == "partial"]
    if named:
        yield Finding("robots-partial", {"count": counted(len(named), "agent"), "agents": by_line(named, rules=True)})
    default = [policy for policy in judgement.agents if policy.policy == "unlisted" and policy.effective == "partial"]
    if default:
        facts = {"line": str(default[0].line), "rule": quoted(default[0].rule)}
        yield Finding("robots-partial-wildcard", facts | {"count": counted(len(default), "tested agent")})


def _named(judgement: Judgement) -> Iterator[Finding]:
    for policy in judgement.agents:
        if policy.policy == "allowed":
            where = f"line {policy.line}, {quoted(policy.rule)}" if policy.rule else f"as {quoted(policy.spelling)}"
            yield Finding("robots-named", {"agent": f"{name_of(policy)} ({policy.token})", "where": where})


def _crawlers(judgement: Judgement) -> Iterator[Finding]:
    blocked = [policy.token for policy in judgement.crawlers if policy.policy == "blocked"]
    if blocked:
        facts = {"count": out_of(len(blocked), CRAWLERS_TOTAL), "crawlers": joined(blocked)}
        yield Finding("crawlers", facts)


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
        and probe.outcome in (CHALLENGED, REFUSED)
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


def _signal(observations: Observations) -> Iterator[Finding]:
    facts = observations.robots
    line = str(facts.signal_line)
    if not facts.signal_line:
        if facts.kind != "unknown":
            yield Finding("signal-none")
    elif ai_input_refused(facts.signal):
        yield Finding("signal-no-input", {"line": line})
    else:
        yield Finding("signal", {"line": line, "value": quoted(facts.signal)})


def fetched(probe: Exchange) -> str:
    """Return what became of the fetch of robots.txt, as a predicate."""
    if probe.outcome == INCONCLUSIVE:
        return f"could not be had ({silence(probe)})"
    return f"answers {status(probe.status)}"


def name_of(policy: RobotsPolicy) -> str:
    """Return the label of the agent that a policy is about."""
    agent = registry().agent(policy.token)
    return label(agent) if agent else policy.token


def by_line(policies: Iterable[RobotsPolicy], *, rules: bool = False) -> str:
    """Return the agents with the lines that decide: ``Claude (line 12, as “claude-user”), Kimi and Devin (line 20)``.

    ``rules`` adds the line as written. The spelling is told of an agent that stands alone and is written otherwise.
    """
    groups: dict[int, list[RobotsPolicy]] = {}
    for policy in policies:
        groups.setdefault(policy.line, []).append(policy)
    told = []
    for line, group in groups.items():
        rule = f", {quoted(group[0].rule)}" if rules else ""
        alone = len(group) == 1 and group[0].spelling not in ("", group[0].token)
        spelling = f", as {quoted(group[0].spelling)}" if alone else ""
        told.append(f"{joined(map(name_of, group))} (line {line}{rule}{spelling})")
    return joined(told)

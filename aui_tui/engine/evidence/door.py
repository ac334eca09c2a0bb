"""Findings at the door: what the browser and each agent got, and what the difference means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aui_tui.engine.evidence.finding import Finding
from aui_tui.engine.judge import Judgement, asks_for_payment, live_exchanges
from aui_tui.engine.wording import answer, answers, clause, joined, label, quoted, silence, status, vendor
from aui_tui.records.observations import (
    CHALLENGED,
    INCONCLUSIVE,
    REFUSED,
    SERVED,
    UNFOLLOWED,
    Exchange,
    Observations,
)
from aui_tui.records.registry import Agent, registry

Probed = tuple[Agent, Exchange]


def unreachable(observations: Observations) -> Iterator[Finding]:
    """Yield why no homepage probe got a usable answer."""
    reasons = joined(_no_use(probe) for probe in observations.homepages)
    yield Finding("unreachable", {"host": observations.host, "reasons": reasons})
    if any(probe.error == "tls" for probe in observations.homepages):
        yield Finding("tls")


def door(observations: Observations, judgement: Judgement) -> Iterator[Finding]:
    """Yield what browser and agents got."""
    probed = list(zip(registry().live, live_exchanges(observations), strict=True))
    yield from _whole(observations.browser, probed, judgement)
    for agent, probe in probed:
        yield from _turned_away(agent, probe, judgement)
    asked = [label(agent) for agent, probe in probed if asks_for_payment(probe)]
    if asked:
        yield Finding("agent-payment", {"agents": _subject(asked, len(probed), "is", "are")})
    if any(probe.outcome in (CHALLENGED, REFUSED) for _, probe in probed):
        yield Finding("probe-limit")
    yield from _asked_again(probed)
    yield from _inconclusive(observations.browser, probed)
    if judgement.conclusive == 0 and judgement.browser == SERVED:
        yield Finding("door-silent", {"browser": str(observations.browser.status), "total": str(len(probed))})
    elif judgement.conclusive == 0:
        yield Finding("door-unmeasured")
    served = [label(agent) for agent, probe in probed if probe.outcome == SERVED]
    if served:
        yield Finding("served", {"agents": _subject(served, len(probed), "gets", "get")})


def _whole(browser: Exchange, probed: Sequence[Probed], judgement: Judgement) -> Iterator[Finding]:
    """Yield the one sentence that says how browser and agents are treated, where there is one."""
    turned_away = [probe for _, probe in probed if probe.outcome in (CHALLENGED, REFUSED)]
    served = [label(agent) for agent, probe in probed if probe.outcome == SERVED]
    if judgement.shut_out and not all(asks_for_payment(probe) for probe in turned_away):
        whole = len(turned_away) == len(probed)
        agents = f"all {len(probed)} probed agents" if whole else f"the {len(turned_away)} agents with an answer"
        agents = "the one agent with an answer" if len(turned_away) == 1 else agents
        yield Finding("shut-out", {"browser": str(browser.status), "agents": agents, "what": answers(turned_away)})
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
    """Yield what the paced second probe of a refused agent brought."""
    same: list[str] = []
    for agent, probe in probed:
        for first in probe.attempts[:1]:
            if (first.status, first.outcome) == (probe.status, probe.outcome):
                same.append(label(agent))
                continue
            before = f"a challenge page ({first.status})" if first.outcome == CHALLENGED else status(first.status)
            now = {SERVED: f"the homepage ({probe.status})", INCONCLUSIVE: silence(probe)}.get(
                probe.outcome, answer(probe)
            )
            yield Finding("second-answer", {"agent": label(agent), "first": before, "second": now})
    if same:
        yield Finding("asked-again", {"agents": joined(same)})


def _inconclusive(browser: Exchange, probed: Sequence[Probed]) -> Iterator[Finding]:
    """Yield the probes that prove nothing, those of one reason together."""
    stopped: dict[tuple[str, int], list[str]] = {}
    if browser.error in UNFOLLOWED:
        stopped[silence(browser), browser.status] = ["the browser"]
    elif browser.outcome == INCONCLUSIVE:
        yield Finding("browser-silent", {"reason": silence(browser)})
    silent: dict[str, list[str]] = {}
    for agent, probe in probed:
        if probe.error in UNFOLLOWED:
            stopped.setdefault((silence(probe), probe.status), []).append(label(agent))
        elif probe.outcome == INCONCLUSIVE:
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


def _no_use(probe: Exchange) -> str:
    return silence(probe) if probe.outcome == INCONCLUSIVE else f"status {status(probe.status)}"

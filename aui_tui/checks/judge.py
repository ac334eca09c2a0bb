"""The meaning of what one scan saw: readings, verdicts and the stance. Pure; no points are given here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from aui_tui.model.observations import Exchange, Observations, RobotsPolicy
from aui_tui.model.points import UNREACHABLE, stance_of
from aui_tui.model.registry import Agent, registry
from aui_tui.model.surfaces import SURFACES, Surface
from aui_tui.model.tasks import CLOSED, REFUSED, UNKNOWN, WALLED, TaskReport
from aui_tui.model.verdicts import AWAY, Reading
from aui_tui.model.vocabulary import CHALLENGED, INCONCLUSIVE, SERVED

SHARED_WALL: Final = 2
"""This many live answers, all of them challenges, wall the surfaces that are judged by robots.txt alone."""
Probed = tuple[Agent, Exchange]
"""A live-probed agent and the answer it got."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The observations of one scan and what they mean.

    ``readings``: what the answer to each live-probed agent means beside the browser's, by slot. ``verdicts``: matrix
    slug to verdict. ``agents``, ``crawlers``: robots.txt policies in registry order, one for every
    tested token; ``told``: the same of the robots.txt that each agent gets.
    """

    observations: Observations
    readings: Mapping[str, Reading]
    verdicts: Mapping[str, str]
    stance: str
    agents: tuple[RobotsPolicy, ...]
    crawlers: tuple[RobotsPolicy, ...]
    told: tuple[RobotsPolicy, ...]

    @property
    def probed(self) -> list[Probed]:
        """The live-probed agents in registry order with their answers; status 0 for a probe that was not made."""
        return [(agent, self.observations.exchange(agent.key)) for agent in registry().live]

    @property
    def turned_away(self) -> list[Probed]:
        """The live-probed agents that the site refuses, challenges or drops, while it lets others in."""
        return [pair for pair in self.probed if self.readings[pair[0].key].outcome in AWAY]

    @property
    def served(self) -> int:
        """How many live-probed agents got the homepage."""
        return sum(reading.outcome == SERVED for reading in self.readings.values())

    @property
    def conclusive(self) -> int:
        """How many live-probed agents got an answer that settles whether they are let in."""
        return sum(reading.outcome != INCONCLUSIVE for reading in self.readings.values())

    @property
    def blocked(self) -> list[RobotsPolicy]:
        """The agents whose effective group in robots.txt blocks."""
        return [policy for policy in self.agents if policy.effective == "blocked"]

    @property
    def told_no(self) -> list[RobotsPolicy]:
        """The agents that the robots.txt which they get shuts out."""
        return [policy for policy in self.told if policy.effective == "blocked"]

    @property
    def restricted(self) -> list[RobotsPolicy]:
        """The agents whose own group in robots.txt restricts paths."""
        return [policy for policy in self.agents if policy.policy == "partial"]

    @property
    def shut_out(self) -> bool:
        """The browser got the page and no agent that got an answer did."""
        return self.observations.browser.outcome == SERVED and self.conclusive > 0 and self.served == 0


def judge(observations: Observations) -> Judgement:
    """Return the judgement of one scan."""
    readings = observations.readings
    agents = observations.robots.policies(agent.token for agent in registry().agents)
    crawlers = observations.robots.policies(crawler.token for crawler in registry().crawlers)
    policies = observations.told(registry().agents)
    by_key = {agent.key: policy for agent, policy in zip(registry().agents, policies, strict=True)}
    judgement = Judgement(
        observations=observations,
        readings=MappingProxyType(readings),
        verdicts=MappingProxyType(
            {surface.slug: _verdict(surface, observations, readings, by_key) for surface in SURFACES}
        ),
        stance=UNREACHABLE.stance,
        agents=agents,
        crawlers=crawlers,
        told=policies,
    )
    return replace(judgement, stance=_stance(judgement))


def _stance(judgement: Judgement) -> str:
    observations = judgement.observations
    if observations.refuses_everybody:
        return "Selective"  # no agent fares worse than a person
    if observations.unreachable:
        return UNREACHABLE.stance
    return stance_of(
        served=judgement.served,
        conclusive=judgement.conclusive,
        browser_challenged=observations.browser.outcome == CHALLENGED,
        only_offers=all(probe.asks_for_payment for _, probe in judgement.turned_away),
        disallowed=len(judgement.told_no),
    )


def _verdict(
    surface: Surface, observations: Observations, readings: Mapping[str, Reading], policies: Mapping[str, RobotsPolicy]
) -> str:
    if surface.source == "none":
        return _driven_verdict(observations.tasks, observations.browser.outcome)
    if surface.source == "live":
        by_robots = {"blocked": "disallowed", "partial": "partial"}.get(policies[surface.live].effective, "allowed")
        return readings[surface.live].matrix or by_robots
    answers = [reading.outcome for reading in readings.values() if reading.outcome != INCONCLUSIVE]
    if len(answers) >= SHARED_WALL and all(answer == CHALLENGED for answer in answers):
        return "walled"
    effects = [policies[key].effective for key in surface.agents]
    if "unknown" in effects:
        return "untested"
    if all(effect == "blocked" for effect in effects):
        return "disallowed"
    return "partial" if any(effect in ("blocked", "partial") for effect in effects) else "allowed-robots"


def _driven_verdict(run: TaskReport | None, browser: str) -> str:
    """Return the verdict of an agent that drives a browser: how the run of the tasks was received."""
    if run is None or run.door == UNKNOWN:
        return "walled" if browser == CHALLENGED else "untested"
    if run.door == REFUSED:
        return "blocked" if browser == SERVED else "walled"
    if run.door in (WALLED, CLOSED):
        return "walled" if run.door == WALLED else "disallowed"
    return "allowed" if run.robots == "open" else "partial"

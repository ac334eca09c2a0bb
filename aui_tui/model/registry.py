"""The tested agents, crawlers and matrix surfaces, and the starter list of hosts.

Every agent, crawler and surface has a position (``key``), a word that records carry (``token`` or ``slug``), the name
of the product (``label``), other names (``aliases``) and the company (``operator``); agents and crawlers have a shorter
name for sentences too (``short``). :meth:`Registry.named` finds an entry by any of them. The starter list holds
well-known public hosts with display name and category: facts only, no opinion and no ranking.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar, Final, Literal

import msgspec

from aui_tui.model.decoding import convert
from aui_tui.model.surfaces import SURFACES, RegistryEntry, Surface
from aui_tui.packaged import read_table

PURPOSES: Final[Mapping[str, str]] = {
    "user-directed agent": "user",
    "search crawler": "search",
    "training crawler": "training",
    "ads crawler": "ads",
}
"""What a client is for, in one word, by its role."""


class Client(RegistryEntry, frozen=True, kw_only=True):
    """What sends requests under a robots.txt product token.

    ``honours_robots``: yes, no, reserved (where the operator decides), unstated. ``confidence``: who says all this,
    ``listed`` when it is not the operator; ``doc`` is the source, ``checked`` the day of the last look.
    """

    token: str
    role: str
    short: str = ""
    kind: str = "crawler"
    confidence: str = "vendor"
    honours_robots: str = "unstated"
    ip_ranges: str = ""
    doc: str = ""
    checked: str = ""
    group: ClassVar[Literal["agent", "crawler", "other"]] = "other"

    @property
    def is_silent(self) -> bool:
        """It is a name for robots.txt alone, under which nothing sends requests."""
        return self.kind == "control-token"

    @property
    def purpose(self) -> str:
        """What the client is for: ``user``, ``search``, ``training`` or ``ads``."""
        return PURPOSES[self.role]


class Agent(Client, frozen=True, kw_only=True):
    """A user-directed agent: its slot (``agent_01``), robots.txt product token, names and User-Agent string."""

    user_agent: str = ""
    live_probe: bool = False
    status: str = "active"
    signature_directory: str = ""
    group = "agent"


class Crawler(Client, frozen=True, kw_only=True):
    """A training or search crawler: reported, not scored."""

    group = "crawler"


class Registry(msgspec.Struct, frozen=True, kw_only=True):
    """The agents and crawlers that the records name, in positions."""

    version: str
    browser_user_agent: str
    chrome_version: str
    chrome_brands: str
    agents: tuple[Agent, ...]
    crawlers: tuple[Crawler, ...]
    others: tuple[Client, ...]

    @property
    def clients(self) -> tuple[Client, ...]:
        """All that send requests under a name, or are named by robots.txt."""
        return (*self.agents, *self.crawlers, *self.others)

    @property
    def live(self) -> tuple[Agent, ...]:
        """The live-probed agents, ``agent_01`` to ``agent_04``."""
        return tuple(agent for agent in self.agents if agent.live_probe)

    def agent(self, name: str) -> Agent | None:
        """Return the agent whose slot, token or alias is ``name`` (exact spelling first, then case ignored)."""
        return _agents_by_name(self).get(name) or _agents_by_name(self).get(name.lower())

    def user_agent(self, name: str) -> str:
        """Return the User-Agent of the probe ``name``: the agent's own for an agent slot, else the browser's."""
        agent = self.agent(name)
        return agent.user_agent if agent is not None else self.browser_user_agent

    def named(self, word: str) -> tuple[Surface | Agent, ...]:
        """Return what ``word`` names: one surface, else one agent, else every entry of a company; empty for nothing.

        Accepted are slot, slug, token, alias, label and short label. Case does not count, and a space, a hyphen and
        an underscore are alike; of two casings of one token the exact spelling wins.
        """
        exact = self.agent(word) if word in _agents_by_name(self) else None
        if exact is not None:
            return (exact,)
        folded = fold(word)
        entries: tuple[Surface | Agent, ...] = (*SURFACES, *self.agents)
        for entry in entries:
            if folded in names_of(entry):
                return (entry,)
        return tuple(entry for entry in entries if folded == fold(entry.operator))

    def surfaces_of(self, word: str) -> tuple[Surface, ...]:
        """Return the matrix surfaces that ``word`` names: itself, the one of an agent, the tested ones of a company."""
        entries = self.named(word)
        matching = [entry for entry in entries if isinstance(entry, Surface)]
        if len(entries) > 1:
            matching = [surface for surface in matching if surface.source != "none"]
        if not matching:
            keys = {entry.key for entry in entries}
            matching = [surface for surface in SURFACES if keys & set(surface.agents)]
        return tuple(matching)


def fold(name: str) -> str:
    """Return ``name`` as it is compared: case, and the difference of space, hyphen and underscore, left out."""
    return " ".join(name.replace("-", " ").replace("_", " ").casefold().split())


@cache
def names_of(entry: Surface | Client) -> frozenset[str]:
    """Return every name of one entry as :func:`fold` compares it, its company left out."""
    words = (entry.slug,) if isinstance(entry, Surface) else (entry.token, entry.short)
    return frozenset(fold(name) for name in (entry.key, entry.label, *words, *entry.aliases))


@cache
def _agents_by_name(registry: Registry) -> dict[str, Agent]:
    names = [(name, agent) for agent in registry.agents for name in (agent.token, agent.key, *agent.aliases)]
    return dict(reversed([*names, *((name.lower(), agent) for name, agent in names)]))  # the first of a name counts


@cache
def registry() -> Registry:
    """Return the packaged registry (``registry.toml``), read once."""
    data = read_table("model/registry.toml", dict[str, Any])
    chrome: str = data["identity"]["chrome_version"]
    for entry in (*data["agent"], *data["crawler"]):
        entry["user_agent"] = entry["user_agent"].replace("{chrome}", chrome)
    return Registry(
        version=data["registry"]["version"],
        chrome_version=chrome,
        chrome_brands=data["identity"]["chrome_brands"],
        browser_user_agent=data["identity"]["browser_user_agent"].replace("{chrome}", chrome),
        agents=convert(_entries(data["agent"]), tuple[Agent, ...]),
        crawlers=convert(_entries(data["crawler"]), tuple[Crawler, ...]),
        others=convert(_entries(data["other"]), tuple[Client, ...]),
    )


def _entries(tables: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"short": table["label"], **table} for table in tables]

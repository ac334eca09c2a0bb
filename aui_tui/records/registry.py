"""The tested agents, crawlers and matrix surfaces, in the order of the specification (2.2, 2.4)."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec

FILE: Final = Path(__file__).with_name("registry.toml")
_HEADING: Final = re.compile(r"^\[+([a-z_]+)", re.MULTILINE)


class Agent(msgspec.Struct, frozen=True, kw_only=True):
    """A user-directed agent: its slot (``agent_01``), robots.txt product token, label and User-Agent string."""

    key: str
    token: str
    label: str
    operator: str
    user_agent: str = ""
    live_probe: bool = False
    aliases: tuple[str, ...] = ()
    kind: str = ""
    status: str = "active"
    doc: str = ""
    honours_robots: str = "unstated"
    ip_ranges: str = ""
    web_bot_auth: str = "not-documented"
    signature_directory: str = ""
    matrix: str = ""


class Crawler(msgspec.Struct, frozen=True, kw_only=True):
    """A training or search crawler: reported, not scored."""

    key: str
    token: str
    label: str
    operator: str
    role: str = ""
    doc: str = ""


class Surface(msgspec.Struct, frozen=True, kw_only=True):
    """A matrix key: ``source`` is ``none``, ``live`` (probe ``live``) or ``robots`` (policy of ``agents``)."""

    key: str
    slug: str
    label: str
    operator: str
    surface: str
    source: str
    live: str = ""
    agents: tuple[str, ...] = ()
    doc: str = ""


class Registry(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that the records name, in positions."""

    version: str
    browser_user_agent: str
    chrome_version: str
    agents: tuple[Agent, ...]
    crawlers: tuple[Crawler, ...]
    surfaces: tuple[Surface, ...]

    @property
    def live(self) -> tuple[Agent, ...]:
        """The live-probed agents, ``agent_01`` to ``agent_04``."""
        return tuple(agent for agent in self.agents if agent.live_probe)

    def agent(self, name: str) -> Agent | None:
        """Return the agent whose slot, token or alias is ``name`` (exact spelling first, then case ignored)."""
        return _agents_by_name(self).get(name) or _agents_by_name(self).get(name.lower())

    def surface(self, name: str) -> Surface | None:
        """Return the matrix surface whose slot or slug is ``name``."""
        return next((s for s in self.surfaces if name in (s.key, s.slug)), None)


@cache
def _agents_by_name(registry: Registry) -> dict[str, Agent]:
    found: dict[str, Agent] = {}
    for agent in registry.agents:
        for name in (agent.token, agent.key, *agent.aliases):
            found.setdefault(name, agent)
    for agent in registry.agents:
        for name in (agent.token, *agent.aliases):
            found.setdefault(name.lower(), agent)
    return found


@cache
def surfaces() -> tuple[Surface, ...]:
    """Return the matrix surfaces alone: a list needs no more of the registry, and this much is read quickly."""
    return msgspec.convert(_read("matrix")["matrix"], tuple[Surface, ...])


@cache
def registry() -> Registry:
    """Return the packaged registry (``registry.toml``), read once."""
    data = _read("registry", "identity", "agent", "crawler")
    chrome: str = data["identity"]["chrome_version"]
    for entry in (*data["agent"], *data["crawler"]):
        entry["user_agent"] = entry["user_agent"].replace("{chrome}", chrome)
    return Registry(
        version=data["registry"]["version"],
        chrome_version=chrome,
        browser_user_agent=data["identity"]["browser_user_agent"].replace("{chrome}", chrome),
        agents=msgspec.convert(data["agent"], tuple[Agent, ...]),
        crawlers=msgspec.convert(data["crawler"], tuple[Crawler, ...]),
        surfaces=surfaces(),
    )


def _read(*names: str) -> dict[str, Any]:
    """Return the top-level tables ``names`` of the file; every heading in it begins a line."""
    text = FILE.read_text(encoding="utf-8")
    headings = list(_HEADING.finditer(text))
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    parts = [text[heading.start() : end] for heading, end in zip(headings, ends, strict=True) if heading[1] in names]
    return tomllib.loads("".join(parts))

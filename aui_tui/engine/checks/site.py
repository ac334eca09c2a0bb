"""The site that advice is written for: its names in the forms that a snippet needs, and where its settings lie."""

from __future__ import annotations

import html
import json
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

import msgspec

from aui_tui.engine.judge import Judgement, is_turned_away, live_exchanges
from aui_tui.records.decoding import convert
from aui_tui.records.observations import Exchange, Observations
from aui_tui.records.registry import Agent, registry

ABOUT: Final = MappingProxyType(
    {
        "Travel": "Trips, fares and bookings at {name}.",
        "Social & media": "What is published and discussed at {name}.",
        "Grocery & food": "Groceries and meals to order at {name}.",
        "Retail": "Products, prices and orders at {name}.",
        "Tickets": "Events and tickets at {name}.",
        "Real estate": "Homes to buy and rent at {name}.",
        "Tech": "Products and services of {name}.",
        "Developer": "Documentation and interfaces of {name}.",
        "Uncategorized": "What {name} offers and how to use it.",
    }
)
"""One sentence on a site, by its category."""


NOBODY: Final = "192.0.2.1"


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One file of a recipe: its name in the folder of a plan, where it goes, its text, and how it begins a comment."""

    file: str
    place: str
    text: str
    comment: str = "#"


class Recipe(msgspec.Struct, frozen=True, kw_only=True):
    """What a fix means on one wall, edge or server: a ``step`` for the body, and its files if any.

    ``check``: the command by which the server checks its settings before it takes them. ``asks``: the change request
    belongs to its files.
    """

    step: str = ""
    check: str = ""
    asks: bool = False
    part: tuple[Part, ...] = ()


class Edges(msgspec.Struct, frozen=True, kw_only=True):
    """Recipes of the fixes ``wba`` and ``robots``, and which name of a wall or edge leads to which recipe."""

    recipe: dict[str, str]
    wba: dict[str, Recipe]
    robots: dict[str, Recipe]

    def for_wba(self, names: Iterable[str]) -> Recipe:
        """Return the recipe of the first name that has one, else the generic one."""
        keys = (self.recipe.get(name, "") for name in names)
        return next((self.wba[key] for key in keys if key in self.wba), self.wba["generic"])

    def for_robots(self, names: Iterable[str]) -> Recipe:
        """Return the recipe that stands first in the table among those of ``names``, else the generic one."""
        keys = {self.recipe.get(name, "") for name in names}
        return next((recipe for key, recipe in self.robots.items() if key in keys), self.robots["generic"])


@cache
def edges() -> Edges:
    """Return the packaged recipes (``edges.toml``)."""
    text = files("aui_tui.engine.checks").joinpath("edges.toml").read_text(encoding="utf-8")
    return convert(tomllib.loads(text), Edges)


@dataclass(frozen=True, slots=True)
class Site:
    """One scanned site with its judgement, display name and category.

    ``together``: fixes that are carried out at once, so that their files agree. ``public_url``: the address of the
    site for the public where it was scanned under another. ``tester``: the address from which the scan is repeated.
    """

    observations: Observations
    judgement: Judgement
    name: str
    category: str
    together: frozenset[str] = frozenset()
    public_url: str = ""
    tester: str = ""

    @property
    def origin(self) -> str:
        """Scheme, host and port by which the public reaches the site, without a final slash."""
        return (self.public_url or self.observations.origin).rstrip("/")

    @property
    def is_local(self) -> bool:
        """The site was scanned on this machine, and nothing says where the public finds it."""
        return not self.public_url and _is_loopback(self.observations.origin)

    @property
    def is_elsewhere(self) -> bool:
        """The public finds the site at another address than the one that was scanned."""
        return bool(self.public_url) and self.origin != self.observations.origin.rstrip("/")

    @property
    def testers(self) -> str:
        """The address from which the scan is repeated; one of documentation (RFC 5737) where it is not known."""
        if self.tester:
            return self.tester
        return "127.0.0.1" if _is_loopback(self.observations.origin) else NOBODY

    @property
    def hostname(self) -> str:
        """The host alone, without scheme and port."""
        return urlsplit(self.origin).hostname or self.observations.host

    @property
    def title(self) -> str:
        """The name on one line, never empty; an address that the public does not use is no name."""
        known = " ".join(self.name.split())
        return self.hostname if self.public_url and known == self.observations.host else known or self.hostname

    @property
    def about(self) -> str:
        """One sentence on the site, by its category."""
        return ABOUT.get(self.category, ABOUT["Uncategorized"]).replace("{name}", self.title)

    @property
    def slug(self) -> str:
        """The host in letters, digits and hyphens."""
        return re.sub(r"[^a-z0-9]+", "-", self.hostname).strip("-") or "site"

    @property
    def turned_away(self) -> list[tuple[Agent, Exchange]]:
        """The live-probed agents that were challenged, refused or dropped."""
        probed = zip(registry().live, live_exchanges(self.observations), strict=True)
        return [(agent, probe) for agent, probe in probed if is_turned_away(probe)]

    @property
    def edges(self) -> list[str]:
        """Names of walls met by a homepage probe, then of the detected edge, each once."""
        probes = (*(probe for _, probe in self.turned_away), self.observations.browser)
        walls = (probe.challenge.vendor for probe in probes if probe.challenge is not None and not probe.another_page)
        return list(dict.fromkeys((*walls, *self.observations.edge.split())))

    def facts(self) -> dict[str, str]:
        """Return what any text may say of the site."""
        return {
            "host": self.observations.host,
            "hostname": self.hostname,
            "origin": self.origin,
            "slug": self.slug,
            "name": self.title,
            "name_html": html.escape(self.title),
            "about": self.about,
            "about_html": html.escape(self.about),
            "tester": self.testers,
        }


def _is_loopback(origin: str) -> bool:
    host = urlsplit(origin).hostname or ""
    return host == "localhost" or host.endswith(".localhost") or host == "::1" or host.startswith("127.")


def script_json(value: object) -> str:
    """Return JSON that may stand inside a script element: no ``<`` can end it."""
    return json.dumps(value, ensure_ascii=False, indent=2).replace("<", "\\u003c")

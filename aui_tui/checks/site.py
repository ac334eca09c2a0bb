"""The site that advice is for: its names in the forms that a snippet needs, and a recipe for its server."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

import msgspec

from aui_tui.checks.judge import Judgement
from aui_tui.model.observations import Observations
from aui_tui.packaged import read_table
from aui_tui.text import is_loopback

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


UNKNOWN_TESTER: Final = "192.0.2.1"
"""An address for documentation (RFC 5737), which the user replaces by the one that scans."""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One file of a recipe: its name in the folder of a plan, where it goes, its text, and how it begins a comment."""

    file: str
    place: str
    text: str
    comment: str = "#"


class Recipe(msgspec.Struct, frozen=True, kw_only=True):
    """What a fix means on one wall, edge or server: a ``step`` for the body, and its files if any.

    ``check``: the command by which the server checks its settings before it takes them. ``asks``: the
    change request (recipe ``request``) is added to its files; without files it stands alone.
    """

    step: str = ""
    check: str = ""
    asks: bool = False
    part: tuple[Part, ...] = ()


class Edges(msgspec.Struct, frozen=True, kw_only=True):
    """Recipes of the fixes ``wba`` and ``robots``, and which name of a wall or edge leads to which recipe.

    ``rule``: what the cause of a refusal means for its fix, by ``Cause.by``; ``field``: what that cause's fields are
    called.
    """

    recipe: dict[str, str]
    rule: dict[str, str]
    field: dict[str, str]
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
    return read_table("checks/edges.toml", Edges)


@dataclass(frozen=True, slots=True)
class Site:
    """One judged site with its display name and category.

    ``together``: fixes that are carried out at once, so that their files agree. ``public_url``: the address of the site
    for the public where it was scanned under another. ``tester``: the IP address that scans again, empty when it is not
    known.
    """

    judgement: Judgement
    name: str
    category: str
    together: frozenset[str] = frozenset()
    public_url: str = ""
    tester: str = ""

    @property
    def observations(self) -> Observations:
        """What the scan saw."""
        return self.judgement.observations

    @property
    def origin(self) -> str:
        """Scheme, host and port by which the public reaches the site, without a final slash."""
        return (self.public_url or self.observations.site_origin).rstrip("/")

    @property
    def was_scanned_here(self) -> bool:
        """The site was scanned on this machine."""
        return is_loopback(urlsplit(self.observations.origin).hostname or "")

    @property
    def is_local(self) -> bool:
        """The site was scanned on this machine, and nothing says where the public finds it."""
        return self.was_scanned_here and not self.public_url

    @property
    def is_elsewhere(self) -> bool:
        """The public finds the site at another address than the one that was scanned."""
        return bool(self.public_url) and self.origin != self.observations.site_origin

    @property
    def tester_address(self) -> str:
        """The IP address that scans again: ``tester``, else loopback for a site on this machine, else an example."""
        if self.tester:
            return self.tester
        return "127.0.0.1" if self.was_scanned_here else UNKNOWN_TESTER

    @property
    def hostname(self) -> str:
        """The host alone, without scheme and port."""
        return urlsplit(self.origin).hostname or self.observations.host

    @property
    def title(self) -> str:
        """The display name on one line, else the title of the homepage, else the host; never empty."""
        name = " ".join(self.name.split())
        if name and name != self.observations.host:
            return name
        titled = re.split(r"\s[|·•–—:-]\s", self.observations.page.title, maxsplit=1)[0].strip()
        return titled or (self.hostname if self.public_url else name) or self.hostname

    @property
    def about(self) -> str:
        """One sentence on the site: its own, else one by its category."""
        if self.observations.page.description:
            return self.observations.page.description
        return ABOUT.get(self.category, ABOUT["Uncategorized"]).replace("{name}", self.title)

    @property
    def slug(self) -> str:
        """The host in letters, digits and hyphens."""
        return re.sub(r"[^a-z0-9]+", "-", self.hostname).strip("-") or "site"

    @property
    def edges(self) -> list[str]:
        """Names of the walls that the homepage probes met, then of the detected edge: keys of ``Edges.recipe``."""
        probes = (*(probe for _, probe in self.judgement.turned_away), self.observations.browser)
        walls = (probe.challenge.vendor for probe in probes if probe.challenge is not None and not probe.another_page)
        return list(dict.fromkeys((*walls, *self.observations.edge.split())))

    def facts(self) -> dict[str, str]:
        """Return the values for the places that any text of advice may have."""
        return {
            "host": self.observations.host,
            "hostname": self.hostname,
            "origin": self.origin,
            "slug": self.slug,
            "name": self.title,
            "name_html": html.escape(self.title),
            "about": self.about,
            "about_html": html.escape(self.about),
            "tester": self.tester_address,
        }


def script_json(value: object) -> str:
    """Return JSON that may stand inside a script element: no ``<`` can end it."""
    return json.dumps(value, ensure_ascii=False, indent=2).replace("<", "\\u003c")

"""The site that advice speaks of: its names in the forms that a snippet needs."""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from aui_tui.engine.advice.texts import texts
from aui_tui.engine.judge import Judgement, live_exchanges
from aui_tui.engine.wording import fill
from aui_tui.records.observations import CHALLENGED, REFUSED, Exchange, Observations
from aui_tui.records.registry import Agent, registry


@dataclass(frozen=True, slots=True)
class Site:
    """One scanned site with its judgement, display name and category."""

    observations: Observations
    judgement: Judgement
    name: str
    category: str

    @property
    def origin(self) -> str:
        """Scheme, host and port, without a final slash."""
        return self.observations.origin.rstrip("/")

    @property
    def hostname(self) -> str:
        """The host alone, without scheme and port."""
        return urlsplit(self.origin).hostname or self.observations.host

    @property
    def title(self) -> str:
        """The name on one line, never empty."""
        return " ".join(self.name.split()) or self.hostname

    @property
    def about(self) -> str:
        """One sentence on the site, by its category."""
        table = texts().about
        return fill(table.get(self.category, table["Uncategorized"]), {"name": self.title})

    @property
    def slug(self) -> str:
        """The host in letters, digits and hyphens."""
        return re.sub(r"[^a-z0-9]+", "-", self.hostname).strip("-") or "site"

    @property
    def turned_away(self) -> list[tuple[Agent, Exchange]]:
        """The live-probed agents that were challenged or refused."""
        probed = zip(registry().live, live_exchanges(self.observations), strict=True)
        return [(agent, probe) for agent, probe in probed if probe.outcome in (CHALLENGED, REFUSED)]

    @property
    def edges(self) -> list[str]:
        """Names of walls met by a homepage probe, then of the detected edge, each once."""
        probes = (*(probe for _, probe in self.turned_away), self.observations.browser)
        walls = (probe.challenge.vendor for probe in probes if probe.challenge is not None)
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
        }


def script_json(value: object) -> str:
    """Return JSON that may stand inside a script element: no ``<`` can end it."""
    return json.dumps(value, ensure_ascii=False, indent=2).replace("<", "\\u003c")

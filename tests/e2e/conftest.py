"""Sites of our own on loopback, and how a command reaches them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from aui_tui.demo.web import DemoRule, DemoSite, DemoWeb

RICH = DemoSite(
    host="rich.test",
    name="Rich & Plain",
    category="Retail",
    page="rich",
    tagline="Everything an agent could wish for.",
    items=("One", "Two"),
    files=("llms", "ucp", "mcp"),
    headers={"server": "nginx"},
    robots="User-agent: *\nContent-Signal: search=yes, ai-input=yes\nAllow: /\n",
)
"""A site that earns every point."""

GUARDED = DemoSite(
    host="guarded.test",
    name="Guarded Goods",
    category="Retail",
    page="rich",
    tagline="Shop as a person, or not at all.",
    headers={"server": "cloudflare", "cf-ray": "8f1a2b3c4d5e6f70-FRA"},
    robots="User-agent: *\nAllow: /\n",
    rule=(DemoRule(to="agents", answer="cloudflare-challenge"),),
)
"""A shop that serves browsers and challenges every agent."""

DEAD = DemoSite(host="dead.test", name="Gone", category="Tech", page="plain", mode="closed")

Options = list[str]


@pytest.fixture
def serve() -> Iterator[Callable[..., Options]]:
    """Serve the sites given and return the options that lead a scan to them."""
    with ExitStack() as stack:

        def start(*wanted: DemoSite) -> Options:
            web = stack.enter_context(DemoWeb(wanted))
            return [word for rule in web.connect_to for word in ("--connect-to", rule)]

        yield start

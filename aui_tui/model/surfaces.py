"""The matrix keys: what an index has a column for, with the names that ``registry.toml`` uses.

A table in Python, not in TOML: a first frame shows it, and needs no other table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec


class RegistryEntry(msgspec.Struct, frozen=True, kw_only=True):
    """What every entry has: its position, its names and the company."""

    key: str
    label: str
    operator: str
    aliases: tuple[str, ...] = ()


class Surface(RegistryEntry, frozen=True, kw_only=True):
    """A matrix key.

    ``source``: ``none`` (no plain HTTP identification exists), ``live`` (the probe of the agent named in ``live``, with
    its robots policy) or ``robots`` (the robots policy of the agents named in ``agents``).
    """

    slug: str
    source: str
    live: str = ""
    agents: tuple[str, ...] = ()


SURFACES: Final = (
    # cloud browser; stock Chrome User-Agent; identified only by HTTP Message Signatures (Signature-Agent
    # https://chatgpt.com); https://help.openai.com/en/articles/11845367-chatgpt-agent-allowlisting
    Surface(
        key="matrix_key_1",
        slug="chatgpt_agent",
        label="ChatGPT agent",
        operator="OpenAI",
        source="none",
    ),
    # page fetch asked for in a conversation; https://developers.openai.com/api/docs/bots
    Surface(
        key="matrix_key_2",
        slug="chatgpt",
        label="ChatGPT",
        operator="OpenAI",
        source="live",
        live="agent_01",
        agents=("agent_01",),
    ),
    # page fetch asked for in a conversation or by Claude Code;
    # https://privacy.claude.com/en/articles/8896518-does-anthropic-crawl-data-from-the-web-and-how-can-site-owners-block-the-crawler
    Surface(
        key="matrix_key_3",
        slug="claude",
        label="Claude",
        operator="Anthropic",
        source="live",
        live="agent_02",
        agents=("agent_02",),
    ),
    # agents on Google infrastructure;
    # https://developers.google.com/crawling/docs/crawlers-fetchers/google-user-triggered-fetchers
    Surface(
        key="matrix_key_4",
        slug="gemini",
        label="Google agent",
        operator="Google",
        aliases=("Google agents",),
        source="live",
        live="agent_03",
        agents=("agent_03",),
    ),
    # page fetch asked for in a question; https://docs.perplexity.ai/docs/resources/perplexity-crawlers
    Surface(
        key="matrix_key_5",
        slug="perplexity",
        label="Perplexity",
        operator="Perplexity",
        source="live",
        live="agent_04",
        agents=("agent_04",),
    ),
    # Alexa live fetch, Buy for Me, Nova Act; https://developer.amazon.com/amazonbot
    Surface(
        key="matrix_key_6",
        slug="amazon",
        label="Amazon",
        operator="Amazon",
        aliases=("Alexa and Amazon agents",),
        source="robots",
        agents=("agent_06", "agent_05", "agent_16"),
    ),
    # link fetch asked for by a user of Meta AI;
    # https://developers.facebook.com/docs/sharing/webmasters/web-crawlers
    Surface(
        key="matrix_key_7",
        slug="meta_ai",
        label="Meta AI",
        operator="Meta",
        source="robots",
        agents=("agent_12", "agent_13"),
    ),
    # agents inside the user's own browser: Claude in Chrome, Comet, ChatGPT Atlas, Gemini in Chrome, Copilot Mode
    Surface(
        key="matrix_key_8",
        slug="browser_agents",
        label="in-browser",
        operator="several",
        aliases=("In-browser agents",),
        source="none",
    ),
)
SLUGS: Final = tuple(surface.slug for surface in SURFACES)
"""Our keys of a matrix, in order."""


def surface_called(name: str) -> Surface | None:
    """Return the matrix surface whose slot or slug is ``name``."""
    return next((surface for surface in SURFACES if name in (surface.key, surface.slug)), None)


def of_surfaces(matrix: Mapping[str, str]) -> Iterator[tuple[Surface, str]]:
    """Yield the assistants with their verdicts in ``matrix``; a foreign one counts by position."""
    return zip(SURFACES, matrix.values(), strict=False)

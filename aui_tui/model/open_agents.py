"""Fetch tools of open agents, as they were run on loopback (``open_agents.toml``), and how many of them do what.

They are a sample of open tools, not the agents that the probes stand for: ChatGPT, Claude, Google and Perplexity have
readers of their own, which were not tested.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

import msgspec

from aui_tui.model.reads import KINDS
from aui_tui.model.vocabulary import choose
from aui_tui.packaged import read_table
from aui_tui.text import count

CHECKS_ROBOTS: Final = "asked"
"""``OpenAgent.robots`` of a tool that asks for robots.txt before each page and obeys it."""
ALL: Final = 99
"""Redirects of a tool that followed all that were tried."""


class OpenAgent(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One tool: what it sends, and what it makes of a page; the file says what each word means."""

    key: str
    version: str
    user_agent: str
    accept: str = ""
    encodings: str
    redirects: int
    robots: str = ""
    refused: str
    cp1251: str = "right"
    utf8: str = "right"
    cut: int = 0
    reading: str
    together: bool = False
    markdown: bool = True
    keeps: tuple[str, ...] = ()


class OpenAgents(msgspec.Struct, frozen=True, kw_only=True):
    """The tools, and the day on which they were run."""

    checked: str
    tool: tuple[OpenAgent, ...]


@cache
def table() -> OpenAgents:
    """Return the packaged table."""
    return read_table("model/open_agents.toml", OpenAgents)


class OpenClient(msgspec.Struct, frozen=True):
    """What some of the tools send alike, and the redirects that they follow at most; ``tools``: their keys."""

    user_agent: str
    accept: str
    encodings: str
    redirects: int
    tools: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of its probe: the key of its first tool."""
        return self.tools[0]


@cache
def clients() -> dict[str, OpenClient]:
    """Return each distinct client of the table by the name of its probe."""
    alike: dict[tuple[str, str, str, int], list[str]] = {}
    for tool in table().tool:
        alike.setdefault((tool.user_agent, tool.accept, tool.encodings, tool.redirects), []).append(tool.key)
    distinct = (OpenClient(*sent, tuple(tools)) for sent, tools in alike.items())
    return {client.name: client for client in distinct}


def tool_called(word: str) -> str:
    """Return the key of the tool that ``word`` names, its beginning at least. Raises BadValue."""
    return _begun("open reader", word, tuple(tool.key for tool in table().tool))


def number(matches: Callable[[OpenAgent], bool]) -> int:
    """Return how many of the tools ``matches`` is true of."""
    return sum(map(matches, table().tool))


def share(matches: Callable[[OpenAgent], bool]) -> str:
    """Return ``5 of 13 open readers that we ran`` for the tools that ``matches`` is true of."""
    return f"{number(matches)} of {count(len(table().tool), 'open reader')} that we ran"


def words_of_readers() -> tuple[str, ...]:
    """Return the words that :func:`reader_called` takes."""
    return (*KINDS, *(tool.key for tool in table().tool))


def reader_called(word: str) -> tuple[str, OpenAgent | None]:
    """Return the kind of reading that ``word`` names, and the tool where it names one. Raises BadValue."""
    name = _begun("reader", word, words_of_readers())
    tool = next((tool for tool in table().tool if tool.key == name), None)
    return (tool.reading if tool else name), tool


def _begun(what: str, word: str, allowed: tuple[str, ...]) -> str:
    """Return the one of ``allowed`` that begins with ``word``, else as ``choose``. Raises BadValue."""
    begun = [name for name in allowed if name.startswith(word.strip().casefold())] if word.strip() else []
    return begun[0] if len(begun) == 1 else choose(what, word, allowed)

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

ASKED: Final = "asked"
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
    name = choose("reader", word, words_of_readers())
    tool = next((tool for tool in table().tool if tool.key == name), None)
    return (tool.reading if tool else name), tool

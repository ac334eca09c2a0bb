"""Which client a User-Agent names: the agents and crawlers of the registry, and a few well-known others."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal, NamedTuple

from aui_tui.records.registry import registry

TABLE_LIMIT: Final = 1 << 16
"""User-Agents that are remembered; above it the memory is emptied."""
LONGEST_KEPT: Final = 1024
"""Bytes of a User-Agent above which it is not remembered."""
CONTROL: Final = "control-token"

_WORDS: Final = bytes(c if chr(c) in "abcdefghijklmnopqrstuvwxyz_-" else 32 for c in bytes(range(256)).lower())
_CASING: Final = re.compile(r" \((?:lower|title) case\)$")


class Client(NamedTuple):
    """A client that logs may name; ``silent`` is a robots.txt token that sends no requests of its own."""

    token: str
    label: str
    kind: Literal["agent", "crawler", "other"]
    ip_ranges: str
    silent: bool = False


@cache
def table() -> Mapping[str, Any]:
    """Return the packaged ``clients.toml``."""
    return tomllib.loads(files("aui_tui.visits").joinpath("clients.toml").read_text(encoding="utf-8"))


@cache
def clients() -> Mapping[str, Client]:
    """Return every client by its token in lower case, in the order of the registry; aliases lead to the same one."""
    known, found = registry(), dict[str, Client]()
    for agent in known.agents:
        client = Client(agent.token, _CASING.sub("", agent.label), "agent", agent.ip_ranges)
        for name in (agent.token, *agent.aliases):
            found.setdefault(name.lower(), client)
    for crawler in known.crawlers:
        silent = crawler.kind == CONTROL
        client = Client(crawler.token, _CASING.sub("", crawler.label), "crawler", crawler.ip_ranges, silent)
        found.setdefault(crawler.token.lower(), client)
    for entry in table()["other"]:
        found.setdefault(entry["token"].lower(), Client(entry["token"], entry["label"], "other", entry["ip_ranges"]))
    return found


def range_lists() -> Mapping[str, tuple[Client, ...]]:
    """Return the clients by the address of the list that verifies them."""
    found: dict[str, tuple[Client, ...]] = {}
    for client in dict.fromkeys(clients().values()):
        if client.ip_ranges and not client.silent:
            found[client.ip_ranges] = (*found.get(client.ip_ranges, ()), client)
    return found


class Names:
    """Finds clients in User-Agents, and remembers the answers.

    A token is whole when no letter, ``_`` or ``-`` touches it; the first one in the text counts.
    """

    def __init__(self) -> None:
        self._known = {name.encode(): client for name, client in clients().items()}
        self._strict = frozenset(word.encode() for word in table()["strict"])
        self._asked: dict[bytes, Client | None] = {}

    def client(self, agent: bytes) -> Client | None:
        """Return the client that a User-Agent (as sent, without the escapes of a log) names; None for others."""
        try:
            return self._asked[agent]
        except KeyError:
            found = self._find(agent)
            if len(agent) <= LONGEST_KEPT:
                if len(self._asked) >= TABLE_LIMIT:
                    self._asked.clear()
                self._asked[agent] = found
            return found

    def _find(self, agent: bytes) -> Client | None:
        for word in agent.translate(_WORDS).split():
            client = self._known.get(word)
            if client is not None and (word not in self._strict or _stands_alone(word, agent.lower())):
                return client
        return None


def _stands_alone(word: bytes, agent: bytes) -> bool:
    """Say whether ``word`` is followed by a version, or is a whole part of a comment (RFC 9110 10.1.5)."""
    if re.search(rb"(?<![a-z_-])" + re.escape(word) + rb"/", agent):
        return True
    comments = re.findall(rb"\(([^()]*)\)", agent)
    return any(part.strip() == word for comment in comments for part in comment.split(b";"))

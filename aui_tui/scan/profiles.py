"""The header fields and the HTTP version of each client that a probe speaks for (``profiles.toml``).

A probe sends what the client under its name is known to send. An agent's name with a browser's other fields would be
neither of the two: a filter may refuse the mixture and let the agent in, or the reverse.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from aui_tui.model.observations import BROWSER, FILE_PROBES
from aui_tui.model.open_agents import clients
from aui_tui.model.registry import registry
from aui_tui.packaged import read_table
from aui_tui.scan.target import Origin
from aui_tui.text import is_loopback

Fields = tuple[tuple[str, str], ...]

FILE_PROFILE: Final = "file"
_PLATFORMS: Final = (("Android", "Android"), ("Windows", "Windows"), ("Macintosh", "macOS"), ("Linux", "Linux"))
_SECURE_ENCODINGS: Final = "gzip, deflate, br, zstd"
"""Encodings that a browser offers over TLS."""


class Profile(NamedTuple):
    """What one client sends: ``fields`` in sending order without Host; ``http2``: it speaks HTTP/2 where offered.

    ``redirects``: how many it follows at most; None: as many as a browser.
    """

    fields: Fields
    http2: bool
    redirects: int | None = None

    def having(self, fields: Mapping[str, str]) -> Profile:
        """Return the same with these values of ``fields``; those that it did not send come last."""
        return self._replace(fields=tuple({**dict(self.fields), **fields}.items()))

    def named(self, agent: str) -> Profile:
        """Return the same under the User-Agent ``agent``."""
        return self.having({"User-Agent": agent})


@cache
def profile(name: str) -> Profile:
    """Return what the probe ``name`` sends: ``browser``, an agent slot, a name of FILE_PROBES or an open client's."""
    if name in clients():
        client = clients()[name]
        sent = {"User-Agent": client.user_agent, "Accept-Encoding": client.encodings, "Accept": client.accept}
        return Profile(tuple(field for field in sent.items() if field[1]), http2=False, redirects=client.redirects)
    tables = _tables()
    key = next((agent.token for agent in registry().live if agent.key == name), BROWSER)
    table = tables[FILE_PROFILE if name in FILE_PROBES else key]
    table = tables[table["like"]] if "like" in table else table
    agent = registry().user_agent(name)
    facts = {"{user-agent}": agent, "{brands}": registry().chrome_brands, "{platform}": f'"{_platform(agent)}"'}
    fields: list[tuple[str, str]] = []
    for line in table["fields"]:
        field, _, value = line.partition(": ")
        fields.append((field, facts.get(value, value)))
    return Profile(tuple(fields), table["http2"])


def _platform(agent: str) -> str:
    return next((label for word, label in _PLATFORMS if word in agent), "Unknown")


def over(fields: Fields, origin: Origin) -> Fields:
    """Return what of ``fields`` is sent to ``origin``: by a browser to an insecure one no client hints, br nor zstd.

    A browser treats this machine as secure over plain HTTP too (W3C Secure Contexts 3.1).
    """
    browser = any(name.lower().startswith("sec-") for name, _ in fields)
    if origin.scheme == "https" or is_loopback(origin.host) or not browser:
        return fields
    sent = ((name, value) for name, value in fields if not name.lower().startswith(("sec-ch-", "sec-fetch-")))
    return tuple((name, "gzip, deflate" if value == _SECURE_ENCODINGS else value) for name, value in sent)


@cache
def _tables() -> dict[str, dict[str, Any]]:
    return read_table("scan/profiles.toml", dict[str, dict[str, Any]])

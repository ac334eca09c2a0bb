"""Who sent a request: the client that a User-Agent names, and whether its address is one that the vendor publishes.

Clients are the agents and crawlers of the registry and a few well-known others. The vendors' lists of address ranges
are fetched into the data folder and read from there.
"""

from __future__ import annotations

import asyncio
import hashlib
import html
import ipaddress
import json
import re
import time
import tomllib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple
from urllib.parse import urlsplit

import msgspec

from aui_tui import __version__
from aui_tui.errors import BadValue, ConfigError, RecordError
from aui_tui.model.card import stamp
from aui_tui.model.decoding import from_json
from aui_tui.model.registry import registry
from aui_tui.model.visits import RangeList
from aui_tui.text import clean
from aui_tui.visits.lines import without_port

if TYPE_CHECKING:
    from aui_tui.scan.policy import ScanPolicy
    from aui_tui.scan.probes import Answer, Plan

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


SHORTEST: Final = {4: 8, 6: 19}
"""Prefix lengths below which a published range would cover a large part of the Internet: such a list is refused."""
MOST_PREFIXES: Final = 200_000
PRIVATE: Final = (
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "100.64.0.0/10",
    "::1/128",
    "fc00::/7",
    "fe80::/10",
)
"""Networks from which no client of the Internet comes (RFC 1918, 4193, 6598, loopback, link local)."""


class Ranges:
    """A set of networks as sorted, merged spans: one bisection tells whether an address lies in it."""

    def __init__(self, prefixes: Iterable[str]) -> None:
        spans: dict[int, list[tuple[int, int]]] = {4: [], 6: []}
        for text in prefixes:
            net = ipaddress.ip_network(text.strip(), strict=False)
            spans[net.version].append((int(net.network_address), int(net.broadcast_address)))
        self._tables = {version: _merged(sorted(found)) for version, found in spans.items()}

    def holds(self, address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
        """Say whether ``address`` lies in one of the networks."""
        firsts, lasts = self._tables[address.version]
        at = bisect_right(firsts, int(address)) - 1
        return at >= 0 and int(address) <= lasts[at]


def _merged(spans: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    firsts: list[int] = []
    lasts: list[int] = []
    for first, last in spans:
        if lasts and first <= lasts[-1] + 1:
            lasts[-1] = max(lasts[-1], last)
        else:
            firsts.append(first)
            lasts.append(last)
    return firsts, lasts


@lru_cache(maxsize=1 << 14)
def address_of(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return the address in ``text``, without zone and port, an IPv4-mapped one as IPv4; None for anything else."""
    for candidate in (text, without_port(text)):
        try:
            found = ipaddress.ip_address(candidate.strip().partition("%")[0])
        except ValueError:
            continue
        mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
        return mapped or found
    return None


_IPV4: Final = re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?!\d|\.\d)")
_IPV6: Final = re.compile(r"(?<![\w:])(?=[0-9A-Fa-f]*:[0-9A-Fa-f]*:)[0-9A-Fa-f:]{2,39}(?![\w:])")


def without_addresses(text: str, mark: str) -> str:
    """Return ``text`` with each IP address in it, wherever it stands, replaced by ``mark``."""
    if text.count(".") > 2:
        text = _IPV4.sub(mark, text)
    if text.count(":") > 1:
        text = _IPV6.sub(lambda found: found[0] if address_of(found[0]) is None else mark, text)
    return text


@cache
def _known_networks() -> tuple[tuple[str, Ranges], ...]:
    known = {"private": PRIVATE} | table()["cdn"]
    return tuple((name, Ranges(prefixes)) for name, prefixes in known.items())


@lru_cache(maxsize=1 << 14)
def place(text: str) -> str:
    """Return what kind of address a peer has: ``private``, ``masked``, the name of a CDN, or empty for the Internet.

    ``masked``: what is not an address, or one whose last part is zero, as loggers write it to protect their visitors.
    """
    address = address_of(text)
    if address is None:
        return "masked"
    for name, ranges in _known_networks():
        if ranges.holds(address):
            return name
    packed = address.packed
    masked = packed[-1] == 0 if address.version == 4 else not any(packed[-8:])
    return "masked" if masked else ""


class Proxies:
    """Which proxies stand before the server that wrote the log.

    ``trusted``: their networks; the client is then the rightmost address of X-Forwarded-For outside them, as everything
    left of it can be forged. ``count``: instead, how many proxies added an entry each. Neither: the peer is the client.
    Raises BadValue for what is not a network.
    """

    def __init__(self, trusted: Iterable[str] = (), count: int = 0) -> None:
        self.count = count
        self._trusted: Ranges | None = None
        networks = list(trusted)
        for text in networks:
            try:
                ipaddress.ip_network(text.strip(), strict=False)
            except ValueError:
                raise BadValue(
                    f"--trusted-proxy takes a network such as 10.0.0.0/8, not {clean(text, 60)!r}."
                ) from None
        if networks:
            self._trusted = Ranges(networks)

    def __bool__(self) -> bool:
        return bool(self.count or self._trusted)

    def client(self, peer: str, forwarded: str) -> str:
        """Return the client's address; empty where the log does not tell it."""
        if self.count:
            entries = [entry.strip() for entry in forwarded.split(",")] if forwarded else []
            return entries[-self.count] if len(entries) >= self.count else ""
        if self._trusted is None:
            return peer
        address = address_of(peer)
        if address is None or not self._trusted.holds(address):
            return peer
        entry = ""
        for entry in reversed([part.strip() for part in forwarded.split(",")]):
            found = address_of(entry)
            if found is None:
                return ""
            if not self._trusted.holds(found):
                return entry
        return entry


def published(data: bytes) -> list[str]:
    """Return the prefixes of a vendor's list: JSON of any shape that holds networks, or a page with such JSON in it.

    Raises RecordError with one sentence when there are none, or when one covers a large part of the Internet.
    """
    document = _document(data)
    prefixes = list(dict.fromkeys(_networks(document)))
    if not prefixes:
        raise RecordError("it holds no address ranges")
    if len(prefixes) > MOST_PREFIXES:
        raise RecordError(f"it holds more than {MOST_PREFIXES:,} ranges")
    for text in prefixes:
        net = ipaddress.ip_network(text, strict=False)
        if net.prefixlen < SHORTEST[net.version]:
            raise RecordError(f"its range {text} covers a large part of the Internet")
    return prefixes


def _document(data: bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except (ValueError, RecursionError):
        pass
    text = html.unescape(data.decode("utf-8", "replace"))
    at = text.find('"prefixes"')
    for _ in range(20):
        at = text.rfind("{", 0, at) if at > 0 else -1
        if at < 0:
            break
        try:
            return json.JSONDecoder().raw_decode(text, at)[0]
        except (ValueError, RecursionError):
            continue
    raise RecordError("it is not JSON, nor a page with JSON in it")


def _networks(document: Any) -> Iterator[str]:
    """Yield every address or network in a JSON document, whatever the keys (``ipv4Prefix``, ``ipv6Prefix``, others)."""
    todo = [document]
    while todo:
        part = todo.pop()
        if isinstance(part, dict):
            todo += list(part.values())[::-1]
        elif isinstance(part, list):
            todo += part[::-1]
        elif isinstance(part, str) and len(part) < 60 and ("." in part or ":" in part):
            try:
                yield str(ipaddress.ip_network(part.strip(), strict=False))
            except ValueError:
                continue


LARGEST: Final = 4 << 20
"""Bytes of a list."""
FIELDS: Final = (
    ("User-Agent", f"aui-tui/{__version__}"),
    ("Accept", "application/json, text/html;q=0.5"),
    ("Accept-Encoding", "identity"),
)


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """A fetched list as it is kept: ``etag`` and ``modified`` are the server's validators, empty without."""

    url: str
    fetched_at: str
    etag: str = ""
    modified: str = ""
    prefixes: tuple[str, ...]


class Updated(NamedTuple):
    """The outcome of one list: ``state`` is ``fetched``, ``unchanged`` or ``failed``, ``detail`` says more."""

    url: str
    state: str
    detail: str


class RangeBook:
    """The lists in ``folder``, one file each. A file that cannot be read counts as not fetched, and is named."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.broken: list[str] = []

    def ranges(self) -> tuple[dict[str, Ranges], dict[str, RangeList]]:
        """Return the networks of every list that was fetched, and what to say of each, by the list's address."""
        found: dict[str, Ranges] = {}
        described: dict[str, RangeList] = {}
        for url in range_lists():
            kept = self.kept(url)
            if kept is not None:
                found[url] = Ranges(kept.prefixes)
                described[url] = RangeList(url=url, fetched_at=kept.fetched_at)
        return found, described

    def kept(self, url: str) -> Kept | None:
        """Return the list at ``url`` as it was fetched last; None when it was not, or its file is broken."""
        path = self._path(url)
        try:
            kept = from_json(path.read_bytes(), Kept)
            published(msgspec.json.encode(kept.prefixes))
            RangeList(url=url, fetched_at=stamp(datetime.fromisoformat(kept.fetched_at).timestamp()))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecordError):
            kept = None
        if kept is None or kept.url != url:
            self.broken.append(f"The kept ranges of {url} cannot be read and count as not fetched: --update-ranges.")
            return None
        return kept

    async def update(
        self,
        access: ScanPolicy | None = None,
        *,
        clock: Callable[[], float] = time.time,
        tell: Callable[[Updated], None] = lambda _done: None,
    ) -> list[Updated]:
        """Fetch the lists and keep each that is sound; the others stay as they are.

        ``access``: how they may be reached (None: as any public address). Raises ConfigError when the folder cannot be
        written.
        """
        from aui_tui.scan.network import Network
        from aui_tui.scan.policy import PUBLIC
        from aui_tui.scan.probes import probe

        access = access or PUBLIC
        async with Network(access) as network:

            async def fetch(url: str) -> Updated:
                known = self.kept(url)
                async with network.client() as client:
                    answer = await probe(client, _plan(url, known, access), access)
                done = self._take(url, known, answer, stamp(clock()))
                tell(done)
                return done

            return list(await asyncio.gather(*(fetch(url) for url in range_lists())))

    def _take(self, url: str, known: Kept | None, answer: Answer, now: str) -> Updated:
        if answer.status == 304 and known is not None:
            self._write(msgspec.structs.replace(known, fetched_at=now))
            return Updated(url, "unchanged", f"{len(known.prefixes):,} ranges")
        if answer.status != 200:
            reason = f"status {answer.status}" if answer.status else answer.detail or "no answer"
            return Updated(url, "failed", clean(reason, 160))
        try:
            if answer.cut:
                raise RecordError(f"it is longer than {LARGEST >> 20} MiB, or came too slowly")
            prefixes = tuple(published(answer.body))
        except RecordError as error:
            return Updated(url, "failed", str(error))
        fields = answer.mapping()
        self._write(
            Kept(
                url=url,
                fetched_at=now,
                etag=clean(fields.get("etag", ""), 200),
                modified=clean(fields.get("last-modified", ""), 100),
                prefixes=prefixes,
            )
        )
        return Updated(url, "fetched", f"{len(prefixes):,} ranges")

    def _path(self, url: str) -> Path:
        return self._folder / f"{hashlib.sha256(url.encode()).hexdigest()[:24]}.json"

    def _write(self, kept: Kept) -> None:
        path = self._path(kept.url)
        partial = path.with_suffix(".part")
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            partial.write_bytes(msgspec.json.format(msgspec.json.encode(kept), indent=1))
            partial.replace(path)
        except OSError as error:
            shown = clean(str(self._folder), 200)
            raise ConfigError(f"Cannot write the ranges to {shown}: {error.strerror or error}.") from None


def _plan(url: str, known: Kept | None, access: ScanPolicy) -> Plan:
    from aui_tui.scan.probes import Plan, Url
    from aui_tui.scan.target import parse

    parts = urlsplit(url)
    origin = parse(url, allow_private=access.allow_private).origin
    fields = list(FIELDS)
    if known is not None and known.etag.isascii() and known.etag:
        fields.append(("If-None-Match", known.etag))
    elif known is not None and known.modified.isascii() and known.modified:
        fields.append(("If-Modified-Since", known.modified))
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Plan("ranges", Url(origin, path), tuple(fields), LARGEST)

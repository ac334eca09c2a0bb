"""The permissions that the user gives a scan, and the limits that hold for everybody."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Final, NamedTuple

from aui_tui.errors import BadValue, ConfigError, InvalidHost
from aui_tui.model.progress import PROBE_SECONDS
from aui_tui.scan.signing import Signer
from aui_tui.scan.target import DEFAULT_PORTS, Origin, Target, is_public, parse, parse_address
from aui_tui.text import clean, is_loopback

Resolver = Callable[[str], Awaitable[Sequence[str]]]
"""A name look-up: host in, addresses out; raises OSError when the name has none."""

_FIELD_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}")
_FIELD_VALUE: Final = re.compile(r"[\x20-\x7e\t]{0,4096}")
_RESERVED_FIELDS: Final = re.compile(
    r"host|user-agent|accept.*|connection|content-.*|transfer-encoding|te|upgrade.*|sec-.*|expect|trailer",
    re.IGNORECASE,
)


REQUESTS: Final = 17
"""Requests of a scan with a pace that meets no refusal and no redirect and finds all four files for agents.

Others read robots.txt as two agents too.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of one scan: times in seconds, sizes in bytes.

    ``probe``: one probe in all, redirects included. ``connect``: until a TCP connection is made. ``lookup``: a name
    look-up. ``pause``: before a client that was turned away is asked again; waits that grow begin with it. ``again``:
    for a client that got no answer before, at least. ``budget``: asking again in all; ``whole``: the scan. ``pace``:
    requests go one at a time, ``pace`` seconds apart, with ``paced`` paces added to ``budget``; 0: all at once.
    ``enough``: after so long nothing more is asked about a refusal that counts. ``retry_after``: the longest wait that
    a site may ask for. ``causes``: requests that look for the cause of a refusal. ``patience``: for which a file waits
    for the browser's connection (HTTP/1.1) before it gets one of its own.
    ``fields``: header fields considered; ``kept``: recorded.
    """

    probe: float = PROBE_SECONDS
    connect: float = 5.0
    lookup: float = 4.0
    pause: float = 1.0
    again: float = 3.0
    budget: float = 43.0
    whole: float = 45.0
    pace: float = 0.0
    paced: int = 30
    enough: float = 32.0
    retry_after: float = 30.0
    causes: int = 4
    patience: float = 0.0
    redirects: int = 20
    page: int = 1 << 20
    robots: int = 1 << 20
    file: int = 256 << 10
    fields: int = 256
    kept: int = 64

    @property
    def longest(self) -> float:
        """Seconds that a scan takes at most: ``whole``, and with a ``pace`` what the pace needs."""
        if not self.pace:
            return self.whole
        return REQUESTS * (self.pace + self.probe) + self.budget + self.paced * self.pace


class ConnectTo(NamedTuple):
    """A ``--connect-to HOST:PORT:ADDR:PORT`` rule as curl's: an empty HOST or PORT matches any, or keeps it."""

    host: str
    port: int | None
    to_host: str
    to_port: int | None

    @property
    def written(self) -> str:
        """The rule as it is typed."""
        hosts = (f"[{host}]" if ":" in host else host for host in (self.host, self.to_host))
        return ":".join(f"{host}:{port or ''}" for host, port in zip(hosts, (self.port, self.to_port), strict=True))

    @classmethod
    def parse(cls, text: str) -> ConnectTo:
        """Return the rule written as ``text``. Raises BadValue."""
        match = re.fullmatch(r"(\[[^\]]*\]|[^:\[\]]*):(\d{0,5}):(\[[^\]]*\]|[^:\[\]]*):(\d{0,5})", text)
        ports = [int(digits) if digits else None for digits in (match[2], match[4])] if match else [0]
        if match is None or any(port is not None and not 1 <= port <= 65535 for port in ports):
            raise BadValue(f"“{clean(text, 80)}” is not a connection rule; write HOST:PORT:ADDRESS:PORT.")
        hosts = [parse(host, allow_private=True).host if host else "" for host in (match[1], match[3])]
        return cls(hosts[0], ports[0], hosts[1], ports[1])


class Via(NamedTuple):
    """A proxy, ``http`` (CONNECT, RFC 9110 9.3.6) or ``socks5`` (RFC 1928), without a log-in."""

    scheme: str
    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Via:
        """Return the proxy written as ``text``. Raises BadValue."""
        match = re.fullmatch(r"(http|socks5)://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+):(\d{1,5})/?", text)
        if match is None or not 1 <= int(match[3]) <= 65535:
            shown = clean(text, 80)
            raise BadValue(f"“{shown}” is not a proxy; write http://HOST:PORT or socks5://HOST:PORT.")
        return cls(match[1], match[2].strip("[]"), int(match[3]))


class OwnSite(NamedTuple):
    """How a site of the user's own is reached: header fields, and the variable that holds user:password."""

    headers: Mapping[str, str]
    basic_auth_env: str

    @property
    def credentials(self) -> tuple[str, str] | None:
        """User and password, None where no variable is named. Raises ConfigError where it does not hold them."""
        if not self.basic_auth_env:
            return None
        user, colon, password = os.environ.get(self.basic_auth_env, "").partition(":")
        if not colon:
            shown = clean(self.basic_auth_env, 60)
            raise ConfigError(f"basic_auth_env: the variable {shown} does not hold user:password.")
        return user, password


class ScanKey(NamedTuple):
    """Under which name a scan is kept.

    ``name``: of its answer in the cache: the site, and a mark where it was asked otherwise than by default; empty for
    an answer that belongs to the user alone. ``aside``: 0 for a scan by the default route (https, or http where nothing
    listens for https), which makes the card of the site; 1 for another route of the local user's, by http or
    ``connect_to``; 2 for a visitor's. These make a card only while there is no scan with less.
    """

    name: str
    aside: int


SAME_ANSWER: Final = frozenset(
    {
        *("allow_private", "keyboard", "loopback", "remote", "root_browser"),  # who may ask, not what is answered
        *("headers", "basic_auth", "sites", "signer"),  # of the user alone: nothing is cached
        *("declared", "resolver", "arms", "limits"),  # asked besides, or how patiently
    }
)
"""Fields of a policy that are no part of the key of a scan; every other one is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanPolicy:
    """What the local user allows; the default is what a stranger gets.

    ``allow_private``: private hosts and any port. ``keyboard``: a person at this machine types the addresses, so that
    loopback names and addresses as typed need no more; ``loopback``: such a site is being scanned (:meth:`toward`).
    ``connect_to``: where connections really go; the user asks for it, so the address of a rule may be private.
    ``remote``: somebody else names the site, so no rule excuses a private host or another port. ``headers`` and
    ``basic_auth`` (user, password) go to the scanned origin alone and never into a record; ``sites`` has them by site
    for :meth:`toward`. ``declared``: also ask what the site declares for agents. ``cafile``: certificates trusted
    besides the usual ones. ``insecure``: certificates are not checked. ``root_browser``: as root, where a browser has
    no sandbox, it may open hosts of others too. ``resolver``: instead of the system's. ``signer``: signs the probes of
    agents that were turned away, at the user's word. ``pages``: other pages of the site to ask for, as paths with
    their query (``probes.page_path``). ``reads``: the page is also read as readers of text do. ``open_agents``: the
    homepage is also asked under the clients of open agents' fetch tools.
    """

    allow_private: bool = False
    keyboard: bool = False
    loopback: bool = False
    connect_to: tuple[ConnectTo, ...] = ()
    remote: bool = False
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    basic_auth: tuple[str, str] | None = field(default=None, repr=False)
    sites: Mapping[str, OwnSite] = field(default_factory=dict, repr=False)
    declared: bool = False
    cafile: str = ""
    insecure: bool = False
    root_browser: bool = False
    resolver: Resolver | None = None
    control: str = "auto"
    via: Via | None = None
    arms: bool = True
    reads: bool = True
    open_agents: bool = False
    pages: tuple[str, ...] = ()
    sample: int = 0
    """How many pages of the site are chosen too."""
    limits: Limits = Limits()
    signer: Signer | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name, value in self.headers:
            if not _FIELD_NAME.fullmatch(name) or not _FIELD_VALUE.fullmatch(value):
                raise BadValue(f"“{clean(name, 40)}” is not a valid header field; write NAME: VALUE in plain ASCII.")
            if _RESERVED_FIELDS.fullmatch(name):
                raise BadValue(f"The header {clean(name, 40)} belongs to the probe and cannot be set.")

    def target(self, url: str) -> Target:
        """Return the site that ``url`` names; where a rule of ``connect_to`` says its address, it may be private.

        Raises InvalidHost.
        """
        try:
            return parse(url, allow_private=self.allow_private)
        except InvalidHost:
            if self.remote or not (self.connect_to or self.keyboard):
                raise
            target = parse(url, allow_private=True)
            if self.keyboard and is_loopback(target.host):
                return target
            if not any(self._vouched(origin) for origin in target.origins):
                raise
            return target

    def toward(self, target: Target) -> ScanPolicy:
        """Return the policy for a scan of ``target``.

        For the person at the keyboard a site of this machine, as typed, may be dialled, and one of ``sites`` gets its
        fields. Raises BadValue or ConfigError for those that cannot be sent.
        """
        if self.remote or not self.keyboard:
            return self
        site = self.sites.get(target.site)
        policy = replace(self, headers=tuple(site.headers.items()), basic_auth=site.credentials) if site else self
        return replace(policy, loopback=True) if is_loopback(target.host) else policy

    def key(self, target: Target) -> ScanKey:
        """Return under which name a scan of ``target`` is kept in the cache, and its card in the index."""
        access, scheme = self.toward(target), target.scheme or ""
        vouched = [self.rule_for(origin.host, origin.port) is not None for origin in target.origins]
        by_http = scheme == "http" and target.port is None
        if self.remote:  # the operator's rules are the usual route, also where they know a site by http alone
            usual = by_http and vouched[0] and not self.rule_for(target.host, DEFAULT_PORTS["https"])
            scheme, aside = ("", 0) if usual else (scheme, 2 * by_http)
        else:
            aside = int(by_http or any(vouched))
        if access.headers or access.basic_auth is not None or access.signer is not None:
            return ScanKey("", aside)
        options = {field.name: getattr(access, field.name) for field in fields(self) if field.name not in SAME_ANSWER}
        default = type(self)()
        marks = [(name, value) for name, value in options.items() if value != getattr(default, name)]
        marks += [("scheme", scheme)] if scheme else []
        mark = "#" + hashlib.sha256(repr(marks).encode()).hexdigest()[:16] if marks else ""
        return ScanKey(target.site + mark, aside)

    async def owns(self, target: Target, resolver: Resolver) -> bool:
        """Return whether ``target`` is a host of the user's own: private by name or address, or under ``connect_to``.

        A public name counts as private where every address that ``resolver`` finds for it is.
        """
        if self.remote:
            return False
        if self.keyboard and is_loopback(target.host):
            return True
        if all(self._vouched(origin) for origin in target.origins):
            return True
        if not self.allow_private:
            return False
        try:
            parse(f"https://{target.origin._replace(scheme='https', port=443).authority}/")
        except InvalidHost:
            return True
        if parse_address(target.host) is not None:
            return False
        try:
            async with asyncio.timeout(self.limits.lookup):
                addresses = await resolver(target.host)
        except OSError:
            return False
        return bool(addresses) and not any(is_public(address) for address in addresses)

    async def is_free(self, target: Target, resolver: Resolver) -> bool:
        """Return whether a scan of ``target`` asks nobody but the user's own machine or network, so that it is free.

        A host under ``connect_to`` is, where that leads to this machine, or to a private address that is allowed.
        """
        rules = [self.rule_for(origin.host, origin.port) for origin in target.origins]
        named = [rule.to_host for rule in rules if rule is not None and rule.to_host]
        if named and len(named) == len(rules):
            private = self.allow_private and not any(map(is_public, named))
            return not self.remote and (private or all(map(is_loopback, named)))
        return await self.owns(target, resolver)

    def rule_for(self, host: str, port: int) -> ConnectTo | None:
        """Return the first rule that covers connections to ``host`` and ``port``."""
        for rule in self.connect_to:
            if rule.host in ("", host) and rule.port in (None, port):
                return rule
        return None

    def check(self, origin: Origin) -> None:
        """Raise InvalidHost when ``origin`` is nothing a redirect may lead to.

        The person at the keyboard is led to any port of a public address, as by a browser; others to 80 and 443.
        """
        if self.allow_private or self._vouched(origin) or (self.loopback and is_loopback(origin.host)):
            return
        shown = origin.authority.removesuffix(f":{origin.port}") if self.keyboard else origin.authority
        parse(f"{origin.scheme}://{shown}/")

    def _vouched(self, origin: Origin) -> bool:
        """Return whether the user has named the address that connections to ``origin`` go to."""
        rule = None if self.remote else self.rule_for(origin.host, origin.port)
        return rule is not None and bool(rule.to_host)

    def may_dial(self, address: str) -> bool:
        """Return whether a look-up's ``address`` may be dialled."""
        if self.allow_private:
            return parse_address(address) is not None
        return is_public(address) or (self.loopback and is_loopback(address))

    def private_fields(self) -> tuple[tuple[str, str], ...]:
        """Return the header fields that go to the scanned origin alone."""
        if self.basic_auth is None:
            return self.headers
        token = base64.b64encode(":".join(self.basic_auth).encode()).decode("ascii")
        return (*self.headers, ("Authorization", f"Basic {token}"))

    @property
    def secrets(self) -> tuple[str, ...]:
        """Return the strings that must not reach a record, the longest first."""
        values = {value.strip() for _, value in self.private_fields()}
        if self.basic_auth is not None:
            values |= {self.basic_auth[1], *(value.partition(" ")[2] for _, value in self.private_fields())}
        return tuple(sorted((value for value in values if len(value) >= 4), key=len, reverse=True))

    @property
    def relaxed(self) -> tuple[str, ...]:
        """Return what was relaxed, in the words of ``Observations.limits``."""
        marks = (
            ("insecure", self.insecure),
            ("credentials", bool(self.private_fields())),
            ("private", self.allow_private),
            ("connect-to", bool(self.connect_to)),
            ("via", self.via is not None),
        )
        return tuple(word for word, on in marks if on)


PUBLIC: Final = ScanPolicy()
"""What a remote client gets."""
KEYBOARD: Final = ScanPolicy(keyboard=True)
"""What the person at this machine gets without any option."""

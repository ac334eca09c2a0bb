"""One probe: its request, redirects, and the body as far as it may be read, within one time limit.

Redirects are resolved as browsers do it (WHATWG URL 4.4; RFC 9110 15.4): backslashes are slashes, any number of slashes
begins an authority, dot segments go. Stricter than they are in what is dialled: user names (also after
a backslash, where parsers disagree on the host), control characters and numbers that stand for addresses are refused.
Some sites redirect a visitor until a cookie sticks (RFC 6265). A jar lives as long as one probe: no cookie reaches
another probe, identity or scan.
"""

from __future__ import annotations

import asyncio
import http.cookiejar
import re
import time
import urllib.request
from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field
from email.message import Message
from typing import Final, NamedTuple
from urllib.parse import unquote

import msgspec

from aui_tui.errors import BadValue, InvalidHost
from aui_tui.model.observations import FILE_PROBES, HIDDEN, REDIRECTS, Hop, joined_fields
from aui_tui.scan import decode, markup, target, walls
from aui_tui.scan.charset import to_utf8
from aui_tui.scan.network import HTTP1_ONLY, HTTP2_ONLY, BodyLimiter, HttpClient, NetworkError, Reply
from aui_tui.scan.policy import Limits, ScanPolicy
from aui_tui.scan.profiles import Fields, over
from aui_tui.scan.target import DEFAULT_PORTS, Origin, Target, resolve
from aui_tui.text import clean

MAX_LOCATION: Final = 8192
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_HOST_ENDS: Final = re.compile(r"[/\\?#@:\[\]%]")


class Url(NamedTuple):
    """An address to fetch: ``path`` with its query, in ASCII, without a fragment."""

    origin: Origin
    path: str

    def __str__(self) -> str:
        return f"{self.origin}{self.path}"


class Unfollowed(Exception):
    """A redirect that cannot or must not be followed: ``kind`` is one word of ``observations.UNFOLLOWED``."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail


def redirect_target(base: Url, location: str, access: ScanPolicy) -> Url:
    """Return the address that ``location``, a field of the answer from ``base``, means. Raises Unfollowed."""
    location = location.strip(" \t")
    if not location:
        raise Unfollowed("redirect-target", "it redirects without saying where to")
    shown = clean(location, 120)
    if len(location) > MAX_LOCATION or _CONTROL.search(location):
        raise Unfollowed("redirect-target", f"it redirects to “{shown}”, which is not a valid address")
    rest = location.partition("#")[0]
    kind = base.origin.scheme
    scheme = _SCHEME.match(rest)
    if scheme is not None:
        if scheme[1].lower() not in DEFAULT_PORTS:
            raise Unfollowed("redirect-scheme", f"it redirects to “{shown}”, whose scheme is neither http nor https")
        kind, rest = scheme[1].lower(), rest[scheme.end() :]
    slashes = len(rest) - len(rest.lstrip("/\\"))
    if slashes < len("//") and (scheme is None or kind == base.origin.scheme):
        return Url(base.origin, resolve(base.path, rest))
    authority = re.split(r"[/\\?]", rest[slashes:], maxsplit=1)[0]
    try:
        if "@" in re.split(r"[/?]", rest[slashes:], maxsplit=1)[0]:
            raise ValueError(authority)
        origin = target.parse(f"{kind}://{_decoded(authority)}", allow_private=True).origin
    except (InvalidHost, ValueError) as error:
        raise Unfollowed("redirect-target", f"it redirects to “{shown}”, which is not a valid address") from error
    try:
        access.check(origin)
    except InvalidHost as error:
        outside = "redirect-address"
        raise Unfollowed(outside, f"it redirects to “{shown}”, which is not on the public web") from error
    return Url(origin, resolve("/", rest[slashes + len(authority) :]))


MAX_PAGES: Final = 10
"""Other pages than the homepage that one scan asks for."""


def page_path(site: Target, text: str) -> str:
    """Return path and query of the page of ``site`` that ``text`` names, a path or an address. Raises BadValue."""
    shown = clean(text, 80)
    path, own = text, True
    if not text.startswith("/") or text.startswith(("//", "/\\")):
        match = re.fullmatch(r"(https?://[^/?#\\]+)(.*)", text, re.IGNORECASE)
        if match is None:
            raise BadValue(f"“{shown}” is not a page; write a path such as /product/1, or a whole address.")
        path = match[2] or "/"
        try:
            host = target.parse(match[1], allow_private=True)
        except InvalidHost as error:
            raise BadValue(f"“{shown}” is not a page: {error}") from None
        own = host.port == site.port and target.same_site(host.origin, site.origin)
    if not own:
        raise BadValue(f"“{shown}” is not a page of {site.site}; a scan asks for pages of its own site alone.")
    if len(path) > MAX_LOCATION or _CONTROL.search(path):
        raise BadValue(f"“{shown}” is not a page; write a path such as /product/1, or a whole address.")
    return resolve("/", path.partition("#")[0])


def _decoded(authority: str) -> str:
    """Return ``authority`` with the escapes of its host decoded and an empty port dropped. Raises ValueError."""
    if authority != authority.strip():
        raise ValueError(authority)
    if "%" not in authority:
        return authority.removesuffix(":")
    host, colon, port = authority.partition(":")
    host = unquote(host, errors="strict")
    if _HOST_ENDS.search(host):
        raise ValueError(authority)
    return host + colon + port if port else host


MAX_COOKIES: Final = 50
MAX_COOKIE_BYTES: Final = 4096
MAX_COOKIE_HEADER_BYTES: Final = 8192
"""Limits in cookies and bytes (RFC 6265 6.1 asks for at least 50 and 4,096)."""
_PAIR: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+=[\x21-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e ]*")


class _SetCookies(Message):
    """The Set-Cookie fields of an answer, as ``http.cookiejar`` asks for them."""

    def info(self) -> Message:
        return self


class CookieJar:
    """The cookies of one probe (RFC 6265)."""

    def __init__(self) -> None:
        self._jar = http.cookiejar.CookieJar()

    def take(self, origin: Origin, path: str, fields: Iterable[tuple[str, str]]) -> None:
        """Keep what the Set-Cookie ``fields`` of an answer from ``origin`` and ``path`` set."""
        cookies = _SetCookies()
        for name, value in fields:
            pair = value.partition(";")[0].strip()
            if name == "set-cookie" and value.isascii() and len(pair) <= MAX_COOKIE_BYTES and _PAIR.fullmatch(pair):
                cookies["Set-Cookie"] = value
        if cookies:
            self._jar.extract_cookies(cookies, _cookie_request(origin, path))  # type: ignore[arg-type]

    def header(self, origin: Origin, path: str) -> str:
        """Return the Cookie header for a request, empty when there is none."""
        request = _cookie_request(origin, path)
        self._jar.add_cookie_header(request)
        cookies = (request.get_header("Cookie") or "").split("; ")[:MAX_COOKIES]
        while sum(map(len, cookies)) + 2 * len(cookies) > MAX_COOKIE_HEADER_BYTES:
            cookies.pop()
        return "; ".join(cookies)


def _cookie_request(origin: Origin, path: str) -> urllib.request.Request:
    return urllib.request.Request(f"{origin}{path}")  # noqa: S310 (nothing is opened)


MAX_URL: Final = 500
"""Characters of an address that are recorded."""
MAX_COUNTED_LETTERS: Final = 10_000
"""Readable characters that are counted at most of a page that refreshes to another one."""
SMALL_BODY_BYTES: Final = 1 << 17
"""Bytes up to which the bodies of one scan are read side by side; larger ones one at a time."""
_RAW_FACTOR: Final = 2
"""Bytes read from the network for each byte of body that may be kept."""


@dataclass(frozen=True, slots=True)
class ProbePlan:
    """What to ask: ``name`` of the probe, first ``url``, header ``fields`` and ``cap``, the body's limit in bytes.

    ``whole_lines``: a body that is cut ends with its last whole line. ``site``: the scanned origin, which
    alone gets the user's own header fields, wherever ``url`` leads; None: nobody gets them. ``body``: sent by POST.
    ``page``: what comes is shown to a reader, so that a refresh within seconds is followed like a redirect.
    ``redirects``: how many the client follows at most, None for the scan's own limit.
    """

    name: str
    url: Url
    fields: Fields
    cap: int
    whole_lines: bool = False
    site: Origin | None = None
    body: bytes = b""
    page: bool = False
    redirects: int | None = None


def planned(name: str, url: Url, fields: Fields, limits: Limits, site: Origin) -> ProbePlan:
    """Return the plan of the probe ``name`` of ``site``: a homepage or a file, with its limit of bytes."""
    if name not in FILE_PROBES:
        return ProbePlan(name, url, fields, limits.page, site=site, page=True)
    cap = limits.robots if name == "robots" else limits.file
    return ProbePlan(name, url, fields, cap, whole_lines=name == "robots", site=site)


@dataclass(slots=True)
class Answer:
    """What came back, not yet judged: ``url`` is the last address asked, ``headers`` are raw with lower-case names.

    ``silent``: nothing listened at the first address; ``waited``: seconds before requests were sent, which are not part
    of ``elapsed_ms``. ``request``: the fields of the last request, the values of private ones hidden.
    ``flooded``: the server sent more small things than an answer needs. The rest as in ``observations.Exchange``.
    """

    name: str
    url: Url
    status: int = 0
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""
    error: str = ""
    detail: str = ""
    elapsed_ms: int = 0
    cut: bool = False
    http_version: str = ""
    hops: list[Hop] = field(default_factory=list)
    silent: bool = False
    waited: float = 0.0
    request: list[tuple[str, str]] = field(default_factory=list)
    flooded: bool = False

    def mapping(self) -> Mapping[str, str]:
        """Return the headers with the values of one name joined by a comma (RFC 9110 5.3)."""
        return joined_fields(self.headers)

    @property
    def content_type(self) -> str:
        """The first Content-Type, empty when there is none."""
        return _header(self, "content-type")


async def probe(client: HttpClient, plan: ProbePlan, access: ScanPolicy, *, limit: float | None = None) -> Answer:
    """Return the answer to ``plan``; ``limit`` is in seconds, redirects and body included. Never raises for a peer."""
    answer = Answer(plan.name, plan.url)
    limit = access.limits.probe if limit is None else limit
    began = time.monotonic()
    try:
        async with asyncio.timeout(limit):
            await _run(client, plan, access, answer)
    except TimeoutError:
        if answer.status == 0:
            answer.error, answer.detail = "timeout", f"no answer within {round(limit, 0 if limit >= 10 else 1):g} s"
        else:
            answer.cut = True
    except NetworkError as error:
        answer.error, answer.detail = error.kind, error.detail
        answer.silent = error.silent and not answer.hops
        answer.flooded = error.flooded
        if error.kind == "address" and answer.hops:
            answer.error, answer.status = "redirect-address", answer.hops[-1].status
    except Unfollowed as error:
        answer.error, answer.detail = error.kind, error.detail
    except decode.DecodeError as error:
        answer.error, answer.detail, answer.status = "protocol", str(error), 0
    answer.elapsed_ms = round((time.monotonic() - began - answer.waited) * 1000)
    return answer


async def _run(client: HttpClient, plan: ProbePlan, access: ScanPolicy, answer: Answer) -> None:
    jar = CookieJar()
    cookie = ""
    max_redirects = min(access.limits.redirects, access.limits.redirects if plan.redirects is None else plan.redirects)
    visited = {(str(plan.url), cookie)}
    while True:
        own = access.private_fields() if _is_site(answer.url.origin, plan.site) else ()
        cookie_fields = (("Cookie", cookie),) if cookie else ()
        sent = over(plan.fields, answer.url.origin)
        answer.request = [*sent, *((name, HIDDEN) for name, _ in (*cookie_fields, *own))]
        fields = [(name.encode("ascii"), value.encode("ascii")) for name, value in (*sent, *cookie_fields, *own)]
        async with client.get(answer.url.origin, answer.url.path, fields, plan.body) as reply:
            answer.waited += reply.waited
            _take_head(reply, access, answer)
            if answer.status not in REDIRECTS:
                await _take_body(reply, plan, answer, client.large_bodies)
        redirected = answer.status in REDIRECTS
        location = _header(answer, "location") if redirected else _refresh(plan, answer)
        if not (redirected or location):
            return
        hop = Hop(url=clean(str(answer.url), MAX_URL), status=answer.status, location=clean(location, MAX_URL))
        try:
            if redirected:
                answer.hops.append(hop)
            after = redirect_target(answer.url, location, access)
            jar.take(answer.url.origin, answer.url.path, answer.headers)
            cookie = jar.header(after.origin, after.path)
            if (str(after), cookie) in visited:
                raise Unfollowed("redirect-loop", "it redirects in a circle")
            if len(answer.hops) > max_redirects:
                raise Unfollowed("redirect-loop", f"it redirects more than {max_redirects} times")
        except Unfollowed:
            if redirected:
                raise
            return  # a browser stays on the page
        if not redirected:
            letters = markup.readable(to_utf8(answer.body, answer.content_type), MAX_COUNTED_LETTERS)
            answer.hops.append(msgspec.structs.replace(hop, letters=letters))
            answer.body, answer.cut = b"", False
        visited.add((str(after), cookie))
        answer.url, answer.status, answer.headers = after, 0, []


def _header(answer: Answer, name: str) -> str:
    return next((value for key, value in answer.headers if key == name), "")


def _refresh(plan: ProbePlan, answer: Answer) -> str:
    """Return where the page refreshes to, empty for nowhere; a test for humans is never left."""
    if not plan.page or not 200 <= answer.status <= 299:
        return ""
    location = markup.refresh(answer.body, _header(answer, "refresh"))
    walled = location and walls.marked(answer.status, answer.mapping(), answer.body, str(answer.url))
    return "" if walled else location


def _is_site(origin: Origin, site: Origin | None) -> bool:
    """Whether the user's own header fields may go to ``origin``: the scanned one, or its move from http to https."""
    return site is not None and origin in (site, site._replace(scheme="https", port=DEFAULT_PORTS["https"]))


def _take_head(reply: Reply, access: ScanPolicy, answer: Answer) -> None:
    answer.status = reply.status
    answer.http_version = clean(reply.http_version, 10)
    not_sent = HTTP1_ONLY if answer.http_version == "HTTP/2" else HTTP2_ONLY
    answer.request = [field for field in answer.request if field[0].lower().encode() not in not_sent]
    answer.headers = [
        (name.decode("latin-1").lower(), _text(value)) for name, value in reply.fields[: access.limits.fields]
    ]


def _text(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")


async def _take_body(reply: Reply, plan: ProbePlan, answer: Answer, large: BodyLimiter) -> None:
    """Read the body into ``answer`` up to the cap; what was read stays when the rest is late, broken or too long.

    Of the ``large`` bodies of a scan one is read at a time: those that grow side by side leave holes in the memory,
    and equal ones are there several times before they are known to be equal.
    """
    chain = decode.decoders(answer.mapping().get("content-encoding", ""))
    if chain is None:
        answer.cut = True
        return
    body = bytearray()
    raw = 0
    try:
        async with AsyncExitStack() as place, aclosing(reply.chunks) as chunks:
            async for chunk in chunks:
                raw += len(chunk)
                before = len(body)
                body += decode.decode(chain, chunk, plan.cap + 1 - before)
                if len(body) > plan.cap or raw > _RAW_FACTOR * plan.cap:
                    answer.cut = True
                    break
                if before <= SMALL_BODY_BYTES < len(body):
                    await place.enter_async_context(large.place())
            else:
                answer.cut = not all(decoder.whole for decoder in chain)
    except NetworkError as error:
        answer.cut, answer.flooded = True, error.flooded
    except decode.DecodeError:
        if not body:
            raise
        answer.cut = True
    except asyncio.CancelledError:
        answer.cut = True
        raise
    finally:
        del body[plan.cap :]
        if answer.cut and plan.whole_lines:
            del body[max(body.rfind(b"\n"), body.rfind(b"\r")) + 1 :]
        answer.body = bytes(body)

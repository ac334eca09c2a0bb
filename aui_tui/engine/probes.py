"""One probe: GET, redirects, and the body as far as it may be read, within one time limit (method.md "Probes")."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final

from aui_tui.engine import decode, redirects
from aui_tui.engine.identity import Fields
from aui_tui.engine.network import Client, NetworkError, Reply
from aui_tui.engine.policy import ScanPolicy
from aui_tui.engine.redirects import CookieJar, Unfollowed, Url
from aui_tui.engine.target import DEFAULT_PORTS
from aui_tui.records.observations import REDIRECTS, Hop
from aui_tui.text import clean

MAX_URL: Final = 500
"""Characters of an address that are recorded."""
_RAW_FACTOR: Final = 2
"""Bytes read from the network for each byte of body that may be kept."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to ask: ``name`` of the probe, first ``url``, header ``fields`` and ``cap``, the body's limit in bytes.

    ``whole_lines``: a body that is cut ends with its last whole line.
    """

    name: str
    url: Url
    fields: Fields
    cap: int
    whole_lines: bool = False


HIDDEN: Final = "…"
"""What stands for the value of a private field in a record."""


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
        joined: dict[str, str] = {}
        for name, value in self.headers:
            joined[name] = f"{joined[name]}, {value}" if name in joined else value
        return joined

    @property
    def content_type(self) -> str:
        """The first Content-Type, empty when there is none."""
        return next((value for name, value in self.headers if name == "content-type"), "")


async def probe(client: Client, plan: Plan, access: ScanPolicy, *, limit: float | None = None) -> Answer:
    """Return the answer to ``plan``; ``limit`` is in seconds, redirects and body included. Never raises for a peer."""
    answer = Answer(plan.name, plan.url)
    limit = access.limits.probe if limit is None else limit
    began = time.monotonic()
    try:
        async with asyncio.timeout(limit):
            await _run(client, plan, access, answer)
    except TimeoutError:
        if answer.status == 0:
            answer.error, answer.detail = "timeout", f"no answer within {access.limits.probe:g} s"
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
    answer.elapsed_ms = round((time.monotonic() - began - answer.waited) * 1000)
    return answer


async def _run(client: Client, plan: Plan, access: ScanPolicy, answer: Answer) -> None:
    jar = CookieJar()
    cookie = ""
    visited = {(str(plan.url), cookie)}
    while True:
        own = access.private_fields() if _same_site(plan.url, answer.url) else ()
        kept = (("Cookie", cookie),) if cookie else ()
        answer.request = [*plan.fields, *((name, HIDDEN) for name, _ in (*kept, *own))]
        fields = [(name.encode("ascii"), value.encode("ascii")) for name, value in (*plan.fields, *kept, *own)]
        async with client.get(answer.url.origin, answer.url.path, fields) as reply:
            answer.waited += reply.waited
            _take_head(reply, access, answer)
            if answer.status not in REDIRECTS:
                await _take_body(reply, plan, answer)
                return
        location = next((value for name, value in answer.headers if name == "location"), "")
        answer.hops.append(
            Hop(url=clean(str(answer.url), MAX_URL), status=answer.status, location=clean(location, MAX_URL))
        )
        after = redirects.follow(answer.url, location, access)
        jar.take(answer.url.origin, answer.url.path, answer.headers)
        cookie = jar.header(after.origin, after.path)
        if (str(after), cookie) in visited:
            raise Unfollowed("redirect-loop", "it redirects in a circle")
        if len(answer.hops) > access.limits.redirects:
            raise Unfollowed("redirect-loop", f"it redirects more than {access.limits.redirects} times")
        visited.add((str(after), cookie))
        answer.url, answer.status, answer.headers = after, 0, []


def _same_site(first: Url, now: Url) -> bool:
    """Whether the user's own header fields may go to ``now``: the scanned origin, or its move from http to https."""
    return now.origin in (first.origin, first.origin._replace(scheme="https", port=DEFAULT_PORTS["https"]))


def _take_head(reply: Reply, access: ScanPolicy, answer: Answer) -> None:
    answer.status = reply.status
    answer.http_version = clean(reply.http_version, 10)
    answer.headers = [
        (name.decode("latin-1").lower(), _text(value)) for name, value in reply.fields[: access.limits.fields]
    ]


def _text(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")


async def _take_body(reply: Reply, plan: Plan, answer: Answer) -> None:
    """Read the body into ``answer`` up to the cap; what was read stays when the rest is late, broken or too long."""
    chain = decode.decoders(answer.mapping().get("content-encoding", ""))
    if chain is None:
        answer.cut = True
        return
    body = bytearray()
    raw = 0
    try:
        async with aclosing(reply.chunks) as chunks:
            async for chunk in chunks:
                raw += len(chunk)
                body += decode.decode(chain, chunk, plan.cap + 1 - len(body))
                if len(body) > plan.cap or raw > _RAW_FACTOR * plan.cap:
                    answer.cut = True
                    break
            else:
                answer.cut = not all(decoder.whole for decoder in chain)
    except NetworkError as error:
        answer.cut, answer.flooded = True, error.flooded
    except decode.DecodeError:
        answer.cut = True
    except asyncio.CancelledError:
        answer.cut = True
        raise
    finally:
        del body[plan.cap :]
        if answer.cut and plan.whole_lines:
            del body[max(body.rfind(b"\n"), body.rfind(b"\r")) + 1 :]
        answer.body = bytes(body)

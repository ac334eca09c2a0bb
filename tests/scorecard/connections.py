"""Connections to networks that are not public, counted at the one place where sockets are opened: there must be none.

Every input is tried as it is, and as a redirect at the first and at the third hop, while every name resolves to
loopback; every address is tried as the answer for a name, alone, beside a public one, and in a second look-up.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from aui_tui.errors import InvalidHost
from aui_tui.scan import target
from aui_tui.scan.network import Network, streams
from aui_tui.scan.policy import Limits, ScanPolicy
from aui_tui.scan.probes import ProbePlan, Url, probe
from aui_tui.scan.target import Origin
from tests.faults.site import Asked, Site, answer
from tests.scorecard import Row
from tests.scorecard.targets import read

LIMITS = Limits(probe=3, connect=3, lookup=1)
FIELDS = (("User-Agent", "x"),)
PUBLIC_ADDRESS = "8.8.8.8"


def rows(folder: Path) -> Iterator[Row]:
    """Yield one row for inputs and one for addresses."""
    inputs = [json.loads(row["input_json"]) for row in read(folder / "ssrf" / "inputs.csv")]
    table = [row["address"] for row in read(folder / "ssrf" / "addresses.csv") if row["strength"] == "must"]
    for name, dialled in asyncio.run(_measure(inputs, table)):
        inside = [address for address in dialled if not target.is_public(address)]
        yield Row("targets", name, f"{len(inside)} connections inside", not inside, tuple(inside))


async def _measure(inputs: Sequence[str], table: Sequence[str]) -> list[tuple[str, list[str]]]:
    real = streams.connect
    dialled: list[str] = []
    own = 0

    async def connect(address: str, port: int) -> streams.Stream:
        if port == own:
            return await real(address, port)
        dialled.append(address)
        raise ConnectionRefusedError

    streams.connect = connect
    try:
        chain = _Chain()
        async with Site(default=chain) as site:
            own = site.port
            for text in inputs:
                await _direct(text, ScanPolicy(resolver=_loopback, limits=LIMITS))
                for hop in (1, 3):
                    chain.lead(text, hop)
                    await _redirected(site)
            counted = [(f"no connection inside: {len(inputs)} inputs, direct, redirected at hop 1 and 3", dialled[:])]
            dialled.clear()
            for address in table:
                for answers in ([[address]], [[PUBLIC_ADDRESS, address]], [[PUBLIC_ADDRESS], [address]]):
                    await _direct("https://flip.com", ScanPolicy(resolver=_Names(answers), limits=LIMITS))
            name = f"no connection inside: {len(table)} addresses, behind a name, also one that changes"
            counted.append((name, dialled[:]))
    finally:
        streams.connect = real
    return counted


async def _direct(text: str, access: ScanPolicy) -> None:
    with suppress(InvalidHost):
        target = access.target(text)
        async with Network(access) as network:
            for origin in target.origins:
                for _ in range(2):
                    async with network.client() as client:
                        await probe(client, ProbePlan("browser", Url(origin, "/"), FIELDS, 1000), access)


async def _redirected(site: Site) -> None:
    access = site.access(LIMITS, resolver=_loopback)
    async with Network(access) as network, network.client() as client:
        await probe(client, ProbePlan("browser", Url(Origin("http", site.host, 80), "/"), FIELDS, 1000), access)


class _Chain:
    """A server that redirects to itself until the last hop, which leads where the case says."""

    def lead(self, text: str, hop: int) -> None:
        location = text if "://" in text else f"http://{text}"
        self._last = location.encode("utf-8", "surrogateescape").translate(None, b"\r\n")
        self._hop = hop

    async def __call__(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        step = int(asked.path.rpartition("/")[2] or 0) + 1
        location = self._last if step == self._hop else b"/%d" % step
        writer.write(answer(b"", "302 Found", extra=b"Location: " + location + b"\r\n"))
        await writer.drain()


async def _loopback(host: str) -> Sequence[str]:
    return ("127.0.0.1",)


class _Names:
    def __init__(self, answers: list[list[str]]) -> None:
        self._answers = answers

    async def __call__(self, host: str) -> Sequence[str]:
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]

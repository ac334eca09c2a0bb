"""Any bytes for an answer: a probe ends in time with a record, and never with an exception."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from aui_tui.model.observations import BROWSER, ERRORS
from aui_tui.scan import exchanges
from aui_tui.scan.network import Network
from aui_tui.scan.policy import ConnectTo, Limits, ScanPolicy
from aui_tui.scan.probes import Answer, ProbePlan, Url, probe
from aui_tui.scan.target import Origin
from tests.faults.lab import check_clean
from tests.faults.site import PAGE, answer

LIMITS = Limits(probe=5, connect=5)
PIECES = [
    b"HTTP/1.1 200 OK\r\n",
    b"HTTP/1.1 302 Found\r\nLocation: /x\r\n",
    b"HTTP/1.1 103 Early Hints\r\n\r\n",
    b"HTTP/1.0 404 Not Found\r\n",
    b"Content-Length: 5\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Content-Encoding: gzip\r\n",
    b"Content-Type: text/html; charset=utf-16\r\n",
    b"Set-Cookie: a=\x00\r\n",
    b"Server: \x1b[2J\xff\r\n",
    b"\r\n",
    b"5\r\nhello\r\n0\r\n\r\n",
    b"<title>x</title>",
    b": \r\n",
    b"\n",
]
answers = st.one_of(
    st.binary(max_size=200),
    st.lists(st.one_of(st.sampled_from(PIECES), st.binary(max_size=12)), max_size=8).map(b"".join),
    st.tuples(st.integers(0, 140), st.binary(max_size=6)).map(
        lambda change: answer(PAGE)[: change[0]] + change[1] + answer(PAGE)[change[0] + len(change[1]) :]
    ),
)


async def probed(data: bytes) -> Answer:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(4096)
        writer.write(data)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    access = ScanPolicy(connect_to=(ConnectTo("", None, "127.0.0.1", port),), limits=LIMITS)
    plan = ProbePlan(BROWSER, Url(Origin("http", "shop.com", 80), "/"), (("User-Agent", "x"),), 1000)
    async with Network(access) as network, network.client() as client:
        found = await probe(client, plan, access)
    server.close()
    return found


@given(answers)
def test_a_probe_ends_with_a_record(data: bytes) -> None:
    found = asyncio.run(probed(data))
    assert found.status == 0 or 200 <= found.status <= 999
    assert found.error in ("", *ERRORS)
    assert (found.status == 0) <= bool(found.error)
    assert len(found.body) <= 1000
    record = exchanges.exchange(found, LIMITS)
    check_clean([record.url, record.detail, record.title, record.http_version, list(record.headers)])

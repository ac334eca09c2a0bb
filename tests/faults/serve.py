"""One fault for every request, in a process of its own: ``python -m tests.faults.serve ROOT NAME...``.

Prints a port for each name, and serves until its standard input ends. The floods of HTTP/2 stand behind TLS; the
certificate of their authority is written to the file ROOT.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import ssl
import sys
from collections.abc import AsyncIterator, Iterator, Sequence

import trustme

from tests.cli.runner import helper
from tests.faults import behaviours, h2_floods
from tests.faults.site import Behaviour, Site, good

FAULTS: dict[str, Behaviour] = {
    "none": good,
    **behaviours.NO_ANSWER,
    **behaviours.CUT_BODY,
    **behaviours.EMPTY_BODY,
    **behaviours.ODD_BUT_FINE,
}


@contextlib.asynccontextmanager
async def standing(name: str, authority: trustme.CA) -> AsyncIterator[int]:
    """Serve the fault called ``name`` and give the port."""
    if name in FAULTS:
        async with Site(default=FAULTS[name]) as site:
            yield site.port
        return
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("shop.test", "shop.example", "*.example.com").configure_cert(tls)
    async with h2_floods.flooding(name, tls) as port:
        yield port


async def main(root: str, names: Sequence[str]) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(root)
    async with contextlib.AsyncExitStack() as stack:
        print(*[await stack.enter_async_context(standing(name, authority)) for name in names], flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


@contextlib.contextmanager
def serving_all(names: Sequence[str], root: str = os.devnull) -> Iterator[dict[str, int]]:
    """Serve the faults called ``names`` in another process; give the port of each."""
    with helper("tests.faults.serve", root, *names) as said:
        yield dict(zip(names, map(int, said.readline().split()), strict=True))


@contextlib.contextmanager
def serving(name: str) -> Iterator[int]:
    """Serve the fault called ``name`` in another process and give its port."""
    with serving_all([name]) as ports:
        yield ports[name]


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2:]))

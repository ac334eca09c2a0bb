"""Sites that are healthy or broken in one place, in a process of their own: ``python -m tests.soak.servers COUNT``.

Prints one port a line, then an empty line, and serves until its standard input ends.
"""

from __future__ import annotations

import asyncio
import itertools
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack

from tests.faults import behaviours
from tests.faults.site import AGENTS, BROWSER, FILE_PROBES, Behaviour, Site


def faults() -> Iterator[dict[str, Behaviour]]:
    """Yield, for ever, what is broken where; every fault comes in every place."""
    broken = [
        *behaviours.NO_ANSWER.values(),
        *behaviours.CUT_BODY.values(),
        *behaviours.EMPTY_BODY.values(),
        *behaviours.ODD_BUT_FINE.values(),
        *(behaviour for behaviour, _ in behaviours.REDIRECTS.values()),
    ]
    places = itertools.cycle([(BROWSER,), (AGENTS[0],), (), FILE_PROBES, AGENTS, ()])
    for fault in itertools.cycle(broken):
        yield dict.fromkeys(next(places), fault)


async def main(count: int) -> None:
    async with AsyncExitStack() as stack:
        sites = [await stack.enter_async_context(Site(faults=found)) for found in itertools.islice(faults(), count)]
        for site in sites:
            print(site.port)
        print(flush=True)
        ended = asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
        while not ended.done():
            await asyncio.wait({ended}, timeout=1)
            for site in sites:
                site.forget()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))

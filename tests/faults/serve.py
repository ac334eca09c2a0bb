"""One fault for every request, in a process of its own: ``python -m tests.faults.serve NAME``.

Prints its port, and serves until its standard input ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import Iterator

from tests.faults import behaviours
from tests.faults.site import Behaviour, Site, good

FAULTS: dict[str, Behaviour] = {
    "none": good,
    **behaviours.NO_ANSWER,
    **behaviours.CUT_BODY,
    **behaviours.EMPTY_BODY,
    **behaviours.ODD_BUT_FINE,
}


async def main(name: str) -> None:
    async with Site(default=FAULTS[name]) as site:
        print(site.port, flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


@contextlib.contextmanager
def serving(name: str) -> Iterator[int]:
    """Serve the fault called ``name`` in another process and give its port."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.faults.serve", name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline())
    finally:
        process.stdin.close()
        process.wait(10)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))

"""Files as constant answers, the yardstick of the HTTP benchmark: ``python -m tests.benchmarks.static_server FILE...``.

File n is served at ``/n``. Prints its port, and serves until its standard input ends. STATIC_WORKERS processes. The
server is the same as that of the API: uvicorn with h11 on asyncio's loop. The socket names its protocol: on one that
does not, asyncio leaves Nagle's algorithm on and every answer waits 40 ms.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from uvicorn.supervisors import Multiprocess


def app() -> Starlette:
    """Return an application that answers with each file of STATIC_FILES."""

    def route(number: int, body: bytes) -> Route:
        async def answer(request: Request) -> Response:
            return Response(body, media_type="application/json")

        return Route(f"/{number}", answer)

    files = os.environ["STATIC_FILES"].split(os.pathsep)
    return Starlette(routes=[route(number, Path(path).read_bytes()) for number, path in enumerate(files)])


def main(files: list[str]) -> None:
    """Serve ``files``."""
    os.environ["STATIC_FILES"] = os.pathsep.join(files)
    workers = int(os.environ.get("STATIC_WORKERS", "1"))
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen(512)
    listener.set_inheritable(True)
    print(listener.getsockname()[1], flush=True)
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)) if workers == 1 else None, daemon=True).start()
    config = uvicorn.Config(
        "tests.benchmarks.static_server:app",
        factory=True,
        loop="asyncio",
        http="h11",
        access_log=False,
        log_level="error",
        workers=workers,
    )
    if workers == 1:
        uvicorn.Server(config).run(sockets=[listener])
    else:
        Multiprocess(config, [listener]).run()


if __name__ == "__main__":
    main(sys.argv[1:])

"""How long the event loop is held up while hostile and ordinary pages are read."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

from aui_tui.scan import page, walls
from aui_tui.scan.parser_process import ParserProcess
from tests.scorecard import Row

MIB = 1 << 20
UNITS = (
    *(
        b"<a ",
        b"<",
        b"<!--",
        b"<a>",
        b"</a>",
        b"<p>",
        b"<b>",
        b'<a b="',
        b"<script>",
        b"<title></title>",
        b"\xff",
        b"\0",
    ),
    *(
        b"<svg><title>x</title></svg>",
        b"<div><b a=1>x</div>",
        b"<table><tr><td>",
        b"&#9",
        b"<body a>",
        b"<input>",
        b"x ",
    ),
)


def rows(folder: Path) -> Iterator[Row]:
    """Yield the row of the event loop."""
    ordinary = [path.read_bytes() for path in sorted((folder / "html" / "pages").iterdir())]
    hostile = [(unit * (MIB // len(unit) + 1))[:MIB] for unit in UNITS]
    hostile.append(b"".join(b"<div><b a=%d>x</div>" % i for i in range(50_000)))
    lags = sorted(asyncio.run(_measure(ordinary + hostile)))
    p99, worst = lags[len(lags) * 99 // 100] * 1000, lags[-1] * 1000
    yield Row("stall", "event loop held up under 100 ms (p99)", f"p99 {p99:.0f} ms, worst {worst:.0f} ms", p99 < 100)


async def _measure(bodies: list[bytes]) -> list[float]:
    lags: list[float] = []
    done = asyncio.Event()

    async def watch() -> None:
        while not done.is_set():
            due = time.perf_counter() + 0.005
            await asyncio.sleep(0.005)
            lags.append(max(time.perf_counter() - due, 0.0))

    watching = asyncio.create_task(watch())
    async with ParserProcess() as parser:
        for body in bodies:
            page.title(body)
            await asyncio.sleep(0)
            walls.recognise(200, {}, b"Checking your browser" + body)
            await asyncio.sleep(0)
            await parser.homepage(body)
            await parser.robots(body, 200)
    done.set()
    await watching
    return lags

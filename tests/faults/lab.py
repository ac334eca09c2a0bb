"""Scan a fault site with the real engine, and what must hold of every record whatever the site did."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import time
from collections.abc import AsyncIterator
from importlib.resources import files
from typing import Any, Final

import jsonschema
import msgspec

from aui_tui.checks.scoring import grade_card
from aui_tui.model.codec import encode_card
from aui_tui.model.methods import METHODS
from aui_tui.model.observations import Observations, Recording, decode_recording, encode_recording
from aui_tui.model.progress import Progress, no_progress
from aui_tui.scan.parser_process import ParserProcess
from aui_tui.scan.policy import ScanPolicy
from aui_tui.scan.scan import observe
from aui_tui.text import clean
from tests.faults.site import PLACES, LoopbackSite, Site

P99: Final = 0.25
WORST: Final = 1.0
"""Seconds of processor time that one turn of the event loop may take: of a hundred turns all but one, and any."""
_SCHEMA: Any = json.loads(files("aui_tui.model").joinpath("schemas/card.schema.json").read_text())
CARD = jsonschema.validators.validator_for(_SCHEMA)(_SCHEMA)


async def scan(
    site: LoopbackSite, parser: ParserProcess, access: ScanPolicy | None = None, *, progress: Progress = no_progress
) -> Observations:
    """Return the observations of ``site``; the record is checked, and that no connection of the scan is left."""
    access = access or site.access()
    async with responsive():
        observed = await observe(access.target(site.url), parser=parser, access=access, progress=progress)
    check_record(observed)
    return observed


def check_record(observed: Observations) -> None:
    """Assert what holds of every record: its places, its replay, its cards under both methods, and clean text."""
    assert tuple(exchange.name for exchange in observed.exchanges) == PLACES
    again = decode_recording(encode_recording(Recording(observations=observed))).observations
    assert again == observed
    for method in METHODS:
        encoded = encode_card(grade_card(observed, method))
        assert encode_card(grade_card(again, method)) == encoded
        card = json.loads(encoded)
        CARD.validate(card)
        check_clean(card)
    check_clean(msgspec.to_builtins(observed))


def check_clean(value: object) -> None:
    """Assert that no text in ``value`` could steer a terminal."""
    if isinstance(value, str):
        assert value == clean(value, block=True)
    elif isinstance(value, dict):
        for key, inner in value.items():
            check_clean(key)
            check_clean(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            check_clean(inner)


@contextlib.asynccontextmanager
async def responsive() -> AsyncIterator[list[float]]:
    """Assert that nothing in the block keeps the event loop from others; give the times between its turns.

    Measured is processor time between two turns of the loop, which a busy machine does not distort. What the process
    holds from earlier tests is frozen, so that a collection of garbage in the block walks through the block's own.
    """
    turns: list[float] = []
    gc.freeze()

    async def tick() -> None:
        while True:
            began = time.thread_time()
            await asyncio.sleep(0.002)
            turns.append(time.thread_time() - began)

    ticking = asyncio.create_task(tick())
    try:
        yield turns
    finally:
        ticking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await ticking
        gc.unfreeze()
    turns.sort()
    worst = turns[-1]
    p99 = turns[len(turns) * 99 // 100] if len(turns) >= 100 else 0.0  # fewer turns have no hundredth
    assert p99 < P99, f"one turn in a hundred takes {p99:.3f} s"
    assert worst < WORST, f"one turn takes {worst:.3f} s"


async def settled(site: Site, seconds: float = 30.0) -> int:
    """Return how many connections the server still sees after the scan, given time to notice the ends."""
    end = time.monotonic() + seconds
    while site.open_now and time.monotonic() < end:
        await asyncio.sleep(0.01)
    return site.open_now

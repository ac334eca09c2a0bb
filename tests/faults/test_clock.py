"""The clock of the fault tests leaves out what the machine did otherwise, and nothing else."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time

import pytest


@pytest.mark.skipif(sys.platform == "win32", reason="stops a process by a signal")
async def test_time_for_which_the_process_stood_still_is_not_counted() -> None:
    real, counted = time.perf_counter(), time.monotonic()
    stop = f"kill -STOP {os.getpid()}; sleep 1; kill -CONT {os.getpid()}"
    with subprocess.Popen(["sh", "-c", stop]) as process:
        while process.poll() is None:
            await asyncio.sleep(0.01)
    assert time.perf_counter() - real - (time.monotonic() - counted) > 0.9


async def test_a_wait_is_counted() -> None:
    began = time.monotonic()
    await asyncio.sleep(0.2)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(asyncio.Event().wait(), 0.2)
    assert time.monotonic() - began >= 0.4

"""Worker processes of this program: how one is started, and the frames in which they exchange messages.

A frame is msgpack after its length as a big-endian number of HEADER octets.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import IO, Final

import msgspec

import aui_tui

HEADER: Final = 4
"""Octets of the length before each frame, in either direction."""

_BOOT: Final = """\
import importlib, json, sys
sys.path[:] = json.loads(sys.argv[2])
importlib.import_module(sys.argv[1]).main()
"""


def command(module: str) -> list[str]:
    """Return the command line of a process that finds the same modules and runs ``main()`` of ``module``."""
    root = str(Path(aui_tui.__file__).resolve().parent.parent)
    path = [str(Path(entry).resolve()) if entry else str(Path.cwd()) for entry in sys.path]
    return [sys.executable, "-I", "-S", "-c", _BOOT, module, json.dumps(path if root in path else [root, *path])]


def take_pipes() -> tuple[int, int]:
    """Return descriptors of what were standard input and output; both become the null device.

    Whatever a library prints can then break no frame.
    """
    inbox, outbox = os.dup(0), os.dup(1)
    with open(os.devnull, "r+b") as nothing:  # noqa: PTH123
        os.dup2(nothing.fileno(), 0)
        os.dup2(nothing.fileno(), 1)
    return inbox, outbox


def frame(value: object) -> bytes:
    """Return ``value`` as a frame."""
    data = msgspec.msgpack.encode(value)
    return len(data).to_bytes(HEADER, "big") + data


def read_frame(stream: IO[bytes]) -> bytes | None:
    """Read the msgpack of one frame; None when the stream ends first."""
    header = stream.read(HEADER)
    if len(header) < HEADER:
        return None
    size = int.from_bytes(header, "big")
    data = stream.read(size)
    return data if len(data) == size else None


async def receive_frame(reader: asyncio.StreamReader) -> bytes | None:
    """Read the msgpack of one frame without blocking; None when the stream ends first."""
    try:
        size = int.from_bytes(await reader.readexactly(HEADER), "big")
        return await reader.readexactly(size)
    except (asyncio.IncompleteReadError, ConnectionError):
        return None

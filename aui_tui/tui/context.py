"""What every screen is given: the service, the clock, and the writer of files."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec

from aui_tui.errors import AuiError
from aui_tui.service.protocol import Service
from aui_tui.text import clean
from aui_tui.tui.export import Exporter

T = TypeVar("T")


class Context(msgspec.Struct, frozen=True):
    """Handed to every screen. ``clock`` returns epoch seconds; without ``exporter`` nothing is written."""

    service: Service
    clock: Callable[[], float] = time.time
    exporter: Exporter | None = None


def sentence(error: BaseException) -> str:
    """Return what went wrong in one sentence without anything that could steer a terminal.

    An error of a library may fail to give its own words; then its kind is told alone.
    """
    try:
        words = str(error)
    except Exception:
        words = ""
    if isinstance(error, AuiError):
        return clean(words, 300).strip() or error.title + "."
    words = clean(words, 200).strip()
    name = type(error).__name__
    return clean(" ".join(("Unexpected problem:", name + ("." if not words else ": " + words))), 300)


async def attempt(work: Awaitable[T]) -> tuple[T | None, str]:
    """Return the result of ``work`` and an empty string, or None and what went wrong in one sentence.

    Cancelling passes through.
    """
    try:
        return await work, ""
    except Exception as error:
        return None, sentence(error)

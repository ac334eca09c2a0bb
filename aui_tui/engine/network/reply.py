"""What any way of asking brings back: status line, header fields, and a body to be read."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Final

Field = tuple[bytes, bytes]
FINAL_STATUSES: Final = (200, 999)
"""Statuses that end an exchange; sites do use numbers beyond 599."""
HTTP2_ONLY: Final = frozenset({b"priority"})
"""Lower-case names of fields that are not sent over HTTP/1.1: what browsers send there over HTTP/2 alone."""


@dataclass(frozen=True, slots=True)
class Reply:
    """Status line and header fields of an answer; ``chunks`` are the body's bytes as sent, still encoded.

    ``waited``: seconds for which the request was held back before it was sent.
    """

    status: int
    fields: Sequence[Field]
    http_version: str
    chunks: AsyncGenerator[bytes, None]
    waited: float = 0.0

"""An MCP client at standard input and output: its lines, bounded, and an answer to each that is no message."""

from __future__ import annotations

import asyncio
import contextlib
import os
from typing import Final

import pydantic_core
from mcp.types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from aui_tui.text import clean
from aui_tui.threads import abandonable

MAX_LINE: Final = 4 << 20
"""Octets that a line may have."""
_CHUNK: Final = 1 << 16


def _fault(line: bytes) -> ErrorData | None:
    """Return what is wrong with a line; None for a message."""
    if len(line) > MAX_LINE:
        return ErrorData(code=PARSE_ERROR, message=f"Parse error: a line may have {MAX_LINE:,} bytes.")
    try:
        parsed = pydantic_core.from_json(line)
    except ValueError as wrong:
        return ErrorData(code=PARSE_ERROR, message=f"Parse error: {clean(wrong, 200)}.")
    with contextlib.suppress(ValidationError):
        message = jsonrpc_message_adapter.validate_python(parsed, by_name=False)
        if not (isinstance(message, JSONRPCNotification) and "id" in parsed):
            return None
    sentence = "Invalid request: not a message of JSON-RPC 2.0 whose id is a string or an integer."
    return ErrorData(code=INVALID_REQUEST, message=sentence)


class StdioClient:
    """Yields the messages of the client, one line each, and takes the answers: both files of ``stdio_server``.

    Reading and writing happen on threads that nobody waits for: ctrl+c needs no further line. While it is in use, what
    is printed goes to standard error, not between the answers.
    """

    def __init__(self) -> None:
        self._input, self._output = os.dup(0), os.dup(1)
        os.dup2(2, 1)
        self._waiting = bytearray()
        self._writing = asyncio.Lock()
        self._client_gone = False

    def __aiter__(self) -> StdioClient:
        return self

    async def __anext__(self) -> str:
        """Return the next line that is a message; every other line is answered (JSON-RPC 2.0, 5.1)."""
        while not self._client_gone and (line := await abandonable(self._line)) is not None:
            error = _fault(line) if line.strip() else None
            if error is not None:
                await self.write(JSONRPCError(jsonrpc="2.0", id=None, error=error).model_dump_json() + "\n")
            elif line.strip():
                return line.decode()
        raise StopAsyncIteration

    async def write(self, text: str) -> None:
        """Write a whole line; a client that has gone ends the input."""
        async with self._writing:
            try:
                await abandonable(lambda: self._put(text.encode()))
            except OSError:
                self._client_gone = True

    async def flush(self) -> None:
        """Nothing waits in a buffer."""

    def _put(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._output, data) :]

    def _line(self) -> bytes | None:
        """Return the next line; of one that is too long only that it is. None at the end of the input."""
        overlong = b""
        while (end := self._waiting.find(b"\n")) < 0:
            if len(self._waiting) > MAX_LINE:
                overlong = bytes(self._waiting[: MAX_LINE + 1])
                self._waiting.clear()
            chunk = b""
            with contextlib.suppress(OSError):
                chunk = os.read(self._input, _CHUNK)
            if not chunk:
                rest = overlong or bytes(self._waiting)
                self._waiting.clear()
                return rest or None
            self._waiting += chunk
        line = overlong or bytes(self._waiting[:end])
        del self._waiting[: end + 1]
        return line

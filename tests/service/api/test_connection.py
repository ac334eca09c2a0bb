"""What is written in one turn of the loop leaves as one, and nothing is lost or kept too long."""

from __future__ import annotations

import asyncio

from aui_tui.service.api.guard import FULL, Joined


class Wire(asyncio.Transport):
    """Notes what reaches it."""

    def __init__(self) -> None:
        super().__init__()
        self.done: list[bytes | str] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.done.append(bytes(data))

    def close(self) -> None:
        self.done.append("close")

    def abort(self) -> None:
        self.done.append("abort")

    def get_write_buffer_size(self) -> int:
        return 7


async def test_head_and_body_leave_together() -> None:
    wire = Wire()
    joined = Joined(wire)
    for _ in range(2):
        joined.write(b"head ")
        joined.write(b"body")
        assert joined.get_write_buffer_size() == 7 + 9
        await asyncio.sleep(0)
    assert wire.done == [b"head body"] * 2
    assert joined.get_write_buffer_size() == 7


async def test_much_is_not_held_back() -> None:
    wire = Wire()
    joined = Joined(wire)
    joined.write(b"x" * FULL)
    joined.write(b"rest")
    assert wire.done == [b"x" * FULL]
    await asyncio.sleep(0)
    assert wire.done == [b"x" * FULL, b"rest"]


async def test_close_sends_what_is_held_and_abort_drops_it() -> None:
    for end, left in (("close", [b"last", "close"]), ("abort", ["abort"])):
        wire = Wire()
        joined = Joined(wire)
        joined.write(b"last")
        getattr(joined, end)()
        await asyncio.sleep(0)
        assert wire.done == left

"""A small coverage-guided fuzzer: inputs that reach new lines of the package are kept and mutated further."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import aui_tui

PACKAGE = str(Path(aui_tui.__file__).parent)
MAX_INPUT = 8192
"""Octets of an input."""
SLOW = 2.0
"""Seconds of one input that count as a finding; tracing included."""

Target = Callable[[bytes], None]


@dataclass(frozen=True)
class Finding:
    """An input that broke a promise, and how."""

    data: bytes
    error: str


@dataclass
class Fuzzer:
    """Runs ``target`` on mutations of ``seeds``; ``words`` are put in whole, ``source`` decides everything."""

    target: Target
    seeds: Sequence[bytes]
    words: Sequence[bytes] = ()
    source: random.Random = field(default_factory=random.Random)
    runs: int = 0

    def __post_init__(self) -> None:
        self.corpus: list[bytes] = []
        self.seen: set[tuple[str, int, int]] = set()
        self.findings: list[Finding] = []

    def run(self, *, seconds: float = 1e9, runs: int = 1 << 62) -> list[Finding]:
        """Go on for so long, or until three inputs have broken something; return those."""
        until = time.monotonic() + seconds
        for seed in self.seeds:
            self.try_one(seed)
        while self.runs < runs and time.monotonic() < until and len(self.findings) < 3:
            self.try_one(self.mutate(self.source.choice(self.corpus or [b""])))
        return self.findings

    def try_one(self, data: bytes) -> None:
        """Run one input; keep it when it reaches anything new."""
        self.runs += 1
        reached: set[tuple[str, int, int]] = set()
        began = time.monotonic()
        error = ""
        sys.settrace(_tracer(reached))
        try:
            self.target(data)
        except Exception as problem:  # every escape is the finding
            error = f"{type(problem).__name__}: {problem}"
        finally:
            sys.settrace(None)
        if not error and time.monotonic() - began > SLOW:
            error = f"took {time.monotonic() - began:.1f} s"
        if error and all(error.split(":")[0] != known.error.split(":")[0] for known in self.findings):
            self.findings.append(Finding(data, error))
        if reached - self.seen:
            self.seen |= reached
            self.corpus.append(data)

    def mutate(self, data: bytes) -> bytes:
        """Return ``data`` changed in one to four places."""
        out = bytearray(data)
        for _ in range(self.source.randint(1, 4)):
            at = self.source.randint(0, len(out))
            kind = self.source.randrange(7)
            if kind == 0:
                out[at:at] = self.source.randbytes(self.source.randint(1, 4))
            elif kind == 1:
                del out[at : at + self.source.randint(1, 16)]
            elif kind == 2 and self.words:
                out[at:at] = self.source.choice(self.words)
            elif kind == 3 and at < len(out):
                out[at] ^= 1 << self.source.randrange(8)
            elif kind == 4:
                piece = out[at : at + self.source.randint(1, 32)]
                out[at:at] = piece * self.source.randint(1, 8)
            elif kind == 5 and self.corpus:
                other = self.source.choice(self.corpus)
                cut = self.source.randint(0, len(other))
                out[at:] = other[cut:]
            elif at < len(out):
                out[at] = self.source.choice(b"\0\t\n\r \"#$%&'*/:;<=>?@[]{}\x7f\x80\xff")
        return bytes(out[:MAX_INPUT])


def _tracer(reached: set[tuple[str, int, int]]) -> Callable[[FrameType, str, Any], Any]:
    def local(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal before
        if event == "line":
            reached.add((frame.f_code.co_filename, before, frame.f_lineno))
            before = frame.f_lineno
        return local

    def enter(frame: FrameType, event: str, _: Any) -> Any:
        return local if frame.f_code.co_filename.startswith(PACKAGE) else None

    before = 0
    return enter

"""A site in a process of its own, under every name, for crawls that are killed."""

from __future__ import annotations

import contextlib
import json
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass

from tests.benchmarks.fast_server import in_own_process


@dataclass(frozen=True)
class Served:
    """A running site; ``options`` lead a crawl to it."""

    port: int

    @property
    def options(self) -> list[str]:
        return ["--connect-to", f":80:127.0.0.1:{self.port}"]

    def homepages(self) -> dict[str, int]:
        """Return how often each host's homepage was asked for."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/count", timeout=10) as answer:
            found: dict[str, int] = json.load(answer)
        return found


@contextlib.contextmanager
def served(delay: float = 0.0) -> Iterator[Served]:
    """Serve the fast site, each answer after ``delay`` seconds."""
    with in_own_process(delay) as port:
        yield Served(port)

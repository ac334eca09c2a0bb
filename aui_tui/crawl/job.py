"""One host as a piece of work that may travel to another process or machine, and what became of its row."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import msgspec

from aui_tui.crawl.listing import BadRow, Row
from aui_tui.engine.network import PyreqwestTransport
from aui_tui.engine.policy import ConnectTo, Limits, ScanPolicy
from aui_tui.engine.scan import Parser, observe
from aui_tui.engine.scoring import Labels, grade_card
from aui_tui.errors import AuiError
from aui_tui.records.codec import Keys, encode_card
from aui_tui.records.methods import DEFAULT_METHOD
from aui_tui.store.writer import Packed
from aui_tui.text import clean

UNEXPECTED: Final = "Unexpected error"
QUEUE_PATIENCE: Final = 3.0
"""Seconds as in ``Limits.patience``: a crawl has time, and saves both sides half the connections."""
BUDGET: Final = 20.0
"""Seconds as in ``Limits.budget``: in a crawl a refusal is looked at again, but no host holds a place for a minute."""


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """What holds for every scan of a crawl.

    ``connect_to``, ``insecure``, ``cafile``, ``allow_private``, ``limits``: as in ``engine.policy.ScanPolicy``;
    ``keys``: names in the cards that are handed out, empty when none are wanted; ``fast``: scanning processes ask by
    the extra ``fast``.
    """

    method: str = DEFAULT_METHOD
    base_url: str = ""
    allow_private: bool = False
    connect_to: tuple[tuple[str, int | None, str, int | None], ...] = ()
    cafile: str = ""
    insecure: bool = False
    limits: Limits = Limits()
    keys: Keys | None = None
    fast: bool = False

    @classmethod
    def of(
        cls, access: ScanPolicy, *, method: str, base_url: str, keys: Keys | None = None, fast: bool = False
    ) -> Terms:
        """Return the terms under which ``access`` scans; its header fields and credentials stay here."""
        return cls(
            method=method,
            base_url=base_url,
            allow_private=access.allow_private,
            connect_to=tuple((rule.host, rule.port, rule.to_host, rule.to_port) for rule in access.connect_to),
            cafile=access.cafile,
            insecure=access.insecure,
            limits=replace(
                access.limits,
                patience=QUEUE_PATIENCE,
                budget=BUDGET,
                whole=BUDGET + 15,
                retry_after=BUDGET / 4,
                causes=0,
            ),
            keys=keys,
            fast=fast,
        )

    def access(self) -> ScanPolicy:
        """Return the access of the scans."""
        return ScanPolicy(
            allow_private=self.allow_private,
            connect_to=tuple(ConnectTo(*rule) for rule in self.connect_to),
            cafile=self.cafile,
            insecure=self.insecure,
            limits=self.limits,
        )


class ScanJob(msgspec.Struct, frozen=True, array_like=True):
    """A host to scan: ``number`` tells it apart, the rest are its address and labels."""

    number: int
    url: str
    name: str = ""
    category: str = "Uncategorized"
    seed: bool = False


class Result(msgspec.Struct, frozen=True, array_like=True):
    """What became of a job: ``packed`` is ready to be written; without it ``title`` and ``error`` say why.

    ``card``: the record as JSON where the terms ask for it. ``status``: the HTTP status of the error.
    """

    number: int
    packed: Packed | None = None
    card: bytes = b""
    unreachable: bool = False
    title: str = ""
    error: str = ""
    status: int = 0


async def scan(
    job: ScanJob, terms: Terms, access: ScanPolicy, parser: Parser, fast: PyreqwestTransport | None = None
) -> Result:
    """Scan one host, grade and pack it. Raises nothing but CancelledError: an error is a result."""
    try:
        observed = await observe(access.target(job.url), parser=parser, access=access, fast=fast)
        labels = Labels(name=job.name, category=job.category, seed=job.seed, base_url=terms.base_url)
        card = grade_card(observed, terms.method, labels=labels)
        packed = Packed.of(card, observed)
    except AuiError as error:
        return failed(job, type(error).title, str(error), type(error).http_status)
    except Exception as error:
        return failed(job, UNEXPECTED, f"{type(error).__name__}: {clean(str(error), 200)}")
    record = b"" if terms.keys is None else encode_card(card, terms.keys)
    return Result(job.number, packed, record, card.unreachable)


def failed(job: ScanJob, title: str, error: str, status: int = 500) -> Result:
    """Return the result of a job that gave no card."""
    return Result(job.number, title=title, error=error, status=status)


class Gate:
    """Lets scans begin only while the event loop keeps up, so that our own load never looks like a slow site.

    ``watch`` must run beside the scans. At most ``burst`` scans begin between two looks at the loop.
    """

    TICK: Final = 0.02
    LATE: Final = 0.15
    """Seconds by which the loop may be late."""

    def __init__(self, burst: int = 4) -> None:
        self._burst = burst
        self._places = asyncio.Semaphore(burst)
        self._free = burst

    async def watch(self) -> None:
        """Look at the loop for ever."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + self.TICK
            await asyncio.sleep(self.TICK)
            if loop.time() - due < self.LATE:
                for _ in range(self._burst - self._free):
                    self._places.release()
                self._free = self._burst

    async def __call__(self) -> None:
        """Wait until one more scan may begin."""
        await self._places.acquire()
        self._free -= 1


SCANNED: Final = "scanned"
UNREACHABLE: Final = "unreachable"
FAILED: Final = "failed"
FRESH: Final = "fresh"
BAD: Final = "bad"


class Done(NamedTuple):
    """What became of a row: one of the words above; ``result`` where it was scanned, ``saved`` once it is kept."""

    row: Row | BadRow
    kind: str
    result: Result | None = None
    saved: bool = False

    @classmethod
    def of(cls, row: Row, result: Result, *, written: bool) -> Done:
        """Return the outcome of a scan; ``written`` says whether the index took what there was to write."""
        kind = FAILED if result.packed is None else UNREACHABLE if result.unreachable else SCANNED
        return cls(row, kind, result, written and result.packed is not None)


@dataclass(slots=True)
class Counts:
    """Rows by what became of them; ``unsaved`` results could not be written."""

    scanned: int = 0
    unreachable: int = 0
    failed: int = 0
    fresh: int = 0
    bad: int = 0
    unsaved: int = 0

    def add(self, done: Done) -> None:
        """Count one row."""
        setattr(self, done.kind, getattr(self, done.kind) + 1)
        if done.result is not None and done.result.packed is not None and not done.saved:
            self.unsaved += 1

    @property
    def total(self) -> int:
        """Rows that are dealt with."""
        return self.scanned + self.unreachable + self.failed + self.fresh + self.bad

    @property
    def worked(self) -> int:
        """Hosts that were asked."""
        return self.scanned + self.unreachable + self.failed

"""The work of a crawl, one host at a time, in this process; a job may travel to another machine (``cluster``)."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from dataclasses import dataclass, replace
from typing import Final, Protocol

import msgspec

from aui_tui.checks.scoring import Labels, grade_card
from aui_tui.errors import AuiError
from aui_tui.index.packed import Packed
from aui_tui.model.codec import Keys, encode_card
from aui_tui.model.observations import Observations
from aui_tui.model.options import ScanOptions
from aui_tui.scan.network import save_tls_memory
from aui_tui.scan.parser_process import ParserProcess
from aui_tui.scan.policy import ScanPolicy
from aui_tui.scan.scan import observe
from aui_tui.text import clean

UNEXPECTED: Final = "Unexpected error"
QUEUE_PATIENCE: Final = 3.0
"""Seconds as in ``Limits.patience``: a crawl has time, and saves both sides half the connections."""
BUDGET: Final = 20.0
"""Seconds as in ``Limits.budget``: in a crawl a refusal is looked at again, but no host holds a place for a minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlSettings:
    """What holds for every scan of a crawl.

    ``policy``: without the user's header fields, passwords and keys, which stay here. ``base_url`` begins the ``url``
    of cards; ``keys``: names in the cards that are handed out, None when none are wanted.
    """

    policy: ScanPolicy
    base_url: str = ""
    keys: Keys | None = None

    @classmethod
    def of(cls, policy: ScanPolicy, *, base_url: str, keys: Keys | None = None, reads: bool = False) -> CrawlSettings:
        """Return the settings of a crawl under ``policy``; ``reads``: pages are also read as readers of text do."""
        limits = replace(
            policy.limits,
            patience=QUEUE_PATIENCE,
            budget=BUDGET,
            whole=BUDGET + 15,
            retry_after=BUDGET / 4,
            causes=0,
        )
        crawl_policy = replace(
            policy, headers=(), basic_auth=None, signer=None, open_agents=False, sample=0, limits=limits, reads=reads
        )
        return cls(policy=crawl_policy, base_url=base_url, keys=keys)


class Job(msgspec.Struct, frozen=True, array_like=True):
    """A host to scan; ``seed``: the starter list names it.

    ``before``: what the last scan saw, where tasks were run on the host: their results are kept.
    """

    url: str
    options: ScanOptions = ScanOptions()
    seed: bool = False
    before: Observations | None = None


class JobResult(msgspec.Struct, frozen=True, array_like=True):
    """The outcome of a job: ``packed`` is ready to be written; without it ``title`` and ``error`` say why.

    ``card``: the record as JSON where the settings ask for it. ``status``: the HTTP status of the error.
    """

    packed: Packed | None = None
    card: bytes = b""
    unreachable: bool = False
    title: str = ""
    error: str = ""
    status: int = 0


async def scan(job: Job, settings: CrawlSettings, parser: ParserProcess) -> JobResult:
    """Scan one host, grade and pack it. Raises nothing but CancelledError: an error is a result."""
    policy, options = settings.policy, job.options
    try:
        target = policy.target(job.url)
        access = replace(policy.toward(target), arms=False)  # a crawl asks no further names
        observations = await observe(target, parser=parser, access=access)
        observations = observations.with_last_tasks(job.before)
        labels = Labels(name=options.name, category=options.category, seed=job.seed, base_url=settings.base_url)
        card = grade_card(observations, options.method, labels=labels)
        packed = Packed.of(card, observations, policy.key(target).aside)
    except AuiError as error:
        return failed(type(error).title, str(error), type(error).http_status)
    except Exception as error:  # one host must not end a crawl: its row says what happened
        return failed(UNEXPECTED, f"{type(error).__name__}: {clean(error, 200)}")
    record = b"" if settings.keys is None else encode_card(card, settings.keys)
    return JobResult(packed, record, card.unreachable)


def failed(title: str, error: str, status: int = 500) -> JobResult:
    """Return the result of a job that gave no card."""
    return JobResult(title=title, error=error, status=status)


class Workers(Protocol):
    """Whoever scans for a crawl."""

    async def scan(self, job: Job) -> JobResult:
        """Return what became of ``job``. Raises Unavailable when nobody is left to scan."""
        ...


class Gate:
    """Lets scans begin only while the event loop keeps up, so that our own load never looks like a slow site.

    ``watch`` must run beside the scans. At most BURST scans begin between two looks at the loop.
    """

    BURST: Final = 4
    TICK: Final = 0.02
    LATE: Final = 0.05
    """Seconds by which the loop may be late: the answers of a scan come over some 25 turns of it, and with turns of
    0.15 s requests waited for longer than QUEUE_PATIENCE, which cost connections and ever more time.
    """

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(self.BURST)
        self._free = self.BURST

    async def watch(self) -> None:
        """Look at the loop for ever."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + self.TICK
            await asyncio.sleep(self.TICK)
            if loop.time() - due < self.LATE:
                for _ in range(self.BURST - self._free):
                    self._places.release()
                self._free = self.BURST

    async def __call__(self) -> None:
        """Wait until one more scan may begin."""
        await self._places.acquire()
        self._free -= 1


class Here:
    """Scans in this process, on this event loop; an async context manager.

    ``capacity``: hosts that may be in flight so that the process does not run out of open files.
    """

    def __init__(self, settings: CrawlSettings) -> None:
        self._settings = settings
        self._gate = Gate()
        raise_file_limit()
        save_tls_memory()
        self._parser = ParserProcess()
        self.capacity = places()

    async def __aenter__(self) -> Here:
        self._parser.prestart()
        self._watch = asyncio.create_task(self._gate.watch())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._watch.cancel()
        await self._parser.aclose()

    async def scan(self, job: Job) -> JobResult:
        """Return what became of ``job``."""
        await self._gate()
        return await scan(job, self._settings, self._parser)


FILES: Final = 65_536
"""Open files that a process may want."""
CONNECTIONS: Final = 12
"""Connections of a host in flight, at most."""
OWN_FILES: Final = 40
"""Open files of a process that scans nothing."""


def places() -> int:
    """Return how many hosts a process may have in flight by its limit of open files, at least one."""
    if sys.platform == "win32":
        return FILES // CONNECTIONS
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(1, (FILES if soft == resource.RLIM_INFINITY else soft - OWN_FILES) // CONNECTIONS)


def raise_file_limit() -> None:
    """Let this process open up to FILES files, as far as the system allows."""
    if sys.platform == "win32":
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))

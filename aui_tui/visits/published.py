"""The address ranges that vendors publish: fetched into the data folder, with their age, and read from there."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urlsplit

import msgspec

from aui_tui import __version__
from aui_tui.errors import ConfigError, RecordError
from aui_tui.records.decoding import from_json
from aui_tui.records.times import stamp
from aui_tui.records.visits import RangeList
from aui_tui.text import clean
from aui_tui.visits.addresses import Ranges, published
from aui_tui.visits.clients import range_lists

if TYPE_CHECKING:
    from aui_tui.engine.policy import ScanPolicy
    from aui_tui.engine.probes import Answer, Plan

LARGEST: Final = 4 << 20
"""Bytes of a list."""
FIELDS: Final = (
    ("User-Agent", f"aui-tui/{__version__}"),
    ("Accept", "application/json, text/html;q=0.5"),
    ("Accept-Encoding", "identity"),
)


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """A fetched list as it is kept: ``etag`` and ``modified`` are the server's validators, empty without."""

    url: str
    fetched_at: str
    etag: str = ""
    modified: str = ""
    prefixes: tuple[str, ...]


class Updated(NamedTuple):
    """What became of one list: ``state`` is ``fetched``, ``unchanged`` or ``failed``, ``detail`` says more."""

    url: str
    state: str
    detail: str


class RangeBook:
    """The lists in ``folder``, one file each. A file that cannot be read counts as not fetched, and is named."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.broken: list[str] = []

    def ranges(self) -> tuple[dict[str, Ranges], dict[str, RangeList]]:
        """Return the networks of every list that was fetched, and what to say of each, by the list's address."""
        found: dict[str, Ranges] = {}
        described: dict[str, RangeList] = {}
        for url in range_lists():
            kept = self.kept(url)
            if kept is not None:
                found[url] = Ranges(kept.prefixes)
                described[url] = RangeList(url=url, fetched_at=kept.fetched_at)
        return found, described

    def kept(self, url: str) -> Kept | None:
        """Return the list at ``url`` as it was fetched last; None when it was not, or its file is broken."""
        path = self._path(url)
        try:
            kept = from_json(path.read_bytes(), Kept)
            published(msgspec.json.encode(kept.prefixes))
            RangeList(url=url, fetched_at=stamp(_seconds(kept.fetched_at)))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecordError):
            kept = None
        if kept is None or kept.url != url:
            self.broken.append(f"The kept ranges of {url} cannot be read and count as not fetched: --update-ranges.")
            return None
        return kept

    async def update(
        self,
        access: ScanPolicy | None = None,
        *,
        urls: Iterable[str] = (),
        clock: Callable[[], float] = time.time,
        tell: Callable[[Updated], None] = lambda _done: None,
    ) -> list[Updated]:
        """Fetch the lists (all of them without ``urls``), and keep each that is sound; the others stay as they are.

        ``access``: how they may be reached (None: as any public address). Raises ConfigError when the folder cannot be
        written.
        """
        from aui_tui.engine.network import Network
        from aui_tui.engine.policy import PUBLIC
        from aui_tui.engine.probes import probe

        access = access or PUBLIC
        async with Network(access) as network:

            async def fetch(url: str) -> Updated:
                known = self.kept(url)
                async with network.client() as client:
                    answer = await probe(client, _plan(url, known, access), access)
                done = self._take(url, known, answer, stamp(clock()))
                tell(done)
                return done

            return list(await asyncio.gather(*(fetch(url) for url in urls or range_lists())))

    def _take(self, url: str, known: Kept | None, answer: Answer, now: str) -> Updated:
        if answer.status == 304 and known is not None:
            self._write(msgspec.structs.replace(known, fetched_at=now))
            return Updated(url, "unchanged", f"{len(known.prefixes):,} ranges")
        if answer.status != 200:
            reason = f"status {answer.status}" if answer.status else answer.detail or "no answer"
            return Updated(url, "failed", clean(reason, 160))
        try:
            if answer.cut:
                raise RecordError(f"it is longer than {LARGEST >> 20} MiB, or came too slowly")
            prefixes = tuple(published(answer.body))
        except RecordError as error:
            return Updated(url, "failed", str(error))
        fields = answer.mapping()
        self._write(
            Kept(
                url=url,
                fetched_at=now,
                etag=clean(fields.get("etag", ""), 200),
                modified=clean(fields.get("last-modified", ""), 100),
                prefixes=prefixes,
            )
        )
        return Updated(url, "fetched", f"{len(prefixes):,} ranges")

    def _path(self, url: str) -> Path:
        return self._folder / f"{hashlib.sha256(url.encode()).hexdigest()[:24]}.json"

    def _write(self, kept: Kept) -> None:
        path = self._path(kept.url)
        partial = path.with_suffix(".part")
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            partial.write_bytes(msgspec.json.format(msgspec.json.encode(kept), indent=1))
            partial.replace(path)
        except OSError as error:
            shown = clean(str(self._folder), 200)
            raise ConfigError(f"The ranges cannot be kept in {shown}: {error.strerror or error}.") from None


def _plan(url: str, known: Kept | None, access: ScanPolicy) -> Plan:
    from aui_tui.engine.probes import Plan
    from aui_tui.engine.redirects import Url
    from aui_tui.engine.target import parse

    parts = urlsplit(url)
    origin = parse(url, allow_private=access.allow_private).origin
    fields = list(FIELDS)
    if known is not None and known.etag.isascii() and known.etag:
        fields.append(("If-None-Match", known.etag))
    elif known is not None and known.modified.isascii() and known.modified:
        fields.append(("If-Modified-Since", known.modified))
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Plan("ranges", Url(origin, path), tuple(fields), LARGEST)


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def summary(done: Iterable[Updated]) -> Mapping[str, int]:
    """Return how many lists were ``fetched``, ``unchanged`` and ``failed``."""
    counts = dict.fromkeys(("fetched", "unchanged", "failed"), 0)
    for result in done:
        counts[result.state] += 1
    return counts

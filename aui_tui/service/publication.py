"""The index of this machine as its operator publishes it: each remote client has its own scans of the hour."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from aui_tui.errors import ConfigError, ScansRefused
from aui_tui.model.methods import DEFAULT_METHOD
from aui_tui.model.observations import Progress
from aui_tui.model.options import ORDINARY, ScanOptions
from aui_tui.model.registry import Known
from aui_tui.model.tasks import TaskProgress
from aui_tui.model.view import HostReport, Quota
from aui_tui.scan import signing
from aui_tui.scan.policy import PUBLIC, ScanPolicy
from aui_tui.service.local import LocalService

SCANS: Final = 24
"""Scans that one process makes at once for its clients; as many wait, and one more is refused and costs nothing."""


class Publication:
    """``local`` behind the HTTP API (``service.protocol.Published``), or as one ``client`` of it may use it.

    ``read_only``: what is stored can be read, and nobody scans.
    """

    def __init__(self, local: LocalService, *, client: str = "", read_only: bool = False) -> None:
        self._local = local
        self._client = client
        self.label = local.label
        self.index, self.overview, self.position = local.index, local.overview, local.position
        self.moves, self.weeks = local.moves, local.weeks
        self.site, self.visits, self.what_if, self.cached = local.site, local.visits, local.what_if, local.cached
        """What is stored can be read by everybody alike."""
        self._read_only = read_only

    is_local = False

    @property
    def can_scan(self) -> bool:
        """False when the operator lets nobody scan."""
        return not self._read_only

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences about the files, such as that a damaged one was set aside."""
        return self._local.warnings

    def for_client(self, client: str) -> Publication:
        """Return the same index for the remote ``client``."""
        return Publication(self._local, client=client, read_only=self._read_only)

    async def stamp(self) -> str:
        """Return a word that changes whenever an answer of ``index`` or ``site`` may change."""
        return self._local.reports.stamp()

    async def changed(self) -> float | None:
        """Return the epoch seconds of the last change of the index, deletions included; None: just now."""
        return self._local.reports.changed()

    async def scan(
        self,
        url: str,
        options: ScanOptions = ORDINARY,
        *,
        progress: Progress | None = None,
        live: TaskProgress | None = None,
    ) -> HostReport:
        """Scan ``url`` at the client's cost, or answer from the cache; of ``options`` only ``force`` counts.

        A caller who goes away leaves the scan running: it is paid for, and the next caller has it from the cache.
        Raises ScansRefused where nobody scans and the cache has no answer.
        """
        if self._read_only:
            found = None if options.force else await self.cached(url)
            if found is None:
                raise ScansRefused("This service does not scan for its visitors; its stored report cards can be read.")
            return found
        scan = self._local.scan(url, ScanOptions(force=options.force, client=self._client), progress=progress)
        return await asyncio.shield(asyncio.ensure_future(scan))

    async def quota(self) -> Quota:
        """Return the scans that the client has left this hour."""
        return await self._local.quota_of(self._client)

    async def signature_directory(self, url: str) -> tuple[bytes, dict[str, str]] | None:
        """Return the directory of the operator's signing key, signed for ``url``; None without a key."""
        folder = self._local.places.folder
        if not (folder / signing.NAME).exists():
            return None
        try:
            key = await asyncio.to_thread(signing.read_key, folder)
            return signing.directory(key), signing.directory_fields(key, url)
        except ConfigError:
            return None

    async def aclose(self) -> None:
        """Close the index; a client's view closes nothing."""
        if not self._client:
            await self._local.aclose()


@dataclass(frozen=True, kw_only=True)
class LocalPublication:
    """Opens the index in ``folder`` for one worker process; calling it may raise ConfigError or Unavailable.

    Of ``access`` only how sites are reached holds for clients too; private networks and other ports stay shut (also
    where a rule of ``connect_to`` covers them), and the operator's fields, passwords and signing key stay here.
    ``with_visits``: whether the figures of the operator's access logs are published.
    """

    folder: Path
    base_url: str = "http://127.0.0.1"
    method: str = DEFAULT_METHOD
    access: ScanPolicy = PUBLIC
    known: Mapping[str, Known] | None = None
    read_only: bool = False
    with_visits: bool = True

    def __call__(self) -> Publication:
        """Return the opened index."""
        access = ScanPolicy(
            remote=True,
            connect_to=self.access.connect_to,
            cafile=self.access.cafile,
            via=self.access.via,
            resolver=self.access.resolver,
            limits=self.access.limits,
        )
        return Publication(
            LocalService(
                self.folder,
                base_url=self.base_url,
                method=self.method,
                access=access,
                known=self.known,
                at_once=SCANS,
                with_visits=self.with_visits,
            ),
            read_only=self.read_only,
        )

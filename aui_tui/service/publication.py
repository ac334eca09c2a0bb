"""The index of this machine as its operator publishes it: each remote client has its own scans of the hour."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

from aui_tui.errors import ConfigError, ScansRefused
from aui_tui.model.methods import DEFAULT_METHOD
from aui_tui.model.options import NOTHING_ACCEPTED, ORDINARY, Accepted, ScanOptions
from aui_tui.model.progress import Progress, no_progress
from aui_tui.model.report import HostReport
from aui_tui.model.tasks import TaskProgress
from aui_tui.scan import signing
from aui_tui.scan.policy import PUBLIC, ScanPolicy
from aui_tui.service.local import LocalService

SCANS: Final = 24
"""Scans that one process makes at once for its clients; as many wait, and one more is refused and costs nothing."""


class Publication(LocalService):
    """The index in ``folder`` behind the HTTP API.

    Of ``access`` only how sites are reached holds for clients too; private networks and other ports stay shut (also
    where a rule of ``connect_to`` covers them), and the operator's fields, passwords and signing key stay here.
    ``read_only``: what is stored can be read, and nobody scans. ``with_visits``: whether the figures of the operator's
    access logs are published.
    """

    is_local = False

    def __init__(
        self,
        folder: Path,
        *,
        base_url: str = "http://127.0.0.1",
        method: str = DEFAULT_METHOD,
        access: ScanPolicy = PUBLIC,
        read_only: bool = False,
        with_visits: bool = True,
        at_once: int = SCANS,
        accept: Accepted = NOTHING_ACCEPTED,
    ) -> None:
        super().__init__(
            folder,
            base_url=base_url,
            method=method,
            access=ScanPolicy(
                remote=True,
                connect_to=access.connect_to,
                cafile=access.cafile,
                via=access.via,
                resolver=access.resolver,
                limits=access.limits,
            ),
            at_once=at_once,
            with_visits=with_visits,
            accept=accept,
        )
        self.can_scan = not read_only

    async def prepare(self) -> None:
        """Load what the first scan needs, where visitors may scan."""
        if self.can_scan:
            await self.scans.prepare()

    async def scan(
        self,
        url: str,
        options: ScanOptions = ORDINARY,
        *,
        progress: Progress = no_progress,
        live: TaskProgress | None = None,
    ) -> HostReport:
        """Scan ``url`` at the client's cost, or answer from the cache; only ``force`` and ``client`` count.

        A caller who goes away leaves the scan running: it is paid for, and the next caller has it from the cache.
        Raises ScansRefused where nobody scans and the cache has no answer.
        """
        if not self.can_scan:
            report = None if options.force else await self.cached(url)
            if report is None:
                raise ScansRefused("This service does not scan for its visitors; its stored report cards can be read.")
            return report
        scan = super().scan(url, ScanOptions(force=options.force, client=options.client), progress=progress)
        return await asyncio.shield(asyncio.ensure_future(scan))

    async def signature_directory(self, url: str) -> tuple[bytes, dict[str, str]] | None:
        """Return the directory of the operator's signing key, signed for ``url``; None without a key."""
        try:
            key = await asyncio.to_thread(signing.read_key, self.places.data)
        except ConfigError:  # there is none, or no library to sign with
            return None
        return signing.directory(key), signing.directory_fields(key, url)

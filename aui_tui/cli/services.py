"""Which service a command talks to: this machine's index, or a published one."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from msgspec.structs import replace

from aui_tui.cli import streams
from aui_tui.cli.run import Run
from aui_tui.errors import ConfigError
from aui_tui.records.view import Dossier
from aui_tui.service.protocol import Service

if TYPE_CHECKING:
    from aui_tui.engine.policy import ScanPolicy
    from aui_tui.service.local import LocalService


def service_of(run: Run, access: ScanPolicy | None = None) -> Service:
    """Return the service of the settings, to be closed by the caller; ``access`` is what a scan here may do.

    Raises ConfigError when the data folder cannot be used or ``access`` is given for a published index.
    """
    if not run.settings.source:
        return local_of(run, access)
    if access is not None:
        raise ConfigError("A published index scans by its own rules; leave out the options on how to reach a site.")
    from aui_tui.service.remote import open_source

    return open_source(run.settings.source, folder=run.settings.data_dir / "sources")


def local_of(run: Run, access: ScanPolicy | None = None) -> LocalService:
    """Return the index of this machine, having told what had to be mended. Raises ConfigError, Unavailable."""
    from aui_tui.records.starter import Starter
    from aui_tui.service.local import LocalService

    settings = run.settings
    if access is not None and settings.no_limit:
        access = dataclasses.replace(access, no_limit=True)
    service = LocalService(
        settings.data_dir,
        base_url=settings.base_url,
        method=settings.method,
        access=access,
        known=Starter(),
    )
    for sentence in service.warnings:
        streams.say(sentence)
    return service


@asynccontextmanager
async def opened(run: Run, access: ScanPolicy | None = None) -> AsyncIterator[Service]:
    """Yield the service of the settings and close it; raises as :func:`service_of`."""
    service = service_of(run, access)
    try:
        yield service
    finally:
        await service.aclose()


@asynccontextmanager
async def local(run: Run, access: ScanPolicy | None = None) -> AsyncIterator[LocalService]:
    """Yield the index of this machine and close it; raises as :func:`local_of`."""
    service = local_of(run, access)
    try:
        yield service
    finally:
        await service.aclose()


async def own_host(service: Service, url: str) -> bool:
    """Return whether ``url`` is a host of the local user's own (see ``ScanPolicy.owns``). Raises InvalidHost."""
    from aui_tui.service.local import LocalService

    return isinstance(service, LocalService) and await service.owns(url)


async def counts(service: Service, url: str) -> bool:
    """Return whether a scan of ``url`` costs one of the scans of the hour. Raises InvalidHost."""
    from aui_tui.service.local import LocalService

    return not (isinstance(service, LocalService) and service.access.no_limit and await service.owns(url))


async def dossier_of(service: Service, host: str, *, method: str = "", at: str = "") -> Dossier:
    """Return what ``service`` knows of ``host`` under ``method``, having told how old the answer is.

    Where what was seen is not at hand, the card alone is graded again. Raises as ``Service.site``, and RecordError for
    a card that does not add up.
    """
    found = await service.site(host, at=at)
    if found.notice:
        streams.say(found.notice)
    if not method or method == found.card.method:
        return found
    if found.observations is not None:
        return await service.site(host, method=method, at=at)
    from aui_tui.regrade import regrade

    before = found.previous
    return replace(
        found, card=regrade(found.card, method), previous=regrade(before, method) if before is not None else None
    )


def only_local(run: Run, what: str) -> None:
    """Raise ConfigError when a published index is set; ``what`` begins the sentence."""
    if run.settings.source:
        raise ConfigError(f"{what} works on the index of this machine, not on --source {run.settings.source}.")

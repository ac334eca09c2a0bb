"""Scans the small web into a data folder, through the engine as any other site."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from aui_tui.demo.sites import Site
from aui_tui.demo.web import DemoWeb
from aui_tui.engine.policy import ConnectTo, Limits, ScanPolicy
from aui_tui.records.card import ReportCard
from aui_tui.records.tasks import TaskEvent
from aui_tui.service.local import LocalService


class DemoPolicy(ScanPolicy):
    """Leads scans to the small web; its names exist nowhere else, so no real site is passed over."""

    @property
    def relaxed(self) -> tuple[str, ...]:
        """Nothing that a card would have to mention."""
        return ()


LIMITS: Final = Limits(pause=0.3, again=0.5)
"""The small web answers in milliseconds, so those who got no answer need not be asked again for long."""
OnCard = Callable[[ReportCard], None]
"""Called with the card of every finished scan."""


def rounds(web: DemoWeb) -> int:
    """Return how many scans :func:`fill` makes."""
    return len(web.sites) + sum(site.before is not None for site in web.sites)


def service_of(web: DemoWeb, folder: Path, *, base_url: str, method: str) -> LocalService:
    """Return a service over ``folder`` whose scans reach the small web. Raises ConfigError."""
    rules = tuple(ConnectTo.parse(rule) for rule in web.connect_to)
    return LocalService(folder, base_url=base_url, method=method, access=DemoPolicy(connect_to=rules, limits=LIMITS))


async def fill(service: LocalService, web: DemoWeb, on_card: OnCard) -> None:
    """Scan the sites that have changed as they were before, then every site as it is now."""
    await _scan(service, web.rewind(), on_card)
    web.forward()
    await _scan(service, web.sites, on_card)


async def try_tasks(service: LocalService, web: DemoWeb, live: Callable[[str, TaskEvent], None]) -> None:
    """Run the tasks on the shops; ``live`` hears each step of each host. Raises NoBrowser."""
    for site in web.sites:
        if site.mode == "shop":
            await service.run_tasks(f"http://{site.host}", live=partial(live, site.host), pictures=False, free=True)


async def _scan(service: LocalService, wanted: Sequence[Site], on_card: OnCard) -> None:
    async def one(site: Site) -> None:
        answer = await service.scan(
            f"http://{site.host}", force=True, category=site.category, name=site.name, free=True
        )
        on_card(answer.card)

    async with asyncio.TaskGroup() as group:
        for site in wanted:
            group.create_task(one(site))

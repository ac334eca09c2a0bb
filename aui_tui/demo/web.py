"""The small web of the demo: every site on its own port, served from one thread, and scanned as any other site."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from aui_tui.demo.server import SiteServer
from aui_tui.demo.shop import Shop, ShopServer
from aui_tui.demo.sites import Site, sites
from aui_tui.engine.policy import ConnectTo, Limits, ScanPolicy
from aui_tui.errors import Unavailable
from aui_tui.records.card import ReportCard
from aui_tui.records.tasks import TaskEvent
from aui_tui.service.local import LocalService


class DemoWeb:
    """Serves ``served`` (the demo's sites) while the ``with`` block runs.

    A thread with its own event loop, so that scanning, drawing and serving don't wait for each other.
    Raises Unavailable on entry when the loopback interface cannot be listened on.
    """

    def __init__(self, served: Sequence[Site] | None = None) -> None:
        self.sites = tuple(sites() if served is None else served)
        self.ports: dict[str, int] = {}
        self._servers: dict[str, SiteServer] = {}
        self._shops: dict[str, ShopServer] = {}
        self._closed: list[socket.socket] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="demo web", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            asyncio.run_coroutine_threadsafe(self._open(), self._loop).result(20)
        except OSError as error:
            self._shut()
            raise Unavailable(f"The demo cannot listen on 127.0.0.1: {error.strerror or error}.") from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._shut()

    async def _open(self) -> None:
        self._refused = self._hold()
        for site in self.sites:
            if site.mode == "closed":
                self.ports[site.host] = self._refused
                continue
            if site.mode == "shop":
                shop = self._shops[site.host] = ShopServer(Shop(name=site.name, faults=frozenset(site.shop)))
                self.ports[site.host] = await shop.start()
                continue
            server = self._servers[site.host] = SiteServer(site)
            self.ports[site.host] = await server.start()

    def _hold(self) -> int:
        """Reserve a port on which nothing listens, so that connections to it are refused."""
        held = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._closed.append(held)
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
        return port

    def _shut(self) -> None:
        async def stop() -> None:
            await asyncio.gather(
                *(server.stop() for server in self._servers.values()), *(shop.stop() for shop in self._shops.values())
            )

        asyncio.run_coroutine_threadsafe(stop(), self._loop).result(20)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(20)
        self._loop.close()
        for held in self._closed:
            held.close()

    @property
    def connect_to(self) -> tuple[str, ...]:
        """The rules (``HOST:PORT:ADDRESS:PORT``) that lead every name of the small web to its server.

        Nothing listens for https there, as on a host that has only http.
        """
        return tuple(
            rule
            for site in self.sites
            for name in site.names
            for rule in (
                f"{name}:80:127.0.0.1:{self.ports[site.host]}",
                f"{name}:443:127.0.0.1:{self._refused}",
            )
        )

    def rewind(self) -> tuple[Site, ...]:
        """Serve the sites that changed as they were at the scan before, and return them."""
        changed = tuple(site.earlier() for site in self.sites if site.before is not None)
        for site in changed:
            self._servers[site.host].site = site
        return changed

    def forward(self) -> None:
        """Serve every site as it is now."""
        for site in self.sites:
            if site.host in self._servers:
                self._servers[site.host].site = site


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
    """Run the tasks on the shops; ``live`` receives each step of each host. Raises NoBrowser."""
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

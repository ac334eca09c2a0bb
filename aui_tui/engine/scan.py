"""One scan: all probes at once, the paced second probe, and the facts of what came back."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from typing import Final, Protocol

from aui_tui.engine import exchanges, files, identity, walls
from aui_tui.engine.access import PUBLIC, Access
from aui_tui.engine.network import Client, Network, Swift
from aui_tui.engine.probes import Answer, Plan, probe
from aui_tui.engine.redirects import Url
from aui_tui.engine.target import Origin, Target
from aui_tui.errors import InvalidHost, Unavailable
from aui_tui.records.observations import (
    BROWSER,
    CHALLENGED,
    FILE_PROBES,
    REFUSED,
    SERVED,
    Exchange,
    FileFacts,
    Observations,
    PageFacts,
    RobotsFacts,
)
from aui_tui.records.progress import ProbeEvent, Progress
from aui_tui.records.registry import Registry, registry

PATHS: Final = {
    "robots": "/robots.txt",
    "llms": "/llms.txt",
    "ai-plugin": "/.well-known/ai-plugin.json",
    "ucp": "/.well-known/ucp",
    "mcp": "/.well-known/mcp.json",
}
MCP_SERVER_CARD: Final = "/.well-known/mcp/server-card.json"
"""The other place of an MCP card; asked at the same time, since one after the other would double the scan."""
_CHECKS: Final = {"llms": files.llms, "ai-plugin": files.ai_plugin, "ucp": files.ucp}


class Analyser(Protocol):
    """Reads hostile text without ever holding up the event loop."""

    async def homepage(self, body: bytes, content_type: str) -> PageFacts:
        """Return the facts of a homepage."""
        ...

    async def robots(self, body: bytes, status: int, content_type: str) -> RobotsFacts:
        """Return what robots.txt says; ``status`` 0 when there was no answer."""
        ...


def _silence(event: ProbeEvent) -> None:
    return


async def observe(
    target: Target,
    *,
    analyser: Analyser,
    access: Access = PUBLIC,
    swift: Swift | None = None,
    progress: Progress | None = None,
    clock: Callable[[], float] = time.time,
) -> Observations:
    """Return what ``target`` answers to the browser, to each live-probed agent, and for each file.

    ``swift``: the extra ``fast``, for crawls; ``progress`` hears every probe; ``clock`` gives seconds since the epoch.
    Raises InvalidHost when the name leads to a network that must not be dialled, Unavailable when this machine has no
    room for its connections. Cancelling closes every connection.
    """
    async with Network(access, swift) as network:
        await network.prepare(target.origins[0])
        began, started = clock(), time.monotonic()
        scan = _Scan(target, network, analyser, access, progress or _silence)
        try:
            found = await scan.run()
        except ExceptionGroup as group:
            raise _unavailable(group) or group from None
    stamp = datetime.fromtimestamp(began, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    observed = Observations(
        host=target.site,
        input_host=target.input_host,
        origin=str(scan.origin),
        scanned_at=stamp,
        elapsed_ms=round((time.monotonic() - started) * 1000),
        exchanges=found,
        edge=scan.edge(),
        robots=scan.robots,
        page=scan.page,
        files=scan.file_facts(),
        limits=scan.limits(),
        warnings=tuple(scan.warnings),
    )
    return exchanges.without(observed, access.secrets)


def _unavailable(group: ExceptionGroup[Exception]) -> Unavailable | None:
    """Return the first Unavailable in ``group``, however deep."""
    for error in group.exceptions:
        found = _unavailable(error) if isinstance(error, ExceptionGroup) else error
        if isinstance(found, Unavailable):
            return found
    return None


class _Scan:
    def __init__(
        self, target: Target, network: Network, analyser: Analyser, access: Access, progress: Progress
    ) -> None:
        self._target = target
        self._analyser = analyser
        self._access = access
        self._tell = progress
        self._registry: Registry = registry()
        self._network = network
        self._agents = tuple(agent.key for agent in self._registry.live)
        self._found: dict[str, files.Finding] = {}
        self._notes: list[str] = []
        self.origin: Origin = target.origin
        self.robots = RobotsFacts()
        self.page = PageFacts()
        self._edges: list[Mapping[str, str]] = []
        self.warnings: list[str] = []

    async def run(self) -> tuple[Exchange, ...]:
        """Return the exchanges in their order; the facts are then in the attributes."""
        names = (BROWSER, *self._agents, *FILE_PROBES)
        for name in names:
            self._tell(ProbeEvent(name=name, state="started"))
        started = time.monotonic()
        *earlier, last = self._target.origins
        for origin in earlier:
            self.origin = origin
            done = await self._probe_all(self._access.limits.probe, tentative=True)
            if done is not None:
                break
            self.warnings.append(f"Nothing listens at {origin}; the site was asked at {last}")
            for name in names:
                self._tell(ProbeEvent(name=name, state="retrying", note=f"at {last}"))
        else:
            self.origin = last
            done = await self._probe_all(self._access.limits.probe - (time.monotonic() - started))
        assert done is not None
        homepages = [done[name] for name in (BROWSER, *self._agents)]
        if all(found.error == "address" for found in homepages):
            raise InvalidHost(f"{homepages[0].detail}.")
        for name in self._agents:
            if done[BROWSER].outcome == SERVED and done[name].outcome in (REFUSED, CHALLENGED):
                done[name] = await self._again(done[name])
        return tuple(done[name] for name in names)

    async def _probe_all(self, limit: float, *, tentative: bool = False) -> dict[str, Exchange] | None:
        """Return every exchange by name; None when ``tentative`` and nothing listened for any of them."""
        async with AsyncExitStack() as stack:
            clients = {
                name: await stack.enter_async_context(self._network.client(http2=identity.profile(name).http2))
                for name in (BROWSER, *self._agents)
            }
            clients |= dict.fromkeys(FILE_PROBES, clients[BROWSER])
            ready = asyncio.Event()
            listening: list[bool] = []

            async def one(name: str) -> Exchange | None:
                answer = await self._ask(clients[name], name, limit)
                listening.append(not answer.silent)
                if any(listening) or not tentative or len(listening) == len(clients):
                    ready.set()
                await ready.wait()
                if tentative and not any(listening):
                    return None
                return await self._take(answer)

            async with asyncio.TaskGroup() as group:
                tasks = {name: group.create_task(one(name)) for name in clients}
        done = {name: task.result() for name, task in tasks.items()}
        return None if None in done.values() else {name: found for name, found in done.items() if found is not None}

    async def _ask(self, client: Client, name: str, limit: float) -> Answer:
        if name == "mcp":
            return await self._ask_mcp(client, limit)
        return await probe(client, self._plan(name, PATHS.get(name, "/")), self._access, limit=limit)

    async def _ask_mcp(self, client: Client, limit: float) -> Answer:
        """Ask both places of an MCP card at once: the first that holds one counts, else the answer of the first."""
        async with asyncio.TaskGroup() as group:
            asked = {
                path: group.create_task(probe(client, self._plan("mcp", path), self._access, limit=limit))
                for path in (PATHS["mcp"], MCP_SERVER_CARD)
            }
        answers = {path: task.result() for path, task in asked.items()}
        findings = {
            path: files.mcp(answer.body, answer.content_type, answer.status, answer.url.path == path, path)
            for path, answer in answers.items()
        }
        chosen = next((path for path, finding in findings.items() if finding.found), PATHS["mcp"])
        self._found["mcp"] = findings[chosen]
        self._notes.extend(finding.note for finding in findings.values() if finding.note)
        return answers[chosen]

    def _plan(self, name: str, path: str) -> Plan:
        limits = self._access.limits
        fields = identity.profile(name).fields
        url = Url(self.origin, path)
        if name in FILE_PROBES:
            cap = limits.robots if name == "robots" else limits.file
            return Plan(name, url, fields, cap, whole_lines=name == "robots")
        return Plan(name, url, fields, limits.page)

    async def _take(self, answer: Answer) -> Exchange:
        """Return the record of ``answer`` after its facts are taken."""
        name = answer.name
        found = self._exchange(answer, judged=name not in FILE_PROBES or name == "robots")
        outcome = found.outcome
        if name == BROWSER:
            self._edges.insert(0, answer.mapping())
            if answer.status and not answer.error:
                self.page = await self._analyser.homepage(answer.body, answer.content_type)
        elif name == "robots":
            status = answer.status if not answer.error else 0
            self.robots = await self._analyser.robots(answer.body, status, answer.content_type)
            outcome = "found" if self.robots.kind == "rules" else "absent"
        elif name in FILE_PROBES:
            outcome = "found" if self._file(answer) else "absent"
        else:
            self._edges.append(answer.mapping())
        self._done(found, outcome)
        return found

    def _exchange(self, answer: Answer, *, judged: bool) -> Exchange:
        """Return the record of ``answer``, fit to be told and kept: no secret of the user is in it."""
        return exchanges.without(exchanges.exchange(answer, self._access.limits, judged=judged), self._access.secrets)

    def _file(self, answer: Answer) -> bool:
        check = _CHECKS.get(answer.name)
        if check is not None:
            path = PATHS[answer.name]
            finding = check(answer.body, answer.content_type, answer.status, answer.url.path == path)
            self._found[answer.name] = finding
            if finding.note:
                self._notes.append(finding.note)
        finding = self._found.get(answer.name, files.Finding(False))
        return finding.found

    async def _again(self, first: Exchange) -> Exchange:
        """Probe a refused agent once more, alone and on a fresh connection; the second answer counts."""
        self._tell(ProbeEvent(name=first.name, state="retrying", status=first.status, outcome=first.outcome))
        await asyncio.sleep(self._access.limits.pace)
        async with self._network.client(http2=identity.profile(first.name).http2) as client:
            answer = await self._ask(client, first.name, self._access.limits.probe)
        found = exchanges.replaced(first, self._exchange(answer, judged=True))
        self._done(found, found.outcome)
        return found

    def _done(self, found: Exchange, outcome: str) -> None:
        wall = found.challenge.vendor if found.challenge is not None else ""
        self._tell(
            ProbeEvent(
                name=found.name,
                state="done",
                status=found.status,
                elapsed_ms=found.elapsed_ms,
                outcome=outcome,
                note=wall or found.detail,
            )
        )

    def edge(self) -> str:
        """Return the technologies that the browser's answer names, else those of the first agent's that names one."""
        return next((found for headers in self._edges if (found := walls.edge(headers))), "")

    def file_facts(self) -> FileFacts:
        """Return which files count."""
        has = {name: finding.found for name, finding in self._found.items()}
        return FileFacts(
            llms=has.get("llms", False),
            ai_plugin=has.get("ai-plugin", False),
            ucp=has.get("ucp", False),
            mcp=has.get("mcp", False),
            notes=tuple(sorted(set(self._notes))),
        )

    def limits(self) -> tuple[str, ...]:
        """Return what was relaxed at the user's word and mattered for this origin."""
        dialled = self._access.detour(self.origin.host, self.origin.port) is not None
        return tuple(word for word in self._access.relaxed if word != "connect-to" or dialled)

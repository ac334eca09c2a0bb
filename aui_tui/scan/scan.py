"""One scan: all probes at once, a second look at refusals, then the questions that say what a refusal goes by."""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeVar

import msgspec

from aui_tui.errors import PrivateHost, Unavailable
from aui_tui.model.observations import (
    BROWSER,
    BUSY,
    FILE_PATHS,
    FILE_PROBES,
    LIMIT_STATUS,
    READABLE_ENOUGH,
    STOPPED,
    VERIFIED,
    Arm,
    Cause,
    Exchange,
    FirstHost,
    Observations,
    OpenDoor,
    OtherPage,
    PageFacts,
    RobotsFacts,
    RobotsPolicy,
)
from aui_tui.model.open_agents import CHECKS_ROBOTS, clients, table
from aui_tui.model.progress import ProbeEvent, Progress, no_progress
from aui_tui.model.reads import KeptPage, Reads, Twin
from aui_tui.model.registry import registry
from aui_tui.model.times import stamp
from aui_tui.model.verdicts import AWAY, MORE, OWN_ROBOTS, REAL, REAL_AGENT
from aui_tui.model.vocabulary import INCONCLUSIVE, REFUSED, SERVED
from aui_tui.scan import (
    agent_files,
    arms,
    charset,
    exchanges,
    page_choice,
    probes,
    profiles,
    refusal_cause,
    robots,
    signing,
    walls,
)
from aui_tui.scan.arms import RealBrowser
from aui_tui.scan.comparison import PageComparison
from aui_tui.scan.file_answers import FileAnswers
from aui_tui.scan.network import BROKEN_OFF, NO_TLS, HttpClient, Network, system_resolver
from aui_tui.scan.parser_process import ParserProcess, Waiting, waiting
from aui_tui.scan.policy import PUBLIC, ScanPolicy
from aui_tui.scan.probes import MAX_URL, Answer, ProbePlan, Unfollowed, Url, probe
from aui_tui.scan.retry import LEAST, ROUNDS, SLOW, Ask, ProbeAnswer, Retry, cached_for, retry_after
from aui_tui.scan.signing import Signer
from aui_tui.scan.target import DEFAULT_PORTS, Origin, Target, same_site
from aui_tui.text import clean

T = TypeVar("T")

PLAIN_HTTP: Final = "This port speaks plain HTTP"
PROXIES: Final = ("http_proxy", "https_proxy", "all_proxy")
"""Variables that name a proxy, in any case of letters."""
INCOMPLETE_CHAIN: Final = (
    "The server of {} leaves out its intermediate certificate; this scan fetched it, as most browsers do. Clients that"
    " do not (curl, programs in Python and Node.js) refuse the site: send the whole chain (fullchain.pem)"
)
OPEN_AGENTS: Final = "open agents"
"""The probes under the clients of open agents, as one name."""
CLOSED_ROBOTS: Final = (401, 403)
"""Statuses of robots.txt by which a reader that asks for it reads nothing of the site."""
REFUSES: Final = 403
"""The status of an arm that was served another page than people get."""
_TRIALS: Final = 2
"""Requests without which nothing is known of a cause."""
QUIET: Final = 6.0
"""Pauses after which agents that met a limit ask for robots.txt again: the probes themselves may have met it."""
NOBODYS_PATH: Final = "/.well-known/aui-tui-no-such-file.json"
"""A path that no site has: what it answers there is its answer to every path."""
NOBODYS_TEXT: Final = "/aui-tui-no-such-file.txt"
"""The same of texts: a site may answer these alone with one page."""
MARKDOWN: Final = "text/markdown"
PAGE_SECONDS: Final = 8.0
"""How much later a scan may end for each further page."""
OPEN_SECONDS: Final = 20.0
"""The same for all clients of open agents."""
SIGNED_PAUSE: Final = 0.2
"""Pause in seconds between two signed probes, unless the user sets the pace."""


async def observe(
    target: Target,
    *,
    parser: ParserProcess,
    access: ScanPolicy = PUBLIC,
    real: RealBrowser | None = None,
    progress: Progress = no_progress,
    keep: Callable[[tuple[KeptPage, ...]], None] | None = None,
) -> Observations:
    """Return what ``target`` answers to the browser, to each live-probed agent, and for each file.

    ``real``: a real browser, asked where it settles something; ``progress`` receives an event for every probe; ``keep``
    gets the pages that readers may be asked about later.
    Raises PrivateHost when the name leads to a network that must not be dialled, Unavailable when this machine has no
    room for its connections. Cancelling closes every connection and raises ScanStopped with what was seen until then.
    """
    async with Network(access) as network:
        began, started, waited = time.time(), time.monotonic(), waiting(target.site)
        scan = _Scan(target, network, parser, access, progress, end=started + access.limits.longest, waited=waited)
        scan.real = None if access.control == "plain" else real
        stopped = False
        try:
            await scan.run()
        except ExceptionGroup as group:
            raise _unavailable(group) or group from None
        except asyncio.CancelledError:
            stopped = True
            scan.forget_unsettled()
    retried = scan.retry
    observed = Observations(
        host=target.site,
        input_host=target.input_host,
        origin=str(scan.origin),
        scanned_at=stamp(began),
        elapsed_ms=round((time.monotonic() - started - waited.seconds) * 1000),
        exchanges=scan.exchanges(),
        edge=scan.edge(),
        robots=scan.robots,
        page=scan.page,
        reads=scan.reads,
        files=scan.files.facts(),
        served_from=str(scan.site) if scan.site != scan.origin else "",
        first_host=scan.first_host,
        limits=scan.limits(),
        warnings=(*scan.warnings, *map(INCOMPLETE_CHAIN.format, sorted(network.chains.completed))),
        random=retried is not None and retried.history.random,
        unsettled=retried is not None and retried.unsettled,
        pages=tuple(scan.pages),
        open_door=scan.open_door,
        shared_limit=retried is not None and retried.shared,
        reference=scan.reference,
        arms=scan.arms,
        cause=scan.cause,
        incomplete=stopped,
    )
    observed = exchanges.redact(observed, access.secrets)
    if keep is not None:
        keep(scan.pages_served())
    if stopped:
        raise ScanStopped(observed if observed.browser.outcome == SERVED else None)
    return observed


def _without_secrets(page: KeptPage, secrets: Sequence[str]) -> KeptPage:
    """Return ``page`` in UTF-8 with every secret hidden."""
    text = exchanges.redact((charset.decode(page.body, page.content_type),), secrets)[0]
    return msgspec.structs.replace(page, body=text.encode(), content_type="text/html; charset=utf-8")


class ScanStopped(asyncio.CancelledError):
    """A scan was cancelled. ``observations``: what was seen until then, None where that does not make a card."""

    def __init__(self, observations: Observations | None) -> None:
        super().__init__()
        self.observations = observations


def _closed_by(robots: RobotsFacts, origin: Origin) -> FirstHost | None:
    """Return whom the ``robots`` of ``origin`` shut out, though the homepage is elsewhere; None for nobody."""
    blocked = [policy for policy in robots.agents if policy.effective == "blocked"]
    if not blocked:
        return None
    return FirstHost(
        origin=str(origin), agents=tuple(policy.token for policy in blocked), line=blocked[0].line, rule=blocked[0].rule
    )


def _asks_to_wait(status: int) -> bool:
    """Return whether a limit on requests answers so."""
    return status in (LIMIT_STATUS, BUSY)


async def _started(ask: Callable[[], Awaitable[None]]) -> None:
    await ask()


def _unavailable(group: ExceptionGroup[Exception]) -> Unavailable | None:
    """Return the first Unavailable in ``group``, however deep."""
    for error in group.exceptions:
        cause = _unavailable(error) if isinstance(error, ExceptionGroup) else error
        if isinstance(cause, Unavailable):
            return cause
    return None


async def _each(asking: Iterable[Coroutine[Any, Any, T]], *, together: bool) -> list[T]:
    """Return the results of ``asking``, one after the other or side by side."""
    return await asyncio.gather(*asking) if together else [await coroutine for coroutine in asking]


def _probe_answer(exchange: Exchange, at: float) -> ProbeAnswer:
    """Return what the policy goes by; ``at``: seconds of the monotonic clock."""
    fields, away = exchange.fields, exchange.outcome in AWAY
    fresh = cached_for(fields) if away and not exchange.another_page else None
    return ProbeAnswer(
        exchange.outcome,
        exchange.status,
        exchange.error,
        retry_after(fields.get("retry-after", "")),
        exchange.elapsed_ms / 1000,
        at,
        exchange.another_page,
        cached=fresh is not None,
        fresh=fresh or 0.0,
    )


class _Scan:
    """One scan of a site; of another page than its homepage, or with other ``agents``, the same without the files.

    ``end``: the time of the monotonic clock at which the last request ends, ``waited`` seconds later if any.
    """

    def __init__(
        self,
        target: Target,
        network: Network,
        parser: ParserProcess,
        access: ScanPolicy,
        progress: Progress,
        *,
        end: float,
        waited: Waiting,
        path: str = "/",
        agents: Sequence[str] = (),
    ) -> None:
        self._target = target
        self._network = network
        self._parser = parser
        self._access = access
        self._began = time.monotonic()
        self._tell = progress
        self._ends_at = end
        self._waited = waited
        self._path = path
        self._whole = path == "/" and not agents
        self._agents = tuple(agents) or tuple(agent.key for agent in registry().live)
        self._homepages = (BROWSER, *self._agents)
        self._names = (*self._homepages, *(FILE_PROBES if self._whole else ()))
        self._done: dict[str, Exchange] = {}  # the last answer to each probe
        self._served: dict[str, Answer] = {}  # the first page that each client was served, each page kept once
        self._comparison = PageComparison(parser, reads=access.reads and self._whole)
        self._robots_answer = (0, "", b"")
        self._own_robots: dict[str, Answer] = {}  # robots.txt as an agent gets it
        self._own_files: dict[str, Answer] = {}  # the other files as the first agent gets them, by path
        self._flooded = False
        self._verifies_signatures = False
        self._file_origins: dict[str, Origin] = {}  # who gave the last answer to the probe of a file
        self._open = AsyncExitStack()
        self._clients: dict[str, HttpClient] = {}  # of the first requests, each with a connection of its own
        self.origin: Origin = target.origin
        self.site: Origin = target.origin  # the origin that serves the homepage, whose files count
        self.first_host: FirstHost | None = None
        self.real: RealBrowser | None = None
        self.retry: Retry | None = None
        self.reads: Reads | None = None
        self.robots = RobotsFacts()
        self.page = PageFacts()
        self.files = FileAnswers()
        self.warnings: list[str] = []
        self.cause: Cause | None = None
        self.arms: tuple[Arm, ...] = ()
        self.pages: list[OtherPage] = []
        self.open_door: OpenDoor | None = None

    @property
    def _end(self) -> float:
        """When the last request ends: what this machine waits for a parser is not taken from the site's time."""
        return self._ends_at + self._waited.seconds

    async def run(self) -> None:
        """Scan; everything found is then in the attributes. Raises PrivateHost."""
        async with self._open:
            await self._run()

    async def _run(self) -> None:
        await self._ask_everybody()
        homepages = [self._done[name] for name in self._homepages]
        if all(exchange.error == "address" for exchange in homepages):
            raise PrivateHost(f"{homepages[0].detail}.")
        answers = any(exchange.status for exchange in homepages)
        self._warn_of_proxy(answers)
        await self._follow_to_site()
        await self._mark_other_pages()
        await self._look_again()
        if self._access.arms and not self._flooded:
            await self._ask_real_browser()
        await self._settle()
        await self._read_for_agents()
        await self._read_served()
        await self._read_twins()
        if self._access.arms and not self._flooded:
            await self._ask_other_names()
            await self._compare_robots()
        if not self._flooded:
            await self._ask_files_as_agent()
        if answers and not self._flooded:
            await self._ask_pages()
        if self._access.open_agents:
            await self._ask_open_agents()
        if self._access.signer is not None and self._done[BROWSER].outcome == SERVED:
            for name in self._agents:
                if self._done[name].turned_away:
                    await self._ask_signed(name, self._access.signer)

    def exchanges(self) -> tuple[Exchange, ...]:
        """Return the answers in the order of the probes."""
        return exchanges.shared_text([self._done[name] for name in self._names])

    @property
    def reference(self) -> str:
        """Whose page the agents were compared with, empty for nobody's."""
        return self._comparison.reference

    def edge(self) -> str:
        """Return the technologies that the browser's answer names, else those of the first agent's that names one."""
        answers = (self._done[name].fields for name in self._homepages)
        return next((technologies for headers in answers if (technologies := walls.edge(headers))), "")

    def limits(self) -> tuple[str, ...]:
        """Return what the user relaxed and what mattered for this origin."""
        dialled = self._access.rule_for(self.origin.host, self.origin.port) is not None
        words = [word for word in self._access.relaxed if word != "connect-to" or dialled]
        return (*words, "signed") if self._verifies_signatures else tuple(words)

    def forget_unsettled(self) -> None:
        """Leave in a scan that was stopped only what proves something without another request.

        A refusal needs a control, and a page that nobody compared with the browser's proves nothing.
        """
        for name in self._names:
            exchange = self._done.get(name)
            if exchange is not None and (name == BROWSER or name in FILE_PROBES or exchange.outcome == SERVED):
                continue
            turned_away = exchange is not None and exchange.status > 0
            detail = "the scan was stopped before " + ("it was asked again" if turned_away else "an answer came")
            url = exchange.url if exchange is not None else str(Url(self.origin, FILE_PATHS.get(name, "/")))
            self._done[name] = Exchange(name=name, url=url, error=STOPPED, detail=detail)
            if name in FILE_PROBES:
                self.files.forget(name)
            if name == "robots":
                self.robots = RobotsFacts(kind="unknown")

    # The first look: every probe once.

    async def _ask_everybody(self) -> None:
        """Ask every probe at the first origin of the target where something listens."""
        for name in self._names:
            self._tell(ProbeEvent(name=name, state="started"))
        started, limit = time.monotonic(), self._access.limits.probe
        *earlier, last = self._target.origins
        for origin in earlier:
            self.origin = self.site = origin
            elsewhere = await self._probe_all(limit, tentative=True)
            if not elsewhere:
                return
            self.warnings.append(f"{elsewhere}; the site was asked at {last}")
            for name in self._names:
                self._tell_again(name, f"at {last}")
        self.origin = self.site = last
        await self._probe_all(limit - (time.monotonic() - started))

    async def _probe_all(self, limit: float, *, tentative: bool = False) -> str:
        """Ask every probe; when ``tentative`` and nobody got an answer at this origin, return why, as a clause."""
        clients = {
            name: await self._open.enter_async_context(self._network.client(http2=profiles.profile(name).http2))
            for name in self._homepages
        }
        self._clients = clients | dict.fromkeys(self._names[len(clients) :], clients[BROWSER])
        if self._access.limits.pace:
            return await self._one_by_one(tentative)
        ready = asyncio.Event()
        told: list[str | None] = []

        def elsewhere() -> str:
            """Return why the other scheme is worth asking: each answer says so, or one proves it and none denies it."""
            if not tentative or "" in told:
                return ""
            if PLAIN_HTTP in told:
                return PLAIN_HTTP
            return "" if None in told else told[0] or ""

        async def one(name: str) -> None:
            answer = await self._ask(self._clients[name], name, limit)
            told.append(self._elsewhere(answer))
            if "" in told or not tentative or len(told) == len(self._clients):
                ready.set()
            await ready.wait()
            if not elsewhere():
                await self._take(answer)
                limited = any(_asks_to_wait(found.status) for found in self._done.values())
                if name in FILE_PROBES[1:] and self.files.found(name) and not (answer.hops or limited):
                    # while others wait for their answers
                    await self._all([partial(self._ask_own_file, name, path) for path in self._own_places(name)])

        async with asyncio.TaskGroup() as group:
            for name in self._clients:
                group.create_task(one(name))
            for agent in registry().live:
                if self._access.arms and agent.honours_robots != "no":
                    group.create_task(self._ask_own_robots(self._clients[agent.key], agent.key))
        return elsewhere()

    async def _one_by_one(self, tentative: bool) -> str:
        """Do what ``_probe_all`` does with a pace: each probe that many seconds after the one before it."""
        pace = self._access.limits.pace
        for number, (name, client) in enumerate(self._clients.items()):
            if number:
                self._tell_again(name, f"pace: one request every {pace:g} s", pace)
                await asyncio.sleep(pace)
            answer = await self._ask(client, name, self._access.limits.probe)
            if tentative and not number and (elsewhere := self._elsewhere(answer)):
                return elsewhere
            await self._take(answer)
        return ""

    def _elsewhere(self, answer: Answer) -> str | None:
        """Return why the other scheme is worth asking, empty where it is not; None of an answer that cannot tell.

        A busy server of plain HTTP breaks off some of the handshakes.
        """
        if answer.silent:
            return f"Nothing listens at {self.origin}"
        if answer.hops or self.origin.port == DEFAULT_PORTS["https"]:
            return ""
        return PLAIN_HTTP if answer.detail == NO_TLS else None if answer.detail == BROKEN_OFF else ""

    def _warn_of_proxy(self, answers: bool) -> None:
        proxy = next((name for name, value in os.environ.items() if value and name.lower() in PROXIES), "")
        if proxy and self._access.keyboard and self._access.via is None and not answers:
            self.warnings.append(
                f"{proxy} is set here, and a scan does not take a proxy from the environment; if this network needs it,"
                " scan with --via"
            )

    # One request, and what its answer tells.

    async def _ask(self, client: HttpClient, name: str, limit: float, *, alone: bool = False) -> Answer:
        """Return the answer to the probe ``name``; ``alone``: no second request goes out beside it."""

        async def at(path: str) -> Answer:
            return await probe(client, self._plan(name, profiles.profile(name), path), self._access, limit=limit)

        if name == "mcp":
            return await self.files.ask_mcp(at, self.site, alone=alone, pace=self._access.limits.pace)
        return await at(FILE_PATHS.get(name, self._path))

    def _plan(self, name: str, profile: profiles.Profile, path: str) -> ProbePlan:
        """Return what to ask for the probe ``name``, a homepage or a file."""
        at = self.site if name in FILE_PROBES else self.origin
        plan = probes.planned(name, Url(at, path), profile.fields, self._access.limits, self.origin)
        return replace(plan, redirects=profile.redirects)

    async def _ask_as(
        self,
        name: str,
        profile: profiles.Profile,
        *,
        url: Url | None = None,
        path: str = "",
        limit: float | None = None,
    ) -> tuple[Exchange, Answer]:
        """Return what a client with ``profile`` gets for the probe ``name``, alone and on a fresh connection.

        ``url``: where its homepage is, past redirects; none further is followed for a reader. ``path``: another one.
        """
        plan = self._plan(name, profile, path or FILE_PATHS.get(name, "/"))
        if url is not None:
            plan = replace(plan, url=url, page=False)
        async with self._network.client(http2=profile.http2) as client:
            answer = await probe(client, plan, self._access, limit=limit)
        return self._record(answer), answer

    async def _ask_own_robots(self, client: HttpClient, name: str) -> None:
        """Ask for robots.txt as an agent that may follow it, over its connection."""
        plan = self._plan("robots", profiles.profile(name), FILE_PATHS["robots"])
        answer = await probe(client, plan, self._access, limit=self._access.limits.again)
        if answer.error != "timeout" and not answer.cut:
            self._own_robots[name] = answer

    def _own_places(self, name: str) -> tuple[str, ...]:
        """Return where a file that was found is asked for as an agent; beside llms.txt also a path that nobody has."""
        place = self.files.where(name)
        return (place, NOBODYS_TEXT) if name == "llms" else (place,)

    async def _ask_own_file(self, name: str, path: str) -> None:
        """Ask for the file ``name`` at ``path`` as the first agent, over its connection."""
        agent = self._agents[0]
        plan = self._plan(name, profiles.profile(agent), path)
        answer = await probe(self._clients[agent], plan, self._access, limit=self._access.limits.again)
        if answer.error != "timeout":
            self._own_files[path] = answer

    def _record(self, answer: Answer) -> Exchange:
        """Return the record of ``answer``, fit to be shown and kept: no secret of the user is in it."""
        return exchanges.redact(exchanges.exchange(answer, self._access.limits), self._access.secrets)

    async def _take(self, answer: Answer) -> Exchange:
        """Take the facts of ``answer`` and return its record."""
        name = answer.name
        self._flooded |= answer.flooded
        exchange = self._done[name] = self._record(answer)
        if name in self._homepages:
            if exchange.outcome == SERVED:
                answer.body = next(
                    (served.body for served in self._served.values() if served.body == answer.body), answer.body
                )
                self._served.setdefault(name, answer)
            if name == BROWSER and answer.status and not answer.error:
                self.page = (await self._comparison.read(answer)).facts
            self._report(exchange)
            if name == self._agents[0] and exchange.outcome == SERVED:
                await self._read_page(name)
            return exchange
        self._file_origins[name] = answer.url.origin
        if name == "robots":
            self.robots = await self._robots_of(answer)
            self._robots_answer = (answer.status, answer.error, answer.body)
        elif name != "mcp":  # its places are taken where they are asked
            self.files.take(answer, FILE_PATHS[name], self.site)
        is_there = self.robots.kind == "rules" if name == "robots" else self.files.found(name)
        told = exchange.status != 0 and not (exchange.limited or 500 <= exchange.status <= 599)
        self._report(exchange, "found" if is_there else "absent" if told else INCONCLUSIVE)
        return exchange

    async def _robots_of(self, answer: Answer) -> RobotsFacts:
        """Return what an answer to the request for robots.txt says; nothing of one that a wall gave."""
        if exchanges.wall(answer) is not None:
            return RobotsFacts(kind="unknown")
        facts = await self._parser.robots(answer.body, answer.status, answer.content_type)
        return msgspec.structs.replace(facts, cut=True, text="") if answer.cut else facts

    def _report(self, exchange: Exchange, outcome: str = "") -> None:
        """Tell the user of an answer."""
        wall = exchange.challenge.vendor if exchange.challenge is not None else ""
        self._tell(
            ProbeEvent(
                name=exchange.name,
                state="done",
                status=exchange.status,
                elapsed_ms=exchange.elapsed_ms,
                outcome=outcome or exchange.outcome,
                note=wall or exchange.detail,
            )
        )

    def _tell_again(self, name: str, note: str, wait: float = 0.0) -> None:
        """Tell the user that a probe is asked again, and why."""
        self._tell(ProbeEvent(name=name, state="retrying", note=note, wait=wait))

    # The site: who serves the homepage.

    async def _follow_to_site(self) -> None:
        """Ask for the files at the origin that serves the homepage to most, where it is not the one that was asked.

        A file that was redirected there, as the homepage was, is not asked for again.
        """
        served = Counter(self._served[name].url.origin for name in self._homepages if name in self._served)
        self.site = served.most_common(1)[0][0] if served else self.site
        if self.site == self.origin or self._flooded:
            return
        at_origin = self._file_origins.get("robots") == self.origin
        before = self.robots if at_origin and self.robots.kind == "rules" else None
        moved = [name for name in FILE_PROBES if name in self._names and self._file_origins.get(name) != self.site]
        own = [name for name, answer in self._own_robots.items() if answer.url.origin != self.site]
        self.files.drop(moved)
        self._own_files.clear()
        async with AsyncExitStack() as stack:
            clients = {
                name: await stack.enter_async_context(self._network.client(http2=profiles.profile(name).http2))
                for name in (BROWSER, *own)
            }

            async def file(name: str) -> None:
                self._tell_again(name, f"at {self.site}, which serves the homepage")
                await self._take(await self._ask(clients[BROWSER], name, self._access.limits.probe))

            asks = [*(partial(file, name) for name in moved)]
            asks += [partial(self._ask_own_robots, clients[name], name) for name in own]
            await self._all(asks)
        if before is not None and "robots" in moved:
            self.first_host = _closed_by(before, self.origin)

    async def _all(self, asks: Sequence[Callable[[], Awaitable[None]]]) -> None:
        """Send requests side by side; with a pace one after the other."""
        if not self._access.limits.pace:
            async with asyncio.TaskGroup() as group:
                for ask in asks:
                    group.create_task(_started(ask))
            return
        for ask in asks:
            await asyncio.sleep(self._access.limits.pace)
            await ask()

    # The second look: whose refusal counts.

    async def _mark_other_pages(self) -> None:
        """Mark the agents that were served another page than people get."""
        for name in self._served:
            await self._comparison.take(self._done[name], self._served[name])
        for name in self._agents:
            self._done[name] = self._comparison.mark(self._done[name])

    async def _look_again(self) -> None:
        """Ask those who were turned away again, alone, and keep what then holds (``retry``)."""
        limits, now = self._access.limits, time.monotonic()
        deadline = min(now + limits.budget + limits.paced * limits.pace, self._end - LEAST)
        first = {name: _probe_answer(self._done[name], now) for name in self._names}
        retried = Retry(first, limits, now, deadline)
        if self._flooded:
            self.warnings.append("The site floods its clients with empty or tiny pieces, so no client was asked again")
        else:
            await self._run_retries(retried)
        self.retry = retried
        for name, exchange in self._done.items():
            self._done[name] = msgspec.structs.replace(
                exchange, limited=name in retried.limited, controls=retried.controls.get(name, 0)
            )
        for name in retried.limited.intersection(FILE_PROBES):
            self.files.forget(name)
        if "robots" in retried.limited:
            self.robots = RobotsFacts(kind="unknown")

    async def _confirm_marks(self) -> None:
        """Ask those again who were served another page than the reference, which was not known before."""
        pause = max(self._access.limits.pace, self._access.limits.pause)
        for name in self._agents:
            if self._done[name].outcome != SERVED:
                continue
            self._done[name] = self._comparison.mark(self._done[name])
            for _ in range(ROUNDS):
                if not self._done[name].another_page or not self._has_time(1):
                    break
                ask = Ask(name, pause, self._access.limits.probe, "")
                exchange = await self._ask_again(self._done[name], ask)
                self._done[name] = msgspec.structs.replace(exchange, controls=self._done[name].controls + 1)
                if self._done[BROWSER].outcome == SERVED:
                    await self._ask_again(self._done[BROWSER], ask._replace(name=BROWSER, why="as the control"))

    async def _settle(self) -> None:
        """Put down how the page of each agent stands to the one that people get, now that all answers are there."""
        if not self._flooded:
            await self._confirm_marks()
        if self.retry is not None and self.retry.deliberate:
            await self._look_for_cause()
        negotiated = self.cause.agents if self.cause is not None and refusal_cause.negotiates(self.cause) else ()
        for exchange in self._comparison.settle(self._done, self._agents, negotiated):
            if exchange != self._done[exchange.name]:
                self._done[exchange.name] = exchange
                self._report(exchange)
        if self.cause is not None and not any(self._done[name].turned_away for name in self.cause.agents):
            self.cause = None

    async def _run_retries(self, retried: Retry) -> None:
        """Run the retries that the policy requests; keep the final answers."""
        steps = retried.steps()
        asks = next(steps, None)
        controls: dict[str, Exchange] = {}
        while asks is not None and not self._flooded:
            firsts = [self._done[ask.name] for ask in asks]
            answers = await asyncio.gather(*map(self._ask_again, firsts, asks))
            now = time.monotonic()
            for first, exchange in zip(firsts, answers, strict=True):
                (controls if first.outcome == SERVED else self._done)[exchange.name] = exchange
            try:
                asks = steps.send(tuple(_probe_answer(exchange, now) for exchange in answers))
            except StopIteration:
                break
        for name, exchange in controls.items():
            if exchange.outcome != self._done[name].outcome:
                self._report(self._done[name])  # the answer that counts is shown last

    async def _ask_again(self, first: Exchange, ask: Ask) -> Exchange:
        """Return the answer to ``ask``, asked alone on a fresh connection, with ``first`` among its attempts."""
        name = ask.name
        why = "it got another page than the browser" if first.another_page else ask.why
        event = ProbeEvent(
            name=name, state="retrying", status=first.status, outcome=first.outcome, wait=ask.pause, note=why
        )
        self._tell(event)
        await asyncio.sleep(ask.pause)
        limit = max(LEAST, min(ask.limit, self._end - time.monotonic()))
        async with self._network.client(http2=profiles.profile(name).http2) as client:
            answer = await self._ask(client, name, limit, alone=True)
        if first.outcome == SERVED:
            exchange = self._record(answer)
            if name == BROWSER:
                await self._comparison.control(exchange, answer)
            self._report(exchange)
            return exchange
        exchange = await self._take(answer)
        if name in self._homepages:
            await self._comparison.take(exchange, answer)
        if name in self._agents:
            exchange = self._comparison.mark(exchange)
        if first.error == "timeout" and exchange.status == 0:  # it had less time than at first: the first answer stays
            return exchanges.with_attempt(exchange, first)
        return exchanges.with_attempt(first, exchange)

    async def _read_page(self, name: str) -> None:
        """Read the page that ``name`` was served as readers of text do, while other probes wait for their answers."""
        if self._access.reads and self._whole:
            served = self._served[name]
            reads = (await self._comparison.read(served)).reads
            self.reads = msgspec.structs.replace(reads, client=name) if reads is not None else None

    async def _read_served(self) -> None:
        """Read the page of the first agent that was served after all, else the browser's."""
        served = [name for name in (*self._agents, BROWSER) if self._done[name].outcome == SERVED]
        name = next((name for name in served if name in self._served), "")
        if not name:
            self.reads = None
        elif self.reads is None or self.reads.client != name:
            self.reads = None
            await self._read_page(name)

    async def _read_twins(self) -> None:
        """Read the Markdown that the page names; beside open agents also what Accept and ``index.md`` bring."""
        if self.reads is None or self.reads.problem or self._flooded:
            return
        client = self.reads.client
        page, profile = self._served[client], profiles.profile(client)
        asks = [("the page names it", self.reads.twin, profile)] if self.reads.twin else []
        if self._access.open_agents:
            accepts = profile.having({"Accept": f"{MARKDOWN}, */*;q=0.1"})
            asks += [(f"Accept: {MARKDOWN}", str(page.url), accepts), ("by its name", "index.md", profile)]
        twins: dict[bytes, Twin] = {}
        for by, where, sent in asks:
            with suppress(Unfollowed):
                url = probes.redirect_target(page.url, where, self._access)
                if not (same_site(url.origin, page.url.origin) and self._has_time(1)):
                    continue
                await asyncio.sleep(self._access.limits.pace)
                _, answer = await self._ask_as(client, sent, url=url)
                kind = charset.media_type(answer.content_type)
                named = kind == MARKDOWN or (kind == "text/plain" and url.path.endswith(".md"))
                if 200 <= answer.status <= 299 and named and answer.body and not agent_files.is_page(answer.body):
                    pages = (
                        KeptPage(client, kept_answer.content_type, kept_answer.body) for kept_answer in (page, answer)
                    )
                    twin = await self._parser.twin(*pages)
                    shown = clean(str(answer.url), MAX_URL)
                    twins.setdefault(answer.body, msgspec.structs.replace(twin, url=shown, by=by))
        self.reads = msgspec.structs.replace(self.reads, twins=tuple(twins.values()))

    def pages_served(self) -> tuple[KeptPage, ...]:
        """Return the page that was read and the browser's where that is another one, without the user's secrets."""
        if self.reads is None:
            return ()
        first = self._served[self.reads.client]
        served = [first, *(answer for name, answer in self._served.items() if name == BROWSER)]
        answer_by_body = {answer.body: answer for answer in reversed(served)}
        pages = [
            KeptPage(page_answer.name, page_answer.content_type, page_answer.body, page_answer.cut)
            for page_answer in reversed(answer_by_body.values())
        ]
        secrets = self._access.secrets
        return tuple(_without_secrets(page, secrets) if secrets else page for page in pages)

    async def _read_for_agents(self) -> None:
        """Take the facts of the page from what an agent was served, where that is what people get, or more than it.

        A site may render its pages for those who run no scripts, and send scripts to a browser.
        """
        reference = self._comparison.reference
        served = [name for name in self._agents if self._done[name].outcome == SERVED and name in self._served]
        if reference in self._agents:
            served = [reference]
        elif reference == BROWSER:
            if not self.page.noscript_shell and any(self._done[name].compared != MORE for name in served):
                return
        else:
            return
        pages = []
        for name in served:
            facts = (await self._comparison.read(self._served[name])).facts
            text = bool(facts.problem) and facts.readable >= READABLE_ENOUGH
            if reference == BROWSER and (facts.noscript_shell or (facts.problem and not text)):
                return
            pages.append(msgspec.structs.replace(facts, seen_by=name))
        if pages:
            self.page = pages[0]

    # Further questions: by what a refusal goes.

    async def _look_for_cause(self) -> None:
        """Find out what the site goes by, for those turned away alike; at most ``causes`` requests."""
        limits = self._access.limits
        alike = arms.grouped_alike(self._done, (name for name in self._agents if self._done[name].controls))
        if not alike or limits.causes < _TRIALS:
            return
        group = max(alike, key=len)
        served_agents = [name for name in self._agents if self._done[name].outcome == SERVED]
        wire = refusal_cause.Wire(self._done[BROWSER].http_version == "HTTP/2", self.origin)
        name = refusal_cause.representative(group, wire)
        limit, cost, slow = self._patience(name)

        async def served(trial: refusal_cause.Trial) -> bool:
            wait = max(limits.pace, limits.pause / 4)
            self._tell_again(name, f"the cause: {trial.what}", wait)
            await asyncio.sleep(wait)
            exchange, answer = await self._ask_as(name, trial.profile, limit=limit)
            return await self._comparison.serves(exchange, answer)

        trials = refusal_cause.trials(name, group, served_agents, wire, limits.causes)
        batch = next(trials)
        while self._has_time(1, limit) and self._is_worth(cost):
            answers = await _each(map(served, batch), together=slow)
            try:
                batch = trials.send(tuple(answers))
            except StopIteration as ended:
                self.cause = ended.value
                break
        self._report(self._done[name])

    def _is_worth(self, cost: float) -> bool:
        """Return whether so many seconds more are worth what they tell about a refusal that counts."""
        return bool(self._access.limits.pace) or time.monotonic() + cost < self._began + self._access.limits.enough

    def _patience(self, name: str) -> tuple[float, float, bool]:
        """Return the seconds that one more answer to ``name`` has, those it took, and whether that is long."""
        exchange, limits = self._done[name], self._access.limits
        slow = exchange.error == "timeout" or exchange.elapsed_ms >= 1000 * SLOW
        limit = limits.again if exchange.error == "timeout" else limits.probe
        return limit, min(limit, exchange.elapsed_ms / 1000), slow and not limits.pace

    def _has_time(self, requests: int, limit: float | None = None) -> bool:
        """Return whether that many more requests end in time, each with all its seconds, or ``limit``."""
        return time.monotonic() + requests * (limit or self._access.limits.probe) < self._end

    def _refused_alike(self) -> list[list[str]]:
        """Return the agents whose refusal counts, those who got the same together."""
        refused = [name for name in self._agents if self._done[name].turned_away and not self._done[name].limited]
        return arms.grouped_alike(self._done, refused)

    async def _ask_real_browser(self) -> None:
        """Ask a real browser where it settles something; its page is the reference where the browser has none."""
        needed = arms.browser_would_settle(self._done[BROWSER]) or self._comparison.lacks_reference
        needed = needed or (self._access.control == "chromium" and bool(self._refused_alike()))
        if self.real is None or self.real.missing or not needed:
            return
        exchange = await self._ask_real(self.real)
        self.arms = (arms.arm(REAL, exchange, self.real.name),)
        if exchange.outcome == SERVED:
            await self._confirm_marks()
            for group in self._refused_alike():
                exchange = await self._ask_real(self.real, group[0])
                self.arms += tuple(arms.arm(REAL_AGENT, exchange, self.real.name, agent) for agent in group)

    async def _ask_real(self, real: RealBrowser, agent: str = "") -> Exchange:
        """Return what a real browser gets, under its own name or that of ``agent``; its page is taken for the facts."""
        self._tell_again(agent or BROWSER, "with a real browser")
        name = registry().user_agent(agent) if agent else ""
        answer = await real.fetch(Url(self.origin, "/"), self._access, name)
        exchange = self._record(answer)
        if not agent:
            await self._comparison.take(exchange, answer, REAL)
        serves = await self._comparison.serves(exchange, answer) if agent else self.reference in (BROWSER, REAL)
        if exchange.outcome == SERVED and not serves:
            exchange = msgspec.structs.replace(exchange, status=REFUSES)
        elif not agent and exchange.outcome == SERVED:
            facts = (await self._comparison.read(answer)).facts
            self.page = msgspec.structs.replace(facts, seen_by=REAL)
        self._report(exchange)
        return exchange

    async def _ask_other_names(self) -> None:
        """Ask under an invented name and a search engine's what a refusal goes by."""
        away, limits = self._refused_alike(), self._access.limits
        by_field = self.cause is not None and self.cause.by in ("field", "fields")
        served = self._done[BROWSER].outcome == SERVED and not self.arms
        if not (served and away and not by_field and self._has_time(2)):
            return
        name = max(away, key=len)[0]
        limit, cost, slow = self._patience(name)
        if not self._is_worth(cost):
            return
        own = await self._access.owns(self._target, self._access.resolver or system_resolver())

        async def ask(profile: profiles.Profile) -> Exchange:
            self._tell_again(name, "under another name, to see what the site decides by")
            exchange, answer = await self._ask_as(name, profile, limit=limit)
            another_page = exchange.outcome == SERVED and not await self._comparison.serves(exchange, answer)
            return msgspec.structs.replace(exchange, status=REFUSES) if another_page else exchange

        pause = max(limits.pace, limits.pause / 4)
        self.arms = await arms.ask_other_names(self._done[name], ask, search=own, pause=pause, together=slow)
        self._report(self._done[name])

    async def _ask_files_as_agent(self) -> None:
        """Ask once more, under an agent's name, for each file that was found; one that is closed to it is an arm.

        That holds after two rounds in which the agent did not get the file and the browser, right after it, did.
        """
        names = [name for name in FILE_PROBES if name != "robots" and self.files.found(name)]
        if names and self.files.answers_everything and self._has_time(1):
            _, answer = await self._ask_as(names[0], profiles.profile(names[0]), path=NOBODYS_PATH)
            self.files.unmask(answer)
            names = [name for name in names if self.files.found(name)]
        if not names or not self._served or (self.retry is not None and self.retry.limits):
            return
        limits = self._access.limits
        away = [name for name in self._agents if self._done[name].turned_away and self._done[name].status]
        agent = next(iter((*away, *(name for name in self._agents if self._done[name].outcome == SERVED))), "")
        if not agent:
            return  # nobody who answers: a file would be as silent
        profile = profiles.profile(agent)
        places = {path: name for name in names for path in self._own_places(name)}
        early = self._own_files if agent == self._agents[0] else {}
        closed: list[str] = []

        async def ask(path: str) -> None:
            plan = self._plan(places[path], profile, path)
            answer = early.get(path) or await probe(self._clients[agent], plan, self._access)
            if path == NOBODYS_TEXT:
                self.files.unmask(answer)
            elif not (self.files.is_file(answer, path, self.site) or _asks_to_wait(answer.status)):
                closed.append(path)

        if self._has_time(1):
            await self._all([partial(ask, path) for path in places])
        for path in closed:
            name = places[path]
            if not self.files.found(name):
                continue
            for _ in range(ROUNDS):
                if not self._has_time(2):
                    break
                await asyncio.sleep(max(limits.pace, limits.pause))
                exchange, answer = await self._ask_as(name, profile, path=path)
                if self.files.is_file(answer, path, self.site) or _asks_to_wait(exchange.status):
                    break
                _, control = await self._ask_as(name, profiles.profile(name), path=path)
                if not self.files.is_file(control, path, self.site):
                    break
            else:
                outcome = REFUSED if exchange.outcome == SERVED else exchange.outcome
                self.arms += (
                    Arm(name=name, agent=agent, outcome=outcome, status=exchange.status, client=arms.OWN, detail=path),
                )

    async def _compare_robots(self) -> None:
        """Ask those agents again for robots.txt who got another one than the browser; what lasts is an arm.

        Where not everybody is served, nothing follows from an answer without rules. Agents that do not follow
        robots.txt are asked only where another one gets its own, or where the browser's shuts them out.
        """
        everybody = all(self._done[name].outcome == SERVED for name in self._homepages)
        served = [name for name in self._agents if self._done[name].outcome == SERVED]
        if not served or self.robots.kind == "html" or self.robots.problem:
            return
        limits = self.retry is not None and self.retry.limits
        own = [name for name in served if name in self._own_robots]
        own = [name for name in own if not (limits and _asks_to_wait(self._own_robots[name].status))]
        differ = [name for name in own if await self._own_policy(name, self._own_robots[name])]
        for name in served:
            shut = self._policy(self.robots, name).effective == "blocked"
            if name not in self._own_robots and (differ or shut) and self._has_time(1):
                _, self._own_robots[name] = await self._ask_as("robots", profiles.profile(name))
        differing: list[Arm] = []
        quiet = QUIET
        for name in served:
            answer = self._own_robots.get(name)
            limited = answer is not None and _asks_to_wait(answer.status)
            if answer is None or (limited and limits) or not self._has_time(1):
                continue
            if await self._own_policy(name, answer):
                await asyncio.sleep(self._access.limits.pause * (quiet if limited else 1 / 4))
                _, second = await self._ask_as("robots", profiles.profile(name))
                if limited:
                    quiet, limits = 1 / 4, not _asks_to_wait(second.status)
                policy = await self._own_policy(name, second)
                rules = 200 <= second.status <= 299
                if policy and second.status == answer.status and (everybody or rules):
                    differing.append(
                        Arm(
                            name=OWN_ROBOTS,
                            agent=name,
                            outcome=SERVED if rules else REFUSED,
                            status=second.status,
                            client=arms.OWN,
                            detail=policy.effective,
                            line=policy.line,
                            rule=policy.rule,
                        )
                    )
        if differing:
            _, browser = await self._ask_as("robots", profiles.profile("robots"))
            if not any([await self._own_policy(arm.agent, browser) for arm in differing]):
                self.arms += tuple(differing)

    async def _own_policy(self, name: str, answer: Answer) -> RobotsPolicy | None:
        """Return what the agent ``name`` is told by its own robots.txt, None where it is the browser's."""
        if (answer.status, answer.error, answer.body) == self._robots_answer:
            return None
        facts = await self._robots_of(answer)
        if facts.problem or answer.cut:
            return None
        own, browsers = (self._policy(robots_facts, name) for robots_facts in (facts, self.robots))
        return own if (facts.kind, own.effective) != (self.robots.kind, browsers.effective) else None

    @staticmethod
    def _policy(facts: RobotsFacts, name: str) -> RobotsPolicy:
        """Return what a robots.txt says to the agent ``name``."""
        token = next(agent.token for agent in registry().live if agent.key == name)
        return facts.policies([token])[0]

    async def _choose_pages(self) -> tuple[str, ...]:
        """Return pages of the site's sitemap and of the links of its homepage, some of each section."""
        number = self._access.sample
        served = self._served.get(BROWSER) or next(iter(self._served.values()), None)
        if not number or served is None:
            return ()
        paths = list(page_choice.links(served.body, self.origin))
        waiting = page_choice.sitemaps(self._robots_answer[2], self.origin)
        for _ in range(page_choice.SITEMAPS):
            if not waiting or not self._has_time(1):
                break
            await asyncio.sleep(self._access.limits.pace)
            url = Url(self.origin, waiting.pop(0))
            _, answer = await self._ask_as("robots", profiles.profile("robots"), url=url)
            listed, is_index = page_choice.locations(answer.body if answer.status == 200 else b"", self.origin)
            if is_index:
                waiting[:0] = listed
            else:
                paths += listed
        return page_choice.choose(paths, number)

    async def _ask_pages(self) -> None:
        """Ask browser and agents for the other pages too, one page after the other, with the same control."""
        self._ends_at += PAGE_SECONDS * (len(self._access.pages) + self._access.sample)
        paths = tuple(dict.fromkeys((*self._access.pages, *await self._choose_pages())))
        for number, path in enumerate(paths):
            if not self._has_time(1):
                left = paths[number:]
                self.warnings.append(f"Not asked, because the time of the scan ended: {', '.join(left)}")
                return
            shown = clean(path, MAX_URL)
            self._tell(ProbeEvent(name=shown, state="started"))
            page = OtherPage(path=shown, exchanges=await self._ask_beside(path))
            self.pages.append(page)
            self._report(msgspec.structs.replace(page.exchanges[0], name=shown))

    async def _ask_beside(self, path: str, agents: Sequence[str] = ()) -> tuple[Exchange, ...]:
        """Return what the browser and ``agents``, by default those of the scan, get at ``path``, with the same control.

        It does not look for causes.
        """
        limits = replace(self._access.limits, causes=0)
        access = replace(self._access, arms=False, signer=None, limits=limits)
        scan = _Scan(
            self._target,
            self._network,
            self._parser,
            access,
            no_progress,
            end=self._ends_at,
            waited=self._waited,
            path=path,
            agents=agents,
        )
        scan.origin = scan.site = self.origin
        async with scan._open:
            await scan._probe_all(limits.probe)
            await scan._mark_other_pages()
            await scan._look_again()
            await scan._settle()
        return scan.exchanges()

    async def _ask_open_agents(self) -> None:
        """Ask for the homepage once more under each client of the fetch tools of open agents."""
        self._ends_at += OPEN_SECONDS + len(clients()) * self._access.limits.pace
        served = any(self._done[name].outcome == SERVED for name in self._homepages)
        if not served or self._flooded or not self._has_time(1):
            why = "nobody was served the homepage" if not served else "the time of the scan ended"
            self.warnings.append(f"Open agents were not asked, because {why}")
            return
        self._tell(ProbeEvent(name=OPEN_AGENTS, state="started"))
        exchanges_of_clients = await self._ask_beside("/", tuple(clients()))
        rules = robots.parse(self.robots.text.encode() if self.robots.kind == "rules" else b"")
        asking = next(tool.user_agent for tool in table().tool if tool.robots == CHECKS_ROBOTS)
        withheld = self.robots.kind == "none" and self._done["robots"].status in CLOSED_ROBOTS
        self.open_door = OpenDoor(exchanges=exchanges_of_clients, told_no=withheld or not rules.allows(asking, "/"))
        self._report(msgspec.structs.replace(exchanges_of_clients[0], name=OPEN_AGENTS))

    async def _ask_signed(self, name: str, signer: Signer) -> None:
        """Ask again with signatures for an agent that was turned away, each time alone and on a fresh connection."""
        self._tell_again(name, "with signatures")
        first, profile = self._done[name], profiles.profile(name)
        url = probes.redirect_target(Url(self.origin, "/"), first.url, self._access)
        served: list[Exchange] = []

        async def ask(fields: Mapping[str, str]) -> Exchange:
            exchange, _ = await self._ask_as(name, profile.having(fields), url=url)
            if exchange.outcome == SERVED:
                served.append(exchange)
            return exchange

        signed = await signing.ask_signed(first, str(url), signer, ask, pause=self._access.limits.pace or SIGNED_PAUSE)
        stands = first
        if signed.result == VERIFIED:
            stands = exchanges.with_attempt(first, served[0])
            self._verifies_signatures, self.cause = True, None
        self._done[name] = msgspec.structs.replace(stands, signed=signed)
        self._report(self._done[name])

"""One scan: all probes at once, the second look at refusals, and the facts of what came back."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Final

import msgspec

from aui_tui.errors import PrivateHost, Unavailable
from aui_tui.model.card import stamp
from aui_tui.model.observations import (
    BROWSER,
    FILE_PROBES,
    SERVED,
    STOPPED,
    VERIFIED,
    Arm,
    Cause,
    Exchange,
    Observations,
    OtherPage,
    PageFacts,
    ProbeEvent,
    Progress,
    RobotsFacts,
    silence,
)
from aui_tui.model.registry import registry
from aui_tui.model.verdicts import OWN_ROBOTS, REAL, REAL_AGENT, REFUSED
from aui_tui.scan import cause, control, exchanges, probes, profiles, retry, signing, walls
from aui_tui.scan.agent_files import PATHS
from aui_tui.scan.control import RealBrowser
from aui_tui.scan.exchanges import PageComparison
from aui_tui.scan.file_answers import FileAnswers
from aui_tui.scan.network import NO_TLS, HttpClient, Network, system_resolver
from aui_tui.scan.parser_pool import ParserPool
from aui_tui.scan.policy import PUBLIC, ScanPolicy
from aui_tui.scan.probes import MAX_URL, Answer, ProbePlan, Url, probe
from aui_tui.scan.retry import Ask, Retry, Seen
from aui_tui.scan.signing import Signer
from aui_tui.scan.target import DEFAULT_PORTS, Origin, Target
from aui_tui.text import clean

PROXIES: Final = ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")
"""Variables that name a proxy."""
OMITS: Final = (
    "The server of {} leaves out its intermediate certificate; this scan fetched it, as most browsers do. Clients that"
    " do not (curl, programs in Python and Node.js) refuse the site: send the whole chain (fullchain.pem)"
)
_TRIALS: Final = 2
"""Requests without which nothing is known of a cause."""
SIGNED_PAUSE: Final = 0.2
"""Pause in seconds between two signed probes, unless the user sets the pace."""


async def observe(
    target: Target,
    *,
    parser: ParserPool,
    access: ScanPolicy = PUBLIC,
    real: RealBrowser | None = None,
    progress: Progress | None = None,
    clock: Callable[[], float] = time.time,
) -> Observations:
    """Return what ``target`` answers to the browser, to each live-probed agent, and for each file.

    ``real``: a real browser, asked where it settles something; ``progress`` receives an event for every probe;
    ``clock`` gives seconds since the epoch. Raises PrivateHost when the name leads to a network that must not be
    dialled, Unavailable when this machine has no room for its connections. Cancelling closes every connection and
    raises ScanStopped with what was seen until then.
    """
    async with Network(access) as network:
        began, started = clock(), time.monotonic()
        scan = _Scan(target, network, parser, access, progress or silence)
        scan.real = None if access.control == "plain" else real
        stopped = False
        try:
            found = await scan.run()
        except ExceptionGroup as group:
            raise _unavailable(group) or group from None
        except asyncio.CancelledError:
            found, stopped = scan.so_far(), True
    observed = Observations(
        host=target.site,
        input_host=target.input_host,
        origin=str(scan.origin),
        scanned_at=stamp(began),
        elapsed_ms=round((time.monotonic() - started) * 1000),
        exchanges=exchanges.shared_text(found),
        edge=scan.edge(),
        robots=scan.robots,
        page=scan.page,
        files=scan.files.facts(),
        limits=scan.limits(),
        warnings=(*scan.warnings, *map(OMITS.format, sorted(network.chains.completed))),
        random=scan.random,
        unsettled=scan.unsettled,
        pages=tuple(scan.pages),
        shared_limit=scan.shared_limit,
        arms=scan.arms,
        cause=scan.cause,
        incomplete=stopped,
    )
    observed = exchanges.redact(observed, access.secrets)
    if stopped:
        raise ScanStopped(observed if observed.browser.outcome == SERVED else None)
    return observed


class ScanStopped(asyncio.CancelledError):
    """A scan was cancelled. ``observations``: what was seen until then, None where that does not make a card."""

    def __init__(self, observations: Observations | None) -> None:
        super().__init__()
        self.observations = observations


def _unavailable(group: ExceptionGroup[Exception]) -> Unavailable | None:
    """Return the first Unavailable in ``group``, however deep."""
    for error in group.exceptions:
        found = _unavailable(error) if isinstance(error, ExceptionGroup) else error
        if isinstance(found, Unavailable):
            return found
    return None


def _seen(found: Exchange, at: float) -> Seen:
    """Return what the policy goes by; ``at``: seconds of the monotonic clock."""
    asked = next((value for name, value in found.headers if name == "retry-after"), "")
    return Seen(
        found.outcome,
        found.status,
        found.error,
        retry.retry_after(asked),
        found.elapsed_ms / 1000,
        at,
        found.another_page,
    )


class _Scan:
    """One scan of a site; of another page than its homepage, the same without the files and the arms."""

    def __init__(
        self,
        target: Target,
        network: Network,
        parser: ParserPool,
        access: ScanPolicy,
        progress: Progress,
        *,
        path: str = "/",
    ) -> None:
        self._path = path
        self.files = FileAnswers()
        self._target = target
        self._parser = parser
        self._access = access
        self._tell = progress
        self._network = network
        self._agents = tuple(agent.key for agent in registry().live)
        self._names = (BROWSER, *self._agents, *(FILE_PROBES if path == "/" else ()))
        self._pages: dict[str, Answer] = {}
        self._taken: dict[str, Exchange] = {}
        self._own_robots: dict[str, Answer] = {}
        self._robots_answer = (0, "", b"")
        self._flooded = False
        self._plain = False
        self._comparison = PageComparison(parser)
        self.origin: Origin = target.origin
        self.robots = RobotsFacts()
        self.page = PageFacts()
        self._edges: list[Mapping[str, str]] = []
        self.warnings: list[str] = []
        self.random = self.unsettled = self.shared_limit = False
        self.cause: Cause | None = None
        self.arms: tuple[Arm, ...] = ()
        self.pages: list[OtherPage] = []
        self.real: RealBrowser | None = None
        self.verified = False
        """A site that was asked with signatures verifies them."""

    async def run(self) -> tuple[Exchange, ...]:
        """Return the exchanges in their order; the facts are then in the attributes."""
        started = time.monotonic()
        done = await self._first_look()
        homepages = [done[name] for name in (BROWSER, *self._agents)]
        if all(found.error == "address" for found in homepages):
            raise PrivateHost(f"{homepages[0].detail}.")
        proxy = next((name for name in PROXIES if os.environ.get(name)), "")
        if proxy and self._access.keyboard and self._access.via is None and not any(one.status for one in homepages):
            self.warnings.append(
                f"{proxy} is set here, and a scan does not take a proxy from the environment; if this network needs it,"
                " scan with --via"
            )
        await self._measure(done)
        await self._look_again(done, started)
        await self._read_for_agents(done)
        if self._access.arms and not self._flooded:
            await self._ask_arms(done, started + self._access.limits.longest)
            await self._compare_robots(done, started + self._access.limits.longest)
        if not self._flooded and any(found.status for found in homepages):
            await self._ask_pages(started + self._access.limits.longest)
        if self._access.signer is not None and done[BROWSER].outcome == SERVED:
            for name in self._agents:
                if done[name].turned_away:
                    done[name] = await self._signed(done[name], self._access.signer)
        return tuple(done[name] for name in self._names)

    async def _ask_pages(self, end: float) -> None:
        """Ask browser and agents for the other pages too, one page after the other, with the same control."""
        limits = self._access.limits
        access = replace(self._access, arms=False, signer=None, limits=replace(limits, causes=0))
        for number, path in enumerate(self._access.pages):
            if time.monotonic() + limits.probe > end:
                left = self._access.pages[number:]
                self.warnings.append(f"Not asked, because the time of the scan ended: {', '.join(left)}")
                return
            shown = clean(path, MAX_URL)
            self._tell(ProbeEvent(name=shown, state="started"))
            page = _Scan(self._target, self._network, self._parser, access, silence, path=path)
            page.origin = self.origin
            done = await page._probe_all(limits.probe)
            assert done is not None
            await page._measure(done)
            await page._look_again(done, end - limits.whole)
            found = OtherPage(path=shown, exchanges=exchanges.shared_text([done[name] for name in page._names]))
            self.pages.append(found)
            self._done(msgspec.structs.replace(found.exchanges[0], name=shown))

    async def _first_look(self) -> dict[str, Exchange]:
        """Return every exchange by name, asked at the first origin of the target where something listens."""
        for name in self._names:
            self._tell(ProbeEvent(name=name, state="started"))
        started = time.monotonic()
        *earlier, last = self._target.origins
        for origin in earlier:
            self.origin = origin
            done = await self._probe_all(self._access.limits.probe, tentative=True)
            if done is not None:
                return done
            reason = "This port speaks plain HTTP" if self._plain else f"Nothing listens at {origin}"
            self.warnings.append(f"{reason}; the site was asked at {last}")
            for name in self._names:
                self._tell_again(name, f"at {last}")
        self.origin = last
        done = await self._probe_all(self._access.limits.probe - (time.monotonic() - started))
        assert done is not None
        return done

    def so_far(self) -> tuple[Exchange, ...]:
        """Return the exchanges of a scan that was stopped; one without a verdict says that it was stopped.

        A refusal needs a control, and a page that nobody compared with the browser's proves nothing.
        """
        out: list[Exchange] = []
        for name in self._names:
            found = self._taken.get(name)
            if found is not None and (name == BROWSER or name in FILE_PROBES or found.outcome == SERVED):
                out.append(found)
                continue
            turned_away = found is not None and found.status > 0
            detail = "the scan was stopped before " + ("it was asked again" if turned_away else "an answer came")
            url = found.url if found is not None else str(Url(self.origin, PATHS.get(name, "/")))
            out.append(Exchange(name=name, url=url, error=STOPPED, detail=detail))
            if name in FILE_PROBES:
                self.files.forget(name)
        if "robots" not in self._taken:
            self.robots = RobotsFacts(kind="unknown")
        return tuple(out)

    async def _probe_all(self, limit: float, *, tentative: bool = False) -> dict[str, Exchange] | None:
        """Return every exchange by name; None when ``tentative`` and nothing listened for any of them."""
        async with AsyncExitStack() as stack:
            clients = {
                name: await stack.enter_async_context(self._network.client(http2=profiles.profile(name).http2))
                for name in (BROWSER, *self._agents)
            }
            clients |= dict.fromkeys(self._names[len(clients) :], clients[BROWSER])
            if self._access.limits.pace:
                return await self._one_by_one(clients, tentative)
            ready = asyncio.Event()
            listening: list[bool] = []

            async def one(name: str) -> Exchange | None:
                answer = await self._ask(clients[name], name, limit)
                listening.append(not self._elsewhere(answer))
                if any(listening) or not tentative or len(listening) == len(clients):
                    ready.set()
                await ready.wait()
                if tentative and not any(listening):
                    return None
                return await self._take(answer)

            async with asyncio.TaskGroup() as group:
                tasks = {name: group.create_task(one(name)) for name in clients}
                for agent in registry().live:
                    if self._access.arms and agent.honours_robots != "no":
                        group.create_task(self._ask_own_robots(clients[agent.key], agent.key))
        done = {name: found for name, task in tasks.items() if (found := task.result()) is not None}
        return done if len(done) == len(clients) else None

    async def _ask_own_robots(self, client: HttpClient, name: str) -> None:
        """Ask for robots.txt as an agent that may follow it, over its connection."""
        plan = replace(self._plan("robots", PATHS["robots"]), fields=profiles.profile(name).fields)
        answer = await probe(client, plan, self._access, limit=self._access.limits.again)
        if answer.error != "timeout" and not answer.cut:
            self._own_robots[name] = answer

    async def _compare_robots(self, done: Mapping[str, Exchange], end: float) -> None:
        """Ask those agents again for robots.txt who got another one than the browser; what lasts is an arm.

        Where not everybody is served, or robots.txt is not known, nothing follows from a difference.
        """
        served = all(done[name].outcome == SERVED for name in (BROWSER, *self._agents))
        if not served or self.robots.kind not in ("rules", "none"):
            return
        found: list[Arm] = []
        url = Url(self.origin, PATHS["robots"])
        for name, answer in self._own_robots.items():
            if await self._own_policy(name, answer) and time.monotonic() + self._access.limits.probe < end:
                await asyncio.sleep(self._access.limits.pause / 4)
                _, again = await self._ask_as(name, profiles.profile(name), url=url)
                policy = await self._own_policy(name, again)
                if policy and again.status == answer.status:
                    outcome = SERVED if 200 <= again.status <= 299 else REFUSED
                    arm = Arm(name=OWN_ROBOTS, agent=name, outcome=outcome, status=again.status, client=control.OWN)
                    found.append(msgspec.structs.replace(arm, detail=policy))
        if found:
            _, browser = await self._ask_as(BROWSER, profiles.profile("robots"), url=url)
            if not any([await self._own_policy(arm.agent, browser) for arm in found]):
                self.arms += tuple(found)

    async def _own_policy(self, name: str, answer: Answer) -> str:
        """Return the effective policy of the agent ``name`` by its own robots.txt, empty where it is the browser's."""
        if (answer.status, answer.error, answer.body) == self._robots_answer:
            return ""
        facts = await self._parser.robots(answer.body, 0 if answer.error else answer.status, answer.content_type)
        token = next(agent.token for agent in registry().live if agent.key == name)
        own, known = (one.policies([token])[0].effective for one in (facts, self.robots))
        return own if (facts.kind, own) != (self.robots.kind, known) else ""

    async def _one_by_one(self, clients: Mapping[str, HttpClient], tentative: bool) -> dict[str, Exchange] | None:
        """Return every exchange by name, each asked ``pace`` seconds after the one before; None as ``_probe_all``."""
        done: dict[str, Exchange] = {}
        pace = self._access.limits.pace
        for name, client in clients.items():
            if done:
                note = f"pace: one request every {pace:g} s"
                self._tell_again(name, note, pace)
                await asyncio.sleep(pace)
            answer = await self._ask(client, name, self._access.limits.probe)
            if tentative and not done and self._elsewhere(answer):
                return None
            done[name] = await self._take(answer)
        return done

    def _elsewhere(self, answer: Answer) -> bool:
        """Return whether the other scheme is worth asking: nothing listens, or a port of its own speaks plain HTTP."""
        plain = answer.detail == NO_TLS and self.origin.port != DEFAULT_PORTS["https"] and not answer.hops
        self._plain |= plain
        return answer.silent or plain

    async def _ask(self, client: HttpClient, name: str, limit: float, *, alone: bool = False) -> Answer:
        async def at(path: str) -> Answer:
            return await probe(client, self._plan(name, path), self._access, limit=limit)

        if name == "mcp":
            return await self.files.ask_mcp(at, self.origin, alone=alone, pace=self._access.limits.pace)
        return await at(PATHS.get(name, self._path))

    def _plan(self, name: str, path: str) -> ProbePlan:
        limits = self._access.limits
        fields = profiles.profile(name).fields
        url = Url(self.origin, path)
        if name in FILE_PROBES:
            cap = limits.robots if name == "robots" else limits.file
            return ProbePlan(name, url, fields, cap, whole_lines=name == "robots", site=self.origin)
        return ProbePlan(name, url, fields, limits.page, site=self.origin, page=True)

    async def _take(self, answer: Answer) -> Exchange:
        """Return the record of ``answer`` after its facts are taken."""
        name = answer.name
        self._flooded |= answer.flooded
        found = self._exchange(answer, judged=name not in FILE_PROBES or name == "robots")
        outcome = found.outcome
        if name not in FILE_PROBES and found.outcome == SERVED:
            self._pages.setdefault(name, answer)
        if name == BROWSER:
            self._edges.insert(0, answer.mapping())
            if answer.status and not answer.error:
                self.page = await self._parser.homepage(answer.body, answer.content_type)
        elif name == "robots":
            status = answer.status if not answer.error else 0
            self.robots = await self._parser.robots(answer.body, status, answer.content_type)
            self._robots_answer = (answer.status, answer.error, answer.body)
            outcome = "found" if self.robots.kind == "rules" else "absent"
        elif name in FILE_PROBES:
            if name != "mcp":
                self.files.take(answer, PATHS[name], self.origin)
            outcome = "found" if self.files.found(name) else "absent"
        else:
            self._edges.append(answer.mapping())
        self._taken[name] = found
        self._done(found, outcome)
        return found

    def _exchange(self, answer: Answer, *, judged: bool) -> Exchange:
        """Return the record of ``answer``, fit to be shown and kept: no secret of the user is in it."""
        return exchanges.redact(exchanges.exchange(answer, self._access.limits, judged=judged), self._access.secrets)

    async def _measure(self, done: dict[str, Exchange]) -> None:
        """Mark in ``done`` the agents that were served another page than the browser."""
        for name, answer in self._pages.items():
            if name == BROWSER:
                self._comparison.take(done[BROWSER], answer)
        for name in self._agents:
            if name in self._pages:
                done[name] = await self._comparison.mark(done[name], self._pages[name])

    async def _ask_as(
        self, name: str, profile: profiles.Profile, *, url: Url | None = None, limit: float | None = None
    ) -> tuple[Exchange, Answer]:
        """Return what a client with ``profile`` gets at the homepage or ``url``, alone and on a fresh connection."""
        cap = self._access.limits.page
        plan = ProbePlan(name, url or Url(self.origin, "/"), profile.fields, cap, site=self.origin, page=url is None)
        async with self._network.client(http2=profile.http2) as client:
            answer = await probe(client, plan, self._access, limit=limit)
        return self._exchange(answer, judged=True), answer

    def _tell_again(self, name: str, note: str, wait: float = 0.0) -> None:
        self._tell(ProbeEvent(name=name, state="retrying", note=note, wait=wait))

    async def _ask_arms(self, done: Mapping[str, Exchange], end: float) -> None:
        """Ask what else says what a refusal goes by: a real browser, an invented name, a search engine's."""
        browser, limits = done[BROWSER], self._access.limits
        away = control.alike(done, (name for name in self._agents if done[name].turned_away and not done[name].limited))
        asked = control.wanted(browser) or (away and self._access.control == "chromium")
        by_field = self.cause is not None and self.cause.by in ("field", "fields")
        if self.real is not None and not self.real.missing and asked:
            found = await self._ask_real()
            self.arms = (control.real(REAL, "", self.real.name, found),)
            if found.outcome == SERVED:
                for group in away:
                    arm = await self._ask_real(group[0])
                    self.arms += tuple(control.real(REAL_AGENT, agent, self.real.name, arm) for agent in group)
        elif browser.outcome == SERVED and away and not by_field and time.monotonic() + 2 * limits.probe < end:
            group = max(away, key=len)
            resolver = self._access.resolver or system_resolver()
            own = self._access.search_engine or await self._access.owns(self._target, resolver)

            async def ask(profile: profiles.Profile) -> Exchange:
                self._tell_again(group[0], "under another name, to see what the site goes by")
                found, answer = await self._ask_as(group[0], profile)
                other = found.outcome == SERVED and not await self._comparison.serves(found, answer)
                return msgspec.structs.replace(found, status=403) if other else found

            pause = max(limits.pace, limits.pause / 4)
            self.arms = await control.by_name(done[group[0]], ask, search=own, pause=pause)
            self._done(done[group[0]])

    async def _ask_real(self, agent: str = "") -> Exchange:
        """Return what a real browser gets, under its own name or that of ``agent``; its page is taken for the facts."""
        assert self.real is not None
        self._tell_again(agent or BROWSER, "with a real browser")
        name = profiles.user_agent(agent) if agent else ""
        answer = await self.real.fetch(Url(self.origin, "/"), self._access, name)
        found = self._exchange(answer, judged=True)
        if not agent and found.outcome == SERVED:
            facts = await self._parser.homepage(answer.body, answer.content_type)
            self.page = msgspec.structs.replace(facts, seen_by=REAL)
        self._done(found)
        return found

    async def _read_for_agents(self, done: Mapping[str, Exchange]) -> None:
        """Take the facts of the page from what an agent was served, where the browser was not."""
        served = (name for name in self._agents if done[name].outcome == SERVED and name in self._pages)
        answer = next((self._pages[name] for name in served), None)
        if done[BROWSER].outcome != SERVED and answer is not None:
            facts = await self._parser.homepage(answer.body, answer.content_type)
            self.page = msgspec.structs.replace(facts, seen_by=answer.name)

    async def _look_again(self, done: dict[str, Exchange], began: float) -> None:
        """Ask those who were turned away again, alone, and put into ``done`` what then holds (``retry``)."""
        limits, now = self._access.limits, time.monotonic()
        end = began + limits.whole if not limits.pace else now + limits.budget + limits.paced * limits.pace
        deadline = min(now + limits.budget, end) if not limits.pace else end
        second = Retry({name: _seen(found, now) for name, found in done.items()}, limits, now, deadline)
        if self._flooded:
            self.warnings.append("The site floods its clients with empty or tiny pieces, so no client was asked again")
        else:
            await self._ask_again(second, done, end)
        for name, found in done.items():
            done[name] = msgspec.structs.replace(
                found, limited=name in second.limited, controls=second.controls.get(name, 0)
            )
        self.random = second.history.random
        self.shared_limit = second.shared
        self.unsettled = second.history.served and not (second.limits_everybody or second.shared or self.random)
        self.unsettled &= not second.limited.isdisjoint(self._agents)
        for name, found in self._comparison.settle(done).items():
            done[name] = found
            self._done(found)
        if second.history.served and not (self.random or second.limits_everybody or second.shared):
            await self._look_for_cause(done, end)
        for name in second.limited.intersection(FILE_PROBES):
            self.files.forget(name)
        if "robots" in second.limited:
            self.robots = RobotsFacts(kind="unknown")

    async def _ask_again(self, second: Retry, done: dict[str, Exchange], end: float) -> None:
        """Run the retries that the policy requests; store the final answers in ``done``."""
        steps = second.steps()
        ask = next(steps, None)
        controls: dict[str, Exchange] = {}
        while ask is not None and not self._flooded:
            found = await self._again(done[ask.name], ask, end)
            if done[ask.name].outcome == SERVED:
                controls[ask.name] = found
            else:
                done[ask.name] = found
            try:
                ask = steps.send(_seen(found, time.monotonic()))
            except StopIteration:
                break
        for name, found in controls.items():
            if found.outcome != done[name].outcome:
                self._done(done[name])  # the answer that counts is shown last

    async def _look_for_cause(self, done: Mapping[str, Exchange], end: float) -> None:
        """Find out what the site goes by, for those turned away alike; at most ``causes`` requests."""
        limits = self._access.limits
        alike = control.alike(done, (name for name in self._agents if done[name].controls))
        if not alike or limits.causes < _TRIALS:
            return
        group = max(alike, key=len)
        served = [name for name in self._agents if done[name].outcome == SERVED]
        wire = cause.Wire(done[BROWSER].http_version == "HTTP/2", self.origin)
        name = cause.representative(group, wire)
        limit = limits.again if done[name].error == "timeout" else limits.probe
        trials = cause.trials(name, group, served, wire, limits.causes)
        trial = next(trials)
        while time.monotonic() + limits.probe < end:
            wait = max(limits.pace, limits.pause / 4)
            self._tell_again(name, f"the cause: {trial.what}", wait)
            await asyncio.sleep(wait)
            found, answer = await self._ask_as(name, trial.profile, limit=limit)
            try:
                trial = trials.send(await self._comparison.serves(found, answer))
            except StopIteration as ended:
                self.cause = ended.value
                break
        self._done(done[name])

    async def _again(self, first: Exchange, ask: Ask, end: float) -> Exchange:
        """Return the answer to ``ask``, asked alone on a fresh connection, with ``first`` among its attempts."""
        name, speaks = ask.name, profiles.profile(ask.name).http2
        why = "it got another page than the browser" if first.another_page else ask.why
        again = ProbeEvent(
            name=name, state="retrying", status=first.status, outcome=first.outcome, wait=ask.pause, note=why
        )
        self._tell(again)
        await asyncio.sleep(ask.pause)
        limit = max(retry.LEAST, min(ask.limit, end - time.monotonic()))
        async with self._network.client(http2=speaks) as client:
            answer = await self._ask(client, name, limit, alone=True)
        if first.outcome == SERVED:
            found = self._exchange(answer, judged=True)
            if name == BROWSER:
                await self._comparison.control(found, answer)
            self._done(found)
            return found
        found = await self._take(answer)
        if name == BROWSER:
            self._comparison.take(found, answer)
        elif name in self._agents:
            found = await self._comparison.mark(found, answer)
        if first.error == "timeout" and found.status == 0:  # it had less time than at first: the first answer stays
            return exchanges.replaced(found, first)
        return exchanges.replaced(first, found)

    async def _signed(self, first: Exchange, signer: Signer) -> Exchange:
        """Ask again with signatures for an agent that was turned away, each time alone and on a fresh connection."""
        self._tell_again(first.name, "with signatures")
        profile = profiles.profile(first.name)
        url = probes.follow(Url(self.origin, "/"), first.url, self._access)
        served: list[Exchange] = []

        async def ask(fields: Mapping[str, str]) -> Exchange:
            signed = profile._replace(fields=(*profile.fields, *fields.items()))
            found, _ = await self._ask_as(first.name, signed, url=url)
            if found.outcome == SERVED:
                served.append(found)
            return found

        signed = await signing.ask_signed(first, str(url), signer, ask, pause=self._access.limits.pace or SIGNED_PAUSE)
        stands = first
        if signed.result == VERIFIED:
            stands = exchanges.replaced(first, served[0])
            self.verified, self.cause = True, None
        found = msgspec.structs.replace(stands, signed=signed)
        self._done(found)
        return found

    def _done(self, found: Exchange, outcome: str = "") -> None:
        wall = found.challenge.vendor if found.challenge is not None else ""
        self._tell(
            ProbeEvent(
                name=found.name,
                state="done",
                status=found.status,
                elapsed_ms=found.elapsed_ms,
                outcome=outcome or found.outcome,
                note=wall or found.detail,
            )
        )

    def edge(self) -> str:
        """Return the technologies that the browser's answer names, else those of the first agent's that names one."""
        return next((found for headers in self._edges if (found := walls.edge(headers))), "")

    def limits(self) -> tuple[str, ...]:
        """Return what the user relaxed and what mattered for this origin."""
        dialled = self._access.rule_for(self.origin.host, self.origin.port) is not None
        words = [word for word in self._access.relaxed if word != "connect-to" or dialled]
        return (*words, "signed") if self.verified else tuple(words)

"""Declarations of a site for agents, and whether an agent gets them (the setting ``declared``). Never scored.

Each place of ``declared.toml`` is asked as the browser; what it has is then asked for under the name of an agent, and
what it promises is tried. Requests are sent one at a time, MAX_REQUESTS and then MOST_TRIES at most; none follows a
redirect. Declared, yet closed to the agent: that is said after ROUNDS in which the browser, asked right after the
agent, got the thing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import urlsplit

import msgspec

from aui_tui import __version__
from aui_tui.model.observations import (
    ABSENT,
    BROWSER,
    DECLARED,
    DISALLOWED,
    FILE_PROBES,
    LIMIT_STATUS,
    Declaration,
    Declared,
    Observations,
    Tried,
)
from aui_tui.model.progress import ProbeEvent, Progress, no_progress
from aui_tui.model.registry import Agent, registry
from aui_tui.model.times import stamp
from aui_tui.model.verdicts import AWAY
from aui_tui.model.vocabulary import INCONCLUSIVE, SERVED
from aui_tui.scan import agent_files, exchanges, probes, profiles, robots, target
from aui_tui.scan import declaration_rules as rules
from aui_tui.scan.declaration_rules import MISSING, OK, PAYMENT_STATUS, DeclarationRow, DeclaredLine, PlaceAnswer, rows
from aui_tui.scan.network import Network
from aui_tui.scan.policy import ScanPolicy
from aui_tui.scan.probes import ProbePlan, Unfollowed, Url, probe
from aui_tui.scan.profiles import Profile
from aui_tui.scan.retry import LEAST, ROUNDS
from aui_tui.scan.robots import Robots
from aui_tui.scan.target import Origin
from aui_tui.text import clean, count

MAX_REQUESTS: Final = 32
MOST_TRIES: Final = 6
"""Requests that try what was found."""
TRIES: Final = 3
"""Entries of one document that are tried."""
_STEADY: Final = 0.2
"""Part of ``Limits.pause`` that lies between two requests."""
_CLIENT: Final = {"name": "aui-tui", "version": __version__}
_PARAMETERS: Final = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": _CLIENT}
GREETING: Final = msgspec.json.encode({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _PARAMETERS})
"""What a client of the Model Context Protocol says first; a server keeps nothing of it."""


async def look(
    observations: Observations, *, access: ScanPolicy, progress: Progress = no_progress, spent: float = 0.0
) -> Declared:
    """Return what the site of ``observations`` declares for agents. ``spent``: seconds that the scan has used.

    Raises Unavailable when this machine has no room for its connections. Cancelling closes every connection.
    """
    deadline = time.monotonic() + access.limits.longest - spent
    turned_away = {candidate.name for candidate in observations.live if candidate.turned_away}
    agent = next((candidate for candidate in registry().live if candidate.key in turned_away), registry().live[0])
    stay = replace(access, limits=replace(access.limits, redirects=0))
    site = target.parse(observations.origin, allow_private=True).origin
    home = _homepage(observations, site, stay)
    async with Network(access) as network:
        asker = _Asker(network, stay, site, home, agent, progress, deadline)
        states = await _ask_homepage(asker, observations)
        await _ask_places(asker, states)
        _drop_catch_alls(states)
        for state in states:
            await _settle(asker, state)
        _take_parts(states, rules.terms_line(observations, asker.asked))
        tried = await _try_out(asker, states, observations)
    robots_txt = robots.parse(observations.robots.text.encode())
    declared = Declared(
        at=stamp(time.time()),
        agent=agent.token,
        requests=len(asker.asked),
        entries=tuple(_entry(state, robots_txt, agent.token) for state in states),
        tried=tuple(tried),
    )
    return exchanges.redact(declared, access.secrets)


def _homepage(observations: Observations, site: Origin, access: ScanPolicy) -> Url:
    """Return where the homepage is, past its redirects within the site."""
    start = Url(site, "/")
    if access.private_fields():
        return start  # the user's own fields go to the scanned origin alone
    try:
        last = probes.redirect_target(start, observations.browser.url, access)
    except Unfollowed:
        return start
    return last if target.same_site(site, last.origin) else start


@dataclass
class _Asker:
    """Asks one site: ``asked`` are the answers so far, ``end`` says why no more requests are sent.

    ``site``: the scanned origin. ``home``: where its homepage is; every request goes to that origin.
    """

    network: Network
    access: ScanPolicy
    site: Origin
    home: Url
    agent: Agent
    tell: Progress
    deadline: float
    budget: int = MAX_REQUESTS
    asked: list[PlaceAnswer] = field(default_factory=list)
    end: str = ""

    async def ask(
        self,
        path: str,
        profile: Profile | None = None,
        *,
        as_agent: bool = False,
        cap: int = 0,
        pause: float = 0.0,
        body: bytes = b"",
    ) -> PlaceAnswer | None:
        """Return the answer at ``path`` to the browser or the agent; None when no request is left.

        ``profile``: other header fields than for a file. ``cap``: bytes read, if not those of a file. ``pause``:
        seconds to wait before it, if longer than the usual ones. ``body``: sent by POST.
        """
        limits = self.access.limits
        wait = max(limits.pace or _STEADY * limits.pause, pause)
        if len(self.asked) >= self.budget:
            self.end = f"the limit of {self.budget} requests was reached"
        elif time.monotonic() + wait + min(LEAST, limits.probe) > self.deadline:
            self.end = "the time of the scan ended"
        if self.end:
            return None
        name = self.agent.key if as_agent else BROWSER
        profile = profile or profiles.profile(name if as_agent else FILE_PROBES[0])
        url = Url(self.home.origin, path)
        plan = ProbePlan(name, url, profile.fields, cap or limits.file, site=self.site, body=body)
        event = ProbeEvent(name=clean(path, 200), state="started")
        self.tell(event)
        await asyncio.sleep(wait)
        left = min(limits.probe, self.deadline - time.monotonic())
        async with self.network.client(http2=profile.http2) as client:
            answer = await probe(client, plan, self.access, limit=left)
        place_answer = rules.read(answer, limits)
        self.asked.append(place_answer)
        done = msgspec.structs.replace(
            event,
            state="done",
            status=place_answer.status,
            elapsed_ms=answer.elapsed_ms,
            outcome="" if place_answer.missing else place_answer.outcome,
            note=f"as {self.agent.token if as_agent else BROWSER}",
        )
        self.tell(done)
        if place_answer.status == LIMIT_STATUS:
            self.end = "the site limits requests (429)"
        return place_answer

    def paths(self, addresses: Sequence[str]) -> list[str]:
        """Return the paths of those ``addresses`` that are on this site, once each."""
        paths: dict[str, None] = {}
        for address in addresses:
            with suppress(Unfollowed):
                url = probes.redirect_target(self.home, address, self.access)
                if url.origin == self.home.origin:
                    paths[url.path] = None
        return list(paths)


@dataclass
class _State:
    """What is known of one row: the ``line`` that declares it, and ``got``, the answer that is its document.

    ``answers``: what the browser got at its places. ``verdict`` and ``status``: the agent's. ``why``: what was not
    settled.
    """

    row: DeclarationRow
    line: DeclaredLine | None = None
    why: str = ""
    answers: list[PlaceAnswer] = field(default_factory=list)
    got: PlaceAnswer | None = None
    verdict: str = ""
    status: int = 0


async def _ask_homepage(asker: _Asker, observations: Observations) -> list[_State]:
    """Ask for the homepage in another format, and as HTML unless that came; return each row with its line."""
    usual, cap = profiles.profile(BROWSER), asker.access.limits.page
    accept = next(row.accept for row in rows() if row.accept)
    first = await asker.ask(asker.home.path, usual.having({"Accept": f"{accept}, text/html;q=0.8"}), cap=cap)
    is_html = first is not None and first.outcome == SERVED and first.content_type == "text/html"
    page = first if is_html else await asker.ask(asker.home.path, usual, cap=cap)
    unread = page is None or page.outcome != SERVED
    lines = rules.lines(observations, first, page)
    states = [_State(row, lines.get(row.key)) for row in rows()]
    for state in states:
        if unread and state.line is None and (state.row.accept or state.row.markup):
            state.why = "the homepage was not served"
    return states


async def _ask_places(asker: _Asker, states: Sequence[_State]) -> None:
    """Ask as the browser where a row's line says and at its own places, until one has it.

    The first places of all rows come before the later ones of any; a row with a line is not asked at its own.
    """
    first: list[tuple[_State, str]] = []
    later: list[tuple[_State, str]] = []
    for state in states:
        named = asker.paths([state.line.value]) if state.line is not None and state.row.places else []
        if state.row.place_only:
            state.line = None
        own = state.row.places if state.line is None else ()
        first += [(state, path) for path in (*named, *own[:1])]
        later += [(state, path) for path in own[1:]]
    for state, path in (*first, *later):
        if state.got is not None:
            continue
        answer = await asker.ask(path)
        if answer is None:
            state.why = state.why or f"not asked everywhere: {asker.end}"
            continue
        state.answers.append(answer)
        if rules.recognised(state.row, answer):
            state.got, state.why = answer, ""
        else:
            state.why = rules.lacking(state.row, answer, promised=state.line is not None) or state.why


def _drop_catch_alls(states: Sequence[_State]) -> None:
    """Drop what the site answers at another row's place too: a site that has one answer declares nothing by it."""
    for state in states:
        if state.got is not None and state.got.status == OK:
            others = (
                answer
                for another in states
                if another is not state
                for answer in another.answers
                if answer.status == OK
            )
            if any(answer.signature == state.got.signature for answer in others):
                state.got = None


async def _settle(asker: _Asker, state: _State) -> None:
    """Settle what the agent gets at a declared place; in rounds with the browser where it is turned away."""
    if state.got is None:
        return
    for turn in range(ROUNDS):
        answer = await asker.ask(state.got.path, as_agent=True, pause=asker.access.limits.pause if turn else 0.0)
        if answer is None:
            state.verdict, state.why = INCONCLUSIVE, asker.end
            return
        state.status = answer.status
        state.verdict, state.why = rules.verdict(state.row, answer)
        if state.verdict not in AWAY:
            return
        control = await asker.ask(state.got.path)
        if control is None or not rules.recognised(state.row, control):
            reason = "the browser was turned away too when it was asked again"
            state.verdict, state.why = INCONCLUSIVE, asker.end if control is None else reason
            return


def _take_parts(states: Sequence[_State], terms: DeclaredLine | None) -> None:
    """Take what is part of another row's document, and terms that were met at any path."""
    documents = {state.row.key: state.got for state in states}
    for state in states:
        document = documents.get(state.row.within)
        if document is not None:
            state.line = rules.part_line(state.row, document)
        elif state.row.terms and state.got is None:
            state.line = terms


async def _try_out(asker: _Asker, states: Sequence[_State], observations: Observations) -> list[Tried]:
    """Try what was found; a site that has an answer to every path promises nothing by it."""
    answers = [answer for state in states for answer in state.answers]
    if asker.end or all(answer.status == OK for answer in answers):
        return []
    asker.budget = len(asker.asked) + MOST_TRIES
    answer_by_path = {answer.path: answer for answer in answers}
    tried = [await _try_server(asker, observations)]
    tried += [
        await _try_entries(asker, state.row, state.got, answer_by_path) for state in states if state.got is not None
    ]
    return [attempt for attempt in tried if attempt is not None]


async def _try_server(asker: _Asker, observations: Observations) -> Tried | None:
    """Greet the server that the MCP card of the scan names, where it is on this site."""
    named = asker.paths([observations.files.mcp_server])
    if not named:
        return None
    fields = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    client = profiles.profile(FILE_PROBES[0]).having(fields)
    answer = await asker.ask(named[0], client, body=GREETING)
    if answer is None or answer.limited or answer.status == 0:
        return None
    works = True
    if answer.status in (401, 403, PAYMENT_STATUS):
        outcome = f"asks for authorization ({answer.status})"
    elif answer.data is not None and isinstance(answer.data.get("result"), dict):
        outcome = "answers initialize"
    else:
        outcome, works = f"does not answer initialize ({answer.status})", False
    where = urlsplit(observations.exchange("mcp").url).path
    return Tried(where=where, said=f"its server {named[0]} {outcome}", broken=not works)


async def _try_entries(
    asker: _Asker, row: DeclarationRow, document: PlaceAnswer, answers_there: Mapping[str, PlaceAnswer]
) -> Tried | None:
    """Ask for the first entries that the ``document`` of a row names on this site; ``answers_there``: known answers."""
    addresses = [text for path in row.tried for text in agent_files.texts_at(document.data, path)]
    answers: list[PlaceAnswer] = []
    for path in asker.paths(addresses)[:TRIES]:
        answer = answers_there.get(path) or await asker.ask(path)
        if answer is None:
            break
        answers.append(answer)
    if not answers:
        return None
    entries = count(len(answers), "entry", "entries")
    missing = [answer.path for answer in answers if answer.status in MISSING]
    outcome = f"{len(missing)} of {entries} tried are not there: {', '.join(missing)}"
    if not missing:
        outcome = f"{entries} tried {'is' if len(answers) == 1 else 'are'} there"
    return Tried(where=clean(document.path, 300), said=clean(outcome, 300), broken=bool(missing))


def _entry(state: _State, robots_txt: Robots, token: str) -> Declaration:
    """Return the record of a row, whose place was asked under ``token``."""
    row, answer, line = state.row, state.got, state.line
    why = clean(state.why, 300)
    if answer is None and line is None:
        return Declaration(key=row.key, name=row.name, state=INCONCLUSIVE if why else ABSENT, why=why)
    where, detail, agent = [], "", state.verdict
    if answer is not None:
        where, detail = [answer.path], rules.short(agent_files.value_at(answer.data, row.detail))
        if agent == SERVED and not robots_txt.allows(token, answer.path):
            agent = DISALLOWED
    if line is not None:
        where, detail = [*where, line.where], detail or rules.short(line.value)
    return Declaration(
        key=row.key,
        name=row.name,
        state=DECLARED,
        where=clean(", named in ".join(where), 300),
        detail=detail,
        agent=agent,
        status=state.status,
        why=why,
    )

"""The declarations of a site for agents, and whether an agent gets them (the setting ``declared``). Never scored.

``declared.toml`` says what there is, where it is asked for and how an honest answer is recognised. At most
``MAX_REQUESTS`` requests are sent, one at a time; none follows a redirect. Each place is asked as the browser; what it
has is then asked for under the name of an agent. Declared, yet closed to the agent: that is said after ROUNDS in which
the browser, asked right after the agent, got the thing.
"""

from __future__ import annotations

import asyncio
import re
import time
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files as packaged
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import msgspec

from aui_tui import __version__
from aui_tui.model.card import stamp
from aui_tui.model.decoding import convert
from aui_tui.model.observations import (
    ABSENT,
    BROWSER,
    CHALLENGED,
    DECLARED,
    DISALLOWED,
    FILE_PROBES,
    INCONCLUSIVE,
    PAYMENT,
    REFUSED,
    SERVED,
    Declaration,
    Declared,
    Observations,
    ProbeEvent,
    Progress,
    Tried,
    silence,
)
from aui_tui.model.registry import registry
from aui_tui.model.tasks import Rendered
from aui_tui.scan import agent_files, exchanges, markup, probes, profiles, robots, target, walls
from aui_tui.scan.network import Network
from aui_tui.scan.policy import ScanPolicy
from aui_tui.scan.probes import Answer, ProbePlan, Unfollowed, Url, probe
from aui_tui.scan.profiles import Profile
from aui_tui.scan.retry import LEAST, LIMIT_STATUS, ROUNDS
from aui_tui.text import clean, count

MAX_REQUESTS: Final = 32
_STEADY: Final = 0.2
"""Part of ``Limits.pause`` that lies between two requests."""
MOST_TRIES: Final = 6
"""Requests that try what was found."""
TRIES: Final = 3
"""Entries of one document that are tried."""
GREETING: Final = msgspec.json.encode(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "aui-tui", "version": __version__},
        },
    }
)
"""What a client of the Model Context Protocol says first; a server keeps nothing of it."""
_SHORT: Final = 80
"""Characters kept of what a site says of itself."""
OK, PAYMENT_STATUS, MISSING = 200, 402, (404, 405, 406, 410)


class DeclarationRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One declaration of ``declared.toml``, which explains the fields."""

    key: str
    name: str
    what: str
    recognised: str
    source: str
    places: tuple[str, ...] = ()
    shapes: tuple[dict[str, str], ...] = ()
    begins: str = ""
    types: tuple[str, ...] = ()
    text: str = ""
    root: str = ""
    detail: str = ""
    within: str = ""
    list: str = ""
    uri: str = ""
    accept: str = ""
    header: str = ""
    markup: bool = False
    terms: bool = False
    robots: str = ""
    value: str = ""
    link: tuple[str, ...] = ()
    link_type: str = ""
    place_only: bool = False
    tried: tuple[str, ...] = ()


@cache
def rows() -> tuple[DeclarationRow, ...]:
    """Return the table."""
    text = packaged("aui_tui.scan").joinpath("declared.toml").read_text(encoding="utf-8")
    return convert(tomllib.loads(text)["declaration"], tuple[DeclarationRow, ...])


class PlaceAnswer(NamedTuple):
    """One answer: ``outcome`` as of a probe, ``moved`` when it was a redirect; ``data`` is its JSON object, if any."""

    status: int
    outcome: str
    content_type: str
    headers: Mapping[str, str]
    body: bytes
    cut: bool = False
    moved: bool = False
    data: dict[str, Any] | None = None

    @property
    def limited(self) -> bool:
        """What a limit on requests may answer with: 429 or 5xx."""
        return self.outcome == REFUSED and (self.status == LIMIT_STATUS or self.status >= 500)

    @property
    def missing(self) -> bool:
        """Nothing is there: 404 and the like, a redirect, or a page that is not what was asked for."""
        return self.moved or self.outcome == SERVED or self.status in MISSING

    @property
    def markup(self) -> bool:
        """The body is HTML or XML, whatever its type says."""
        return agent_files.is_markup(agent_files.text_of(self.body, self.content_type))

    @property
    def signature(self) -> object:
        """What two answers of a catch-all have in common: the names in a JSON object, else the first line."""
        return frozenset(self.data) if self.data is not None else self.body.strip()[:_SHORT].partition(b"\n")[0]


def read(answer: Answer, access: ScanPolicy) -> PlaceAnswer:
    """Return ``answer`` as far as recognition goes by it."""
    judged = exchanges.exchange(answer, access.limits, judged=True)
    data = None if answer.hops else agent_files.json_object(answer.body, answer.content_type)
    return PlaceAnswer(
        status=answer.status,
        outcome=judged.outcome,
        content_type=agent_files.media_type(answer.content_type),
        headers=answer.mapping(),
        body=answer.body,
        cut=answer.cut,
        moved=bool(answer.hops),
        data=data,
    )


def recognised(row: DeclarationRow, got: PlaceAnswer) -> bool:
    """Tell whether ``got``, the answer at a place of ``row``, is what the place promises."""
    if row.terms and payment_terms(got):
        return True
    if got.status != OK or got.moved or got.outcome != SERVED:
        return False
    if row.types and got.content_type not in row.types:
        return False
    if row.shapes and got.data is not None:
        return any(agent_files.fits(shape, got.data) for shape in row.shapes)
    return _reads_as(row, got)


def _reads_as(row: DeclarationRow, got: PlaceAnswer) -> bool:
    """Tell whether the text of ``got`` begins, or is marked up, as a document of ``row``."""
    text = agent_files.text_of(got.body, got.content_type)
    if row.begins and got.cut:
        return re.match(row.begins, text, re.DOTALL) is not None
    if row.root:
        found = _PROLOG.match(text[:20_000])
        return found is not None and found[1] == row.root
    is_text = bool(row.text) and agent_files.check("llms", got.body, got.content_type, got.status).found
    return is_text and re.search(row.text, text[:20_000], re.IGNORECASE) is not None and not _ERROR.match(text)


_ERROR: Final = re.compile(r"#\s+(?:\W*(?:error\W*)?(?:404|403)\b|(?:page\s+)?not\s+found\b|error\b)", re.IGNORECASE)
"""The heading of an error page that is served with 200."""
_PROLOG: Final = re.compile(
    r"(?:\s++|<\?[^>]{0,500}+>|<!--(?:(?!-->).)*+-->)*+<(?:[a-z][\w.-]{0,40}:)?([a-z]+)", re.DOTALL
)


def payment_terms(got: PlaceAnswer) -> bool:
    """Tell whether ``got`` is a 402 with x402 terms, in the field of version 2 or the body of version 1."""
    if got.status != PAYMENT_STATUS:
        return False
    return walls.x402(got.headers.get("payment-required", "")) or (
        got.data is not None and agent_files.fits({"x402Version": "number", "accepts": "list"}, got.data)
    )


def short(value: object) -> str:
    """Return a text of a site fit to be kept, or the length of a list; empty for anything else."""
    if isinstance(value, list):
        return count(len(value), "entry", "entries")
    return clean(" ".join(value[:2000].split()), _SHORT) if isinstance(value, str) else ""


class DeclaredLine(NamedTuple):
    """A line of robots.txt, or a link: where it stands, and what it says or leads to."""

    where: str
    value: str


def robots_lines(text: str) -> dict[str, DeclaredLine]:
    """Return by row the first line of robots.txt that declares it; a comment or a line without a proper value does not.

    One pass, whatever the file is like.
    """
    wanted = {row.robots.encode(): row for row in rows() if row.robots}
    found: dict[str, DeclaredLine] = {}
    for number, line in enumerate(text.splitlines(), 1):
        key, value = robots.record(line.encode()) if ":" in line else (b"", b"")
        row = wanted.get(key)
        if row is not None and row.key not in found:
            said = value.decode("utf-8", "replace")
            if re.search(row.value, said, re.IGNORECASE):
                found[row.key] = DeclaredLine(f"robots.txt, line {number}", said)
    return found


@dataclass
class _State:
    """What is known of one row: the ``line`` that declares it, and the place ``url`` that has it.

    ``got``: what the browser got there. ``status``: the agent's last one. ``verdict``: the agent's, ``why``: what was
    not settled.
    """

    row: DeclarationRow
    line: DeclaredLine | None = None
    url: Url | None = None
    got: PlaceAnswer | None = None
    status: int = 0
    verdict: str = ""
    why: str = ""


async def look(
    seen: Observations, *, access: ScanPolicy, progress: Progress | None = None, spent: float = 0.0
) -> Declared:
    """Return what the site of ``seen`` declares for agents. ``spent``: seconds of the scan's time that are used up.

    Raises Unavailable when this machine has no room for its connections. Cancelling closes every connection.
    """
    deadline = time.monotonic() + access.limits.longest - spent
    async with Network(access) as network:
        scan = DeclarationScan(seen, network, access, progress or silence, deadline)
        await scan.run()
    found = Declared(
        at=stamp(time.time()),
        agent=scan.token,
        requests=scan.requests,
        entries=scan.entries(),
        tried=tuple(scan.tried),
    )
    return exchanges.redact(found, access.secrets)


def _field_line(row: DeclarationRow, fields: Sequence[Mapping[str, str]]) -> DeclaredLine | None:
    """Return the header field of the homepage that declares ``row``."""
    value = next((some[row.header] for some in fields if row.header and some.get(row.header)), "")
    declares = value and re.search(row.value, value, re.IGNORECASE)
    return DeclaredLine(f"{row.header.title()} field of the homepage", value) if declares else None


def _links(fields: Sequence[Mapping[str, str]], elements: Sequence[markup.Link]) -> list[tuple[markup.Link, str]]:
    """Return the links of the homepage, each with the words for where it stands."""
    named = [link for some in fields for link in markup.header_links(some.get("link", ""))]
    return [(link, "Link field of the homepage") for link in named] + [
        (link, "link element of the homepage") for link in elements
    ]


def _link_line(row: DeclarationRow, links: Sequence[tuple[markup.Link, str]]) -> DeclaredLine | None:
    """Return the link of the homepage that declares ``row``."""
    for (relations, kind, href), where in links:
        if set(relations.split()) & set(row.link) and row.link_type in ("", kind) and href:
            return DeclaredLine(where, href)
    return None


def _lacking(row: DeclarationRow, url: Url, got: PlaceAnswer, *, promised: bool) -> str:
    """Return why ``got``, the answer at a place of ``row``, is not what it promises; empty where nobody said it is."""
    if got.outcome == SERVED and row.shapes and not got.cut and got.body.lstrip()[:1] == b"{" and got.data is None:
        return f"{url.path} is no valid JSON"
    if not got.missing:
        return f"{url.path} answers the browser {_status(got)}"
    if got.cut and got.outcome == SERVED and row.shapes and not got.moved and not got.markup:
        return f"{url.path} is longer than is read"
    return f"{url.path} does not have it" if promised else ""


def _tools_line(page: markup.Declares, browser: Rendered | None) -> DeclaredLine | None:
    """Return the WebMCP tools of the homepage: as a browser saw them registered, else as its HTML names them."""
    seen = browser.tools if browser is not None else None
    if seen:
        return DeclaredLine("the homepage in a browser", ", ".join(seen))
    if not (page.tools or page.registers):
        return None
    names = ", ".join(map(short, page.tools[:5])) or "registered by a script"
    names += f", by an outdated name: {page.outdated}" if page.outdated else ""
    return DeclaredLine("the homepage", f"{names}; a browser saw none" if seen is not None else names)


class DeclarationScan:
    """The requests of one look, and what they brought."""

    def __init__(
        self, seen: Observations, network: Network, access: ScanPolicy, tell: Progress, deadline: float
    ) -> None:
        self._seen, self._network, self._tell, self._deadline = seen, network, tell, deadline
        self._limits = access.limits
        self._access = replace(access, limits=replace(access.limits, redirects=0))
        self._robots = robots.parse(seen.robots.text.encode()) if seen.robots.text else None
        self._agent = next((probe.name for probe in seen.live if probe.turned_away), registry().live[0].key)
        self.token = next(agent.token for agent in registry().live if agent.key == self._agent)
        self._site = target.parse(seen.origin, allow_private=True).origin
        self._url = self._homepage()
        self._states = {row.key: _State(row) for row in rows()}
        self._answers: dict[tuple[str, str], PlaceAnswer] = {}
        self._terms: list[DeclaredLine] = []
        self._end = ""
        self._budget = MAX_REQUESTS
        self.tried: list[Tried] = []
        self.requests = 0

    def _homepage(self) -> Url:
        """Return where the homepage is, past its redirects within the site."""
        start = Url(self._site, "/")
        if self._access.private_fields():
            return start  # the user's own fields go to the scanned origin alone
        try:
            last = probes.follow(start, self._seen.browser.url, self._access)
        except Unfollowed:
            return start
        return last if target.same_site(start.origin, last.origin) else start

    async def run(self) -> None:
        """Ask for the homepage and every place, then for what is there as the agent; try what was found."""
        self._take_lines()
        await self._ask_homepage()
        for state in self._states.values():
            for url in self._first_places(state):
                await self._visit(state, url)
        for state in self._states.values():
            for path in state.row.places[1:] if state.line is None else ():
                await self._visit(state, Url(self._url.origin, path))
        self._drop_catch_all()
        for state in self._states.values():
            if state.url is not None:
                await self._settle(state, state.url)
        self._take_parts()
        if self._end or all(got.status == OK for got in self._answers.values()):
            return  # a site that has an answer to every path promises nothing by it
        self._budget = self.requests + MOST_TRIES
        await self._try_server()
        for state in self._states.values():
            await self._try_entries(state)

    async def _try_server(self) -> None:
        """Greet the server that the MCP card of the scan names, where it is on this site."""
        named = self._addresses([self._seen.files.mcp_server])
        if not named:
            return
        usual = _accepting(profiles.profile(FILE_PROBES[0]), "application/json, text/event-stream")
        client = usual._replace(fields=(*usual.fields, ("Content-Type", "application/json")))
        answer = await self._ask(BROWSER, named[0], client, self._limits.file, body=GREETING)
        if answer is None or answer.limited or answer.status == 0:
            return
        result = answer.data is not None and isinstance(answer.data.get("result"), dict)
        asks = answer.status in (401, 403, PAYMENT_STATUS)
        said = "answers initialize" if result else f"does not answer initialize ({answer.status})"
        said = f"asks for authorization ({answer.status})" if asks else said
        where = urlsplit(self._seen.exchange("mcp").url).path
        self.tried.append(Tried(where=where, said=f"its server {named[0].path} {said}", broken=not (result or asks)))

    async def _try_entries(self, state: _State) -> None:
        """Ask for the first entries that the document of a row names on this site."""
        document = state.got.data if state.got is not None else None
        texts = [text for path in state.row.tried for text in agent_files.texts_at(document, path)]
        missing: list[str] = []
        asked = 0
        for url in self._addresses(texts)[:TRIES]:
            known = (got for (_, path), got in self._answers.items() if path == url.path)
            got = next(known, None) or await self._ask_place(BROWSER, url)
            if got is None:
                break
            asked += 1
            missing += [url.path] if got.status in MISSING else []
        if state.url is not None and asked:
            said = f"{len(missing)} of {count(asked, 'entry', 'entries')} tried are not there: {', '.join(missing)}"
            fine = f"{count(asked, 'entry', 'entries')} tried {'is' if asked == 1 else 'are'} there"
            where = clean(state.url.path, 300)
            self.tried.append(Tried(where=where, said=clean(said if missing else fine, 300), broken=bool(missing)))

    def _addresses(self, texts: Sequence[str]) -> list[Url]:
        """Return the addresses among ``texts`` that are on this site, once each."""
        found: dict[Url, None] = {}
        for text in texts:
            with suppress(Unfollowed):
                url = probes.follow(self._url, text, self._access)
                if url.origin == self._url.origin:
                    found[url] = None
        return list(found)

    async def _ask(
        self, name: str, url: Url, profile: Profile, cap: int, pause: float = 0.0, body: bytes = b""
    ) -> PlaceAnswer | None:
        """Return the answer to ``name``, the browser or the agent's slot; None when no request is left (``_end``)."""
        wait = max(self._limits.pace or _STEADY * self._limits.pause, pause)
        if self.requests >= self._budget:
            self._end = f"the limit of {self._budget} requests was reached"
        elif time.monotonic() + wait + min(LEAST, self._limits.probe) > self._deadline:
            self._end = "the time of the scan ended"
        if self._end:
            return None
        event = ProbeEvent(name=clean(url.path, 200), state="started")
        self._tell(event)
        await asyncio.sleep(wait)
        self.requests += 1
        limit = min(self._limits.probe, self._deadline - time.monotonic())
        async with self._network.client(http2=profile.http2) as client:
            answer = await probe(
                client, ProbePlan(name, url, profile.fields, cap, site=self._site, body=body), self._access, limit=limit
            )
        got = read(answer, self._access)
        self._tell(
            msgspec.structs.replace(
                event,
                state="done",
                status=got.status,
                elapsed_ms=answer.elapsed_ms,
                outcome="" if got.missing else got.outcome,
                note=f"as {self.token if name == self._agent else name}",
            )
        )
        if got.status == LIMIT_STATUS:
            self._end = "the site limits requests (429)"
        elif payment_terms(got):
            self._terms.append(DeclaredLine(f"{url.path} (402)", ""))
        return got

    async def _ask_place(self, name: str, url: Url, pause: float = 0.0) -> PlaceAnswer | None:
        """Return what ``name`` gets at a place."""
        profile = profiles.profile(self._agent if name == self._agent else FILE_PROBES[0])
        return await self._ask(name, url, profile, self._limits.file, pause)

    def _take_lines(self) -> None:
        """Take what the scan has seen already: robots.txt, and terms of a 402."""
        for key, line in robots_lines(self._seen.robots.text).items():
            self._states[key].line = line
        for exchange in self._seen.homepages:
            if exchange.status == PAYMENT_STATUS and walls.x402(dict(exchange.headers).get("payment-required", "")):
                self._terms.append(DeclaredLine("the homepage (402)", ""))

    async def _ask_homepage(self) -> None:
        """Ask for the homepage in another format; mostly the page itself comes, and else it is asked for too."""
        state = next(state for state in self._states.values() if state.row.accept)
        usual = profiles.profile(BROWSER)
        other = _accepting(usual, f"{state.row.accept}, text/html;q=0.8")
        first = await self._ask(BROWSER, self._url, other, self._limits.page)
        html = first is not None and first.outcome == SERVED and first.content_type == "text/html"
        page = first if html else await self._ask(BROWSER, self._url, usual, self._limits.page)
        served = page if page is not None and page.outcome == SERVED else None
        if first is not None and first.outcome == SERVED:
            text = agent_files.text_of(first.body, first.content_type)
            if first.content_type == state.row.accept and text and not agent_files.is_markup(text):
                state.line = DeclaredLine("the homepage", state.row.accept)
        elif served is None:
            state.why = "the homepage was not served"
        self._take_page(served, [got.headers for got in (page, first) if got is not None])

    def _take_page(self, page: PlaceAnswer | None, headers: Sequence[Mapping[str, str]]) -> None:
        """Take what the homepage and its header fields declare."""
        html = page is not None and page.content_type != "text/markdown"
        read = markup.declares(page.body if page is not None and html else b"")
        fields = [*headers, dict(self._seen.browser.headers)]
        links = _links(fields, read.links)
        for state in self._states.values():
            row = state.row
            state.line = _field_line(row, fields) or state.line or _link_line(row, links)
            if row.markup:
                state.line = _tools_line(read, self._seen.page.rendered)
                state.why = "the homepage was not served" if page is None and state.line is None else ""

    def _first_places(self, state: _State) -> list[Url]:
        """Return where a row is asked first: where a line says, as far as that is on this site, else at its own."""
        row, named = state.row, []
        if state.line is not None and row.places:
            named = self._addresses([state.line.value])
        if row.place_only:
            state.line = None
        return named if state.line is not None else [*named, *(Url(self._url.origin, path) for path in row.places[:1])]

    async def _visit(self, state: _State, url: Url) -> None:
        """Ask for ``url`` as the browser, and keep what is there; nothing where the row has been found already."""
        if state.url is not None:
            return
        got = await self._ask_place(BROWSER, url)
        if got is None:
            state.why = state.why or f"not asked everywhere: {self._end}"
            return
        self._answers[state.row.key, url.path] = got
        if recognised(state.row, got):
            state.url, state.got, state.why = url, got, ""
        else:
            state.why = _lacking(state.row, url, got, promised=state.line is not None) or state.why

    def _drop_catch_all(self) -> None:
        """Drop what the site answers at another row's place too: a site that has one answer declares nothing by it."""
        for key, state in self._states.items():
            if state.got is not None and state.got.status == OK:
                mine = state.got.signature
                others = (got for (row, _), got in self._answers.items() if row != key and got.status == OK)
                if any(got.signature == mine for got in others):
                    state.url = state.got = None

    async def _settle(self, state: _State, url: Url) -> None:
        """Settle what the agent gets at a declared place; in rounds with the browser where it is turned away."""
        for turn in range(ROUNDS):
            got = await self._ask_place(self._agent, url, self._limits.pause if turn else 0.0)
            if got is None:
                state.verdict, state.why = INCONCLUSIVE, self._end
                return
            state.status = got.status
            state.verdict, state.why = _verdict(state.row, got)
            if state.verdict not in (REFUSED, CHALLENGED):
                return
            control = await self._ask_place(BROWSER, url)
            if control is None or not recognised(state.row, control):
                again = "the browser was turned away too when it was asked again"
                state.verdict, state.why = INCONCLUSIVE, self._end if control is None else again
                return

    def _take_parts(self) -> None:
        """Take what is part of another row's document, and terms that were met at any path."""
        for state in self._states.values():
            if state.row.terms and self._terms and state.url is None:
                state.line = self._terms[0]
            whole = self._states[state.row.within] if state.row.within else None
            if whole is None or whole.url is None or whole.got is None:
                continue
            listed = agent_files.value_at(whole.got.data, state.row.list)
            for entry in listed if isinstance(listed, list) else ():
                said = agent_files.value_at(entry, "uri")
                if isinstance(said, str) and state.row.uri in said.lower():
                    state.line = DeclaredLine(whole.url.path, said)

    def entries(self) -> tuple[Declaration, ...]:
        """Return what was found, in the order of the table."""
        return tuple(map(self._entry, self._states.values()))

    def _entry(self, state: _State) -> Declaration:
        row, url, got = state.row, state.url, state.got
        made = Declaration(key=row.key, name=row.name, state=DECLARED, why=clean(state.why, 300))
        if url is None and state.line is None:
            return msgspec.structs.replace(made, state=INCONCLUSIVE if state.why else ABSENT)
        where, detail = [], ""
        if url is not None and got is not None:
            where, detail = [url.path], short(agent_files.value_at(got.data, row.detail))
        if state.line is not None:
            where, detail = [*where, state.line.where], detail or short(state.line.value)
        made = msgspec.structs.replace(made, where=clean(", named in ".join(dict.fromkeys(where)), 300), detail=detail)
        if url is None:
            return made
        open_to_all = self._robots is None or self._robots.allows(self.token, url.path)
        agent = DISALLOWED if state.verdict == SERVED and not open_to_all else state.verdict
        return msgspec.structs.replace(made, agent=agent, status=state.status)


def _accepting(profile: Profile, accept: str) -> Profile:
    """Return ``profile`` with another Accept field."""
    fields = (("Accept", accept) if name == "Accept" else (name, value) for name, value in profile.fields)
    return profile._replace(fields=tuple(fields))


def _verdict(row: DeclarationRow, got: PlaceAnswer) -> tuple[str, str]:
    """Return the verdict of an agent that got ``got`` where the browser got what ``row`` is, and what it leaves open.

    A refusal is one only when rounds with the browser confirm it.
    """
    if recognised(row, got) or (got.status == PAYMENT_STATUS and walls.terms(got.status, got.headers)):
        return PAYMENT if got.status == PAYMENT_STATUS else SERVED, ""
    if got.limited:
        return INCONCLUSIVE, f"it answers {got.status}, as a limit on requests may"
    if got.moved:
        return INCONCLUSIVE, "it is sent to another address, and the browser is not"
    if got.outcome == SERVED or got.status in MISSING:
        return INCONCLUSIVE, "it gets another answer than the browser"
    return CHALLENGED if got.outcome == CHALLENGED else REFUSED, ""


def _status(got: PlaceAnswer) -> str:
    return str(got.status) if got.status else "nothing"

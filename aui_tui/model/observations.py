"""Observations of a scan: frozen facts between the network and the judgement, the events of a scan, and its recording.

Everything before this record touches the network, everything after it is a pure function of it. It is kept with
the card, so that a scan can be graded under another method, replayed, shown or attached to a report. Every
string in it has passed ``text.clean``.

A recording is what one scan saw as a file, to be replayed without the network or sent with a report. It is JSON:
``{"recording": 1, "name": ..., "category": ..., "seed": ..., "observations": {...}}``. Reading trusts nothing: sizes,
words and numbers are checked, every text passes ``clean`` again, and what is broken is refused with one sentence that
names the field.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from aui_tui.errors import RecordError
from aui_tui.model.decoding import Limits, parse, record_of
from aui_tui.model.reads import Reads
from aui_tui.model.registry import Client, registry
from aui_tui.model.tasks import Record, Rendered, TaskReport
from aui_tui.model.times import Timestamp
from aui_tui.model.verdicts import AWAY, COMPARED, OWN_ROBOTS, REAL, Reading, read
from aui_tui.model.vocabulary import (
    CATEGORIES,
    CHALLENGED,
    CRAWLER_POLICIES,
    INCONCLUSIVE,
    REFUSED,
    SERVED,
    Count,
    one_of,
)
from aui_tui.text import clean

BROWSER = "browser"
HIDDEN: Final = "…"
"""What stands for the value of a private field, which is never recorded."""
FILE_PATHS: Final = {
    "robots": "/robots.txt",
    "llms": "/llms.txt",
    "ai-plugin": "/.well-known/ai-plugin.json",
    "ucp": "/.well-known/ucp",
    "mcp": "/.well-known/mcp.json",
}
"""The path of each file that is asked for, by the name of its probe."""
CATALOGUE: Final = "/.well-known/ai-catalog.json"
"""Where clients of MCP look first: a catalogue of what the site has for agents (SEP-2127, AI Catalog 0.9)."""
FILE_PROBES = ("robots", "llms", "ai-plugin", "ucp", "mcp")
"""Names of the probes that are not homepage fetches; agents are named by slot, ``agent_01`` to ``agent_04``."""


def probe_names() -> tuple[str, ...]:
    """Return the names of all probes in the order of a scan."""
    return (BROWSER, *(agent.key for agent in registry().live), *FILE_PROBES)


PLACEHOLDER = "REPLACE THIS"
"""What marks, in the texts of a plan, the words that only the owner can write; a scan that meets it says so."""
ANOTHER_PAGE = "another-page"
REDIRECTS = frozenset({301, 302, 303, 307, 308})
"""Statuses that send the client on (RFC 9110 15.4); as a last status they mean a redirect that was not followed."""
LIMIT_STATUS, BUSY = 429, 503
"""Statuses by which servers limit requests (RFC 6585 4, RFC 9110 15.6.4)."""
GONE = frozenset({404, 410})
"""Statuses of what does not exist."""
WITHHOLDING = frozenset({401, 402, 403, 407, LIMIT_STATUS, 451})
"""Statuses that do not say whether a file exists."""
READABLE_ENOUGH = 200
"""Readable characters of a page with something to read; with fewer and scripts it may be a shell."""


STOPPED = "stopped"
ERRORS = (
    "timeout",
    "dns",
    "address",
    "connect",
    "tls",
    "protocol",
    "redirect-loop",
    "redirect-target",
    "redirect-scheme",
    "redirect-address",
    STOPPED,
)
"""Words of ``Exchange.error``. ``address``: the name leads to an address that must not be dialled. ``stopped``: the
scan was stopped before this probe had a verdict."""
CAUSES = ("name", "field", "fields", "together", "either")


Status = Annotated[int, Meta(ge=0, le=999)]
Error = Annotated[str, one_of(ERRORS, "?")]
Outcome = Annotated[str, one_of((INCONCLUSIVE, CHALLENGED, REFUSED, SERVED))]
Policy = Annotated[str, one_of(CRAWLER_POLICIES)]
Effective = Annotated[str, one_of(("open", "partial", "blocked", "unknown"))]
RobotsKind = Annotated[str, one_of(("rules", "none", "unknown", "html"))]
Compared = Annotated[str, one_of(("", *COMPARED))]
CauseKind = Annotated[str, one_of(CAUSES)]
Host = Annotated[str, Meta(pattern=r"^(https?://)?[a-z0-9._:\[\]-]{1,300}$")]
Origin = Annotated[str, Meta(pattern=r"^https?://[a-z0-9._:\[\]-]{1,300}$")]


class Hop(Record, frozen=True):
    """One redirect that was followed or refused: the address that answered, its status and its Location.

    ``letters``: readable characters of a page that sends its reader on by itself (a refresh), whose status is no
    redirect's.
    """

    url: str
    status: Count
    location: str
    letters: Count = 0


class Challenge(Record, frozen=True):
    """A recognised block or challenge page.

    ``vendor`` is the name used in ``walls.toml``, or ``ANOTHER_PAGE`` for a 2xx that is another page than the
    browser's; ``signal`` the words that decided; ``tier`` ``A`` or ``B``, empty for another page; ``reference`` is the
    id to quote to the vendor (Ray ID, Reference number), or empty.
    """

    vendor: str
    signal: str
    tier: str
    reference: str = ""


class Attempt(Record, frozen=True):
    """An earlier answer, replaced when the client was asked again."""

    status: Status
    outcome: Outcome
    elapsed_ms: Count = 0
    challenge: Challenge | None = None


VERIFIED, ACCEPTS_ANYTHING, NOT_VERIFIED, UNCLEAR = "verified", "accepts anything", "not verified", "unclear"
"""Results of the signed probes of one agent."""
SIGNED_FORMS: Final = MappingProxyType(
    {
        "direct": "Signature-Agent written as the address of the key set",
        "dictionary": "Signature-Agent written as a dictionary",
        "string": "Signature-Agent written as a string",
        "openai": "a signature as OpenAI makes it",
        "none": "a signature of the authority alone",
        "request": "a signature of method, authority and path",
    }
)
"""The valid forms of a signed probe in the order of their probes, in words."""
FORGERIES: Final = MappingProxyType(
    {
        "forged": "one made with another key",
        "expired": "an expired one",
        "authority": "one made for another site",
        "uncovered": "one that does not cover Signature-Agent",
        "url": "one whose key is published at another address",
    }
)
"""Signatures that must not be accepted, in the order of their probes, in words."""
LAX: Final = frozenset({"uncovered", "url"})
"""Forgeries by somebody who has a key that the site trusts; the others can be made by anybody."""


class SignedProbe(Record, frozen=True):
    """One signed probe: ``name`` is one of SIGNED_FORMS or FORGERIES, or ``unsigned``, the control."""

    name: str
    status: Count
    outcome: str


class SignedResult(Record, frozen=True):
    """What signed probes of one agent showed.

    ``result``: ``verified``, ``accepts anything``, ``not verified`` or ``unclear``; ``served``: valid forms that were.
    """

    result: str
    served: tuple[str, ...] = ()
    probes: tuple[SignedProbe, ...] = ()


def joined_fields(fields: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return header ``fields`` as a mapping, the values of one name joined by a comma (RFC 9110 5.3)."""
    values: dict[str, str] = {}
    for name, value in fields:
        values[name] = f"{values[name]}, {value}" if name in values else value
    return values


class Exchange(Record, frozen=True):
    """One probe and its final answer.

    ``name``: ``browser``, an agent slot or a name of FILE_PROBES. ``status``: HTTP status, 0 when none came in
    12 s. ``error``: empty, or why there is no usable answer, one word of ERRORS; ``detail``: the same for a
    person, one sentence without a final full stop. ``headers``: at most 64 fields, names in lower case.
    ``bytes``: decoded body bytes kept. ``cut``: the body was longer, broke off or ran out of time.
    ``terms``: the answer is a 402 with machine-readable terms. ``attempts``: answers replaced by this one.
    ``request``: the fields of the last request in sending order, Host left out, private values hidden. ``text``: the
    first readable characters of a homepage; ``same_text``: they are the browser's, and kept there alone.
    ``controls``: rounds in which the client was asked again alone and turned away while the browser, asked alone
    right after it, was served. ``limited``: the site's limits left the probe without a verdict: the browser was turned
    away too, or the file was refused again when asked alone; a homepage is then inconclusive, a file not measured.
    ``readable``: readable characters of an agent's page where they are much fewer than the browser's, or it is another
    page; else None.
    ``compared``: how an agent's page stands to the one that people get, a key of ``verdicts.COMPARED``; empty: same.
    ``signed``: what signed probes showed after this name was turned away; where that is ``verified``, this is the
    answer to one of them.
    """

    name: str
    url: str
    status: Status = 0
    headers: tuple[tuple[str, str], ...] = ()
    title: str = ""
    error: Error = ""
    detail: str = ""
    elapsed_ms: Count = 0
    bytes: Count = 0
    cut: bool = False
    http_version: str = ""
    hops: tuple[Hop, ...] = ()
    challenge: Challenge | None = None
    terms: bool = False
    attempts: tuple[Attempt, ...] = ()
    request: tuple[tuple[str, str], ...] = ()
    text: str = ""
    same_text: bool = False
    controls: Count = 0
    limited: bool = False
    readable: Count | None = None
    compared: Compared = ""
    signed: SignedResult | None = None

    @property
    def fields(self) -> dict[str, str]:
        """The header fields of the answer by name."""
        return joined_fields(self.headers)

    @property
    def unmeasured(self) -> bool:
        """The probe ended without a verdict: the site limits requests, or the scan was stopped before its end."""
        return self.limited or self.error == STOPPED

    @property
    def another_page(self) -> bool:
        """A 2xx whose page is another one than the browser's: a block page in all but its status."""
        return self.challenge is not None and self.challenge.vendor == ANOTHER_PAGE

    @property
    def asks_for_payment(self) -> bool:
        """The refusal is a 402 with machine-readable terms: an offer, not a wall."""
        return self.outcome == REFUSED and self.status == 402 and self.terms

    @property
    def same_for_everybody(self) -> bool:
        """The refusal is of the page, whoever asks: it is missing, closed by password or law, or broken."""
        return self.failing or (self.outcome == REFUSED and self.status in PAGE_STATUSES)

    @property
    def failing(self) -> bool:
        """A 5xx that is not a challenge."""
        return self.outcome == REFUSED and 500 <= self.status <= 599

    @property
    def dropped(self) -> bool:
        """Silence or a dropped connection, again when asked alone, while the browser was served."""
        return self.status == 0 and self.controls > 0

    @property
    def turned_away(self) -> bool:
        """Challenged, refused, or dropped while the browser was served."""
        return self.outcome in AWAY or self.dropped

    @property
    def outcome(self) -> str:
        """``inconclusive``, ``challenged``, ``refused`` or ``served``; the first that matches.

        A redirect to nowhere is a refusal where the browser, asked right after it, was served.
        """
        if self.limited or self.status == 0 or (self.error in UNFOLLOWED and not self.controls):
            return INCONCLUSIVE
        if COMPARED.get(self.compared) == INCONCLUSIVE:
            return INCONCLUSIVE
        if self.error in UNFOLLOWED:
            return REFUSED
        if self.challenge is not None:
            return CHALLENGED
        return SERVED if 200 <= self.status <= 299 else REFUSED


PAGE_STATUSES = frozenset({401, 404, 410, 451})
"""Statuses by which no site turns a client away for what it is."""
NO_ISSUER = "unable to get local issuer certificate"
"""In ``Exchange.detail``: the issuer of the certificate was not sent and is not known (OpenSSL's words)."""
UNFOLLOWED = frozenset({"redirect-loop", "redirect-target", "redirect-scheme", "redirect-address"})
"""Errors of a redirect that cannot or must not be followed: the last real status is kept, nothing is dialled."""


class RobotsPolicy(Record, frozen=True):
    """What robots.txt says of one tested token.

    ``policy``: ``unlisted``, ``blocked``, ``partial`` or ``allowed``, from the token's own groups alone.
    ``effective``: ``open``, ``partial`` or ``blocked`` by the own group, else by ``*``; ``unknown`` when robots.txt
    could not be fetched. ``line``: number (from 1) of the deciding line, 0 when none. ``rule``: that line as written.
    ``spelling``: the User-agent value as written, empty when unlisted.
    """

    token: str
    policy: Policy = "unlisted"
    effective: Effective = "open"
    line: Count = 0
    rule: str = ""
    spelling: str = ""


class RobotsFacts(Record, frozen=True):
    """What robots.txt is and says.

    ``kind``: ``rules`` (2xx), ``none`` (4xx: no rules), ``unknown`` (5xx or no answer), ``html`` (a page was served).
    ``names``: distinct User-agent values, case ignored, ``*`` included. ``signal``: the value of the first
    Content-Signal line; ``signal_line`` its number, 0 when there is none. ``cut``: longer than was read;
    ``opened``: a fix was applied to it, so that no agent is shut out. ``text``: the
    file itself, lines ended by LF; empty when it is longer than 64 KiB, is not clean UTF-8, or was not kept.
    ``problem``: why a file that came was not read (``unknown`` then), or empty.
    """

    kind: RobotsKind = "none"
    names: Count = 0
    agents: tuple[RobotsPolicy, ...] = ()
    crawlers: tuple[RobotsPolicy, ...] = ()
    wildcard_block: bool = False
    signal: str = ""
    signal_line: Count = 0
    cut: bool = False
    opened: bool = False
    text: str = ""
    problem: str = ""

    def policies(self, tokens: Iterable[str]) -> tuple[RobotsPolicy, ...]:
        """Return what the file says of each of ``tokens``, in their order; without rules the same of them all.

        Of a file that was not read to its end nobody is said to be let in.
        """
        policy_by_token = (
            {policy.token: policy for policy in (*self.agents, *self.crawlers)} if self.kind == "rules" else {}
        )
        effective = "unknown" if self.kind == "unknown" else "open"
        policies = (policy_by_token.get(token) or RobotsPolicy(token=token, effective=effective) for token in tokens)
        if not self.cut:
            return tuple(policies)
        unknown = msgspec.structs.replace
        return tuple(unknown(entry, effective="unknown") if entry.effective == "open" else entry for entry in policies)


class Landmarks(Record, frozen=True):
    """Counts on the homepage: ``main`` and ``nav`` landmarks, ``aria`` labels, ``forms``."""

    main: Count = 0
    nav: Count = 0
    aria: Count = 0
    forms: Count = 0


class PageFacts(Record, frozen=True):
    """Facts of the homepage body that the browser identity got.

    ``description``: what it says of itself (meta description, else og:description).
    ``jsonld``: JSON-LD blocks; ``jsonld_broken`` of them do not parse. ``forms_unlabelled``: forms with a visible
    control without a label. ``readable``: readable characters without scripts. ``noscript_shell``: under 200 of
    them, at least one script, and nothing to read or act on. ``problem``: why the page was not analysed (then all
    counts but ``readable`` are 0), or empty.
    ``rendered``: what a browser made of it, None when no tasks were run. ``seen_by``: whose answer this is where the
    browser probe was not served, or got a shell and the agents did not: an agent's slot, or ``R`` for a real browser.
    ``meta_charset``: the charset, where a meta element alone names it and the page has other letters than ASCII's.
    ``jsonld_typed``: blocks that parse and name a type; None where nobody looked. ``microdata``, ``rdfa``: items with a
    type. ``directives``: meta elements that keep the page out of indexes or answers, such as ``robots: noindex``.
    """

    title: str = ""
    site_name: str = ""
    description: str = ""
    jsonld: Count = 0
    jsonld_broken: Count = 0
    semantic: Landmarks = Landmarks()
    forms_unlabelled: Count = 0
    readable: Count = 0
    scripts: Count = 0
    noscript_shell: bool = False
    problem: str = ""
    rendered: Rendered | None = None
    seen_by: str = ""
    meta_charset: str = ""
    jsonld_typed: Count | None = None
    microdata: Count = 0
    rdfa: Count = 0
    directives: tuple[str, ...] = ()


class FileFacts(Record, frozen=True):
    """Agent-facing files that were found and are of the right kind; ``notes`` say why one was not counted.

    ``mcp_server``: the address that the MCP card names, as written there. ``unwritten``: the paths of files that count
    and in which words of a plan were left.
    """

    llms: bool = False
    ai_plugin: bool = False
    ucp: bool = False
    mcp: bool = False
    mcp_server: str = ""
    notes: tuple[str, ...] = ()
    unwritten: tuple[str, ...] = ()


class FirstHost(Record, frozen=True):
    """The robots.txt of the host that was asked, where it shuts agents out and another host serves the homepage.

    ``agents``: the tokens that it shuts out; ``line``, ``rule``: what shuts out the first of them.
    """

    origin: str
    agents: tuple[str, ...]
    line: Count = 0
    rule: str = ""


class Cause(Record, frozen=True):
    """By what the site decides when it turns ``agents`` (slots) away; it never changes a verdict.

    ``by``: ``name`` (the User-Agent alone), ``field`` (one of ``fields`` alone, whatever the name), ``fields`` (others
    than the name, of which ``fields`` could decide), ``together`` (name and other fields, neither alone), ``either``
    (each of them alone). ``fields``: names of header fields, or ``HTTP version``.
    """

    agents: tuple[str, ...]
    by: CauseKind
    fields: tuple[str, ...] = ()


class Arm(Record, frozen=True):
    """One further request that says what a refusal goes by (``verdicts``).

    ``name``: ``R``, ``RA``, ``N``, ``I``, ``robots`` (``detail`` is then the effective policy) or another file that is
    closed to the agent (``detail`` is then its path). ``agent``: the slot
    that it stands for, empty for none. ``client``: what spoke TLS and HTTP, such as ``Chromium 156``. ``detail``: else
    why there was no answer. ``line``, ``rule``: what decides in a robots.txt.
    """

    name: str
    outcome: str
    status: Count = 0
    agent: str = ""
    client: str = ""
    http_version: str = ""
    title: str = ""
    detail: str = ""
    line: Count = 0
    rule: str = ""


DECLARED, ABSENT = "declared", "absent"
"""What a site may do with a declaration; ``INCONCLUSIVE`` where that could not be settled."""
DISALLOWED, PAYMENT = "disallowed", "payment"
"""What may meet an agent at a declared place besides the outcomes of a probe: robots.txt, or an offer (402)."""


class Declaration(Record, frozen=True):
    """Whether a site makes one of the declarations of ``scan/declared.toml``; never scored.

    ``key``, ``name``: of the row. ``state``: ``declared``, ``absent`` or ``inconclusive``. ``where``: the path, line,
    field or page that declares it. ``detail``: a few words of it. ``agent``: what the agent got at that path:
    ``served``, ``refused``, ``challenged``, ``disallowed`` (by robots.txt alone), ``payment`` (a 402 with terms) or
    ``inconclusive``; empty where there is no path to ask or it was not asked. ``status``: the agent's last status
    there, 0 when none came. ``why``: what was not settled, a clause without a full stop.
    """

    key: str
    name: str
    state: str
    where: str = ""
    detail: str = ""
    agent: str = ""
    status: Count = 0
    why: str = ""

    @property
    def contradicted(self) -> bool:
        """Declared, yet an agent was turned away there in two rounds while the browser got it each time."""
        return self.state == DECLARED and self.agent in AWAY


class Tried(Record, frozen=True):
    """A declaration that was tried: ``where`` is its document, ``said`` how that ended, a clause without a full stop.

    ``broken``: what it promises is not there.
    """

    where: str
    said: str
    broken: bool = False


class Declared(Record, frozen=True):
    """What a site declares for agents: one entry per row of ``scan/declared.toml``.

    ``at``: ISO 8601 UTC with milliseconds. ``agent``: the product token that the places were asked under.
    ``requests``: how many were sent. ``tried``: the declarations that could be tried without harm.
    """

    at: str
    agent: str
    requests: Count
    entries: tuple[Declaration, ...]
    tried: tuple[Tried, ...] = ()

    def of(self, state: str) -> tuple[Declaration, ...]:
        """Return the entries in ``state``."""
        return tuple(entry for entry in self.entries if entry.state == state)


def _readings(exchanges: Sequence[Exchange], arms: Sequence[Arm] = (), names: Iterable[str] = ()) -> dict[str, Reading]:
    """Return what the answer to each of ``names``, live-probed agents by default, means beside the browser's."""
    probe_by_name = {probe.name: probe for probe in exchanges}
    browser = probe_by_name[BROWSER].outcome if BROWSER in probe_by_name else INCONCLUSIVE
    shared = {arm.name: arm.outcome for arm in arms if not arm.agent}
    keys = tuple(names) or tuple(agent.key for agent in registry().live)
    readings = {}
    for name in keys:
        probe = probe_by_name.get(name) or Exchange(name=name, url="")
        peer = any(
            exchange.outcome == SERVED for exchange in exchanges if exchange.name in keys and exchange is not probe
        )
        own = {arm.name: arm.outcome for arm in arms if arm.agent == name}
        reading = read(browser, REFUSED if probe.dropped else probe.outcome, peer=peer, arms=shared | own)
        silent = probe.dropped and reading.outcome == REFUSED
        readings[name] = msgspec.structs.replace(reading, matrix="untested") if silent else reading
    return readings


class OtherPage(Record, frozen=True):
    """What browser and agents got at another page of the site than its homepage, as the user asked; never scored.

    ``path``: with its query. ``exchanges``: the browser first, then the four agents.
    """

    path: str
    exchanges: tuple[Exchange, ...]

    @property
    def readings(self) -> dict[str, Reading]:
        """What the answer to each live-probed agent means, by slot."""
        return _readings(self.exchanges)


class OpenDoor(Record, frozen=True):
    """What the homepage answers to the clients of open agents' fetch tools (``open_agents.toml``); never scored.

    ``exchanges``: the browser first, which was asked again beside them, then each client by the name of its probe.
    ``told_no``: robots.txt keeps out who asks it for the first of the tools that do: by a rule, or by 401 or 403.
    """

    exchanges: tuple[Exchange, ...]
    told_no: bool = False

    @property
    def readings(self) -> dict[str, Reading]:
        """What the answer to each client means, by the name of its probe."""
        return _readings(self.exchanges, names=[exchange.name for exchange in self.exchanges[1:]])


class Observations(Record, frozen=True):
    """One scan of one host.

    ``host`` is the canonical key under which the card is kept: the A-label, with scheme and port where they were
    given and differ from the default. ``input_host``: as typed. ``origin``: scheme, host and port that were asked.
    ``scanned_at``: ISO 8601 UTC with milliseconds, the start. ``elapsed_ms``: whole scan. ``exchanges``: the browser
    first, then the four agents, then robots, llms, ai-plugin, ucp, mcp. ``limits``: what was relaxed as
    the user asked (``insecure``, ``credentials``, ``private``, ``connect-to``). ``random``: it failed at random: a
    client got a 5xx and was served at another time. ``unsettled``: the time of the scan ended before a refusal could
    be settled, although the browser was served. ``cause``: what a refusal goes by, None when nobody looked.
    ``incomplete``: the scan was stopped before its end; a probe without a verdict has the error ``stopped``.
    ``declared``: what the site declares for agents, None when nobody asked. ``shared_limit``: agents share a limit on
    requests that does not hold for the browser. ``reference``: whose page agents were compared with, ``browser``, ``R``
    (a real browser) or an agent's slot; empty where nobody has a page that people get. ``arms``: what else was asked
    for the control. ``pages``: what browser and agents got at other pages. ``served_from``: the origin that serves the
    homepage, empty where it is the one that was asked. ``open_door``: what open agents' clients got, None when nobody
    asked.
    """

    host: Host
    input_host: str
    origin: Origin
    scanned_at: Timestamp
    elapsed_ms: Count
    exchanges: tuple[Exchange, ...]
    vantage: str = "local-node"
    edge: str = ""
    robots: RobotsFacts = RobotsFacts()
    page: PageFacts = PageFacts()
    reads: Reads | None = None
    files: FileFacts = FileFacts()
    limits: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    random: bool = False
    unsettled: bool = False
    cause: Cause | None = None
    tasks: TaskReport | None = None
    incomplete: bool = False
    declared: Declared | None = None
    shared_limit: bool = False
    reference: str = BROWSER
    arms: tuple[Arm, ...] = ()
    pages: tuple[OtherPage, ...] = ()
    open_door: OpenDoor | None = None
    served_from: str = ""
    first_host: FirstHost | None = None

    @property
    def site_origin(self) -> str:
        """Scheme, host and port of the site that serves the homepage, whose files count."""
        return self.served_from or self.origin.rstrip("/")

    def told(self, entries: Iterable[Client]) -> tuple[RobotsPolicy, ...]:
        """Return what robots.txt says to each of ``entries``: the one that it gets, where that is its own."""
        own = {arm.agent: arm for arm in self.arms if arm.name == OWN_ROBOTS}
        agents = tuple(entries)
        policies = []
        for entry, policy in zip(agents, self.robots.policies(entry.token for entry in agents), strict=True):
            arm = own.get(entry.key)
            if arm is not None:
                policy = RobotsPolicy(token=entry.token, effective=arm.detail, line=arm.line, rule=arm.rule)
            policies.append(policy)
        return tuple(policies)

    def closed_file(self, name: str) -> Arm | None:
        """Return what an agent got in place of the file ``name``, which a browser gets; None where it gets it too."""
        return next((arm for arm in self.arms if arm.name == name), None) if name in FILE_PROBES[1:] else None

    def with_tasks(self, report: TaskReport, rendered: Rendered | None) -> Observations:
        """Return this scan with a run of the tasks; what the browser rendered decides ``noscript_shell``.

        A page is a shell when scripts bring over four fifths of at least READABLE_ENOUGH characters. A shorter page
        that passed for a shell stays one unless its text was in the HTML. It says nothing of a page for agents alone.
        """
        page = self.page
        if rendered is not None and not page.problem and page.seen_by in ("", REAL):
            few = page.noscript_shell and 5 * rendered.sent <= rendered.readable
            shell = few or (rendered.readable >= READABLE_ENOUGH and 5 * rendered.sent < rendered.readable)
            page = msgspec.structs.replace(page, rendered=rendered, noscript_shell=shell)
        return msgspec.structs.replace(self, tasks=report, page=page)

    def with_last_tasks(self, before: Observations | None) -> Observations:
        """Return this scan with the tasks of the scan ``before``, where none were run now.

        They keep their own time (``TaskReport.ran_at``). What the browser rendered counts only while the page is the
        same by all that is counted of it. A host without an answer has none.
        """
        if self.tasks is not None or before is None or before.tasks is None or self.unreachable:
            return self
        now = msgspec.structs.replace(self.page, noscript_shell=False)
        then = msgspec.structs.replace(before.page, noscript_shell=False, rendered=None)
        return self.with_tasks(before.tasks, before.page.rendered if now == then else None)

    @property
    def has_own_tasks(self) -> bool:
        """The tasks were run for this scan, and not for an earlier one."""
        return self.tasks is not None and self.tasks.ran_at >= self.scanned_at

    def exchange(self, name: str) -> Exchange:
        """Return the exchange called ``name``; one with status 0 when that probe was not made."""
        for exchange in self.exchanges:
            if exchange.name == name:
                return exchange
        return Exchange(name=name, url=self.origin)

    def arm(self, name: str) -> Arm | None:
        """Return the first arm called ``name``; None when it was not asked."""
        return next((arm for arm in self.arms if arm.name == name), None)

    @property
    def browser(self) -> Exchange:
        """The homepage fetched as a browser."""
        return self.exchange(BROWSER)

    @property
    def live(self) -> tuple[Exchange, ...]:
        """The homepage fetched as ``agent_01`` to ``agent_04``."""
        return tuple(e for e in self.exchanges if e.name.startswith("agent_"))

    @property
    def homepages(self) -> tuple[Exchange, ...]:
        """Browser and agents: the probes whose difference is the verdict."""
        return (self.browser, *self.live)

    @property
    def readings(self) -> dict[str, Reading]:
        """What the answer to each live-probed agent means, by slot."""
        return _readings(self.exchanges, self.arms)

    @property
    def unreachable(self) -> bool:
        """Nobody got a page or a challenge, and nothing follows about agents from what they got."""
        if self.browser.outcome in (SERVED, CHALLENGED) or any(probe.compared for probe in self.live):
            return False
        return all(reading.outcome == INCONCLUSIVE for reading in self.readings.values())

    @property
    def closed(self) -> bool:
        """The site answers, and turns everybody away alike."""
        away = any(probe.outcome == REFUSED or (probe.limited and probe.status) for probe in self.homepages)
        return self.unreachable and away

    @property
    def refuses_everybody(self) -> bool:
        """The site is closed on purpose (401, 403, 404, 451, 999), to people as to agents; a 5xx is a failure."""
        return self.unreachable and any(e.outcome == REFUSED and not e.failing for e in self.homepages)

    @property
    def unresolved(self) -> bool:
        """The name of the host leads nowhere: no probe found an address for it."""
        return all(e.error == "dns" for e in self.exchanges)

    @property
    def probe_dead(self) -> bool:
        """No probe of the scan got any HTTP answer."""
        return all(e.status == 0 and not e.hops for e in self.exchanges)


RECORDING: Final = 1
MAX_RECORDING: Final = 16 << 20
"""A recording larger than this is refused; a real one has some tens of kilobytes."""
MAX_TEXT: Final = 4000
MAX_NAME: Final = 200
"""Longest text and longest display name of a recording, in characters."""
LONGEST: Final = 20_000
"""Longest text of observations that this program has stored, in characters."""
MAX_FILE: Final = 1 << 20
"""Longest file that is kept whole, such as robots.txt, in characters."""
WHOLE: Final[Limits] = {"text": (MAX_FILE, True), "begins": (MAX_TEXT, True)}
"""The text of such a file keeps its lines: a robots.txt without them says something else. So does how a page begins."""


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """One scan: what was seen, and what the card says of the site that no scan can see."""

    recording: int = RECORDING
    observations: Observations
    name: str = ""
    category: str = "Uncategorized"
    seed: bool = False


def encode_recording(recording: Recording) -> bytes:
    """Return ``recording`` as JSON, indented, with a final line feed."""
    return msgspec.json.format(msgspec.json.encode(recording), indent=1) + b"\n"


def decode_recording(data: bytes) -> Recording:
    """Return what a recording holds. Raises RecordError."""
    if len(data) > MAX_RECORDING:
        raise RecordError(f"The recording is larger than {MAX_RECORDING >> 20} MiB.")
    raw = parse(data, "recording")
    version = raw.get("recording") if isinstance(raw, dict) else None
    if not isinstance(version, int):
        raise RecordError("The file is not a recording of a scan.")
    if version != RECORDING:
        raise RecordError(f"The recording has version {version}; this program reads version {RECORDING}.")
    recording = record_of(raw, Recording, "recording", MAX_TEXT, WHOLE)
    if recording.category not in CATEGORIES:
        raise RecordError(f"Broken recording: category is none of {', '.join(CATEGORIES)}.")
    observations = recording.observations
    names = probe_names()
    if tuple(exchange.name for exchange in observations.exchanges) != names:
        raise RecordError(f"Broken recording: exchanges must be {', '.join(names)} in this order.")
    for field, tokens in (("agents", registry().agents), ("crawlers", registry().crawlers)):
        if len(getattr(observations.robots, field)) not in (0, len(tokens)):
            raise RecordError(f"Broken recording: robots.{field} must have {len(tokens)} entries.")
    return msgspec.structs.replace(recording, name=clean(recording.name, MAX_NAME))


def decode_observations(data: bytes) -> Observations:
    """Return the observations in the JSON ``data``, their texts cleaned. Raises RecordError when they are broken."""
    return observations_from(parse(data, "stored record"))


def observations_from(raw: Any) -> Observations:
    """Return observations from their JSON members. Raises as :func:`decode_observations`."""
    return record_of(raw, Observations, "stored observations", LONGEST, WHOLE)

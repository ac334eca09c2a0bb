"""The form of a check, one scored component with everything about it, and the site that its advice is for.

A site has its names in the forms that a snippet needs, and a recipe for the server that holds its settings.
"""

from __future__ import annotations

import html
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from textwrap import dedent
from types import MappingProxyType
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import msgspec

from aui_tui.checks import robots_edit
from aui_tui.checks.judge import Judgement
from aui_tui.model.card import Finding
from aui_tui.model.labels import challenge_page, status
from aui_tui.model.observations import BROWSER, FILE_PATHS, SERVED, WITHHOLDING, Observations, PageFacts
from aui_tui.model.registry import registry
from aui_tui.packaged import read_table
from aui_tui.text import is_loopback

ABOUT: Final = MappingProxyType(
    {
        "Travel": "Trips, fares and bookings at {name}.",
        "Social & media": "What is published and discussed at {name}.",
        "Grocery & food": "Groceries and meals to order at {name}.",
        "Retail": "Products, prices and orders at {name}.",
        "Tickets": "Events and tickets at {name}.",
        "Real estate": "Homes to buy and rent at {name}.",
        "Tech": "Products and services of {name}.",
        "Developer": "Documentation and interfaces of {name}.",
        "Uncategorized": "What {name} offers and how to use it.",
    }
)
"""One sentence on a site, by its category."""


UNKNOWN_TESTER: Final = "192.0.2.1"


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One file of a recipe: its name in the folder of a plan, where it goes, its text, and how it begins a comment."""

    file: str
    place: str
    text: str
    comment: str = "#"


class Recipe(msgspec.Struct, frozen=True, kw_only=True):
    """What a fix means on one wall, edge or server: a ``step`` for the body, and its files if any.

    ``check``: the command by which the server checks its settings before it takes them. ``asks``: the change request
    belongs to its files.
    """

    step: str = ""
    check: str = ""
    asks: bool = False
    part: tuple[Part, ...] = ()


class Edges(msgspec.Struct, frozen=True, kw_only=True):
    """Recipes of the fixes ``wba`` and ``robots``, and which name of a wall or edge leads to which recipe.

    ``rule``: what the cause of a refusal means for its fix, by ``Cause.by``; ``field``: what that cause's fields are
    called.
    """

    recipe: dict[str, str]
    rule: dict[str, str]
    field: dict[str, str]
    wba: dict[str, Recipe]
    robots: dict[str, Recipe]

    def for_wba(self, names: Iterable[str]) -> Recipe:
        """Return the recipe of the first name that has one, else the generic one."""
        keys = (self.recipe.get(name, "") for name in names)
        return next((self.wba[key] for key in keys if key in self.wba), self.wba["generic"])

    def for_robots(self, names: Iterable[str]) -> Recipe:
        """Return the recipe that stands first in the table among those of ``names``, else the generic one."""
        keys = {self.recipe.get(name, "") for name in names}
        return next((recipe for key, recipe in self.robots.items() if key in keys), self.robots["generic"])


@cache
def edges() -> Edges:
    """Return the packaged recipes (``edges.toml``)."""
    return read_table("checks/edges.toml", Edges)


@dataclass(frozen=True, slots=True)
class Site:
    """One judged site with its display name and category.

    ``together``: fixes that are carried out at once, so that their files agree. ``public_url``: the address of the
    site for the public where it was scanned under another. ``tester``: the address from which the scan is repeated.
    """

    judgement: Judgement
    name: str
    category: str
    together: frozenset[str] = frozenset()
    public_url: str = ""
    tester: str = ""

    @property
    def observations(self) -> Observations:
        """What the scan saw."""
        return self.judgement.observations

    @property
    def origin(self) -> str:
        """Scheme, host and port by which the public reaches the site, without a final slash."""
        return (self.public_url or self.observations.site_origin).rstrip("/")

    @property
    def is_here(self) -> bool:
        """The site was scanned on this machine."""
        return is_loopback(urlsplit(self.observations.origin).hostname or "")

    @property
    def is_local(self) -> bool:
        """The site was scanned on this machine, and nothing says where the public finds it."""
        return self.is_here and not self.public_url

    @property
    def is_elsewhere(self) -> bool:
        """The public finds the site at another address than the one that was scanned."""
        return bool(self.public_url) and self.origin != self.observations.site_origin

    @property
    def testers(self) -> str:
        """The address from which the scan is repeated; one of documentation (RFC 5737) where it is not known."""
        if self.tester:
            return self.tester
        return "127.0.0.1" if self.is_here else UNKNOWN_TESTER

    @property
    def hostname(self) -> str:
        """The host alone, without scheme and port."""
        return urlsplit(self.origin).hostname or self.observations.host

    @property
    def title(self) -> str:
        """The name on one line, never empty; an address that the public does not use is not a name."""
        known = " ".join(self.name.split())
        if known and known != self.observations.host:
            return known
        titled = re.split(r"\s[|·•–—:-]\s", self.observations.page.title, maxsplit=1)[0].strip()
        return titled or (self.hostname if self.public_url else known) or self.hostname

    @property
    def about(self) -> str:
        """One sentence on the site: its own, else one by its category."""
        if self.observations.page.description:
            return self.observations.page.description
        return ABOUT.get(self.category, ABOUT["Uncategorized"]).replace("{name}", self.title)

    @property
    def slug(self) -> str:
        """The host in letters, digits and hyphens."""
        return re.sub(r"[^a-z0-9]+", "-", self.hostname).strip("-") or "site"

    @property
    def edges(self) -> list[str]:
        """Names of walls met by a homepage probe, then of the detected edge, each once."""
        probes = (*(probe for _, probe in self.judgement.turned_away), self.observations.browser)
        walls = (probe.challenge.vendor for probe in probes if probe.challenge is not None and not probe.another_page)
        return list(dict.fromkeys((*walls, *self.observations.edge.split())))

    def facts(self) -> dict[str, str]:
        """Return what any text may say of the site."""
        return {
            "host": self.observations.host,
            "hostname": self.hostname,
            "origin": self.origin,
            "slug": self.slug,
            "name": self.title,
            "name_html": html.escape(self.title),
            "about": self.about,
            "about_html": html.escape(self.about),
            "tester": self.testers,
        }


def script_json(value: object) -> str:
    """Return JSON that may stand inside a script element: no ``<`` can end it."""
    return json.dumps(value, ensure_ascii=False, indent=2).replace("<", "\\u003c")


NO_POINTS: Final[Mapping[str, int]] = MappingProxyType({})
WELCOME: Final = MappingProxyType({"v0.1": "access", "v0.2": "welcome"})
BUILT: Final = MappingProxyType({"v0.1": "surface", "v0.2": "built"})
"""The pillars of most checks: for what lets agents in, and for what is on the page or beside it."""
FILES: Final = frozenset(("llms", "ucp", "mcp"))
LOCAL: Final = (
    'The snippet names the address of this scan: public_url of [sites."{host}"] in the settings names the public one.'
)


TITLE: Final = 40
"""Cells of the longest title of a sentence."""


class Sentence(NamedTuple):
    """One fixed sentence of evidence: its id, its severity ``t`` and its text with places ``<<name>>``.

    ``titles``: short forms with the same places, the longest first; the first of at most TITLE cells is shown.
    ``note``: it says something of the test or beside the score, and is no problem of the site.
    """

    id: str
    t: str
    text: str
    titles: tuple[str, ...] = ()
    note: bool = False


def sentence_list(text: str) -> tuple[Sentence, ...]:
    """Return the sentences in ``text``, each indented below its line ``severity [note] id: title / shorter``."""
    found = []
    for block in re.split(r"\n(?=\S)", dedent(text).strip()):
        line, _, words = block.partition("\n")
        head, _, titles = line.partition(": ")
        severity, *kind, name = head.split()
        found.append(
            Sentence(name, severity, " ".join(words.split()), tuple(filter(None, titles.split(" / "))), bool(kind))
        )
    return tuple(found)


def file_name(observations: Observations, name: str) -> str:
    """Return host and path of the file that the probe ``name`` asked for, as sentences name it."""
    path = urlsplit(observations.exchange(name).url).path
    path = path if name == "mcp" and path.startswith("/.well-known/") else FILE_PATHS[name]
    return urlsplit(observations.site_origin).netloc + path


def noted(observations: Observations, note: str) -> str:
    """Return what was noted of a file, which begins with its path, with its host."""
    return urlsplit(observations.site_origin).netloc + note if note.startswith("/") else note


def unseen(observations: Observations, name: str) -> str:
    """Return why it is not known whether the file of the probe ``name`` is there and what it says; empty where it is.

    A file behind a wall, one that was refused, or one that broke off before it showed what it is. A robots.txt that
    was refused has no rules (RFC 9309, 2.3.1.3).
    """
    probe = observations.exchange(name)
    if probe.challenge is not None:
        return f"is behind a wall: {challenge_page(probe.challenge.vendor)} came instead ({probe.status})"
    if probe.limited:
        return "could not be fetched: the site limits requests"
    if probe.unmeasured:
        return "was not seen: the scan was stopped"
    if name == "robots":
        return f"could not be read by this scan: {observations.robots.problem}" if observations.robots.problem else ""
    if name in FILES and (probe.status in WITHHOLDING or 500 <= probe.status <= 599):
        return f"was not seen: it answers {status(probe.status)}"
    if probe.cut and not getattr(observations.files, name.replace("-", "_")):
        return "was not seen to its end: it broke off, or is longer than is read"
    return ""


def closed(observations: Observations, name: str) -> dict[str, str]:
    """Return the facts of a file that is closed to an agent although a browser gets it; none where it is open."""
    arm = observations.closed_file(name)
    if arm is None:
        return {}
    agent = next(agent.short for agent in registry().live if agent.key == arm.agent)
    what = status(arm.status) if arm.outcome != SERVED and not 200 <= arm.status <= 299 else "another text"
    return {"file": file_name(observations, name), "agent": agent, "what": what if arm.status else "no answer"}


def opened(observations: Observations, name: str) -> Observations:
    """Return ``observations`` with the file of the probe ``name`` open to agents."""
    return msgspec.structs.replace(observations, arms=tuple(arm for arm in observations.arms if arm.name != name))


def agent_token(site: Site) -> str:
    """Return the name under which a fix is tried: of the first agent that is turned away, else of the first."""
    away = site.judgement.turned_away
    return away[0][0].token if away else registry().live[0].token


def opening(site: Site, *names: str) -> Advice | None:
    """Return what to do about the first file of the probes ``names`` that is closed to agents; None for none."""
    shut = next(filter(None, (closed(site.observations, name) for name in names)), None)
    if shut is None:
        return None
    body = (
        f"{shut['file']} is there, and {shut['agent']} gets {shut['what']}. The file earns its points when agents get"
        " it as a browser does: leave this path out of the rule that turns agents away, or make the change that lets"
        " them in everywhere. The command below then answers 200."
    )
    path = shut["file"].partition("/")[2]
    return Advice(body, f"curl -sSi -A {agent_token(site)} {site.origin}/{path}", tuple)


class Earned(NamedTuple):
    """Points of one component and the sentence that traces them; ``points`` is None when nothing was measured."""

    points: int | None
    reason: str

    @classmethod
    def unmeasured(cls, observations: Observations, what: str, *probes: str) -> Earned | None:
        """Return that ``what`` was not measured, where one of ``probes`` has no verdict or was withheld."""
        why = next(filter(None, (unseen(observations, probe) for probe in probes)), "")
        return cls(None, f"{what} {why}. Not measured, so it does not count.") if why else None


class Piece(NamedTuple):
    """A file of a fix: its path in the folder of a plan, where it goes (words), and its text.

    A path without a folder is the path on the site: ``robots.txt`` belongs at /robots.txt.
    """

    path: str
    place: str
    text: str


class Advice(NamedTuple):
    """Body and snippet of a recommendation, made for one site, and what makes the files of a plan for the same."""

    body: str
    code: str
    pieces: Callable[[], tuple[Piece, ...]]


class Check(ABC):
    """One scored component of a site, whole.

    ``fix``: its key in the ledger, and of the recommendation that completes it (specification 2.6). ``label``: what
    people call it. ``earns``: what earns the points, for the explanation of the method; ``{part}`` in it stands for the
    points ``part`` of what counts in part.
    ``lacking``: what it means that the fix is still to be made. ``title``: heading of the recommendation.
    ``takes``: the work of the fix as a time, for somebody who knows the site. ``proof``: how to check the fix from
    here, with ``{origin}`` for the address and ``{agent}`` for who is turned away. ``points`` and ``pillar``: full
    points and pillar key per method. ``detail``: the number of ``detail`` (specification 2.3) that its points add
    to. ``sentences``: its evidence, each severity in the order of a card.
    ``read_on``: where to read on. ``path``: what of the site it is about, empty for the homepage. ``language``: that of
    its snippet. ``subject``: what its findings are about, in at most three words.

    ``puts``: what its snippet is put where, ``loads``: what makes it take effect.
    ``names_site``: its snippet holds the site's address. ``rests_on``: the files without which nothing is measured, by
    their probes.
    """

    fix: str
    label: str
    earns: str
    lacking: str
    title: str
    takes: str
    proof: str
    points: Mapping[str, int]
    pillar: Mapping[str, str] = BUILT
    sentences: tuple[Sentence, ...]
    part: Mapping[str, int] = NO_POINTS
    detail = "surface"
    read_on = "https://www.rfc-editor.org/rfc/rfc9110"
    path = ""
    language = "text"
    subject = "page"
    puts = "Put this into the page"
    loads = "Publish the page, and purge it from the CDN where there is one."
    names_site = False
    rests_on: tuple[str, ...] = ()

    def earned(self, judgement: Judgement, method: str) -> Earned:
        """Return the points under ``method`` and why; that nothing was measured, where a probe has no verdict."""
        observations = judgement.observations
        for probe in self.rests_on:
            unknown = Earned.unmeasured(observations, file_name(observations, probe), probe)
            if unknown is not None:
                return unknown
        return self.measure(judgement, method)

    @abstractmethod
    def measure(self, judgement: Judgement, method: str) -> Earned:
        """Return the points under ``method`` and why."""

    @abstractmethod
    def findings(self, judgement: Judgement) -> Iterator[Finding]:
        """Yield what is found: ids of ``sentences`` and their facts."""

    @abstractmethod
    def fixed(self, observations: Observations) -> Observations:
        """Return ``observations`` with this component's fact repaired and nothing else."""

    @abstractmethod
    def advise(self, site: Site) -> Advice:
        """Return body and snippet of the recommendation."""

    def is_asked(self, site: Site) -> bool:
        """Return whether the fix is to ask somebody else for it: there is nothing that the owner can change."""
        return False

    def proof_at(self, site: Site) -> str:
        """Return how to check the fix from here, under the name of an agent that was turned away."""
        proof = self.proof.replace("{origin}", site.observations.site_origin)
        return proof.replace("{agent}", agent_token(site))

    def proof_for(self, site: Site) -> str:
        """Return how to check the fix from here, and where the public finds the site, or how to name that address."""
        proof = self.proof_at(site)
        local = f" {LOCAL.replace('{host}', site.observations.host)}" if self.names_site and site.is_local else ""
        public = f" Once it is public, the same at {site.public_url.rstrip('/')}/." if site.is_elsewhere else ""
        return f"Check: {proof}{local}{public}"


WHOLE, CUT, NOT_A_PAGE, NOT_COMPARABLE = "whole", "cut", "not a page", "not comparable"
"""How the homepage was seen; only of a whole page is anything said to be absent."""


def how_seen(observations: Observations) -> str:
    """Return how the homepage was seen: one of the four words."""
    if observations.browser.outcome != SERVED and not observations.page.seen_by:
        return NOT_COMPARABLE
    if observations.page.problem:
        return NOT_A_PAGE
    return CUT if observations.exchange(observations.page.seen_by or BROWSER).cut else WHOLE


class PageCheck(Check):
    """A check of the homepage: what was not seen of it is not measured.

    ``of_whole_page``: its points say that something is missing, so that the beginning of a page earns none.
    """

    of_whole_page = False

    def earned(self, judgement: Judgement, method: str) -> Earned:
        """Return the points; that nothing was measured of another page, and what is missing in a cut one."""
        observations = judgement.observations
        seen = how_seen(observations)
        if seen == NOT_COMPARABLE:
            unknown = Earned.unmeasured(observations, "The homepage", BROWSER)
            return unknown or Earned(None, "The homepage was not seen, so this is not measured.")
        if seen == NOT_A_PAGE:
            return Earned(None, f"The homepage could not be judged: {observations.page.problem}. Not measured.")
        found = self.measure(judgement, method)
        if seen == CUT and (self.of_whole_page or found.points != self.points[method]):
            return Earned(None, "Only the beginning of the homepage was read; the rest may have it. Not measured.")
        return found

    def findings(self, judgement: Judgement) -> Iterator[Finding]:
        """Yield what is found on the page; nothing of one that was not seen."""
        seen = how_seen(judgement.observations)
        if seen in (WHOLE, CUT):
            yield from self.on_page(judgement.observations.page, whole=seen == WHOLE)

    @abstractmethod
    def on_page(self, page: PageFacts, *, whole: bool) -> Iterator[Finding]:
        """Yield what is found on ``page``; only of a ``whole`` one that something is missing."""


def robots_pieces(site: Site, fix: str, lines: str = "") -> tuple[Piece, ...]:
    """Return the whole corrected robots.txt; ``lines`` to put in by hand where the site's own file is not known."""
    whole = robots_edit.corrected(site.observations, site.together | {fix})
    if whole:
        return (Piece("robots.txt", f"{site.origin}/robots.txt, as text/plain", whole.strip("\n")),)
    place = "by hand into robots.txt: the site's own file was not kept with this scan; scan again to get the whole file"
    return (Piece(f"by-hand/robots-{fix}.txt", place, lines),)

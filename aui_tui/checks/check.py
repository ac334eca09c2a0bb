"""The form of a check, one scored component with everything about it, and what checks share."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from textwrap import dedent
from types import MappingProxyType
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import msgspec

from aui_tui.checks import robots_edit
from aui_tui.checks.judge import Judgement
from aui_tui.checks.site import Site
from aui_tui.model.card import Finding
from aui_tui.model.labels import challenge_page, status
from aui_tui.model.observations import BROWSER, FILE_PATHS, WITHHOLDING, Observations, PageFacts
from aui_tui.model.registry import registry
from aui_tui.model.vocabulary import SERVED

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
    """Return the sentences in ``text``, each indented below its line ``severity [note] id: title / shorter title``."""
    sentences = []
    for block in re.split(r"\n(?=\S)", dedent(text).strip()):
        line, _, words = block.partition("\n")
        head, _, titles = line.partition(": ")
        severity, *kind, name = head.split()
        sentences.append(
            Sentence(name, severity, " ".join(words.split()), tuple(filter(None, titles.split(" / "))), bool(kind))
        )
    return tuple(sentences)


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

    ``fix``: its key in the ledger, and of the recommendation that completes it. ``label``: what
    people call it. ``earns``: what earns the points, for the explanation of the method; ``{part}`` in it stands for the
    points ``part`` of what counts in part.
    ``lacking``: what it means that the fix is still to be made. ``title``: heading of the recommendation.
    ``takes``: the work of the fix as a time, for somebody who knows the site. ``proof``: how to check the fix from
    here, with ``{origin}`` for the address and ``{agent}`` for who is turned away. ``points`` and ``pillar``: full
    points and pillar key per method. ``detail``: the number of ``detail`` that its points add
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
        coverage = how_seen(observations)
        if coverage == NOT_COMPARABLE:
            unknown = Earned.unmeasured(observations, "The homepage", BROWSER)
            return unknown or Earned(None, "The homepage was not seen, so this is not measured.")
        if coverage == NOT_A_PAGE:
            return Earned(None, f"The homepage could not be judged: {observations.page.problem}. Not measured.")
        earned = self.measure(judgement, method)
        if coverage == CUT and (self.of_whole_page or earned.points != self.points[method]):
            return Earned(None, "Only the beginning of the homepage was read; the rest may have it. Not measured.")
        return earned

    def findings(self, judgement: Judgement) -> Iterator[Finding]:
        """Yield what is found on the page; nothing of one that was not seen."""
        coverage = how_seen(judgement.observations)
        if coverage in (WHOLE, CUT):
            yield from self.on_page(judgement.observations.page, whole=coverage == WHOLE)

    @abstractmethod
    def on_page(self, page: PageFacts, *, whole: bool) -> Iterator[Finding]:
        """Yield what is found on ``page``; only of a ``whole`` one that something is missing."""


def robots_pieces(site: Site, fix: str, lines: str = "") -> tuple[Piece, ...]:
    """Return the whole corrected robots.txt; ``lines`` to put in by hand where the site's own file is not known."""
    text = robots_edit.corrected(site.observations, site.together | {fix})
    if text:
        return (Piece("robots.txt", f"{site.origin}/robots.txt, as text/plain", text.strip("\n")),)
    place = "by hand into robots.txt: the site's own file was not kept with this scan; scan again to get the whole file"
    return (Piece(f"by-hand/robots-{fix}.txt", place, lines),)

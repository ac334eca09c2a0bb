"""What a check is: one scored component with all that is said and done about it. Types only; the checks fill them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, NamedTuple

from aui_tui.engine import robots_edit
from aui_tui.engine.checks.site import Site
from aui_tui.engine.judge import Judgement
from aui_tui.records.card import ReportCard
from aui_tui.records.observations import SERVED, Observations

NO_FACTS: Final[Mapping[str, str]] = MappingProxyType({})
LOCAL: Final = "The snippet names the address of this scan: aui-tui plan {host} --public-url URL writes the public one."
UNSEEN: Final = (
    "The browser probe did not get this page, so the advice goes by the answer it got instead: where your own start "
    "page has this already, the points come with the door."
)


class Sentence(NamedTuple):
    """One fixed sentence of evidence: its id, its severity ``t`` and its text with places ``<<name>>``."""

    id: str
    t: str
    text: str


def critical(name: str, text: str) -> Sentence:
    """Return a sentence on what shuts agents out."""
    return Sentence(name, "critical", text)


def warn(name: str, text: str) -> Sentence:
    """Return a sentence on what hinders agents or limits the card."""
    return Sentence(name, "warn", text)


def good(name: str, text: str) -> Sentence:
    """Return a sentence on what helps agents."""
    return Sentence(name, "good", text)


class Finding(NamedTuple):
    """One line of evidence: the id of a fixed sentence and the facts that fill it."""

    id: str
    facts: Mapping[str, str] = NO_FACTS


class Earned(NamedTuple):
    """Points of one component and the sentence that traces them; ``points`` is None when nothing was measured."""

    points: int | None
    reason: str


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


class CardPoints(NamedTuple):
    """A card graded under the method ``was``, on which a component earned ``points``."""

    card: ReportCard
    was: str
    points: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One scored component of a site, whole (method.md "Points").

    ``component``: its key in the ledger. ``fix``: the recommendation that completes it (specification 2.6).
    ``label``: the component in words. ``earns``: what earns the points, for the explanation of the method; ``{part}``
    in it stands for the points ``part`` of what counts in part.
    ``lacking``: what it means that the fix is still to be made. ``title``: heading of the recommendation.
    ``effort``: work of the fix, from 1 (a line) to 8 (a rebuild); ``takes``: the same as a time, for a person who knows
    the site. ``file``: the name that its snippet is written to
    when nothing but the card is known. ``proof``: how to check the fix from here, with ``{origin}`` for the address.
    ``points`` and ``pillar``: full points and pillar key per method. ``detail``: the number of ``detail``
    (specification 2.3) that its points add to. ``sentences``: its evidence, each severity in the order of a card.
    ``judged``: the fix changes the judgement, not points alone. ``names_site``: its snippet holds the site's address.

    ``measure``: observations and method to points. ``findings``: the lines of evidence. ``fixed``: the observations
    with this component's fact repaired and nothing else. ``advise``: body and snippet of the recommendation.
    ``convert``: points under another method, from a card alone; without it the component earns all or nothing.
    """

    component: str
    fix: str
    label: str
    earns: str
    lacking: str
    title: str
    effort: int
    takes: str
    file: str
    proof: str
    points: Mapping[str, int]
    pillar: Mapping[str, str]
    measure: Callable[[Observations, Judgement, str], Earned]
    findings: Callable[[Observations, Judgement], Iterator[Finding]]
    fixed: Callable[[Observations], Observations]
    advise: Callable[[Site], Advice]
    sentences: tuple[Sentence, ...]
    part: Mapping[str, int] = field(default_factory=dict)
    detail: str = "surface"
    names_site: bool = False
    judged: bool = False
    convert: Callable[[CardPoints, str], int] | None = None

    def proof_for(self, site: Site) -> str:
        """Return how to check the fix from here, and where the public finds the site, or how to name that address."""
        proof = self.proof.replace("{origin}", site.observations.origin.rstrip("/"))
        local = f" {LOCAL.replace('{host}', site.observations.host)}" if self.names_site and site.is_local else ""
        public = f" Once it is public, the same at {site.public_url.rstrip('/')}/." if site.is_elsewhere else ""
        return f"Check: {proof}{local}{public}"

    def converted(self, known: CardPoints, to: str) -> int:
        """Return the points under the method ``to`` that this component has on a card graded under another."""
        if self.convert is not None:
            return self.convert(known, to)
        return self.points[to] if known.points == self.points[known.was] else 0


def unmeasured(observations: Observations, what: str, *probes: str) -> Earned | None:
    """Return that ``what`` was not measured, where one of ``probes`` was left without a verdict."""
    asked = [observations.exchange(probe) for probe in probes]
    if not any(probe.unmeasured for probe in asked):
        return None
    limited = any(probe.limited for probe in asked)
    why = "could not be fetched: the site limits requests" if limited else "was not seen: the scan was stopped"
    return Earned(None, f"{what} {why}. Not measured, so it counts for nothing.")


def on_page(judgement: Judgement, facts: str) -> str:
    """Return a sentence on the page that the browser got, which is not always the homepage."""
    page = "The homepage" if judgement.browser == SERVED else "The page that the browser got in its place"
    return f"{page}: {facts}."


def by_page(site: Site, advice: Advice) -> Advice:
    """Return ``advice`` on a page with a note where the browser did not get the homepage."""
    return advice if site.judgement.browser == SERVED else advice._replace(body=f"{advice.body} {UNSEEN}")


def robots_pieces(site: Site, fix: str, lines: str = "") -> tuple[Piece, ...]:
    """Return the whole corrected robots.txt; ``lines`` to put in by hand where the site's own file is not known."""
    whole = robots_edit.corrected(site.observations, site.together | {fix})
    if whole:
        return (Piece("robots.txt", f"{site.origin}/robots.txt, as text/plain", whole.strip("\n")),)
    place = "by hand into robots.txt: the site's own file was not kept with this scan; scan again to have it written"
    return (Piece(f"by-hand/robots-{fix}.txt", place, lines),)


def page_was_read(observations: Observations, judgement: Judgement) -> bool:
    """Return whether the facts of the page are those of the homepage."""
    return judgement.browser == SERVED and not observations.page.problem

"""Readable without scripts: most agents that fetch a page run none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from aui_tui.checks import readers
from aui_tui.checks.check import (
    CUT,
    NOT_A_PAGE,
    NOT_COMPARABLE,
    WHOLE,
    Advice,
    Earned,
    PageCheck,
    Piece,
    how_seen,
    sentence_list,
)
from aui_tui.checks.judge import Judgement
from aui_tui.checks.site import Site
from aui_tui.checks.wording import clause
from aui_tui.model.card import Finding
from aui_tui.model.observations import PLACEHOLDER, READABLE_ENOUGH, Observations, PageFacts
from aui_tui.model.verdicts import REAL
from aui_tui.model.vocabulary import SEVERITIES
from aui_tui.text import count

PLACE = "inside the element of the homepage that the scripts fill, or right after body-start.html"
SENTENCES: Final = sentence_list(
    """
    critical shell: Nothing to read without scripts
        Without scripts the homepage is empty: <<readable>> and <<scripts>>. An agent that runs no scripts has nothing
        to tell its user; send readable HTML.
    warn note page-problem: The homepage could not be judged
        The homepage could not be judged, so nothing on it is measured: <<problem>>.
    warn note page-unseen: The homepage was not seen
        The browser probe did not get the homepage, so its text, landmarks and JSON-LD are not measured.
    warn note page-cut: The homepage is not read to its end
        The homepage is longer than the part that is read, or broke off; the rest is not in this card.
    warn unwritten: The homepage still has words of a plan
        The homepage still says “<<words>>”, as a plan wrote it: put your own words there.
    good readable-text: Agents get a readable text
        Agents get a text of <<readable>> that needs no scripts; it is no HTML, so landmarks, labels and JSON-LD are not
        measured.
    good readable: Readable without scripts
        The homepage has <<readable>> without scripts.
    good readable-cut: Readable without scripts
        The homepage has <<readable>> without scripts; <<cuts>>.
    """
)


def _for_agents(observations: Observations) -> int:
    """Return the readable characters of what agents get where that is no HTML and stands for the page; else 0."""
    page = observations.page
    by_agent = page.seen_by not in ("", REAL)
    return page.readable if by_agent and page.problem and page.readable >= READABLE_ENOUGH else 0


class WithoutScripts(PageCheck):
    fix = "ssr"
    label = "readable"
    puts = "Send this as HTML, before any script"
    earns = "the homepage can be read without running scripts"
    lacking = "nothing readable without scripts"
    title = "Serve readable HTML without scripts"
    takes = "days"
    proof = "curl -sS {origin}/ shows the text without running scripts."
    points = {"v0.1": 9, "v0.2": 5}
    read_on = "https://web.dev/articles/rendering-on-the-web"
    language = "html"
    sentences = tuple(sorted((*SENTENCES, *readers.SENTENCES), key=lambda line: SEVERITIES.index(line.t)))
    names_site = True

    def measure(self, judgement: Judgement, method: str) -> Earned:
        page = judgement.observations.page
        readable = count(page.readable, "readable character")
        if self.is_empty(page):
            return Earned(0, f"Without scripts the homepage has {readable}.")
        return Earned(self.points[method], f"The homepage has {readable} without scripts.")

    def earned(self, judgement: Judgement, method: str) -> Earned:
        """Return the points; a text that agents get in another format than HTML is readable too."""
        readable = _for_agents(judgement.observations)
        if readable:
            return Earned(self.points[method], f"Agents get a text of {count(readable, 'readable character')}.")
        return super().earned(judgement, method)

    @staticmethod
    def is_empty(page: PageFacts) -> bool:
        """Return whether there is nothing to read without scripts."""
        return page.noscript_shell or page.readable == 0

    def findings(self, judgement: Judgement) -> Iterator[Finding]:
        """Yield how the page was seen, and what there is to read."""
        observations = judgement.observations
        coverage = how_seen(observations)
        readable = _for_agents(observations)
        if readable:
            yield Finding("readable-text", {"readable": count(readable, "readable character")})
        elif coverage == NOT_COMPARABLE:
            yield Finding("page-unseen")
        elif coverage == NOT_A_PAGE and readers.is_markdown(observations):
            yield readers.markdown()
        elif coverage == NOT_A_PAGE:
            yield Finding("page-problem", {"problem": clause(observations.page.problem)})
        elif PLACEHOLDER in observations.browser.text:
            yield Finding("unwritten", {"words": PLACEHOLDER})
        yield from super().findings(judgement)
        if coverage in (WHOLE, CUT):
            yield from readers.findings(observations)
        yield from readers.door(observations)

    def on_page(self, page: PageFacts, *, whole: bool) -> Iterator[Finding]:
        if not whole:
            yield Finding("page-cut")
        readable = count(page.readable, "readable character")
        if not self.is_empty(page):
            cuts = readers.cuts(page.readable)
            facts = {"readable": readable}
            yield Finding("readable-cut", facts | {"cuts": cuts}) if cuts else Finding("readable", facts)
        elif whole:
            yield Finding("shell", {"readable": readable, "scripts": count(page.scripts, "script")})

    def fixed(self, observations: Observations) -> Observations:
        page = observations.page
        readable = max(page.readable, READABLE_ENOUGH)
        return replace(observations, page=replace(page, noscript_shell=False, readable=readable))

    def advise(self, site: Site) -> Advice:
        host, facts, hostname = site.observations.host, site.facts(), site.hostname
        readable = count(site.observations.page.readable, "readable character")
        body = (
            f"Without scripts the homepage of {host} has {readable}, and most agents that fetch a page run no scripts."
            " Turn on server rendering or static export for this page (Next.js, Nuxt, SvelteKit, Astro and Angular have"
            " it built in); until then put real text into the HTML that the server sends, inside the element that the"
            " scripts fill."
        )
        code = f"""\
<section>
  <h1>{facts["name_html"]}</h1>
  <p>{facts["about_html"]}</p>
  <h2>What you can do here</h2>
  <ul>
    <li><a href="{site.origin}/">Start page</a>: {PLACEHOLDER} by a list of the pages that matter most, in the words a\
 visitor would use.</li>
    <li>{PLACEHOLDER} by what is offered on {hostname}, what it costs, where it is available and how to order, book or\
 get help.</li>
  </ul>
</section>"""
        return Advice(body, code, lambda: (Piece("homepage/content.html", PLACE, code),))


CHECK = WithoutScripts()

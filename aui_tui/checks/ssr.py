"""Readable without scripts: most agents that fetch a page run none."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from aui_tui.checks.base import Advice, Earned, PageCheck, Piece, Site, critical, good, warn
from aui_tui.checks.judge import Judgement
from aui_tui.checks.wording import clause
from aui_tui.model.card import Finding
from aui_tui.model.observations import SERVED, Observations
from aui_tui.text import count

POINTS = {"v0.1": 9, "v0.2": 5}
PLACE = "inside the element of the homepage that the scripts fill, or right after body-start.html"
SENTENCES = (
    critical(
        "shell",
        "Without scripts the homepage is empty: <<readable>> and <<scripts>>. An agent that runs no scripts has"
        " nothing to tell its user; send readable HTML.",
    ),
    warn("page-problem", "The homepage was not analysed: <<problem>>, so all its counts are 0."),
    warn("page-unseen", "The browser probe did not get the homepage, so its text, landmarks and JSON-LD are unknown."),
    warn("page-cut", "The homepage is longer than the part that is read, or broke off; the rest is not in this card."),
    good("readable", "The homepage has <<readable>> without scripts."),
)


class WithoutScripts(PageCheck):
    component = "ssr"
    fix = "ssr"
    label = "Readable without scripts"
    earns = "the homepage can be read without running scripts"
    lacking = "nothing readable without scripts"
    title = "Serve readable HTML without scripts"
    effort = 8
    takes = "days"
    file = "homepage/content.html"
    proof = "curl -sS {origin}/ shows the text without running scripts."
    points = POINTS
    sentences = SENTENCES
    names_site = True

    def measure(self, observations: Observations, judgement: Judgement, method: str) -> Earned:
        page = observations.page
        readable = count(page.readable, "readable character")
        if page.noscript_shell:
            return Earned(0, self.on_page(judgement, f"without scripts it has {readable}, under 200"))
        if self.was_read(observations, judgement):
            return Earned(POINTS[method], f"The homepage has {readable} without scripts.")
        return Earned(POINTS[method], "The homepage could not be read, and nothing shows that it needs scripts.")

    def findings(self, observations: Observations, judgement: Judgement) -> Iterator[Finding]:
        """Yield whether the page was read at all, and what there is to read."""
        page = observations.page
        if judgement.browser != SERVED:
            yield Finding("page-unseen")
            return
        if page.problem:
            yield Finding("page-problem", {"problem": clause(page.problem)})
            return
        if observations.browser.cut:
            yield Finding("page-cut")
        readable = count(page.readable, "readable character")
        if page.noscript_shell:
            yield Finding("shell", {"readable": readable, "scripts": count(page.scripts, "script")})
        else:
            yield Finding("readable", {"readable": readable})

    def fixed(self, observations: Observations) -> Observations:
        return replace(observations, page=replace(observations.page, noscript_shell=False))

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
    <li><a href="{site.origin}/">Start page</a>: replace this list by the pages that matter most, in the words a\
 visitor would use.</li>
    <li>Say what is offered on {hostname}, what it costs, where it is available and how to order, book or get help.</li>
  </ul>
</section>"""
        return self.by_page(site, Advice(body, code, lambda: (Piece("homepage/content.html", PLACE, code),)))


CHECK = WithoutScripts()

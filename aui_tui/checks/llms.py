"""llms.txt: a short index in Markdown that tells an agent where to start (llmstxt.org)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from aui_tui.checks.base import Advice, Check, Earned, Piece, Site, is_withheld, sentence_list
from aui_tui.checks.judge import Judgement
from aui_tui.checks.wording import sentence
from aui_tui.model.card import Finding
from aui_tui.model.labels import status
from aui_tui.model.observations import GONE, PLACEHOLDER, Observations

SENTENCES: Final = sentence_list(
    """
    warn llms-note: /llms.txt does not count
        <<note>>
    warn note file-kept-back: <<file>> is withheld (<<status>>) / <<file>> is withheld
        <<file>> answers <<status>>, so nobody knows whether it exists: it is not measured.
    warn llms-none: No /llms.txt
        There is no /llms.txt to tell an agent where to start.
    good llms: /llms.txt
        /llms.txt tells agents where to start.
    """
)
_SITEMAP = re.compile(r"^sitemap:[ \t]*(https?://[^\s()<>]{1,500})[ \t]*$", re.IGNORECASE | re.MULTILINE)


def llms_notes(observations: Observations) -> list[str]:
    """Return why an /llms.txt that answers was not counted."""
    return [note for note in observations.files.notes if "llms" in note]


class LlmsTxt(Check):
    fix = "llms"
    label = "llms.txt"
    subject = "offers"
    puts = "Publish this as /llms.txt, as text/plain"
    loads = "Upload the file, and purge it from the CDN where there is one."
    earns = "a valid /llms.txt file"
    lacking = "no llms.txt"
    title = "Add an /llms.txt file"
    effort = 3
    takes = "an hour"
    proof = 'curl -sSi {origin}/llms.txt answers 200 and its first line begins with "# ".'
    points = {"v0.1": 5, "v0.2": 3}
    read_on = "https://llmstxt.org/"
    path = "/llms.txt"
    language = "markdown"
    sentences = SENTENCES
    names_site = True

    def measure(self, judgement: Judgement, method: str) -> Earned:
        observations = judgement.observations
        if observations.files.llms:
            return Earned(self.points[method], "/llms.txt was found.")
        return Earned.unmeasured(observations, "/llms.txt", "llms") or Earned(0, "No usable /llms.txt was found.")

    def findings(self, judgement: Judgement) -> Iterator[Finding]:
        observations = judgement.observations
        probe = observations.exchange("llms")
        if probe.unmeasured:
            return
        if is_withheld(probe):
            yield Finding("file-kept-back", {"file": "/llms.txt", "status": status(probe.status)})
            return
        notes = llms_notes(observations)
        for note in notes:
            yield Finding("llms-note", {"note": sentence(note)})
        if observations.files.llms:
            yield Finding("llms")
        elif not notes:
            yield Finding("llms-none")

    def fixed(self, observations: Observations) -> Observations:
        return replace(observations, files=replace(observations.files, llms=True))

    def advise(self, site: Site) -> Advice:
        code = site.observations.exchange("llms").status
        notes = llms_notes(site.observations)
        missing = f"/llms.txt answers {status(code)}." if code in GONE else "There is none yet."
        body = (
            f"{sentence(notes[0]) if notes else missing} Publish a short Markdown index at {site.origin}/llms.txt, as"
            " text/plain: one heading, one sentence on what the site is for,"
            f" then the pages an agent needs. Put words of your own where it says “{PLACEHOLDER}”."
        )
        text = f"""\
# {site.title}

> {site.about}

## Start here

- [Home]({site.origin}/): {PLACEHOLDER} by what a visitor can do there, and add the pages an agent needs"""
        named = _SITEMAP.search(site.observations.robots.text)
        if named is not None:
            text += f"\n\n## Optional\n\n- [Sitemap]({named[1]}): every public page"
        place = f"{site.origin}/llms.txt, as text/plain"
        return Advice(body, text, lambda: (Piece("llms.txt", place, text),))


CHECK = LlmsTxt()

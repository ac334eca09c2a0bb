"""llms.txt: a short index in Markdown that tells an agent where to start (llmstxt.org)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from aui_tui.checks.check import (
    Advice,
    Check,
    Earned,
    Piece,
    closed,
    file_name,
    noted,
    opened,
    opening,
    sentence_list,
    unseen,
)
from aui_tui.checks.judge import Judgement
from aui_tui.checks.site import Site
from aui_tui.checks.wording import sentence
from aui_tui.model.card import Finding
from aui_tui.model.labels import status
from aui_tui.model.observations import FILE_PATHS, GONE, PLACEHOLDER, Observations

SENTENCES: Final = sentence_list(
    """
    warn llms-note: /llms.txt does not count
        <<note>>
    warn llms-unwritten: /llms.txt has words of a plan
        <<file>> still says “<<words>>”, as a plan wrote it: put your own words there.
    warn note file-unseen: <<file>> is not measured / <<path>> is not measured / <<name>> is not measured
        <<file>> <<why>>. Nobody knows whether it exists: it is not measured.
    warn llms-closed: llms.txt is closed to agents
        <<file>> is closed to agents: <<agent>> gets <<what>> where a browser gets the file. So it earns nothing.
    warn llms-none: No /llms.txt
        There is no <<file>> to tell an agent where to start.
    good llms: /llms.txt
        <<file>> tells agents where to start.
    """
)
_SITEMAP = re.compile(r"^sitemap:[ \t]*(https?://[^\s()<>]{1,500})[ \t]*$", re.IGNORECASE | re.MULTILINE)


def llms_notes(observations: Observations) -> list[str]:
    """Return why an /llms.txt that answers was not counted."""
    return [noted(observations, note) for note in observations.files.notes if "llms" in note]


class LlmsTxt(Check):
    fix = "llms"
    label = "llms.txt"
    subject = "offers"
    puts = "Publish this as /llms.txt, as text/plain"
    loads = "Upload the file, and purge it from the CDN where there is one."
    earns = "a valid /llms.txt file"
    lacking = "no llms.txt"
    title = "Add an /llms.txt file"
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
        file = file_name(observations, "llms")
        if closed(observations, "llms"):
            return Earned(0, f"{file} is closed to agents.")
        if observations.files.llms:
            return Earned(self.points[method], f"{file} was found.")
        return Earned.unmeasured(observations, file, "llms") or Earned(0, f"No usable {file} was found.")

    def findings(self, judgement: Judgement) -> Iterator[Finding]:
        observations = judgement.observations
        probe = observations.exchange("llms")
        if probe.unmeasured and probe.challenge is None:
            return
        file = {"file": file_name(observations, "llms")}
        why = unseen(observations, "llms")
        if why and not observations.files.llms:
            yield Finding("file-unseen", file | {"why": why})
            return
        notes = llms_notes(observations)
        for note in notes:
            yield Finding("llms-note", {"note": sentence(note)})
        if FILE_PATHS["llms"] in observations.files.unwritten:
            yield Finding("llms-unwritten", file | {"words": PLACEHOLDER})
        if closed(observations, "llms"):
            yield Finding("llms-closed", closed(observations, "llms"))
        elif observations.files.llms:
            yield Finding("llms", file)
        elif not notes:
            yield Finding("llms-none", file)

    def fixed(self, observations: Observations) -> Observations:
        return opened(replace(observations, files=replace(observations.files, llms=True)), "llms")

    def advise(self, site: Site) -> Advice:
        shut = opening(site, "llms")
        if shut is not None:
            return shut
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

The pages below are the best ones to start from.

## Start here

- [Home]({site.origin}/): {PLACEHOLDER} by what a visitor can do there, and add the pages an agent needs"""
        named = _SITEMAP.search(site.observations.robots.text)
        if named is not None:
            text += f"\n\n## Optional\n\n- [Sitemap]({named[1]}): every public page"
        place = f"{site.origin}/llms.txt, as text/plain"
        return Advice(body, text, lambda: (Piece("llms.txt", place, text),))


CHECK = LlmsTxt()

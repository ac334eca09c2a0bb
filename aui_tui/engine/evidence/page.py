"""Findings on the homepage and in the files made for agents."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from aui_tui.engine.evidence.finding import Finding
from aui_tui.engine.judge import Judgement
from aui_tui.engine.wording import clause, counted, joined, sentence
from aui_tui.records.observations import SERVED, Observations, PageFacts


def page(observations: Observations, judgement: Judgement) -> Iterator[Finding]:
    """Yield what an agent finds on the homepage that the browser got."""
    facts = observations.page
    if judgement.browser != SERVED:
        yield Finding("page-unseen")
        return
    if facts.problem:
        yield Finding("page-problem", {"problem": clause(facts.problem)})
        return
    if observations.browser.cut:
        yield Finding("page-cut")
    readable = counted(facts.readable, "readable character")
    if facts.noscript_shell:
        yield Finding("shell", {"readable": readable, "scripts": counted(facts.scripts, "script")})
    else:
        yield Finding("readable", {"readable": readable})
    yield from _structured(facts)
    yield from _landmarks(facts)


def _structured(facts: PageFacts) -> Iterator[Finding]:
    count = counted(facts.jsonld, "JSON-LD block")
    if not facts.jsonld:
        yield Finding("jsonld-none")
        return
    if facts.jsonld_broken:
        yield Finding("jsonld-broken", {"broken": str(facts.jsonld_broken), "count": count})
    if facts.jsonld_broken < facts.jsonld:
        yield Finding("jsonld", {"count": count})


def _landmarks(facts: PageFacts) -> Iterator[Finding]:
    seen = facts.semantic
    missing = joined(missing_landmarks(facts))
    if missing:
        yield Finding("landmarks-missing", {"missing": missing})
    if facts.forms_unlabelled:
        yield Finding(
            "forms-unlabelled",
            {
                "unlabelled": str(facts.forms_unlabelled),
                "count": counted(seen.forms, "form"),
                "have": "has" if facts.forms_unlabelled == 1 else "have",
            },
        )
    elif not missing:
        forms = (
            f"labels on {'its form' if seen.forms == 1 else f'all {seen.forms} forms'}" if seen.forms else "no forms"
        )
        yield Finding("landmarks", {"aria": counted(seen.aria, "aria label"), "forms": forms})


def missing_landmarks(facts: PageFacts) -> list[str]:
    """Return the landmarks and labels that the homepage lacks, in words."""
    seen = facts.semantic
    wanted = {"a main landmark": seen.main, "a nav landmark": seen.nav, "any aria-label": seen.aria}
    return [name for name, count in wanted.items() if not count]


def agent_files(observations: Observations) -> Iterator[Finding]:
    """Yield which files for agents are there, and why one was not counted."""
    facts = observations.files
    for note in facts.notes:
        if note.strip():
            yield Finding("file-note", {"note": sentence(note)})
    if facts.llms:
        yield Finding("llms")
    elif not any("llms" in note for note in facts.notes):
        yield Finding("llms-none")
    if facts.ucp:
        yield Finding("ucp")
    if facts.mcp:
        yield Finding("mcp", {"path": urlsplit(observations.exchange("mcp").url).path or "/.well-known/mcp.json"})
    if facts.ucp or facts.mcp:
        return
    yield Finding("plugin-only" if facts.ai_plugin else "protocols-none")

"""Landmarks and form labels: how an agent that reads the accessibility tree finds its way."""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from aui_tui.checks.check import Advice, Earned, PageCheck, Piece, sentence_list
from aui_tui.checks.judge import Judgement
from aui_tui.checks.site import Site
from aui_tui.model.card import Finding
from aui_tui.model.observations import Observations, PageFacts
from aui_tui.text import count

PARTS: Final = {
    "v0.1": {"main": 2, "nav": 1, "aria": 1, "forms": 2},
    "v0.2": {"main": 1, "nav": 1, "aria": 1, "forms": 1},
}
"""Points of each part. ``forms`` earns its points when the page has no form, or when each form is labelled."""
CONTENT_MARK: Final = "<!-- The content of the page goes here. -->"
SENTENCES: Final = sentence_list(
    """
    warn landmarks-missing: No <<missing>> / Landmarks and labels are missing
        The homepage has no <<missing>>. An agent that reads the accessibility tree finds its way by these.
    warn forms-unlabelled: Form controls without a label
        <<number>> of <<count>> on the homepage <<has|have>> a control without a label, so an agent must guess what
        belongs there.
    good landmarks: main and nav landmarks
        The homepage has main and nav landmarks, <<aria>> and <<forms>>.
    """
)


def _missing(facts: PageFacts) -> str:
    """Return the landmarks and labels that the homepage lacks: ``main landmark or aria-label``, empty for none."""
    semantic = facts.semantic
    counts = {"main landmark": semantic.main, "nav landmark": semantic.nav, "aria-label": semantic.aria}
    *others, last = [name for name, number in counts.items() if not number] or [""]
    return f"{', '.join(others)} or {last}" if others else last


def _name(page: PageFacts) -> list[str]:
    """Return lines of HTML: a name for the nav that the page has, where no element has one."""
    if page.semantic.aria or not page.semantic.nav:
        return []
    return ["<!-- Give the nav that the page has a name, as here: -->", '<nav aria-label="Main">']


def _around(page: PageFacts) -> tuple[list[str], list[str]]:
    """Return lines of HTML: the elements to add before the content, and after it."""
    before = [] if page.semantic.nav else ['<nav aria-label="Main">', '  <a href="/">Home</a>', "</nav>"]
    return (before, []) if page.semantic.main else ([*before, '<main id="content">'], ["</main>"])


def _snippet(page: PageFacts, site_name: str) -> list[str]:
    """Return lines of HTML: all that the page lacks, around CONTENT_MARK."""
    before, after = _around(page)
    return [
        *_name(page),
        *before,
        *([CONTENT_MARK] if before or after else ()),
        *_example_form(page, site_name),
        *after,
    ]


def _example_form(page: PageFacts, site_name: str) -> list[str]:
    """Return lines of HTML: an example of a form whose control has a label, where the page has one without."""
    if not page.forms_unlabelled:
        return []
    return [
        "<!-- Give each control of your forms a label, as here: -->",
        '<form action="/search" role="search">',
        f'  <label for="q">Search {site_name}</label>',
        '  <input id="q" name="q" type="search">',
        '  <button type="submit">Search</button>',
        "</form>",
    ]


def _pieces(page: PageFacts, site_name: str) -> tuple[Piece, ...]:
    """Return the snippet as files: start of the body, name of the nav, example form, end of the body."""
    before, after = _around(page)
    form = _example_form(page, site_name)
    pieces = [
        Piece("homepage/body-start.html", "right after <body> on the homepage", "\n".join(before)),
        Piece("homepage/nav.html", "by hand: the start tag of the nav that the homepage has", "\n".join(_name(page))),
        Piece("homepage/form.html", "by hand: a pattern for the forms whose controls have no label", "\n".join(form)),
        Piece("homepage/body-end.html", "right before </body> on the homepage", "\n".join(after)),
    ]
    return tuple(piece for piece in pieces if piece.text)


class LandmarksAndLabels(PageCheck):
    fix = "landmarks"
    label = "landmarks"
    puts = "Give the page these elements"
    earns = "a main and a nav landmark, aria labels, and forms whose controls all have labels"
    lacking = "landmarks or labels missing"
    title = "Mark up landmarks and label forms"
    takes = "a day"
    proof = "View the source of {origin}/ and look for <main>, <nav> and a label for each control."
    points = {method: sum(parts.values()) for method, parts in PARTS.items()}
    read_on = "https://www.w3.org/TR/html-aam-1.0/"
    language = "html"
    sentences = SENTENCES
    of_whole_page = True

    def measure(self, judgement: Judgement, method: str) -> Earned:
        page, full = judgement.observations.page, PARTS[method]
        semantic = page.semantic
        labelled = semantic.forms == 0 or page.forms_unlabelled == 0
        earned = {"main": semantic.main > 0, "nav": semantic.nav > 0, "aria": semantic.aria > 0, "forms": labelled}
        points = {part: full[part] if has_part else 0 for part, has_part in earned.items()}
        forms = (
            f"{semantic.forms - page.forms_unlabelled} of {count(semantic.forms, 'form')} labelled"
            if semantic.forms
            else "no form"
        )
        facts = {
            "main": f"{semantic.main} main",
            "nav": f"{semantic.nav} nav",
            "aria": count(semantic.aria, "aria label"),
            "forms": forms,
        }
        parts = ", ".join(f"{fact} ({points[part]} of {full[part]})" for part, fact in facts.items())
        return Earned(sum(points.values()), f"The homepage: {parts}.")

    def on_page(self, page: PageFacts, *, whole: bool) -> Iterator[Finding]:
        semantic = page.semantic
        missing = _missing(page)
        if missing and whole:
            yield Finding("landmarks-missing", {"missing": missing})
        if page.forms_unlabelled and whole:  # a label may come later
            facts = {"number": str(page.forms_unlabelled), "count": count(semantic.forms, "form")}
            yield Finding("forms-unlabelled", facts)
        elif whole and not (missing or page.forms_unlabelled):
            all_forms = "its form" if semantic.forms == 1 else f"all {semantic.forms} forms"
            forms = f"labels on {all_forms}" if semantic.forms else "no forms"
            yield Finding("landmarks", {"aria": count(semantic.aria, "aria label"), "forms": forms})

    def fixed(self, observations: Observations) -> Observations:
        page = observations.page
        semantic = replace(
            page.semantic,
            main=max(1, page.semantic.main),
            nav=max(1, page.semantic.nav),
            aria=max(1, page.semantic.aria),
        )
        return replace(observations, page=replace(page, semantic=semantic, forms_unlabelled=0))

    def advise(self, site: Site) -> Advice:
        page = site.observations.page
        missing = _missing(page)
        forms = count(page.forms_unlabelled, "form has", "forms have")
        parts = [f"The homepage has no {missing}."] if missing else []
        parts += [f"{forms} a control without a label."] if page.forms_unlabelled else []
        parts += [
            "Agents that read the accessibility tree find their way by landmarks and operate forms by their labels."
            " Give what the page already shows these elements, its header and footer too; a second copy is not needed."
        ]
        site_name = html.escape(site.title)
        return Advice(" ".join(parts), "\n".join(_snippet(page, site_name)), lambda: _pieces(page, site_name))


CHECK = LandmarksAndLabels()

"""JSON-LD: the site's facts in a form that needs no guessing from the layout."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from aui_tui.checks.check import Advice, Earned, PageCheck, Piece, sentence_list
from aui_tui.checks.judge import Judgement
from aui_tui.checks.site import Site, script_json
from aui_tui.model.card import Finding
from aui_tui.model.observations import Observations, PageFacts
from aui_tui.model.open_agents import share
from aui_tui.text import count, joined

TYPES = {
    "Travel": "TravelAgency",
    "Grocery & food": "GroceryStore",
    "Retail": "OnlineStore",
    "Real estate": "RealEstateAgent",
}
"""The schema.org type of the site's operator, by category; an Organization otherwise."""
SENTENCES: Final = sentence_list(
    """
    warn jsonld-broken: JSON-LD cannot be parsed
        <<broken>> of <<count>> on the homepage cannot be parsed, so an agent gets nothing from what they
        say<<others>>.
    warn jsonld-untyped: JSON-LD names no type
        <<untyped>> of <<count>> on the homepage <<says|say>> nothing of what it is (no @type), so <<it counts|they
        count>> for nothing.
    warn jsonld-none: No JSON-LD
        The homepage has no JSON-LD, from which search engines and shopping surfaces take names, prices and dates.
        <<drop>> drop it, so these must stand in the text too.
    good other-markup: Structured data in the HTML
        The homepage has <<items>> (not scored): agents that read JSON-LD alone do not see that.
    good jsonld: JSON-LD
        The homepage has <<count>>.
    """
)


def _typed(page: PageFacts) -> int:
    """Return how many JSON-LD blocks say of something what it is; of an older scan, how many can be read."""
    return page.jsonld - page.jsonld_broken if page.jsonld_typed is None else page.jsonld_typed


def _others(page: PageFacts) -> tuple[tuple[str, int], ...]:
    return ("microdata", page.microdata), ("RDFa", page.rdfa)


class JsonLd(PageCheck):
    fix = "jsonld"
    label = "JSON-LD"
    puts = "Put this block into the <head> of the page"
    earns = "at least one JSON-LD block on the homepage that can be read and names a type"
    lacking = "no JSON-LD"
    title = "Describe the site in JSON-LD"
    takes = "an hour"
    proof = "https://validator.schema.org reads the block: paste it there, or name {origin}/ where the web reaches it."
    points = {"v0.1": 5, "v0.2": 3}
    read_on = "https://schema.org/docs/gs.html"
    language = "html"
    sentences = SENTENCES
    names_site = True

    def measure(self, judgement: Judgement, method: str) -> Earned:
        page = judgement.observations.page
        typed = _typed(page)
        blocks = count(page.jsonld, "JSON-LD block") if page.jsonld else "no JSON-LD"
        which = (
            ""
            if typed == page.jsonld
            else f", of which {typed} can be read and {'names' if typed == 1 else 'name'} a type"
        )
        return Earned(self.points[method] if typed else 0, f"The homepage has {blocks}{which}.")

    def on_page(self, page: PageFacts, *, whole: bool) -> Iterator[Finding]:
        blocks, typed = count(page.jsonld, "JSON-LD block"), _typed(page)
        items = [count(number, f"item of {name}", f"items of {name}") for name, number in _others(page) if number]
        if items and not typed:
            yield Finding("other-markup", {"items": joined(items)})
        untyped = page.jsonld - page.jsonld_broken - typed
        if untyped and whole:
            yield Finding("jsonld-untyped", {"untyped": str(untyped), "number": str(untyped), "count": blocks})
        if whole and not page.jsonld:
            yield Finding("jsonld-none", {"drop": share(lambda tool: "jsonld" not in tool.keeps)})
        if page.jsonld_broken and whole:  # the end of what was read may cut one
            others = ", and parsers that stop at the first fault, such as extruct, get nothing of the others"
            facts = {"broken": str(page.jsonld_broken), "others": others if typed else ""}
            yield Finding("jsonld-broken", facts | {"count": blocks})
        if typed:
            yield Finding("jsonld", {"count": count(typed, "JSON-LD block")})

    def fixed(self, observations: Observations) -> Observations:
        page = observations.page
        typed = max(1, _typed(page))
        blocks = max(page.jsonld, page.jsonld_broken + typed)
        return replace(observations, page=replace(page, jsonld=blocks, jsonld_typed=typed))

    def advise(self, site: Site) -> Advice:
        url = f"{site.origin}/"
        owner = {
            "@type": TYPES.get(site.category, "Organization"),
            "@id": f"{url}#owner",
            "name": site.title,
            "url": url,
        }
        page = {
            "@type": "WebSite",
            "@id": f"{url}#site",
            "name": site.title,
            "url": url,
            "description": site.about,
            "publisher": {"@id": f"{url}#owner"},
        }
        graph = script_json({"@context": "https://schema.org", "@graph": [page, owner]})
        body = (
            f"The homepage of {site.observations.host} has no JSON-LD, from which search engines and shopping surfaces"
            " take name, kind and address of the site. Put this block into the head of the page, and give product,"
            " event or article pages a block of their own type. What it says must stand in the text too."
        )
        code = f'<script type="application/ld+json">\n{graph}\n</script>'
        place = "right before </head> on the homepage"
        return Advice(body, code, lambda: (Piece("homepage/head.html", place, code),))


CHECK = JsonLd()

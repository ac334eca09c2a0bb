"""The line above the keys: what the thing under the cursor is called and means, in one sentence."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from aui_tui.records import agents
from aui_tui.tui.draw import Line, cut, line
from aui_tui.tui.state import CardState

TERMS: Final = MappingProxyType(
    {
        "in": "The site serves the page to this name, or robots.txt says yes and nobody asked.",
        "part": "The page is served, but robots.txt closes some of the other pages to this name.",
        "refused": "An error came back for this name, and the page for a browser.",
        "challenged": "A test for humans came back instead of the page.",
        "told no": "robots.txt tells this name to stay out.",
        "unclear": "It was asked, and no answer came that proves anything.",
        "not tested": "It drives a browser of its own: no request of ours can stand for it, only a task run can.",
        "front door": "A file that tells agents which services they may call: UCP for shops, MCP for tools.",
        "wba": "Web Bot Auth: proof of who asks, by signature.",
        "Content-Signal": "A line of robots.txt on what the content may be used for.",
        "Works": "What an assistant can get done here, half of the score; only a task run measures it.",
        "llms.txt": "A short guide to the site for language models.",
        "JSON-LD": "Facts about the page, written for machines.",
        "landmarks": "Named parts of a page, such as main and nav, by which software finds its way.",
        "served by": "The CDN or server that answered.",
        "provisional": "A score without tasks: half of it is unmeasured.",
        "readable": "Whether the text of the page is there before any script has run.",
        "robots.txt": "The file in which a site says which pages which programs may fetch (RFC 9309).",
        "evidence": "What was found, worst first; d shows what changed since the scan before.",
        "log": "Every request of the scan; enter shows what was sent and what came back.",
        "tasks": "A browser that an agent drives tries to read, follow, search, contact, fill in and offer.",
        "visits": "The site's own access log says what the real agents got.",
        "overview": "Every figure opens the list of its hosts.",
        "stance": "Open: agents get in. Selective: some do. Walled: they are shut out.",
        "scores": "Hosts per ten points of 100, and per grade; half of a score needs a run of the tasks.",
        "lacking": "Checks that most hosts fail; each has a fix that can be copied.",
        "movers": "Hosts whose score changed most since the scan before.",
        "disagree": "robots.txt says yes and the site says no, or the other way round.",
        "ledger": "How the score came about, point by point.",
    }
)
"""One sentence per term."""
FIX_TERMS: Final = MappingProxyType(
    {
        "wba": "wba",
        "front-door": "front door",
        "llms": "llms.txt",
        "jsonld": "JSON-LD",
        "landmarks": "landmarks",
        "ssr": "readable",
        "signal": "Content-Signal",
        "robots": "robots.txt",
    }
)
PANE_TERMS: Final = ("", "provisional", "in", "evidence", "front door", "log", "tasks", "visits")


def term(name: str, size: int, sentence: str = "") -> Line:
    """Return a term in bold and its sentence, cut to ``size`` cells."""
    return cut(line(" ", (name, "strong"), "  ", sentence or TERMS.get(name, "")), size)


def card_foot(state: CardState, action: str, size: int) -> Line:
    """Return the sentence on what is under the cursor of the card; ``action`` is that of the chosen line."""
    if state.dossier is None:
        return cut(line(" ", state.problem), size)
    if state.pane == 4 and state.fix is not None:
        return term(FIX_TERMS.get(state.fix.k, state.fix.k), size)
    if state.pane == 1 and state.ledger:
        return term("ledger", size)
    key = action.partition("'")[2].partition("'")[0]
    word = _word(state, key)
    return term(word or PANE_TERMS[state.pane], size)


def _word(state: CardState, key: str) -> str:
    """Return the verdict on the line with the key ``key`` of pane 1 or 2, empty elsewhere."""
    dossier = state.dossier
    if dossier is None or not key:
        return ""
    if state.pane == 1:
        found = agents.outcomes(dossier.card, dossier.observations)
        return next((one.verdict for one in found if key in (one.probe, *one.keys)), "")
    if state.pane == 2:
        rows = (
            *agents.agent_rows(dossier.card, dossier.observations),
            *agents.crawler_rows(dossier.card, dossier.observations),
        )
        return next((row.verdict for row in rows if row.key == key), "")
    return ""

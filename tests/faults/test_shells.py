"""Pages with little to read without scripts, and what a page says of itself, through the whole scan."""

from __future__ import annotations

import json
from typing import Final

import pytest

from aui_tui.checks.scoring import grade_card
from aui_tui.model.card import ReportCard
from aui_tui.model.observations import BROWSER, Observations
from aui_tui.scan.parser_process import ParserProcess
from tests.faults.behaviours import sends
from tests.faults.lab import scan
from tests.faults.site import AGENTS, HOMEPAGES, Site, answer

GTAG: Final = '<script async src="https://www.googletagmanager.com/gtag/js?id=G-1"></script><script>gtag("js")</script>'
APP: Final = '<script type="module" src="/assets/index-4f3a.js"></script>'
WORDS: Final = "Lamps of glass and brass for a quiet evening at home, made by hand. " * 8
BANNER: Final = f'<div id="cookie-banner" class="consent"><p>{"We value your privacy and use cookies. " * 9}</p></div>'
LEGAL: Final = '<footer><a href="/imprint">Imprint</a> <a href="/privacy">Privacy</a></footer>'


async def seen(parser: ParserProcess, page: str, agents: bytes | None = None, extra: bytes = b"") -> Observations:
    """Scan a site with ``page`` as its homepage; ``agents``: the whole answer that agents get instead."""
    html = sends(answer(page.encode(), content_type="text/html; charset=utf-8", extra=extra))
    faults = dict.fromkeys(HOMEPAGES, html)
    if agents is not None:
        faults |= dict.fromkeys(AGENTS, sends(agents))
    async with Site(faults=faults) as site:
        return await scan(site, parser)


def body(markup: str, head: str = "") -> str:
    return f"<!doctype html><html lang=en><head><title>Lamps</title>{head}</head><body>{markup}</body></html>"


def points(card: ReportCard) -> dict[str, int | None]:
    return {entry.component: entry.earned if entry.measured else None for entry in card.ledger.entries}


@pytest.mark.parametrize(
    ("markup", "shell"),
    [
        (f"<iframe src=/shop></iframe>{GTAG}", False),
        (f"<video src=/film.mp4></video>{GTAG}", False),
        (f"<picture><img src=/a.jpg></picture><picture><img src=/b.jpg></picture>{GTAG}", False),
        (f"<iframe src=/chat></iframe><div id=root></div>{APP}", True),
        (f"<div id=root></div>{LEGAL}{APP}", True),
        (f"<div id=app></div>{BANNER}{APP}", True),
        (
            f'<header><a href="/"><img src=/logo.svg alt="Lamps"></a><h1>Lamps</h1></header><div id=app></div>{APP}',
            True,
        ),
        (f"<div id=root><p>Loading…</p></div>{LEGAL}{BANNER}{APP}", True),
        (f"<app-root></app-root><noscript>Please enable scripts.</noscript>{APP}", True),
        (f"<div id=root><h1>Lamps</h1><p>{WORDS}</p></div>{APP}", False),
        (f"<div id=root></div><main><h1>Lamps</h1><p>{WORDS}</p></main>{APP}", False),
        (f"<form><label>Name <input name=n></label><button>Go</button></form><div id=app></div>{APP}", False),
        (f'<div id=root></div><template id="B:0"></template><div hidden id="S:0"><p>{WORDS}</p></div>{APP}', False),
        (f"<p>We are closed until spring.</p>{GTAG}", False),
    ],
)
async def test_an_empty_root_decides_and_what_is_no_text_does_not(
    markup: str, shell: bool, parser: ParserProcess
) -> None:
    observed = await seen(parser, body(markup))
    card = grade_card(observed)
    assert card.noscript_shell is shell
    assert any("Without scripts the homepage is empty" in line.text for line in card.evidence) is shell
    assert points(card)["ssr"] == 0 if shell else points(card)["ssr"] != 0


async def test_what_react_streams_is_shown(parser: ParserProcess) -> None:
    streamed = (
        '<!--$?--><template id="B:0"></template><p>Loading…</p><!--/$-->'
        f'<div hidden id="S:0"><nav><a href=/a>All lamps</a></nav><main><h1>Lamps</h1><p>{WORDS}</p></main></div>'
        '<script>$RC("B:0","S:0")</script>'
    )
    card = grade_card(await seen(parser, body(streamed)))
    assert (card.semantic.main, card.semantic.nav) == (1, 1)
    other = grade_card(await seen(parser, body(streamed.replace('"B:0"', '"X:0"'))))
    assert other.semantic.main == 0, "without its boundary it stays hidden"


@pytest.mark.parametrize("kind", ["text/markdown", "text/plain"])
async def test_a_text_for_agents_is_judged_where_the_browser_gets_a_shell(kind: str, parser: ParserProcess) -> None:
    text = f"# Lamps\n\n{WORDS}\n".encode()
    observed = await seen(parser, body(f"<div id=root></div>{APP}"), answer(text, content_type=kind))
    card = grade_card(observed)
    assert observed.page.seen_by == AGENTS[0]
    assert points(card)["ssr"] == 5
    assert points(card)["landmarks"] is None
    assert any(line.text.startswith("Agents get a text of") for line in card.evidence)
    assert not any("empty" in line.text for line in card.evidence)


def jsonld(*blocks: str) -> str:
    return "".join(f'<script type="application/ld+json">{block}</script>' for block in blocks)


TYPED: Final = json.dumps({"@context": "https://schema.org", "@graph": [{"@type": "Store", "name": "Lamps"}]})


@pytest.mark.parametrize(
    ("blocks", "earned"),
    [
        (("{}",), 0),
        (("[]",), 0),
        (('{"@context": "https://schema.org", "name": "Lamps"}',), 0),
        (("{broken",), 0),
        ((TYPED,), 3),
        (("{broken", TYPED), 3),
        (('{"@context": "https://schema.org", "type": "Store"}',), 3),
    ],
)
async def test_json_ld_counts_when_it_names_a_type(blocks: tuple[str, ...], earned: int, parser: ParserProcess) -> None:
    card = grade_card(await seen(parser, body(f"<main><p>{WORDS}</p></main>", jsonld(*blocks))))
    assert points(card)["jsonld"] == earned
    assert card.jsonld == len(blocks), "the record counts blocks"
    assert ("jsonld" in {fix.k for fix in card.recommendations}) is (earned == 0)


async def test_what_the_page_says_of_itself_is_told_and_costs_nothing(parser: ParserProcess) -> None:
    plain = body(f"<main><p>{WORDS}</p></main>")
    marked = body(
        f'<main itemscope itemtype="https://schema.org/Store"><p typeof="Product">{WORDS}</p></main>',
        '<meta name="robots" content="noindex, nosnippet"><meta name="GPTBot" content="noai">'
        '<meta name="claude-user" content="nosnippet"><meta name="msapplication-config" content="none">',
    )
    extra = b"X-Robots-Tag: noai, otherbot: nosnippet\r\nContent-Signal: ai-input=no\r\n"
    card, other = grade_card(await seen(parser, marked, extra=extra)), grade_card(await seen(parser, plain))
    assert (card.score, card.stance) == (other.score, other.stance)
    text = " ".join(line.text for line in card.evidence)
    for words in (
        "1 item of microdata and 1 item of RDFa",
        "3 meta elements",
        "robots: noindex, nosnippet, gptbot: noai and claude-user: nosnippet",
        "X-Robots-Tag says noai",
        "X-Robots-Tag says otherbot: nosnippet",
        "field Content-Signal, “ai-input=no”",
    ):
        assert words in text, words


async def test_a_field_that_agents_alone_get_is_said_to_be_theirs(parser: ParserProcess) -> None:
    page = body(f"<main><p>{WORDS}</p></main>")
    agents = answer(page.encode(), content_type="text/html; charset=utf-8", extra=b"X-Robots-Tag: noai\r\n")
    card = grade_card(await seen(parser, page, agents))
    assert [line.text for line in card.evidence if "X-Robots-Tag in the answer to ChatGPT says noai" in line.text]


@pytest.mark.parametrize(
    ("form", "unlabelled"),
    [
        ("<label for=a>One</label><input id=a><input id=a>", 1),
        ("<label for=a hidden>One</label><input id=a>", 1),
        ("<label for=a style='display:none'>One</label><input id=a>", 1),
        ("<div contenteditable></div>", 1),
        ("<div contenteditable=true aria-label=Message></div>", 0),
        ("<div contenteditable=false></div>", 0),
        ("<label for=a>One</label><input id=a>", 0),
        ("<span id=n hidden>One</span><input aria-labelledby=n>", 0),
    ],
)
async def test_controls_have_names_as_html_aam_has_them(form: str, unlabelled: int, parser: ParserProcess) -> None:
    observed = await seen(parser, body(f"<main><p>{WORDS}</p><form>{form}</form></main>"))
    assert observed.page.forms_unlabelled == unlabelled


async def test_a_page_sent_under_a_wrong_type_is_called_that(parser: ParserProcess) -> None:
    async def problem(text: bytes, kind: str) -> str:
        async with Site(faults=dict.fromkeys(HOMEPAGES, sends(answer(text, content_type=kind)))) as site:
            return (await scan(site, parser)).page.problem

    assert await problem(f"# Lamps\n\n{WORDS}".encode(), "text/html") == "it is Markdown sent as text/html"
    assert "it is HTML sent as text/plain" in await problem(body(f"<p>{WORDS}</p>").encode(), "text/plain")
    assert BROWSER in HOMEPAGES

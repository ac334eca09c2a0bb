"""Report cards for tests, each graded from a scan: three fixed ones, their index, and strategies for random ones."""

from __future__ import annotations

import json
from datetime import datetime

import msgspec
from hypothesis import strategies as st
from msgspec.structs import replace

from aui_tui.model.card import Index, ReportCard
from aui_tui.model.codec import Keys, keyed, lettered, summary_from
from aui_tui.model.listing import Row
from aui_tui.model.methods import METHODS
from aui_tui.model.observations import BROWSER, Exchange, FileFacts, Landmarks, RobotsFacts
from aui_tui.model.summary import SiteSummary
from aui_tui.model.vocabulary import CATEGORIES
from aui_tui.report.formats import Listing
from aui_tui.text import clean
from tests.scan.situations import CLOUDFLARE, RICH_PAGE, dead, graded, probe, rules, silent, site
from tests.strategies import observations


def listing_of(index: Index, title: str = "") -> Listing:
    """Return a whole index as what writers take, each host ranked by its place."""
    return Listing(
        scanned_at=index.scanned_at,
        ranked=(Row(summary=summary, rank=place) for place, summary in enumerate(index.ranked, 1)),
        unreachable=(Row(summary=summary) for summary in index.unreachable),
        title=title,
    )


def encode_index(index: Index, keys: Keys = "names") -> bytes:
    """Return a whole index as JSON."""
    lists = ({"ranked": index.ranked, "unreachable": index.unreachable}).items()
    return msgspec.json.encode(replace(index, **{name: [keyed(row, keys) for row in rows] for name, rows in lists}))


def decode_index(data: bytes) -> Index:
    """Return the whole index in ``data``, its rows read as the package reads them."""
    found = json.loads(data)
    ranked, unreachable = (tuple(summary_from(row) for row in found[name]) for name in ("ranked", "unreachable"))
    return Index(scanned_at=found["scanned_at"], ranked=ranked, unreachable=unreachable)


def published(card: ReportCard) -> ReportCard:
    """Return ``card`` as others read it, without its ledger."""
    return msgspec.structs.replace(card, ledger=msgspec.UNSET)


def _named(probed: str) -> Exchange:
    return probe(probed, title="=Shop | Home")


RICH_OPEN, OPEN_SITE = graded(
    "shop.example",
    site(
        _named(BROWSER),
        _named,
        robots=rules(
            {"Claude-User": ("allowed", 7, "Allow: /"), "Amzn-User": ("partial", 9, "Disallow: /search")},
            crawlers=("GPTBot", "CCBot"),
            signal="search=yes, ai-input=yes",
            signal_line=12,
        ),
        page=replace(RICH_PAGE, jsonld=11, forms_unlabelled=1, semantic=Landmarks(main=1, nav=2, aria=40, forms=2)),
        files=FileFacts(llms=True, ai_plugin=True),
        edge="cdn-x server-y",
    ),
    "2026-11-20T10:00:00.250Z",
    method="v0.1",
    name="Shop, example & sons",
    category="Retail",
    seed=True,
)
"""A v0.1 card, Open, 87 points, two fixes left; the title begins with an equals sign."""

WALLED, WALLED_SITE = graded(
    "tickets.example",
    site(
        probe(BROWSER, title='Tickets <b>& "more"</b> [tonight](now) | 20:30'),
        lambda slot: (
            silent(slot) if slot == "agent_03" else probe(slot, 403, challenge=CLOUDFLARE, title="Just a moment...")
        ),
        robots=RobotsFacts(kind="none"),
        robots_status=404,
        page=RICH_PAGE,
        edge="wall-z",
    ),
    "2026-11-20T09:58:01.007Z",
    name="Tickets.example",
    category="Tickets",
)
"""A v0.2 card, Walled, 42 points, one agent inconclusive; the title is full of markup."""

SAMPLES = (RICH_OPEN, WALLED)

DEAD, DEAD_SITE = graded("gone.example", dead(), WALLED.scanned_at)
"""A v0.2 card of a host that gave no answer at all."""

INDEX = Index(
    scanned_at=RICH_OPEN.scanned_at,
    ranked=(RICH_OPEN.summary(), WALLED.summary()),
    unreachable=(DEAD.summary(),),
)


def texts(limit: int = 60) -> st.SearchStrategy[str]:
    """Return cleaned text of at most ``limit`` characters, markup, quotes and wide characters included."""
    return st.text(max_size=limit).map(lambda text: clean(text, limit))


def lines(limit: int = 60) -> st.SearchStrategy[str]:
    """Return cleaned text that is not empty."""
    return texts(limit).map(lambda text: text or "x")


def hosts() -> st.SearchStrategy[str]:
    """Return canonical host keys: an A-label, at times with scheme and port."""
    return st.from_regex(r"(https?://)?[a-z0-9]{1,12}(-[a-z0-9]{1,5})?\.example(:[1-9][0-9]{1,3})?", fullmatch=True)


def instants() -> st.SearchStrategy[str]:
    """Return UTC times with milliseconds."""
    return st.datetimes(min_value=datetime(2000, 1, 1), max_value=datetime(2100, 1, 1)).map(
        lambda when: when.isoformat(timespec="milliseconds") + "Z"
    )


@st.composite
def cards(draw: st.DrawFn, method: str = "") -> ReportCard:
    """Return the card of random observations under ``method``, under either method when it is empty."""
    seen = draw(observations())
    browser, *others = seen.exchanges
    exchanges = (replace(browser, title=draw(texts())), *others)
    card, _ = graded(
        draw(hosts()),
        replace(seen, exchanges=exchanges, edge=draw(texts(30))),
        draw(instants()),
        method=method or draw(st.sampled_from(tuple(METHODS))),
        name=draw(lines()),
        category=draw(st.sampled_from(CATEGORIES)),
        seed=draw(st.booleans()),
        base_url="https://index.example",
    )
    return replace(card, input_host=draw(lines()))


def summaries() -> st.SearchStrategy[SiteSummary]:
    """Return random rows of an index, each with a letter, which the contract demands."""
    return cards().map(lambda card: lettered(card.summary()))


@st.composite
def indexes(draw: st.DrawFn) -> Index:
    """Return a random index of at most six rows."""
    return Index(
        scanned_at=draw(instants()),
        ranked=tuple(draw(st.lists(summaries(), max_size=4))),
        unreachable=tuple(draw(st.lists(summaries(), max_size=2))),
    )

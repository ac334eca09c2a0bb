"""Report cards for tests: two fixed ones, an index of both, and hypothesis strategies for random ones.

Every card follows the contract and the arithmetic of its method: the pillars sum its components, the score follows
from the pillars and the stance, and the recommendations name exactly the points that are missing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any, TypeVar

import msgspec
from hypothesis import strategies as st
from msgspec.structs import replace

from aui_tui.checks import BY_FIX, CHECKS
from aui_tui.checks import points as points_of
from aui_tui.checks.scoring import detail
from aui_tui.checks.scoring import pillars as pillars_of
from aui_tui.model.card import (
    AgentAccess,
    Evidence,
    Index,
    Ledger,
    LedgerEntry,
    Recommendation,
    ReportCard,
    Semantic,
    SiteSummary,
)
from aui_tui.model.codec import Keys, keyed, names_of, summary_from
from aui_tui.model.listing import Row
from aui_tui.model.methods import METHODS, V01, V02, WALLED_CEILING, Method, capped, grade_of
from aui_tui.model.points import Standing, conclusive, percent, stance_of, totals
from aui_tui.model.vocabulary import (
    AGENTS_TOTAL,
    CATEGORIES,
    CRAWLER_POLICIES,
    CRAWLERS_TOTAL,
    FIXES,
    LIVE_TOTAL,
    SEVERITIES,
    STANCES,
    VERDICTS,
)
from aui_tui.report.formats import Listing
from aui_tui.text import clean

V = TypeVar("V")

TITLES = {
    "wba": "Verify agents instead of blocking them",
    "front-door": "Open a front door for agents",
    "llms": "Add an /llms.txt file",
    "jsonld": "Add schema.org JSON-LD",
    "landmarks": "Mark up landmarks and label forms",
    "ssr": "Serve readable content without scripts",
    "signal": "Add a Content-Signal line",
    "robots": "Remove disallow rules for agents",
}


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


def sums(method: Method, earned: dict[str, int], stance: str) -> dict[str, Any]:
    """Return the fields of a card that follow from the points ``earned`` per component; one not named earns all."""
    earned = points_of(method.name) | earned
    possible = sum(p.maximum for p in method.pillars if not p.by_tasks)
    score = (200 * sum(earned.values()) + possible) // (2 * possible)
    score = min(score, WALLED_CEILING) if stance == "Walled" else score
    fields: dict[str, Any] = {
        "method": method.name,
        "score": score,
        "grade": grade_of(score),
        "stance": stance,
        "pillars": pillars_of(earned, method),
        "pillar_max": {p.key: p.maximum for p in method.pillars},
        "recommendations": fixes(method, earned),
        "ledger": _ledger(method, earned, stance, score),
    }
    if method is V02:
        fields["detail"] = detail(earned)
        fields["provisional"] = True
        fields["task_runs"] = ()
    return fields


def with_conclusive(card: ReportCard, agents: int) -> ReportCard:
    """Return ``card`` with a verdict on so many of the live-probed ``agents``."""
    assert card.ledger is not msgspec.UNSET
    return msgspec.structs.replace(card, ledger=msgspec.structs.replace(card.ledger, conclusive=agents))


def _ledger(method: Method, earned: dict[str, int], stance: str, score: int) -> Ledger:
    """Return a ledger whose fixes add up, and lift the ceiling of a walled site where they let agents in."""
    possible = sum(p.maximum for p in method.pillars if not p.by_tasks)

    def reached(more: int, fix: str = "") -> int:
        raw = percent(sum(earned.values()) + more, possible)
        return min(raw, WALLED_CEILING) if stance == "Walled" and fix != "wba" else raw

    entries = tuple(
        LedgerEntry(
            component=check.fix,
            pillar=check.pillar[method.name],
            earned=earned[check.fix],
            possible=(full := check.points[method.name]),
            reason="As the test says.",
            fix=check.fix if earned[check.fix] < full else "",
            after=reached(full - earned[check.fix], check.fix) if earned[check.fix] < full else 0,
        )
        for check in CHECKS
    )
    total, raw = sum(earned.values()), percent(sum(earned.values()), possible)
    return Ledger(
        method=method.name,
        entries=entries,
        earned=total,
        possible=possible,
        raw=raw,
        score=score,
        capped=score < raw,
        grade=grade_of(score),
        best=100,
        conclusive=LIVE_TOTAL,
    )


def fixes(method: Method, earned: dict[str, int]) -> tuple[Recommendation, ...]:
    """Return one recommendation per component with points missing, most points first."""
    gains = {k: check.points[method.name] - earned[check.fix] for k, check in BY_FIX.items()}
    return tuple(
        Recommendation(
            k=k,
            pillar=method.pillar(BY_FIX[k].pillar[method.name]).label,
            pts=gains[k],
            title=TITLES.get(k, BY_FIX[k].title),
            body=f"{TITLES.get(k, BY_FIX[k].title)}: worth {gains[k]} points.",
            code=f"# {k}\nexample",
        )
        for k in sorted((k for k in FIXES if gains[k] > 0), key=lambda k: -gains[k])
    )


def published(card: ReportCard) -> ReportCard:
    """Return ``card`` as others read it, without its ledger."""
    return msgspec.structs.replace(card, ledger=msgspec.UNSET)


def estimate(card: ReportCard, fixes: frozenset[str]) -> Standing:
    """Return where the site of ``card`` would stand with ``fixes`` done, by adding up; for services without more."""
    got, possible = totals(card)
    raw = percent(got + sum(fix.pts for fix in card.recommendations if fix.k in fixes), possible)
    answered, let_in = conclusive(card), "wba" in fixes
    stance = stance_of(
        served=answered if let_in else card.live_served,
        conclusive=answered,
        browser_challenged=card.human_challenged and not let_in,
        only_offers=card.stance != "Walled",
        disallowed=0 if "robots" in fixes else card.agents_disallowed,
    )
    score = capped(raw, stance)
    return Standing(score, grade_of(score), stance)


def by_name(field: str, values: Iterable[V]) -> dict[str, V]:
    """Return ``values`` by the names that the entries of ``field`` have, in their order."""
    return dict(zip(names_of(field), values, strict=True))


RICH_OPEN = ReportCard(
    found=True,
    host="shop.example",
    input_host="https://Shop.example/",
    name="Shop, example & sons",
    category="Retail",
    scanned_at="2026-11-20T10:00:00.250Z",
    vantage="local-node",
    elapsed_ms=1840,
    **sums(
        V01,
        {"wba": 24, "robots": 16, "signal": 10, "ssr": 9, "landmarks": 4, "jsonld": 5, "llms": 5, "front-door": 5},
        "Open",
    ),
    evidence=(
        Evidence("warn", "1 of 2 forms has a control without a label."),
        Evidence("good", "All 4 live-probed agents were served the homepage."),
        Evidence("good", "robots.txt names Claude-User at line 7 and lets it in."),
        Evidence("good", "The homepage carries 11 JSON-LD blocks."),
    ),
    matrix=by_name(
        "matrix", ("untested", "allowed", "allowed", "allowed", "allowed", "partial", "allowed-robots", "untested")
    ),
    files=("llms.txt", "ai-plugin.json"),
    jsonld=11,
    semantic=Semantic(main=1, nav=2, aria=40, forms=2),
    noscript_shell=False,
    content_signal=True,
    wildcard_block=False,
    robots_status=200,
    robots_ua_rules=14,
    agents_disallowed=0,
    agents_partial=1,
    agents_total=AGENTS_TOTAL,
    crawlers_blocked=2,
    crawlers_total=CRAWLERS_TOTAL,
    ua_policy={name: "partial" if name == "Amzn-User" else "unlisted" for name in names_of("ua_policy")},
    crawler_policy=by_name(
        "crawler_policy", ("blocked", "blocked", "partial", "allowed", *("unlisted",) * (CRAWLERS_TOTAL - 4))
    ),
    live_served=4,
    live_total=LIVE_TOTAL,
    agent_access={name: AgentAccess(200, False, "Shop | Home") for name in names_of("agent_access")},
    human_status=200,
    human_title="=Shop | Home",
    human_challenged=False,
    edge="cdn-x server-y",
    probe_dead=False,
    seed=True,
    url="http://127.0.0.1:8321/site/shop.example",
)
"""A v0.1 card, Open, 87 points, two fixes left; the title begins with an equals sign."""

_WALLED = msgspec.structs.replace(
    RICH_OPEN,
    host="tickets.example",
    input_host="tickets.example",
    name="Tickets.example",
    category="Tickets",
    scanned_at="2026-11-20T09:58:01.007Z",
    elapsed_ms=2412,
    **sums(
        V02,
        {"wba": 0, "robots": 9, "signal": 0, "ssr": 5, "landmarks": 4, "jsonld": 3, "llms": 0, "front-door": 0},
        "Walled",
    ),
    evidence=(
        Evidence("critical", "ChatGPT got a challenge page (403); a browser got the homepage."),
        Evidence("critical", "Claude got a challenge page (403); a browser got the homepage."),
        Evidence("warn", "Google agent gave no answer in 12 s: inconclusive."),
        Evidence("warn", "A probe has no agent's signature: a site that verifies agents may refuse it and serve them."),
        Evidence("good", "The homepage is readable without scripts."),
    ),
    matrix=by_name("matrix", ("untested", "walled", "walled", "untested", "walled", "walled", "walled", "untested")),
    files=(),
    jsonld=2,
    semantic=Semantic(main=1, nav=1, aria=6, forms=0),
    content_signal=False,
    robots_status=404,
    robots_ua_rules=0,
    agents_partial=0,
    crawlers_blocked=0,
    ua_policy=dict.fromkeys(names_of("ua_policy"), "unlisted"),
    crawler_policy=dict.fromkeys(names_of("crawler_policy"), "unlisted"),
    live_served=0,
    agent_access=by_name(
        "agent_access",
        (
            AgentAccess(403, True, "Just a moment..."),
            AgentAccess(403, True, "Just a moment..."),
            AgentAccess(0, False, ""),
            AgentAccess(403, True, "Just a moment..."),
        ),
    ),
    human_title='Tickets <b>& "more"</b> [tonight](now) | 20:30',
    edge="wall-z",
    seed=False,
    url="http://127.0.0.1:8321/site/tickets.example",
)
WALLED = with_conclusive(_WALLED, 3)
"""A v0.2 card, Walled, 42 points, one agent inconclusive; the title is full of markup."""

SAMPLES = (RICH_OPEN, WALLED)

_DEAD = msgspec.structs.replace(
    WALLED,
    **sums(V02, dict.fromkeys(points_of("v0.2"), 0), "Walled") | {"recommendations": ()},
    host="gone.example",
    input_host="gone.example",
    name="gone.example",
    category="Uncategorized",
    evidence=(Evidence("critical", "Nothing answered: the name gone.example has no address."),),
    matrix=dict.fromkeys(names_of("matrix"), "untested"),
    jsonld=0,
    semantic=Semantic(main=0, nav=0, aria=0, forms=0),
    robots_status=0,
    agent_access={name: AgentAccess(0, False, "") for name in names_of("agent_access")},
    human_status=0,
    human_title="",
    edge="",
    probe_dead=True,
    url="http://127.0.0.1:8321/site/gone.example",
)
DEAD = with_conclusive(_DEAD, 0)
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


_COUNT = st.integers(0, 5000)
_STATUS = st.sampled_from((0, 200, 202, 301, 402, 403, 404, 429, 500, 503))


def _words(field: str, allowed: tuple[str, ...]) -> st.SearchStrategy[dict[str, str]]:
    return _mapped(field, st.sampled_from(allowed))


def _mapped(field: str, values: st.SearchStrategy[V]) -> st.SearchStrategy[dict[str, V]]:
    names = names_of(field)
    return st.lists(values, min_size=len(names), max_size=len(names)).map(lambda row: by_name(field, row))


@st.composite
def cards(draw: st.DrawFn, method: str = "") -> ReportCard:
    """Return a random card of ``method``, of either method when it is empty."""
    under = METHODS[method or draw(st.sampled_from(tuple(METHODS)))]
    earned = {check.fix: draw(st.integers(0, check.points[under.name])) for check in CHECKS}
    access = draw(_mapped("agent_access", st.builds(AgentAccess, _STATUS, st.booleans(), texts())))
    policies = draw(_words("ua_policy", ("unlisted", "blocked", "partial")))
    crawlers = draw(_words("crawler_policy", CRAWLER_POLICIES))
    evidence = draw(st.lists(st.builds(Evidence, st.sampled_from(SEVERITIES), lines(200)), max_size=6))
    host = draw(hosts())
    return ReportCard(
        found=True,
        host=host,
        input_host=draw(lines()),
        name=draw(lines()),
        category=draw(st.sampled_from(CATEGORIES)),
        scanned_at=draw(instants()),
        vantage=draw(st.sampled_from(("local-node", "cloud-edge"))),
        elapsed_ms=draw(_COUNT),
        **sums(under, earned, draw(st.sampled_from(STANCES))),
        evidence=tuple(sorted(evidence, key=lambda item: SEVERITIES.index(item.t))),
        matrix=draw(_words("matrix", VERDICTS)),
        files=tuple(draw(st.lists(st.sampled_from(("llms.txt", "ai-plugin.json")), unique=True))),
        jsonld=draw(_COUNT),
        semantic=draw(st.builds(Semantic, main=_COUNT, nav=_COUNT, aria=_COUNT, forms=_COUNT)),
        noscript_shell=draw(st.booleans()),
        content_signal=draw(st.booleans()),
        wildcard_block=draw(st.booleans()),
        robots_status=draw(_STATUS),
        robots_ua_rules=draw(_COUNT),
        agents_disallowed=sum(policy == "blocked" for policy in policies.values()),
        agents_partial=sum(policy == "partial" for policy in policies.values()),
        agents_total=AGENTS_TOTAL,
        crawlers_blocked=sum(policy == "blocked" for policy in crawlers.values()),
        crawlers_total=CRAWLERS_TOTAL,
        ua_policy=policies,
        crawler_policy=crawlers,
        live_served=sum(a.status == 200 and not a.challenged for a in access.values()),
        live_total=LIVE_TOTAL,
        agent_access=access,
        human_status=draw(_STATUS),
        human_title=draw(texts()),
        human_challenged=draw(st.booleans()),
        edge=draw(texts(30)),
        probe_dead=False,
        seed=draw(st.booleans()),
        url="https://index.example/site/" + host.rpartition("/")[2],
    )


def summaries() -> st.SearchStrategy[SiteSummary]:
    """Return random rows of an index."""
    return cards().map(ReportCard.summary)


@st.composite
def indexes(draw: st.DrawFn) -> Index:
    """Return a random index of at most six rows."""
    return Index(
        scanned_at=draw(instants()),
        ranked=tuple(draw(st.lists(summaries(), max_size=4))),
        unreachable=tuple(draw(st.lists(summaries(), max_size=2))),
    )

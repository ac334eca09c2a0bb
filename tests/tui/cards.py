"""Report cards made from a number: always the same, of every stance, category and kind."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from aui_tui.model.card import ReportCard
from aui_tui.model.observations import BROWSER, Exchange, FileFacts, Landmarks, Observations
from aui_tui.model.registry import registry
from aui_tui.model.vocabulary import CATEGORIES
from tests.scan.situations import CLOUDFLARE, LIVE, RICH_PAGE, dead, graded, probe, rules, site

NOW = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)
WORDS = ("shop", "fly", "code", "desk", "home", "cart", "play", "book", "farm", "news", "ticket", "stay")
ENDS = ("hub", "base", "nest", "kit", "ly", "port", "yard", "co")


def stamp(number: int, back: int = 0) -> str:
    """Return the time of scan ``number``, ``back`` scans before the newest."""
    when = NOW - timedelta(hours=(2, 9, 27, 80, 290)[number % 5] + 200 * back)
    return when.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def host_name(number: int) -> str:
    """Return the host of card ``number``."""
    return f"{WORDS[number % len(WORDS)]}{ENDS[number % len(ENDS)]}{number}.example"


def make_card(number: int, *, back: int = 0, method: str = "v0.2") -> ReportCard:
    """Return card ``number`` of ``make_scan``."""
    return make_scan(number, back=back, method=method)[0]


def make_scan(number: int, *, back: int = 0, method: str = "v0.2") -> tuple[ReportCard, Observations]:
    """Return scan ``number``; every third is Open, Selective or Walled, every eleventh host is unreachable."""
    away = ((), (LIVE[number % 4],), LIVE)[number % 3]

    def answer(slot: str) -> Exchange:
        return probe(slot, 403, challenge=CLOUDFLARE, title="Just a moment...") if slot in away else probe(slot)

    told = {}
    for place in range(number % 5 if away else 0):
        token = registry().agents[(number + 3 * place) % 19].token
        told[token] = ("blocked", 3, "Disallow: /") if place % 2 else ("partial", 5, "Disallow: /cart")
    rules_of = rules(
        told,
        crawlers=[crawler.token for crawler in registry().crawlers[:9]],
        signal="" if number % 4 else "search=yes, ai-input=yes, ai-train=no",
        signal_line=0 if number % 4 else 12,
    )
    tags = Landmarks(main=1, nav=0 if back else 2, aria=number % 7, forms=1)
    seen = site(
        probe(BROWSER, title=f"Site {number} | Home"),
        answer,
        robots=rules_of,
        page=replace(RICH_PAGE, jsonld=0 if len(away) > 1 else 3, semantic=tags),
        files=FileFacts(llms=not away, ucp=not number % 5),
        edge="" if number % 2 else "cloudflare nginx",
    )
    seen = dead() if number % 11 == 10 else seen
    seen = replace(seen, elapsed_ms=2400 + number % 1000)
    category = CATEGORIES[(number // 3) % len(CATEGORIES)]
    at = stamp(number, back)
    return graded(host_name(number), seen, at, method=method, name=f"Site {number}", category=category)

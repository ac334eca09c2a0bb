"""Report cards made from a number: always the same, of every stance, category and kind."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from aui_tui.checks import BY_FIX
from aui_tui.checks import points as points_of
from aui_tui.model.card import AgentAccess, Evidence, Recommendation, ReportCard, Semantic
from aui_tui.model.codec import names_of
from aui_tui.model.methods import METHODS, grade_of
from aui_tui.model.registry import registry
from aui_tui.model.surfaces import SURFACES
from aui_tui.model.vocabulary import CATEGORIES

NOW = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)
WORDS = ("shop", "fly", "code", "desk", "home", "cart", "play", "book", "farm", "news", "ticket", "stay")
ENDS = ("hub", "base", "nest", "kit", "ly", "port", "yard", "co")
VERDICT_CYCLE = ("allowed", "blocked", "partial", "allowed", "walled", "disallowed", "allowed", "allowed-robots")
FIX_WORDS = {
    "wba": ("Verify agents by signature instead of blocking them", "Signature-Input: sig1=();created=1"),
    "robots": ("Remove disallow rules for agents that act for people", "User-agent: Claude-User\nAllow: /"),
    "signal": ("Add a Content-Signal line", "Content-Signal: search=yes, ai-input=yes, ai-train=no"),
    "ssr": ("Serve readable content without scripts", "<main><h1>Welcome</h1></main>"),
    "landmarks": ("Add main, nav and labelled forms", "<main>\n<nav>"),
    "jsonld": ("Add schema.org JSON-LD", '<script type="application/ld+json">{}</script>'),
    "llms": ("Add an /llms.txt file", "# Site\n> One line for agents.\n## Docs\n- [API](/api): how to order"),
    "front-door": ("Publish a commerce or tool manifest", '{"ucp": {"version": "2026-01-01"}}'),
}
PILLAR_OF = {"wba": "Welcome", "robots": "Welcome", "signal": "Welcome"}


def stamp(number: int, back: int = 0) -> str:
    """Return the time of scan ``number``, ``back`` scans before the newest."""
    when = NOW - timedelta(hours=(2, 9, 27, 80, 290)[number % 5] + 200 * back)
    return when.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def host_name(number: int) -> str:
    """Return the host of card ``number``."""
    return f"{WORDS[number % len(WORDS)]}{ENDS[number % len(ENDS)]}{number}.example"


def make_card(number: int, *, back: int = 0, method: str = "v0.2") -> ReportCard:
    """Return card ``number``; every eleventh host is unreachable."""
    dead = number % 11 == 10
    stance = "Walled" if dead else ("Open", "Selective", "Walled")[number % 3]
    rules, full = METHODS[method], points_of(method)
    lost = {"Open": (), "Selective": ("wba", "llms"), "Walled": ("wba", "robots", "llms", "jsonld")}[stance]
    lost = (*lost, *(("signal",) if number % 4 else ()), *(("front-door",) if number % 5 else ()))
    points = {
        "wba": full["wba"] - 3,
        "robots": full["robots"] - 2,
        "llms": full["llms"],
        "jsonld": full["jsonld"],
        "signal": full["signal"],
        "front-door": full["front-door"],
    }
    pillars: dict[str, int | float | None] = {}
    for pillar in rules.pillars:
        gone = sum(points[k] for k in lost if BY_FIX[k].pillar[method] == pillar.key)
        pillars[pillar.key] = None if pillar.by_tasks else pillar.maximum - gone
    earned = sum(int(v) for v in pillars.values() if v is not None)
    possible = sum(p.maximum for p in rules.pillars if not p.by_tasks)
    score = (200 * earned + possible) // (2 * possible)
    score = max(score - (number % 7) - back * 3, 0)
    if stance == "Walled":
        score = min(score, 59)
    access, policies, verdicts = _access(number, stance, dead)
    evidence = _evidence(number, stance, dead)
    fixes = tuple(
        Recommendation(k, PILLAR_OF.get(k, "Built"), points[k], FIX_WORDS[k][0], FIX_WORDS[k][0] + ".", FIX_WORDS[k][1])
        for k in sorted(lost, key=lambda key: -points[key])
    )
    host = host_name(number)
    card = ReportCard(
        found=True,
        method=method,
        host=host,
        input_host=host,
        name=f"Site {number}",
        category=CATEGORIES[(number // 3) % len(CATEGORIES)],
        scanned_at=stamp(number, back),
        vantage="local-node",
        elapsed_ms=2400 + number % 1000,
        score=0 if dead else score,
        grade="F" if dead else grade_of(score),
        stance=stance,
        pillars=pillars,
        pillar_max={p.key: p.maximum for p in rules.pillars},
        evidence=evidence,
        matrix=verdicts,
        files=() if "llms" in lost else ("llms.txt",),
        jsonld=0 if "jsonld" in lost else 3,
        semantic=Semantic(1, 2, 40, 1),
        noscript_shell=False,
        content_signal="signal" not in lost,
        wildcard_block=False,
        robots_status=0 if dead else 200,
        robots_ua_rules=14,
        agents_disallowed=sum(v == "blocked" for v in policies.values()),
        agents_partial=sum(v == "partial" for v in policies.values()),
        agents_total=19,
        crawlers_blocked=9,
        crawlers_total=15,
        ua_policy=policies,
        crawler_policy={
            name: ("blocked" if i < 9 else "unlisted") for i, name in enumerate(names_of("crawler_policy"))
        },
        live_served=sum(200 <= a.status < 300 and not a.challenged for a in access.values()),
        live_total=4,
        agent_access=access,
        human_status=0 if dead else 200,
        human_title="" if dead else f"Site {number} | Home",
        human_challenged=False,
        edge="" if number % 2 else "cloudflare nginx",
        probe_dead=dead,
        seed=False,
        url=f"https://index.example/site/{host}",
        recommendations=fixes,
    )
    if method == "v0.2":
        import msgspec

        card = msgspec.structs.replace(card, provisional=True, task_runs=(), detail={"robots": 9, "door": 12})
    return card


def _access(number: int, stance: str, dead: bool) -> tuple[dict[str, AgentAccess], dict[str, str], dict[str, str]]:
    status = {"Open": 200, "Selective": 200, "Walled": 403}[stance]
    access = {
        name: AgentAccess(0 if dead else status, stance == "Walled" and not dead, "")
        for name in names_of("agent_access")
    }
    if stance == "Selective":
        refused = list(access)[number % 4]
        access[refused] = AgentAccess(403, challenged=True, title="Just a moment...")
    policies = dict.fromkeys(names_of("ua_policy"), "unlisted")
    if stance != "Open":
        for place in range(number % 5):
            policies[list(policies)[(number + place * 3) % 19]] = "blocked" if place % 2 else "partial"
    verdicts = {}
    for place, surface in enumerate(SURFACES):
        if surface.source == "none" or dead:
            verdicts[surface.slug] = "untested"
        elif stance == "Open":
            verdicts[surface.slug] = "allowed" if surface.source == "live" else "allowed-robots"
        elif stance == "Walled":
            verdicts[surface.slug] = "walled"
        else:
            verdicts[surface.slug] = VERDICT_CYCLE[(number + place) % len(VERDICT_CYCLE)]
    return access, policies, verdicts


def _evidence(number: int, stance: str, dead: bool) -> tuple[Evidence, ...]:
    if dead:
        return (Evidence("critical", "The host name does not resolve."),)
    lines = []
    if stance == "Walled":
        lines.append(
            Evidence("critical", "Every live-probed agent got a challenge page (403) while the browser got the page.")
        )
    if stance == "Selective":
        agent = registry().live[number % 4].label
        lines.append(Evidence("critical", f"{agent} got a challenge page (403) while the browser got the page."))
    if number % 4:
        lines.append(Evidence("warn", "robots.txt has no Content-Signal line."))
    lines.append(Evidence("good", "The homepage is readable without scripts."))
    return tuple(lines)

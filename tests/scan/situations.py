"""Hand-built scans of sites that exist: one function per kind of site."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from aui_tui.checks.scoring import Labels, grade_card
from aui_tui.model.card import ReportCard
from aui_tui.model.methods import DEFAULT_METHOD
from aui_tui.model.observations import (
    BROWSER,
    FILE_PROBES,
    Attempt,
    Challenge,
    Exchange,
    FileFacts,
    Hop,
    Landmarks,
    Observations,
    PageFacts,
    RobotsFacts,
    RobotsPolicy,
)
from aui_tui.model.registry import registry

ORIGIN = "https://shop.example"
LIVE = tuple(agent.key for agent in registry().live)
CLOUDFLARE = Challenge(vendor="cloudflare", signal="Just a moment...", tier="A", reference="8f1e2d3c4b5a6978-FRA")
RICH_PAGE = PageFacts(
    title="Shop",
    site_name="The Shop",
    jsonld=2,
    semantic=Landmarks(main=1, nav=2, aria=9, forms=1),
    readable=5400,
    scripts=4,
)
PLAIN_PAGE = PageFacts(
    title="Shop", semantic=Landmarks(main=0, nav=1, aria=0, forms=2), forms_unlabelled=1, readable=900
)
SHELL_PAGE = PageFacts(title="App", readable=12, scripts=7, noscript_shell=True)


def probe(name: str, status: int = 200, **changes: Any) -> Exchange:
    """One homepage or file answer."""
    title = "Shop" if status == 200 else ""
    usual: dict[str, Any] = {"status": status, "title": title, "elapsed_ms": 90}
    return Exchange(name=name, url=f"{ORIGIN}/", **(usual | changes))


def silent(name: str, error: str = "timeout", detail: str = "no answer within 12 s") -> Exchange:
    """A probe without an answer."""
    return Exchange(name=name, url=f"{ORIGIN}/", error=error, detail=detail, elapsed_ms=12_000)


def rules(
    own: dict[str, tuple[str, int, str]] | None = None,
    wildcard: tuple[str, int, str] = ("open", 0, ""),
    crawlers: Iterable[str] = (),
    **changes: Any,
) -> RobotsFacts:
    """Facts of a robots.txt: ``own`` maps a token to policy, line and rule; ``wildcard`` is effect, line and rule."""
    own, blocked = own or {}, set(crawlers)

    def policy(token: str) -> RobotsPolicy:
        if token in own:
            word, line, rule = own[token]
            effect = {"blocked": "blocked", "partial": "partial", "allowed": "open"}[word]
            return RobotsPolicy(
                token=token, policy=word, effective=effect, line=line, rule=rule, spelling=token.lower()
            )
        if token in blocked:
            return RobotsPolicy(
                token=token, policy="blocked", effective="blocked", line=40, rule="Disallow: /", spelling=token
            )
        effect, line, rule = wildcard
        return RobotsPolicy(token=token, effective=effect, line=line, rule=rule)

    facts = RobotsFacts(
        kind="rules",
        names=len(own) + len(blocked) + (wildcard[0] != "open"),
        agents=tuple(policy(agent.token) for agent in registry().agents),
        crawlers=tuple(policy(crawler.token) for crawler in registry().crawlers),
        wildcard_block=wildcard[0] == "blocked",
    )
    return replace(facts, **changes)


def site(
    browser: Exchange | None = None,
    agents: Callable[[str], Exchange] = probe,
    *,
    robots: RobotsFacts | None = None,
    robots_status: int = 200,
    page: PageFacts = PLAIN_PAGE,
    files: FileFacts | None = None,
    **changes: Any,
) -> Observations:
    """One scan; ``agents`` makes the answer of a live-probed agent from its slot."""
    files = files or FileFacts()
    found = {"llms": files.llms, "ai-plugin": files.ai_plugin, "ucp": files.ucp, "mcp": files.mcp}
    exchanges = [browser or probe(BROWSER), *(agents(slot) for slot in LIVE)]
    for name in FILE_PROBES:
        if name == "robots":
            exchanges.append(probe(name, robots_status) if robots_status else silent(name))
        else:
            exchanges.append(probe(name, 200 if found[name] else 404))
    return Observations(
        host="shop.example",
        input_host="shop.example",
        origin=ORIGIN,
        scanned_at="2026-11-20T10:00:00.000Z",
        elapsed_ms=420,
        exchanges=tuple(exchanges),
        robots=robots or rules(),
        page=page,
        files=files,
        **changes,
    )


def graded(
    host: str, seen: Observations, at: str = "", *, method: str = DEFAULT_METHOD, **labels: Any
) -> tuple[ReportCard, Observations]:
    """Return the card of ``seen`` as a scan of ``host`` at a time, and that scan; ``labels`` as of ``Labels``."""
    seen = replace(seen, host=host, input_host=host, origin=f"https://{host}", scanned_at=at or seen.scanned_at)
    return grade_card(seen, method, labels=Labels(**labels)), seen


def open_rich() -> Observations:
    """Everything done: nothing is left to recommend."""
    robots = rules({"Claude-User": ("allowed", 3, "Allow: /")}, signal="search=yes, ai-input=yes", signal_line=7)
    return site(robots=robots, page=RICH_PAGE, files=FileFacts(llms=True, ucp=True))


def plain() -> Observations:
    """An ordinary site that never thought of agents."""
    return site(robots=RobotsFacts(kind="none"), robots_status=404, edge="nginx")


def thin() -> Observations:
    """An ordinary site of which little more than the door could be measured."""
    seen, files = plain(), ("robots", "llms", "ucp", "mcp")
    exchanges = tuple(replace(one, status=429, limited=True) if one.name in files else one for one in seen.exchanges)
    return replace(seen, exchanges=exchanges, page=PageFacts(problem="it is empty"))


def wall_for_all() -> Observations:
    """A challenge for everybody, browsers included."""
    return site(
        probe(BROWSER, 403, challenge=CLOUDFLARE, title="Just a moment..."),
        lambda slot: probe(slot, 403, challenge=CLOUDFLARE, title="Just a moment..."),
        page=PageFacts(title="Just a moment...", readable=40, scripts=1, noscript_shell=True),
        edge="cloudflare",
    )


def wall_for_agents() -> Observations:
    """A shop that serves browsers and challenges every AI agent; robots.txt invites them."""
    first = Attempt(status=403, outcome="challenged", challenge=CLOUDFLARE)
    return site(
        agents=lambda slot: probe(slot, 403, challenge=CLOUDFLARE, title="Just a moment...", attempts=(first,)),
        page=RICH_PAGE,
        edge="cloudflare",
    )


def pay_with_terms() -> Observations:
    """402 with crawler-price for every agent."""
    return site(agents=lambda slot: probe(slot, 402, terms=True), page=RICH_PAGE, edge="cloudflare")


def pay_without_terms() -> Observations:
    """402 that says nothing of the price."""
    return site(agents=lambda slot: probe(slot, 402), page=RICH_PAGE)


def _disallow(count: int) -> RobotsFacts:
    tokens = [agent.token for agent in registry().agents][:count]
    return rules({token: ("blocked", 2 * number, "Disallow: /") for number, token in enumerate(tokens, 1)})


def robots_all() -> Observations:
    """Disallow: / for everybody."""
    return site(robots=rules(wildcard=("blocked", 2, "Disallow: /")))


def robots_ten() -> Observations:
    """Ten agents disallowed by name."""
    return site(robots=_disallow(10))


def robots_nine() -> Observations:
    """Nine agents disallowed by name."""
    return site(robots=_disallow(9))


def robots_one() -> Observations:
    """One agent disallowed, in a spelling of the site's own."""
    return site(robots=rules({"Claude-User": ("blocked", 12, "Disallow: /")}, crawlers=("GPTBot", "CCBot")))


def robots_paths() -> Observations:
    """Path rules only, for one agent by name and for everybody else."""
    return site(
        robots=rules({"ChatGPT-User": ("partial", 9, "Disallow: /search")}, wildcard=("partial", 4, "Disallow: /cart"))
    )


def tarpit() -> Observations:
    """One agent gets no answer in time."""
    return site(agents=lambda slot: silent(slot) if slot == "agent_03" else probe(slot))


def dead() -> Observations:
    """The name does not resolve."""
    seen = site(robots=RobotsFacts(kind="unknown"), page=PageFacts())
    silence = tuple(silent(one.name, "dns", "the host name does not resolve") for one in seen.exchanges)
    return replace(seen, exchanges=silence)


def down() -> Observations:
    """503 for everybody."""
    return site(
        probe(BROWSER, 503),
        lambda slot: probe(slot, 503),
        robots=RobotsFacts(kind="unknown"),
        robots_status=503,
        page=PageFacts(),
    )


def loop() -> Observations:
    """A redirect loop for everybody."""
    hop = Hop(url=ORIGIN, status=302, location="/")

    def circle(name: str) -> Exchange:
        detail = "it redirects in a circle, 2 times so far"
        return probe(name, 302, error="redirect-loop", detail=detail, hops=(hop,), title="")

    return site(circle(BROWSER), circle, page=PageFacts())


def shell() -> Observations:
    """A page that is empty without scripts."""
    return site(page=SHELL_PAGE, edge="vercel")


def bad_certificate() -> Observations:
    """An expired certificate."""
    seen = dead()
    detail = "the certificate is not accepted: certificate has expired"
    return replace(seen, exchanges=tuple(silent(e.name, "tls", detail) for e in seen.exchanges))


def burst() -> Observations:
    """One agent refused at first and served when asked again alone."""
    first = Attempt(status=429, outcome="refused")
    return site(agents=lambda slot: probe(slot, attempts=(first,)) if slot == "agent_02" else probe(slot))


def half_open() -> Observations:
    """Two agents refused by the edge, one of them disallowed too; robots.txt answers 503 for nobody."""
    robots = rules({"ChatGPT-User": ("blocked", 5, "Disallow: /"), "Claude-User": ("blocked", 8, "Disallow: /")})
    return site(
        agents=lambda slot: probe(slot, 403) if slot in ("agent_01", "agent_04") else probe(slot),
        robots=robots,
        edge="akamai",
    )


def robots_down() -> Observations:
    """robots.txt answers 503, the homepage is fine."""
    return site(robots=RobotsFacts(kind="unknown"), robots_status=503)


def dropped() -> Observations:
    """Every agent's connection is dropped, again when asked alone, while the browser is served."""
    first = Attempt(status=0, outcome="inconclusive")

    def drop(slot: str) -> Exchange:
        ended = silent(slot, "protocol", "the server closed the connection without an answer")
        return replace(ended, attempts=(first, first), controls=2)

    return site(agents=drop, page=RICH_PAGE)


def limited() -> Observations:
    """A site that limits everybody: two agents, robots.txt and llms.txt could not be fetched within the limit."""
    first = Attempt(status=429, outcome="refused")

    def agent(slot: str) -> Exchange:
        if slot in ("agent_01", "agent_02"):
            return probe(slot, 429, attempts=(first,), limited=True)
        return probe(slot)

    seen = site(agents=agent, page=RICH_PAGE, robots=RobotsFacts(kind="unknown"), robots_status=429)
    paths = {"robots": "/robots.txt", "llms": "/llms.txt"}
    exchanges = tuple(
        replace(e, status=429, limited=True, url=ORIGIN + paths[e.name]) if e.name in paths else e
        for e in seen.exchanges
    )
    return replace(seen, exchanges=exchanges)


def failing() -> Observations:
    """A backend that fails at random: one agent got 502 at first and the page in the end."""
    first = Attempt(status=502, outcome="refused")
    return site(
        agents=lambda slot: probe(slot, attempts=(first,)) if slot == "agent_02" else probe(slot),
        page=RICH_PAGE,
        random=True,
    )

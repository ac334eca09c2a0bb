"""Scans to fill an index with: made-up hosts with the mixture of findings that the open web shows."""

from __future__ import annotations

import random
from collections.abc import Iterator

from aui_tui.checks.scoring import Labels, grade_card
from aui_tui.model.card import ReportCard
from aui_tui.model.observations import (
    FILE_PROBES,
    Challenge,
    Exchange,
    FileFacts,
    Landmarks,
    Observations,
    PageFacts,
    RobotsFacts,
    RobotsPolicy,
)
from aui_tui.model.registry import registry
from aui_tui.model.times import stamp
from aui_tui.model.vocabulary import CATEGORIES
from aui_tui.scan import profiles

START = 1_795_000_000
"""The newest time of a sample, in seconds since the epoch."""
_WORDS = """
shop hub base kit nest fly code book farm desk cart ticket home travel food media tech dev city green blue north star
cloud data net web online store market ra lo mi ven tor sel pra qua zen bri cos dal fer gor hal ix jun kor lun mar
"""
SYLLABLES = tuple(_WORDS.split())
DOMAINS = ("com", "net", "org", "io", "co.uk", "de", "fr", "example")
EDGES = ("cloudflare", "akamai", "fastly", "cloudfront", "vercel", "nginx", "apache", "", "cloudflare nginx")
HEADERS = (
    ("date", "Thu, 05 Nov 2026 10:00:00 GMT"),
    ("content-type", "text/html; charset=utf-8"),
    ("server", "cloudflare"),
    ("cache-control", "private, max-age=0, must-revalidate"),
    ("strict-transport-security", "max-age=31536000; includeSubDomains; preload"),
    ("x-frame-options", "SAMEORIGIN"),
    ("vary", "Accept-Encoding, Cookie"),
    ("content-security-policy", "default-src 'self'; script-src 'self' https://cdn.example; img-src * data:"),
    ("x-content-type-options", "nosniff"),
)


def host(random_: random.Random, number: int) -> str:
    """Return a host name of two or three syllables, unique by ``number``."""
    word = "".join(random_.choices(SYLLABLES, k=random_.choice((2, 3))))
    return f"{word}{number}.{random_.choice(DOMAINS)}"


def scans(count: int, seed: int = 1) -> Iterator[tuple[ReportCard, Observations]]:
    """Yield ``count`` graded scans of different hosts."""
    random_ = random.Random(seed)
    for number in range(count):
        seen = observations(random_, host(random_, number + seed * 10_000_000))
        yield grade_card(seen, labels=Labels(category=random_.choice(CATEGORIES))), seen


def observations(random_: random.Random, name: str) -> Observations:
    """Return what a scan of ``name`` might have seen."""
    origin = f"https://{name}"
    title = f"{name.split('.')[0].title()} | {random_.choice(('Home', 'Official site', 'Shop online', 'Welcome'))}"
    gone, walled, blocked = random_.random() < 0.03, random_.random() < 0.2, random_.random() < 0.1

    def exchange(probe: str, status: int, heading: str = "", challenge: Challenge | None = None) -> Exchange:
        if gone:
            return Exchange(name=probe, url=origin + "/", error="timeout", detail="no answer in 12 s")
        mark = f"{random_.getrandbits(64):016x}"
        own = (("cf-ray", mark + "-FRA"), ("set-cookie", f"sid={mark}; Path=/; HttpOnly"), ("etag", f'"{mark}"'))
        return Exchange(
            name=probe,
            url=origin + "/",
            status=status,
            headers=HEADERS + own,
            title=heading,
            elapsed_ms=random_.randint(30, 900),
            bytes=60_000,
            http_version="HTTP/2",
            challenge=challenge,
            request=profiles.profile(probe).fields,
            text=_text(name) if probe == "browser" else "",
            same_text=status == 200 and probe.startswith("agent"),
        )

    homepages = [exchange("browser", 200, title)]
    for agent in registry().live:
        if walled:
            wall = Challenge(vendor="cloudflare", signal="cf-mitigated: challenge", tier="A", reference="8f1e2d3c-FRA")
            homepages.append(exchange(agent.key, 403, "Just a moment...", wall))
        elif blocked and random_.random() < 0.5:
            homepages.append(exchange(agent.key, 403, "Forbidden"))
        else:
            homepages.append(exchange(agent.key, 200, title))
    files = [exchange(probe, 200 if probe == "robots" else 404) for probe in FILE_PROBES]
    return Observations(
        host=name,
        input_host=name,
        origin=origin,
        scanned_at=stamp(START - random_.random() * 30 * 86400),
        elapsed_ms=random_.randint(300, 4000),
        exchanges=(*homepages, *files),
        edge=random_.choice(EDGES),
        robots=_robots(random_),
        page=_page(random_, title, name),
        files=FileFacts(
            llms=random_.random() < 0.1,
            ai_plugin=random_.random() < 0.01,
            ucp=random_.random() < 0.02,
            mcp=random_.random() < 0.03,
        ),
    )


def _text(name: str) -> str:
    """Return the readable text of a homepage; the words depend on the host alone."""
    chosen = random.Random(name)
    return " ".join(chosen.choices(SYLLABLES, k=200)).capitalize()


def _robots(random_: random.Random) -> RobotsFacts:
    severity = random_.random()

    def policy(token: str, line: int) -> RobotsPolicy:
        dice = random_.random()
        if severity < 0.2 and dice < 0.5:
            return RobotsPolicy(
                token=token, policy="blocked", effective="blocked", line=line, rule="Disallow: /", spelling=token
            )
        if severity < 0.35 and dice < 0.3:
            return RobotsPolicy(
                token=token, policy="partial", effective="partial", line=line, rule="Disallow: /cart", spelling=token
            )
        return RobotsPolicy(token=token)

    signal = random_.random() < 0.1
    return RobotsFacts(
        kind="rules",
        text="User-agent: *\nDisallow: /cart\nDisallow: /account\nAllow: /\n\nSitemap: https://www.example/sitemap.xml\n",
        names=random_.randint(1, 40),
        agents=tuple(policy(agent.token, 3 * n + 2) for n, agent in enumerate(registry().agents)),
        crawlers=tuple(policy(crawler.token, 3 * n + 80) for n, crawler in enumerate(registry().crawlers)),
        signal="search=yes, ai-train=no" if signal else "",
        signal_line=3 if signal else 0,
    )


def _page(random_: random.Random, title: str, name: str) -> PageFacts:
    readable, scripts = random_.choice((40, 150, 3000, 9000, 20_000)), random_.randint(0, 40)
    return PageFacts(
        title=title,
        site_name=name.split(".")[0].title() if random_.random() < 0.5 else "",
        jsonld=random_.randint(0, 4),
        semantic=Landmarks(
            main=random_.randint(0, 1),
            nav=random_.randint(0, 3),
            aria=random_.randint(0, 60),
            forms=random_.randint(0, 3),
        ),
        readable=readable,
        scripts=scripts,
        noscript_shell=readable < 200 and scripts > 0,
    )

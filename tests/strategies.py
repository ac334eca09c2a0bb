"""Hypothesis strategies for records: random valid observations of one scan."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import strategies as st
from msgspec.structs import replace

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
from aui_tui.model.tasks import OUTCOMES, TASKS, Rendered, Step, TaskReport, TaskResult
from aui_tui.text import clean

HOSTS = ("shop.example", "xn--bcher-kva.example", "http://plain.example", "staging.example:8443")
EDGES = ("", "cloudflare", "akamai", "vercel", "nginx", "cloudfront", "fastly datadome", "varnish apache", "strange")
SILENT = ("timeout", "dns", "address", "connect", "tls", "protocol")
UNFOLLOWED = ("redirect-loop", "redirect-target", "redirect-scheme", "redirect-address")

words = st.sampled_from(
    (
        "",
        " ",
        "Shop",
        "Grüße, 日本語 & more",
        "</script><b>x</b>",
        "[@click=app.quit]x[/]",
        "=cmd|' /C calc'!A0",
        '% { } << $host >> \\ "quoted"',
        "<<host>>",
        "# not a heading",
    )
) | st.text(max_size=20).map(lambda text: clean(text, 60))
"""Cleaned words of a site, with those that would break a careless writer."""
small = st.integers(0, 5)


CHALLENGES = tuple(
    Challenge(vendor=vendor, signal="title Just a moment...", tier=tier, reference=reference)
    for vendor, tier, reference in (
        ("cloudflare", "A", "8f1e2d3c4b5a6978-FRA"),
        ("cloudflare", "B", ""),
        ("akamai", "A", "18.2d1f1702.1700000000.1a2b3c"),
        ("datadome", "A", ""),
        ("vercel", "A", "fra1::1700000000-abc"),
        ("aws-waf", "A", ""),
        ("perimeterx", "B", ""),
        ("imperva", "A", ""),
        ("unheard-of", "B", "REF-4711"),
    )
)
ATTEMPTS = (
    Attempt(status=403, outcome="challenged", elapsed_ms=90, challenge=CHALLENGES[0]),
    Attempt(status=429, outcome="refused", elapsed_ms=80),
)


def _answers() -> Iterator[Exchange]:
    """Every kind of answer to a probe: served, refused, challenged, silent, stopped at a redirect."""
    for status in (200, 200, 200, 203):
        yield Exchange(name="", url="", status=status, title="Shop")
    for status in (304, 401, 402, 403, 404, 429, 451, 500, 503, 999):
        yield Exchange(name="", url="", status=status, title="No")
    yield Exchange(name="", url="", status=402, terms=True)
    for status, challenge in zip((200, 202, 403, 403, 429, 405, 403, 503, 403), CHALLENGES, strict=True):
        yield Exchange(name="", url="", status=status, title="Just a moment...", challenge=challenge)
    for error in SILENT:
        yield Exchange(name="", url="", error=error, detail="certificate has expired", elapsed_ms=12_000)
    for error in UNFOLLOWED:
        hop = Hop(url="https://shop.example/", status=302, location="http://10.0.0.1/")
        yield Exchange(name="", url="", status=302, error=error, detail="it leads to 10.0.0.1", hops=(hop,))


ANSWERS = tuple(_answers())


def exchanges(names: tuple[str, ...], origin: str) -> st.SearchStrategy[tuple[Exchange, ...]]:
    """One answer per probe name; a third of the time all the same."""
    numbers = st.integers(0, len(ANSWERS) - 1)
    many = st.lists(numbers, min_size=len(names), max_size=len(names))
    split = st.tuples(numbers, numbers).map(lambda pair: [pair[0], *[pair[1]] * (len(names) - 1)])
    retried = st.sampled_from(((), (ATTEMPTS[0],), (ATTEMPTS[1],)))
    return st.builds(
        lambda drawn, earlier: tuple(
            replace(
                ANSWERS[number],
                name=name,
                url=f"{origin}/",
                attempts=earlier if name.startswith("agent_") and ANSWERS[number].status else (),
            )
            for name, number in zip(names, drawn, strict=True)
        ),
        many | split,
        retried,
    )


OWN_GROUPS = (
    ("unlisted", "", "", ""),
    ("unlisted", "", "", ""),
    ("blocked", "blocked", "Disallow: /", "as is"),
    ("blocked", "blocked", "Disallow: /", "lower"),
    ("partial", "partial", "Disallow: /search", "as is"),
    ("allowed", "open", "Allow: /", "as is"),
)
WILDCARD_RULES = {"open": "", "partial": "Disallow: /cart", "blocked": "Disallow: /"}


def _policy(token: str, line: int, choice: int, wildcard: str) -> RobotsPolicy:
    """What rules say of one token: its own group decides, else the effect of ``*``."""
    policy, effective, rule, spelling = OWN_GROUPS[choice]
    if policy == "unlisted":
        deciding = 0 if wildcard == "open" else 2
        return RobotsPolicy(token=token, effective=wildcard, line=deciding, rule=WILDCARD_RULES[wildcard])
    written = token.lower() if spelling == "lower" else token
    return RobotsPolicy(token=token, policy=policy, effective=effective, line=line, rule=rule, spelling=written)


def policies(tokens: tuple[str, ...], wildcard: str) -> st.SearchStrategy[tuple[RobotsPolicy, ...]]:
    """What rules say of each token."""
    choices = st.one_of(
        st.lists(st.integers(0, len(OWN_GROUPS) - 1), min_size=len(tokens), max_size=len(tokens)),
        st.integers(0, len(OWN_GROUPS) - 1).map(lambda choice: [choice] * len(tokens)),
    )
    return choices.map(
        lambda drawn: tuple(
            _policy(token, 3 * number, choice, wildcard)
            for number, (token, choice) in enumerate(zip(tokens, drawn, strict=True), start=1)
        )
    )


@st.composite
def robots_facts(draw: st.DrawFn) -> RobotsFacts:
    """robots.txt with rules, absent, unknown or a web page."""
    kind = draw(st.sampled_from(("rules", "rules", "rules", "none", "unknown", "html")))
    if kind != "rules":
        return RobotsFacts(kind=kind)
    wildcard = draw(st.sampled_from(("open", "open", "partial", "blocked")))
    signal_line = draw(st.sampled_from((0, 3, 17)))
    values = ("search=yes, ai-train=no", "search=yes,AI-Input = no", "ai-input=yes", "", "nonsense")
    signal = draw(st.sampled_from(values)) if signal_line else ""
    return RobotsFacts(
        kind=kind,
        names=draw(st.integers(0, 40)),
        agents=draw(policies(tuple(agent.token for agent in registry().agents), wildcard)),
        crawlers=draw(policies(tuple(crawler.token for crawler in registry().crawlers), wildcard)),
        wildcard_block=wildcard == "blocked",
        signal=signal,
        signal_line=signal_line,
        cut=draw(st.booleans()),
    )


@st.composite
def page_facts(draw: st.DrawFn) -> PageFacts:
    """Facts of a homepage, or of one that could not be analysed."""
    problem = draw(st.sampled_from(("", "", "", "a tag has over 500 attributes")))
    if problem:
        return PageFacts(problem=problem)
    jsonld, forms = draw(small), draw(small)
    readable, scripts = draw(st.sampled_from((0, 40, 199, 200, 5000))), draw(small)
    return PageFacts(
        title=draw(words),
        site_name=draw(words),
        jsonld=jsonld,
        jsonld_broken=draw(st.integers(0, jsonld)),
        semantic=Landmarks(main=draw(small), nav=draw(small), aria=draw(small), forms=forms),
        forms_unlabelled=draw(st.integers(0, forms)),
        readable=readable,
        scripts=scripts,
        noscript_shell=readable < 200 and scripts > 0,
    )


@st.composite
def task_reports(draw: st.DrawFn) -> TaskReport:
    """A run of the tasks, whole or stopped, however it was received."""
    results = tuple(
        TaskResult(
            task=task.key,
            outcome=draw(st.sampled_from(OUTCOMES)),
            half=draw(st.booleans()),
            note=draw(words) or "nothing happened",
            steps=(Step(verb="opened", name=draw(words)),),
            elapsed_ms=draw(st.integers(0, 60_000)),
        )
        for task in TASKS[: draw(st.integers(0, len(TASKS)))]
    )
    return TaskReport(
        ran_at="2026-11-20T10:00:01.000Z",
        origin="https://shop.example",
        results=results,
        door=draw(st.sampled_from(("allowed", "walled", "blocked", "closed", ""))),
        robots=draw(st.sampled_from(("open", "partial"))),
    )


@st.composite
def rendered(draw: st.DrawFn) -> Rendered:
    """What a browser made of a homepage."""
    readable = draw(st.sampled_from((0, 40, 200, 5000)))
    return Rendered(
        readable=readable,
        sent=draw(st.sampled_from((0, 39, 40, 1000))),
        share=draw(st.integers(0, 100)),
        headings=draw(st.sampled_from(((), ("Rooms",)))),
        prices=draw(st.sampled_from(((), ("49 €", "61 €")))),
    )


@st.composite
def observations(draw: st.DrawFn) -> Observations:
    """One scan, any mixture of facts that the network can produce."""
    host = draw(st.sampled_from(HOSTS))
    origin = host if "://" in host else f"https://{host}"
    names = (BROWSER, *(agent.key for agent in registry().live), *FILE_PROBES)
    notes = st.sampled_from(((), (), ("llms.txt is a web page",)))
    return Observations(
        host=host,
        input_host=host,
        origin=origin,
        scanned_at="2026-11-20T10:00:00.000Z",
        elapsed_ms=draw(st.integers(0, 14_000)),
        exchanges=draw(exchanges(names, origin)),
        edge=draw(st.sampled_from(EDGES)),
        robots=draw(robots_facts()),
        page=draw(page_facts()),
        files=draw(
            st.builds(
                FileFacts,
                llms=st.booleans(),
                ai_plugin=st.booleans(),
                ucp=st.booleans(),
                mcp=st.booleans(),
                notes=notes,
            )
        ),
        limits=draw(st.sampled_from(((), (), ("insecure",), ("connect-to", "insecure", "private")))),
        warnings=draw(notes),
    )


def driven() -> st.SearchStrategy[Observations]:
    """One scan, half of the time with a run of the tasks."""
    whole = st.builds(Observations.with_tasks, observations(), task_reports(), st.none() | rendered())
    return st.one_of(observations(), whole)

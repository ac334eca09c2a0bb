"""robots.txt: the shared cases, Google's cases, and the time that hostile files take."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterator
from pathlib import Path

from aui_tui.model.registry import registry
from aui_tui.scan import robots
from tests.scorecard import Row, share

CASES = Path(__file__).parents[1] / "data" / "robots.json"
MIB = 1 << 20
ROUNDS = 5
BENIGN = b"User-agent: *\n" + b"".join(
    b"Disallow: /products/category-%d/item-%d\n" % (i % 97, i) for i in range(40_000)
)
NAMES = b"".join(b"user-agent:%s\n" % entry.token.encode() for entry in (*registry().agents, *registry().crawlers))
HOSTILE = {
    "600,000 short rules": b"user-agent:*\n" + b"allow:/\n" * 600_000,
    "a million empty lines": b"user-agent:*\n" + b"\n" * MIB,
    "comments of one character": b"#\n" * MIB,
    "60,000 names": b"".join(b"user-agent:%x\n" % i for i in range(60_000)),
    "a group for each rule": b"user-agent:*\nallow:/\n" * 60_000,
    "fifty stars a rule": b"user-agent:*\n" + b"".join(b"disallow:/" + b"*a" * 50 + b"%d\n" % i for i in range(20_000)),
    "every Disallow undone": b"user-agent:*\n"
    + b"".join(b"disallow:/a*%d\nallow:/a*%d*\n" % (i, i) for i in range(40_000)),
    "many rules, then a group for each name": NAMES
    + b"".join(b"disallow:/%x\nallow:/%x*\n" % (i, i) for i in range(33_000))
    + NAMES.replace(b"\n", b"\ndisallow:/z\n"),
    "other names in each group": b"".join(
        b"user-agent:*\nuser-agent:%x\ndisallow:/%x\nallow:/%x*\n" % (i, i, i) for i in range(25_000)
    ),
    "one line of escapes": b"user-agent:*\ndisallow:/" + b"%41" * 340_000 + b"\n",
}


def rows(folder: Path) -> Iterator[Row]:
    """Yield the rows of robots.txt."""
    cases = json.loads(CASES.read_text("utf-8"))
    missed = [
        case["id"]
        for case in cases
        if robots.parse(case["robots"].encode()).allows(case["token"], case["path"]) is not case["allowed"]
    ]
    yield share("robots", "shared cases, all", len(cases), missed)
    found = json.loads((folder / "robots.json").read_text("utf-8"))
    general = [case for case in found["cases"] if not _googles_own(case)]
    missed = [case["id"] for case in general if not _right(case, found["bodies"])]
    yield share("robots", "cases that are not Google's own, all", len(general), missed)
    special = [case for case in found["cases"] if _googles_own(case)]
    accepted = sum(_right(case, found["bodies"]) for case in special)
    yield Row("robots", "Google's own extensions (no bar)", f"{accepted} of {len(special)}", True)
    lenient = robots.parse(b"User-agent: Name/1.0\nDisallow: /\n\nUser-agent: * text\nDisallow: /x\n")
    others = robots.parse(b"Useragent: Name\nUser agent: Name\nDisalow: /\nDissallow: /\nUser-agent: A1\nDisallow: /\n")
    kept = (
        not lenient.allows("Name", "/y") and not lenient.allows("Other", "/x") and others.policy("Name") == "unlisted"
    )
    yield Row("robots", "Name/1.0 and '* text' accepted, misspelt keys not", "as asked" if kept else "otherwise", kept)
    yield from _timing()


def _googles_own(case: dict[str, object]) -> bool:
    """Google's matcher takes a URL as it stands; RFC 9309, 2.2.2 has octets outside ASCII escaped before comparison."""
    return bool(case["google_specific"]) or not str(case["url"]).isascii()


def _right(case: dict[str, object], bodies: dict[str, dict[str, str]]) -> bool:
    parsed = robots.parse(bodies[str(case["body"])]["robots"].encode())
    return parsed.allows(str(case["agent"]), str(case["url"])) is case["allowed"]


def _timing() -> Iterator[Row]:
    bodies = {"benign": BENIGN, **HOSTILE}
    spent = {name: min(times) for name, times in zip(bodies, zip(*_rounds(bodies.values()), strict=True), strict=True)}
    ratios = {name: spent[name] / spent["benign"] for name in HOSTILE}
    worst = max(ratios, key=lambda name: ratios[name])
    yield Row(
        "robots",
        "1 MiB hostile file: at most 5 times a benign one",
        f"{ratios[worst]:.1f} times ({worst})",
        ratios[worst] <= 5,
    )
    parsed = robots.parse(b"user-agent:*\ndisallow:/" + b"*a" * 200 + b"$\n")
    path = "/" + "a" * 2_000 + "b"
    start = time.perf_counter()
    parsed.allows("x", path)
    taken = (time.perf_counter() - start) * 1000
    yield Row("robots", "200 stars against 2,000 octets: under 10 ms", f"{taken:.2f} ms", taken < 10)


def _rounds(bodies: Collection[bytes]) -> Iterator[list[float]]:
    """Yield what each of ``bodies`` takes, in turn, so that other work on the machine strikes them alike."""
    for _ in range(ROUNDS):
        yield [_seconds(body) for body in bodies]


def _seconds(body: bytes) -> float:
    start = time.process_time()
    robots.facts(body[:MIB], 200, registry())
    return time.process_time() - start

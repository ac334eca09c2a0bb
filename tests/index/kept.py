"""Two thousand varied hosts, two thousand questions about them, and the answers in a form that can be kept.

``tests/data/index/index.db.gz`` and ``answers.json.gz`` were written by :func:`make` with the last program before an
index had plain columns (schema version 3). They are never made again: what comes after reads that file and gives those
answers.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import HealthCheck, Phase, given, seed, settings

from aui_tui.checks.scoring import Labels, grade_card
from aui_tui.index.reports import Reports
from aui_tui.index.writer import Packed
from aui_tui.model.card import AgentAccess, ReportCard, stamp
from aui_tui.model.codec import names_of
from aui_tui.model.observations import Exchange, Observations
from aui_tui.model.query import HAS, SORTS, Query
from aui_tui.model.view import IndexView, Window
from aui_tui.model.vocabulary import CATEGORIES, FIXES, STANCES, VERDICTS
from tests.benchmarks import samples
from tests.cards import cards
from tests.strategies import observations, task_reports
from tests.visits.records import verified, visits

NOW = float(samples.START)
DAY = 86_400.0
SHOWN = 25
"""Hosts of a list that an answer names; a digest stands for the whole."""


def drawn(strategy: Any, count: int) -> list[Any]:
    """Return values of a strategy, the same ones each time."""
    found: list[Any] = []

    @seed(20261123)
    @settings(max_examples=count, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(strategy)
    def collect(value: Any) -> None:
        found.append(value)

    collect()
    return found


def fill(reports: Reports) -> None:
    """Put two thousand hosts into an index."""
    random_ = random.Random(20261123)
    scans: list[tuple[ReportCard, Observations | None]] = []

    def keep(seen: Observations, *, method: str = "v0.2", name: str = "", blind: bool = False) -> None:
        labels = Labels(name=name, category=random_.choice(CATEGORIES), base_url="https://index.example")
        scans.append((grade_card(seen, method, labels=labels), None if blind else seen))

    def at(days: float) -> str:
        return stamp(NOW - days * DAY - random_.random() * 3600)

    for number in range(1150):
        host = samples.host(random_, number)
        for days in sorted(random_.sample((0, 2, 5, 9, 20, 45, 70), random_.choice((1, 1, 1, 2, 3))), reverse=True):
            seen = samples.observations(random_, host)
            keep(
                msgspec.structs.replace(seen, scanned_at=at(days), incomplete=random_.random() < 0.02),
                method=random_.choice(("v0.2",) * 9 + ("v0.1",)),
                name=random_.choice(("", "", f"Café {host[:4]}", f"{host[:5].upper()} & Söhne")),
                blind=random_.random() < 0.6,
            )
    tasks = drawn(task_reports(), 90)
    for number, seen in enumerate(drawn(observations(), 500)[:450]):
        host = random_.choice(("{}.example", "http://{}.example", "{}.example:8443", "xn--bcher-kva{}.example"))
        seen = msgspec.structs.replace(seen, host=host.format(f"drawn{number}"))
        for days in (30, 1)[random_.randrange(2) :]:
            run = random_.choice(tasks) if number % 4 == 0 and (days == 1 or number % 8) else None
            keep(msgspec.structs.replace(seen, scanned_at=at(days), tasks=run))
    for number, card in enumerate(drawn(cards(), 260)[:220]):
        changes: dict[str, Any] = {"host": f"foreign{number}.example", "scanned_at": at(random_.randrange(90))}
        if number % 3 == 0:
            changes["matrix"] = {f"other {place}": word for place, word in enumerate(card.matrix.values())}
            changes["matrix"]["other 0"] = random_.choice((*VERDICTS, "welcomed"))
        if number % 5 == 0:
            changes["category"] = "Gardening"
        if number % 7 == 0:
            access = {name: AgentAccess(503, False, "") for name in card.agent_access}
            changes |= {"human_status": 0, "agent_access": access}
        scans.append((msgspec.structs.replace(card, **changes), None))
    for seen in silent(random_):
        keep(seen)
    reports.put_many(scans)
    rows = []
    for number, (card, _) in enumerate(random_.sample(scans, 140)):
        summary = msgspec.structs.replace(card.summary(), host=f"listed{number}.example", name=f"Listed {number}")
        rows.append(Packed.of_summary(summary, ranked=number % 6 > 0))
    reports.put_packed(rows)
    hosts = [host for host, _ in reports.hosts()]
    for host in (*random_.sample(hosts, 40), "unscanned.example"):
        record = visits(verified("Claude-User", random_.randrange(1, 90), random_.randrange(9)))
        reports.put_visits(msgspec.structs.replace(record, host=host))
    for host in hosts[::300]:
        reports.forget(host)


def silent(random_: random.Random) -> Iterator[Observations]:
    """Yield scans of hosts that gave no answer or errors alone, some after a good scan."""
    for number in range(80):
        host = f"gone{number}.example"
        if number % 2:
            yield msgspec.structs.replace(samples.observations(random_, host), scanned_at=stamp(NOW - 3 * DAY))
        names = ("browser", "agent_01", "agent_02", "agent_03", "agent_04", "robots")
        error = {"error": "timeout"} if number % 3 else {"status": 503}
        for days in (2, 1.5, 0.1)[number % 4 :]:
            answers = tuple(Exchange(name=name, url=f"https://{host}/", **error) for name in names)  # type: ignore[arg-type]
            yield Observations(
                host=host,
                input_host=host,
                origin=f"https://{host}",
                scanned_at=stamp(NOW - days * DAY),
                elapsed_ms=12_000,
                exchanges=answers,
            )


def lines(random_: random.Random, hosts: Sequence[str]) -> Iterator[str]:
    """Yield query lines without an end: each field, its values, ranges and words, negated and joined."""
    slugs = names_of("matrix")

    def number(low: int, high: int, unit: str = "") -> str:
        one, two = sorted(random_.sample(range(low, high), 2))
        shapes = ("{0}", "<{0}", "<={0}", ">{0}", ">={0}", "{0}..{1}", "..{1}", "{0}..")
        return random_.choice(shapes).format(f"{one}{unit}", f"{two}{unit}")

    def text() -> str:
        host = random_.choice(hosts)
        start = random_.randrange(len(host) - 1)
        part = host[start : start + random_.choice((1, 2, 3, 4, 6, 12))].strip(":/-")
        words = ("café", "SÖHNE", '"& söhne"', "listed", "example", ".com", "8443", "foreign", "hop", "gone")
        return random_.choice((part or "a", *words))

    def term() -> str:
        verdicts = (*VERDICTS, "in", "out", "part", "refused", "challenged", "unclear")
        agents = (*slugs, "any", "openai", "claude,gemini", "Claude-User")
        made = {
            "stance": random_.choice(("open", "selective", "walled", "open,walled")),
            "category": random_.choice(("travel", "soc", "tech,dev", '"real estate"', "uncat", "retail")),
            "agent": f"{random_.choice(agents)}={random_.choice(verdicts)}",
            "edge": random_.choice(("akamai", "cloudflare", "nginx", "a", "cdn,vercel")),
            "score": number(0, 100),
            "grade": random_.choice(("a", "f", "<c", "<=c", ">d", ">=b", "a,b", "b..d", "c..", "..b")),
            "has": random_.choice((*HAS, "llms,signal")),
            "signal": random_.choice(("yes", "no")),
            "change": random_.choice(("up", "down", "same", "new", number(-30, 30))),
            "fresh": random_.choice((number(1, 90, "d"), number(1, 12, "w"), "<24h", ">90m")),
            "method": random_.choice(("v0.1", "v0.2")),
            "fix": random_.choice((*FIXES, "llms,jsonld")),
            "tasks": random_.choice(("yes", "no")),
            "contradiction": random_.choice(("out", "in", "in,out")),
        }
        field = random_.choice((*made, "text", "text", "bare"))
        word = text() if field == "text" else "contradiction" if field == "bare" else f"{field}:{made[field]}"
        return random_.choice(("", "", "", "-", "NOT ")) + word

    while True:
        words = [term() for _ in range(random_.choice((1, 1, 1, 2, 2, 3, 4)))]
        yield "".join(word + random_.choice((" ", " ", " OR ")) for word in words[:-1]) + words[-1]


def questions(hosts: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield two thousand questions about an index of ``hosts``."""
    random_ = random.Random(11)
    line = lines(random_, hosts)
    sorts = (*SORTS, *(f"matrix.{slug}" for slug in names_of("matrix")))

    def query() -> dict[str, Any]:
        found = {
            "line": next(line) if random_.random() < 0.85 else "",
            "category": random_.choice(("",) * 4 + CATEGORIES),
            "stance": random_.choice(("",) * 4 + STANCES),
            "sort": random_.choice((*sorts, "rank", "rank", "rank", "change", "age")),
            "descending": random_.random() < 0.3,
        }
        return {name: value for name, value in found.items() if value not in ("", False)}

    for sort in sorts:
        for down in (False, True):
            yield {"ask": "list", "query": {"sort": sort, "descending": down}}
    yield {"ask": "overview", "query": {}}
    for _ in range(1_485):
        yield {"ask": "list", "query": query()}
    for _ in range(280):
        yield {"ask": "overview", "query": query()}
    for _ in range(120):
        yield {"ask": "moves", "query": query(), "since": random_.choice(("", "2026-11-01", "2026-11-16"))}
    for _ in range(30):
        yield {"ask": "weeks", "query": query()}
    for _ in range(50):
        yield {"ask": "position", "query": query(), "host": random_.choice(hosts)}


def answer(reports: Reports, question: dict[str, Any]) -> Any:
    """Return the answer to one of ``questions`` as JSON has it."""
    query = Query.of(**question["query"])
    if question["ask"] == "list":
        return listed(reports.index(query))
    if question["ask"] == "overview":
        return plain(reports.overview(query))
    if question["ask"] == "moves":
        return plain(reports.moves(query, question["since"], 8))
    if question["ask"] == "weeks":
        return plain(reports.weeks(query))
    return reports.position(question["host"], query)


def listed(view: IndexView) -> dict[str, Any]:
    """Return both lists of a view, in order, and what stands behind its filters."""
    return {
        "ranked": shortened(view.ranked),
        "unreachable": shortened(view.unreachable),
        "scanned_at": view.scanned_at,
        "facets": plain(view.facets),
    }


def shortened(window: Window) -> list[Any]:
    """Return how many hosts a list has, the first of them, and a digest of all."""
    hosts = [row.summary.host for row in window[0 : len(window)]]
    return [len(window), hosts[:SHOWN], hashlib.sha256("\n".join(hosts).encode()).hexdigest()[:16]]


def plain(record: Any) -> Any:
    """Return a record as JSON has it."""
    return json.loads(msgspec.json.encode(record))


def host_of(reports: Reports, host: str) -> dict[str, Any]:
    """Return what lists, histories and logs say of a host."""
    record = reports.visits(host)
    return {
        "row": plain(reports.row(host)),
        "history": plain(reports.history(host)),
        "visits": None if record is None else record.visitors[0].requests,
    }


def make(folder: Path) -> None:
    """Write the index and the answers."""
    file = folder / "index.db"
    reports = Reports(file, clock=lambda: NOW)
    fill(reports)
    reports.close()
    with sqlite3.connect(file) as db:
        db.execute("PRAGMA journal_mode = DELETE")
    reports = Reports(file, clock=lambda: NOW)
    hosts = [host for host, _ in reports.hosts()]
    found = {
        "hosts": {host: host_of(reports, host) for host in hosts},
        "questions": [question | {"answer": answer(reports, question)} for question in questions(hosts)],
    }
    reports.close()
    with sqlite3.connect(file) as db:
        db.execute("PRAGMA journal_mode = DELETE")
        db.execute("VACUUM")
    (folder / "index.db.gz").write_bytes(gzip.compress(file.read_bytes(), mtime=0))
    (folder / "answers.json.gz").write_bytes(gzip.compress(json.dumps(found).encode(), mtime=0))

"""Every fact of 40 cards has one form: list, card, preview, comparison, overview, command, files, pages, MCP, CI."""

from __future__ import annotations

import asyncio
import csv
import inspect
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Final, NamedTuple
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from msgspec import UNSET
from msgspec.structs import replace
from selectolax.lexbor import LexborHTMLParser

from aui_tui.checks import BY_FIX
from aui_tui.checks.evidence import is_note
from aui_tui.checks.scoring import grade_card
from aui_tui.cli.cardview import lines, section_lines, sentences
from aui_tui.cli.index import list_sentences
from aui_tui.cli.terminal import Paint
from aui_tui.model import agents, fates
from aui_tui.model.card import QUOTE
from aui_tui.model.labels import ago, moment, span
from aui_tui.model.listing import Row
from aui_tui.model.observations import Observations
from aui_tui.model.options import Acceptance
from aui_tui.model.overview import Moves
from aui_tui.model.points import by_harm, gain, totals
from aui_tui.model.query import Query
from aui_tui.model.report import HostReport
from aui_tui.model.signs import sign
from aui_tui.model.surfaces import SURFACES
from aui_tui.model.tasks import TaskReport, TaskResult
from aui_tui.model.times import age
from aui_tui.model.visits import HEADER, cells, visit_rows
from aui_tui.model.vocabulary import NO_GRADE
from aui_tui.report import sections
from aui_tui.report.comparison import comparison
from aui_tui.report.data import visits_csv
from aui_tui.report.export import write_cards, write_listing
from aui_tui.report.formats import Listing
from aui_tui.report.gates import FAILED, PASSED, Gates, check
from aui_tui.report.overview import overview
from aui_tui.report.sections import Item, visits_section
from aui_tui.report.words import who_gets_in
from aui_tui.service.local import LocalService
from aui_tui.tui import cardrows
from aui_tui.tui.columns import Column, cell, every_column
from aui_tui.tui.state import CardState
from aui_tui.tui.tables import table
from aui_tui.tui.widgets.preview import preview
from tests.cards import WALLED
from tests.scan import situations
from tests.scan.situations import graded, probe, rules, silent, site
from tests.service.serving import Running, serving
from tests.strategies import driven
from tests.visits import records

LIVE: Final = situations.LIVE
TASKS: Final = ("follow", "contact", "search", "offer", "read", "form")
DAY: Final = "2026-11-20T10:00:00.000Z"
NOW: Final = 1795700000.0
WIDE: Final = 140
Facts = dict[str, object]
"""What a form says, by the name of the fact; a form may leave facts out, but never say another."""


def tried(seen: Observations, outcomes: str, ran_at: str = DAY, door: str = "allowed") -> Observations:
    """Return ``seen`` after a run of the tasks: ``d``one, ``b``locked, ``a``bsent, ``i``nconclusive."""
    words = {"d": "done", "b": "blocked", "a": "absent", "i": "inconclusive"}
    results = tuple(
        TaskResult(task=task, outcome=words[letter], note="As it was.", change="Do it." if letter == "b" else "")
        for task, letter in zip(TASKS, outcomes, strict=True)
    )
    return replace(seen, tasks=TaskReport(ran_at=ran_at, origin=situations.ORIGIN, results=results, door=door))


def refused(*slots: str, status: int = 403) -> Callable[[str], Any]:
    return lambda slot: probe(slot, status) if slot in slots else probe(slot)


PATHS: Final = rules(wildcard=("partial", 2, "Disallow: /account/"))
SITUATIONS: Final[dict[str, Callable[[], Observations]]] = {
    name: make
    for name, make in vars(situations).items()
    if inspect.isfunction(make)
    and inspect.signature(make).return_annotation == "Observations"
    and not inspect.signature(make).parameters
}
MORE: Final[dict[str, Callable[[], Observations]]] = {
    "half measured": lambda: tried(situations.open_rich(), "dadaii"),
    "all tasks": lambda: tried(situations.plain(), "dddddd"),
    "some tasks": lambda: tried(situations.half_open(), "dbdbdb"),
    "few tasks": lambda: tried(situations.plain(), "diiiii"),
    "tasks behind a wall": lambda: tried(situations.wall_for_all(), "biiiii", door="challenged"),
    "older tasks": lambda: tried(situations.robots_all(), "dddddd", "2026-11-13T10:00:00.000Z"),
    "yes and no": lambda: site(agents=refused(LIVE[1]), robots=PATHS),
    "two refused in two ways": lambda: site(
        agents=lambda slot: probe(slot, 403) if slot == LIVE[0] else silent(slot) if slot == LIVE[1] else probe(slot)
    ),
    "paths for everybody": lambda: site(robots=PATHS),
    "paths for one": lambda: site(robots=rules({"Claude-User": ("partial", 2, "Disallow: /account/")})),
    "limited for one": lambda: site(agents=refused(LIVE[2], status=429)),
    "long name": lambda: replace(situations.plain(), edge="cloudflare nginx"),
    "stopped": lambda: replace(situations.plain(), incomplete=True),
    "warned": lambda: replace(situations.open_rich(), warnings=("a proxy answered",)),
}
FOREIGN: Final = ("half_open", "wall_for_agents", "robots_paths", "dropped", "half measured")
"""Situations that are told a second time by their cards alone."""


class Told(NamedTuple):
    """One host of the index: what is known of it, and its row."""

    report: HostReport
    row: Row


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalService]:
    """An index of every situation, each a host of its own."""
    made = LocalService(tmp_path_factory.mktemp("forms"))
    for number, make in enumerate((*SITUATIONS.values(), *MORE.values())):
        made.store.put(*graded(f"s{number:02}.example", make()))
    known = [*SITUATIONS, *MORE]
    for number, name in enumerate(FOREIGN):
        made.store.put(graded(f"f{number:02}.example", (SITUATIONS | MORE)[name]())[0], None)
        assert name in known
    yield made
    made.store.close()


@pytest.fixture(scope="module")
def told(service: LocalService) -> dict[str, Told]:
    async def read() -> dict[str, Told]:
        view = await service.index(Query())
        rows = [*view.ranked[:], *view.unreachable[:]]
        return {row.summary.host: Told(await service.site(row.summary.host), row) for row in rows}

    return asyncio.run(read())


@pytest.fixture(scope="module")
def running(service: LocalService) -> Iterator[Running]:
    with serving(service) as server:
        yield server


def truth(one: Told) -> Facts:
    """What the record says, by the rules of the specification and no words of a form."""
    card, seen = one.report.card, one.report.observations
    letter = "no grade" if card.grade == NO_GRADE else card.grade
    bad = [
        found
        for found in card.findings
        if found.severity != "good" and not is_note(found) and found.id not in one.report.accepted
    ]
    facts: Facts = {
        "stance": "unreachable" if card.unreachable else card.stance,
        "score": None if card.unreachable else card.score,
        "grade": None if card.unreachable else letter,
        "problems": len(bad),
        "critical": sum(found.severity == "critical" for found in bad),
        "notes": sum(is_note(found) for found in card.findings),
        "sentence": who_gets_in(card, seen),
        "scanned": moment(card.scanned_at),
        "ago": ago(card.scanned_at, NOW),
        "age": span(age(card.scanned_at, NOW)),
        "disagree": bool(agents.contradictions(card, seen)),
    }
    for surface, outcome in zip(SURFACES, agents.outcome_of_each(card, seen), strict=True):
        facts[f"verdict of {surface.label}"] = outcome.verdict
        facts[f"sign of {surface.label}"] = sign(outcome.verdict).sign
        facts[f"passes {surface.label}"] = outcome.verdict in (fates.IN, fates.PART)
        facts[f"fails {surface.label}"] = outcome.verdict in fates.SHUT
    fixes = by_harm(card) if not card.unreachable else ()
    if not card.unreachable:
        facts["points"] = totals(card)
        facts["next"] = fixes[0].title if fixes else "Nothing left to fix"
    if fixes:
        facts["gain"] = gain(card, fixes[0].k)
        facts["fixes"] = tuple(fix.title for fix in fixes)
        facts["lacking"] = frozenset(BY_FIX[fix.k].label for fix in fixes)
    return facts


# What each form says


SCORE: Final = re.compile(r"(\d+) of (\d+) points(?: measured)? -> (\d+), (?:grade ([A-F])|(no grade))")
SHORT: Final = re.compile(r"(\d+) (?:([A-F])\b|(no grade))")


def plain(text: str) -> str:
    """Return ``text`` without what a medium adds: line breaks, escapes, another arrow."""
    return " ".join(text.replace("\\", "").replace("→", "->").split())


def scored(text: str) -> Facts:
    """Return score, grade and points of a sentence such as ``20 of 50 points measured -> 40, grade F``."""
    found = SCORE.search(plain(text))
    if found is None:
        assert "nothing was measured" in text, text
        return {"score": None, "grade": None}
    got, measured, score, letter, none = found.groups()
    return {"score": int(score), "grade": letter or none, "points": (int(got), int(measured))}


def stepped(text: str) -> Facts:
    """Return the next step of a line such as ``Add an /llms.txt file: 40 -> 46, an hour``, and what it gains."""
    words = plain(text).removesuffix(".")
    step, colon, rest = words.partition(": ")
    if words.startswith("Nothing left to fix"):
        return {"next": "Nothing left to fix"}
    if not colon:
        return {}
    return {"next": step, "gain": re.split(r", (?=an? |\w+$)", rest)[0].replace("->", "→")}


def in_words(pairs: Iterator[tuple[str, str]]) -> Facts:
    return {f"verdict of {name}": word for names, word in pairs for name in names.split(", ")}


def in_list(one: Told) -> Facts:
    row = one.row
    shown = {column.key: cell(column, row, NOW).text for column in every_column()}
    wide = (Column(f"matrix.{surface.slug}", surface.label, 20) for surface in SURFACES)
    words = in_words((column.label, cell(column, row, NOW).text.split(" ", 1)[1]) for column in wide)
    gone = shown["score"] == "–"
    return words | {
        "score": None if gone else int(shown["score"].strip(" *")),
        "grade": None if gone else {NO_GRADE: "no grade"}.get(shown["grade"], shown["grade"]),
        "stance": "unreachable" if gone else shown["stance"].split(" ", 1)[1],
        "disagree": shown["disagree"] != "",
        "age": shown["age"],
        **({"next": shown["next"] or "Nothing left to fix"} if not gone else {}),
    }


def on_card(one: Told) -> Facts:
    report = one.report
    state = replace(CardState(report.card.host).with_report(report), tasks=True)
    size, wide = 120, 200
    answer = [row.content.plain for row in cardrows.answer(state, wide)]
    letter, score, _ = cardrows.grade(report)
    title = cardrows.pane_title(cardrows.EVIDENCE, state, NOW)
    counts = {sign: int(number) for number, sign in re.findall(r"(\d+) ([✗!✓])", title)}
    evidence = [row.content.plain for row in cardrows.evidence(state, report, size)]
    split = evidence.index("Notes  no problems") if "Notes  no problems" in evidence else len(evidence)
    head = plain(cardrows.headline(state, "", None, NOW, wide).plain)
    step = plain(answer[-1]).removeprefix("Next ")
    rows = [row.content.plain for row in cardrows.agent_rows(state, report, size)]
    facts: Facts = {
        "stance": cardrows.stance(report.card).plain.split(" ", 1)[1].replace("Unreachable", "unreachable"),
        "problems": counts.get("✗", 0) + counts.get("!", 0),
        "critical": counts.get("✗", 0),
        "notes": sum(line.startswith(" i ") for line in evidence[split:]),
        "sentence": cardrows.sentence(report),
        "ago": head.partition("scanned ")[2],
        "disagree": any("≠" in row for row in rows),
    }
    chips = {name: entry for entry in re.split(r" {3}|\n", answer[-2].strip()) for name in [entry.strip()]}
    for surface in SURFACES:
        (chip,) = [chip for chip in chips if re.fullmatch(rf". {re.escape(surface.label)}( \d{{3}})?", chip)]
        facts[f"sign of {surface.label}"] = chip[0]
    if not report.card.unreachable:
        basis = re.search(r"(\d+)(?: of |/)(\d+)", cardrows.basis(report))
        assert basis is not None
        facts |= {
            "score": int(score),
            "grade": "no grade" if letter == "-" else letter,
            "points": (int(basis[1]), int(basis[2])),
        }
        fixes = [row.content.plain for row in cardrows.fixes(state, report, wide) if row.key.startswith("fix ")]
        if fixes:
            facts["fixes"] = tuple(re.split(r" {2,}", row.strip()[2:])[0] for row in fixes)
            facts["next"] = next(name for name in [state.fixes[0].title] if step.startswith(name))
            facts["gain"] = (
                gain(report.card, state.fixes[0].k) if gain(report.card, state.fixes[0].k) in answer[-1] else ""
            )
    return facts


def in_preview(one: Told) -> Facts:
    row, report = one.row, one.report
    size = 200
    rows = [entry.content.plain for entry in preview(row, report, size, NOW)]
    before = [entry.content.plain for entry in preview(row, None, size, NOW)]
    text = "\n".join(rows)
    facts: Facts = {
        "sentence": report.card and next(line for line in [cardrows.sentence(report)] if line in plain(text)),
        "ago": rows[1].rpartition(" · ")[2],
    }
    assert before[1] == rows[1]
    if report.card.unreachable:
        assert "unreachable" in before[0]
        return facts
    found = SHORT.search(rows[0]) or SHORT.search(before[0])
    assert found is not None, rows[0]
    early = SHORT.search(before[0])
    assert early is not None
    assert early.groups() == found.groups()
    points = re.search(r"(\d+)(?: of |/)(\d+)", rows[0])
    assert points is not None
    return facts | {
        "score": int(found[1]),
        "grade": found[2] or found[3],
        "stance": before[0].split()[1],
        "points": (int(points[1]), int(points[2])),
    }


def compared(one: Told) -> Facts:
    other = HostReport(card=WALLED)
    rows = {item.label: item.cells[1] for part in comparison([one.report, other], now=NOW) for item in part.items}
    turned = {item.label: item.cells[2] for part in comparison([other, one.report], now=NOW) for item in part.items}
    assert turned == rows, "each side says the same at the left and at the right"
    rows = {name: text.partition(" (")[0] for name, text in rows.items()}
    facts = in_words(
        (surface.label, rows[surface.label].split(" ", 1)[1]) for surface in SURFACES if rows[surface.label] != "–"
    )
    facts |= {"ago": rows["Scanned"], "stance": rows["Stance"]}
    if one.report.card.unreachable:
        return facts | {"score": None if rows["Score"] == "–" else rows["Score"]}
    found = SHORT.fullmatch(rows["Score"])
    assert found is not None
    return facts | {"score": int(found[1]), "grade": found[2] or found[3]}


def commanded(one: Told) -> Facts:
    report = one.report
    text = [*lines(report, Paint(width=1000), details=True, now=NOW)]
    whole = "\n".join(text)
    start = text.index("") + 1
    names = sorted((surface.label for surface in SURFACES), key=len, reverse=True)
    words = []
    for line in text[start : text.index("", start)]:
        cells = re.split(r" {2,}", line[2:])
        if all(name in names for name in cells[0].split(", ")):
            words.append((cells[0], cells[1]))
    facts = in_words(iter(words))
    facts |= scored(next(line for line in text if line.startswith("Score")).removeprefix("Score"))
    facts |= stepped(next(line for line in text if line.startswith("Next")).removeprefix("Next"))
    lead = text[1].split("  ", 1)
    facts |= {"stance": lead[0].split(" ", 1)[1], "sentence": lead[1]}
    facts["ago"] = re.search(r"^Scanned (.*?) in ", whole, re.MULTILINE)[1]  # type: ignore[index]
    return facts | marked(whole)


def marked(text: str) -> Facts:
    """Return how many findings and notes a text has, each on a line with its sign."""
    problems = [line for line in text.splitlines() if re.match(r"(- )?[✗!] ", line)]
    found: Facts = {"notes": len(re.findall(r"^(?:- )?i ", text, re.MULTILINE))}
    if "Evidence, " in text:
        evidence = text.partition("Evidence, ")[2]
        end = re.search(r"^(?:## )?(Notes|Fixes|What the scan saw)", evidence, re.MULTILINE)
        part = evidence[: end.start()] if end else evidence
        found["problems"] = len(re.findall(r"^(?:- )?[✗!] ", part, re.MULTILINE))
        found["critical"] = len(re.findall(r"^(?:- )?✗ ", part, re.MULTILINE))
    assert problems or not found.get("problems")
    return found


def spoken(one: Told) -> Facts:
    text = [*sentences(one.report)]
    facts = scored(next(line for line in text if line.startswith("Score: ")))
    facts |= stepped(next(line for line in text if line.startswith("Next: ")).removeprefix("Next: "))
    stance, sentence = text[1].split(". ", 1)
    kinds = [re.match(r"Finding \d+ of (\d+), (\w+): ", line) for line in text]
    found = [match for match in kinds if match is not None]
    assert all(int(match[1]) == len(found) for match in found)
    return facts | {
        "stance": stance.replace("Unreachable", "unreachable"),
        "sentence": sentence,
        "problems": sum(match[2] in ("critical", "warn") for match in found),
        "critical": sum(match[2] == "critical" for match in found),
        "notes": sum(line.startswith("Notes: ") for line in text),
        "scanned": next(line for line in text if line.startswith("Scanned: "))[9:29],
        "fixes": tuple(fix) if (fix := [m[1] for line in text if (m := FIX.match(line))]) else None,
    }


FIX: Final = re.compile(r"Fix \d+ of \d+: (.*?)(?:, \d+ -> |, \+\d+ points?)")


def in_markdown(one: Told) -> Facts:
    text = "".join(write_cards("markdown", [one.report]))
    facts = scored(re.search(r"^- Score: (.*)$", text, re.MULTILINE)[1])  # type: ignore[index]
    facts |= stepped(re.search(r"^- Next: (.*)$", text, re.MULTILINE)[1])  # type: ignore[index]
    lead = re.search(r"^\*\*. (.*?)\*\* (.*)$", text, re.MULTILINE)
    assert lead is not None
    facts |= {"stance": lead[1], "sentence": lead[2].replace("\\", "")}
    facts["scanned"] = re.search(r"^- Scanned: (.{20})", text, re.MULTILINE)[1]  # type: ignore[index]
    table = text.partition("## Who gets in\n\n")[2].partition("\n\n")[0].splitlines()[2:]
    facts |= in_words(
        (cells[1].strip(), cells[2].strip().split(" ", 1)[1]) for cells in (row.split("|") for row in table)
    )
    if "## Fixes" in text:
        shown = re.findall(r"^### (.*)$", text.partition("## Fixes")[2], re.MULTILINE)
        facts["fixes"] = tuple(name.replace("\\", "") for name in shown if not name.endswith("tried in a browser"))
    return facts | marked(text)


def from_tree(tree: LexborHTMLParser) -> Facts:
    """Return what an HTML document says, a file's or a page's."""
    text = tree.body.text(separator=" ") if tree.body is not None else ""
    facts = scored(text)
    rows = [[part.text(strip=True) for part in row.css("th, td")] for row in tree.css("tbody tr")]
    known = {surface.label for surface in SURFACES}
    said = [row for row in rows if len(row) == 3 and {*row[0].split(", ")} <= known]
    facts |= in_words((row[0], re.sub(r"^[^\w]+\s*", "", row[1])) for row in said)
    items = [" ".join(item.text(separator=" ").split()) for item in tree.css("li")]
    kinds = [match[1] for item in items if (match := re.match(r"(?:[✗!✓i] )?(critical|warn|good|note)\b", item))]
    facts["problems"] = sum(kind in ("critical", "warn") for kind in kinds)
    facts["critical"] = kinds.count("critical")
    facts["notes"] = kinds.count("note")
    fixes = [node.text(strip=True) for node in tree.css("h3")]
    facts["fixes"] = tuple(name for name in fixes if not name.endswith("tried in a browser")) or None
    facts["scanned"] = re.search(r"Scanned\s*:\s*(\d{4}-\d\d-\d\d \d\d:\d\d UTC)", text)[1]  # type: ignore[index]
    stance, sentence, step = (tree.css_first(f".verdict {name}") for name in (".stance", ".headline", ".next"))
    assert None not in (stance, sentence, step)
    figure = tree.css_first(".verdict dd").text().split()[0]
    assert figure == ("–" if facts["score"] is None else str(facts["score"]))
    name, gains = step.css_first("a"), step.css_first(".dim")
    facts |= stepped(f"{name.text()}: {gains.text()}" if name else step.text().partition(":")[2])
    return facts | {"stance": stance.text().split(" ", 1)[1], "sentence": sentence.text()}


def in_file(one: Told) -> Facts:
    return from_tree(LexborHTMLParser("".join(write_cards("html", [one.report]))))


def in_csv(one: Told) -> Facts:
    (row,) = csv.DictReader(io.StringIO("".join(write_cards("csv", [one.report]))))
    gone = row["list"] == "unreachable"
    return {
        "score": int(row["score"]) if row["score"] else None,
        "stance": "unreachable" if gone else row["stance"],
        "scanned": moment(row["scanned_at"]),
    }


def in_listing_csv(one: Told) -> Facts:
    fields = "host,score,grade,stance,list,best_fix,scanned_at"
    gone = one.row.unreachable
    ranked, lost = ([], [one.row]) if gone else ([one.row], [])
    listing = Listing(scanned_at=one.row.summary.scanned_at, ranked=ranked, unreachable=lost)
    (row,) = csv.DictReader(io.StringIO("".join(write_listing("csv", listing, fields=fields))))
    facts: Facts = {
        "score": int(row["score"]) if row["score"] else None,
        "grade": None if gone else row["grade"] or "no grade",
        "stance": "unreachable" if gone else row["stance"],
        "scanned": moment(row["scanned_at"]),
    }
    return facts if gone else facts | {"next": row["best_fix"] or "Nothing left to fix"}


def in_junit(one: Told) -> Facts:
    suite = ElementTree.fromstring("".join(write_cards("junit", [one.report])))
    properties = {str(part.get("name")): str(part.get("value")) for part in suite.iter("property")}
    if one.report.card.unreachable:
        return {"score": properties.get("score"), "grade": properties.get("grade")}
    facts: Facts = {
        "score": int(properties["score"]),
        "grade": properties.get("grade", "no grade"),
        "stance": properties["stance"],
    }
    lacking = []
    entries = () if one.report.card.ledger is UNSET else one.report.card.ledger.entries
    without_fix = {text for entry in entries for text in (entry.reason, f"Not measured. {entry.reason}")}
    for case in suite.iter("testcase"):
        name, group = str(case.get("name")), str(case.get("classname")).rpartition(".")[2]
        result = next(iter(case), None)
        if group == "agents":
            text = (result.text or "") if result is not None else ""
            word = re.match(rf"{re.escape(name)}: ([\w ]+?)(?:[;(,.]| \()", text)
            facts[f"passes {name}"] = result is None
            if word is not None:
                facts[f"verdict of {name}"] = word[1].strip()
        elif group == "checks" and result is not None and result.text not in without_fix:
            lacking.append(name)
    facts["lacking"] = frozenset(lacking)
    return facts


def in_sarif(one: Told) -> Facts:
    (run,) = json.loads("".join(write_cards("sarif", [one.report])))["runs"]
    figures_of = run["properties"]
    results = [result for result in run["results"] if result["ruleId"].startswith("finding/")]
    levels = [result["level"] for result in results if "suppressions" not in result]
    facts: Facts = {
        "problems": len(levels) - levels.count("note"),
        "critical": levels.count("error"),
        "score": figures_of.get("score"),
        "stance": figures_of.get("stance", "unreachable"),
    }
    return facts if one.report.card.unreachable else facts | {"grade": figures_of.get("grade", "no grade")}


def at_the_gate(one: Told) -> Facts:
    """Return what the gate says of each assistant that a scan asks about."""
    card, facts = one.report.card, Facts()
    for surface in SURFACES:
        if surface.source == "live" and not card.unreachable:
            code = check(card, Gates.of(must_serve=surface.slug), observations=one.report.observations).exit_code
            facts[f"passes {surface.label}"] = code == PASSED
            facts[f"fails {surface.label}"] = code == FAILED
    return facts


FORMS: Final[dict[str, Callable[[Told], Facts]]] = {
    "list": in_list,
    "card": on_card,
    "preview": in_preview,
    "comparison": compared,
    "command": commanded,
    "text": spoken,
    "markdown": in_markdown,
    "html": in_file,
    "csv": in_csv,
    "csv of the list": in_listing_csv,
    "junit": in_junit,
    "sarif": in_sarif,
    "gate": at_the_gate,
}


def differences(form: str, said: Facts, known: Facts) -> list[str]:
    """Return the facts that ``form`` says otherwise than the record."""
    return [
        f"{form}: {name} is {said[name]!r}, not {known[name]!r}"
        for name in said
        if name in known and said[name] != known[name]
    ]


@pytest.mark.parametrize("form", FORMS)
def test_a_form_says_what_the_record_says(told: dict[str, Told], form: str) -> None:
    assert len(told) >= 40
    wrong = {host: found for host, one in told.items() if (found := differences(form, FORMS[form](one), truth(one)))}
    assert not wrong, "\n".join(f"{host}: {line}" for host, found in wrong.items() for line in found)


def on_page(running: Running, one: Told) -> Facts:
    return from_tree(LexborHTMLParser(running.get(f"/site/{one.report.card.host}").text))


def by_tool(service: LocalService, one: Told) -> Facts:
    from aui_tui.web.toolset import Tools

    answer = asyncio.run(Tools(service).site(one.report.card.host))
    content = answer.content[0]
    text = content.text.splitlines()
    kinds = [line.partition(": ")[0] for line in text if re.match(r"(critical|warn|good|note): ", line)]
    lead = re.match(r"\S+: (\w+)\. (.*)", text[0])
    assert lead is not None
    facts = scored(next(line for line in text if line.startswith("Score: ")))
    facts |= stepped(next(line for line in text if line.startswith("Next: ")).removeprefix("Next: "))
    record = answer.structured_content or {}
    assert record["score"] == one.report.card.score
    return facts | {
        "stance": lead[1],
        "sentence": lead[2],
        "scanned": next(line for line in text if line.startswith("Scanned: "))[9:29],
        "problems": len(kinds) - kinds.count("good") - kinds.count("note"),
        "critical": kinds.count("critical"),
        "notes": kinds.count("note"),
        "fixes": tuple(line.partition("): ")[2] for line in text if line.startswith("fix ") and "): " in line) or None,
    }


@settings(max_examples=25, deadline=None)
@given(driven())
def test_a_form_says_what_any_record_says(seen: Observations) -> None:
    for report in (HostReport(card=grade_card(seen), observations=seen), HostReport(card=grade_card(seen))):
        for form in FORMS.keys() - {"list", "preview", "csv of the list"}:  # these begin with a row
            one = Told(report, ROW)
            assert not differences(form, FORMS[form](one), truth(one))


ROW: Final = Row(summary=WALLED.summary())


def rows_of_the_index(running: Running) -> dict[str, Facts]:
    """Return what each row of the index page says, by host."""
    found: dict[str, Facts] = {}
    for number in range(1, 9):
        tree = LexborHTMLParser(running.get(f"/?page={number}").text)
        for row in tree.css("table.sites tbody tr"):
            cells = {str(cell.attributes.get("data-label")): cell for cell in row.css("td")}
            host = row.css_first("th a").text()
            facts: Facts = {"scanned": cells["Scanned (UTC)"].text() + " UTC"}
            if "Score" in cells:
                letter = cells["Grade"].css_first("svg text").text()
                said = (item.text().split(" ", 1)[1].split(": ") for item in cells["Agents"].css("li"))
                facts |= in_words((name, word) for name, word in said)
                facts |= {
                    "score": int(cells["Score"].text()),
                    "grade": "no grade" if letter == "–" else letter,
                    "stance": cells["Stance"].text(),
                }
            found[host] = facts
    return found


def test_the_index_page_says_what_the_record_says(told: dict[str, Told], running: Running) -> None:
    rows = rows_of_the_index(running)
    assert len(rows) > 35
    wrong = [line for host, said in rows.items() for line in differences(f"index {host}", said, truth(told[host]))]
    assert not wrong, "\n".join(wrong)


def test_the_lists_of_commands_and_tools_say_what_the_record_says(told: dict[str, Told], service: LocalService) -> None:
    from aui_tui.web.toolset import Tools

    view = asyncio.run(service.index(Query()))
    sentences_of = list(list_sentences(view))
    content = asyncio.run(Tools(service).index(limit=100)).content[0]
    for host, one in told.items():
        known = truth(one)
        (sentence,) = [line for line in sentences_of if re.search(rf"\b{re.escape(host)}\b", line)]
        (line,) = [line for line in content.text.splitlines() if re.search(rf"\b{re.escape(host)}\b", line)]
        if one.report.card.unreachable:
            assert line == f"unreachable: {host}"
            assert host not in sentence.replace(host, "", 1), "the reason leaves the host out"
            continue
        assert re.search(r"Scanned (just now|\d+ (min|h|days?|weeks?) ago)\.$", sentence)
        letter = known["grade"] if known["grade"] == "no grade" else f"grade {known['grade']}"
        assert f"score {known['score']}, {letter}, {known['stance']}" in line
        assert f"score {known['score']}, {letter}, {known['stance']}" in sentence, sentence


def word_counted(item: Item, columns: tuple[str, ...]) -> str:
    """Return the word of an assistant in the overview of one host: the column that counts it."""
    counts = dict(zip(columns, item.cells, strict=True))
    words = ("Refused", "Challenged", "Told no", "Unclear", "Part")
    return next((word.lower() for word in words if counts[word] == "1"), fates.IN * (counts["Gets in"] == "1"))


def test_the_overview_of_one_host_says_what_its_record_says(told: dict[str, Told], service: LocalService) -> None:
    for host, one in told.items():
        if one.report.card.unreachable:
            continue
        known = truth(one)
        found = asyncio.run(service.overview(Query.of(line=host)))
        parts = {part.name: part for part in overview(found)}
        who = parts["assistants"]
        words = {item.label: word_counted(item, who.columns) for item in who.items if not item.text}
        shown = {surface.label: known[f"verdict of {surface.label}"] for surface in SURFACES}
        assert words == {name: word for name, word in shown.items() if word not in (fates.UNCLEAR, fates.NOT_ASKED)}
        assert [item.label for item in parts["grades"].items if item.cells[1] == "1"] == [known["grade"]]
        (row,) = parts["stances"].items
        assert dict(zip(parts["stances"].columns[1:], row.cells[1:], strict=True))[str(known["stance"])] == "1"
        lacking = (
            frozenset(item.label for item in parts["failing"].items if item.cells[1] == "1")
            if "failing" in parts
            else frozenset()
        )
        wanted = known.get("lacking", frozenset())
        assert isinstance(wanted, frozenset)
        disagree = {"robots.txt and site disagree"} if known["disagree"] else set()
        assert lacking == {check.lacking for check in BY_FIX.values() if check.label in wanted} | disagree


def test_the_page_says_what_the_record_says(told: dict[str, Told], running: Running) -> None:
    wrong = [line for one in told.values() for line in differences("page", on_page(running, one), truth(one))]
    assert not wrong, "\n".join(wrong)


def test_the_tool_says_what_the_record_says(told: dict[str, Told], service: LocalService) -> None:
    wrong = [line for one in told.values() for line in differences("tool", by_tool(service, one), truth(one))]
    assert not wrong, "\n".join(wrong)


def without_bar(line: str) -> str:
    """Return the words of a row, without what bars are drawn of."""
    return " ".join(re.sub(r"[█▓▒#⊘?░━─┄]", " ", line).split())


def test_the_overview_of_all_hosts_is_the_same_in_command_dashboard_and_page(
    service: LocalService, running: Running
) -> None:
    figures, weeks = asyncio.run(service.overview(Query())), asyncio.run(service.weeks(Query()))
    parts = {part.name: part for part in overview(figures, Moves(weeks=weeks))}
    tree = LexborHTMLParser(running.get("/").text)
    for name, part in parts.items():
        wanted = [without_bar(" ".join(item.cells)) for item in part.items if not item.text]
        if part.columns:
            drawn = [without_bar(line) for line in section_lines(part, Paint(width=400))]
            shown = [without_bar(row.content.plain) for row in table(part, 198)]
            assert [row for row in wanted if row not in drawn or row not in shown] == []
        for row in tree.css(f"section.{name} tbody tr"):
            cells_of = [cell.text() for cell in row.css("th, td")]
            heads = [head.text() for head in tree.css(f"section.{name} thead th")]
            item = next(item for item in part.items if item.label == cells_of[0])
            assert cells_of == [item.cells[part.columns.index(head)] for head in heads]
            for link in row.css("a"):
                address = str(link.attributes["href"])
                listed = LexborHTMLParser(running.get(address).text).css_first("table.sites caption")
                assert listed.text().startswith(link.text() + " scored site"), address


def test_a_finding_has_one_level_on_the_card_in_a_gate_and_in_sarif(told: dict[str, Told]) -> None:
    for one in told.values():
        card = one.report.card
        if card.unreachable:
            continue
        parts = filter(None, (sections.findings(one.report), sections.notes(one.report)))
        shown = Counter(item.word for part in parts for item in part.items if item.key != QUOTE)
        results = json.loads("".join(write_cards("sarif", [one.report])))["runs"][0]["results"]
        levels = Counter(result["level"] for result in results if result["ruleId"].startswith("finding/"))
        assert levels == +Counter(error=shown["critical"], warning=shown["warn"], note=shown["note"]), card.host
        for word, number in (("critical", shown["critical"]), ("warn", shown["critical"] + shown["warn"])):
            failures = check(card, Gates.of(fail_on=word)).failures
            assert sum(failure.by for failure in failures if not failure.inconclusive) == number, card.host


REASON: Final = "Accepted until 2099-12-31: We know of it."


def in_words_of(form: str, one: Told, running: Running) -> str:
    """Return all that a form says of a host."""
    report = one.report
    state = CardState(report.card.host).with_report(report)
    keys = (row.key for row in cardrows.evidence(state, report, 80))
    texts: dict[str, Callable[[], str]] = {
        "card": lambda: "\n".join(cardrows.finding_text(report, key) for key in keys),
        "command": lambda: "\n".join(lines(report, Paint(width=1000), details=True, now=NOW)),
        "text": lambda: "\n".join(sentences(report)),
        "page": lambda: running.get(f"/site/{report.card.host}").text,
    }
    return texts[form]() if form in texts else "".join(write_cards(form, [report]))


def test_an_accepted_finding_is_a_problem_in_no_form_and_has_its_reason_in_each(
    told: dict[str, Told], tmp_path: Path
) -> None:
    why, accept = Acceptance(reason="We know of it.", until=date(2099, 12, 31)), {}
    for host, one in told.items():
        findings = one.report.card.findings
        bad = [item.id for item in findings if item.severity in ("critical", "warn") and not is_note(item)]
        if bad:
            accept[host] = {bad[0]: why}
    service = LocalService(tmp_path, accept=accept)
    kept = {host: told[host] for host in [*accept][:12]}
    for one in kept.values():
        service.store.put(one.report.card, one.report.observations)
    with serving(service) as running:
        for host, one in kept.items():
            one = Told(asyncio.run(service.site(host)), one.row)
            assert one.report.accepted
            for form in FORMS:
                assert not differences(form, FORMS[form](one), truth(one)), host
            for form in ("card", "command", "text", "markdown", "html", "sarif", "junit", "page"):
                assert REASON in " ".join(in_words_of(form, one, running).replace("\\", "").split()), (form, host)
            for form, said in (("page", on_page(running, one)), ("tool", by_tool(service, one))):
                assert not differences(form, said, truth(one)), host
    service.store.close()


CLIENTS: Final = (
    records.verified("Claude-User", 1202, 2),
    records.visitor("ChatGPT-User", 10, 90, addresses="none published"),
    records.verified("Perplexity-User", 0, 40, outside=5),
    records.visitor("GPTBot", 7, 0),
)
VISITED: Final = ("Agent", "Requests", "Served", "Refused", "The probe", "Together")
"""Columns that a form may not say otherwise."""


def counted(one: Told) -> list[dict[str, str]]:
    """What the record says of each client, by column."""
    record = one.report.visits
    assert record is not None
    return [dict(zip(HEADER, cells(row), strict=True)) for row in visit_rows(record, one.report.card)]


def in_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[dict[str, str]]:
    return [dict(zip(heads, row, strict=False)) for row in rows]


def visits_as(form: str, one: Told, running: Running) -> list[dict[str, str]]:
    """Return the table of visits of a form, by column."""
    record, card = one.report.visits, one.report.card
    assert record is not None
    if form == "csv":
        names = {"label": "Agent", "requests": "Requests", "probe": "The probe", "together": "Together"}
        rows = csv.DictReader(io.StringIO("".join(visits_csv(record, card))))
        return [{names[key]: value for key, value in row.items() if key in names} for row in rows]
    if form in ("html", "page"):
        source = running.get(f"/site/{card.host}").text if form == "page" else in_words_of("html", one, running)
        table = next(
            table for table in LexborHTMLParser(source).css("table") if "Together" in table.css_first("thead").text()
        )
        heads = [head.text() for head in table.css("thead th")]
        return in_table(heads, ([cell.text() for cell in row.css("th, td")] for row in table.css("tbody tr")))
    if form == "markdown":
        lines_of = in_words_of("markdown", one, running).replace("\\", "").partition("## Visits")[2].splitlines()
        cells_of = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines_of if line.startswith("|")]
        return in_table(cells_of[0], cells_of[2:])
    if form == "command":
        drawn = [line[2:] for line in section_lines(visits_section(record, card), Paint(width=400))]
    else:
        drawn = [row.content.plain.split("\n")[0][3:] for row in cardrows.visits(one.report, 200)]
    start = next(place for place, line in enumerate(drawn) if line.startswith("Agent"))
    heads = re.split(r" {2,}", drawn[start].strip())
    shown = (re.split(r" {2,}", line.strip()) for line in drawn[start + 1 :])
    return in_table(heads, (row for row in shown if len(row) >= len(heads)))


def test_every_form_says_of_visits_what_the_record_says(told: dict[str, Told], tmp_path: Path) -> None:
    service = LocalService(tmp_path)
    kept = {host: told[host] for host in [*told][:8]}
    for host, one in kept.items():
        service.store.put(one.report.card, one.report.observations)
        asyncio.run(service.keep_visits(records.visits(*CLIENTS, host=host)))
    with serving(service) as running:
        for host, one in kept.items():
            one = Told(asyncio.run(service.site(host)), one.row)
            known = {row["Agent"]: row for row in counted(one)}
            for form in ("card", "command", "markdown", "html", "page", "csv"):
                rows = visits_as(form, one, running)
                assert [row["Agent"] for row in rows] == [*known], (form, host)
                for row in rows:
                    said = {name: re.sub(r"^[✓≠=#?✗⊘·] ", "", row[name]) for name in VISITED if name in row}
                    wanted = {name: known[row["Agent"]][name] for name in said}
                    if form == "csv":
                        wanted["Requests"] = wanted["Requests"].replace(",", "").replace("–", "0")
                    assert said == wanted, (form, host)
    service.store.close()

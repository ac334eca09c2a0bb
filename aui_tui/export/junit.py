"""JUnit XML as Jenkins, GitLab and GitHub read it: a suite a host, a case an agent, a check and a gate.

Names of cases are stable from run to run, so that a CI server can say what is newly broken. An agent that is shut out
fails; one whose probe got no answer errs, for it never passes; advice that is still open is skipped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from aui_tui.changes import VERDICT_RANK
from aui_tui.engine.checks import BY_FIX
from aui_tui.export.options import Options, Refusal
from aui_tui.records import labels, points
from aui_tui.records.card import ReportCard
from aui_tui.records.points import gain
from aui_tui.records.registry import registry
from aui_tui.text import clean

ANSWERS: Final = "the site answers"
"""The case of a host without figures."""
EPOCH: Final = "1970-01-01T00:00:00"
"""The time of a deterministic suite and of one without a scan, as the attribute must be there."""


@dataclass(frozen=True, slots=True)
class Case:
    """A test case: ``result`` is empty (passed), ``failure``, ``error`` or ``skipped``."""

    group: str
    name: str
    result: str = ""
    kind: str = ""
    message: str = ""


def junit_cards(cards: Iterable[ReportCard], options: Options) -> Iterator[str]:
    """Yield one document with a suite a card, and a host without a card."""
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n'
    numbers = count()
    for card in cards:
        yield from _suite(next(numbers), card, options)
    for refused in options.refused:
        yield from _refused(next(numbers), refused)
    yield "</testsuites>\n"


def _suite(number: int, card: ReportCard, options: Options) -> Iterator[str]:
    cases = list(_cases(card, options))
    seconds = "0" if options.deterministic else f"{card.elapsed_ms / 1000:.3f}"
    counts = {kind: sum(case.result == kind for case in cases) for kind in ("failure", "error", "skipped")}
    yield (
        f"<testsuite name={_attribute(card.host)} tests={quoteattr(str(len(cases)))}"
        f' failures="{counts["failure"]}" errors="{counts["error"]}" skipped="{counts["skipped"]}"'
        f' time="{seconds}" timestamp="{EPOCH if options.deterministic else card.scanned_at[:19]}"'
        f' hostname={_attribute(card.host)} id="{number}" package="aui-tui">\n<properties>\n'
    )
    for name in ("method",) if card.unreachable else ("method", "score", "grade", "stance"):
        yield f'<property name="{name}" value={_attribute(str(getattr(card, name)))}/>\n'
    yield "</properties>\n"
    for case in cases:
        yield from _case(card.host, case)
    said = "\n".join(f"{item.t}: {item.text}" for item in card.evidence)
    yield f"<system-out>{_text(said)}</system-out>\n<system-err></system-err>\n</testsuite>\n"


def _refused(number: int, refused: Refusal) -> Iterator[str]:
    name = _attribute(refused.host)
    yield (
        f'<testsuite name={name} tests="1" failures="0" errors="1" skipped="0" time="0" timestamp="{EPOCH}"'
        f' hostname={name} id="{number}" package="aui-tui">\n'
    )
    yield from _case(refused.host, Case("agents", ANSWERS, "error", refused.title, refused.detail))
    yield "<system-out></system-out>\n<system-err></system-err>\n</testsuite>\n"


def _case(host: str, case: Case) -> Iterator[str]:
    yield f'<testcase classname={_attribute(host + "." + case.group)} name={_attribute(case.name)} time="0"'
    if not case.result:
        yield "/>\n"
    elif case.result == "skipped":
        yield f"><skipped>{_text(case.message)}</skipped></testcase>\n"
    else:
        attributes = f"message={_attribute(case.message)} type={_attribute(case.kind)}"
        yield f"><{case.result} {attributes}>{_text(case.message)}</{case.result}></testcase>\n"


def _cases(card: ReportCard, options: Options) -> Iterator[Case]:
    if card.unreachable:
        yield Case("agents", ANSWERS, "error", "unreachable", card.top_evidence or "Nothing was measured.")
    else:
        yield from _agents(card)
        yield from _checks(card)
    outcome = options.gates.get(card.host)
    if outcome is not None:
        for failure in outcome.failures:
            result = "error" if failure.inconclusive else "failure"
            yield Case("gates", failure.gate, result, failure.gate, failure.message)
        if not outcome.failures:
            yield Case("gates", "all")


def _agents(card: ReportCard) -> Iterator[Case]:
    answers = labels.answers(card)
    for (key, verdict), known in zip(card.matrix.items(), registry().surfaces, strict=False):
        name = labels.surface(key)
        answer = f" ({answers[key]})" if key in answers else ""
        if verdict in VERDICT_RANK:
            shut = VERDICT_RANK[verdict] == 0
            yield Case("agents", name, "failure" if shut else "", verdict, f"{name}: {verdict}{answer}.")
        elif known.source == "none":
            yield Case("agents", name, "skipped", verdict, f"{name}: no test is possible over plain HTTP.")
        else:
            yield Case("agents", name, "error", verdict, f"{name}: {verdict}{answer}, so it could not be told.")


def _checks(card: ReportCard) -> Iterator[Case]:
    wanted = {fix.k: fix for fix in card.recommendations}
    for key, check in BY_FIX.items():
        name = check.label
        if key in wanted:
            fix = wanted[key]
            yield Case("checks", name, "skipped", key, f"{fix.title} ({fix.pillar}: {gain(card, fix.k)})")
        elif key == "wba" and not points.conclusive(card):
            yield Case("checks", name, "error", key, "No probed agent got an answer.")
        else:
            yield Case("checks", name)


def _attribute(text: str) -> str:
    return quoteattr(" ".join(clean(text).split()) or "none")


def _text(text: str) -> str:
    return escape(clean(text, block=True))

"""Formats of CI systems: JUnit XML and SARIF; each problem of a card once.

A problem has a rule, its fix, and the place that it belongs to. No text of a site can become markup.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple
from urllib.parse import quote
from xml.etree import ElementTree

import msgspec
from msgspec import UNSET

from aui_tui import __version__
from aui_tui.checks import BY_FIX, Check, evidence
from aui_tui.checks.wording import PLACE
from aui_tui.model.agents import outcome_of_each
from aui_tui.model.card import QUOTE, Finding, Recommendation, ReportCard
from aui_tui.model.fates import NOT_ASKED, SHUT, UNCLEAR
from aui_tui.model.options import Acceptance
from aui_tui.model.points import by_harm, gain
from aui_tui.model.report import HostReport
from aui_tui.model.vocabulary import NO_GRADE
from aui_tui.report.formats import ExportOptions, HostResult, Refusal
from aui_tui.report.gates import Failure, GateOutcome
from aui_tui.report.markdown import fenced
from aui_tui.report.sections import findings, notes
from aui_tui.text import clean

ERROR, WARNING, NOTE = "error", "warning", "note"
"""Levels, as SARIF calls them."""
LEVELS: Final = MappingProxyType({"critical": ERROR, "warn": WARNING, evidence.NOTE: NOTE})
"""The same by the level of a finding; what is good is no result."""


class ProblemRule(NamedTuple):
    """A kind of problem: its id, level, a short text, help, and where to read on."""

    id: str
    level: str
    text: str
    help: str
    uri: str = Check.read_on


Problem = tuple[ProblemRule, dict[str, Any]]
"""A rule, and the members of a result of SARIF beside those that name the rule."""


def problems(
    card: ReportCard,
    outcome: GateOutcome | None,
    options: ExportOptions,
    accepted: Mapping[str, Acceptance],
) -> Iterator[Problem]:
    """Yield the findings of ``card`` with the fix of each, fixes that no finding speaks of, and failed gates."""
    occurrences: Counter[str] = Counter()
    fixes = {} if card.unreachable else {fix.k: fix for fix in by_harm(card)}
    for finding in card.findings:
        if evidence.level(finding) in LEVELS and finding.id != QUOTE:
            occurrences[finding.id] += 1
            identity = str(occurrences[finding.id]) if finding.id else finding.text
            fix = fixes.pop(finding.fix, None)
            rule, result = _problem(card, options, _rule_of(finding), finding.text, identity, key=finding.fix, fix=fix)
            if why := accepted.get(finding.id):
                result["suppressions"] = [{"kind": "external", "justification": why.words}]
            yield rule, result
    for failure in outcome.failures if outcome else ():
        rule = ProblemRule(
            f"gate/{failure.gate}",
            ERROR,
            f"The condition --{failure.gate} is not met.",
            "A condition that was asked for on the command line; an inconclusive one never passes.",
        )
        identity, about = (
            failure.message if failure.gate in ("must-serve", "must-block") else "",
            {"inconclusive": failure.inconclusive},
        )
        yield _problem(card, options, rule, f"{failure.gate}: {failure.message}", identity, about=about)
    for key, fix in fixes.items():
        rule = ProblemRule(f"fix/{clean(key, 60)}", NOTE, clean(fix.title), *_help(key))
        yield _problem(card, options, rule, "", "", key=key, fix=fix)


def _rule_of(finding: Finding) -> ProblemRule:
    level = LEVELS[evidence.level(finding)]
    line = evidence.sentences().get(finding.id)
    if line is None:
        name = f"finding/{finding.id or finding.severity}"
        about = "A finding of another index or of an earlier version."
        return ProblemRule(name, level, f"A finding of severity {finding.severity}.", about)
    text = clean(line.text)
    if PLACE.search(text):
        lacking = f": {BY_FIX[finding.fix].lacking}" if finding.fix in BY_FIX else ""
        text = f"{finding.id.replace('-', ' ').capitalize()}{lacking}."
    return ProblemRule(f"finding/{finding.id}", level, text, *_help(finding.fix))


def _help(key: str) -> tuple[str, str]:
    """Return what the fix ``key`` is about, and where to read on."""
    if key not in BY_FIX:
        return "A limit of this scan, or its outcome.", Check.read_on
    return f"What is lacking: {BY_FIX[key].lacking}.", BY_FIX[key].read_on


def _problem(
    card: ReportCard,
    options: ExportOptions,
    rule: ProblemRule,
    text: str,
    identity: str,
    *,
    key: str = "",
    fix: Recommendation | None = None,
    about: dict[str, Any] | None = None,
) -> Problem:
    """Return a problem with its ``fix``, at the place that the fix ``key`` belongs to.

    ``identity`` tells it from others of its rule, and is the same in another run while only figures change. ``about``:
    figures for a program.
    """
    text = clean(text)
    message = {"text": text or rule.id}
    if fix:
        advice = f"{clean(fix.title)} ({clean(fix.pillar)}: {gain(card, fix.k)}). {clean(fix.body)}"
        text = f"{text} Fix: {advice}" if text else advice
        code = clean(fix.code, block=True)
        message = {"text": f"{text}\n\n{code}", "markdown": f"{text}\n\n{fenced(code).rstrip()}"}
        message = message if code else {"text": text}
        about = {"points": fix.pts, "pillar": clean(fix.pillar)}
    path = BY_FIX[key].path if key in BY_FIX else ""
    place = options.locate(path) or _uri_of(card.host) + path
    stable = "\n".join((card.host, rule.id, identity)).encode("utf-8", "replace")
    result: dict[str, Any] = {
        "message": message,
        "locations": [
            {
                "logicalLocations": [{"fullyQualifiedName": clean(card.host), "kind": "resource"}],
                "physicalLocation": {"artifactLocation": {"uri": place}, "region": {"startLine": 1}},
            }
        ],
        "partialFingerprints": {"auiTui/v1": hashlib.sha256(stable).hexdigest()[:32]},
    }
    return rule, result | ({"properties": about} if about else {})


def _figures(card: ReportCard) -> dict[str, Any]:
    """Return method, score, grade and stance of ``card``, as far as it has them."""
    names = ("method",) if card.unreachable else ("method", "score", "grade", "stance")
    figures = {name: getattr(card, name) for name in names}
    return {
        name: clean(value) if isinstance(value, str) else value for name, value in figures.items() if value != NO_GRADE
    }


SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif_cards(results: Iterable[HostResult], options: ExportOptions) -> Iterator[str]:
    """Yield one log with a run a host."""
    yield f'{{\n  "$schema": "{SCHEMA}",\n  "version": "2.1.0",\n  "runs": ['
    separator = "\n    "
    for run in (_run(result, options) for result in results):
        text = msgspec.json.format(msgspec.json.encode(run), indent=2).decode()
        yield separator + text.replace("\n", "\n    ")
        separator = ",\n    "
    yield "\n  ]\n}\n" if separator.startswith(",") else "]\n}\n"


def _run(host_result: HostResult, options: ExportOptions) -> dict[str, Any]:
    if isinstance(host_result.answer, Refusal):
        return _log_of(host_result.answer.host, clean(host_result.answer.detail), (), {})
    card = host_result.answer.card
    problems_of_card = tuple(problems(card, host_result.outcome, options, host_result.answer.accepted))
    rules = list(dict.fromkeys(rule for rule, _ in problems_of_card))
    reason = (clean(card.top_evidence) or "Nothing was measured.") if card.unreachable else ""
    run = _log_of(card.host, reason, rules, _figures(card))
    if not options.deterministic:
        run["invocations"][0]["startTimeUtc"] = card.scanned_at
    run["results"] = [
        {"ruleId": rule.id, "ruleIndex": rules.index(rule), "level": rule.level, **result}
        for rule, result in problems_of_card
    ]
    return run


def _log_of(host: str, failed: str, rules: Sequence[ProblemRule], figures: dict[str, Any]) -> dict[str, Any]:
    """Return a run without results; ``failed`` says why nothing was measured, empty where something was."""
    invocation: dict[str, Any] = {"executionSuccessful": not failed}
    if failed:
        invocation["toolExecutionNotifications"] = [{"level": ERROR, "message": {"text": failed}}]
    described = [
        {
            "id": rule.id,
            "shortDescription": {"text": rule.text},
            "help": {"text": rule.help},
            "helpUri": rule.uri,
            "defaultConfiguration": {"level": rule.level},
        }
        for rule in rules
    ]
    return {
        "tool": {"driver": {"name": "aui-tui", "semanticVersion": __version__, "rules": described}},
        "automationDetails": {"id": f"aui-tui/{clean(host)}/"},
        "invocations": [invocation],
        "results": [],
        "columnKind": "unicodeCodePoints",
        "properties": {"host": clean(host)} | figures,
    }


def _uri_of(host: str) -> str:
    """Return ``host`` as the first segment of a relative reference (RFC 3986, 4.2).

    Code scanning takes no result without a file, and refuses a whole log whose files have the scheme of a web address.
    """
    return quote(host, safe="", errors="replace") or "site"


ANSWERS: Final = "the site answers"
"""The case of a host without figures."""
EPOCH: Final = "1970-01-01T00:00:00"
"""The time of a deterministic suite and of one without a scan, as the attribute must be there."""
RESULTS: Final = MappingProxyType({"failures": "failure", "errors": "error", "skipped": "skipped"})


class Case(NamedTuple):
    """A test case: ``result`` is empty (passed) or one of RESULTS."""

    group: str
    name: str
    result: str = ""
    kind: str = ""
    message: str = ""


def junit_cards(results: Iterable[HostResult], options: ExportOptions) -> Iterator[str]:
    """Yield one document with a suite a host."""
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n'
    for number, result in enumerate(results):
        suite = _suite(result, options)
        suite.set("id", str(number))
        yield ElementTree.tostring(suite, encoding="unicode") + "\n"
    yield "</testsuites>\n"


def _suite(result: HostResult, options: ExportOptions) -> ElementTree.Element:
    if isinstance(result.answer, Refusal):
        case = Case("agents", ANSWERS, "error", result.answer.title, result.answer.detail)
        return _suite_of(result.answer.host, [case], {}, "")
    card = result.answer.card
    parts = (findings(result.answer), notes(result.answer))
    text = "\n".join(f"{item.word}: {item.text}" for part in parts if part is not None for item in part.items)
    suite = _suite_of(card.host, list(_cases(result.answer, result.outcome)), _figures(card), text)
    if not options.deterministic:
        suite.set("time", f"{card.elapsed_ms / 1000:.3f}")
        suite.set("timestamp", card.scanned_at[:19])
    return suite


def _suite_of(host: str, cases: Sequence[Case], figures: dict[str, Any], output: str) -> ElementTree.Element:
    counts = {name: str(sum(case.result == kind for case in cases)) for name, kind in RESULTS.items()}
    suite = ElementTree.Element(
        "testsuite",
        {"name": _line(host), "hostname": _line(host), "package": "aui-tui", "tests": str(len(cases)), **counts},
        time="0",
        timestamp=EPOCH,
    )
    listed = ElementTree.SubElement(suite, "properties") if figures else suite
    for name, value in figures.items():
        ElementTree.SubElement(listed, "property", name=name, value=_line(str(value)))
    for case in cases:
        made = ElementTree.SubElement(suite, "testcase", classname=_line(f"{host}.{case.group}"), name=_line(case.name))
        made.set("time", "0")
        if case.result:
            result = ElementTree.SubElement(made, case.result)
            result.text = clean(case.message, block=True)
            if case.result != "skipped":
                result.attrib |= {"message": _line(case.message), "type": _line(case.kind)}
    ElementTree.SubElement(suite, "system-out").text = clean(output, block=True)
    ElementTree.SubElement(suite, "system-err")
    ElementTree.indent(suite)
    return suite


def _line(text: str) -> str:
    return " ".join(clean(text).split()) or "none"


def _cases(report: HostReport, outcome: GateOutcome | None) -> Iterator[Case]:
    card = report.card
    if card.unreachable:
        yield Case("agents", ANSWERS, "error", "unreachable", card.top_evidence or "Nothing was measured.")
    else:
        yield from _agents(report)
        yield from _checks(card)
    by_gate: dict[str, list[Failure]] = {}
    for failure in outcome.failures if outcome else ():
        by_gate.setdefault(failure.gate, []).append(failure)
    for gate, failures in by_gate.items():  # a name is one case: of several, build systems show the first
        result = "error" if all(failure.inconclusive for failure in failures) else "failure"
        yield Case("gates", gate, result, gate, " ".join(failure.message for failure in failures))
    if outcome is not None and not outcome.failures:
        yield Case("gates", "all")


def _agents(report: HostReport) -> Iterator[Case]:
    results = {UNCLEAR: "error", NOT_ASKED: "skipped"} | dict.fromkeys(SHUT, "failure")
    for assistant in outcome_of_each(report.card, report.observations):
        name, verdict = assistant.names[0], assistant.verdict
        why = assistant.why if assistant.why.startswith(verdict) else f"{verdict}; {assistant.why}"
        yield Case("agents", name, results.get(verdict, ""), verdict, f"{name}: {why}.")


def _checks(card: ReportCard) -> Iterator[Case]:
    """Yield each check: it passes with all its points alone. A card of others has no ledger, and its fixes speak."""
    fix_by_key = {fix.k: fix for fix in card.recommendations}
    entries = {} if card.ledger is UNSET else {entry.component: entry for entry in card.ledger.entries}
    for key, check in BY_FIX.items():
        entry = entries.get(key)
        if fix := fix_by_key.get(key):
            yield Case("checks", check.label, "skipped", key, f"{fix.title} ({fix.pillar}: {gain(card, fix.k)})")
        elif entry is not None and not entry.measured:
            yield Case("checks", check.label, "skipped", key, f"Not measured. {entry.reason}")
        elif entry is not None and entry.earned < entry.possible:
            yield Case("checks", check.label, "skipped", key, entry.reason)
        else:
            yield Case("checks", check.label)

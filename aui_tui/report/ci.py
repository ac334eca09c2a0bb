"""Formats of CI systems: JUnit XML, SARIF, GitHub annotations, GitLab code quality; each problem of a card once.

A problem has a rule, its fix, and the place that it belongs to. No text of a site can begin a command or markup.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

import msgspec

from aui_tui import __version__
from aui_tui.checks import BY_FIX
from aui_tui.checks.ledger import sentences
from aui_tui.checks.wording import PLACE
from aui_tui.model import labels, points
from aui_tui.model.agents import said
from aui_tui.model.card import QUOTE, Finding, Recommendation, ReportCard
from aui_tui.model.points import gain
from aui_tui.model.registry import registry
from aui_tui.model.vocabulary import VERDICT_RANK
from aui_tui.report.markdown import fenced
from aui_tui.report.options import Options, Refusal
from aui_tui.text import clean

ERROR, WARNING, NOTE = "error", "warning", "note"
"""Levels, as SARIF calls them."""
LEVELS: Final = MappingProxyType({"critical": ERROR, "warn": WARNING})
HELP: Final = MappingProxyType(
    {
        "wba": "https://www.rfc-editor.org/rfc/rfc9421",
        "front-door": "https://modelcontextprotocol.io/",
        "llms": "https://llmstxt.org/",
        "jsonld": "https://schema.org/docs/gs.html",
        "landmarks": "https://www.w3.org/TR/html-aam-1.0/",
        "ssr": "https://web.dev/articles/rendering-on-the-web",
        "signal": "https://contentsignals.org/",
        "robots": "https://www.rfc-editor.org/rfc/rfc9309",
    }
)
"""Where to read on, by the fix of a check."""
HTTP: Final = "https://www.rfc-editor.org/rfc/rfc9110"
PATHS: Final = MappingProxyType(
    {"robots": "/robots.txt", "signal": "/robots.txt", "llms": "/llms.txt", "front-door": "/.well-known"}
)
"""The path on the site that a fix is about; others are about the homepage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A kind of problem: its id, level, a short text, help, and where to read on."""

    id: str
    level: str
    text: str
    help: str
    uri: str = HTTP


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One problem of one host. ``text``: sentences; ``code``: a snippet to paste, may be empty.

    ``path``: where on the site, empty for the homepage. ``fingerprint``: the same in another run while only figures
    change. ``about``: figures for a program.
    """

    rule: Rule
    text: str
    code: str = ""
    path: str = ""
    fingerprint: str = ""
    about: dict[str, Any] = field(default_factory=dict)


def problems(card: ReportCard, options: Options) -> Iterator[Problem]:
    """Yield the findings of ``card`` with the fix of each, fixes that no finding speaks of, and failed gates."""
    seen: Counter[str] = Counter()
    fixes = {} if card.unreachable else {fix.k: fix for fix in card.recommendations}
    for found in card.findings:
        if found.severity in LEVELS and found.id != QUOTE:
            seen[found.id] += 1
            identity, path = str(seen[found.id]) if found.id else found.text, PATHS.get(found.fix, "")
            yield _problem(card, _rule_of(found), clean(found.text), fixes.pop(found.fix, None), identity, path)
    outcome = options.gates.get(card.host)
    for failure in outcome.failures if outcome else ():
        gate = Rule(
            id=f"gate/{failure.gate}",
            level=ERROR,
            text=f"The condition --{failure.gate} is not met.",
            help="A condition that was asked for on the command line; an inconclusive one never passes.",
        )
        yield _problem(
            card, gate, clean(f"{failure.gate}: {failure.message}"), None,
            identity=failure.message if failure.gate == "must-serve" else "",
            about={"inconclusive": failure.inconclusive},
        )  # fmt: skip
    for key, fix in fixes.items():
        rule = Rule(
            id=f"fix/{clean(key, 60)}", level=NOTE, text=clean(fix.title), help=_help(key), uri=HELP.get(key, HTTP)
        )
        yield _problem(card, rule, "", fix, identity="", path=PATHS.get(key, ""))


def _rule_of(finding: Finding) -> Rule:
    line = sentences().get(finding.id)
    if line is None:
        return Rule(
            id=f"finding/{finding.id or finding.severity}",
            level=LEVELS[finding.severity],
            text=f"A finding of severity {finding.severity}.",
            help="A finding of another index or of an earlier version.",
        )
    return Rule(
        id=f"finding/{finding.id}",
        level=LEVELS[finding.severity],
        text=clean(PLACE.sub("...", line.text)),
        help=_help(finding.fix),
        uri=HELP.get(finding.fix, HTTP),
    )


def _help(key: str) -> str:
    return f"What is lacking: {BY_FIX[key].lacking}." if key in BY_FIX else "A limit of this scan, or its outcome."


def _problem(
    card: ReportCard,
    rule: Rule,
    text: str,
    fix: Recommendation | None,
    identity: str,
    path: str = "",
    *,
    about: dict[str, Any] | None = None,
) -> Problem:
    code = clean(fix.code, block=True) if fix else ""
    if fix:
        advice = f"{clean(fix.title)} (+{fix.pts} {clean(fix.pillar)}). {clean(fix.body)}"
        text = f"{text} Fix: {advice}" if text else advice
        about = {"points": fix.pts, "pillar": clean(fix.pillar)} | (about or {})
    stable = "\n".join((card.host, rule.id, identity))
    return Problem(
        rule=rule,
        text=text or rule.id,
        code=code,
        path=path,
        fingerprint=hashlib.sha256(stable.encode("utf-8", "replace")).hexdigest()[:32],
        about=about or {},
    )


SEVERITIES: Final = MappingProxyType({"error": "major", "warning": "minor", "note": "info"})
"""Levels as GitLab calls them."""
COMMANDS: Final = MappingProxyType({"error": "error", "warning": "warning", "note": "notice"})
"""Levels as GitHub calls them."""
ANY_FILE: Final = "README.md"
"""What GitLab is given where no file of the repository fits: its report takes no problem without one."""


def github_cards(cards: Iterable[ReportCard], options: Options) -> Iterator[str]:
    """Yield a workflow command a problem, such as ``::error title=...::...``; no text can begin another."""
    for card in cards:
        for found in problems(card, options):
            place = options.locate(found.path)
            fields = {"file": place, "line": "1" if place else "", "title": f"{card.host}: {found.rule.id}"}
            written = ",".join(f"{name}={_property(value)}" for name, value in fields.items() if value)
            yield f"::{COMMANDS[found.rule.level]} {written}::{_data(_whole(found))}\n"
    for refused in options.refused:
        yield f"::error title={_property(refused.host)}::{_data(refused.detail)}\n"


def gitlab_cards(cards: Iterable[ReportCard], options: Options) -> Iterator[str]:
    """Yield one code quality report: a JSON array with an entry a problem."""
    found: list[dict[str, Any]] = []
    for card in cards:
        found += [
            {
                "description": f"{card.host}: {_whole(one)}",
                "check_name": one.rule.id,
                "fingerprint": one.fingerprint,
                "severity": SEVERITIES[one.rule.level],
                "location": {"path": options.locate(one.path) or ANY_FILE, "lines": {"begin": 1}},
            }
            for one in problems(card, options)
        ]
    yield msgspec.json.format(msgspec.json.encode(found), indent=2).decode() + "\n"


def _whole(found: Problem) -> str:
    return f"{found.text}\n{found.code}" if found.code else found.text


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif_cards(cards: Iterable[ReportCard], options: Options) -> Iterator[str]:
    """Yield one log with a run a card, and a host without a card."""
    yield f'{{\n  "$schema": "{SCHEMA}",\n  "version": "2.1.0",\n  "runs": ['
    separator = "\n    "
    for run in chain((_run(card, options) for card in cards), map(_failed_run, options.refused)):
        text = msgspec.json.format(msgspec.json.encode(run), indent=2).decode()
        yield separator + text.replace("\n", "\n    ")
        separator = ",\n    "
    yield "\n  ]\n}\n" if separator.startswith(",") else "]\n}\n"


def _run(card: ReportCard, options: Options) -> dict[str, Any]:
    reached = not card.unreachable
    invocation: dict[str, Any] = {"executionSuccessful": reached}
    if not options.deterministic:
        invocation["startTimeUtc"] = card.scanned_at
    if not reached:
        invocation |= _notification(clean(card.top_evidence) or "Nothing was measured.")
    figures = {"score": card.score, "grade": card.grade, "stance": card.stance} if reached else {}
    found = tuple(problems(card, options))
    return _run_of(card, card.host, invocation, found, options) | {
        "properties": {"host": clean(card.host), "method": clean(card.method), **figures}
    }


def _failed_run(refused: Refusal) -> dict[str, Any]:
    invocation = {"executionSuccessful": False} | _notification(clean(refused.detail))
    return _run_of(None, refused.host, invocation, (), Options()) | {"properties": {"host": clean(refused.host)}}


def _notification(words: str) -> dict[str, Any]:
    return {"toolExecutionNotifications": [{"level": "error", "message": {"text": words}}]}


def _run_of(
    card: ReportCard | None, host: str, invocation: dict[str, Any], found: Sequence[Problem], options: Options
) -> dict[str, Any]:
    rules = list(dict.fromkeys(problem.rule for problem in found))
    return {
        "tool": {"driver": {"name": "aui-tui", "semanticVersion": __version__, "rules": [_rule(one) for one in rules]}},
        "automationDetails": {"id": f"aui-tui/{clean(host)}/"},
        "invocations": [invocation],
        "results": [_result(card, problem, rules.index(problem.rule), options) for problem in found if card],
        "columnKind": "unicodeCodePoints",
    }


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.text},
        "help": {"text": rule.help},
        "helpUri": rule.uri,
        "defaultConfiguration": {"level": rule.level},
    }


def _result(card: ReportCard, found: Problem, index: int, options: Options) -> dict[str, Any]:
    place = options.locate(found.path) or _uri_of(card.host) + found.path
    location = {
        "logicalLocations": [{"fullyQualifiedName": clean(card.host), "kind": "resource"}],
        "physicalLocation": {"artifactLocation": {"uri": place}, "region": {"startLine": 1}},
    }
    message = {"text": found.text}
    if found.code:
        message = {
            "text": f"{found.text}\n\n{found.code}",
            "markdown": f"{found.text}\n\n{fenced(found.code).rstrip()}",
        }
    result: dict[str, Any] = {
        "ruleId": found.rule.id,
        "ruleIndex": index,
        "level": found.rule.level,
        "message": message,
        "locations": [location],
        "partialFingerprints": {"auiTui/v1": found.fingerprint},
    }
    return result | ({"properties": found.about} if found.about else {})


def _uri_of(host: str) -> str:
    """Return ``host`` as the first segment of a relative reference (RFC 3986, 4.2).

    Code scanning takes no result without a file, and refuses a whole log whose files have the scheme of a web address.
    """
    return quote(host, safe="", errors="replace") or "site"


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
        f"<testsuite name={_xml_attribute(card.host)} tests={quoteattr(str(len(cases)))}"
        f' failures="{counts["failure"]}" errors="{counts["error"]}" skipped="{counts["skipped"]}"'
        f' time="{seconds}" timestamp="{EPOCH if options.deterministic else card.scanned_at[:19]}"'
        f' hostname={_xml_attribute(card.host)} id="{number}" package="aui-tui">\n<properties>\n'
    )
    for name in ("method",) if card.unreachable else ("method", "score", "grade", "stance"):
        yield f'<property name="{name}" value={_xml_attribute(str(getattr(card, name)))}/>\n'
    yield "</properties>\n"
    for case in cases:
        yield from _case(card.host, case)
    said = "\n".join(f"{item.t}: {item.text}" for item in card.evidence)
    yield f"<system-out>{_xml_text(said)}</system-out>\n<system-err></system-err>\n</testsuite>\n"


def _refused(number: int, refused: Refusal) -> Iterator[str]:
    name = _xml_attribute(refused.host)
    yield (
        f'<testsuite name={name} tests="1" failures="0" errors="1" skipped="0" time="0" timestamp="{EPOCH}"'
        f' hostname={name} id="{number}" package="aui-tui">\n'
    )
    yield from _case(refused.host, Case("agents", ANSWERS, "error", refused.title, refused.detail))
    yield "<system-out></system-out>\n<system-err></system-err>\n</testsuite>\n"


def _case(host: str, case: Case) -> Iterator[str]:
    yield f'<testcase classname={_xml_attribute(host + "." + case.group)} name={_xml_attribute(case.name)} time="0"'
    if not case.result:
        yield "/>\n"
    elif case.result == "skipped":
        yield f"><skipped>{_xml_text(case.message)}</skipped></testcase>\n"
    else:
        attributes = f"message={_xml_attribute(case.message)} type={_xml_attribute(case.kind)}"
        yield f"><{case.result} {attributes}>{_xml_text(case.message)}</{case.result}></testcase>\n"


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
            yield Case("agents", name, "failure" if shut else "", verdict, f"{name}: {said(verdict)}{answer}.")
        elif known.source == "none":
            yield Case("agents", name, "skipped", verdict, f"{name}: {said(verdict, known.source)}.")
        else:
            yield Case("agents", name, "error", verdict, f"{name}: {said(verdict)}{answer}.")


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


def _xml_attribute(text: str) -> str:
    return quoteattr(" ".join(clean(text).split()) or "none")


def _xml_text(text: str) -> str:
    return escape(clean(text, block=True))

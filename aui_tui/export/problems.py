"""What a CI server is to be shown of a card: each problem once, with its rule, its fix and where it belongs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any, Final

from aui_tui.engine.checks import BY_FIX, CHECKS
from aui_tui.engine.ledger import sentences
from aui_tui.export.options import Options
from aui_tui.records.card import Evidence, Recommendation, ReportCard, text_without_volatile
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
_PLACE: Final = re.compile(r"<<\w+>>")


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
    fixes = {} if card.unreachable else {fix.k: fix for fix in card.recommendations}
    for item in card.evidence:
        if item.t in LEVELS:
            key, rule = rule_of(item)
            fix = fixes.pop(key, None)
            yield _problem(card, rule, clean(item.text), fix, identity=item.text, path=PATHS.get(key, ""))
    outcome = options.gates.get(card.host)
    for failure in outcome.failures if outcome else ():
        gate = Rule(
            id=f"gate/{failure.gate}",
            level=ERROR,
            text=f"The condition --{failure.gate} is not met.",
            help="A condition that was asked for on the command line; an inconclusive one never passes.",
        )
        yield _problem(
            card, gate, clean(f"{failure.gate}: {failure.message}"), None, identity=failure.message,
            about={"inconclusive": failure.inconclusive},
        )  # fmt: skip
    for key, fix in fixes.items():
        rule = Rule(
            id=f"fix/{clean(key, 60)}", level=NOTE, text=clean(fix.title), help=_help(key), uri=HELP.get(key, HTTP)
        )
        yield _problem(card, rule, "", fix, identity="", path=PATHS.get(key, ""))


def rule_of(item: Evidence) -> tuple[str, Rule]:
    """Return the fix of the check that a line of evidence comes from, empty for none, and the line's rule."""
    for name, (pattern, key) in _patterns().items():
        if pattern.fullmatch(item.text):
            text = clean(_PLACE.sub("...", sentences()[name][1].text))
            rule = Rule(id=f"finding/{name}", level=LEVELS[item.t], text=text, help=_help(key), uri=HELP.get(key, HTTP))
            return key, rule
    known = Rule(
        id=f"finding/{item.t}",
        level=LEVELS[item.t],
        text=f"A finding of severity {item.t}.",
        help="A finding of another index or of an earlier version.",
    )
    return "", known


@cache
def _patterns() -> dict[str, tuple[re.Pattern[str], str]]:
    """Return by the id of a sentence what its lines look like and the fix of its check, the wordiest first."""
    owners = {line.id: check.fix for check in CHECKS for line in check.sentences}
    lines = sorted((line for _, line in sentences().values()), key=lambda line: -len(_PLACE.sub("", line.text)))
    return {
        line.id: (re.compile(".+".join(map(re.escape, _PLACE.split(line.text))), re.DOTALL), owners.get(line.id, ""))
        for line in lines
        if line.t in LEVELS and _PLACE.sub("", line.text).strip(" .")
    }


def _help(key: str) -> str:
    return f"What is lacking: {BY_FIX[key].lacking}." if key in BY_FIX else "A limit of this scan, or its outcome."


def _problem(
    card: ReportCard,
    rule: Rule,
    text: str,
    fix: Recommendation | None,
    *,
    identity: str,
    path: str = "",
    about: dict[str, Any] | None = None,
) -> Problem:
    code = clean(fix.code, block=True) if fix else ""
    if fix:
        advice = f"{clean(fix.title)} (+{fix.pts} {clean(fix.pillar)}). {clean(fix.body)}"
        text = f"{text} Fix: {advice}" if text else advice
        about = {"points": fix.pts, "pillar": clean(fix.pillar)} | (about or {})
    stable = "\n".join((card.host, rule.id, re.sub(r"\d+", "0", text_without_volatile(identity))))
    return Problem(
        rule=rule,
        text=text or rule.id,
        code=code,
        path=path,
        fingerprint=hashlib.sha256(stable.encode("utf-8", "replace")).hexdigest()[:32],
        about=about or {},
    )

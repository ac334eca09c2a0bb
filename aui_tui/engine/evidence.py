"""Evidence: what was found, in fixed sentences, critical first, then warn, then good. Pure.

Each check brings its own sentences and findings; here are those on the scan as a whole, and the order of a card.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain

from aui_tui.engine import tasks
from aui_tui.engine.checks import CHECKS
from aui_tui.engine.checks.base import Finding, Sentence, critical, good, warn
from aui_tui.engine.judge import Judgement
from aui_tui.engine.wording import fill, joined, sentence, silence, status
from aui_tui.records.card import Evidence
from aui_tui.records.observations import INCONCLUSIVE, Exchange, Observations
from aui_tui.records.vocabulary import SEVERITIES

UNREACHABLE = (
    critical("unreachable", "<<host>> could not be judged: <<reasons>>."),
    critical(
        "unreachable-tls",
        "<<host>> could not be judged: <<reasons>>. A browser warns its user there, and an agent stops.",
    ),
)
LIMITS = (
    warn(
        "insecure",
        "Certificates were not checked (--insecure): nothing proves which server answered.",
    ),
    warn(
        "credentials",
        "Header fields of your own, such as a password, went with every request, at your word: an agent without them"
        " may see another site or none.",
    ),
    warn("warning", "<<note>>"),
    good(
        "signed",
        "About this scan: agents that were turned away were asked again with signatures of your key, at your word; an"
        " agent that a valid signature lets in counts as served.",
    ),
    good(
        "connect-to",
        "About this scan: connections went to another address (--connect-to), so this card describes the server"
        " that answered there.",
    ),
    good(
        "private",
        "About this scan: private addresses were allowed (--allow-private), so agents on the public web may see"
        " another site or none.",
    ),
)
"""What was relaxed at the user's word, and warnings of the scan itself."""


@cache
def sentences() -> Mapping[str, tuple[int, Sentence]]:
    """Return all sentences by id, each with its place in the order of a card."""
    lines = (*UNREACHABLE, *chain.from_iterable(check.sentences for check in CHECKS), *LIMITS, *tasks.SENTENCES)
    ordered = sorted(lines, key=lambda line: SEVERITIES.index(line.t))
    return {line.id: (place, line) for place, line in enumerate(ordered)}


def evidence(observations: Observations, judgement: Judgement) -> tuple[Evidence, ...]:
    """Return the findings of one scan; at least one. Every text is a sentence without markup, given once."""
    found: list[Finding] = []
    if judgement.unreachable:
        found += _unreachable(observations)
    else:
        found += chain.from_iterable(check.findings(observations, judgement) for check in CHECKS)
        found += tasks.findings(observations)
    found += (Finding(limit) for limit in observations.limits if limit in sentences())
    found += (Finding("warning", {"note": sentence(note)}) for note in observations.warnings if note.strip())
    found.sort(key=lambda finding: sentences()[finding.id][0])
    return tuple(dict.fromkeys(_line(finding) for finding in found))


def _line(finding: Finding) -> Evidence:
    line = sentences()[finding.id][1]
    return Evidence(t=line.t, text=fill(line.text, finding.facts))


def _unreachable(observations: Observations) -> Iterator[Finding]:
    """Yield why no homepage probe got a usable answer."""
    reasons = joined(_no_use(probe) for probe in observations.homepages)
    broken = any(probe.error == "tls" for probe in observations.homepages)
    yield Finding("unreachable-tls" if broken else "unreachable", {"host": observations.host, "reasons": reasons})


def _no_use(probe: Exchange) -> str:
    return silence(probe) if probe.outcome == INCONCLUSIVE else f"status {status(probe.status)}"

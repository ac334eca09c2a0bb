"""The evidence of a card: what the checks, the tasks and the scan as a whole say, in the order of a card. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from aui_tui.checks import BY_FIX, CHECKS, TITLE, Check, Sentence, sentence_list
from aui_tui.checks.judge import Judgement
from aui_tui.checks.wording import answer, clause, fill, quoted, sentence, silence_reason
from aui_tui.model.card import Finding, Ledger
from aui_tui.model.labels import status
from aui_tui.model.observations import LIMIT_STATUS, NO_ISSUER, Exchange, Observations
from aui_tui.model.tasks import BLOCKED, DONE, TASK, Rendered, TreeDifference
from aui_tui.model.verdicts import AWAY, REAL
from aui_tui.model.vocabulary import INCONCLUSIVE, SEVERITIES
from aui_tui.text import cells, count, fit, joined

NOTE: Final = "note"
"""The level of a finding that is no problem of the site, whatever its severity in a record."""
EXAMPLES: Final = 3
"""Names of elements that a sentence gives."""
NAMED: Final = 12
"""Headings and prices that a sentence names before it counts the rest."""


TASK_SENTENCES: Final = sentence_list(
    """
    critical task-read: A browser could not read the page
        <<task>>, tried in a browser: <<note>>.
    warn task-blocked: A task is blocked in a browser
        <<task>>, tried in a browser: <<note>>.
    warn note task-unclear: A task has no clear result
        <<task>>, tried in a browser, has no clear result: <<note>>.
    warn rendered-scripts: <<share>> % of the text needs scripts
        <<share>> % of the readable text exists only after scripts run<<which>>: an agent that runs none does not see
        it.
    warn tree-hidden: <<Cause>> hides <<hidden>> elements from agents
        <<Cause>> hides <<hidden>> of <<total>> elements from agents that read the accessibility tree<<which>>; agents
        that read the DOM see them.
    warn tree-only: The DOM lacks <<hidden>> elements
        <<Cause>> hides <<hidden>> of <<total>> elements from agents that read the DOM<<which>>; agents that read the
        accessibility tree see them.
    good tasks-done: Tasks done in a browser
        An agent in a browser completed <<count>>: <<tasks>>.
    good rendered-same: Scripts add no text
        All readable text is in the HTML as sent: scripts add nothing to <<readable>>.
    """
)


_TASK_IDS: Final = frozenset(line.id for line in TASK_SENTENCES)


def task_findings(observations: Observations) -> Iterator[Finding]:
    """Yield what the run of the tasks found; nothing without a run."""
    if observations.page.rendered is not None:
        yield _rendered(observations.page.rendered)
    if observations.tasks is not None and observations.tasks.tree is not None:
        yield from _unlike(observations.tasks.tree)
    results = observations.tasks.results if observations.tasks is not None else ()
    for result in results:
        facts = {"task": TASK[result.task].label, "note": clause(result.note)}
        if result.outcome == BLOCKED:
            yield Finding("task-read" if result.task == "read" else "task-blocked", facts)
        elif result.outcome == INCONCLUSIVE:
            yield Finding("task-unclear", facts)
    done = [TASK[result.task].label for result in results if result.outcome == DONE]
    if done:
        yield Finding("tasks-done", {"count": count(len(done), "task"), "tasks": joined(done)})


def _unlike(tree: TreeDifference) -> Iterator[Finding]:
    which = f", such as {joined(list(map(quoted, tree.names[:EXAMPLES])))}" if tree.names else ""
    facts = {"total": str(tree.total), "which": which}
    if tree.dom_only:
        yield Finding("tree-hidden", {**facts, "cause": tree.cause, "hidden": str(tree.dom_only)})
    if tree.tree_only:
        yield Finding("tree-only", {**facts, "cause": "a closed shadow root", "hidden": str(tree.tree_only)})


def _rendered(page: Rendered) -> Finding:
    if not page.share:
        return Finding("rendered-same", {"readable": count(page.readable, "readable character")})
    named = [f"the {word} {joined(map(quoted, texts), NAMED)}" for word, texts in _named(page) if texts]
    which = f", among it {' and '.join(named)}" if named else ""
    return Finding("rendered-scripts", {"share": str(page.share), "which": which})


def _named(page: Rendered) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield "heading" if len(page.headings) == 1 else "headings", page.headings
    yield "price" if len(page.prices) == 1 else "prices", page.prices


UNREACHABLE: Final = sentence_list(
    """
    critical unreachable: <<host>> could not be judged / No answer to judge by
        <<host>> could not be judged: <<reasons>>.
    critical unreachable-tls: TLS fails before any page
        <<host>> could not be judged: <<reasons>>. A browser warns its user there, and an agent stops.
    critical unreachable-chain: The certificate's issuer is missing
        <<host>> could not be judged: <<reasons>>. The server does not send the certificate of its issuer, and it was
        not found where its own certificate says. <<step>>.
    critical closed: Everybody is turned away
        <<host>> turns everybody away: a browser and every agent get <<what>>. So nothing follows about agents, and
        nothing is graded. <<step>>.
    """
)
TLS_STEPS: Final = MappingProxyType(
    {
        "unreachable-tls": "Install a certificate that browsers accept, then scan again",
        "unreachable-chain": "Send the whole chain (fullchain.pem); if an authority of your own issued it, name its"
        " file by cacert in the settings",
    }
)
"""What to do where no connection is safe."""
UNHEARD: Final = frozenset({"timeout", "connect", "protocol"})
"""Errors that another scan may not meet."""
CLOSED_STEPS: Final = MappingProxyType(
    {
        401: "If it is your own site, basic_auth_env of [sites.HOST] in the settings names the variable that holds"
        " user:password",
        404: "Check the address: there is no page at <<url>>",
        410: "Check the address: there is no page at <<url>>",
        429: "Scan again later, or with --force and AUI_TUI_PACE=15, one request every 15 s",
        451: "The site says that the law forbids it here; scan from another network (AUI_TUI_VIA=PROXY)",
    }
)
"""What to do where everybody gets one status; ``_step`` knows the rest."""
LIMITS: Final = sentence_list(
    """
    warn note incomplete: The scan was stopped
        This scan was stopped before its end, so what had not been answered by then is unclear. Scan again for the
        whole card.
    warn note thin: Too little measured for a grade
        Only <<possible>> of <<full>> points could be measured, less than half: too little for a grade. What was not
        measured is named below the score, with the reason.
    warn note silence: No answer may mean this address
        Who got no answer may have met an outage, or a rule for this address: scan again with --force, or from another
        network (AUI_TUI_VIA=PROXY), to settle it.
    warn note insecure: Certificates were not checked
        Certificates were not checked (the setting insecure): nothing proves which server answered.
    warn note credentials: Header fields of your own were sent
        Header fields of your own, such as a password, went with every request, because you asked for it: an agent
        without them may see another site or none.
    warn note warning: About this scan
        <<note>>
    good note signed: Signed with your key
        About this scan: agents that were turned away were asked again with signatures of your key, because you asked
        for it; an agent that a valid signature lets in counts as served.
    good note via: Through a proxy
        About this scan: connections went through a proxy (the setting via), so this card shows the site as that
        network sees it.
    good note connect-to: Connected to another address
        About this scan: connections went to another address (--connect-to), so this card describes the server that
        answered there.
    good note private: Private addresses allowed
        About this scan: private addresses were allowed (--allow-private), so agents on the public web may see another
        site or none.
    """
)
"""How the scan went: stopped, relaxed as the user asked, and its own warnings."""


@cache
def _table() -> Mapping[str, tuple[int, Sentence, str]]:
    """Return all sentences by id, each with its place in the order of a card and the fix of its check."""
    lines = [
        *((line, "") for line in UNREACHABLE),
        *((line, check.fix) for check in CHECKS for line in check.sentences),
        *((line, "") for line in (*LIMITS, *TASK_SENTENCES)),
    ]
    lines.sort(key=lambda entry: (SEVERITIES.index(entry[0].t), entry[0].note))
    return {line.id: (place, line, fix) for place, (line, fix) in enumerate(lines)}


def sentences() -> Mapping[str, Sentence]:
    """Return all sentences by id, in the order of a card."""
    return {name: line for name, (_, line, _) in _table().items()}


_TOKEN: Final = re.compile(r" \([A-Za-z-]+\)")
"""The token of an agent behind its name."""


def title(finding: Finding) -> str:
    """Return what a finding says in at most TITLE cells; of a foreign line its first clause."""
    _, line, _ = _table().get(finding.id, (0, None, ""))
    facts = {name: _TOKEN.sub("", fact) for name, fact in finding.facts.items()}
    if "file" in facts:
        path = facts["file"].partition("/")[2]
        facts |= {"path": f"/{path}", "name": path.rpartition("/")[2]}
    for template in line.titles if line is not None else ():
        try:
            words = fill(template, facts)
        except KeyError:  # kept by a program that knew fewer facts
            continue
        if cells(words) <= TITLE:
            return words
    return fit(clause(finding.text).split(": ")[0], TITLE).rstrip()


def is_note(finding: Finding) -> bool:
    """Whether a finding says something of the test, or beside the score: no problem of the site."""
    return finding.id in _table() and _table()[finding.id][1].note


def level(finding: Finding) -> str:
    """Return how a finding counts, the same in every form: ``critical``, ``warn``, ``note`` or ``good``."""
    return NOTE if is_note(finding) else finding.severity


def subject(finding: Finding) -> str:
    """Return what a finding is about, in at most three words."""
    if finding.id in _TASK_IDS:
        return "tasks"
    return BY_FIX[finding.fix].subject if finding.fix in BY_FIX else "this scan" if is_note(finding) else ""


def findings_of(check: Check, judgement: Judgement) -> Iterator[Finding]:
    """Yield the findings of ``check``. Raises ValueError for one that is no sentence of its own.

    It would be told in the words of another check, and lead to its fix.
    """
    for finding in check.findings(judgement):
        if finding.id not in (line.id for line in check.sentences):
            raise ValueError(f"The check {check.fix} yields the finding {finding.id}, which is no sentence of its own.")
        yield finding


def findings(judgement: Judgement, book: Ledger | None = None) -> tuple[Finding, ...]:
    """Return the findings of one scan; at least one. Every text is a sentence without markup, given once.

    With ``book``, also that too few points could be measured for a grade.
    """
    observations = judgement.observations
    results: list[Finding] = []
    if observations.unreachable:
        results += _unreachable(observations)
    else:
        results += chain.from_iterable(findings_of(check, judgement) for check in CHECKS)
        results += task_findings(observations)
        full = sum(entry.possible for entry in book.entries) if book is not None else 0
        if book is not None and 2 * book.possible < full:
            results.append(Finding("thin", {"possible": str(book.possible), "full": str(full)}))
    results += [Finding("incomplete")] if observations.incomplete else []
    unheard = (item for item in observations.homepages if item.outcome == INCONCLUSIVE and not item.limited)
    results += [Finding("silence")] if any(item.error in UNHEARD for item in unheard) else []
    results += (Finding(limit) for limit in observations.limits if limit in _table())
    results += (Finding("warning", {"note": sentence(note)}) for note in observations.warnings if note.strip())
    results.sort(key=lambda finding: _table()[finding.id][0])
    return tuple({item.text: item for item in map(_filled, results)}.values())


def _filled(finding: Finding) -> Finding:
    _, line, fix = _table()[finding.id]
    return replace(finding, severity=line.t, text=fill(line.text, finding.facts), fix=fix)


def _unreachable(observations: Observations) -> Iterator[Finding]:
    """Yield why no homepage probe got a usable answer."""
    broken = any(probe.error == "tls" for probe in observations.homepages)
    if observations.closed:
        what = joined(answer(probe) for probe in observations.homepages if probe.status)
        yield Finding("closed", {"host": observations.host, "what": what, "step": _step(observations)})
        return
    reasons = joined(_no_use(probe) for probe in observations.homepages)
    chain = all(NO_ISSUER in probe.detail for probe in observations.homepages)
    kind = "unreachable-chain" if chain else "unreachable-tls" if broken else "unreachable"
    step = {"step": TLS_STEPS[kind]} if kind in TLS_STEPS else {}
    yield Finding(kind, {"host": observations.host, "reasons": reasons} | step)


def _step(observations: Observations) -> str:
    """Return what would settle it, where everybody is turned away."""
    limited = any(probe.limited for probe in observations.homepages)
    code = LIMIT_STATUS if limited else observations.browser.status
    if 500 <= code <= 599:
        return "The site is failing: scan again when its homepage answers"
    if code in CLOSED_STEPS:
        return fill(CLOSED_STEPS[code], {"url": observations.browser.url})
    real = observations.arm(REAL)
    if real is None or real.outcome not in AWAY:
        return "A scan with Chromium (extra “browser”: aui-tui help tasks) can tell whether a real browser gets in"
    return (
        f"A real browser ({real.client}) is turned away too, so it may be this address, its country or an outage; scan"
        " from another network (AUI_TUI_VIA=PROXY)"
    )


def _no_use(probe: Exchange) -> str:
    return silence_reason(probe) if probe.outcome == INCONCLUSIVE else f"status {status(probe.status)}"

"""Points: what each component earns, why, and what the sums become. Integers throughout."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from aui_tui.engine.judge import Judgement, judge
from aui_tui.engine.wording import at_lines, counted, joined, label, out_of
from aui_tui.records.ledger import Entry, Ledger
from aui_tui.records.methods import COMPONENTS, FIX_COMPONENT, WALLED_CEILING, Method, grade_of
from aui_tui.records.observations import INCONCLUSIVE, SERVED, Observations
from aui_tui.records.registry import registry
from aui_tui.records.tasks import DONE, pillar_points, runs_of
from aui_tui.records.vocabulary import AGENTS_TOTAL, LIVE_TOTAL

COMPONENT_FIX: Final = MappingProxyType({component: fix for fix, component in FIX_COMPONENT.items()})
QUARTERS: Final = 4
"""A path-level restriction weighs a quarter of a disallowed agent."""


class Earned(NamedTuple):
    """Points of one component and the sentence that traces them; ``points`` is None when nothing was measured."""

    points: int | None
    reason: str


def round_half_up(numerator: int, denominator: int) -> int:
    """Return ``numerator / denominator`` rounded half up, both non-negative, without a float."""
    return (2 * numerator + denominator) // (2 * denominator)


def ledger(observations: Observations, method: Method, judgement: Judgement | None = None) -> Ledger:
    """Return every component of the score with its reason, and the score itself.

    Of an unreachable site nothing is measured: every component counts on neither side and the score is 0.
    """
    verdict = judgement or judge(observations)
    entries = (*(_entry(name, observations, verdict, method) for name in COMPONENTS), *_tasks(observations, method))
    earned = sum(entry.earned for entry in entries)
    possible = sum(entry.possible for entry in entries if entry.measured)
    raw = round_half_up(100 * earned, possible) if possible else 0
    walled = verdict.stance == "Walled"
    score = min(raw, WALLED_CEILING) if walled else raw
    return Ledger(
        method=method.name,
        entries=entries,
        earned=earned,
        possible=possible,
        raw=raw,
        score=score,
        capped=score < raw,
        grade=grade_of(score),
    )


def pillars(book: Ledger, method: Method) -> dict[str, int | float | None]:
    """Return the points per pillar key; None for the pillar of the tasks when they were not run."""
    filled = {entry.pillar for entry in book.entries}
    return {
        pillar.key: sum(entry.earned for entry in book.entries if entry.pillar == pillar.key)
        if pillar.components or pillar.key in filled
        else None
        for pillar in method.pillars
    }


def _tasks(observations: Observations, method: Method) -> Iterator[Entry]:
    """Yield the entry of the tasks when enough of them count."""
    pillar = method.task_pillar
    runs = runs_of(observations.tasks)
    points = pillar_points(runs, pillar.maximum)
    if points is None or observations.unreachable:
        return
    counting = [run for run in runs if run.possible]
    done = sum(run.outcome == DONE for run in counting)
    yield Entry(
        component="tasks",
        pillar=pillar.key,
        earned=points,
        possible=pillar.maximum,
        reason=f"An agent in a browser completed {done} of {counted(len(counting), 'task')}.",
    )


def ai_input_refused(value: str) -> bool:
    """Return whether a Content-Signal value says ``ai-input=no``."""
    pairs = (part.partition("=") for part in value.lower().split(","))
    return any(key.strip() == "ai-input" and answer.strip() == "no" for key, _, answer in pairs)


def _entry(name: str, observations: Observations, judgement: Judgement, method: Method) -> Entry:
    possible = method.points[name]
    if judgement.unreachable:
        points, reason = None, "The site gave no usable answer, so nothing was measured."
    else:
        points, reason = _COMPONENTS[name](observations, judgement, method)
    return Entry(
        component=name,
        pillar=method.pillar_of(name).key,
        earned=points or 0,
        possible=possible,
        reason=reason,
        measured=points is not None,
        fix=COMPONENT_FIX[name] if points is not None and points < possible else "",
    )


def _door(observations: Observations, judgement: Judgement, method: Method) -> Earned:
    if judgement.conclusive == 0:
        return Earned(None, f"None of the {LIVE_TOTAL} probed agents got an answer, so the door was not measured.")
    points = round_half_up(method.points["door"] * judgement.served, judgement.conclusive)
    named: dict[str, list[str]] = {}
    for agent in registry().live:
        named.setdefault(judgement.outcomes[agent.key], []).append(label(agent))
    served, silent = named.get(SERVED, []), named.get(INCONCLUSIVE, [])
    who = f" ({joined(served)})" if served else ""
    tail = f"; {joined(silent)} got no usable answer and {_counts(silent)} for nothing" if silent else ""
    agents = counted(judgement.conclusive, "agent")
    return Earned(points, f"{judgement.served} of {agents} with an answer got the homepage{who}{tail}.")


def _counts(names: Sequence[str]) -> str:
    return "counts" if len(names) == 1 else "count"


def _robots(observations: Observations, judgement: Judgement, method: Method) -> Earned:
    full = method.points["robots"]
    match observations.robots.kind:
        case "unknown":
            return Earned(0, "robots.txt could not be had, and agents that follow RFC 9309 must then stay away.")
        case "none":
            return Earned(full, "There is no robots.txt, so no agent is disallowed.")
        case "html":
            return Earned(full, "A web page is served as robots.txt, so it holds no rules.")
    whole = QUARTERS * AGENTS_TOTAL
    welcome = max(0, whole - QUARTERS * judgement.disallowed - judgement.partial)
    blocked = [policy.line for policy in judgement.agents if policy.effective == "blocked"]
    partial = [policy.line for policy in judgement.agents if policy.policy == "partial"]
    paths = f"; path rules restrict {judgement.partial}{at_lines(partial)}, a quarter each" if partial else ""
    disallowed = out_of(judgement.disallowed, AGENTS_TOTAL) if blocked else f"none of the {AGENTS_TOTAL}"
    return Earned(
        round_half_up(full * welcome, whole),
        f"robots.txt disallows {disallowed} tested agents{at_lines(blocked)}{paths}.",
    )


def _signal(observations: Observations, _: Judgement, method: Method) -> Earned:
    robots, full = observations.robots, method.points["signal"]
    if not robots.signal_line:
        return Earned(0, "There is no Content-Signal line in robots.txt.")
    if ai_input_refused(robots.signal):
        return Earned(
            round_half_up(full, 2), f"Content-Signal on line {robots.signal_line} says ai-input=no, which earns half."
        )
    return Earned(full, f"robots.txt has a Content-Signal on line {robots.signal_line}.")


def _ssr(observations: Observations, judgement: Judgement, method: Method) -> Earned:
    page, full = observations.page, method.points["ssr"]
    readable = counted(page.readable, "readable character")
    if page.noscript_shell:
        return Earned(0, _seen(judgement, f"without scripts it has {readable}, under 200"))
    if judgement.browser == SERVED and not page.problem:
        return Earned(full, f"The homepage has {readable} without scripts.")
    return Earned(full, "The homepage could not be read, and nothing shows that it needs scripts.")


def _landmarks(observations: Observations, judgement: Judgement, method: Method) -> Earned:
    page, full = observations.page, method.landmarks
    seen = page.semantic
    labelled = seen.forms == 0 or page.forms_unlabelled == 0
    earned = {"main": seen.main > 0, "nav": seen.nav > 0, "aria": seen.aria > 0, "forms": labelled}
    points = {part: full[part] if found else 0 for part, found in earned.items()}
    forms = (
        f"{seen.forms - page.forms_unlabelled} of {counted(seen.forms, 'form')} labelled" if seen.forms else "no form"
    )
    facts = {
        "main": f"{seen.main} main",
        "nav": f"{seen.nav} nav",
        "aria": counted(seen.aria, "aria label"),
        "forms": forms,
    }
    told = ", ".join(f"{fact} ({points[part]} of {full[part]})" for part, fact in facts.items())
    return Earned(sum(points.values()), _seen(judgement, told))


def _jsonld(observations: Observations, judgement: Judgement, method: Method) -> Earned:
    count = observations.page.jsonld
    points = method.points["jsonld"] if count else 0
    return Earned(points, _seen(judgement, f"{counted(count, 'JSON-LD block') if count else 'no JSON-LD'}"))


def _seen(judgement: Judgement, facts: str) -> str:
    """Return a sentence on the page that the browser got, which is not always the homepage."""
    page = "The homepage" if judgement.browser == SERVED else "The page that the browser got in its place"
    return f"{page}: {facts}."


def _llms(observations: Observations, _: Judgement, method: Method) -> Earned:
    if observations.files.llms:
        return Earned(method.points["llms"], "/llms.txt was found.")
    return Earned(0, "No usable /llms.txt was found.")


def _protocols(observations: Observations, _: Judgement, method: Method) -> Earned:
    files, full = observations.files, method.points["protocols"]
    if files.ucp:
        return Earned(full, "A commerce manifest was found at /.well-known/ucp.")
    if files.mcp:
        return Earned(full, "An MCP server card was found under /.well-known.")
    if files.ai_plugin:
        return Earned(method.plugin_points, "Only the legacy ai-plugin.json was found.")
    return Earned(0, "Neither a UCP manifest nor an MCP server card was found.")


_COMPONENTS: Final[MappingProxyType[str, Callable[[Observations, Judgement, Method], Earned]]] = MappingProxyType(
    {
        "door": _door,
        "robots": _robots,
        "signal": _signal,
        "ssr": _ssr,
        "landmarks": _landmarks,
        "jsonld": _jsonld,
        "llms": _llms,
        "protocols": _protocols,
    }
)

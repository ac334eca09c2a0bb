"""The sentences of a report: who gets in, in one sentence; what a site declares; who gets its other pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from aui_tui.model.agents import DROPPED, AgentRow, Outcome, outcomes, robots_file
from aui_tui.model.card import PageAccess, ReportCard
from aui_tui.model.fates import IN, NOT_ASKED, PART, TOLD_NO, UNCLEAR, WORST_FIRST
from aui_tui.model.labels import OF_OUTCOME, name
from aui_tui.model.methods import MOST_AGENTS
from aui_tui.model.observations import (
    ABSENT,
    BROWSER,
    DECLARED,
    DISALLOWED,
    PAYMENT,
    Declaration,
    Declared,
    Observations,
)
from aui_tui.model.verdicts import AWAY
from aui_tui.model.vocabulary import CHALLENGED, INCONCLUSIVE, REFUSED, SERVED
from aui_tui.text import joined


def who_gets_in(card: ReportCard, seen: Observations | None = None) -> str:
    """Return who gets in and who does not, in one sentence for somebody who has never seen the product.

    It is made of the outcomes alone, and says of nobody that they get in who was not asked.
    """
    if card.unreachable:
        return _nobody_answered(card)
    file = robots_file(card, seen)
    judged = [outcome for outcome in outcomes(card, seen) if outcome.verdict != NOT_ASKED]
    asked = [outcome for outcome in judged if outcome.asked]
    clauses = [*_turned_away(judged, card), *_told_no(judged, card, file), *_unclear_or_in(asked)]
    if worse := _names(judged, PART):
        clauses.append(f"{file} closes some pages to {joined(worse)} alone")
    words = "; ".join(clauses) or "nothing is known of any assistant"
    return (words if words.startswith(file) else words[:1].upper() + words[1:]) + "."


def _nobody_answered(card: ReportCard) -> str:
    codes = {card.human_status, *(access.status for access in card.agent_access.values())}
    if len(codes) == 1 and card.human_status >= 400:
        return f"A browser and every agent that was asked get {card.human_status}. Not graded."
    return "No usable answer, to a browser or to anyone. Not graded."


def _names(outcomes: Iterable[Outcome], *words: str) -> tuple[str, ...]:
    return tuple(name for outcome in outcomes if not words or outcome.verdict in words for name in outcome.names)


def _turned_away(judged: Sequence[Outcome], card: ReportCard) -> Iterator[str]:
    """Yield whom the site turns away, and what a browser gets where nobody who was asked gets in."""
    outcomes_asked = [outcome for outcome in judged if outcome.asked and outcome.reason != DROPPED]
    away = {
        word: _names((outcome for outcome in judged if outcome.source != "robots" and outcome.reason != DROPPED), word)
        for word in (REFUSED, CHALLENGED)
    }
    if outcomes_asked and all(outcome.verdict in AWAY for outcome in outcomes_asked):
        words = " or ".join(word for word in away if away[word])
        yield f"all {_number(len(_names(outcomes_asked)))} assistants that were asked are {words}{_browser_fate(card)}"
    elif any(away.values()):
        yield ", ".join(f"{joined(names)} {_are(names)} {word}" for word, names in away.items() if names)


def _browser_fate(card: ReportCard) -> str:
    if card.human_status == 0:
        return "; a browser gets no answer"
    return "; a browser gets in" if card.human.outcome == SERVED else ", as a browser is"


def _told_no(judged: Sequence[Outcome], card: ReportCard, file: str) -> Iterator[str]:
    """Yield whom robots.txt tells to stay out, and whom the site serves all the same."""
    names, served = _names(judged, TOLD_NO), _names((outcome for outcome in judged if outcome.disagree), TOLD_NO)
    anyway = f"the site serves {_them(served) if served == names else joined(served)} anyway" if served else ""
    number, total = card.agents_disallowed, card.agents_total
    if number == total:
        yield f"{file} tells all {total} agents to stay out"
        yield from ["the site serves those that were asked anyway"] if served else []
    elif number >= MOST_AGENTS or (number and not names):
        among = f", among them {joined(names)}" if names else ""
        yield f"{file} tells {number} of {total} agents to stay out{among}"
        yield from [anyway] if served else []
    elif names:
        yield f"{file} tells {joined(names)} to stay out" + (f", {anyway}" if served else "")


def _them(names: Sequence[str]) -> str:
    return "it" if len(names) == 1 else "them"


def _unclear_or_in(listed: Sequence[Outcome]) -> Iterator[str]:
    unclear, inside = _names(listed, UNCLEAR), _names(listed, IN, PART)
    silent = _names(outcome for outcome in listed if outcome.reason == DROPPED)
    if silent and silent == _names(listed):
        yield "no assistant that was asked gets an answer; a browser gets in"
    elif silent:
        yield f"{joined(silent)} get{'s' if len(silent) == 1 else ''} no answer, a browser does"
    if unclear:
        yield f"{joined(unclear)} {_are(unclear)} unclear"
    if inside and len(inside) == len(_names(listed)):
        yield "every assistant that was asked gets in"
    elif inside:
        yield f"{joined(inside)} get{'s' if len(inside) == 1 else ''} in"


def _are(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def agent_counts(rows: Iterable[AgentRow]) -> str:
    """Return how many agents there are of each verdict: of those asked, then of the others."""
    agents = [row for row in rows if row.key != BROWSER]
    parts = []
    for asked in (True, False):
        counts = Counter(row.verdict for row in agents if row.asked is asked)
        parts.append(", ".join(f"{counts[word]} {word}" for word in WORST_FIRST if counts[word]))
    return " · ".join(filter(None, parts))


def _number(count: int) -> str:
    return {2: "two", 3: "three", 4: "four"}.get(count, str(count))


def declarations(declared: Declared) -> Iterator[tuple[str, str]]:
    """Yield what a site declares for agents as a severity (empty for a neutral line) and a clause without full stop."""
    agent = name(declared.agent)
    for entry in sorted(declared.of(DECLARED), key=lambda entry: not entry.contradicted):
        yield "critical" if entry.contradicted else "good", _declaration(entry, agent)
    for attempt in declared.tried:
        yield "critical" if attempt.broken else "good", f"tried: {attempt.where}: {attempt.said}"
    reasons: dict[str, list[str]] = {}
    for entry in declared.of(INCONCLUSIVE):
        reasons.setdefault(entry.why, []).append(entry.name)
    for why, names in reasons.items():
        yield "", f"inconclusive: {', '.join(names)} ({why})"
    absent = ", ".join(entry.name for entry in declared.of(ABSENT))
    if absent:
        yield "", f"not found: {absent}"


def page_access(page: PageAccess) -> tuple[str, str]:
    """Return who gets another page than the homepage: a word of the table of signs, and a clause without full stop."""
    got = f"gets {page.status or 'no answer'}" if page.outcome != SERVED else "gets it"
    outcomes: dict[tuple[str, int], list[str]] = {}
    for token, answer in page.agents.items():
        outcomes.setdefault((answer.outcome, answer.status), []).append(name(token))
    if page.outcome == SERVED and all(outcome == SERVED for outcome, _ in outcomes):
        return "in", "a browser and every probed agent get it"
    parts = [
        f"{', '.join(names)}: {OF_OUTCOME[outcome]} ({status or 'no answer'})"
        for (outcome, status), names in outcomes.items()
    ]
    away = page.outcome == SERVED and any(outcome in AWAY for outcome, _ in outcomes)
    return "refused" if away else "unclear", f"a browser {got}; {'; '.join(parts)}"


def _declaration(entry: Declaration, agent: str) -> str:
    """Return what is declared, where, and whether the agent called ``agent`` gets it."""
    status = str(entry.status) if entry.status else "no answer"
    gets = {
        SERVED: f"{agent} gets it",
        REFUSED: f"declared, but {agent} is turned away there ({status}) while the browser gets it",
        CHALLENGED: f"declared, but {agent} meets a challenge there ({status}) while the browser gets it",
        DISALLOWED: f"robots.txt disallows it for {agent}, but {agent} gets it",
        PAYMENT: f"{agent} is asked to pay ({status})",
        INCONCLUSIVE: f"whether {agent} gets it is inconclusive: {entry.why}",
    }.get(entry.agent, entry.why)
    detail = f" ({entry.detail})" if entry.detail else ""
    return f"{entry.name}: {entry.where}{detail}" + (f"; {gets}" if gets else "")

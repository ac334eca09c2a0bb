"""Conditions that a card must meet, for scripts and CI; what could not be measured never passes."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Final

import msgspec
from msgspec import UNSET

from aui_tui.errors import BadValue
from aui_tui.model import labels, points
from aui_tui.model.agents import outcome_of_each
from aui_tui.model.card import ReportCard
from aui_tui.model.codec import names_of
from aui_tui.model.fates import NOT_ASKED, RANK, SHUT, UNCLEAR
from aui_tui.model.methods import FLOORS, grade_of, round_half_up
from aui_tui.model.observations import Observations
from aui_tui.model.registry import PURPOSES, Agent, registry
from aui_tui.model.surfaces import SURFACES, Surface, surface_called
from aui_tui.model.vocabulary import (
    GRADES,
    LIVE_TOTAL,
    POLICY_RANK,
    SEVERITIES,
    STANCE_RANK,
    STANCES,
    choose,
)
from aui_tui.text import count

PASSED, FAILED, INCONCLUSIVE = 0, 1, 3
"""Exit codes of an outcome."""
_NO_BASELINE: Final = (
    "There is no earlier card to compare with. Keep one in a file and name it (--no-regress FILE), "
    "or let a first run pass (AUI_TUI_FIRST_RUN=pass)."
)


class Gates(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked for. A gate that is empty or None asks for nothing.

    ``fail_under``: least score that passes. ``fail_grade``: least grade that passes, plus and minus ignored.
    ``require_stance``: least open stance that passes. ``must_serve``, ``must_block``: slugs of matrix surfaces and
    tokens of agents and crawlers that the site must let in, or keep out. ``fail_on``: findings of this severity
    (``critical``; ``warn`` means both) fail. ``no_regress``: nothing may be worse than in the baseline card.
    """

    fail_under: int | None = None
    fail_grade: str = ""
    require_stance: str = ""
    must_serve: tuple[str, ...] = ()
    must_block: tuple[str, ...] = ()
    fail_on: str = ""
    no_regress: bool = False

    @classmethod
    def of(
        cls,
        *,
        fail_under: int | None = None,
        fail_grade: str | None = None,
        require_stance: str | None = None,
        must_serve: str | None = None,
        must_block: str | None = None,
        fail_on: str | None = None,
        no_regress: bool = False,
    ) -> Gates:
        """Return checked gates; None asks for nothing, the lists of ``must_`` are separated by commas.

        Raises BadValue naming what was wrong and what is allowed, also for an empty text.
        """
        if fail_under is not None and not 0 <= fail_under <= 100:
            raise BadValue(f"fail-under takes a score from 0 to 100, not {fail_under}.")
        serve = () if must_serve is None else _served(must_serve)
        block = () if must_block is None else _served(must_block)
        if in_both := [name for name in serve if name in block]:
            raise BadValue(f"{', '.join(in_both)}: both --must-serve and --must-block; name it in one of them.")
        return cls(
            fail_under=fail_under,
            fail_grade="" if fail_grade is None else choose("grade", fail_grade, GRADES),
            require_stance="" if require_stance is None else choose("stance", require_stance, STANCES),
            must_serve=serve,
            must_block=block,
            fail_on="" if fail_on is None else choose("severity", fail_on, SEVERITIES[:2]),
            no_regress=no_regress,
        )

    def __bool__(self) -> bool:
        return self != Gates()


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """One gate that did not pass: its option, one sentence, and ``by`` how much (points, grades, agents, findings).

    ``inconclusive``: it is not known whether the gate passes.
    """

    gate: str
    message: str
    by: int = 0
    inconclusive: bool = False


class GateOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What the gates said of one host; ``unreachable``: no probe was answered, which never is a success."""

    host: str
    failures: tuple[Failure, ...] = ()
    unreachable: bool = False

    @property
    def exit_code(self) -> int:
        """0 when all passed, 1 when one failed for sure, else 3 when one is inconclusive or nothing answered."""
        if any(not failure.inconclusive for failure in self.failures):
            return FAILED
        return INCONCLUSIVE if self.failures or self.unreachable else PASSED


def check(
    card: ReportCard,
    gates: Gates,
    baseline: ReportCard | None = None,
    observations: Observations | None = None,
    accepted: Container[str] = (),
) -> GateOutcome:
    """Return which of ``gates`` ``card`` fails, and by how much; ``baseline`` is the card of ``no_regress``.

    ``observations``: what the card rests on, where that is kept; they tell who is dropped again and again.
    ``accepted``: the ids of findings that count in no gate.
    """
    if not gates:
        return GateOutcome(host=card.host, unreachable=card.unreachable)
    if card.unreachable:
        message = "The site could not be measured: no probe of its homepage got an answer that counts."
        return GateOutcome(host=card.host, failures=(_unclear("reachable", message),))
    failures = [
        *_score(card, gates),
        *_grade(card, gates),
        *_stance(card, "require-stance", gates.require_stance, f"is {card.stance}, not {gates.require_stance}"),
        *(failure for name in gates.must_serve for failure in _serves(card, name, observations)),
        *(failure for name in gates.must_block for failure in _blocks(card, name, observations)),
        *_findings(card, gates, accepted),
    ]
    if gates.no_regress:
        failures.extend(_regress(card, baseline, observations))
    return GateOutcome(host=card.host, failures=tuple(failures))


def worst(codes: Iterable[int]) -> int:
    """Return the exit code of several outcomes: a failed gate before an inconclusive one, before the others."""
    order = {FAILED: 3, INCONCLUSIVE: 2, PASSED: 0}
    return max(codes, key=lambda code: order.get(code, 1), default=PASSED)


def _served(names: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for word in names.split(",") for name in _asked(word)))


def _asked(word: str) -> list[str]:
    """Return the surface slugs and tokens that ``word`` names: an agent or crawler, a company, a purpose.

    Raises BadValue for a name that is unknown or cannot be tested.
    """
    known = registry()
    if word.strip().lower() in PURPOSES.values():
        return _of_purpose(word.strip().lower())
    if crawlers := [crawler.token for crawler in known.crawlers if crawler.token.lower() == word.strip().lower()]:
        return crawlers
    entries = known.named(word)
    testable = [surface for surface in SURFACES if surface.source != "none"]
    allowed = (
        *(surface.label for surface in testable),
        *(client.token for client in (*known.agents, *known.crawlers)),
        *(purpose for purpose in PURPOSES.values() if _of_purpose(purpose)),
    )
    if not entries:
        choose("agent", word, allowed)
    names = _tested(entries, testable)
    if not names:
        untested = entries[0].label
        raise BadValue(f"No gate can ask for {untested}: it cannot be tested over plain HTTP.", allowed=allowed)
    return names


def _of_purpose(purpose: str) -> list[str]:
    """Return what is tested of a purpose: for ``user`` the agents that are probed live, else the crawlers of it."""
    known = registry()
    if purpose == "user":
        probed = {agent.key for agent in known.live}
        return [surface.slug for surface in SURFACES if surface.live in probed]
    return [crawler.token for crawler in known.crawlers if crawler.purpose == purpose]


def _tested(entries: Sequence[Surface | Agent], testable: Sequence[Surface]) -> list[str]:
    """Return the slugs of the ``testable`` surfaces among ``entries`` or of its agents, then tokens of other agents.

    One agent counts whatever its status; of several, those that are active.
    """
    agents = [
        entry for entry in entries if isinstance(entry, Agent) and (len(entries) == 1 or entry.status == "active")
    ]
    probed = {agent.key for agent in agents}
    surfaces = [surface for surface in testable if surface in entries]
    surfaces += [surface for surface in testable if surface.live in probed]
    covered = {key for surface in surfaces for key in surface.agents}
    return [*(surface.slug for surface in surfaces), *(agent.token for agent in agents if agent.key not in covered)]


def _lowest(card: ReportCard) -> int | None:
    """Return the score if every agent without an answer had been refused; None when that cannot be said."""
    answered = points.conclusive(card)
    if answered == LIVE_TOTAL:
        return card.score
    entries = () if card.ledger is UNSET else card.ledger.entries
    door = next((entry for entry in entries if entry.component == "wba" and entry.measured), None)
    if door is None:
        return None
    earned, possible = points.totals(card)
    refused = round_half_up(door.possible * card.live_served, LIVE_TOTAL)
    return min(card.score, points.percent(earned - door.earned + refused, possible))


def _failed(gate: str, message: str, by: int = 1) -> Failure:
    return Failure(gate=gate, message=message, by=by)


def _unclear(gate: str, message: str) -> Failure:
    return Failure(gate=gate, message=message, inconclusive=True)


def _score(card: ReportCard, gates: Gates) -> Iterator[Failure]:
    least = gates.fail_under
    if least is None:
        return
    if unclear := _partly_measured(card, least):
        yield _unclear("fail-under", f"{unclear}, so a score of {least} is inconclusive.")
    elif card.score < least:
        by = least - card.score
        yield _failed("fail-under", f"The score is {card.score}, {count(by, 'point')} under {least}.", by)
    else:
        yield from _doubt(card, "fail-under", least, f"a score of {least}")


def _grade(card: ReportCard, gates: Gates) -> Iterator[Failure]:
    if not gates.fail_grade:
        return
    best = card.grade if points.is_graded(card) else grade_of(points.reach(card)[1])
    by = _grade_rank(best) - _grade_rank(gates.fail_grade)
    if unclear := _partly_measured(card, FLOORS[gates.fail_grade]):
        yield _unclear("fail-grade", f"{unclear}, so grade {gates.fail_grade} is inconclusive.")
    elif by > 0:
        verb = "is" if best == card.grade else "can be at best"
        yield _failed("fail-grade", f"The grade {verb} {best}, {count(by, 'grade')} below {gates.fail_grade}.", by)
    else:
        yield from _doubt(card, "fail-grade", FLOORS[gates.fail_grade], f"grade {gates.fail_grade}")


def _partly_measured(card: ReportCard, least: int, *, strict: bool = False) -> str:
    """Return how much was measured, where the rest decides about a score of ``least``; ``strict``: even above it."""
    lowest, highest = points.reach(card)
    passes = points.is_graded(card) and card.score >= least and not strict
    if passes or lowest >= least or highest < least:
        return ""
    return f"Only {points.totals(card)[1]} of {points.full(card)} points could be measured"


def _doubt(card: ReportCard, gate: str, least: int, condition: str) -> Iterator[Failure]:
    lowest = _lowest(card)
    if lowest is None or lowest < min(least, card.score):
        yield _unclear(gate, f"{_mute(card)}, so {condition} is inconclusive.")


def _mute(card: ReportCard) -> str:
    """Return how many probed agents got no verdict, empty for none."""
    mute = LIVE_TOTAL - points.conclusive(card)
    return f"{count(mute, 'agent')} of {LIVE_TOTAL} got no verdict" if mute else ""


def _grade_rank(grade: str) -> int:
    return GRADES.index(grade[0]) if grade[0] in GRADES else len(GRADES) - 1


def _stance(card: ReportCard, gate: str, required: str, fault: str) -> Iterator[Failure]:
    """Yield a failure of ``gate`` where the stance is not ``required`` (empty: any), in the words ``fault``.

    It is inconclusive where it would be that stance if every agent without a verdict were served.
    """
    by = STANCE_RANK[required] - STANCE_RANK[card.stance] if required else 0
    if by <= 0:
        return
    mute = _mute(card)
    best = points.stance_of(
        served=card.live_served + LIVE_TOTAL - points.conclusive(card),
        conclusive=LIVE_TOTAL,
        browser_challenged=card.human_challenged,
        only_offers=False,
        disallowed=card.agents_disallowed,
    )
    if mute and STANCE_RANK[best] >= STANCE_RANK[required]:
        yield Failure(gate=gate, message=f"The stance is {card.stance}: {mute}.", by=by, inconclusive=True)
    else:
        yield _failed(gate, f"The stance {fault}.", by)


def _serves(card: ReportCard, name: str, observations: Observations | None) -> Iterator[Failure]:
    """Yield that the site shuts ``name`` out; inconclusive where nobody asked, or no answer proves anything.

    Crawlers are judged by robots.txt, which is all that is known of any of them.
    """
    gate, surface = "must-serve", surface_called(name)
    if surface is None:
        policy = _policy(card, name)
        if policy == "blocked" or (policy == "unlisted" and card.wildcard_block):
            yield _failed(gate, f"robots.txt disallows {name}.")
        elif why := _unread(card, policy):
            yield _unclear(gate, f"{why}, so {name} is inconclusive.")
        elif registry().agent(name) is not None:
            yield _unclear(gate, _never_asked(name))
        return
    assistant = list(outcome_of_each(card, observations))[SURFACES.index(surface)]
    if shut := _shut_out(card, surface):
        yield _failed(gate, f"robots.txt disallows {', '.join(shut)} ({surface.label}).")
    elif assistant.verdict in SHUT:
        yield _failed(gate, f"{surface.label}: {assistant.verdict}.")
    elif assistant.verdict == NOT_ASKED:
        yield _unclear(gate, _never_asked(surface.label))
    elif assistant.verdict == UNCLEAR:
        yield _unclear(gate, f"{surface.label}: inconclusive, because this scan has no verdict.")


def _unread(card: ReportCard, policy: str) -> str:
    """Return why it is not known what robots.txt says to a name of this ``policy``; empty where it is."""
    if not card.robots_known:
        return "robots.txt could not be read"
    return "" if policy != "unlisted" or card.robots_whole else "robots.txt could not be read to its end"


def _never_asked(name: str) -> str:
    return f"{name}: not asked; a scan asks for {', '.join(agent.short for agent in registry().live)} alone."


def _policy(card: ReportCard, token: str) -> str:
    """Return what robots.txt says of an agent or a crawler, whatever the keys of the card are called."""
    for field in ("ua_policy", "crawler_policy"):
        policies = getattr(card, field)
        by_token = dict(zip(names_of(field), policies.values(), strict=False)) | policies
        if token in by_token:
            return str(by_token[token])
    return "unlisted"


def _shut_out(card: ReportCard, surface: Surface) -> list[str]:
    """Return the agents behind a robots-only surface whose own rules block them."""
    behind = [agent.token for agent in registry().agents if agent.key in surface.agents and surface.source == "robots"]
    return [token for token in behind if _policy(card, token) == "blocked"]


def _blocks(card: ReportCard, name: str, observations: Observations | None) -> Iterator[Failure]:
    """Yield that the site lets ``name`` in: by its answer where it was asked, else by robots.txt alone."""
    gate, surface = "must-block", surface_called(name)
    if any(not failure.inconclusive for failure in _serves(card, name, observations)):
        return  # shut out for certain
    verdict = (
        list(outcome_of_each(card, observations))[SURFACES.index(surface)].verdict if surface and surface.live else ""
    )
    label = surface.label if surface else name
    if verdict in RANK:
        yield _failed(gate, f"{label}: {verdict}.")
    elif verdict:
        yield _unclear(gate, f"{label}: inconclusive, because this scan has no verdict.")
    elif why := _unread(card, _policy(card, name)):
        yield _unclear(gate, f"{why}, so {label} is inconclusive.")
    else:
        yield _failed(gate, f"robots.txt does not disallow {label}, and it was not asked.")


def _findings(card: ReportCard, gates: Gates, accepted: Container[str]) -> Iterator[Failure]:
    if not gates.fail_on:
        return
    from aui_tui.checks.evidence import level  # commands without a gate need none of the checks

    counted = SEVERITIES[: SEVERITIES.index(gates.fail_on) + 1]
    counting = [finding for finding in card.findings if level(finding) in counted and finding.id not in accepted]
    lost = [] if card.ledger is UNSET else [entry.component for entry in card.ledger.entries if not entry.measured]
    why = _mute(card) or (f"Not measured: {', '.join(lost)}" if lost else "")
    if counting:
        message = f"{count(len(counting), 'finding')} of severity {' or '.join(counted)}; the first: {counting[0].text}"
        yield _failed("fail-on", message, len(counting))
    elif why:
        yield _unclear("fail-on", f"{why}, so findings may be missing.")


def _regress(card: ReportCard, baseline: ReportCard | None, observations: Observations | None) -> Iterator[Failure]:
    gate = "no-regress"
    if baseline is None or baseline.unreachable:
        yield _unclear(gate, "The card to compare with is of a site that did not answer." if baseline else _NO_BASELINE)
        return
    if baseline.method != card.method:
        graded = f"The baseline is graded under {baseline.method}, this card under {card.method}"
        yield _unclear(gate, f"{graded}; grade one again.")
        return
    was, now_is = points.comparable(baseline, card)
    note = points.uneven(baseline, card)
    less = _unmeasured(card) > _unmeasured(baseline) and not note
    if unclear := _partly_measured(card, was, strict=True) if less else "":
        yield _unclear(gate, f"{unclear}, so a score of {was} is inconclusive.")
    elif now_is < was:
        by = was - now_is
        yield _failed(gate, f"The score fell by {count(by, 'point')}, from {was} to {now_is}. {note}".rstrip(), by)
    else:
        yield from _doubt(card, gate, was, f"a score of {was}")
    yield from _stance(card, gate, baseline.stance, f"fell from {baseline.stance} to {card.stance}")
    yield from _lost(card, baseline, observations, gate, compare_tasks=not note)


def _unmeasured(card: ReportCard) -> int:
    """Return the points of the scored pillars that could not be measured."""
    return points.full(card) - points.totals(card)[1]


def _lost(
    card: ReportCard, baseline: ReportCard, observations: Observations | None, gate: str, *, compare_tasks: bool
) -> Iterator[Failure]:
    """Yield a failure for each assistant and each agent of robots.txt that gets less than before."""
    for assistant, before in zip(outcome_of_each(card, observations), outcome_of_each(baseline), strict=False):
        rank, was = RANK.get(assistant.verdict), RANK.get(before.verdict, 0)
        if not compare_tasks and assistant.source == "none":
            continue  # a run of the tasks alone judges it
        if rank is None and was:
            yield _unclear(gate, f"{assistant.names[0]}: was {before.verdict} and is unclear now.")
        elif rank is not None and rank < was:
            yield _failed(gate, f"{assistant.names[0]}: went from {before.verdict} to {assistant.verdict}.")
    policies = zip(card.ua_policy.items(), baseline.ua_policy.values(), strict=False)
    for (key, now), old in policies if baseline.robots_known else ():
        if POLICY_RANK.get(now, 2) < POLICY_RANK.get(old, 0):
            yield _failed(gate, f"robots.txt: {key} went from {labels.policy(old)} to {labels.policy(now)}.")

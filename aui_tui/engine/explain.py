"""How a score comes about, in words for the person who reads it; every figure is taken from the method's own tables."""

from __future__ import annotations

from typing import Final, NamedTuple

from aui_tui.engine.checks import CHECKS
from aui_tui.records.methods import GRADE_FLOORS, MOST_AGENTS, WALLED_CEILING, Method
from aui_tui.records.methods import method as method_called
from aui_tui.records.registry import registry
from aui_tui.records.vocabulary import AGENTS_TOTAL, CRAWLERS_TOTAL, LIVE_TOTAL


class Section(NamedTuple):
    """A heading, paragraphs, and a table whose first column names what the second explains."""

    title: str
    paragraphs: tuple[str, ...] = ()
    rows: tuple[tuple[str, str], ...] = ()


VERDICTS: Final = (
    ("allowed", "the agent was served, and robots.txt lets it in"),
    ("allowed-robots", "robots.txt lets it in; there is no live probe of this one"),
    ("partial", "let in, but robots.txt closes some paths"),
    ("disallowed", "robots.txt tells it to stay out"),
    ("blocked", "a browser was served and the agent was refused"),
    ("walled", "a challenge or block page stood in the way, or nobody was served"),
    ("untested", "there is no verdict: no answer, a limit on requests, no rules to read, or no task run in a browser"),
)

STANCES: Final = (
    (
        "Walled",
        "a browser is challenged and no agent served, or none of the probed agents is served, or robots.txt disallows "
        f"{MOST_AGENTS} or more of the {AGENTS_TOTAL} tested agents; a 402 that names its price in a machine's terms "
        "is an offer, not a wall",
    ),
    ("Open", f"all {LIVE_TOTAL} probed agents are served and robots.txt disallows none"),
    ("Selective", "everything between"),
)


def sections(method: str) -> tuple[Section, ...]:
    """Return the explanation of ``method``. Raises BadValue naming the known methods."""
    chosen = method_called(method)
    live = ", ".join(agent.label for agent in registry().live)
    return (
        Section(
            f"Method {chosen.name}",
            (
                "The question is how usable a site is for AI agents that act live for a person. The answer rests on "
                "one comparison: what a browser gets, and what an agent gets that asks for the same page at the same "
                "moment. Each sends what the client it speaks for is known to send.",
            ),
        ),
        Section(
            "What one scan asks for",
            (
                f"The homepage as a browser and as {live}; robots.txt; /llms.txt, /.well-known/ai-plugin.json, "
                "/.well-known/ucp and the MCP server card. All at once, each within 12 seconds, redirects included. "
                "An agent that was turned away is asked again, alone, with the browser right before and after as the "
                "control. Only what lasts while the browser is served counts against the site; where the browser is "
                "turned away too, the site limits everybody and nothing is held against it.",
                f"robots.txt is read for {AGENTS_TOTAL} agents and {CRAWLERS_TOTAL} crawlers by RFC 9309; crawlers are "
                "reported and never scored.",
            ),
        ),
        Section("Verdicts", rows=VERDICTS),
        Section("Stance, the first that fits", rows=STANCES),
        Section("Points", _unscored(chosen), _points(chosen)),
        Section(
            "Score and grade",
            (
                "The score is 100 times the points earned over the points possible, over the pillars that are scored, "
                f"rounded half up; a Walled site gets {WALLED_CEILING} at most. What was not measured counts on "
                "neither side.",
                ", ".join(f"{letter} from {floor}" if floor else f"{letter} below" for floor, letter in GRADE_FLOORS)
                + ".",
                "Each fix says both: the points that it gains in its pillar, and the score before and after, such as "
                "+4 points, score 52 -> 60. All of them together give 100, "
                "less what a run of the tasks lacks.",
            ),
        ),
        Section(
            "What it cannot tell",
            (
                "A probe borrows an agent's name without its network address or its signature. A site that verifies "
                "agents may refuse the probe and serve the agent; a card with a refusal says so.",
                "It is one moment, seen from one place, and only the front page. robots.txt is a wish, not a wall. "
                "What an agent gets done on the site is tested only by a run of the tasks in a browser.",
            ),
        ),
    )


def _unscored(method: Method) -> tuple[str, ...]:
    names = [pillar.label for pillar in method.pillars if pillar.by_tasks]
    return (f"Not scored yet: {', '.join(names)}.",) if names else ()


def _points(method: Method) -> tuple[tuple[str, str], ...]:
    rows = []
    for check in CHECKS:
        name = f"{method.pillar(check.pillar[method.name]).label} {check.points[method.name]}"
        earns = check.earns.replace("{part}", str(check.part.get(method.name, "")))
        rows.append((f"{name}, {check.fix}", earns))
    return tuple(rows)

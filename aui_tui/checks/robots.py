"""robots.txt: which agents it keeps out, by which line, and the groups that would let them in (RFC 9309)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import urlsplit

from msgspec.structs import replace

from aui_tui.checks import robots_edit, sentence_list
from aui_tui.checks.check import WELCOME, Advice, Check, Earned, file_name, robots_pieces, unseen
from aui_tui.checks.judge import Judgement
from aui_tui.checks.robots_lint import remarks
from aui_tui.checks.site import Site, edges
from aui_tui.checks.wording import NAMED, at_lines, by_line, listed, name_of, out_of, quoted, silence_reason
from aui_tui.model.card import Finding
from aui_tui.model.labels import status
from aui_tui.model.methods import round_half_up
from aui_tui.model.observations import GONE, Exchange, Observations, RobotsPolicy
from aui_tui.model.open_agents import CHECKS_ROBOTS, table
from aui_tui.model.registry import registry
from aui_tui.model.verdicts import OWN_ROBOTS
from aui_tui.model.vocabulary import AGENTS_TOTAL, CRAWLERS_TOTAL, INCONCLUSIVE, SERVED
from aui_tui.text import count, joined

QUARTERS: Final = 4
"""A path-level restriction weighs a quarter of a disallowed agent."""
SENTENCES: Final = sentence_list(
    """
    critical robots-wildcard: robots.txt tells everybody to stay out
        <<file>> line <<line>> (<<rule>> for User-agent: *) disallows every agent without a group of its own:
        <<count>> tested. An agent that obeys it cannot open the site for its user.
    critical robots-blocked: robots.txt tells <<agents>> to stay out / robots.txt tells <<count>> to stay out
        <<file>> disallows <<count>> tested agents by name: <<agents>>. An agent that obeys it cannot open the site
        for its user.
    critical robots-first-host: The first host tells agents to stay out
        <<first>>, which a visitor meets before the redirect to <<host>>, disallows <<count>> tested agents (line
        <<line>>, <<rule>>). An agent that obeys it does not follow the redirect.
    critical robots-agent-stops: Another robots.txt for agents
        <<file>> is another one for <<agents>>: <<what>>, while a browser gets <<browser>>. <<Agents>> <<reads|read>>
        it first and <<stops|stop>> there, although the homepage would be served.
    warn robots-agent: Another robots.txt for agents
        <<file>> is another one for <<agents>>: <<what>>, while a browser gets <<browser>>. <<Agents>> <<is|are>>
        judged by what <<it gets|they get>>; the points are those of the browser's.
    warn robots-unknown: robots.txt cannot be read
        <<file>> <<what>>: agents that follow RFC 9309 must then stay away from the whole site. Serve it with status
        200, or 404 where there is none.
    warn robots-html: robots.txt is a web page
        A web page is served as <<file>> (status <<status>>), so it holds no rules. Serve a text file, or status 404
        where there is none.
    warn robots-withheld: robots.txt is withheld (<<status>>) / robots.txt is withheld
        <<file>> answers <<status>>, which RFC 9309 reads as no rules at all<<reader>>. If agents are to stay out,
        that must be written as rules with status 200.
    warn note robots-unseen: robots.txt is not measured
        <<file>> <<why>>. What it says is not measured.
    warn note robots-cut: robots.txt is not read to its end
        <<file>> is longer than the part that is read, or broke off; later rules are not in this card.
    warn robots-partial: robots.txt keeps <<count>> from some paths / robots.txt keeps agents from some paths
        <<file>> keeps <<count>> by name from some paths: <<agents>>.
    warn note robots-partial-wildcard: Path rules for everybody
        The path rules for User-agent: * (line <<line>>, <<rule>>) hold for <<count>> without a group of their own;
        they cost no points.
    warn note crawlers: <<count>> crawlers are told no / Crawlers are told no
        <<file>> blocks <<count>> training and search crawlers by name (not scored): <<crawlers>>.
    warn robots-remarks: Slips in robots.txt
        Look at <<file>> (not scored): <<remarks>>.
    good robots-named: robots.txt allows <<agent>> / robots.txt allows an agent by name
        <<file>> names <<agent>> (<<where>>) and does not restrict it.
    good robots-open: robots.txt lets every agent in
        <<file>> disallows none of the <<total>> tested agents.
    good robots-none: No robots.txt keeps anybody out
        There is no <<file>> (status <<status>>), so no agent is disallowed.
    """
)


def _share(full: int, disallowed: int, partial: int) -> int:
    """Return the points of a file that disallows and restricts these numbers of the tested agents.

    A disallowed agent costs at least one point, however small its share is.
    """
    total = QUARTERS * AGENTS_TOTAL
    share = round_half_up(full * max(0, total - QUARTERS * disallowed - partial), total)
    return min(share, full - 1) if disallowed else share


def _file(observations: Observations) -> Iterator[Finding]:
    facts, probe = observations.robots, observations.exchange("robots")
    first = observations.first_host
    if first is not None:
        same_host = urlsplit(first.origin).netloc == urlsplit(observations.site_origin).netloc
        place = first.origin if same_host else urlsplit(first.origin).netloc
        words = {"line": str(first.line), "rule": quoted(first.rule), "first": f"{place}/robots.txt"}
        count_of = out_of(len(first.agents), AGENTS_TOTAL)
        yield Finding(
            "robots-first-host", words | {"host": urlsplit(observations.site_origin).netloc, "count": count_of}
        )
    why = unseen(observations, "robots")
    if why:
        if not probe.unmeasured or probe.challenge is not None:
            yield Finding("robots-unseen", {"why": why})
        return
    if facts.kind == "unknown":
        yield Finding("robots-unknown", {"what": _fetched(probe)})
    elif facts.kind == "html":
        yield Finding("robots-html", {"status": str(probe.status)})
    elif facts.kind == "none":
        if probe.status in GONE:
            yield Finding("robots-none", {"status": status(probe.status)})
        else:
            yield Finding("robots-withheld", {"status": status(probe.status), "reader": _reader(probe.status)})
    if facts.cut:
        yield Finding("robots-cut")


def _reader(code: int) -> str:
    """Return which open reader then reads nothing of the site, as a clause; empty for none."""
    names = [tool.key for tool in table().tool if tool.robots == CHECKS_ROBOTS] if code in (401, 403) else []
    return f"; one widely used fetch server, {names[0]}, then reads nothing of the site" if names else ""


def _own(observations: Observations) -> Iterator[Finding]:
    """Yield where an agent gets another robots.txt than the browser."""
    arms = {arm.agent: arm for arm in observations.arms if arm.name == OWN_ROBOTS}
    alike: dict[tuple[bool, str], list[str]] = {}
    for agent in registry().live:
        arm = arms.get(agent.key)
        if arm is not None:
            closed = arm.status not in GONE and (arm.outcome != SERVED or arm.detail == "blocked")
            what = f"rules by which it is {arm.detail}" if arm.outcome == SERVED else _got(arm.status)
            alike.setdefault((closed and agent.honours_robots == "yes", what), []).append(agent.short)
    for (stops, what), names in alike.items():
        kind = "robots-agent-stops" if stops else "robots-agent"
        yield Finding(kind, listed(names) | {"what": what, "browser": _got(observations.exchange("robots").status)})


def _got(code: int) -> str:
    return status(code) if code else "no answer"


def _blocked(judgement: Judgement) -> Iterator[Finding]:
    default = [policy for policy in judgement.blocked if policy.policy == "unlisted"]
    named = [policy for policy in judgement.blocked if policy.policy != "unlisted"]
    if default:
        first = default[0]
        facts = {"line": str(first.line), "rule": quoted(first.rule)}
        yield Finding("robots-wildcard", facts | {"count": out_of(len(default), AGENTS_TOTAL)})
    if named:
        facts = {"count": out_of(len(named), AGENTS_TOTAL), "agents": by_line(named)}
        yield Finding("robots-blocked", facts)


def _partial(judgement: Judgement) -> Iterator[Finding]:
    named = judgement.restricted
    if named:
        yield Finding("robots-partial", {"count": count(len(named), "agent"), "agents": by_line(named, rules=True)})
    default = [policy for policy in judgement.agents if policy.policy == "unlisted" and policy.effective == "partial"]
    if default:
        facts = {"line": str(default[0].line), "rule": quoted(default[0].rule)}
        yield Finding("robots-partial-wildcard", facts | {"count": count(len(default), "tested agent")})


def _named(judgement: Judgement) -> Iterator[Finding]:
    for policy in judgement.agents:
        if policy.policy == "allowed":
            where = f"line {policy.line}, {quoted(policy.rule)}" if policy.rule else f"as {quoted(policy.spelling)}"
            yield Finding("robots-named", {"agent": f"{name_of(policy)} ({policy.token})", "where": where})


def _crawlers(judgement: Judgement) -> Iterator[Finding]:
    blocked = [policy.token for policy in judgement.crawlers if policy.policy == "blocked"]
    if blocked:
        facts = {"count": out_of(len(blocked), CRAWLERS_TOTAL), "crawlers": joined(blocked, NAMED)}
        yield Finding("crawlers", facts)


def _fetched(probe: Exchange) -> str:
    """Return the outcome of the fetch of robots.txt, as a predicate."""
    if probe.outcome == INCONCLUSIVE:
        return f"could not be fetched ({silence_reason(probe)})"
    return f"answers {status(probe.status)}"


def _open(policy: RobotsPolicy) -> RobotsPolicy:
    own = "unlisted" if policy.policy == "unlisted" else "allowed"
    return replace(policy, policy=own, effective="open", line=0, rule="")


def _file_remedy(blocked: Sequence[RobotsPolicy]) -> str:
    """Return what the corrected file changes, in words."""
    text = "The file below is your own without these agents in the groups that shut them out; every other line stays."
    if any(policy.policy == "unlisted" for policy in blocked):
        text += " The group at its end lets in the agents that User-agent: * shuts out; repeat the path rules you keep."
    return text


def _rules(blocked: Sequence[RobotsPolicy], partial: Sequence[RobotsPolicy]) -> str:
    default = [policy for policy in blocked if policy.policy == "unlisted"]
    named = [policy for policy in blocked if policy.policy != "unlisted"]
    sentences = []
    if default:
        sentences.append(
            f"Line {default[0].line} of robots.txt ({quoted(default[0].rule)} for User-agent: *) keeps out"
            f" {out_of(len(default), AGENTS_TOTAL)} tested agents."
        )
    if named:
        sentences.append(f"robots.txt disallows {by_line(named, rules=True)}.")
    if partial:
        sentences.append(f"It keeps {by_line(partial, rules=True)} from some paths.")
    return " ".join(sentences)


def _remedy(blocked: Sequence[RobotsPolicy], partial: Sequence[RobotsPolicy]) -> str:
    own = [policy for policy in (*blocked, *partial) if policy.policy != "unlisted"]
    default = len(own) < len(blocked) + len(partial)
    sentences = []
    if own:
        where = at_lines(policy.line for policy in own)
        sentences.append(f"Replace the groups that hold these rules{where} by the group below.")
    if default:
        sentences.append("The group below also covers the others." if own else "Add the group below.")
        sentences.append(
            "An agent with a group of its own no longer reads User-agent: *; repeat the path rules you keep."
        )
    return " ".join(sentences)


def _findings(judgement: Judgement) -> Iterator[Finding]:
    observations = judgement.observations
    yield from _file(observations)
    yield from _own(observations)
    if observations.robots.kind == "rules":
        yield from _blocked(judgement)
        yield from _partial(judgement)
        yield from _named(judgement)
        yield from _crawlers(judgement)
        notes = list(remarks(observations.robots.text))
        if notes:
            yield Finding("robots-remarks", {"remarks": "; ".join(notes)})
    if observations.robots.kind in ("rules", "html") and not (judgement.blocked or observations.robots.cut):
        yield Finding("robots-open", {"total": str(AGENTS_TOTAL)})


class RobotsTxt(Check):
    fix = "robots"
    label = "robots.txt"
    subject = "robots.txt"
    puts = "Put this into robots.txt"
    loads = "Upload the file, and purge it from the CDN where there is one."
    earns = (
        "the share of tested agents that robots.txt lets in; a ban costs at least a point, a path restriction a quarter"
        " of a ban"
    )
    lacking = "robots.txt shuts agents out"
    title = "Let agents in by robots.txt"
    takes = "minutes"
    proof = "curl -sS {origin}/robots.txt shows the new file, also through the CDN."
    points = {"v0.1": 16, "v0.2": 9}
    pillar = WELCOME
    read_on = "https://www.rfc-editor.org/rfc/rfc9309"
    path = "/robots.txt"
    sentences = SENTENCES
    detail = "robots"
    rests_on = ("robots",)

    def measure(self, judgement: Judgement, method: str) -> Earned:
        full, file = self.points[method], file_name(judgement.observations, "robots")
        match judgement.observations.robots.kind:
            case "unknown":
                got = _fetched(judgement.observations.exchange("robots"))
                return Earned(0, f"{file} {got}, and agents that follow RFC 9309 must then stay away.")
            case "none" | "html":
                return Earned(full, f"{file} brings no rules, so no agent is disallowed.")
        blocked, partial = (
            [policy.line for policy in policies] for policies in (judgement.blocked, judgement.restricted)
        )
        paths = f"; path rules restrict {len(partial)}{at_lines(partial)}, a quarter each" if partial else ""
        if judgement.observations.robots.cut and not (blocked or judgement.observations.robots.opened):
            return Earned(None, f"Only the beginning of {file} was read; the rest may have more rules. Not measured.")
        disallowed = out_of(len(blocked), AGENTS_TOTAL) if blocked else f"none of the {AGENTS_TOTAL}"
        return Earned(
            _share(full, len(blocked), len(partial)),
            f"{file} disallows {disallowed} tested agents{at_lines(blocked)}{paths}.",
        )

    def findings(self, judgement: Judgement) -> Iterator[Finding]:
        """Yield what robots.txt says to the tested agents and crawlers."""
        file = {"file": file_name(judgement.observations, "robots")}
        for finding in _findings(judgement):
            yield replace(finding, facts=finding.facts | file)

    def fixed(self, observations: Observations) -> Observations:
        robots = observations.robots
        opened = replace(
            robots,
            kind="rules" if robots.kind == "unknown" else robots.kind,
            agents=tuple(_open(policy) for policy in robots.agents),
            wildcard_block=False,
            opened=robots.cut,
        )
        changed = replace(observations, robots=opened)
        if robots.kind != "unknown":
            return changed
        exchanges = tuple(
            replace(exchange, status=200, error="", detail="") if exchange.name == "robots" else exchange
            for exchange in observations.exchanges
        )
        return replace(changed, exchanges=exchanges)

    def advise(self, site: Site) -> Advice:
        """Return body and the whole corrected file; of a file that is not kept, a group that lets the agents in."""
        step, facts = edges().for_robots(site.edges).step, site.observations.robots
        if facts.kind == "unknown":
            file, fetched = file_name(site.observations, "robots"), _fetched(site.observations.exchange("robots"))
            body = (
                f"{file} {fetched}. Agents that follow RFC 9309 must then treat the whole site as disallowed. Serve"
                " this file with status 200, from a path that needs neither login nor application; even a plain 404"
                f" would let agents in. {step}"
            )
            return Advice(body, robots_edit.OPEN_FILE.strip(), lambda: robots_pieces(site, "robots"))
        blocked, partial = site.judgement.blocked, site.judgement.restricted
        remedy = _file_remedy(blocked) if facts.text else _remedy(blocked, partial)
        body = (
            f"{_rules(blocked, partial)} {remedy} These agents fetch a page because a person asked for it; rules for"
            f" training crawlers such as GPTBot or CCBot stay as they are. {step}"
        )
        if facts.text:
            code = robots_edit.corrected(site.observations, ["robots"]).strip("\n")
            return Advice(body, code, lambda: robots_pieces(site, "robots"))
        code = "\n".join(robots_edit.open_group([policy.token for policy in (*blocked, *partial)]))
        return Advice(body, code, lambda: robots_pieces(site, "robots", code))


CHECK = RobotsTxt()

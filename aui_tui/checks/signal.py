"""Content-Signal: a line of robots.txt that says what the content may be used for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from aui_tui.checks.check import Advice, Check, Earned, file_name, robots_pieces, sentence_list
from aui_tui.checks.judge import Judgement
from aui_tui.checks.robots_edit import OPEN_SIGNAL, signal_for
from aui_tui.checks.site import Site
from aui_tui.checks.wording import quoted
from aui_tui.model import directives
from aui_tui.model.card import Finding
from aui_tui.model.methods import round_half_up
from aui_tui.model.observations import BROWSER, Observations
from aui_tui.model.registry import registry
from aui_tui.model.vocabulary import SERVED
from aui_tui.text import clean, count, joined

SENTENCES: Final = sentence_list(
    """
    warn signal-no-input: Content-Signal says ai-input=no
        Content-Signal on line <<line>> of <<file>> says ai-input=no: an agent may not read the page to answer its
        user, which is what it comes for.
    warn signal-none: No Content-Signal line
        There is no Content-Signal line in <<file>>, so the site does not say whether an agent may read it to answer
        its user.
    warn note withheld: The page withholds itself
        <<who>> <<says|say>> <<what>> of the homepage (not scored): engines and agents that heed it leave the page out
        of their answers.
    good signal-field: Content-Signal as a field
        The homepage is sent with the field Content-Signal, <<value>> (not scored): clients that read <<file>> alone
        do not see it.
    good signal: Content-Signal is stated
        <<file>> says what the content may be used for: Content-Signal on line <<line>>, <<value>>.
    """
)


def _refuses_input(value: str) -> bool:
    """Return whether a Content-Signal value says ``ai-input=no``."""
    pairs = (part.partition("=") for part in value.lower().split(","))
    return any(key.strip() == "ai-input" and answer.strip() == "no" for key, _, answer in pairs)


def _withheld(observations: Observations) -> Iterator[Finding]:
    """Yield what the page says against its use: meta elements, and X-Robots-Tag fields, also those of agents alone."""
    metas = observations.page.directives
    if metas:
        yield Finding(
            "withheld", {"who": count(len(metas), "meta element"), "number": str(len(metas)), "what": joined(metas)}
        )
    seen: set[tuple[str, str]] = set()
    names = {agent.key: agent.short for agent in registry().live}
    for probe in observations.homepages:
        if probe.outcome != SERVED:
            continue
        for client, words in directives.of_field(probe.fields.get("x-robots-tag", "")):
            if (client, words) in seen:
                continue
            seen.add((client, words))
            whose = f" in the answer to {names[probe.name]}" if probe.name in names else ""
            what = f"{client}: {words}" if client else words
            yield Finding("withheld", {"who": f"X-Robots-Tag{whose}", "number": "1", "what": clean(what, 100)})


class ContentSignal(Check):
    fix = "signal"
    label = "Content-Signal"
    subject = "robots.txt"
    puts = "Put this into robots.txt"
    loads = "Upload the file, and purge it from the CDN where there is one."
    earns = "a Content-Signal line in robots.txt: all; with ai-input=no: half; none: nothing"
    lacking = "no full Content-Signal"
    title = "State a Content-Signal in robots.txt"
    takes = "minutes"
    proof = "curl -sS {origin}/robots.txt shows the Content-Signal line."
    points = {"v0.1": 10, "v0.2": 4}
    pillar = {"v0.1": "consent", "v0.2": "welcome"}
    read_on = "https://contentsignals.org/"
    path = "/robots.txt"
    sentences = SENTENCES
    detail = "signal"
    rests_on = ("robots",)

    def measure(self, judgement: Judgement, method: str) -> Earned:
        robots, file = judgement.observations.robots, file_name(judgement.observations, "robots")
        if not robots.signal_line and robots.kind == "unknown":
            return Earned(0, f"{file} could not be fetched, so no agent reads a Content-Signal there.")
        if not robots.signal_line and robots.cut:
            return Earned(None, f"Only the beginning of {file} was read; the rest may have the line. Not measured.")
        if not robots.signal_line:
            return Earned(0, f"There is no Content-Signal line in {file}.")
        where = f"line {robots.signal_line}"
        if _refuses_input(robots.signal):
            return Earned(
                round_half_up(self.points[method], 2), f"Content-Signal on {where} says ai-input=no, which earns half."
            )
        return Earned(self.points[method], f"{file} has a Content-Signal on {where}.")

    def findings(self, judgement: Judgement) -> Iterator[Finding]:
        observations = judgement.observations
        yield from _withheld(observations)
        field = observations.exchange(BROWSER).fields.get("content-signal", "")
        if field:
            file = file_name(observations, "robots")
            yield Finding("signal-field", {"value": quoted(field), "file": file})
        facts = judgement.observations.robots
        where = {"file": file_name(judgement.observations, "robots"), "line": str(facts.signal_line)}
        if not facts.signal_line:
            if facts.kind != "unknown" and not facts.cut:
                yield Finding("signal-none", where)
        elif _refuses_input(facts.signal):
            yield Finding("signal-no-input", where)
        else:
            yield Finding("signal", where | {"value": quoted(facts.signal)})

    def fixed(self, observations: Observations) -> Observations:
        robots = observations.robots
        return replace(observations, robots=replace(robots, signal=OPEN_SIGNAL, signal_line=robots.signal_line or 1))

    def advise(self, site: Site) -> Advice:
        robots = site.observations.robots
        value = signal_for(robots.signal)
        if not _refuses_input(robots.signal):
            where = (
                "Publish a robots.txt with" if robots.kind in ("none", "html") else "Give User-agent: * in robots.txt"
            )
            lacks = f"{site.observations.host} does not say what its content may be used for."
            if robots.kind == "unknown":
                lacks = "robots.txt could not be read, so no agent learns from it what the content may be used for."
            body = (
                f"{lacks} {where} a Content-Signal:"
                " search, ai-input (reading it live to answer or act for a person) and ai-train. The values below are a"
                " proposal; only ai-input=no costs points."
            )
            code = f"User-agent: *\nContent-Signal: {value}\nDisallow:"
        else:
            body = (
                f"Line {robots.signal_line} of robots.txt says ai-input=no: do not feed this content to an AI model,"
                " not even live for the user who asked. Put the line below in its place; the other values stay as they"
                " are."
            )
            code = f"Content-Signal: {value}"
        return Advice(body, code, lambda: robots_pieces(site, "signal", code))


CHECK = ContentSignal()

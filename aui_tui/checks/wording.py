"""Small pieces of the sentences in evidence and advice. Pure; words of a site are quoted short."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

from aui_tui.model import labels
from aui_tui.model.observations import UNFOLLOWED, Exchange, RobotsPolicy
from aui_tui.model.registry import registry
from aui_tui.model.verdicts import ALONE, LESS
from aui_tui.model.vocabulary import CHALLENGED
from aui_tui.text import clean, joined

QUOTE: Final = 60
"""Characters kept of a quoted word of the site."""
NAMED: Final = 5
"""Names spelled out in a list before the rest is counted."""
LINES: Final = 8
"""The same of line numbers."""
UNTOLD: Final = {
    LESS: "much less than people get, without a sign of a block",
    ALONE: "and no page that people get is there to compare it with (a scan with Chromium has one: aui-tui help tasks)",
}
"""Why a page proves nothing, by the outcome of its comparison."""
PLACE: Final = re.compile(r"<<(\w+)>>|<<([^<>|]+)\|([^<>|]+)>>")
"""``<<agents>>``, a fact; ``<<Agents>>``, the same with a capital; ``<<gets|get>>``, by the fact ``number``."""


def fill(template: str, facts: Mapping[str, str]) -> str:
    """Return ``template`` with each place (``PLACE``) filled from ``facts``; what a fact holds is not read again."""

    def word(place: re.Match[str]) -> str:
        name, singular, plural = place.groups()
        if name is None:
            return singular if facts["number"] == "1" else plural
        fact = facts[name[:1].lower() + name[1:]]
        return fact[:1].upper() + fact[1:] if name[0].isupper() else fact

    return PLACE.sub(word, template)


def listed(agents: Sequence[str]) -> dict[str, str]:
    """Return the facts that name ``agents``: a list, and the number by which a sentence takes its form."""
    return {"agents": joined(agents), "number": str(len(agents))}


def out_of(number: int, total: int) -> str:
    """Return ``3 of the 19``, ``all 19``."""
    return f"all {total}" if number == total else f"{number} of the {total}"


def at_lines(lines: Iterable[int]) -> str:
    """Return `` (line 4)``, `` (lines 4 and 9)``; empty when no line is known."""
    numbers = sorted({line for line in lines if line})
    if not numbers:
        return ""
    return f" ({'line' if len(numbers) == 1 else 'lines'} {joined(map(str, numbers), LINES)})"


def quoted(text: str) -> str:
    """Return words of the site, cleaned, cut and in quotation marks."""
    return f"“{clean(text, QUOTE).strip()}”"


def clause(text: str) -> str:
    """Return a sentence or clause without its final full stop, cut to the length of a line of evidence."""
    return clean(text, 300).strip().rstrip(".")


def sentence(text: str) -> str:
    """Return ``text`` as a sentence: a capital first, unless it begins with an address, and one full stop last."""
    words = clause(text)
    address = "/" in words.partition(" ")[0]
    return f"{words if address else words[:1].upper() + words[1:]}."


def answer(probe: Exchange) -> str:
    """Return what a probe that was not served got: ``a Cloudflare challenge page (403)``, ``403 Forbidden``."""
    if probe.another_page:
        place = urlsplit(probe.url).path
        where = f" at {quoted(place)}" if place not in ("", "/") else ""
        title = f", {quoted(probe.title)}" if probe.title else ""
        return f"{'another page' if probe.readable else 'an empty page'}{title}{where} ({probe.status})"
    if probe.error in UNFOLLOWED:
        return f"a redirect to nowhere ({probe.status})"
    if probe.outcome == CHALLENGED and probe.challenge is not None:
        return f"{labels.challenge_page(probe.challenge.vendor)} ({probe.status})"
    if probe.status:
        return labels.status(probe.status)
    return "no answer" if probe.error in ("", "timeout") else f"no usable answer ({silence_reason(probe)})"


def answers(probes: Sequence[Exchange]) -> str:
    """Return what several probes got, each kind once."""
    return joined(answer(probe) for probe in probes)


def silence_reason(probe: Exchange) -> str:
    """Return why an inconclusive probe has no usable answer, as a clause."""
    if probe.compared:
        title = f" {quoted(probe.title)}" if probe.title else ""
        readable = f"a page{title} ({probe.status}) with {probe.readable or 0:,} readable characters came"
        return f"{readable}, {UNTOLD[probe.compared]}"
    if probe.error in ("", "timeout") and probe.status == 0:
        return "no answer in 12 s"
    return clause(probe.detail) or probe.error.replace("-", " ")


def name_of(policy: RobotsPolicy) -> str:
    """Return the label of the agent that a policy is about."""
    agent = registry().agent(policy.token)
    return agent.short if agent else policy.token


def by_line(policies: Iterable[RobotsPolicy], *, rules: bool = False) -> str:
    """Return the agents with the lines that decide: ``Claude (line 12, as “claude-user”), Kimi and Devin (line 20)``.

    ``rules`` adds the line as written. The spelling is given for an agent that stands alone and is written otherwise.
    """
    groups: dict[int, list[RobotsPolicy]] = {}
    for policy in policies:
        groups.setdefault(policy.line, []).append(policy)
    named = []
    for line, group in groups.items():
        rule = f", {quoted(group[0].rule)}" if rules else ""
        alone = len(group) == 1 and group[0].spelling not in ("", group[0].token)
        spelling = f", as {quoted(group[0].spelling)}" if alone else ""
        named.append(f"{joined(map(name_of, group), NAMED)} (line {line}{rule}{spelling})")
    return joined(named, NAMED)

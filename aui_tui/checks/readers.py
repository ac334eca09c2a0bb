"""What fetch tools of open agents make of the homepage, as they were run (``open_agents.toml``); not scored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aui_tui.checks.check import sentence_list
from aui_tui.checks.wording import quoted
from aui_tui.model.agents import open_readers
from aui_tui.model.card import Finding
from aui_tui.model.fates import IN, SHUT, TOLD_NO
from aui_tui.model.labels import status
from aui_tui.model.observations import BROWSER, REDIRECTS, Exchange, Observations
from aui_tui.model.open_agents import OpenAgent, clients, number, share, table
from aui_tui.model.reads import FIRM, JSON_LD, META, MICRODATA, Reads
from aui_tui.text import count, joined

MARKDOWN: Final = "text/markdown"
SENTENCES: Final = sentence_list(
    """
    warn note page-markdown: Markdown for everybody
        The homepage is Markdown for everybody, so nothing of its HTML is measured. <<give>> give its text, <<nothing>>
        nothing.
    warn readers-refresh: No reader follows the refresh
        The homepage comes after a page that sends its reader on by itself (<<hop>>): none of the <<tools>> follows
        that. They get <<letters>>.
    warn readers-redirects: Redirects stop some readers
        The homepage comes after <<hops>>: <<stop>> stop earlier, one after <<first>>.
    warn readers-charset: Charset in a meta element alone
        The charset <<charset>> of the homepage stands in a meta element alone: <<wrong>> get wrong letters. Send it in
        the field: Content-Type: text/html; charset=<<charset>>.
    warn readers-alone: <<Facts>> in <<form>> alone / Facts in <<form>> alone
        The <<facts>> <<stands|stand>> in <<form>> alone; <<drop>> drop it.
    warn readers-hidden: All text of the page is hidden
        All <<letters>> of text on the homepage are hidden: a person sees none, and <<most>> open readers that we ran
        give them on, by how they are hidden.
    warn readers-twin: Markdown and page differ
        The Markdown at <<where>> (<<by>>) <<how>>: agents that take it are told something else than people.
    warn note readers-away: Open readers are turned away
        The homepage is open to a browser and not to <<share>>: <<who>>.
    good note readers-in: Open readers get in
        All <<number>> open readers that we ran get the homepage under the names that they send.
    warn readers-commands: Hidden text speaks to agents
        Hidden text of the homepage speaks to agents: <<words>>. Readers give most hidden text on; this program shows
        it and never follows it.
    """
)


def seen(observations: Observations) -> Exchange:
    """Return the answer whose page is judged."""
    return observations.exchange(observations.page.seen_by or BROWSER)


def is_markdown(observations: Observations) -> bool:
    """Return whether the homepage was Markdown."""
    return seen(observations).fields.get("content-type", "").partition(";")[0].strip().lower() == MARKDOWN


def markdown() -> Finding:
    """Return what becomes of a homepage of Markdown."""
    nothing = number(lambda tool: not tool.markdown)
    return Finding("page-markdown", {"give": share(lambda tool: tool.markdown), "nothing": str(nothing)})


def cuts(letters: int) -> str:
    """Return who cuts a text of so many letters, as a clause; empty where nobody does."""
    places = sorted(tool.cut for tool in table().tool if 0 < tool.cut < letters)
    if not places:
        return ""
    verb = "cuts" if len(places) == 1 else "cut"
    return f"{share(lambda tool: tool.cut in places)} {verb} it after {joined(f'{place:,}' for place in places)}"


def findings(observations: Observations) -> Iterator[Finding]:
    """Yield what stands between these readers and the homepage that was served."""
    answer = seen(observations)
    sent_on = next((hop for hop in answer.hops if hop.status not in REDIRECTS), None)
    if sent_on is not None:
        tools = f"{len(table().tool)} open readers that we ran"
        letters = count(sent_on.letters, "letter") + " of that page"
        yield Finding("readers-refresh", {"hop": sent_on.url, "tools": tools, "letters": letters})
    hops = sum(hop.status in REDIRECTS for hop in answer.hops)
    early = sorted(tool.redirects for tool in table().tool if tool.redirects < hops)
    if early:
        facts = {"hops": count(hops, "redirect"), "stop": share(lambda tool: tool.redirects < hops)}
        yield Finding("readers-redirects", facts | {"first": str(early[0])})
    charset = observations.page.meta_charset
    if charset:
        wrong = share(lambda tool: _letters(tool, charset) != "right")
        yield Finding("readers-charset", {"charset": charset, "wrong": wrong})

    reads = observations.reads
    if reads is not None and not reads.problem:
        yield from _read(reads)


def door(observations: Observations) -> Iterator[Finding]:
    """Yield which readers are turned away, where they were asked for."""
    open_door = observations.open_door
    if open_door is None or not open_door.exchanges:
        return
    words = open_readers(open_door)
    statuses = {key: exchange.status for exchange in open_door.exchanges[1:] for key in clients()[exchange.name].tools}
    away: dict[str, list[str]] = {}
    for key, word in words.items():
        if word in SHUT:
            what = "robots.txt" if word == TOLD_NO else status(statuses[key]) if statuses[key] else "no answer"
            away.setdefault(what, []).append(key)
    if away:
        who = "; ".join(f"{', '.join(keys)} ({what})" for what, keys in away.items())
        yield Finding("readers-away", {"share": share(lambda tool: words.get(tool.key) in SHUT), "who": who})
    elif set(words.values()) == {IN}:
        yield Finding("readers-in", {"number": str(len(words))})


def _read(reads: Reads) -> Iterator[Finding]:
    drop = share(lambda tool: tool.reading != "html")
    for form in (JSON_LD, MICRODATA, META):
        alone = [fact for fact in reads.facts if fact.alone == form and fact.kind in FIRM]
        if alone:
            words = joined((f"{FIRM[fact.kind]} {fact.value}" for fact in alone), 4)
            yield Finding("readers-alone", {"facts": words, "form": form, "drop": drop, "number": str(len(alone))})
    if reads.hidden and not reads.seen:
        ways = sorted(sum(way in tool.keeps for tool in table().tool) for way in ("hidden", "inline", "class"))
        most = f"{ways[0]} to {ways[-1]} of {len(table().tool)}"
        yield Finding("readers-hidden", {"letters": count(reads.hidden, "letter"), "most": most})
    for twin in reads.twins:
        if twin.difference:
            yield Finding("readers-twin", {"where": twin.url, "by": twin.by, "how": twin.difference})
    if reads.commands:
        yield Finding("readers-commands", {"words": quoted(reads.commands[0])})


def _letters(tool: OpenAgent, charset: str) -> str:
    return tool.utf8 if charset == "utf-8" else tool.cp1251

"""What readers of text get from a page, as rows of words: for the card's section and the command ``reads``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from aui_tui.model.agents import open_readers
from aui_tui.model.fates import IN, SHUT, TOLD_NO, WORST_FIRST
from aui_tui.model.observations import READABLE_ENOUGH, Exchange, OpenDoor, PageFacts
from aui_tui.model.open_agents import OpenAgent, OpenClient, clients, number, share, table
from aui_tui.model.reads import Fact, Reading, Reads
from aui_tui.model.registry import registry
from aui_tui.model.verdicts import REAL
from aui_tui.text import count, joined

NOT_TESTED: Final = "ChatGPT, Claude, Google and Perplexity have readers of their own, which were not tested."
LABELS: Final = {
    "name": "Name", "price": "Price", "availability": "Availability", "phone": "Phone", "mail": "Mail",
    "address": "Address", "hours": "Hours", "date": "Date",
}  # fmt: skip


class Row(NamedTuple):
    """One row: what it is about, the ``word`` of its sign (``good``, ``warn``…), a sentence, and its id."""

    label: str
    word: str
    text: str
    key: str


def lead(reads: Reads, page: PageFacts | None = None) -> str:
    """Return the figures of a page in a few sentences; ``page``: the homepage as a browser got it."""
    if reads.problem:
        return f"The page could not be read: {reads.problem}."
    words = f"{count(reads.words, 'word')} with its title"
    of = f"{reads.html:,} bytes of HTML give {words}, about {count(reads.tokens, 'token')}"
    ratio = f" ({reads.html / reads.tokens:,.1f} bytes of HTML for each token of text)" if reads.tokens else ""
    whose_page = f"as {client_label(reads.client)} got it" if reads.client else "from a file"
    return f"The page {whose_page}: {of}{ratio}.{_share_phrase(reads, page)} {NOT_TESTED}"


def _share_phrase(reads: Reads, page: PageFacts | None) -> str:
    """Return which share of the text in a browser the page has; empty where a browser shows too little to compare."""
    if page is None or (page.rendered is None and page.seen_by not in ("", REAL)):
        return ""
    shown, where = page.readable, "in the HTML that a browser gets"
    if page.rendered is not None:
        shown, where = page.rendered.readable, "that a browser shows after scripts"
    if shown < READABLE_ENOUGH:
        return ""
    return f" It has {min(100, round(100 * reads.seen / shown))} % of the text {where}."


def client_label(client: str) -> str:
    """Return the name of the agent whose page it is, else ``a browser``."""
    agent = next((agent for agent in registry().live if agent.key == client), None)
    return agent.label if agent else "a browser"


def rows(reads: Reads) -> Iterator[Row]:
    """Yield the facts of a page, then what readers lose, what they add, and the versions in Markdown."""
    for fact in reads.facts:
        yield _fact_row(fact)
    yield from _other_rows(reads)


def _fact_row(fact: Fact) -> Row:
    label, key = LABELS[fact.kind], f"reads-{fact.kind}"
    if fact.alone:
        drop = share(lambda tool: tool.reading != "html")
        return Row(label, "warn", f"{fact.value} stands in {fact.alone} alone; {drop} drop it.", f"{key}-alone")
    where = joined(fact.where) or "no text"
    return Row(label, "good" if fact.at >= 0 else "warn", f"{fact.value}: in {where}{_position_phrase(fact.at)}.", key)


def _position_phrase(at: int) -> str:
    if at < 0:
        return ""
    cuts = [cut for cut in cut_letters() if cut <= at]
    cut = f", after {joined(f'{cut_at:,}' for cut_at in cuts)}, where some readers cut" if cuts else ""
    return f", at letter {at + 1:,} of all text{cut}"


def cut_letters() -> list[int]:
    """Return the numbers of letters after which some tool cuts a page, in order."""
    return sorted({tool.cut for tool in table().tool if tool.cut})


def hidden_text_phrase() -> str:
    """Return a clause: how many open readers pass hidden text on to the model."""
    ways = sorted(number(lambda tool, way=way: way in tool.keeps) for way in ("hidden", "inline", "class"))  # type: ignore[misc]
    return f"{ways[0]} to {ways[-1]} of {len(table().tool)} open readers that we ran give it on, by how it is hidden"


def _other_rows(reads: Reads) -> Iterator[Row]:
    if reads.hidden:
        text = f"{count(reads.hidden, 'letter')} that a person does not see; {hidden_text_phrase()}."
        yield Row("Hidden text", "warn", text + _in_quotes(reads.hidden_text), "reads-hidden")
    if reads.commands:
        text = "Hidden text speaks to agents. These are the site's words, shown and never followed:"
        yield Row("To agents", "critical", text + _in_quotes(reads.commands), "reads-commands")
    if reads.silent:
        text = f"{reads.silent} of {count(reads.pictures, 'picture')} without alternative text: what they show is lost."
        yield Row("Pictures", "warn", text, "reads-pictures")
    if reads.tables:
        together = share(lambda tool: tool.together)
        yield Row("Tables", "muted", f"{count(reads.tables, 'table')}; {together} run cells together.", "reads-tables")
    if reads.noscript:
        keep = share(_keeps_noscript)
        yield Row(
            "noscript", "muted", f"{count(reads.noscript, 'letter')}; {keep} take it for the page.", "reads-noscript"
        )
    if reads.twin and not reads.twins:
        yield Row("Markdown", "muted", f"The page names a version in Markdown: {reads.twin}", "reads-twin")
    for twin in reads.twins:
        word, how = "warn" if twin.difference else "good", twin.difference or "its facts are those of the page"
        if twin.problem:
            word, how = "muted", f"not compared: {twin.problem}"
        text = f"{twin.url} ({twin.by}), {count(twin.letters, 'letter')}: {how}."
        yield Row("Markdown", word, text, "reads-twin")


def _keeps_noscript(tool: OpenAgent) -> bool:
    return "noscript" in tool.keeps


def _in_quotes(pieces: Sequence[str]) -> str:
    return "".join(f" “{piece}”" for piece in pieces)


HEADER: Final = ("Fact", "Value", "Stands in", "article", "page", "words")


def fact_rows(readings: Sequence[Reading]) -> Iterator[tuple[str, ...]]:
    """Yield the cells under HEADER: each fact, where it stands, and its letter in each of ``readings``.

    A reading that could not be made says ``?``, a fact that is not in it ``lost``.
    """
    first_facts = next((reading.facts for reading in readings if reading.facts), ())
    for number_, fact in enumerate(first_facts):
        cells = []
        for reading in readings:
            at = reading.facts[number_].at if number_ < len(reading.facts) else -1
            cells.append("?" if not reading.text else f"{at + 1:,}" if at >= 0 else "lost")
        yield (LABELS[fact.kind], fact.value, joined(fact.where) or "–", *cells)


def door_lead(door: OpenDoor) -> str:
    """Return how many readers get in, how they were asked for, and which of them share a name."""
    words = open_readers(door)
    shared: dict[str, list[str]] = {}
    for tool in table().tool:
        shared.setdefault(tool.user_agent, []).append(tool.key)
    alike = (
        f"{name} is the name of {joined(keys)}: a rule for it is for all." for name, keys in shared.items() if keys[1:]
    )
    how = "Each was asked for by User-Agent, Accept, encodings and redirects; a site may go by other fields, or by TLS."
    return f"{share(lambda tool: words.get(tool.key) == IN)} get the homepage. {how} {' '.join(alike)} {NOT_TESTED}"


def door_rows(door: OpenDoor) -> Iterator[tuple[str, str, str]]:
    """Yield the tools that share a client, a word of FATES and why, worst first."""
    words, client_by_name = open_readers(door), clients()
    rows = (
        (
            joined(key for key in client_by_name[exchange.name].tools if words[key] == word),
            word,
            _why(exchange, client_by_name[exchange.name], word),
        )
        for exchange in door.exchanges[1:]
        if exchange.name in client_by_name
        for word in dict.fromkeys(words[key] for key in client_by_name[exchange.name].tools)
    )
    yield from sorted(rows, key=lambda row: WORST_FIRST.index(row[1]))


def _why(exchange: Exchange, client: OpenClient, word: str) -> str:
    """Return why a client has ``word``, under which name, and who takes the words of a refusal for the page."""
    answer = exchange.detail or (
        f"{word} ({exchange.status or 'no answer'})" if word != IN else f"served ({exchange.status})"
    )
    if exchange.another_page:
        answer = "another page than the browser’s"
    if word == TOLD_NO:
        answer = "robots.txt keeps it out, and it asks for that before each page"
    takes = [tool.key for tool in table().tool if tool.key in client.tools and tool.refused == "words"]
    then = f"; {joined(takes)} {'takes' if len(takes) == 1 else 'take'} the words of a refusal for the page"
    return f"{answer}, as {_product_name(client.user_agent)}{then if takes and word in SHUT - {TOLD_NO} else ''}"


def _product_name(user_agent: str) -> str:
    """Return the product of a User-Agent: its first one, ``Chrome/…`` of one that begins as browsers do."""
    browser = re.search(r"Chrome/\d+", user_agent)
    return browser[0] if browser else user_agent.partition(" ")[0]

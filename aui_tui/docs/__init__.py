"""The documentation: one Markdown file a topic, read by ``aui-tui help TOPIC``, the dashboard, and the pages of serve.

Topics that explain tables are made from the tables that the program itself works by.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from aui_tui.checks.scoring import MethodSection, sections
from aui_tui.model import open_agents, query_line
from aui_tui.model.methods import DEFAULT_METHOD
from aui_tui.model.registry import PURPOSES, Client, registry
from aui_tui.model.vocabulary import choose
from aui_tui.packaged import read_table, read_text

if TYPE_CHECKING:
    from markdown_it.token import Token

QUERY, METHOD, DECLARED, NAMES, READS = "query", "method", "declared", "names", "reads"
TOPICS: Final = MappingProxyType(
    {
        "scanning": "scan a site, a staging site, or one of your own",
        "dashboard": "keys and views, what was done, what is remembered",
        QUERY: "the words that choose hosts in an index",
        NAMES: "who asks under which name, what for, and whether robots.txt is read",
        METHOD: "how verdicts, stance, points and grades are decided",
        "ci": "gates and jobs for CI",
        "tasks": "what an agent gets done in a browser",
        READS: "what readers of text get from a page, and which were run",
        "visits": "what your access log says of real agents",
        "signing": "probes with your own signature",
        DECLARED: "what sites declare for agents",
        "lists": "many hosts, on one machine or several",
        "serving": "publish an index, or read a published one",
        "agents": "tools and a skill for coding agents",
        "skill": "the skill itself, for an agent to read",
        "programs": "output for programs, exit codes, settings, completion, upkeep",
        "architecture": "how the program is built",
    }
)
"""Every topic in reading order, and what it is about."""


PURPOSE_TITLES: Final = {
    "user": "For a user, live",
    "search": "To build a search index",
    "training": "To train models",
    "ads": "To check advertisements",
}
ROBOTS_WORDS: Final = {
    "yes": "follows robots.txt",
    "no": "does not follow robots.txt",
    "reserved": "may not follow robots.txt",
    "unstated": "does not say whether it follows robots.txt",
}
REFUSED_WORDS: Final = {"error": "error", "nothing": "nothing", "words": "its words are the page"}
FILES: Final = MappingProxyType({"skill": "SKILL.md"})
"""Topics whose file has a name that others look for."""


def read(topic: str, *, method: str = DEFAULT_METHOD) -> str:
    """Return a topic as Markdown; ``method`` is the one that the topic of that name explains.

    Raises BadValue naming the topics.
    """
    name = choose("topic", topic, tuple(TOPICS))
    if name == QUERY:
        return "\n".join(_page(query_sections(), code=True))
    if name == METHOD:
        return "\n".join(_page(sections(method)))
    if name == NAMES:
        return "\n".join(_page(name_sections(), code=True))
    text = read_text(f"docs/{FILES.get(name, f'{name}.md')}")
    if name == READS:
        return text + "\n".join(("", *_readers(), ""))
    return text + "\n".join(("", *_declarations())) if name == DECLARED else text


def _readers() -> Iterator[str]:
    """Yield the table of open readers as Markdown."""
    heads = ("reader", "User-Agent", "robots.txt", "page with 403", "redirects", "charset in meta", "cuts at", "gives")
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for tool in open_agents.table().tool:
        cells = (
            f"{tool.key} {tool.version}",
            f"`{tool.user_agent}`",
            "asked" if tool.robots else "no",
            REFUSED_WORDS[tool.refused],
            "all that were tried" if tool.redirects == open_agents.ALL else str(tool.redirects),
            tool.cp1251,
            f"{tool.cut:,}" if tool.cut else "–",
            tool.reading + (", cells run together" if tool.together else ""),
        )
        yield f"| {' | '.join(cells)} |"


def _declarations() -> Iterator[str]:
    """Yield the table of declarations as Markdown, one part each."""
    table = read_table("scan/declared.toml", dict[str, Any])
    for row in table["declaration"]:
        places = [f"`{place}`" for place in row.get("places", ())]
        places += [f"`{row['robots'].capitalize()}:` in robots.txt"] if "robots" in row else []
        places += [f"the field {row['header'].title()} of the homepage"] if "header" in row else []
        places += [f"a link of the homepage with rel={' or '.join(row['link'])}"] if "link" in row else []
        places += [f"the homepage with Accept: {row['accept']}"] if "accept" in row else []
        places += ["the HTML of the homepage"] if "markup" in row else []
        places += ["the A2A agent card"] if "within" in row else []
        yield from (f"## {row['name']}", "", row["what"], "")
        yield from (f"- Asked for: {'; '.join(places)}.", f"- Recognised by: {row['recognised']}.")
        yield from (f"- Source: [{row['source']}]({row['source']})", "")


def title(topic: str) -> str:
    """Return the heading of a topic. Raises BadValue naming the topics."""
    return next(line for line in read(topic).splitlines() if line.startswith("# ")).removeprefix("# ")


def body(text: str) -> str:
    """Return a page without its front matter, which is for programs that look for skills."""
    return text.partition("\n---\n")[2] if text.startswith("---\n") else text


class Block(NamedTuple):
    """One piece of a page: ``kind`` is title, heading, text, item, code (of several lines) or row (of a table).

    ``text`` is plain; ``name`` is the first cell of a row, the text then holds the others.
    """

    kind: str
    text: str
    name: str = ""


def blocks(text: str) -> Iterator[Block]:
    """Yield the pieces of a page in Markdown, for screens that lay out lines themselves; front matter is left out."""
    from markdown_it import MarkdownIt

    within: list[str] = []
    cells: list[str] = []
    for token in MarkdownIt("commonmark").enable("table").parse(body(text)):
        within = [*within, token.tag] if token.nesting > 0 else within[:-1] if token.nesting < 0 else within
        if token.type in ("code_block", "fence"):
            yield Block("code", token.content.rstrip("\n"))
        elif token.type == "tr_close":
            yield Block("row", " · ".join(cells[1:]), cells[0])
            cells = []
        elif token.type == "inline" and within[-1] in ("th", "td"):
            cells.append(_plain(token))
        elif token.type == "inline":
            yield Block(_kind(within), _plain(token))


def _kind(within: list[str]) -> str:
    if within[-1] in ("h1", "h2", "h3"):
        return "title" if within[-1] == "h1" else "heading"
    return "item" if "li" in within else "text"


def _plain(token: Token) -> str:
    """Return the words of a piece without its markup."""
    return "".join(" " if part.type == "softbreak" else part.content for part in token.children or ())


def query_sections() -> tuple[MethodSection, ...]:
    """Return the explanation of the query language."""
    return (
        MethodSection(query_line.TITLE, query_line.INTRODUCTION),
        MethodSection("Terms", rows=query_line.terms()),
        MethodSection("Joining terms", rows=query_line.JOINING),
        MethodSection("For example", rows=query_line.EXAMPLES),
    )


def name_sections() -> tuple[MethodSection, ...]:
    """Return the clients that are known, by what they are for."""
    catalogue = registry()
    rows: dict[str, list[tuple[str, str]]] = {purpose: [] for purpose in PURPOSES.values()}
    for client in catalogue.clients:
        rows[client.purpose].append((client.token, " · ".join(_about(client, catalogue.version))))
    return (
        MethodSection(
            "Names of agents and crawlers",
            (
                "Each row says who sends the name, whether robots.txt is read and followed, whether the addresses are "
                "published, and the source. Operators change this; the date says when it was looked at.",
            ),
        ),
        *(MethodSection(PURPOSE_TITLES[purpose], rows=tuple(group)) for purpose, group in rows.items()),
    )


def _about(client: Client, version: str) -> Iterator[str]:
    """Yield what one row says of ``client``; ``version``: the day on which the registry was checked."""
    yield f"{client.label} by {client.operator}" if client.label != client.token else client.operator
    if client.is_silent:
        yield "a name for robots.txt alone, sends no requests"
    else:
        yield ROBOTS_WORDS[client.honours_robots]
        yield "addresses published" if client.ip_ranges else "no addresses published"
    yield f"{'' if client.confidence == 'vendor' else 'reported, '}{client.checked or version}"
    if client.doc:
        yield client.doc


def _page(page: tuple[MethodSection, ...], *, code: bool = False) -> Iterator[str]:
    """Yield the lines of a page in Markdown; the first column of its tables is ``code``, else strong."""
    for number, section in enumerate(page):
        yield f"{'#' if number == 0 else '##'} {section.title}"
        yield ""
        for paragraph in section.paragraphs:
            yield paragraph.replace("<", "\\<").replace("*", "\\*")
            yield ""
        for name, meaning in section.rows:
            mark = "`" if code else "**"
            text = meaning.replace("<", "\\<").replace("*", "\\*")
            yield f"- {mark}{name}{mark}: {text}" if name else f"  {text}"
        if section.rows:
            yield ""

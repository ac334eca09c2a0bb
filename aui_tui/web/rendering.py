"""Templates of everything that is written as text: pages, feeds, and the small files under well-known addresses."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, urlencode

import jinja2
from markdown_it import MarkdownIt
from markupsafe import Markup

from aui_tui import __version__, docs
from aui_tui.model import fates, labels
from aui_tui.model.card import site_url
from aui_tui.model.listing import Row
from aui_tui.model.query import Query
from aui_tui.model.report import HostReport
from aui_tui.model.signs import sign
from aui_tui.model.surfaces import SURFACES
from aui_tui.model.vocabulary import NO_GRADE
from aui_tui.report import page as pictures
from aui_tui.report.sections import Section, sections
from aui_tui.text import count
from aui_tui.web import NAME, SUMMARY, ApiConfig, serves_tools

WITH_RECORD: Final = ("tasks", "visits")
"""Parts of a card that have a record of their own."""


def _words(row: Row) -> list[tuple[str, str]]:
    """Return the assistants, each with the word for what it gets."""
    return [(surface.label, word) for surface, word in zip(SURFACES, row.verdicts, strict=False)]


def _known(row: Row) -> list[bool]:
    """Return whether each assistant gets in of which that is known."""
    admitted = (fates.gets_in(word, surface.source) for surface, word in zip(SURFACES, row.verdicts, strict=False))
    return [inside for inside in admitted if inside is not None]


def _segment(host: str) -> str:
    """Return ``host`` as a part of a path."""
    return quote(host, safe=":")


def environment(config: ApiConfig, *, scans: bool) -> jinja2.Environment:
    """Return the environment of the templates; ``scans``: whether visitors may scan."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("aui_tui.web"),
        autoescape=jinja2.select_autoescape(("html", "atom")),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        auto_reload=False,
    )
    base, root = config.base_url, config.root

    def record_path(kind: str, host: str) -> str:
        return f"{root}/api/{kind}/{_segment(host)}.json"

    def card_html(report: HostReport) -> Markup:
        host = report.card.host
        drawn = pictures.card_parts(
            sections(report), more=lambda name: record_path(name, host) if name in WITH_RECORD else ""
        )
        return Markup("".join(drawn))  # noqa: S704 - its words are escaped

    def section_html(part: Section) -> Markup:
        def address(terms: str) -> str:
            query = Query().narrowed(terms) if terms else None
            return listed_at(root, query_fields(query)) if query else ""

        return Markup("".join(pictures.section_html(part, part.name, address=address)))  # noqa: S704 - escaped

    made.filters.update(
        label=labels.name,
        counted=count,
        grade=labels.grade,
        sign=lambda word: sign(word).sign,
        tone=pictures.tone,
        moment=labels.moment,
        address=labels.web_address,
    )
    made.globals.update(
        root=root,
        base=base,
        title=NAME,
        summary=SUMMARY,
        version=__version__,
        no_grade=NO_GRADE,
        tools=serves_tools(),
        scans=scans,
        site_path=lambda host: site_url(root, host),
        site_url=lambda host: site_url(base, host),
        record_path=record_path,
        badge_path=lambda host: f"{root}/badge/{_segment(host)}.svg",
        served=lambda row: _known(row).count(True),
        tested=lambda row: len(_known(row)),
        card_html=card_html,
        section_html=section_html,
        words=_words,
        pillar=labels.pillar,
        grade_mark=lambda grade, size: Markup(pictures.mark(grade, size)),  # noqa: S704 - its words are escaped
        history_chart=lambda points: Markup(pictures.chart(tuple(points))),  # noqa: S704 - its words are escaped
    )
    return made


def query_fields(query: Query) -> dict[str, str]:
    """Return the fields of the address at which the first page lists the hosts of ``query``."""
    return {
        "q": query.line,
        "category": query.category,
        "stance": query.stance,
        "sort": "" if query.sort == "rank" else query.sort,
    }


def listed_at(root: str, fields: Mapping[str, object]) -> str:
    """Return the address of the first page with ``fields``, those without a value left out."""
    values = {name: str(value) for name, value in fields.items() if value}
    return f"{root}/?{urlencode(values)}" if values else f"{root}/"


def markdown_html(text: str, root: str) -> str:
    """Return a page of the documentation as HTML; raw HTML in it is shown as text, links to files lead to topics."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(docs.body(text))
    for token in tokens:
        for part in token.children or ():
            target = str(part.attrGet("href") or "")
            if part.type == "link_open" and target.endswith(".md"):
                part.attrSet("href", f"{root}/help/{target.removesuffix('.md').casefold()}")
    made = str(parser.renderer.render(tokens, parser.options, {}))
    numbers = itertools.count(1)
    made = re.sub("<pre>", lambda _: f'<pre tabindex="0" role="region" aria-label="Example {next(numbers)}">', made)
    return made.replace("<table>", '<div class="scroll" tabindex="0"><table>').replace("</table>", "</table></div>")

"""The table of declarations (``declared.toml``), and how a site's answers are judged by it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import msgspec

from aui_tui.model.observations import GONE, LIMIT_STATUS, PAYMENT, REDIRECTS, Observations
from aui_tui.model.tasks import Rendered
from aui_tui.model.vocabulary import CHALLENGED, INCONCLUSIVE, REFUSED, SERVED
from aui_tui.packaged import read_table
from aui_tui.scan import agent_files, charset, exchanges, markup, robots, walls
from aui_tui.scan.policy import Limits
from aui_tui.scan.probes import Answer
from aui_tui.text import count, tidy

OK, PAYMENT_STATUS, MISSING = 200, 402, GONE | {405, 406}
_SHORT: Final = 80
"""Characters kept of what a site says of itself."""
_BEGINNING: Final = 20_000
"""Characters of a text in which its mark is looked for."""
_PROLOG: Final = re.compile(
    r"(?:\s++|<\?[^>]{0,500}+>|<!--(?:(?!-->).)*+-->)*+<(?:[a-z][\w.-]{0,40}:)?([a-z]+)", re.DOTALL
)
"""What comes before the root element of XML, and the name of the root."""


class DeclarationRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One declaration of ``declared.toml``, which explains the fields."""

    key: str
    name: str
    what: str
    recognised: str
    source: str
    places: tuple[str, ...] = ()
    shapes: tuple[dict[str, str], ...] = ()
    begins: str = ""
    types: tuple[str, ...] = ()
    text: str = ""
    root: str = ""
    detail: str = ""
    within: str = ""
    list: str = ""
    uri: str = ""
    members: tuple[str, ...] = ("uri",)
    accept: str = ""
    header: str = ""
    markup: bool = False
    terms: bool = False
    robots: str = ""
    value: str = ""
    link: tuple[str, ...] = ()
    link_type: str = ""
    place_only: bool = False
    tried: tuple[str, ...] = ()


@cache
def rows() -> tuple[DeclarationRow, ...]:
    """Return the table."""
    return read_table("scan/declared.toml", dict[str, tuple[DeclarationRow, ...]])["declaration"]


class PlaceAnswer(NamedTuple):
    """The answer at ``path``: ``outcome`` as of a probe, ``content_type`` a media type, ``data`` its JSON object."""

    path: str
    status: int
    outcome: str
    content_type: str
    headers: Mapping[str, str]
    body: bytes
    cut: bool
    data: dict[str, Any] | None

    @property
    def text(self) -> str:
        """The body as text, without the blanks that it begins with."""
        return agent_files.text_of(self.body, self.content_type)

    @property
    def limited(self) -> bool:
        """What a limit on requests may answer with: 429 or 5xx."""
        return self.outcome == REFUSED and (self.status == LIMIT_STATUS or self.status >= 500)

    @property
    def moved(self) -> bool:
        """A redirect; none is followed."""
        return self.status in REDIRECTS

    @property
    def missing(self) -> bool:
        """Nothing is there: 404 and the like, a redirect, or a page that is not what was asked for."""
        return self.moved or self.outcome == SERVED or self.status in MISSING

    @property
    def signature(self) -> object:
        """What two answers of a catch-all have in common: the names in a JSON object, else the first line."""
        return agent_files.signature(self.body, self.content_type)


def read(answer: Answer, limits: Limits) -> PlaceAnswer:
    """Return ``answer`` as far as it is judged here."""
    return PlaceAnswer(
        path=answer.url.path,
        status=answer.status,
        outcome=exchanges.exchange(answer, limits).outcome,
        content_type=charset.media_type(answer.content_type),
        headers=answer.mapping(),
        body=answer.body,
        cut=answer.cut,
        data=agent_files.json_object(answer.body, answer.content_type),
    )


def recognised(row: DeclarationRow, answer: PlaceAnswer) -> bool:
    """Tell whether ``answer``, the answer at a place of ``row``, is what the place promises."""
    if row.terms and payment_terms(answer):
        return True
    if answer.status != OK or answer.outcome != SERVED or (row.types and answer.content_type not in row.types):
        return False
    if row.shapes and answer.data is not None:
        return any(agent_files.fits(shape, answer.data) for shape in row.shapes)
    if row.begins and answer.cut:
        return re.match(row.begins, answer.text, re.DOTALL) is not None
    if row.root:
        prolog = _PROLOG.match(answer.text[:_BEGINNING])
        return prolog is not None and prolog[1] == row.root
    if row.text and agent_files.check("llms", answer.body, answer.content_type, answer.status).found:
        marked = re.search(row.text, answer.text[:_BEGINNING], re.IGNORECASE)
        return marked is not None
    return False


def payment_terms(answer: PlaceAnswer) -> bool:
    """Tell whether ``answer`` is a 402 with x402 terms, in the field of version 2 or the body of version 1."""
    return answer.status == PAYMENT_STATUS and (
        walls.x402(answer.headers.get("payment-required", ""))
        or agent_files.fits({"x402Version": "number", "accepts": "list"}, answer.data)
    )


def lacking(row: DeclarationRow, answer: PlaceAnswer, *, promised: bool) -> str:
    """Return why ``answer``, asked as the browser, is not what ``row`` is; empty where nobody ``promised`` it."""
    if not answer.missing:
        return f"{answer.path} answers the browser {answer.status or 'nothing'}"
    if answer.outcome == SERVED and row.shapes:
        if answer.cut and not agent_files.is_markup(answer.text):
            return f"{answer.path} is longer than is read"
        if not answer.cut and answer.data is None and answer.text.startswith("{"):
            return f"{answer.path} is no valid JSON"
    return f"{answer.path} does not have it" if promised else ""


def verdict(row: DeclarationRow, answer: PlaceAnswer) -> tuple[str, str]:
    """Return the verdict of an agent that got ``answer`` where the browser got ``row``, and what it leaves open.

    A refusal is one only when rounds with the browser confirm it.
    """
    if recognised(row, answer) or walls.terms(answer.status, answer.headers):
        return PAYMENT if answer.status == PAYMENT_STATUS else SERVED, ""
    if answer.limited:
        return INCONCLUSIVE, f"it answers {answer.status}, as a limit on requests may"
    if answer.moved:
        return INCONCLUSIVE, "it is sent to another address, and the browser is not"
    if answer.missing:
        return INCONCLUSIVE, "it gets another answer than the browser"
    return CHALLENGED if answer.outcome == CHALLENGED else REFUSED, ""


class DeclaredLine(NamedTuple):
    """What declares something outside its own document: ``where`` it stands, and what it says or leads to."""

    where: str
    value: str


def lines(observations: Observations, first: PlaceAnswer | None, page: PlaceAnswer | None) -> dict[str, DeclaredLine]:
    """Return by row what robots.txt and the homepage declare.

    ``first``: the homepage when asked for in the format of a row; ``page``: as HTML; None: not asked.
    """
    html = page if page is not None and page.outcome == SERVED and page.content_type != "text/markdown" else None
    declares = markup.declares(html.body if html is not None else b"")
    fields = [*(answer.headers for answer in (page, first) if answer is not None), observations.browser.fields]
    named = [link for some in fields for link in markup.header_links(some.get("link", ""))]
    links = [(link, "Link field of the homepage") for link in named]
    links += [(link, "link element of the homepage") for link in declares.links]
    listed = _robots_lines(observations.robots.text)
    lines_by_row = {
        row.key: _field_line(row, fields)
        or listed.get(row.key)
        or _link_line(row, links)
        or _tools_line(row, declares, observations.page.rendered)
        or _format_line(row, first)
        for row in rows()
    }
    return {key: line for key, line in lines_by_row.items() if line is not None}


def _robots_lines(text: str) -> dict[str, DeclaredLine]:
    """Return by row the first line of robots.txt that declares it; a comment or a line without a proper value does not.

    One pass, whatever the file is like.
    """
    row_by_key = {row.robots.encode(): row for row in rows() if row.robots}
    lines_by_row: dict[str, DeclaredLine] = {}
    for number, line in enumerate(text.splitlines(), 1):
        key, value = robots.record(line.encode()) if ":" in line else (b"", b"")
        row = row_by_key.get(key)
        if row is not None and row.key not in lines_by_row:
            value_text = value.decode("utf-8", "replace")
            if re.search(row.value, value_text, re.IGNORECASE):
                lines_by_row[row.key] = DeclaredLine(f"robots.txt, line {number}", value_text)
    return lines_by_row


def _field_line(row: DeclarationRow, fields: Iterable[Mapping[str, str]]) -> DeclaredLine | None:
    """Return the header field of the homepage that declares ``row``."""
    value = next((some[row.header] for some in fields if row.header and some.get(row.header)), "")
    declares = value and re.search(row.value, value, re.IGNORECASE)
    return DeclaredLine(f"{row.header.title()} field of the homepage", value) if declares else None


def _link_line(row: DeclarationRow, links: Iterable[tuple[markup.Link, str]]) -> DeclaredLine | None:
    """Return the link of the homepage that declares ``row``."""
    for (relations, kind, href), where in links:
        if set(relations.split()) & set(row.link) and row.link_type in ("", kind) and href:
            return DeclaredLine(where, href)
    return None


def _tools_line(row: DeclarationRow, page: markup.Declares, browser: Rendered | None) -> DeclaredLine | None:
    """Return the WebMCP tools of the homepage: as a browser saw them registered, else as its HTML names them."""
    if not row.markup:
        return None
    names_in_browser = browser.tools if browser is not None else None
    if names_in_browser:
        return DeclaredLine("the homepage in a browser", ", ".join(names_in_browser))
    if not (page.tools or page.registers):
        return None
    names = ", ".join(map(short, page.tools[:5])) or "registered by a script"
    names += f", by an outdated name: {page.outdated}" if page.outdated else ""
    return DeclaredLine("the homepage", f"{names}; a browser saw none" if names_in_browser is not None else names)


def _format_line(row: DeclarationRow, first: PlaceAnswer | None) -> DeclaredLine | None:
    """Return the homepage itself, where it came in the format of ``row``."""
    if first is None or first.outcome != SERVED or not row.accept or first.content_type != row.accept:
        return None
    return DeclaredLine("the homepage", row.accept) if first.text and not agent_files.is_markup(first.text) else None


def terms_line(observations: Observations, answers: Sequence[PlaceAnswer]) -> DeclaredLine | None:
    """Return where payment terms were met, at the homepage or in any of ``answers``."""
    for home in observations.homepages:
        if home.status == PAYMENT_STATUS and walls.x402(home.fields.get("payment-required", "")):
            return DeclaredLine("the homepage (402)", "")
    return next((DeclaredLine(f"{answer.path} (402)", "") for answer in answers if payment_terms(answer)), None)


def part_line(row: DeclarationRow, document: PlaceAnswer) -> DeclaredLine | None:
    """Return the last object in ``document`` that declares ``row``."""
    listed = agent_files.value_at(document.data, row.list)
    entries = listed if isinstance(listed, list) else []
    values = [agent_files.value_at(entry, member) for entry in entries for member in row.members]
    addresses = [value for value in values if isinstance(value, str) and row.uri in value.lower()]
    return DeclaredLine(document.path, addresses[-1]) if addresses else None


def short(value: object) -> str:
    """Return a text of a site fit to be kept, or the length of a list; empty for anything else."""
    if isinstance(value, list):
        return count(len(value), "entry", "entries")
    return tidy(value, _SHORT) if isinstance(value, str) else ""

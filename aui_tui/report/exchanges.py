"""The requests and answers of a browser and of an agent, side by side: the rows behind a verdict. Pure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from shlex import quote
from typing import Final, Literal
from urllib.parse import urlsplit

import msgspec

from aui_tui.errors import BadValue
from aui_tui.model import agents, labels
from aui_tui.model.card import ReportCard
from aui_tui.model.observations import BROWSER, FILE_PROBES, HIDDEN, REDIRECTS, Cause, Exchange, Observations
from aui_tui.model.registry import registry
from aui_tui.model.vocabulary import SERVED
from aui_tui.text import count, path_of

NOT_SENT: Final = "not sent"
OF_CURL: Final = ("User-Agent", "Accept")
"""Fields that curl sends unless it is told not to."""
ABSENT: Final = "–"
"""The cell of a side that has no such value."""
REQUEST_ID_FIELDS: Final = frozenset(
    {
        "cf-ray",
        "x-request-id",
        "x-amz-cf-id",
        "x-amzn-requestid",
        "x-akamai-request-id",
        "akamai-grn",
        "x-iinfo",
        "x-sucuri-id",
        "x-vercel-id",
        "x-nf-request-id",
        "x-azure-ref",
        "x-datadome-cid",
    }
)
"""Response fields that hold an id of the request, by which a CDN or a server can look it up in its logs."""
VOLATILE_FIELDS: Final = frozenset({"date", "age", "expires", "last-modified", "etag"})
"""Response fields that differ from one answer to the next without meaning anything."""
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+")
QUOTE_NOTE: Final = "quote this"
"""The note of a request id: quote it to the vendor or the host, who can then look this request up."""
Part = Literal["asked", "why", "answered", "page"]


class FieldRow(msgspec.Struct, frozen=True, kw_only=True):
    """One thing on both sides. ``differs`` is None where a difference would mean nothing; ``note`` explains the row."""

    part: Part
    name: str
    left: str
    right: str
    differs: bool | None
    note: str = ""


class TextLine(msgspec.Struct, frozen=True):
    """One sentence of the readable text: of both sides (``=``), of the left (``-``) or of the right alone (``+``)."""

    side: Literal["=", "-", "+"]
    text: str


class ComparedExchanges(msgspec.Struct, frozen=True, kw_only=True):
    """Two exchanges side by side: the browser's at the left; a file has the same exchange on both sides.

    ``goes_by``: which fields of a request decide that it is refused, as a phrase; empty where the scan does not know.
    """

    name: str
    goes_by: str
    left_label: str
    right_label: str
    rows: tuple[FieldRow, ...]
    text: tuple[TextLine, ...]
    left: Exchange
    right: Exchange

    @property
    def differing(self) -> int:
        """How many rows differ, without the rows of the part ``why``."""
        return sum(row.differs is True for row in self.rows if row.part != "why")

    @property
    def alike(self) -> int:
        """How many rows are the same on both sides."""
        return sum(row.differs is False for row in self.rows)


def comparable_probes(observations: Observations) -> tuple[str, ...]:
    """Return the names of the probes that can be compared with the browser, in the order of the scan."""
    return tuple(exchange.name for exchange in observations.exchanges if exchange.name != BROWSER)


def compared(card: ReportCard, observations: Observations, name: str) -> ComparedExchanges:
    """Compare the exchange of the probe ``name`` with the browser's; that of a file with itself. Raises BadValue."""
    allowed = (BROWSER, *comparable_probes(observations))
    if name not in allowed:
        raise BadValue(f"There is no exchange {name!r}; there are: {', '.join(allowed)}.", allowed=allowed)
    right = observations.exchange(name)
    left = observations.browser if name not in FILE_PROBES else right
    texts = (left.text, left.text if right.same_text else right.text)
    cause = observations.cause if observations.cause is not None and name in observations.cause.agents else None
    why = [*(_swapped(cause, right) if cause is not None else ()), *_robots(card, observations, name)]
    return ComparedExchanges(
        name=name,
        goes_by=_goes_by(cause) if cause is not None else "",
        left_label=labels.name(left.name),
        right_label=labels.name(name),
        rows=(*_ordered(_asked(left, right)), *why, *_ordered(_answered(left, right)), *_page(left, right, texts)),
        text=tuple(_difference(*texts)),
        left=left,
        right=right,
    )


def _ordered(rows: Iterator[FieldRow]) -> list[FieldRow]:
    """Return ``rows`` with the first one in its place, then those that differ, then those that are the same."""
    first, *rest = rows
    return [first, *sorted(rest, key=lambda row: row.differs is not True)]


def _row(part: Part, name: str, left: str, right: str, note: str = "", *, volatile: bool = False) -> FieldRow:
    differs = None if volatile else left != right
    return FieldRow(part=part, name=name, left=left, right=right, differs=differs, note=note)


def _asked(left: Exchange, right: Exchange) -> Iterator[FieldRow]:
    yield _row("asked", "request", _request_line(left), _request_line(right))
    if not left.request and not right.request:
        yield _row("asked", "User-Agent", _user_agent(left), _user_agent(right))
        return
    left_fields, right_fields = dict(left.request), dict(right.request)
    for name in dict.fromkeys((*left_fields, *right_fields)):
        yield _row("asked", name, left_fields.get(name, NOT_SENT), right_fields.get(name, NOT_SENT))


def _request_line(exchange: Exchange) -> str:
    return f"GET {path_of(urlsplit(exchange.url))} {exchange.http_version or 'HTTP/1.1'}"


def _user_agent(exchange: Exchange) -> str:
    sent = next((value for name, value in exchange.request if name.lower() == "user-agent"), "")
    return sent or registry().user_agent(exchange.name)


def _goes_by(cause: Cause) -> str:
    decides = {
        "name": "the name",
        "field": " and ".join(cause.fields),
        "fields": "other fields than the name",
        "together": "the name together with other fields",
        "either": "the name, and by other fields",
    }
    return decides[cause.by]


def _swapped(cause: Cause, right: Exchange) -> Iterator[FieldRow]:
    """Yield what a browser's name with the agent's fields gets, and the agent's name with a browser's fields."""
    away = (cause.by in ("field", "fields", "either"), cause.by in ("name", "either"))
    fates = [right.outcome if is_away else SERVED for is_away in away]
    whose = labels.name(right.name), "browser"
    sides = [f"{name}'s fields: {fate}" for name, fate in zip(whose, fates, strict=True)]
    yield FieldRow(part="why", name="swapped", left=sides[0], right=sides[1], differs=away[0] is not away[1])


def _robots(card: ReportCard, observations: Observations, name: str) -> Iterator[FieldRow]:
    """Yield what robots.txt says to the agent, and by which line."""
    row = next((row for row in agents.agent_rows(card, observations) if row.key == name and row.robots), None)
    if row is not None:
        by = f"  line {row.line}: {row.rule}" if row.line else ""
        sentence = f"{agents.POLICY_PHRASES[row.robots]}{by}"
        yield FieldRow(part="why", name="robots.txt", left=ABSENT, right=sentence, differs=row.disagree or None)


def _answered(left: Exchange, right: Exchange) -> Iterator[FieldRow]:
    yield _row("answered", "status", status_line(left), status_line(right), _attempts_note(right))
    yield _row("answered", "hops", _hops(left), _hops(right))
    yield _row("answered", "size, time", _size(left), _size(right), volatile=True)
    left_fields, right_fields = left.fields, right.fields
    for name in dict.fromkeys((*left_fields, *right_fields)):
        shown = "-".join(word.capitalize() for word in name.split("-"))
        note = QUOTE_NOTE if name in REQUEST_ID_FIELDS else ""
        sides = left_fields.get(name, ABSENT), right_fields.get(name, ABSENT)
        yield _row("answered", shown, *sides, note, volatile=name in VOLATILE_FIELDS)


def status_line(exchange: Exchange) -> str:
    """Return ``403 Forbidden``, or why there is no usable answer."""
    if not exchange.status:
        return exchange.detail or "no answer"
    return labels.status(exchange.status) + (f" ({exchange.detail})" if exchange.detail else "")


def _attempts_note(exchange: Exchange) -> str:
    """Return what earlier attempts got, ``both times`` where it was the same; empty for a single attempt."""
    before = [attempt.status for attempt in exchange.attempts]
    if not before:
        return ""
    if set(before) == {exchange.status}:
        return "both times" if len(before) == 1 else f"all {len(before) + 1} times"
    return f"asked again; before it was {', '.join(map(str, before))}"


def _size(exchange: Exchange) -> str:
    return (
        f"{exchange.bytes:,} B{' (cut)' if exchange.cut else ''}  {labels.seconds(exchange.elapsed_ms)}"
        if exchange.status
        else ABSENT
    )


def _hops(exchange: Exchange) -> str:
    return " → ".join(f"{hop.status} {hop.location}" for hop in exchange.hops) or "none"


def _page(left: Exchange, right: Exchange, texts: tuple[str, str]) -> Iterator[FieldRow]:
    if right.name in FILE_PROBES:
        return
    yield _row("page", "title", left.title or ABSENT, right.title or ABSENT)
    if any(texts):
        left_words, right_words = (text.split() for text in texts)
        differs = texts[0] != texts[1]
        note = f"{len(set(left_words) & set(right_words))} shared" if differs else ""
        words = [count(len(text), "word") for text in (left_words, right_words)]
        yield FieldRow(part="page", name="page", left=words[0], right=words[1], differs=differs, note=note)
    if left.challenge or right.challenge:
        yield _row("page", "wall", _wall(left), _wall(right))
        quoted = [exchange.challenge.reference if exchange.challenge else "" for exchange in (left, right)]
        if any(quoted):
            yield _row("page", "reference", quoted[0] or ABSENT, quoted[1] or ABSENT, QUOTE_NOTE)


def _wall(exchange: Exchange) -> str:
    return (
        f"{labels.vendor(exchange.challenge.vendor).name}: {exchange.challenge.signal}"
        if exchange.challenge
        else "none"
    )


def _difference(left: str, right: str) -> Iterator[TextLine]:
    left_sentences, right_sentences = (_SENTENCE.split(text) if text else [] for text in (left, right))
    for kind, a, b, c, d in difflib.SequenceMatcher(
        None, left_sentences, right_sentences, autojunk=False
    ).get_opcodes():
        if kind == "equal":
            yield from (TextLine("=", text) for text in left_sentences[a:b])
        else:
            yield from (TextLine("-", text) for text in left_sentences[a:b])
            yield from (TextLine("+", text) for text in right_sentences[c:d])


def curl(exchange: Exchange) -> str:
    """Return a curl command that sends the same request, without cookies, passwords or fields of the user's own.

    Of a page behind redirects it asks for the first address and follows, as the probe did.
    """
    fields = [(name, value) for name, value in exchange.request if value != HIDDEN and name.lower() != "cookie"]
    kept = bool(fields)
    fields = fields or [("User-Agent", _user_agent(exchange))]
    sent = {name.lower() for name, _ in fields}
    words = ["curl", "-sS", "-D", "-"]
    if exchange.http_version.startswith("HTTP/1"):  # a server may answer by 1.0
        words.append("--http1.1")
    if "accept-encoding" in sent:
        words.append("--compressed")  # it decodes the answer; the field below takes the place of its own
    url, redirects = exchange.url, [hop for hop in exchange.hops if hop.status in REDIRECTS]
    if redirects and len(redirects) == len(exchange.hops):
        url = redirects[0].url
        words += ["-L", "-b", "''"]
    for name, value in fields:
        words += ["-H", quote(f"{name}: {value}")]
    for name in OF_CURL if kept else ():
        if name.lower() not in sent:
            words += ["-H", quote(f"{name}:")]
    return " ".join((*words, quote(url)))


def encode_exchanges(observations: Observations) -> bytes:
    """Return a JSON array of the exchanges of a scan, each with its curl command."""
    rows = [msgspec.to_builtins(exchange) | {"curl": curl(exchange)} for exchange in observations.exchanges]
    return msgspec.json.encode(rows)


def as_text(comparison: ComparedExchanges) -> str:
    """Return both sides as lines of text: a mark, the name, browser, agent."""
    out = [
        f"{comparison.left_label} and {comparison.right_label}: {comparison.differing} differ, "
        f"{comparison.alike} are alike"
    ]
    part = ""
    for row in comparison.rows:
        if row.part != part:
            part = row.part
            by = f": it goes by {comparison.goes_by}" if part == "why" and comparison.goes_by else ""
            out += ["", "the page" if part == "page" else part + by]
        mark = {True: "≠", False: "=", None: " "}[row.differs]
        note = f"   ({row.note})" if row.note else ""
        if comparison.left is comparison.right or row.differs is False:
            out.append(f"  {mark} {row.name:<16} {row.right}{note}")
        else:
            out.append(f"  {mark} {row.name:<16} {row.left:<44}  {mark}  {row.right}{note}")
    if any(line.side != "=" for line in comparison.text):
        out += ["", "the page, as text: - browser only, + agent only"]
        out += [f"  {line.side} {line.text}" for line in comparison.text if line.side != "="]
    return "\n".join((*out, "", "ask it yourself", f"  {curl(comparison.right)}", ""))

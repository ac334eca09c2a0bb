"""Visits written out: CSV, a section of the HTML page, and the words that these share with Markdown and text."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from html import escape as html_escape
from io import StringIO
from typing import Final

from aui_tui.export.data import cell
from aui_tui.records.card import ReportCard
from aui_tui.records.visits import VisitRow, Visits, visit_rows

COLUMNS: Final = (
    "token",
    "label",
    "kind",
    "requests",
    "first",
    "last",
    "days",
    "served",
    "refused",
    "refused_share",
    "bytes",
    "median_seconds",
    "robots_txt",
    "llms_txt",
    "markdown",
    "addresses",
    "verified",
    "verified_served",
    "verified_refused",
    "outside",
    "unchecked",
    "probe",
    "together",
)
"""Columns of the CSV form: of a record's visitor, and what log and probe say together."""
HEADER: Final = (
    "Agent",
    "Requests",
    "Served",
    "Refused",
    "Address ok",
    "Median",
    "robots.txt",
    "Markdown",
    "The probe",
    "Together",
)
LIMIT: Final = (
    "Address ok: the share of requests from the ranges that the vendor publishes. Outside them is not forged: some "
    "clients run on their users' machines."
)


def percent(share: float | None) -> str:
    """Return a share as ``99.8 %``; a dash for None. Only all is 100 %, only none is 0 %."""
    if share is None:
        return "–"
    shown = f"{100 * share:.1f}"
    if shown == "100.0" and share < 1:
        shown = "99.9"
    elif shown == "0.0" and share > 0:
        shown = "0.1"
    return f"{shown.removesuffix('.0') if shown in ('100.0', '0.0') else shown} %"


def seconds(value: float | None) -> str:
    """Return a time as ``0.21 s``; a dash for None."""
    return "–" if value is None else f"{value:.2f} s" if value >= 0.01 or not value else f"{value:.4f} s"


def address(row: VisitRow) -> str:
    """Return the share of verified requests, or why there is none."""
    if not row.requests or row.addresses == "":
        return "–"
    return (
        percent(row.address_ok)
        if row.addresses == "checked"
        else {"off": "not checked"}.get(row.addresses, row.addresses)
    )


def cells(row: VisitRow) -> tuple[str, ...]:
    """Return the cells of a row under HEADER."""
    if not row.requests:
        return (row.label, *("–",) * 7, row.probe, row.together)
    return (
        row.label,
        f"{row.requests:,}",
        percent(row.served),
        percent(row.refused),
        address(row),
        seconds(row.median_seconds),
        f"{row.robots_txt:,}",
        f"{row.markdown:,}",
        row.probe,
        row.together,
    )


def heading(record: Visits) -> Iterator[str]:
    """Yield the sentences that stand above the figures: period, files, lines, and what the log is."""
    more = f" and {record.files - 1:,} more" if record.files > 1 else ""
    period = f"{record.period} (UTC), " if record.period else ""
    yield f"{period}{record.log}{more}, {', '.join(record.formats) or 'no lines'}."
    unclear = f", {record.unparsable:,} not understood" if record.unparsable else ""
    clients = f"{record.agent_lines:,} of them by known clients"
    yield f"{record.lines:,} lines, {clients}; {record.examined:,} examined{unclear}."
    yield f"Kind of log: {record.kind}{f' ({record.kind_reason})' if record.kind_reason else ''}."
    if record.sampled > 1:
        yield f"Sampled: one of {record.sampled:,} requests was logged, and every count is multiplied by that."


def remarks(record: Visits) -> Iterator[str]:
    """Yield the sentences that stand below the figures."""
    if record.verification:
        yield f"Addresses were not checked. {record.verification}"
    elif record.ranges:
        oldest = min(found.fetched_at for found in record.ranges)[:10]
        yield f"{LIMIT} The ranges were fetched on {oldest}; visits before that may have come from earlier ones."
    yield from _about_clients(record)
    for gap in record.gaps[:5]:
        yield f"No line from {gap.first[:16].replace('T', ' ')} to {gap.last[:16].replace('T', ' ')} UTC."
    if len(record.gaps) > 5:
        yield f"{len(record.gaps) - 5:,} more pauses of over an hour."
    if record.silent:
        yield f"{', '.join(record.silent)}: names for robots.txt alone, which send no requests."
    yield from record.notes


def _about_clients(record: Visits) -> Iterator[str]:
    """Yield what limits the figures of single clients."""
    missing = [one.label for one in record.visitors if one.addresses == "not fetched"]
    if missing and not record.verification:
        yield f"Ranges not fetched: {', '.join(missing)}. aui-tui visits --update-ranges fetches them."
    for one in record.visitors:
        if one.shared_with and one.verified:
            yield f"{one.label}: its list serves {', '.join(one.shared_with)} too, so it verifies the operator."
    approximate = [one.label for one in record.visitors if not one.paths_exact]
    if approximate:
        yield f"Paths of {', '.join(approximate)}: too many to count each, so rare ones are missing."


def visits_csv(record: Visits, card: ReportCard | None = None) -> Iterator[str]:
    """Yield a header line and one line a client."""
    buffer = StringIO()
    writer = csv.writer(buffer, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for row in visit_rows(record, card):
        found = record.visitor(row.token)
        values = {name: getattr(found, name, None) for name in COLUMNS} | {
            "token": row.token,
            "label": row.label,
            "kind": row.kind,
            "requests": row.requests,
            "days": len(found.per_day) if found else 0,
            "probe": row.probe,
            "together": row.together,
        }
        writer.writerow([cell(values[name]) for name in COLUMNS])
    yield buffer.getvalue()


def visits_html(record: Visits, card: ReportCard | None = None) -> Iterator[str]:
    """Yield the section of the HTML page; every text is escaped."""
    yield "<h2>Visits in the access log</h2>\n"
    yield f"<p>{html_escape(' '.join(heading(record)))}</p>\n"
    head = "".join(f'<th scope="col"{_kind(place)}>{html_escape(name)}</th>' for place, name in enumerate(HEADER))
    yield '<div class="scroll" tabindex="0"><table>\n<caption>Visits per client</caption>\n'
    yield f"<thead><tr>{head}</tr></thead>\n<tbody>\n"
    rows = visit_rows(record, card)
    for row in rows:
        shown = "".join(f"<td{_kind(place)}>{html_escape(text)}</td>" for place, text in enumerate(cells(row)))
        yield f"<tr>{shown}</tr>\n"
    yield "</tbody>\n</table></div>\n"
    said = [row.sentence for row in rows if row.sentence and row.agrees is not None]
    if said:
        yield "<ul>\n" + "".join(f"<li>{html_escape(text)}</li>\n" for text in said) + "</ul>\n"
    yield "".join(f"<p>{html_escape(text)}</p>\n" for text in remarks(record))


def _kind(place: int) -> str:
    return ' class="number"' if 1 <= place <= 7 else ""

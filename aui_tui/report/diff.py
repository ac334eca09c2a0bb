"""What changed between two cards, written out: as text, as JSON, as a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import Any, Final

import msgspec

from aui_tui.model.card import Evidence
from aui_tui.model.labels import moment
from aui_tui.report.changes import Change, Diff
from aui_tui.report.markdown import escape

GROUPS: Final = ((1, "Better"), (-1, "Worse"), (0, "Changed"))
WAYS: Final = MappingProxyType({1: "better", -1: "worse", 0: "neutral"})
FORMATS: Final = ("text", "json", "markdown")


def write(diff: Diff, form: str, *, deterministic: bool = False) -> Iterator[str]:
    """Yield ``diff`` as one of FORMATS, chunk by chunk; deterministic output leaves out the times of the scans."""
    if form == "json":
        yield as_json(diff, deterministic=deterministic)
    else:
        lines = markdown_lines if form == "markdown" else text_lines
        for line in lines(diff, deterministic=deterministic):
            yield line + "\n"


def text_lines(diff: Diff, *, deterministic: bool = False) -> Iterator[str]:
    """Yield lines of plain text: what is better, what is worse, resolved and new findings apart."""
    yield f"{_title(diff)}: {diff.headline()}"
    if not deterministic:
        yield f"{moment(diff.scanned_at[0])} -> {moment(diff.scanned_at[1])}"
    if diff.note:
        yield diff.note
    if diff.same:
        yield "Nothing has changed."
    for way, title in GROUPS:
        group = [change.words() for change in diff.changes if change.direction == way]
        yield from _section(title, group)
    yield from _section("Resolved findings", [f"{item.t}: {item.text}" for item in diff.resolved])
    yield from _section("New findings", [f"{item.t}: {item.text}" for item in diff.new])


def _title(diff: Diff) -> str:
    before, after = diff.host
    return after if before == after else f"{before} -> {after}"


def _section(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield ""
        yield title
        for line in lines:
            yield "  " + line


def as_json(diff: Diff, *, deterministic: bool = False) -> str:
    """Return the difference as one JSON object."""
    sides = ("host", "method", "score", "grade", "stance") + (() if deterministic else ("scanned_at",))
    found = {
        "before": {name: getattr(diff, name)[0] for name in sides},
        "after": {name: getattr(diff, name)[1] for name in sides},
        "same": diff.same,
        "note": diff.note,
        "changes": [_change(change) for change in diff.changes],
        "new": [_finding(item) for item in diff.new],
        "resolved": [_finding(item) for item in diff.resolved],
    }
    return msgspec.json.format(msgspec.json.encode(found), indent=2).decode() + "\n"


def _change(change: Change) -> dict[str, Any]:
    return {
        "field": change.field,
        "label": change.label,
        "before": change.before,
        "after": change.after,
        "direction": WAYS[change.direction],
        "points": change.points,
        "pillar": change.pillar,
        "text": change.words(),
    }


def _finding(item: Evidence) -> dict[str, str]:
    return {"t": item.t, "text": item.text}


def markdown_lines(diff: Diff, *, deterministic: bool = False) -> Iterator[str]:
    """Yield a comment for a pull request; its first line is a mark by which a later run finds and replaces it."""
    yield "<!-- aui-tui diff -->"
    yield f"### Agent usability of {escape(_title(diff))}"
    yield ""
    yield f"**{escape(diff.headline())}**"
    if not deterministic:
        yield ""
        yield f"{moment(diff.scanned_at[0])} -> {moment(diff.scanned_at[1])}"
    if diff.note:
        yield ""
        yield f"> {escape(diff.note)}"
    if diff.same:
        yield ""
        yield "Nothing has changed."
    for way, title in GROUPS:
        group = [change for change in diff.changes if change.direction == way]
        yield from _bullets(title, [escape(change.words()) for change in group], folded=way == 0)
    yield from _bullets("Resolved findings", [f"**{escape(e.t)}**: {escape(e.text)}" for e in diff.resolved])
    yield from _bullets("New findings", [f"**{escape(e.t)}**: {escape(e.text)}" for e in diff.new])


def _bullets(title: str, lines: Sequence[str], *, folded: bool = False) -> Iterator[str]:
    if not lines:
        return
    yield ""
    yield f"<details><summary>{title}: {len(lines)}</summary>" if folded else f"#### {title}"
    yield ""
    for line in lines:
        yield f"- {line}"
    if folded:
        yield ""
        yield "</details>"

"""Pane 1 of a host that has no report card: why, and what to do about it."""

from __future__ import annotations

from shlex import quote

from aui_tui.tui.draw import BLANK, Line, line, paragraph


def absent(host: str, problem: str, size: int, can_scan: bool) -> list[Line]:
    """Return the pane laid out to ``size`` cells."""
    out: list[Line] = [*paragraph("There is no report card of " + host + ".", size, "strong"), BLANK]
    out += [*paragraph(problem, size, "warn"), BLANK]
    if can_scan:
        out.append(line(("s", "key"), " scans it now"))
    out += [line(("r", "key"), " looks again"), line(("esc", "key"), " goes back to the list")]
    if can_scan:
        out += [BLANK, line(("In the shell:", "muted")), *paragraph("aui-tui scan " + quote(host), size, "code")]
    return out

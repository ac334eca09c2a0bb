"""Pane 2: the nineteen agents and fifteen crawlers, what each got and what robots.txt says of it."""

from __future__ import annotations

from aui_tui.records.observations import Observations, RobotsPolicy
from aui_tui.records.registry import registry
from aui_tui.records.view import Dossier
from aui_tui.text import cells, fit
from aui_tui.tui import glyphs
from aui_tui.tui.draw import BLANK, Line, Piece, cut, line
from aui_tui.tui.panes.common import live_piece

LIVE = 6
POLICY = 10
RULE_FROM = 16
"""Cells that a deciding line needs to be worth showing."""


def agents(dossier: Dossier, size: int) -> list[Line]:
    """Return the pane laid out to ``size`` cells."""
    card = dossier.card
    names = [*card.ua_policy, *card.crawler_policy]
    room = min(max((cells(name) for name in names), default=8), max(size - LIVE - POLICY - 4, 10))
    lines_of = _deciding(dossier.observations)
    out: list[Line] = [_heading("Agent", room, size)]
    access = dict(card.agent_access)
    for name, policy in card.ua_policy.items():
        got = access.get(name)
        live = live_piece(got.status, got.challenged) if got else Piece("")
        out.append(_row(name, live, policy, lines_of.get(name), room, size))
    unmatched = [name for name in access if name not in card.ua_policy]
    out.extend(_row(n, live_piece(access[n].status, access[n].challenged), "", None, room, size) for n in unmatched)
    out += [BLANK, _heading("Crawler, not scored", room, size, live="")]
    for name, policy in card.crawler_policy.items():
        out.append(_row(name, Piece(""), policy, lines_of.get(name), room, size))
    return out


def _heading(what: str, room: int, size: int, live: str = "live") -> Line:
    return cut(
        line((fit(what, room), "title"), "  ", (fit(live, LIVE), "muted"), ("  robots.txt", "muted")),
        size,
    )


def _row(name: str, live: Piece, policy: str, rule: RobotsPolicy | None, room: int, size: int) -> Line:
    sign = glyphs.POLICY.get(policy, glyphs.UNKNOWN)
    role = glyphs.role_of(policy)
    pieces = [
        Piece(fit(name, room) + "  "),
        live._replace(text=fit(live.text, LIVE) + "  "),
        Piece(fit(" ".join((sign, policy)), POLICY) if policy else "", role),
    ]
    if rule is not None and rule.line and size - room - LIVE - POLICY - 4 >= RULE_FROM:
        pieces.append(Piece(" ".join(("line", str(rule.line) + ":", rule.rule)), "muted"))
    return cut(pieces, size)


def _deciding(seen: Observations | None) -> dict[str, RobotsPolicy]:
    """Return the deciding robots.txt line of each token, where the source keeps it."""
    if seen is None:
        return {}
    found = {policy.token: policy for policy in (*seen.robots.agents, *seen.robots.crawlers)}
    for agent in registry().agents:
        if agent.key in found:
            found.setdefault(agent.token, found[agent.key])
    return found

"""The outcomes of a scan and the one table that reads them: who gets in, who does not, what cannot be told. Pure.

*Control*: the browser, against which agents are measured. It is ``believed`` when it was served, ``limited`` when only
time decided that it was not, ``not believed`` when it was turned away for good while an agent was served (the agents
then stand on their own answers), and ``refused`` when nobody was served. *Arms* are further requests that say what a
refusal goes by: a real browser under its own name (``R``) and under an agent's (``RA``), an invented name (``N``), a
search engine's name (``I``). The answers of browser, agent and arms select the first row of ``TABLE`` that matches.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import msgspec

from aui_tui.model.vocabulary import CHALLENGED, INCONCLUSIVE, REFUSED, SERVED

SAME, MORE, FORMAT, NEGOTIATED = "same", "more", "another format", "negotiated"
LESS, BLOCKED, ERROR, ALONE = "less", "blocked", "error", "alone"
COMPARED: Final[Mapping[str, str]] = MappingProxyType(
    {
        SAME: SERVED,
        MORE: SERVED,
        FORMAT: SERVED,
        NEGOTIATED: SERVED,
        LESS: INCONCLUSIVE,
        BLOCKED: CHALLENGED,
        ERROR: CHALLENGED,
        ALONE: INCONCLUSIVE,
    }
)
"""What follows from how a 2xx page stands to the one that people get (``scan.comparison``): the same, more to read, the
same in another format, another page by Accept or Accept-Language, much less to read, a page that blocks or says
nothing, a page that is not there, or no page to compare it with."""
REAL, REAL_AGENT, INVENTED, SEARCH = "R", "RA", "N", "I"
"""Arms: Chromium, Chromium under an agent's name, an invented name, a search engine's name."""

OWN_ROBOTS: Final = "robots"
"""The same of robots.txt as an agent gets it, where it is another one than the browser's; no row asks for it."""

AWAY: Final = frozenset({REFUSED, CHALLENGED})
ANY: Final = frozenset({INCONCLUSIVE, CHALLENGED, REFUSED, SERVED, ""})
_SERVED: Final = frozenset({SERVED})
_UNPROVEN: Final = frozenset({"", INCONCLUSIVE})
"""An arm that was not asked, or that proves nothing."""


NO_ARMS: Final[Mapping[str, frozenset[str]]] = MappingProxyType({})


class Reading(msgspec.Struct, frozen=True):
    """What the answer to one agent means: ``outcome``, ``matrix`` verdict (empty: by robots.txt), and ``why``.

    ``why``: ``agrees`` (browser and agent are served), ``alone`` (served, the browser is not), ``greeting`` (the
    same, and a real browser is served), ``silent``, ``name``, ``list`` (unknown names are refused too), ``address``
    (the site may admit the agent's own addresses), ``interstitial``, ``programs`` (whatever their name, while a real
    browser is served), ``programs-and-name``, ``everybody`` (a real browser is refused too), ``untold`` (there was no
    real browser to ask).
    """

    outcome: str
    matrix: str
    why: str


class VerdictRow(msgspec.Struct, frozen=True):
    """One row: what browser, agent and arms may have got; ``peer``: whether another agent is served (None: either)."""

    browser: frozenset[str]
    agent: frozenset[str]
    reading: Reading
    peer: bool | None = None
    arms: Mapping[str, frozenset[str]] = NO_ARMS


TABLE: Final = (
    VerdictRow(ANY, frozenset({INCONCLUSIVE}), Reading(INCONCLUSIVE, "untested", "silent")),
    VerdictRow(_SERVED, _SERVED, Reading(SERVED, "", "agrees")),
    VerdictRow(ANY, _SERVED, Reading(SERVED, "", "greeting"), arms={REAL: _SERVED}),
    VerdictRow(ANY, _SERVED, Reading(SERVED, "", "alone")),
    VerdictRow(_SERVED, AWAY, Reading(INCONCLUSIVE, "untested", "address"), arms={INVENTED: _SERVED, SEARCH: AWAY}),
    VerdictRow(_SERVED, AWAY, Reading(REFUSED, "blocked", "list"), arms={INVENTED: AWAY}),
    VerdictRow(_SERVED, AWAY, Reading(REFUSED, "blocked", "name")),
    VerdictRow(ANY, AWAY, Reading(REFUSED, "blocked", "name"), peer=True),
    VerdictRow(frozenset({CHALLENGED}), AWAY, Reading(REFUSED, "walled", "interstitial")),
    VerdictRow(ANY, AWAY, Reading(REFUSED, "walled", "programs-and-name"), arms={REAL: _SERVED, REAL_AGENT: AWAY}),
    VerdictRow(ANY, AWAY, Reading(REFUSED, "walled", "programs"), arms={REAL: _SERVED}),
    VerdictRow(ANY, AWAY, Reading(INCONCLUSIVE, "untested", "everybody"), arms={REAL: AWAY}),
    VerdictRow(ANY, AWAY, Reading(INCONCLUSIVE, "untested", "untold"), arms={REAL: _UNPROVEN}),
)
"""First match. An answer of nobody's own, such as a refusal of everybody, says nothing about agents."""


def read(browser: str, agent: str, *, peer: bool, arms: Mapping[str, str]) -> Reading:
    """Return what the outcome of an agent means beside the ``browser``'s and those of the ``arms`` by their name.

    ``peer``: another agent is served.
    """
    for row in TABLE:
        fits = browser in row.browser and agent in row.agent and row.peer in (None, peer)
        if fits and all(arms.get(arm, "") in allowed for arm, allowed in row.arms.items()):
            reading = row.reading
            if reading.outcome == REFUSED and agent == CHALLENGED:
                return msgspec.structs.replace(reading, outcome=CHALLENGED, matrix="walled")
            return reading
    raise AssertionError(browser, agent)

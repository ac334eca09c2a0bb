"""The gate over visits: no more than a share of an agent's requests may be refused."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from aui_tui.errors import BadValue
from aui_tui.gates import Failure, Outcome
from aui_tui.records.registry import Agent, registry
from aui_tui.records.visits import Visitor, Visits
from aui_tui.text import clean
from aui_tui.visits.clients import clients

GATE = "fail-refused"


class Limit(NamedTuple):
    """At most ``share`` (0 to 1) of the requests of the clients ``tokens`` may be refused; ``name`` is as typed."""

    name: str
    tokens: tuple[str, ...]
    share: float


def limits(texts: Iterable[str]) -> tuple[Limit, ...]:
    """Return the limits written as ``claude=1%``, several separated by commas. Raises BadValue."""
    return tuple(_limit(part) for text in texts for part in text.split(","))


def _limit(text: str) -> Limit:
    name, _, share = text.strip().rpartition("=")
    number = re.fullmatch(r"(\d{1,3}(?:\.\d{1,4})?)\s*%", share.strip())
    if not name or number is None or float(number[1]) > 100:
        raise BadValue(f"--fail-refused takes NAME=PERCENT such as claude=1%, not {clean(text, 60)!r}.")
    return Limit(name.strip(), _tokens(name.strip()), float(number[1]) / 100)


def _tokens(name: str) -> tuple[str, ...]:
    """Return the tokens of the clients that ``name`` means: a token, label, surface or company. Raises BadValue."""
    client = clients().get(name.lower())
    if client is not None:
        return (client.token,)
    known, found = registry(), dict[str, None]()
    for entry in known.named(name):
        keys = (entry.key,) if isinstance(entry, Agent) else entry.agents
        found |= {clients()[agent.token.lower()].token: None for agent in known.agents if agent.key in keys}
    if not found:
        allowed = tuple(dict.fromkeys(one.token for one in clients().values() if not one.silent))
        raise BadValue(
            f"No client of the logs is called {clean(name, 60)!r}; known are {', '.join(allowed)}.", allowed=allowed
        )
    return tuple(found)


def check(record: Visits, asked: Iterable[Limit]) -> Outcome:
    """Return which limits ``record`` breaks. No visits, or a log that cannot tell, is inconclusive, never a pass."""
    failures = (failure for limit in asked for failure in _judged(record, limit))
    return Outcome(host=record.host or record.log, failures=tuple(failures))


def _judged(record: Visits, limit: Limit) -> Iterator[Failure]:
    found = [one for token in limit.tokens if (one := record.visitor(token)) is not None]
    requests, refused, basis = _counted(found)

    def unclear(message: str) -> Failure:
        return Failure(gate=GATE, message=f"{limit.name}: {message}", inconclusive=True)

    if record.sampled > 1:
        yield unclear("the log is sampled, so a share of it proves nothing.")
    elif not found:
        yield unclear(f"no visits in the log ({record.period or 'no times'}).")
    elif not requests:
        yield unclear("none of its requests came from the published ranges, so nothing is known of the real agent.")
    elif refused > limit.share * requests:
        share = f"{100 * refused / requests:.3g} %, allowed are {100 * limit.share:.3g} %"
        message = f"{limit.name}: {refused:,} of {requests:,} {basis} were refused ({share})."
        yield Failure(gate=GATE, message=message, by=refused)
    elif record.kind == "origin":
        yield unclear("this is an origin's log, and what the edge refuses never reaches it: read the edge's log.")


def _counted(found: Iterable[Visitor]) -> tuple[int, int, str]:
    """Return requests, refused ones, and what they are: verified requests where addresses were checked."""
    rows = list(found)
    if any(one.addresses == "checked" for one in rows):
        checked = [one for one in rows if one.addresses == "checked"]
        return sum(one.verified for one in checked), sum(one.verified_refused for one in checked), "verified requests"
    return sum(one.requests for one in rows), sum(one.refused for one in rows), "requests"

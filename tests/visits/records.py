"""Records of visits for tests, made from the few figures that a test is about."""

from __future__ import annotations

from typing import Any

from aui_tui.model.registry import registry
from aui_tui.model.visits import Visitor, Visits

SCANNED = "2026-11-20T10:00:00.000Z"


def visitor(token: str, served: int = 0, refused: int = 0, **fields: Any) -> Visitor:
    """Return figures of the client ``token``; every visit was on one day."""
    agent = registry().agent(token)
    first, last = "2026-11-10T08:00:00.000Z", fields.pop("last", "2026-11-19T09:00:00.000Z")
    return Visitor(
        **{
            "token": token,
            "label": agent.label if agent else token,
            "kind": "agent" if agent else "crawler",
            "requests": served + refused,
            "first": first,
            "last": last,
            "per_day": {first[:10]: served + refused},
            "status": {"2xx": served, "4xx": refused},
            "served": served,
            "refused": refused,
            "bytes": 1000 * served,
        }
        | fields
    )


def verified(token: str, served: int, refused: int, outside: int = 0) -> Visitor:
    """Return figures of a client whose visits came from its vendor's ranges, but for ``outside``."""
    return visitor(
        token,
        served,
        refused,
        addresses="checked",
        verified=served + refused - outside,
        verified_served=served,
        verified_refused=refused,
        outside=outside,
    )


def visits(*visitors: Visitor, **fields: Any) -> Visits:
    """Return a record of ``visitors``."""
    usual: dict[str, Any] = {
        "host": "tickets.example",
        "read_at": SCANNED,
        "log": "access.log",
        "files": 1,
        "formats": ("combined",),
        "kind": "unknown",
        "kind_reason": "",
        "first": "2026-11-08T00:00:01.000Z",
        "last": "2026-11-19T23:59:59.000Z",
        "lines": 4_100_000,
        "examined": 5_000,
        "unparsable": 3,
        "agent_lines": sum(one.requests for one in visitors),
        "visitors": visitors,
    }
    return Visits(**(usual | fields))

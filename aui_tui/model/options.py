"""The request for one scan: the same value goes from a command, a key, a tool call or a crawl down to the engine."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from types import MappingProxyType
from typing import Annotated, Final

import msgspec

from aui_tui.text import clean


class ScanOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of one scan, besides its address; the default is an ordinary scan.

    ``force``: scan even if a recent answer is kept; ``afresh``: so for a host of this machine alone. ``method`` grades
    the card; empty: the service's own. ``category`` and ``name`` are kept with the card; empty: those that are known.
    ``tasks``: also try the tasks in a browser; ``act`` lets them press "add to cart" once, on a host of the user's own.

    ``client`` pays for the scan; empty: the local user, None: nobody. It is set by the service that stands before a
    client, never by the client.
    """

    force: bool = False
    afresh: bool = False
    method: str = ""
    category: str = ""
    name: str = ""
    tasks: bool = False
    act: bool = False
    client: str | None = ""


ORDINARY = ScanOptions()
"""An ordinary scan."""


class Acceptance(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why the owner of a site accepts a finding, and the last day of it."""

    reason: Annotated[str, msgspec.Meta(min_length=1, max_length=300)]
    until: date

    @property
    def words(self) -> str:
        """What is said of the finding behind its text."""
        return f"Accepted until {self.until}: {clean(self.reason)}"


Accepted = Mapping[str, Mapping[str, Acceptance]]
"""The findings that an owner accepts: by host, then by id."""
NOTHING_ACCEPTED: Final[Accepted] = MappingProxyType({})

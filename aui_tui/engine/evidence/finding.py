"""What one line of evidence is made of."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

NO_FACTS: Final[Mapping[str, str]] = MappingProxyType({})


class Finding(NamedTuple):
    """The id of a fixed sentence and the facts that fill it."""

    id: str
    facts: Mapping[str, str] = NO_FACTS

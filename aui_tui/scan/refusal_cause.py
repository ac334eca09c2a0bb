"""The cause of a refusal: the agent's name, another header field, or the HTTP version. Pure.

One agent stands for those turned away alike. Its name with the browser's fields and the browser's name with its fields
say whether the name or the rest decides; then the fields that could decide are restored by halves.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping
from typing import Final, NamedTuple

from aui_tui.model.observations import BROWSER, Cause
from aui_tui.model.registry import registry
from aui_tui.scan import profiles
from aui_tui.scan.profiles import Fields, Profile
from aui_tui.scan.target import Origin

VERSION: Final = "HTTP version"
GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "Accept-Language": ("accept-language",),
    "Sec-Fetch": ("sec-fetch-site", "sec-fetch-mode", "sec-fetch-user", "sec-fetch-dest"),
    VERSION: (),
    "Accept": ("accept",),
    "sec-ch-ua": ("sec-ch-ua", "sec-ch-ua-mobile", "sec-ch-ua-platform"),
    "Upgrade-Insecure-Requests": ("upgrade-insecure-requests",),
    "Accept-Encoding": ("accept-encoding",),
    "priority": ("priority",),
}
"""Header fields that filters go by together, the likeliest first."""


class Wire(NamedTuple):
    """How the browser was answered: ``http2`` or not, and from where, since it sends less to an insecure origin."""

    http2: bool
    origin: Origin


class Trial(NamedTuple):
    """One request to be sent alone: ``profile``, and in words what it is."""

    profile: Profile
    what: str


Trials = Generator[tuple[Trial, ...], tuple[bool, ...], Cause]
"""Yields requests that do not hang on each other; takes whether each was served."""


def negotiates(cause: Cause) -> bool:
    """Return whether only what a client accepts decides (RFC 9110 12.1): another page is then no refusal."""
    return cause.by in ("field", "fields") and set(cause.fields) <= {"Accept", "Accept-Language"}


def representative(turned_away: Collection[str], wire: Wire) -> str:
    """Return who of the agents ``turned_away`` alike differs least from the browser, which spoke over ``wire``."""
    return min(turned_away, key=lambda name: (len(_differing_groups(name, wire)), name))


def trials(name: str, alike: Collection[str], served: Collection[str], wire: Wire, most: int) -> Trials:
    """Yield at most ``most`` trials for the agent ``name``, take whether each was served, and return the cause.

    ``alike``: the agents that it stands for, ``served``: those that got the homepage.
    """
    agent, browser = profiles.profile(name), profiles.profile(BROWSER)
    agents = tuple(sorted(alike))
    disguised = agent.named(registry().user_agent(BROWSER))
    named = Trial(browser.named(registry().user_agent(name)), "the agent's name with a browser's fields")
    named_served, disguised_served = yield named, Trial(disguised, "a browser's name with the agent's fields")
    by_name, by_fields = not named_served, not disguised_served
    if by_name or not by_fields:
        by = "either" if by_name and by_fields else "name" if by_name else "together"
        return Cause(agents=agents, by=by)
    left = [group for group in _differing_groups(name, wire) if _may_decide(group, name, alike, served, wire)]
    left = candidates = left or _differing_groups(name, wire)
    for _ in range(most - 2):
        half = left[: max(1, len(left) // 2)]
        what = f"a browser's name with the agent's fields but {' and '.join(half)} of a browser"
        (served_now,) = yield (Trial(_with_groups_of(disguised, browser, half), what),)
        left = half if served_now else left[len(half) :]
        if served_now and len(half) == 1:
            return Cause(agents=agents, by="field", fields=tuple(half))
        if not left:
            break
    return Cause(agents=agents, by="fields", fields=tuple(left or candidates))


def _differing_groups(name: str, wire: Wire) -> list[str]:
    """Return the groups in which what the agent ``name`` sends differs from what the browser sends."""
    return [group for group in GROUPS if _value(group, name, wire) != _value(group, BROWSER, wire)]


def _value(group: str, name: str, wire: Wire) -> Fields | bool:
    profile = profiles.profile(name)
    if group == VERSION:
        return wire.http2 and profile.http2
    if group == "priority" and not (wire.http2 and profile.http2):
        return ()
    return tuple(
        (field, value) for field, value in profiles.over(profile.fields, wire.origin) if field.lower() in GROUPS[group]
    )


def _may_decide(group: str, name: str, alike: Collection[str], served: Collection[str], wire: Wire) -> bool:
    """Return whether ``group`` could decide: nobody who sends it as ``name`` does was served."""
    own = _value(group, name, wire)
    return all(_value(group, client, wire) != own for client in served) and all(
        _value(group, client, wire) != _value(group, BROWSER, wire) for client in alike
    )


def _with_groups_of(profile: Profile, browser: Profile, groups: Collection[str]) -> Profile:
    """Return ``profile`` with the fields of ``groups`` as the browser sends them, in the browser's order."""
    names = {name for group in groups for name in GROUPS[group]}
    own = {field.lower(): (field, value) for field, value in profile.fields}
    restored = {field.lower(): (field, value) for field, value in browser.fields if field.lower() in names}
    merged = own | restored
    order = [field.lower() for field, _ in browser.fields]
    fields = sorted(merged, key=lambda field: order.index(field) if field in order else len(order))
    return Profile(tuple(merged[field] for field in fields), profile.http2 or VERSION in groups)

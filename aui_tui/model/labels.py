"""Names for people of the keys of a record; foreign and future words stay as they are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import msgspec

from aui_tui.model.methods import METHODS
from aui_tui.model.surfaces import surface_called
from aui_tui.model.times import age
from aui_tui.model.vocabulary import CHALLENGED, INCONCLUSIVE, NO_GRADE, REFUSED, SERVED, UNITS
from aui_tui.packaged import read_table

if TYPE_CHECKING:
    from aui_tui.model.card import AgentAccess, ReportCard
    from aui_tui.model.observations import Observations

_HOST: Final = r"(?a:(?:(https?)://)?((?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:[0-9]{1,5})?))"
OF_OUTCOME: Final = MappingProxyType(
    {SERVED: "in", REFUSED: "refused", CHALLENGED: "challenged", INCONCLUSIVE: "unclear"}
)
"""What a probe got, in the word that screens have for it."""
WEEKS_FROM: Final = 60
"""Shorter times are given in days, longer ones in weeks."""
PROBES: Final = MappingProxyType(
    {
        "cache": "cache",
        "browser": "browser",
        "robots": "robots.txt",
        "llms": "llms.txt",
        "ai-plugin": "ai-plugin.json",
        "ucp": "UCP profile",
        "mcp": "MCP card",
    }
)
"""Names of the probes that are not agents."""


class Vendor(msgspec.Struct, frozen=True, kw_only=True):
    """A bot wall or edge in words: ``name``, and what it calls the id to quote to it."""

    name: str
    reference: str = "reference"


@cache
def vendors() -> Mapping[str, Vendor]:
    """Return the packaged names of walls and edges (``vendors.toml``) by the key used in observations."""
    return read_table("model/vendors.toml", dict[str, Vendor])


def vendor(key: str) -> Vendor:
    """Return the words for a wall or edge, its own key when it has none."""
    return vendors().get(key) or Vendor(name=key)


def challenge_page(wall: str = "") -> str:
    """Return what stands in the way of a page, by the key of the wall: ``a Cloudflare challenge page``."""
    name = vendor(wall).name
    if not name:
        return "a challenge page"
    return f"{'an' if name[0].lower() in 'aeiou' or name.startswith('F5') else 'a'} {name} challenge page"


def grade(letter: str) -> str:
    """Return a grade in words, such as ``grade B``."""
    return "no grade" if letter == NO_GRADE else f"grade {letter}"


def score(points: int, letter: str) -> str:
    """Return a score with its grade where there is little room: ``80 B``, ``89 no grade``."""
    return f"{points} {grade(letter).removeprefix('grade ')}"


def standing(points: int, letter: str, stance: str) -> str:
    """Return where a site stands, such as ``score 80, grade B, Open``."""
    return f"score {points}, {grade(letter)}, {stance}"


def result(card: ReportCard) -> str:
    """Return where the site of ``card`` stands; one that could not be reached has no score, grade or stance."""
    return "unreachable" if card.unreachable else standing(card.score, card.grade, card.stance)


def name(key: str) -> str:
    """Return what an assistant, an agent or a probe is called, by its key in a record; a foreign key as it is."""
    from aui_tui.model.registry import registry  # a first frame names nothing

    entry = surface_called(key) or registry().agent(key)
    return entry.label if entry else PROBES.get(key, key)


def pillar(method: str, key: str) -> str:
    """Return the label of a pillar key under ``method``; of an unknown one the key with a capital."""
    for entry in METHODS[method].pillars if method in METHODS else ():
        if entry.key == key:
            return entry.label
    return key[:1].upper() + key[1:]


def policy(word: str) -> str:
    """Return what robots.txt says of a name as people read it; an unknown word as it is."""
    return {"blocked": "told no", "partial": "part", "unlisted": "not named", "allowed": "in"}.get(word, word)


def points(card: ReportCard, pillar: str) -> str:
    """Return the points of a pillar such as ``18/25``, or ``20/20, 30 not measured``; without a value as ``tasks``."""
    from aui_tui.model.points import of_pillar

    earned_of, most = of_pillar(card, pillar), card.pillar_max.get(pillar) or 0
    if earned_of is None:
        return tasks(card)
    earned, measured = earned_of
    return f"{earned:g}/{measured:g}" + (f", {most - measured:g} not measured" if measured < most else "")


def tasks(card: ReportCard) -> str:
    """Return why no task counts in the score of ``card``: ``not tried``, or ``not scored`` where too few counted."""
    return "not scored" if card.task_runs else "not tried"


def answer(access: AgentAccess) -> str:
    """Return what a live probe got: ``no answer``, ``200`` or ``403 challenge``."""
    if access.status == 0:
        return "no answer"
    return f"{access.status} challenge" if access.challenged else str(access.status)


def status(code: int) -> str:
    """Return a status with its standard phrase: ``403 Forbidden``."""
    from http import HTTPStatus

    try:
        return f"{code} {HTTPStatus(code).phrase}"
    except ValueError:
        return str(code)


def origin(host: str) -> str:
    """Return the address of a canonical host, such as ``https://shop.example``.

    Empty for anything else, and for one with a port but without a scheme: the record does not say which.
    """
    match = re.fullmatch(_HOST, host)
    if match is None or (match[3] and not match[1]):
        return ""
    return f"{match[1] or 'https'}://{match[2]}"


def address(host: str, observations: Observations | None) -> str:
    """Return what to type to scan ``host`` again as it was scanned in ``observations``.

    A site that answered over plain http is asked over http: https would be another site, or none.
    """
    return observations.origin if observations is not None and observations.origin.startswith("http://") else host


def web_address(text: str) -> str:
    """Return the address to open in a browser for a host or an address; empty for what is neither."""
    match = re.fullmatch(_HOST, text)
    return f"{match[1] or 'https'}://{match[2]}/" if match is not None else ""


def moment(scanned_at: str) -> str:
    """Return a time of a record as ``2026-11-20 10:00 UTC``."""
    return f"{scanned_at[:10]} {scanned_at[11:16]} UTC"


def span(seconds: float) -> str:
    """Return a length of time in its largest unit: ``40s``, ``5m``, ``2h``, ``12d``; from WEEKS_FROM days on ``9w``."""
    days = int(seconds // 86_400)
    if days >= WEEKS_FROM:
        return f"{days // 7}w"
    unit = next((unit for unit in "dhm" if seconds >= UNITS[unit]), "s")
    return f"{int(seconds // UNITS[unit])}{unit}"


def ago(stamp: str, now: float) -> str:
    """Return how long ago ``stamp`` was, for a sentence: ``just now``, ``3 h ago``, ``12 days ago``."""
    return before(age(stamp, now))


def before(passed: float) -> str:
    """Return seconds that have passed as :func:`ago` says them."""
    if passed < 60:
        return "just now"
    short = span(passed)
    number, unit = short[:-1], {"w": "weeks", "d": "days", "h": "h", "m": "min"}[short[-1]]
    return f"{number} {unit.removesuffix('s') if number == '1' else unit} ago"


def dated(passed: float) -> str:
    """Return as of when something is that was made before: ``of 3 h ago``, ``from just now``."""
    return f"{'from' if passed < 60 else 'of'} {before(passed)}"


def seconds(milliseconds: int) -> str:
    """Return a duration in seconds with two decimals, ``0.12 s``; from ten seconds on with one."""
    value = milliseconds / 1000
    return f"{value:.1f} s" if value >= 9.995 else f"{value:.2f} s"


def percent(part: int, total: int) -> str:
    """Return a share of hosts in whole percent, ``12 %``; none that is shown as zero though there is a part."""
    share = 100 * part / total if total else 0.0
    return "<1 %" if 0 < share < 1 else f"{share:.0f} %"


def part_of_site(path: str) -> str:
    """Return the section that a path belongs to: its first segment, where something follows it; else ``/``."""
    first, _, rest = path.partition("?")[0].lstrip("/").partition("/")
    return f"/{first}" if rest else "/"

"""The arms of the control: what else is asked to learn what a refusal goes by (``model.verdicts``)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Final, Protocol

from aui_tui.model.observations import BUSY, LIMIT_STATUS, Arm, Exchange
from aui_tui.model.registry import Agent, registry
from aui_tui.model.verdicts import AWAY, INVENTED, SEARCH
from aui_tui.model.vocabulary import REFUSED, SERVED
from aui_tui.scan import profiles
from aui_tui.scan.policy import ScanPolicy
from aui_tui.scan.probes import Answer, Url
from aui_tui.scan.profiles import Profile

OWN: Final = "aui-tui"
"""The client of the arms that no real browser speaks for."""
NOBODY: Final = "Ordinary-User"
"""The invented name."""
SEARCH_ENGINE: Final = (
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Googlebot/2.1; "
    "+http://www.google.com/bot.html) Chrome/{chrome} Safari/537.36"
)
GREETING_ERRORS: Final = frozenset({"protocol", "tls"})
"""Errors by which a site may turn a client away for its greeting."""

Ask = Callable[[Profile], Awaitable[Exchange]]
"""Asks for the homepage as a profile, alone."""


class RealBrowser(Protocol):
    """A real browser on this machine (``tasks.control``)."""

    name: str

    @property
    def missing(self) -> str:
        """What must be installed before a page can be fetched, empty for nothing."""

    async def fetch(self, url: Url, access: ScanPolicy, user_agent: str = "") -> Answer:
        """Return what the browser gets at ``url``."""


def browser_would_settle(browser: Exchange) -> bool:
    """Return whether a real browser would settle something: the browser probe is turned away, and for good."""
    if browser.limited or browser.same_for_everybody:
        return False
    return browser.outcome in AWAY or browser.error in GREETING_ERRORS


def grouped_alike(done: Mapping[str, Exchange], names: Iterable[str]) -> list[list[str]]:
    """Return ``names`` in groups: those who got the same together."""
    groups: dict[tuple[str, int], list[str]] = {}
    for name in names:
        groups.setdefault((done[name].outcome, done[name].status), []).append(name)
    return list(groups.values())


def arm(name: str, exchange: Exchange, client: str = OWN, agent: str = "") -> Arm:
    """Return the record of what an arm got by ``client``, asked for ``agent``."""
    return Arm(
        name=name,
        outcome=exchange.outcome,
        status=exchange.status,
        agent=agent,
        client=client,
        http_version=exchange.http_version,
        title=exchange.title,
        detail=exchange.detail,
    )


def invented(agent: Agent) -> str:
    """Return the User-Agent of an invented name in the form of the ``agent``'s: words that a filter may go by stay."""
    named = re.sub(re.escape(agent.token), NOBODY, registry().user_agent(agent.key), flags=re.IGNORECASE)
    return re.sub(r"(://|@)[\w.-]+", r"\1example.com", named)


async def ask_other_names(
    refused: Exchange, ask: Ask, *, search: bool, pause: float, together: bool = False
) -> tuple[Arm, ...]:
    """Ask under an invented name in the shape of the ``refused`` agent and, with ``search``, under a search engine's.

    A refusal counts when it comes twice, ``together`` side by side, and one by a limit only where the agent's is one.
    """

    async def asked(profile: Profile) -> Exchange:
        await asyncio.sleep(pause)
        return await ask(profile)

    async def twice(user_agent: str) -> Exchange:
        profile = profiles.profile(refused.name).named(user_agent)
        if together:
            exchange = await asyncio.gather(asked(profile), asked(profile))
            return min(exchange, key=lambda item: item.outcome != SERVED)
        first = await asked(profile)
        return first if first.outcome == SERVED else await asked(profile)

    arms = []
    agent = next(item for item in registry().live if item.key == refused.name)
    names = {INVENTED: invented(agent)}
    if search:
        names[SEARCH] = SEARCH_ENGINE.replace("{chrome}", registry().chrome_version)
    answers = [twice(user_agent) for user_agent in names.values()]
    results = await asyncio.gather(*answers) if together else [await item for item in answers]
    for name, exchange in zip(names, results, strict=True):
        limited = exchange.status in (LIMIT_STATUS, BUSY) and exchange.outcome == REFUSED
        if limited and exchange.status != refused.status:
            continue
        arms.append(arm(name, exchange))
    return tuple(arms)

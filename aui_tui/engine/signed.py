"""Signed probes of an agent that was turned away: does the site verify signatures, or refuse the name?

The agent's homepage request is sent again as it was, alone and one at a time, with the signatures of
``signing.probes``. What the answers mean is decided by ``signing.result``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

import msgspec

from aui_tui.engine import exchanges, signing
from aui_tui.engine.signing import Signer
from aui_tui.records.observations import SERVED, VERIFIED, Exchange, SignedProbe, SignedResult

Ask = Callable[[Mapping[str, str]], Awaitable[Exchange]]
"""Sends the request once more with further header fields."""


async def ask_signed(first: Exchange, url: str, signer: Signer, ask: Ask, *, pause: float) -> Exchange:
    """Return what stands for an agent whose unsigned probe ``first`` of ``url`` was turned away.

    That is the answer to a valid signature where the site verifies signatures, else ``first``; the result of the signed
    probes is part of it. ``pause``: seconds between two of them.
    """
    answers: dict[str, Exchange] = {}
    for name in signing.NAMES if signer.agent else signing.NAMES_WITHOUT_AGENT:
        await asyncio.sleep(pause)
        answers[name] = await ask(signing.probe_fields(signer.key, name, url, signer.agent))
    outcomes = {name: found.outcome for name, found in answers.items()}
    result, served = signing.result(outcomes)
    told = SignedResult(
        result=result,
        served=served,
        probes=tuple(
            SignedProbe(name=name, status=found.status, outcome=found.outcome) for name, found in answers.items()
        ),
    )
    if result == VERIFIED:
        valid = next(answers[name] for name in served if answers[name].outcome == SERVED)
        return msgspec.structs.replace(exchanges.replaced(first, valid), signed=told)
    return msgspec.structs.replace(first, signed=told)

"""Whatever a source raises, and wherever: one clean sentence is shown, and the dashboard goes on."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aui_tui.errors import (
    AuiError,
    BadValue,
    ConfigError,
    InvalidHost,
    NeverScanned,
    RateLimited,
    RecordError,
    Unavailable,
)
from aui_tui.tui.context import attempt, sentence

from .cards import host_name
from .service import CardService
from .stage import press, stage
from .test_hostile import FORBIDDEN, PAYLOADS, holds


class Mute(Exception):
    """An error that cannot even be reported."""

    def __str__(self) -> str:
        raise ValueError("no words")


def limited(words: str) -> AuiError:
    return RateLimited(words, retry_after=9, reset_at=0.0)


WORDS = st.one_of(st.sampled_from(PAYLOADS), st.text(max_size=400), st.just(""))
KINDS = st.sampled_from([Unavailable, BadValue, ConfigError, InvalidHost, NeverScanned, RecordError, limited])
PLAIN = st.sampled_from([ValueError, OSError, KeyError, RuntimeError, UnicodeError, RecursionError, TimeoutError])
ERRORS = st.one_of(
    st.builds(lambda kind, words: kind(words), KINDS, WORDS),
    st.builds(lambda kind, words: kind(words), PLAIN, WORDS),
    st.builds(lambda words: ExceptionGroup(words or "group", [ValueError(words)]), WORDS),
    st.just(Mute()),
)


@given(ERRORS)
@example(Unavailable(" "))
def test_any_error_is_one_clean_sentence(error: Exception) -> None:
    said = sentence(error)
    assert said.strip()
    assert len(said) <= 310
    assert not set(said) & FORBIDDEN


async def test_cancelling_passes_through_and_everything_else_is_reported() -> None:
    async def broken() -> None:
        raise Mute

    assert await attempt(broken()) == (None, sentence(Mute()))
    waiting = asyncio.create_task(attempt(asyncio.sleep(60)))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


KEYS = ("r", "s", "down", "enter", "m", "n", "d", "escape", "v", "escape", "slash", "a", "escape", "u", "u")


@pytest.mark.slow
@pytest.mark.parametrize("words", [" ".join(PAYLOADS[:-2]), *PAYLOADS[-2:]], ids=["all", "long", "wide"])
@pytest.mark.parametrize("kind", [Unavailable, ValueError])
async def test_a_source_that_fails_everywhere_breaks_no_screen(words: str, kind: type[Exception]) -> None:
    service = CardService.of(5)
    async with stage(service, (100, 30)) as pilot:
        service.failure = kind(words)
        for key in KEYS:
            await press(pilot, key)
            holds(pilot)
        service.failure = None
        await press(pilot, "escape", "r")
        assert pilot.app.is_running
        assert any(host in holds(pilot) for host in map(host_name, range(5)))

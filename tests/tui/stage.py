"""Runs the dashboard in memory at a size, and reads what is on its screen as text."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from unittest.mock import patch

from rich.console import RenderableType
from textual._compositor import Compositor
from textual._context import visible_screen_stack
from textual.css import stylesheet
from textual.css.model import RuleSet
from textual.css.parse import parse
from textual.pilot import Pilot
from textual.screen import Screen
from textual.strip import Strip

from aui_tui.model.query import Query
from aui_tui.service.protocol import Service
from aui_tui.tui.app import AuiApp
from aui_tui.tui.context import Context
from aui_tui.tui.typeahead import at_rest

from .cards import NOW

PATIENCE = 60
"""Seconds after which a screen that does not come to rest fails the test."""
LOOKS = 3
"""Looks in a row that must show the same screen."""
APART = 0.015
"""Seconds between two looks: three take longer than a screen waits for the rows that a key asks for."""
_GOING = time.time
_DRAW = Compositor.render_update


class Draws:
    """How often a screen was to be drawn."""

    count = 0


def drawn_when_looked_at(
    compositor: Compositor,
    full: bool = False,
    screen_stack: list[Screen[Any]] | None = None,
    simplify: bool = False,
) -> RenderableType | None:
    """Draw a picture, and nothing for a terminal that is not there: a half of the work."""
    if full:
        return _DRAW(compositor, full, screen_stack, simplify)
    Draws.count += 1
    compositor._dirty_regions.clear()
    return None


_PARSE = parse
_PARSED: dict[tuple[object, ...], list[RuleSet]] = {}


def parsed_once(scope: str, css: str, read_from: Any, *, variable_tokens: Any = None, **named: Any) -> list[RuleSet]:
    """Return the rules of a style sheet as the application before this one read them."""
    values = tuple((name, *(token.value for token in tokens)) for name, tokens in (variable_tokens or {}).items())
    key = (scope, css, read_from, values, *named.items())
    if key not in _PARSED:
        _PARSED[key] = list(_PARSE(scope, css, read_from, variable_tokens=variable_tokens, **named))
    return _PARSED[key]


@asynccontextmanager
async def stage(
    service: Service,
    size: tuple[int, int] = (80, 24),
    *,
    theme: str = "dusk",
    ascii: bool = False,  # noqa: A002
    start_host: str = "",
    query: Query | None = None,
    standing: bool = True,
) -> AsyncIterator[Pilot[int]]:
    """Yield a pilot of the running dashboard, with its clock ``standing`` still or going."""
    app = AuiApp(
        Context(service, clock=NOW.timestamp if standing else _GOING),
        theme=theme,
        ascii=ascii,
        start_host=start_host,
        query=query,
    )
    app.animation_level = "none"
    drawn = patch.object(Compositor, "render_update", drawn_when_looked_at)
    with drawn, patch.object(stylesheet, "parse", parsed_once):
        async with app.run_test(size=size, notifications=True) as pilot:
            await until(lambda: app.quota is not None)
            await settle(pilot)
            yield pilot


async def until(condition: Callable[[], bool], seen: Callable[[], str] = lambda: "it did not happen") -> None:
    """Wait until ``condition`` holds; a failure shows what was ``seen``."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, seen()
        await asyncio.sleep(0.01)


async def work_ended(pilot: Pilot[int], *, without: str = "") -> bool:
    """Wait until no worker runs but those of the group ``without``; return whether there was one.

    A worker that was replaced is cancelled, and has ended like any other.
    """

    def at_work() -> bool:
        return any(worker.group != without and not worker.is_finished for worker in pilot.app.workers)

    waited = at_work()
    await until(lambda: not at_work())
    return waited


async def settle(pilot: Pilot[int]) -> None:
    """Wait until every key has acted, every answer that was asked for is on the screen, and nothing is to be drawn."""
    end = time.monotonic() + PATIENCE
    shown: list[str] = []
    text, of = "", (-1, pilot.app.screen)
    while len(shown) < LOOKS:
        assert time.monotonic() < end, "the screen does not come to rest"
        await pilot.pause(APART)
        if await work_ended(pilot, without="scan"):
            shown.clear()
            continue
        if not at_rest(pilot.app) or to_draw(pilot.app.screen):
            shown.clear()
            continue
        if not text.strip() or of != (Draws.count, pilot.app.screen):
            text, of = text_of(pilot), (Draws.count, pilot.app.screen)
        if not text.strip() or (shown and shown[-1] != text):
            shown.clear()
        if text.strip():
            shown.append(text)


def to_draw(screen: Screen[Any]) -> bool:
    """Whether something of ``screen`` has still to be laid out, drawn, or done after that."""
    layout = screen._layout_required or screen._scroll_required or screen._recompose_required
    return bool(layout or screen._repaint_required or screen._dirty_widgets or screen._callbacks)


async def shows(pilot: Pilot[int], *words: str) -> None:
    """Wait until every one of ``words`` stands on the screen; line breaks count as blanks."""
    text = ""

    def there() -> bool:
        nonlocal text
        text = text_of(pilot)
        return all(word in text or word in " ".join(text.split()) for word in words)

    await until(there, lambda: text)


def text_of(pilot: Pilot[int]) -> str:
    """Return the screen as the compositor draws it, one line per row, without trailing blanks."""
    return "".join("".join(segment.text for segment in strip).rstrip() + "\n" for strip in strips_of(pilot))


def strips_of(pilot: Pilot[int]) -> list[Strip]:
    """Return the rows of the screen as the compositor draws them, with what stands behind a window."""
    compositor = pilot.app.screen._compositor
    visible_screen_stack.set(pilot.app._background_screens)
    strips = compositor.render_strips() if hasattr(compositor, "render_strips") else []
    return strips[: pilot.app.size.height]


async def press(pilot: Pilot[int], *keys: str) -> None:
    """Press keys one by one, each after the screen came to rest."""
    for key in keys:
        await pilot.press(key)
        await settle(pilot)

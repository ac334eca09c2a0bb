"""What only a mouse can do: press a text that is no control, or point at what then shows something else.

It is tried while nothing can leave, and only where an agent that goes by role and name found nothing.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Final
from urllib.parse import urldefrag

from aui_tui.tasks.outline import ACTIONABLE, SHORT, TEXT, Node, Outline
from aui_tui.tasks.page import LOOK, Page, Point, Stuck, Untouched
from aui_tui.tasks.trials import Spot, Trail, Trial
from aui_tui.tasks.visit import Visit
from aui_tui.tasks.vocabulary import SEARCH, UNDOES

MAX_LATER_WORDS: Final = 3
"""Words of such a text where what it is about does not come first."""
MAX_PRESSES: Final = 10
"""Controls that are pressed to see what they show."""
MAX_SEARCHES: Final = 2
"""Controls of a search that are pressed besides."""
MAX_OPENERS: Final = 4
MAX_ENTRIES: Final = 2
"""What is pressed by a mouse to see what comes up, and what of that is."""
MAX_FOCUSED: Final = 20
"""Controls that are focused to see it."""
DRAGS: Final = 3
"""How often a thing is dragged, as long as each time shows something else."""
PATIENCE: Final = 2.0
"""Seconds for a control that is in reach to take a press; a busy machine may be late."""
BRIEF: Final = 0.12
"""The same for one that is not."""
SENT: Final = 0.3
"""Seconds in which what was sent asks for something; a page may have drawn nothing new before."""
ALONE: Final = 0.7
"""Seconds in which a page that changes by itself shows that it does."""


_NUMBER: Final = re.compile(r"\d+")
_CONTROL: Final = re.compile(r"<(?:a\b[^>]*\bhref|button|input|select|textarea|[^>]*\brole=\"?(?:button|link)\b)")


def lack(tag: str) -> str:
    """Return what an element lacks that a mouse alone is pointed at, by its start ``tag``: the name or the role."""
    return "has no name" if _CONTROL.match(tag) else "is not a control"


async def by_mouse_alone(visit: Visit, outline: Outline, *patterns: re.Pattern[str], press: bool = True) -> Node | None:
    """Return the short text of a page, which is open, that says one of ``patterns``, takes a click and is no control.

    It listens, shows a hand, or with ``press`` changes the page when it is pressed: the first such text is tried.
    """
    texts = list(texts_that_say(outline, *patterns))
    for node in texts:
        if await visit.page.inspect("reacts", (node.text or node.name).strip()):
            return node
    pressable = (node for node in texts if node.ref and (node.role != TEXT or node in outline.tree_only))
    tried = next(pressable, None) if press else None
    return tried if tried is not None and await does_something(visit, tried) else None


def texts_that_say(outline: Outline, *patterns: re.Pattern[str]) -> Iterator[Node]:
    """Yield the short texts of a page that say one of ``patterns`` and are no control."""
    for pattern in patterns:
        for node in outline.nodes:
            said = (node.text or node.name).strip()
            if node.role in ACTIONABLE or ACTIONABLE & set(node.path) or not said or len(said) > SHORT:
                continue
            if pattern.match(said) or (len(said.split()) <= MAX_LATER_WORDS and pattern.search(said)):
                yield node


async def does_something(visit: Visit, node: Node) -> bool:
    """Press what is no control, and say whether the page changes, which it does not by itself."""
    page = visit.page
    if await page.ask(node, "operable") is not False:
        return False
    before = await page.look(whole=False)
    await asyncio.sleep(ALONE)
    if _says(await page.look(whole=False)) != _says(before):
        return False
    try:
        pressed = await page.tried(node, shut=True)
    except (Untouched, Stuck):
        return False
    visit.step("pressed", node, note="which is no control", outline=page.outline)
    return pressed.outline is not None or bool(pressed.held) or _says(page.outline) != _says(before)


def _says(outline: Outline) -> tuple[object, ...]:
    return outline.url, outline.mark(), outline.text()


async def by_pointing(visit: Visit, kind: str, shows: Callable[[Outline], bool], about: str = "(?!)") -> str:
    """Return tag and text of what ``trial_that`` finds because the page ``shows`` something; empty without it."""
    trial = await trial_that(visit, kind, lambda trial: trial.shows(shows), about)
    return trial.tag if trial is not None else ""


async def trial_that(
    visit: Visit, kind: str, brings: Callable[[Trial], bool], about: str = "(?!)", *, alone: bool = True
) -> Trial | None:
    """Point at what is no control with a name, then press it, until that ``brings`` what was hidden.

    The page is open. Returns the trial; None where nothing does. ``kind``: of what is hidden, as in ``pointing.js``;
    ``about``: a pattern of what it may say. On a page as it was opened a spot is tried once for all tasks; with
    ``alone`` what does it must do so once more, alone, and not before. Nothing is tried where the run has little left.
    """
    if not visit.spare:
        return None
    page, url, shared = visit.page, visit.page.tab.url, visit.page.stands
    spots = await pointable(page, kind, about)
    first = await page.view(0)
    if not spots or brings(Trial("", (first,), ())):
        return None
    glimpse = await page.query("glimpse") if shared else None
    intact = glimpse is not None
    kept = visit.trials.setdefault(visit.place(url), {}) if shared else {}
    found, chosen = None, spots[0]
    async with visit.lock(url) if shared else nullcontext():
        for at, spot in enumerate(spots):
            trial = kept.get(spot)
            if trial is None:
                await page.attempt()
                trial = await _trial(page, at, spot.tag, first)
                if trial is None:
                    continue
                if intact:
                    kept[spot] = trial
                    intact = await page.is_as(glimpse)
            if brings(trial):
                found, chosen = trial, spot
                break
    page.intact = intact and await page.is_as(glimpse, back=True)
    if found is not None and shared and alone:
        await visit.here(url)
        again = await pointable(page, kind, about)
        same = next((at for at, spot in enumerate(again) if spot == chosen), None)
        same = next((at for at, spot in enumerate(again) if spot.tag == found.tag), None) if same is None else same
        if same is None or not await _does_it_alone(page, same, found.tag, brings):
            return None
    if found is not None:
        visit.step("pointed", note=found.tag, outline=page.outline)
    return found


async def by_two_presses(visit: Visit, kind: str, shows: Callable[[Outline], bool]) -> str:
    """Press what is no control with a name, then what comes up, as the entries of a list, until the page ``shows``.

    Returns the tags of both; as ``by_pointing`` does.
    """
    page, url = visit.page, visit.page.tab.url
    if not visit.spare or shows(await visit.here(url)):
        return ""
    openers = await pointable(page, kind, "(?!)")
    await page.attempt()
    for opener in openers[:MAX_OPENERS]:
        for number in range(MAX_ENTRIES):
            paths = [spot.path for spot in await pointable(page, kind, "(?!)")]
            if opener.path not in paths or await page.clicked(paths.index(opener.path)) is None:
                break
            entries = await pointable(page, "fresh", "(?!)")
            if number >= len(entries):
                break
            outline = await page.clicked(number)
            if outline is not None and shows(outline):
                visit.step("pointed", note=f"{opener.tag} {entries[number].tag}", outline=outline)
                return f"{opener.tag}, then {entries[number].tag}"
    return ""


async def pointable(page: Page, kind: str, about: str) -> list[Spot]:
    """Return what a mouse may be pointed at, best first; ``Page.pointed`` takes their numbers."""
    return [
        Spot(str(tag), str(path), bool(live)) for tag, path, live in await page.inspect("pointable", kind, about) or ()
    ]


async def _trial(
    page: Page, at: int, tag: str, before: Outline, done: Callable[[Trial], bool] = lambda _: False
) -> Trial | None:
    """Point at one of what may be pointed at, press it, drag it, drop a file in it and turn the wheel, until ``done``.

    None where it has gone.
    """
    begun, trial = len(page.fence.held), Trial(tag, (), ())

    def note(outline: Outline | None) -> bool:
        nonlocal trial
        fresh = (outline,) if outline is not None and outline != before else ()
        trial = Trial(tag, trial.shown + fresh, tuple(page.fence.held[begun:]), trial.filled)
        return done(trial)

    point = await page.point(at)
    if point is None or note(await page.pointed(point, press=False)):
        return trial if point is not None else None
    point = await page.point(at)
    if point is None:
        return None
    for place in await _places(page, at, point):
        pressed = await page.pointed(place, press=True)
        if tag.startswith("<label") and len(page.fence.held) == begun:
            await asyncio.sleep(SENT)
        if note(pressed):
            return trial
    drags = DRAGS if any(point.drag) else 0
    while drags:
        last, dragged = trial.shown[-1:], await page.dragged(at)
        if not trial.filled and await page.query("filled"):
            await asyncio.sleep(2 * ALONE)  # what counts by itself goes on
            trial = trial._replace(filled=str(await page.query("filled") or ""))
        if note(dragged):
            return trial
        if trial.shown[-1:] != last:
            drags -= 1
        elif not await page.query("elsewhere"):
            break
    if point.drops and note(await page.dropped(point)):
        return trial
    if point.wheels:
        note(await page.wheeled(at))
    return trial


async def _places(page: Page, at: int, point: Point) -> list[Point]:
    """Return where to press what may be pointed at, of that number: at ``point``, a drawing in several places."""
    places = await page.query("places", [at, ""]) or ()
    return [point._replace(x=x, y=y, is_control=False) for x, y in places] or [point]


async def _does_it_alone(page: Page, at: int, tag: str, brings: Callable[[Trial], bool]) -> bool:
    """Say whether that one alone ``brings`` something: not the page by itself, a scroll or the focus."""
    await page.fence.shut()
    await page.query("point", at)
    await page.query("take-focus", at)
    await asyncio.sleep(ALONE)
    before = await page.view(0)
    if brings(Trial("", (before,), ())):
        return False
    trial = await _trial(page, at, tag, before, brings)
    return trial is not None and brings(trial)


def presses(outline: Outline, but: re.Pattern[str] = UNDOES) -> list[Node]:
    """Return the controls of a page that may show something on it; ``but``: names of controls that are not meant."""
    named = [node for node in outline.pressable() if node.name and node.ref and not node.disabled]
    here = urldefrag(outline.url)[0]
    staying = [node for node in named if node.role != "link" or urldefrag(node.url)[0] in (here, "", "javascript:")]
    return [node for node in staying if not UNDOES.search(node.name) and not but.search(node.name)]


async def _pressed(page: Page, node: Node) -> bool:
    """Press a control once, since twice may undo it; say whether it took that."""
    is_in_reach = await page.ask(node, "reach") is True
    return await page.click(node, within=PATIENCE if is_in_reach else BRIEF)


def _tries(outline: Outline, but: re.Pattern[str]) -> list[tuple[bool, Node]]:
    """Return the controls of a page that may show something, in turn, each with whether it is pressed or focused."""
    named = [node for node in outline.pressable() if node.name and node.ref and not node.disabled]
    # the focus alone may show it
    focused = [(False, node) for node in named[:MAX_FOCUSED]]
    every = presses(outline, but)
    searching = [node for node in every if SEARCH.search(node.name)][:MAX_SEARCHES]
    # those of a search come last, so that the others go the same way for a task that does not mean them
    others = [node for node in every if not SEARCH.search(node.name)][:MAX_PRESSES]
    return focused + [(True, node) for node in (*others, *searching)]


def _kind(node: Node) -> tuple[str, str]:
    """Return what a control is, whatever it counts."""
    return node.role, _NUMBER.sub("", node.name)


async def by_control(
    visit: Visit, url: str, shows: Callable[[Outline], bool], but: re.Pattern[str] = UNDOES
) -> tuple[Node, Outline] | None:
    """Press the controls of the page at ``url`` while nothing can leave, until it ``shows`` what was hidden.

    Returns the control and the page then, what the tree leaves out too. ``but``: names of controls that are not meant.
    What they bring is kept for all tasks, and tasks that run at the same time press them one after the other. Nothing
    is tried where the run has little left. Raises Closed, Stuck.
    """
    async with visit.lock(url):
        trail = visit.trails.get(visit.place(url)) if but in (UNDOES, SEARCH) else None
        if trail is not None and not any(map(shows, trail.shown + (trail.searching if but is UNDOES else []))):
            return None
        return await _by_controls(visit, url, shows, but) if visit.spare else None


async def _by_controls(
    visit: Visit, url: str, shows: Callable[[Outline], bool], but: re.Pattern[str]
) -> tuple[Node, Outline] | None:
    page, outline = visit.page, await visit.shown(url)
    is_kept = but in (UNDOES, SEARCH)
    avoided = UNDOES if is_kept else but
    tries = _tries(outline, avoided)
    trail, begun, is_searching = Trail([], []), len(page.fence.held), False
    if tries:
        await page.attempt()
    first = seen = await page.view(0)
    glimpse = await page.query("glimpse")
    focus_shows = bool(tries) and await page.shows_on_focus([node for is_press, node in tries if not is_press])
    known, left = {_kind(node) for _, node in tries}, list(tries)
    while left:
        is_press, node = left.pop(0)
        if not is_press and not focus_shows:
            continue
        is_searching = is_searching or (is_press and SEARCH.search(node.name) is not None)
        if not await (_pressed(page, node) if is_press else page.focus(node)):
            continue
        before, seen = seen, await page.view(LOOK if is_press else 0)
        if seen == before and not outline.tree_only:
            continue
        (trail.searching if is_searching else trail.shown).append(seen)
        # what came up, as the next questions of a dialog, as long as few were pressed
        fresh = [one for one in presses(seen, avoided) if is_press and _kind(one) not in known]
        fresh = fresh[: max(0, len(tries) + MAX_PRESSES - len(known))]
        known |= set(map(_kind, fresh))
        ahead = [one for one in fresh if is_searching or not SEARCH.search(one.name)]
        left = [(True, one) for one in ahead] + left + [(True, one) for one in fresh if one not in ahead]
        if (is_searching and but is SEARCH) or not shows(seen):
            continue
        shown = await page.settle()
        visit.step("pressed", node, outline=shown)
        return node, shown
    if is_kept:
        painted = str(await page.query("painted") or "")
        visit.trails[visit.place(url)] = trail._replace(held=tuple(page.fence.held[begun:]), painted=painted)
    if tries:
        page.intact = seen == first and await page.is_as(glimpse, back=True)
    return None

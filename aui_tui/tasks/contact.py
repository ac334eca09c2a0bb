"""The task "contact": a way to reach the people behind the site, as text, data or a form."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final
from urllib.parse import unquote, urldefrag, urlsplit

from aui_tui.model.observations import GONE
from aui_tui.model.tasks import TaskResult
from aui_tui.tasks.fence import Held, pages_asked
from aui_tui.tasks.lettering import lettering
from aui_tui.tasks.outline import NOTHING, SHORT, Node, Outline
from aui_tui.tasks.page import Closed, Pressed, Stuck, Untouched
from aui_tui.tasks.pointing import by_control, by_mouse_alone, by_pointing, lack, trial_that
from aui_tui.tasks.reading import covered, drawings, nameless_links, unsaid
from aui_tui.tasks.trials import Trial
from aui_tui.tasks.visit import Visit, ended
from aui_tui.tasks.vocabulary import (
    ABOUT,
    BID,
    CONTACT,
    COUNTS,
    EMAIL,
    MAIL,
    MENU,
    NEVER,
    PEOPLE,
    PHONE,
    POSTAL,
    PROOF,
    REVEAL,
    SAYS_CONTACT,
    SAYS_NUMBER,
    SAYS_WAY,
    WHERE,
    acts,
    bare_number,
    way_in,
)
from aui_tui.text import clean

PAGES: Final = 3
UNSHOWN: Final = 2
"""Pages that hold a contact without showing it, on which it is looked for behind controls, and by a mouse."""
ADDRESS: Final = "E-mail address"
NUMBER: Final = "Telephone number"
POSTAL_ADDRESS: Final = "Postal address"
DATA: Final = "Declared as data:"
KINDS: Final = (ADDRESS, NUMBER, POSTAL_ADDRESS, DATA)
_CHAT: Final = re.compile(r"https?://(?:wa\.me/|api\.whatsapp\.com/send/?\?phone=)(\+?\d{7,15})")
_CONTACT_POINT: Final = re.compile(r'"(?:telephone|email)"\s*:\s*"([^"]{5,80})"')


async def contact(visit: Visit) -> TaskResult:
    """Find a way to reach the people behind the site, on at most three pages. Raises Closed, Stuck."""
    links = contact_links(visit, visit.home)
    held = False
    if not any(CONTACT.search(node.name) for node in links):
        begun = len(visit.page.fence.asked)
        in_menu = await _in_menu(visit)
        held = len(visit.page.fence.asked) > begun
        links = in_menu or await _unfolded(visit) or links
    queue: list[tuple[str, Node | None]] = [(visit.url, None), *((node.url, node) for node in links)]
    reached: Node | None = None
    drawn: TaskResult | None = None
    number = drawn_on = ""
    failure: Closed | Stuck | None = None
    for url, node in queue[:PAGES]:
        try:
            outline = visit.home if node is None else await visit.served(url)
        except (Closed, Stuck) as error:
            failure = error
            continue
        named = node is not None and CONTACT.search(node.name) is not None
        way = await _way(visit, outline, by_name=named) or await _in_pieces(visit, outline)
        if not way and (named or node is None) and (plain := _bare_number(outline)):
            way = f"{NUMBER} {plain}"
        if way:
            visit.step("found", note=way, outline=outline)
            return ended("contact-done", {"way": way}, url=outline.url)
        visit.step("looked", node, note="for an address, a number or a form", mark="part", outline=outline)
        reached = node if named and reached is None else reached
        if drawn is None and not named and node is not None and WHERE.search(node.name):
            drawn = await _lettered(visit, node)
        if not number and node is not None and not named:
            number, drawn_on = await _number(visit), outline.url
    if reached is not None:
        return await _nothing_there(visit, reached)
    way = await _on_pages_seen(visit)
    if way:
        visit.step("found", note=way)
        return ended("contact-done", {"way": way})
    if drawn is not None:
        return drawn
    if failure is not None:
        raise failure
    if held:
        return ended("shut", {"name": "the menu"})
    goes_on = await _goes_on(visit)  # before anything is pressed, after which the homepage would be opened once more
    return (
        await _by_button(visit)
        or await _by_nameless_link(visit)
        or await _on_request(visit, await visit.shown(visit.url), home=True)
        or await _behind_pointing(visit)
        or await _by_route(visit)
        or await _no_contact(visit, number, drawn_on, goes_on=goes_on)
    )


async def _on_pages_seen(visit: Visit) -> str:
    """Return an e-mail address or a telephone number of the pages that other tasks opened; empty without one."""
    for outline in list(visit.outlines.values()):
        way = await _way(visit, outline, by_name=False, kinds=(ADDRESS, NUMBER))
        if way:
            return way
    return ""


async def _lettered(visit: Visit, node: Node) -> TaskResult | None:
    """Return the ending where the page behind ``node``, which is open, shows lines of letters that are no text."""
    shown = await lettering(visit.page)
    facts = {"pictures": f"; {shown} shows lines of letters"}
    return ended("contact-nothing", facts, node=node, url=node.url, snippet=shown) if shown else None


async def _in_part(visit: Visit) -> TaskResult | None:
    """Return the ending where the homepage, which is open, draws an address or a number in a part about contact.

    A form to write to somebody is another way.
    """
    if _has_form(visit.home):
        return None
    about = [CONTACT.pattern, BID.pattern, f"{MAIL.pattern}|{SAYS_WAY}"]
    shown = await _unsaid(visit, about)
    if shown:
        return ended("contact-unsaid", {"shown": shown})
    shown = await lettering(visit.page, about)
    return ended("contact-part", snippet=shown) if shown else None


async def _unsaid(visit: Visit, about: Sequence[str] = ()) -> str:
    """Return the line with an address or a number that a person sees on the open page and no tree holds; or empty.

    ``about``: as in ``lettering``; what is muted then counts in a foot, an address or a part about contact.
    """
    for text in await unsaid(visit, about):
        if way_in(text):
            return clean(text, 60)
    return "" if visit.obstacle else clean(await _muted(visit, foot=bool(about)), 60)


async def _muted(visit: Visit, *, foot: bool) -> str:
    """Return the line with an address or a number that a person sees on the open page and no tree holds; or empty.

    ``foot``: in a part about contact.
    """
    lines = map(str, await visit.page.query("muted", [foot, f"{CONTACT.pattern}|{BID.pattern}"]) or ())
    return next(filter(way_in, lines), "")


async def _number(visit: Visit, *, here: bool = False, home: bool = False) -> str:
    """Return the start tag of a number that the open page draws digit by digit.

    ``here``: it is about contact; ``home``: it is the homepage.
    """
    return str(await visit.page.query("number", [SAYS_NUMBER, here, COUNTS.pattern if home else ""]) or "")


async def _nothing_there(visit: Visit, reached: Node) -> TaskResult:
    """Return the ending where the page behind a contact link shows no contact: blocked where it is drawn."""
    outline, cover = await visit.clear(await visit.page.open(reached.url))
    status = visit.page.status
    facts = {"status": str(status)}
    if status in GONE:
        return ended("missing", facts, node=reached)
    if cover is not None and _contact_in(await visit.page.look(whole=False)) is not None:
        return await covered(visit, cover, outline)
    shown = await _unsaid(visit) if cover is None else ""
    drawn_by = "" if shown else await drawings(visit, SAYS_WAY)
    number = "" if shown or drawn_by else await _number(visit, here=True)
    if shown:
        facts["pictures"] = f"; “{shown}” is left out of the accessibility tree"
    elif number:
        facts["pictures"] = f"; what is drawn by {number} has no text"
    else:
        facts["pictures"] = drawn_by
    if facts["pictures"]:
        return ended("contact-nothing", facts, node=reached, url=reached.url)
    drawn = await _lettered(visit, reached)
    if drawn is not None:
        return drawn
    nameless = [node for node in outline.of("textbox") if not node.name]
    if len(outline.of("textbox")) >= 2 and nameless:
        return await visit.blame("contact-nameless", nameless[0], url=reached.url)
    return await _on_request(visit, outline, home=False) or ended("contact-unsure", node=reached, url=reached.url)


async def _on_request(visit: Visit, outline: Outline, *, home: bool) -> TaskResult | None:
    """Return the ending where a page, which is open, shows a contact to the eye, or once it is pressed or pointed at.

    Done where a control with a name shows it, blocked where a mouse alone gets it. On the ``home`` page a link about
    contact counts too, and what says that it shows a contact does not: much more reacts there.
    """
    url, had_form = outline.url, _has_form(outline)
    named = {node.name for node in outline.of("link", "button")}
    had = _digits(outline.text())

    def reaches(shown: Outline) -> bool:
        return _contact_in(shown) is not None or _has_form(shown) > had_form or bool(_bare_number(shown, had))

    def shows(shown: Outline) -> bool:
        links = (node.name for node in shown.of("link", "button") if CONTACT.search(node.name))
        return reaches(shown) or (home and any(name not in named for name in links))

    opened = await by_control(visit, url, reaches)
    trail = visit.trails.get(visit.place(url))
    if opened is not None:
        way = await _way_up(visit, opened[1], had)
    else:
        way = await _in_what_was_asked(visit, trail.held) if trail is not None else ""
    if way:
        return ended("contact-done", {"way": way}, url=url)
    outline = await visit.shown(url)
    kept_out = await visit.kept_out(outline, _contact_in)
    if kept_out is not None:
        return kept_out
    turned = await _turned(visit)
    if turned:
        return ended("contact-turned", {"shown": turned}, url=url)
    button = _revealer(visit, outline)
    pressed = await _pressed(visit, button, outline, shut=not visit.act) if button is not None else None
    if pressed is not None:
        return pressed
    ending = await _by_mouse(visit, await visit.shown(url), shows, (CONTACT,) if home else (REVEAL, CONTACT))
    if ending is not None and home:
        opened = opened or await by_control(visit, url, shows)
    return ended("contact-hidden", {"name": opened[0].name}) if ending is not None and opened is not None else ending


async def _elsewhere(visit: Visit) -> TaskResult | None:
    """Return the ending for a contact that a page beside the homepage holds without showing it; None without one."""
    pages = [url for url, facts in visit.noted.items() if facts.unshown and not visit.at_home(url)]
    for url in pages[:UNSHOWN]:
        ending = await _on_request(visit, await visit.shown(url), home=False)
        if ending is not None:
            return ending
    return None


async def _by_mouse(
    visit: Visit, outline: Outline, shows: Callable[[Outline], bool], says: Sequence[re.Pattern[str]]
) -> TaskResult | None:
    """Return the ending where a mouse alone gets the contact of a page, which is open; None where it does not."""
    text = await by_mouse_alone(visit, outline, *says)
    if text is not None:
        reason = "contact-no-button" if REVEAL in says else "contact-no-link"
        return ended(reason, {"name": (text.text or text.name).strip()}, node=text, url=outline.url)
    await visit.shown(outline.url)

    def brings(trial: Trial) -> bool:
        return trial.shows(shows) or bool(_opened(trial.held) or _asked_for(visit, trial.held))

    trial = await trial_that(visit, "text", brings, SAYS_CONTACT)
    pointed = trial.tag if trial is not None else ""
    if trial is not None and not trial.shows(shows) and not await _in_what_was_asked(visit, trial.held):
        await visit.shown(outline.url)
        pointed = await by_pointing(visit, "text", shows, SAYS_CONTACT)
    pointed = pointed or await _leading_on(visit, outline.url)
    facts = {"example": pointed, "lack": lack(pointed)}
    return ended("contact-pointing", facts, url=outline.url, snippet=pointed) if pointed else None


async def _leading_on(visit: Visit, url: str) -> str:
    """Return the tag of what a mouse alone presses, on a page that was tried, to get to an address or a number.

    Empty without it.
    """
    kept = visit.trials.get(visit.place(url), {}).values()
    leading = [asked for trial in kept if (asked := _asked_for(visit, trial.held, about=False))]
    for page in list(dict.fromkeys(asked[0] for asked in leading))[:PAGES]:
        if not await _reaching(visit, page):
            continue
        await visit.shown(url)

        def asks(trial: Trial, page: str = page) -> bool:
            return page in pages_asked(trial.held)

        trial = await trial_that(visit, "text", asks, SAYS_CONTACT)
        if trial is not None:
            return trial.tag
    return ""


def _asked_for(visit: Visit, held: Iterable[Held], *, about: bool = True) -> list[str]:
    """Return the addresses of the site that were asked for by GET and held back: for frames, or of pages about contact.

    Those of other pages instead where it is not ``about`` contact. None that a link with a name leads to, on a page
    that was read, nor one below an address that such a link leads to.
    """
    pages = (visit.home, *visit.outlines.values())
    known = {visit.place(node.url) for page in pages for node in page.of("link") if node.name}
    asked = list(held)
    ways = [url for url in pages_asked(asked) if (CONTACT.search(unquote(urlsplit(url).path)) is not None) == about]
    if about:
        ways = [*pages_asked(asked, framed=True), *ways]
    else:
        above = {
            url: urlsplit(url)._replace(path=urlsplit(url).path.rstrip("/").rpartition("/")[0], query="")
            for url in ways
        }
        ways = [url for url in ways if not above[url].path or visit.place(above[url].geturl()) not in known]
    return [url for url in ways if visit.same_site(url) and visit.leads_on(url) and visit.place(url) not in known]


def _opened(held: Iterable[Held]) -> str:
    """Return the address or the number for which another program was asked, in words; empty without one."""
    links = (replace(NOTHING, role="link", name="link", url=one.url) for one in held)
    return next((f"{kind} {value}" for kind, value in _ways(Outline(tuple(links))) if value), "")


async def _in_what_was_asked(visit: Visit, held: Iterable[Held]) -> str:
    """Return a way to get in touch, in words, on the pages that were asked for and ``held`` back; empty without one.

    A form counts where the page says that it is about contact, or asks for a message.
    """
    held = list(held)
    if opened := _opened(held):
        return opened
    for url in _asked_for(visit, held)[:PAGES]:
        with suppress(Closed, Stuck):
            outline = await visit.served(url)
            by_name = CONTACT.search(_about(outline, url)) is not None or await _takes_message(visit, outline)
            way = await _way(visit, outline, by_name=by_name)
            if way:
                return way
    for url in _asked_for(visit, held, about=False)[:PAGES]:
        way = await _reaching(visit, url)
        if way:
            return way
    return ""


async def _reaching(visit: Visit, url: str) -> str:
    """Return an address or a number of the page at ``url``, in words; empty without one, or where it does not open."""
    with suppress(Closed, Stuck):
        return await _way(visit, await visit.served(url), by_name=False, kinds=(ADDRESS, NUMBER))
    return ""


def _about(outline: Outline, url: str) -> str:
    """Return what a page says first of what it is about, and its address."""
    return " ".join([*outline.headings()[:2], outline.title, urlsplit(url).path])


async def _takes_message(visit: Visit, outline: Outline) -> bool:
    """Say whether a form of a page, which is open, takes a text of several lines and no password."""
    about = [await visit.page.ask(node, "control") or {} for node in outline.of("textbox")]
    return any(one.get("tag") == "TEXTAREA" and not one["password"] for one in about)


def _bare_number(outline: Outline, had: str | None = None) -> str:
    """Return a telephone number that a text is or ends with, with nothing that says so; empty without one.

    Of what came up on a page that ``had`` other digits: a text that is one in any form.
    """
    numbers = (bare_number(node.text or node.name, asked=had is not None) for node in outline.nodes)
    return next((one for one in numbers if one and _digits(one) not in (had or "")), "")


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


async def _way_up(visit: Visit, shown: Outline, had: str) -> str:
    """Return a way to get in touch, in words, that came up on a page that ``had`` other digits; empty without one."""
    number = _bare_number(shown, had)
    return await _way(visit, shown, by_name=True) or (f"{NUMBER} {number}" if number else "")


def _has_form(outline: Outline) -> bool:
    fields = outline.of("textbox")
    return len(fields) > 1 and any(MAIL.search(node.name) for node in fields)


def _contact_in(outline: Outline) -> Node | None:
    """Return the first node of a page with a way to get in touch."""
    return next((node for node in outline.nodes if any(value for _, value in _ways(Outline((node,))))), None)


async def _by_nameless_link(visit: Visit) -> TaskResult | None:
    """Return the ending where a link without a name is or leads to a contact; None where there is none."""
    shown = await nameless_links(visit)
    for url, tag, _ in [link for link in shown if not link.url.startswith("http")]:
        if _contact_in(Outline((replace(NOTHING, role="link", name="link", url=url),))) is not None:
            return ended("contact-no-name", snippet=tag)
    leading = [link for link in shown if visit.same_site(link.url) and not _on_the_page(visit, link.url)]
    for url, tag, _ in [link for link in leading if not acts(link.url)][:PAGES]:
        with suppress(Closed, Stuck):
            outline = await visit.served(url)
            about = f"{_about(outline, url)} {tag}"
            if CONTACT.search(about) and await _way(visit, outline, by_name=True):
                return ended("contact-no-name", snippet=tag)
    return None


def _revealer(visit: Visit, outline: Outline) -> Node | None:
    """Return the control of a page that promises to show a number or an address on it."""
    named = (node for node in outline.pressable() if REVEAL.search(node.name) and not node.disabled)
    return next((node for node in named if _on_the_page(visit, node.url) and not NEVER.search(node.name)), None)


async def _pressed(visit: Visit, button: Node, before: Outline, *, shut: bool) -> TaskResult | None:
    """Press what promises a contact on a page, which is open; return the ending where it does something.

    It shows a contact, one to eyes alone, asks for proof of a person first, or asks the network for something that was
    held back. ``shut``: nothing leaves.
    """
    begun = len(visit.page.fence.held)
    try:
        pressed = await visit.page.tried(button, shut=shut)
    except Untouched:
        return None
    shown = await _led(visit, pressed) or pressed.outline or await visit.page.look()
    visit.step("pressed", button, outline=shown)
    way = await _way_up(visit, shown, _digits(before.text())) or _opened(visit.page.fence.held[begun:])
    if way:
        return ended("contact-done", {"way": way}, url=shown.url)
    drawn = await _unsaid(visit)
    if drawn:
        return ended("contact-unsaid", {"shown": drawn}, node=button, url=shown.url)
    kept_out = await visit.kept_out(shown, lambda apart: _contact_in(apart) or next(iter(apart.of("textbox")), None))
    if kept_out is not None:
        return kept_out
    if PROOF.search(shown.text()) and not PROOF.search(before.text()):
        obstacle = f"“{clean(button.name, SHORT)}” asks for proof of a person first"
        return ended("unwalked", {"obstacle": obstacle}, node=button, url=shown.url)
    return ended("shut", node=button, url=shown.url) if pressed.held and not pressed.led else None


async def _backwards(visit: Visit, outline: Outline, value: str) -> bool:
    """Say whether a style sheet turns an address round that is one in both directions: then the eye reads another."""
    if not EMAIL.fullmatch(value[::-1]):
        return False
    await visit.shown(outline.url)
    return any(value in str(text) for text in await visit.page.query("turned") or ())


async def _in_pieces(visit: Visit, outline: Outline) -> str:
    """Return an e-mail address that the page shows in one piece, and that what is hidden cuts in the tree, in words.

    Its letters stand there in that order, so an agent reads it. Empty without one.
    """
    text = outline.text()
    joined = "".join(text.split())
    if not EMAIL.search(joined):
        return ""
    await visit.shown(outline.url)
    for match in EMAIL.finditer(str(await visit.page.query("eyes") or "")):
        if match[0] not in text and "".join(match[0].split()) in joined:
            return f"{ADDRESS} {match[0]}"
    return ""


async def _turned(visit: Visit) -> str:
    """Return the address or number that the page has backwards and a style sheet turns round; empty without one."""
    for text in map(str, await visit.page.query("turned") or ()):
        match = EMAIL.search(text[::-1]) or PHONE.search(text[::-1])
        if match is not None:
            return match[0].strip()
    return ""


async def _by_button(visit: Visit) -> TaskResult | None:
    """Press the button about contact, or the link without an address of its own; None where there is none."""
    node = contact_button(visit)
    if node is None:
        return None
    fresh = await visit.at_home_again(node)
    if fresh is None:
        return None
    opens = visit.act or bool(await visit.page.ask(fresh, "opener"))
    pressed = await _pressed(visit, fresh, visit.home, shut=not opens)
    if pressed is not None:
        return pressed
    await visit.shown(visit.url)
    return await _in_part(visit) or ended("contact-unsure", node=node, url=visit.url)


async def _led(visit: Visit, pressed: Pressed) -> Outline | None:
    """Return the page of the site that a press asked for, in a frame too; None where it asked for none."""
    asked = (*pages_asked(pressed.held), *pages_asked(pressed.held, framed=True))
    url = next((url for url in asked if visit.same_site(url) and not acts(url)), "")
    return await visit.served(url) if url else None


def contact_button(visit: Visit) -> Node | None:
    """Return the button about contact, or the link without an address of its own."""
    named = (node for node in visit.home.pressable() if CONTACT.search(node.name) and not node.disabled)
    return next(
        (candidate for candidate in named if _on_the_page(visit, candidate.url) and not NEVER.search(candidate.name)),
        None,
    )


async def _in_menu(visit: Visit) -> list[Node]:
    """Open the site's menu, where a button does, and return the links about contact in it."""
    openers = visit.home.of("button", "checkbox", "switch")
    button = next((node for node in openers if MENU.search(node.name) and not node.disabled), None)
    if button is None:
        return []
    fresh = await visit.at_home_again(button)
    if fresh is None or not await visit.press(fresh):
        return []
    outline = await visit.page.settle()
    visit.step("pressed", fresh, note="to open the menu", outline=outline)
    return contact_links(visit, outline)


async def _hidden_names(visit: Visit) -> list[str]:
    """Return the names about contact of links and buttons that the homepage holds without showing them."""
    return [name for name in (await visit.facts(visit.url)).hidden if CONTACT.search(name)]


def _named(outline: Outline) -> bool:
    return any(CONTACT.search(node.name) for node in outline.of("link", "button"))


async def _unfolded(visit: Visit) -> list[Node]:
    """Return the links about contact that a control of the homepage shows, where one stands there hidden."""
    if not await _hidden_names(visit):
        return []
    opened = await by_control(visit, visit.url, _named)
    return contact_links(visit, opened[1]) if opened is not None else []


async def _behind_pointing(visit: Visit) -> TaskResult | None:
    """Return the ending where a link about contact shows up under a mouse alone."""
    if not await _hidden_names(visit):
        return None
    await visit.shown(visit.url)
    pointed = await by_pointing(visit, "control", _named)
    facts = {"example": pointed, "lack": lack(pointed)}
    return ended("contact-pointing", facts, snippet=pointed) if pointed else None


async def _by_route(visit: Visit) -> TaskResult | None:
    """Return the ending where a text about contact that is no link leads to one when it is pressed."""
    if any(CONTACT.search(node.name) for node in visit.home.dom_only):
        return None  # it is a link that the tree leaves out, which is told of the page
    await visit.shown(visit.url)
    trial = await trial_that(visit, "said", lambda trial: trial.asks(visit.leads_on), CONTACT.pattern, alone=False)
    led = pages_asked(trial.held) if trial is not None else []
    if trial is None or not led or not visit.same_site(led[-1]) or visit.at_home(led[-1]) or acts(led[-1]):
        return None
    outline = await visit.served(led[-1])
    way = await _way(visit, outline, by_name=True)
    said = re.sub("<[^>]*>", "", trial.tag)
    return ended("contact-no-link", {"name": said}, snippet=trial.tag) if way else None


async def _no_contact(visit: Visit, number: str, drawn_on: str, *, goes_on: bool) -> TaskResult:
    """Return the ending where no link leads to a contact: a hidden link, a ``number`` that is drawn, or none.

    ``goes_on``: the homepage does as it is scrolled.
    """
    name = next(iter(await _hidden_names(visit)), "")
    if name:
        return ended("contact-hidden", {"name": clean(name, SHORT)})
    elsewhere = await _elsewhere(visit)
    if elsewhere is not None:
        return elsewhere
    home = await visit.shown(visit.url)
    if not number:
        number, drawn_on = await _number(visit, home=True), home.url
    if number:
        return ended("contact-drawn", url=drawn_on, snippet=number)
    part = await _in_part(visit)
    if part is not None:
        return part
    if goes_on:
        return ended("unwalked", {"obstacle": "the homepage goes on as it is scrolled, and its end was not reached"})
    return ended("contact-absent")


async def _goes_on(visit: Visit) -> bool:
    """Open the homepage, and say whether it goes on as it is scrolled. Raises Closed, Stuck."""
    page = visit.page
    await visit.shown(visit.url)
    if await page.query("fits"):
        return False
    await visit.here(visit.url)
    glimpse = await page.query("glimpse")
    goes_on = await page.grows()
    page.intact = not goes_on and await page.is_as(glimpse, back=True)
    return goes_on


def contact_links(visit: Visit, home: Outline) -> list[Node]:
    """Return the links whose names promise a contact, the way there, or something about the site or its people.

    Each address once.
    """
    link_by_place: dict[str, Node] = {}
    for pattern in (CONTACT, WHERE, ABOUT, PEOPLE):
        for node in home.of("link"):
            leads = visit.same_site(node.url) and not _on_the_page(visit, node.url) and not acts(node.url)
            if leads and pattern.search(node.name) and not NEVER.search(node.name):
                link_by_place.setdefault(visit.place(node.url), node)
    return list(link_by_place.values())


def _on_the_page(visit: Visit, url: str) -> bool:
    """Say whether a link leads to a place of the homepage or to nothing; ``#/contact`` is a page of a script."""
    page, fragment = urldefrag(url)
    return not url.startswith("http") or (page == urldefrag(visit.home.url)[0] and not fragment.startswith(("/", "!")))


async def _way(visit: Visit, outline: Outline, *, by_name: bool, kinds: Container[str] = KINDS) -> str:
    """Return a way to get in touch that the page offers, in words; empty when there is none."""
    for kind, value in _ways(outline):
        if value and kind in kinds and not await _backwards(visit, outline, value):
            return f"{kind} {value}"
    fields = [node for node in outline.of("textbox") if node.name]
    if not by_name or len(fields) < 2:
        return ""
    for node in fields:
        if MAIL.search(node.name) or (await visit.page.ask(node, "control") or {}).get("type") == "email":
            return "A form with fields for an address and a message"
    return ""


def _ways(outline: Outline) -> Iterator[tuple[str, str]]:
    text = outline.text()
    links = [unquote(node.url) for node in outline.of("link") if node.name]
    yield ADDRESS, next((url[7:].partition("?")[0] for url in links if url.startswith("mailto:")), "")
    yield NUMBER, next((url[4:] for url in links if url.startswith("tel:")), "")
    yield NUMBER, next((match[1] for url in links if (match := _CHAT.match(url))), "")
    for kind, pattern in ((ADDRESS, EMAIL), (NUMBER, PHONE), (POSTAL_ADDRESS, POSTAL)):
        match = pattern.search(text)
        yield kind, match[0].strip() if match else ""
    declared = _CONTACT_POINT.search(outline.jsonld)
    yield DATA, declared[1] if declared else ""

"""What agents get beside what people get: praise and blame need a reference, through real scans of loopback sites."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import resources

import pytest

from aui_tui.checks.scoring import grade_card
from aui_tui.model.card import ReportCard
from aui_tui.model.observations import BROWSER, Observations
from aui_tui.model.verdicts import COMPARED
from aui_tui.model.vocabulary import SERVED
from aui_tui.report.gates import Gates, check
from aui_tui.scan import comparison
from aui_tui.scan.parser_process import ParserProcess
from aui_tui.scan.scan import observe
from tests.faults.site import AGENTS, Asked, Site, answer
from tests.scan.test_exchanges import OTHER_WORDS, for_agents, html, prose, serving

Pages = Callable[[Asked], bytes]
CHALLENGE = answer(b"<title>One moment</title>", "403 Forbidden", extra=b"cf-mitigated: challenge\r\n")
GATE = Gates.of(must_serve="chatgpt,claude", require_stance="Open")
ENGLISH = "We bake the bread that you want, and we bring it to you in the morning, with our own hands. "
GERMAN = "Wir backen das Brot, das Sie wollen, und wir bringen es Ihnen am Morgen mit unseren Händen nach Hause. "
FRENCH = "Nous faisons le pain que vous voulez, et nous le portons chez vous le matin avec nos propres mains. "


def whole(asked: Asked) -> bytes:
    return html(f"{ENGLISH} {prose(1)}", attributes=" lang=en")


def page(text: str, title: str = "Bakery", head: str = "", kind: str = "text/html") -> bytes:
    markup = f"<html><head><title>{title}</title>{head}</head><body>{text}</body></html>"
    return answer(markup.encode(), content_type=f"{kind}; charset=utf-8")


async def scanned(pages: Pages) -> tuple[Observations, ReportCard]:
    async with ParserProcess() as parser, Site(default=serving(pages)) as site:
        observed = await observe(site.target, parser=parser, access=site.access())
    return observed, grade_card(observed)


def gated(card: ReportCard, observed: Observations) -> int:
    return check(card, GATE, observations=observed).exit_code


def only(pages: Mapping[str, bytes]) -> Pages:
    """Return a site that answers with a page for each of its clients."""
    return lambda asked: pages[BROWSER if asked.place == BROWSER else "agents"]


UNPRAISED = {
    "words of a denial": page("<h1>Access denied</h1><p>You cannot see this shop."),
    "words of a denial in a landmark": page("<main><h1>Zugriff verweigert</h1><p>Bitte wenden Sie sich an uns.</main>"),
    "an empty page": answer(b""),
    "a line": page("<p>Hello", "Shop"),
    "a denial in a language that is not known": page("<h1>Pääsy estetty</h1><p>Et voi katsoa tätä sivua.", "Kauppa"),
    "a page of another kind": page(f"<p>{OTHER_WORDS[:90]}", "Something"),
}


@pytest.mark.parametrize("kind", UNPRAISED)
@pytest.mark.parametrize("browser", [CHALLENGE, answer(b"no", "403 Forbidden")], ids=["challenge", "refusal"])
async def test_without_a_page_that_people_get_nobody_is_praised(kind: str, browser: bytes) -> None:
    alone = {AGENTS[1]: UNPRAISED[kind]}
    for site in (lambda asked: alone.get(asked.place, browser), only({BROWSER: browser, "agents": UNPRAISED[kind]})):
        observed, card = await scanned(site)
        assert (observed.reference, card.live_served) == ("", 0)
        assert card.stance != "Open"
        challenged = any(probe.challenge is not None for probe in observed.live)
        assert gated(card, observed) == (1 if challenged else 3)


SCRIPT = "<script>window._cf_chl_opt={cvId:'3'}</script>"
SHIPPED = {
    "English": "<main><h1>Access denied</h1><p>You do not have access to this shop.</p></main>",
    "German": "<main><h1>Zugriff verweigert</h1><p>Ihre Anfrage wurde blockiert.</p></main>",
    "French in an article": "<article><h1>Accès refusé</h1><p>Votre demande a été bloquée.</p></article>",
    "Polish": "<nav><a href=/>Sklep</a></nav><main><h1>Odmowa dostępu</h1><p>Skontaktuj się z nami.</p></main>",
}


@pytest.mark.parametrize("language", SHIPPED)
async def test_a_wall_with_status_200_and_landmarks_is_a_wall(language: str) -> None:
    wait = page("<main><h1>bakery.example</h1><p>One more step before you proceed</p></main>", "Bakery", SCRIPT)
    observed, card = await scanned(only({BROWSER: wait, "agents": page(SHIPPED[language], "Bakery")}))
    assert (card.human_challenged, card.live_served, card.stance) == (True, 0, "Walled")
    assert gated(card, observed) == 3


GATES = {
    "consent": page("<main><h1>Cookies</h1><p>We and our partners use cookies. Do you agree?</p><button>Yes</button>"),
    "consent in German": page("<h1>Cookies</h1><p>Wir brauchen Ihre Einwilligung.</p><button>Annehmen</button>"),
    "consent in many words": page(
        "<main><h1>Before you go on</h1><p>We and our partners keep and read information on this device, for statistics"
        " and advertising. A choice may be changed at any time.</p><button>Accept all</button><button>Reject</button>",
        "Privacy",
    ),
    "age": page("<form><h1>Are you over 18?</h1><button>Yes, I am</button><button>No</button></form>", "Welcome"),
    "sign-in": page("<h1>Sign in</h1><form><input name=mail><input type=password><button>Go</button></form>"),
    "country": page("<h1>Choose your country</h1><a href=/de/>Deutschland</a><a href=/at/>Österreich</a>", "Bakery"),
    "waiting": page("<h1>Please wait</h1><p>You will be taken to the shop.</p><form></form>", "Bakery"),
}


@pytest.mark.parametrize("gate", GATES)
async def test_agents_that_get_more_than_a_browser_are_served(gate: str) -> None:
    observed, card = await scanned(for_agents(whole, lambda asked: GATES[gate]))
    assert (card.live_served, card.stance) == (4, "Open")
    assert observed.page.seen_by in AGENTS
    assert observed.page.readable > 1000
    assert gated(card, observed) == 0
    assert not any("as a browser does" in line.text for line in card.evidence)


def by_language(other: bytes) -> Pages:
    return lambda asked: whole(asked) if asked.field("accept-language") else other


def by_format(other: bytes) -> Pages:
    return lambda asked: whole(asked) if "text/html" in asked.field("accept") else other


FEED = f"<rss version='2.0'><channel><title>News</title><item><description><![CDATA[{OTHER_WORDS[:300]}]]>"
NEGOTIATED = {
    "the German page": by_language(page(f"<main><h1>Brot</h1><p>{GERMAN * 8}</main>", "Bäckerei")),
    "the French page that claims to be English": by_language(page(f"<main>{FRENCH * 9}</main>", "Boulangerie")),
    "the Japanese page": by_language(page(f"<main>{'毎朝焼きたてのパンをお届けします。' * 30}</main>", "パン")),
    "a chooser of two": by_language(page("<h1>Bakery</h1><a href=/en/>English</a> <a href=/de/>Deutsch</a>")),
    "a chooser by parameter": by_language(page("<a href='/?lang=nl'>NL</a><a href='/?lang=fr'>FR</a>", "Taal, langue")),
    "a chooser with buttons": by_language(
        page("<form><button name=l value=pt>Português</button><button name=l value=es>Español</button></form>")
    ),
    "a page for no language": by_language(page(f"<p>{OTHER_WORDS[:110]}", "Bakery")),
    "JSON": by_format(answer(b'{"shop": "Bakery", "open": ["8-18"], "goods": 312}', content_type="application/json")),
    "JSON-LD": by_format(answer(b'{"@type": "Store", "name": "A bakery"}', content_type="application/ld+json")),
    "a feed": by_format(answer(FEED.encode(), content_type="application/rss+xml")),
    "Markdown": by_format(answer(b"# Bakery\n\nBread and rolls every day.\n", content_type="text/markdown")),
}


@pytest.mark.parametrize("kind", NEGOTIATED)
async def test_another_page_by_accept_is_a_difference(kind: str) -> None:
    observed, card = await scanned(NEGOTIATED[kind])
    assert [probe.outcome for probe in observed.homepages] == [SERVED] * 5
    assert card.stance == "Open"
    assert any("instead of" in line.text or "version of the homepage" in line.text for line in card.evidence)
    assert observed.cause is None


UNREAD = {
    "Markdown: not found": ("text/markdown", b"# Not found\n\nThe page that you want is not here.\n"),
    "Markdown: front matter": ("text/markdown", b"---\ntitle: Bakery\nlayout: home\ndate: 2026-01-01\n---\n"),
    "JSON: not ok": ("application/json", b'{"ok":false}'),
    "JSON: an error": ("application/vnd.api+json", b'{"error": {"code": 7, "message": "no agent reads this today"}}'),
    "JSON: a problem": ("application/problem+json", b'{"title": "Something is odd here", "detail": "We cannot tell"}'),
    "JSON as HTML": ("text/html", b'{"success": false, "message": "Please come again at another time"}'),
    "JSON: a denial of Django's": ("application/json", b'{"detail":"You do not have permission to do this."}'),
    "the site's name": ("text/html", b"<html><title>Bakery</title><h1>Bakery</h1>"),
    "a feed of nothing": ("application/rss+xml", b"<rss version='2.0'><channel><title>Bakery</title></channel></rss>"),
    "text: maintenance": ("text/plain", b"Site under maintenance. Please come back later today."),
}


@pytest.mark.parametrize("kind", UNREAD)
async def test_a_format_does_not_acquit(kind: str) -> None:
    media, body = UNREAD[kind]
    observed, card = await scanned(for_agents(lambda asked: answer(body, content_type=media), whole))
    assert card.live_served == 0
    assert card.stance == "Walled"
    assert gated(card, observed) == 1


LITTLE = {
    "loading": page("<div class=spinner></div><p>Loading…</p><script src=/a.js></script>"),
    "a puzzle": page("<main><h1>Bakery</h1><p>Drag the piece into the picture to go on.</p><canvas></canvas></main>"),
    "a sign-in by mail": page("<h1>Bakery</h1><form>Your address<input type=email><button>Send me a link"),
    "the navigation alone": page(
        f"<nav>{''.join(f'<a href=/{n}>{word}</a> ' for n, word in enumerate(prose(1, 40).split()))}</nav><main></main>"
    ),
    "a sign-in as Markdown": answer(b"# Sign in\n\nTo go on, use your mail.\n", content_type="text/markdown"),
    "another page in another's words": page("<p>Wind und Wetter, Berge und Seen: alles für Ihre Wanderung.", "Bakery"),
}


@pytest.mark.parametrize("kind", LITTLE)
async def test_an_equal_title_does_not_acquit(kind: str) -> None:
    observed, card = await scanned(for_agents(lambda asked: LITTLE[kind], whole))
    assert card.live_served == 0
    assert gated(card, observed) != 0
    assert card.stance != "Open"
    accused = {reading.outcome for reading in observed.readings.values()} & {"refused", "challenged"}
    assert bool(accused) is (kind in ("loading", "the navigation alone")), "blame needs a sign"


async def test_a_difference_by_chance_is_no_refusal_and_no_praise_for_what_is_steady() -> None:
    sides = iter(range(10**6))
    _, card = await scanned(lambda asked: whole(asked) if next(sides) % 2 else LITTLE["a puzzle"])
    assert card.live_served == 4, [line.text for line in card.evidence]


def test_the_architecture_page_has_the_tables_of_the_comparison() -> None:
    text = resources.files("aui_tui.docs").joinpath("architecture.md").read_text(encoding="utf-8")

    def rows(head: str) -> list[list[str]]:
        lines = text.split(f"| {head} |", 1)[1].split("\n\n", 1)[0].splitlines()[2:]
        return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]

    assert {row[0]: row[-1] for row in rows("comparison")} == dict(COMPARED)
    assert [row[0] for row in rows("reference")] == [who for who, _ in comparison.REFERENCES]
    assert {row.outcome for row in comparison.ROWS} == set(COMPARED) - {"alone"}


async def test_two_agents_that_agree_are_the_reference_where_the_others_are_refused() -> None:
    pages = {name: html(prose(1)) for name in AGENTS[1:3]} | {AGENTS[3]: UNPRAISED["words of a denial"]}
    observed, card = await scanned(lambda asked: pages.get(asked.place, answer(b"no", "403 Forbidden")))
    assert observed.reference == AGENTS[1]
    assert [probe.outcome for probe in observed.live] == ["refused", SERVED, SERVED, "challenged"]
    assert observed.page.seen_by == AGENTS[1]
    assert not any("as a browser does" in line.text for line in card.evidence)


async def test_one_agent_that_alone_gets_a_page_proves_nothing() -> None:
    pages = {AGENTS[2]: html(prose(1))}
    observed, card = await scanned(lambda asked: pages.get(asked.place, CHALLENGE))
    assert observed.reference == ""
    assert (card.live_served, observed.exchange(AGENTS[2]).compared) == (0, "alone")
    assert check(card, Gates.of(must_serve="google"), observations=observed).exit_code != 0
    assert any("no page that people get" in line.text for line in card.evidence)

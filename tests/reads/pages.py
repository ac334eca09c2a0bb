"""Forty pages with planted facts: shops, news, documentation, shells, tables and hidden parts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

GOODS: Final = (
    ("Chart of the bay", "77.31", "EUR", "€ 77,31"),
    ("Brass lamp", "1249.00", "EUR", "1.249,00 €"),
    ("Oilskin coat", "189.90", "USD", "$189.90"),
    ("Rope, ten fathoms", "29.50", "GBP", "£29.50"),
    ("Ship's bell", "1299.00", "SEK", "1 299,00 kr"),
    ("Sextant", "540", "CHF", "CHF 540.00"),
    ("Logbook", "12.00", "USD", "$12"),
    ("Tide table", "7.95", "EUR", "7,95 EUR"),
)
SENTENCES: Final = (
    "We sell second-hand books by the quay, and everybody who walks along the harbour is welcome to look through them.",
    "The shop has stood here since 1987 and keeps about forty thousand volumes of travel, history, poetry and the sea.",
    "Orders that reach us before noon leave the house on the same day, wherever in the country they have to go.",
    "Whoever lives in the town may fetch them at the counter without any charge, and have a cup of tea as well.",
    "In winter the rooms are heated by an old stove, around which the neighbours meet to talk about the weather.",
    "Every book is described as it is: torn pages, notes in the margin and stains of coffee are all named in full.",
    "The catalogue is written by hand and copied here once a week, so that a book may be gone that is still listed.",
    "Letters are answered by a person, mostly on the day on which they arrive, and always by the end of the week.",
)


def _ld(data: dict[str, Any]) -> str:
    return f'<script type="application/ld+json">{json.dumps({"@context": "https://schema.org"} | data)}</script>'


def _offer(name: str, price: str, currency: str) -> dict[str, Any]:
    offer = {"@type": "Offer", "price": price, "priceCurrency": currency, "availability": "https://schema.org/InStock"}
    return {"@type": "Product", "name": name, "offers": offer}


def _page(main: str, head: str = "", more: str = "", title: str = "Harbour Books") -> str:
    nav = '<nav><ul><li><a href="/">Start</a></li><li><a href="/shop">Shop</a></li><li><a href="/visit">Visit</a></li></ul></nav>'
    foot = "<footer><p>Harbour Books, Quay Street 12, call +49 40 7654321 or write to shop@harbour.example</p></footer>"
    return f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>{head}</head><body>{nav}<main>{main}</main>{more}{foot}</body></html>'


def _prose(start: int, count: int = 5) -> str:
    return "".join(f"<p>{SENTENCES[(start + number) % len(SENTENCES)]}</p>" for number in range(count))


def _shops() -> Iterator[str]:
    for number, (name, price, currency, written) in enumerate(GOODS):
        data = _ld(_offer(name, price, currency))
        shown = (
            f"<p>The {name} costs {written} and is in stock.</p>"
            if number % 2
            else f"<p>The {name} is for sale here.</p>"
        )
        yield _page(f"<h1>{name}</h1>{_prose(number)}{shown}", data)
    for name, price, _, written in GOODS[:2]:
        marked = f'<div itemscope itemtype="https://schema.org/Product"><b itemprop="name">{name}</b> <meta itemprop="price" content="{price}">'
        yield _page(f"<h1>{name}</h1>{_prose(2)}{marked}<span>{written if price == '77.31' else 'Ask us'}</span></div>")


def _news() -> Iterator[str]:
    for number in range(6):
        day = f"2026-11-{10 + number}"
        data = _ld(
            {"@type": "NewsArticle", "headline": f"The harbour in week {number}", "datePublished": f"{day}T09:00:00Z"}
        )
        byline = (
            f'<p><time datetime="{day}">{10 + number} November 2026</time> by the editors</p>' if number % 2 else ""
        )
        yield _page(f"<article><h1>The harbour in week {number}</h1>{byline}{_prose(number, 7)}</article>", data)


def _documentation() -> Iterator[str]:
    for number in range(6):
        code = f"<pre><code>books --limit {number} --price 19.90</code></pre>"
        meta = f'<meta property="og:title" content="Manual, part {number}"><link rel="alternate" type="text/markdown" href="/{number}.md">'
        items = "".join(f"<li>{sentence}</li>" for sentence in SENTENCES[: 2 + number % 3])
        yield _page(
            f"<h1>Manual, part {number}</h1>{_prose(number)}<h2>Use</h2>{code}<ul>{items}</ul><p>It costs € {number + 3}.50 a month.</p>",
            meta,
        )


def _shells() -> Iterator[str]:
    for number in range(4):
        data = _ld(_offer(*GOODS[number][:3]))
        noscript = (
            f"<noscript><p>Please turn on scripts to order for {GOODS[number][3]}.</p></noscript>" if number % 2 else ""
        )
        yield f'<!doctype html><html lang="en"><head><title>App</title>{data}</head><body><div id="root"></div>{noscript}<script src="/a.js"></script></body></html>'


def _tables() -> Iterator[str]:
    for number in range(7):
        rows = "".join(
            f"<tr><td>{name}</td><td>{place + 1}.0</td><td>{written}</td></tr>"
            for place, (name, _, _, written) in enumerate(GOODS[: 2 + number % 4])
        )
        head = "<tr><th>Thing</th><th>Litres</th><th>Price</th></tr>"
        data = _ld(_offer(*GOODS[number][:3])) if number % 2 else ""
        yield _page(
            f"<h1>Prices, list {number}</h1>{_prose(number, 4)}<table>{head}{rows}</table>{_prose(number + 4, 3)}", data
        )


def _hidden() -> Iterator[str]:
    ways = (
        "<p hidden>{}</p>",
        '<p style="display:none">{}</p>',
        '<style>.away{{display:none}}</style><p class="away">{}</p>',
        "<dialog>{}</dialog>",
        '<img src="/x.png" alt="{}">',
        '<button aria-label="{}">+</button>',
        "<noscript><p>{}</p></noscript>",
    )
    for number, way in enumerate(ways):
        name, price, currency, written = GOODS[number]
        words = way.format(f"The {name} costs {written} today, and today alone, for everybody who asks at the counter.")
        yield _page(
            f"<h1>{name}</h1>{_prose(number)}{words}{_prose(number + 5, 2)}", _ld(_offer(name, price, currency))
        )


PAGES: Final = {
    f"{group}-{number}": html.encode()
    for group, pages in (
        ("shop", _shops()),
        ("news", _news()),
        ("documentation", _documentation()),
        ("shell", _shells()),
        ("table", _tables()),
        ("hidden", _hidden()),
    )
    for number, html in enumerate(pages)
}

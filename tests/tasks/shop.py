"""A small shop on loopback whose tasks have known answers, and faults that each break one of them.

Every fault is a word; a shop without faults is one on which an agent can do all six tasks. The shop keeps a log of what
it was asked: what an agent really did.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, urlsplit

from aui_tui.demo.shop import HTML, Request, Response, reply, template

STOCK: Final = (
    ("pier-lantern", "Pier lantern", "49.00"),
    ("storm-kettle", "Storm kettle", "38.50"),
    ("harbour-blanket", "Harbour blanket", "72.00"),
    ("tide-clock", "Tide clock", "120.00"),
)
"""Address, name and price in euros of what the shop sells."""

FAULTS: Final = {
    "challenge": "the homepage is a challenge page",
    "refused": "the homepage answers 403",
    "robots-all": "robots.txt closes everything",
    "cover": "a cover without a named button lies over the page",
    "cover-still": "the cover's button does nothing",
    "canvas": "the homepage is drawn on a canvas",
    "pictures": "the homepage consists of pictures without alt texts",
    "clickable": "items are <div onclick> instead of links",
    "covered-link": "a transparent layer lies over the items",
    "dead-link": "the items' links do nothing",
    "elsewhere": "the items' pages do not speak of the item",
    "external": "the main part links to other sites only",
    "robots-items": "robots.txt closes the items",
    "search-unnamed": "the search field has no name",
    "search-fake": "the search field is a <div contenteditable>",
    "search-mouse": "Enter does nothing and the button is a <div>",
    "search-drawn": "results are drawn on a canvas",
    "search-post": "the search form sends POST",
    "search-robots": "robots.txt closes the results",
    "no-search": "there is no search",
    "contact-picture": "the contact page shows a picture of the address",
    "contact-dead": "the contact link is a <span onclick>",
    "contact-robots": "robots.txt closes the contact page",
    "no-contact": "there is no contact",
    "form-unnamed": "a control of the form has no name",
    "form-custom": "a control of the form is a <div> without a role",
    "form-lost": "a control of the form forgets its value",
    "form-readonly": "a control of the form is read-only",
    "no-form": "there is no form",
    "price-picture": "the price is a picture",
    "add-dead": "the control to add is a <div onclick>",
    "add-disabled": "the control to add is disabled",
    "no-heading": "the item's page has no heading",
    "no-offer": "the items have no price and cannot be bought",
}
"""Every fault and what it does."""
TRAITS: Final = {
    "consent": "a consent dialog that can be rejected lies over the page",
    "scripted": "the items appear by script",
    "typing": "results appear while typing",
    "opener": "a button opens the search",
    "declared": "the search is declared as data only",
    "jump": "a search for an item leads straight to it",
    "new-tab": "items open in a new tab",
    "spying": "the form's page sends every key at once, and what was typed when it is left",
    "rich-form": "the form has native, masked and composed controls",
    "prefetch": "the page asks the browser to fetch closed pages early",
}
"""Other ways to be a healthy shop."""

LANTERN: Final = "A lantern, a kettle and a blanket for the quay. We make everything by hand in small numbers. "
PROSE: Final = LANTERN + "Nothing here needs the network once it has reached you, and all of it can be repaired."


@dataclass
class Shop:
    """One shop: its name, and the faults and traits it has. ``log`` is what it was asked, ``cart`` what was added."""

    name: str = "Quay Goods"
    faults: frozenset[str] = frozenset()
    log: list[Request] = field(default_factory=list)
    cart: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        unknown = self.faults - {*FAULTS, *TRAITS}
        if unknown:
            raise ValueError(f"unknown faults: {sorted(unknown)}")

    def has(self, *faults: str) -> bool:
        """Say whether the shop has one of ``faults``."""
        return bool(self.faults & set(faults))

    def answer(self, asked: Request) -> Response:
        """Return the answer to ``asked`` and note it in the log."""
        self.log.append(asked)
        path, query = asked.path, parse_qs(urlsplit(asked.target).query)
        if asked.method not in ("GET", "HEAD", "POST"):
            return reply(405, "text/plain", "no")
        pages: dict[str, Callable[[], Response]] = {
            "/": self._home,
            "/contact": self._contact,
            "/cart": lambda: self._added(asked),
            "/search": lambda: self._results((query.get("q") or [""])[0]),
        }
        if path == "/robots.txt":
            return reply(200, "text/plain", self._robots())
        if path == "/api/search":
            return reply(200, "application/json", json.dumps(self._matching((query.get("q") or [""])[0])))
        if path.endswith(".svg"):
            return reply(200, "image/svg+xml", '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="30"/>')
        if path in pages:
            return pages[path]()
        item = next((one for one in STOCK if path == f"/items/{one[0]}"), None)
        return self._item(item) if item else reply(404, HTML, self._page("Not found", "<h1>Not found</h1>"))

    def _robots(self) -> str:
        closed = {
            "robots-all": "/",
            "robots-items": "/items/",
            "search-robots": "/search",
            "contact-robots": "/contact",
        }
        rules = [f"Disallow: {path}" for fault, path in closed.items() if fault in self.faults]
        return "\n".join(["User-agent: *", *rules, "Disallow: /private/", ""])

    def _matching(self, query: str) -> list[dict[str, str]]:
        found = [one for one in STOCK if query and query.casefold() in one[1].casefold()]
        return [{"name": name, "url": f"/items/{slug}"} for slug, name, _ in found]

    def _page(self, title: str, main: str, *, extra: str = "", header: str = "") -> str:
        head = f"{title} – {self.name}" if title else self.name
        return (
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(head)}</title>'
            '<link rel="icon" href="data:,">'
            "<style>body{font:16px sans-serif;margin:1em 2em}.cover{position:fixed;inset:0;background:#fffd;z-index:9}"
            ".pointer{cursor:pointer}</style></head><body>"
            f"<header><a href='/'>{escape(self.name)}</a> {header}{self._nav()}</header>"
            f"<main>{main}</main><footer><p>{escape(self.name)}, made on the quay.</p></footer>{extra}</body></html>"
        )

    def _nav(self) -> str:
        dead = '<span class="pointer" onclick="location=\'/contact\'">Contact</span>'
        contact = dead if self.has("contact-dead") else '<a href="/contact">Contact</a>'
        return f"<nav>{'' if self.has('no-contact') else contact}</nav>"

    def _search_form(self) -> str:
        if self.has("no-search", "declared"):
            return ""
        field = '<input type="search" name="q" aria-label="Search the shop">'
        if self.has("search-fake"):
            return '<div class="search-field" contenteditable data-placeholder="Search the shop"></div>'
        if self.has("search-unnamed"):
            return '<form role="search" action="/search"><input type="search" name="q"><button>Go</button></form>'
        if self.has("search-post"):
            return f'<form role="search" action="/search" method="post">{field}<button>Search</button></form>'
        if self.has("search-mouse"):
            go = "location='/search?q='+document.querySelector('input').value"
            go = f'<div class="pointer" onclick="{go}">Go</div>'
            return f'<form role="search" onsubmit="return false">{field}{go}</form>'
        if self.has("typing"):
            return (
                f'<form role="search" onsubmit="return false">{field}</form><ul id="hits"></ul><script>'
                "document.querySelector('input').oninput=async e=>{const r=await fetch('/api/search?q='+"
                "encodeURIComponent(e.target.value));hits.innerHTML=(await r.json()).map(h=>"
                "`<li><a href='${h.url}'>${h.name}</a> in the shop</li>`).join('')}</script>"
            )
        form = f'<form role="search" action="/search">{field}<button>Search</button></form>'
        if self.has("opener"):
            return f'<button onclick="this.nextSibling.hidden=false">Search</button><div hidden>{form}</div>'
        return form

    def _home(self) -> Response:
        if self.has("challenge"):
            body = "<html><head><title>Just a moment...</title></head><body><div id='cf-challenge'>Checking</div>"
            return reply(
                403, HTML, f"{body}<script src='/cdn-cgi/challenge-platform/h/b/orchestrate'></script></body></html>"
            )
        if self.has("refused"):
            return reply(403, HTML, "<title>Forbidden</title><h1>Forbidden</h1>")
        if self.has("canvas"):
            return reply(200, HTML, "<!doctype html><title>Quay Goods</title><canvas width=900 height=600></canvas>")
        if self.has("pictures"):
            images = "".join(f'<img src="/{slug}.svg" width="90" height="30">' for slug, _, _ in STOCK)
            return reply(200, HTML, f"<!doctype html><title>Quay Goods</title>{images}")
        return reply(200, HTML, self._page("", self._items(), extra=self._cover(), header=self._search_form()))

    def _items(self) -> str:
        intro = f"<h1>Welcome to the quay</h1><p>{PROSE}</p>"
        if self.has("external"):
            return intro + '<ul><li><a href="https://elsewhere.example/a">Another harbour</a></li></ul>'
        rows = "".join(self._row(slug, name, price) for slug, name, price in STOCK)
        if self.has("scripted"):
            return f"{intro}<ul id='list'></ul><script>setTimeout(()=>list.innerHTML={json.dumps(rows)},300)</script>"
        layer = '<div style="position:absolute;inset:0"></div>' if self.has("covered-link") else ""
        return f'{intro}<div style="position:relative"><ul>{rows}</ul>{layer}</div>'

    def _row(self, slug: str, name: str, price: str) -> str:
        cost = "" if self.has("no-offer", "price-picture") else f" <span>{price}</span> <span>€</span>"
        if self.has("clickable"):
            return f"<li><div class='pointer' onclick=\"location='/items/{slug}'\">{name}</div>{cost}</li>"
        dead = ' onclick="return false"' if self.has("dead-link") else ""
        tab = ' target="_blank"' if self.has("new-tab") else ""
        return f'<li><a href="/items/{slug}"{dead}{tab}>{name}</a>{cost}</li>'

    def _cover(self) -> str:
        rules = {"prefetch": [{"source": "list", "urls": ["/private/early"], "eagerness": "immediate"}]}
        early = (
            f'<link rel="prefetch" href="/private/link"><link rel="prerender" href="/private/render">'
            f'<script type="speculationrules">{json.dumps(rules)}</script>'
            if self.has("prefetch")
            else ""
        )
        close = "onclick=\"document.querySelector('.cover').remove()\""
        if self.has("consent"):
            buttons = f"<button {close}>Accept all</button><button {close}>Reject all</button>"
            return f'{early}<div class="cover" role="dialog" aria-label="Cookies"><p>We use cookies.</p>{buttons}</div>'
        if self.has("cover"):
            return (
                f'{early}<div class="cover"><p>Subscribe to our letter!</p><div class="pointer" {close}>✗</div></div>'
            )
        if self.has("cover-still"):
            return f'{early}<div class="cover"><p>Subscribe to our letter!</p><button>Close</button></div>'
        data = {
            "@context": "https://schema.org",
            "@type": "WebSite",
            "potentialAction": {
                "@type": "SearchAction",
                "target": {"@type": "EntryPoint", "urlTemplate": "/search?q={search_term_string}"},
            },
        }
        declared = f'<script type="application/ld+json">{json.dumps(data)}</script>' if self.has("declared") else ""
        return early + declared

    def _results(self, query: str) -> Response:
        found = self._matching(query)
        if self.has("jump") and len(found) == 1:
            return reply(302, "text/plain", "", found[0]["url"])
        if self.has("search-drawn"):
            return reply(200, HTML, self._page("Search", "<h1>Search</h1><canvas width=400 height=300></canvas>"))
        rows = "".join(f"<li><a href='{hit['url']}'>{hit['name']}</a> in the shop</li>" for hit in found)
        main = f"<h1>Search for “{escape(query)}”</h1><p>{len(found)} found.</p><ol>{rows}</ol>"
        return reply(200, HTML, self._page("Search", main))

    def _item(self, item: tuple[str, str, str]) -> Response:
        slug, name, price = item
        if self.has("elsewhere"):
            return reply(200, HTML, self._page("", f"<h1>Welcome to the quay</h1><p>{PROSE}</p>"))
        if self.has("no-offer"):
            return reply(200, HTML, self._page(name, f"<h1>{name}</h1><p>Seen on the quay. {PROSE}</p>"))
        cost = (
            '<img src="/price.svg" width="90" height="30">' if self.has("price-picture") else f"<b>{price}</b> <b>€</b>"
        )
        head = f"<p><big>{name}</big></p>" if self.has("no-heading") else f"<h1>{name}</h1>"
        button = f"<button{' disabled' if self.has('add-disabled') else ''}>Add to cart</button>"
        add = f'<form action="/cart" method="post"><input type="hidden" name="item" value="{slug}">{button}</form>'
        if self.has("add-dead"):
            add = '<div class="pointer" onclick="document.querySelector(\'form\').submit()">Add to cart</div>'
        product = {"@context": "https://schema.org", "@type": "Product", "name": name}
        data = f'<script type="application/ld+json">{json.dumps(product)}</script>'
        return reply(200, HTML, self._page(name, f"{head}<p>{PROSE}</p><p>{cost}</p>{add}", extra=data))

    def _added(self, asked: Request) -> Response:
        if asked.method == "POST":
            self.cart += parse_qs(asked.body.decode()).get("item", [])
            return reply(303, "text/plain", "", "/cart")
        names = {slug: name for slug, name, _ in STOCK}
        rows = "".join(f"<li>{escape(names.get(slug, slug))}</li>" for slug in self.cart)
        return reply(200, HTML, self._page("Your cart", f"<h1>Your cart</h1><ul>{rows}</ul>"))

    def _contact(self) -> Response:
        if self.has("contact-picture"):
            said = '<img src="/address.svg" width="300" height="80">'
        else:
            said = '<p>Write to <a href="mailto:hello@quay.example">hello@quay.example</a>.</p>'
        form = "" if self.has("no-form", "contact-picture") else self._form()
        spy = Path(__file__).with_name("spy.html").read_text(encoding="utf-8") if self.has("spying") else ""
        return reply(200, HTML, self._page("Contact", f"<h1>Contact</h1>{said}{form}", extra=spy))

    def _form(self) -> str:
        lost = " oninput=\"setTimeout(()=>this.value='',50)\"" if self.has("form-lost") else ""
        order = f"<label>Order number <input name='order'{lost}></label>"
        if self.has("form-unnamed"):
            order = "<input name='order'>"
        elif self.has("form-readonly"):
            order = "<label>Order number <input name='order' readonly></label>"
        custom = '<div class="pick" tabindex="0" onclick="this.textContent=\'blue\'">colour</div>'
        parts = [
            "<label>Your name <input name='name'></label>",
            "<label>E-mail <input type='email' name='mail'></label>",
            order,
            "<label>Question <textarea name='text'></textarea></label>",
            custom if self.has("form-custom") else "",
            template("shop-form.html") if self.has("rich-form") else "",
            "<button>Send</button>",
        ]
        return f"<h2>Ask us</h2><form action='/enquiry' method='post'>{''.join(parts)}</form>"

"""A small shop whose tasks have known answers, whole or with some of FAULTS."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import Final, NamedTuple
from urllib.parse import parse_qs, urlsplit

from aui_tui.packaged import read_text

HTML: Final = "text/html"

STOCK: Final = {
    "pier-lantern": ("Pier lantern", "49.00"),
    "storm-kettle": ("Storm kettle", "38.50"),
    "harbour-blanket": ("Harbour blanket", "72.00"),
    "tide-clock": ("Tide clock", "120.00"),
}
"""Name and price in euros of what the shop sells, by address."""
FAULTS: Final = {
    "cover": "a cover without a named button lies over the page",
    "search-mouse": "Enter does nothing and the button is a <div>",
    "contact-picture": "the contact page shows a picture of the address, and no form",
    "form-unnamed": "a control of the form has no name",
    "price-picture": "the price is a picture",
    "add-dead": "the control to add is a <div onclick>",
    "consent": "no fault: a consent dialog that can be rejected lies over the page",
    "scripted": "no fault: the items appear by script",
    "rich-form": "no fault: the form has native, masked and composed controls",
}
"""What a shop can be like."""
PROSE: Final = (
    "A lantern, a kettle and a blanket for the quay. We make everything by hand in small numbers. "
    "Nothing here needs the network once it has reached you, and all of it can be repaired."
)


@cache
def template(name: str) -> str:
    """Return the text of a file in ``templates``."""
    return read_text(f"demo/templates/{name}")


class Request(NamedTuple):
    """One request."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def path(self) -> str:
        """The path without the query."""
        return self.target.partition("?")[0]


class Response(NamedTuple):
    """An answer before it is framed."""

    status: int
    headers: dict[str, str]
    body: bytes


def reply(status: int, kind: str, text: str, location: str = "") -> Response:
    """Return an answer of a shop."""
    headers = {"content-type": f"{kind}; charset=utf-8"}
    return Response(status, headers | ({"location": location} if location else {}), text.encode())


@dataclass(frozen=True)
class Shop:
    """One shop."""

    name: str
    faults: frozenset[str]

    def answer(self, request: Request) -> Response:
        """Return the answer to ``request``."""
        if request.method not in ("GET", "HEAD"):
            return reply(303, "text/plain", "", "/cart")
        if request.path == "/robots.txt":
            return reply(200, "text/plain", "User-agent: *\nDisallow: /private/\n")
        if request.path.endswith(".svg"):
            return reply(200, "image/svg+xml", '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="30"/>')
        folder, _, slug = request.path.rpartition("/")
        if request.path == "/":
            return self._home()
        if request.path == "/search":
            return self._results(parse_qs(urlsplit(request.target).query).get("q", [""])[0])
        if request.path == "/contact":
            return self._contact()
        if request.path == "/cart":
            return self._page("Your cart", "<h1>Your cart</h1>")
        if folder == "/items" and slug in STOCK:
            return self._item(*STOCK[slug])
        return self._page("Not found", "<h1>Not found</h1>", status=404)

    def _page(self, title: str, main: str, *, header: str = "", over: str = "", status: int = 200) -> Response:
        name = escape(self.name)
        text = (
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)} – {name}</title>'
            '<link rel="icon" href="data:,">'
            "<style>body{font:16px sans-serif;margin:1em 2em}.cover{position:fixed;inset:0;background:#fffd;z-index:9}"
            ".pointer{cursor:pointer}</style></head><body>"
            f"<header><a href='/'>{name}</a> {header}<nav><a href=\"/contact\">Contact</a></nav></header>"
            f"<main>{main}</main><footer><p>{name}, made on the quay.</p></footer>{over}</body></html>"
        )
        return reply(status, HTML, text)

    def _home(self) -> Response:
        rows = "".join(
            f'<li><a href="/items/{slug}">{name}</a>'
            f"{'' if 'price-picture' in self.faults else f' <span>{price}</span> <span>€</span>'}</li>"
            for slug, (name, price) in STOCK.items()
        )
        items = f"<ul>{rows}</ul>"
        if "scripted" in self.faults:
            items = f"<ul id='list'></ul><script>setTimeout(()=>list.innerHTML={json.dumps(rows)},300)</script>"
        main = f"<h1>Welcome to the quay</h1><p>{PROSE}</p>{items}"
        return self._page("Welcome", main, header=self._search(), over=self._cover())

    def _search(self) -> str:
        field = '<input type="search" name="q" aria-label="Search the shop">'
        if "search-mouse" not in self.faults:
            return f'<form role="search" action="/search">{field}<button>Search</button></form>'
        go = "location='/search?q='+document.querySelector('input').value"
        button = f'<div class="pointer" onclick="{go}">Go</div>'
        return f'<form role="search" onsubmit="return false">{field}{button}</form>'

    def _cover(self) -> str:
        close = "onclick=\"document.querySelector('.cover').remove()\""
        if "consent" in self.faults:
            buttons = f"<button {close}>Accept all</button><button {close}>Reject all</button>"
            return f'<div class="cover" role="dialog" aria-label="Cookies"><p>We use cookies.</p>{buttons}</div>'
        if "cover" in self.faults:
            return f'<div class="cover"><p>Subscribe to our letter!</p><div class="pointer" {close}>✗</div></div>'
        return ""

    def _results(self, query: str) -> Response:
        items = [(slug, name) for slug, (name, _) in STOCK.items() if query and query.casefold() in name.casefold()]
        rows = "".join(f"<li><a href='/items/{slug}'>{name}</a> in the shop</li>" for slug, name in items)
        main = f"<h1>Search for “{escape(query)}”</h1><p>{len(items)} found.</p><ol>{rows}</ol>"
        return self._page("Search", main)

    def _item(self, name: str, price: str) -> Response:
        cost = f"<b>{price}</b> <b>€</b>"
        if "price-picture" in self.faults:
            cost = '<img src="/price.svg" width="90" height="30">'
        add = '<form action="/cart" method="post"><button>Add to cart</button></form>'
        if "add-dead" in self.faults:
            add = '<div class="pointer" onclick="document.forms[0].submit()">Add to cart</div>'
        product = json.dumps({"@context": "https://schema.org", "@type": "Product", "name": name})
        data = f'<script type="application/ld+json">{product}</script>'
        return self._page(name, f"<h1>{name}</h1><p>{PROSE}</p><p>{cost}</p>{add}", over=data)

    def _contact(self) -> Response:
        if "contact-picture" in self.faults:
            return self._page("Contact", '<h1>Contact</h1><img src="/address.svg" width="300" height="80">')
        order = "<label>Order number <input name='order'></label>"
        if "form-unnamed" in self.faults:
            order = "<input name='order'>"
        form = (
            "<h2>Ask us</h2><form action='/enquiry' method='post'><label>Your name <input name='name'></label>"
            f"<label>E-mail <input type='email' name='mail'></label>{order}"
            "<label>Question <textarea name='text'></textarea></label>"
            f"{template('shop-form.html') if 'rich-form' in self.faults else ''}<button>Send</button></form>"
        )
        mail = '<p>Write to <a href="mailto:hello@quay.example">hello@quay.example</a>.</p>'
        return self._page("Contact", f"<h1>Contact</h1>{mail}{form}")

# ruff: noqa: E501 -- scripts of pages read best on one line
"""Sites that sell, subscribe or delete at the slightest press, in ten languages: without ``--act`` nothing is written.

The server's own log is the truth: every request that is not GET or HEAD, every frame of a WebSocket, and every address
that acts when it is asked for.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest
import trustme

from aui_tui.model.tasks import TASKS
from aui_tui.scan.policy import ConnectTo, ScanPolicy
from aui_tui.tasks.browser import Browser
from aui_tui.tasks.proxy import Allowance
from aui_tui.tasks.run import TaskRunning, run_tasks
from tests.tasks.pages import PROSE, Page, html, open_socket, send
from tests.tasks.running import HOST, others_slow, seen_at

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(300)]

LIMITS: Final = Allowance(host=90.0, task=25.0, settle=5.0)
EVERY: Final = tuple(task.key for task in TASKS)
SEND: Final = (
    "<script>function send(to,what){what=what||'x';fetch(to,{method:'POST',body:what,keepalive:true}).catch(()=>0);"
    "navigator.sendBeacon(to,what);const r=new XMLHttpRequest();r.open('PUT',to);r.send(what)}</script>"
)
SAFE: Final = ("GET", "HEAD")


@dataclass
class Trap:
    """A site: its homepage, its other pages, and the beginnings of the addresses that act by GET."""

    home: str
    pages: dict[str, Page] = field(default_factory=dict)
    acts: tuple[str, ...] = ()
    tasks: Sequence[str] = EVERY
    title: str = "Lanterns"


@dataclass
class Shop:
    """Serves a trap; ``writes`` are what must not happen, ``frames`` the bytes of WebSockets."""

    trap: Trap
    asked: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    frames: int = 0
    secure: bool = False

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, EOFError, asyncio.LimitOverrunError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            method, target, _ = head.split("\r\n")[0].split(" ")
            self.asked.append(f"{method} {target}")
            if "\r\nSec-WebSocket-Key: " in head:
                open_socket(writer, head)
                while data := await reader.read(1 << 20):
                    self.frames += len(data)
            else:
                if method not in SAFE or target.startswith(self.trap.acts or ("\0",)):
                    self.writes.append(f"{method} {target}")
                status, headers, body = self._page(target.partition("?")[0])
                if self.secure:
                    body = body.replace(b"ws://", b"wss://").replace(b"http://", b"https://")
                await send(writer, (status, headers, body))
        writer.close()

    def _page(self, path: str) -> Page:
        if path == "/":
            return html(SEND + self.trap.home, self.trap.title)
        if path in self.trap.pages:
            return self.trap.pages[path]
        name = path.strip("/").replace("/", " ").replace("-", " ").title()
        return html(f"{SEND}<main><h1>{name}</h1><p>{PROSE * 3}</p></main>", name)


@asynccontextmanager
async def opened(trap: Trap, authority: Path | None = None) -> AsyncIterator[tuple[Shop, ScanPolicy]]:
    """Serve ``trap`` and yield what reaches it; over TLS with a certificate of its own, kept at ``authority``."""
    shop, context, port = Shop(trap), None, 80
    if authority is not None:
        made, context, port = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), 443
        made.issue_cert(HOST).configure_cert(context)
        made.cert_pem.write_to_path(authority)
        shop.secure = True
    server = await asyncio.start_server(shop.answer, "127.0.0.1", 0, ssl=context)
    rule = ConnectTo.parse(f"{HOST}:{port}:127.0.0.1:{server.sockets[0].getsockname()[1]}")
    try:
        yield shop, ScanPolicy(connect_to=(rule,), cafile=str(authority) if authority is not None else "")
    finally:
        server.close()


def text(heading: str) -> str:
    return f"<h1>{heading}</h1><p>{PROSE * 3}</p>"


def listed(*links: str, heading: str = "Lanterns by the water") -> str:
    return f"<main>{text(heading)}<ul>{''.join(f'<li>{link}' for link in links)}</ul></main>"


def dialog(said: str, *buttons: str, name: str = "Dialog") -> str:
    """A dialog over the whole page."""
    return (
        f'<div role=dialog aria-modal=true aria-label="{name}" style="position:fixed;inset:0;background:#fff;z-index:9">'
        f"<p>{said}</p>{''.join(buttons)}</div>"
    )


def button(name: str, to: str) -> str:
    return f"<button onclick=\"send('{to}');this.parentNode.remove()\">{name}</button>"


def queued(key: str) -> str:
    """A script that sends later, from storage or a cookie, what could not be sent."""
    return (
        "<script>const kept=localStorage.kept||document.cookie.split('kept=')[1];if(kept)send('/" + key + "',kept);"
        "function keep(what){localStorage.kept=what;document.cookie='kept='+what+';path=/'}"
        "addEventListener('input',e=>keep(e.target.value))</script>"
    )


ITEMS: Final = listed(*(f'<a href="/items/{n}">Harbour lantern {n}</a>' for n in ("one", "two", "three")))
FRENCH: Final = ("panier/ajouter?id=", "panier/supprimer/", "compte/deconnexion?n=", "abonnement/resilier?id=")
SPANISH: Final = ("carrito/agregar?id=", "carrito/eliminar/", "pedido/comprar?id=", "boletin/darse-de-baja?id=")

TRAPS: Final = {
    "links without an address order": Trap(
        listed(*(f"<a href=# onclick=\"send('/order');return false\">Harbour lantern {n}</a>" for n in (1, 2)))
    ),
    "links of a script pay, in German": Trap(
        listed(*(f"<a href=\"javascript:send('/pay')\">Blaue Hafenlampe {n}</a>" for n in (1, 2))), title="Laden"
    ),
    "links without any address buy": Trap(
        listed(*(f"<a role=link tabindex=0 onclick=\"send('/buy')\">Storm kettle {n}</a>" for n in (1, 2)))
    ),
    "a newsletter that any yes subscribes to, in French": Trap(
        ITEMS
        + dialog(
            "Notre lettre chaque semaine", button("Oui, abonnez-moi", "/newsletter"), button("Accepter", "/newsletter")
        ),
        tasks=("read", "follow"),
    ),
    "a button of contact that asks for a call, in Spanish": Trap(
        f"<nav><button onclick=\"send('/callback')\">Contacto</button></nav>{ITEMS}", tasks=("read", "contact")
    ),
    "a menu that orders, in Italian": Trap(
        f"<header><button onclick=\"send('/menu-order')\">Menù</button></header>{ITEMS}",
        tasks=("read", "contact", "search"),
    ),
    "a press on an item buys, in Portuguese": Trap(
        listed(
            *(
                f"<a href=/itens/{n} onclick=\"send('/buy1click');return false\">Lanterna do porto {n}</a>"
                for n in (1, 2)
            )
        )
    ),
    "addresses that add, in Dutch": Trap(
        listed(
            *(
                f'<a href="/{to}{n}">Havenlamp nummer {n}</a>'
                for n, to in enumerate(
                    ("cart/add?id=", "winkelwagen/toevoegen/", "bestel?product=", "?actie=kopen&id=")
                )
            ),
            heading="Winkel",
        ),
        acts=("/cart/add", "/winkelwagen", "/bestel", "/?actie"),
    ),
    "addresses that add and delete, in French": Trap(
        listed(*(f'<a href="/{to}{n}">Lampe du port {n}</a>' for n, to in enumerate(FRENCH))),
        acts=("/panier", "/compte", "/abonnement"),
    ),
    "addresses that add and delete, in Spanish": Trap(
        listed(*(f'<a href="/{to}{n}">Farol del puerto {n}</a>' for n, to in enumerate(SPANISH))),
        acts=("/carrito", "/pedido", "/boletin"),
    ),
    "addresses that act, in Polish and Russian": Trap(
        listed(
            *(
                f'<a href="/{to}{n}">Latarnia {n} фонарь</a>'
                for n, to in enumerate(
                    ("koszyk/dodaj/", "konto/usun?id=", "korzina/dobavit/", "заказ/купить?id=", "newsletter/wypisz?id=")
                )
            ),
        ),
        acts=("/koszyk", "/konto", "/korzina", "/%D0%B7", "/newsletter"),
    ),
    "addresses that act, in Japanese and Chinese": Trap(
        listed(
            *(
                f'<a href="/{to}{n}">港のランタン{n}号</a>'
                for n, to in enumerate(
                    ("カート/追加/", "注文?id=", "会员/退出?n=", "购物车/删除/", "shop/addToCart?id=")
                )
            )
        ),
        acts=("/%E", "/shop"),
    ),
    "parameters that act": Trap(
        listed(
            *(
                f'<a href="/{to}{n}">Storm kettle {n}</a>'
                for n, to in enumerate(
                    ("?add-to-cart=", "account?do=logout&n=", "list?cmd=delete&id=", "mail?unsubscribe=")
                )
            )
        ),
        acts=("/?add", "/account", "/list", "/mail"),
    ),
    "a page that leads on to the cart": Trap(
        ITEMS,
        pages={f"/items/{n}": (302, {"location": f"/cart/add?item={n}"}, b"") for n in ("one", "two", "three")},
        acts=("/cart",),
    ),
    "pages to order on that lead on to an order, and forms on them": Trap(
        listed(
            "<a href=/commande>Commande de lampes</a>",
            "<a href=/bestellungen>Bestellungen im Winter</a>",
            "<a href=/order-form onclick=\"location='/order/confirm';send('/order');return false\">Order form of lanterns</a>",
        ),
        pages={
            "/commande": (302, {"location": "/commande/valider?id=1"}, b""),
            "/bestellungen": html(
                f"{SEND}<main>{text('Bestellungen')}<p>49 €</p><form action=/bestellen/los onchange=\"send('/bestellt')\">"
                "<label>Name <input name=n></label><label>Lampen <textarea name=l></textarea></label>"
                "<button>Jetzt bestellen</button></form></main>",
                "Bestellungen",
            ),
        },
        acts=("/commande/", "/bestellen", "/order/"),
    ),
    "a dialog that only pays": Trap(
        ITEMS + dialog("Your order is ready", button("Confirm and pay", "/pay"), button("Continue", "/pay")),
        tasks=("read", "follow"),
    ),
    "a dialog that only subscribes": Trap(
        ITEMS
        + dialog(
            "News by mail?",
            button("Yes, subscribe me", "/newsletter"),
            button("Save", "/newsletter"),
            button("OK", "/newsletter"),
        ),
        tasks=("read", "follow"),
    ),
    "a dialog that pays to close, in Russian": Trap(
        ITEMS + dialog("Ваш заказ", button("Подтвердить и оплатить", "/pay"), button("Принять", "/pay")),
        tasks=("read", "follow"),
    ),
    "a consent that is sent": Trap(
        ITEMS
        + dialog("We use cookies. Privacy first.", button("Reject all", "/consent"), button("Accept", "/consent")),
        tasks=("read", "follow"),
    ),
    "what was typed is sent later": Trap(
        f"{queued('abandoned')}{ITEMS}<form><label>Name <input name=n></label><label>Mail <input type=email></label>"
        "<label>Text <textarea></textarea></label></form>",
        pages={
            "/items/one": html(
                f"{SEND}{queued('abandoned')}<main>{text('Harbour lantern one')}</main>", "Harbour lantern one"
            )
        },
    ),
    "a form that sends every key and by timers": Trap(
        f"{ITEMS}<form><label>Name <input oninput=\"send('/key',this.value);setInterval(()=>send('/timer'),50)\"></label>"
        "<label>Mail <input type=email onblur=\"send('/mail',this.value)\"></label></form>"
        "<script>for(const kind of ['pagehide','beforeunload','unload'])addEventListener(kind,()=>send('/left'));"
        "document.addEventListener('visibilitychange',()=>send('/hidden'))</script>",
        tasks=("read", "form", "follow"),
    ),
    "a search that subscribes": Trap(
        f"<form role=search onsubmit=\"send('/subscribe');return false\"><input type=search aria-label=Search>"
        f"<button>Search</button></form>{ITEMS}",
        tasks=("read", "search"),
    ),
    "a search by script that leaves a word behind": Trap(
        f"<form role=search action=/found><input type=search name=q aria-label=検索 onkeydown=\"send('/spy')\"></form>{ITEMS}"
        "<script>addEventListener('pagehide',()=>send('/left'))</script>",
        tasks=("read", "search"),
        title="港の店",
    ),
    "an opener of the search that deletes": Trap(
        f"<button onclick=\"send('/delete')\">Search</button>{ITEMS}", tasks=("read", "search")
    ),
    "a choice before the search that orders": Trap(
        "<form role=search action=/found><select aria-label=Shop onchange=\"send('/order');new Image().src='/cart/add?id=1';"
        'q.disabled=false"><option>All<option>Lamps</select><input type=search id=q name=q aria-label=Search disabled></form>'
        f"{ITEMS}",
        acts=("/cart",),
        tasks=("read", "search"),
    ),
    "keys of a search on the screen that order": Trap(
        f"<form action=/found><input id=q name=q readonly aria-label=Search></form><p id=k></p>{ITEMS}<script>"
        "for(const c of 'abcdefghijklmnopqrstuvwxyz'){const b=document.createElement('button');b.textContent=c;"
        "b.onclick=()=>{q.value+=c;send('/order')};k.append(b)}</script>",
        tasks=("read", "search"),
    ),
    "a form of one field that subscribes by GET": Trap(
        f"<form action=/newsletter/subscribe><input name=n aria-label=Name><button>Yes</button></form>{ITEMS}",
        acts=("/newsletter",),
        tasks=("read", "search"),
    ),
    "a press that a worker and a socket pass on": Trap(
        "<button onclick=go()>Menu</button>"
        + ITEMS
        + "<script>const live=new WebSocket('ws://'+location.host+'/live');"
        "const w=new Worker(URL.createObjectURL(new Blob([`const s=new WebSocket('ws://${location.host}/work');"
        "onmessage=()=>{s.readyState==1&&s.send('order');fetch('http://${location.host}/work',{method:'POST',body:'x'})}`])));"
        "function go(){live.send('order');w.postMessage(1);setInterval(()=>{w.postMessage(1);live.readyState==1&&live.send('x')},30);"
        "new WebSocket('ws://'+location.host+'/new').onopen=e=>e.target.send('order');try{new SharedWorker('/shared.js')}catch{}"
        "try{fetchLater('/later',{method:'POST',activateAfter:0})}catch{}}</script>",
        pages={
            "/shared.js": (
                200,
                {"content-type": "text/javascript"},
                b"onconnect=0;fetch('/shared',{method:'POST',body:'x'})",
            )
        },
        tasks=("read", "contact"),
    ),
    "a picture of an address that acts": Trap(
        "<button onclick=\"new Image().src='/cart/add?id=1';fetch('/order?id=1');location='/checkout/pay?id=1'\">Menu</button>"
        + ITEMS,
        acts=("/cart", "/order", "/checkout"),
        tasks=("read", "contact", "search"),
    ),
    "a press that opens a form and sends it": Trap(
        f"<form id=f method=post action=/order><input type=hidden name=n></form><form id=g action=/order></form>{ITEMS}"
        "<nav><button onclick='f.submit()'>Menu</button><button onclick='g.submit()'>Contact</button></nav>",
        acts=("/order",),
        tasks=("read", "contact", "search"),
    ),
    "a page that sends as it is scrolled": Trap(
        f"{ITEMS}<div style='height:5000px'></div><script>addEventListener('scroll',()=>send('/scrolled'))</script>",
        tasks=("read", "contact"),
    ),
    "a followed page with a dialog that sends": Trap(
        ITEMS,
        pages={
            f"/items/{n}": html(
                f"{SEND}<main>{text(f'Harbour lantern {n}')}<a href=/more>More of it</a></main>"
                + dialog("We use cookies.", button("Reject all", "/consent"), button("Close", "/pay")),
                f"Harbour lantern {n}",
            )
            for n in ("one", "two", "three")
        },
        tasks=("read", "follow", "offer", "form"),
    ),
    "a button of contact that opens a form and sends": Trap(
        "<nav><button aria-expanded=false onclick=\"send('/callback');f.hidden=false\">Contact</button></nav>"
        "<form id=f hidden><label>Mail <input type=email oninput=\"send('/key',this.value)\"></label>"
        f"<label>Text <textarea onfocus=\"send('/focus')\"></textarea></label><button>Send</button></form>{ITEMS}",
        tasks=("read", "contact", "form"),
    ),
    "icons and a head without roles that order under a mouse": Trap(
        "<div id=h onmouseenter=\"send('/order')\"><i class=search-icon onclick=\"send('/buy');f.hidden=false\" "
        "style='display:inline-block;width:20px;height:20px'></i></div>"
        f"<form id=f hidden action=/find><input type=search name=q aria-label=Search></form>{ITEMS}",
        tasks=("read", "follow", "search"),
    ),
    "a text of contact that calls, in German": Trap(
        f"<nav><a href=/kontakt>Kontakt</a></nav>{ITEMS}",
        {
            "/kontakt": html(
                f"{SEND}<main><h1>Kontakt</h1><p>{PROSE}</p><p><span id=s>Nummer anzeigen</span></p><ul><li>Rufen Sie"
                " an</ul></main><script>onclick=e=>send('/call',e.target.id);onmouseover=()=>send('/near');"
                "s.onclick=()=>{location='/call?now=1'}</script>"
            )
        },
        acts=("/call",),
        tasks=("read", "follow", "contact"),
    ),
    "boxes of a form that send what is chosen": Trap(
        f"{ITEMS}<main><form onsubmit='return false'><label>Name <input></label><label>Mail <input type=email></label>"
        "<div class=o>Small</div><div class=o>Large</div><button>Send</button></form></main>"
        "<script>onclick=e=>{e.target.className+=' on';send('/chosen')}</script>",
        tasks=("read", "follow", "form"),
    ),
    "a colour that orders, and a button under a mouse": Trap(
        ITEMS,
        {
            f"/items/{n}": html(
                f"{SEND}<main><h1>Harbour lantern {n}</h1><p>49.00 €</p><fieldset onchange=\"send('/order')\"><label>"
                "<input type=radio name=c>Red</label><label><input type=radio name=c>Blue</label></fieldset>"
                "<button disabled>Add to cart</button><div onmouseenter=\"send('/hover')\"><p>Nice</p>"
                "<button style=visibility:hidden>Buy</button></div></main>"
            )
            for n in ("one", "two", "three")
        },
        tasks=("read", "follow", "offer"),
    ),
    "rows that delete at an address": Trap(
        f"<main><h1>Lanterns by the water</h1><p>{PROSE * 3}</p><ul>"
        + "".join(f"<li data-to=/delete/{n}>Harbour lantern {n}</li>" for n in ("one", "two", "three"))
        + "</ul></main><script>onclick=e=>{const r=e.target.closest('[data-to]');if(r){send('/gone');"
        "location=r.dataset.to}}</script>",
        acts=("/delete",),
        tasks=("read", "follow"),
    ),
}
QUICK: Final = ("links without an address order", "what was typed is sent later", "a dialog that only pays")


async def tried(
    browser: Browser, trap: Trap, limits: Allowance = LIMITS, authority: Path | None = None
) -> tuple[TaskRunning, Shop]:
    scheme = "http" if authority is None else "https"
    async with opened(trap, authority) as (shop, access):
        seen = seen_at(f"{scheme}://{HOST}")
        ran = await run_tasks(seen, browser, access=access, allowance=limits, tasks=trap.tasks)
        await asyncio.sleep(0.3)
    return ran, shop


def check_nothing_written(ran: TaskRunning, shop: Shop, name: str) -> None:
    assert not shop.writes
    assert shop.frames <= 100, "closing a socket is a frame of a few bytes"
    assert {result.task for result in ran.report.results} == set(shop.trap.tasks)
    blamed = [(result.task, result.note) for result in ran.report.results if result.outcome == "blocked"]
    assert not [told for told in blamed if told[0] == "read" and "dialog" not in name]


@pytest.mark.parametrize("name", others_slow(TRAPS, QUICK))
async def test_nothing_is_written(browser: Browser, name: str) -> None:
    check_nothing_written(*await tried(browser, TRAPS[name]), name)


@pytest.mark.parametrize("name", others_slow(TRAPS, QUICK[:1]))
async def test_nothing_is_written_over_tls(browser: Browser, name: str, tmp_path: Path) -> None:
    """The proxy sees no address and no method of a tunnel there: what it lets through the interception has seen."""
    slow = Allowance(host=120.0, task=30.0, settle=10.0)
    ran, shop = await tried(browser, TRAPS[name], slow, authority=tmp_path / "ca.pem")
    assert len(shop.asked) > 1, [(result.task, result.note) for result in ran.report.results]
    check_nothing_written(ran, shop, name)


FLOOD: Final = (
    "<script>const s=new WebSocket('ws://'+location.host+'/live'),big='x'.repeat(1e6);"
    "s.onopen=()=>setInterval(()=>{for(let i=0;i<5;i++)s.send(big)},20);"
    "const w=new Worker(URL.createObjectURL(new Blob([`const s=new WebSocket('ws://${location.host}/work'),"
    "big='x'.repeat(1e6);s.onopen=()=>setInterval(()=>{for(let i=0;i<5;i++)s.send(big)},20)`])))</script>"
)


@pytest.mark.slow
async def test_sockets_that_send_without_end_send_a_bounded_number_of_bytes(browser: Browser) -> None:
    ran, shop = await tried(browser, Trap(ITEMS + FLOOD, tasks=("read", "search")))
    assert shop.frames < 2 * LIMITS.sent
    assert "blocked" not in {result.outcome for result in ran.report.results}
    assert {result.task for result in ran.report.results} == {"read", "search"}


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0, 5])
async def test_addresses_that_change_without_end_leave_a_result_within_the_limits(browser: Browser, delay: int) -> None:
    push = f"<script>setInterval(()=>{{for(let i=0;i<20;i++)history.pushState({{}},'','?'+Math.random())}},{delay})</script>"
    limits = Allowance(host=40.0, task=12.0, settle=4.0)
    begin = time.monotonic()
    ran, _ = await tried(browser, Trap(ITEMS + push), limits)
    assert {result.task for result in ran.report.results} == set(EVERY)
    assert time.monotonic() - begin < 2 * limits.host


async def test_own_fields_reach_the_scanned_origin_alone_and_no_record(browser: Browser) -> None:
    """Also where the page shows them, with the password, in its text, title, names and addresses."""
    heads: list[str] = []
    shown = "sesame-open wonderland-7 YWRhOndvbmRlcmxhbmQtNw=="
    home = html(
        f"<main><h1>{shown}</h1><p>{PROSE * 4}</p><ul><li><a href='/room/sesame-open'>Room {shown}</a></ul>"
        f"<div style='width:9999px'><form><label>{shown}<input readonly></label><label>B <input></label></form></div>"
        "<iframe src='http://other.demo.test/frame'></iframe><img src=/moved></main>",
        shown,
    )

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        heads.append(head)
        moved = (302, {"location": "http://other.demo.test/landed"}, b"")
        others = {"/robots.txt": (404, {}, b""), "/moved": moved}
        await send(writer, others.get(head.split(" ")[1], home))
        writer.close()

    server = await asyncio.start_server(listen, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    rules = tuple(ConnectTo.parse(f"{host}:80:127.0.0.1:{port}") for host in (HOST, "other.demo.test"))
    access = ScanPolicy(connect_to=rules, basic_auth=("ada", "wonderland-7"), headers=(("X-Key", "sesame-open"),))
    events: list[object] = []
    ran = await run_tasks(
        seen_at(f"http://{HOST}"), browser, access=access, allowance=LIMITS, tell=events.append, tasks=("read", "form")
    )
    server.close()
    others = [head for head in heads if "host: other.demo.test" in head.casefold()]
    assert {"/robots.txt", "/frame", "/landed"} <= {head.split(" ")[1] for head in others}
    assert not [head for head in others if "sesame" in head or "authorization" in head.casefold()]
    own = [head for head in heads if head not in others and not head.startswith("GET /robots.txt")]
    assert own
    assert all("sesame-open" in head and "Basic " in head for head in own)
    for secret in ("sesame-open", "wonderland-7", "YWRhOndvbmRlcmxhbmQtNw"):
        assert secret not in repr((ran.report, ran.rendered, events))

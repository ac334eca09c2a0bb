# ruff: noqa: E501 -- scripts of pages read best on one line
"""Sites built in ways of their own: each verdict is true, and where a person might well get through it is not blocked.

Every case names the tasks that it is about, and what an agent or a person with a keyboard and a screen reader can do.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import pytest

from aui_tui.tasks.browser import Browser
from aui_tui.tasks.proxy import Allowance
from aui_tui.tasks.run import TaskRunning, run_tasks
from tests.tasks.pages import PROSE, Answer, Page, Site, hosted, html
from tests.tasks.running import HOST, leading_to, others_slow, seen_at

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(300)]

SHORT: Final = Allowance(host=60.0, task=30.0, settle=6.0)
ROOMS: Final = {"Pier flat": "/rooms/pier", "Net loft": "/rooms/loft", "Tide cabin": "/rooms/tide"}
LIST: Final = "".join(f'<li><a href="{url}">{name}</a></li>' for name, url in ROOMS.items())
INTRO: Final = f"<h1>Rooms by the water</h1><p>{PROSE * 3}</p>"
HOME: Final = f"<main>{INTRO}<ul id=list>{LIST}</ul></main>"
FIELD: Final = '<input type=search name=q aria-label="Search rooms" id=q>'
JSON: Final = {"content-type": "application/json"}


def room(name: str) -> Page:
    return html(f"<main><h1>{name}</h1><p>{PROSE * 3}</p></main>", f"{name} – Rooms")


def matching(target: str) -> list[str]:
    word = (parse_qs(urlsplit(target).query).get("q") or [""])[0].casefold()
    return [name for name in ROOMS if word and word in name.casefold()]


def hits(target: str) -> Page:
    """What a search answers as data."""
    return 200, JSON, json.dumps([[name, ROOMS[name]] for name in matching(target)]).encode()


def listed(target: str) -> Page:
    """What a search answers as a page."""
    rows = "".join(f'<li><a href="{ROOMS[name]}">{name}</a></li>' for name in matching(target))
    return html(f"<main><h1>Results</h1><p>{PROSE}</p><ul>{rows}</ul></main>", "Results")


@dataclass
class Case:
    """A site, and how the tasks named end there: outcome and reason."""

    home: str
    expected: dict[str, str]
    pages: dict[str, Answer] = field(default_factory=dict)
    slow: dict[str, float] = field(default_factory=dict)
    title: str = "Rooms"
    said: str = ""


def live(wait: int, *, method: str = "GET", show: str = "<li><a href='${u}'>${n}</a></li>", empty: str = "") -> str:
    """A field whose script searches ``wait`` ms after the last key."""
    return (
        f"<form role=search onsubmit='return false'>{FIELD}</form><ul id=hits></ul><script>let t;q.oninput=()=>{{"
        f"clearTimeout(t);t=setTimeout(async()=>{{const r=await fetch('/hits?q='+encodeURIComponent(q.value),"
        f"{{method:'{method}'}});const f=await r.json();hits.innerHTML=f.length?f.map(([n,u])=>`{show}`).join(''):"
        f"`{empty}`}},{wait})}}</script>"
    )


FILTER: Final = (
    f"<label>Find a room <input id=q></label>{HOME}<script>q.oninput=()=>{{for(const li of list.children)"
    "li.hidden=!li.textContent.toLowerCase().includes(q.value.toLowerCase())}</script>"
)
SEARCHES: Final = {
    "an item that the search does not know": Case(
        f"<nav><ul>{LIST}</ul></nav><form role=search action=/search>{FIELD}</form><main>{INTRO}<ul><li><a href=/markup>Show"
        f" Markup</a></li>{LIST}</ul></main>",
        {"search": "done"},
        {"/search": listed},
    ),
    "a debounce script": Case(live(450) + HOME, {"search": "done"}, {"/hits": hits}),
    "a debounce script on a slow server": Case(live(450) + HOME, {"search": "done"}, {"/hits": hits}, {"/hits": 1.5}),
    "a script that asks by POST": Case(live(100, method="POST") + HOME, {"search": "done"}, {"/hits": hits}),
    "a list that is filtered": Case(FILTER, {"search": "done"}),
    "a list that goes away whatever is typed": Case(
        f"<label>Find a room <input id=q oninput='document.links[0].remove()'></label>{HOME}",
        {"search": "inconclusive search-nothing"},
    ),
    "a field that a script draws anew when it is asked": Case(
        f"<form role=search action=/search id=f>{FIELD}</form>{HOME}<script>Object.defineProperty(q,'form',"
        "{get(){setTimeout(()=>{f.innerHTML=f.innerHTML});return f}})</script>",
        {"search": "done"},
        {"/search": listed},
    ),
    "a field that takes one search": Case(
        live(50)
        + HOME
        + "<script>q.disabled=!!localStorage.asked;q.addEventListener('input',()=>{localStorage.asked=1})</script>",
        {"search": "inconclusive failed"},
        {"/hits": hits},
    ),
    "a field that takes one search, whose results have an address": Case(
        f"<form role=search action=/search>{FIELD}</form>{HOME}<script>q.disabled=!!localStorage.asked;"
        "q.oninput=()=>{localStorage.asked=1}</script>",
        {"search": "done"},
        {"/search": listed},
    ),
    "results that a mouse alone can press": Case(
        live(50, show="<li style=cursor:pointer>${n}</li>") + HOME,
        {"search": "blocked search-no-results"},
        {"/hits": hits},
    ),
    "an index of other things": Case(
        live(50, empty="<li>Nothing found</li>") + HOME,
        {"search": "inconclusive search-nothing"},
        {"/hits": (200, JSON, b"[]")},
    ),
    "a server that fails": Case(
        live(50) + HOME, {"search": "inconclusive search-waiting"}, {"/hits": (503, JSON, b"{}")}
    ),
    "a form that posts, with suggestions": Case(
        live(50).replace("onsubmit='return false'", "action=/search method=post") + HOME,
        {"search": "done"},
        {"/hits": hits},
    ),
    "another site's search": Case(
        f"<form role=search action=http://elsewhere.demo.test/search>{FIELD}<button>Search</button></form>{HOME}",
        {"search": "inconclusive search-elsewhere"},
    ),
    "closed results, but suggestions": Case(
        live(50).replace("onsubmit='return false'", "action=/search") + HOME,
        {"search": "done"},
        {"/hits": hits, "/robots.txt": (200, {"content-type": "text/plain"}, b"User-agent: *\nDisallow: /search\n")},
    ),
    "an icon without a name": Case(
        f'<header><button class="icon-search"><svg width=20 height=20></svg></button></header>{HOME}',
        {"search": "blocked search-no-name"},
    ),
    "a label that is only a title": Case(
        "<form role=search action=/search><label title=Search id=l for=q><span aria-hidden=true>⌕</span></label>"
        f"<input type=search name=q id=q aria-labelledby=l></form>{HOME}",
        {"search": "done"},
        {"/search": listed},
    ),
    "a nameless field behind a link": Case(
        f"<nav><a href=/search>Search</a></nav>{HOME}",
        {"search": "blocked search-unnamed"},
        {"/search": html(f"<main><h1>Search</h1><p>{PROSE}</p><form><input name=q></form></main>", "Search")},
    ),
    "results that a mouse alone can press, without a hand": Case(
        live(50, show="<li onclick=go()>${n}</li>") + HOME, {"search": "blocked search-no-results"}, {"/hits": hits}
    ),
    "the word that was asked for in a link": Case(
        f"<form action=/search>{FIELD}</form>{HOME}",
        {"search": "inconclusive search-nothing"},
        {
            "/search": lambda target: html(
                f"<h1>Results</h1><p>{PROSE}</p><a href='{target}&p=2'>More {target[10:]}</a>"
            )
        },
    ),
    "a nameless field in a form that searches": Case(
        f"<form action=/search><input id=search name=q><button>Search</button></form>{HOME}",
        {"search": "blocked search-unnamed"},
        {"/search": listed},
    ),
    "a field with a question beside a button that searches": Case(
        f"<form action=/go><input placeholder='Where to?' name=q><button>Search</button></form>{HOME}",
        {"search": "done"},
        {"/go": listed},
    ),
    "a read-only field that opens another": Case(
        "<input readonly placeholder=Search onclick='over.hidden=false'><div id=over hidden>"
        f"<form action=/search><input name=q aria-label='What for?'></form></div>{HOME}",
        {"search": "done"},
        {"/search": listed},
    ),
    "results in a new tab": Case(
        f"<form action=/search target=_blank>{FIELD}</form>{HOME}", {"search": "done"}, {"/search": listed}
    ),
    "closed results in a new tab": Case(
        f"<form action=/search target=_blank>{FIELD}</form>{HOME}",
        {"search": "blocked search-robots"},
        {"/robots.txt": (200, {"content-type": "text/plain"}, b"User-agent: *\nDisallow: /search\n")},
    ),
    "a search in a frame": Case(
        f"<iframe title=Search src=/box height=60></iframe>{HOME}",
        {"search": "done"},
        {"/box": html(f"<form action=/search target=_top>{FIELD}</form>"), "/search": listed},
    ),
    "a search that only OpenSearch declares": Case(
        f"<link rel=search type=application/opensearchdescription+xml href=/os.xml>{HOME}",
        {"search": "done"},
        {
            "/os.xml": (
                200,
                {"content-type": "application/opensearchdescription+xml"},
                b"<OpenSearchDescription xmlns='http://a9.com/-/spec/opensearch/1.1/'><Url type='text/html' "
                b"template='/search?q={searchTerms}&amp;page={startPage?}'/></OpenSearchDescription>",
            ),
            "/search": listed,
        },
    ),
    "a search in a shadow root": Case(
        "<x-search></x-search>" + HOME + "<script>customElements.define('x-search',class extends HTMLElement{"
        f"connectedCallback(){{this.attachShadow({{mode:'open'}}).innerHTML=`<form action=/search>{FIELD}</form>`}}}})"
        "</script>",
        {"search": "done"},
        {"/search": listed},
    ),
}

OVER: Final = "position:fixed;inset:0;background:#fff;z-index:9"
REMOVE: Final = "onclick=this.parentNode.remove()"
CONSENT: Final = f"<div style='{OVER}' {{role}}><p>We use cookies.</p><button {REMOVE}>{{name}}</button></div>"
SWITCHES: Final = "".join(f"<label><input type=checkbox>Purpose {n}</label>" for n in range(9))
MANY: Final = f"<div style='{OVER}'><p>Choose.</p>{SWITCHES}<button {REMOVE}>{{name}}</button></div>"
COVERS: Final = {
    "a banner that a script draws anew when it is looked at": Case(
        f"{HOME}<div id=b role=dialog aria-label=Cookies style='position:fixed;inset:0;background:#fff'><p>We use cookies</p>"
        "<button id=r onclick='b.remove()'>Reject all</button></div><script>r.getClientRects=function(){"
        "setTimeout(()=>{b.innerHTML=b.innerHTML});return Element.prototype.getClientRects.call(this)}</script>",
        {"read": "done"},
    ),
    "a banner in another language": Case(
        HOME + CONSENT.format(role="role=dialog aria-label=Cookies", name="Zgadzam się"),
        {"read": "done", "follow": "done"},
    ),
    "a cover whose button has a name of its own": Case(
        HOME + CONSENT.format(role="", name="Ahoy, sailor"),
        {"read": "inconclusive read-covered-unknown", "follow": "inconclusive veiled"},
    ),
    "consent in a frame": Case(
        HOME + f"<iframe src=/consent title=Consent style='{OVER};width:100%;height:100%;border:0'></iframe>"
        "<script>onmessage=()=>document.querySelector('iframe').remove()</script>",
        {"read": "done", "follow": "done"},
        {"/consent": html("<p>We use cookies.</p><button onclick=\"parent.postMessage('x','*')\">Reject all</button>")},
    ),
    "consent in a shadow root": Case(
        HOME
        + "<div id=host></div><script>host.attachShadow({mode:'open'}).innerHTML="
        + json.dumps(CONSENT.format(role="role=dialog", name="Accept all").replace("this.parentNode", "host"))
        + ";const b=host.shadowRoot.querySelector('button');b.onclick=()=>host.remove()</script>",
        {"read": "done", "follow": "done"},
    ),
    "a box with more controls than the page": Case(
        HOME + MANY.format(name="Nein danke"), {"read": "done", "follow": "done"}
    ),
    "a box with more controls than the page, and a button of its own name": Case(
        HOME + MANY.format(name="Ahoy, sailor"), {"read": "done", "follow": "inconclusive follow-veiled"}
    ),
    "a chat bubble": Case(
        HOME + "<button style='position:fixed;right:1em;bottom:1em;width:60px;height:60px'>Chat</button>",
        {"read": "done"},
    ),
    "an alert and a confirmation": Case(
        HOME + "<script>alert('Welcome!');confirm('Subscribe?')</script>", {"read": "done", "follow": "done"}
    ),
}

SPINNER: Final = "<div id=app role=status>Loading…</div><script>{}</script>"
SOCKET: Final = "const s=new WebSocket('ws://'+location.host+'/live');s.onopen=()=>s.send('run');s.onmessage=e=>app.innerHTML=e.data"
READS: Final = {
    "a page over a socket of a busy server": Case(
        SPINNER.format(SOCKET), {"read": "done", "follow": "done"}, slow={"/live": 8.0}, said=HOME
    ),
    "a page whose script is not there": Case(
        "<div id=app></div><script src=/app.js></script>", {"read": "inconclusive read-waiting"}
    ),
    "a socket that never answers": Case(SPINNER.format(SOCKET), {"read": "inconclusive read-waiting"}),
    "a spinner that never ends": Case(SPINNER.format(""), {"read": "blocked read-empty"}),
    "a spinner on a slow server": Case(
        SPINNER.format("fetch('/body').then(r=>r.text()).then(t=>app.innerHTML=t)"),
        {"read": "done"},
        {"/body": (200, {"content-type": "text/plain"}, HOME.encode())},
        {"/body": 4.5},
    ),
    "a spinner on a server that fails": Case(
        SPINNER.format("fetch('/body').then(r=>{if(r.ok)location='/x'})"),
        dict.fromkeys(("follow", "search", "contact", "offer", "form"), "inconclusive unwalked")
        | {"read": "inconclusive read-waiting"},
        {"/body": (500, {}, b"")},
    ),
    "a spinner on a server that hangs": Case(
        SPINNER.format("fetch('/body')"),
        {"read": "inconclusive read-waiting"},
        {"/body": (200, {}, b"")},
        {"/body": 30.0},
    ),
    "a redirect to a language": Case(
        "<script>location='/en/'</script>",
        {"read": "done", "follow": "done"},
        {"/en/": html(HOME, "Rooms")},
    ),
    "a server that is down": Case("", {"read": "inconclusive read-status"}, {"/": (503, {}, b"down")}),
    "too many requests": Case("", {"read": "inconclusive read-status"}, {"/": (429, {}, b"slow down")}),
    "no homepage": Case("", {"read": "inconclusive read-status"}, {"/": (404, {}, b"<h1>Not found</h1>")}),
    "a password": Case(
        "",
        {"read": "inconclusive read-password"},
        {"/": (401, {"www-authenticate": "Basic realm=x"}, b"<h1>Who?</h1>")},
    ),
}

GONE: Final[dict[str, Answer]] = {
    url: (404, {"content-type": "text/html"}, b"<h1>Not found</h1>") for url in ROOMS.values()
}
NAME: Final = "<label>Your name <input name=name></label>"
FILE: Final[Page] = (200, {"content-type": "application/octet-stream"}, b"\0" * 64)
FOLLOWS: Final = {
    "links to pages that do not exist": Case(HOME, {"follow": "blocked missing"}, GONE),
    "links that lead back": Case(
        HOME, {"follow": "blocked follow-elsewhere"}, dict.fromkeys(ROOMS.values(), (302, {"location": "/"}, b""))
    ),
    "copies of the homepage that name the item": Case(
        HOME.replace("<li>", "<li><h2>").replace("</li>", "</h2></li>"),
        {"follow": "blocked follow-elsewhere"},
        dict.fromkeys(ROOMS.values(), html(HOME.replace("<li>", "<li><h2>").replace("</li>", "</h2></li>"))),
    ),
    "a link to a mail program alone": Case(
        f"<main>{INTRO}<a href=mailto:ada@harbour.example>Write to the keeper</a></main>", {"follow": "absent"}
    ),
    "links in the head of the page alone": Case(
        f"<header><h1>Rooms</h1><a href=/rooms/pier>Pier flat</a></header><main>{INTRO}</main>", {"follow": "done"}
    ),
    "links that a script follows": Case(
        f"<main>{INTRO}<a href=javascript:void(0) onclick=\"location='/rooms/pier'\">Pier flat</a></main>",
        {"follow": "done"},
    ),
    "links that open nothing": Case(
        f"<main>{INTRO}<a href=#>Pier flat</a> <a href=#>Net loft</a></main>", {"follow": "blocked follow-nothing"}
    ),
    "links that unfold": Case(
        f"<main>{INTRO}<a href=# onclick='more.hidden=false'>Pier flat</a><p id=more hidden>A flat <button>Ask</button>"
        "</main>",
        {"follow": "absent"},
    ),
    "a role alone": Case(
        f"<main>{INTRO}<p role=link tabindex=0 onclick=\"location='/rooms/pier'\">Pier flat</p></main>",
        {"follow": "done"},
    ),
    "pictures without a name that are links": Case(
        f"<main>{INTRO}" + "".join(f"<a href={url}><img src=/x.png width=80 height=40></a>" for url in ROOMS.values()),
        {"follow": "blocked follow-unnamed"},
    ),
    "anchors that only listen": Case(
        f"<main>{INTRO}" + "".join(f"<p><a>{name}</a></p>" for name in ROOMS) + "</main><script>for(const a of "
        "document.querySelectorAll('a'))a.addEventListener('click',()=>{location='/rooms/pier'})</script>",
        {"follow": "done"},
    ),
    "a dialog about the item": Case(
        HOME.replace("<a ", "<a onclick='box.show();return false' ") + "<dialog id=box><h2>Our pier flat</h2></dialog>",
        {"follow": "done"},
    ),
    "a page that loads itself again": Case(
        HOME.replace("<a ", "<a onclick='setTimeout(()=>location.reload(),90);return false' "),
        {"follow": "inconclusive follow-failed"},
    ),
    "pages on a server that fails": Case(
        HOME.replace("</li>", " 49 €</li>"),
        {"follow": "inconclusive follow-failed", "offer": "inconclusive failed"},
        dict.fromkeys(ROOMS.values(), (503, {}, b"down")),
    ),
    "links to files": Case(HOME, {"follow": "inconclusive follow-failed"}, dict.fromkeys(ROOMS.values(), FILE)),
    "pages with other words": Case(
        HOME,
        {"follow": "inconclusive follow-unsure"},
        dict.fromkeys(ROOMS.values(), html(f"<h1>Stay</h1><p>{PROSE}</p>", "Stay")),
    ),
    "words with other endings": Case(
        HOME.replace("Pier flat", "Flats on piers"), {"follow": "done"}, {"/rooms/pier": room("Our flat on the pier")}
    ),
    "a redirect to a file address": Case(
        HOME,
        {"follow": "inconclusive follow-failed"},
        dict.fromkeys(ROOMS.values(), (302, {"location": "file:///etc/passwd"}, b"")),
    ),
    "a menu by hover": Case(
        f"<style>nav ul{{display:none}}nav:hover ul{{display:block}}</style><nav><span>Service</span><ul><li>"
        f"<a href=/contact>Contact</a></li></ul></nav>{HOME}",
        {"contact": "blocked contact-pointing"},
        {"/contact": html("<h1>Contact</h1><p>hello@rooms.example</p>")},
    ),
    "a menu behind a button": Case(
        "<nav><button onclick=m.hidden=false>Menu</button><p id=m hidden><a href=/contact>Contact</a></p></nav>" + HOME,
        {"contact": "done"},
        {"/contact": html("<h1>Contact</h1><p>hello@rooms.example</p>")},
    ),
    "a contact page of its own kind": Case(
        f"<nav><a href=/contact>Contact</a></nav>{HOME}",
        {"contact": "inconclusive contact-unsure"},
        {"/contact": html(f"<h1>Contact</h1><p>Come to the quay and ask for Ada. {PROSE}</p>")},
    ),
    "a contact that a button shows": Case(
        f"<button onclick='box.showModal()'>Contact us</button><dialog id=box>hello@rooms.example</dialog>{HOME}",
        {"contact": "done"},
    ),
    "a contact page that does not exist": Case(
        f"<nav><a href=/contact>Contact</a></nav>{HOME}", {"contact": "blocked missing"}
    ),
    "a contact page on a server that fails": Case(
        f"<nav><a href=/contact>Contact</a></nav>{HOME}",
        {"contact": "inconclusive failed", "form": "inconclusive failed"},
        {"/contact": (503, {}, b"down")},
    ),
    "a form behind the contact link": Case(
        f"<nav><a href=/contact>Contact</a></nav>{HOME}<footer>hello@rooms.example</footer>",
        {"contact": "done", "form": "done"},
        {
            "/contact": html(
                "<h1>Contact</h1><form><label>Name <input></label><label>Text <textarea></textarea></label>"
            )
        },
    ),
    "a page of frames": Case(
        "",
        {"read": "done", "follow": "done"},
        {
            "/": (
                200,
                {"content-type": "text/html"},
                b"<title>Rooms</title><frameset cols='50%,50%'><frame src=/menu name=a>"
                b"<frame src=/start name=b></frameset>",
            ),
            "/menu": html(LIST.replace("<a ", "<a target=b ")),
            "/start": html(INTRO),
        },
    ),
    "a popup": Case(
        HOME.replace(
            '<a href="/rooms/pier"',
            "<a href=\"/rooms/pier\" onclick=\"open(this.href,'w','width=400,height=300');return false\"",
        ),
        {"follow": "done"},
    ),
    "addresses after a hash": Case(
        "<main id=app></main><script>const draw=()=>{const at=location.hash.slice(2);app.innerHTML=at?"
        f"`<h1>${{decodeURIComponent(at)}}</h1><p>{PROSE * 3}</p>`:`{INTRO}<ul><li><a href='#/Pier flat'>Pier flat</a>"
        "</ul>`};addEventListener('hashchange',draw);draw()</script>",
        {"follow": "done"},
    ),
}


def form(fields: str) -> str:
    return f"{HOME}<form action=/ask method=post>{fields}<button>Send</button></form>"


def late(fields: str) -> Answer:
    """A homepage whose form is drawn at once when it is asked for first, and 3 s later from then on."""
    asked = iter((0,))

    def answer(target: str) -> Page:
        wait = next(asked, 3000)
        draw = f"document.body.insertAdjacentHTML('beforeend', {json.dumps(form(fields))})"
        return html(f"{HOME}<script>setTimeout(() => {draw}, {wait})</script>")

    return answer


FORMS: Final = {
    "a form that is drawn late when the page is opened again": Case("", {"form": "done"}, {"/": late(NAME)}),
    "a field that takes letters without spaces": Case(
        form("<label>Code <input oninput='this.value=this.value.replace(/[^a-z]/gi,\"\").toUpperCase()'></label>"),
        {"form": "done"},
    ),
    "a field that checks what it gets": Case(
        form(
            "<label>Postcode <input placeholder='AB1 2CD' onchange='' oninput='setTimeout(()=>{if(!/^[A-Z]{2}\\d/.test("
            'this.value))this.value=""},60)\'></label>'
        ),
        {"form": "inconclusive form-unsure"},
    ),
    "a field that forgets when it is left": Case(
        form("<label>Code <input onblur=\"this.value=''\"></label>"), {"form": "blocked form-lost"}
    ),
    "a choice that is only listened to": Case(
        form(f"{NAME}<div id=pick>Colour</div><script>pick.addEventListener('click',()=>0)</script>"),
        {"form": "blocked form-custom"},
    ),
    "a text that anybody may edit, without a role": Case(
        form(f"{NAME}<div contenteditable style='height:40px'></div>"), {"form": "blocked form-custom"}
    ),
    "a list that opens by a click": Case(
        form(
            f"{NAME}<div role=combobox id=pick tabindex=0 aria-label=Fruit onclick='some.hidden=false'>Choose</div>"
            "<ul role=listbox id=some hidden><li role=option onclick='pick.textContent=this.textContent'>Apple</ul>"
        ),
        {"form": "done"},
    ),
    "an entry that must be chosen": Case(
        form(
            "<input role=combobox aria-label=Country id=pick oninput='some.hidden=false' onblur=\"if(this.value!="
            "'France')this.value=''\"><ul role=listbox id=some hidden><li role=option onmousedown=\"pick.value="
            "'France';event.preventDefault()\">France</ul>"
        ),
        {"form": "done"},
    ),
    "a trap for robots that cannot be seen": Case(
        form(f"{NAME}<div style='opacity:0;position:absolute'><input name=website></div>"), {"form": "done"}
    ),
    "a trap for robots": Case(
        form(NAME + "<div style='position:absolute;left:-9999px'><input name=website></div>"), {"form": "done"}
    ),
    "fields in a frame": Case(
        HOME + "<iframe src=/form title=Ask style='width:600px;height:400px'></iframe>",
        {"form": "done"},
        {"/form": html(f"<form>{NAME}<label>Question <textarea></textarea></label><button>Send</button></form>")},
    ),
    "a nameless field in a frame": Case(
        HOME + "<iframe src=/form title=Ask style='width:600px;height:400px'></iframe>",
        {"form": "blocked form-unnamed"},
        {"/form": html(f"<form>{NAME}<textarea></textarea><button>Send</button></form>")},
    ),
    "fields in a shadow root": Case(
        HOME
        + "<div id=host></div><script>host.attachShadow({mode:'open'}).innerHTML="
        + json.dumps(f"<form>{NAME}<label>Question <textarea></textarea></label></form>")
        + "</script>",
        {"form": "done"},
    ),
    "fields without a form": Case(
        f"{HOME}<section>{NAME}<label>E-mail <input type=email></label><button>Send</button></section>",
        {"form": "done"},
    ),
    "a log-in without a form": Case(
        f"{HOME}<section>{NAME}<label>Word <input></label><label>Password <input type=password></label></section>",
        {"form": "absent"},
    ),
}


def product(extra: str, data: dict[str, Any] | None = None) -> Page:
    found = {"@context": "https://schema.org", "@type": "Product", "name": "Pier flat"} | (data or {})
    script = f"<script type=application/ld+json>{json.dumps(found)}</script>"
    return html(f"<main><h1>Pier flat</h1><p>{PROSE * 2}</p>{extra}</main>{script}", "Pier flat – Rooms")


PRICED: Final = {"offers": {"@type": "Offer", "price": "49.00", "priceCurrency": "EUR"}}
OFFERS: Final = {
    "a product that is only shown": Case(HOME, {"offer": "absent"}, {"/rooms/pier": product("")}),
    "a product for a free price": Case(
        HOME, {"offer": "absent"}, {"/rooms/pier": product("", {"offers": {"@type": "Offer", "price": "0.00"}})}
    ),
    "a price that depends on the days": Case(
        HOME, {"offer": "inconclusive offer-no-price"}, {"/rooms/pier": product("<button>Check availability</button>")}
    ),
    "a price that only the data know": Case(
        HOME, {"offer": "blocked offer-price"}, {"/rooms/pier": product("<button>Book</button>", PRICED)}
    ),
    "a button with a name of its own": Case(
        HOME, {"offer": "inconclusive offer-unsure"}, {"/rooms/pier": product("<p>49.00 €</p><button>Ahoy!</button>")}
    ),
    "a size to choose first": Case(
        HOME,
        {"offer": "inconclusive offer-choose"},
        {
            "/rooms/pier": product(
                "<p>49.00 €</p><label>Size <select><option>S<option>L</select></label><button disabled>Book</button>"
            )
        },
    ),
    "sold out": Case(
        HOME,
        {"offer": "inconclusive offer-choose"},
        {"/rooms/pier": product("<p>49.00 €</p><p>Sold out</p><button disabled>Book</button>")},
    ),
    "a name of the button in German": Case(
        HOME, {"offer": "done"}, {"/rooms/pier": product("<p>1.249,00 €</p><button>Jetzt buchen</button>")}
    ),
}
ROUTES: Final = (
    "<main id=app></main><script>const draw=()=>{const at=decodeURIComponent(location.hash.slice(1));app.innerHTML=at?"
    f"`<h1>${{at}}</h1><p>{PROSE * 3}</p>`:`{INTRO}<ul><li><a href='#Pier flat'>Pier flat</a><li><a href='#Net loft'>"
    "Net loft</a></ul>`};addEventListener('hashchange',draw);draw()</script>"
)
BARE: Final = (
    f"<main id=app>{INTRO}<ul><li><a href=/rooms/pier>Pier flat</a><li><a href=/rooms/loft>Net loft</a></ul></main><script>"
    "document.onclick=e=>{const a=e.target.closest('a');if(!a)return;e.preventDefault();history.pushState({},'',a.href);"
    f"app.innerHTML='<p>Two windows to the east, a table and {PROSE}</p>'}}</script>"
)
LIVE: Final = (
    "<label>Name <input id=n></label><label>Mail <input type=email id=m></label><script>"
    "const live=new WebSocket('ws://'+location.host+'/live');for(const one of [n,m])one.oninput=e=>{"
    "live.readyState==1&&live.send(e.target.value);setTimeout(()=>e.target.value='',30)}</script>"
)
DAYS: Final = (
    "<input readonly placeholder=Arrival aria-label=Arrival id=a onclick='cal.hidden=false'><div id=cal hidden>"
    "<div style='cursor:pointer' onclick=\"a.value='2030-01-14'\">14 January</div>"
    "<div style='cursor:pointer' onclick=\"a.value='2030-01-15'\">15 January</div></div>"
)
KEYS: Final = (
    "<input readonly aria-label=Arrival id=a onclick='cal.hidden=false' onkeydown=\"if(event.key=='ArrowRight')a.value='2030-01-15'\">"
    "<div id=cal hidden><table role=presentation><tr><td>14<td>15</table></div>"
)
TRUTHS: Final = {
    "routes of a name after a hash": Case(ROUTES, {"follow": "done"}),
    "a client route without a heading or title of its own": Case(
        BARE,
        {"follow": "inconclusive follow-unsure"},
        {url: html("<title>Rooms</title>" + BARE) for url in ROOMS.values()},
    ),
    "a form on a live socket": Case(form(LIVE), {"form": "inconclusive form-network"}),
    "a search field without a name beside a button that searches": Case(
        f"<form role=search action=/search><input type=search name=q><button>Search</button></form>{HOME}",
        {"search": "done"},
        {"/search": listed},
    ),
    "a trap that says so": Case(
        form(NAME + "<label>Leave this blank if you are a human <input name=w></label>"), {"form": "done"}
    ),
    "a trap that is hidden from readers": Case(
        form(NAME + "<div aria-hidden=true><label>Website <input name=w></label></div>"), {"form": "done"}
    ),
    "a trap in a box of no height": Case(
        form(NAME + "<div style='overflow:hidden;height:0'><label>Website <input name=w></label></div>"),
        {"form": "done"},
    ),
    "a calendar of named days without a role": Case(form(NAME + DAYS), {"form": "done"}),
    "a calendar that takes keys": Case(form(NAME + KEYS), {"form": "done"}),
    "a form of several steps": Case(
        HOME
        + f"<form action=/ask method=post>{NAME}<label>Mail <input type=email></label><button>Next</button></form>",
        {"form": "done"},
    ),
    "a search in a script that nobody listed": Case(
        f"<form action=/x><input name=q placeholder='ᓄᓇᕗᑦ'><button>ᐃᓄᒃᑎᑐᑦ</button></form>{HOME}", {"form": "absent"}
    ),
    "a field of type email whatever its name": Case(
        f"<nav><a href=/contact>Contact</a></nav>{HOME}",
        {"contact": "done"},
        {
            "/contact": html(
                f"<h1>Write</h1><p>{PROSE}</p><form><label>Wohin? <input type=email></label><label>Was? <textarea></textarea></label></form>"
            )
        },
    ),
    "a consent that nobody closes without sending": Case(
        HOME
        + "<div role=dialog aria-label=Cookies style='position:fixed;inset:0;background:#fff'><p>We use cookies</p>"
        "<button onclick=\"fetch('/consent',{method:'POST'}).then(()=>this.parentNode.remove())\">Reject all</button></div>",
        {"read": "inconclusive read-covered-held"},
    ),
    "an article with a sum of money": Case(
        HOME,
        {"offer": "absent"},
        {
            "/rooms/pier": html(
                f"<main><h1>Pier flat</h1><p>The course stays at $5. {PROSE * 4}</p><p><a href=/x>Book of the week</a></p><p>{PROSE * 4}</p></main>",
                "Pier flat",
            )
        },
    ),
    "a shop two clicks deep": Case(
        f"<nav><a href=/shop>Shop</a></nav><main>{INTRO}</main>",
        {"offer": "done"},
        {
            "/shop": html(
                f"<main><h1>Shop</h1><p>{PROSE}</p><ul><li><a href=/lamp>Pier lamp</a> 19.00 €</li></ul></main>", "Shop"
            ),
            "/lamp": html(
                f"<main><h1>Pier lamp</h1><p>{PROSE}</p><p>19.00 €</p><button>Add to cart</button></main>", "Pier lamp"
            ),
        },
    ),
    "a control that is a picture, in stock by its data": Case(
        HOME,
        {"offer": "blocked offer-control"},
        {
            "/rooms/pier": product(
                "<p>49.00 €</p><div style='cursor:pointer' onclick='go()'><img src=/cart.png alt=''></div>",
                {"offers": {"@type": "Offer", "price": "49.00", "availability": "https://schema.org/InStock"}},
            )
        },
    ),
}
CASES: Final = {**TRUTHS, **SEARCHES, **COVERS, **READS, **FOLLOWS, **FORMS, **OFFERS}
QUICK: Final = ("a list that is filtered", "a trap for robots", "links to pages that do not exist")


async def tried(browser: Browser, name: str) -> tuple[dict[str, str], TaskRunning]:
    case = CASES[name]
    site = Site(
        {"/": html(case.home, case.title), **{url: room(name) for name, url in ROOMS.items()}, **case.pages},
        slow=case.slow,
        said=case.said,
    )
    needed = {"read", *case.expected, *(("follow",) if "offer" in case.expected else ())}
    order = [task for task in ("read", "follow", "search", "contact", "form", "offer") if task in needed]
    async with hosted(site) as port:
        ran = await run_tasks(seen_at(f"http://{HOST}"), browser, access=leading_to(port), allowance=SHORT, tasks=order)
    found = {
        result.task: f"{result.outcome} {result.reason}"
        if result.outcome in ("blocked", "inconclusive")
        else result.outcome
        for result in ran.report.results
        if result.task in case.expected
    }
    assert {method for method, _ in site.log} <= {"GET", "POST"}
    assert not [target for method, target in site.log if method == "POST" and not target.startswith("/hits")]
    return found, ran


@pytest.mark.parametrize("name", others_slow(CASES, QUICK))
async def test_a_verdict_is_true(browser: Browser, name: str) -> None:
    found, ran = await tried(browser, name)
    assert found == CASES[name].expected, [(result.task, result.note) for result in ran.report.results]

"""The pages of ``twins/`` and what is true of them: pairs of a page and its broken twin, served and tried.

``python -m tests.tasks.corpus [WORD...]`` runs the tasks on every page, or on those whose name holds a word, and prints
how many of the outcomes are right.
"""

from __future__ import annotations

import asyncio
import re
import struct
import sys
import tomllib
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape, unescape
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qs, urlsplit

from aui_tui.model.tasks import ABSENT, DONE, INCONCLUSIVE, OUTCOMES, TaskReport
from aui_tui.tasks.browser import Browser
from aui_tui.tasks.run import run_tasks
from tests.tasks.pages import PROSE, Answer, Page, Site, hosted, html
from tests.tasks.running import HOST, leading_to, seen_at

FOLDER: Final = Path(__file__).with_name("twins")
WORKS, BROKEN = "works", "broken"
ITEMS: Final = {"brass": "Brass lantern", "storm": "Storm lantern", "copper": "Copper kettle"}
TOKENS: Final = {
    "@intro": f"<h1>Harbour shop</h1><p>{PROSE * 3}</p>",
    "@list": "<ul>" + "".join(f"<li><a href=/items/{key}>{name}</a></li>" for key, name in ITEMS.items()) + "</ul>",
    "@item": "/items/brass",
    "@picture": "/picture.png",
}
HITS: Final = "@hits"
AT_ONCE: Final = 4
USUAL: Final = {"read": DONE, "follow": DONE, "search": ABSENT, "contact": ABSENT, "form": ABSENT, "offer": ABSENT}


class Twin(NamedTuple):
    """One page: its name, the task it is about, the bodies of its site by path, and the outcomes that are right."""

    name: str
    task: str
    bodies: Mapping[str, str]
    truth: Mapping[str, frozenset[str]]

    @property
    def tasks(self) -> list[str]:
        """The tasks to run: the one it is about, and those that it depends on."""
        return list(dict.fromkeys(("read", "follow", self.task)))


def twins() -> list[Twin]:
    """Return every page of the corpus."""
    return [
        twin
        for file in sorted(FOLDER.glob("*.toml"))
        for pair in tomllib.loads(file.read_text(encoding="utf-8"))["pair"]
        for twin in (_twin(pair, WORKS), _twin(pair, BROKEN))
    ]


def _twin(pair: Mapping[str, Any], which: str) -> Twin:
    right = USUAL | pair.get("also", {}) | pair.get(f"also_{which}", {})
    right[pair["task"]] = pair["truth"][which == BROKEN]
    if right["read"] != DONE or right["follow"] not in (DONE, ABSENT):
        right = {task: INCONCLUSIVE if said == ABSENT and task != "follow" else said for task, said in right.items()}
    bodies = {"/": pair[which], **pair.get("pages", {}), **pair.get(f"pages_{which}", {})}
    truth = {task: frozenset(said.replace("not offered", ABSENT).split("|")) for task, said in right.items()}
    return Twin(f"{pair['name']} ({which})", pair["task"], bodies, truth)


def _filled(body: str) -> str:
    return re.sub("@[a-z]+", lambda found: TOKENS.get(found[0], found[0]), body)


def _title(path: str) -> str:
    return "Harbour shop" if path == "/" else "Harbour"


def _hits(target: str) -> list[str]:
    word = (parse_qs(urlsplit(target).query).get("q") or [""])[0].casefold()
    return [
        f"<li><a href=/items/{key}>{name}</a></li>" for key, name in ITEMS.items() if word and word in name.casefold()
    ]


def _listed(target: str) -> Page:
    return html(f"<main><h1>Results</h1><p>{PROSE}</p><ul>{''.join(_hits(target))}</ul></main>", "Results")


def _said(body: str) -> str:
    """Return the text of a body, without its scripts and styles."""
    bare = re.sub(r"(?s)<(script|style)\b.*?</\1>|<[^>]*>", " ", _filled(body))
    return " ".join(unescape(bare).split())


def _answering(bodies: Mapping[str, str], path: str) -> Callable[[str], Page]:
    """Return what serves the page at ``path``: for ``@hits``, links to the pages that hold the word of the query."""
    texts = {other: _said(body) for other, body in bodies.items() if other != path}

    def answer(target: str) -> Page:
        word = next((given[0] for given in parse_qs(urlsplit(target).query).values()), "").casefold()
        found = []
        for other, text in texts.items():
            at = text.casefold().find(word)
            if word and at >= 0:
                found.append(f'<li><a href="{other}">{escape(text[max(0, at - 30) : at + 50])}</a></li>')
        body = bodies[path].replace(HITS, f"<ul>{''.join(found)}</ul>")
        return html(_filled(body), _title(path))

    return answer


def _png() -> bytes:
    """A grey picture of one pixel (PNG specification 5)."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack("!I", len(data)) + kind + data + struct.pack("!I", zlib.crc32(kind + data))

    head = struct.pack("!IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0\x80")) + chunk(b"IEND", b"")


def site(twin: Twin) -> Site:
    """Return the site of a page."""
    pages: dict[str, Answer] = {
        f"/items/{key}": html(f"<main><h1>{name}</h1><p>{PROSE * 2}</p></main>", name) for key, name in ITEMS.items()
    }
    pages |= {f"/closed/{key}": html(f"<main><h1>{name}</h1></main>", name) for key, name in ITEMS.items()}
    pages["/find"] = pages["/closed/find"] = _listed
    pages["/hits"] = lambda target: html("".join(_hits(target)))
    pages["/contact"] = html("<main><h1>Contact</h1><p>Write to hello@harbour.example.</p></main>", "Contact")
    for path, name in {"news": "News of the quay", "about": "About the harbour"}.items():
        pages[f"/{path}"] = html(f"<main><h1>{name}</h1><p>{PROSE * 2}</p></main>", name)
    pages["/robots.txt"] = (200, {"content-type": "text/plain"}, b"User-agent: *\nDisallow: /closed/\n")
    pages["/picture.png"] = (200, {"content-type": "image/png"}, _png())
    pages |= {
        path: _answering(twin.bodies, path) if HITS in body else html(_filled(body), _title(path))
        for path, body in twin.bodies.items()
    }
    return Site(pages)


async def tried(browser: Browser, twin: Twin, tasks: Sequence[str] = ()) -> TaskReport:
    """Run the tasks of a page on it."""
    async with hosted(site(twin)) as port:
        run = await run_tasks(
            seen_at(f"http://{HOST}"), browser, access=leading_to(port), tasks=list(tasks or twin.tasks)
        )
    return run.report


@dataclass
class Tally:
    """Outcomes against the truth. ``wrong``: a line for each that is not right."""

    said: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)
    there: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def add(self, name: str, truth: Mapping[str, frozenset[str]], report: TaskReport) -> None:
        """Count the outcomes of one run."""
        for result in report.results:
            right = truth[result.task]
            self.said[result.outcome] += 1
            self.right[result.outcome] += result.outcome in right
            for outcome in right if len(right) == 1 else ():
                self.there[outcome] += 1
                self.found[outcome] += result.outcome == outcome
            if result.outcome not in right:
                expected = " or ".join(sorted(right))
                self.wrong.append(f"{name}: {result.task} is {expected}, said {result.outcome}: {result.note}")

    def rows(self) -> Iterator[str]:
        """Yield the table as Markdown."""
        yield "| outcome | said | right | precision | there | found |"
        yield "|---|---|---|---|---|---|"
        for outcome in OUTCOMES:
            said, there = self.said[outcome], self.there[outcome]
            word = "not offered" if outcome == ABSENT else outcome
            yield (
                f"| {word} | {said} | {self.right[outcome]} | {_share(self.right[outcome], said)} | {there} | "
                f"{_share(self.found[outcome], there)} |"
            )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "–"


async def measured(browser: Browser, chosen: Iterable[Twin]) -> Tally:
    """Return how the outcomes on the pages compare with the truth."""
    tally, places = Tally(), asyncio.Semaphore(AT_ONCE)

    async def one(twin: Twin) -> None:
        async with places:
            tally.add(twin.name, twin.truth, await tried(browser, twin))

    await asyncio.gather(*map(one, chosen))
    return tally


async def _main(chosen: Sequence[Twin]) -> None:
    browser = Browser()
    try:
        tally = await measured(browser, chosen)
    finally:
        await browser.aclose()
    print(f"{len(chosen)} pages", *tally.rows(), "", *sorted(tally.wrong), sep="\n")


if __name__ == "__main__":
    asyncio.run(_main([twin for twin in twins() if all(word in twin.name for word in sys.argv[1:])]))

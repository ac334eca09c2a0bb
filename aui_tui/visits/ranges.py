"""The address ranges that vendors publish: fetched, kept, searched, and written as allow-lists for servers."""

from __future__ import annotations

import asyncio
import hashlib
import html
import ipaddress
import json
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

import msgspec

from aui_tui import __version__
from aui_tui.errors import ConfigError, RecordError
from aui_tui.files import create
from aui_tui.model.decoding import from_json
from aui_tui.model.times import age, stamp
from aui_tui.model.visits import RANGES_OLD, RangeList
from aui_tui.text import clean, path_of
from aui_tui.visits.clients import Ranges, range_lists

if TYPE_CHECKING:
    from aui_tui.scan.policy import ScanPolicy
    from aui_tui.scan.probes import Answer, ProbePlan

SHORTEST: Final = {4: 8, 6: 19}
"""Prefix lengths below which a published range would cover a large part of the Internet: such a list is refused."""
MOST_PREFIXES: Final = 200_000


def published(data: bytes) -> list[str]:
    """Return the prefixes of a vendor's list: JSON of any shape that holds networks, or a page with such JSON in it.

    Raises RecordError with one sentence when there are none, or when one covers a large part of the Internet.
    """
    document = _document(data)
    prefixes = list(dict.fromkeys(_networks(document)))
    if not prefixes:
        raise RecordError("it holds no address ranges")
    if len(prefixes) > MOST_PREFIXES:
        raise RecordError(f"it holds more than {MOST_PREFIXES:,} ranges")
    for text in prefixes:
        net = ipaddress.ip_network(text, strict=False)
        if net.prefixlen < SHORTEST[net.version]:
            raise RecordError(f"its range {text} covers a large part of the Internet")
    return prefixes


def _document(data: bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except (ValueError, RecursionError):
        pass
    text = html.unescape(data.decode("utf-8", "replace"))
    at = text.find('"prefixes"')
    for _ in range(20):
        at = text.rfind("{", 0, at) if at > 0 else -1
        if at < 0:
            break
        try:
            return json.JSONDecoder().raw_decode(text, at)[0]
        except (ValueError, RecursionError):
            continue
    raise RecordError("it is not JSON, nor a page with JSON in it")


def _networks(document: Any) -> Iterator[str]:
    """Yield every address or network in a JSON document, whatever the keys (``ipv4Prefix``, ``ipv6Prefix``, others)."""
    todo = [document]
    while todo:
        part = todo.pop()
        if isinstance(part, dict):
            todo += list(part.values())[::-1]
        elif isinstance(part, list):
            todo += part[::-1]
        elif isinstance(part, str) and len(part) < 60 and ("." in part or ":" in part):
            try:
                yield str(ipaddress.ip_network(part.strip(), strict=False))
            except ValueError:
                continue


LARGEST: Final = 4 << 20
"""Bytes of a list."""
FIELDS: Final = (
    ("User-Agent", f"aui-tui/{__version__}"),
    ("Accept", "application/json, text/html;q=0.5"),
    ("Accept-Encoding", "identity"),
)


class Kept(RangeList, frozen=True, kw_only=True):
    """A fetched list as it is kept: ``etag`` is the server's validator, empty without."""

    etag: str = ""
    prefixes: tuple[str, ...]


class Updated(NamedTuple):
    """The outcome of one list: ``state`` is ``fetched``, ``unchanged`` or ``failed``, ``detail`` says more."""

    url: str
    state: str
    detail: str


class RangeBook:
    """The lists in ``folder``, one file each; ``broken``: those that cannot be read and count as not fetched."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.broken: list[str] = []

    def ranges(self) -> tuple[dict[str, Ranges], dict[str, RangeList]]:
        """Return the networks of every list that was fetched, and what to say of each, by the list's address."""
        networks: dict[str, Ranges] = {}
        described: dict[str, RangeList] = {}
        for url in range_lists():
            fetched = self.kept(url)
            if fetched is not None:
                networks[url] = Ranges(fetched.prefixes)
                described[url] = RangeList(url=url, fetched_at=fetched.fetched_at)
        return networks, described

    def kept(self, url: str) -> Kept | None:
        """Return the list at ``url`` as it was fetched last; None when it was not, or its file is broken."""
        path = self._path(url)
        try:
            fetched = from_json(path.read_bytes(), Kept)
            published(msgspec.json.encode(fetched.prefixes))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecordError):
            fetched = None
        if fetched is None or fetched.url != url:
            self.broken.append(url)
            return None
        return fetched

    async def update(
        self, access: ScanPolicy | None, *, tell: Callable[[Updated], None] = lambda _done: None
    ) -> list[Updated]:
        """Fetch the lists and keep each that is sound; the others stay as they are.

        ``access``: how they may be reached (None: as any public address). Raises ConfigError when the folder cannot be
        written.
        """
        from aui_tui.scan.network import Network
        from aui_tui.scan.policy import PUBLIC
        from aui_tui.scan.probes import probe

        access = access or PUBLIC
        async with Network(access) as network:

            async def fetch(url: str) -> Updated:
                fetched = self.kept(url)
                async with network.client() as client:
                    answer = await probe(client, _plan(url, fetched, access), access)
                done = self._take(url, fetched, answer, stamp(time.time()))
                tell(done)
                return done

            return list(await asyncio.gather(*(fetch(url) for url in range_lists())))

    def _take(self, url: str, fetched: Kept | None, answer: Answer, now: str) -> Updated:
        if answer.status == 304 and fetched is not None:
            self._keep(msgspec.structs.replace(fetched, fetched_at=now))
            return Updated(url, "unchanged", f"{len(fetched.prefixes):,} ranges")
        if answer.status != 200:
            reason = f"status {answer.status}" if answer.status else answer.detail or "no answer"
            return Updated(url, "failed", clean(reason, 160))
        try:
            if answer.cut:
                raise RecordError(f"it is longer than {LARGEST >> 20} MiB, or came too slowly")
            prefixes = tuple(published(answer.body))
        except RecordError as error:
            return Updated(url, "failed", str(error))
        etag = clean(answer.mapping().get("etag", ""), 200)
        self._keep(Kept(url=url, fetched_at=now, etag=etag, prefixes=prefixes))
        return Updated(url, "fetched", f"{len(prefixes):,} ranges")

    def _keep(self, fetched: Kept) -> None:
        data = msgspec.json.format(msgspec.json.encode(fetched), indent=1)
        create(self._path(fetched.url), [data], force=True, private=True)

    def _path(self, url: str) -> Path:
        return self._folder / f"{hashlib.sha256(url.encode()).hexdigest()[:24]}.json"


def _plan(url: str, fetched: Kept | None, access: ScanPolicy) -> ProbePlan:
    from aui_tui.scan.probes import ProbePlan, Url
    from aui_tui.scan.target import parse

    origin = parse(url, allow_private=access.allow_private).origin
    fields = list(FIELDS)
    if fetched is not None and fetched.etag.isascii() and fetched.etag:
        fields.append(("If-None-Match", fetched.etag))
    return ProbePlan("ranges", Url(origin, path_of(urlsplit(url))), tuple(fields), LARGEST)


ALLOW_LISTS: Final[Mapping[str, str]] = {"nginx": "{network} 1;", "cloudflare": "{network}"}
"""Forms of ``visits --format`` with what is written for each network: ``nginx``, lines of a geo block;
``cloudflare``, the text of an IP list.
"""


def allow_list(book: RangeBook, form: str) -> str:
    """Return the networks of the agents' lists that were fetched, as a file in a form of ALLOW_LISTS.

    Raises ConfigError when no list was fetched: an empty allow-list would shut every agent out.
    """
    lines: dict[str, None] = {}
    about: list[str] = []
    for url, users in range_lists().items():
        agents = [user.token for user in users if user.group == "agent"]
        fetched = book.kept(url) if agents else None
        if fetched is None:
            continue
        old = ", over 30 days old" if age(fetched.fetched_at, time.time()) > RANGES_OLD else ""
        about.append(f"# {', '.join(agents)}: {url}, fetched {fetched.fetched_at[:10]}{old}")
        for text in fetched.prefixes:
            lines.setdefault(ALLOW_LISTS[form].format(network=text))
    if not lines:
        raise ConfigError("No address ranges were fetched yet: add --update-ranges.")
    if form == "cloudflare":
        about = []  # an IP list takes networks alone
    return "\n".join([*about, *lines]) + "\n"

"""robots.txt by RFC 9309: bytes in, groups and rules out, and what they say of every tested token.

Accepted beyond the grammar, because crawlers accept it: a byte order mark, ``Name/1.0``, ``Name*`` and ``Name text``
as the product token ``Name``, ``* text`` as ``*``, and a blank in place of the colon on a line of exactly two words.
Misspelt keys are not rules. At most 1 MiB of whole lines is read (2.5 asks for 500 KiB), with every rule in them.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import compress
from typing import Final

from aui_tui.engine.robots_match import Budget, Group, RuleSet, normal
from aui_tui.records.observations import RobotsFacts, RobotsPolicy
from aui_tui.records.registry import Registry
from aui_tui.text import clean

MAX_BYTES: Final = 1 << 20
KEPT: Final = 64 << 10
"""Bytes of the longest file that is kept whole with what was seen."""
TEXT_LIMIT: Final = 200
"""Characters kept of a quoted line, spelling or signal."""

_BOM: Final = b"\xef\xbb\xbf"
_BLANK: Final = b" \t"
_TOKEN: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-")
_TOKEN_OCTETS: Final = bytes(sorted(_TOKEN))
_AGENT, _ALLOW, _DISALLOW, _SIGNAL = b"user-agent", b"allow", b"disallow", b"content-signal"
_SHORTEST: Final = len(b"allow:")
_MARKUP: Final = (b"<!doctype", b"<html", b"<head", b"<body", b"<script", b"<title", b"<meta", b"<!--", b"<?xml")


class Robots:
    """A parsed robots.txt.

    ``groups``: the groups that name a product token (``*`` among them), the token in lower case. ``lines``,
    ``spellings``: number of the first line that names it, and its value as written. ``names``: distinct User-agent
    values, case ignored. ``signal``, ``signal_line``: the first Content-Signal line that is not a comment. ``cut``:
    more bytes than are read.
    """

    def __init__(self) -> None:
        self.groups: dict[bytes, list[Group]] = {}
        self.lines: dict[bytes, int] = {}
        self.spellings: dict[bytes, bytes] = {}
        self.names: set[bytes] = set()
        self.signal = b""
        self.signal_line = 0
        self.cut = False
        self._rules: dict[bytes, RuleSet] = {}
        self._shared: dict[tuple[int, ...], RuleSet] = {}
        self._budget = Budget()

    def allows(self, token: str, path_or_url: str) -> bool:
        """Tell whether a crawler with the product token ``token`` may fetch a path or an absolute URL.

        ``token`` may also be a whole User-Agent header; the longest listed name that stands in it as a whole word
        counts. Of a URL, path and query count, in the normal form of RFC 9309, 2.2.2.
        """
        key = self._key(token)
        path = normal(_request_target(path_or_url))
        if path == b"/robots.txt" or path.startswith(b"/robots.txt?"):
            return True
        rule = self._rules_of(key if key in self.groups else b"*").decide(path)
        return rule is None or rule.allow

    def policy(self, token: str) -> str:
        """Return ``unlisted``, ``blocked``, ``partial`` or ``allowed``: what the token's own groups amount to."""
        key = self._key(token)
        return self._rules_of(key).verdict(self._budget)[0] if key in self.groups else "unlisted"

    def explain(self, token: str) -> RobotsPolicy:
        """Return policy and effective policy (own groups, else ``*``) of a token, with the deciding line."""
        key = self._key(token)
        own = key in self.groups
        name = key if own else b"*"
        if name not in self.groups:
            return RobotsPolicy(token=token)
        policy, rule = self._rules_of(name).verdict(self._budget)
        spelling = self.spellings[name]
        return RobotsPolicy(
            token=token,
            policy=policy if own else "unlisted",
            effective="open" if policy == "allowed" else policy,
            line=rule.line if rule else self.lines[name],
            rule=_quote(rule.text) if rule else _quote(b"User-agent: " + spelling),
            spelling=_quote(spelling) if own else "",
        )

    def note_agent(self, token: bytes, line: int, spelling: bytes) -> None:
        """Note that a User-agent line names ``token``."""
        if token not in self.groups:
            self.groups[token] = []
            self.lines[token] = line
            self.spellings[token] = spelling

    def group_of(self, alike: dict[frozenset[bytes], Group], named: set[bytes]) -> Group:
        """Return the group for rules of the tokens ``named``; ``alike``: the groups made so far, by their tokens."""
        key = frozenset(named)
        known = alike.get(key)
        if known is None:
            known = alike[key] = Group()
            for token in key:
                self.groups[token].append(known)
        return known

    def _key(self, token: str) -> bytes:
        key = token.strip().lower().encode("utf-8", "surrogatepass")
        if key in self.groups or b"/" not in key:
            return key
        found = [name for name in self.groups if name != b"*" and _word_in(name, key)]
        return max(found, key=len, default=key)

    def _rules_of(self, name: bytes) -> RuleSet:
        found = self._rules.get(name)
        if found is None:
            groups = self.groups.get(name, [])
            found = self._shared.setdefault(tuple(map(id, groups)), RuleSet(groups))
            self._rules[name] = found
        return found


def parse(body: bytes) -> Robots:
    """Parse the first 1 MiB of whole lines of ``body``. Never fails: what is not a record is passed over (2.2.4)."""
    robots = Robots()
    if len(body) > MAX_BYTES:
        robots.cut = True
        body = body[: max(body.rfind(b"\n", 0, MAX_BYTES), body.rfind(b"\r", 0, MAX_BYTES)) + 1]
    body = body.removeprefix(_BOM)
    tokens: dict[bytes, bytes] = {}
    alike: dict[frozenset[bytes], Group] = {}
    named: set[bytes] = set()
    group: Group | None = None
    lines = body.splitlines()
    for number, line in compress(enumerate(lines, 1), map(_SHORTEST.__le__, map(len, lines))):
        key, value = record(line)
        if key in (_ALLOW, _DISALLOW):
            if group is None:
                group = robots.group_of(alike, named)
            group.add(key == _ALLOW, value, number, line)
        elif key == _AGENT:
            if group is not None:
                named, group = set(), None
            if value:
                token = tokens.get(value)
                if token is None:
                    token = tokens[value] = token_of(value)
                named.add(token)
                robots.note_agent(token, number, value)
        elif key == _SIGNAL and not robots.signal:
            robots.signal = value
            robots.signal_line = number if robots.signal else 0
    robots.names = {value.lower() for value in tokens}
    return robots


def record(line: bytes) -> tuple[bytes, bytes]:
    """Return key, in lower case, and value of a line; two empty ones for a line that is not a record."""
    text = line.partition(b"#")[0] if b"#" in line else line
    key, colon, value = text.partition(b":")
    key = key.strip(_BLANK).lower()
    if not colon:
        words = key.split()
        if len(words) != 2 or words[0] not in (_AGENT, _ALLOW, _DISALLOW):
            return b"", b""
        key, value = words[0], text.split()[1]
    return key, value.strip(_BLANK)


def facts(body: bytes, status: int, registry: Registry, content_type: str = "") -> RobotsFacts:
    """Return what the answer to GET /robots.txt is and says (RFC 9309, 2.3.1).

    ``status`` 0 means no answer. A final 3xx counts as unavailable (2.3.1.2), like 4xx: no rules. A token that the
    registry lists as an alias is another token: it says nothing of the agent's own.
    """
    kind = _kind(status)
    if kind != "rules":
        effective = "unknown" if kind == "unknown" else "open"
        return RobotsFacts(
            kind=kind,
            agents=tuple(RobotsPolicy(token=agent.token, effective=effective) for agent in registry.agents),
            crawlers=tuple(RobotsPolicy(token=crawler.token, effective=effective) for crawler in registry.crawlers),
        )
    robots = parse(body)
    if _is_html(body, content_type, robots):
        robots, kind = Robots(), "html"
    star = robots.explain("*")
    blocked = star.effective == "blocked"
    return RobotsFacts(
        kind=kind,
        names=len(robots.names),
        agents=_explain_all(robots, (agent.token for agent in registry.agents)),
        crawlers=_explain_all(robots, (crawler.token for crawler in registry.crawlers)),
        wildcard_block=blocked,
        wildcard_line=star.line if blocked else 0,
        signal=_quote(robots.signal),
        signal_line=robots.signal_line,
        cut=robots.cut,
        text="" if kind == "html" or robots.cut else _kept(body),
    )


def _kept(body: bytes) -> str:
    """Return the file as text where it is short enough to be kept and reads the same when cleaned, else nothing."""
    if len(body) > KEPT:
        return ""
    try:
        text = body.removeprefix(_BOM).decode()
    except UnicodeDecodeError:
        return ""
    cleaned = clean(text, block=True)
    return cleaned if cleaned.split() == text.split() else ""


def _explain_all(robots: Robots, tokens: Iterable[str]) -> tuple[RobotsPolicy, ...]:
    return tuple(robots.explain(token) for token in tokens)


def token_of(value: bytes) -> bytes:
    """Return the product token that a User-agent value names, in lower case; the whole value when it names none."""
    folded = value.lower()
    first = folded.replace(b"\t", b" ").partition(b" ")[0]
    if first == b"*":
        return first
    first = first.partition(b"/")[0].rstrip(b"*")
    return folded if not first or first.translate(None, _TOKEN_OCTETS) else first


def _kind(status: int) -> str:
    if 200 <= status <= 299:
        return "rules"
    return "unknown" if status == 0 or status >= 500 else "none"


def _is_html(body: bytes, content_type: str, robots: Robots) -> bool:
    head = body[:1024].removeprefix(_BOM).lstrip().lower()
    if not head.startswith(_MARKUP):
        return False
    return not robots.groups or content_type.partition(";")[0].strip().lower() in ("text/html", "application/xhtml+xml")


def _request_target(path_or_url: str) -> bytes:
    """Return path and query of a path or an absolute URL as octets, the fragment dropped."""
    octets = path_or_url.encode("utf-8", "surrogatepass").partition(b"#")[0]
    if not octets.startswith(b"/") and b"://" in octets:
        rest = octets.partition(b"://")[2]
        starts = [at for at in (rest.find(b"/"), rest.find(b"?")) if at >= 0]
        octets = rest[min(starts) :] if starts else b""
    return octets if octets.startswith(b"/") else b"/" + octets


def _word_in(name: bytes, header: bytes) -> bool:
    at = header.find(name)
    while at >= 0:
        end = at + len(name)
        if (at == 0 or header[at - 1] not in _TOKEN) and (end == len(header) or header[end] not in _TOKEN):
            return True
        at = header.find(name, at + 1)
    return False


def _quote(octets: bytes) -> str:
    return clean(octets.decode("utf-8", "replace"), TEXT_LIMIT)

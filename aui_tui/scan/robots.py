"""robots.txt by RFC 9309: bytes in, groups and rules out, and what they say of every tested token.

Paths match in linear time: octets after percent-decoding, most octets win, Allow wins a tie (2.2.2), ``*`` and ``$``
(2.2.3). Accepted beyond the grammar, because crawlers accept it: a byte order mark, ``Name/1.0``, ``Name*`` and
``Name text`` as the product token ``Name``, ``* text`` as ``*``, and a blank in place of the colon on a line of exactly
two words. Misspelt keys are not rules. At most 1 MiB of whole lines is read (2.5 asks for 500 KiB), with every rule in
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final

from aui_tui.model.observations import RobotsFacts, RobotsPolicy
from aui_tui.model.registry import Registry
from aui_tui.text import clean

FILLER: Final = b"\x00"
"""An octet that no normal form contains: it stands for text that no rule names."""
GENERIC: Final = b"/" + FILLER
"""Normal form of a path that no literal of any rule names."""
MATCH_BUDGET: Final = 20_000
"""Comparisons with the rules of one crawler after which a Disallow is taken to have effect."""

_UNRESERVED: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
_RESERVED: Final = b":/?#[]@!$&'()*+,;="
_HEX: Final = frozenset(b"0123456789ABCDEFabcdef")
_BLANK: Final = b" \t"
_WILD: Final = b"*$"
_PLAIN: Final = bytes(code for code in _UNRESERVED + _RESERVED if code not in _WILD)
_PERCENT, _STAR, _DOLLAR = b"%*$"
_KEPT: Final = frozenset(_PLAIN + b"%")
_DECODED: Final = frozenset(_UNRESERVED)


def normal(octets: bytes) -> bytes:
    """Return ``octets`` of a path in the form in which octets are compared (RFC 9309, 2.2.2; RFC 3986, 6.2.2).

    Escapes of unreserved characters are decoded, other escapes get upper-case digits, octets that a URI cannot hold
    (outside ASCII, controls, blanks, ``"<>\\^`{|}``) are escaped, and so are ``*`` and ``$``.
    """
    if not octets.translate(None, _PLAIN):
        return octets
    out = bytearray()
    at, size = 0, len(octets)
    while at < size:
        code = octets[at]
        if code == _PERCENT and at + 2 < size and octets[at + 1] in _HEX and octets[at + 2] in _HEX:
            value = int(octets[at + 1 : at + 3], 16)
            if value in _DECODED:
                out.append(value)
            else:
                out += b"%%%02X" % value
            at += 3
            continue
        if code in _KEPT:
            out.append(code)
        else:
            out += b"%%%02X" % code
        at += 1
    return bytes(out)


class Rule:
    """One Allow or Disallow line: its value, its number from 1, the line as written, and the value ready to match.

    ``weight``: what a match is worth: most octets of the normal form win, wildcards included, and Allow wins a tie
    (RFC 9309, 2.2.2).
    """

    __slots__ = ("allow", "anchored", "line", "parts", "text", "value", "weight")

    def __init__(self, allow: bool, value: bytes, line: int, text: bytes) -> None:
        self.allow, self.value, self.line, self.text = allow, value, line, text
        self.anchored = value.endswith(b"$")
        self.parts = [normal(part) for part in value.removesuffix(b"$").split(b"*")]
        self.weight = (sum(map(len, self.parts)) + len(self.parts) - 1 + self.anchored, allow)

    def matches(self, path: bytes) -> bool:
        """Tell whether the rule matches the beginning (with ``$``: the whole) of ``path`` in its normal form.

        Each literal part is looked for once, from where the one before it ended: linear in both lengths.
        """
        first = self.parts[0]
        if not path.startswith(first):
            return False
        at = len(first)
        if len(self.parts) == 1:
            return not self.anchored or at == len(path)
        for part in self.parts[1:-1]:
            at = path.find(part, at)
            if at < 0:
                return False
            at += len(part)
        last = self.parts[-1]
        if self.anchored:
            return len(path) - len(last) >= at and path.endswith(last)
        return path.find(last, at) >= 0

    def sample_paths(self) -> tuple[bytes, ...]:
        """Return paths that stand for every path that this rule matches; none when it can match no path.

        Wildcards, and what may follow the end, are filled with text that no rule names. Another rule that matches such
        a path finds its literals in this one's literals, so it matches whatever stands in place of the filler.
        A value that begins with ``*/`` matches paths with and without something before that slash.
        """
        head = self.parts[0]
        end = b"" if self.anchored else FILLER
        if head:
            return (FILLER.join(self.parts) + end,) if head.startswith(b"/") else ()
        if len(self.parts) == 1:
            return ()
        rest = FILLER.join(self.parts[1:]) + end
        return (GENERIC + rest, rest) if rest.startswith(b"/") else (GENERIC + rest,)


Rules = dict[tuple[bool, bytes], Rule]
"""The distinct rules of some groups by what they say; of equal rules the first line is kept."""


class Group:
    """Rules that hold together, ready to match.

    Rules without wildcards are found by their octets, so that a file of many thousand rules costs a look-up for each
    length that occurs, not a comparison for each rule.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.compared = 0
        self._literal: dict[bytes, Rule] = {}
        self._wild: list[Rule] = []
        for rule in sorted(rules.values(), key=lambda rule: rule.weight, reverse=True):
            if rule.anchored or len(rule.parts) > 1:
                self._wild.append(rule)
            elif rule.value:
                self._literal.setdefault(rule.parts[0], rule)
        self._lengths = sorted(set(map(len, self._literal)), reverse=True)

    @cached_property
    def generic(self) -> Rule | None:
        """The rule that decides on a path that no rule names."""
        return self.decide(GENERIC)

    def decide(self, path: bytes) -> Rule | None:
        """Return the rule of most weight that matches ``path`` (normal form), or None."""
        rule_found: Rule | None = None
        self.compared += 1
        for length in self._lengths:
            if length <= len(path):
                self.compared += 1
                rule_found = self._literal.get(path[:length])
                if rule_found is not None:
                    break
        for rule in self._wild:
            if rule_found is not None and rule.weight <= rule_found.weight:
                break
            self.compared += 1
            if rule.matches(path):
                rule_found = rule
                break
        return rule_found


class RuleSet:
    """The rules that hold for one crawler, all its groups merged (RFC 9309, 2.2.1)."""

    def __init__(self, groups: Sequence[Group]) -> None:
        self.groups = groups

    def decide(self, path: bytes) -> Rule | None:
        """Return the rule that decides on ``path`` (normal form), or None: then it is allowed."""
        return _heaviest(group.decide(path) for group in self.groups)

    @cached_property
    def verdict(self) -> tuple[str, Rule | None]:
        """What the rules amount to and the rule that decides it.

        ``blocked``: a path that no rule names is disallowed. ``partial``: some Disallow takes effect on some path.
        ``allowed``: none does; the rule is then the Allow that wins everywhere, else the first line, else None.
        """
        generic = _heaviest(group.generic for group in self.groups)
        if generic is not None and not generic.allow:
            return "blocked", generic
        for group in self.groups:
            for (allow, value), rule in group.rules.items():
                if allow or not value or (True, value) in group.rules:
                    continue
                for path in rule.sample_paths():
                    if path == b"/robots.txt":
                        continue
                    if sum(group.compared for group in self.groups) > MATCH_BUDGET:
                        return "partial", rule
                    winner = self.decide(path)
                    if winner is not None and not winner.allow:
                        return "partial", winner
        rules = (rule for group in self.groups for rule in group.rules.values())
        return "allowed", generic or min(rules, key=lambda rule: rule.line, default=None)


def _heaviest(rules: Iterable[Rule | None]) -> Rule | None:
    """Return the rule that weighs most, of equals the first in the file."""
    present = (rule for rule in rules if rule is not None)
    return max(present, key=lambda rule: (rule.weight, -rule.line), default=None)


MAX_BYTES: Final = 1 << 20
MAX_STORED_BYTES: Final = 64 << 10
"""Bytes of the longest robots.txt whose text is stored with the observations."""
TEXT_LIMIT: Final = 200
"""Characters kept of a quoted line, spelling or signal."""

_BOM: Final = b"\xef\xbb\xbf"
_TOKEN: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-")
_TOKEN_OCTETS: Final = bytes(sorted(_TOKEN))
_AGENT, _ALLOW, _DISALLOW, _SIGNAL = b"user-agent", b"allow", b"disallow", b"content-signal"
_MARKUP: Final = (b"<!doctype", b"<html", b"<head", b"<body", b"<script", b"<title", b"<meta", b"<!--", b"<?xml")


class Robots:
    """A parsed robots.txt.

    ``tokens``: the product tokens that are named (``*`` among them), in lower case, each with the number of the first
    line that names it and its value there. ``names``: distinct User-agent values, case ignored. ``signal``,
    ``signal_line``: the first Content-Signal line for ``*``, else the first of all. ``cut``: more bytes than are read.
    """

    def __init__(self) -> None:
        self.tokens: dict[bytes, tuple[int, bytes]] = {}
        self.groups: dict[frozenset[bytes], Rules] = {}
        self.names: set[bytes] = set()
        self.signal = b""
        self.signal_line = 0
        self.cut = False
        self._rules: dict[bytes, RuleSet] = {}
        self._shared: dict[frozenset[bytes], Group] = {}

    def allows(self, token: str, path_or_url: str) -> bool:
        """Tell whether a crawler with the product token ``token`` may fetch a path or an absolute URL.

        ``token`` may also be a whole User-Agent header; the longest listed name that stands in it as a whole word
        counts. Of a URL, path and query count, in the normal form of RFC 9309, 2.2.2.
        """
        key = self._key(token)
        path = normal(_request_target(path_or_url))
        if path == b"/robots.txt" or path.startswith(b"/robots.txt?"):
            return True
        rule = self._rules_of(key if key in self.tokens else b"*").decide(path)
        return rule is None or rule.allow

    def policy(self, token: str) -> str:
        """Return ``unlisted``, ``blocked``, ``partial`` or ``allowed``: what the token's own groups amount to."""
        key = self._key(token)
        return self._rules_of(key).verdict[0] if key in self.tokens else "unlisted"

    def explain(self, token: str) -> RobotsPolicy:
        """Return policy and effective policy (own groups, else ``*``) of a token, with the deciding line."""
        key = self._key(token)
        own = key in self.tokens
        name = key if own else b"*"
        if name not in self.tokens:
            return RobotsPolicy(token=token)
        policy, rule = self._rules_of(name).verdict
        line, spelling = self.tokens[name]
        return RobotsPolicy(
            token=token,
            policy=policy if own else "unlisted",
            effective="open" if policy == "allowed" else policy,
            line=rule.line if rule else line,
            rule=_quote(rule.text) if rule else _quote(b"User-agent: " + spelling),
            spelling=_quote(spelling) if own else "",
        )

    def _key(self, token: str) -> bytes:
        key = token.strip().lower().encode("utf-8", "surrogatepass")
        if key in self.tokens or b"/" not in key:
            return key
        names = [name for name in self.tokens if name != b"*" and _word_in(name, key)]
        return max(names, key=len, default=key)

    def _rules_of(self, name: bytes) -> RuleSet:
        """Return the rules of all groups that name ``name``; the largest of them is made ready once for all names."""
        if name not in self._rules:
            own = {names: rules for names, rules in self.groups.items() if name in names}
            largest = max(own, key=lambda names: len(own[names]), default=frozenset[bytes]())
            others: Rules = {}
            for key, rule in (item for names, rules in own.items() if names != largest for item in rules.items()):
                others.setdefault(key, rule)
            if largest not in self._shared:
                self._shared[largest] = Group(own.get(largest, {}))
            groups = self._shared[largest], Group(others)
            self._rules[name] = RuleSet(groups if next(iter(own), largest) == largest else groups[::-1])
        return self._rules[name]


def parse(body: bytes) -> Robots:
    """Parse the first 1 MiB of whole lines of ``body``. Never fails: what is not a record is passed over (2.2.4)."""
    robots = Robots()
    if len(body) > MAX_BYTES:
        robots.cut = True
        body = body[: max(body.rfind(b"\n", 0, MAX_BYTES), body.rfind(b"\r", 0, MAX_BYTES)) + 1]
    body = body.removeprefix(_BOM)
    spellings: dict[bytes, bytes] = {}
    named: list[bytes] = []
    rules: Rules | None = None
    signals: dict[bool, tuple[bytes, int]] = {}
    for number, line in enumerate(body.splitlines(), 1):
        if not line or line.startswith(b"#"):
            continue
        key, value = record(line)
        if key in (_ALLOW, _DISALLOW):
            if rules is None:
                rules = robots.groups.setdefault(frozenset(named), {})
            if (key == _ALLOW, value) not in rules:
                rules[key == _ALLOW, value] = Rule(key == _ALLOW, value, number, line.strip(_BLANK))
        elif key == _AGENT:
            if rules is not None:
                named, rules = [], None
            if value:
                token = spellings.get(value)
                if token is None:
                    token = spellings[value] = token_of(value)
                    robots.tokens.setdefault(token, (number, value))
                named.append(token)
        elif key == _SIGNAL and value:
            signals.setdefault(b"*" in named, (value, number))
    robots.names = {value.lower() for value in spellings}
    robots.signal, robots.signal_line = signals.get(True) or signals.get(False) or (b"", 0)
    return robots


def record(line: bytes) -> tuple[bytes, bytes]:
    """Return key, in lower case, and value of a line; two empty ones for a line that is not a record."""
    text = line.partition(b"#")[0] if b"#" in line else line
    written, colon, value = text.partition(b":")
    key = written.strip(_BLANK).lower()
    if not colon:
        words = key.split()
        if len(words) != 2 or words[0] not in (_AGENT, _ALLOW, _DISALLOW):
            return b"", b""
        key, value = words[0], text.split()[1]
    return key, value.strip(_BLANK)


def answered(body: bytes, status: int, content_type: str = "") -> tuple[str, Robots]:
    """Return the kind of an answer to GET /robots.txt (``RobotsFacts.kind``), and the rules in it.

    ``status`` 0 means no answer. A final 3xx counts as unavailable (RFC 9309, 2.3.1.2), like 4xx: no rules.
    """
    if not 200 <= status <= 299:
        return "unknown" if status == 0 or status >= 500 else "none", Robots()
    rules = parse(body)
    return ("html", Robots()) if _is_html(body, content_type, rules) else ("rules", rules)


def facts(body: bytes, status: int, registry: Registry, content_type: str = "") -> RobotsFacts:
    """Return what the answer to GET /robots.txt is (:func:`answered`) and says.

    A token that the registry lists as an alias is another token: it says nothing of the agent's own.
    """
    kind, robots = answered(body, status, content_type)
    agents, crawlers = ([entry.token for entry in entries] for entries in (registry.agents, registry.crawlers))
    if kind != "rules":
        bare = RobotsFacts(kind=kind)
        return RobotsFacts(kind=kind, agents=bare.policies(agents), crawlers=bare.policies(crawlers))
    star = robots.explain("*")
    blocked = star.effective == "blocked"
    return RobotsFacts(
        kind=kind,
        names=len(robots.names),
        agents=tuple(map(robots.explain, agents)),
        crawlers=tuple(map(robots.explain, crawlers)),
        wildcard_block=blocked,
        signal=_quote(robots.signal),
        signal_line=robots.signal_line,
        cut=robots.cut,
        text="" if robots.cut else _storable_text(body),
    )


def _storable_text(body: bytes) -> str:
    """Return the file as text where it is short enough to be kept and reads the same when cleaned, else nothing."""
    if len(body) > MAX_STORED_BYTES:
        return ""
    try:
        text = body.removeprefix(_BOM).decode()
    except UnicodeDecodeError:
        return ""
    cleaned = clean(text, block=True)
    return cleaned if cleaned.encode().split() == text.encode().split() else ""  # blanks of ASCII alone are alike


def token_of(value: bytes) -> bytes:
    """Return the product token that a User-agent value names, in lower case; the whole value when it names none."""
    folded = value.lower()
    first = folded.replace(b"\t", b" ").partition(b" ")[0]
    if first == b"*":
        return first
    first = first.partition(b"/")[0].rstrip(b"*")
    return folded if not first or first.translate(None, _TOKEN_OCTETS) else first


def _is_html(body: bytes, content_type: str, robots: Robots) -> bool:
    head = body[:1024].removeprefix(_BOM).lstrip().lower()
    if not head.startswith(_MARKUP):
        return False
    return not robots.tokens or content_type.partition(";")[0].strip().lower() in ("text/html", "application/xhtml+xml")


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

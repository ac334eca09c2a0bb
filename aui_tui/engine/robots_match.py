"""Path patterns of robots.txt: normal form, matching in linear time, and what a set of rules amounts to.

RFC 9309 section 2.2.2 (octets after percent-decoding, most octets win, Allow wins a tie) and 2.2.3 (``*``, ``$``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

FILLER: Final = b"\x00"
"""An octet that no normal form contains: it stands for text that no rule names."""
GENERIC: Final = b"/" + FILLER
"""Normal form of a path that no literal of any rule names."""
MATCH_BUDGET: Final = 50_000
"""Comparisons spent on one robots.txt before a Disallow is taken to have effect."""

_UNRESERVED: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
_RESERVED: Final = b":/?#[]@!$&'()*+,;="
_HEX: Final = frozenset(b"0123456789ABCDEFabcdef")
_WILD: Final = b"*$"
_PLAIN: Final = bytes(code for code in _UNRESERVED + _RESERVED if code not in _WILD)
_PLAIN_OR_STAR: Final = _PLAIN + b"*"
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


class Pattern:
    """The value of an Allow or Disallow line, ready to match.

    ``size`` is the number of octets of its normal form, wildcards included: the specificity of RFC 9309, 2.2.2.
    """

    __slots__ = ("anchored", "parts", "size")

    def __init__(self, value: bytes) -> None:
        self.anchored = value.endswith(b"$")
        if self.anchored:
            value = value[:-1]
        parts = value.split(b"*")
        if value.translate(None, _PLAIN_OR_STAR):
            parts = [normal(part) for part in parts]
            self.size = sum(map(len, parts)) + len(parts) - 1 + self.anchored
        else:
            self.size = len(value) + self.anchored
        self.parts = parts

    def matches(self, path: bytes) -> bool:
        """Tell whether the pattern matches the beginning (with ``$``: the whole) of ``path`` in its normal form.

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

    def witnesses(self) -> tuple[bytes, ...]:
        """Return paths that stand for every path that this pattern matches; none when it can match no path.

        Wildcards, and what may follow the end, are filled with text that no rule names. Another pattern that matches
        such a path finds its literals in this one's literals, so it matches whatever stands in place of the filler.
        A pattern that begins with ``*/`` matches paths with and without something before that slash.
        """
        head = self.parts[0]
        end = b"" if self.anchored else FILLER
        if head:
            return (FILLER.join(self.parts) + end,) if head.startswith(b"/") else ()
        if len(self.parts) == 1:
            return ()
        rest = FILLER.join(self.parts[1:]) + end
        return (GENERIC + rest, rest) if rest.startswith(b"/") else (GENERIC + rest,)


class Rule:
    """One Allow or Disallow line: its value, its number from 1, and the line as written."""

    __slots__ = ("_pattern", "allow", "line", "text", "value")

    def __init__(self, allow: bool, value: bytes, line: int, text: bytes) -> None:
        self.allow = allow
        self.value = value
        self.line = line
        self.text = text
        self._pattern: Pattern | None = None

    @property
    def pattern(self) -> Pattern:
        """The value, ready to match."""
        if self._pattern is None:
            self._pattern = Pattern(self.value)
        return self._pattern

    @property
    def weight(self) -> tuple[int, bool]:
        """What a match is worth: most octets win, Allow wins a tie (RFC 9309, 2.2.2)."""
        return self.pattern.size, self.allow


class Budget:
    """Comparisons that are left for one robots.txt."""

    __slots__ = ("left",)

    def __init__(self, left: int = MATCH_BUDGET) -> None:
        self.left = left


class Group:
    """The distinct rules of all groups that name the same crawlers; of equal rules the first line is kept.

    Rules without wildcards are found by their octets, so that a file of many thousand rules costs a look-up for each
    length that occurs, not a comparison for each rule.
    """

    __slots__ = ("_generic", "_lengths", "_literal", "_wild", "allows", "disallows")

    def __init__(self) -> None:
        self.allows: dict[bytes, Rule] = {}
        self.disallows: dict[bytes, Rule] = {}
        self._generic: tuple[Rule | None] | None = None
        self._literal: dict[bytes, Rule] | None = None
        self._lengths: list[int] = []
        self._wild: list[tuple[bytes, Rule]] = []

    def add(self, allow: bool, value: bytes, line: int, text: bytes) -> None:
        """Add one rule; one that is there already changes nothing."""
        known = self.allows if allow else self.disallows
        if value not in known:
            known[value] = Rule(allow, value, line, text.strip(b" \t"))

    def generic(self) -> Rule | None:
        """Return the rule that decides on a path that no rule names; found once, however many crawlers ask."""
        if self._generic is None:
            self._generic = (self.decide(GENERIC),)
        return self._generic[0]

    def decide(self, path: bytes, budget: Budget | None = None) -> Rule | None:
        """Return the rule of most weight that matches ``path`` (normal form), or None; takes from ``budget``."""
        literal = self._index()
        found: Rule | None = None
        looked = 1
        for length in self._lengths:
            if length <= len(path):
                looked += 1
                found = literal.get(path[:length])
                if found is not None:
                    break
        for head, rule in self._wild:
            if found is not None and rule.weight <= found.weight:
                break
            looked += 1
            if path.startswith(head) and rule.pattern.matches(path):
                found = rule
                break
        if budget is not None:
            budget.left -= looked
        return found

    def _index(self) -> dict[bytes, Rule]:
        if self._literal is None:
            self._literal = {}
            for rules in (self.allows, self.disallows):
                for rule in rules.values():
                    pattern = rule.pattern
                    if not rule.value:
                        continue
                    if pattern.anchored or len(pattern.parts) > 1:
                        self._wild.append((pattern.parts[0], rule))
                    else:
                        self._literal.setdefault(pattern.parts[0], rule)
            self._lengths = sorted(set(map(len, self._literal)), reverse=True)
            self._wild.sort(key=lambda entry: entry[1].weight, reverse=True)
        return self._literal


class RuleSet:
    """The rules that hold for one crawler, all its groups merged (RFC 9309, 2.2.1)."""

    __slots__ = ("_verdict", "groups")

    def __init__(self, groups: Sequence[Group]) -> None:
        self.groups = groups
        self._verdict: tuple[str, Rule | None] | None = None

    def decide(self, path: bytes, budget: Budget | None = None) -> Rule | None:
        """Return the rule that decides on ``path`` (normal form), or None: then it is allowed."""
        return _heaviest(group.decide(path, budget) for group in self.groups)

    def verdict(self, budget: Budget) -> tuple[str, Rule | None]:
        """Return what the rules amount to and the rule that decides it.

        ``blocked``: a path that no rule names is disallowed. ``partial``: some Disallow takes effect on some path.
        ``allowed``: none does; the rule is then the Allow that wins everywhere, else the first line, else None.
        """
        if self._verdict is None:
            self._verdict = self._judge(budget)
        return self._verdict

    def _judge(self, budget: Budget) -> tuple[str, Rule | None]:
        generic = _heaviest(group.generic() for group in self.groups)
        if generic is not None and not generic.allow:
            return "blocked", generic
        for group in self.groups:
            for value, rule in group.disallows.items():
                if not value or value in group.allows:
                    continue
                for path in rule.pattern.witnesses():
                    if path == b"/robots.txt":
                        continue
                    if budget.left < 0:
                        return "partial", rule
                    found = self.decide(path, budget)
                    if found is not None and not found.allow:
                        return "partial", found
        return "allowed", generic or self._first()

    def _first(self) -> Rule | None:
        rules = (rule for group in self.groups for known in (group.allows, group.disallows) for rule in known.values())
        return min(rules, key=lambda rule: rule.line, default=None)


def _heaviest(rules: Iterable[Rule | None]) -> Rule | None:
    return max((rule for rule in rules if rule is not None), key=lambda rule: rule.weight, default=None)

"""Path patterns of robots.txt: normal form, matching in linear time, and what a set of rules amounts to.

RFC 9309 section 2.2.2 (octets after percent-decoding, most octets win, Allow wins a tie) and 2.2.3 (``*``, ``$``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

FILLER: Final = b"\x00"
"""An octet that no normal form contains: it stands for text that no rule names."""
GENERIC: Final = b"/" + FILLER
"""Normal form of a path that no literal of any rule names."""
MATCH_BUDGET: Final = 100_000
"""Comparisons spent on one robots.txt before a Disallow is taken to have effect."""

_UNRESERVED: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_HEX: Final = frozenset(b"0123456789ABCDEFabcdef")
_PLAIN: Final = bytes(code for code in range(0x21, 0x7F) if code not in b"%*$")
_PLAIN_OR_STAR: Final = _PLAIN + b"*"
_PERCENT, _STAR, _DOLLAR = b"%*$"


def normal(octets: bytes, *, decode: bool = True, escape: bool = True) -> bytes:
    """Return ``octets`` of a path in the form in which octets are compared (RFC 9309, 2.2.2; RFC 3986, 6.2.2).

    Escapes of unreserved characters are decoded (unless ``decode`` is false), other escapes get upper-case digits,
    octets outside printable ASCII are escaped (unless ``escape`` is false), and so are ``*`` and ``$``.
    """
    if not octets.translate(None, _PLAIN):
        return octets
    out = bytearray()
    at, size = 0, len(octets)
    while at < size:
        code = octets[at]
        if code == _PERCENT and at + 2 < size and octets[at + 1] in _HEX and octets[at + 2] in _HEX:
            value = int(octets[at + 1 : at + 3], 16)
            if decode and value in _UNRESERVED:
                out.append(value)
            else:
                out += b"%%%02X" % value
            at += 3
            continue
        if code in (_STAR, _DOLLAR) or code == 0 or (escape and not 0x20 < code < 0x7F):
            out += b"%%%02X" % code
        else:
            out.append(code)
        at += 1
    return bytes(out)


class Pattern:
    """The value of an Allow or Disallow line, ready to match.

    ``size`` is the number of octets of its normal form, wildcards included: the specificity of RFC 9309, 2.2.2.
    """

    __slots__ = ("anchored", "parts", "size")

    def __init__(self, value: bytes, *, decode: bool = True) -> None:
        self.anchored = value.endswith(b"$")
        if self.anchored:
            value = value[:-1]
        parts = value.split(b"*")
        if value.translate(None, _PLAIN_OR_STAR):
            parts = [normal(part, decode=decode) for part in parts]
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

    __slots__ = ("_exact", "_pattern", "allow", "line", "text", "value")

    def __init__(self, allow: bool, value: bytes, line: int, text: bytes) -> None:
        self.allow = allow
        self.value = value
        self.line = line
        self.text = text
        self._pattern: Pattern | None = None
        self._exact: Pattern | None = None

    @property
    def pattern(self) -> Pattern:
        """The value in normal form."""
        if self._pattern is None:
            self._pattern = Pattern(self.value)
        return self._pattern

    @property
    def exact(self) -> Pattern:
        """The value with its escapes of unreserved characters as they stand."""
        if self._exact is None:
            self._exact = Pattern(self.value, decode=False)
        return self._exact


class Budget:
    """Comparisons that are left."""

    __slots__ = ("left",)

    def __init__(self, left: int = MATCH_BUDGET) -> None:
        self.left = left


class RuleSet:
    """The rules that hold for one crawler, all its groups merged (RFC 9309, 2.2.1)."""

    __slots__ = ("_ranked", "_verdict", "rules")

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = rules
        self._ranked: list[Rule] | None = None
        self._verdict: tuple[str, Rule | None] | None = None

    @property
    def ranked(self) -> list[Rule]:
        """The rules that name a path, most octets first, Allow before Disallow of the same length."""
        if self._ranked is None:
            self._ranked = sorted(
                (rule for rule in self.rules if rule.value), key=lambda rule: (-rule.pattern.size, not rule.allow)
            )
        return self._ranked

    def decide(self, path: bytes) -> Rule | None:
        """Return the rule that decides on ``path`` (normal form), or None: then it is allowed."""
        return next((rule for rule in self.ranked if rule.pattern.matches(path)), None)

    def decide_exact(self, path: bytes) -> Rule | None:
        """Return the rule that decides on ``path``, escapes of unreserved characters compared as they stand."""
        ranked = sorted(
            (rule for rule in self.rules if rule.value), key=lambda rule: (-rule.exact.size, not rule.allow)
        )
        return next((rule for rule in ranked if rule.exact.matches(path)), None)

    def verdict(self, budget: Budget) -> tuple[str, Rule | None]:
        """Return what the rules amount to and the rule that decides it.

        ``blocked``: a path that no rule names is disallowed. ``partial``: some Disallow takes effect on some path.
        ``allowed``: none does; the rule is then the Allow that wins everywhere, else the first line, else None.
        """
        if self._verdict is None:
            self._verdict = self._judge(budget)
        return self._verdict

    def _judge(self, budget: Budget) -> tuple[str, Rule | None]:
        generic = self.decide(GENERIC)
        if generic is not None and not generic.allow:
            return "blocked", generic
        allowed = {rule.value for rule in self.ranked if rule.allow}
        for rule in self.rules:
            if rule.allow or not rule.value or rule.value in allowed:
                continue
            for path in rule.pattern.witnesses():
                if path == b"/robots.txt":
                    continue
                for other in self.ranked:
                    budget.left -= 1
                    if budget.left < 0:
                        return "partial", rule
                    if other.pattern.matches(path):
                        if not other.allow:
                            return "partial", other
                        break
        return "allowed", generic or next(iter(self.rules), None)

"""The corrected robots.txt, made from the site's own file: lines leave or are added, all others stay as they are.

Pure text in, text out. What a line means is decided by ``scan.robots``; nothing else is interpreted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from aui_tui.model.observations import Observations, RobotsPolicy
from aui_tui.scan import robots

RULES: Final = (b"allow", b"disallow")
OF_GROUP: Final = (*RULES, b"crawl-delay", b"request-rate", b"visit-time")
"""Records that belong to the group in which they stand and leave with it."""
OPEN_SIGNAL: Final = "search=yes, ai-input=yes, ai-train=no"
"""The Content-Signal that is proposed where there is none."""
PAIR: Final = re.compile(r"([a-z][a-z-]*)\s*=\s*([a-z]+)")
EVERYBODY: Final = b"*"
OPEN_FILE: Final = "User-agent: *\nDisallow:\n"
"""A file that disallows nothing."""
NOTE: Final = "# Agents that open a page because a person asked for it"


def corrected(observations: Observations, fixes: Collection[str]) -> str:
    """Return the whole robots.txt with ``fixes`` (``robots``, ``signal``) made; empty when the site's is not known.

    A site that serves no rules at all gets a new file.
    """
    facts = observations.robots
    text = facts.text if facts.kind == "rules" else OPEN_FILE
    if not text and (facts.names or facts.signal_line or observations.exchange("robots").bytes):
        return ""
    if "signal" in fixes:
        text = with_signal(text, signal_for(facts.signal), facts.signal_line)
    if "robots" in fixes:
        text = let_in(text, shut_out(facts.agents))
    return text


def shut_out(agents: Iterable[RobotsPolicy]) -> list[str]:
    """Return the tokens of the agents that cost points: disallowed, or kept from paths by name."""
    return [policy.token for policy in agents if policy.effective == "blocked" or policy.policy == "partial"]


def signal_for(value: str) -> str:
    """Return the Content-Signal to propose: ``value`` with ``ai-input=yes`` in it, or one from scratch."""
    pairs = dict(PAIR.findall(value.lower()))
    return (
        ", ".join(f"{key}={answer}" for key, answer in (pairs | {"ai-input": "yes"}).items()) if pairs else OPEN_SIGNAL
    )


@dataclass(slots=True)
class _Group:
    """One group: the lines that name its tokens, the other lines that belong to it, and whether it closes a path."""

    names: dict[int, bytes] = field(default_factory=dict)
    lines: list[int] = field(default_factory=list)
    rules: bool = False
    closes: bool = False


def let_in(text: str, tokens: Sequence[str]) -> str:
    """Return the file ``text`` with every path open to ``tokens``: product tokens, in the order to write them.

    A token leaves each group that closes a path to it; a group that loses its last token leaves with its rules. A token
    that the rules for everybody shut out after that gets a group of its own at the end. Other tokens keep their rules,
    and every comment stays.
    """
    keys = {token.lower().encode() for token in tokens}
    lines = text.split("\n")
    removed: set[int] = set()
    for group in _groups(lines):
        leaving = {line for line, token in group.names.items() if token in keys}
        if not group.closes or not leaving:
            continue
        removed |= leaving
        if len(leaving) == len(group.names):
            removed |= set(group.lines)
    edited = _without(lines, removed)
    parsed = robots.parse(edited.encode())
    shut = [token for token in tokens if parsed.explain(token).effective == "blocked"]
    if shut:
        edited = _appended(edited, [NOTE, *open_group(shut)])
    return edited if edited.strip() else OPEN_FILE


def open_group(tokens: Sequence[str]) -> list[str]:
    """Return the lines of a group that opens every path to ``tokens``; two casings are one name (RFC 9309, 2.2.1)."""
    names = {token.lower(): token for token in reversed(tokens)}
    return [*(f"User-agent: {name}" for name in reversed(names.values())), "Allow: /"]


def with_signal(text: str, value: str, line: int = 0) -> str:
    """Return the file ``text`` with ``Content-Signal: value``: in place of line ``line`` (from 1), else a new line.

    A new line stands in the first group for everybody, which keeps its rules; without one, a group is added that
    closes nothing.
    """
    lines = text.split("\n")
    signal = f"Content-Signal: {value}"
    if 0 < line <= len(lines):
        lines[line - 1] = signal
        return _ended("\n".join(lines))
    for group in _groups(lines):
        if EVERYBODY in group.names.values():
            lines.insert(max(group.names) + 1, signal)
            return _ended("\n".join(lines))
    return _appended(_ended(text), ["User-agent: *", signal, "Disallow:"])


def _groups(lines: Sequence[str]) -> Iterator[_Group]:
    """Yield the groups of a file in order; lines are numbered from 0."""
    group = _Group()
    for number, line in enumerate(lines):
        key, value = robots.record(line.encode())
        if key == b"user-agent":
            if group.rules:
                yield group
                group = _Group()
            if value:
                group.names[number] = robots.token_of(value)
        elif key in OF_GROUP and group.names:
            group.lines.append(number)
            group.rules |= key in RULES
            group.closes |= key == b"disallow" and bool(value)
    yield group


def _without(lines: Sequence[str], removed: Collection[int]) -> str:
    """Return the lines but those ``removed``; of blank lines that meet where lines left, one stays."""
    remaining: list[str] = []
    left = False
    for number, line in enumerate(lines):
        if number in removed:
            left = True
            continue
        if left and not line.strip() and (not remaining or not remaining[-1].strip()):
            continue
        left = False
        remaining.append(line)
    return _ended("\n".join(remaining))


def _ended(text: str) -> str:
    return text.rstrip("\n") + "\n" if text.strip("\n") else ""


def _appended(text: str, lines: Sequence[str]) -> str:
    """Return ``text`` with a group at its end; names without a rule at the end of ``text`` get one, or they join it."""
    last = list(_groups(text.split("\n")))[-1]
    open_end = ["Disallow:"] if last.names and not last.rules else []
    before = text + "".join(f"{line}\n" for line in open_end)
    return before + ("\n" if before else "") + "\n".join(lines) + "\n"

"""Remarks on the lines of a robots.txt that do not do what they seem to; never scored. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from aui_tui.checks.wording import quoted
from aui_tui.model.registry import Client, registry
from aui_tui.scan import robots

MOST: Final = 5
"""Remarks that are shown."""
RENAMED: Final = {
    "anthropic-ai": "ClaudeBot",
    "claude-web": "Claude-User",
    "google-notebooklm": "Google-GeminiNotebook",
    "googleagent-mariner": "Google-Agent",
}
"""Names that their operator no longer sends, and what it sends instead (checked 2026-11-23)."""
BETWEEN: Final = frozenset((b"content-signal", b"content-usage", b"crawl-delay", b"request-rate"))
"""Records after which Protego 0.7.0 and, of npm, robots-parser 3.0.1, robots-txt-parse 2.0.1 and robots-txt-guard 1.0.2
begin another group; by RFC 9309, 2.2.1, only a rule ends the names."""
_TOKEN: Final = re.compile(rb"[A-Za-z_-]+|\*")
_MANAGED: Final = re.compile(r"^#\s*BEGIN (.{1,40}?) MANAGED CONTENT", re.IGNORECASE)


def remarks(text: str) -> Iterator[str]:
    """Yield sentences about the lines of a robots.txt, each beginning with its line, at most ``MOST``."""
    for remark, _ in zip(_remarks(text), range(MOST), strict=False):
        yield remark


def _remarks(text: str) -> Iterator[str]:
    names: list[tuple[int, bytes]] = []
    in_rules = False
    between = 0  # a line after a name of the group that is being read, and no rule
    for number, line in enumerate(text.splitlines(), 1):
        managed = _MANAGED.match(line)
        if managed:
            yield (
                f"from line {number} on the rules are written by {managed[1].title()} in front of the site's own file: "
                "change them there"
            )
        key, value = robots.record(line.encode())
        if key == b"user-agent":
            names = [] if in_rules else names
            if names and between:
                first = quoted(names[0][1].decode("utf-8", "replace"))
                yield (
                    f"line {between}: a line between the names of one group ends it for some parsers (Protego,"
                    f" robots-parser), which then apply none of its rules to {first}; move it below the last User-agent"
                    " line of the group"
                )
            names.append((number, value))
            in_rules, between = False, 0
            yield from _name(number, value)
        elif key in BETWEEN and names and not in_rules:
            between = between or number
        elif key in (b"allow", b"disallow"):
            if key == b"disallow" and value == b"/" and not in_rules:
                yield from _unheard(names)
            in_rules = True


def _name(number: int, value: bytes) -> Iterator[str]:
    shown = quoted(value.decode("utf-8", "replace"))
    renamed = RENAMED.get(value.decode("ascii", "replace").lower())
    if renamed:
        yield f"line {number}: no agent calls itself {shown} any more; the name is now {renamed}"
    elif not _TOKEN.fullmatch(value):
        token = _TOKEN.match(value)
        instead = f"; write {token[0].decode()}" if token and token[0] != b"*" else ""
        yield f"line {number}: {shown} is not a product token, so the group may match nobody (RFC 9309, 2.2.1){instead}"


def _unheard(names: list[tuple[int, bytes]]) -> Iterator[str]:
    """Yield the names that a group shuts out although their operator says that it does not follow robots.txt."""
    for number, value in names:
        client = _clients().get(value.decode("ascii", "replace").lower())
        if client is not None and client.honours_robots == "no":
            yield (
                f"line {number}: {client.operator} says that {client.token} does not follow robots.txt; only the "
                "server can refuse it"
            )


def _clients() -> dict[str, Client]:
    return {client.token.lower(): client for client in registry().clients}

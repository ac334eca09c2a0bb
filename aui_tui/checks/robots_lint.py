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
_TOKEN: Final = re.compile(rb"[A-Za-z_-]+|\*")
_MANAGED: Final = re.compile(r"^#\s*BEGIN (.{1,40}?) MANAGED CONTENT", re.IGNORECASE)


def remarks(text: str) -> Iterator[str]:
    """Yield sentences about the lines of a robots.txt, each beginning with its line, at most ``MOST``."""
    for found, _ in zip(_remarks(text), range(MOST), strict=False):
        yield found


def _remarks(text: str) -> Iterator[str]:
    names: list[tuple[int, bytes]] = []
    in_rules = False
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
            names.append((number, value))
            in_rules = False
            yield from _name(number, value)
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

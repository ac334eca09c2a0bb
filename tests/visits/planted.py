"""A combined access log with known truth: every figure is counted while the lines are made."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aui_tui.model.registry import registry

START = int(datetime(2026, 11, 8, tzinfo=UTC).timestamp())
RANGES = {
    "https://openai.com/chatgpt-user.json": ["20.42.10.176/28", "2a01:4f8::/48"],
    "https://claude.com/crawling/bots.json": ["160.79.104.0/23", "2607:6bc0::/48"],
    "https://openai.com/gptbot.json": ["20.171.206.0/24"],
}
INSIDE = {
    "ChatGPT-User": ("20.42.10.180", "2a01:4f8::17"),
    "Claude-User": ("160.79.104.11", "2607:6bc0::1"),
    "ClaudeBot": ("160.79.105.9",),
    "GPTBot": ("20.171.206.7",),
}
OUTSIDE = ("198.51.100.9", "2001:db8::9")
CLIENTS = (
    *("ChatGPT-User", "Claude-User", "ClaudeBot", "GPTBot", "Perplexity-User", "meta-externalfetcher"),
    *("DuckAssistBot", "Devin", "CCBot", "Bytespider"),
)
BROWSERS = tuple(
    f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{n}.0.0.0 Safari/537.36"
    for n in range(90, 156)
)
DECOYS = (
    'evil \\"quoted\\" Mozilla/5.0',
    "NotClaude-User/1.0",
    "Claude-Users/1.0",
    "Machine Operator",
    "x-GPTBot/1.0",
    "-",
)
"""User-Agents that name no client although they look like one."""
GARBAGE = '192.0.2.77 - - [{time}] "\\x16\\x03\\x01\\x02" 400 150 "-" "-"'
BROKEN = ("half a line", '1.2.3.4 - - [99/Foo/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 1 "-" "Claude-User/1.0"')
STATUSES = (200, 200, 200, 200, 304, 301, 403, 404, 429, 500, 503)
REFUSED = {401, 402, 403, 405, 406, 429, 451, 503}
PATHS = ("/", "/coats", "/coats/red", "/robots.txt", "/llms.txt", "/guide.md", "/search")


@dataclass
class Truth:
    """What a log holds."""

    lines: int = 0
    broken: int = 0
    agents: dict[str, dict[str, Any]] = field(default_factory=dict)


def _figures() -> dict[str, Any]:
    return {
        "requests": 0,
        "refused": 0,
        "served": 0,
        "bytes": 0,
        "robots_txt": 0,
        "llms_txt": 0,
        "markdown": 0,
        "inside": 0,
        "outside": 0,
        "inside_served": 0,
        "inside_refused": 0,
        "status": Counter(),
        "days": Counter(),
        "paths": Counter(),
        "refused_paths": Counter(),
        "moments": [],
    }


def plant(path: Path, lines: int) -> Truth:
    """Write a log of ``lines`` lines to ``path`` and return what it holds."""
    truth, found = Truth(), defaultdict[str, dict[str, Any]](_figures)
    with path.open("w", encoding="utf-8") as file:
        for line in _lines(lines, found):
            truth.lines += 1
            truth.broken += line in BROKEN
            file.write(line + "\n")
    truth.agents = dict(found)
    return truth


def _lines(lines: int, found: dict[str, dict[str, Any]]) -> Iterator[str]:
    luck = random.Random(7)
    agents = {agent.token.lower(): agent.user_agent for agent in registry().agents}
    agents |= {
        "claudebot": "Mozilla/5.0 (compatible; ClaudeBot/1.0; +claudebot@anthropic.com)",
        "gptbot": "Mozilla/5.0 (compatible; GPTBot/1.4; +https://openai.com/gptbot)",
        "ccbot": "CCBot/2.0 (https://commoncrawl.org/faq/)",
        "bytespider": "Mozilla/5.0 (compatible; Bytespider; spider-feedback@bytedance.com)",
    }
    step = 14 * 86400 / lines
    for number in range(lines):
        moment = int(START + number * step)
        time = datetime.fromtimestamp(moment, UTC).strftime("%d/%b/%Y:%H:%M:%S +0000")
        kind = luck.random()
        if kind < 0.002:
            yield luck.choice(BROKEN) if number > 50 else GARBAGE.format(time=time)
        elif kind < 0.004:
            yield GARBAGE.format(time=time)
        elif kind < 0.06:
            yield _agent(luck, moment, time, agents, found)
        elif kind < 0.08:
            yield f'192.0.2.{number % 250} - - [{time}] "GET / HTTP/1.1" 200 512 "-" "{luck.choice(DECOYS)}"'
        else:
            target = f"/item/{luck.randrange(5000)}?q={number}"
            agent = luck.choice(BROWSERS)
            peer = f"203.0.0.{luck.randrange(250)}"
            yield f'{peer} - - [{time}] "GET {target} HTTP/1.1" 200 5120 "https://a.example/" "{agent}"'


def _agent(
    luck: random.Random, moment: int, time: str, agents: dict[str, str], found: dict[str, dict[str, Any]]
) -> str:
    token = luck.choice(CLIENTS)
    status, size = luck.choice(STATUSES), luck.randrange(100, 90_000)
    path = luck.choice(PATHS) if luck.random() < 0.9 else f"/page-{luck.randrange(500)}"
    is_inside = luck.random() < 0.9
    address = luck.choice(INSIDE.get(token, OUTSIDE) if is_inside else OUTSIDE)
    target = path + (f"?user={luck.randrange(10**6)}" if luck.random() < 0.3 else "")
    agent = agents[token.lower()]
    if luck.random() < 0.05:
        agent = agent.replace("(", '\\"x\\" (')
    figures = found[token]
    checked = token in INSIDE
    served = path != "/robots.txt" and status in (200, 304)
    refused = status in REFUSED
    figures["requests"] += 1
    figures["refused"] += refused
    figures["served"] += served
    figures["bytes"] += size
    figures["robots_txt"] += path == "/robots.txt"
    figures["llms_txt"] += path == "/llms.txt"
    figures["markdown"] += path.endswith(".md")
    figures["inside"] += checked and address in INSIDE[token]
    figures["outside"] += checked and address in OUTSIDE
    figures["inside_served"] += checked and address in INSIDE[token] and served
    figures["inside_refused"] += checked and address in INSIDE[token] and refused
    figures["status"][f"{status // 100}xx"] += 1
    figures["days"][datetime.fromtimestamp(moment, UTC).date().isoformat()] += 1
    figures["paths"][path] += 1
    if refused:
        figures["refused_paths"][path] += 1
    figures["moments"].append(moment)
    return f'{address} - - [{time}] "GET {target} HTTP/1.1" {status} {size} "-" "{agent}"'

"""The answers at the places of the files for agents, and which of the files count."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

from aui_tui.model.observations import FileFacts
from aui_tui.scan import agent_files
from aui_tui.scan.agent_files import MCP_PATHS, PATHS, FileCheck
from aui_tui.scan.probes import Answer
from aui_tui.scan.target import Origin, same_site


class FileAnswers:
    """What the answer of each place is; an MCP card has two places, of which one is enough."""

    def __init__(self) -> None:
        self._cards: dict[str, Answer] = {}  # the last answers at the places of an MCP card
        self._checks: dict[str, FileCheck] = {}

    def take(self, answer: Answer, path: str, site: Origin) -> None:
        """Check the answer that ``site`` gave at ``path``; llms.txt may be in another folder."""
        last = answer.url
        moved = answer.name == "llms" and last.path.endswith(path) and same_site(site, last.origin)
        here = moved or last.path == path
        self._checks[path] = agent_files.check(answer.name, answer.body, answer.content_type, answer.status, here, path)

    async def ask_mcp(
        self, ask: Callable[[str], Coroutine[Any, Any, Answer]], site: Origin, *, alone: bool, pace: float
    ) -> Answer:
        """Ask both places of an MCP card at once; with a ``pace`` one after the other.

        ``alone``: only the first whose answer may yet change. The first that holds a card counts, else the one whose
        answer may yet change, else the first.
        """
        wanted = [path for path in MCP_PATHS if path not in self._cards or self._may_change(path)]
        if alone or pace:
            asked = []
            for number, path in enumerate(wanted[:1] if alone else wanted):
                await asyncio.sleep(pace if number else 0.0)
                asked.append(await ask(path))
        else:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(ask(path)) for path in wanted]
            asked = [task.result() for task in tasks]
        for path, answer in zip(wanted, asked, strict=False):
            self._cards[path] = answer
            self.take(answer, path, site)
        best = min(MCP_PATHS, key=lambda path: (not self._checks[path].found, not self._may_change(path)))
        return replace(self._cards[best], flooded=any(answer.flooded for answer in asked))

    def _may_change(self, path: str) -> bool:
        """Whether a file may be there although the answer does not bring it."""
        status = self._cards[path].status
        return status in (0, 403, 429) or status >= 500

    def forget(self, name: str) -> None:
        """Drop what was answered for a file that was not measured: it is not said to be wrong."""
        for path in _places(name):
            self._checks.pop(path, None)

    def found(self, name: str) -> bool:
        """Return whether the file counts."""
        return any(path in self._checks and self._checks[path].found for path in _places(name))

    def facts(self) -> FileFacts:
        """Return which files count."""
        cards = self._cards.values() if self.found("mcp") else ()
        servers = (agent_files.mcp_server(card.body, card.content_type) for card in cards)
        return FileFacts(
            llms=self.found("llms"),
            ai_plugin=self.found("ai-plugin"),
            ucp=self.found("ucp"),
            mcp=self.found("mcp"),
            mcp_server=next(filter(None, servers), ""),
            notes=tuple(sorted({check.note for check in self._checks.values() if check.note})),
        )


def _places(name: str) -> tuple[str, ...]:
    return MCP_PATHS if name == "mcp" else (PATHS[name],)

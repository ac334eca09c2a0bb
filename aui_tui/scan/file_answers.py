"""The answers at the places of the files for agents, and which of the files count."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import replace
from typing import Any, Final

from aui_tui.model.observations import FILE_PATHS, FileFacts
from aui_tui.scan import agent_files, exchanges
from aui_tui.scan.agent_files import MCP_PATHS, FileCheck
from aui_tui.scan.probes import Answer
from aui_tui.scan.target import Origin, same_site

OK: Final = 200


class FileAnswers:
    """What the answer of each place is; an MCP card has three places, of which one is enough."""

    def __init__(self) -> None:
        self._cards: dict[str, Answer] = {}  # the last answers at the places of an MCP card
        self._checks: dict[str, FileCheck] = {}
        self._signatures: dict[str, tuple[str, object]] = {}  # of each place that answered 200, with its file

    def take(self, answer: Answer, path: str, site: Origin) -> None:
        """Check the answer that ``site`` gave at ``path``; llms.txt may be in another folder."""
        last = answer.url
        moved = answer.name == "llms" and last.path.endswith(path) and same_site(site, last.origin)
        at_place = moved or last.path == path
        if exchanges.wall(answer) is not None:
            self._checks[path] = FileCheck(False, unseen=True)
            return
        kind = answer.content_type
        checked = agent_files.check(answer.name, answer.body, kind, answer.status, at_place, path, cut=answer.cut)
        self._checks[path] = checked
        self._signatures.pop(path, None)
        if answer.status == OK:
            self._signatures[path] = (answer.name, agent_files.signature(answer.body, kind))

    async def ask_mcp(
        self, ask: Callable[[str], Coroutine[Any, Any, Answer]], site: Origin, *, alone: bool, pace: float
    ) -> Answer:
        """Ask the places of an MCP card at once; with a ``pace`` one after the other.

        ``alone``: only the first whose answer may yet change. The first that holds a card counts, else the one whose
        answer may yet change, else the first.
        """
        paths = [path for path in MCP_PATHS if path not in self._cards or self._may_change(path)]
        if alone or pace:
            answers = []
            for number, path in enumerate(paths[:1] if alone else paths):
                await asyncio.sleep(pace if number else 0.0)
                answers.append(await ask(path))
        else:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(ask(path)) for path in paths]
            answers = [task.result() for task in tasks]
        for path, answer in zip(paths, answers, strict=False):
            self._cards[path] = answer
            self.take(answer, path, site)
        best = min(MCP_PATHS, key=lambda path: (not self._checks[path].found, not self._may_change(path)))
        return replace(self._cards[best], flooded=any(answer.flooded for answer in answers))

    def _may_change(self, path: str) -> bool:
        """Whether a file may be there although the answer does not bring it."""
        status = self._cards[path].status
        return status in (0, 403, 429) or status >= 500 or self._checks[path].unseen

    def drop(self, names: Iterable[str]) -> None:
        """Drop the answers for files that are asked for at another host."""
        for name in names:
            self.forget(name)
            if name == "mcp":
                self._cards.clear()

    def is_file(self, answer: Answer, path: str, site: Origin) -> bool:
        """Tell whether an answer to another client at ``path`` brings the file, or so much of it as was read."""
        answers = FileAnswers()
        answers.take(answer, path, site)
        return answers._checks[path].found or (answers._checks[path].unseen and answer.cut)

    def forget(self, name: str) -> None:
        """Drop what was answered for a file that was not measured: it is not said to be wrong."""
        for path in _places(name):
            self._checks.pop(path, None)
            self._signatures.pop(path, None)

    def found(self, name: str) -> bool:
        """Return whether the file counts: one of its places has it, and that is not what the site answers elsewhere."""
        return self._has(name) and not any(
            file != name and self._signatures.get(path, ("", None))[1] == signed
            for path in _places(name)
            for file, signed in self._signatures.values()
        )

    def _has(self, name: str) -> bool:
        return any(path in self._checks and self._checks[path].found for path in _places(name))

    @property
    def answers_everything(self) -> bool:
        """Every place answered 200, so that what is found may be the site's answer to any path."""
        return len(self._signatures) == len(self._checks) > 0

    def unmask(self, answer: Answer) -> None:
        """Take the ``answer`` at a path that nobody can have: what says the same is no file."""
        if answer.status == OK:
            self._signatures[answer.url.path] = ("", agent_files.signature(answer.body, answer.content_type))

    def where(self, name: str) -> str:
        """Return the place at which a file was found."""
        return next(path for path in _places(name) if path in self._checks and self._checks[path].found)

    def facts(self) -> FileFacts:
        """Return which files count."""
        cards = self._cards.values() if self.found("mcp") else ()
        servers = (agent_files.mcp_server(card.body, card.content_type) for card in cards)
        masked = [self.where(name) for name in FILE_PATHS if self._has(name) and not self.found(name)]
        notes = [check.note for check in self._checks.values() if check.note]
        notes += [f"{path} answers what the site answers at other paths too" for path in masked]
        return FileFacts(
            llms=self.found("llms"),
            ai_plugin=self.found("ai-plugin"),
            ucp=self.found("ucp"),
            mcp=self.found("mcp"),
            mcp_server=next(filter(None, servers), ""),
            notes=tuple(sorted(set(notes))),
            unwritten=tuple(sorted(path for path, check in self._checks.items() if check.unwritten)),
        )


def _places(name: str) -> tuple[str, ...]:
    return MCP_PATHS if name == "mcp" else (FILE_PATHS[name],)

"""The context of every screen: a service, a clock, a writer of files; and the workers that a screen starts.

No worker may end the application.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

import msgspec
from textual.dom import DOMNode
from textual.worker import Worker

from aui_tui.errors import AuiError
from aui_tui.text import clean

if TYPE_CHECKING:
    from aui_tui.service.protocol import Feed, Service
    from aui_tui.tui.export import Exporter

T = TypeVar("T")


COMMAND: Final = "aui-tui "
"""How a command line begins."""
BETWEEN: Final = "; "
"""What stands between two command lines."""


class SettingShown(msgspec.Struct, frozen=True):
    """A setting: its value, its meaning, and its ``origin``, which is ``default``, the file, a flag or a variable."""

    value: object
    origin: str
    meaning: str

    @property
    def words(self) -> str:
        """The value in a line; of a table its names alone, as the fields of a site may be secret."""
        if isinstance(self.value, Mapping | list):
            return ", ".join(map(str, self.value))
        return self.value if isinstance(self.value, str) else msgspec.json.encode(self.value).decode()


class Preferences(msgspec.Struct):
    """What the user chose before, and what remembers a choice.

    ``columns``: keys of the columns of the list, empty for the usual ones. ``keys``: keys by binding id. ``views``:
    saved lists by name. ``write`` puts a value (None: nothing) under a name, given after those of its tables, into the
    settings file ``path``; raises AuiError. ``settings`` returns every setting by name, as
    it is in force now; raises AuiError where the file is wrong.
    ``read_log`` reads an access log of a host and returns a sentence on it. ``left``: the list as it was left, in the
    words of ``ListState.saved`` and with the ``host`` under the cursor; ``leave`` keeps it for the next start.
    """

    columns: tuple[str, ...] = ()
    keys: dict[str, str] = msgspec.field(default_factory=dict)
    views: dict[str, dict[str, str]] = msgspec.field(default_factory=dict)
    ascii: bool = False
    path: str = ""
    settings: Callable[[], Mapping[str, SettingShown]] = dict
    write: Callable[[Sequence[str], Any], None] | None = None
    read_log: Callable[[str, str], Awaitable[str]] | None = None
    left: dict[str, str] = msgspec.field(default_factory=dict)
    leave: Callable[[Mapping[str, str]], None] | None = None


class Context(msgspec.Struct, frozen=True):
    """Handed to every screen. ``clock`` returns epoch seconds; without ``exporter`` nothing is written.

    ``feed`` fills the index while it is looked at. ``starter``: scans of the packaged list of known sites; an empty
    index offers them, the demo and another index. ``options``: those of the command line that say whose index this is,
    each with a blank behind it; ``reach``: those on how to reach a site.
    """

    service: Service
    options: str = ""
    reach: str = ""
    clock: Callable[[], float] = time.time
    exporter: Exporter | None = None
    feed: Feed | None = None
    starter: Feed | None = None
    preferences: Preferences = msgspec.field(default_factory=Preferences)

    def shell(self, command: str) -> str:
        """Return a command line, or several, as it is typed to ask the same index and to reach a site the same way."""
        lines = (
            COMMAND + self.options + line.removeprefix(COMMAND) if line.startswith(COMMAND) else line
            for line in command.split(BETWEEN)
        )
        command = BETWEEN.join(lines)
        return command.replace(f"aui-tui {self.options}scan ", f"aui-tui {self.options}scan {self.reach}")

    def curl(self, command: str) -> str:
        """Return a command of curl that goes where the scan went."""
        rules = self.reach.removesuffix("--allow-private ")
        return command.replace("curl ", f"curl {rules}", 1)


def sentence(error: BaseException) -> str:
    """Return what went wrong in one sentence without anything that could steer a terminal.

    An error of a library may fail to give its own words; then its kind alone is reported.
    """
    try:
        words = str(error)
    except Exception:  # an error whose own words fail
        words = ""
    if isinstance(error, AuiError):
        return clean(words, 300).strip() or f"{error.title}."
    words = clean(words, 200).strip()
    return clean(f"Unexpected problem: {type(error).__name__}{f': {words}' if words else '.'}", 300)


async def attempt(work: Awaitable[T]) -> tuple[T | None, str]:
    """Return the result of ``work`` and an empty string, or None and what went wrong in one sentence.

    Cancelling passes through.
    """
    try:
        return await work, ""
    except Exception as error:  # a source may fail in any way: the screen says so and stays
        return None, sentence(error)


Choices = Mapping[str, str | tuple[str, str]]
"""By value the text of a line, or also the figure or word at its right end; one with the figure 0 cannot be chosen."""
P = ParamSpec("P")

DEMO: Final = -1
"""Result of an application that was left for the demo."""


def start(
    node: DOMNode, group: str, job: Callable[P, Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs
) -> Worker[T]:
    """Run ``job`` for ``node``; what the same node still runs in ``group`` is cancelled first."""
    return node.run_worker(partial(job, *args, **kwargs), group=group, exclusive=True, exit_on_error=False)


def run_concurrently(
    node: DOMNode, group: str, job: Callable[P, Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs
) -> Worker[T]:
    """Run ``job`` as a worker of ``node``; its other workers go on."""
    return node.run_worker(partial(job, *args, **kwargs), group=group, exit_on_error=False)

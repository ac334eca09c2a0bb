"""Completions for a shell: words of a closed list, and hosts of the index."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any, Final

from aui_tui.errors import AuiError

COMPLETING: Final = "_AUI_TUI_COMPLETE"
"""Variable that is set while a shell asks for completions; its value names the shell."""
MOST_HOSTS: Final = 50

Completer = Callable[[str], list[str]]


def of(allowed: Sequence[str]) -> Completer:
    """Return a completer of ``allowed``, case ignored, and of the last part of a comma list."""

    def complete(incomplete: str) -> list[str]:
        earlier, comma, last = incomplete.rpartition(",")
        words = [earlier + comma + word for word in allowed if word.casefold().startswith(last.casefold())]
        return [shell_word(word) for word in dict.fromkeys(words)]

    return complete


class _Fitting(str):
    """A word that its completer accepts although it does not begin with the letters typed, as Typer wants."""

    __slots__ = ()

    def startswith(self, *_: Any) -> bool:
        """Return True."""
        return True


def shell_word(word: str) -> str:
    """Return ``word`` as the shell that asks wants it: bash puts it into the line as it is, zsh and fish quote it."""
    if os.environ.get(COMPLETING, "").endswith("_bash"):
        word = re.sub(r"([^A-Za-z0-9_@%+=:,./-])", r"\\\1", word)
    return _Fitting(word)


def sorts(incomplete: str) -> list[str]:
    """Return the columns that a list can be ordered by."""
    from aui_tui.model.query import SORTS
    from aui_tui.model.surfaces import SLUGS

    return of([*SORTS, *("matrix." + slug for slug in SLUGS)])(incomplete)


def fields(incomplete: str) -> list[str]:
    """Return the fields of rows and cards."""
    from aui_tui.report.fields import card_tree, row_tree

    return of([*row_tree(), *card_tree()])(incomplete)


def terms(incomplete: str) -> list[str]:
    """Return the terms of the query language that the last word of the line may become."""
    from aui_tui.model.query_line import fields as query_fields

    by_name = query_fields()

    before, space, last = incomplete.rpartition(" ")
    name, colon, _ = last.casefold().partition(":")
    words = [*(f"{field}:" for field in by_name), *(field.example for field in by_name.values())]
    if colon:
        field = by_name.get(name)
        values = [] if field is None else [value for value, _ in field.values] or [field.example.partition(":")[2]]
        then = [f"={word}" for word in field.then] if field is not None and field.then else [""]
        words = [f"{name}:{value}{word}" for value in values for word in then]
    return [shell_word(before + space + word) for word in words if word.casefold().startswith(last.casefold())]


def agents(incomplete: str) -> list[str]:
    """Return the matrix surfaces that can be tested and the crawlers, as :func:`of` does."""
    from aui_tui.model.registry import registry
    from aui_tui.model.surfaces import SURFACES

    tested = [surface.slug for surface in SURFACES if surface.source != "none"]
    return of([*tested, *(crawler.token.lower() for crawler in registry().crawlers)])(incomplete)


def hosts(incomplete: str) -> list[str]:
    """Return hosts of the index in force that begin with ``incomplete``; none when it cannot be read."""
    from aui_tui.index.folder import places
    from aui_tui.index.store import Store
    from aui_tui.model.query import Query
    from aui_tui.settings import load

    try:
        index = places(load({}, os.environ).data_dir).index
        if not index.is_file():
            return []
        with closing(Store(index)) as store:
            view = store.index(Query.of(line=f'"{incomplete}"' if incomplete else "", sort="host"))
            names = [row.summary.host for window in (view.ranked, view.unreachable) for row in window[0:MOST_HOSTS]]
    except AuiError:
        return []
    return [shell_word(host) for host in dict.fromkeys(names) if host.startswith(incomplete.lower())]

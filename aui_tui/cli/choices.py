"""What several commands ask for: a stored host, and the method to grade under."""

from __future__ import annotations

from typing import Annotated

import typer

from aui_tui.cli import complete
from aui_tui.records.methods import METHODS
from aui_tui.records.vocabulary import choose

Host = Annotated[str, typer.Argument(metavar="HOST", help="A host that was scanned.", autocompletion=complete.hosts)]
Method = Annotated[
    str,
    typer.Option(
        "--method", metavar="v0.1|v0.2", help="Grade under this method.", autocompletion=complete.of(tuple(METHODS))
    ),
]


def method_of(word: str) -> str:
    """Return the checked value of ``--method``; empty when none was named. Raises BadValue."""
    return choose("method", word, tuple(METHODS)) if word else ""

"""Options that several commands share, one ``Annotated`` type each, and what they mean together.

A command lists its options in its signature, which is what Typer reads; what belongs together is taken from the
context: :func:`run_of`, ``CardForm.of``, ``Gating.of``, ``ConnectionOptions.of``, ``Tape.of``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, Final

import typer

from aui_tui.cli import complete
from aui_tui.cli.run import Run
from aui_tui.errors import BadValue
from aui_tui.records.methods import METHODS
from aui_tui.records.vocabulary import CATEGORIES, STANCES, choose

_common = partial(typer.Option, rich_help_panel="Everywhere")
DataDir = Annotated[str | None, _common("--data-dir", metavar="DIR", help="Folder of cards, cache and quota.")]
Config = Annotated[str | None, _common("--config", metavar="FILE", help="Settings file (TOML).")]
Source = Annotated[
    str | None, _common("--source", metavar="URL", help="Read a published index instead of this machine's.")
]
Quiet = Annotated[bool, _common("--quiet", "-q", help="No progress, errors only.")]
Debug = Annotated[bool, _common("--debug", help="Show the traceback of an unexpected error.")]
COMMON: Final = ("data_dir", "source", "config_file", "quiet", "debug")
"""Options of every command, before or after its name; the main help alone lists them."""

Host = Annotated[str, typer.Argument(metavar="HOST", help="A host that was scanned.", autocompletion=complete.hosts)]
Method = Annotated[
    str,
    typer.Option(
        "--method", metavar="v0.1|v0.2", help="Grade under this method.", autocompletion=complete.of(tuple(METHODS))
    ),
]

_filter = partial(typer.Option, rich_help_panel="Filters")
Category = Annotated[
    str, _filter("--category", metavar="NAME", help="Only these.", autocompletion=complete.of(CATEGORIES))
]
Stance = Annotated[
    str,
    _filter(
        "--stance", metavar="NAME", help="Only Open, Selective or Walled ones.", autocompletion=complete.of(STANCES)
    ),
]
Line = Annotated[
    str, _filter("--query", metavar="TEXT", help="Words and terms: aui-tui help query.", autocompletion=complete.terms)
]
Sort = Annotated[str, _filter("--sort", metavar="COLUMN", help="Order by this column.", autocompletion=complete.sorts)]
Reverse = Annotated[bool, _filter("--reverse", help="Turn the order round.")]
Limit = Annotated[int, _filter("--limit", metavar="N", min=0, help="At most N of each list.")]


def example(line: str) -> str:
    """Return what closes the help of a command."""
    return f"Example: {line}"


def run_of(context: typer.Context, **settings: object) -> Run:
    """Return what a command works with, from the common options before and after its name and other ``settings``.

    Raises BadValue for any option with an empty value, and ConfigError.
    """
    flags: dict[str, object] = {}
    for one in (context.parent, context):
        if one is not None:
            refuse_empty(one)
            flags |= {name: one.params[name] for name in COMMON if one.params.get(name) not in (None, False)}
    return Run.of(flags | settings)


def refuse_empty(context: Any) -> None:
    """Raise BadValue for an option or argument with an empty value: a variable that is not set, most of the time."""
    for option in context.command.params:
        source = context.get_parameter_source(option.name or "")
        if source is None or source.name != "COMMANDLINE":
            continue
        value = context.params.get(option.name or "")
        values: Sequence[object] = value if isinstance(value, list | tuple) else (value,)
        if any(isinstance(one, str) and not one.strip() for one in values):
            if option.param_type_name == "argument":
                raise BadValue(f"An argument is empty: {context.command.name} takes {option.metavar}.")
            name = option.opts[0]
            raise BadValue(f"{name} is empty: it takes {option.metavar or 'a value'}. Give one, or leave {name} out.")


def method_of(word: str) -> str:
    """Return the checked value of ``--method``; empty when none was named. Raises BadValue."""
    return choose("method", word, tuple(METHODS)) if word else ""

"""How a function becomes a command: common options, one sentence per error, exit codes.

A command takes a :class:`Run` first and returns its exit code (None means 0).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any, ClassVar, Concatenate, Final, ParamSpec, Self, TypeVar, get_type_hints

import typer

from aui_tui.cli.run import Run as Run
from aui_tui.cli.run import Stopped as Stopped

P = ParamSpec("P")
T = TypeVar("T")
Body = Callable[Concatenate["Run", P], int | None]

EVERYWHERE: Final = "Everywhere"
_option = partial(typer.Option, rich_help_panel=EVERYWHERE)
DataDir = Annotated[str | None, _option("--data-dir", metavar="DIR", help="Folder of cards, cache and quota.")]
Config = Annotated[str | None, _option("--config", metavar="FILE", help="Settings file (TOML).")]
Source = Annotated[
    str | None, _option("--source", metavar="URL", help="Read a published index instead of this machine's.")
]
Quiet = Annotated[bool, _option("--quiet", "-q", help="No progress, errors only.")]
Debug = Annotated[bool, _option("--debug", help="Show the traceback of an unexpected error.")]

COMMON: Final = {
    "data_dir": (DataDir, None),
    "source": (Source, None),
    "config_file": (Config, None),
    "quiet": (Quiet, False),
    "debug": (Debug, False),
}
"""Options of every command: parameter name, annotation, default. They may stand before or after the command."""


def merged(context: typer.Context, given: dict[str, Any]) -> dict[str, Any]:
    """Return common options as given before the command, overridden by those given after it."""
    earlier: dict[str, Any] = context.obj if isinstance(context.obj, dict) else {}
    return earlier | {name: value for name, value in given.items() if value not in (None, False)}


class Group:
    """Options that several commands share: a parameter annotated with a subclass stands for all of its options."""

    OPTIONS: ClassVar[Mapping[str, tuple[Any, Any]]]
    """Annotation and default by parameter name."""

    @classmethod
    def of(cls, **values: Any) -> Self:
        """Return what the given options mean. Raises AuiError."""
        raise NotImplementedError


def command(app: typer.Typer, name: str, *, example: str) -> Callable[[Body[P]], Body[P]]:
    """Return a decorator that adds a function to ``app`` as command ``name``; ``example`` closes its help."""

    def decorate(body: Body[P]) -> Body[P]:
        hints = get_type_hints(body, include_extras=True)
        groups: dict[str, type[Group]] = {}
        options: dict[str, tuple[Any, Any]] = {}
        for parameter in list(inspect.signature(body).parameters.values())[1:]:
            hint = hints[parameter.name]
            if isinstance(hint, type) and issubclass(hint, Group):
                groups[parameter.name] = hint
                options |= hint.OPTIONS
            else:
                options[parameter.name] = (hint, parameter.default)

        def invoke(context: typer.Context, **values: Any) -> int:
            flags = merged(context, {key: values.pop(key) for key in COMMON})
            for key, group in groups.items():
                values[key] = group.of(**{option: values.pop(option) for option in group.OPTIONS})
            return body(Run.of(flags), **values) or 0  # type: ignore[call-arg]

        parameters = [
            inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context),
            *(
                inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
                for key, (annotation, default) in (options | COMMON).items()
            ),
        ]
        invoke.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        invoke.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        invoke.__doc__ = body.__doc__
        app.command(name, epilog="Example: " + example)(invoke)
        return body

    return decorate

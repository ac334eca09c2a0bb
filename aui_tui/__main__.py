"""``python -m aui_tui`` and the ``aui-tui`` command."""

from __future__ import annotations

import os
import sys

if not sys.flags.safe_path and sys.path[:1] == [os.getcwd()] != [os.path.dirname(os.path.dirname(__file__))]:  # noqa: PTH109, PTH120 - nothing may be imported yet
    del sys.path[0]  # “python -m aui_tui” would take modules of ours and of libraries from the current folder

import gc
import signal
from collections.abc import Sequence
from typing import Final

from aui_tui.process import protect

COMPLETING: Final = "_AUI_TUI_COMPLETE"
"""Variable that is set while a shell asks for completions."""
if COMPLETING in os.environ:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # ctrl+c ends it without a word on the line that is being typed


START: Final = 100_000
"""Objects that a start makes and keeps, at most: looking for garbage among them took a fifth of the first frame."""


def main() -> None:
    """Run the command line and leave with its exit code."""
    try:
        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # while modules were loaded
        code = 130
    gc.freeze()  # the interpreter would look for garbage among all objects before it ends: a sixth of a list's time
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Return the exit code of a command line. The dashboard and the version need no parser: they are there at once."""
    protect()
    gc.set_threshold(START)
    options = of_dashboard(arguments) if COMPLETING not in os.environ else None
    if options is None and arguments != ["--version"]:
        from aui_tui.cli import app

        return app.run(arguments)
    from aui_tui.cli.run import Run, print_version, reporting_errors

    if options is None:
        return reporting_errors(print_version, arguments)
    from aui_tui.cli.open_dashboard import show

    host = options.pop("host", "")
    return reporting_errors(lambda: show(Run.of(options), host=host), arguments)


OPTIONS: Final = {"--data-dir": "data_dir", "--source": "source", "--config": "config_file", "--open": "host"}


def of_dashboard(arguments: Sequence[str]) -> dict[str, str] | None:
    """Return the options of a line that only opens the dashboard; None for another, which the parser reads."""
    options = {}
    words = iter(arguments)
    for word in words:
        name, equals, value = word.partition("=")
        value = value if equals else next(words, "")
        if name not in OPTIONS or not value.strip():
            return None
        options[OPTIONS[name]] = value
    return options


if __name__ == "__main__":
    main()

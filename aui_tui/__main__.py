"""``python -m aui_tui`` and the ``aui-tui`` command."""

from __future__ import annotations

import os
import sys

if not sys.flags.safe_path and sys.path[:1] == [os.getcwd()] != [os.path.dirname(os.path.dirname(__file__))]:  # noqa: PTH109, PTH120 - nothing may be imported yet
    del sys.path[0]  # “python -m aui_tui” would take modules of ours and of libraries from the current folder

import gc
import signal
from collections.abc import Sequence
from typing import Any, Final

from aui_tui.process import protect

COMPLETING: Final = "_AUI_TUI_COMPLETE"
"""Variable that is set while a shell asks for completions."""
if COMPLETING in os.environ:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # ctrl+c ends it without a word on the line that is being typed

VALUED: Final = {"--data-dir": "data_dir", "--source": "source", "--config": "config_file", "--theme": "theme"}
SWITCHES: Final[dict[str, tuple[str, Any]]] = {
    "--ascii": ("ascii", True),
    "--no-mouse": ("mouse", False),
    "--quiet": ("quiet", True),
}


def main() -> None:
    """Run the command line and leave with its exit code."""
    try:
        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # while modules were loaded
        code = 130
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Return the exit code of a command line. The dashboard opens without the parser: it has to be there at once."""
    protect()
    gc.disable()  # what is imported stays; a command and the dashboard collect again once they have begun
    flags = plain(arguments) if COMPLETING not in os.environ else None
    if flags is None:
        from aui_tui.cli import app

        return app.run(arguments)
    from aui_tui.cli import home
    from aui_tui.cli.run import Run, reporting_errors

    return reporting_errors(lambda: home.show(Run.of(flags)), arguments)


def plain(arguments: Sequence[str]) -> dict[str, Any] | None:
    """Return the flags of a command line that asks for the dashboard and nothing that needs a parser, else None."""
    flags: dict[str, Any] = {}
    words = iter(arguments)
    for word in words:
        name, value = SWITCHES.get(word) or (VALUED.get(word, ""), next(words, None) if word in VALUED else None)
        if not name or value is None or name in flags:
            return None
        flags[name] = value
    return flags


if __name__ == "__main__":
    main()

"""``python -m aui_tui`` and the ``aui-tui`` command."""

from __future__ import annotations

import os
import sys

if not sys.flags.safe_path and sys.path[:1] == [os.getcwd()] != [os.path.dirname(os.path.dirname(__file__))]:  # noqa: PTH109, PTH120 - nothing may be imported yet
    del sys.path[0]  # “python -m aui_tui” would take modules of ours and of libraries from the current folder

import signal
from collections.abc import Sequence
from typing import Final

from aui_tui.process import protect

COMPLETING: Final = "_AUI_TUI_COMPLETE"
"""Variable that is set while a shell asks for completions."""
if COMPLETING in os.environ:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # ctrl+c ends it without a word on the line that is being typed


def main() -> None:
    """Run the command line and leave with its exit code."""
    try:
        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # while modules were loaded
        code = 130
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Return the exit code of a command line. The dashboard and the version need no parser: they are there at once."""
    protect()
    if COMPLETING in os.environ or arguments not in ([], ["--version"]):
        from aui_tui.cli import app

        return app.run(arguments)
    from aui_tui.cli.run import Run, print_version, reporting_errors

    if arguments:
        return reporting_errors(print_version, arguments)
    from aui_tui.cli import home

    return reporting_errors(lambda: home.show(Run.of({})), arguments)


if __name__ == "__main__":
    main()

"""``python -m aui_tui`` and the ``aui-tui`` command."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Sequence
from typing import Final

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
    """Return the exit code of a command line. The dashboard opens without the parser: it has to be there at once."""
    from aui_tui.cli import home

    flags = home.plain(arguments) if COMPLETING not in os.environ else None
    if flags is None:
        from aui_tui.cli import app

        return app.run(arguments)
    gc.disable()  # what is imported stays; the dashboard collects again once it is drawn
    from aui_tui.cli.run import Run, reporting_errors

    return reporting_errors(lambda: home.show(Run.of(flags)), arguments)


if __name__ == "__main__":
    main()

"""Child processes: the one way in which this program starts another Python.

None of them looks for modules in the folder that the user happens to be in: a ``multiprocessing.py`` or ``textual.py``
that lies there would run with the user's rights.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

import aui_tui

_BOOT: Final = """\
import importlib, json, sys
sys.path[:] = json.loads(sys.argv.pop(1))
sys.argv[:1] = []
importlib.import_module(sys.argv[0]).main()
"""


def command(module: str, *arguments: str) -> list[str]:
    """Return the command line of a process that runs ``main()`` of ``module`` and finds the modules found here.

    ``arguments`` are its ``sys.argv[1:]``. The interpreter is isolated: no environment variable, user folder or current
    folder adds modules to it.
    """
    root = str(Path(aui_tui.__file__).resolve().parent.parent)
    path = [str(Path(entry).resolve()) for entry in sys.path if entry]
    import json  # a first frame starts no process

    path_json = json.dumps(path if root in path else [root, *path])
    return [interpreter(), "-I", "-S", "-c", _BOOT, path_json, module, *arguments]


def interpreter() -> str:
    """Return the absolute path of the interpreter that runs this program."""
    return str(Path(sys.executable).absolute())


def is_root() -> bool:
    """Return whether this program runs as root, where a browser cannot set its sandbox up."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def has_ended(pid: object) -> bool:
    """Say whether no process ``pid`` runs; False where that cannot be asked."""
    if not isinstance(pid, int) or pid <= 0 or os.name != "posix":
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:
        return False
    return False


def protect() -> None:
    """See to it that children that a library starts do not look for modules in the current folder either."""
    os.environ["PYTHONSAFEPATH"] = "1"
    sys.path[:] = [entry for entry in sys.path if entry]

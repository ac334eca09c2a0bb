"""Stable import addresses of the engine for programs outside the package: ``aui_tui.engine.<module>``.

The modules themselves live in ``aui_tui.scan`` and ``aui_tui.checks``.
"""

from __future__ import annotations

import sys

from aui_tui.checks import scoring
from aui_tui.scan import network, page, robots, target, walls

for _module in (network, page, robots, scoring, target, walls):
    sys.modules[f"{__name__}.{_module.__name__.rpartition('.')[2]}"] = _module

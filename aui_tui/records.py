"""Stable import address of the codec for programs outside the package: ``aui_tui.records.codec``."""

from __future__ import annotations

import sys

from aui_tui.model import codec

sys.modules[f"{__name__}.codec"] = codec

"""Lettering: lines of letters that a person sees in a drawing, and that are no text. Read from the drawn pixels."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Final

from aui_tui.tasks.page import Page
from aui_tui.text import clean

MOST: Final = 4
"""Drawings of a page that are looked at."""


async def lettering(page: Page, about: Sequence[str] = ()) -> str:
    """Return the start tag of a drawing of the main region that shows lines of letters, without text; else empty.

    Large pictures that are declared as decoration, canvases, and boxes with a picture behind nothing count too.
    ``about``, patterns of headings about contact, of texts that bid to write or call, and of labels of an address: only
    what stands there.
    """
    for at, tag in enumerate(list(map(str, await page.query("drawings", list(about) or None) or ()))[:MOST]):
        box = await page.query("drawing", at)
        if not box:
            continue
        x, y, width, height = box
        drawn = await page.drawn({"x": x, "y": y, "width": width, "height": height})
        if drawn and await page.query("lettered", base64.b64encode(drawn).decode()):
            return clean(tag, 160)
    return ""

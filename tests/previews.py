"""Pictures of the dashboard on the demo's web: ``python -m tests.previews`` writes ``themes/previews/*.svg``.

One picture of the index per theme, named after it; ``card.svg``, ``overview.svg`` and, where a browser is there,
``tasks.svg`` in the default theme.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from aui_tui.demo.web import DemoWeb, fill, service_of, shops, sites
from aui_tui.service.protocol import Service
from aui_tui.tasks.browser import available
from aui_tui.tui import themes
from tests.tui.stage import settle, stage

FOLDER = Path(__file__).parent.parent / "themes" / "previews"
SIZE = (140, 40)
SHOWN = "outlet.demo.test"
"""The host whose card is pictured: robots.txt says yes, the edge says no."""
TRIED = "loft.demo.test"
"""The shop whose tasks are pictured: an agent gets two of its six done in part, and one not at all."""
DEFAULT = "dusk"


async def picture(
    service: Service, theme: str, *, host: str = "", keys: Sequence[str] = (), size: tuple[int, int] = SIZE
) -> str:
    """Return the index under ``theme`` as SVG after ``keys``, or the card of ``host``."""
    async with stage(service, size, theme=theme, start_host=host, standing=False) as pilot:
        await pilot.press(*keys)
        await asyncio.sleep(0.5)
        await settle(pilot)
        return pilot.app.export_screenshot(title="aui-tui", simplify=True)


def steady(svg: str) -> str:
    """Return ``svg`` without the ids that differ from run to run, and without a web font."""
    svg = re.sub(r"terminal-\d+", "terminal", svg)
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)


async def pictures() -> dict[str, str]:
    """Return every picture by its file name without the ending."""
    served = (*sites(), *(shop for shop in shops() if shop.host == TRIED and not available()))
    with tempfile.TemporaryDirectory() as home, DemoWeb(served) as web:
        service = service_of(web, Path(home), base_url="http://127.0.0.1:8000", method="v0.2")
        try:
            await fill(service, web, lambda _card: None)
            names = sorted(themes.load((themes.packaged(),)).themes)
            below = ["down"] * 4
            found = {name: await picture(service, name, keys=below) for name in names}
            found["overview"] = await picture(service, DEFAULT, keys=["v"])
            found["card"] = await picture(service, DEFAULT, host=SHOWN)
            if not available():
                found["tasks"] = await picture(service, DEFAULT, host=TRIED, keys=["7"])
            return found
        finally:
            await service.aclose()


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, svg in asyncio.run(pictures()).items():
        (FOLDER / f"{name}.svg").write_text(steady(svg), encoding="utf-8")
        print(name)


if __name__ == "__main__":
    main()

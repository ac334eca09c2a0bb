"""A shop whose owner can fix it: files in a folder, and an edge that refuses AI agents."""

from __future__ import annotations

from pathlib import Path

from aui_tui.model.registry import registry
from tests.applied.servers import Folder, KeepingAlive

HOST = "shop.test"
PAGE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Oak and Thread</title>
<meta property="og:site_name" content="Oak and Thread">
</head>
<body><header><nav aria-label="Main"><a href="/">Home</a></nav></header>
<main><h1>Oak and Thread</h1><p>Furniture and linen, made to order in the workshop behind the shop. Every price on this
page is final and includes delivery; orders can be changed until the wood is cut, and returned within thirty days.</p>
</main></body></html>
"""
ROBOTS = "User-agent: *\nDisallow:\n\nUser-agent: Claude-User\nUser-agent: Perplexity-User\nDisallow: /\n"
FILES = {"index.html": PAGE, "robots.txt": ROBOTS}


def rules(shop: Folder) -> list[str]:
    """Return the options that lead a scan of HOST to ``shop``."""
    return ["--connect-to", f"{HOST}:80:127.0.0.1:{shop.port}"]


class Refusing(KeepingAlive):
    """Turns away every agent whose name the shop refuses, but from the paths that its owner left out of the rule."""

    def do_GET(self) -> None:
        agent = self.headers.get("User-Agent", "")
        if self.path not in self.server.left_out and any(name in agent for name in self.server.refused):
            self.send_error(403)
        else:
            super().do_GET()


class PythonShop(Folder):
    """The shop on Python's own server; its edge is a list of refused names."""

    handler = Refusing

    def __init__(self, home: Path) -> None:
        super().__init__(home, FILES)
        self._backend.refused = [agent.token for agent in registry().live]
        self._backend.left_out = set[str]()

    def leave_out(self, path: str) -> None:
        """Serve ``path`` to everybody."""
        self._backend.left_out.add(path)

    def install(self, file: str, text: str) -> None:
        self._backend.refused = [name for name in self._backend.refused if name not in text]

"""A shop whose owner can fix it: files in a folder, and an edge that refuses AI agents."""

from __future__ import annotations

import shutil
import threading
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Protocol, Self

from aui_tui.model.registry import registry
from tests.applied.servers import Nginx
from tests.loopback import QuietFiles, files_of

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
AGENTS = tuple(agent.token for agent in registry().live)
NGINX = shutil.which("nginx")


class Shop(Protocol):
    """A running shop: ``folder`` holds its files, ``rules`` lead a scan of ``host`` to it."""

    host: str
    folder: Path

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    @property
    def rules(self) -> list[str]:
        """Options of a scan."""
        ...

    def let_agents_in(self, file: str, text: str) -> None:
        """Give the edge a file of the fix ``wba``."""
        ...

    def restart(self) -> None:
        """Take the new settings."""
        ...


class PythonShop:
    """The shop on Python's own server; its edge is a list of refused names."""

    def __init__(self, home: Path) -> None:
        self.host, self.folder = "shop.test", home / "htdocs"
        self.refused = AGENTS
        self.folder.mkdir()
        for name, text in FILES.items():
            (self.folder / name).write_text(text, encoding="utf-8")
        shop = self

        class Handler(QuietFiles):
            def do_GET(self) -> None:
                if any(name in self.headers.get("User-Agent", "") for name in shop.refused):
                    self.send_error(403)
                else:
                    super().do_GET()

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), files_of(self.folder, Handler))
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def port(self) -> int:
        """Where it listens on this machine."""
        return self._server.server_port

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def rules(self) -> list[str]:
        return ["--connect-to", f"{self.host}:80:127.0.0.1:{self._server.server_port}"]

    def let_agents_in(self, file: str, text: str) -> None:
        self.refused = tuple(name for name in self.refused if name not in text)

    def restart(self) -> None:
        return


class NginxShop:
    """The same shop behind a real nginx that refuses AI agents by name."""

    def __init__(self, home: Path) -> None:
        self.host, self._nginx = "shop.test", Nginx(home, FILES)
        self.folder = self._nginx.root

    def __enter__(self) -> Self:
        self._nginx.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._nginx.__exit__()

    @property
    def rules(self) -> list[str]:
        return ["--connect-to", f"{self.host}:80:127.0.0.1:{self._nginx.port}"]

    def let_agents_in(self, file: str, text: str) -> None:
        self._nginx.install(file, text)

    def restart(self) -> None:
        self._nginx.stop()
        self._nginx.start()

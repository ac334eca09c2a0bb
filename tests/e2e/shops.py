"""A shop whose owner can fix it: files in a folder, and an edge that refuses AI agents."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Protocol, Self

from aui_tui.records.registry import registry
from tests.applied.servers import free_port, listens

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


def stock(folder: Path) -> None:
    """Write the shop's files as they were before any fix."""
    folder.mkdir()
    (folder / "index.html").write_text(PAGE, encoding="utf-8")
    (folder / "robots.txt").write_text(ROBOTS, encoding="utf-8")


class PythonShop:
    """The shop on Python's own server; its edge is a list of refused names."""

    def __init__(self, home: Path) -> None:
        self.host, self.folder = "shop.test", home / "htdocs"
        self.refused = AGENTS
        stock(self.folder)
        shop = self

        class Handler(SimpleHTTPRequestHandler):
            def __init__(self, *args: object) -> None:
                super().__init__(*args, directory=str(shop.folder))  # type: ignore[arg-type]

            def do_GET(self) -> None:
                if any(name in self.headers.get("User-Agent", "") for name in shop.refused):
                    self.send_error(403)
                else:
                    super().do_GET()

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

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
        self.host, self.folder, self._home = "shop.test", home / "htdocs", home / "nginx"
        stock(self.folder)
        self._home.mkdir()
        self._port = free_port()
        self._write(http="", guard="if ($bad_bot) { return 403; }")
        self._process: subprocess.Popen[bytes] | None = None

    def _write(self, *, http: str, guard: str) -> None:
        temporary = "\n".join(f"{kind}_temp_path {self._home}/{kind};" for kind in ("client_body", "proxy", "fastcgi"))
        (self._home / "nginx.conf").write_text(
            f"""
            {"user root;" if os.geteuid() == 0 else ""}
            daemon off; pid {self._home}/pid; error_log {self._home}/error.log;
            events {{ }}
            http {{
                access_log off; {temporary}
                types {{ text/html html; text/plain txt; application/json json; }}
                map $http_user_agent $bad_bot {{ default 0; "~*({"|".join(AGENTS)})" 1; }}
                {http}
                server {{
                    listen 127.0.0.1:{self._port}; server_name {self.host}; root {self.folder};
                    {guard}
                }}
            }}
            """,
            encoding="utf-8",
        )

    def __enter__(self) -> Self:
        assert NGINX is not None
        arguments = [NGINX, "-p", str(self._home), "-c", str(self._home / "nginx.conf")]
        self._process = subprocess.Popen(arguments, stderr=subprocess.DEVNULL)
        assert listens(self._port), (self._home / "error.log").read_text(encoding="utf-8")
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process is not None
        self._process.terminate()
        self._process.wait(20)

    @property
    def rules(self) -> list[str]:
        return ["--connect-to", f"{self.host}:80:127.0.0.1:{self._port}"]

    def let_agents_in(self, file: str, text: str) -> None:
        """Put a file where the plan says: the ranges beside the settings, the map in http, the if above the rule."""
        (self._home / file).write_text(text.replace("/etc/nginx", str(self._home)), encoding="utf-8")

    def restart(self) -> None:
        guard = (self._home / "agents-server.conf").read_text(encoding="utf-8")
        self._write(http=f"include {self._home}/agents.conf;", guard=f"{guard} if ($bad_bot) {{ return 403; }}")
        assert NGINX is not None
        checked = [NGINX, "-t", "-p", str(self._home), "-c", str(self._home / "nginx.conf")]
        done = subprocess.run(checked, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        self.__exit__()
        self.__enter__()

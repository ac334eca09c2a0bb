"""Real web servers on loopback that refuse agents by name, each in its own way, and take the files of a plan."""

from __future__ import annotations

import getpass
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Mapping
from contextlib import suppress
from http.server import ThreadingHTTPServer
from pathlib import Path
from textwrap import indent
from typing import Any, ClassVar, Self

from aui_tui.model.registry import registry
from tests.loopback import QuietFiles, files_of, free_port
from tests.service.waiting import eventually

MODSECURITY = Path("/usr/lib/nginx/modules/ngx_http_modsecurity_module.so")
NAMES = "|".join(agent.token for agent in registry().live)


class KeepingAlive(QuietFiles):
    """Serves files over connections that are kept."""

    protocol_version = "HTTP/1.1"


class Folder:
    """The files of a site, served as they are by Python's own server; nothing refuses here."""

    program: ClassVar[str] = ""
    etc: ClassVar[str] = ""
    handler: ClassVar[type[QuietFiles]] = KeepingAlive

    def __init__(self, home: Path, files: Mapping[str, str]) -> None:
        self.home, self.root = home, home / "htdocs"
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        self._backend: Any = ThreadingHTTPServer(("127.0.0.1", 0), files_of(self.root, self.handler))
        self.backend = self.port = self._backend.server_port

    @property
    def url(self) -> str:
        """The address to scan."""
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._backend.serve_forever, daemon=True).start()
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._backend.shutdown()
        self._backend.server_close()

    def start(self) -> None:
        """Start what stands before the files."""

    def stop(self) -> None:
        """Stop it."""

    def install(self, file: str, text: str) -> None:
        """Put a file of ``server/`` where the plan says."""
        raise AssertionError(f"nothing to install {file} in")


class Server(Folder):
    """A server with a configuration: ``config`` holds it, ``marks`` say where files of a plan go."""

    def __init__(self, home: Path, files: Mapping[str, str]) -> None:
        super().__init__(home, files)
        self.port, self.conf = free_port(), home / "etc"
        self.conf.mkdir()
        self._process: subprocess.Popen[bytes] | None = None
        self.text = self.config()

    def config(self) -> str:
        """Return the configuration as the owner wrote it."""
        raise NotImplementedError

    @property
    def binary(self) -> str:
        """The path of the server's program, empty where it is not installed."""
        return shutil.which(self.program) or ""

    @property
    def main(self) -> Path:
        """The main file of the configuration."""
        return self.conf / "main.conf"

    def check(self) -> list[str]:
        """Return the command with which the server checks its configuration."""
        raise NotImplementedError

    def command(self) -> list[str]:
        """Return the command that runs the server in the foreground."""
        raise NotImplementedError

    def start(self) -> None:
        self.main.write_text(self.text, encoding="utf-8")
        done = subprocess.run(self.check(), capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stdout[-500:] + done.stderr[-2000:] + self.text
        own = os.environ | {"XDG_CONFIG_HOME": str(self.home), "XDG_DATA_HOME": str(self.home)}
        self._process = subprocess.Popen(
            self.command(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, env=own
        )
        eventually(self.listens)

    def listens(self) -> bool:
        """Whether the server takes connections."""
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            return True
        return False

    def stop(self) -> None:
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGTERM)
            self._process.wait(60)
            self._process = None

    def local(self, text: str) -> str:
        """Return ``text`` with the server's folder of settings replaced by that of the test."""
        return text.replace(self.etc, str(self.conf))

    def above(self, pattern: str, text: str) -> None:
        """Put ``text`` right above the first line that ``pattern`` finds in the configuration."""
        found = re.search(f"^.*(?:{pattern}).*$", self.text, re.MULTILINE)
        assert found is not None, self.text
        self.text = self.text[: found.start()] + self.local(text) + "\n" + self.text[found.start() :]


class Nginx(Server):
    """nginx with a map of bad names and an if in the server block."""

    program, etc = "nginx", "/etc/nginx"
    guard, location, rule = "if ($bad_bot) { return 403; }", "", "return 403"

    def config(self) -> str:
        temporary = "\n".join(f"{kind}_temp_path {self.home}/{kind};" for kind in ("client_body", "proxy", "fastcgi"))
        return f"""
            {"user root;" if os.geteuid() == 0 else ""}
            daemon off; pid {self.home}/pid; error_log {self.home}/error.log;
            events {{ }}
            http {{
                access_log off; {temporary}
                types {{ text/html html; text/plain txt; application/json json; }}
                map $http_user_agent $bad_bot {{ default 0; "~*({NAMES})" 1; }}
                include {self.conf}/conf.d/*.conf;
                server {{
                    listen 127.0.0.1:{self.port}; root {self.root};
                    {self.guard}
                    location / {{
                        {self.location}
                        index index.html;
                    }}
                }}
            }}
            """

    def check(self) -> list[str]:
        return [*self.command(), "-t"]

    def command(self) -> list[str]:
        return [self.binary, "-p", str(self.home), "-c", str(self.main)]

    def install(self, file: str, text: str) -> None:
        (self.conf / "conf.d").mkdir(exist_ok=True)
        if file == "agents-server.conf":
            self.above(self.rule, text)
        elif file == "agents-modsecurity.conf":
            self.before_modsecurity(text)
        else:
            place = self.conf / ("conf.d/agents.conf" if file == "agents.conf" else file)
            place.write_text(self.local(text), encoding="utf-8")

    def before_modsecurity(self, text: str) -> None:
        """Put rules before those of ModSecurity; there is none here."""


class NginxModSecurity(Nginx):
    """nginx whose ModSecurity 3, with the core rule set, refuses names."""

    rule = "location /"

    @property
    def guard(self) -> str:  # type: ignore[override]
        """The directives that switch it on."""
        return f"modsecurity on; modsecurity_rules_file {self.conf}/modsecurity.conf;"

    def config(self) -> str:
        rules = (self.conf / "modsecurity.conf", self.conf / "before.conf")
        rules[1].write_text("", encoding="utf-8")
        rules[0].write_text(
            f"""SecRuleEngine On
SecRequestBodyAccess Off
Include {rules[1]}
Include /etc/modsecurity/crs/crs-setup.conf
Include /usr/share/modsecurity-crs/rules/*.conf
SecRule REQUEST_HEADERS:User-Agent "@rx {NAMES}" "id:1001,phase:1,deny,status:403"
""",
            encoding="utf-8",
        )
        return f"load_module {MODSECURITY};\n{super().config()}"

    def before_modsecurity(self, text: str) -> None:
        (self.conf / "before.conf").write_text(self.local(text), encoding="utf-8")


class Lighttpd(Server):
    """lighttpd with a condition on names that denies."""

    program, etc = "lighttpd", "/etc/lighttpd"

    def config(self) -> str:
        return f"""
server.modules = ( "mod_access" )
server.document-root = "{self.root}"
server.bind = "127.0.0.1"
server.port = {self.port}
index-file.names = ( "index.html" )
mimetype.assign = ( ".html" => "text/html", ".txt" => "text/plain", ".json" => "application/json" )
$HTTP["user-agent"] =~ "({NAMES})" {{
    url.access-deny = ( "" )
}}
"""

    def check(self) -> list[str]:
        return [*self.command()[:1], "-tt", "-f", str(self.main)]

    def command(self) -> list[str]:
        return [self.binary, "-D", "-f", str(self.main)]

    def install(self, file: str, text: str) -> None:
        assert file == "agents.conf", file
        self.text += text


class NginxLocation(Nginx):
    """nginx with the name in an if of the location."""

    guard, location = "", f"if ($http_user_agent ~* ({NAMES})) {{ return 403; }}"


class Apache(Server):
    """Apache with a RewriteRule that forbids names."""

    program, etc = "apache2", "/etc/apache2"
    rules = f"""
        RewriteEngine On
        RewriteCond %{{HTTP_USER_AGENT}} ({NAMES}) [NC]
        RewriteRule ^ - [F]"""
    access = "Require all granted"

    def config(self) -> str:
        modules = ("mpm_event", "authz_core", "dir", "mime", "rewrite", "setenvif")
        loaded = "\n".join(f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so" for name in modules)
        return f"""
        ServerRoot {self.home}
        ServerName 127.0.0.1
        DefaultRuntimeDir {self.home}
        PidFile {self.home}/pid
        ErrorLog {self.home}/error.log
        Listen 127.0.0.1:{self.port}
        {loaded}
        TypesConfig /etc/mime.types
        DirectoryIndex index.html
        <VirtualHost *:{self.port}>
        DocumentRoot {self.root}
        {self.rules}
        <Directory {self.root}>
            {self.access}
        </Directory>
        </VirtualHost>
        """

    def check(self) -> list[str]:
        return [self.binary, "-f", str(self.main), "-t"]

    def command(self) -> list[str]:
        return [self.binary, "-f", str(self.main), "-DFOREGROUND"]

    def install(self, file: str, text: str) -> None:
        if file == "agents.conf":
            self.above("DocumentRoot", text)
        else:
            (self.conf / file).write_text(self.local(text), encoding="utf-8")


class ApacheRequire(Apache):
    """Apache that marks names and denies them by authorization."""

    rules = f'SetEnvIfNoCase User-Agent "({NAMES})" bad_bot'
    access = """<RequireAll>
                Require all granted
                Require not env bad_bot
            </RequireAll>"""


class HAProxy(Server):
    """HAProxy before the files, with an http-request deny."""

    program, etc = "haproxy", "/etc/haproxy"

    def config(self) -> str:
        return f"""
defaults
    mode http
    timeout connect 5s
    timeout client 20s
    timeout server 20s
frontend web
    bind 127.0.0.1:{self.port}
    http-request deny deny_status 403 if {{ req.hdr(User-Agent) -m reg -i ({NAMES}) }}
    default_backend files
backend files
    server one 127.0.0.1:{self.backend}
"""

    def check(self) -> list[str]:
        return [self.binary, "-c", "-f", str(self.main)]

    def command(self) -> list[str]:
        return [self.binary, "-f", str(self.main)]

    def install(self, file: str, text: str) -> None:
        if file == "agents-frontend.cfg":
            self.above("http-request deny", text)
        else:
            (self.conf / file).write_text(text + "\n", encoding="utf-8")


class Varnish(Server):
    """Varnish before the files, with a synthetic 403."""

    program, etc = "varnishd", "/etc/varnish"

    def config(self) -> str:
        return f"""vcl 4.1;
backend files {{ .host = "127.0.0.1"; .port = "{self.backend}"; }}
sub vcl_recv {{
    if (req.http.User-Agent ~ "(?i)({NAMES})") {{
        return (synth(403));
    }}
}}
"""

    @property
    def main(self) -> Path:
        return self.conf / "default.vcl"

    def check(self) -> list[str]:
        return [self.binary, "-j", "none", "-C", "-f", str(self.main), "-n", str(self.home / "check")]

    def command(self) -> list[str]:
        work, address = str(self.home / "work"), f"127.0.0.1:{self.port}"
        return [self.binary, "-j", "none", "-F", "-a", address, "-f", str(self.main), "-n", work, "-T", "none"]

    def install(self, file: str, text: str) -> None:
        self.above("backend files" if file == "agents.vcl" else "if .req.http.User-Agent", text)


class Caddy(Server):
    """Caddy with a matcher for names and a respond."""

    program, etc = "caddy", "/etc/caddy"

    def config(self) -> str:
        return f"""{{
    admin off
    auto_https off
}}
http://127.0.0.1:{self.port} {{
    @agents {{
        header_regexp User-Agent "({NAMES})"
    }}
    respond @agents 403
    root * {self.root}
    file_server
}}
"""

    def check(self) -> list[str]:
        return [self.binary, "validate", "--adapter", "caddyfile", "--config", str(self.main)]

    def command(self) -> list[str]:
        return [self.binary, "run", "--adapter", "caddyfile", "--config", str(self.main)]

    def install(self, file: str, text: str) -> None:
        found = re.search(r"@agents \{[^}]*\n", self.text)
        assert found is not None, file
        self.text = self.text[: found.end()] + "        " + text + "\n" + self.text[found.end() :]


class H2O(Server):
    """H2O with an access list in mruby that denies names."""

    program, etc = "h2o", "/etc/h2o"

    def config(self) -> str:
        return f"""
listen: {{host: 127.0.0.1, port: {self.port}}}
user: {getpass.getuser()}
pid-file: {self.home}/pid
error-log: {self.home}/error.log
hosts:
  default:
    paths:
      /:
        - mruby.handler: |
            require "acl.rb"
            acl {{
              deny {{ user_agent.match(/{NAMES}/) }}
            }}
        - file.dir: {self.root}
"""

    def check(self) -> list[str]:
        return [*self.command(), "-t"]

    def command(self) -> list[str]:
        return [self.binary, "-c", str(self.main)]

    def install(self, file: str, text: str) -> None:
        self.above("deny ", indent(text, 14 * " "))

"""The matrix of real servers and what is odd about their answers: what Chromium shows, a scan sees too."""

from __future__ import annotations

import asyncio
import getpass
import json
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
import pytest_asyncio

from aui_tui.model.observations import BROWSER, FILE_PROBES
from aui_tui.model.vocabulary import SERVED
from aui_tui.scan import page
from aui_tui.scan.parser_process import ParserProcess
from aui_tui.scan.policy import ConnectTo, ScanPolicy
from aui_tui.scan.probes import Url
from aui_tui.scan.scan import observe
from aui_tui.scan.target import Origin
from aui_tui.tasks.browser_control import InstalledChromium
from tests.applied.servers import KeepingAlive
from tests.faults.authority import Authority
from tests.faults.site import PAGE, QUICK, TITLE
from tests.loopback import files_of, free_port
from tests.loopback import listening as listening_files

pytestmark = pytest.mark.real_server

NGINX: Final = """daemon off; master_process off; pid {home}/pid; error_log {home}/log;
events {{ worker_connections 256; }}
http {{ access_log off; default_type text/html; client_body_temp_path {home}/b; proxy_temp_path {home}/p;
fastcgi_temp_path {home}/f; uwsgi_temp_path {home}/u; scgi_temp_path {home}/s; {oddity}
server {{ listen 127.0.0.1:{port} ssl{h2}; ssl_certificate {home}/chain.pem; ssl_certificate_key {home}/key.pem;
root {home}/www; }} }}
"""
APACHE: Final = """
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule dir_module /usr/lib/apache2/modules/mod_dir.so
LoadModule headers_module /usr/lib/apache2/modules/mod_headers.so
LoadModule ssl_module /usr/lib/apache2/modules/mod_ssl.so
LoadModule http2_module /usr/lib/apache2/modules/mod_http2.so
ServerName shop.test
PidFile {home}/pid
ErrorLog {home}/log
Mutex file:{home}
Listen 127.0.0.1:{port}
Protocols {h2}http/1.1
DocumentRoot {home}/www
DirectoryIndex index.html
ForceType text/html
SSLEngine on
SSLCertificateFile {home}/chain.pem
SSLCertificateKeyFile {home}/key.pem
{oddity}
"""
NODE: Final = """
const fs = require('fs'), http2 = require('http2'), https = require('https');
const [home, port, h2] = [{home}, {port}, {h2}];
const keys = {{ cert: fs.readFileSync(home + '/chain.pem'), key: fs.readFileSync(home + '/key.pem') }};
const page = fs.readFileSync(home + '/www/index.html');
const serve = (asked, answer) => {{ const found = asked.url === '/';
  const body = found ? page : Buffer.from('nothing');
  {oddity}
  answer.writeHead(found ? 200 : 404, {{ 'Content-Type': 'text/html', 'Content-Length': body.length }});
  answer.end(body);
}};
const server = h2 ? http2.createSecureServer({{ ...keys, allowHTTP1: true }}, serve) : https.createServer(keys, serve);
{after}
server.listen(port, '127.0.0.1');
"""
CADDY: Final = """{{
    admin off
    auto_https off
    servers {{
        protocols h1 {h2}
    }}
}}
:{port} {{
    bind 127.0.0.1
    tls {home}/chain.pem {home}/key.pem
    root * {home}/www
    header Content-Type text/html
    {oddity}
    file_server
}}
"""
H2O: Final = """
user: {user}
pid-file: {home}/pid
error-log: {home}/log
listen:
  host: 127.0.0.1
  port: {port}
  ssl: {{certificate-file: {home}/chain.pem, key-file: {home}/key.pem}}
file.mime.setdefaulttype: text/html
hosts:
  default:
    paths:
      /: {{file.dir: {home}/www}}
{oddity}
"""
NGHTTPX: Final = """
frontend=127.0.0.1,{port}
backend=127.0.0.1,{backend};;proto=http/1.1
npn-list={protocols}
private-key-file={home}/key.pem
certificate-file={home}/chain.pem
no-ocsp=yes
single-thread=yes
{oddity}
"""
RAW: Final = "asked.socket.end('HTTP/1.1 200 OK\\r\\nContent-Type: text/html\\r\\n{line}\\r\\n\\r\\n' + page); return;"
"""An answer of Node with a line of its own."""
MATRIX: Final[Mapping[tuple[str, bool, str], str]] = {
    ("nginx", False, "a field twice"): "add_header X-A 1; add_header X-A 2;",
    ("nginx", False, "an unknown coding"): "add_header Content-Encoding utf-8;",
    ("apache2", False, "no kept connections"): "KeepAlive Off",
    ("apache2", False, "one request a connection"): "MaxKeepAliveRequests 1",
    ("apache2", True, "one request a connection"): "MaxKeepAliveRequests 1",
    ("apache2", True, "an unknown coding"): "Header set Content-Encoding none",
    ("apache2", False, "a folded value"): 'Header set X-A "one\ttwo"',
    ("caddy", True, "a field twice"): "header X-A 1\n header +X-A 2",
    ("caddy", False, "no kept connections"): "header Connection close",
    ("caddy", True, "a coding that packs"): "encode gzip {\n minimum_length 1\n }",
    ("caddy", False, "an unknown coding"): "header Content-Encoding none",
    ("h2o", True, "nothing"): "",
    ("h2o", True, "one request at a time"): "http2-max-concurrent-requests-per-connection: 1",
    ("h2o", True, "a field twice"): 'header.add: "X-A: 1"\nheader.append: "X-A: 2"',
    ("h2o", True, "a coding that packs"): "compress: ON",
    ("nghttpx", True, "nothing"): "",
    ("nghttpx", True, "one request a connection"): "frontend-max-requests=1",
    ("nghttpx", False, "one request a connection"): "frontend-max-requests=1",
    ("nghttpx", True, "one request at a time"): "frontend-http2-max-concurrent-streams=1",
    ("nghttpx", True, "a small window"): "frontend-http2-window-size=65535",
    ("nghttpx", True, "a field twice"): "add-response-header=X-A: 1\nadd-response-header=X-A: 2",
    ("nghttpx", True, "no table of fields"): "frontend-http2-encoder-dynamic-table-size=0",
    ("nghttpx", False, "no kept connections"): "frontend-keep-alive-timeout=1",
    ("nghttpx", False, "an unknown coding"): "add-response-header=Content-Encoding: none",
    ("node", False, "one request a connection"): "after:server.maxRequestsPerSocket = 1;",
    ("node", False, "no kept connections"): "after:server.keepAliveTimeout = 1;",
    ("node", True, "a session that ends after each answer"): (
        "answer.on('finish', () => asked.stream?.session?.close());"
    ),
    ("node", True, "a goaway after the first request"): "asked.stream?.session?.goaway(0);",
    ("node", False, "a warning before the fields"): RAW.format(line="<b>Warning</b>: in /srv/x.php on line 3"),
    ("node", False, "a name with blanks"): RAW.format(line="X-Made : by hand"),
    ("node", False, "an empty name"): RAW.format(line=": value"),
    ("node", False, "a control character"): RAW.format(line="X-A: one\\x07two"),
    ("node", False, "a blank first line"): RAW.format(line="X-A: one").replace("'HTTP", "'\\r\\nHTTP"),
    ("node", False, "two lengths"): RAW.format(line="Content-Length: {size}\\r\\nContent-Length: {size}"),
    ("node", False, "a length that is no number"): RAW.format(line="Content-Length: unknown"),
    ("node", False, "an identity in Transfer-Encoding"): RAW.format(line="Transfer-Encoding: identity"),
    ("node", False, "two lengths that differ"): RAW.format(line="Content-Length: 9999\\r\\nContent-Length: 5"),
}
"""By server, whether it speaks HTTP/2, and what is odd: the settings, or the code, that make it so."""


@contextmanager
def serving(name: str, h2: bool, oddity: str, home: Path, authority: Authority) -> Iterator[int]:
    """Run a server with ``oddity`` and yield its port. Skips where it is not installed."""
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"{name} is not installed")
    certificate = authority.root.issue_cert("shop.test")
    (home / "chain.pem").write_bytes(b"".join(blob.bytes() for blob in certificate.cert_chain_pems))
    (home / "key.pem").write_bytes(certificate.private_key_pem.bytes())
    (home / "www").mkdir()
    (home / "www/index.html").write_bytes(PAGE)
    (home / "www/robots.txt").write_text("User-agent: *\nDisallow: /cart\n")
    (home / "www/llms.txt").write_text("# Shop\n")
    port, file, stack = free_port(), home / "server.conf", ExitStack()
    if name == "node":
        after = oddity.removeprefix("after:") if oddity.startswith("after:") else ""
        code = "" if after else oddity.replace("{size}", str(len(PAGE)))
        js = {"home": json.dumps(str(home)), "h2": json.dumps(h2)}
        text, command = NODE.format(**js, port=port, oddity=code, after=after), [program, str(file)]
    elif name == "nginx":
        text = NGINX.format(home=home, port=port, h2=" http2" if h2 else "", oddity=oddity)
        command = [program, "-p", str(home), "-c", str(file)]
    elif name == "caddy":
        text = CADDY.format(home=home, port=port, h2="h2" if h2 else "", oddity=oddity)
        command = [program, "run", "--adapter", "caddyfile", "--config", str(file)]
    elif name == "h2o":
        text = H2O.format(home=home, port=port, user=getpass.getuser(), oddity=oddity)
        command = [program, "-c", str(file)]
    elif name == "nghttpx":
        backend = stack.enter_context(listening_files(files_of(home / "www", KeepingAlive))).server_port
        protocols = "h2,http/1.1" if h2 else "http/1.1"
        text = NGHTTPX.format(home=home, port=port, backend=backend, protocols=protocols, oddity=oddity)
        command = [program, f"--conf={file}"]
    else:
        text = APACHE.format(home=home, port=port, h2="h2 " if h2 else "", oddity=oddity)
        command = [program, "-X", "-f", str(file)]
    file.write_text(text)
    with stack, (home / "errors").open("wb") as errors, subprocess.Popen(command, stderr=errors) as process:
        try:
            yield port
        finally:
            process.terminate()


async def listening(port: int) -> None:
    """Wait until something listens at ``port``."""
    async with asyncio.timeout(20):
        while True:
            with suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.close()
                return
            await asyncio.sleep(0.05)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def real() -> AsyncIterator[InstalledChromium]:
    """The installed Chromium; each page that it fetches is in a profile of its own."""
    browser = InstalledChromium()
    if browser.missing:
        pytest.skip("no Chromium is installed")
    yield browser
    await browser.aclose()


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("server", "h2", "oddity"), MATRIX, ids=lambda value: value if isinstance(value, str) else f"h{1 + value}"
)
async def test_a_scan_sees_what_chromium_shows(
    server: str,
    h2: bool,
    oddity: str,
    parser: ParserProcess,
    authority: Authority,
    real: InstalledChromium,
    tmp_path: Path,
) -> None:
    with serving(server, h2, MATRIX[server, h2, oddity], tmp_path, authority) as port:
        await listening(port)
        rule = ConnectTo("shop.test", 443, "127.0.0.1", port)
        limits = replace(QUICK, probe=20.0, connect=20.0)
        access = ScanPolicy(connect_to=(rule,), cafile=authority.cafile, limits=limits, arms=False, keyboard=True)
        shown = await real.fetch(Url(Origin("https", "shop.test", 443), "/"), access)
        seen = await observe(access.target("https://shop.test"), parser=parser, access=access)
    chromium = shown.status == 200 and page.read(shown.body).facts.title == TITLE
    ours = [probe.outcome == SERVED and probe.title == TITLE for probe in seen.homepages]
    answers = [(probe.status, probe.error, probe.detail) for probe in seen.homepages]
    assert ours == [chromium] * 5, (shown.status, shown.error, shown.detail, answers)


@pytest.mark.parametrize("http2", [False, True])
@pytest.mark.parametrize("settings", ["keepalive_timeout 0;", "keepalive_requests 1;", "keepalive_time 1ms;", ""])
async def test_connections_that_nginx_ends_early_lose_no_answer(
    settings: str, http2: bool, parser: ParserProcess, authority: Authority, tmp_path: Path
) -> None:
    with serving("nginx", http2, settings, tmp_path, authority) as port:
        await listening(port)
        rule = ConnectTo("shop.test", 443, "127.0.0.1", port)
        limits = replace(QUICK, probe=20.0, connect=20.0)
        access = ScanPolicy(connect_to=(rule,), cafile=authority.cafile, limits=limits)
        observed = await observe(access.target("https://shop.test"), parser=parser, access=access)
    assert [(probe.outcome, probe.title) for probe in observed.homepages] == [(SERVED, TITLE)] * 5
    assert not [(probe.name, probe.attempts) for probe in observed.exchanges if probe.attempts]
    assert [observed.exchange(name).status for name in FILE_PROBES] == [200, 200, 404, 404, 404]
    assert observed.exchange(BROWSER).http_version == ("HTTP/2" if http2 else "HTTP/1.1")

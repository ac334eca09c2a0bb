"""An owner's own site: behind a password, behind an issuer of its own, and scanned as often as wanted."""

from __future__ import annotations

import base64
import json
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trustme

from tests.cli.runner import here
from tests.e2e.conftest import RICH, Options
from tests.loopback import QuietHandler, listening

TOKEN = "Basic " + base64.b64encode(b"anna:Correct-Horse").decode()
PAGE = b"<!doctype html><title>Shop</title><main>" + b"words " * 200 + b"</main>"
LIMIT = "Header fields of your own, such as a password, went with every request, because you asked for it"


class Staging(QuietHandler):
    """Asks for a password, and then serves one page."""

    def do_GET(self) -> None:
        known = self.headers["Authorization"] == TOKEN
        status = 401 if not known else 200 if self.path == "/" else 404
        self.send_response(status)
        if not known:
            self.send_header("WWW-Authenticate", 'Basic realm="staging"')
        body = PAGE if status == 200 else b""
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def staging(authority: trustme.CA | None = None) -> Iterator[int]:
    """Yield the port of a staging server, over TLS where an ``authority`` signs for it."""
    context = None
    if authority is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("staging.test").configure_cert(context)
    with listening(Staging, context) as server:
        yield server.server_port


@pytest.mark.ci
def test_a_401_names_the_option_and_the_card_says_that_credentials_were_used(tmp_path: Path) -> None:
    with staging() as port:
        rule = ("--connect-to", f"staging.test:80:127.0.0.1:{port}")
        shut = here(tmp_path, "scan", "http://staging.test", *rule, "--json", "-q")
        assert "staging.test asks for a password (401)." in shut.err
        assert "basic_auth_env or headers of" in shut.err
        assert LIMIT not in shut.out
        (tmp_path / "own.toml").write_text('[sites."staging.test"]\nbasic_auth_env = "STAGING"\n')
        asked = ("scan", "http://staging.test", *rule, "--config", "own.toml", "--force", "-q", "--details")
        done = here(tmp_path, *asked[:-1], "--json", env={"STAGING": "anna:Correct-Horse"})
    assert (done.code, done.err) == (0, "")
    card = json.loads(done.out)
    assert card["human_status"] == 200
    assert [item["t"] for item in card["evidence"] if item["text"].startswith(LIMIT)] == ["warn"]
    assert LIMIT in " ".join(here(tmp_path, "site", "http://staging.test", "--details").out.split())


@pytest.mark.ci
def test_an_issuer_that_is_not_known_names_the_option(tmp_path: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    with staging(authority) as port:
        asked = ("scan", "https://staging.test", "--connect-to", f"staging.test:443:127.0.0.1:{port}", "-q", "--force")
        shut = here(tmp_path, *asked)
        assert shut.code == 3
        assert "AUI_TUI_CACERT=FILE trusts the certificates in FILE too." in shut.err
        done = here(tmp_path, *asked, "--details", env={"AUI_TUI_CACERT": "ca.pem"})
    assert "CACERT" not in done.err
    assert "401" in done.out


@pytest.mark.slow
def test_twelve_scans_of_ones_own_host_in_a_row(tmp_path: Path, serve: Callable[..., Options]) -> None:
    """What ``watch`` and a hook before each push need."""
    rules = serve(RICH)
    for _ in range(12):
        done = here(tmp_path, "scan", "http://rich.test", *rules, "--force", "--fail-grade", "A", "-q")
        assert done.code == 0, done.err

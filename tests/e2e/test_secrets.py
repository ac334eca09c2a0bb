"""What opens a staging site reaches that site alone: not the terminal, the store, a recording or an export."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from tests.cli.runner import here
from tests.loopback import QuietHandler, listening

KEY, USER, PASSWORD = "Hush-Hush-4711", "anna", "Correct-Horse"
TOKEN = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
OWN = f'[sites."staging.test"]\nheaders = {{ "X-Key" = "{KEY}" }}\nbasic_auth_env = "STAGING"\n'
ASK = ("--config", "own.toml")


class Echo(QuietHandler):
    """Writes the secrets it was sent into everything it answers."""

    def do_GET(self) -> None:
        key, token = self.headers["X-Key"], self.headers["Authorization"].removeprefix("Basic ")
        said = f"{key} {token} {base64.b64decode(token).decode()}"
        agent = self.headers["User-Agent"]
        kind, body = "text/html", f"<title>{said.upper()}</title><meta property='og:site_name' content='{said}'>{said}"
        if self.path == "/robots.txt":
            kind, body = "text/plain", f"User-agent: *\nDisallow: /{said}\nContent-Signal: ai-input=no, x={key}\n"
        elif self.path == "/llms.txt":
            kind, body = "text/plain", f"# {said}\n"
        elif self.path.startswith("/.well-known/"):
            kind, body = "application/json", json.dumps({"name": said, "version": said})
        status = 302 if "Claude-User" in agent else 403 if "Google-Agent" in agent else 200
        self.send_response(status, key)
        for name, value in (("Server", f"nginx {key}"), ("X-Said", said), ("cf-ray", key), ("Content-Type", kind)):
            self.send_header(name, value)
        if status != 200:
            self.send_header("Location", f"ftp://{USER}:{PASSWORD}@{key}/")
            self.send_header("cf-mitigated", "challenge")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())


@pytest.fixture
def rules() -> Iterator[list[str]]:
    with listening(Echo) as server:
        yield ["--connect-to", f"staging.test:80:127.0.0.1:{server.server_port}"]


@pytest.mark.ci
def test_secrets_stay_out_of_everything_that_is_reported_or_kept(tmp_path: Path, rules: list[str]) -> None:
    env = {"STAGING": f"{USER}:{PASSWORD}"}
    (tmp_path / "own.toml").write_text(OWN)
    recording = ("-o", "tape.recording", "--json")
    done = here(tmp_path, "scan", "http://staging.test", *rules, *ASK, *recording, env=env)
    (tmp_path / "own.toml").unlink()
    assert done.code == 0, done.err
    card = json.loads(done.out)
    assert (card["live_served"], card["human_status"], card["content_signal"]) == (2, 200, True)
    formats = (("--format", name) for name in ("json", "csv", "markdown", "html", "junit", "sarif"))
    reported = [here(tmp_path, "site", "staging.test", *form).out for form in ((), ("--text",), *formats)]
    exchanges = [here(tmp_path, "site", "staging.test", "--details", *form).out for form in ((), ("--json",))]
    browser = json.loads(exchanges[1])[0]
    assert ["X-Key", "…"] in browser["request"]
    assert browser["text"]
    assert all(exchanges)
    reported += exchanges
    reported += [done.out, done.err, here(tmp_path, "regrade", "tape.recording").out]
    reported += [path.read_bytes().decode("utf-8", "replace") for path in tmp_path.rglob("*") if path.is_file()]
    assert all(len(text) > 100 for text in reported[:13])
    for secret in (KEY, PASSWORD, TOKEN):
        assert not [text for text in reported if secret.lower() in text.lower()]


class Moved(QuietHandler):
    """Sends agents, robots.txt and the files for agents to the host of somebody else, who writes down what came."""

    came: ClassVar[list[tuple[str, str, str]]] = []

    def do_GET(self) -> None:
        host = self.headers["Host"].partition(":")[0]
        agent = "compatible; " in self.headers["User-Agent"]
        self.came.append((host, self.headers.get("X-Key", ""), self.headers.get("Authorization", "")))
        elsewhere = self.path == "/robots.txt" or self.path.startswith(("/llms", "/.well-known/"))
        if host == "other.test" and elsewhere:
            self.reply(200, b"User-agent: *\nDisallow: /in\n", "text/plain")
        elif host == "other.test":
            self.reply(403, b"<title>No</title>")
        elif elsewhere or (agent and self.path == "/"):
            self.send_response(302)
            self.send_header("Location", f"http://other.test{self.path if elsewhere else '/in'}")
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            said = f"<title>{self.headers['X-Key']}</title><main><h1>Welcome</h1>{self.headers['Authorization']}"
            self.reply(200, said.encode() + b"Words to read. " * 40)


def test_a_redirect_leads_them_nowhere_else(tmp_path: Path) -> None:
    here(tmp_path, "key", "new")
    Moved.came.clear()
    with listening(Moved) as server:
        port = server.server_port
        leads = [f"--connect-to={name}:80:127.0.0.1:{port}" for name in ("staging.test", "other.test")]
        env = {"STAGING": f"{USER}:{PASSWORD}"}
        (tmp_path / "own.toml").write_text(f"sign = true\ndeclared = true\n{OWN}")
        done = here(tmp_path, "scan", "http://staging.test", *leads, *ASK, "-o", "tape.recording", env=env)
    (tmp_path / "own.toml").unlink()
    assert done.code == 0, done.err
    elsewhere = [entry for entry in Moved.came if entry[0] == "other.test"]
    assert len(elsewhere) > 20
    assert set(elsewhere) == {("other.test", "", "")}
    assert {entry for entry in Moved.came if entry not in elsewhere} == {("staging.test", KEY, f"Basic {TOKEN}")}
    texts = [done.out, done.err, here(tmp_path, "site", "staging.test", "--details").out]
    texts += [path.read_bytes().decode("latin-1") for path in tmp_path.rglob("*") if path.is_file()]
    assert "tape.recording" in {path.name for path in tmp_path.iterdir()}
    for secret in (KEY, PASSWORD, TOKEN):
        assert not [text for text in texts if secret.lower() in text.lower()]


@pytest.mark.parametrize(
    "setting",
    [
        f'headers = "X-Key {KEY}"',
        f'headers = {{ "X Key" = "{KEY}" }}',
        f'headers = {{ "X-Key" = "{KEY}\u00e4" }}',
        f'headers = {{ "Host" = "{KEY}" }}',
        'basic_auth_env = "STAGING"',
    ],
)
def test_a_bad_setting_is_reported_without_its_secret(tmp_path: Path, setting: str) -> None:
    (tmp_path / "own.toml").write_text(f'[sites."staging.test"]\n{setting}\n')
    done = here(tmp_path, "scan", "http://staging.test", *ASK, env={"STAGING": PASSWORD, "AUI_TUI_DEBUG": "1"})
    assert done.code == 2
    assert PASSWORD not in done.sentence
    assert KEY not in done.sentence


def test_a_bad_address_is_reported_without_its_password(tmp_path: Path) -> None:
    done = here(tmp_path, "index", env={"AUI_TUI_SOURCE": f"https://{USER}:{PASSWORD}@index.example"})
    assert done.code == 2
    assert "AUI_TUI_SOURCE" in done.sentence
    assert PASSWORD not in done.sentence

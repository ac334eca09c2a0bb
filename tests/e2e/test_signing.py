"""Signed probes against independent verifiers: npm web-bot-auth in Node, and botgate."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.request import Request, urlopen

import pytest

from aui_tui.scan import signing
from aui_tui.service.publication import Publication
from aui_tui.web.routes import DIRECTORY
from tests.applied import sites
from tests.applied.servers import Nginx
from tests.cli.runner import here
from tests.loopback import QuietHandler, listening
from tests.service.serving import serving

VERIFIER = Path(__file__).with_name("verifier.mjs")
AGENT = "https://signature-agent.test"
CLAUDE = "Mozilla/5.0 (compatible; Claude-User/1.0)"
METHOD_AND_PATH = {"BG-P102", "BG-P103"}
"""What botgate's own policy wants to be signed, and the draft does not ask for."""
EXPIRED = "BG-P111"
BOTGATE = Path(sys.executable).with_name("botgate")


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with npm's web-bot-auth and the site that uses it."""
    if not (shutil.which("node") and shutil.which("npm")):
        pytest.skip("node and npm are not installed")
    folder = tmp_path_factory.mktemp("node")
    done = subprocess.run(
        ["npm", "install", "--no-audit", "--no-fund", "web-bot-auth@0.1.3"],
        cwd=folder,
        capture_output=True,
        timeout=90,
        check=False,
    )
    if done.returncode:
        pytest.skip("npm cannot fetch web-bot-auth")
    shutil.copy(VERIFIER, folder / "verifier.mjs")
    return folder


@contextmanager
def site(node: Path, mode: str, key: signing.Key | None = None) -> Iterator[str]:
    jwk = json.dumps(key.public) if key else ""
    process = subprocess.Popen(["node", "verifier.mjs", mode, jwk], cwd=node, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()


def status(url: str, fields: Mapping[str, str]) -> int:
    try:
        with urlopen(Request(url + "/", headers={"User-Agent": CLAUDE, **fields}), timeout=10) as answer:
            return int(answer.status)
    except OSError as error:
        return int(getattr(error, "code", 0))


@pytest.mark.slow
def test_an_independent_verifier_judges_every_row_alike(node: Path, tmp_path: Path) -> None:
    key = signing.new_key(tmp_path)
    with site(node, "verify", key) as url:
        page = url + "/"
        assert status(url, {}) == 403
        assert status(url, signing.signed_fields(key, page, form="none")) == 200
        string = signing.signed_fields(key, page, form="string", agent=AGENT)
        assert status(url, string) == 200
        assert status(url, string) == 403  # the same nonce again
        assert status(url, signing.forged_fields(key, "forged", page, AGENT, "string")) == 403
        assert status(url, signing.forged_fields(key, "expired", page, AGENT, "string")) == 403
        changed = signing.signed_fields(key, page, form="string", agent=AGENT)
        assert status(url, changed | {"Signature-Agent": '"https://other.test"'}) == 403
        assert status(url, signing.signed_fields(key, "http://other.test/", form="string", agent=AGENT)) == 403


def own(home: Path, agent: str = AGENT) -> tuple[str, str]:
    """Return the option that names a settings file by which probes are signed."""
    (home / "own.toml").write_text(f'sign = true\nsignature_agent = "{agent}"\n')
    return ("--config", str(home / "own.toml"))


def signed_scan(home: Path, url: str, agent: str = AGENT) -> dict[str, Any]:
    """Make a key where there is none, scan ``url`` signed with it, and return the card."""
    here(home, "key", "new")
    done = here(home, "scan", url, "--allow-private", "--quiet", "--force", *own(home, agent), "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def said(card: dict[str, Any], words: str) -> list[str]:
    """Return the kinds of the findings that hold ``words``."""
    return [line["t"] for line in card["evidence"] if words in line["text"]]


@pytest.mark.slow
def test_a_site_that_verifies_gets_the_score_that_the_fix_promises(node: Path, tmp_path: Path) -> None:
    assert here(tmp_path, "key", "new").code == 0
    key = signing.read_key(tmp_path / "data")
    with site(node, "ignore") as url:
        before = json.loads(here(tmp_path, "scan", url, "--allow-private", "--json", "--quiet").out)
    fix = next(fix for fix in before["recommendations"] if fix["k"] == "wba")
    with site(node, "verify", key) as url:
        options = ("--allow-private", "--quiet", *own(tmp_path))
        done = here(tmp_path, "scan", url, "--json", *options)
        assert done.code == 0, done.err
        unsigned = json.loads(here(tmp_path, "scan", url, "--allow-private", "--quiet", "--json").out)
    card = json.loads(done.out)
    assert (before["live_served"], unsigned["live_served"], card["live_served"]) == (0, 0, 4)
    assert card["detail"]["door"] == before["detail"]["door"] + fix["pts"]
    assert "wba" not in {fix["k"] for fix in card["recommendations"]}
    assert said(card, "gets the homepage with a valid signature, while a forged, an expired and no signature")
    assert said(card, "asked again with signatures of your key, because you asked")
    private = json.loads((tmp_path / "data" / signing.NAME).read_text())["d"]
    for file in (tmp_path / "data").rglob("*"):
        if file.is_file() and file.name != signing.NAME:
            assert private.encode() not in file.read_bytes()
    assert private not in done.out + done.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "kind", "words"),
    [
        ("anything", "critical", "is let in by anything that looks signed"),
        ("ignore", "warn", "is turned away with a valid signature as without one"),
    ],
)
def test_sites_that_do_not_verify_are_found(node: Path, tmp_path: Path, mode: str, kind: str, words: str) -> None:
    with site(node, mode) as url:
        card = signed_scan(tmp_path, url)
    assert card["live_served"] == 0
    assert said(card, words) == [kind] * 4
    assert not said(card, "asks for a Signature-Agent field")


@pytest.mark.slow
def test_a_signature_without_its_agent_may_be_what_a_site_refuses(node: Path, tmp_path: Path) -> None:
    with site(node, "ignore") as url:
        card = signed_scan(tmp_path, url, agent="")
    assert len(said(card, "asks for a Signature-Agent field (the setting signature_agent), or does not know your")) == 4


@pytest.mark.ci
@pytest.mark.skipif(not BOTGATE.exists(), reason="botgate is not installed")
def test_botgate_verifies_what_it_can_read(tmp_path: Path) -> None:
    """botgate knows the dictionary form of the drafts and, by its profile for Cloudflare, the string."""
    key = signing.new_key(tmp_path)
    (tmp_path / "directory.json").write_bytes(signing.directory(key))

    def judged(fields: Mapping[str, str], profile: str) -> tuple[str, set[str]]:
        """Return what botgate says of a signature, and the errors beside METHOD_AND_PATH."""
        lines = ["GET / HTTP/1.1", "Host: shop.example", *(f"{name}: {value}" for name, value in fields.items())]
        (tmp_path / "request.http").write_text("\r\n".join(lines) + "\r\n\r\n", newline="")
        done = subprocess.run(
            [BOTGATE, "verify", "request.http", "--jwks", "directory.json", "--profile", profile, "--format", "json"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
        report = json.loads(done.stdout)
        errors = {found["id"] for found in report["findings"] if found["level"] == "error"}
        return report["signatures"][0]["cryptographic_status"], errors - METHOD_AND_PATH

    url = "https://shop.example/"
    dictionary = signing.signed_fields(key, url, form="dictionary", agent=AGENT)
    string = signing.signed_fields(key, url, form="string", agent=AGENT)
    assert judged(dictionary, "ietf-draft-00") == ("valid", set())
    assert judged(string, "cloudflare-2026-10") == ("valid", set())
    assert judged(signing.forged_fields(key, "forged", url, AGENT, "string"), "cloudflare-2026-10")[0] != "valid"
    assert EXPIRED in judged(signing.forged_fields(key, "expired", url, AGENT, "string"), "cloudflare-2026-10")[1]


def verifier(key: signing.Key) -> Any:
    """Return the library's own verifier of messages that ``key`` signed."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from http_message_signatures import HTTPMessageVerifier, HTTPSignatureKeyResolver, algorithms

    class Resolver(HTTPSignatureKeyResolver):
        def resolve_public_key(self, key_id: str) -> object:
            return Ed25519PrivateKey.from_private_bytes(key.private).public_key()

        def resolve_private_key(self, key_id: str) -> object:
            raise NotImplementedError

    return HTTPMessageVerifier(signature_algorithm=algorithms.ED25519, key_resolver=Resolver())


def test_serve_publishes_the_directory_signed(tmp_path: Path) -> None:
    from http_message_signatures import InvalidSignature

    with serving(Publication(tmp_path / "empty")) as running:
        assert running.get(signing.DIRECTORY_PATH).status_code == 404
    key = signing.new_key(tmp_path / "data")
    published = "https://index.example"
    with serving(Publication(tmp_path / "data"), base_url=published) as running:
        answer = running.get(signing.DIRECTORY_PATH, headers={"Host": "localhost:1"})
        for host in ("evil.example", "index.example:443@evil.example", "index.example:443,evil.example"):
            refused = running.get(signing.DIRECTORY_PATH, headers={"Host": host})
            assert refused.status_code in (400, 421)
            assert "signature" not in refused.headers
    assert answer.headers["content-type"] == DIRECTORY
    found = answer.json()["keys"]
    assert [one["kid"] for one in found] == [key.thumbprint]
    assert "d" not in found[0]

    def verified(base: str) -> Any:
        asked = SimpleNamespace(method="GET", url=base + signing.DIRECTORY_PATH, headers={})
        return verifier(key).verify(
            SimpleNamespace(status_code=200, headers=dict(answer.headers), request=asked),
            expect_tag=signing.DIRECTORY_TAG,
        )

    assert verified(published)[0].parameters["keyid"] == key.thumbprint
    with pytest.raises(InvalidSignature):
        verified("http://localhost:1")


@pytest.mark.ci
def test_the_key_command_never_prints_the_private_part(tmp_path: Path) -> None:
    assert "aui-tui key new" in here(tmp_path, "key", "show").err
    made = here(tmp_path, "key", "new")
    private = json.loads((tmp_path / "data" / signing.NAME).read_text())["d"]
    shown, published = here(tmp_path, "key", "show"), here(tmp_path, "key", "directory")
    assert json.loads(shown.out)["kid"] == made.out.strip()
    assert json.loads(published.out)["keys"][0]["kid"] == made.out.strip()
    again = here(tmp_path, "key", "new")
    assert again.code == 2
    assert "There is already a key" in again.err
    for done in (made, shown, published, again):
        assert private not in done.out + done.err


class Gate(Nginx):
    """nginx that refuses agents by name, and lets those in whose signature a verifier beside it accepts.

    ``try_files`` finds the page without a second look-up, for which nginx would ask the verifier again.
    """

    guard = ""
    location = "auth_request /verify; try_files $uri/index.html $uri =404;"
    verifier = 0

    def config(self) -> str:
        asks = f"""
            location = /verify {{
                internal; proxy_pass http://127.0.0.1:{self.verifier}/; proxy_pass_request_body off;
                proxy_set_header Content-Length ""; proxy_set_header Host $http_host;
            }}
            location / {{"""
        return super().config().replace("location / {", asks, 1)


@pytest.mark.real_server
@pytest.mark.slow
@pytest.mark.parametrize("published", [True, False])
def test_nginx_that_asks_a_verifier_is_seen_to_verify(node: Path, tmp_path: Path, published: bool) -> None:
    if shutil.which("nginx") is None:
        pytest.skip("needs nginx")
    here(tmp_path, "key", "new")
    key = signing.read_key(tmp_path / "data")
    agent = AGENT if published else ""
    with site(node, "verify", key) as verifier:
        Gate.verifier = int(verifier.rpartition(":")[2])
        with Gate(tmp_path / "nginx", {"index.html": sites.RICH}) as gate:
            card = signed_scan(tmp_path, gate.url, agent)
    assert card["live_served"] == 4, card["evidence"]
    assert len(said(card, "while a forged, an expired and no signature")) == 4


@pytest.mark.real_server
@pytest.mark.slow
def test_the_rule_that_the_plan_writes_decides_by_addresses_and_the_signed_scan_says_so(tmp_path: Path) -> None:
    if shutil.which("nginx") is None:
        pytest.skip("needs nginx")
    with Nginx(tmp_path / "nginx", {"index.html": sites.RICH}) as refusing:
        host = refusing.url.removeprefix("http://")
        assert here(tmp_path, "scan", refusing.url, "--allow-private", "--quiet").code == 0
        plan = ("plan", host, "--grade", "100", "--write", str(tmp_path / "fixes"))
        planned = here(tmp_path, *plan, env={"AUI_TUI_WITH_CLAIMS": "1"})
        assert planned.code == 0, planned.err
        files = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "fixes" / "server").iterdir()}
        tester = re.compile(r"^[^#\n]+ 1;$", re.MULTILINE)
        assert tester.search(files["agents.geo"])
        files["agents.geo"] = tester.sub("160.79.104.0/23 1;", files["agents.geo"])
        for name, text in files.items():
            refusing.install(name, text)
        refusing.stop()
        refusing.start()
        card = signed_scan(tmp_path, refusing.url)
    assert card["live_served"] == 0
    assert len(said(card, "is turned away with a valid signature as without one")) == 4


class Strict(QuietHandler):
    """Refuses agents by name unless their signature satisfies draft-ietf-webbotauth-httpsig-protocol-01 to the letter.

    ``server.key``: the key that is published at ``server.address``; ``server.nonces``: those that were used.
    """

    def do_GET(self) -> None:
        agents = re.search("ChatGPT-User|Claude-User|Google-Agent|Perplexity-User", self.headers["User-Agent"])
        if agents and not self.is_signed():
            self.reply(403, b"<title>403</title>Forbidden", "text/html")
        else:
            self.reply(200, sites.RICH.encode(), "text/html")

    def is_signed(self) -> bool:
        found = re.fullmatch(r"(\w+)=\(([^)]*)\)(.*)", self.headers.get("Signature-Input", ""))
        if found is None:
            return False
        label, covered, rest = found.groups()
        written = re.fullmatch(rf'{label}="(https://[^"]+)"', self.headers.get("Signature-Agent", ""))
        if written is None or f'"signature-agent";key="{label}"' not in covered or '"@authority"' not in covered:
            return False
        parameters = dict(re.findall(r';(\w+)="?([^";]*)"?', rest))
        key = self.server.key
        published = {(self.server.address, key.thumbprint): key}.get((written[1], parameters.get("keyid", "")))
        if published is None or parameters.get("tag") != "web-bot-auth" or parameters["nonce"] in self.server.nonces:
            return False
        self.server.nonces.add(parameters["nonce"])
        return verifies(published, f"http://{self.headers['Host']}{self.path}", dict(self.headers))


def verifies(key: signing.Key, url: str, fields: dict[str, str]) -> bool:
    """Say whether the signature of a GET is right and in time, by the library's own verifier."""
    from http_message_signatures import InvalidSignature

    try:
        return bool(verifier(key).verify(SimpleNamespace(method="GET", url=url, headers=fields)))
    except InvalidSignature:
        return False


@pytest.mark.slow
def test_a_site_that_follows_the_draft_to_the_letter_is_verified(tmp_path: Path) -> None:
    assert here(tmp_path, "key", "new").code == 0
    with listening(Strict) as server:
        server.key, server.nonces = signing.read_key(tmp_path / "data"), set()
        server.address = AGENT + signing.DIRECTORY_PATH
        url = f"http://127.0.0.1:{server.server_port}"
        card = signed_scan(tmp_path, url)
    assert card["live_served"] == 4
    assert len(said(card, "is let in with")) == 4
    assert len(said(card, "address of the key set, not with Signature-Agent written as a dictionary")) == 4

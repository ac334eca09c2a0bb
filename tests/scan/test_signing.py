"""Keys, signatures and directories: against the published vectors, and against what must never happen."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from aui_tui.errors import BadValue, ConfigError
from aui_tui.model.observations import Exchange
from aui_tui.scan import signing
from aui_tui.scan.signing import Key

DATA = Path(__file__).resolve().parents[1] / "data" / "signing" / "web_bot_auth_ed25519.json"
VECTORS = json.loads(DATA.read_text())


def key_of(jwk: dict[str, str]) -> Key:
    return Key.of(base64.urlsafe_b64decode(jwk["d"] + "="))


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: f"{vector['file'][-7:-5]}-{vector['label']}")
def test_published_vectors_are_signed_alike(vector: dict[str, Any]) -> None:
    """Source: cloudflare/web-bot-auth, packages/web-bot-auth/test/test_data, Ed25519 rows."""
    key = key_of(vector["key"])
    assert key.x == vector["key"]["x"]
    assert key.thumbprint == "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U"
    written = vector.get("signature_agent", "")
    member = vector.get("signature_agent_key", "")
    created = datetime.fromtimestamp(vector["created_ms"] / 1000, UTC)
    fields = signing.signed_fields(
        key,
        vector["target_url"],
        form="dictionary" if member else "string" if written else "none",
        agent="https://signature-agent.test" if written else "",
        now=created,
        lifetime=timedelta(milliseconds=vector["expires_ms"] - vector["created_ms"]),
        nonce=vector["nonce"],
        label=vector["label"],
        member=member or "unused",
    )
    assert fields["Signature-Input"] == vector["signature_input"]
    assert fields["Signature"] == vector["signature"]
    assert fields.get("Signature-Agent", "") == written


def test_a_key_is_kept_for_its_owner_alone(tmp_path: Path) -> None:
    made = signing.new_key(tmp_path)
    path = tmp_path / signing.NAME
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]
    assert signing.read_key(tmp_path) == made
    with pytest.raises(ConfigError, match="There is already a key"):
        signing.new_key(tmp_path)
    assert signing.new_key(tmp_path, replace=True) != made


def test_the_private_part_is_in_no_representation(tmp_path: Path) -> None:
    key = signing.new_key(tmp_path)
    private = json.loads((tmp_path / signing.NAME).read_text())["d"]
    shown = repr(key) + str(key) + json.dumps(key.public) + signing.directory(key).decode()
    url = "https://a.example/"
    shown += json.dumps([signing.signed_fields(key, url, form=form) for form in signing.SHAPES])
    shown += json.dumps([signing.forged_fields(key, name, url, "https://b.example", "direct") for name in FORGED])
    assert private not in shown
    assert repr(key.private) not in shown


@pytest.mark.parametrize(
    ("content", "mode", "words"),
    [
        (b"", 0o600, "does not hold an Ed25519 key"),
        (b"{}", 0o600, "does not hold an Ed25519 key"),
        (b"[" * 10_000, 0o600, "does not hold an Ed25519 key"),
        (b'{"kty":"RSA","crv":"Ed25519","d":"AAAA","x":"AA"}', 0o600, "does not hold an Ed25519 key"),
        (
            b'{"kty":"OKP","crv":"Ed25519","d":"n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU","x":"AAAA"}',
            0o600,
            "is damaged",
        ),
        (
            b'{"kty":"OKP","crv":"Ed25519","d":"n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU",'
            b'"x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"}',
            0o644,
            "can be read by others",
        ),
        (b"x" * 100_000, 0o600, "does not hold an Ed25519 key"),
    ],
)
def test_a_broken_key_file_is_one_sentence(tmp_path: Path, content: bytes, mode: int, words: str) -> None:
    path = tmp_path / signing.NAME
    path.write_bytes(content)
    path.chmod(mode)
    with pytest.raises(ConfigError) as error:
        signing.read_key(tmp_path)
    assert words in str(error.value)
    assert "\n" not in str(error.value)
    assert "n4Ni" not in str(error.value)


@pytest.mark.skipif(os.name == "nt", reason="named pipes are POSIX")
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["pipe", "folder"])
def test_what_is_not_a_file_is_not_waited_for(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / signing.NAME)
    with pytest.raises(ConfigError, match="does not hold an Ed25519 key"):
        signing.read_key(tmp_path)


def test_no_key_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="aui-tui key new"):
        signing.read_key(tmp_path)


@pytest.mark.parametrize(
    "text",
    ["", "agent.example", "ftp://a.example", 'https://a.example/"', "https://u@a.example", f"https://{'a' * 300}"],
)
def test_a_bad_signature_agent_is_one_sentence(text: str) -> None:
    with pytest.raises(BadValue, match="signature_agent takes the address"):
        signing.checked_agent(text)


def test_a_signature_agent_may_be_written_with_the_directory() -> None:
    assert signing.checked_agent("https://a.example" + signing.DIRECTORY_PATH) == "https://a.example"


SERVED, REFUSED, SILENT = "served", "refused", "inconclusive"
FORGED = ("forged", "expired", "authority", "uncovered", "url")


@pytest.mark.parametrize(
    ("served", "silent", "found"),
    [
        ({"direct", "dictionary", "string", "openai"}, set(), "verified"),
        ({"string"}, set(), "verified"),
        ({"direct", "uncovered", "url"}, set(), "verified"),
        (set(), set(), "not verified"),
        ({"direct", "forged"}, set(), "accepts anything"),
        ({"direct", "expired"}, set(), "accepts anything"),
        ({"direct", "authority"}, set(), "accepts anything"),
        ({"forged"}, set(), "accepts anything"),
        ({"direct", "unsigned"}, set(), "unclear"),
        ({"direct"}, {"forged"}, "unclear"),
        (set(), {"direct"}, "unclear"),
        ({"direct"}, {"uncovered"}, "verified"),
    ],
)
def test_what_the_answers_mean(served: set[str], silent: set[str], found: str) -> None:
    names = ("direct", "dictionary", "string", "openai", *FORGED, "unsigned")
    outcomes = {name: SERVED if name in served else SILENT if name in silent else REFUSED for name in names}
    assert signing.result(outcomes) == found


@pytest.mark.parametrize(
    ("form", "written", "covered"),
    [
        ("direct", f'sig1="https://a.example{signing.DIRECTORY_PATH}"', '("@authority" "signature-agent";key="sig1")'),
        ("dictionary", 'sig1="https://a.example"', '("@authority" "signature-agent";key="sig1")'),
        ("string", '"https://a.example"', '("@authority" "signature-agent")'),
        ("openai", '"https://a.example"', '("@authority" "@method" "@path" "signature-agent")'),
        ("none", "", '("@authority")'),
        ("request", "", '("@authority" "@method" "@path")'),
    ],
)
def test_what_each_form_writes_and_signs(tmp_path: Path, form: str, written: str, covered: str) -> None:
    key = signing.new_key(tmp_path)
    agent = "https://a.example" if written else ""
    fields = signing.signed_fields(key, "https://shop.example/x", form=form, agent=agent)
    assert fields.get("Signature-Agent", "") == written
    assert f"sig1={covered};" in fields["Signature-Input"]
    assert f'keyid="{key.thumbprint}"' in fields["Signature-Input"]


async def test_without_a_published_address_no_forgery_of_it_is_sent(tmp_path: Path) -> None:
    async def refuse(fields: Mapping[str, str]) -> Exchange:
        assert "Signature-Agent" not in fields
        return Exchange(name="agent_02", url="https://shop.example/", status=403)

    signer = signing.Signer(signing.new_key(tmp_path))
    first = Exchange(name="agent_02", url="https://shop.example/", status=403)
    found = await signing.ask_signed(first, "https://shop.example/", signer, refuse, pause=0)
    assert [probe.name for probe in found.probes] == ["none", "request", "forged", "expired", "authority", "unsigned"]
    assert (found.result, found.served) == ("not verified", ())

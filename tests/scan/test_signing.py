"""Keys, signatures and directories: against the published vectors, and against what must never happen."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from aui_tui.errors import BadValue, ConfigError
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
        form="dictionary" if member else "string",
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
    shown += json.dumps([signing.probe_fields(key, name, "https://a.example/", "") for name in signing.NAMES])
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
    with pytest.raises(BadValue, match="--signature-agent takes the address"):
        signing.checked_agent(text)


def test_a_signature_agent_may_be_written_with_the_directory() -> None:
    assert signing.checked_agent("https://a.example" + signing.DIRECTORY_PATH) == "https://a.example"


SERVED, REFUSED, SILENT = "served", "refused", "inconclusive"


@pytest.mark.parametrize(
    ("outcomes", "found"),
    [
        ((SERVED, SERVED, REFUSED, REFUSED, REFUSED), ("verified", ("string", "dictionary"))),
        ((SERVED, REFUSED, REFUSED, REFUSED, REFUSED), ("verified", ("string",))),
        ((REFUSED, SERVED, "challenged", REFUSED, REFUSED), ("verified", ("dictionary",))),
        ((REFUSED, REFUSED, REFUSED, REFUSED, REFUSED), ("not verified", ())),
        ((SERVED, SERVED, SERVED, SERVED, REFUSED), ("accepts anything", ("string", "dictionary"))),
        ((SERVED, SERVED, REFUSED, SERVED, REFUSED), ("accepts anything", ("string", "dictionary"))),
        ((SERVED, SERVED, REFUSED, REFUSED, SERVED), ("unclear", ("string", "dictionary"))),
        ((SERVED, SERVED, SILENT, REFUSED, REFUSED), ("unclear", ("string", "dictionary"))),
        ((SILENT, REFUSED, REFUSED, REFUSED, REFUSED), ("unclear", ())),
    ],
)
def test_what_the_five_answers_mean(outcomes: tuple[str, ...], found: tuple[str, tuple[str, ...]]) -> None:
    names = ("string", "dictionary", "forged", "expired", "unsigned")
    assert signing.result(dict(zip(names, outcomes, strict=True))) == found


@pytest.mark.parametrize(
    ("outcomes", "found"),
    [
        ((SERVED, SERVED, REFUSED, REFUSED, REFUSED), ("verified", ("none", "request"))),
        ((REFUSED, SERVED, REFUSED, REFUSED, REFUSED), ("verified", ("request",))),
        ((REFUSED, REFUSED, REFUSED, REFUSED, REFUSED), ("not verified", ())),
        ((SERVED, SERVED, SERVED, REFUSED, REFUSED), ("accepts anything", ("none", "request"))),
    ],
)
def test_without_a_published_address_there_are_five_too(
    outcomes: tuple[str, ...], found: tuple[str, tuple[str, ...]]
) -> None:
    assert signing.result(dict(zip(signing.NAMES_WITHOUT_AGENT, outcomes, strict=True))) == found

"""Signed probes (Web Bot Auth): the owner's key, the directory that publishes it, and requests signed with it.

HTTP Message Signatures (RFC 9421) with Ed25519, JWK thumbprints (RFC 7638, RFC 8037) and the working group's draft
draft-ietf-webbotauth-httpsig-protocol. The private part of a key never leaves the file that holds it: it is not part
of any record, log or representation. Needs the extra ``sign``.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import secrets
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import msgspec

from aui_tui.errors import BadValue, ConfigError, MissingExtra
from aui_tui.model.observations import ACCEPTS_ANYTHING, NOT_VERIFIED, SIGNED_FORMS, UNCLEAR, VERIFIED
from aui_tui.text import clean

NAME: Final = "signing-key.json"
"""The key file in the data folder."""
DIRECTORY_PATH: Final = "/.well-known/http-message-signatures-directory"
REQUEST_TAG: Final = "web-bot-auth"
DIRECTORY_TAG: Final = "http-message-signatures-directory"
LABEL: Final = "sig1"
LIFETIME: Final = timedelta(minutes=5)
DIRECTORY_LIFETIME: Final = timedelta(hours=1)
NONCE_BYTES: Final = 64
LARGEST_KEY: Final = 64 * 1024

Form = Literal["string", "dictionary", "none", "request"]
"""How ``Signature-Agent`` is written: as a string, as a dictionary (the later drafts), or not at all.

``request``: not at all, and the signature covers method and path beside the authority, which some verifiers ask for.
"""


@dataclass(frozen=True, slots=True)
class Key:
    """An Ed25519 key: ``x`` is its public part in base64url, ``thumbprint`` its id (RFC 7638)."""

    x: str
    private: bytes = field(repr=False)

    @property
    def thumbprint(self) -> str:
        """The JWK thumbprint."""
        members = f'{{"crv":"Ed25519","kty":"OKP","x":"{self.x}"}}'
        return _encoded(hashlib.sha256(members.encode()).digest())

    @property
    def public(self) -> dict[str, str]:
        """The public part as a JWK."""
        return {"kty": "OKP", "crv": "Ed25519", "x": self.x, "kid": self.thumbprint, "use": "sig"}

    @classmethod
    def of(cls, private: bytes) -> Key:
        """Return the key whose private part is ``private``. Raises ConfigError without the extra ``sign``."""
        try:
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        except ImportError:
            raise _missing() from None
        return cls(_encoded(Ed25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()), private)


@dataclass(frozen=True, slots=True)
class Signer:
    """Who signs: the user's key, and the address where it is published (empty: no Signature-Agent is sent)."""

    key: Key = field(repr=False)
    agent: str = ""


def _missing() -> ConfigError:
    return MissingExtra("Signing", "sign")


def new_key(folder: Path, *, replace: bool = False) -> Key:
    """Make a key and keep it in ``folder``, readable for its owner alone (mode 0600).

    Raises ConfigError when there is one already and ``replace`` is not given, or the file cannot be written.
    """
    path = folder / NAME
    if path.exists() and not replace:
        raise ConfigError(
            f"There is already a key: {clean(str(path), 200)}. Sites that know it would not accept a new one; "
            "--replace replaces it."
        )
    key = Key.of(secrets.token_bytes(32))
    jwk = {"kty": "OKP", "crv": "Ed25519", "x": key.x, "d": _encoded(key.private)}
    partial = folder / f".{NAME}.{secrets.token_hex(4)}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(jwk) + b"\n")
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise ConfigError(f"The key cannot be written to {clean(str(path), 200)}: {error.strerror or error}.") from None
    return key


def read_key(folder: Path) -> Key:
    """Return the key in ``folder``. Raises ConfigError with one sentence when there is none or it cannot be used."""
    path = folder / NAME
    shown = clean(str(path), 200)
    try:
        found = path.stat()
        is_file = stat.S_ISREG(found.st_mode)
        data = path.read_bytes() if is_file and found.st_size <= LARGEST_KEY else b""
    except FileNotFoundError:
        raise ConfigError("There is no key yet; “aui-tui key new” makes one.") from None
    except OSError as error:
        raise ConfigError(f"The key file {shown} cannot be read: {error.strerror or error}.") from None
    if os.name == "posix" and is_file and found.st_mode & 0o077:
        raise ConfigError(f"The key file {shown} can be read by others; run “chmod 600” on it.")
    try:
        jwk = msgspec.json.decode(data)
        private = _decoded(jwk["d"])
        if jwk["kty"] != "OKP" or jwk["crv"] != "Ed25519" or len(private) != 32:
            raise ValueError
    except (ValueError, TypeError, KeyError, RecursionError):
        raise ConfigError(f"The key file {shown} does not hold an Ed25519 key as JWK.") from None
    key = Key.of(private)
    if jwk.get("x") != key.x:
        raise ConfigError(f"The key file {shown} is damaged: its public part does not belong to its private part.")
    return key


def directory(key: Key) -> bytes:
    """Return the JSON that publishes ``key`` at DIRECTORY_PATH."""
    return msgspec.json.encode({"keys": [key.public], "purpose": "agentic usability tests of the owner's sites"})


def checked_agent(url: str) -> str:
    """Return the ``Signature-Agent`` address without its last slash. Raises BadValue."""
    text = url.strip()
    try:
        parts = urlsplit(text)
        sound = (
            parts.scheme in ("https", "http")
            and 0 < len(parts.hostname or "") <= 253
            and (parts.port is None or parts.port > 0)
        )
    except ValueError:
        sound = False
    if not sound or not re.fullmatch(r"[!#-\[\]-~]+", text) or parts.query or parts.fragment or "@" in parts.netloc:
        raise BadValue(
            f"--signature-agent takes the address under which the key is published, such as https://agent.example, "
            f"not {clean(url, 80)!r}."
        )
    return text.removesuffix(DIRECTORY_PATH).rstrip("/")


@dataclass(slots=True)
class _Message:
    """A request or, with ``status_code``, a response as http-message-signatures reads it."""

    method: str
    url: str
    headers: dict[str, str]


@dataclass(slots=True)
class _Response:
    headers: dict[str, str]
    request: _Message
    status_code: int = 200


def signed_fields(
    key: Key,
    url: str,
    *,
    form: Form = "string",
    agent: str = "",
    keyid: str = "",
    now: datetime | None = None,
    lifetime: timedelta = LIFETIME,
    nonce: str = "",
    label: str = LABEL,
    member: str = LABEL,
) -> dict[str, str]:
    """Return the header fields that sign a GET of ``url`` with ``key``.

    ``agent`` is the address where the key is published and ``form`` how it is written. ``keyid``: another id than the
    key's own (a forged signature); ``lifetime``: negative for one that has expired; ``label`` of the signature, and
    ``member`` of the dictionary form. Raises ConfigError without the extra ``sign``.
    """
    fields: dict[str, str] = {}
    covered = ['"@authority"']
    if agent and form == "string":
        fields["Signature-Agent"] = f'"{agent}"'
        covered.append('"signature-agent"')
    elif agent and form == "dictionary":
        fields["Signature-Agent"] = f'{member}="{agent}"'
        covered.append(f'"signature-agent";key="{member}"')
    elif form == "request":
        covered = ['"@method"', '"@authority"', '"@path"']
    created = now or datetime.now(UTC)
    if lifetime < timedelta(0):
        created += 2 * lifetime
        lifetime = -lifetime
    message = _Message("GET", url, dict(fields))
    _signer(key).sign(
        message,
        key_id=keyid or key.thumbprint,
        created=created,
        expires=created + lifetime,
        nonce=nonce or base64.b64encode(secrets.token_bytes(NONCE_BYTES)).decode(),
        label=label,
        tag=REQUEST_TAG,
        covered_component_ids=tuple(covered),
    )
    return message.headers


def directory_fields(key: Key, url: str) -> dict[str, str]:
    """Return the header fields of the answer that publishes ``key``, asked for at ``url``; signed by the key itself."""
    created = datetime.now(UTC)
    response = _Response({}, _Message("GET", url, {}))
    _signer(key).sign(
        response,
        key_id=key.thumbprint,
        created=created,
        expires=created + DIRECTORY_LIFETIME,
        nonce=base64.b64encode(secrets.token_bytes(NONCE_BYTES)).decode(),
        label=LABEL,
        tag=DIRECTORY_TAG,
        covered_component_ids=('"@authority";req',),
    )
    return response.headers


def _signer(key: Key) -> Any:
    try:
        from http_message_signatures import HTTPMessageSigner, HTTPSignatureKeyResolver, algorithms
    except ImportError:
        raise _missing() from None

    class Resolver(HTTPSignatureKeyResolver):
        """Gives the one key, whatever it is called: a forged signature names another's."""

        def resolve_private_key(self, key_id: str) -> Any:
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

            return Ed25519PrivateKey.from_private_bytes(key.private)

        def resolve_public_key(self, key_id: str) -> Any:
            raise NotImplementedError

    return HTTPMessageSigner(signature_algorithm=algorithms.ED25519, key_resolver=Resolver())


NAMES: Final = ("string", "dictionary", "forged", "expired", "unsigned")
"""The signed probes of one agent in the order in which they are sent: two valid ones, two that are not, the control."""
NAMES_WITHOUT_AGENT: Final = ("none", "request", "forged", "expired", "unsigned")


def probe_fields(key: Key, name: str, url: str, agent: str) -> dict[str, str]:
    """Return the header fields of the signed probe ``name`` of ``url``.

    ``forged`` names the owner's key and is signed by another one, ``expired`` was valid some minutes ago. Each
    signature has a nonce of its own. Without ``agent`` there is no Signature-Agent, and the two valid forms differ in
    what they cover.
    """
    usual: Form = "string" if agent else "none"
    form: Form = name if name in SIGNED_FORMS else usual  # type: ignore[assignment]  # its keys are the forms
    if name == "unsigned":
        return {}
    if name == "forged":
        return signed_fields(Key.of(secrets.token_bytes(32)), url, form=form, agent=agent, keyid=key.thumbprint)
    if name == "expired":
        return signed_fields(key, url, form=form, agent=agent, lifetime=-LIFETIME)
    return signed_fields(key, url, form=form, agent=agent)


def result(outcomes: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """Return what the outcomes of the signed probes mean, and which valid forms were served.

    ``outcomes``: ``served``, ``refused``, ``challenged`` or ``inconclusive`` by the name of the probe. VERIFIED: a
    valid signature is served, while a forged, an expired and no signature are not. ACCEPTS_ANYTHING: a forged or an
    expired signature is served and no signature is not. UNCLEAR: a probe without an answer, or the control was served
    this time.
    """
    valid = [name for name in SIGNED_FORMS if name in outcomes]
    served = tuple(name for name in valid if outcomes[name] == "served")
    if outcomes["unsigned"] in ("served", "inconclusive"):
        return UNCLEAR, served
    if outcomes["forged"] == "served":
        return ACCEPTS_ANYTHING, served
    if served and "inconclusive" not in (outcomes["forged"], outcomes["expired"]):
        return (VERIFIED if outcomes["expired"] != "served" else ACCEPTS_ANYTHING), served
    if any(outcome == "inconclusive" for outcome in outcomes.values()):
        return UNCLEAR, served
    return NOT_VERIFIED, served


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decoded(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)

"""Signed probes (Web Bot Auth): the owner's key, the directory that publishes it, and requests signed with it.

HTTP Message Signatures (RFC 9421) with Ed25519, JWK thumbprints (RFC 7638, RFC 8037) and the working group's draft
draft-ietf-webbotauth-httpsig-protocol-01 (2026-10-29). The private part of a key never leaves the file that holds it:
it is not part of any record, log or representation. Needs the extra ``sign``.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os
import re
import secrets
import stat
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import urlsplit

import msgspec

from aui_tui.errors import BadValue, ConfigError, MissingExtra
from aui_tui.files import create
from aui_tui.model.observations import (
    ACCEPTS_ANYTHING,
    FORGERIES,
    LAX,
    NOT_VERIFIED,
    SIGNED_FORMS,
    UNCLEAR,
    VERIFIED,
    Exchange,
    SignedProbe,
    SignedResult,
)
from aui_tui.model.vocabulary import INCONCLUSIVE, SERVED
from aui_tui.text import clean, web_address

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
            f"There is already a key: {clean(path, 200)}. Sites that know it would not accept a new one; "
            "--replace replaces it."
        )
    key = Key.of(secrets.token_bytes(32))
    jwk = {"kty": "OKP", "crv": "Ed25519", "x": key.x, "d": _encoded(key.private)}
    create(path, [msgspec.json.encode(jwk) + b"\n"], force=replace, private=True)
    return key


def read_key(folder: Path) -> Key:
    """Return the key in ``folder``. Raises ConfigError with one sentence when there is none or it cannot be used."""
    path = folder / NAME
    shown = clean(path, 200)
    try:
        status = path.stat()
        is_file = stat.S_ISREG(status.st_mode)
        data = path.read_bytes() if is_file and status.st_size <= LARGEST_KEY else b""
    except FileNotFoundError:
        raise ConfigError("There is no key yet; “aui-tui key new” makes one.") from None
    except OSError as error:
        raise ConfigError(f"The key file {shown} cannot be read: {error.strerror or error}.") from None
    if os.name == "posix" and is_file and status.st_mode & 0o077:
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
    match = re.fullmatch(r'[^"\\]{1,300}', web_address(url) or "")
    if match is None:
        raise BadValue(
            f"signature_agent takes the address under which the key is published, such as https://agent.example, "
            f"not {clean(url, 80)!r}."
        )
    return match[0].removesuffix(DIRECTORY_PATH).rstrip("/")


class Shape(NamedTuple):
    """How ``Signature-Agent`` is written (``string``, ``member`` of a dictionary, or not at all), and what is signed.

    ``covers``: components besides the authority, in order; ``direct``: the address is that of the key set itself.
    """

    written: Literal["string", "member", ""] = ""
    covers: tuple[str, ...] = ()
    direct: bool = False


SHAPES: Final[Mapping[str, Shape]] = {
    "direct": Shape("member", ("signature-agent",), direct=True),
    "dictionary": Shape("member", ("signature-agent",)),
    "string": Shape("string", ("signature-agent",)),
    "openai": Shape("string", ("@method", "@path", "signature-agent")),
    "none": Shape(),
    "request": Shape("", ("@method", "@path")),
}
"""The valid forms: ``direct`` as draft-ietf-webbotauth-httpsig-protocol-01 says, ``dictionary`` and ``string`` as the
drafts before it; without an address ``none`` and ``request``."""


def signed_fields(
    key: Key,
    url: str,
    *,
    form: str,
    agent: str = "",
    keyid: str = "",
    now: datetime | None = None,
    lifetime: timedelta = LIFETIME,
    nonce: str = "",
    label: str = LABEL,
    member: str = LABEL,
    uncovered: bool = False,
) -> dict[str, str]:
    """Return the header fields that sign a GET of ``url`` with ``key`` in the ``form`` of SHAPES.

    ``agent`` is the address where the key is published. ``keyid``: another id than the key's own (a forged signature);
    ``lifetime``: negative for one that has expired; ``label`` of the signature, and ``member`` of the dictionary;
    ``uncovered``: Signature-Agent is sent and not signed. Raises ConfigError without the extra ``sign``.
    """
    shape = SHAPES[form]
    fields: dict[str, str] = {}
    covered = ['"@authority"']
    if agent and shape.written:
        address = key_set(agent) if shape.direct else agent
        fields["Signature-Agent"] = f'"{address}"' if shape.written == "string" else f'{member}="{address}"'
    for name in shape.covers:
        if name == "signature-agent":
            if fields and not uncovered:
                covered.append('"signature-agent"' + (f';key="{member}"' if shape.written == "member" else ""))
        else:
            covered.append(f'"{name}"')
    created = now or datetime.now(UTC)
    if lifetime < timedelta(0):
        created += 2 * lifetime
        lifetime = -lifetime
    message = SimpleNamespace(method="GET", url=url, headers=dict(fields))
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
    signed: dict[str, str] = message.headers
    return signed


def key_set(agent: str) -> str:
    """Return the address of the key set of ``agent``: itself when it has a path, else that of the directory."""
    return agent if urlsplit(agent).path else agent + DIRECTORY_PATH


def directory_fields(key: Key, url: str) -> dict[str, str]:
    """Return the header fields of the answer that publishes ``key``, asked for at ``url``; signed by the key itself.

    The signature covers the authority that was asked and the body, so neither can be exchanged.
    """
    created = datetime.now(UTC)
    request = SimpleNamespace(method="GET", url=url, headers={})
    response = SimpleNamespace(status_code=200, headers=dict[str, str](), request=request)
    _signer(key).sign(
        response,
        key_id=key.thumbprint,
        created=created,
        expires=created + DIRECTORY_LIFETIME,
        nonce=base64.b64encode(secrets.token_bytes(NONCE_BYTES)).decode(),
        label=LABEL,
        tag=DIRECTORY_TAG,
        covered_component_ids=('"@authority";req', '"content-digest"'),
        body=directory(key),
    )
    signed: dict[str, str] = response.headers
    return signed


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


OTHER_SITE: Final = "https://other.invalid/"
OTHER_AGENT: Final = "https://agent.invalid"
"""Addresses of nobody (RFC 2606), for signatures that must not be accepted."""


def forged_fields(key: Key, name: str, url: str, agent: str, form: str) -> dict[str, str]:
    """Return the header fields of the probe ``name`` of FORGERIES, otherwise as the valid ``form``."""
    if name == "forged":
        return signed_fields(Key.of(secrets.token_bytes(32)), url, form=form, agent=agent, keyid=key.thumbprint)
    if name == "expired":
        return signed_fields(key, url, form=form, agent=agent, lifetime=-LIFETIME)
    if name == "authority":
        return signed_fields(key, OTHER_SITE, form=form, agent=agent)
    if name == "url":
        return signed_fields(key, url, form=form, agent=OTHER_AGENT)
    return signed_fields(key, url, form=form, agent=agent, uncovered=True)


AskWith = Callable[[Mapping[str, str]], Awaitable[Exchange]]
"""Sends the request once more with further header fields."""


async def ask_signed(first: Exchange, url: str, signer: Signer, ask: AskWith, *, pause: float) -> SignedResult:
    """Return what the signed probes of ``url`` show for an agent whose unsigned probe ``first`` was turned away.

    Every valid form is sent, then the forgeries in the form that was served, then no signature. Each signature has a
    nonce of its own. ``pause``: seconds between two of them.
    """
    probes: list[SignedProbe] = []

    async def send(name: str, fields: Mapping[str, str]) -> bool:
        await asyncio.sleep(pause)
        exchange = await ask(fields)
        probes.append(SignedProbe(name=name, status=exchange.status, outcome=exchange.outcome))
        return exchange.outcome == SERVED

    forms = [name for name, shape in SHAPES.items() if bool(shape.written) == bool(signer.agent)]
    served = [form for form in forms if await send(form, signed_fields(signer.key, url, form=form, agent=signer.agent))]
    form = served[0] if served else forms[0]
    for name in FORGERIES:
        if signer.agent or name not in LAX:
            await send(name, forged_fields(signer.key, name, url, signer.agent, form))
    await send("unsigned", {})
    outcomes = {probe.name: probe.outcome for probe in probes}
    return SignedResult(result=result(outcomes), served=tuple(served), probes=tuple(probes))


def result(outcomes: Mapping[str, str]) -> str:
    """Return what the outcomes of the signed probes mean; they are outcomes of probes by the name of the probe.

    VERIFIED: a valid signature is served, while none that anybody could make is, nor none at all. ACCEPTS_ANYTHING: one
    that anybody could make is served and no signature is not. UNCLEAR: a probe that decides had no answer, or the
    control was served this time.
    """
    served = [name for name, outcome in outcomes.items() if outcome == SERVED]
    strict = [name for name in FORGERIES if name in outcomes and name not in LAX]
    if outcomes["unsigned"] in (SERVED, INCONCLUSIVE):
        return UNCLEAR
    if any(name in served for name in strict):
        return ACCEPTS_ANYTHING
    if any(name in served for name in SIGNED_FORMS):
        return UNCLEAR if any(outcomes[name] == INCONCLUSIVE for name in strict) else VERIFIED
    return UNCLEAR if INCONCLUSIVE in outcomes.values() else NOT_VERIFIED


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decoded(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)

"""Secrets in what a site wrote: hidden in every field that may quote it."""

from __future__ import annotations

import base64
from typing import Any, get_args, get_origin, get_type_hints
from urllib.parse import quote

import msgspec
import pytest

from aui_tui.model.observations import Exchange, Observations
from aui_tui.scan.exchanges import OWN_FIELDS, OWN_NAMES, redact
from aui_tui.scan.policy import ScanPolicy

PASSWORD = "Correct&Horse <4711>"
POLICY = ScanPolicy(headers=(("X-Key", "served"),), basic_auth=("anna", PASSWORD))
TOKEN = base64.b64encode(f"anna:{PASSWORD}".encode()).decode()


def filled(kind: Any, text: str) -> Any:
    """Return a value of the type ``kind`` in which every text is ``text``."""
    options = [one for one in get_args(kind) if one is not type(None)]
    if kind is str:
        return text
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        hints = get_type_hints(kind)
        return kind(**{name: filled(hints[name], text) for name in kind.__struct_fields__})
    if get_origin(kind) is tuple:
        return (filled(options[0], text),) if options[-1] is Ellipsis else tuple(filled(one, text) for one in options)
    if options:
        return filled(options[0], text)
    return kind()


def texts(value: Any, own: bool = False) -> list[tuple[str, bool]]:
    """Return every text in a record, and whether it is the product's own word."""
    if isinstance(value, str):
        return [(value, own)]
    if isinstance(value, tuple):
        return [found for item in value for found in texts(item, own)]
    if isinstance(value, msgspec.Struct):
        kept = OWN_FIELDS | {"name"} if isinstance(value, OWN_NAMES) else OWN_FIELDS
        return [found for name in value.__struct_fields__ for found in texts(getattr(value, name), name in kept)]
    return []


@pytest.mark.parametrize(
    "secret",
    [
        PASSWORD,
        PASSWORD.upper(),
        quote(PASSWORD),
        quote(PASSWORD, safe="").lower(),
        "Correct&amp;Horse &lt;4711&gt;",
        TOKEN,
        TOKEN.rstrip("="),
    ],
)
def test_no_text_of_a_site_keeps_a_secret(secret: str) -> None:
    seen = redact(filled(Observations, f"before {secret} after"), POLICY.secrets)
    kept = [text for text, own in texts(seen) if not own]
    assert len(kept) > 40
    assert set(kept) == {"before … after"}


def test_own_words_stay_whatever_the_secret_is() -> None:
    found = redact(filled(Observations, "served"), POLICY.secrets)
    assert {text for text, own in texts(found) if own} == {"served"}
    probe = redact(Exchange(name="served", url="http://a.example/served", error="served"), POLICY.secrets)
    assert (probe.name, probe.error, probe.url) == ("served", "served", "http://a.example/…")

"""Sites of this machine: no option is needed where a person types the address, and none opens them elsewhere."""

from __future__ import annotations

from pathlib import Path

import certifi
import pytest

from aui_tui.cli.run import Run
from aui_tui.cli.site_options import policy_of
from aui_tui.errors import PrivateHost
from aui_tui.scan.policy import KEYBOARD, PUBLIC
from aui_tui.scan.signing import new_key
from aui_tui.scan.target import parse
from aui_tui.settings import DEFAULTS, OF_SCANS, WORDS, load
from aui_tui.text import is_loopback


@pytest.mark.parametrize(
    ("host", "here"),
    [
        ("localhost", True),
        ("shop.localhost", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("localhost.example.com", False),
        ("127.example.com", False),
        ("10.0.0.7", False),
        ("::ffff:127.0.0.1", False),
    ],
)
def test_what_this_machine_is(host: str, here: bool) -> None:
    assert is_loopback(host) is here


@pytest.mark.parametrize("url", ["localhost:8000", "http://127.0.0.1:9", "[::1]:80", "a.localhost"])
def test_an_address_of_this_machine_needs_no_option_at_the_keyboard(url: str) -> None:
    target = KEYBOARD.target(url)
    policy = KEYBOARD.toward(target)
    assert policy.may_dial("127.0.0.1")
    assert not policy.may_dial("10.0.0.7")
    policy.check(target.origin)
    with pytest.raises(PrivateHost):
        PUBLIC.target(url)


@pytest.mark.parametrize("url", ["10.0.0.7", "staging", "shop.internal", "example.com:8080"])
def test_other_private_addresses_still_need_one(url: str) -> None:
    with pytest.raises(PrivateHost):
        KEYBOARD.target(url)


def test_a_public_name_or_a_redirect_does_not_lead_to_this_machine() -> None:
    policy = KEYBOARD.toward(parse("example.com"))
    assert not policy.may_dial("127.0.0.1")
    with pytest.raises(PrivateHost):
        policy.check(parse("http://localhost:1", allow_private=True).origin)


@pytest.mark.parametrize("name", OF_SCANS)
def test_a_setting_of_scans_reaches_the_policy(name: str, tmp_path: Path) -> None:
    """A field of the same name and kind has the same default, and another value makes another policy."""
    new_key(tmp_path)
    default = DEFAULTS[name]
    if type(getattr(KEYBOARD, name, None)) is type(default):
        assert getattr(KEYBOARD, name) == default
    word = next((word for word in WORDS.get(name, ()) if word != default), "words")
    given = {"cacert": certifi.where(), "via": "http://127.0.0.1:3128"}
    value = given.get(name, {bool: not default, int: 3, float: 3.0, str: word}[type(default)])
    policy = policy_of(Run(load({name: value, "data_dir": str(tmp_path)}, {})))
    assert policy not in (None, KEYBOARD)

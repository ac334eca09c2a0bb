"""Readers of what the network sends: redirects, codings, cookies, recordings."""

from __future__ import annotations

from contextlib import suppress

from aui_tui.errors import RecordError
from aui_tui.model import observations
from aui_tui.model.observations import UNFOLLOWED
from aui_tui.scan import decode, probes, target
from aui_tui.scan.policy import PUBLIC
from aui_tui.scan.probes import MAX_HEADER, CookieJar, Unfollowed, Url
from aui_tui.scan.target import WEB_PORTS, Origin
from aui_tui.text import clean

HOME = Url(Origin("https", "shop.com", 443), "/a/b?c")
ROOM = 5000


def read_location(data: bytes) -> None:
    """An address on the public web in plain ASCII, or a word and a clean sentence that say why not."""
    try:
        found = probes.follow(HOME, data.decode("utf-8", "replace"), PUBLIC)
    except Unfollowed as error:
        check_words(error.detail, error.kind in UNFOLLOWED)
        return
    assert found.origin.port in WEB_PORTS
    assert target.parse_address(found.origin.host) is None or target.is_public(found.origin.host)
    assert str(found).isascii()
    assert found.path.startswith("/")
    assert not any(char in found.path for char in "\r\n\t #")


def read_coding(data: bytes) -> None:
    """At most the room that there is, however the bytes are cut."""
    header, _, body = data.partition(b"\n")
    chain = decode.decoders(header.decode("latin-1"))
    if chain is None:
        return
    out = b""
    with suppress(decode.DecodeError):
        for start in range(0, len(body), 7):
            out += decode.decode(chain, body[start : start + 7], ROOM - len(out))
    assert len(out) <= ROOM


def read_cookie(data: bytes) -> None:
    """A Cookie header that is one plain line."""
    jar = CookieJar()
    path, *values = data.decode("utf-8", "replace").split("\n")
    jar.take(HOME.origin, f"/{path}", [("set-cookie", value) for value in values])
    for host in ("shop.com", "www.shop.com", "other.com"):
        sent = jar.header(Origin("http", host, 80), f"/{path}")
        assert sent.isascii()
        assert "\r" not in sent
        assert len(sent) <= MAX_HEADER


def read_recording(data: bytes) -> None:
    """Observations that survive a round trip, or RecordError in one sentence."""
    try:
        found = observations.decode_recording(data)
    except RecordError as error:
        check_words(str(error), bool(str(error)))
    else:
        assert observations.decode_recording(observations.encode_recording(found)) == found


def check_words(text: str, known: bool) -> None:
    """What is reported of a refusal is known and clean."""
    assert known
    assert text == clean(text)

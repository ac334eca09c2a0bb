"""Recordings: what was written comes back, and nothing broken or unclean gets in."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aui_tui.errors import RecordError
from aui_tui.model.observations import (
    BROWSER,
    FILE_PROBES,
    Attempt,
    Challenge,
    Exchange,
    Hop,
    Observations,
    Recording,
    decode_recording,
    encode_recording,
)
from aui_tui.model.reads import Reads
from aui_tui.model.registry import registry
from aui_tui.text import clean
from tests.scan.situations import rules, site

NAMES = (BROWSER, *(agent.key for agent in registry().live), *FILE_PROBES)
SEEN = Observations(
    host="shop.com",
    input_host="Shop.com",
    origin="https://shop.com",
    scanned_at="2026-11-20T10:00:00.123Z",
    elapsed_ms=321,
    exchanges=tuple(
        Exchange(
            name=name,
            url="https://shop.com/",
            status=200,
            headers=(("server", "nginx"),),
            title="Café – 例",
            hops=(Hop(url="https://shop.com/", status=301, location="/x"),),
            challenge=Challenge(vendor="cloudflare", signal="title", tier="A") if name == "agent_01" else None,
            attempts=(Attempt(status=403, outcome="refused"),) if name == "agent_02" else (),
        )
        for name in NAMES
    ),
)
EXAMPLE = Recording(observations=SEEN, name="Shop", category="Retail", seed=True)


def tampered(path: str, value: object) -> bytes:
    data: Any = json.loads(encode_recording(EXAMPLE))
    *parents, last = path.split("/")
    place = data
    for key in parents:
        place = place[int(key) if key.isdigit() else key]
    place[int(last) if last.isdigit() else last] = value
    return json.dumps(data).encode()


def test_a_recording_comes_back_as_it_was() -> None:
    assert decode_recording(encode_recording(EXAMPLE)) == EXAMPLE
    assert encode_recording(EXAMPLE).endswith(b"}\n")


def test_absent_fields_read_as_their_defaults_and_unknown_ones_are_ignored() -> None:
    data = json.loads(encode_recording(EXAMPLE))
    assert "robots" not in data["observations"]
    data["observations"]["future"] = {"field": [1, "x"]}
    assert decode_recording(json.dumps(data).encode()) == EXAMPLE


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("recording", 2, "version 2"),
        ("category", "Casino", "category"),
        ("observations/host", "../../etc/passwd", "host"),
        ("observations/origin", "file:///etc/passwd", "origin"),
        ("observations/scanned_at", "yesterday", "scanned_at"),
        ("observations/elapsed_ms", -1, "elapsed_ms: must be a whole number >= 0"),
        ("observations/elapsed_ms", 10**30, "elapsed_ms"),
        ("observations/elapsed_ms", "1", "elapsed_ms"),
        ("observations/exchanges", [], "exchanges must be"),
        ("observations/exchanges/0/name", "robots", "exchanges must be"),
        ("observations/exchanges/0/status", 1042, "exchanges[0].status: must be a whole number <= 999"),
        ("observations/exchanges/0/error", "sunspots", "exchanges[0].error: must be one of timeout, dns"),
        ("observations/exchanges/2/attempts/0/outcome", "x", "exchanges[2].attempts[0].outcome: must be one of"),
        ("observations/robots", {"kind": "odd"}, "robots.kind: must be one of rules, none"),
        ("observations/robots", {"agents": [{"token": "x"}]}, "robots.agents"),
        ("observations/page", {"jsonld": None}, "jsonld"),
    ],
)
def test_a_broken_recording_is_refused_with_a_sentence_that_names_the_field(
    path: str, value: object, words: str
) -> None:
    with pytest.raises(RecordError) as caught:
        decode_recording(tampered(path, value))
    assert words in str(caught.value)
    assert str(caught.value) == clean(str(caught.value))


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"recording": 1}'])
def test_what_is_no_recording_is_refused(data: bytes) -> None:
    with pytest.raises(RecordError):
        decode_recording(data)


def test_a_huge_file_is_refused_before_it_is_parsed() -> None:
    with pytest.raises(RecordError, match="16 MiB"):
        decode_recording(b" " * ((16 << 20) + 1))


def test_every_text_is_clean_and_bounded_after_reading() -> None:
    hostile = "a\x1b[2J\u202eb" + "x" * 9000
    found = decode_recording(tampered("observations/exchanges/0/title", hostile))
    assert found.observations.browser.title == clean(hostile, 4000)
    assert len(found.observations.browser.title) == 4000
    found = decode_recording(tampered("observations/exchanges/0/headers", [["server", "a\r\nb\x9b31m"]]))
    assert found.observations.browser.headers == (("server", clean("a\r\nb\x9b31m")),)


@given(st.binary(max_size=200), st.integers(0, 4000))
def test_any_change_is_read_or_refused(noise: bytes, at: int) -> None:
    data = encode_recording(EXAMPLE)
    try:
        found = decode_recording(data[:at] + noise + data[at + len(noise) :])
    except RecordError:
        return
    assert decode_recording(encode_recording(found)) == found


def test_a_file_that_is_kept_whole_keeps_its_lines() -> None:
    text = "User-agent: *\nDisallow: /cart\n\x1b[2J"
    seen = site(robots=rules(text=text))
    assert decode_recording(encode_recording(Recording(observations=seen))).observations.robots.text == clean(
        text, block=True
    )


def test_how_a_page_begins_keeps_its_lines() -> None:
    seen = site(reads=Reads(client=BROWSER, begins="Harbour Books\n\nWe sell books by the quay."))
    assert decode_recording(encode_recording(Recording(observations=seen))).observations.reads == seen.reads

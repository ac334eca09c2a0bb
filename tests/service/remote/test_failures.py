"""A source that fails, stalls, floods or is no source: one clear sentence, and no more requests than are safe."""

from __future__ import annotations

import gzip
import ssl
import time
import zlib

import pytest
import trustme

from aui_tui.errors import AuiError, ConfigError, NeverScanned, RateLimited, RecordError, Unavailable
from aui_tui.model.query import Query
from aui_tui.service.remote import open_source
from aui_tui.service.remote import published as module
from aui_tui.service.remote.published import PublishedIndex, base_of
from tests.loopback import QuietHandler, listening
from tests.service.remote.reader import BODY, JSON, hosts, remote
from tests.service.remote.scripted import Said, Source, scripted


@pytest.mark.parametrize(
    "said",
    [
        Said(404, b'{"found": false}', JSON),
        Said(404, b"Not Found"),
        Said(404, b"<html><title>404</title>", {"Content-Type": "text/html"}),
        Said(200, b'{"found": false, "host": "x"}', JSON),
    ],
)
async def test_any_shape_of_404_is_never_scanned(source: Source, service: PublishedIndex, said: Said) -> None:
    source.say["/api/site/unknown.example.json"] = said
    with pytest.raises(NeverScanned, match=r"^unknown\.example has never been scanned\.$"):
        await service.site("unknown.example")


ERRORS = [
    (
        Said(500, b'{"type":"about:blank","title":"Broken","status":500,"detail":"Disk full"}'),
        "cannot answer now (500): Disk full.",
    ),
    (Said(500, b'{"error":"disk full"}'), "cannot answer now (500): disk full."),
    (Said(500, b"disk full", {"Content-Type": "text/plain"}), "cannot answer now (500)."),
    (Said(500, b"<!DOCTYPE html><h1>Oops</h1>"), "cannot answer now (500)."),
    (Said(500, b'{"detail":"\\u001b]52;c;evil\\u0007boom"}'), "cannot answer now (500): "),
    (Said(503, fields={"Retry-After": "1"}), "cannot answer now (503)."),
    (Said(429), "takes no more requests from here for now. It does not say when to try again."),
    (Said(401, b""), "refuses access (401)."),
    (Said(403, b"<html>blocked</html>"), "refuses access (403)."),
    (Said(404, b"<html>nothing</html>"), "publishes no index"),
    (Said(418, b"[]"), "answers with an unexpected status (418)."),
    (Said(301, b"", {"Location": "https://elsewhere.example/x"}), "has moved to https://elsewhere.example/x"),
    (Said(302, b"", {"Location": "file:///etc/passwd"}), "has moved to file://127.0.0.1/etc/passwd"),
    (Said(302, b"", {"Location": "/api/index.json"}), "redirects in circles."),
    (Said(200, b"<!doctype html><title>Home</title>"), "sends a web page"),
    (Said(200, b"{"), "not JSON"),
    (Said(200, b"[]", JSON), "not a JSON object"),
    (Said(200, b'{"ranked":' + b"[" * 500_000, JSON), "nested too deep"),
    (Said(200, b'{"ranked": 1}', JSON), "ranked"),
    (Said(200, b"\xff\xfe\x00garbage", JSON), "not JSON"),
    (Said(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}"), "broke off"),
    (Said(raw=b"SSH-2.0-x\r\n"), "cannot be reached"),
    (Said(raw=b""), "cannot be reached"),
    (Said(200, b"no gzip", {"Content-Encoding": "gzip"}), "its answer is not valid gzip"),
    (Said(200, b"x", {"Content-Encoding": "br"}), "sends an encoding that was not asked for: br"),
    (Said(200, b"x", {"Content-Encoding": "gzip, gzip"}), "sends an encoding that was not asked for: gzip, gzip"),
    (Said(304, b""), "has moved."),
]


@pytest.mark.parametrize(("said", "words"), ERRORS, ids=[words[:40] for _, words in ERRORS])
async def test_every_failure_is_one_clear_sentence(
    source: Source, service: PublishedIndex, said: Said, words: str
) -> None:
    source.say["/api/index.json"] = said
    with pytest.raises(AuiError) as error:
        await service.index(Query())
    text = str(error.value)
    assert words in text
    assert text.startswith(f"127.0.0.1:{source.port}")
    assert text.endswith(".")
    assert "\n" not in text
    assert "\x1b" not in text
    assert isinstance(error.value, Unavailable | RecordError | RateLimited)
    assert len(source.asked) == 1 or "circles" in words


async def test_redirects_within_the_host_are_followed(source: Source, service: PublishedIndex) -> None:
    source.say["/api/index.json"] = Said(308, fields={"Location": "/v2/index"})
    source.say["/v2/index"] = Said(body=BODY, fields=JSON)
    assert len(await hosts(service)) == 2


async def test_a_redirect_to_another_port_is_not_followed(source: Source) -> None:
    with scripted() as other:
        other.say["/api/index.json"] = Said(body=BODY, fields=JSON)
        source.say["/api/index.json"] = Said(302, fields={"Location": f"{other.url}/api/index.json"})
        service = remote(source)
        with pytest.raises(Unavailable, match=f"has moved to {other.url}"):
            await service.index(Query())
        await service.aclose()
        assert other.asked == []


async def test_a_silent_source_is_left_within_the_time_limit(
    source: Source, service: PublishedIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "READ_SECONDS", 0.4)
    source.say["/api/index.json"] = silent = Said(pause=20)
    started = time.monotonic()
    with pytest.raises(Unavailable, match="did not answer within"):
        await service.index(Query())
    assert time.monotonic() - started < silent.pause


async def test_a_bomb_and_an_endless_answer_are_cut(
    source: Source, service: PublishedIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LARGEST_INDEX", 1024 * 1024)
    bomb = zlib.compressobj(9, zlib.DEFLATED, 31)
    packed = bomb.compress(b" " * 64 * 1024 * 1024) + bomb.flush()
    endless = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + b" " * 2_000_000
    for said in (Said(200, packed, {"Content-Encoding": "gzip"}), Said(raw=endless)):
        source.say["/api/index.json"] = said
        with pytest.raises(Unavailable, match="more than 1 MiB"):
            await service.index(Query())
    source.say["/api/index.json"] = Said(200, gzip.compress(BODY), {"Content-Encoding": "gzip"})
    assert len(await hosts(service)) == 2


@pytest.mark.parametrize(
    ("text", "base"),
    [
        ("https://index.example", "https://index.example"),
        ("HTTPS://Index.Example/", "https://index.example"),
        ("https://host.example/usability/", "https://host.example/usability"),
        ("http://127.0.0.1:8000/api/index.json", "http://127.0.0.1:8000"),
    ],
)
def test_a_source_is_known_by_its_base_address(text: str, base: str) -> None:
    assert base_of(text) == base


@pytest.mark.parametrize(
    "text",
    ["ftp://a.example", "https://", "https://user:pw@a.example", "https://a.example:99999", "https://a b", "://x"],
)
def test_malformed_addresses_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"address such as https://index\.example"):
        open_source(text)


async def test_a_certificate_that_is_not_trusted_is_named() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    with listening(QuietHandler, context) as server:
        service = remote(f"https://127.0.0.1:{server.server_port}")
        with pytest.raises(Unavailable, match="its certificate is not valid"):
            await service.index(Query())
        await service.aclose()


async def test_a_name_without_an_address_is_reported() -> None:
    service = remote("http://no-such-name.invalid")
    with pytest.raises(Unavailable, match=r"no-such-name\.invalid cannot be reached"):
        await service.index(Query())
    await service.aclose()

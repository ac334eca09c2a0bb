"""A published index read over HTTP: tolerant, bounded in time and size, kept, and honest about its age."""

from __future__ import annotations

import gzip
import json
import ssl
import threading
import time
import zlib
from collections.abc import Iterator, Mapping
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trustme
from hypothesis import given, settings
from hypothesis import strategies as st

from aui_tui.errors import (
    AuiError,
    BadValue,
    ConfigError,
    InvalidHost,
    NeverScanned,
    RateLimited,
    RecordError,
    Unavailable,
)
from aui_tui.records import codec
from aui_tui.records.query import Query
from aui_tui.service.remote import client as remote_client
from aui_tui.service.remote import open_source
from aui_tui.service.remote.client import RemoteService, base_of
from aui_tui.service.remote.reading import read_card
from aui_tui.service.remote.replies import Reply, complaint
from tests.cards import DEAD, INDEX, RICH_OPEN, WALLED, cards
from tests.service.remote.scripted import Said, Source, scripted

JSON = {"Content-Type": "application/json"}
BODY = codec.encode_index(INDEX)
CARD = f"/api/site/{RICH_OPEN.host}.json"


@pytest.fixture
def source() -> Iterator[Source]:
    with scripted() as running:
        running.say["/api/index.json"] = Said(body=BODY, fields={**JSON, "ETag": '"one"'})
        running.say[CARD] = Said(body=codec.encode_card(RICH_OPEN), fields={**JSON, "ETag": '"card"'})
        yield running


class Clock:
    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


class Sleeps(list[float]):
    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


def remote(source: Source | str, **options: Any) -> RemoteService:
    options.setdefault("sleep", Sleeps())
    return RemoteService(source if isinstance(source, str) else source.url, **options)


async def hosts(service: RemoteService, query: Query | None = None) -> list[str]:
    view = await service.index(query or Query())
    return [row.summary.host for row in view.ranked[:]]


async def test_list_is_fetched_once_and_asked_about_again_by_its_tag(source: Source) -> None:
    source.say["/api/index.json"] = lambda fields: (
        Said(304) if fields.get("if-none-match") == '"one"' else Said(body=BODY, fields={**JSON, "ETag": '"one"'})
    )
    clock = Clock()
    service = remote(source, clock=clock)
    for _ in range(3):
        assert await hosts(service) == [row.host for row in INDEX.ranked]
    assert len(source.asked) == 1
    clock.now += remote_client.FRESH + 1
    view = await service.index(Query())
    assert (view.notice, len(view.ranked)) == ("", 2)
    assert [fields.get("if-none-match") for _, fields in source.asked] == [None, '"one"']
    await service.aclose()


async def test_copies_outlive_the_program_and_are_asked_about_by_their_tag(source: Source, tmp_path: Path) -> None:
    for number in range(2):
        service = remote(source, folder=tmp_path / "copies")
        await service.index(Query())
        assert (await service.site(RICH_OPEN.host)).card.score == RICH_OPEN.score
        await service.aclose()
        if number == 0:
            source.say["/api/index.json"] = source.say[CARD] = Said(304)
    assert [fields.get("if-none-match") for _, fields in source.asked] == [None, None, '"one"', '"card"']
    assert (tmp_path / "copies").stat().st_mode & 0o777 == 0o700


async def test_offline_the_last_copy_is_shown_with_its_age(source: Source, tmp_path: Path) -> None:
    clock = Clock()
    service = remote(source, folder=tmp_path, clock=clock)
    await service.index(Query())
    await service.site(RICH_OPEN.host)
    source.stop()
    clock.now += 3 * 3600
    view = await service.index(Query())
    assert len(view.ranked) == 2
    assert view.notice == (
        f"127.0.0.1:{source.port} cannot be reached: the connection is refused. Shown is the copy of 3 h ago."
    )
    await service.aclose()
    clock.now += 5 * 86400
    later = remote(source, folder=tmp_path, clock=clock)
    assert "the copy of 5 days ago" in (await later.index(Query())).notice
    dossier = await later.site(RICH_OPEN.host)
    assert dossier.card.host == RICH_OPEN.host
    assert "the copy of 5 days ago" in dossier.notice
    with pytest.raises(Unavailable, match="cannot be reached"):
        await later.site(WALLED.host)
    await later.aclose()
    without = remote(source)
    with pytest.raises(Unavailable, match=r"^127\.0\.0\.1:\d+ cannot be reached: the connection is refused\.$"):
        await without.index(Query())
    await without.aclose()


async def test_a_source_that_falls_ill_shows_the_copy_and_recovers(source: Source) -> None:
    clock = Clock()
    service = remote(source, clock=clock)
    await service.index(Query())
    for said in (Said(500), Said(200, b"<!doctype html><title>Login</title>"), Said(200, b'{"ranked":'), Said(429)):
        source.say["/api/index.json"] = said
        clock.now += remote_client.FRESH + 1
        view = await service.index(Query())
        assert len(view.ranked) == 2
        assert "Shown is the copy of" in view.notice
    source.say["/api/index.json"] = Said(body=BODY, fields=JSON)
    clock.now += remote_client.FRESH + 1
    assert (await service.index(Query())).notice == ""
    await service.aclose()


@pytest.mark.parametrize("damage", [b"", b"\x80\x04\x95", b"{}\n", b'{"url":"x"}\n{}', b"A" * 40_000])
async def test_damaged_copies_are_as_if_absent(source: Source, tmp_path: Path, damage: bytes) -> None:
    first = remote(source, folder=tmp_path)
    await first.index(Query())
    await first.aclose()
    (copy,) = tmp_path.glob("*.copy")
    copy.write_bytes(damage)
    second = remote(source, folder=tmp_path)
    assert len((await second.index(Query())).ranked) == 2
    assert "if-none-match" not in source.asked[-1][1]
    await second.aclose()


async def test_a_copy_that_is_a_link_is_not_followed(source: Source, tmp_path: Path) -> None:
    first = remote(source, folder=tmp_path / "copies")
    await first.index(Query())
    await first.aclose()
    (copy,) = (tmp_path / "copies").glob("*.copy")
    copy.rename(tmp_path / "elsewhere")
    copy.symlink_to(tmp_path / "elsewhere")
    second = remote(source, folder=tmp_path / "copies")
    await second.index(Query())
    assert "if-none-match" not in source.asked[-1][1]
    await second.aclose()


async def test_a_folder_that_cannot_be_written_costs_nothing_but_the_copy(source: Source, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    service = remote(source, folder=tmp_path / "file" / "copies")
    assert len((await service.index(Query())).ranked) == 2
    await service.aclose()


SLOTS = json.loads(codec.encode_index(INDEX, "slots"))
FOREIGN = {
    **json.loads(BODY),
    "generated_by": {"anything": [1, 2, {"deep": None}]},
    "ranked": [
        {
            **json.loads(codec.encode_summary(RICH_OPEN.summary())),
            "matrix": {f"Agent {n}": "allowed" for n in range(8)},
            "extra": "field",
            "scanned_at": "2026-11-20T10:00:00Z",
        }
    ],
}


@pytest.mark.parametrize("raw", [SLOTS, FOREIGN], ids=["slots", "foreign"])
async def test_foreign_names_and_unknown_fields_are_read(source: Source, raw: dict[str, Any]) -> None:
    source.say["/api/index.json"] = Said(body=json.dumps(raw).encode(), fields=JSON)
    service = remote(source)
    view = await service.index(Query())
    assert view.notice == ""
    row = view.ranked[:][0].summary
    assert list(row.matrix) == (list(RICH_OPEN.matrix) if raw is SLOTS else [f"Agent {n}" for n in range(8)])
    assert row.scanned_at.endswith("Z")
    await service.aclose()


async def test_missing_optional_fields_are_filled_and_broken_rows_left_out(source: Source) -> None:
    good = json.loads(codec.encode_summary(WALLED.summary()))
    poor = {key: value for key, value in good.items() if key not in ("name", "category", "top_evidence", "url")}
    rows = [{**poor, "host": "poor.example"}, {"host": "broken.example"}, 7, {**good, "score": "many"}, good]
    source.say["/api/index.json"] = Said(body=json.dumps({"ranked": rows, "unreachable": None}).encode(), fields=JSON)
    service = remote(source)
    view = await service.index(Query())
    found = {row.summary.host: row.summary for row in view.ranked[:]}
    assert set(found) == {"poor.example", WALLED.host}
    assert (found["poor.example"].name, found["poor.example"].category) == ("poor.example", "Uncategorized")
    assert found["poor.example"].url == f"{source.url}/site/poor.example"
    assert view.notice.startswith("3 broken rows were left out: ")
    await service.aclose()


async def test_poor_card_is_filled_and_an_address_that_is_none_of_the_web_is_replaced(source: Source) -> None:
    raw = json.loads(codec.encode_card(RICH_OPEN))
    for name in ("input_host", "name", "seed", "probe_dead", "evidence", "recommendations"):
        del raw[name]
    raw["url"] = "javascript:alert(1)"
    source.say[CARD] = Said(body=json.dumps(raw).encode(), fields=JSON)
    service = remote(source)
    card = (await service.site(RICH_OPEN.host)).card
    assert (card.name, card.input_host, card.recommendations) == (RICH_OPEN.host, RICH_OPEN.host, ())
    assert card.url == f"{source.url}/site/{RICH_OPEN.host}"
    await service.aclose()


@pytest.mark.parametrize(
    "said",
    [
        Said(404, b'{"found": false}', JSON),
        Said(404, b"Not Found"),
        Said(404, b"<html><title>404</title>", {"Content-Type": "text/html"}),
        Said(200, b'{"found": false, "host": "x"}', JSON),
    ],
)
async def test_any_shape_of_404_is_never_scanned(source: Source, said: Said) -> None:
    source.say["/api/site/unknown.example.json"] = said
    service = remote(source)
    with pytest.raises(NeverScanned, match=r"^unknown\.example has never been scanned\.$"):
        await service.site("unknown.example")
    await service.aclose()


ERRORS = [
    (
        Said(500, b'{"type":"about:blank","title":"Broken","status":500,"detail":"Disk full"}'),
        "cannot answer now (500): Disk full.",
    ),
    (Said(500, b'{"error":"disk full"}'), "cannot answer now (500): disk full."),
    (Said(500, b'{"error":{"message":"disk full","code":7}}'), "cannot answer now (500): disk full."),
    (Said(500, b"disk full", {"Content-Type": "text/plain"}), "cannot answer now (500): disk full."),
    (Said(500, b"<!DOCTYPE html><h1>Oops</h1>"), "cannot answer now (500)."),
    (Said(500, b"\x1b]52;c;evil\x07boom", {"Content-Type": "text/plain"}), "cannot answer now (500): "),
    (Said(401, b""), "refuses access (401)."),
    (Said(403, b"<html>blocked</html>"), "refuses access (403)."),
    (Said(404, b"<html>nothing</html>"), "publishes no index"),
    (Said(418, b"[]"), "answers with an unexpected status (418)."),
    (Said(301, b"", {"Location": "https://elsewhere.example/x"}), "has moved to https://elsewhere.example/x"),
    (Said(302, b"", {"Location": "file:///etc/passwd"}), "has moved to file:///etc/passwd"),
    (Said(302, b"", {"Location": "/api/index.json"}), "redirects in circles."),
    (Said(200, b"<!doctype html><title>Home</title>"), "sends a web page"),
    (Said(200, b"{"), "not JSON"),
    (Said(200, b"[]", JSON), "not a JSON object"),
    (Said(200, b"[" * 100_000, JSON), "nested too deep"),
    (Said(200, b'{"ranked": 1}', JSON), "ranked"),
    (Said(200, b"\xff\xfe\x00garbage", JSON), "not JSON"),
    (Said(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}"), "broke off"),
    (Said(raw=b"SSH-2.0-x\r\n"), "cannot be reached"),
    (Said(raw=b""), "cannot be reached"),
    (Said(200, b"no gzip", {"Content-Encoding": "gzip"}), "its answer is no valid gzip"),
]


@pytest.mark.parametrize(("said", "words"), ERRORS, ids=[words[:40] for _, words in ERRORS])
async def test_every_failure_is_one_clear_sentence(source: Source, said: Said, words: str) -> None:
    source.say["/api/index.json"] = said
    service = remote(source)
    with pytest.raises(AuiError) as error:
        await service.index(Query())
    text = str(error.value)
    assert words in text
    assert text.startswith(f"127.0.0.1:{source.port}")
    assert text.endswith(".")
    assert "\n" not in text
    assert "\x1b" not in text
    assert isinstance(error.value, Unavailable | RecordError)
    await service.aclose()


async def test_redirects_within_the_host_are_followed(source: Source) -> None:
    source.say["/api/index.json"] = Said(308, fields={"Location": "/v2/index"})
    source.say["/v2/index"] = Said(body=BODY, fields=JSON)
    service = remote(source)
    assert len(await hosts(service)) == 2
    await service.aclose()


@pytest.mark.parametrize("status", [502, 503, 504])
async def test_passing_failures_of_reads_are_tried_again_with_jitter(source: Source, status: int) -> None:
    answers = iter((Said(status), Said(status, fields={"Retry-After": "2"}), Said(body=BODY, fields=JSON)))
    source.say["/api/index.json"] = lambda fields: next(answers)
    sleeps = Sleeps()
    service = remote(source, sleep=sleeps)
    assert len(await hosts(service)) == 2
    assert len(sleeps) == 2
    assert 0.2 <= sleeps[0] <= 0.6
    assert sleeps[1] == 2
    await service.aclose()


async def test_a_long_retry_after_is_not_waited_for_and_other_errors_not_repeated(source: Source) -> None:
    service = remote(source)
    for said in (Said(503, fields={"Retry-After": "3600"}), Said(500), Said(404), Said(429)):
        source.say["/api/index.json"] = said
        before = len(source.asked)
        with pytest.raises(AuiError):
            await service.index(Query())
        assert len(source.asked) == before + 1
    await service.aclose()


async def test_a_scan_is_asked_once_whatever_happens(source: Source) -> None:
    sleeps = Sleeps()
    service = remote(source, sleep=sleeps)
    for said in (Said(503), Said(502), Said(raw=b""), Said(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{")):
        source.say["/api/scan"] = said
        before = len(source.asked)
        with pytest.raises(Unavailable):
            await service.scan("a.example")
        assert len(source.asked) == before + 1
    assert sleeps == []
    await service.aclose()


async def test_a_silent_source_is_left_within_the_time_limit(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_client, "READ_SECONDS", 0.4)
    source.say["/api/index.json"] = Said(pause=20)
    service = remote(source)
    started = time.monotonic()
    with pytest.raises(Unavailable, match="did not answer within"):
        await service.index(Query())
    assert time.monotonic() - started < 5
    await service.aclose()


async def test_a_bomb_and_an_endless_answer_are_cut(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_client, "LARGEST_INDEX", 1024 * 1024)
    bomb = zlib.compressobj(9, zlib.DEFLATED, 31)
    packed = bomb.compress(b" " * 64 * 1024 * 1024) + bomb.flush()
    endless = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + b" " * 2_000_000
    service = remote(source)
    for said in (Said(200, packed, {"Content-Encoding": "gzip"}), Said(raw=endless)):
        source.say["/api/index.json"] = said
        with pytest.raises(Unavailable, match="more than 1 MiB"):
            await service.index(Query())
    source.say["/api/index.json"] = Said(200, gzip.compress(BODY), {"Content-Encoding": "gzip"})
    assert len(await hosts(service)) == 2
    await service.aclose()


LIMITS: list[tuple[Said, int, str]] = [
    (Said(429, fields={"Retry-After": "720"}), 720, "The next one is free in 12 min."),
    (
        Said(429, b'{"detail":"Ten are used up.","retry_after":300}'),
        300,
        "Ten are used up. The next one is free in 5 min.",
    ),
    (
        Said(429, b'{"detail":"Used up; free in 7 min 3 s."}', {"Retry-After": "423"}),
        423,
        "Used up; free in 7 min 3 s.",
    ),
    (Said(429, b"<html>slow down</html>", {"RateLimit": '"scan";r=0;t=90'}), 90, "The next one is free in 90 s."),
    (Said(429, b"Too many requests"), 3600, "It does not say when to come back."),
    (Said(429, fields={"Retry-After": "-5"}), 3600, "It does not say when"),
    (Said(429, fields={"Retry-After": "99999999999999"}), 3600, "It does not say when"),
]


@pytest.mark.parametrize(("said", "wait", "words"), LIMITS, ids=[words[:30] + str(wait) for _, wait, words in LIMITS])
async def test_a_429_says_when(source: Source, said: Said, wait: int, words: str) -> None:
    source.say["/api/scan"] = said
    clock = Clock()
    service = remote(source, clock=clock)
    with pytest.raises(RateLimited) as error:
        await service.scan("a.example")
    assert error.value.retry_after == wait
    assert error.value.reset_at == clock.now + wait
    assert words in str(error.value)
    assert len(source.asked) == 1
    await service.aclose()


async def test_a_429_with_a_date_is_understood(source: Source) -> None:
    soon = formatdate(time.time() + 1200, usegmt=True)
    source.say["/api/scan"] = Said(429, fields={"Retry-After": soon})
    service = remote(source)
    with pytest.raises(RateLimited) as error:
        await service.scan("a.example")
    assert 1000 < error.value.retry_after <= 1201
    await service.aclose()


async def test_scan_tells_source_age_and_what_is_left(source: Source) -> None:
    fields = {**JSON, "RateLimit": '"scan";r=7;t=60', "RateLimit-Policy": '"scan";q=10;w=3600'}
    source.say["/api/scan"] = Said(body=codec.encode_card(RICH_OPEN), fields={**fields, "Cache-Status": "aui-tui; hit"})
    clock = Clock()
    service = remote(source, clock=clock)
    assert await service.quota() is None
    answer = await service.scan("https://shop.example/ä?x=1&force=true#f", force=True)
    assert source.paths() == ["/api/scan?url=https%3A%2F%2Fshop.example%2F%C3%A4%3Fx%3D1%26force%3Dtrue%23f&force=true"]
    assert (answer.source, answer.card.host, answer.warnings) == ("cache", RICH_OPEN.host, ())
    quota = await service.quota()
    assert quota is not None
    assert (quota.left, quota.limit, quota.next_slot) == (7, 10, clock.now + 60)
    other = await service.scan("a.example", method="v0.2")
    assert other.warnings == (f"127.0.0.1:{source.port} grades under v0.1 alone.",)
    with pytest.raises(BadValue, match="sets the categories"):
        await service.scan("a.example", category="Retail")
    await service.aclose()


async def test_a_scan_makes_the_list_be_asked_for_again(source: Source) -> None:
    source.say["/api/scan"] = Said(body=codec.encode_card(DEAD), fields=JSON)
    service = remote(source)
    await service.index(Query())
    await service.scan(DEAD.host)
    await service.index(Query())
    assert source.paths().count("/api/index.json") == 2
    await service.aclose()


async def test_invalid_host_is_told_in_the_words_of_the_service(source: Source) -> None:
    source.say["/api/scan"] = Said(400, b'{"detail":"\\u201cx y\\u201d holds a space.","title":"Invalid host"}')
    service = remote(source)
    with pytest.raises(InvalidHost, match="holds a space"):
        await service.scan("x y")
    source.say["/api/scan"] = Said(400, b"")
    with pytest.raises(InvalidHost, match="calls 'x y' an invalid host"):
        await service.scan("x y")
    source.say["/api/scan"] = Said(400, b'{"detail":"force is odd.","allowed":["true","false"]}')
    with pytest.raises(BadValue) as error:
        await service.scan("x y")
    assert error.value.allowed == ("true", "false")
    await service.aclose()


async def test_host_never_leaves_its_place_in_the_address(source: Source) -> None:
    service = remote(source)
    for host in ("../../admin", "a?b=c", "a#b", "http://x.example:8080", "a\r\nX: y", "ä.example"):
        with pytest.raises(NeverScanned):
            await service.site(host)
    assert all(path.startswith("/api/site/") and path.endswith(".json") for path in source.paths())
    assert not any(mark in path.removeprefix("/api/site/") for path in source.paths() for mark in "/?# ")
    await service.aclose()


@pytest.mark.parametrize(
    ("text", "base"),
    [
        ("https://index.example", "https://index.example"),
        ("HTTPS://Index.Example/", "https://index.example"),
        ("https://host.example/usability/", "https://host.example/usability"),
        ("http://127.0.0.1:8000/api/index.json", "http://127.0.0.1:8000"),
    ],
)
def test_base_address(text: str, base: str) -> None:
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
    server = HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    service = remote(f"https://127.0.0.1:{server.server_port}")
    try:
        with pytest.raises(Unavailable, match="its certificate is not valid"):
            await service.index(Query())
    finally:
        await service.aclose()
        server.shutdown()
        server.server_close()


async def test_a_name_without_an_address_is_told() -> None:
    service = remote("http://no-such-name.invalid")
    with pytest.raises(Unavailable, match=r"no-such-name\.invalid cannot be reached"):
        await service.index(Query())
    await service.aclose()


@given(
    st.integers(0, 999),
    st.dictionaries(st.sampled_from(("retry-after", "ratelimit", "content-type", "location")), st.text(max_size=30)),
    st.one_of(
        st.binary(max_size=200),
        st.recursive(st.none() | st.text() | st.integers(), st.lists).map(lambda v: json.dumps(v).encode()),
    ),
    st.sampled_from(("index", "site", "scan")),
)
@settings(deadline=None, max_examples=200)
def test_no_answer_breaks_the_reader(status: int, fields: Mapping[str, str], body: bytes, operation: str) -> None:
    error = complaint(Reply(status, fields, body), operation, "index.example", "a.example", 1000.0)
    assert isinstance(error, AuiError)
    assert str(error).isprintable()


@given(cards())
@settings(deadline=None, max_examples=25)
def test_any_card_is_read_as_it_was_published(card: Any) -> None:
    assert read_card(codec.encode_card(card), card.host) == card
    slots = read_card(codec.encode_card(card, "slots"), card.host)
    assert msgspec.structs.replace(slots, url="") == msgspec.structs.replace(card, url="")

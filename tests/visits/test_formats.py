"""Lines as servers write them, escapes and all, and lines that are meant to mislead."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import random
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from aui_tui.errors import BadValue, ConfigError, RecordError
from aui_tui.model.visits import RangeList, Visits, decode_visits, remarks
from aui_tui.visits import logs
from aui_tui.visits.clients import Names, Ranges, clients
from aui_tui.visits.counting import LogOptions, quote
from aui_tui.visits.formats import JsonLines
from aui_tui.visits.reader import LINE_LIMIT, files_of
from aui_tui.visits.tally import path_of

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

DATA = Path(__file__).resolve().parents[1] / "data" / "visits"
CLAUDE = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Claude-User/1.0; +claude-user@anthropic.com)"
LINE = b'198.51.100.7 - - [19/Nov/2026:04:54:%02d +0000] "GET /%s HTTP/1.1" 200 512 "-" "%s"\n'


def read(*files: Path | str, ranges: Sequence[str] = (), **options: object) -> Visits:
    """Return what ``files`` hold, where Claude comes from ``ranges``."""
    chosen = LogOptions(**options)  # type: ignore[arg-type]
    names = files_of([str(file) for file in files])
    networks = {clients()["claude-user"].ip_ranges: Ranges(ranges)} if ranges else {}
    fetched = {url: RangeList(url=url, fetched_at="2026-11-22T00:00:00.000Z") for url in networks}
    return logs.record(logs.count(names, chosen, networks), names, chosen, fetched)


def counts(record: Visits) -> dict[str, int]:
    return {one.token: one.requests for one in record.visitors}


def line(agent: str = CLAUDE, path: str = "", second: int = 30) -> bytes:
    return LINE % (second, path.encode(), agent.encode())


SEVEN = {"Claude-User": 7, "GPTBot": 1, "ClaudeBot": 1}
FIVE = {"Claude-User": 5, "GPTBot": 1, "ClaudeBot": 1}
TWO = {"Claude-User": 2}


@pytest.mark.parametrize(
    ("name", "found", "form"),
    [
        ("nginx-combined.log", SEVEN, "combined"),
        ("nginx-vhost.log", SEVEN, "combined"),
        ("nginx-timed.log", SEVEN, "combined"),
        ("nginx-json.log", SEVEN, "json"),
        ("apache-combined.log", FIVE, "combined"),
        ("apache-vhost.log", FIVE, "combined"),
        ("apache-common.log", {}, "combined"),
        ("caddy.log", FIVE, "json"),
        ("cloudfront.log", TWO, "cloudfront"),
        ("iis.log", TWO, "w3c"),
        ("cloudflare.log", TWO, "cloudflare"),
        ("traefik.log", TWO, "combined"),
        ("traefik-json.log", TWO, "traefik"),
    ],
)
def test_logs_as_servers_write_them(name: str, found: dict[str, int], form: str) -> None:
    record = read(DATA / name)
    assert counts(record) == found
    assert record.formats == (form,)
    assert record.unparsable == 0
    assert record.last.startswith("2026-11-22")
    claude = record.visitor("Claude-User")
    if claude is not None:
        assert claude.refused == 1
        assert claude.refused_paths[0].requests == 1
        assert "user" not in str(claude.paths)
    else:
        assert "no User-Agent" in " ".join(record.notes)


def test_what_the_formats_tell_besides() -> None:
    cloudfront = read(DATA / "cloudfront.log").visitors[0]
    assert (cloudfront.bytes, cloudfront.median_seconds) == (3309, 0.006)
    assert read(DATA / "cloudfront.log").kind == "edge"
    assert read(DATA / "iis.log").visitors[0].median_seconds == 0.023
    assert read(DATA / "traefik.log").visitors[0].median_seconds == 0.0025
    assert read(DATA / "traefik-json.log").visitors[0].median_seconds == 0.003
    assert read(DATA / "cloudflare.log").visitors[0].median_seconds == 0.0645
    assert read(DATA / "nginx-json.log").visitors[0].markdown == 1
    assert read(DATA / "caddy.log").visitors[0].markdown == 1


def test_a_header_of_the_client_is_not_a_field_of_the_log(tmp_path: Path) -> None:
    """Caddy logs all request headers: a client may send one that is called like another logger's field."""
    record = read(DATA / "caddy.log", host="127.0.0.1")
    assert record.agent_lines == 7
    last = (DATA / "caddy.log").read_bytes().splitlines()[-1]
    assert b'"Client_ip":["160.79.104.11"]' in last
    found = JsonLines().parse(last)
    assert found is not None
    assert found.address == "127.0.0.1"


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstd.compress])
def test_packed_and_rotated_files_in_any_order(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    for number in range(3):
        data = line(second=10 + number) * 50
        (tmp_path / f"access.log.{number}").write_bytes(pack(data) if number else data)
    record = read(str(tmp_path / "access.log*"))
    assert (record.files, record.lines, counts(record)) == (3, 150, {"Claude-User": 150})


@pytest.mark.ci
def test_a_packed_file_that_is_cut_off_is_counted_up_to_there(tmp_path: Path) -> None:
    luck = random.Random(3)
    data = b"".join(line(path=f"{luck.random()}") for _ in range(20_000))
    (tmp_path / "access.log.gz").write_bytes(gzip.compress(data)[:-5000])
    record = read(tmp_path / "access.log.gz")
    assert 1000 < record.agent_lines < 20_000
    assert record.notes == ("access.log.gz is cut off in its packed data: what comes before that was counted.",)


def test_hostile_lines_are_counted_and_harm_nothing(tmp_path: Path) -> None:
    hostile = [
        line("x" * (2 * LINE_LIMIT)),
        b"a" * (LINE_LIMIT + 5) + b"\n",
        b'fe80::1%eth0 - - [19/Nov/2026:04:54:30 +0000] "GET / HTTP/1.1" 200 1 "-" "Claude-User/1.0"\n',
        b'1.2.3.4 - - [31/Feb/2026:04:54:30 +0000] "GET / HTTP/1.1" 200 1 "-" "Claude-User/1.0"\n',
        b'1.2.3.4 - - [19/Nov/2026:04:61:30 +0000] "GET / HTTP/1.1" 200 1 "-" "Claude-User/1.0"\n',
        b'1.2.3.4 - - [19/Nov/9926:04:54:30 +0000] "GET / HTTP/1.1" 200 1 "-" "Claude-User/1.0"\n',
        b'1.2.3.4 - - [19/Nov/2026:04:54:30 +0000] "GET /\\x1b[2J HTTP/1.1" 200 1 "-" "\\x1b[2J Claude-User/1.0"\n',
        b'1.2.3.4 - a "b [19/Nov/2026:04:54:30 +0000] "GET / HTTP/1.1" 200 1 "-" "Claude-User/1.0"\n',
        b"\x00\x01\x02\n",
        b"\n",
    ]
    (tmp_path / "access.log").write_bytes(b"".join(line() for _ in range(40)) + b"".join(hostile))
    record = read(tmp_path / "access.log")
    assert record.lines == 49
    assert counts(record) == {"Claude-User": 42}
    assert record.unparsable == 7
    assert "\x1b" not in str(record)


def test_a_long_path_costs_no_more_than_a_short_one(tmp_path: Path) -> None:
    (tmp_path / "access.log").write_bytes(line() + line(path="y" * (LINE_LIMIT - 500)) + line(path="y@" * 50_000))
    record = read(tmp_path / "access.log")
    assert (record.agent_lines, record.unparsable) == (3, 0)
    assert all(len(path.path) <= 200 for path in record.visitors[0].paths)


def test_every_status_counts_whatever_its_class(tmp_path: Path) -> None:
    statuses = [b"000", b"200", b"600", b"999", b"999"]
    (tmp_path / "access.log").write_bytes(b"".join(line().replace(b" 200 ", b" %s " % code) for code in statuses))
    assert read(tmp_path / "access.log").visitors[0].status == {"2xx": 1, "other": 4}


def test_paths_are_masked_and_without_query(tmp_path: Path) -> None:
    paths = ("a?token=1", "unsubscribe/joe@mail.example", "j;jsessionid=ABC")
    (tmp_path / "access.log").write_bytes(b"".join(line(path=path) for path in paths))
    found = {path.path for path in read(tmp_path / "access.log").visitors[0].paths}
    assert found == {"/a", "/unsubscribe/{mail}", "/j"}


def test_pauses_of_over_an_hour_are_listed(tmp_path: Path) -> None:
    later = line().replace(b"19/Nov", b"20/Nov")
    (tmp_path / "access.log").write_bytes(line() * 3 + later * 2)
    record = read(tmp_path / "access.log")
    assert [(gap.first[:13], gap.last[:13]) for gap in record.gaps] == [("2026-11-19T04", "2026-11-20T04")]


def test_a_log_of_rare_lines_is_counted_at_once(tmp_path: Path) -> None:
    """12,000 lines two hours apart made the pauses quadratic."""
    start = datetime(2023, 1, 1, tzinfo=UTC)
    moments = (start + timedelta(hours=2 * number) for number in range(12_000))
    stamps = [moment.strftime("%d/%b/%Y:%H:%M:%S").encode() for moment in moments]
    (tmp_path / "access.log").write_bytes(b"".join(line().replace(b"19/Nov/2026:04:54:30", stamp) for stamp in stamps))
    began = time.process_time()
    record = read(tmp_path / "access.log")
    spent = time.process_time() - began
    assert (record.lines, len(record.gaps)) == (12_000, 100)
    (tmp_path / "dense.log").write_bytes(line() * 12_000)
    began = time.process_time()
    read(tmp_path / "dense.log")
    assert spent < 30 * (time.process_time() - began + 0.01)


@pytest.mark.parametrize(
    ("options", "inside"),
    [({}, "192.0.2.1"), ({"trusted": ("192.0.2.0/24",)}, "198.51.100.8")],
)
def test_forwarded_addresses_count_only_where_a_proxy_is_trusted(
    tmp_path: Path, options: dict[str, object], inside: str
) -> None:
    text = line().replace(b"198.51.100.7", b"192.0.2.1").rstrip() + b' "160.79.104.11, 198.51.100.8"\n'
    (tmp_path / "access.log").write_bytes(text * 20)
    for address, verified in ((inside, 20), ("160.79.104.11", 0)):
        assert read(tmp_path / "access.log", ranges=[address], **options).visitors[0].verified == verified


W3C_LINES = (
    b"#Fields: date time c-ip cs-method cs-uri-stem sc-status cs(User-Agent) X-Forwarded-For X-Real-IP\n"
    b"2026-11-19 04:54:30 192.0.2.1 GET / 200 Claude-User/1.0 160.79.104.11 198.51.100.8\n"
)
JSON_LINE = (
    b'{"ts":"2026-11-19T04:54:30Z","remote_ip":"192.0.2.1","status":200,"request":{"uri":"/","headers":{"User-Agent":'
    b'["Claude-User/1.0"],"X-Forwarded-For":["160.79.104.11"],"X-Real-Ip":["198.51.100.8"]}}}\n'
)


@pytest.mark.parametrize("name", ["X-Real-IP", "$http_x_real_ip", "%{X-Real-IP}i", "cs(X-Real-IP)", "x_real_ip"])
@pytest.mark.parametrize("text", [W3C_LINES, JSON_LINE])
def test_a_trusted_proxy_may_name_the_client_in_any_field(tmp_path: Path, name: str, text: bytes) -> None:
    (tmp_path / "access.log").write_bytes(text)
    proxy, stranger = "192.0.2.0/24", "203.0.113.0/24"
    for trusted, published, verified in (
        (proxy, "198.51.100.8", 1),
        (proxy, "160.79.104.11", 0),
        (stranger, "198.51.100.8", 0),
        (stranger, "192.0.2.1", 1),
    ):
        record = read(tmp_path / "access.log", ranges=[published], trusted=(trusted,), client_field=name)
        assert record.visitors[0].verified == verified


def test_a_field_that_the_log_lacks_is_named(tmp_path: Path) -> None:
    (tmp_path / "access.log").write_bytes(JSON_LINE * 20)
    record = read(tmp_path / "access.log", trusted=("192.0.2.0/24",), client_field="CF-Connecting-IP")
    assert record.verification == "Over 90 % of the agents' lines have no address in the field CF-Connecting-IP."
    for bad in (
        {"client_field": "X-Real-IP"},
        {"trusted": ("1.2.3.4",), "client_field": "X Real"},
        {"trusted": ("x",)},
    ):
        with pytest.raises(BadValue):
            LogOptions(**bad)


@pytest.mark.parametrize(
    ("agent", "token"),
    [
        ("Claude-User/1.0", "Claude-User"),
        ("claude-USER", "Claude-User"),
        ("NotClaude-User/1.0", None),
        ("Claude-Users/1.0", None),
        ("Meta-ExternalFetcher/1.1", "meta-externalfetcher"),
        ("GoogleAgent-Mariner", "Google-Agent"),
        ("Mozilla/5.0 (compatible; ClaudeBot/1.0) GPTBot/1.0", "ClaudeBot"),
        ("Machine Operator", None),
        ("Operator/1.0", "Operator"),
        ("Mozilla/5.0 (Devin; x)", "Devin"),
        ("Mozilla/5.0 (Devin Smith)", None),
        ("Chrome/137.0.0.0 Safari/537.36; Devin/1.0; +https://devin.ai", "Devin"),
        ("curl/8", None),
    ],
)
def test_tokens_are_whole_words(agent: str, token: str | None) -> None:
    client = Names().client(agent.encode())
    assert (client.token if client else None) == token


def test_binary_data_is_not_a_log(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(bytes(range(256)) * 1000)
    with pytest.raises(RecordError, match="known format"):
        read(tmp_path / "x")


@pytest.mark.parametrize("text", [b"", b"#Software: IIS 10.0\n#Version: 1.0\n#Fields: date time c-ip\n"])
def test_a_file_without_requests_has_no_visits(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "access.log").write_bytes(text)
    record = read(tmp_path / "access.log")
    assert (record.lines, record.visitors, record.first) == (0, (), "")
    assert decode_visits(msgspec.json.encode(record)) == record


@pytest.mark.parametrize(
    "before", [b"\xef\xbb\xbf", b"\0" * 300, b"\0" * (3 << 20)], ids=["mark", "zeros", "3 MiB of zeros"]
)
def test_what_stands_before_the_first_line_is_left_out(tmp_path: Path, before: bytes) -> None:
    path = tmp_path / "access.log"
    path.write_bytes(before + line() * 3)
    record = read(path)
    assert (record.lines, record.unparsable, counts(record)) == (3, 0, {"Claude-User": 3})
    iis = tmp_path / "iis.log"
    iis.write_bytes(before + (DATA / "iis.log").read_bytes())
    assert read(iis).lines == read(DATA / "iis.log").lines


def test_a_file_with_several_names_is_read_once(tmp_path: Path) -> None:
    path, link, hard = (tmp_path / name for name in ("access-2026.log", "access.log", "copy.log"))
    path.write_bytes(line() * 3)
    link.symlink_to(path.name)
    hard.hardlink_to(path)
    assert counts(read(tmp_path / "*.log", tmp_path / "." / path.name)) == {"Claude-User": 3}
    assert files_of([str(link), str(path)]) == [str(link)]


CADDY = (
    '{"ts":%s,"request":{"remote_ip":"198.51.100.7","method":"GET","host":"shop.example","uri":"/",'
    '"headers":{"User-Agent":["Claude-User/1.0"]}},"duration":%s,"size":5,"status":200}\n'
)


@pytest.mark.parametrize(
    "ts", ["1795323270.5", '"2026/11/22 04:54:30"', '"2026/11/22 04:54:30.123"', '"2026-11-22T04:54:30Z"']
)
@pytest.mark.parametrize(
    ("duration", "seconds"), [("0.25", 0.25), ('"250ms"', 0.25), ('"1m2.5s"', 62.5), ('"-"', None)]
)
def test_times_as_caddy_may_write_them(tmp_path: Path, ts: str, duration: str, seconds: float | None) -> None:
    path = tmp_path / "access.log"
    path.write_text(CADDY % (ts, duration))
    record = read(path)
    assert record.first.startswith("2026-11-22T04:54:30")
    assert record.visitors[0].median_seconds == seconds


def test_a_key_called_agent_counts_where_no_other_names_the_client(tmp_path: Path) -> None:
    path = tmp_path / "access.log"
    path.write_text('{"time":1795323270,"status":200,"agent":"Claude-User/1.0"}\n' * 3)
    record = read(path)
    assert (counts(record), record.notes) == ({"Claude-User": 3}, ())
    path.write_text('{"agent":"Claude-User/1.0","time":1795323270,"status":200,"user_agent":"GPTBot/1.0"}\n' * 3)
    assert counts(read(path)) == {"GPTBot": 3}


@pytest.mark.parametrize(
    "template",
    [
        '{{"ts":1795323270,"host":"{host}","status":200,"user_agent":"Claude-User/1.0"}}',
        '198.51.100.7 {host} - [22/Nov/2026:04:54:30 +0000] "GET / HTTP/1.1" 200 9 "-" "Claude-User/1.0"',
    ],
    ids=["json", "lighttpd"],
)
def test_lines_of_other_sites_in_the_same_log_are_left_out(tmp_path: Path, template: str) -> None:
    path = tmp_path / "access.log"
    hosts = ("shop.example", "other.example", "www.shop.example")
    path.write_text("".join(template.format(host=host) + "\n" for host in hosts))
    assert counts(read(path)) == {"Claude-User": 3}
    assert counts(read(path, host="shop.example")) == {"Claude-User": 2}


COMBINED = '10.0.0.9 - - [22/Nov/2026:04:54:30 +0000] "GET / HTTP/1.1" 200 9 "-" "Claude-User/1.0" "%s"\n'


def test_what_a_client_forges_in_x_forwarded_for_does_not_hide_what_the_proxy_adds(tmp_path: Path) -> None:
    path = tmp_path / "access.log"
    forged = ("", "unknown, ", "160.79.104.11, ", "a b (c), ", "_hidden, 192.0.2.1:80, ")
    added = ("198.51.100.7", "2001:db8::7", "198.51.100.7:443", "[2001:db8::7]:443", "::ffff:198.51.100.7")
    path.write_text("".join(COMBINED % (left + address) for left in forged for address in added))
    found = read(path, ranges=["198.51.100.0/24", "2001:db8::/64"], trusted=("10.0.0.0/8",)).visitors[0]
    assert (found.verified, found.outside, found.unchecked) == (len(forged) * len(added), 0, 0)


def test_a_field_of_the_client_is_not_taken_for_the_one_of_the_proxy(tmp_path: Path) -> None:
    path = tmp_path / "access.log"
    shown = COMBINED.replace('"%s"', '"%s" "%s"')
    path.write_text(shown % ("de", "192.0.2.1") * 5 + shown % ("198.51.100.7", "192.0.2.1"))
    found = read(path, ranges=["198.51.100.0/24"], trusted=("10.0.0.0/8",)).visitors[0]
    assert (found.verified, found.outside) == (0, 6)


@pytest.mark.parametrize(
    "broken",
    [
        '{"remote_addr":"203.0.113.77","time":"22/Nov/2026',
        '203.0.113.77 - alice [22/Nov/2026:04:54:30 +0000] "GET /?session=c0ffee77 broken',
        "[2001:db8:77::77]:80 broken",
        "user=alice.miller77 broken",
    ],
)
def test_a_line_that_is_quoted_shows_its_shape_alone(broken: str) -> None:
    shown = quote(broken.encode())
    assert len(shown) > 8
    assert not set(shown) & set("bcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ012345678")


@pytest.mark.parametrize("ts", ["1e999", '"inf"', '"nan"', '"-inf"', "1e400", '"' + "9" * 60_000 + '"', "-5", "null"])
def test_a_time_that_is_none_is_a_broken_line(tmp_path: Path, ts: str) -> None:
    path = tmp_path / "access.log"
    path.write_text(CADDY % ("1795323270", 1) * 3 + CADDY % (ts, '"inf"'))
    assert (read(path).lines, read(path).unparsable) == (4, 1)


def test_what_a_visitor_sends_in_a_query_is_not_a_field_of_the_log(tmp_path: Path) -> None:
    path = tmp_path / "access.log"
    path.write_text(
        '{"time":1795323270,"status":200,"user_agent":"Claude-User/1.0","peer":"198.51.100.9",'
        '"query":{"remote_ip":"160.79.104.11","ts":"inf"},"request":{"args":{"remote_ip":"160.79.104.11"}}}\n' * 30
    )
    assert read(path, ranges=["160.79.104.0/23"]).visitors[0].verified == 0


def test_what_is_not_a_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in (str(tmp_path / "pipe"), "/dev/zero"):
        with pytest.raises(ConfigError, match="is not a file"):
            files_of([name])
    if Path("/proc/kmsg").exists():
        assert read("/proc/kmsg").lines == 0


def test_any_number_of_statuses_takes_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "access.log"
    path.write_text("".join(f'{{"time":1795323270,"status":{code},"ua":"Claude-User/1"}}\n' for code in range(30_000)))
    record = read(path)
    assert sum(record.visitors[0].status.values()) == 30_000
    assert len(record.visitors[0].status) == 6


def test_packed_data_that_asks_for_much_memory_is_not_unpacked(tmp_path: Path) -> None:
    hungry = [{"id": lzma.FILTER_LZMA2, "dict_size": 256 << 20}]
    (tmp_path / "access.log.xz").write_bytes(lzma.compress(line() * 10, filters=hungry))
    record = read(tmp_path / "access.log.xz")
    assert record.lines == 0
    assert "access.log.xz" in record.notes[0]
    sound = lzma.compress(line() * 10)
    (tmp_path / "access.log.xz").write_bytes(sound + lzma.compress(line() * 10, filters=hungry))
    record = read(tmp_path / "access.log.xz")
    assert record.lines == 10
    assert "access.log.xz" in record.notes[0]
    (tmp_path / "access.log.xz").write_bytes(sound + bytes(8) + sound)
    record = read(tmp_path / "access.log.xz")
    assert (record.lines, record.notes) == (20, ())


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("/v1.2.3", "/v1.2.3"),
        ("/at/12:30:45", "/at/12:30:45"),
        ("/std::vector", "/std::vector"),
        ("/red-winter-coat-for-men-size-52", "/red-winter-coat-for-men-size-52"),
        ("/reset/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822c", "/reset/{token}"),
        ("/order/123456789012", "/order/{number}"),
        ("/u/550e8400-e29b-41d4-a716-446655440000/x", "/u/{id}/x"),
        ("/m/joe%40mail.example", "/m/{mail}"),
        ("/ip/203.0.113.77", "/ip/{address}"),
        ("/1.2.3.4", "/{address}"),
        ("/who/2001:db8:77::77/x", "/who/{address}/x"),
        ("/%32%30%33.0.113.77/x", "/{address}/x"),
        ("/a/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJqb2UifQ.c2lnbmF0dXJl/x", "/a/{token}/x"),
        ("/m/joe%2540mail.example", "/m/{mail}"),
        ("/ip/203%252e0%252e113%252e77", "/ip/{address}"),
        ("/pay/4111-1111-1111-1111", "/pay/{number}"),
        ("/pay/4111%201111%201111%201111", "/pay/{number}"),
        ("/pay/4111%2B1111%2B1111%2B1111", "/pay/{number}"),
        ("/pay/4111:1111:1111:1111", "/pay/{number}"),
    ],
)
def test_a_path_keeps_no_secret_however_it_is_encoded(path: str, kept: str) -> None:
    assert path_of(path) == kept


def test_what_agents_did_not_find_is_listed(tmp_path: Path) -> None:
    missing = line(path="llms-full.txt").replace(b" 200 ", b" 404 ") * 3
    (tmp_path / "access.log").write_bytes(line() * 5 + missing)
    record = read(tmp_path / "access.log")
    assert [(found.path, found.requests) for found in record.visitors[0].missing_paths] == [("/llms-full.txt", 3)]
    assert "Claude did not find: /llms-full.txt (3)." in list(remarks(record))


COMBINED_LINE = '198.51.100.7 - - [22/Nov/2026:04:54:30 +0000] "GET /a HTTP/1.1" 403 9 "-" "Claude-User/1.0"'
PREFIXES = {
    "rsyslog": ("Nov 22 04:54:30 web1 nginx: ", "syslog"),
    "rsyslog with a process": ("Nov  2 04:54:30 web1 nginx[812]: ", "syslog"),
    "RFC 3164": ("<190>Nov 22 04:54:30 web1 nginx: ", "syslog"),
    "ISO time": ("2026-11-22T04:54:30.123456+01:00 web1 nginx: ", "syslog"),
    "RFC 5424": ('<190>1 2026-11-22T04:54:30Z web1 nginx 812 - [x@1 a="b"] ', "syslog"),
    "RFC 5424 with a mark": ("<190>1 2026-11-22T04:54:30Z web1 nginx 812 - - \ufeff", "syslog"),
    "container runtime": ("2026-11-22T04:54:30.123456789Z stdout F ", "kubernetes"),
    "kubectl": ("[pod/web-6d4b75cb6d-hx2x9/nginx] ", "kubernetes"),
    "kubectl with times": ("[pod/web-6d4b75cb6d-hx2x9/nginx] 2026-11-22T04:54:30.123456789Z ", "kubernetes"),
    "docker -t": ("2026-11-22T04:54:30.123456789Z ", "kubernetes"),
    "compose": ("web-1  | ", "docker"),
    "both": ("[pod/web-6d4b75cb6d-hx2x9/nginx] <190>Nov 22 04:54:30 web1 nginx: ", "syslog in kubernetes"),
}


@pytest.mark.parametrize("name", PREFIXES)
@pytest.mark.parametrize(
    ("text", "form"), [(COMBINED_LINE, "combined"), (CADDY.strip() % (1795323270, 1), "json")], ids=["clf", "json"]
)
def test_what_a_collector_writes_before_a_line_is_no_part_of_it(
    tmp_path: Path, name: str, text: str, form: str
) -> None:
    prefix, collector = PREFIXES[name]
    path = tmp_path / "access.log"
    path.write_text(f"{prefix}{text}\n" * 1500 + "garbage\n")
    record = read(path, ranges=["198.51.100.0/24"])
    assert (counts(record), record.formats) == ({"Claude-User": 1500}, (f"{form} in {collector}",))
    assert (record.unparsable, record.verification, record.visitors[0].verified) == (1, "", 1500)
    assert record.visitors[0].paths[0].path == ("/a" if form == "combined" else "/")


def test_lines_of_dockers_own_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "access.log"
    row = {"log": COMBINED_LINE + "\n", "stream": "stdout", "time": "2026-11-22T04:54:30.1Z"}
    path.write_bytes(msgspec.json.encode(row) + b"\n")
    record = read(path, ranges=["198.51.100.0/24"])
    assert (counts(record), record.formats, record.visitors[0].verified) == (
        {"Claude-User": 1},
        ("combined in docker",),
        1,
    )


@pytest.mark.parametrize("prefix", ["web1: ", "nginx access: ", "22.11.2026 04:54 "])
def test_an_unknown_prefix_is_refused(tmp_path: Path, prefix: str) -> None:
    """The first words were taken for the address, and the record said that addresses were masked."""
    path = tmp_path / "access.log"
    path.write_text(f"{prefix}{COMBINED_LINE}\n" * 5)
    with pytest.raises(RecordError, match=r"no known format.*--log-format"):
        read(path)


PROXY_MANAGER = (
    '[22/Nov/2026:04:54:30 +0000] - 200 403 - GET https shop.example "/a?b=\\x22" [Client 198.51.100.7] [Length 9] '
    '[Gzip -] [Sent-to 10.0.0.2] "Claude-User/1.0" "-"',
    '[22/Nov/2026:04:54:30 +0000] 403 - GET https shop.example "/a" [Client 198.51.100.7] [Length 9] [Gzip 2.1] '
    '"Claude-User/1.0" "https://shop.example/"',
)
VERCEL = {
    "id": "1", "deploymentId": "dpl_1", "source": "lambda", "host": "shop-1.vercel.app", "timestamp": 1795323270000,
    "requestId": "r1", "statusCode": 403, "path": "/api", "message": "…",
    "proxy": {
        "timestamp": 1795323270000, "method": "GET", "host": "shop.example", "path": "/a?b=1",
        "userAgent": ["Claude-User/1.0"], "statusCode": 403, "clientIp": "198.51.100.7",
    },
}  # fmt: skip
NETLIFY = {
    "account_id": "1", "client_ip": "198.51.100.7", "content_type": "text/html", "country": "DE", "deploy_id": "2",
    "domain": "shop.example", "duration": 250, "log_type": "traffic", "method": "GET", "path": "/a", "referrer": "",
    "request_id": "3", "site_id": "4", "status_code": 403, "timestamp": "2026-11-22T04:54:30.000Z",
    "url": "https://shop.example/a", "user_agent": "Claude-User/1.0",
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "form", "kind"),
    [
        (PROXY_MANAGER[0], "nginx-proxy-manager", "unknown"),
        (PROXY_MANAGER[1], "nginx-proxy-manager", "unknown"),
        (msgspec.json.encode(VERCEL).decode(), "vercel", "edge"),
        (msgspec.json.encode(NETLIFY).decode(), "netlify", "edge"),
    ],
)
def test_logs_that_people_have(tmp_path: Path, text: str, form: str, kind: str) -> None:
    path = tmp_path / "access.log"
    path.write_text(text + "\n")
    record = read(path, ranges=["198.51.100.0/24"], host="shop.example")
    assert (counts(record), record.formats, record.kind) == ({"Claude-User": 1}, (form,), kind)
    found = record.visitors[0]
    assert (found.refused, found.verified, found.paths[0].path, record.first[:19]) == (
        1,
        1,
        "/a",
        "2026-11-22T04:54:30",
    )
    if form == "netlify":
        assert found.median_seconds == 0.25


def test_the_messages_of_one_request_are_one_visit(tmp_path: Path) -> None:
    path = tmp_path / "access.log"
    others = [VERCEL | {"id": str(n), "requestId": f"r{n // 3}", "message": f"step {n}"} for n in range(30)]
    path.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in others))
    assert counts(read(path)) == {"Claude-User": 10}


TEMPLATE = '{client} {time} "{request}" {status} {bytes} "{referer}" "{agent}"'


@pytest.mark.parametrize(
    ("template", "text"),
    [
        (TEMPLATE, '198.51.100.7 2026-11-22T04:54:30Z "GET /a HTTP/1.1" 403 9 "-" "Claude-User/1.0"'),
        (TEMPLATE, '198.51.100.7 1795323270.123 "GET /a HTTP/1.1" 403 9 "-" "Claude-User/1.0" "further" 0.1'),
        (TEMPLATE, '198.51.100.7 22/Nov/2026:04:54:30 +0000 "GET /a HTTP/1.1" 403 - "\\x22" "Claude-User/1.0"'),
        (
            "{time}|{client}|{method}|{path}|{status}|{seconds}|{agent}",
            "2026/11/22 04:54:30|198.51.100.7|GET|/a|403|0.25|Claude-User/1.0",
        ),
        (
            "[{time}] {-} {client}: {status} {path} ua=<{agent}>",
            "[1795323270] x 198.51.100.7: 403 /a ua=<Claude-User/1.0>",
        ),
    ],
)
def test_any_line_is_read_whose_fields_are_named(tmp_path: Path, template: str, text: str) -> None:
    path = tmp_path / "access.log"
    path.write_text((text + "\n") * 1200)
    record = read(path, ranges=["198.51.100.0/24"], template=template)
    found = record.visitors[0]
    assert (found.requests, found.refused, found.verified, found.paths[0].path) == (1200, 1200, 1200, "/a")
    assert (record.unparsable, record.first[:19]) == (0, "2026-11-22T04:54:30")


def test_lines_that_do_not_fit_their_template_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "access.log"
    path.write_text(COMBINED_LINE + "\n")
    with pytest.raises(RecordError, match="no known format"):
        read(path, template=TEMPLATE)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"when": 1795323270, "status": 200, "user_agent": "Claude-User/1.0"}', r"no key for time \(ts, time, .*\)"),
        ('{"time": 1795323270, "code": 200, "ua": "Claude-User/1.0"}', r"no key for status \(status, .*\)"),
        ('[{"time": 1795323270, "status": 200, "ua": "Claude-User/1.0"}]', "one object a line"),
    ],
)
def test_an_unknown_json_log_is_told_what_was_looked_for(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "access.log"
    path.write_text(text + "\n")
    with pytest.raises(RecordError, match=words):
        read(path)


def test_figures_by_week_name_what_was_not_found_for_the_first_time(tmp_path: Path) -> None:
    path = tmp_path / "access.log"
    rows = [
        (19, 200, "a"),
        (19, 404, "x"),
        (22, 403, "a"),
        (23, 404, "x"),
        (29, 404, "y"),
        (29, 404, "z"),
        (16, 404, "z"),
    ]
    path.write_bytes(
        b"".join(
            line(path=name).replace(b"19/Nov", b"%02d/Nov" % day).replace(b" 200 ", b" %d " % code)
            for day, code, name in rows
        )
    )
    weeks = read(path).visitors[0].weeks
    assert [(week.monday, week.requests, week.refused, week.missing_paths) for week in weeks] == [
        ("2026-11-16", 4, 1, ("/x", "/z")),
        ("2026-11-23", 3, 0, ("/y",)),
    ]
    assert all(datetime.fromisoformat(week.monday).weekday() == 0 for week in weeks)

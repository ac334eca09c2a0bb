"""Content codings: right whatever the pieces, bounded whatever the bytes."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib

import brotli
import pytest

try:
    from compression import zstd
except ImportError:
    from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from aui_tui.scan.decode import DecodeError, decode, decoders

PACKERS = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
    "identity": bytes,
}


def raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(body) + packer.flush()


def unpack(header: str, packed: bytes, room: int = 1 << 20, step: int = 1 << 20) -> tuple[bytes, bool]:
    chain = decoders(header)
    assert chain is not None
    out = b""
    for start in range(0, len(packed), step):
        out += decode(chain, packed[start : start + step], room - len(out))
    return out, all(decoder.whole for decoder in chain)


codings = st.lists(st.sampled_from(sorted(PACKERS)), max_size=2)


@given(st.binary(max_size=3000), codings, st.integers(1, 400))
def test_any_two_codings_in_any_pieces_give_the_body_back(body: bytes, names: list[str], step: int) -> None:
    packed = body
    for name in names:
        packed = PACKERS[name](packed)
    assert unpack(", ".join(names), packed, step=step) == (body, True)


@given(st.binary(max_size=3000), st.integers(1, 400))
def test_deflate_without_its_wrapper(body: bytes, step: int) -> None:
    assert unpack("deflate", raw_deflate(body), step=step) == (body, True)


@pytest.mark.parametrize("name", ["gzip", "zstd"])
@given(st.lists(st.binary(max_size=500), min_size=1, max_size=4), st.integers(1, 200))
def test_members_follow_one_another(name: str, parts: list[bytes], step: int) -> None:
    packed = b"".join(PACKERS[name](part) for part in parts)
    assert unpack(name, packed, step=step) == (b"".join(parts), True)


def test_a_zstd_window_over_8_mib_is_refused() -> None:
    options = {zstd.CompressionParameter.window_log: 24, zstd.CompressionParameter.content_size_flag: 0}
    packer = zstd.ZstdCompressor(options=options)
    packed = packer.compress(b"\0" * 100) + packer.flush()
    with pytest.raises(DecodeError):
        unpack("zstd", packed)


def test_bytes_after_the_last_member_are_ignored() -> None:
    assert unpack("gzip", gzip.compress(b"body") + b"\0\0trailing") == (b"body", True)


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
def test_a_cut_body_gives_what_came_and_is_not_whole(name: str) -> None:
    body = bytes(range(256)) * 40
    packed = PACKERS[name](body)
    out, whole = unpack(name, packed[:-8])
    assert body.startswith(out)
    assert not whole


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
def test_bytes_of_another_kind_are_refused(name: str) -> None:
    with pytest.raises(DecodeError):
        unpack(name, b"<!doctype html><title>not packed at all</title>" * 10)


@pytest.mark.parametrize("header", ["zstandard", "compress", "gzip;q=1", "br, x"])
def test_where_a_coding_is_unknown_nothing_is_decoded(header: str) -> None:
    assert decoders(header) == []


def test_deep_codings_are_refused() -> None:
    assert decoders("gzip, gzip, gzip") is None


def test_no_coding_is_the_identity() -> None:
    assert unpack("", b"body") == (b"body", True)
    assert unpack(" , ", b"body", room=2)[0] == b"bo"


@pytest.mark.parametrize("header", ["gzip", "deflate", "br", "zstd", "gzip, gzip", "gzip, br", "zstd, zstd"])
def test_a_bomb_takes_no_more_memory_than_its_room(header: str) -> None:
    packed = b"\0" * (32 << 20)
    for name in header.split(", "):
        packed = brotli.compress(packed, quality=3) if name == "br" else PACKERS[name](packed)
    tracemalloc.start()
    out, _ = unpack(header, packed, room=1 << 20)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(out) == 1 << 20
    assert peak < 8 << 20

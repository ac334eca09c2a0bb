"""Lists of hosts, good and bad."""

from __future__ import annotations

import io
import itertools
import random
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import Buffer

from aui_tui.errors import ConfigError
from aui_tui.model.starter import starter
from aui_tui.scan.target import parse
from aui_tui.service.crawl import listing
from aui_tui.service.crawl.listing import MAX_LINE, BadRow, ListedHost, lines, read, starter_rows
from aui_tui.text import clean

target = partial(parse, allow_private=False)


def rows(data: bytes) -> list[ListedHost | BadRow]:
    return list(read(io.BytesIO(data), target))


def good(data: bytes) -> list[tuple[int, str, str, str]]:
    return [(row.line, row.site, row.name, row.category) for row in rows(data) if isinstance(row, ListedHost)]


def bad(data: bytes) -> list[tuple[int, str]]:
    return [(row.line, row.reason) for row in rows(data) if isinstance(row, BadRow)]


def test_hosts_names_and_categories() -> None:
    data = b'a.com\nb.com,"Bee, Inc.",retail\r\n\r\n# a remark\nhttps://C.com/path?q=1,,TECH\rd.com,D\n'
    assert good(data) == [
        (1, "a.com", "", ""),
        (2, "b.com", "Bee, Inc.", "Retail"),
        (5, "c.com", "", "Tech"),
        (6, "d.com", "D", ""),
    ]
    assert bad(data) == []


def test_header_names_the_columns_in_any_order_and_number() -> None:
    data = b"\xef\xbb\xbfRank,Category,Domain,Extra\n1,Travel,a.com,x\n2,,b.com\n3\n"
    assert good(data) == [(2, "a.com", "", "Travel"), (3, "b.com", "", "")]
    assert [line for line, _ in bad(data)] == [4]


def test_rank_in_front_is_passed_over() -> None:
    assert good(b"1,google.com\n2,youtube.com,YouTube\n") == [
        (1, "google.com", "", ""),
        (2, "youtube.com", "YouTube", ""),
    ]


BAD = [
    (b"a.com\nb.com\nA.com.\n", 3, "The same host as in line 1."),
    (b"a.com\nhttps://a.com/x\n", 2, "The same host as in line 1."),
    (b"a.com,A,Retail,more\n", 1, "The row has 4 columns"),
    (b'a.com,"A\n', 1, "quotation mark"),
    (b"ftp://a.com\n", 1, "only http and https"),
    (b"127.0.0.1\n", 1, "outside the public Internet"),
    (b"a b.com\n", 1, "a space"),
    (b"\xff\xfe\x00\n", 1, "not UTF-8"),
    (b"a\x00b.com\n", 1, "control"),
    (b",Name,Retail\n", 1, "No host was given"),
    (b"x" * 10_000_000, 1, "longer than 8,192 bytes"),
]


@pytest.mark.parametrize(("data", "line", "words"), BAD, ids=[words for *_, words in BAD])
def test_bad_row_is_named_by_its_line_and_the_rest_read(data: bytes, line: int, words: str) -> None:
    data = data if data.endswith(b"\n") else data + b"\n"
    data += b"z.com\n"
    [(found, reason)] = bad(data)
    assert found == line
    assert words in reason
    assert good(data)[-1][1] == "z.com"


class Noise(io.RawIOBase):
    """Bytes at random without end, the same each time: one list in twenty begins with what is a host by chance."""

    def __init__(self) -> None:
        self._random = random.Random(1)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        view = memoryview(buffer)
        view[:] = self._random.randbytes(len(view))
        return len(view)


@pytest.mark.parametrize(
    ("endless", "words"),
    [
        (partial(Path("/dev/zero").open, "rb"), "larger than 1 MiB; split it"),
        (lambda: io.BufferedReader(Noise()), "This is no list of hosts"),
    ],
)
def test_an_endless_list_is_refused_in_one_sentence(
    endless: Callable[[], BinaryIO], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "MAX_LIST", 1 << 20)
    with (
        endless() as file,
        pytest.raises(ConfigError, match=words),
    ):
        list(read(file, target))


def test_no_bad_row_repeats_a_password() -> None:
    (row,) = rows(b"http://me:s3cret@x.com/,Shop,Retail\n")
    assert isinstance(row, BadRow)
    assert "cret" not in row.text + row.reason


@pytest.mark.parametrize("data", [bytes(range(256)) * 200, b"\xff\xd8\xff\0", b"SQLite format 3\0", b"a b\n" * 20])
def test_what_is_no_list_is_refused_in_one_sentence(data: bytes) -> None:
    with pytest.raises(ConfigError, match=r"^This is no list of hosts; line 1: .+\. A list has lines, or CSV of host"):
        rows(data)


def test_hosts_that_may_not_be_scanned_are_a_list_all_the_same() -> None:
    found = rows(b"".join(b"10.0.0.%d\n" % number for number in range(40)))
    assert len(found) == 40
    assert all(row.text == clean(row.text) for row in found if isinstance(row, BadRow))


def test_a_row_with_a_category_that_there_is_none_of_is_scanned_without_one() -> None:
    (row,) = rows(b"a.com,,Shoes\n")
    assert isinstance(row, ListedHost)
    assert (row.site, row.category, row.unknown) == ("a.com", "", "Shoes")


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xef\xbb\xbf", b"host,name,category\n", b"# nothing\n"])
def test_a_list_without_a_host_is_empty(data: bytes) -> None:
    assert rows(data) == []


def test_starter_list_reads_like_any_other() -> None:
    found = list(starter_rows())
    assert len(found) == len(starter())
    assert all(isinstance(row, ListedHost) and row.category for row in found)


def cut(data: bytes, places: Sequence[int]) -> list[bytes]:
    """Return ``data`` cut at ``places``."""
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(edges)]


class Pieces(io.RawIOBase):
    """A file whose bytes arrive in ``pieces``."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self._pieces = [piece for piece in pieces if piece]

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        if not self._pieces:
            return 0
        room = memoryview(buffer)
        piece = self._pieces.pop(0)
        taken, rest = piece[: len(room)], piece[len(room) :]
        room[: len(taken)] = taken
        if rest:
            self._pieces.insert(0, rest)
        return len(taken)


PIECES = st.lists(
    st.sampled_from([b"a", b"\n", b"\r", b"\r\n", b"\xef\xbb\xbf", b"x" * (MAX_LINE - 1), b"yy", b"z" * MAX_LINE])
)


@given(PIECES, st.lists(st.integers(min_value=0, max_value=100_000), max_size=6))
def test_lines_are_the_same_however_the_bytes_arrive(pieces: list[bytes], places: list[int]) -> None:
    data = b"".join(pieces)
    text = data.removeprefix(b"\xef\xbb\xbf").decode()
    found = re.split("\r\n|\r|\n", text)
    expected = [line if len(line) <= MAX_LINE else None for line in (found if found[-1] else found[:-1])]
    assert list(lines(io.BufferedReader(Pieces(cut(data, places))))) == expected

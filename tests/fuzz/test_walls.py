"""Headers and bodies under random input: walls, terms and edge names never fail and stay within their words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aui_tui.scan import walls

NAMES = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        ["Server", "server", "Via", "CF-Ray", "cf-mitigated", "X-Iinfo", "x-served-by", "Content-Type", "X-Amz-Cf-Id"]
    ),
)
VALUES = st.one_of(
    st.text(max_size=30), st.sampled_from(["cloudflare", "nginx/1.2", "challenge", "a\x1b[2Jb", "1.1 varnish"])
)
HEADERS = st.dictionaries(NAMES, VALUES, max_size=8)
WORDS = st.sampled_from(
    [
        words
        for signal in walls.table().signal
        for words in (*signal.code, *signal.text, f"<title>{signal.title}</title>")
    ]
    + ["Ray ID: ", "<b>", "x " * 120]
)
BODIES = st.one_of(
    st.binary(max_size=200),
    st.lists(st.one_of(WORDS, st.text(max_size=20)), max_size=6).map(lambda w: "".join(w).encode("utf-8", "replace")),
)
STATUSES = st.sampled_from([0, 200, 202, 301, 401, 402, 403, 404, 429, 500, 503, 999])


@pytest.mark.ci
@given(STATUSES, HEADERS, BODIES, st.text(max_size=30))
def test_any_answer_is_judged(status: int, headers: dict[str, str], body: bytes, url: str) -> None:
    found = walls.recognise(status, headers, body, url)
    assert walls.challenged(status, headers, body) in (True, False)
    if found is not None:
        assert found.tier in ("A", "B")
        assert not walls.terms(status, headers)
        assert len(found.reference) <= 64
        assert all(char.isascii() and (char.isalnum() or char in " ._:-") for char in found.reference)


@given(HEADERS)
def test_any_headers_have_edge_names(headers: dict[str, str]) -> None:
    names = walls.edge(headers).split(" ") if walls.edge(headers) else []
    assert len(names) == len(set(names))
    assert set(names) <= {known.name for known in walls.table().edge}
    assert walls.edge({name.upper(): value for name, value in headers.items()}) is not None


@given(STATUSES, HEADERS, BODIES)
def test_a_longer_ordinary_page_is_never_more_of_a_wall(status: int, headers: dict[str, str], body: bytes) -> None:
    """Readable text can only take a verdict away, and only where the status does not refuse."""
    before = walls.recognise(200, headers, body)
    after = walls.recognise(200, headers, body + b"<p>" + b"Ordinary words. " * 40)
    assert after is None or before is not None
    if before is not None and before.tier == "A":
        assert after is not None

"""Block pages under random headers and bodies."""

from __future__ import annotations

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


@given(HEADERS, BODIES)
def test_a_longer_ordinary_page_is_never_more_of_a_wall(headers: dict[str, str], body: bytes) -> None:
    """Readable text can only take a verdict away, and never one of tier A."""
    before = walls.recognise(200, headers, body)
    after = walls.recognise(200, headers, body + b"<p>" + b"Ordinary words. " * 40)
    assert after is None or before is not None
    if before is not None and before.tier == "A":
        assert after is not None

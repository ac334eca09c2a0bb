"""Outlines of pages, and the reasons of verdicts: pure parts of the tasks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aui_tui.tasks.outline import parse
from aui_tui.tasks.visit import ended, reasons

SNAPSHOT = r"""- generic [active] [ref=e1]:
  - banner [ref=e2]:
    - search [ref=e4]:
      - searchbox "Search the shop" [ref=e5]: lantern
  - main [ref=e10]:
    - heading [level=1] [ref=e11]:
      - link "Rooms" [ref=e12]:
        - /url: "#rooms"
    - list [ref=e14]:
      - 'listitem "a: b" [ref=e15]':
        - link "Pier flat" [ref=e16] [cursor=pointer]:
          - /url: /pier
        - text: 49.00 €
    - button "Say \"hi\"" [disabled] [ref=e17]
    - iframe [ref=e18]:
      - textbox "Inner" [ref=f1e2]
"""


def test_an_outline_is_read_with_names_addresses_groups_and_states() -> None:
    page = parse(SNAPSHOT, "https://a.example/shop/", "Shop")
    by_ref = {node.ref: node for node in page.nodes if node.ref}
    assert by_ref["e5"].name == "Search the shop"
    assert by_ref["e5"].path == ("generic", "banner", "search")
    assert by_ref["e11"].name == "Rooms"
    assert by_ref["e12"].url == "https://a.example/shop/#rooms"
    assert by_ref["e16"].url == "https://a.example/pier"
    assert by_ref["e15"].name == "a: b"
    assert page.text(by_ref["e16"].group) == "Pier flat 49.00 €"
    assert (by_ref["e17"].name, by_ref["e17"].disabled) == ('Say "hi"', True)
    assert by_ref["f1e2"].framed
    assert not by_ref["e17"].framed
    assert page.text() == 'Rooms Pier flat 49.00 € Say "hi" Search the shop Inner'


@given(st.text(max_size=400))
def test_no_outline_makes_the_reader_fail(text: str) -> None:
    page = parse(text, "https://a.example/")
    assert "\x1b" not in page.text() + "".join(page.excerpt(None))
    for line in text.splitlines()[:5]:
        parse(f"- {line}\n  - 'button \"{line}", "https://a.example/")


def test_every_reason_is_a_sentence_and_fills_its_places() -> None:
    for key, reason in reasons().items():
        assert not reason.note.endswith("."), key
        assert not reason.change or reason.change.endswith("."), key
    ending = ended("contact-no-link", {"name": "Contact <<name>>"})
    assert ending.note == "“Contact <<name>>” is not a link: an agent cannot follow it."
    assert ending.change
    assert ended("search-post").change == ""

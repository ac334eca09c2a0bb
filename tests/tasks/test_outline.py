"""Outlines and words: pure parts of the tasks."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aui_tui.tasks.outline import parse
from aui_tui.tasks.visit import Ending, reasons
from aui_tui.tasks.vocabulary import ADD, CONTACT, DISMISS, EMAIL, GENERIC, NEVER, PHONE, POSTAL, PRICE, SEARCH, words

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
    assert page.text() == 'Rooms Pier flat 49.00 € Say "hi"'


@given(st.text(max_size=400))
def test_no_outline_makes_the_reader_fail(text: str) -> None:
    page = parse(text, "https://a.example/")
    assert "\x1b" not in page.text() + "".join(page.excerpt(None))
    for line in text.splitlines()[:5]:
        parse(f"- {line}\n  - 'button \"{line}", "https://a.example/")


@pytest.mark.parametrize(
    "text",
    ["49 €", "€49.00", "1.299,00 €", "$1,299.99", "CHF 80.-", "49,– €", "12 000 kr", "R$ 59,90", "¥1200", "1200円"],
)
def test_a_price_is_found_whole(text: str) -> None:
    found = PRICE.search(f"now {text} each")
    assert found is not None
    assert found[0].strip() == text


@pytest.mark.parametrize("text", ["49", "room 12", "2026-11-22", "4 of 5", "kr", "€ and more"])
def test_what_is_no_price(text: str) -> None:
    assert PRICE.search(text) is None


def test_ways_to_get_in_touch() -> None:
    assert EMAIL.search("write to ada [at] quay.example")
    assert PHONE.search("call us at (020) 7946 0000")
    assert PHONE.search("+49 30 1234567")
    assert not PHONE.search("order 2026-11-22 14:00 number 12345")
    assert POSTAL.search("visit us: 12 Harbour Street, Leeds")
    assert POSTAL.search("Find us at 5 QUAY ROAD")
    assert POSTAL.search("350 5th Ave.")
    assert POSTAL.search("Hafenstraße 7, Hamburg")
    assert not POSTAL.search("three rooms by the water")
    assert not POSTAL.search("RFC 9309 must then stay away from the page")


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        (SEARCH, "Suche im Shop"),
        (SEARCH, "サイト内検索"),
        (CONTACT, "Kontakt & Impressum"),
        (CONTACT, "お問い合わせ"),
        (ADD, "In den Warenkorb"),
        (ADD, "Add to basket"),
        (NEVER, "Log out"),
        (DISMISS[0], "Alle ablehnen"),
        (DISMISS[0], "Continuer sans accepter"),
        (DISMISS[2], "Tout accepter"),
        (GENERIC, "Read more"),
    ],
)
def test_names_in_many_languages(pattern: re.Pattern[str], name: str) -> None:
    assert pattern.search(name)


def test_words_fold_accents_and_pair_letters() -> None:
    assert words("Über die Café-Räume") == {"uber", "cafe", "raume"}
    assert words("東京の部屋") & words("部屋を探す") == {"部屋"}
    assert words("The and of") == set()


def test_every_reason_is_a_sentence_and_fills_its_places() -> None:
    for key, reason in reasons().items():
        assert not reason.note.endswith("."), key
        assert not reason.change or reason.change.endswith("."), key
    ending = Ending("blocked", "contact-no-link", {"name": "Contact <<name>>"})
    assert ending.note == "“Contact <<name>>” is not a link: an agent cannot follow it."
    assert ending.change
    assert Ending("inconclusive", "search-post").change == ""

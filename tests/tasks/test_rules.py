# ruff: noqa: E501 -- addresses read best on one line
"""What the fence lets out, which addresses act, and what is hidden: rules without a browser."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

import pytest

from aui_tui.model.tasks import Step
from aui_tui.scan.exchanges import redact
from aui_tui.tasks import browser
from aui_tui.tasks.fence import NetworkPhase, carries, is_cacheable, objection
from aui_tui.tasks.proxy import Allowance, Usage
from aui_tui.tasks.vocabulary import acts, opens

ACTING = """/cart/add?id=1 /panier/ajouter?id=0 /panier/supprimer/1 /compte/deconnexion /carrito/eliminar/1 /koszyk/dodaj/0
/pedido/comprar?id=2 /konto/usun?id=1 /korzina/dobavit/2 /заказ/купить?id=3 /カート/追加/0 /注文?id=1 /购物车/删除/3 /shop/addToCart?id=4
/?add-to-cart=5 /account?do=logout /list?cmd=delete&id=2 /mail?unsubscribe=3 /winkelwagen/toevoegen/1 /bestel?product=2 /order?id=1
/deleteItem.php?id=4 /log-out /users/sign_out /produkte/7/in-den-warenkorb /carrello/aggiungi/3 /salas/azul/reservar /termin/buchen/7 /pedir?id=3 /pedir-cita/12
/reservar-sala-azul /carrinho/adicionar?id=1 /konto/löschen
/doku.php?id=start&do=edit /index.php?title=Talk:Main_Page&action=edit&redlink=1 /wiki/bin/edit/Main/Home"""
READING = """/ /items/one /search?q=order /list?sort=order&order=asc /blog/how-to-delete-a-file /about /books/2 /wiki/Special:Search
/news/federal-reserve-keeps-its-course /docs/addons.html /addresses /app/delete.js /product/payload /en/address-book /pedir-cita /es/pedir-cita/ /de/termin-buchen /reservar /prenota
/collections/the-summer-edit /photo-editor /docs/edit-a-page /do-it-yourself"""

ORDERING = """/commande /commandez /fr/commande /bestellungen /de/bestellen /order /order-form /how-to-order.html /bon-de-commande /bestelformulier /注文 /заказ
/formulaire-commande /order-price-list"""
CLOSED = """/order/7 /order?id=1 /order-now /order/confirm /shop/order /commande/valider /commander/lampe /bestellen?lampe=7 /place-order /bestellung-abschicken /buy /kaufen /checkout
/add /delete /unsubscribe /abmelden /logout /order2/3 /re-order/3 /cancel-order /order/cancel /commande-annuler"""


def test_what_a_run_has_used_is_held_against_all_or_a_part_of_what_it_may_use() -> None:
    allowed = Allowance(requests=100, bytes=1000, sent=10)
    assert not Usage(requests=100, bytes=1000, sent=10).exhausts(allowed)
    assert Usage(connections=101).exhausts(allowed)
    assert Usage(bytes=501).exhausts(allowed, 0.5)
    assert not Usage(requests=50, bytes=500, sent=5).exhausts(allowed, 0.5)


def test_addresses_that_act_are_told_from_those_that_read() -> None:
    assert [path for path in ACTING.split() if not acts(f"https://shop.example{path}")] == []
    assert [path for path in READING.split() if acts(f"https://shop.example{path}")] == []


@pytest.mark.parametrize(
    ("fields", "cacheable"),
    [
        ({}, True),
        ({"cache-control": "public, max-age=31536000, immutable"}, True),
        ({"cache-control": "max-age=60", "expires": "0", "vary": "Accept-Encoding, Origin"}, True),
        ({"cache-control": "no-store"}, False),
        ({"cache-control": "private, No-Cache"}, False),
        ({"cache-control": "max-age=0, must-revalidate"}, False),
        ({"expires": "Thu, 01 Jan 1970 00:00:00 GMT"}, False),
        ({"vary": "accept, Cookie"}, False),
        ({"vary": "*"}, False),
    ],
)
def test_an_answer_is_used_again_where_a_cache_may(fields: dict[str, str], cacheable: bool) -> None:
    assert is_cacheable(fields) is cacheable


def test_a_page_to_order_on_may_be_opened_and_is_not_asked_for_by_a_press() -> None:
    """Nothing that names a thing, a number or another act, nor what acts without a thing, is opened."""
    urls = [f"https://shop.example{path}" for path in ORDERING.split()]
    assert [url for url in urls if not opens(url)] == []
    assert [url for url in urls if acts(url) and not objection(NetworkPhase.PRESSED, "GET", url, document=True)] == []
    assert sum(map(acts, urls)) > len(urls) / 2
    closed = [f"https://shop.example{path}" for path in (*ACTING.split(), *CLOSED.split())]
    assert [url for url in closed if opens(url)] == []
    assert [path for path in READING.split() if not opens(f"https://shop.example{path}")] == []


@pytest.mark.parametrize(
    ("phase", "method", "document"), list(product(NetworkPhase, ("GET", "HEAD", "POST", "DELETE"), (True, False)))
)
def test_what_leaves_in_which_phase(phase: NetworkPhase, method: str, document: bool) -> None:
    leaves = objection(phase, method, "https://shop.example/items", document=document) == ""
    safe = method in ("GET", "HEAD")
    if phase is NetworkPhase.ACTING:
        assert leaves
    elif document and phase is not NetworkPhase.SHUT:
        assert leaves == (method == "GET")
    else:
        assert leaves == (phase is NetworkPhase.READING or (phase is NetworkPhase.PRESSED and safe))


def test_a_search_may_send_its_word_and_nothing_that_acts() -> None:
    def search(url: str) -> str:
        return objection(NetworkPhase.PRESSED, "POST", url, document=False, query=True)

    assert search("https://shop.example/graphql") == ""
    assert search("https://shop.example/cart/add") == "acts"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b'{"query":"Laterne"}', True),
        (b"q=caf%C3%A9+noir", True),
        (b'{"q":"caf\\u00e9 noir"}', True),
        (b"newsletter=1", False),
        (None, False),
    ],
)
def test_a_body_carries_the_word(body: bytes | None, found: bool) -> None:
    assert carries(body, "https://shop.example/graphql", "Laterne" if body and b"L" in body else "Café noir") is found


def test_secrets_are_hidden_however_they_are_written() -> None:
    step = Step(
        verb="read", note="key SESAME-open/1 and sesame-open%2F1", name="a sesame-open/1", outline=("sesame-open/1",)
    )
    assert "esame" not in repr(redact(step, ("sesame-open/1",))).casefold()
    assert redact(Step(verb="done", note="done"), ("done",)).verb == "done"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="another user's folder takes root to make")
def test_a_profile_folder_that_another_user_laid_out_removes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    precious, theirs = tmp_path / "precious", tmp_path / f"{browser.PROFILES}x"
    precious.touch()
    theirs.mkdir()
    (theirs / browser.SIGN).write_text("99999999")
    (theirs / "SingletonSocket").symlink_to(precious)
    os.chown(theirs, 65534, 65534)
    browser.sweep()
    assert precious.exists()
    assert theirs.exists()


def test_what_a_killed_browser_left_is_removed_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    dead = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    ours, theirs = tmp_path / f"{browser.PROFILES}a", tmp_path / f"{browser.PROFILES}b"
    socket = tmp_path / "socket-folder"
    for folder in (ours, theirs, socket):
        folder.mkdir()
    (ours / browser.SIGN).write_bytes(dead.stdout.strip())
    (ours / "SingletonSocket").symlink_to(socket / "SingletonSocket")
    (socket / "SingletonSocket").touch()
    running = tmp_path / f"{browser.PROFILES}c"
    running.mkdir()
    code = "import time; print(flush=True); time.sleep(60)"
    words = [sys.executable, "-c", code, f"--user-data-dir={running}"]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline()  # from then on the system tells its command line
        (running / browser.SIGN).write_text(str(process.pid))
        browser.sweep()
        process.kill()
    assert sorted(one.name for one in tmp_path.iterdir()) == [theirs.name, running.name]

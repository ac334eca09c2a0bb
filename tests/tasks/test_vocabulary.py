"""Names, addresses and numbers are known in many languages, and other text is not taken for them."""

from __future__ import annotations

import re

import pytest

from aui_tui.tasks.vocabulary import (
    ADD,
    BARE_NUMBER,
    BOOK,
    CONTACT,
    DISMISS,
    EMAIL,
    GENERIC,
    HOLDS,
    INVITE,
    NEVER,
    PHONE,
    POSTAL,
    PRICE,
    SEARCH,
    TAKEN,
    UNREAD_PRICE,
    bare_number,
    gets,
    is_tool,
    undrawn,
    unrolled,
    words,
)

OTHERS = """
    ISBN 978-3-16-148410-0, order 2024-11-22-0001; RFC 9309 must then stay away
    Meet us at the mill.; On 12 May 2027 at 14 o'clock; Look at rooms. Dot your i.
    Chapter 12 the long road to the sea; order 2026-11-22 14:00 number 12345; three rooms by the water
    © 2026 Harbour Street
"""

PLACES = """
    12 Mill Lane, Springfield; 350 Fifth Avenue; Hafenstraße 12; Am Markt 1, 28195 Bremen
    12, rue du Moulin, Rennes; Calle Mayor 5; Via Roma 10; Rua Augusta, 1500; Molenstraat 5
    12 Harbour Street, Leeds; 5 QUAY ROAD; 350 5th Ave.; Hafenstraße 7, Hamburg
    Storgatan 12; ul. Młyńska 7; ул. Ленина, д. 5; 東京都港区芝公園4丁目2-8; 北京市朝阳区建国路88号; P.O. Box 123
"""

PRICES = """
    49.00 €; € 49; EUR 49; $1,299.99; US$ 12; CHF 12.–; 1.234,56 €; 1 249 kr; kr 249,-; 249:-; 12,50 zł; ¥1,200; 1,200円
    ￥1,200; Rs. 499; ₹ 1,499; R$ 19,90; 5 000 ₽; ₩12,000; 12 000 Ft; 499 Kč; 49.00 ر.س; ١٢٫٥٠ ر.س; ฿120; Rp 120.000
    120.000 ₫; 12 лв.; lei 45; 100 TL; ₺100; AED 49; 12 евро; 15 dollars; 99 грн
    CHF 80.-; 49,– €; Rp1.299.000
"""
READ = {"US$ 12": "$ 12", "12 лв.": "12 лв"}
"""What is read of a price, where it is not the whole."""

NO_PRICES = (
    "in 2027; 12 rooms; room 12; Room 5; EU 27; 49; chapter 3:2; 10:30; at 12 km; 2026-11-22; 4 of 5; kr; € and more"
)

ADDS = """
    Add to cart; Add to trolley; In den Warenkorb; Ajouter; Ajouter au panier; Añadir al carrito; Agregar al carrito
    Aggiungi al carrello; Adicionar ao carrinho; In winkelmand; Dodaj do koszyka; Lägg i varukorgen; Læg i kurv
    Legg i handlekurv; Lisää ostoskoriin; Do košíku; Kosárba; Sepete ekle; В корзину; До кошика; カートに入れる
    加入购物车; 장바구니 담기; أضف إلى السلة; הוסף לסל; Thêm vào giỏ; Masukkan keranjang; เพิ่มลงตะกร้า; कार्ट में डालें
    Προσθήκη στο καλάθι; Adaugă în coș; افزودن به سبد; Buy now; Book now; Reserve a table; Order
    Boka; Boka nu; Lägg till; Beställ; Bestill nå; Bestil; Objednat; Rezervovat; Foglalás; Zarezerwuj
    Add to basket; Додати в кошик; In Warenkorb legen; Jetzt buchen; Add Brass lantern to your basket; Hire this kayak
    Aggiungi Salvia dei prati al carrello; Ajouter la lanterne au panier; Lägg lyktan i kundvagnen
    Voeg lantaarn toe aan je winkelmand
"""

REFUSALS = """
    Reject all; I decline; Ich lehne ab; Alle ablehnen; Je refuse; Tout refuser; Odmawiam; Rechazar todo; Rifiuta tutti
    Weigeren; Avvisa alla; Afvis; 拒否する; 拒绝; 거부; Отклонить; Reddet; Odmítnout; رفض الكل
    Continuer sans accepter
"""

CLOSES = """
    Close; Schließen; Später; Fermer; Cerrar; Chiudi; Fechar; Sluiten; Zamknij; Stäng; Luk; Lukk; Sulje; Zavřít; Zavrieť
    Bezárás; Închide; Κλείσιμο
    Закрыть; Закрити; Затвори; Kapat; إغلاق; סגור; بستن; Đóng; Tutup; ปิด; बंद करें; 閉じる; 關閉; 닫기
"""

ACCEPTED = """
    Accept; Akzeptieren; J'accepte; Aceptar; Accetta; Aceitar; Accepteren; Rozumiem; Godkänn
    Godta alle; Tillad alle; Hyväksy
    Přijmout; Elfogadom; Sunt de acord; Συμφωνώ; Согласен; Погоджуюсь; Kabul et; موافق
    Đồng ý; Setuju; ยอมรับ; स्वीकार करें; 同意する; 동의
"""

INVITES = """
    Register with us; Enter the race; Apply now; Jetzt anmelden; Kontaktformular
    Demander un devis; Inscríbete; Preventivo; Inscreva-se
    Offerte aanvragen; Zgłoś się; Ansök; Tilmelding
    Meld deg på; Ilmoittaudu; Přihláška; Jelentkezés; Înscriere; Εγγραφή; Kayıt ol
    Подать заявку; Реєстрація; お申し込み; 报名; 참가 신청; التسجيل; הרשמה; Đăng ký; Daftar; ลงทะเบียน; पंजीकरण करें
"""

GETS = """
    Rent Poppy; Become a patron; Join as a friend; Apply as night baker; Choose Basic; Get this pass; Take it
    Sign me up; Boot ausleihen; Mitglied werden; Basic wählen; Platz für die Rasur sichern; Louer ce canoë
    Je m'inscris; Je choisis Basic; Alquilar esta bici; Hazte amiga; Quiero este; Noleggia la bici
    Diventa socia; Scegli Basic; Alugar prancha; Quero este; Huur deze kano; Word vriend; Kies Basic
    Wypożycz kajak; Zapisz się na kurs; Wybieram Basic; Hyr kanoten; Bli medlem; Tilmeld dig turen
    Vuokraa pyörä; Půjčit loď; Bérlés; Închiriază; Kirala; Арендовать; Записаться; 申し込む; 报名; 신청하기
"""
GETS_OTHERS = """
    Add to wishlist; Add to my favourites; Add to calendar; Add a review; Merkzettel; In den Kalender
    Ajouter aux favoris
    Choose a size; Escolher 10 de junho; Details; Share; Get directions; Hire charges; Newsletter abonnieren
    Select language; Apply filters; Apply coupon; Request information; Subscribe to our newsletter; Show prices
    Zur Karte; 10:30; Join the conversation
"""
TAKES_IT = """
    1 item added to your basket; Wir haben den Tisch reserviert; ajouté au panier; Añadido a la cesta; Prenotato
    Toegevoegd; Dodano do koszyka; Bokad; カートに追加しました; 已加入购物车
"""


BOOKS = "Book now; Reserve; Jetzt buchen; Réserver; Reservar; Prenota ora; Reserveren; Boka; Zarezerwuj; 予約する"

HELD = """
    In your basket: jam; Your case holds jam; In deinem Paket: Käse; Dans votre panier : miel; En tu cesta: miel
    Nel tuo carrello: miele; In je doos: kaas; W koszyku: miód; I din varukorg: ost; В корзине: мёд
"""

KNOWN = """
    Rufen Sie uns an; Ruft uns an; Appelez-nous; Llámenos; Chiamaci; Bel ons; Zadzwoń; Ring oss;
    Contact us; Kontakt; Kontakt & Impressum; Nous contacter; Contáctenos; Contattaci; Fale conosco; Neem contact op
    Связаться с нами; Контакти; お問い合わせ; 联系我们; 聯絡我們; 문의하기; 고객센터; اتصل بنا; تماس با ما
    Bize ulaşın
    İletişim; संपर्क करें; যোগাযোগ; Επικοινωνία; צרו קשר; Hubungi kami; Liên hệ; ติดต่อเรา
    Ota yhteyttä; Elérhetőség; Contactați-ne; Kontaktujte nás; Kontakta oss; Write to us
"""


def listed(names: str) -> list[str]:
    return [name.strip() for name in names.replace("\n", ";").split(";") if name.strip()]


SEARCHES = """
    Suchbegriff; Suchen; Suche im Shop; What are you looking for?; Rechercher; Buscar; 検索; サイト内検索; Ara; Поиск
    Chercher; Cherchez une lampe; Mot cherché; Buscador; Wyszukaj; Znajdź lampę; Caută
    Vyhľadať; Tražilica; Знайти; Търси
"""

WORN = """
    Contact lenses; contactlenzen; Lentilles de contact; Kontaktlinsen; Kontaktlinser; Soczewki kontaktowe
    Lentes de contacto; Lenti a contatto; Контактные линзы; Contactless payment
"""
"""What is worn or felt on contact."""
MAILS = "mill@mill.example; mill [at] mill.example; mill(at)mill(dot)example; mill at mill dot example"
PHONES = "call us at (020) 7946 0000; +49 30 1234567"

SAID = {
    "contact": (CONTACT, KNOWN, "Contract law; Recall of kettles; Rooms by the water; Call for papers; " + WORN),
    "add": (
        ADD,
        ADDS,
        "Additional text; Bookmark; Ordering guide; Renting out; Ask us; Voeg opmerking toe; Add a note to the page",
    ),
    "book": (BOOK, BOOKS, "Bookmark; Add to cart; In den Warenkorb; Buy now; Ordering guide"),
    "holds": (HOLDS, HELD, "In your area; In case of rain; Your basket is empty; Im Laden; Dans votre région"),
    "taken": (TAKEN, TAKES_IT, "Address; Booking guide; Thank you for asking; In stock"),
    "refuse": (DISMISS[0], REFUSALS + "Kabul etmiyorum; 同意しない; 不同意", "Accept all"),
    "close": (DISMISS[1], CLOSES, "Disclosure; Enclosed; Plate; Lucky"),
    "accept": (DISMISS[2], ACCEPTED, "Unacceptable; अस्वीकार; Salling; Termine"),
    "invite": (INVITE, INVITES, "Entertainment; Performance; Platform; Joints; Formation; Reformed"),
    "search": (SEARCH, SEARCHES, "Such a room; Research; Your e-mail; Chercheurs; Find out more"),
    "place": (POSTAL, PLACES, OTHERS),
    "mail": (EMAIL, MAILS, OTHERS),
    "phone": (PHONE, PHONES, OTHERS),
    "price": (PRICE, PRICES, NO_PRICES),
}
"""A pattern, the texts that it knows in many languages, and texts that it must not take for them."""


@pytest.mark.parametrize(("pattern", "known", "others"), SAID.values(), ids=SAID)
def test_names_are_known_and_others_are_not(pattern: re.Pattern[str], known: str, others: str) -> None:
    assert [name for name in listed(known) if not pattern.search(name)] == []
    assert [name for name in listed(others) if pattern.search(name)] == []


def test_a_number_alone_is_no_date_and_no_count() -> None:
    known = "01632 960118; ☎ 030 / 23125 018; 01 42 68 53 00; (555) 010-4477; 555-010-4477; 02 9876 5432; 612 345 678"
    others = "04.12.-07.12.2025; 04-12-2025 10; (2019) 2020; 104 512 338; 1 234 567 890; 0930-1700; 978-3-16-148410-0"
    assert [number for number in listed(known) if not BARE_NUMBER.fullmatch(number)] == []
    assert [number for number in listed(others) if BARE_NUMBER.fullmatch(number)] == []


def test_a_text_ends_with_a_number_but_not_of_a_register() -> None:
    known = "Ruth Wills 01632 960 241; RuthWills01632 960 241; Werkstatt, 05221 960 311; Emil | 01 42 68 53 00"
    others = """
        VAT 0123 456 789; GB0123 456 789; Lotto 01 07 23 34 45; Fax 01632 960 241; 01632 960 241 jars;
        Konto 0123 456 789; 48.01632 960 241; ISBN 0123 456 789
    """
    assert [text for text in listed(known) if not bare_number(text)] == []
    assert [text for text in listed(others) if bare_number(text)] == []


def test_a_control_beside_a_price_gets_what_that_is_about() -> None:
    assert [name for name in listed(GETS) if not gets(name, "Basic")] == []
    assert [name for name in listed(GETS_OTHERS) if gets(name, "Basic")] == []


def test_the_tools_of_a_wiki_are_told_by_their_addresses() -> None:
    known = """
        http://a.test/index.php?title=Main_Page&action=history; http://a.test/doku.php?id=start&do=backlink
        http://a.test/index.php?title=Main_Page&oldid=2; http://a.test/wiki/Spezial:Letzte_%C3%84nderungen
    """
    others = "http://a.test/special-offers; http://a.test/?page_id=2; http://a.test/?do=book; http://a.test/history"
    assert [url for url in listed(known) if not is_tool(url)] == []
    assert [url for url in listed(others) if is_tool(url)] == []


def test_an_amount_beside_a_currency_is_a_price() -> None:
    for said in listed(PRICES):
        found = PRICE.search(f"Today {said} with a lamp")
        assert found is not None, said
        assert found[0].strip() == READ.get(said, said)


def test_a_button_that_leaves_accepts_or_says_nothing_is_known_by_its_name() -> None:
    assert NEVER.search("Log out")
    assert DISMISS[2].search("Tout accepter")
    assert GENERIC.search("Read more")


def test_a_price_whose_digits_are_no_text_is_no_price() -> None:
    column = "0 1 2 3 4 5 6 7 8 9"
    for drawn in (
        "\ue609,\ue611\ue605\ue60b円",
        "3,\ue611\ue605\ue60b円",
        "¥ \ue609\ue60b",
        f"{column} {column} , {column} {column} €",
        f"{column} 0 {column} 0 kr",
    ):
        text = unrolled(undrawn(f"Price {drawn} today"))
        assert UNREAD_PRICE.search(text), drawn
        assert not PRICE.search(text), drawn
    for plain in (
        "\ue609 49 €",
        "\ue609490 €",
        "\ue001\ue001\ue001 49 €",
        "0,12 €",
        "Step 1 2 3 4: 5 €",
        f"{column} sold, 5 €",
    ):
        text = unrolled(undrawn(plain))
        assert PRICE.search(text), plain
        assert not UNREAD_PRICE.search(text), plain


def test_words_fold_accents_and_pair_letters() -> None:
    assert words("Über die Café-Räume") == {"uber", "cafe", "raume"}
    assert words("東京の部屋") & words("部屋を探す") == {"部屋"}
    assert words("The and of") == set()


@pytest.mark.parametrize(
    ("text", "is_taken"),
    [
        ("Ljunghonung ligger i korgen", True),
        ("Soap with rosemary is in your cart", True),
        ("Hotellet ligger i centrum", False),
        ("Het hotel ligt in het bos", False),
    ],
)
def test_where_a_thing_lies_says_that_it_was_taken_only_of_a_cart(text: str, is_taken: bool) -> None:
    assert bool(TAKEN.search(text)) is is_taken

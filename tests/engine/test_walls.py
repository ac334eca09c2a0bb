"""Block pages, terms and edge names."""

from __future__ import annotations

import pytest

from aui_tui.engine import walls

FULL_PAGE = b"<html><title>Shop</title><body>" + b"<p>Ordinary words for people who read.</p>" * 40 + b"</body></html>"


@pytest.mark.parametrize(
    ("status", "headers", "body", "vendor"),
    [
        (403, {"CF-Mitigated": "challenge"}, b"", "cloudflare"),
        (200, {}, b"<title> Just a\nmoment...</title>", "cloudflare"),
        (202, {"x-amzn-waf-action": "challenge"}, b"", "aws-waf"),
        (403, {"Server": "AkamaiGHost"}, b"<TITLE>Access Denied</TITLE>Reference&#32;&#35;18&#46;abc", "akamai"),
        (429, {}, b"<title>Vercel Security Checkpoint</title>", "vercel"),
        (403, {}, b"<p>Checking your browser" + FULL_PAGE, "cloudflare"),
        (200, {}, b"<p>Checking your browser", "cloudflare"),
        (403, {}, b"<title>Access denied | shop.example used Cloudflare to restrict access</title>", "cloudflare"),
        (200, {}, b"<title>Robot or human?</title>" + FULL_PAGE, "perimeterx"),
        (503, {"X-Iinfo": "1-2-3"}, b"", "imperva"),
        (999, {}, b"Please enable JS and disable any ad blocker" + FULL_PAGE, "datadome"),
    ],
)
def test_recognised(status: int, headers: dict[str, str], body: bytes, vendor: str) -> None:
    found = walls.recognise(status, headers, body)
    assert found is not None
    assert found.vendor == vendor


@pytest.mark.parametrize(
    ("status", "headers", "body"),
    [
        (200, {"server": "cloudflare", "cf-ray": "1", "set-cookie": "__cf_bm=1"}, FULL_PAGE),
        (200, {}, FULL_PAGE + b"<p>Checking your browser"),
        (403, {"server": "cloudflare"}, b"<title>Forbidden</title>"),
        (402, {"crawler-price": "USD 0.01", "server": "cloudflare"}, b"error code: 1020"),
        (503, {"server": "AkamaiGHost"}, b""),
        (200, {"x-iinfo": "1-2-3"}, b"<p>hi"),
        (200, {}, FULL_PAGE.replace(b"<p>", b"<p>Just a moment... captcha, Access Denied, Cloudflare. ")),
        (200, {}, b"<title>Just a moment... please</title>" + FULL_PAGE),
        (404, {"x-iinfo": "1-2-3"}, b"<title>Not found</title>" + FULL_PAGE),
    ],
)
def test_not_recognised(status: int, headers: dict[str, str], body: bytes) -> None:
    assert not walls.challenged(status, headers, body)


def test_reference_is_sanitised() -> None:
    found = walls.recognise(403, {"cf-mitigated": "challenge", "cf-ray": "8f\x1b[2J<b>-FRA"}, b"")
    assert found is not None
    assert found.reference == "8f2Jb-FRA"


def test_edge_names_cdn_first_each_once() -> None:
    headers = {"Server": "nginx/1.25", "Via": "1.1 varnish, 1.1 x.cloudfront.net (CloudFront)", "X-Amz-Cf-Id": "x"}
    assert walls.edge(headers) == "cloudfront varnish nginx"
    assert walls.edge({}) == ""
    assert walls.edge({"Server": "Atsumi", "server-timing": "ak_p; desc=1"}) == "akamai"


@pytest.mark.parametrize(
    ("body", "reference"),
    [
        (b"Sorry, you have been blocked <span>Ray ID: <strong>8f1e2d3c4b5a6978</strong></span>", "8f1e2d3c4b5a6978"),
        (b"<title>Access Denied</title>Reference&#32;&#35;18&#46;c5&#46;173&#46;39\n<P>https&#58;", "18.c5.173.39"),
        (b"Incapsula incident ID: 1012000081-939714985", "1012000081-939714985"),
        (b"Protected by Reblaze", ""),
        (b"Sorry, you have been blocked Ray ID:", ""),
        (b"Sorry, you have been blocked Ray ID: " + b"a" * 500, "a" * 64),
    ],
)
def test_reference(body: bytes, reference: str) -> None:
    found = walls.recognise(403, {}, body)
    assert found is not None
    assert found.reference == reference


def test_the_table_is_whole() -> None:
    table = walls.table()
    assert {signal.tier for signal in table.signal} == {"A", "B"}
    for signal in table.signal:
        assert signal.header or signal.title or signal.in_title or signal.body or signal.url
    assert {reference.vendor for reference in table.reference} <= {signal.vendor for signal in table.signal}
    assert len({known.name for known in table.edge}) == len(table.edge)


def test_terms() -> None:
    assert walls.terms(402, {"Crawler-Price": "USD 0.01"})
    assert not walls.terms(402, {})
    assert not walls.terms(403, {"crawler-price": "USD 0.01"})

"""Block pages, terms and edge names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aui_tui.model.vocabulary import has_edge
from aui_tui.scan import walls

FULL_PAGE = b"<html><title>Shop</title><body>" + b"<p>Ordinary words for people who read.</p>" * 40 + b"</body></html>"


@pytest.mark.parametrize(
    ("status", "headers", "body", "vendor"),
    [
        (403, {"CF-Mitigated": "challenge"}, b"", "cloudflare"),
        (200, {}, b"<title> Just a\nmoment...</title>", "cloudflare"),
        (202, {"x-amzn-waf-action": "challenge"}, b"", "aws-waf"),
        (403, {"Server": "AkamaiGHost"}, b"<TITLE>Access Denied</TITLE>Reference&#32;&#35;18&#46;abc", "akamai"),
        (429, {}, b"<title>Vercel Security Checkpoint</title>", "vercel"),
        (403, {}, b"<p>Checking your browser" + FULL_PAGE, "bot"),
        (200, {}, b"<p>Checking your browser", "bot"),
        (200, {}, b"<script>document.cookie='acw_sc__v2='+x;document.location.reload()</script>", "aliyun"),
        (200, {}, b"<script>document.cookie='a=1';location.reload()</script>", "bot"),
        (200, {}, b"<title>Bot Detection</title><p>Please wait while we check if you are a Human", "bunkerweb"),
        (200, {}, b"<script src=/.well-known/.git.x/git/go-away/cmd/go-away/challenge.mjs></script>", "go-away"),
        (200, {}, b"<title>Client Challenge</title><link href=/_fs-ch-1T1/assets/styles.css>", "fastly"),
        (200, {}, b"<title>Verify</title><script src=https://x.arkoselabs.com/v2/api.js></script>", "arkose"),
        (200, {}, b"<head><script src=/_Incapsula_Resource?SWJIYLWA=5074></script><body></body>", "imperva"),
        (403, {}, b"<title>Access denied | shop.example used Cloudflare to restrict access</title>", "cloudflare"),
        (200, {}, b"<title>Robot or human?</title>" + FULL_PAGE, "perimeterx"),
        (503, {"X-Iinfo": "1-2-3"}, b"", "imperva"),
        (999, {}, b"Please enable JS and disable any ad blocker" + FULL_PAGE, "datadome"),
    ],
)
def test_a_block_page_is_recognised(status: int, headers: dict[str, str], body: bytes, vendor: str) -> None:
    found = walls.recognise(status, headers, body)
    assert found is not None
    assert found.vendor == vendor


@pytest.mark.parametrize(
    ("status", "headers", "body"),
    [
        (200, {"server": "cloudflare", "cf-ray": "1", "set-cookie": "__cf_bm=1"}, FULL_PAGE),
        (200, {}, FULL_PAGE + b"<p>Checking your browser"),
        (200, {}, b"<div id=root></div><script>bmak.sensor_data=1</script>"),
        (200, {}, b"<div id=app></div><script src=/_Incapsula_Resource?SWJIYLWA=5074></script>"),
        (200, {}, b"<p>Sign in<input><script>document.cookie='a=1';location.reload()</script>"),
        (200, {}, b"<button>Join</button><div class=g-recaptcha></div><script src=/recaptcha/api.js></script>"),
        (
            200,
            {},
            b"<p>Welcome<div class=h-captcha data-size=invisible></div><script src=//hcaptcha.com/1/api.js></script>",
        ),
        (403, {"server": "cloudflare"}, b"<title>Forbidden</title>"),
        (402, {"crawler-price": "USD 0.01", "server": "cloudflare"}, b"error code: 1020"),
        (503, {"server": "AkamaiGHost"}, b""),
        (200, {"x-iinfo": "1-2-3"}, b"<p>hi"),
        (200, {}, FULL_PAGE.replace(b"<p>", b"<p>Just a moment... captcha, Access Denied, Cloudflare. ")),
        (200, {}, b"<title>Just a moment... please</title>" + FULL_PAGE),
        (404, {"x-iinfo": "1-2-3"}, b"<title>Not found</title>" + FULL_PAGE),
        (404, {"x-iinfo": "1-2-3"}, b"<h1>Not found</h1>"),
        (404, {"x-kpsdk-ct": "1"}, b""),
        (403, {"x-cdn": "Incapsula"}, b"<h1>Forbidden</h1>"),
    ],
)
def test_an_ordinary_page_is_not_taken_for_a_block_page(status: int, headers: dict[str, str], body: bytes) -> None:
    assert not walls.challenged(status, headers, body)


ARTICLE = (
    b"<html><title>Bot walls</title><body><h1>Bot walls</h1>" + b"<p>Words about walls and what they do.</p>" * 400
)
"""15 KB of an article, to be followed by what it quotes."""
QUOTED = [
    b"<script src=https://ct.captcha-delivery.com/c.js></script>",
    b"<p>Sorry, you have been blocked",
    b"<p>errors.edgesuite.net",
    b"<p>Incapsula incident ID: 1-2",
    b"<script>window._cf_chl_opt={}</script>",
    b"<div id=px-captcha></div><script>_pxAppId='x'</script>",
]
CAPTCHAS = {
    "hcaptcha": b"<script src=https://js.hcaptcha.com/1/api.js></script><div class=h-captcha data-sitekey=x></div>",
    "turnstile": b"<script src='https://challenges.cloudflare.com/turnstile/v0/api.js'></script><i class=cf-turnstile>",
    "recaptcha": b"<script src=//www.google.com/recaptcha/api.js></script><div class=g-recaptcha></div>"
    b"<input type=submit>",
    "arkose": b"<script src=//client-api.arkoselabs.com/v2/K/api.js></script>"
    b"<script>function setupEnforcement(){}</script>",
    "geetest": b"<script src=//static.geetest.com/v4/gt4.js></script><script>initGeetest4({})</script>",
    "tencent": b"<script src=//turing.captcha.qcloud.com/TCaptcha.js></script><script>new TencentCaptcha('1')</script>",
    "aliyun": b"<script src=//o.alicdn.com/captcha-frontend/aliyunCaptcha/AliyunCaptcha.js></script>"
    b"<script>initAliyunCaptcha({})</script>",
}


@pytest.mark.parametrize("quoted", QUOTED)
def test_strings_of_a_body_decide_on_short_pages_and_with_a_refusing_status(quoted: bytes) -> None:
    assert not walls.challenged(200, {}, ARTICLE + quoted)
    assert not walls.challenged(404, {}, ARTICLE + quoted)
    assert walls.challenged(200, {}, quoted)
    assert walls.challenged(200, {}, b"<p>" + b"Words and words. " * 60 + quoted)
    assert walls.challenged(403, {}, ARTICLE + quoted)


@pytest.mark.parametrize(
    "page",
    [
        b"<title>Shop</title><link rel=preconnect href=https://ct.captcha-delivery.com><h1>Shop</h1>",
        b"<meta http-equiv=Content-Security-Policy content='script-src captcha-delivery.com'><h1>Shop</h1>",
        b"<h1>Walls</h1><p>DataDome: <code>captcha-delivery.com</code>, Cloudflare: <code>_cf_chl_opt</code>, "
        b"<code>cf-browser-verification</code>, Anubis: <code>id=&quot;anubis_challenge&quot;</code>",
        b"<title>Pardon Our Interruption: a novel</title><h1>Pardon Our Interruption: a novel</h1>",
        b"<title>How one shop used Cloudflare to restrict access</title><h1>Access</h1>",
        b"<div id=root></div><script src=/_Incapsula_Resource?SWJIYLWA=7></script><script>bmak.sensor_data</script>",
        b"<div id=root></div><script src=https://www.google.com/recaptcha/api.js?render=KEY></script>",
        b"<div id=root></div><script src=https://challenges.cloudflare.com/turnstile/v0/api.js></script>",
        b"<div id=root></div><script src=/cdn-cgi/challenge-platform/scripts/jsd/main.js></script>",
        b"<div id=root></div><script>window.KPSDK={}</script><script src=/a/p.js></script>",
        *(page + b"<form><input name=email></form>" for page in CAPTCHAS.values()),
        *(page + b"<p>" + b"Words and words. " * 20 for page in CAPTCHAS.values()),
    ],
)
def test_ordinary_pages_at_status_200(page: bytes) -> None:
    assert walls.recognise(200, {"content-type": "text/html"}, page) is None


@pytest.mark.parametrize("kind", ["text/markdown; charset=utf-8", "text/plain", "application/json"])
def test_a_file_about_walls_is_not_a_wall(kind: str) -> None:
    text = b"# Walls\n\nSorry, you have been blocked. error code: 1020 captcha-delivery.com\n"
    assert not walls.challenged(200, {"Content-Type": kind}, text)
    assert walls.challenged(403, {"Content-Type": kind}, text)


@pytest.mark.parametrize(
    ("page", "vendor"),
    [
        (b"<div id=challenge-container></div><script src=//x.awswaf.com/x/challenge.js></script>", "aws-waf"),
        (b"<div id='sec-if-cpt-container'></div>", "akamai"),
        (b"<script src=/_sec/cp_challenge/ak-challenge-4-4.js></script>", "akamai"),
        (b'<div id="px-captcha"></div>', "perimeterx"),
        (b"<p>The incident ID is: 1-2", "imperva"),
        (b"<script>window.KPSDK={};</script><script src=/x/ips.js></script>", "kasada"),
        (b"<script>window.rbzns={};winsocks();</script>", "reblaze"),
        (b"<script src=https://validate.perfdrive.com/x></script>", "radware"),
        (b"<script src=/TSPD/08?type=7></script>", "f5"),
        (b"<script>window['bobcmn'] = 1</script>", "f5"),
        (b"<script>var s={},sucuri_cloudproxy_js='';</script>", "sucuri"),
        (b"<script>document.cookie='wsidchk=1'</script>", "imunify360"),
        (b"<script src=/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1></script>", "cloudflare"),
        (b"<form action=/errors/validateCaptcha>", "amazon"),
        *((page, vendor) for vendor, page in CAPTCHAS.items()),
    ],
)
def test_walls_on_bare_pages_at_status_200(page: bytes, vendor: str) -> None:
    found = walls.recognise(200, {}, b"<title>Wait</title>" + page)
    assert found is not None
    assert (found.vendor, found.tier) == (vendor, "B")
    assert walls.recognise(200, {}, ARTICLE + page) is None


@pytest.mark.parametrize("title", ["Radware Bot Manager Captcha", "ShieldSquare Captcha", "Pardon Our Interruption"])
def test_titles_decide_alone(title: str) -> None:
    page = ARTICLE.replace(b"Bot walls</title>", title.encode() + b"</title>")
    assert walls.challenged(200, {}, page)
    assert not walls.challenged(200, {}, page.replace(b"</title>", b" explained</title>"))


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
def test_the_id_to_quote_is_read_from_the_block_page(body: bytes, reference: str) -> None:
    found = walls.recognise(403, {}, body)
    assert found is not None
    assert found.reference == reference


def test_the_table_is_whole() -> None:
    table = walls.table()
    assert {signal.tier for signal in table.signal} == {"A", "B", "C"}
    for signal in table.signal:
        assert signal.header or signal.title or signal.code or signal.text or signal.url
    assert {reference.vendor for reference in table.reference} <= {signal.vendor for signal in table.signal}
    assert len({known.name for known in table.edge}) == len(table.edge)


def test_the_table_names_those_that_answer_before_a_server_first() -> None:
    names = [known.name for known in walls.table().edge]
    edges = [name for name in names if has_edge(name)]
    servers = {"varnish", "amazons3", *names[names.index("nginx") :]}
    assert set(names) == {*edges, *servers}
    assert not servers.intersection(edges)


def test_terms_of_payment_are_read_with_a_402_alone() -> None:
    assert walls.terms(402, {"Crawler-Price": "USD 0.01"})
    assert walls.terms(402, {}, b'{"x402Version": 1, "error": "pay", "accepts": [{"maxAmountRequired": "100"}]}')
    assert walls.terms(402, {"WWW-Authenticate": 'L402 macaroon="x", invoice="y"'})
    assert walls.terms(402, {"www-authenticate": 'Basic realm="x", Payment id="1", method="tempo"'})
    assert not walls.terms(402, {"www-authenticate": 'Basic realm="payment"'})
    assert not walls.terms(402, {}, b"<p>x402Version")
    assert not walls.terms(402, {}, b'{"x402Version": 1}')
    assert not walls.terms(402, {})
    assert not walls.terms(403, {"crawler-price": "USD 0.01"})


CORPUS = json.loads((Path(__file__).parents[1] / "data" / "walls" / "is-antibot.json").read_text(encoding="utf-8"))
"""Block pages and ordinary pages of one site each, as the package is-antibot keeps them (MIT License)."""
SEEN_BY_EVERYBODY = frozenset(("google", "youtube"))
"""A consent page and an app shell: not a wall."""


@pytest.mark.parametrize("entry", CORPUS["pages"], ids=lambda one: f"{one['name']}-{one['blocks']}")
def test_block_pages_of_a_public_detector_are_found_and_ordinary_ones_are_not(entry: dict[str, Any]) -> None:
    found = walls.recognise(entry["status"], dict(entry["headers"]), entry["body"].encode(), entry["url"])
    turned_away = found is not None or entry["status"] >= 400
    assert turned_away is (entry["blocks"] and entry["name"] not in SEEN_BY_EVERYBODY)

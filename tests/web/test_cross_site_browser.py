"""Pages of other sites in a real browser: whatever they do, nothing is scanned."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import pytest

from tests.loopback import QuietHandler, listening
from tests.service.browser import BROWSER, MISSING, Browser, browser
from tests.service.serving import serving
from tests.service.waiting import eventually
from tests.stored_service import StoredService

pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason=MISSING)]

WAYS: Final = ("image", "fetch", "form-get", "form-post", "iframe", "link", "popup", "navigation")
EVIL: Final = "evil.example"
LAN: Final = "index.lan.example"
"""A name that is no loopback name to the browser: over plain HTTP it sends no Sec-Fetch-Site there."""
PAGE: Final = """<!doctype html><meta name=referrer content="{policy}"><title>Evil</title>
<img src="{target}/api/scan?url=image.example">
<iframe name=one></iframe><iframe name=two></iframe><iframe name=three></iframe>
<iframe src="{target}/api/scan?url=iframe.example"></iframe>
<form id=get action="{target}/api/scan" target=one><input name=url value=form-get.example></form>
<form id=post action="{target}/scan" method=post target=two><input name=url value=form-post.example></form>
<a id=link href="{target}/api/scan?url=link.example" target=three>a link</a>
<script>
fetch("{target}/api/scan?url=fetch.example&force=true", {{mode: "no-cors"}}).catch(() => 0);
document.getElementById("get").submit();
document.getElementById("post").submit();
document.getElementById("link").click();
open("{target}/api/scan?url=popup.example");
</script>"""


class Evil:
    """A site whose page does all of WAYS but one to ``target``."""

    def __init__(self) -> None:
        self.body = b""
        evil = self

        class Handler(QuietHandler):
            def do_GET(self) -> None:
                self.reply(200, evil.body)

        self.handler = Handler
        self.origin = ""


@pytest.fixture(scope="module")
def evil() -> Iterator[Evil]:
    made = Evil()
    with listening(made.handler) as server:
        made.origin = f"http://{EVIL}:{server.server_port}"
        yield made


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    names = f"MAP {EVIL} 127.0.0.1,MAP {LAN} 127.0.0.1"
    with browser(f"--host-resolver-rules={names}", "--disable-popup-blocking") as running:
        yield running


class Seen:
    """The requests of an access log that ask for a scan: way and status."""

    def __init__(self, log: pytest.CaptureFixture[str]) -> None:
        self._log = log
        self._statuses: dict[str, int] = {}

    @property
    def statuses(self) -> dict[str, int]:
        for method, target, status in re.findall(r'"(\S+) (\S+)" (\d+) ', self._log.readouterr().err):
            if method == "POST":
                self._statuses["form-post"] = int(status)
            elif "url=" in target:
                self._statuses[target.partition("url=")[2].partition(".")[0]] = int(status)
        return self._statuses


@pytest.fixture
def seen(capsys: pytest.CaptureFixture[str]) -> Seen:
    return Seen(capsys)


def attack(chromium: Browser, evil: Evil, seen: Seen, target: str, policy: str) -> dict[str, int]:
    """Return the status of each of WAYS after the browser has opened the page of ``evil``."""
    evil.body = PAGE.format(target=target, policy=policy).encode()
    chromium.open(evil.origin + "/")
    eventually(lambda: len(seen.statuses) == len(WAYS) - 1)
    chromium.run("document.location = arguments[0]", f"{target}/api/scan?url=navigation.example")
    eventually(lambda: len(seen.statuses) == len(WAYS))
    return seen.statuses


@pytest.mark.parametrize("policy", ["unsafe-url", "no-referrer"])
@pytest.mark.parametrize("name", ["127.0.0.1", LAN])
def test_no_page_of_another_site_makes_a_scan(
    chromium: Browser, evil: Evil, name: str, policy: str, seen: Seen
) -> None:
    service = StoredService()
    with serving(service, base_url=f"http://{LAN}") as running:
        found = attack(chromium, evil, seen, f"http://{name}:{running.port}", policy)
    assert found == dict.fromkeys(WAYS, 403)
    assert service.spent == {}


def test_the_same_page_scans_where_its_site_is_admitted(chromium: Browser, evil: Evil, seen: Seen) -> None:
    service = StoredService()
    with serving(service, allow_origin=(evil.origin,)) as running:
        found = attack(chromium, evil, seen, running.base_url, "unsafe-url")
    assert found == dict.fromkeys(WAYS, 200) | {"form-post": 303}
    assert sum(service.spent.values()) == len(WAYS)


@pytest.mark.parametrize("name", ["127.0.0.1", LAN])
def test_the_form_of_the_own_page_scans(chromium: Browser, name: str, seen: Seen) -> None:
    service = StoredService()
    with serving(service, base_url=f"http://{LAN}") as running:
        chromium.open(f"http://{name}:{running.port}/")
        chromium.run("document.getElementById('url').value = 'form-post.example'; document.forms[0].submit()")
        eventually(lambda: "form-post" in seen.statuses)
    assert seen.statuses == {"form-post": 303}
    assert sum(service.spent.values()) == 1

"""A server that leaves out its intermediate certificate: it is fetched where the certificate says, and only believed
as far as its chain goes."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from aui_tui.checks.scoring import grade_card
from aui_tui.model.observations import Observations
from aui_tui.model.vocabulary import SERVED
from aui_tui.scan.parser_process import ParserProcess
from aui_tui.scan.policy import REQUESTS, ConnectTo
from aui_tui.scan.scan import observe
from tests.faults.authority import DAY, Issued, issue
from tests.faults.lab import check_record, scan
from tests.faults.site import BRIEF, QUICK, Asked, Behaviour, Site, answer

AT: Final = "http://aia.test/issuer.der"


class Authorities:
    """A trusted root, its intermediate, and a root that nobody trusts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root, self.stranger = issue("Root"), issue("Stranger")
        self.between = issue("Between", self.root)
        self.cafile = str(folder / "root.pem")
        Path(self.cafile).write_bytes(self.root.pem)

    def leaf(self, issuer: Issued | None = None, at: str = AT, name: str = "shop.test") -> ssl.SSLContext:
        return issue(name, issuer or self.between, at=at).context(self.folder)


@pytest.fixture(scope="module")
def authorities(tmp_path_factory: pytest.TempPathFactory) -> Authorities:
    return Authorities(tmp_path_factory.mktemp("authorities"))


def serving(body: bytes, status: str = "200 OK", extra: bytes = b"") -> Behaviour:
    """Return what answers every request with ``body``."""

    async def serve(_: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(answer(body, status, "application/pkix-cert", extra))
        await writer.drain()

    return serve


async def endless(_: Asked, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while not writer.is_closing():
        writer.write(bytes(1 << 14))
        await writer.drain()


async def slow(_: Asked, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(60)


async def scan_beside(
    authorities: Authorities, parser: ParserProcess, tls: ssl.SSLContext, aia: Behaviour, *, brief: bool = False
) -> tuple[Observations, Site, Site]:
    """Return what a scan of a site with ``tls`` sees, that site, and the one that has the issuer's certificate."""
    async with Site(host="aia.test", default=aia) as issuer, Site(tls=tls) as site:
        rule = ConnectTo("aia.test", 80, "127.0.0.1", issuer.port)
        limits = replace(BRIEF, connect=1.0) if brief else QUICK
        observed = await scan(site, parser, site.access(limits, cafile=authorities.cafile, connect_to=(rule,)))
    return observed, site, issuer


async def test_a_site_without_its_intermediate_is_scanned_and_told(
    authorities: Authorities, parser: ParserProcess
) -> None:
    tls, aia = authorities.leaf(), serving(authorities.between.der)
    observed, site, issuer = await scan_beside(authorities, parser, tls, aia)
    assert {exchange.outcome for exchange in observed.homepages} == {SERVED}
    assert [asked.line for asked in issuer.asked] == ["GET /issuer.der HTTP/1.1"]
    card = grade_card(observed)
    told = [line for line in card.evidence if "intermediate" in line.text]
    assert [line.t for line in told] == ["warn"]
    assert "shop.test leaves out its intermediate certificate" in told[0].text
    assert card.stance == "Open"
    # how many agents get an answer of their own to robots.txt depends on the time
    assert sum(asked.path != "/robots.txt" for asked in site.asked) == REQUESTS - 1


async def test_a_name_is_checked_as_always(authorities: Authorities, parser: ParserProcess) -> None:
    tls, aia = authorities.leaf(name="other.test"), serving(authorities.between.der)
    observed, site, _ = await scan_beside(authorities, parser, tls, aia)
    assert "Hostname mismatch" in observed.browser.detail
    assert not site.asked
    assert not any("intermediate" in note for note in observed.warnings)


def own(issued: Issued) -> tuple[Issued, Behaviour]:
    """Return a certificate that issued the site's, and what serves it."""
    return issued, serving(issued.der)


Unlucky = Callable[[Authorities], tuple[Issued, Behaviour]]
UNLUCKY: Final[dict[str, Unlucky]] = {
    "endless": lambda known: (known.between, endless),
    "huge": lambda known: (known.between, serving(known.between.der + bytes(1 << 17))),
    "slow": lambda known: (known.between, slow),
    "garbage": lambda known: (known.between, serving(b"<!doctype html><title>Not found</title>")),
    "nothing": lambda known: (known.between, serving(b"")),
    "gone": lambda known: (known.between, serving(known.between.der, "404 Not Found")),
    "elsewhere": lambda known: (known.between, serving(b"", "302 Found", b"Location: http://aia.test/issuer.der\r\n")),
    "not the issuer": lambda known: (known.between, serving(issue("Another", known.root).der)),
    "two at once": lambda known: (known.stranger, serving(known.between.der + known.stranger.der)),
    "expired": lambda known: own(issue("Old", known.root, ends=-DAY)),
    "of an unknown root": lambda known: own(issue("Below", known.stranger)),
    "an unknown root": lambda known: own(known.stranger),
    "an unknown root, spelled otherwise": lambda known: own(issue("Stranger", issuer_name="  sTRANGER ")),
    "no authority": lambda known: (known.between, serving(issue("aia.test", known.root, at=AT).der)),
}
"""Who issued the site's certificate, and what is served where it says that its issuer is."""


@pytest.mark.parametrize("name", UNLUCKY)
async def test_what_is_no_intermediate_of_a_known_root_changes_nothing(
    name: str, authorities: Authorities, parser: ParserProcess
) -> None:
    issuer, aia = UNLUCKY[name](authorities)
    observed, site, asked = await scan_beside(
        authorities, parser, authorities.leaf(issuer), aia, brief=name in ("slow", "endless")
    )
    assert len(asked.asked) == 1
    assert not site.asked
    assert {exchange.detail for exchange in observed.exchanges} == {
        "the certificate is not accepted: unable to get local issuer certificate"
    }
    assert "Send the whole chain" in grade_card(observed).evidence[0].text


ADDRESSES: Final[dict[str, Callable[[int], str]]] = {
    "a private address": lambda port: f"http://127.0.0.1:{port}/issuer.der",
    "the address of a cloud's metadata": lambda port: "http://169.254.169.254/issuer.der",
    "a name of this machine": lambda port: f"http://localhost:{port}/issuer.der",
    "another scheme": lambda port: f"https://aia.test:{port}/issuer.der",
    "a directory": lambda port: "ldap://aia.test/cn=issuer",
    "a log-in": lambda port: f"http://aia.test@127.0.0.1:{port}/issuer.der",
    "nonsense": lambda port: "http://",
}


@pytest.mark.parametrize("name", ADDRESSES)
async def test_no_address_is_dialled_that_a_redirect_could_not_lead_to(
    name: str, authorities: Authorities, parser: ParserProcess
) -> None:
    async with Site(host="aia.test", default=serving(authorities.between.der)) as issuer:
        async with Site(tls=authorities.leaf(at=ADDRESSES[name](issuer.port))) as site:
            access = site.access(cafile=authorities.cafile)
            observed = await observe(access.target(site.url), parser=parser, access=access)
        check_record(observed)
        assert issuer.opened == 0
    assert "unable to get local issuer" in observed.browser.detail
    assert not site.asked

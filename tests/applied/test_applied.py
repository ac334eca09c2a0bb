"""A promised gain comes true: the files of a plan, applied literally on real servers, give the score it names."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from aui_tui.checks.scoring import Labels, grade_card, site_of, what_if
from aui_tui.model.card import ReportCard
from aui_tui.model.methods import DEFAULT_METHOD, METHODS
from aui_tui.model.observations import Observations
from aui_tui.model.vocabulary import FIXES
from aui_tui.report.plan import plan, write_files
from aui_tui.scan.parser_process import ParserProcess
from aui_tui.scan.policy import ScanPolicy
from aui_tui.scan.scan import observe
from tests.applied import sites
from tests.applied.apply import apply
from tests.applied.servers import (
    H2O,
    MODSECURITY,
    Apache,
    ApacheRequire,
    Caddy,
    Folder,
    HAProxy,
    Lighttpd,
    Nginx,
    NginxLocation,
    NginxModSecurity,
    Varnish,
)

CASES = {
    "nginx-list": (Nginx, {"index.html": sites.BARE, "robots.txt": sites.LISTED}),
    "nginx-location-shell": (NginxLocation, {"index.html": sites.SHELL, "robots.txt": sites.OPEN}),
    "nginx-modsecurity": (NginxModSecurity, {"index.html": sites.RICH}),
    "h2o": (H2O, {"index.html": sites.RICH, "robots.txt": sites.LISTED}),
    "lighttpd": (Lighttpd, {"index.html": sites.BARE, "robots.txt": sites.LISTED}),
    "apache-closed": (Apache, {"index.html": sites.RICH, "robots.txt": sites.CLOSED}),
    "apache-require": (ApacheRequire, {"index.html": sites.BARE}),
    "haproxy-named": (HAProxy, {"index.html": sites.RICH, "robots.txt": sites.NAMED}),
    "varnish": (Varnish, {"index.html": sites.SHELL_WITH_MAIN, "robots.txt": sites.LISTED}),
    "caddy": (Caddy, {"index.html": sites.BARE, "robots.txt": sites.CLOSED}),
    "files-brief": (Folder, {"index.html": sites.BRIEF, "robots.txt": sites.LISTED}),
    "files-alone": (Folder, {"index.html": sites.SHELL, "robots.txt": sites.NAMED}),
}


def seen(url: str) -> Observations:
    async def scan() -> Observations:
        async with ParserProcess() as parser:
            access = ScanPolicy(allow_private=True)
            return await observe(access.target(url), access=access, parser=parser)

    return asyncio.run(scan())


def graded(observations: Observations) -> ReportCard:
    return grade_card(observations, labels=Labels(category="Developer"))


@pytest.mark.real_server
@pytest.mark.parametrize("name", CASES)
def test_the_files_of_a_plan_give_the_score_that_it_promises(name: str, tmp_path: Path) -> None:
    kind, files = CASES[name]
    if kind.program and shutil.which(kind.program) is None:
        pytest.skip(f"needs {kind.program}")
    if kind is NginxModSecurity and not MODSECURITY.exists():
        pytest.skip("needs the ModSecurity module of nginx and modsecurity-crs")
    with kind(tmp_path, files) as site:
        before = seen(site.url)
        card = graded(before)
        assert (card.live_served, card.stance) == ((4, card.stance) if not kind.program else (0, "Walled"))
        method = METHODS[DEFAULT_METHOD]
        found = plan(card, score=100, with_claims=True, what_if=lambda fixes: what_if(before, fixes, method))
        assert found.after == (100, "A", "Open")
        words = Labels(category="Developer")
        write_files(found, tmp_path / "fixes", site_of(before, words))
        apply(tmp_path / "fixes", site)
        site.stop()
        site.start()
        after = graded(seen(site.url))
        page = (site.root / "index.html").read_text(encoding="utf-8")
    assert (after.score, after.grade, after.stance) == found.after, [item.text for item in after.evidence]
    assert page.count("<main") == page.count("</main") == 1
    assert page.count("<h1") == 1
    assert after.crawlers_blocked == card.crawlers_blocked
    assert after.recommendations == ()


@pytest.mark.ci
@pytest.mark.parametrize("fix", [fix for fix in FIXES if fix != "wba"])
def test_each_fix_alone_gives_the_score_that_it_promises(fix: str, tmp_path: Path) -> None:
    robots = sites.NAMED if fix in ("robots", "signal") else ""
    pages = {"index.html": sites.SHELL if fix == "ssr" else sites.BARE} | ({"robots.txt": robots} if robots else {})
    with Folder(tmp_path, pages) as site:
        before = seen(site.url)
        card, method = graded(before), METHODS[DEFAULT_METHOD]
        step = next(item for item in card.recommendations if item.k == fix)
        promise = what_if(before, [fix], method)
        only = ReportCard(
            **{name: getattr(card, name) for name in card.__struct_fields__} | {"recommendations": (step,)}
        )
        found = plan(only, score=100, with_claims=True, what_if=lambda fixes: what_if(before, fixes, method))
        assert [item.fix.k for item in found.steps] == [fix]
        write_files(found, tmp_path / "fixes", site_of(before, Labels(name=card.name, category="Developer")))
        apply(tmp_path / "fixes", site)
        after = graded(seen(site.url))
    assert (after.score, after.stance) == (promise.score, promise.stance)
    assert after.score > card.score

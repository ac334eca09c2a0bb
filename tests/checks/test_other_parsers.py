"""What a plan writes, and what remarks say of a file, through the parsers that others use."""

from __future__ import annotations

import shutil
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from msgspec.structs import replace

from aui_tui.checks import BY_FIX, robots_edit
from aui_tui.checks.judge import judge
from aui_tui.checks.robots_lint import remarks
from aui_tui.checks.site import Site
from tests.lighthouse import lighthouse
from tests.scan import situations as site
from tests.service.browser import BROWSER, MISSING

pytestmark = pytest.mark.parsers
BETWEEN = "User-agent: GPTBot\n{line}\nUser-agent: CCBot\nDisallow: /\n"


def written(fix: str) -> str:
    shop = Site(judge(site.plain()), "Lamps & more", "Retail")
    return BY_FIX[fix].advise(shop).code


def test_the_written_llms_txt_keeps_its_summary_and_sections() -> None:
    llms_txt = pytest.importorskip("llms_txt")
    found = llms_txt.parse_llms_file(written("llms"))
    assert found.title == "Lamps & more"
    assert found.summary == "Products, prices and orders at Lamps & more."
    assert [link.url for link in found.sections["Start here"]] == ["https://shop.example/"]


@pytest.mark.skipif(BROWSER is None, reason=MISSING)
@pytest.mark.skipif(shutil.which("npx") is None, reason="needs npx (Debian: apt-get install npm)")
def test_lighthouse_passes_the_written_llms_txt(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<!doctype html><title>Lamps</title><h1>Lamps</h1>")
    (tmp_path / "llms.txt").write_text(written("llms"))
    answer = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    server = ThreadingHTTPServer(("127.0.0.1", 0), answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        found = lighthouse(f"http://127.0.0.1:{server.server_port}/", tmp_path, "--only-audits=llms-txt")
    finally:
        server.shutdown()
        server.server_close()
    assert found["audits"]["llms-txt"]["score"] == 1, found["audits"]["llms-txt"]


@pytest.mark.parametrize(
    ("line", "differs"),
    [
        ("Content-Signal: ai-train=no", True),
        ("Crawl-delay: 5", True),
        ("Content-Usage: train-ai=n", True),
        ("#", False),
    ],
)
def test_a_remark_names_each_line_by_which_protego_reads_other_rules(line: str, differs: bool) -> None:
    protego = pytest.importorskip("protego")
    text = BETWEEN.format(line=line)
    parsed = protego.Protego.parse(text)
    assert parsed.can_fetch("https://shop.example/", "GPTBot") is differs
    assert not parsed.can_fetch("https://shop.example/", "CCBot")
    said = [remark for remark in remarks(text) if "between the names" in remark]
    assert [remark.split(":")[0] for remark in said] == (["line 2"] if differs else [])


def test_protego_reads_the_written_robots_txt_as_we_do() -> None:
    protego = pytest.importorskip("protego")
    text = "User-agent: ChatGPT-User\nUser-agent: GPTBot\nDisallow: /\n"
    own = site.rules({"ChatGPT-User": ("blocked", 3, "Disallow: /")}, text=text)
    seen = replace(site.plain(), robots=own)
    parsed = protego.Protego.parse(robots_edit.corrected(seen, ["robots", "signal"]))
    assert parsed.can_fetch("https://shop.example/", "ChatGPT-User")
    assert not parsed.can_fetch("https://shop.example/", "GPTBot")


def test_extruct_reads_the_written_json_ld_and_none_beside_a_broken_block() -> None:
    extruct = pytest.importorskip("extruct")
    whole = written("jsonld")
    assert len(extruct.extract(whole, syntaxes=["json-ld"])["json-ld"]) == 1
    broken = '<script type="application/ld+json">{broken</script>'
    assert "json-ld" not in extruct.extract(broken + whole, syntaxes=["json-ld"], errors="ignore")

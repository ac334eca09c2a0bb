"""``scan --pages N``: pages of the sitemap and the homepage, by section, and who gets them."""

from __future__ import annotations

from pathlib import Path

import pytest

from aui_tui.scan.page_choice import choose, links, locations, sitemaps
from aui_tui.scan.target import Origin
from tests.cli.runner import here
from tests.loopback import QuietHandler, listening

ORIGIN = Origin("https", "shop.example", 443)
WORDS = "words and words " * 60
HOME = f"<title>Shop</title><main>{WORDS}<a href=/about>About</a><a href='/blog/a'>A</a><a href=/x.pdf>P</a></main>"


class Shop(QuietHandler):
    """Products are closed to agents, everything else is open."""

    def do_GET(self) -> None:
        agent = self.headers["User-Agent"] or ""
        host = self.headers["Host"]
        if self.path == "/robots.txt":
            self.reply(200, f"Sitemap: http://{host}/index.xml\n".encode(), "text/plain")
        elif self.path == "/index.xml":
            body = f"<sitemapindex><sitemap><loc>http://{host}/shop.xml</loc></sitemap></sitemapindex>"
            self.reply(200, body.encode(), "application/xml")
        elif self.path == "/shop.xml":
            paths = [*(f"/products/{n}" for n in range(9)), "/blog/b", "/blog/c"]
            found = "".join(f"<url><loc>http://{host}{path}</loc></url>" for path in paths)
            self.reply(200, f"<urlset>{found}</urlset>".encode(), "application/xml")
        elif self.path.startswith("/products/") and any(name in agent for name in ("ChatGPT", "Claude", "Perplexity")):
            self.reply(403, b"no")
        elif self.path == "/" or self.path.startswith(("/products/", "/blog/", "/about")):
            self.reply(200, HOME.replace("Shop", self.path).encode())
        else:
            self.reply(404, b"none")


@pytest.mark.slow
@pytest.mark.parametrize("by", ["option", "setting"])
def test_a_shop_that_closes_its_products_alone_is_told_section_by_section(tmp_path: Path, by: str) -> None:
    (tmp_path / "settings.toml").write_text("pages = 3\n")
    asked = ("--pages", "3") if by == "option" else ("--config", "settings.toml")
    with listening(Shop) as server:
        site = f"http://127.0.0.1:{server.server_address[1]}"
        done = here(tmp_path, "scan", site, *asked, "--quiet")
    assert done.code == 0, done.err
    said = " ".join(done.out.split())
    assert "/products: 0 of 1 page open to all; /blog: 1 of 1 page open to all; /: 1 of 1 page open to all." in said


def test_pages_are_taken_by_section_the_largest_first() -> None:
    paths = ["/a/1", "/b/1", "/b/2", "/b/3", "/", "/c.png", "/top", "/a/1", "/a/2?q=1"]
    assert choose(paths, 4) == ("/b/1", "/a/1", "/top", "/b/2")
    assert choose(paths, 30) == ("/b/1", "/a/1", "/top", "/b/2", "/a/2?q=1", "/b/3")


def test_only_addresses_of_the_site_count() -> None:
    page = b"<a href=/a>1</a><a href=//evil.example/b>2</a><a href=mailto:x>3</a><a href='https://www.shop.example/c'>4</a>"
    assert list(links(page, ORIGIN)) == ["/a", "/c"]
    assert sitemaps(b"Sitemap: https://evil.example/s.xml\n", ORIGIN) == ["/sitemap.xml"]
    assert sitemaps(b"User-agent: *\nsitemap: https://shop.example/s.xml\n", ORIGIN) == ["/s.xml"]
    assert locations(b"<loc>https://shop.example/a&amp;b</loc><loc>http://[</loc>", ORIGIN) == (["/a&b"], False)


@pytest.mark.parametrize("number", ["31", "-1", "x", ""])
def test_a_number_outside_the_list_is_told_in_one_sentence(tmp_path: Path, number: str) -> None:
    done = here(tmp_path, "scan", "shop.example", "--pages", number)
    assert done.code == 2
    assert "--pages" in done.sentence

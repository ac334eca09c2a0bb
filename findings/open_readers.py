"""Serve pages on loopback, read them with one fetch tool of an open agent, and hold what is seen against its row.

Usage: python open_readers.py TOOL ROW, with the tool installed in this Python. ROW is a line of space-separated words:
user-agent (blanks as _), redirects followed of 12, page with 403, letters of windows-1251 and of utf-8 named in a meta
element alone, letters of a page of 200,000, what it keeps, whether cells run together, whether text/markdown is given,
and robots.txt with 403. Prints the row that was seen; exit code 1 where it differs.
"""

import asyncio
import contextlib
import http.server
import io
import json
import logging
import os
import sys
import tempfile
import threading
import warnings

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

LONG = "".join(f"<p>Word{n} stands here in a sentence of the long page.</p>" for n in range(4200))
PAGE = """<!doctype html><html lang=en><head><meta charset=utf-8><title>Harbour Books</title>
<script type="application/ld+json">{"@context":"https://schema.org","@type":"Product","offers":{"price":"77.31"}}</script>
<style>.away{display:none}</style></head><body><nav><ul><li><a href="/a">Start</a></li></ul></nav>
<main><h1>Harbour Books by the quay</h1>
<p>We sell second-hand books by the quay, and everybody who walks along the harbour is welcome to look through the
shelves for as long as the rain lasts.</p>
<p>The shop has stood here since 1987 and keeps about forty thousand volumes of travel, history, poetry and the sea, most
of them in good condition.</p>
<table><tr><th>Model</th><th>Litres</th><th>Price</th></tr><tr><td>Small</td><td>1.0</td><td>29.50</td></tr>
<tr><td>Large</td><td>2.0</td><td>49.90</td></tr></table>
<p>Orders that reach us before noon leave the house on the same day, and whoever lives in the town may fetch them at the
counter without any charge at all.</p>
<img src="/x.png" alt="AltText of a lamp"><button aria-label="AriaLabel basket">+</button>
<p hidden>HiddenAttr words</p><p style="display:none">InlineNone words</p><p class="away">ClassNone words</p>
<noscript><p>NoscriptText words for those without scripts.</p></noscript></main></body></html>"""
CYRILLIC = (
    "<!doctype html><html lang=ru><head><meta charset=%s><title>Кофейня</title></head><body><main><h1>Кофейня у моря</h1><p>"
    + "Мы варим свежий кофе каждое утро и печём хлеб для всех, кто приходит к нам на набережную города. " * 4
    + "</p></main></body></html>"
)
REFUSED = (
    "<!doctype html><title>Denied</title><main><h1>Denied</h1><p>"
    + "RefusedWords of a shop for people. " * 9
    + "</p></main>"
)
REFRESH = (
    "<!doctype html><meta http-equiv=refresh content='0; url=/'><title>Moved</title><p>RefreshWords: you are being sent to"
    " our new homepage, please wait a moment for it.</p>"
)
MARKDOWN = (
    "# MarkdownTitle\n\nMarkdownWords of a page that is written for agents, with a list of what the shop sells.\n"
)
KEPT = {
    "jsonld": "77.31",
    "aria-label": "AriaLabel",
    "alt": "AltText",
    "noscript": "NoscriptText",
    "hidden": "HiddenAttr",
    "inline": "InlineNone",
    "class": "ClassNone",
}
LOG = []


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers by path."""

    protocol_version = "HTTP/1.1"
    robots = 404

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        LOG.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
        path, status, kind, body, more = self.path, 200, "text/html; charset=utf-8", PAGE, {}
        if path == "/robots.txt":
            status, kind, body = self.robots, "text/plain", ""
        elif path == "/403":
            status, body = 403, REFUSED
        elif path == "/cp1251":
            kind, body = "text/html", (CYRILLIC % "windows-1251").encode("cp1251")
        elif path == "/utf8":
            kind, body = "text/html", CYRILLIC % "utf-8"
        elif path == "/long":
            body = f"<!doctype html><title>Long</title><main><h1>Long</h1>{LONG}</main>"
        elif path == "/refresh":
            body = REFRESH
        elif path == "/md":
            kind, body = "text/markdown; charset=utf-8", MARKDOWN
        elif path.startswith("/hop/"):
            left = int(path[5:])
            status, body, more = 302, "", {"Location": f"/hop/{left - 1}" if left > 1 else "/"}
        data = body if isinstance(body, bytes) else body.encode()
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(data)), **more}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


def serve(robots=404):
    """Serve on a free port and return the address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Pages", (Handler,), {"robots": robots}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


# One function a tool: the text that it gives of a page. Each is called with its defaults; where a tool refuses addresses of
# this machine, its documented setting for them is on.


def mcp_server_fetch(url):
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    async def call():
        server = StdioServerParameters(command=sys.executable, args=["-m", "mcp_server_fetch", "--allow-private-ips"])
        with open(os.devnull, "w") as silent:
            async with stdio_client(server, errlog=silent) as (read, write), ClientSession(read, write) as session:
                await session.initialize()
                return await session.call_tool("fetch", {"url": url})

    found = asyncio.run(call())
    if getattr(found, "isError", False) or getattr(found, "is_error", False):
        raise RuntimeError(found.content[0].text)
    return found.content[0].text


def smolagents(url):
    from smolagents import VisitWebpageTool

    found = VisitWebpageTool()(url)
    if found.startswith("Error fetching"):
        raise RuntimeError(found)
    return found


def markitdown(url):
    from markitdown import MarkItDown

    return MarkItDown().convert(url).text_content


def trafilatura(url):
    from copy import deepcopy

    from trafilatura import extract, fetch_url
    from trafilatura.settings import DEFAULT_CONFIG

    config = deepcopy(DEFAULT_CONFIG)
    config["DEFAULT"]["SSRF_PROTECTION"] = "off"
    page = fetch_url(url, config=config)
    return extract(page) if page else None


def haystack(url):
    from haystack.components.converters import HTMLToDocument
    from haystack.components.fetchers import LinkContentFetcher

    found = HTMLToDocument().run(sources=LinkContentFetcher().run(urls=[url])["streams"])["documents"]
    return found[0].content if found else None


def langchain(url):
    from langchain_community.document_loaders import WebBaseLoader

    return WebBaseLoader(url).load()[0].page_content


def llama_index(url):
    from llama_index.readers.web import SimpleWebPageReader

    return SimpleWebPageReader(html_to_text=True).load_data([url])[0].text


def crewai(url):
    os.environ["CREWAI_TOOLS_ALLOW_UNSAFE_PATHS"] = "true"
    from crewai_tools import ScrapeWebsiteTool

    return ScrapeWebsiteTool(website_url=url).run()


def strands(url):
    os.environ["BYPASS_TOOL_CONSENT"] = os.environ["STRANDS_NON_INTERACTIVE"] = "true"
    from strands_tools import http_request

    with contextlib.redirect_stdout(io.StringIO()):
        found = http_request.http_request({"toolUseId": "1", "input": {"method": "GET", "url": url}})
    if found["status"] != "success":
        raise RuntimeError(str(found["content"]))
    return "\n".join(part["text"] for part in found["content"])


def newspaper(url):
    from newspaper import article

    return article(url).text


def crawl4ai(url):
    from crawl4ai import AsyncWebCrawler
    from crawl4ai.async_crawler_strategy import AsyncHTTPCrawlerStrategy

    async def call():
        async with AsyncWebCrawler(crawler_strategy=AsyncHTTPCrawlerStrategy(), verbose=False) as crawler:
            return await crawler.arun(url)

    with contextlib.redirect_stdout(io.StringIO()):
        found = asyncio.run(call())
    if not found.success:
        raise RuntimeError(found.error_message)
    return str(found.markdown)


def qwen(url):
    from qwen_agent.tools.simple_doc_parser import SimpleDocParser

    found = SimpleDocParser({"path": tempfile.mkdtemp()}).call({"url": url})
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)


def agno(url):
    from agno.tools.website import WebsiteTools

    return "".join(part["content"] for part in json.loads(WebsiteTools().read_url(url)))


def seen(read):
    """Return the row of a tool."""

    def text(url):
        try:
            return read(url) or ""
        except Exception as error:  # a tool may fail in any way
            return error

    base = serve()
    page = text(f"{base}/")
    if not isinstance(page, str):
        raise SystemExit(f"the page was not read: {page!r}")
    sent = next(fields for path, fields in reversed(LOG) if path == "/")
    hops = sum("forty thousand" in str(text(f"{base}/hop/{number}")) for number in range(1, 13))
    refused, markdown, long = text(f"{base}/403"), text(f"{base}/md"), text(f"{base}/long")
    letters = [text(f"{base}/{name}") for name in ("cp1251", "utf8")]
    assert "forty thousand" not in str(text(f"{base}/refresh")), "it follows a refresh"
    closed = text(f"{serve(403)}/")
    return " ".join(
        (
            sent["user-agent"].replace(" ", "_"),
            str(hops),
            "words"
            if "RefusedWords" in str(refused) and isinstance(refused, str)
            else "nothing"
            if refused == ""
            else "error",
            *(
                "error" if not isinstance(one, str) else "right" if "Кофе" in one or "кофе" in one else "wrong"
                for one in letters
            ),
            "cut" if isinstance(long, str) and "Word3000 " not in long else "whole",
            ",".join(name for name, mark in KEPT.items() if mark in page) or "-",
            "together" if "Small1.029.50" in page else "apart",
            "given" if "MarkdownWords" in str(markdown) else "nothing",
            "stops" if not isinstance(closed, str) else "reads",
        )
    )


if __name__ == "__main__":
    row = seen(globals()[sys.argv[1]])
    print(f"{sys.argv[1]}: {row}")
    sys.exit(row != sys.argv[2])

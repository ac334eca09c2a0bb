"""Sites that lack something: their pages and their robots.txt."""

from __future__ import annotations

from typing import Final

PAGE: Final = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"><title>Oak and Thread</title>
{head}
</head>
<body>
{body}
</body>
</html>
"""
TEXT: Final = """<h1>Oak and Thread</h1>
<p>Furniture and linen, made to order in the workshop behind the shop. Every price on this page is final and includes
delivery; orders can be changed until the wood is cut, and returned within thirty days.</p>
<p><a href="/tables.html">Tables</a> <a href="/linen.html">Linen</a></p>"""
BARE: Final = PAGE.format(head="", body=TEXT)
BRIEF: Final = f"<!DOCTYPE html>\n<title>Oak and Thread</title>\n{TEXT}\n"
"""A page that leaves out what HTML allows to leave out."""
RICH: Final = PAGE.format(
    head='<script type="application/ld+json">{"@context": "https://schema.org", "@type": "Store"}</script>',
    body=f'<nav aria-label="Main"><a href="/">Home</a></nav><main>{TEXT}</main>',
)
SHELL: Final = PAGE.format(head='<script type="module" src="/app.js"></script>', body='<div id="root"></div>')
SHELL_WITH_MAIN: Final = PAGE.format(head="", body='<main id="root"></main>\n<script src="/app.js"></script>')
CRAWLERS: Final = ("GPTBot", "CCBot", "ClaudeBot", "Bytespider", "PerplexityBot", "Google-Extended", "Amazonbot")
LISTED: Final = (
    "# A list in the style of ai.robots.txt\n"
    + "\n".join(
        f"User-agent: {name}"
        for name in ("AI2Bot", "ChatGPT-User", *CRAWLERS[:4], "Claude-User", *CRAWLERS[4:], "Perplexity-User", "Devin")
    )
    + "\nDisallow: /\n\n# Everybody else\nUser-agent: *\nDisallow: /cart\nSitemap: https://shop.example/sitemap.xml\n"
)
CLOSED: Final = "# Keep out\nUser-agent: *\nDisallow: /\n\nUser-agent: Googlebot\nAllow: /\n"
NAMED: Final = (
    "User-agent: GPTBot\nDisallow: /\n\n"
    "User-agent: ChatGPT-User  # not this one\nDisallow: /\n\n"
    "User-agent: Claude-User\nUser-agent: Googlebot\nDisallow: /private\nAllow: /\n\n"
    "User-agent: *\nContent-Signal: search=yes, ai-input=no, ai-train=no\nDisallow:\n"
)
OPEN: Final = "User-agent: *\nContent-Signal: search=yes, ai-input=yes, ai-train=no\nDisallow: /cart\n"

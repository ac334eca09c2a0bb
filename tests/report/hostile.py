"""A card whose every text tries to be markup somewhere."""

from __future__ import annotations

from msgspec.structs import replace

from aui_tui.model.card import AgentAccess, Evidence, Recommendation, ReportCard
from tests.cards import WALLED

PAYLOADS = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</pre></code><b>x</b>",
    "]]><!--&amp;-->",
    "[click](javascript:alert(1)) ![i](http://evil.example/i.png)",
    "a | b | c \\| d",
    "`code` ``` fence",
    "**bold** _it_ ~~gone~~ $x$",
    "# heading",
    "- item",
    "1. item",
    "> quote",
    "@someone #123 GH-1 https://evil.example www.evil.example a@evil.example",
    "=1+1",
    "\x1b[2J\u202e\u200b\x9b\x00",
    "&lt;b&gt; &#64; &copy;",
    "   indented",
    "---",
    "| - |",
    "{{ x }} {% x %} ${x}",
)


def hostile(text: str) -> ReportCard:
    """Return a card with ``text`` in each of its free fields, uncleaned."""
    return replace(
        WALLED,
        input_host=text,
        name=text,
        category=text,
        vantage=text,
        human_title=text,
        edge=text,
        evidence=(Evidence("critical", text), Evidence(text, text)),
        matrix={f"{text}{n}": verdict for n, verdict in enumerate(WALLED.matrix.values())},
        ua_policy={f"{text}{n}": text for n in range(19)},
        agent_access={f"{text}{n}": AgentAccess(403, False, text) for n in range(4)},
        url=f"javascript:{text}",
        recommendations=(Recommendation("llms", text, 3, text, text, f"{text}\n```\n{text}\n</pre>"),),
    )

"""What the service says of itself to agents: robots.txt, llms.txt and the card of its tool server."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any, Final

import msgspec

from aui_tui import __version__

NAME: Final = "Agentic usability index"
SUMMARY: Final = "How usable websites are by AI agents that act live for a person: scores, grades, evidence and fixes."

_LLMS: Final = """\
# {name}

> {summary} Each host is fetched as a browser and as four identified agents; the difference decides.

Records are JSON over plain GET, no key needed. A scan is answered from a cache for 24 hours; a client may have 10 new
scans in an hour. Errors are RFC 9457 problem details.

## API

- [Index]({base}/api/index.json): every host, ranked and unreachable; filters `category` and `stance`
- Report card: `{base}/api/site/<host>.json`, the latest card of one host
- Live scan: `{base}/api/scan?url=<host>`, a new card; `force=true` skips the cache
- [OpenAPI description]({base}/openapi.json): all parameters, records and errors
{tools}
## Pages

- [Documentation]({base}/help): the method, the query language, gates for CI and more
- [Index for people]({base}/): the same list with filters, and a form to scan a host
- [Problem types]({base}/problems): what each error means
"""
_TOOLS: Final = """\
- MCP tool server: `{base}/mcp`, tools `index`, `site` and `scan` over streamable HTTP
- [Card of the tool server]({base}/.well-known/mcp.json)
"""

_ROBOTS: Final = """\
User-agent: *
Content-Signal: search=yes, ai-input=yes
Allow: /
"""


@cache
def serves_tools() -> bool:
    """Say whether the tool server can run here: the ``mcp`` library is installed."""
    return find_spec("mcp") is not None


def robots() -> bytes:
    """Return robots.txt: everybody may read everything, and answers may use it."""
    return _ROBOTS.encode()


def llms(base_url: str) -> bytes:
    """Return llms.txt: the service in one page for an agent."""
    tools = _TOOLS.format(base=base_url) if serves_tools() else ""
    return _LLMS.format(name=NAME, summary=SUMMARY, base=base_url, tools=tools).encode()


def card(base_url: str) -> bytes:
    """Return the card of the tool server for ``/.well-known/mcp.json``."""
    members: dict[str, Any] = {
        "name": "aui-tui",
        "title": NAME,
        "description": SUMMARY,
        "version": __version__,
        "remotes": [{"type": "streamable-http", "url": f"{base_url}/mcp"}],
    }
    return msgspec.json.encode(members)


def linked_data(base_url: str) -> dict[str, Any]:
    """Return schema.org JSON-LD for the index page: the site, its search, and the data set with its download."""
    return {
        "@context": "https://schema.org",
        "@graph": [
            {
                "@type": "WebSite",
                "name": NAME,
                "description": SUMMARY,
                "url": f"{base_url}/",
                "potentialAction": {
                    "@type": "SearchAction",
                    "target": {"@type": "EntryPoint", "urlTemplate": f"{base_url}/?q={{query}}"},
                    "query-input": "required name=query",
                },
            },
            {
                "@type": "Dataset",
                "name": NAME,
                "description": SUMMARY,
                "url": f"{base_url}/",
                "distribution": {
                    "@type": "DataDownload",
                    "encodingFormat": "application/json",
                    "contentUrl": f"{base_url}/api/index.json",
                },
            },
        ],
    }

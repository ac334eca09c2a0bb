"""Files for agents: whether an answer is what its address promises. Pure.

A catch-all that answers 200 with a page has none of the files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final, NamedTuple

import msgspec

from aui_tui.model.observations import GONE, PLACEHOLDER, WITHHOLDING
from aui_tui.scan import charset
from aui_tui.scan.charset import HTML_TYPES, media_type
from aui_tui.text import clean

PATHS: Final = {
    "robots": "/robots.txt",
    "llms": "/llms.txt",
    "ai-plugin": "/.well-known/ai-plugin.json",
    "ucp": "/.well-known/ucp",
    "mcp": "/.well-known/mcp.json",
}
MCP_PATHS: Final = (PATHS["mcp"], "/.well-known/mcp/server-card.json")
"""The places of an MCP card."""
_MARKUP: Final = ("<!doctype", "<html", "<head", "<body", "<script", "<title", "<meta", "<?xml", "<svg", "<div", "<p>")
_BLANK: Final = "\ufeff \t\r\n"
_ABSENT: Final = WITHHOLDING | GONE | {0, 405}


class FileCheck(NamedTuple):
    """Whether the file counts, and a note on why it does not; the note is empty where nothing was there."""

    found: bool
    note: str = ""


def check(
    name: str, body: bytes, content_type: str, status: int, path_unchanged: bool = True, path: str = ""
) -> FileCheck:
    """Return whether an answer is the file ``name`` of PATHS.

    ``body`` is decoded, ``status`` final; ``path_unchanged``: so is the path. ``path``: where it was asked for, if
    elsewhere.
    """
    if status in _ABSENT or 500 <= status <= 599:
        return FileCheck(False)
    if status != 200:
        problem = f"answers {status}"
    elif not path_unchanged:
        problem = "is redirected to another path"
    else:
        problem = _llms_problem(body, content_type) if name == "llms" else _json_problem(name, body, content_type)
        if not problem and PLACEHOLDER.encode() in body:
            note = f"{path or PATHS[name]} still says “{PLACEHOLDER}”, as a plan wrote it: put your own words there"
            return FileCheck(True, note)
    return FileCheck(not problem, f"{path or PATHS[name]} {problem}" if problem else "")


def _llms_problem(body: bytes, content_type: str) -> str:
    """Return why a body is no text that is not HTML and whose first heading is ``# `` (llmstxt.org), or nothing."""
    text = text_of(body, content_type)
    if is_markup(text) or media_type(content_type) in HTML_TYPES:
        return "answers 200 with an HTML page"
    if not text:
        return "answers 200 with an empty body"
    heading = _first_heading(text)
    return "" if heading.startswith("# ") and heading[2:].strip() else "has no first heading that begins with '# '"


def _json_problem(name: str, body: bytes, content_type: str) -> str:
    text = charset.decode(body, content_type)
    if is_markup(text):
        return "answers 200 with an HTML page"
    try:
        data = msgspec.json.decode(text)
    except (ValueError, RecursionError):
        return "is not valid JSON"
    return _PROBLEMS[name](data) if isinstance(data, dict) else "is not a JSON object"


def _plugin_problem(data: Mapping[str, Any]) -> str:
    missing = [key for key in ("schema_version", "name_for_model", "api") if key not in data]
    return f"has no {' and no '.join(missing)}" if missing else ""


def _ucp_problem(data: Mapping[str, Any]) -> str:
    root = data.get("ucp")
    if not isinstance(root, dict):
        return "has no object ucp"
    version = root.get("version")
    if not (isinstance(version, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", version, re.ASCII)):
        return "has no ucp.version of the form YYYY-MM-DD"
    return "" if isinstance(root.get("services"), dict) else "has no object ucp.services"


def _mcp_problem(data: Mapping[str, Any]) -> str:
    card = "name" in data and ("remotes" in data or "version" in data)
    known = card or any(key in data for key in ("serverInfo", "servers", "mcpServers"))
    return "" if known else "is not an MCP server card: it has no name, serverInfo, servers or mcpServers"


_PROBLEMS: Final = {"ai-plugin": _plugin_problem, "ucp": _ucp_problem, "mcp": _mcp_problem}


def text_of(body: bytes, content_type: str) -> str:
    """Return the text of a body without the byte order mark and the blanks that it begins with."""
    return charset.decode(body, content_type).lstrip(_BLANK)


def is_markup(text: str) -> bool:
    """Tell whether a text begins as HTML or XML does, white space before it passed over."""
    head = text.lstrip(_BLANK)[:256].lower()
    return head.startswith(_MARKUP) or (
        head.startswith("<!--") and any(mark in head for mark in ("<html", "<!doctype"))
    )


def _first_heading(text: str) -> str:
    """Return the first line that is a Markdown heading, or an empty string."""
    fenced = False
    for line in text.splitlines():
        if line.startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced and line.startswith("#") and line.lstrip("#")[:1] in (" ", "\t"):
            return line
    return ""


def json_object(body: bytes, content_type: str) -> dict[str, Any] | None:
    """Return the JSON object in the body, or in the first event of a stream of events."""
    text = text_of(body, content_type)
    if media_type(content_type) == "text/event-stream":
        text = next((line[5:] for line in text.splitlines() if line.startswith("data:")), "")
    try:
        data = msgspec.json.decode(text)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def fits(shape: Mapping[str, str], data: object) -> bool:
    """Tell whether ``data`` has every value that ``shape`` asks for (``declared.toml`` explains the words)."""
    return all(_is(wanted, value_at(data, path)) for path, wanted in shape.items())


def _is(wanted: str, value: object) -> bool:
    if wanted == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    if wanted in ("list", "object"):
        return isinstance(value, list if wanted == "list" else dict) and bool(value)
    if not isinstance(value, str) or not value.strip():
        return False
    if wanted[:1] in ("=", "^"):
        folded, word = value.strip().lower(), wanted[1:].lower()
        return folded == word if wanted[0] == "=" else folded.startswith(word)
    return True


MOST_VALUES: Final = 30
"""Elements of a list that are looked at."""
MCP_SERVERS: Final = ("remotes.*.url", "servers.*.url", "mcpServers.*.url", "endpoint", "url")
"""Where the forms of an MCP card name its server."""


def mcp_server(body: bytes, content_type: str) -> str:
    """Return the address of the server that an MCP card names first; empty for none."""
    data = json_object(body, content_type)
    return next((clean(text, 500) for path in MCP_SERVERS for text in texts_at(data, path)), "")


def texts_at(data: object, path: str) -> Iterator[str]:
    """Yield the texts at ``path`` in ``data``; ``*`` is each element of a list or object."""
    step, _, rest = path.partition(".")
    if not path:
        yield from [data] if isinstance(data, str) else []
    elif step == "*" and isinstance(data, list | dict):
        for element in islice(data if isinstance(data, list) else data.values(), MOST_VALUES):
            yield from texts_at(element, rest)
    elif isinstance(data, dict):
        yield from texts_at(data.get(step), rest)


def value_at(data: object, path: str) -> object:
    """Return what lies at ``path`` (``a.0.b``) in ``data``; None where there is nothing."""
    for step in path.split("."):
        if isinstance(data, dict):
            data = data.get(step)
        elif isinstance(data, list) and step.isdigit() and int(step) < len(data):
            data = data[int(step)]
        else:
            return None
    return data

"""Agent-facing files: is what a site serves there the thing that the address promises?

Each check takes the decoded body, the Content-Type, the final status and whether the final path is the one that was
asked for; it returns whether the file counts, and otherwise a note in words, empty where there was simply nothing.
A catch-all that answers 200 with a page has none of them.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import msgspec

from aui_tui.engine import charset

_MARKUP: Final = ("<!doctype", "<html", "<head", "<body", "<script", "<title", "<meta", "<?xml", "<svg", "<div", "<p>")
_HTML_TYPES: Final = ("text/html", "application/xhtml+xml")
_ABSENT: Final = frozenset((0, 401, 403, 404, 405, 410, 451))


class Finding(NamedTuple):
    """Whether the file counts, and a note on why it does not; the note is empty where nothing was there."""

    found: bool
    note: str = ""


def llms(body: bytes, content_type: str, status: int, path_unchanged: bool = True) -> Finding:
    """Check /llms.txt: text that is not HTML and whose first heading is ``# `` (llmstxt.org)."""
    name = "/llms.txt"
    refused = _refuse(name, content_type, status, path_unchanged)
    if refused is not None:
        return refused
    text = charset.decode(body, content_type).lstrip("\ufeff \t\r\n")
    if _is_markup(text) or _media_type(content_type) in _HTML_TYPES:
        return Finding(False, f"{name} answers 200 with an HTML page")
    if not text:
        return Finding(False, f"{name} answers 200 with nothing in it")
    heading = _first_heading(text)
    if not heading.startswith("# ") or not heading[2:].strip():
        return Finding(False, f"{name} has no first heading that begins with '# '")
    return Finding(True)


def ai_plugin(body: bytes, content_type: str, status: int, path_unchanged: bool = True) -> Finding:
    """Check /.well-known/ai-plugin.json: an object with schema_version, name_for_model and api."""
    name = "/.well-known/ai-plugin.json"
    data = _object(name, body, content_type, status, path_unchanged)
    if isinstance(data, Finding):
        return data
    missing = [key for key in ("schema_version", "name_for_model", "api") if key not in data]
    if missing:
        return Finding(False, f"{name} has no {' and no '.join(missing)}")
    return Finding(True)


def ucp(body: bytes, content_type: str, status: int, path_unchanged: bool = True) -> Finding:
    """Check /.well-known/ucp: ``ucp.version`` like YYYY-MM-DD and ``ucp.services`` an object."""
    name = "/.well-known/ucp"
    data = _object(name, body, content_type, status, path_unchanged)
    if isinstance(data, Finding):
        return data
    root = data.get("ucp")
    if not isinstance(root, dict):
        return Finding(False, f"{name} has no object ucp")
    if not _is_date(root.get("version")):
        return Finding(False, f"{name} has no ucp.version of the form YYYY-MM-DD")
    if not isinstance(root.get("services"), dict):
        return Finding(False, f"{name} has no object ucp.services")
    return Finding(True)


def mcp(
    body: bytes, content_type: str, status: int, path_unchanged: bool = True, name: str = "/.well-known/mcp.json"
) -> Finding:
    """Check an MCP server card: ``name`` with ``remotes`` or ``version``, or another key that names servers."""
    data = _object(name, body, content_type, status, path_unchanged)
    if isinstance(data, Finding):
        return data
    card = "name" in data and ("remotes" in data or "version" in data)
    if not card and not any(key in data for key in ("serverInfo", "servers", "mcpServers")):
        return Finding(False, f"{name} is not an MCP server card: it has no name, serverInfo, servers or mcpServers")
    return Finding(True)


def _refuse(name: str, content_type: str, status: int, path_unchanged: bool) -> Finding | None:
    if status in _ABSENT:
        return Finding(False)
    if status != 200:
        return Finding(False, f"{name} answers {status}")
    if not path_unchanged:
        return Finding(False, f"{name} is redirected to another path")
    return None


def _object(name: str, body: bytes, content_type: str, status: int, path_unchanged: bool) -> dict[str, Any] | Finding:
    refused = _refuse(name, content_type, status, path_unchanged)
    if refused is not None:
        return refused
    text = charset.decode(body, content_type)
    if _is_markup(text.lstrip("\ufeff \t\r\n")):
        return Finding(False, f"{name} answers 200 with an HTML page")
    try:
        data = msgspec.json.decode(text)
    except (ValueError, RecursionError):
        return Finding(False, f"{name} is not valid JSON")
    if not isinstance(data, dict):
        return Finding(False, f"{name} is not a JSON object")
    return data


def _media_type(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def _is_markup(text: str) -> bool:
    head = text[:256].lower()
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


def _is_date(value: object) -> bool:
    return (
        isinstance(value, str)
        and len(value) == 10
        and value[4] == value[7] == "-"
        and (value[:4] + value[5:7] + value[8:]).isascii()
        and (value[:4] + value[5:7] + value[8:]).isdigit()
    )

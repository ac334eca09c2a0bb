"""Files for agents: whether an answer is what its address promises. Pure.

A catch-all that answers 200 with a page has none of the files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final, NamedTuple

import msgspec

from aui_tui.model.observations import CATALOGUE, FILE_PATHS, GONE, PLACEHOLDER, WITHHOLDING
from aui_tui.scan import charset, page_text
from aui_tui.scan.charset import HTML_TYPES, media_type
from aui_tui.text import clean

MCP_PATHS: Final = (FILE_PATHS["mcp"], "/.well-known/mcp/server-card.json", CATALOGUE)
"""The places of an MCP card, and of the catalogue that names one."""
_MARKUP: Final = ("<!doctype", "<html", "<head", "<body", "<script", "<title", "<meta", "<?xml", "<svg", "<div", "<p>")
_BLANK: Final = "\ufeff \t\r\n"
_ABSENT: Final = WITHHOLDING | GONE | {0, 405}


class FileCheck(NamedTuple):
    """Whether the file counts, and a note on why it does not; the note is empty where nothing was there.

    ``unseen``: it may be there although the answer does not show it: the body broke off, or was not read to its end.
    ``unwritten``: it counts, and words of a plan were left in it.
    """

    found: bool
    note: str = ""
    unseen: bool = False
    unwritten: bool = False


def check(
    name: str,
    body: bytes,
    content_type: str,
    status: int,
    path_unchanged: bool = True,
    path: str = "",
    *,
    cut: bool = False,
) -> FileCheck:
    """Return whether an answer is the file ``name`` of FILE_PATHS.

    ``body`` is decoded, ``status`` final; ``path_unchanged``: so is the path. ``path``: where it was asked for, if
    elsewhere. ``cut``: the body broke off or is longer than is read, so that nothing is missing in it.
    """
    if status in _ABSENT or 500 <= status <= 599:
        return FileCheck(False)
    if status != 200:
        problem = f"answers {status}"
    elif not path_unchanged:
        problem = "is redirected to another path"
    else:
        problem = _llms_problem(body, content_type) if name == "llms" else _json_problem(name, body, content_type)
        if problem and cut and not is_markup(text_of(body, content_type)):
            return FileCheck(False, unseen=True)
        if problem == _NAMES_NONE:
            return FileCheck(False)  # it may list other things for agents, and is no failed card
    if problem:
        return FileCheck(False, f"{path or FILE_PATHS[name]} {problem}")
    return FileCheck(True, unwritten=PLACEHOLDER.encode() in body)


def _llms_problem(body: bytes, content_type: str) -> str:
    """Return why a body is no llms.txt (llmstxt.org), or nothing.

    It is text, not HTML, its first heading is ``# ``, and it is no error page.
    """
    text = text_of(body, content_type)
    if is_markup(text):
        return "answers 200 with an HTML page"
    if not text:
        return "answers 200 with an empty body"
    if is_error(text):
        return "answers 200 with an error page"
    heading = _first_heading(text)
    if not (heading.startswith("# ") and heading[2:].strip()):
        return "has no first heading that begins with '# '"
    kind = media_type(content_type)
    return f"is Markdown sent as {kind}: send it as text/plain or text/markdown" if kind in HTML_TYPES else ""


_ERROR_LENGTH: Final = 1500
"""Characters below which a text that begins as an error page does is one."""


def is_error(text: str) -> bool:
    """Tell whether a text is an error page, though it came with 200: it is short, and its first line says so.

    Front matter is passed over.
    """
    if len(text) >= _ERROR_LENGTH:
        return False
    lines = [line for line in _FRONT_MATTER.sub("", text).splitlines() if line.strip()]
    return bool(lines) and page_text.is_only(lines[0], page_text.ERROR, page_text.BLOCKED)


_FRONT_MATTER: Final = re.compile(r"---[ \t]*\n(?:(?!---).*\n){0,50}---[ \t]*\n?")


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
    missing = [key for key in ("schema_version", "name_for_model", "api") if not data.get(key)]
    return f"has no {' and no '.join(missing)}" if missing else ""


_LISTED_SINCE: Final = "2026-01-23"
"""The version of UCP from which on a service is a list of its bindings (ucp.dev/2026-01-23/specification/overview)."""


def _ucp_problem(data: Mapping[str, Any]) -> str:
    """Return why a profile offers nothing: it has no version, or no service with anything in it."""
    root = data.get("ucp")
    if not isinstance(root, dict):
        return "has no object ucp"
    version = root.get("version")
    if not (isinstance(version, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", version, re.ASCII)):
        return "has no ucp.version of the form YYYY-MM-DD"
    services = root.get("services")
    if not isinstance(services, dict):
        return "has no object ucp.services"
    offered = [*map(_objects, services.values())]
    if not any(offered):
        return "names no service in ucp.services"
    if version >= _LISTED_SINCE and not any(
        isinstance(service, list) and _objects(service) for service in services.values()
    ):
        return f"has no service that is a list, as ucp.version {version} wants it"
    return ""


def _objects(value: object) -> list[Mapping[str, Any]]:
    """Return the objects with content that ``value`` is or that a list or an object of them has, its first ones."""
    if isinstance(value, dict):
        return [value] if value else []
    return [item for item in value[:MOST_VALUES] if isinstance(item, dict) and item] if isinstance(value, list) else []


_MCP_ADDRESSES: Final = ("url", "endpoint", "command", "identifier", "name", "transport", "registryType", "serverUrl")
"""What an entry of an MCP card has one of, so that a client can reach or start its server."""


_MCP_TYPE: Final = "application/mcp-server"
"""How the type of an MCP server card begins, whatever the draft."""
_NAMES_NONE: Final = "names no MCP server"


def _mcp_problem(data: Mapping[str, Any]) -> str:
    """Return why a card leads to no server: neither a remote nor a package in any form that cards have.

    A catalogue names one in an entry that has it, or where it is.
    """
    if isinstance(data.get("entries"), list):
        kinds = ((entry, entry.get("type") or entry.get("mediaType")) for entry in _objects(data["entries"]))
        servers = (entry for entry, kind in kinds if isinstance(kind, str) and kind.lower().startswith(_MCP_TYPE))
        return "" if any(entry.get("url") or entry.get("data") for entry in servers) else _NAMES_NONE
    named = [key for key in ("name", "serverInfo", "servers", "mcpServers") if key in data]
    if not named:
        return "is not an MCP server card: it has no name, serverInfo, servers or mcpServers"
    entries: list[Mapping[str, Any]] = []
    for key in ("remotes", "packages", "servers", "mcpServers"):
        value = data.get(key)
        listed = list(value.values())[:MOST_VALUES] if isinstance(value, dict) else value
        entries += _objects(listed)
    reached = [entry for entry in entries if any(entry.get(key) for key in _MCP_ADDRESSES)]
    own = [data.get(key) for key in ("url", "endpoint", "serverUrl", "mcp_endpoint")]
    transport = data.get("transport")
    own += [transport.get(key) for key in ("url", "endpoint")] if isinstance(transport, dict) else []
    return (
        ""
        if reached or any(isinstance(address, str) and address.strip() for address in own)
        else "names no remote and no package"
    )


_PROBLEMS: Final = {"ai-plugin": _plugin_problem, "ucp": _ucp_problem, "mcp": _mcp_problem}


def signature(body: bytes, content_type: str) -> object:
    """Return what two answers of a catch-all have in common: the names in a JSON object, else the first line."""
    data = json_object(body, content_type)
    return frozenset(data) if data is not None else body.strip()[:_SIGNED].partition(b"\n")[0]


_SIGNED: Final = 80
"""Octets of a text that are compared."""


def text_of(body: bytes, content_type: str) -> str:
    """Return the text of a body without the byte order mark and the blanks that it begins with."""
    return charset.decode(body, content_type).lstrip(_BLANK)


def is_markup(text: str) -> bool:
    """Tell whether a text begins as HTML or XML does, white space before it passed over."""
    head = text.lstrip(_BLANK)[:256].lower()
    return head.startswith(_MARKUP) or (
        head.startswith("<!--") and any(mark in head for mark in ("<html", "<!doctype"))
    )


def is_page(body: bytes) -> bool:
    """Tell whether a body begins as HTML or XML does."""
    return is_markup(body[:1024].decode("utf-8", "replace"))


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
    return all(_is(rule, value_at(data, path)) for path, rule in shape.items())


def _is(rule: str, value: object) -> bool:
    if rule == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    if rule in ("list", "object"):
        return isinstance(value, list if rule == "list" else dict) and bool(value)
    if not isinstance(value, str) or not value.strip():
        return False
    if rule[:1] in ("=", "^"):
        folded, word = value.strip().lower(), rule[1:].lower()
        return folded == word if rule[0] == "=" else folded.startswith(word)
    return True


MOST_VALUES: Final = 30
"""Elements of a list that are looked at."""
MCP_SERVERS: Final = (
    "remotes.*.url",
    "servers.*.url",
    "mcpServers.*.url",
    "transport.endpoint",
    "transport.url",
    "endpoint",
    "url",
)
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

"""What the service says of itself is true: robots.txt, llms.txt, JSON-LD, the tool server and its card."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from aui_tui.model.registry import registry
from aui_tui.scan import robots
from tests.cards import RICH_OPEN, WALLED
from tests.service.serving import Running, serving
from tests.stored_service import StoredService


@pytest.fixture(scope="module")
def site() -> Iterator[Running]:
    with serving(StoredService()) as running:
        yield running


def test_robots_lets_every_agent_and_crawler_in_and_carries_a_content_signal(site: Running) -> None:
    body = site.get("/robots.txt").content
    parsed = robots.parse(body)
    for known in (*registry().agents, *registry().crawlers):
        assert parsed.allows(known.token, "/site/a.example")
    assert "Content-Signal: search=yes, ai-input=yes" in body.decode()


def test_llms_txt_names_addresses_that_exist(site: Running) -> None:
    answer = site.get("/llms.txt")
    assert answer.headers["content-type"].startswith("text/plain")
    lines = answer.text.splitlines()
    assert lines[0].startswith("# ")
    links = [part.partition(")")[0] for part in answer.text.split("](")[1:]]
    assert links
    for link in links:
        assert link.startswith(site.base_url)
        assert site.get(link.removeprefix(site.base_url)).status_code == 200, link


def use(site: Running, tool: str, **arguments: Any) -> Any:
    """Return the result of one call of a tool."""
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    answer = site.request("POST", "/mcp", json=call, headers={"Accept": "application/json, text/event-stream"})
    assert answer.status_code == 200, answer.text
    return answer.json()["result"]


@pytest.mark.ci
def test_card_of_the_tool_server_leads_to_tools_that_work(site: Running) -> None:
    card = site.get("/.well-known/mcp.json").json()
    assert card["name"]
    assert card["version"]
    assert card["remotes"] == [{"type": "streamable-http", "url": f"{site.base_url}/mcp"}]
    listed = use(site, "index", stance="Walled")["structuredContent"]
    assert [row["host"] for row in listed["ranked"]] == [WALLED.host]
    assert listed["ranked"][0]["url"] == f"{site.base_url}/site/{WALLED.host}"
    found = use(site, "site", host=RICH_OPEN.host)
    assert found["structuredContent"]["score"] == RICH_OPEN.score
    assert found["structuredContent"]["host"] == RICH_OPEN.host
    missing = use(site, "site", host="unknown.example")
    assert missing["isError"]
    assert "never been scanned" in missing["content"][0]["text"]
    assert use(site, "index", stance="Shut")["isError"]


def test_the_tool_index_pages_without_a_silent_cut(site: Running) -> None:
    whole = use(site, "index", limit=100)["structuredContent"]
    hosts, offset = [], 0
    while offset is not None:
        page = use(site, "index", limit=1, offset=offset)
        found = page["structuredContent"]
        assert (found["total_ranked"], len(found["ranked"])) == (whole["total_ranked"], len(found["ranked"][:1]))
        hosts += [row["host"] for row in found["ranked"]]
        offset = found["next_offset"]
    assert hosts == [row["host"] for row in whole["ranked"]]
    assert whole["next_offset"] is None
    said = use(site, "index", limit=100)["content"][0]["text"]
    assert all(host in said for host in hosts)
    assert len(said) < len(json.dumps(whole)) / 3


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("index", {"host": WALLED.host}, "index: Additional properties are not allowed ('host' was unexpected)."),
        ("index", {"limit": "many"}, "limit: 'many' is not of type 'integer'."),
        ("index", {"limit": True}, "limit: True is not of type 'integer'."),
        ("index", {"limit": 101}, "limit: 101 is greater than the maximum of 100."),
        ("index", {"offset": -1}, "offset: -1 is less than the minimum of 0."),
        ("index", {"query": 5}, "query: 5 is not of type 'string'."),
        ("site", {}, "site: 'host' is a required property."),
        ("site", {"host": ""}, "host: '' should be non-empty."),
        ("site", {"host": None}, "host: None is not of type 'string'."),
        ("scan", {"url": "shop.example", "force": "yes"}, "force: 'yes' is not of type 'boolean'."),
    ],
)
def test_a_bad_argument_of_a_tool_is_one_sentence(
    site: Running, tool: str, arguments: dict[str, Any], words: str
) -> None:
    refused = use(site, tool, **arguments)
    assert refused["isError"]
    assert refused["content"][0]["text"].startswith(words)


async def test_the_official_client_finds_and_uses_the_tools(site: Running) -> None:
    from mcp.client import Client

    async with Client(site.base_url + "/mcp") as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"index", "site", "scan"}
        assert all(tool.description and tool.annotations for tool in tools.values())
        assert tools["scan"].input_schema["required"] == ["url"]
        found = await client.call_tool("site", {"host": WALLED.host})
        assert not found.is_error
        assert found.structured_content["stance"] == "Walled"


def test_tool_scan_counts_for_the_same_client_as_the_api() -> None:
    with serving(StoredService()) as site:
        for number in range(9):
            site.get("/api/scan", params={"url": f"s{number}.example"})
        assert use(site, "scan", url="tool.example")["structuredContent"]["host"] == "tool.example"
        refused = use(site, "scan", url="one-more.example")
        assert refused["isError"]
        assert "10 scans" in refused["content"][0]["text"]
        assert site.get("/api/scan", params={"url": "another.example"}).status_code == 429


def test_tool_server_keeps_no_stream_open(site: Running) -> None:
    listening = site.get("/mcp", headers={"Accept": "text/event-stream"})
    assert listening.status_code == 405
    assert listening.headers["allow"] == "POST"

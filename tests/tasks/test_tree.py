# ruff: noqa: E501 -- markup reads best on one line
"""The browser's accessibility tree decides what exists and how it is named; where the DOM says otherwise is told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aui_tui.checks.evidence import task_findings
from aui_tui.model.tasks import TaskReport, TreeDifference
from aui_tui.tasks.browser import Browser
from aui_tui.tasks.outline import parse
from aui_tui.tasks.page import Stuck
from aui_tui.tasks.run import TaskRunning, run_tasks
from aui_tui.tasks.tree import by_tree, read_tree, unlike
from tests.tasks.pages import PROSE, Answer, Site, hosted, html
from tests.tasks.running import HOST, leading_to, opened, seen_at

browsed = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(300)]


def ax(number: int, role: str, name: str = "", *children: int, ignored: bool = False) -> dict[str, Any]:
    """A node as ``Accessibility.getFullAXTree`` gives it."""
    said = {"role": {"value": role}, "name": {"value": name}, "ignored": ignored}
    return {"nodeId": str(number), "backendDOMNodeId": number, "childIds": [str(one) for one in children], **said}


TREE = [
    ax(1, "RootWebArea", "Shop", 2),
    ax(2, "main", "", 3, 4, 6, 8),
    ax(3, "heading", "Rooms", 9),
    ax(4, "generic", "", 5, ignored=True),
    ax(5, "link", "Pier  flat"),
    ax(6, "textbox", "Your name", 7),
    ax(7, "StaticText", "typed"),
    ax(8, "button", "In a closed root"),
    ax(9, "StaticText", "Rooms"),
    ax(10, "button", "Nowhere"),
]
OUTLINE = """- main [ref=e1]:
  - heading "Rooms" [level=1] [ref=e2]
  - link "Pier flat" [ref=e3]:
    - /url: /pier
  - textbox [ref=e4]
  - generic [aria-hidden] [ref=e5]:
    - button "Book" [ref=e6]
    - text: Sold in pairs
"""


def test_the_tree_says_what_exists_and_how_it_is_named() -> None:
    page = by_tree(parse(OUTLINE), read_tree([(0, TREE)]))
    roles = [(node.role, node.name) for node in page.nodes if node.role not in ("main", "text")]
    assert roles == [
        ("heading", "Rooms"),
        ("link", "Pier flat"),
        ("textbox", "Your name"),
        ("button", "In a closed root"),
    ]
    assert [node.name or node.text for node in page.dom_only if node.name or node.text] == ["Book", "Sold in pairs"]
    gone, added = unlike(page)
    assert [node.name for node in gone] == ["Book"]
    assert [(node.name, node.ref) for node in added] == [("In a closed root", "n8")]


def test_what_stands_in_both_is_decoration() -> None:
    twice = OUTLINE.replace('button "Book"', 'link "Pier flat"')
    assert unlike(by_tree(parse(twice), read_tree([(0, TREE[:-2] + TREE[-1:])])))[0] == []


@given(st.lists(st.tuples(st.sampled_from(["link", "button", "heading"]), st.text(max_size=6)), max_size=12), st.data())
def test_any_outline_goes_with_any_tree(nodes: list[tuple[str, str]], data: Any) -> None:
    outline = parse("\n".join(f"- {role} {json.dumps(name)} [ref=e{at}]" for at, (role, name) in enumerate(nodes)))
    tree = [ax(1, "RootWebArea", "", *range(2, 2 + len(nodes)))]
    tree += [ax(2 + at, role, name) for at, (role, name) in enumerate(data.draw(st.permutations(nodes)))]
    page = by_tree(outline, read_tree([(0, tree)]))
    want = sorted((node.role, node.name) for node in read_tree([(0, tree)]))
    assert sorted((node.role, node.name) for node in page.nodes) == want


def test_the_card_says_what_agents_of_either_kind_do_not_see() -> None:
    tree = TreeDifference(total=47, dom_only=46, cause="aria-hidden", names=("Search", "Rooms"))
    seen = seen_at("https://a.example").with_tasks(TaskReport(ran_at="", origin="", tree=tree), None)
    facts = {finding.id: finding.facts for finding in task_findings(seen)}
    assert facts["tree-hidden"]["hidden"] == "46"


LINKS = "".join(f'<li><a href="/room/{name}">Harbour room {name}</a></li>' for name in ("Pier", "Loft", "Tide"))
FIELD = (
    '<form role=search action=/find><input type=search name=q aria-label="Search rooms"><button>Search</button></form>'
)
HOME = f"<header%s>{FIELD}<a href=/contact>Contact</a></header><main%s><h1>Rooms</h1><p>{PROSE * 4}</p><ul>{LINKS}</ul></main>"
ROOM = f"<main><h1>Harbour room Pier</h1><p>{PROSE * 2}</p></main>"


def found(target: str) -> Any:
    names = [name for name in ("Pier", "Loft", "Tide") if target.casefold().endswith(("harbour", name.casefold()))]
    rows = "".join(f'<li><a href="/room/{name}">Harbour room {name}</a></li>' for name in names)
    return html(f"<main><h1>Results</h1><ul>{rows}</ul></main>", "Results")


async def ran(browser: Browser, home: str) -> TaskRunning:
    pages: dict[str, Answer] = {"/": html(home, "Rooms"), "/room/Pier": html(ROOM, "Pier"), "/find": found}
    pages["/contact"] = html("<h1>Contact</h1><p>Write to ada@harbour.example.</p>")
    async with hosted(Site(pages)) as port:
        return await run_tasks(seen_at(f"http://{HOST}"), browser, access=leading_to(port))


class TestInTheBrowser:
    """Each page differs from the plain one in what agents of one kind are given."""

    pytestmark = browsed

    async def test_what_aria_hidden_takes_away_is_not_there_for_agents_on_the_tree(self, browser: Browser) -> None:
        hidden = ' aria-hidden="true"'
        run = await ran(browser, HOME % (hidden, hidden))
        outcomes = {one.task: (one.outcome, one.reason) for one in run.report.results}
        assert outcomes["read"] == ("blocked", "read-hidden")
        assert outcomes["follow"] == outcomes["search"] == outcomes["contact"] == ("blocked", "hidden")
        assert outcomes["offer"] == outcomes["form"] == ("inconclusive", "unwalked")
        assert run.report.tree is not None
        assert (run.report.tree.dom_only, run.report.tree.total, run.report.tree.cause) == (7, 7, "aria-hidden")
        assert all("read the accessibility tree" in one.note for one in run.report.results if one.outcome == "blocked")

    async def test_a_closed_shadow_root_is_read_and_operated(self, browser: Browser) -> None:
        inside = json.dumps(HOME % ("", ""))
        run = await ran(
            browser, f"<div id=h></div><script>h.attachShadow({{mode:'closed'}}).innerHTML={inside}</script>"
        )
        outcomes = {one.task: one.outcome for one in run.report.results}
        assert {task: outcomes[task] for task in ("read", "follow", "search", "contact")} == dict.fromkeys(
            ("read", "follow", "search", "contact"), "done"
        )
        assert run.report.tree is not None
        assert (run.report.tree.tree_only, run.report.tree.total) == (7, 7)

    async def test_a_tree_that_does_not_come_is_told(self, browser: Browser) -> None:
        async with hosted(Site({"/": html(HOME % ("", ""))})) as port, opened(browser, port, settle=1.0) as page:
            await page.tab.evaluate("setTimeout(() => { const end = Date.now() + 3000; while (Date.now() < end); })")
            with pytest.raises(Stuck, match="accessibility tree"):
                await page.tree()

    @pytest.mark.parametrize("closes", [True, False])
    async def test_escape_is_tried_and_a_veil_decides_nothing_else(self, browser: Browser, closes: bool) -> None:
        keeps = "" if closes else "d.oncancel=event=>event.preventDefault();"
        dialog = f"<dialog id=d><p>Turn the wheel</p></dialog><script>{keeps}d.showModal()</script>"
        run = await ran(browser, HOME % ("", "") + dialog)
        outcomes = [one.outcome for one in run.report.results]
        if closes:
            assert outcomes[:4] == ["done"] * 4
            assert run.report.results[0].steps[1].note == "Escape"
        else:
            assert outcomes == ["blocked"] + ["inconclusive"] * 5

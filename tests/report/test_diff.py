"""What changed, written out for a terminal, a script and a pull request."""

from __future__ import annotations

import json
import re

import pytest
from markdown_it import MarkdownIt
from msgspec.structs import replace

from aui_tui.checks.scoring import grade_card
from aui_tui.cli.cardview import in_order
from aui_tui.cli.terminal import Paint
from aui_tui.model import labels
from aui_tui.model.card import AgentAccess, Evidence
from aui_tui.model.observations import FileFacts
from aui_tui.report.diff import FORMATS, Diff, diff, write
from tests.cards import RICH_OPEN, WALLED, WALLED_SITE, published
from tests.report.hostile import PAYLOADS, hostile
from tests.scan import situations

AFTER, _ = situations.graded(
    WALLED.host,
    replace(
        WALLED_SITE,
        exchanges=situations.site(WALLED_SITE.exchanges[0], robots_status=404, files=FileFacts(llms=True)).exchanges,
        files=FileFacts(llms=True),
        edge="wall-z server-q",
        page=replace(WALLED_SITE.page, jsonld_broken=1),
    ),
    "2026-11-21T10:00:00.000Z",
    name=WALLED.name,
    category=WALLED.category,
)
MOVED = diff(WALLED, AFTER)


def text(form: str, found: Diff = MOVED, *, deterministic: bool = False) -> str:
    if form == "text":
        return "".join(in_order(found.sections(times=not deterministic), Paint(width=100), text=False))
    return "".join(write(found, form, deterministic=deterministic))


def plain(text: str) -> str:
    """Return ``text`` without the escapes of a form, another arrow among them."""
    return text.replace("&gt;", ">").replace("\\", "").replace("->", "→")


def lists(found: Diff) -> dict[str, list[str]]:
    return {part.title: [item.text for item in part.items] for part in found.sections()}


def test_a_finding_at_another_line_is_the_same_finding() -> None:
    one, other = (
        replace(WALLED, evidence=(Evidence("warn", f"robots.txt keeps Claude (lines {line} and 9) from some paths."),))
        for line in (4, 5)
    )
    assert lists(diff(one, other)).keys().isdisjoint({"New findings", "Resolved findings"})
    third = replace(WALLED, evidence=(Evidence("warn", "robots.txt keeps ChatGPT (line 4) from some paths."),))
    assert lists(diff(one, third))["New findings"]


def test_a_diff_as_text_lists_what_is_better_and_worse() -> None:
    assert text("text").splitlines() == [
        "tickets.example",
        "  score 42 -> 72, grade F -> C, Walled -> Open",
        "  2026-11-20 09:58 UTC -> 2026-11-21 10:00 UTC",
        "",
        "Better",
        "✓ Welcome: 9 -> 21",
        "✓ Built: 12 -> 15",
        "✓ ChatGPT: challenged -> in, +4 Welcome",
        "✓ Claude: challenged -> in, +4 Welcome",
        "✓ Perplexity: challenged -> in, +4 Welcome",
        "✓ Answer to ChatGPT-User: 403 challenge -> 200",
        "✓ Answer to Claude-User: 403 challenge -> 200",
        "✓ Answer to Perplexity-User: 403 challenge -> 200",
        "✓ Agents served: 0 -> 4",
        "✓ llms.txt: missing -> found, +3 Built",
        "",
        "Changed",
        "  Google agent: unclear -> in",
        "  Answer to Google-Agent: no answer -> 200",
        "  Served by: wall-z -> wall-z server-q",
        "",
        "Resolved findings",
        "✓ critical: AI agents are shut out: ChatGPT, Claude and Perplexity get a Cloudflare challenge page",
        "  (403, known by “Just a moment...”) while a browser gets the homepage (200). No robots.txt of",
        "  tickets.example keeps them out. Users who send an agent see an error.",
        "✓ warn: There is no tickets.example/llms.txt to tell an agent where to start.",
        "",
        "New findings",
        "✗ warn: 1 of 2 JSON-LD blocks on the homepage cannot be parsed, so an agent gets nothing from what",
        "  they say, and parsers that stop at the first fault, such as extruct, get nothing of the others.",
    ]


def test_a_diff_as_json_holds_both_cards_and_every_change() -> None:
    found = json.loads(text("json"))
    assert found["before"] == {
        "host": "tickets.example",
        "method": "v0.2",
        "score": 42,
        "grade": "F",
        "stance": "Walled",
        "scanned_at": "2026-11-20T09:58:01.007Z",
    }
    assert found["after"]["score"] == 72
    assert found["same"] is False
    (files,) = [change for change in found["changes"] if change["field"] == "files"]
    assert files == {
        "field": "files",
        "label": "llms.txt",
        "before": "missing",
        "after": "found",
        "direction": "better",
        "points": 3,
        "pillar": "Built",
        "text": "llms.txt: missing → found, +3 Built",
    }
    assert [item["text"][:27] for item in found["new"]] == ["1 of 2 JSON-LD blocks on th"]
    assert len(found["resolved"]) == 2


def test_a_diff_as_markdown_is_one_comment_that_can_be_found_again() -> None:
    found = text("markdown")
    assert found.startswith("<!-- aui-tui diff -->\n### Agent usability of tickets.example\n")
    rendered = MarkdownIt("gfm-like").render(found)
    assert "<strong>score 42 → 72, grade F → C, Walled → Open</strong>" in rendered
    assert "<summary>Changed: 3</summary>" in rendered
    assert "<li>llms.txt: missing → found, +3 Built</li>" in rendered


@pytest.mark.parametrize("payload", PAYLOADS)
def test_hostile_texts_add_no_element_to_a_comment(payload: str) -> None:
    rendered = MarkdownIt("gfm-like").render(text("markdown", diff(AFTER, hostile(payload))))
    tags = set(re.findall(r"<([a-z][a-z0-9]*)", rendered))
    assert tags <= {"h3", "h4", "p", "strong", "ul", "li", "details", "summary"}


@pytest.mark.parametrize("form", ["text", *FORMATS])
def test_no_change_is_said(form: str) -> None:
    found = text(form, diff(WALLED, WALLED))
    assert "Nothing has changed." in found or json.loads(found)["same"] is True


@pytest.mark.parametrize("form", ["text", *FORMATS])
def test_deterministic_output_has_no_time(form: str) -> None:
    assert "2026-11-2" in text(form)
    assert "2026-11-2" not in text(form, deterministic=True)


@pytest.mark.parametrize("form", ["text", *FORMATS])
def test_what_limits_the_comparison_is_said(form: str) -> None:
    found = text(form, diff(RICH_OPEN, WALLED))
    assert "different methods" in found
    assert "shop.example" in found


def test_an_agent_that_is_left_without_an_answer_gets_worse() -> None:
    before, after = grade_card(situations.open_rich()), grade_card(situations.dropped())
    assert "Claude: in → refused" in lists(diff(before, after))["Worse"]


@pytest.mark.parametrize("form", ["text", *FORMATS])
def test_of_a_scan_that_measured_nothing_nothing_is_compared(form: str) -> None:
    """What the record of an unreachable site holds because of its shape is not said of it."""
    up, down = grade_card(situations.open_rich()), grade_card(situations.down())
    there, back = text(form, diff(up, down)), text(form, diff(down, up))
    if form == "json":
        assert [json.loads(there)["after"][name] for name in ("score", "grade", "stance")] == [None] * 3
        assert json.loads(back)["after"]["score"] == up.score
    else:
        assert f"{labels.result(up)} → unreachable" in plain(there)
        assert f"unreachable → {labels.result(up)}" in plain(back)
    for found in (diff(up, down), diff(down, up)):
        kinds = {change.field.partition(".")[0] for change in found.changes}
        assert kinds == {"agent_access", "human_status", "robots_status"}
        assert not any(change.direction or change.points for change in found.changes)
    assert [item.text for item in diff(up, down).new] == [down.top_evidence]
    assert [item.text for item in diff(down, up).resolved] == [down.top_evidence]
    assert not diff(up, down).resolved
    assert not diff(down, up).new


def test_what_was_not_measured_is_neither_better_nor_worse() -> None:
    told, failed = grade_card(situations.robots_all()), grade_card(situations.robots_down())
    found = diff(told, failed)
    assert "Status of robots.txt: 200 → 503" in "\n".join(change.words() for change in found.changes)
    fields = [change.field for change in found.changes]
    assert not [
        field for field in fields if field.startswith(("ua_policy", "crawler", "agents_", "wildcard", "content_"))
    ]
    assert not [item for item in found.resolved if "disallows" in item.text or "Content-Signal" in item.text]


def test_a_card_that_has_only_its_texts_has_the_same_findings() -> None:
    card = grade_card(situations.wall_for_agents())
    for pair in ((card, published(card)), (published(card), card)):
        found = diff(*pair)
        assert (found.new, found.resolved) == ((), ())


@pytest.mark.parametrize("form", ["text", *FORMATS])
def test_scores_of_scans_that_measured_unlike_parts_are_told_as_such(form: str) -> None:
    whole, part = grade_card(situations.plain()), grade_card(situations.limited())
    assert "rest on 50 and on " in text(form, diff(whole, part))
    assert "rest on" not in text(form, diff(whole, grade_card(situations.open_rich())))
    assert "rest on" not in text(form, diff(whole, grade_card(situations.down())))


def test_a_change_of_the_record_that_cards_do_not_show_is_none() -> None:
    refused, dropped = grade_card(situations.open_rich()), grade_card(situations.dropped())
    access = {**dropped.agent_access, "Claude-User": AgentAccess(403, False, "")}
    refused = replace(dropped, agent_access=access, matrix={**dropped.matrix, "claude": "blocked"})
    assert [change.words() for change in diff(refused, dropped).changes] == ["Answer to Claude-User: 403 → no answer"]


def test_tasks_settle_what_no_scan_without_a_browser_knows() -> None:
    before = grade_card(situations.open_rich())
    after = replace(before, matrix={**before.matrix, "chatgpt_agent": "allowed"})
    (change,) = diff(before, after).changes
    assert change.words() == "ChatGPT agent: not asked; needs a browser (--tasks) → in"


def test_two_hosts_with_the_same_findings_differ_in_none() -> None:
    one = grade_card(situations.plain())
    other = grade_card(replace(situations.plain(), host="other.example", origin="https://other.example"))
    assert one.host != other.host
    assert [line.text for line in one.evidence] != [line.text for line in other.evidence]
    found = diff(one, other)
    assert (found.new, found.resolved) == ((), ())
